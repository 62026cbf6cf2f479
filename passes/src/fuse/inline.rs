//! Inlines arrays whose elements are cheaper than a load into everything that reads them, also into
//! blocks of `if` and `while`; gives equal scalars one name; numbers the values of every thunk.
//!
//! ```text
//! a3 : [a1]i64 = map (r0) [a1]            a5 : i64 = reduce (r0) [a1]
//!   yield r0                         →      r1 : i64 = mul r0 r0
//! a5 : i64 = reduce (r0) [a1]               yield r1
//!   r1 : i64 = read a3 r0
//!   …
//! ```

use std::collections::{BTreeMap, BTreeSet, HashMap};

use weft_ir::code::{Code, Operand, Operation as CodeOperation, Register, Thunk};
use weft_ir::flat::{
    Block, Dimension, Operation, Program, Size, Space, Start, Statement, Type, Var,
};
use weft_ir::{RowInput, Scalar, ScalarOp};

use super::compose::{Delayed, Lookup, composed};
use super::cost::{chooses_within_rows, is_cheap, rank};
use super::twins::{Same, pairs};
use crate::partial::statement_may_fail;

/// The arrays that were inlined into a statement, by the statement's first result.
pub(super) type Absorbed = BTreeMap<Var, BTreeSet<Var>>;

/// Inlines what is cheap. `program` keeps the statements of what was inlined; those that nobody needs
/// any more are for [`super::prune()`]. What is `settled` is not inlined.
pub(super) fn inline(program: &mut Program, enabled: bool, settled: &BTreeSet<Var>) -> Absorbed {
    let mut inliner = Inliner {
        types: program.types.clone(),
        inputs: program.inputs.iter().map(|leaf| leaf.data).collect(),
        enabled,
        settled,
        cheap: BTreeMap::new(),
        aliases: BTreeMap::new(),
        scalars: vec![HashMap::new()],
        absorbed: Absorbed::new(),
        failing: BTreeSet::new(),
    };
    let front = equal_extents(program);
    let mut statements = Vec::new();
    for mut statement in front.checks {
        inliner.statement(&mut statement);
        statements.push(statement);
    }
    inliner.aliases.extend(front.aliases);
    inliner.block(&mut program.body);
    statements.append(&mut program.body.statements);
    program.body.statements = statements;
    program.types.extend_from_slice(&inliner.types[program.types.len()..]);
    let aliases = inliner.aliases;
    let fixed = fixed(program);
    for (var, ty) in program.types.iter_mut().enumerate() {
        if fixed.contains(&Var(var as u32)) {
            continue;
        }
        for extent in &mut ty.extents {
            *extent = resolve_size(*extent, &aliases);
        }
    }
    for leaf in &mut program.outputs {
        for axis in &mut leaf.axes {
            *axis = resolve_dimension(*axis, &aliases);
        }
        leaf.data = resolve(leaf.data, &aliases);
    }
    inliner.absorbed
}

/// Checks that come first, and the sizes that are equal once they hold.
struct Front {
    checks: Vec<Statement>,
    aliases: BTreeMap<Var, Size>,
}

