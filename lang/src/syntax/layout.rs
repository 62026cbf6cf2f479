//! From the tokens of an item to a stream that the grammar reads without looking ahead.
//!
//! - Brackets are matched; what does not match is reported here, and the stream is balanced by
//!   closers without text.
//! - An aligned line of a `let` block is preceded by [`Kind::NewLine`].
//! - Braces are told apart by what stands in them, and a binary operator before `)` is marked.
//! - The form of each item is known from its first token and from a `=` outside all brackets.
//! - Items that nest too deeply are reported and left out, so that no later pass can overflow its
//!   stack: see Note \[Depth\].

mod brackets;
mod frame;

use std::ops::Range;

use weft_ir::SourceId;

use self::frame::{Frame, FrameKind};
use super::columns::Columns;
use super::kind::{BINARY, CLOSERS, Kind, KindSet, OPENERS};
use super::lexer::{Lexemes, Place};
use crate::diagnostic::Diagnostic;

/// How many brackets and open forms (`if`, `let`, `loop`, lambdas) may be open at once.
pub(super) const MAX_NESTING: u32 = 1_000;

/// How deep the tree of one item may be. Operator chains count: each operator is a level.
pub(crate) const MAX_DEPTH: u32 = 20_000;

/// The forms of items, as their tokens tell them apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Form {
    /// `def …`.
    Def,
    /// `type …`.
    TypeAlias,
    /// `import …`.
    Import,
    /// `:name …`.
    Command,
    /// `p = e`.
    Binding,
    /// Anything else.
    Expression,
}

/// The extent of an item.
#[derive(Clone, Debug)]
pub(super) struct ItemTokens {
    /// Its tokens in the stream.
    pub(super) tokens: Range<usize>,
    /// What it is.
    pub(super) form: Form,
    /// How deep its tree can be at most.
    pub(super) depth: u32,
    /// The same, where each binding of a `let` is a level too.
    pub(super) levels: u32,
}

/// A `let` or bracket that is open at the end of the text, and where its content starts.
#[derive(Clone, Copy, Debug)]
pub(super) struct OpenContext {
    /// The column in which a further line would be aligned.
    pub(super) column: u32,
}

/// The tokens of all items that can be parsed.
#[derive(Debug, Default)]
pub(super) struct Stream {
    /// What the tokens are.
    pub(super) kinds: Vec<Kind>,
    /// Where they are.
    pub(super) places: Vec<Place>,
    /// The items.
    pub(super) items: Vec<ItemTokens>,
    /// Whether the last item of the text is among them.
    pub(super) has_last: bool,
    /// The innermost context that the end of the text leaves open.
    pub(super) open: Option<OpenContext>,
}

/// Lays out the tokens; what is wrong is added to `diagnostics`.
pub(super) fn lay_out(
    source: SourceId,
    text: &str,
    lexemes: &Lexemes,
    diagnostics: &mut Vec<Diagnostic>,
) -> Stream {
    let first = lexemes.places.first().map_or(0, |place| place.start as usize);
    let mut layout = Layout {
        source,
        lexemes,
        columns: Columns::new(text, first),
        next_line: 0,
        stream: Stream::default(),
        diagnostics,
    };
    for (index, &start) in lexemes.items.iter().enumerate() {
        let end = lexemes.items.get(index + 1).copied().unwrap_or(lexemes.kinds.len());
        layout.item(start..end, index + 1 == lexemes.items.len());
    }
    layout.stream
}

struct Layout<'a> {
    source: SourceId,
    lexemes: &'a Lexemes,
    columns: Columns<'a>,
    /// The next entry of the lexemes' line starts.
    next_line: usize,
    stream: Stream,
    diagnostics: &'a mut Vec<Diagnostic>,
}

/// What may begin a binding of a `let`.
const BINDING_STARTS: KindSet =
    KindSet::of(&[Kind::Name, Kind::TypeWord, Kind::Wildcard, Kind::OpenParen, Kind::OpenBrace]);

/// What makes the tree of a chain one level deeper.
const LINKS: KindSet = BINARY.and(OPENERS).and(KindSet::of(&[
    Kind::Field,
    Kind::PrefixMinus,
    Kind::PrefixNot,
    Kind::ArgumentMinus,
    Kind::ArgumentNot,
    Kind::Arrow,
    Kind::TypeWord,
]));

