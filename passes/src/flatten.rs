//! From *nested* to *flat*: nested data parallelism becomes operations over index spaces.
//!
//! Three outcomes for a term, in this order. *Avoid*: scalar code stays scalar code in the thunk of
//! whatever needs it (Note [Delayed scalars] in [`scalar`]), and what is collective inside a
//! condition of an element becomes a loop of that element, or a computation of its own for the
//! elements that the condition chooses (Note [Divided points] in [`divide`]). *Regular*: a collective operation in the
//! body of a map is the same operation over a space with one more dense dimension. *Ragged*: where the
//! extent of that dimension differs from point to point, it is a ragged dimension with a segment
//! descriptor.
//!
//! So that nothing is replicated, a variable from outside keeps its own dimensions: what a body sees
//! of it is a [`view`] with the indices applied so far.
//!
//! ```text
//! x2: []f32 = map (\(x3: []f32) -> x4: f32 = fold add x3; yield x4) x1       [][]f32 → []f32
//! ```
//! becomes `reduce [n][m] (\i j -> x1[i, j]) add`, or `reduce [n][~offsets]` for a ragged `x1`.
//!
//! Sources: Clifton-Everest, McDonell, Chakravarty and Keller, "Streaming irregular arrays" (Haskell
//! 2017), section 4; Keller et al., "Vectorisation avoidance" (Haskell 2012).

mod alike;
mod alongside;
mod behind;
mod bounds;
mod chosen;
mod collective;
mod compile;
mod control;
mod demand;
mod divide;
mod filtered;
mod idle;
mod layout;
mod local;
mod materialise;
mod operators;
mod repetition;
mod rows;
mod scalar;
mod send;
mod statement;
mod survey;
mod unfold;
mod unvarying;
mod view;

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::rc::Rc;

use weft_ir::flat::{
    Block, Dimension, Leaf, Operation, Program, Size, Space, Statement, Type, Var, first_stored,
    storage,
};
use weft_ir::leaves::{self, Axis};
use weft_ir::{FaultKind, ScalarOp, ScalarType, Span, nested};

use crate::Unsupported;
use crate::partial::statement_may_fail;
use scalar::{ControlId, Definition, Level, Region, ScalarId, Scalars};
use view::{Source, Value};

/// Flattens a program. `layouts` gives for each parameter which of its axes are ragged, and which are
/// known to be like others.
///
/// # Errors
/// What it cannot flatten, with the reason.
pub fn flatten(program: &nested::Program, layouts: &[Vec<Axis>]) -> Result<Program, Unsupported> {
    flattened(program, layouts, true)
}

/// As [`flatten`]; `rows` says whether loops carry along what they are for one point (Note [Loops row by row] in
/// `ir::rows`).
///
/// # Errors
/// As [`flatten`].
pub(crate) fn flattened(
    program: &nested::Program,
    layouts: &[Vec<Axis>],
    rows: bool,
) -> Result<Program, Unsupported> {
    let program = &*operators::plain_operators(program);
    let program = &*unfold::unfold(program);
    let program = &*filtered::filtered(program);
    let mut flattener = Flattener::new(program);
    flattener.rows = rows;
    let mut inputs: Vec<Leaf> = Vec::new();
    for (&(var, ty), layout) in program.params.iter().zip(layouts) {
        let leaf = leaves::input_leaf(layout, &inputs, ty.element, &mut flattener.types);
        let value = flattener.stored_part(leaf.data, ty, Vec::new(), leaf.axes.clone());
        flattener.bind(var, value);
        inputs.push(leaf);
    }
    for ty in flattener.types.clone() {
        flattener.note_extents(&ty);
    }
    let results = flattener.body(&program.body)?;
    let mut outputs = Vec::new();
    for (atom, result) in program.body.results.iter().zip(results) {
        // What was not stored before is stored now, and belongs to the expression that made it.
        let own = |statement: &&nested::Statement| {
            statement.results.iter().any(|(var, _)| nested::Atom::Var(*var) == *atom)
        };
        let maker = program.body.statements.iter().find(own);
        flattener.span = maker.map_or(Span::default(), |statement| statement.span);
        outputs.push(flattener.output(result)?);
    }
    if let Some(error) = flattener.deferred {
        return Err(error);
    }
    let statements = std::mem::take(&mut flattener.blocks[0]);
    let body = Block { statements, results: Vec::new() };
    Ok(Program { inputs, body, outputs, types: flattener.types })
}

