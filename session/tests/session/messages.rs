//! What messages advise to those who know other languages.

use crate::transcript::Transcript;

/// A cell is wrong, and each of the texts stands in what is said about it.
#[track_caller]
fn check(cell: &str, texts: &[&str]) {
    let mut session = Transcript::new();
    for definition in [
        "xs = [1, 2]",
        "m = [[1.0], [2.0]]",
        "p = (1, 2.5)",
        "r = {a = 1}",
        "def f(x, y) = x + y",
        "def g x = x + 1",
    ] {
        session.eval(definition);
    }
    session.eval(cell);
    let report = session.last_report();
    // Helps go on in further lines.
    let words: Vec<&str> = report.split_whitespace().filter(|word| *word != "│").collect();
    let words = words.join(" ");
    for text in texts {
        assert!(report.contains(text) || words.contains(text), "{cell}\n{report}");
    }
}

#[test]
fn a_function_after_a_point() {
    check("xs.sum", &["[]i64 has no field `sum`", "this is []i64", "its argument: `sum xs`"]);
    check("m.T", &["this is [][]f64", "Help: write `transpose m`"]);
    check("3.5.sqrt", &["E0308", "its argument: `sqrt 3.5`"]);
    check("(3).g", &["its argument: `g 3`"]);
    check("p.x", &["(i64, f64) has no field `x`", "the parts of a tuple are `.0`, `.1`"]);
    check("[r].b", &["[]{a: i64} has no field `b`"]);
}

#[test]
fn an_index_of_what_is_no_array() {
    check("p[0]", &["E0307", "the first part of a tuple is `p.0`"]);
    check("(1, 2)[0]", &["the first part of a tuple is `p.0`"]);
    check("r[0]", &["a field of a record is `r.name`"]);
}

#[test]
fn words_as_operators() {
    check("xs[0] == 1 and true", &["this is no function", "Help: write `a && b`"]);
    check("1 == 2 or true", &["Help: write `a || b`"]);
    check("xs[0] > 1 and xs[0] < 3", &["E0117", "Help: write `a && b`"]);
    check("7 mod 2", &["Help: write `a % b`"]);
    check("xs[0] div 2", &["Help: write `a // b`"]);
    check("true and false", &["E0304", "Help: write `a && b`"]);
}

#[test]
fn arguments_as_in_other_languages() {
    check("f 1 2", &["`f` takes 1 argument, but is given 2", "it takes a tuple: `f (x, y)`"]);
    check("g 1 2", &["an argument that is an application stands in parentheses"]);
    check("map(sqrt, xs)", &["one after the other, without commas: `map sqrt xs`"]);
    check("fold + 0 xs", &["`fold` is a function", "stands in parentheses: `fold (+) …`"]);
    check("scan * 1 [1, 2]", &["stands in parentheses: `scan (*) …`"]);
}

#[test]
fn a_text_is_no_flag() {
    let mut session = Transcript::new();
    session.check("split \"a b\" ' '", "E0302");
    let report = session.last_report();
    assert!(!report.contains("convert it"), "{report}");
}

#[test]
fn a_text_is_no_key() {
    check("sortBy (\\r -> r.s) [{s = \"b\"}]", &["E0303", "(numbers, distinct) = codes texts"]);
    check("filter (\\w -> w == \"a\") [\"a\", \"b\"]", &["E0301", "`same a b`"]);
}

#[test]
fn commands_without_their_files() {
    check(":save xs \"a.foo\"", &["asked for here"]);
    check(":reload", &["no file has been loaded yet", "there is nothing to run again"]);
}

#[test]
fn habits_of_notebooks_and_other_languages() {
    check("g[3]", &["E0307", "an argument has no brackets: `f x`"]);
    check("\"a\" + \"b\"", &["E0303", "joined with `++`"]);
    check("groupBy (\\x -> x % 2) [1, 2, 3]", &["`groupBy` needs []scalar, but this is a -> b"]);
    check("import numpy", &["E0101", "takes the name of a file"]);
    check(":ir c --diff xs", &["E0502", "`:ir shared --diff e`"]);
    check("1 + 1\n:clear", &["E0501", "the first line of a cell"]);
    check(
        "def k x = later x\ndef later x = x",
        &["a definition sees only earlier ones: move that of `later` before this line"],
    );
}

#[test]
fn functions_that_yield_arrays_are_passed() {
    let euler = "def euler f (y : []f64) h = let k = f y in y + h * k\n";
    check(
        &format!("{euler}def turned (s : []f64) = [s[1], 0.0 - s[0]]\neuler turned [1.0, 0.0] 0.5"),
        &["`turned` yields []f64 here", "unless it says `(f : []f64 -> []f64)`"],
    );
    check(
        "loop (x, y) = (1, 2) for i < 3 do x + y",
        &["E0312", "the body yields all 2 parts of the next state, as a tuple"],
    );
    check(
        "fold (\\a x -> a ++ [x]) [] xs",
        &["from left to right goes `loop a = [] for x in xs do a ++ [x]`"],
    );
    check(
        "def count n = if n < 1 then 0.0 else 1.0 + count (n - 1)\n:set tier 0\n:fuse count 3",
        &["E0509", "`first { f x : x in [n] }`"],
    );
}

