//! Commands, files of source text, completion.

use std::fs;

use weft_session::{COMMANDS, Completeness, Config, Detail, Outcome, completeness, explain};

use crate::transcript::{CONFIG, Transcript};

#[test]
fn type_of_an_expression() {
    let mut session = Transcript::new();
    session.check(":type 1 + 2", "1 + 2 : i64");
    session.check(":ty map (+ 1)", "map (+ 1) : Num a => []a -> []a");
    session.check(":type", "E0502");
    session.check(":type 1 + \"a\"", "E0303");
    session.check(":type x = 1", "E0502");
    session.check(":typo 1", "E0501");
    session.check(":re", "E0501");
    session.check(":clear", "E0501");
}

#[test]
fn words_of_other_prompts_are_understood() {
    let mut session = Transcript::new();
    for (word, command) in [("exit", ":quit"), ("help", ":help"), ("ls", ":vars")] {
        session.check(word, "E0201");
        let report = session.last_report();
        assert!(report.contains(&format!("`{command}`")), "{report}");
        session.check(&format!(":{word}x"), "E0501");
    }
    session.check("True", "E0201");
    assert!(session.last_report().contains("write `true`"));
    assert!(session.eval("?").contains(":help command"), "{}", session.last_report());
    session.check(":set flaot f32", "E0502");
    assert!(session.last_report().contains("did you mean `float`?"));
    // Somebody may call a value so.
    session.check("exit = 1\nexit", "exit : i64\n1");
}

#[test]
fn carets_of_commands_point_into_the_line() {
    let mut session = Transcript::new();
    session.eval(":type 1 + nothing");
    let report = session.last_report();
    assert!(report.contains(":type 1 + nothing") && report.contains("In[1]:1:11"), "{report}");
}

#[test]
fn documentation() {
    let mut session = Transcript::new();
    let doc = session.eval(":doc sum");
    assert!(doc.starts_with("sum : Num a => []a -> a\nsum xs\n\nThe sum"), "{doc}");
    assert_eq!(session.eval("sum?"), doc);
    session.check("def twice x = x + x", "twice : Num a => a -> a");
    session.check("twice?", "twice : Num a => a -> a");
    session.check("twice??", "twice : Num a => a -> a\n\ndef twice x = x + x  -- In[3]:1");
    assert!(session.eval(":doc (+)").starts_with("+ : "));
    session.check(":doc summ", "E0508");
    assert!(session.last_report().contains("did you mean `sum`?"));
}

#[test]
fn search_by_words_and_by_type() {
    let mut session = Transcript::new();
    let first = |text: String| text.lines().next().unwrap_or_default().to_owned();
    assert!(first(session.eval(":search sort")).starts_with("sort : "));
    let by_type = session.eval(":search \"[]x -> i64\"");
    assert!(first(by_type.clone()).starts_with("length : "), "{by_type}");
    session.check("def mine xs = length xs + 1", "mine : []a -> i64");
    assert!(session.eval(":search \"[]a -> i64\"").contains("mine : "));
    let used = session.eval(":search \"[]f64 -> []f64 -> f64\"");
    assert!(used.contains("\ndot : Num a => "), "{used}");
    let used = session.eval(":search \"(i64 -> bool) -> []i64 -> []i64\"");
    assert!(first(used.clone()).starts_with("filter : "), "{used}");
    let of_sequences = session.eval(":search \"seq f64 -> []f64\"");
    assert!(first(of_sequences).starts_with("collect : seq a -> []a"));
    let mapped = session.eval(":search \"(a -> b) -> seq a -> seq b\"");
    assert!(first(mapped).starts_with("map : (a -> b) -> seq a -> seq b"));
    // What a message sends to.
    for words in ["states", "scan carry"] {
        let recipe = session.eval(&format!(":search {words}"));
        assert!(recipe.contains("recipe “Keep all states of a loop”"), "{words}: {recipe}");
        assert!(recipe.contains("states (\\level move -> "), "{words}: {recipe}");
    }
    session.check(":search qwertz", "nothing found for `qwertz`");
}

#[test]
fn variables() {
    let mut session = Transcript::new();
    session.check(":vars", "nothing is defined yet");
    session.check("xs = iota 1000\ndef f x = x;\n", "xs : [1000]i64\nf : a -> a");
    session.check(":vars", "f  : a -> a\nxs : [1000]i64  (8000 bytes)");
}

