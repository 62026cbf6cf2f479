//! The bodies under construction, and everything that appends to them.

use std::collections::BTreeMap;

use weft_ir::nested::{
    Atom, Body, Function, FunctionId, Lambda, Operation, Program, Start, Statement, Type, Var,
};
use weft_ir::{FaultKind, Name, Scalar, ScalarOp, ScalarType, Span, math};

use super::Unsupported;
use super::recursion::Recursion;
use super::value::{Value, leaf_types};
use crate::typed::{GlobalId, InstanceId, Program as TypedProgram};
use crate::types;

/// What a step of lowering yields.
pub(super) type Outcome<T> = Result<T, Unsupported>;

/// How many statements a program may have: towers of functions double with every call.
const MAX_STATEMENTS: usize = 1_000_000;

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
    /// How many of the open bodies are lambdas'.
    lambdas: usize,
    /// The earlier bindings that were asked for, in order.
    inputs: Vec<(GlobalId, types::Type, Vec<Atom>)>,
    /// Where a recursive function finds the earlier bindings: among its parameters.
    pub(super) globals: Option<BTreeMap<GlobalId, Vec<Atom>>>,
    /// Which instances are recursive.
    pub(super) recursion: Recursion,
    /// The recursive functions that were asked for.
    pub(super) function_ids: BTreeMap<InstanceId, FunctionId>,
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
    length: Option<Atom>,
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
            lambdas: 0,
            inputs: Vec::new(),
            globals: None,
            recursion: Recursion::of(program),
            function_ids: BTreeMap::new(),
            functions: Vec::new(),
        }
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
            None => self.unsupported(
                "a function that is chosen or changed while the program runs needs the interpreter",
            ),
        }
    }

    /// The leaf types of a value that is stored.
    pub(super) fn leaf_types(&self, ty: &types::Type) -> Outcome<Vec<Type>> {
        match leaf_types(ty) {
            Some(leaves) => Ok(leaves),
            None => self.unsupported(
                "a function that is chosen or changed while the program runs needs the interpreter",
            ),
        }
    }

    /// The leaves of the value of an earlier binding.
    pub(super) fn read_global(&mut self, global: GlobalId, ty: &types::Type) -> Outcome<Vec<Atom>> {
        let known = match &self.globals {
            Some(globals) => globals.get(&global).cloned(),
            None => {
                let inputs = self.inputs.iter().find(|(other, _, _)| *other == global);
                inputs.map(|(_, _, atoms)| atoms.clone())
            }
        };
        if let Some(atoms) = known {
            return Ok(atoms);
        }
        let types = self.leaf_types(ty)?;
        let atoms: Vec<Atom> = types.into_iter().map(|ty| Atom::Var(self.variable(ty))).collect();
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

    fn innermost(&mut self) -> &mut OpenBody<'p> {
        self.bodies.last_mut().expect("the program's body is open")
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
        self.variables.push(Variable { ty, is_count: false, has_counts: false, length: None });
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

    fn set_length(&mut self, array: Atom, length: Atom) {
        if let Atom::Var(var) = array {
            self.variables[var.0 as usize].length = Some(length);
        }
    }

    /// The length of an array, if it needs no statement.
    pub(super) fn known_length(&self, array: Atom) -> Option<Atom> {
        let Atom::Var(var) = array else { return None };
        let of_definition = self.variables[var.0 as usize].length;
        of_definition
            .or_else(|| self.bodies.iter().find_map(|body| body.lengths.get(&var).copied()))
    }

    // Statements.

    /// Appends a statement.
    pub(super) fn emit(&mut self, operation: Operation, types: &[Type]) -> Vec<Atom> {
        let results = self.new_variables(types);
        let atoms = results.iter().map(|(var, _)| Atom::Var(*var)).collect();
        let span = self.span;
        self.statements += 1;
        self.innermost().statements.push(Statement { results, operation, span });
        atoms
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
            "with its functions expanded this program has more than {MAX_STATEMENTS} operations; \
             it runs on the interpreter"
        ))
    }

    /// A scalar operator of the program, as it stands.
    pub(super) fn scalar(&mut self, op: ScalarOp, args: &[Atom]) -> Atom {
        let operands: Vec<ScalarType> =
            args.iter().map(|atom| self.type_of(*atom).element).collect();
        let result = math::result_type(op, &operands)
            .unwrap_or_else(|| panic!("lower: {op:?} of {operands:?}"));
        self.emit_one(Operation::Scalar(op, args.to_vec()), Type::scalar(result))
    }

    /// A scalar operator that lowering adds: computed now if all operands are known.
    pub(super) fn compute(&mut self, op: ScalarOp, args: &[Atom]) -> Atom {
        let known: Option<Vec<Scalar>> = args
            .iter()
            .map(|atom| match atom {
                Atom::Scalar(scalar) => Some(*scalar),
                Atom::Var(_) => None,
            })
            .collect();
        if let Some(known) = known
            && let Ok(result) = math::eval(op, &known)
        {
            return Atom::Scalar(result);
        }
        if let Some(simple) = simplify(op, args) {
            return simple;
        }
        let result = self.scalar(op, args);
        let [a, b] = [args[0], *args.get(1).unwrap_or(&args[0])];
        let counts = (self.is_count(a), self.is_count(b));
        let is_count = match (op, counts) {
            (ScalarOp::Add | ScalarOp::Min | ScalarOp::FloorDiv | ScalarOp::Mod, (true, true)) => {
                true
            }
            (ScalarOp::Max, (true, _) | (_, true)) => true,
            (ScalarOp::Select, (_, true)) => self.is_count(args[2]),
            _ => false,
        };
        if is_count { self.set_count(result) } else { result }
    }

    /// The values, if a condition holds.
    pub(super) fn assert(
        &mut self,
        condition: Atom,
        kind: FaultKind,
        values: Vec<Atom>,
    ) -> Vec<Atom> {
        if condition == bool_atom(true) {
            return values;
        }
        let types = self.types_of(&values);
        let results =
            self.emit(Operation::Assert { condition, kind, values: values.clone() }, &types);
        for (result, value) in results.iter().zip(values) {
            if let Some(length) = self.known_length(value) {
                self.set_length(*result, length);
            }
            if self.is_count(value) {
                self.set_count(*result);
            }
        }
        results
    }

    /// One value, if a condition holds.
    pub(super) fn assert_one(&mut self, condition: Atom, kind: FaultKind, value: Atom) -> Atom {
        self.assert(condition, kind, vec![value])[0]
    }

    /// An integer as a length: an error if it is negative.
    pub(super) fn count(&mut self, length: Atom) -> Atom {
        if self.is_count(length) {
            return length;
        }
        let holds = self.compute(ScalarOp::Ge, &[length, int(0)]);
        let length = self.assert_one(holds, FaultKind::BadLength, length);
        self.set_count(length)
    }

    /// The length of an array.
    pub(super) fn length(&mut self, array: Atom) -> Atom {
        if let Some(length) = self.known_length(array) {
            return length;
        }
        let length = self.emit_one(Operation::Length(array), I64);
        self.set_count(length);
        if let Atom::Var(var) = array {
            self.innermost().lengths.insert(var, length);
        }
        length
    }

    /// The extent of a regular axis.
    pub(super) fn extent(&mut self, array: Atom, axis: usize) -> Atom {
        if axis == 0 {
            return self.length(array);
        }
        let extent = self.emit_one(Operation::Extent(array, axis), I64);
        self.set_count(extent)
    }

    /// The values, if two arrays have the same length.
    pub(super) fn lockstep(&mut self, a: Atom, b: Atom, values: Vec<Atom>) -> Vec<Atom> {
        let (left, right) = (self.length(a), self.length(b));
        if left == right {
            return values;
        }
        let equal = self.compute(ScalarOp::Eq, &[left, right]);
        self.assert(equal, FaultKind::LengthMismatch, values)
    }

    /// 0, 1, … of a length that is not negative.
    pub(super) fn iota(&mut self, length: Atom) -> Atom {
        let array = self.emit_one(Operation::Iota(length), I64.array());
        self.set_length(array, length);
        if let Atom::Var(var) = array {
            self.variables[var.0 as usize].has_counts = true;
        }
        array
    }

    /// `length` times the same scalar or array.
    pub(super) fn replicate(&mut self, length: Atom, value: Atom) -> Atom {
        let ty = self.type_of(value).array();
        let array = self.emit_one(Operation::Replicate(length, value), ty);
        self.set_length(array, length);
        array
    }

    /// An element or a subarray.
    pub(super) fn index(&mut self, array: Atom, indices: &[Atom]) -> Atom {
        if indices.is_empty() {
            return array;
        }
        let ty = self.type_of(array);
        let ty = Type { rank: ty.rank - indices.len(), ..ty };
        self.emit_one(Operation::Index(array, indices.to_vec()), ty)
    }

    /// The elements or subarrays at one index of all leaves of an array.
    pub(super) fn index_all(&mut self, arrays: &[Atom], indices: &[Atom]) -> Vec<Atom> {
        arrays.iter().map(|array| self.index(*array, indices)).collect()
    }

    /// One of two scalars.
    pub(super) fn select(&mut self, condition: Atom, a: Atom, b: Atom) -> Atom {
        if a == b { a } else { self.compute(ScalarOp::Select, &[condition, a, b]) }
    }

    /// The lambda applied to the elements of arrays in lockstep.
    pub(super) fn map(
        &mut self,
        arrays: &[Atom],
        body: &mut dyn FnMut(&mut Self, &[Atom]) -> Outcome<Vec<Atom>>,
    ) -> Outcome<Vec<Atom>> {
        self.check_size()?;
        let lengths: Vec<Option<Atom>> =
            arrays.iter().map(|array| self.known_length(*array)).collect();
        let has_counts: Vec<bool> = arrays.iter().map(|array| self.has_counts(*array)).collect();
        let types: Vec<Type> = arrays.iter().map(|array| self.type_of(*array).element()).collect();
        let params = self.new_variables(&types);
        let atoms: Vec<Atom> = params.iter().map(|(var, _)| Atom::Var(*var)).collect();
        for (atom, has_counts) in atoms.iter().zip(has_counts) {
            if has_counts {
                self.set_count(*atom);
            }
        }
        self.open();
        self.lambdas += 1;
        let results = body(self, &atoms);
        self.lambdas -= 1;
        let results = match results {
            Ok(results) => results,
            Err(error) => {
                self.close(Vec::new());
                return Err(error);
            }
        };
        let body = self.close(results.clone());
        let in_step = lengths[0].is_some() && lengths.iter().all(|length| *length == lengths[0]);
        if body.statements.is_empty() && (arrays.len() == 1 || in_step) {
            // What yields its parameters as they are is no work.
            let positions = results.iter().map(|result| atoms.iter().position(|a| a == result));
            if let Some(same) = positions.map(|at| at.map(|at| arrays[at])).collect() {
                return Ok(same);
            }
        }
        let types: Vec<Type> = self.types_of(&results).into_iter().map(Type::array).collect();
        let length = lengths.into_iter().flatten().next();
        let mapped = self.emit(Operation::Map(Lambda { params, body }, arrays.to_vec()), &types);
        let length = length.unwrap_or_else(|| self.length(arrays[0]));
        for array in &mapped {
            self.set_length(*array, length);
        }
        Ok(mapped)
    }

    fn has_counts(&self, array: Atom) -> bool {
        match array {
            Atom::Var(var) => self.variables[var.0 as usize].has_counts,
            Atom::Scalar(_) => false,
        }
    }

    /// A map over 0, 1, … of a length that is not negative.
    pub(super) fn tabulate(
        &mut self,
        length: Atom,
        body: &mut dyn FnMut(&mut Self, Atom) -> Outcome<Vec<Atom>>,
    ) -> Outcome<Vec<Atom>> {
        let indices = self.iota(length);
        self.map(&[indices], &mut |lowering, at| body(lowering, at[0]))
    }

    /// An operator on tuples of scalars or arrays of these types.
    pub(super) fn operator(
        &mut self,
        types: &[Type],
        body: &mut dyn FnMut(&mut Self, &[Atom], &[Atom]) -> Outcome<Vec<Atom>>,
    ) -> Outcome<Lambda> {
        let params = self.new_variables(&[types, types].concat());
        let atoms: Vec<Atom> = params.iter().map(|(var, _)| Atom::Var(*var)).collect();
        let (left, right) = atoms.split_at(types.len());
        self.open();
        self.lambdas += 1;
        let results = body(self, left, right);
        self.lambdas -= 1;
        let body = self.close(results.clone().unwrap_or_default());
        results?;
        Ok(Lambda { params, body })
    }

    /// A fold by a scalar operator.
    pub(super) fn fold_scalar(
        &mut self,
        op: ScalarOp,
        start: Start<Vec<Atom>>,
        array: Atom,
    ) -> Outcome<Atom> {
        let ty = self.type_of(array).element();
        let operator = self.operator(&[ty], &mut |lowering, left, right| {
            Ok(vec![lowering.scalar(op, &[left[0], right[0]])])
        })?;
        Ok(self.emit_one(Operation::Fold { operator, start, arrays: vec![array] }, ty))
    }

    /// The elements whose flags hold, of arrays of one length.
    pub(super) fn pack(&mut self, flags: Atom, arrays: &[Atom]) -> Vec<Atom> {
        let types = self.types_of(arrays);
        let packed = self.emit(Operation::Pack { flags, arrays: arrays.to_vec() }, &types);
        let length = self.length(packed[0]);
        for array in &packed {
            self.set_length(*array, length);
        }
        packed
    }

    /// Adds a function without a definition yet.
    pub(super) fn new_function(&mut self, instance: InstanceId) -> FunctionId {
        let id = FunctionId(self.functions.len() as u32);
        self.functions.push(None);
        self.function_ids.insert(instance, id);
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

/// The simple cases of index arithmetic.
fn simplify(op: ScalarOp, args: &[Atom]) -> Option<Atom> {
    let is = |atom: Atom, value: i64| atom == int(value);
    match (op, args) {
        (ScalarOp::Add, [a, b]) if is(*b, 0) => Some(*a),
        (ScalarOp::Add, [a, b]) if is(*a, 0) => Some(*b),
        (ScalarOp::Sub, [a, b]) if is(*b, 0) => Some(*a),
        (ScalarOp::Sub, [a, b]) if a == b && matches!(a, Atom::Var(_)) => None,
        (ScalarOp::Mul | ScalarOp::FloorDiv, [a, b]) if is(*b, 1) => Some(*a),
        (ScalarOp::Mul, [a, b]) if is(*a, 1) => Some(*b),
        (ScalarOp::And, [a, b]) if *b == bool_atom(true) => Some(*a),
        (ScalarOp::And, [a, b]) if *a == bool_atom(true) => Some(*b),
        (ScalarOp::Or, [a, b]) if *b == bool_atom(false) => Some(*a),
        (ScalarOp::Or, [a, b]) if *a == bool_atom(false) => Some(*b),
        (ScalarOp::Select, [c, a, _]) if *c == bool_atom(true) => Some(*a),
        (ScalarOp::Select, [c, _, b]) if *c == bool_atom(false) => Some(*b),
        _ => None,
    }
}

/// An integer.
pub(super) fn int(value: i64) -> Atom {
    Atom::Scalar(Scalar::I64(value))
}

/// A bool.
pub(super) fn bool_atom(value: bool) -> Atom {
    Atom::Scalar(Scalar::Bool(value))
}

/// A small number of a numeric type.
pub(super) fn number(value: u8, ty: ScalarType) -> Atom {
    match math::eval(ScalarOp::Cast(ty), &[Scalar::U8(value)]) {
        Ok(number) => Atom::Scalar(number),
        Err(kind) => panic!("lower: a cast traps: {kind}"),
    }
}
