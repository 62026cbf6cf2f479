//! Functions that are checked where they meet their arguments, as only those say what the records are: some with a part of
//! their arguments, and some of a `let` (Note [Open definitions]).

use std::collections::BTreeMap;
use std::sync::Arc;

use weft_ir::{Name, Span};

use super::Checker;
use super::open::Open;
use super::pattern::bound_names;
use crate::ast::{ApplyForm, Expr, ExprKind, Pattern, PatternKind, RecordPart, TypeExpr};
use crate::environment::OpenDefinition;
use crate::types::Type;

impl Checker<'_> {
    /// `map (shift 1) ps` as `map (\p -> shift 1 p) ps`: the parameters of the lambda and its body, where a function of
    /// type `wanted` is to be.
    pub(super) fn partial_application(
        &self,
        arg: &Expr,
        wanted: &Type,
    ) -> Option<(Vec<Pattern>, Expr)> {
        let ExprKind::Apply { function, args, form: ApplyForm::Juxtaposition } = &arg.kind else {
            return None;
        };
        if !self.waits_for_records(arg) {
            return None;
        }
        let span = arg.span;
        let (mut params, mut args) = (Vec::new(), args.clone());
        let mut wanted = self.table.shallow(wanted);
        while let Type::Function(_, result) = &wanted {
            // No program has a name with a blank in it.
            let name: Name = format!("argument {}", params.len() + 1).into();
            params.push(Pattern { kind: PatternKind::Name(name.clone()), span });
            args.push(Expr { kind: ExprKind::Name(name), span });
            wanted = self.table.shallow(result);
        }
        let form = ApplyForm::Juxtaposition;
        let body = Expr { kind: ExprKind::Apply { function: function.clone(), args, form }, span };
        (!params.is_empty()).then_some((params, body))
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
        let definition = Arc::new(OpenDefinition {
            params: params.to_vec(),
            result: result.cloned(),
            body: body.clone(),
            names: BTreeMap::new(),
        });
        let scope = Some(Arc::new(self.scope.clone()));
        let open = Some(Open { name: name.clone(), span, definition, scope });
        let ty = self.table.fresh();
        self.bind_local(name, ty, Vec::new());
        if let Some(binding) = self.scope.get_mut(name).and_then(|bindings| bindings.last_mut()) {
            binding.open = open;
        }
        true
    }

    /// Whether a function makes a record of another that it is given: `{p with x = 1}`, `{..p, x = 1}` of a parameter
    /// without annotation, or of what it makes of one.
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
        !annotated && makes_record_of(body, &is_given)
    }
}

/// Whether records are made somewhere in an expression of others with such a name.
fn makes_record_of(expr: &Expr, is_given: &dyn Fn(&Name) -> bool) -> bool {
    let of = |record: &Expr| root(record).is_some_and(is_given);
    let is_one = match &expr.kind {
        ExprKind::RecordUpdate { record, .. } => of(record),
        ExprKind::Record(parts) => {
            parts.iter().any(|part| matches!(part, RecordPart::Spread(record) if of(record)))
        }
        _ => false,
    };
    let mut found = is_one;
    expr.for_each_child(&mut |child| found = found || makes_record_of(child, is_given));
    found
}

/// The name of what a record is a part of.
fn root(record: &Expr) -> Option<&Name> {
    match &record.kind {
        ExprKind::Name(name) => Some(name),
        ExprKind::Index { array: of, .. } | ExprKind::Field { record: of, .. } => root(of),
        _ => None,
    }
}
