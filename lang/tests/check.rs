//! The checker: one input, its type or its first error's code.

use weft_ir::SourceId;
use weft_lang::{CheckedKind, Config, Environment, NoFiles};

/// The type of the last item (or of the last definition), or the codes of all errors.
fn outcome(input: &str) -> String {
    let parsed = weft_lang::syntax::parse(SourceId(0), input);
    let config = Config { float: weft_ir::ScalarType::F64 };
    let checked = weft_lang::check(&parsed.items, &Environment::default(), &config, &mut NoFiles);
    let errors: Vec<&str> = parsed
        .diagnostics
        .iter()
        .chain(&checked.diagnostics)
        .map(|diagnostic| diagnostic.code)
        .collect();
    if !errors.is_empty() {
        return errors.join(" ");
    }
    match checked.items.last().map(|item| &item.kind) {
        Some(CheckedKind::Define { scheme, .. } | CheckedKind::ShowFunction { scheme, .. }) => {
            scheme.to_string()
        }
        Some(CheckedKind::Bind { ty, .. } | CheckedKind::Show { ty, .. }) => ty.to_string(),
        Some(CheckedKind::Alias { name }) => format!("type {name}"),
        None => "nothing".to_owned(),
    }
}

#[track_caller]
fn check(input: &str, expect: &str) {
    let outcome = std::thread::scope(|scope| {
        std::thread::Builder::new()
            .stack_size(weft_lang::STACK_BYTES)
            .spawn_scoped(scope, || outcome(input))
            .expect("a thread")
            .join()
            .expect("the checker panicked")
    });
    assert_eq!(outcome, expect, "for {input}");
}

#[test]
fn literals_and_defaults() {
    check("42", "i64");
    check("1.5", "f64");
    check("42u8", "u8");
    check("true", "bool");
    check("'c'", "char");
    check("\"text\"", "[]char");
    check("[1, 2, 3]", "[]i64");
    check("[1, 2.5]", "[]f64");
    check("[[1, 2], [3]]", "[][]i64");
    check("(1, 2.0, true)", "(i64, f64, bool)");
    check("{x = 1, y = 2.0}", "{x: i64, y: f64}");
    check("[]", "[]i64");
    check("()", "()");
    check("1 + 2.5", "f64");
    check("2 * [1.5f32]", "[]f32");
    check("[1, true]", "E0303");
    check("300u8", "E0109 E0309");
    check("255 + 1u8", "u8");
    check("256 + 1u8", "E0309");
    check("pi", "f64");
    check("2f32 * pi", "f32");
}

#[test]
fn definitions_are_generalised() {
    check("def f x = x", "a -> a");
    check("def f x y = x", "a -> b -> a");
    check("def double x = 2 * x", "Num a => a -> a");
    check("def half x = 0.5 * x", "Float a => a -> a");
    check("def sq x = x * x\n(sq 2, sq 2.5)", "(i64, f64)");
    check("def compose f g x = f (g x)", "(a -> b) -> (c -> a) -> c -> b");
    check("def twice f x = f (f x)", "(a -> a) -> a -> a");
    check("def pair x = (x, x)\npair (pair 1)", "((i64, i64), (i64, i64))");
    check("def f = sqrt\nf 2.0", "f64");
    check("f = map sqrt\nf [1.0]", "[]f64");
    check("def dotp xs ys = fold (+) 0 (zipWith (*) xs ys)", "Num a => []a -> []a -> a");
    check("def eq a b = a == b", "Ord a => a -> a -> bool");
    check("def fact n = if n < 2 then 1 else n * fact (n - 1)", "Num a => a -> a");
}

