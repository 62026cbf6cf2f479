//! Diagnostics as text, with carets: the only user of ariadne.
//!
//! What is handed to ariadne is not the source but an excerpt of it, made for one diagnostic: see
//! `excerpt.rs`. So a source of one line of 10 MB shows a window around the place, columns are those
//! of a terminal, and no byte of the source reaches the terminal as a control character.

mod excerpt;
mod failure;
mod prose;

use std::collections::BTreeMap;
use std::fmt::Display;

use ariadne::{Cache, Color, Config, IndexType, Report, ReportKind, Source};
use weft_ir::SourceId;

pub use self::failure::{exhausted_diagnostic, trap_diagnostic};

use self::excerpt::{Excerpt, excerpt};
use self::prose::wrapped;
use crate::diagnostic::{Diagnostic, Label, Severity};

/// The texts that spans point into.
pub trait Sources {
    /// What to call the source: `In[7]`, a file's path.
    fn name(&self, source: SourceId) -> &str;
    /// Its whole text.
    fn text(&self, source: SourceId) -> &str;
}

/// The most diagnostics of which a report is made. Nobody reads more of them, and a text may have any number;
/// but it is several times what is reported of one item, so that this does not hide the errors of others.
const MOST_REPORTS: usize = 500;

/// The reports of the diagnostics, one after the other, for a terminal of `width` columns; of very many only the
/// first.
/// With `colour`, the text contains ANSI escapes.
pub fn render(
    diagnostics: &[Diagnostic],
    sources: &dyn Sources,
    colour: bool,
    width: usize,
) -> String {
    let shown = diagnostics.iter().take(MOST_REPORTS);
    let mut text: String =
        shown.map(|diagnostic| report(diagnostic, sources, colour, width)).collect();
    match diagnostics.len().saturating_sub(MOST_REPORTS) {
        0 => {}
        1 => text.push_str("… and 1 more report\n"),
        more => text.push_str(&format!("… and {more} more reports\n")),
    }
    text
}

fn report(diagnostic: &Diagnostic, sources: &dyn Sources, colour: bool, width: usize) -> String {
    let excerpts = Excerpts::new(diagnostic, sources, width);
    let (kind, main_colour) = match diagnostic.severity {
        Severity::Error => (ReportKind::Error, Color::Red),
        Severity::Warning => (ReportKind::Warning, Color::Yellow),
    };
    let primary = diagnostic.labels.first();
    let is_primary = |label: &Label| primary.is_some_and(|primary| std::ptr::eq(primary, label));
    let place = excerpts.places.iter().find(|(label, _)| is_primary(label));
    let place = place.map_or((SourceId(0), 0..0), |(_, place)| place.clone());
    let config =
        Config::new().with_color(colour).with_index_type(IndexType::Byte).with_cross_gap(false);
    let mut builder = Report::build(kind, place)
        .with_config(config)
        .with_code(diagnostic.code)
        .with_message(clean(&diagnostic.message));
    for (order, (label, place)) in excerpts.places.iter().enumerate() {
        let is_primary = is_primary(label);
        builder = builder.with_label(
            ariadne::Label::new(place.clone())
                .with_message(clean(&label.message))
                .with_color(if is_primary { main_colour } else { Color::Cyan })
                .with_order(order as i32)
                .with_priority(i32::from(is_primary)),
        );
    }
    // What stands before them: the margin, and `Help 1: ` where there are several.
    let margin = if excerpts.places.is_empty() { 2 } else { excerpts.widest_number() + 4 };
    let told = |texts: &[String]| -> Vec<String> {
        let room = width.saturating_sub(margin + if texts.len() > 1 { 8 } else { 6 });
        texts.iter().map(|text| wrapped(&clean(text), room)).collect()
    };
    let (helps, notes) = (told(&diagnostic.help), told(&diagnostic.notes));
    builder.with_helps(helps.iter().cloned());
    builder.with_notes(notes.iter().cloned());
    let has_no_place = excerpts.places.is_empty();
    let headers = excerpts.headers.clone();
    let mut bytes = Vec::new();
    if builder.finish().write(excerpts, &mut bytes).is_err() {
        // A vector takes every byte; should ariadne give up, the message is still told.
        return format!("[{}] {}\n", diagnostic.code, clean(&diagnostic.message));
    }
    let text = with_true_places(&String::from_utf8_lossy(&bytes), &headers);
    let mut trimmed: String =
        text.lines().map(str::trim_end).flat_map(|line| [line, "\n"]).collect();
    if has_no_place {
        // Without an excerpt there is nothing under which ariadne would write them.
        let lines = |kind: &'static str, texts: &[String]| -> String {
            texts
                .iter()
                .map(|text| format!("  {kind}: {}\n", text.replace('\n', "\n        ")))
                .collect()
        };
        trimmed += &lines("Help", &helps);
        trimmed += &lines("Note", &notes);
    }
    trimmed.push('\n');
    trimmed
}

