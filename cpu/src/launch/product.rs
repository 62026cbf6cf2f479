//! Matrix products: sums over k of `a[i, k] · b[k, j]`, whichever way the factors lie in memory
//! (Notes [Products in the tree] and [Affine reads]), or are computed (Note [Computed factors]).
//!
//! Note [Batches of products]. Dimensions before the last three number products, each of whose factors begins somewhere
//! in its array, or is the same for all. Such a dimension is one of rows if the right factor stays the same, and the left
//! rows of one product follow those of the one before. Threads take several small products at once, and of a
//! large one some rows.

use std::ops::Range;
use std::sync::atomic::Ordering;

use weft_ir::code::{Instruction, Operand, Operation, Register};
use weft_ir::flat::Start;
use weft_ir::plan::Sink;
use weft_ir::{Scalar, ScalarOp, Stop};

use crate::execute::{Halt, Source};
use crate::fold::TREE;
use crate::lanes::{Elements, Lane, LaneType, Storage};
use crate::launch::affine::AffineRead;
use crate::launch::{Launch, PARALLEL, SinkResult};
use crate::product::{Block, Factor, ROWS, Rounding};
use crate::shape::{Axis, Shape};

/// The rows that a thread works on at once, at most.
const SPAN: usize = 512;

/// Smaller products are left to the other ways.
const SMALL: usize = 1 << 11;

/// About how many products of numbers a thread takes at once.
const CLAIM: usize = 1 << 17;

/// An operand that lies in an array.
struct Side {
    /// By number.
    array: usize,
    /// Its first element.
    offset: usize,
    /// Along the product's dimension and the sum's.
    strides: (usize, usize),
    /// Along those that number products.
    batch: Vec<usize>,
}

/// Products of matrices of the same extents.
#[derive(Clone)]
struct Products {
    rows: usize,
    columns: usize,
    /// How many products of numbers each sum has.
    steps: usize,
    /// Of each dimension that numbers them the extent, and how far apart their left and right factors stand.
    batch: Vec<(usize, [usize; 2])>,
}

/// An operand: elements, and how far apart neighbours stand along its two dimensions.
#[derive(Clone, Copy)]
struct Matrix<'a, T> {
    elements: &'a [T],
    /// Along the product's dimension.
    outer: usize,
    /// Along the sum's.
    inner: usize,
}

