//! The sizes of annotations.
//!
//! A size below other axes is the extent of that axis, which must be regular: stricter than the
//! language where there are no rows; the interpreter then decides.

use std::collections::BTreeMap;
use std::rc::Rc;

use weft_ir::nested::Atom;
use weft_ir::{Name, ScalarOp};

use super::builder::Lowering;
use super::operations::{bool_atom, int};
use super::value::{Frame, Value, component_types, element_type, leaf_count};
use crate::typed::{Size, SizeCheck, SizeStep};
use crate::types::Type;

impl<'p> Lowering<'p> {
    /// Whether all checks hold. A size name is bound by its first check.
    pub(super) fn check_sizes(&mut self, checks: &'p [SizeCheck], frame: &Rc<Frame<'p>>) -> Atom {
        let mut sizes: BTreeMap<&Name, Atom> = BTreeMap::new();
        let mut holds = bool_atom(true);
        for check in checks {
            let outer = std::mem::replace(&mut self.span, check.span);
            let value = frame.get(check.local);
            let found = self.measure(&value, frame.type_of(check.local), &check.path);
            let expected = match &check.size {
                Size::Constant(expected) => int(*expected),
                Size::Name(name) => *sizes.entry(name).or_insert(found),
            };
            if found != expected {
                let equal = self.compute(ScalarOp::Eq, &[found, expected]);
                holds = self.compute(ScalarOp::And, &[holds, equal]);
            }
            self.span = outer;
        }
        holds
    }

    /// The length that a check is about.
    fn measure(&mut self, value: &Value<'p>, ty: &Type, path: &[SizeStep]) -> Atom {
        match (value, path) {
            (Value::Tuple(parts), [SizeStep::Component(index), rest @ ..]) => {
                self.measure(&parts[*index], component_types(ty)[*index], rest)
            }
            (Value::Array(leaves), path) => {
                let (mut ty, mut leaf, mut axis) = (element_type(ty), 0, 0);
                for step in path {
                    match step {
                        SizeStep::Elements => axis += 1,
                        SizeStep::Component(index) => {
                            let types = component_types(ty);
                            leaf += types[..*index].iter().map(|ty| leaf_count(ty)).sum::<usize>();
                            ty = types[*index];
                        }
                    }
                    if let (SizeStep::Elements, Type::Array(element)) = (step, ty) {
                        ty = element;
                    }
                }
                self.extent(leaves[leaf], axis)
            }
            (_, path) => panic!("lower: no path {path:?} into a {ty}"),
        }
    }
}
