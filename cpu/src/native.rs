//! Native functions for the code of elements: tier 1.
//!
//! Code that has run for a while on the block interpreter (tier 0) is written as C
//! ([`weft_codegen::lanes()`]), compiled in the background, loaded, and used from the next chunk on.
//! Both tiers yield the same bits, so that nobody can tell but by the clock. Where there is no
//! compiler everything goes on interpreted.

mod arrays;
mod call;
mod compiler;
pub(crate) mod engine;
mod listing;
mod points;
mod scratch;
mod service;
mod slot;
mod source;

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

pub(crate) use call::{Call, Function, Inputs, Part, Results, RowsCall, SerialCall};
pub(crate) use engine::{Engine, PATIENCE};
pub(crate) use listing::request_all;
pub use listing::{native_assembly, native_source};
pub(crate) use points::{Growing, PointsCall};
pub(crate) use service::{Service, Ticket};
pub(crate) use slot::Slot;
pub use source::Source as NativeSource;

/// When native functions are used.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Tier {
    /// For code that takes long, when they are ready.
    Automatic,
    /// Never: tier 0.
    Interpreted,
    /// Always, waiting for the compiler: tier 1. For tests.
    Native,
    /// As `Native`, but that each thread's first block is interpreted. For tests.
    Turning,
}

/// How functions are compiled and kept.
#[derive(Clone, Debug)]
pub struct Config {
    /// The commands to try for a C compiler, in order.
    pub compilers: Vec<String>,
    /// How long the compiler may take for one file.
    pub patience: Duration,
    /// The folder where compiled functions are kept; nothing if they are not.
    pub cache: Option<PathBuf>,
    /// The most bytes that they may take there.
    pub cache_bytes: u64,
    /// The folder for files that go at once.
    pub scratch: PathBuf,
}

impl Config {
    /// Whether one of the compilers can be started, as far as files tell: nothing is started.
    pub fn has_compiler(&self) -> bool {
        let path = std::env::var_os("PATH").unwrap_or_default();
        let is_there = |command: &String| match command.contains('/') {
            true => PathBuf::from(command).is_file(),
            false => std::env::split_paths(&path).any(|folder| folder.join(command).is_file()),
        };
        self.compilers.iter().any(is_there)
    }

    /// What the environment of the process says: `WEFT_CC` names the compiler, which is else one of
    /// `cc`, `gcc` and `clang`; functions are kept in `weft/native` in `XDG_CACHE_HOME`, or in
    /// `.cache` at home.
    pub fn of_environment() -> Config {
        let variable = |name| std::env::var_os(name).filter(|value| !value.is_empty());
        let chosen = variable("WEFT_CC").and_then(|command| command.into_string().ok());
        let usual = ["cc", "gcc", "clang"].map(str::to_owned);
        let caches =
            variable("XDG_CACHE_HOME").map(PathBuf::from).filter(|path| path.is_absolute());
        let at_home = || variable("HOME").map(|home| PathBuf::from(home).join(".cache"));
        Config {
            compilers: chosen.into_iter().chain(usual).collect(),
            patience: Duration::from_secs(60),
            cache: caches.or_else(at_home).map(|folder| folder.join("weft").join("native")),
            cache_bytes: 256 << 20,
            scratch: std::env::temp_dir(),
        }
    }
}

/// How many functions there were of each fate.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Statistics {
    /// Compiled.
    pub compiled: u64,
    /// Asked for again in this process.
    pub known: u64,
    /// Found on disk.
    pub from_disk: u64,
    /// Not compiled: there is no compiler, or it has failed.
    pub failed: u64,
    /// Blocks of points that took so long on the interpreter that a function has done them instead.
    pub overtaken: u64,
}

/// Has functions compiled, and keeps them as long as it or a copy of it lives.
#[derive(Clone, Debug)]
pub struct Native(Arc<Owner>);

/// Ends the service with the last that asks it for something.
#[derive(Debug)]
struct Owner(Arc<Service>);

/// What gives kernels native functions, and when; for [`crate::KernelCache::with_native`].
#[derive(Clone, Debug)]
pub(crate) struct Supply {
    pub(crate) native: Native,
    pub(crate) tier: Tier,
}

impl Native {
    /// Nothing is looked for before the first function is asked for.
    pub fn new(config: Config) -> Native {
        Native(Arc::new(Owner(Arc::new(Service::new(config)))))
    }

    pub(crate) fn service(&self) -> &Arc<Service> {
        &self.0.0
    }

    /// What has become of the functions that were asked for.
    pub fn statistics(&self) -> Statistics {
        self.service().statistics()
    }

    /// The time for which runs have waited for functions, since the beginning.
    pub fn waited(&self) -> Duration {
        self.service().waited()
    }

    /// Unloads the functions that no kernel has.
    pub fn forget(&self) {
        self.service().forget();
    }

    /// Why functions are not compiled, once it is known; then never again.
    pub fn take_notice(&self) -> Option<String> {
        self.service().take_notice()
    }
}

impl Drop for Owner {
    fn drop(&mut self) {
        self.0.close();
    }
}
