//! Applications: functions meet their arguments, builtins their signatures, files their loaders.

use std::sync::Arc;

use weft_ir::{Name, Span};

use super::expr::shared;
use super::path::is_loader;
use super::rank::{Site, SiteArg};
use super::sequence::Callee;
use super::{Checker, Ranked, index_type};
use crate::ast::{self, ApplyForm};
use crate::builtins::signature::{self, SignatureType};
use crate::builtins::{self, Builtin, Entry};
use crate::typed::{Arg, Expr, ExprKind, FunctionRef, Pattern};
use crate::types::Type;

/// What messages call a function without a name.
pub(super) const UNNAMED: &str = "this function";

impl Checker<'_> {
    pub(super) fn apply(
        &mut self,
        function: &ast::Expr,
        args: &[ast::Expr],
        form: ApplyForm,
        span: Span,
    ) -> Expr {
        // `(f x) y` and `y |> f x` are `f x y`: so a lambda among the arguments is checked when the
        // others are known.
        let (mut function, mut form) = (function, form);
        let mut groups = vec![args];
        while let ast::ExprKind::Apply { function: inner, args, form: inner_form } = &function.kind
        {
            groups.push(args);
            (function, form) = (inner, *inner_form);
        }
        let args: Vec<&ast::Expr> = groups.into_iter().rev().flatten().collect();
        if let ast::ExprKind::Name(name) = &function.kind
            && is_loader(name)
            && !self.scope.contains_key(name)
            && self.environment.lookup(name).is_none()
        {
            return self.load(name, &args, span);
        }
        if let ast::ExprKind::Name(name) = &function.kind
            && self.is_table_form(name)
        {
            return self.table_form(name, &args, span);
        }
        if self.operator_for_function(function, &args) {
            return self.unknown(span);
        }
        if let ast::ExprKind::Name(name) = &function.kind
            && let Some(entry) = self.builtin_named(name)
            && entry.builtin == Builtin::Stencil2
        {
            return self.stencil2(entry, function.span, &args, span);
        }
        if let ast::ExprKind::Name(name) = &function.kind
            && form != ApplyForm::Operator
            && let Some(open) = self.open_function(name)
        {
            return self.apply_open(&open, function.span, &args, span);
        }
        let typed = match &function.kind {
            // What `-x` and `!x` mean does not depend on who else is called `negate` or `not`.
            ast::ExprKind::Name(name) if form == ApplyForm::Operator => {
                match builtins::lookup(name) {
                    Some(entry) => self.builtin(entry, function.span),
                    None => self.expr(function),
                }
            }
            _ => self.expr(function),
        };
        if self.is_broken(&typed) {
            // The arguments may hold errors of their own.
            for arg in args {
                self.expr(arg);
            }
            return self.unknown(span);
        }
        let name = function_name(function);
        self.apply_to(&name, typed, &args, span)
    }

    /// Applies a function, of a type as yet unknown perhaps, to all arguments.
    pub(super) fn apply_to(
        &mut self,
        name: &str,
        function: Expr,
        args: &[&ast::Expr],
        span: Span,
    ) -> Expr {
        let mut params = Vec::new();
        let mut returns = self.table.shallow(&function.ty);
        while params.len() < args.len() {
            let Type::Function(parameter, result) = &returns else { break };
            let (parameter, result) = ((**parameter).clone(), self.table.shallow(result));
            params.push(parameter);
            returns = result;
        }
        if params.is_empty() {
            if !self.table.is_rank_open(&returns) {
                self.not_a_function(name, &function, &returns, span, args);
                return self.unknown(span);
            }
            // A function that is a parameter takes its arguments as they are.
            let args: Vec<Expr> = args.iter().map(|arg| self.expr(arg)).collect();
            let result = self.table.fresh();
            let own = Type::functions(args.iter().map(|arg| arg.ty.clone()), result.clone());
            if let Err(clash) = self.table.unify(&function.ty, &own) {
                self.clash_report(&clash, function.span);
            }
            let params = args.iter().map(|arg| arg.ty.clone()).collect();
            return self.apply_typed(name, function, params, args, result, span);
        }
        let (now, later) = args.split_at(params.len());
        if !later.is_empty() && !self.table.is_rank_open(&returns) {
            self.too_many_arguments(name, &function, &params, later, span);
            return self.unknown(span);
        }
        let first_span =
            if later.is_empty() { span } else { function.span.to(now[now.len() - 1].span) };
        let applied = self.apply_known(name, function, &params, now, returns, first_span);
        if later.is_empty() { applied } else { self.apply_to(name, applied, later, span) }
    }

    /// Applies a function with known parameters to as many arguments.
    fn apply_known(
        &mut self,
        name: &str,
        function: Expr,
        params: &[Type],
        args: &[&ast::Expr],
        returns: Type,
        span: Span,
    ) -> Expr {
        let mut callee = Callee { function, params: params.to_vec(), returns };
        if self.wants_sequence == Some(span) {
            self.take_sequences(&mut callee);
        }
        // Functions last: what they meet is better known then.
        let mut typed: Vec<Option<Expr>> = args.iter().map(|_| None).collect();
        let mut positions = Vec::new();
        for (index, arg) in args.iter().enumerate() {
            let param = self.table.shallow(&callee.params[index]);
            let wants_function = matches!(param, Type::Function(..));
            if !wants_function && !matches!(arg.kind, ast::ExprKind::Lambda { .. }) {
                if matches!(param, Type::Seq(_)) {
                    self.wants_sequence = Some(arg.span);
                }
                typed[index] = Some(self.expr(arg));
                positions.push(index);
            }
        }
        // What is open stays open: to learn more now would settle ranks too early.
        let is_sequence = |arg: &Expr| matches!(self.table.shallow(&arg.ty), Type::Seq(_));
        if typed.iter().flatten().any(is_sequence) {
            self.take_sequences(&mut callee);
        }
        let Callee { function, params, returns } = callee;
        let site = self.new_site(
            name,
            function.span,
            span,
            positions.iter().map(|index| params[*index].clone()).collect(),
            positions.iter().filter_map(|index| typed[*index].as_ref()).collect(),
            returns,
        );
        self.positions.insert(site, positions.clone());
        if let ExprKind::Function(FunctionRef::Generic(global, _)) = &function.kind {
            self.sites[site].definition = Some(*global);
        }
        let broken = typed.iter().flatten().any(|arg| self.is_broken(arg));
        if broken {
            self.sites[site].settled = true;
        } else {
            self.advance_site(site);
        }
        for (index, arg) in args.iter().enumerate() {
            if typed[index].is_none() {
                typed[index] = Some(self.function_argument(name, arg, &params[index], span));
            }
        }
        self.advance_ranked();
        if !broken {
            self.advance_site(site);
        }
        self.wait_for(site);
        let ty = self.sites[site].result.clone();
        let args = typed.into_iter().flatten().map(shared).collect();
        self.sized(Expr {
            kind: ExprKind::Apply { function: Box::new(function), args, depth: site },
            ty,
            span,
        })
    }

    /// Applies a function to arguments that are checked already.
    pub(super) fn apply_typed(
        &mut self,
        name: &str,
        function: Expr,
        params: Vec<Type>,
        args: Vec<Expr>,
        returns: Type,
        span: Span,
    ) -> Expr {
        let positions = (0..args.len()).collect();
        let site = self.new_site(name, function.span, span, params, args.iter().collect(), returns);
        self.positions.insert(site, positions);
        if args.iter().any(|arg| self.is_broken(arg)) {
            self.sites[site].settled = true;
        } else {
            self.advance_site(site);
        }
        self.wait_for(site);
        let ty = self.sites[site].result.clone();
        let args = args.into_iter().map(shared).collect();
        Expr { kind: ExprKind::Apply { function: Box::new(function), args, depth: site }, ty, span }
    }

    /// An application of a builtin whose scheme has one variable, and so these parameters.
    pub(super) fn apply_builtin(
        &mut self,
        (builtin, variable): (Builtin, &Type),
        name: &str,
        params: Vec<Type>,
        args: Vec<Expr>,
        returns: Type,
        span: Span,
    ) -> Expr {
        let function = Expr {
            kind: ExprKind::Builtin(builtin, vec![variable.clone()]),
            ty: Type::functions(params.iter().cloned(), returns.clone()),
            span,
        };
        self.apply_typed(name, function, params, args, returns, span)
    }

    pub(super) fn new_site(
        &mut self,
        name: &str,
        function_span: Span,
        span: Span,
        params: Vec<Type>,
        args: Vec<&Expr>,
        returns: Type,
    ) -> usize {
        let exact = matches!(self.table.shallow(&returns), Type::Function(..));
        let result = self.table.fresh();
        self.sites.push(Site {
            function: name.into(),
            function_span,
            definition: None,
            span,
            params,
            args: args
                .into_iter()
                .map(|arg| SiteArg { ty: arg.ty.clone(), span: arg.span, mapped: None })
                .collect(),
            returns,
            result,
            exact,
            depth: None,
            settled: false,
        });
        self.sites.len() - 1
    }

    /// An argument where a function is wanted.
    pub(super) fn function_argument(
        &mut self,
        callee: &str,
        arg: &ast::Expr,
        param: &Type,
        call: Span,
    ) -> Expr {
        let wanted = self.table.shallow(param);
        if let ast::ExprKind::Lambda { params, body } = &arg.kind {
            let may_be_function = matches!(wanted, Type::Function(..));
            if may_be_function || self.table.is_rank_open(&wanted) {
                return self.lambda(params, body, Some(param), arg.span);
            }
            let typed = self.lambda(params, body, None, arg.span);
            self.expect(&typed, &wanted, call, &format!("`{callee}`"));
            return self.unknown(arg.span);
        }
        if let ast::ExprKind::Name(name) = &arg.kind
            && let Some(open) = self.open_function(name)
            && !open.definition.params.is_empty()
            && matches!(wanted, Type::Function(..))
        {
            return self.open_use(&open, Some(&wanted), arg.span);
        }
        if let Some((params, body)) = self.partial_application(arg, &wanted) {
            return self.lambda(&params, &body, Some(param), arg.span);
        }
        let typed = self.expr(arg);
        if self.is_broken(&typed) {
            return typed;
        }
        self.passed_function(callee, arg, typed, param, call)
    }

    /// A function that is an argument.
    pub(super) fn passed_function(
        &mut self,
        callee: &str,
        arg: &ast::Expr,
        typed: Expr,
        param: &Type,
        call: Span,
    ) -> Expr {
        let wanted = self.table.shallow(param);
        match (&wanted, self.table.shallow(&typed.ty)) {
            (Type::Function(..), Type::Function(..)) => {
                let name = function_name(arg);
                self.as_applied(&name, typed, &wanted)
            }
            _ => {
                let what = format!("`{callee}`");
                self.expect(&typed, &wanted, call, &what);
                typed
            }
        }
    }

    /// A function that is passed counts as applied: `map sqrt m` is `map (\row -> sqrt row) m`.
    fn as_applied(&mut self, name: &str, function: Expr, wanted: &Type) -> Expr {
        let span = function.span;
        let mut locals = Vec::new();
        let mut params = Vec::new();
        let mut wanted = self.table.shallow(wanted);
        let mut returns = self.table.shallow(&function.ty);
        while let (Type::Function(outer, next), Type::Function(own, result)) = (&wanted, &returns) {
            locals.push((**outer).clone());
            params.push((**own).clone());
            (wanted, returns) = (self.table.shallow(next), self.table.shallow(result));
        }
        let mut patterns = Vec::new();
        let mut args = Vec::new();
        for (index, ty) in locals.iter().enumerate() {
            let local = self.fresh_local();
            let name: Name = format!("argument{}", index + 1).into();
            patterns.push(Pattern::Local { local, name, ty: ty.clone() });
            args.push(Expr { kind: ExprKind::Local(local, Vec::new()), ty: ty.clone(), span });
        }
        // A parameter that is itself a function takes it as it is; the others meet in a site.
        let mut positions = Vec::new();
        for index in 0..args.len() {
            if matches!(self.table.shallow(&params[index]), Type::Function(..)) {
                if let Err(clash) = self.table.unify(&params[index], &locals[index]) {
                    self.mismatch(span, &function.ty.clone(), &wanted, &clash, span, "its use");
                }
            } else {
                positions.push(index);
            }
        }
        let site = self.new_site(
            name,
            span,
            span,
            positions.iter().map(|index| params[*index].clone()).collect(),
            positions.iter().map(|index| &args[*index]).collect(),
            returns,
        );
        self.positions.insert(site, positions);
        if let Err(clash) = self.table.unify(&self.sites[site].result.clone(), &wanted) {
            self.clash_report(&clash, span);
        }
        self.advance_site(site);
        self.wait_for(site);
        let body = Expr {
            ty: self.sites[site].result.clone(),
            kind: ExprKind::Apply {
                function: Box::new(function),
                args: args.into_iter().map(shared).collect::<Vec<Arg>>(),
                depth: site,
            },
            span,
        };
        let ty = Type::functions(locals.into_iter(), body.ty.clone());
        Expr { kind: ExprKind::Lambda { params: patterns, body: Arc::new(body) }, ty, span }
    }

    /// A builtin by name.
    pub(super) fn builtin(&mut self, entry: &'static Entry, span: Span) -> Expr {
        let signature = signature::parse(entry.signature);
        let types: Vec<Type> =
            signature.vars.iter().map(|class| self.table.fresh_of(*class)).collect();
        let deferred = matches!(entry.builtin, Builtin::Stencil | Builtin::Stencil2);
        let ty = self.signature_type(&signature.ty, &types, deferred, span);
        Expr { kind: ExprKind::Builtin(entry.builtin, types), ty, span }
    }

    fn signature_type(
        &mut self,
        ty: &SignatureType,
        types: &[Type],
        deferred: bool,
        span: Span,
    ) -> Type {
        match ty {
            SignatureType::Var(var) => types[*var].clone(),
            SignatureType::Scalar(scalar) => Type::Scalar(*scalar),
            SignatureType::Tuple(parts) => Type::Tuple(
                parts.iter().map(|part| self.signature_type(part, types, deferred, span)).collect(),
            ),
            SignatureType::Record(fields) => Type::Record(
                fields
                    .iter()
                    .map(|(name, ty)| {
                        (Name::from(&**name), self.signature_type(ty, types, deferred, span))
                    })
                    .collect(),
            ),
            SignatureType::Array(element) => {
                Type::array(self.signature_type(element, types, deferred, span))
            }
            SignatureType::Seq(item) => Type::seq(self.signature_type(item, types, deferred, span)),
            SignatureType::Function(parameter, result) => Type::function(
                self.signature_type(parameter, types, deferred, span),
                self.signature_type(result, types, deferred, span),
            ),
            SignatureType::Ranked(index, element) => {
                let element = self.signature_type(element, types, deferred, span);
                let array = if deferred { self.table.fresh_deferred() } else { self.table.fresh() };
                self.ranked.push(Ranked {
                    index: types[*index].clone(),
                    array: array.clone(),
                    element,
                    span,
                    settled: false,
                });
                array
            }
            SignatureType::Window(index, element) => Type::Window(
                types[*index].clone().into(),
                self.signature_type(element, types, deferred, span).into(),
            ),
            SignatureType::Boundary(index, element) => Type::Boundary(
                types[*index].clone().into(),
                self.signature_type(element, types, deferred, span).into(),
            ),
        }
    }

    /// Learns what can be learnt now about ranks that depend on an index type.
    pub(super) fn advance_ranked(&mut self) -> bool {
        let mut progress = false;
        for position in 0..self.ranked.len() {
            if self.ranked[position].settled {
                continue;
            }
            let Ranked { index, array, element, span, .. } = self.ranked[position].clone();
            let rank = match self.table.shallow(&index) {
                Type::Scalar(weft_ir::ScalarType::I64) => Some(1),
                Type::Tuple(parts) if !parts.is_empty() => Some(parts.len()),
                Type::Var(var) => match self.table.state(var).and_then(|open| open.class) {
                    Some(class) if !class.has_tuples() => Some(1),
                    _ => self.rank_of_array(&array, &element),
                },
                other => {
                    self.ranked[position].settled = true;
                    self.not_an_index(span, &other);
                    progress = true;
                    continue;
                }
            };
            let Some(rank) = rank else { continue };
            self.ranked[position].settled = true;
            progress = true;
            if self.table.unify(&index, &index_type(rank)).is_err() {
                let found = self.table.shallow(&index);
                self.not_an_index(span, &found);
                continue;
            }
            if let Err(clash) = self.table.unify(&array, &Type::arrays(rank, element.clone())) {
                self.ranked_differs(span, (&array, &element), rank, &clash);
            }
        }
        self.ranked.retain(|ranked| !ranked.settled);
        progress
    }

    /// The rank of an array, if both it and its elements have closed ranks.
    fn rank_of_array(&mut self, array: &Type, element: &Type) -> Option<usize> {
        let (rank, head) = self.table.peel(array);
        let (element_rank, element_head) = self.table.peel(element);
        if self.table.is_rank_open(&head) || self.table.is_rank_open(&element_head) {
            return None;
        }
        rank.checked_sub(element_rank).filter(|rank| *rank > 0)
    }
}

/// What there is to say of a minus that was read as a sign.
pub(super) const SIGN: &str =
    "a `-` with a space before it and none after is a sign: write `a - 1`";

/// Whether an argument begins with a minus: `a -1` may have been meant as `a - 1`.
pub(super) fn is_signed(arg: &ast::Expr) -> bool {
    match &arg.kind {
        ast::ExprKind::Number(ast::Number::Int(value), _) => *value < 0,
        ast::ExprKind::Number(ast::Number::Float { wide, .. }, _) => *wide < 0.0,
        ast::ExprKind::Apply { function, .. } => function_name(function) == "negate",
        _ => false,
    }
}

/// How messages call a function.
pub(super) fn function_name(function: &ast::Expr) -> String {
    match &function.kind {
        ast::ExprKind::Name(name) => name.to_string(),
        ast::ExprKind::Apply { function, .. } => function_name(function),
        _ => UNNAMED.to_owned(),
    }
}

/// The name under which a typed function was called, for the size of a trap's message.
pub(super) fn is_atom(function: &Expr) -> bool {
    matches!(
        function.kind,
        ExprKind::Builtin(..)
            | ExprKind::Local(..)
            | ExprKind::Function(FunctionRef::Generic(..) | FunctionRef::Instance(_))
    )
}
