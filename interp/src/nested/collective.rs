//! Operations that apply a lambda to many elements, and those with flags, indices or keys.

use std::cmp::Ordering;

use weft_ir::nested::{Atom, Lambda, ScanForm, Start, Type, Var};
use weft_ir::{Column, ColumnBuilder, FaultKind, Scalar, Span, Stop, Value, math};

use super::array::{integers, position};
use super::{Evaluator, fault, host_type, of_column};
use crate::builtins::reduce::BLOCK;

/// The components of an element, or of an operand.
type Components = Vec<Value>;

/// How a scan combines: from the right it is the mirror image.
#[derive(Clone, Copy)]
pub(super) struct Direction<'a> {
    from_right: bool,
    operator: &'a Lambda,
}

impl<'a> Direction<'a> {
    pub(super) fn new(from_right: bool, operator: &'a Lambda) -> Direction<'a> {
        Direction { from_right, operator }
    }
}

/// What becomes of values that are sent to places.
pub(super) struct Send<'a> {
    pub(super) operator: Option<&'a Lambda>,
    pub(super) drops: bool,
    pub(super) span: Span,
}

impl Evaluator<'_> {
    /// An array of type `ty` of these values.
    pub(super) fn collect(
        &mut self,
        ty: Type,
        values: impl Iterator<Item = Result<Value, Stop>>,
        span: Span,
    ) -> Result<Value, Stop> {
        let rows = values.map(|value| value.map(|value| vec![value]));
        Ok(self.collect_all(&[ty], rows, span)?.remove(0))
    }

    /// Arrays of these types, a row of components after the other.
    fn collect_all(
        &mut self,
        types: &[Type],
        rows: impl Iterator<Item = Result<Components, Stop>>,
        span: Span,
    ) -> Result<Vec<Value>, Stop> {
        let mut builders = self.builders(types);
        let mut held = 0;
        for row in rows {
            self.memory.step()?;
            held += self.push(&mut builders, &row?, span)?;
        }
        self.memory.release(held);
        Ok(finish(builders))
    }

    fn builders(&self, types: &[Type]) -> Vec<ColumnBuilder> {
        types.iter().map(|ty| ColumnBuilder::new(&host_type(ty.element()))).collect()
    }

    /// Appends a row, and yields the bytes that are held for it.
    fn push(
        &mut self,
        builders: &mut [ColumnBuilder],
        row: &[Value],
        span: Span,
    ) -> Result<usize, Stop> {
        let bytes = row.iter().map(|value| value.bytes() + size_of::<usize>()).sum();
        self.memory.hold(bytes, span)?;
        for (builder, value) in builders.iter_mut().zip(row) {
            builder.push(value);
        }
        Ok(bytes)
    }

    pub(super) fn map(
        &mut self,
        lambda: &Lambda,
        arrays: &[Atom],
        results: &[(Var, Type)],
        span: Span,
    ) -> Result<Vec<Value>, Stop> {
        let arrays = self.lockstep(arrays, span)?;
        let types: Vec<Type> = results.iter().map(|(_, ty)| *ty).collect();
        let mut builders = self.builders(&types);
        let mut held = 0;
        for index in 0..arrays[0].len() {
            let row = self.apply(lambda, &element(&arrays, index))?;
            held += self.push(&mut builders, &row, span)?;
        }
        self.memory.release(held);
        self.with_extents_of_map(lambda, &arrays, &types, finish(builders))
    }

    /// In the tree of `Note [The tree of a fold]`.
    pub(super) fn fold(
        &mut self,
        operator: &Lambda,
        start: &Start<Vec<Atom>>,
        arrays: &[Atom],
        span: Span,
    ) -> Result<Components, Stop> {
        let arrays = self.lockstep(arrays, span)?;
        let elements = (0..arrays[0].len()).map(|index| element(&arrays, index));
        let folded = self.tree(operator, elements)?;
        match (start, folded) {
            (Start::None, None) => fault(FaultKind::EmptyArray, span),
            (Start::None | Start::IfEmpty(_), Some(folded)) => Ok(folded),
            (Start::IfEmpty(start) | Start::Combined(start), None) => Ok(self.all(start)),
            (Start::Combined(start), Some(folded)) => {
                let start = self.all(start);
                self.combine(operator, start, folded)
            }
        }
    }

    /// The combination of all elements: blocks from left to right, then blocks of their results, ….
    /// Nothing, if there are none.
    fn tree(
        &mut self,
        operator: &Lambda,
        elements: impl Iterator<Item = Components>,
    ) -> Result<Option<Components>, Stop> {
        let mut level: Vec<Components> = Vec::new();
        let mut block: Option<(Components, usize)> = None;
        for element in elements {
            block = Some(match block.take() {
                None => (element, 1),
                Some((combined, BLOCK)) => {
                    level.push(combined);
                    (element, 1)
                }
                Some((combined, count)) => (self.combine(operator, combined, element)?, count + 1),
            });
        }
        level.extend(block.map(|(combined, _)| combined));
        if level.len() > 1 { self.tree(operator, level.into_iter()) } else { Ok(level.pop()) }
    }

    fn combine(
        &mut self,
        operator: &Lambda,
        left: Components,
        right: Components,
    ) -> Result<Components, Stop> {
        self.apply(operator, &[left, right].concat())
    }

    /// In the tree of `Note [The tree of a scan]`.
    pub(super) fn scan(
        &mut self,
        form: ScanForm,
        direction: Direction<'_>,
        start: &Start<Vec<Atom>>,
        arrays: &[Atom],
        results: &[(Var, Type)],
        span: Span,
    ) -> Result<Vec<Value>, Stop> {
        let arrays = self.lockstep(arrays, span)?;
        let length = arrays[0].len();
        self.memory.admit(length as u128 * size_of::<Components>() as u128, span)?;
        let mut elements: Vec<Components> =
            (0..length).map(|index| element(&arrays, index)).collect();
        if direction.from_right {
            elements.reverse();
        }
        self.scan_blocks(direction, &mut elements)?;
        if let Start::Combined(start) = start {
            let start = self.all(start);
            for element in &mut elements {
                *element = self.scan_step(direction, &start, element)?;
            }
            match form {
                ScanForm::Inclusive => {}
                ScanForm::Exclusive => {
                    elements.insert(0, start);
                    elements.pop();
                }
                ScanForm::Full => elements.insert(0, start),
            }
        }
        if direction.from_right {
            elements.reverse();
        }
        let types: Vec<Type> = results.iter().map(|(_, ty)| *ty).collect();
        let results = self.collect_all(&types, elements.into_iter().map(Ok), span)?;
        self.with_extents_of_scan(direction.operator, start, &arrays, &types, results)
    }

    /// The inclusive scan, in place.
    fn scan_blocks(
        &mut self,
        direction: Direction<'_>,
        elements: &mut [Components],
    ) -> Result<(), Stop> {
        for block in elements.chunks_mut(BLOCK) {
            for index in 1..block.len() {
                block[index] = self.scan_step(direction, &block[index - 1], &block[index])?;
            }
        }
        if elements.len() <= BLOCK {
            return Ok(());
        }
        let mut carries: Vec<Components> =
            elements.chunks(BLOCK).map(|block| block[block.len() - 1].clone()).collect();
        self.scan_blocks(direction, &mut carries)?;
        for (block, carry) in elements.chunks_mut(BLOCK).skip(1).zip(carries) {
            for element in block {
                *element = self.scan_step(direction, &carry, element)?;
            }
        }
        Ok(())
    }

    /// What came before combined with what comes next.
    fn scan_step(
        &mut self,
        direction: Direction<'_>,
        before: &Components,
        next: &Components,
    ) -> Result<Components, Stop> {
        let (left, right) = if direction.from_right { (next, before) } else { (before, next) };
        self.combine(direction.operator, left.clone(), right.clone())
    }

    pub(super) fn pack(
        &mut self,
        flags: Atom,
        arrays: &[Atom],
        span: Span,
    ) -> Result<Vec<Value>, Stop> {
        let mut columns = self.lockstep(&[&[flags], arrays].concat(), span)?;
        let flags = columns.remove(0);
        let kept: Vec<usize> = (0..flags.len())
            .filter(|index| flags.scalar(*index) == Some(Scalar::Bool(true)))
            .collect();
        let bytes: usize = columns.iter().map(Column::bytes).sum();
        self.memory.admit(bytes as u128, span)?;
        Ok(columns.iter().map(|column| of_column(column.gather(&kept))).collect())
    }

    /// With an operator each old value is combined with the fold of the values that are sent to it.
    pub(super) fn scatter(
        &mut self,
        destinations: &[Atom],
        indices: Atom,
        values: &[Atom],
        send: &Send<'_>,
        results: &[(Var, Type)],
    ) -> Result<Vec<Value>, Stop> {
        let destinations = self.lockstep(destinations, send.span)?;
        let mut values = self.lockstep(&[&[indices], values].concat(), send.span)?;
        let indices = values.remove(0);
        let extent = destinations[0].len();
        self.memory.admit((extent as u128 + indices.len() as u128) * 32, send.span)?;
        if extent == 0 && indices.is_empty() {
            return Ok(destinations.into_iter().map(of_column).collect());
        }
        let mut sent: Vec<Vec<usize>> = vec![Vec::new(); extent];
        for (source, index) in integers(&indices).iter().enumerate() {
            if !(send.drops && *index == -1) {
                sent[position(*index, extent, send.span)?].push(source);
            }
        }
        let types: Vec<Type> = results.iter().map(|(_, ty)| *ty).collect();
        let mut builders = self.builders(&types);
        let mut held = 0;
        for (target, sources) in sent.into_iter().enumerate() {
            let row = match (sources.last(), send.operator) {
                (None, _) => element(&destinations, target),
                (Some(last), None) => element(&values, *last),
                (Some(_), Some(operator)) => {
                    let elements = sources.iter().map(|source| element(&values, *source));
                    let folded = self.tree(operator, elements)?.expect("at least one value");
                    self.combine(operator, element(&destinations, target), folded)?
                }
            };
            held += self.push(&mut builders, &row, send.span)?;
        }
        self.memory.release(held);
        Ok(finish(builders))
    }

    pub(super) fn sort_order(
        &mut self,
        keys: &[Atom],
        descending: bool,
        span: Span,
    ) -> Result<Value, Stop> {
        let keys = self.lockstep(keys, span)?;
        self.memory.admit(keys[0].len() as u128 * 16, span)?;
        let compare = |a: usize, b: usize| {
            let scalar = |key: &Column, at| key.scalar(at).expect("keys are scalars");
            keys.iter()
                .map(|key| math::total_cmp(scalar(key, a), scalar(key, b)))
                .find(|ordering| *ordering != Ordering::Equal)
                .unwrap_or(Ordering::Equal)
        };
        let mut order: Vec<i64> = (0..keys[0].len() as i64).collect();
        order.sort_by(|&a, &b| {
            let (a, b) = (a as usize, b as usize);
            if descending { compare(b, a) } else { compare(a, b) }
        });
        Ok(of_column(Column::I64(order.into())))
    }

    /// Arrays, at least one, that are traversed together.
    fn lockstep(&self, arrays: &[Atom], span: Span) -> Result<Vec<Column>, Stop> {
        let arrays: Vec<Column> = arrays.iter().map(|array| self.array(*array)).collect();
        if arrays.iter().any(|array| array.len() != arrays[0].len()) {
            return fault(FaultKind::LengthMismatch, span);
        }
        Ok(arrays)
    }
}

/// What stands at that position in each of the arrays.
fn element(arrays: &[Column], index: usize) -> Components {
    arrays.iter().map(|array| array.get(index)).collect()
}

fn finish(builders: Vec<ColumnBuilder>) -> Vec<Value> {
    builders.into_iter().map(|builder| of_column(builder.finish())).collect()
}
