//! The functions of which every program can make use, as tables for the manual and the tests: those that are
//! builtin stand in `weft_lang::builtins`; here are those of the prelude, and forms that look like functions.

use crate::plot;
use crate::prelude;
use crate::topics;
use weft_lang::{Binding, Global};

/// What there is to say of a function.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reference {
    /// Its name.
    pub name: &'static str,
    /// Its name and type, or how it is written.
    pub heading: String,
    /// What it does.
    pub doc: String,
    /// Something to try …
    pub example: &'static str,
    /// … and its value, in source syntax; empty where it draws, or depends on a file.
    pub result: &'static str,
    /// What it is about.
    pub subject: &'static str,
}

/// The functions that are not builtin, by subject.
pub fn reference() -> Vec<Reference> {
    let environment = prelude::environment();
    let heading = |name: &str| match environment.lookup(name) {
        Some(Binding::Global(global)) => match environment.global(*global) {
            Some(Global::Function(function)) => {
                format!("{name} : {}", plot::shortened(function.scheme.to_string()))
            }
            Some(Global::Value { ty, .. }) => format!("{name} : {ty}"),
            None => name.to_owned(),
        },
        Some(Binding::Alias(_) | Binding::Broken) | None => name.to_owned(),
    };
    let is_function = |topic: &&topics::Topic| ["rows", "columns"].contains(&topic.names[0]);
    let forms = topics::TOPICS.iter().filter(is_function);
    let forms = forms.map(|topic| Reference {
        name: topic.names[0],
        heading: topic.heading.to_owned(),
        doc: topic.doc.to_owned(),
        example: topic.example,
        result: topic.result,
        subject: "tables",
    });
    let functions = prelude::functions().into_iter().map(|(name, entry, subject)| Reference {
        name,
        heading: heading(name),
        doc: entry.doc.clone(),
        example: entry.example,
        result: entry.result,
        subject,
    });
    forms.chain(functions).collect()
}
