//! What the checker reports: the places that disagree, their types, and a way out.

mod application;
mod field;
mod habit;
mod many;
mod mapped;
mod name;
mod operator;
mod replaced;

use habit::text_comparison;

pub(super) use habit::foreign_type;
pub(super) use name::OF_THE_FILE;

use weft_ir::{ScalarType, Span};

use super::Checker;
use super::unify::Clash;
use crate::diagnostic::Diagnostic;
use crate::typed::Expr;
use crate::types::{Class, Type, TypeVar, variable_name};

/// Messages do not write out records of more fields.
const MOST_FIELDS: usize = 4;

/// Longer types of functions are not written out where there is none.
const LONG_TYPE: usize = 24;

/// What to do with texts where scalars are sorted or grouped.
const TEXTS_AS_KEYS: &str = "a text is an array of letters; texts are sorted and grouped by their \
                             numbers: `(numbers, distinct) = codes texts`";

impl Checker<'_> {
    /// A type for messages: literals whose type is open are "a number".
    pub(super) fn show(&self, ty: &Type) -> String {
        let (rank, head) = self.table.peel(ty);
        let axes = "[]".repeat(rank);
        if let Type::Var(var) = &head
            && let Some(class) = self.table.state(*var).and_then(|open| open.class)
        {
            let kind = match class_word(class) {
                "scalar" if rank == 0 && class.has_tuples() => "scalar or a tuple of scalars",
                word => word,
            };
            let article = if class == Class::INT { "an" } else { "a" };
            return if rank == 0 { format!("{article} {kind}") } else { format!("{axes}{kind}") };
        }
        if let Type::Record(fields) = &head
            && fields.len() > MOST_FIELDS
        {
            return match rank {
                0 => format!("a record of {} fields", fields.len()),
                1 => format!("an array of records of {} fields", fields.len()),
                _ => format!("{axes}record of {} fields", fields.len()),
            };
        }
        if let Type::Seq(item) = &head {
            let items = self.show(&Type::array((**item).clone()));
            let of_records = items.strip_prefix("an array").map(|of| format!("a sequence{of}"));
            return match items.strip_prefix("[]") {
                Some(item) => format!("{axes}seq {item}"),
                None => of_records.unwrap_or(items),
            };
        }
        let resolved = self.table.resolve(ty);
        if let Some(text) = self.parts_in_words(&resolved) {
            return shortened(text);
        }
        let mut vars = Vec::new();
        rename(&resolved, &mut vars)
    }

    /// A record, or the like, whose parts that are open are all literals.
    fn parts_in_words(&self, ty: &Type) -> Option<String> {
        Some(match ty {
            Type::Var(var) => class_word(self.table.state(*var)?.class?).to_owned(),
            Type::Scalar(scalar) => scalar.to_string(),
            Type::Array(element) => format!("[]{}", self.parts_in_words(element)?),
            Type::Tuple(parts) => {
                let parts: Option<Vec<String>> =
                    parts.iter().map(|part| self.parts_in_words(part)).collect();
                format!("({})", parts?.join(", "))
            }
            Type::Record(fields) => {
                let field =
                    |(name, ty): &(_, Type)| Some(format!("{name}: {}", self.parts_in_words(ty)?));
                let fields: Option<Vec<String>> = fields.iter().map(field).collect();
                format!("{{{}}}", fields?.join(", "))
            }
            Type::Function(..) | Type::Seq(_) | Type::Window(..) | Type::Boundary(..) => {
                return None;
            }
        })
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
        if let Clash::Infinite = clash {
            let [found, wanted] = [found, wanted].map(|ty| self.show(ty));
            let mut diagnostic = self.contains_itself(span, format!("this is {found}"));
            if !place.contains(span) {
                diagnostic = diagnostic.label(place, format!("needs {wanted}"));
            }
            return self
                .report(diagnostic.note(format!("{what} needs {wanted}, and this is {found}")));
        }
        if self.special_clash(clash, span) {
            return;
        }
        let (found_text, mut wanted_text) = (self.show(found), self.show(wanted));
        let is_function = |ty: &Type| matches!(self.table.shallow(ty), Type::Function(..));
        if is_function(wanted) && !is_function(found) && wanted_text.len() > LONG_TYPE {
            // Which one does not matter here.
            wanted_text = "a function".to_owned();
        }
        let mut diagnostic = Diagnostic::error(
            code_of(clash),
            format!("{what} needs {wanted_text}, but this is {found_text}"),
            span,
            format!("this is {found_text}"),
        );
        if !place.contains(span) {
            diagnostic = diagnostic.label(place, format!("needs {wanted_text}"));
        }
        diagnostic = self.with_fix(diagnostic, found, wanted);
        self.report(diagnostic);
    }

    fn is_text(&self, ty: &Type) -> bool {
        let (rank, head) = self.table.peel(ty);
        rank > 0 && head == Type::Scalar(ScalarType::Char)
    }

    /// Clashes that have nothing to do with the place.
    fn special_clash(&mut self, clash: &Clash, span: Span) -> bool {
        match clash {
            Clash::Different | Clash::Class(..) => false,
            Clash::Infinite | Clash::TooLarge => {
                self.clash_report(clash, span);
                true
            }
        }
    }

    fn contains_itself(&self, span: Span, label: String) -> Diagnostic {
        Diagnostic::error("E0312", "this would need a type that contains itself", span, label).help(
            "a `loop` yields a state of the type of its first one, and the operator of a `fold` \
             what it takes on its left",
        )
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
            Clash::Infinite => self.contains_itself(span, "no finite type fits".to_owned()),
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

    /// What there is to say about a window where an array is needed.
    fn window_help(&self, found: &Type) -> Option<String> {
        let help = "a window is no array: it is read at constant offsets, as `w[0]` and `w[-1]`, or `w[-1, 0]` in a matrix; \
                    sums with weights are `convolve clamp weights xs`";
        matches!(self.table.peel(found).1, Type::Window(..)).then(|| help.to_owned())
    }

    /// Adds the fix for a pair of types, where there is a usual one.
    fn with_fix(&self, diagnostic: Diagnostic, found: &Type, wanted: &Type) -> Diagnostic {
        let (found_rank, found_head) = self.table.peel(found);
        let (wanted_rank, wanted_head) = self.table.peel(wanted);
        let of_table = || self.table_help(found).filter(|_| wanted_rank > 0);
        let of_window = || self.window_help(found).filter(|_| wanted_rank > 0);
        let help = self.sequence_help(found, wanted).or_else(of_window);
        if let Some(help) = help.or_else(of_table) {
            return diagnostic.help(help);
        }
        if let Some(help) = self.other_order(&found_head, &wanted_head) {
            return diagnostic.help(help);
        }
        if found_rank == wanted_rank
            && let Some(help) = self.more_fields(&found_head, &wanted_head, found_rank)
        {
            return diagnostic.help(help);
        }
        match (&found_head, &wanted_head) {
            (Type::Tuple(parts), Type::Var(_)) if parts.iter().any(|part| self.is_text(part)) => {
                diagnostic.help(TEXTS_AS_KEYS)
            }
            // A text where flags are wanted is another argument, not another type.
            (Type::Scalar(ScalarType::Char), Type::Scalar(ScalarType::Bool)) => diagnostic,
            (Type::Scalar(from), Type::Scalar(to)) if from != to && found_rank == wanted_rank => {
                diagnostic
                    .help(format!("convert it with `{to} …`: nothing is converted implicitly"))
            }
            (Type::Window(..), Type::Var(_))
            | (Type::Array(_) | Type::Var(_), Type::Window(..)) => diagnostic
                .help("a function that reads a window says so: `\\(w : window2 f32) -> …`"),
            (Type::Tuple(_), Type::Function(..)) => diagnostic
                .help("arguments stand one after the other, without commas: `map sqrt xs`"),
            (Type::Scalar(ScalarType::Char), Type::Var(_)) if found_rank > wanted_rank => {
                diagnostic.help(TEXTS_AS_KEYS)
            }
            (Type::Scalar(ScalarType::Char), Type::Tuple(names)) if found_rank > 1 => {
                diagnostic.help(taken_apart(names.len()))
            }
            (Type::Scalar(ScalarType::Char), _) => diagnostic,
            (Type::Scalar(ScalarType::Bool), Type::Scalar(ScalarType::Bool))
                if found_rank > wanted_rank =>
            {
                diagnostic.help(
                    "`all` and `any` make one bool of many; whole texts are compared by `same a b`",
                )
            }
            (Type::Tuple(parts), Type::Tuple(names))
                if (found_rank, wanted_rank) == (1, 0)
                    && parts.len() == names.len()
                    && matches!(parts.len(), 2 | 3) =>
            {
                let (unzip, each) =
                    if parts.len() == 2 { ("unzip", "(a, b)") } else { ("unzip3", "(a, b, c)") };
                diagnostic.help(format!(
                    "`{unzip} xs` is a tuple of arrays; for each of the tuples goes `{{ … : {each} in xs }}`"
                ))
            }
            (_, Type::Tuple(names)) if found_rank > 0 && wanted_rank == 0 => {
                diagnostic.help(taken_apart(names.len()))
            }
            _ if found_rank > wanted_rank && wanted_rank == 0 => diagnostic
                .help("an array stands where one value is needed; reduce it, or map over it"),
            _ => diagnostic,
        }
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
                .help(text_comparison(condition).unwrap_or_else(|| {
                    let reduced =
                        "`select condition a b` chooses element by element; `all` and `any` reduce";
                    self.array_comparison(condition).unwrap_or(reduced).to_owned()
                })),
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
            code_of(clash),
            "the branches of an `if` have different types",
            otherwise.span,
            format!("this is {b}"),
        )
        .label(then.span, format!("this is {a}"));
        if self.is_text(&otherwise.ty) != self.is_text(&then.ty) {
            let help =
                "both are texts or none: `showInt n` and `showFixed 2 x` write a number as text";
            return self.report(diagnostic.help(help));
        }
        let diagnostic = self.with_fix(diagnostic, &otherwise.ty, &then.ty);
        self.report(diagnostic);
    }

    pub(super) fn loop_state_differs(&mut self, init: &Expr, body: &Expr, clash: &Clash) {
        if self.is_broken(init) || self.is_broken(body) {
            return;
        }
        if matches!(clash, Clash::TooLarge) {
            return self.clash_report(clash, body.span);
        }
        let (a, b) = (self.show(&init.ty), self.show(&body.ty));
        let diagnostic = Diagnostic::error(
            if matches!(clash, Clash::Infinite) { "E0312" } else { code_of(clash) },
            "a `loop` changes the type of its state",
            body.span,
            format!("the next state is {b}"),
        )
        .label(init.span, format!("the first state is {a}"));
        let parts = |ty: &Type| match self.table.shallow(ty) {
            Type::Tuple(parts) => Some(parts.len()),
            _ => None,
        };
        if let (Some(parts), None) = (parts(&init.ty), parts(&body.ty)) {
            return self.report(diagnostic.help(format!(
                "the body yields all {parts} parts of the next state, as a tuple: `loop (a, b) = (x, y) for … do (a + b, b)`"
            )));
        }
        let diagnostic = self.with_fix(diagnostic, &body.ty, &init.ty);
        let diagnostic = self.with_mapped_application(diagnostic, body);
        self.report(diagnostic);
    }

    pub(super) fn elements_differ(&mut self, before: &[Expr], value: &Expr, clash: &Clash) {
        if self.special_clash(clash, value.span) {
            return;
        }
        let found = self.show(&value.ty);
        let mut diagnostic = Diagnostic::error(
            code_of(clash),
            "the elements of an array have one type",
            value.span,
            format!("this is {found}"),
        );
        if let Some(first) = before.first() {
            let text = self.show(&first.ty);
            diagnostic = diagnostic.label(first.span, format!("this is {text}"));
            let (first, value) = (self.table.resolve(&first.ty), self.table.resolve(&value.ty));
            if let Some(help) = self.other_order(&value, &first) {
                return self.report(diagnostic.help(help));
            }
            if self.is_text(&value) == self.is_text(&first) {
                diagnostic = self.with_fix(diagnostic, &value, &first);
            }
        }
        self.report(diagnostic.note("values of different types go together in a tuple, `(a, b)`"));
    }

    pub(super) fn too_few_axes(&mut self, array: &Expr, axes: usize, clash: &Clash) {
        if self.special_clash(clash, array.span) {
            return;
        }
        let found = self.show(&array.ty);
        let diagnostic = Diagnostic::error(
            "E0307",
            format!("{} here, but the value is {found}", count(axes, "index", "indices")),
            array.span,
            format!("this is {found}"),
        );
        let of_tuples = || match self.table.peel(&array.ty).1 {
            Type::Tuple(_) => {
                Some("the elements are tuples: their first parts are `xs.0`, an array".to_owned())
            }
            _ => None,
        };
        self.report(match self.table_help(&array.ty).or_else(of_tuples) {
            Some(help) => diagnostic.help(help),
            None => diagnostic,
        });
    }

    pub(super) fn not_an_array(&mut self, array: &Expr, what: &str, clash: &Clash) {
        if self.special_clash(clash, array.span) {
            return;
        }
        let found = self.show(&array.ty);
        let help = self.table_help(&array.ty);
        self.report(
            Diagnostic::error(
                "E0301",
                format!("{what} an array, but this is {found}"),
                array.span,
                format!("this is {found}"),
            )
            .help(help.unwrap_or_else(|| "`iota n` gives the numbers from 0 to n - 1".to_owned())),
        );
    }

    /// The filter of an apply-to-each, which is one bool.
    pub(super) fn bad_filter(&mut self, filter: &Expr, clash: &Clash, place: Span) {
        let Some(help) = text_comparison(filter) else {
            let what = "the filter of an apply-to-each";
            return self.mismatch(filter.span, &filter.ty, &Type::BOOL, clash, place, what);
        };
        let found = self.show(&filter.ty);
        self.report(
            Diagnostic::error(
                "E0301",
                format!("the filter of an apply-to-each needs bool, but this is {found}"),
                filter.span,
                "this compares letter by letter",
            )
            .help(help),
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

    pub(super) fn ranked_differs(
        &mut self,
        span: Span,
        (array, element): (&Type, &Type),
        rank: usize,
        clash: &Clash,
    ) {
        if self.special_clash(clash, span) {
            return;
        }
        let found = self.show(array);
        if let (own, Type::Scalar(from)) = self.table.peel(array)
            && let (0, Type::Scalar(to)) = self.table.peel(element)
            && own == rank
        {
            let wanted = self.show(&Type::arrays(rank, element.clone()));
            return self.report(
                Diagnostic::error(
                    "E0301",
                    format!("this needs {wanted}, but it is {found}"),
                    span,
                    "needed here",
                )
                .help(format!(
                    "the arrays of one operation have one element type: convert this one with `{to} …`, or the \
                     other with `{from} …`"
                )),
            );
        }
        let help = self.table_help(array).unwrap_or_else(|| {
            "the arrays, kernels, indices and shapes of one operation have one rank; to go over the rows \
             of a matrix, write `{ … r : r in m }`"
                .to_owned()
        });
        self.report(
            Diagnostic::error(
                "E0301",
                format!("this needs an array of rank {rank}, but it is {found}"),
                span,
                "needed here",
            )
            .help(help),
        );
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
            Type::Seq(item) => Type::seq(walk(item, vars)),
            Type::Function(a, b) => Type::function(walk(a, vars), walk(b, vars)),
            Type::Window(a, b) => Type::Window(walk(a, vars).into(), walk(b, vars).into()),
            Type::Boundary(a, b) => Type::Boundary(walk(a, vars).into(), walk(b, vars).into()),
        }
    }
    let text = match ty {
        Type::Var(_) => variable_name(0),
        other => walk(other, vars).to_string(),
    };
    shortened(text)
}

