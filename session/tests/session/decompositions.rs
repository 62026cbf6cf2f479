//! `qr` and `svd`, on the interpreter and compiled.

use crate::transcript::Transcript;

/// Defines, and says what expressions are, on both engines.
fn check_all(definitions: &[&str], cases: &[(&str, &str)]) {
    for backend in ["interp", "cpu"] {
        let mut session = Transcript::new();
        session.eval(&format!(":set backend {backend}"));
        session.define(definitions);
        for (expression, value) in cases {
            session.check(expression, value);
        }
    }
}

const GAP: &str = "def gap (a : [][]f64) (b : [][]f64) = fold max 0.0 (flatten (abs (a - b)))";
const SHAPES: &str = "{ isGood (reshape (m, n) (random 5 (m * n) - 0.5)) : (m, n) in [(1, 1), (2, 5), (5, 2), (17, 17), (40, 9), (9, 40)] }";
const ALL_SIX: &str = "[6]bool [true, true, true, true, true, true]";

#[test]
fn qr_is_a_triangle_and_columns_at_right_angles() {
    let is_good = "\
def isGood (a : [][]f64) =
  let (q, r) = qr a
      k = min (length a) (length (transpose a))
  in gap (matmul q r) a < 1.0e-14 * f64 (1 + length a) && gap (matmul (transpose q) q) (f64 (identity k)) < 1.0e-14
       && all { all { c > i || (if c < i then e == 0.0 else e >= 0.0) : e in row ; c in indices row } : row in r ; i in iota k }";
    let wide = "wide = (qr [[1.0e-200, 1.0e200], [1.0e-200, 1.0e200], [0.0, 1.0e200]]).0";
    check_all(
        &[GAP, is_good, wide],
        &[
            (SHAPES, ALL_SIX),
            ("gap (matmul (transpose wide) wide) (f64 (identity 2)) < 1.0e-14", "true"),
            (
                "{ isGood m : m in [[[1.0, 2.0]], [[-2.0, 0.0]], [[0.0, 0.0]]] }",
                "[3]bool [true, true, true]",
            ),
            ("isGood (fill (3, 2) 0.0)", "true"),
            ("qr (fill (0, 0) 1.0)", "([0][0]f64, [0][0]f64) ([], [])"),
            ("qr (fill (3, 0) 1.0)", "([3][0]f64, [0][0]f64) ([[], [], []], [])"),
        ],
    );
}

#[test]
fn svd_is_a_product_of_rotations_and_numbers_that_descend() {
    let is_good = "\
def isGood (a : [][]f64) =
  let (u, s, vt) = svd a
      unit = f64 (identity (length s))
  in gap (matmul { row * s : row in u } vt) a < 1.0e-14 * (1.0 + fold max 0.0 s) && gap (matmul (transpose u) u) unit < 5.0e-14
       && gap (matmul vt (transpose vt)) unit < 5.0e-14 && all { s[k - 1] >= s[k] && s[k] >= 0.0 : k in 1..length s }";
    check_all(
        &[
            GAP,
            is_good,
            "hilbert = { { 1.0 / f64 (i + j + 1) : j in iota 5 } : i in iota 5 }",
            "graded = { { 10.0 ** f64 (-3 * (i + j)) : j in iota 4 } : i in iota 5 }",
            "depend = [[1.0, 2.0, 3.0], [4.0, 5.0, 9.0], [7.0, 8.0, 15.0]]",
            "ones = fill (4, 6) 1.0",
            "tall = reshape (30, 12) (random 8 360)",
            "(values, vectors) = eigenSymmetric (matmul (transpose tall) tall)",
            "(_, singular, vt) = svd tall",
        ],
        &[
            (SHAPES, ALL_SIX),
            // Where the rank is not full, and where elements differ by many powers of ten.
            ("isGood ones && isGood depend && isGood hilbert && isGood graded", "true"),
            ("isGood (fill (3, 2) 0.0)", "true"),
            ("svd (fill (0, 0) 1.0)", "([0][0]f64, [0]f64, [0][0]f64) ([], [], [])"),
            ("svd (fill (3, 0) 1.0)", "([3][0]f64, [0]f64, [0][0]f64) ([[], [], []], [], [])"),
            // The least one of Hilbert's matrix is that of its inverse, whose elements are integers.
            ("abs ((svd hilbert).1[0] - 1.5670506910982311) < 1.0e-14", "true"),
            ("abs ((svd hilbert).1[4] / 3.2879287721717e-6 - 1.0) < 1.0e-9", "true"),
            ("abs ((svd ones).1[0] - sqrt 24.0) < 1.0e-14 && (svd depend).1[2] < 1.0e-14", "true"),
            // Squares would be infinite, or nothing.
            ("(svd [[3.0e200, 0.0], [0.0, 1.0e200]]).1 / 1.0e200", "[2]f64 [3.0, 1.0]"),
            ("(svd [[3.0e-200, 0.0], [0.0, 1.0e-200]]).1 / 1.0e-200", "[2]f64 [3.0, 1.0]"),
            ("(svd [[1.0, nan], [2.0, 3.0]]).1", "[2]f64 [nan, nan]"),
            ("(svd [[inf, 1.0], [2.0, 3.0]]).1", "[2]f64 [nan, nan]"),
            // The squares are eigenvalues of the product with the transpose.
            ("maximum (abs (reverse values - singular * singular)) < 1.0e-12", "true"),
            (
                "maximum { abs (abs (dot v w) - 1.0) : v in vt ; w in reverse vectors } < 1.0e-10",
                "true",
            ),
        ],
    );
}
