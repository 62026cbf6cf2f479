//! Remarks about programs that run, and hardly mean what they say. They stop nothing.
//!
//! A remark is made of what is certain: an operator that is not associative is shown with three elements
//! that prove it, and what depends on arguments that are not known is not talked about.

mod alike;
mod associative;
mod bounds;
mod brackets;
mod causes;
mod closed;
mod drawn;
mod evidence;
mod glued;
mod letters;
mod mapped;
mod missing;
mod mutants;
mod parts;
mod probes;
mod ranges;
mod samples;
mod updated;
mod whole;
mod wraps;

use std::collections::{BTreeSet, HashSet};

use weft_ir::{Name, Span, Type};
use weft_lang::Diagnostic;
use weft_lang::typed::{
    Arg, Expr, ExprKind, FunctionRef, GlobalId, InstanceId, LocalId, Pattern, Program,
};

use brackets::Brackets;
pub(crate) use causes::causes;
pub(crate) use letters::texts_compared;

use crate::prelude;
use crate::sources::Sources;
use crate::state::State;

/// What a session remembers, so that no place is remarked on twice, and nothing is tried out twice.
#[derive(Debug, Default)]
pub(crate) struct Told {
    /// The places of remarks.
    places: BTreeSet<Span>,
    /// The operators about which there is nothing to say, with the array that they were held against.
    harmless: HashSet<Tried>,
    brackets: Brackets,
}

/// What was tried out: an operator at a type, in the calls around it, and the array.
type Tried = (Span, Type, Vec<Span>, Option<GlobalId>);

/// How many calls of a program are followed into the functions.
const MOST_CALLS: usize = 500;
/// How many operators are remembered as harmless. They are tried out again after that.
const MOST_HARMLESS: usize = 10_000;

/// What is bound around an expression.
enum Bound<'p> {
    /// `let p = value in …`.
    Let(&'p Pattern, &'p Expr),
    /// `let f x = … in …`.
    Function(&'p Name, LocalId, &'p Expr),
    /// A call of a top-level function: the parameters whose arguments are the same in all of the call.
    /// Nothing around it is visible in the function, and variables there may have the same ids.
    Call(Span, Vec<(&'p Pattern, &'p Expr)>),
}

/// Whether a text is a name.
fn is_name(text: &str) -> bool {
    text.starts_with(|letter: char| letter.is_alphabetic() || letter == '_')
        && text.chars().all(is_of_name)
}

/// Whether a character may stand in a name.
fn is_of_name(letter: char) -> bool {
    letter.is_alphanumeric() || "_'".contains(letter)
}

/// The remarks about a program, in the order of its text. What depends on inputs that have no values yet waits.
pub(crate) fn remarks(
    program: &Program,
    state: &State,
    sources: &Sources,
    told: &mut Told,
) -> Vec<Diagnostic> {
    let mut walk = Walk {
        program,
        state,
        sources,
        told,
        scope: Vec::new(),
        calls: Vec::new(),
        calls_left: MOST_CALLS,
        found: Vec::new(),
    };
    walk.expr(&program.entry);
    for instance in &program.instances {
        walk.expr(&instance.body);
    }
    let mut found = walk.found;
    for remark in wraps::remarks(program, state, sources) {
        if told.places.insert(remark.span()) {
            found.push(remark);
        }
    }
    found.sort_by_key(|remark| (remark.span().source, remark.span().start));
    found
}

struct Walk<'p, 't> {
    program: &'p Program,
    state: &'p State,
    sources: &'p Sources,
    told: &'t mut Told,
    scope: Vec<Bound<'p>>,
    /// The functions that were entered by calls.
    calls: Vec<InstanceId>,
    /// How many more calls are followed.
    calls_left: usize,
    found: Vec<Diagnostic>,
}

