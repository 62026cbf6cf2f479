//! Expressions of every kind.

use super::check;

#[test]
fn precedence() {
    check("a + b * c", "(+ a (* b c))");
    check("a * b + c", "(+ (* a b) c)");
    check("a - b - c", "(- (- a b) c)");
    check("a / b // c % d", "(% (// (/ a b) c) d)");
    check("a ** b ** c", "(** a (** b c))");
    check("a ++ b ++ c", "(++ a (++ b c))");
    check("a || b && c || d", "(|| (|| a (&& b c)) d)");
    check("a < b && c >= d", "(&& (< a b) (>= c d))");
    check("a == b || c != d", "(|| (== a b) (!= c d))");
    check("a .|. b .^. c .&. d << e", "(.|. a (.^. b (.&. c (<< d e))))");
    check("a << b >> c", "(>> (<< a b) c)");
    check("a << b + c", "(<< a (+ b c))");
    check("a .&. b == c", "(== (.&. a b) c)");
    check("a ++ b == c", "(== (++ a b) c)");
    check("a + b ++ c", "(++ (+ a b) c)");
    check("0 .. n + 1", "(0 .. (+ n 1))");
    check("0..n == xs", "(== (0 .. n) xs)");
    check("0..n ++ ys", "(0 .. (++ n ys))");
    check("f x + g y", "(+ (f x) (g y))");
    check("f a.x b[i]", "(f (. a x) (at b i))");
    check("(a + b) * c", "(* (+ a b) c)");
    check("a <= b", "(<= a b)");
    check("a>b", "(> a b)");
}

#[test]
fn pipes() {
    check("x |> f", "(| f x)");
    check("x |> f |> g", "(| g (| f x))");
    check("x |> f a", "(| (f a) x)");
    check("f <| g <| x", "(| f (| g x))");
    check("x + 1 |> f", "(| f (+ x 1))");
    check("f <| x || y", "(| f (|| x y))");
    check("xs |> \\x -> x + 1", "(| (\\ x -> (+ x 1)) xs)");
    check("f <| \\x -> x |> g", "(| f (\\ x -> (| g x)))");
    check("xs |> map (+ 1) |> sum", "(| sum (| (map (\\ $ -> (+ $ 1))) xs))");
}

#[test]
fn minus() {
    check("-1", "-1");
    check("- 1", "-1");
    check("-x", "(negate x)");
    check("- x", "(negate x)");
    check("a - 1", "(- a 1)");
    check("a-1", "(- a 1)");
    check("a- 1", "(- a 1)");
    check("f -1", "(f -1)");
    check("f -x", "(f (negate x))");
    check("f -x y", "(f (negate x) y)");
    check("f -x.y[0]", "(f (negate (at (. x y) 0)))");
    check("f (-1)", "(f -1)");
    check("f (- 1)", "(f -1)");
    check("(- 2)", "-2");
    check("(-2)", "-2");
    check("-2 ** 2", "(negate (** 2 2))");
    check("2 ** -2", "(** 2 -2)");
    check("2 ** -2 * 3", "(* (** 2 -2) 3)");
    check("2 ** -2 ** 2", "(** 2 (negate (** 2 2)))");
    check("f -2 ** 2", "(** (f -2) 2)");
    check("-a * b", "(* (negate a) b)");
    check("-a + b", "(+ (negate a) b)");
    check("a + -b", "(+ a (negate b))");
    check("a*-b", "(* a (negate b))");
    check("- - a", "(negate (negate a))");
    check("-f x", "(negate (f x))");
    check("-1.5", "-1.5");
    check("-1.5f32", "-1.5f32");
    check("-128i8", "-128i8");
    check("f -128i8", "(f -128i8)");
    check("-0", "0");
    check("-0.0", "-0.0");
    check("-nan", "NaN");
    check("-inf", "-inf");
    check("-x.y", "(negate (. x y))");
    check("a[i] - 1", "(- (at a i) 1)");
    check("a[-1]", "(at a -1)");
    check("[1, -1]", "[1 -1]");
    check("x < -1", "(< x -1)");
    check("x <-1", "(< x -1)");
    check("if -1 < x then -x else -1", "(if (< -1 x) (negate x) -1)");
}

