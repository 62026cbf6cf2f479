//! Composes scalar code: replaces reads of delayed arrays by the code of their elements.
//!
//! A [`Composer`] writes one piece of code after the other, renames registers apart, and numbers
//! values as it goes: an operation that is already available in an enclosing body is not written
//! again. So an element that several consumers read at one index is computed once per point.

use std::collections::{BTreeSet, HashMap};

use weft_ir::code::{Code, Instruction, Operand, Operation, Register, Thunk};
use weft_ir::flat::{Space, Var, first_stored};
use weft_ir::{FaultKind, Scalar, ScalarOp, ScalarType, Span};

use super::algebra::{Definition, Definitions, simplify};
use super::prune::remove_dead_code;
use super::value_key::{self, Key, atom, atoms};
use crate::partial::operator_may_fail;

/// An array as an index function.
#[derive(Clone, Copy, Debug)]
pub(super) struct Delayed<'p> {
    /// The statement, by a number that is unique among those a composer knows.
    pub statement: u32,
    /// Which of the thunk's results it is.
    pub result: usize,
    /// The code of one element; none if its elements are given ([`Composer::give`]).
    pub thunk: Option<&'p Thunk>,
    /// The space of the thunk.
    pub space: &'p Space,
}

/// Finds the index function of an array, if it is delayed.
pub(super) trait Lookup<'p> {
    /// The index function.
    fn delayed(&self, array: Var) -> Option<Delayed<'p>>;
    /// Arrays whose elements are computed before the statement's, at the same index.
    fn eager(&self, _statement: u32) -> &[Var] {
        &[]
    }
    /// Whether the array goes if nothing reads it, though computing it may fail.
    fn may_fail(&self, _array: Var) -> bool {
        false
    }
}

/// A thunk that computes itself what it reads of delayed arrays, and which these were.
pub(super) fn composed<'p>(thunk: &Thunk, lookup: &dyn Lookup<'p>) -> (Thunk, BTreeSet<Var>) {
    let mut composer = Composer::new(lookup);
    let indices = composer.enter_point(thunk.indices.len());
    let points = indices.iter().map(|index| Operand::Register(*index));
    let mut renaming = thunk.indices.iter().copied().zip(points).collect();
    let results = composer.write(&thunk.code, &mut renaming);
    let mut code = Code { instructions: composer.take(), results };
    remove_dead_code(&mut code);
    (Thunk { indices, code }, composer.absorbed)
}

/// Composes the code of a kernel or a thunk. Registers are unique in all that one composer writes.
pub(super) struct Composer<'l, 'p> {
    lookup: &'l dyn Lookup<'p>,
    next: u32,
    bodies: Vec<Body>,
    /// How the registers of scalar operations are defined.
    definitions: Definitions,
    /// Registers that are not there if something fails (Note [Indices that nothing reads]).
    failing: BTreeSet<Register>,
    /// By statement and result, the indices that do not matter to an element.
    ignored: HashMap<(u32, usize), Vec<usize>>,
    /// The indices of the present point, for dimensions that do not address the storage.
    point: Vec<Operand>,
    /// The arrays whose elements were written out.
    pub absorbed: BTreeSet<Var>,
}

/// A body that is being written.
#[derive(Default)]
struct Body {
    instructions: Vec<Instruction>,
    available: HashMap<Key, Vec<Operand>>,
}

/// The index along a dimension that nothing depends on.
const ORIGIN: Operand = Operand::Scalar(Scalar::I64(0));

/// What the registers of a piece of code have become.
pub(super) type Renaming = HashMap<Register, Operand>;

impl<'l, 'p> Composer<'l, 'p> {
    /// Nothing written yet.
    pub(super) fn new(lookup: &'l dyn Lookup<'p>) -> Self {
        Composer {
            lookup,
            next: 0,
            bodies: vec![Body::default()],
            definitions: Definitions::new(),
            failing: BTreeSet::new(),
            ignored: HashMap::new(),
            point: Vec::new(),
            absorbed: BTreeSet::new(),
        }
    }

