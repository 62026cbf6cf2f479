//! Definitions and loops with a colon and an indented block.

use super::Context;
use super::generated::{Generated, generated};
use crate::diagnostic::Diagnostic;
use crate::syntax::kind::Kind;
use crate::syntax::layout::Form;

/// Longer definitions are not written out.
const LONGEST: usize = 90;

impl Context<'_, '_> {
    /// `def f(x): return …`: a definition that is certainly none of this language, whatever the grammar makes of it.
    /// (It takes the `y` of `def f(x):` and a line `y = …` for a type.)
    pub(super) fn returning_block(&self) -> Option<Diagnostic> {
        let colon = self.colon_of_block()?;
        // Behind a colon in the same line stands the type of the result, whose body may use any name.
        let is_end = |token| self.kind(token - 1) == Some(Kind::Semicolon) && self.is_return(token);
        let is_block = self.begins_line(colon + 1)
            || self.is_return(colon + 1)
            || (colon + 1..self.reading.kinds.len()).any(is_end);
        let returns =
            is_block && (colon + 1..self.reading.kinds.len()).any(|token| self.is_return(token));
        let is_statement = matches!(self.kind(colon + 1), Some(Kind::If | Kind::For | Kind::While));
        // `def f(x):` is all of the first line.
        let is_call = self.kind(2) == Some(Kind::OpenParen)
            && self.reading.span(1, 2).end == self.reading.span(2, 3).start;
        let is_head = is_call && colon + 1 == self.reading.kinds.len();
        (returns || is_statement || is_head).then(|| self.block(colon))
    }

    /// `def f(x): e`: a body behind a colon, where no `=` is.
    pub(super) fn body_behind_colon(&self) -> Option<Diagnostic> {
        let colon = self.colon_of_block()?;
        let has_equals = self.next_outside(colon, |kind| kind == Kind::Equals).is_some();
        (colon <= self.at && !has_equals).then(|| self.block(colon))
    }

    /// The colon behind the head of a definition, before any `=`.
    fn colon_of_block(&self) -> Option<usize> {
        if self.form != Form::Def {
            return None;
        }
        let is_it = |kind| matches!(kind, Kind::Colon | Kind::Equals);
        self.next_outside(1, is_it).filter(|colon| self.kind(*colon) == Some(Kind::Colon))
    }

    /// Whether a statement begins here: `return` at the start of a line, or behind a colon.
    fn is_return(&self, token: usize) -> bool {
        self.is_word(token, &["return"])
            && self.kind(token + 1).is_some_and(|next| next != Kind::Equals)
            && (self.begins_line(token)
                || matches!(self.kind(token - 1), Some(Kind::Colon | Kind::Semicolon)))
    }

    /// That a body follows `=`, with the body as it would be.
    fn block(&self, colon: usize) -> Diagnostic {
        let arrow = self.next_outside(1, |kind| kind == Kind::Arrow).filter(|arrow| *arrow < colon);
        let head = self.reading.span_text(self.reading.span(1, arrow.unwrap_or(colon)));
        let has_names = !head.contains('*');
        let head = untyped(head);
        let body = self
            .as_expression(colon + 1)
            .filter(|body| has_names && head.len() + body.len() < LONGEST);
        let help = match &body {
            Some(body) => format!("write `def {head} = {body}`"),
            None => format!(
                "write `def {head} = …`: the body is one expression, before which local names stand as `let y = … in`"
            ),
        };
        Diagnostic::error(
            "E0122",
            "the body of a function follows `=`",
            self.reading.span(colon, colon + 1),
            "no block begins with `:`",
        )
        .help(help)
    }

    /// A block of bindings and a `return`, of a choice between two, or of one expression, as an expression.
    fn as_expression(&self, first: usize) -> Option<String> {
        let end = self.end_of_text();
        if self.kind(first) == Some(Kind::If) {
            let then = self.next_outside(first, |kind| kind == Kind::Colon)?;
            let otherwise = self.next_outside(then, |kind| kind == Kind::Else)?;
            let parts = self.is_return(then + 1)
                && self.kind(otherwise + 1) == Some(Kind::Colon)
                && self.is_return(otherwise + 2);
            let (condition, yes) = (self.quote(first + 1, then)?, self.quote(then + 2, otherwise)?);
            let no = self.quote(otherwise + 3, end)?;
            return parts.then(|| format!("if {condition} then {yes} else {no}"));
        }
        let mut bindings: Vec<&str> = Vec::new();
        let mut line = first;
        loop {
            let next = (line + 1..end).find(|token| self.begins_line(*token)).unwrap_or(end);
            let stop = self.next_outside(line, |kind| kind == Kind::Semicolon);
            let (stop, next) = match stop {
                Some(stop) if stop < next => (stop, stop + 1),
                _ => (next, next),
            };
            let is_return = self.is_return(line);
            if next == end {
                let value = self.value(line + usize::from(is_return), stop)?;
                let is_value = is_return || bindings.is_empty();
                let is_binding = self.kind(line + 1) == Some(Kind::Equals);
                return (is_value && !is_binding).then(|| match bindings.is_empty() {
                    true => value,
                    false => format!("let {} in {value}", bindings.join("; ")),
                });
            }
            let is_binding =
                self.kind(line) == Some(Kind::Name) && self.kind(line + 1) == Some(Kind::Equals);
            if is_return || !is_binding || self.reading.token_text(line + 1) != "=" {
                return None;
            }
            bindings.push(self.quote(line, stop)?);
            line = next;
        }
    }

