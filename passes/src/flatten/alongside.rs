//! Maps whose results are seen with other extents.
//!
//! Note [Maps seen with other extents]. `sum (flatten (a * b))` runs over all elements of two matrices. Were the product
//! fused as it stands, over rows and columns, each element would ask which row and column it is in: a quotient and a
//! remainder, which take far longer than a product. So where a map reads nothing but what stands at its own
//! point, in arrays of its extents, and does not look at where that is, it is written over the other extents, of the arrays
//! as they are with these. Those may be results of such maps themselves. What others want as it is stays as it is: it
//! would be computed twice.

use weft_ir::code::{Operand, Operation as CodeOperation, Register, Thunk};
use weft_ir::flat::{Dimension, Operation, Size, Statement, Type, Var};

use super::Flattener;
use super::view::{Source, Value};

/// How many maps are followed, one reading the other.
const MOST_MAPS: u32 = 6;

impl Flattener<'_> {
    /// The elements of an array with other extents, of the host, computed with these if a map makes them.
    pub(super) fn seen_as(&mut self, var: Var, extents: &[Size]) -> Var {
        self.seen_through(var, extents, MOST_MAPS)
    }

    fn seen_through(&mut self, var: Var, extents: &[Size], maps: u32) -> Var {
        let own = self.types[var.0 as usize].clone();
        let maps = maps.checked_sub(1);
        let made = maps.filter(|_| self.depth() == 0 && extents.len() < own.extents.len());
        let Some((maps, (mut thunk, span))) =
            made.and_then(|maps| Some((maps, self.map_alongside(var, &own)?)))
        else {
            return self.reshaped(var, extents.to_vec());
        };
        thunk.indices.truncate(extents.len());
        let point: Vec<Operand> = thunk.indices.iter().map(|&at| Operand::Register(at)).collect();
        let mut seen: Vec<(Var, Var)> = Vec::new();
        let arrays: Vec<Var> = thunk.code.reads().collect();
        for array in arrays {
            let is_new = seen.iter().all(|(known, _)| *known != array);
            if is_new && !self.types[array.0 as usize].extents.is_empty() {
                seen.push((array, self.seen_through(array, extents, maps)));
            }
        }
        thunk.code.walk_mut(&mut |instruction| {
            if let CodeOperation::Read(array, indices) = &mut instruction.operation
                && let Some((_, other)) = seen.iter().find(|(known, _)| known == array)
            {
                (*array, *indices) = (*other, point.clone());
            }
        });
        let space = extents.iter().map(|&extent| Dimension::Dense(extent)).collect();
        let result = self.typed(Type { element: own.element, extents: extents.to_vec() });
        let operation = Operation::Map { space, thunk };
        self.emit(Statement { results: vec![result], operation, span });
        result
    }

    /// What a map of the open block computes at each point, if that reads only what stands there in arrays of the same
    /// extents, and scalars.
    fn map_alongside(&self, var: Var, own: &Type) -> Option<(Thunk, weft_ir::Span)> {
        let statements = self.blocks.last()?;
        let statement = statements.iter().rev().find(|it| it.results.contains(&var))?;
        let ([_], Operation::Map { space, thunk }) = (&statement.results[..], &statement.operation)
        else {
            return None;
        };
        let is_dense = space.iter().all(|dimension| matches!(dimension, Dimension::Dense(_)));
        let is_point = |operand: &Operand| matches!(operand, Operand::Register(register) if thunk.indices.contains(register));
        let is_all = |indices: &[Operand]| {
            let registers: Option<Vec<Register>> = indices.iter().map(|at| at.register()).collect();
            registers.is_some_and(|registers| registers == thunk.indices)
        };
        let same = |array: Var| {
            let other = &self.types[array.0 as usize].extents;
            other.len() == own.extents.len()
                && other
                    .iter()
                    .zip(&own.extents)
                    .all(|(a, b)| self.same_size(*a) == self.same_size(*b))
        };
        let mut alongside =
            is_dense && self.is_used_once(var) && !thunk.code.results.iter().any(is_point);
        for instruction in thunk.code.walk() {
            match &instruction.operation {
                CodeOperation::Read(array, indices) if !indices.is_empty() => {
                    alongside &= is_all(indices) && same(*array);
                }
                operation => {
                    operation.for_each_operand(&mut |operand| alongside &= !is_point(operand));
                    operation.for_each_body(&mut |body| {
                        alongside &= !body.results.iter().any(is_point);
                    });
                }
            }
        }
        alongside.then(|| (thunk.clone(), statement.span))
    }

    /// Whether an array is that of variables of the program, and its rows those of others, which are all used once.
    fn is_used_once(&self, var: Var) -> bool {
        let is_it = |value: &Value<'_>| match value {
            Value::Array(view) => {
                matches!(&view.source, Source::Stored { var: of, .. } if *of == var)
            }
            Value::Scalar(_) => false,
        };
        let mut bound = self.bound.iter().filter(|(_, value)| is_it(value)).peekable();
        bound.peek().is_some() && bound.all(|(name, _)| self.uses[name.0 as usize] == 1)
    }
}
