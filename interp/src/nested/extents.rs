//! The extents of rows that there are none of: [`Note [Extents of nothing]`](crate::extents) for lambdas.

mod known;

use std::collections::HashMap;

use weft_ir::nested::{Atom, Body, Lambda, Operation, ScanForm, Start, Statement, Type, Var};
use weft_ir::{Column, Exhausted, Scalar, Stop, Value};

use super::{Evaluator, integer, of_column};
use known::{Known, Whole, array, elements, has_rows_of_nothing, join_all, settled};

/// How many statements are looked at for one result.
const MOST_STATEMENTS: u32 = 50_000;
/// How many thousand steps may be spent on what does not depend on the elements.
const MOST_LOOKS: u32 = 200;
/// How many rounds of a loop are gone through one by one.
const MOST_ROUNDS: i64 = 1000;

impl Evaluator<'_> {
    /// The results of a map with the extents that the lambda gives where there are no rows.
    pub(super) fn with_extents_of_map(
        &mut self,
        lambda: &Lambda,
        arrays: &[Column],
        types: &[Type],
        results: Vec<Value>,
    ) -> Result<Vec<Value>, Stop> {
        self.with_extents(types, results, |search| {
            let items = arrays.iter().map(|array| Whole::Part(elements(array))).collect();
            search.apply(lambda, items)
        })
    }

    /// The results of a scan with the extents that the operator gives where there are no rows.
    pub(super) fn with_extents_of_scan(
        &mut self,
        operator: &Lambda,
        start: &Start<Vec<Atom>>,
        arrays: &[Column],
        types: &[Type],
        results: Vec<Value>,
    ) -> Result<Vec<Value>, Stop> {
        self.with_extents(types, results, |search| {
            let items: Vec<Whole> =
                arrays.iter().map(|array| Whole::Part(elements(array))).collect();
            let start = start.values().map_or_else(|| items.clone(), |start| search.all(start));
            Ok(search.combined(operator, start, items)?.0)
        })
    }

    /// Arrays with the extents that are known of their elements where there are no rows. Nothing that the search binds
    /// is bound afterwards.
    fn with_extents(
        &mut self,
        types: &[Type],
        results: Vec<Value>,
        known: impl FnOnce(&mut Search<'_, '_>) -> Result<Vec<Whole>, Stop>,
    ) -> Result<Vec<Value>, Stop> {
        let lacks = |result: &Value, ty: &Type| match result {
            Value::Array(array) => has_rows_of_nothing(&array.elements, ty.rank),
            Value::Scalar(_) | Value::Tuple(_) => false,
        };
        if !results.iter().zip(types).any(|(result, ty)| lacks(result, ty)) {
            return Ok(results);
        }
        let values = self.values.clone();
        let known = known(&mut Search {
            evaluator: self,
            parts: HashMap::new(),
            rows: HashMap::new(),
            statements: MOST_STATEMENTS,
            looks: MOST_LOOKS,
        });
        self.values = values;
        let settled =
            results.iter().zip(types).zip(known?).map(|((result, ty), known)| match result {
                Value::Array(array) if lacks(result, ty) => {
                    of_column(settled(&array.elements, ty.element(), &known.shape()))
                }
                result => result.clone(),
            });
        Ok(settled.collect())
    }
}

/// A search for what is known of results.
struct Search<'e, 'a> {
    evaluator: &'e mut Evaluator<'a>,
    /// The variables of which only something is known; the others have values.
    parts: HashMap<Var, Known>,
    /// What is known otherwise of arrays of arrays that have values.
    rows: HashMap<Var, Known>,
    /// How many statements may still be looked at, …
    statements: u32,
    /// … and how often the memory may still be asked whether to go on.
    looks: u32,
}

impl Search<'_, '_> {
    fn body(&mut self, body: &Body) -> Result<Vec<Whole>, Stop> {
        for statement in &body.statements {
            self.evaluator.memory.step()?;
            let results = match self.statements.checked_sub(1) {
                Some(statements) => {
                    self.statements = statements;
                    self.statement(statement)?
                }
                None => vec![Whole::NOTHING; statement.results.len()],
            };
            for (&(var, _), result) in statement.results.iter().zip(results) {
                self.bind(var, result);
            }
        }
        Ok(body.results.iter().map(|atom| self.atom(*atom)).collect())
    }

