//! The states that a session has been in, and the commands that go from one to another.

use std::collections::BTreeSet;
use std::sync::Arc;

use weft_ir::Value;
use weft_lang::Diagnostic;
use weft_lang::typed::GlobalId;

use super::{Keep, Moment, Session};
use crate::commands::{Alone, Call};
use crate::sink::{Event, Sink};
use crate::state::State;

/// States that `:undo` can go back to, however small they are.
const UNDO_STEPS: usize = 200;

impl Session {
    /// Goes on with a state that a cell has made, in place of those that could be redone.
    pub(super) fn add_moment(&mut self, number: usize, state: State) {
        self.states.truncate(self.position + 1);
        self.states.push(Moment { id: self.next_id, number, state: Arc::new(state) });
        self.next_id += 1;
        self.position += 1;
    }

    /// Notes which state holds after a cell, whether it has changed anything or not.
    pub(super) fn note_moment(&mut self, number: usize, keep: Keep) {
        let cell = match keep {
            Keep::Everything => Some(number),
            // What has no number belongs to the cell before it.
            Keep::Definitions => number.checked_sub(1).filter(|before| *before > 0),
            Keep::Nothing => None,
        };
        if let Some(cell) = cell {
            self.after.insert(cell, self.states[self.position].id);
        }
    }

    /// Lets go of the states furthest back, when there are too many or when they keep too much
    /// alive.
    pub(super) fn forget_old_states(&mut self) {
        // What is set now, not what was set when they were made.
        let allowed = self.state().modes.outputs;
        let mut kept = BTreeSet::new();
        let mut bytes = 0;
        let mut first = 0;
        for (index, moment) in self.states.iter().enumerate().rev() {
            let is_current = index + 1 == self.states.len();
            for (global, value) in &moment.state.values {
                if kept.insert(*global) && !is_current {
                    bytes += value.memory_bytes() as u64;
                }
            }
            let too_much = bytes > allowed || self.states.len() - index > UNDO_STEPS;
            if too_much && !is_current {
                first = index + 1;
                break;
            }
        }
        self.states.drain(..first);
        self.position -= first;
    }

    /// What has been defined so far is what the session begins with: `:undo` does not go behind it.
    pub fn begin_here(&mut self) {
        self.states.drain(..self.position);
        self.position = 0;
        self.states.truncate(1);
    }

    /// The bytes of memory of the values that the current state does not hold, but others do.
    pub(super) fn kept_for_undo(&self) -> u64 {
        let mut kept: BTreeSet<GlobalId> = self.state().values.keys().copied().collect();
        let values = self.states.iter().flat_map(|moment| &moment.state.values);
        let others = values.filter(|(global, _)| kept.insert(**global));
        others.map(|(_, value): (_, &Value)| value.memory_bytes() as u64).sum()
    }

    /// `:undo`, `:redo`, `:goto`, `:reset`.
    pub(super) fn time_travel(
        &mut self,
        alone: Alone,
        call: &Call,
        number: usize,
        sink: &mut dyn Sink,
    ) -> Result<(), Box<Diagnostic>> {
        let nothing = |message: String, remark: &str| {
            Box::new(Diagnostic::error("E0504", message, call.name.span, remark))
        };
        // How far `:undo` and `:redo` go, of how many steps that there are.
        let steps = |there: usize, verb: &str| {
            let steps = match call.words() {
                "" => 1,
                count => count.parse().ok().filter(|count| *count > 0).ok_or_else(|| {
                    Box::new(call.misuse(&format!("`:{verb}` takes a number of steps")))
                })?,
            };
            match there {
                _ if steps <= there => Ok(steps),
                0 => Err(nothing(format!("there is nothing to {verb}"), "no such state is kept")),
                1 => Err(nothing(format!("there is one step to {verb}"), "this is one too far")),
                _ => {
                    let message = format!("there are {there} steps to {verb}, not {steps}");
                    Err(nothing(message, "this is too far"))
                }
            }
        };
        match alone {
            Alone::Undo => self.position -= steps(self.position, "undo")?,
            Alone::Redo => {
                self.position += steps(self.states.len() - 1 - self.position, "redo")?;
            }
            Alone::Goto => {
                let wanted: Option<usize> = call.words().parse().ok();
                let Some(wanted) = wanted else {
                    return Err(Box::new(call.misuse("`:goto` takes the number of a cell")));
                };
                let Some(id) = self.after.get(&wanted) else {
                    let message = format!("there is no cell {wanted} before this one");
                    return Err(nothing(message, "no state is after it"));
                };
                let found = self.states.iter().position(|moment| moment.id == *id);
                let Some(found) = found else {
                    let message = format!("the state after cell {wanted} is no longer kept");
                    return Err(nothing(message, "too long ago, or undone and replaced"));
                };
                self.position = found;
            }
            Alone::Reset => {
                let fresh = State::new(self.state().modes.clone());
                self.add_moment(number, fresh);
            }
        }
        let text = match self.states[self.position].number {
            _ if alone == Alone::Reset => {
                "everything is forgotten; `:undo` brings it back".to_owned()
            }
            0 => "as at the start".to_owned(),
            number => format!("as after In[{number}]"),
        };
        sink.event(Event::Text(text));
        Ok(())
    }
}
