//! The extents of rows that there are none of.
//!
//! Note [Extents of nothing]. An apply-to-each over no items makes no rows; yet their extents are part
//! of the shape of its result, and a table whose rows were all filtered out still has its columns. So
//! under an axis without elements the extents are those that the body gives where they do not depend on
//! the items; where they do, they are 0.
//!
//! To find them, the body is evaluated once more on what is [`Known`] when of the items only the extents
//! are: what is computed of known values is computed; a scalar that depends on items is not known, and
//! neither is the length of what is made of one or kept by a condition on one. Of an `if` an extent is known
//! if it is in both branches, where the condition depends on items if it is the same in both: which branch is
//! taken is no matter of one item. A `while` loop, and one that runs for an unknown number of rounds, has what
//! every round leaves as it is. A function that calls itself has nothing that is known, but for numbers that its
//! tail calls come to from numbers. What the rows of
//! `segments`, `chunks` and `groupBy` have in common is looked for in rows that are there, and so it is not
//! known of others. No error arises here: of what would be one, nothing is known.
//!
//! The same holds where rows are there and they are all empty: in `{ { iota 3 : x in r } : r in [[], []] }`
//! the inner body gives the 3, and the outer items are not known, as if there were none.
//!
//! It ends, whatever the body is: the nodes that it looks at are counted, and so are nested calls. Beyond
//! that nothing is known.

mod builtins;
mod known;

use std::rc::Rc;

use weft_ir::Type;
use weft_lang::typed::InstanceId;

use crate::apply::{Callee, Function, FunctionKind};
use crate::code::{Axis, Code, Comprehension, Control, Loop, Mapped, Node, Slice, Target};
use crate::elements::Elements;
use crate::liveness::slots_read;
use crate::machine::{Instance, Machine, Unwind};
use crate::operator;
use crate::value::Val;

pub(crate) use known::Known;
use known::{has_rows_of_nothing, is_without_rows, with_extents};

/// How many nodes are looked at for one result.
const MOST_NODES: u32 = 50_000;
/// How deep calls may nest.
const MOST_CALLS: u32 = 100;
/// How many thousand steps may be spent on what does not depend on the items.
const MOST_LOOKS: u32 = 200;
/// How many rounds of a loop are gone through one by one; of longer loops only what they do not change
/// is known.
const MOST_ROUNDS: i64 = 1000;

impl Machine<'_> {
    /// The array, of elements of type `ty`, with the extents that are known where there are no rows.
    pub(crate) fn with_extents(
        &mut self,
        result: Elements,
        ty: &Type,
        known: impl FnOnce(&mut Self) -> Result<Known, Unwind>,
    ) -> Result<Elements, Unwind> {
        match result {
            Elements::Packed(column) if has_rows_of_nothing(&column, ty) => {
                let known = known(self)?;
                Ok(Elements::packed(with_extents(&column, ty, &known)))
            }
            result => Ok(result),
        }
    }

    /// What is known of the elements that an apply-to-each yields.
    pub(crate) fn known_of_comprehension(
        &mut self,
        node: &Comprehension,
        sources: &[(&Target, Elements)],
    ) -> Result<Known, Unwind> {
        let mut frame: Frame = self.stack[self.base..].iter().map(Known::of).collect();
        for (target, elements) in sources {
            bind(&mut frame, target, Known::element_of(elements));
        }
        Search::new(self).evaluate(&node.body, &mut frame)
    }

    /// What is known of the result of a function that was made ready.
    pub(crate) fn known_of_call(
        &mut self,
        callee: &Callee,
        args: Vec<Known>,
    ) -> Result<Known, Unwind> {
        match callee {
            Callee::Operator(..) => Ok(Known::Nothing),
            Callee::General(function, _) => {
                let function = Known::Val(Val::Function(Rc::clone(function)));
                Search::new(self).call(&function, args)
            }
            Callee::Frame(prepared) => {
                let (code, base, bound) = prepared.parts();
                let slots = self.stack[base..base + code.slots].iter();
                let frame: Vec<Known> = slots.map(Known::of).collect();
                let args = bound.iter().map(Known::of).chain(args).collect();
                Search::new(self).run(code, frame, args)
            }
        }
    }
}

/// A search for what is known of a result.
struct Search<'m, 'a> {
    machine: &'m mut Machine<'a>,
    /// How many nodes may still be looked at, …
    nodes: u32,
    /// … and how many calls may still nest.
    calls: u32,
    /// How many looks at the interrupt are left for what is computed of known values.
    looks: u32,
}

/// The slots of a function.
type Frame = Vec<Known>;

