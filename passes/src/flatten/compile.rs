//! From delayed scalars to thunks, and the arrays that hold scalars which must not be computed twice.
//!
//! Note \[Positions\]. Where a neighbour is read, the remainder or the mirror of an index along an outer dimension costs more
//! than a load, and is computed at each point nevertheless: away from the borders it comes to a sum, and a back
//! end that sees the arithmetic leaves the rest out there. What is read from an array of indices could lie anywhere.

use std::collections::{HashMap, HashSet};

use weft_ir::flat::{
    Code, CodeOperation, Instruction, Operand, Operation, Operator, Register, Size, Space,
    Statement, Thunk, Var, first_stored,
};
use weft_ir::{ScalarType, Span};

use super::Flattener;
use super::scalar::{Control, ControlId, Definition, Region, ScalarId};

/// Up to this cost a scalar is computed again rather than stored and loaded.
const CHEAP: u32 = 4;
/// Up to this cost a scalar that may fail is computed in each branch that needs it, rather than before
/// the condition (Note [A check belongs to a value]).
const DEAR_IN_BRANCH: u32 = 64;
/// The same for a loop, which computes it again and again.
const DEAR_IN_LOOP: u32 = 12;
/// Up to this cost a position is computed where something is read there: that of a mirror is 33 (Note \[Positions\]).
const DEAR_POSITION: u32 = 48;

/// What a thunk does with scalars that the program uses more than once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Sharing {
    /// It stores them, because another thunk needs them too.
    Store,
    /// It contains them: no other thunk is left that needs them.
    Contain,
}

impl Flattener<'_> {
    /// The thunk that computes scalars at the points of the first `depth` dimensions of the current
    /// space, or of the current space and more dimensions.
    pub(super) fn thunk(&mut self, results: &[ScalarId], depth: usize, sharing: Sharing) -> Thunk {
        let mut compiler = Compiler::new(self, depth, sharing);
        let results = results.iter().map(|&id| compiler.operand(id)).collect();
        let code = compiler.finish(results);
        Thunk { indices: (0..depth as u32).map(Register).collect(), code }
    }

    /// An operator whose operands are parameters of a region.
    pub(super) fn operator(
        &mut self,
        left: &[ScalarId],
        right: &[ScalarId],
        results: &[ScalarId],
        region: Region,
    ) -> Operator {
        let mut compiler = Compiler::new(self, 0, Sharing::Contain);
        let left = compiler.params(left);
        let right = compiler.params(right);
        for outer in compiler.free(&[(region, results)], DEAR_IN_LOOP) {
            compiler.prepare(outer);
        }
        let results = results.iter().map(|&id| compiler.operand(id)).collect();
        Operator { left, right, code: compiler.finish(results) }
    }

    /// Stores scalars of one depth in arrays over their dimensions, unless they are stored.
    pub(super) fn store(&mut self, ids: &[ScalarId], sharing: Sharing) {
        let mut wanted: Vec<ScalarId> =
            ids.iter().copied().filter(|&id| self.scalars.node(id).stored.is_none()).collect();
        wanted.sort_unstable();
        wanted.dedup();
        let Some(&first) = wanted.first() else { return };
        let depth = self.scalars.depth(first);
        let space: Space = self.context.space[..depth].to_vec();
        let span = self.scalars.node(first).span;
        let mut compiler = Compiler::new(self, depth, sharing);
        // What is stored here is computed here.
        compiler.roots = wanted.clone();
        let operands = wanted.iter().map(|&id| compiler.operand(id)).collect();
        let code = compiler.finish(operands);
        let thunk = Thunk { indices: (0..depth as u32).map(Register).collect(), code };
        // Compiling may have stored some of them on the way.
        let types: Vec<ScalarType> = wanted.iter().map(|&id| self.scalars.ty(id)).collect();
        let results: Vec<Var> = types.into_iter().map(|ty| self.array_over(&space, ty)).collect();
        for (&id, &var) in wanted.iter().zip(&results) {
            self.remember_stored(id, var);
        }
        self.emit(Statement { results, operation: Operation::Map { space, thunk }, span });
    }

    /// The host's variable for a scalar of depth 0.
    pub(super) fn host_scalar(&mut self, id: ScalarId) -> Var {
        let id = self.checked_now(id);
        if let Definition::Host(var) = self.scalars.node(id).definition {
            return var;
        }
        assert_eq!(self.scalars.depth(id), 0, "flatten: a scalar of the host depends on no index");
        if self.scalars.known_scalar(id).is_some() {
            // Constants have no variable of their own.
            let ty = self.scalars.ty(id);
            let var = self.array_over(&[], ty);
            let thunk = self.thunk(&[id], 0, Sharing::Contain);
            let operation = Operation::Map { space: Vec::new(), thunk };
            self.emit(Statement { results: vec![var], operation, span: Span::default() });
            return var;
        }
        self.store(&[id], Sharing::Store);
        self.scalars.node(id).stored.expect("just stored")
    }

    /// A scalar of depth 0 as an extent. It is one also where the current space has no point, and so none of its checks
    /// is sure to hold.
    pub(super) fn host_size(&mut self, id: ScalarId) -> Size {
        let outer = std::mem::take(&mut self.context);
        let id = self.checked_now(id);
        let size = match self.scalars.known_integer(id) {
            Some(value) if value >= 0 => Size::Constant(value),
            // A negative one does not pass its check.
            _ => {
                let size = Size::Var(self.host_scalar(id));
                self.same_size(size)
            }
        };
        self.context = outer;
        size
    }
}

