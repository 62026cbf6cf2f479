//! The threads that have functions compiled.
//!
//! Note [Two compiler threads]. The functions of kernels are compiled together, all that have come meanwhile in one file: that
//! takes less time than one by one. A loop that runs step by step until its function is there would wait for all of them, and
//! for those of loops that have ended since. So the functions of whole loops have a thread of their own, which compiles
//! one at a time, the one that was asked for last first: it is the one that runs.

use std::collections::BTreeMap;
use std::mem;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, OnceLock};
use std::thread;
use std::time::{Duration, Instant};

use weft_codegen::{Cache, Digest, LaneFunction, text_hash};

use crate::native::call::{Function, Library};
use crate::native::compiler::{Compiler, Failure};
use crate::native::source::{prelude, source};
use crate::native::{Config, Statistics, scratch};
use crate::workers::lock;

/// How long the end of a process may be held up.
const MOMENT: Duration = Duration::from_millis(200);

/// Where a function will be.
#[derive(Debug, Default)]
pub(crate) struct Ticket {
    /// Nothing inside if it cannot be compiled.
    state: OnceLock<Option<Function>>,
}

impl Ticket {
    /// The function, when it is there.
    pub(crate) fn function(&self) -> Option<Function> {
        self.state.get()?.clone()
    }

    /// Whether it is known that there will be none.
    pub(crate) fn has_failed(&self) -> bool {
        matches!(self.state.get(), Some(None))
    }

    /// Waits until it is known whether there will be a function, or until `cancel` is set.
    fn wait(&self, cancel: &AtomicBool) {
        // A compiler takes a hundred times as long as such a pause.
        while self.state.get().is_none() && !cancel.load(Ordering::Relaxed) {
            thread::sleep(Duration::from_millis(1));
        }
    }

    fn settle(&self, function: Option<Function>) {
        // It is settled once only; were it twice, the first would stand.
        let _ = self.state.set(function);
    }
}

/// What the threads that compute and the one that compiles have in common.
#[derive(Debug)]
pub(crate) struct Service {
    config: Config,
    /// That of kernels, and that of loops (Note [Two compiler threads]).
    threads: [CompilerThread; 2],
    /// The functions of this process by their text.
    known: Mutex<BTreeMap<Digest, Option<Function>>>,
    /// Set when nobody waits for the compiler any more.
    given_up: Arc<AtomicBool>,
    counts: Counts,
    waiting: Mutex<Waiting>,
    /// Why nothing is compiled, once that is known.
    notice: Mutex<Notice>,
}

/// A thread that has functions compiled, and what waits for it.
#[derive(Debug, Default)]
struct CompilerThread {
    queue: Mutex<Queue>,
    wake: Condvar,
    /// Told when the thread has ended.
    ended: Condvar,
}

/// The place of the thread whose requests are compiled together.
const TOGETHER: usize = 0;
/// The place of the thread whose requests are compiled one at a time.
const ALONE: usize = 1;

/// What somebody is to be told.
#[derive(Debug, Default)]
struct Notice {
    text: Option<String>,
    /// Whether there was anything about the system: it is told once, though every file may fail.
    has_passing: bool,
}

impl Notice {
    fn add(&mut self, failure: Failure) {
        if matches!(failure, Failure::Passing(_)) && mem::replace(&mut self.has_passing, true) {
            return;
        }
        self.text.get_or_insert(failure.reason());
    }
}

#[derive(Debug, Default)]
struct Queue {
    requests: Vec<Request>,
    /// How many callers have more requests, so that it is better to wait.
    held: usize,
    running: bool,
    closed: bool,
    /// Whether what is known is to be forgotten.
    forget: bool,
}

#[derive(Debug)]
struct Request {
    function: LaneFunction,
    ticket: Arc<Ticket>,
}

/// Says that the thread has ended, when it has.
struct Ended<'a>(&'a CompilerThread);

impl Drop for Ended<'_> {
    fn drop(&mut self) {
        lock(&self.0.queue).running = false;
        self.0.ended.notify_all();
    }
}

#[derive(Debug, Default)]
struct Counts {
    compiled: AtomicU64,
    known: AtomicU64,
    from_disk: AtomicU64,
    failed: AtomicU64,
    overtaken: AtomicU64,
}

/// The threads that wait for a function, and since when one of them does.
#[derive(Debug, Default)]
struct Waiting {
    threads: usize,
    since: Option<Instant>,
    before: Duration,
}