impl Layout<'_> {
    fn item(&mut self, range: Range<usize>, is_last: bool) {
        let begin = self.stream.kinds.len();
        let mut nest = Nest { frames: vec![Frame::new(FrameKind::Item, begin)], nesting: 1 };
        let mut form = form(self.lexemes.kinds[range.start]);
        for token in range.clone() {
            let kind = self.lexemes.kinds[token];
            let place = self.lexemes.places[token];
            self.align(token, &mut nest, token == range.start);
            if kind == Kind::Equals && form == Form::Expression && nest.top().can_bind() {
                form = Form::Binding;
            }
            self.token(kind, place, &mut nest);
            if nest.nesting > MAX_NESTING {
                return self.too_deep(begin, place, TOO_NESTED);
            }
        }
        if is_last {
            self.stream.open = self.open_context(&nest);
        }
        if nest.top().kind == FrameKind::Item
            && let Some(last @ Kind::Semicolon) = self.stream.kinds.last_mut()
        {
            *last = Kind::Quiet;
        }
        self.close_all(&mut nest, is_last);
        let (depth, levels) = nest.frames.pop().map_or((0, 0), Frame::depth);
        if depth > MAX_DEPTH {
            return self.too_deep(begin, self.lexemes.places[range.start], TOO_LONG);
        }
        self.stream.has_last = is_last;
        let tokens = begin..self.stream.kinds.len();
        self.stream.items.push(ItemTokens { tokens, form, depth, levels });
    }

    /// Starts a `let` block at its first token, and marks the later lines that are aligned to it.
    fn align(&mut self, token: usize, nest: &mut Nest, is_first: bool) {
        let mut is_line_start = false;
        while let Some(&first) = self.lexemes.lines.get(self.next_line)
            && first <= token
        {
            is_line_start = first == token;
            self.next_line += 1;
        }
        let kind = self.lexemes.kinds[token];
        let place = self.lexemes.places[token];
        let top = nest.top();
        let needs_column = is_line_start || top.column.is_none();
        if is_first || top.kind == FrameKind::Item || !needs_column {
            return;
        }
        let column = self.columns.column(place.start as usize);
        match top.column {
            None => top.column = Some(column),
            Some(aligned)
                if top.kind == FrameKind::Let
                    && aligned == column
                    && BINDING_STARTS.contains(kind) =>
            {
                nest.separate();
                self.push(Kind::NewLine, Place { start: place.start, end: place.start });
            }
            Some(_) => {}
        }
    }

    fn token(&mut self, kind: Kind, place: Place, nest: &mut Nest) {
        if CLOSERS.contains(kind) {
            return self.close(kind, place, nest);
        }
        if LINKS.contains(kind) {
            nest.top().links += 1;
        }
        match kind {
            Kind::OpenParen => nest.open(FrameKind::Paren, self.stream.kinds.len()),
            Kind::OpenBracket | Kind::OpenIndex => {
                nest.open(FrameKind::Bracket, self.stream.kinds.len());
            }
            Kind::OpenBrace => nest.open(FrameKind::Brace, self.stream.kinds.len()),
            Kind::Let => nest.open(FrameKind::Let, self.stream.kinds.len()),
            Kind::Backslash | Kind::If => nest.form(),
            Kind::Loop => {
                nest.form();
                nest.top().loops += 1;
            }
            Kind::For => nest.top().fors += 1,
            Kind::Do => nest.top().fors = nest.top().fors.saturating_sub(1),
            Kind::In => nest.in_keyword(),
            Kind::With => nest.top().has_with = true,
            Kind::Equals => nest.top().loops = nest.top().loops.saturating_sub(1),
            Kind::Colon | Kind::Bar if nest.top().kind == FrameKind::Brace => {
                nest.top().has_colon |= kind == Kind::Colon && !nest.top().has_in;
                nest.top().has_bar |= kind == Kind::Bar;
                nest.separate();
            }
            Kind::Comma | Kind::Semicolon => nest.separate(),
            _ => {}
        }
        self.push(kind, place);
    }

    /// Appends a closer that matches the innermost bracket, and says what the bracket was.
    fn close_top(&mut self, place: Place, nest: &mut Nest) {
        nest.abandon_lets();
        let Some(frame) = nest.pop() else { return };
        let kinds = &mut self.stream.kinds;
        match frame.kind {
            FrameKind::Paren => {
                if let Some(last) = kinds.last_mut()
                    && BINARY.contains(*last)
                    && self.stream.places.len() > frame.open + 2
                {
                    *last = Kind::TrailingOperator;
                }
            }
            FrameKind::Brace => kinds[frame.open] = frame.brace(&kinds[frame.open..]),
            FrameKind::Bracket | FrameKind::Let | FrameKind::Item => {}
        }
        self.push(frame.kind.closer(), place);
    }

    fn push(&mut self, kind: Kind, place: Place) {
        self.stream.kinds.push(kind);
        self.stream.places.push(place);
    }

    fn open_context(&self, nest: &Nest) -> Option<OpenContext> {
        let frame = nest.frames.last().filter(|frame| frame.kind != FrameKind::Item)?;
        frame.column.map(|column| OpenContext { column })
    }

    fn too_deep(&mut self, begin: usize, place: Place, (message, remark, help): TooDeep) {
        self.stream.kinds.truncate(begin);
        self.stream.places.truncate(begin);
        self.diagnostics
            .push(Diagnostic::error("E0116", message, place.span(self.source), remark).help(help));
    }
}

