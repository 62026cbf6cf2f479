//! Where the variables of a sequential loop are.

use std::collections::{BTreeMap, BTreeSet};

use weft_ir::code::Register;
use weft_ir::flat::{Type, Var};
use weft_ir::{FaultKind, Span};

use super::TURN;
use crate::scalar::{Surroundings, Turns};

/// Where a variable is.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Place {
    /// In a local of this name.
    Scalar(String),
    /// In memory that the function may write to.
    Array {
        /// The pointer.
        name: String,
        /// The extents, as expressions.
        sizes: Vec<String>,
        /// Which memory; nothing if the array must stay as it is there.
        buffer: Option<Buffer>,
    },
}

/// Which memory of the function an array is in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Memory {
    /// That of a part of the state that the function is given, by its number.
    State(usize),
    /// That of a copy, which is in no memory of the state. Copies are numbered.
    Copy(usize),
    /// What one side of a conditional yields or the other: memory of the state, or a copy. Such choices are numbered.
    Choice(usize),
}

/// Memory that the function may write to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Buffer {
    pub(super) memory: Memory,
    /// How many loops are around the state or the value that is in it. An update in a loop further in
    /// would be seen in the next turn.
    pub(super) depth: usize,
}

/// Where the variables are at a time.
pub(super) struct Places {
    known: BTreeMap<Var, Place>,
    lost: BTreeSet<Var>,
}

impl Places {
    /// Whether a variable has a place.
    pub(super) fn has(&self, var: Var) -> bool {
        self.known.contains_key(&var)
    }
}

/// The variables, and what is collected on the way.
pub(super) struct Environment<'a> {
    types: &'a [Type],
    places: BTreeMap<Var, Place>,
    /// Variables whose memory has another value by now.
    lost: BTreeSet<Var>,
    /// The places that states had when their loops began.
    first: BTreeMap<Var, Place>,
    /// What is read from outside, in the order of the first reads.
    pub(super) inputs: Vec<(Var, String)>,
    pub(super) sites: Vec<(FaultKind, Span)>,
    /// Whether something was read that is lost.
    pub(super) refused: bool,
    /// The first registers of the states of loops whose turns are counted.
    pub(super) outermost: BTreeSet<Register>,
    names: usize,
}

