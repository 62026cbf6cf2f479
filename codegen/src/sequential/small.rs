//! Loops over small arrays as functions of C.
//!
//! Note [Small loops]. To run a kernel takes the host some microseconds, whatever it computes: for arrays of
//! ten elements that is nearly all of the time. So a loop becomes one function, kernels and all, with plain
//! loops over the points of each. Arrays are values: each is computed to fresh memory, which comes from
//! two halves of a buffer in turn, so that what a turn has computed stays where it is during the next one, and
//! all of what came before is free again. A loop inside of another has halves of the rest of a half.
//! Where memory does not suffice, or a kernel has so many points that the host had better run it, the function
//! ends with the state that the turn began with, and the host goes on from there; nothing but time depends on
//! it. Arrays that nobody looks at once an element is replaced are updated where they are
//! (Note [Updates of small loops] in `updates`). Folds and scans combine in the tree of the language, of which they need two levels;
//! sorts merge (`kernel/sort.rs`).

//!
//! Note [Loops inside of small loops]. A loop inside may be one that has nothing to compute but scalars and elements that it
//! replaces (Note [Sequential loops]), as where each turn fills a row of a table. The arrays that it replaces elements of are
//! copied to memory of the turn before it begins, and updated there: whatever the turn does then, the state with which it
//! began is where it was. One that replaces elements of the state of the loop around it does that where they are, and keeps
//! what it replaces (Note [Updates of small loops]). Any loop inside copies arrays once that it updates at several places
//! (Note [Updates of a loop's own]).

mod kernel;
mod undo;
mod updates;

use std::collections::{BTreeMap, BTreeSet};

use weft_ir::flat::{Size, Type, Var};
use weft_ir::plan::{Block, Step};

use super::rows::element_count;
use super::{Arrays, Function, SequentialLoop, sequential_loop};
use crate::dialect::type_name;
use crate::literal::literal;
use crate::sequential::environment::{Buffer, Memory, Place};
pub(super) use undo::Undo;
pub(super) use updates::Updates;
use updates::updates_of_own;

/// The most elements of a constant array that the text holds.
const CONSTANTS: usize = 256;

/// A loop of a plan with this state, as a function that computes its arrays in memory that it is given;
/// nothing if there is something in it that such functions do not do.
pub fn small_loop(
    state: &[Var],
    condition: &Block,
    body: &Block,
    types: &[Type],
) -> Option<SequentialLoop> {
    let mut function = Function::new(types, Arrays::Computed);
    function.host_goes_on = true;
    function.line("u32 outcome = 0;");
    function.line("char *top = all->scratch, *limit = top + all->room;");
    let first: Vec<String> = (0..state.len()).map(|at| format!("all->state[{at}]")).collect();
    let first: Vec<String> = (state.iter().zip(first))
        .map(|(&var, part)| match function.is_array(var) {
            true => part,
            false => format!("*(const {} *){part}", function.type_name(var)),
        })
        .collect();
    function.updates = updates::updates(state, condition, body, types);
    function.updated.extend(&function.updates.moving);
    if function.updates.inside {
        function.line("const u64 log_room = (all->room / 4) & ~63ULL;");
        function.line("limit -= log_room;");
        function
            .line("struct replaced *const log_begin = (struct replaced *)limit, *log = log_begin;");
        function.line("struct replaced *const log_end = log + log_room / sizeof *log;");
    }
    let names = function.small_turns(state, &first, condition, body)?;
    function.line("leave:;");
    function.put_back();
    function.line("if (all->done) *all->done = rounds;");
    let mut dimensions = 0..;
    for (at, (&var, name)) in state.iter().zip(&names).enumerate() {
        for (size, at) in function.sizes(var)?.into_iter().zip(&mut dimensions) {
            function.line(&format!("all->extents[{at}] = {size};"));
        }
        function.line(&match function.is_array(var) {
            true => format!("all->state[{at}] = (void *){name};"),
            false => format!("*({} *)all->state[{at}] = {name};", function.type_name(var)),
        });
    }
    Some(function.finish("return outcome;"))
}

