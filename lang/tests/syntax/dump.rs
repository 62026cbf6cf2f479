//! Trees as compact s-expressions, so that tests read and write text only.

use weft_ir::ScalarType;
use weft_lang::ast::{
    Axis, Def, Expr, ExprKind, Item, ItemKind, LetBinding, LoopControl, Number, Pattern,
    PatternKind, RecordPart, Size, TypeExpr, TypeExprKind,
};

/// An item.
pub(crate) fn item(item: &Item) -> String {
    match &item.kind {
        ItemKind::Def(definition) => format!("(def {})", def(definition)),
        ItemKind::TypeAlias { name, ty: alias } => format!("(type {} {})", name.name, ty(alias)),
        ItemKind::Binding { pattern: left, value } => {
            format!("(= {} {})", pattern(left), expr(value))
        }
        ItemKind::Expr { value, quiet: true } => format!("(quiet {})", expr(value)),
        ItemKind::Expr { value, quiet: false } => expr(value),
        ItemKind::Command { name, argument, .. } => format!("(:{} {argument:?})", name.name),
        ItemKind::Import { path, .. } => format!("(import {path:?})"),
    }
}

fn def(def: &Def) -> String {
    let params: String = def.params.iter().map(|param| format!(" {}", pattern(param))).collect();
    let result = def.result.as_ref().map(|result| format!(" : {}", ty(result))).unwrap_or_default();
    format!("({}{params}){result} {}", def.name.name, expr(&def.body))
}

/// An expression. An application is `(f x)`, one by `|>` is `(| f x)`.
pub(crate) fn expr(value: &Expr) -> String {
    match &value.kind {
        ExprKind::Name(name) => name.to_string(),
        ExprKind::Number(value, suffix) => number(*value, *suffix),
        ExprKind::Bool(value) => value.to_string(),
        ExprKind::Char(byte) => format!("'{}'", byte.escape_ascii()),
        ExprKind::Text(bytes) => format!("\"{}\"", bytes.escape_ascii()),
        ExprKind::Apply { function, args, form } => {
            let pipe = if *form == weft_lang::ast::ApplyForm::Pipe { "| " } else { "" };
            format!("({pipe}{} {})", expr(function), exprs(args))
        }
        ExprKind::Lambda { params, body } => {
            let params: Vec<_> = params.iter().map(pattern).collect();
            format!("(\\ {} -> {})", params.join(" "), expr(body))
        }
        ExprKind::Let { bindings, body } => {
            let bindings: Vec<_> = bindings.iter().map(binding).collect();
            format!("(let [{}] {})", bindings.join("; "), expr(body))
        }
        ExprKind::If { condition, then, otherwise } => {
            format!("(if {} {} {})", expr(condition), expr(then), expr(otherwise))
        }
        ExprKind::Loop { pattern: state, init, control, body } => {
            let control = match control {
                LoopControl::Count(index, bound) => {
                    format!("(for {} < {})", pattern(index), expr(bound))
                }
                LoopControl::Each(element, array) => {
                    format!("(for {} in {})", pattern(element), expr(array))
                }
                LoopControl::While(condition) => format!("(while {})", expr(condition)),
            };
            format!("(loop {} {} {control} {})", pattern(state), expr(init), expr(body))
        }
        ExprKind::Tuple(parts) if parts.is_empty() => "(tuple)".into(),
        ExprKind::Tuple(parts) => format!("(tuple {})", exprs(parts)),
        ExprKind::Record(parts) => {
            let part = |part: &RecordPart| match part {
                RecordPart::Field(name, value) => named(&[(name.clone(), value.clone())]),
                RecordPart::Spread(record) => format!("..{}", expr(record)),
            };
            let parts: Vec<String> = parts.iter().map(part).collect();
            format!("(record {})", parts.join(" "))
        }
        ExprKind::RecordUpdate { record, fields } => {
            format!("(update {} {})", expr(record), named(fields))
        }
        ExprKind::Field { record, field } => format!("(. {} {})", expr(record), field.name),
        ExprKind::Array(elements) => format!("[{}]", exprs(elements)),
        ExprKind::NumberArray(numbers) => match (numbers.first(), numbers.last()) {
            (Some(first), Some(last)) => {
                format!("[#{} {} … {}]", numbers.len(), number(*first, None), number(*last, None))
            }
            _ => "[#0]".into(),
        },
        ExprKind::Range { start, stop, step } => {
            let step = step.as_ref().map(|step| format!(" by {}", expr(step))).unwrap_or_default();
            format!("({} .. {}{step})", expr(start), expr(stop))
        }
        ExprKind::Index { array, axes } => {
            let axes: Vec<_> = axes.iter().map(axis).collect();
            format!("(at {} {})", expr(array), axes.join(" "))
        }
        ExprKind::With { array, axes, value } => {
            let axes: Vec<_> = axes.iter().map(axis).collect();
            format!("(with {} [{}] {})", expr(array), axes.join(" "), expr(value))
        }
        ExprKind::Comprehension { body, generators, filter } => {
            let generators: Vec<_> = generators
                .iter()
                .map(|(pattern_, array)| format!("({} in {})", pattern(pattern_), expr(array)))
                .collect();
            let filter = filter.as_ref().map(|c| format!(" | {}", expr(c))).unwrap_or_default();
            format!("{{{} : {}{filter}}}", expr(body), generators.join(" "))
        }
        ExprKind::Typed(inner, annotation) => format!("(: {} {})", expr(inner), ty(annotation)),
        ExprKind::Error => "ERROR".into(),
    }
}

