//! Parameters that are scalars as nothing says that they are arrays: what to write there.

use weft_ir::{Name, ScalarType};

use crate::check::Checker;
use crate::check::rank::Site;
use crate::diagnostic::Diagnostic;
use crate::environment::{Binding, Global};
use crate::typed::{Expr, ExprKind, Pattern};
use crate::types::Type;

impl Checker<'_> {
    /// Adds why a definition is mapped over one of its arguments: nothing said that its parameter
    /// is an array.
    pub(super) fn with_mapped_parameter(
        &self,
        diagnostic: Diagnostic,
        position: usize,
        site: &Site,
    ) -> Diagnostic {
        let name: Name = (&*site.function).into();
        let Some(Binding::Global(global)) = self.environment.lookup(&name) else {
            return diagnostic;
        };
        let Some(Global::Function(function)) = self.environment.global(*global) else {
            return diagnostic;
        };
        let ExprKind::Lambda { params, .. } = &function.body.kind else { return diagnostic };
        let is_global = !self.scope.contains_key(&name);
        let mapped = site.args.iter().zip(&site.params).position(|(arg, param)| {
            let (rank, head) = self.table.peel(param);
            rank == 0
                && !matches!(head, Type::Seq(_))
                && !matches!(head, Type::Var(_) if self.table.is_rank_open(&head))
                && self.table.peel(&arg.ty).0 > 0
        });
        let (Some(mapped), true) = (mapped, is_global) else { return diagnostic };
        let argument = self.positions.get(&position).and_then(|all| all.get(mapped));
        let argument = argument.copied().unwrap_or(mapped);
        let parameter = match params.get(argument) {
            Some(Pattern::Local { name, .. }) => name,
            _ => return diagnostic,
        };
        // What it would take if it were not mapped.
        let whole = self.table.resolve(&site.args[mapped].ty);
        let whole = match self.table.peel(&whole).1 {
            Type::Scalar(_) => self.show(&whole),
            _ => Type::arrays(self.table.peel(&whole).0, Type::Scalar(ScalarType::F64)).to_string(),
        };
        diagnostic.note(format!(
            "`{name}` is mapped over its argument {}, as its parameter `{parameter}` is a scalar; if \
             it takes an array, say so: `({parameter} : {whole})`",
            argument + 1
        ))
    }

    /// Adds the same to a report about a value that an application yields.
    pub(super) fn with_mapped_application(
        &self,
        diagnostic: Diagnostic,
        value: &Expr,
    ) -> Diagnostic {
        let ExprKind::Apply { depth, .. } = &value.kind else { return diagnostic };
        match self.sites.get(*depth) {
            Some(site) => self.with_mapped_parameter(diagnostic, *depth, site),
            None => diagnostic,
        }
    }

    /// The same of a definition that takes a tuple: a part of a tuple is never mapped over.
    pub(super) fn with_mapped_parts(
        &self,
        diagnostic: Diagnostic,
        position: usize,
        site: &Site,
    ) -> Diagnostic {
        let Some(parts) = self.parts_that_are_arrays(position, site) else { return diagnostic };
        diagnostic.help(format!(
            "in the definition of `{}` nothing says that these parts are arrays: write `({})` there",
            site.function,
            parts.join(", ")
        ))
    }

    /// The parameter as it can be written, with the types of the parts that are given arrays.
    fn parts_that_are_arrays(&self, position: usize, site: &Site) -> Option<Vec<String>> {
        let name: Name = (&*site.function).into();
        let Binding::Global(global) = self.environment.lookup(&name)? else { return None };
        let Global::Function(function) = self.environment.global(*global)? else { return None };
        let ExprKind::Lambda { params, .. } = &function.body.kind else { return None };
        if self.scope.contains_key(&name) {
            return None;
        }
        site.args.iter().zip(&site.params).enumerate().find_map(|(index, (arg, param))| {
            let (Type::Tuple(given), Type::Tuple(taken)) =
                (self.table.shallow(&arg.ty), self.table.shallow(param))
            else {
                return None;
            };
            let argument = self.positions.get(&position)?.get(index).copied().unwrap_or(index);
            let Pattern::Tuple(patterns) = params.get(argument)? else { return None };
            if patterns.len() != given.len() || taken.len() != given.len() {
                return None;
            }
            let mut is_array = false;
            let mut parts = Vec::new();
            for (pattern, (given, taken)) in patterns.iter().zip(given.iter().zip(taken.iter())) {
                let Pattern::Local { name, .. } = pattern else { return None };
                let is_closed = !self.table.is_rank_open(&self.table.peel(taken).1);
                if is_closed && self.table.peel(given).0 > self.table.peel(taken).0 {
                    is_array = true;
                    parts.push(format!("{name} : {}", self.show(given)));
                } else {
                    parts.push(name.to_string());
                }
            }
            is_array.then_some(parts)
        })
    }
}