impl<'m, 'a> Search<'m, 'a> {
    fn new(machine: &'m mut Machine<'a>) -> Search<'m, 'a> {
        Search { machine, nodes: MOST_NODES, calls: MOST_CALLS, looks: MOST_LOOKS }
    }

    fn evaluate(&mut self, node: &Node, frame: &mut Frame) -> Result<Known, Unwind> {
        self.machine.step()?;
        let Some(nodes) = self.nodes.checked_sub(1) else { return Ok(Known::Nothing) };
        self.nodes = nodes;
        match self.computed(node, frame)? {
            Some(val) if is_without_rows(&val) => Ok(Known::Val(val)),
            Some(val) => Ok(self.look(node, frame)?.computed(&val)),
            None => self.look(node, frame),
        }
    }

    /// What is known of an expression by what is known of its parts.
    fn look(&mut self, node: &Node, frame: &mut Frame) -> Result<Known, Unwind> {
        Ok(match node {
            Node::Constant(val) => Known::of(val),
            Node::Local(slot) | Node::Take(slot) => frame[*slot].clone(),
            Node::Unary { function, operand, span } => match self.evaluate(operand, frame)? {
                Known::Val(a) => Known::of(&operator::unary(self.machine, *function, &a, *span)),
                _ => Known::Nothing,
            },
            Node::Binary { operator, operands, span } => {
                let (a, b) = (&operands[0], &operands[1]);
                match (self.evaluate(a, frame)?, self.evaluate(b, frame)?) {
                    (Known::Val(a), Known::Val(b)) => {
                        Known::of(&operator::binary(self.machine, *operator, &a, &b, *span))
                    }
                    _ => Known::Nothing,
                }
            }
            Node::Ternary { function, operands, span } => {
                let operands = self.all(&operands[..], frame)?;
                match &operands[..] {
                    [Known::Val(a), Known::Val(b), Known::Val(c)] => {
                        Known::of(&operator::ternary(self.machine, *function, [a, b, c], *span))
                    }
                    _ => Known::Nothing,
                }
            }
            Node::And(operands) => {
                let first = self.evaluate(&operands[0], frame)?;
                let second = self.evaluate(&operands[1], frame)?;
                let no = Known::Val(Val::bool(false));
                chosen(&first, &second, &no)
            }
            Node::Or(operands) => {
                let first = self.evaluate(&operands[0], frame)?;
                let second = self.evaluate(&operands[1], frame)?;
                let yes = Known::Val(Val::bool(true));
                chosen(&first, &yes, &second)
            }
            Node::If(parts) => {
                let condition = self.evaluate(&parts[0], frame)?;
                let then = self.evaluate(&parts[1], frame)?;
                let otherwise = self.evaluate(&parts[2], frame)?;
                chosen(&condition, &then, &otherwise)
            }
            Node::Let { target, value, body } => {
                let value = self.evaluate(value, frame)?;
                bind(frame, target, value);
                self.evaluate(body, frame)?
            }
            Node::CheckSizes { checks: _, body } => self.evaluate(body, frame)?,
            Node::Index { array, indices, span: _ } => {
                let array = self.evaluate(array, frame)?;
                let indices = self.all(indices, frame)?;
                self.index(array, &indices)
            }
            Node::WindowRead { .. } => Known::Nothing,
            Node::CallInstance { instance, args, span: _ } => {
                let args = self.all(args, frame)?;
                let Instance::Function(code) = &self.machine.instances[instance.0 as usize] else {
                    return Ok(Known::Nothing);
                };
                let code = Rc::clone(code);
                if self.calls_itself(&code.body) {
                    return Ok(Known::Nothing);
                }
                self.run(&code, vec![Known::Nothing; code.slots], args)?
            }
            Node::TailCall(_) => Known::Nothing,
            Node::Builtin { code, args, span } => {
                let args = self.all(args, frame)?;
                self.builtin(code, args, *span)?
            }
            Node::Call { function, args, span: _ } => {
                let function = self.evaluate(function, frame)?;
                let args = self.all(args, frame)?;
                self.call(&function, args)?
            }
            Node::Tuple(parts) => Known::tuple(self.all(parts, frame)?),
            Node::Instance(id) => match &self.machine.instances[id.0 as usize] {
                Instance::Function(code) => {
                    Known::Closure { code: Rc::clone(code), captured: Rc::new(Vec::new()) }
                }
                Instance::Expression(_, Some(val)) => Known::of(val),
                Instance::Expression(code, None) => {
                    let code = Rc::clone(code);
                    self.run(&code, vec![Known::Nothing; code.slots], Vec::new())?
                }
            },
            Node::Closure { code, captures } => {
                let captured = captures.iter().map(|slot| frame[*slot].clone()).collect();
                Known::Closure { code: Rc::clone(code), captured: Rc::new(captured) }
            }
            Node::Field { record, index, depth, ty: _ } => {
                self.evaluate(record, frame)?.field(*index, *depth)
            }
            Node::RecordUpdate { record, width, fields } => {
                let record = self.evaluate(record, frame)?;
                let mut parts: Vec<Known> = (0..*width).map(|at| record.component(at)).collect();
                for (index, field) in fields {
                    parts[*index] = self.evaluate(field, frame)?;
                }
                Known::tuple(parts)
            }
            Node::Array { elements, ty: _, span: _ } => {
                let element = self.all(elements, frame)?.into_iter().reduce(|a, b| a.join(&b));
                Known::array(Some(elements.len()), element.unwrap_or(Known::Nothing).shape())
            }
            Node::Mapped(mapped) => self.mapped(mapped, frame)?,
            Node::Update(update) => {
                let array = self.evaluate(&update.array, frame)?;
                let value = self.evaluate(&update.value, frame)?;
                array.with_element(update.indices.len(), &value)
            }
            Node::Slice(slice) => self.slice(slice, frame)?,
            Node::Loop(node) => self.rounds(node, frame)?,
            Node::Comprehension(node) => self.comprehension(node, frame)?,
        })
    }

