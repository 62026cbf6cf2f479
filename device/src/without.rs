//! What the compiler makes of a plan where there is no device, and how long that takes.

use std::thread;
use std::time::{Duration, Instant};

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

    /// Compiles all units at once, with the options of a session: the bytes of their code, and the time.
    ///
    /// # Errors
    /// What the compiler says, or that there is none.
    pub fn compile(&self) -> Result<(usize, Duration), String> {
        let ((release, _), goal) = (load_compiler()?, Goal::Machine(self.architecture));
        let begun = Instant::now();
        let codes: Vec<Result<Vec<u8>, String>> = thread::scope(|scope| {
            let compile = |unit| scope.spawn(move || compiler::compile(unit, goal, release));
            let threads: Vec<_> = self.units.iter().map(|unit| compile(&unit.text)).collect();
            let broke_off = |_| Err("the compiler broke off".to_owned());
            threads.into_iter().map(|thread| thread.join().unwrap_or_else(broke_off)).collect()
        });
        let time = begun.elapsed();
        let codes: Vec<Vec<u8>> = codes.into_iter().collect::<Result<_, _>>()?;
        Ok((codes.iter().map(Vec::len).sum(), time))
    }
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
