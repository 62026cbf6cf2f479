//! How a thunk reads arrays: at its own point, at an index that no two points share, or anyhow.

use std::collections::{BTreeMap, BTreeSet};

use weft_ir::code::{Code, Operand, Operation, Register, Thunk};
use weft_ir::flat::{Space, Var, first_stored};
use weft_ir::{Scalar, ScalarOp};

/// At which index an array is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Index {
    /// The indices of the point that address its storage.
    Pointwise,
    /// An injective function of the point: a permutation of its indices with offsets and strides.
    Injective,
    /// Another one: several points may read one element.
    Shared,
    /// It depends on values.
    Data,
}

/// All reads of one array by one thunk.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Access {
    /// The worst index.
    pub index: Index,
    /// Whether all reads are at one index.
    pub single: bool,
    /// How many reads stand in the code.
    pub sites: usize,
    /// Whether a read stands inside an `if` or `while`.
    pub conditional: bool,
    /// Whether a read stands inside a `while`.
    pub repeated: bool,
    /// The index of the first read.
    first: Vec<Operand>,
}

impl Access {
    /// Whether both read at one index.
    pub(super) fn at(&self, other: &Access) -> bool {
        self.first == other.first
    }
}

/// The reads of a thunk over a space, by array. Indices that it has beyond those of the space stand for constants
/// (Note [Rows of literals]).
pub(super) fn accesses(thunk: &Thunk, space: &Space) -> BTreeMap<Var, Access> {
    let (indices, known) = thunk.indices.split_at(space.len().min(thunk.indices.len()));
    let of_space = indices.iter().zip(0..).map(|(register, at)| (*register, Form::index(at)));
    let of_row = known.iter().map(|register| (*register, Form::invariant()));
    let mut analysis = Analysis {
        forms: of_space.chain(of_row).collect(),
        point: indices[first_stored(space).min(indices.len())..].to_vec(),
        stored: (first_stored(space)..space.len()).collect(),
        accesses: BTreeMap::new(),
    };
    analysis.code(&thunk.code, Place { conditional: false, repeated: false });
    analysis.accesses
}

/// What is known of a value as a function of the point.
#[derive(Clone, Debug, PartialEq)]
enum Form {
    /// A sum of indices, each times a constant other than zero, and something invariant.
    Affine(BTreeSet<usize>),
    /// Some function of the indices.
    Function,
    /// It depends on elements of arrays.
    Data,
}

impl Form {
    fn index(dimension: usize) -> Form {
        Form::Affine(BTreeSet::from([dimension]))
    }

    fn invariant() -> Form {
        Form::Affine(BTreeSet::new())
    }

    fn is_invariant(&self) -> bool {
        matches!(self, Form::Affine(terms) if terms.is_empty())
    }
}

#[derive(Clone, Copy)]
struct Place {
    conditional: bool,
    repeated: bool,
}

struct Analysis {
    forms: BTreeMap<Register, Form>,
    point: Vec<Register>,
    stored: BTreeSet<usize>,
    accesses: BTreeMap<Var, Access>,
}

impl Analysis {
    fn code(&mut self, code: &Code, place: Place) {
        for instruction in &code.instructions {
            let form = match &instruction.operation {
                Operation::Scalar(op, operands) => self.scalar(*op, operands),
                Operation::Random(..) => Form::Data,
                Operation::Read(array, index) => {
                    self.access(*array, index, place);
                    if index.is_empty() { Form::invariant() } else { Form::Data }
                }
                Operation::Check(..) => continue,
                Operation::If { then, otherwise, .. } => {
                    let place = Place { conditional: true, ..place };
                    self.code(then, place);
                    self.code(otherwise, place);
                    Form::Data
                }
                Operation::While { state, condition, body, .. } => {
                    for (register, _) in state {
                        self.forms.insert(*register, Form::Data);
                    }
                    let place = Place { conditional: true, repeated: true };
                    self.code(condition, place);
                    self.code(body, place);
                    Form::Data
                }
            };
            for (register, _) in &instruction.results {
                self.forms.insert(*register, form.clone());
            }
        }
    }

    fn form(&self, operand: &Operand) -> Form {
        match operand {
            Operand::Register(register) => self.forms.get(register).cloned().unwrap_or(Form::Data),
            Operand::Scalar(_) => Form::invariant(),
        }
    }

    fn scalar(&self, op: ScalarOp, operands: &[Operand]) -> Form {
        let forms: Vec<Form> = operands.iter().map(|operand| self.form(operand)).collect();
        if forms.iter().all(Form::is_invariant) {
            return Form::invariant();
        }
        match (op, &forms[..]) {
            (ScalarOp::Add | ScalarOp::Sub, [Form::Affine(left), Form::Affine(right)])
                if left.is_disjoint(right) =>
            {
                Form::Affine(left.union(right).copied().collect())
            }
            (ScalarOp::Neg, [form]) => form.clone(),
            (ScalarOp::Mul, [form, _]) if is_stride(&operands[1]) => form.clone(),
            (ScalarOp::Mul, [_, form]) if is_stride(&operands[0]) => form.clone(),
            _ if forms.contains(&Form::Data) => Form::Data,
            _ => Form::Function,
        }
    }

    fn access(&mut self, array: Var, index: &[Operand], place: Place) {
        let registers: Vec<Register> = index
            .iter()
            .filter_map(|operand| match operand {
                Operand::Register(register) => Some(*register),
                Operand::Scalar(_) => None,
            })
            .collect();
        let kind = if registers.len() == index.len() && registers == self.point {
            Index::Pointwise
        } else {
            self.kind(index)
        };
        let access = self.accesses.entry(array).or_insert_with(|| Access {
            index: kind,
            single: true,
            sites: 0,
            conditional: false,
            repeated: false,
            first: index.to_vec(),
        });
        access.index = access.index.max(kind);
        // Values are numbered, so that equal indices are equal registers.
        access.single &= access.first == index;
        access.sites += 1;
        access.conditional |= place.conditional;
        access.repeated |= place.repeated;
    }

    fn kind(&self, index: &[Operand]) -> Index {
        let forms: Vec<Form> = index.iter().map(|operand| self.form(operand)).collect();
        if forms.contains(&Form::Data) {
            return Index::Data;
        }
        let mut alone = BTreeSet::new();
        for form in &forms {
            match form {
                Form::Affine(terms) if terms.len() == 1 => alone.extend(terms),
                Form::Affine(_) | Form::Function | Form::Data => {}
            }
        }
        if alone.is_superset(&self.stored) { Index::Injective } else { Index::Shared }
    }
}

/// Whether a factor is a constant other than zero.
fn is_stride(operand: &Operand) -> bool {
    matches!(operand, Operand::Scalar(Scalar::I64(value)) if *value != 0)
}
