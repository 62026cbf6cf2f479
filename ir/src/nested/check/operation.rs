//! The typing rules of the operations.

use super::{Checker, expect_types, list};
use crate::nested::{Atom, Body, Lambda, Operation, RandomKind, ScanForm, Start, Type, Var};
use crate::{Column, ScalarType, math};

const BOOL: Type = Type { rank: 0, element: ScalarType::Bool };
const I64: Type = Type { rank: 0, element: ScalarType::I64 };
const I64S: Type = Type { rank: 1, element: ScalarType::I64 };

impl Checker<'_> {
    /// The types of an operation's results.
    pub(super) fn operation(&mut self, operation: &Operation) -> Result<Vec<Type>, String> {
        match operation {
            Operation::Scalar(op, atoms) => {
                let types = self.atoms(atoms)?;
                let scalars: Vec<ScalarType> = types.iter().map(|ty| ty.element).collect();
                let result = math::result_type(*op, &scalars)
                    .filter(|_| types.iter().all(|ty| ty.rank == 0))
                    .ok_or_else(|| format!("{op} does not take {}", list(&types)))?;
                Ok(vec![Type::scalar(result)])
            }
            Operation::Random(kind, atoms) => {
                let (count, result) = match kind {
                    RandomKind::UniformF64 => (2, ScalarType::F64),
                    RandomKind::UniformF32 => (2, ScalarType::F32),
                    RandomKind::Int => (4, ScalarType::I64),
                };
                expect_types("random", &self.atoms(atoms)?, &vec![I64; count])?;
                Ok(vec![Type::scalar(result)])
            }
            Operation::Assert { condition, kind: _, values } => {
                self.expect(condition, BOOL)?;
                self.some(values)
            }
            Operation::If { condition, then, otherwise } => {
                self.expect(condition, BOOL)?;
                let results = self.body(then)?;
                expect_types("the other branch", &self.body(otherwise)?, &results)?;
                Ok(results)
            }
            Operation::While { state, initial, condition, body } => {
                self.state(state, initial, None, &[(condition, vec![BOOL]), (body, types(state))])
            }
            Operation::For { index, count, state, initial, body } => {
                self.expect(count, I64)?;
                self.state(state, initial, Some(*index), &[(body, types(state))])
            }
            Operation::Call(function, atoms) => {
                let found = self.atoms(atoms)?;
                let function = self
                    .functions
                    .get(function.0 as usize)
                    .ok_or_else(|| format!("there is no function {function}"))?;
                expect_types("the call", &found, &types(&function.params))?;
                Ok(function.results.clone())
            }
            Operation::Length(array) => self.array(array, 1).map(|_| vec![I64]),
            Operation::Index(array, indices) => self.at(array, indices).map(|ty| vec![ty]),
            Operation::Update { array, indices, value } => {
                let element = self.at(array, indices)?;
                self.expect(value, element)?;
                Ok(vec![self.atom(array)?])
            }
            Operation::Literal(atoms) => {
                let types = self.some(atoms)?;
                expect_types("the literal", &types, &vec![types[0]; types.len()])?;
                Ok(vec![types[0].array()])
            }
            Operation::Constant(column) => constant_type(column).map(|ty| vec![ty]),
            Operation::Iota(length) => self.expect(length, I64).map(|()| vec![I64S]),
            Operation::Replicate(length, value) => {
                self.expect(length, I64)?;
                Ok(vec![self.atom(value)?.array()])
            }
            Operation::Map(lambda, arrays) => {
                let elements = self.elements(arrays)?;
                let results = self.lambda(lambda, &elements)?;
                Ok(results.into_iter().map(Type::array).collect())
            }
            Operation::Fold { operator, start, arrays } => {
                let elements = self.elements(arrays)?;
                self.operator(operator, &elements)?;
                self.start(start, &elements)?;
                Ok(elements)
            }
            Operation::Scan { form, from_right: _, operator, start, arrays } => {
                let elements = self.elements(arrays)?;
                self.operator(operator, &elements)?;
                self.start(start, &elements)?;
                match (form, start) {
                    (_, Start::Combined(_)) | (ScanForm::Inclusive, Start::None) => {}
                    (_, Start::None) => return Err(format!("a scan in {form} form has a start")),
                    (_, Start::IfEmpty(_)) => return Err("`if_empty` belongs to folds".to_owned()),
                }
                self.atoms(arrays)
            }
            Operation::Pack { flags, arrays } => {
                self.expect(flags, BOOL.array())?;
                self.elements(arrays)?;
                self.atoms(arrays)
            }
            Operation::Scatter { destinations, indices, values, operator, drops: _ } => {
                let elements = self.elements(destinations)?;
                self.expect(indices, I64S)?;
                expect_types("the values", &self.elements(values)?, &elements)?;
                if let Some(operator) = operator {
                    self.operator(operator, &elements)?;
                }
                self.atoms(destinations)
            }
            Operation::SortOrder { keys, descending: _ } => {
                match self.elements(keys)?.iter().find(|ty| ty.rank > 0) {
                    None => Ok(vec![I64S]),
                    Some(ty) => Err(format!("{ty} is no type of keys")),
                }
            }
            Operation::Transpose(array) => Ok(vec![self.array(array, 2)?]),
            Operation::Reshape { array, from, extents } => {
                let ty = self.array(array, *from)?;
                let extent_types = self.some(extents)?;
                expect_types("the extents", &extent_types, &vec![I64; extents.len()])?;
                if *from == 0 {
                    return Err("reshape replaces at least one axis".to_owned());
                }
                Ok(vec![Type { rank: ty.rank - from + extents.len(), ..ty }])
            }
            Operation::Extent(array, axis) => match axis {
                0 => Err("the extent of axis 0 is the length".to_owned()),
                _ => self.array(array, axis + 1).map(|_| vec![I64]),
            },
            Operation::Flatten(array) => Ok(vec![self.array(array, 2)?.element()]),
            Operation::Segments(lengths, array) => {
                self.expect(lengths, I64S)?;
                Ok(vec![self.array(array, 1)?.array()])
            }
            Operation::Concat(first, second) => {
                let ty = self.array(first, 1)?;
                self.expect(second, ty)?;
                Ok(vec![ty])
            }
        }
    }

    fn atoms(&self, atoms: &[Atom]) -> Result<Vec<Type>, String> {
        atoms.iter().map(|atom| self.atom(atom)).collect()
    }

    /// The types of at least one atom.
    fn some(&self, atoms: &[Atom]) -> Result<Vec<Type>, String> {
        if atoms.is_empty() {
            return Err("there is no operand".to_owned());
        }
        self.atoms(atoms)
    }

    fn expect(&self, atom: &Atom, ty: Type) -> Result<(), String> {
        let found = self.atom(atom)?;
        if found == ty { Ok(()) } else { Err(format!("{atom} is {found}, not {ty}")) }
    }

    /// The type of an array of at least that rank.
    fn array(&self, atom: &Atom, rank: usize) -> Result<Type, String> {
        let ty = self.atom(atom)?;
        if ty.rank >= rank { Ok(ty) } else { Err(format!("{atom} is {ty}, not of rank {rank}")) }
    }

    /// The element types of at least one array.
    fn elements(&self, arrays: &[Atom]) -> Result<Vec<Type>, String> {
        self.some(arrays)?;
        arrays.iter().map(|array| Ok(self.array(array, 1)?.element())).collect()
    }

    /// What stands at those indices.
    fn at(&self, array: &Atom, indices: &[Atom]) -> Result<Type, String> {
        let ty = self.array(array, indices.len())?;
        expect_types("the indices", &self.some(indices)?, &vec![I64; indices.len()])?;
        Ok(Type { rank: ty.rank - indices.len(), ..ty })
    }

    /// A binary operator on values of these types.
    fn operator(&mut self, operator: &Lambda, elements: &[Type]) -> Result<(), String> {
        let operands = [elements, elements].concat();
        let results = self.lambda(operator, &operands)?;
        expect_types("the operator", &results, elements)
    }

    fn start(&self, start: &Start<Vec<Atom>>, elements: &[Type]) -> Result<(), String> {
        match start {
            Start::None => Ok(()),
            Start::Combined(atoms) | Start::IfEmpty(atoms) => {
                expect_types("the start", &self.atoms(atoms)?, elements)
            }
        }
    }

    /// A loop with that state, and its bodies with the types that they yield.
    fn state(
        &mut self,
        state: &[(Var, Type)],
        initial: &[Atom],
        index: Option<Var>,
        bodies: &[(&Body, Vec<Type>)],
    ) -> Result<Vec<Type>, String> {
        expect_types("the first state", &self.atoms(initial)?, &types(state))?;
        let mut scope = Vec::new();
        self.bind_all(state, &mut scope)?;
        if let Some(index) = index {
            self.bind_all(&[(index, I64)], &mut scope)?;
        }
        for (body, results) in bodies {
            expect_types("the loop", &self.body(body)?, results)?;
        }
        self.leave(scope);
        Ok(types(state))
    }
}

fn types(vars: &[(Var, Type)]) -> Vec<Type> {
    vars.iter().map(|(_, ty)| *ty).collect()
}

/// The type of an array with these elements.
fn constant_type(column: &Column) -> Result<Type, String> {
    match column {
        Column::Tuple { .. } => Err("a constant has no tuples".to_owned()),
        Column::Dense { inner, .. } | Column::Ragged { inner, .. } => {
            constant_type(inner).map(Type::array)
        }
        scalars => {
            let element = scalars.scalar_type().expect("all other columns are of scalars");
            Ok(Type::scalar(element).array())
        }
    }
}
