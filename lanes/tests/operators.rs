//! Every operator on every type that it admits does on lanes what it does on scalars.

use weft_ir::math::{arity, eval, result_type};
use weft_ir::text::OPERATORS;
use weft_ir::{FaultKind, Scalar, ScalarOp, ScalarType};
use weft_lanes::isa::{Arguments, Slot};
use weft_lanes::lanes::{Frame, FromScalar, GROUP, Group, Lane, LaneType, with_lane_type};
use weft_lanes::operators::operator;

/// The lanes of a test: no whole number of groups.
const LANES: usize = 3 * GROUP - 7;

/// Operands of a type, of which the ends of its range come often.
fn scalar(ty: ScalarType, number: usize) -> Scalar {
    let bits = (number as u64 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let bits = bits ^ bits >> 29;
    let wide = match number % 5 {
        0 => [0, 1, u64::MAX, 1 << 63, i64::MAX as u64, 1 << 31, 127, 128][number / 5 % 8],
        1 => bits % 70,
        2 => (bits % 70).wrapping_neg(),
        _ => bits,
    };
    let float = match number % 4 {
        0 => [0.0, -0.0, 1.0, f64::NAN, f64::INFINITY, -f64::INFINITY, 1e300, -3e9][number / 4 % 8],
        1 => (bits % 1000) as f64 / 16.0 - 30.0,
        _ => f64::from_bits(0x3ff0_0000_0000_0000 | bits >> 12) - 1.5,
    };
    match ty {
        ScalarType::I8 => Scalar::I8(wide as i8),
        ScalarType::I16 => Scalar::I16(wide as i16),
        ScalarType::I32 => Scalar::I32(wide as i32),
        ScalarType::I64 => Scalar::I64(wide as i64),
        ScalarType::U8 => Scalar::U8(wide as u8),
        ScalarType::U16 => Scalar::U16(wide as u16),
        ScalarType::U32 => Scalar::U32(wide as u32),
        ScalarType::U64 => Scalar::U64(wide),
        ScalarType::F32 => Scalar::F32(float as f32),
        ScalarType::F64 => Scalar::F64(float),
        ScalarType::Bool => Scalar::Bool(wide & 1 == 1),
        ScalarType::Char => unreachable!("characters are bytes here"),
    }
}

/// Makes a register of scalars, or one of the first alone.
fn register(frame: &mut Frame, ty: ScalarType, uniform: bool, scalars: &[Scalar]) -> Slot {
    let ty = LaneType::of(ty);
    with_lane_type!(ty, T => {
        let lanes: Vec<T> = scalars.iter().map(|&scalar| T::from_scalar(scalar)).collect();
        let groups = match uniform {
            true => vec![Group([lanes[0]; GROUP])],
            false => lanes
                .chunks(GROUP)
                .map(|chunk| {
                    Group(std::array::from_fn(|at| chunk.get(at).copied().unwrap_or_default()))
                })
                .collect(),
        };
        let registers = T::file_mut(frame);
        registers.push(groups);
        Slot { ty, uniform, index: registers.len() as u32 - 1 }
    })
}

/// Whether a lane holds that scalar; all NaNs are one.
fn holds(frame: &Frame, slot: Slot, lane: usize, scalar: Scalar) -> bool {
    with_lane_type!(slot.ty, T => {
        let found = T::file(frame)[slot.index as usize][lane / GROUP].0[lane % GROUP];
        let wanted = T::from_scalar(scalar);
        // Zeros print with their sign, all NaNs the same.
        format!("{found:?}") == format!("{wanted:?}")
    })
}

/// Runs an operator on lanes; the operands whose bits are set in `uniform` are the same for all of them.
fn check(op: ScalarOp, types: &[ScalarType], result: ScalarType, uniform: usize) {
    let mut frame = Frame::default();
    let columns: Vec<Vec<Scalar>> = types
        .iter()
        .enumerate()
        .map(|(at, &ty)| {
            let number = |lane| if uniform >> at & 1 == 1 { 3 } else { lane };
            let mut scalars: Vec<Scalar> =
                (0..LANES).map(|lane| scalar(ty, number(lane) * (at + 1) + at)).collect();
            // Later operands do not fail: failures are looked at by themselves.
            let fails = |&scalar: &Scalar| {
                let mut scalars = vec![scalar; types.len()];
                scalars[0] = one(types[0]);
                at > 0 && eval(op, &scalars).is_err()
            };
            scalars.iter_mut().filter(|scalar| fails(scalar)).for_each(|scalar| {
                *scalar = one(ty);
            });
            scalars
        })
        .collect();
    let mut slots = Vec::new();
    for (at, (column, &ty)) in columns.iter().zip(types).enumerate() {
        slots.push(register(&mut frame, ty, uniform >> at & 1 == 1, column));
    }
    let all_uniform = uniform + 1 == 1 << types.len();
    let nothing = vec![scalar(result, 0); LANES];
    let out = register(&mut frame, result, all_uniform, &nothing);
    let operands = std::array::from_fn(|at| slots.get(at).copied().unwrap_or(out));
    let apply = operator(op, types);
    let ran = apply.run(&mut frame, &Arguments { out, operands }, LANES);
    assert_eq!(ran, Ok(()), "{op:?} {types:?}");
    for lane in 0..if all_uniform { GROUP } else { LANES } {
        let at = if all_uniform { 0 } else { lane };
        let operands: Vec<Scalar> = columns.iter().map(|column| column[at]).collect();
        let expected = eval(op, &operands).expect("no operand that fails");
        assert!(
            holds(&frame, out, lane, expected),
            "{op:?} {operands:?} is {expected:?}, lane {lane}, uniform {uniform:b}"
        );
    }
}

/// A number that divides and is an exponent.
fn one(ty: ScalarType) -> Scalar {
    eval(ScalarOp::Cast(ty), &[Scalar::I64(1)]).expect("1 is of every type")
}

#[test]
fn all_types_agree_with_the_table_of_operators() {
    let types = || ScalarType::ALL.into_iter().filter(|ty| *ty != ScalarType::Char);
    let conversions = types().flat_map(|ty| [ScalarOp::Cast(ty), ScalarOp::Bitcast(ty)]);
    let mut checked = 0;
    for op in OPERATORS.into_iter().map(|(op, _)| op).chain(conversions) {
        for ty in types() {
            let mut operands = vec![ty; arity(op)];
            if op == ScalarOp::Select {
                operands[0] = ScalarType::Bool;
            }
            let Some(result) = result_type(op, &operands) else { continue };
            for uniform in 0..1 << operands.len() {
                check(op, &operands, result, uniform);
                checked += 1;
            }
        }
    }
    assert!(checked > 1500, "only {checked} were checked");
}

#[test]
fn only_lanes_of_the_block_fail() {
    let mut frame = Frame::default();
    let ones = vec![Scalar::I32(1); LANES];
    let mut divisors = ones.clone();
    divisors[100] = Scalar::I32(0);
    let operands = [&ones, &divisors];
    let [a, b] = operands.map(|column| register(&mut frame, ScalarType::I32, false, column));
    let out = register(&mut frame, ScalarType::I32, false, &ones);
    let arguments = Arguments { out, operands: [a, b, out, out] };
    let apply = operator(ScalarOp::FloorDiv, &[ScalarType::I32; 2]);
    assert_eq!(apply.run(&mut frame, &arguments, 100), Ok(()));
    assert_eq!(apply.run(&mut frame, &arguments, 101), Err(FaultKind::DivisionByZero));
}
