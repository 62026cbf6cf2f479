//! Whether a text is ready to be run, for line editors.

use weft_ir::SourceId;

use super::lexer::Purpose;
use super::{read, with_stack_for};
use crate::diagnostic::Severity;

/// What a line editor should do with a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Completeness {
    /// Run it.
    Complete,
    /// Ask for another line, indented by that many columns.
    Incomplete {
        /// The number of spaces.
        indent: usize,
    },
    /// Run it and show the errors: no further line can put them right.
    Invalid,
}

/// Whether the text is whole, wrong, or only ends too early.
pub fn completeness(text: &str) -> Completeness {
    // The tree is dropped in here, and it may be deep.
    with_stack_for(u32::MAX, || {
        let (parsed, open) = read(SourceId(0), text, 0..text.len(), Purpose::Items);
        let mut errors =
            parsed.diagnostics.iter().filter(|finding| finding.severity == Severity::Error);
        match errors.clone().next() {
            None => Completeness::Complete,
            Some(_) if errors.all(|error| error.incomplete) => {
                let column = open.map(|open| open.column as usize);
                Completeness::Incomplete { indent: column.unwrap_or_else(|| further(text)) }
            }
            Some(_) => Completeness::Invalid,
        }
    })
}

/// The indentation of the last line that is not blank, and one step more if it begins an item.
fn further(text: &str) -> usize {
    const STEP: usize = 2;
    let last = text.lines().rev().find(|line| !line.trim().is_empty()).unwrap_or_default();
    let indent = last.len() - last.trim_start().len();
    if indent == 0 { STEP } else { indent }
}
