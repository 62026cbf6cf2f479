//! What was expected of a case against what came of it.

use std::ops::Range;

use weft_lang::ast::{ItemKind, PatternKind};
use weft_lang::syntax;
use weft_session::display;

use crate::engine::Answer;
use crate::markdown::{Case, Expectation, Stage};

/// An expectation that does not hold.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Mismatch {
    /// The line of its fence.
    pub(crate) line: usize,
    /// What differs.
    pub(crate) message: String,
    /// What the page should say instead, if only the expectation is stale.
    pub(crate) update: Option<Edit>,
}

/// A replacement in the text of a page.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Edit {
    /// The bytes to replace.
    pub(crate) place: Range<usize>,
    /// The new text.
    pub(crate) text: String,
}

/// Compares the answer to a case with all that is expected of it, but for what has to be asked (see
/// [`questions`]). What commands print depends on the modes: it is that of the first engine.
pub(crate) fn compare(
    case: &Case,
    code: Option<&str>,
    answer: &Answer,
    is_first: bool,
) -> Vec<Mismatch> {
    let mut mismatches = Vec::new();
    if let Some(message) = unexpected_end(case, code, answer) {
        mismatches.push(Mismatch { line: case.line, message, update: None });
    }
    for expectation in &case.expectations {
        mismatches.extend(match expectation.stage {
            Stage::Value => compare_value(expectation, answer),
            Stage::Output if is_first => compare_output(expectation, answer),
            Stage::Error | Stage::Trap | Stage::Warning => compare_failure(expectation, answer),
            Stage::Output | Stage::Type | Stage::Fuse => None,
        });
    }
    mismatches
}

/// A command that answers what a case expects of its last item.
pub(crate) struct Question<'c> {
    expectation: &'c Expectation,
    /// The item without its name, or the name.
    subject: String,
}

/// What to ask about the last item of a case.
pub(crate) fn questions(case: &Case) -> Vec<Question<'_>> {
    let asked = case.expectations.iter();
    let asked = asked.filter(|expectation| matches!(expectation.stage, Stage::Type | Stage::Fuse));
    let subjects = asked.filter_map(|expectation| {
        let subject = subject(&case.source, expectation.stage)?;
        Some(Question { expectation, subject })
    });
    subjects.collect()
}

/// What to ask about: names have types, but only expressions become kernels.
fn subject(source: &str, stage: Stage) -> Option<String> {
    let parsed = syntax::parse(weft_ir::SourceId(0), source);
    let value = match (&parsed.items.last()?.kind, stage) {
        (ItemKind::Expr { value, .. }, _) | (ItemKind::Binding { value, .. }, Stage::Fuse) => value,
        (ItemKind::Def(def), Stage::Type) => return Some(def.name.name.to_string()),
        (ItemKind::Binding { pattern, .. }, _) => {
            return match &pattern.kind {
                PatternKind::Name(name) => Some(name.to_string()),
                _ => None,
            };
        }
        _ => return None,
    };
    let text = &source[value.span.range()];
    if stage == Stage::Type {
        return Some(text.to_owned());
    }
    // The lines keep their columns, as the layout depends on them.
    let before = &source[..value.span.start as usize];
    let column = before.chars().rev().take_while(|each| *each != '\n').count();
    Some(format!("\n  {}{}", " ".repeat(column), text.replace('\n', "\n  ")))
}

impl Question<'_> {
    /// Whether it is about fusion, which does not depend on the engine.
    pub(crate) fn is_about_fusion(&self) -> bool {
        self.expectation.stage == Stage::Fuse
    }

    /// The cell that asks it.
    pub(crate) fn command(&self) -> String {
        let command = if self.is_about_fusion() { "fuse" } else { "type" };
        format!(":{command} {}", self.subject)
    }

    /// Compares the answer, of which `:type` repeats the subject.
    pub(crate) fn compare(&self, answer: &Answer) -> Option<Mismatch> {
        let expectation = self.expectation;
        match answer {
            Answer::Done { texts, .. } => {
                let text = texts.join("\n");
                let found = if self.is_about_fusion() {
                    text.split("\n\n").next()
                } else {
                    text.strip_prefix(&self.subject).and_then(|rest| rest.strip_prefix(" : "))
                };
                stale(expectation, found.unwrap_or(&text))
            }
            Answer::Failed { report, .. } => Some(instead(expectation, report)),
            Answer::Interrupted | Answer::Bug(_) | Answer::Late(_) => None,
        }
    }
}

