//! Filters, and what follows them.

use std::collections::BTreeSet;

use weft_codegen::Dialect;
use weft_ir::ScalarType;
use weft_ir::code::{Operand, Register};
use weft_ir::plan::{Sink, epilogue_space};

use super::map::{POINT, entry, of_epilogue, store, used_of_body};
use super::{Draft, indices, uses, write_body};
use crate::fields::Field;
use crate::structure::{Place, Point, operands};
use crate::text::{Length, Skeleton};

impl Draft<'_, '_> {
    pub(super) fn filter(&mut self, sink: usize) {
        let kernel = self.kernel;
        let Sink::Filter { flag, counts, kept } = &kernel.sinks[sink] else { return };
        // What the epilogue sees of the body at a point that is kept.
        let mut used = BTreeSet::new();
        if let Some(epilogue) = &kernel.epilogue {
            uses::code(&epilogue.code, &mut used);
            let stored: Vec<Operand> = epilogue.stores.iter().map(|(value, _)| *value).collect();
            uses::operands(&stored, &mut used);
        }
        let seen = used_of_body(kernel, &used);
        let mut structure = self.structure("filter");
        let temporaries: Vec<usize> = seen.iter().map(|(_, ty)| structure.temporary(*ty)).collect();
        let positions = (counts.len() > 1).then(|| structure.temporary(ScalarType::I64));
        let outputs: Vec<Field> = kept
            .iter()
            .map(|(_, array)| Field::Output(*array))
            .chain(temporaries.iter().map(|at| Field::Temporary(*at)))
            .collect();
        let values: Vec<Operand> = kept
            .iter()
            .map(|(value, _)| *value)
            .chain(seen.iter().map(|(register, _)| Operand::Register(*register)))
            .collect();
        let outputs: Vec<String> =
            outputs.into_iter().map(|field| structure.field(field)).collect();
        let all: Vec<Operand> = values.iter().copied().chain([*flag]).collect();
        let point = indices(kernel, &mut structure, &all, Point::Number);
        let kept_types: Vec<ScalarType> = kept
            .iter()
            .map(|(_, array)| structure.type_of(*array))
            .chain(seen.iter().map(|(_, ty)| *ty))
            .collect();
        let components: Vec<String> = kept_types
            .iter()
            .enumerate()
            .map(|(at, ty)| format!("{} c{at};", Dialect::Cuda.type_name(*ty)))
            .collect();
        structure.member(&format!("struct Kept {{ {} }};", components.join(" ")));
        let signature = "bool kept(const Arguments& in, i64 at, Kept& values)";
        structure.function(signature, Place::new("return false;", &[&point]), |writer| {
            write_body(kernel, writer, &point);
            for (at, value) in operands(writer, &values).iter().enumerate() {
                writer.statement(&format!("values.c{at} = {value};"));
            }
            let flag = writer.operand(flag);
            writer.statement(&format!("return {flag};"));
        });
        let signature = "void store(const Arguments& in, i64 to, const Kept& values)";
        structure.function(signature, Place::new("return;", &[]), |writer| {
            for (at, output) in outputs.iter().enumerate() {
                writer.statement(&format!("{output}[to] = values.c{at};"));
            }
        });
        let items = items(&kept_types);
        structure.member(&format!("static constexpr int ITEMS = {items};"));
        let finished = structure.finish();
        self.lengths.extend(vec![Length::Points; temporaries.len()]);
        self.lengths.extend(positions.map(|_| Length::Positions));
        let entry = [
            "filter",
            ", i64 points, u64* status, u32* ticket, i64* total, i64* positions",
            "filter<K>(in, points, status, ticket, total, positions)",
        ];
        let entry = entry.map(str::to_owned);
        self.piece("filter", finished, Skeleton::Filter { positions, items }, &[entry]);
        self.kept_epilogue(&seen, &temporaries);
    }

    fn kept_epilogue(&mut self, seen: &[(Register, ScalarType)], temporaries: &[usize]) {
        let kernel = self.kernel;
        let (Some(epilogue), Some(space)) = (&kernel.epilogue, epilogue_space(kernel)) else {
            return;
        };
        let mut structure = self.structure("epilogue");
        let point = of_epilogue(&space, epilogue, &mut structure, Point::Number);
        let inputs: Vec<String> =
            temporaries.iter().map(|at| structure.field(Field::Temporary(*at))).collect();
        let outputs: Vec<String> = epilogue
            .stores
            .iter()
            .map(|(_, array)| structure.field(Field::Output(*array)))
            .collect();
        structure.function(POINT, Place::new("return;", &[&point]), |writer| {
            point.write(writer);
            for ((register, ty), input) in seen.iter().zip(&inputs) {
                writer.bind(*register, *ty, format!("{input}[at]"));
            }
            writer.code(&epilogue.code);
            store(writer, &epilogue.stores, &outputs);
        });
        let finished = structure.finish();
        self.piece("epilogue", finished, Skeleton::MapKept, &[entry("epilogue", false)]);
    }
}

/// Points of a thread, whose values it holds in registers: all have loads under way at once, and what a tile
/// does once for all of them, as looking back, costs each less.
fn items(kept: &[ScalarType]) -> u64 {
    match kept.iter().map(|ty| ty.bytes().max(4)).sum::<usize>() {
        0..=4 => 20,
        5..=8 => 8,
        _ => 4,
    }
}
