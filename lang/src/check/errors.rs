//! What the checker reports: the places that disagree, their types, and a way out.

use weft_ir::{Name, Span};

use super::Checker;
use super::rank::SiteError;
use super::unify::Clash;
use crate::ast;
use crate::builtins;
use crate::diagnostic::Diagnostic;
use crate::suggest;
use crate::typed::Expr;
use crate::types::{Class, Type, TypeVar, variable_name};

impl Checker<'_> {
    pub(super) fn report(&mut self, diagnostic: Diagnostic) {
        self.errors += 1;
        self.diagnostics.push(diagnostic);
    }

    /// A type for messages: literals whose type is open are "a number".
    pub(super) fn show(&self, ty: &Type) -> String {
        let (rank, head) = self.table.peel(ty);
        let axes = "[]".repeat(rank);
        if let Type::Var(var) = &head {
            if let Some(class) = self.table.state(*var).and_then(|open| open.class) {
                let kind = match class {
                    Class::NUM => "number",
                    Class::FLOAT => "float",
                    Class::INT => "integer",
                    _ => "scalar",
                };
                return if rank == 0 { format!("a {kind}") } else { format!("{axes}{kind}") };
            }
        }
        let resolved = self.table.resolve(ty);
        let mut vars = Vec::new();
        rename(&resolved, &mut vars)
    }

    pub(super) fn unknown_name(&mut self, name: &Name, span: Span) {
        let locals = self.scope.keys().map(|name| &**name);
        let globals = self.environment.names().map(|(name, _)| &**name);
        let table = builtins::all().map(|entry| entry.name);
        let mut candidates: Vec<&str> = locals.chain(globals).chain(table).collect();
        candidates.sort_unstable();
        let mut diagnostic =
            Diagnostic::error("E0201", format!("there is no `{name}`"), span, "unknown name");
        let foreign = match &**name {
            "len" => Some("the length of an array is `length`"),
            "arange" => Some("`iota n` counts from 0; `a..b` and `range` do the rest"),
            "reduce" | "foldl" | "foldr" | "accumulate" => Some("the reduction is `fold op z xs`"),
            "cumsum" => Some("running sums are `scanl1 (+) xs`"),
            "zeros" => Some("write `replicate n 0` or `fill (h, w) 0.0`"),
            "ones" => Some("write `replicate n 1`"),
            "where" => Some("write `select condition a b`, or `filter` to keep elements"),
            "print" => Some("a bare expression is shown"),
            "float" => Some("conversions are named after the type: `f64 x`, `f32 x`"),
            "int" => Some("conversions are named after the type: `i64 x`"),
            "and" => Some("write `a && b`"),
            "or" => Some("write `a || b`"),
            "mod" => Some("write `a % b`"),
            "fst" => Some("write `p.0`"),
            "snd" => Some("write `p.1`"),
            "foreach" | "vmap" => Some("use `map f xs` or `{ f x : x in xs }`"),
            _ => None,
        };
        diagnostic = match (foreign, suggest::closest(name, candidates.into_iter())) {
            (Some(hint), _) => diagnostic.help(hint),
            (None, Some(close)) => diagnostic.help(format!("did you mean `{close}`?")),
            (None, None) => diagnostic,
        };
        self.report(diagnostic);
    }

    /// Two types that should be equal: that of an expression, and what its place needs.
    pub(super) fn mismatch(
        &mut self,
        span: Span,
        found: &Type,
        wanted: &Type,
        clash: &Clash,
        place: Span,
        what: &str,
    ) {
        if self.special_clash(clash, span) {
            return;
        }
        let (found_text, wanted_text) = (self.show(found), self.show(wanted));
        let mut diagnostic = Diagnostic::error(
            "E0301",
            format!("{what} needs {wanted_text}, but this is {found_text}"),
            span,
            format!("this is {found_text}"),
        );
        if place != span && !(place.start <= span.start && span.end <= place.end) {
            diagnostic = diagnostic.label(place, format!("needs {wanted_text}"));
        }
        diagnostic = self.with_fix(diagnostic, found, wanted);
        self.report(diagnostic);
    }

    /// Clashes that have nothing to do with the place.
    fn special_clash(&mut self, clash: &Clash, span: Span) -> bool {
        match clash {
            Clash::Different => false,
            Clash::Class(..) | Clash::Infinite | Clash::TooLarge => {
                self.clash_report(clash, span);
                true
            }
        }
    }

    pub(super) fn clash_report(&mut self, clash: &Clash, span: Span) {
        if matches!(clash, Clash::TooLarge) && self.errors > 0 {
            // A type that has become too large once is too large in many places.
            self.poisoned = true;
            return;
        }
        let diagnostic = match clash {
            Clash::Different => {
                Diagnostic::error("E0301", "these types do not agree", span, "here")
            }
            Clash::Class(class, ty) => {
                let found = self.show(ty);
                let wanted = class_words(*class);
                Diagnostic::error(
                    "E0303",
                    format!("this needs {wanted}, but it is {found}"),
                    span,
                    format!("this is {found}"),
                )
            }
            Clash::Infinite => Diagnostic::error(
                "E0312",
                "this would need a type that contains itself",
                span,
                "no finite type fits",
            ),
            Clash::TooLarge => Diagnostic::error(
                "E0315",
                format!("this type has more than {} parts", super::unify::MAX_TYPE_SIZE),
                span,
                "the type becomes too large here",
            )
            .help("a `let` that pairs a value with itself doubles the type; use an array instead"),
        };
        self.report(diagnostic);
    }

    /// Adds the fix for a pair of types, where there is a usual one.
    fn with_fix(&self, diagnostic: Diagnostic, found: &Type, wanted: &Type) -> Diagnostic {
        let (found_rank, found_head) = self.table.peel(found);
        let (wanted_rank, wanted_head) = self.table.peel(wanted);
        match (&found_head, &wanted_head) {
            (Type::Scalar(from), Type::Scalar(to)) if from != to && found_rank == wanted_rank => {
                diagnostic.help(format!("convert it with `{to} …`: nothing is converted implicitly"))
            }
            (Type::Window(..), Type::Array(_) | Type::Var(_))
            | (Type::Array(_) | Type::Var(_), Type::Window(..)) => diagnostic
                .help("a function that reads a window says so: `\\(w : window2 f32) -> …`"),
            _ if found_rank > wanted_rank && wanted_rank == 0 => diagnostic
                .help("an array stands where one value is needed; reduce it, or map over it"),
            _ => diagnostic,
        }
    }

    pub(super) fn report_site(&mut self, position: usize, error: &SiteError) {
        let site = self.sites[position].clone();
        let name = quoted(&site.function);
        match error {
            SiteError::Argument(index, clash) => {
                let arg = &site.args[*index];
                if let Clash::Class(class, ty) = clash {
                    let (found, words) = (self.show(ty), class_words(*class));
                    let mut diagnostic = Diagnostic::error(
                        "E0303",
                        format!("{name} needs {words}, but this is {found}"),
                        arg.span,
                        format!("this is {}", self.show(&arg.ty)),
                    );
                    if site.function == "/" {
                        diagnostic = diagnostic
                            .help("`/` divides floats; integers divide with `//` or `quot`");
                    } else if *class == Class::FLOAT {
                        diagnostic = diagnostic.help("convert it with `f64 …` or `f32 …`");
                    }
                    self.report(diagnostic);
                    return;
                }
                if self.special_clash(clash, arg.span) {
                    return;
                }
                if *index == 0 && matches!(&*site.function, "index" | "with") {
                    // The array takes any element type: only its axes can be too few.
                    return self.report_site(position, &SiteError::TooFewAxes(0));
                }
                self.argument_mismatch(&site, *index);
            }
            SiteError::TooFewAxes(index) => {
                let arg = &site.args[*index];
                let (found, wanted) = (self.show(&arg.ty), self.show(&site.params[*index]));
                let fixed = if site.function == "with" { 2 } else { 1 };
                let indices = site.args.len() - fixed;
                let diagnostic = if matches!(&*site.function, "index" | "with") && *index == 0 {
                    Diagnostic::error(
                        "E0307",
                        format!("{} here, but the value is {found}", count(indices, "index", "indices")),
                        site.span,
                        "too many indices",
                    )
                    .label(arg.span, format!("this is {found}"))
                } else {
                    Diagnostic::error(
                        "E0307",
                        format!("{name} needs {wanted} here, but this is {found}"),
                        arg.span,
                        format!("this is {found}"),
                    )
                };
                self.report(diagnostic);
            }
            SiteError::UnequalAxes(first, second) => self.unequal_axes(&site, *first, *second),
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
                let diagnostic = self.with_fix(diagnostic, &own, &site.result);
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
                    .help("give it all arguments, or write a lambda"),
                );
            }
        }
    }

    /// An argument whose type differs from what the function, or an earlier argument, needs.
    fn argument_mismatch(&mut self, site: &super::Site, index: usize) {
        let arg = &site.args[index];
        let depth = if arg.mapped == Some(true) { site.depth.unwrap_or(0) } else { 0 };
        let wanted = &site.params[index];
        let found_type = self.table.strip(&arg.ty, depth);
        let (found, wanted_text) = (self.show(&arg.ty), self.show(wanted));
        let name = quoted(&site.function);
        // The argument that fixed the type, if an earlier one has the same element type.
        let (_, wanted_head) = self.table.peel(wanted);
        let partner = site.args.iter().enumerate().find(|(other, arg)| {
            *other != index
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
        let diagnostic = self.with_fix(diagnostic, &found_type, wanted);
        self.report(diagnostic);
    }

    /// `m + v`: two arguments with different numbers of extra axes.
    fn unequal_axes(&mut self, site: &super::Site, first: usize, second: usize) {
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
        let ranks: Vec<usize> =
            site.args.iter().map(|arg| self.table.peel(&arg.ty).0).collect();
        let operator = !site.function.chars().next().is_some_and(char::is_alphabetic);
        diagnostic = match (&ranks[..], operator) {
            ([2, 1], true) => {
                diagnostic.help(format!("map over the rows: `{{ r {} v : r in m }}`", site.function))
            }
            ([1, 2], true) => {
                diagnostic.help(format!("map over the rows: `{{ v {} r : r in m }}`", site.function))
            }
            _ => diagnostic.help("map over the outer axis yourself: `{ … : row in rows }`"),
        };
        self.report(diagnostic.note("arguments are mapped together over the same extra axes"));
    }

    pub(super) fn bad_condition(&mut self, condition: &Expr, clash: &Clash) {
        let found = self.show(&condition.ty);
        if self.table.peel(&condition.ty).0 > 0 {
            self.report(
                Diagnostic::error(
                    "E0306",
                    "the condition of an `if` is one bool",
                    condition.span,
                    format!("this is {found}"),
                )
                .help("`select condition a b` chooses element by element; `all` and `any` reduce"),
            );
        } else {
            let span = condition.span;
            self.mismatch(span, &condition.ty.clone(), &Type::BOOL, clash, span, "an `if`");
        }
    }

    pub(super) fn branches_differ(&mut self, then: &Expr, otherwise: &Expr, clash: &Clash) {
        if self.is_broken(then)
            || self.is_broken(otherwise)
            || self.special_clash(clash, otherwise.span)
        {
            return;
        }
        let (a, b) = (self.show(&then.ty), self.show(&otherwise.ty));
        let diagnostic = Diagnostic::error(
            "E0301",
            "the branches of an `if` have different types",
            otherwise.span,
            format!("this is {b}"),
        )
        .label(then.span, format!("this is {a}"));
        let diagnostic = self.with_fix(diagnostic, &otherwise.ty, &then.ty);
        self.report(diagnostic);
    }

    pub(super) fn loop_state_differs(&mut self, init: &Expr, body: &Expr, clash: &Clash) {
        if self.is_broken(init) || self.is_broken(body) || self.special_clash(clash, body.span) {
            return;
        }
        let (a, b) = (self.show(&init.ty), self.show(&body.ty));
        let diagnostic = Diagnostic::error(
            "E0301",
            "a `loop` changes the type of its state",
            body.span,
            format!("the next state is {b}"),
        )
        .label(init.span, format!("the first state is {a}"));
        let diagnostic = self.with_fix(diagnostic, &body.ty, &init.ty);
        self.report(diagnostic);
    }

    pub(super) fn elements_differ(&mut self, before: &[Expr], value: &Expr, clash: &Clash) {
        if self.special_clash(clash, value.span) {
            return;
        }
        let found = self.show(&value.ty);
        let mut diagnostic = Diagnostic::error(
            "E0301",
            "the elements of an array have one type",
            value.span,
            format!("this is {found}"),
        );
        if let Some(first) = before.first() {
            let text = self.show(&first.ty);
            diagnostic = diagnostic.label(first.span, format!("this is {text}"));
            diagnostic = self.with_fix(diagnostic, &value.ty, &first.ty);
        }
        self.report(diagnostic.note("values of different types go together in a tuple, `(a, b)`"));
    }

    pub(super) fn not_a_function(&mut self, name: &str, function: &Expr, ty: &Type, span: Span) {
        let found = self.show(ty);
        let mut diagnostic = Diagnostic::error(
            "E0304",
            format!("{} is no function", quoted(name)),
            function.span,
            format!("this is {found}"),
        )
        .label(span, "and it is applied here");
        diagnostic.labels.truncate(if span == function.span { 1 } else { 2 });
        if self.table.peel(ty).0 > 0 {
            diagnostic = diagnostic.help("an element is `xs[i]`, without a space before `[`");
        }
        self.report(diagnostic);
    }

    pub(super) fn too_many_arguments(
        &mut self,
        name: &str,
        function: &Expr,
        takes: usize,
        extra: &[&ast::Expr],
        span: Span,
    ) {
        let ty = self.show(&function.ty);
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
            .label(function.span, format!("this is {ty}"))
            .help("an argument that is an application stands in parentheses: `f (g x)`"),
        );
    }

    pub(super) fn too_many_params(&mut self, span: Span, wanted: &Type) {
        let text = self.show(wanted);
        self.report(Diagnostic::error(
            "E0304",
            "this lambda takes more arguments than its place gives",
            span,
            format!("after its first arguments it should yield {text}"),
        ));
    }

    pub(super) fn too_few_axes(&mut self, array: &Expr, axes: usize, clash: &Clash) {
        if self.special_clash(clash, array.span) {
            return;
        }
        let found = self.show(&array.ty);
        self.report(Diagnostic::error(
            "E0307",
            format!("{} here, but the value is {found}", count(axes, "index", "indices")),
            array.span,
            format!("this is {found}"),
        ));
    }

    pub(super) fn not_an_array(&mut self, array: &Expr, what: &str, clash: &Clash) {
        if self.special_clash(clash, array.span) {
            return;
        }
        let found = self.show(&array.ty);
        self.report(
            Diagnostic::error(
                "E0301",
                format!("{what} an array, but this is {found}"),
                array.span,
                format!("this is {found}"),
            )
            .help("`iota n` gives the numbers from 0 to n - 1"),
        );
    }

    pub(super) fn not_a_record(&mut self, record: &Expr, ty: &Type) {
        let found = self.show(ty);
        let diagnostic = if matches!(ty, Type::Var(_)) {
            Diagnostic::error(
                "E0310",
                "the type of this record is not known here",
                record.span,
                "annotate it: `(r : type)`",
            )
        } else {
            Diagnostic::error("E0301", "this is no record", record.span, format!("it is {found}"))
        };
        self.report(diagnostic);
    }

    pub(super) fn no_such_field(&mut self, field: &ast::Ident, ty: &Type, record: Span) {
        let found = self.show(ty);
        let mut diagnostic = Diagnostic::error(
            "E0308",
            format!("{found} has no field `{}`", field.name),
            field.span,
            "no such field",
        )
        .label(record, format!("this is {found}"));
        if let Type::Record(fields) = ty {
            let names = fields.iter().map(|(name, _)| &**name);
            if let Some(close) = suggest::closest(&field.name, names) {
                diagnostic = diagnostic.help(format!("did you mean `{close}`?"));
            }
        }
        self.report(diagnostic);
    }

    pub(super) fn open_record(&mut self, position: usize) {
        // An earlier error may be why nothing is known.
        if self.errors > 0 || self.poisoned {
            return;
        }
        let field = self.fields[position].field.clone();
        let span = self.fields[position].record_span;
        let example = if field.name.parse::<usize>().is_ok() {
            "annotate it, as in `\\(p : (f64, f64)) -> …`, or take it apart: `\\(x, y) -> …`"
        } else {
            "annotate it, as in `\\(p : {x: f64, y: f64}) -> …`"
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

    pub(super) fn not_an_index(&mut self, span: Span, found: &Type) {
        let text = self.show(found);
        self.report(
            Diagnostic::error(
                "E0301",
                format!("a shape or index is an i64 or a tuple of them, not {text}"),
                span,
                "needed here",
            )
            .help("write `n`, `(h, w)` or `(d, h, w)`"),
        );
    }

    pub(super) fn ranked_differs(&mut self, span: Span, array: &Type, rank: usize, clash: &Clash) {
        if self.special_clash(clash, span) {
            return;
        }
        let found = self.show(array);
        self.report(Diagnostic::error(
            "E0301",
            format!("this needs an array of rank {rank}, but it is {found}"),
            span,
            "needed here",
        ));
    }

    pub(super) fn window_rank_differs(
        &mut self,
        window: &Expr,
        index: &Type,
        axes: usize,
        span: Span,
    ) {
        let rank = match self.table.shallow(index) {
            Type::Tuple(parts) => parts.len(),
            _ => 1,
        };
        self.report(
            Diagnostic::error(
                "E0311",
                format!("this window has rank {rank}, but is read with {axes} offsets"),
                span,
                "the number of offsets is the rank of the stencil",
            )
            .label(window.span, format!("a window of rank {rank}")),
        );
    }
}

/// The type with its variables named `a`, `b`, … in order of appearance.
fn rename(ty: &Type, vars: &mut Vec<TypeVar>) -> String {
    fn walk(ty: &Type, vars: &mut Vec<TypeVar>) -> Type {
        match ty {
            Type::Var(var) => {
                let position = vars.iter().position(|other| other == var).unwrap_or_else(|| {
                    vars.push(*var);
                    vars.len() - 1
                });
                Type::Var(TypeVar(position as u32))
            }
            Type::Scalar(scalar) => Type::Scalar(*scalar),
            Type::Tuple(parts) => Type::Tuple(parts.iter().map(|part| walk(part, vars)).collect()),
            Type::Record(fields) => Type::Record(
                fields.iter().map(|(name, ty)| (name.clone(), walk(ty, vars))).collect(),
            ),
            Type::Array(element) => Type::array(walk(element, vars)),
            Type::Function(a, b) => Type::function(walk(a, vars), walk(b, vars)),
            Type::Window(a, b) => Type::Window(walk(a, vars).into(), walk(b, vars).into()),
            Type::Boundary(a, b) => Type::Boundary(walk(a, vars).into(), walk(b, vars).into()),
        }
    }
    let text = match ty {
        Type::Var(_) => variable_name(0),
        other => walk(other, vars).to_string(),
    };
    if text.len() <= 200 {
        return text;
    }
    let mut end = 200;
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    format!("{}…", &text[..end])
}

fn class_words(class: Class) -> &'static str {
    match class {
        Class::NUM => "a number",
        Class::INT => "an integer",
        Class::FLOAT => "a float (f32 or f64)",
        Class::SCALAR => "a scalar",
        Class::EQ => "a scalar or a tuple of scalars",
        _ => "another type",
    }
}

fn quoted(name: &str) -> String {
    match name {
        "this function" => name.to_owned(),
        "index" => "an index".to_owned(),
        "with" => "`with`".to_owned(),
        _ => format!("`{name}`"),
    }
}

fn count(number: usize, one: &str, many: &str) -> String {
    if number == 1 { format!("1 {one}") } else { format!("{number} {many}") }
}
