//! Remarks about values that an error is about.
//!
//! `dec = inv m` is bound with a remark, E0320, that `inv` is mapped; where a later line of the cell is wrong since `dec` has more
//! axes than was meant, nothing of the cell runs, and the remark would be lost that names the cause.

use weft_lang::{CheckedKind, Diagnostic};

use super::{Told, is_name, is_of_name, remarks};
use crate::plan::Step;
use crate::sources::Sources;
use crate::state::State;

/// What there is to remark on the values that errors name, of a cell that does not run.
pub(crate) fn causes(
    steps: &[Step],
    errors: &[Diagnostic],
    state: &State,
    sources: &Sources,
) -> Vec<Diagnostic> {
    let places = errors.iter().flat_map(|error| &error.labels).map(|label| label.span);
    let texts: Vec<&str> = places.map(|place| sources.slice(place)).collect();
    let is_named = |name: &str| {
        let words = |text: &&str| text.split(|c| !is_of_name(c)).any(|word| word == name);
        is_name(name) && texts.iter().any(words)
    };
    let mut found = Vec::new();
    for step in steps {
        let Step::Item { item, shown: true } = step else { continue };
        let CheckedKind::Bind { program, names, .. } = &item.kind else { continue };
        if names.iter().any(|bound| is_named(&bound.name)) {
            found.extend(remarks(program, state, sources, &mut Told::default()));
        }
    }
    found.retain(|remark| remark.code == "E0320");
    found
}
