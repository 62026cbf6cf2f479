//! What every session begins with: the functions that make plots and pictures, and those about texts,
//! numbers and statistics. They are written in the language itself, so that every engine runs them as it
//! runs the rest of a program; the display only recognises what plots make.

use std::collections::BTreeMap;
use std::sync::{Arc, LazyLock};

use weft_ir::{ScalarType, SourceId, Span, Trap, TrapKind};
use weft_lang::ast::{Item, ItemKind};
use weft_lang::typed::GlobalId;
use weft_lang::{Binding, Config, Environment, NoFiles, check, syntax};

/// The name of the source in reports.
pub(crate) const NAME: &str = "prelude";
/// The source. It is that of no cell.
pub(crate) const SOURCE: SourceId = SourceId(u32::MAX - 1);

/// The files with the subjects of what they define, in the order in which they are checked.
macro_rules! files {
    ($(($subject:literal, $file:literal),)*) => {
        const FILES: &[(&str, &str)] = &[$(($subject, include_str!($file))),*];
        /// Its text.
        pub(crate) const TEXT: &str = concat!($(include_str!($file), "\n"),*);
    };
}

files! {
    ("arrays", "prelude/arrays.weft"),
    ("texts", "prelude/texts.weft"),
    ("numbers and texts", "prelude/numbers.weft"),
    ("special functions", "prelude/special.weft"),
    ("statistics", "prelude/statistics.weft"),
    ("matrices", "prelude/matrices.weft"),
    ("decompositions", "prelude/decompositions.weft"),
    ("signals", "prelude/signals.weft"),
    ("sequences", "prelude/sequences.weft"),
    ("plots and pictures", "prelude/display.weft"),
}

/// Names of the prelude that the checker looks for: what is shown of these is their effect.
const SEEN: [&str; 1] = ["streamOut"];

/// What a name of the prelude is for.
#[derive(Clone, Debug)]
pub(crate) struct Entry {
    /// What it does: the comment above it.
    pub(crate) doc: String,
    /// Whether only the prelude itself uses it.
    is_private: bool,
    /// An expression to try; empty for a type, and for what is private.
    pub(crate) example: &'static str,
    /// Its value, in source syntax; empty where that is a plot or a picture.
    pub(crate) result: &'static str,
    /// The item.
    pub(crate) span: Span,
}

struct Prelude {
    environment: Environment,
    entries: BTreeMap<Arc<str>, Entry>,
}

/// The names that a session begins with.
pub(crate) fn environment() -> Environment {
    PRELUDE.environment.clone()
}

/// The number of items that a chunk of a sequence has at most.
pub(crate) fn most_items() -> Option<GlobalId> {
    PRELUDE.environment.helper("mostItems")
}

/// Gives a name that means nothing any more the meaning that it had at the beginning, if it had one.
pub(crate) fn bring_back(name: &str, environment: &mut Environment) {
    bring_back_as(name, name, environment);
}

/// Gives a name the meaning that another one had at the beginning, if it had one.
pub(crate) fn bring_back_as(name: &str, of: &str, environment: &mut Environment) {
    if let (true, Some(binding)) = (has(of), PRELUDE.environment.lookup(of)) {
        environment.bind(Arc::from(name), binding.clone());
    }
}

/// Whether a function or value is one of the prelude.
pub(crate) fn defines(global: GlobalId) -> bool {
    PRELUDE.environment.global(global).is_some()
}

/// Whether the prelude defines a name.
pub(crate) fn has(name: &str) -> bool {
    PRELUDE.entries.contains_key(name)
}

/// The entry of a name that means what it meant at the beginning.
pub(crate) fn entry(environment: &Environment, name: &str) -> Option<&'static Entry> {
    environment.lookup(name).filter(|binding| is_own(name, binding))?;
    PRELUDE.entries.get(name)
}

/// A trap inside of a function of the prelude as one of the expression that calls it: what users
/// wrote failed, and the lines of the prelude tell them nothing.
pub(crate) fn outside(mut trap: Trap) -> Trap {
    trap.within.retain(|place| place.span.source != SOURCE);
    let Some(outer) = trap.calls.iter().position(|call| call.source != SOURCE) else { return trap };
    if trap.span.source != SOURCE {
        // A function of the user's that the prelude calls.
        trap.calls.retain(|call| call.source != SOURCE);
        return trap;
    }
    let entered = if outer == 0 { trap.span } else { trap.calls[outer - 1] };
    let is_in = |entry: &Entry| entry.span.contains(entered);
    let Some((name, _)) = PRELUDE.entries.iter().find(|(_, entry)| is_in(entry)) else {
        return trap;
    };
    let operation = name.to_string();
    let kind = match trap.kind {
        TrapKind::SizeMismatch { expected, found, .. } => {
            TrapKind::LengthMismatch { operation, left: expected, right: found }
        }
        TrapKind::LengthMismatch { left, right, .. } => {
            TrapKind::LengthMismatch { operation, left, right }
        }
        TrapKind::EmptyArray { .. } => TrapKind::EmptyArray { operation },
        TrapKind::Ragged { row, expected, found, .. } => {
            TrapKind::Ragged { operation, row, expected, found }
        }
        kind @ (TrapKind::IndexOutOfRange { .. }
        | TrapKind::DivisionByZero
        | TrapKind::NegativeExponent { .. }
        | TrapKind::BadLength { .. }
        | TrapKind::BadShape { .. }
        | TrapKind::BadArgument { .. }
        | TrapKind::AssertionFailed
        | TrapKind::Error(_)) => kind,
    };
    let calls = trap.calls[outer + 1..].to_vec();
    Trap { kind, span: trap.calls[outer], calls, within: trap.within }
}

