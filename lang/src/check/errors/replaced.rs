//! What is put into an array that does not hold such values.

use weft_ir::ScalarType;

use super::super::Checker;
use super::super::rank::Site;
use crate::diagnostic::Diagnostic;
use crate::types::{Class, Type};

impl Checker<'_> {
    /// Reports `(a with [i] = v)` where the array has as many axes as there are indices, so that its elements are of another type
    /// than the value; true if that is what is wrong.
    pub(super) fn other_element(&mut self, site: &Site) -> bool {
        let ("with", [array, indices @ .., value]) = (&*site.function, &site.args[..]) else {
            return false;
        };
        let whole = self.table.resolve(&array.ty);
        let (rank, head) = self.table.peel(&whole);
        let Some(inner) = rank.checked_sub(indices.len()) else { return false };
        let element = Type::arrays(inner, head.clone());
        let (found, wanted) = (self.show(&value.ty), self.show(&element));
        let whole = self.show(&whole);
        let diagnostic = Diagnostic::error(
            "E0302",
            format!("the element that is replaced needs {wanted}, but this is {found}"),
            value.span,
            format!("this is {found}"),
        )
        .label(array.span, format!("this is {whole}"));
        let (of_value, of_elements) = self.table.peel(&value.ty);
        let is_float = match of_elements {
            Type::Scalar(scalar) => scalar.is_float(),
            Type::Var(var) => {
                self.table.state(var).and_then(|open| open.class) == Some(Class::FLOAT)
            }
            _ => false,
        };
        let holds_integers = matches!(&head, Type::Scalar(scalar) if scalar.is_int());
        let is_text = self.is_text(&value.ty);
        let holds_characters = element == Type::Scalar(ScalarType::Char);
        self.report(if is_float && holds_integers && of_value == inner {
            diagnostic.help(format!(
                "an array of floats holds it: made with `0.0` in place of `0`, or by `f64 …`; `{head} …` cuts fractions off"
            ))
        } else if is_text && of_value == 1 && holds_characters {
            diagnostic.help("a character stands in single quotes: `'c'`")
        } else if is_text && inner == 0 {
            diagnostic
        } else {
            self.with_fix(diagnostic, &value.ty, &element)
        });
        true
    }
}
