//! Stores point by point, and epilogues of scans.

use std::collections::{BTreeMap, BTreeSet};

use weft_ir::ScalarType;
use weft_ir::code::{Operand, Register};
use weft_ir::flat::Var;
use weft_ir::plan::Sink;

use super::{Draft, indices, needed, uses, write_body};
use crate::fields::Field;
use crate::structure::{Point, bind_indices};
use crate::text::Skeleton;

/// The entry of a map.
pub(super) const MAP: (&str, &str) = (", i64 points", "map<K>(in, points)");

impl Draft<'_, '_> {
    /// What the kernel stores at each point.
    pub(super) fn stores(&self) -> Vec<(Operand, Var)> {
        let store = |sink: &Sink| match sink {
            Sink::Store { value, array } => Some((*value, *array)),
            Sink::Reduce { .. }
            | Sink::Scan { .. }
            | Sink::Filter { .. }
            | Sink::Scatter { .. }
            | Sink::Sort { .. } => None,
        };
        self.kernel.sinks.iter().filter_map(store).collect()
    }

    /// The stores, on their own.
    pub(super) fn map(&mut self) {
        let kernel = self.kernel;
        let stores = self.stores();
        let mut structure = self.structure("map");
        let values: Vec<Operand> = stores.iter().map(|(value, _)| *value).collect();
        let point = indices(kernel, &mut structure, &values, Point::Number);
        let outputs: Vec<String> =
            stores.iter().map(|(_, array)| structure.field(Field::Output(*array))).collect();
        structure.function("void point(const Arguments& in, i64 at)", "return;", |writer| {
            write_body(kernel, writer, &point);
            for ((value, _), output) in stores.iter().zip(&outputs) {
                let value = writer.operand(value);
                writer.statement(&format!("{output}[at] = {value};"));
            }
        });
        let finished = structure.finish();
        self.piece("map", finished, Skeleton::Map, &[("map", MAP.0, MAP.1)]);
    }

    /// The epilogue of scans, at the points of the kernel; `scanned` are the fields that hold what the
    /// registers of the scans stand for.
    pub(super) fn scan_epilogue(&mut self, scanned: &[(Register, ScalarType, Field)]) {
        let kernel = self.kernel;
        let Some(epilogue) = &kernel.epilogue else { return };
        let mut used = BTreeSet::new();
        uses::code(&epilogue.code, &mut used);
        let values: Vec<Operand> = epilogue.stores.iter().map(|(value, _)| *value).collect();
        uses::operands(&values, &mut used);
        let of_body = used_of_body(kernel, &used);
        let mut structure = self.structure("epilogue");
        let body =
            (!of_body.is_empty()).then(|| indices(kernel, &mut structure, &values, Point::Number));
        let own = needed(&kernel.space, &epilogue.indices, &used, &mut structure, Point::Number);
        let inputs: Vec<(Register, ScalarType, String)> = scanned
            .iter()
            .filter(|(register, _, _)| used.contains(register))
            .map(|(register, ty, field)| (*register, *ty, structure.field(*field)))
            .collect();
        let outputs: Vec<String> = epilogue
            .stores
            .iter()
            .map(|(_, array)| structure.field(Field::Output(*array)))
            .collect();
        structure.function("void point(const Arguments& in, i64 at)", "return;", |writer| {
            if let Some(body) = &body {
                write_body(kernel, writer, body);
            }
            own.0.iter().for_each(|statement| writer.statement(statement));
            bind_indices(writer, &epilogue.indices, own.1);
            for (register, ty, field) in &inputs {
                writer.bind(*register, *ty, format!("{field}[at]"));
            }
            writer.code(&epilogue.code);
            for ((value, _), output) in epilogue.stores.iter().zip(&outputs) {
                let value = writer.operand(value);
                writer.statement(&format!("{output}[at] = {value};"));
            }
        });
        let finished = structure.finish();
        self.piece("epilogue", finished, Skeleton::Map, &[("epilogue", MAP.0, MAP.1)]);
    }
}

/// The registers of the body among some, with their types.
pub(super) fn used_of_body(
    kernel: &weft_ir::plan::Kernel,
    used: &BTreeSet<Register>,
) -> Vec<(Register, ScalarType)> {
    let indices = kernel.indices.iter().map(|&index| (index, ScalarType::I64));
    let bound: BTreeMap<Register, ScalarType> = kernel
        .body
        .instructions
        .iter()
        .flat_map(|instruction| instruction.results.iter().copied())
        .chain(indices)
        .collect();
    used.iter().filter_map(|register| Some((*register, *bound.get(register)?))).collect()
}
