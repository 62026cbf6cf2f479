//! Selecting elements.

use weft_ir::{ScalarType, Type};

use super::Call;
use crate::apply::Source;
use crate::elements::Elements;
use crate::machine::{Machine, Outcome, Stop};
use crate::value::Val;

impl Machine<'_> {
    /// `filter p xs`.
    pub(super) fn filter(&mut self, mut call: Call<'_>) -> Outcome<Val> {
        let predicate = call.value(0);
        let elements = call.array(1)?;
        let flags = self.flags(&call, &predicate, &elements)?;
        Ok(self.select_by(&elements, &flags, true, call.element())?.into_val())
    }

    /// `partition p xs`: those for which p holds, and the others.
    pub(super) fn partition(&mut self, mut call: Call<'_>) -> Outcome<Val> {
        let predicate = call.value(0);
        let elements = call.array(1)?;
        let flags = self.flags(&call, &predicate, &elements)?;
        let ty = call.component_element(0);
        let yes = self.select_by(&elements, &flags, true, ty)?.into_val();
        let no = self.select_by(&elements, &flags, false, ty)?.into_val();
        Ok(Val::tuple(vec![yes, no]))
    }

    /// `unique xs`: the distinct elements, ascending.
    pub(super) fn unique(&mut self, mut call: Call<'_>) -> Outcome<Val> {
        let elements = call.array(0)?;
        let order = self.ascending(&elements, call.span)?;
        let starts = self.group_starts(&elements, &order)?;
        let first: Vec<usize> = starts.iter().map(|start| order[*start]).collect();
        Ok(self.gather_elements(&elements, &first, call.element())?.into_val())
    }

    /// `indexWhere p xs`: the first position, or -1; what follows it does not matter.
    pub(super) fn index_where(&mut self, mut call: Call<'_>) -> Outcome<Val> {
        let predicate = call.value(0);
        let sources = [Source::Each(call.array(1)?)];
        let [Source::Each(elements)] = &sources else { unreachable!("just built") };
        let length = elements.len();
        self.with_callee(&predicate, 1, call.span, |machine, callee| {
            for index in 0..length {
                match machine.apply_at(callee, &sources, index)? {
                    Val::Bool(1) => return Ok(Val::I64(index as i64)),
                    Val::Bool(0) => {}
                    error => return Ok(error),
                }
            }
            Ok(Val::I64(-1))
        })
    }

    /// Whether the predicate holds, for each element.
    fn flags(
        &mut self,
        call: &Call<'_>,
        predicate: &Val,
        elements: &Elements,
    ) -> Outcome<Elements> {
        let sources = [Source::Each(elements.clone())];
        self.with_callee(predicate, 1, call.span, |machine, callee| {
            let ty = Type::Scalar(ScalarType::Bool);
            Ok(machine.apply_to_rows(callee, &sources, elements.len(), &ty, call.span)?)
        })
    }

    /// The elements whose flag is `wanted`; `ty` is the type of one. A flag that is an error is one
    /// of the whole.
    pub(super) fn select_by(
        &mut self,
        elements: &Elements,
        flags: &Elements,
        wanted: bool,
        ty: &Type,
    ) -> Outcome<Elements> {
        let mut positions = Vec::new();
        for (index, flag) in flags.iter().enumerate() {
            match flag {
                Val::Bool(flag) if (flag != 0) == wanted => positions.push(index),
                Val::Bool(_) => {}
                Val::Error(error) => return Err(Stop::Error(error)),
                other => panic!("{other:?} is no flag"),
            }
            self.step()?;
        }
        Ok(self.gather_elements(elements, &positions, ty)?)
    }
}