impl Service {
    pub(crate) fn new(config: Config) -> Service {
        let (threads, known, given_up, counts, waiting, notice) = Default::default();
        Service { config, threads, known, given_up, counts, waiting, notice }
    }

    /// Has a function of a kernel compiled.
    pub(crate) fn request(self: &Arc<Service>, function: LaneFunction) -> Arc<Ticket> {
        self.put(TOGETHER, function)
    }

    /// Has the function of a loop compiled.
    pub(crate) fn request_loop(self: &Arc<Service>, function: LaneFunction) -> Arc<Ticket> {
        let is_held = lock(&self.threads[TOGETHER].queue).held > 0;
        self.put(if is_held { TOGETHER } else { ALONE }, function)
    }

    fn put(self: &Arc<Service>, place: usize, function: LaneFunction) -> Arc<Ticket> {
        let ticket = Arc::new(Ticket::default());
        let own = &self.threads[place];
        let mut queue = lock(&own.queue);
        queue.requests.push(Request { function, ticket: Arc::clone(&ticket) });
        if !queue.running {
            queue.running = true;
            let service = Arc::clone(self);
            let name = "compiler".to_owned();
            let work = move || {
                let _ended = Ended(&service.threads[place]);
                service.work(place);
            };
            let started = thread::Builder::new().name(name).spawn(work);
            if started.is_err() {
                queue.running = false;
                queue.requests.drain(..).for_each(|request| request.ticket.settle(None));
            }
        }
        own.wake.notify_one();
        ticket
    }

    /// Waits until it is known whether there will be a function, or until `cancel` is set.
    pub(crate) fn wait(&self, ticket: &Ticket, cancel: &AtomicBool) {
        if ticket.state.get().is_some() {
            return;
        }
        let mut waiting = lock(&self.waiting);
        waiting.threads += 1;
        waiting.since.get_or_insert_with(Instant::now);
        drop(waiting);
        ticket.wait(cancel);
        let mut waiting = lock(&self.waiting);
        waiting.threads -= 1;
        if waiting.threads == 0
            && let Some(since) = waiting.since.take()
        {
            waiting.before += since.elapsed();
        }
    }

    /// The time that threads have waited for functions; what several wait counts once.
    pub(crate) fn waited(&self) -> Duration {
        lock(&self.waiting).before
    }

    /// Lets requests wait for each other while something runs, so that they are compiled in one file.
    pub(crate) fn together(&self, request: impl FnOnce()) {
        // A guard, so that nobody waits for ever if `request` panics.
        struct Held<'a>(&'a CompilerThread);
        impl Drop for Held<'_> {
            fn drop(&mut self) {
                lock(&self.0.queue).held -= 1;
                self.0.wake.notify_one();
            }
        }
        let own = &self.threads[TOGETHER];
        lock(&own.queue).held += 1;
        let _held = Held(own);
        request();
    }

    /// Ends the threads and the compilers that they may be running, whose files go; waits a moment for
    /// that.
    pub(crate) fn close(&self) {
        self.given_up.store(true, Ordering::Relaxed);
        for own in &self.threads {
            lock(&own.queue).closed = true;
            own.wake.notify_one();
        }
        let end = Instant::now() + MOMENT;
        for own in &self.threads {
            let mut queue = lock(&own.queue);
            while queue.running {
                let left = end.saturating_duration_since(Instant::now());
                let wait = own.ended.wait_timeout(queue, left);
                let (next, wait) = wait.unwrap_or_else(std::sync::PoisonError::into_inner);
                if wait.timed_out() {
                    return;
                }
                queue = next;
            }
        }
    }

    /// Counts a block that a function does once more.
    pub(crate) fn note_overtaken(&self) {
        self.counts.overtaken.fetch_add(1, Ordering::Relaxed);
    }

    pub(crate) fn statistics(&self) -> Statistics {
        let read = |count: &AtomicU64| count.load(Ordering::Relaxed);
        Statistics {
            compiled: read(&self.counts.compiled),
            known: read(&self.counts.known),
            from_disk: read(&self.counts.from_disk),
            failed: read(&self.counts.failed),
            overtaken: read(&self.counts.overtaken),
        }
    }

    pub(crate) fn take_notice(&self) -> Option<String> {
        lock(&self.notice).text.take()
    }

    /// Lets go of the functions that no kernel has.
    pub(crate) fn forget(&self) {
        lock(&self.known).clear();
        for own in &self.threads {
            let mut queue = lock(&own.queue);
            if queue.running {
                queue.forget = true;
                own.wake.notify_one();
            }
        }
    }

    /// Compiles what has been asked for of one of the threads.
    fn work(&self, place: usize) {
        let own = &self.threads[place];
        let mut workshop = Workshop { service: self, environment: None };
        loop {
            let requests = {
                let mut queue = lock(&own.queue);
                while (queue.requests.is_empty() || queue.held > 0)
                    && !queue.closed
                    && !queue.forget
                {
                    queue = own.wake.wait(queue).unwrap_or_else(std::sync::PoisonError::into_inner);
                }
                if queue.closed {
                    queue.requests.drain(..).for_each(|request| request.ticket.settle(None));
                    return;
                }
                if mem::take(&mut queue.forget) {
                    workshop.forget();
                }
                match place {
                    TOGETHER => mem::take(&mut queue.requests),
                    _ => queue.requests.pop().into_iter().collect(),
                }
            };
            workshop.settle(requests);
        }
    }
}

