//! How long all of it may take: a machine with a device is often lent for minutes.

use std::time::{Duration, Instant};

use super::Step;

/// How long the program may take, and since when. What would begin later is skipped, and counted. What has begun goes on
/// to its end.
#[derive(Clone, Copy, Debug)]
pub struct Schedule {
    begun: Instant,
    whole: Option<Duration>,
}

impl Schedule {
    /// As long as it takes.
    pub fn unlimited() -> Schedule {
        Schedule { begun: Instant::now(), whole: None }
    }

    /// So many seconds from now on.
    pub fn seconds(seconds: u64) -> Schedule {
        Schedule { whole: Some(Duration::from_secs(seconds)), ..Schedule::unlimited() }
    }

    /// How much time is left until this part of a step should be done, if the steps share what there is; nothing if
    /// there is no limit. A step that needs less than its share leaves it to those behind it.
    pub(super) fn left(&self, step: Step, part: f64, steps: &[Step]) -> Option<Duration> {
        let whole = self.whole?;
        let sum = |all: &mut dyn Iterator<Item = &Step>| all.map(|step| share(*step)).sum::<f64>();
        let before = sum(&mut steps.iter().filter(|other| **other < step));
        let all = sum(&mut steps.iter()).max(share(step));
        let end = whole.mul_f64((before + part * share(step)) / all);
        Some(end.saturating_sub(self.begun.elapsed()))
    }
}

/// What a step takes of the time, as parts of 100: first whether kernels are right, then what was to be reached.
fn share(step: Step) -> f64 {
    match step {
        Step::Golden => 35.0,
        Step::Pages | Step::Examples => 10.0,
        Step::Programs => 35.0,
        Step::Loops | Step::Compile => 5.0,
    }
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, Instant};

    use super::{Schedule, Step};

    #[test]
    fn steps_share_the_time_that_there_is() {
        let schedule = Schedule::seconds(1000);
        let all = Step::ALL.map(|(_, step)| step);
        let left = |step, part, steps: &[Step]| {
            let left = schedule.left(step, part, steps).expect("there is a limit");
            (left.as_secs_f64() / 10.0).round()
        };
        assert_eq!(left(Step::Golden, 1.0, &all), 35.0);
        assert_eq!(left(Step::Programs, 0.6, &all), 76.0);
        assert_eq!(left(Step::Compile, 1.0, &all), 100.0);
        // Alone it has all of it.
        assert_eq!(left(Step::Pages, 1.0, &[Step::Pages]), 100.0);
        assert_eq!(left(Step::Loops, 1.0, &[Step::Loops, Step::Compile]), 50.0);
    }

    #[test]
    fn what_is_over_is_over() {
        let begun = Instant::now().checked_sub(Duration::from_secs(50)).expect("a clock that ran");
        let schedule = Schedule { begun, whole: Some(Duration::from_secs(100)) };
        let all = Step::ALL.map(|(_, step)| step);
        assert_eq!(schedule.left(Step::Golden, 1.0, &all), Some(Duration::ZERO));
        assert!(schedule.left(Step::Programs, 1.0, &all) > Some(Duration::from_secs(30)));
        assert_eq!(Schedule::unlimited().left(Step::Golden, 1.0, &all), None);
    }
}
