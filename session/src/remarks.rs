//! Remarks about programs that run, and hardly mean what they say. They stop nothing.
//!
//! A remark is made of what is certain: an operator that is not associative is shown with three elements
//! that prove it, and what depends on arguments that are not known is not talked about.

mod associative;
mod closed;
mod letters;
mod samples;

use std::collections::{BTreeSet, HashSet};

use weft_ir::{Name, Span, Type};
use weft_lang::Diagnostic;
use weft_lang::typed::{Expr, ExprKind, GlobalId, LocalId, Pattern, Program};

pub(crate) use letters::texts_compared;

use crate::prelude;
use crate::references;
use crate::sources::Sources;
use crate::state::State;

/// What a session remembers, so that no place is remarked on twice, and nothing is tried out twice.
#[derive(Debug, Default)]
pub(crate) struct Told {
    /// The places of remarks.
    places: BTreeSet<Span>,
    /// The operators about which there is nothing to say, with the array that they were held against.
    harmless: HashSet<(Span, Type, Option<GlobalId>)>,
}

/// How many operators are remembered as harmless. They are tried out again after that.
const MOST_HARMLESS: usize = 10_000;

/// What is bound around an expression.
enum Bound<'p> {
    /// `let p = value in …`.
    Let(&'p Pattern, &'p Expr),
    /// `let f x = … in …`.
    Function(&'p Name, LocalId, &'p Expr),
}

/// The remarks about a program whose inputs have values, in the order of its text.
pub(crate) fn remarks(
    program: &Program,
    state: &State,
    sources: &Sources,
    told: &mut Told,
) -> Vec<Diagnostic> {
    let mut walk = Walk { program, state, sources, told, scope: Vec::new(), found: Vec::new() };
    walk.expr(&program.entry);
    for instance in &program.instances {
        walk.expr(&instance.body);
    }
    let mut found = walk.found;
    found.sort_by_key(|remark| (remark.span().source, remark.span().start));
    found
}

struct Walk<'p, 't> {
    program: &'p Program,
    state: &'p State,
    sources: &'p Sources,
    told: &'t mut Told,
    scope: Vec<Bound<'p>>,
    found: Vec<Diagnostic>,
}

impl<'p> Walk<'p, '_> {
    fn expr(&mut self, expr: &'p Expr) {
        if expr.span.source == prelude::SOURCE {
            return;
        }
        match &expr.kind {
            ExprKind::Let { pattern, value, body } => {
                self.expr(value);
                self.scope.push(Bound::Let(pattern, value));
                self.expr(body);
                self.scope.pop();
            }
            ExprKind::LetFunction { name, local, value, body, .. } => {
                self.expr(value);
                self.scope.push(Bound::Function(name, *local, value));
                self.expr(body);
                self.scope.pop();
            }
            ExprKind::Apply { function, args, depth } => {
                if let ExprKind::Builtin(builtin, _) = &function.kind {
                    let remark = letters::remark(*builtin, function, args, *depth, self.sources)
                        .filter(|remark| !self.told.places.contains(&remark.span()))
                        .or_else(|| self.operator(*builtin, function, args));
                    if let Some(remark) = remark {
                        self.told.places.insert(remark.span());
                        self.found.push(remark);
                    }
                }
                references::children(expr, &mut |child| self.expr(child));
            }
            _ => references::children(expr, &mut |child| self.expr(child)),
        }
    }
}
