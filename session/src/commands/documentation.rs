//! `:doc` and `:explain`.

use weft_ir::Span;
use weft_lang::builtins::{self, Entry};
use weft_lang::{Binding, Diagnostic, Global, suggest};

use super::{Call, Command, resolve};
use crate::complete::Detail;
use crate::explain;
use crate::plan::{Planner, Step};
use crate::plot;
use crate::prelude;
use crate::session::{Cell, Config, Session};
use crate::sink::{Cancel, Collected, Event};
use crate::sources::Sources;
use crate::state::State;
use crate::topics::{self, Topic};

/// `:doc name`, `:doc source name`.
pub(super) fn doc(planner: &mut Planner<'_>, call: &Call) -> Result<(), Box<Diagnostic>> {
    let argument = call.needed("`:doc` takes the name of a function, a value or a command")?;
    let (name, detail) = match argument.strip_prefix("source ") {
        Some(name) => (name.trim(), Detail::Full),
        None => (argument, Detail::Brief),
    };
    let Some(text) = describe(planner, name, detail) else {
        let names = planner.state.environment.names().map(|(name, _)| &**name);
        let words = topics::TOPICS.iter().flat_map(|topic| topic.names.iter().copied());
        let known = names.chain(builtins::all().map(|entry| entry.name)).chain(words);
        let closest = suggest::closest(name, known);
        let message = format!("there is no documentation of `{name}`");
        let diagnostic =
            Diagnostic::error("E0508", message, call.argument_span, "nothing has this name");
        return Err(Box::new(match closest {
            Some(closest) => diagnostic.help(format!("did you mean `{closest}`?")),
            None => diagnostic.help(format!("`:search {name}` looks into the documentation")),
        }));
    };
    let drawing = prelude::entry(&planner.state.environment, name)
        .filter(|entry| entry.result.is_empty() && !entry.example.is_empty())
        .map(|entry| {
            format!("\n\n{}", evaluated(&mut private_session(), entry.example).join("\n"))
        });
    planner.steps.push(Step::Text(text + &drawing.unwrap_or_default()));
    Ok(())
}

fn private_session() -> Session {
    Session::new(&Config { memory: 64 << 20, io: false })
}

/// The lines that a cell prints.
fn evaluated(session: &mut Session, cell: &str) -> Vec<String> {
    let mut sink = Collected::default();
    session.eval(Cell::typed(cell), &mut sink, &Cancel::new());
    let texts = sink.events.into_iter().filter_map(printed);
    texts.flat_map(|text| text.lines().map(str::to_owned).collect::<Vec<_>>()).collect()
}

/// A command with its example, run in a session of its own, and what that prints.
pub(super) fn demonstrated(command: &Command) -> String {
    /// Lines of the output that are shown.
    const MOST: usize = 24;
    let mut lines: Vec<String> = Vec::new();
    let mut session = private_session();
    for cell in command.example.lines() {
        lines.push(format!("> {cell}"));
        if command.printed.is_none() {
            lines.extend(evaluated(&mut session, cell));
        }
    }
    lines.extend(command.printed.into_iter().flat_map(str::lines).map(str::to_owned));
    let hidden = lines.len().saturating_sub(MOST);
    lines.truncate(MOST);
    let mut text = format!("{}\n", head(command));
    for line in &lines {
        text.push_str(format!("\n  {line}").trim_end_matches(' '));
    }
    if hidden > 0 {
        text.push_str("\n  …");
    }
    text
}

/// What an event is at a prompt.
fn printed(event: Event) -> Option<String> {
    match event {
        Event::Shown(shown) => shown.text(72, false, &Cancel::new()),
        Event::Text(text) | Event::Note(text) | Event::Notice(text) => Some(text),
        Event::Bound { name, ty } | Event::Defined { name, ty } => Some(format!("{name} : {ty}")),
        Event::Drawing(_) | Event::Report(_) | Event::Progress(_) | Event::Footer(_) => None,
    }
}

fn head(command: &Command) -> String {
    let head = format!(":{} {}", command.name, command.arguments);
    let doc: String = wrap(command.doc, 76).lines().map(|line| format!("\n  {line}")).collect();
    format!("{}{doc}", head.trim_end())
}

/// A command with its example, which is not run.
fn described(command: &Command) -> String {
    format!("{}\n\n  {}", head(command), command.example.replace('\n', "\n  "))
}

/// What a name is: the definition of the session if there is one, else the builtin, else the
/// command.
pub(crate) fn describe(planner: &Planner<'_>, name: &str, detail: Detail) -> Option<String> {
    describe_name(&planner.state, planner.sources, name, detail)
}

/// As [`describe`], for anybody with a state.
pub(crate) fn describe_name(
    state: &State,
    sources: &Sources,
    name: &str,
    detail: Detail,
) -> Option<String> {
    let name = match name.strip_prefix('(').and_then(|name| name.strip_suffix(')')) {
        Some(operator) => operator.trim(),
        None => name,
    };
    if let Some(ty) = type_of_name(state, name) {
        if let Some(entry) = prelude::entry(&state.environment, name) {
            let source = source_of(state, sources, name).filter(|_| detail == Detail::Full);
            let parts = [Some(describe_prelude(name, &ty, entry)), source];
            return Some(parts.into_iter().flatten().collect::<Vec<_>>().join("\n\n"));
        }
        let heading = format!("{name} : {ty}");
        let remarks = item_of(state, name).map(|item| sources.comment_before(item));
        let source = source_of(state, sources, name).filter(|_| detail == Detail::Full);
        let parts = [Some(heading), remarks.filter(|text| !text.is_empty()), source];
        return Some(parts.into_iter().flatten().collect::<Vec<_>>().join("\n\n"));
    }
    if let Some(entry) = builtins::lookup(name) {
        return Some(describe_builtin(entry));
    }
    if let Some(topic) = topics::topic(name) {
        return Some(describe_topic(topic));
    }
    resolve(name.strip_prefix(':')?).ok().map(described)
}

