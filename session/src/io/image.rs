//! Pictures: which format a file has, and how pixels become arrays and back.

mod jpeg;
mod pixels;
mod png;
mod pnm;

use weft_ir::{Type, Value};

use super::error::{Place, Problem};
use super::target::Target;
use super::{Limits, Loaded, text};
use pixels::{Picture, Samples};

pub(super) use pixels::brightness_beyond;

/// Reads a picture; the format is told by the first bytes, whatever the name says.
pub(super) fn read(bytes: &[u8], limits: &Limits) -> Result<Loaded, Problem> {
    let picture = if bytes.starts_with(b"\x89PNG\r\n\x1a\n") {
        png::read(bytes, limits)
    } else if bytes.starts_with(b"\xff\xd8\xff") {
        jpeg::read(bytes, limits)
    } else if let [b'P', b'2' | b'3' | b'5' | b'6', ..] = bytes {
        pnm::read(bytes, limits)
    } else {
        let message = "is no picture in PNG, JPEG, PGM or PPM format";
        Err(Problem::malformed(Place::Byte(0), message))
    }?;
    Ok(picture.into_array())
}

/// Writes a picture as `png`, `pgm` or `ppm`.
pub(super) fn write(
    value: &Value,
    ty: &Type,
    format: &str,
    target: &mut Target,
) -> Result<(), Problem> {
    let picture = Picture::from_array(value, ty)?;
    match format {
        "png" => png::write(&picture, target),
        "pgm" if picture.channels != 1 => {
            Err(Problem::does_not_fit("a .pgm file holds grey values, not colours")
                .hint("save it as .ppm or .png"))
        }
        "ppm" if picture.channels != 3 => {
            Err(Problem::does_not_fit("a .ppm file holds colours, not grey values")
                .hint("save it as .pgm or .png"))
        }
        _ => pnm::write(&picture, target),
    }
}

/// Whether a picture of that size may be read; the number of its samples.
fn checked_size(
    (width, height): (usize, usize),
    channels: usize,
    sample_bytes: usize,
    limits: &Limits,
) -> Result<usize, Problem> {
    let samples = width as u128 * height as u128 * channels as u128;
    text::fits(samples * sample_bytes as u128, limits)?;
    Ok(samples as usize)
}