/// The most functions that are known by their text: each keeps a shared object loaded, of which a process
/// can have some ten thousand.
const MOST_KNOWN: usize = 2_000;

/// The state of a compiling thread.
struct Workshop<'a> {
    service: &'a Service,
    environment: Option<Environment>,
}

/// The compiler and the cache; none of them may be there.
struct Environment {
    compiler: Result<Compiler, Failure>,
    cache: Option<Cache>,
    /// What keys depend on beside the text.
    salt: String,
    /// Objects that have been loaded.
    libraries: BTreeMap<PathBuf, Arc<Library>>,
    /// What was stored last, until the cache is tidied up behind it.
    stored: Option<PathBuf>,
}

/// A function that is neither known nor on disk.
struct Missing {
    key: Digest,
    function: LaneFunction,
    tickets: Vec<Arc<Ticket>>,
}

impl Workshop<'_> {
    /// Lets go of all objects; those that kernels have stay loaded for these.
    fn forget(&mut self) {
        if let Some(environment) = &mut self.environment {
            environment.libraries.clear();
        }
    }

    fn settle(&mut self, requests: Vec<Request>) {
        let service = self.service;
        if lock(&service.known).len() >= MOST_KNOWN {
            service.forget();
            self.forget();
        }
        let environment = self.environment.get_or_insert_with(|| {
            let environment = Environment::new(&service.config, &service.given_up);
            if let Err(failure) = &environment.compiler {
                lock(&service.notice).add(failure.clone());
            }
            environment
        });
        let mut missing: BTreeMap<Digest, Missing> = BTreeMap::new();
        for Request { function, ticket } in requests {
            let key = environment.key(&function);
            let known = lock(&service.known).get(&key).cloned();
            if let Some(known) = known {
                service.counts.known.fetch_add(1, Ordering::Relaxed);
                ticket.settle(known);
            } else if let Some(found) = environment.on_disk(&key) {
                service.counts.from_disk.fetch_add(1, Ordering::Relaxed);
                lock(&service.known).insert(key, Some(found.clone()));
                ticket.settle(Some(found));
            } else {
                let entry = Missing { key: key.clone(), function, tickets: Vec::new() };
                missing.entry(key).or_insert(entry).tickets.push(ticket);
            }
        }
        let missing: Vec<Missing> = missing.into_values().collect();
        if missing.is_empty() {
            return;
        }
        let mut may_pass = false;
        let functions = environment.compile(&missing).unwrap_or_else(|failure| {
            may_pass = matches!(failure, Failure::Passing(_));
            lock(&service.notice).add(failure);
            vec![None; missing.len()]
        });
        if may_pass && environment.compiler.is_err() {
            // The next request looks for a compiler again.
            self.environment = None;
        }
        for (Missing { key, tickets, .. }, function) in missing.into_iter().zip(functions) {
            let count =
                if function.is_some() { &service.counts.compiled } else { &service.counts.failed };
            count.fetch_add(1, Ordering::Relaxed);
            tickets.iter().for_each(|ticket| ticket.settle(function.clone()));
            if !may_pass {
                lock(&service.known).insert(key, function);
            }
        }
        // Nobody waits for that.
        if let Some(environment) = &mut self.environment
            && let (Some(cache), Some(path)) = (&environment.cache, environment.stored.take())
        {
            cache.tidy(&path);
        }
    }
}

