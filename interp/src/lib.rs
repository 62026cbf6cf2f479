//! The reference interpreter: the executable specification of the language.
//!
//! [`run`] resolves the variables of a typed program to slots ([`resolve`]) and evaluates it with
//! obvious loops ([`evaluate`], [`builtins`]). Errors are values ([`value`]), so that one is reported
//! only if its value is needed.

mod apply;
mod builtins;
mod code;
mod collect;
mod elements;
mod evaluate;
mod extents;
mod flat;
mod index;
mod lift;
mod liveness;
mod machine;
mod nested;
mod operator;
mod resolve;
mod value;
mod words;

use std::cell::Cell;
use std::rc::Rc;
use std::sync::atomic::AtomicBool;

use weft_ir::{Exhausted, Failure, Looks, Meter, Span, Trap, Value};
use weft_lang::typed::{GlobalId, Program};

use crate::code::Code;
use crate::machine::Machine;
use crate::value::Val;

pub use crate::flat::run_flat;
pub use crate::nested::run_nested;

/// What a run may use.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Bytes that the arrays of a run may take at once, estimated before each allocation.
    pub memory: u64,
    /// How deep calls may nest.
    pub recursion: u64,
    /// The bytes of the stack that the caller runs on. Nested calls take half of them at most; the rest is for
    /// the expressions of one call.
    pub stack: usize,
}

/// Evaluates a monomorphic program.
///
/// `values` gives the values of earlier top-level bindings. The caller provides the stack that `limits` says,
/// an eighth of [`weft_lang::STACK_BYTES`] at least.
///
/// # Errors
/// The trap that a needed value raised, an exhausted limit, or the interrupt that `cancel` asked
/// for (it is polled at least every 20 ms).
pub fn run(
    program: &Program,
    values: &dyn Fn(GlobalId) -> Value,
    limits: &Limits,
    cancel: &AtomicBool,
) -> Result<Value, Failure> {
    run_metered(program, values, limits, cancel, &Meter::new())
}

/// As [`run`]; `meter` shows how far the outermost loop or map of known length has come.
///
/// # Errors
/// As [`run`].
pub fn run_metered(
    program: &Program,
    values: &dyn Fn(GlobalId) -> Value,
    limits: &Limits,
    cancel: &AtomicBool,
    meter: &Meter,
) -> Result<Value, Failure> {
    let mut machine = Machine::new(limits, cancel, meter);
    let entry = resolved(program, values, &mut machine, cancel)?;
    match machine.call_code(&entry, &[], Span::default()) {
        Ok(val) => val.force().map_err(|trap| Failure::from(Trap::clone(&trap))),
        Err(unwind) => Err(Failure::from(machine.exhausted(unwind))),
    }
}

/// The entry of a program, and its functions in the machine, with the values that it reads. They may have to be
/// computed again, if a device has lost them, which can be interrupted.
fn resolved(
    program: &Program,
    values: &dyn Fn(GlobalId) -> Value,
    machine: &mut Machine<'_>,
    cancel: &AtomicBool,
) -> Result<Rc<Code>, Failure> {
    let are_brought = Cell::new(true);
    let brought = |global| {
        let value = values(global);
        are_brought.set(are_brought.get() && value.bring(Looks::AtSome, cancel));
        value
    };
    let (entry, instances) = resolve::resolve(program, &brought);
    machine.instances = instances;
    match are_brought.get() {
        true => Ok(entry),
        false => Err(Failure::from(Exhausted::Interrupted)),
    }
}

/// Calls a function with arguments; nothing if its value is an error, or the run is given up.
pub type Call<'c> = dyn FnMut(&[Value]) -> Option<Value> + 'c;

/// Evaluates a monomorphic program whose value is a function, and hands it to `body`, which calls it as
/// often as it likes. What it yields must not be a function.
///
/// `values` and the stack are as for [`run`].
///
/// # Errors
/// As [`run`], for the function itself.
pub fn with_function(
    program: &Program,
    values: &dyn Fn(GlobalId) -> Value,
    limits: &Limits,
    cancel: &AtomicBool,
    body: &mut dyn FnMut(&mut Call<'_>),
) -> Result<(), Failure> {
    let meter = Meter::new();
    let mut machine = Machine::new(limits, cancel, &meter);
    let entry = resolved(program, values, &mut machine, cancel)?;
    let function = match machine.call_code(&entry, &[], Span::default()) {
        Ok(Val::Error(trap)) => return Err(Failure::from(Trap::clone(&trap))),
        Ok(function) => function,
        Err(unwind) => return Err(Failure::from(machine.exhausted(unwind))),
    };
    let mut given_up = false;
    body(&mut |arguments| {
        if given_up {
            return None;
        }
        let arguments = arguments.iter().map(Val::of_value).collect();
        match machine.call(&function, arguments, Span::default()) {
            Ok(val) => val.force().ok(),
            Err(_) => {
                given_up = true;
                None
            }
        }
    });
    Ok(())
}