#[test]
fn not() {
    check("!a && !b", "(&& (not a) (not b))");
    check("!f x", "(not (f x))");
    check("f !b", "(f (not b))");
    check("!!a", "(not (not a))");
    check("!a == b", "(== (not a) b)");
    check("a != b", "(!= a b)");
    check("map (!) bs", "(map not bs)");
}

#[test]
fn sections() {
    check("(+)", "+");
    check("(-)", "-");
    check("(*)", "*");
    check("(**)", "**");
    check("(.&.)", ".&.");
    check("(<=)", "<=");
    check("(++)", "++");
    check("(* 2)", "(\\ $ -> (* $ 2))");
    check("(2 *)", "(\\ $ -> (* 2 $))");
    check("(2*)", "(\\ $ -> (* 2 $))");
    check("(*2)", "(\\ $ -> (* $ 2))");
    check("(- 2)", "-2");
    check("(x -)", "(\\ $ -> (- x $))");
    check("(< n)", "(\\ $ -> (< $ n))");
    check("(0 ==)", "(\\ $ -> (== 0 $))");
    check("(|> f)", "(\\ $ -> (| f $))");
    check("(x |>)", "(\\ $ -> (| $ x))");
    check("(f <|)", "(\\ $ -> (| f $))");
    check("(+ a * b)", "(\\ $ -> (+ $ (* a b)))");
    check("(a * b +)", "(\\ $ -> (+ (* a b) $))");
    check("(a + b +)", "(\\ $ -> (+ (+ a b) $))");
    check("((a + b) *)", "(\\ $ -> (* (+ a b) $))");
    check("(* (a + b))", "(\\ $ -> (* $ (+ a b)))");
    check("(> -1)", "(\\ $ -> (> $ -1))");
    check("(f x +)", "(\\ $ -> (+ (f x) $))");
    check("(.x)", "(\\ $ -> (. $ x))");
    check("(.x.y)", "(\\ $ -> (. (. $ x) y))");
    check("(.0)", "(\\ $ -> (. $ 0))");
    check("(.0.1)", "(\\ $ -> (. (. $ 0) 1))");
    check("map (.x) ps", "(map (\\ $ -> (. $ x)) ps)");
    check("fold (+) 0 xs", "(fold + 0 xs)");
}

#[test]
fn numbers() {
    check("42 42u8 0xff 0b1010 1_000", "(42 42u8 255 10 1000)");
    check("1.5 1.5f32 1e-3 2e3f64", "(1.5 1.5f32 0.001 2000.0f64)");
    check("nan", "NaN");
    check("inf", "inf");
    check("pi", "3.141592653589793");
    check("0xFFi64", "255i64");
    check("1f32", "1f32");
    check("255u8", "255u8");
    check("18446744073709551615u64", "18446744073709551615u64");
    check("-9223372036854775808i64", "-9223372036854775808i64");
    check("1..5", "(1 .. 5)");
    check("1.5..2", "(1.5 .. 2)");
    check("1.|.2", "(.|. 1 2)");
}

#[test]
fn other_literals() {
    check("true", "true");
    check("false", "false");
    check("'a'", "'a'");
    check("'\\n'", "'\\n'");
    check("'\\''", "'\\''");
    check("'''", "'\\''");
    check("'\"'", "'\\\"'");
    check("'\\xe9'", "'\\xe9'");
    check("'\\u{41}'", "'A'");
    check("\"\"", "\"\"");
    check("\"text\"", "\"text\"");
    check("\"é\"", "\"\\xc3\\xa9\"");
    check("\"a\\\"b\\\\\"", "\"a\\\"b\\\\\"");
    check("\"\\t\\r\\0\\x7f\"", "\"\\t\\r\\x00\\x7f\"");
    check("\"-- no comment {- nor this\"", "\"-- no comment {- nor this\"");
    check("\"'\"", "\"\\'\"");
}

#[test]
fn names() {
    check("scanl' f xs", "(scanl' f xs)");
    check("x' + x''", "(+ x' x'')");
    check("f'a'b", "f'a'b");
    check("f 'a' 'b'", "(f 'a' 'b')");
    check("größe + λ", "(+ größe λ)");
    check("日本 x_1", "(日本 x_1)");
    check("_private", "_private");
    check("letter inner iff", "(letter inner iff)");
    check("seq window2", "(seq window2)");
    check("f32 n", "(f32 n)");
}