/// Names the places of the source where ariadne has named those of the excerpt, in which long lines are cut and tabs
/// are blanks.
fn with_true_places(text: &str, headers: &[(String, String)]) -> String {
    let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
    for (shown, true_place) in headers.iter().filter(|(shown, true_place)| shown != true_place) {
        let has_it =
            |line: &&mut String| line.contains(['╭', '├']) && line.contains(&format!(" {shown} "));
        let found = lines.iter_mut().find(has_it);
        if let Some(line) = found {
            *line = line.replacen(&format!(" {shown} "), &format!(" {true_place} "), 1);
        }
    }
    lines.join("\n")
}

/// A message may quote the source, so it is cleaned as the source is.
fn clean(message: &str) -> String {
    message
        .chars()
        .map(|character| if character == '\n' { '\n' } else { excerpt::visible(character) })
        .collect()
}

/// A place in an excerpt.
type Place = (SourceId, std::ops::Range<usize>);

/// The excerpts that a diagnostic needs, and its labels' places in them.
struct Excerpts<'a> {
    /// In the order in which they are shown: by source, the primary one first, then by line.
    places: Vec<(&'a Label, Place)>,
    sources: BTreeMap<SourceId, (String, Source<String>)>,
    /// What ariadne calls the place of each label, and what it is in the source.
    headers: Vec<(String, String)>,
}

impl<'a> Excerpts<'a> {
    fn new(diagnostic: &'a Diagnostic, sources: &dyn Sources, width: usize) -> Excerpts<'a> {
        let mut order: Vec<SourceId> = Vec::new();
        for label in &diagnostic.labels {
            if !order.contains(&label.span.source) {
                order.push(label.span.source);
            }
        }
        let mut excerpts =
            Excerpts { places: Vec::new(), sources: BTreeMap::new(), headers: Vec::new() };
        for source in order {
            let labels: Vec<&Label> =
                diagnostic.labels.iter().filter(|label| label.span.source == source).collect();
            let ranges: Vec<_> = labels.iter().map(|label| label.span.range()).collect();
            let Excerpt { text, ranges, places: own } =
                excerpt(sources.text(source), &ranges, width);
            let name = clean(sources.name(source));
            for (range, place) in ranges.iter().zip(own) {
                let shown = excerpt::place(&text, range.start);
                let called =
                    |place: excerpt::Place| format!("{name}:{}:{}", place.line, place.column);
                excerpts.headers.push((called(shown), called(place)));
            }
            let mut places: Vec<_> = labels
                .into_iter()
                .zip(ranges)
                .map(|(label, range)| (label, (source, range)))
                .collect();
            places.sort_by_key(|(_, (_, range))| range.end);
            excerpts.places.extend(places);
            excerpts.sources.insert(source, (name, Source::from(text)));
        }
        excerpts
    }

    /// The digits of the last line that is shown.
    fn widest_number(&self) -> usize {
        let lines = self.sources.values().map(|(_, source)| source.text().lines().count());
        lines.max().unwrap_or(1).max(1).ilog10() as usize + 1
    }
}

impl Cache<SourceId> for Excerpts<'_> {
    type Storage = String;

    fn fetch(&mut self, id: &SourceId) -> Result<&Source<String>, impl std::fmt::Debug> {
        self.sources.get(id).map(|(_, source)| source).ok_or("a source without excerpt")
    }

    fn display<'b>(&self, id: &'b SourceId) -> Option<impl Display + 'b> {
        self.sources.get(id).map(|(name, _)| name.clone())
    }
}