#[test]
fn implicit_map_of_known_ranks() {
    check("sqrt [1.0, 4.0]", "[]f64");
    check("[1, 2] + [3, 4]", "[]i64");
    check("2 * [[1, 2]]", "[][]i64");
    check("sum [[1, 2], [3, 4]]", "[]i64");
    check("sum [1, 2]", "i64");
    check("sum [[[1]]]", "[][]i64");
    check("sort [[2, 1]]", "[][]i64");
    check("reverse [[1], [2]]", "[][]i64");
    check("map sqrt [[1.0]]", "[][]f64");
    check("map sum [[1, 2]]", "[]i64");
    check("map sum [[[1, 2]]]", "[][]i64");
    check("[1, 2] > 1 && [1, 2] < 5", "[]bool");
    check("[1, 2] == [1, 2]", "[]bool");
    check("def dotp xs ys = fold (+) 0 (zipWith (*) xs ys)\ndotp [[1, 2]] [1, 2]", "[]i64");
    check("[[1, 2]] + [1, 2]", "E0305");
    check("length [[1], [2]]", "i64");
    check("map length [[1], [2]]", "[]i64");
    check("select ([1, 2] > 1) [1, 2] [3, 4]", "[]i64");
    check("if [true] then 1 else 2", "E0306");
    check("replicate 3 [1, 2]", "[][]i64");
    check("replicate [1, 2] 0", "[][]i64");
    check("take 2 [[1], [2]]", "[][]i64");
    check("searchSorted [1, 2, 3] [2, 3]", "[]i64");
    check("f32 [1, 2]", "[]f32");
    check("fold (+) 0 [[1, 2]]", "[]i64");
    check("fold (+) [0, 0] [[1, 2]]", "[]i64");
    check("min [1, 2] 3", "[]i64");
    check("matmul [[[1]]] [[1]]", "[][][]i64");
    check("transpose [[1, 2]]", "[][]i64");
    check("m = [[1, 2]]\nm[0]", "[]i64");
    check("m = [[1, 2]]\nm[0, 1]", "i64");
    check("m = [[1, 2]]\nm[:, 1]", "[]i64");
    check("m = [[1, 2]]\nm[0, :]", "[]i64");
    check("m = [[1, 2]]\nm[::-1, [0]]", "[][]i64");
    check("xs = [1, 2]\nxs[[0, 1]]", "[]i64");
    check("xs = [1, 2]\nxs[1:]", "[]i64");
    check("xs = [1, 2]\nxs[0, 1]", "E0307");
    check("[1, 2][0, 1]", "E0307");
    check("(3 with [0] = 1)", "E0307");
    check("(iota 5 with [2] = 7)", "[]i64");
}

#[test]
fn implicit_map_of_open_ranks() {
    check("def f x = x + 1", "Num a => a -> a");
    check("def norm xs = sqrt (sum (xs * xs))", "Float a => []a -> a");
    check("def softmax xs = let e = exp (xs - maximum xs) in e / sum e", "Float a => []a -> []a");
    check("def centre xs = xs - mean xs", "Float a => []a -> []a");
    check("def scale a xs = a * xs", "Num a => a -> a -> a");
    check(
        "def axpy a xs ys = map (\\(x, y) -> a * x + y) (zip xs ys)",
        "Num a => a -> []a -> []a -> []a",
    );
    check("def norm lo xs = (xs - lo) / (maximum xs - lo)", "Float a => a -> []a -> []a");
    check("def ssd a b = sum ((a - b) ** 2)", "Num a => []a -> []a -> a");
    check("def rev x = reverse (x * 2)", "Num a => []a -> []a");
    check("def mysum z xs = fold (+) z xs", "Num a => a -> []a -> a");
    check("def tk n xs = sum (take n xs)", "Num a => i64 -> []a -> a");
    check(
        "def spmv rows x = { sum { v * x[j] : (j, v) in row } : row in rows }",
        "Num a => [][](i64, a) -> []a -> []a",
    );
    check(
        "def mm a b = { { dot r c : c in transpose b } : r in a }",
        "Num a => [][]a -> [][]a -> [][]a",
    );
    check("def var xs = mean ((xs - mean xs) * (xs - mean xs))", "Float a => []a -> a");
}

#[test]
fn functions_as_arguments() {
    check("map (+ 1) [1, 2]", "[]i64");
    check("map (\\x -> x * x) [1.5]", "[]f64");
    check("zipWith (+) [1] [2]", "[]i64");
    check("map (\\r -> sum r) [[1]]", "[]i64");
    check("[1, 2] |> map (* 2) |> sum", "i64");
    check("map (\\(x, y) -> x + y) [(1, 2)]", "[]i64");
    check("scanl (+) 0 [1]", "[]i64");
    check("scanl' (+) 0 [1]", "([]i64, i64)");
    check("map (.x) [{x = 1, y = 2.0}]", "[]i64");
    check("[{x = 1, y = 2.0}].y", "[]f64");
    check("iterate 3 (\\x -> x * 2) 1", "i64");
    check("iterate 3 (* 2) [1]", "[]i64");
    check("def ap f x = f x\nap sqrt 2.0", "f64");
    check("def ap f x = f x\nap sum [[1]]", "[]i64");
    check("[sqrt, exp]", "E0313");
    check("if true then sqrt else exp", "E0314");
    check("sortBy (\\(a, b) -> b) [(1, 2.0)]", "[](i64, f64)");
    check("outer (*) [1] [2.0]", "[][]f64");
    check("outer (*) [1i64] [2.0]", "E0303");
    check("foldSeg (+) 0 [1, 2] [1, 1]", "[]i64");
}