#[test]
fn postfixes() {
    check("x.y", "(. x y)");
    check("x.0.1", "(. (. x 0) 1)");
    check("x.y.z", "(. (. x y) z)");
    check("(a, b).0", "(. (tuple a b) 0)");
    check("f x.y", "(f (. x y))");
    check("(f x).y", "(. (f x) y)");
    check("a[i]", "(at a i)");
    check("a [i]", "(a [i])");
    check("a[i][j]", "(at (at a i) j)");
    check("a[i].x[j]", "(at (. (at a i) x) j)");
    check("m[i, j]", "(at m i j)");
    check("a[1:5]", "(at a <1:5>)");
    check("a[:5]", "(at a <:5>)");
    check("a[1:]", "(at a <1:>)");
    check("a[:]", "(at a <:>)");
    check("a[::2]", "(at a <::2>)");
    check("a[::-1]", "(at a <::-1>)");
    check("a[1:5:2]", "(at a <1:5:2>)");
    check("a[1::]", "(at a <1:>)");
    check("m[:, j]", "(at m <:> j)");
    check("m[i, :]", "(at m i <:>)");
    check("m[i+1, j-1]", "(at m (+ i 1) (- j 1))");
    check("w[-1,0]", "(at w -1 0)");
    check("a[length a // 2]", "(at a (// (length a) 2))");
    check("[1, 2][0]", "(at [1 2] 0)");
    check("\"abc\"[0]", "(at \"abc\" 0)");
    check("{x = 1}.x", "(. (record x=1) x)");
    check("(f x)[0]", "(at (f x) 0)");
    check("t.type", "(. t type)");
    check("t.in.do", "(. (. t in) do)");
    check("a[xs]", "(at a xs)");
    check("f x[0] y", "(f (at x 0) y)");
    check("x.0..5", "((. x 0) .. 5)");
}

#[test]
fn ranges() {
    check("a..b", "(a .. b)");
    check("0 .. 10 by 2", "(0 .. 10 by 2)");
    check("10..0 by -1", "(10 .. 0 by -1)");
    check("0..n - 1 by k + 1", "(0 .. (- n 1) by (+ k 1))");
    check("xs[0..3]", "(at xs (0 .. 3))");
    check("{ x : x in 0..n }", "{x : (x in (0 .. n))}");
    check("f (0..n)", "(f (0 .. n))");
}

#[test]
fn groups() {
    check("()", "(tuple)");
    check("(a)", "a");
    check("((a))", "a");
    check("(a, b)", "(tuple a b)");
    check("(a, (b, c), d)", "(tuple a (tuple b c) d)");
    check("(a, b,)", "(tuple a b)");
    check("[]", "[]");
    check("[a]", "[a]");
    check("[a, b, c]", "[a b c]");
    check("[a, b,]", "[a b]");
    check("[[1, 2], [3]]", "[[1 2] [3]]");
    check("[f x, -y]", "[(f x) (negate y)]");
    check("[if a then b else c, \\x -> x]", "[(if a b c) (\\ x -> x)]");
    check("(e : f32)", "(: e f32)");
    check("(f x + 1 : []i64)", "(: (+ (f x) 1) []i64)");
    check("(a with [i] = v)", "(with a [i] v)");
    check("(a with [i, j] = v + 1)", "(with a [i j] (+ v 1))");
    check("(a with [0] = 1 with [1] = 2)", "(with (with a [0] 1) [1] 2)");
    check("f (a with [i] = v) x", "(f (with a [i] v) x)");
}

#[test]
fn bulk_arrays() {
    let numbers = |count: usize| (0..count).map(|n| n.to_string()).collect::<Vec<_>>().join(", ");
    check(&format!("[{}]", numbers(64)), "[#64 0 … 63]");
    check(&format!("[{}, 1.5]", numbers(64)), "[#65 0.0 … 1.5]");
    check(&format!("[ -1, {},\n  7 ]", numbers(64)), "[#66 -1 … 7]");
    check(&format!("f [{}] x", numbers(64)), "(f [#64 0 … 63] x)");
    check(&format!("sum [{}][0]", numbers(64)), "(sum (at [#64 0 … 63] 0))");
    check(
        &format!("x = [\n{}\n]\n1", format!("  {},\n", numbers(16)).repeat(4)),
        "(= x [#64 0 … 15])\n1",
    );
    let plain: Vec<String> = (0..63).map(|n| n.to_string()).collect();
    check(&format!("[{}]", numbers(63)), &format!("[{}]", plain.join(" ")));
}

