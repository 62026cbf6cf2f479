//! E0319: a function of arrays that takes texts letter by letter, where whole texts may be meant.
//!
//! A text is an array of letters, so `sort words` sorts the letters of each word, by implicit map. Somebody
//! who means that can say so with `map sort words`.

use weft_ir::{Scalar, ScalarOp, ScalarType, Span};
use weft_lang::Diagnostic;
use weft_lang::ast::{self, Number, PatternKind};
use weft_lang::builtins::Builtin;
use weft_lang::typed::{Arg, Expr, ExprKind, FunctionRef, Program};
use weft_lang::types::Type;

use super::mapped::applied;
use super::whole::param_types;
use crate::prelude;
use crate::sources::Sources;
use crate::state::State;

/// What there is to say about an application.
pub(super) fn remark(
    builtin: Builtin,
    function: &Expr,
    args: &[Arg],
    depth: usize,
    sources: &Sources,
) -> Option<Diagnostic> {
    let (does, instead) = words(builtin)?;
    let texts = args.iter().find(|arg| arg.mapped && is_text(&arg.expr.ty, depth))?;
    let name = sources.slice(function.span);
    let subject = quoted(sources, texts.expr.span, "texts");
    let message = format!("`{name}` {does} each text");
    let here = "these are texts, which are arrays of letters";
    let mut remark = Diagnostic::error("E0319", message, texts.expr.span, here)
        .warning()
        .help(format!("whole texts have numbers: {}", instead.replace('@', subject)));
    if args.len() == 1 {
        remark = remark.note(format!("if the letters are meant, `map {name} {subject}` says so"));
    }
    Some(remark)
}

/// What there is to say about a definition that takes arrays of anything, and is mapped over texts: of each it takes the
/// letters.
pub(super) fn of_definition(
    program: &Program,
    state: &State,
    sources: &Sources,
    function: &Expr,
    args: &[Arg],
) -> Option<Diagnostic> {
    let (definition, given) = applied(program, state, function)?;
    let written = definition.written.as_deref()?;
    let of_anything = |ty: &Type| matches!(ty.peel(), (1, Type::Var(_)));
    let params: Vec<_> = written.params.iter().zip(param_types(definition)).skip(given).collect();
    let taken = params.into_iter().zip(args).filter(|((_, ty), _)| of_anything(ty));
    let (mapped, whole): (Vec<_>, Vec<_>) = taken.partition(|(_, arg)| arg.mapped);
    let ((param, _), texts) = mapped.into_iter().find(|(_, arg)| is_text(&arg.expr.ty, 1))?;
    // What goes along letters, as an edit distance does, is handed one text beside many to hold it against each.
    let is_text = |arg: &Arg| arg.expr.ty.peel() == (1, &Type::Scalar(ScalarType::Char));
    if whole.iter().any(|(_, arg)| is_text(arg))
        && matches!(&param.kind, PatternKind::Name(name) if goes_along(&written.body, name))
    {
        return None;
    }
    let (name, subject) = (&definition.name, quoted(sources, texts.expr.span, "texts"));
    let message = format!("`{name}` is mapped over these texts: it takes the letters of each");
    let here = "these are texts, which are arrays of letters";
    let mut remark = Diagnostic::error("E0319", message, texts.expr.span, here)
        .warning()
        .help(format!("whole texts have numbers: `(codes {subject}).0`"));
    if args.len() == 1 {
        remark = remark.note(format!("if the letters are meant, `map {name} {subject}` says so"));
    }
    Some(remark)
}

/// Whether an expression takes the elements of a parameter one by one, by an index or a generator.
fn goes_along(expr: &ast::Expr, param: &str) -> bool {
    let is_it =
        |expr: &ast::Expr| matches!(&expr.kind, ast::ExprKind::Name(name) if &**name == param);
    let mut found = match &expr.kind {
        ast::ExprKind::Comprehension { generators, .. } => {
            generators.iter().any(|(_, source)| is_it(source))
        }
        ast::ExprKind::Index { array, .. } => is_it(array),
        _ => false,
    };
    expr.for_each_child(&mut |child| found = found || goes_along(child, param));
    found
}

/// What a function does to each text, and what does it to whole texts, which `@` stands for.
fn words(builtin: Builtin) -> Option<(&'static str, &'static str)> {
    Some(match builtin {
        Builtin::Sort => ("sorts the letters of", "`@[argsort (codes @).0]` sorts the texts"),
        Builtin::SortDesc => (
            "sorts the letters of",
            "`reverse @[argsort (codes @).0]` sorts the texts in descending order",
        ),
        Builtin::Argsort => {
            ("orders the letters of", "`argsort (codes @).0` are the places of the texts in order")
        }
        Builtin::Unique => {
            ("takes the distinct letters of", "`(codes @).1` are the distinct texts in order")
        }
        Builtin::Minimum => ("takes the least letter of", "`first (codes @).1` is the first text"),
        Builtin::Maximum => ("takes the greatest letter of", "`last (codes @).1` is the last text"),
        Builtin::Argmin => {
            ("finds the least letter of", "`argmin (codes @).0` is the place of the first text")
        }
        Builtin::Argmax => {
            ("finds the greatest letter of", "`argmax (codes @).0` is the place of the last text")
        }
        Builtin::GroupBy => {
            ("groups by the letters of", "`groupBy (codes @).0 values` groups by the texts")
        }
        _ => return None,
    })
}