    /// A register that nothing else uses.
    pub(super) fn fresh(&mut self) -> Register {
        let register = Register(self.next);
        self.next += 1;
        register
    }

    /// Fresh registers for the indices of a point of that many dimensions, which is now the present
    /// one.
    pub(super) fn enter_point(&mut self, dimensions: usize) -> Vec<Register> {
        let indices: Vec<Register> = (0..dimensions).map(|_| self.fresh()).collect();
        self.point = indices.iter().map(|register| Operand::Register(*register)).collect();
        indices
    }

    /// Writes code that sees nothing of what was written before, with a point of its own; what it
    /// wrote and what `write` yields.
    pub(super) fn apart<T>(&mut self, write: impl FnOnce(&mut Self) -> T) -> (Vec<Instruction>, T) {
        let bodies = std::mem::replace(&mut self.bodies, vec![Body::default()]);
        let point = std::mem::take(&mut self.point);
        let yielded = write(self);
        let instructions = self.take();
        (self.bodies, self.point) = (bodies, point);
        (instructions, yielded)
    }

    /// What was written since the last call, without its results; later code sees none of it.
    pub(super) fn take(&mut self) -> Vec<Instruction> {
        let body = std::mem::take(&mut self.bodies);
        self.bodies.push(Body::default());
        body.into_iter().flat_map(|body| body.instructions).collect()
    }

    /// The elements of a statement at an index are these operands.
    pub(super) fn give(&mut self, statement: u32, index: &[Operand], elements: Vec<Operand>) {
        if let Some(body) = self.bodies.last_mut() {
            body.available.insert(Key::Element(statement, atoms(index)), elements);
        }
    }

    /// The present point's indices that address the storage over a space.
    pub(super) fn stored_point(&self, space: &Space) -> Vec<Operand> {
        self.point[first_stored(space).min(self.point.len())..].to_vec()
    }

    /// The elements of a delayed statement at the present point.
    pub(super) fn element_here(&mut self, delayed: Delayed<'p>) -> Vec<Operand> {
        let index = self.stored_point(delayed.space);
        self.elements(delayed, index)
    }

    /// The elements of a delayed statement at an index of its storage.
    fn elements(&mut self, delayed: Delayed<'p>, index: Vec<Operand>) -> Vec<Operand> {
        let key = Key::Element(delayed.statement, atoms(&index));
        if let Some(elements) = self.available(&key) {
            return elements;
        }
        let Some(thunk) = delayed.thunk else { return Vec::new() };
        let elements = self.instantiate(delayed.statement, thunk, delayed.space, index);
        self.insert(key, elements.clone());
        elements
    }

    /// Writes the code of a thunk at an index of its storage; what it yields.
    pub(super) fn instantiate(
        &mut self,
        statement: u32,
        thunk: &Thunk,
        space: &Space,
        index: Vec<Operand>,
    ) -> Vec<Operand> {
        let first = first_stored(space);
        let mut renaming = Renaming::new();
        for (dimension, register) in thunk.indices.iter().enumerate() {
            let operand = match dimension.checked_sub(first) {
                Some(stored) => index[stored],
                None => self.point.get(dimension).copied().unwrap_or(ORIGIN),
            };
            renaming.insert(*register, operand);
        }
        let lookup = self.lookup;
        for array in lookup.eager(statement) {
            if let Some(delayed) = lookup.delayed(*array) {
                self.absorbed.insert(*array);
                self.elements(delayed, index.clone());
            }
        }
        self.write(&thunk.code, &mut renaming)
    }

    /// Writes code whose free registers `renaming` gives; what it yields.
    pub(super) fn write(&mut self, code: &Code, renaming: &mut Renaming) -> Vec<Operand> {
        for instruction in &code.instructions {
            self.instruction(instruction, renaming);
        }
        rename(&code.results, renaming)
    }

