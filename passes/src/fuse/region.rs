//! A control region as a graph: its statements, who reads whom how, and which producers become part
//! of their only reader.
//!
//! Note [Contraction of edges]. A map that only one statement reads, once per point at most, is delayed into
//! it: no plan is better with the array in memory. There is one exception, which is left to the
//! solver: a map that reads several arrays which others read too might do better beside those others.

use std::collections::{BTreeMap, BTreeSet};

use weft_ir::code::{Code, Instruction, Operand, Operation as CodeOperation, Register, Thunk};
use weft_ir::flat::{
    Block, Dimension, Operation, ScanForm, Size, Space, Statement, Type, Var, first_stored, storage,
};
use weft_ir::{Scalar, ScalarOp, ScalarType};

use super::access::{Access, Index, accesses};
use super::cost::rank;
use super::interleave::Interleaved;
use super::uses::{other_uses, parts};

/// What a statement becomes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Map,
    /// A map over the elements of literal rows, as a node over the rows (Note [Rows of literals]).
    Interleave,
    Reduce,
    Scan {
        full: bool,
    },
    Filter,
    Scatter,
    Sort,
    /// A map over the empty space.
    Host,
    /// A reshape.
    View,
    Constant,
    Check,
    /// `if` or `while`.
    Control,
}

impl Kind {
    /// Whether it is a traversal.
    pub(super) fn is_kernel(self) -> bool {
        match self {
            Kind::Map | Kind::Interleave | Kind::Reduce | Kind::Scan { .. } => true,
            Kind::Filter | Kind::Scatter | Kind::Sort => true,
            Kind::Host | Kind::View | Kind::Constant | Kind::Check | Kind::Control => false,
        }
    }

    /// Whether a kernel holds at most one such operation, and no reduction or scan beside it.
    pub(super) fn is_exclusive(self) -> bool {
        matches!(self, Kind::Filter | Kind::Scatter | Kind::Sort)
    }
}

/// A statement of the region.
pub(super) struct Node<'p> {
    pub statement: &'p Statement,
    pub kind: Kind,
    /// Where a kernel runs; of a view, the dense space of its result; of interleaved elements, that of the rows.
    pub space: &'p Space,
    /// The code of an element (of a view, a read of what it views).
    pub thunk: Option<&'p Thunk>,
    /// What its thunk reads.
    pub accesses: BTreeMap<Var, Access>,
    /// What the thunk of its start reads.
    pub start: BTreeMap<Var, Access>,
    /// What it uses in other ways.
    pub others: BTreeSet<Var>,
    /// Whether statements after it may rely on its checks.
    pub barrier: bool,
    /// Whether it shares a kernel with nothing (Note [Sorts of values]).
    pub settled: bool,
}

/// A region.
pub(super) struct Region<'p> {
    pub types: &'p [Type],
    pub nodes: Vec<Node<'p>>,
    /// Which statement computes a variable.
    pub producers: BTreeMap<Var, usize>,
    /// The only reader that a producer has become part of.
    pub parent: Vec<Option<usize>>,
    /// Of those, which are computed before their reader's own code.
    pub eager: Vec<Vec<Var>>,
    /// What the region and the program yield.
    pub yielded: BTreeSet<Var>,
    /// What the region yields or a statement uses other than by reading elements.
    pub needed: BTreeSet<Var>,
}

/// The thunks of reshapes: the element that a view shows.
pub(super) type Views = BTreeMap<Var, (Space, Thunk)>;

/// What statements of a block are, beside what is written there.
#[derive(Clone, Copy)]
pub(super) struct Shown<'p> {
    /// The thunks of reshapes.
    pub views: &'p Views,
    /// The spaces of literal rows.
    pub interleaved: &'p Interleaved,
}

/// The thunks of all reshapes of a block.
pub(super) fn views(block: &Block, types: &[Type]) -> Views {
    let mut views = Views::new();
    for statement in &block.statements {
        if let (Operation::Reshape(array), [result]) =
            (&statement.operation, &statement.results[..])
        {
            views.insert(*result, view(*array, *result, statement, types));
        }
    }
    views
}

