//! Walking over the parts of a plan: the blocks in a step and what it binds; what a sink takes of a point, the
//! code that it has, what it binds.

use std::collections::BTreeSet;
use std::iter::once;
use std::slice;

use super::{Block, Kernel, Sink, Step};
use crate::code::{Code, Operand, Operator, Register, Thunk};
use crate::flat::Var;

/// The walks, shared or mutable.
macro_rules! walks {
    (
        [$operands:ident, $results:ident, $codes:ident, $combined:ident],
        [$one:path, $iter:ident, $thunk:ident, $as:ident],
        [$($mutable:tt)?]
    ) => {
        impl Sink {
            /// What it takes of a point, in the order of the text.
            pub fn $operands(& $($mutable)? self) -> impl Iterator<Item = & $($mutable)? Operand> {
                type Operands<'a> = & 'a $($mutable)? [Operand];
                type Kept<'a> = & 'a $($mutable)? [(Operand, Var)];
                let (first, second, kept): (Operands<'_>, Operands<'_>, Kept<'_>) = match self {
                    Sink::Store { value: operand, .. } => {
                        ($one(operand), & $($mutable)? [], & $($mutable)? [])
                    }
                    Sink::Reduce { values: operands, .. }
                    | Sink::Scan { values: operands, .. }
                    | Sink::Interleave { values: operands, .. }
                    | Sink::Sort { keys: operands, .. } => {
                        (operands, & $($mutable)? [], & $($mutable)? [])
                    }
                    Sink::Filter { flag, kept, .. } => ($one(flag), & $($mutable)? [], kept),
                    Sink::Scatter { target, values, .. } => (target, values, & $($mutable)? []),
                };
                let kept = kept.$iter().map(|(operand, _)| operand);
                first.$iter().chain(second.$iter()).chain(kept)
            }

            /// The variables that it binds, in the order of the text.
            pub fn $results(& $($mutable)? self) -> impl Iterator<Item = & $($mutable)? Var> {
                type Vars<'a> = & 'a $($mutable)? [Var];
                type Wanted<'a> = & 'a $($mutable)? [Option<Var>];
                type Kept<'a> = & 'a $($mutable)? [(Operand, Var)];
                let (all, wanted, kept): (Vars<'_>, Wanted<'_>, Kept<'_>) = match self {
                    Sink::Store { array, .. }
                    | Sink::Interleave { array, .. }
                    | Sink::Sort { order: array, .. } => {
                        ($one(array), & $($mutable)? [], & $($mutable)? [])
                    }
                    Sink::Reduce { arrays, .. } | Sink::Scan { arrays, .. } => {
                        (& $($mutable)? [], arrays, & $($mutable)? [])
                    }
                    Sink::Filter { counts, kept, .. } => (counts, & $($mutable)? [], kept),
                    Sink::Scatter { arrays, .. } => (arrays, & $($mutable)? [], & $($mutable)? []),
                };
                let kept = kept.$iter().map(|(_, array)| array);
                all.$iter().chain(wanted.$iter().flatten()).chain(kept)
            }

            /// The operator that combines elements, and the code of what they start with.
            fn $combined(
                & $($mutable)? self,
            ) -> (Option<& $($mutable)? Operator>, Option<& $($mutable)? Thunk>) {
                match self {
                    Sink::Reduce { operator, start, .. } | Sink::Scan { operator, start, .. } => {
                        (Some(operator), start.$thunk())
                    }
                    Sink::Scatter { operator, .. } => (operator.$as(), None),
                    Sink::Store { .. }
                    | Sink::Interleave { .. }
                    | Sink::Filter { .. }
                    | Sink::Sort { .. } => (None, None),
                }
            }

            /// The code of its operator, and of what that starts with.
            pub fn $codes(& $($mutable)? self) -> impl Iterator<Item = & $($mutable)? Code> {
                let (operator, start) = self.$combined();
                let operator = operator.map(|operator| & $($mutable)? operator.code);
                operator.into_iter().chain(start.map(|start| & $($mutable)? start.code))
            }
        }
    };
}

walks!([operands, results, codes, combined], [slice::from_ref, iter, values, as_ref], []);
walks!(
    [operands_mut, results_mut, codes_mut, combined_mut],
    [slice::from_mut, iter_mut, values_mut, as_mut],
    [mut]
);

impl Sink {
    /// How it combines elements, if it does.
    pub fn operator(&self) -> Option<&Operator> {
        self.combined().0
    }

    /// What it starts with, if there is something.
    pub fn start(&self) -> Option<&Thunk> {
        self.combined().1
    }

    /// Of a filter, the numbers of points that are kept: the count, or the row offsets and the total.
    pub fn counts(&self) -> &[Var] {
        match self {
            Sink::Filter { counts, .. } => counts,
            Sink::Store { .. }
            | Sink::Interleave { .. }
            | Sink::Reduce { .. }
            | Sink::Scan { .. }
            | Sink::Scatter { .. }
            | Sink::Sort { .. } => &[],
        }
    }

    /// Of a scatter, the arrays before.
    pub fn destinations(&self) -> &[Var] {
        match self {
            Sink::Scatter { destinations, .. } => destinations,
            Sink::Store { .. }
            | Sink::Interleave { .. }
            | Sink::Reduce { .. }
            | Sink::Scan { .. }
            | Sink::Filter { .. }
            | Sink::Sort { .. } => &[],
        }
    }
}

