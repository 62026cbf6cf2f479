//! Definitions and choices by clauses, as other languages write them: values as parameters, guards, `where`, `case`.

use super::Context;
use crate::diagnostic::Diagnostic;
use crate::syntax::kind::{Kind, KindSet, OPENERS};
use crate::syntax::layout::Form;

/// Longer choices are not written out.
const LONGEST: usize = 100;

/// Single values that are no names.
const VALUES: KindSet = KindSet::of(&[
    Kind::Number,
    Kind::Text,
    Kind::Char,
    Kind::True,
    Kind::False,
    Kind::Numbers,
    Kind::PrefixMinus,
    Kind::ArgumentMinus,
]);

/// What stands between the parameters of a definition and its value.
const IN_HEADS: KindSet = KindSet::of(&[
    Kind::Name,
    Kind::TypeWord,
    Kind::Wildcard,
    Kind::OpenParen,
    Kind::CloseParen,
    Kind::OpenBrace,
    Kind::CloseBrace,
    Kind::Comma,
]);

/// What stands before expressions, beside what opens brackets.
const BEFORE_EXPRESSIONS: KindSet = KindSet::of(&[
    Kind::Equals,
    Kind::Arrow,
    Kind::In,
    Kind::Then,
    Kind::Else,
    Kind::Do,
    Kind::Colon,
    Kind::Comma,
    Kind::NewLine,
]);

impl Context<'_, '_> {
    /// The name of the function that is defined, or would be with `def` before it.
    fn defined(&self) -> Option<usize> {
        let name = match self.form {
            Form::Def => 1,
            Form::Binding => 0,
            _ => return None,
        };
        (self.kind(name) == Some(Kind::Name)).then_some(name)
    }

    /// `def fact 0 = 1`: a value where a parameter has its name.
    pub(super) fn value_as_parameter(&self) -> Option<Diagnostic> {
        let name = self.defined()?;
        let equals = self.next_outside(name, |kind| kind == Kind::Equals)?;
        let value = self.value_in_head(name, equals)?;
        let kind = self.kind(value)?;
        let is_empty_array = self.is_empty_array(value);
        let is_signed = matches!(kind, Kind::PrefixMinus | Kind::ArgumentMinus);
        let end = value + 1 + usize::from(is_empty_array || is_signed);
        let written = self.reading.span_text(self.reading.span(value, end));
        let (parameter, condition) = self.parameter_for(kind, written);
        let before = self.quote_or_dots(name, value);
        let after = match self.quote(end, equals) {
            Some(rest) if rest.starts_with([')', ',']) => rest.to_owned(),
            Some(rest) => format!(" {rest}"),
            None => String::new(),
        };
        let space = if before.ends_with('(') { "" } else { " " };
        let then = self.quote_or_dots(equals + 1, self.reading.kinds.len());
        Some(
            Diagnostic::error(
                "E0121",
                "a parameter is a name, not a value",
                self.reading.span(value, end),
                "a value stands here",
            )
            .help(format!(
                "a function has one definition, which asks: `def {before}{space}{parameter}{after} = if {condition} then \
                 {then} else …`"
            )),
        )
    }

    /// The value in the place of a parameter at which the definition of `name` fails.
    fn value_in_head(&self, name: usize, equals: usize) -> Option<usize> {
        // Of a binding, what looks like a definition fails at its first parameter.
        let value = match self.form {
            Form::Def => self.at,
            _ => (name + 1..equals).find(|token| {
                let kind = self.reading.kinds[*token];
                VALUES.contains(kind) || kind == Kind::OpenBracket
            })?,
        };
        if value <= name || value >= equals || self.at > value {
            return None;
        }
        let before = self.reading.kinds.get(name + 1..value)?;
        if !before.iter().all(|kind| IN_HEADS.contains(*kind)) {
            return None;
        }
        let kind = self.kind(value)?;
        // `pi` and the like are words, and no names either.
        let is_word = self.reading.token_text(value).starts_with(char::is_alphabetic)
            && !matches!(kind, Kind::True | Kind::False);
        let is_value = VALUES.contains(kind) || self.is_empty_array(value);
        (is_value && !is_word).then_some(value)
    }

    /// `[]`.
    fn is_empty_array(&self, token: usize) -> bool {
        self.kind(token) == Some(Kind::OpenBracket)
            && self.kind(token + 1) == Some(Kind::CloseBracket)
    }

