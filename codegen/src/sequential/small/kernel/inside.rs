//! The points of a kernel away from the borders, in loops of their own.
//!
//! Note [Vectors inside of small loops]. A check that may end the function, and a branch at a border, keep a C compiler from
//! finding vector instructions for a loop over points. Where a kernel only stores what it computes, the points of a row that
//! lie in a box without both (Note [Interior points]) have a loop of their own, in front of which stands what is the same for
//! the row, with its checks. The loop over the row steps over these points: it does those around.

use std::collections::{BTreeMap, BTreeSet};

use weft_ir::code::{Code, Instruction, Operand, Operation, Register};
use weft_ir::flat::{Dimension, Var};
use weft_ir::math::can_fail;
use weft_ir::plan::{Kernel, Sink};
use weft_ir::{Scalar, ScalarType};

use super::super::super::Function;
use super::{Bound as Known, Extent, Points, Stored};
use crate::interior::{Bound, Interior, Limit, Number, interiors_of_rows};
use crate::literal::literal;

/// A box of points.
pub(super) struct Inside {
    part: Part,
    bounds: Vec<Bound>,
    /// Where it begins and ends in a row: first as far as that is the same for all.
    from: String,
    to: String,
}

/// Code of the points of a row.
struct Part {
    /// What is the same along the row.
    row: Code,
    then: Then,
}

enum Then {
    /// What is computed at each point.
    Points(Code),
    /// One of two parts, by what is the same along the row.
    Sides(Operand, Box<[Part; 2]>),
}

/// How the points of a box are gone through.
struct Point<'a> {
    kernel: &'a Kernel,
    points: &'a Points,
    /// The beginning of the loop.
    opening: &'a str,
    /// What is stored.
    stored: &'a [Stored],
}

/// Along which indices a box is narrowed down.
#[derive(Clone, Copy)]
pub(super) struct Along<'a> {
    /// The dimension in which it begins and ends somewhere.
    pub(super) dimension: usize,
    /// The extent of the last dimension, of which all points are to be in it.
    pub(super) whole: Option<&'a str>,
}

/// The most conditions on rows in a box: each doubles its text.
const MOST_CONDITIONS: usize = 2;

impl Part {
    /// Of code, given what is the same along a row and how many conditions may be taken apart; nothing if something is left in
    /// it that vectors cannot do.
    fn new(code: Code, mut uniform: BTreeSet<Register>, conditions: usize) -> Option<Part> {
        let (mut row, mut point) = (Code::default(), Code::default());
        let (results, mut rest) = (code.results, code.instructions.into_iter());
        while let Some(instruction) = rest.next() {
            if is_uniform(&instruction, &uniform) {
                uniform.extend(instruction.results.iter().map(|(register, _)| *register));
                row.instructions.push(instruction);
                continue;
            }
            if let Operation::If { condition, then, otherwise } = &instruction.operation
                && condition.register().is_some_and(|register| uniform.contains(&register))
                && conditions > 0
            {
                let after: Vec<Instruction> = rest.collect();
                let side = |side: &Code| {
                    let mut code = point.clone();
                    code.instructions.extend(side.instructions.iter().cloned());
                    let yielded: BTreeMap<Register, Operand> =
                        (instruction.results.iter().map(|(register, _)| *register))
                            .zip(side.results.iter().copied())
                            .collect();
                    let rename = |operand: &mut Operand| {
                        if let Some(value) = operand.register().and_then(|at| yielded.get(&at)) {
                            *operand = *value;
                        }
                    };
                    for mut instruction in after.iter().cloned() {
                        instruction.operation.for_each_used_mut(&mut |operand| rename(operand));
                        code.instructions.push(instruction);
                    }
                    code.results.clone_from(&results);
                    code.results.iter_mut().for_each(rename);
                    Part::new(code, uniform.clone(), conditions - 1)
                };
                let sides = Box::new([side(then)?, side(otherwise)?]);
                return Some(Part { row, then: Then::Sides(*condition, sides) });
            }
            point.instructions.push(instruction);
        }
        point.results = results;
        let fails = |instruction: &Instruction| match &instruction.operation {
            Operation::Scalar(op, _) => can_fail(*op, instruction.results[0].1),
            Operation::Check(..) => true,
            _ => false,
        };
        if point.walk().any(fails) {
            return None;
        }
        Some(Part { row, then: Then::Points(point) })
    }
}

/// Whether an instruction does the same for all points of a row, given what is the same.
fn is_uniform(instruction: &Instruction, uniform: &BTreeSet<Register>) -> bool {
    let mut same = match instruction.operation {
        Operation::Scalar(..) | Operation::Random(..) => true,
        Operation::Read(..) | Operation::Check(..) => true,
        Operation::If { .. } | Operation::While { .. } => false,
    };
    instruction.operation.for_each_used(&mut |operand| {
        same &= operand.register().is_none_or(|register| uniform.contains(&register));
    });
    same
}

