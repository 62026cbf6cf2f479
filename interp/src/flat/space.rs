//! The points of a space.

use std::ops::Range;

use weft_ir::flat::{Dimension, Size, Var};
use weft_ir::{Buf, Stop};

/// A space with its sizes.
pub(super) struct Extents {
    dimensions: Vec<Extent>,
    /// The number of points of the space.
    points: u128,
}

enum Extent {
    Dense(usize),
    /// The segment descriptor.
    Ragged(Buf<i64>),
}

impl Extents {
    /// The space with the values of its sizes and segment descriptors; what is wrong with them, if
    /// they do not fit.
    pub(super) fn new(
        space: &[Dimension],
        size: impl Fn(Size) -> usize,
        offsets: impl Fn(Var) -> Buf<i64>,
    ) -> Result<Extents, String> {
        let mut points = 1_u128;
        let mut dimensions = Vec::with_capacity(space.len());
        for dimension in space {
            dimensions.push(match *dimension {
                Dimension::Dense(extent) => {
                    let extent = size(extent);
                    points = points.saturating_mul(extent as u128);
                    Extent::Dense(extent)
                }
                Dimension::Ragged { offsets: var, total } => {
                    let (offsets, total) = (offsets(var), size(total));
                    verify(offsets.as_slice(), points, total)
                        .map_err(|problem| format!("the descriptor {var} {problem}"))?;
                    points = total as u128;
                    Extent::Ragged(offsets)
                }
            });
        }
        Ok(Extents { dimensions, points })
    }

    /// The number of points.
    pub(super) fn points(&self) -> u128 {
        self.points
    }

    /// The extents of the storage of an array over the space.
    pub(super) fn storage(&self) -> Vec<usize> {
        let mut extents = Vec::new();
        for dimension in &self.dimensions {
            match dimension {
                Extent::Dense(extent) => extents.push(*extent),
                Extent::Ragged(offsets) => {
                    let last = offsets.as_slice().last().map_or(0, |last| *last);
                    extents = vec![usize::try_from(last).expect("verified")];
                }
            }
        }
        extents
    }

    /// The space without its last dimension, and the last dimension.
    pub(super) fn split_last(mut self) -> (Extents, Rows) {
        let last = self.dimensions.pop().expect("a checked program has a last dimension here");
        let points = self.dimensions.iter().fold(1_u128, |points, dimension| match dimension {
            Extent::Dense(extent) => points.saturating_mul(*extent as u128),
            Extent::Ragged(offsets) => {
                offsets.as_slice().last().map_or(0, |last| u128::from(last.unsigned_abs()))
            }
        });
        (Extents { points, ..self }, Rows(last))
    }

    /// Visits every point with its number, in storage order.
    pub(super) fn each_point(&self, visit: &mut Visit<'_>) -> Result<(), Stop> {
        each(&self.dimensions, 0, &mut Vec::with_capacity(self.dimensions.len()), visit)
    }
}

/// What is done at a point with these indices and this number.
type Visit<'v> = dyn FnMut(&[i64], usize) -> Result<(), Stop> + 'v;

/// The last dimension of a space.
pub(super) struct Rows(Extent);

impl Rows {
    /// The indices along the dimension, for the point with that number before it.
    pub(super) fn range(&self, point: usize) -> Range<i64> {
        range(&self.0, point)
    }
}

fn range(extent: &Extent, point: usize) -> Range<i64> {
    match extent {
        Extent::Dense(extent) => 0..*extent as i64,
        Extent::Ragged(offsets) => offsets.as_slice()[point]..offsets.as_slice()[point + 1],
    }
}

fn each(
    dimensions: &[Extent],
    number: usize,
    point: &mut Vec<i64>,
    visit: &mut Visit<'_>,
) -> Result<(), Stop> {
    let Some((first, rest)) = dimensions.split_first() else { return visit(point, number) };
    for index in range(first, number) {
        let number = match first {
            Extent::Dense(extent) => number * extent + index as usize,
            Extent::Ragged(_) => index as usize,
        };
        point.push(index);
        each(rest, number, point, visit)?;
        point.pop();
    }
    Ok(())
}

fn verify(offsets: &[i64], rows: u128, total: usize) -> Result<(), String> {
    if offsets.len() as u128 != rows + 1 {
        return Err(format!("has {} offsets for {rows} rows", offsets.len()));
    }
    if offsets[0] != 0 || offsets.windows(2).any(|pair| pair[0] > pair[1]) {
        return Err(format!("does not ascend from 0: {offsets:?}"));
    }
    if offsets.last() != Some(&(total as i64)) {
        return Err(format!("does not end with the total {total}: {offsets:?}"));
    }
    Ok(())
}
