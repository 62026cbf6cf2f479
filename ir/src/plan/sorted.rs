//! Sorts whose order serves to bring the keys into it.
//!
//! `sort xs` is a launch that makes an order of keys, and one behind it that reads the keys through the order. Where that is
//! so, a back end may sort the keys themselves: what is equal in the total order has equal bits, so that nobody sees
//! whether such a sort is stable.

use crate::code::{Code, Instruction, Operand, Operation, Yielded, is_in_order};
use crate::flat::{Var, first_stored};
use crate::plan::{Kernel, Sink, Step};

/// A sort whose order brings the keys into it, by the launch behind it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SortedKeys {
    /// The array that the keys are, if they are elements of one at their points, and nothing else is done there.
    pub keys: Option<Var>,
    /// Whether the greatest comes first.
    pub descending: bool,
    /// The keys in order.
    pub sorted: Var,
    /// The order, if others read it too.
    pub order: Option<Var>,
}

/// Whether the step at a position makes an order, and the one after it brings the keys into it.
pub fn sorted_keys(steps: &[Step], at: usize) -> Option<SortedKeys> {
    let [Step::Launch(sort), Step::Launch(send), behind @ ..] = &steps[at..] else {
        return None;
    };
    let is_sort = |sink: &&Sink| matches!(sink, Sink::Sort { .. });
    let Some(Sink::Sort { keys, descending, order }) = sort.sinks.iter().find(is_sort) else {
        return None;
    };
    let ([key], [Sink::Store { value, array }]) = (&keys[..], &send.sinks[..]) else { return None };
    let simple = |kernel: &Kernel| !kernel.space.is_empty() && kernel.epilogue.is_none();
    if !simple(sort) || !simple(send) || sort.space != send.space {
        return None;
    }
    let freed = matches!(behind, [Step::Free(freed), ..] if freed.contains(order));
    let of_key = Yielded { indices: &sort.indices, code: &sort.body, value: *key };
    let sent = Yielded { indices: &send.indices, code: &send.body, value: *value };
    let is_sent = |of_key: Yielded<'_>| is_in_order(of_key, sent, *order);
    // Keys that the launch computes and stores are read where they are stored.
    let is_read_back = || {
        stored(sort, *key).is_some_and(|code| {
            is_sent(Yielded { indices: &sort.indices, code: &code, value: *key })
        })
    };
    if !is_sent(of_key) && !is_read_back() {
        return None;
    }
    let points = sort.indices[first_stored(&sort.space)..].iter().copied().map(Operand::Register);
    let keys = match (&sort.body.instructions[..], &sort.sinks[..]) {
        ([read], [_]) => match &read.operation {
            Operation::Read(array, indices) => points.eq(indices.iter().copied()).then_some(*array),
            _ => None,
        },
        (_, _) => None,
    };
    let order = (!freed).then_some(*order);
    Some(SortedKeys { keys, descending: *descending, sorted: *array, order })
}

/// Code that reads a value where the launch that computes it stores it at its point, into the register that it has there.
fn stored(kernel: &Kernel, value: Operand) -> Option<Code> {
    let array = kernel.sinks.iter().find_map(|sink| match sink {
        Sink::Store { value: stored, array } if *stored == value => Some(*array),
        _ => None,
    })?;
    let Operand::Register(register) = value else { return None };
    let (instruction, at) = kernel.body.definition(register)?;
    let points = kernel.indices[first_stored(&kernel.space)..].iter();
    let read = Instruction {
        results: vec![instruction.results[at]],
        operation: Operation::Read(array, points.copied().map(Operand::Register).collect()),
        span: kernel.span,
    };
    Some(Code { instructions: vec![read], results: vec![value] })
}
