//! The compiler of the device as a gate, without a device: golden kernels compile to portable PTX and to
//! machine code for sm_90, and need no more than `gate/table.md` allows.
//!
//! A golden kernel is a plan of `gate/plans`, by element type: where a plan says `f32`, the others of
//! [`TYPES`] are put. NVRTC and a disassembler come from Python wheels (`gate/requirements.txt`), which
//! `gate/environment.sh` installs the first time; where that cannot be done, the test says so, with the
//! number of kernels, and is skipped. `UPDATE_EXPECT=1` writes the table anew, for review.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use weft_cuda::{Code, Entry, Policy, generate};
use weft_ir::plan;

/// The element types of plans that say `f32`.
const TYPES: [&str; 4] = ["f32", "f64", "i32", "i64"];

/// Plans whose operations take floats only, or that read no `f32`.
const AS_THEY_ARE: [&str; 9] = [
    "transcendental",
    "grid_of_four",
    "row_sums",
    "row_scans",
    "histogram",
    "products",
    "scatter",
    "scan_tuple",
    "pairs",
];

/// What a kernel needs, in the order of the table's columns.
const COLUMNS: [Column; 8] = [
    Column { name: "registers", limit: Limit::AtMost { step: 8 } },
    Column { name: "shared", limit: Limit::AtMost { step: 256 } },
    Column { name: "stack", limit: Limit::AtMost { step: 8 } },
    Column { name: "spilled", limit: Limit::AtMost { step: 8 } },
    Column { name: "wide loads", limit: Limit::AtLeast },
    Column { name: "wide stores", limit: Limit::AtLeast },
    Column { name: "divisions", limit: Limit::AtMost { step: 1 } },
    Column { name: "instructions", limit: Limit::AtMost { step: 128 } },
];

/// The column of shared memory.
const SHARED: usize = 1;

/// A column of the table.
struct Column {
    name: &'static str,
    limit: Limit,
}

/// What the table says of a number.
enum Limit {
    /// Rounded up to a multiple, so that a small change of the text does not change the table.
    AtMost {
        step: u32,
    },
    AtLeast,
}

/// By plan and kernel.
type Table = BTreeMap<(String, String), Vec<u32>>;

#[test]
fn golden_kernels_keep_to_the_table() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let codes = golden_codes(root);
    let texts: Vec<(String, String)> =
        codes.iter().map(|(name, code)| (name.clone(), code.text())).collect();
    let Some(output) = compiled(root, &texts) else { return };
    let found = measured(&output);
    check_shared(&codes, &found);
    let path = root.join("gate/table.md");
    let page = std::fs::read_to_string(&path).expect("the table");
    if std::env::var_os("UPDATE_EXPECT").is_some_and(|value| value == "1") {
        let (head, _) = page.split_once("\n| plan").unwrap_or((&page, ""));
        std::fs::write(&path, format!("{head}\n{}", written(&found))).expect("the table");
        return;
    }
    let problems = problems(&allowed(&page), &found);
    assert!(problems.is_empty(), "{} problems:\n{}", problems.len(), problems.join("\n"));
    let _ = writeln!(std::io::stderr(), "{} golden kernels keep to gate/table.md", found.len());
}

/// What is known of shared memory before anything is compiled is what the compiler finds.
fn check_shared(codes: &[(String, Code)], found: &Table) {
    let (mut compared, mut problems) = (0, Vec::new());
    for (plan, code) in codes {
        for Entry { name, shared, .. } in code.entries.iter().filter(|entry| entry.shared > 0) {
            let measured = found[&(plan.clone(), name.clone())][SHARED] as usize;
            // What has no elements in it is counted as if it were aligned as they are.
            if !(measured..=measured + 32).contains(shared) {
                problems.push(format!("{plan} {name}: {shared} bytes shared, not {measured}"));
            }
            compared += 1;
        }
    }
    assert!(problems.is_empty(), "{}", problems.join("\n"));
    assert!(compared > 30, "{compared} compared");
}

/// The name and the kernels of every golden plan.
fn golden_codes(root: &Path) -> Vec<(String, Code)> {
    let mut paths: Vec<PathBuf> = std::fs::read_dir(root.join("gate/plans"))
        .expect("the golden plans")
        .map(|entry| entry.expect("an entry").path())
        .collect();
    paths.sort();
    let mut codes = Vec::new();
    for path in paths {
        let name = path.file_stem().and_then(|stem| stem.to_str()).expect("a name").to_owned();
        let text = std::fs::read_to_string(&path).expect("a plan");
        let one = text.contains("f32") && !AS_THEY_ARE.contains(&name.as_str());
        for ty in TYPES.iter().take(if one { TYPES.len() } else { 1 }) {
            let literal = if ty.starts_with('i') { "" } else { ".0" };
            let text = text.replace(".0f32", &format!("{literal}{ty}")).replace("f32", ty);
            let program = plan::parse(&text).unwrap_or_else(|error| panic!("{name} {ty}: {error}"));
            plan::check(&program).unwrap_or_else(|error| panic!("{name} {ty}: {error}"));
            let name = if one { format!("{name}.{ty}") } else { name.clone() };
            codes.push((name, generate(&program, &Policy::SM_90)));
        }
    }
    codes
}

