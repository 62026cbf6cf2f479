//! PNG, 8 and 16 bits a sample.

use std::io::{Cursor, Write};

use png::{BitDepth, ColorType, Decoder, DecodingError, Encoder, EncodingError, Transformations};

use super::super::Limits;
use super::super::error::{Place, Problem};
use super::super::target::Target;
use super::{Picture, Samples, checked_size};

/// The first frame. Palettes and fewer than 8 bits are expanded; alpha is left out.
pub(super) fn read(bytes: &[u8], limits: &Limits) -> Result<Picture, Problem> {
    let budget = usize::try_from(limits.value_bytes).unwrap_or(usize::MAX);
    let mut decoder = Decoder::new_with_limits(Cursor::new(bytes), png::Limits { bytes: budget });
    decoder.set_transformations(Transformations::EXPAND);
    decoder.set_ignore_text_chunk(true);
    decoder.set_ignore_iccp_chunk(true);
    let mut reader = decoder.read_info().map_err(problem)?;
    let (color, depth) = reader.output_color_type();
    let stored = color.samples();
    let sample_bytes = if depth == BitDepth::Sixteen { 2 } else { 1 };
    let (width, height) = (reader.info().width as usize, reader.info().height as usize);
    let count = checked_size((width, height), stored, sample_bytes, limits)?;
    // Deflate packs 1032 bytes into one at best, so a tiny file cannot hold a huge picture.
    // (Packed samples of 1 bit are 8 to a byte.)
    if (count / 8) as u128 > 1032 * bytes.len() as u128 {
        let message = format!("the file is too short for its {width} x {height} pixels");
        return Err(Problem::malformed(Place::Whole, message));
    }
    let size = reader.output_buffer_size().ok_or_else(|| too_large(limits))?;
    let mut samples = vec![0; size];
    reader.next_frame(&mut samples).map_err(problem)?;
    let channels = match color {
        ColorType::Grayscale | ColorType::GrayscaleAlpha => 1,
        ColorType::Rgb | ColorType::Rgba | ColorType::Indexed => 3,
    };
    let samples = if sample_bytes == 2 {
        let words = samples.chunks_exact(2).map(|pair| u16::from_be_bytes([pair[0], pair[1]]));
        Samples::Word(without_alpha(words.collect(), stored, channels))
    } else {
        Samples::Byte(without_alpha(samples, stored, channels))
    };
    Ok(Picture { width, height, channels, samples })
}

pub(super) fn write(picture: &Picture, target: &mut Target) -> Result<(), Problem> {
    let size = |extent| {
        u32::try_from(extent)
            .map_err(|_| Problem::does_not_fit("a PNG file has at most 2^31 pixels a side"))
    };
    let mut encoder = Encoder::new(&mut *target, size(picture.width)?, size(picture.height)?);
    encoder.set_color(if picture.channels == 1 { ColorType::Grayscale } else { ColorType::Rgb });
    let encoded = match &picture.samples {
        Samples::Byte(samples) => encode(encoder, BitDepth::Eight, samples),
        Samples::Word(samples) => {
            let bytes: Vec<u8> = samples.iter().flat_map(|word| word.to_be_bytes()).collect();
            encode(encoder, BitDepth::Sixteen, &bytes)
        }
    };
    encoded.map_err(|error| match error {
        EncodingError::IoError(error) => Problem::writing(error),
        error => Problem::does_not_fit(format!("this is no picture for PNG ({error})")),
    })
}

fn encode(
    mut encoder: Encoder<&mut Target>,
    depth: BitDepth,
    bytes: &[u8],
) -> Result<(), EncodingError> {
    encoder.set_depth(depth);
    let mut writer = encoder.write_header()?;
    let mut stream = writer.stream_writer()?;
    stream.write_all(bytes)?;
    stream.finish()?;
    writer.finish()
}

/// The first `channels` of every `stored` samples.
fn without_alpha<T: Copy>(samples: Vec<T>, stored: usize, channels: usize) -> Vec<T> {
    if stored == channels {
        return samples;
    }
    samples.chunks_exact(stored).flat_map(|pixel| pixel[..channels].iter().copied()).collect()
}

fn too_large(limits: &Limits) -> Problem {
    Problem::too_many(format!(
        "the picture is larger than the limit of {} bytes",
        limits.value_bytes
    ))
}

fn problem(error: DecodingError) -> Problem {
    match error {
        DecodingError::LimitsExceeded => {
            Problem::too_many("the picture needs more memory than is allowed")
        }
        DecodingError::IoError(_) => Problem::malformed(Place::Whole, "the PNG file is cut off"),
        error => Problem::malformed(Place::Whole, format!("the PNG file is damaged ({error})")),
    }
}
