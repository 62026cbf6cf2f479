//! Every scalar operator, on every type that it admits, as compiled C against its definition.

mod program;

use program::{Case, check, check_with};
use weft_codegen::operator_of_lanes;
use weft_ir::text::OPERATORS;
use weft_ir::{ScalarOp, ScalarType, math};

/// Of the conversions, one of each kind.
const CONVERSIONS: [ScalarOp; 3] = [
    ScalarOp::Cast(ScalarType::Char),
    ScalarOp::Cast(ScalarType::Bool),
    ScalarOp::Bitcast(ScalarType::F32),
];

/// Makes the prelude believe that the machine cannot convert vectors of `i64`.
const WITHOUT_CONVERSIONS: &str = "-U__AVX512DQ__";

/// The cases of the operators that a predicate chooses, on all types that they admit.
fn cases(chosen: impl Fn(ScalarOp, ScalarType) -> bool) -> Vec<Case> {
    let mut cases = Vec::new();
    for op in OPERATORS.into_iter().map(|(op, _)| op).chain(CONVERSIONS) {
        for ty in ScalarType::ALL {
            let mut operands = vec![ty; math::arity(op)];
            if op == ScalarOp::Select {
                operands[0] = ScalarType::Bool;
            }
            if let Some(result) = math::result_type(op, &operands)
                && chosen(op, ty)
            {
                cases.push(Case { op, operands, result });
            }
        }
    }
    cases
}

fn is_transcendental(op: ScalarOp, ty: ScalarType) -> bool {
    let exact = matches!(op, ScalarOp::Abs | ScalarOp::Select | ScalarOp::Cast(_));
    let by_name = matches!(
        op,
        ScalarOp::Rsqrt
            | ScalarOp::Cbrt
            | ScalarOp::Exp
            | ScalarOp::Exp2
            | ScalarOp::Expm1
            | ScalarOp::Log
            | ScalarOp::Log2
            | ScalarOp::Log10
            | ScalarOp::Log1p
            | ScalarOp::Sin
            | ScalarOp::Cos
            | ScalarOp::Tan
            | ScalarOp::Asin
            | ScalarOp::Acos
            | ScalarOp::Atan
            | ScalarOp::Sinh
            | ScalarOp::Cosh
            | ScalarOp::Tanh
            | ScalarOp::Asinh
            | ScalarOp::Acosh
            | ScalarOp::Atanh
            | ScalarOp::Erf
            | ScalarOp::Pow
            | ScalarOp::Atan2
            | ScalarOp::Hypot
    );
    ty.is_float() && by_name && !exact
}

#[test]
fn exact_operators_agree() {
    let cases = cases(|op, ty| !is_transcendental(op, ty));
    assert!(cases.len() > 300, "{}", cases.len());
    check(&cases, &["-O2"], 400);
}

#[test]
fn divisions_of_lanes_agree() {
    let cases = cases(|op, ty| {
        let divides =
            matches!(op, ScalarOp::FloorDiv | ScalarOp::Mod | ScalarOp::Quot | ScalarOp::Rem);
        divides && ty.is_int()
    });
    assert_eq!(cases.len(), 32);
    check_with(operator_of_lanes, &cases, &["-O3"], 100_000);
    check_with(operator_of_lanes, &cases, &["-O3", WITHOUT_CONVERSIONS], 20_000);
}

#[test]
fn conversions_agree() {
    let mut cases = Vec::new();
    for from in ScalarType::ALL {
        for to in ScalarType::ALL {
            for op in [ScalarOp::Cast(to), ScalarOp::Bitcast(to)] {
                if let Some(result) = math::result_type(op, &[from]) {
                    cases.push(Case { op, operands: vec![from], result });
                }
            }
        }
    }
    assert!(cases.len() > 144, "{}", cases.len());
    check(&cases, &["-O3"], 20_000);
    check(&cases, &["-O3", WITHOUT_CONVERSIONS], 20_000);
}

#[test]
fn transcendental_functions_of_f32_agree() {
    let cases = cases(|op, ty| is_transcendental(op, ty) && ty == ScalarType::F32);
    assert_eq!(cases.len(), 25);
    check(&cases, &["-O3"], 200_000);
}

#[test]
fn transcendental_functions_of_f64_agree() {
    let cases = cases(|op, ty| is_transcendental(op, ty) && ty == ScalarType::F64);
    assert_eq!(cases.len(), 25);
    check(&cases, &["-O3"], 200_000);
    check(&cases, &["-O3", WITHOUT_CONVERSIONS], 20_000);
}
