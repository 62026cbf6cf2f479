//! Operators that stand where something else is meant.

use weft_ir::ScalarType;

use crate::ast;
use crate::builtins;
use crate::check::Checker;
use crate::diagnostic::Diagnostic;
use crate::suggest;

impl Checker<'_> {
    /// What to write for a word that stands as an operator and is none, as in `7 mod 2`.
    pub(super) fn unknown_operator(&self, arg: &ast::Expr) -> Option<&'static str> {
        let ast::ExprKind::Name(word) = &arg.kind else { return None };
        let is_known = self.scope.contains_key(word) || self.environment.lookup(word).is_some();
        if is_known { None } else { suggest::foreign_operator(word) }
    }

    /// Reports `fold + 0 xs`, which adds to a function; true if that is what stands there.
    pub(in crate::check) fn operator_for_function(
        &mut self,
        operator: &ast::Expr,
        args: &[&ast::Expr],
    ) -> bool {
        let (ast::ExprKind::Name(symbol), [left, _]) = (&operator.kind, args) else { return false };
        let ast::ExprKind::Name(name) = &left.kind else { return false };
        let is_infix = left.span.end <= operator.span.start
            && !symbol.starts_with(|c: char| c.is_alphabetic() || c == '_');
        let is_known = self.scope.contains_key(name) || self.environment.lookup(name).is_some();
        if !is_infix || is_known {
            return false;
        }
        let takes_function = builtins::all().any(|entry| {
            let ty = || entry.signature.rsplit("=> ").next().unwrap_or_default();
            entry.name == &**name && ty().starts_with('(') && ty().contains("->")
        });
        if !takes_function {
            return false;
        }
        let message = format!("`{symbol}` stands between two values, but `{name}` is a function");
        let example =
            format!("an operator as an argument stands in parentheses: `{name} ({symbol}) …`");
        self.report(
            Diagnostic::error("E0303", message, operator.span, "this needs a value before it")
                .label(left.span, "this is a function")
                .help(example),
        );
        true
    }
}

/// How a float becomes an integer.
pub(super) const TO_INTEGER: &str =
    "convert it with `i64 …`, which cuts fractions off, or `i64 (round …)`";

/// What to write where the operands of an operator are an integer and a float of type `from`.
pub(super) fn convert_other(from: ScalarType, operator: &str) -> String {
    match operator {
        "<<" | ">>" | ".&." | ".|." | ".^." | ".." => TO_INTEGER.to_owned(),
        _ => format!("convert the other with `{from} …`: nothing is converted implicitly"),
    }
}