/// Either it can be flattened, or there is a reason why not.
type Outcome<T> = Result<T, Unsupported>;

/// The most scalars of a program: every pass after this one, and the compiler of C, takes some microseconds for
/// each, and what has more is mostly one choice among exponentially many.
const MOST_SCALARS: usize = 50_000;

/// Why a program with more does not compile.
const TOO_LONG: &str = "its code would be too long: it has more than 50000 operations on elements";

fn unsupported<T>(reason: impl Into<String>, span: Span) -> Outcome<T> {
    Err(Unsupported { reason: reason.into(), span })
}

/// The dimensions around the lambda body that is being flattened.
#[derive(Clone, Debug, Default)]
struct Context {
    space: Space,
    levels: Vec<Level>,
}

impl Context {
    fn depth_of(&self, level: Level) -> usize {
        self.levels
            .iter()
            .position(|&other| other == level)
            .expect("flatten: an index of a context that has ended")
    }
}

/// The state of the pass.
struct Flattener<'p> {
    program: &'p nested::Program,
    /// How often each variable of the program is used.
    uses: Vec<u32>,
    /// The type of each variable of the program.
    var_types: HashMap<nested::Var, nested::Type>,
    /// The types of the flat variables.
    types: Vec<Type>,
    /// The open blocks, outermost first.
    blocks: Vec<Vec<Statement>>,
    scalars: Scalars,
    context: Context,
    next_level: u32,
    region: Option<Region>,
    /// What the program's variables are here.
    bound: HashMap<nested::Var, Value<'p>>,
    /// Those of them that are the lengths of arrays, and so not negative.
    lengths: HashSet<nested::Var>,
    /// Scalars that were stored within the open blocks, to be forgotten when they close.
    stored: Vec<Vec<ScalarId>>,
    /// What the variables are that hold scalars.
    definitions: HashMap<Var, ScalarId>,
    /// The extents of dense dimensions, those of contexts that have ended too.
    extents_along: HashMap<Level, Size>,
    /// Those that are extents of arrays within the open blocks, and so not negative there.
    extents: Vec<HashSet<Var>>,
    /// The scalars whose values are the lengths of a descriptor's rows, and the dimensions that they
    /// depend on.
    row_lengths: HashMap<Var, (ScalarId, Vec<Level>)>,
    /// What the host has checked within the open blocks.
    checked: Vec<HashSet<(ScalarId, FaultKind)>>,
    /// The loops of scalars that can take long, or never end.
    long_loops: HashSet<ControlId>,
    /// Scalars by what they are where a condition says that they are needed
    /// (Note [A check belongs to a value]).
    guarded: HashMap<(ScalarId, ScalarId), ScalarId>,
    /// The segment descriptors of rows of these lengths over that space, by open block.
    descriptors: Vec<HashMap<(ScalarId, Space), Dimension>>,
    /// While an array is stored whose very existence depends on checks: the depth of the points that
    /// need them.
    needed_at: Option<usize>,
    /// Whether loops carry along what they are for one point.
    rows: bool,
    /// While an element of a delayed map is evaluated: maps inside it are delayed as well.
    delaying: bool,
    /// The flat variables whose computation may meet a fault.
    failing: BTreeSet<Var>,
    /// Those that something has been written to, which are better not read behind that.
    written: HashSet<Var>,
    /// Sizes that checks have shown to be equal to others.
    equal: BTreeMap<Size, Size>,
    /// The same, before each open block.
    equal_before: Vec<BTreeMap<Size, Size>>,
    /// The statement that is being flattened.
    span: Span,
    /// An error from a place that cannot report one.
    deferred: Option<Unsupported>,
}