#[test]
fn time_shows_the_value_and_the_phases() {
    let mut session = Transcript::new();
    let text = session.eval(":time 6 * 7");
    assert!(text.starts_with("42\nparse ") && text.contains("run "), "{text}");
    session.check("it", "42");
    session.check(":backend cpu", "");
    session.check("xs = f64 (iota 200000)", "xs : [200000]f64");
    let text = session.eval(":time sum xs");
    assert!(text.contains("moved 1600kB at "), "{text}");
}

#[test]
fn time_binds_as_well() {
    let mut session = Transcript::new();
    session.check("x = 1", "x : i64");
    let text = session.eval(":time x = iota 3");
    assert!(text.starts_with("x : [3]i64\nparse ") && text.contains("run "), "{text}");
    session.check("x", "[3]i64 [0, 1, 2]");
    session.check(":undo", "as after In[1]");
    session.check("x", "1");
    session.check(":time def f x = x", "E0502");
}

#[test]
fn typed_program() {
    let mut session = Transcript::new();
    session.check(":ir typed sum [[1, 2], [3, 4]]", "(sum@1 ~[[1, 2], [3, 4]]) : []i64");
    let part = session.eval(":ir typed ([1, 2, 3] with [1:] = [5, 6])");
    assert!(part.contains("(replaced v0 (places v0)[1:] [5, 6])"), "{part}");
    session.check(":ir typed [1, 2, 3][::2]", "[1, 2, 3][::2] : []i64");
    session.check(":ir plans 1", "E0502");
}

#[test]
fn a_choice_between_rows_is_compiled_for_extents_that_are_equal() {
    let mut session = Transcript::new();
    session.eval("m = reshape (2, 3) (iota 6)");
    session.eval("n = reshape (2, 3) (iota 6 + 1)");
    session.eval("k = reshape (2, 2) (iota 4)");
    let mut is_ragged = |text: &str| session.eval(text).contains('~');
    assert!(!is_ragged(":ir flat { if r[0] > 0 then r else s : r in m ; s in n }"));
    assert!(is_ragged(":ir flat { if r[0] > 0 then r else s : r in m ; s in k }"));
    assert!(!is_ragged(":ir flat { if r[0] > 0 then r else fill 3 0 : r in m }"));
    assert!(is_ragged(":ir flat { if r[0] > 0 then r else fill 4 0 : r in m }"));
}

#[test]
fn history() {
    let mut session = Transcript::new();
    session.check("1", "1");
    session.check("nothing", "E0201");
    session.check(":history", "   1  1\n   2! nothing");
    session.check(":history 1", "   3  :history");
}

#[test]
fn every_example_of_a_command_runs_and_is_shown() {
    let folder = tempfile::tempdir().expect("a folder for temporary files");
    fs::create_dir_all(folder.path().join("examples")).expect("a folder");
    fs::write(folder.path().join("examples/dot.weft"), "x = 1\n").expect("a file");
    for command in COMMANDS {
        let mut session = Transcript::with(&CONFIG, folder.path());
        // Files that are written go to the folder.
        let example = command.example.replace("numbers", &format!("{}/n", folder.path().display()));
        for cell in example.lines() {
            let outcome = session.eval_with(cell, &weft_session::Cancel::new());
            assert!(matches!(outcome, Outcome::Done | Outcome::Quit), "{cell}: {outcome:?}");
        }
        let help = session.eval(&format!(":help {}", command.name));
        let last = command.example.lines().last().expect("an example");
        let (_, printed) = help.split_once(&format!("  > {last}")).expect("the last cell is shown");
        assert_eq!(printed.trim().is_empty(), command.name == "quit", "{help}");
        assert!(!help.contains("Error"), "{help}");
    }
}

