//! Updates of arrays that somebody else looks at.
//!
//! Note [Copies in front of updates]. A function that replaces elements where they are (Note [Sequential loops]) cannot
//! run a loop in which somebody looks at an array as it was before an update, as at the row above in a table of edit
//! distances. A function of one row (Note [Loops row by row] in `weft_ir`'s `rows`) can afford to copy, as its arrays are
//! short. Before a step replaces elements of an array that is looked at later, the array is copied to scratch memory, and
//! the copy is updated. At the end of a turn the next state is copied to where the state is. What a step uses for the
//! last time, by the plan, is not copied but updated where it is. Scratch memory is taken step by step, and what a turn
//! has taken is free when it ends.

use std::collections::BTreeSet;

use weft_ir::flat::{Type, Var};
use weft_ir::plan::{Block, last_uses};

use super::Function;
use super::environment::{Buffer, Memory, Place, Places};
use super::rows::element_count;
use crate::dialect::type_name;

/// What a side of a conditional yields in the place of one result.
enum Yielded {
    Scalar,
    Array {
        /// Its extents, as expressions.
        sizes: Vec<String>,
        /// Whether it may be updated where it is: nobody else looks at that memory behind the conditional.
        own: bool,
    },
}

impl Function<'_> {
    /// The steps of a block, where each knows what it uses for the last time.
    pub(super) fn steps_with_copies(&mut self, block: &Block) -> Option<()> {
        let behind: Vec<Var> = std::mem::take(&mut self.last).into_iter().collect();
        for (step, freed) in block.steps.iter().zip(last_uses(block, &behind)) {
            self.last = freed.into_iter().collect();
            self.step(step)?;
        }
        self.last.clear();
        Some(())
    }

    /// Declares where the scratch memory that is taken before a loop ends; the name of that.
    pub(super) fn begin_turns(&mut self) -> String {
        let top = format!("top{}", self.environment.fresh());
        self.line(&format!("char *const {top} = top;"));
        self.last.clear();
        top
    }

    /// Whether the step at hand, which uses these arrays, may update one of them where it is: it is in memory of the
    /// function, was put there in the turn at hand, and nobody uses it later or beside that.
    fn is_own(&self, var: Var, used: &[Var]) -> bool {
        let once = used.iter().filter(|other| **other == var).count() < 2;
        once && self.last.contains(&var) && self.environment.is_at(var, self.depth)
    }

    /// Where a part of the state of a loop begins, whose turns may update it there: where its first value is, or in a
    /// copy of that. The loop begins with these values.
    pub(super) fn first_state(&mut self, first: Var, initial: &[Var]) -> Option<Place> {
        match self.is_own(first, initial) {
            true => self.environment.take(first, self.depth, self.depth + 1),
            false => self.copy(first, self.depth + 1),
        }
    }

    /// Copies those of the arrays that a kernel updates that are needed as they are, and lets their variables mean the
    /// copies, which are lost with the update. Where these arrays were.
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
        let buffer = Some(Buffer { memory: Memory::Copy(number), depth });
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
        let of_state: Vec<Memory> = arrays
            .iter()
            .map(|(var, _)| Some(self.environment.first_buffer(*var)?.memory))
            .collect::<Option<_>>()?;
        for &(var, result) in &arrays {
            let first = self.environment.first_place(var)?;
            let Place::Array { name: to, sizes, buffer: Some(buffer) } = first else { return None };
            if self.environment.is_in(result, buffer).is_some() {
                continue;
            }
            let (mut from, of_result) = self.environment.array(result)?;
            if of_result != sizes {
                return None;
            }
            // What is in the memory of another part of the state, or may be, would be overwritten by the next value of
            // that part before it is copied.
            let is_apart = match self.environment.memory(result) {
                Some(copy @ Memory::Copy(_)) => !of_state.contains(&copy),
                Some(Memory::State(_) | Memory::Choice(_)) | None => false,
            };
            if arrays.len() > 1 && !is_apart {
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
        let names: Vec<String> = results.iter().map(|&var| self.declare_result(var)).collect();
        let holds = self.environment.scalar(condition)?;
        let (mut consumed, mut shared) = (BTreeSet::new(), BTreeSet::new());
        let mut side = |function: &mut Self, opening: &str, block: &Block| {
            function.line(opening);
            function.indent += 1;
            let before = function.environment.clone_places();
            function.last = behind.clone();
            function.steps(block)?;
            let yielded = function.yielded(block, &names, &behind, &before, &mut shared)?;
            consumed.extend(function.environment.lost_since(&before));
            // What the side yields may be one of these under a name that is gone behind it.
            shared.extend(function.environment.shared_since(&before));
            function.environment.set_places(before);
            function.indent -= 1;
            Some(yielded)
        };
        let then = side(self, &format!("if ({holds}) {{"), sides[0])?;
        let otherwise = side(self, "} else {", sides[1])?;
        self.line("}");
        self.environment.lose(&consumed);
        // What has another name now is not updated where it is.
        for array in shared {
            if let Some(Place::Array { name, sizes, .. }) = self.environment.place(array) {
                self.environment.put(array, Place::Array { name, sizes, buffer: None });
            }
        }
        for (((&result, name), then), otherwise) in
            results.iter().zip(names).zip(then).zip(otherwise)
        {
            let place = self.either(name, then, otherwise)?;
            self.environment.bind(result, place);
        }
        Some(())
    }

    /// A result of a conditional, which a side assigns to; its name.
    fn declare_result(&mut self, var: Var) -> String {
        let Type { element, extents } = &self.types[var.0 as usize];
        if extents.is_empty() {
            return self.declare(var);
        }
        let name = format!("a{}", self.environment.fresh());
        self.line(&format!("{} *{name};", type_name(*element)));
        name
    }

    /// Assigns what a side of a conditional yields to these names. `behind` is used for the last time by the conditional,
    /// `before` are the places before the side; arrays that have two names now become `shared`.
    fn yielded(
        &mut self,
        side: &Block,
        names: &[String],
        behind: &BTreeSet<Var>,
        before: &Places,
        shared: &mut BTreeSet<Var>,
    ) -> Option<Vec<Yielded>> {
        let mut yielded = Vec::new();
        for (name, &result) in names.iter().zip(&side.results) {
            let Type { element, extents } = &self.types[result.0 as usize];
            if extents.is_empty() {
                let value = self.environment.scalar(result)?;
                self.line(&format!("{name} = {value};"));
                yielded.push(Yielded::Scalar);
                continue;
            }
            let (from, sizes) = self.environment.array(result)?;
            self.line(&format!("{name} = ({} *){from};", type_name(*element)));
            let dies = behind.contains(&result) || !before.has(result);
            let once = side.results.iter().filter(|other| **other == result).count() < 2;
            let own = dies && once && self.environment.is_at(result, self.depth);
            if !own {
                shared.insert(result);
            }
            yielded.push(Yielded::Array { sizes, own });
        }
        Some(yielded)
    }

    /// Where a result of a conditional is, which has this name.
    fn either(&mut self, name: String, then: Yielded, otherwise: Yielded) -> Option<Place> {
        match (then, otherwise) {
            (Yielded::Scalar, Yielded::Scalar) => Some(Place::Scalar(name)),
            (
                Yielded::Array { sizes, own },
                Yielded::Array { sizes: of_other, own: other_is_own },
            ) if sizes == of_other => {
                let memory = Memory::Choice(self.environment.fresh());
                let buffer = Buffer { memory, depth: self.depth };
                Some(Place::Array { name, sizes, buffer: (own && other_is_own).then_some(buffer) })
            }
            _ => None,
        }
    }
}
