//! What stands in brackets, before arrows and in patterns, as other languages write it.

use super::Context;
use super::generated::{Generated, generated};
use crate::diagnostic::Diagnostic;
use crate::syntax::kind::{CLOSERS, Kind, KindSet, OPENERS};
use crate::syntax::layout::Form;

/// Longer calls are not written in another way.
const LONGEST_CALL: usize = 40;

/// How many names are repeated.
const MOST_NAMES: usize = 4;

/// How help about arrays as patterns begins.
const BY_INDEX: &str = "the elements are taken by their index: ";

/// What parameters are made of.
const PARAMETERS: KindSet = KindSet::of(&[
    Kind::Name,
    Kind::TypeWord,
    Kind::Wildcard,
    Kind::Comma,
    Kind::OpenParen,
    Kind::CloseParen,
]);

/// What types are made of beside names.
const IN_TYPES: KindSet =
    KindSet::of(&[Kind::Colon, Kind::OpenBracket, Kind::OpenIndex, Kind::CloseBracket]);

/// What other languages begin a function with.
const LAMBDA_WORDS: [&str; 6] = ["lambda", "fn", "fun", "func", "function", "proc"];

/// A comprehension of other languages.
struct Comprehension<'t> {
    /// What divides it: its `for` or its bar.
    place: usize,
    /// Where what it goes over begins.
    source: usize,
    /// The token before its condition.
    condition: Option<usize>,
    /// Its pattern, as it is written.
    pattern: &'t str,
}

/// Whether tokens are names between commas.
fn are_names(tokens: &[Kind]) -> bool {
    tokens.iter().all(|kind| matches!(kind, Kind::Name | Kind::Wildcard | Kind::Comma))
}

impl Context<'_, '_> {
    /// `let [x, y] = p in …`, `\[x, y] -> …`, `{ … : [x, y] in ps }`, `[x, y] = p`.
    pub(super) fn array_as_pattern(&self) -> Option<Diagnostic> {
        if !matches!(self.found, Kind::OpenBracket | Kind::OpenIndex) {
            return None;
        }
        let close = self.close_of(self.at);
        let next = self.kind(close + 1);
        let is_binding = self.form == Form::Binding && self.at == 0 && next == Some(Kind::Equals);
        let is_pattern = self.expects(Kind::Wildcard) && !self.expects(Kind::Number);
        // `{x: [a, b]}` is a record.
        let is_value = self.before() == Some(Kind::Colon) && next != Some(Kind::In);
        let inside = self.reading.kinds.get(self.at + 1..close)?;
        let are_names = !inside.is_empty() && are_names(inside);
        if !(is_binding || is_pattern) || is_value || !are_names {
            return None;
        }
        let help = self.elements_by_index(close, is_binding);
        let help = match self.before() {
            Some(Kind::Loop) => help,
            _ => format!("{BY_INDEX}{help}"),
        };
        Some(self.no_pattern(self.at, close).help(help))
    }

    /// The same behind other bindings of a `let`, on a line of its own: the array continues what stands before.
    pub(super) fn array_as_later_pattern(&self) -> Option<Diagnostic> {
        let open = self.first_of_line();
        let is_array = matches!(self.kind(open), Some(Kind::OpenBracket | Kind::OpenIndex))
            && self.close_of(open) + 1 == self.at;
        let names = self.reading.kinds.get(open + 1..self.at.checked_sub(1)?)?;
        if !is_array || self.open_let_before(open).is_none() || !are_names(names) {
            return None;
        }
        let array = match (self.kind(self.at + 1), self.kind(self.at + 2)) {
            (Some(Kind::Name), None | Some(Kind::In | Kind::Semicolon | Kind::NewLine)) => {
                self.reading.token_text(self.at + 1)
            }
            _ => "p",
        };
        let names = (open + 1..self.at - 1).filter(|token| self.kind(*token) != Some(Kind::Comma));
        let names = names.map(|token| self.reading.token_text(token)).enumerate();
        let bindings: Vec<String> = names
            .filter(|(_, name)| *name != "_")
            .take(MOST_NAMES)
            .map(|(index, name)| format!("`{name} = {array}[{index}]`"))
            .collect();
        bindings.first()?;
        Some(self.no_pattern(open, self.at - 1).help(format!("{BY_INDEX}{}", bindings.join(", "))))
    }

