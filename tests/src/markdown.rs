//! Markdown pages as test cases.
//!
//! A fence ```` ```weft ```` is a cell. All cells under one heading share a session; the next
//! heading, of any level, starts a new one. The fences after a cell say what is expected of it:
//!
//! - `value`: the full value of its last bare expression, in source syntax;
//! - `type`: the type of its last item;
//! - `output`: what its commands print;
//! - `fuse`: the counts of the plan that its last item becomes: the first paragraph of `:fuse`;
//! - `error`: the code of the first error of a cell that does not check, then texts that the report
//!   must contain: one on the line of the code, others a line each;
//! - `trap`: the same for a cell that fails while it runs;
//! - `warning`: the same for a remark on a cell that runs.
//!
//! A cell without expectations must simply run, without any remark. ```` ```weft,error ```` and
//! ```` ```weft,trap ```` are cells that fail with the code that the page is named after,
//! ```` ```weft,warning ```` those that run with that remark. A cell that ends in a trap or an
//! error leaves the session as it was.

use std::ops::Range;

/// The fences of other languages, which are prose here.
const PROSE: [&str; 12] = [
    "text", "console", "sh", "bash", "rust", "python", "haskell", "futhark", "julia", "c", "toml",
    "json",
];

/// The stages of back ends that do not exist yet.
const PLANNED: [&str; 4] = ["nested", "flat", "plan", "cuda"];

/// A page with its cases.
#[derive(Debug, Default)]
pub struct Page {
    /// Its path from the root of the repository, as reports name it.
    pub name: String,
    /// Its text.
    pub text: String,
    /// The cases by section.
    pub sections: Vec<Section>,
    /// What is wrong with the page itself.
    pub problems: Vec<Problem>,
    /// How many fences were prose.
    pub prose: usize,
}

/// The cases under a heading.
#[derive(Clone, Debug, Default)]
pub struct Section {
    /// The heading.
    pub heading: String,
    /// Its cases in order.
    pub cases: Vec<Case>,
}

/// A cell and what is expected of it.
#[derive(Clone, Debug)]
pub struct Case {
    /// The line of its fence, counted from 1.
    pub line: usize,
    /// The cell.
    pub source: String,
    /// Whether it must fail, or run with a remark, with the code of the page.
    pub fails: Option<Stage>,
    /// The expectations.
    pub expectations: Vec<Expectation>,
}

/// An expectation.
#[derive(Clone, Debug)]
pub struct Expectation {
    /// Of what.
    pub stage: Stage,
    /// The line of its fence, counted from 1.
    pub line: usize,
    /// What is expected, without the last newline.
    pub body: String,
    /// The bytes of the page that `body` is, with the last newline.
    pub place: Range<usize>,
}

/// What an expectation is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stage {
    /// The value of the last bare expression.
    Value,
    /// The type of the last item.
    Type,
    /// What commands print.
    Output,
    /// How many kernels the last item becomes, and what they store and read.
    Fuse,
    /// The code of an error found before anything runs.
    Error,
    /// The code of an error found at run time.
    Trap,
    /// The code of a remark on a cell that runs.
    Warning,
}

impl Stage {
    /// The fence's name.
    pub fn name(self) -> &'static str {
        match self {
            Stage::Value => "value",
            Stage::Type => "type",
            Stage::Output => "output",
            Stage::Fuse => "fuse",
            Stage::Error => "error",
            Stage::Trap => "trap",
            Stage::Warning => "warning",
        }
    }

    fn named(name: &str) -> Option<Stage> {
        let stages = [
            Stage::Value,
            Stage::Type,
            Stage::Output,
            Stage::Fuse,
            Stage::Error,
            Stage::Trap,
            Stage::Warning,
        ];
        stages.into_iter().find(|stage| stage.name() == name)
    }
}

/// Something wrong with a page.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// The line, counted from 1.
    pub line: usize,
    /// What is wrong.
    pub message: String,
}

/// Reads a page.
pub fn parse(name: &str, text: &str) -> Page {
    let mut page = Page { name: name.to_owned(), text: text.to_owned(), ..Page::default() };
    let mut section = Section::default();
    let mut lines = Lines { text, position: 0, number: 0 };
    while let Some(line) = lines.next_line() {
        if let Some(heading) = heading(line) {
            page.sections.push(std::mem::take(&mut section));
            section.heading = heading.to_owned();
        }
        let Some(fence) = Fence::opening(line) else { continue };
        let number = lines.number;
        match lines.body(&fence) {
            Some(place) => take_fence(&mut page, &mut section, fence.info, number, place),
            None => page.problem(number, "this fence is never closed".to_owned()),
        }
    }
    page.sections.push(section);
    page.sections.retain(|section| !section.cases.is_empty());
    page
}

