//! `map` and its kin.

use super::Call;
use crate::apply::Source;
use crate::machine::{Machine, Outcome};
use crate::value::Val;

impl Machine<'_> {
    /// `map`, `zipWith` …: a function of the elements of `count` arrays at equal positions.
    pub(super) fn zip_with(&mut self, mut call: Call<'_>, count: usize) -> Outcome<Val> {
        let function = call.value(0);
        let first = call.array(1)?;
        let length = first.len();
        let mut sources = vec![Source::Each(first)];
        for index in 1..count {
            let elements = call.array(index + 1)?;
            self.same_length(call.name(), length, elements.len(), call.span)?;
            sources.push(Source::Each(elements));
        }
        self.apply_function(&function, &sources, length, &call)
    }

    /// `mapWithIndex f xs`: f of each position and the element there.
    pub(super) fn map_with_index(&mut self, mut call: Call<'_>) -> Outcome<Val> {
        let function = call.value(0);
        let elements = call.array(1)?;
        let length = elements.len();
        let sources = [Source::Each(self.integers(length, call.span)?), Source::Each(elements)];
        self.apply_function(&function, &sources, length, &call)
    }

    fn apply_function(
        &mut self,
        function: &Val,
        sources: &[Source],
        length: usize,
        call: &Call<'_>,
    ) -> Outcome<Val> {
        self.with_callee(function, sources.len(), call.span, |machine, callee| {
            let ty = call.element();
            Ok(machine.apply_to_rows(callee, sources, length, ty, call.span)?.into_val())
        })
    }
}
