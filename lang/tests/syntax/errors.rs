//! Reports: their codes, their places, their advice.

use weft_ir::SourceId;
use weft_lang::syntax::{decode, parse};

use super::{codes, dump};

/// Compares each report as `code message @ text at the caret`, one a line.
fn check(input: &str, expect: &str) {
    let parsed = parse(SourceId(0), input);
    let found: Vec<String> = parsed
        .diagnostics
        .iter()
        .map(|found| format!("{} {} @ {}", found.code, found.message, &input[found.span().range()]))
        .collect();
    assert_eq!(found.join("\n"), expect, "{input}\n{:#?}", parsed.diagnostics);
}

/// Some advice of the only report contains `expect`.
fn advice(input: &str, expect: &str) {
    let parsed = parse(SourceId(0), input);
    let [found] = &parsed.diagnostics[..] else { panic!("{input}: {:#?}", parsed.diagnostics) };
    assert!(found.help.iter().any(|help| help.contains(expect)), "{input}: {found:#?}");
}

/// What the caret of the only report says.
fn remark(input: &str, expect: &str) {
    let parsed = parse(SourceId(0), input);
    let [found] = &parsed.diagnostics[..] else { panic!("{input}: {:#?}", parsed.diagnostics) };
    assert_eq!(found.labels[0].message, expect, "{input}");
}

#[test]
fn unexpected_tokens() {
    check("1 + * 2", "E0101 unexpected `*` @ *");
    check("x = = 1", "E0101 unexpected `=` @ =");
    check("[1, , 2]", "E0101 unexpected `,` @ ,");
    check("a, b", "E0101 unexpected `,` @ ,");
    check("f x : i64", "E0101 unexpected `:` @ :");
    check("{}", "E0101 unexpected `}` @ }");
    check("a[]", "E0101 unexpected `]` @ ]");
    check("(a with x = 1)", "E0101 unexpected the name `x` @ x");
    check("x in xs", "E0101 `in` is no question @ in");
    check("import foo", "E0101 unexpected the name `foo` @ foo");
    check("type t = 3", "E0101 unexpected the number 3 @ 3");
    check("f _ 1", "E0101 unexpected `_` @ _");
    check("x .y z", "E0101 `.y` belongs to nothing @ .y");
    check("1 by 2", "E0101 `by` without a range @ by");
    check("f \\x -> x", "E0101 a function as an argument needs parentheses @ \\");
    check("f if a then b else c", "E0101 `if` as an argument needs parentheses @ if");
    check("{ x : x in xs if x > 0 }", "E0101 a condition on what is taken comes after `|` @ if");
    check(
        "{ f x : x in f xs ; y in ys if x > 0 }",
        "E0101 a condition on what is taken comes after `|` @ if",
    );
    check("{ f if a then b else c : x in xs }", "E0101 `if` as an argument needs parentheses @ if");
}

#[test]
fn what_was_expected() {
    remark("1 + * 2", "expected an expression");
    remark("(1 2 : )", "expected a type");
    remark("a, b", "expected an operator or the end of the item");
    remark("[1 ; 2]", "expected `]` or `,`");
    remark("f (1 ; 2)", "expected `)`, `:` or `,`");
    remark("import foo", "expected a text");
    remark("loop x = 0 to 3", "expected `for` or `while`");
    remark("{ x + 1 : x xs }", "expected `in`");
    remark("\\x = 1", "expected a pattern or `->`");
    remark("1 +", "expected an expression");
    remark("def f x", "expected a pattern, `=` or `:`");
}

