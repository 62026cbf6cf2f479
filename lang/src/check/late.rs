//! Functions that are checked where they meet their arguments, as only those say what the records are: some with a part of
//! their arguments, and some of a `let` (Note [Open definitions]).

use std::collections::BTreeMap;
use std::sync::Arc;

use weft_ir::{Name, Span};

use super::Checker;
use super::local::Wrapper;
use super::open::Open;
use super::pattern::bound_names;
use crate::ast::{ApplyForm, Expr, ExprKind, Pattern, PatternKind, RecordPart, TypeExpr};
use crate::environment::{Binding, Global, OpenDefinition};
use crate::types::Type;

impl Checker<'_> {
    /// `map (shift 1) ps` as `map (\p -> shift 1 p) ps`: the parameters of the lambda and its body, where a function of
    /// type `wanted` is to be.
    pub(super) fn partial_application(
        &self,
        arg: &Expr,
        wanted: &Type,
    ) -> Option<(Vec<Pattern>, Expr)> {
        let missing = self.table.resolve(wanted).arity();
        let is_partial = matches!(arg.kind, ExprKind::Apply { form: ApplyForm::Juxtaposition, .. });
        (is_partial && missing > 0 && self.waits_for_records(arg))
            .then(|| with_parameters(arg, missing))
    }

    /// How many more arguments a function takes, where its name or its lambda says it.
    fn missing_arguments(&self, function: &Expr) -> usize {
        match &function.kind {
            ExprKind::Lambda { params, .. } => params.len(),
            ExprKind::Apply { function, args, form: ApplyForm::Juxtaposition } => {
                self.missing_arguments(function).saturating_sub(args.len())
            }
            ExprKind::Name(name) => match self.open_function(name) {
                Some(open) => open.definition.params.len(),
                None => self.arity_of_name(name),
            },
            _ => 0,
        }
    }

    fn arity_of_name(&self, name: &Name) -> usize {
        if let Some(local) = self.scope.get(name).and_then(|stack| stack.last()) {
            return self.table.resolve(&local.ty).arity();
        }
        if let Some(entry) = self.builtin_named(name) {
            return entry.parameters.split_whitespace().count();
        }
        let Some(Binding::Global(global)) = self.environment.lookup(name) else { return 0 };
        match self.environment.global(*global) {
            Some(Global::Function(function)) => function.scheme.ty.arity(),
            _ => 0,
        }
    }

    /// Whether a function needs its arguments to know records: an open definition, a lambda that makes a record of another,
    /// and what is passed one of them.
    pub(super) fn waits_for_records(&self, function: &Expr) -> bool {
        match &function.kind {
            ExprKind::Name(name) => self.open_function(name).is_some(),
            ExprKind::Lambda { params, body } => self.makes_record(params, body),
            ExprKind::Apply { function, args, form: ApplyForm::Juxtaposition } => {
                self.waits_for_records(function)
                    || args.iter().any(|arg| self.waits_for_records(arg))
            }
            _ => false,
        }
    }

    /// Binds a function of a `let` that makes a record of another, of which it does not say what it has; `false` where it
    /// is none.
    pub(super) fn bind_open(
        &mut self,
        name: &Name,
        params: &[Pattern],
        result: Option<&TypeExpr>,
        body: &Expr,
        span: Span,
    ) -> bool {
        if !self.makes_record(params, body) {
            return false;
        }
        let (params, result, body) = (params.to_vec(), result.cloned(), body.clone());
        let names = BTreeMap::new();
        self.bind_late(name, OpenDefinition { params, result, body, names }, span);
        true
    }

    /// Binds a name to a definition with the local names of now.
    fn bind_late(&mut self, name: &Name, definition: OpenDefinition, span: Span) {
        let (definition, scope) = (Arc::new(definition), Some(Arc::new(self.scope.clone())));
        let open = Some(Open { name: name.clone(), span, definition, scope });
        let ty = self.table.fresh();
        self.bind_local(name, ty, Vec::new());
        if let Some(binding) = self.scope.get_mut(name).and_then(|bindings| bindings.last_mut()) {
            binding.open = open;
        }
    }

    /// Binds a name of a `let` to some of the arguments of a function that waits for records, `step = shift (mean xs)`, as
    /// the lambda it stands for; `None` where it is none. What it is given is computed once: the bindings of that.
    pub(super) fn bind_partial(&mut self, name: &Name, value: &Expr) -> Option<Vec<Wrapper>> {
        let missing = self.missing_arguments(value);
        if missing == 0 || !self.waits_for_records(value) {
            return None;
        }
        let ExprKind::Apply { function, args, form } = &value.kind else { return None };
        let (mut own, mut given) = (Vec::new(), Vec::new());
        for (position, arg) in args.iter().enumerate() {
            let is_short = matches!(arg.kind, ExprKind::Name(_) | ExprKind::Lambda { .. });
            let typed = (!is_short && !self.waits_for_records(arg)).then(|| self.expr(arg));
            let is_function = |ty: &Type| matches!(self.table.shallow(ty), Type::Function(..));
            let Some(typed) = typed.filter(|typed| !is_function(&typed.ty)) else {
                given.push(arg.clone());
                continue;
            };
            let (pattern, argument) = own_name(&format!("{position} of {name}"), arg.span);
            let pattern = self.pattern(&pattern, &typed.ty, &mut Vec::new());
            own.push(Wrapper::Value(pattern, typed, Vec::new()));
            given.push(argument);
        }
        let partial = ExprKind::Apply { function: function.clone(), args: given, form: *form };
        let (params, body) = with_parameters(&Expr { kind: partial, span: value.span }, missing);
        let names = BTreeMap::new();
        self.bind_late(name, OpenDefinition { params, result: None, body, names }, value.span);
        Some(own)
    }

    /// Whether a function makes a record of another that it is given: `{p with x = 1}`, `{..p, x = 1}` of a parameter
    /// without annotation, or of what it makes of one, or passes it to a function that waits for records.
    fn makes_record(&self, params: &[Pattern], body: &Expr) -> bool {
        let mut own = Vec::new();
        for param in params {
            bound_names(param, &mut own);
        }
        let annotated = params.iter().all(|param| matches!(param.kind, PatternKind::Typed(..)));
        let is_given = |name: &Name| {
            own.iter().any(|(own, _)| *own == name)
                || !self.scope.contains_key(name) && self.environment.lookup(name).is_none()
        };
        !annotated && self.makes_record_of(body, &is_given)
    }

    /// Whether records are made somewhere in an expression of others with such a name.
    fn makes_record_of(&self, expr: &Expr, is_given: &dyn Fn(&Name) -> bool) -> bool {
        let of = |record: &Expr| root(record).is_some_and(is_given);
        let is_one = match &expr.kind {
            ExprKind::RecordUpdate { record, .. } => of(record),
            ExprKind::Record(parts) => {
                parts.iter().any(|part| matches!(part, RecordPart::Spread(record) if of(record)))
            }
            ExprKind::Apply { args, .. } => args.iter().any(of) && self.waits_for_records(expr),
            _ => false,
        };
        let mut found = is_one;
        expr.for_each_child(&mut |child| found = found || self.makes_record_of(child, is_given));
        found
    }
}