impl Environment {
    fn new(config: &Config, given_up: &Arc<AtomicBool>) -> Environment {
        scratch::sweep(&config.scratch);
        let compiler = Compiler::find(config, given_up);
        let salt = match &compiler {
            Ok(compiler) => compiler.identity(),
            Err(_) => String::new(),
        };
        let cache = config
            .cache
            .as_ref()
            .and_then(|folder| Cache::open(folder, "so", config.cache_bytes).ok());
        Environment { compiler, cache, salt, libraries: BTreeMap::new(), stored: None }
    }

    /// What tells functions apart: their text, all that it is compiled with, and by what.
    fn key(&self, function: &LaneFunction) -> Digest {
        text_hash(&[&function.text, &function.functions.definitions(), &prelude(), &self.salt])
    }

    fn on_disk(&mut self, key: &Digest) -> Option<Function> {
        let path = self.cache.as_ref()?.find(key)?;
        let library = self.library(&path).ok()?;
        library.function(&name(key)).ok()
    }

    fn library(&mut self, path: &Path) -> Result<Arc<Library>, String> {
        if let Some(library) = self.libraries.get(path) {
            return Ok(Arc::clone(library));
        }
        let library = Arc::new(Library::load(path)?);
        self.libraries.insert(path.to_owned(), Arc::clone(&library));
        Ok(library)
    }

    /// Compiles functions in one file.
    fn compile(&mut self, missing: &[Missing]) -> Result<Vec<Option<Function>>, Failure> {
        let source = source(missing.iter().map(|missing| (&missing.function, name(&missing.key))));
        let compiler = self.compiler.as_ref().map_err(Clone::clone)?;
        let object = compiler.compile(&source.whole())?;
        let keys: Vec<Digest> = missing.iter().map(|missing| missing.key.clone()).collect();
        // A cache that cannot be written is no reason not to run what has been compiled; nor is another
        // process that takes the object away at once.
        let stored = self.cache.as_ref().and_then(|cache| cache.store(&keys, object.bytes()).ok());
        self.stored.clone_from(&stored);
        let library = match stored.and_then(|path| self.library(&path).ok()) {
            Some(library) => library,
            None => Arc::new(Library::load(object.path()).map_err(Failure::Lasting)?),
        };
        Ok(missing.iter().map(|missing| library.function(&name(&missing.key)).ok()).collect())
    }
}

/// The name of a function.
fn name(key: &Digest) -> String {
    format!("weft_{}", key.short())
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::PermissionsExt;
    use std::sync::Arc;
    use std::sync::atomic::AtomicBool;
    use std::thread;
    use std::time::Duration;

    use weft_codegen::{Functions, LaneFunction};

    use super::Service;
    use crate::native::Config;

    #[test]
    fn of_the_loops_that_wait_the_last_one_is_compiled_first() {
        let folder = tempfile::tempdir().expect("a folder");
        let at = |name: &str| folder.path().join(name);
        // It writes down what it is asked for, and takes until somebody says so.
        let text = format!(
            "#!/bin/sh
if [ \"$1\" = --version ]; then echo slow 1.0; exit; fi
for argument in \"$@\"; do
  case $argument in *.c) grep -o 'return 13[0-9]*' $argument >> {}; esac
done
while [ ! -e {} ]; do sleep 0.02; done
exit 1
",
            at("asked").display(),
            at("go").display()
        );
        fs::write(at("compiler"), text).expect("writable");
        fs::set_permissions(at("compiler"), fs::Permissions::from_mode(0o700)).expect("mine");
        let config = Config {
            compilers: vec![at("compiler").display().to_string()],
            cache: None,
            ..Config::of_environment()
        };
        let service = Arc::new(Service::new(config));
        let request = |number: u32| {
            let text = format!(
                "u32 KERNEL(const struct serial *const all) {{ (void)all; return {number}; }}\n"
            );
            let (functions, sites) = (Functions::default(), Vec::new());
            service.request_loop(LaneFunction { text, functions, sites })
        };
        let asked = || fs::read_to_string(at("asked")).unwrap_or_default();
        let first = request(1301);
        for _ in 0..3000 {
            if asked().contains("1301") {
                break;
            }
            thread::sleep(Duration::from_millis(10));
        }
        let waiting = [request(1303), request(1307)];
        fs::write(at("go"), "").expect("a file");
        let cancel = AtomicBool::new(false);
        service.wait(&first, &cancel);
        waiting.iter().for_each(|ticket| service.wait(ticket, &cancel));
        assert_eq!(asked(), "return 1301\nreturn 1307\nreturn 1303\n");
        service.close();
    }
}
