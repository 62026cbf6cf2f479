//! What only some lanes do: checks, reads and the sides of conditionals (Note [Lane masks]).

use weft_ir::code::{Code, Operand, Operation, Register};
use weft_ir::{FaultKind, ScalarType, Span, math};

use super::{Builder, Running, Value};
use crate::dialect::type_name;

/// A condition under which code runs.
#[derive(Clone, Debug)]
pub(super) struct Mask {
    pub(super) name: String,
    pub(super) varies: bool,
}

impl Builder<'_> {
    /// The conjunction of two masks.
    pub(super) fn both(&mut self, a: Option<Mask>, b: Option<Mask>) -> Option<Mask> {
        match (a, b) {
            (Some(a), Some(b)) => {
                let values = [a.value(), b.value()];
                let text = format!("{} & {}", a.name, b.name);
                Some(self.compute(&text, ScalarType::Bool, &values).into_mask())
            }
            (Some(mask), None) | (None, Some(mask)) => Some(mask),
            (None, None) => None,
        }
    }

    /// The lanes that are looked at here.
    pub(super) fn mask(&mut self) -> Option<Mask> {
        self.both(self.guard.clone(), self.alive.clone())
    }

    /// Whether some lane is sure to be here.
    fn is_inhabited(&self) -> bool {
        let guard = self.guard.as_ref().map(|guard| &guard.name);
        guard.is_some() && guard == self.inhabited.as_ref()
    }

    pub(super) fn check(&mut self, condition: &Value, kind: FaultKind, span: Span) {
        let known = self.sites.iter().position(|site| *site == (kind, span));
        let site = known.unwrap_or(self.sites.len());
        if known.is_none() {
            self.sites.push((kind, span));
        }
        let bit = 1_u32 << site.min(30);
        // Where all lanes fail or none does it matters nothing that some have failed already, nor which lanes
        // are here, if any are.
        let mask = match condition.varies {
            true => self.mask(),
            false if self.is_inhabited() => None,
            false => self.guard.clone(),
        };
        let guard = mask.as_ref().map(Mask::value);
        let failing = match &guard {
            Some(guard) => format!("{} & !{}", guard.text, condition.text),
            None => format!("!{}", condition.text),
        };
        if !condition.varies && mask.as_ref().is_none_or(|mask| !mask.varies) {
            self.scalar(&format!("if ({failing}) return {bit}U;"));
            return;
        }
        let uses: Vec<&Value> = guard.iter().chain([condition]).collect();
        if self.one_by_one {
            return self.leave_if(&failing, &format!("{bit}U"), &uses);
        }
        self.line(None, &format!("failed |= {failing} ? {bit}U : 0U;"), &uses);
        self.top().open_segment().fails = true;
        let held = match &guard {
            Some(guard) => {
                let text = format!("!{} | {}", guard.text, condition.text);
                self.compute(&text, ScalarType::Bool, &[guard.clone(), condition.clone()])
            }
            None => condition.clone(),
        };
        let alive = self.alive.take();
        self.alive = self.both(alive, Some(held.into_mask()));
    }

    pub(super) fn read(
        &mut self,
        (register, ty): (Register, ScalarType),
        array: usize,
        indices: &[Operand],
    ) {
        let (_, is_scalar) = self.given.arrays[array];
        let name = register.to_string();
        if is_scalar {
            self.strides.entry(array).or_insert(0);
            let value = Value { text: format!("a{array}"), ty, varies: false };
            self.values.insert(register, value);
            return;
        }
        self.strides.insert(array, indices.len());
        let stored = &self.given.indices[self.given.first_stored..];
        let at_point = self.given.in_place
            && stored.len() == indices.len()
            && stored
                .iter()
                .zip(indices)
                .all(|((register, _), operand)| *operand == Operand::Register(*register))
            && stored.iter().any(|(_, running)| *running == Running::Varying)
            && stored.iter().all(|(_, running)| *running != Running::Uniform);
        let element = type_name(ty);
        if at_point {
            self.reads_in_place = true;
            self.line(Some((&name, element)), &format!("a{array}[position + at]"), &[]);
            self.values.insert(register, Value { text: name, ty, varies: true });
            return;
        }
        let values: Vec<Value> = indices.iter().map(|at| self.value(at)).collect();
        let mut terms = Vec::new();
        for (dimension, value) in values.iter().enumerate() {
            terms.push(if dimension + 1 == values.len() {
                value.text.clone()
            } else {
                format!("{} * stride_{array}_{dimension}", value.text)
            });
        }
        let place = format!("a{array}[{}]", terms.join(" + "));
        // What all lanes read can be read if one of them is here.
        let shared = values.iter().all(|value| !value.varies) && self.alive.is_none();
        let mask = if shared && self.is_inhabited() { None } else { self.mask() };
        let guard = mask.as_ref().map(Mask::value);
        let text = match &guard {
            Some(guard) => format!("{} ? {place} : ({element})0", guard.text),
            None => place,
        };
        let uses: Vec<Value> = values.into_iter().chain(guard).collect();
        let value = self.named(name, ty, &text, &uses);
        self.values.insert(register, value);
    }

    pub(super) fn conditional(
        &mut self,
        condition: &Operand,
        then: &Code,
        otherwise: &Code,
        results: &[(Register, ScalarType)],
    ) {
        let condition = self.value(condition);
        let outside = self.guard.clone();
        let mut sides = Vec::new();
        for (holds, code) in [(true, then), (false, otherwise)] {
            // A guard needs a name only if something looks at it.
            self.guard = match partial(code) {
                false => outside.clone(),
                true => {
                    let side = if holds {
                        condition.clone()
                    } else {
                        let text = format!("!{}", condition.text);
                        self.compute(&text, ScalarType::Bool, std::slice::from_ref(&condition))
                    };
                    self.both(outside.clone(), Some(side.into_mask()))
                }
            };
            if self.looping.is_some_and(|looping| std::ptr::eq(looping, code)) {
                self.skip();
            }
            self.code(code);
            sides.push(code.results.iter().map(|at| self.value(at)).collect::<Vec<Value>>());
            self.guard = outside.clone();
        }
        for (at, &result) in results.iter().enumerate() {
            let (a, b) = (sides[0][at].clone(), sides[1][at].clone());
            let (c, a_text, b_text) = (&condition.text, &a.text, &b.text);
            // Compilers have no vector instructions to choose between truth values.
            let text = match result.1 {
                ScalarType::Bool => format!("({c} & {a_text}) | (!{c} & {b_text})"),
                _ => format!("{c} ? {a_text} : {b_text}"),
            };
            self.define(result, &text, &[condition.clone(), a, b]);
        }
    }
}

/// Whether code reads, may fail or loops, so that it matters which lanes it runs for.
pub(super) fn partial(code: &Code) -> bool {
    code.walk().any(|instruction| match &instruction.operation {
        Operation::Scalar(op, _) => math::can_fail(*op, instruction.results[0].1),
        Operation::Random(..) | Operation::If { .. } => false,
        Operation::Read(..) | Operation::Check(..) | Operation::While { .. } => true,
    })
}

impl Mask {
    pub(super) fn value(&self) -> Value {
        Value { text: self.name.clone(), ty: ScalarType::Bool, varies: self.varies }
    }
}

impl Value {
    pub(super) fn into_mask(self) -> Mask {
        Mask { name: self.text, varies: self.varies }
    }
}