/// An application with the parameters that it lacks: those of the lambda that it stands for, and the body of that.
pub(super) fn with_parameters(partial: &Expr, missing: usize) -> (Vec<Pattern>, Expr) {
    let ExprKind::Apply { function, args, form } = &partial.kind else {
        return (Vec::new(), partial.clone());
    };
    let (mut params, mut args) = (Vec::new(), args.clone());
    for position in 0..missing {
        let (param, arg) = own_name(&format!("argument {}", position + 1), partial.span);
        params.push(param);
        args.push(arg);
    }
    let apply = ExprKind::Apply { function: function.clone(), args, form: *form };
    (params, Expr { kind: apply, span: partial.span })
}

/// A name as no program has it, with a blank in it: where it is bound and where it is used.
fn own_name(name: &str, span: Span) -> (Pattern, Expr) {
    let name: Name = name.into();
    let pattern = Pattern { kind: PatternKind::Name(name.clone()), span };
    (pattern, Expr { kind: ExprKind::Name(name), span })
}

/// The name of what a record is a part of.
fn root(record: &Expr) -> Option<&Name> {
    match &record.kind {
        ExprKind::Name(name) => Some(name),
        ExprKind::Index { array: of, .. } | ExprKind::Field { record: of, .. } => root(of),
        _ => None,
    }
}
