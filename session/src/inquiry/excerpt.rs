//! Lines of the source with remarks under them, for a report in plain text.

use weft_ir::Span;
use weft_lang::render::Sources as _;

use crate::sources::Sources;

/// The widest line that is shown whole.
const WIDEST: usize = 96;

/// The lines that the spans stand in, each once and in order of the source, with every remark under
/// its own. Of a span over several lines only the first is shown, and of a long line the part around a span.
///
/// ```text
/// In[2]:1 │ let e = exp (xs - maximum xs) in e / sum e
///         │         ^^^^^^^^^^^^^^^^^^^^^ makes e
///         │                                  ^^^^^^^ reads it
/// ```
pub(super) fn excerpt(remarks: &[(Span, &str)], sources: &Sources) -> Vec<String> {
    let mut marks: Vec<Mark<'_>> =
        remarks.iter().filter_map(|(span, remark)| mark(*span, remark, sources)).collect();
    marks.sort_by_key(|mark| (mark.span.source.0, mark.line_start));
    let width = marks.iter().map(|mark| mark.place.chars().count()).max().unwrap_or(0);
    let mut lines = Vec::new();
    let mut shown = None;
    for mark in &marks {
        let from = mark.window();
        let line = (mark.span.source.0, mark.line_start, from);
        if shown != Some(line) {
            lines.push(format!("{:>width$} │ {}", mark.place, cut(mark.line, from)));
            shown = Some(line);
        }
        // What is left out on the left is one character.
        let column = if from == 0 { mark.column } else { mark.column - from + 1 };
        let length = mark.length.clamp(1, WIDEST.saturating_sub(column).max(1));
        lines.push(format!(
            "{:>width$} │ {}{} {}",
            "",
            " ".repeat(column),
            "^".repeat(length),
            mark.remark
        ));
    }
    lines
}

/// A span in its line.
struct Mark<'a> {
    span: Span,
    place: String,
    /// Where the line begins, in bytes.
    line_start: usize,
    line: &'a str,
    /// In characters.
    column: usize,
    length: usize,
    remark: &'a str,
}

fn mark<'a>(span: Span, remark: &'a str, sources: &'a Sources) -> Option<Mark<'a>> {
    let text = sources.text(span.source);
    let before = text.get(..span.start as usize)?;
    let line_start = before.rfind('\n').map_or(0, |newline| newline + 1);
    let line = text[line_start..].lines().next()?;
    let marked = text.get(span.range())?.lines().next().unwrap_or("");
    Some(Mark {
        span,
        place: sources.place(span),
        line_start,
        line,
        column: before[line_start..].chars().count(),
        length: marked.chars().count(),
        remark,
    })
}

impl Mark<'_> {
    /// The first character of the line that is shown.
    fn window(&self) -> usize {
        match self.column + self.length.min(WIDEST / 2) <= WIDEST {
            true => 0,
            false => self.column - WIDEST / 4,
        }
    }
}

/// What is shown of a line, from a character on.
fn cut(line: &str, from: usize) -> String {
    let mut rest = line.chars().skip(from);
    let mut shown = if from == 0 { String::new() } else { "…".to_owned() };
    shown.extend(rest.by_ref().take(WIDEST));
    if rest.next().is_some() {
        shown.push('…');
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn remarks_stand_under_their_expressions() {
        let mut sources = Sources::default();
        let source = sources.add("In[1]", "a = 1\nlet é = f x in é + 1\n");
        let span = |start, end| Span { source, start, end };
        let lines = excerpt(&[(span(22, 28), "reads it"), (span(15, 18), "makes it")], &sources);
        assert_eq!(
            lines.join("\n"),
            "In[1]:2 │ let é = f x in é + 1\n        │                ^^^^^ reads it\n        \
             │         ^^^ makes it"
        );
    }

    #[test]
    fn long_lines_are_shown_around_what_is_remarked_on() {
        let mut sources = Sources::default();
        let text = format!("{} + second + {}", "a".repeat(90), "b".repeat(90));
        let source = sources.add("In[1]", &text);
        let span = |start, end| Span { source, start, end };
        let lines = excerpt(&[(span(0, 90), "first"), (span(93, 99), "then")], &sources);
        assert_eq!(lines.len(), 4, "{lines:?}");
        for (line, remark) in [(&lines[0], &lines[1]), (&lines[2], &lines[3])] {
            let marked: String = line
                .chars()
                .zip(remark.chars())
                .filter(|(_, mark)| *mark == '^')
                .map(|(letter, _)| letter)
                .collect();
            assert!(marked == "second" || marked == "a".repeat(90), "{line}\n{remark}");
        }
    }
}