/// Whether a type is that of texts, under that many axes.
fn is_text(ty: &Type, depth: usize) -> bool {
    depth > 0 && ty.peel() == (depth + 1, &Type::Scalar(ScalarType::Char))
}

/// Whether a text can be written into a message, and as an argument.
pub(super) fn is_short(text: &str) -> bool {
    let is_part = |letter: char| letter.is_alphanumeric() || "_'.".contains(letter);
    !text.is_empty() && text.len() <= 24 && text.chars().all(is_part)
}

/// How texts are compared, chosen, drawn or taken as keys by the application at a place, if lengths that differ
/// there are those of texts and of something else: what to write instead.
pub(crate) fn texts_compared<'s>(
    program: &Program,
    place: Span,
    written: &dyn Fn(Span) -> &'s str,
) -> Option<String> {
    let bodies = program.instances.iter().map(|instance| &*instance.body);
    std::iter::once(&program.entry)
        .chain(bodies)
        .find_map(|body| compared_in(body, place, program, written))
}

fn compared_in<'s>(
    expr: &Expr,
    place: Span,
    program: &Program,
    written: &dyn Fn(Span) -> &'s str,
) -> Option<String> {
    if let ExprKind::Apply { function, args, depth } = &expr.kind
        && (expr.span == place || function.span == place)
    {
        let is_char = |ty: &Type| ty.peel().1 == &Type::Scalar(ScalarType::Char);
        let here = |arg: &Arg| match written(arg.expr.span) {
            text if is_short(text) => text.to_owned(),
            _ => "texts".to_owned(),
        };
        if let Some(name) = drawn(program, function)
            && let Some(texts) = args.iter().find(|arg| arg.mapped && is_text(&arg.expr.ty, *depth))
        {
            return Some(format!(
                "`{name}` draws numbers, and these are texts: `indices {0}` are their places, \
                 `(codes {0}).0` their numbers",
                here(texts)
            ));
        }
        match &function.kind {
            ExprKind::Builtin(Builtin::Op(ScalarOp::Eq | ScalarOp::Ne), _)
                if *depth > 0 && args.iter().all(|arg| arg.mapped && is_char(&arg.expr.ty)) =>
            {
                let help = "`same a b` compares whole texts; `==` goes letter by letter";
                return Some(help.to_owned());
            }
            ExprKind::Builtin(Builtin::GroupBy | Builtin::SearchSorted | Builtin::Merge, _)
                if args.first().is_some_and(|keys| is_text(&keys.expr.ty, *depth)) =>
            {
                let help = "a text as a key is its number: `(numbers, names) = codes texts`";
                return Some(help.to_owned());
            }
            ExprKind::Builtin(Builtin::Op(ScalarOp::Select), _) => {
                if let [_, yes, no] = &args[..]
                    && [yes, no].iter().all(|text| matches!(text.expr.kind, ExprKind::Text(_)))
                {
                    let (yes, no) = (written(yes.expr.span), written(no.expr.span));
                    return Some(format!(
                        "`select` chooses letter by letter; one of two texts for each element is \
                         `{{ if c then {yes} else {no} : c in conditions }}`"
                    ));
                }
            }
            _ => {}
        }
    }
    let mut found = None;
    expr.for_each_child(&mut |child| {
        if found.is_none() {
            found = compared_in(child, place, program, written);
        }
    });
    found
}

/// The name of a function of the prelude that draws numbers.
fn drawn<'p>(program: &'p Program, function: &Expr) -> Option<&'p str> {
    own(program, function).filter(|name| {
        matches!(
            *name,
            "plot" | "linePlot" | "scatterPlot" | "histogramPlot" | "histogramBins" | "heatMap"
        )
    })
}

/// The name of a function of the prelude.
pub(super) fn own<'p>(program: &'p Program, function: &Expr) -> Option<&'p str> {
    let ExprKind::Function(FunctionRef::Instance(id)) = &function.kind else { return None };
    let instance = program.instances.get(id.0 as usize)?;
    (instance.body.span.source == prelude::SOURCE).then_some(&*instance.name)
}

/// An argument as it is written, or what stands for it in a message.
pub(super) fn quoted<'s>(sources: &'s Sources, argument: Span, other: &'s str) -> &'s str {
    Some(sources.slice(argument)).filter(|text| is_short(text)).unwrap_or(other)
}

