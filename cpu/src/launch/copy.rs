//! Kernels that only move elements: parts, reversals, transpositions, concatenations, and what stands around.
//!
//! Note \[Copies\]. Where a kernel computes nothing but places, and all places are affine in the indices
//! (Note [Affine reads]), each of its results is a copy of a part of an array, whatever the rank and however short
//! the rows. A condition that holds at some points only, as that of a concatenation, holds on one side of a
//! border across one dimension: there the space is cut, until in each *piece* all conditions are known. The
//! remainder and the lesser of two are conditions of this kind too. So `xs ++ ys` is two copies, and an array
//! with a border of its own elements nine. Pieces are copied by loops over as few dimensions as there can be,
//! which run along the rows of one side or go from tile to tile where these are not those of the other. What
//! has more than a few pieces, or checks that do not hold everywhere, is computed point by point.

mod block;
mod only;

use std::collections::BTreeMap;
use std::ops::Range;

use weft_ir::code::{Code, Instruction, Operand, Operation, Register};
use weft_ir::leaves::Stored;
use weft_ir::{Scalar, ScalarOp, Stop};

use crate::execute::Source;
use crate::lanes::{Elements, Lane, Storage, StorageMut, with_lane_type};
use crate::launch::affine::{Affine, DIMENSIONS, Known, border, evaluate, of_operand, of_scalar};
use crate::launch::{Launch, PARALLEL, SinkResult};
use crate::shape::Axis;
use crate::stream::Stream;
use block::{Dimension, copy};
pub(crate) use only::only_copies;

/// Below so many points it takes longer to find the pieces than to compute the elements.
const LEAST: usize = 1024;

/// The most pieces: what has more is a pattern, not a few borders.
const MOST: usize = 32;

/// About how many elements a thread copies at a time.
const CLAIM: usize = 1 << 16;

/// A box of points, and what each result is there.
struct Piece {
    start: [usize; DIMENSIONS],
    extents: [usize; DIMENSIONS],
    results: Vec<Taken>,
}

/// What a result is at the points of a piece.
#[derive(Clone, Debug)]
enum Taken {
    /// Elements of an array, by its number, at places of its storage.
    Elements(usize, Affine),
    /// The same everywhere.
    Scalar(Scalar),
}

/// Why it is not known what the results of a box are.
enum Unknown {
    /// A condition holds on one side of a border: a dimension, and the first index beyond, counted in the box.
    Border(usize, usize),
    /// They are no copies.
    Other,
}

/// Some of the points of the space: one index along each of the first dimensions, and a range along the next.
struct Slab {
    first: Vec<usize>,
    range: Range<usize>,
}

