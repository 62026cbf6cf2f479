//! Axes: from numbers to places, and which numbers are written beside them.

/// From numbers to places between 0 and 1.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Scale {
    low: f64,
    high: f64,
    log: bool,
    /// Whether only whole numbers mean something.
    whole: bool,
    /// Whether the least number has the place 1.
    flipped: bool,
}

/// A number written beside an axis.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Tick {
    /// Where, from 0 to 1.
    pub(crate) place: f64,
    /// What.
    pub(crate) label: String,
}

impl Scale {
    /// A scale for numbers from `low` to `high` with margins of those parts of the range below and
    /// above. On a logarithmic one both must be positive.
    pub(crate) fn new(low: f64, high: f64, log: bool, (below, above): (f64, f64)) -> Scale {
        let (low, high) = if log { (low.log10(), high.log10()) } else { (low, high) };
        let (low, high) = if low < high {
            (low, high)
        } else {
            let half = if low == 0.0 || log { 0.5 } else { low.abs() * 0.1 };
            (low - half, high + half)
        };
        let range = high - low;
        let (low, high) = (low - range * below, high + range * above);
        Scale { low, high, log, whole: false, flipped: false }
    }

    /// A scale for the positions of `count` things side by side, each as wide as the distance to
    /// the next; `flipped` has the first at place 1.
    pub(crate) fn positions(count: usize, flipped: bool) -> Scale {
        Scale { low: -0.5, high: count as f64 - 0.5, log: false, whole: true, flipped }
    }

    /// The place of a number; `None` if it has none (NaN, infinite, or not positive on a logarithmic
    /// scale). It may lie outside 0 to 1.
    pub(crate) fn place(&self, number: f64) -> Option<f64> {
        let number = if self.log { number.log10() } else { number };
        let place = (number - self.low) / (self.high - self.low);
        place.is_finite().then_some(if self.flipped { 1.0 - place } else { place })
    }

    /// At most about `most` round numbers along the axis, in ascending order.
    pub(crate) fn ticks(&self, most: usize) -> Vec<Tick> {
        let most = most.max(2);
        if self.log && self.high - self.low >= 1.0 { self.decades(most) } else { self.round(most) }
    }

    /// Powers of ten, with 2 and 5 between them where there is room.
    fn decades(&self, most: usize) -> Vec<Tick> {
        let (first, last) = (self.low.ceil() as i32, self.high.floor() as i32);
        let count = (last - first + 1).max(1) as usize;
        let step = count.div_ceil(most).max(1);
        // All in one form: `1000` where each is short, `10³` where one would be long.
        let is_plain = first >= -4 && last <= 5;
        let factors: &[f64] = if count * 3 <= most { &[1.0, 2.0, 5.0] } else { &[1.0] };
        let mut ticks = Vec::new();
        for exponent in (first - 1..=last).filter(|e| e.rem_euclid(step as i32) == 0) {
            for factor in factors {
                let place =
                    (f64::from(exponent) + factor.log10() - self.low) / (self.high - self.low);
                if (0.0..=1.0).contains(&place) {
                    ticks.push(Tick { place, label: decade_label(*factor, exponent, is_plain) });
                }
            }
        }
        ticks
    }

    /// Multiples of 1, 2, 2.5 or 5 times a power of ten.
    fn round(&self, most: usize) -> Vec<Tick> {
        let (low, high) = if self.log {
            (10f64.powf(self.low), 10f64.powf(self.high))
        } else {
            (self.low, self.high)
        };
        let least = (high - low) / most as f64;
        let (step, last) =
            if self.whole { round_step(least.max(1.0), true) } else { round_step(least, false) };
        if !(step.is_finite() && step > 0.0) || (high - low) / step > 1000.0 {
            return Vec::new();
        }
        let largest = low.abs().max(high.abs());
        let first = (low / step).ceil();
        let count = ((high / step).floor() - first) as usize + 1;
        let numbers = (0..count).map(|index| (first + index as f64) * step);
        let ticks = numbers.filter_map(|number| {
            let place = self.place(number).filter(|place| (0.0..=1.0).contains(place))?;
            Some(Tick { place, label: label(number, step, last, largest) })
        });
        let mut ticks: Vec<Tick> = ticks.collect();
        // Between two neighbouring floats there is no third.
        ticks.dedup_by(|next, tick| next.label == tick.label);
        ticks
    }
}

/// The smallest of 1, 2, 2.5, 5 times a power of ten that is at least `least`, and whole if that is asked for; and the power of ten of
/// the last digit that its multiples need.
fn round_step(least: f64, whole: bool) -> (f64, i32) {
    let exponent = least.log10().floor();
    let power = 10f64.powf(exponent);
    let exponent = exponent as i32;
    for (factor, more) in [(1.0, 0), (2.0, 0), (2.5, 1), (5.0, 0)] {
        let fits = !whole || exponent >= more;
        if fits && factor * power >= least * (1.0 - 1e-9) {
            return (factor * power, exponent - more);
        }
    }
    (10.0 * power, exponent + 1)
}

/// A multiple of `step` with the digits that all of them need, the last of which stands for that power
/// of ten; large and small ones with a power of ten, where that is shorter.
fn label(number: f64, step: f64, last: i32, largest: f64) -> String {
    // A multiple of the step may miss zero by a rounding error.
    let number = if number.abs() < step * 1e-6 { 0.0 } else { number };
    if number == 0.0 {
        return "0".to_owned();
    }
    let decimals = usize::try_from(-last).unwrap_or(0);
    let exponent = largest.log10().floor() as i32;
    let mantissa_decimals = usize::try_from(exponent - last).unwrap_or(0);
    let power = superscript(exponent);
    if !(1e-4..1e7).contains(&largest) {
        // The digits before the point, the point and what follows it; and those of `1.5×10⁹`.
        let digits = usize::try_from(exponent).unwrap_or(0) + 1 + decimals;
        let plain = digits + usize::from(decimals > 0);
        let mantissa = 1 + mantissa_decimals + usize::from(mantissa_decimals > 0);
        if mantissa + 3 + power.chars().count() < plain {
            let mantissa = number / 10f64.powi(exponent);
            return minus(&format!("{mantissa:.mantissa_decimals$}×10{power}"));
        }
    }
    minus(&format!("{number:.decimals$}"))
}

