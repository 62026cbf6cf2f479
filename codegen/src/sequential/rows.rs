//! Loops row by row as functions of C (Note [Loops row by row] in `weft_ir`'s `rows`).
//!
//! A function does a range of points, each from the state at hand to the end of its loop. Where every turn replaces
//! elements of the point's own arrays one by one, these are updated where they are. Where they are needed as they were,
//! they are updated in memory of the function's own (Note [Copies in front of updates]); where a turn computes whole
//! arrays, these are computed there (Note [Small loops]). Then the last state is copied out of it, and the state that it
//! began with is still there when the function gives up.
//!
//! Note [Rows that grow]. How long the rows of a last state are may be known only when they are there. Each call
//! writes those of its points one behind the other, to memory that only it has. Where that is full, the call ends in
//! front of the point whose row has no room: it says which, and goes on there when it has more.

use std::collections::{BTreeMap, BTreeSet};

use weft_ir::flat::{Size, Type, Var};
use weft_ir::plan::Program;
use weft_ir::{FaultKind, MatrixRows, RowInput, RowNumber, RowState, Rows, ScalarType, Span};

use super::environment::{Buffer, Environment, Memory, Place};
use super::{Arrays, Function};
use crate::dialect::type_name;
use crate::functions::Functions;

/// A loop row by row as a function.
///
/// It takes `struct serial` of the prelude: what it reads, by the numbers of [`RowLoop::inputs`], its state, and which
/// points it is to do. Its result is that of a [`crate::SequentialLoop`]. A part of the state that is the same at
/// all points is two elements, of which the second becomes the last state.
#[derive(Clone, Debug, PartialEq)]
pub struct RowLoop {
    /// Its text; [`crate::LaneFunction::NAME`] stands for its name.
    pub text: String,
    /// What it calls.
    pub functions: Functions,
    /// The variables around the loop that it reads, scalars and arrays; parts of the state among them where it computes
    /// arrays in memory of its own.
    pub inputs: Vec<Var>,
    /// The parts of the state that it writes to, by their numbers.
    pub written: BTreeSet<usize>,
    /// Those among them whose rows it writes one behind the other, to memory of each call (Note [Rows that grow]), in this
    /// order. It is told how many elements of each are there, behind an element for the point where it ends. Where the
    /// memory is full its result is [`crate::FULL`].
    pub growing: Vec<usize>,
    /// The checks.
    pub sites: Vec<(FaultKind, Span)>,
    /// Whether it is given memory for arrays, scratch memory: then it writes the last state to other memory than that of
    /// the state at hand, and leaves the loop to the host where the memory does not suffice. Only then there are checks of
    /// [`FaultKind::LengthMismatch`]: such a fault leaves the loop to the host as well.
    pub has_scratch: bool,
}

/// A loop with this state, of which `rows` says what it is for one point; nothing if there is something in it that
/// such functions do not do.
pub fn row_loop(rows: &Rows<Program>, state: &[Var]) -> Option<RowLoop> {
    [Arrays::Replaced, Arrays::Copied, Arrays::Computed]
        .into_iter()
        .find_map(|arrays| written(rows, state, arrays))
}

/// As [`row_loop`], only if every turn replaces elements where they are: what it does needs no memory but the state's, and
/// nobody has to look whether the rows of matrices are as long as each other (Note [Matrices row by row] in `weft_ir`'s `rows`).
pub fn row_loop_in_place(rows: &Rows<Program>, state: &[Var]) -> Option<RowLoop> {
    if rows.matrices().next().is_some() {
        return None;
    }
    written(rows, state, Arrays::Replaced)
}

fn written(rows: &Rows<Program>, state: &[Var], arrays: Arrays) -> Option<RowLoop> {
    let grows = rows.state.iter().any(|part| matches!(part, RowState::Grown(_)));
    if grows && arrays != Arrays::Computed {
        return None;
    }
    Writer::new(rows, state, arrays).written()
}

struct Writer<'a> {
    rows: &'a Rows<Program>,
    state: &'a [Var],
    function: Function<'a>,
    inputs: Vec<Var>,
    /// What is read before the first point.
    before: Vec<String>,
    /// The extents among it.
    sizes: BTreeMap<Var, String>,
}

