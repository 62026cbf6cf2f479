//! Kernels that would be too deep are divided, and only those.

use std::fmt::Write as _;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use weft_interp::{Limits, run_flat};
use weft_ir::leaves::Axis;
use weft_ir::{Array, Column, Value, flat, nested, plan};
use weft_passes::flatten;
use weft_passes::fuse::{Chosen, Reason, fuse};

use crate::GREEDY;
use crate::suite::with_stack;

/// `links` arrays of one element put behind an array, one after the other, and beside that a sum of squares.
fn chain(links: u32) -> flat::Program {
    let mut text = "params x0: []f64\n".to_owned();
    let mut last = 0;
    for link in 1..=links {
        let (one, all) = (2 * link - 1, 2 * link);
        writeln!(text, "x{one}: []f64 = literal {link}.0f64").expect("a string");
        writeln!(text, "x{all}: []f64 = concat x{last} x{one}").expect("a string");
        last = all;
    }
    let [squares, x, square, sum, a, b, c] = [1, 2, 3, 4, 5, 6, 7].map(|at| last + at);
    writeln!(
        text,
        "x{squares}: []f64 = map x0\n  \\x{x}: f64\n    x{square}: f64 = mul x{x} x{x}\n    yield x{square}\n\
         x{sum}: f64 = fold from 0.0f64 over x{squares}\n  \\x{a}: f64, x{b}: f64\n    x{c}: f64 = add x{a} x{b}\n    \
         yield x{c}\nyield x{last} x{sum}"
    )
    .expect("a string");
    let program = nested::parse(&text).unwrap_or_else(|error| panic!("{error:?}\n{text}"));
    flatten(&program, &[vec![Axis::Dense]]).expect("a program that is compiled")
}

#[test]
fn a_chain_that_is_too_deep_is_divided_and_the_rest_fuses() {
    with_stack(|| {
        let flat = chain(1100);
        let fused = fuse(&flat, &GREEDY);
        let report = &fused.report;
        assert_eq!(plan::check(&fused.program), Ok(()));
        assert_ne!(report.chosen, Chosen::TooDeep);
        let names: Vec<&str> = report.kernels.iter().map(|kernel| &*kernel.name).collect();
        // The squares are not stored.
        assert_eq!(names.iter().filter(|name| **name == "reduce").count(), 1, "{names:?}");
        assert!((3..12).contains(&names.len()), "{names:?}");
        let reasons: Vec<Reason> = report.unfused.iter().map(|unfused| unfused.reason).collect();
        assert!(
            reasons.contains(&Reason::TooDeep) && !reasons.contains(&Reason::Off),
            "{reasons:?}"
        );
        let inputs = [Value::Array(Arc::new(Array::new(Column::F64(vec![0.5, -1.0, 3.0].into()))))];
        let limits = Limits { memory: 1 << 28, recursion: 100, stack: weft_lang::STACK_BYTES };
        let never = AtomicBool::new(false);
        let [expected, found] = [&flat, &plan::read_back(&fused.program)]
            .map(|program| run_flat(program, &inputs, &limits, &never).expect("values"));
        assert!(found.iter().zip(&expected).all(|(a, b)| a.same_bits(b)));
    });
}

#[test]
fn what_is_not_too_deep_is_not_divided() {
    let report = with_stack(|| fuse(&chain(30), &GREEDY).report);
    assert!(report.unfused.iter().all(|unfused| unfused.reason != Reason::TooDeep));
}
