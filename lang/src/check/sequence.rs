//! Sequences: where operations on arrays take them too.
//!
//! `map`, `zipWith`, `filter` and the like, apply-to-each and `loop … for x in s` are about arrays, or about
//! sequences if one is given to them, or if one is wanted of them (`foldSeq (+) 0 (map f s)` with a parameter
//! `s`). What is meant then are functions of the prelude (Note [Sequences in chunks] in
//! `session/src/prelude/sequences.weft`).

use std::sync::Arc;

use weft_ir::{Name, Scalar, ScalarType, Span, Value};

use super::expr::{instantiate_at, shared, with_checks};
use super::{CheckedKind, Checker, ShownSequence};
use crate::ast;
use crate::builtins::Builtin;
use crate::diagnostic::Diagnostic;
use crate::environment::Global;
use crate::typed::{Expr, ExprKind, FunctionRef, Pattern};
use crate::types::{Scheme, Type};

/// A function about to be applied.
pub(super) struct Callee {
    pub(super) function: Expr,
    /// The parameters that meet arguments.
    pub(super) params: Vec<Type>,
    /// Its type after these.
    pub(super) returns: Type,
}

/// What consumes a sequence, for messages.
pub(super) const CONSUMERS: &str =
    "`foldSeq`, `elements`, `tabulate` and `collect` consume a sequence; `map f s` maps over it";

/// How many sequences an apply-to-each goes over at most.
const MOST_GENERATORS: usize = 4;

/// The function of the prelude that stands for an operation on arrays where it meets sequences.
pub fn counterpart(builtin: Builtin) -> Option<&'static str> {
    Some(match builtin {
        Builtin::Map => "mapSequence",
        Builtin::MapWithIndex => "mapSequenceWithIndex",
        Builtin::ZipWith => "zipSequencesWith",
        Builtin::ZipWith3 => "zipSequencesWith3",
        Builtin::ZipWith4 => "zipSequencesWith4",
        Builtin::Zip => "zipSequences",
        Builtin::Zip3 => "zipSequences3",
        Builtin::Filter => "filterSequence",
        _ => return None,
    })
}

/// Items that are no values.
pub(crate) fn unfit_items(ty: &Type, span: Span) -> Diagnostic {
    let nested = |ty: &Type| match ty {
        Type::Seq(item) => super::finish::contains(item, &|ty| matches!(ty, Type::Seq(_))),
        _ => false,
    };
    let things = if super::finish::contains(ty, &nested) { "sequences" } else { "functions" };
    let diagnostic = Diagnostic::error(
        "E0313",
        format!("a sequence cannot hold {things}"),
        span,
        format!("this would be {ty}"),
    )
    .note(format!("{things} are specialised away before a program runs"));
    match things {
        "sequences" => diagnostic.help("`collect` the inner ones: the items are arrays then"),
        _ => diagnostic,
    }
}

