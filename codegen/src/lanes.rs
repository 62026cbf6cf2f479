//! Scalar code over lanes: a function of C that computes many points at once.
//!
//! Note [Segments of lanes]. Straight code becomes a loop over lanes, a *segment*, which the C compiler turns
//! into vector instructions. A loop of the code that runs a different number of times from lane to
//! lane stands around segments: all lanes step together until none goes on, and those that are done
//! keep their state. Values that pass from one segment to another lie in arrays of [`GROUP`] lanes.
//! Code without loops is one segment over all lanes.
//!
//! Note [Lane masks]. There are no branches within a segment: both sides of a conditional are computed,
//! and reads, checks and operators that may fail look only at the lanes that take their side. A
//! failed check masks what follows it in its segment; at the segment's end the function returns. So
//! no lane reads what its code would not read.
//!
//! Note [Rare paths]. A function with a slow path that is rarely taken (the sine of a huge angle) would
//! keep its segment from becoming vector instructions. So code without loops is written twice: without
//! the slow paths, noting whether a lane would have taken one, and whole, for when one has.
//!
//! Note [Folds along columns]. Where lanes are rows and the last index steps through their elements, the
//! function does a block of the tree of a fold in one call: it runs all steps, and combines the
//! results with what has come before, which stays in the cache. The first step's results come alone.
//!
//! Note [Past the caches]. Large results go past the caches, which would else read the lines first that are
//! written. There are no vector instructions for that in C, so lanes are computed a strip at a time, which
//! is then copied while what the next strip reads is on its way; with longer strips one waits for the
//! other. Code with loops has no strips: it does not write fast enough for that to matter.
//!
//! Note [On to further rows]. A row of a few elements takes less time than a call from the host. So the lanes of
//! a function without loops run on from the row that they begin in to those behind it, where all dimensions are
//! dense: the function goes through the rows itself, and gets the extents.
//!
//! Note [Uniform values]. What all lanes share is computed once, outside of the segments: it depends
//! on the launch, on a row, or on loops whose state and condition are uniform themselves.

mod few;
mod fold;
mod guarded;
mod near;
mod past;
mod print;
mod recognise;
mod repetition;
pub(crate) mod rows;
mod segment;

use std::collections::{BTreeMap, BTreeSet};

use weft_ir::code::{Code, Instruction, Operand, Operation, Operator, Register};
use weft_ir::{FaultKind, ScalarOp, ScalarType, Span};

use crate::dialect::type_name;
use crate::functions::Functions;
use crate::literal::literal;
use crate::operator::{operator, operator_of_lanes, random};
use crate::unroll::{MOST, MOST_IN_SIDES, unroll};
pub use fold::is_total;
use guarded::Mask;
pub use rows::{SIDE_BY_SIDE, can_fold_rows};
use segment::Scope;

/// The lanes that step through a loop together; twice as many if all of their values have 32 bits at most.
/// A compiler can keep the state of as many in registers, and a machine has enough to do while one waits for
/// its last result.
pub const GROUP: usize = 32;

/// The bit of a function's result that says that it was interrupted.
pub const INTERRUPTED: u32 = 1 << 31;

/// What a function of a loop over small arrays yields that leaves further turns to the host.
pub const LEFT: u32 = 1 << 30;

/// What such a function yields that has done all turns that it was asked for.
pub const PAUSED: u32 = 1 << 29;

/// What it returns when it needs more memory behind an array, in the same state.
pub const FULL: u32 = 1 << 28;

/// How an index of a point runs along the lanes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Running {
    /// The same for all.
    Uniform,
    /// From a first value on, by one.
    Counting,
    /// Given lane by lane.
    Varying,
}

