//! Sorts: keys become unsigned integers in the order of numerics.md.

use weft_ir::ScalarType;
use weft_ir::plan::Sink;

use super::map::{POINT, entry};
use super::{Draft, indices, write_body};
use crate::fields::Field;
use crate::structure::{Place, Point, operands};
use crate::text::{Length, Skeleton};

impl Draft<'_, '_> {
    pub(super) fn sort(&mut self, sink: usize) {
        let kernel = self.kernel;
        let Sink::Sort { keys, descending, .. } = &kernel.sinks[sink] else { return };
        let types = self.types_of(keys);
        let mut structure = self.structure("sort");
        // All of one type, so that the order fits to each.
        let wide = types.iter().any(|ty| ty.bytes() > 4);
        let ty = if wide { ScalarType::U64 } else { ScalarType::U32 };
        let temporaries: Vec<usize> = keys.iter().map(|_| structure.temporary(ty)).collect();
        let point = indices(kernel, &mut structure, keys, Point::Number);
        let outputs: Vec<String> =
            temporaries.iter().map(|at| structure.field(Field::Temporary(*at))).collect();
        structure.function(POINT, Place::new("return;", &[&point]), |writer| {
            write_body(kernel, writer, &point);
            let keys = operands(writer, keys);
            for ((key, output), of_key) in keys.iter().zip(&outputs).zip(&types) {
                let (ordered, mask) = ordered(key, *of_key);
                let ordered = match descending {
                    true => format!("~({ordered}) & {mask}"),
                    false => ordered,
                };
                let ty = weft_codegen::Dialect::Cuda.type_name(ty);
                writer.statement(&format!("{output}[at] = ({ty})({ordered});"));
            }
        });
        let finished = structure.finish();
        self.lengths.extend(vec![Length::Points; temporaries.len()]);
        let bits = |ty: &ScalarType| match ty {
            ScalarType::Bool => 1,
            other => 8 * other.bytes() as u32,
        };
        let keys = temporaries.into_iter().zip(types.iter().map(bits)).collect();
        self.piece("sort", finished, Skeleton::Sort(keys), &[entry("sort_keys", false)]);
    }
}

/// A key as an expression of type `u64` that is ordered as numerics.md orders, and the bits it uses.
fn ordered(key: &str, ty: ScalarType) -> (String, &'static str) {
    match ty {
        ScalarType::Bool => (format!("(u64){key}"), "1ull"),
        ScalarType::U8 | ScalarType::Char => (format!("(u64){key}"), "0xffull"),
        ScalarType::U16 => (format!("(u64){key}"), "0xffffull"),
        ScalarType::U32 => (format!("(u64){key}"), "0xffffffffull"),
        ScalarType::U64 => (format!("(u64){key}"), "~0ull"),
        ScalarType::I8 => (format!("(u64)((u8){key} ^ 0x80u)"), "0xffull"),
        ScalarType::I16 => (format!("(u64)((u16){key} ^ 0x8000u)"), "0xffffull"),
        ScalarType::I32 => (format!("(u64)((u32){key} ^ 0x80000000u)"), "0xffffffffull"),
        ScalarType::I64 => (format!("(u64){key} ^ 0x8000000000000000ull"), "~0ull"),
        ScalarType::F32 => (format!("ordered_f32(bits_f32({key}))"), "0xffffffffull"),
        ScalarType::F64 => (format!("ordered_f64(bits_f64({key}))"), "~0ull"),
    }
}