fn exprs(values: &[Expr]) -> String {
    values.iter().map(expr).collect::<Vec<_>>().join(" ")
}

fn named(fields: &[(weft_lang::ast::Ident, Expr)]) -> String {
    let fields: Vec<_> =
        fields.iter().map(|(name, value)| format!("{}={}", name.name, expr(value))).collect();
    fields.join(" ")
}

fn number(value: Number, suffix: Option<ScalarType>) -> String {
    let suffix = suffix.map(|suffix| suffix.to_string()).unwrap_or_default();
    match value {
        Number::Int(value) => format!("{value}{suffix}"),
        Number::Float { wide, .. } => format!("{wide:?}{suffix}"),
    }
}

fn binding(binding: &LetBinding) -> String {
    match binding {
        LetBinding::Value(left, value) => format!("{} = {}", pattern(left), expr(value)),
        LetBinding::Function(function) => def(function),
    }
}

fn axis(axis: &Axis) -> String {
    let bound = |bound: &Option<Expr>| bound.as_ref().map(expr).unwrap_or_default();
    match axis {
        Axis::Index(index) => expr(index),
        Axis::Slice { start, stop, step: None, .. } => {
            format!("<{}:{}>", bound(start), bound(stop))
        }
        Axis::Slice { start, stop, step, .. } => {
            format!("<{}:{}:{}>", bound(start), bound(stop), bound(step))
        }
    }
}

fn pattern(value: &Pattern) -> String {
    match &value.kind {
        PatternKind::Name(name) => name.to_string(),
        PatternKind::Wildcard => "_".into(),
        PatternKind::Tuple(parts) => {
            let parts: Vec<_> = parts.iter().map(pattern).collect();
            format!("<{}>", parts.join(" "))
        }
        PatternKind::Record(fields) => {
            let fields: Vec<_> = fields
                .iter()
                .map(|(name, value)| format!("{}={}", name.name, pattern(value)))
                .collect();
            format!("{{{}}}", fields.join(" "))
        }
        PatternKind::Typed(inner, annotation) => {
            format!("({} : {})", pattern(inner), ty(annotation))
        }
    }
}

fn ty(value: &TypeExpr) -> String {
    match &value.kind {
        TypeExprKind::Name(name) => name.to_string(),
        TypeExprKind::Array(None, element) => format!("[]{}", ty(element)),
        TypeExprKind::Array(Some(Size::Name(name)), element) => {
            format!("[{}]{}", name.name, ty(element))
        }
        TypeExprKind::Array(Some(Size::Constant(size, _)), element) => {
            format!("[{size}]{}", ty(element))
        }
        TypeExprKind::Tuple(parts) => {
            format!("({})", parts.iter().map(ty).collect::<Vec<_>>().join(", "))
        }
        TypeExprKind::Record(fields) => {
            let fields: Vec<_> = fields
                .iter()
                .map(|(name, field)| format!("{}: {}", name.name, ty(field)))
                .collect();
            format!("{{{}}}", fields.join(", "))
        }
        TypeExprKind::Function(parameter, result) => {
            format!("({} -> {})", ty(parameter), ty(result))
        }
        TypeExprKind::Window(rank, element) => format!("(window{rank} {})", ty(element)),
        TypeExprKind::Seq(element) => format!("(seq {})", ty(element)),
    }
}
