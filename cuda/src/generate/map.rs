//! Stores point by point, and epilogues of scans.

use std::collections::{BTreeMap, BTreeSet};

use weft_codegen::Writer;
use weft_ir::ScalarType;
use weft_ir::code::{Operand, Register};
use weft_ir::flat::{Space, Var};
use weft_ir::plan::{Epilogue, Sink};

use super::{Draft, indices, needed, uses, write_body};
use crate::fields::Field;
use crate::structure::{Indices, Place, Point, Structure, Vectors};
use crate::text::Skeleton;

/// The function of a map of vectors.
const POINT_OF_VECTOR: &str = "template <int N> void point(const Arguments& in, i64 at, const \
                               Loaded<N>& from, Stored<N>& to, int lane)";

/// The function of a map.
pub(super) const POINT: &str = "void point(const Arguments& in, i64 at)";

/// The entry of a map.
pub(super) fn entry(name: &str, vectors: bool) -> [String; 3] {
    let skeleton = if vectors { "map_vectors" } else { "map" };
    [name.to_owned(), ", i64 points".to_owned(), format!("{skeleton}<K>(in, points)")]
}

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
        let arrays: Vec<Var> = stores.iter().map(|(_, array)| *array).collect();
        let vectors = Vectors::of(kernel, &arrays, self.shared.types);
        let mut structure = self.structure("map");
        let values: Vec<Operand> = stores.iter().map(|(value, _)| *value).collect();
        let point = indices(kernel, &mut structure, &values, Point::Number);
        if let Some(vectors) = &vectors {
            let targets = stores.iter().map(|(_, array)| format!("to.a{}[lane]", array.0));
            let targets: Vec<String> = targets.collect();
            structure.vectors(vectors);
            let place = Place { leave: "return;", points: &[&point], loaded: &vectors.loaded };
            structure.function(POINT_OF_VECTOR, place, |writer| {
                write_body(kernel, writer, &point);
                for ((value, _), target) in stores.iter().zip(&targets) {
                    let value = writer.operand(value);
                    writer.statement(&format!("{target} = {value};"));
                }
            });
        } else {
            let outputs: Vec<String> =
                stores.iter().map(|(_, array)| structure.field(Field::Output(*array))).collect();
            structure.function(POINT, Place::new("return;", &[&point]), |writer| {
                write_body(kernel, writer, &point);
                store(writer, &stores, &outputs);
            });
        }
        let finished = structure.finish();
        let entry = entry("map", vectors.is_some());
        self.piece("map", finished, Skeleton::Map, &[entry]);
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
        let body = match of_body.is_empty() {
            true => Indices::default(),
            false => indices(kernel, &mut structure, &values, Point::Number),
        };
        let own = of_epilogue(&kernel.space, epilogue, &mut structure, Point::Number);
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
        structure.function(POINT, Place::new("return;", &[&body, &own]), |writer| {
            if !of_body.is_empty() {
                write_body(kernel, writer, &body);
            }
            own.write(writer);
            for (register, ty, field) in &inputs {
                writer.bind(*register, *ty, format!("{field}[at]"));
            }
            writer.code(&epilogue.code);
            store(writer, &epilogue.stores, &outputs);
        });
        let finished = structure.finish();
        self.piece("epilogue", finished, Skeleton::Map, &[entry("epilogue", false)]);
    }
}

/// Stores values at the point.
pub(super) fn store(writer: &mut Writer<'_>, stores: &[(Operand, Var)], outputs: &[String]) {
    for ((value, _), output) in stores.iter().zip(outputs) {
        let value = writer.operand(value);
        writer.statement(&format!("{output}[at] = {value};"));
    }
}

/// The indices that an epilogue needs.
pub(super) fn of_epilogue(
    space: &Space,
    epilogue: &Epilogue,
    structure: &mut Structure<'_, '_>,
    point: Point,
) -> Indices {
    let values: Vec<Operand> = epilogue.stores.iter().map(|(value, _)| *value).collect();
    needed(space, &epilogue.indices, &[&epilogue.code], &values, structure, point)
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