/// What there is to say about a plot of texts, which draws the letters of each.
pub(super) fn plotted(
    program: &Program,
    function: &Expr,
    args: &[Arg],
    depth: usize,
    sources: &Sources,
) -> Option<Diagnostic> {
    let name = drawn(program, function)?;
    let is_texts = |arg: &&Arg| arg.mapped && is_text(&arg.expr.ty, depth);
    let texts = args.iter().find(is_texts)?.expr.span;
    let subject = match sources.slice(texts) {
        text if is_short(text) => text,
        _ => "texts",
    };
    let message = format!("`{name}` draws the letters of each text");
    let here = "these are texts, which are arrays of letters";
    Some(
        Diagnostic::error("E0319", message, texts, here).warning().help(format!(
            "whole texts have numbers, `(numbers, names) = codes {subject}`; how often each occurs is `histogram \
             (length names) numbers`"
        )),
    )
}

/// What there is to say about a function of ours that compares the letters of each text.
pub(super) fn compared(
    program: &Program,
    function: &Expr,
    args: &[Arg],
    depth: usize,
    sources: &Sources,
) -> Option<Diagnostic> {
    let name = own(program, function)?;
    let (does, instead) = match name {
        "isIn" => (
            "looks for the letters of",
            "`{ any (same @ text) : text in texts }` says of each text whether it is one of them",
        ),
        "ranks" => (
            "ranks the letters of",
            "whole texts have numbers: `ranks (codes @).0` ranks the texts",
        ),
        "runs" => ("takes the runs of letters of", "`runs (codes @).0` are those of the texts"),
        _ => return None,
    };
    let texts = args.iter().rfind(|arg| arg.mapped && is_text(&arg.expr.ty, depth))?.expr.span;
    let subject = quoted(sources, texts, "names");
    let here = "these are texts, which are arrays of letters";
    Some(
        Diagnostic::error("E0319", format!("`{name}` {does} each text"), texts, here)
            .warning()
            .help(instead.replace('@', subject)),
    )
}

/// What there is to say about `splitOn ", " text`, which splits the text once for each letter of the mark.
pub(super) fn separated(
    program: &Program,
    function: &Expr,
    args: &[Arg],
    sources: &Sources,
) -> Option<Diagnostic> {
    let is_it = own(program, function)? == "splitOn";
    let ([Arg { expr: mark, mapped: true }, text], true) = (args, is_it) else { return None };
    let ExprKind::Text(bytes) = &mark.kind else { return None };
    let letter = bytes.iter().find(|byte| byte.is_ascii_graphic() && !b"'\\".contains(byte));
    let letter = letter.map_or(' ', |byte| *byte as char);
    let of = match sources.slice(text.expr.span) {
        text if text.starts_with('"') || is_short(text) => text,
        _ => "text",
    };
    let help = match sources.slice(mark.span) {
        part if bytes.len() > 1 && part.starts_with('"') => format!(
            "the mark is one letter: `splitOn '{letter}' {of}`; at a mark of several letters splits `splitText {part} {of}`"
        ),
        _ => format!("the mark is one letter: `splitOn '{letter}' {of}`"),
    };
    let here = "this is a text, an array of letters";
    Some(
        Diagnostic::error(
            "E0319",
            "`splitOn` splits once for each letter of its mark",
            mark.span,
            here,
        )
        .warning()
        .help(help),
    )
}

/// What there is to say about `count { w == "the" : w in words }`, which counts in each word the letters that are the same.
/// `all` of them is what `same` is, and right as it stands.
pub(super) fn one_by_one(
    program: &Program,
    head: &Expr,
    args: &[Arg],
    sources: &Sources,
) -> Option<Diagnostic> {
    let name = match &head.kind {
        ExprKind::Builtin(Builtin::Count, _) => "count",
        ExprKind::Builtin(Builtin::Any, _) => "any",
        _ => own(program, head).filter(|name| *name == "positions")?,
    };
    let [Arg { expr: each, mapped: true }] = args else { return None };
    let ExprKind::Comprehension { body, .. } = &each.kind else { return None };
    let ExprKind::Apply { function, args: sides, depth: 1 } = &body.kind else { return None };
    let not = match &function.kind {
        ExprKind::Builtin(Builtin::Op(ScalarOp::Eq), _) => "",
        ExprKind::Builtin(Builtin::Op(ScalarOp::Ne), _) => "!",
        _ => return None,
    };
    let is_text = |side: &Arg| side.expr.ty.peel() == (1, &Type::Scalar(ScalarType::Char));
    let is_literal = |side: &Arg| matches!(side.expr.kind, ExprKind::Text(_));
    if !sides.iter().all(is_text) || !sides.iter().any(is_literal) {
        return None;
    }
    let written = |side: &Arg| match sources.slice(side.expr.span) {
        text if is_short(text) || text.starts_with('"') => text.to_owned(),
        text => format!("({text})"),
    };
    let [a, b] = [&sides[0], &sides[1]].map(written);
    let message = format!("`{name}` goes through the letters of each of these texts");
    let here = "this compares letter by letter";
    Some(
        Diagnostic::error("E0319", message, body.span, here)
            .warning()
            .help(format!("whole texts are compared by `{not}same {a} {b}`")),
    )
}

