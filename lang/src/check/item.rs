//! The items of a cell.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use weft_ir::{Name, ScalarType, Span};

use super::late::with_parameters;
use super::open::{Uses, Written};
use super::{
    BoundName, Cell, Checked, CheckedItem, CheckedKind, Checker, Config, Files, Own, Table,
};
use crate::ast::{self, Def, ItemKind, TypeExpr, TypeExprKind};
use crate::diagnostic::Diagnostic;
use crate::environment::{Binding, Environment, Global};
use crate::monomorphise::monomorphise;
use crate::syntax::MAX_DEPTH;
use crate::typed::{Expr, Function, GlobalId, Pattern};
use crate::types::{Scheme, Type};

/// Numbers of the variables of local schemes start here, beyond those of any definition.
const FIRST_LOCAL_VARIABLE: u32 = 1 << 24;

/// Reports of a cell beyond which no names are looked for that are near those that mean nothing: nobody reads so many.
const MOST_READ: usize = 200;

/// Checks one item, and adds what comes of it to `checked`.
pub(super) fn check_item(
    cell: Cell<'_>,
    config: &Config,
    files: &mut dyn Files,
    checked: &mut Checked,
) {
    let item = cell.item();
    let before = checked.diagnostics.len();
    let mut checker = Checker {
        environment: &mut checked.environment,
        config,
        files,
        loaded: &mut checked.loaded,
        diagnostics: &mut checked.diagnostics,
        table: Table::default(),
        sites: Vec::new(),
        positions: HashMap::new(),
        waiting: Vec::new(),
        fields: Vec::new(),
        ranked: Vec::new(),
        scope: HashMap::new(),
        bound: Vec::new(),
        next_local: 0,
        next_quantified: FIRST_LOCAL_VARIABLE,
        own: None,
        guesses: Vec::new(),
        cell,
        has_said_enough: before >= MOST_READ,
        defining: Vec::new(),
        annotation_vars: BTreeMap::new(),
        top_level: true,
        wants_sequence: None,
        poisoned: false,
        errors: 0,
        unknown_records: Vec::new(),
        uses: Uses::default(),
        unknown: BTreeMap::new(),
    };
    let kind = match &item.kind {
        _ if item.levels > MAX_DEPTH => {
            checker.too_many_bindings(item.span);
            None
        }
        ItemKind::Def(def) => checker.def(def, item.span),
        ItemKind::TypeAlias { name, ty } => checker.alias(name, ty),
        ItemKind::Binding { pattern, value } => checker.binding(pattern, value, item.span),
        ItemKind::Expr { value, quiet } => checker.shown(value, *quiet),
        ItemKind::Command { .. } | ItemKind::Import { .. } => None,
    };
    let failed = checker.errors > 0 || checker.poisoned;
    if failed {
        if cell.is_trial {
            return;
        }
        checker.label_uses(before, item.span);
        checker.leave_out_parts_of_function(before);
        checker.advise(item, before);
        checker.count_unreported(before);
    }
    match kind {
        Some(kind) if !failed => checked.items.push(CheckedItem { span: item.span, kind }),
        _ => {
            // Its names are known to be broken, so that their uses are not reported again.
            for name in item_names(&item.kind) {
                checked.environment.bind(name, Binding::Broken);
            }
        }
    }
    checked.diagnostics[before..].sort_by_key(|diagnostic| diagnostic.span().start);
}

/// How many arguments a function that is applied by its name is given; none for any other form.
fn named_arguments(value: &ast::Expr) -> Option<usize> {
    let mut given = 0;
    let mut function = value;
    while let ast::ExprKind::Apply { function: inner, args, form } = &function.kind {
        if *form == ast::ApplyForm::Operator {
            // An operator has its operands.
            return None;
        }
        given += args.len();
        function = inner;
    }
    (given > 0 && matches!(function.kind, ast::ExprKind::Name(_))).then_some(given)
}

