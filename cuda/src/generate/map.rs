//! Stores point by point, and epilogues of scans.

use std::collections::{BTreeMap, BTreeSet};

use weft_codegen::Writer;
use weft_ir::ScalarType;
use weft_ir::code::{Operand, Register};
use weft_ir::flat::{Dimension, Space, Var};
use weft_ir::plan::{Epilogue, Kernel, Sink};

use super::interior::{Interior, Limit, interior, limits, needed_by};
use super::transposed::transposed;
use super::{Draft, indices, needed, uses, write_body};
use crate::fields::Field;
use crate::structure::{Indices, Place, Point, Stand, Structure, Vectors};
use crate::text::Skeleton;

/// The function of a map of vectors.
const POINT_OF_VECTOR: &str = "template <int N> void point(const Arguments& in, i64 at, const \
                               Loaded<N>& from, Stored<N>& to, int lane)";

/// The function of a map of vectors away from the edges.
const INSIDE: &str = "template <int N> bool inside(const Arguments& in, i64 first, const Loaded<N>& \
                      from, Stored<N>& to)";

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
            Sink::Interleave { .. }
            | Sink::Reduce { .. }
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
        let values: Vec<Operand> = stores.iter().map(|(value, _)| *value).collect();
        let interior = interior(kernel, &values);
        let usual = interior.as_ref().map_or(&kernel.body, |interior| &interior.code);
        let vectors = Vectors::of_body(kernel, usual, &arrays, self.shared.types);
        let mut structure = self.structure("map");
        let point = indices(kernel, &mut structure, &values, Point::Number);
        if let Some(vectors) = &vectors {
            let targets = stores.iter().map(|(_, array)| format!("to.a{}[lane]", array.0));
            let targets: Vec<String> = targets.collect();
            let apart = interior.is_some();
            structure.vectors(vectors, if apart { Stand::Apart } else { Stand::Together });
            let place = Place {
                leave: "return;",
                points: &[&point],
                loaded: &vectors.loaded,
                is_checked: false,
            };
            structure.function(POINT_OF_VECTOR, place, |writer| {
                write_body(kernel, writer, &point);
                for ((value, _), target) in stores.iter().zip(&targets) {
                    let value = writer.operand(value);
                    writer.statement(&format!("{target} = {value};"));
                }
            });
            match &interior {
                Some(interior) => inside(kernel, &mut structure, interior, vectors, &targets),
                None => structure.member("static constexpr bool INSIDE = false;"),
            }
        } else {
            let outputs: Vec<String> =
                stores.iter().map(|(_, array)| structure.field(Field::Output(*array))).collect();
            structure.function(POINT, Place::new("return;", &[&point]), |writer| {
                write_body(kernel, writer, &point);
                store(writer, &stores, &outputs);
            });
        }
        let transposed = transposed(kernel, &mut structure, &stores);
        let finished = structure.finish();
        let mut entries = vec![entry("map", vectors.is_some())];
        if transposed {
            let entry =
                ["map_transposed", ", i64 down, i64 across", "map_transposed<K>(in, down, across)"];
            entries.push(entry.map(str::to_owned));
        }
        self.piece("map", finished, Skeleton::Map { transposed }, &entries);
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
        self.piece(
            "epilogue",
            finished,
            Skeleton::Map { transposed: false },
            &[entry("epilogue", false)],
        );
    }
}

/// Adds the function that does points away from the edges, if all of a vector are.
fn inside(
    kernel: &Kernel,
    structure: &mut Structure<'_, '_>,
    interior: &Interior,
    vectors: &Vectors,
    targets: &[String],
) {
    let Interior { code, bounds } = interior;
    let all: BTreeSet<Register> = kernel.indices.iter().copied().collect();
    let point = structure.indices(&kernel.space, &kernel.indices, &all, Point::Number);
    let last = kernel.indices.len() - 1;
    let extent = match kernel.space[last] {
        Dimension::Dense(extent) | Dimension::Ragged { total: extent, .. } => {
            structure.size(extent)
        }
    };
    let limits = needed_by(code, limits(bounds));
    structure.member("static constexpr bool INSIDE = true;");
    let place = Place {
        leave: "return true;",
        points: &[&point],
        loaded: &vectors.loaded,
        is_checked: false,
    };
    structure.function(INSIDE, place, |writer| {
        writer.statement("const i64 at = first;");
        point.write(writer);
        writer.code(&limits);
        let index = |at: usize| kernel.indices[at];
        let mut holds = vec![format!("{} + (N - 1) * APART < {extent}", index(last))];
        for (at, least) in bounds.least.iter().filter(|(_, least)| **least > 0) {
            holds.push(format!("{} >= {least}", index(*at)));
        }
        for ((at, limit), more) in &bounds.most {
            let limit = match limit {
                Limit::Register(register) => writer.operand(&Operand::Register(*register)),
                Limit::Number(number) => format!("{number}LL"),
            };
            let more = match *at == last {
                true => format!("{more} + (N - 1) * APART"),
                false => more.to_string(),
            };
            holds.push(format!("{} + {more} <= {limit}", index(*at)));
        }
        writer.statement(&format!("if (!({})) return false;", holds.join(" && ")));
        writer.statement(&format!("const i64 last = {};", index(last)));
        writer.statement("#pragma unroll");
        writer.statement("for (int lane = 0; lane < N; lane++) {");
        writer.statement("const i64 at = first + lane * APART;");
        point.write_moved(writer, "lane * APART");
        for (value, target) in writer.code(code).iter().zip(targets) {
            writer.statement(&format!("{target} = {value};"));
        }
        writer.statement("}");
        writer.statement("return true;");
    });
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
    kernel: &Kernel,
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
