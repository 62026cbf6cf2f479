//! Colours that people with any colour vision can tell apart, on light and on dark ground.

/// Red, green and blue.
pub(crate) type Rgb = [u8; 3];

/// Where there is no number.
pub(crate) const MISSING: Rgb = [190, 190, 190];

/// The colours of series: those of Okabe and Ito ("Color Universal Design", 2008) without black and
/// yellow, the strongest contrasts first.
const SERIES: [Rgb; 7] = [
    [0x00, 0x72, 0xb2],
    [0xd5, 0x5e, 0x00],
    [0x00, 0x9e, 0x73],
    [0xcc, 0x79, 0xa7],
    [0xe6, 0x9f, 0x00],
    [0x56, 0xb4, 0xe9],
    [0x80, 0x80, 0x80],
];

/// The nearest of the sixteen colours that a terminal's theme chooses.
const TERMINAL: [&str; 7] = ["34", "33", "32", "35", "93", "36", "90"];

/// The colour of a series.
pub(crate) fn series(style: usize) -> Rgb {
    SERIES[style % SERIES.len()]
}

/// The same on a terminal, as the parameter of an escape sequence.
pub(crate) fn terminal_series(style: usize) -> &'static str {
    TERMINAL[style % TERMINAL.len()]
}

/// How often the colours have been used up before a series.
pub(crate) fn round(style: usize) -> usize {
    style / SERIES.len()
}

/// The colour of a level from 0 to 1: viridis, of even lightness steps, as a polynomial of degree 6
/// fitted to the table of matplotlib.
pub(crate) fn heat(level: f64) -> Rgb {
    const COEFFICIENTS: [[f64; 3]; 7] = [
        [0.277_727_327_2, 0.005_407_344_5, 0.334_099_805_3],
        [0.105_093_043_1, 1.404_613_529_9, 1.384_590_162_6],
        [-0.330_861_828_7, 0.214_847_559_5, 0.095_095_163_0],
        [-4.634_230_499_0, -5.799_100_973_4, -19.332_440_956_3],
        [6.228_269_936_3, 14.179_933_366_8, 56.690_552_600_7],
        [4.776_384_997_7, -13.745_145_377_7, -65.353_032_633_4],
        [-5.435_455_855_9, 4.645_852_612_2, 26.312_435_249_6],
    ];
    let level = level.clamp(0.0, 1.0);
    std::array::from_fn(|channel| {
        let value =
            COEFFICIENTS.iter().rev().fold(0.0, |sum, factors| sum * level + factors[channel]);
        (value.clamp(0.0, 1.0) * 255.0).round() as u8
    })
}

/// The nearest of the 216 colours of a terminal that has 256.
pub(crate) fn indexed([red, green, blue]: Rgb) -> u8 {
    // The steps of each channel are 0, 95, 135, 175, 215 and 255.
    let step = |value: u8| match value {
        0..48 => 0,
        48..115 => 1,
        value => (value - 35) / 40,
    };
    16 + 36 * step(red) + 6 * step(green) + step(blue)
}

#[cfg(test)]
mod tests {
    use super::{heat, indexed};

    #[test]
    fn heat_goes_from_violet_to_yellow() {
        assert_eq!(heat(0.0), [71, 1, 85]);
        let [red, green, blue] = heat(1.0);
        assert!(red > 240 && green > 220 && blue < 50);
    }

    #[test]
    fn indexed_colours_are_the_nearest() {
        assert_eq!(indexed([0, 0, 0]), 16);
        assert_eq!(indexed([255, 255, 255]), 231);
        assert_eq!(indexed([95, 135, 175]), 16 + 36 + 12 + 3);
    }
}
