//! Ways out that the form of what was written shows, where the types alone say too little: calls as other
//! languages write them, masks in brackets, a comparison whose left side was meant to be an argument.
//!
//! An item that failed is looked at once more. Each of its reports points at a part of the text; the
//! expressions around that part, from the inside out, are held against the rules in the files of this folder. The first that fits says what to write, in place of what the types had suggested.

mod annotated;
mod arity;
mod array;
mod call;
mod commas;
mod function;
mod generators;
mod number;
mod passed;
mod text;
mod update;
mod waiting;
mod whole;
mod written;

use weft_ir::Span;

use super::Checker;
use crate::ast::{self, ItemKind};
use crate::diagnostic::{Diagnostic, Severity};
use crate::types::Type;

/// How far around a report the text is looked at.
const MOST_AROUND: usize = 4;
/// How far around a report a function is looked for that is passed.
const MOST_AROUND_A_BODY: usize = 12;

impl Checker<'_> {
    /// Improves the reports about an item from position `first` on.
    pub(super) fn advise(&mut self, item: &ast::Item, first: usize) {
        let body = match &item.kind {
            ItemKind::Def(def) => &def.body,
            ItemKind::Binding { value, .. } | ItemKind::Expr { value, .. } => value,
            ItemKind::TypeAlias { .. } | ItemKind::Command { .. } | ItemKind::Import { .. } => {
                return;
            }
        };
        let of_definition = match &item.kind {
            ItemKind::Def(def) => annotated::of_definition(self, def, item, first),
            _ => None,
        };
        if let Some(help) = of_definition {
            return self.leave_one(first, help);
        }
        self.advise_places(body, first);
        if let Some(help) = annotated::of_item(self, body, item, first) {
            self.leave_one(first, help);
        }
    }

    /// Leaves the first error of those from position `first` on, with this help: all else is a consequence.
    fn leave_one(&mut self, first: usize, help: String) {
        let mut reports = self.diagnostics.split_off(first);
        reports.sort_by_key(|report| report.span().start);
        let is_error = |report: &Diagnostic| report.severity == Severity::Error;
        let cause = reports.iter().position(is_error);
        self.diagnostics.extend(cause.map(|cause| reports.swap_remove(cause)));
        for report in &mut self.diagnostics[first..] {
            report.help = vec![help.clone()];
        }
    }

    /// Improves the reports about an expression from position `first` on, by what stands around their places.
    fn advise_places(&mut self, body: &ast::Expr, first: usize) {
        let mut told: Vec<(Span, String)> = Vec::new();
        let mut position = first;
        while position < self.diagnostics.len() {
            let found = self.diagnostics[position].clone();
            let mut path = Vec::new();
            path_to(body, found.span(), &mut path);
            let around = path.iter().rev().take(MOST_AROUND);
            let compared = around
                .clone()
                .find_map(|expr| Some((expr.span, call::compared(self, expr, &found)?)));
            // A function that is passed stands around all of its body.
            let of_passed = compared.or_else(|| {
                let around = path.iter().rev().take(MOST_AROUND_A_BODY);
                around.clone().find_map(|expr| {
                    let help = passed::advice(self, expr, &found);
                    Some((expr.span, help.or_else(|| arity::advice(self, expr, &found))?))
                })
            });
            let of_place = of_passed.or_else(|| {
                let help = whole::advice(self, &path, &found);
                Some((
                    found.span(),
                    help.or_else(|| update::advice(&path, &found))
                        .or_else(|| generators::advice(&path, &found))
                        .or_else(|| waiting::advice(self, &path, &found))?,
                ))
            });
            let told_here = of_place.or_else(|| {
                around.clone().find_map(|expr| Some((expr.span, self.advice(expr, &found)?)))
            });
            if let Some(told_here) = told_here {
                // One mistake may have several consequences. The same mistake in another place is another.
                if told.contains(&told_here) {
                    self.diagnostics.remove(position);
                    continue;
                }
                self.diagnostics[position].help = vec![told_here.1.clone()];
                told.push(told_here);
            }
            position += 1;
        }
    }

    fn advice(&mut self, expr: &ast::Expr, found: &Diagnostic) -> Option<String> {
        if let Some(help) = text::advice(self, expr, found) {
            return Some(help);
        }
        if let Some(help) = array::advice(self, expr, found) {
            return Some(help);
        }
        if let Some(help) = function::advice(self, expr, found) {
            return Some(help);
        }
        call::advice(self, expr, found).or_else(|| number::advice(self, expr, found))
    }

    /// The type of the expression at a place, if it is an argument of an application or one itself.
    fn type_at(&self, span: Span) -> Option<Type> {
        let argument = |site: &super::rank::Site| {
            site.args.iter().find(|arg| arg.span == span).map(|arg| arg.ty.clone())
        };
        let ty = self.sites.iter().rev().find_map(argument).or_else(|| {
            let of_result = |site: &&super::rank::Site| site.span == span && site.depth.is_some();
            self.sites.iter().rev().find(of_result).map(|site| site.result.clone())
        });
        // Not resolved: the variables of a scheme are none of the table.
        ty.map(|ty| self.table.shallow(&ty))
    }

    /// How many axes the expression at a place has, if that is known.
    fn rank_at(&self, span: Span) -> Option<usize> {
        let (rank, head) = self.table.peel(&self.type_at(span)?);
        (!self.table.is_rank_open(&head)).then_some(rank)
    }

    /// Whether a name means a builtin.
    fn is_builtin(&self, name: &weft_ir::Name) -> bool {
        crate::builtins::lookup(name).is_some() && self.environment.lookup(name).is_none()
    }
}

/// The expressions that hold a place, from the outside in.
fn path_to<'e>(expr: &'e ast::Expr, place: Span, path: &mut Vec<&'e ast::Expr>) {
    path.push(expr);
    let mut next = None;
    expr.for_each_child(&mut |child| {
        if child.span.contains(place) && next.is_none() {
            next = Some(child);
        }
    });
    if let Some(child) = next {
        path_to(child, place, path);
    }
}
