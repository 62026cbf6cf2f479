//! A failure of the grammar in the user's words.

mod advice;
mod block;
mod clause;
mod declared;
mod each;
mod element;
mod generated;
mod head;
mod indented;
mod named;
mod quote;
mod wording;

use weft_ir::Span;

use self::declared::without_let;
pub(super) use self::declared::{name_behind_let, names_of_binding};
use self::wording::{describe, expectation};
use super::failure::Failure;
use super::kind::{BINARY, CLOSERS, KEYWORDS, Kind, KindSet};
use super::layout::Form;
use super::reading::Reading;
use crate::diagnostic::Diagnostic;

/// What to write for `a with [i] = v` where more than an operand is read.
const PARENTHESES_AROUND_WITH: &str =
    "put the update in parentheses: `(a with [i] = v)`, or braces: `{r with x = v}`";

/// How the item ends.
#[derive(Clone, Copy)]
pub(super) struct End {
    /// Whether nothing follows the item, so that more text could still complete it.
    pub(super) is_last: bool,
}

/// What there is to say about a failure.
pub(super) struct Explained {
    /// The report.
    pub(super) report: Diagnostic,
    /// Whether it is about all of the item: a form of another language, to which belongs whatever else is foreign in it.
    pub(super) is_of_item: bool,
}

/// The report for a failure; none if the reason was reported by the lexer or the layout already.
pub(super) fn explain(
    failure: Failure,
    reading: &Reading<'_>,
    form: Form,
    end: End,
) -> Option<Explained> {
    let of_place = |report| Some(Explained { report, is_of_item: false });
    if let Some(finding) = failure.finding {
        return of_place(*finding);
    }
    let at = failure.at;
    let Some(&found) = reading.kinds.get(at) else {
        return of_place(too_early(&failure, reading, end));
    };
    let span = reading.span(at, at + 1);
    // A closer without text stands for a missing one, and an invalid token for unreadable text.
    if (CLOSERS.contains(found) && span.start == span.end) || found == Kind::Invalid {
        return None;
    }
    let context = Context { failure: &failure, reading, form, at, found, span };
    if context.is_behind_foreign_for() {
        return None;
    }
    if let Some(report) = context.bound_keyword() {
        return of_place(report);
    }
    let foreign = context
        .steps()
        .or_else(|| context.statement())
        .or_else(|| context.declared_type())
        .or_else(|| context.function_with_braces())
        .or_else(|| context.choice_of_cases())
        .or_else(|| context.guards())
        .or_else(|| context.parameters_with_commas())
        .or_else(|| context.changed_element());
    if let Some(report) = foreign {
        return Some(Explained { report, is_of_item: true });
    }
    let report = context
        .loop_variables()
        .or_else(|| context.names_without_parentheses())
        .or_else(|| context.value_as_parameter())
        .or_else(|| context.value_as_local_parameter())
        .or_else(|| context.array_as_pattern())
        .or_else(|| context.list_comprehension())
        .or_else(|| context.each_in_brackets())
        .or_else(|| context.each_with_arrow())
        .or_else(|| context.pair_in_braces())
        .or_else(|| context.membership())
        .or_else(|| context.lambda_of_other_languages())
        .or_else(|| context.named_argument())
        .or_else(|| context.dictionary())
        .or_else(|| context.local_definitions_behind())
        .or_else(|| context.declared_value())
        .or_else(|| context.assignment())
        .or_else(|| context.body_behind_colon())
        .or_else(|| context.head())
        .or_else(|| context.equals())
        .or_else(|| context.line_in_binding_column())
        .or_else(|| context.keyword_as_name())
        .or_else(|| context.missing_keyword())
        .or_else(|| context.open_form_as_argument())
        .or_else(|| context.pattern());
    of_place(report.unwrap_or_else(|| context.unexpected()))
}

/// The report about an item that is certainly written in another language, whatever the grammar makes of it.
pub(super) fn foreign_item(reading: &Reading<'_>, form: Form) -> Option<Diagnostic> {
    if form != Form::Def {
        return None;
    }
    let failure = Failure::expected(0, KindSet::EMPTY);
    let (found, span) = (Kind::Def, reading.span(0, 1));
    Context { failure: &failure, reading, form, at: 0, found, span }.returning_block()
}

