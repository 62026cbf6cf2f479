//! Every skeleton against obvious loops: many lengths, dense and ragged rows, several element types,
//! operators whose order matters, and one to four threads with equal bits.

mod batches;
mod codes;
mod control;
mod copies;
mod memory;
mod products;
mod reductions;
mod scans;
mod sends;
mod sorts;
mod stencils;

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use weft_cpu::{Config, KernelCache, Workers, prepare, run, run_metered};
use weft_ir::{Array, Column, Meter, Stop, Value, plan};

/// Lengths around the sizes at which the skeletons change what they do.
fn lengths() -> Vec<usize> {
    let mut lengths: Vec<usize> = (0..=130).collect();
    for power in 8..=17 {
        let power = 1 << power;
        lengths.extend([power - 1, power, power + 1]);
    }
    lengths.push(300_000);
    lengths
}

/// Runs the text of a plan, with one to four threads.
fn try_run(text: &str, inputs: &[Value]) -> Result<Vec<Value>, Stop> {
    let program = plan::parse(text).unwrap_or_else(|error| panic!("{error}\n{text}"));
    plan::check(&program).unwrap_or_else(|error| panic!("{error}\n{text}"));
    let prepared = prepare(&program, &mut KernelCache::new());
    let cancel = AtomicBool::new(false);
    let run = |threads| {
        let workers = Workers::new(threads);
        let config = Config { workers: &workers, memory_limit: 1 << 32 };
        run(&program, &prepared, inputs, &config, &cancel, &mut |_| {})
    };
    let one = run(1);
    let points: usize = inputs.iter().map(Value::bytes).sum();
    if points > 100_000 {
        for threads in 2..=4 {
            match (&one, run(threads)) {
                (Ok(one), Ok(other)) => {
                    assert!(
                        one.iter().zip(&other).all(|(a, b)| a.same_bits(b)),
                        "{threads} threads"
                    );
                }
                (one, other) => assert_eq!(one.is_err(), other.is_err()),
            }
        }
    }
    one
}

/// As [`try_run`], of a plan that yields values.
fn values(text: &str, inputs: &[Value]) -> Vec<Value> {
    try_run(text, inputs).unwrap_or_else(|stop| panic!("{stop:?}\n{text}"))
}

fn array(column: impl Into<Column>) -> Value {
    Value::Array(Arc::new(Array::new(column.into())))
}

fn f64s(values: Vec<f64>) -> Value {
    array(Column::F64(values.into()))
}

fn i64s(values: Vec<i64>) -> Value {
    array(Column::I64(values.into()))
}

/// Numbers that look random, the same in every run.
fn noise(length: usize) -> impl Iterator<Item = u64> {
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    (0..length).map(move |_| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state
    })
}

/// Rows of these lengths.
fn ragged(lengths: &[usize], elements: Column) -> Value {
    let mut offsets = vec![0];
    for length in lengths {
        offsets.push(offsets[offsets.len() - 1] + length);
    }
    array(Column::Ragged { offsets: offsets.into(), inner: Box::new(elements) })
}

/// The fold of the interpreter: blocks of 64 from left to right, then blocks of their results.
fn tree<T: Clone>(values: &[T], operator: &dyn Fn(&T, &T) -> T) -> Option<T> {
    let mut level = values.to_vec();
    while level.len() > 1 {
        level = level
            .chunks(64)
            .map(|block| block[1..].iter().fold(block[0].clone(), |a, b| operator(&a, b)))
            .collect();
    }
    level.pop()
}

/// What a run shows as done in the end.
fn counted(text: &str, inputs: &[Value]) -> usize {
    let program = plan::parse(text).expect("a plan");
    let prepared = prepare(&program, &mut KernelCache::new());
    let (workers, meter) = (Workers::new(1), Meter::new());
    let config = Config { workers: &workers, memory_limit: 1 << 32 };
    let cancel = AtomicBool::new(false);
    run_metered(&program, &prepared, inputs, &config, &cancel, &meter, &mut |_| {})
        .expect("values");
    let shown = format!("{meter:?}");
    let (_, done) = shown.split_once("done: ").unwrap_or_else(|| panic!("{shown}"));
    let end = done.find(|c: char| !c.is_ascii_digit()).unwrap_or(done.len());
    done[..end].parse().unwrap_or_else(|_| panic!("{shown}"))
}

/// The scan of the interpreter.
fn tree_scan<T: Clone>(values: &mut [T], operator: &dyn Fn(&T, &T) -> T) {
    for block in values.chunks_mut(64) {
        for at in 1..block.len() {
            block[at] = operator(&block[at - 1], &block[at]);
        }
    }
    if values.len() <= 64 {
        return;
    }
    let mut carries: Vec<T> =
        values.chunks(64).map(|block| block[block.len() - 1].clone()).collect();
    tree_scan(&mut carries, operator);
    for (block, carry) in values.chunks_mut(64).skip(1).zip(carries) {
        for value in block {
            *value = operator(&carry, value);
        }
    }
}
