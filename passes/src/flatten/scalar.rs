//! The scalars of a program under flattening: a graph of definitions, compiled into thunks on demand.
//!
//! Note [Delayed scalars]. A scalar of a lambda body is not an array yet: it is a definition that any
//! thunk over its context may contain. This is *vectorisation avoidance* (Keller, Chakravarty,
//! Leshchinskiy, Lippmeier and Peyton Jones, Haskell 2012): scalar code stays scalar code. A scalar
//! has a *depth*, the number of outermost dimensions that it depends on, and a *home*, the branch,
//! loop body or operator that it is guarded by. It is stored as an array over its dimensions where
//! recomputing it would duplicate work ([`super::compile`]).

use std::collections::{BTreeSet, HashMap, HashSet};

use weft_ir::flat::{Size, Var};
use weft_ir::nested::RandomKind;
use weft_ir::{FaultKind, Scalar, ScalarOp, ScalarType, Span, math};

use crate::operator_cost::operator_cost;
use crate::partial::is_positive;

/// A scalar.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct ScalarId(pub(super) u32);

/// A dimension of one context; contexts beside each other have different ones.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct Level(pub(super) u32);

/// Code that runs under a condition or repeatedly: a branch, a loop's body, an operator.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct Region(pub(super) u32);

/// A conditional or loop on scalars.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct ControlId(pub(super) u32);

/// What a scalar is.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) enum Definition {
    /// A constant, by its bits.
    Constant(ScalarType, u64),
    /// A scalar variable of the host.
    Host(Var),
    /// The index along a dimension.
    Index(Level),
    /// A parameter of an operator or a variable of a loop's state.
    Param(u32),
    /// A scalar operator.
    Op(ScalarOp, Vec<ScalarId>),
    /// A random number.
    Random(RandomKind, Vec<ScalarId>),
    /// An element of an array at storage indices.
    Read(Var, Vec<ScalarId>),
    /// The value, if the condition holds; else a fault.
    Checked(ScalarId, ScalarId, FaultKind),
    /// A result of a conditional or loop.
    Result(ControlId, u32),
}

/// A scalar's definition and what is known about it.
#[derive(Clone, Debug)]
pub(super) struct Node {
    pub(super) definition: Definition,
    pub(super) ty: ScalarType,
    /// How many outermost dimensions it depends on.
    pub(super) depth: usize,
    /// The innermost region that guards it.
    pub(super) home: Option<Region>,
    /// What computing it costs, roughly in loads; saturating.
    pub(super) cost: u32,
    /// Whether computing it may meet a fault.
    pub(super) may_fail: bool,
    /// How often the program uses it.
    pub(super) uses: u32,
    /// The array that holds it, over the first `depth` dimensions.
    pub(super) stored: Option<Var>,
    pub(super) span: Span,
}

/// A conditional or loop on scalars; bodies are given by their results.
#[derive(Clone, Debug)]
pub(super) enum Control {
    If {
        condition: ScalarId,
        then: (Region, Vec<ScalarId>),
        otherwise: (Region, Vec<ScalarId>),
    },
    While {
        state: Vec<ScalarId>,
        initial: Vec<ScalarId>,
        condition: (Region, ScalarId),
        body: (Region, Vec<ScalarId>),
    },
}

impl Control {
    /// The regions of its bodies.
    pub(super) fn regions(&self) -> [Region; 2] {
        match self {
            Control::If { then, otherwise, .. } => [then.0, otherwise.0],
            Control::While { condition, body, .. } => [condition.0, body.0],
        }
    }
}

/// All scalars, conditionals and loops of a program.
#[derive(Debug, Default)]
pub(super) struct Scalars {
    pub(super) nodes: Vec<Node>,
    pub(super) controls: Vec<Control>,
    /// The regions: the one around each, and the one whose guard it has too.
    regions: Vec<(Option<Region>, Option<Region>)>,
    known: HashMap<(Definition, Option<Region>), ScalarId>,
    params: u32,
    /// The arrays whose elements the program names; the others are offsets and orders.
    elements: BTreeSet<Var>,
}