/// The item ends where something is missing.
fn too_early(failure: &Failure, reading: &Reading<'_>, end: End) -> Diagnostic {
    let tokens = reading.kinds.len();
    let span = reading.span(tokens, tokens);
    let what = if end.is_last { "the text" } else { "the item" };
    let keyword = missing_keyword(failure.expected);
    // `let x = 3;`
    let is_let = matches!(
        (reading.kinds.first(), reading.kinds.last()),
        (Some(Kind::Let), Some(Kind::Semicolon))
    );
    let keyword = keyword.or(is_let.then_some(("E0113", "in")));
    let mut diagnostic = match keyword {
        Some((code, keyword)) => Diagnostic::error(
            code,
            format!("`{keyword}` is missing"),
            span,
            format!("{what} ends before it"),
        ),
        None => Diagnostic::error(
            "E0120",
            format!("{what} ends too early"),
            span,
            format!("expected {}", expectation(failure.expected, false)),
        ),
    };
    if keyword.is_some_and(|(_, keyword)| keyword == "in") {
        diagnostic = diagnostic.help(without_let(reading));
    }
    if let [.., Kind::Name, Kind::Append] = reading.kinds
        && let [.., name, plus] = reading.places
        && name.end == plus.start
    {
        let name = reading.token_text(tokens - 2);
        diagnostic = diagnostic
            .help(format!("`++` joins two arrays; one more than `{name}` is `{name} + 1`"));
    }
    if !end.is_last {
        diagnostic = diagnostic
            .help("a line that is not indented begins a new item: indent what continues this one");
    }
    diagnostic.incomplete = end.is_last;
    diagnostic
}

/// The keyword that a form still needs, with its code.
fn missing_keyword(expected: KindSet) -> Option<(&'static str, &'static str)> {
    let is_after_operand = !expected.contains(Kind::Backslash) || expected.contains(Kind::Plus);
    if !is_after_operand {
        return None;
    }
    if expected.contains(Kind::Else) {
        Some(("E0112", "else"))
    } else if expected.includes(KindSet::of(&[Kind::In, Kind::NewLine])) {
        Some(("E0113", "in"))
    } else if expected.contains(Kind::Then) {
        Some(("E0114", "then"))
    } else if expected.contains(Kind::Do) {
        Some(("E0114", "do"))
    } else {
        None
    }
}

/// A failure at a token.
struct Context<'a, 'b> {
    failure: &'b Failure,
    reading: &'b Reading<'a>,
    form: Form,
    at: usize,
    found: Kind,
    span: Span,
}

impl Context<'_, '_> {
    fn kind(&self, token: usize) -> Option<Kind> {
        self.reading.kinds.get(token).copied()
    }

    fn before(&self) -> Option<Kind> {
        self.at.checked_sub(1).and_then(|token| self.kind(token))
    }

    fn expects(&self, kind: Kind) -> bool {
        self.failure.expected.contains(kind)
    }

    /// Whether an expression may begin here.
    fn expects_expression(&self) -> bool {
        self.expects(Kind::Backslash) && self.expects(Kind::Number)
    }

    /// Whether an operand has just ended: an operator may follow.
    fn is_after_operand(&self) -> bool {
        self.failure.expected.includes(BINARY) && !self.expects(Kind::Backslash)
    }

    /// `=` where nothing is bound.
    fn equals(&self) -> Option<Diagnostic> {
        if self.found != Kind::Equals || self.expects(Kind::Equals) || !self.is_after_operand() {
            return None;
        }
        let other = self.bound_constant().or_else(|| self.misaligned_binding());
        if let Some(other) = other.or_else(|| self.array_as_later_pattern()) {
            return Some(other);
        }
        let message = "`=` binds a name and does not compare";
        let diagnostic = Diagnostic::error("E0115", message, self.span, "nothing is bound here");
        if let Some(help) = self.statement_within() {
            return Some(diagnostic.help(help));
        }
        let mut diagnostic = diagnostic.help("equality is `==`");
        if matches!(self.form, Form::Def | Form::Binding) {
            diagnostic = diagnostic.help(
                "a second definition begins on a line of its own, not indented; \
                 inside this one write `let x = … in …`",
            );
        }
        Some(diagnostic)
    }

