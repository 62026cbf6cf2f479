//! Functions: partial application, closures, recursion.

use crate::source::check;

#[test]
fn application() {
    check("(\\x y -> x - y) 5 3", "2");
    check("let sub = \\x y -> x - y; from5 = sub 5 in from5 3", "2");
    check("def sub x y = x - y\nmap (sub 10) [1, 2]", "[9, 8]");
    check("map (2 *) [1, 2]", "[2, 4]");
    check("map (* 2) [1, 2]", "[2, 4]");
    check("zipWith (-) [5, 6] [1, 2]", "[4, 4]");
    check("def twice f x = f (f x)\ntwice (+ 3) 1", "7");
    check("def twice f x = f (f x)\ntwice (twice (* 2)) 1", "16");
    check("def compose f g = \\x -> f (g x)\ncompose (+ 1) (* 2) 5", "11");
    check("def adder n = \\x -> x + n\n(adder 3) 4", "7");
    check("def adder n = \\x -> x + n\nadder 3 4", "7");
    check("def second = \\x y -> y\nsecond 1 2", "2");
    check("def inc = map (+ 1)\ninc [1, 2]", "[2, 3]");
    check("def apply f x = f x\napply (apply (\\a b -> a * b) 3) 4", "12");
    check("let n = 10; f x = x + n in map f [1, 2]", "[11, 12]");
    check("let f x = let g y = x * y in g in f 3 4", "12");
    check("map (\\x -> map (\\y -> x * y) [1, 2]) [3, 4]", "[[3, 6], [4, 8]]");
    check("let fs = ((+ 1), (* 2)) in (fs.0 5, fs.1 5)", "(6, 10)");
    check("iterate 3 (\\f -> \\x -> f (x + 1)) (\\x -> x) 0", "3");
    check("map (take 1) [[1, 2], [3]]", "[[1], [3]]");
    check("map sum [[1, 2], [3]]", "[3, 3]");
    check("[1, 2, 3] |> map (+ 1) |> sum", "9");
    check("zipWith4 (\\a b c d -> a + b + c + d) [1] [2] [3] [4]", "[10]");
    check("mapWithIndex (\\i x -> i * x) [5, 6]", "[0, 6]");
}

#[test]
fn recursion() {
    check("def fact n = if n < 2 then 1 else n * fact (n - 1)\nfact 10", "3628800");
    check(
        "def fib n = if n < 2 then n else fib (n - 1) + fib (n - 2)\nmap fib (iota 10)",
        "[0, 1, 1, 2, 3, 5, 8, 13, 21, 34]",
    );
    check(
        "def count n a = if n == 0 then a else count (n - 1) (a + 1)\ncount 1000000 0",
        "1000000",
    );
    check("def even n = n == 0 || (n != 1 && even (n - 2))\neven 100000", "true");
    check("def go (n, a) = if n == 0 then a else go (n - 1, a + n)\ngo (100000, 0)", "5000050000");
    check("def gcd2 a b = if b == 0 then a else gcd2 b (a % b)\ngcd2 48 36", "12");
    check("def swap n a b = if n == 0 then (a, b) else swap (n - 1) b a\nswap 3 1 2", "(2, 1)");
    check("def len n = map (\\i -> if i == 0 then 0 else 1 + (len (i - 1))[0]) [n]\nlen 5", "[5]");
    check("def depth n = if n == 0 then 0 else 1 + depth (n - 1)\ndepth 9000", "9000");
    check(
        "def qsort a = if length a < 2 then a else\n  let p = a[length a // 2]\n      r = { qsort v : v in [{x in a | x < p}, {x in a | x > p}] }\n  in r[0] ++ {x in a | x == p} ++ r[1]\nqsort [3, 1, 4, 1, 5, 9, 2, 6]",
        "[1, 1, 2, 3, 4, 5, 6, 9]",
    );
}