    fn bind(&mut self, var: Var, whole: Whole) {
        self.parts.remove(&var);
        self.rows.remove(&var);
        match whole {
            Whole::Value(value) => self.evaluator.bind(var, value),
            Whole::Rows(value, known) => {
                self.evaluator.bind(var, value);
                self.rows.insert(var, known);
            }
            Whole::Part(part) => {
                self.parts.insert(var, part);
            }
        }
    }

    fn bind_all(&mut self, vars: &[(Var, Type)], wholes: Vec<Whole>) {
        for (&(var, _), whole) in vars.iter().zip(wholes) {
            self.bind(var, whole);
        }
    }

    fn atom(&self, atom: Atom) -> Whole {
        if let Atom::Var(var) = atom {
            if let Some(part) = self.parts.get(&var) {
                return Whole::Part(part.clone());
            }
            if let Some(known) = self.rows.get(&var) {
                return Whole::Rows(self.evaluator.value(atom), known.clone());
            }
        }
        Whole::Value(self.evaluator.value(atom))
    }

    fn all(&self, atoms: &[Atom]) -> Vec<Whole> {
        atoms.iter().map(|atom| self.atom(*atom)).collect()
    }

    /// The length of an array and what is known of its elements.
    fn elements(&self, atom: Atom) -> (Option<usize>, Known) {
        self.atom(atom).shape().elements()
    }

    fn length(&self, atom: Atom) -> Option<usize> {
        self.integer(atom).and_then(|length| usize::try_from(length).ok())
    }

    fn integer(&self, atom: Atom) -> Option<i64> {
        match self.atom(atom) {
            Whole::Value(Value::Scalar(Scalar::I64(value))) => Some(value),
            _ => None,
        }
    }

    fn bool(&self, atom: Atom) -> Option<bool> {
        match self.atom(atom) {
            Whole::Value(Value::Scalar(Scalar::Bool(value))) => Some(value),
            _ => None,
        }
    }

    fn apply(&mut self, lambda: &Lambda, items: Vec<Whole>) -> Result<Vec<Whole>, Stop> {
        self.bind_all(&lambda.params, items);
        self.body(&lambda.body)
    }

    fn statement(&mut self, statement: &Statement) -> Result<Vec<Whole>, Stop> {
        let Some(computed) = self.computed(statement)? else { return self.look(statement) };
        // What the rows of an element have in common is looked for in them, as if somebody had named it.
        let is_element = matches!(statement.operation, Operation::Index(..));
        let has_rows = |(whole, (_, ty)): (&Whole, &(Var, Type))| {
            ty.rank > 1 && !is_element && matches!(whole, Whole::Value(_))
        };
        if !computed.iter().zip(&statement.results).any(has_rows) {
            return Ok(computed);
        }
        let looked = self.look(statement)?;
        let results = computed.into_iter().zip(looked).zip(&statement.results);
        Ok(results
            .map(|((whole, looked), (_, ty))| match whole {
                Whole::Value(value) if ty.rank > 1 => Whole::computed(value, &looked.shape()),
                whole => whole,
            })
            .collect())
    }