impl<'p> Flattener<'p> {
    fn new(program: &'p nested::Program) -> Flattener<'p> {
        let mut var_types = HashMap::new();
        let mut uses = vec![0; program.variables as usize];
        survey::survey(&program.body, &mut uses, &mut var_types);
        var_types.extend(program.params.iter().copied());
        Flattener {
            program,
            uses,
            var_types,
            types: Vec::new(),
            blocks: vec![Vec::new()],
            scalars: Scalars::default(),
            context: Context::default(),
            next_level: 0,
            region: None,
            bound: HashMap::new(),
            stored: vec![Vec::new()],
            definitions: HashMap::new(),
            extents_along: HashMap::new(),
            extents: vec![HashSet::new()],
            lengths: HashSet::new(),
            row_lengths: HashMap::new(),
            checked: vec![HashSet::new()],
            long_loops: HashSet::new(),
            guarded: HashMap::new(),
            needed_at: None,
            rows: true,
            delaying: false,
            failing: BTreeSet::new(),
            written: HashSet::new(),
            descriptors: vec![HashMap::new()],
            equal: BTreeMap::new(),
            equal_before: Vec::new(),
            span: Span::default(),
            deferred: None,
        }
    }

    /// Flattens the statements of a body in the current context and region.
    fn body(&mut self, body: &'p nested::Body) -> Outcome<Vec<Value<'p>>> {
        // Inside a region every map is evaluated where its elements are needed.
        let chosen = match self.region.is_some() || self.delaying {
            false => self.chosen_maps(body),
            true => vec![false; body.statements.len()],
        };
        for (statement, chosen) in body.statements.iter().zip(chosen) {
            let outer = self.span;
            self.span = statement.span;
            let values = match &statement.operation {
                nested::Operation::Map(lambda, arrays) if chosen => {
                    self.chosen_map(lambda, arrays)?
                }
                _ => self.statement(statement)?,
            };
            for (&(var, _), value) in statement.results.iter().zip(values) {
                if let Value::Scalar(id) = &value {
                    let uses = self.uses[var.0 as usize];
                    let node = self.scalars.node_mut(*id);
                    node.uses = node.uses.max(uses);
                }
                self.bind(var, value);
            }
            self.span = outer;
        }
        Ok(body.results.iter().map(|atom| self.atom(atom)).collect())
    }

    fn bind(&mut self, var: nested::Var, value: Value<'p>) {
        self.bound.insert(var, value);
    }

    fn atom(&mut self, atom: &nested::Atom) -> Value<'p> {
        match atom {
            nested::Atom::Var(var) => self.bound[var].clone(),
            nested::Atom::Scalar(value) => Value::Scalar(self.scalars.constant(*value)),
        }
    }

    fn atom_type(&self, atom: &nested::Atom) -> nested::Type {
        match atom {
            nested::Atom::Var(var) => self.var_types[var],
            nested::Atom::Scalar(value) => nested::Type::scalar(value.ty()),
        }
    }

    fn scalar_atom(&mut self, atom: &nested::Atom) -> ScalarId {
        match self.atom(atom) {
            Value::Scalar(id) => id,
            Value::Array(_) => panic!("flatten: an array where a scalar is needed"),
        }
    }

    fn array_atom(&mut self, atom: &nested::Atom) -> Rc<view::View<'p>> {
        match self.atom(atom) {
            Value::Array(view) => view,
            Value::Scalar(_) => panic!("flatten: a scalar where an array is needed"),
        }
    }

    /// A scalar operator in the current region.
    fn op(&mut self, op: ScalarOp, args: &[ScalarId]) -> ScalarId {
        let (home, span) = (self.region, self.span);
        self.scalars.op(op, args, home, span)
    }

    /// Whether there are too many scalars.
    fn is_too_long(&self) -> bool {
        self.scalars.nodes.len() > MOST_SCALARS
    }

    fn emit(&mut self, statement: Statement) {
        if statement_may_fail(&statement, &self.types, &self.failing) {
            self.failing.extend(&statement.results);
        }
        self.blocks.last_mut().expect("a block is open").push(statement);
    }

    /// A new array over a space.
    fn array_over(&mut self, space: &[Dimension], element: ScalarType) -> Var {
        self.typed(Type { element, extents: storage(space) })
    }

    fn typed(&mut self, ty: Type) -> Var {
        self.note_extents(&ty);
        self.types.push(ty);
        Var(self.types.len() as u32 - 1)
    }