#[test]
fn memory_is_listed_and_let_go_of() {
    let mut session = Transcript::new();
    session.check("xs = iota 10000", "xs : [10000]i64");
    session.check("xs", "[10000]i64 [0, 1, 2, …, 9998, 9999]");
    let mem = session.eval(":mem");
    let lines: Vec<&str> = mem.lines().collect();
    assert_eq!(lines[0], "    80kB  host  _2, it  [10000]i64");
    assert_eq!(lines[1], "    80kB  host  xs      [10000]i64");
    assert!(lines[2].starts_with("   160kB  in all; a run may take 1G"), "{mem}");
    session.check("def f y = y + length xs", "f : i64 -> i64");
    session.check(":free xs it", "`xs` is forgotten; still held by `f`\n`it` is forgotten");
    session.check("xs", "E0201");
    session.check("Out[2]", "E0504");
    session.check("f 1", "10001");
    let mem = session.eval(":mem");
    assert!(mem.contains("(held by functions)"), "{mem}");
    session.check(":free nothing", "E0508");
    session.check(":free sum", "E0508");
    session.check(":undo", "as after In[4]");
    session.check("sum xs", "49995000");
    session.check("def f y = y", "f : a -> a");
    session.check(":free xs", "`xs` is forgotten");
    let mem = session.eval(":mem");
    assert!(mem.contains("    80kB  host  (kept for :undo)"), "{mem}");
    assert!(!mem.contains("(held by functions)"), "{mem}");
}

#[test]
fn memory_is_that_of_the_line_that_asks() {
    let mut session = Transcript::new();
    session.check("old = iota 2000", "old : [2000]i64");
    let cell = "x = iota 1000\n:mem\nx = 3\nold = 4\ny = iota 3000\n:mem";
    let limit = "in all; a run may take 1G beside";
    let expect = format!(
        "x : [1000]i64\n    \
         16kB  host  old  [2000]i64\n   8000B  host  x    [1000]i64\n    24kB  {limit}\n\
         x : i64\nold : i64\ny : [3000]i64\n    \
         24kB  host  y                 [3000]i64\n      8B  host  old               i64\n      \
         8B  host  x                 i64\n    \
         16kB  host  (kept for :undo)\n    40kB  {limit}"
    );
    session.check(cell, &expect);
}

#[test]
fn expressions_are_checked_without_running() {
    let mut session = Transcript::new();
    let check = session.eval(":check sum (map (\\x -> 1 // x) (iota 10))");
    assert!(check.starts_with("type    i64\nstages  "), "{check}");
    assert!(check.ends_with("runs    on cpu"), "{check}");
    session.check(":check 1 + true", "E0303");
}

#[test]
fn of_what_does_not_compile_there_is_what_comes_before() {
    let mut session = Transcript::new();
    let refused = "fold (\\a b -> (sort [a, b])[0]) 0 (iota 10)";
    for stage in ["nested", "shared"] {
        let text = session.eval(&format!(":ir {stage} {refused}"));
        assert!(text.starts_with("-- this is not compiled: sorting inside"), "{text}");
        assert!(text.contains("fold from 0i64 over x0"), "{text}");
    }
    session.check(&format!(":ir flat {refused}"), "E0509");
    session.check(&format!(":fuse {refused}"), "E0509");
}

#[test]
fn fuse_says_why_kernels_are_several_and_what_is_computed_again() {
    let mut session = Transcript::new();
    session.eval("xs = { f64 i : i in iota 10 }");
    let apart = session.eval(":fuse (filter (> 3.0) xs, filter (< 5.0) xs)");
    assert!(apart.contains("F22 kernels 1 and 2 read xs: a filter, a scatter"), "{apart}");
    for program in ["(sum xs, maximum xs)", "let e = exp (xs - maximum xs) in e / sum e"] {
        let one = session.eval(&format!(":fuse {program}"));
        assert!(one.contains("kernel 1") && !one.contains("F22"), "{one}");
    }
    let again = session.eval(":fuse { if x > 3.0 then x / sum xs else x : x in xs }");
    assert!(again.contains("F21 ") && again.contains("\n`sum xs`  In["), "{again}");
    let moved = session.eval(":fuse { { x * exp y : y in xs } : x in xs }");
    assert!(moved.contains("before the map or loop around it:\n`exp y`  In["), "{moved}");
    session.eval("m = fill (3, 4) 1.0");
    let elements = session.eval(":fuse sum (flatten (m * m))");
    assert!(elements.contains("[12]f64, m with other extents"), "{elements}");
    let many = "loop v = xs for k < 3 do let a = sort v; b = sort (1.0 / a); c = sort (a + b); d = sort (c * b) in d";
    let overview = session.eval(&format!(":fuse {many}"));
    assert!(overview.contains("8 of the 8 are launched in each turn of a loop"), "{overview}");
    assert!(overview.contains("most of what is stored for a reader:\n  "), "{overview}");
}

