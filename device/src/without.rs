//! What the compiler makes of a plan where there is no device, and how long that takes.

use std::time::{Duration, Instant};
use std::{fs, thread};

use weft_cuda::{Policy, Unit, generate};
use weft_ir::plan;

use crate::compiler::{self, Goal};

/// The texts of a plan, as a session on a device of an architecture has them.
#[derive(Clone, Debug)]
pub struct Texts {
    /// What is compiled before the plan runs.
    pub units: Vec<Unit>,
    /// The functions that are compiled when they are launched.
    pub rare: Vec<String>,
    architecture: u32,
}

impl Texts {
    /// Of a plan that [`plan::check`] accepts, for an architecture (90 is `sm_90`), as a session with so many
    /// compilers at once divides it.
    pub fn new(plan: &plan::Program, architecture: u32, compilers: usize) -> Texts {
        let code = generate(plan, &Policy::of_architecture(architecture));
        let rare = code.rare_entries().map(str::to_owned).collect();
        Texts { units: code.units(compilers), rare, architecture }
    }

    /// Compiles all units at once, with the options of a session.
    ///
    /// # Errors
    /// What the compiler says, or that there is none.
    pub fn compile(&self) -> Result<Compiled, String> {
        let ((release, _), goal) = (load_compiler()?, Goal::Machine(self.architecture));
        let begun = Instant::now();
        let compile = |text: &str| {
            let before = processor_time();
            let code = compiler::compile(text, goal, release)?;
            Ok((code.len(), processor_time().saturating_sub(before)))
        };
        let all: Vec<Result<(usize, Duration), String>> = thread::scope(|scope| {
            let start = |unit: &Unit| {
                let text = unit.text.clone();
                scope.spawn(move || compile(&text))
            };
            let threads: Vec<_> = self.units.iter().map(start).collect();
            let broke_off = |_| Err("the compiler broke off".to_owned());
            threads.into_iter().map(|thread| thread.join().unwrap_or_else(broke_off)).collect()
        });
        let time = begun.elapsed();
        let all = all.into_iter().collect::<Result<Vec<_>, _>>()?;
        let (bytes, units): (Vec<usize>, Vec<Duration>) = all.into_iter().unzip();
        Ok(Compiled { bytes: bytes.into_iter().sum(), time, units })
    }
}

/// What came of compiling the units of a plan.
#[derive(Clone, Debug)]
pub struct Compiled {
    /// The bytes of the code.
    pub bytes: usize,
    /// How long all took.
    pub time: Duration,
    /// For how long each had a processor: the longest is how long all take where each has one to itself. Zero where
    /// the system does not say.
    pub units: Vec<Duration>,
}

/// For how long this thread has had a processor.
fn processor_time() -> Duration {
    let text = fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
    let nanoseconds = text.split(' ').next().and_then(|word| word.parse().ok());
    Duration::from_nanos(nanoseconds.unwrap_or(0))
}

/// The release of the compiler, and the time that it took to load it, if it was not loaded in this process.
///
/// # Errors
/// What is missing.
pub fn load_compiler() -> Result<((u32, u32), Duration), String> {
    let begun = Instant::now();
    if !compiler::is_present() {
        return Err("there is no NVRTC".into());
    }
    let (release, _) = compiler::describe()?;
    Ok((release, begun.elapsed()))
}
