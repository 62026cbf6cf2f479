//! The run-time compiler of CUDA, NVRTC: from text to code for a device.
#![allow(unsafe_code, reason = "calls of a C library; each block says why it is sound")]

use std::ffi::{CStr, CString, c_char};

use cudarc::nvrtc::result::{self, NvrtcError};
use cudarc::nvrtc::sys;

/// Options of every text (numerics: no contraction, no flushing, exact division and roots). Each text has
/// all skeletons, so that some functions are not used.
const OPTIONS: [&str; 6] = [
    "--std=c++17",
    "--fmad=false",
    "--prec-div=true",
    "--prec-sqrt=true",
    "--ftz=false",
    "--diag-suppress=177",
];

/// Leaves out what no text has: textures, `printf`, `operator new`. NVRTC has it since its first release for CUDA 13
/// at the latest.
const MINIMAL: &str = "--minimal";

/// What a text is compiled to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Goal {
    /// Machine code of that architecture.
    Machine(u32),
    /// Portable code of that architecture, from which the driver makes machine code.
    Portable(u32),
}

impl Goal {
    /// The best for a device of an architecture, if the compiler knows these, in ascending order.
    pub(crate) fn of(architecture: u32, known: &[u32]) -> Option<Goal> {
        if known.contains(&architecture) {
            return Some(Goal::Machine(architecture));
        }
        known.iter().rev().find(|own| **own < architecture).map(|own| Goal::Portable(*own))
    }

    /// All options for a release of the compiler, in order.
    pub(crate) fn options(self, release: (u32, u32)) -> Vec<String> {
        let architecture = match self {
            Goal::Machine(number) => format!("--gpu-architecture=sm_{number}"),
            Goal::Portable(number) => format!("--gpu-architecture=compute_{number}"),
        };
        let minimal = (release >= (13, 0)).then_some(MINIMAL);
        let others = OPTIONS.into_iter().chain(minimal).map(str::to_owned);
        [architecture].into_iter().chain(others).collect()
    }
}

/// Whether there is a library of the compiler.
pub(crate) fn is_present() -> bool {
    // SAFETY: the library is the system's own; loading it runs nothing but its initialisation.
    unsafe { sys::is_culib_present() }
}

/// The release of the compiler, and the architectures that it knows, in ascending order. The library must
/// be present.
pub(crate) fn describe() -> Result<((u32, u32), Vec<u32>), String> {
    let (release, mut count) = (release()?, 0);
    // SAFETY: the pointers are to numbers that live during the calls, and to as many as asked for.
    let architectures = unsafe {
        let failed = "asking for the architectures";
        check(sys::nvrtcGetNumSupportedArchs(&raw mut count), failed)?;
        let mut architectures = vec![0_i32; usize::try_from(count).unwrap_or(0)];
        check(sys::nvrtcGetSupportedArchs(architectures.as_mut_ptr()), failed)?;
        architectures
    };
    let mut known: Vec<u32> = architectures.into_iter().map(|number| number as u32).collect();
    known.sort_unstable();
    Ok((release, known))
}

/// The release of the compiler.
fn release() -> Result<(u32, u32), String> {
    let (mut major, mut minor) = (0, 0);
    // SAFETY: the pointers are to numbers that live during the call.
    let answer = unsafe { sys::nvrtcVersion(&raw mut major, &raw mut minor) };
    check(answer, "asking for the version")?;
    Ok((major as u32, minor as u32))
}

/// Compiles a text: machine code, or PTX that ends with a zero.
///
/// # Errors
/// What the compiler says.
pub(crate) fn compile(text: &str, goal: Goal, release: (u32, u32)) -> Result<Vec<u8>, String> {
    let source = CString::new(text).map_err(|_| "the text has a zero".to_owned())?;
    let program = Program::new(&source)?;
    program.compile(&goal.options(release))?;
    // SAFETY: the program exists until it is dropped, and the buffers are as long as the compiler says.
    unsafe {
        match goal {
            Goal::Machine(_) => {
                let mut size = 0;
                let action = "fetching machine code";
                check(sys::nvrtcGetCUBINSize(program.0, &raw mut size), action)?;
                let mut code = vec![0_u8; size];
                check(sys::nvrtcGetCUBIN(program.0, code.as_mut_ptr().cast::<c_char>()), action)?;
                Ok(code)
            }
            Goal::Portable(_) => {
                let code = result::get_ptx(program.0);
                let code = code.map_err(|error| format!("fetching PTX failed: {error}"))?;
                Ok(code.into_iter().map(|c| c as u8).collect())
            }
        }
    }
}

/// What the compiler tells of the kernels of a text, as machine code of an architecture.
///
/// # Errors
/// What the compiler says, if it does not compile the text.
pub(crate) fn verbose_log(text: &str, architecture: u32) -> Result<String, String> {
    let source = CString::new(text).map_err(|_| "the text has a zero".to_owned())?;
    let program = Program::new(&source)?;
    let mut options = Goal::Machine(architecture).options(release()?);
    options.push("--ptxas-options=-v".into());
    program.compile(&options)
}

/// A text that the compiler has; it refers to it.
struct Program<'t>(sys::nvrtcProgram, std::marker::PhantomData<&'t CStr>);

impl Program<'_> {
    fn new(source: &CStr) -> Result<Program<'_>, String> {
        let program = result::create_program(source, Some(c"kernels.cu"));
        let program = program.map_err(|error| format!("starting the compiler failed: {error}"))?;
        Ok(Program(program, std::marker::PhantomData))
    }

    /// Compiles it; what the compiler has to say.
    fn compile(&self, options: &[String]) -> Result<String, String> {
        // SAFETY: the program exists until it is dropped.
        let (compiled, log) = unsafe {
            let compiled = result::compile_program(self.0, options);
            (compiled, result::get_program_log(self.0).unwrap_or_default())
        };
        let log: Vec<u8> = log.into_iter().map(|c| c as u8).take_while(|c| *c != 0).collect();
        let log = String::from_utf8_lossy(&log).into_owned();
        match compiled {
            Ok(()) => Ok(log),
            Err(NvrtcError(error)) => Err(format!("{error:?}: {}", log.trim_end())),
        }
    }
}

impl Drop for Program<'_> {
    fn drop(&mut self) {
        // It cannot fail for a program that exists.
        // SAFETY: the program was made by `new` and is not used any more.
        let _ = unsafe { result::destroy_program(self.0) };
    }
}

fn check(answer: sys::nvrtcResult, action: &str) -> Result<(), String> {
    answer.result().map_err(|error| format!("{action} failed: {error}"))
}

#[cfg(test)]
mod tests {
    use super::Goal;

    #[test]
    fn the_best_goal_for_an_architecture() {
        let known = [75, 80, 90, 100];
        assert_eq!(Goal::of(90, &known), Some(Goal::Machine(90)));
        assert_eq!(Goal::of(103, &known), Some(Goal::Portable(100)));
        assert_eq!(Goal::of(86, &known), Some(Goal::Portable(80)));
        assert_eq!(Goal::of(70, &known), None);
    }

    #[test]
    fn options_are_those_that_the_release_knows() {
        let [old, new] = [(12, 9), (13, 0)].map(|release| Goal::Machine(90).options(release));
        assert_eq!(old[0], "--gpu-architecture=sm_90");
        assert_eq!(new.last().map(String::as_str), Some("--minimal"));
        assert_eq!(new[..old.len()], old);
    }
}