#[test]
fn brackets() {
    check("f (1", "E0102 `(` is not closed @ (");
    check("f (1, [2", "E0102 `[` is not closed @ [");
    check("[ (1 ]", "E0102 `(` is not closed @ (");
    check("x = (1\ny = 2", "E0102 `(` is not closed @ (");
    check(")", "E0103 `)` closes nothing @ )");
    check("f (a]", "E0103 `]` does not close `(` @ ]");
    check("f a) b", "E0103 `)` closes nothing @ )");
    check("(a\nb)", "E0102 `(` is not closed @ (\nE0103 `)` closes nothing @ )");
    check("f (1 +", "E0102 `(` is not closed @ (");
    check("f [1, 2,", "E0102 `[` is not closed @ [");
    check("{ x : x in", "E0102 `{` is not closed @ {");
    check("(let x = 1", "E0102 `(` is not closed @ (");
    check("(let x = 1)", "E0113 `in` is missing @ )");
    advice("x = (1\ny = 2", "indent");
}

#[test]
fn texts_and_characters() {
    check("\"abc", "E0104 a text is not closed @ \"");
    check("\"abc\nx = 1", "E0104 a text is not closed @ \"");
    check("'a", "E0104 a character literal is not closed @ '");
    check("{- a", "E0105 a comment is not closed @ {-");
    check("{-1 : x in xs}", "E0105 a comment is not closed @ {-");
    check("''", "E0106 a character literal is empty @ ''");
    check("'é'", "E0106 'é' is more than one byte @ 'é'");
    check("'ab'", "E0106 'ab' is more than one character @ 'ab'");
    check("\"a\\qb\"", "E0107 `\\q` is not an escape @ \\q");
    check("\"\\x4g\"", "E0107 `\\x4` is not an escape @ \\x4");
    check(
        "\"\\u{d800} \\u41\"",
        "E0107 `\\u{d800}` is not an escape @ \\u{d800}\nE0107 `\\u` is not an escape @ \\u",
    );
    advice("{-1 : x in xs}", "{ -1");
    advice("'ab'", "\"ab\"");
    advice("a' b 'c", "double quotes");
}

#[test]
fn numbers() {
    check("1.", "E0108 `1.` is not a number @ 1.");
    check(".5", "E0108 `.5` is not a number @ .5");
    check("2x", "E0108 `2x` is not a number @ 2x");
    check("0o17", "E0108 `0o17` is not a number @ 0o17");
    check("1.5u8", "E0108 `1.5u8` is not a number @ 1.5u8");
    check("(x : [1.5]i64)", "E0108 a size is a whole number @ 1.5");
    check("256u8", "E0109 256u8 is out of range for u8 @ 256u8");
    check("-1u8", "E0109 -1u8 is out of range for u8 @ -1u8");
    check("128i8", "E0109 128i8 is out of range for i8 @ 128i8");
    check("-128i8 ** 2", "E0109 128i8 is out of range for i8 @ 128i8");
    check("f -129i8", "E0109 -129i8 is out of range for i8 @ -129i8");
    check("1e400", "E0109 1e400 is out of range for f64 @ 1e400");
    check("1e40f32", "E0109 1e40f32 is out of range for f32 @ 1e40f32");
    advice("0o17", "15");
    advice(".5", "0.5");
    advice("1.", "1.0");
    advice("2x", "2 * x");
    advice("1.5u8", "u8 1.5");
}

