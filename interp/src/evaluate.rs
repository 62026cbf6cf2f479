//! Evaluation of expressions.

use std::rc::Rc;

use weft_ir::{Column, Span, TrapKind, Type, Unit};
use weft_lang::typed::{Size, SizeStep};

use crate::apply::{Function, Source};
use crate::code::{Check, Comprehension, Control, Loop, Mapped, Node, Target};
use crate::collect::Collector;
use crate::elements::Elements;
use crate::machine::{Machine, Outcome, Stop, Unwind};
use crate::operator;
use crate::value::{Val, element_type};

impl Machine<'_> {
    /// The value of an expression in the current frame.
    pub(crate) fn evaluate(&mut self, node: &Node) -> Result<Val, Unwind> {
        let mut node = node;
        loop {
            match node {
                Node::Constant(val) => return Ok(val.clone()),
                Node::Local(slot) => return Ok(self.stack[self.base + slot].clone()),
                Node::Take(slot) => {
                    let slot = self.base + slot;
                    return Ok(std::mem::replace(&mut self.stack[slot], Val::NOTHING));
                }
                Node::Unary { function, operand, span } => {
                    let a = self.evaluate(operand)?;
                    return Ok(operator::unary(self, *function, &a, *span));
                }
                Node::Binary { operator, operands, span } => {
                    let a = self.evaluate(&operands[0])?;
                    let b = self.evaluate(&operands[1])?;
                    return Ok(operator::binary(self, *operator, &a, &b, *span));
                }
                Node::Ternary { function, operands, span } => {
                    let a = self.evaluate(&operands[0])?;
                    let b = self.evaluate(&operands[1])?;
                    let c = self.evaluate(&operands[2])?;
                    return Ok(operator::ternary(self, *function, [&a, &b, &c], *span));
                }
                Node::And(operands) => match self.evaluate(&operands[0])? {
                    Val::Bool(1) => node = &operands[1],
                    decided => return Ok(decided),
                },
                Node::Or(operands) => match self.evaluate(&operands[0])? {
                    Val::Bool(0) => node = &operands[1],
                    decided => return Ok(decided),
                },
                Node::If(parts) => match self.evaluate(&parts[0])? {
                    Val::Bool(1) => node = &parts[1],
                    Val::Bool(0) => node = &parts[2],
                    error => return Ok(error),
                },
                Node::Let { target, value, body } => {
                    self.evaluate_into(value, target)?;
                    node = body;
                }
                Node::CheckSizes { checks, body } => {
                    if let Some(error) = self.check_sizes(checks) {
                        return Ok(error);
                    }
                    node = body;
                }
                Node::Index { array, indices, span } => return self.index(array, indices, *span),
                Node::WindowRead { window, offset, span } => {
                    return self.read_window(window, offset, *span);
                }
                Node::CallInstance { instance, args, span } => {
                    for arg in args {
                        let arg = self.evaluate(arg)?;
                        self.stack.push(arg);
                    }
                    return self.call_instance(*instance, *span);
                }
                Node::TailCall(args) => {
                    for arg in args {
                        let arg = self.evaluate(arg)?;
                        self.stack.push(arg);
                    }
                    return Err(self.tail_call());
                }
                Node::Builtin { code, args, span } => {
                    let args = self.evaluate_all(args)?;
                    return self.call_builtin(code, args, *span);
                }
                Node::Call { function, args, span } => {
                    let function = self.evaluate(function)?;
                    let args = self.evaluate_all(args)?;
                    return self.call(&function, args, *span);
                }
                Node::Tuple(parts) => return Ok(Val::tuple(self.evaluate_all(parts)?)),
                Node::Instance(id) => return self.instance(*id),
                Node::Closure { code, captures } => {
                    let captured =
                        captures.iter().map(|slot| self.stack[self.base + slot].clone()).collect();
                    let function = Function::closure(Rc::clone(code), captured);
                    self.admit_function(&function, code.span)?;
                    return Ok(Val::Function(Rc::new(function)));
                }
                Node::Field { record, index, depth, ty } => {
                    let record = self.evaluate(record)?;
                    return Ok(field(&record, *index, *depth, ty));
                }
                Node::RecordUpdate { record, width, fields } => {
                    return self.update_record(record, *width, fields);
                }
                Node::Array { elements, ty, span } => {
                    let mut collector = Collector::new(ty, *span);
                    for node in elements {
                        let val = self.evaluate(node)?;
                        self.collect(&mut collector, val)?;
                    }
                    return Ok(self.finish(collector).into_val());
                }
                Node::Mapped(mapped) => return self.evaluate_mapped(mapped),
                Node::Update(update) => return self.evaluate_update(update),
                Node::Slice(slice) => return self.evaluate_slice(slice),
                Node::Loop(node) => return self.evaluate_loop(node),
                Node::Comprehension(node) => {
                    let result = self.evaluate_comprehension(node);
                    return settle(result);
                }
            }
        }
    }

    #[inline(never)]
    fn evaluate_all(&mut self, nodes: &[Node]) -> Result<Vec<Val>, Unwind> {
        let mut vals = Vec::with_capacity(nodes.len());
        for node in nodes {
            vals.push(self.evaluate(node)?);
        }
        Ok(vals)
    }

    /// Evaluates an expression and binds its parts, without building a tuple only to take it apart.
    pub(crate) fn evaluate_into(&mut self, node: &Node, target: &Target) -> Result<(), Unwind> {
        let Target::Tuple(targets) = target else {
            let val = self.evaluate(node)?;
            self.bind(target, val);
            return Ok(());
        };
        let mut node = node;
        loop {
            match node {
                Node::Tuple(parts) => {
                    // The targets may be variables that later parts still read.
                    let first = self.stack.len();
                    for part in parts {
                        let val = self.evaluate(part)?;
                        self.stack.push(val);
                    }
                    for (index, target) in targets.iter().enumerate() {
                        let val = std::mem::replace(&mut self.stack[first + index], Val::NOTHING);
                        self.bind(target, val);
                    }
                    self.stack.truncate(first);
                    return Ok(());
                }
                Node::Let { target, value, body } => {
                    self.evaluate_into(value, target)?;
                    node = body;
                }
                Node::If(parts) => match self.evaluate(&parts[0])? {
                    Val::Bool(1) => node = &parts[1],
                    Val::Bool(0) => node = &parts[2],
                    error => {
                        self.bind(target, error);
                        return Ok(());
                    }
                },
                node => {
                    let val = self.evaluate(node)?;
                    self.bind(target, val);
                    return Ok(());
                }
            }
        }
    }

    /// The value of a variable or other expression, for a look at it: a variable is not copied.
    pub(crate) fn look<T>(
        &mut self,
        node: &Node,
        look: impl FnOnce(&mut Self, &Val) -> Result<T, Unwind>,
    ) -> Result<T, Unwind> {
        match node {
            Node::Local(slot) | Node::Take(slot) => {
                let slot = self.base + slot;
                let val = std::mem::replace(&mut self.stack[slot], Val::NOTHING);
                let result = look(self, &val);
                self.stack[slot] = val;
                result
            }
            node => {
                let val = self.evaluate(node)?;
                look(self, &val)
            }
        }
    }

    #[inline(never)]
    fn update_record(
        &mut self,
        record: &Node,
        width: usize,
        fields: &[(usize, Node)],
    ) -> Result<Val, Unwind> {
        let record = self.evaluate(record)?;
        let mut parts: Vec<Val> = (0..width).map(|index| record.component(index)).collect();
        for (index, field) in fields {
            parts[*index] = self.evaluate(field)?;
        }
        Ok(Val::tuple(parts))
    }

    #[inline(never)]
    fn evaluate_mapped(&mut self, mapped: &Mapped) -> Result<Val, Unwind> {
        let function = self.evaluate(&mapped.function)?;
        let mut sources = Vec::with_capacity(mapped.args.len());
        for (arg, is_mapped) in &mapped.args {
            let val = self.evaluate(arg)?;
            sources.push(match val {
                val if !is_mapped => Source::Shared(val),
                Val::Array(column) => Source::Each(Elements::Packed(column)),
                Val::Boxed(elements) => Source::Each(Elements::Boxed(elements)),
                error => return Ok(error),
            });
        }
        let result = self.with_callee(&function, sources.len(), mapped.span, |machine, callee| {
            let name = &mapped.name;
            Ok(machine.lift(callee, &sources, mapped.depth, &mapped.ty, name, mapped.span)?)
        });
        settle(result)
    }

    #[inline(never)]
    fn evaluate_loop(&mut self, node: &Loop) -> Result<Val, Unwind> {
        self.evaluate_into(&node.init, &node.state)?;
        let places = self.places();
        match &node.control {
            Control::Count(target, count) => {
                let count = match self.evaluate(count)? {
                    Val::I64(count) => count,
                    error => return Ok(error),
                };
                let piece = self.meter.begin(u64::try_from(count).unwrap_or(0));
                self.begin_place(Unit::Turn, node.span);
                for index in 0..count {
                    self.step()?;
                    if let Some(piece) = &piece {
                        piece.set(index as u64);
                    }
                    self.go_on_to(index as usize);
                    self.bind(target, Val::I64(index));
                    self.evaluate_into(&node.body, &node.state)?;
                }
            }
            Control::Each(target, elements) => {
                let elements = match self.evaluate(elements)? {
                    Val::Array(column) => Elements::Packed(column),
                    Val::Boxed(elements) => Elements::Boxed(elements),
                    error => return Ok(error),
                };
                let piece = self.meter.begin(elements.len() as u64);
                self.begin_place(Unit::Turn, node.span);
                for index in 0..elements.len() {
                    self.step()?;
                    if let Some(piece) = &piece {
                        piece.set(index as u64);
                    }
                    self.go_on_to(index);
                    self.bind_element(target, &elements, index);
                    self.evaluate_into(&node.body, &node.state)?;
                }
            }
            Control::While(condition) => {
                self.begin_place(Unit::Turn, node.span);
                let mut turn = 0;
                loop {
                    self.go_on_to(turn);
                    match self.evaluate(condition)? {
                        Val::Bool(1) => {}
                        Val::Bool(0) => break,
                        error => {
                            self.end_places(places);
                            return Ok(error);
                        }
                    }
                    self.step()?;
                    self.evaluate_into(&node.body, &node.state)?;
                    turn += 1;
                }
            }
        }
        self.end_places(places);
        Ok(self.unbind(&node.state))
    }

    /// The value whose parts are in the slots of a target, which are then empty.
    fn unbind(&mut self, target: &Target) -> Val {
        match target {
            Target::Ignore => panic!("a loop ignores a part of its state"),
            Target::Slot(slot) => {
                let slot = self.base + slot;
                std::mem::replace(&mut self.stack[slot], Val::NOTHING)
            }
            Target::Tuple(targets) => {
                Val::tuple(targets.iter().map(|target| self.unbind(target)).collect())
            }
        }
    }

    #[inline(never)]
    fn evaluate_comprehension(&mut self, node: &Comprehension) -> Outcome<Val> {
        let mut sources = Vec::with_capacity(node.generators.len());
        for (target, generator) in &node.generators {
            match self.evaluate(generator)? {
                Val::Array(column) => sources.push((target, Elements::Packed(column))),
                Val::Boxed(elements) => sources.push((target, Elements::Boxed(elements))),
                Val::Error(error) => return Err(Stop::Error(error)),
                other => panic!("{other:?} is no array"),
            }
        }
        let length = sources.first().map_or(0, |(_, elements)| elements.len());
        for ((_, elements), name) in sources.iter().zip(&node.names) {
            if elements.len() == length {
                continue;
            }
            let operation = match (&*node.names[0], &**name) {
                ("", _) | (_, "") => "apply-to-each".to_owned(),
                (first, other) => format!("going through `{first}` and `{other}` together"),
            };
            self.same_length(&operation, length, elements.len(), node.span)?;
        }
        let mut collector = Collector::new(&node.ty, node.span);
        let piece = self.meter.begin(length as u64);
        let are_scalars = sources.iter().all(|(_, elements)| elements.are_scalars());
        let places = self.places();
        self.begin_place(if are_scalars { Unit::Element } else { Unit::Row }, node.span);
        for index in 0..length {
            if let Some(piece) = &piece {
                piece.set(index as u64);
            }
            self.go_on_to(index);
            for (target, elements) in &sources {
                self.bind_element(target, elements, index);
            }
            if let Some(filter) = &node.filter {
                match self.evaluate(filter)? {
                    Val::Bool(1) => {}
                    Val::Bool(0) => {
                        self.step()?;
                        continue;
                    }
                    // Which elements there are depends on it.
                    Val::Error(error) => {
                        self.finish(collector);
                        self.end_places(places);
                        return Err(Stop::Error(error));
                    }
                    other => panic!("{other:?} is no bool"),
                }
            }
            let val = self.evaluate(&node.body)?;
            self.collect(&mut collector, val)?;
        }
        self.end_places(places);
        let result = self.finish(collector);
        let result = self.with_extents(result, &node.ty, |machine| {
            machine.known_of_comprehension(node, &sources)
        })?;
        Ok(result.into_val())
    }

    /// The error of the first check that fails.
    #[inline(never)]
    fn check_sizes(&self, checks: &[Check]) -> Option<Val> {
        let mut sizes: Vec<(&str, i64)> = Vec::new();
        for check in checks {
            let mut lengths = Vec::new();
            let val = &self.stack[self.base + check.slot];
            if let Err(error) = measure(val, &check.path, &mut lengths) {
                return Some(error);
            }
            for found in lengths {
                let (size, expected) = match &check.size {
                    Size::Constant(expected) => (expected.to_string(), *expected),
                    Size::Name(name) => match sizes.iter().find(|(bound, _)| *bound == &**name) {
                        Some((_, expected)) => (name.to_string(), *expected),
                        None => {
                            sizes.push((&**name, found));
                            continue;
                        }
                    },
                };
                if found != expected {
                    let kind = TrapKind::SizeMismatch { size, expected, found };
                    return Some(self.trap(kind, check.span));
                }
            }
        }
        None
    }

    /// Two lengths of a lockstep operation must agree.
    pub(crate) fn same_length(
        &self,
        operation: &str,
        left: usize,
        right: usize,
        span: Span,
    ) -> Outcome<()> {
        if left == right {
            return Ok(());
        }
        let (left, right) = (left as i64, right as i64);
        Err(self
            .fail(TrapKind::LengthMismatch { operation: operation.to_owned(), left, right }, span))
    }
}