impl<'a> Writer<'a> {
    fn new(rows: &'a Rows<Program>, state: &'a [Var], arrays: Arrays) -> Writer<'a> {
        let mut function = Function::new(&rows.program.types, arrays);
        function.indent = 2;
        // Only a loop inside of another one moves its last state to where it may stay. Here the other one is that over
        // the points.
        function.depth = usize::from(arrays == Arrays::Computed);
        let (inputs, before, sizes) = Default::default();
        Writer { rows, state, function, inputs, before, sizes }
    }

    /// Whether arrays of the state are updated where they are, and none are anywhere else.
    fn is_in_place(&self) -> bool {
        self.function.arrays == Arrays::Replaced
    }

    fn written(mut self) -> Option<RowLoop> {
        let has_scratch = !self.is_in_place();
        if has_scratch {
            self.function.line("char *top = all->scratch, *limit = top + all->room;");
        }
        for &(var, input) in &self.rows.inputs {
            self.bind(var, input)?;
        }
        self.function.steps(&self.rows.program.body)?;
        let growing = self.growing();
        self.find_room(&growing)?;
        let mut written = BTreeSet::new();
        for (number, part) in self.rows.state.iter().enumerate() {
            self.leave(number, *part, &mut written)?;
        }
        let Function { environment, functions, text: points, updated, .. } = self.function;
        let Environment { inputs: unknown, sites, .. } = environment;
        if !unknown.is_empty() {
            return None;
        }
        if !has_scratch {
            // Where rows turn out not to fit, the host goes on from the state at hand.
            if sites.iter().any(|(kind, _)| *kind == FaultKind::LengthMismatch) {
                return None;
            }
            written.extend(updated);
        }
        let mut text =
            "u32 KERNEL(const struct serial *const all) {\n  u64 turns = 0, rounds = 0;\n"
                .to_owned();
        if has_scratch {
            text += "  u32 outcome = 0;\n";
        }
        self.before.iter().for_each(|line| text += &format!("  {line}\n"));
        for (at, (number, ty)) in growing.iter().enumerate() {
            text += &format!(
                "  {ty} *to{number} = ({ty} *)all->state[{number}] + all->extents[{}];\n",
                at + 1
            );
        }
        text += "  i64 point = all->first;\n  for (; point < all->end; point++) {\n";
        // A loop may have no turn that looks.
        text += "    if (!(point & 1023) && *all->cancel) return 1U << 31;\n";
        text += &points;
        text += match has_scratch {
            true => "  }\nleave:;\n  (void)rounds;\n",
            false => "  }\n  (void)rounds;\n",
        };
        if !growing.is_empty() {
            text += "  all->extents[0] = point;\n";
        }
        for (at, (number, ty)) in growing.iter().enumerate() {
            text += &format!(
                "  all->extents[{}] = to{number} - ({ty} *)all->state[{number}];\n",
                at + 1
            );
        }
        text += if has_scratch { "  return outcome;\n}\n" } else { "  return 0;\n}\n" };
        let growing = growing.into_iter().map(|(number, _)| number).collect();
        let inputs = self.inputs;
        Some(RowLoop { text, functions, inputs, written, growing, sites, has_scratch })
    }

    /// Binds a variable of the program to what it is at a point.
    fn bind(&mut self, var: Var, input: RowInput) -> Option<()> {
        let Type { element, extents } = &self.function.types[var.0 as usize];
        let (ty, is_array) = (type_name(*element), !extents.is_empty());
        match input {
            RowInput::Size(size) => {
                let size = self.size(size);
                self.function.environment.bind(var, Place::Scalar(size));
                return Some(());
            }
            RowInput::Length(offsets, row) => {
                let (offsets, row) = (self.elements(offsets, "i64"), self.row(row));
                let name = format!("s{}", self.function.environment.fresh());
                let line = format!("const i64 {name} = {offsets}[{row} + 1] - {offsets}[{row}];");
                self.function.line(&line);
                self.function.environment.bind(var, Place::Scalar(name));
                return Some(());
            }
            RowInput::Width(offsets, rows) => {
                let (offsets, [first, end]) = (self.elements(offsets, "i64"), self.matrix(rows));
                let name = format!("s{}", self.function.environment.fresh());
                let line = format!(
                    "const i64 {name} = {end} > {first} ? {offsets}[{first} + 1] - {offsets}[{first}] : 0;"
                );
                self.function.line(&line);
                self.function.environment.bind(var, Place::Scalar(name));
                return Some(());
            }
            RowInput::All(_) | RowInput::Row(..) | RowInput::Segment(..) | RowInput::Matrix(..) => {
            }
        }
        let of = match input {
            RowInput::All(of) | RowInput::Row(of, _) => of,
            RowInput::Segment(of, ..) | RowInput::Matrix(of, ..) => of,
            RowInput::Size(_) | RowInput::Length(..) | RowInput::Width(..) => return None,
        };
        let elements = self.elements(of, ty);
        if !is_array {
            let at = match input {
                RowInput::Row(_, row) => self.row(row),
                _ => "0".to_owned(),
            };
            let name = format!("s{}", self.function.environment.fresh());
            self.function.line(&format!("const {ty} {name} = {elements}[{at}];"));
            self.function.environment.bind(var, Place::Scalar(name));
            return Some(());
        }
        let sizes = self.function.sizes(var)?;
        let begin = match input {
            RowInput::Row(_, row) => product(self.row(row), &sizes),
            RowInput::Segment(_, offsets, row) => {
                let (offsets, row) = (self.elements(offsets, "i64"), self.row(row));
                product(format!("{offsets}[{row}]"), &sizes[1..])
            }
            RowInput::Matrix(_, offsets, rows) => self.matrix_begin(offsets, rows, &sizes),
            _ => "0".to_owned(),
        };
        let number = self.updated(of);
        let (constant, restrict) = match number {
            Some(_) => ("", "restrict "),
            None => ("const ", ""),
        };
        let name = format!("a{}", self.function.environment.fresh());
        self.function
            .line(&format!("{constant}{ty} *{restrict}const {name} = {elements} + {begin};"));
        let buffer = number.map(|number| Buffer { memory: Memory::State(number), depth: 0 });
        self.function.environment.bind(var, Place::Array { name, sizes, buffer });
        Some(())
    }

    /// The number of a part of the state that is updated where it is.
    fn updated(&self, var: Var) -> Option<usize> {
        let number = self.state.iter().position(|part| *part == var)?;
        let updated = matches!(
            self.rows.state[number],
            RowState::Point(_) | RowState::Segment(..) | RowState::Matrix(..)
        );
        (updated && self.is_in_place()).then_some(number)
    }

    /// The row of the point at hand.
    fn row(&mut self, row: RowNumber) -> String {
        match row {
            RowNumber::Point(Size::Constant(1)) => "point".to_owned(),
            RowNumber::Point(below) => format!("(point / {})", self.size(below)),
            RowNumber::At(numbers) => format!("{}[point]", self.elements(numbers, "i64")),
        }
    }

    /// The first row of the matrix of the point at hand, and that behind its last.
    fn matrix(&mut self, rows: MatrixRows) -> [String; 2] {
        match rows {
            MatrixRows::Each(size) => {
                let size = self.size(size);
                [format!("(point * {size})"), format!("(point * {size} + {size})")]
            }
            MatrixRows::Segment(offsets) => {
                let offsets = self.elements(offsets, "i64");
                [format!("{offsets}[point]"), format!("{offsets}[point + 1]")]
            }
        }
    }

    /// Where the elements begin of the matrix of the point at hand, which has these extents.
    fn matrix_begin(&mut self, offsets: Var, rows: MatrixRows, sizes: &[String]) -> String {
        let (offsets, [first, _]) = (self.elements(offsets, "i64"), self.matrix(rows));
        product(format!("{offsets}[{first}]"), &sizes[2..])
    }

    fn size(&mut self, size: Size) -> String {
        match size {
            Size::Constant(extent) => format!("{extent}LL"),
            Size::Var(var) => {
                // A local: what is read through a pointer might change with every byte that is written.
                if let Some(name) = self.sizes.get(&var) {
                    return name.clone();
                }
                let value = self.elements(var, "i64");
                let name = format!("s{}", self.function.environment.fresh());
                self.before.push(format!("const i64 {name} = {value}[0];"));
                self.sizes.insert(var, name.clone());
                name
            }
        }
    }

    /// Where the elements of a variable around the loop are, or a scalar is.
    fn elements(&mut self, var: Var, ty: &str) -> String {
        let state = self.state.iter().position(|part| *part == var);
        let state = state.filter(|&number| match self.rows.state[number] {
            RowState::All(_) => true,
            RowState::Point(_) | RowState::Segment(..) | RowState::Matrix(..) => self.is_in_place(),
            RowState::Grown(_) | RowState::Total(_) | RowState::Offsets(_) => false,
            RowState::Extent(_) | RowState::Kept | RowState::Done => false,
        });
        match state {
            Some(number) => format!("(({ty} *)all->state[{number}])"),
            None => {
                let known = self.inputs.iter().position(|input| *input == var);
                let number = known.unwrap_or_else(|| {
                    self.inputs.push(var);
                    let number = self.inputs.len() - 1;
                    self.before
                        .push(format!("const {ty} *const in{number} = all->inputs[{number}];"));
                    number
                });
                format!("in{number}")
            }
        }
    }

    /// The parts of the state that grow, with the types of their elements.
    fn growing(&self) -> Vec<(usize, &'static str)> {
        let mut growing = Vec::new();
        for (number, part) in self.rows.state.iter().enumerate() {
            if let RowState::Grown(at) = part {
                let output = self.rows.program.outputs[*at].data;
                growing.push((number, type_name(self.function.types[output.0 as usize].element)));
            }
        }
        growing
    }

    /// Ends the call where a row of the last state has no room.
    fn find_room(&mut self, growing: &[(usize, &str)]) -> Option<()> {
        for &(number, ty) in growing {
            let RowState::Grown(at) = self.rows.state[number] else { return None };
            let sizes = self.function.sizes(self.rows.program.outputs[at].data)?;
            let count = element_count(&sizes);
            self.function.line(&format!("const i64 more{number} = {count};"));
            let end = format!("(({ty} *)all->ends[{number}])");
            self.function.line(&format!("if (more{number} > {end} - to{number}) NEED_ROOM;"));
        }
        Some(())
    }

    /// Writes what a part of the state has become.
    fn leave(
        &mut self,
        number: usize,
        part: RowState,
        written: &mut BTreeSet<usize>,
    ) -> Option<()> {
        let output = match part {
            // The host finds the total.
            RowState::Kept | RowState::Total(_) => return Some(()),
            RowState::Extent(at) => {
                let sizes = self.function.sizes(self.rows.program.outputs[at].data)?;
                let length = sizes.first()?;
                self.function
                    .line(&format!("if (point == 0) ((i64 *)all->state[{number}])[1] = {length};"));
                written.insert(number);
                return Some(());
            }
            RowState::Offsets(at) => {
                // From the lengths the host finds where the rows begin.
                let sizes = self.function.sizes(self.rows.program.outputs[at].data)?;
                let length = sizes.first()?;
                self.function
                    .line(&format!("((i64 *)all->state[{number}])[point + 1] = {length};"));
                written.insert(number);
                return Some(());
            }
            RowState::Grown(at) => {
                let name =
                    self.function.environment.elements(self.rows.program.outputs[at].data)?;
                self.function.line(&format!(
                    "for (i64 at = 0; at < more{number}; at++) to{number}[at] = {name}[at];"
                ));
                self.function.line(&format!("to{number} += more{number};"));
                written.insert(number);
                return Some(());
            }
            RowState::Done => {
                let ty = type_name(ScalarType::Bool);
                self.function.line(&format!("(({ty} *)all->state[{number}])[point] = false;"));
                written.insert(number);
                return Some(());
            }
            RowState::All(at)
            | RowState::Point(at)
            | RowState::Segment(at, _)
            | RowState::Matrix(at, ..) => self.rows.program.outputs[at].data,
        };
        let Type { element, extents } = &self.function.types[output.0 as usize];
        let ty = type_name(*element);
        if extents.is_empty() {
            let value = self.function.environment.scalar(output)?;
            self.function.line(&match part {
                RowState::All(_) => {
                    format!("if (point == 0) (({ty} *)all->state[{number}])[1] = {value};")
                }
                _ => format!("(({ty} *)all->state[{number}])[point] = {value};"),
            });
            written.insert(number);
            return Some(());
        }
        if self.is_in_place() {
            let buffer = Buffer { memory: Memory::State(number), depth: 0 };
            return self.function.environment.is_in(output, buffer);
        }
        let sizes = self.function.sizes(output)?;
        let name = self.function.environment.elements(output)?;
        let begin = match part {
            RowState::Segment(_, offsets) => {
                let offsets = self.elements(offsets, "i64");
                product(format!("{offsets}[point]"), &sizes[1..])
            }
            RowState::Matrix(_, offsets, rows) => self.matrix_begin(offsets, rows, &sizes),
            _ => product("point".to_owned(), &sizes),
        };
        let count = element_count(&sizes);
        let to = format!("(({ty} *)all->state[{number}])");
        self.function.line(&format!(
            "for (i64 at = 0, begin = {begin}, count = {count}; at < count; at++) {to}[begin + at] = {name}[at];"
        ));
        written.insert(number);
        Some(())
    }
}

/// The number of elements of an array with these extents.
pub(super) fn element_count(sizes: &[String]) -> String {
    product("1".to_owned(), sizes)
}

fn product(first: String, sizes: &[String]) -> String {
    sizes.iter().fold(first, |text, size| format!("{text} * {size}"))
}
