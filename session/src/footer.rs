//! What a cell has cost, and how far it has come: plain data that front ends put under a result.

use std::time::Duration;

/// A part of the work on a cell, in the order in which they come.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Phase {
    /// Text to items.
    Parse,
    /// Types, loading of files included.
    Type,
    /// To the intermediate languages, up to flat code.
    Lower,
    /// Fusion and placement.
    Fuse,
    /// Code generation, and the compiler behind it.
    Compile,
    /// Copying to a device.
    Transfer,
    /// The run itself.
    Run,
    /// Copying back what is shown.
    Fetch,
}

impl Phase {
    /// How people call it.
    pub fn name(self) -> &'static str {
        match self {
            Phase::Parse => "parse",
            Phase::Type => "type",
            Phase::Lower => "lower",
            Phase::Fuse => "fuse",
            Phase::Compile => "compile",
            Phase::Transfer => "transfer",
            Phase::Run => "run",
            Phase::Fetch => "fetch",
        }
    }
}

/// What a cell has cost.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Footer {
    /// The time of each phase that took place, a phase at most once, in order.
    pub phases: Vec<(Phase, Duration)>,
    /// Kernels that were compiled before.
    pub cache_hits: u64,
    /// Kernels that had to be compiled.
    pub cache_misses: u64,
    /// Bytes that kernels read and wrote, and bytes copied between host and device.
    pub bytes_moved: u64,
    /// Whether a person at a prompt is to see it: `:set footer`.
    pub wanted: bool,
}

impl Footer {
    /// Adds time to a phase.
    pub fn add(&mut self, phase: Phase, time: Duration) {
        match self.phases.binary_search_by_key(&phase, |(known, _)| *known) {
            Ok(position) => self.phases[position].1 += time,
            Err(position) => self.phases.insert(position, (phase, time)),
        }
    }

    /// Adds all that another one counts.
    pub fn merge(&mut self, other: &Footer) {
        other.phases.iter().for_each(|(phase, time)| self.add(*phase, *time));
        self.cache_hits += other.cache_hits;
        self.cache_misses += other.cache_misses;
        self.bytes_moved += other.bytes_moved;
    }

    /// Whether a cell that took that long shows it, where nobody has decided.
    pub(crate) fn is_long(&self) -> bool {
        const LONG: Duration = Duration::from_millis(200);
        self.total() >= LONG
    }

    /// The time of all phases together.
    pub fn total(&self) -> Duration {
        self.phases.iter().map(|(_, time)| *time).sum()
    }

    /// All of it on one line: `parse 10.5 µs · type 20.2 µs · run 1.79 ms · cache 2/3 · moved 4MB at
    /// 2.3 GB/s`.
    pub fn line(&self) -> String {
        self.parts().join(SEPARATOR)
    }

    /// The same in lines of at most that many characters, if none of its parts is longer.
    pub fn lines(&self, width: usize) -> String {
        let mut text = String::new();
        let mut room = width;
        for part in self.parts() {
            let needed = SEPARATOR.chars().count() + part.chars().count();
            if text.is_empty() {
                room = width.saturating_sub(part.chars().count());
            } else if needed <= room {
                text.push_str(SEPARATOR);
                room -= needed;
            } else {
                text.push('\n');
                room = width.saturating_sub(part.chars().count());
            }
            text.push_str(&part);
        }
        text
    }

    fn parts(&self) -> Vec<String> {
        let mut parts: Vec<String> = self
            .phases
            .iter()
            .map(|(phase, time)| format!("{} {}", phase.name(), time_text(*time)))
            .collect();
        let kernels = self.cache_hits + self.cache_misses;
        if kernels > 0 {
            parts.push(format!("cache {}/{kernels}", self.cache_hits));
        }
        if self.bytes_moved > 0 {
            let moved = crate::modes::size_text(self.bytes_moved);
            let rate = self.rate().map_or_else(String::new, |rate| format!(" at {rate:.1} GB/s"));
            parts.push(format!("moved {moved}{rate}"));
        }
        parts
    }

    /// Billions of bytes a second, if enough were moved to tell.
    fn rate(&self) -> Option<f64> {
        const ENOUGH: u64 = 1 << 20;
        let run = self.phases.iter().find(|(phase, _)| *phase == Phase::Run)?.1;
        let is_known = self.bytes_moved >= ENOUGH && !run.is_zero();
        is_known.then(|| self.bytes_moved as f64 / run.as_secs_f64() / 1e9)
    }
}

/// What stands between the parts of a footer.
const SEPARATOR: &str = " · ";

/// How far a piece of work of known size has come.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Progress {
    /// What is being done: `evaluating In[7]:2`.
    pub activity: String,
    /// How much is done, in units of the work.
    pub done: u64,
    /// How much there is to do.
    pub total: u64,
}

impl Progress {
    /// The part that is done, 0 to 1.
    pub fn fraction(&self) -> f64 {
        if self.total == 0 { 1.0 } else { (self.done as f64 / self.total as f64).min(1.0) }
    }
}

/// `1.25 ms`: three digits in a unit that suits.
pub(crate) fn time_text(time: Duration) -> String {
    let seconds = time.as_secs_f64();
    let (value, unit) = match seconds {
        s if s >= 1.0 => (s, "s"),
        s if s >= 1e-3 => (s * 1e3, "ms"),
        s => (s * 1e6, "µs"),
    };
    let digits = if value >= 100.0 {
        0
    } else if value >= 10.0 {
        1
    } else {
        2
    };
    format!("{value:.digits$} {unit}")
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::{Footer, Phase};

    #[test]
    fn a_footer_is_one_line_in_order() {
        let mut footer = Footer::default();
        footer.add(Phase::Run, Duration::from_micros(1500));
        footer.add(Phase::Parse, Duration::from_micros(12));
        footer.add(Phase::Run, Duration::from_micros(290));
        assert_eq!(footer.line(), "parse 12.0 µs · run 1.79 ms");
        let more =
            Footer { cache_hits: 2, cache_misses: 1, bytes_moved: 4_000_000, ..footer.clone() };
        footer.merge(&more);
        assert_eq!(
            footer.line(),
            "parse 24.0 µs · run 3.58 ms · cache 2/3 · moved 4MB at 1.1 GB/s"
        );
        assert_eq!(
            footer.lines(39),
            "parse 24.0 µs · run 3.58 ms · cache 2/3\nmoved 4MB at 1.1 GB/s"
        );
        assert_eq!(footer.lines(1).lines().count(), 4);
        assert_eq!(Footer::default().lines(79), "");
    }
}
