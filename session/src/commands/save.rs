//! `:save`: values to files, and definitions to a source file.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::sync::Arc;

use weft_ir::{Name, ScalarType, Span};
use weft_lang::syntax::{TokenClass, tokens};
use weft_lang::typed::GlobalId;
use weft_lang::types::Type;
use weft_lang::{Binding, CheckedKind, Diagnostic, Global};

use super::{Call, unquoted};
use crate::origin::{AliasItem, Named, Origin, is_loaded};
use crate::plan::{Planner, Step};
use crate::prelude;

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
/// literals with a point meant something else than usual, or a name has another meaning than the lines before
/// have given it, the file says so.
fn definitions(planner: &Planner<'_>, call: &Call) -> Result<String, Box<Diagnostic>> {
    let state = &planner.state;
    let wanted = wanted(planner, call)?;
    let mut items: Vec<(Span, GlobalId)> = Vec::new();
    for global in &wanted {
        let item = state.origins[global].item;
        if !items.iter().any(|(known, _)| *known == item) {
            items.push((item, *global));
        }
    }
    let spans: Vec<Span> = items.iter().map(|(item, _)| *item).collect();
    let names = names_of_results(planner, &wanted, &spans);
    let mut file = File::new(planner);
    for (_, global) in &items {
        file.first_aliases(&state.origins[global].named);
    }
    for (_, global) in items {
        file.item(
            &state.origins[&global],
            names.get(&global),
            &named(planner, &state.origins[&global], &names),
        );
    }
    Ok(file.end())
}

/// What is visible, and what it needs.
fn wanted(planner: &Planner<'_>, call: &Call) -> Result<BTreeSet<GlobalId>, Box<Diagnostic>> {
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
                (Some(value @ Global::Value { name, .. }), Some(user))
                    if !prelude::defines(global) && !is_loaded(value) =>
                {
                    return Err(Box::new(uses_no_text(planner, call, user, name)));
                }
                // What came with Weft is there wherever the file is read, and what was loaded is loaded again.
                _ => continue,
            }
        };
        // A program uses what its functions use, whose texts name it.
        let has_named = |origin: &Origin, used: &GlobalId| {
            origin.results.iter().any(|(_, result)| result == used)
        };
        let is_named = |used: &GlobalId| {
            let is_result = state.origins.get(used).is_some_and(|origin| origin.anonymous);
            let mut functions = origin.uses.iter().filter_map(|other| state.origins.get(other));
            !is_result
                || has_named(origin, used)
                || functions.any(|function| has_named(function, used))
        };
        if let Some(hidden) = origin.uses.iter().find(|used| !is_named(used)) {
            let name = state.name_of(*hidden);
            return Err(Box::new(uses_no_text(planner, call, global, &name)));
        }
        if wanted.insert(global) {
            let paths = origin.named.paths.iter().filter(|path| {
                let origin = state.origins.get(path);
                origin.is_some_and(|origin| !origin.anonymous)
            });
            pending.extend(origin.uses.iter().chain(paths).map(|used| (*used, Some(global))));
        }
    }
    Ok(wanted)
}

/// A file of definitions that is being written.
struct File<'a> {
    planner: &'a Planner<'a>,
    text: String,
    /// The type of literals with a point. The file is often read in a session whose modes are the usual ones.
    float: ScalarType,
    /// The aliases as the lines so far define them.
    aliases: BTreeMap<Name, Span>,
    /// The names that the lines so far have bound to functions and values.
    bound: BTreeSet<Name>,
}

impl<'a> File<'a> {
    fn new(planner: &'a Planner<'a>) -> File<'a> {
        let (aliases, bound) = Default::default();
        File { planner, text: String::new(), float: ScalarType::F64, aliases, bound }
    }

    /// Types stand at the top of a file, as far as they do not change.
    fn first_aliases(&mut self, named: &Named) {
        for (name, alias) in &named.aliases {
            if !self.aliases.contains_key(name) {
                self.alias(name, alias);
            }
        }
    }

    /// Defines an alias, and those that it names, unless the lines so far have done so.
    fn alias(&mut self, name: &Name, alias: &AliasItem) {
        if self.aliases.get(name) == Some(&alias.item) {
            return;
        }
        self.meanings(&alias.named);
        self.line(alias.item, self.planner.sources.slice(alias.item).trim_end());
        self.bound.remove(name);
        self.aliases.insert(Arc::clone(name), alias.item);
    }

    /// Gives names the meanings that the text of an item needs.
    fn meanings(&mut self, named: &Named) {
        for (name, alias) in &named.aliases {
            self.alias(name, alias);
        }
        for name in &named.own {
            self.free(name);
        }
    }

    /// Gives a name back the meaning that it had at the beginning.
    fn free(&mut self, name: &Name) {
        let was_alias = self.aliases.remove(name).is_some();
        if self.bound.remove(name) || was_alias {
            self.text.push_str(&format!(":free {name}\n"));
        }
    }

    /// The text of an item, below its comment.
    fn line(&mut self, item: Span, text: &str) {
        let comment = self.planner.sources.comment_before(item);
        for line in comment.lines() {
            self.text.push_str(format!("-- {line}").trim_end());
            self.text.push('\n');
        }
        self.text.push_str(text);
        self.text.push('\n');
    }

    fn set_float(&mut self, wanted: ScalarType) {
        if wanted != std::mem::replace(&mut self.float, wanted) {
            self.text.push_str(&format!(":set float {}\n", wanted.name()));
        }
    }

    /// An item of functions and values; the value of a bare expression gets a name.
    fn item(&mut self, origin: &Origin, result: Option<&String>, text: &str) {
        self.meanings(&origin.named);
        self.set_float(origin.float);
        match result {
            Some(name) => self.line(origin.item, &format!("{name} = {text}")),
            None => self.line(origin.item, text),
        }
        for name in &origin.binds {
            self.aliases.remove(name);
            self.bound.insert(Arc::clone(name));
        }
    }

    /// The whole text, behind which names and modes are what they are in the session.
    fn end(mut self) -> String {
        let state = &self.planner.state;
        for (name, alias) in &state.aliases {
            if matches!(state.environment.lookup(name), Some(Binding::Alias(_))) {
                self.alias(name, alias);
            }
        }
        let is_hidden = |name: &&Name| match state.environment.lookup(name) {
            Some(binding) => prelude::is_own(name, binding),
            None => true,
        };
        let all = self.bound.iter().chain(self.aliases.keys());
        let hidden: Vec<Name> = all.filter(is_hidden).cloned().collect();
        hidden.iter().for_each(|name| self.free(name));
        self.set_float(state.modes.float);
        self.text
    }
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