impl Scalars {
    pub(super) fn node(&self, id: ScalarId) -> &Node {
        &self.nodes[id.0 as usize]
    }

    pub(super) fn node_mut(&mut self, id: ScalarId) -> &mut Node {
        &mut self.nodes[id.0 as usize]
    }

    pub(super) fn ty(&self, id: ScalarId) -> ScalarType {
        self.node(id).ty
    }

    pub(super) fn depth(&self, id: ScalarId) -> usize {
        self.node(id).depth
    }

    /// A region inside another.
    pub(super) fn region(&mut self, outer: Option<Region>) -> Region {
        self.regions.push((outer, None));
        Region(self.regions.len() as u32 - 1)
    }

    /// A region inside `outer` that stands under the same guard as another: what is at home there
    /// may be computed here.
    pub(super) fn region_like(&mut self, outer: Option<Region>, guard: Region) -> Region {
        self.regions.push((outer, Some(guard)));
        Region(self.regions.len() as u32 - 1)
    }

    /// Whether `inner` is `outer` or lies in it.
    pub(super) fn within(&self, inner: Option<Region>, outer: Region) -> bool {
        let guard = self.regions[outer.0 as usize].1;
        let mut region = inner;
        while let Some(current) = region {
            if current == outer {
                return true;
            }
            region = self.regions[current.0 as usize].0;
        }
        guard.is_some_and(|guard| inner.is_some() && self.within(inner, guard))
    }

    pub(super) fn constant(&mut self, value: Scalar) -> ScalarId {
        let definition = Definition::Constant(value.ty(), bits(value));
        self.define(definition, value.ty(), 0, None, 0, Span::default())
    }

    pub(super) fn integer(&mut self, value: i64) -> ScalarId {
        self.constant(Scalar::I64(value))
    }

    /// The value, if it is a constant.
    pub(super) fn known_scalar(&self, id: ScalarId) -> Option<Scalar> {
        match self.node(id).definition {
            Definition::Constant(ty, bits) => Some(from_bits(ty, bits)),
            _ => None,
        }
    }

    pub(super) fn known_integer(&self, id: ScalarId) -> Option<i64> {
        match self.known_scalar(id) {
            Some(Scalar::I64(value)) => Some(value),
            _ => None,
        }
    }

    pub(super) fn host(&mut self, var: Var, ty: ScalarType) -> ScalarId {
        self.define(Definition::Host(var), ty, 0, None, 1, Span::default())
    }

    pub(super) fn size(&mut self, size: Size) -> ScalarId {
        match size {
            Size::Constant(value) => self.integer(value),
            Size::Var(var) => self.host(var, ScalarType::I64),
        }
    }

    /// The index along dimension number `depth` (from 0) of the current context.
    pub(super) fn index(&mut self, level: Level, depth: usize) -> ScalarId {
        let definition = Definition::Index(level);
        self.define(definition, ScalarType::I64, depth + 1, None, 0, Span::default())
    }

    /// A new parameter, guarded by its region.
    pub(super) fn param(&mut self, ty: ScalarType, home: Region) -> ScalarId {
        self.params += 1;
        self.define(Definition::Param(self.params), ty, 0, Some(home), 0, Span::default())
    }

    /// A scalar operator; constants are folded where that cannot fail.
    pub(super) fn op(
        &mut self,
        op: ScalarOp,
        args: &[ScalarId],
        home: Option<Region>,
        span: Span,
    ) -> ScalarId {
        if let Some(simple) = self.simplified(op, args) {
            return simple;
        }
        let types: Vec<ScalarType> = args.iter().map(|&arg| self.ty(arg)).collect();
        let ty = math::result_type(op, &types)
            .unwrap_or_else(|| panic!("flatten: {op:?} does not admit {types:?}"));
        let (depth, cost) = self.of_operands(args);
        let cost = cost.saturating_add(operator_cost(op));
        self.define(Definition::Op(op, args.to_vec()), ty, depth, home, cost, span)
    }

