//! `:save`: values to files, and definitions to a source file.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use weft_ir::{ScalarType, Span};
use weft_lang::syntax::{TokenClass, tokens};
use weft_lang::typed::GlobalId;
use weft_lang::types::Type;
use weft_lang::{Binding, CheckedKind, Diagnostic, Global};

use super::{Call, unquoted};
use crate::plan::{Planner, Step};
use crate::prelude;
use crate::state::Origin;

/// `:save e "file"` or `:save file.weft`.
pub(super) fn save(planner: &mut Planner<'_>, call: &Call) -> Result<(), Box<Diagnostic>> {
    const USE: &str = "`:save` takes a value and the name of a file in quotes, or file.weft alone";
    let argument = call.needed(USE)?;
    let span = call.argument_span;
    // The last text, wherever quotes stand within it.
    let last = tokens(argument).into_iter().next_back();
    let is_quoted = matches!(&last, Some((TokenClass::String, range)) if range.start == 0);
    if unquoted(argument).ends_with(".weft") && (is_quoted || !argument.contains('"')) {
        if !is_quoted && argument.contains(char::is_whitespace) {
            let problem = "a .weft file takes all definitions, so there is no value before its name; a name with blanks \
                           stands in quotes";
            return Err(Box::new(call.misuse(problem)));
        }
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
            planner.loader.saved.push((file.clone(), span));
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
/// defined. What a bare expression has computed gets a name, where something was computed from it; and where
/// literals with a point meant something else than usual, the file says so.
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
        let Some(origin) = state.origins.get(&global) else {
            match (state.environment.global(global), user) {
                (Some(Global::Value { name, .. }), Some(user)) if !prelude::defines(global) => {
                    return Err(Box::new(uses_no_text(planner, call, user, name)));
                }
                // What came with Weft is there wherever the file is read.
                _ => continue,
            }
        };
        let is_named = |used: &GlobalId| {
            let is_result = state.origins.get(used).is_some_and(|origin| origin.anonymous);
            !is_result || origin.results.iter().any(|(_, result)| result == used)
        };
        if let Some(hidden) = origin.uses.iter().find(|used| !is_named(used)) {
            let name = state.name_of(*hidden);
            return Err(Box::new(uses_no_text(planner, call, global, &name)));
        }
        if wanted.insert(global) {
            pending.extend(origin.uses.iter().map(|used| (*used, Some(global))));
        }
    }
    let mut items: Vec<(Span, GlobalId)> = Vec::new();
    for global in &wanted {
        let item = state.origins[global].item;
        if !items.iter().any(|(known, _)| *known == item) {
            items.push((item, *global));
        }
    }
    let spans: Vec<Span> = items.iter().map(|(item, _)| *item).collect();
    let names = names_of_results(planner, &wanted, &spans);
    let mut text = String::new();
    for span in aliases(planner, &spans) {
        text.push_str(planner.sources.slice(span).trim_end());
        text.push('\n');
    }
    // The file is often read in a session whose modes are the usual ones.
    let mut float = ScalarType::F64;
    let mut set_float = |wanted: ScalarType, text: &mut String| {
        if wanted != std::mem::replace(&mut float, wanted) {
            text.push_str(&format!(":set float {}\n", wanted.name()));
        }
    };
    for (_, global) in items {
        let origin = &state.origins[&global];
        set_float(origin.float, &mut text);
        if let Some(name) = names.get(&global) {
            text.push_str(&format!("{name} = "));
        }
        text.push_str(&named(planner, origin, &names));
        text.push('\n');
    }
    set_float(state.modes.float, &mut text);
    Ok(text)
}

/// Names for the results among some definitions that nothing of the session has.
fn names_of_results(
    planner: &Planner<'_>,
    wanted: &BTreeSet<GlobalId>,
    items: &[Span],
) -> BTreeMap<GlobalId, String> {
    let state = &planner.state;
    let is_free = |name: &String| {
        let is_used = items.iter().any(|item| planner.sources.slice(*item).contains(&**name));
        state.environment.lookup(name).is_none() && !is_used
    };
    let mut free = (1..).map(|number| format!("result{number}")).filter(is_free);
    let results = wanted.iter().filter(|global| state.origins[*global].anonymous);
    results.filter_map(|global| Some((*global, free.next()?))).collect()
}

/// The text of an item, in which results have names.
fn named(planner: &Planner<'_>, origin: &Origin, names: &BTreeMap<GlobalId, String>) -> String {
    let mut text = planner.sources.slice(origin.item).to_owned();
    for (place, global) in origin.results.iter().rev() {
        let (start, end) = (place.start - origin.item.start, place.end - origin.item.start);
        if let Some(name) = names.get(global) {
            text.replace_range(start as usize..end as usize, name);
        }
    }
    let text = text.trim_end();
    // Of a bare expression `;` says that it is not shown.
    let text = if origin.anonymous { text.trim_end_matches(';') } else { text };
    text.trim_end().to_owned()
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

/// E0507: a definition needs something that no text of the session defines.
fn uses_no_text(planner: &Planner<'_>, call: &Call, user: GlobalId, used: &str) -> Diagnostic {
    let name = planner.state.name_of(user);
    let message = format!("`{name}` needs `{used}`, which no text of this session defines");
    let here = "a source file cannot express that";
    let diagnostic = Diagnostic::error("E0507", message, call.argument_span, here);
    match planner.state.origins.get(&user) {
        Some(origin) => diagnostic.label(origin.item, "here"),
        None => diagnostic,
    }
    .help(format!("`:free {name}` leaves it out, or define it without `{used}`"))
}
