//! `:mem` and `:free`: what the names of a session hold.

use std::collections::{BTreeMap, BTreeSet};

use unicode_width::UnicodeWidthStr as _;
use weft_ir::{Type, Value};
use weft_lang::typed::GlobalId;
use weft_lang::{Binding, Diagnostic, Global};

use super::Call;
use crate::display::discovered_type;
use crate::modes::{bytes_text, size_text};
use crate::numbered::output_number;
use crate::plan::{Change, Planner, Step};
use crate::prelude;
use crate::state::State;

/// `:mem`.
pub(super) fn mem(planner: &mut Planner<'_>, _call: &Call) -> Result<(), Box<Diagnostic>> {
    planner.steps.push(Step::Memory(planner.state.environment.clone()));
    Ok(())
}

/// `:free name …`.
pub(super) fn free(planner: &mut Planner<'_>, call: &Call) -> Result<(), Box<Diagnostic>> {
    let names = call.needed("`:free` takes names")?.to_owned();
    let mut freed = Vec::new();
    for name in names.split_whitespace() {
        let own = planner
            .state
            .environment
            .lookup(name)
            .filter(|binding| !prelude::is_own(name, binding));
        let Some(binding) = own.cloned() else {
            let message = format!("nothing is called `{name}` in this session");
            let diagnostic =
                Diagnostic::error("E0508", message, call.argument_span, "nothing to let go of");
            return Err(Box::new(diagnostic.help("`:mem` lists the names")));
        };
        if let Binding::Global(global) = binding {
            // The value may also be a result, which would go on holding it.
            let state = &mut planner.state;
            let numbers: Vec<usize> = state
                .outputs
                .iter()
                .filter(|(number, kept)| **kept == global || output_number(name) == Some(**number))
                .map(|(number, _)| *number)
                .collect();
            numbers.into_iter().for_each(|number| state.drop_output(number));
        }
        planner.state.environment.unbind(name);
        prelude::bring_back(name, &mut planner.state.environment);
        let users = match binding {
            Binding::Global(global) => planner.state.users(global),
            Binding::Alias(_) | Binding::Broken => Vec::new(),
        };
        let users: Vec<String> = users.iter().map(|user| format!("`{user}`")).collect();
        freed.push(match users.is_empty() {
            true => format!("`{name}` is forgotten"),
            false => format!("`{name}` is forgotten; still held by {}", users.join(", ")),
        });
    }
    planner.change = Change::Something;
    planner.steps.push(Step::Text(freed.join("\n")));
    Ok(())
}

/// What `:mem` lists: the largest first; then what no name of this state holds, be it for `:undo`.
/// `on_device` says how many bytes of a value a GPU has too.
pub(crate) fn memory(
    state: &State,
    kept_for_undo: u64,
    on_device: &dyn Fn(&Value) -> u64,
) -> String {
    let mut rows: Vec<(u64, String, String)> = Vec::new();
    let mut named = BTreeMap::new();
    let mut of_sequences = BTreeSet::new();
    for (name, binding) in state.environment.names() {
        let Binding::Global(global) = binding else { continue };
        let Some(Global::Value { ty, .. }) = state.environment.global(*global) else { continue };
        let Some(value) = state.values.get(global) else { continue };
        if prelude::is_own(name, binding) {
            continue;
        }
        let (names, _) = named.entry(*global).or_insert_with(|| {
            (Vec::new(), (value.memory_bytes() as u64, placed_type(value, ty, on_device(value))))
        });
        names.push(name.to_string());
    }
    // What a sequence is made of has no name of its own, as what was loaded for it.
    for (name, binding) in state.environment.names() {
        let Binding::Global(sequence) = binding else { continue };
        let Some(Global::Function(function)) = state.environment.global(*sequence) else {
            continue;
        };
        for (global, value) in state.sources_of_sequence(*sequence) {
            if named.contains_key(&global) && !of_sequences.contains(&global) {
                continue;
            }
            of_sequences.insert(global);
            let (names, _) = named.entry(global).or_insert_with(|| {
                let text = function.scheme.to_string() + &places(value, on_device(value));
                (Vec::new(), (value.memory_bytes() as u64, text))
            });
            names.push(name.to_string());
        }
    }
    let unnamed = state.values.iter().filter(|(global, _)| !named.contains_key(global));
    let (results, unnamed): (Vec<_>, Vec<_>) =
        unnamed.partition(|(global, _)| state.outputs.values().any(|output| output == *global));
    let bytes_of = |values: &[(&GlobalId, &Value)]| {
        values.iter().map(|(_, value)| value.memory_bytes() as u64).sum::<u64>()
    };
    // What nothing reaches was there before the cell, which has given its name to something else.
    let reachable = state.reachable();
    let (unnamed, superseded): (Vec<_>, Vec<_>) =
        unnamed.into_iter().partition(|(global, _)| reachable.contains(global));
    let kept_for_undo = kept_for_undo + bytes_of(&superseded);
    let (results, unnamed) = (bytes_of(&results), bytes_of(&unnamed));
    for (names, (bytes, ty)) in named.into_values() {
        rows.push((bytes, names.join(", "), ty));
    }
    rows.sort_by(|a, b| b.0.cmp(&a.0).then_with(|| a.1.cmp(&b.1)));
    let total: u64 =
        rows.iter().map(|(bytes, _, _)| bytes).sum::<u64>() + results + unnamed + kept_for_undo;
    for (bytes, holder) in [
        (results, "(kept as Out[n])"),
        (unnamed, "(held by functions)"),
        (kept_for_undo, "(kept for :undo)"),
    ] {
        if bytes > 0 {
            rows.push((bytes, holder.to_owned(), String::new()));
        }
    }
    let widest = rows.iter().map(|(_, name, _)| name.width()).max().unwrap_or(0);
    let mut lines: Vec<String> = rows
        .iter()
        .map(|(bytes, name, ty)| {
            let padding = widest - name.width();
            format!("{:>8}  host  {name}{:padding$}  {ty}", size_text(*bytes), "")
                .trim_end()
                .to_owned()
        })
        .collect();
    let limit = bytes_text(state.modes.memory);
    lines.push(format!("{:>8}  in all; a run may take {limit} beside", size_text(total)));
    lines.join("\n")
}

/// The type and the places of a value.
fn placed_type(value: &Value, ty: &Type, on_device: u64) -> String {
    brief_type(value, ty) + &places(value, on_device)
}

/// How much of a value lies in a file, and whether a GPU has the value too, or has parts that nobody has looked at
/// yet.
fn places(value: &Value, on_device: u64) -> String {
    let also = if is_here(value) { "too" } else { "only" };
    let mut text = String::new();
    match value.mapped_bytes() as u64 {
        0 => {}
        bytes => text.push_str(&format!("  ({} in a file)", size_text(bytes))),
    }
    match on_device {
        0 => {}
        bytes => text.push_str(&format!("  ({} on the gpu {also})", size_text(bytes))),
    }
    text
}

/// Whether all elements are in memory.
fn is_here(value: &Value) -> bool {
    match value {
        Value::Scalar(_) => true,
        Value::Tuple(parts) => parts.iter().all(is_here),
        Value::Array(array) => array.elements.is_here(),
    }
}

/// The type with the extents found, cut off where it is long.
fn brief_type(value: &Value, ty: &Type) -> String {
    const LONGEST: usize = 50;
    let whole = discovered_type(value, ty);
    match whole.char_indices().nth(LONGEST) {
        Some((end, _)) => format!("{}…", &whole[..end]),
        None => whole,
    }
}
