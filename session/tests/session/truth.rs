//! What commands say about programs and values is so.

use crate::transcript::Transcript;

#[test]
fn show_shows_all_inside_of_tuples_and_records() {
    let mut session = Transcript::new();
    for cell in [
        ":show (iota 200, 2)",
        ":show {a = iota 30, b = {c = iota 50, d = 1}}",
        ":show ((iota 40, 1), 2)",
    ] {
        let shown = session.eval(cell);
        assert!(!shown.contains('…'), "{shown}");
    }
    let shown = session.eval(":show (iota 40, \"a\")");
    assert!(shown.starts_with("([40]i64, [1]char)\n.0 = [40]i64\n  [ 0,  1,"), "{shown}");
    assert!(shown.ends_with("39]\n.1 = \"a\""), "{shown}");
    // Elsewhere the ends are shown.
    assert!(session.eval("(iota 200, 2)").contains('…'));
}

#[test]
fn what_show_leaves_out_is_said() {
    let mut session = Transcript::new();
    let remark = "`…` stands for what is left out";
    let shown = session.eval(":show iota 100001");
    assert!(shown.contains("100000]\n(") && shown.contains(remark), "{shown}");
    for whole in [":show iota 1000", ":show \"a … b\"", ":show [\"…\"]"] {
        assert!(!session.eval(whole).contains(remark), "{whole}");
    }
    // Without the command nothing is said: the sign does that.
    assert!(!session.eval("iota 1000").contains(remark));
}

#[test]
fn the_depth_of_calls_is_one_limit_for_all_engines() {
    for backend in ["auto", "cpu", "interp", "nested", "flat"] {
        let mut session = Transcript::new();
        session.eval(&format!(":set backend {backend}"));
        session.eval("def deep n = if n == 1 then 1 else 1 + deep (n - 1)");
        session.eval("def fib n = if n < 2 then n else fib (n - 1) + fib (n - 2)");
        session.eval(":set recursion 100");
        session.check("{ deep n : n in [100, 10] }", "[2]i64 [100, 10]");
        session.check("{ deep n : n in [101, 10] }", "E0702");
        session.check("deep 100", "100");
        session.check("deep 101", "E0702");
        assert!(session.last_report().contains("`:set recursion` raises"), "{backend}");
        session.eval(":set recursion 10");
        session.check("fib 10", "55");
        session.check("fib 11", "E0702");
        session.check("{ deep n : n in [11, 10] }", "E0702");
        session.eval(":set recursion 12");
        session.check("{ deep n : n in [11, 10] }", "[2]i64 [11, 10]");
    }
}

#[test]
fn deeper_recursion_than_usual_runs_compiled() {
    let mut session = Transcript::new();
    session.eval("def deep n = if n == 0 then 0 else 1 + deep (n - 1)\n:set recursion 20000");
    let ran = session.eval(":time { deep n : n in [12000, 100] }");
    assert!(ran.contains("on cpu"), "{ran}");
}

#[test]
fn kernels_belong_to_expressions() {
    let mut session = Transcript::new();
    session.eval("-- nothing\nxs = [1, 2]");
    for expression in [
        "iota 10",
        "replicate 5 0",
        "fill (2, 3) 1.0",
        "transpose [[1, 2], [3, 4]]",
        "[1, 2] ++ [3]",
        "0..5",
        "zip xs xs",
        "reverse (iota 3)",
        "(iota 3, 2)",
        "let a = iota 3 in a",
    ] {
        let text = session.eval(&format!("1 + 1;\n:fuse {expression}"));
        let of = text.lines().filter(|line| line.contains("writes"));
        for line in of {
            assert!(line.ends_with("]:2") && !line.contains("``"), "{text}");
        }
    }
}

