//! Sequences, as the prelude makes them (Note [Sequences in chunks] in `session/src/prelude/sequences.weft`): a
//! tuple of the length, of whether they are filtered, and of the function from two positions to the array of
//! the items between them.

use crate::builtins::Call;
use crate::machine::{Machine, Outcome, Stop};
use crate::value::Val;

pub(crate) const LENGTH: usize = 0;
pub(crate) const FILTERED: usize = 1;
const PART: usize = 2;

/// A component of the argument.
pub(crate) fn component(mut call: Call<'_>, index: usize) -> Val {
    call.value(0).component(index)
}

/// How much there is in the argument, errors or not: words of eight bytes.
pub(crate) fn weight(mut call: Call<'_>) -> Val {
    Val::I64(call.value(0).bytes().div_ceil(8) as i64)
}

impl Machine<'_> {
    pub(crate) fn make_sequence(&mut self, mut call: Call<'_>) -> Val {
        Val::tuple((LENGTH..=PART).map(|index| call.value(index)).collect())
    }

    pub(crate) fn sequence_part(&mut self, mut call: Call<'_>) -> Outcome<Val> {
        let part = call.value(0).component(PART);
        let bounds = vec![call.value(1), call.value(2)];
        self.call(&part, bounds, call.span).map_err(Stop::Unwind)
    }
}