    /// What can be said at once: operators on constants, and the neutral elements of index
    /// arithmetic.
    fn simplified(&mut self, op: ScalarOp, args: &[ScalarId]) -> Option<ScalarId> {
        let known: Vec<Option<Scalar>> = args.iter().map(|&arg| self.known_scalar(arg)).collect();
        if known.iter().all(Option::is_some) {
            let values: Vec<Scalar> = known.into_iter().flatten().collect();
            return math::eval(op, &values).ok().map(|value| self.constant(value));
        }
        let [left, right] = args else { return None };
        let is = |arg: ScalarId, value: i64| self.known_integer(arg) == Some(value);
        match op {
            ScalarOp::Add if is(*left, 0) => Some(*right),
            ScalarOp::Add | ScalarOp::Sub if is(*right, 0) => Some(*left),
            ScalarOp::Mul if is(*left, 1) => Some(*right),
            ScalarOp::Mul if is(*right, 1) => Some(*left),
            ScalarOp::Sub if left == right && self.is_sure_index(*left) => Some(self.integer(0)),
            _ => None,
        }
    }

    /// Whether it is an index or an offset that needs no check: then it may be left out. An element of the program
    /// may be an error, that of whatever computes its array.
    fn is_sure_index(&self, id: ScalarId) -> bool {
        let sure = |definition: &Definition| {
            matches!(definition, Definition::Constant(..) | Definition::Index(_))
        };
        let node = self.node(id);
        node.ty == ScalarType::I64
            && match &node.definition {
                Definition::Read(var, indices) if !self.elements.contains(var) => {
                    indices.iter().all(|index| sure(&self.node(*index).definition))
                }
                definition => sure(definition),
            }
    }

    /// The scalars that are computed whenever this one is, itself among them: not what conditions and loops guard.
    pub(super) fn needed_for(&self, id: ScalarId) -> HashSet<ScalarId> {
        let (mut needed, mut open) = (HashSet::new(), vec![id]);
        while let Some(id) = open.pop() {
            if needed.insert(id) {
                match &self.node(id).definition {
                    Definition::Checked(value, condition, _) => open.extend([*value, *condition]),
                    Definition::Op(_, operands)
                    | Definition::Random(_, operands)
                    | Definition::Read(_, operands) => open.extend(operands),
                    Definition::Constant(..)
                    | Definition::Host(_)
                    | Definition::Index(_)
                    | Definition::Param(_)
                    | Definition::Result(..) => {}
                }
            }
        }
        needed
    }

    /// Whether it is a result of a loop that would have to run to compute it.
    pub(super) fn is_loop(&self, id: ScalarId) -> bool {
        let node = self.node(id);
        node.stored.is_none()
            && match &node.definition {
                Definition::Result(control, _) => {
                    matches!(self.controls[control.0 as usize], Control::While { .. })
                }
                Definition::Checked(value, ..) => self.is_loop(*value),
                _ => false,
            }
    }

    /// Whether computing it reads elements of one of these arrays, its checks aside.
    pub(super) fn reads_any(&self, id: ScalarId, arrays: &HashSet<Var>) -> bool {
        let node = self.node(id);
        node.stored.is_none()
            && match &node.definition {
                Definition::Read(array, indices) => {
                    arrays.contains(array)
                        || indices.iter().any(|index| self.reads_any(*index, arrays))
                }
                Definition::Checked(value, ..) => self.reads_any(*value, arrays),
                Definition::Op(_, operands) | Definition::Random(_, operands) => {
                    operands.iter().any(|operand| self.reads_any(*operand, arrays))
                }
                Definition::Constant(..)
                | Definition::Host(_)
                | Definition::Index(_)
                | Definition::Param(_)
                | Definition::Result(..) => false,
            }
    }

    /// Whether it is an index along a dimension, or what sums, bounds and remainders make of one.
    pub(super) fn steps_from_an_index(&self, id: ScalarId) -> bool {
        let node = self.node(id);
        match &node.definition {
            Definition::Index(_) => true,
            _ if node.depth == 0 => true,
            Definition::Checked(value, ..) => self.steps_from_an_index(*value),
            Definition::Op(
                ScalarOp::Add | ScalarOp::Sub | ScalarOp::Min | ScalarOp::Max | ScalarOp::Mod,
                operands,
            ) => {
                node.ty == ScalarType::I64
                    && operands.iter().all(|operand| self.steps_from_an_index(*operand))
            }
            Definition::Constant(..)
            | Definition::Host(_)
            | Definition::Param(_)
            | Definition::Op(..)
            | Definition::Random(..)
            | Definition::Read(..)
            | Definition::Result(..) => false,
        }
    }