/// Whether a name has its meaning from the prelude.
pub(crate) fn is_own(name: &str, binding: &Binding) -> bool {
    match (PRELUDE.environment.lookup(name), binding) {
        (Some(Binding::Global(first)), Binding::Global(now)) => first == now,
        (Some(Binding::Alias(first)), Binding::Alias(now)) => Arc::ptr_eq(first, now),
        _ => false,
    }
}

static PRELUDE: LazyLock<Prelude> = LazyLock::new(|| {
    let parsed = syntax::parse(SOURCE, TEXT);
    let entries: BTreeMap<Arc<str>, Entry> = parsed.items.iter().filter_map(described).collect();
    let config = Config { float: ScalarType::F64 };
    let checked = check(&parsed.items, &Environment::of_prelude(), &config, &mut NoFiles);
    assert!(
        parsed.diagnostics.is_empty() && checked.diagnostics.is_empty(),
        "the prelude is wrong: {:?} {:?}",
        parsed.diagnostics,
        checked.diagnostics
    );
    let mut environment = checked.environment;
    let private = entries.iter().filter(|(_, entry)| entry.is_private);
    environment.end_prelude(&private.map(|(name, _)| &**name).collect::<Vec<_>>(), &SEEN);
    Prelude { environment, entries }
});

/// Every public function with its entry and its subject, in the order of the text.
pub(crate) fn functions() -> Vec<(&'static str, &'static Entry, &'static str)> {
    let mut own: Vec<_> =
        PRELUDE.entries.iter().filter(|(_, entry)| !entry.example.is_empty()).collect();
    own.sort_by_key(|(_, entry)| entry.span.start);
    own.into_iter().map(|(name, entry)| (&**name, entry, subject(entry))).collect()
}

/// The subject of the file that an entry is in.
fn subject(entry: &Entry) -> &'static str {
    let mut end = 0;
    let file = FILES.iter().find(|(_, text)| {
        end += text.len() + 1;
        (entry.span.start as usize) < end
    });
    file.expect("the text is made of the files").0
}

/// The name of an item, with what the comment above it says. A line of it that begins with `~` is
/// an example, one that begins with `=` its value; one that says `private` hides the name.
fn described(item: &Item) -> Option<(Arc<str>, Entry)> {
    let name = match &item.kind {
        ItemKind::Def(def) => Arc::clone(&def.name.name),
        ItemKind::TypeAlias { name, .. } => Arc::clone(&name.name),
        ItemKind::Binding { .. }
        | ItemKind::Expr { .. }
        | ItemKind::Command { .. }
        | ItemKind::Import { .. } => return None,
    };
    let before = TEXT[..item.span.start as usize].trim_end();
    let above = before.lines().rev().take_while(|line| !line.is_empty());
    let mut lines: Vec<&str> = above.filter_map(|line| line.strip_prefix("-- ")).collect();
    lines.reverse();
    let (mut example, mut result, mut doc, mut is_private) = ("", "", Vec::new(), false);
    for line in lines {
        match (line.strip_prefix("~ "), line.strip_prefix("= ")) {
            (Some(text), _) => example = text,
            (None, Some(text)) => result = text,
            (None, None) if line == "private" => is_private = true,
            (None, None) => doc.push(line),
        }
    }
    Some((name, Entry { doc: doc.join(" "), is_private, example, result, span: item.span }))
}

#[cfg(test)]
mod tests {
    use super::{FILES, PRELUDE, SEEN, functions};

    #[test]
    fn every_name_is_described_and_every_function_has_an_example() {
        for (name, entry) in &PRELUDE.entries {
            assert!(entry.doc.ends_with('.'), "{name}: {}", entry.doc);
            let needs_none = entry.is_private || &**name == "figure";
            assert_eq!(entry.example.is_empty(), needs_none, "{name}");
        }
        assert!(PRELUDE.entries.len() > 6);
    }

    #[test]
    fn every_function_has_a_subject_and_a_result_or_a_picture() {
        for (name, entry, subject) in functions() {
            assert!(!subject.is_empty(), "{name}");
            let shows = subject == "plots and pictures" || SEEN.contains(&name);
            assert_eq!(entry.result.is_empty(), shows, "{name}");
        }
    }

    #[test]
    fn every_subject_has_what_its_file_defines() {
        let functions = functions();
        for (subject, _) in FILES {
            assert!(functions.iter().any(|(.., of)| of == subject), "nothing is of {subject}");
        }
        for (name, subject) in [
            ("positions", "arrays"),
            ("same", "texts"),
            ("parseFloat", "numbers and texts"),
            ("variance", "statistics"),
            ("solve", "matrices"),
            ("fft", "signals"),
            ("plot", "plots and pictures"),
        ] {
            let found = functions.iter().find(|(own, ..)| *own == name).expect(name);
            assert_eq!(found.2, subject, "{name}");
        }
    }
}
