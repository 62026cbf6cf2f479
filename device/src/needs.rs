//! What kernels need of a multiprocessor, as the compiler says it: no device has to be there for that.

use std::fmt;

use crate::compiler;

/// What a kernel needs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Needs {
    /// The name of its `__global__` function.
    pub kernel: String,
    /// Registers of a thread.
    pub registers: u32,
    /// Bytes of shared memory of a block.
    pub shared: u32,
    /// Bytes of registers of a thread that had to be stored in memory.
    pub spilled: u32,
}

impl fmt::Display for Needs {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Needs { kernel, registers, shared, spilled } = self;
        write!(f, "{kernel}: {registers} registers, {shared} bytes of shared memory, ")?;
        write!(f, "{spilled} bytes spilled")
    }
}

/// What the kernels of a text need on an architecture (90 is `sm_90`), in the order of the compiler.
///
/// # Errors
/// Why that is not known: there is no NVRTC, or it does not compile the text.
pub fn needs(text: &str, architecture: u32) -> Result<Vec<Needs>, String> {
    if !compiler::is_present() {
        return Err("there is no NVRTC".into());
    }
    match of_log(&compiler::verbose_log(text, architecture)?) {
        all if all.is_empty() => Err("the compiler does not say".into()),
        all => Ok(all),
    }
}

/// What the log of the assembler says.
fn of_log(log: &str) -> Vec<Needs> {
    let mut all = Vec::new();
    let (mut kernel, mut spilled) = (None, 0);
    for line in log.lines() {
        if let Some((_, rest)) = line.split_once("Compiling entry function '") {
            kernel = rest.split('\'').next().map(str::to_owned);
            spilled = 0;
        } else if let Some(bytes) = number_before(line, " bytes spill stores") {
            spilled = bytes;
        } else if let (Some(registers), Some(name)) = (number_before(line, " registers"), &kernel) {
            let shared = number_before(line, " bytes smem").unwrap_or(0);
            all.push(Needs { kernel: name.clone(), registers, shared, spilled });
            kernel = None;
        }
    }
    all
}

/// The number that stands before a text.
fn number_before(line: &str, text: &str) -> Option<u32> {
    let (before, _) = line.split_once(text)?;
    let start = before.rfind(|each: char| !each.is_ascii_digit()).map_or(0, |at| at + 1);
    before[start..].parse().ok()
}

#[cfg(test)]
mod tests {
    use super::{Needs, of_log};

    #[test]
    fn the_log_of_two_kernels() {
        let log = "ptxas info    : 0 bytes gmem
ptxas info    : Compiling entry function 'k0_map' for 'sm_90'
ptxas info    : Function properties for k0_map
    0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
ptxas info    : Used 26 registers, used 0 barriers
ptxas info    : Compiling entry function 'k1_reduce_tiles' for 'sm_90'
ptxas info    : Function properties for k1_reduce_tiles
    16 bytes stack frame, 8 bytes spill stores, 12 bytes spill loads
ptxas info    : Used 32 registers, used 1 barriers, 17156 bytes smem
";
        let needs = |kernel: &str, registers, shared, spilled| Needs {
            kernel: kernel.into(),
            registers,
            shared,
            spilled,
        };
        assert_eq!(
            of_log(log),
            [needs("k0_map", 26, 0, 0), needs("k1_reduce_tiles", 32, 17156, 8)]
        );
    }
}
