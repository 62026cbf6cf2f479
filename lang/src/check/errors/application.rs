//! What is wrong with an application: its arguments, their ranks, their number.

use weft_ir::{ScalarType, Span};

use super::habit::{of_complex, of_flags};
use super::operator::{TO_INTEGER, convert_other};
use super::{TEXTS_AS_KEYS, class_words, count};
use crate::ast;
use crate::builtins;
use crate::check::Checker;
use crate::check::apply::{SIGN, UNNAMED, is_signed};
use crate::check::rank::{Site, SiteError};
use crate::check::sequence::CONSUMERS;
use crate::check::unify::Clash;
use crate::diagnostic::Diagnostic;
use crate::typed::{Expr, ExprKind};
use crate::types::{Class, Type};

/// Longer types of functions are not written out where arguments are counted.
const LONGEST_TYPE: usize = 80;

/// What to write for the sequence of the first numbers.
const OF_A_NUMBER: &str = "`produce n f` is the sequence of f 0, f 1, …, f (n - 1): the numbers are `produce n (\\i -> i)`";

impl Checker<'_> {
    pub(in crate::check) fn report_site(&mut self, position: usize, error: &SiteError) {
        let site = self.sites[position].clone();
        let name = quoted(&site.function);
        match error {
            SiteError::Argument(index, clash) => {
                let arg = &site.args[*index];
                if *index == 0 && matches!(&*site.function, "index" | "with") {
                    // The array takes any element type: only its axes can be too few, or what it is to hold be of another type.
                    return self.report_site(position, &SiteError::TooFewAxes(0));
                }
                if let Clash::Class(class, ty) = clash {
                    return self.argument_outside_class(position, &site, *index, *class, ty);
                }
                if self.special_clash(clash, arg.span) {
                    return;
                }
                self.argument_mismatch(position, &site, *index);
            }
            SiteError::TooFewAxes(0) if self.other_element(&site) => {}
            SiteError::TooFewAxes(index) => {
                let arg = &site.args[*index];
                let (found, wanted) = (self.show(&arg.ty), self.show(&site.params[*index]));
                let fixed = if site.function == "with" { 2 } else { 1 };
                let indices = site.args.len() - fixed;
                let diagnostic = if matches!(&*site.function, "index" | "with") && *index == 0 {
                    let diagnostic = Diagnostic::error(
                        "E0307",
                        format!(
                            "{} here, but the value is {found}",
                            count(indices, "index", "indices")
                        ),
                        site.span,
                        "too many indices",
                    )
                    .label(arg.span, format!("this is {found}"));
                    match self.table.peel(&arg.ty).1 {
                        Type::Tuple(_) => diagnostic.help("the first part of a tuple is `p.0`"),
                        Type::Function(..) => diagnostic
                            .help("it is a function, and an argument has no brackets: `f x`"),
                        Type::Record(_) => diagnostic.help(
                            self.table_help(&arg.ty)
                                .unwrap_or_else(|| "a field of a record is `r.name`".to_owned()),
                        ),
                        Type::Seq(_) => diagnostic.help(CONSUMERS),
                        _ if found == "a number" => diagnostic.help(
                            "an index belongs to what stands right before it: `(f x)[i]` is an element of what \
                             `f x` yields",
                        ),
                        _ => diagnostic,
                    }
                } else {
                    Diagnostic::error(
                        "E0307",
                        format!("{name} needs {wanted} here, but this is {found}"),
                        arg.span,
                        format!("this is {found}"),
                    )
                };
                let of_sequence = || self.sequence_help(&arg.ty, &site.params[*index]);
                let of_window = || self.window_help(&arg.ty);
                let help = self.table_help(&arg.ty).or_else(of_sequence).or_else(of_window);
                let diagnostic = match help {
                    Some(help) if !matches!(&*site.function, "index" | "with") => {
                        diagnostic.help(help)
                    }
                    _ => self.with_sequential(diagnostic, &site, *index),
                };
                let makes_sequence = matches!(self.table.shallow(&site.returns), Type::Seq(_));
                let of_stream = makes_sequence.then(|| OF_A_NUMBER.to_owned());
                let diagnostic = match self.guessed(position, &site, *index).or(of_stream) {
                    Some(help) => diagnostic.help(help),
                    None => diagnostic,
                };
                self.report(diagnostic);
            }
            SiteError::UnequalAxes(first, second) => {
                self.unequal_axes(position, &site, *first, *second)
            }
            SiteError::Result(clash) => {
                if self.special_clash(clash, site.span) {
                    return;
                }
                let own = Type::arrays(site.depth.unwrap_or(0), site.returns.clone());
                let (found, wanted) = (self.show(&own), self.show(&site.result));
                let diagnostic = Diagnostic::error(
                    "E0301",
                    format!("{name} yields {found} here, but {wanted} is needed"),
                    site.span,
                    format!("this is {found}"),
                );
                let passed = self.passed_for_a_scalar(&site, &own);
                let diagnostic = match passed.or_else(|| self.mapped_where_passed(&site)) {
                    Some(help) => diagnostic.help(help),
                    None => self.with_fix(diagnostic, &own, &site.result),
                };
                let diagnostic = self.with_mapped_parameter(diagnostic, position, &site);
                self.report(diagnostic);
            }
            SiteError::PartialMapped(index) => {
                let arg = &site.args[*index];
                let found = self.show(&arg.ty);
                self.report(
                    Diagnostic::error(
                        "E0316",
                        format!("{name} is not applied to all its arguments, so it is not mapped"),
                        arg.span,
                        format!("this is {found}"),
                    )
                    .help(whole_array(&site.function, self.table.peel(&arg.ty).0)),
                );
            }
        }
    }

    /// Where a function that yields arrays is passed for one that yields scalars, the other side may be a
    /// definition that only has not said what it takes.
    fn passed_for_a_scalar(&self, site: &Site, own: &Type) -> Option<String> {
        let passed = site.args.iter().all(|arg| arg.span == site.function_span);
        let (found, wanted) = (self.table.peel(own).0, self.table.peel(&site.result).0);
        let [argument] = &site.params[..] else { return None };
        (passed && found > 0 && wanted == 0).then(|| {
            // One that is mapped here yields what it yields of one value.
            let is_mapped = site.depth.is_some_and(|depth| depth > 0);
            let to = if is_mapped { &site.returns } else { own };
            let (from, to) = (self.show(argument), self.show(to));
            format!(
                "a `def` takes what its parameter `f` yields for one value, unless it says \
                 `(f : {from} -> {to})`; or reduce it, or map over it"
            )
        })
    }

    /// `iterate n step cs`, where `step` takes elements of `cs` as it is written, and so is mapped, but was meant for all.
    fn mapped_where_passed(&self, site: &Site) -> Option<String> {
        let ([parameter], [arg]) = (&site.params[..], &site.args[..]) else { return None };
        let is_mapped = site.depth.is_some_and(|depth| depth > 0);
        let (whole, wanted) = (self.table.resolve(&arg.ty), self.table.resolve(&site.result));
        let is_passed = arg.span == site.function_span && is_mapped && whole == wanted;
        (is_passed && self.builtin_named(&site.function.as_str().into()).is_none()).then(|| {
            let (name, whole) = (quoted(&site.function), self.show(&whole));
            format!(
                "{name} takes {} as it is written, so it is mapped over this {whole}: to take all of it, let its parameter \
                 say so, `(p : {whole})`",
                self.show(parameter)
            )
        })
    }

    /// An argument, or an element or part of it, that is not of the class `class`, which its parameter
    /// or, for a literal, the argument itself needs.
    fn argument_outside_class(
        &mut self,
        position: usize,
        site: &Site,
        index: usize,
        class: Class,
        ty: &Type,
    ) {
        let name = quoted(&site.function);
        let arg = &site.args[index];
        let (wanted_rank, wanted_head) = self.table.peel(&site.params[index]);
        let (_, found_head) = self.table.peel(&arg.ty);
        let of_parts = matches!(found_head, Type::Tuple(_) | Type::Record(_));
        if wanted_rank > 0 && self.table.peel(ty).0 > 0 && !of_parts {
            // The elements of a literal are scalars where rows are wanted.
            return self.report_site(position, &SiteError::TooFewAxes(index));
        }
        let open = |ty: &Type| match ty {
            Type::Var(var) => self.table.state(*var).and_then(|open| open.class),
            _ => None,
        };
        let (items, item) = match &found_head {
            Type::Seq(item) => (true, self.table.peel(item).1),
            head => (false, head.clone()),
        };
        let of_items = items && open(&item).is_none();
        let is_known = match &wanted_head {
            Type::Scalar(_) => !of_parts,
            Type::Seq(_) => !of_items,
            _ => false,
        };
        if is_known {
            // The class is that of a literal argument, or of its elements.
            let wanted = &site.params[index];
            let (found, needed) = (self.show(&arg.ty), self.show(wanted));
            let diagnostic = Diagnostic::error(
                "E0303",
                format!("{name} needs {needed}, but this is {found}"),
                arg.span,
                format!("this is {found}"),
            );
            let is_float = match &wanted_head {
                Type::Scalar(scalar) => class == Class::FLOAT && scalar.is_int(),
                _ => false,
            };
            let help = match is_float && wanted_rank == 0 && is_operator(&site.function) {
                true => Some(convert_other(ScalarType::F64, &site.function)),
                false => self.sequence_help(&arg.ty, wanted),
            };
            return self.report(match help {
                Some(help) => diagnostic.help(help),
                None => diagnostic,
            });
        }
        if let (Type::Tuple(_), 0) = (&wanted_head, wanted_rank)
            && !of_parts
        {
            return self.argument_mismatch(position, site, index);
        }
        // Of two classes that have nothing in common the parameter's is the one that is needed,
        // whichever of them was held against the other.
        let (class, found_type) = match (ty, open(&wanted_head), open(&found_head)) {
            (Type::Var(_), Some(wanted), Some(_)) => (wanted, &found_head),
            _ => (class, ty),
        };
        let (found, words) = (self.show(found_type), class_words(class));
        // Without arithmetic are tuples themselves; what else has a class, as an order, has it by its parts.
        let whole = self.table.resolve(found_type);
        let is_whole = matches!(whole, Type::Tuple(_) | Type::Record(_));
        let what = match (of_parts, of_items) {
            (true, _) if is_whole && self.table.peel(&arg.ty).0 > 0 => "an element of this",
            (true, _) if is_whole => "this",
            (true, _) => "a part of this",
            (_, true) => "an item of this",
            _ => "this",
        };
        // It takes any elements: those that do not fit are given to what is passed.
        let name = match &*site.function {
            "stencil" => "the function that `stencil` is given".to_owned(),
            _ => name,
        };
        let diagnostic = Diagnostic::error(
            "E0303",
            format!("{name} needs {words}, but {what} is {found}"),
            arg.span,
            format!("this is {}", self.show(&arg.ty)),
        );
        let (_, head) = self.table.peel(found_type);
        let is_float = match &head {
            Type::Scalar(scalar) => scalar.is_float(),
            other => open(other) == Some(Class::FLOAT),
        };
        let help = match &*site.function {
            "/" => Some("`/` divides floats: `f64 a / f64 b`; integers divide with `//` or `quot`"),
            "+" if head == Type::Scalar(ScalarType::Char) => {
                Some("texts, as all arrays, are joined with `++`")
            }
            _ if of_parts && self.is_text(found_type) => Some(TEXTS_AS_KEYS),
            _ if matches!(head, Type::Seq(_)) => Some(CONSUMERS),
            // An array in a tuple is no number that lacks a conversion.
            _ if of_parts && self.table.peel(found_type).0 > 0 => None,
            _ if class == Class::FLOAT => Some("convert it with `f64 …` or `f32 …`"),
            _ if class == Class::INT && is_float => Some(TO_INTEGER),
            function => of_flags(function, &head),
        };
        let parts = of_complex(&site.function, &whole).or_else(|| parts_of(&whole));
        let parts = parts.filter(|_| class != Class::EQ);
        let diagnostic = match (parts, help) {
            (Some(help), _) => diagnostic.help(help),
            (None, Some(help)) => diagnostic.help(help),
            (None, None) => diagnostic,
        };
        let diagnostic = self.with_mapped_parts(diagnostic, position, site);
        let diagnostic = self.with_sequential(diagnostic, site, index);
        self.report(diagnostic);
    }

    /// An argument whose type differs from what the function, or an earlier argument, needs.
    fn argument_mismatch(&mut self, position: usize, site: &Site, index: usize) {
        let arg = &site.args[index];
        let wanted = &site.params[index];
        // Extra axes are no fault: they would be mapped.
        let extra = self.table.peel(&arg.ty).0.saturating_sub(self.table.peel(wanted).0);
        let found_type = self.table.strip(&arg.ty, extra);
        let (found, wanted_text) = (self.show(&arg.ty), self.show(wanted));
        let name = quoted(&site.function);
        // The type of an index depends on no other argument.
        let is_index = site.definition.is_none()
            && match &*site.function {
                "index" => index > 0,
                "with" => index > 0 && index + 1 < site.args.len(),
                _ => false,
            };
        // The argument that fixed the type, if an earlier one has the same element type.
        let (_, wanted_head) = self.table.peel(wanted);
        let partner = site.args.iter().enumerate().find(|(other, arg)| {
            *other != index
                && !is_index
                && arg.mapped.is_some()
                && self.table.resolve(&self.table.peel(&arg.ty).1)
                    == self.table.resolve(&wanted_head)
        });
        let mut diagnostic = Diagnostic::error(
            "E0302",
            match partner {
                Some(_) => format!("the arguments of {name} have different types"),
                None => format!("{name} needs {wanted_text}, but this is {found}"),
            },
            arg.span,
            format!("this is {found}"),
        );
        diagnostic = match partner {
            Some((_, other)) => {
                let text = self.show(&other.ty);
                diagnostic.label(other.span, format!("this is {text}"))
            }
            None if site.function_span != site.span => {
                diagnostic.label(site.function_span, format!("needs {wanted_text}"))
            }
            None => diagnostic,
        };
        let diagnostic = match (self.table.peel(&found_type).1, &wanted_head, partner) {
            // What is true of an element says where it is, in other languages.
            (Type::Scalar(ScalarType::Bool), _, _)
                if is_index && site.function == "with" && extra > 0 =>
            {
                diagnostic.help(
                    "where a condition holds another value is chosen: `select (x > 0) v x` in the place of \
                     `(x with [x > 0] = v)`",
                )
            }
            (_, Type::Seq(_), _) => match self.sequence_help(&arg.ty, wanted) {
                Some(help) => diagnostic.help(help),
                None => diagnostic,
            },
            (Type::Scalar(from), Type::Scalar(to), Some(_)) if from.is_float() && to.is_int() => {
                diagnostic.help(convert_other(from, &site.function))
            }
            (Type::Tuple(_), Type::Var(_), None)
                if site.args.len() == 1 && site.function != UNNAMED =>
            {
                match self.table.shallow(&site.returns) {
                    Type::Function(..) | Type::Var(_) => diagnostic.help(format!(
                        "arguments stand one after the other, without commas: `{} xs ys`",
                        site.function
                    )),
                    _ => diagnostic.help(format!("`{}` takes one argument", site.function)),
                }
            }
            _ => self.with_fix(diagnostic, &found_type, wanted),
        };
        let diagnostic = self.with_mapped_parameter(diagnostic, position, site);
        let diagnostic = self.with_sequential(diagnostic, site, index);
        self.report(diagnostic);
    }

    /// `m + v`: two arguments with different numbers of extra axes.
    fn unequal_axes(&mut self, position: usize, site: &Site, first: usize, second: usize) {
        let name = quoted(&site.function);
        let texts: Vec<String> = site.args.iter().map(|arg| self.show(&arg.ty)).collect();
        let mut diagnostic = Diagnostic::error(
            "E0305",
            format!("the arguments of {name} have different numbers of extra axes"),
            site.args[second].span,
            format!("this is {}", texts[second]),
        );
        if first != second {
            diagnostic =
                diagnostic.label(site.args[first].span, format!("this is {}", texts[first]));
        }
        let ranks: Vec<usize> = site.args.iter().map(|arg| self.table.peel(&arg.ty).0).collect();
        let operator = is_operator(&site.function);
        let are_texts = site
            .args
            .iter()
            .all(|arg| matches!(self.table.peel(&arg.ty).1, Type::Scalar(ScalarType::Char)));
        diagnostic = match (&ranks[..], operator) {
            ([_, _], true) if are_texts && site.function == "==" => {
                diagnostic.help("whole texts are compared by `same a b`")
            }
            ([_, _], true) if are_texts && site.function == "!=" => {
                diagnostic.help("whole texts are compared by `same a b`: write `!(same a b)`")
            }
            ([2, 1], true) => diagnostic.help(format!(
                "each row and all of the vector: `{{ r {0} v : r in m }}`; each row and its own number: \
                 `{{ r {0} x : r in m ; x in v }}`",
                site.function
            )),
            ([1, 2], true) => diagnostic.help(format!(
                "all of the vector and each row: `{{ v {0} r : r in m }}`; each row and its own number: \
                 `{{ x {0} r : x in v ; r in m }}`",
                site.function
            )),
            _ => diagnostic.help("map over the outer axis yourself: `{ … : row in rows }`"),
        };
        let diagnostic = self.with_mapped_parameter(diagnostic, position, site);
        self.report(diagnostic.note("arguments are mapped together over the same extra axes"));
    }

    pub(in crate::check) fn not_a_function(
        &mut self,
        name: &str,
        function: &Expr,
        ty: &Type,
        span: Span,
        args: &[&ast::Expr],
    ) {
        let found = self.show(ty);
        let what = if name == UNNAMED { "this".to_owned() } else { quoted(name) };
        let mut diagnostic = Diagnostic::error(
            "E0304",
            format!("{what} is no function"),
            function.span,
            format!("this is {found}"),
        )
        .label(span, "and it is applied here");
        diagnostic.labels.truncate(if span == function.span { 1 } else { 2 });
        if let Some(hint) = args.first().and_then(|arg| self.unknown_operator(arg)) {
            diagnostic = diagnostic.help(hint);
        } else if builtins::lookup(name).is_some()
            && matches!(function.kind, ExprKind::Value(_) | ExprKind::Local(..))
        {
            diagnostic = diagnostic.help(match function.kind {
                ExprKind::Value(_) => {
                    format!("this name hides the builtin function; `:free {name}` brings that back")
                }
                _ => "this name hides the builtin function: choose another one".to_owned(),
            });
        } else if self.table.peel(ty).0 > 0 {
            diagnostic = diagnostic.help("an element is `xs[i]`, without a space before `[`");
        } else if args.first().is_some_and(|arg| is_signed(arg)) {
            diagnostic = diagnostic.help(SIGN);
        }
        self.report(diagnostic);
    }

    pub(in crate::check) fn too_many_arguments(
        &mut self,
        name: &str,
        function: &Expr,
        params: &[Type],
        extra: &[&ast::Expr],
        span: Span,
    ) {
        let takes = params.len();
        let hint = match params {
            [tuple] if matches!(self.table.shallow(tuple), Type::Tuple(parts) if parts.len() == 1 + extra.len()) =>
            {
                let parts = ["x", "y", "z", "…"];
                let parts = parts.get(..=extra.len()).unwrap_or(&parts).join(", ");
                format!(
                    "it takes a tuple: `{} ({parts})`",
                    if name == UNNAMED { "f" } else { name }
                )
            }
            _ if matches!(extra, [ast::Expr { kind: ast::ExprKind::Array(parts), .. }] if parts.len() == 1) =>
            {
                format!("an index stands right behind what it belongs to: `({name} …)[i]`")
            }
            // `xs |> f > 2`
            _ if !name.starts_with(char::is_alphabetic)
                && matches!(extra, [piped] if piped.span.end <= function.span.start) =>
            {
                format!("`|>` hands a value to all that stands behind it: `(xs |> f) {name} y`")
            }
            // `xs[length xs -1]`
            _ if matches!(extra, [last] if is_signed(last)) => SIGN.to_owned(),
            _ => "an argument that is an application stands in parentheses: `f (g x)`".to_owned(),
        };
        let ty = self.show(&function.ty);
        // What a record of many fields is says nothing here.
        let is = match ty.len() > LONGEST_TYPE {
            true => format!("this takes {}", count(takes, "argument", "arguments")),
            false => format!("this is {ty}"),
        };
        let first = extra.first().map_or(span, |arg| arg.span);
        self.report(
            Diagnostic::error(
                "E0304",
                format!(
                    "{} takes {}, but is given {}",
                    quoted(name),
                    count(takes, "argument", "arguments"),
                    takes + extra.len()
                ),
                first,
                "one too many",
            )
            .label(function.span, is)
            .help(hint),
        );
    }

    /// A lambda where a function of so many parameters is needed, which may be none.
    pub(in crate::check) fn too_many_params(&mut self, span: Span, wanted: &Type, given: usize) {
        let text = self.show(wanted);
        if given == 0 {
            let message = format!("this is a function, but its place takes no function: {text}");
            let diagnostic = Diagnostic::error("E0304", message, span, "a lambda");
            return self.report(match self.table.peel(wanted).0 {
                0 => diagnostic,
                _ => diagnostic.help("what it yields for all elements is `map f xs`"),
            });
        }
        let given =
            if given == 1 { "one argument".to_owned() } else { format!("{given} arguments") };
        self.report(Diagnostic::error(
            "E0304",
            format!("this lambda takes more arguments than its place gives, which is {given}"),
            span,
            format!("of {given} it should make {text}"),
        ));
    }
}

