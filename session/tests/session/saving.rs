//! `:save`: values and definitions that mean the same when they are read again.

use std::fs;

use crate::transcript::Transcript;

#[test]
fn save_values_and_definitions() {
    let folder = tempfile::tempdir().expect("a folder for temporary files");
    let path = |name: &str| folder.path().join(name).display().to_string();
    let mut session = Transcript::new();
    session.check("xs = linspace 0.0 1.0 3", "xs : [3]f64");
    let saved = session.eval(&format!(":save (2 * xs) \"{}\"", path("xs.npy")));
    assert!(saved.starts_with("(saved "), "{saved}");
    session.check(&format!("load \"{}\"", path("xs.npy")), "[3]f64 [0.0, 1.0, 2.0]");
    session.check(":save xs \"no/such/folder.npy\"", "E0405");
    let at_once = format!(":save xs \"{0}\"\nys = load \"{0}\"", path("later.npy"));
    session.check(&at_once, "E0401");
    assert!(session.last_report().contains("before the program runs"), "{}", session.last_report());
    // What stands there now is not what is saved.
    let again = format!(":save (3 * xs) \"{0}\"\nys = load \"{0}\"", path("xs.npy"));
    session.check(&again, "E0401");
    session.check(&format!("load \"{}\"", path("xs.npy")), "[3]f64 [0.0, 1.0, 2.0]");
    let before = format!("ys = load \"{0}\"\n:save (3 * ys) \"{0}\"\nys", path("xs.npy"));
    assert!(session.eval(&before).contains("(saved "));
    session.check(&format!("load \"{}\"", path("xs.npy")), "[3]f64 [0.0, 3.0, 6.0]");
    session.check(":save xs", "E0502");
    session.check(":save sum \"f.npy\"", "E0502");

    let mut session = Transcript::new();
    session.eval("type point = {x: f64, y: f64}");
    session.eval("k = 2.0");
    session.eval("def norm (p: point) = sqrt (p.x * p.x + p.y * p.y) * k");
    session.eval("k = 3.0");
    session.eval("def unused x = x");
    session.eval(&format!(":save {}", path("defs.weft")));
    let text = fs::read_to_string(path("defs.weft")).expect("the saved file");
    assert_eq!(
        text,
        "type point = {x: f64, y: f64}\nk = 2.0\n\
         def norm (p: point) = sqrt (p.x * p.x + p.y * p.y) * k\nk = 3.0\ndef unused x = x\n"
    );
    let mut session = Transcript::new();
    session.eval(&format!("import \"{}\"", path("defs.weft")));
    session.check("norm {x = 3.0, y = 4.0} + k", "13.0");
    session.eval("20 + 1");
    session.eval("y = it");
    session.eval(&format!(":save {}", path("more.weft")));
    let text = fs::read_to_string(path("more.weft")).expect("the saved file");
    assert!(text.ends_with("\nresult1 = 20 + 1\ny = result1\n"), "{text}");
}

#[test]
fn saved_definitions_mean_what_they_meant() {
    let folder = tempfile::tempdir().expect("a folder for temporary files");
    let file = folder.path().join("defs.weft").display().to_string();
    let mut session = Transcript::new();
    let saved = |session: &mut Transcript| {
        let said = session.eval(&format!(":save \"{file}\""));
        assert!(said.starts_with("(saved "), "{said}");
        fs::read_to_string(&file).expect("the saved file")
    };
    session.eval("x = 2");
    session.eval("x + 5;");
    session.eval("x = 3");
    session.eval("(it, _2)");
    session.eval("y = it.0 + Out[2] + x");
    session.eval("def f z = z + _2 * (let result1 = 1 in result1)");
    session.eval("a = 1.5");
    session.eval(":set float f32");
    session.eval("b = 1.5");
    assert_eq!(
        saved(&mut session),
        "x = 2\nresult2 = x + 5\nx = 3\nresult3 = (result2, result2)\n\
         y = result3.0 + result2 + x\ndef f z = z + result2 * (let result1 = 1 in result1)\n\
         a = 1.5\n:set float f32\nb = 1.5\n"
    );
    let mut again = Transcript::new();
    again.eval(&format!(":load \"{file}\""));
    again.check("(x, y, f 1)", "(3, 17, 8)");
    again.check(":type (a, b)", "(a, b) : (f64, f32)");
    session.eval(":set float f64");
    assert!(saved(&mut session).ends_with("\n:set float f32\nb = 1.5\n:set float f64\n"));
    // What no text has defined cannot be written.
    let mut session = Transcript::new();
    session.session.bind_texts("args", &["a".to_owned()]);
    session.check("howMany = length args", "howMany : i64");
    session.check(&format!(":save \"{file}\""), "E0507");
    session.check(":free howMany", "`howMany` is forgotten");
    assert_eq!(saved(&mut session), "");
}