impl Launch<'_> {
    /// Fills the outputs, if they are copies; `streams` says that they are too large for the caches.
    pub(super) fn copies(
        &self,
        outputs: &mut [Storage],
        streams: bool,
    ) -> Result<Option<Vec<SinkResult>>, Stop> {
        let Some((extents, pieces)) = self.pieces() else { return Ok(None) };
        assert_eq!(self.bound.kernel.body.results.len(), outputs.len(), "a result is an output");
        let slabs = slabs(&extents);
        let inner = |slab: &Slab| {
            let below: usize = extents[slab.first.len() + 1..].iter().product();
            slab.range.len() * below
        };
        let mut rest: Vec<StorageMut<'_>> = outputs.iter_mut().map(Storage::as_mut).collect();
        let claims = slabs.into_iter().map(|slab| {
            let length = inner(&slab);
            let parts: Vec<StorageMut<'_>> =
                rest.iter_mut().map(|rest| rest.take_front(length)).collect();
            (slab, parts)
        });
        let points = self.shape.points();
        let meter = self.meter.begin(points as u64);
        self.workers
            .each(
                points >= PARALLEL,
                claims,
                || Stream::new(streams),
                |stream, (slab, mut parts)| {
                    self.context().poll()?;
                    for piece in &pieces {
                        for (taken, part) in piece.results.iter().zip(&mut parts) {
                            self.copy_piece(piece, taken, &extents, &slab, part, stream);
                        }
                    }
                    if let Some(meter) = &meter {
                        meter.advance(inner(&slab) as u64);
                    }
                    Ok(())
                },
            )
            .map_err(|halt| self.stop(halt))?;
        Ok(Some(self.kernel.sinks.iter().map(|_| SinkResult::Written).collect()))
    }

    /// The extents of the space, and its pieces, if all of its results are copies there.
    fn pieces(&self) -> Option<(Vec<usize>, Vec<Piece>)> {
        if !self.bound.kernel.copies || self.shape.points() < LEAST {
            return None;
        }
        let mut space = Vec::with_capacity(self.shape.axes.len());
        for axis in &self.shape.axes {
            let Axis::Dense(extent) = axis else { return None };
            space.push(*extent);
        }
        let mut extents = [1; DIMENSIONS];
        extents.get_mut(..space.len())?.copy_from_slice(&space);
        let mut boxes = vec![([0; DIMENSIONS], extents)];
        let mut pieces = Vec::new();
        while let Some((start, extents)) = boxes.pop() {
            match self.results_of_box(start, extents) {
                Ok(results) => pieces.push(Piece { start, extents, results }),
                Err(Unknown::Other) => return None,
                Err(Unknown::Border(dimension, at)) => {
                    assert!(0 < at && at < extents[dimension], "a border is inside");
                    if pieces.len() + boxes.len() + 2 > MOST {
                        return None;
                    }
                    let (mut before, mut beyond, mut beyond_start) = (extents, extents, start);
                    before[dimension] = at;
                    beyond[dimension] -= at;
                    beyond_start[dimension] += at;
                    boxes.extend([(start, before), (beyond_start, beyond)]);
                }
            }
        }
        Some((space, pieces))
    }

    /// What the results are in a box of these extents from a point on.
    fn results_of_box(
        &self,
        start: [usize; DIMENSIONS],
        extents: [usize; DIMENSIONS],
    ) -> Result<Vec<Taken>, Unknown> {
        let body = &self.bound.kernel.body;
        let mut found =
            Found { launch: self, extents, known: BTreeMap::new(), taken: BTreeMap::new() };
        for (dimension, &index) in body.indices.iter().enumerate() {
            // Indices count from the first of the box.
            let index_ = Known::Number(Affine::index(dimension, start[dimension]));
            found.known.insert(index, index_);
        }
        found.code(&body.code)?;
        body.results.iter().map(|result| found.taken(result).ok_or(Unknown::Other)).collect()
    }

    /// Copies what belongs to a slab, whose elements are the part.
    fn copy_piece(
        &self,
        piece: &Piece,
        taken: &Taken,
        space: &[usize],
        slab: &Slab,
        part: &mut StorageMut<'_>,
        stream: &Stream,
    ) {
        let outer = slab.first.len();
        let (mut to, mut from) = (0, 0_i128);
        let mut dimensions = Vec::with_capacity(space.len());
        let mut apart = 1;
        for at in (0..space.len()).rev() {
            let (start, end) = (piece.start[at], piece.start[at] + piece.extents[at]);
            let within = match at {
                at if at < outer => slab.first[at]..slab.first[at] + 1,
                at if at == outer => slab.range.clone(),
                _ => 0..space[at],
            };
            let (first, last) = (start.max(within.start), end.min(within.end));
            if first >= last {
                return;
            }
            to += (first - within.start) * apart;
            let step = match taken {
                Taken::Elements(_, place) => place.multiple(at),
                Taken::Scalar(_) => 0,
            };
            from += (first - start) as i128 * step;
            dimensions.push(Dimension { extent: last - first, to: apart, from: step as isize });
            apart *= space[at];
        }
        dimensions.reverse();
        let single;
        let elements: Elements<'_> = match taken {
            Taken::Elements(array, place) => {
                from += place.constant();
                let Source::Array { elements, .. } = &self.sources[*array] else {
                    unreachable!("elements are those of an array")
                };
                *elements
            }
            Taken::Scalar(scalar) => {
                single = Storage::from_column(Stored::scalar(*scalar).elements);
                single.elements()
            }
        };
        with_lane_type!(elements.ty(), T => {
            let from_ = <T as Lane>::elements(elements);
            copy(from_, from as isize, <T as Lane>::slice_mut(part), to, dimensions, stream);
        });
    }
}

/// What is known of registers in a box.
struct Found<'a> {
    launch: &'a Launch<'a>,
    extents: [usize; DIMENSIONS],
    known: BTreeMap<Register, Known>,
    taken: BTreeMap<Register, Taken>,
}

