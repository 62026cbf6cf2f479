//! Records: making, updating and reading them.

use weft_ir::{Name, Span};

use super::columns;
use super::{Checker, FieldSite};
use crate::ast;
use crate::diagnostic::Diagnostic;
use crate::typed::{Expr, ExprKind, Pattern};
use crate::types::Type;

impl Checker<'_> {
    /// `{x = 1, ..r, y = 2}`: from left to right, where what stands behind replaces a field of what is
    /// spread before. The records that are spread are evaluated first.
    pub(super) fn record(&mut self, written: &[ast::RecordPart], span: Span) -> Expr {
        let mut made = Made::default();
        let mut spread = Vec::new();
        for part in written {
            match part {
                ast::RecordPart::Field(field, value) => {
                    let value = self.expr(value);
                    match made.place(&field.name) {
                        Some((_, Origin::Written(_))) => self.report(Diagnostic::error(
                            "E0202",
                            format!("field `{}` stands twice in this record", field.name),
                            field.span,
                            "the second one",
                        )),
                        _ => made.set(&field.name, value, Origin::Written(field.span)),
                    }
                }
                ast::RecordPart::Spread(record) => {
                    let name = name_of(record);
                    let record = self.expr(record);
                    let ty = self.known(&record.ty);
                    let Type::Record(known) = &ty else {
                        if !self.is_broken(&record) {
                            self.not_spread(&record, &ty, &name);
                        }
                        made.is_broken = true;
                        continue;
                    };
                    // A name for each field: with one for the record each use of it would have the types of all.
                    let mut parts = Vec::new();
                    for (field, ty) in known.iter() {
                        if let Some((_, Origin::Written(place))) = made.place(field) {
                            self.covered(field, place, record.span, &name);
                            parts.push(Pattern::Wildcard(ty.clone()));
                            continue;
                        }
                        let (local, ty) = (self.fresh_local(), ty.clone());
                        parts.push(Pattern::Local { local, name: field.clone(), ty: ty.clone() });
                        let kind = ExprKind::Local(local, Vec::new());
                        made.set(field, Expr { kind, ty, span: record.span }, Origin::Spread);
                    }
                    spread.push((Pattern::Tuple(parts), record));
                }
            }
        }
        if made.is_broken {
            return self.unknown(span);
        }
        let types = made.parts.iter().map(|(name, value, _)| (name.clone(), value.ty.clone()));
        let ty = Type::Record(types.collect());
        let parts = made.parts.into_iter().map(|(_, value, _)| value).collect();
        let record = Expr { kind: ExprKind::Tuple(parts), ty, span };
        let expr = spread
            .into_iter()
            .rev()
            .fold(record, |body, (pattern, value)| columns::bound(pattern, value, body));
        self.sized(expr)
    }

    /// What is spread is no record.
    fn not_spread(&mut self, record: &Expr, ty: &Type, name: &str) {
        let (rank, head) = self.table.peel(ty);
        if rank == 0 || !matches!(head, Type::Record(_)) {
            return self.not_a_record(record, ty, name);
        }
        let found = self.show(ty);
        self.report(
            Diagnostic::error("E0301", "this is no record", record.span, format!("it is {found}"))
                .help(format!(
                    "a record for each of its elements is `{{ {{..r, x = 1}} : r in {name} }}`"
                )),
        );
    }

    /// A field that stands before a record with such a field has no effect.
    fn covered(&mut self, field: &Name, place: Span, record: Span, name: &str) {
        self.report(
            Diagnostic::error(
                "E0202",
                format!("field `{field}` stands twice in this record"),
                record,
                format!("this has a field `{field}` too"),
            )
            .label(place, "the first one")
            .help(format!("what replaces a field stands behind: `{{..{name}, {field} = …}}`")),
        );
    }

    pub(super) fn record_update(
        &mut self,
        record: &ast::Expr,
        fields: &[(ast::Ident, ast::Expr)],
        span: Span,
    ) -> Expr {
        let record_name = name_of(record);
        let record = self.expr(record);
        let ty = self.known(&record.ty);
        let Type::Record(known) = &ty else {
            if !self.is_broken(&record) {
                self.not_a_record(&record, &ty, &record_name);
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
                    let reports = self.diagnostics.len();
                    self.expect(&value, &expected, field.span, &what);
                    self.or_spread(reports, &record_name, &field.name);
                    updates.push((index, value));
                }
                None => {
                    let mut diagnostic = self.missing_field(field, &ty, record.span);
                    diagnostic.help.retain(|help| help.starts_with("did you mean"));
                    diagnostic = diagnostic.help(format!(
                        "`with` replaces fields; a record with one more is `{{..{record_name}, {} = …}}`",
                        field.name
                    ));
                    self.report(diagnostic);
                }
            }
        }
        let kind = ExprKind::RecordUpdate { record: Box::new(record), fields: updates };
        Expr { kind, ty, span }
    }

    /// A value of another type, in an update, may still be what a record with other fields needs.
    fn or_spread(&mut self, reports: usize, record: &str, field: &str) {
        if let [mismatch] = &mut self.diagnostics[reports..]
            && mismatch.help.is_empty()
        {
            mismatch.help.push(format!(
                "`with` keeps the types; `{{..{record}, {field} = …}}` is a record whose `{field}` has another"
            ));
        }
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

/// The name of a record in a help.
fn name_of(record: &ast::Expr) -> Name {
    match &record.kind {
        ast::ExprKind::Name(name) => name.clone(),
        _ => "r".into(),
    }
}

/// Where a field of a record that is being made comes from.
#[derive(Clone, Copy)]
enum Origin {
    Written(Span),
    Spread,
}

/// The fields so far of a record that is being made.
#[derive(Default)]
struct Made {
    parts: Vec<(Name, Expr, Origin)>,
    is_broken: bool,
}

impl Made {
    fn place(&self, name: &Name) -> Option<(usize, Origin)> {
        let index = self.parts.iter().position(|(field, _, _)| field == name)?;
        Some((index, self.parts[index].2))
    }

    /// Adds the field, or puts it in the place of the one that has its name.
    fn set(&mut self, name: &Name, value: Expr, origin: Origin) {
        match self.place(name) {
            Some((index, _)) => self.parts[index] = (name.clone(), value, origin),
            None => self.parts.push((name.clone(), value, origin)),
        }
    }
}