/// The type of a name of the session, as text.
pub(crate) fn type_of_name(state: &State, name: &str) -> Option<String> {
    match state.environment.lookup(name)? {
        Binding::Global(global) => match state.environment.global(*global)? {
            Global::Function(function) => Some(plot::shortened(function.scheme.to_string())),
            Global::Value { ty, .. } => Some(match state.values.get(global) {
                Some(value) => crate::display::discovered_type(value, ty),
                None => ty.to_string(),
            }),
        },
        Binding::Alias(_) => Some("a type".to_owned()),
        Binding::Broken => None,
    }
}

/// The text of the item that defines a name of the session.
pub(crate) fn source_of(state: &State, sources: &Sources, name: &str) -> Option<String> {
    if let Some(entry) = prelude::entry(&state.environment, name) {
        return Some(format!("{}  -- prelude", sources.slice(entry.span).trim_end()));
    }
    let span = item_of(state, name)?;
    Some(format!("{}  -- {}", sources.slice(span).trim_end(), sources.place(span)))
}

/// Where the item stands that defines a name of the session.
fn item_of(state: &State, name: &str) -> Option<Span> {
    match state.environment.lookup(name)? {
        Binding::Global(global) => Some(state.origins.get(global)?.item),
        Binding::Alias(_) => state.aliases.get(name).map(|alias| alias.item),
        Binding::Broken => None,
    }
}

fn describe_builtin(entry: &Entry) -> String {
    let mut text = format!("{} : {}\n", entry.name, entry.signature);
    if !entry.parameters.is_empty() && is_word(entry.name) {
        text.push_str(&format!("{} {}\n", entry.name, entry.parameters));
    }
    text.push('\n');
    text.push_str(&wrap(entry.doc, 78));
    if !entry.complexity.is_empty() {
        text.push_str(&format!("\n({})", entry.complexity));
    }
    text.push_str(&format!("\n\n  {}\n  = {}", entry.example, entry.result));
    text
}

fn describe_prelude(name: &str, ty: &str, entry: &prelude::Entry) -> String {
    let mut text = format!("{name} : {ty}\n\n{}", wrap(&entry.doc, 78));
    if !entry.example.is_empty() {
        text.push_str(&format!("\n\n  {}", entry.example));
    }
    if !entry.result.is_empty() {
        text.push_str(&format!("\n  = {}", entry.result));
    }
    text
}

fn describe_topic(topic: &Topic) -> String {
    let example = topic.example.replace('\n', "\n  ");
    let mut text = format!("{}\n\n{}\n\n  {example}", topic.heading, wrap(topic.doc, 78));
    if !topic.result.is_empty() {
        text.push_str(&format!("\n  = {}", topic.result));
    }
    text
}

/// Whether a session that has defined nothing knows the name.
#[cfg(test)]
pub(crate) fn is_documented(name: &str) -> bool {
    builtins::lookup(name).is_some()
        || topics::topic(name).is_some()
        || prelude::entry(&prelude::environment(), name).is_some()
}

fn is_word(name: &str) -> bool {
    name.starts_with(|c: char| c.is_alphabetic() || c == '_')
}

/// Breaks a text into lines of at most `width` characters.
pub(super) fn wrap(text: &str, width: usize) -> String {
    let mut out = String::new();
    let mut column = 0;
    for word in text.split_whitespace() {
        let length = word.chars().count();
        if column > 0 && column + 1 + length > width {
            out.push('\n');
            column = 0;
        } else if column > 0 {
            out.push(' ');
            column += 1;
        }
        out.push_str(word);
        column += length;
    }
    out
}

/// `:explain E0301`.
pub(super) fn explain(planner: &mut Planner<'_>, call: &Call) -> Result<(), Box<Diagnostic>> {
    let code = call.needed("`:explain` takes a code, such as E0301 or F03")?;
    match explain::page(code) {
        Some(page) => {
            planner.steps.push(Step::Text(page.trim_end().to_owned()));
            Ok(())
        }
        None => {
            let message = format!("there is no page about `{code}`");
            let diagnostic = Diagnostic::error("E0508", message, call.argument_span, "not a code");
            let mut letters = code.chars();
            let reasons: Vec<&str> = explain::reasons().collect();
            Err(Box::new(match (letters.next(), letters.next()) {
                (Some('F' | 'f'), Some('0'..='9')) => {
                    diagnostic.help(format!("the reasons of `:fuse` are {}", reasons.join(", ")))
                }
                _ => diagnostic
                    .help("codes look like E0301, and F03 in `:fuse`; every error shows its own"),
            }))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::wrap;

    #[test]
    fn documentation_is_wrapped_at_words() {
        assert_eq!(wrap("one two  three", 7), "one two\nthree");
    }
}