impl Found<'_> {
    fn code(&mut self, code: &Code) -> Result<(), Unknown> {
        code.instructions.iter().try_for_each(|instruction| self.instruction(instruction))
    }

    fn instruction(&mut self, instruction: &Instruction) -> Result<(), Unknown> {
        match &instruction.operation {
            Operation::Scalar(ScalarOp::Select, operands) => {
                let chosen = match self.truth(&operands[0])? {
                    true => operands[1],
                    false => operands[2],
                };
                self.bind(instruction, &[chosen]);
            }
            Operation::Scalar(op, operands) => {
                let result = instruction.results[0].0;
                let operands: Option<Vec<Known>> =
                    operands.iter().map(|operand| of_operand(operand, &self.known)).collect();
                let Some(operands) = operands else { return Ok(()) };
                match evaluate(*op, &operands, self.extents) {
                    Some(known) => drop(self.known.insert(result, known)),
                    None => {
                        if let Some((dimension, at)) = border(*op, &operands, self.extents) {
                            return Err(Unknown::Border(dimension, at));
                        }
                    }
                }
            }
            Operation::Read(array, indices) => self.read(instruction, array.0 as usize, indices)?,
            Operation::Check(condition, _) => match self.truth(condition)? {
                true => {}
                false => return Err(Unknown::Other),
            },
            Operation::If { condition, then, otherwise } => {
                let side = if self.truth(condition)? { then } else { otherwise };
                self.code(side)?;
                self.bind(instruction, &side.results);
            }
            Operation::Random(..) | Operation::While { .. } => return Err(Unknown::Other),
        }
        Ok(())
    }

    fn truth(&self, condition: &Operand) -> Result<bool, Unknown> {
        match of_operand(condition, &self.known) {
            Some(Known::Truth(truth)) => Ok(truth),
            Some(Known::Number(_)) | None => Err(Unknown::Other),
        }
    }

    /// The results of an instruction are these operands.
    fn bind(&mut self, instruction: &Instruction, operands: &[Operand]) {
        for (&(result, _), operand) in instruction.results.iter().zip(operands) {
            if let Some(known) = of_operand(operand, &self.known) {
                self.known.insert(result, known);
            }
            if let Some(taken) = self.taken(operand) {
                self.taken.insert(result, taken);
            }
        }
    }

    fn taken(&self, operand: &Operand) -> Option<Taken> {
        match operand {
            Operand::Register(register) => self.taken.get(register).cloned(),
            Operand::Scalar(scalar) => Some(Taken::Scalar(*scalar)),
        }
    }

    fn read(
        &mut self,
        instruction: &Instruction,
        array: usize,
        indices: &[Operand],
    ) -> Result<(), Unknown> {
        let result = instruction.results[0].0;
        let (elements, strides) = match &self.launch.sources[array] {
            Source::Scalar(scalar) => {
                if let Some(known) = of_scalar(*scalar) {
                    self.known.insert(result, known);
                }
                self.taken.insert(result, Taken::Scalar(*scalar));
                return Ok(());
            }
            Source::Array { elements, strides, .. } => (elements, strides),
        };
        let place = Affine::place(indices, strides, &self.known).ok_or(Unknown::Other)?;
        let (least, greatest) = place.range(self.extents).ok_or(Unknown::Other)?;
        if least < 0 || greatest >= elements.len() as i128 {
            return Err(Unknown::Other);
        }
        self.taken.insert(result, Taken::Elements(array, place));
        Ok(())
    }
}

/// Slabs of about [`CLAIM`] points that a space consists of, in order.
fn slabs(space: &[usize]) -> Vec<Slab> {
    let below = |at: usize| space[at + 1..].iter().product::<usize>();
    let along = (0..space.len()).find(|&at| below(at) <= CLAIM).unwrap_or(space.len() - 1);
    let most = (CLAIM / below(along)).max(1);
    let mut slabs = Vec::new();
    let mut first = vec![0; along];
    'all: loop {
        for start in (0..space[along]).step_by(most) {
            let range = start..space[along].min(start + most);
            slabs.push(Slab { first: first.clone(), range });
        }
        for at in (0..along).rev() {
            first[at] += 1;
            if first[at] < space[at] {
                continue 'all;
            }
            first[at] = 0;
        }
        return slabs;
    }
}