impl<'p> Walk<'p, '_> {
    fn expr(&mut self, expr: &'p Expr) {
        if expr.span.source == prelude::SOURCE {
            return;
        }
        let rows = ranges::rows_asked_for(self.program, self.state, self.sources, expr);
        self.told.places.extend(rows);
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
                self.application(expr, function, args, *depth);
                expr.for_each_child(&mut |child| self.expr(child));
            }
            ExprKind::Comprehension { body, generators, filter } => {
                alike::remark(body, generators, self.sources)
                    .or_else(|| {
                        let filter = filter.as_deref();
                        alike::side_by_side(body, generators, filter, self.sources)
                            .or_else(|| alike::joined(body, generators, filter, self.sources))
                    })
                    .or_else(|| drawn::remark(self.program, body, generators))
                    .filter(|remark| !self.told.places.contains(&remark.span()))
                    .into_iter()
                    .for_each(|remark| self.tell(remark));
                expr.for_each_child(&mut |child| self.expr(child));
            }
            ExprKind::Loop { .. } => {
                drawn::turns(self.program, expr)
                    .filter(|remark| !self.told.places.contains(&remark.span()))
                    .into_iter()
                    .for_each(|remark| self.tell(remark));
                expr.for_each_child(&mut |child| self.expr(child));
            }
            ExprKind::Array(_) => {
                if !self.told.places.contains(&expr.span)
                    && let Some(remark) =
                        ranges::remark(expr, self.sources, &mut self.told.brackets)
                {
                    self.tell(remark);
                }
                expr.for_each_child(&mut |child| self.expr(child));
            }
            _ => expr.for_each_child(&mut |child| self.expr(child)),
        }
    }

    /// A function and its arguments.
    fn application(&mut self, expr: &'p Expr, function: &'p Expr, args: &'p [Arg], depth: usize) {
        let head = head(self.program, function);
        if let ExprKind::Builtin(builtin, _) = &head.kind {
            self.told.places.extend(letters::digits(*builtin, args));
            letters::remark(*builtin, function, args, depth, self.sources)
                .or_else(|| letters::converted(*builtin, args, self.sources))
                .or_else(|| letters::ordered(*builtin, args))
                .or_else(|| bounds::remark(*builtin, function, args, self.sources))
                .or_else(|| missing::remark(*builtin, args, self.sources))
                .or_else(|| updated::remark(*builtin, args, depth, self.sources))
                .or_else(|| drawn::mapped(self.program, *builtin, args))
                .filter(|remark| !self.told.places.contains(&remark.span()))
                .or_else(|| self.operator(*builtin, function, args))
                .into_iter()
                .for_each(|remark| self.tell(remark));
        }
        if let ExprKind::Function(FunctionRef::Instance(id)) = &head.kind {
            self.call(*id, args, expr.span);
        }
        let of_local = || {
            let local = self.local_function(function)?;
            mapped::local_remark(self.program, self.state, self.sources, local, args)
        };
        mapped::remark(self.program, self.state, self.sources, function, args)
            .or_else(of_local)
            .or_else(|| {
                letters::of_definition(self.program, self.state, self.sources, function, args)
            })
            .or_else(|| whole::remark(self, function, args, &expr.ty))
            .or_else(|| whole::side_by_side(self, function, args))
            .or_else(|| whole::product(head, args, self.sources))
            .or_else(|| glued::remark(function, args, self.sources))
            .or_else(|| letters::plotted(self.program, function, args, depth, self.sources))
            .or_else(|| letters::compared(self.program, function, args, depth, self.sources))
            .or_else(|| parts::remark(self, function, args))
            .or_else(|| letters::one_by_one(self.program, head, args, self.sources))
            .or_else(|| letters::separated(self.program, function, args, self.sources))
            .or_else(|| drawn::stepped(self.program, head, args))
            .filter(|remark| !self.told.places.contains(&remark.span()))
            .into_iter()
            .for_each(|remark| self.tell(remark));
    }

    /// Adds a remark about a place of which nothing has been said.
    fn tell(&mut self, remark: Diagnostic) {
        self.told.places.insert(remark.span());
        self.found.push(remark);
    }

    /// The local function that a variable stands for.
    fn local_function(&self, function: &Expr) -> Option<(&'p str, &'p Expr)> {
        let ExprKind::Local(local, _) = &function.kind else { return None };
        self.scope.iter().rev().find_map(|bound| match bound {
            Bound::Function(name, bound, value) if bound == local => Some((&***name, *value)),
            Bound::Function(..) | Bound::Let(..) | Bound::Call(..) => None,
        })
    }

    /// Looks into a function with what is known of its parameters from a call.
    fn call(&mut self, id: InstanceId, args: &'p [Arg], span: Span) {
        let function = &self.program.instances[id.0 as usize].body;
        let ExprKind::Lambda { params, body } = &function.kind else { return };
        if self.calls_left == 0
            || self.calls.contains(&id)
            || function.span.source == prelude::SOURCE
        {
            return;
        }
        let known = params.iter().zip(args).filter(|(_, arg)| !arg.mapped);
        let known = known.map(|(param, arg)| (param, &arg.expr)).collect();
        self.calls_left -= 1;
        self.calls.push(id);
        self.scope.push(Bound::Call(span, known));
        self.expr(body);
        self.scope.pop();
        self.calls.pop();
    }

    /// The calls around the expression at hand, the outermost first.
    fn call_places(&self) -> Vec<Span> {
        let calls = self.scope.iter().filter_map(|bound| match bound {
            Bound::Call(span, _) => Some(*span),
            Bound::Let(..) | Bound::Function(..) => None,
        });
        calls.collect()
    }

    /// What a variable stands for, as far as names lead to names.
    fn resolved<'e>(&self, expr: &'e Expr) -> &'e Expr
    where
        'p: 'e,
    {
        let mut expr = expr;
        for bound in self.scope.iter().rev() {
            let ExprKind::Local(local, _) = &expr.kind else { return expr };
            let is_it = |pattern: &Pattern| matches!(pattern, Pattern::Local { local: bound, .. } if bound == local);
            match bound {
                Bound::Let(pattern, value) if is_it(pattern) => expr = value,
                Bound::Let(..) | Bound::Function(..) => {}
                Bound::Call(_, params) => match params.iter().find(|(param, _)| is_it(param)) {
                    Some((_, value)) => expr = value,
                    None => return expr,
                },
            }
        }
        expr
    }
}

/// What a function is that is only another name for it.
fn head<'p>(program: &'p Program, function: &'p Expr) -> &'p Expr {
    const MOST_NAMES: usize = 16;
    let mut head = function;
    for _ in 0..MOST_NAMES {
        let ExprKind::Function(FunctionRef::Instance(id)) = &head.kind else { return head };
        let body = &*program.instances[id.0 as usize].body;
        match &body.kind {
            ExprKind::Builtin(..) | ExprKind::Function(_)
                if body.span.source != prelude::SOURCE =>
            {
                head = body;
            }
            _ => return head,
        }
    }
    head
}
