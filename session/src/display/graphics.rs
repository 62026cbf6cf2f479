//! Pictures on a terminal: the protocol of kitty, sixel, or half blocks, which any terminal with
//! colours shows.

use super::picture::{Picture, base64};
use crate::plot;

/// What a terminal understands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Graphics {
    /// Files in PNG, in kitty's escape sequences.
    Kitty,
    /// DEC's sixels.
    Sixel,
    /// Two pixels a character; with 24 bits of colour, or with the 256 colours of old.
    HalfBlocks {
        /// Whether it knows colours of 24 bits.
        true_colour: bool,
    },
}

/// How a terminal is to show pictures, whatever it seems to understand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pictures {
    /// In kitty's protocol.
    Kitty,
    /// As sixels.
    Sixel,
    /// As half blocks.
    Blocks,
    /// Not at all: their numbers are shown.
    Off,
}

impl Pictures {
    /// The choices that there are, by the names that `:set` takes.
    pub(crate) const ALL: [(&'static str, Option<Pictures>); 5] = [
        ("auto", None),
        ("kitty", Some(Pictures::Kitty)),
        ("sixel", Some(Pictures::Sixel)),
        ("blocks", Some(Pictures::Blocks)),
        ("off", Some(Pictures::Off)),
    ];
}

/// The most characters that a picture takes from top to bottom.
const MOST_LINES: usize = 40;
/// The lines of a screen beside a picture: its type, the range of its numbers and the next prompt.
const BESIDE: usize = 3;
/// How wide a character is taken to be, in pixels.
const CHARACTER: usize = 10;

/// The picture as text for a terminal of so many characters, across and down. It ends at the beginning of a line
/// once a newline is written after it; what stands above and below it is on the screen too.
pub fn graphics(picture: &Picture, graphics: Graphics, (width, height): (usize, usize)) -> String {
    let lines = height.saturating_sub(BESIDE).clamp(1, MOST_LINES);
    match graphics {
        Graphics::Kitty => kitty(picture, width, lines),
        Graphics::Sixel => sixel(&fitting(picture, width * CHARACTER, lines * 2 * CHARACTER)),
        Graphics::HalfBlocks { true_colour } => {
            half_blocks(&fitting(picture, width, lines * 2), true_colour)
        }
    }
}

/// The picture, made smaller if it is larger than that.
fn fitting(picture: &Picture, width: usize, height: usize) -> Picture {
    if picture.width <= width && picture.height <= height {
        return picture.clone();
    }
    let by_width = width * picture.height <= height * picture.width;
    match by_width {
        true => picture.resized(width, (picture.height * width).div_ceil(picture.width)),
        false => picture.resized((picture.width * height).div_ceil(picture.height), height),
    }
}

/// The PNG file in pieces of 4096 bytes of base64 (kitty's "Terminal graphics protocol"). The
/// terminal scales it down where it would be wider or higher than the screen.
fn kitty(picture: &Picture, width: usize, lines: usize) -> String {
    let Some(png) = picture.png() else { return String::new() };
    let data = base64(&png);
    let pieces: Vec<&[u8]> = data.as_bytes().chunks(4096).collect();
    // The side that is furthest out; the other one follows.
    let (high, wide) = (2 * CHARACTER * lines, CHARACTER * width);
    let scaled = if picture.width <= wide && picture.height <= high {
        String::new()
    } else if picture.width * high >= picture.height * wide {
        format!(",c={width}")
    } else {
        format!(",r={lines}")
    };
    let mut out = String::new();
    for (index, piece) in pieces.iter().enumerate() {
        let more = u8::from(index + 1 < pieces.len());
        // q=2: the terminal answers nothing, which would end up as input.
        let head = match index {
            0 => format!("a=T,f=100,q=2{scaled},m={more}"),
            _ => format!("m={more}"),
        };
        let piece = String::from_utf8_lossy(piece);
        out.push_str(&format!("\x1b_G{head};{piece}\x1b\\"));
    }
    out
}

/// Sixels of the 216 colours of a cube, dithered (ordered, 4 by 4).
fn sixel(picture: &Picture) -> String {
    const THRESHOLDS: [[i32; 4]; 4] =
        [[0, 8, 2, 10], [12, 4, 14, 6], [3, 11, 1, 9], [15, 7, 13, 5]];
    let colour = |column: usize, row: usize| {
        let threshold = THRESHOLDS[row % 4][column % 4] * 51 / 16;
        let [red, green, blue] =
            picture.pixel(column, row).map(|value| (i32::from(value) + threshold) / 51);
        (red.min(5) * 36 + green.min(5) * 6 + blue.min(5)) as usize
    };
    let mut out = format!("\x1bP0;1;0q\"1;1;{};{}", picture.width, picture.height);
    let mut defined = [false; 216];
    for top in (0..picture.height).step_by(6) {
        let rows = top..(top + 6).min(picture.height);
        // For each colour of this band, the bits of each column.
        let mut bands: std::collections::BTreeMap<usize, Vec<u8>> =
            std::collections::BTreeMap::new();
        for row in rows {
            for column in 0..picture.width {
                let band =
                    bands.entry(colour(column, row)).or_insert_with(|| vec![0; picture.width]);
                band[column] |= 1 << (row - top);
            }
        }
        for (index, (colour, bits)) in bands.iter().enumerate() {
            if index > 0 {
                out.push('$');
            }
            if !std::mem::replace(&mut defined[*colour], true) {
                let [red, green, blue] = [colour / 36, colour / 6 % 6, colour % 6].map(|c| c * 20);
                out.push_str(&format!("#{colour};2;{red};{green};{blue}"));
            }
            out.push_str(&format!("#{colour}"));
            for run in bits.chunk_by(|a, b| a == b) {
                let shown = char::from(63 + run[0]);
                match run.len() {
                    1..=3 => out.extend(std::iter::repeat_n(shown, run.len())),
                    count => out.push_str(&format!("!{count}{shown}")),
                }
            }
        }
        out.push('-');
    }
    out.push_str("\x1b\\");
    out
}

/// Two pixels a character, one above the other.
fn half_blocks(picture: &Picture, true_colour: bool) -> String {
    let code = |ground: u8, rgb: [u8; 3]| match true_colour {
        true => format!("{ground};2;{};{};{}", rgb[0], rgb[1], rgb[2]),
        false => format!("{ground};5;{}", plot::indexed(rgb)),
    };
    let mut lines = Vec::new();
    for row in (0..picture.height).step_by(2) {
        let mut line = String::new();
        let mut before = String::new();
        for column in 0..picture.width {
            let above = code(38, picture.pixel(column, row));
            let style = match row + 1 < picture.height {
                true => format!("{above};{}", code(48, picture.pixel(column, row + 1))),
                false => above,
            };
            if style != before {
                line.push_str(&format!("\x1b[{style}m"));
                before = style;
            }
            line.push('▀');
        }
        line.push_str("\x1b[0m");
        lines.push(line);
    }
    lines.join("\n")
}

#[cfg(test)]
mod tests {
    use super::{Graphics, Picture, graphics};