#[test]
fn a_function_is_shown_where_it_is_applied() {
    let mut session = Transcript::new();
    session.eval(
        "def g xs = sum (map exp xs)\ndef f n (x, m) = n // 2 + x + sum m\ndef h k x = k x + 1",
    );
    for (name, example) in
        [("g", "`g [1.0, 1.0]`"), ("f", "`f 1.0 (1.0, [1.0, 1.0])`"), ("popcount", "`popcount 1`")]
    {
        let text = session.eval(&format!(":fuse {name}"));
        assert!(text.contains(&format!("where it is applied, such as {example})")), "{text}");
        let typed = session.eval(&format!(":ir typed {}", example.trim_matches('`')));
        assert!(typed.contains(") : "), "{typed}");
    }
    let text = session.eval(":fuse h");
    assert!(text.ends_with("where it is applied)"), "{text}");
}

#[test]
fn every_code_of_a_page_is_explained() {
    let mut session = Transcript::new();
    assert!(explain::codes().count() > 50);
    assert!(session.eval(":explain E0604").contains("division"));
    assert!(session.eval(":explain e0604").contains("division"));
    session.check(":explain E9999", "E0508");
    session.check(":explain F14", "E0508");
    let report = session.last_report();
    assert!(report.contains("F13, F15") && report.contains("F22"), "{report}");
}

#[test]
fn imports_are_relative_show_nothing_and_happen_once() {
    let folder = tempfile::tempdir().expect("a folder for temporary files");
    let write = |name: &str, text: &str| fs::write(folder.path().join(name), text).expect("a file");
    fs::create_dir(folder.path().join("lib")).expect("a folder");
    write("lib/a.weft", "import \"b.weft\"\ndef a x = b x + 1\n\"not shown\"\n");
    write("lib/b.weft", "def b x = 10 * x\n");
    let mut session = Transcript::with(&CONFIG, folder.path());
    session.check("import \"lib/a.weft\"\nimport \"lib/b.weft\"\na 2", "21");
    write("loop.weft", "import \"loop.weft\"\n");
    session.check("import \"loop.weft\"", "E0505");
    session.check("import \"missing.weft\"", "E0505");
    fs::write(folder.path().join("latin.weft"), b"x = \"caf\xe9\"").expect("a file");
    session.check("import \"latin.weft\"", "E0505");
    write("table.csv.gz", "a,b\n1,2\n");
    session.check(":load table.csv.gz", "E0505");
    assert!(session.last_report().contains("`x = loadCsv \""), "{}", session.last_report());
    write("wrong.weft", "y = 1\nz = y + \"a\"\n");
    session.check("import \"wrong.weft\"", "E0302");
    assert!(session.last_report().contains("wrong.weft:2"), "{}", session.last_report());
    session.check("y", "E0201");
}

#[test]
fn load_and_reload_are_transactions() {
    let folder = tempfile::tempdir().expect("a folder for temporary files");
    let file = folder.path().join("lib.weft");
    fs::write(&file, "def f x = x + 1\nf 1\n").expect("a file");
    let mut session = Transcript::with(&CONFIG, folder.path());
    session.check(":reload", "E0502");
    session.check(":load \"lib.weft\"", "f : Num a => a -> a\n2");
    fs::write(&file, "def f x = x + 2\nf 1\n").expect("a file");
    session.check(":reload", "f : Num a => a -> a\n3");
    fs::write(&file, "def f x = x + \n").expect("a file");
    session.check(":reload", "E0120");
    session.check("f 1", "3");
}

#[test]
fn a_line_for_the_system_is_a_comment_in_every_source() {
    let folder = tempfile::tempdir().expect("a folder for temporary files");
    let file = folder.path().join("a.weft");
    for mark in ["", "\u{feff}"] {
        fs::write(&file, format!("{mark}#!/usr/bin/env weft\nx = 1\nx")).expect("a file");
        let mut session = Transcript::new();
        session.check(&format!(":load \"{}\"", file.display()), "x : i64\n1");
        session.check(&format!("import \"{}\"\nx + 1", file.display()), "2");
        session.check(&format!("{mark}#!/usr/bin/env weft\nx"), "1");
    }
    let mut session = Transcript::new();
    assert!(session.eval("1\n#!/usr/bin/env weft").starts_with("E01"));
}

