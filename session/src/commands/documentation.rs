//! `:doc`, `:search` and `:explain`.

use weft_ir::Span;
use weft_lang::builtins::{self, Entry};
use weft_lang::{Binding, Diagnostic, Global, suggest};

use super::{Call, Command, resolve, unquoted};
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

/// Lines that `:search` shows.
const MOST_FOUND: usize = 30;

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
    planner.steps.push(Step::Text(text));
    Ok(())
}

/// A command with its example, run in a session of its own, and what that prints.
pub(super) fn demonstrated(command: &Command) -> String {
    /// Lines of the output that are shown.
    const MOST: usize = 24;
    let mut lines: Vec<String> = Vec::new();
    let mut session = Session::new(&Config { memory: 64 << 20, io: false });
    for cell in command.example.lines() {
        lines.push(format!("> {cell}"));
        if command.printed.is_none() {
            let mut sink = Collected::default();
            session.eval(Cell::typed(cell), &mut sink, &Cancel::new());
            lines.extend(
                sink.events
                    .into_iter()
                    .filter_map(printed)
                    .flat_map(|text| text.lines().map(str::to_owned).collect::<Vec<_>>()),
            );
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
        Event::Shown(shown) => Some(shown.text(72, false)),
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
        Binding::Alias(_) => state.aliases.get(name).copied(),
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

/// `:search words`, `:search "type"`.
pub(super) fn search(planner: &mut Planner<'_>, call: &Call) -> Result<(), Box<Diagnostic>> {
    let query = unquoted(call.needed("`:search` takes words, or a type in quotes")?).trim();
    let mut found = if query.contains("->") || query.contains('[') {
        by_type(&planner.state, query)
    } else {
        by_words(&planner.state, query)
    };
    let hidden = found.len().saturating_sub(MOST_FOUND);
    found.truncate(MOST_FOUND);
    let mut text = match found.is_empty() {
        true => format!("nothing found for `{query}`"),
        false => found.join("\n"),
    };
    if hidden > 0 {
        text.push_str(&format!("\n… and {hidden} more"));
    }
    planner.steps.push(Step::Text(text));
    Ok(())
}

fn line(name: &str, ty: &str, doc: &str) -> String {
    let doc = doc.split(". ").next().unwrap_or_default().trim_end_matches('.');
    let doc: String = wrap(doc, 74).lines().map(|line| format!("\n    {line}")).collect();
    format!("{name} : {ty}{doc}")
}

/// Definitions and builtins in which each of the words occurs, or that the words may mean; those of
/// that name first.
fn by_words(state: &State, query: &str) -> Vec<String> {
    let words: Vec<String> = query.split_whitespace().map(str::to_lowercase).collect();
    let meant = topics::meant(query);
    let mut found: Vec<(usize, String)> = Vec::new();
    for (name, ty, doc, subject) in everything(state) {
        let (lower, text) = (name.to_lowercase(), format!("{doc} {subject}").to_lowercase());
        if let Some(position) = meant.iter().position(|other| *other == name) {
            found.push((position + 1, line(&name, &ty, &doc)));
        } else if words.iter().all(|word| lower.contains(word) || text.contains(word)) {
            let rank = match () {
                () if words.contains(&lower) => 0,
                () if words.iter().any(|word| lower.contains(word)) => meant.len() + 1,
                () => meant.len() + 2,
            };
            found.push((rank, line(&name, &ty, &doc)));
        }
    }
    found.sort_by_key(|(rank, _)| *rank);
    found.into_iter().map(|(_, line)| line).collect()
}

/// Definitions and builtins of a type, whatever their variables are called: first those of exactly
/// that type, then those in whose type it occurs.
fn by_type(state: &State, query: &str) -> Vec<String> {
    let wanted = canonical(query);
    let mut found: Vec<(u8, String)> = Vec::new();
    for (name, ty, doc, _) in everything(state) {
        let plain = ty.split_once("=>").map_or(&*ty, |(_, plain)| plain);
        let rank = if canonical(plain) == wanted {
            0
        } else if occurs(&wanted, plain) {
            1
        } else {
            continue;
        };
        found.push((rank, line(&name, &ty, &doc)));
    }
    found.sort_by_key(|(rank, _)| *rank);
    found.into_iter().map(|(_, line)| line).collect()
}

/// Every name with its type, documentation and subject.
fn everything(state: &State) -> Vec<(String, String, String, String)> {
    let own = state.environment.names().filter_map(|(name, _)| {
        let ty = type_of_name(state, name)?;
        let is_numbered = name.starts_with('_') || &**name == "it";
        let doc = prelude::entry(&state.environment, name).map_or("", |entry| &entry.doc);
        (!is_numbered).then(|| (name.to_string(), ty, doc.to_owned(), String::new()))
    });
    let builtins = builtins::all().map(|entry| {
        (
            entry.name.to_owned(),
            entry.signature.to_owned(),
            entry.doc.to_owned(),
            entry.subject.to_owned(),
        )
    });
    let forms = topics::TOPICS.iter().map(|topic| {
        (topic.names[0].to_owned(), topic.heading.to_owned(), topic.doc.to_owned(), String::new())
    });
    own.chain(builtins).chain(forms).collect()
}

/// The tokens of a type, with variables numbered in order of appearance.
fn canonical(ty: &str) -> Vec<String> {
    let mut variables: Vec<String> = Vec::new();
    type_tokens(ty)
        .into_iter()
        .map(|token| {
            let is_variable = token.len() == 1 && token.starts_with(|c: char| c.is_lowercase());
            if !is_variable {
                return token;
            }
            let position =
                variables.iter().position(|known| *known == token).unwrap_or_else(|| {
                    variables.push(token.clone());
                    variables.len() - 1
                });
            format!("?{position}")
        })
        .collect()
}

/// Whether a run of tokens of `ty`, taken by itself, is the wanted type.
fn occurs(wanted: &[String], ty: &str) -> bool {
    let tokens = type_tokens(ty);
    if tokens.len() < wanted.len() {
        return false;
    }
    tokens.windows(wanted.len()).any(|window| canonical(&window.join(" ")) == wanted)
}

fn type_tokens(ty: &str) -> Vec<String> {
    let mut tokens: Vec<String> = Vec::new();
    let mut word = String::new();
    let mut characters = ty.chars().peekable();
    while let Some(c) = characters.next() {
        if c.is_alphanumeric() || c == '_' {
            word.push(c);
            continue;
        }
        if !word.is_empty() {
            tokens.push(std::mem::take(&mut word));
        }
        if c == '-' && characters.peek() == Some(&'>') {
            characters.next();
            tokens.push("->".to_owned());
        } else if !c.is_whitespace() {
            tokens.push(c.to_string());
        }
    }
    if !word.is_empty() {
        tokens.push(word);
    }
    tokens
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
            Err(Box::new(
                diagnostic
                    .help("codes look like E0301, and F03 in `:fuse`; every error shows its own"),
            ))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{canonical, occurs, wrap};

    #[test]
    fn types_are_compared_without_the_names_of_variables() {
        assert_eq!(canonical("[]b -> (b -> c)"), canonical("[]a->(a->b)"));
        assert_ne!(canonical("a -> a"), canonical("a -> b"));
        assert!(occurs(&canonical("[]x -> i64"), "(a -> bool) -> []a -> i64"));
        assert!(!occurs(&canonical("[]x -> f64"), "(a -> bool) -> []a -> i64"));
    }

    #[test]
    fn documentation_is_wrapped_at_words() {
        assert_eq!(wrap("one two  three", 7), "one two\nthree");
    }
}
