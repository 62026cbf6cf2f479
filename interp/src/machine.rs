//! The state of a run: the stack of frames, the call sites, the limits.

use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::sync::atomic::{AtomicBool, Ordering};

use weft_ir::{Exhausted, Meter, Place, Span, Trap, TrapKind, Type, Unit};
use weft_lang::typed::InstanceId;

use crate::Limits;
use crate::apply::Function;
use crate::code::Code;
use crate::collect::Collector;
use crate::elements::Elements;
use crate::value::Val;

/// An evaluation ends without a value; [`Machine`] knows why. It holds nothing itself, so that a
/// `Result` with it is passed in registers.
#[derive(Debug)]
pub(crate) struct Unwind(());

/// Why an evaluation ends without a value.
#[derive(Debug)]
enum Ending {
    /// The run is given up.
    Exhausted(Exhausted),
    /// The function is to be called again; the arguments are on top of the stack.
    TailCall,
}

/// How a builtin ends early.
#[derive(Debug)]
pub(crate) enum Stop {
    /// Its whole result is this error.
    Error(Rc<Trap>),
    /// Its evaluation ends without a value.
    Unwind(Unwind),
}

impl From<Unwind> for Stop {
    fn from(unwind: Unwind) -> Stop {
        Stop::Unwind(unwind)
    }
}

/// What a builtin yields.
pub(crate) type Outcome<T> = Result<T, Stop>;

/// A top-level function, resolved.
#[derive(Debug)]
pub(crate) enum Instance {
    /// A lambda.
    Function(Rc<Code>),
    /// Another expression for a function; its value is computed at the first use.
    Expression(Rc<Code>, Option<Val>),
}

/// The state of a run.
pub(crate) struct Machine<'a> {
    pub(crate) instances: Vec<Instance>,
    /// The frames, one after the other (Note \[Frames\] in [`crate::code`]).
    pub(crate) stack: Vec<Val>,
    /// Where the current frame begins.
    pub(crate) base: usize,
    /// The call sites that are active, outermost first.
    pub(crate) calls: Vec<Span>,
    /// The maps and loops that are active, outermost first, and how far they are.
    places: Vec<Place>,
    /// How many more errors remember that.
    places_left: Cell<u32>,
    /// Why the evaluation at hand ends without a value, if it does.
    ending: Option<Ending>,
    /// How deep calls are nested now.
    depth: u64,
    limits: &'a Limits,
    cancel: &'a AtomicBool,
    /// Shows how far the outermost loop of known length has come.
    pub(crate) meter: &'a Meter,
    /// How many steps there are until the next look at `cancel`.
    steps: u32,
    /// How many such looks there may be, in an attempt.
    looks: Option<u32>,
    /// The bytes of the arrays that are being built.
    held: u64,
    /// The error that was made last.
    last_trap: RefCell<Option<Rc<Trap>>>,
    /// The address of a local variable of the run's first Rust frame.
    stack_start: usize,
}

/// How many element evaluations, calls or iterations may pass between two looks at `cancel`.
const STEPS: u32 = 1024;
/// How many errors of a run remember in which rows they were made. Those that come later share more.
const MOST_PLACED: u32 = 1000;
/// How many elements a builtin moves or computes between two looks at `cancel`.
pub(crate) const CHUNK: usize = 1 << 16;

impl Limits {
    /// How much of the host's stack nested calls may use; the rest is for the expressions of one call.
    pub(crate) fn stack_for_calls(&self) -> usize {
        self.stack / 2
    }
}

