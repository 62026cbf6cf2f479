//! The typed program as text: implicit map made visible (`f@1` is mapped over one axis, and `~x`
//! is an argument that carries it), types at every application.

use std::fmt::Write as _;

use weft_lang::ast::Number;
use weft_lang::builtins::{self, Builtin};
use weft_lang::typed::{
    Arg, Axis, Expr, ExprKind, FunctionRef, GlobalId, InstanceId, LocalId, LoopControl, Pattern,
    Program, Size,
};

use crate::display::literal;

/// A program: the functions that it needs, then the expression. `name` is what earlier values are
/// called.
pub(crate) fn program(program: &Program, name: &dyn Fn(GlobalId) -> String) -> String {
    let mut out = String::new();
    for (index, instance) in program.instances.iter().enumerate() {
        let function = &instance.name;
        writeln!(out, "def {function}#{index} : {} =", instance.body.ty)
            .expect("writing to a string");
        Writer { out: &mut out, indent: 1, name }.line(&instance.body);
        out.push('\n');
    }
    Writer { out: &mut out, indent: 0, name }.line(&program.entry);
    writeln!(out, " : {}", program.entry.ty).expect("writing to a string");
    out.trim_end().to_owned()
}

struct Writer<'a> {
    out: &'a mut String,
    indent: usize,
    name: &'a dyn Fn(GlobalId) -> String,
}