    /// What is known of results by what is known of operands.
    fn look(&mut self, statement: &Statement) -> Result<Vec<Whole>, Stop> {
        let results = statement.results.len();
        Ok(match &statement.operation {
            Operation::If { condition, .. } if self.fails(*condition) => {
                vec![Whole::Part(Known::Failing); results]
            }
            Operation::If { condition, then, otherwise } => {
                let then = self.body(then)?;
                let otherwise = self.body(otherwise)?;
                let pairs = then.iter().zip(&otherwise);
                match self.bool(*condition) {
                    Some(true) => pairs.map(|(then, otherwise)| then.beside(otherwise)).collect(),
                    Some(false) => pairs.map(|(then, otherwise)| otherwise.beside(then)).collect(),
                    None => join_all(&then, &otherwise),
                }
            }
            Operation::While { state, initial, condition: _, body } => {
                let initial = self.all(initial);
                self.lasting(state, initial, body)?
            }
            Operation::For { index, count, state, initial, body } => {
                let mut values = self.all(initial);
                match self.integer(*count) {
                    Some(count) if count <= MOST_ROUNDS => {
                        for step in 0..count {
                            self.bind(*index, Whole::Value(integer(step)));
                            self.bind_all(state, values);
                            values = self.body(body)?;
                        }
                        values
                    }
                    _ => {
                        self.bind(*index, Whole::NOTHING);
                        self.lasting(state, values, body)?
                    }
                }
            }
            // Functions that are left call themselves.
            Operation::Call(..) => vec![Whole::NOTHING; results],
            Operation::Assert { condition, kind: _, values } => match self.bool(*condition) {
                Some(true) => self.all(values),
                Some(false) => vec![Whole::Part(Known::Failing); results],
                // Whether it is that scalar depends on the elements.
                None => self.all(values).iter().map(|value| Whole::Part(value.shape())).collect(),
            },
            Operation::Map(lambda, arrays) => {
                let (length, items) = self.items(arrays);
                let results = self.apply(lambda, items)?;
                results.iter().map(|result| array(length, result.shape())).collect()
            }
            Operation::Fold { operator, start, arrays } => {
                let (_, items) = self.items(arrays);
                match start {
                    Start::None => self.combined(operator, items.clone(), items)?.1,
                    Start::Combined(start) | Start::IfEmpty(start) => {
                        let start = self.all(start);
                        self.combined(operator, start, items)?.1
                    }
                }
            }
            Operation::Scan { form, from_right: _, operator, start, arrays } => {
                let (length, items) = self.items(arrays);
                let start = start.values().map_or_else(|| items.clone(), |start| self.all(start));
                let (combined, both) = self.combined(operator, start, items)?;
                let (length, elements) = match form {
                    ScanForm::Inclusive => (length, combined),
                    ScanForm::Exclusive => (length, both),
                    ScanForm::Full => (length.map(|length| length + 1), both),
                };
                elements.iter().map(|element| array(length, element.shape())).collect()
            }
            Operation::Pack { flags: _, arrays } => {
                arrays.iter().map(|packed| array(None, self.elements(*packed).1)).collect()
            }
            Operation::Scatter { destinations, values, .. } => {
                let pairs = destinations.iter().zip(values);
                let results = pairs.map(|(destination, values)| {
                    let (length, element) = self.elements(*destination);
                    array(length, element.join(&self.elements(*values).1))
                });
                results.collect()
            }
            single => vec![Whole::Part(self.single(single))],
        })
    }

    /// What is known of the result of an operation without bodies that has one.
    fn single(&self, operation: &Operation) -> Known {
        match operation {
            Operation::Index(array, indices) => {
                (0..indices.len()).fold(self.atom(*array).shape(), |known, _| known.elements().1)
            }
            Operation::Update { array, indices, value } => {
                let value = self.atom(*value).shape();
                self.atom(*array).shape().with_element(indices.len(), &value)
            }
            Operation::Literal(atoms) => {
                let elements = atoms.iter().map(|atom| self.atom(*atom).shape());
                let element = elements.reduce(|a, b| a.join(&b)).unwrap_or(Known::Nothing);
                Known::array(Some(atoms.len()), element)
            }
            Operation::Constant(column) => Known::array(Some(column.len()), elements(column)),
            Operation::Iota(length) => Known::array(self.length(*length), Known::Nothing),
            Operation::Replicate(length, value) => {
                Known::array(self.length(*length), self.atom(*value).shape())
            }
            Operation::SortOrder { keys, descending: _ } => {
                Known::array(self.elements(keys[0]).0, Known::Nothing)
            }
            Operation::Transpose(array) => {
                let (length, row) = self.elements(*array);
                let (width, element) = row.elements();
                Known::array(width, Known::array(length, element))
            }
            Operation::Reshape { array, from, extents } => {
                let element =
                    (0..*from).fold(self.atom(*array).shape(), |known, _| known.elements().1);
                extents
                    .iter()
                    .rev()
                    .fold(element, |element, extent| Known::array(self.length(*extent), element))
            }
            Operation::Flatten(array) => {
                let (length, row) = self.elements(*array);
                let (width, element) = row.elements();
                let both = length.zip(width).and_then(|(a, b)| a.checked_mul(b));
                Known::array(both, element)
            }
            Operation::Segments(lengths, array) => {
                let rows = Known::array(None, self.elements(*array).1);
                Known::array(self.elements(*lengths).0, rows)
            }
            Operation::Concat(first, second) => {
                let ((a, of_a), (b, of_b)) = (self.elements(*first), self.elements(*second));
                Known::array(a.zip(b).map(|(a, b)| a + b), of_a.join(&of_b))
            }
            // Scalars; those with bodies are handled with several results.
            Operation::Scalar(..)
            | Operation::Random(..)
            | Operation::Length(_)
            | Operation::Extent(..)
            | Operation::If { .. }
            | Operation::While { .. }
            | Operation::For { .. }
            | Operation::Call(..)
            | Operation::Assert { .. }
            | Operation::Map(..)
            | Operation::Fold { .. }
            | Operation::Scan { .. }
            | Operation::Pack { .. }
            | Operation::Scatter { .. } => Known::Nothing,
        }
    }

