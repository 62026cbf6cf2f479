//! Matrices of bytes as pictures: `[h][w]u8` in grey, `[h][w](u8, u8, u8)` in colour.

use weft_ir::{Column, Value};

/// Smaller matrices are shown as numbers.
const SMALLEST: usize = 33;
/// Larger pictures are made smaller, by leaving pixels out.
const LARGEST: usize = 1024;

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

/// The picture that a value is, if it is one with at least 33 pixels either way. A large one is
/// thinned out to at most 1024 pixels either way.
pub fn picture(value: &Value) -> Option<Picture> {
    let Value::Array(array) = value else { return None };
    let rows = &array.elements;
    if !matches!(rows, Column::Dense { .. } | Column::Ragged { .. }) || rows.len() < SMALLEST {
        return None;
    }
    let extent = rows.extent().ok().filter(|extent| *extent >= SMALLEST)?;
    let pixels = rows.flatten();
    let planes: Vec<&[u8]> = match &pixels {
        Column::U8(grey) => vec![grey.as_slice()],
        Column::Tuple { parts, .. } => {
            parts.iter().map(plane).collect::<Option<Vec<_>>>().filter(|p| p.len() == 3)?
        }
        _ => return None,
    };
    let step = rows.len().max(extent).div_ceil(LARGEST);
    let (height, width) = (rows.len().div_ceil(step), extent.div_ceil(step));
    let mut bytes = Vec::with_capacity(height * width * planes.len());
    for row in (0..rows.len()).step_by(step) {
        for column in (0..extent).step_by(step) {
            bytes.extend(planes.iter().map(|plane| plane[row * extent + column]));
        }
    }
    Some(Picture { width, height, colour: planes.len() == 3, bytes })
}

fn plane(column: &Column) -> Option<&[u8]> {
    match column {
        Column::U8(bytes) => Some(bytes.as_slice()),
        _ => None,
    }
}
