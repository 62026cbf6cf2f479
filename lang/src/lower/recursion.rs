//! Which top-level functions are recursive, and what they read of earlier bindings.

use std::collections::{BTreeMap, BTreeSet};

use crate::typed::{Expr, ExprKind, FunctionRef, GlobalId, InstanceId, Program};
use crate::types::Type;

/// What the call graph says.
pub(super) struct Recursion {
    /// What each instance mentions.
    calls: Vec<Vec<usize>>,
    /// Whether each instance may call itself.
    recursive: Vec<bool>,
    /// Whether each instance is in no cycle with others.
    alone: Vec<bool>,
    /// The earlier bindings that each recursive instance reads, itself or through its callees.
    reads: BTreeMap<InstanceId, BTreeMap<GlobalId, Type>>,
}

impl Recursion {
    /// Looks at all instances of a program.
    pub(super) fn of(program: &Program) -> Recursion {
        let mut calls: Vec<Vec<usize>> = Vec::new();
        let mut values: Vec<BTreeMap<GlobalId, Type>> = Vec::new();
        for instance in &program.instances {
            let (mut called, mut read) = (BTreeSet::new(), BTreeMap::new());
            visit(&instance.body, &mut |expr| match &expr.kind {
                ExprKind::Function(FunctionRef::Instance(id)) => {
                    called.insert(id.0 as usize);
                }
                ExprKind::Value(global) => {
                    read.insert(*global, expr.ty.clone());
                }
                _ => {}
            });
            calls.push(called.into_iter().collect());
            values.push(read);
        }
        let mut recursive = vec![false; calls.len()];
        let mut alone = vec![true; calls.len()];
        for component in components(&calls) {
            let first = component[0];
            if component.len() > 1 || calls[first].contains(&first) {
                let is_alone = component.len() == 1;
                for instance in component {
                    recursive[instance] = true;
                    alone[instance] = is_alone;
                }
            }
        }
        let mut reads = BTreeMap::new();
        for (index, _) in recursive.iter().enumerate().filter(|(_, recursive)| **recursive) {
            let mut all = BTreeMap::new();
            for reached in reachable(&calls, index) {
                all.extend(values[reached].clone());
            }
            reads.insert(InstanceId(index as u32), all);
        }
        Recursion { calls, recursive, alone, reads }
    }

    /// Whether an instance may call itself.
    pub(super) fn is_recursive(&self, id: InstanceId) -> bool {
        self.recursive[id.0 as usize]
    }

    /// Whether an instance calls itself only directly.
    pub(super) fn is_alone(&self, id: InstanceId) -> bool {
        self.alone[id.0 as usize]
    }

    /// The instances that one may call, itself included.
    pub(super) fn reachable(&self, id: InstanceId) -> impl Iterator<Item = InstanceId> {
        reachable(&self.calls, id.0 as usize).into_iter().map(|id| InstanceId(id as u32))
    }

    /// The earlier bindings that a recursive instance reads.
    pub(super) fn reads(&self, id: InstanceId) -> BTreeMap<GlobalId, Type> {
        self.reads.get(&id).cloned().unwrap_or_default()
    }
}

/// How often an expression mentions an instance.
pub(super) fn count_mentions(id: InstanceId, expr: &Expr) -> usize {
    let mut count = 0;
    visit(expr, &mut |expr| {
        if let ExprKind::Function(FunctionRef::Instance(other)) = &expr.kind {
            count += usize::from(*other == id);
        }
    });
    count
}

/// The nodes that can be reached from one, itself included.
fn reachable(calls: &[Vec<usize>], start: usize) -> BTreeSet<usize> {
    let mut reached = BTreeSet::from([start]);
    let mut waiting = vec![start];
    while let Some(node) = waiting.pop() {
        for next in &calls[node] {
            if reached.insert(*next) {
                waiting.push(*next);
            }
        }
    }
    reached
}

/// The strongly connected components of a graph (Tarjan 1972), without recursion.
fn components(calls: &[Vec<usize>]) -> Vec<Vec<usize>> {
    const UNSEEN: usize = usize::MAX;
    let mut index = vec![UNSEEN; calls.len()];
    let mut low = vec![0; calls.len()];
    let mut on_stack = vec![false; calls.len()];
    let (mut stack, mut found, mut next) = (Vec::new(), Vec::new(), 0);
    for root in 0..calls.len() {
        if index[root] != UNSEEN {
            continue;
        }
        let mut path: Vec<(usize, usize)> = vec![(root, 0)];
        while let Some((node, edge)) = path.pop() {
            if edge == 0 {
                (index[node], low[node]) = (next, next);
                next += 1;
                stack.push(node);
                on_stack[node] = true;
            }
            if let Some(&callee) = calls[node].get(edge) {
                path.push((node, edge + 1));
                if index[callee] == UNSEEN {
                    path.push((callee, 0));
                } else if on_stack[callee] {
                    low[node] = low[node].min(index[callee]);
                }
                continue;
            }
            if low[node] == index[node] {
                let start = stack.iter().rposition(|other| *other == node).expect("on the stack");
                let component = stack.split_off(start);
                for member in &component {
                    on_stack[*member] = false;
                }
                found.push(component);
            }
            if let Some((caller, _)) = path.last() {
                low[*caller] = low[*caller].min(low[node]);
            }
        }
    }
    found
}

/// Calls a function on an expression and all that are in it.
pub(super) fn visit<'a>(expr: &'a Expr, look: &mut dyn FnMut(&'a Expr)) {
    look(expr);
    expr.for_each_child(&mut |child| visit(child, look));
}
