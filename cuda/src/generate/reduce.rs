//! Reductions: all of a kernel at once, on tuples of their components.

use std::collections::BTreeSet;

use weft_codegen::Writer;
use weft_ir::code::{Operand, Operator, Register, Thunk};
use weft_ir::flat::{Dimension, Start, Var};
use weft_ir::plan::Sink;
use weft_ir::{FaultKind, ScalarType};

use super::{Draft, indices, needed, uses, write_body};
use crate::fields::Field;
use crate::structure::{Point, bind_indices, operands};
use crate::text::Skeleton;

/// A reduction of the kernel.
struct Reduction<'k> {
    values: &'k [Operand],
    operator: &'k Operator,
    start: &'k Start<Thunk>,
    registers: &'k [(Register, ScalarType)],
    arrays: &'k [Option<Var>],
}

/// The entries for rows of one length, and for ragged rows.
const DENSE: [(&str, &str, &str); 2] = [
    (
        "reduce_tiles",
        ", Rows rows, i64 tiles, K::Scratch scratch, i64 per_row, u32* counters",
        "reduce_tiles<K>(in, rows, tiles, scratch, per_row, counters)",
    ),
    ("reduce_rows", ", Rows rows", "reduce_rows<K, false>(in, rows)"),
];
const RAGGED: [(&str, &str, &str); 2] = [
    ("reduce_blocks", ", Rows rows", "reduce_blocks<K>(in, rows)"),
    ("reduce_rows", ", Rows rows", "reduce_rows<K, true>(in, rows)"),
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
        let mut structure = self.structure("reduce");
        structure.element(&components);
        let values: Vec<Operand> =
            reductions.iter().flat_map(|reduction| reduction.values).copied().collect();
        let all: Vec<Operand> =
            values.iter().copied().chain(stores.iter().map(|(value, _)| *value)).collect();
        let point = indices(kernel, &mut structure, &all, Point::InRow);
        let outputs: Vec<String> =
            stores.iter().map(|(_, array)| structure.field(Field::Output(*array))).collect();
        let signature = "Element element(const Arguments& in, i64 row, i64 at)";
        structure.function(signature, "return Element{};", |writer| {
            write_body(kernel, writer, &point);
            for ((value, _), output) in stores.iter().zip(&outputs) {
                let value = writer.operand(value);
                writer.statement(&format!("{output}[at] = {value};"));
            }
            let values = operands(writer, &values).join(", ");
            writer.statement(&format!("return Element{{{values}}};"));
        });
        let operators: Vec<&Operator> =
            reductions.iter().map(|reduction| reduction.operator).collect();
        structure.combine(&operators);

        let outer = &kernel.space[..kernel.space.len() - 1];
        let starts: Vec<Option<(Vec<String>, usize)>> = reductions
            .iter()
            .map(|reduction| match reduction.start {
                Start::None => None,
                Start::Combined(thunk) | Start::IfEmpty(thunk) => {
                    let mut used = BTreeSet::new();
                    uses::code(&thunk.code, &mut used);
                    let point = needed(outer, &thunk.indices, &used, &mut structure, Point::Number);
                    Some(point)
                }
            })
            .collect();
        let empty_site = structure.site(FaultKind::EmptyArray, kernel.span);
        let arrays: Vec<Option<String>> = reductions
            .iter()
            .flat_map(|reduction| reduction.arrays)
            .map(|array| array.map(|array| structure.field(Field::Output(array))))
            .collect();
        let epilogue = kernel.epilogue.as_ref().filter(|_| over_rows).map(|epilogue| {
            let mut used = BTreeSet::new();
            uses::code(&epilogue.code, &mut used);
            let values: Vec<Operand> = epilogue.stores.iter().map(|(value, _)| *value).collect();
            uses::operands(&values, &mut used);
            let point = needed(outer, &epilogue.indices, &used, &mut structure, Point::Number);
            let outputs: Vec<String> = epilogue
                .stores
                .iter()
                .map(|(_, array)| structure.field(Field::Output(*array)))
                .collect();
            (epilogue, point, outputs)
        });
        let signature =
            "void finish(const Arguments& in, i64 row, bool empty, const Element& value)";
        structure.function(signature, "return;", |writer| {
            writer.statement("const i64 at = row;");
            let mut component = 0;
            for (reduction, start) in reductions.iter().zip(&starts) {
                started(writer, reduction, start.as_ref(), component, empty_site);
                component += reduction.registers.len();
            }
            for (at, array) in arrays.iter().enumerate() {
                if let Some(array) = array {
                    writer.statement(&format!("{array}[row] = v{at};"));
                }
            }
            let Some((epilogue, point, outputs)) = &epilogue else { return };
            point.0.iter().for_each(|statement| writer.statement(statement));
            bind_indices(writer, &epilogue.indices, point.1);
            let registers = reductions.iter().flat_map(|reduction| reduction.registers);
            for (at, (register, ty)) in registers.enumerate() {
                writer.bind(*register, *ty, format!("v{at}"));
            }
            writer.code(&epilogue.code);
            for ((value, _), output) in epilogue.stores.iter().zip(outputs) {
                let value = writer.operand(value);
                writer.statement(&format!("{output}[row] = {value};"));
            }
        });
        let finished = structure.finish();
        let entries = match kernel.space.last() {
            Some(Dimension::Ragged { .. }) => &RAGGED,
            Some(Dimension::Dense(_)) | None => &DENSE,
        };
        self.piece("reduce", finished, Skeleton::Reduce(components), entries);
    }
}

/// Defines `v0`, `v1`, …: what a reduction yields, its start combined.
fn started(
    writer: &mut Writer<'_>,
    reduction: &Reduction<'_>,
    start: Option<&(Vec<String>, usize)>,
    component: usize,
    empty_site: usize,
) {
    for (at, (_, ty)) in reduction.operator.left.iter().enumerate() {
        let (at, ty) = (component + at, weft_codegen::Dialect::Cuda.type_name(*ty));
        writer.statement(&format!("{ty} v{at} = value.c{at};"));
    }
    let assign = |writer: &mut Writer<'_>, values: &[String]| {
        for (at, value) in values.iter().enumerate() {
            writer.statement(&format!("v{} = {value};", component + at));
        }
    };
    match (reduction.start, start) {
        (Start::IfEmpty(thunk), Some((statements, first))) => {
            writer.statement("if (empty) {");
            statements.iter().for_each(|statement| writer.statement(statement));
            bind_indices(writer, &thunk.indices, *first);
            let values = writer.code(&thunk.code);
            assign(writer, &values);
            writer.statement("}");
        }
        (Start::Combined(thunk), Some((statements, first))) => {
            writer.statement("{");
            statements.iter().for_each(|statement| writer.statement(statement));
            bind_indices(writer, &thunk.indices, *first);
            let values = writer.code(&thunk.code);
            writer.statement("if (empty) {");
            assign(writer, &values);
            writer.statement("} else {");
            let operator = reduction.operator;
            for ((register, ty), value) in operator.left.iter().zip(&values) {
                writer.bind(*register, *ty, value);
            }
            for (at, (register, ty)) in operator.right.iter().enumerate() {
                writer.bind(*register, *ty, format!("value.c{}", component + at));
            }
            let combined = writer.code(&operator.code);
            assign(writer, &combined);
            writer.statement("}");
            writer.statement("}");
        }
        (_, _) => {
            writer.statement(&format!("if (empty) {{ fail(in.failure, {empty_site}); return; }}"));
        }
    }
}
