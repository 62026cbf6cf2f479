//! What `:vars` lists.

use unicode_width::UnicodeWidthStr;
use weft_lang::{Binding, Environment, Global};

use crate::display::discovered_type;
use crate::modes::size_text;
use crate::numbered::output_number;
use crate::prelude;
use crate::state::State;

/// The visible names with their types, and the size of values that have one worth mentioning.
pub(crate) fn variables(environment: &Environment, state: &State) -> String {
    let mut rows: Vec<(String, String, String)> = Vec::new();
    for (name, binding) in environment.names() {
        if output_number(name).is_some() || prelude::is_own(name, binding) {
            continue;
        }
        match binding {
            Binding::Global(global) => match environment.global(*global) {
                Some(Global::Function(function)) => {
                    let sources = state.sources_of_sequence(*global);
                    let bytes = sources.iter().map(|(_, value)| value.mapped_bytes() as u64).sum();
                    let size = match bytes {
                        0 => String::new(),
                        bytes => format!("{}, in a file", size_of(bytes)),
                    };
                    rows.push((name.to_string(), function.scheme.to_string(), size));
                }
                Some(Global::Value { ty, .. }) => {
                    let Some(value) = state.values.get(global) else { continue };
                    let bytes = value.bytes() as u64;
                    let mut size = match bytes {
                        0..100 => String::new(),
                        bytes => size_of(bytes),
                    };
                    if !size.is_empty() && value.mapped_bytes() > 0 {
                        size.push_str(", in a file");
                    }
                    rows.push((name.to_string(), discovered_type(value, ty), size));
                }
                None => {}
            },
            Binding::Alias(_) => rows.push((name.to_string(), "a type".to_owned(), String::new())),
            Binding::Broken => {}
        }
    }
    if rows.is_empty() {
        return "nothing is defined yet".to_owned();
    }
    let width = rows.iter().map(|(name, _, _)| name.width()).max().unwrap_or(0);
    let lines: Vec<String> = rows
        .iter()
        .map(|(name, ty, size)| {
            let padding = width - name.width();
            let size = if size.is_empty() { String::new() } else { format!("  ({size})") };
            format!("{name}{:padding$} : {ty}{size}", "")
        })
        .collect();
    lines.join("\n")
}

fn size_of(bytes: u64) -> String {
    if bytes < 10_000 { format!("{bytes} bytes") } else { size_text(bytes) }
}
