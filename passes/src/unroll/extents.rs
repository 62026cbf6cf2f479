//! Which axes of arrays have few elements, whatever runs.

use std::collections::HashMap;

use weft_ir::Column;
use weft_ir::Scalar;
use weft_ir::leaves::Axis;
use weft_ir::nested::{Atom, Body, Lambda, Operation, Program, ScanForm, Start, Type, Var};

use super::{FEW_ROWS, MOST_ELEMENTS, MOST_LOOPS};

/// The extents of the axes, outermost first; none where it is not known, nothing, or more than few.
type Extents = Vec<Option<usize>>;

/// What is known of the variables of a program.
#[derive(Default)]
pub(super) struct Known {
    by_var: HashMap<Var, (Type, Extents)>,
    /// Scalars that are constants, if all is well.
    numbers: HashMap<Var, usize>,
    /// How many maps are around what is looked at.
    maps: usize,
    /// How many loops and operators.
    loops: usize,
}

impl Known {
    /// Of a program whose parameters are laid out so; of those without a layout nothing is known.
    pub(super) fn of(program: &Program, layouts: &[Vec<Axis>]) -> Known {
        let mut known = Known::default();
        let given = of_layouts(layouts);
        for (number, (var, ty)) in program.params.iter().enumerate() {
            let extents = given.get(number).cloned().unwrap_or_else(|| vec![None; ty.rank]);
            known.note(*var, *ty, extents);
        }
        known.body(&program.body);
        known
    }

    /// How many elements each row of the innermost axis has.
    pub(super) fn row(&self, array: Atom) -> Option<usize> {
        self.extents(array)?.last().copied()?
    }

    /// How many elements an array has.
    pub(super) fn length(&self, array: Atom) -> Option<usize> {
        self.extents(array)?.first().copied()?
    }

    /// How many elements an array has along an axis.
    pub(super) fn extent(&self, array: Atom, axis: usize) -> Option<usize> {
        self.extents(array)?.get(axis).copied()?
    }

    /// How many elements arrays have in lockstep; nothing if that may fail.
    pub(super) fn lockstep(&self, arrays: &[Atom]) -> Option<usize> {
        let (first, rest) = arrays.split_first()?;
        let length = self.length(*first);
        length.filter(|_| rest.iter().all(|array| self.length(*array) == length))
    }

    /// The type of what a variable holds.
    pub(super) fn ty(&self, var: Var) -> Type {
        self.by_var[&var].0
    }

    fn extents(&self, array: Atom) -> Option<&Extents> {
        array.var().and_then(|var| self.by_var.get(&var)).map(|(_, extents)| extents)
    }

    /// A constant that is few, checked perhaps.
    fn number(&self, atom: Atom) -> Option<usize> {
        match atom {
            Atom::Scalar(Scalar::I64(extent)) => usize::try_from(extent).ok().and_then(few),
            Atom::Scalar(_) => None,
            Atom::Var(var) => self.numbers.get(&var).copied(),
        }
    }

    fn of_atom(&self, atom: Atom) -> Extents {
        self.extents(atom).cloned().unwrap_or_default()
    }

    /// The extents of the elements of an array.
    fn of_elements(&self, array: Atom) -> Extents {
        self.of_atom(array).into_iter().skip(1).collect()
    }

    /// Also says what there is to know of a variable that a pass has made.
    pub(super) fn note(&mut self, var: Var, ty: Type, mut extents: Extents) {
        extents.resize(ty.rank, None);
        self.by_var.insert(var, (ty, extents));
    }

    fn note_all(&mut self, vars: &[(Var, Type)], extents: &[Extents]) {
        for ((var, ty), extents) in vars.iter().zip(extents) {
            self.note(*var, *ty, extents.clone());
        }
    }

    fn body(&mut self, body: &Body) -> Vec<Extents> {
        for statement in &body.statements {
            let extents = self.operation(&statement.operation, &statement.results);
            self.note_all(&statement.results, &extents);
        }
        body.results.iter().map(|atom| self.of_atom(*atom)).collect()
    }

