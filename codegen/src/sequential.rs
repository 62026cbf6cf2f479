//! Loops of the host as functions of C.
//!
//! Note [Sequential loops]. A loop whose turns compute scalars, read elements of arrays and replace
//! elements of its own arrays one by one has nothing that could run in parallel. It becomes one
//! function: scalars are its locals, and its arrays are updated where they are. That is right as long
//! as nobody looks at an array as it was before an update; where somebody does, or where a turn has
//! other work on whole arrays, there is no function, and the plan runs step by step.

mod copies;
mod environment;
mod rows;
mod small;

use std::collections::BTreeSet;

use weft_ir::code::{Code, Operand, Operation, Register};
use weft_ir::flat::{Dimension, Size, Type, Var};
use weft_ir::plan::{Block, Kernel, Sink, Step};
use weft_ir::{FaultKind, ScalarType, Span};

use crate::dialect::type_name;
use crate::functions::Functions;
use crate::scalar::Writer;
use environment::{Buffer, Environment, Memory, Place};
pub use rows::{RowLoop, row_loop, row_loop_in_place};
pub use small::small_loop;
use small::{Undo, Updates};

/// A loop as a function.
///
/// It takes `struct serial` of the prelude: what it reads, by the numbers of [`SequentialLoop::inputs`],
/// and its state, which it replaces by the last one. Its result is 0, [`crate::INTERRUPTED`], [`crate::LEFT`], [`crate::PAUSED`], [`crate::FULL`], or
/// one more than the number of the check that failed.
#[derive(Clone, Debug, PartialEq)]
pub struct SequentialLoop {
    /// Its text; [`crate::LaneFunction::NAME`] stands for its name.
    pub text: String,
    /// What it calls.
    pub functions: Functions,
    /// The variables that it reads, scalars and arrays.
    pub inputs: Vec<Var>,
    /// The arrays of the state that it writes to, by their numbers; it only reads the others.
    pub updated: BTreeSet<usize>,
    /// Those that it grows, or leaves a part of (Note [Arrays that move] in `small/updates`).
    pub moving: BTreeSet<usize>,
    /// The checks.
    pub sites: Vec<(FaultKind, Span)>,
    /// Whether it computes arrays, in memory that it is given (Note [Small loops]).
    pub computes_arrays: bool,
}

/// Host code whose results are the state that the function leaves; nothing if it has no loop.
pub fn sequential_code(code: &Code, types: &[Type]) -> Option<SequentialLoop> {
    let loops = |operation: &Operation| matches!(operation, Operation::While { .. });
    if !code.instructions.iter().any(|instruction| loops(&instruction.operation)) {
        return None;
    }
    let mut function = Function::new(types, Arrays::Replaced);
    function.environment.outermost = code
        .instructions
        .iter()
        .filter_map(|instruction| match &instruction.operation {
            Operation::While { state, .. } => Some(state.first()?.0),
            _ => None,
        })
        .collect();
    let values = function.code(code, &[])?;
    for (at, (value, ty)) in values.iter().enumerate() {
        let ty = type_name(*ty);
        function.line(&format!("*({ty} *)all->state[{at}] = {value};"));
    }
    Some(function.finish("return 0;"))
}

/// A loop of a plan with this state.
pub fn sequential_loop(
    state: &[Var],
    condition: &Block,
    body: &Block,
    types: &[Type],
) -> Option<SequentialLoop> {
    let mut function = Function::new(types, Arrays::Replaced);
    let mut extents = 0;
    for (at, &var) in state.iter().enumerate() {
        let Type { element, extents: sizes } = &types[var.0 as usize];
        let ty = type_name(*element);
        let name = function.environment.fresh();
        if sizes.is_empty() {
            function.line(&format!("{ty} s{name} = *(const {ty} *)all->state[{at}];"));
            function.environment.bind(var, Place::Scalar(format!("s{name}")));
        } else {
            function.line(&format!("{ty} *restrict const a{name} = all->state[{at}];"));
            let sizes: Vec<String> =
                (0..sizes.len()).map(|at| format!("all->extents[{}]", extents + at)).collect();
            extents += sizes.len();
            let buffer = Buffer { memory: Memory::State(at), depth: 1 };
            let place = Place::Array { name: format!("a{name}"), sizes, buffer: Some(buffer) };
            function.environment.bind(var, place);
        }
    }
    function.turns(state, condition, body)?;
    for (at, &var) in state.iter().enumerate() {
        let Type { element, extents } = &types[var.0 as usize];
        if extents.is_empty() {
            let value = function.environment.scalar(var)?;
            let ty = type_name(*element);
            function.line(&format!("*({ty} *)all->state[{at}] = {value};"));
        }
    }
    Some(function.finish("return 0;"))
}