fn take_fence(
    page: &mut Page,
    section: &mut Section,
    info: &str,
    line: usize,
    place: Range<usize>,
) {
    let body = page.text[place.clone()].trim_end_matches('\n').to_owned();
    let fails = match info {
        "weft" => None,
        "weft,error" => Some(Stage::Error),
        "weft,trap" => Some(Stage::Trap),
        "weft,warning" => Some(Stage::Warning),
        other => {
            let stage = Stage::named(other);
            match (stage, section.cases.last_mut()) {
                (Some(stage), Some(case)) => {
                    case.expectations.push(Expectation { stage, line, body, place });
                }
                (Some(stage), None) => {
                    let message = format!("`{}` has no cell before it", stage.name());
                    page.problem(line, message);
                }
                (None, _) if other.is_empty() || PROSE.contains(&other) => page.prose += 1,
                (None, _) if PLANNED.contains(&other) => {
                    page.problem(line, format!("there is no stage `{other}` yet"));
                }
                (None, _) => page.problem(line, format!("unknown fence `{other}`")),
            }
            return;
        }
    };
    section.cases.push(Case { line, source: body, fails, expectations: Vec::new() });
}

impl Page {
    /// How many cases it has.
    pub fn cases(&self) -> usize {
        self.sections.iter().map(|section| section.cases.len()).sum()
    }

    /// The code that the page is about, if it is one of an error: `docs/errors/E0301.md`.
    pub fn code(&self) -> Option<&str> {
        let stem = self.name.rsplit('/').next()?.strip_suffix(".md")?;
        is_code(stem).then_some(stem)
    }

    fn problem(&mut self, line: usize, message: String) {
        self.problems.push(Problem { line, message });
    }
}

/// Whether the text is the code of a diagnostic: `E0301`.
pub fn is_code(text: &str) -> bool {
    text.len() == 5
        && text.starts_with('E')
        && text.bytes().skip(1).all(|byte| byte.is_ascii_digit())
}

fn heading(line: &str) -> Option<&str> {
    let text = line.trim_start_matches('#');
    (text.len() < line.len() && text.starts_with(' ')).then(|| text.trim())
}

/// The opening line of a fence.
struct Fence<'a> {
    ticks: &'a str,
    info: &'a str,
}

impl<'a> Fence<'a> {
    fn opening(line: &'a str) -> Option<Fence<'a>> {
        let info = line.trim_start_matches('`');
        let ticks = &line[..line.len() - info.len()];
        (ticks.len() >= 3 && !info.contains('`')).then(|| Fence { ticks, info: info.trim() })
    }

    fn closed_by(&self, line: &str) -> bool {
        line.trim_end().strip_prefix(self.ticks).is_some_and(|rest| rest.bytes().all(|b| b == b'`'))
    }
}

/// The lines of a page, with their places.
struct Lines<'a> {
    text: &'a str,
    position: usize,
    number: usize,
}

impl<'a> Lines<'a> {
    /// The next line, without its newline.
    fn next_line(&mut self) -> Option<&'a str> {
        let rest = &self.text[self.position..];
        if rest.is_empty() {
            return None;
        }
        let length = rest.find('\n').map_or(rest.len(), |newline| newline + 1);
        self.position += length;
        self.number += 1;
        Some(rest[..length].trim_end_matches(['\n', '\r']))
    }

    /// The bytes up to the line that closes the fence, which is skipped.
    fn body(&mut self, fence: &Fence<'_>) -> Option<Range<usize>> {
        let start = self.position;
        loop {
            let end = self.position;
            if fence.closed_by(self.next_line()?) {
                return Some(start..end);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PAGE: &str = "# Title\n\n```weft\nx = 1\n```\ntext\n```weft\nx\n```\n```value\n1\n```\n\
                        ## Next\n````weft\nx\n````\n```error\nE0201 no\n`x`\n```\n```\nprose\n```\n";

    #[test]
    fn sections_and_cases() {
        let page = parse("docs/errors/E0201.md", PAGE);
        assert_eq!(page.code(), Some("E0201"));
        assert_eq!(page.problems, []);
        assert_eq!((page.sections.len(), page.cases(), page.prose), (2, 3, 1));
        let first = &page.sections[0];
        assert_eq!((first.heading.as_str(), first.cases[0].line), ("Title", 3));
        assert_eq!(first.cases[0].source, "x = 1");
        let value = &first.cases[1].expectations[0];
        assert_eq!((value.stage, value.line, value.body.as_str()), (Stage::Value, 10, "1"));
        assert_eq!(&page.text[value.place.clone()], "1\n");
        let error = &page.sections[1].cases[0].expectations[0];
        assert_eq!((error.stage, error.body.as_str()), (Stage::Error, "E0201 no\n`x`"));
    }

    #[test]
    fn nothing_is_skipped_silently() {
        let problem = |text| parse("page.md", text).problems.pop().map(|problem| problem.message);
        assert_eq!(problem("```weft\n1\n"), Some("this fence is never closed".to_owned()));
        assert_eq!(problem("```value\n1\n```\n"), Some("`value` has no cell before it".to_owned()));
        assert_eq!(problem("```vaule\n1\n```\n"), Some("unknown fence `vaule`".to_owned()));
        assert_eq!(problem("```flat\n1\n```\n"), Some("there is no stage `flat` yet".to_owned()));
    }

    #[test]
    fn an_expectation_may_be_empty() {
        let page = parse("page.md", "```weft\n1\n```\n```value\n```\n");
        let value = &page.sections[0].cases[0].expectations[0];
        assert_eq!((value.body.as_str(), value.place.clone()), ("", 23..23));
    }
}
