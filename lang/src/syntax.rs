//! Text → surface syntax tree.
//!
//! ```text
//! text ─lexer→ tokens, items ─layout→ balanced stream ─grammar→ ast::Item
//! ```
//!
//! [`parse`] never fails and never overflows the stack: what is wrong is reported, an item that
//! cannot be read is left out, and the others are parsed. The lexer and the layout are written by
//! hand; the grammar is made of chumsky's parsers.

mod columns;
mod completeness;
mod explain;
mod failure;
mod grammar;
mod highlight;
mod kind;
mod layout;
mod lexer;
mod literal;
mod operator;
mod reading;

use std::collections::HashMap;
use std::ops::Range;

use chumsky::inspector::SimpleState;
use weft_ir::{SourceId, Span};

pub use self::completeness::{Completeness, completeness};
pub use self::highlight::{TokenClass, tokens};

use self::explain::Explained;
use self::grammar::Grammar;
use self::kind::Kind;
pub(crate) use self::layout::MAX_DEPTH;
use self::layout::{Form, ItemTokens, OpenContext, Stream};
use self::lexer::{Lexemes, Purpose, lex};
use self::reading::Reading;
use crate::ast::{Def, Expr, ExprKind, Ident, Item, ItemKind, Pattern, PatternKind};
use crate::diagnostic::Diagnostic;

/// The most tokens that a source may have; an array literal of many plain numbers counts as one.
pub(crate) const MAX_TOKENS: usize = 4_000_000;

/// The most diagnostics that one parse reports; the last one says how many there are more.
pub const MAX_REPORTS: usize = 100;

/// What a source contains.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Parsed {
    /// The items that could be read, in order. If there is an error in `diagnostics`, parts of
    /// them may be [`ExprKind::Error`].
    pub items: Vec<Item>,
    /// What is wrong, in the order of the text.
    pub diagnostics: Vec<Diagnostic>,
}

/// Parses the items of a whole source.
///
/// Drop the result on a stack that suits [`crate::STACK_BYTES`]: the trees may be 20 000 levels
/// deep.
pub fn parse(source: SourceId, text: &str) -> Parsed {
    read(source, text, 0..text.len(), Purpose::Items).0
}

/// Parses `range` of a source as a single item, whatever the columns: the argument of a command.
/// Spans count from the start of the source.
pub fn parse_item(source: SourceId, text: &str, range: Range<usize>) -> Parsed {
    read(source, text, range, Purpose::OneItem).0
}

/// The text of a source read from outside, or the report that it is not UTF-8 (E0118).
pub fn decode(source: SourceId, bytes: &[u8]) -> Result<&str, Box<Diagnostic>> {
    std::str::from_utf8(bytes).map_err(|error| {
        let at = error.valid_up_to();
        let line = 1 + bytes[..at].iter().filter(|byte| **byte == b'\n').count();
        let message = format!("the text is not UTF-8: byte {at}, in line {line}");
        let span = Span::new(source, 0, 0);
        Box::new(
            Diagnostic::error("E0118", message, span, "the source begins here")
                .help("save it as UTF-8; arbitrary bytes in a text are written \\xHH"),
        )
    })
}

/// Lexes, lays out and parses; also says what the end of the text leaves open.
fn read(
    source: SourceId,
    text: &str,
    range: Range<usize>,
    purpose: Purpose,
) -> (Parsed, Option<OpenContext>) {
    if u32::try_from(text.len()).is_err() {
        return (too_large(source, "the source is larger than 4 GiB"), None);
    }
    let mut lexemes = lex(source, text, range, purpose);
    if lexemes.kinds.len() > MAX_TOKENS {
        return (too_large(source, "the source has more than 4 million tokens"), None);
    }
    let mut diagnostics = std::mem::take(&mut lexemes.diagnostics);
    let mut more = lexemes.more;
    let stream = layout::lay_out(source, text, &lexemes, &mut diagnostics);
    let depth = stream.items.iter().map(|item| item.depth).max().unwrap_or(0);
    let items = with_stack_for(depth, || {
        parse_items(source, text, &lexemes, &stream, &mut diagnostics, &mut more)
    });
    diagnostics.sort_by_key(|diagnostic| diagnostic.span().start);
    // The lexer's report about a place comes first and says more than the grammar's.
    diagnostics.dedup_by_key(|diagnostic| diagnostic.span().start);
    leave_out_uses(&mut diagnostics, text);
    shorten(&mut diagnostics, more);
    (Parsed { items, diagnostics }, stream.open)
}

/// Of a word of the language that was to be a name, only the first place is reported: its uses say nothing new.
fn leave_out_uses(diagnostics: &mut Vec<Diagnostic>, text: &str) {
    let mut words: Vec<&str> = Vec::new();
    diagnostics.retain(|diagnostic| {
        let span = diagnostic.span();
        let word = text.get(span.start as usize..span.end as usize).unwrap_or_default();
        let is_use = match diagnostic.code {
            "E0111" => true,
            "E0101" => {
                diagnostic.labels.iter().any(|label| label.message == "expected an expression")
            }
            _ => false,
        };
        let is_known = is_use && words.contains(&word);
        if diagnostic.code == "E0111" {
            words.push(word);
        }
        !is_known
    });
}

