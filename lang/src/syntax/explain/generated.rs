//! What other languages go over: `range(n)`, `enumerate(xs)`, `zip(xs, ys)`, and several names without parentheses.

use super::Context;
use crate::diagnostic::Diagnostic;
use crate::syntax::kind::{CLOSERS, Kind};

/// What `for p in source` goes over, in the forms of this language.
pub(super) struct Generated {
    /// The generators of an apply-to-each.
    pub(super) each: String,
    /// What stands behind the `for` of a loop.
    pub(super) steps: String,
}

/// The names and the source of a `for` of another language.
pub(super) fn generated(pattern: &str, source: &str) -> Generated {
    if let Some(range) = counted(source) {
        let each = format!("{pattern} in {}", range.written());
        let steps = match (&*range.from, &range.by) {
            ("0", None) => format!("{pattern} < {}", range.to),
            _ => each.clone(),
        };
        return Generated { each, steps };
    }
    let names: Vec<&str> = pattern.trim_matches(['(', ')']).split(',').map(str::trim).collect();
    let is_flat = !pattern.get(1..pattern.len().max(2) - 1).unwrap_or("").contains(['(', ')']);
    let arrays = match (call("enumerate", source), call("zip", source)) {
        (Some(xs), _) => vec![format!("indices {xs}"), xs.to_owned()],
        (None, Some(inside)) => inside.split(',').map(|part| part.trim().to_owned()).collect(),
        (None, None) => Vec::new(),
    };
    let is_simple = |text: &String| {
        let is_array = text.starts_with('[') || text.starts_with("indices [");
        let is_part =
            |c: char| c.is_alphanumeric() || "_.' ".contains(c) || is_array && "[],".contains(c);
        text.chars().all(is_part)
    };
    if is_flat && names.len() == 2 && arrays.len() == 2 && arrays.iter().all(is_simple) {
        let (first, second) = (names[0], names[1]);
        let argument = |text: &str| match text.contains(' ') && !text.starts_with('[') {
            true => format!("({text})"),
            false => text.to_owned(),
        };
        return Generated {
            each: format!("{first} in {} ; {second} in {}", arrays[0], arrays[1]),
            steps: format!(
                "({first}, {second}) in zip {} {}",
                argument(&arrays[0]),
                argument(&arrays[1])
            ),
        };
    }
    let pattern = match pattern.contains(',') && !pattern.starts_with('(') {
        true => format!("({pattern})"),
        false => pattern.to_owned(),
    };
    let each = format!("{pattern} in {source}");
    Generated { steps: each.clone(), each }
}

/// What `name(…)` or `name …` is applied to.
fn call<'t>(name: &str, source: &'t str) -> Option<&'t str> {
    let rest = source.strip_prefix(name)?;
    let inside = rest.trim().strip_prefix('(').and_then(|rest| rest.strip_suffix(')'));
    match inside {
        Some(inside) => Some(inside.trim()),
        None if rest.trim().starts_with('[') && rest.ends_with(']') => Some(rest.trim()),
        None if rest.starts_with(' ') && !rest.trim().contains(' ') => Some(rest.trim()),
        None => None,
    }
}

/// From where to where is counted, and by which step.
struct Counted {
    from: String,
    to: String,
    by: Option<String>,
}

impl Counted {
    fn written(&self) -> String {
        let by = self.by.as_ref().map_or(String::new(), |by| format!(" by {by}"));
        format!("{}..{}{by}", self.from, self.to)
    }
}

/// `range(n)`, `range(a, b)`, `range(a, b, s)`, with `len(xs)` in it.
fn counted(source: &str) -> Option<Counted> {
    let inside = source.strip_prefix("range")?.trim().strip_prefix('(')?.strip_suffix(')')?;
    let parts: Option<Vec<String>> = inside.split(',').map(bound).collect();
    let mut parts = parts?.into_iter();
    let (first, second, by) = (parts.next()?, parts.next(), parts.next());
    if parts.next().is_some() {
        return None;
    }
    Some(match second {
        None => Counted { from: "0".to_owned(), to: first, by: None },
        Some(second) => Counted { from: first, to: second, by },
    })
}

/// A bound of a range: a sum or a product of names and numbers, or the length of an array.
fn bound(text: &str) -> Option<String> {
    let text = text.trim();
    let is_simple =
        |text: &str| text.chars().all(|c| c.is_alphanumeric() || "_.' +-*/".contains(c));
    let written = match text.strip_prefix("len(").and_then(|rest| rest.split_once(')')) {
        Some((array, rest)) if is_simple(array) && !array.contains(' ') => {
            format!("length {array}{rest}")
        }
        _ => text.to_owned(),
    };
    if written.is_empty() || !is_simple(&written) {
        return None;
    }
    Some(if written.starts_with('-') { format!("({written})") } else { written })
}

impl Context<'_, '_> {
    /// `{ e : i, x in … }`: several names, which stand in parentheses.
    pub(super) fn names_without_parentheses(&self) -> Option<Diagnostic> {
        if self.found != Kind::Comma || !self.expects(Kind::In) {
            return None;
        }
        let is_name = |kind: Kind| matches!(kind, Kind::Name | Kind::Wildcard | Kind::Comma);
        let first =
            (0..self.at).rev().take_while(|token| is_name(self.reading.kinds[*token])).last()?;
        let inside = (self.at..self.reading.kinds.len())
            .find(|token| !is_name(self.reading.kinds[*token]))
            .filter(|token| self.kind(*token) == Some(Kind::In))?;
        let is_end = |kind: Kind| {
            matches!(kind, Kind::Semicolon | Kind::Bar | Kind::Do | Kind::Colon)
                || CLOSERS.contains(kind)
        };
        let end = self.next_outside(inside + 1, is_end).unwrap_or(self.reading.kinds.len());
        let pattern = self.quote(first, inside)?;
        let source = self.quote_or_dots(inside + 1, end);
        let of_loop = self.kind(first.checked_sub(1)?) == Some(Kind::For);
        let written = generated(pattern, source);
        let help = match of_loop {
            true => format!("write `for {}`", written.steps),
            false => {
                let open = self.open_before(first)?;
                let is_first = self.kind(first - 1) == Some(Kind::Colon);
                match is_first && self.kind(end).is_some_and(|kind| CLOSERS.contains(kind)) {
                    true => {
                        let body = self.quote_or_dots(open + 1, first - 1);
                        format!("write `{{ {body} : {} }}`", written.each)
                    }
                    false => format!("write `{}`", written.each),
                }
            }
        };
        Some(
            Diagnostic::error(
                "E0101",
                "several names stand in parentheses",
                self.reading.span(first, inside),
                "a tuple is expected here",
            )
            .help(help),
        )
    }
}