impl<'p> Region<'p> {
    /// The graph of a block. `outputs` is what the program yields. Producers become part of their readers, but for
    /// those whose results are settled, if it is said what is.
    pub(super) fn new(
        block: &'p Block,
        types: &'p [Type],
        shown: Shown<'p>,
        outputs: &BTreeSet<Var>,
        contraction: Option<&BTreeSet<Var>>,
    ) -> Region<'p> {
        let mut nodes: Vec<Node<'p>> =
            block.statements.iter().map(|statement| node(statement, shown, types)).collect();
        if let Some(settled) = contraction {
            for node in &mut nodes {
                node.settled = node.statement.results.iter().any(|result| settled.contains(result));
            }
        }
        let mut producers = BTreeMap::new();
        for (index, node) in nodes.iter().enumerate() {
            for result in &node.statement.results {
                producers.insert(*result, index);
            }
        }
        let yielded: BTreeSet<Var> = outputs.iter().chain(&block.results).copied().collect();
        let mut needed = yielded.clone();
        for node in &nodes {
            needed.extend(&node.others);
        }
        let count = nodes.len();
        let mut region = Region {
            types,
            nodes,
            producers,
            parent: vec![None; count],
            eager: vec![Vec::new(); count],
            yielded,
            needed,
        };
        if contraction.is_some() {
            region.contract();
        }
        region
    }

    /// Note [Contraction of edges].
    fn contract(&mut self) {
        let readers = self.readers();
        let rivals = self.rivals(&readers);
        for index in (0..self.nodes.len()).rev() {
            if let Some((reader, eager)) = self.sole_reader(index, &readers, &rivals) {
                self.parent[index] = Some(reader);
                if eager {
                    self.eager[reader].extend(self.nodes[index].statement.results.first());
                }
            }
        }
    }

    /// Who reads elements of a statement's results.
    fn readers(&self) -> Vec<BTreeSet<usize>> {
        let mut readers = vec![BTreeSet::new(); self.nodes.len()];
        for (index, node) in self.nodes.iter().enumerate() {
            for array in node.accesses.keys().chain(node.start.keys()) {
                if let Some(producer) = self.producers.get(array) {
                    readers[*producer].insert(index);
                }
            }
        }
        readers
    }

    fn is_needed(&self, index: usize) -> bool {
        self.nodes[index].statement.results.iter().any(|result| self.needed.contains(result))
    }

    /// How many arrays a statement reads point by point that others use too; those of producers
    /// that become part of it are counted.
    fn rivals(&self, readers: &[BTreeSet<usize>]) -> Vec<usize> {
        let mut rivals: Vec<usize> = Vec::with_capacity(self.nodes.len());
        for node in &self.nodes {
            let mut producers = BTreeSet::new();
            for (array, access) in &node.accesses {
                if let (Index::Pointwise, Some(producer)) =
                    (access.index, self.producers.get(array))
                {
                    producers.insert(*producer);
                }
            }
            let count = producers.iter().map(|producer| {
                let kind = self.nodes[*producer].kind;
                let shared = readers[*producer].len() > 1 || self.is_needed(*producer);
                match kind {
                    Kind::Map if !shared => rivals[*producer],
                    kind if kind.is_kernel() => 1,
                    _ => 0,
                }
            });
            rivals.push(count.sum());
        }
        rivals
    }

    /// The only reader of a producer, if it can become part of it, and whether it is then computed
    /// before the reader's own code.
    fn sole_reader(
        &self,
        index: usize,
        readers: &[BTreeSet<usize>],
        rivals: &[usize],
    ) -> Option<(usize, bool)> {
        let node = &self.nodes[index];
        let results = &node.statement.results;
        if results.is_empty() || self.is_needed(index) || readers[index].len() != 1 {
            return None;
        }
        let reader = *readers[index].first()?;
        let target = &self.nodes[reader];
        match node.kind {
            Kind::Map if !node.settled => {}
            Kind::View => {
                // Without a producer behind it a view costs nothing.
                let Operation::Reshape(array) = &node.statement.operation else { return None };
                let base = *self.producers.get(array)?;
                if self.nodes[base].kind != Kind::Map
                    || readers[base].len() != 1
                    || self.is_needed(base)
                    || self.nodes[base].settled
                    || self.uses_hidden(base)
                {
                    return None;
                }
            }
            _ => return None,
        }
        if target.kind == Kind::View && self.parent[reader].is_none() {
            return None;
        }
        let in_start = results.iter().any(|result| target.start.contains_key(result));
        let reads = if in_start { &target.start } else { &target.accesses };
        if in_start && results.iter().any(|result| target.accesses.contains_key(result)) {
            return None;
        }
        let reads: Vec<&Access> = results.iter().filter_map(|result| reads.get(result)).collect();
        let first = reads.first()?;
        let sites: usize = reads.iter().map(|access| access.sites).sum();
        let conditional = reads.iter().any(|access| access.conditional);
        let repeated = reads.iter().any(|access| access.repeated);
        let pointwise = reads.iter().all(|access| access.index == Index::Pointwise);
        let at_one_index = reads.iter().all(|access| access.single && access.at(first));
        let injective = reads.iter().all(|access| access.index <= Index::Injective);
        let scattered = repeated || (conditional && sites > 1);
        if scattered && target.kind == Kind::Interleave {
            return None;
        }
        // Whether each point of the reader has an element of the producer. Where there are more points, a condition says
        // which of them may look, and nothing may be computed before it.
        let at_each_point = pointwise && !in_start && target.space == node.space;
        if !injective || !at_one_index || (scattered && !at_each_point) {
            return None;
        }
        if self.uses_hidden(index) && !at_each_point {
            return None;
        }
        let settled = !at_each_point || rivals[index] <= 1;
        settled.then_some((reader, scattered))
    }

    /// Whether an element depends on indices that do not address the storage.
    fn uses_hidden(&self, index: usize) -> bool {
        let node = &self.nodes[index];
        let Some(thunk) = node.thunk else { return false };
        thunk.indices[..first_stored(node.space)].iter().any(|register| thunk.code.uses(*register))
    }

    /// The rank of a variable.
    pub(super) fn rank(&self, var: Var) -> usize {
        rank(self.types, var)
    }
}