#[test]
fn paths_have_the_escapes_of_texts_in_every_command() {
    let folder = tempfile::tempdir().expect("a folder for temporary files");
    // Names with a quote, a tab and a backslash.
    let escaped = |name: &str| format!("{}/{name}", folder.path().display());
    let mut session = Transcript::new();
    for (name, file) in
        [("a\\\"b.csv", "a\"b.csv"), ("t\\tx.csv", "t\tx.csv"), ("c\\\\d.csv", "c\\d.csv")]
    {
        let saved = session.eval(&format!(":save [1, 2] \"{}\"", escaped(name)));
        assert!(saved.starts_with("(saved "), "{saved}");
        assert!(folder.path().join(file).exists(), "{name}");
        session.check(&format!("(loadCsv \"{}\").c0", escaped(name)), "[2]i64 [1, 2]");
    }
    session.check(":save 1 \"a\\qb.npy\"", "E0107");
    session.check(":save x x.weft", "E0502");
    session.check(":load \"a\\qb.weft\"", "E0107");
    session.eval("def f x = x");
    session.eval(&format!(":save \"{}\"", escaped("d\\\"e.weft")));
    assert!(folder.path().join("d\"e.weft").exists());
    session.check(&format!(":load \"{}\"", escaped("d\\\"e.weft")), "f : a -> a");
    // What is suggested can be typed.
    session.check(&format!("loadCsv \"{}\"", escaped("a\\\"bb.csv")), "E0401");
    let report = session.last_report();
    assert!(report.contains(&format!("did you mean `{}`?", escaped("a\\\"b.csv"))), "{report}");
}

#[test]
fn the_empty_path_is_named() {
    let mut session = Transcript::new();
    session.check("loadText \"\"", "E0401");
    assert!(session.last_report().contains("\"\": cannot be opened: it is the empty path"));
}

#[test]
fn without_io_files_are_out_of_reach() {
    let mut session = Transcript::with(&Config { io: false, ..CONFIG }, "".as_ref());
    session.check("import \"a.weft\"", "E0506");
    session.check(":load \"a.weft\"", "E0506");
    session.check("loadText \"a.txt\"", "E0506");
    session.check(":save 1 \"a.npy\"", "E0506");
    session.check("1", "1");
}

