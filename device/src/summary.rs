//! What large results come to, found out where they are: the least, the greatest, the sum, and how many are NaN.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use weft_cuda::{Halt, Policy, run_fallible};
use weft_ir::{Array, Column, Scalar, ScalarType, Summary, Value, plan};

use crate::deferred::Kept;
use crate::images::Images;
use crate::kernels::{Kernels, Loading};
use crate::state::State;
use crate::target::{DeviceTarget, Ways};

/// What compiles programs for a device.
#[derive(Debug)]
pub(crate) struct Tools {
    pub(crate) images: Arc<Images>,
    pub(crate) policy: Policy,
    /// How many texts of a program are compiled at once.
    pub(crate) compilers: usize,
}

/// The program that summarises elements of a type; nothing if they are no numbers.
fn program(element: ScalarType) -> Option<plan::Program> {
    let ty = element.name();
    // What takes the place of NaN changes nothing.
    let (is_nan, least, greatest) = match element {
        ScalarType::F32 | ScalarType::F64 => {
            ("is_nan r1", format!("select r2 inf{ty} r1"), format!("select r2 -inf{ty} r1"))
        }
        ScalarType::Bool | ScalarType::Char => return None,
        ScalarType::I8
        | ScalarType::I16
        | ScalarType::I32
        | ScalarType::I64
        | ScalarType::U8
        | ScalarType::U16
        | ScalarType::U32
        | ScalarType::U64 => ("ne r1 r1", "min r1 r1".to_owned(), "max r1 r1".to_owned()),
    };
    // Of equal numbers, 0.0 and -0.0 among them, the first is taken.
    let text = format!(
        "input a1: [a0]{ty}
launch \"summary\" [a0] (r0)
  r1: {ty} = read a1 r0
  r2: bool = {is_nan}
  r3: {ty} = {least}
  r4: {ty} = {greatest}
  r5: f64 = cast_f64 r1
  r6: f64 = select r2 0.0f64 r5
  r7: i64 = select r2 1i64 0i64
  yield r3 r4 r6 r7
  reduce r3 r4 r6 r7 as (r8: {ty}, r9: {ty}, r10: f64, r11: i64) to a2: {ty}, a3: {ty}, a4: f64, a5: i64
  by (r20: {ty}, r21: {ty}, r22: f64, r23: i64) (r30: {ty}, r31: {ty}, r32: f64, r33: i64)
    r40: bool = lt r30 r20
    r41: {ty} = select r40 r30 r20
    r42: bool = gt r31 r21
    r43: {ty} = select r42 r31 r21
    r44: f64 = add r22 r32
    r45: i64 = add r23 r33
    yield r41 r43 r44 r45
end
output a2: {ty}
output a3: {ty}
output a4: f64
output a5: i64
"
    );
    Some(plan::parse(&text).expect("a plan"))
}

/// What elements come to that are on the device; `alias` goes by no name that anybody else knows. Nothing if
/// they are no numbers, or if the device has no room for it.
///
/// # Errors
/// Why the device is of no use any more.
pub(crate) fn summary(
    state: &mut State,
    tools: &Tools,
    kept: &Kept,
    alias: &Column,
) -> Result<Option<Summary>, String> {
    let (Some(program), Some(identity)) = (program(kept.element), alias.identity()) else {
        return Ok(None);
    };
    let kernels = Kernels::new(program, tools);
    if !state.table.alias(identity.clone(), kept.address) {
        return Ok(None);
    }
    let never = AtomicBool::new(false);
    let config = weft_cuda::Config { policy: &tools.policy, memory_limit: u64::MAX };
    let input = Value::Array(Arc::new(Array::new(alias.clone())));
    let load = Loading::new(&tools.images, &kernels);
    let mut target = DeviceTarget::new(state, load, None, Ways::PLAIN, &never);
    let results = target.prepare().map_err(Halt::Broken).and_then(|()| {
        let (plan, code) = (&kernels.plan, kernels.code());
        run_fallible(plan, code, &[input], &mut target, &config, &never, &mut |_| {})
    });
    let lost = target.end();
    drop(target);
    state.table.forget_alias(&identity);
    if let Some(why) = lost {
        return Err(why);
    }
    let scalar = |value: &Value| match value {
        Value::Scalar(scalar) => Some(*scalar),
        Value::Tuple(_) | Value::Array(_) => None,
    };
    let scalars: Option<Vec<Scalar>> =
        results.ok().map(|all| all.iter().filter_map(scalar).collect());
    Ok(match scalars.as_deref() {
        Some(&[least, greatest, Scalar::F64(sum), Scalar::I64(nans)]) => {
            Some(Summary { least, greatest, sum, nans: usize::try_from(nans).unwrap_or(0) })
        }
        Some(_) | None => None,
    })
}

#[cfg(test)]
mod tests {
    use weft_ir::{ScalarType, plan};

    use super::program;

    #[test]
    fn there_is_a_program_for_all_numbers() {
        for element in ScalarType::ALL {
            let is_number = !matches!(element, ScalarType::Bool | ScalarType::Char);
            let program = program(element);
            assert_eq!(program.is_some(), is_number, "{element}");
            assert!(program.is_none_or(|program| plan::check(&program).is_ok()), "{element}");
        }
    }
}