    /// The results, if they do not depend on the elements.
    fn computed(&mut self, statement: &Statement) -> Result<Option<Vec<Whole>>, Stop> {
        let operation = &statement.operation;
        let length = match operation {
            Operation::Length(array) => self.elements(*array).0,
            Operation::Extent(array, axis) => {
                let known =
                    (0..*axis).fold(self.atom(*array).shape(), |known, _| known.elements().1);
                known.elements().0
            }
            _ => None,
        };
        if let Some(length) = length {
            return Ok(Some(vec![Whole::Value(integer(length as i64))]));
        }
        let mut reads = Reads::default();
        self.reads(operation, &mut reads);
        if reads.parts {
            return Ok(None);
        }
        let failing = vec![Whole::Part(Known::Failing); statement.results.len()];
        if reads.failing {
            return Ok(self.fails_with_operands(operation).then_some(failing));
        }
        if reads.calls || self.looks == 0 {
            return Ok(None);
        }
        // What is done to many elements at once is a step for each.
        let mut elements = 0;
        operation.for_each_atom(&mut |atom| {
            if let Whole::Value(Value::Array(array)) | Whole::Rows(Value::Array(array), _) =
                self.atom(*atom)
            {
                elements += array.elements.len();
            }
        });
        let spent = u32::try_from(elements / 1024).unwrap_or(u32::MAX);
        let Some(looks) = self.looks.checked_sub(spent) else { return Ok(None) };
        self.looks = looks;
        let values = self.evaluator.values.clone();
        let (depth, held) = (self.evaluator.depth, self.evaluator.memory.held());
        // What is computed for a search within another one counts there, too.
        let outer = self.evaluator.memory.limit_looks(None);
        let allowed = outer.map_or(self.looks, |outer| outer.min(self.looks));
        self.evaluator.memory.limit_looks(Some(allowed));
        let results = self.evaluator.operation(operation, &statement.results, statement.span);
        let left = self.evaluator.memory.limit_looks(None).unwrap_or(0);
        self.looks -= allowed - left;
        self.evaluator.memory.limit_looks(outer.map(|outer| outer - (allowed - left)));
        self.evaluator.values = values;
        self.evaluator.depth = depth;
        self.evaluator.memory.release(self.evaluator.memory.held() - held);
        match results {
            Ok(results) => Ok(Some(results.into_iter().map(Whole::Value).collect())),
            Err(Stop::Fault(_)) => Ok(self.fails_as_a_whole(operation).then_some(failing)),
            Err(Stop::Exhausted(Exhausted::Interrupted)) => {
                Err(Stop::Exhausted(Exhausted::Interrupted))
            }
            Err(Stop::Exhausted(_)) => Ok(None),
        }
    }

    fn fails(&self, atom: Atom) -> bool {
        matches!(self.atom(atom), Whole::Part(Known::Failing))
    }