/// Takes out of the program the checks that two extents of inputs are equal, which may come before
/// everything else (Note [Order of checks] in `fuse`: a check is never too early). What stood over the one
/// extent then stands over the other, so that for instance all readers of two arrays of one length
/// can share a kernel. Checks in the bodies of loops come first too: if one fails, the interpreter
/// decides whether the loop comes to it.
fn equal_extents(program: &mut Program) -> Front {
    let mut sizes = BTreeSet::new();
    for axis in program.inputs.iter().flat_map(|leaf| &leaf.axes) {
        if let Dimension::Dense(Size::Var(size)) = axis {
            sizes.insert(*size);
        }
    }
    let mut comparisons: BTreeMap<Var, (Var, Var)> = BTreeMap::new();
    let mut classes: BTreeMap<Var, Var> = BTreeMap::new();
    let mut checks = Vec::new();
    let mut moved = BTreeSet::new();
    each_statement(&program.body, &mut |statement| match (
        &statement.operation,
        &statement.results[..],
    ) {
        (Operation::Map { space, thunk }, [result]) if space.is_empty() => {
            if let Some((left, right)) = comparison(&thunk.code)
                && sizes.contains(&left)
                && sizes.contains(&right)
            {
                comparisons.insert(*result, (left, right));
            }
        }
        (Operation::Check(condition, _), _) => {
            let Some((left, right)) = comparisons.get(condition) else { return };
            let class = |var: &Var| classes.get(var).copied().unwrap_or(*var);
            let (left, right) = (class(left), class(right));
            let (first, second) = (left.min(right), left.max(right));
            for size in &sizes {
                if class_of(&classes, *size) == second {
                    classes.insert(*size, first);
                }
            }
            moved.insert(*condition);
        }
        _ => {}
    });
    take(&mut program.body, &moved, &mut checks);
    let aliases = classes
        .into_iter()
        .filter(|(size, class)| size != class)
        .map(|(size, class)| (size, Size::Var(class)))
        .collect();
    Front { checks, aliases }
}

/// Visits the statements of a block and of the bodies of its loops, in order.
fn each_statement(block: &Block, visit: &mut impl FnMut(&Statement)) {
    for statement in &block.statements {
        visit(statement);
        if let Operation::While { condition, body, .. } = &statement.operation {
            each_statement(condition, visit);
            each_statement(body, visit);
        }
    }
}

/// Takes the comparisons and checks of these conditions out of a block and of the bodies of its loops.
fn take(block: &mut Block, moved: &BTreeSet<Var>, checks: &mut Vec<Statement>) {
    block.statements.retain_mut(|statement| {
        let stays = match (&mut statement.operation, &statement.results[..]) {
            (Operation::Map { .. }, [result]) => !moved.contains(result),
            (Operation::Check(condition, _), _) => !moved.contains(condition),
            (Operation::While { condition, body, .. }, _) => {
                take(condition, moved, checks);
                take(body, moved, checks);
                true
            }
            _ => true,
        };
        if !stays {
            checks.push(statement.clone());
        }
        stays
    });
}

fn class_of(classes: &BTreeMap<Var, Var>, size: Var) -> Var {
    classes.get(&size).copied().unwrap_or(size)
}

/// The two scalars that a code compares, if that is all it does.
fn comparison(code: &Code) -> Option<(Var, Var)> {
    let [first, second, third] = &code.instructions[..] else { return None };
    match (&first.operation, &second.operation, &third.operation) {
        (
            CodeOperation::Read(left, _),
            CodeOperation::Read(right, _),
            CodeOperation::Scalar(ScalarOp::Eq, operands),
        ) => {
            let defined = [first, second].map(|each| Operand::Register(each.results[0].0));
            let yielded = [Operand::Register(third.results[0].0)];
            (operands[..] == defined && code.results[..] == yielded).then_some((*left, *right))
        }
        _ => None,
    }
}

/// The variables whose types stay as they are: inputs, and scatters into them.
fn fixed(program: &Program) -> BTreeSet<Var> {
    let mut fixed: BTreeSet<Var> = program.inputs.iter().map(|leaf| leaf.data).collect();
    fn scatters(block: &Block, fixed: &mut BTreeSet<Var>) {
        for statement in &block.statements {
            if let Operation::Scatter { destinations, .. } = &statement.operation
                && destinations.iter().any(|destination| fixed.contains(destination))
            {
                fixed.extend(&statement.results);
            }
            super::uses::blocks(&statement.operation)
                .into_iter()
                .for_each(|block| scatters(block, fixed));
        }
    }
    scatters(&program.body, &mut fixed);
    fixed
}

/// An array whose elements are computed where they are read.
struct Cheap {
    thunk: Thunk,
    result: usize,
    space: Space,
    /// Whether it is only cheap where few places of a thunk read it.
    chooses: bool,
}