    /// The extents of the results of an operation.
    fn operation(&mut self, operation: &Operation, results: &[(Var, Type)]) -> Vec<Extents> {
        let one = |first: Option<usize>, rest: Extents| {
            vec![[first].into_iter().chain(rest).collect::<Extents>()]
        };
        match operation {
            Operation::Assert { values, .. } => {
                for ((result, _), value) in results.iter().zip(values) {
                    if let Some(number) = self.number(*value) {
                        self.numbers.insert(*result, number);
                    }
                }
                values.iter().map(|value| self.of_atom(*value)).collect()
            }
            Operation::If { then, otherwise, .. } => {
                meet_all(self.body(then), self.body(otherwise))
            }
            Operation::While { state, initial, condition, body } => {
                let extents = self.state(state, initial, body);
                self.body(condition);
                extents
            }
            Operation::For { index, state, initial, body, .. } => {
                self.note(*index, crate::code::I64, Vec::new());
                self.state(state, initial, body)
            }
            Operation::Index(array, indices) => {
                vec![self.of_atom(*array).into_iter().skip(indices.len()).collect()]
            }
            Operation::Update { array, indices, value } => {
                let mut extents = self.of_atom(*array);
                for (own, other) in extents.iter_mut().skip(indices.len()).zip(self.of_atom(*value))
                {
                    *own = own.filter(|_| *own == other);
                }
                vec![extents]
            }
            Operation::Literal(atoms) => {
                let rest = atoms.iter().map(|atom| self.of_atom(*atom)).reduce(meet);
                one(few(atoms.len()), rest.unwrap_or_default())
            }
            Operation::Constant(column) => vec![of_column(column)],
            Operation::Iota(length) => one(self.number(*length), Vec::new()),
            Operation::Replicate(length, value) => one(self.number(*length), self.of_atom(*value)),
            Operation::Map(lambda, arrays) => {
                let elements: Vec<Extents> =
                    arrays.iter().map(|it| self.of_elements(*it)).collect();
                self.maps += 1;
                let inner = self.lambda(lambda, &elements);
                self.maps -= 1;
                let length = self.lockstep(arrays);
                inner.into_iter().flat_map(|extents| one(length, extents)).collect()
            }
            Operation::Fold { operator, start, arrays } => self.combined(operator, start, arrays),
            Operation::Scan { form, operator, start, arrays, .. } => {
                let length = match form {
                    ScanForm::Inclusive | ScanForm::Exclusive => self.lockstep(arrays),
                    ScanForm::Full => self.lockstep(arrays).and_then(|length| few(length + 1)),
                };
                let inner = self.combined(operator, start, arrays);
                inner.into_iter().flat_map(|extents| one(length, extents)).collect()
            }
            Operation::Pack { arrays, .. } => {
                arrays.iter().flat_map(|array| one(None, self.of_elements(*array))).collect()
            }
            Operation::Scatter { destinations, values, operator, .. } => {
                let lengths: Vec<_> = destinations.iter().map(|it| self.length(*it)).collect();
                let mut inner: Vec<Extents> =
                    destinations.iter().map(|it| self.of_elements(*it)).collect();
                inner = meet_all(inner, values.iter().map(|it| self.of_elements(*it)).collect());
                if let Some(operator) = operator {
                    inner = self.closed(operator, inner);
                }
                lengths.into_iter().zip(inner).flat_map(|(first, rest)| one(first, rest)).collect()
            }
            Operation::SortOrder { keys, .. } => one(self.lockstep(keys), Vec::new()),
            Operation::Transpose(array) => {
                let mut extents = self.of_atom(*array);
                extents.swap(0, 1);
                vec![extents]
            }
            Operation::Reshape { array, from, extents } => {
                // As of a constant.
                let mut rows = if self.maps > 0 { usize::MAX } else { 1 };
                let new = extents.iter().enumerate().map(|(axis, extent)| {
                    let known = self.number(*extent).filter(|_| axis == 0 || rows >= FEW_ROWS);
                    rows = rows.saturating_mul(self.number(*extent).unwrap_or(usize::MAX));
                    known
                });
                vec![new.chain(self.of_atom(*array).into_iter().skip(*from)).collect()]
            }
            Operation::Flatten(array) => {
                let extents = self.of_atom(*array);
                let product = extents[0].zip(extents[1]).and_then(|(rows, row)| few(rows * row));
                one(product, extents[2..].to_vec())
            }
            Operation::Segments(lengths, array) => {
                let rest = [None].into_iter().chain(self.of_elements(*array)).collect();
                one(self.length(*lengths), rest)
            }
            Operation::Concat(first, second) => {
                let sum = self.length(*first).zip(self.length(*second));
                let rest = meet(self.of_elements(*first), self.of_elements(*second));
                one(sum.and_then(|(first, second)| few(first + second)), rest)
            }
            Operation::Scalar(..)
            | Operation::Random(..)
            | Operation::Length(_)
            | Operation::Extent(..)
            | Operation::Call(..) => results.iter().map(|(_, ty)| vec![None; ty.rank]).collect(),
        }
    }