#[test]
fn other_languages() {
    check("x := 3", "E0110 `:=` is not part of the language @ :=");
    check("a & b", "E0110 `&` is not part of the language @ &");
    check("a ^ 2", "E0110 `^` is not part of the language @ ^");
    check("a <> b", "E0110 `<>` is not part of the language @ <>");
    check("a /= b", "E0110 `/=` is not part of the language @ /=");
    check("a === b", "E0110 `===` is not part of the language @ ===");
    check("f $ x", "E0110 `$` is not part of the language @ $");
    check("a @ b", "E0110 `@` is not part of the language @ @");
    check("xs !! 0", "E0110 `!!` is not part of the language @ !!");
    check("x = 1 # one", "E0110 `#` is not part of the language @ #");
    check("x = 1 /* one */", "E0110 `/*` is not part of the language @ /*");
    check("a × b", "E0110 `×` is not part of the language @ ×");
    check("\\x => x", "E0110 `=>` is not part of the language @ =>");
    check("a\u{a0}+ b", "E0110 a blank that is not a plain space @ \u{a0}");
    check("a\u{200b} + b", "E0110 an invisible character, U+200B @ \u{200b}");
    check("a \u{1} b", "E0110 a control character, U+0001 @ \u{1}");
    check("🎉 = 3", "E0110 the character `🎉` is not part of the language @ 🎉");
    advice("a & b", "&&");
    advice("a ^ 2", "**");
    advice("// comment", "--");
    advice("x = 1 # one", "--");
    advice("f $ x", "<|");
    advice("x := 3", "x = e");
    check("(a, b) => a", "E0110 `=>` is not part of the language @ =>");
    advice("[i * 2 for i in xs]", "`{ i * 2 : i in xs }`");
    advice("[x | x > 1]", "{ e : x in xs | c }");
    advice("{x: 1, y: 2}", "{x = 1}");
    advice("{\"x\": 1, \"y\": 2}", "{x = 1}");
    advice("{\"two words\": [1]}", "{name = …}");
    check("while x < 3: x = x + 1", "E0101 no item begins with `while` @ while");
    check("for x in xs: y = x", "E0101 no item begins with `for` @ for");
    advice("if x > 3: y = 1", "`y = if c then a else b`");
    advice("1 if a else 2", "`if c then a else b`");
    advice("f = lambda x: x", "`\\x -> x`");
    advice("x = 1; y = 2", "a line of its own");
    advice("{ x * 2 for x in xs }", "`{ x * 2 : x in xs }`");
    advice("{ x * 2 | x in xs }", "`{ x * 2 : x in xs }`");
    advice("{ x in xs, x > 3 }", "`|`");
    advice("if (a) { 1 } else { 2 }", "braces hold");
    advice("a with [0] = 1", "(a with [i] = v)");
    check("loop i = 0; i < 10 do i", "E0101 unexpected `;` @ ;");
}

#[test]
fn definitions_of_other_languages() {
    check("y = x where x = 1", "E0122 there is no `where` @ where");
    check("f x where x = 1", "E0122 there is no `where` @ where");
    check("f x = 3", "E0122 a function is defined by `def` @ f x");
    check("f(x, y) = x", "E0122 a function is defined by `def` @ f(x, y)");
    check("a[0] = 5", "E0122 arrays do not change @ a[0]");
    check("r.x = 5", "E0122 records do not change @ r.x");
    check("a, b = 1, 2", "E0122 a tuple pattern needs parentheses @ a, b");
    check("var x = 3", "E0122 a binding has no keyword @ var x");
    check("fun f x = 3", "E0122 a function is defined by `def` @ fun f x");
    check("def f(x): x + 1", "E0122 the body of a function follows `=` @ :");
    check("def f x -> x", "E0122 the body of a function follows `=` @ ->");
    check("def f x, y = x", "E0122 parameters are separated by spaces @ ,");
    check("def f(x, y) = x", "");
    advice("f(x, y) = x", "`def f x y = x`");
    advice("def f(x): x + 1", "`def f x = x + 1`");
    advice("a[0] = 5", "(a with [0] = 5)");
    advice("r.x = 5", "`{..r, x = 5}`");
    advice("a, b = 1, 2", "`(a, b) = (1, 2)`");
    advice("var x = 3", "`x = 3`");
}

