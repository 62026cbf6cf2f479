//! Loops.

use std::collections::BTreeMap;

use weft_ir::ScalarType;
use weft_ir::code::{Code, Operand, Operation, Register};

use super::segment::{Node, Scope};
use super::{Builder, Mask, Value};
use crate::dialect::type_name;

impl Builder<'_> {
    pub(super) fn repetition(
        &mut self,
        state: &[(Register, ScalarType)],
        initial: &[Operand],
        condition: &Code,
        body: &Code,
        results: &[(Register, ScalarType)],
    ) {
        let mut varying = BTreeMap::new();
        let lanes_differ = self.spreads(state, initial, condition, body, &mut varying);
        // The state: variables, or arrays of lanes.
        for (&(register, ty), operand) in state.iter().zip(initial) {
            let first = self.value(operand);
            let (name, element) = (register.to_string(), type_name(ty));
            let varies = varying[&register];
            if varies {
                self.declared.push((name.clone(), element));
                self.assign(&name, &first.text, &[&first]);
            } else {
                self.scalar(&format!("{element} {name} = {};", first.text));
            }
            self.values.insert(register, Value { text: name, ty, varies });
        }
        let outside = self.guard.clone();
        let inhabited = self.inhabited.take();
        self.loops += 1;
        let number = self.loops;
        // A loop that nobody enters may not end.
        let entered = match &outside {
            Some(guard) if !lanes_differ && guard.varies => {
                let (value, flag) = (guard.value(), format!("any_{number}"));
                self.any(&flag, &value);
                self.inhabited = Some(guard.name.clone());
                Some(flag)
            }
            Some(guard) if !lanes_differ => Some(guard.name.clone()),
            Some(_) | None => None,
        };
        self.close_segment();
        self.scopes.push(Scope::default());
        if let Some(entered) = entered {
            self.scalar(&format!("if (!{entered}) {{ ended = true; break; }}"));
        }
        self.code(condition);
        let holds = self.value(&condition.results[0]);
        if lanes_differ {
            let going = self.both(outside.clone(), Some(holds.into_mask())).expect("a condition");
            let going = self.pinned(going);
            let (value, flag) = (going.value(), format!("any_{number}"));
            // The body is computed once more when no lane goes on: that costs less than a segment
            // of its own would, and changes nothing.
            self.any(&flag, &value);
            self.guard = Some(going.clone());
            self.code(body);
            self.next(state, body, Some(&value));
            self.scalar(&format!("if (!{flag}) {{ ended = true; break; }}"));
        } else {
            self.close_segment();
            self.scalar(&format!("if (!{}) {{ ended = true; break; }}", holds.text));
            self.code(body);
            self.next(state, body, None);
        }
        self.close_segment();
        let scope = self.scopes.pop().expect("the scope pushed above");
        self.top().nodes.push(Node::Loop(scope.nodes));
        (self.guard, self.inhabited) = (outside, inhabited);
        for (&(result, _), (register, _)) in results.iter().zip(state) {
            let value = self.values[register].clone();
            self.values.insert(result, value);
        }
    }

    /// A mask that varies: a uniform one is made lanes.
    fn pinned(&mut self, mask: Mask) -> Mask {
        if mask.varies {
            return mask;
        }
        let name = self.fresh("t");
        self.line(Some((&name, "bool")), &mask.name, &[]);
        Mask { name, varies: true }
    }

    /// The next state, all at once.
    fn next(&mut self, state: &[(Register, ScalarType)], body: &Code, going: Option<&Value>) {
        let values: Vec<Value> = body.results.iter().map(|at| self.value(at)).collect();
        let mut scalars = Vec::new();
        for (&(register, ty), value) in state.iter().zip(&values) {
            let current = self.values[&register].clone();
            match (current.varies, going) {
                (true, Some(going)) => {
                    let text = format!("{} ? {} : {}", going.text, value.text, current.text);
                    self.assign(&current.text, &text, &[going, value, &current]);
                }
                (true, None) => self.assign(&current.text, &value.text, &[value]),
                (false, _) => {
                    let next = self.fresh("next");
                    let element = type_name(ty);
                    self.scalar(&format!("const {element} {next} = {};", value.text));
                    scalars.push((current.text, next));
                }
            }
        }
        // The segment that uses the present values of the variables comes first.
        self.close_segment();
        for (name, next) in scalars {
            self.scalar(&format!("{name} = {next};"));
        }
    }

    /// Notes in `varying` which registers of a loop differ from lane to lane. Whether its condition
    /// does, which makes the whole state vary.
    fn spreads(
        &self,
        state: &[(Register, ScalarType)],
        initial: &[Operand],
        condition: &Code,
        body: &Code,
        varying: &mut BTreeMap<Register, bool>,
    ) -> bool {
        for (&(register, _), operand) in state.iter().zip(initial) {
            varying.insert(register, self.varies(operand, varying));
        }
        loop {
            self.spread(condition, varying);
            self.spread(body, varying);
            let differ = self.varies(&condition.results[0], varying);
            let mut grown = false;
            for (&(register, _), operand) in state.iter().zip(&body.results) {
                if differ || self.varies(operand, varying) {
                    grown |= varying.insert(register, true) == Some(false);
                }
            }
            if !grown {
                return differ;
            }
        }
    }

    fn spread(&self, code: &Code, varying: &mut BTreeMap<Register, bool>) {
        for instruction in &code.instructions {
            let flags: Vec<bool> = match &instruction.operation {
                Operation::Scalar(_, operands) | Operation::Random(_, operands) => {
                    vec![operands.iter().any(|operand| self.varies(operand, varying))]
                }
                // What is read under a mask that varies does so too.
                Operation::Read(array, operands) => {
                    let (_, is_scalar) = self.given.arrays[array.0 as usize];
                    let varies = operands.iter().any(|operand| self.varies(operand, varying));
                    vec![!is_scalar && (varies || self.masked(varying))]
                }
                Operation::Check(condition, _) => {
                    if self.varies(condition, varying) {
                        varying.insert(MASKED, true);
                    }
                    Vec::new()
                }
                Operation::If { condition, then, otherwise } => {
                    let all = self.varies(condition, varying);
                    if all {
                        varying.insert(MASKED, true);
                    }
                    self.spread(then, varying);
                    self.spread(otherwise, varying);
                    let sides = then.results.iter().zip(&otherwise.results);
                    sides
                        .map(|(a, b)| all || self.varies(a, varying) || self.varies(b, varying))
                        .collect()
                }
                Operation::While { state, initial, condition, body } => {
                    let all = self.spreads(state, initial, condition, body, varying);
                    if all {
                        varying.insert(MASKED, true);
                    }
                    state.iter().map(|(register, _)| all || varying[register]).collect()
                }
            };
            for (&(register, _), varies) in instruction.results.iter().zip(flags) {
                varying.insert(register, varies);
            }
        }
    }

    /// Whether reads may be masked by something that varies.
    fn masked(&self, varying: &BTreeMap<Register, bool>) -> bool {
        let outside = [&self.guard, &self.alive];
        varying.contains_key(&MASKED)
            || outside.into_iter().flatten().any(|mask: &Mask| mask.varies)
    }

    fn varies(&self, operand: &Operand, varying: &BTreeMap<Register, bool>) -> bool {
        match operand {
            Operand::Scalar(_) => false,
            Operand::Register(register) => match varying.get(register) {
                Some(&varies) => varies,
                None => self.values.get(register).is_none_or(|value| value.varies),
            },
        }
    }
}

/// Stands among the registers for the masks of conditionals and checks.
const MASKED: Register = Register(u32::MAX);
