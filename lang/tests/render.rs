//! Reports as text.

use weft_ir::{SourceId, Span};
use weft_lang::Diagnostic;
use weft_lang::render::{Sources, render};

struct One;

impl Sources for One {
    fn name(&self, _: SourceId) -> &str {
        "In[1]"
    }

    fn text(&self, _: SourceId) -> &str {
        "1 + 2"
    }
}

/// The lines of a report whose label, if it is to have one, is at the first character.
fn lines(has_place: bool) -> Vec<String> {
    let span = Span::new(SourceId(0), 0, 1);
    let mut diagnostic = Diagnostic::error("E0701", "no thread", span, "here")
        .help("end other programs")
        .note("this is the first\nof two lines");
    if !has_place {
        diagnostic.labels.clear();
    }
    render(&[diagnostic], &One, false, 80).lines().map(str::to_owned).collect()
}

#[test]
fn helps_are_wrapped_at_words() {
    let span = Span::new(SourceId(0), 0, 1);
    let help = "a sentence of many words ".repeat(8);
    let report = Diagnostic::error("E0701", "no thread", span, "here").help(help.trim_end());
    for report in [report.clone(), Diagnostic { labels: Vec::new(), ..report }] {
        let shown = render(&[report], &One, false, 60);
        assert!(shown.lines().all(|line| line.chars().count() <= 60), "{shown}");
        let words: Vec<&str> = shown.split_whitespace().filter(|word| *word != "│").collect();
        assert!(words.join(" ").contains(help.trim_end()), "{shown}");
    }
}

#[test]
fn helps_and_notes_are_shown_with_and_without_a_place() {
    for has_place in [false, true] {
        let lines = lines(has_place);
        for part in ["no thread", "Help: end other programs", "Note: this is the first"] {
            let times = lines.iter().filter(|line| line.contains(part)).count();
            assert_eq!(times, 1, "{part}\n{}", lines.join("\n"));
        }
    }
}