/// What is wrong with how the case ended, apart from what its expectations say.
fn unexpected_end(case: &Case, code: Option<&str>, answer: &Answer) -> Option<String> {
    let expected = case.expectations.iter().map(|expectation| expectation.stage);
    let may_fail = expected.clone().any(|stage| matches!(stage, Stage::Error | Stage::Trap));
    match (answer, case.fails) {
        (Answer::Bug(message), _) => Some(format!("a bug: {message}")),
        (Answer::Late(seconds), _) => Some(format!("takes longer than {seconds} s")),
        (Answer::Interrupted, _) => Some("interrupted".to_owned()),
        (Answer::Failed { code: found, report }, Some(stage)) => {
            let Some(code) = code else {
                return Some(format!("`weft,{}` is for the page of a code", stage.name()));
            };
            let right = found == code && is_of_stage(found, stage);
            (!right).then(|| format!("expected {code} as {}\n{}", article(stage), indent(report)))
        }
        (Answer::Done { remarks: (codes, report), .. }, Some(Stage::Warning)) => {
            let right = code.is_some_and(|code| codes.first().is_some_and(|found| found == code));
            let code = code.unwrap_or("a code");
            (!right).then(|| format!("expected {code} as a warning\n{}", indent(report)))
        }
        (Answer::Done { .. }, Some(stage)) => {
            Some(format!("expected {}, but the cell runs", article(stage)))
        }
        (Answer::Done { remarks: (codes, report), .. }, None) => {
            let told = case.expectations.iter().any(|each| each.stage == Stage::Warning);
            (!codes.is_empty() && !told)
                .then(|| format!("this should run without a remark\n{}", indent(report)))
        }
        (Answer::Failed { report, .. }, None) if !may_fail => {
            let values = expected.filter(|stage| matches!(stage, Stage::Value | Stage::Output));
            // The expectation of a value reports the failure itself.
            (values.count() == 0).then(|| format!("this should run\n{}", indent(report)))
        }
        (Answer::Failed { .. }, None) => None,
    }
}

fn article(stage: Stage) -> &'static str {
    match stage {
        Stage::Error => "an error",
        Stage::Warning => "a warning",
        Stage::Trap | Stage::Value | Stage::Type | Stage::Output | Stage::Fuse => "a trap",
    }
}

/// Errors have codes below E06, traps the others. Files and commands (E04xx, E05xx) fail before
/// the program runs, or while it does.
fn is_of_stage(code: &str, stage: Stage) -> bool {
    match stage {
        Stage::Error => code < "E06",
        Stage::Trap => code >= "E04",
        Stage::Warning | Stage::Value | Stage::Type | Stage::Output | Stage::Fuse => false,
    }
}

fn compare_value(expectation: &Expectation, answer: &Answer) -> Option<Mismatch> {
    match answer {
        Answer::Done { shown: Some((value, ty)), .. } => {
            stale(expectation, &display::literal(value, ty))
        }
        Answer::Done { shown: None, .. } => Some(instead(expectation, "the cell shows no value")),
        Answer::Failed { report, .. } => Some(instead(expectation, report)),
        Answer::Interrupted | Answer::Bug(_) | Answer::Late(_) => None,
    }
}

fn compare_output(expectation: &Expectation, answer: &Answer) -> Option<Mismatch> {
    match answer {
        Answer::Done { texts, .. } => stale(expectation, &texts.join("\n")),
        Answer::Failed { report, .. } => Some(instead(expectation, report)),
        Answer::Interrupted | Answer::Bug(_) | Answer::Late(_) => None,
    }
}

