//! JPEG, baseline and progressive.

use zune_jpeg::JpegDecoder;
use zune_jpeg::zune_core::bytestream::ZCursor;
use zune_jpeg::zune_core::colorspace::ColorSpace;
use zune_jpeg::zune_core::options::DecoderOptions;

use super::super::Limits;
use super::super::error::{Place, Problem};
use super::{Picture, Samples, checked_size};

/// Grey pictures stay grey, all others become red, green and blue.
pub(super) fn read(bytes: &[u8], limits: &Limits) -> Result<Picture, Problem> {
    let options = DecoderOptions::default()
        .set_max_width(usize::from(u16::MAX))
        .set_max_height(usize::from(u16::MAX))
        .set_strict_mode(true);
    let mut decoder = JpegDecoder::new_with_options(ZCursor::new(bytes), options);
    decoder.decode_headers().map_err(damaged)?;
    let info = decoder.info().ok_or_else(|| damaged("no frame header"))?;
    let (width, height) = (usize::from(info.width), usize::from(info.height));
    let channels = if info.components == 1 { 1 } else { 3 };
    let count = checked_size((width, height), channels, 1, limits)?;
    let space = if channels == 1 { ColorSpace::Luma } else { ColorSpace::RGB };
    decoder.set_options(options.jpeg_set_out_colorspace(space));
    let samples = decoder.decode().map_err(damaged)?;
    if samples.len() != count {
        return Err(damaged("it has another size than its header says"));
    }
    Ok(Picture { width, height, channels, samples: Samples::Byte(samples) })
}

fn damaged(error: impl std::fmt::Display) -> Problem {
    Problem::malformed(Place::Whole, format!("the JPEG file is damaged ({error})"))
}
