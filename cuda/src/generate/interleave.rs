//! Kernels that store rows of few elements, each element computed in a way of its own (Note [Interleaved results] in
//! `weft_ir::plan`): a thread has a row. The threads of a warp write one element of each of their rows after the other, so
//! that the lines of memory that they share are complete by the time they leave the cache.

use weft_ir::code::Operand;
use weft_ir::plan::Sink;

use super::map::{POINT, entry};
use super::{Draft, indices, write_body};
use crate::fields::Field;
use crate::structure::{Place, Point};
use crate::text::Skeleton;

impl Draft<'_, '_> {
    /// The stores, some of them of rows.
    pub(super) fn interleave(&mut self) {
        let kernel = self.kernel;
        let values: Vec<Operand> = kernel.sinks.iter().flat_map(Sink::operands).copied().collect();
        let mut structure = self.structure("map");
        let point = indices(kernel, &mut structure, &values, Point::Number);
        let mut places = Vec::with_capacity(values.len());
        for sink in &kernel.sinks {
            let elements = sink.operands().count();
            for array in sink.results() {
                let output = structure.field(Field::Output(*array));
                places.extend((0..elements).map(|of| match elements {
                    1 => format!("{output}[at]"),
                    _ => format!("{output}[at * {elements} + {of}]"),
                }));
            }
        }
        structure.function(POINT, Place::new("return;", &[&point]), |writer| {
            write_body(kernel, writer, &point);
            for (value, place) in values.iter().zip(&places) {
                let value = writer.operand(value);
                writer.statement(&format!("{place} = {value};"));
            }
        });
        let finished = structure.finish();
        let skeleton = Skeleton::Map { transposed: false };
        self.piece("map", finished, skeleton, &[entry("map", false)]);
    }
}