    pub(super) fn random(
        &mut self,
        kind: RandomKind,
        args: &[ScalarId],
        home: Option<Region>,
        span: Span,
    ) -> ScalarId {
        let ty = match kind {
            RandomKind::UniformF64 => ScalarType::F64,
            RandomKind::UniformF32 => ScalarType::F32,
            RandomKind::Int => ScalarType::I64,
        };
        let (depth, cost) = self.of_operands(args);
        let cost = cost.saturating_add(40);
        self.define(Definition::Random(kind, args.to_vec()), ty, depth, home, cost, span)
    }

    /// An element that the program names.
    pub(super) fn element(
        &mut self,
        var: Var,
        ty: ScalarType,
        index: &[ScalarId],
        home: Option<Region>,
        span: Span,
    ) -> ScalarId {
        self.elements.insert(var);
        self.read(var, ty, index, home, span)
    }

    /// An element of an array of offsets or of an order.
    pub(super) fn read(
        &mut self,
        var: Var,
        ty: ScalarType,
        index: &[ScalarId],
        home: Option<Region>,
        span: Span,
    ) -> ScalarId {
        if index.is_empty() {
            return self.host(var, ty);
        }
        let (depth, cost) = self.of_operands(index);
        let cost = cost.saturating_add(1);
        self.define(Definition::Read(var, index.to_vec()), ty, depth, home, cost, span)
    }

    pub(super) fn checked(
        &mut self,
        value: ScalarId,
        condition: ScalarId,
        kind: FaultKind,
        home: Option<Region>,
        span: Span,
    ) -> ScalarId {
        if self.known_scalar(condition) == Some(Scalar::Bool(true)) {
            return value;
        }
        let (depth, cost) = self.of_operands(&[value, condition]);
        let ty = self.ty(value);
        self.define(Definition::Checked(value, condition, kind), ty, depth, home, cost + 1, span)
    }

    /// The results of a conditional or loop. `depth` is that of everything inside.
    pub(super) fn control(
        &mut self,
        control: Control,
        types: &[ScalarType],
        depth: usize,
        home: Option<Region>,
        span: Span,
    ) -> Vec<ScalarId> {
        self.controls.push(control);
        let id = ControlId(self.controls.len() as u32 - 1);
        let results = types.iter().enumerate().map(|(number, &ty)| {
            let definition = Definition::Result(id, number as u32);
            self.define(definition, ty, depth, home, 100, span)
        });
        results.collect()
    }

    /// The greatest depth of the scalars of a region that `results` need, and outside of it.
    pub(super) fn depth_of(&self, results: &[ScalarId]) -> usize {
        results.iter().map(|&id| self.depth(id)).max().unwrap_or(0)
    }

    /// Whether a definition may meet a fault, or one of its operands.
    fn definition_may_fail(&self, definition: &Definition) -> bool {
        let fails = |id: &ScalarId| self.node(*id).may_fail;
        match definition {
            Definition::Constant(..)
            | Definition::Host(_)
            | Definition::Index(_)
            | Definition::Param(_) => false,
            Definition::Op(op, args) => {
                // By a positive constant every integer can be divided, and raised to one.
                let partial = math::can_fail(*op, self.ty(args[0]))
                    && !self.known_scalar(args[1]).is_some_and(is_positive);
                partial || args.iter().any(fails)
            }
            Definition::Random(_, args) | Definition::Read(_, args) => args.iter().any(fails),
            Definition::Checked(..) => true,
            Definition::Result(control, _) => match &self.controls[control.0 as usize] {
                Control::If { condition, then, otherwise } => {
                    fails(condition) || then.1.iter().chain(&otherwise.1).any(fails)
                }
                Control::While { initial, condition, body, .. } => {
                    fails(&condition.1) || initial.iter().chain(&body.1).any(fails)
                }
            },
        }
    }

