//! Removes statements and results of *flat* that nothing uses, and the scalar code behind them.
//!
//! An error is observable only if its value is needed, so a check inside an unused statement may go
//! too; but a statement without results is there for its checks and stays. So does one that holds such
//! statements in its blocks: extents may be what they are because of what is checked there.

use std::collections::BTreeSet;

use weft_ir::code::{Code, Operand, Operation as CodeOperation, Register};
use weft_ir::flat::{Block, Operation, Program, Statement, Type, Var};

use super::uses::{statement_uses, type_uses};

/// Whether statements that nobody uses stay for their checks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum UnusedChecks {
    /// They stay, without results.
    Keep,
    /// They go.
    Drop,
}

/// The program without what nobody uses.
pub(super) fn prune(program: &mut Program, checks: UnusedChecks) {
    let mut pruner = Pruner { types: &program.types, used: BTreeSet::new(), checks };
    for leaf in program.inputs.iter().chain(&program.outputs) {
        pruner.mark(leaf.data);
        for axis in &leaf.axes {
            let mut uses = Vec::new();
            axis.uses(&mut |var| uses.push(var));
            uses.into_iter().for_each(|var| pruner.mark(var));
        }
    }
    pruner.block(&mut program.body);
}

struct Pruner<'a> {
    types: &'a [Type],
    used: BTreeSet<Var>,
    checks: UnusedChecks,
}

impl Pruner<'_> {
    /// Marks a variable and the extents of its type.
    fn mark(&mut self, var: Var) {
        let used = &mut self.used;
        if used.insert(var)
            && let Some(ty) = self.types.get(var.0 as usize)
        {
            type_uses(ty, &mut |extent| {
                used.insert(extent);
            });
        }
    }

    fn block(&mut self, block: &mut Block) {
        for result in &block.results {
            self.mark(*result);
        }
        let mut kept = Vec::with_capacity(block.statements.len());
        while let Some(mut statement) = block.statements.pop() {
            if self.statement(&mut statement) {
                kept.push(statement);
            }
        }
        kept.reverse();
        block.statements = kept;
    }

    /// Whether the statement stays; what it uses is then marked.
    fn statement(&mut self, statement: &mut Statement) -> bool {
        let dead = !statement.results.iter().any(|result| self.used.contains(result));
        if dead && !self.stays_for_checks(statement) {
            return false;
        }
        self.drop_results(statement);
        match &mut statement.operation {
            Operation::If { condition, then, otherwise } => {
                self.used.insert(*condition);
                self.block(then);
                self.block(otherwise);
            }
            Operation::While { state, initial, condition, body, rows } => {
                for var in state.iter().chain(initial.iter()) {
                    self.mark(*var);
                }
                if let Some(rows) = rows {
                    rows.uses(&mut |var| self.mark(var));
                }
                self.block(body);
                self.block(condition);
            }
            _ => {
                let mut uses = Vec::new();
                statement_uses(statement, self.types, &mut |var| uses.push(var));
                uses.into_iter().for_each(|var| self.mark(var));
            }
        }
        for result in statement.results.clone() {
            self.mark(result);
        }
        true
    }

    /// Whether an unused statement is kept; its results go.
    fn stays_for_checks(&self, statement: &mut Statement) -> bool {
        match &statement.operation {
            Operation::Check(..) => true,
            Operation::Map { thunk, .. } => {
                if statement.results.is_empty() {
                    return thunk.code.has_checks();
                }
                self.checks == UnusedChecks::Keep && thunk.code.has_checks()
            }
            Operation::If { then, otherwise, .. } => [then, otherwise].into_iter().any(|block| {
                holds_checks(block) || self.checks == UnusedChecks::Keep && block_checks(block)
            }),
            // The arrays that it yields are errors if its condition is, and so are their lengths.
            Operation::While { .. } => true,
            Operation::Scan { space, thunk, .. } | Operation::Sort { space, thunk, .. } => {
                if self.checks == UnusedChecks::Drop || !thunk.code.has_checks() {
                    return false;
                }
                let mut thunk = thunk.clone();
                thunk.code.results.clear();
                let space = space.clone();
                statement.results.clear();
                statement.operation = Operation::Map { space, thunk };
                true
            }
            Operation::Reduce { .. }
            | Operation::Filter { .. }
            | Operation::Scatter { .. }
            | Operation::Reshape(_)
            | Operation::Constant(_) => false,
        }
    }

    /// Removes unused results where the operation can do without them.
    fn drop_results(&self, statement: &mut Statement) {
        let used: Vec<bool> =
            statement.results.iter().map(|result| self.used.contains(result)).collect();
        match &mut statement.operation {
            Operation::Map { thunk, .. } => {
                retain(&mut statement.results, &used);
                retain(&mut thunk.code.results, &used);
                remove_dead_code(&mut thunk.code);
            }
            Operation::Filter { space, thunk } => {
                let counts = if space.len() > 1 { 2 } else { 1 };
                let mut kept = used;
                kept[..counts].fill(true);
                let mut flags = vec![true];
                flags.extend(&kept[counts..]);
                retain(&mut statement.results, &kept);
                retain(&mut thunk.code.results, &flags);
                remove_dead_code(&mut thunk.code);
            }
            Operation::If { then, otherwise, .. } => {
                retain(&mut statement.results, &used);
                retain(&mut then.results, &used);
                retain(&mut otherwise.results, &used);
            }
            _ => {}
        }
    }
}

