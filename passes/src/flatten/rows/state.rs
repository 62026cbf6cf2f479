//! The state of a loop as inputs of the program of one point, and what the program's last state is for all.

use weft_ir::flat::{Dimension, Size, Var};
use weft_ir::{MatrixRows, RowInput, RowNumber, RowState, ScalarType, nested};

use super::super::control::{Axis, Layout};
use super::Turns;
use super::inputs::{Extent, Inputs};

/// What the first axis of a part of the state is around the loop.
#[derive(Clone, Copy, Debug)]
enum First {
    /// None, or of a length that stays.
    Fixed,
    /// Of a length that is state too, the same at all points.
    Carried,
    /// The rows of this segment descriptor, which is state too.
    Ragged(Var),
}

/// The axes of a part of the state around the loop.
#[derive(Clone, Copy, Debug)]
pub(super) struct Part {
    first: First,
    /// Where the second one is ragged: its segment descriptor, which is state too, and the rows there.
    second: Option<(Var, MatrixRows)>,
}

impl Part {
    /// What the variables of a part of the state become, of which that output is the last
    /// state: those of its sizes and that of its elements. Nothing if other axes than the first have changed, or are no
    /// longer those of an array.
    pub(super) fn becomes(
        self,
        output: usize,
        before: &[Dimension],
        after: &[Dimension],
    ) -> Option<Vec<RowState>> {
        let Part { first, second } = self;
        let sizes = |sizes: [RowState; 2]| match first {
            First::Fixed => Vec::new(),
            First::Carried => vec![sizes[0]],
            First::Ragged(_) => vec![RowState::Kept, sizes[0], sizes[1]],
        };
        if before == after {
            let mut parts = sizes([RowState::Kept; 2]);
            if second.is_some() {
                parts.extend([RowState::Kept; 3]);
            }
            parts.push(match (second, first) {
                (Some((offsets, rows)), _) => RowState::Matrix(output, offsets, rows),
                (None, First::Fixed | First::Carried) => RowState::Point(output),
                (None, First::Ragged(offsets)) => RowState::Segment(output, offsets),
            });
            return Some(parts);
        }
        let grows = second.is_none()
            && before.len() == after.len()
            && before[1..] == after[1..]
            && matches!(after[0], Dimension::Dense(_));
        if !grows {
            return None;
        }
        let mut parts = sizes(match first {
            First::Carried => [RowState::Extent(output); 2],
            First::Fixed | First::Ragged(_) => [RowState::Total(output), RowState::Offsets(output)],
        });
        parts.push(RowState::Grown(output));
        Some(parts)
    }
}

/// Adds the state of a loop, in these layouts and carried by these variables, to the inputs of the program of a point;
/// what the axes of each part of it are. `counts` says who counts the turns, if they are counted: then their number
/// comes first.
pub(super) fn push_state(
    (state, layouts): (&[(nested::Var, nested::Type)], &[Layout]),
    (counts, carried): (Option<Turns>, &[Var]),
    inputs: &mut Inputs,
    fresh: &mut impl Iterator<Item = nested::Var>,
) -> Option<Vec<Part>> {
    let one = RowNumber::Point(Size::Constant(1));
    let mut carried = carried.iter().copied();
    if let Some(turns) = counts {
        let number = carried.next()?;
        let given = match turns {
            Turns::Host => RowInput::All(number),
            Turns::Point => RowInput::Row(number, one),
        };
        inputs.push(fresh.next()?, nested::Type::scalar(ScalarType::I64), given, Vec::new());
    }
    let mut parts = Vec::new();
    for (&(_, ty), layout) in state.iter().zip(layouts) {
        let mut extents = Vec::new();
        let (mut first, mut second) = (First::Fixed, None);
        for (number, axis) in layout.axes.iter().enumerate() {
            extents.push(match *axis {
                Axis::Fixed(size) => Extent::Size(size),
                Axis::Carried if number == 0 => {
                    first = First::Carried;
                    Extent::Size(Size::Var(carried.next()?))
                }
                Axis::Ragged if number == 0 => {
                    // The number of ends, the total, the offsets.
                    let descriptor = [carried.next()?, carried.next()?, carried.next()?];
                    first = First::Ragged(descriptor[2]);
                    Extent::Row(descriptor[2], one)
                }
                Axis::Ragged if number == 1 => {
                    let descriptor = [carried.next()?, carried.next()?, carried.next()?];
                    let rows = match (first, extents[0]) {
                        (First::Ragged(offsets), _) => MatrixRows::Segment(offsets),
                        (First::Fixed | First::Carried, Extent::Size(size)) => {
                            MatrixRows::Each(size)
                        }
                        _ => return None,
                    };
                    second = Some((descriptor[2], rows));
                    Extent::Width(descriptor[2], rows)
                }
                Axis::Ragged | Axis::Carried => return None,
            });
        }
        let data = carried.next()?;
        let given = match (second, first) {
            (Some((offsets, rows)), _) => RowInput::Matrix(data, offsets, rows),
            (None, First::Fixed | First::Carried) => RowInput::Row(data, one),
            (None, First::Ragged(offsets)) => RowInput::Segment(data, offsets, one),
        };
        inputs.push(fresh.next()?, ty, given, extents);
        parts.push(Part { first, second });
    }
    Some(parts)
}