impl<'a> Environment<'a> {
    pub(super) fn new(types: &'a [Type]) -> Environment<'a> {
        let (places, lost, first, inputs, sites, outermost) = Default::default();
        let (refused, names) = (false, 0);
        Environment { types, places, lost, first, inputs, sites, refused, outermost, names }
    }

    /// A number for a name. They do not depend on those of the variables, so that loops of the same form have
    /// the same text.
    pub(super) fn fresh(&mut self) -> usize {
        self.names += 1;
        self.names
    }

    pub(super) fn bind(&mut self, var: Var, place: Place) {
        self.first.insert(var, place.clone());
        self.lost.remove(&var);
        self.places.insert(var, place);
    }

    /// Puts an array elsewhere than where it was bound.
    pub(super) fn put(&mut self, array: Var, place: Place) {
        self.lost.remove(&array);
        self.places.insert(array, place);
    }

    /// A scalar as an expression.
    pub(super) fn scalar(&mut self, var: Var) -> Option<String> {
        match self.places.get(&var) {
            Some(Place::Scalar(name)) => Some(name.clone()),
            Some(Place::Array { .. }) => None,
            None => Some(self.input(var)),
        }
    }

    /// Where the elements of an array are, as an expression.
    pub(super) fn elements(&mut self, var: Var) -> Option<String> {
        match self.places.get(&var) {
            Some(Place::Array { name, .. }) => Some(name.clone()),
            Some(Place::Scalar(_)) => None,
            None => Some(self.input(var)),
        }
    }

    /// Takes an array out of a variable that nobody may read any more, to be bound at another depth.
    pub(super) fn take(&mut self, var: Var, depth: usize, next: usize) -> Option<Place> {
        match self.places.get(&var)?.clone() {
            Place::Array { name, sizes, buffer: Some(buffer) } if buffer.depth == depth => {
                self.places.remove(&var);
                self.lost.insert(var);
                let buffer = Some(Buffer { depth: next, ..buffer });
                Some(Place::Array { name, sizes, buffer })
            }
            Place::Array { .. } | Place::Scalar(_) => None,
        }
    }

    /// Whether an array is in memory of the function at this depth.
    pub(super) fn is_at(&self, var: Var, depth: usize) -> bool {
        let place = self.places.get(&var);
        matches!(place, Some(Place::Array { buffer: Some(buffer), .. }) if buffer.depth == depth)
    }

    /// Which memory of the function an array is in.
    pub(super) fn memory(&self, var: Var) -> Option<Memory> {
        match self.places.get(&var)? {
            Place::Array { buffer, .. } => buffer.map(|buffer| buffer.memory),
            Place::Scalar(_) => None,
        }
    }

    /// Where a variable is.
    pub(super) fn place(&self, var: Var) -> Option<Place> {
        self.places.get(&var).cloned()
    }

    /// Where an array is that has not been replaced, and its extents.
    pub(super) fn array(&self, var: Var) -> Option<(String, Vec<String>)> {
        match self.places.get(&var)? {
            Place::Array { name, sizes, .. } => Some((name.clone(), sizes.clone())),
            Place::Scalar(_) => None,
        }
    }

    /// Where a state began.
    pub(super) fn first_place(&self, state: Var) -> Option<Place> {
        self.first.get(&state).cloned()
    }

    /// The memory that a state began in.
    pub(super) fn first_buffer(&self, state: Var) -> Option<Buffer> {
        match self.first.get(&state)? {
            Place::Array { buffer, .. } => *buffer,
            Place::Scalar(_) => None,
        }
    }

    /// That an array is in this memory.
    pub(super) fn is_in(&self, var: Var, buffer: Buffer) -> Option<()> {
        match self.places.get(&var)? {
            Place::Array { buffer: Some(found), .. } if *found == buffer => Some(()),
            Place::Array { .. } | Place::Scalar(_) => None,
        }
    }

    /// Binds states to the places in which their loop began.
    pub(super) fn restore(&mut self, state: &[Var]) -> Option<()> {
        for var in state {
            let place = self.first.get(var)?.clone();
            self.bind(*var, place);
        }
        Some(())
    }

    /// The variables that are lost.
    pub(super) fn consumed(&self) -> BTreeSet<Var> {
        self.lost.clone()
    }

    pub(super) fn clone_places(&self) -> Places {
        Places { known: self.places.clone(), lost: self.lost.clone() }
    }

    pub(super) fn set_places(&mut self, before: Places) {
        (self.places, self.lost) = (before.known, before.lost);
    }

    /// The variables that were known before and are lost now.
    pub(super) fn lost_since(&self, before: &Places) -> BTreeSet<Var> {
        self.lost.iter().filter(|var| before.has(**var)).copied().collect()
    }

    /// The arrays that might be updated before and have other names beside them now, and so may not.
    pub(super) fn shared_since(&self, before: &Places) -> Vec<Var> {
        let is_own = |place: Option<&Place>| {
            place.is_some_and(|place| matches!(place, Place::Array { buffer: Some(_), .. }))
        };
        let now = |var: &Var| self.places.get(var);
        let known = before.known.keys().filter(|&var| is_own(before.known.get(var)));
        known.filter(|&var| now(var).is_some() && !is_own(now(var))).copied().collect()
    }

    pub(super) fn lose(&mut self, vars: &BTreeSet<Var>) {
        for var in vars {
            self.places.remove(var);
            self.lost.insert(*var);
        }
    }

    /// The statement that ends the function where a check fails.
    pub(super) fn fail(&mut self, kind: FaultKind, span: Span) -> String {
        self.sites.push((kind, span));
        format!("return {};", self.sites.len())
    }

    /// The name of a variable from outside.
    fn input(&mut self, var: Var) -> String {
        if self.lost.contains(&var) {
            self.refused = true;
        }
        if let Some((_, name)) = self.inputs.iter().find(|(input, _)| *input == var) {
            return name.clone();
        }
        let letter = if self.types[var.0 as usize].extents.is_empty() { 's' } else { 'a' };
        let name = format!("{letter}{}", self.fresh());
        self.inputs.push((var, name.clone()));
        name
    }
}

impl Surroundings for Environment<'_> {
    fn read(&mut self, array: Var, indices: &[String]) -> String {
        match self.places.get(&array) {
            Some(Place::Scalar(name)) => name.clone(),
            Some(Place::Array { name, sizes, .. }) => {
                let mut at = "0".to_owned();
                for (number, (index, size)) in indices.iter().zip(sizes).enumerate() {
                    at = match number {
                        0 => index.clone(),
                        _ => format!("({at}) * {size} + {index}"),
                    };
                }
                format!("{name}[{at}]")
            }
            None => {
                let name = self.input(array);
                if indices.is_empty() {
                    return name;
                }
                let last = indices.len() - 1;
                let terms: Vec<String> = indices
                    .iter()
                    .enumerate()
                    .map(|(at, index)| match at == last {
                        true => index.clone(),
                        false => format!("{index} * {name}_strides[{at}]"),
                    })
                    .collect();
                format!("{name}[{}]", terms.join(" + "))
            }
        }
    }

    fn fail(&mut self, kind: FaultKind, span: Span) -> String {
        Environment::fail(self, kind, span)
    }

    fn turn(&mut self, first: &Register, _turns: Turns<'_>) -> Option<[String; 2]> {
        let each = match self.outermost.contains(first) {
            true => format!("rounds++; {TURN}"),
            false => TURN.to_owned(),
        };
        Some([String::new(), each])
    }
}