#[test]
fn records() {
    check("{x = 1, y = 2}", "(record x=1 y=2)");
    check("{x, y}", "(record x=x y=y)");
    check("{x}", "(record x=x)");
    check("{x, y = 2,}", "(record x=x y=2)");
    check("{x = {y = 1}}", "(record x=(record y=1))");
    check("{..r}", "(record ..r)");
    check("{..r, y = 2, ..f s, z}", "(record ..r y=2 ..(f s) z=z)");
    check("{..rows t[0:2], in = 1..3}", "(record ..(rows (at t <0:2>)) in=(1 .. 3))");
    check("{r with x = 3}", "(update r x=3)");
    check("{r with x = 3, y}", "(update r x=3 y=y)");
    check("{f a with x = 3}", "(update (f a) x=3)");
    check("{r.pos with x = r.pos.x + 1}", "(update (. r pos) x=(+ (. (. r pos) x) 1))");
    check("{type = 1, in = 2}", "(record type=1 in=2)");
    check("{x = \\y -> y}", "(record x=(\\ y -> y))");
    check("{x = 1}.x + 1", "(+ (. (record x=1) x) 1)");
}

#[test]
fn comprehensions() {
    check("{ x * 2 : x in xs }", "{(* x 2) : (x in xs)}");
    check("{x : x in xs}", "{x : (x in xs)}");
    check("{ x + y : x in xs ; y in ys }", "{(+ x y) : (x in xs) (y in ys)}");
    check("{ x : x in xs | x > 0 }", "{x : (x in xs) | (> x 0)}");
    check("{ x in xs | x > 0 }", "{x : (x in xs) | (> x 0)}");
    check("{ (a, b) in ps | a > b }", "{(tuple a b) : (<a b> in ps) | (> a b)}");
    check("{ v * x[j] : (j, v) in row }", "{(* v (at x j)) : (<j v> in row)}");
    check("{ { a * b : b in r } : r in m }", "{{(* a b) : (b in r)} : (r in m)}");
    check("{ { x in r | x > 0 } : r in m }", "{{x : (x in r) | (> x 0)} : (r in m)}");
    check("{ x : _ in xs }", "{x : (_ in xs)}");
    check("{ x + y : {x, y} in ps }", "{(+ x y) : ({x=x y=y} in ps)}");
    check("{ {x, y = 1} : x in xs }", "{(record x=x y=1) : (x in xs)}");
    check("{ f x : x in xs | p x || q x }", "{(f x) : (x in xs) | (|| (p x) (q x))}");
    check("{ let y = x in y : x in xs }", "{(let [y = x] y) : (x in xs)}");
    check("{ x : x in let n = 3 in iota n }", "{x : (x in (let [n = 3] (iota n)))}");
    check("{ if a then x else y : x in xs }", "{(if a x y) : (x in xs)}");
    check("{ \\y -> x : x in xs }", "{(\\ y -> x) : (x in xs)}");
    check("{ (x : f32) : x in xs }", "{(: x f32) : (x in xs)}");
    check("{ a[1:2] : a in as }", "{(at a <1:2>) : (a in as)}");
    check("{ -1 : x in xs }", "{-1 : (x in xs)}");
    check(
        "{ loop s = 0 for y in x do s + y : x in xs }",
        "{(loop s 0 (for y in x) (+ s y)) : (x in xs)}",
    );
    check("sum { x : x in xs }", "(sum {x : (x in xs)})");
    check("{x in xs | x > 0}[0]", "(at {x : (x in xs) | (> x 0)} 0)");
}

#[test]
fn functions() {
    check("\\x -> x", "(\\ x -> x)");
    check("\\x y -> x + y", "(\\ x y -> (+ x y))");
    check("\\(x, y) -> x", "(\\ <x y> -> x)");
    check("\\_ {x, y = (a, b)} -> x", "(\\ _ {x=x y=<a b>} -> x)");
    check("\\() -> 1", "(\\ <> -> 1)");
    check("\\(x : f32) -> x", "(\\ (x : f32) -> x)");
    check("\\x -> \\y -> x", "(\\ x -> (\\ y -> x))");
    check("map (\\x -> x * 2) xs", "(map (\\ x -> (* x 2)) xs)");
    check("(\\x -> x) 1", "((\\ x -> x) 1)");
    check("1 + \\x -> x", "(+ 1 (\\ x -> x))");
    check("f x y z", "(f x y z)");
    check("(f x) y", "((f x) y)");
}