    fn no_pattern(&self, open: usize, close: usize) -> Diagnostic {
        Diagnostic::error(
            "E0121",
            "an array is not a pattern",
            self.reading.span(open, close + 1),
            "expected a name, `_`, or a tuple or record of patterns",
        )
    }

    /// What to write for an array as a pattern that ends at a bracket.
    fn elements_by_index(&self, close: usize, is_binding: bool) -> String {
        let next = self.kind(close + 1);
        let names: Vec<&str> = (self.at + 1..close)
            .filter(|token| self.kind(*token) != Some(Kind::Comma))
            .map(|token| self.reading.token_text(token))
            .collect();
        let after_value = self.kind(close + 3);
        let is_parameter = self.form == Form::Def
            && self.next_outside(1, |kind| kind == Kind::Equals) > Some(self.at);
        let is_named = !is_parameter
            && next == Some(Kind::Equals)
            && self.kind(close + 2) == Some(Kind::Name)
            && matches!(after_value, None | Some(Kind::In | Kind::Semicolon | Kind::NewLine));
        let free = |name: &&str| !self.is_in_item(name);
        let array = match is_named {
            true => self.reading.token_text(close + 2),
            false => ["p", "v", "w"].into_iter().find(free).unwrap_or("array"),
        };
        let element = |index: usize| format!("{array}[{index}]");
        let parts = names.iter().enumerate().filter(|(_, name)| **name != "_").take(MOST_NAMES);
        let parts: Vec<String> =
            parts.map(|(index, name)| format!("{name} = {}", element(index))).collect();
        let parts = parts.join("; ");
        match (next, self.before()) {
            _ if is_binding => {
                let all: Vec<String> = (0..names.len()).map(element).collect();
                let whole =
                    if is_named { String::new() } else { format!("`{array} = …`, then ") };
                format!("{whole}`({}) = ({})`", names.join(", "), all.join(", "))
            }
            (_, Some(Kind::Loop)) => {
                format!("a state of several values is a tuple: `loop ({}) = …`", names.join(", "))
            }
            (Some(Kind::In), _) => format!("`{{ let {parts} in … : {array} in … }}`"),
            _ if is_parameter => {
                let before = self.quote_or_dots(1, self.at);
                format!("`def {before} {array} = let {parts} in …`")
            }
            (Some(Kind::Equals), _) if is_named => format!("`let {parts} in …`"),
            (Some(Kind::Equals), _) => format!("`let {array} = …; {parts} in …`"),
            _ => format!("`\\{array} -> let {parts} in …`"),
        }
    }

    /// The `in` of `[e for i, x in xs]`, which was reported at its `for`.
    pub(super) fn is_behind_foreign_for(&self) -> bool {
        let Some(open) = self.open_before(self.at) else { return false };
        let inside = &self.reading.kinds[open..self.at];
        self.found == Kind::In
            && self.is_after_operand()
            && inside.contains(&Kind::For)
            && !inside.contains(&Kind::Loop)
    }

    /// `[e for x in xs if c]`, `(e for x in xs)`, `[e | x <- xs, c]`.
    pub(super) fn list_comprehension(&self) -> Option<Diagnostic> {
        let open = self.open_before(self.at)?;
        let opener = self.reading.token_text(open);
        let close = self.close_of(open);
        let comprehension = self.comprehension(opener, close)?;
        let place = comprehension.place;
        // `{x: e for …}` is no array.
        if self.within(open + 1, close, Kind::Colon).is_some_and(|colon| colon < place) {
            return None;
        }
        let (message, mark, remark) = match opener {
            "{" => ("an apply-to-each has its generators behind `:`", place, "expected `:`"),
            _ => ("an apply-to-each stands in braces", open, "expected `{`"),
        };
        let span = self.reading.span(mark, mark + 1);
        let help = self.apply_to_each((open, close), &comprehension);
        Some(Diagnostic::error("E0101", message, span, remark).help(help))
    }