    /// A parameter for the place of a value, and the condition that it is that value.
    fn parameter_for(&self, kind: Kind, written: &str) -> (&'static str, String) {
        // Another one than those of the other parameters.
        let free = |names: [&'static str; 3]| {
            names.into_iter().find(|name| !self.is_in_item(name)).unwrap_or("given")
        };
        let parameter = match kind {
            Kind::True | Kind::False => free(["b", "flag", "holds"]),
            Kind::Text => free(["s", "text", "t"]),
            Kind::Char => free(["c", "letter", "d"]),
            // An array without elements begins with its bracket.
            Kind::Numbers | Kind::OpenBracket => free(["xs", "ys", "zs"]),
            _ => free(["n", "m", "k"]),
        };
        let condition = match kind {
            Kind::True => parameter.to_owned(),
            Kind::False => format!("!{parameter}"),
            Kind::Text | Kind::Numbers => format!("same {parameter} {written}"),
            Kind::OpenBracket => format!("null {parameter}"),
            _ => format!("{parameter} == {written}"),
        };
        (parameter, condition)
    }

    /// `let go 0 = 1 in …`.
    pub(super) fn value_as_local_parameter(&self) -> Option<Diagnostic> {
        let is_parameter = self.expects(Kind::Wildcard)
            && self.expects(Kind::Equals)
            && !self.expects(Kind::Number);
        if !is_parameter || !VALUES.contains(self.found) {
            return None;
        }
        let written = self.word();
        if written.starts_with(char::is_alphabetic) {
            return None;
        }
        Some(
            Diagnostic::error(
                "E0121",
                "a parameter is a name, not a value",
                self.span,
                "a value stands here",
            )
            .help(format!(
                "a function has one definition, which asks: `f n = if n == {written} then … else …`"
            )),
        )
    }

    /// `data Tree = …`, `struct P { … }`, `class Foo: …`.
    pub(super) fn declared_type(&self) -> Option<Diagnostic> {
        const WORDS: [&str; 7] =
            ["data", "newtype", "struct", "class", "enum", "record", "interface"];
        let is_named = self.kind(1) == Some(Kind::Name)
            && self.reading.token_text(1).starts_with(char::is_uppercase);
        if self.kind(0) == Some(Kind::Type) && self.found == Kind::Bar {
            return Some(self.choice_of_types());
        }
        if !self.is_word(0, &WORDS) || !is_named {
            return None;
        }
        let word = self.reading.token_text(0);
        Some(
            Diagnostic::error(
                "E0101",
                format!("there is no `{word}`"),
                self.reading.span(0, 1),
                "no new types are declared",
            )
            .help("a name for a type is `type point = {x: f64, y: f64}`"),
        )
    }

    /// `type Shape = Circle | Square`.
    fn choice_of_types(&self) -> Diagnostic {
        let message = "a type has no alternatives";
        Diagnostic::error("E0101", message, self.span, "what stands before it is the type").help(
            "number the cases, `(circle, square) = (0, 1)`, and keep the number beside what belongs to any of \
             them: `{kind = circle, size = 2.0}`",
        )
    }

    /// `def sign x | x > 0 = 1 | otherwise = -1`.
    pub(super) fn guards(&self) -> Option<Diagnostic> {
        let name = self.defined()?;
        let bar = self.next_outside(name, |kind| kind == Kind::Bar)?;
        let equals = self.next_outside(name, |kind| kind == Kind::Equals)?;
        let is_head = |kinds: &[Kind]| kinds.iter().all(|kind| IN_HEADS.contains(*kind));
        if bar >= equals || self.at > equals || !is_head(self.reading.kinds.get(name..bar)?) {
            return None;
        }
        let head = self.quote_or_dots(name, bar);
        Some(
            Diagnostic::error(
                "E0122",
                "a definition has no guards",
                self.reading.span(bar, bar + 1),
                "a condition before `=`",
            )
            .help(match self.choices(bar) {
                (value, true) => format!("without a condition it is `def {head} = {value}`"),
                (value, false) => format!("a choice is `if`: `def {head} = {value}`"),
            }),
        )
    }

    /// The guards from the one at `bar` on as an expression, and whether that is without a condition.
    fn choices(&self, bar: usize) -> (String, bool) {
        let end = self.reading.kinds.len();
        let is_always = |bar: usize| {
            let is_true = self.is_word(bar + 1, &["otherwise", "True"])
                || self.kind(bar + 1) == Some(Kind::True);
            is_true && self.kind(bar + 2) == Some(Kind::Equals)
        };
        let mut written = String::new();
        let mut next = Some(bar);
        while let Some(bar) = next {
            let Some(equals) = self.next_outside(bar, |kind| kind == Kind::Equals) else { break };
            next = self.next_outside(equals + 1, |kind| kind == Kind::Bar);
            let value = self.quote_or_dots(equals + 1, next.unwrap_or(end));
            if is_always(bar) {
                let is_only = written.is_empty();
                written.push_str(value);
                return (written, is_only);
            }
            if written.len() > LONGEST {
                break;
            }
            written.push_str(&format!("if {} then {value} else ", self.condition(bar + 1, equals)));
        }
        written.push('…');
        (written, false)
    }