/// Code to be computed for many points.
#[derive(Clone, Copy, Debug)]
pub struct Lanes<'a> {
    /// The indices of a point.
    pub indices: &'a [(Register, Running)],
    /// The first of the indices that address the storage.
    pub first_stored: usize,
    /// Whether arrays that are read at the point itself have the extents of the space, so that the
    /// elements stand at the lanes' positions.
    pub in_place: bool,
    /// Registers that are given lane by lane.
    pub inputs: &'a [(Register, ScalarType)],
    /// The element types of the arrays, by number, and whether they are scalars.
    pub arrays: &'a [(ScalarType, bool)],
    /// The code. Its variables are the numbers of arrays.
    pub code: &'a Code,
    /// What it yields.
    pub results: &'a [Operand],
    /// Which results have room for one value only, as all lanes share it.
    pub shared: &'a [bool],
    /// If the last index steps through the elements of the lanes: what combines the results, in their
    /// order (Note [Folds along columns]). Then `shared` is not looked at.
    pub folds: &'a [Operator],
    /// Whether the lanes that are combined are instead the elements of a row, the last index counts along
    /// them, and the others are uniform (Note [Folds along rows]). [`can_fold_rows`] must hold.
    pub rows: bool,
    /// How many results, one after the other, each place takes that the function is given: several are the elements of a
    /// row, and stand next to each other there (Note [Interleaved results] in `weft_ir::plan`). If there are no rows, this may
    /// be left out.
    pub widths: &'a [usize],
}

/// A function of C.
#[derive(Clone, Debug, PartialEq)]
pub struct LaneFunction {
    /// Its text; [`LaneFunction::NAME`] stands for its name.
    pub text: String,
    /// What it calls.
    pub functions: Functions,
    /// The checks by the bits of its result; later ones share the last.
    pub sites: Vec<(FaultKind, Span)>,
}

impl LaneFunction {
    /// What stands for the name.
    pub const NAME: &'static str = "KERNEL";
    /// What stands before all functions: the type of their argument, and what folds rows.
    pub const DECLARATIONS: &'static str = concat!(
        include_str!("prelude/lanes.h"),
        include_str!("prelude/folds.h"),
        include_str!("prelude/sequential.h")
    );
}

impl Lanes<'_> {
    /// Whether lanes run on from row to row (Note [On to further rows]); then the extents of all dimensions
    /// are always given.
    pub fn runs_on(&self) -> bool {
        let Some((last, outer)) = self.indices.split_last() else { return false };
        let in_rows = last.1 == Running::Counting
            && !outer.is_empty()
            && outer.iter().all(|(_, running)| *running == Running::Uniform);
        in_rows
            && self.first_stored == 0
            && self.inputs.is_empty()
            && self.folds.is_empty()
            && !self.rows
            && !self.shared.contains(&true)
            && !self.code.has_loops()
    }

    /// Of each result where it goes.
    fn elements(&self) -> impl Iterator<Item = Element> + use<> {
        let one_each = std::iter::repeat_n(1, self.results.len());
        let widths: Vec<usize> = match self.widths {
            [] => one_each.collect(),
            widths => widths.to_vec(),
        };
        let of_place = |(place, width)| (0..width).map(move |of| Element { place, of, width });
        widths.into_iter().enumerate().flat_map(of_place)
    }

    /// A register that is not used, nor those after it.
    fn free_register(&self) -> Register {
        let operators = self.folds.iter().flat_map(|operator| {
            let sides = operator.left.iter().chain(&operator.right).map(|(register, _)| *register);
            sides
                .map(|Register(number)| Register(number + 1))
                .chain([operator.code.next_register()])
        });
        let given = self.indices.iter().map(|(register, _)| register);
        let inputs = self.inputs.iter().map(|(register, _)| register);
        let given = given.chain(inputs).map(|Register(number)| Register(number + 1));
        given.chain(operators).fold(self.code.next_register(), Register::max)
    }
}

/// The function of some code.
///
/// # Panics
/// If the code is not one that [`weft_ir::code::CodeCheck`] accepts.
pub fn lanes(given: &Lanes<'_>) -> LaneFunction {
    // Note [Known turns].
    let free = given.free_register();
    if let Some((code, results)) = unroll(given.code, given.results, free, MOST, MOST_IN_SIDES) {
        return function(&Lanes { code: &code, results: &results, ..*given });
    }
    function(given)
}

