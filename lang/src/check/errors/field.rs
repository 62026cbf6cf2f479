//! What is wrong with a field: a value that is no record, or a record without it.

use weft_ir::Span;

use super::habit::{method, table_method};
use crate::ast;
use crate::builtins;
use crate::check::Checker;
use crate::diagnostic::Diagnostic;
use crate::environment::{Binding, Global};
use crate::suggest;
use crate::typed::Expr;
use crate::types::Type;

impl Checker<'_> {
    pub(in crate::check) fn not_a_record(&mut self, record: &Expr, ty: &Type, name: &str) {
        let found = self.show(ty);
        let diagnostic = if matches!(ty, Type::Var(_)) {
            Diagnostic::error(
                "E0310",
                "the type of this record is not known here",
                record.span,
                format!("annotate it: `({name} : type)`"),
            )
        } else {
            Diagnostic::error("E0301", "this is no record", record.span, format!("it is {found}"))
        };
        match matches!(ty, Type::Var(_)) {
            true => self.record_not_known(diagnostic, ty),
            false => self.report(diagnostic),
        }
    }

    pub(in crate::check) fn no_such_field(&mut self, field: &ast::Ident, ty: &Type, record: Span) {
        let diagnostic = self.missing_field(field, ty, record);
        self.report(diagnostic);
    }

    /// A field that a record does not have.
    pub(in crate::check) fn missing_field(
        &self,
        field: &ast::Ident,
        ty: &Type,
        record: Span,
    ) -> Diagnostic {
        let (rank, head) = self.table.peel(ty);
        let found = self.show(ty);
        let mut diagnostic = Diagnostic::error(
            "E0308",
            format!("{found} has no field `{}`", field.name),
            field.span,
            "no such field",
        )
        .label(record, format!("this is {found}"));
        if let Type::Record(fields) = &head {
            let names = fields.iter().map(|(name, _)| &**name);
            if let Some(close) = suggest::closest(&field.name, names.clone()) {
                diagnostic = diagnostic.help(format!("did you mean `{close}`?"));
            } else if let Some(help) = self.numbered_column(&field.name, &head) {
                diagnostic = diagnostic.help(help);
            } else if let Some(help) = table_method(&field.name) {
                diagnostic = diagnostic.help(help);
            } else if fields.len() > 4 {
                let names: Vec<&str> = names.collect();
                diagnostic = diagnostic.help(format!("its fields are {}", names.join(", ")));
            }
        } else if &*field.name == "T" {
            diagnostic = diagnostic.help("write `transpose m`");
        } else if let Some(help) = method(self, &field.name, rank, &head) {
            diagnostic = diagnostic.help(help);
        } else if self.is_function_name(&field.name) {
            let name = &field.name;
            let example = match &**name {
                "map" | "filter" | "sortBy" => "f xs",
                _ if rank == 0 => "x",
                _ => "xs",
            };
            let what = if example == "f xs" { "arguments" } else { "argument" };
            diagnostic =
                diagnostic.help(format!("a function stands before its {what}: `{name} {example}`"));
        } else if rank > 0 && field.name.bytes().all(|byte| byte.is_ascii_digit()) {
            diagnostic = diagnostic.help(format!("an element of an array is `xs[{}]`", field.name));
        } else if let Type::Tuple(_) = &head {
            diagnostic = diagnostic.help("the parts of a tuple are `.0`, `.1` and so on");
        }
        diagnostic
    }

    /// Whether a visible name is that of a function.
    pub(super) fn is_function_name(&self, name: &str) -> bool {
        match self.environment.lookup(name) {
            Some(Binding::Global(global)) => {
                matches!(self.environment.global(*global), Some(Global::Function(_)))
            }
            Some(Binding::Alias(_) | Binding::Broken) => false,
            None => builtins::all().any(|entry| entry.name == name),
        }
    }

    pub(in crate::check) fn open_record(&mut self, position: usize) {
        // An earlier error may be why nothing is known.
        if self.errors > 0 || self.poisoned {
            return;
        }
        let field = self.fields[position].field.clone();
        let span = self.fields[position].record_span;
        let example = match (field.name.parse::<usize>().is_ok(), self.own.is_some()) {
            (true, true) => {
                "annotate it, as in `def f (p : (f64, f64)) = …`, or take it apart: `def f (x, y) = …`"
            }
            (true, false) => {
                "annotate it, as in `\\(p : (f64, f64)) -> …`, or take it apart: `\\(x, y) -> …`"
            }
            (false, true) => "annotate it, as in `def f (p : {x: f64, y: f64}) = …`",
            (false, false) => "annotate it, as in `\\(p : {x: f64, y: f64}) -> …`",
        };
        self.report(
            Diagnostic::error(
                "E0310",
                format!("nothing says what this value with a field `{}` is", field.name),
                span,
                "its type is not known here",
            )
            .help(example),
        );
    }
}