    /// What to write for `t = e` and `a[i] = e` where an expression begins: in a line of its own, or behind `do`.
    fn statement_within(&self) -> Option<String> {
        let begins = |token: &usize| {
            matches!(self.kind(token - 1), Some(Kind::Do | Kind::Then | Kind::Else))
        };
        let start = self.first_of_line().max((1..self.at).rev().find(begins).unwrap_or(0));
        let name = (start > 0 && self.kind(start) == Some(Kind::Name))
            .then(|| self.reading.token_text(start))?;
        let tokens = self.reading.kinds.len();
        let end = (self.at + 1..tokens).find(|token| self.begins_line(*token)).unwrap_or(tokens);
        let value = self.quote_or_dots(self.at + 1, end);
        if start + 1 == self.at {
            let is_state = |token: usize| {
                self.kind(token) == Some(Kind::Loop)
                    && self.kind(token + 1) == Some(Kind::Name)
                    && self.reading.token_text(token + 1) == name
            };
            return Some(
                match self.kind(start - 1) == Some(Kind::Do) && (0..start).any(is_state) {
                    true => format!(
                        "behind `do` stands the next `{name}`, without its name: `do {value}`"
                    ),
                    false => format!("a value gets a name by `let {name} = {value} in …`"),
                },
            );
        }
        let is_index = self.kind(start + 1) == Some(Kind::OpenIndex)
            && self.close_of(start + 1) + 1 == self.at;
        let index = self.quote_or_dots(start + 2, self.at - 1);
        is_index.then(|| {
            let what = replaced(self.reading.kinds[start..self.at].contains(&Kind::Colon));
            format!("a copy with {what} replaced is `({name} with [{index}] = {value})`")
        })
    }

    /// `=` in a line of a `let` block that is not aligned with the first binding.
    fn misaligned_binding(&self) -> Option<Diagnostic> {
        let line_start = self.first_of_line();
        let first = self.open_let_before(line_start)? + 1;
        let head = self.reading.kinds.get(line_start..self.at)?;
        let is_head = line_start > first
            && head.iter().all(|kind| {
                matches!(
                    kind,
                    Kind::Name | Kind::Wildcard | Kind::OpenParen | Kind::CloseParen | Kind::Comma
                )
            });
        if !is_head {
            return None;
        }
        let binding = self.reading.span(line_start, self.at);
        Some(
            Diagnostic::error(
                "E0124",
                "the bindings of a `let` are not aligned",
                binding,
                "this line continues the binding before it",
            )
            .label(self.reading.span(first, first + 1), "the first binding begins here")
            .help("begin every binding in the same column, or separate them by `;`"),
        )
    }

    /// The first token of the line of the token at hand.
    fn first_of_line(&self) -> usize {
        (1..=self.at).rev().find(|token| self.begins_line(*token)).unwrap_or(0)
    }

    /// The innermost `let` before a token whose `in` is not before it too.
    fn open_let_before(&self, token: usize) -> Option<usize> {
        let mut closed = 0;
        for index in (0..token).rev() {
            match self.kind(index)? {
                Kind::In => closed += 1,
                Kind::Let if closed == 0 => return Some(index),
                Kind::Let => closed -= 1,
                _ => {}
            }
        }
        None
    }

    fn keyword_as_name(&self) -> Option<Diagnostic> {
        let is_keyword = KEYWORDS.contains(self.found)
            || matches!(self.found, Kind::True | Kind::False)
            || (self.found == Kind::Number && self.word().starts_with(char::is_alphabetic));
        if !is_keyword || !self.expects(Kind::Name) || self.expects(Kind::Number) {
            return None;
        }
        // `\x y in` and the like: the keyword is in its place, something before it is missing.
        let in_place = self.kind(self.at + 1) != Some(Kind::Equals);
        if in_place && (self.expects(Kind::Arrow) || self.expects(Kind::Equals)) {
            return None;
        }
        Some(self.no_name(self.at))
    }

