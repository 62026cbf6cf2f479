//! Tells how far long work of a known size has come, while it goes on.

use std::sync::mpsc::{RecvTimeoutError, channel};
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use weft_ir::Reading;

use crate::footer::Progress;
use crate::sink::{Cancel, Event, Sink};

/// How often is looked.
const PAUSE: Duration = Duration::from_millis(100);
/// How many looks have to find the same piece of work before it is worth a word: what takes less than
/// 0.3 seconds is not.
const LOOKS: u32 = 4;

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
            let mut watch = Watch::default();
            while wait.recv_timeout(PAUSE) == Err(RecvTimeoutError::Timeout) {
                let activity = cancel.activity();
                if let Some(news) = watch.look(&activity, cancel.meter().read()) {
                    let activity = watch.part_of(activity);
                    let progress = news.map(|(done, total)| Progress { activity, done, total });
                    Shared(shared).event(Event::Progress(progress));
                }
            }
        });
        let result = work(&mut Shared(shared));
        drop(done);
        result
    })
}

/// What was seen so far.
#[derive(Debug, Default)]
struct Watch {
    last: Option<Reading>,
    /// How many looks have found the piece of work at hand.
    looks: u32,
    /// Whether the last word was how far something has come, and not that it has ended.
    is_told: bool,
    /// What is going on, and how many pieces of that were told of: the next one is another part of it.
    activity: String,
    parts: u32,
}

impl Watch {
    /// What there is to tell: how much of a long piece of work is done, of how much, or that it has
    /// ended.
    fn look(&mut self, activity: &str, reading: Option<Reading>) -> Option<Option<(u64, u64)>> {
        if self.activity != activity {
            (self.activity, self.parts) = (activity.to_owned(), 0);
        }
        let piece = |reading: Option<Reading>| reading.map(|reading| reading.piece);
        let is_same = piece(reading) == piece(self.last);
        self.looks = if is_same { self.looks.saturating_add(1) } else { 1 };
        let last = std::mem::replace(&mut self.last, reading);
        match reading {
            Some(Reading { done, total, .. }) if self.looks >= LOOKS => {
                let is_news = last != reading || !self.is_told;
                self.parts += u32::from(!self.is_told);
                self.is_told = true;
                is_news.then_some(Some((done, total)))
            }
            _ => std::mem::take(&mut self.is_told).then_some(None),
        }
    }

    /// What is going on, so that nobody takes a piece that begins for one that goes back.
    fn part_of(&self, activity: String) -> String {
        match self.parts {
            0 | 1 => activity,
            part => format!("{activity}, part {part}"),
        }
    }
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
    use weft_ir::Reading;

    use super::{Cancel, Event, Watch, watched};
    use crate::sink::Collected;
    use std::thread::sleep;
    use std::time::Duration;

    fn told(events: &[Event]) -> Vec<String> {
        let text = |event: &Event| match event {
            Event::Progress(Some(progress)) => format!("{} {}", progress.activity, progress.done),
            Event::Progress(None) => "over".to_owned(),
            other => format!("{other:?}"),
        };
        events.iter().map(text).collect()
    }

    #[test]
    fn long_work_is_told_of_and_short_work_is_not() {
        let mut sink = Collected::default();
        let cancel = Cancel::new();
        cancel.set_activity("working".to_owned());
        watched(&mut sink, &cancel, |_| {
            let piece = cancel.meter().begin(4).unwrap();
            piece.set(1);
        });
        assert_eq!(told(&sink.events), Vec::<String>::new());
        watched(&mut sink, &cancel, |sink| {
            let piece = cancel.meter().begin(4).unwrap();
            piece.set(1);
            sleep(Duration::from_millis(700));
            piece.set(3);
            sleep(Duration::from_millis(400));
            drop(piece);
            sleep(Duration::from_millis(400));
            sink.event(Event::Text("done".to_owned()));
        });
        let expected = ["working 1", "working 3", "over", "Text(\"done\")"];
        assert_eq!(told(&sink.events), expected);
        sink.events.clear();
        watched(&mut sink, &cancel, |_| {
            for done in [3, 1] {
                let piece = cancel.meter().begin(4).unwrap();
                piece.set(done);
                sleep(Duration::from_millis(700));
                drop(piece);
                sleep(Duration::from_millis(300));
            }
        });
        assert_eq!(told(&sink.events), ["working 3", "over", "working, part 2 1", "over"]);
    }

    #[test]
    fn many_short_pieces_are_not_told_of() {
        let mut watch = Watch::default();
        let at = |piece, done| Some(Reading { piece, done, total: 10 });
        for piece in 0..20 {
            assert_eq!(watch.look("", at(piece, 1)), None);
            assert_eq!(watch.look("", at(piece, 5)), None);
            assert_eq!(watch.look("", None), None);
        }
        for done in 0..3 {
            assert_eq!(watch.look("", at(99, done)), None);
        }
        assert_eq!(watch.look("", at(99, 3)), Some(Some((3, 10))));
        assert_eq!(watch.look("", at(99, 3)), None);
        assert_eq!(watch.look("", at(100, 0)), Some(None));
        assert_eq!(watch.look("", at(100, 0)), None);
    }
}
