//! Last uses: a variable that is not read again gives its value away instead of copying it.
//!
//! So an array that a loop passes on, `loop a = … do (a with [i] = v)`, has one owner at the update
//! and is changed in place.
//!
//! The pass walks each function backwards in the order of evaluation, with the set of slots that are
//! still read afterwards. What a loop or an apply-to-each reads from outside is read again by the
//! next iteration. Captured variables stay, since the frame may serve many calls.

use crate::code::{Axis, Control, Node, Slot, Target};

/// Turns the reads of variables that are not read afterwards into [`Node::Take`]. `captures` are the
/// captured variables of a function of that many slots.
pub(crate) fn mark_last_uses(body: &mut Node, captures: &[Slot], slots: usize) {
    let mut live = Slots { words: vec![0; slots.div_ceil(64)] };
    for slot in captures {
        live.insert(*slot);
    }
    mark(body, &mut live);
}

/// The slots, of a function of that many, that an expression reads and does not bind itself.
pub(crate) fn slots_read(node: &Node, slots: usize) -> Vec<Slot> {
    let mut read = Slots { words: vec![0; slots.div_ceil(64)] };
    reads(node, &mut read);
    (0..slots).filter(|slot| read.contains(*slot)).collect()
}

/// A set of slots.
#[derive(Clone)]
struct Slots {
    words: Vec<u64>,
}

impl Slots {
    fn empty_like(other: &Slots) -> Slots {
        Slots { words: vec![0; other.words.len()] }
    }

    fn contains(&self, slot: Slot) -> bool {
        self.words[slot / 64] & (1 << (slot % 64)) != 0
    }

    fn insert(&mut self, slot: Slot) {
        self.words[slot / 64] |= 1 << (slot % 64);
    }

    fn remove(&mut self, slot: Slot) {
        self.words[slot / 64] &= !(1 << (slot % 64));
    }

    fn extend(&mut self, other: &Slots) {
        for (word, other) in self.words.iter_mut().zip(&other.words) {
            *word |= other;
        }
    }

    fn insert_target(&mut self, target: &Target) {
        match target {
            Target::Ignore => {}
            Target::Slot(slot) => self.insert(*slot),
            Target::Tuple(parts) => parts.iter().for_each(|part| self.insert_target(part)),
        }
    }

    fn remove_target(&mut self, target: &Target) {
        match target {
            Target::Ignore => {}
            Target::Slot(slot) => self.remove(*slot),
            Target::Tuple(parts) => parts.iter().for_each(|part| self.remove_target(part)),
        }
    }
}

/// Marks an expression. `live` are the slots that are read after it, and then those that are read
/// from its beginning on.
fn mark(node: &mut Node, live: &mut Slots) {
    match node {
        Node::Constant(_) | Node::Instance(_) => {}
        Node::Local(slot) | Node::Take(slot) => {
            let slot = *slot;
            if !live.contains(slot) {
                live.insert(slot);
                *node = Node::Take(slot);
            }
        }
        Node::Closure { captures, .. } => captures.iter().for_each(|slot| live.insert(*slot)),
        Node::Unary { operand, .. } => mark(operand, live),
        Node::Binary { operands, .. } => mark_all(&mut operands[..], live),
        Node::Ternary { operands, .. } => mark_all(&mut operands[..], live),
        Node::And(operands) | Node::Or(operands) => {
            let [first, second] = &mut **operands;
            let mut taken = live.clone();
            mark(second, &mut taken);
            live.extend(&taken);
            mark(first, live);
        }
        Node::If(parts) => {
            let [condition, then, otherwise] = &mut **parts;
            let mut other = live.clone();
            mark(then, live);
            mark(otherwise, &mut other);
            live.extend(&other);
            mark(condition, live);
        }
        Node::Index { array, indices, .. } => {
            mark(array, live);
            mark_all(indices, live);
        }
        Node::Update(update) => {
            mark(&mut update.array, live);
            mark(&mut update.value, live);
            mark_all(&mut update.indices, live);
        }
        Node::Builtin { args, .. } | Node::CallInstance { args, .. } | Node::TailCall(args) => {
            mark_all(args, live);
        }
        Node::Call { function, args, .. } => {
            mark_all(args, live);
            mark(function, live);
        }
        Node::Mapped(mapped) => {
            for (arg, _) in mapped.args.iter_mut().rev() {
                mark(arg, live);
            }
            mark(&mut mapped.function, live);
        }
        Node::Let { target, value, body } => {
            mark(body, live);
            live.remove_target(target);
            mark(value, live);
        }
        Node::Loop(node) => {
            let repeated = match &mut node.control {
                Control::While(condition) => vec![condition, &mut node.body],
                Control::Count(..) | Control::Each(..) => vec![&mut node.body],
            };
            for part in &repeated {
                reads(part, live);
            }
            live.remove_target(&node.state);
            let mut after = live.clone();
            mark(&mut node.body, &mut after);
            match &mut node.control {
                Control::While(condition) => {
                    // After the condition the loop may end, and its value is the state.
                    after.extend(live);
                    after.insert_target(&node.state);
                    mark(condition, &mut after);
                }
                Control::Count(target, count) => {
                    live.remove_target(target);
                    mark(count, live);
                }
                Control::Each(target, elements) => {
                    live.remove_target(target);
                    mark(elements, live);
                }
            }
            mark(&mut node.init, live);
        }
        Node::Tuple(parts) => mark_all(parts, live),
        Node::RecordUpdate { record, fields, .. } => {
            for (_, field) in fields.iter_mut().rev() {
                mark(field, live);
            }
            mark(record, live);
        }
        Node::Field { record, .. } => mark(record, live),
        Node::Array { elements, .. } => mark_all(elements, live),
        Node::Slice(slice) => {
            for axis in slice.axes.iter_mut().rev() {
                match axis {
                    Axis::Index(index) | Axis::Gather(index) => mark(index, live),
                    Axis::Range { start, stop, step, .. } => {
                        for bound in [step, stop, start].into_iter().flatten() {
                            mark(bound, live);
                        }
                    }
                }
            }
            mark(&mut slice.array, live);
        }
        Node::WindowRead { window, .. } => mark(window, live),
        Node::Comprehension(node) => {
            reads(&node.body, live);
            if let Some(filter) = &node.filter {
                reads(filter, live);
            }
            for (target, _) in &node.generators {
                live.remove_target(target);
            }
            let mut within = live.clone();
            mark(&mut node.body, &mut within);
            if let Some(filter) = &mut node.filter {
                mark(filter, &mut within);
            }
            for (_, generator) in node.generators.iter_mut().rev() {
                mark(generator, live);
            }
        }
        Node::CheckSizes { checks, body } => {
            mark(body, live);
            checks.iter().for_each(|check| live.insert(check.slot));
        }
    }
}