#[test]
fn arrays_are_no_patterns() {
    check("let [a, b] = p in a", "E0121 an array is not a pattern @ [a, b]");
    check("let a = 1\n    [b, c] = p\nin b", "E0121 an array is not a pattern @ [b, c]");
    advice("let a = 1\n    [b, c] = sort p\nin c", "`b = p[0]`, `c = p[1]`");
    // Nothing has a place there.
    check("let a = 1\n    [] = p\nin a", "E0115 `=` binds a name and does not compare @ =");
    check("[a, b] = p", "E0121 an array is not a pattern @ [a, b]");
    check("def f [a, b] = a", "E0121 an array is not a pattern @ [a, b]");
    advice("let [a, _, b] = p in a", "`let a = p[0]; b = p[2] in …`");
    advice("let [a] = sort p in a", "`let v = …; a = v[0] in …`");
    advice("[a, b] = p", "`(a, b) = (p[0], p[1])`");
    advice("[a, b] = f p", "`v = …`, then `(a, b) = (v[0], v[1])`");
    advice("def f x [a, p] = x", "`def f x v = let a = v[0]; p = v[1] in …`");
    advice("map (\\[a, b] -> a) xs", "`\\p -> let a = p[0]; b = p[1] in …`");
    advice("{ a : [a, b] in xs }", "`{ let a = p[0]; b = p[1] in … : p in … }`");
    advice("loop [a, b] = [0, 1] for i < n do [b, a]", "`loop (a, b) = …`");
    // A record that is written with colons.
    advice("{x: [a, b], y: 2}", "`{x = …}`");
}

#[test]
fn definitions_by_clauses() {
    check("def fact 0 = 1", "E0121 a parameter is a name, not a value @ 0");
    check("fact 0 = 1", "E0121 a parameter is a name, not a value @ 0");
    check("def f (x, -1) = 1", "E0121 a parameter is a name, not a value @ -1");
    advice("def fact 0 = 1", "`def fact n = if n == 0 then 1 else …`");
    advice("def f x \"a\" = x", "`def f x s = if same s \"a\" then x else …`");
    advice("def f [] = 0", "`def f xs = if null xs then 0 else …`");
    advice("def f true = 0", "`def f b = if b then 0 else …`");
    advice("def f (x, 0) = x", "`def f (x, n) = if n == 0 then x else …`");
    check("def f x | x > 0 = 1\n        | true = 2", "E0122 a definition has no guards @ |");
    check("f x | x > 0 = 1", "E0122 a definition has no guards @ |");
    advice("def f x\n  | x > 0 = 1\n  | otherwise = -x", "`def f x = if x > 0 then 1 else -x`");
    advice(
        "def f x\n  | x > 0 = 1\n  | x < 0 = -x",
        "`def f x = if x > 0 then 1 else if x < 0 then -x else …`",
    );
    advice("def f x = y + 1\n  where y = x * 2", "`def f x = let y = x * 2 in y + 1`");
    advice("def f x = g x\n  where g a = a\n        b = 2", "`let g a = … in …`");
    check("def f x = case x of\n  0 -> 1\n  n -> n", "E0101 there is no `case` @ case");
    check("def f x = match x with\n  | 0 -> 1", "E0101 there is no `match` @ match");
    check("match x { 0 => 1, _ => 2 }", "E0101 there is no `match` @ match");
    check("match x:\n  case 0:\n    1", "E0101 there is no `match` @ match");
    advice("switch (x) { case 1: return 2 }", "`if x == 1 then … else if … then … else …`");
    // Somebody's function of that name.
    check("{ match p t : t in ts | + }", "E0101 unexpected `+` @ +");
    check("case = 3 +", "E0120 the text ends too early @ ");
}