impl Function<'_> {
    fn is_array(&self, var: Var) -> bool {
        !self.types[var.0 as usize].extents.is_empty()
    }

    fn type_name(&self, var: Var) -> &'static str {
        type_name(self.types[var.0 as usize].element)
    }

    /// An extent as an expression that binds as tightly as a name.
    fn size(&mut self, size: Size) -> Option<String> {
        match size {
            Size::Constant(extent) => Some(format!("{extent}LL")),
            Size::Var(var) => self.environment.scalar(var),
        }
    }

    pub(super) fn sizes(&mut self, var: Var) -> Option<Vec<String>> {
        let types = self.types;
        types[var.0 as usize].extents.iter().map(|size| self.size(*size)).collect()
    }

    /// Binds a variable to what has this name.
    fn bind_small(&mut self, var: Var, name: String) -> Option<()> {
        let place = match self.is_array(var) {
            true => Place::Array { name, sizes: self.sizes(var)?, buffer: None },
            false => Place::Scalar(name),
        };
        self.environment.bind(var, place);
        Some(())
    }

    /// Binds variables, scalars first: the extents of arrays may be among them.
    fn bind_all(&mut self, vars: &[Var], names: Vec<String>) -> Option<()> {
        let (arrays, scalars): (Vec<_>, Vec<_>) =
            vars.iter().zip(names).partition(|(var, _)| self.is_array(**var));
        scalars.into_iter().chain(arrays).try_for_each(|(&var, name)| self.bind_small(var, name))
    }

    /// A scalar, or where the elements of an array are.
    fn value(&mut self, var: Var) -> Option<String> {
        match self.is_array(var) {
            true => self.environment.elements(var),
            false => self.environment.scalar(var),
        }
    }

    /// The number of elements of an array, which is small.
    fn count(&mut self, var: Var) -> Option<String> {
        let sizes = self.sizes(var)?;
        let name = format!("n{}", self.environment.fresh());
        self.line(&format!("i64 {name} = 1;"));
        for size in sizes {
            self.line(&format!("MORE_POINTS({name}, {size});"));
        }
        Some(name)
    }

    /// Copies an array, of which this is the address, out of the half that begins there.
    fn copy_if_in(&mut self, array: Var, name: &str, begin: &str, half: &str) -> Option<()> {
        self.line(&format!("if ((u64){name} - (u64){begin} < {half}) {{"));
        self.indent += 1;
        let (ty, count) = (self.type_name(array), self.count(array)?);
        self.line(&format!("COPY({ty}, {name}, {count});"));
        self.indent -= 1;
        self.line("}");
        Some(())
    }

    /// A scalar or an address that is assigned to later.
    fn declare_small(&mut self, var: Var) -> String {
        match self.is_array(var) {
            false => self.declare(var),
            true => {
                let name = format!("a{}", self.environment.fresh());
                self.line(&format!("const {} *{name};", self.type_name(var)));
                name
            }
        }
    }

    /// What steps do otherwise than where arrays are updated in place; nothing if they do not.
    pub(super) fn small_step(&mut self, step: &Step) -> Option<Option<()>> {
        match step {
            Step::Host { .. } | Step::Check { .. } | Step::Free(_) => None,
            Step::Launch(kernel) => Some(self.kernel(kernel)),
            Step::If { results, condition, then, otherwise } => {
                Some(self.small_conditional(results, *condition, [then, otherwise]))
            }
            Step::While { results, state, initial, condition, body, .. } => {
                Some(self.small_while(results, state, initial, condition, body))
            }
            Step::Reshape { result, array } => Some(self.reshape(*result, *array)),
            Step::Constant { result, elements } => {
                let elements = (0..elements.len()).map(|at| elements.scalar(at));
                Some(self.constant(*result, elements.collect::<Option<Vec<_>>>()?))
            }
        }
    }

    fn reshape(&mut self, result: Var, array: Var) -> Option<()> {
        let name = self.value(array)?;
        let name = match (self.is_array(array), self.is_array(result)) {
            (true, true) | (false, false) => name,
            (true, false) => format!("{name}[0]"),
            (false, true) => {
                let place = format!("a{}", self.environment.fresh());
                self.line(&format!("TAKE({}, {place}, 1);", self.type_name(array)));
                self.line(&format!("{place}[0] = {name};"));
                place
            }
        };
        self.bind_small(result, name)
    }

    fn constant(&mut self, result: Var, elements: Vec<weft_ir::Scalar>) -> Option<()> {
        if elements.len() > CONSTANTS || !self.is_array(result) {
            return None;
        }
        let name = format!("a{}", self.environment.fresh());
        // Of no elements there is no array in C: none is ever read.
        let text = match elements.is_empty() {
            true => "0".to_owned(),
            false => elements.into_iter().map(literal).collect::<Vec<_>>().join(", "),
        };
        let ty = self.type_name(result);
        self.line(&format!("static const {ty} {name}[] = {{{text}}};"));
        self.bind_small(result, name)
    }

    fn small_conditional(
        &mut self,
        results: &[Var],
        condition: Var,
        sides: [&Block; 2],
    ) -> Option<()> {
        let names: Vec<String> = results.iter().map(|&var| self.declare_small(var)).collect();
        let holds = self.environment.scalar(condition)?;
        for ((number, side), opening) in
            sides.into_iter().enumerate().zip([format!("if ({holds}) {{"), "} else {".to_owned()])
        {
            self.line(&opening);
            self.indent += 1;
            self.steps(side)?;
            for ((name, &of), &result) in names.iter().zip(results).zip(&side.results) {
                let value = match self.updates.replaced.get(&of) {
                    Some(&replaced) if replaced.side == number => {
                        self.put_there(result, replaced)?
                    }
                    _ => self.value(result)?,
                };
                self.line(&format!("{name} = {value};"));
            }
            self.indent -= 1;
        }
        self.line("}");
        self.bind_all(results, names)
    }

    fn small_while(
        &mut self,
        results: &[Var],
        state: &[Var],
        initial: &[Var],
        condition: &Block,
        body: &Block,
    ) -> Option<()> {
        let in_place = sequential_loop(state, condition, body, self.types);
        if let Some(alone) = &in_place
            && (self.host_goes_on || self.depth > 1)
            && !results
                .iter()
                .any(|var| self.updates.parts.contains_key(var) || self.own.contains(var))
        {
            return self.while_in_place(results, state, initial, [condition, body], &alone.updated);
        }
        let first: Option<Vec<String>> = initial.iter().map(|&var| self.value(var)).collect();
        let mut first = first?;
        let own = updates_of_own(state, condition, body, self.types).parts;
        self.copy_own(initial, &own, &mut first)?;
        let names = self.small_turns(state, &first, condition, body)?;
        self.bind_all(results, names)
    }

    /// A loop that replaces elements of arrays of its own: they are copied once, before its first turn
    /// (Note [Loops inside of small loops]). `updated` are those that it replaces elements of, by their numbers.
    fn while_in_place(
        &mut self,
        results: &[Var],
        state: &[Var],
        initial: &[Var],
        [condition, body]: [&Block; 2],
        updated: &BTreeSet<usize>,
    ) -> Option<()> {
        let depth = self.depth + 1;
        for (part, (&var, &first)) in state.iter().zip(initial).enumerate() {
            let mut name = self.value(first)?;
            let place = if self.is_array(var) {
                let (ty, sizes) = (self.type_name(var), self.sizes(first)?);
                let number = self.environment.fresh();
                let own = format!("a{number}");
                if updated.contains(&part) {
                    let count = self.count(first)?;
                    self.line(&format!("TAKE({ty}, {own}, {count});"));
                    self.line(&format!(
                        "__builtin_memcpy({own}, {name}, (u64){count} * sizeof({ty}));"
                    ));
                    name = own;
                }
                let buffer = Some(Buffer { memory: Memory::Copy(number), depth });
                Place::Array { name, sizes, buffer }
            } else {
                let own = self.declare(var);
                self.line(&format!("{own} = {name};"));
                Place::Scalar(own)
            };
            self.environment.bind(var, place);
        }
        let around = std::mem::replace(&mut self.arrays, Arrays::Replaced);
        let turned = self.turns(state, condition, body);
        self.arrays = around;
        turned?;
        let names: Option<Vec<String>> = state.iter().map(|&var| self.value(var)).collect();
        self.bind_all(results, names?)
    }

    /// Copies the arrays that a loop begins with and updates where they are (Note [Updates of a loop's own] in `updates`): what
    /// they are called after each update says of which part of its state.
    fn copy_own(
        &mut self,
        initial: &[Var],
        after: &BTreeMap<Var, usize>,
        first: &mut [String],
    ) -> Option<()> {
        // What a loop around has copied, or the host, is nobody else's already.
        let known = |var: &Var| self.own.contains(var) || self.updates.parts.contains_key(var);
        let known: BTreeSet<usize> =
            after.iter().filter(|(var, _)| known(var)).map(|(_, part)| *part).collect();
        let own = after.iter().filter(|(_, part)| !known.contains(part));
        let (vars, parts): (Vec<Var>, BTreeSet<usize>) =
            own.map(|(var, part)| (*var, *part)).unzip();
        let take = match !self.host_goes_on && self.depth == 1 {
            true => "TAKE_OWN",
            false => "TAKE",
        };
        for part in parts {
            let (ty, count) =
                (self.type_name(initial[part]), element_count(&self.sizes(initial[part])?));
            let name = format!("a{}", self.environment.fresh());
            self.line(&format!("{take}({ty}, {name}, {count});"));
            self.line(&format!(
                "__builtin_memcpy({name}, {}, (u64)({count}) * sizeof({ty}));",
                first[part]
            ));
            first[part] = name;
        }
        self.own.extend(vars);
        Some(())
    }

    /// Goes round until the condition fails. The names of the state, which is in memory that stays.
    fn small_turns(
        &mut self,
        state: &[Var],
        first: &[String],
        condition: &Block,
        body: &Block,
    ) -> Option<Vec<String>> {
        let names: Vec<String> = state.iter().map(|&var| self.declare_small(var)).collect();
        for (name, value) in names.iter().zip(first) {
            self.line(&format!("{name} = {value};"));
        }
        self.bind_all(state, names.clone())?;
        let number = self.environment.fresh();
        let [base, half, outside, side, end] =
            ["base", "half", "outside", "side", "end"].map(|name| format!("{name}{number}"));
        self.line(&format!("char *const {base} = top, *const {outside} = limit, *{end} = top;"));
        self.line(&format!("const u64 {half} = ((u64)(limit - top) / 2) & ~63ULL;"));
        self.line(&format!("bool {side} = false;"));
        self.line("for (;;) {");
        self.indent += 1;
        self.depth += 1;
        self.line(&format!("top = {base} + {side} * {half}, limit = top + {half};"));
        self.line(&format!("const char *const before = {base} + !{side} * {half};"));
        self.steps(condition)?;
        let holds = self.environment.scalar(condition.results[0])?;
        self.line(&format!("if (!{holds}) break;"));
        self.steps(body)?;
        let mut next = Vec::new();
        for (part, (&var, &result)) in state.iter().zip(&body.results).enumerate() {
            let (ty, value) = (self.type_name(var), self.value(result)?);
            let name = format!("next{}", self.environment.fresh());
            if self.is_array(var) {
                self.line(&format!("const {ty} *{name} = {value};"));
                // What lies in neither half stays where it is as long as the loop goes on.
                let stays = self.depth == 1 && self.host_goes_on && self.updated.contains(&part);
                if !stays {
                    self.copy_if_in(result, &name, "before", &half)?;
                }
            } else {
                self.line(&format!("const {ty} {name} = {value};"));
            }
            next.push(name);
        }
        for (name, next) in names.iter().zip(next) {
            self.line(&format!("{name} = {next};"));
        }
        self.line(&format!("{end} = top, {side} = !{side};"));
        if self.depth == 1 {
            self.forget_replaced();
        }
        self.end_of_turn();
        self.depth -= 1;
        self.indent -= 1;
        self.line("}");
        // What is in the second half is moved to the first one, which is free by now, and must be enough.
        if self.depth > 0 {
            self.line(&format!("top = {side} ? {end} : {base}, limit = {base} + {half};"));
            for (&var, name) in state.iter().zip(&names) {
                if self.is_array(var) {
                    self.copy_if_in(var, name, &format!("({base} + {half})"), &half)?;
                }
            }
        }
        self.line(&format!("limit = {outside};"));
        Some(names)
    }
}
