//! Maps whose results are seen with other extents.
//!
//! Note [Maps seen with other extents]. `sum (flatten (a * b))` runs over all elements of two matrices. Were the product
//! fused as it stands, over rows and columns, each element would ask which row and column it is in: a quotient and a
//! remainder, which take far longer than a product. So where a map reads nothing but what stands at its own
//! point, in arrays of its extents, and does not look at where that is, it is written over the other extents, of the arrays
//! as they are with these. Those may be results of such maps themselves. What others want as it is stays as it is: it
//! would be computed twice. Inside of an apply-to-each the extents of the items stand before those that are seen
//! otherwise, and their indices are free: `{ sum (flatten (a * b)) : … }` reads one item of `a` and perhaps another of `b`.
//! What has one element may have no extents left, as `b` where `a * b` is seen without its last axis, of one element:
//! that is read as it is, since a scalar is no array.

use weft_ir::Scalar;
use weft_ir::code::{Operand, Operation as CodeOperation, Register, Thunk};
use weft_ir::flat::{Dimension, Operation, Size, Statement, Type, Var};

use super::Flattener;
use super::view::{Source, Value};

/// How many maps are followed, one reading the other.
const MOST_MAPS: u32 = 6;

impl Flattener<'_> {
    /// The elements of an array with other extents, computed with these if a map makes them.
    pub(super) fn seen_as(&mut self, var: Var, extents: &[Size]) -> Var {
        self.seen_through(var, extents, MOST_MAPS)
    }

    fn seen_through(&mut self, var: Var, extents: &[Size], maps: u32) -> Var {
        let own = self.types[var.0 as usize].extents.clone();
        let shared = own.iter().zip(extents).take_while(|(a, b)| a == b).count();
        let maps = maps.checked_sub(1);
        // Of no items any extents are the same: those of the arrays that are read need not be.
        let none = own[..shared].contains(&Size::Constant(0));
        let made = maps.filter(|_| extents.len() < own.len() && !none);
        let Some((maps, (mut thunk, span))) =
            made.and_then(|maps| Some((maps, self.map_alongside(var, shared)?)))
        else {
            return self.reshaped(var, extents.to_vec());
        };
        let inside = own.len() - shared;
        let own_place = thunk.indices[shared..].to_vec();
        let mut seen: Vec<(Var, Var)> = Vec::new();
        for instruction in thunk.code.walk() {
            if let CodeOperation::Read(array, indices) = &instruction.operation
                && ends_with(indices, &own_place)
                && seen.iter().all(|(known, _)| known != array)
            {
                let mut others = self.types[array.0 as usize].extents.clone();
                others.truncate(others.len() - inside);
                others.extend_from_slice(&extents[shared..]);
                if !others.is_empty() {
                    seen.push((*array, self.seen_through(*array, &others, maps)));
                }
            }
        }
        thunk.indices.truncate(extents.len());
        let point: Vec<Operand> =
            thunk.indices[shared..].iter().map(|&at| Operand::Register(at)).collect();
        thunk.code.walk_mut(&mut |instruction| {
            if let CodeOperation::Read(array, indices) = &mut instruction.operation
                && ends_with(indices, &own_place)
            {
                match seen.iter().find(|(known, _)| known == array) {
                    Some((_, other)) => {
                        *array = *other;
                        indices.truncate(indices.len() - inside);
                        indices.extend_from_slice(&point);
                    }
                    // It has one element, and no extents would be left of it.
                    None => indices.fill(Operand::Scalar(Scalar::I64(0))),
                }
            }
        });
        let space = extents.iter().map(|&extent| Dimension::Dense(extent)).collect();
        let element = self.types[var.0 as usize].element;
        let result = self.typed(Type { element, extents: extents.to_vec() });
        let operation = Operation::Map { space, thunk };
        self.emit(Statement { results: vec![result], operation, span });
        result
    }

    /// What a map of the open block computes at each point, if it uses its indices behind the first `shared` ones, which are
    /// those of the items, to read what stands there in arrays of the same extents and for nothing else.
    fn map_alongside(&self, var: Var, shared: usize) -> Option<(Thunk, weft_ir::Span)> {
        let statements = self.blocks.last()?;
        let statement = statements.iter().rev().find(|it| it.results.contains(&var))?;
        let ([_], Operation::Map { space, thunk }) = (&statement.results[..], &statement.operation)
        else {
            return None;
        };
        let own = &self.types[var.0 as usize].extents[shared..];
        let is_dense = space.iter().all(|dimension| matches!(dimension, Dimension::Dense(_)));
        let inside = thunk.indices.get(shared..)?;
        let is_point = |operand: &Operand| matches!(operand, Operand::Register(register) if inside.contains(register));
        let same = |array: Var| {
            let other = &self.types[array.0 as usize].extents;
            let first = other.len() - own.len();
            other[first..].iter().zip(own).all(|(a, b)| self.same_size(*a) == self.same_size(*b))
        };
        let mut alongside =
            is_dense && self.is_used_once(var) && !thunk.code.results.iter().any(is_point);
        for instruction in thunk.code.walk() {
            match &instruction.operation {
                CodeOperation::Read(array, indices) if ends_with(indices, inside) => {
                    let outside = &indices[..indices.len() - inside.len()];
                    alongside &= !outside.iter().any(is_point) && same(*array);
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

/// Whether the last of these indices are these registers.
fn ends_with(indices: &[Operand], registers: &[Register]) -> bool {
    let registers: Vec<Operand> = registers.iter().map(|&at| Operand::Register(at)).collect();
    indices.ends_with(&registers)
}