#[test]
fn blocks_behind_colons() {
    advice("def f(x):\n    return x + 1", "`def f x = x + 1`");
    advice("def f(x):\n    y = x + 1\n    return y", "`def f x = let y = x + 1 in y`");
    advice("def f(x: int, n=3) -> int:\n    return x", "`def f x n = x`");
    advice(
        "def f(x):\n    if x > 0:\n        return 1\n    else:\n        return 2",
        "`def f x = if x > 0 then 1 else 2`",
    );
    advice("def f(x):\n    x += 1\n    return x", "the body is one expression");
    advice("def f(xs):\n    for x in xs:\n        print(x)", "the body is one expression");
    // `return` is a name like any other.
    check("def f (return : i64) : i64 =\n  return + 1", "");
    check("def f (xs : []f64) : []f64 = { 1.0 + return : return in xs }", "");
    // Names that are taken are not repeated.
    advice("def ack 0 n = n + 1", "`def ack m n = if m == 0 then n + 1 else …`");
    advice("def f p [x, y] = x + p", "`def f p v = let x = v[0]; y = v[1] in …`");
    // An annotation may stand on a line of its own.
    check("def f x :\n    point = x", "");
    check("def f x :\n    point = x\n      y", "");
    advice("for i in range(n):\n    s += i", "`loop s = 0 for i < n do s + i`");
    advice("for i in range(1, n):\n    s *= 2 * i", "`loop s = 1 for i in 1..n do s * (2 * i)`");
    advice("for x in xs:\n    print(x)", "`{ x : x in xs }`");
    advice("for x in xs:\n    y = x\n    print(y)", "`{ … : x in xs }`");
}

#[test]
fn comprehensions_and_functions_of_other_languages() {
    advice("[x*2 for x in xs if x > 1]", "`{ x*2 : x in xs | x > 1 }`");
    advice("[i for i in range(3)]", "`{ i : i in 0..3 }`");
    advice("sum(x for x in xs)", "`{ x : x in xs }`");
    advice("[x | x <- xs, x > 3]", "`{ x : x in xs | x > 3 }`");
    advice("[x | x <- [1..10]]", "`{ x : x in 1..11 }`");
    advice("[x | x <- [1..n], x > 3]", "`{ x : x in 1..n + 1 | x > 3 }`");
    advice("[x*y | x <- xs, y <- ys]", "`flatten { { e : y in ys } : x in xs }`");
    advice("[(x, y) for x in xs for y in ys]", "`flatten { { e : y in ys } : x in xs }`");
    advice("map(lambda x: x + 1, xs)", "`\\x -> x + 1`");
    advice("fold(lambda a, b: a + b, xs)", "`\\a b -> a + b`");
    advice("map (x -> x + 1) xs", "`\\x -> x + 1`");
    advice("map (fun x y -> x + y) xs", "`\\x y -> x + y`");
    advice("f = (x, y) -> x + y", "`\\x y -> x + y`, and of one pair `\\(x, y) -> …`");
    advice("map (|x, y| x + y) xs", "`\\x y -> x + y`");
    advice("map (\\x : i64 -> x + 1) xs", "`\\(x : i64) -> x + 1`");
    check(
        "map (\\a b : i64 -> a) xs",
        "E0101 a parameter with a type stands in parentheses @ b : i64",
    );
    check("map (\\(x : i64) -> x + 1) xs", "");
}

#[test]
fn what_is_repeated_is_of_this_language() {
    let helps = |input: &str| {
        let found = parse(SourceId(0), input).diagnostics;
        found.into_iter().flat_map(|found| found.help).collect::<Vec<_>>().join("\n")
    };
    assert!(helps("[x^2 for x in xs]").starts_with("write `{ … : x in xs }`"));
    assert!(helps("[x for x in 1:10]").starts_with("write `{ e : x in a..b }`"));
    assert!(helps("for i in 1:10 print(i) end").contains("`{ e : x in xs }`"));
    assert!(helps("def f(*args): return args").starts_with("write `def f x = …`"));
    assert!(helps("map (x -> x^2) xs").contains("`\\x -> …`"));
    advice("{x + 1 for x in xs}", "`{ x + 1 : x in xs }`");
    advice("1:10", "`a..b`");
    advice("let go 0 = 1\n    go n = n\nin go 3", "`f n = if n == 0 then … else …`");
    advice("data Tree = Leaf | Node", "`type point = {x: f64, y: f64}`");
    advice("struct P { x: f32 }", "`type point = {x: f64, y: f64}`");
    check("while i < 10:\n    i += 1", "E0101 no item begins with `while` @ while");
    advice("xs .+ 1", "`xs + ys`");
    advice("f . g", "`\\x -> f (g x)`");
}