#[test]
fn the_first_line_of_fuse_counts_what_it_lists() {
    let mut session = Transcript::new();
    session.eval(
        "xs = random 1 1000\nns = iota 1000\nrows = [[1.0], [2.0, 3.0]]\na = fill (9, 9) 1.0",
    );
    session.eval("def fib n = if n < 2 then n else fib (n - 1) + fib (n - 2)");
    for (expression, also) in [
        ("histogram 1000 ns", "onto    a2: [1000]i64, in place"),
        ("(xs with [3] = 1.0)", "onto    xs: [1000]f64, copied first (8000 bytes)"),
        // What was there before is read before.
        (
            "loop a = ns for i < 999 do (let old = a[i]; b = (a with [i] = 5) in (b with [i + 1] = b[i + 1] + old))",
            "of the turn before, in place\n",
        ),
        // The other side yields it as it is.
        (
            "loop a = ns for i < 999 do if i % 2 == 0 then (a with [i] = 1) else a",
            "of the turn before, in place\n",
        ),
        ("{ { sqrt x + 1.0 : x in r } : r in rows }", "rows    the rows of rows: [3]i64"),
        ("{ sort r : r in rows }", "rows    "),
        (
            "iterate 10 (\\v -> stencil wrap (\\w -> w[-1] + w[1]) v) xs",
            ", in each turn of a loop\n",
        ),
        ("iterate 10 (\\v -> v * 2.0) xs", "of the turn before"),
        ("matmul (matmul a a) a", "F06 "),
        ("{ fib n : n in [20] }", ", on the way up, level by level"),
        // With a stack where there is a C compiler.
        ("fib 20", "\n└ writes"),
        ("sum (filter (> 0.5) xs) / 2.0", "reads"),
    ] {
        let text = session.eval(&format!(":fuse {expression}"));
        assert!(text.contains(also) && !text.contains("F15"), "{text}");
        let words: Vec<&str> = text.lines().next().unwrap_or_default().split(' ').collect();
        let counted: usize = words.last().and_then(|count| count.parse().ok()).expect(&text);
        let (mut listed, mut verb) = (0, "");
        for line in text.lines().filter(|line| line.starts_with(['├', '└'])) {
            let (shown, item) = line.trim_start_matches(['├', '└', ' ']).split_at(6);
            let is_verb = ["reads ", "rows  ", "onto  ", "inside", "writes"].contains(&shown);
            let item = if is_verb { item } else { line.trim_start_matches(['├', '└', ' ']) };
            verb = if is_verb { shown } else { verb };
            if verb == "reads " {
                let names = item.split(": ").next().unwrap_or_default();
                listed += names.split(", ").count();
            }
        }
        assert_eq!(counted, listed, "{text}");
    }
    // The operations of loops in place of calls are compared with no others.
    assert!(!session.eval(":fuse fib 20").contains("every use"));
}

#[test]
fn costs_count_operators_and_name_what_they_do_not_count() {
    let mut session = Transcript::new();
    session.eval("xs = random 1 1000\na = fill (10, 10) 1.0");
    for (expression, texts) in [
        (
            "{ (loop x = n while x > 1 do x // 2) : n in iota 1000 }",
            &[
                "takes 0 operations",
                "in each turn of its loop 2 operations",
                "turns of their loops",
            ][..],
        ),
        ("sort xs", &["the comparisons of the sort are not counted"]),
        ("maximum xs", &["a point takes 1 operation and", "all 1000 points: 1000 operations"]),
        ("matmul a a", &["a point takes 2 operations and reads 2 elements"]),
        ("iterate 10 (\\v -> v * 2.0) xs", &["bytes read, a turn"]),
        ("(xs with [3] = 1.0)", &["  1 point: ", "is copied first (8000 bytes)"]),
    ] {
        let text = session.eval(&format!(":cost {expression}"));
        assert!(texts.iter().all(|part| text.contains(part)), "{text}");
    }
}

#[test]
fn a_cell_that_fails_takes_back_what_it_has_announced() {
    let mut session = Transcript::new();
    let note = "(nothing of this cell is kept: `first_ok` is not defined)";
    session.check("first_ok = 42\n[1, 2, 3] + [1, 2]", &format!("first_ok : i64\nE0602\n{note}"));
    session.check("first_ok", "E0201");
    session.check("1 + 1\n[1, 2, 3] + [1, 2]", "2\nE0602");
    session.check("first_ok = 42\nsecond = nothing", "E0201");
}

#[test]
fn reasons_have_pages() {
    let mut session = Transcript::new();
    assert!(session.eval(":explain F03").starts_with("# F03: several points read"));
    assert!(session.eval(":explain f20").contains("Sums of floats"));
    session.check(":explain F99", "E0508");
    // Machine code would take it.
    session.eval(":set tier 0");
    session.eval("def mc n = if n > 100 then n - 10 else mc (mc (n + 11))");
    session.eval(":fuse mc 5");
    assert!(session.last_report().contains("an argument of a call in tail position"));
}

#[test]
fn arrays_of_records_have_the_names_of_their_columns() {
    let mut session = Transcript::new();
    session.eval("t = {a = [1, 2], b = [1.0, 2.0]}\np = ([1, 2], [{c = 1}])");
    assert!(session.eval(":fuse { r.a + 1 : r in rows t }").contains("reads   t.a: "));
    assert!(session.eval(":fuse { r.c + 1 : r in p.1 }").contains("reads   p.1.c: "));
}