/// What `:save` writes, and whether a session that reads it shows the same for an expression.
#[track_caller]
fn saved_again(session: &mut Transcript, shown: &str) -> String {
    let folder = tempfile::tempdir().expect("a folder for temporary files");
    let file = folder.path().join("defs.weft").display().to_string();
    let said = session.eval(&format!(":save \"{file}\""));
    assert!(said.starts_with("(saved "), "{said}");
    let text = fs::read_to_string(&file).expect("the saved file");
    let expected = session.eval(shown);
    let mut again = Transcript::new();
    again.eval(&format!(":load \"{file}\""));
    again.check(shown, &expected);
    text
}

#[test]
fn saved_names_mean_what_they_meant_then() {
    // A type that was defined anew.
    let mut session = Transcript::new();
    for cell in [
        "type num = i32\ntype nums = []num",
        "def sqr (x : num) = x * x\ndef total (xs : nums) = sum (xs * xs)",
        "type num = i64",
        "def cube (x : num) = x * x * x",
        "type unused = (i64, bool)",
    ] {
        session.eval(cell);
    }
    let text = saved_again(&mut session, "(sqr 100000, cube 100000, total [100000])");
    assert!(
        text.starts_with("type num = i32\n") && text.ends_with("type unused = (i64, bool)\n"),
        "{text}"
    );
    // Builtin functions that were hidden for a while.
    let mut session = Transcript::new();
    for cell in [
        "def sum v = 0 * v[0]\na = sum [5]\n:free sum",
        "b = sum [1, 2]",
        "length = 3\nc = length + 1",
        ":free length",
    ] {
        session.eval(cell);
    }
    let text = saved_again(&mut session, "(a, b, c, sum [1, 2], length [7])");
    assert!(text.contains("a = sum [5]\n:free sum\nb = sum [1, 2]\n"), "{text}");
    // Comments are documentation.
    let mut session = Transcript::new();
    session.eval("x = 1\n-- Doubles x,\n-- whatever it is.\ndef double x = 2 * x\n");
    let text = saved_again(&mut session, "double?");
    assert!(text.contains("\n-- Doubles x,\n-- whatever it is.\ndef double x = 2 * x\n"), "{text}");
}

#[test]
fn what_was_loaded_is_loaded_again() {
    let folder = tempfile::tempdir().expect("a folder for temporary files");
    let path = |name: &str| folder.path().join(name).display().to_string();
    let mut session = Transcript::new();
    session.eval(&format!(
        ":save [1, 2, 3] \"{}\"\n:save [4, 5] \"{}\"",
        path("a.npy"),
        path("b.npy")
    ));
    for cell in [
        format!("p = \"{}\"", path("a.npy")),
        "t = load p".to_owned(),
        format!("p = \"{}\"\nu = load p", path("b.npy")),
        format!("s = streamNpy \"{}\"", path("a.npy")),
    ] {
        session.eval(&cell);
    }
    saved_again(&mut session, "(sum t, sum u, foldSeq (+) 0 s)");
    // A function that uses a result, in a value.
    let mut session = Transcript::new();
    session.eval("10");
    session.eval("def f x = x * it");
    session.eval("w = f 3");
    let text = saved_again(&mut session, "(w, f 2)");
    assert_eq!(text, "result1 = 10\ndef f x = x * result1\nw = f 3\n");
}
