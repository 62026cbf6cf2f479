//! Values that are pictures: `image m`, and matrices of bytes.

use weft_ir::{Column, Scalar, Type, Value};

/// Smaller matrices of bytes are shown as numbers, unless they are asked for as a picture.
const SMALLEST: usize = 33;
/// Larger pictures are made smaller, by leaving pixels out.
const LARGEST: usize = 1024;
/// Smaller pictures that are asked for are made larger, by repeating pixels.
const VISIBLE: usize = 256;

/// A picture.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Picture {
    /// Pixels of a row.
    pub width: usize,
    /// Rows.
    pub height: usize,
    /// Whether a pixel has three bytes rather than one.
    pub colour: bool,
    /// The pixels, row by row.
    pub bytes: Vec<u8>,
}

impl Picture {
    /// The picture as a PNG file; `None` if it has no pixels.
    pub fn png(&self) -> Option<Vec<u8>> {
        let mut out = Vec::new();
        let (width, height) = (u32::try_from(self.width).ok()?, u32::try_from(self.height).ok()?);
        let mut encoder = png::Encoder::new(&mut out, width, height);
        let colour = if self.colour { png::ColorType::Rgb } else { png::ColorType::Grayscale };
        encoder.set_color(colour);
        encoder.set_depth(png::BitDepth::Eight);
        encoder.write_header().ok()?.write_image_data(&self.bytes).ok()?;
        Some(out)
    }

    /// Red, green and blue of a pixel.
    pub(crate) fn pixel(&self, column: usize, row: usize) -> [u8; 3] {
        let position = row * self.width + column;
        match self.colour {
            true => std::array::from_fn(|channel| self.bytes[3 * position + channel]),
            false => [self.bytes[position]; 3],
        }
    }

    /// The picture in another size: each pixel is the mean of those that it covers, or the one that
    /// covers it.
    pub(crate) fn resized(&self, width: usize, height: usize) -> Picture {
        let (width, height) = (width.max(1), height.max(1));
        let channels = if self.colour { 3 } else { 1 };
        let span = |index: usize, count: usize, of: usize| {
            let first = index * of / count;
            first..((index + 1) * of).div_ceil(count).max(first + 1).min(of)
        };
        let mut bytes = Vec::with_capacity(width * height * channels);
        for row in 0..height {
            let rows = span(row, height, self.height);
            for column in 0..width {
                let columns = span(column, width, self.width);
                for channel in 0..channels {
                    let (mut sum, mut count) = (0u64, 0u64);
                    for row in rows.clone() {
                        for column in columns.clone() {
                            let position = (row * self.width + column) * channels + channel;
                            sum += u64::from(self.bytes[position]);
                            count += 1;
                        }
                    }
                    bytes.push(((sum + count / 2) / count.max(1)) as u8);
                }
            }
        }
        Picture { width, height, colour: self.colour, bytes }
    }
}

/// The picture that a value is: that of `image m`, of any size, or a matrix of bytes with at least
/// 33 pixels either way. A large one is thinned out to at most 1024 pixels either way.
pub fn picture(value: &Value, ty: &Type) -> Option<Picture> {
    if is_image(ty) {
        let Value::Tuple(fields) = value else { return None };
        let picture = matrix(fields.first()?, 1)?;
        let factor = VISIBLE / picture.width.max(picture.height);
        return Some(match factor {
            0 | 1 => picture,
            factor => picture.resized(picture.width * factor, picture.height * factor),
        });
    }
    let mut element = ty;
    while let Type::Array(inner) = element {
        element = inner;
    }
    let is_byte = |ty: &Type| *ty == Type::Scalar(weft_ir::ScalarType::U8);
    let of_bytes = match element {
        Type::Tuple(parts) => parts.len() == 3 && parts.iter().all(is_byte),
        other => is_byte(other),
    };
    if of_bytes { matrix(value, SMALLEST) } else { None }
}