    fn missing_keyword(&self) -> Option<Diagnostic> {
        let (code, keyword) = missing_keyword(self.failure.expected)?;
        if !self.is_after_operand() && self.found != Kind::NewLine {
            return None;
        }
        let mut diagnostic = Diagnostic::error(
            code,
            format!("`{keyword}` is missing"),
            self.span,
            format!("expected `{keyword}` before {}", describe(self.found, self.word())),
        );
        diagnostic = match (keyword, self.found) {
            (_, Kind::With) => diagnostic.help(PARENTHESES_AROUND_WITH),
            ("else", Kind::Then) if self.has_word(&["elif", "elsif", "elseif"]) => diagnostic
                .help("a further choice is `else if`: `if c then a else if d then b else e`"),
            ("else", _) => diagnostic.help("an `if` always has both values: `if c then a else b`"),
            ("then", Kind::Colon) => {
                diagnostic.help("an `if` has a value and no block: `y = if c then a else b`")
            }
            ("then", _) => diagnostic.help("write `if c then a else b`"),
            ("in", _) => diagnostic.help("a `let` has a body: `let x = 1 in x + 1`"),
            (_, _) => diagnostic.help("write `loop x = 0 for i < n do x + i`"),
        };
        Some(diagnostic)
    }

    /// `f \x -> x`.
    fn open_form_as_argument(&self) -> Option<Diagnostic> {
        let is_open = matches!(self.found, Kind::Backslash | Kind::If | Kind::Let | Kind::Loop);
        if !is_open || !self.is_after_operand() {
            return None;
        }
        if self.found == Kind::If && self.expects(Kind::Bar) {
            let message = "a condition on what is taken comes after `|`";
            return Some(
                Diagnostic::error("E0101", message, self.span, "expected `|`")
                    .help("write `{ e : x in xs | c }`"),
            );
        }
        let rest = &self.reading.kinds[self.at..];
        if self.found == Kind::If && rest.contains(&Kind::Else) && !rest.contains(&Kind::Then) {
            let message = "an `if` stands before its values";
            return Some(
                Diagnostic::error("E0101", message, self.span, "the condition comes first")
                    .help("write `if c then a else b`"),
            );
        }
        let what = match self.found {
            Kind::Backslash => "a function".into(),
            _ => format!("`{}`", self.word()),
        };
        Some(
            Diagnostic::error(
                "E0101",
                format!("{what} as an argument needs parentheses"),
                self.span,
                "begins here",
            )
            .help(match self.found {
                Kind::Backslash => "write `f (\\x -> e)`, or `f <| \\x -> e`",
                _ => "put it in parentheses, or bind it to a name first",
            }),
        )
    }

    /// Something that is no pattern where one is expected.
    fn pattern(&self) -> Option<Diagnostic> {
        if !self.expects(Kind::Wildcard) || self.expects(Kind::Number) {
            return None;
        }
        if self.expects(Kind::Equals) || self.expects(Kind::Arrow) || self.expects(Kind::Colon) {
            return None;
        }
        let is_word = self.word().starts_with(char::is_alphabetic);
        if is_word && self.found != Kind::Number {
            return Some(self.no_name(self.at));
        }
        let found = describe(self.found, self.word());
        Some(
            Diagnostic::error(
                "E0121",
                format!("{found} is not a pattern"),
                self.span,
                "expected a name, `_`, or a tuple or record of patterns",
            )
            .help(match self.kind(self.at.wrapping_sub(1)) {
                Some(Kind::For) if self.found == Kind::Number => {
                    format!("the turns have a number: `for i < {}`", self.word())
                }
                _ => "to look at a value, bind it to a name and compare with `==`".to_owned(),
            }),
        )
    }

    fn unexpected(&self) -> Diagnostic {
        let found = describe(self.found, self.word());
        let expected = expectation(self.failure.expected, self.failure.end_expected);
        if self.found == Kind::NewLine {
            let message = "a binding of this `let` ends too early";
            return Diagnostic::error(
                "E0120",
                message,
                self.end_of_line(),
                format!("expected {expected}"),
            )
            .help("the next line is aligned with the first binding, so it begins another one");
        }
        let message = format!("unexpected {found}");
        let mut diagnostic =
            Diagnostic::error("E0101", message, self.span, format!("expected {expected}"));
        diagnostic.help.extend(self.advice().map(String::from));
        diagnostic
    }

    /// The empty place behind the token before.
    fn end_of_line(&self) -> Span {
        let before = self.reading.span(self.at.saturating_sub(1), self.at);
        Span { start: before.end, ..before }
    }

    /// The text of the token.
    fn word(&self) -> &str {
        self.reading.span_text(self.span)
    }
}

/// What an update replaces, in words: at a slice a part of the array.
fn replaced(is_slice: bool) -> &'static str {
    if is_slice { "a part" } else { "one element" }
}