type TooDeep = (&'static str, &'static str, &'static str);

const TOO_NESTED: TooDeep = (
    "this item nests too deeply",
    "more than 1000 brackets, lambdas, `if`s, `let`s and loops are open here",
    "name the inner parts, or load the data from a file",
);

const TOO_LONG: TooDeep = (
    "this item chains too many operators",
    "its tree is deeper than 20000 levels",
    "name parts of it, or reduce an array with `sum` or `fold`",
);

fn form(first: Kind) -> Form {
    match first {
        Kind::Def => Form::Def,
        Kind::Type => Form::TypeAlias,
        Kind::Import => Form::Import,
        Kind::Command => Form::Command,
        _ => Form::Expression,
    }
}

/// The brackets and `let`s that are open.
struct Nest {
    /// Innermost last; the first is the item itself and is never popped before the item's end.
    frames: Vec<Frame>,
    /// The number of open brackets and open forms.
    nesting: u32,
}

impl Nest {
    fn top(&mut self) -> &mut Frame {
        let last = self.frames.len() - 1;
        &mut self.frames[last]
    }

    fn open(&mut self, kind: FrameKind, open: usize) {
        self.frames.push(Frame::new(kind, open));
        self.nesting += 1;
    }

    /// `if`, `loop` or a lambda: it stays open to the end of the segment.
    fn form(&mut self) {
        self.top().forms += 1;
        self.nesting += 1;
    }

    /// Ends a segment: what follows is beside what came before, not inside it.
    fn separate(&mut self) {
        let forms = self.top().end_segment();
        self.nesting -= forms;
    }

    /// `in` closes a `let`, or belongs to a generator or a `for`.
    fn in_keyword(&mut self) {
        let top = self.top();
        if top.fors > 0 {
            top.fors -= 1;
        } else if top.kind == FrameKind::Let {
            self.pop();
            self.form();
        } else {
            top.has_in = true;
        }
    }

    /// Drops `let`s whose `in` is missing at the end of their bracket.
    fn abandon_lets(&mut self) {
        while self.top().kind == FrameKind::Let {
            self.pop();
        }
    }

    /// Closes the innermost frame, unless it is the item.
    fn pop(&mut self) -> Option<Frame> {
        if self.top().kind == FrameKind::Item {
            return None;
        }
        self.separate();
        self.nesting -= 1;
        let frame = self.frames.pop()?;
        let inner = frame.deepest + 1;
        let top = self.top();
        top.inner = top.inner.max(inner);
        // What follows a `let` stands in it, what follows a bracket beside it.
        if frame.kind == FrameKind::Let {
            top.bindings += frame.ended;
        }
        top.inner_bindings = top.inner_bindings.max(frame.scope);
        Some(frame)
    }
}
