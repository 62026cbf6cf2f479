//! The arguments of the calls of all levels, as flat arrays: an argument that is an array of rank r is
//! the lengths of its rows, r times, and the elements. Appending arrays of arrays would copy row by row.

use weft_ir::ScalarOp;
use weft_ir::nested::{Atom, Operation, Type};

use super::empty_array;
use crate::code::{Code, I64, integer};

/// For each flat array the elements of all levels, and where each level begins.
pub(super) struct Stack {
    /// The types of the arguments.
    arguments: Vec<Type>,
    /// Their flat arrays: for each the lengths, outermost first, then the elements.
    flat: Vec<Atom>,
    /// For each of these where each level begins.
    starts: Vec<Atom>,
}

impl Stack {
    /// Without levels.
    pub(super) fn empty(code: &mut Code<'_>, arguments: &[Type]) -> Stack {
        let types = flat_types(arguments);
        Stack {
            arguments: arguments.to_vec(),
            flat: types.iter().map(|ty| empty_array(code, *ty)).collect(),
            starts: types.iter().map(|_| empty_array(code, I64.array())).collect(),
        }
    }

    /// The same with other arrays.
    pub(super) fn with(&self, atoms: &[Atom]) -> Stack {
        let (flat, starts) = atoms.split_at(self.flat.len());
        let arguments = self.arguments.clone();
        Stack { arguments, flat: flat.to_vec(), starts: starts.to_vec() }
    }

    /// Its arrays.
    pub(super) fn atoms(&self) -> Vec<Atom> {
        [&self.flat[..], &self.starts].concat()
    }

    /// Their types.
    pub(super) fn types(&self) -> Vec<Type> {
        let flat = flat_types(&self.arguments);
        let starts = vec![I64.array(); flat.len()];
        [flat, starts].concat()
    }

    /// An array with one element for each level.
    pub(super) fn starts(&self) -> Atom {
        self.starts[0]
    }

    /// The flat arrays; the first has one element for each call.
    pub(super) fn flat(&self) -> &[Atom] {
        &self.flat
    }

    /// With one level more: arrays of arguments, of these types.
    pub(super) fn push(&self, code: &mut Code<'_>, level: &[Atom], types: &[Type]) -> Stack {
        let mut parts = Vec::new();
        for (&list, &ty) in level.iter().zip(types) {
            let (mut list, mut ty) = (list, ty);
            while ty.rank > 1 {
                let lengths = code.map(vec![list], &[ty.element()], &[I64], |code, row| {
                    vec![code.one(Operation::Length(row[0]), I64)]
                });
                parts.push(lengths[0]);
                ty = ty.element();
                list = code.one(Operation::Flatten(list), ty);
            }
            parts.push(list);
        }
        let mut pushed = self.with(&self.atoms());
        for (number, ty) in flat_types(&self.arguments).into_iter().enumerate() {
            let (flat, starts) = (self.flat[number], self.starts[number]);
            let start = code.one(Operation::Length(flat), I64);
            let start = code.one(Operation::Literal(vec![start]), I64.array());
            pushed.starts[number] = code.one(Operation::Concat(starts, start), I64.array());
            pushed.flat[number] = code.one(Operation::Concat(flat, parts[number]), ty);
        }
        pushed
    }

    /// The arguments of a level, as arrays.
    pub(super) fn level(&self, code: &mut Code<'_>, level: Atom) -> Vec<Atom> {
        let next = code.scalar(ScalarOp::Add, &[level, integer(1)], I64);
        let types = flat_types(&self.arguments);
        let parts: Vec<Atom> = types
            .iter()
            .enumerate()
            .map(|(number, ty)| {
                let (flat, starts) = (self.flat[number], self.starts[number]);
                let end = code.one(Operation::Length(flat), I64);
                let end = code.one(Operation::Literal(vec![end]), I64.array());
                let ends = code.one(Operation::Concat(starts, end), I64.array());
                let start = code.one(Operation::Index(ends, vec![level]), I64);
                let end = code.one(Operation::Index(ends, vec![next]), I64);
                let count = code.scalar(ScalarOp::Sub, &[end, start], I64);
                code.slice(flat, ty.element(), start, count)
            })
            .collect();
        let mut parts = &parts[..];
        let mut lists = Vec::new();
        for ty in &self.arguments {
            let (own, rest) = parts.split_at(ty.rank + 1);
            parts = rest;
            let mut list = own[ty.rank];
            let mut list_type = Type { rank: 1, ..*ty };
            for lengths in own[..ty.rank].iter().rev() {
                list_type = list_type.array();
                list = code.one(Operation::Segments(*lengths, list), list_type);
            }
            lists.push(list);
        }
        lists
    }
}

/// The types of the flat arrays of arguments.
fn flat_types(arguments: &[Type]) -> Vec<Type> {
    let of = |ty: &Type| {
        let mut types = vec![I64.array(); ty.rank];
        types.push(Type { rank: 1, ..*ty });
        types
    };
    arguments.iter().flat_map(of).collect()
}