fn compare_failure(expectation: &Expectation, answer: &Answer) -> Option<Mismatch> {
    let is_remark = expectation.stage == Stage::Warning;
    let (code, report) = match answer {
        Answer::Failed { report, .. } if is_remark => return Some(instead(expectation, report)),
        Answer::Failed { code, report } => (code, report),
        Answer::Done { remarks: (codes, report), .. } if is_remark => match codes.first() {
            Some(code) => (code, report),
            None => return Some(instead(expectation, "there is no remark")),
        },
        Answer::Done { .. } => return Some(instead(expectation, "the cell runs")),
        Answer::Interrupted | Answer::Bug(_) | Answer::Late(_) => return None,
    };
    if !is_remark && !is_of_stage(code, expectation.stage) {
        return Some(instead(expectation, report));
    }
    let (expected, texts) = code_and_texts(&expectation.body);
    let missing: Vec<&str> = texts.iter().copied().filter(|text| !report.contains(text)).collect();
    if expected == code && missing.is_empty() {
        return None;
    }
    let mut message = format!("expected {expected}, found {code}");
    if expected == code {
        message = format!("the report does not contain {missing:?}");
    }
    let held = texts.iter().copied().filter(|text| report.contains(text));
    let lines: Vec<&str> = std::iter::once(code.as_str()).chain(held).collect();
    Some(Mismatch {
        line: expectation.line,
        message: format!("{message}\n{}", indent(report)),
        update: Some(edit(expectation, &lines.join("\n"))),
    })
}

/// `E0601 index 3` and further lines: the code, and the texts that the report must contain.
fn code_and_texts(body: &str) -> (&str, Vec<&str>) {
    let mut lines = body.lines().map(str::trim);
    let first = lines.next().unwrap_or_default();
    let (code, rest) = first.split_once(' ').unwrap_or((first, ""));
    let texts = std::iter::once(rest.trim()).chain(lines).filter(|text| !text.is_empty());
    (code, texts.collect())
}

/// Compares texts; an expectation may be broken into lines.
fn stale(expectation: &Expectation, found: &str) -> Option<Mismatch> {
    let found = found.trim_end();
    let joined: Vec<&str> = expectation.body.lines().map(str::trim).collect();
    if expectation.body == found || joined.join(" ") == found {
        return None;
    }
    let message = if expectation.body.is_empty() {
        format!("the {} is missing; it is\n{}", expectation.stage.name(), indent(found))
    } else {
        let expected = indent(&expectation.body);
        format!("expected the {}\n{expected}found\n{}", expectation.stage.name(), indent(found))
    };
    Some(Mismatch { line: expectation.line, message, update: Some(edit(expectation, found)) })
}

/// Something other than what the fence is about: that is for a person to look at.
fn instead(expectation: &Expectation, found: &str) -> Mismatch {
    let name = expectation.stage.name();
    let mut expected = format!("expected the {name}\n{}", indent(&expectation.body));
    if expectation.body.is_empty() {
        expected = format!("expected a {name}\n");
    }
    let message = format!("{expected}found\n{}", indent(found));
    Mismatch { line: expectation.line, message, update: None }
}

fn edit(expectation: &Expectation, text: &str) -> Edit {
    let newline = if text.is_empty() { "" } else { "\n" };
    Edit { place: expectation.place.clone(), text: format!("{text}{newline}") }
}

/// The text as a paragraph of a report; what is very long is cut.
fn indent(text: &str) -> String {
    const LONGEST: usize = 4000;
    let mut end = text.len().min(LONGEST);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    let cut = if end < text.len() { " …" } else { "" };
    let lines = text[..end].trim_end().lines().map(|line| format!("    {line}"));
    lines.collect::<Vec<_>>().join("\n") + cut + "\n"
}

#[cfg(test)]
mod tests {
    use weft_ir::{Scalar, Type, Value};

    use super::*;
    use crate::markdown::parse;

    fn case(text: &str) -> Case {
        parse("page.md", text).sections[0].cases[0].clone()
    }

    fn forty_five() -> Answer {
        let value = Value::Scalar(Scalar::I64(45));
        let shown = Some((value, Type::Scalar(weft_ir::ScalarType::I64)));
        Answer::Done { shown, texts: vec![], remarks: Default::default() }
    }

    fn index_error() -> Answer {
        Answer::Failed { code: "E0601".to_owned(), report: "index 3 is out of range".to_owned() }
    }

    #[track_caller]
    fn check(text: &str, answer: &Answer, expect: &[(&str, Option<&str>)]) {
        let found = compare(&case(text), Some("E0601"), answer, true);
        let summary: Vec<(&str, Option<&str>)> = found
            .iter()
            .map(|mismatch| {
                let message = mismatch.message.lines().next().unwrap_or_default();
                (message, mismatch.update.as_ref().map(|edit| edit.text.as_str()))
            })
            .collect();
        assert_eq!(summary, expect);
    }