    /// The next token of a kind, outside of brackets and before what closes those at hand.
    fn within(&self, from: usize, close: usize, kind: Kind) -> Option<usize> {
        self.next_outside(from, |found| found == kind).filter(|token| *token < close)
    }

    /// The next `<-`, which is no token of its own: its `<`.
    pub(super) fn arrow(&self, from: usize, close: usize) -> Option<usize> {
        let less = self.within(from, close, Kind::Less)?;
        (self.reading.span_text(self.reading.span(less, less + 2)) == "<-").then_some(less)
    }

    /// What a comprehension of other languages is made of, in brackets that end at `close`.
    fn comprehension(&self, opener: &str, close: usize) -> Option<Comprehension<'_>> {
        let after = |from: usize, kind: Kind| self.within(from, close, kind);
        match self.found {
            _ if opener == "{" && after(self.at, Kind::For).is_none() => {
                self.barred_comprehension(after(self.at, Kind::Bar)?, close)
            }
            _ if opener == "{" || self.found == Kind::For && self.is_after_operand() => {
                let place = after(self.at, Kind::For)?;
                let inside = after(place + 1, Kind::In)?;
                let (source, pattern) = (inside + 1, self.quote(place + 1, inside)?);
                let condition = after(source, Kind::If);
                Some(Comprehension { place, source, condition, pattern })
            }
            Kind::Bar if opener == "[" => self.barred_comprehension(self.at, close),
            _ => None,
        }
    }

    /// What a bar divides: `e | x <- xs`, `e | x in xs`.
    fn barred_comprehension(&self, bar: usize, close: usize) -> Option<Comprehension<'_>> {
        let (end, source) = match self.arrow(bar + 1, close) {
            Some(less) => (less, less + 2),
            None => {
                let inside = self.within(bar + 1, close, Kind::In)?;
                (inside, inside + 1)
            }
        };
        let condition = self.within(source, close, Kind::Comma);
        Some(Comprehension { place: bar, source, condition, pattern: self.quote(bar + 1, end)? })
    }

    /// What to write for a comprehension in these brackets.
    fn apply_to_each(&self, (open, close): (usize, usize), of: &Comprehension<'_>) -> String {
        let &Comprehension { place, source, condition, pattern } = of;
        let end = condition.unwrap_or(close);
        let second = self.next_outside(source, |kind| matches!(kind, Kind::For | Kind::Less));
        let has_two_arrows = self.found == Kind::Bar && self.arrow(source, close).is_some();
        if second.is_some_and(|token| token < end) || has_two_arrows {
            return "all combinations: `flatten { { e : y in ys } : x in xs }`".to_owned();
        }
        if self.within(source, close, Kind::Colon).is_some() {
            return "write `{ e : x in a..b }`: a range leaves out b".to_owned();
        }
        let text = self.reading.span_text(self.reading.span(source, end));
        let array = haskell_range(text)
            .or_else(|| is_call_of_other_languages(text).then(|| text.to_owned()))
            .unwrap_or_else(|| self.quote_or_dots(source, end).to_owned());
        let Generated { each, .. } = generated(pattern, &array);
        let body = self.quote_or_dots(open + 1, place);
        let condition = match condition {
            Some(token) => format!(" | {}", self.quote_or_dots(token + 1, close)),
            None => String::new(),
        };
        format!("write `{{ {body} : {each}{condition} }}`")
    }

    /// `lambda x: e`, `x -> e`, `(x, y) => e`, `|x| e`, `\x : t -> e`.
    pub(super) fn lambda_of_other_languages(&self) -> Option<Diagnostic> {
        self.lambda_with_colon()
            .or_else(|| self.lambda_between_bars())
            .or_else(|| self.annotated_without_parentheses())
            .or_else(|| self.lambda_without_backslash())
    }

    /// `lambda x, y: e`.
    fn lambda_with_colon(&self) -> Option<Diagnostic> {
        let word = (0..self.at).rev().find(|token| self.is_word(*token, &["lambda"]))?;
        let colon = self.next_outside(word + 1, |kind| kind == Kind::Colon)?;
        let params = self.reading.kinds.get(word + 1..colon)?;
        if params.is_empty() || !params.iter().all(|kind| PARAMETERS.contains(*kind)) {
            return None;
        }
        let params = self.quote(word + 1, colon)?.replace(',', " ");
        Some(self.lambda(word, self.reading.span(word, colon + 1), &params, colon + 1))
    }

    /// `|x| e`, `|x, y| e`.
    fn lambda_between_bars(&self) -> Option<Diagnostic> {
        let first = match self.found {
            Kind::Bar if self.expects_expression() => self.at,
            Kind::Bar => (0..self.at).rev().find(|token| self.kind(*token) == Some(Kind::Bar))?,
            _ => return None,
        };
        let begins =
            first.checked_sub(1).and_then(|before| self.kind(before)).is_none_or(|before| {
                OPENERS.contains(before) || matches!(before, Kind::Comma | Kind::Equals | Kind::In)
            });
        let second = (first + 1..self.reading.kinds.len())
            .find(|token| self.kind(*token) == Some(Kind::Bar))?;
        let params = self.reading.kinds.get(first + 1..second)?;
        if !begins || params.is_empty() || !params.iter().all(|kind| PARAMETERS.contains(*kind)) {
            return None;
        }
        let params = self.quote(first + 1, second)?.replace(',', " ");
        Some(self.lambda(first, self.reading.span(first, second + 1), &params, second + 1))
    }

    /// `\x, y -> e`.
    pub(super) fn parameters_with_commas(&self) -> Option<Diagnostic> {
        if self.found != Kind::Comma || !self.expects(Kind::Arrow) {
            return None;
        }
        let start = (0..self.at).rev().find(|token| self.kind(*token) == Some(Kind::Backslash))?;
        let arrow = self.next_outside(start + 1, |kind| kind == Kind::Arrow)?;
        if !are_names(&self.reading.kinds[start + 1..arrow]) {
            return None;
        }
        let params = self.quote(start + 1, arrow)?.replace(',', " ");
        let params = params.split_whitespace().collect::<Vec<_>>().join(" ");
        let body = self.quote_or_dots(arrow + 1, self.end_of_part(arrow + 1));
        let span = self.reading.span(start + 1, arrow);
        Some(
            Diagnostic::error(
                "E0101",
                "parameters stand without commas",
                span,
                "several parameters",
            )
            .help(format!(
                "of two arguments `\\{params} -> {body}`, of one pair `\\({}) -> {body}`",
                self.quote(start + 1, arrow)?
            )),
        )
    }

    /// `\x : t -> e`.
    fn annotated_without_parentheses(&self) -> Option<Diagnostic> {
        let start = (0..self.at).rev().find(|token| self.kind(*token) == Some(Kind::Backslash))?;
        let colon =
            self.next_outside(start + 1, |kind| matches!(kind, Kind::Colon | Kind::Arrow))?;
        let params = self.reading.kinds.get(start + 1..colon)?;
        let are_names = params.iter().all(|kind| matches!(kind, Kind::Name | Kind::Wildcard));
        if self.kind(colon) != Some(Kind::Colon) || params.is_empty() || !are_names {
            return None;
        }
        let arrow = self.next_outside(colon, |kind| kind == Kind::Arrow)?;
        let (last, ty) = (self.reading.token_text(colon - 1), self.quote(colon + 1, arrow)?);
        let first =
            self.quote(start + 1, colon - 1).map_or(String::new(), |first| format!("{first} "));
        let body = self.quote_or_dots(arrow + 1, self.end_of_part(arrow + 1));
        Some(
            Diagnostic::error(
                "E0101",
                "a parameter with a type stands in parentheses",
                self.reading.span(colon - 1, arrow),
                "expected parentheses",
            )
            .help(format!("write `\\{first}({last} : {ty}) -> {body}`")),
        )
    }

    /// `x -> e`, `(x, y) -> e`, `fun x -> e`.
    fn lambda_without_backslash(&self) -> Option<Diagnostic> {
        let arrow = match self.found {
            Kind::Arrow if self.is_after_operand() => self.at,
            // `(x : i64, y : i64) -> …` is no annotation.
            Kind::Comma if self.expects(Kind::Arrow) && self.expects(Kind::CloseParen) => {
                let close = self.close_of(self.open_before(self.at)?);
                (self.kind(close + 1) == Some(Kind::Arrow)).then_some(close + 1)?
            }
            _ => return None,
        };
        let (mut start, mut depth) = (arrow, 0_usize);
        for token in (0..arrow).rev() {
            let kind = self.reading.kinds[token];
            if CLOSERS.contains(kind) {
                depth += 1;
            } else if OPENERS.contains(kind) {
                let Some(outside) = depth.checked_sub(1) else { break };
                depth = outside;
            }
            // Parameters with types stand in parentheses.
            let is_inside = depth > usize::from(kind == Kind::CloseBracket);
            let is_part = match is_inside {
                true => PARAMETERS.contains(kind) || IN_TYPES.contains(kind),
                false => PARAMETERS.contains(kind) && kind != Kind::Comma,
            };
            if !is_part {
                break;
            }
            start = token;
        }
        if start == arrow {
            return None;
        }
        if self.is_word(start, &LAMBDA_WORDS) && start + 1 < arrow {
            start += 1;
        }
        let params = self.quote(start, arrow)?;
        let is_one = self.close_of(start) + 1 == arrow;
        let inside = params.strip_prefix('(').and_then(|rest| rest.strip_suffix(')'));
        let inside = inside.filter(|_| is_one);
        let spread = inside.map(|inside| match inside.contains(':') {
            true if inside.contains(['(', '{']) => params.to_owned(),
            true => {
                let parts = inside.split(',').map(str::trim);
                parts.map(|part| format!("({part})")).collect::<Vec<_>>().join(" ")
            }
            false => inside.replace(',', " "),
        });
        let has_parts = inside.is_some_and(|inside| inside.contains(',') && !inside.contains(':'));
        let mut report =
            self.lambda(start, self.span, spread.as_deref().unwrap_or(params), arrow + 1);
        if let (true, Some(help)) = (has_parts, report.help.first_mut()) {
            help.push_str(&format!(", and of one pair `\\{params} -> …`"));
        }
        Some(report)
    }

    /// What a function is, with the parameters and body that stand here.
    fn lambda(&self, start: usize, place: weft_ir::Span, params: &str, body: usize) -> Diagnostic {
        let params = params.split_whitespace().collect::<Vec<_>>().join(" ");
        let body = self.quote_or_dots(body, self.end_of_part(body));
        let written = format!("\\{params} -> {body}");
        let is_argument = start.checked_sub(1).is_some_and(|before| {
            self.kind(before) == Some(Kind::Name) && !self.is_word(before, &LAMBDA_WORDS)
        });
        let written = if is_argument { format!("({written})") } else { written };
        Diagnostic::error(
            "E0101",
            "a function begins with `\\`",
            place,
            "the parameters of a function stand between `\\` and `->`",
        )
        .help(format!("a function is `{written}`"))
    }

    /// Where the part of the text ends that begins here: before a comma, a closing bracket or the end of the item.
    fn end_of_part(&self, from: usize) -> usize {
        let is_end = |kind| {
            matches!(kind, Kind::Comma | Kind::Semicolon | Kind::NewLine | Kind::In)
                || CLOSERS.contains(kind)
        };
        self.next_outside(from, is_end).unwrap_or(self.reading.kinds.len())
    }
}

/// Whether a source is a call that [`generated`] writes in another way, of which nothing is left.
fn is_call_of_other_languages(text: &str) -> bool {
    text.len() < LONGEST_CALL
        && ["range", "enumerate", "zip"].iter().any(|name| text.starts_with(name))
}

/// `[1..10]` as a range of this language, which leaves out its end.
fn haskell_range(text: &str) -> Option<String> {
    let (from, to) = text.strip_prefix('[')?.strip_suffix(']')?.split_once("..")?;
    let is_plain = |part: &str| {
        let mut letters = part.chars();
        !part.is_empty() && letters.all(|letter| letter.is_alphanumeric() || letter == '_')
    };
    let (from, to) = (from.trim(), to.trim());
    (is_plain(from) && is_plain(to)).then(|| match to.parse::<i64>() {
        Ok(last) => format!("{from}..{}", last.saturating_add(1)),
        Err(_) => format!("{from}..{to} + 1"),
    })
}
