//! The operator of `argmin` and `argmax`.

use weft_ir::ScalarOp;
use weft_ir::code::{Instruction, Operand, Operation, Operator, Register};

use crate::fold::Primitive;
use crate::lanes::LaneType;
use crate::operators;

/// The minimum or maximum of the first components, if an operator yields all of the second element where its
/// first component is a lesser or greater one, else all of the first element (Note [First extremes]).
pub(super) fn first_extreme(operator: &Operator) -> Option<Primitive> {
    let (left, right, code) = (&operator.left, &operator.right, &operator.code);
    let instruction = |operand: &Operand| {
        let Operand::Register(register) = *operand else { return None };
        let defines = |at: &&Instruction| at.results.iter().any(|(result, _)| *result == register);
        code.instructions.iter().find(defines)
    };
    let scalar = |operand: &Operand| match &instruction(operand)?.operation {
        Operation::Scalar(op, operands) => Some((*op, &operands[..])),
        _ => None,
    };
    let of = |register: &(Register, _)| Operand::Register(register.0);
    let condition = match scalar(code.results.first()?)? {
        (ScalarOp::Select, &[condition, _, _]) => condition,
        _ => return None,
    };
    let selects = code.results.iter().zip(left).zip(right).all(|((result, left), right)| {
        scalar(result) == Some((ScalarOp::Select, &[condition, of(right), of(left)][..]))
    });
    if !selects {
        return None;
    }
    let ty = left[0].1;
    let (first, second) = (of(&left[0]), of(&right[0]));
    let is_pair =
        |operands: &[Operand], a: Operand, b: Operand| *operands == [a, b] || *operands == [b, a];
    let (op, operands) = scalar(&condition)?;
    let extreme = match op {
        ScalarOp::Gt | ScalarOp::Lt if !ty.is_float() && is_pair(operands, first, second) => {
            if (op == ScalarOp::Gt) == (operands[0] == second) {
                ScalarOp::Max
            } else {
                ScalarOp::Min
            }
        }
        // The bits of the extreme are not those of the first element.
        ScalarOp::Ne if ty.is_float() => {
            let of_bits = |operand: &Operand| match scalar(operand)? {
                (ScalarOp::Bitcast(_), &[number]) => Some(number),
                _ => None,
            };
            let [a, b] = operands else { return None };
            let (a, b) = (of_bits(a)?, of_bits(b)?);
            let extreme = if a == first { b } else { a };
            match scalar(&extreme)? {
                (op @ (ScalarOp::Min | ScalarOp::Max), of_both)
                    if is_pair(&[a, b], extreme, first) && is_pair(of_both, first, second) =>
                {
                    op
                }
                _ => return None,
            }
        }
        _ => return None,
    };
    operators::primitive(extreme, LaneType::of(ty))
}

#[cfg(test)]
mod tests {
    use weft_ir::code::parse_operator;
    use weft_ir::text::Reader;

    use super::first_extreme;

    fn is_known(ty: &str, condition: &str, results: &str) -> bool {
        let text = format!(
            "by (r0: {ty}, r1: i64) (r2: {ty}, r3: i64)\n{condition}\nr8: {ty} = select r7 {results}"
        );
        let operator = parse_operator(&mut Reader::new(&text).expect("tokens"));
        first_extreme(&operator.expect("an operator")).is_some()
    }

    #[test]
    fn first_extremes_are_known() {
        let usual = "r2 r0\nr9: i64 = select r7 r3 r1\nyield r8 r9";
        for condition in ["gt r2 r0", "lt r0 r2", "lt r2 r0", "gt r0 r2"] {
            let condition = format!("r7: bool = {condition}");
            assert!(is_known("i32", &condition, usual), "{condition}");
            assert!(!is_known("f32", &condition, usual), "NaN is not greater");
        }
        let bits = |extreme: &str, condition: &str| {
            format!(
                "r4: f64 = {extreme}\nr5: i64 = bitcast_i64 r4\nr6: i64 = bitcast_i64 r0\nr7: bool = {condition}"
            )
        };
        assert!(is_known("f64", &bits("max r0 r2", "ne r5 r6"), usual));
        assert!(is_known("f64", &bits("min r2 r0", "ne r6 r5"), usual));
        assert!(!is_known("f64", &bits("max r0 r2", "eq r5 r6"), usual), "the other one");
        assert!(!is_known("f64", &bits("add r0 r2", "ne r5 r6"), usual), "a sum");
        assert!(!is_known("f64", &bits("max r0 r0", "ne r5 r6"), usual), "no second element");
        assert!(!is_known("i32", "r7: bool = ge r2 r0", usual), "the last one");
        let condition = "r7: bool = gt r2 r0";
        for other in [
            "r0 r2\nr9: i64 = select r7 r3 r1\nyield r8 r9",
            "r2 r0\nr9: i64 = select r7 r1 r3\nyield r8 r9",
            "r2 r0\nr9: i64 = add r3 r1\nyield r8 r9",
            "r2 r0\nr9: i64 = select r7 r3 r1\nyield r8 r1",
        ] {
            assert!(!is_known("i32", condition, other), "{other}");
        }
    }
}
