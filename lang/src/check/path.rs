//! Functions that read files. A file is read before the program runs, as the type of its value follows from it: so its
//! path is a text that is known by then.

use std::sync::Arc;

use weft_ir::{Column, Name, Span, Value};

use super::Checker;
use super::errors::OF_THE_FILE;
use crate::ast;
use crate::diagnostic::Diagnostic;
use crate::environment::{Binding, Global};
use crate::typed::{Expr, ExprKind};
use crate::types::Type;

/// The functions that read files.
pub(super) const LOADERS: [&str; 11] = [
    "load",
    "loadCsv",
    "loadMtx",
    "loadImage",
    "loadWav",
    "loadText",
    "loadLines",
    "loadBytes",
    "streamNpy",
    "streamLines",
    "streamWav",
];

/// Whether that is a function that reads files.
pub fn is_loader(name: &str) -> bool {
    LOADERS.contains(&name)
}

/// A text that is known before the program runs, or why one is not.
type Known = Result<String, Box<Diagnostic>>;

impl Checker<'_> {
    pub(super) fn load(&mut self, loader: &Name, args: &[&ast::Expr], span: Span) -> Expr {
        if !self.top_level {
            self.report(
                Diagnostic::error(
                    "E0205",
                    format!("`{loader}` stands only at the top level of a cell"),
                    span,
                    "inside a function",
                )
                .help("load the file into a variable first, and pass that to the function"),
            );
            return self.unknown(span);
        }
        // The window and the hop are numbers like any other.
        let (sizes, args) = match &**loader {
            "streamWav" if args.len() >= 2 => args.split_at(2),
            "streamWav" => {
                return self.bad_path(span, "this needs a window and a hop before the path");
            }
            _ => args.split_at(0),
        };
        let mut texts = Vec::new();
        for arg in args {
            match self.known_text(loader, arg) {
                Ok(text) => texts.push(text),
                Err(report) => {
                    self.report(*report);
                    return self.unknown(span);
                }
            }
        }
        let most = if &**loader == "load" { 2 } else { 1 };
        let (path, member) = match &texts[..] {
            [path] => (path, None),
            [path, member] if most == 2 => (path, Some(member)),
            _ => return self.bad_path(span, "too many arguments"),
        };
        let request = super::LoadRequest { loader, path, member: member.map(String::as_str), span };
        match self.files.load(&request) {
            Ok((ty, value)) => {
                let stream = self.stream_of(loader, &value);
                let id = self.environment.fresh();
                let name = Arc::clone(loader);
                let global = Global::Value { name, ty: ty.clone(), span };
                self.environment.define(id, global);
                self.loaded.push((id, value));
                let loaded = Expr { kind: ExprKind::Value(id), ty: Type::of_value(&ty), span };
                let Some(stream) = stream else { return loaded };
                let mut given: Vec<Expr> = Vec::new();
                for size in sizes {
                    let typed = self.expr(size);
                    self.expect(&typed, &Type::I64, span, &format!("`{loader}`"));
                    given.push(typed);
                }
                given.push(loaded);
                self.apply_helper(stream, given, span)
            }
            Err(diagnostic) => {
                self.report(diagnostic);
                self.unknown(span)
            }
        }
    }

    fn bad_path(&mut self, span: Span, remark: &str) -> Expr {
        self.report(path_report(span, remark));
        self.unknown(span)
    }

    /// The text of a path: a literal, a value that was there before the cell or is bound to a literal in it, an element
    /// of such a value, or several of these joined.
    fn known_text(&self, loader: &Name, path: &ast::Expr) -> Known {
        let span = path.span;
        let is_computed = || {
            let remark = "this is computed when the program runs";
            Err(Box::new(path_report(span, remark).help(format!("write it out: `{loader} \"…\"`"))))
        };
        match &path.kind {
            ast::ExprKind::Text(bytes) => match std::str::from_utf8(bytes) {
                Ok(text) => Ok(text.to_owned()),
                Err(_) => Err(Box::new(path_report(span, "this path is not UTF-8"))),
            },
            ast::ExprKind::Name(name) => self.text_of_name(loader, name, span),
            ast::ExprKind::Index { array, axes } => {
                let (ast::ExprKind::Name(name), [ast::Axis::Index(at)]) = (&array.kind, &axes[..])
                else {
                    return is_computed();
                };
                let ast::ExprKind::Number(ast::Number::Int(at), _) = at.kind else {
                    return is_computed();
                };
                let Some(texts) = self.value_before(name) else { return is_computed() };
                let Some(length) = texts_in(&texts) else { return is_computed() };
                let known = usize::try_from(at).ok().and_then(|at| text_in(&texts, at));
                known.ok_or_else(|| {
                    let remark = format!("there is no `{name}[{at}]`: `length {name}` is {length}");
                    let report = path_report(span, &remark);
                    Box::new(match &**name {
                        "args" => report.help("start it as `weft program.weft data.csv`"),
                        _ => report,
                    })
                })
            }
            ast::ExprKind::Apply { function, args, form: ast::ApplyForm::Operator } => {
                let joins = matches!(&function.kind, ast::ExprKind::Name(name) if &**name == "++");
                let (true, [left, right]) = (joins, &args[..]) else { return is_computed() };
                Ok(self.known_text(loader, left)? + &self.known_text(loader, right)?)
            }
            _ => is_computed(),
        }
    }

    /// What a name stands for where a path is wanted: a text, or a path without quotes.
    fn text_of_name(&self, loader: &Name, name: &Name, span: Span) -> Known {
        if let Some(text) = self.literal_before(name) {
            return Ok(text);
        }
        if let Some(text) = self.value_before(name).and_then(|value| whole_text(&value)) {
            return Ok(text);
        }
        let is_known = self.scope.contains_key(name) || self.environment.lookup(name).is_some();
        let (remark, path) = match is_known {
            true => ("this is computed when the program runs", "…"),
            false => ("there are no quotes around it", &**name),
        };
        let before = if &**loader == "streamWav" { " window hop" } else { "" };
        let help = format!("write it out: `{loader}{before} \"{path}\"`");
        Err(Box::new(path_report(span, remark).help(help)))
    }

    /// The text that the cell binds a name to, in front of the item at hand.
    fn literal_before(&self, name: &Name) -> Option<String> {
        if self.scope.contains_key(name) {
            return None;
        }
        let before = &self.cell.items[..self.cell.index];
        let defines = |item: &&ast::Item| super::item::item_names(&item.kind).contains(name);
        let ast::ItemKind::Binding { pattern, value } = &before.iter().rfind(defines)?.kind else {
            return None;
        };
        match (&pattern.kind, &value.kind) {
            (ast::PatternKind::Name(_), ast::ExprKind::Text(bytes)) => {
                String::from_utf8(bytes.to_vec()).ok()
            }
            _ => None,
        }
    }

    /// The value that a name has had since before the cell.
    fn value_before(&self, name: &Name) -> Option<Value> {
        if self.scope.contains_key(name) {
            return None;
        }
        let Some(Binding::Global(id)) = self.environment.lookup(name) else { return None };
        self.files.value(*id)
    }
}

/// A text of the shape that a path has.
fn whole_text(value: &Value) -> Option<String> {
    let Value::Array(array) = value else { return None };
    let Column::Char(bytes) = &array.elements else { return None };
    String::from_utf8(bytes.as_slice().to_vec()).ok()
}

/// How many texts an array has, if its elements are texts.
fn texts_in(value: &Value) -> Option<usize> {
    let Value::Array(array) = value else { return None };
    let inner = match &array.elements {
        Column::Dense { inner, .. } | Column::Ragged { inner, .. } => inner,
        _ => return None,
    };
    matches!(**inner, Column::Char(_)).then(|| array.len())
}

/// One of them.
fn text_in(value: &Value, at: usize) -> Option<String> {
    let Value::Array(array) = value else { return None };
    (at < array.len()).then(|| whole_text(&array.elements.get(at))).flatten()
}

/// That a path is not known.
fn path_report(span: Span, remark: &str) -> Diagnostic {
    let message = "a file is loaded before the program runs, by a path that is known then";
    Diagnostic::error("E0206", message, span, remark).note(OF_THE_FILE)
}