    /// Adds the scalars that a definition is made of, the first on top.
    pub(super) fn operands(&self, definition: &Definition, open: &mut Vec<ScalarId>) {
        match definition {
            Definition::Constant(..)
            | Definition::Host(_)
            | Definition::Index(_)
            | Definition::Param(_) => {}
            Definition::Op(_, args) | Definition::Random(_, args) | Definition::Read(_, args) => {
                open.extend(args.iter().rev());
            }
            Definition::Checked(value, condition, _) => open.extend([*value, *condition]),
            Definition::Result(control, _) => match &self.controls[control.0 as usize] {
                Control::If { condition, then, otherwise } => {
                    open.extend(otherwise.1.iter().rev());
                    open.extend(then.1.iter().rev());
                    open.push(*condition);
                }
                Control::While { initial, condition, body, .. } => {
                    open.extend(body.1.iter().rev());
                    open.push(condition.1);
                    open.extend(initial.iter().rev());
                }
            },
        }
    }

    fn of_operands(&self, operands: &[ScalarId]) -> (usize, u32) {
        operands.iter().fold((0, 0), |(depth, cost), &operand| {
            let node = self.node(operand);
            (depth.max(node.depth), cost.saturating_add(node.cost))
        })
    }

    fn define(
        &mut self,
        definition: Definition,
        ty: ScalarType,
        depth: usize,
        home: Option<Region>,
        cost: u32,
        span: Span,
    ) -> ScalarId {
        // What an enclosing region has computed need not be computed again.
        let mut region = home;
        let key = loop {
            let key = (definition.clone(), region);
            if let Some(&id) = self.known.get(&key) {
                return id;
            }
            match region {
                Some(inner) => region = self.regions[inner.0 as usize].0,
                None => break (definition, home),
            }
        };
        let id = ScalarId(self.nodes.len() as u32);
        let may_fail = self.definition_may_fail(&key.0);
        self.nodes.push(Node {
            definition: key.0.clone(),
            ty,
            depth,
            home,
            cost,
            may_fail,
            uses: 1,
            stored: None,
            span,
        });
        self.known.insert(key, id);
        id
    }
}

/// The bits of a constant, all NaNs alike.
fn bits(value: Scalar) -> u64 {
    match value {
        Scalar::I8(value) => value as u8 as u64,
        Scalar::I16(value) => value as u16 as u64,
        Scalar::I32(value) => value as u32 as u64,
        Scalar::I64(value) => value as u64,
        Scalar::U8(value) | Scalar::Char(value) => u64::from(value),
        Scalar::U16(value) => u64::from(value),
        Scalar::U32(value) => u64::from(value),
        Scalar::U64(value) => value,
        Scalar::F32(value) if value.is_nan() => u64::from(f32::NAN.to_bits()),
        Scalar::F32(value) => u64::from(value.to_bits()),
        Scalar::F64(value) if value.is_nan() => f64::NAN.to_bits(),
        Scalar::F64(value) => value.to_bits(),
        Scalar::Bool(value) => u64::from(value),
    }
}

fn from_bits(ty: ScalarType, bits: u64) -> Scalar {
    match ty {
        ScalarType::I8 => Scalar::I8(bits as i8),
        ScalarType::I16 => Scalar::I16(bits as i16),
        ScalarType::I32 => Scalar::I32(bits as i32),
        ScalarType::I64 => Scalar::I64(bits as i64),
        ScalarType::U8 => Scalar::U8(bits as u8),
        ScalarType::U16 => Scalar::U16(bits as u16),
        ScalarType::U32 => Scalar::U32(bits as u32),
        ScalarType::U64 => Scalar::U64(bits),
        ScalarType::F32 => Scalar::F32(f32::from_bits(bits as u32)),
        ScalarType::F64 => Scalar::F64(f64::from_bits(bits)),
        ScalarType::Bool => Scalar::Bool(bits != 0),
        ScalarType::Char => Scalar::Char(bits as u8),
    }
}
