//! The host's compiler: builds the device once, and kernels as shared libraries.

use std::collections::HashMap;
use std::fs;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::os::unix::fs::{DirBuilderExt, MetadataExt};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

use crate::Error;

/// The files of the device, by name.
const RUNTIME: [(&str, &str); 10] = [
    ("interface.h", include_str!("../runtime/interface.h")),
    ("cuda.h", include_str!("../runtime/cuda.h")),
    ("fibre.h", include_str!("../runtime/fibre.h")),
    ("order.h", include_str!("../runtime/order.h")),
    ("machine.h", include_str!("../runtime/machine.h")),
    ("fibre.cpp", include_str!("../runtime/fibre.cpp")),
    ("order.cpp", include_str!("../runtime/order.cpp")),
    ("memory.cpp", include_str!("../runtime/memory.cpp")),
    ("schedule.cpp", include_str!("../runtime/schedule.cpp")),
    ("undefined.cpp", include_str!("../runtime/undefined.cpp")),
];

/// The main program of the device.
const SERVE: (&str, &str) = ("serve.cpp", include_str!("../runtime/serve.cpp"));

/// How kernels are compiled. No contraction of products and sums, as on the device; each access is
/// reported to the device through the hooks of `-fsanitize=thread`, whose library is not linked.
const FLAGS: &[&str] = &[
    "-x",
    "c++",
    "-std=c++17",
    "-w",
    "-O1",
    "-fPIC",
    "-shared",
    "-ffp-contract=off",
    "-fno-exceptions",
    "-fno-rtti",
    "-fno-stack-protector",
    "-fno-strict-aliasing",
    "-fno-threadsafe-statics",
    "-gdwarf-4",
    "-g1",
    "-fsanitize=thread",
    "--param",
    "tsan-instrument-func-entry-exit=0",
    "-fsanitize=bounds,shift,integer-divide-by-zero,signed-integer-overflow,float-cast-overflow",
];

/// A compiler, and what it has built.
#[derive(Debug)]
pub struct Emulator {
    compiler: String,
    directory: PathBuf,
    runner: PathBuf,
    modules: Mutex<HashMap<String, PathBuf>>,
    compiled: AtomicU64,
}

/// Kernels that are ready to be loaded.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Module {
    pub(crate) path: PathBuf,
}

impl Emulator {
    /// Finds the compiler (`$WEFT_CXX`, else `g++`) and builds the device, if that has not been done
    /// on this machine.
    ///
    /// # Errors
    /// [`Error::Unavailable`] with the reason, if there is no `g++`.
    pub fn new() -> Result<Emulator, Error> {
        let compiler = std::env::var("WEFT_CXX").unwrap_or_else(|_| "g++".into());
        let version = match Command::new(&compiler).arg("--version").output() {
            Ok(output) if output.status.success() => output.stdout,
            Ok(output) => {
                return Err(Error::Unavailable(format!("{compiler}: {}", output.status)));
            }
            Err(error) => return Err(Error::Unavailable(format!("{compiler}: {error}"))),
        };
        let mut hasher = DefaultHasher::new();
        (version, RUNTIME, SERVE).hash(&mut hasher);
        let key = hasher.finish();
        let kept = kept_directory().map_err(unavailable)?;
        let directory = fresh_directory(&kept).map_err(unavailable)?;
        for (name, text) in RUNTIME.into_iter().chain([SERVE]) {
            fs::write(directory.join(name), text).map_err(unavailable)?;
        }
        let runner = kept.join(format!("device-{key:016x}"));
        // One build is enough for all threads of this process.
        static BUILDING: Mutex<()> = Mutex::new(());
        let building = BUILDING.lock().unwrap_or_else(PoisonError::into_inner);
        if !runner.exists() {
            let built = directory.join("device");
            let mut command = Command::new(&compiler);
            command.args(["-std=c++17", "-O2", "-rdynamic", "-o"]).arg(&built);
            for (name, _) in RUNTIME.into_iter().chain([SERVE]) {
                if name.ends_with(".cpp") {
                    command.arg(directory.join(name));
                }
            }
            execute(command.arg("-ldl"))
                .map_err(|error| Error::Unavailable(format!("{compiler}: {error}")))?;
            fs::rename(&built, &runner).map_err(unavailable)?;
        }
        drop(building);
        let (modules, compiled) = (Mutex::default(), AtomicU64::new(0));
        Ok(Emulator { compiler, directory, runner, modules, compiled })
    }