impl Launch<'_> {
    /// The sums and what they start with, if this is a matrix product.
    pub(super) fn product(&self, taken: &mut u64) -> Result<Option<Vec<SinkResult>>, Stop> {
        let Some(start) = self.constant_start() else { return Ok(None) };
        let dense = |axis: &Axis<'_>| match axis {
            Axis::Dense(extent) => Some(*extent),
            Axis::Ragged(_) => None,
        };
        let extents: Option<Vec<usize>> = self.shape.axes.iter().map(dense).collect();
        let Some(extents) = extents else { return Ok(None) };
        let [ref batch @ .., rows, columns, steps] = extents[..] else { return Ok(None) };
        if extents.contains(&0) || self.shape.points() < SMALL || columns < 2 {
            return Ok(None);
        }
        // A single pair has met no other: it is still a product (Note [Sums of products] in lowering).
        let [Sink::Reduce { operator, .. }] = &self.kernel.sinks[..] else { return Ok(None) };
        if steps == 1 && operator.is_sum_of_products() {
            return Ok(None);
        }
        let product = match self.factors(&extents) {
            Some((left, right, rounding)) => {
                let (Some(a), Some(b)) = (self.elements(&left), self.elements(&right)) else {
                    return Ok(None);
                };
                let along =
                    left.batch.iter().zip(&right.batch).map(|(&left, &right)| [left, right]);
                let batch = batch.iter().copied().zip(along).collect();
                let products = Products { rows, columns, steps, batch }.merged(left.strides.0);
                let (left, right) = ((a, left.strides), (b, right.strides));
                self.multiplied(left, right, &products, start, rounding)?
            }
            None if batch.is_empty() && columns >= 8 => {
                self.computed_product([rows, columns, steps], start, taken)?
            }
            None => None,
        };
        let Some((sums, rounding)) = product else { return Ok(None) };
        let mut values = vec![sums];
        if rounding == Rounding::Once {
            values.push(self.ones(values[0].ty(), values[0].len()));
        }
        Ok(Some(vec![SinkResult::Reduced { values, started: false }]))
    }

    /// The sums of products whose factors are computed, if there is room for these.
    fn computed_product(
        &self,
        extents: [usize; 3],
        start: Option<Scalar>,
        taken: &mut u64,
    ) -> Result<Option<(Storage, Rounding)>, Stop> {
        let [rows, columns, steps] = extents;
        let [Sink::Reduce { operator, .. }] = &self.kernel.sinks[..] else { return Ok(None) };
        let ty = operator.left[0].1;
        let Some(computed) = &self.bound.kernel.factors else { return Ok(None) };
        let bytes =
            (rows.saturating_add(columns)).saturating_mul(steps).saturating_mul(ty.bytes()) as u64;
        // For fewer rows their other factors are as many as the products.
        if rows < 8 || taken.saturating_add(bytes) > self.free_bytes {
            return Ok(None);
        }
        self.beside.fetch_max(bytes, Ordering::Relaxed);
        let mut of_computed = 0;
        let mut sides = Vec::new();
        for (thunk, outer) in computed.sides.iter().zip([rows, columns]) {
            let Some(shape) = Shape::new(vec![Axis::Dense(outer), Axis::Dense(steps)]) else {
                return Ok(None);
            };
            sides.extend(self.map(thunk, &shape, &[], vec![LaneType::of(ty)], &mut of_computed)?);
        }
        let [left, right] = [0, 1].map(|at: usize| (sides[at].elements(), (steps, 1)));
        let products = Products { rows, columns, steps, batch: Vec::new() };
        let product = self.multiplied(left, right, &products, start, computed.rounding);
        sides.into_iter().for_each(|side| self.workers.memory().keep(side));
        product
    }

    /// The sums of products of matrices with their strides, if their type has a way for it.
    fn multiplied(
        &self,
        (left, left_strides): (Elements<'_>, (usize, usize)),
        (right, right_strides): (Elements<'_>, (usize, usize)),
        products: &Products,
        start: Option<Scalar>,
        rounding: Rounding,
    ) -> Result<Option<(Storage, Rounding)>, Stop> {
        macro_rules! product {
            ($a:expr, $b:expr) => {
                self.multiply(($a, left_strides), ($b, right_strides), products, start, rounding)
            };
        }
        let sums = match (left, right) {
            (Elements::F32(a), Elements::F32(b)) => product!(a, b),
            (Elements::F64(a), Elements::F64(b)) => product!(a, b),
            (Elements::I32(a), Elements::I32(b)) => product!(a, b),
            (Elements::I64(a), Elements::I64(b)) => product!(a, b),
            (_, _) => return Ok(None),
        };
        sums.map(|sums| Some((sums, rounding))).map_err(|halt| self.stop(halt))
    }

    fn elements(&self, side: &Side) -> Option<Elements<'_>> {
        match &self.sources[side.array] {
            Source::Array { elements, .. } => Some(elements.slice(side.offset, elements.len())),
            Source::Scalar(_) => None,
        }
    }

    /// The second component of sums of products that are rounded once, where anybody reads it.
    fn ones(&self, ty: LaneType, count: usize) -> Storage {
        let stored = self.kernel.sinks.iter().any(
            |sink| matches!(sink, Sink::Reduce { arrays, .. } if matches!(arrays[..], [_, Some(_)])),
        );
        let count = if stored || self.kernel.epilogue.is_some() { count } else { 0 };
        match ty {
            LaneType::F32 => f32::into_storage(vec![1.0; count]),
            LaneType::F64 => f64::into_storage(vec![1.0; count]),
            other => unreachable!("{other:?} are not floats"),
        }
    }

    /// The two factors, the left one over the last dimension and the last but two, the right one over the last two;
    /// and how their products are added.
    fn factors(&self, extents: &[usize]) -> Option<(Side, Side, Rounding)> {
        let kernel = self.kernel;
        let [Sink::Reduce { values, operator, .. }] = &kernel.sinks[..] else { return None };
        if self.bound.kernel.own != self.bound.kernel.body.results.len() {
            return None;
        }
        let (first, second, rounding) = match values[..] {
            [Operand::Register(product)] if operator.is_sum() => {
                let is_product = |at: &&Instruction| at.results.iter().any(|to| to.0 == product);
                let product = kernel.body.instructions.iter().find(is_product)?;
                let Operation::Scalar(ScalarOp::Mul, factors) = &product.operation else {
                    return None;
                };
                (factors[0], factors[1], Rounding::Twice)
            }
            [first, second] if operator.is_sum_of_products() => (first, second, Rounding::Once),
            _ => return None,
        };
        let (Operand::Register(first), Operand::Register(second)) = (first, second) else {
            return None;
        };
        let reads = self.affine_reads(extents)?;
        let batch = extents.len() - 3;
        let side = |read: &AffineRead, outer: usize, other: usize| {
            let [along_outer, along_other, along_inner] =
                [outer, other, 2].map(|at| read.strides[batch + at]);
            let is_matrix = along_outer > 0 && along_inner > 0 && along_other == 0;
            let strides = (along_outer, along_inner);
            let batch = read.strides[..batch].to_vec();
            is_matrix.then_some(Side { array: read.array, offset: read.offset, strides, batch })
        };
        let both = |a: Register, b: Register| {
            Some((side(reads.get(&a)?, 0, 1)?, side(reads.get(&b)?, 1, 0)?, rounding))
        };
        both(first, second).or_else(|| both(second, first))
    }

    /// What all sums start with: a constant, or nothing. None, if it is something else.
    fn constant_start(&self) -> Option<Option<Scalar>> {
        let [Sink::Reduce { start, .. }] = &self.kernel.sinks[..] else { return None };
        match start {
            // No sum is empty.
            Start::None | Start::IfEmpty(_) => Some(None),
            Start::Combined(thunk) => match &thunk.code.results[..] {
                [Operand::Scalar(start)]
                | [Operand::Scalar(start), Operand::Scalar(Scalar::F32(1.0) | Scalar::F64(1.0))] => {
                    Some(Some(*start))
                }
                _ => None,
            },
        }
    }

    /// All sums, product by product and row by row.
    fn multiply<T: Factor + Lane>(
        &self,
        (left, left_strides): (&[T], (usize, usize)),
        (right, right_strides): (&[T], (usize, usize)),
        products: &Products,
        start: Option<Scalar>,
        rounding: Rounding,
    ) -> Result<Storage, Halt> {
        let &Products { rows, columns, steps, .. } = products;
        let left = Matrix { elements: left, outer: left_strides.0, inner: left_strides.1 };
        let right = Matrix { elements: right, outer: right_strides.0, inner: right_strides.1 };
        let start_with = start.map(T::from_scalar);
        let (count, threads) = (products.count(), self.workers.threads());
        let mut results = self.workers.memory().take(T::TYPE, count * rows * columns);
        let piece = self.meter.begin((count * rows * columns) as u64);
        // Some rows of one product, or several products.
        let span = rows.div_ceil(if count < threads { threads } else { 1 }).clamp(ROWS * 4, SPAN);
        let most = CLAIM / (rows * columns * steps);
        let together = if span < rows { 1 } else { most.min(count / (threads * 4)).max(1) };
        let size = rows * columns;
        let claims = T::storage_mut(&mut results).chunks_mut(together * size).zip(0..);
        let claims = claims.flat_map(|(results, number)| {
            let most = if together > 1 { results.len() } else { span * columns };
            let first = move |at| (number * together, at * span);
            results.chunks_mut(most).zip(0..).map(move |(results, at)| (first(at), results))
        });
        let parallel = self.shape.points() >= PARALLEL;
        let start = || Panel::new(span.min(rows), steps, rounding);
        self.workers.each(parallel, claims, start, |panel: &mut Panel<T>, claim| {
            let ((first_product, first), results) = claim;
            for (product, results) in (first_product..).zip(results.chunks_mut(size)) {
                let (left_start, right_start) = products.starts(product);
                let (left, right) = (left.from(left_start), right.from(right_start));
                let count = results.len() / columns;
                for column in (0..columns).step_by(T::COLUMNS) {
                    let (rows, poll) = (first..first + count, || self.context().poll());
                    let width = T::COLUMNS.min(columns - column);
                    let columns_here = column..column + width;
                    panel.sum(left, rows, right, columns_here, steps, poll)?;
                    panel.finish(results, columns, column..column + width, start_with);
                    if let Some(piece) = &piece {
                        piece.advance((count * width) as u64);
                    }
                }
            }
            Ok(())
        })?;
        Ok(results)
    }
}

