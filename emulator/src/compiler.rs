//! The host's compiler: builds the device once, and kernels as shared libraries.

mod kept;
mod shared;
mod wanted;

use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use crate::Error;
use kept::{Kept, Key, hash};
use shared::{MOST_SHARED, complaint};
use wanted::wanted;

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
    "-std=c++17",
    "-w",
    "-O1",
    "-fPIC",
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
    linker: String,
    /// What the compiler says of itself, and the files of the device: part of every key.
    version: u64,
    directory: PathBuf,
    runner: PathBuf,
    kept: Kept,
    modules: Mutex<HashMap<Key, PathBuf>>,
    headers: Mutex<Vec<Arc<Header>>>,
    /// How many modules were built: names for files.
    built: AtomicU64,
}

/// The beginning of many texts, compiled once.
#[derive(Debug)]
struct Header {
    text: String,
    path: OnceLock<Result<PathBuf, String>>,
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
    /// [`Error::Unavailable`] with the reason, if there is no `g++`; [`Error::Broken`], if there is and the device
    /// cannot be built with it.
    pub fn new() -> Result<Emulator, Error> {
        Emulator::built_with(std::env::var("WEFT_CXX").unwrap_or_else(|_| "g++".into()))
    }

    fn built_with(compiler: String) -> Result<Emulator, Error> {
        let says = |argument: &str| match Command::new(&compiler).arg(argument).output() {
            Ok(output) if output.status.success() => {
                Ok(String::from_utf8_lossy(&output.stdout).trim().to_owned())
            }
            Ok(output) => Err(format!("{compiler}: {}", output.status)),
            Err(error) => Err(format!("{compiler}: {error}")),
        };
        let described = says("--version").map_err(Error::Unavailable)?;
        let version = hash(&(described, RUNTIME, SERVE, FLAGS, MOST_SHARED));
        let linker = says("-print-prog-name=ld").map_err(Error::Broken)?;
        let kept = Kept::new().map_err(broken)?;
        let directory = kept.fresh_directory().map_err(broken)?;
        for (name, text) in RUNTIME.into_iter().chain([SERVE]) {
            fs::write(directory.join(name), text).map_err(broken)?;
        }
        let runner = kept.file(&format!("device-{version:016x}"));
        // One build is enough for all threads of this process.
        static BUILDING: Mutex<()> = Mutex::new(());
        let building = lock(&BUILDING);
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
                .map_err(|error| Error::Broken(format!("{compiler}: {error}")))?;
            fs::rename(&built, &runner).map_err(broken)?;
        }
        drop(building);
        Ok(Emulator {
            compiler,
            linker,
            version,
            directory,
            runner,
            kept,
            modules: Mutex::default(),
            headers: Mutex::default(),
            built: AtomicU64::new(0),
        })
    }

    /// Says that many texts will begin with this one: they are compiled faster.
    pub fn expect_beginning(&self, text: &str) {
        let mut headers = lock(&self.headers);
        if headers.iter().all(|header| header.text != text) {
            headers.push(Arc::new(Header { text: text.to_owned(), path: OnceLock::new() }));
        }
    }

    /// Compiles kernels; `kernels` are the names of `__global__` functions, of which the text may
    /// have more, which are not compiled. What was compiled before, by any process of this user, is not compiled again.
    ///
    /// # Errors
    /// [`Error::Compile`] with the compiler's messages, which have the lines of the text; or if one of them declares
    /// more shared memory than a device has.
    pub fn compile(&self, text: &str, kernels: &[&str]) -> Result<Module, Error> {
        let key = Key::of(&(self.version, text, kernels));
        if let Some(path) = lock(&self.modules).get(&key) {
            return Ok(Module { path: path.clone() });
        }
        let path = match self.kept.module(&key) {
            Some(path) => path,
            None => {
                let built = self.build(text, kernels).map_err(Error::Compile)?;
                self.kept.keep(&key, &built).map_err(|error| Error::Compile(error.to_string()))?
            }
        };
        lock(&self.modules).insert(key, path.clone());
        Ok(Module { path })
    }

    /// The shared library of kernels, in the folder of this process.
    fn build(&self, text: &str, kernels: &[&str]) -> Result<PathBuf, String> {
        let number = self.built.fetch_add(1, Ordering::Relaxed);
        let stem = self.directory.join(format!("module-{number}"));
        let (source, object) = (stem.with_extension("cpp"), stem.with_extension("o"));
        let (header, text, lines) = self.beginning(text)?;
        let text = wanted(text, kernels);
        let mut whole = format!("#line {} \"kernel.cu\"\n{text}\n", lines + 1);
        for kernel in kernels {
            whole.push_str(&format!("WEFT_EXPORT({kernel})\n"));
        }
        fs::write(&source, whole).map_err(|error| error.to_string())?;
        let mut command = Command::new(&self.compiler);
        // The library of the sanitizer stays out: its hooks are the device's.
        command.args(["-x", "c++"]).args(FLAGS).arg("-include").arg(header);
        execute(command.arg("-c").arg(&source).arg("-o").arg(&object))?;
        let path = stem.with_extension("so");
        // The linker itself: the compiler would add what starts and ends programs.
        let mut link = Command::new(&self.linker);
        execute(link.args(["-shared", "-o"]).arg(&path).arg(&object))?;
        // What cannot be removed goes with the folder.
        drop(fs::remove_file(&source).and_then(|()| fs::remove_file(&object)));
        match complaint(&fs::read(&path).map_err(|error| error.to_string())?) {
            Some(complaint) => Err(complaint),
            None => Ok(path),
        }
    }

    /// The header to include, the rest of the text, and how many lines came before it.
    fn beginning<'t>(&self, text: &'t str) -> Result<(PathBuf, &'t str, usize), String> {
        let headers = lock(&self.headers).clone();
        let known = headers.iter().enumerate().find(|(_, header)| text.starts_with(&header.text));
        let Some((number, header)) = known else {
            return Ok((self.directory.join("cuda.h"), text, 0));
        };
        let path = header.path.get_or_init(|| self.precompile(number, &header.text)).clone()?;
        Ok((path, &text[header.text.len()..], header.text.lines().count()))
    }

    /// The header of a beginning, compiled; kept between runs as modules are.
    fn precompile(&self, number: usize, text: &str) -> Result<PathBuf, String> {
        let key = Key::of(&(self.version, text));
        if let Some(folder) = self.kept.beginning(&key) {
            return Ok(folder.join("beginning.h"));
        }
        let folder = self.directory.join(format!("beginning-{number}"));
        let said = |error: std::io::Error| error.to_string();
        fs::create_dir(&folder).map_err(said)?;
        for name in ["cuda.h", "interface.h"] {
            fs::copy(self.directory.join(name), folder.join(name)).map_err(said)?;
        }
        let path = folder.join("beginning.h");
        let whole = format!("#include \"cuda.h\"\n#line 1 \"kernel.cu\"\n{text}");
        fs::write(&path, whole).map_err(said)?;
        let mut command = Command::new(&self.compiler);
        command.args(["-x", "c++-header"]).args(FLAGS).arg(&path);
        execute(command.arg("-o").arg(path.with_extension("h.gch")))?;
        let folder = self.kept.keep_beginning(&key, &folder).map_err(said)?;
        Ok(folder.join("beginning.h"))
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

fn broken(error: std::io::Error) -> Error {
    Error::Broken(error.to_string())
}

/// Runs a command; what it says, if it fails.
fn execute(command: &mut Command) -> Result<(), String> {
    let output = command.output().map_err(|error| error.to_string())?;
    match output.status.success() {
        true => Ok(()),
        false => Err(String::from_utf8_lossy(&output.stderr).into_owned()),
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::Emulator;
    use crate::Error;

    #[test]
    fn a_compiler_that_builds_nothing_is_not_one_that_is_not_there() {
        // What it is asked it says again, with success.
        let broken = Emulator::built_with("echo".into());
        assert!(matches!(broken, Err(Error::Broken(_))), "{broken:?}");
        let absent = Emulator::built_with("there-is-no-such-compiler".into());
        assert!(matches!(absent, Err(Error::Unavailable(_))), "{absent:?}");
    }
}
