//! Pixels as arrays: `[h][w]` of a grey value or of a colour.

use std::sync::Arc;

use weft_ir::{Array, Column, ScalarType, Type, Value};

use super::super::error::Problem;
use super::super::{Brightness, Loaded, fields};

/// A picture as its file has it: rows from the top, the samples of a pixel side by side.
pub(super) struct Picture {
    pub(super) width: usize,
    pub(super) height: usize,
    /// 1 for grey, 3 for red, green and blue.
    pub(super) channels: usize,
    /// `width * height * channels` of them.
    pub(super) samples: Samples,
}

/// Samples of 8 or of 16 bits.
pub(super) enum Samples {
    Byte(Vec<u8>),
    Word(Vec<u16>),
}

impl Picture {
    pub(super) fn into_array(self) -> Loaded {
        let Picture { width, height, channels, samples } = self;
        let (pixels, sample) = match samples {
            Samples::Byte(samples) => (
                planes(samples, channels, |plane| Column::U8(plane.into())),
                Type::Scalar(ScalarType::U8),
            ),
            Samples::Word(samples) => (
                planes(samples, channels, |plane| Column::U16(plane.into())),
                Type::Scalar(ScalarType::U16),
            ),
        };
        let pixel = if channels == 1 {
            sample
        } else {
            Type::Tuple(std::iter::repeat_n(sample, channels).collect())
        };
        let rows = Column::Dense { len: height, extent: width, inner: Box::new(pixels) };
        Loaded {
            value: Value::Array(Arc::new(Array::new(rows))),
            ty: Type::array(Type::array(pixel)),
        }
    }

    /// The picture that an array shows: `[h][w]` of `u8`, `u16`, `bool`, or of a float from 0 to
    /// 1, or of triples of one of them. Floats become `round (x * 255)`, within 0 and 255; NaN is 0.
    pub(super) fn from_array(value: &Value, ty: &Type) -> Result<Picture, Problem> {
        let no_picture = || {
            Problem::does_not_fit(format!("a picture cannot show a value of type {ty}")).hint(
                "a picture is a matrix of u8, u16, bool, f32 or f64 (from 0 to 1), or of triples \
                 of them",
            )
        };
        let rows = fields::as_column(value).ok_or_else(no_picture)?;
        if !matches!(rows, Column::Dense { .. } | Column::Ragged { .. }) {
            return Err(no_picture());
        }
        let width = rows.extent().map_err(|(row, first, length)| {
            let pixels = if length == 1 { "pixel" } else { "pixels" };
            Problem::does_not_fit(format!(
                "the rows of a picture have one length, but row {row} has {length} {pixels} and row 0 has {first}"
            ))
        })?;
        let height = rows.len();
        let pixels = rows.flatten();
        let planes = match &pixels {
            Column::Tuple { parts, .. } if parts.len() == 3 => parts.iter().collect(),
            Column::Tuple { .. } => return Err(no_picture()),
            grey => vec![grey],
        };
        if width == 0 || height == 0 {
            return Err(Problem::does_not_fit("a picture has at least one pixel"));
        }
        let samples = interleaved(&planes).ok_or_else(no_picture)?;
        Ok(Picture { width, height, channels: planes.len(), samples })
    }
}

/// One column a channel.
fn planes<T: Copy>(samples: Vec<T>, channels: usize, column: impl Fn(Vec<T>) -> Column) -> Column {
    if channels == 1 {
        return column(samples);
    }
    let plane = |channel| samples.iter().copied().skip(channel).step_by(channels).collect();
    Column::Tuple {
        len: samples.len() / channels,
        parts: (0..channels).map(|channel| column(plane(channel))).collect(),
    }
}

/// The samples of a pixel side by side; `None` if they are of no type that can be shown.
fn interleaved(planes: &[&Column]) -> Option<Samples> {
    if planes.iter().all(|plane| matches!(plane, Column::U16(_))) {
        let words = planes.iter().filter_map(|plane| match plane {
            Column::U16(buf) => Some(buf.as_slice().to_vec()),
            _ => None,
        });
        return Some(Samples::Word(woven(words.collect())));
    }
    let bytes: Option<Vec<Vec<u8>>> = planes
        .iter()
        .map(|plane| match plane {
            Column::U8(buf) => Some(buf.as_slice().to_vec()),
            Column::Bool(buf) => {
                Some(buf.as_slice().iter().map(|&truth| if truth { 255 } else { 0 }).collect())
            }
            Column::F32(buf) => {
                Some(buf.as_slice().iter().map(|&value| brightness(value.into())).collect())
            }
            Column::F64(buf) => {
                Some(buf.as_slice().iter().map(|&value| brightness(value)).collect())
            }
            _ => None,
        })
        .collect();
    Some(Samples::Byte(woven(bytes?)))
}

fn woven<T: Copy + Default>(planes: Vec<Vec<T>>) -> Vec<T> {
    let channels = planes.len();
    if channels == 1 {
        return planes.into_iter().next().unwrap_or_default();
    }
    let mut samples = vec![T::default(); planes.iter().map(Vec::len).sum()];
    for (channel, plane) in planes.iter().enumerate() {
        for (index, &sample) in plane.iter().enumerate() {
            samples[index * channels + channel] = sample;
        }
    }
    samples
}

/// How bright a picture of floats is, if much of it is beyond 0.0 to 1.0. A little that is, as behind a filter, is no
/// matter.
pub(crate) fn brightness_beyond(value: &Value) -> Option<Brightness> {
    const MUCH: f64 = 0.1;
    const FAR: f64 = 1.0;
    let pixels = fields::as_column(value)?.flatten();
    let planes: Vec<&Column> = match &pixels {
        Column::Tuple { parts, .. } => parts.iter().collect(),
        grey => vec![grey],
    };
    let (mut least, mut greatest) = (f64::INFINITY, f64::NEG_INFINITY);
    let (mut count, mut beyond) = (0_usize, 0_usize);
    let mut add = |value: f64| {
        (least, greatest) = (least.min(value), greatest.max(value));
        count += 1;
        beyond += usize::from(!(0.0..=1.0).contains(&value));
    };
    for plane in &planes {
        match plane {
            Column::F32(buf) => buf.as_slice().iter().for_each(|&value| add(value.into())),
            Column::F64(buf) => buf.as_slice().iter().for_each(|&value| add(value)),
            _ => return None,
        }
    }
    let clipped = beyond as f64 / count.max(1) as f64;
    let is_far = greatest > 1.0 + FAR || least < -FAR;
    let is_finite = least.is_finite() && greatest.is_finite() && least < greatest;
    (is_finite && (clipped > MUCH || (is_far && beyond > 0))).then_some(Brightness {
        least,
        greatest,
        clipped,
        is_grey: planes.len() == 1,
    })
}

/// From 0 to 1 to a byte. The conversion saturates, and takes NaN to 0.
fn brightness(value: f64) -> u8 {
    (value * 255.0).round_ties_even() as u8
}