fn decade_label(factor: f64, exponent: i32, is_plain: bool) -> String {
    if is_plain || exponent == 0 {
        let decimals = usize::try_from((-exponent).max(0)).unwrap_or(0);
        return format!("{:.decimals$}", factor * 10f64.powi(exponent));
    }
    match factor {
        1.0 => format!("10{}", superscript(exponent)),
        _ => format!("{factor}×10{}", superscript(exponent)),
    }
}

fn superscript(exponent: i32) -> String {
    let digits = ['⁰', '¹', '²', '³', '⁴', '⁵', '⁶', '⁷', '⁸', '⁹'];
    exponent
        .to_string()
        .chars()
        .map(|c| c.to_digit(10).map_or('⁻', |digit| digits[digit as usize]))
        .collect()
}

/// The number with a real minus sign, which is as wide as a digit.
fn minus(text: &str) -> String {
    text.replace('-', "−")
}

#[cfg(test)]
mod tests {
    use super::Scale;

    const NONE: (f64, f64) = (0.0, 0.0);

    #[track_caller]
    fn check(scale: Scale, most: usize, labels: &[&str]) {
        let found: Vec<String> = scale.ticks(most).into_iter().map(|tick| tick.label).collect();
        assert_eq!(found, labels);
    }

    #[test]
    fn ticks_are_round_numbers() {
        check(Scale::new(0.0, 10.0, false, NONE), 5, &["0", "2", "4", "6", "8", "10"]);
        check(Scale::new(-1.0, 1.0, false, NONE), 4, &["−1.0", "−0.5", "0", "0.5", "1.0"]);
        check(Scale::new(0.0, 0.003, false, NONE), 3, &["0", "0.001", "0.002", "0.003"]);
        check(Scale::new(3.0, 3.0, false, NONE), 4, &["2.8", "3.0", "3.2"]);
        check(Scale::new(0.0, 3e7, false, NONE), 3, &["0", "1×10⁷", "2×10⁷", "3×10⁷"]);
        check(Scale::positions(3, false), 9, &["0", "1", "2"]);
        check(Scale::positions(20, true), 8, &["0", "5", "10", "15"]);
        check(Scale::positions(200, true), 8, &["0", "25", "50", "75", "100", "125", "150", "175"]);
        check(Scale::new(0.0, 2.5e-9, false, NONE), 3, &["0", "1×10⁻⁹", "2×10⁻⁹"]);
    }

    #[test]
    fn large_numbers_that_lie_close_together_are_told_apart() {
        let times = Scale::new(1_600_000_000.0, 1_600_003_600.0, false, NONE);
        check(times, 4, &["1600000000", "1600001000", "1600002000", "1600003000"]);
        let halves = ["12345678.0", "12345678.5", "12345679.0"];
        check(Scale::new(12_345_678.0, 12_345_679.0, false, NONE), 2, &halves);
        let tenths = ["1000000000.0", "1000000000.1", "1000000000.2"];
        check(Scale::new(1e9, 1_000_000_000.2, false, NONE), 3, &tenths);
        let small = ["0.0000100000000", "0.0000100000001", "0.0000100000002"];
        check(Scale::new(1e-5, 1.000_000_02e-5, false, NONE), 3, &small);
        let below = ["−20000002", "−20000001", "−20000000"];
        check(Scale::new(-20_000_002.0, -20_000_000.0, false, NONE), 2, &below);
    }

    #[test]
    fn no_two_ticks_have_one_label() {
        let spans = [1e-3, 1e-6, 1e-9, 1e-12, 1e-14, 2.3e-16, 4e-16];
        for value in [1.0, -1.0, 3.7e-9, 9.99e6, 1.6e9, 1.25e15, 9.1e15, 1e22, 1e300] {
            for span in spans {
                let scale = Scale::new(value, value + f64::abs(value) * span, false, (0.05, 0.05));
                for most in 2..12 {
                    let labels: Vec<String> =
                        scale.ticks(most).into_iter().map(|tick| tick.label).collect();
                    let mut distinct = labels.clone();
                    distinct.sort_unstable();
                    distinct.dedup();
                    assert_eq!(distinct.len(), labels.len(), "{value} {span} {most}: {labels:?}");
                }
            }
        }
    }

    #[test]
    fn logarithmic_ticks_are_powers_of_ten() {
        check(Scale::new(1.0, 1000.0, true, NONE), 5, &["1", "10", "100", "1000"]);
        check(Scale::new(1.0, 20.0, true, NONE), 9, &["1", "2", "5", "10", "20"]);
        check(Scale::new(1e-9, 1e9, true, NONE), 4, &["10⁻⁵", "1", "10⁵"]);
        check(Scale::new(2.0, 4.0, true, NONE), 4, &["2.0", "2.5", "3.0", "3.5", "4.0"]);
    }

    #[test]
    fn numbers_have_places() {
        let scale = Scale::new(1.0, 100.0, true, (0.1, 0.1));
        let place = scale.place(10.0).expect("a place");
        assert!((place - 0.5).abs() < 1e-12);
        assert_eq!(Scale::positions(4, true).place(0.0), Some(0.875));
        assert_eq!(scale.place(-1.0), None);
        assert_eq!(scale.place(f64::NAN), None);
    }
}