#[test]
fn values_do_not_change() {
    advice("m[0][1] = 5", "`(m with [0, 1] = 5)`");
    advice("a[i] += 1", "`(a with [i] = a[i] + 1)`");
    advice("a[1:3] = b", "`(a with [1:3] = b)`");
    advice("loop a = b for i < 3 do a[i:] = c", "`(a with [i:] = c)`");
    advice("x += 1", "`x = x + 1`");
    advice("x++", "`x + 1`");
    advice("let f x = x", "`def f x = x`");
    advice("let x = 3", "`x = 3`");
    advice("def f x = if a then 1 elif b then 2 else 3", "`else if`");
    advice("f :: i64 -> i64", "`def f (x : i64) : i64 = …`");
}

#[test]
fn names_and_patterns() {
    check("def in x = 3", "E0111 `in` cannot be a name @ in");
    check("type if = i64", "E0111 `if` cannot be a name @ if");
    check("def pi = 3", "E0111 `pi` cannot be a name @ pi");
    check("do = 3", "E0111 `do` cannot be a name @ do");
    check("type = 3", "E0111 `type` cannot be a name @ type");
    check("{ x : 3 in xs }", "E0121 the number 3 is not a pattern @ 3");
    check("loop 0 = 1 for i < n do i", "E0121 the number 0 is not a pattern @ 0");
    check("x + 1 = 3", "E0121 only a pattern can be bound @ x + 1");
    check("1 = 2", "E0121 only a pattern can be bound @ 1");
    check("{ _ in xs | true }", "E0121 the element is not clear @ _");
    check("let (a, b) x = 1 in a", "E0121 a local function needs a name @ (a, b)");
}

#[test]
fn missing_keywords() {
    check("if a then b", "E0112 `else` is missing @ ");
    check("(if a then b)", "E0112 `else` is missing @ )");
    check("let x = 1", "E0113 `in` is missing @ ");
    check("(let x = 1, 2)", "E0113 `in` is missing @ ,");
    check("if a b else c", "E0114 `then` is missing @ else");
    check("loop x = 0 for i < n", "E0114 `do` is missing @ ");
    check("(loop x = 0 while a)", "E0114 `do` is missing @ )");
    check("if c: a", "E0114 `then` is missing @ :");
    check("if c { a }", "E0114 `then` is missing @ ");
}

#[test]
fn equals() {
    check("if x = 3 then 1 else 2", "E0115 `=` binds a name and does not compare @ =");
    check("f (x = 3)", "E0115 `=` binds a name and does not compare @ =");
    check("x = 3 y = 4", "E0115 `=` binds a name and does not compare @ =");
    check("{ x in xs | x = 3 }", "E0115 `=` binds a name and does not compare @ =");
    check("let a = 1\n     b = 2\nin a", "E0124 the bindings of a `let` are not aligned @ b");
    check("let a = 1\n  f x = 2\nin a", "E0124 the bindings of a `let` are not aligned @ f x");
    advice("if x = 3 then 1 else 2", "==");
    check("sum(m, axis=0)", "E0115 arguments have no names @ axis=");
    check("m.sum(axis=0)", "E0115 arguments have no names @ axis=");
    check("sum m axis=0", "E0115 arguments have no names @ axis=");
    check("sort [1, 2] reverse=true", "E0115 arguments have no names @ reverse=");
    check("y = plot xs title=\"a\"", "E0115 arguments have no names @ title=");
    check("f(x = 3)", "E0115 arguments have no names @ x =");
    // A function without its `def` is not called.
    check("f axis n = axis + n", "E0122 a function is defined by `def` @ f axis n");
    check("f axis = axis + 1", "E0122 a function is defined by `def` @ f axis");
}

