//! Updates of arrays that somebody else looks at.
//!
//! Note [Copies in front of updates]. A function that replaces elements where they are is none of a loop in which an
//! array is looked at as it was before, as the row before in a table of distances. In a function of one row
//! (Note [Loops row by row] in `weft_ir`'s `rows`) arrays are short: what is needed as it was is copied to memory of the
//! function's own before the update, and at the end of a turn the next state is copied to where the state is. The plan
//! says what a step uses for the last time: that is updated where it is. Memory is taken step by step, and free again
//! at the end of each turn.

use std::collections::BTreeSet;

use weft_ir::flat::Var;
use weft_ir::plan::{Block, last_uses};

use super::Function;
use super::environment::{Buffer, Place};
use super::rows::element_count;
use crate::dialect::type_name;

/// Numbers of buffers from here on are those of copies.
const COPIES: usize = 1 << 20;

/// An array that a side of a conditional yields.
struct Yielded {
    sizes: Vec<String>,
    /// Whether it is in memory of the function's own, and nobody else's.
    own: bool,
}

impl Function<'_> {
    /// The steps of a block, with what each uses for the last time.
    pub(super) fn steps_with_copies(&mut self, block: &Block) -> Option<()> {
        let behind: Vec<Var> = std::mem::take(&mut self.last).into_iter().collect();
        for (step, freed) in block.steps.iter().zip(last_uses(block, &behind)) {
            self.last = freed.into_iter().collect();
            self.step(step)?;
        }
        self.last.clear();
        Some(())
    }

    /// Notes how much memory is taken before a loop; its name.
    pub(super) fn begin_turns(&mut self) -> String {
        let top = format!("top{}", self.environment.fresh());
        self.line(&format!("char *const {top} = top;"));
        self.last.clear();
        top
    }

    /// Whether an array is the function's own, at this depth, and used for the last time by the step at hand, once among
    /// these.
    fn is_own(&self, var: Var, among: &[Var]) -> bool {
        let once = among.iter().filter(|other| **other == var).count() < 2;
        once && self.last.contains(&var) && self.environment.is_at(var, self.depth)
    }

    /// Where the first value of a state is that may be updated in the loop.
    pub(super) fn first_state(&mut self, first: Var, among: &[Var]) -> Option<Place> {
        match self.is_own(first, among) {
            true => self.environment.take(first, self.depth, self.depth + 1),
            false => self.copy(first, self.depth + 1),
        }
    }

    /// Puts copies in the places of those arrays that a kernel updates and that somebody needs as they are; where
    /// they were.
    pub(super) fn make_own(&mut self, destinations: &[Var]) -> Option<Vec<(Var, Place)>> {
        let mut kept = Vec::new();
        for &array in destinations {
            if self.is_own(array, destinations) {
                continue;
            }
            if kept.iter().any(|(other, _)| *other == array) {
                return None;
            }
            kept.push((array, self.environment.place(array)?));
            let copy = self.copy(array, self.depth)?;
            self.environment.put(array, copy);
        }
        Some(kept)
    }

    /// A copy of an array in memory of the function's own.
    fn copy(&mut self, array: Var, depth: usize) -> Option<Place> {
        let (from, sizes) = self.environment.array(array)?;
        let number = self.environment.fresh();
        let (name, count) = (format!("a{number}"), format!("n{number}"));
        let ty = type_name(self.types[array.0 as usize].element);
        self.line(&format!("const i64 {count} = {};", element_count(&sizes)));
        self.line(&format!("TAKE({ty}, {name}, {count});"));
        self.line(&format!("for (i64 at = 0; at < {count}; at++) {name}[at] = {from}[at];"));
        let buffer = Some(Buffer { number: COPIES + number, depth });
        Some(Place::Array { name, sizes, buffer })
    }

    /// The same array with other extents: from now on nobody updates it where it is.
    pub(super) fn view(&mut self, result: Var, array: Var) -> Option<()> {
        let (name, before) = self.environment.array(array)?;
        let sizes = self.sizes(result)?;
        self.environment
            .put(array, Place::Array { name: name.clone(), sizes: before, buffer: None });
        self.environment.bind(result, Place::Array { name, sizes, buffer: None });
        Some(())
    }

    /// Copies the next state to where the state is.
    pub(super) fn copy_next(&mut self, state: &[Var], results: &[Var]) -> Option<()> {
        let is_array = |var: &Var| !self.types[var.0 as usize].extents.is_empty();
        let arrays: Vec<(Var, Var)> = (state.iter().copied().zip(results.iter().copied()))
            .filter(|(var, _)| is_array(var))
            .collect();
        let mut copies = Vec::new();
        let own: Vec<usize> = arrays
            .iter()
            .map(|(var, _)| Some(self.environment.first_buffer(*var)?.number))
            .collect::<Option<_>>()?;
        for &(var, result) in &arrays {
            let first = self.environment.first_place(var)?;
            let Place::Array { name: to, sizes, buffer: Some(buffer) } = first else { return None };
            if self.environment.is_in(result, buffer).is_some() {
                continue;
            }
            // What is in the memory of another part of the state, or may be, is overwritten by the copies.
            let (mut from, of_result) = self.environment.array(result)?;
            if of_result != sizes {
                return None;
            }
            let elsewhere = self
                .environment
                .buffer(result)
                .is_some_and(|number| number >= COPIES && !own.contains(&number));
            if arrays.len() > 1 && !elsewhere {
                let Place::Array { name, .. } = self.copy(result, self.depth)? else { return None };
                from = name;
            }
            copies.push((to, from, element_count(&sizes)));
        }
        for (to, from, count) in copies {
            self.line(&format!(
                "if ({to} != {from}) for (i64 at = 0, count = {count}; at < count; at++) {to}[at] = {from}[at];"
            ));
        }
        Some(())
    }

    /// A conditional, whose arrays are pointers to what a side yields.
    pub(super) fn conditional_with_copies(
        &mut self,
        results: &[Var],
        condition: Var,
        sides: [&Block; 2],
    ) -> Option<()> {
        let behind = std::mem::take(&mut self.last);
        let mut names = Vec::new();
        for &var in results {
            names.push(match self.types[var.0 as usize].extents.is_empty() {
                true => self.declare(var),
                false => {
                    let name = format!("a{}", self.environment.fresh());
                    let ty = type_name(self.types[var.0 as usize].element);
                    self.line(&format!("{ty} *{name};"));
                    name
                }
            });
        }
        let holds = self.environment.scalar(condition)?;
        let mut found: Vec<Vec<Option<Yielded>>> = Vec::new();
        let (mut consumed, mut shared) = (BTreeSet::new(), Vec::new());
        let openings = [format!("if ({holds}) {{"), "} else {".to_owned()];
        for (side, opening) in sides.into_iter().zip(openings) {
            self.line(&opening);
            self.indent += 1;
            let before = self.environment.clone_places();
            self.last = behind.clone();
            self.steps(side)?;
            let mut of_side = Vec::new();
            for (name, &result) in names.iter().zip(&side.results) {
                if self.types[result.0 as usize].extents.is_empty() {
                    let value = self.environment.scalar(result)?;
                    self.line(&format!("{name} = {value};"));
                    of_side.push(None);
                    continue;
                }
                let (from, sizes) = self.environment.array(result)?;
                let ty = type_name(self.types[result.0 as usize].element);
                self.line(&format!("{name} = ({ty} *){from};"));
                let dies = behind.contains(&result) || !before.0.contains_key(&result);
                let once = side.results.iter().filter(|other| **other == result).count() < 2;
                let own = dies && once && self.environment.is_at(result, self.depth);
                if !own {
                    shared.push(result);
                }
                of_side.push(Some(Yielded { sizes, own }));
            }
            found.push(of_side);
            consumed.extend(self.environment.lost_since(&before));
            // What the side yields may be one of these under a name that is gone behind it.
            shared.extend(self.environment.shared_since(&before));
            self.environment.set_places(before);
            self.indent -= 1;
        }
        self.line("}");
        self.environment.lose(&consumed);
        // What has another name now is not updated where it is.
        for array in shared {
            if let Some(Place::Array { name, sizes, .. }) = self.environment.place(array) {
                self.environment.put(array, Place::Array { name, sizes, buffer: None });
            }
        }
        let [then, otherwise] = &found[..] else { return None };
        for (at, (&result, name)) in results.iter().zip(names).enumerate() {
            let place = match (&then[at], &otherwise[at]) {
                (None, None) => Place::Scalar(name),
                (Some(one), Some(other)) if one.sizes == other.sizes => {
                    // It may be the memory of a state: it is no copy.
                    let number = COPIES / 2 + self.environment.fresh();
                    let buffer = Buffer { number, depth: self.depth };
                    let buffer = (one.own && other.own).then_some(buffer);
                    Place::Array { name, sizes: one.sizes.clone(), buffer }
                }
                _ => return None,
            };
            self.environment.bind(result, place);
        }
        Some(())
    }
}