    /// Compiles kernels; `kernels` are the names of the `__global__` functions. Text that was
    /// compiled before is not compiled again.
    ///
    /// # Errors
    /// [`Error::Compile`] with the compiler's messages, which have the lines of the text.
    pub fn compile(&self, text: &str, kernels: &[&str]) -> Result<Module, Error> {
        let modules = || self.modules.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(path) = modules().get(text) {
            return Ok(Module { path: path.clone() });
        }
        let mut whole = format!("#line 1 \"kernel.cu\"\n{text}\n");
        for kernel in kernels {
            whole.push_str(&format!("WEFT_EXPORT({kernel})\n"));
        }
        // Other threads may compile meanwhile.
        let number = self.compiled.fetch_add(1, Ordering::Relaxed);
        let stem = self.directory.join(format!("module-{number}"));
        let (source, path) = (stem.with_extension("cpp"), stem.with_extension("so"));
        fs::write(&source, whole).map_err(|error| Error::Compile(error.to_string()))?;
        let mut command = Command::new(&self.compiler);
        command.args(FLAGS).arg("-include").arg(self.directory.join("cuda.h"));
        // The library of the sanitizer stays out: its hooks are the device's.
        command.arg("-c").arg(&source).arg("-o").arg(stem.with_extension("o"));
        execute(&mut command).map_err(Error::Compile)?;
        let mut link = Command::new(&self.compiler);
        link.args(["-shared", "-o"]).arg(&path).arg(stem.with_extension("o"));
        execute(&mut link).map_err(Error::Compile)?;
        modules().insert(text.to_owned(), path.clone());
        Ok(Module { path })
    }

    pub(crate) fn runner(&self) -> &Path {
        &self.runner
    }
}

impl Drop for Emulator {
    fn drop(&mut self) {
        // What cannot be removed is in the folder for temporary files.
        drop(fs::remove_dir_all(&self.directory));
    }
}

fn unavailable(error: std::io::Error) -> Error {
    Error::Unavailable(error.to_string())
}

/// Runs a command; what it says, if it fails.
fn execute(command: &mut Command) -> Result<(), String> {
    let output = command.output().map_err(|error| error.to_string())?;
    match output.status.success() {
        true => Ok(()),
        false => Err(String::from_utf8_lossy(&output.stderr).into_owned()),
    }
}

/// A folder that only this user can write, for what is kept between runs.
fn kept_directory() -> std::io::Result<PathBuf> {
    let temporary = std::env::temp_dir();
    let probe = fresh_directory(&temporary)?;
    let user = fs::metadata(&probe)?.uid();
    let kept = temporary.join(format!("weft-emulator-{user}"));
    match fs::DirBuilder::new().mode(0o700).create(&kept) {
        Err(error) if error.kind() != std::io::ErrorKind::AlreadyExists => return Err(error),
        Ok(()) | Err(_) => {}
    }
    let found = fs::symlink_metadata(&kept)?;
    if found.is_dir() && found.uid() == user && found.mode() & 0o077 == 0 {
        fs::remove_dir(&probe)?;
        Ok(kept)
    } else {
        // It is somebody else's.
        Ok(probe)
    }
}

/// A new folder that only this user can see.
fn fresh_directory(within: &Path) -> std::io::Result<PathBuf> {
    static NUMBER: AtomicU64 = AtomicU64::new(0);
    loop {
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let path = within.join(format!("weft-{}-{number}", std::process::id()));
        match fs::DirBuilder::new().mode(0o700).create(&path) {
            Ok(()) => return Ok(path),
            Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => {}
            Err(error) => return Err(error),
        }
    }
}
