//! The second stream: it takes only copies of four bytes, which come while kernels run.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use weft_emulator::{Address, Poker};

use crate::streams::{Mark, Streams};
use crate::work;

/// A piece of it.
#[derive(Debug)]
pub(crate) enum Step {
    /// Waits until an event has been passed so often.
    Wait(Arc<Mark>, u64),
    /// Changes four bytes.
    Poke(u64, u32),
    /// Passes an event.
    Record(Arc<Mark>, u64),
}

/// What is queued in it.
#[derive(Debug, Default)]
pub(crate) struct Aside(Mutex<Queue>);

#[derive(Debug, Default)]
struct Queue {
    steps: VecDeque<Step>,
    /// Whether a thread does what has to wait.
    has_thread: bool,
}

impl Aside {
    /// Does a step as soon as all before it are done: at once, if they are.
    pub(crate) fn queue(self: &Arc<Aside>, step: Step, poker: &Poker, streams: &Arc<Streams>) {
        let mut queue = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        queue.steps.push_back(step);
        if queue.has_thread || queue.is_done(poker, streams) {
            return;
        }
        queue.has_thread = true;
        let (aside, poker, streams) = (Arc::clone(self), poker.clone(), Arc::clone(streams));
        thread::spawn(move || {
            while !streams.is_closed() {
                // A device goes on, whether somebody asks it or not.
                streams.ask();
                thread::sleep(Duration::from_micros(200));
                let mut queue = aside.0.lock().unwrap_or_else(PoisonError::into_inner);
                if queue.is_done(&poker, &streams) {
                    queue.has_thread = false;
                    return;
                }
            }
        });
    }
}

impl Queue {
    /// Goes on as far as it can; whether that is to the end.
    fn is_done(&mut self, poker: &Poker, streams: &Streams) -> bool {
        while let Some(step) = self.steps.pop_front() {
            match step {
                Step::Wait(mark, number) if !mark.is_behind(number) => {
                    self.steps.push_front(Step::Wait(mark, number));
                    return false;
                }
                Step::Wait(..) => {}
                Step::Poke(address, value) => {
                    work::poked();
                    poker.poke(Address(address), value);
                }
                Step::Record(mark, number) => {
                    mark.pass(number);
                    streams.notify();
                }
            }
        }
        true
    }
}
