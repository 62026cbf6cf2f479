//! Every skeleton on the emulated device against the back end of the host: lengths around tiles, dense
//! and ragged rows, several element types and tuples, operators whose order matters, and several
//! schedules. Equal bits are asked for.

mod reductions;

use std::sync::Arc;
use std::sync::OnceLock;
use std::sync::atomic::AtomicBool;

use weft_cuda::{Code, Config, Emulated, EmulatedTarget, Policy, generate, run};
use weft_emulator::{Error, Schedule};
use weft_ir::{Array, Column, Stop, Value, plan};

/// The emulator; `None`, after saying so, where the machine has no compiler.
#[allow(clippy::print_stderr, reason = "a skipped test says so")]
fn emulated() -> Option<&'static Emulated> {
    static EMULATED: OnceLock<Option<Emulated>> = OnceLock::new();
    let emulated = EMULATED.get_or_init(|| match Emulated::new() {
        Ok(emulated) => Some(emulated),
        Err(error @ Error::Unavailable(_)) => {
            eprintln!("skipped: {error}");
            None
        }
        Err(error) => panic!("{error}"),
    });
    emulated.as_ref()
}

/// A plan with its kernels.
struct Compiled {
    program: plan::Program,
    code: Code,
    prepared: weft_cpu::Prepared,
    workers: weft_cpu::Workers,
}

const MEMORY: u64 = 1 << 30;

impl Compiled {
    #[track_caller]
    fn new(text: &str) -> Compiled {
        let program = plan::parse(text).unwrap_or_else(|error| panic!("{error}\n{text}"));
        plan::check(&program).unwrap_or_else(|error| panic!("{error}\n{text}"));
        let prepared = weft_cpu::prepare(&program, &mut weft_cpu::KernelCache::new());
        let code = generate(&program, &Policy::EMULATED);
        Compiled { program, code, prepared, workers: weft_cpu::Workers::new(1) }
    }

    fn on_host(&self, inputs: &[Value]) -> Result<Vec<Value>, Stop> {
        let config = weft_cpu::Config { workers: &self.workers, memory_limit: MEMORY };
        let cancel = AtomicBool::new(false);
        weft_cpu::run(&self.program, &self.prepared, inputs, &config, &cancel, &mut |_| {})
    }

    fn on_device(
        &self,
        emulated: &Emulated,
        inputs: &[Value],
        schedule: u64,
    ) -> Result<Vec<Value>, Stop> {
        let cancel = AtomicBool::new(false);
        let schedule = Schedule::numbered(schedule);
        let target = EmulatedTarget::new(emulated.emulator(), &self.code, schedule, &cancel);
        let mut target = target.unwrap_or_else(|error| panic!("{error}"));
        let config = Config { policy: &Policy::EMULATED, memory_limit: MEMORY };
        run(&self.program, &self.code, inputs, &mut target, &config, &cancel, &mut |_| {})
    }

    /// Both yield the same bits, or both a fault of the same kind.
    #[track_caller]
    fn agree(&self, emulated: &Emulated, inputs: &[Value], schedule: u64) {
        let expected = self.on_host(inputs);
        let found = self.on_device(emulated, inputs, schedule);
        match (&expected, &found) {
            (Ok(expected), Ok(found)) => {
                let same = expected.iter().zip(found).all(|(a, b)| a.same_bits(b));
                assert!(
                    same && expected.len() == found.len(),
                    "schedule {schedule}: {found:?}\nnot {expected:?}\nof {inputs:?}"
                );
            }
            (Err(Stop::Fault(expected)), Err(Stop::Fault(found))) => {
                assert_eq!(expected.kind, found.kind);
            }
            (expected, found) => panic!("{found:?}\nnot {expected:?}\nof {inputs:?}"),
        }
    }
}

fn array(elements: Column) -> Value {
    Value::Array(Arc::new(Array::new(elements)))
}

/// Numbers without an order, the same in every run.
fn noise(length: usize) -> impl Iterator<Item = u64> {
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    (0..length).map(move |_| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state
    })
}

fn f32s(length: usize) -> Value {
    let numbers = noise(length).map(|bits| (bits % 1009) as f32 / 7.0 - 50.0);
    array(Column::F32(numbers.collect::<Vec<_>>().into()))
}

fn i64s(length: usize) -> Value {
    let numbers = noise(length).map(|bits| (bits % 1009) as i64 - 500);
    array(Column::I64(numbers.collect::<Vec<_>>().into()))
}
