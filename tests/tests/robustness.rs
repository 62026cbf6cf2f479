//! Hostile programs: each gets an answer or a clear error, never a crash.
//!
//! The outcome of a program is the value of its last expression, or the code of its first error.

use weft_session::{Cancel, Cell, Collected, Config, Event, Outcome, Session, display};

/// Bytes that the arrays of a program may take.
const MEMORY: u64 = 1 << 28;

fn outcome(program: &str) -> String {
    let mut session = Session::new(&Config { memory: MEMORY, io: false });
    let mut sink = Collected::default();
    let outcome = session.eval(Cell::typed(program), &mut sink, &Cancel::new());
    if session.statistics().bugs > 0 {
        return format!("a bug of the compiler: {:?}", sink.events);
    }
    match outcome {
        Outcome::Done | Outcome::Quit => {}
        Outcome::Failed(code) => return code,
        Outcome::Interrupted => return "interrupted".to_owned(),
        Outcome::Bug(message) => return format!("a bug: {message}"),
    }
    let shown = sink.events.into_iter().rev().find_map(|event| match event {
        Event::Shown(shown) => Some(display::literal(&shown.value, &shown.ty)),
        _ => None,
    });
    shown.unwrap_or_else(|| "nothing".to_owned())
}

/// Runs every program; those whose outcome is another one are listed together.
#[track_caller]
fn check<S: AsRef<str>, const N: usize>(cases: [(S, &str); N]) {
    let mut failures = Vec::new();
    for (program, expect) in &cases {
        let program = program.as_ref();
        let found = outcome(program);
        if found != *expect {
            let start: String = program.chars().take(60).collect();
            let bytes = program.len();
            failures.push(format!("{found}, not {expect}, for {bytes} bytes: {start:?} …"));
        }
    }
    assert!(failures.is_empty(), "\n{}", failures.join("\n"));
}

/// `open`, n times, then `middle`, then `close`, n times.
fn nested(open: &str, middle: &str, close: &str, n: usize) -> String {
    open.repeat(n) + middle + &close.repeat(n)
}

const DEEP: usize = 100_000;

#[test]
fn deep_brackets() {
    check([
        (nested("(", "1", ")", DEEP), "E0116"),
        (nested("[", "1", "]", DEEP), "E0116"),
        (nested("{x = ", "1", "}", DEEP), "E0116"),
        (nested("{ ", "1", " : i in [0] }", DEEP), "E0116"),
        (nested("xs[", "1", "]", DEEP), "E0116"),
        ("(".repeat(DEEP), "E0116"),
        (")".repeat(DEEP), "E0103"),
        (nested("{- ", "", " -}", DEEP), "nothing"),
    ]);
}

#[test]
fn deep_prefixes() {
    check([
        (nested("-", "1", "", DEEP), "nothing"),
        (nested("- ", "1", "", DEEP), "E0116"),
        (nested("!", "true", "", DEEP), "E0116"),
        (nested("\\x -> ", "1", "", DEEP), "E0116"),
        (nested("if true then 1 else ", "1", "", DEEP), "E0116"),
        (nested("if ", "true", " then true else false", DEEP), "E0116"),
        (nested("let x = 1 in ", "x", "", DEEP), "E0116"),
        (nested("loop x = 1 for i < 1 do ", "x", "", DEEP), "E0116"),
        ("def f (x : ".to_owned() + &"[]".repeat(DEEP) + "i64) = x", "E0116"),
        ("def f (x : ".to_owned() + &"i64 -> ".repeat(DEEP) + "i64) = x", "E0116"),
    ]);
}

#[test]
fn long_chains() {
    check([
        ("1".to_owned() + &" + 1".repeat(5000), "5001"),
        ("1".to_owned() + &" + 1".repeat(DEEP), "E0116"),
        ("2".to_owned() + &" ** 1".repeat(DEEP), "E0116"),
        ("[1]".to_owned() + &" ++ [1]".repeat(DEEP), "E0116"),
        ("true".to_owned() + &" && true".repeat(DEEP), "E0116"),
        ("x".to_owned() + &".x".repeat(DEEP), "E0116"),
        ("x".to_owned() + &"[0]".repeat(DEEP), "E0116"),
        ("f".to_owned() + &" 1".repeat(DEEP), "E0201"),
    ]);
}

#[test]
fn a_long_pipeline_runs() {
    let program = "[0, 1, 2]".to_owned() + &" |> map (+ 1)".repeat(5000);
    check([(program, "[5000, 5001, 5002]")]);
}