#[test]
fn completion_offers_names_fields_commands_and_modes() {
    let mut session = Transcript::new();
    session.eval("sumOfAll = 1\npoint = {north = 1.0, east = 2}");
    session.eval("line = {ends = [point, point], label = (1, point)}");
    let texts = |text: &str| {
        let found = session.session.snapshot().complete(text, text.len());
        let texts: Vec<String> = found.candidates.into_iter().map(|found| found.text).collect();
        (found.start, texts.join(" "))
    };
    assert_eq!(texts("1 + sumO"), (4, "sumOfAll".to_owned()));
    assert_eq!(texts("argmi"), (0, "argmin".to_owned()));
    assert_eq!(texts("point.n"), (6, "north".to_owned()));
    assert_eq!(texts("point."), (6, "east north".to_owned()));
    assert_eq!(texts(":he"), (1, "help".to_owned()));
    assert_eq!(texts(":set fl"), (5, "float".to_owned()));
    assert_eq!(texts(":set float "), (11, "f32 f64".to_owned()));
    assert_eq!(texts(":set footer o"), (12, "on off".to_owned()));
    assert_eq!(texts(":backend c"), (9, "cpu".to_owned()));
    assert_eq!(texts(":ir fl"), (4, "flat".to_owned()));
    assert_eq!(texts(":ir flat sumO"), (9, "sumOfAll".to_owned()));
    assert_eq!(texts(":explain e060"), texts(":explain E060"));
    assert_eq!(texts(":explain E0601"), (9, "E0601".to_owned()));
    assert_eq!(texts(":free sumO"), (6, "sumOfAll".to_owned()));
    assert_eq!(texts(":load src/pre"), (10, "prelude/".to_owned()));
    assert_eq!(texts(":load \"src/prelude/sequ"), (19, "sequences.weft\"".to_owned()));
    assert_eq!(texts("import \"src/lib."), (12, String::new()));
    assert_eq!(texts(":explain F0").1.split(' ').next(), Some("F01"));
    assert_eq!(texts(":goto "), (6, "1 2".to_owned()));
    assert_eq!(texts("loadText \"src/lib."), (14, "lib.rs\"".to_owned()));
    assert_eq!(texts("loadText \"src/displa"), (14, "display.rs\" display/".to_owned()));
    assert_eq!(texts("line.ends.e"), (10, "east".to_owned()));
    assert_eq!(texts("line.label.1.n"), (13, "north".to_owned()));
    assert_eq!(texts("f line.ends[0].e"), (15, "east".to_owned()));
    assert_eq!(texts("1 + (last line.ends).e"), (21, "east".to_owned()));
    assert_eq!(texts("{point with east = 3}."), (22, "east north".to_owned()));
    assert_eq!(texts("(unknown line)."), (15, String::new()));
    // What a generator or a function binds has the fields that there are.
    assert_eq!(texts("{ r.n"), (4, "north".to_owned()));
    assert_eq!(texts("map (\\row -> row."), (17, "east ends label north".to_owned()));
    assert_eq!(texts(""), (0, String::new()));
    let snapshot = session.session.snapshot();
    let found = snapshot.complete("def area width height = wi", 26).candidates;
    assert_eq!((&*found[0].text, &*found[0].detail), ("width", "local"));
    let candidate = &snapshot.complete("sumO", 4).candidates[0];
    assert_eq!(candidate.detail, "i64");
    // The quote behind the cursor is not doubled.
    let found = snapshot.complete("loadText \"src/lib.\"", 18).candidates;
    assert_eq!(found[0].text, "lib.rs");
}

#[test]
fn completion_sees_what_the_cell_has_bound_so_far() {
    let session = Transcript::new();
    let found = |text: &str| {
        let found = session.session.snapshot().complete(text, text.len()).candidates;
        let found = found.into_iter().map(|found| format!("{} {}", found.text, found.detail));
        found.collect::<Vec<String>>().join(", ")
    };
    assert_eq!(found("myvar = 5\nmyv"), "myvar i64");
    assert_eq!(found("def myfun x = x + 1\nmyf"), "myfun Num a => a -> a");
    assert_eq!(found("r = {alpha = 1}\nr."), "alpha i64");
    assert_eq!(found("myvar = 5\n:type myv"), "myvar i64");
    assert_eq!(found(":set rows 5\nmyvar = loadText \"none\"\nother = 1\noth"), "other i64");
    assert_eq!(found("wrong = 1 +\n\nmyvar = 5\nmyv"), "myvar i64");
    // What comes later is not there yet.
    let text = "myv\nmyvar = 5";
    assert!(session.session.snapshot().complete(text, 3).candidates.is_empty());
}

#[test]
fn inspection_tells_type_remark_and_on_request_the_definition() {
    let mut session = Transcript::new();
    session.eval("-- Twice as much,\n-- of anything.\ndef twice x = 2 * x");
    let snapshot = session.session.snapshot();
    let inspect = |text: &str, cursor, detail| snapshot.inspect(text, cursor, detail);
    let sum = inspect("1 + sum xs", 6, Detail::Brief);
    assert!(sum.is_some_and(|text| text.starts_with("sum : ")));
    assert_eq!(inspect("1 2", 2, Detail::Full), None);
    let brief = "twice : Num a => a -> a\n\nTwice as much,\nof anything.";
    assert_eq!(inspect("twice", 0, Detail::Brief).as_deref(), Some(brief));
    let full = format!("{brief}\n\ndef twice x = 2 * x  -- In[1]:3");
    assert_eq!(inspect("twice (3 ** 2) ", 15, Detail::Full), Some(full));
}

#[test]
fn completeness_of_commands_and_questions() {
    assert_eq!(completeness(":type (1"), Completeness::Complete);
    assert_eq!(completeness("sum?"), Completeness::Complete);
    assert_eq!(completeness("1 + 1"), Completeness::Complete);
    assert!(matches!(completeness("f (1"), Completeness::Incomplete { .. }));
    assert_eq!(completeness("f )"), Completeness::Invalid);
}