    /// The value of an expression that does not depend on the items. What the rows in it have in common is not known
    /// with it: that would be looked for in the rows.
    fn computed(&mut self, node: &Node, frame: &Frame) -> Result<Option<Val>, Unwind> {
        // Of these the extents are known even if they are errors.
        let has_extents = matches!(node, Node::Array { .. } | Node::Update(_) | Node::Slice(_));
        let may_be = matches!(
            node,
            Node::Comprehension(_)
                | Node::Mapped(_)
                | Node::Builtin { .. }
                | Node::Loop(_)
                | Node::Call { .. }
                | Node::CallInstance { .. }
        );
        if !(may_be || has_extents) || self.looks == 0 {
            return Ok(None);
        }
        let mut vals = vec![Val::NOTHING; frame.len()];
        for slot in slots_read(node, frame.len()) {
            match &frame[slot] {
                Known::Val(Val::Function(_) | Val::Window(_) | Val::Boundary(_)) => {
                    return Ok(None);
                }
                known => match known.val() {
                    Some(val) => vals[slot] = val.clone(),
                    None => return Ok(None),
                },
            }
        }
        let is_loop = self.is_loop_of_numbers(node, frame)?;
        if !is_loop && self.calls_itself(node) {
            return Ok(None);
        }
        let result = self.machine.attempt(&mut self.looks, |machine| {
            let base = machine.stack.len();
            machine.stack.append(&mut vals);
            let outer = std::mem::replace(&mut machine.base, base);
            let val = machine.evaluate(node)?;
            machine.base = outer;
            machine.stack.truncate(base);
            Ok(val)
        })?;
        let is_error = |val: &Val| matches!(val, Val::Error(_));
        let fits = |val: &Val| {
            is_value(val) && !(has_extents && is_error(val)) && (!is_loop || is_numbers(val))
        };
        Ok(result.filter(fits))
    }

    /// Whether an expression is a call with numbers that calls itself in tail position only.
    fn is_loop_of_numbers(&mut self, node: &Node, frame: &Frame) -> Result<bool, Unwind> {
        let Node::CallInstance { instance, args, span: _ } = node else { return Ok(false) };
        let Instance::Function(code) = &self.machine.instances[instance.0 as usize] else {
            return Ok(false);
        };
        let code = Rc::clone(code);
        let calls_on = |node: &Node| self.calls(node, false);
        if calls_on(&code.body) || args.iter().any(calls_on) || !self.calls_itself(&code.body) {
            return Ok(false);
        }
        let args = self.all(args, &mut frame.clone())?;
        Ok(args.iter().all(|arg| matches!(arg, Known::Val(val) if is_numbers(val))))
    }

    fn all(&mut self, nodes: &[Node], frame: &mut Frame) -> Result<Vec<Known>, Unwind> {
        nodes.iter().map(|node| self.evaluate(node, frame)).collect()
    }