#[test]
fn a_let_of_many_bindings_runs() {
    let bindings: Vec<String> = (1..2000).map(|i| format!("x{i} = x{} + 1", i - 1)).collect();
    check([(format!("let x0 = 0; {} in x1999", bindings.join("; ")), "1999")]);
}

/// Their time is measured by a program in `bench/`; here they would overflow a stack or never end.
#[test]
fn long_programs_run_compiled() {
    let steps = (0..5000).map(|k| format!(" |> map (\\x -> x * 1.0 + {}.0)", k % 3));
    let chain = format!("sum (iota 1000 |> map f64{})", steps.collect::<String>());
    let lines = (1..2000).map(|k| format!("a{k} = a{} + a{}\n", k - 1, k / 2 - k / 3));
    let lines =
        format!("a0 = iota 1000\n{}sum a1999 == sum (a1998 + a333)", lines.collect::<String>());
    for (program, expect) in [(chain, "5498500.0"), (lines, "true")] {
        let mut session = Session::new(&Config { memory: MEMORY, io: false });
        let mut sink = Collected::default();
        session.set_mode("backend", "cpu").expect("a mode");
        let outcome = session.eval(Cell::typed(&program), &mut sink, &Cancel::new());
        assert_eq!(outcome, Outcome::Done);
        let ran = session.statistics();
        assert_eq!((ran.unsupported, ran.faults, ran.bugs), (0, 0, 0));
        let shown = sink.events.iter().rev().find_map(|event| match event {
            Event::Shown(shown) => Some(display::literal(&shown.value, &shown.ty)),
            _ => None,
        });
        assert_eq!(shown.as_deref(), Some(expect));
    }
}

#[test]
fn towers_that_double_a_type() {
    let bindings: Vec<String> = (1..=40).map(|i| format!("x{i} = (x{0}, x{0})", i - 1)).collect();
    check([(format!("let x0 = 0; {} in x40", bindings.join("; ")), "E0315")]);
    let applied = nested("pair (", "1", ")", 40);
    check([(format!("def pair x = (x, x)\n{applied}"), "E0315")]);
    let functions: String =
        (1..=40).map(|i| format!("def f{i} x = (f{0} x, f{0} x)\n", i - 1)).collect();
    check([(format!("def f0 x = x\n{functions}f40 1"), "E0315")]);
    let records: Vec<String> =
        (1..=40).map(|i| format!("x{i} = {{a = x{0}, b = x{0}}}", i - 1)).collect();
    check([(format!("let x0 = 0; {} in 1", records.join("; ")), "E0315")]);
    let items: String = (1..=40).map(|i| format!("x{i} = (x{0}, x{0})\n", i - 1)).collect();
    check([(format!("x0 = 0\n{items}1"), "E0315")]);
}

#[test]
fn towers_of_instances() {
    let functions: String =
        (1..=40).map(|i| format!("def f{i} x = f{0} (x, 1) + f{0} (1, x)\n", i - 1)).collect();
    check([(format!("def f0 x = 1\n{functions}f40 true"), "E0317")]);
    let open: String = (1..2000).map(|i| format!("def f{i} t = f{} t + 1\n", i - 1)).collect();
    check([(format!("def f0 t = t.x\n{open}f1999 {{x = 1}}"), "E0317")]);
    let open: String = (1..40).map(|i| format!("def f{i} t = f{0} t + f{0} t\n", i - 1)).collect();
    check([(format!("def f0 t = t.x\n{open}f39 {{x = 1}}"), "E0317")]);
}

#[test]
fn large_literals() {
    let numbers = "123456789,".repeat(1_000_000);
    check([(format!("sum [{numbers}1]"), "123456789000001")]);
    let mixed = "1.5, 2,".repeat(1_000_000);
    check([(format!("length [{mixed}1]"), "2000001")]);
    let rows = "[1, 2, 3],".repeat(100_000);
    check([(format!("length [{rows}[1]]"), "100001")]);
    let text = "a".repeat(10_000_000);
    check([
        (format!("length \"{text}\""), "10000000"),
        (format!("{}1", "-- a comment\n".repeat(800_000)), "1"),
        ("9".repeat(1_000_000), "E0109"),
        (format!("{}.0", "9".repeat(1_000_000)), "E0109"),
        (format!("0.{}1", "0".repeat(1_000_000)), "0.0"),
        (format!("1e{}", "9".repeat(1_000_000)), "E0109"),
    ]);
}

