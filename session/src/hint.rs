//! The type of what is typed, while it is typed.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use weft_ir::{SourceId, Type};
use weft_lang::ast::{Item, ItemKind};
use weft_lang::diagnostic::Severity;
use weft_lang::{CheckedKind, Config, Environment, NoFiles, check, syntax};

use crate::complete::Snapshot;
use crate::plot;

/// How long somebody who types waits for a hint.
const PATIENCE: Duration = Duration::from_millis(20);
/// Longer cells get none.
const LONGEST: usize = 4000;
/// The source of a text that nothing points into.
const SOURCE: SourceId = SourceId(u32::MAX - 2);

/// Finds hints, one at a time, within the patience of somebody who types.
#[derive(Debug)]
pub struct Hints {
    snapshot: Snapshot,
    /// Whether an earlier question is still being answered.
    busy: Arc<AtomicBool>,
}

impl Hints {
    /// Hints of a session at one moment.
    pub fn new(snapshot: Snapshot) -> Hints {
        Hints { snapshot, busy: Arc::new(AtomicBool::new(false)) }
    }

    /// The type of the last item of a cell, which may lack closing brackets. `None` if it has none,
    /// if it is wrong or a command, or if the answer takes longer than 20 ms.
    pub fn hint(&self, cell: &str) -> Option<String> {
        let cell = cell.trim_end();
        let is_asking = cell.starts_with(':') || cell.ends_with('?');
        if cell.is_empty() || cell.len() > LONGEST || is_asking {
            return None;
        }
        if self.busy.swap(true, Ordering::AcqRel) {
            return None;
        }
        let (sender, answer) = mpsc::channel();
        let (snapshot, cell, busy) =
            (self.snapshot.clone(), cell.to_owned(), Arc::clone(&self.busy));
        // Deep programs need a deep stack, as in a cell; and nobody waits for a slow check.
        let builder = thread::Builder::new().stack_size(weft_lang::STACK_BYTES);
        let started = builder.spawn(move || {
            let _ = sender.send(type_of_text(&snapshot, &cell));
            busy.store(false, Ordering::Release);
        });
        if started.is_err() {
            self.busy.store(false, Ordering::Release);
            return None;
        }
        answer.recv_timeout(PATIENCE).ok().flatten()
    }
}

fn type_of_text(snapshot: &Snapshot, cell: &str) -> Option<String> {
    type_of_cell(snapshot, cell).or_else(|| type_of_cell(snapshot, &closed(cell)?))
}

/// The text with its open brackets closed; `None` if there are none.
fn closed(cell: &str) -> Option<String> {
    let mut open = Vec::new();
    for (_, range) in syntax::tokens(cell) {
        match &cell[range] {
            "(" => open.push(')'),
            "[" => open.push(']'),
            "{" => open.push('}'),
            ")" | "]" | "}" => {
                open.pop();
            }
            _ => {}
        }
    }
    (!open.is_empty()).then(|| cell.chars().chain(open.into_iter().rev()).collect())
}

fn type_of_cell(snapshot: &Snapshot, cell: &str) -> Option<String> {
    let ty = match last_item(snapshot, cell)? {
        CheckedKind::Show { ty, .. } | CheckedKind::Bind { ty, .. } => ty.to_string(),
        CheckedKind::ShowFunction { scheme, .. } | CheckedKind::Define { scheme, .. } => {
            scheme.to_string()
        }
        CheckedKind::Alias { .. } => return None,
    };
    Some(plot::shortened(ty))
}

/// The type of an expression, if it is right and has one type; files are not read for it. It takes at
/// most 100 ms.
pub(crate) fn type_of_expression(snapshot: &Snapshot, text: &str) -> Option<Type> {
    const PATIENCE: Duration = Duration::from_millis(100);
    if text.len() > LONGEST {
        return None;
    }
    let (sender, answer) = mpsc::channel();
    let (snapshot, text) = (snapshot.clone(), text.to_owned());
    let builder = thread::Builder::new().stack_size(weft_lang::STACK_BYTES);
    let started = builder.spawn(move || {
        let _ = sender.send(match last_item(&snapshot, &text) {
            Some(CheckedKind::Show { ty, .. }) => Some(ty),
            _ => None,
        });
    });
    started.ok()?;
    answer.recv_timeout(PATIENCE).ok().flatten()
}

/// What names mean behind some items, as far as these are right; files are not read for it. `None` if it takes
/// longer than 100 ms.
pub(crate) fn environment_after(snapshot: &Snapshot, items: &str) -> Option<Environment> {
    const PATIENCE: Duration = Duration::from_millis(100);
    if items.len() > LONGEST {
        return None;
    }
    let (sender, answer) = mpsc::channel();
    let (snapshot, items) = (snapshot.clone(), items.to_owned());
    let builder = thread::Builder::new().stack_size(weft_lang::STACK_BYTES);
    let started = builder.spawn(move || {
        let parsed = syntax::parse(SOURCE, &items).items.into_iter();
        let is_checked =
            |item: &Item| !matches!(item.kind, ItemKind::Command { .. } | ItemKind::Import { .. });
        let parsed: Vec<Item> = parsed.filter(is_checked).collect();
        let config = Config { float: snapshot.float() };
        let checked = check(&parsed, snapshot.environment(), &config, &mut NoFiles);
        let _ = sender.send(checked.environment);
    });
    started.ok()?;
    answer.recv_timeout(PATIENCE).ok()
}

/// The last item of a cell, if all of it is right.
fn last_item(snapshot: &Snapshot, cell: &str) -> Option<CheckedKind> {
    let parsed = syntax::parse(SOURCE, cell);
    if !parsed.diagnostics.is_empty() {
        return None;
    }
    let config = Config { float: snapshot.float() };
    let mut checked = check(&parsed.items, snapshot.environment(), &config, &mut NoFiles);
    if checked.diagnostics.iter().any(|found| found.severity == Severity::Error) {
        return None;
    }
    Some(checked.items.pop()?.kind)
}

#[cfg(test)]
mod tests {
    use super::type_of_text;
    use crate::session::{Cell, Config, Session};
    use crate::sink::{Cancel, Collected};

    #[test]
    fn hints_are_types_of_what_there_is_so_far() {
        let mut session = Session::new(&Config { memory: 1 << 30, io: true });
        session.eval(Cell::typed("xs = [1.0, 2.0]"), &mut Collected::default(), &Cancel::new());
        let snapshot = session.snapshot();
        let check = |cell: &str, expected: Option<&str>| {
            assert_eq!(type_of_text(&snapshot, cell).as_deref(), expected, "{cell}");
        };
        check("xs", Some("[]f64"));
        check("y = sum (map sqrt xs", Some("f64"));
        check("a = 1\n(a, [xs", Some("(i64, [][]f64)"));
        check("map", Some("(a -> b) -> []a -> []b"));
        check("def f x = x + 1", Some("Num a => a -> a"));
        check("plot xs", Some("figure"));
        check("xs +", None);
        check("nothing", None);
        check("load \"no such file.npy\"", None);
        check("type t = i64", None);
    }
}