/// Keeps the first [`MAX_REPORTS`] diagnostics and says how many there were; `more` were dropped
/// before.
fn shorten(diagnostics: &mut Vec<Diagnostic>, more: usize) {
    let more = more + diagnostics.len().saturating_sub(MAX_REPORTS);
    diagnostics.truncate(MAX_REPORTS);
    if more > 0
        && let Some(last) = diagnostics.last_mut()
    {
        last.notes.push(format!("{more} more errors are not shown"));
    }
}

/// Runs `action` on a stack on which a tree of that depth can be dropped. (The recursion of the
/// parsers themselves is looked after by chumsky.)
fn with_stack_for<R>(depth: u32, action: impl FnOnce() -> R) -> R {
    const SHALLOW: u32 = 200;
    const NEEDED: usize = 32 << 20;
    const FRESH: usize = 128 << 20;
    if depth <= SHALLOW { action() } else { stacker::maybe_grow(NEEDED, FRESH, action) }
}

fn too_large(source: SourceId, remark: &str) -> Parsed {
    let diagnostic =
        Diagnostic::error("E0119", "the source is too large", Span::new(source, 0, 0), remark)
            .help("put large data into a file and `load` it");
    Parsed { items: Vec::new(), diagnostics: vec![diagnostic] }
}

fn parse_items(
    source: SourceId,
    text: &str,
    lexemes: &Lexemes,
    stream: &Stream,
    diagnostics: &mut Vec<Diagnostic>,
    more: &mut usize,
) -> Vec<Item> {
    let grammar = Grammar::new();
    let mut state = SimpleState(Reading {
        source,
        text,
        kinds: &[],
        places: &[],
        numbers: &lexemes.numbers,
        names: HashMap::new(),
    });
    let mut items = Vec::with_capacity(stream.items.len());
    for (index, ItemTokens { tokens, form, levels, .. }) in stream.items.iter().enumerate() {
        let is_last = stream.has_last && index + 1 == stream.items.len();
        state.0.kinds = &stream.kinds[tokens.clone()];
        state.0.places = &stream.places[tokens.clone()];
        let span = state.0.span(0, tokens.len());
        let kind = if *form == Form::Command {
            Some(command(&mut state.0))
        } else if let Some(report) = explain::foreign_item(&state.0, *form) {
            leave_out_foreign(diagnostics, span);
            diagnostics.push(report);
            broken_definition(*form, &mut state.0)
        } else {
            let (kind, failures) = grammar.parse(*form, &mut state);
            let end = explain::End { is_last };
            *more += failures.len().saturating_sub(MAX_REPORTS);
            let told = failures.into_iter().take(MAX_REPORTS);
            let mut told: Vec<Explained> = told
                .filter_map(|failure| explain::explain(failure, &state.0, *form, end))
                .collect();
            if told.iter().any(|told| told.is_of_item) {
                leave_out_foreign(diagnostics, span);
                told.retain(|told| told.is_of_item);
            }
            diagnostics.extend(told.into_iter().map(|told| told.report));
            kind.filter(is_worth_keeping).or_else(|| broken_definition(*form, &mut state.0))
        };
        items.extend(kind.map(|kind| Item { kind, span, levels: *levels }));
    }
    items
}

/// A bare expression of which nothing could be read says nothing to the checker.
fn is_worth_keeping(kind: &ItemKind) -> bool {
    !matches!(kind, ItemKind::Expr { value, .. } if value.kind == ExprKind::Error)
}

/// An item of which nothing could be read but the names that it was to bind: those are known to the items behind it.
fn broken_definition(form: Form, reading: &mut Reading<'_>) -> Option<ItemKind> {
    let body = Expr { kind: ExprKind::Error, span: reading.span(0, reading.kinds.len()) };
    let name = match form {
        Form::Def => 1,
        // `let f x = …` as in other languages.
        Form::Expression
            if reading.kinds.first() == Some(&Kind::Let) && !reading.kinds.contains(&Kind::In) =>
        {
            explain::name_behind_let(reading)
        }
        Form::Binding => {
            let names = explain::names_of_binding(reading).into_iter();
            let pattern = |token| {
                let name = reading.ident(token);
                Pattern { kind: PatternKind::Name(name.name), span: name.span }
            };
            let (names, span) = (names.map(pattern).collect(), body.span);
            let pattern = Pattern { kind: PatternKind::Tuple(names), span };
            return Some(ItemKind::Binding { pattern, value: body });
        }
        _ => return None,
    };
    if reading.kinds.get(name) != Some(&Kind::Name) {
        return None;
    }
    let name = reading.ident(name);
    Some(ItemKind::Def(Def { name, params: Vec::new(), result: None, body }))
}

/// What the lexer found to be foreign in an item that is foreign as a whole goes with it.
fn leave_out_foreign(diagnostics: &mut Vec<Diagnostic>, item: Span) {
    diagnostics.retain(|found| found.code != "E0110" || !item.contains(found.span()));
}

fn command(reading: &mut Reading<'_>) -> ItemKind {
    let mut span = reading.span(0, 1);
    span.start += 1;
    let name = Ident { name: reading.name(reading.span_text(span)), span };
    let argument_span = reading.span(1, 2);
    let argument = reading.span_text(argument_span).into();
    ItemKind::Command { name, argument, argument_span }
}
