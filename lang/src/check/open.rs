//! Definitions over records of which nothing is known but some fields.
//!
//! Note [Open definitions]. `def warm t = mean t.temperature` says of `t` that it has a field, and neither what else it
//! has nor of what rank the field is: there is no one type for it, as rank decides what is mapped over what
//! (`Note [Implicit map]` in `check/rank.rs`). Annotating `t` would mean writing out every column of a table. So such a
//! definition is *open*: what can be said without the types of its arguments is checked where it stands, and at each use its
//! text is checked again, with the names that it saw there and the types of the arguments here, as if it stood here
//! as `\t -> mean t.temperature`. What has no types (a recursive one) is an error, E0310. A function of a `let` that makes a
//! record of one it is given is open too, and a part of an application that waits for records is the lambda it stands for
//! ([`super::late`]).
//!
//! Its scheme is only shown: `{temperature: []a, …} -> a` has the least ranks that fit, as the scheme of any definition, and
//! `_` where not even that is known.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use weft_ir::{Name, Span};

use super::{CheckedKind, Checker, Scope};
use crate::ast;
use crate::diagnostic::{Diagnostic, Severity};
use crate::environment::{Binding, Global, OpenDefinition};
use crate::typed::{Arg, Expr, ExprKind, Function, FunctionRef};
use crate::types::{Fields, Scheme, Type, TypeVar};

/// How deep open definitions may use each other: the checker goes into all of them at once.
const MOST_NESTED: usize = 100;

/// How many uses of open definitions an item may have, those in other such definitions counted: where each uses the one
/// before twice, they double with each.
const MOST_USES: usize = 1_000;

/// A definition as it is written.
pub(super) struct Written<'a> {
    pub(super) name: &'a Name,
    pub(super) params: &'a [ast::Pattern],
    pub(super) result: Option<&'a ast::TypeExpr>,
    pub(super) body: &'a ast::Expr,
    pub(super) span: Span,
}

/// An open definition that a name means.
#[derive(Clone)]
pub(super) struct Open {
    pub(super) name: Name,
    pub(super) span: Span,
    pub(super) definition: Arc<OpenDefinition>,
    /// What the local names in it meant where it was defined, if it is a function of a `let`.
    pub(super) scope: Option<Arc<Scope>>,
}

/// How many places an error has.
const MOST_LABELS: usize = 5;

/// Uses of open definitions in an item.
#[derive(Debug, Default)]
pub(super) struct Uses {
    /// Where a definition stands, its name, and where it is used.
    places: Vec<(Span, Name, Span)>,
    /// In how many of them the checker is.
    nested: usize,
}

impl Uses {
    /// Whether the definition that stands there is used.
    pub(super) fn is_used(&self, definition: Span) -> bool {
        self.places.iter().any(|(place, ..)| *place == definition)
    }
}