#[test]
fn many_items() {
    let items: String = (0..2000).map(|i| format!("x{i} = {i}\n")).collect();
    check([(format!("{items}x1999"), "1999")]);
    let functions: String = (1..2000).map(|i| format!("def f{i} x = f{} x + 1\n", i - 1)).collect();
    check([(format!("def f0 x = x\n{functions}f1999 1"), "2000")]);
    let broken = "1 +\n".repeat(2000);
    check([(broken, "E0120")]);
    let unknown = "nothing\n".repeat(2000);
    check([(unknown, "E0201")]);
}

#[test]
fn many_errors_in_one_item() {
    let list = |word: &dyn Fn(usize) -> String| {
        let words: Vec<String> = (0..300_000).map(word).collect();
        format!("[{}]", words.join(", "))
    };
    check([
        (list(&|_| "nothing".to_owned()), "E0201"),
        (list(&|i| format!("word{i}")), "E0201"),
        (list(&|i| if i % 2 == 0 { "1".to_owned() } else { "true".to_owned() }), "E0303"),
        (list(&|_| "(1 + true)".to_owned()), "E0303"),
    ]);
}

#[test]
fn of_many_reports_the_first_are_shown() {
    let mut session = Session::new(&Config { memory: MEMORY, io: false });
    let mut sink = Collected::default();
    let text = "nothing\n".repeat(2000);
    session.eval(Cell::typed(&text), &mut sink, &Cancel::new());
    let reports = sink.events.iter().filter_map(|event| match event {
        Event::Report(report) => Some(report.render(false, 80)),
        _ => None,
    });
    let text: String = reports.collect();
    assert_eq!(text.matches("unknown name").count(), 500);
    assert!(text.ends_with("\n… and 1500 more reports\n"), "{text}");
}

#[test]
fn an_item_with_many_errors_hides_no_others() {
    let strays = format!("x = [{}]\nzork", "),".repeat(200));
    let lines: String = (0..100).map(|at| format!("  a{at} = [1, true]\n")).collect();
    let kinds = format!("def f x =\n  let\n{lines}  in x\nzork");
    for text in [strays, kinds] {
        let mut session = Session::new(&Config { memory: MEMORY, io: false });
        let mut sink = Collected::default();
        session.eval(Cell::typed(&text), &mut sink, &Cancel::new());
        let reports = sink.events.iter().filter_map(|event| match event {
            Event::Report(report) => Some(report.render(false, 80)),
            _ => None,
        });
        let shown: String = reports.collect();
        assert!(shown.contains("there is no `zork`"), "{shown}");
    }
}

#[test]
fn names_of_any_length() {
    let name = "x".repeat(1_000_000);
    check([(format!("{name} = 1\n{name} + 1"), "2"), (name, "E0201")]);
}

#[test]
fn endless_recursion() {
    check([
        ("def f x = f x + 1\nf 0", "E0702"),
        ("def f xs = f (xs ++ [1]) ++ [1]\nf [1]", "E0702"),
        ("def f x = { f y : y in [x] }[0] + 1\nf 0", "E0702"),
        ("def f x = map f [x]\nf", "E0312"),
    ]);
}

#[test]
fn deep_recursion_in_tail_position_runs() {
    check([("def f n x = if n == 0 then x else f (n - 1) (x + 1)\nf 1000000 0", "1000000")]);
}

#[test]
fn memory_is_refused_before_it_is_taken() {
    check([
        ("iota (10 ** 12)", "E0701"),
        ("sum (iota (10 ** 12))", "E0701"),
        ("replicate (10 ** 12) 0.0", "E0701"),
        ("generate (10 ** 6, 10 ** 6) (\\(i, j) -> i)", "E0701"),
        ("fill (10 ** 6, 10 ** 6) 'x'", "E0701"),
        ("outer (+) (iota 1000000) (iota 1000000)", "E0701"),
        ("map (\\i -> iota 1000000) (iota 1000000)", "E0701"),
        ("{ replicate 1000000 x : x in iota 1000000 }", "E0701"),
        ("iterate 60 (\\xs -> xs ++ xs) [1]", "E0701"),
        ("loop s = \"ab\" for i < 60 do s ++ s", "E0701"),
        ("identity (10 ** 7)", "E0701"),
        ("random 1 (10 ** 12)", "E0701"),
        ("histogram (10 ** 12) [1]", "E0701"),
        ("linspace 0.0 1.0 (10 ** 12)", "E0701"),
        ("range 0 (10 ** 15) 1", "E0701"),
        ("0..10 ** 15", "E0701"),
        ("windows 1000000 (iota 2000000)", "E0701"),
        ("matmul (fill (200000, 1) 1.0) (fill (1, 200000) 1.0)", "E0701"),
        ("reshape (2 ** 40, 2 ** 40) [1]", "E0606"),
        ("fill (2 ** 40, 2 ** 40) 1", "E0606"),
        ("iota (-1)", "E0606"),
    ]);
}