impl Writer<'_> {
    /// An expression at the start of a line; `let`s have lines of their own.
    fn line(&mut self, expr: &Expr) {
        let margin = "  ".repeat(self.indent);
        self.out.push_str(&margin);
        let mut expr = expr;
        loop {
            match &expr.kind {
                ExprKind::Let { pattern, value, body } => {
                    self.out.push_str("let ");
                    self.pattern(pattern);
                    self.out.push_str(" = ");
                    self.expr(value);
                    expr = body;
                }
                ExprKind::LetFunction { name, local, value, body, .. } => {
                    self.out.push_str(&format!("let {name}{} = ", suffix(*local)));
                    self.expr(value);
                    expr = body;
                }
                _ => break,
            }
            self.out.push_str(" in\n");
            self.out.push_str(&margin);
        }
        self.expr(expr);
    }

    fn expr(&mut self, expr: &Expr) {
        match &expr.kind {
            ExprKind::Number(number) => self.number(*number),
            ExprKind::Scalar(scalar) => {
                let value = weft_ir::Value::Scalar(*scalar);
                self.out.push_str(&literal(&value, &weft_ir::Type::Scalar(scalar.ty())));
                let has_default = matches!(
                    scalar.ty(),
                    weft_ir::ScalarType::I64
                        | weft_ir::ScalarType::F64
                        | weft_ir::ScalarType::Bool
                        | weft_ir::ScalarType::Char
                );
                if !has_default {
                    self.out.push_str(scalar.ty().name());
                }
            }
            ExprKind::Text(bytes) => {
                self.out.push_str(&format!("{:?}", String::from_utf8_lossy(bytes)));
            }
            ExprKind::NumberArray(numbers) => {
                self.out.push('[');
                for (index, number) in numbers.iter().take(3).enumerate() {
                    self.comma(index);
                    self.number(*number);
                }
                self.out.push_str(&format!(", … {} numbers]", numbers.len()));
            }
            ExprKind::Local(local, _) => self.out.push_str(&format!("v{}", local.0)),
            ExprKind::Value(global) => self.out.push_str(&(self.name)(*global)),
            ExprKind::Function(FunctionRef::Generic(GlobalId(id), _)) => {
                self.out.push_str(&format!("global{id}"));
            }
            ExprKind::Function(FunctionRef::Instance(InstanceId(id))) => {
                self.out.push_str(&format!("#{id}"));
            }
            ExprKind::Builtin(builtin, _) => self.out.push_str(&builtin_name(*builtin)),
            ExprKind::Lambda { params, body } => {
                self.out.push_str("(\\");
                for (index, param) in params.iter().enumerate() {
                    if index > 0 {
                        self.out.push(' ');
                    }
                    self.pattern(param);
                }
                self.out.push_str(" -> ");
                self.expr(body);
                self.out.push(')');
            }
            ExprKind::Apply { function, args, depth } => self.apply(function, args, *depth),
            ExprKind::Let { .. } | ExprKind::LetFunction { .. } => {
                self.out.push_str("(\n");
                let inner = self.indent + 1;
                Writer { out: self.out, indent: inner, name: self.name }.line(expr);
                self.out.push(')');
            }
            ExprKind::If { condition, then, otherwise } => {
                self.words(&["(if ", " then ", " else ", ")"], &[condition, then, otherwise]);
            }
            ExprKind::Loop { pattern, init, control, body } => {
                self.out.push_str("(loop ");
                self.pattern(pattern);
                self.words(&[" = ", ""], &[init]);
                match control {
                    LoopControl::Count(counter, bound) => {
                        self.out.push_str(" for ");
                        self.pattern(counter);
                        self.words(&[" < ", ""], &[bound]);
                    }
                    LoopControl::Each(element, array) => {
                        self.out.push_str(" for ");
                        self.pattern(element);
                        self.words(&[" in ", ""], &[array]);
                    }
                    LoopControl::While(condition) => self.words(&[" while ", ""], &[condition]),
                }
                self.words(&[" do ", ")"], &[body]);
            }
            ExprKind::Tuple(parts) => self.list("(", ")", parts),
            ExprKind::Array(parts) => self.list("[", "]", parts),
            ExprKind::RecordUpdate { record, fields } => {
                self.words(&["{", " with "], &[record]);
                for (index, (position, value)) in fields.iter().enumerate() {
                    self.comma(index);
                    self.out.push_str(&format!(".{position} = "));
                    self.expr(value);
                }
                self.out.push('}');
            }
            ExprKind::Field { record, index, depth } => {
                self.expr(record);
                self.out.push_str(&format!(".{index}"));
                self.depth(*depth);
            }
            ExprKind::Slice { array, axes } => {
                self.expr(array);
                self.out.push('[');
                for (index, axis) in axes.iter().enumerate() {
                    self.comma(index);
                    self.axis(axis);
                }
                self.out.push(']');
            }
            ExprKind::WindowRead { window, offset } => {
                self.expr(window);
                self.out.push_str(&format!("{offset:?}"));
            }
            ExprKind::Comprehension { body, generators, filter } => {
                self.words(&["{ ", ""], &[body]);
                for (index, (pattern, array)) in generators.iter().enumerate() {
                    self.out.push_str(if index == 0 { " : " } else { " ; " });
                    self.pattern(pattern);
                    self.words(&[" in ", ""], &[array]);
                }
                if let Some(filter) = filter {
                    self.words(&[" | ", ""], &[filter]);
                }
                self.out.push_str(" }");
            }
            ExprKind::CheckSizes { checks, body } => {
                self.out.push_str("(check ");
                for (index, check) in checks.iter().enumerate() {
                    self.comma(index);
                    let size = match &check.size {
                        Size::Name(name) => name.to_string(),
                        Size::Constant(size) => size.to_string(),
                    };
                    self.out.push_str(&format!("[{size}]{}{}", check.name, suffix(check.local)));
                }
                self.words(&[" in ", ")"], &[body]);
            }
        }
    }

    fn apply(&mut self, function: &Expr, args: &[Arg], depth: usize) {
        self.out.push('(');
        self.expr(function);
        self.depth(depth);
        for arg in args {
            self.out.push(' ');
            if arg.mapped && depth > 0 {
                self.out.push('~');
            }
            self.expr(&arg.expr);
        }
        self.out.push(')');
    }

    fn axis(&mut self, axis: &Axis) {
        match axis {
            Axis::Index(index) | Axis::Gather(index) => self.expr(index),
            Axis::Slice { start, stop, step, .. } => {
                for (index, bound) in [start, stop, step].into_iter().enumerate() {
                    if index == 1 || (index == 2 && bound.is_some()) {
                        self.out.push(':');
                    }
                    if let Some(bound) = bound {
                        self.expr(bound);
                    }
                }
            }
        }
    }

    fn pattern(&mut self, pattern: &Pattern) {
        match pattern {
            Pattern::Local { local, name, ty } => {
                self.out.push_str(&format!("{name}{}:{ty}", suffix(*local)));
            }
            Pattern::Wildcard(_) => self.out.push('_'),
            Pattern::Tuple(parts) => {
                self.out.push('(');
                for (index, part) in parts.iter().enumerate() {
                    self.comma(index);
                    self.pattern(part);
                }
                self.out.push(')');
            }
        }
    }

    fn number(&mut self, number: Number) {
        match number {
            Number::Int(value) => self.out.push_str(&value.to_string()),
            Number::Float { wide, .. } => self.out.push_str(&format!("{wide:?}")),
        }
    }

    fn list(&mut self, open: &str, close: &str, parts: &[Expr]) {
        self.out.push_str(open);
        for (index, part) in parts.iter().enumerate() {
            self.comma(index);
            self.expr(part);
        }
        self.out.push_str(close);
    }

    /// Words with expressions between them.
    fn words(&mut self, words: &[&str], parts: &[&Expr]) {
        for (index, word) in words.iter().enumerate() {
            self.out.push_str(word);
            if let Some(part) = parts.get(index) {
                self.expr(part);
            }
        }
    }

    fn depth(&mut self, depth: usize) {
        if depth > 0 {
            self.out.push_str(&format!("@{depth}"));
        }
    }

    fn comma(&mut self, index: usize) {
        if index > 0 {
            self.out.push_str(", ");
        }
    }
}

fn suffix(LocalId(id): LocalId) -> String {
    format!("·v{id}")
}

fn builtin_name(builtin: Builtin) -> String {
    match builtins::all().find(|entry| entry.builtin == builtin) {
        Some(entry) if entry.name.starts_with(|c: char| c.is_alphabetic()) => entry.name.to_owned(),
        Some(entry) => format!("({})", entry.name),
        None => match builtin {
            Builtin::Index(_) => "index".to_owned(),
            Builtin::Update(_) => "with".to_owned(),
            Builtin::Places(_) => "places".to_owned(),
            Builtin::Replace(..) => "replaced".to_owned(),
            other => format!("{other:?}"),
        },
    }
}