impl Function<'_> {
    /// The boxes of a kernel that stores so many results, if it does nothing else. Where they begin and end that is written,
    /// as far as it is the same for all rows.
    pub(super) fn boxes(
        &mut self,
        kernel: &Kernel,
        points: &Points,
        stored: usize,
    ) -> Option<Vec<Inside>> {
        let dense = |dimension: &Dimension| matches!(dimension, Dimension::Dense(_));
        let stores = |sink: &Sink| matches!(sink, Sink::Store { .. } | Sink::Interleave { .. });
        let plain = kernel.sinks.iter().flat_map(Sink::operands).count() == stored
            && kernel.sinks.iter().all(stores)
            && kernel.space.iter().all(dense)
            && kernel.epilogue.is_none()
            && !kernel.body.has_loops();
        let Some(Extent::Dense(extent)) = points.extents.last().filter(|_| plain) else {
            return Some(Vec::new());
        };
        let results: Vec<Operand> = kernel.sinks.iter().flat_map(Sink::operands).copied().collect();
        let mut boxes = Vec::new();
        for found in interiors_of_rows(&kernel.indices, &kernel.body, &results) {
            let number = self.environment.fresh();
            let Interior { code, results, bounds, .. } = found;
            let outer = &kernel.indices[..kernel.indices.len() - 1];
            let code = Code { results, ..code };
            let part = Part::new(code, outer.iter().copied().collect(), MOST_CONDITIONS);
            let Some(part) = part else { continue };
            if !bounds.iter().all(|bound| is_known(&part.row, bound)) {
                continue;
            }
            let [from, to] = ["from", "to"].map(|name| format!("{name}{number}"));
            let inside = Inside { part, bounds, from, to };
            self.line(&format!("i64 all_{} = 0, all_{} = {extent};", inside.from, inside.to));
            let ends = [format!("all_{}", inside.from), format!("all_{}", inside.to)];
            let last = points.extents.len() - 1;
            let is_common =
                |bound: &Bound| bound.dimension == last && bound.offset.registers().is_empty();
            let (common, of_row): (Vec<Bound>, Vec<Bound>) =
                inside.bounds.iter().cloned().partition(is_common);
            self.limits(&common, &ends, points, Along { dimension: last, whole: None })?;
            boxes.push(Inside { bounds: of_row, ..inside });
        }
        Some(boxes)
    }

    /// Where a box begins and ends in the row at hand.
    pub(super) fn range(
        &mut self,
        kernel: &Kernel,
        inside: &Inside,
        points: &Points,
    ) -> Option<()> {
        let Inside { part, bounds, from, to } = inside;
        self.line(&format!("i64 {from} = all_{from}, {to} = all_{to};"));
        let registers = bounds.iter().flat_map(|bound| bound.offset.registers());
        let needed = needed(&part.row, registers.map(|(register, _)| *register).collect());
        // The boxes of a kernel share their registers' names.
        self.open("{");
        if !needed.instructions.is_empty() {
            self.bound_code(&needed, &of_row(kernel, points))?;
        }
        let along = Along { dimension: points.extents.len() - 1, whole: None };
        self.limits(bounds, &[from.clone(), to.clone()], points, along)?;
        self.close();
        Some(())
    }

    /// Narrows down where a box begins and ends to where bounds hold.
    pub(super) fn limits(
        &mut self,
        bounds: &[Bound],
        [from, to]: &[String; 2],
        points: &Points,
        along: Along<'_>,
    ) -> Option<()> {
        let mut lines = Vec::new();
        for Bound { dimension, offset, limit } in bounds {
            let (Limit::AtLeast(number) | Limit::AtMost(number) | Limit::Below(number)) = *limit;
            let number = self.number(number)?;
            let limited = match (offset.constant(), offset.registers()) {
                (0, []) => number,
                (constant, []) => format!("less_i64({number}, {})", literal(Scalar::I64(constant))),
                (constant, registers) => {
                    let name = format!("offset{}", self.environment.fresh());
                    self.line(&format!("i64 {name} = {};", literal(Scalar::I64(constant))));
                    for (register, negated) in registers {
                        let op = if *negated { "sub" } else { "add" };
                        let wraps = format!("__builtin_{op}_overflow({name}, {register}, &{name})");
                        self.line(&format!("if ({wraps}) {to} = 0;"));
                    }
                    // No index plus this wraps.
                    self.line(&format!("if ({name} != {name} << 1 >> 1) {to} = 0;"));
                    format!("less_i64({number}, {name})")
                }
            };
            let index = &points.indices[*dimension];
            let of_all = along.whole.filter(|_| *dimension + 1 == points.indices.len());
            let (least, most) = match of_all {
                Some(extent) => ("0".to_owned(), format!("{extent} - 1")),
                None => (index.clone(), index.clone()),
            };
            let line = match (limit, *dimension == along.dimension) {
                (Limit::AtLeast(_), true) => format!("{from} = max_i64({from}, {limited});"),
                (Limit::AtMost(_), true) => format!("{to} = min_i64({to} - 1, {limited}) + 1;"),
                (Limit::Below(_), true) => format!("{to} = min_i64({to}, {limited});"),
                (Limit::AtLeast(_), false) => format!("if ({least} < {limited}) {to} = 0;"),
                (Limit::AtMost(_), false) => format!("if ({most} > {limited}) {to} = 0;"),
                (Limit::Below(_), false) => format!("if ({most} >= {limited}) {to} = 0;"),
            };
            if !lines.contains(&line) {
                lines.push(line);
            }
        }
        lines.iter().for_each(|line| self.line(line));
        Some(())
    }

    fn number(&mut self, number: Number) -> Option<String> {
        Some(match number {
            Number::Constant(number) => literal(Scalar::I64(number)),
            Number::Read(scalar) => self.environment.scalar(Var(scalar))?,
            Number::Half(scalar) => format!("({} >> 1)", self.environment.scalar(Var(scalar))?),
        })
    }

    /// Computes the points of a box, if the row has come to them, and steps over them.
    pub(super) fn inside(
        &mut self,
        kernel: &Kernel,
        inside: &Inside,
        points: &Points,
        stored: &[Stored],
    ) -> Option<()> {
        let Inside { part, from, to, .. } = inside;
        let mut points = points.clone();
        let index = points.indices.pop()?;
        let Extent::Dense(extent) = points.extents.last()?.clone() else { return None };
        let inner = format!("p{}", self.environment.fresh());
        points.indices.push(inner.clone());
        self.open(&format!("if ({index} >= {from} && {index} < {to}) {{"));
        let opening = format!("for (i64 {inner} = {index}; {inner} < {to}; {inner}++) {{");
        let point = Point { kernel, points: &points, opening: &opening, stored };
        self.part(part, &of_row(kernel, &points), &point)?;
        self.line(&format!("{index} = {to};"));
        self.line(&format!("if ({index} == {extent}) break;"));
        self.close();
        Some(())
    }

    /// Computes the points of a row.
    fn part(&mut self, part: &Part, known: &[Known], point: &Point<'_>) -> Option<()> {
        let results = match part.then {
            Then::Points(_) => Vec::new(),
            Then::Sides(condition, _) => vec![condition],
        };
        let (values, known) = self.bound_code(&Code { results, ..part.row.clone() }, known)?;
        match &part.then {
            Then::Points(code) => self.vectors(code, known, point)?,
            Then::Sides(_, sides) => {
                let first = format!("if ({}) {{", values[0].0);
                for (side, line) in sides.iter().zip([&*first, "} else {"]) {
                    self.line(line);
                    self.indent += 1;
                    self.part(side, &known, point)?;
                    self.indent -= 1;
                }
                self.line("}");
            }
        }
        Some(())
    }

    /// A loop over points that runs on vectors.
    fn vectors(&mut self, code: &Code, mut known: Vec<Known>, point: &Point<'_>) -> Option<()> {
        let Point { kernel, points, opening, stored } = point;
        self.line("#pragma omp simd");
        self.open(opening);
        known.extend(points.bound(kernel).pop());
        let (values, _) = self.bound_code(code, &known)?;
        let at = points.at_point();
        for (stored, (value, _)) in stored.iter().zip(&values) {
            self.line(&format!("{} = {value};", stored.place(&at)));
        }
        self.close();
        Some(())
    }
}