    fn lambda(&mut self, lambda: &Lambda, params: &[Extents]) -> Vec<Extents> {
        self.note_all(&lambda.params, params);
        self.body(&lambda.body)
    }

    /// The extents of what a fold or a scan makes of elements.
    fn combined(
        &mut self,
        operator: &Lambda,
        start: &Start<Vec<Atom>>,
        arrays: &[Atom],
    ) -> Vec<Extents> {
        let mut extents: Vec<Extents> = arrays.iter().map(|it| self.of_elements(*it)).collect();
        if let Some(start) = start.values() {
            extents = meet_all(extents, start.iter().map(|it| self.of_atom(*it)).collect());
        }
        self.closed(operator, extents)
    }

    /// The extents, from these on, that an operator keeps.
    fn closed(&mut self, operator: &Lambda, extents: Vec<Extents>) -> Vec<Extents> {
        self.steady(extents, |known, extents| known.lambda(operator, &[extents, extents].concat()))
    }

    fn state(&mut self, state: &[(Var, Type)], initial: &[Atom], body: &Body) -> Vec<Extents> {
        let extents = initial.iter().map(|atom| self.of_atom(*atom)).collect();
        self.steady(extents, |known, extents| {
            known.note_all(state, extents);
            known.body(body)
        })
    }

    /// What stays of extents, however often something is done with what has them. They only get fewer.
    fn steady(
        &mut self,
        mut extents: Vec<Extents>,
        mut after: impl FnMut(&mut Known, &[Extents]) -> Vec<Extents>,
    ) -> Vec<Extents> {
        const MOST_ROUNDS: usize = 2;
        // Loops in loops in loops would be gone through often.
        let rounds = if self.loops < MOST_LOOPS { MOST_ROUNDS } else { 0 };
        self.loops += 1;
        let mut is_steady = false;
        for _ in 0..rounds {
            let next = meet_all(extents.clone(), after(self, &extents));
            is_steady = next == extents;
            if is_steady {
                break;
            }
            extents = next;
        }
        if !is_steady {
            extents.iter_mut().for_each(|extents| extents.fill(None));
            after(self, &extents);
        }
        self.loops -= 1;
        extents
    }
}

fn few(extent: usize) -> Option<usize> {
    (1..=MOST_ELEMENTS).contains(&extent).then_some(extent)
}

fn meet(mut one: Extents, other: Extents) -> Extents {
    one.iter_mut().zip(other).for_each(|(one, other)| *one = one.filter(|_| *one == other));
    one
}

fn meet_all(one: Vec<Extents>, other: Vec<Extents>) -> Vec<Extents> {
    one.into_iter().zip(other).map(|(one, other)| meet(one, other)).collect()
}

/// Of a constant the rows count only where they are many: of few rows it does not matter what becomes.
fn of_column(mut column: &Column) -> Extents {
    let mut extents = vec![few(column.len())];
    let mut rows = column.len();
    loop {
        column = match column {
            Column::Dense { inner, extent, .. } => {
                extents.push(few(*extent).filter(|_| rows >= FEW_ROWS));
                rows = rows.saturating_mul(*extent);
                inner
            }
            Column::Ragged { inner, .. } => {
                extents.push(None);
                inner
            }
            _ => return extents,
        };
    }
}

/// The extents that layouts give.
fn of_layouts(layouts: &[Vec<Axis>]) -> Vec<Extents> {
    let mut given: Vec<Extents> = Vec::with_capacity(layouts.len());
    for layout in layouts {
        let mut extents = Extents::with_capacity(layout.len());
        for (position, axis) in layout.iter().enumerate() {
            extents.push(match axis {
                Axis::Dense | Axis::Ragged => None,
                Axis::Shared => given.last().and_then(|before| before[position]),
                Axis::Like { leaf, axis } => match given.get(*leaf) {
                    Some(earlier) => earlier[*axis],
                    None => extents[*axis],
                },
                Axis::Known(extent) => usize::try_from(*extent).ok().and_then(few),
            });
        }
        given.push(extents);
    }
    given
}