/// In more places of one thunk an array is not inlined that chooses what it reads ([`chooses_within_rows`]).
const MOST_CHOICES: usize = 2;

struct Inliner<'s> {
    types: Vec<Type>,
    inputs: BTreeSet<Var>,
    enabled: bool,
    /// What is not inlined.
    settled: &'s BTreeSet<Var>,
    cheap: BTreeMap<Var, Cheap>,
    /// Scalars that equal another size.
    aliases: BTreeMap<Var, Size>,
    /// The scalars that the enclosing blocks compute, by their code.
    scalars: Vec<HashMap<String, Vec<Var>>>,
    absorbed: Absorbed,
    /// What may fail, and what needs it.
    failing: BTreeSet<Var>,
}

/// What is cheap, what may fail, and what is read in too many places.
struct CheapArrays<'p>(&'p BTreeMap<Var, Cheap>, &'p BTreeSet<Var>, BTreeSet<Var>);

impl<'p> Lookup<'p> for CheapArrays<'p> {
    fn delayed(&self, array: Var) -> Option<Delayed<'p>> {
        let cheap = self.0.get(&array).filter(|_| !self.2.contains(&array));
        cheap.map(|cheap| Delayed {
            statement: array.0,
            result: cheap.result,
            thunk: Some(&cheap.thunk),
            space: &cheap.space,
        })
    }

    fn may_fail(&self, array: Var) -> bool {
        self.1.contains(&array)
    }
}