#[test]
fn lets() {
    check("let x = 1 in x", "(let [x = 1] x)");
    check("let x = 1; y = 2 in x + y", "(let [x = 1; y = 2] (+ x y))");
    check("let x = 1; in x", "(let [x = 1] x)");
    check("let f x y = x in f", "(let [(f x y) x] f)");
    check("let f (x, y) : f32 = x in f", "(let [(f <x y>) : f32 x] f)");
    check("let (a, b) = p in a", "(let [<a b> = p] a)");
    check("let x : f32 = 1 in x", "(let [(x : f32) = 1] x)");
    check("let _ = 1 in 2", "(let [_ = 1] 2)");
    check("let x = let y = 1 in y in x", "(let [x = (let [y = 1] y)] x)");
    check("let x = 1 in let y = 2 in x", "(let [x = 1] (let [y = 2] x))");
    check("1 + let x = 1 in x + 2", "(+ 1 (let [x = 1] (+ x 2)))");
    check("(let x = 1 in x) + 2", "(+ (let [x = 1] x) 2)");
    check(
        "let s = loop a = 0 for x in xs do a + x in s",
        "(let [s = (loop a 0 (for x in xs) (+ a x))] s)",
    );
    check("let xs = { x : x in ys } in xs", "(let [xs = {x : (x in ys)}] xs)");
}

#[test]
fn choices() {
    check("if a then b else c", "(if a b c)");
    check("if a then b else c + 1", "(if a b (+ c 1))");
    check("if a then b else if c then d else e", "(if a b (if c d e))");
    check("if if a then b else c then d else e", "(if (if a b c) d e)");
    check("1 + if a then b else c", "(+ 1 (if a b c))");
    check("if a == b then -1 else f x", "(if (== a b) -1 (f x))");
}

#[test]
fn loops() {
    check("loop x = 0 for i < n do x + i", "(loop x 0 (for i < n) (+ x i))");
    check("loop x = 0 for y in ys do x + y", "(loop x 0 (for y in ys) (+ x y))");
    check("loop x = 0 while x < n do x + 1", "(loop x 0 (while (< x n)) (+ x 1))");
    check(
        "loop (a, b) = (0, 1) for _ < n do (b, a + b)",
        "(loop <a b> (tuple 0 1) (for _ < n) (tuple b (+ a b)))",
    );
    check("loop x = 0 for (i, y) in ps do x", "(loop x 0 (for <i y> in ps) x)");
    check("(loop x = 0 for i < 3 do x).0", "(. (loop x 0 (for i < 3) x) 0)");
    check(
        "loop x = 0 for i < n do loop y = x for z in zs do y + z",
        "(loop x 0 (for i < n) (loop y x (for z in zs) (+ y z)))",
    );
    check(
        "loop x = 0 for y in let n = 3 in iota n do x + y",
        "(loop x 0 (for y in (let [n = 3] (iota n))) (+ x y))",
    );
}

#[test]
fn types_in_expressions() {
    check("(x : i64 -> f32 -> bool)", "(: x (i64 -> (f32 -> bool)))");
    check("(x : (i64 -> f32) -> bool)", "(: x ((i64 -> f32) -> bool))");
    check("(x : [][]f32)", "(: x [][]f32)");
    check("(x : [n][3]f32)", "(: x [n][3]f32)");
    check("(x : [n] [3] f32)", "(: x [n][3]f32)");
    check("(x : (i64, f32))", "(: x (i64, f32))");
    check("(x : ())", "(: x ())");
    check("(x : (i64))", "(: x i64)");
    check("(x : {a: i64, b: []f32})", "(: x {a: i64, b: []f32})");
    check("(x : {type: i64, in: f32})", "(: x {type: i64, in: f32})");
    check("(x : seq []f32)", "(: x (seq []f32))");
    check("(x : window2 f32 -> f32)", "(: x ((window2 f32) -> f32))");
    check("(x : [](i64, a))", "(: x [](i64, a))");
    check("(f : [n]a -> [n]b)", "(: f ([n]a -> [n]b))");
}