/// A thunk under construction.
struct Compiler<'f, 'p> {
    flattener: &'f mut Flattener<'p>,
    depth: usize,
    sharing: Sharing,
    /// Scalars that are computed here whatever they cost.
    roots: Vec<ScalarId>,
    instructions: Vec<Instruction>,
    known: HashMap<ScalarId, Operand>,
    controls: HashMap<ControlId, Vec<Register>>,
    /// What the open bodies have added to the two maps.
    added: Vec<(Vec<ScalarId>, Vec<ControlId>)>,
    /// Whether what is compiled is a position.
    is_position: bool,
    next: u32,
}

impl<'f, 'p> Compiler<'f, 'p> {
    fn new(flattener: &'f mut Flattener<'p>, depth: usize, sharing: Sharing) -> Self {
        Compiler {
            flattener,
            depth,
            sharing,
            roots: Vec::new(),
            instructions: Vec::new(),
            known: HashMap::new(),
            controls: HashMap::new(),
            added: Vec::new(),
            is_position: false,
            next: depth as u32,
        }
    }

    fn finish(self, results: Vec<Operand>) -> Code {
        Code { instructions: self.instructions, results }
    }

    fn register(&mut self) -> Register {
        self.next += 1;
        Register(self.next - 1)
    }

    fn learn(&mut self, id: ScalarId, operand: Operand) {
        self.known.insert(id, operand);
        if let Some((ids, _)) = self.added.last_mut() {
            ids.push(id);
        }
    }

    /// Registers for parameters of an operator or a loop.
    fn params(&mut self, ids: &[ScalarId]) -> Vec<(Register, ScalarType)> {
        ids.iter()
            .map(|&id| {
                let register = self.register();
                self.learn(id, Operand::Register(register));
                (register, self.flattener.scalars.ty(id))
            })
            .collect()
    }

    fn push(
        &mut self,
        operation: CodeOperation,
        types: &[ScalarType],
        span: Span,
    ) -> Vec<Register> {
        let results: Vec<(Register, ScalarType)> =
            types.iter().map(|&ty| (self.register(), ty)).collect();
        let registers = results.iter().map(|(register, _)| *register).collect();
        self.instructions.push(Instruction { results, operation, span });
        registers
    }

    /// Makes a scalar from outside available to a body, without needing its value.
    fn prepare(&mut self, id: ScalarId) {
        self.operand(id);
    }

    fn operand(&mut self, id: ScalarId) -> Operand {
        if let Some(&operand) = self.known.get(&id) {
            return operand;
        }
        let value = self.flattener.without_sure_checks(id);
        if value != id {
            return self.operand(value);
        }
        if let Some(value) = self.flattener.scalars.known_scalar(id) {
            return Operand::Scalar(value);
        }
        let operand = match self.stored(id) {
            Some(loaded) => loaded,
            None => self.defined(id),
        };
        self.learn(id, operand);
        operand
    }