/// The names that an item defines.
pub(super) fn item_names(item: &ItemKind) -> Vec<Name> {
    fn of_pattern(pattern: &ast::Pattern, names: &mut Vec<Name>) {
        match &pattern.kind {
            ast::PatternKind::Name(name) => names.push(name.clone()),
            ast::PatternKind::Wildcard => {}
            ast::PatternKind::Tuple(parts) => {
                parts.iter().for_each(|part| of_pattern(part, names));
            }
            ast::PatternKind::Record(fields) => {
                fields.iter().for_each(|(_, part)| of_pattern(part, names));
            }
            ast::PatternKind::Typed(inner, _) => of_pattern(inner, names),
        }
    }
    let mut names = Vec::new();
    match item {
        ItemKind::Def(def) => names.push(def.name.name.clone()),
        ItemKind::TypeAlias { name, .. } => names.push(name.name.clone()),
        ItemKind::Binding { pattern, .. } => of_pattern(pattern, &mut names),
        ItemKind::Expr { .. } | ItemKind::Command { .. } | ItemKind::Import { .. } => {}
    }
    names
}

impl Checker<'_> {
    fn def(&mut self, def: &Def, span: Span) -> Option<CheckedKind> {
        self.top_level = false;
        self.table.level = 1;
        let global = self.environment.fresh();
        let name = def.name.name.clone();
        let own = self.table.fresh();
        self.own = Some(Own { name: name.clone(), global, ty: own.clone() });
        let body = if def.params.is_empty() {
            let mut body = self.expr(&def.body);
            if let Some(annotation) = &def.result {
                self.annotate_result(&mut body, 0, annotation);
            }
            if let Err(clash) = self.table.unify(&own, &body.ty) {
                self.clash_report(&clash, def.name.span);
            }
            body
        } else {
            // The parameters' types are known to recursive calls before the body is checked, and of the result that it is
            // a record, which says what is made of it.
            let expected = match self.annotated_record(def) {
                None => own,
                Some(record) => {
                    let params: Vec<Type> = def.params.iter().map(|_| self.table.fresh()).collect();
                    let _ = self
                        .table
                        .unify(&own, &Type::functions(params.clone().into_iter(), record));
                    let result = self.table.fresh();
                    Type::functions(params.into_iter(), result)
                }
            };
            let mut body = self.lambda(&def.params, &def.body, Some(&expected), span);
            if let Some(annotation) = &def.result {
                self.annotate_result(&mut body, def.params.len(), annotation);
            }
            body
        };
        let Def { params, result, body: text, .. } = def;
        let written = Written { name: &name, params, result: result.as_ref(), body: text, span };
        if let Some(open) = self.open_definition(&written, &body) {
            return Some(open);
        }
        let (scheme, body) = self.generalise(body)?;
        self.define(global, scheme.clone(), body, def.clone(), span);
        Some(CheckedKind::Define { name, global, scheme })
    }

    /// The type of a function's result, if a definition that uses itself says that it is a record.
    fn annotated_record(&mut self, def: &Def) -> Option<Type> {
        let annotation = def.result.as_ref()?;
        if !def.body.mentions(&def.name.name) {
            return None;
        }
        // What is wrong with it is said when the result is there.
        let before = (self.diagnostics.len(), self.errors, self.poisoned);
        let wanted = self.type_expr(annotation);
        self.diagnostics.truncate(before.0);
        (self.errors, self.poisoned) = (before.1, before.2);
        matches!(wanted, Type::Record(_)).then_some(wanted)
    }

    /// Requires the annotated type of a function's result.
    pub(super) fn annotate_result(
        &mut self,
        function: &mut Expr,
        params: usize,
        annotation: &TypeExpr,
    ) {
        let wanted = self.type_expr(annotation);
        let mut result = self.table.shallow(&function.ty);
        for _ in 0..params {
            if let Type::Function(_, next) = &result {
                result = self.table.shallow(next);
            }
        }
        if let Err(clash) = self.table.unify(&result, &wanted) {
            self.mismatch(
                function.span,
                &result,
                &wanted,
                &clash,
                annotation.span,
                "the annotation",
            );
        }
        if self.has_sizes(annotation) {
            self.check_result_sizes(function, params, annotation);
        }
    }

    /// Wraps the body of a function so that the sizes in its result's annotation are checked,
    /// together with those of its parameters.
    fn check_result_sizes(&mut self, function: &mut Expr, params: usize, annotation: &TypeExpr) {
        use crate::typed::ExprKind;
        if params > 0 {
            if let ExprKind::Lambda { body, .. } = &mut function.kind {
                let mut inner = (**body).clone();
                self.check_result_sizes(&mut inner, 0, annotation);
                *body = Arc::new(inner);
            }
            return;
        }
        let local = self.fresh_local();
        let name: Name = "the result".into();
        let mut own = Vec::new();
        self.size_checks(local, &name, Some(annotation), &mut own);
        let (ty, span) = (function.ty.clone(), function.span);
        let nothing = Expr { kind: ExprKind::Tuple(Vec::new()), ty: ty.clone(), span };
        let whole = std::mem::replace(function, nothing);
        // The parameters' sizes bind their names first.
        let (mut checks, value) = match whole.kind {
            ExprKind::CheckSizes { checks, body } => (checks, *body),
            _ => (Vec::new(), whole),
        };
        checks.extend(own);
        let pattern = Pattern::Local { local, name, ty: ty.clone() };
        let result = Expr { kind: ExprKind::Local(local, Vec::new()), ty: ty.clone(), span };
        let checked = super::expr::with_checks(checks, result);
        *function = Expr {
            kind: ExprKind::Let { pattern, value: Box::new(value), body: Box::new(checked) },
            ty,
            span,
        };
    }

    fn define(&mut self, global: GlobalId, scheme: Scheme, body: Expr, written: Def, span: Span) {
        let guesses = self.take_guesses(&body, &written.params);
        let (name, body) = (written.name.name.clone(), Arc::new(body));
        let written = (!self.environment.is_prelude()).then(|| Arc::new(written));
        let function = Function {
            global,
            name: name.clone(),
            scheme,
            body,
            span,
            guesses,
            written,
            open: None,
        };
        self.environment.define(global, Global::Function(Arc::new(function)));
        self.environment.bind(name, Binding::Global(global));
    }

    fn alias(&mut self, name: &ast::Ident, ty: &TypeExpr) -> Option<CheckedKind> {
        if ScalarType::from_name(&name.name).is_some() {
            let message = format!("`{}` cannot be a name", name.name);
            self.report(
                Diagnostic::error("E0111", message, name.span, "a type of the language")
                    .help(format!("choose another name, such as `{}'`", name.name)),
            );
            return None;
        }
        self.type_expr(ty);
        if let Some(variable) = self.annotation_vars.keys().next().cloned() {
            self.report(
                Diagnostic::error(
                    "E0203",
                    format!("there is no type `{variable}`"),
                    ty.span,
                    "an alias has no type variables",
                )
                .help("write the alias for one type"),
            );
            return None;
        }
        // Aliases inside are replaced now, so that redefining one does not change this one.
        let expanded = expand(ty, self.environment);
        self.environment.bind(name.name.clone(), Binding::Alias(Arc::new(expanded)));
        Some(CheckedKind::Alias { name: name.name.clone() })
    }

    fn binding(
        &mut self,
        pattern: &ast::Pattern,
        value: &ast::Expr,
        span: Span,
    ) -> Option<CheckedKind> {
        self.table.level = 1;
        let text = value;
        let value = self.expr(text);
        if let ast::PatternKind::Name(name) = &pattern.kind {
            let missing = self.table.resolve(&value.ty).arity();
            let (params, body) = match &text.kind {
                ast::ExprKind::Lambda { params, body } => (params.clone(), (**body).clone()),
                _ => with_parameters(text, missing),
            };
            let written = Written { name, params: &params, result: None, body: &body, span };
            if let Some(open) = self.open_definition(&written, &value) {
                return Some(open);
            }
        }
        self.complete();
        if let (Type::Function(..) | Type::Seq(_), ast::PatternKind::Name(name)) =
            (self.table.shallow(&value.ty), &pattern.kind)
        {
            // A name for a function or a sequence is a definition.
            let global = self.environment.fresh();
            let (scheme, body) = self.generalise(value)?;
            let (params, body_text) = match &text.kind {
                ast::ExprKind::Lambda { params, body } => (params.clone(), (**body).clone()),
                _ => (Vec::new(), text.clone()),
            };
            let own = ast::Ident { name: name.clone(), span: pattern.span };
            let written = Def { name: own, params, result: None, body: body_text };
            self.define(global, scheme.clone(), body, written, span);
            return Some(CheckedKind::Define { name: name.clone(), global, scheme });
        }
        let mut checks = Vec::new();
        let mark = self.enter();
        let typed = self.pattern(pattern, &value.ty, &mut checks);
        self.leave(mark);
        let mut value = value;
        if !checks.is_empty() {
            value = check_bound(value, &typed, checks);
        }
        let (value, ty) = self.finish_value(value)?;
        let mut names = Vec::new();
        self.bound_names(&typed, &ty, &mut Vec::new(), span, &mut names);
        let program = self.program(value)?;
        Some(CheckedKind::Bind { program: Box::new(program), ty, names })
    }

    fn bound_names(
        &mut self,
        pattern: &Pattern,
        ty: &weft_ir::Type,
        path: &mut Vec<usize>,
        span: Span,
        names: &mut Vec<BoundName>,
    ) {
        match (pattern, ty) {
            (Pattern::Local { name, .. }, _) => {
                let global = self.environment.fresh();
                self.environment
                    .define(global, Global::Value { name: name.clone(), ty: ty.clone(), span });
                self.environment.bind(name.clone(), Binding::Global(global));
                names.push(BoundName {
                    name: name.clone(),
                    global,
                    ty: ty.clone(),
                    path: path.clone(),
                });
            }
            (Pattern::Wildcard(_), _) => {}
            (Pattern::Tuple(parts), weft_ir::Type::Tuple(types)) => {
                for (index, (part, ty)) in parts.iter().zip(types.iter()).enumerate() {
                    path.push(index);
                    self.bound_names(part, ty, path, span, names);
                    path.pop();
                }
            }
            (Pattern::Tuple(parts), weft_ir::Type::Record(fields)) => {
                for (index, (part, (_, ty))) in parts.iter().zip(fields.iter()).enumerate() {
                    path.push(index);
                    self.bound_names(part, ty, path, span, names);
                    path.pop();
                }
            }
            (Pattern::Tuple(_), weft_ir::Type::Scalar(_) | weft_ir::Type::Array(_)) => {}
        }
    }

    fn shown(&mut self, value: &ast::Expr, quiet: bool) -> Option<CheckedKind> {
        self.table.level = 1;
        let arguments = named_arguments(value);
        let commas = self.with_commas(value);
        let value = self.expr(value);
        if let Some(scheme) = self.open_scheme(&value) {
            let missing = scheme.ty.arity();
            let given = arguments.map(|given| (given, given + missing));
            return Some(CheckedKind::ShowFunction { scheme, given, sequence: None, commas });
        }
        self.complete();
        if matches!(self.table.shallow(&value.ty), Type::Seq(_)) {
            return self.shown_sequence(value);
        }
        if matches!(self.table.shallow(&value.ty), Type::Function(..) | Type::Boundary(..)) {
            let (scheme, _) = self.generalise(value)?;
            let missing = scheme.ty.arity();
            let given = arguments.filter(|_| missing > 0).map(|given| (given, given + missing));
            return Some(CheckedKind::ShowFunction { scheme, given, sequence: None, commas });
        }
        let span = value.span;
        let (value, ty) = self.finish_value(value)?;
        let program = self.program(value)?;
        let global = self.environment.fresh();
        let name: Name = "it".into();
        self.environment.define(global, Global::Value { name: name.clone(), ty: ty.clone(), span });
        self.environment.bind(name, Binding::Global(global));
        Some(CheckedKind::Show { program: Box::new(program), ty, global, quiet })
    }

    /// The finished value of an item, with its type: monomorphic, and without functions.
    fn finish_value(&mut self, value: Expr) -> Option<(Expr, weft_ir::Type)> {
        if self.errors > 0 || self.poisoned {
            return None;
        }
        let mut value = value;
        self.table.default_open(&value.ty.clone(), self.config.float);
        self.finish(&mut value);
        if self.errors > 0 || self.poisoned {
            return None;
        }
        match value.ty.to_value_type() {
            Some(ty) => Some((value, ty)),
            None => {
                let found = self.show(&value.ty);
                let (things, help) = match contains_sequence(&value.ty) {
                    true => ("sequences", "bind each of the sequences to a name of its own"),
                    false => ("functions", "define the functions with `def`"),
                };
                self.report(
                    Diagnostic::error(
                        "E0313",
                        format!("a value cannot contain {things}"),
                        value.span,
                        format!("this is {found}"),
                    )
                    .help(help),
                );
                None
            }
        }
    }

    pub(super) fn program(&mut self, value: Expr) -> Option<crate::typed::Program> {
        match monomorphise(value, self.environment) {
            Ok(program) => Some(program),
            Err(diagnostic) => {
                self.report(*diagnostic);
                None
            }
        }
    }

    /// Completes a definition and makes its type a scheme.
    fn generalise(&mut self, body: Expr) -> Option<(Scheme, Expr)> {
        self.complete();
        if self.errors > 0 || self.poisoned {
            return None;
        }
        let mut vars = Vec::new();
        self.table.variables(&body.ty, &mut vars);
        let mut classes = Vec::new();
        for (number, var) in vars.into_iter().enumerate() {
            classes.push(self.table.state(var).and_then(|open| open.class));
            self.table.quantify(var, number as u32);
        }
        let mut body = body;
        let own_types =
            (0..classes.len()).map(|index| Type::Var(crate::types::TypeVar(index as u32)));
        self.finish_definition(&mut body, own_types.collect());
        if self.errors > 0 || self.poisoned {
            return None;
        }
        Some((Scheme { vars: classes, records: Vec::new(), ty: body.ty.clone() }, body))
    }
}