/// An error that is a whole result is a value.
pub(crate) fn settle(outcome: Outcome<Val>) -> Result<Val, Unwind> {
    match outcome {
        Ok(val) => Ok(val),
        Err(Stop::Error(error)) => Ok(Val::Error(error)),
        Err(Stop::Unwind(unwind)) => Err(unwind),
    }
}

/// The lengths that a size in an annotation is about, each different one once; or the error that
/// stands where an array should be.
fn measure(val: &Val, path: &[SizeStep], lengths: &mut Vec<i64>) -> Result<(), Val> {
    let mut add = |length: usize| {
        if lengths.last() != Some(&(length as i64)) {
            lengths.push(length as i64);
        }
    };
    match (path, val) {
        (_, Val::Error(_)) => return Err(val.clone()),
        ([], Val::Array(column)) => add(column.len()),
        ([], Val::Boxed(elements)) => add(elements.len()),
        ([SizeStep::Component(index), rest @ ..], Val::Tuple(parts)) => {
            measure(&parts[*index], rest, lengths)?;
        }
        ([SizeStep::Elements, rest @ ..], Val::Array(column)) => {
            measure_column(column, rest, &mut add);
        }
        ([SizeStep::Elements, rest @ ..], Val::Boxed(elements)) => {
            for element in elements.iter() {
                measure(element, rest, lengths)?;
            }
        }
        (path, val) => panic!("no path {path:?} into {val:?}"),
    }
    Ok(())
}

