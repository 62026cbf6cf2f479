//! The bodies under construction, and everything that appends to them.

use std::collections::{BTreeMap, BTreeSet};

use weft_ir::nested::{Atom, Body, Function, FunctionId, Operation, Program, Statement, Type, Var};
use weft_ir::{Name, Scalar, ScalarType, Span, math};

use super::Unsupported;
use super::given::Specialised;
use super::recursion::Recursion;
use super::value::{Value, component_types, leaf_count, leaf_types};
use crate::typed::{GlobalId, InstanceId, Program as TypedProgram};
use crate::types;

/// What a step of lowering yields.
pub(super) type Outcome<T> = Result<T, Unsupported>;

/// What a lambda or a loop yields for its parameters.
pub(super) type BodyOf<'a, 'p> =
    &'a mut dyn FnMut(&mut Lowering<'p>, &[Atom]) -> Outcome<Vec<Atom>>;

/// What an operator yields for the components of its two operands.
pub(super) type OperatorOf<'a, 'p> =
    &'a mut dyn FnMut(&mut Lowering<'p>, &[Atom], &[Atom]) -> Outcome<Vec<Atom>>;

/// How many statements a program may have: towers of functions double with every call.
const MAX_STATEMENTS: usize = 200_000;

/// How deep expressions may stand in each other when functions are expanded: more than in one item
/// (Note \[Depth\] in `syntax/layout/frame.rs`).
const MAX_DEPTH: u32 = 25_000;
/// How many bodies may be open: branches, loops and lambdas within each other. As many as in one item.
const MAX_BODIES: usize = 1_000;

/// The scalar type of indices and lengths.
pub(super) const I64: Type = Type { rank: 0, element: ScalarType::I64 };
/// The type of conditions.
pub(super) const BOOL: Type = Type { rank: 0, element: ScalarType::Bool };

/// The state of lowering.
pub(super) struct Lowering<'p> {
    pub(super) program: &'p TypedProgram,
    /// The expression at hand: statements belong to it.
    pub(super) span: Span,
    /// What is known of each variable.
    variables: Vec<Variable>,
    /// The open bodies, the innermost last.
    bodies: Vec<OpenBody<'p>>,
    /// How many statements there are in all.
    statements: usize,
    /// How many expressions are being lowered, each within the one before.
    depth: u32,
    /// How many of the open bodies are lambdas'.
    lambdas: usize,
    /// The earlier bindings that were asked for, in order.
    inputs: Vec<(GlobalId, types::Type, Vec<Atom>)>,
    /// Where a recursive function finds the earlier bindings: among its parameters.
    pub(super) globals: Option<BTreeMap<GlobalId, Vec<Atom>>>,
    /// The bindings that were lowered before, in the same body (`sequence.rs`).
    defined: BTreeMap<GlobalId, Vec<Atom>>,
    /// Those of them that were asked for.
    read: BTreeSet<GlobalId>,
    /// Which instances are recursive.
    pub(super) recursion: Recursion,
    /// The recursive functions that were asked for and are given no functions.
    pub(super) function_ids: BTreeMap<InstanceId, FunctionId>,
    /// Those under construction that are given functions.
    pub(super) specialised: Vec<Specialised<'p>>,
    /// Their definitions, by id, when they are finished.
    pub(super) functions: Vec<Option<Function>>,
}

#[derive(Clone, Copy)]
struct Variable {
    ty: Type,
    /// Whether it is an integer that is not negative.
    is_count: bool,
    /// Whether it is an array of such integers.
    has_counts: bool,
    /// The length of an array, where its definition says it.
    length: Option<Length>,
    /// Whether it is a scalar that may be an error.
    may_fail: bool,
    /// Whether it is an array that is known to be a value.
    is_there: bool,
    /// Whether it, or what it is computed from, may be an error.
    is_risky: bool,
}

/// What is known of a length.
#[derive(Clone, Copy)]
enum Length {
    Is(Atom),
    /// That of another array.
    Of(Var),
}

/// A body under construction.
#[derive(Default)]
struct OpenBody<'p> {
    statements: Vec<Statement>,
    /// The lengths that were asked for here.
    lengths: BTreeMap<Var, Atom>,
    /// The values of definitions without parameters that were asked for here.
    constants: BTreeMap<InstanceId, Value<'p>>,
}