/// What to write for a function of two scalars that is applied to one array of so many axes.
fn whole_array(function: &str, rank: usize) -> String {
    let (what, name) = match function {
        "max" => ("the largest element", "maximum"),
        "min" => ("the smallest element", "minimum"),
        "+" => ("the sum", "sum"),
        "*" => ("the product", "product"),
        "&&" => ("whether all are true", "all"),
        "||" => ("whether any is true", "any"),
        _ => return "give it all arguments, or write a lambda".to_owned(),
    };
    match rank {
        1 => format!("{what} is `{name} xs`"),
        2 => format!("{what} of each row is `{name} m`, of all elements `{name} (flatten m)`"),
        _ => format!("{what} of each row is `{name} xs`"),
    }
}

/// What a tuple or a record has in place of arithmetic.
fn parts_of(whole: &Type) -> Option<String> {
    match whole {
        Type::Tuple(parts) => parts.len().checked_sub(1).map(|last| {
            let names = ["x", "y", "z", "u", "v"];
            let apart = names.get(..=last).map_or_else(String::new, |names| {
                format!("; a function that takes it apart is `\\({}) -> …`", names.join(", "))
            });
            format!(
                "a tuple is no number, but its parts may be, which are `.0` to `.{last}`{apart}"
            )
        }),
        Type::Record(fields) => {
            let names: Vec<String> =
                fields.iter().take(4).map(|(name, _)| format!("`.{name}`")).collect();
            let more = if fields.len() > names.len() { ", …" } else { "" };
            let names = names.join(", ");
            Some(format!("a record is no number, but its fields may be: {names}{more}"))
        }
        _ => None,
    }
}

fn is_operator(name: &str) -> bool {
    !name.starts_with(char::is_alphabetic)
}

fn quoted(name: &str) -> String {
    match name {
        UNNAMED => name.to_owned(),
        "index" => "an index".to_owned(),
        "with" => "`with`".to_owned(),
        _ => format!("`{name}`"),
    }
}