/// Whether a block has statements that are there for their checks only.
fn holds_checks(block: &Block) -> bool {
    block.statements.iter().any(|statement| match &statement.operation {
        Operation::Check(..) => true,
        Operation::Map { thunk, .. } => statement.results.is_empty() && thunk.code.has_checks(),
        Operation::If { then, otherwise, .. } => holds_checks(then) || holds_checks(otherwise),
        Operation::While { condition, body, .. } => holds_checks(condition) || holds_checks(body),
        _ => false,
    })
}

/// Whether a block has statements of which checks stay, whoever uses their results.
fn block_checks(block: &Block) -> bool {
    block.statements.iter().any(|statement| match &statement.operation {
        Operation::Check(..) => true,
        Operation::Map { thunk, .. }
        | Operation::Scan { thunk, .. }
        | Operation::Sort { thunk, .. } => thunk.code.has_checks(),
        Operation::If { then, otherwise, .. } => block_checks(then) || block_checks(otherwise),
        Operation::While { condition, body, .. } => block_checks(condition) || block_checks(body),
        _ => false,
    })
}

/// Keeps the elements whose flag holds.
fn retain<T>(elements: &mut Vec<T>, flags: &[bool]) {
    let mut flags = flags.iter();
    elements.retain(|_| flags.next().copied().unwrap_or(true));
}

/// Removes instructions whose results nobody uses, except checks, and unused results of `if`.
pub(super) fn remove_dead_code(code: &mut Code) {
    let mut live = BTreeSet::new();
    sweep(code, &mut live);
}

/// Sweeps a body backwards; `live` are the registers used after it and, on return, also by it.
fn sweep(code: &mut Code, live: &mut BTreeSet<Register>) {
    mark(&code.results, live);
    let mut kept = Vec::with_capacity(code.instructions.len());
    while let Some(mut instruction) = code.instructions.pop() {
        let used: Vec<bool> =
            instruction.results.iter().map(|(register, _)| live.contains(register)).collect();
        let needed = used.contains(&true);
        match &mut instruction.operation {
            CodeOperation::Scalar(_, operands)
            | CodeOperation::Random(_, operands)
            | CodeOperation::Read(_, operands) => {
                if !needed {
                    continue;
                }
                mark(operands, live);
            }
            CodeOperation::Check(condition, _) => mark(&[*condition], live),
            CodeOperation::If { condition, then, otherwise } => {
                if !needed && !then.has_checks() && !otherwise.has_checks() {
                    continue;
                }
                retain(&mut instruction.results, &used);
                retain(&mut then.results, &used);
                retain(&mut otherwise.results, &used);
                sweep(then, live);
                sweep(otherwise, live);
                mark(&[*condition], live);
            }
            CodeOperation::While { initial, condition, body, .. } => {
                if !needed && !condition.has_checks() && !body.has_checks() {
                    continue;
                }
                sweep(body, live);
                sweep(condition, live);
                mark(initial, live);
            }
        }
        kept.push(instruction);
    }
    kept.reverse();
    code.instructions = kept;
}

fn mark(operands: &[Operand], live: &mut BTreeSet<Register>) {
    live.extend(operands.iter().filter_map(|operand| operand.register()));
}
