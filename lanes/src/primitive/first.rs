//! Where rows have their extremes.
//!
//! Note [First extremes]. `argmax` folds pairs of an element and a position: of two pairs the second one stays
//! if its element is greater. Any bracketing gives the same pair, the first with the extreme of all elements,
//! bit for bit but for NaNs, which all count as the same. So the extreme is found first, in lanes, and then where it
//! is.

use crate::lanes::{Elements, Lane};

use super::kernels::Kernels;
use super::{Primitive, Rows, with_kernels};

/// How many elements are compared before it is asked whether one of them was meant.
const GROUP: usize = 128;

/// Elements that can be found.
trait Find: Lane {
    /// The position of the first element with these bits, all NaNs being the same.
    fn find(self, elements: &[Self]) -> Option<usize>;
}

impl Primitive {
    /// Where among the values each row first has its extreme, if it has any; of a minimum or a maximum.
    pub fn first_extremes(&self, values: Elements<'_>, rows: Rows<'_>) -> Vec<Option<usize>> {
        with_kernels!(self, T, kernels => first_extremes::<T>(kernels, T::elements(values), rows))
    }
}

fn first_extremes<T: Find>(
    kernels: &Kernels<T>,
    values: &[T],
    rows: Rows<'_>,
) -> Vec<Option<usize>> {
    let mut extremes = Vec::new();
    kernels.fold_rows(values, rows, usize::MAX, &mut extremes);
    let of_row = |(row, extreme): (usize, T)| {
        let row = rows.row(row, values.len());
        Some(row.start + extreme.find(&values[row])?)
    };
    extremes.into_iter().enumerate().map(of_row).collect()
}

/// The position of the first element of which something is true.
#[inline(always)]
fn position<T: Lane>(elements: &[T], is_meant: impl Fn(T) -> bool) -> Option<usize> {
    let mut groups = elements.chunks(GROUP).enumerate();
    let any = |group: &[T]| group.iter().fold(false, |any, &element| any | is_meant(element));
    let (number, group) = groups.find(|(_, group)| any(group))?;
    Some(number * GROUP + group.iter().position(|&element| is_meant(element))?)
}

macro_rules! find_exactly {
    ($($rust:ty)*) => {$(
        impl Find for $rust {
            fn find(self, elements: &[$rust]) -> Option<usize> {
                position(elements, |element| element == self)
            }
        }
    )*};
}
find_exactly!(i8 i16 i32 i64 u8 u16 u32 u64 bool);

macro_rules! find_float {
    ($($rust:ty)*) => {$(
        impl Find for $rust {
            fn find(self, elements: &[$rust]) -> Option<usize> {
                if self.is_nan() {
                    position(elements, <$rust>::is_nan)
                } else if self == 0.0 {
                    position(elements, |element| element.to_bits() == self.to_bits())
                } else {
                    position(elements, |element| element == self)
                }
            }
        }
    )*};
}
find_float!(f32 f64);

#[cfg(test)]
mod tests {
    use weft_ir::ScalarOp;

    use crate::lanes::{Elements, LaneType};
    use crate::operators::primitive;
    use crate::primitive::Rows;

    #[test]
    fn the_first_of_the_same_bits_is_found() {
        let find = |op, values: &[f64], rows: Rows<'_>| {
            let primitive = primitive(op, LaneType::F64).expect("a common operator");
            primitive.first_extremes(Elements::F64(values), rows)
        };
        let (nan, one) = (f64::NAN, Rows::One);
        assert_eq!(find(ScalarOp::Max, &[-0.0, 0.0, 0.0], one), [Some(1)]);
        assert_eq!(find(ScalarOp::Min, &[0.0, -0.0, -0.0], one), [Some(1)]);
        assert_eq!(find(ScalarOp::Max, &[5.0, -nan, nan, 7.0], one), [Some(1)]);
        assert_eq!(find(ScalarOp::Min, &[3.0, 1.0, 2.0, 1.0], one), [Some(1)]);
        let offsets = Rows::Ragged(&[7, 9, 9, 10]);
        assert_eq!(find(ScalarOp::Max, &[1.0, 2.0, 3.0], offsets), [Some(1), None, Some(2)]);
        let even = Rows::Even { count: 2, length: 300 };
        let mut values = vec![0.5; 600];
        (values[299], values[450], values[460]) = (1.0, 1.0, 1.0);
        assert_eq!(find(ScalarOp::Max, &values, even), [Some(299), Some(450)]);
        assert_eq!(find(ScalarOp::Min, &values, even), [Some(0), Some(300)]);
    }
}