impl Products {
    /// With dimensions that are no others than rows, whose left factors stand so far apart.
    fn merged(mut self, outer: usize) -> Products {
        while let Some((extent, [left, right])) = self.batch.pop() {
            if extent > 1 && (right > 0 || left != self.rows * outer) {
                self.batch.push((extent, [left, right]));
                break;
            }
            self.rows *= extent;
        }
        self
    }

    /// How many there are.
    fn count(&self) -> usize {
        self.batch.iter().map(|(extent, _)| extent).product()
    }

    /// Where the factors of one begin.
    fn starts(&self, mut number: usize) -> (usize, usize) {
        let mut starts = (0, 0);
        for (extent, [left, right]) in self.batch.iter().rev() {
            let index = number % extent;
            number /= extent;
            starts = (starts.0 + index * left, starts.1 + index * right);
        }
        starts
    }
}

impl<'a, T> Matrix<'a, T> {
    /// The one that begins so many elements further on.
    fn from(self, start: usize) -> Matrix<'a, T> {
        Matrix { elements: &self.elements[start..], ..self }
    }
}

/// The sums of some columns, level by level of the tree.
struct Panel<T> {
    /// What the current block of each level has come to, and of how many.
    levels: Vec<(Vec<T>, usize)>,
    /// A block of the right matrix, step by step.
    right: Vec<T>,
    rounding: Rounding,
}

