//! An end for what does not end: a kernel that waits for ever can be neither interrupted nor waited for.

use std::io::{self, Write};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::{Duration, Instant};
use std::{process, thread};

/// The exit code of a program that was stuck.
const STUCK: i32 = 3;

/// What is being done, and since when.
#[derive(Debug)]
struct Doing {
    name: String,
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
            while let Some(name) = look(&looks, limit) {
                if let Some(name) = name {
                    let line = format!(
                        "{name} is not done after {} s: the program ends here",
                        limit.as_secs()
                    );
                    // It ends anyway.
                    let _ = writeln!(io::stdout(), "{line}");
                    process::exit(STUCK);
                }
                thread::sleep(Duration::from_millis(200));
            }
        });
        Watch { doing }
    }

    /// What is done from now on.
    pub(super) fn on(&self, name: String) {
        *lock(&self.doing) = Some(Doing { name, begun: Instant::now() });
    }
}

/// What takes too long, if the watch is still there.
fn look(doing: &Weak<Mutex<Option<Doing>>>, limit: Duration) -> Option<Option<String>> {
    let doing = doing.upgrade()?;
    let doing = lock(&doing);
    Some(
        doing
            .as_ref()
            .filter(|doing| doing.begun.elapsed() > limit)
            .map(|doing| doing.name.clone()),
    )
}

fn lock(doing: &Mutex<Option<Doing>>) -> MutexGuard<'_, Option<Doing>> {
    doing.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::time::Duration;

    use super::{Watch, look};

    #[test]
    fn what_takes_too_long_is_named_while_the_watch_is_there() {
        let watch = Watch::new(Duration::from_secs(1000));
        let doing = Arc::downgrade(&watch.doing);
        assert_eq!(look(&doing, Duration::ZERO), Some(None));
        watch.on("scan".to_owned());
        assert_eq!(look(&doing, Duration::from_secs(1000)), Some(None));
        assert_eq!(look(&doing, Duration::ZERO), Some(Some("scan".to_owned())));
        drop(watch);
        assert_eq!(look(&doing, Duration::ZERO), None);
    }
}
