//! The operations that lowering appends, each with what is known of its results.

use weft_ir::nested::{Atom, Lambda, Operation, Start, Type};
use weft_ir::{FaultKind, Scalar, ScalarOp, ScalarType, math};

use super::builder::{BodyOf, I64, Lowering, OperatorOf, Outcome};

impl<'p> Lowering<'p> {
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
        for (result, value) in results.iter().zip(&values) {
            // Their lengths too are only there if the condition holds.
            if self.type_of(*value).rank > 0 && self.is_in_step(values[0], *value) {
                self.set_length_of(*result, results[0]);
            }
            if self.is_count(*value) {
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
        let array = self.as_long_as(array);
        let length = self.emit_one(Operation::Length(array), I64);
        self.set_count(length);
        self.remember_length(array, length);
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
        if self.is_in_step(a, b) {
            return values;
        }
        let (left, right) = (self.length(a), self.length(b));
        let equal = self.compute(ScalarOp::Eq, &[left, right]);
        self.assert(equal, FaultKind::LengthMismatch, values)
    }

    /// 0, 1, … of a length that is not negative.
    pub(super) fn iota(&mut self, length: Atom) -> Atom {
        let array = self.emit_one(Operation::Iota(length), I64.array());
        self.set_length(array, length);
        self.set_counts(array);
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
        // Also where both are the same: an error of the condition is one of the value.
        self.compute(ScalarOp::Select, &[condition, a, b])
    }

    /// The lambda applied to the elements of arrays in lockstep.
    pub(super) fn map(&mut self, arrays: &[Atom], body: BodyOf<'_, 'p>) -> Outcome<Vec<Atom>> {
        self.check_size()?;
        let has_counts: Vec<bool> = arrays.iter().map(|array| self.has_counts(*array)).collect();
        let types: Vec<Type> = arrays.iter().map(|array| self.type_of(*array).element()).collect();
        let params = self.new_variables(&types);
        let atoms: Vec<Atom> = params.iter().map(|(var, _)| Atom::Var(*var)).collect();
        for (atom, has_counts) in atoms.iter().zip(has_counts) {
            if has_counts {
                self.set_count(*atom);
            }
        }
        self.open_lambda();
        let results = body(self, &atoms);
        let body = self.close_lambda(&results);
        let results = results?;
        let in_step = arrays.iter().all(|array| self.is_in_step(*array, arrays[0]));
        if body.statements.is_empty() && in_step {
            // What yields its parameters as they are is no work.
            let positions = results.iter().map(|result| atoms.iter().position(|a| a == result));
            if let Some(same) = positions.map(|at| at.map(|at| arrays[at])).collect() {
                return Ok(same);
            }
        }
        let types: Vec<Type> = self.types_of(&results).into_iter().map(Type::array).collect();
        let mapped = self.emit(Operation::Map(Lambda { params, body }, arrays.to_vec()), &types);
        // The array whose length is known, if there is one. If the lengths may differ, that of the
        // results is an error then.
        let known = arrays.iter().find(|array| self.known_length(**array).is_some());
        let like = if in_step { *known.unwrap_or(&arrays[0]) } else { mapped[0] };
        for array in &mapped {
            self.set_length_of(*array, like);
        }
        Ok(mapped)
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
    pub(super) fn operator(&mut self, types: &[Type], body: OperatorOf<'_, 'p>) -> Outcome<Lambda> {
        let params = self.new_variables(&[types, types].concat());
        let atoms: Vec<Atom> = params.iter().map(|(var, _)| Atom::Var(*var)).collect();
        let (left, right) = atoms.split_at(types.len());
        self.open_lambda();
        let results = body(self, left, right);
        let body = self.close_lambda(&results);
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
        for array in &packed[1..] {
            self.set_length_of(*array, packed[0]);
        }
        packed
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
