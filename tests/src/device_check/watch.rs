//! An end for what does not end: a kernel that waits for ever can be neither interrupted nor waited for.

use std::io::{self, Write};
use std::process::{self, Command};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::thread;
use std::time::{Duration, Instant};

/// The exit code of a program that was stuck.
const STUCK: i32 = 3;

/// What is being done, and since when.
#[derive(Debug)]
struct Doing {
    name: String,
    /// What comes behind it in a list that `--from` may begin with.
    next: Option<String>,
    begun: Instant,
}

/// Ends the process, with a line that says what it was doing, if one thing takes longer than the limit.
#[derive(Debug)]
pub(super) struct Watch {
    doing: Arc<Mutex<Option<Doing>>>,
}

impl Watch {
    pub(super) fn new(limit: Duration) -> Watch {
        let doing = Arc::new(Mutex::new(None));
        let looks = Arc::downgrade(&doing);
        thread::spawn(move || {
            while let Some(line) = look(&looks, limit) {
                if let Some(line) = line {
                    // It ends anyway.
                    let _ = writeln!(io::stdout(), "{line}").and_then(|()| io::stdout().flush());
                    end();
                }
                thread::sleep(Duration::from_millis(200));
            }
        });
        Watch { doing }
    }

    /// What is done from now on, and what comes next.
    pub(super) fn on(&self, name: String, next: Option<String>) {
        *lock(&self.doing) = Some(Doing { name, next, begun: Instant::now() });
    }
}

/// How another process goes on behind something.
pub(super) fn goes_on(next: Option<&str>) -> String {
    match next {
        Some(next) => format!("another process goes on behind it with `--from \"{next}\"`"),
        None => "it was the last of its step".to_owned(),
    }
}

/// Ends the process and tells nobody: what the driver wants to do when a program exits might wait for the call that is
/// stuck. So another program takes the place of this one, and exits with its code.
fn end() -> ! {
    let mut other = Command::new("/bin/sh");
    other.arg("-c").arg(format!("exit {STUCK}"));
    #[cfg(unix)]
    {
        use std::os::unix::process::CommandExt;

        // It only returns where there is no such program.
        drop(other.exec());
    }
    process::abort();
}

/// The line about what takes too long, if the watch is still there.
fn look(doing: &Weak<Mutex<Option<Doing>>>, limit: Duration) -> Option<Option<String>> {
    let doing = doing.upgrade()?;
    let doing = lock(&doing);
    let late = doing.as_ref().filter(|doing| doing.begun.elapsed() > limit);
    Some(late.map(|Doing { name, next, .. }| {
        let (limit, goes_on) = (limit.as_secs(), goes_on(next.as_deref()));
        format!("{name} is not done after {limit} s: the program ends here; {goes_on}")
    }))
}

fn lock(doing: &Mutex<Option<Doing>>) -> MutexGuard<'_, Option<Doing>> {
    doing.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::time::Duration;
    use std::{env, thread};

    use super::{Watch, look};

    #[test]
    fn what_takes_too_long_is_named_while_the_watch_is_there() {
        let watch = Watch::new(Duration::from_secs(1000));
        let doing = Arc::downgrade(&watch.doing);
        assert_eq!(look(&doing, Duration::ZERO), Some(None));
        watch.on("scan".to_owned(), Some("prefix sum".to_owned()));
        assert_eq!(look(&doing, Duration::from_secs(1000)), Some(None));
        let line = look(&doing, Duration::ZERO).flatten().expect("it takes too long");
        assert!(line.starts_with("scan is not done after 0 s"), "{line}");
        assert!(line.ends_with("`--from \"prefix sum\"`"), "{line}");
        drop(watch);
        assert_eq!(look(&doing, Duration::ZERO), None);
    }

    /// This test starts itself again as a program that is stuck.
    #[cfg(unix)]
    #[test]
    fn a_program_that_is_stuck_ends_with_a_code_of_its_own() {
        use std::process::Command;

        const STARTED: &str = "WEFT_STUCK";
        if env::var_os(STARTED).is_some() {
            let watch = Watch::new(Duration::ZERO);
            watch.on("sort".to_owned(), None);
            thread::sleep(Duration::from_secs(100));
        }
        let (_, module) = module_path!().split_once("::").expect("a module of the crate");
        let name = format!("{module}::a_program_that_is_stuck_ends_with_a_code_of_its_own");
        let output = Command::new(env::current_exe().expect("this program"))
            .args(["--exact", &name, "--nocapture"])
            .env(STARTED, "1")
            .output()
            .expect("this program");
        let said = String::from_utf8_lossy(&output.stdout).into_owned();
        assert_eq!(output.status.code(), Some(super::STUCK), "{said}");
        assert!(said.contains("sort is not done after 0 s"), "{said}");
    }
}