/// Marks expressions that are evaluated one after the other.
fn mark_all(nodes: &mut [Node], live: &mut Slots) {
    for node in nodes.iter_mut().rev() {
        mark(node, live);
    }
}

/// Adds the slots that an expression reads and does not bind itself. (A slot has one binding, so it
/// is enough to remove what is bound anywhere inside.)
fn reads(node: &Node, slots: &mut Slots) {
    let (mut read, mut bound) = (Slots::empty_like(slots), Slots::empty_like(slots));
    visit(node, &mut read, &mut bound);
    for (word, (read, bound)) in slots.words.iter_mut().zip(read.words.iter().zip(&bound.words)) {
        *word |= read & !bound;
    }
}

fn visit(node: &Node, read: &mut Slots, bound: &mut Slots) {
    let all = |nodes: &[Node], read: &mut Slots, bound: &mut Slots| {
        for node in nodes {
            visit(node, read, bound);
        }
    };
    match node {
        Node::Constant(_) | Node::Instance(_) => {}
        Node::Local(slot) | Node::Take(slot) => read.insert(*slot),
        Node::Closure { captures, .. } => captures.iter().for_each(|slot| read.insert(*slot)),
        Node::Unary { operand, .. } => visit(operand, read, bound),
        Node::Binary { operands, .. } | Node::And(operands) | Node::Or(operands) => {
            all(&operands[..], read, bound);
        }
        Node::Ternary { operands, .. } | Node::If(operands) => all(&operands[..], read, bound),
        Node::Index { array, indices, .. } => {
            visit(array, read, bound);
            all(indices, read, bound);
        }
        Node::Update(update) => {
            all(&update.indices, read, bound);
            visit(&update.value, read, bound);
            visit(&update.array, read, bound);
        }
        Node::Builtin { args, .. } | Node::CallInstance { args, .. } | Node::TailCall(args) => {
            all(args, read, bound);
        }
        Node::Call { function, args, .. } => {
            visit(function, read, bound);
            all(args, read, bound);
        }
        Node::Mapped(mapped) => {
            visit(&mapped.function, read, bound);
            for (arg, _) in &mapped.args {
                visit(arg, read, bound);
            }
        }
        Node::Let { target, value, body } => {
            bound.insert_target(target);
            visit(value, read, bound);
            visit(body, read, bound);
        }
        Node::Loop(node) => {
            bound.insert_target(&node.state);
            visit(&node.init, read, bound);
            match &node.control {
                Control::Count(target, driver) | Control::Each(target, driver) => {
                    bound.insert_target(target);
                    visit(driver, read, bound);
                }
                Control::While(condition) => visit(condition, read, bound),
            }
            visit(&node.body, read, bound);
        }
        Node::Tuple(parts) => all(parts, read, bound),
        Node::RecordUpdate { record, fields, .. } => {
            visit(record, read, bound);
            for (_, field) in fields {
                visit(field, read, bound);
            }
        }
        Node::Field { record, .. } => visit(record, read, bound),
        Node::Array { elements, .. } => all(elements, read, bound),
        Node::Slice(slice) => {
            visit(&slice.array, read, bound);
            for axis in &slice.axes {
                match axis {
                    Axis::Index(index) | Axis::Gather(index) => visit(index, read, bound),
                    Axis::Range { start, stop, step, .. } => {
                        for bound_node in [start, stop, step].into_iter().flatten() {
                            visit(bound_node, read, bound);
                        }
                    }
                }
            }
        }
        Node::WindowRead { window, .. } => visit(window, read, bound),
        Node::Comprehension(node) => {
            for (target, generator) in &node.generators {
                bound.insert_target(target);
                visit(generator, read, bound);
            }
            if let Some(filter) = &node.filter {
                visit(filter, read, bound);
            }
            visit(&node.body, read, bound);
        }
        Node::CheckSizes { checks, body } => {
            checks.iter().for_each(|check| read.insert(check.slot));
            visit(body, read, bound);
        }
    }
}