    fn instruction(&mut self, instruction: &Instruction, renaming: &mut Renaming) {
        let span = instruction.span;
        let values = match &instruction.operation {
            Operation::Scalar(op, operands) => {
                let operands = rename(operands, renaming);
                vec![self.scalar(*op, operands, instruction)]
            }
            Operation::Random(kind, operands) => {
                let operands = rename(operands, renaming);
                let key = Key::Random(*kind, atoms(&operands));
                self.numbered(key, Operation::Random(*kind, operands), &instruction.results, span)
            }
            Operation::Read(array, index) => {
                let index = rename(index, renaming);
                vec![self.read(*array, index, instruction)]
            }
            Operation::Check(condition, kind) => {
                let condition = rename(&[*condition], renaming)[0];
                if !matches!(condition, Operand::Scalar(Scalar::Bool(true))) {
                    let key = Key::Check(atom(&condition), *kind);
                    self.numbered(key, Operation::Check(condition, *kind), &[], span);
                }
                Vec::new()
            }
            Operation::If { condition, then, otherwise } => {
                match rename(&[*condition], renaming)[0] {
                    Operand::Scalar(Scalar::Bool(true)) => self.write(then, renaming),
                    Operand::Scalar(Scalar::Bool(false)) => self.write(otherwise, renaming),
                    condition => {
                        let then = self.body(then, renaming);
                        let otherwise = self.body(otherwise, renaming);
                        let operation = Operation::If { condition, then, otherwise };
                        self.control(operation, &instruction.results, span)
                    }
                }
            }
            Operation::While { state, initial, condition, body } => {
                let initial = rename(initial, renaming);
                let state: Vec<(Register, ScalarType)> = state
                    .iter()
                    .map(|(register, ty)| {
                        let fresh = self.fresh();
                        renaming.insert(*register, Operand::Register(fresh));
                        (fresh, *ty)
                    })
                    .collect();
                let condition = self.body(condition, renaming);
                let body = self.body(body, renaming);
                let operation = Operation::While { state, initial, condition, body };
                self.control(operation, &instruction.results, span)
            }
        };
        for ((register, _), value) in instruction.results.iter().zip(values) {
            renaming.insert(*register, value);
        }
    }

    fn scalar(
        &mut self,
        op: ScalarOp,
        operands: Vec<Operand>,
        instruction: &Instruction,
    ) -> Operand {
        if let Some(simpler) = simplify(op, &operands, &self.definitions) {
            if let Some(cancelled) = simpler.cancelled {
                self.need(cancelled, instruction.span);
            }
            return simpler.value;
        }
        let key = Key::Scalar(op, atoms(&operands));
        if let Some(known) = self.available(&key) {
            return known[0];
        }
        let operation = Operation::Scalar(op, operands.clone());
        let values = self.push(operation, &instruction.results, instruction.span);
        if let (Operand::Register(register), Some((_, ty))) =
            (values[0], instruction.results.first())
        {
            self.definitions.insert(register, Definition { op, operands, ty: *ty });
        }
        self.insert(key, values.clone());
        values[0]
    }

    fn read(&mut self, array: Var, index: Vec<Operand>, instruction: &Instruction) -> Operand {
        if let Some(delayed) = self.lookup.delayed(array) {
            let elements = self.elements(delayed, index.clone());
            if let Some(element) = elements.get(delayed.result) {
                self.absorbed.insert(array);
                self.need_ignored(delayed, &index, instruction.span);
                return *element;
            }
        }
        let key = Key::Read(array, atoms(&index));
        let operation = Operation::Read(array, index);
        self.numbered(key, operation, &instruction.results, instruction.span)[0]
    }