/// The lengths of the arrays that are the elements of a column, or are inside them. No elements have
/// no lengths: a size is about those that there are.
fn measure_column(column: &Column, path: &[SizeStep], add: &mut impl FnMut(usize)) {
    match (path, column) {
        ([], column) => {
            for row in 0..column.len() {
                add(column.row_len(row).unwrap_or_else(|| panic!("{column:?} has no arrays")));
            }
        }
        ([SizeStep::Component(index), rest @ ..], Column::Tuple { parts, .. }) => {
            measure_column(&parts[*index], rest, add);
        }
        ([SizeStep::Elements, rest @ ..], column) => measure_column(&column.flatten(), rest, add),
        (path, column) => panic!("no path {path:?} into {column:?}"),
    }
}

/// Component `index` of the tuples under `depth` array axes; `ty` is the result's type.
fn field(record: &Val, index: usize, depth: usize, ty: &Type) -> Val {
    match record {
        record if depth == 0 => record.component(index),
        Val::Array(column) => Val::array(field_of_column(column, index, depth)),
        Val::Boxed(elements) => {
            let ty = element_type(ty);
            let fields = elements.iter().map(|element| field(element, index, depth - 1, ty));
            Collector::from_iter(ty, fields).into_val()
        }
        error => error.clone(),
    }
}

fn field_of_column(column: &Column, index: usize, depth: usize) -> Column {
    match column {
        Column::Tuple { parts, .. } if depth == 1 => parts[index].clone(),
        Column::Dense { len, extent, inner } => Column::Dense {
            len: *len,
            extent: *extent,
            inner: Box::new(field_of_column(inner, index, depth - 1)),
        },
        Column::Ragged { offsets, inner } => Column::Ragged {
            offsets: offsets.clone(),
            inner: Box::new(field_of_column(inner, index, depth - 1)),
        },
        other => panic!("{other:?} has no tuples at depth {depth}"),
    }
}
