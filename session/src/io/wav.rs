//! WAV: sound as `{rate, samples}`.

use std::io::Cursor;
use std::path::Path;
use std::sync::Arc;

use hound::{SampleFormat, WavReader, WavSpec, WavWriter};
use weft_files::MappedFile;
use weft_ir::{Column, ScalarType, Type, Value};

use super::error::{Place, Problem};
use super::source::Source;
use super::target::Target;
use super::{Limits, Loaded, fields, mapped, text};

/// The sample rate of a sound that comes without one.
const DEFAULT_RATE: u32 = 44_100;

/// How many samples are read between two questions whether to stop.
const STEP: usize = 1 << 20;

/// Reads a sound: `samples: []f32` of a single channel, else `[][]f32` with a row a channel.
/// Integers of n bits are divided by 2^(n-1), so they lie in [-1, 1); floats stay as they are.
pub(super) fn read(bytes: &[u8], limits: &Limits) -> Result<Loaded, Problem> {
    let (spec, samples) = decode(bytes, limits)?;
    let channels = usize::from(spec.channels);
    let (count, frames) = (samples.len(), samples.len() / channels);
    let float = Type::Scalar(ScalarType::F32);
    let samples = if channels == 1 {
        fields::array(Column::F32(samples.into()), float)
    } else {
        let mut rows = Vec::with_capacity(count);
        for channel in 0..channels {
            rows.extend(samples.iter().skip(channel).step_by(channels));
        }
        let inner = Box::new(Column::F32(rows.into()));
        let rows = Column::Dense { len: channels, extent: frames, inner };
        fields::array(rows, Type::array(float))
    };
    let rate = fields::integer(spec.sample_rate.into());
    Ok(fields::record(vec![("rate".into(), rate), ("samples".into(), samples)]))
}

/// `streamWav`: `(raw, channels, bias, scale)`. A sample is `f32 ((f64 raw - bias) * scale)`, and has the bits that
/// [`read`] gives it.
pub(super) fn stream(path: &Path, limits: &Limits) -> Result<Loaded, Problem> {
    let Some(file) = mapped::open(path, limits)? else {
        return in_memory(&Source::open(path, limits)?.read_all()?, limits);
    };
    match map(&file)? {
        Some(loaded) => Ok(loaded),
        None => in_memory(file.bytes(), limits),
    }
}

/// A sound whose samples lie in a file as numbers of their type; nothing if they must be decoded.
fn map(file: &Arc<MappedFile>) -> Result<Option<Loaded>, Problem> {
    let bytes = file.bytes();
    let reader = WavReader::new(Cursor::new(bytes)).map_err(problem)?;
    let (spec, count) = (reader.spec(), reader.len() as usize);
    if count == 0 || cfg!(target_endian = "big") {
        return Ok(None);
    }
    // The reader stands at the first sample; before it is the length of them all.
    let start = reader.into_inner().position() as usize;
    let length: [u8; 4] = bytes[start - 4..start].try_into().expect("four bytes are four bytes");
    let width = u32::from_le_bytes(length) as usize / count;
    if bytes.len() - start < count * width {
        return Err(cut_off());
    }
    let column = match (spec.sample_format, spec.bits_per_sample, width) {
        (SampleFormat::Int, 8, 1) => mapped::elements(file, start, count).map(Column::U8),
        (SampleFormat::Int, 16, 2) => mapped::elements(file, start, count).map(Column::I16),
        (SampleFormat::Int, 32, 4) => mapped::elements(file, start, count).map(Column::I32),
        (SampleFormat::Float, 32, 4) => mapped::elements(file, start, count).map(Column::F32),
        _ => None,
    };
    let (bias, scale) = match spec.sample_format {
        SampleFormat::Float => (0.0, 1.0),
        // Samples of 8 bits have no sign.
        SampleFormat::Int if spec.bits_per_sample == 8 => (128.0, scale(spec)?),
        SampleFormat::Int => (0.0, scale(spec)?),
    };
    Ok(column.map(|column| streamed(column, spec, bias, scale)))
}

/// A sound whose samples are decoded.
fn in_memory(bytes: &[u8], limits: &Limits) -> Result<Loaded, Problem> {
    let (spec, samples) = decode(bytes, limits)?;
    Ok(streamed(Column::F32(samples.into()), spec, 0.0, 1.0))
}

fn streamed(raw: Column, spec: WavSpec, bias: f64, scale: f64) -> Loaded {
    let ty = Type::Scalar(raw.scalar_type().expect("samples are scalars"));
    let channels = fields::integer(spec.channels.into());
    fields::tuple(vec![fields::array(raw, ty), channels, fields::float(bias), fields::float(scale)])
}

/// All samples, those of one moment side by side.
fn decode(bytes: &[u8], limits: &Limits) -> Result<(WavSpec, Vec<f32>), Problem> {
    let mut reader = WavReader::new(Cursor::new(bytes)).map_err(problem)?;
    let spec = reader.spec();
    let count = reader.len() as usize;
    text::fits(4 * count as u128, limits)?;
    if count > bytes.len() {
        // A sample has at least one byte.
        return Err(cut_off());
    }
    let samples = match spec.sample_format {
        SampleFormat::Float => read_samples::<f32>(&mut reader, count, |sample| sample, limits),
        SampleFormat::Int => {
            let scale = scale(spec)?;
            let scaled = |sample: i32| (f64::from(sample) * scale) as f32;
            read_samples::<i32>(&mut reader, count, scaled, limits)
        }
    }?;
    Ok((spec, samples))
}

