//! Bindings with a keyword or a type before the name, as other languages declare variables.

use super::Context;
use crate::diagnostic::Diagnostic;
use crate::suggest;
use crate::syntax::kind::Kind;
use crate::syntax::layout::Form;
use crate::syntax::reading::Reading;

/// What stands before a name elsewhere, and says that it may change, that it may not, or that it is new.
const KEYWORDS: [&str; 11] =
    ["var", "val", "const", "mut", "auto", "set", "my", "static", "final", "local", "mutable"];

/// What stands between `let` and a name elsewhere.
const BEHIND_LET: [&str; 4] = ["mut", "mutable", "const", "rec"];

/// Longer values are not repeated.
const LONGEST: usize = 40;

impl Context<'_, '_> {
    /// `int x = 3`, `float[] xs = …`, `const int n = 3`, `var x = 3`.
    pub(super) fn declared_value(&self) -> Option<Diagnostic> {
        let equals = self.reading.kinds.iter().position(|kind| *kind == Kind::Equals)?;
        let (first, last) = self.declared_words(equals)?;
        let word = self.reading.token_text(0);
        let (message, remark) = match KEYWORDS.contains(&word) {
            true => ("a binding has no keyword", "a name and `=` are enough"),
            false => ("a binding has no type before its name", "a name and `=` are enough"),
        };
        let name = self.reading.span_text(self.reading.span(last, equals));
        let value = self.quote_or_dots(equals + 1, self.end_of_text());
        Some(
            Diagnostic::error("E0122", message, self.reading.span(first, equals), remark)
                .help(format!("write `{name} = {value}`")),
        )
    }

    /// `int f(int x) { return x + 1; }`, `fn f(x: i64) -> i64 { x + 1 }`, `function f(x) { … }`.
    pub(super) fn function_with_braces(&self) -> Option<Diagnostic> {
        const WORDS: [&str; 5] = ["fn", "fun", "func", "function", "static"];
        let is_word = |token: usize| {
            self.is_word(token, &WORDS) || suggest::is_type(self.reading.token_text(token))
        };
        let open = self.reading.kinds.iter().position(|kind| *kind == Kind::OpenParen)?;
        let name = open.checked_sub(1)?;
        let is_head = name > 0 && (0..name).all(is_word) && self.kind(name) == Some(Kind::Name);
        let close = self.close_of(open);
        let brace = (close + 1..self.reading.kinds.len())
            .find(|token| self.reading.token_text(*token) == "{")?;
        let has_result = close + 1 == brace
            || matches!(self.kind(close + 1), Some(Kind::Arrow | Kind::Colon))
                && brace - close <= 5;
        if !is_head || !has_result || self.form == Form::Def {
            return None;
        }
        let head = self.reading.span_text(self.reading.span(open + 1, close));
        let names: Vec<&str> = match open + 1 == close {
            true => vec!["()"],
            false => head
                .split(',')
                .filter_map(|part| part.split(':').next()?.split_whitespace().last())
                .collect(),
        };
        let first = brace + 1 + usize::from(self.is_word(brace + 1, &["return"]));
        let last = self.close_of(brace);
        let last = last - usize::from(self.kind(last - 1) == Some(Kind::Semicolon));
        let has_more = (first..last)
            .any(|token| matches!(self.kind(token), Some(Kind::Semicolon | Kind::Equals)));
        let body = if has_more { "…" } else { self.quote_or_dots(first, last) };
        let head = [&[self.reading.token_text(name)], &names[..]].concat().join(" ");
        Some(
            Diagnostic::error(
                "E0122",
                "a function is defined by `def`",
                self.reading.span(0, close + 1),
                "not the head of a definition",
            )
            .help(format!("write `def {head} = {body}`: the body is one expression")),
        )
    }

    /// Where the words before a declared name begin, and where the name.
    fn declared_words(&self, equals: usize) -> Option<(usize, usize)> {
        if self.form != Form::Binding || self.at >= equals {
            return None;
        }
        let is_word = |token: usize| {
            let text = self.reading.token_text(token);
            self.is_word(token, &KEYWORDS)
                || self.kind(token) == Some(Kind::Name) && suggest::is_type(text)
        };
        // `x: int` has its type behind the name.
        let name =
            (1..equals).find(|token| self.kind(*token) == Some(Kind::Name) && !is_word(*token))?;
        let is_before = |token: usize| {
            let kind = self.kind(token);
            is_word(token)
                || matches!(
                    kind,
                    Some(Kind::OpenIndex | Kind::OpenBracket | Kind::CloseBracket | Kind::Times)
                )
        };
        // `int f x = …` and `set x y = …` are no variables.
        let is_one = matches!(self.kind(name + 1), Some(Kind::Equals | Kind::Colon));
        (is_word(0) && (0..name).all(is_before) && is_one).then_some((0, name))
    }
}

/// What to write for a `let` without a body.
pub(super) fn without_let(reading: &Reading<'_>) -> String {
    if reading.kinds.first() != Some(&Kind::Let) {
        return "behind the bindings of a `let` stands `in`, and then what they are for: `let x = 1 in x + 1`".to_owned();
    }
    let name = name_behind_let(reading);
    // Of several bindings the first is shown.
    let semicolon = reading.kinds.iter().position(|kind| *kind == Kind::Semicolon);
    let end = semicolon.unwrap_or(reading.kinds.len());
    let text = |from: usize, to: usize| {
        let text = reading.span_text(reading.span(from, to));
        let is_short = from < to && text.len() < LONGEST && !text.contains('\n');
        if is_short { text.trim() } else { "…" }
    };
    let equals = reading.kinds.iter().position(|kind| *kind == Kind::Equals).unwrap_or(end);
    let top_level = match (reading.kinds.get(name), reading.kinds.get(name + 1)) {
        (Some(Kind::Name), Some(Kind::Equals | Kind::Colon)) => {
            format!("`{} = {}`", text(name, equals), text(equals + 1, end))
        }
        (Some(Kind::Name), Some(Kind::Name | Kind::OpenParen | Kind::Wildcard)) => {
            format!("`def {} = {}`", text(name, equals), text(equals + 1, end))
        }
        _ => "`x = 1`".to_owned(),
    };
    format!("a `let` has a body: `let x = 1 in x + 1`; at the top level write {top_level}")
}

/// The name that the `let` at the start of an item binds, behind words such as `mut`.
pub(in crate::syntax) fn name_behind_let(reading: &Reading<'_>) -> usize {
    let is_word = BEHIND_LET.contains(&reading.token_text(1));
    let is_name = reading.kinds.get(2) == Some(&Kind::Name);
    1 + usize::from(is_word && is_name)
}

/// The names that the head of a broken binding would have bound.
pub(in crate::syntax) fn names_of_binding(reading: &Reading<'_>) -> Vec<usize> {
    let Some(equals) = reading.kinds.iter().position(|kind| *kind == Kind::Equals) else {
        return Vec::new();
    };
    let names: Vec<usize> =
        (0..equals).filter(|token| reading.kinds[*token] == Kind::Name).collect();
    let word = reading.token_text(0);
    let is_declared = KEYWORDS.contains(&word) || suggest::is_type(word);
    match (reading.kinds.first(), reading.kinds.get(1)) {
        (Some(Kind::Name), Some(Kind::Comma)) => names,
        // What is declared comes last.
        (Some(Kind::Name), _) if is_declared && names.len() > 1 => {
            names[names.len() - 1..].to_vec()
        }
        (Some(Kind::Name), _) => vec![0],
        _ => names,
    }
}