impl<'a> Machine<'a> {
    pub(crate) fn new(limits: &'a Limits, cancel: &'a AtomicBool, meter: &'a Meter) -> Machine<'a> {
        Machine {
            instances: Vec::new(),
            stack: Vec::new(),
            base: 0,
            calls: Vec::new(),
            places: Vec::new(),
            places_left: Cell::new(MOST_PLACED),
            ending: None,
            depth: 0,
            limits,
            cancel,
            meter,
            steps: 0,
            looks: None,
            held: 0,
            last_trap: RefCell::new(None),
            stack_start: stack_address(),
        }
    }

    /// An error at `span`, as a value. Where the elements of an array fail in the same way, they
    /// share one.
    #[cold]
    pub(crate) fn trap(&self, kind: TrapKind, span: Span) -> Val {
        let calls = || self.calls.iter().rev().take(Trap::MAX_CALLS);
        let within = match self.places_left.get() {
            0 => &[],
            _ => &self.places[self.places.len().saturating_sub(Trap::MAX_CALLS)..],
        };
        let mut last = self.last_trap.borrow_mut();
        if let Some(trap) = &*last
            && trap.span == span
            && trap.kind == kind
            && trap.calls.iter().eq(calls())
            && trap.within == within
        {
            return Val::Error(Rc::clone(trap));
        }
        self.places_left.set(self.places_left.get().saturating_sub(1));
        let calls = calls().copied().collect();
        let trap = Rc::new(Trap { kind, span, calls, within: within.to_vec() });
        *last = Some(Rc::clone(&trap));
        Val::Error(trap)
    }

    /// An error at `span` that is the whole result of a builtin.
    #[cold]
    pub(crate) fn fail(&self, kind: TrapKind, span: Span) -> Stop {
        match self.trap(kind, span) {
            Val::Error(error) => Stop::Error(error),
            _ => unreachable!("a trap is an error"),
        }
    }

    #[cold]
    fn give_up(&mut self, exhausted: Exhausted) -> Unwind {
        self.ending = Some(Ending::Exhausted(exhausted));
        Unwind(())
    }

    /// Why the run was given up.
    pub(crate) fn exhausted(self, _: Unwind) -> Exhausted {
        match self.ending {
            Some(Ending::Exhausted(exhausted)) => exhausted,
            Some(Ending::TailCall) | None => unreachable!("a call ends its own tail calls"),
        }
    }

    /// Asks for another call of the current function.
    pub(crate) fn tail_call(&mut self) -> Unwind {
        self.ending = Some(Ending::TailCall);
        Unwind(())
    }

    /// Goes on if the evaluation ended in a call of its own function, else passes on its end.
    pub(crate) fn catch_tail_call(&mut self, unwind: Unwind) -> Result<(), Unwind> {
        match self.ending.take() {
            Some(Ending::TailCall) => Ok(()),
            other => {
                self.ending = other;
                Err(unwind)
            }
        }
    }

    /// Does something that may exhaust a limit, or take more than that many [`STEPS`], which is no matter then: there
    /// is no result. Only an interrupt is passed on. What is left of the steps is written back.
    pub(crate) fn attempt<T>(
        &mut self,
        looks: &mut u32,
        body: impl FnOnce(&mut Self) -> Result<T, Unwind>,
    ) -> Result<Option<T>, Unwind> {
        let (stack, calls, places) = (self.stack.len(), self.calls.len(), self.places.len());
        let (base, depth, held) = (self.base, self.depth, self.held);
        // What is attempted within another attempt counts there, too.
        let outer = self.looks;
        let allowed = outer.map_or(*looks, |outer| outer.min(*looks));
        self.looks = Some(allowed);
        let result = body(self);
        let spent = allowed - self.looks.unwrap_or(0);
        *looks -= spent;
        self.looks = outer.map(|outer| outer - spent);
        match result {
            Ok(result) => Ok(Some(result)),
            Err(unwind)
                if matches!(self.ending, Some(Ending::Exhausted(Exhausted::Interrupted))) =>
            {
                Err(unwind)
            }
            Err(_) => {
                self.ending = None;
                self.stack.truncate(stack);
                self.calls.truncate(calls);
                self.places.truncate(places);
                (self.base, self.depth, self.held) = (base, depth, held);
                Ok(None)
            }
        }
    }

    /// Counts a step, and looks now and then whether the user wants the run to end.
    #[inline]
    pub(crate) fn step(&mut self) -> Result<(), Unwind> {
        if self.steps == 0 {
            return self.poll();
        }
        self.steps -= 1;
        Ok(())
    }

    /// Counts what is done at once to these values or yields them, a step for eight bytes, where steps are counted.
    pub(crate) fn spend(&mut self, vals: &[Val]) -> Result<(), Unwind> {
        let Some(looks) = self.looks else { return Ok(()) };
        let steps = vals.iter().map(Val::bytes).sum::<u64>() / 8;
        let spent = u32::try_from(steps / u64::from(STEPS)).unwrap_or(u32::MAX);
        if spent <= looks {
            self.looks = Some(looks - spent);
            return Ok(());
        }
        self.looks = Some(0);
        Err(self.give_up(Exhausted::Recursion { depth: 0, span: Span::default() }))
    }

    /// Looks whether the user wants the run to end.
    #[cold]
    pub(crate) fn poll(&mut self) -> Result<(), Unwind> {
        self.steps = STEPS;
        if self.cancel.load(Ordering::Relaxed) {
            return Err(self.give_up(Exhausted::Interrupted));
        }
        match &mut self.looks {
            None => Ok(()),
            // Any limit: whoever attempts something asks only whether there was one.
            Some(0) => Err(self.give_up(Exhausted::Recursion { depth: 0, span: Span::default() })),
            Some(looks) => {
                *looks -= 1;
                Ok(())
            }
        }
    }

    /// Asks for memory, before an allocation by the expression at `span`.
    pub(crate) fn admit(&mut self, bytes: u128, span: Span) -> Result<(), Unwind> {
        let limit = self.limits.memory;
        if bytes + u128::from(self.held) > u128::from(limit) {
            let wanted = u64::try_from(bytes).unwrap_or(u64::MAX);
            return Err(self.give_up(Exhausted::Memory { wanted, limit, span }));
        }
        Ok(())
    }

    /// Asks for the memory of `count` elements of type `ty`; arrays among them count as a few words.
    pub(crate) fn admit_elements(
        &mut self,
        count: u128,
        ty: &Type,
        span: Span,
    ) -> Result<(), Unwind> {
        self.admit(count.saturating_mul(u128::from(element_bytes(ty))), span)
    }

    /// Appends an element to an array that is being built, within the limits.
    #[inline]
    pub(crate) fn collect(&mut self, collector: &mut Collector, val: Val) -> Result<(), Unwind> {
        collector.push(val);
        if collector.bytes > collector.admitted {
            self.grow(collector)?;
        }
        self.step()
    }

    #[cold]
    fn grow(&mut self, collector: &mut Collector) -> Result<(), Unwind> {
        // Only what is there already is refused: the array may end before it has doubled.
        self.held -= collector.admitted;
        self.admit(u128::from(collector.bytes), collector.span)?;
        collector.admitted = collector.bytes.max(1 << 15) * 2;
        self.held += collector.admitted;
        Ok(())
    }

    /// The array of the collected elements.
    pub(crate) fn finish(&mut self, collector: Collector) -> Elements {
        self.held -= collector.admitted;
        collector.finish()
    }

    /// Begins a map or a loop; [`Machine::go_on_to`] says how far it is, until [`Machine::end_places`].
    pub(crate) fn begin_place(&mut self, unit: Unit, span: Span) {
        self.places.push(Place { unit, index: 0, span });
    }

    /// The innermost map or loop goes on.
    #[inline]
    pub(crate) fn go_on_to(&mut self, index: usize) {
        if let Some(place) = self.places.last_mut() {
            place.index = index as u64;
        }
    }

    /// How many maps and loops are active.
    pub(crate) fn places(&self) -> usize {
        self.places.len()
    }

    /// Ends all maps and loops but the outermost `count`.
    pub(crate) fn end_places(&mut self, count: usize) {
        self.places.truncate(count);
    }

    /// Enters a call.
    pub(crate) fn enter(&mut self, span: Span) -> Result<(), Unwind> {
        self.depth += 1;
        let used = self.stack_start.abs_diff(stack_address());
        // The program is a call too, but none that somebody has written.
        let depth = self.depth - 1;
        if depth > self.limits.recursion {
            return Err(self.give_up(Exhausted::Recursion { depth, span }));
        }
        let room = self.limits.stack_for_calls();
        if used > room {
            return Err(self.give_up(Exhausted::Stack { depth, bytes: room as u64, span }));
        }
        self.step()
    }

    /// Refuses a function that holds functions that hold functions … deeper than calls may nest.
    pub(crate) fn admit_function(&mut self, function: &Function, span: Span) -> Result<(), Unwind> {
        if u64::from(function.depth) > self.limits.recursion {
            let depth = u64::from(function.depth);
            return Err(self.give_up(Exhausted::Recursion { depth, span }));
        }
        Ok(())
    }

    /// Leaves a call.
    pub(crate) fn leave(&mut self) {
        self.depth -= 1;
    }

    /// The value of a top-level function.
    pub(crate) fn instance(&mut self, id: InstanceId) -> Result<Val, Unwind> {
        let index = id.0 as usize;
        match &self.instances[index] {
            Instance::Function(code) => {
                Ok(Val::Function(Rc::new(Function::closure(Rc::clone(code), Vec::new()))))
            }
            Instance::Expression(_, Some(val)) => Ok(val.clone()),
            Instance::Expression(code, None) => {
                let code = Rc::clone(code);
                let val = self.call_code(&code, &[], Span::default())?;
                self.instances[index] = Instance::Expression(code, Some(val.clone()));
                Ok(val)
            }
        }
    }
}

/// Bytes that an element of type `ty` takes at least.
pub(crate) fn element_bytes(ty: &Type) -> u64 {
    match ty {
        Type::Scalar(ty) => ty.bytes() as u64,
        Type::Tuple(parts) => parts.iter().map(element_bytes).sum(),
        Type::Record(fields) => fields.iter().map(|(_, ty)| element_bytes(ty)).sum(),
        Type::Array(_) => size_of::<usize>() as u64,
    }
}

/// The address of a local variable: how far the host's stack has grown.
#[inline(never)]
pub(crate) fn stack_address() -> usize {
    let marker = 0_u8;
    std::ptr::from_ref(std::hint::black_box(&marker)) as usize
}