impl Checker<'_> {
    /// Notes that a record would have to be known; it is an error unless the definition is open.
    pub(super) fn record_not_known(&mut self, diagnostic: Diagnostic, ty: &Type) {
        self.unknown_records.push((diagnostic, ty.clone()));
    }

    /// Makes a definition open, if it is a function about records that nothing is known of, and is not wrong in
    /// another way. `typed` is what is known of it.
    pub(super) fn open_definition(
        &mut self,
        written: &Written<'_>,
        typed: &Expr,
    ) -> Option<CheckedKind> {
        if written.body.mentions(written.name) {
            return None;
        }
        let scheme = self.open_scheme(typed)?;
        let used = used_names(written.body);
        let names = self.environment.names();
        let names: BTreeMap<Name, Binding> = names
            .filter(|(name, binding)| matches!(binding, Binding::Alias(_)) || used.contains(*name))
            .map(|(name, binding)| (name.clone(), binding.clone()))
            .collect();
        let body = Arc::new(self.references(&names, written.span));
        let open = OpenDefinition {
            params: written.params.to_vec(),
            result: written.result.cloned(),
            body: written.body.clone(),
            names,
        };
        let (name, span) = (written.name.clone(), written.span);
        let global = self.environment.fresh();
        let function = Function {
            global,
            name: name.clone(),
            scheme: scheme.clone(),
            body,
            span,
            guesses: Vec::new(),
            written: None,
            open: Some(Arc::new(open)),
        };
        self.environment.define(global, Global::Function(Arc::new(function)));
        self.environment.bind(name.clone(), Binding::Global(global));
        Some(CheckedKind::Define { name, global, scheme })
    }

    /// The type by which a function is shown that is about records of which nothing is known, and not wrong in another way.
    pub(super) fn open_scheme(&mut self, typed: &Expr) -> Option<Scheme> {
        self.propagate();
        let Type::Function(..) = self.table.shallow(&typed.ty) else { return None };
        if self.errors > 0 || self.poisoned || !self.lacks_records() {
            return None;
        }
        self.join_fields();
        let reported = self.diagnostics.len();
        self.complete_types();
        if !self.lacks_records() {
            return None;
        }
        // What does not fit the least ranks is no error yet.
        self.diagnostics.truncate(reported);
        (self.errors, self.poisoned) = (0, false);
        let scheme = self.shown_scheme(&typed.ty);
        self.unknown_records.clear();
        Some(scheme)
    }

    /// Whether a record is not known that would have to be.
    fn lacks_records(&self) -> bool {
        let is_open = |field: &super::FieldSite| field.found.is_none() && !field.failed;
        !self.unknown_records.is_empty() || self.fields.iter().any(is_open)
    }

    /// A field that is read in two places has one type.
    fn join_fields(&mut self) {
        let open = self.open_fields();
        for (index, (var, name, ty)) in open.iter().enumerate() {
            let same = |(other, field, _): &&(TypeVar, Name, Type)| other == var && field == name;
            if let Some((.., first)) = open[..index].iter().find(same) {
                // Where that does not fit, the uses will say.
                let _ = self.table.unify(first, ty);
            }
        }
    }

    /// The fields that are read of records which are not known: of which variable, and what they yield.
    fn open_fields(&self) -> Vec<(TypeVar, Name, Type)> {
        let open = self.fields.iter().filter(|field| field.found.is_none() && !field.failed);
        open.filter_map(|field| match self.table.peel(&field.record).1 {
            Type::Var(var) => Some((var, field.field.name.clone(), field.result.clone())),
            _ => None,
        })
        .collect()
    }

    /// A type with what is known of the records in it.
    fn shown_scheme(&mut self, ty: &Type) -> Scheme {
        let mut records: BTreeMap<TypeVar, Fields> = BTreeMap::new();
        for (_, ty) in &self.unknown_records {
            if let Type::Var(var) = self.table.peel(ty).1 {
                records.entry(var).or_default();
            }
        }
        for (var, name, ty) in self.open_fields() {
            let fields = records.entry(var).or_default();
            if fields.iter().all(|(field, _)| *field != name) {
                fields.push((name, ty));
            }
        }
        // Variables in the order in which they are shown.
        let (mut vars, mut known) = (Vec::new(), BTreeSet::new());
        let mut parts = vec![self.table.shallow(ty)];
        while let Some(Type::Function(parameter, rest)) = parts.last().cloned() {
            parts.pop();
            parts.extend([(*parameter).clone(), self.table.shallow(&rest)]);
        }
        let result = parts.pop();
        for part in &parts {
            self.add_variables(part, &records, &mut vars);
        }
        known.extend(vars.iter().copied());
        if let Some(result) = &result {
            self.add_variables(result, &records, &mut vars);
        }
        let mut scheme = Scheme { vars: Vec::new(), records: Vec::new(), ty: ty.clone() };
        // Letters are given to what has one alone.
        let is_record = |var: &TypeVar| records.contains_key(var) || !known.contains(var);
        vars.sort_by_key(is_record);
        for (number, var) in vars.into_iter().enumerate() {
            let own = TypeVar(number as u32);
            let class = self.table.state(var).and_then(|open| open.class);
            scheme.vars.push(class);
            self.table.quantify(var, own.0);
            match records.get(&var) {
                Some(fields) => scheme.records.push((own, Some(fields.clone()))),
                None if class.is_none() && !known.contains(&var) => {
                    scheme.records.push((own, None))
                }
                None => {}
            }
        }
        for (_, fields) in &mut scheme.records {
            for (_, ty) in fields.iter_mut().flatten() {
                *ty = self.table.resolve(ty);
            }
        }
        scheme.ty = self.table.resolve(&scheme.ty);
        scheme
    }

    /// The variables of a type, and those of the fields of records among them.
    fn add_variables(
        &self,
        ty: &Type,
        records: &BTreeMap<TypeVar, Fields>,
        found: &mut Vec<TypeVar>,
    ) {
        let mut own = Vec::new();
        self.table.variables(ty, &mut own);
        for var in own {
            if !found.contains(&var) {
                found.push(var);
                for (_, ty) in records.get(&var).into_iter().flatten() {
                    self.add_variables(ty, records, found);
                }
            }
        }
    }

    /// An expression that has these functions and values in it: for those who ask what a definition uses.
    fn references(&self, names: &BTreeMap<Name, Binding>, span: Span) -> Expr {
        let part = |binding: &Binding| {
            let Binding::Global(global) = binding else { return None };
            let (kind, ty) = match self.environment.global(*global)? {
                Global::Function(function) => (
                    ExprKind::Function(FunctionRef::Generic(*global, Vec::new())),
                    function.scheme.ty.clone(),
                ),
                Global::Value { ty, .. } => (ExprKind::Value(*global), Type::of_value(ty)),
            };
            Some(Expr { kind, ty, span })
        };
        let parts: Vec<Expr> = names.values().filter_map(part).collect();
        let ty = Type::Tuple(parts.iter().map(|part| part.ty.clone()).collect());
        Expr { kind: ExprKind::Tuple(parts), ty, span }
    }

    /// The open definition that a name means here.
    pub(super) fn open_function(&self, name: &Name) -> Option<Open> {
        if let Some(local) = self.scope.get(name).and_then(|stack| stack.last()) {
            return local.open.clone();
        }
        if self.own.as_ref().is_some_and(|own| own.name == *name) {
            return None;
        }
        let Some(Binding::Global(global)) = self.environment.lookup(name) else { return None };
        let Some(Global::Function(function)) = self.environment.global(*global) else {
            return None;
        };
        let definition = Arc::clone(function.open.as_ref()?);
        let (name, span) = (function.name.clone(), function.span);
        Some(Open { name, span, definition, scope: None })
    }

    /// An open definition, used at `used` where a function of type `expected` is wanted.
    pub(super) fn open_use(
        &mut self,
        function: &Open,
        expected: Option<&Type>,
        used: Span,
    ) -> Expr {
        let open = &function.definition;
        if self.uses.nested >= MOST_NESTED || self.uses.places.len() >= MOST_USES {
            self.too_many_uses(function, used);
            return self.unknown(used);
        }
        self.uses.nested += 1;
        self.uses.places.push((function.span, function.name.clone(), used));
        let reported = self.diagnostics.len();
        let lambda = match &function.scope {
            Some(scope) => self.open_local(function, scope, expected),
            None => self.open_global(function, expected),
        };
        self.uses.nested -= 1;
        // What was remarked on in the definition was said when it was defined.
        let mut position = 0;
        self.diagnostics.retain(|diagnostic| {
            position += 1;
            position <= reported || diagnostic.severity == Severity::Error
        });
        let is_of_records = expected.is_some_and(|ty| self.takes_arrays_of_records(ty));
        for diagnostic in &mut self.diagnostics[reported..] {
            label_use(diagnostic, &function.name, used);
            if is_of_records && diagnostic.code != "E0308" && diagnostic.help.len() < 2 {
                diagnostic.help.push(format!(
                    "`{0}` takes its arguments as they are; where it is about one record of an array, write `map {0} …`",
                    function.name
                ));
            }
        }
        if self.is_broken(&lambda) || open.params.is_empty() {
            return lambda;
        }
        // It has its name there, for those who say where something failed.
        let (local, ty) = (self.fresh_local(), lambda.ty.clone());
        let kind = ExprKind::LetFunction {
            name: function.name.clone(),
            local,
            quantified: (self.next_quantified, 0),
            value: Arc::new(lambda),
            body: Box::new(Expr {
                kind: ExprKind::Local(local, Vec::new()),
                ty: ty.clone(),
                span: used,
            }),
        };
        Expr { kind, ty, span: used }
    }

    /// A definition of the session, with the names of then.
    fn open_global(&mut self, function: &Open, expected: Option<&Type>) -> Expr {
        let names = self.environment.replace_names(function.definition.names.clone());
        let scope = std::mem::take(&mut self.scope);
        let bound = std::mem::take(&mut self.bound);
        let own = self.own.take();
        let defining = std::mem::take(&mut self.defining);
        let variables = std::mem::take(&mut self.annotation_vars);
        let lambda = self.open_lambda(function, expected);
        self.annotation_vars = variables;
        self.defining = defining;
        self.own = own;
        self.bound = bound;
        self.scope = scope;
        self.environment.replace_names(names);
        lambda
    }

    /// A function of a `let`, with the local names of then.
    fn open_local(&mut self, function: &Open, scope: &Scope, expected: Option<&Type>) -> Expr {
        let scope = std::mem::replace(&mut self.scope, scope.clone());
        let bound = std::mem::take(&mut self.bound);
        self.defining.push(function.name.clone());
        let lambda = self.open_lambda(function, expected);
        self.defining.pop();
        self.bound = bound;
        self.scope = scope;
        lambda
    }

    fn open_lambda(&mut self, function: &Open, expected: Option<&Type>) -> Expr {
        let open = &function.definition;
        let mut lambda = match open.params.is_empty() {
            // A partial application.
            true => self.expr(&open.body),
            false => self.lambda(&open.params, &open.body, expected, function.span),
        };
        if let Some(annotation) = &open.result {
            self.annotate_result(&mut lambda, open.params.len(), annotation);
        }
        lambda
    }

    /// Whether a function of that type takes an array of records or tuples.
    fn takes_arrays_of_records(&self, ty: &Type) -> bool {
        let mut rest = self.table.shallow(ty);
        while let Type::Function(parameter, next) = rest {
            let (rank, head) = self.table.peel(&parameter);
            if rank > 0 && matches!(head, Type::Record(_) | Type::Tuple(_)) {
                return true;
            }
            rest = self.table.shallow(&next);
        }
        false
    }

    fn too_many_uses(&mut self, function: &Open, used: Span) {
        let name = &function.name;
        self.report(
            Diagnostic::error(
                "E0317",
                "definitions whose records are not known use each other too often here",
                used,
                format!("`{name}` is checked once more here"),
            )
            .help(format!("annotate the parameters of `{name}`: then it is checked once")),
        );
    }

    /// Says of errors in open definitions where those are used, as far as they were found only when
    /// all of the item was known.
    pub(super) fn label_uses(&mut self, first: usize, item: Span) {
        for diagnostic in &mut self.diagnostics[first..] {
            if diagnostic.labels.iter().any(|label| item.contains(label.span)) {
                continue;
            }
            let span = diagnostic.span();
            for (definition, name, used) in self.uses.places.iter().rev() {
                if definition.contains(span) && item.contains(*used) {
                    label_use(diagnostic, name, *used);
                    break;
                }
            }
        }
    }

    /// Applies an open definition to arguments that tell what its records are.
    pub(super) fn apply_open(
        &mut self,
        function: &Open,
        name_span: Span,
        args: &[&ast::Expr],
        span: Span,
    ) -> Expr {
        let open = &function.definition;
        if open.params.is_empty() {
            let partial = self.open_use(function, None, name_span);
            return match self.is_broken(&partial) {
                true => partial,
                false => self.apply_to(&function.name, partial, args, span),
            };
        }
        let (now, later) = args.split_at(args.len().min(open.params.len()));
        let mut typed: Vec<Option<Expr>> = Vec::new();
        for arg in now {
            let is_lambda = matches!(arg.kind, ast::ExprKind::Lambda { .. });
            let waits = is_lambda || self.waits_for_records(arg);
            typed.push((!waits).then(|| self.expr(arg)));
        }
        if typed.iter().flatten().any(|arg| self.is_broken(arg)) {
            for arg in later {
                self.expr(arg);
            }
            return self.unknown(span);
        }
        let expected = self.expected_of(open, &typed);
        let lambda = self.open_use(function, Some(&expected), name_span);
        if self.is_broken(&lambda) {
            return lambda;
        }
        let first_span = match (later, now.last()) {
            ([_, ..], Some(last)) => name_span.to(last.span),
            _ => span,
        };
        let applied =
            self.apply_to_typed(&function.name, lambda, now, typed, name_span, first_span);
        match later {
            [] => applied,
            later => self.apply_to(&function.name, applied, later, span),
        }
    }

    /// The type of an open definition at these arguments: a parameter that is a name takes its argument as it is.
    fn expected_of(&mut self, open: &OpenDefinition, args: &[Option<Expr>]) -> Type {
        let mut params = Vec::new();
        for (index, param) in open.params.iter().enumerate() {
            let arg = match (&param.kind, args.get(index)) {
                (ast::PatternKind::Name(_), Some(Some(arg))) => Some(arg.ty.clone()),
                _ => None,
            };
            let is_function = |ty: &Type| matches!(self.table.shallow(ty), Type::Function(..));
            let arg = arg.filter(|ty| !is_function(ty));
            params.push(arg.unwrap_or_else(|| self.table.fresh()));
        }
        let result = self.table.fresh();
        Type::functions(params.into_iter(), result)
    }

    /// Applies a function to arguments of which those that are functions may wait.
    fn apply_to_typed(
        &mut self,
        name: &Name,
        function: Expr,
        args: &[&ast::Expr],
        mut typed: Vec<Option<Expr>>,
        name_span: Span,
        span: Span,
    ) -> Expr {
        let mut params = Vec::new();
        let mut returns = self.table.shallow(&function.ty);
        for _ in args {
            let Type::Function(parameter, result) = &returns else { break };
            params.push((**parameter).clone());
            returns = self.table.shallow(result);
        }
        let is_function = |arg: &Expr| matches!(self.table.shallow(&arg.ty), Type::Function(..));
        let meets: Vec<usize> = (0..args.len())
            .filter(|index| typed[*index].as_ref().is_some_and(|arg| !is_function(arg)))
            .collect();
        let site = self.new_site(
            name,
            name_span,
            span,
            meets.iter().map(|index| params[*index].clone()).collect(),
            meets.iter().filter_map(|index| typed[*index].as_ref()).collect(),
            returns,
        );
        self.positions.insert(site, meets.clone());
        self.advance_site(site);
        for index in (0..args.len()).filter(|index| !meets.contains(index)) {
            let arg = match typed[index].take() {
                Some(arg) => self.passed_function(name, args[index], arg, &params[index], span),
                None => self.function_argument(name, args[index], &params[index], span),
            };
            typed[index] = Some(arg);
        }
        self.advance_ranked();
        self.advance_site(site);
        self.wait_for(site);
        let ty = self.sites[site].result.clone();
        let args: Vec<Arg> = typed.into_iter().flatten().map(super::expr::shared).collect();
        self.sized(Expr {
            kind: ExprKind::Apply { function: Box::new(function), args, depth: site },
            ty,
            span,
        })
    }
}

/// Says where the definition is used in which an error was found.
fn label_use(diagnostic: &mut Diagnostic, name: &Name, used: Span) {
    let label = crate::diagnostic::Label { span: used, message: format!("`{name}` is used here") };
    if diagnostic.labels.contains(&label) {
        return;
    }
    // Of a long chain the innermost uses and the outermost.
    if diagnostic.labels.len() >= MOST_LABELS {
        diagnostic.labels.pop();
    }
    diagnostic.labels.push(label);
}

/// The names in an expression as it is written, whatever they mean.
fn used_names(expr: &ast::Expr) -> BTreeSet<Name> {
    let mut found = BTreeSet::new();
    let mut rest = vec![expr];
    while let Some(expr) = rest.pop() {
        if let ast::ExprKind::Name(name) = &expr.kind {
            found.insert(name.clone());
        }
        expr.for_each_child(&mut |child| rest.push(child));
    }
    found
}
