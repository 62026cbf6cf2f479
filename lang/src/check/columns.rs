//! Tables: a record of columns as an array of records, and back. No type scheme says what `rows`
//! and `columns` do with any record, so they are forms of the checker; what they yield is an
//! apply-to-each and a few field accesses.

use weft_ir::{Name, Span};

use super::{Checker, FieldSite};
use crate::ast;
use crate::diagnostic::Diagnostic;
use crate::typed::{Expr, ExprKind, Pattern};
use crate::types::Type;

/// The functions between records of arrays and arrays of records.
pub(super) const TABLES: [&str; 2] = ["rows", "columns"];

/// The fields of a record, or the parts of a tuple.
pub(super) struct Fields {
    names: Option<Vec<Name>>,
    types: Vec<Type>,
}

impl Fields {
    pub(super) fn of(ty: &Type) -> Option<Fields> {
        match ty {
            Type::Record(fields) => Some(Fields {
                names: Some(fields.iter().map(|(name, _)| name.clone()).collect()),
                types: fields.iter().map(|(_, ty)| ty.clone()).collect(),
            }),
            Type::Tuple(parts) => Some(Fields { names: None, types: parts.to_vec() }),
            Type::Var(_)
            | Type::Scalar(_)
            | Type::Array(_)
            | Type::Function(..)
            | Type::Seq(_)
            | Type::Window(..)
            | Type::Boundary(..) => None,
        }
        .filter(|fields| !fields.types.is_empty())
    }

    fn name(&self, index: usize) -> Name {
        match &self.names {
            Some(names) => names[index].clone(),
            None => index.to_string().into(),
        }
    }

    /// A record or tuple of the same names with other types.
    fn with(&self, types: Vec<Type>) -> Type {
        match &self.names {
            Some(names) => Type::Record(names.iter().cloned().zip(types).collect()),
            None => Type::Tuple(types.into()),
        }
    }
}

/// Whether that is a function of tables which the checker applies itself: `rows`, `columns`.
pub fn is_table_form(name: &str) -> bool {
    TABLES.contains(&name)
}

