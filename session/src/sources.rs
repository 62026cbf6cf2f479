//! The texts of a session: every cell and every imported file is a source of its own, so that a
//! diagnostic can point into any of them, however old.

use std::iter;
use std::sync::Arc;

use weft_ir::{SourceId, Span};
use weft_lang::Diagnostic;
use weft_lang::diagnostic::Severity;
use weft_lang::render;

use crate::prelude;

/// All texts so far. Appending only; ids stay valid for the life of the session.
#[derive(Clone, Debug, Default)]
pub struct Sources {
    texts: Arc<Vec<Source>>,
}

#[derive(Clone, Debug)]
struct Source {
    name: Arc<str>,
    text: Arc<str>,
    /// Where its lines begin.
    lines: Arc<[usize]>,
}

impl Sources {
    /// Adds a text under the name that diagnostics show: `In[7]`, or a file's path.
    pub(crate) fn add(&mut self, name: &str, text: &str) -> SourceId {
        let id = SourceId(u32::try_from(self.texts.len()).unwrap_or(u32::MAX));
        let lines = iter::once(0).chain(text.match_indices('\n').map(|(newline, _)| newline + 1));
        let lines = lines.collect();
        Arc::make_mut(&mut self.texts).push(Source { name: name.into(), text: text.into(), lines });
        id
    }

    /// A report of findings.
    pub(crate) fn report(&self, diagnostics: Vec<Diagnostic>) -> Report {
        Report { diagnostics, sources: self.clone() }
    }

    /// The numbers of the cells, and their texts.
    pub(crate) fn cells(&self) -> impl Iterator<Item = (&str, &str)> {
        self.texts.iter().filter_map(|source| {
            let number = source.name.strip_prefix("In[")?.strip_suffix(']')?;
            Some((number, &*source.text))
        })
    }

    /// The text at a place; empty if there is none.
    pub fn slice(&self, span: Span) -> &str {
        render::Sources::text(self, span.source).get(span.range()).unwrap_or("")
    }

    /// The lines that a span is in, and where in them it begins.
    pub(crate) fn line_of(&self, span: Span) -> (&str, usize) {
        let text = render::Sources::text(self, span.source);
        let range = span.range();
        let (Some(before), Some(behind)) = (text.get(..range.start), text.get(range.end..)) else {
            return ("", 0);
        };
        let first = before.rfind('\n').map_or(0, |newline| newline + 1);
        let end = behind.find('\n').map_or(text.len(), |newline| range.end + newline);
        (text.get(first..end).unwrap_or(""), range.start - first)
    }

    /// The comment in the lines right above a place, without its marks; empty if there is none.
    pub(crate) fn comment_before(&self, span: Span) -> String {
        let source = self.texts.get(span.source.0 as usize);
        let before = source.and_then(|source| source.text.get(..span.start as usize)).unwrap_or("");
        // What stands before the place on its own line is not a line above.
        let above = before.rsplit_once('\n').map_or("", |(above, _)| above);
        let mut lines: Vec<&str> = above
            .rsplit('\n')
            .map_while(|line| line.trim().strip_prefix("--"))
            .map(|line| line.strip_prefix(' ').unwrap_or(line))
            .collect();
        lines.reverse();
        lines.join("\n")
    }

    /// `In[7]:2-5`: places of one text as people name them, from the first to the last.
    pub(crate) fn places(&self, first: Span, last: Span) -> String {
        let (from, to) = (self.place(first), self.place(last));
        match to.rsplit_once(':') {
            Some((_, line)) if from != to && first.source == last.source => {
                format!("{from}-{line}")
            }
            _ => from,
        }
    }

    /// `In[7]:2`: a place as people name it.
    pub fn place(&self, span: Span) -> String {
        let name = render::Sources::name(self, span.source);
        let line = match self.texts.get(span.source.0 as usize) {
            Some(source) => source.lines.partition_point(|start| *start <= span.start as usize),
            None => {
                let text = render::Sources::text(self, span.source);
                1 + text.get(..span.start as usize).unwrap_or("").matches('\n').count()
            }
        };
        format!("{name}:{line}")
    }
}

impl render::Sources for Sources {
    fn name(&self, id: SourceId) -> &str {
        match self.texts.get(id.0 as usize) {
            Some(source) => &source.name,
            None if id == prelude::SOURCE => prelude::NAME,
            None => "?",
        }
    }

    fn text(&self, id: SourceId) -> &str {
        match self.texts.get(id.0 as usize) {
            Some(source) => &source.text,
            None if id == prelude::SOURCE => prelude::TEXT,
            None => "",
        }
    }
}

/// Findings about a cell, with the texts that they point into.
#[derive(Clone, Debug)]
pub struct Report {
    /// The findings.
    pub diagnostics: Vec<Diagnostic>,
    /// The texts.
    pub sources: Sources,
}

impl Report {
    /// The first error; `None` if there are only warnings.
    pub fn error(&self) -> Option<&Diagnostic> {
        self.diagnostics.iter().find(|diagnostic| diagnostic.severity == Severity::Error)
    }

    /// The report as text, with carets under the places; `width` in terminal cells.
    pub fn render(&self, colour: bool, width: usize) -> String {
        render::render(&self.diagnostics, &self.sources, colour, width)
    }
}