    /// The stored scalar that is the same at all points here, if it is better loaded than computed.
    fn stored(&mut self, id: ScalarId) -> Option<Operand> {
        let node = self.flattener.scalars.node(id);
        if node.stored.is_some() || node.home.is_some() || self.roots.contains(&id) {
            return node.stored.map(|var| self.read_stored(id, var));
        }
        let points = self.depth.min(self.flattener.context.space.len());
        let needed = self.flattener.needed_at.map_or(points, |needed| needed.min(points));
        let free = matches!(node.definition, Definition::Index(_) | Definition::Host(_));
        let dear = node.cost > CHEAP && !self.is_position;
        let outer = node.depth < self.depth && (node.depth == 0 || dear);
        let shared = self.sharing == Sharing::Store
            && self.depth > 0
            && node.uses > 1
            && node.cost > CHEAP
            && node.depth == points;
        let guarded = node.may_fail && !self.added.is_empty() && node.cost <= DEAR_IN_BRANCH;
        let of_host = node.depth == 0 && matches!(node.definition, Definition::Checked(..));
        if free || guarded || of_host || !(outer || shared) {
            return None;
        }
        let needed = match node.may_fail && node.depth < needed {
            true => self.flattener.where_needed(id, needed),
            false => id,
        };
        if let Some(value) = self.flattener.scalars.known_scalar(needed) {
            return Some(Operand::Scalar(value));
        }
        self.flattener.store(&[needed], Sharing::Store);
        let var = self.flattener.scalars.node(needed).stored?;
        Some(self.read_stored(needed, var))
    }

    fn read_stored(&mut self, id: ScalarId, var: Var) -> Operand {
        let (depth, ty, span) = {
            let node = self.flattener.scalars.node(id);
            (node.depth, node.ty, node.span)
        };
        let first = first_stored(&self.flattener.context.space[..depth]);
        let index: Vec<Operand> =
            (first..depth).map(|k| Operand::Register(Register(k as u32))).collect();
        Operand::Register(self.push(CodeOperation::Read(var, index), &[ty], span)[0])
    }

    fn defined(&mut self, id: ScalarId) -> Operand {
        let node = self.flattener.scalars.node(id).clone();
        let operation = match node.definition {
            Definition::Constant(..) => unreachable!("constants are operands"),
            Definition::Host(var) => CodeOperation::Read(var, Vec::new()),
            Definition::Index(level) => {
                let depth = self.flattener.context.depth_of(level);
                assert!(depth < self.depth, "flatten: an index outside of its space");
                return Operand::Register(Register(depth as u32));
            }
            Definition::Param(_) => panic!("flatten: a parameter outside of its body"),
            Definition::Op(op, args) => {
                let args = args.into_iter().map(|arg| self.operand(arg)).collect();
                CodeOperation::Scalar(op, args)
            }
            Definition::Random(kind, args) => {
                let args = args.into_iter().map(|arg| self.operand(arg)).collect();
                CodeOperation::Random(kind, args)
            }
            Definition::Read(var, index) => {
                let index = index.into_iter().map(|arg| self.position(arg)).collect();
                CodeOperation::Read(var, index)
            }
            Definition::Checked(value, condition, kind) if self.host_checks(condition) => {
                let points = self.depth.min(self.flattener.context.space.len());
                let needed = self.flattener.needed_at.map_or(points, |needed| needed.min(points));
                self.flattener.check_on_host(condition, kind, needed);
                return self.operand(value);
            }
            Definition::Checked(value, condition, kind) => {
                let condition = self.operand(condition);
                self.push(CodeOperation::Check(condition, kind), &[], node.span);
                return self.operand(value);
            }
            Definition::Result(control, number) => {
                let registers = self.control(control, node.span);
                return Operand::Register(registers[number as usize]);
            }
        };
        Operand::Register(self.push(operation, &[node.ty], node.span)[0])
    }

    /// Where an element is read.
    fn position(&mut self, id: ScalarId) -> Operand {
        let scalars = &self.flattener.scalars;
        // The check of a position is not what makes it dear.
        let mut value = id;
        while let Definition::Checked(inner, ..) = scalars.node(value).definition {
            value = inner;
        }
        let is_position =
            scalars.node(value).cost <= DEAR_POSITION && scalars.steps_from_an_index(value);
        let outer = std::mem::replace(&mut self.is_position, is_position);
        let operand = self.operand(id);
        self.is_position = outer;
        operand
    }