/// What the compiler says of the texts, of which half go to each of two processes; nothing, after saying so, where there is
/// none.
fn compiled(root: &Path, texts: &[(String, String)]) -> Option<String> {
    let python = Command::new(root.join("gate/environment.sh")).output();
    let python = match python {
        Ok(output) if output.status.success() => {
            String::from_utf8_lossy(&output.stdout).trim().to_owned()
        }
        Ok(output) => return say_skipped(texts, &String::from_utf8_lossy(&output.stderr)),
        Err(error) => return say_skipped(texts, &error.to_string()),
    };
    let folder = std::env::temp_dir().join(format!("weft-gate-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a folder");
    let mut halves = [(); 2].map(|()| Command::new(&python));
    halves.iter_mut().for_each(|half| {
        half.arg(root.join("gate/compile.py")).stdout(Stdio::piped()).stderr(Stdio::piped());
    });
    for (number, (name, text)) in texts.iter().enumerate() {
        let file = folder.join(format!("{name}.cu"));
        std::fs::write(&file, text).expect("the folder");
        halves[number % 2].arg(file);
    }
    let started = halves.map(|mut half| half.spawn());
    let outputs = started.map(|half| half.and_then(|half| half.wait_with_output()));
    std::fs::remove_dir_all(&folder).expect("the folder");
    let mut said = String::new();
    for output in outputs {
        match output {
            Ok(output) if output.status.success() => {
                said += &String::from_utf8_lossy(&output.stdout);
            }
            Ok(output) if output.status.code() == Some(3) => {
                return say_skipped(texts, &String::from_utf8_lossy(&output.stderr));
            }
            Ok(output) => panic!("{}", String::from_utf8_lossy(&output.stderr)),
            Err(error) => return say_skipped(texts, &error.to_string()),
        }
    }
    Some(said)
}

/// Says what is not checked, past the capture of a passing test's output.
fn say_skipped(texts: &[(String, String)], reason: &str) -> Option<String> {
    let (count, reason) = (texts.len(), reason.trim_end());
    let _ = writeln!(std::io::stderr(), "skipped: {count} golden plans: {reason}");
    None
}

/// What every kernel needs. Those that are in every text are told once.
fn measured(output: &str) -> Table {
    let mut table = Table::new();
    for line in output.lines() {
        let fields: Vec<&str> = line.split('\t').collect();
        let numbers = fields[2..].iter().map(|field| field.parse().expect("a number"));
        let (plan, kernel) = (fields[0], fields[1]);
        let plan = if kernel.starts_with('k') { plan } else { "common" };
        table.insert((plan.to_owned(), kernel.to_owned()), numbers.collect());
    }
    table
}

/// What the table allows.
fn allowed(page: &str) -> Table {
    let mut table = Table::new();
    for line in page.lines().filter(|line| line.starts_with("| ")) {
        let cells: Vec<&str> = line.trim_matches('|').split('|').map(str::trim).collect();
        let numbers: Result<Vec<u32>, _> = cells[2..].iter().map(|cell| cell.parse()).collect();
        if let Ok(numbers) = numbers {
            table.insert((cells[0].to_owned(), cells[1].to_owned()), numbers);
        }
    }
    table
}

fn problems(allowed: &Table, found: &Table) -> Vec<String> {
    let mut problems = Vec::new();
    for ((plan, kernel), numbers) in found {
        let Some(limits) = allowed.get(&(plan.clone(), kernel.clone())) else {
            problems.push(format!("{plan} {kernel} is not in the table"));
            continue;
        };
        for ((Column { name, limit }, number), allowed) in COLUMNS.iter().zip(numbers).zip(limits) {
            let (holds, word) = match limit {
                Limit::AtMost { .. } => (number <= allowed, "most"),
                Limit::AtLeast => (number >= allowed, "least"),
            };
            if !holds {
                problems.push(format!("{plan} {kernel}: {name} {number}, at {word} {allowed}"));
            }
        }
    }
    for (plan, kernel) in allowed.keys().filter(|key| !found.contains_key(*key)) {
        problems.push(format!("{plan} {kernel} is in the table, but there is no such kernel"));
    }
    problems
}

/// The table as text.
fn written(found: &Table) -> String {
    let mut text = "| plan | kernel |".to_owned();
    COLUMNS.iter().for_each(|column| write!(text, " {} |", column.name).expect("a string"));
    text.push_str(&format!("\n| --- | --- |{}\n", " ---: |".repeat(COLUMNS.len())));
    for ((plan, kernel), numbers) in found {
        write!(text, "| {plan} | {kernel} |").expect("a string");
        for (column, number) in COLUMNS.iter().zip(numbers) {
            let allowed = match column.limit {
                Limit::AtMost { step } => number.next_multiple_of(step),
                Limit::AtLeast => *number,
            };
            write!(text, " {allowed} |").expect("a string");
        }
        text.push('\n');
    }
    text
}