/// The function of some code as it stands.
fn function(given: &Lanes<'_>) -> LaneFunction {
    let mut builder = written(given, false);
    if given.rows {
        // Only what has been written knows which indices differ from element to element.
        if builder.gathers(given.code) {
            builder = written(given, true);
        }
        return rows::rows(builder);
    }
    if given.folds.is_empty() {
        builder.results()
    } else {
        builder.fold()
    }
    builder.close_segment();
    print::print(builder)
}

/// The code as written to a builder; `one_by_one` as there.
fn written<'a>(given: &'a Lanes<'a>, one_by_one: bool) -> Builder<'a> {
    let mut builder = Builder {
        given,
        one_by_one,
        functions: Functions::new(),
        values: BTreeMap::new(),
        scopes: vec![Scope::default()],
        guard: None,
        alive: None,
        inhabited: None,
        sites: Vec::new(),
        made: BTreeMap::new(),
        near: near::near(given),
        straight: !given.code.has_loops(),
        names: 0,
        segments: 0,
        declared: Vec::new(),
        folded: Vec::new(),
        loops: 0,
        strides: BTreeMap::new(),
        reads_in_place: false,
        stored: Vec::new(),
        looping: few::looping_side(given),
        skips: false,
    };
    builder.parameters();
    builder.code(given.code);
    builder
}

/// Where a result goes.
#[derive(Clone, Copy, Debug)]
struct Element {
    /// The number of the place.
    place: usize,
    /// Which of the results it is that the place takes of a lane.
    of: usize,
    /// How many these are.
    width: usize,
}

/// A place of results.
#[derive(Clone, Copy, Debug)]
struct Stored {
    /// The type of its elements.
    ty: &'static str,
    /// How many each lane has.
    width: usize,
}

/// What a register is.
#[derive(Clone, Debug)]
struct Value {
    /// An expression that binds as tightly as a name.
    text: String,
    ty: ScalarType,
    /// Whether it differs from lane to lane.
    varies: bool,
}

/// A function that is being written.
struct Builder<'a> {
    given: &'a Lanes<'a>,
    /// Whether elements come one after the other, so that a check that fails ends the function at once
    /// and masks nothing.
    one_by_one: bool,
    functions: Functions,
    values: BTreeMap<Register, Value>,
    /// The function and the loops around the present place, outermost first.
    scopes: Vec<Scope>,
    /// The lanes that take the present side of the conditionals and go on in the loops around.
    guard: Option<Mask>,
    /// The lanes whose checks in this segment have held.
    alive: Option<Mask>,
    /// The guard of the innermost loop around, if all lanes take the same turns of it: it holds for one at least.
    inhabited: Option<String>,
    sites: Vec<(FaultKind, Span)>,
    /// The operators that registers are the results of.
    made: BTreeMap<Register, (ScalarOp, Vec<Operand>)>,
    /// Floats as integers that matter only if they are near (Note [Near integers]).
    near: BTreeSet<Register>,
    /// Whether there are no loops.
    straight: bool,
    /// How many names have been made up.
    names: usize,
    /// How many segments have been begun.
    segments: usize,
    /// Arrays of lanes that are no result of a line: the states of loops, with their types.
    declared: Vec<(String, &'static str)>,
    /// The types of the results that are combined step by step.
    folded: Vec<&'static str>,
    /// How many loops there are.
    loops: usize,
    /// How many indices each array that is read has.
    strides: BTreeMap<usize, usize>,
    /// Whether some array is read in place.
    reads_in_place: bool,
    /// The places of the results of a function that computes them in strips (Note [Past the caches]).
    stored: Vec<Stored>,
    /// The side of a conditional in which all loops are (Note [Few lanes]).
    looping: Option<&'a Code>,
    /// Whether lanes that take it can be skipped.
    skips: bool,
}