    /// Whether a condition is checked before the kernel, for all its points.
    fn host_checks(&self, condition: ScalarId) -> bool {
        let node = self.flattener.scalars.node(condition);
        self.depth > 0 && self.added.is_empty() && node.depth == 0 && node.home.is_none()
    }

    fn control(&mut self, id: ControlId, span: Span) -> Vec<Register> {
        if let Some(registers) = self.controls.get(&id) {
            return registers.clone();
        }
        let control = self.flattener.scalars.controls[id.0 as usize].clone();
        let (operation, types) = match control {
            Control::If { condition, then, otherwise } => {
                let condition = self.operand(condition);
                let bodies: [(_, &[ScalarId]); 2] =
                    [(then.0, &then.1), (otherwise.0, &otherwise.1)];
                for outer in self.free(&bodies, DEAR_IN_BRANCH) {
                    self.prepare(outer);
                }
                let types = self.types(&then.1);
                let then = self.body(&then.1);
                let otherwise = self.body(&otherwise.1);
                (CodeOperation::If { condition, then, otherwise }, types)
            }
            Control::While { state, initial, condition, body } => {
                let initial = initial.iter().map(|&id| self.operand(id)).collect();
                let types = self.types(&state);
                // Both bodies see the same registers of the state.
                let registers = self.params(&state);
                // The condition is computed at least once.
                let mut outside = self.free(&[(condition.0, &[condition.1])], 0);
                outside.extend(self.free(&[(body.0, &body.1)], DEAR_IN_LOOP));
                for outer in outside {
                    self.prepare(outer);
                }
                let condition = self.body(&[condition.1]);
                let body = self.body(&body.1);
                let state = registers;
                (CodeOperation::While { state, initial, condition, body }, types)
            }
        };
        let registers = self.push(operation, &types, span);
        self.controls.insert(id, registers.clone());
        if let Some((_, controls)) = self.added.last_mut() {
            controls.push(id);
        }
        registers
    }

    fn types(&self, ids: &[ScalarId]) -> Vec<ScalarType> {
        ids.iter().map(|&id| self.flattener.scalars.ty(id)).collect()
    }

    /// The code of a body; what it computes is forgotten afterwards.
    fn body(&mut self, results: &[ScalarId]) -> Code {
        let outer = std::mem::take(&mut self.instructions);
        self.added.push((Vec::new(), Vec::new()));
        let results = results.iter().map(|&id| self.operand(id)).collect();
        let (ids, controls) = self.added.pop().expect("pushed above");
        for id in ids {
            self.known.remove(&id);
        }
        for control in controls {
            self.controls.remove(&control);
        }
        let instructions = std::mem::replace(&mut self.instructions, outer);
        Code { instructions, results }
    }

    /// The scalars from outside that bodies need, in the order in which they are met. Of those that may
    /// fail and are not dear, what cannot fail in them. What is guarded by a condition further in is
    /// not from outside, though it may be at home under the same condition elsewhere.
    fn free(&self, bodies: &[(Region, &[ScalarId])], dear: u32) -> Vec<ScalarId> {
        let mut found = Vec::new();
        let mut regions: Vec<Region> = bodies.iter().map(|&(region, _)| region).collect();
        let mut seen = HashSet::new();
        for &(_, results) in bodies {
            let mut open: Vec<ScalarId> = results.iter().rev().copied().collect();
            while let Some(id) = open.pop() {
                if !seen.insert(id) || self.known.contains_key(&id) {
                    continue;
                }
                let scalars = &self.flattener.scalars;
                let node = scalars.node(id);
                let inside = node.may_fail && node.stored.is_none() && node.cost <= dear;
                if !inside && !regions.iter().any(|&region| scalars.within(node.home, region)) {
                    found.push(id);
                    continue;
                }
                if let Definition::Result(control, _) = node.definition {
                    regions.extend(scalars.controls[control.0 as usize].regions());
                }
                scalars.operands(&node.definition, &mut open);
            }
        }
        found
    }
}