#[test]
fn locals() {
    check("let x = 1; y = x + 1 in y", "i64");
    check("let f x = x in (f 1, f true)", "(i64, bool)");
    check("let f = \\x -> x + 1 in (f 1, f 1.5, f [1])", "(i64, f64, []i64)");
    check("def k a xs = let f x = x * a in map f xs", "Num a => a -> []a -> []a");
    check("def k xs = let m = mean xs; d x = x - m in map d xs", "Float a => []a -> []a");
    check("let (a, b) = (1, 2.0) in b", "f64");
    check("let {x, y} = {x = 1, y = true} in y", "bool");
    check("loop x = 0 for i < 10 do x + i", "i64");
    check("loop (a, b) = (0.0, 1) while b < 5 do (a + 1.0, b + 1)", "(f64, i64)");
    check("loop s = 0 for x in [1.5] do s + x", "f64");
    check("loop s = 0 for x in [1.5] do [s]", "E0312");
    check("{ x + y : x in [1] ; y in [2.0] | x > 0.0 }", "[]f64");
    check("{ x in [1, 2] | x > 1 }", "[]i64");
}

#[test]
fn rank_polymorphic_builtins() {
    check("generate 3 (\\i -> i * 2)", "[]i64");
    check("generate (2, 3) (\\(i, j) -> f64 (i + j))", "[][]f64");
    check("fill (2, 2, 2) 0.0", "[][][]f64");
    check("shape [1]", "i64");
    check("shape [[1]]", "(i64, i64)");
    check("reshape (2, 3) (iota 6)", "[][]i64");
    check("reshape 6 [[1, 2], [3, 4], [5, 6]]", "[]i64");
    check("stencil clamp (\\w -> w[-1] + w[1]) [1, 2]", "[]i64");
    check("stencil (constant 0) (\\w -> w[-1, 0] + w[0, 1]) [[1, 2]]", "[][]i64");
    check("stencil clamp (\\w -> w[-1] + w[1]) [[1, 2]]", "[][]i64");
    check("stencil wrap (\\w -> (w[0].0, w[1].1)) [(1, 2.0)]", "[](i64, f64)");
    check("def lap (w : window2 f32) = w[0, 1] + w[1, 0]\nstencil mirror lap [[1.0]]", "[][]f32");
    check(
        "def blur u = stencil clamp (\\w -> 0.5 * (w[-1, 0] + w[1, 0])) u",
        "Float a => [][]a -> [][]a",
    );
    check("stencil (outside (\\i -> i)) (\\w -> w[1]) [1]", "[]i64");
    check("stencil2 clamp (\\a b -> a[0] + b[1]) [1] [2]", "[]i64");
    check("convolve clamp [1, 2, 1] (iota 5)", "[]i64");
    check("convolve wrap [[1.0]] [[2.0]]", "[][]f64");
    check("backpermute 3 (\\i -> (i, i)) [[1, 2, 3], [4, 5, 6], [7, 8, 9]]", "[]i64");
    check("backpermute (2, 2) (\\(i, j) -> (j, i)) [[1, 2], [3, 4]]", "[][]i64");
    check("stencil clamp (\\w -> w[iota 3]) [1]", "E0311");
    check("generate 1.5 (\\i -> i)", "E0301");
    check("size [[1, 2]]", "i64");
    check("def area s = generate s (\\i -> i)", "i64 -> []i64");
}

#[test]
fn annotations() {
    check("def f (x : f32) = x", "f32 -> f32");
    check("def f (x : []f32) : f32 = sum x", "[]f32 -> f32");
    check(
        "type point = {x: f64, y: f64}\ndef n (p : point) = p.x + p.y",
        "{x: f64, y: f64} -> f64",
    );
    check("def f (xs : [n]f32) (ys : [n]f32) = dot xs ys", "[]f32 -> []f32 -> f32");
    check("([] : []f32)", "[]f32");
    check("(1 : f32)", "f32");
    check("(1.5 : i64)", "E0303");
    check("def f (x : flaot) = x", "E0203");
    check("def f (x : a) (y : a) = x", "a -> a -> a");
    check("def f p = p.x", "{x: a, …} -> a");
    check("def f p = (p.x + p.y, p)", "Num a => {x: a, y: a, …} -> (a, {x: a, y: a, …})");
    check("def f p = rows p", "{…} -> _");
    check("def f p = if p.x then p else f p", "E0310");
    check("def f (p : seq f32) = p", "seq f32 -> seq f32");
    check(
        "def f (p : seq []a) (g : a -> i64) = (p, g)",
        "seq []a -> (a -> i64) -> (seq []a, a -> i64)",
    );
}