fn node<'p>(statement: &'p Statement, shown: Shown<'p>, types: &'p [Type]) -> Node<'p> {
    static NOWHERE: Space = Space::new();
    let mut others = BTreeSet::new();
    other_uses(statement, types, &mut |var| {
        others.insert(var);
    });
    if let Operation::Reshape(array) = &statement.operation {
        // That it reads in the code of its element.
        others.remove(array);
    }
    statement.results.iter().for_each(|result| {
        others.remove(result);
    });
    let view = match &statement.operation {
        Operation::Reshape(_) => {
            statement.results.first().and_then(|result| shown.views.get(result))
        }
        _ => None,
    };
    let rows = statement.results.first().and_then(|result| shown.interleaved.get(result));
    let (space, thunk, start) = match (parts(&statement.operation), view) {
        (Some((space, thunk, start)), _) => (rows.unwrap_or(space), Some(thunk), start),
        (None, Some((space, thunk))) => (space, Some(thunk), None),
        (None, None) => (&NOWHERE, None, None),
    };
    let kind = match &statement.operation {
        Operation::Map { space, .. } if space.is_empty() => Kind::Host,
        Operation::Map { .. } if rows.is_some() => Kind::Interleave,
        Operation::Map { .. } => Kind::Map,
        Operation::Reduce { .. } => Kind::Reduce,
        Operation::Scan { form, .. } => Kind::Scan { full: *form == ScanForm::Full },
        Operation::Filter { .. } => Kind::Filter,
        Operation::Scatter { .. } => Kind::Scatter,
        Operation::Sort { .. } => Kind::Sort,
        Operation::Reshape(_) => Kind::View,
        Operation::Constant(_) => Kind::Constant,
        Operation::Check(..) => Kind::Check,
        Operation::If { .. } | Operation::While { .. } => Kind::Control,
    };
    let mut reads = thunk.map(|thunk| accesses(thunk, space)).unwrap_or_default();
    if kind == Kind::View {
        // A bijection, whatever the analysis thinks of divisions.
        reads.values_mut().for_each(|access| access.index = Index::Injective);
    }
    let barrier = match kind {
        Kind::Check => true,
        Kind::Host => thunk.is_some_and(|thunk| thunk.code.has_checks()),
        Kind::Map => statement.results.is_empty(),
        _ => false,
    };
    Node {
        statement,
        kind,
        space,
        thunk,
        accesses: reads,
        start: start
            .map(|start| accesses(start, &space[..space.len().saturating_sub(1)].to_vec()))
            .unwrap_or_default(),
        others,
        barrier,
        settled: false,
    }
}