impl Builder<'_> {
    /// The indices and the inputs.
    fn parameters(&mut self) {
        for (at, &(register, running)) in self.given.indices.iter().enumerate() {
            let name = register.to_string();
            match running {
                Running::Uniform if self.given.rows => {
                    let index = self.row_index(at);
                    self.scalar(&format!("const i64 {name} = {index};"));
                }
                Running::Counting if self.given.rows => {
                    self.scalar(&format!("const i64 first_{name} = first_index;"));
                    let text = print::counted(&name);
                    self.line(Some((&name, "i64")), &text, &[]);
                }
                Running::Uniform => {
                    let steps = at + 1 == self.given.indices.len() && !self.given.folds.is_empty();
                    let step = if steps { " + step" } else { "" };
                    self.scalar(&format!("const i64 {name} = block->indices[{at}]{step};"));
                }
                Running::Counting => {
                    self.scalar(&format!("const i64 first_{name} = block->indices[{at}];"));
                    let text = print::counted(&name);
                    self.line(Some((&name, "i64")), &text, &[]);
                }
                Running::Varying => {
                    self.scalar(&format!(
                        "const i64 *restrict const given_{name} = block->lanes[{at}];"
                    ));
                    self.line(Some((&name, "i64")), &format!("given_{name}[at]"), &[]);
                }
            }
            let varies = running != Running::Uniform;
            self.values.insert(register, Value { text: name, ty: ScalarType::I64, varies });
        }
        for (at, &(register, ty)) in self.given.inputs.iter().enumerate() {
            let (name, element) = (register.to_string(), type_name(ty));
            self.scalar(&format!(
                "const {element} *restrict const given_{name} = block->inputs[{at}];"
            ));
            self.line(Some((&name, element)), &format!("given_{name}[at]"), &[]);
            self.values.insert(register, Value { text: name, ty, varies: true });
        }
    }

    fn results(&mut self) {
        let in_strips = self.is_in_strips();
        let results = self.given.results.iter().zip(self.given.shared);
        for ((operand, &shared), Element { place: at, of, width }) in
            results.zip(self.given.elements())
        {
            let value = self.value(operand);
            let ty = type_name(value.ty);
            match (of, in_strips) {
                (0, true) => self.stored.push(Stored { ty, width }),
                (0, false) => self.scalar(&print::result(at, ty)),
                (_, _) => {}
            }
            let lane = if in_strips { "lane" } else { "at" };
            let index = match width {
                1 if shared && !in_strips => "at & 63".to_owned(),
                1 => lane.to_owned(),
                // GCC has no vectors for what is stored so many elements apart, if it knows how many.
                5..=7 | 9..=15 => format!("{lane} * AS_IT_IS(i64, {width}LL) + {of}"),
                _ => format!("{lane} * {width} + {of}"),
            };
            let place = format!("result_{at}[{index}]");
            if in_strips {
                self.line(None, &format!("{place} = {};", value.text), &[&value]);
                continue;
            }
            if shared && !value.varies {
                // It fills a group of registers.
                let lanes = "for (i64 at = 0; at < 64 && at < block->count; at++)";
                self.scalar(&format!("{lanes} result_{at}[at] = {};", value.text));
                continue;
            }
            let text = match self.skips {
                false => format!("{place} = {};", value.text),
                true => format!("{place} = skip && skip[lane] ? {place} : {};", value.text),
            };
            self.line(None, &text, &[&value]);
        }
    }

    fn value(&self, operand: &Operand) -> Value {
        match operand {
            Operand::Scalar(scalar) => {
                Value { text: literal(*scalar), ty: scalar.ty(), varies: false }
            }
            Operand::Register(register) => match self.values.get(register) {
                Some(value) => value.clone(),
                None => panic!("{register} is used before it is bound"),
            },
        }
    }

    fn fresh(&mut self, stem: &str) -> String {
        self.names += 1;
        format!("{stem}_{}", self.names)
    }

    fn code(&mut self, code: &Code) {
        for instruction in &code.instructions {
            self.instruction(instruction);
        }
    }

    fn instruction(&mut self, instruction: &Instruction) {
        let results = &instruction.results;
        match &instruction.operation {
            Operation::Scalar(op, operands) => {
                self.made.insert(results[0].0, (*op, operands.clone()));
                if let Some((text, values)) = self.precedes(*op, operands) {
                    return self.define(results[0], &text, &values);
                }
                if let Some((text, value)) = self.in_range(*op, operands) {
                    return self.define(results[0], &text, &[value]);
                }
                if let Some((text, values)) = self.rotated(*op, operands) {
                    return self.define(results[0], &text, &values);
                }
                if let Some((text, value)) = self.cast_near(results[0], operands) {
                    return self.define(results[0], &text, &[value]);
                }
                let values: Vec<Value> = operands.iter().map(|at| self.value(at)).collect();
                self.operator(*op, results[0], &values, instruction.span);
            }
            Operation::Random(kind, operands) => {
                let values: Vec<Value> = operands.iter().map(|at| self.value(at)).collect();
                let texts: Vec<String> = values.iter().map(|value| value.text.clone()).collect();
                self.define(results[0], &random(*kind, &texts), &values);
            }
            Operation::Read(array, indices) => {
                self.read(results[0], array.0 as usize, indices);
            }
            Operation::Check(condition, kind) => {
                let condition = match self.at_both_ends(condition) {
                    Some(everywhere) => everywhere,
                    None => self.value(condition),
                };
                self.check(&condition, *kind, instruction.span);
            }
            Operation::If { condition, then, otherwise } => {
                self.conditional(condition, then, otherwise, results);
            }
            Operation::While { state, initial, condition, body } => {
                self.repetition(state, initial, condition, body, results);
            }
        }
    }

    fn operator(
        &mut self,
        op: ScalarOp,
        result: (Register, ScalarType),
        values: &[Value],
        span: Span,
    ) {
        let texts: Vec<String> = values.iter().map(|value| value.text.clone()).collect();
        let types: Vec<ScalarType> = values.iter().map(|value| value.ty).collect();
        let varies = values.iter().any(|value| value.varies);
        let expression = match varies {
            true => operator_of_lanes(op, &texts, &types, &mut self.functions),
            false => operator(op, &texts, &types, &mut self.functions),
        };
        if let Some((condition, kind)) = expression.fails {
            let holds = self.compute(&format!("!({condition})"), ScalarType::Bool, values);
            self.check(&holds, kind, span);
        }
        self.define(result, &expression.text, values);
        // Code with loops would have to take back what a segment has done to their state.
        if self.straight
            && !self.given.rows
            && varies
            && let Some((usual, rare)) = self.functions.usual_and_rare(op, result.1)
        {
            self.rare(format!("{usual}({})", texts[0]), format!("{rare}({})", texts[0]));
        }
    }

    /// Binds a register to an expression of some values that yields something for any operands.
    fn define(&mut self, (register, ty): (Register, ScalarType), text: &str, values: &[Value]) {
        let name = register.to_string();
        let value = self.named(name, ty, text, values);
        self.values.insert(register, value);
    }

    /// An expression of some values under a name of its own.
    fn compute(&mut self, text: &str, ty: ScalarType, values: &[Value]) -> Value {
        let name = self.fresh("t");
        self.named(name, ty, text, values)
    }

    fn named(&mut self, name: String, ty: ScalarType, text: &str, values: &[Value]) -> Value {
        let varies = values.iter().any(|value| value.varies);
        let element = type_name(ty);
        if varies {
            let uses: Vec<&Value> = values.iter().collect();
            self.line(Some((&name, element)), text, &uses);
        } else {
            self.scalar(&format!("const {element} {name} = {text};"));
        }
        Value { text: name, ty, varies }
    }
}
