//! Switching fusion or sharing off changes how many kernels the examples launch and how much memory
//! they take, and no result.

use weft_session::{Cancel, Cell, Collected, Config, Event, Session};
use weft_tests::repository;

/// An example, and an expression of it.
const PROGRAMS: [(&str, &str); 6] = [
    ("dot", "correlation weather.temp_max weather.temp_min"),
    ("blackscholes", "sum (call spot strikes[0] rate volatility (linspace 0.1 2.0 1000))"),
    ("kmeans", "step start"),
    ("matmul", "mm columns (transpose columns)"),
    ("nbody", "step 0.01 start"),
    ("pagerank", "step (replicate n (1.0 / f64 n))"),
];

/// What a line of `:compare` says of a configuration.
#[derive(Debug)]
struct Configuration {
    name: String,
    verdict: String,
    launches: u64,
    bytes: u64,
}

#[test]
fn fusion_changes_launches_and_memory_and_no_result() {
    std::env::set_current_dir(repository()).expect("the repository");
    for (example, expression) in PROGRAMS {
        let mut session = Session::new(&Config { memory: 2 << 30, io: true });
        evaluate(&mut session, &format!(":load \"examples/{example}.weft\""));
        evaluate(&mut session, ":set tier 0");
        let text = evaluate(&mut session, &format!(":compare {expression}"));
        let found: Vec<Configuration> = text.lines().filter_map(configuration).collect();
        let on_cpu = |name: &str| {
            let found = found.iter().find(|configuration| configuration.name == name);
            found.unwrap_or_else(|| panic!("{example}: no `{name}` in\n{text}"))
        };
        for configuration in &found {
            let same = configuration.verdict == "the same bits";
            assert!(same, "{example}:\n{text}");
        }
        let (fused, unfused) = (on_cpu("cpu"), on_cpu("cpu, no fusion"));
        assert!(fused.launches < unfused.launches, "{example}:\n{text}");
        assert!(fused.bytes < unfused.bytes, "{example}:\n{text}");
        on_cpu("cpu, no sharing");
    }
}

/// The texts that a cell prints.
fn evaluate(session: &mut Session, source: &str) -> String {
    let mut sink = Collected::default();
    let outcome = session.eval(Cell::typed(source), &mut sink, &Cancel::new());
    let texts: Vec<String> = sink
        .events
        .into_iter()
        .filter_map(|event| match event {
            Event::Text(text) => Some(text),
            Event::Report(report) => panic!("{source}: {outcome:?}\n{}", report.render(false, 100)),
            _ => None,
        })
        .collect();
    texts.join("\n")
}

/// `cpu  1.2 ms  the same bits; 3 launches, at most 16kB`.
fn configuration(line: &str) -> Option<Configuration> {
    let (name, rest) = line.split_once("  ")?;
    let (_time, rest) = rest.trim_start().split_once("  ")?;
    let (verdict, work) = rest.split_once("; ")?;
    let (launches, bytes) = work.split_once(", at most ")?;
    let launches = launches.split(' ').next()?.parse().ok()?;
    let digits = bytes.trim_end_matches(|last: char| !last.is_ascii_digit());
    let factor = match &bytes[digits.len()..] {
        " bytes" => 1,
        "kB" => 1_000,
        "MB" => 1_000_000,
        _ => return None,
    };
    let bytes = digits.parse::<u64>().ok()? * factor;
    Some(Configuration { name: name.to_owned(), verdict: verdict.to_owned(), launches, bytes })
}