/// The space of a view and the element it shows: the element of the array at the same position of
/// the storage.
fn view(array: Var, result: Var, statement: &Statement, types: &[Type]) -> (Space, Thunk) {
    let mut code = Instructions { statement, instructions: Vec::new(), next: 0 };
    let target = &types[result.0 as usize].extents;
    let source = &types[array.0 as usize].extents;
    let indices: Vec<Register> = target.iter().map(|_| code.fresh()).collect();
    // The first ones may be the same in both: those of the items of an apply-to-each.
    let shared = target.iter().zip(source).take_while(|(a, b)| a == b).count();
    let mut position = None;
    for (register, extent) in indices.iter().zip(target).skip(shared) {
        let index = Operand::Register(*register);
        position = Some(match position {
            None => index,
            Some(before) => {
                let extent = code.size(*extent);
                let row = code.scalar(ScalarOp::Mul, before, extent);
                code.scalar(ScalarOp::Add, row, index)
            }
        });
    }
    let mut position = position.unwrap_or(Operand::Scalar(Scalar::I64(0)));
    let mut index = Vec::new();
    for extent in source.iter().skip(shared + 1).rev() {
        let extent = code.size(*extent);
        index.push(code.scalar(ScalarOp::Rem, position, extent));
        position = code.scalar(ScalarOp::Quot, position, extent);
    }
    if source.len() > shared {
        index.push(position);
    }
    index.extend(indices[..shared].iter().rev().map(|&at| Operand::Register(at)));
    index.reverse();
    let element = code.read(array, index, types[array.0 as usize].element);
    let space = target.iter().map(|extent| Dimension::Dense(*extent)).collect();
    let code = Code { instructions: code.instructions, results: vec![element] };
    (space, Thunk { indices, code })
}

/// Writes the code of a view.
struct Instructions<'a> {
    statement: &'a Statement,
    instructions: Vec<Instruction>,
    next: u32,
}

impl Instructions<'_> {
    fn fresh(&mut self) -> Register {
        self.next += 1;
        Register(self.next - 1)
    }

    fn push(&mut self, operation: CodeOperation, ty: ScalarType) -> Operand {
        let register = self.fresh();
        let span = self.statement.span;
        self.instructions.push(Instruction { results: vec![(register, ty)], operation, span });
        Operand::Register(register)
    }

    fn scalar(&mut self, op: ScalarOp, left: Operand, right: Operand) -> Operand {
        self.push(CodeOperation::Scalar(op, vec![left, right]), ScalarType::I64)
    }

    fn read(&mut self, array: Var, index: Vec<Operand>, ty: ScalarType) -> Operand {
        self.push(CodeOperation::Read(array, index), ty)
    }

    fn size(&mut self, size: Size) -> Operand {
        match size {
            Size::Constant(value) => Operand::Scalar(Scalar::I64(value)),
            Size::Var(scalar) => self.read(scalar, Vec::new(), ScalarType::I64),
        }
    }
}

/// Whether two spaces have the same storage.
pub(super) fn same_storage(left: &Space, right: &[Size]) -> bool {
    storage(left) == right
}
