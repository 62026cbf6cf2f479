//! Loops as one kernel.
//!
//! A loop of each row (Note [Loops row by row] in `weft_ir`'s `rows`) has a thread for each point, which takes it to its
//! end. Only those whose turns replace elements where they are: a turn of such a loop does so little that it would
//! take as long to launch it as to run it.
//!
//! Note [Loops on one thread]. A loop in which nothing is parallel (`Note [Sequential loops]` in `weft_codegen`) and that
//! looks at arrays is a kernel of one thread. Such a thread is slow, by estimate some ten times slower than one of the
//! host. But the host would have to ask for every element, and to launch a kernel for each that a turn replaces, and
//! both take thousands of times as long as what the turn does. Loops of scalars alone stay with the host, which has
//! all that they need.

use weft_codegen::{
    Functions, RowLoop, SequentialLoop, row_loop_in_place, sequential_code, sequential_loop,
};
use weft_ir::code::Code as ScalarCode;
use weft_ir::flat::{Dimension, Size, Type, Var};
use weft_ir::plan::{Kernel, Program};
use weft_ir::{Fault, FaultKind, RowState, Rows, Span};

use super::{Draft, Work, map};
use crate::fields::Field;
use crate::structure::Structure;
use crate::text::{Length, Skeleton};

/// Whether a loop with this state runs row by row on a device.
pub fn has_row_kernel(rows: &Rows<Program>, state: &[Var]) -> bool {
    row_loop_in_place(rows, state).is_some()
}

/// What stands for a loop among the kernels of a plan: its space.
pub(super) fn kernel(work: &Work<'_>) -> Kernel {
    let nothing = ScalarCode { instructions: Vec::new(), results: Vec::new() };
    let (name, points, span) = match work {
        Work::Rows { rows, .. } => ("loop_of_each_row", rows.points, rows.span),
        Work::Loop { span, .. } | Work::HostLoop { span, .. } => ("loop", Size::Constant(1), *span),
        Work::Kernel(kernel, _) => return (*kernel).clone(),
    };
    Kernel {
        name: name.into(),
        space: vec![Dimension::Dense(points)],
        indices: Vec::new(),
        body: nothing,
        sinks: Vec::new(),
        epilogue: None,
        fused: Vec::new(),
        span,
    }
}

/// A part of the state of a loop, as its function gets and leaves it.
pub(super) enum Part {
    /// Nothing that the function asks for.
    Nothing,
    /// A scalar, from this value on: the place of its last one among so many elements.
    Scalar { first: Option<Var>, last: Var, elements: usize },
    /// An array that the function only reads.
    Read(Var),
    /// An array that it replaces elements of.
    Replaced(Var),
}

/// A function of a loop, and what it is given.
struct Serial<'a> {
    text: &'a str,
    functions: &'a Functions,
    inputs: &'a [Var],
    sites: &'a [(FaultKind, Span)],
    state: Vec<Part>,
}

/// The function of a loop that runs on one thread (Note [Loops on one thread]), with its state.
pub(super) fn loop_on_one_thread(
    work: &Work<'_>,
    types: &[Type],
) -> Option<(SequentialLoop, Vec<Part>)> {
    let is_array = |var: &Var| !types[var.0 as usize].extents.is_empty();
    match *work {
        Work::Loop { state, condition, body, .. } => {
            let of = sequential_loop(state, condition, body, types)?;
            let part = |(number, &var): (usize, &Var)| match of.updated.contains(&number) {
                _ if !is_array(&var) => Part::Scalar { first: Some(var), last: var, elements: 1 },
                true => Part::Replaced(var),
                false => Part::Read(var),
            };
            let parts = state.iter().enumerate().map(part).collect();
            state.iter().chain(&of.inputs).any(is_array).then_some((of, parts))
        }
        Work::HostLoop { results, code, .. } => {
            let of = sequential_code(code, types)?;
            let part = |&last: &Var| Part::Scalar { first: None, last, elements: 1 };
            let parts = results.iter().map(part).collect();
            of.inputs.iter().any(is_array).then_some((of, parts))
        }
        Work::Kernel(..) | Work::Rows { .. } => None,
    }
}

impl Draft<'_, '_> {
    /// A loop row by row, unless it needs more memory than that of its state.
    pub(super) fn rows(&mut self, rows: &Rows<Program>, state: &[Var]) {
        let Some(row_loop) = row_loop_in_place(rows, state) else { return };
        let RowLoop { text, functions, inputs, written, sites, .. } = row_loop;
        let part = |(number, (&part, &var)): (usize, (&RowState, &Var))| match part {
            RowState::All(_) => Part::Scalar { first: Some(var), last: var, elements: 2 },
            RowState::Kept => Part::Nothing,
            _ if written.contains(&number) => Part::Replaced(var),
            RowState::Point(_) | RowState::Segment(..) | RowState::Done => Part::Read(var),
            RowState::Grown(_)
            | RowState::Total(_)
            | RowState::Offsets(_)
            | RowState::Extent(_) => panic!("what is in place does not grow"),
            RowState::Matrix(..) => panic!("what is in place has no matrices to look at"),
        };
        let state = rows.state.iter().zip(state).enumerate().map(part).collect();
        let serial =
            Serial { text: &text, functions: &functions, inputs: &inputs, sites: &sites, state };
        self.serial(&serial, ["rows", ", i64 points", "rows<K>(in, points)"]);
    }