    /// The condition of a guard, in which other languages write commas for `&&`.
    fn condition(&self, from: usize, to: usize) -> String {
        let mut parts = Vec::new();
        let mut first = from;
        while first <= to {
            let comma = self.next_outside(first, |kind| kind == Kind::Comma).unwrap_or(to).min(to);
            parts.push(self.quote_or_dots(first, comma));
            first = comma + 1;
        }
        parts.join(" && ")
    }

    /// `def f x = y + 1 where y = x * 2`.
    pub(super) fn local_definitions_behind(&self) -> Option<Diagnostic> {
        let equals = match self.found {
            Kind::Equals => self.at,
            _ if self.form == Form::Binding => self.next_outside(0, |kind| kind == Kind::Equals)?,
            _ => return None,
        };
        let is_where = |token: &usize| self.is_word(*token, &["where"]);
        let place = (0..equals).rev().find(is_where)?;
        let binding = self.reading.kinds.get(place + 1..equals)?;
        let is_binding = !binding.is_empty() && binding.iter().all(|kind| IN_HEADS.contains(*kind));
        if !is_binding || place == 0 || self.at < equals && self.form != Form::Binding {
            return None;
        }
        let end = self.reading.kinds.len();
        let own = self.next_outside(0, |kind| kind == Kind::Equals).filter(|own| *own < place);
        let parts = (own.and_then(|own| self.quote(0, own + 1)), self.quote(place + 1, end));
        let body = own.map_or_else(|| self.quote(0, place), |own| self.quote(own + 1, place));
        let help = match (parts, body) {
            ((Some(head), Some(binding)), Some(body)) => {
                format!("local names come first: `{head} let {binding} in {body}`")
            }
            ((None, Some(binding)), Some(body)) if own.is_none() => {
                format!("local names come first: `let {binding} in {body}`")
            }
            _ => {
                let first = self.quote_or_dots(place + 1, equals);
                format!("local names come first: `let {first} = … in …`")
            }
        };
        Some(
            Diagnostic::error(
                "E0122",
                "there is no `where`",
                self.reading.span(place, place + 1),
                "local names behind the value",
            )
            .help(help),
        )
    }

    /// `case x of …`, `match x with …`, `switch (x) { … }`.
    pub(super) fn choice_of_cases(&self) -> Option<Diagnostic> {
        let is_it = |token: &usize| {
            self.is_word(*token, &["case", "match", "switch"]) && self.begins_expression(*token)
        };
        let place = (0..self.at).find(is_it)?;
        if matches!(self.kind(place + 1)?, Kind::Equals | Kind::Comma) {
            return None;
        }
        // Where what is looked at ends: every language has something there.
        let is_end = |token: &usize| {
            self.is_word(*token, &["of"])
                || matches!(self.kind(*token), Some(Kind::With | Kind::Colon | Kind::Bar))
                || self.kind(*token).is_some_and(|kind| OPENERS.contains(kind))
                    && self.reading.token_text(*token) == "{"
        };
        let end = (place + 2..self.reading.kinds.len()).find(is_end)?;
        // Somebody may have a function of that name.
        let is_case =
            |token| self.kind(token) == Some(Kind::Arrow) || self.is_word(token, &["case"]);
        if !(end + 1..self.reading.kinds.len()).any(is_case) {
            return None;
        }
        let word = self.reading.token_text(place);
        let first = self.first_case(end + 1);
        let subject = self.quote_or_dots(place + 1, end);
        let subject =
            subject.strip_prefix('(').and_then(|rest| rest.strip_suffix(')')).unwrap_or(subject);
        Some(
            Diagnostic::error(
                "E0101",
                format!("there is no `{word}`"),
                self.reading.span(place, place + 1),
                "a choice is not written so",
            )
            .help(format!("a choice is `if {subject} == {first} then … else if … then … else …`")),
        )
    }

    /// Whether an expression may begin with a token, by what stands before it.
    fn begins_expression(&self, token: usize) -> bool {
        let before = token.checked_sub(1).and_then(|before| self.kind(before));
        before.is_none_or(|kind| OPENERS.contains(kind) || BEFORE_EXPRESSIONS.contains(kind))
            || self.begins_line(token)
    }

    /// The value of the first of several cases, which begin at a token, if it can be compared with.
    fn first_case(&self, begin: usize) -> &str {
        let mut first = begin;
        while self.is_word(first, &["case"])
            || self.kind(first) == Some(Kind::Bar)
            || self.reading.token_text(first) == "{"
        {
            first += 1;
        }
        match self.kind(first) {
            Some(Kind::Number | Kind::Char) => self.reading.token_text(first),
            _ => "…",
        }
    }
}
