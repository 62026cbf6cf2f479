//! Operators that everybody who folds likes to know.

use super::{Operand, Operation, Operator};
use crate::{Scalar, ScalarOp};

impl Operator {
    /// Whether it is the sum of two numbers.
    pub fn is_sum(&self) -> bool {
        let ([left], [right], [sum]) =
            (&self.left[..], &self.right[..], &self.code.instructions[..])
        else {
            return false;
        };
        let (left, right) = (Operand::Register(left.0), Operand::Register(right.0));
        matches!(&sum.operation, Operation::Scalar(ScalarOp::Add, operands)
            if *operands == [left, right] || *operands == [right, left])
            && self.code.results == [Operand::Register(sum.results[0].0)]
    }

    /// Whether it adds up products with one rounding each: (s, t) ⊕ (a, b) = (fma a b (s·t), 1), on pairs of
    /// floats that stand for their products (Note [Sums of products] in lowering).
    ///
    /// Then (−0, 1) is neutral on the left, and to what has been combined once a pair (a, b) adds `fma a b s`.
    pub fn is_sum_of_products(&self) -> bool {
        let ([s, t], [a, b], [earlier, sum]) =
            (&self.left[..], &self.right[..], &self.code.instructions[..])
        else {
            return false;
        };
        let [s, t, a, b] = [s, t, a, b].map(|(register, _)| Operand::Register(*register));
        let is_earlier = matches!(&earlier.operation, Operation::Scalar(ScalarOp::Mul, operands)
            if *operands == [s, t] || *operands == [t, s]);
        let product = Operand::Register(earlier.results[0].0);
        let is_fused = matches!(&sum.operation, Operation::Scalar(ScalarOp::Fma, operands)
            if *operands == [a, b, product] || *operands == [b, a, product]);
        let [first, Operand::Scalar(Scalar::F32(1.0) | Scalar::F64(1.0))] = self.code.results[..]
        else {
            return false;
        };
        is_earlier && is_fused && first == Operand::Register(sum.results[0].0)
    }
}

#[cfg(test)]
mod tests {
    use crate::code::{Operator, parse_operator};
    use crate::text::Reader;

    fn operator(text: &str) -> Operator {
        parse_operator(&mut Reader::new(text).expect("tokens")).expect("an operator")
    }

    #[test]
    fn sums_are_known() {
        for known in ["r2: f32 = add r0 r1", "r2: f32 = add r1 r0"] {
            assert!(operator(&format!("by (r0: f32) (r1: f32)\n{known}\nyield r2")).is_sum());
        }
        for other in ["r2: f32 = add r0 r0", "r2: f32 = mul r0 r1"] {
            assert!(!operator(&format!("by (r0: f32) (r1: f32)\n{other}\nyield r2")).is_sum());
        }
    }

    #[test]
    fn sums_of_products_are_known() {
        let pairs = |earlier: &str, sum: &str, results: &str| {
            let sides = "by (r0: f64, r1: f64) (r2: f64, r3: f64)";
            let text = format!("{sides}\nr4: f64 = {earlier}\nr5: f64 = {sum}\nyield {results}");
            operator(&text).is_sum_of_products()
        };
        assert!(pairs("mul r0 r1", "fma r2 r3 r4", "r5 1.0f64"));
        assert!(pairs("mul r1 r0", "fma r3 r2 r4", "r5 1.0f64"));
        assert!(!pairs("mul r0 r0", "fma r2 r3 r4", "r5 1.0f64"), "another product");
        assert!(!pairs("add r0 r1", "fma r2 r3 r4", "r5 1.0f64"), "a sum");
        assert!(!pairs("mul r0 r1", "fma r2 r4 r3", "r5 1.0f64"), "another addend");
        assert!(!pairs("mul r0 r1", "fma r2 r3 r4", "r5 2.0f64"), "another second component");
        assert!(!pairs("mul r0 r1", "fma r2 r3 r4", "r4 1.0f64"), "another first component");
    }
}