#[test]
fn chains_and_sections() {
    check("a < b < c", "E0117 `<` and `<` do not chain @ <");
    check("a == b != c", "E0117 `==` and `!=` do not chain @ !=");
    check("a..b..c", "E0117 `..` and `..` do not chain @ ..");
    check("x |> f <| y", "E0117 `|>` and `<|` do not chain @ <|");
    check("(a + b *)", "E0123 `*` binds tighter than `+`, so this is no section @ *");
    check("(* a + b)", "E0123 `*` binds tighter than `+`, so this is no section @ *");
    check("(+ a + b)", "E0123 `+` binds tighter than `+`, so this is no section @ +");
    check("(a ..)", "E0123 `..` has no section @ ..");
    check("(..)", "E0123 `..` has no section @ ..");
    advice("0 <= x < n", "`… <= x && x < …`");
}

#[test]
fn the_text_ends() {
    check("1 +", "E0120 the text ends too early @ ");
    check("1 +\nx = 1", "E0120 the item ends too early @ ");
    check("def f x =", "E0120 the text ends too early @ ");
    advice("1 +\nx = 1", "indent");
}

#[test]
fn several_errors_in_one_item() {
    check(
        "[1 +, * 2, 3, (4 5 : ), 'é']",
        "E0101 unexpected `,` @ ,\n\
         E0101 unexpected `*` @ *\n\
         E0101 unexpected `)` @ )\n\
         E0106 'é' is more than one byte @ 'é'",
    );
    check("let a = 1 +; b = * 2 in (a +)", "E0101 unexpected `;` @ ;\nE0101 unexpected `*` @ *");
    check(
        "let a = 1 +\n    b = * 2\nin a b =",
        "E0120 a binding of this `let` ends too early @ \n\
         E0101 unexpected `*` @ *\n\
         E0115 `=` binds a name and does not compare @ =",
    );
    check("f {x = 1 +, y = * 2}", "E0101 unexpected `,` @ ,\nE0101 unexpected `*` @ *");
    check(
        "{ x + : x in * xs | + }",
        "E0101 unexpected `:` @ :\nE0101 unexpected `*` @ *\nE0101 unexpected `+` @ +",
    );
    check("m[1 +, * 2]", "E0101 unexpected `,` @ ,\nE0101 unexpected `*` @ *");
}

#[test]
fn several_items() {
    check("x = 1 + * 2\ny = 3\nz = (4\n", "E0101 unexpected `*` @ *\nE0102 `(` is not closed @ (");
}

#[test]
fn what_is_kept_of_a_broken_item() {
    let kept = |input| {
        let parsed = parse(SourceId(0), input);
        parsed.items.iter().map(dump::item).collect::<Vec<_>>().join("\n")
    };
    assert_eq!(kept("def f x = 1 + * 2"), "(def (f x) ERROR)");
    assert_eq!(kept("def f x ="), "(def (f x) ERROR)");
    assert_eq!(kept("(a, b) = * 2"), "(= <a b> ERROR)");
    assert_eq!(kept("[1, * 2, 3]"), "[1 ERROR 3]");
    assert_eq!(kept("let a = * 2; b = 1 in b"), "(let [a = ERROR; b = 1] b)");
    assert_eq!(kept("* 2"), "");
    assert_eq!(kept("def f( = 1"), "(def (f) ERROR)");
}

#[test]
fn bytes_that_are_no_text() {
    assert_eq!(decode(SourceId(0), "é".as_bytes()), Ok("é"));
    let report = decode(SourceId(0), b"a\nb\xff").expect_err("not UTF-8");
    assert_eq!(
        (report.code, &*report.message),
        ("E0118", "the text is not UTF-8: byte 3, in line 2")
    );
}

#[test]
fn very_many_errors_are_cut_short() {
    let parsed = parse(SourceId(0), &"@ ".repeat(1_000));
    assert_eq!(parsed.diagnostics.len(), weft_lang::syntax::MAX_REPORTS);
    let last = parsed.diagnostics.last().map(|found| found.notes.join(" "));
    assert_eq!(last.as_deref(), Some("900 more errors are not shown"));
    assert!(codes(&parsed).starts_with("E0110"));
}
