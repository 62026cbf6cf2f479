//! Parameters that are scalars as nothing says that they are arrays: what to write there.

use weft_ir::{Name, ScalarType};

use crate::check::Checker;
use crate::check::rank::Site;
use crate::diagnostic::Diagnostic;
use crate::environment::{Binding, Global};
use crate::typed::{Expr, ExprKind, Guess, Pattern};
use crate::types::{Class, Type};

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
        let whole = self.annotation(&site.args[mapped].ty);
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
        let Some((parts, are)) = self.parts_of_other_ranks(position, site) else {
            return diagnostic;
        };
        diagnostic.help(format!(
            "in the definition of `{}` nothing says that these parts are {are}: write `({})` there",
            site.function,
            parts.join(", ")
        ))
    }

    /// The parameter as it can be written, with the types of the parts that are given arrays, or numbers, and what these
    /// are.
    fn parts_of_other_ranks(
        &self,
        position: usize,
        site: &Site,
    ) -> Option<(Vec<String>, &'static str)> {
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
            let mut are = None;
            let mut parts = Vec::new();
            for (pattern, (given, taken)) in patterns.iter().zip(given.iter().zip(taken.iter())) {
                let Pattern::Local { name, .. } = pattern else { return None };
                let is_closed = !self.table.is_rank_open(&self.table.peel(taken).1);
                let (given_rank, taken_rank) = (self.table.peel(given).0, self.table.peel(taken).0);
                if is_closed && given_rank != taken_rank {
                    are = are.or(Some(if given_rank > taken_rank { "arrays" } else { "numbers" }));
                    parts.push(format!("{name} : {}", self.annotation(given)));
                } else {
                    parts.push(name.to_string());
                }
            }
            Some((parts, are?))
        })
    }

    /// What to write if the rank of a parameter, which an argument does not have, was chosen.
    pub(super) fn guessed(&self, position: usize, site: &Site, index: usize) -> Option<String> {
        let Global::Function(function) = self.environment.global(site.definition?)? else {
            return None;
        };
        let positions = self.positions.get(&position)?;
        let of = |index: usize| {
            let parameter = *positions.get(index)?;
            function.guesses.iter().find(|guess| guess.parameter == parameter && !guess.elements)
        };
        let guess = of(index)?;
        let (name, own) = (&function.name, &guess.name);
        let given = |index: usize| self.table.peel(&site.args[index].ty).0;
        // What has got its axes along with others is as it should be once these are known.
        let others: Vec<(usize, &Guess)> = (0..site.args.len())
            .filter_map(|other| Some((other, of(other).filter(|_| other != index)?)))
            .filter(|(other, guess)| given(*other) > 0 && given(*other) == guess.rank)
            .collect();
        if guess.rank > 1 && !others.is_empty() {
            let names: Vec<String> =
                others.iter().map(|(_, guess)| format!("`{}`", guess.name)).collect();
            let are = if names.len() == 1 { "is" } else { "are" };
            let annotated: Vec<String> = others
                .iter()
                .map(|(other, guess)| {
                    format!("({} : {})", guess.name, self.annotation(&site.args[*other].ty))
                })
                .collect();
            return Some(format!(
                "nothing in the definition of `{name}` says what {} {are}, so that rows of `{own}` go together with \
                 rows of {}; write `{}` there",
                names.join(" and "),
                names[0],
                annotated.join(" ")
            ));
        }
        let found = self.annotation(&site.args[index].ty);
        Some(match given(index) {
            0 => format!(
                "nothing in the definition of `{name}` says what `{own}` is, so it is an array like what it stands \
                 beside; for one number write `({own} : {found})` there"
            ),
            _ => format!(
                "nothing in the definition of `{name}` says what `{own}` is, so it has as many axes as what it stands \
                 beside; write `({own} : {found})` there"
            ),
        })
    }

    /// A type as it can be written: a literal gets the type that it has by itself.
    pub(in crate::check) fn annotation(&self, ty: &Type) -> String {
        self.show(&self.by_itself(ty))
    }

    fn by_itself(&self, ty: &Type) -> Type {
        let (rank, head) = self.table.peel(ty);
        let element = match head {
            Type::Var(var) => match self.table.state(var).and_then(|open| open.class) {
                Some(Class::FLOAT) | None => Type::Scalar(self.config.float),
                Some(_) => Type::Scalar(ScalarType::I64),
            },
            Type::Tuple(parts) => {
                Type::Tuple(parts.iter().map(|part| self.by_itself(part)).collect())
            }
            other => other,
        };
        Type::arrays(rank, element)
    }
}