/// How messages call what a class has.
fn class_word(class: Class) -> &'static str {
    match class {
        Class::NUM => "number",
        Class::FLOAT => "float",
        Class::INT => "integer",
        _ => "scalar",
    }
}

/// The beginning of a long type.
fn shortened(text: String) -> String {
    if text.len() <= 200 {
        return text;
    }
    let mut end = 200;
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    format!("{}…", &text[..end])
}

/// The code of two types that are not equal, or of a type outside the class that is needed.
fn code_of(clash: &Clash) -> &'static str {
    match clash {
        Clash::Class(..) => "E0303",
        Clash::Different | Clash::Infinite | Clash::TooLarge => "E0301",
    }
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

/// What to write for a tuple of the elements of an array.
fn taken_apart(parts: usize) -> String {
    let parts = parts.clamp(2, 4);
    let names = &["a", "b", "c", "d"][..parts];
    let elements: Vec<String> = (0..parts).map(|index| format!("v[{index}]")).collect();
    format!(
        "the elements of an array are taken by their index: `v = …`, then `({}) = ({})`",
        names.join(", "),
        elements.join(", ")
    )
}

fn count(number: usize, one: &str, many: &str) -> String {
    if number == 1 { format!("1 {one}") } else { format!("{number} {many}") }
}