#[test]
fn a_word_of_the_language_is_reported_once() {
    let mut session = Transcript::new();
    session.eval("for = 3\nx = for + for\ny = for");
    let report = session.last_report();
    assert!(report.contains("`for` cannot be a name"), "{report}");
    assert!(!report.contains("unexpected"), "{report}");
}

#[test]
fn the_same_mistake_in_two_places_is_reported_twice() {
    let mut session = Transcript::new();
    session.eval("(count [1, 2], count [1, 2])");
    let report = session.last_report();
    assert_eq!(report.matches("`count ([1, 2] > 0)`").count(), 2, "{report}");
}

#[test]
fn records_of_many_fields_are_not_written_out_where_arguments_are_counted() {
    let mut session = Transcript::new();
    session.eval("plot [1, 2] [3, 4]");
    let report = session.last_report();
    assert!(report.contains("this takes 1 argument"), "{report}");
    assert!(!report.contains("title"), "{report}");
}

#[test]
fn a_fault_of_compiled_code_is_no_error_of_the_program() {
    let mut session = Transcript::new();
    session.eval("words = [\"ab\", \"cd\"]\nnone = fill (2, 0) 1");
    for (program, why) in [
        ("(words with [1] = \"long\")", "took rows to be as long as each other that are not"),
        ("{ none[k] : k in [1, 0] }", "met what would be an error (E0601)"),
    ] {
        let text = session.eval(&format!(":time {program}"));
        let expected = format!("on the interpreter, as compiled code {why}");
        assert!(text.replace('\n', " ").contains(&expected), "{text}");
    }
}

#[test]
fn what_is_not_compiled_is_said_once() {
    let definition = "def f xs = if length xs < 2 then xs else f (f (tail xs)) ++ [1]";
    for (expression, reason) in [
        ("stencil clamp (\\w -> w[9223372036854775807]) [1]", "an offset as large as that"),
        ("f [1, 2, 3]", "`f` calls itself with what it has yielded"),
        (
            "{ if x > 2 then g x else h x : x in [1, 5] }",
            "`g` calls itself beside `h`, which does so too",
        ),
        (
            "{ loop a = x for i < 3 do a + g i : x in [1, 2] }",
            "`g` calls itself and is called in a loop",
        ),
    ] {
        let mut session = Transcript::new();
        session.eval(definition);
        session.eval("def g n = if n < 2 then n else g (n - 1) + g (n - 2)");
        session.eval("def h n = if n < 2 then 1 else h (n // 2) + h (n - n // 2)");
        let text = session.eval(&format!(":time {expression}"));
        assert!(text.contains(&format!("on the interpreter: {reason}")), "{text}");
        assert_eq!(text.matches("interpreter").count(), 1, "{text}");
        let text = session.eval(&format!(":compare {expression}"));
        let lines = text.lines().filter(|line| line.contains(reason));
        assert!(lines.clone().count() > 1, "{text}");
        for line in lines {
            assert_eq!(line.matches("interpreter").count(), 1, "{line}");
        }
    }
}

#[test]
fn what_is_compared_is_remarked_on() {
    for command in ["compare", "bench"] {
        let mut session = Transcript::new();
        session.eval("def hits p y = f64 (count (p == y)) / f64 (length y)");
        let text = session.eval(&format!(":{command} hits [1, 2] [1, 2]"));
        assert!(text.contains("E0320"), "{text}");
    }
}

/// Behind the last place, where nothing is looked at, no engine looks.
#[test]
fn interpolation_behind_the_last_place() {
    let text = Transcript::new().eval(":compare interpolate [0.0, 1.0] [0.0, 5.0] inf");
    assert!(text.matches("the same bits").count() > 2 && !text.contains("fault"), "{text}");
}

/// What is stored, and so what there is room for, differs from engine to engine, and is no part of a result.
#[test]
fn comparing_takes_no_room_for_no_difference() {
    let mut session = Transcript::new();
    let text = session.eval(":compare take 3 (iota (2 ** 45))");
    assert!(text.starts_with("interp ") && text.contains("E0701"), "{text}");
    assert!(text.contains("[0, 1, 2], for which the reference has no room"), "{text}");
    assert!(!text.contains("DIFFERENT") && !text.contains("E0901"), "{text}");
}

/// Somebody pastes a file of something else: what is said of it does not take the square of its lines.
#[test]
fn thousands_of_wrong_lines_take_no_minutes() {
    const LINES: usize = 12_000;
    for line in ["x# = foo# + 2", "f# x = x + 2", "x# = 1 +* 2", "x# = y# + zz", "def g# = h#"] {
        let text: Vec<String> = (0..LINES).map(|n| line.replace('#', &n.to_string())).collect();
        let started = std::time::Instant::now();
        let mut session = Transcript::new();
        session.eval(&text.join("\n"));
        let report = session.last_report();
        assert!(report.contains("E0"), "{line}\n{report}");
        // It takes about a second; where every line is held against every other one, a minute.
        assert!(started.elapsed().as_secs() < 20, "{line}: {:?}", started.elapsed());
    }
}