/// The text of which `i64 "123" - 48` or `i64 "123" - i64 '0'` takes the digits: there the letters are meant.
pub(super) fn digits(builtin: Builtin, args: &[Arg]) -> Option<Span> {
    let (Builtin::Op(ScalarOp::Sub), [codes, zero]) = (builtin, args) else { return None };
    let converted = |expr: &Expr| -> Option<Expr> {
        let ExprKind::Apply { function, args, .. } = &expr.kind else { return None };
        match (&function.kind, &args[..]) {
            (ExprKind::Builtin(Builtin::Op(ScalarOp::Cast(_)), _), [arg]) => Some(arg.expr.clone()),
            _ => None,
        }
    };
    let is_zero = match &zero.expr.kind {
        ExprKind::Number(Number::Int(code)) => *code == i128::from(b'0'),
        ExprKind::Scalar(Scalar::I64(code)) => *code == i64::from(b'0'),
        _ => converted(&zero.expr)
            .is_some_and(|zero| matches!(zero.kind, ExprKind::Scalar(Scalar::Char(b'0')))),
    };
    let text = converted(&codes.expr).filter(|_| is_zero)?;
    matches!(text.kind, ExprKind::Text(_)).then_some(text.span)
}

/// What there is to say about texts that are compared by their order, or of which the greater one is taken: a text has none.
pub(super) fn ordered(builtin: Builtin, args: &[Arg]) -> Option<Diagnostic> {
    let Builtin::Op(op) = builtin else { return None };
    let chooses = matches!(op, ScalarOp::Max | ScalarOp::Min);
    let compares = matches!(op, ScalarOp::Lt | ScalarOp::Le | ScalarOp::Gt | ScalarOp::Ge);
    let [a, b] = args else { return None };
    let is_text = |arg: &Arg| matches!(arg.expr.ty.peel(), (1.., Type::Scalar(ScalarType::Char)));
    let is_literal = |arg: &Arg| matches!(&arg.expr.kind, ExprKind::Text(bytes) if bytes.len() > 1);
    // Neighbours in a text may be compared.
    if !(chooses || compares && (is_literal(a) || is_literal(b))) || !is_text(a) || !is_text(b) {
        return None;
    }
    let (message, help) = match chooses {
        true => (
            "this takes the greater or lesser letter at each place",
            "texts have no order; of dates the days have, `dayNumber date`, and of any texts the numbers, `(codes texts).0`",
        ),
        false => (
            "this compares the letters at each place",
            "texts have no order; of dates the days have: `dayNumber date >= dayNumber \"2020-01-15\"`",
        ),
    };
    let text = if is_literal(a) { a } else { b };
    let here = "this is a text, an array of letters";
    Some(Diagnostic::error("E0319", message, text.expr.span, here).warning().help(help))
}

/// What there is to say about a conversion of a text that is a number, which yields those of its letters.
pub(super) fn converted(builtin: Builtin, args: &[Arg], sources: &Sources) -> Option<Diagnostic> {
    let Builtin::Op(ScalarOp::Cast(to)) = builtin else { return None };
    let [Arg { expr, mapped: true }] = args else { return None };
    let written = match &expr.kind {
        ExprKind::Text(bytes) => {
            let text = std::str::from_utf8(bytes).ok()?.trim();
            text.parse::<f64>().ok().filter(|_| to.is_int() || to.is_float())?;
            sources.slice(expr.span)
        }
        // Codes of letters are integers: those of other texts may be meant where no floats are asked for.
        _ => {
            let is_text = matches!(expr.ty.peel(), (1.., Type::Scalar(ScalarType::Char)));
            (to.is_float() && is_text).then(|| quoted(sources, expr.span, "text"))?
        }
    };
    let name = to.name();
    let instead = match to {
        ScalarType::I64 => format!("parseInt 0 {written}"),
        ScalarType::F64 => format!("parseFloat {written}"),
        to if to.is_int() => format!("{name} (parseInt 0 {written})"),
        _ => format!("{name} (parseFloat {written})"),
    };
    let message = format!("`{name}` yields the numbers of the letters of this text");
    let here = "a text is an array of letters";
    Some(
        Diagnostic::error("E0319", message, expr.span, here)
            .warning()
            .help(format!("the number that a text is yields `{instead}`")),
    )
}
