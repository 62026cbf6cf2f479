//! Sorts: keys become unsigned integers in the order of numerics.md.
//!
//! Note [Keys alone]. Where an order only serves to bring the keys of one row into it ([`weft_ir::plan::sorted_keys`]),
//! the keys are sorted alone: half as much goes through each pass, and nothing is read through the order. The last pass
//! makes elements of them again, which is why they have to be as wide as numbers are in passes. The launch that would
//! have brought them into order is none then.

use weft_ir::ScalarType;
use weft_ir::flat::{Dimension, Type, Var};
use weft_ir::plan::{Sink, SortedKeys, Step, sorted_keys};

use super::map::{POINT, entry};
use super::{Draft, indices, write_body};
use crate::fields::Field;
use crate::structure::{Place, Point, operands};
use crate::text::{Alone, Flips, Length, Skeleton};

/// What the launch behind a sort would yield, if keys are sorted alone.
pub(super) fn sorted_alone(steps: &[Step], at: usize, types: &[Type]) -> Option<Var> {
    let SortedKeys { sorted, order: None, .. } = sorted_keys(steps, at)? else { return None };
    let Step::Launch(kernel) = &steps[at] else { return None };
    let is_row = matches!(kernel.space[..], [Dimension::Dense(_)]);
    let is_as_wide = types[sorted.0 as usize].element.bytes() >= 4;
    (is_row && is_as_wide).then_some(sorted)
}

impl Draft<'_, '_> {
    /// With what becomes of the keys, if they are wanted in place of the order.
    pub(super) fn sort(&mut self, sink: usize, sorted: Option<Var>) {
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
        let alone = sorted.map(|sorted| Alone { sorted, flips: flips(types[0], *descending) });
        let keys = temporaries.into_iter().zip(types.iter().map(bits)).collect();
        let skeleton = Skeleton::Sort { keys, alone };
        self.piece("sort", finished, skeleton, &[entry("sort_keys", false)]);
    }
}

/// How keys that [`ordered`] made of elements become those again.
fn flips(ty: ScalarType, descending: bool) -> Flips {
    let sign = 1 << (8 * ty.bytes() - 1);
    let (all, if_one, if_zero) = match ty {
        ScalarType::I32 | ScalarType::I64 => (sign, 0, 0),
        ScalarType::F32 | ScalarType::F64 => (0, sign, u64::MAX),
        _ => (0, 0, 0),
    };
    Flips { all: if descending { !all } else { all }, if_one, if_zero }
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
