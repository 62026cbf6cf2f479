//! Transforms of every length: powers of two, what has small factors, and what has not.

use crate::transcript::Transcript;

/// The transform as its definition says, and how far off the others are.
const DEFINITIONS: &[&str] = &[
    "def turned (re : f64, im : f64) (n : i64) (k : i64) = \
       let t = -2.0 * pi * f64 (k % n) / f64 n in (re * cos t - im * sin t, re * sin t + im * cos t)",
    "def plain (zs : [](f64, f64)) = \
       { (let ts = { turned z (length zs) (j * k) : z in zs ; j in indices zs } in (sum ts.0, sum ts.1)) : k in indices zs }",
    "def apart (a : [](f64, f64)) (b : [](f64, f64)) = fold max 0.0 (abs (a.0 - b.0) + abs (a.1 - b.1))",
];

#[test]
fn transforms_of_every_length_are_what_they_are_defined_to_be() {
    let mut session = Transcript::new();
    session.define(DEFINITIONS);
    for n in 0..=130 {
        session.eval(&format!("zs = zip (random 3 {n}) (random 4 {n})"));
        session.check("apart (fft zs) (plain zs) < 1e-12", "true");
        session.check("apart (ifft (fft zs)) zs < 1e-14", "true");
        session.check(
            "apart (rfft zs.0) ((plain (zip zs.0 (0.0 * zs.0)))[:length (rfft zs.0)]) < 1e-12",
            "true",
        );
        session.check(
            "(length (rfft zs.0), fold max 0.0 (abs (irfft (length zs) (rfft zs.0) - zs.0)) < 1e-14)",
            &format!("({}, true)", if n == 0 { 0 } else { n / 2 + 1 }),
        );
    }
}