    /// Whether nothing is known of the results of an operation that reads what fails. An array with elements that fail
    /// has a length.
    fn fails_with_operands(&self, operation: &Operation) -> bool {
        let any = |atoms: &[Atom]| atoms.iter().any(|atom| self.fails(*atom));
        match operation {
            Operation::Call(..) | Operation::Literal(_) => false,
            Operation::If { condition: atom, .. }
            | Operation::Assert { condition: atom, .. }
            | Operation::For { count: atom, .. }
            | Operation::Replicate(atom, _)
            | Operation::Index(atom, _)
            | Operation::Update { array: atom, .. } => self.fails(*atom),
            Operation::Map(_, arrays) | Operation::Scan { arrays, .. } => any(arrays),
            _ => true,
        }
    }

    /// Whether nothing is known of the results of an operation that has failed, rather than that its elements, or the
    /// state of a loop, have no values.
    fn fails_as_a_whole(&self, operation: &Operation) -> bool {
        match operation {
            Operation::Update { .. } | Operation::For { .. } | Operation::While { .. } => false,
            Operation::Map(_, arrays) | Operation::Scan { arrays, .. } => {
                let lengths: Vec<_> = arrays.iter().map(|array| self.elements(*array).0).collect();
                lengths.iter().any(|length| *length != lengths[0])
            }
            _ => true,
        }
    }

    /// What an operation reads of what has no value.
    fn reads(&self, operation: &Operation, reads: &mut Reads) {
        reads.calls |= matches!(operation, Operation::Call(..));
        operation.for_each_atom(&mut |atom| self.reads_atom(*atom, reads));
        operation.for_each_body(&mut |body| {
            for inner in &body.statements {
                self.reads(&inner.operation, reads);
            }
            for atom in &body.results {
                self.reads_atom(*atom, reads);
            }
        });
    }

    fn reads_atom(&self, atom: Atom, reads: &mut Reads) {
        if let Atom::Var(var) = atom {
            match self.parts.get(&var) {
                Some(Known::Failing) => reads.failing = true,
                Some(Known::Nothing | Known::Array { .. }) => reads.parts = true,
                None => {}
            }
        }
    }

    /// The length of arrays that are traversed together, and what is known of their elements.
    fn items(&self, arrays: &[Atom]) -> (Option<usize>, Vec<Whole>) {
        let parts: Vec<_> = arrays.iter().map(|array| self.elements(*array)).collect();
        let length = parts.iter().find_map(|(length, _)| *length);
        (length, parts.into_iter().map(|(_, element)| Whole::Part(element)).collect())
    }

    /// What is known of two values combined, and what that and the first have in common.
    fn combined(
        &mut self,
        operator: &Lambda,
        first: Vec<Whole>,
        second: Vec<Whole>,
    ) -> Result<(Vec<Whole>, Vec<Whole>), Stop> {
        let operands =
            first.iter().chain(&second).map(|whole| Whole::Part(whole.shape())).collect();
        let combined = self.apply(operator, operands)?;
        let both = join_all(&first, &combined);
        Ok((combined, both))
    }

    /// What every round of a loop leaves as it is.
    fn lasting(
        &mut self,
        state: &[(Var, Type)],
        initial: Vec<Whole>,
        body: &Body,
    ) -> Result<Vec<Whole>, Stop> {
        let mut shapes: Vec<Known> = initial.iter().map(Whole::shape).collect();
        loop {
            self.bind_all(state, shapes.iter().cloned().map(Whole::Part).collect());
            let after = self.body(body)?;
            let next: Vec<Known> = shapes
                .iter()
                .zip(&after)
                .map(|(shape, after)| shape.join(&after.shape()))
                .collect();
            if next == shapes || self.statements == 0 {
                return Ok(next.into_iter().map(Whole::Part).collect());
            }
            shapes = next;
        }
    }
}

/// What an operation reads.
#[derive(Default)]
struct Reads {
    /// Something that depends on the elements.
    parts: bool,
    /// Something that fails.
    failing: bool,
    /// A function that calls itself.
    calls: bool,
}