    #[test]
    fn values() {
        check("```weft\n1\n```\n", &forty_five(), &[]);
        check("```weft\n1\n```\n```value\n45\n```\n", &forty_five(), &[]);
        let stale = "```weft\n1\n```\n```value\n46\n```\n";
        check(stale, &forty_five(), &[("expected the value", Some("45\n"))]);
        let missing = "```weft\n1\n```\n```value\n```\n";
        check(missing, &forty_five(), &[("the value is missing; it is", Some("45\n"))]);
        check(missing, &index_error(), &[("expected a value", None)]);
    }

    #[test]
    fn failures() {
        check("```weft\n1\n```\n", &index_error(), &[("this should run", None)]);
        check("```weft\n1\n```\n```trap\nE0601 index 3\n```\n", &index_error(), &[]);
        check(
            "```weft\n1\n```\n```error\nE0601\n```\n",
            &index_error(),
            &[("expected the error", None)],
        );
        check(
            "```weft\n1\n```\n```trap\nE0604 index 3\nzero\n```\n",
            &index_error(),
            &[("expected E0604, found E0601", Some("E0601\nindex 3\n"))],
        );
        check(
            "```weft\n1\n```\n```trap\nE0601\n```\n",
            &forty_five(),
            &[("expected the trap", None)],
        );
    }

    #[test]
    fn remarks() {
        let remarks = (vec!["E0601".to_owned()], "index 3 is out of range".to_owned());
        let remarked = || Answer::Done { shown: None, texts: vec![], remarks: remarks.clone() };
        let unexpected = [("this should run without a remark", None)];
        check("```weft\n1\n```\n", &remarked(), &unexpected);
        check("```weft\n1\n```\n```warning\nE0601 index 3\n```\n", &remarked(), &[]);
        check("```weft,warning\n1\n```\n", &remarked(), &[]);
        check("```weft,warning\n1\n```\n", &forty_five(), &[("expected E0601 as a warning", None)]);
        let expected = "```weft\n1\n```\n```warning\nE0601\n```\n";
        check(expected, &forty_five(), &[("expected the warning", None)]);
        check(
            expected,
            &index_error(),
            &[("this should run", None), ("expected the warning", None)],
        );
    }

    #[test]
    fn cells_that_must_fail() {
        check("```weft,trap\n1\n```\n", &index_error(), &[]);
        check(
            "```weft,trap\n1\n```\n",
            &forty_five(),
            &[("expected a trap, but the cell runs", None)],
        );
        check("```weft,error\n1\n```\n", &index_error(), &[("expected E0601 as an error", None)]);
    }

    #[test]
    fn the_last_item_is_asked_about() {
        let subject = |stage, source: &str| subject(source, stage);
        assert_eq!(subject(Stage::Type, "x = 1\nx + 1;"), Some("x + 1".to_owned()));
        assert_eq!(subject(Stage::Type, "def f x = x"), Some("f".to_owned()));
        assert_eq!(subject(Stage::Type, "x = 1"), Some("x".to_owned()));
        assert_eq!(subject(Stage::Type, ":vars"), None);
        assert_eq!(
            subject(Stage::Fuse, "x = let a = 1\n      in a"),
            Some("\n      let a = 1\n        in a".to_owned())
        );
        assert_eq!(subject(Stage::Fuse, "def f x = x"), None);
    }

    #[test]
    fn plans_are_compared_by_their_counts() {
        let case = case("```weft\nsum xs\n```\n```fuse\n1 kernel\n```\n");
        let questions = questions(&case);
        assert_eq!(questions[0].command(), ":fuse \n  sum xs");
        let answer = |text: &str| {
            let texts = vec![text.to_owned()];
            Answer::Done { shown: None, texts, remarks: Default::default() }
        };
        assert_eq!(questions[0].compare(&answer("1 kernel\n\nkernel 1")), None);
        let stale = questions[0].compare(&answer("2 kernels\n\nkernel 1")).expect("a mismatch");
        assert_eq!(stale.update.map(|edit| edit.text), Some("2 kernels\n".to_owned()));
    }
}
