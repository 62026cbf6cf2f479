//! An open bracket or `let`, and what has been seen in it.
//!
//! Note \[Depth\]. Every later pass walks the tree recursively. So the depth of the tree is bounded here, from the
//! tokens alone: a segment (what stands between separators) is at most as deep as the number of
//! its operators and other links, plus its open forms, plus its deepest bracket. The bound is
//! never too small, and it is exact for chains. The number of brackets and forms that are open at
//! once is bounded separately and lower, because the parser recurses for those only.
//!
//! The bindings of a `let` are side by side for the parser, but each is a level for what comes behind it, as the
//! next ones stand in its scope. They are counted here, and the checker refuses an item with too many.

use crate::syntax::kind::{Kind, NAMES};

/// What is open.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum FrameKind {
    /// The item.
    Item,
    /// `(`.
    Paren,
    /// `[`.
    Bracket,
    /// `{`.
    Brace,
    /// `let`.
    Let,
}

impl FrameKind {
    /// The token that closes it.
    pub(super) fn closer(self) -> Kind {
        match self {
            FrameKind::Paren => Kind::CloseParen,
            FrameKind::Bracket => Kind::CloseBracket,
            FrameKind::Brace => Kind::CloseBrace,
            FrameKind::Let => Kind::In,
            FrameKind::Item => Kind::NewLine,
        }
    }
}

/// One open context.
#[derive(Debug)]
pub(super) struct Frame {
    /// What is open.
    pub(super) kind: FrameKind,
    /// The index of its first token in the stream.
    pub(super) open: usize,
    /// The column of the first token after that.
    pub(super) column: Option<u32>,
    /// Forms open in this segment.
    pub(super) forms: u32,
    /// Operators and other links in this segment.
    pub(super) links: u32,
    /// The depth of the deepest bracket in this segment.
    pub(super) inner: u32,
    /// The depth of the deepest segment so far.
    pub(super) deepest: u32,
    /// The bindings of the `let`s in this segment.
    pub(super) bindings: u32,
    /// The most bindings that are in scope in a bracket or binding of this segment.
    pub(super) inner_bindings: u32,
    /// The most bindings that are in scope in a segment so far.
    pub(super) scope: u32,
    /// The segments that have ended.
    pub(super) ended: u32,
    /// `for`s that still wait for their `in` or `do`.
    pub(super) fors: u32,
    /// `loop`s that still wait for their `=`.
    pub(super) loops: u32,
    /// Whether there was an `in` of a generator.
    pub(super) has_in: bool,
    /// Whether there was a `:` before it.
    pub(super) has_colon: bool,
    /// Whether there was a `|`.
    pub(super) has_bar: bool,
    /// Whether there was a `with`.
    pub(super) has_with: bool,
}

impl Frame {
    /// A context whose first token is at `open`.
    pub(super) fn new(kind: FrameKind, open: usize) -> Frame {
        Frame {
            kind,
            open,
            column: None,
            forms: 0,
            links: 0,
            inner: 0,
            deepest: 0,
            bindings: 0,
            inner_bindings: 0,
            scope: 0,
            ended: 0,
            fors: 0,
            loops: 0,
            has_in: false,
            has_colon: false,
            has_bar: false,
            has_with: false,
        }
    }

    /// Whether a `=` here makes the item a binding.
    pub(super) fn can_bind(&self) -> bool {
        self.kind == FrameKind::Item && self.forms == 0 && self.loops == 0 && !self.has_with
    }

    /// Ends a segment and returns how many forms were open in it.
    pub(super) fn end_segment(&mut self) -> u32 {
        self.deepest = self.deepest.max(self.forms + self.links + self.inner);
        self.scope = self.scope.max(self.bindings + self.inner_bindings);
        self.links = 0;
        self.inner = 0;
        self.bindings = 0;
        self.inner_bindings = 0;
        self.ended += 1;
        std::mem::take(&mut self.forms)
    }

    /// The depth of all that was in it, without and with the bindings of `let`s.
    pub(super) fn depth(mut self) -> (u32, u32) {
        self.end_segment();
        (self.deepest, self.deepest + self.scope)
    }

    /// What kind of brace this was, given its tokens.
    pub(super) fn brace(&self, tokens: &[Kind]) -> Kind {
        if self.has_in || self.has_bar {
            return if self.has_colon { Kind::OpenComprehension } else { Kind::OpenFilter };
        }
        if self.has_with {
            return Kind::OpenUpdate;
        }
        let starts_record = match tokens {
            [_, name, next, ..] => {
                NAMES.contains(*name)
                    && matches!(next, Kind::Equals | Kind::Comma | Kind::Colon | Kind::CloseBrace)
            }
            _ => true,
        };
        match (starts_record, self.has_colon) {
            (false, true) => Kind::OpenComprehension,
            _ => Kind::OpenBrace,
        }
    }
}
