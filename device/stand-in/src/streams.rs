//! Streams: what is queued in them, and in which order one thread does it.
//!
//! Note [The worst order]. Streams and events allow many orders, and a device takes whichever it likes. This one takes
//! one in which a missing wait shows: nothing is done before somebody asks for the end of something, so that all streams
//! are full; then the first stream goes on as far as events allow, then the next one, and whenever what an earlier one
//! waits for is done, that goes on again. Or the last stream comes first (`weft_stand_in_order`). So of any two pieces
//! of work in different streams, one of the two orders takes that first which came second, unless an event forbids it.

use std::collections::VecDeque;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use weft_emulator::{Device, Error};

use crate::faults;

/// Something to do on the device.
pub(crate) type Job = Box<dyn FnOnce(&mut Device) -> Result<(), Error> + Send>;

/// An event: the places in streams at which it was recorded, one after the other.
#[derive(Debug, Default)]
pub(crate) struct Mark(Mutex<Records>);

#[derive(Debug, Default)]
struct Records {
    /// How often it was recorded.
    asked_for: u64,
    /// Which of these the device has passed last, and when.
    passed: Option<(u64, Instant)>,
}

impl Mark {
    /// It is recorded once more: the number of that.
    pub(crate) fn record(&self) -> u64 {
        let mut records = lock(&self.0);
        records.asked_for += 1;
        records.asked_for
    }

    pub(crate) fn pass(&self, number: u64) {
        let mut records = lock(&self.0);
        if records.passed.is_none_or(|(passed, _)| passed < number) {
            records.passed = Some((number, Instant::now()));
        }
    }

    pub(crate) fn is_behind(&self, number: u64) -> bool {
        lock(&self.0).passed.is_some_and(|(passed, _)| passed >= number)
    }

    /// How often it was recorded.
    pub(crate) fn number(&self) -> u64 {
        lock(&self.0).asked_for
    }

    /// Whether all records have been passed.
    pub(crate) fn has_passed(&self) -> bool {
        self.number() == 0 || self.is_behind(self.number())
    }

    /// When the device passed the last record.
    pub(crate) fn time(&self) -> Option<Instant> {
        let records = lock(&self.0);
        records.passed.filter(|(number, _)| *number == records.asked_for).map(|(_, time)| time)
    }
}

/// A piece of a stream.
enum Step {
    Do {
        job: Job,
        /// Whether it may take long.
        is_kernel: bool,
    },
    Record(Arc<Mark>, u64),
    Wait(Arc<Mark>, u64),
}

/// The streams of a context.
#[derive(Default)]
pub(crate) struct Streams {
    queues: Mutex<Queues>,
    changed: Condvar,
}

#[derive(Default)]
struct Queues {
    streams: Vec<VecDeque<Step>>,
    /// What is done before all else, in no stream.
    urgent: VecDeque<Job>,
    /// The stream of what is done now, and whether that is a kernel.
    running: Option<(usize, bool)>,
    /// Whether somebody waits for something.
    is_asked: bool,
    is_closed: bool,
}

impl Queues {
    fn queue(&mut self, stream: usize) -> &mut VecDeque<Step> {
        if self.streams.len() <= stream {
            self.streams.resize_with(stream + 1, VecDeque::new);
        }
        &mut self.streams[stream]
    }

    fn is_idle(&self, stream: usize) -> bool {
        let is_empty = self.streams.get(stream).is_none_or(VecDeque::is_empty);
        is_empty && self.running.is_none_or(|(running, _)| running != stream)
    }

    fn has_kernels(&self) -> bool {
        let is_kernel = |step: &Step| matches!(step, Step::Do { is_kernel: true, .. });
        self.running.is_some_and(|(_, is_kernel)| is_kernel)
            || self.streams.iter().flatten().any(is_kernel)
    }

    /// The stream that goes on (Note [The worst order]).
    fn next(&self) -> Option<usize> {
        let goes_on = |stream: &usize| match self.streams[*stream].front() {
            Some(Step::Wait(mark, number)) => mark.is_behind(*number),
            Some(Step::Do { .. } | Step::Record(..)) => true,
            None => false,
        };
        let mut all = 0..self.streams.len();
        match faults::is_last_first() {
            true => all.rev().find(goes_on),
            false => all.find(goes_on),
        }
    }
}

impl Streams {
    fn push(&self, stream: usize, step: Step) {
        lock(&self.queues).queue(stream).push_back(step);
        self.changed.notify_all();
    }

    /// Does something behind all that is queued in a stream.
    pub(crate) fn queue(&self, stream: usize, job: Job, is_kernel: bool) {
        self.push(stream, Step::Do { job, is_kernel });
    }

    /// Does something at once, whatever is queued.
    pub(crate) fn do_now(&self, job: Job) {
        lock(&self.queues).urgent.push_back(job);
        self.changed.notify_all();
    }

    /// Records an event in a stream.
    pub(crate) fn record(&self, stream: usize, mark: &Arc<Mark>) {
        let number = mark.record();
        self.push(stream, Step::Record(Arc::clone(mark), number));
    }