impl Checker<'_> {
    /// Whether the name is one of [`TABLES`] and means that.
    pub(super) fn is_table_form(&self, name: &Name) -> bool {
        is_table_form(name)
            && !self.scope.contains_key(name)
            && self.environment.lookup(name).is_none()
            && self.own.as_ref().is_none_or(|own| own.name != *name)
    }

    /// `rows e`, `columns e`.
    pub(super) fn table_form(&mut self, name: &str, args: &[&ast::Expr], span: Span) -> Expr {
        let (arg, extra) = match args {
            [arg] => (arg, None),
            [arg, extra, ..] => (arg, Some(extra)),
            [] => return self.unknown(span),
        };
        if let Some(extra) = extra {
            let message = format!("`{name}` takes 1 argument, but is given {}", args.len());
            self.report(Diagnostic::error("E0304", message, extra.span, "one too many").help(
                "an argument that is an application stands in parentheses: `take 5 (rows t)`",
            ));
            return self.unknown(span);
        }
        let table = self.expr(arg);
        if self.is_broken(&table) {
            return self.unknown(span);
        }
        let ty = self.known(&table.ty);
        if name == "rows" { self.rows(table, &ty, span) } else { self.columns(table, &ty, span) }
    }

    /// A record of columns as an array of records: `{ {x, y} : x in t.x ; y in t.y }`.
    fn rows(&mut self, table: Expr, ty: &Type, span: Span) -> Expr {
        let Some(fields) = Fields::of(ty) else {
            return self.no_table("rows", "a record of columns", &table, ty, span);
        };
        let mut generators = Vec::new();
        let mut parts = Vec::new();
        let mut elements = Vec::new();
        // A name for each column: with one for the table each use of it would have the types of all.
        let mut columns = Vec::new();
        for (index, column) in fields.types.iter().enumerate() {
            let name = fields.name(index);
            let element = match self.known(column) {
                Type::Array(element) => (*element).clone(),
                // What is not known because of an earlier error is no error of its own.
                Type::Var(_) if self.errors > 0 => return self.unknown(span),
                // A column is an array, as what an apply-to-each goes over.
                open if self.table.is_rank_open(&open) => {
                    let element = self.table.fresh();
                    if let Err(clash) = self.table.unify(&open, &Type::array(element.clone())) {
                        self.clash_report(&clash, table.span);
                        return self.unknown(span);
                    }
                    element
                }
                other => {
                    let (found, kind) = (self.show(&other), self.show(ty));
                    self.report(
                        Diagnostic::error(
                            "E0301",
                            format!("`rows` needs a record of columns, but `{name}` is {found}"),
                            table.span,
                            format!("this is {kind}"),
                        )
                        .help("each field is an array, all of one length"),
                    );
                    return self.unknown(span);
                }
            };
            let (whole, local) = (self.fresh_local(), self.fresh_local());
            let kind = ExprKind::Local(whole, Vec::new());
            let source = Expr { kind, ty: column.clone(), span: table.span };
            columns.push(Pattern::Local { local: whole, name: name.clone(), ty: column.clone() });
            let pattern = Pattern::Local { local, name, ty: element.clone() };
            generators.push((pattern, source));
            parts.push(Expr {
                kind: ExprKind::Local(local, Vec::new()),
                ty: element.clone(),
                span,
            });
            elements.push(element);
        }
        let row = fields.with(elements);
        let body = Expr { kind: ExprKind::Tuple(parts), ty: row.clone(), span };
        let each = Expr {
            kind: ExprKind::Comprehension { body: Box::new(body), generators, filter: None },
            ty: Type::array(row),
            span,
        };
        bound(Pattern::Tuple(columns), table, each)
    }

    /// An array of records as a record of columns.
    fn columns(&mut self, table: Expr, ty: &Type, span: Span) -> Expr {
        let (depth, head) = self.table.peel(ty);
        let Some(fields) = Fields::of(&head).filter(|_| depth > 0) else {
            return self.no_table("columns", "an array of records", &table, ty, span);
        };
        let (whole, read) = self.named_table(&table, ty);
        let count = fields.types.len();
        let parts: Vec<Expr> =
            (0..count).map(|index| self.part(read.clone(), ty, &fields, index, depth)).collect();
        let ty = fields.with(parts.iter().map(|part| part.ty.clone()).collect());
        bound(whole, table, Expr { kind: ExprKind::Tuple(parts), ty, span })
    }

    /// A name for the table, so that it is evaluated once.
    fn named_table(&mut self, table: &Expr, ty: &Type) -> (Pattern, Expr) {
        let local = self.fresh_local();
        let pattern = Pattern::Local { local, name: "table".into(), ty: ty.clone() };
        let kind = ExprKind::Local(local, Vec::new());
        (pattern, Expr { kind, ty: ty.clone(), span: table.span })
    }

    /// Field `index` of a table.
    fn part(
        &mut self,
        table: Expr,
        ty: &Type,
        fields: &Fields,
        index: usize,
        depth: usize,
    ) -> Expr {
        let span = table.span;
        let result = Type::arrays(depth, fields.types[index].clone());
        let site = self.fields.len();
        self.fields.push(FieldSite {
            record: ty.clone(),
            record_span: span,
            field: ast::Ident { name: fields.name(index), span },
            result: result.clone(),
            found: Some((index, depth)),
            failed: false,
        });
        let kind = ExprKind::Field { record: Box::new(table), index: site, depth: 0 };
        Expr { kind, ty: result, span }
    }

    fn no_table(&mut self, form: &str, what: &str, table: &Expr, ty: &Type, span: Span) -> Expr {
        let found = self.show(ty);
        let is_open = self.table.is_rank_open(&self.table.peel(ty).1);
        if is_open {
            let diagnostic = Diagnostic::error(
                "E0310",
                format!("nothing says which fields `{form}` meets here"),
                table.span,
                "the type of this is not known",
            )
            .help("annotate it, as in `def f (t : {x: []f64, y: []f64}) = …`");
            self.record_not_known(diagnostic, ty);
            return self.unknown(span);
        }
        self.report(
            Diagnostic::error(
                "E0301",
                format!("`{form}` needs {what}, but this is {found}"),
                table.span,
                format!("this is {found}"),
            )
            .help("`rows {x = [1, 2], y = [3, 4]}` is `[{x = 1, y = 3}, {x = 2, y = 4}]`"),
        );
        self.unknown(span)
    }

    /// What to do with a record of columns where an array is wanted; `None` for any other type.
    pub(super) fn table_help(&self, ty: &Type) -> Option<String> {
        /// Columns that are named.
        const MOST: usize = 6;
        let Type::Record(fields) = self.table.shallow(ty) else { return None };
        let are_columns =
            fields.iter().all(|(_, ty)| matches!(self.table.shallow(ty), Type::Array(_)));
        if fields.is_empty() || !are_columns {
            return None;
        }
        let names: Vec<&str> = fields.iter().take(MOST).map(|(name, _)| &**name).collect();
        let more = if fields.len() > MOST { ", …" } else { "" };
        Some(format!(
            "this is a record of columns ({}{more}); `rows t` makes an array of records of it",
            names.join(", ")
        ))
    }
}

/// `let pattern = value in body`.
pub(super) fn bound(pattern: Pattern, value: Expr, body: Expr) -> Expr {
    let (ty, span) = (body.ty.clone(), body.span);
    let kind = ExprKind::Let { pattern, value: Box::new(value), body: Box::new(body) };
    Expr { kind, ty, span }
}