/// The outer bodies, while a recursive function is lowered.
pub(super) struct Outer<'p> {
    bodies: Vec<OpenBody<'p>>,
    lambdas: usize,
    globals: Option<BTreeMap<GlobalId, Vec<Atom>>>,
}

impl<'p> Lowering<'p> {
    /// Nothing done yet; the body of the program is open.
    pub(super) fn new(program: &'p TypedProgram) -> Lowering<'p> {
        Lowering {
            program,
            span: program.entry.span,
            variables: Vec::new(),
            bodies: vec![OpenBody::default()],
            statements: 0,
            depth: 0,
            lambdas: 0,
            inputs: Vec::new(),
            globals: None,
            defined: BTreeMap::new(),
            read: BTreeSet::new(),
            recursion: Recursion::of(program),
            function_ids: BTreeMap::new(),
            specialised: Vec::new(),
            functions: Vec::new(),
        }
    }

    /// Goes on with the next program of a sequence, in the same body. What the body knows of instances is
    /// about those of the program before.
    pub(super) fn begin(&mut self, program: &'p TypedProgram, recursion: Recursion) {
        self.program = program;
        self.span = program.entry.span;
        self.recursion = recursion;
        self.function_ids.clear();
        self.specialised.clear();
        self.innermost().constants.clear();
    }

    /// What these ids stand for from now on. Without these values the whole program has none, so what
    /// reads them need not ask whether they are there.
    pub(super) fn define_globals(&mut self, globals: BTreeMap<GlobalId, Vec<Atom>>) {
        for atom in globals.values().flatten() {
            if let Atom::Var(var) = atom {
                let variable = &mut self.variables[var.0 as usize];
                variable.is_there = true;
                variable.may_fail = false;
            }
        }
        self.defined.extend(globals);
    }

    /// The statements of the innermost open body so far.
    pub(super) fn open_statements(&self) -> &[Statement] {
        self.bodies.last().map_or(&[], |body| &body.statements)
    }

    /// Whether something has asked for an id that [`Lowering::define_globals`] has defined.
    pub(super) fn is_read(&self, global: GlobalId) -> bool {
        self.read.contains(&global)
    }

    /// The program with these results, and its inputs.
    pub(super) fn finish(mut self, results: Vec<Atom>) -> (Program, Vec<(GlobalId, types::Type)>) {
        let body = self.close(results);
        let mut params = Vec::new();
        for (_, _, atoms) in &self.inputs {
            for atom in atoms {
                if let Atom::Var(var) = atom {
                    params.push((*var, self.variables[var.0 as usize].ty));
                }
            }
        }
        let functions =
            self.functions.into_iter().map(|function| function.expect("finished")).collect();
        let variables = self.variables.len() as u32;
        let inputs = self.inputs.into_iter().map(|(global, ty, _)| (global, ty)).collect();
        (Program { params, functions, body, variables }, inputs)
    }

    /// What the compiled path cannot do, at the expression at hand.
    pub(super) fn unsupported<T>(&self, reason: impl Into<String>) -> Outcome<T> {
        Err(Unsupported { reason: reason.into(), span: self.span })
    }

    /// The leaves of a value that is stored.
    pub(super) fn leaves(&self, value: &Value<'p>) -> Outcome<Vec<Atom>> {
        match value.leaves() {
            Some(leaves) => Ok(leaves),
            None => self.unsupported("a function is chosen or changed while the program runs"),
        }
    }

    /// The leaf types of a value that is stored.
    pub(super) fn leaf_types(&self, ty: &types::Type) -> Outcome<Vec<Type>> {
        match leaf_types(ty) {
            Some(leaves) => Ok(leaves),
            None => self.unsupported("a function is chosen or changed while the program runs"),
        }
    }

    /// The leaves of the value of an earlier binding.
    pub(super) fn read_global(&mut self, global: GlobalId, ty: &types::Type) -> Outcome<Vec<Atom>> {
        let known = match &self.globals {
            Some(globals) => globals.get(&global).cloned(),
            None => match self.defined.get(&global) {
                Some(atoms) => {
                    self.read.insert(global);
                    Some(atoms.clone())
                }
                None => {
                    let inputs = self.inputs.iter().find(|(other, _, _)| *other == global);
                    inputs.map(|(_, _, atoms)| atoms.clone())
                }
            },
        };
        if let Some(atoms) = known {
            return Ok(atoms);
        }
        let types = self.leaf_types(ty)?;
        let atoms: Vec<Atom> = types.into_iter().map(|ty| Atom::Var(self.variable(ty))).collect();
        for atom in &atoms {
            if let Atom::Var(var) = atom {
                self.variables[var.0 as usize].is_there = true;
            }
        }
        self.relate(ty, &atoms);
        self.inputs.push((global, ty.clone(), atoms.clone()));
        Ok(atoms)
    }

    /// The value of a definition without parameters, if it was computed where it can be seen.
    pub(super) fn constant(&self, id: InstanceId) -> Option<Value<'p>> {
        self.bodies.iter().find_map(|body| body.constants.get(&id).cloned())
    }

