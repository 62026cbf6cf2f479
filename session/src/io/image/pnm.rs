//! PGM and PPM, plain and raw (the netpbm formats P2, P3, P5, P6).

use super::super::Limits;
use super::super::error::{Place, Problem};
use super::super::target::Target;
use super::{Picture, Samples, checked_size};

/// Reads a picture. Samples are scaled so that the file's maximum becomes 255, or 65535 where it
/// is above 255.
pub(super) fn read(bytes: &[u8], limits: &Limits) -> Result<Picture, Problem> {
    let mut words = Words { bytes, position: 2 };
    let channels = if matches!(bytes[1], b'3' | b'6') { 3 } else { 1 };
    let plain = matches!(bytes[1], b'2' | b'3');
    let width = words.number("the width", u32::MAX)? as usize;
    let height = words.number("the height", u32::MAX)? as usize;
    let maximum = words.number("the maximal value", 65535)?;
    if width == 0 || height == 0 || maximum == 0 {
        return Err(words.damaged("the width, the height or the maximal value is 0"));
    }
    let sample_bytes = if maximum > 255 { 2 } else { 1 };
    let count = checked_size((width, height), channels, sample_bytes, limits)?;
    let start = words.position + 1;
    // A plain sample takes a digit and a blank (but the last), a raw one its bytes.
    let needed = if plain { 2 * count as u128 } else { (count * sample_bytes) as u128 };
    let available = bytes.len().saturating_sub(start) as u128;
    if needed > available + u128::from(plain) {
        let message = format!("the file is cut off: it has {width} x {height} pixels");
        return Err(Problem::malformed(Place::Byte(bytes.len() as u64), message));
    }
    let mut samples = Vec::with_capacity(count);
    if plain {
        for _ in 0..count {
            samples.push(words.number("a sample", maximum)? as u16);
        }
    } else if sample_bytes == 1 && maximum == 255 {
        let samples = Samples::Byte(bytes[start..start + count].to_vec());
        return Ok(Picture { width, height, channels, samples });
    } else if sample_bytes == 1 {
        samples.extend(bytes[start..start + count].iter().map(|&byte| u16::from(byte)));
    } else {
        let pairs = bytes[start..start + 2 * count].chunks_exact(2);
        samples.extend(pairs.map(|pair| u16::from_be_bytes([pair[0], pair[1]])));
    }
    if let Some(index) = samples.iter().position(|&sample| u32::from(sample) > maximum) {
        let message = format!("a sample is {} and the maximum is {maximum}", samples[index]);
        return Err(Problem::malformed(
            Place::Byte((start + index * sample_bytes) as u64),
            message,
        ));
    }
    let scale = |sample: u16, top: u32| (u32::from(sample) * top + maximum / 2) / maximum;
    let samples = if sample_bytes == 1 {
        Samples::Byte(samples.into_iter().map(|sample| scale(sample, 255) as u8).collect())
    } else {
        Samples::Word(samples.into_iter().map(|sample| scale(sample, 65535) as u16).collect())
    };
    Ok(Picture { width, height, channels, samples })
}

/// Writes the raw format, P5 or P6.
pub(super) fn write(picture: &Picture, target: &mut Target) -> Result<(), Problem> {
    let Picture { width, height, channels, samples } = picture;
    let magic = if *channels == 1 { "P5" } else { "P6" };
    let header = |maximum: u32| format!("{magic}\n{width} {height}\n{maximum}\n").into_bytes();
    match samples {
        Samples::Byte(samples) => {
            target.write_bytes(&header(255))?;
            target.write_bytes(samples)
        }
        Samples::Word(samples) => {
            target.write_bytes(&header(65535))?;
            let bytes: Vec<u8> = samples.iter().flat_map(|word| word.to_be_bytes()).collect();
            target.write_bytes(&bytes)
        }
    }
}

/// Numbers separated by blanks and comments.
struct Words<'a> {
    bytes: &'a [u8],
    position: usize,
}

impl Words<'_> {
    fn number(&mut self, what: &str, maximum: u32) -> Result<u32, Problem> {
        self.skip_blanks();
        let mut number: Option<u64> = None;
        while let Some(digit @ b'0'..=b'9') = self.bytes.get(self.position) {
            number = Some(number.unwrap_or(0) * 10 + u64::from(digit - b'0'));
            if number > Some(maximum.into()) {
                return Err(self.damaged(&format!("{what} is above {maximum}")));
            }
            self.position += 1;
        }
        number
            .map(|number| number as u32)
            .ok_or_else(|| self.damaged(&format!("{what} was expected")))
    }

    fn skip_blanks(&mut self) {
        while let Some(&byte) = self.bytes.get(self.position) {
            match byte {
                b'#' => {
                    let rest = &self.bytes[self.position..];
                    let length = rest.iter().position(|&byte| byte == b'\n');
                    self.position += length.unwrap_or(rest.len());
                }
                byte if byte.is_ascii_whitespace() => self.position += 1,
                _ => return,
            }
        }
    }

    fn damaged(&self, message: &str) -> Problem {
        Problem::malformed(Place::Byte(self.position as u64), message)
    }
}