    fn dots() -> Picture {
        let bytes = vec![255, 0, 0, 0, 255, 0, 0, 0, 255, 255, 255, 255];
        Picture { width: 2, height: 2, colour: true, bytes }
    }

    #[test]
    fn half_blocks_show_two_rows_a_line() {
        let shown = graphics(&dots(), Graphics::HalfBlocks { true_colour: true }, (80, 24));
        let expected =
            "\x1b[38;2;255;0;0;48;2;0;0;255m▀\x1b[38;2;0;255;0;48;2;255;255;255m▀\x1b[0m";
        assert_eq!(shown, expected);
        let shown = graphics(&dots(), Graphics::HalfBlocks { true_colour: false }, (1, 24));
        assert_eq!(shown, "\x1b[38;5;102m▀\x1b[0m");
    }

    #[test]
    fn sixels_are_bands_of_six_rows_a_colour_at_a_time() {
        let shown = graphics(&dots(), Graphics::Sixel, (80, 24));
        let expected = "\x1bP0;1;0q\"1;1;2;2#5;2;0;0;100#5A?$#30;2;0;100;0#30?@$\
                        #180;2;100;0;0#180@?$#215;2;100;100;100#215?A-\x1b\\";
        assert_eq!(shown, expected);
    }

    #[test]
    fn pictures_fit_on_the_screen() {
        let tall = Picture { width: 100, height: 900, colour: false, bytes: vec![9; 90_000] };
        let lines = |height| {
            let blocks = Graphics::HalfBlocks { true_colour: true };
            graphics(&tall, blocks, (80, height)).lines().count()
        };
        assert_eq!([24, 3, 1, usize::MAX].map(lines), [21, 1, 1, 40]);
        assert!(graphics(&tall, Graphics::Sixel, (80, 24)).starts_with("\x1bP0;1;0q\"1;1;47;420"));
        assert!(graphics(&tall, Graphics::Kitty, (80, 24)).contains("q=2,r=21,m="));
        let wide = Picture { width: 900, height: 100, ..tall };
        assert!(graphics(&wide, Graphics::Kitty, (80, 24)).contains("q=2,c=80,m="));
    }

    #[test]
    fn kitty_gets_a_file_in_pieces() {
        let mut state = 1u32;
        let noise = std::iter::repeat_with(|| {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            (state >> 24) as u8
        });
        let noise = noise.take(90_000).collect();
        let picture = Picture { width: 300, height: 300, colour: false, bytes: noise };
        let shown = graphics(&picture, Graphics::Kitty, (80, 24));
        assert!(shown.starts_with("\x1b_Ga=T,f=100,q=2,m=1;iVBOR"));
        assert!(shown.ends_with("\x1b\\") && shown.matches("\x1b_Gm=1;").count() > 10);
        assert_eq!(shown.matches("m=0;").count(), 1);
    }
}