#[test]
fn errors() {
    check("x", "E0201");
    check("xs = 1 + true\nys = xs\nzs = 2 + 'a'", "E0303 E0303");
    check("f32 1 + f64 2", "E0302");
    check("1 / (length [1])", "E0303");
    check("sqrt 1 2", "E0304");
    check("3 4", "E0304");
    check("let x = 1 in x.foo", "E0308");
    check("{a = 1}.b", "E0308");
    check("(1, 2).5", "E0308");
    check("def f x = f", "E0312");
    check("def f (x, x) = x", "E0202");
    check("def f x = load \"a.npy\"", "E0205");
    check("load (1)", "E0206");
    check("for i in 3", "E0101");
    check("{ x : x in 3 }", "E0301");
    check("sum 3", "E0307");
    check("loop x = 1 while 3 do x", "E0303");
    check("Out[3]", "E0504");
}

#[test]
fn towers_of_types() {
    let mut lets = String::from("let x0 = 1\n");
    for i in 0..60 {
        lets += &format!("    x{} = (x{i}, x{i})\n", i + 1);
    }
    check(&format!("{lets}in x60"), "E0315");
    let nested = "pair (".repeat(40) + "1" + &")".repeat(40);
    check(&format!("def pair x = (x, x)\n{nested}"), "E0315");
}

#[test]
fn long_chains() {
    check(&("iota 10".to_owned() + &" |> map (+ 1)".repeat(2000)), "[]i64");
    check(&("1".to_owned() + &" + 1".repeat(19_000)), "i64");
    check(&format!("def f x = x{}", " + x".repeat(2000)), "Num a => a -> a");
    check(&format!("def f x = sum (x{})", " + x".repeat(2000)), "Num a => []a -> a");
}

#[test]
fn a_lambda_where_no_function_can_be() {
    for (input, code) in [
        (r"sqrt (\x -> x)", "E0303"),
        (r"(\x -> x) + 1", "E0303"),
        (r"1 + (\x -> x)", "E0303"),
        (r"-(\x -> x)", "E0303"),
        (r"(\x -> x) == (\y -> y)", "E0303 E0303"),
        (r"max (\x -> x) (\y -> y)", "E0303 E0303"),
        (r"i64 (\x -> x)", "E0303"),
        (r"(\x -> x) |> sqrt", "E0303"),
        (r"fold (+) (\x -> x) [1, 2]", "E0303"),
        (r"let g = \h -> h + 1 in g (\x -> x)", "E0303"),
        (r"select true (\x -> x) (\x -> 2 * x)", "E0303 E0303"),
        (r"sum (\x -> x)", "E0301"),
        (r"iota (\x -> x)", "E0301"),
        (r"(\x -> x) && true", "E0301"),
        (r"groupBy (\x -> x % 2) [1, 2, 3]", "E0301"),
        (r"sortBy (\a b -> a < b) [3.0, 1.0]", "E0304"),
        (r"fold (\a b c -> a) 0 [1, 2]", "E0304"),
        (r"scatterWith (\a b c -> a) [1, 2] [0] [1]", "E0304"),
        // A function may be a parameter that takes any type.
        (r"let twice = \f x -> f (f x) in twice (\x -> x + 1) 1", "i64"),
        (r"let pass = \f -> f in pass (\x -> x + 1) 1", "i64"),
    ] {
        check(input, code);
    }
}

/// Each stands in the scope of the one before, and all that looks at programs goes down into it.
#[test]
fn so_many_bindings_stand_in_an_item() {
    let item = |count: usize| format!("let {}in a", "a = 1; ".repeat(count));
    check(&item(15_000), "i64");
    check(&item(25_000), "E0116");
    check(&format!("x = ({}) + 1\ny = x", item(25_000)), "E0116");
    // Side by side they do not count.
    check(&format!("[{}{}]", (item(5_000) + ", ").repeat(9), item(5_000)), "[]i64");
}