#[test]
fn extreme_arguments() {
    let least = "(-9223372036854775807 - 1)";
    for call in ["rotate L [1, 2]", "L // -1", "L % -1", "abs L", "quot L (-1)", "rem L (-1)"] {
        let found = outcome(&call.replace('L', least));
        assert!(!found.starts_with("a bug") && !found.starts_with('E'), "{call}: {found}");
    }
    for call in [
        "take L [1]",
        "drop L [1]",
        "[1][L]",
        "[1][L:]",
        "[1, 2][::L]",
        "windows L [1]",
        "windows 9223372036854775807 [1]",
        "windowsBy 1 L [1]",
        "chunks L [1]",
        "chunks 9223372036854775807 [1, 2]",
        "segments [L] [1]",
        "segments [9223372036854775807, 9223372036854775807, 3] [1]",
        "reshape L [1]",
        "reshape (L, L) [1]",
        "reshape (0, 9223372036854775807) (take 0 [1])",
        "replicate L 1",
        "iota L",
        "range L 9223372036854775807 1",
        "range 0 10 L",
        "range 0.0 1.0 1e-300",
        "range 0.0 nan 1.0",
        "range 0.0 1.0 0.0",
        "linspace 0.0 1.0 L",
        "randomInt 1 L 9223372036854775807 3",
        "randomInt 1 5 5 3",
        "histogram L [1]",
        "gather [1] [L]",
        "scatter [1] [L] [2]",
        "permute (+) [1] (\\i -> L) [2]",
        "backpermute 1 (\\i -> L) [1]",
        "iterate L (\\x -> x) 1",
        "2 ** L",
        "2 ** 9223372036854775807",
        "1 << L",
        "1i8 >> 200i8",
        "identity L",
        "stencil clamp (\\w -> w[9223372036854775807]) [1, 2]",
        "stencil mirror (\\w -> w[-9223372036854775807]) [1, 2]",
        "stencil wrap (\\w -> w[9223372036854775807]) [1, 2]",
        "convolve wrap (iota 0) [1, 2]",
        "foldSeg (+) 0 [1] [L]",
        "searchSorted (take 0 [1]) 1",
    ] {
        let found = outcome(&call.replace('L', least));
        assert!(!found.starts_with("a bug"), "{call}: {found}");
    }
}

#[test]
fn odd_bytes() {
    check([("\u{feff}1 + 1", "2"), ("1 +\r\n  1\r\n", "2"), ("\"\u{0}\"", "\"\\0\"")]);
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    let pieces = [
        "(", ")", "[", "]", "{", "}", "let ", "in ", "if ", "then ", "else ", "\\", "->", "|>",
        "+", "-", "x", "1", "1.5", "\"", "'", "--", "{-", "\n", "\n  ", ":", ";", ",", "..", "=",
        "é", "def f ", "loop ", "for ", "while ", "do ", "with ", "|", ".", "0x", "\t", "iota 3",
        "sum ",
    ];
    for _ in 0..2000 {
        let mut program = String::new();
        for _ in 0..20 {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            program += pieces[(state >> 33) as usize % pieces.len()];
        }
        let found = outcome(&program);
        assert!(!found.starts_with("a bug"), "{program:?}: {found}");
    }
}

#[test]
fn a_failed_cell_leaves_the_session_as_it_was() {
    let mut session = Session::new(&Config { memory: MEMORY, io: false });
    let mut eval = |program: &str| {
        session.eval(Cell::typed(program), &mut Collected::default(), &Cancel::new())
    };
    assert_eq!(eval("x = 1"), Outcome::Done);
    for program in [
        "x = 2\nx // 0",
        "x = 3\niota (10 ** 12)",
        "x = 4\ndef f x = f x + 1\nf 0",
        "x = 5\ny = nothing",
        "x = 6\n(",
    ] {
        assert!(matches!(eval(program), Outcome::Failed(_)), "{program}");
    }
    let mut sink = Collected::default();
    session.eval(Cell::typed("x"), &mut sink, &Cancel::new());
    let shown = sink.events.iter().find_map(|event| match event {
        Event::Shown(shown) => Some(display::literal(&shown.value, &shown.ty)),
        _ => None,
    });
    assert_eq!(shown.as_deref(), Some("1"));
}
