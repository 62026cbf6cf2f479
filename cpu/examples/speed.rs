//! Times kernels on large arrays, at the sizes of the benchmarks, and prints milliseconds a run and
//! nanoseconds per element: `cargo run --release -p weft-cpu --example speed [threads [native [name]]]`.
//! With one thread, on Linux, a time is that of the processor, which a busy machine disturbs less.
#![allow(clippy::print_stdout, reason = "it prints what it measures")]

use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Instant;

use weft_cpu::{Config, KernelCache, Native, NativeConfig, Tier, Workers, prepare, run};
use weft_ir::{Array, Column, Value, plan};

fn main() {
    let threads = std::env::args().nth(1).and_then(|text| text.parse().ok()).unwrap_or(1);
    let workers = Workers::new(threads);
    let native = std::env::args().nth(2).is_some_and(|word| word == "native");
    let chosen = std::env::args().nth(3).unwrap_or_default();
    let length = 20_000_000;
    let floats: Vec<f32> = (0..length).map(|at| (at % 1000) as f32 / 1000.0 + 0.5).collect();
    let xs = array(Column::F32(floats.into()));
    let doubles: Vec<f64> = (0..length as i64).map(|at| (at * 7919 % 10_007) as f64).collect();
    let doubles = array(Column::F64(doubles.into()));
    let numbers: Vec<i64> = (0..length as i64).map(|at| at.wrapping_mul(0x9e37_79b9)).collect();
    let numbers = array(Column::I64(numbers.into()));
    let keys: Vec<i32> = (0..4_000_000_i64).map(|at| (at * 0x9e37_79b9) as i32).collect();
    let keys = array(Column::I32(keys.into()));
    println!("{} thread(s), {length} elements", workers.threads());
    for (name, text, inputs, elements) in [
        ("dot f32", DOT, vec![xs.clone(), xs.clone()], length),
        ("saxpy f32", SAXPY, vec![xs.clone(), xs.clone()], length),
        ("Black-Scholes f32", BLACK_SCHOLES, vec![xs.clone()], length),
        ("Mandelbrot f32, 256 steps", MANDELBROT, vec![], 1_000_000),
        ("prefix sum f32", PREFIX, vec![xs.clone()], length),
        ("prefix sum f64", &PREFIX.replace("f32", "f64"), vec![doubles.clone()], length),
        (
            "prefix sum i64",
            &PREFIX.replace("f32", "i64").replace(".0", ""),
            vec![numbers.clone()],
            length,
        ),
        ("linear recurrence f64", RECURRENCE, vec![doubles.clone(), doubles.clone()], length),
        ("linear recurrence f64, rows of 5", RECURRENCE_ROWS, vec![matrix(&doubles, 5)], length),
        ("filter f32", FILTER, vec![xs.clone()], length),
        ("histogram", HISTOGRAM, vec![numbers.clone()], length),
        ("order of f64", SORT, vec![doubles], length),
        ("order of f32", &SORT.replace("f64", "f32"), vec![xs.clone()], length),
        ("order of f32 in rows of 100", SORT_ROWS, vec![matrix(&xs, 100)], length),
        ("order of f32 in rows of 1000", SORT_ROWS, vec![matrix(&xs, 1000)], length),
        ("sort i32", SORT_KEYS, vec![keys], 4_000_000),
        ("stencil f32, 2048", STENCIL, vec![square(2048)], 2048 * 2048),
        ("row sums f32", ROWS, vec![matrix(&xs, 1000)], length),
        ("row sums f32, rows of 4", ROWS, vec![matrix(&xs, 4)], length),
        ("column sums f32", COLUMNS, vec![matrix(&xs, 1000)], length),
        ("matrix product f32, 1024", PRODUCT, vec![square(1024), square(1024)], 1 << 30),
        ("small map of 100", SAXPY, vec![small(), small()], 1),
    ] {
        if !name.contains(&chosen) {
            continue;
        }
        let program = plan::parse(text).unwrap_or_else(|error| panic!("{error}\n{text}"));
        plan::check(&program).unwrap_or_else(|error| panic!("{error}\n{text}"));
        let mut kernels = match native {
            true => {
                let config = NativeConfig { cache: None, ..NativeConfig::of_environment() };
                KernelCache::with_native(Native::new(config), Tier::Native)
            }
            false => KernelCache::new(),
        };
        let prepared = prepare(&program, &mut kernels);
        let config = Config { workers: &workers, memory_limit: 1 << 34 };
        let cancel = AtomicBool::new(false);
        let mut times: Vec<f64> = (0..7)
            .map(|_| {
                let (begin, processor) = (Instant::now(), processor_seconds());
                run(&program, &prepared, &inputs, &config, &cancel, &mut |_| {}).expect("a value");
                match (workers.threads(), processor, processor_seconds()) {
                    (1, Some(begin), Some(end)) => end - begin,
                    _ => begin.elapsed().as_secs_f64(),
                }
            })
            .skip(1)
            .collect();
        times.sort_by(f64::total_cmp);
        let median = times[times.len() / 2];
        println!("{name:28} {:10.3} ms {:10.3} ns", median * 1e3, median * 1e9 / elements as f64);
    }
}

