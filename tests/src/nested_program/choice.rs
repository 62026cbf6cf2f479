//! The choices that a random program is made of: numbers, scalars, arrays.

use super::{Arc, Array, Column, ColumnBuilder, Scalar, ScalarType, Type, Value};

/// What constants of type `f64` are.
const FLOATS: [f64; 12] =
    [0.0, -0.0, 0.0, -0.0, 1.0, 1.0, 0.1, -2.5, 4.0, 7.0, f64::INFINITY, f64::NAN];

/// A sequence of numbers from a seed (SplitMix64).
pub(super) struct Random {
    state: u64,
}

impl Random {
    pub(super) fn new(seed: u64) -> Random {
        Random { state: seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) }
    }

    fn bits(&mut self) -> u64 {
        self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut bits = self.state;
        bits = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        bits ^ (bits >> 31)
    }

    /// A number below `count`.
    pub(super) fn below(&mut self, count: usize) -> usize {
        (self.bits() % count as u64) as usize
    }

    /// True once in a while.
    pub(super) fn rarely(&mut self) -> bool {
        self.below(25) == 0
    }

    pub(super) fn of<'a, T>(&mut self, choices: &'a [T]) -> &'a T {
        &choices[self.below(choices.len())]
    }

    /// A scalar; now and then one that is special.
    pub(super) fn scalar(&mut self, ty: ScalarType) -> Scalar {
        match ty {
            ScalarType::Bool => Scalar::Bool(self.below(2) == 0),
            ScalarType::I64 => Scalar::I64(*self.of(&[0, 1, 1, 2, 3, -1, 5, i64::MIN])),
            ScalarType::F64 => Scalar::F64(*self.of(&FLOATS)),
            other => Scalar::zero(other),
        }
    }

    /// An array of a few elements of that type.
    pub(super) fn column(&mut self, ty: Type) -> Column {
        let host =
            (0..ty.rank).fold(weft_ir::Type::Scalar(ty.element), |ty, _| weft_ir::Type::array(ty));
        let mut builder = ColumnBuilder::new(&host);
        let is_regular = self.below(2) == 0;
        for _ in 0..self.below(5) {
            let value = match ty.rank {
                0 => Value::Scalar(self.scalar(ty.element)),
                _ if is_regular => {
                    let scalars = (0..3).map(|_| self.scalar(ty.element)).collect::<Vec<_>>();
                    let mut row = ColumnBuilder::new(&weft_ir::Type::Scalar(ty.element));
                    scalars.into_iter().for_each(|scalar| row.push_scalar(scalar));
                    Value::Array(Arc::new(row.finish_array()))
                }
                _ => Value::Array(Arc::new(Array::new(self.column(ty.element())))),
            };
            builder.push(&value);
        }
        builder.finish()
    }

    /// A value of that type.
    pub(super) fn value(&mut self, ty: Type) -> Value {
        match ty.rank {
            0 => Value::Scalar(self.scalar(ty.element)),
            _ => Value::Array(Arc::new(Array::new(self.column(ty.element())))),
        }
    }
}
