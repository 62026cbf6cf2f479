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
