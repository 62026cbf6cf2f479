//! Every skeleton on the emulated device against obvious loops: lengths around blocks and tiles of the
//! tree, rows of one length and ragged ones, several element types and tuples, operators whose order
//! matters, and several schedules. Equal bits are asked for. With `WEFT_WHOLE_BLOCKS=on`, blocks have as many threads
//! and stage as much as on a device (the mutants are for small ones).

mod claims;
mod limits;
mod loops;
mod maps;
mod mutants;
mod operators;
mod reductions;
mod scans;
mod scatters;
mod selections;
mod stencils;
mod tiles;

use std::io::Write as _;
use std::sync::Arc;
use std::sync::OnceLock;
use std::sync::atomic::AtomicBool;

use weft_cuda::{
    Code, Config, Emulated, EmulatedTarget, Entry, Launched, Policy, Target, generate, run,
};
use weft_emulator::{Error, Schedule};
use weft_ir::{Array, Column, ColumnBuilder, Scalar, ScalarType, Stop, Type, Value, plan};

use claims::Claims;

/// The emulator; `None`, after saying so, where the machine has no compiler.
fn emulated() -> Option<&'static Emulated> {
    static EMULATED: OnceLock<Option<Emulated>> = OnceLock::new();
    let emulated = EMULATED.get_or_init(|| match Emulated::new() {
        Ok(emulated) => Some(emulated),
        Err(error @ Error::Unavailable(_)) => {
            // Past the capture of a passing test's output.
            let _ = writeln!(std::io::stderr(), "skipped: every test on the emulator: {error}");
            None
        }
        Err(error) => panic!("{error}"),
    });
    emulated.as_ref()
}

/// Whether blocks have as many threads as on a device.
fn has_whole_blocks() -> bool {
    std::env::var("WEFT_WHOLE_BLOCKS").is_ok_and(|text| text == "on")
}

/// How kernels are cut.
fn policy() -> &'static Policy {
    const WHOLE: Policy = Policy {
        threads: Policy::SM_90.threads,
        staged_blocks: Policy::SM_90.staged_blocks,
        ..Policy::EMULATED
    };
    match has_whole_blocks() {
        true => &WHOLE,
        false => &Policy::EMULATED,
    }
}

/// A plan with its kernels.
struct Compiled {
    program: plan::Program,
    code: Code,
    text: String,
    entries: Vec<Entry>,
}

impl Compiled {
    #[track_caller]
    fn new(text: &str) -> Compiled {
        let program = plan::parse(text).unwrap_or_else(|error| panic!("{error}\n{text}"));
        plan::check(&program).unwrap_or_else(|error| panic!("{error}\n{text}"));
        let code = generate(&program, policy());
        let text = code.text();
        let entries = code.entries.iter().chain(&code.common_entries).cloned().collect();
        Compiled { program, code, text, entries }
    }

    fn try_run(
        &self,
        emulated: &Emulated,
        inputs: &[Value],
        schedule: u64,
    ) -> Result<Vec<Value>, Stop> {
        self.observed(emulated, inputs, schedule, &mut |_| {})
    }

    /// The names of the kernels that it launches.
    #[track_caller]
    fn launched(&self, emulated: &Emulated, inputs: &[Value]) -> Vec<String> {
        let mut names = Vec::new();
        let mut observe = |launched: Launched<'_>| names.push(launched.kernel.name.to_string());
        let found = self.observed(emulated, inputs, 0, &mut observe);
        found.unwrap_or_else(|stop| panic!("{stop:?}\n{}", self.program));
        names
    }

    fn observed(
        &self,
        emulated: &Emulated,
        inputs: &[Value],
        schedule: u64,
        observe: &mut dyn FnMut(Launched<'_>),
    ) -> Result<Vec<Value>, Stop> {
        let cancel = AtomicBool::new(false);
        let (emulator, entries) = (emulated.emulator(), self.entries.clone());
        let order = Schedule::numbered(schedule);
        let target = EmulatedTarget::of_text(emulator, &self.text, entries, order, &cancel);
        let mut target = target.unwrap_or_else(|error| panic!("{error}"));
        // It takes time, and a launch does the same under every schedule.
        let mut claims;
        let target: &mut dyn Target = if schedule == 0 {
            claims = Claims::new(&mut target);
            &mut claims
        } else {
            &mut target
        };
        let config = Config { policy: policy(), memory_limit: 1 << 30 };
        run(&self.program, &self.code, inputs, target, &config, &cancel, observe)
    }

    /// What it yields is this.
    #[track_caller]
    fn yields(&self, emulated: &Emulated, inputs: &[Value], schedule: u64, expected: &[Value]) {
        let found = self.try_run(emulated, inputs, schedule);
        let found = found.unwrap_or_else(|stop| panic!("{stop:?}\n{}", self.program));
        assert_eq!(found.len(), expected.len());
        for (at, (found, expected)) in found.iter().zip(expected).enumerate() {
            assert!(
                found.same_bits(expected),
                "schedule {schedule}, output {at}: {found:?}\nnot {expected:?}\nof {inputs:?}"
            );
        }
    }
}

/// Lengths around the sizes at which skeletons change what they do.
fn lengths() -> Vec<usize> {
    let mut lengths: Vec<usize> = (0..=130).collect();
    for length in [256, 1024, 4096, 8192] {
        lengths.extend([length - 1, length, length + 1]);
    }
    lengths
}

/// The schedule that a length is tested under; all are used.
fn schedule_of(length: usize) -> u64 {
    length as u64 % 5
}

fn array(elements: Column) -> Value {
    Value::Array(Arc::new(Array::new(elements)))
}

/// A column of scalars of one type.
fn column(ty: ScalarType, scalars: impl IntoIterator<Item = Scalar>) -> Column {
    let mut builder = ColumnBuilder::new(&Type::Scalar(ty));
    scalars.into_iter().for_each(|scalar| builder.push_scalar(scalar));
    builder.finish()
}

fn i64s(values: impl IntoIterator<Item = i64>) -> Value {
    array(column(ScalarType::I64, values.into_iter().map(Scalar::I64)))
}

fn f64s(values: impl IntoIterator<Item = f64>) -> Value {
    array(column(ScalarType::F64, values.into_iter().map(Scalar::F64)))
}

/// Rows of these lengths, which must differ.
fn ragged(lengths: &[usize], elements: Column) -> Value {
    let mut offsets = vec![0];
    for length in lengths {
        offsets.push(offsets[offsets.len() - 1] + length);
    }
    array(Column::Ragged { offsets: offsets.into(), inner: Box::new(elements) })
}

/// Rows of one length.
fn dense(rows: usize, extent: usize, elements: Column) -> Value {
    array(Column::Dense { len: rows, extent, inner: Box::new(elements) })
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
