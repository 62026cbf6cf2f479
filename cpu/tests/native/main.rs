//! Native functions against the block interpreter: equal bits on every skeleton, and what happens
//! where there is no compiler, a bad one, or a damaged cache.

mod append;
mod boxes;
mod casts;
mod compilers;
mod few;
mod further;
mod kernels;
mod loops;
mod rows;
mod side_by_side;
mod small;
mod tables;

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use weft_cpu::{Config, KernelCache, Native, NativeConfig, Tier, Workers, prepare, run};
use weft_ir::{Array, Column, Stop, Value, plan};

/// How functions are compiled in these tests: not kept, unless a folder is given.
fn config(cache: Option<&Path>) -> NativeConfig {
    let cache = cache.map(Path::to_owned);
    NativeConfig { cache, ..NativeConfig::of_environment() }
}

/// Runs the text of a plan with the functions of `native`, or on the block interpreter.
fn try_run(
    text: &str,
    inputs: &[Value],
    threads: usize,
    native: Option<(&Native, Tier)>,
) -> Result<Vec<Value>, Stop> {
    let program = plan::parse(text).unwrap_or_else(|error| panic!("{error}\n{text}"));
    plan::check(&program).unwrap_or_else(|error| panic!("{error}\n{text}"));
    let mut kernels = match native {
        Some((native, tier)) => KernelCache::with_native(native.clone(), tier),
        None => KernelCache::new(),
    };
    let prepared = prepare(&program, &mut kernels);
    let workers = Workers::new(threads);
    let config = Config { workers: &workers, memory_limit: 1 << 32 };
    run(&program, &prepared, inputs, &config, &AtomicBool::new(false), &mut |_| {})
}

/// Native functions, with one and two threads, against the block interpreter.
fn check(text: &str, all_inputs: &[Vec<Value>]) {
    let native = Native::new(config(None));
    for (number, inputs) in all_inputs.iter().enumerate() {
        let expected = try_run(text, inputs, 1, None).expect("a value");
        for threads in [1, 2] {
            let found =
                try_run(text, inputs, threads, Some((&native, Tier::Native))).expect("a value");
            assert!(same(&expected, &found), "inputs {number}, {threads} threads\n{text}");
        }
    }
    let statistics = native.statistics();
    assert!(statistics.compiled > 0 && statistics.failed == 0, "{statistics:?}");
}

fn same(a: &[Value], b: &[Value]) -> bool {
    a.len() == b.len() && a.iter().zip(b).all(|(a, b)| a.same_bits(b))
}

fn f32s(length: usize) -> Value {
    let values: Vec<f32> = noise(length).map(|bits| (bits % 4001) as f32 / 500.0 - 4.0).collect();
    array(Column::F32(values.into()))
}

fn f64s(length: usize) -> Value {
    let values: Vec<f64> = noise(length).map(|bits| (bits % 4001) as f64 / 500.0 - 4.0).collect();
    array(Column::F64(values.into()))
}

fn i64s(length: usize, below: u64) -> Value {
    let values: Vec<i64> = noise(length).map(|bits| (bits % below) as i64).collect();
    array(Column::I64(values.into()))
}

fn matrix(elements: &Value, extent: usize) -> Value {
    let Value::Array(elements) = elements else { panic!("an array") };
    let inner = Box::new(elements.elements.clone());
    array(Column::Dense { len: elements.len() / extent, extent, inner })
}

fn array(column: Column) -> Value {
    Value::Array(Arc::new(Array::new(column)))
}

/// Numbers without a pattern, always the same.
fn noise(length: usize) -> impl Iterator<Item = u64> {
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    (0..length).map(move |_| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state >> 3
    })
}