    /// Keeps the indices that an element does not depend on, if they may fail.
    fn need_ignored(&mut self, delayed: Delayed<'p>, index: &[Operand], span: Span) {
        let Some(thunk) = delayed.thunk else { return };
        if !index.iter().any(|&operand| self.may_fail(operand)) {
            return;
        }
        let key = (delayed.statement, delayed.result);
        let ignored = self.ignored.entry(key).or_insert_with(|| {
            let mut code = thunk.code.clone();
            code.results = vec![code.results[delayed.result]];
            remove_dead_code(&mut code);
            let stored = thunk.indices[first_stored(delayed.space)..].iter().enumerate();
            let ignored = stored.filter(|(_, register)| !code.uses(**register));
            ignored.map(|(dimension, _)| dimension).collect()
        });
        for dimension in ignored.clone() {
            self.need(index[dimension], span);
        }
    }

    fn may_fail(&self, operand: Operand) -> bool {
        matches!(operand, Operand::Register(register) if self.failing.contains(&register))
    }

    /// Has a value computed that nothing reads, if that may fail: a check that always holds reads it.
    fn need(&mut self, operand: Operand, span: Span) {
        if !self.may_fail(operand) {
            return;
        }
        let key = Key::Needed(atom(&operand));
        if self.available(&key).is_some() {
            return;
        }
        let operation = Operation::Scalar(ScalarOp::Eq, vec![operand, operand]);
        let is_there = self.push(operation, &[(Register(0), ScalarType::Bool)], span)[0];
        self.push(Operation::Check(is_there, FaultKind::IndexOutOfRange), &[], span);
        self.insert(key, Vec::new());
    }

    fn body(&mut self, code: &Code, renaming: &mut Renaming) -> Code {
        self.bodies.push(Body::default());
        let results = self.write(code, renaming);
        let body = self.bodies.pop().unwrap_or_default();
        Code { instructions: body.instructions, results }
    }

    /// A branch or a loop.
    fn control(
        &mut self,
        operation: Operation,
        results: &[(Register, ScalarType)],
        span: Span,
    ) -> Vec<Operand> {
        match value_key::control(&operation) {
            Some(key) => self.numbered(key, operation, results, span),
            None => self.push(operation, results, span),
        }
    }

    fn numbered(
        &mut self,
        key: Key,
        operation: Operation,
        results: &[(Register, ScalarType)],
        span: Span,
    ) -> Vec<Operand> {
        if let Some(known) = self.available(&key) {
            return known;
        }
        let values = self.push(operation, results, span);
        self.insert(key, values.clone());
        values
    }

    fn push(
        &mut self,
        operation: Operation,
        results: &[(Register, ScalarType)],
        span: Span,
    ) -> Vec<Operand> {
        let results: Vec<(Register, ScalarType)> =
            results.iter().map(|(_, ty)| (self.fresh(), *ty)).collect();
        let values = results.iter().map(|(register, _)| Operand::Register(*register)).collect();
        let any = |operands: &[Operand]| operands.iter().any(|operand| self.may_fail(*operand));
        let fails = match &operation {
            Operation::Scalar(op, operands) => {
                any(operands) || operator_may_fail(*op, operands, results[0].1)
            }
            Operation::Random(_, operands) => any(operands),
            Operation::Read(array, index) => any(index) || self.lookup.may_fail(*array),
            Operation::Check(..) | Operation::If { .. } | Operation::While { .. } => true,
        };
        if fails {
            self.failing.extend(results.iter().map(|(register, _)| *register));
        }
        if let Some(body) = self.bodies.last_mut() {
            body.instructions.push(Instruction { results, operation, span });
        }
        values
    }

    fn available(&self, key: &Key) -> Option<Vec<Operand>> {
        self.bodies.iter().rev().find_map(|body| body.available.get(key).cloned())
    }

    fn insert(&mut self, key: Key, values: Vec<Operand>) {
        if let Some(body) = self.bodies.last_mut() {
            body.available.insert(key, values);
        }
    }
}

/// The operands under a renaming; registers that it does not know stay.
pub(super) fn rename(operands: &[Operand], renaming: &Renaming) -> Vec<Operand> {
    operands
        .iter()
        .map(|operand| match operand {
            Operand::Register(register) => renaming.get(register).copied().unwrap_or(*operand),
            Operand::Scalar(_) => *operand,
        })
        .collect()
}