impl<T: Factor> Panel<T> {
    fn new(rows: usize, steps: usize, rounding: Rounding) -> Panel<T> {
        let (mut depth, mut blocks) = (1, steps.div_ceil(TREE));
        while blocks > 1 {
            blocks = blocks.div_ceil(TREE);
            depth += 1;
        }
        // A tile may reach past the last row.
        let sums = (rows + ROWS) * T::COLUMNS;
        Panel {
            levels: (0..depth).map(|_| (vec![T::default(); sums], 0)).collect(),
            right: vec![T::default(); TREE * T::COLUMNS],
            rounding,
        }
    }

    /// Adds up all steps for some rows and columns. It asks now and then whether it shall end.
    fn sum(
        &mut self,
        left: Matrix<'_, T>,
        rows: Range<usize>,
        right: Matrix<'_, T>,
        columns: Range<usize>,
        steps: usize,
        poll: impl Fn() -> Result<(), Halt>,
    ) -> Result<(), Halt> {
        let (column, width) = (columns.start, columns.len());
        self.levels.iter_mut().for_each(|(_, taken)| *taken = 0);
        for step in (0..steps).step_by(TREE) {
            poll()?;
            let block = TREE.min(steps - step);
            if block == 1 && step > 0 && self.rounding == Rounding::Once {
                self.add_last(left, rows, right, columns, step);
                break;
            }
            for (at, packed) in self.right.chunks_exact_mut(T::COLUMNS).take(block).enumerate() {
                let start = column * right.outer + (step + at) * right.inner;
                if right.outer == 1 {
                    packed[..width].copy_from_slice(&right.elements[start..start + width]);
                } else {
                    for (to, at) in packed[..width].iter_mut().zip(0..) {
                        *to = right.elements[start + at * right.outer];
                    }
                }
            }
            let packed = &self.right[..block * T::COLUMNS];
            let (sums, taken) = &mut self.levels[0];
            for (at, sums) in
                sums.chunks_exact_mut(ROWS * T::COLUMNS).take(rows.len().div_ceil(ROWS)).enumerate()
            {
                let row = |of: usize| (rows.start + at * ROWS + of).min(rows.end - 1);
                let block = Block {
                    left: left.elements,
                    rows: std::array::from_fn(|of| row(of) * left.outer + step * left.inner),
                    stride: left.inner,
                    right: packed,
                    width,
                    more: *taken > 0,
                    rounding: self.rounding,
                };
                T::tile(&block, sums);
            }
            *taken += 1;
            self.carry();
        }
        Ok(())
    }

    /// A product that is alone in its block is added to what is before it, with one rounding too.
    fn add_last(
        &mut self,
        left: Matrix<'_, T>,
        rows: Range<usize>,
        right: Matrix<'_, T>,
        columns: Range<usize>,
        step: usize,
    ) {
        let before = self.levels.iter_mut().find(|(_, taken)| *taken > 0);
        let (sums, _) = before.expect("a block is before it");
        for (row, sums) in rows.zip(sums.chunks_exact_mut(T::COLUMNS)) {
            let factor = left.elements[row * left.outer + step * left.inner];
            for (sum, column) in sums.iter_mut().zip(columns.clone()) {
                let other = right.elements[column * right.outer + step * right.inner];
                *sum = sum.plus_product(factor, other);
            }
        }
    }

    /// Takes complete blocks to the level above.
    fn carry(&mut self) {
        for level in 0..self.levels.len() - 1 {
            if self.levels[level].1 < TREE {
                return;
            }
            let (below, above) = self.levels.split_at_mut(level + 1);
            let ((from, taken_below), (to, taken)) = (&mut below[level], &mut above[0]);
            match *taken {
                0 => to.copy_from_slice(from),
                _ => add(to, from),
            }
            *taken += 1;
            *taken_below = 0;
        }
    }

    /// Combines the levels and writes the sums to columns of the results.
    fn finish(&self, results: &mut [T], columns: usize, some: Range<usize>, start: Option<T>) {
        let width = some.len();
        for (row, to) in results.chunks_exact_mut(columns).enumerate() {
            let to = &mut to[some.clone()];
            let mut first = true;
            for (sums, taken) in &self.levels {
                if *taken == 0 {
                    continue;
                }
                let sums = &sums[row * T::COLUMNS..][..width];
                for (to, &sum) in to.iter_mut().zip(sums) {
                    *to = if first { sum } else { sum.plus(*to) };
                }
                first = false;
            }
            if let Some(start) = start {
                to.iter_mut().for_each(|to| *to = start.plus(*to));
            }
        }
    }
}

/// Adds numbers, the earlier ones on the left.
fn add<T: Factor>(earlier: &mut [T], later: &[T]) {
    for (earlier, &later) in earlier.iter_mut().zip(later) {
        *earlier = earlier.plus(later);
    }
}