    /// Remembers the value of a definition without parameters.
    pub(super) fn set_constant(&mut self, id: InstanceId, value: Value<'p>) {
        self.innermost().constants.insert(id, value);
    }

    /// Puts the open bodies aside, and opens that of a function.
    pub(super) fn leave_bodies(&mut self, globals: BTreeMap<GlobalId, Vec<Atom>>) -> Outer<'p> {
        Outer {
            bodies: std::mem::replace(&mut self.bodies, vec![OpenBody::default()]),
            lambdas: std::mem::take(&mut self.lambdas),
            globals: self.globals.replace(globals),
        }
    }

    /// Goes on with the bodies that were put aside.
    pub(super) fn enter_bodies(&mut self, outer: Outer<'p>) {
        self.bodies = outer.bodies;
        self.lambdas = outer.lambdas;
        self.globals = outer.globals;
    }

    // Bodies and variables.

    /// The innermost open body.
    fn innermost(&mut self) -> &mut OpenBody<'p> {
        self.bodies.last_mut().expect("the program's body is open")
    }

    /// Opens the body of a lambda.
    pub(super) fn open_lambda(&mut self) {
        self.lambdas += 1;
        self.open();
    }

    /// Closes the body of a lambda, also after a failure.
    pub(super) fn close_lambda(&mut self, results: &Outcome<Vec<Atom>>) -> Body {
        self.lambdas -= 1;
        self.close(results.clone().unwrap_or_default())
    }

    /// Opens a body.
    pub(super) fn open(&mut self) {
        self.bodies.push(OpenBody::default());
    }

    /// Closes the innermost body.
    pub(super) fn close(&mut self, results: Vec<Atom>) -> Body {
        let open = self.bodies.pop().expect("an open body");
        Body { statements: open.statements, results }
    }

    /// Appends the statements of a body that was just closed.
    pub(super) fn splice(&mut self, body: Body) -> Vec<Atom> {
        self.innermost().statements.extend(body.statements);
        body.results
    }

    /// Whether no lambda is open: what is computed here is computed once.
    pub(super) fn is_outside_lambdas(&self) -> bool {
        self.lambdas == 0
    }

    /// A new variable.
    pub(super) fn variable(&mut self, ty: Type) -> Var {
        self.variables.push(Variable {
            ty,
            is_count: false,
            has_counts: false,
            length: None,
            may_fail: false,
            is_there: false,
            is_risky: false,
        });
        Var(self.variables.len() as u32 - 1)
    }

    /// New variables.
    pub(super) fn new_variables(&mut self, types: &[Type]) -> Vec<(Var, Type)> {
        types.iter().map(|ty| (self.variable(*ty), *ty)).collect()
    }

    /// The type of an atom.
    pub(super) fn type_of(&self, atom: Atom) -> Type {
        match atom {
            Atom::Var(var) => self.variables[var.0 as usize].ty,
            Atom::Scalar(scalar) => Type::scalar(scalar.ty()),
        }
    }

    pub(super) fn types_of(&self, atoms: &[Atom]) -> Vec<Type> {
        atoms.iter().map(|atom| self.type_of(*atom)).collect()
    }

    /// Whether an integer is known not to be negative.
    pub(super) fn is_count(&self, atom: Atom) -> bool {
        match atom {
            Atom::Var(var) => self.variables[var.0 as usize].is_count,
            Atom::Scalar(Scalar::I64(value)) => value >= 0,
            Atom::Scalar(_) => false,
        }
    }

    /// Notes that an integer is not negative.
    pub(super) fn set_count(&mut self, atom: Atom) -> Atom {
        if let Atom::Var(var) = atom {
            self.variables[var.0 as usize].is_count = true;
        }
        atom
    }

    /// Notes the length of an array.
    pub(super) fn set_length(&mut self, array: Atom, length: Atom) {
        if let Atom::Var(var) = array {
            self.variables[var.0 as usize].length = Some(Length::Is(length));
        }
    }

    /// Notes that an array, whose length is not known yet, is as long as an older one.
    pub(super) fn set_length_of(&mut self, array: Atom, other: Atom) {
        if let (Atom::Var(var), Atom::Var(other)) = (array, other)
            && var != other
        {
            self.variables[var.0 as usize].length = Some(Length::Of(other));
        }
    }

    /// Notes that the leaves of arrays in a value of a type are of one length.
    pub(super) fn relate(&mut self, ty: &types::Type, leaves: &[Atom]) {
        if let types::Type::Array(_) = ty {
            for leaf in &leaves[1..] {
                self.set_length_of(*leaf, leaves[0]);
            }
        } else if let types::Type::Tuple(_) | types::Type::Record(_) = ty {
            let mut rest = leaves;
            for part in component_types(ty) {
                let (taken, others) = rest.split_at(leaf_count(part));
                rest = others;
                self.relate(part, taken);
            }
        }
    }

    /// The oldest array that is known to be as long.
    pub(super) fn as_long_as(&self, array: Atom) -> Atom {
        let mut array = array;
        while let Atom::Var(var) = array
            && let Some(Length::Of(other)) = self.variables[var.0 as usize].length
        {
            array = Atom::Var(other);
        }
        array
    }

    /// Whether two arrays are known to be of one length.
    pub(super) fn is_in_step(&self, a: Atom, b: Atom) -> bool {
        let known = self.known_length(a);
        self.as_long_as(a) == self.as_long_as(b)
            || (known.is_some() && known == self.known_length(b))
    }

    /// Whether the elements of an array are known not to be negative.
    pub(super) fn has_counts(&self, array: Atom) -> bool {
        match array {
            Atom::Var(var) => self.variables[var.0 as usize].has_counts,
            Atom::Scalar(_) => false,
        }
    }

    /// Notes that the elements of an array are not negative.
    pub(super) fn set_counts(&mut self, array: Atom) {
        if let Atom::Var(var) = array {
            self.variables[var.0 as usize].has_counts = true;
        }
    }

    /// Remembers, as long as the innermost body is open, the length of an array.
    pub(super) fn remember_length(&mut self, array: Atom, length: Atom) {
        if let Atom::Var(var) = array {
            self.innermost().lengths.insert(var, length);
        }
    }

    /// The length of an array, if it needs no statement.
    pub(super) fn known_length(&self, array: Atom) -> Option<Atom> {
        let Atom::Var(var) = self.as_long_as(array) else { return None };
        if let Some(Length::Is(length)) = self.variables[var.0 as usize].length {
            return Some(length);
        }
        self.bodies.iter().find_map(|body| body.lengths.get(&var).copied())
    }

    // Statements.

    /// Appends a statement.
    pub(super) fn emit(&mut self, operation: Operation, types: &[Type]) -> Vec<Atom> {
        let results = self.new_variables(types);
        let may_fail = self.operation_may_fail(&operation);
        let is_there = self.is_surely_there(&operation);
        let is_risky = self.operation_is_risky(&operation);
        for (var, ty) in &results {
            let variable = &mut self.variables[var.0 as usize];
            variable.may_fail = may_fail && ty.rank == 0;
            variable.is_there = is_there;
            variable.is_risky = is_risky;
        }
        let atoms = results.iter().map(|(var, _)| Atom::Var(*var)).collect();
        let span = self.span;
        self.statements += 1;
        self.innermost().statements.push(Statement { results, operation, span });
        atoms
    }

    /// Whether an atom is a scalar whose computation may be an error.
    pub(super) fn may_fail(&self, atom: Atom) -> bool {
        match atom {
            Atom::Var(var) => self.variables[var.0 as usize].may_fail,
            Atom::Scalar(_) => false,
        }
    }

    /// Whether an array is known to be a value.
    pub(super) fn is_there(&self, array: Atom) -> bool {
        match array {
            Atom::Var(var) => self.variables[var.0 as usize].is_there,
            Atom::Scalar(_) => true,
        }
    }

    /// Whether the results of an operation are arrays that are values for sure: it chooses none, and
    /// its operands are there.
    fn is_surely_there(&self, operation: &Operation) -> bool {
        let chooses = matches!(
            operation,
            Operation::Index(..)
                | Operation::Assert { .. }
                | Operation::If { .. }
                | Operation::While { .. }
                | Operation::For { .. }
                | Operation::Call(..)
        );
        let mut there = !chooses;
        operation.for_each_atom(&mut |atom| {
            there &= match self.type_of(*atom).rank {
                0 => !self.may_fail(*atom),
                _ => self.is_there(*atom),
            };
        });
        there
    }

    /// Whether an operation on scalars divides integers or checks something, or depends on one that
    /// does. (Elements at an index are not counted: they are cheaper where they are.)
    fn operation_may_fail(&self, operation: &Operation) -> bool {
        match operation {
            Operation::Scalar(op, atoms) => {
                math::can_fail(*op, self.type_of(atoms[0]).element)
                    || atoms.iter().any(|atom| self.may_fail(*atom))
            }
            Operation::Assert { .. } => true,
            _ => false,
        }
    }

    /// Whether an operation may be an error, be it in what it is computed from: then it had better stand where it is
    /// needed, and only there. (Elements at an index are not counted here either, but those of arrays that may be none.)
    fn operation_is_risky(&self, operation: &Operation) -> bool {
        let mut risky = self.operation_may_fail(operation);
        operation.for_each_atom(&mut |atom| {
            risky |= self.is_risky(*atom) || self.type_of(*atom).rank > 0 && !self.is_there(*atom);
        });
        operation.for_each_body(&mut |body| {
            let bound = body.statements.iter().flat_map(|statement| &statement.results);
            risky |= bound.into_iter().any(|(var, _)| self.is_risky(Atom::Var(*var)));
        });
        risky
    }

    /// Whether what computes an atom may be an error.
    pub(super) fn is_risky(&self, atom: Atom) -> bool {
        match atom {
            Atom::Var(var) => self.variables[var.0 as usize].is_risky,
            Atom::Scalar(_) => false,
        }
    }

    /// Appends a statement with one result.
    pub(super) fn emit_one(&mut self, operation: Operation, ty: Type) -> Atom {
        self.emit(operation, &[ty])[0]
    }

    /// Fails when the program has become too large.
    pub(super) fn check_size(&self) -> Outcome<()> {
        if self.statements <= MAX_STATEMENTS {
            return Ok(());
        }
        self.unsupported(format!(
            "with its functions expanded this program has more than {MAX_STATEMENTS} operations"
        ))
    }

    /// Begins an expression within another; fails where that is too deep for the passes behind.
    pub(super) fn enter_expression(&mut self) -> Outcome<()> {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return self.unsupported(format!(
                "with its functions expanded this program is more than {MAX_DEPTH} levels deep"
            ));
        }
        if self.bodies.len() > MAX_BODIES {
            return self.unsupported(format!(
                "with its functions expanded more than {MAX_BODIES} branches, loops and lambdas stand in each other"
            ));
        }
        Ok(())
    }

    /// Ends what [`Lowering::enter_expression`] began.
    pub(super) fn leave_expression(&mut self) {
        self.depth -= 1;
    }

    /// Adds a function without a definition yet.
    pub(super) fn new_function(&mut self) -> FunctionId {
        let id = FunctionId(self.functions.len() as u32);
        self.functions.push(None);
        id
    }

    /// Defines a function.
    pub(super) fn define(
        &mut self,
        id: FunctionId,
        name: Name,
        params: Vec<(Var, Type)>,
        results: Vec<Type>,
        body: Body,
    ) {
        self.functions[id.0 as usize] = Some(Function { name, params, results, body });
    }
}
