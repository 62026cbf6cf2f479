//! What there is of CUDA on this machine.

use std::fmt;

use crate::{compiler, driver};

/// The oldest release of CUDA whose driver has all that is called here.
const OLDEST_DRIVER: (u32, u32) = (12, 8);

/// The oldest release of NVRTC that has all that the texts need (`__nv_atomic_load_n` and its kin).
const OLDEST_COMPILER: (u32, u32) = (12, 8);

/// Why there is no device that programs can run on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Absent {
    /// There is no library of the driver.
    NoDriver,
    /// The driver is for an older release of CUDA, which it names.
    OldDriver(u32, u32),
    /// The driver knows of no device.
    NoDevice,
    /// There is no library of the compiler.
    NoCompiler,
    /// The compiler is of an older release of CUDA than the texts need, which it names.
    OldCompiler(u32, u32),
    /// The compiler is newer than the driver: the releases of both.
    NewerCompiler((u32, u32), (u32, u32)),
    /// The compiler makes nothing for the architecture of the device.
    Unsupported(u32),
    /// Something failed: what, and how.
    Failed(String),
}

impl fmt::Display for Absent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Absent::NoDriver => f.write_str(
                "no CUDA driver was found (the library libcuda.so.1, which comes with NVIDIA's driver)",
            ),
            Absent::OldDriver(major, minor) => {
                let (least, minor_least) = OLDEST_DRIVER;
                write!(
                    f,
                    "the driver is for CUDA {major}.{minor}; it takes one for {least}.{minor_least} or later"
                )
            }
            Absent::NoDevice => f.write_str("the CUDA driver knows of no device"),
            Absent::NoCompiler => f.write_str(
                "there is a device, but no compiler for it (the library libnvrtc.so of CUDA; if it is \
                 installed, LD_LIBRARY_PATH must name its folder)",
            ),
            Absent::OldCompiler(major, minor) => {
                let (least, minor_least) = OLDEST_COMPILER;
                write!(
                    f,
                    "the compiler is of CUDA {major}.{minor}; it takes one of {least}.{minor_least} or later (if \
                     there is one, LD_LIBRARY_PATH must name its folder first)"
                )
            }
            Absent::NewerCompiler((major, minor), (of_major, of_minor)) => write!(
                f,
                "the compiler is of CUDA {major}.{minor}, but the driver of CUDA {of_major}.{of_minor}"
            ),
            Absent::Unsupported(architecture) => {
                write!(f, "the compiler knows nothing for a device of architecture sm_{architecture}")
            }
            Absent::Failed(how) => f.write_str(how),
        }
    }
}

/// A device, and what makes programs for it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Description {
    /// The number by which the driver knows it.
    pub number: u32,
    /// What it calls itself.
    pub name: String,
    /// The bytes of its memory.
    pub bytes: u64,
    /// Its architecture: 90 is `sm_90`.
    pub architecture: u32,
    /// How many blocks of threads run on it at once, at least.
    pub multiprocessors: u32,
    /// The release of CUDA that the driver is for.
    pub driver: (u32, u32),
    /// The release of the compiler.
    pub compiler: (u32, u32),
    /// What the compiler makes for it.
    pub(crate) goal: compiler::Goal,
}

impl fmt::Display for Description {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (driver, compiler) = (self.driver, self.compiler);
        write!(
            f,
            "{}, sm_{}, {} multiprocessors; driver of CUDA {}.{}, NVRTC {}.{}",
            self.name,
            self.architecture,
            self.multiprocessors,
            driver.0,
            driver.1,
            compiler.0,
            compiler.1
        )
    }
}

/// The devices that programs can run on: at least one.
///
/// # Errors
/// Why there is none. That is an ordinary state of a machine.
pub fn find() -> Result<Vec<Description>, Absent> {
    if !driver::is_present() {
        return Err(Absent::NoDriver);
    }
    let failed = |failure: crate::words::Failure| Absent::Failed(failure.to_string());
    let (driver, count) = match driver::initialise() {
        Ok(found) => found,
        Err(failure) if failure.is_no_device() => return Err(Absent::NoDevice),
        Err(failure) => return Err(failed(failure)),
    };
    if driver < OLDEST_DRIVER {
        return Err(Absent::OldDriver(driver.0, driver.1));
    }
    if count == 0 {
        return Err(Absent::NoDevice);
    }
    if !compiler::is_present() {
        return Err(Absent::NoCompiler);
    }
    let (release, known) = compiler::describe().map_err(Absent::Failed)?;
    if release < OLDEST_COMPILER {
        return Err(Absent::OldCompiler(release.0, release.1));
    }
    let (mut found, mut refused) = (Vec::new(), None);
    for number in 0..count {
        let properties = driver::properties(number).map_err(failed)?;
        let (major, minor) = properties.architecture;
        let architecture = major * 10 + minor;
        let Some(goal) = compiler::Goal::of(architecture, &known) else {
            refused.get_or_insert(Absent::Unsupported(architecture));
            continue;
        };
        if !loads(driver, release, goal) {
            refused = Some(Absent::NewerCompiler(release, driver));
            continue;
        }
        found.push(Description {
            number,
            name: properties.name,
            bytes: properties.bytes,
            architecture,
            multiprocessors: properties.multiprocessors,
            driver,
            compiler: release,
            goal,
        });
    }
    if found.is_empty() { Err(refused.unwrap_or(Absent::NoDevice)) } else { Ok(found) }
}

/// Whether a driver takes what a compiler makes, by their releases: machine code of any minor release (CUDA's
/// minor version compatibility), but portable code of none that is newer than its own.
fn loads(driver: (u32, u32), compiler: (u32, u32), goal: compiler::Goal) -> bool {
    match goal {
        compiler::Goal::Machine(_) => compiler.0 <= driver.0,
        compiler::Goal::Portable(_) => compiler <= driver,
    }
}

#[cfg(test)]
mod tests {
    use super::loads;
    use crate::compiler::Goal;

    #[test]
    fn a_driver_takes_portable_code_of_no_newer_compiler() {
        let (machine, portable) = (Goal::Machine(90), Goal::Portable(90));
        for (compiler, takes_machine, takes_portable) in [
            ((12, 8), true, true),
            ((12, 9), true, true),
            ((13, 0), true, true),
            ((13, 1), true, false),
            ((14, 0), false, false),
        ] {
            assert_eq!(loads((13, 0), compiler, machine), takes_machine, "{compiler:?}");
            assert_eq!(loads((13, 0), compiler, portable), takes_portable, "{compiler:?}");
        }
    }
}