#[test]
fn kernels_are_drawn_as_a_graph() {
    let mut session = Transcript::new();
    let mut drawing = |cell: &str| {
        session.eval("xs = f64 (iota 1000)");
        let mut sink = weft_session::Collected::default();
        let cell = weft_session::Cell::typed(cell);
        session.session.eval(cell, &mut sink, &weft_session::Cancel::new());
        sink.events.into_iter().find_map(|event| match event {
            weft_session::Event::Drawing(svg) => Some(svg),
            _ => None,
        })
    };
    let softmax = drawing(":fuse let e = exp (xs - maximum xs) in e / sum e").expect("a picture");
    for text in ["xs: [1000]f64", "kernel 1: ", "kernel 2: ", "the result", "F16: "] {
        assert!(softmax.contains(text), "{text} is not in\n{softmax}");
    }
    // Both scalars are read by the kernels after them, and e, which is stored: 3 inputs, 3 outputs.
    assert_eq!(softmax.matches("marker-end").count(), 9, "{softmax}");
    assert_eq!(drawing(":fuse 1 + 1"), None);
}

#[test]
fn a_name_that_hides_a_function_says_so_and_can_be_let_go_of() {
    let mut session = Transcript::new();
    for (name, call, value) in [("sum", "sum [1, 2]", "3"), ("first", "first [7]", "7")] {
        let echo = format!("{name} : i64 (hides the function; `:free {name}` brings it back)");
        session.check(&format!("{name} = 5"), &echo);
        session.check(call, "E0304");
        session.check(&format!(":free {name}"), &format!("`{name}` is forgotten"));
        session.check(call, value);
    }
    for name in ["loadCsv", "rows"] {
        let echo = format!("{name} : i64 (hides the function; `:free {name}` brings it back)");
        session.check(&format!("{name} = 5"), &echo);
        session.check(&format!(":free {name}"), &format!("`{name}` is forgotten"));
    }
    // A function of the prelude, hidden by another one.
    let echo = "words : a -> a (hides the function; `:free words` brings it back)";
    session.check("def words x = x", echo);
    session.check(":free words", "`words` is forgotten");
    session.check("words \"a b\"", "[2][1]char [\"a\", \"b\"]");
    session.check(":free words", "E0508");
    session.check("own = 5", "own : i64");
}

#[test]
fn pictures_beyond_black_and_white_are_remarked_on() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let mut session = Transcript::new();
    session.eval("m = [[0.0, 128.0], [255.0, 64.0]]");
    let mut check = |value: &str, texts: &[&str]| {
        let file = folder.path().join("a.png").display().to_string();
        let said = session.eval(&format!(":save {value} \"{file}\""));
        assert!(said.contains("saved "), "{said}");
        assert_eq!(said.contains("E0408"), !texts.is_empty(), "{value}: {said}");
        if !texts.is_empty() {
            let report = session.last_report().replace(&file, "a.png");
            // Where lines end depends on the length of the path.
            let words = report.split(|c: char| c.is_whitespace() || c == '│');
            let report = words.filter(|word| !word.is_empty()).collect::<Vec<_>>().join(" ");
            texts.iter().for_each(|text| assert!(report.contains(text), "{text}: {report}"));
        }
    };
    let range = "its values go from 0.0 to 255.0: 75 % of them are saved as black or white";
    check("m", &[range, "if 255 is white, `:save m / 255.0 \"a.png\"`"]);
    check("m / 255.0", &[]);
    check(
        "m - 100.0",
        &["`:save ((m - 100.0) + 100.0) / 255.0 \"a.png\"` goes from black to white"],
    );
    check("((m - 100.0) + 100.0) / 255.0", &[]);
    check(
        "m + 100.0",
        &["`:save ((m + 100.0) - 100.0) / 255.0 \"a.png\"` goes from black to white"],
    );
    check(
        "{ { (x, x, x) : x in row } : row in m }",
        &[range, "or make them `u8`, of which 255 is white"],
    );
    // A little beyond is usual behind a filter.
    check("[replicate 20 0.5 ++ [1.02]]", &[]);
    check("u8 m", &[]);
    check("m > 100.0", &[]);
}
