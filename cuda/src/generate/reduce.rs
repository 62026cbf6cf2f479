//! Reductions: all of a kernel at once, on tuples of their components.

use weft_codegen::Writer;
use weft_ir::code::{Operand, Operation, Operator, Register, Thunk};
use weft_ir::flat::{Dimension, Start, Var};
use weft_ir::plan::{Kernel, Sink};
use weft_ir::{FaultKind, ScalarOp, ScalarType};

use super::map::{of_epilogue, store};
use super::tile::{self, tile};
use super::{Draft, indices, needed, write_body};
use crate::fields::Field;
use crate::structure::{Indices, Place, Point, Vectors, is_light, operands};
use crate::text::Skeleton;

/// A reduction of the kernel.
struct Reduction<'k> {
    values: &'k [Operand],
    operator: &'k Operator,
    start: &'k Start<Thunk>,
    registers: &'k [(Register, ScalarType)],
    arrays: &'k [Option<Var>],
}

/// The entries for rows of one length: long ones, short ones, and short ones whose elements are next to each other.
const TILES: [&str; 3] = [
    "reduce_tiles",
    ", Rows rows, u32 tiles, K::Scratch scratch, i64 per_row, u32* counters",
    "reduce_tiles<K>(in, rows, tiles, scratch, per_row, counters)",
];
const ROWS: [&str; 3] = ["reduce_rows", ", Rows rows", "reduce_rows<K>(in, rows)"];
const GROUPS: [&str; 3] = [
    "reduce_groups",
    ", Rows rows, Divisor length, u32 group",
    "reduce_groups<K>(in, rows, length, group)",
];

/// The entries for ragged rows.
const RAGGED: [[&str; 3]; 3] = [
    [
        "reduce_path",
        ", Rows rows, const i64* path, Nodes<K> blocks",
        "reduce_path<K>(in, rows, path, blocks)",
    ],
    [
        "reduce_long",
        ", OffsetRows rows, Nodes<K> blocks, Nodes<K> tiles",
        "reduce_long<K>(in, rows, blocks, tiles)",
    ],
    ["reduce_longest", ", OffsetRows rows, Nodes<K> tiles", "reduce_longest<K>(in, rows, tiles)"],
];

impl Draft<'_, '_> {
    pub(super) fn reduce(&mut self) {
        let kernel = self.kernel;
        let stores = self.stores();
        let over_rows = self.over_rows();
        let reductions: Vec<Reduction<'_>> = kernel
            .sinks
            .iter()
            .filter_map(|sink| match sink {
                Sink::Reduce { values, operator, start, registers, arrays } => {
                    Some(Reduction { values, operator, start, registers, arrays })
                }
                Sink::Store { .. }
                | Sink::Interleave { .. }
                | Sink::Scan { .. }
                | Sink::Filter { .. }
                | Sink::Scatter { .. }
                | Sink::Sort { .. } => None,
            })
            .collect();
        let components: Vec<ScalarType> = reductions
            .iter()
            .flat_map(|reduction| reduction.operator.left.iter().map(|(_, ty)| *ty))
            .collect();
        // What is stored beside, is stored by its thread: not in vectors.
        let vectors =
            Vectors::of(kernel, &[], self.shared.types).filter(|_| self.stores().is_empty());
        let mut structure = self.structure("reduce");
        structure.element(&components);
        let values: Vec<Operand> =
            reductions.iter().flat_map(|reduction| reduction.values).copied().collect();
        let all: Vec<Operand> =
            values.iter().copied().chain(stores.iter().map(|(value, _)| *value)).collect();
        let point = indices(kernel, &mut structure, &all, Point::InRow);
        let outputs: Vec<String> =
            stores.iter().map(|(_, array)| structure.field(Field::Output(*array))).collect();
        structure.elements(vectors.as_ref(), &point, |writer| {
            write_body(kernel, writer, &point);
            store(writer, &stores, &outputs);
            let values = operands(writer, &values).join(", ");
            writer.statement(&format!("return Element{{{values}}};"));
        });
        let operators: Vec<&Operator> =
            reductions.iter().map(|reduction| reduction.operator).collect();
        structure.combine(&operators);
        let tile = match stores.is_empty() {
            true => tile(kernel, &mut structure, &values, &operators),
            false => None,
        };

        let outer = kernel.space[..kernel.space.len() - 1].to_vec();
        let starts: Vec<Indices> = reductions
            .iter()
            .map(|reduction| match reduction.start {
                Start::None => Indices::default(),
                Start::Combined(thunk) | Start::IfEmpty(thunk) => {
                    let code = [&thunk.code];
                    needed(&outer, &thunk.indices, &code, &[], &mut structure, Point::Number)
                }
            })
            .collect();
        let unstarted = reductions.iter().any(|all| matches!(all.start, Start::None));
        let fail_empty = match unstarted {
            true => structure.fail(FaultKind::EmptyArray, kernel.span),
            false => String::new(),
        };
        let arrays: Vec<Option<String>> = reductions
            .iter()
            .flat_map(|reduction| reduction.arrays)
            .map(|array| array.map(|array| structure.field(Field::Output(array))))
            .collect();
        let epilogue = kernel.epilogue.as_ref().filter(|_| over_rows).map(|epilogue| {
            let point = of_epilogue(&outer, epilogue, &mut structure, Point::Number);
            let outputs: Vec<String> = epilogue
                .stores
                .iter()
                .map(|(_, array)| structure.field(Field::Output(*array)))
                .collect();
            (epilogue, point, outputs)
        });
        let signature =
            "void finish(const Arguments& in, i64 at, bool empty, const Element& value)";
        let of_finish = starts.iter().chain(epilogue.iter().map(|(_, point, _)| point));
        let of_finish: Vec<&Indices> = of_finish.collect();
        structure.function(signature, Place::new("return;", &of_finish), |writer| {
            let mut component = 0;
            for (reduction, start) in reductions.iter().zip(&starts) {
                started(writer, reduction, start, component, &fail_empty);
                component += reduction.registers.len();
            }
            for (component, array) in arrays.iter().enumerate() {
                if let Some(array) = array {
                    writer.statement(&format!("{array}[at] = v{component};"));
                }
            }
            let Some((epilogue, point, outputs)) = &epilogue else { return };
            point.write(writer);
            let registers = reductions.iter().flat_map(|reduction| reduction.registers);
            for (at, (register, ty)) in registers.enumerate() {
                writer.bind(*register, *ty, format!("v{at}"));
            }
            writer.code(&epilogue.code);
            store(writer, &epilogue.stores, outputs);
        });
        let is_ragged = matches!(kernel.space.last(), Some(Dimension::Ragged { .. }));
        let has_groups = !is_ragged
            && kernel.space.len() > 1
            && tile.is_none()
            && (!stores.is_empty() || reads_along_rows(kernel));
        if is_ragged || has_groups {
            let (name, number) = match is_ragged {
                true => ("SPAN", structure.policy().span(&components)),
                false => ("STAGED", structure.policy().staged(&components)),
            };
            let needs_row = point.needs_row();
            structure.member(&format!(
                "static constexpr int {name} = {number};\nstatic constexpr bool NEEDS_ROW = {needs_row};"
            ));
        }
        if !is_ragged && !has_groups {
            let ahead = if kernel.space.len() > 1 && is_light(&kernel.body) { 4 } else { 1 };
            structure.member(&format!("static constexpr int AHEAD = {ahead};"));
        }
        let finished = structure.finish();
        let entries = match (is_ragged, has_groups) {
            (true, _) => &RAGGED[..],
            (false, true) => &[TILES, GROUPS],
            (false, false) => &[TILES, ROWS],
        };
        let entries = entries.iter().chain(tile.map_or(&[][..], tile::entries));
        let entries: Vec<[String; 3]> =
            entries.copied().map(|entry| entry.map(str::to_owned)).collect();
        let skeleton = Skeleton::Reduce { components, sharing: tile, has_groups };
        self.piece("reduce", finished, skeleton, &entries);
    }
}