/// What an integer of so many bits is multiplied with.
fn scale(spec: WavSpec) -> Result<f64, Problem> {
    match spec.bits_per_sample {
        bits @ 1..=32 => Ok(1.0 / (1u64 << (bits - 1)) as f64),
        _ => Err(problem(hound::Error::Unsupported)),
    }
}

fn read_samples<S: hound::Sample>(
    reader: &mut WavReader<Cursor<&[u8]>>,
    count: usize,
    value: impl Fn(S) -> f32,
    limits: &Limits,
) -> Result<Vec<f32>, Problem> {
    let mut samples = Vec::with_capacity(count);
    for sample in reader.samples::<S>() {
        if samples.len().is_multiple_of(STEP) && (limits.stop)() {
            return Err(Problem::interrupted());
        }
        samples.push(value(sample.map_err(problem)?));
    }
    if samples.len() == count { Ok(samples) } else { Err(cut_off()) }
}

fn cut_off() -> Problem {
    Problem::malformed(Place::Whole, "the WAV file is cut off")
}

fn not_supported() -> Problem {
    Problem::unsupported("this kind of WAV file cannot be read")
        .hint("8, 16, 24 or 32 bits a sample, or 32-bit floats can")
}

fn problem(error: hound::Error) -> Problem {
    match error {
        hound::Error::IoError(_) => cut_off(),
        hound::Error::Unsupported | hound::Error::InvalidSampleFormat | hound::Error::TooWide => {
            not_supported()
        }
        // Of floats: the file is what it says, but nothing that is read here.
        hound::Error::FormatError("bits per sample is not 32") => not_supported(),
        hound::Error::FormatError(what) => {
            Problem::malformed(Place::Whole, format!("is no WAV file ({what})"))
        }
        hound::Error::UnfinishedSample => cut_off(),
    }
}

/// Writes a sound as 32-bit floats, which lose nothing: a record as it is loaded, or its samples
/// alone, at 44100 a second.
pub(super) fn write(value: &Value, ty: &Type, target: &mut Target) -> Result<(), Problem> {
    let no_sound = || {
        Problem::does_not_fit(format!("a sound cannot be made of a value of type {ty}")).hint(
            "a sound is a []f32, a [][]f32 with one row a channel, or a record {rate: i64, \
             samples} of one of them",
        )
    };
    let (rate, samples) = match fields::field(value, ty, "samples") {
        Some(samples) => {
            let rate = fields::field(value, ty, "rate").and_then(fields::as_integer);
            (rate.ok_or_else(no_sound)?, samples)
        }
        None => (DEFAULT_RATE.into(), value),
    };
    let sample_rate = u32::try_from(rate).ok().filter(|&rate| rate > 0).ok_or_else(|| {
        Problem::does_not_fit(format!("the rate of a sound is 1 to 2^32 - 1, not {rate}"))
    })?;
    let samples = fields::as_column(samples).ok_or_else(no_sound)?;
    let (channels, frames, flat) = match samples {
        Column::Dense { .. } | Column::Ragged { .. } => {
            let frames = samples.extent().map_err(|(row, first, length)| {
                Problem::does_not_fit(format!(
                    "the channels of a sound have one length, but channel {row} has {length} \
                     samples and channel 0 has {first}"
                ))
            })?;
            (samples.len(), frames, samples.flatten())
        }
        samples => (1, samples.len(), samples.clone()),
    };
    let sample: Box<dyn Fn(usize) -> f32> = match &flat {
        Column::F32(buf) => Box::new(|index| buf.as_slice()[index]),
        Column::F64(buf) => Box::new(|index| buf.as_slice()[index] as f32),
        _ => return Err(no_sound()),
    };
    // The format counts bytes in 32 bits, and rates in bytes a second as well.
    let bytes = 4 * (channels as u128) * (frames as u128);
    let byte_rate = 4 * (channels as u128) * u128::from(sample_rate);
    if bytes > u128::from(u32::MAX - 100) || byte_rate > u32::MAX.into() {
        return Err(Problem::does_not_fit("a WAV file has at most 4 GiB"));
    }
    let channel_count = u16::try_from(channels).ok().filter(|&count| count > 0 && count < 1 << 14);
    let channel_count = channel_count.ok_or_else(|| {
        Problem::does_not_fit(format!("a WAV file has 1 to 16383 channels, not {channels}"))
    })?;
    let spec = WavSpec {
        channels: channel_count,
        sample_rate,
        bits_per_sample: 32,
        sample_format: SampleFormat::Float,
    };
    // The header has the length, which the writer fills in afterwards: hence in memory.
    let mut file = Cursor::new(Vec::new());
    let encode = |file: &mut Cursor<Vec<u8>>| {
        let mut writer = WavWriter::new(file, spec)?;
        for frame in 0..frames {
            for channel in 0..channels {
                writer.write_sample(sample(channel * frames + frame))?;
            }
        }
        writer.finalize()
    };
    encode(&mut file)
        .map_err(|error| Problem::cannot_write(format!("the sound cannot be encoded ({error})")))?;
    target.write_bytes(file.get_ref())
}