    /// A loop on one thread, if it is to run there.
    pub(super) fn one_thread(&mut self, work: &Work<'_>) {
        let Some((of, state)) = loop_on_one_thread(work, self.shared.types) else { return };
        let SequentialLoop { text, functions, inputs, sites, .. } = &of;
        let serial = Serial { text, functions, inputs, sites, state };
        self.serial(&serial, ["loop", "", "loop<K>(in)"]);
    }

    /// A kernel that calls the function of a loop at each of its points.
    fn serial(&mut self, serial: &Serial<'_>, entry: [&'static str; 3]) {
        self.shared.functions.merge(serial.functions);
        let faults = serial.sites.iter().map(|&(kind, span)| Fault { kind, span });
        self.shared.sites.extend(faults);
        let sites_before = self.shared.sites_before;
        let mut structure = self.structure(entry[0]);
        let (mut begin, mut end) = (String::new(), String::new());
        let (mut inputs, mut strides) = (Vec::new(), Vec::new());
        for (number, &input) in serial.inputs.iter().enumerate() {
            inputs.push(address(&mut structure, input));
            strides.push(strides_of(&mut structure, number, input, &mut begin));
        }
        let (mut addresses, mut extents) = (Vec::new(), Vec::new());
        let (mut replaced, mut same) = (Vec::new(), Vec::new());
        for (number, part) in serial.state.iter().enumerate() {
            addresses.push(match *part {
                Part::Nothing => "{nullptr}".to_owned(),
                Part::Scalar { first, last, elements } => {
                    let ty = structure.type_of(last);
                    let temporary = structure.temporary(ty);
                    same.push((last, temporary));
                    let first = match first {
                        Some(first) => vec![structure.scalar(first); elements].join(", "),
                        None => "0".to_owned(),
                    };
                    let last = structure.field(Field::Temporary(temporary));
                    let ty = weft_codegen::Dialect::Cuda.type_name(ty);
                    begin += &format!("  {ty} part{number}[{elements}] = {{{first}}};\n");
                    end += &format!("  if (at == 0) {last}[0] = part{number}[{}];\n", elements - 1);
                    format!("{{part{number}}}")
                }
                Part::Read(var) | Part::Replaced(var) => {
                    for extent in structure.extents_of(var) {
                        extents.push(structure.size(extent));
                    }
                    let field = match part {
                        Part::Replaced(_) => Field::Output(var),
                        _ => Field::Array(var),
                    };
                    if let Part::Replaced(_) = part {
                        replaced.push(var);
                    }
                    format!("{{{}}}", structure.field(field))
                }
            });
        }
        begin += &format!("  const i64 extents[] = {{{}}};\n", listed(&extents, "0"));
        let length = |list: &[String]| list.len().max(1);
        structure.member(&format!(
            "struct serial {{\n  Address inputs[{0}];\n  const i64* strides[{0}];\n  Address state[{1}];\n  \
             const i64* extents;\n  Over cancel;\n  u64 begun;\n  i64 first, end;\n}};",
            length(&inputs),
            length(&addresses)
        ));
        let function = serial.text.replace(weft_codegen::LaneFunction::NAME, "row");
        structure.member(&format!("static __device__ __forceinline__ {function}"));
        structure.member(&format!(
            "static __device__ __forceinline__ {} {{\n{begin}  \
             const serial all = {{{{{}}}, {{{}}}, {{{}}}, extents, {{in.failure}}, 0, at, at + 1}};\n  \
             left(in.failure, row(&all), {sites_before});\n{end}}}",
            map::POINT,
            listed(&inputs, "{nullptr}"),
            listed(&strides, "nullptr"),
            listed(&addresses, "{nullptr}"),
        ));
        let finished = structure.finish();
        self.lengths.extend(vec![Length::One; same.len()]);
        let skeleton = Skeleton::Loop { entry: entry[0], replaced, same };
        self.piece(entry[0], finished, skeleton, &[entry.map(str::to_owned)]);
    }
}

/// Initial values of an array, which has one at least.
fn listed(values: &[String], none: &str) -> String {
    if values.is_empty() { none.to_owned() } else { values.join(", ") }
}

/// How far apart the neighbours of an array around the loop are along each dimension.
fn strides_of(
    structure: &mut Structure<'_, '_>,
    number: usize,
    input: Var,
    begin: &mut String,
) -> String {
    let extents = structure.extents_of(input);
    if extents.len() < 2 {
        return "nullptr".to_owned();
    }
    let strides: Vec<String> = (1..=extents.len())
        .map(|behind| {
            let inner = extents[behind..].iter().map(|extent| structure.size(*extent));
            listed(&inner.collect::<Vec<String>>(), "1").replace(", ", " * ")
        })
        .collect();
    *begin += &format!("  const i64 strides{number}[] = {{{}}};\n", strides.join(", "));
    format!("strides{number}")
}

/// Where a variable around the loop is.
fn address(structure: &mut Structure<'_, '_>, var: Var) -> String {
    if structure.extents_of(var).is_empty() {
        let name = structure.scalar(var);
        return format!("{{&{name}}}");
    }
    format!("{{{}}}", structure.field(Field::Array(var)))
}
