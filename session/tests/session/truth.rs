//! What commands say about programs and values is so.

use crate::transcript::Transcript;

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