/// The time that this thread has run.
fn processor_seconds() -> Option<f64> {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").ok()?;
    text.split(' ').next()?.parse::<f64>().ok().map(|nanoseconds| nanoseconds * 1e-9)
}

fn array(column: Column) -> Value {
    Value::Array(Arc::new(Array::new(column)))
}

fn small() -> Value {
    array(Column::F32(vec![1.0; 100].into()))
}

fn square(size: usize) -> Value {
    matrix(&array(Column::F32(vec![0.5; size * size].into())), size)
}

fn matrix(elements: &Value, extent: usize) -> Value {
    let Value::Array(elements) = elements else { unreachable!("an array") };
    let inner = Box::new(elements.elements.clone());
    array(Column::Dense { len: elements.len() / extent, extent, inner })
}

const DOT: &str = "input a1: [a0]f32
input a2: [a0]f32
launch \"dot\" [a0] (r0)
  r1: f32 = read a1 r0
  r2: f32 = read a2 r0
  r3: f32 = mul r1 r2
  yield r3
  reduce r3 as (r4: f32) to a3: f32
  by (r5: f32) (r6: f32)
    r7: f32 = add r5 r6
    yield r7
  if_empty ()
    yield 0.0f32
end
output a3: f32
";

const SORT_KEYS: &str = "input a1: [a0]i32
launch \"sort\" [a0] (r0)
  r1: i32 = read a1 r0
  yield r1
  sort r1 to a2: [a0]i64
end
launch \"map\" [a0] (r0)
  r1: i64 = read a2 r0
  r2: i32 = read a1 r1
  yield r2
  store r2 to a3: [a0]i32
end
free a2
output a3: [a0]i32
";

const STENCIL: &str = "input a2: [a0][a1]f32
launch \"map\" [a0][a1] (r0 r1)
  r2: i64 = add r0 -1i64
  r3: i64 = max r2 0i64
  r5: i64 = read a0
  r11: i64 = min r0 r5
  r17: i64 = add r1 -1i64
  r18: i64 = max r17 0i64
  r20: i64 = read a1
  r21: bool = lt r18 r20
  check r21 index
  r8: f32 = read a2 r3 r1
  r15: f32 = read a2 r11 r1
  r23: f32 = read a2 r0 r18
  r31: f32 = read a2 r0 r18
  r16: f32 = add r8 r15
  r24: f32 = add r16 r23
  r32: f32 = add r24 r31
  r33: f32 = mul 0.25f32 r32
  yield r33
  store r33 to a7: [a0][a1]f32
end
output a7: [a0][a1]f32
";

const SAXPY: &str = "input a1: [a0]f32
input a2: [a0]f32
launch \"saxpy\" [a0] (r0)
  r1: f32 = read a1 r0
  r2: f32 = read a2 r0
  r3: f32 = mul r1 2.5f32
  r4: f32 = add r3 r2
  yield r4
  store r4 to a3: [a0]f32
end
output a3: [a0]f32
";

const BLACK_SCHOLES: &str = "input a1: [a0]f32
launch \"black-scholes\" [a0] (r0)
  r1: f32 = read a1 r0
  r2: f32 = mul r1 40.0f32
  r3: f32 = add r1 0.25f32
  r4: f32 = div r2 30.0f32
  r5: f32 = log r4
  r6: f32 = mul r3 0.065f32
  r7: f32 = add r5 r6
  r8: f32 = sqrt r3
  r9: f32 = mul r8 0.3f32
  r10: f32 = div r7 r9
  r11: f32 = sub r10 r9
  r12: f32 = mul r10 0.70710677f32
  r13: f32 = erf r12
  r14: f32 = add r13 1.0f32
  r15: f32 = mul r14 0.5f32
  r16: f32 = mul r11 0.70710677f32
  r17: f32 = erf r16
  r18: f32 = add r17 1.0f32
  r19: f32 = mul r18 0.5f32
  r20: f32 = mul r3 -0.02f32
  r21: f32 = exp r20
  r22: f32 = mul r21 30.0f32
  r23: f32 = mul r22 r19
  r24: f32 = mul r2 r15
  r25: f32 = sub r24 r23
  r26: f32 = sub r22 r2
  r27: f32 = add r25 r26
  yield r25 r27
  store r25 to a2: [a0]f32
  store r27 to a3: [a0]f32
end
output a2: [a0]f32
output a3: [a0]f32
";

const MANDELBROT: &str = "launch \"mandelbrot\" [1000][1000] (r0 r1)
  r2: f32 = cast_f32 r0
  r3: f32 = cast_f32 r1
  r4: f32 = mul r2 0.0025f32
  r5: f32 = sub r4 1.25f32
  r6: f32 = mul r3 0.003f32
  r7: f32 = sub r6 2.25f32
  r8: f32, r9: f32, r10: i64 = while (r11: f32 = 0.0f32, r12: f32 = 0.0f32, r13: i64 = 0i64)
    r14: f32 = mul r11 r11
    r15: f32 = mul r12 r12
    r16: f32 = add r14 r15
    r17: bool = lt r16 4.0f32
    r18: bool = lt r13 256i64
    r19: bool = and r17 r18
    yield r19
  do
    r20: f32 = mul r11 r11
    r21: f32 = mul r12 r12
    r22: f32 = sub r20 r21
    r23: f32 = add r22 r7
    r24: f32 = mul r11 r12
    r25: f32 = add r24 r24
    r26: f32 = add r25 r5
    r27: i64 = add r13 1i64
    yield r23 r26 r27
  yield r10
  store r10 to a0: [1000][1000]i64
