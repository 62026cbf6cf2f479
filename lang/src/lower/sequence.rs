//! Several programs, each of which may read the values of those before it, as one.

use std::collections::BTreeMap;

use weft_ir::nested::{Atom, Body, Operation, Statement, Var};

use super::builder::{Lowering, Outcome};
use super::recursion::Recursion;
use super::value::{Frame, Value};
use super::{Lowered, Part, Unsupported, value_inputs};
use crate::typed::{GlobalId, Program};

/// A program of a sequence.
#[derive(Clone, Debug)]
pub struct Member<'p> {
    /// The program.
    pub program: &'p Program,
    /// What the members after it know of its value: an id, and the components to take from the
    /// outermost (none for the whole value).
    pub names: Vec<(GlobalId, Vec<usize>)>,
}

/// Lowers programs that run one after the other to one that yields the tuple of their values. A
/// member that reads a name of an earlier one reads it where it is computed: it is no input.
///
/// The whole has a value if each member has one, one after the other; if not, only running them one by
/// one says which fails. The caller provides a stack of [`crate::STACK_BYTES`].
///
/// # Errors
/// Which member cannot be lowered, and why.
pub fn lower_sequence(members: &[Member<'_>]) -> Result<Lowered, (usize, Unsupported)> {
    let Some(first) = members.first() else {
        let reason = "there is nothing to lower".to_owned();
        return Err((0, Unsupported { reason, span: weft_ir::Span::default() }));
    };
    let mut lowering = Lowering::new(first.program);
    let (mut results, mut types, mut parts) = (Vec::new(), Vec::new(), Vec::new());
    let mut delayed = BTreeMap::new();
    for (index, member) in members.iter().enumerate() {
        let before = lowering.open_statements().len();
        let (leaves, ty) = lowering.member(member).map_err(|unsupported| (index, unsupported))?;
        let own = &lowering.open_statements()[before..];
        let rereads = own.iter().filter_map(|statement| reread(statement, &mut delayed)).max();
        let arrays = leaves.iter().filter(|leaf| lowering.type_of(**leaf).rank > 0);
        delayed.extend(arrays.filter_map(|leaf| Some((leaf.var()?, index))));
        let start = results.len();
        results.extend(leaves);
        types.push(ty);
        let (results, span) = (start..results.len(), member.program.entry.span);
        parts.push(Part { results, is_read: false, rereads, span });
    }
    for (part, member) in parts.iter_mut().zip(members) {
        part.is_read = member.names.iter().any(|(global, _)| lowering.is_read(*global));
    }
    let (program, inputs) = lowering.finish(results);
    let ty = weft_ir::Type::Tuple(types.into());
    Ok(Lowered { program, inputs: value_inputs(inputs), ty, parts })
}

impl<'p> Lowering<'p> {
    /// Appends a member; the leaves of its value, and its type.
    fn member(&mut self, member: &Member<'p>) -> Outcome<(Vec<Atom>, weft_ir::Type)> {
        self.begin(member.program, Recursion::of(member.program));
        let entry = &member.program.entry;
        let Some(ty) = entry.ty.to_value_type() else {
            return self.unsupported("a value with functions in it");
        };
        let value = self.expression(entry, &Frame::new(None))?;
        let leaves = self.leaves(&value)?;
        let mut bound = BTreeMap::new();
        for (global, path) in &member.names {
            bound.insert(*global, self.leaves(component(&value, path))?);
        }
        self.define_globals(bound);
        Ok((leaves, ty))
    }
}

/// The part of a value that a name of a pattern stands for.
fn component<'v, 'p>(value: &'v Value<'p>, path: &[usize]) -> &'v Value<'p> {
    path.iter().fold(value, |value, index| match value {
        Value::Tuple(parts) => &parts[*index],
        Value::Scalar(_)
        | Value::Array(_)
        | Value::Function(_)
        | Value::Seq(_)
        | Value::Window(_)
        | Value::Boundary(_) => panic!("lower: a pattern that does not fit its value"),
    })
}

/// Arrays that may never be in memory when they are read, with the latest member that computes something
/// of them.
type Delayed = BTreeMap<Var, usize>;

/// The latest of the delayed arrays that a statement reads for each element of something else. What is
/// made of delayed arrays element by element is one too.
fn reread(statement: &Statement, delayed: &mut Delayed) -> Option<usize> {
    let operation = &statement.operation;
    let mut latest = None;
    operation.for_each_body(&mut |body| {
        let found = match operation {
            // Its bodies run once.
            Operation::If { .. } => {
                let each = body.statements.iter().filter_map(|inner| reread(inner, delayed));
                each.max()
            }
            _ => mentioned(body, delayed),
        };
        latest = latest.max(found);
    });
    if stays_delayed(operation) {
        let mut of = None;
        operation.for_each_atom(&mut |atom| of = of.max(delayed_at(*atom, delayed)));
        if let Some(member) = of {
            let arrays = statement.results.iter().filter(|(_, ty)| ty.rank > 0);
            delayed.extend(arrays.map(|(var, _)| (*var, member)));
        }
    }
    latest
}

/// The latest of the delayed arrays whose elements a body reads.
fn mentioned(body: &Body, delayed: &Delayed) -> Option<usize> {
    let mut latest = None;
    for statement in &body.statements {
        let operation = &statement.operation;
        if !matches!(operation, Operation::Length(_) | Operation::Extent(..)) {
            operation.for_each_atom(&mut |atom| latest = latest.max(delayed_at(*atom, delayed)));
        }
        operation.for_each_body(&mut |inner| latest = latest.max(mentioned(inner, delayed)));
    }
    body.results.iter().fold(latest, |latest, atom| latest.max(delayed_at(*atom, delayed)))
}

fn delayed_at(atom: Atom, delayed: &Delayed) -> Option<usize> {
    delayed.get(&atom.var()?).copied()
}

/// Whether the elements of the results are computed of single elements of the operands, so that they
/// need not be stored.
fn stays_delayed(operation: &Operation) -> bool {
    match operation {
        Operation::Assert { .. }
        | Operation::If { .. }
        | Operation::Index(..)
        | Operation::Update { .. }
        | Operation::Replicate(..)
        | Operation::Map(..)
        | Operation::Transpose(_)
        | Operation::Reshape { .. }
        | Operation::Flatten(_)
        | Operation::Segments(..)
        | Operation::Concat(..) => true,
        Operation::Scalar(..)
        | Operation::Random(..)
        | Operation::While { .. }
        | Operation::For { .. }
        | Operation::Call(..)
        | Operation::Length(_)
        | Operation::Literal(_)
        | Operation::Constant(_)
        | Operation::Iota(_)
        | Operation::Fold { .. }
        | Operation::Scan { .. }
        | Operation::Pack { .. }
        | Operation::Scatter { .. }
        | Operation::SortOrder { .. }
        | Operation::Extent(..) => false,
    }
}
