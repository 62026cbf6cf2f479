//! Tells how far long work of a known size has come, while it goes on.

use std::sync::mpsc::{RecvTimeoutError, channel};
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use crate::footer::Progress;
use crate::sink::{Cancel, Event, Sink};

/// Work that takes less is not worth a word.
const FIRST: Duration = Duration::from_millis(300);
/// How often it is told from then on.
const AGAIN: Duration = Duration::from_millis(100);

/// Does some work, and meanwhile tells the sink how far it has come, where that is known.
pub(crate) fn watched<T>(
    sink: &mut dyn Sink,
    cancel: &Cancel,
    work: impl FnOnce(&mut dyn Sink) -> T,
) -> T {
    let shared = Mutex::new(sink);
    let (done, wait) = channel::<()>();
    thread::scope(|scope| {
        let (shared, cancel) = (&shared, cancel);
        // Without a thread for it nothing is told.
        let watcher = thread::Builder::new().name("weft-progress".to_owned());
        let _ = watcher.spawn_scoped(scope, move || {
            let mut last = None;
            let mut pause = FIRST;
            while wait.recv_timeout(pause) == Err(RecvTimeoutError::Timeout) {
                pause = AGAIN;
                let progress = cancel.progress();
                if progress.is_some() && progress != last {
                    progress.clone().into_iter().for_each(|progress| tell(shared, progress));
                }
                last = progress;
            }
        });
        let result = work(&mut Shared(shared));
        drop(done);
        result
    })
}

fn tell(shared: &Mutex<&mut dyn Sink>, progress: Progress) {
    Shared(shared).event(Event::Progress(progress));
}

/// A sink for two threads.
struct Shared<'a, 'b>(&'a Mutex<&'b mut dyn Sink>);

impl Sink for Shared<'_, '_> {
    fn event(&mut self, event: Event) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).event(event);
    }
}

#[cfg(test)]
mod tests {
    use super::{Cancel, Event, watched};
    use crate::sink::Collected;
    use std::thread::sleep;
    use std::time::Duration;

    #[test]
    fn long_work_is_told_of_and_short_work_is_not() {
        let mut sink = Collected::default();
        let cancel = Cancel::new();
        cancel.set_activity("working".to_owned());
        watched(&mut sink, &cancel, |_| cancel.set_progress(1, 4));
        assert!(sink.events.is_empty());
        watched(&mut sink, &cancel, |sink| {
            sleep(Duration::from_millis(350));
            cancel.set_progress(3, 4);
            sleep(Duration::from_millis(250));
            sink.event(Event::Text("done".to_owned()));
        });
        let told: Vec<String> = sink
            .events
            .iter()
            .map(|event| match event {
                Event::Progress(progress) => format!("{} {}", progress.activity, progress.done),
                other => format!("{other:?}"),
            })
            .collect();
        assert_eq!(told, ["working 1", "working 3", "Text(\"done\")"]);
    }
}