    /// A call of a function value, with fewer arguments than it takes, as many, or more.
    fn call(&mut self, function: &Known, args: Vec<Known>) -> Result<Known, Unwind> {
        let mut args = args;
        let (code, captured) = match function {
            Known::Closure { code, captured } => (Rc::clone(code), captured.to_vec()),
            Known::Partial { function, args: bound } => {
                return self.call(function, [&bound[..], &args[..]].concat());
            }
            Known::Val(Val::Function(value)) => match &value.kind {
                FunctionKind::Code { code, captured } => {
                    (Rc::clone(code), captured.iter().map(Known::of).collect())
                }
                FunctionKind::Partial { function, args: bound } => {
                    let function = Known::Val(Val::Function(Rc::<Function>::clone(function)));
                    let bound: Vec<Known> = bound.iter().map(Known::of).collect();
                    return self.call(&function, [bound, args].concat());
                }
                FunctionKind::Builtin(code) => {
                    let arity = code.builtin.arity();
                    if args.len() < arity {
                        return Ok(Known::partial(function, args));
                    }
                    let rest = args.split_off(arity);
                    let result = self.builtin(code, args, code.span)?;
                    return if rest.is_empty() { Ok(result) } else { self.call(&result, rest) };
                }
            },
            _ => return Ok(Known::Nothing),
        };
        if args.len() < code.arity() {
            return Ok(Known::partial(function, args));
        }
        let rest = args.split_off(code.arity());
        let mut frame = vec![Known::Nothing; code.slots];
        for (slot, value) in code.captures.iter().zip(captured) {
            frame[*slot] = value;
        }
        let result = self.run(&code, frame, args)?;
        if rest.is_empty() { Ok(result) } else { self.call(&result, rest) }
    }

    /// A call of a function whose captured variables are in the frame.
    fn run(&mut self, code: &Code, frame: Frame, args: Vec<Known>) -> Result<Known, Unwind> {
        let Some(calls) = self.calls.checked_sub(1) else { return Ok(Known::Nothing) };
        let outer = std::mem::replace(&mut self.calls, calls);
        let mut frame = frame;
        for (target, arg) in code.params.iter().zip(args) {
            bind(&mut frame, target, arg);
        }
        let result = self.evaluate(&code.body, &mut frame)?;
        self.calls = outer;
        Ok(result)
    }

    /// Whether an expression calls a function that calls itself, or may do so.
    fn calls_itself(&self, node: &Node) -> bool {
        self.calls(node, true)
    }

    /// The same, of which tail calls are left out if it is said so.
    fn calls(&self, node: &Node, in_tail: bool) -> bool {
        let mut seen = Vec::new();
        let mut next: Vec<(&Node, Vec<InstanceId>)> = vec![(node, Vec::new())];
        while let Some((node, within)) = next.pop() {
            if in_tail && matches!(node, Node::TailCall(_)) {
                return true;
            }
            if let Node::CallInstance { instance: id, .. } | Node::Instance(id) = node {
                if within.contains(id) {
                    return true;
                }
                if !seen.contains(id) {
                    seen.push(*id);
                    let (Instance::Function(code) | Instance::Expression(code, _)) =
                        &self.machine.instances[id.0 as usize];
                    next.push((&code.body, [&within[..], &[*id]].concat()));
                }
            }
            next.extend(node.children().into_iter().map(|child| (child, within.clone())));
        }
        false
    }

    /// A function over `depth` axes of those arguments that carry them.
    fn mapped(&mut self, mapped: &Mapped, frame: &mut Frame) -> Result<Known, Unwind> {
        let function = self.evaluate(&mapped.function, frame)?;
        let mut lengths = vec![None; mapped.depth];
        let mut args = Vec::with_capacity(mapped.args.len());
        for (arg, is_mapped) in &mapped.args {
            let mut arg = self.evaluate(arg, frame)?;
            if *is_mapped {
                for length in &mut lengths {
                    let (own, element) = arg.elements();
                    *length = length.or(own);
                    arg = element;
                }
            }
            args.push(arg);
        }
        let result = self.call(&function, args)?.shape();
        Ok(lengths.into_iter().rev().fold(result, |element, length| Known::array(length, element)))
    }

    fn comprehension(&mut self, node: &Comprehension, frame: &mut Frame) -> Result<Known, Unwind> {
        let mut length = None;
        let mut items = Vec::with_capacity(node.generators.len());
        for (_, generator) in &node.generators {
            let (own, item) = self.evaluate(generator, frame)?.elements();
            length = length.or(own);
            items.push(item);
        }
        for ((target, _), item) in node.generators.iter().zip(items) {
            bind(frame, target, item);
        }
        if node.filter.is_some() {
            length = None;
        }
        Ok(Known::array(length, self.evaluate(&node.body, frame)?.shape()))
    }