/// Whether neighbours in a row are neighbours in an array that the body reads, of which rows have different parts.
fn reads_along_rows(kernel: &Kernel) -> bool {
    let Some(last) = kernel.indices.last() else { return false };
    let last = Operand::Register(*last);
    let instructions = &kernel.body.instructions;
    let is_moved = |index: Operand| {
        instructions.iter().any(|instruction| match &instruction.operation {
            Operation::Scalar(ScalarOp::Add | ScalarOp::Sub, operands) => {
                operands[0] == last
                    && instruction.results.iter().any(|(own, _)| Operand::Register(*own) == index)
            }
            _ => false,
        })
    };
    instructions.iter().any(|instruction| match &instruction.operation {
        Operation::Read(_, indices) if indices.len() > 1 => {
            indices.last().is_some_and(|index| *index == last || is_moved(*index))
        }
        _ => false,
    })
}

/// Defines `v0`, `v1`, …: what a reduction yields, its start combined.
fn started(
    writer: &mut Writer<'_>,
    reduction: &Reduction<'_>,
    start: &Indices,
    component: usize,
    fail_empty: &str,
) {
    let operator = reduction.operator;
    let types = operator.left.iter().map(|(_, ty)| weft_codegen::Dialect::Cuda.type_name(*ty));
    let numbered = types.enumerate().map(|(at, ty)| (component + at, ty));
    let numbered: Vec<(usize, &str)> = numbered.collect();
    let assign = |writer: &mut Writer<'_>, values: &[String]| {
        for ((at, _), value) in numbered.iter().zip(values) {
            writer.statement(&format!("v{at} = {value};"));
        }
    };
    let define = |writer: &mut Writer<'_>| {
        for (at, ty) in &numbered {
            writer.statement(&format!("{ty} v{at} = value.c{at};"));
        }
    };
    match reduction.start {
        Start::None => {
            writer.statement(&format!("if (empty) {{ {fail_empty} return; }}"));
            define(writer);
        }
        Start::IfEmpty(thunk) => {
            define(writer);
            writer.statement("if (empty) {");
            start.write(writer);
            let values = writer.code(&thunk.code);
            assign(writer, &values);
            writer.statement("}");
        }
        Start::Combined(thunk) => {
            start.write(writer);
            let values = writer.code(&thunk.code);
            for ((at, ty), value) in numbered.iter().zip(&values) {
                writer.statement(&format!("{ty} v{at} = {value};"));
            }
            writer.statement("if (!empty) {");
            for ((register, ty), value) in operator.left.iter().zip(&values) {
                writer.bind(*register, *ty, value);
            }
            for ((register, ty), (at, _)) in operator.right.iter().zip(&numbered) {
                writer.bind(*register, *ty, format!("value.c{at}"));
            }
            let combined = writer.code(&operator.code);
            assign(writer, &combined);
            writer.statement("}");
        }
    }
}