impl Kernel {
    /// Its code: the body, that of the sinks, the epilogue.
    pub fn codes(&self) -> impl Iterator<Item = &Code> {
        let epilogue = self.epilogue.iter().map(|epilogue| &epilogue.code);
        once(&self.body).chain(self.sinks.iter().flat_map(Sink::codes)).chain(epilogue)
    }

    /// The arrays and scalars of which its code reads elements, as often as it does.
    pub fn reads(&self) -> impl Iterator<Item = Var> {
        self.codes().flat_map(Code::reads)
    }

    /// The variables that it uses, as often as it does: what its code reads, what its space is made of, what
    /// its scatters begin with.
    pub fn uses(&self, visit: &mut dyn FnMut(Var)) {
        let full = self.sinks.iter().filter_map(|sink| match sink {
            Sink::Scan { full, .. } => full.as_ref(),
            _ => None,
        });
        self.space.iter().chain(full).for_each(|dimension| dimension.uses(visit));
        self.reads().for_each(&mut *visit);
        self.sinks.iter().flat_map(Sink::destinations).for_each(|array| visit(*array));
    }

    /// The variables that it binds: those of the sinks, then those that the epilogue stores.
    pub fn results(&self) -> impl Iterator<Item = Var> {
        let stored = self.epilogue.iter().flat_map(|epilogue| &epilogue.stores);
        self.sinks.iter().flat_map(Sink::results).copied().chain(stored.map(|(_, array)| *array))
    }

    /// The first register from which on none is bound in the kernel.
    pub fn next_register(&self) -> Register {
        let mut next = self.codes().map(|code| code.next_register().0).fold(0, u32::max);
        let mut bind = |register: Register| next = next.max(register.0 + 1);
        self.indices.iter().copied().for_each(&mut bind);
        for sink in &self.sinks {
            if let Sink::Reduce { registers, .. } | Sink::Scan { registers, .. } = sink {
                registers.iter().for_each(|(register, _)| bind(*register));
            }
            let (operator, start) = sink.combined();
            let sides =
                operator.iter().flat_map(|operator| operator.left.iter().chain(&operator.right));
            sides.for_each(|(register, _)| bind(*register));
            start.iter().flat_map(|start| &start.indices).copied().for_each(&mut bind);
        }
        self.epilogue.iter().flat_map(|epilogue| &epilogue.indices).copied().for_each(&mut bind);
        Register(next)
    }
}

impl Block {
    /// The variables that its steps use, and those that it yields.
    pub fn uses(&self, visit: &mut dyn FnMut(Var)) {
        self.steps.iter().for_each(|step| step.uses(visit));
        self.results.iter().for_each(|var| visit(*var));
    }
}

impl Step {
    /// The blocks in it, in the order of the text.
    pub fn blocks(&self) -> impl Iterator<Item = &Block> {
        let blocks = match self {
            Step::If { then: first, otherwise: second, .. }
            | Step::While { condition: first, body: second, .. } => Some([first, second]),
            Step::Host { .. }
            | Step::Launch(_)
            | Step::Reshape { .. }
            | Step::Constant { .. }
            | Step::Check { .. }
            | Step::Free(_) => None,
        };
        blocks.into_iter().flatten()
    }

    /// The variables that it uses, with those that blocks inside it take from around them.
    pub fn uses(&self, visit: &mut dyn FnMut(Var)) {
        match self {
            Step::Host { code, .. } => code.reads().for_each(&mut *visit),
            Step::Launch(kernel) => kernel.uses(visit),
            Step::Reshape { array, .. } => visit(*array),
            Step::Check { condition, .. } | Step::If { condition, .. } => visit(*condition),
            Step::While { initial, rows, .. } => {
                initial.iter().for_each(|var| visit(*var));
                rows.iter().for_each(|rows| rows.uses(visit));
            }
            Step::Constant { .. } | Step::Free(_) => {}
        }
        self.blocks().for_each(|block| block.uses(visit));
    }

    /// The variables that it binds for the steps behind it.
    pub fn results(&self) -> Vec<Var> {
        match self {
            Step::Host { results, .. } | Step::If { results, .. } | Step::While { results, .. } => {
                results.clone()
            }
            Step::Launch(kernel) => kernel.results().collect(),
            Step::Reshape { result, .. } | Step::Constant { result, .. } => vec![*result],
            Step::Check { .. } | Step::Free(_) => Vec::new(),
        }
    }
}

/// The variables that each step of a block uses for the last time: what is freed right after it, and what is
/// freed right `behind` the block and not used before that.
pub fn last_uses(block: &Block, behind: &[Var]) -> Vec<Vec<Var>> {
    let mut left: BTreeSet<Var> =
        behind.iter().copied().filter(|var| !block.results.contains(var)).collect();
    let mut all = Vec::with_capacity(block.steps.len());
    for (at, step) in block.steps.iter().enumerate().rev() {
        let mut freed = match block.steps.get(at + 1) {
            Some(Step::Free(vars)) => vars.clone(),
            Some(_) | None => Vec::new(),
        };
        if !left.is_empty() {
            step.uses(&mut |var| {
                if left.remove(&var) {
                    freed.push(var);
                }
            });
        }
        all.push(freed);
    }
    all.reverse();
    all
}