    fn rounds(&mut self, node: &Loop, frame: &mut Frame) -> Result<Known, Unwind> {
        let mut state = self.evaluate(&node.init, frame)?;
        match &node.control {
            Control::Count(target, count) => {
                if let Known::Val(Val::I64(count)) = self.evaluate(count, frame)?
                    && count <= MOST_ROUNDS
                {
                    for index in 0..count {
                        bind(frame, target, Known::Val(Val::I64(index)));
                        bind(frame, &node.state, state);
                        state = self.evaluate(&node.body, frame)?;
                    }
                    return Ok(state);
                }
                bind(frame, target, Known::Nothing);
            }
            Control::Each(target, array) => {
                let array = self.evaluate(array, frame)?;
                let (length, element) = array.elements();
                let count = length.and_then(|length| i64::try_from(length).ok());
                if let Some(count) = count.filter(|count| *count <= MOST_ROUNDS) {
                    for index in 0..count {
                        let element = self.index(array.clone(), &[Known::Val(Val::I64(index))]);
                        bind(frame, target, element);
                        bind(frame, &node.state, state);
                        state = self.evaluate(&node.body, frame)?;
                    }
                    return Ok(state);
                }
                bind(frame, target, element);
            }
            Control::While(_) => {}
        }
        state = state.shape();
        loop {
            bind(frame, &node.state, state.clone());
            let next = state.join(&self.evaluate(&node.body, frame)?);
            if next.same(&state) || self.nodes == 0 {
                return Ok(next);
            }
            state = next;
        }
    }

    fn index(&mut self, array: Known, indices: &[Known]) -> Known {
        let known: Option<Vec<i64>> = indices.iter().map(Known::integer).collect();
        if let (Some(val @ (Val::Array(_) | Val::Boxed(_))), Some(indices)) = (array.val(), known) {
            return Known::of(&self.machine.element_at(val, &indices, weft_ir::Span::default()));
        }
        (0..indices.len()).fold(array, |array, _| array.elements().1)
    }

    fn slice(&mut self, slice: &Slice, frame: &mut Frame) -> Result<Known, Unwind> {
        let array = self.evaluate(&slice.array, frame)?;
        self.sliced(array, &slice.axes, frame)
    }

    fn sliced(&mut self, array: Known, axes: &[Axis], frame: &mut Frame) -> Result<Known, Unwind> {
        let Some((axis, rest)) = axes.split_first() else { return Ok(array) };
        let (length, element) = match axis {
            Axis::Index(index) => {
                let index = self.evaluate(index, frame)?;
                let element = self.index(array, &[index]);
                return self.sliced(element, rest, frame);
            }
            Axis::Gather(indices) => {
                (self.evaluate(indices, frame)?.elements().0, array.elements().1)
            }
            Axis::Range { start, stop, step, span: _ } => {
                let (length, element) = array.elements();
                let mut bounds = [None; 3];
                let mut are_known = true;
                for (bound, node) in bounds.iter_mut().zip([start, stop, step]) {
                    if let Some(node) = node {
                        *bound = self.evaluate(node, frame)?.integer();
                        are_known &= bound.is_some();
                    }
                }
                let [start, stop, step] = bounds;
                let chosen = length
                    .filter(|_| are_known)
                    .and_then(|length| crate::index::range_length(start, stop, step, length));
                (chosen, element)
            }
        };
        Ok(Known::array(length, self.sliced(element, rest, frame)?))
    }
}

/// Whether a value is no function.
fn is_value(val: &Val) -> bool {
    match val {
        Val::Tuple(parts) => parts.iter().all(is_value),
        Val::Function(_) | Val::Window(_) | Val::Boundary(_) => false,
        _ => true,
    }
}

/// Whether a value is a scalar, or scalars.
fn is_numbers(val: &Val) -> bool {
    match val {
        Val::Tuple(parts) => parts.iter().all(is_numbers),
        Val::Array(_) | Val::Boxed(_) | Val::Error(_) => false,
        val => is_value(val),
    }
}

/// Puts the parts of a value into the slots of a frame.
fn bind(frame: &mut Frame, target: &Target, value: Known) {
    match target {
        Target::Ignore => {}
        Target::Slot(slot) => frame[*slot] = value,
        Target::Tuple(targets) => {
            for (index, target) in targets.iter().enumerate() {
                bind(frame, target, value.component(index));
            }
        }
    }
}

/// One of two values, or what they have in common if it is not known which.
fn chosen(condition: &Known, then: &Known, otherwise: &Known) -> Known {
    match condition {
        Known::Val(Val::Bool(1)) => then.beside(otherwise),
        Known::Val(Val::Bool(0)) => otherwise.beside(then),
        Known::Val(error) => Known::Val(error.clone()),
        _ => then.join(otherwise),
    }
}