    /// What is returned: `a, b` is a tuple, and `a if c else b` a choice.
    fn value(&self, from: usize, to: usize) -> Option<String> {
        let outside =
            |kind| self.next_outside(from, |found| found == kind).filter(|token| *token < to);
        if let (Some(choice), Some(otherwise), None) =
            (outside(Kind::If), outside(Kind::Else), outside(Kind::Then))
        {
            let condition = self.quote(choice + 1, otherwise)?;
            let (yes, no) = (self.quote(from, choice)?, self.quote(otherwise + 1, to)?);
            return Some(format!("if {condition} then {yes} else {no}"));
        }
        let text = self.quote(from, to)?;
        let is_tuple = outside(Kind::Comma).is_some();
        Some(if is_tuple { format!("({text})") } else { text.to_owned() })
    }

    /// Where the item ends, without a `;` behind it.
    pub(super) fn end_of_text(&self) -> usize {
        let end = self.reading.kinds.len();
        let has_mark = matches!(self.reading.kinds.last(), Some(Kind::Quiet | Kind::Semicolon));
        end - usize::from(has_mark)
    }

    /// `for x in xs: …` as an item.
    pub(super) fn steps(&self) -> Option<Diagnostic> {
        if self.kind(0) != Some(Kind::For) {
            return None;
        }
        let inside = self.next_outside(1, |kind| kind == Kind::In)?;
        let end = self.next_outside(inside, |kind| matches!(kind, Kind::Colon | Kind::Do))?;
        // `1:10` of other languages is no end of a head.
        let behind = self.reading.span_text(self.reading.span(end, end + 2)).strip_prefix(':');
        if behind.is_some_and(|text| text.starts_with(|next: char| !next.is_whitespace())) {
            return None;
        }
        let (pattern, source) = (self.quote(1, inside)?, self.quote(inside + 1, end)?);
        let Generated { each, steps } = generated(pattern, source);
        let step = self
            .accumulated(end + 1)
            .map(|(name, start, value)| format!("loop {name} = {start} for {steps} do {value}"));
        let step = step.unwrap_or_else(|| format!("loop s = 0 for {steps} do …"));
        Some(
            Diagnostic::error(
                "E0101",
                "no item begins with `for`",
                self.reading.span(0, 1),
                "there are no statements",
            )
            .help(format!(
                "for each element is `{{ {} : {each} }}`, from left to right `{step}`",
                self.computed(end + 1).unwrap_or("…")
            )),
        )
    }

    /// The expression, or what it prints, that is all that follows.
    fn computed(&self, from: usize) -> Option<&str> {
        let end = self.reading.kinds.len();
        let is_statement = self.reading.kinds.get(from..)?.contains(&Kind::Equals)
            || (from + 1..end).any(|token| self.begins_line(token));
        // `print(e)`
        let is_printed = self.is_word(from, &["print"])
            && self.kind(from + 1) == Some(Kind::OpenParen)
            && self.close_of(from + 1) + 1 == end;
        let (from, end) = if is_printed { (from + 2, end - 1) } else { (from, end) };
        let text = self.quote(from, end).filter(|_| !is_statement)?;
        Some(text)
    }

    /// `s += e` as all that follows: the name, where it starts, and what it becomes in a step.
    fn accumulated(&self, from: usize) -> Option<(&str, &str, String)> {
        let (symbol, start) = match self.reading.token_text(from + 1) {
            "+=" => ("+", "0"),
            "-=" => ("-", "0"),
            "*=" => ("*", "1"),
            _ => return None,
        };
        let end = self.reading.kinds.len();
        let is_one_line = !(from + 1..end).any(|token| self.begins_line(token));
        if self.kind(from) != Some(Kind::Name) || !is_one_line {
            return None;
        }
        let (name, value) = (self.reading.token_text(from), self.quote(from + 2, end)?);
        let value = if end - from > 3 { format!("({value})") } else { value.to_owned() };
        Some((name, start, format!("{name} {symbol} {value}")))
    }
}

/// The head `f(x, n: int = 3)` as `f x n`.
fn untyped(head: &str) -> String {
    let parts = head.split_once('(').and_then(|(name, rest)| {
        let inside = rest.trim_end().strip_suffix(')')?;
        (!inside.contains(['(', '{'])).then_some((name.trim(), inside))
    });
    let Some((name, inside)) = parts else { return head.trim().to_owned() };
    let names = inside.split(',').filter_map(|part| part.split([':', '=']).next());
    let names: Vec<&str> = names.map(str::trim).filter(|name| !name.is_empty()).collect();
    let is_name = |name: &&str| name.chars().all(|c| c.is_alphanumeric() || c == '_');
    match names.iter().all(is_name) {
        true => [&[name], &names[..]].concat().join(" "),
        false => format!("{name} x"),
    }
}