    fn note_extents(&mut self, ty: &Type) {
        let extents = self.extents.last_mut().expect("a block is open");
        extents.extend(ty.extents.iter().filter_map(|size| match size {
            Size::Var(var) => Some(*var),
            Size::Constant(_) => None,
        }));
    }

    fn remember_stored(&mut self, id: ScalarId, var: Var) {
        self.scalars.node_mut(id).stored = Some(var);
        self.definitions.insert(var, id);
        self.stored.last_mut().expect("a block is open").push(id);
    }

    /// The size that stands for all that are known to be equal to it.
    fn same_size(&self, size: Size) -> Size {
        let mut size = size;
        while let Some(&other) = self.equal.get(&size) {
            size = other;
        }
        size
    }

    /// Adds a dimension to the context; yields its index.
    fn enter(&mut self, dimension: Dimension) -> ScalarId {
        let level = Level(self.next_level);
        self.next_level += 1;
        self.context.space.push(dimension);
        self.context.levels.push(level);
        if let Dimension::Dense(extent) = dimension {
            self.extents_along.insert(level, extent);
        }
        self.scalars.index(level, self.context.levels.len() - 1)
    }

    /// Removes the innermost dimension.
    fn leave(&mut self) {
        self.context.space.pop();
        self.context.levels.pop();
    }

    fn depth(&self) -> usize {
        self.context.space.len()
    }

    /// The indices of the current point that address storage, with their extents.
    fn identity(&mut self) -> Vec<(ScalarId, Size)> {
        let extents = storage(&self.context.space);
        let first = first_stored(&self.context.space);
        (first..self.depth())
            .zip(extents)
            .map(|(depth, extent)| (self.scalars.index(self.context.levels[depth], depth), extent))
            .collect()
    }

    /// The position of a local index `position - start` in a row of the same descriptor.
    fn canonical_position(
        &self,
        offsets: Var,
        prefix: &[(ScalarId, Size)],
        index: ScalarId,
    ) -> Option<ScalarId> {
        let Definition::Op(ScalarOp::Sub, args) = &self.scalars.node(index).definition else {
            return None;
        };
        let Definition::Index(level) = self.scalars.node(args[0]).definition else { return None };
        let depth = self.context.levels.iter().position(|&other| other == level)?;
        let Dimension::Ragged { offsets: of_level, .. } = self.context.space[depth] else {
            return None;
        };
        let first = first_stored(&self.context.space[..depth]);
        let rows_match = prefix.len() == depth - first
            && prefix.iter().zip(first..depth).all(|(&(index, _), depth)| {
                self.scalars.node(index).definition == Definition::Index(self.context.levels[depth])
            });
        // `local_index` is the only one to subtract the start of its row from a position.
        (of_level == offsets && rows_match && self.is_row_start(args[1], offsets, depth))
            .then_some(args[0])
    }

    /// Whether a scalar is the start of the row of dimension number `depth`.
    fn is_row_start(&self, start: ScalarId, offsets: Var, depth: usize) -> bool {
        match &self.scalars.node(start).definition {
            Definition::Read(var, index) => {
                *var == offsets && self.scalars.depth(index[0]) == depth
            }
            _ => false,
        }
    }

    /// A result of the program: stored, with its axes.
    fn output(&mut self, value: Value<'p>) -> Outcome<Leaf> {
        match value {
            Value::Scalar(id) => Ok(Leaf { axes: Vec::new(), data: self.host_scalar(id) }),
            Value::Array(view) => {
                let stored = self.materialise(&view)?;
                match &stored.source {
                    Source::Stored { var, axes, .. } => Ok(Leaf { axes: axes.clone(), data: *var }),
                    _ => panic!("flatten: materialise stores"),
                }
            }
        }
    }

    /// A check of the host: a fault unless the scalar holds.
    fn check(&mut self, condition: ScalarId, kind: FaultKind) {
        if self.scalars.known_scalar(condition) == Some(weft_ir::Scalar::Bool(true))
            || self.checked.iter().any(|checked| checked.contains(&(condition, kind)))
        {
            return;
        }
        self.checked.last_mut().expect("a block is open").insert((condition, kind));
        let var = self.host_scalar(condition);
        let (operation, span) = (Operation::Check(var, kind), self.span);
        self.emit(Statement { results: Vec::new(), operation, span });
    }
}
