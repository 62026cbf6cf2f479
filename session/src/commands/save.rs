//! `:save`: values to files, and definitions to a source file.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::sync::Arc;

use weft_ir::{Name, Span};
use weft_lang::syntax::{TokenClass, tokens};
use weft_lang::typed::GlobalId;
use weft_lang::types::Type;
use weft_lang::{Binding, CheckedKind, Diagnostic};

use super::{Call, unquoted};
use crate::plan::{Planner, Step};

/// `:save e "file"` or `:save file.weft`.
pub(super) fn save(planner: &mut Planner<'_>, call: &Call) -> Result<(), Box<Diagnostic>> {
    const USE: &str = "`:save` takes a value and the name of a file in quotes, or file.weft alone";
    let argument = call.needed(USE)?;
    let span = call.argument_span;
    // The last text, wherever quotes stand within it.
    let last = tokens(argument).into_iter().next_back();
    let is_quoted = matches!(&last, Some((TokenClass::String, range)) if range.start == 0);
    if unquoted(argument).ends_with(".weft") && (is_quoted || !argument.contains('"')) {
        let path = match is_quoted {
            true => planner.path(span),
            false => Some(PathBuf::from(argument)),
        };
        let Some(path) = path else { return Ok(()) };
        let text = definitions(planner, call)?;
        planner.steps.push(Step::SaveSource { text, path, span });
        return Ok(());
    }
    let file = match last {
        Some((TokenClass::String, range)) if argument[range.clone()].starts_with('"') => range,
        Some(_) | None => return Err(Box::new(call.misuse(USE))),
    };
    let expression = &argument[..file.start];
    let start = span.start + file.start as u32;
    let Some(file) = planner.path(Span { start, ..span }) else { return Ok(()) };
    if expression.trim().is_empty() {
        let problem = "there is no value to save; only a .weft file takes all definitions";
        return Err(Box::new(call.misuse(problem)));
    }
    let mut value_span = span;
    value_span.end = span.start + expression.trim_end().len() as u32;
    let Some(expression) = planner.expression(value_span) else { return Ok(()) };
    match expression.item.kind {
        CheckedKind::Show { program, ty, .. } | CheckedKind::Bind { program, ty, .. } => {
            planner.steps.push(Step::SaveValue { program, ty, path: file, span });
            Ok(())
        }
        CheckedKind::ShowFunction { scheme, .. } | CheckedKind::Define { scheme, .. } => {
            let what = if matches!(scheme.ty, Type::Seq(_)) { "sequence" } else { "function" };
            let message = format!("only values can be saved to a file, not a {what} : {scheme}");
            let place = format!("this is a {what}");
            let diagnostic = Diagnostic::error("E0502", message, value_span, place);
            Err(Box::new(match what {
                "sequence" => diagnostic.help("`collect` makes an array of it"),
                _ => diagnostic,
            }))
        }
        CheckedKind::Alias { .. } => Err(Box::new(call.misuse(USE))),
    }
}

/// The source of everything that is visible, with what it needs, in the order in which it was
/// defined.
fn definitions(planner: &Planner<'_>, call: &Call) -> Result<String, Box<Diagnostic>> {
    let state = &planner.state;
    let mut wanted: BTreeSet<GlobalId> = BTreeSet::new();
    let mut pending: Vec<(GlobalId, Option<GlobalId>)> = Vec::new();
    for (_, binding) in state.environment.names() {
        if let Binding::Global(global) = binding {
            // A result without a name is left out, unless something else needs it.
            if state.origins.get(global).is_some_and(|origin| !origin.anonymous) {
                pending.push((*global, None));
            }
        }
    }
    while let Some((global, user)) = pending.pop() {
        let Some(origin) = state.origins.get(&global) else { continue };
        if let (true, Some(user)) = (origin.anonymous, user) {
            return Err(Box::new(uses_a_result(planner, call, user)));
        }
        if wanted.insert(global) {
            pending.extend(origin.uses.iter().map(|used| (*used, Some(global))));
        }
    }
    let mut items: Vec<Span> = Vec::new();
    for global in &wanted {
        let item = state.origins[global].item;
        if !items.contains(&item) {
            items.push(item);
        }
    }
    let mut text = String::new();
    for span in aliases(planner, &items).into_iter().chain(items) {
        text.push_str(planner.sources.slice(span).trim_end());
        text.push('\n');
    }
    Ok(text)
}

/// The type aliases that the items name, and those that these name.
fn aliases(planner: &Planner<'_>, items: &[Span]) -> BTreeSet<Span> {
    let known: BTreeMap<&str, Span> =
        planner.state.aliases.iter().map(|(name, span)| (&**name, *span)).collect();
    let mut needed = BTreeSet::new();
    let mut pending: Vec<Span> = items.to_vec();
    while let Some(item) = pending.pop() {
        let text = planner.sources.slice(item);
        for (class, range) in tokens(text) {
            let is_word = matches!(class, TokenClass::Name | TokenClass::Type);
            if let (true, Some(span)) = (is_word, known.get(&text[range]))
                && needed.insert(*span)
            {
                pending.push(*span);
            }
        }
    }
    needed
}

fn uses_a_result(planner: &Planner<'_>, call: &Call, user: GlobalId) -> Diagnostic {
    let named = planner
        .state
        .environment
        .names()
        .find(|(_, binding)| matches!(binding, Binding::Global(global) if *global == user));
    let name: Name = named.map_or_else(|| Arc::from("a definition"), |(name, _)| Arc::clone(name));
    let message = format!("`{name}` was computed from a result without a name");
    let diagnostic = Diagnostic::error(
        "E0507",
        message,
        call.argument_span,
        "a source file cannot name `it` or `_n`",
    );
    match planner.state.origins.get(&user) {
        Some(origin) => diagnostic.label(origin.item, "here"),
        None => diagnostic,
    }
    .help("bind that result to a name, and define this one with it")
}
