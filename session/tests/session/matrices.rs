//! Large matrices, which are worked on by blocks.

use crate::transcript::Transcript;

/// Rows of which the last of 32 are more than one, and fewer than 32.
const MATRIX: &[&str] = &[
    "a = reshape (530, 530) (random 1 280900)",
    "b = random 2 530",
    "unit = { { if i == j then 1.0 else 0.0 : j in iota 530 } : i in iota 530 }",
];

#[test]
fn systems_of_many_equations_are_solved() {
    let mut session = Transcript::new();
    session.define(MATRIX);
    session.check("maximum (abs (dot a (solve a b) - b)) < 1e-10", "true");
    session.check("maximum (abs (flatten (matmul a (inverse a) - unit))) < 1e-10", "true");
    // The pivots are anywhere but on the diagonal.
    session.check("maximum (abs (solve (reverse unit) b - reverse b))", "0.0");
    session.eval("solve { (r with [5] = 0.0) : r in a } b");
    assert!(session.last_report().contains("the matrix is singular"), "{}", session.last_report());
}

#[test]
fn determinants_of_large_matrices_are_those_of_their_definition() {
    let mut session = Transcript::new();
    // That of the matrix of second differences is one more than it has rows.
    session.eval(
        "def second (n : i64) = { { if i == j then 2.0 else if abs (i - j) == 1 then -1.0 else 0.0 : j in iota n } : i in iota n }",
    );
    session.check("abs (determinant (second 512) / 513.0 - 1.0) < 1e-12", "true");
    // Its rows from the last to the first: 265 exchanges.
    session.check("abs (determinant (reverse (second 530)) / 531.0 + 1.0) < 1e-12", "true");
    session.check("determinant (fill (512, 512) 1.0)", "0.0");
}