fn contains_sequence(ty: &Type) -> bool {
    super::finish::contains(ty, &|ty| matches!(ty, Type::Seq(_)))
}

/// The value of a binding whose pattern is annotated with sizes, checked.
fn check_bound(value: Expr, pattern: &Pattern, checks: Vec<crate::typed::SizeCheck>) -> Expr {
    use crate::typed::ExprKind;
    let (ty, span) = (value.ty.clone(), value.span);
    // The whole is bound by its parts; it is put together again as the value of the `let`.
    let whole = pattern_value(pattern, span);
    let body = super::expr::with_checks(checks, whole);
    Expr {
        kind: ExprKind::Let {
            pattern: pattern.clone(),
            value: Box::new(value),
            body: Box::new(body),
        },
        ty,
        span,
    }
}

fn pattern_value(pattern: &Pattern, span: Span) -> Expr {
    use crate::typed::ExprKind;
    match pattern {
        Pattern::Local { local, ty, .. } => {
            Expr { kind: ExprKind::Local(*local, Vec::new()), ty: ty.clone(), span }
        }
        Pattern::Wildcard(ty) => {
            // Nothing reads it.
            Expr { kind: ExprKind::Tuple(Vec::new()), ty: ty.clone(), span }
        }
        Pattern::Tuple(parts) => {
            let parts: Vec<Expr> = parts.iter().map(|part| pattern_value(part, span)).collect();
            let ty = Type::Tuple(parts.iter().map(|part| part.ty.clone()).collect());
            Expr { kind: ExprKind::Tuple(parts), ty, span }
        }
    }
}