/// The indices that are the same along a row.
fn of_row(kernel: &Kernel, points: &Points) -> Vec<Known> {
    let mut bound = points.bound(kernel);
    bound.pop();
    bound
}

/// The instructions that registers come from.
fn needed(row: &Code, mut registers: BTreeSet<Register>) -> Code {
    let mut instructions = Vec::new();
    for instruction in row.instructions.iter().rev() {
        if instruction.results.iter().any(|(register, _)| registers.contains(register)) {
            instruction
                .operation
                .for_each_used(&mut |operand| registers.extend(operand.register()));
            instructions.push(instruction.clone());
        }
    }
    instructions.reverse();
    Code { instructions, results: Vec::new() }
}

/// Whether it is known before a row how far the bound's index is from its limit: what that needs fails nowhere, and no sum wraps.
fn is_known(row: &Code, bound: &Bound) -> bool {
    let offset = &bound.offset;
    let registers: BTreeSet<Register> = offset.registers().iter().map(|(at, _)| *at).collect();
    let needed = needed(row, registers.clone());
    let computed = |register: &Register| needed.definition(*register).is_some();
    let certain = needed.instructions.iter().all(|instruction| match &instruction.operation {
        Operation::Scalar(op, _) => !can_fail(*op, ScalarType::I64),
        Operation::Read(_, indices) => indices.is_empty(),
        _ => false,
    });
    let small = offset.constant().unsigned_abs() < 1 << 62;
    small && certain && registers.iter().all(computed)
}