/// How a function comes to the arrays of the next state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Arrays {
    /// It replaces elements where they are (Note [Sequential loops]).
    Replaced,
    /// It does so too, and copies before that what is needed as it was (Note [Copies in front of updates]).
    Copied,
    /// It computes whole arrays (Note [Small loops]).
    Computed,
}

/// A function that is being written.
struct Function<'a> {
    types: &'a [Type],
    environment: Environment<'a>,
    functions: Functions,
    text: String,
    indent: usize,
    /// How many loops are around the steps at hand.
    depth: usize,
    updated: BTreeSet<usize>,
    arrays: Arrays,
    /// Whether the host goes on where it ends in the middle.
    host_goes_on: bool,
    /// What the step at hand uses for the last time, where arrays are copied.
    last: BTreeSet<Var>,
    /// What a small loop changes where it is (Note [Updates of small loops]).
    updates: Updates,
    /// What they have replaced.
    undo: Vec<Undo>,
    /// What arrays are called that loops update in memory of their own (Note [Updates of a loop's own]).
    own: BTreeSet<Var>,
}

impl<'a> Function<'a> {
    fn new(types: &'a [Type], arrays: Arrays) -> Function<'a> {
        let (functions, text, updated, last, updates, undo, own) = Default::default();
        Function {
            types,
            environment: Environment::new(types),
            functions,
            text,
            indent: 1,
            depth: 0,
            updated,
            arrays,
            host_goes_on: false,
            last,
            updates,
            undo,
            own,
        }
    }

    /// With the statement that ends it.
    fn finish(mut self, end: &str) -> SequentialLoop {
        self.line(end);
        let Environment { inputs, sites, .. } = self.environment;
        let mut declarations = String::new();
        for (at, (var, name)) in inputs.iter().enumerate() {
            let Type { element, extents } = &self.types[var.0 as usize];
            let ty = type_name(*element);
            declarations += &match extents.is_empty() {
                true => format!("  const {ty} {name} = *(const {ty} *)all->inputs[{at}];\n"),
                false => format!(
                    "  const {ty} *const {name} = all->inputs[{at}];\n  const i64 *const {name}_strides = all->strides[{at}];\n  \
                     (void){name}_strides;\n"
                ),
            };
        }
        self.undo.iter().for_each(|undo| declarations += &undo.declarations());
        let text = format!(
            "u32 KERNEL(const struct serial *const all) {{\n  u64 turns = 0, rounds = all->begun;\n{declarations}{}}}\n",
            self.text
        );
        let inputs = inputs.into_iter().map(|(var, _)| var).collect();
        let Function { functions, updated, arrays, updates, .. } = self;
        let moving = updates.moving;
        let computes_arrays = arrays == Arrays::Computed;
        SequentialLoop { text, functions, inputs, updated, moving, sites, computes_arrays }
    }

    fn line(&mut self, line: &str) {
        self.text.push_str(&"  ".repeat(self.indent));
        self.text.push_str(line);
        self.text.push('\n');
    }

    /// Goes round until the condition fails. The places of the state stay the same.
    fn turns(&mut self, state: &[Var], condition: &Block, body: &Block) -> Option<()> {
        let copies = self.arrays == Arrays::Copied;
        let top = copies.then(|| self.begin_turns());
        self.line("for (;;) {");
        self.indent += 1;
        self.depth += 1;
        let consumed = self.environment.consumed();
        self.steps(condition)?;
        // What the condition updates would have to be undone.
        if self.environment.consumed() != consumed {
            return None;
        }
        let holds = self.environment.scalar(condition.results[0])?;
        self.line(&format!("if (!{holds}) break;"));
        self.steps(body)?;
        let mut next = Vec::new();
        for (&var, &result) in state.iter().zip(&body.results) {
            let Type { element, extents } = &self.types[var.0 as usize];
            if extents.is_empty() {
                let value = self.environment.scalar(result)?;
                self.line(&format!("const {} next{} = {value};", type_name(*element), next.len()));
                next.push(var);
            } else if !copies {
                let before = self.environment.first_buffer(var)?;
                self.environment.is_in(result, before)?;
            }
        }
        if copies {
            self.copy_next(state, &body.results)?;
        }
        for (at, &var) in next.iter().enumerate() {
            let name = self.environment.scalar(var)?;
            self.line(&format!("{name} = next{at};"));
        }
        if let Some(top) = top {
            self.line(&format!("top = {top};"));
        }
        self.end_of_turn();
        self.depth -= 1;
        self.indent -= 1;
        self.line("}");
        // The state is what it was called when the loop began.
        self.environment.restore(state)
    }

    /// Counts a turn of the outermost loop, and looks whether the run shall end.
    fn end_of_turn(&mut self) {
        if self.depth == 1 {
            self.line("rounds++;");
        }
        self.line(TURN);
        if self.arrays == Arrays::Computed {
            // A turn over arrays takes longer than one of scalars.
            self.line("if (IS_OVER) return 1U << 31;");
            if self.depth == 1 && self.host_goes_on {
                self.line("if (rounds >= all->until) PAUSE;");
            }
        }
    }

    fn steps(&mut self, block: &Block) -> Option<()> {
        if self.arrays == Arrays::Copied {
            return self.steps_with_copies(block);
        }
        block.steps.iter().try_for_each(|step| self.step(step))
    }

    fn step(&mut self, step: &Step) -> Option<()> {
        if self.arrays == Arrays::Computed
            && let Some(done) = self.small_step(step)
        {
            return done;
        }
        let copies = self.arrays == Arrays::Copied;
        match step {
            Step::Host { results, code, .. } => self.host(results, code),
            Step::Check { condition, kind, span } => {
                let holds = self.environment.scalar(*condition)?;
                let fail = self.environment.fail(*kind, *span);
                self.line(&format!("if (!{holds}) {{ {fail} }}"));
                Some(())
            }
            Step::Launch(kernel) => self.update(kernel),
            Step::If { results, condition, then, otherwise } if copies => {
                self.conditional_with_copies(results, *condition, [then, otherwise])
            }
            Step::If { results, condition, then, otherwise } => {
                self.conditional(results, *condition, [then, otherwise])
            }
            Step::While { results, state, initial, condition, body, .. } => {
                self.begin_state(state, initial)?;
                self.turns(state, condition, body)?;
                for (&result, &var) in results.iter().zip(state) {
                    let place = match self.types[var.0 as usize].extents.is_empty() {
                        true => Place::Scalar(self.environment.scalar(var)?),
                        false => self.environment.take(var, self.depth + 1, self.depth)?,
                    };
                    self.environment.bind(result, place);
                }
                Some(())
            }
            Step::Free(_) => Some(()),
            Step::Reshape { result, array } if copies => self.view(*result, *array),
            Step::Reshape { .. } | Step::Constant { .. } => None,
        }
    }

    /// Host code, in a block of its own.
    fn host(&mut self, results: &[Var], code: &Code) -> Option<()> {
        let names: Vec<String> = results.iter().map(|&var| self.declare(var)).collect();
        self.line("{");
        self.indent += 1;
        let values = self.code(code, &[])?;
        for (name, (value, _)) in names.iter().zip(values) {
            self.line(&format!("{name} = {value};"));
        }
        self.indent -= 1;
        self.line("}");
        for (&var, name) in results.iter().zip(names) {
            self.environment.bind(var, Place::Scalar(name));
        }
        Some(())
    }

    /// Binds the state of a loop to its first values.
    fn begin_state(&mut self, state: &[Var], initial: &[Var]) -> Option<()> {
        for (&var, &first) in state.iter().zip(initial) {
            let place = match self.types[var.0 as usize].extents.is_empty() {
                true => {
                    let value = self.environment.scalar(first)?;
                    let name = self.declare(var);
                    self.line(&format!("{name} = {value};"));
                    Place::Scalar(name)
                }
                false if self.arrays == Arrays::Copied => self.first_state(first, initial)?,
                false => self.environment.take(first, self.depth, self.depth + 1)?,
            };
            self.environment.bind(var, place);
        }
        Some(())
    }

    fn conditional(&mut self, results: &[Var], condition: Var, sides: [&Block; 2]) -> Option<()> {
        let is_array = |var: Var| !self.types[var.0 as usize].extents.is_empty();
        let arrays: Vec<bool> = results.iter().map(|&var| is_array(var)).collect();
        let names: Vec<Option<String>> = results
            .iter()
            .zip(&arrays)
            .map(|(&var, array)| (!array).then(|| self.declare(var)))
            .collect();
        let holds = self.environment.scalar(condition)?;
        let mut places: Vec<Option<Place>> = vec![None; results.len()];
        let mut consumed = BTreeSet::new();
        for (side, opening) in
            sides.into_iter().zip([format!("if ({holds}) {{"), "} else {".to_owned()])
        {
            self.line(&opening);
            self.indent += 1;
            let before = self.environment.clone_places();
            self.steps(side)?;
            for (at, &result) in side.results.iter().enumerate() {
                match &names[at] {
                    Some(name) => {
                        let value = self.environment.scalar(result)?;
                        self.line(&format!("{name} = {value};"));
                    }
                    None => {
                        let place = self.environment.take(result, self.depth, self.depth)?;
                        // Both sides leave the array in the same buffer.
                        if places[at].as_ref().is_some_and(|other| *other != place) {
                            return None;
                        }
                        places[at] = Some(place);
                    }
                }
            }
            consumed.extend(self.environment.lost_since(&before));
            self.environment.set_places(before);
            self.indent -= 1;
        }
        self.line("}");
        self.environment.lose(&consumed);
        for ((&result, name), place) in results.iter().zip(names).zip(places) {
            self.environment.bind(result, name.map(Place::Scalar).or(place)?);
        }
        Some(())
    }

    /// A kernel that replaces one element of arrays of the loop.
    fn update(&mut self, kernel: &Kernel) -> Option<()> {
        let [Sink::Scatter { target, values, destinations, operator: None, arrays }] =
            &kernel.sinks[..]
        else {
            return None;
        };
        if !is_one_point(kernel) || kernel.epilogue.is_some() {
            return None;
        }
        let operands: Vec<Operand> = target.iter().chain(values).copied().collect();
        let code = Code { results: operands, ..kernel.body.clone() };
        let kept = match self.arrays {
            Arrays::Copied => self.make_own(destinations)?,
            Arrays::Replaced | Arrays::Computed => Vec::new(),
        };
        self.line("{");
        self.indent += 1;
        let results = self.code(&code, &kernel.indices)?;
        let (target, values) = results.split_at(target.len());
        let mut places = Vec::new();
        for (&destination, (value, _)) in destinations.iter().zip(values) {
            let place = self.environment.take(destination, self.depth, self.depth)?;
            let Place::Array { name, sizes, buffer } = &place else { return None };
            if let Some(Buffer { memory: Memory::State(part), .. }) = buffer {
                self.updated.insert(*part);
            }
            let (mut at, mut inside) = (String::new(), String::new());
            for ((index, _), size) in target.iter().zip(sizes) {
                at = if at.is_empty() {
                    index.clone()
                } else {
                    format!("({at}) * {size} + {index}")
                };
                let and = if inside.is_empty() { "" } else { " && " };
                inside += &format!("{and}(u64){index} < (u64){size}");
            }
            let outside = self.environment.fail(FaultKind::IndexOutOfRange, kernel.span);
            let dropped = &target[0].0;
            self.line(&format!(
                "if ({inside}) {name}[{at}] = {value}; else if ({dropped} != -1) {{ {outside} }}"
            ));
            places.push(place);
        }
        self.indent -= 1;
        self.line("}");
        for (array, place) in kept {
            self.environment.put(array, place);
        }
        for (&array, place) in arrays.iter().zip(places) {
            self.environment.bind(array, place);
        }
        Some(())
    }

    /// A scalar of its own.
    fn declare(&mut self, var: Var) -> String {
        let name = format!("s{}", self.environment.fresh());
        let ty = type_name(self.types[var.0 as usize].element);
        self.line(&format!("{ty} {name};"));
        name
    }

    /// The statements of scalar code, whose indices are 0; its results and their types.
    fn code(&mut self, code: &Code, indices: &[Register]) -> Option<Vec<(String, ScalarType)>> {
        self.environment.refused = false;
        let mut writer = Writer::new(&mut self.environment, &mut self.functions, self.indent);
        for &index in indices {
            writer.bind(index, ScalarType::I64, "0LL");
        }
        let values = writer.code(code);
        let types: Vec<ScalarType> = code.results.iter().map(|at| writer.ty(at)).collect();
        let text = writer.finish();
        self.text.push_str(&text);
        (!self.environment.refused).then(|| values.into_iter().zip(types).collect())
    }
}

/// Whether a kernel has one point.
fn is_one_point(kernel: &Kernel) -> bool {
    kernel.space.iter().all(|dimension| *dimension == Dimension::Dense(Size::Constant(1)))
}

/// Says from time to time how far it has come, and looks whether the run shall end.
const TURN: &str = "END_OF_TURN";
