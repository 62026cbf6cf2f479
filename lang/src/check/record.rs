//! Records: making, updating and reading them.

use weft_ir::{Name, Span};

use super::{Checker, FieldSite};
use crate::ast;
use crate::diagnostic::Diagnostic;
use crate::typed::{Expr, ExprKind};
use crate::types::Type;

impl Checker<'_> {
    pub(super) fn record(&mut self, fields: &[(ast::Ident, ast::Expr)], span: Span) -> Expr {
        let mut names: Vec<(Name, Type)> = Vec::new();
        let mut parts = Vec::new();
        for (field, value) in fields {
            if names.iter().any(|(name, _)| *name == field.name) {
                self.report(Diagnostic::error(
                    "E0202",
                    format!("field `{}` stands twice in this record", field.name),
                    field.span,
                    "the second one",
                ));
                continue;
            }
            let value = self.expr(value);
            names.push((field.name.clone(), value.ty.clone()));
            parts.push(value);
        }
        let ty = Type::Record(names.into());
        self.sized(Expr { kind: ExprKind::Tuple(parts), ty, span })
    }

    pub(super) fn record_update(
        &mut self,
        record: &ast::Expr,
        fields: &[(ast::Ident, ast::Expr)],
        span: Span,
    ) -> Expr {
        let record_name = match &record.kind {
            ast::ExprKind::Name(name) => name.clone(),
            _ => "r".into(),
        };
        let record = self.expr(record);
        let ty = self.known(&record.ty);
        let Type::Record(known) = &ty else {
            if !self.is_broken(&record) {
                self.not_a_record(&record, &ty);
            }
            // What is wrong with the values is said all the same.
            for (_, value) in fields {
                self.expr(value);
            }
            let unknown = self.unknown(span);
            return match ty {
                // It stays the record that it is, whatever that is.
                Type::Var(_) => Expr { ty, ..unknown },
                _ => unknown,
            };
        };
        let mut updates = Vec::new();
        for (field, value) in fields {
            let value = self.expr(value);
            match known.iter().position(|(name, _)| *name == field.name) {
                Some(index) => {
                    let expected = known[index].1.clone();
                    let what = format!("field `{}`", field.name);
                    self.expect(&value, &expected, field.span, &what);
                    updates.push((index, value));
                }
                None => {
                    let mut diagnostic = self.missing_field(field, &ty, record.span);
                    diagnostic.help.retain(|help| help.starts_with("did you mean"));
                    diagnostic = diagnostic.help(with_one_more(&record_name, known, &field.name));
                    self.report(diagnostic);
                }
            }
        }
        let kind = ExprKind::RecordUpdate { record: Box::new(record), fields: updates };
        Expr { kind, ty, span }
    }

    pub(super) fn field(&mut self, record: &ast::Expr, field: &ast::Ident, span: Span) -> Expr {
        let record = self.expr(record);
        let ty = self.table.fresh();
        let site = self.fields.len();
        self.fields.push(FieldSite {
            record: record.ty.clone(),
            record_span: record.span,
            field: field.clone(),
            result: ty.clone(),
            found: None,
            failed: self.is_broken(&record),
        });
        if !self.advance_field(site) {
            let head = self.table.peel(&record.ty).1;
            if matches!(head, Type::Var(_)) && !self.fields[site].failed {
                self.propagate();
            }
        }
        // The index and depth are filled in when the definition is complete.
        Expr { kind: ExprKind::Field { record: Box::new(record), index: site, depth: 0 }, ty, span }
    }
}

/// How a record with one more field is written.
fn with_one_more(record: &str, known: &[(Name, Type)], field: &str) -> String {
    /// Fields that are named.
    const MOST: usize = 4;
    let fields: Vec<String> =
        known.iter().take(MOST).map(|(name, _)| format!("{name} = {record}.{name}")).collect();
    let more = if known.len() > MOST { ", …" } else { "" };
    format!(
        "`with` replaces fields; a record with one more is written out: `{{{}{more}, {field} = …}}`",
        fields.join(", ")
    )
}