    /// What is queued in a stream from now on waits for what an event has recorded last.
    pub(crate) fn wait(&self, stream: usize, mark: &Arc<Mark>) {
        let number = mark.number();
        if number > 0 {
            self.push(stream, Step::Wait(Arc::clone(mark), number));
        }
    }

    /// Somebody waits for something: the device begins.
    pub(crate) fn ask(&self) {
        lock(&self.queues).is_asked = true;
        self.changed.notify_all();
    }

    /// Nobody waits any more.
    pub(crate) fn rest(&self) {
        lock(&self.queues).is_asked = false;
        self.changed.notify_all();
    }

    /// Asks whether all of a stream is done. What takes no time is waited for.
    pub(crate) fn is_idle(&self, stream: usize) -> bool {
        self.look(|queues| queues.is_idle(stream))
    }

    /// Asks whether an event has been passed.
    pub(crate) fn has_passed(&self, mark: &Mark) -> bool {
        self.look(|_| mark.has_passed())
    }

    fn look(&self, is_done: impl Fn(&Queues) -> bool) -> bool {
        let mut queues = lock(&self.queues);
        while !is_done(&queues) {
            queues.is_asked = true;
            self.changed.notify_all();
            if queues.has_kernels() {
                return false;
            }
            queues = self.changed.wait(queues).unwrap_or_else(PoisonError::into_inner);
        }
        queues.is_asked = false;
        true
    }

    /// Waits until nothing is queued any more.
    pub(crate) fn settle(&self) {
        let mut queues = lock(&self.queues);
        while queues.running.is_some() || queues.streams.iter().any(|stream| !stream.is_empty()) {
            queues.is_asked = true;
            self.changed.notify_all();
            queues = self.changed.wait(queues).unwrap_or_else(PoisonError::into_inner);
        }
        queues.is_asked = false;
    }

    /// Somebody else has passed an event.
    pub(crate) fn notify(&self) {
        // Whoever has looked already waits, or has not looked yet.
        let _queues = lock(&self.queues);
        self.changed.notify_all();
    }

    /// Whether nobody asks for anything any more.
    pub(crate) fn is_closed(&self) -> bool {
        lock(&self.queues).is_closed
    }

    /// Nobody asks for anything any more.
    pub(crate) fn close(&self) {
        lock(&self.queues).is_closed = true;
        self.changed.notify_all();
    }

    /// Does what is queued until nobody asks for anything any more; `perform` does the jobs.
    pub(crate) fn run(&self, mut perform: impl FnMut(Job)) {
        let mut queues = lock(&self.queues);
        loop {
            if let Some(job) = queues.urgent.pop_front() {
                drop(queues);
                perform(job);
                queues = lock(&self.queues);
                continue;
            }
            let next = if queues.is_asked { queues.next() } else { None };
            let Some(stream) = next else {
                if queues.is_closed {
                    return;
                }
                queues = self.changed.wait(queues).unwrap_or_else(PoisonError::into_inner);
                continue;
            };
            match queues.streams[stream].pop_front() {
                Some(Step::Do { job, is_kernel }) => {
                    queues.running = Some((stream, is_kernel));
                    drop(queues);
                    perform(job);
                    queues = lock(&self.queues);
                    queues.running = None;
                }
                Some(Step::Record(mark, number)) => mark.pass(number),
                Some(Step::Wait(..)) | None => {}
            }
            self.changed.notify_all();
        }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use std::sync::{Arc, Mutex};
    use std::thread;

    use super::{Mark, Streams};
    use crate::faults;

    /// The numbers of jobs in the order in which they are done: one each in the streams 0, 1 and 2, and one more in
    /// stream 0 behind that of the stream 2.
    fn order() -> Vec<u32> {
        let (streams, done) = (Arc::new(Streams::default()), Arc::new(Mutex::new(Vec::new())));
        let note = |stream: usize, number: u32| {
            let done = Arc::clone(&done);
            let job = move |_: &mut weft_emulator::Device| {
                done.lock().expect("a list").push(number);
                Ok(())
            };
            streams.queue(stream, Box::new(job), true);
        };
        (0..3).for_each(|stream| note(stream, stream as u32));
        let mark = Arc::new(Mark::default());
        streams.record(2, &mark);
        streams.wait(0, &mark);
        note(0, 3);
        let Some(emulator) = crate::kernels::emulator() else { return Vec::new() };
        let mut device = weft_emulator::Device::new(emulator).expect("a device");
        let running = Arc::clone(&streams);
        let thread = thread::spawn(move || {
            running.run(|job| job(&mut device).expect("nothing fails"));
        });
        streams.ask();
        while !streams.is_idle(0) || !streams.is_idle(1) {
            thread::yield_now();
        }
        streams.close();
        thread.join().expect("a thread");
        done.lock().expect("a list").clone()
    }

    #[test]
    fn streams_run_in_either_order_and_wait_for_events() {
        let first = order();
        faults::set_last_first(true);
        let last = order();
        faults::set_last_first(false);
        if !first.is_empty() {
            assert_eq!((first, last), (vec![0, 1, 2, 3], vec![2, 1, 0, 3]));
        }
    }
}