impl Checker<'_> {
    /// Whether an expression is known to be a sequence.
    pub(super) fn is_sequence(&mut self, expr: &Expr) -> bool {
        matches!(self.known(&expr.ty), Type::Seq(_))
    }

    /// What helps where one of a sequence and something else is given and the other is needed, or a
    /// sequence of arrays.
    pub(super) fn sequence_help(&self, found: &Type, wanted: &Type) -> Option<String> {
        let (rank, head) = self.table.peel(found);
        let (_, wanted) = self.table.peel(wanted);
        let help = match (&head, &wanted) {
            (Type::Seq(item), Type::Seq(wanted)) => {
                let lacks_axes = self.table.peel(item).0 < self.table.peel(wanted).0;
                return lacks_axes.then(|| {
                    "its items are no arrays; `collect s` is the array of them".to_owned()
                });
            }
            (Type::Seq(_), _) => CONSUMERS,
            (head, Type::Seq(_)) if rank > 0 && self.table.is_rank_open(head) => {
                "a parameter that is a sequence says so: `(s : seq f64)`; `stream xs` makes one of an \
                 array"
            }
            (_, Type::Seq(_)) if rank > 0 => "`stream xs` makes a sequence of an array",
            (_, Type::Seq(_)) => {
                "`stream xs` makes a sequence of an array, `produce n f` one of a function"
            }
            _ => return None,
        };
        Some(help.to_owned())
    }

    /// The function of the prelude that makes a sequence of what was found in a file; none for loaders of
    /// values.
    pub(super) fn stream_of(&self, loader: &str, value: &Value) -> Option<&'static str> {
        match (loader, value) {
            ("streamNpy", _) => Some("streamedArray"),
            ("streamLines", _) => Some("streamedLines"),
            ("streamWav", Value::Tuple(parts)) => match parts.get(1) {
                Some(Value::Scalar(Scalar::I64(1))) => Some("streamedSound"),
                _ => Some("streamedChannels"),
            },
            _ => None,
        }
    }

    /// Puts what takes sequences in the place of an operation that takes arrays, if there is such a thing.
    pub(super) fn take_sequences(&mut self, callee: &mut Callee) {
        let ExprKind::Builtin(builtin, _) = callee.function.kind else { return };
        let Some(function) =
            counterpart(builtin).and_then(|name| self.helper(name, callee.function.span))
        else {
            return;
        };
        let mut returns = function.ty.clone();
        for param in &mut callee.params {
            let Type::Function(parameter, result) = &returns else {
                panic!("check: {returns} takes too few arguments");
            };
            *param = (**parameter).clone();
            returns = (**result).clone();
        }
        *callee = Callee { function, params: std::mem::take(&mut callee.params), returns };
    }

    /// A function of the prelude.
    fn helper(&mut self, name: &str, span: Span) -> Option<Expr> {
        let id = self.environment.helper(name)?;
        let Some(Global::Function(function)) = self.environment.global(id) else { return None };
        let scheme = function.scheme.clone();
        let types: Vec<Type> =
            scheme.vars.iter().map(|class| self.table.fresh_of(*class)).collect();
        let ty = instantiate_at(&scheme.ty, &|var| types[var.0 as usize].clone());
        Some(Expr { kind: ExprKind::Function(FunctionRef::Generic(id, types)), ty, span })
    }

    /// Applies a function of the prelude to all its arguments.
    pub(super) fn apply_helper(&mut self, name: &str, args: Vec<Expr>, span: Span) -> Expr {
        let Some(function) = self.helper(name, span) else {
            self.report(Diagnostic::error(
                "E0208",
                "there are no sequences without the prelude",
                span,
                "this needs them",
            ));
            return self.unknown(span);
        };
        let mut params = Vec::with_capacity(args.len());
        let mut returns = function.ty.clone();
        for _ in &args {
            let Type::Function(parameter, result) = &returns else {
                panic!("check: `{name}` takes too few arguments");
            };
            params.push((**parameter).clone());
            returns = (**result).clone();
        }
        self.apply_typed(name, function, params, args, returns, span)
    }

    /// What the generators of an apply-to-each go over.
    pub(super) fn sources(
        &mut self,
        generators: &[(ast::Pattern, ast::Expr)],
        span: Span,
    ) -> Vec<Expr> {
        let wanted = self.wants_sequence == Some(span);
        let mut sources = Vec::with_capacity(generators.len());
        for (_, source) in generators {
            if wanted {
                self.wants_sequence = Some(source.span);
            }
            let source = self.expr(source);
            if wanted && matches!(self.known(&source.ty), Type::Var(_)) {
                let item = self.table.fresh();
                self.expect(&source, &Type::seq(item), span, "apply-to-each over sequences");
            }
            sources.push(source);
        }
        sources
    }

    /// `{ body : p in s ; … | filter }` over sequences: the same over the arrays of their items between two
    /// positions.
    pub(super) fn sequence_comprehension(
        &mut self,
        body: &ast::Expr,
        generators: &[(ast::Pattern, ast::Expr)],
        filter: Option<&ast::Expr>,
        sources: Vec<Expr>,
        span: Span,
    ) -> Expr {
        if sources.len() > MOST_GENERATORS {
            self.report(
                Diagnostic::error(
                    "E0208",
                    format!("an apply-to-each goes over {MOST_GENERATORS} sequences at most"),
                    span,
                    format!("these are {}", sources.len()),
                )
                .help("`zip s t` makes one of two"),
            );
            return self.unknown(span);
        }
        let items: Option<Vec<Type>> =
            sources.iter().map(|source| self.item_type(source, span)).collect();
        let Some(items) = items else { return self.unknown(span) };
        let was_top = std::mem::replace(&mut self.top_level, false);
        let mark = self.enter();
        let mut checks = Vec::new();
        let mut typed = Vec::with_capacity(sources.len());
        let mut params = Vec::with_capacity(sources.len());
        for ((pattern, _), source) in generators.iter().zip(&sources) {
            let item = items[params.len()].clone();
            let (local, name) = (self.fresh_local(), Name::from("items"));
            let ty = Type::array(item.clone());
            let items = Expr {
                kind: ExprKind::Local(local, Vec::new()),
                ty: ty.clone(),
                span: source.span,
            };
            params.push(Pattern::Local { local, name, ty });
            typed.push((self.pattern(pattern, &item, &mut checks), items));
        }
        let filter = filter.map(|condition| {
            let condition = self.expr(condition);
            if !self.is_broken(&condition)
                && let Err(clash) = self.table.unify(&condition.ty, &Type::BOOL)
            {
                self.bad_filter(&condition, &clash, span);
            }
            Box::new(condition)
        });
        let filters = filter.is_some();
        let body = with_checks(checks, self.expr(body));
        self.leave(mark);
        self.top_level = was_top;
        let ty = Type::array(body.ty.clone());
        let kind = ExprKind::Comprehension { body: Box::new(body), generators: typed, filter };
        let each = Expr { kind, ty, span };
        let types: Vec<Type> = params.iter().map(pattern_type).collect();
        let ty = Type::functions(types.into_iter(), each.ty.clone());
        let function = Expr { kind: ExprKind::Lambda { params, body: Arc::new(each) }, ty, span };
        let filters = Expr { kind: ExprKind::Scalar(Scalar::Bool(filters)), ty: Type::BOOL, span };
        let name = format!("through{}", sources.len());
        let args = [function, filters].into_iter().chain(sources).collect();
        self.apply_helper(&name, args, span)
    }

    /// `loop pattern = init for element in items do body`, where the items are those of a sequence.
    pub(super) fn sequence_loop(
        &mut self,
        [pattern, element]: [&ast::Pattern; 2],
        [init, items]: [Expr; 2],
        body: &ast::Expr,
        span: Span,
    ) -> Expr {
        let mark = self.enter();
        let mut checks = Vec::new();
        let Some(item) = self.item_type(&items, span) else { return self.unknown(span) };
        let state = init.ty.clone();
        let pattern = self.pattern(pattern, &state, &mut checks);
        let element = self.pattern(element, &item, &mut checks);
        let body = self.expr(body);
        if let Err(clash) = self.table.unify(&body.ty, &state) {
            self.loop_state_differs(&init, &body, &clash);
        }
        self.leave(mark);
        let body = with_checks(checks, body);
        let ty = Type::functions([state, item].into_iter(), body.ty.clone());
        let params = vec![pattern, element];
        let next = Expr { kind: ExprKind::Lambda { params, body: Arc::new(body) }, ty, span };
        self.apply_helper("foldSequence", vec![next, init, items], span)
    }

    /// A bare expression that is a sequence.
    pub(super) fn shown_sequence(&mut self, value: Expr) -> Option<CheckedKind> {
        let mut value = value;
        self.table.default_open(&value.ty.clone(), self.config.float);
        self.finish(&mut value);
        if self.errors > 0 || self.poisoned {
            return None;
        }
        let Type::Seq(item) = value.ty.clone() else { panic!("check: {} is shown", value.ty) };
        let Some(item_type) = item.to_value_type() else {
            self.report(unfit_items(&value.ty, value.span));
            return None;
        };
        let all = match &value.kind {
            ExprKind::Apply { function, .. } => match &function.kind {
                ExprKind::Function(FunctionRef::Generic(id, _)) => {
                    self.environment.helper("streamOut") == Some(*id)
                }
                _ => false,
            },
            _ => false,
        };
        let bounds = [(); 2].map(|()| {
            let id = self.environment.fresh();
            let (name, ty) = ("a position".into(), weft_ir::Type::Scalar(ScalarType::I64));
            self.environment.define(id, Global::Value { name, ty, span: value.span });
            id
        });
        let builtin = |builtin, arguments: Vec<Expr>, result: Type| {
            let types = arguments.iter().map(|arg| arg.ty.clone());
            let ty = Type::functions(types.collect::<Vec<_>>().into_iter(), result.clone());
            let kind = ExprKind::Builtin(builtin, vec![(*item).clone()]);
            let function = Box::new(Expr { kind, ty, span: value.span });
            let args = arguments.into_iter().map(shared).collect();
            let kind = ExprKind::Apply { function, args, depth: 0 };
            Expr { kind, ty: result, span: value.span }
        };
        let position = |id| Expr { kind: ExprKind::Value(id), ty: Type::I64, span: value.span };
        let whole = || value.clone();
        let length = builtin(Builtin::SeqLength, vec![whole()], Type::I64);
        let filtered = builtin(Builtin::SeqFiltered, vec![whole()], Type::BOOL);
        let [low, high] = bounds.map(position);
        let items = Type::array((*item).clone());
        let part = builtin(Builtin::SeqPart, vec![whole(), low, high], items);
        let sequence = ShownSequence {
            length: self.program(length)?,
            part: self.program(part)?,
            bounds,
            item: item_type,
            filtered: self.program(filtered)?,
            all,
        };
        let scheme = Scheme::mono(value.ty.clone());
        let sequence = Some(Box::new(sequence));
        Some(CheckedKind::ShowFunction { scheme, given: None, sequence, commas: None })
    }

    /// The type of the items of an expression that has to be a sequence, as another one beside it is.
    /// `None` after an error.
    fn item_type(&mut self, sequence: &Expr, span: Span) -> Option<Type> {
        let item = self.table.fresh();
        let wanted = Type::seq(item.clone());
        let errors = self.errors;
        self.expect(sequence, &wanted, span, "apply-to-each over sequences");
        (self.errors == errors).then_some(item)
    }
}

fn pattern_type(pattern: &Pattern) -> Type {
    match pattern {
        Pattern::Local { ty, .. } | Pattern::Wildcard(ty) => ty.clone(),
        Pattern::Tuple(parts) => Type::Tuple(parts.iter().map(pattern_type).collect()),
    }
}
