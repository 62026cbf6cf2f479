//! Scans, each on its own.

use weft_ir::ScalarType;
use weft_ir::code::Register;
use weft_ir::flat::{Dimension, ScanForm, Start};
use weft_ir::plan::Sink;

use super::{Draft, indices, needed, write_body};
use crate::fields::Field;
use crate::structure::{Place, Point, Vectors, operands};
use crate::text::{Length, Skeleton};

/// The entries for rows of one length, and for ragged rows.
const DENSE: [[&str; 3]; 2] = [
    [
        "scan_tiles",
        ", Rows rows, u32 tiles, Published<K> published, u32* ticket",
        "scan_tiles<K>(in, rows, tiles, published, ticket)",
    ],
    ["scan_rows", ", Rows rows", "scan_rows<K, 2>(in, rows)"],
];
/// And for several of them together, where there are several.
const GROUPS: [&str; 3] = [
    "scan_groups",
    ", Rows rows, Divisor length, u32 group",
    "scan_groups<K>(in, rows, length, group)",
];
const RAGGED: [[&str; 3]; 2] = [
    ["scan_blocks", ", Rows rows", "scan_blocks<K>(in, rows)"],
    ["scan_rows", ", Rows rows", "scan_rows<K, 6>(in, rows)"],
];

impl Draft<'_, '_> {
    /// The scan of a sink; where the epilogue finds its registers.
    pub(super) fn scan(&mut self, sink: usize) -> Vec<(Register, ScalarType, Field)> {
        let kernel = self.kernel;
        let Sink::Scan { values, form, from_right, operator, start, registers, arrays, .. } =
            &kernel.sinks[sink]
        else {
            return Vec::new();
        };
        let name = format!("scan{sink}");
        let over_points = *form != ScanForm::Full;
        let epilogue = kernel.epilogue.is_some() && over_points && !self.over_rows();
        let components: Vec<ScalarType> = operator.left.iter().map(|(_, ty)| *ty).collect();
        // From the right, vectors would have to be turned round.
        let vectors = Vectors::of(kernel, &[], self.shared.types).filter(|_| !from_right);
        let mut structure = self.structure(&name);
        // Results that nothing stores are kept for the epilogue only.
        let mut temporaries = 0;
        let targets: Vec<Option<Field>> = arrays
            .iter()
            .zip(&components)
            .map(|(array, ty)| match array {
                Some(array) => Some(Field::Output(*array)),
                None if epilogue => {
                    temporaries += 1;
                    Some(Field::Temporary(structure.temporary(*ty)))
                }
                None => None,
            })
            .collect();
        structure.element(&components);
        let form = match form {
            ScanForm::Inclusive => 0,
            ScanForm::Exclusive => 1,
            ScanForm::Full => 2,
        };
        let started = !matches!(start, Start::None);
        structure.member(&format!(
            "static constexpr bool REVERSED = {from_right}, STARTED = {started};\n\
             static constexpr int FORM = {form};"
        ));
        let point = indices(kernel, &mut structure, values, Point::InRow);
        structure.elements(vectors.as_ref(), &point, |writer| {
            write_body(kernel, writer, &point);
            let values = operands(writer, values).join(", ");
            writer.statement(&format!("return Element{{{values}}};"));
        });
        structure.combine(&[operator]);
        let outer = kernel.space[..kernel.space.len() - 1].to_vec();
        match start {
            Start::None => structure.member(
                "static __device__ __forceinline__ Element start(const Arguments&, i64) { return \
                 zero(); }",
            ),
            Start::Combined(thunk) | Start::IfEmpty(thunk) => {
                let code = [&thunk.code];
                let point =
                    needed(&outer, &thunk.indices, &code, &[], &mut structure, Point::Number);
                let signature = "Element start(const Arguments& in, i64 at)";
                let points = [&point];
                let place = Place::new("return Element{};", &points);
                structure.function(signature, place, |writer| {
                    point.write(writer);
                    let values = writer.code(&thunk.code).join(", ");
                    writer.statement(&format!("return Element{{{values}}};"));
                });
            }
        }
        let outputs: Vec<Option<String>> =
            targets.iter().map(|target| target.map(|target| structure.field(target))).collect();
        let signature = "void store(const Arguments& in, i64 to, const Element& value)";
        structure.function(signature, Place::new("return;", &[]), |writer| {
            for (at, output) in outputs.iter().enumerate() {
                if let Some(output) = output {
                    writer.statement(&format!("{output}[to] = value.c{at};"));
                }
            }
        });
        let is_ragged = matches!(kernel.space.last(), Some(Dimension::Ragged { .. }));
        let has_groups = !is_ragged && kernel.space.len() > 1;
        if has_groups {
            let staged = structure.policy().staged(&components);
            structure.member(&format!("static constexpr int STAGED = {staged};"));
        }
        let finished = structure.finish();
        self.lengths.extend(vec![Length::Points; temporaries]);
        let entries = if is_ragged { &RAGGED } else { &DENSE };
        let entries = entries.iter().chain(has_groups.then_some(&GROUPS));
        let entries: Vec<[String; 3]> = entries
            .map(|[entry, parameters, call]| {
                [format!("{entry}{sink}"), (*parameters).to_owned(), (*call).to_owned()]
            })
            .collect();
        self.piece(&name, finished, Skeleton::Scan { components, has_groups }, &entries);
        registers
            .iter()
            .zip(targets)
            .filter_map(|((register, ty), target)| {
                // What one piece writes another reads.
                let field = match target? {
                    Field::Output(var) => Field::Array(var),
                    other => other,
                };
                Some((*register, *ty, field))
            })
            .collect()
    }
}