/// Whether it is the type of what the prelude's `image` makes: a record with that field alone,
/// which holds a matrix of numbers or of triples of them.
pub(crate) fn is_image(ty: &Type) -> bool {
    let is_channel = |ty: &Type| match ty {
        Type::Scalar(scalar) => *scalar != weft_ir::ScalarType::Char,
        Type::Tuple(_) | Type::Record(_) | Type::Array(_) => false,
    };
    let Type::Record(fields) = ty else { return false };
    let [(name, Type::Array(row))] = &fields[..] else { return false };
    let Type::Array(pixel) = &**row else { return false };
    &**name == "image"
        && match &**pixel {
            Type::Tuple(parts) => parts.len() == 3 && parts.iter().all(is_channel),
            other => is_channel(other),
        }
}

/// The picture in a regular matrix of at least `smallest` pixels either way.
fn matrix(value: &Value, smallest: usize) -> Option<Picture> {
    let Value::Array(array) = value else { return None };
    let rows = &array.elements;
    if !matches!(rows, Column::Dense { .. } | Column::Ragged { .. }) || rows.len() < smallest {
        return None;
    }
    let extent = rows.extent().ok().filter(|extent| *extent >= smallest)?;
    let pixels = rows.flatten();
    let planes: Vec<&Column> = match &pixels {
        Column::Tuple { parts, .. } if parts.len() == 3 => parts.iter().collect(),
        Column::Tuple { .. } => return None,
        grey => vec![grey],
    };
    let step = rows.len().max(extent).div_ceil(LARGEST);
    let (height, width) = (rows.len().div_ceil(step), extent.div_ceil(step));
    let mut bytes = Vec::with_capacity(height * width * planes.len());
    for row in (0..rows.len()).step_by(step) {
        for column in (0..extent).step_by(step) {
            for plane in &planes {
                bytes.push(brightness(plane.scalar(row * extent + column)?));
            }
        }
    }
    Some(Picture { width, height, colour: planes.len() == 3, bytes })
}

/// From black to white: integers from 0 to 255, floats from 0 to 1, as files have it; what is
/// beyond becomes the nearest of them, NaN black.
fn brightness(scalar: Scalar) -> u8 {
    // The conversion saturates, and takes NaN to 0.
    let float = |value: f64| (value * 255.0).round_ties_even() as u8;
    match scalar {
        Scalar::U8(value) => value,
        Scalar::I8(value) => value.max(0) as u8,
        Scalar::I16(value) => value.clamp(0, 255) as u8,
        Scalar::I32(value) => value.clamp(0, 255) as u8,
        Scalar::I64(value) => value.clamp(0, 255) as u8,
        Scalar::U16(value) => value.min(255) as u8,
        Scalar::U32(value) => value.min(255) as u8,
        Scalar::U64(value) => value.min(255) as u8,
        Scalar::F32(value) => float(value.into()),
        Scalar::F64(value) => float(value),
        Scalar::Bool(value) => u8::from(value) * 255,
        Scalar::Char(byte) => byte,
    }
}

/// Bytes as text (RFC 4648, section 4).
pub(crate) fn base64(bytes: &[u8]) -> String {
    const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut out = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for chunk in bytes.chunks(3) {
        let at = |index: usize| u32::from(chunk.get(index).copied().unwrap_or(0));
        let word = at(0) << 16 | at(1) << 8 | at(2);
        for position in 0..4 {
            if position <= chunk.len() {
                out.push(ALPHABET[(word >> (18 - 6 * position)) as usize & 63].into());
            } else {
                out.push('=');
            }
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::{Picture, base64};

    #[test]
    fn base64_as_in_the_standard() {
        let found = ["", "f", "fo", "foo", "foob"].map(|text| base64(text.as_bytes()));
        assert_eq!(found, ["", "Zg==", "Zm8=", "Zm9v", "Zm9vYg=="]);
    }

    #[test]
    fn sizes_change_by_repeating_and_by_means() {
        let picture = Picture { width: 2, height: 1, colour: false, bytes: vec![0, 200] };
        assert_eq!(picture.resized(4, 2).bytes, [0, 0, 200, 200, 0, 0, 200, 200]);
        assert_eq!(picture.resized(1, 1).bytes, [100]);
        assert!(picture.png().is_some_and(|png| png.starts_with(b"\x89PNG")));
    }
}
