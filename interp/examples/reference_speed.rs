//! Prints how long the interpreter takes per scalar operation, for some loops.

use std::sync::atomic::AtomicBool;
use std::time::Instant;

use weft_interp::Limits;
use weft_ir::{ScalarType, SourceId};
use weft_lang::{CheckedKind, Config, Environment, NoFiles};

/// A program, and how many scalar operations it stands for.
const PROGRAMS: &[(&str, f64)] = &[
    ("sum (iota 4000000)", 4e6),
    ("sum (f64 (iota 1000000) * 2.0 + 1.0)", 4e6),
    ("sum (sqrt (f64 (iota 1000000)))", 3e6),
    ("sum { x * x + 1 : x in iota 1000000 }", 3e6),
    ("sum (map (\\(a, b) -> a * b) (zip (iota 1000000) (iota 1000000)))", 2e6),
    ("sum { a * b : a in iota 1000000; b in iota 1000000 }", 2e6),
    ("length (filter (\\x -> x % 3 == 0) (iota 1000000))", 2e6),
    ("fold (\\a b -> max a b) 0 (iota 1000000)", 1e6),
    ("last (scan (+) 0 (iota 1000000))", 1e6),
    ("last (sort (randomInt 1 0 1000000 1000000))", 2e7),
    (
        "let xs = iota 1000 in sum { sum { xs[i] * xs[j] : j in indices xs } : i in indices xs }",
        2e6,
    ),
    ("loop s = 0 for i < 3000000 do s + i", 3e6),
    (
        "(loop (x, y, k) = (0.0, 0.0, 0) while k < 300000 do (x*x - y*y + 0.1, 2.0*x*y + 0.1, k + 1)).2",
        3e6,
    ),
    (
        "sum (loop a = replicate 1000 0 for i < 1000000 do (a with [i % 1000] = a[i % 1000] + i))",
        3e6,
    ),
    (
        "sum (flatten (stencil clamp (\\w -> w[-1,0] + w[1,0] + w[0,-1] + w[0,1]) (fill (500, 500) 1.0)))",
        2e6,
    ),
    ("sum (flatten (matmul (fill (100, 100) 1.0) (fill (100, 100) 1.0)))", 2e6),
    ("def f n a = if n == 0 then a else f (n - 1) (a + n)\nf 1000000 0", 3e6),
    ("def fib n = if n < 2 then n else fib (n - 1) + fib (n - 2)\nfib 24", 300e3),
    ("sum (sum { (iota 1000) * x : x in iota 1000 })", 2e6),
];

fn main() {
    let thread = std::thread::Builder::new().stack_size(weft_lang::STACK_BYTES).spawn(measure);
    thread.expect("a thread").join().expect("the measurement panicked");
}

#[allow(clippy::print_stdout, reason = "this is a command")]
fn measure() {
    let limits = Limits { memory: 1 << 32, recursion: 10_000, stack: weft_lang::STACK_BYTES };
    for (text, operations) in PROGRAMS {
        let parsed = weft_lang::syntax::parse(SourceId(0), text);
        let config = Config { float: ScalarType::F64 };
        let environment = Environment::default();
        let checked = weft_lang::check(&parsed.items, &environment, &config, &mut NoFiles);
        for item in checked.items {
            if let CheckedKind::Show { program, .. } = item.kind {
                let values = |id| panic!("no value {id:?}");
                let (wall, busy) = (Instant::now(), busy_nanoseconds());
                let value = weft_interp::run(&program, &values, &limits, &AtomicBool::new(false));
                let busy = busy
                    .and_then(|start| Some(busy_nanoseconds()? - start))
                    .filter(|time| *time > 0.0);
                let spent = busy.unwrap_or(wall.elapsed().as_secs_f64() * 1e9);
                let nanoseconds = spent / operations;
                println!("{nanoseconds:7.1} ns  {text}  {}", value.is_ok());
            }
        }
    }
}

/// How long this thread has been running, where the system tells: other programs do not count.
fn busy_nanoseconds() -> Option<f64> {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").ok()?;
    text.split_whitespace().next()?.parse().ok()
}