impl Inliner<'_> {
    fn block(&mut self, block: &mut Block) {
        self.scalars.push(HashMap::new());
        for mut statement in std::mem::take(&mut block.statements) {
            self.statement(&mut statement);
            block.statements.extend(self.checks_of_replaced(&statement));
            block.statements.extend(self.given_inputs(&mut statement));
            block.statements.push(statement);
        }
        for result in &mut block.results {
            *result = resolve(*result, &self.aliases);
        }
        self.scalars.pop();
    }

    fn statement(&mut self, statement: &mut Statement) {
        let mut absorbed = BTreeSet::new();
        match &mut statement.operation {
            Operation::Map { space, thunk }
            | Operation::Filter { space, thunk }
            | Operation::Sort { space, thunk, .. } => {
                self.space(space);
                *thunk = self.thunk(thunk, &mut absorbed);
            }
            Operation::Reduce { space, thunk, start, operator } => {
                self.space(space);
                *thunk = self.thunk(thunk, &mut absorbed);
                self.start(start, &mut absorbed);
                self.rename_reads(&mut operator.code);
            }
            Operation::Scan { space, thunk, start, operator, full, .. } => {
                self.space(space);
                *thunk = self.thunk(thunk, &mut absorbed);
                self.start(start, &mut absorbed);
                self.rename_reads(&mut operator.code);
                if let Some(dimension) = full {
                    *dimension = resolve_dimension(*dimension, &self.aliases);
                }
            }
            Operation::Scatter { space, thunk, destinations, operator } => {
                self.space(space);
                *thunk = self.thunk(thunk, &mut absorbed);
                for destination in destinations {
                    *destination = resolve(*destination, &self.aliases);
                }
                if let Some(operator) = operator {
                    self.rename_reads(&mut operator.code);
                }
            }
            Operation::Reshape(array) => *array = resolve(*array, &self.aliases),
            Operation::Constant(_) => {}
            Operation::Check(condition, _) => *condition = resolve(*condition, &self.aliases),
            Operation::If { condition, then, otherwise } => {
                *condition = resolve(*condition, &self.aliases);
                let results = &statement.results;
                let first = Same::new(&self.aliases, &self.types).results(results, then, otherwise);
                self.name_as(pairs(results, &first));
                self.block(then);
                self.block(otherwise);
            }
            Operation::While { state, initial, condition, body, rows } => {
                for var in &mut *initial {
                    *var = resolve(*var, &self.aliases);
                }
                self.twins(state, initial, body, &statement.results);
                self.block(condition);
                self.block(body);
                if let Some(rows) = rows {
                    rows.rename(&mut |var| resolve(var, &self.aliases));
                }
            }
        }
        if let (Some(first), false) = (statement.results.first(), absorbed.is_empty()) {
            self.absorbed.insert(*first, absorbed);
        }
        if statement_may_fail(statement, &self.types, &self.failing) {
            self.failing.extend(&statement.results);
        }
        if let Operation::Map { space, thunk } = &statement.operation {
            if space.is_empty() {
                self.name_scalars(&statement.results, thunk);
            }
            self.remember(&statement.results, space, thunk);
        }
    }

    /// Gives scalars of a loop's state one name that are the same in every turn (Note [Lengths that are carried twice]).
    fn twins(&mut self, state: &[Var], initial: &[Var], body: &Block, results: &[Var]) {
        let first = Same::new(&self.aliases, &self.types).state(state, initial, body);
        self.name_as(pairs(state, &first).chain(pairs(results, &first)));
    }

    fn name_as(&mut self, same: impl Iterator<Item = (Var, Var)>) {
        self.aliases.extend(same.map(|(var, first)| (var, Size::Var(first))));
    }

    /// Gives the program of one point of a loop the inputs with the extents that they have by now: those of an input itself
    /// stay what they are.
    fn given_inputs(&mut self, statement: &mut Statement) -> Vec<Statement> {
        let Operation::While { rows: Some(rows), .. } = &mut statement.operation else {
            return Vec::new();
        };
        let mut views = Vec::new();
        for (_, given) in &mut rows.inputs {
            let (RowInput::All(var)
            | RowInput::Row(var, _)
            | RowInput::Segment(var, ..)
            | RowInput::Matrix(var, ..)) = given
            else {
                continue;
            };
            let mut ty = self.types[var.0 as usize].clone();
            ty.extents.iter_mut().for_each(|extent| *extent = resolve_size(*extent, &self.aliases));
            if !self.inputs.contains(var) || ty == self.types[var.0 as usize] {
                continue;
            }
            let view = Var(self.types.len() as u32);
            self.types.push(ty);
            let operation = Operation::Reshape(*var);
            views.push(Statement { results: vec![view], operation, span: statement.span });
            *var = view;
        }
        views
    }

    fn thunk(&self, thunk: &Thunk, absorbed: &mut BTreeSet<Var>) -> Thunk {
        let mut thunk = thunk.clone();
        self.rename_reads(&mut thunk.code);
        let lookup = CheapArrays(&self.cheap, &self.failing, self.read_often(&thunk));
        let (thunk, inlined) = composed(&thunk, &lookup);
        // What an inlined array had inlined is known by its name too.
        for array in inlined {
            absorbed.extend(self.absorbed.get(&array).into_iter().flatten());
            absorbed.insert(array);
        }
        absorbed.retain(|array| rank(&self.types, *array) > 0);
        thunk
    }

    /// What chooses what it reads and is read in many places of a thunk, as the neighbours of a stencil.
    fn read_often(&self, thunk: &Thunk) -> BTreeSet<Var> {
        let mut places: BTreeMap<Var, usize> = BTreeMap::new();
        for read in thunk.code.reads() {
            if self.cheap.get(&read).is_some_and(|cheap| cheap.chooses) {
                *places.entry(read).or_default() += 1;
            }
        }
        places.retain(|_, places| *places > MOST_CHOICES);
        places.into_keys().collect()
    }

    fn start(&self, start: &mut Start<Thunk>, absorbed: &mut BTreeSet<Var>) {
        if let Some(thunk) = start.values_mut() {
            *thunk = self.thunk(thunk, absorbed);
        }
    }

    fn space(&self, space: &mut Space) {
        for dimension in space {
            *dimension = resolve_dimension(*dimension, &self.aliases);
        }
    }

    fn rename_reads(&self, code: &mut Code) {
        if self.aliases.is_empty() {
            return;
        }
        code.walk_mut(&mut |instruction| {
            if let CodeOperation::Read(array, _) = &mut instruction.operation {
                *array = resolve(*array, &self.aliases);
            }
        });
    }

    /// Finds scalars that are constants, copies of others, or computed before.
    fn name_scalars(&mut self, results: &[Var], thunk: &Thunk) {
        let key = format!("{:?}", thunk.code);
        let known = self.scalars.iter().rev().find_map(|block| block.get(&key)).cloned();
        if let Some(known) = known {
            for (result, known) in results.iter().zip(known) {
                self.aliases.insert(*result, Size::Var(known));
            }
            return;
        }
        let copies: BTreeMap<Register, Var> = thunk
            .code
            .instructions
            .iter()
            .filter_map(|instruction| match (&instruction.operation, &instruction.results[..]) {
                (CodeOperation::Read(scalar, index), [(register, _)]) if index.is_empty() => {
                    Some((*register, *scalar))
                }
                _ => None,
            })
            .collect();
        for (result, operand) in results.iter().zip(&thunk.code.results) {
            match operand {
                Operand::Scalar(Scalar::I64(value)) if *value >= 0 => {
                    self.aliases.insert(*result, Size::Constant(*value));
                }
                Operand::Register(register) => {
                    if let Some(scalar) = copies.get(register) {
                        self.aliases.insert(*result, Size::Var(*scalar));
                    }
                }
                Operand::Scalar(_) => {}
            }
        }
        if let Some(block) = self.scalars.last_mut() {
            block.insert(key, results.to_vec());
        }
    }

    /// The checks of a statement that computes scalars for which others now stand: who uses those
    /// relies on the checks, and the statement itself may go.
    fn checks_of_replaced(&self, statement: &Statement) -> Option<Statement> {
        let Operation::Map { space, thunk } = &statement.operation else { return None };
        let replaced = statement.results.iter().any(|result| self.aliases.contains_key(result));
        if !space.is_empty() || !replaced || !thunk.code.has_checks() {
            return None;
        }
        let mut thunk = thunk.clone();
        thunk.code.results.clear();
        let operation = Operation::Map { space: Vec::new(), thunk };
        Some(Statement { results: Vec::new(), operation, span: statement.span })
    }

    fn remember(&mut self, results: &[Var], space: &Space, thunk: &Thunk) {
        if !self.enabled {
            return;
        }
        for (result, array) in results.iter().enumerate() {
            let cheap = if space.is_empty() {
                // Reading the scalar is as cheap, unless it is a constant.
                matches!(thunk.code.results[result], Operand::Scalar(_))
            } else {
                is_cheap(thunk, result, space, &self.types)
            };
            if cheap && !self.settled.contains(array) {
                let (thunk, space) = (thunk.clone(), space.clone());
                let chooses = chooses_within_rows(&thunk);
                self.cheap.insert(*array, Cheap { thunk, result, space, chooses });
            }
        }
    }
}

fn resolve(var: Var, aliases: &BTreeMap<Var, Size>) -> Var {
    match aliases.get(&var) {
        Some(Size::Var(other)) => *other,
        Some(Size::Constant(_)) | None => var,
    }
}

fn resolve_size(size: Size, aliases: &BTreeMap<Var, Size>) -> Size {
    match size {
        Size::Var(var) => aliases.get(&var).copied().unwrap_or(size),
        Size::Constant(_) => size,
    }
}

fn resolve_dimension(dimension: Dimension, aliases: &BTreeMap<Var, Size>) -> Dimension {
    match dimension {
        Dimension::Dense(size) => Dimension::Dense(resolve_size(size, aliases)),
        Dimension::Ragged { offsets, total } => {
            Dimension::Ragged { offsets, total: resolve_size(total, aliases) }
        }
    }
}