end
output a0: [1000][1000]i64
";

const PREFIX: &str = "input a1: [a0]f32
launch \"prefix\" [a0] (r0)
  r1: f32 = read a1 r0
  yield r1
  scan inclusive r1 as (r2: f32) to a2: [a0]f32
  by (r3: f32) (r4: f32)
    r5: f32 = add r3 r4
    yield r5
end
output a2: [a0]f32
";

/// Scans functions `x -> a x + b`.
const RECURRENCE: &str = "input a1: [a0]f64
input a2: [a0]f64
launch \"recurrence\" [a0] (r0)
  r1: f64 = read a1 r0
  r2: f64 = mul r1 0.0001f64
  r3: f64 = read a2 r0
  yield r2 r3
  scan inclusive r2 r3 as (r20: f64, r21: f64) to a3: [a0]f64, a4: [a0]f64
  by (r4: f64, r5: f64) (r6: f64, r7: f64)
    r8: f64 = mul r4 r6
    r9: f64 = mul r5 r6
    r10: f64 = add r9 r7
    yield r8 r10
end
output a3: [a0]f64
output a4: [a0]f64
";

const RECURRENCE_ROWS: &str = "input a2: [a0][a1]f64
launch \"recurrence\" [a0][a1] (r0 r1)
  r3: f64 = read a2 r0 r1
  r2: f64 = mul r3 0.0001f64
  yield r2 r3
  scan inclusive r2 r3 as (r20: f64, r21: f64) to a3: [a0][a1]f64, a4: [a0][a1]f64
  by (r4: f64, r5: f64) (r6: f64, r7: f64)
    r8: f64 = mul r4 r6
    r9: f64 = mul r5 r6
    r10: f64 = add r9 r7
    yield r8 r10
end
output a3: [a0][a1]f64
output a4: [a0][a1]f64
";

const FILTER: &str = "input a1: [a0]f32
launch \"filter\" [a0] (r0)
  r1: f32 = read a1 r0
  r2: bool = lt r1 1.0f32
  yield r1 r2
  filter r2 to a2: i64
  keep r1 to a3: [a2]f32
end
output a3: [a2]f32
";

const HISTOGRAM: &str = "input a2: [a0]i64
launch \"zeros\" [256] (r0)
  yield
  store 0i64 to a3: [256]i64
end
launch \"histogram\" [a0] (r0)
  r1: i64 = read a2 r0
  r2: i64 = bit_and r1 255i64
  yield r2
  scatter 1i64 at r2 into a3 to a4: [256]i64
  by (r6: i64) (r7: i64)
    r8: i64 = add r6 r7
    yield r8
end
free a3
output a4: [256]i64
";

const SORT: &str = "input a1: [a0]f64
launch \"sort\" [a0] (r0)
  r1: f64 = read a1 r0
  yield r1
  sort r1 to a2: [a0]i64
end
output a2: [a0]i64
";

const SORT_ROWS: &str = "input a2: [a0][a1]f32
launch \"sort\" [a0][a1] (r0 r1)
  r2: f32 = read a2 r0 r1
  yield r2
  sort r2 to a3: [a0][a1]i64
end
output a3: [a0][a1]i64
";

const ROWS: &str = "input a2: [a0][a1]f32
launch \"rows\" [a0][a1] (r0 r1)
  r2: f32 = read a2 r0 r1
  yield r2
  reduce r2 as (r3: f32) to a3: [a0]f32
  by (r4: f32) (r5: f32)
    r6: f32 = add r4 r5
    yield r6
  if_empty (r7)
    yield 0.0f32
end
output a3: [a0]f32
";

const COLUMNS: &str = "input a2: [a0][a1]f32
launch \"columns\" [a1][a0] (r0 r1)
  r2: f32 = read a2 r1 r0
  yield r2
  reduce r2 as (r3: f32) to a3: [a1]f32
  by (r4: f32) (r5: f32)
    r6: f32 = add r4 r5
    yield r6
  if_empty (r7)
    yield 0.0f32
end
output a3: [a1]f32
";

const PRODUCT: &str = "input a2: [a0][a1]f32
input a4: [a1][a3]f32
launch \"product\" [a0][a3][a1] (r0 r1 r2)
  r3: f32 = read a2 r0 r2
  r4: f32 = read a4 r2 r1
  r5: f32 = mul r3 r4
  yield r5
  reduce r5 as (r6: f32) to a5: [a0][a3]f32
  by (r7: f32) (r8: f32)
    r9: f32 = add r7 r8
    yield r9
  if_empty (r10 r11)
    yield 0.0f32
end
output a5: [a0][a3]f32
";