/// The type with every alias replaced by what it stands for.
fn expand(ty: &TypeExpr, environment: &Environment) -> TypeExpr {
    let kind = match &ty.kind {
        TypeExprKind::Name(name) => match environment.lookup(name) {
            Some(Binding::Alias(alias)) => return (**alias).clone(),
            Some(Binding::Global(_) | Binding::Broken) | None => ty.kind.clone(),
        },
        TypeExprKind::Array(size, element) => {
            TypeExprKind::Array(size.clone(), Box::new(expand(element, environment)))
        }
        TypeExprKind::Tuple(parts) => {
            TypeExprKind::Tuple(parts.iter().map(|part| expand(part, environment)).collect())
        }
        TypeExprKind::Record(fields) => TypeExprKind::Record(
            fields.iter().map(|(field, ty)| (field.clone(), expand(ty, environment))).collect(),
        ),
        TypeExprKind::Function(a, b) => TypeExprKind::Function(
            Box::new(expand(a, environment)),
            Box::new(expand(b, environment)),
        ),
        TypeExprKind::Window(rank, element) => {
            TypeExprKind::Window(*rank, Box::new(expand(element, environment)))
        }
        TypeExprKind::Seq(element) => TypeExprKind::Seq(Box::new(expand(element, environment))),
    };
    TypeExpr { kind, span: ty.span }
}
