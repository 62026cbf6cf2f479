//! What happens inside a condition, a loop or an operator of a single element: conditionals and loops
//! on scalars, and collective operations as loops of that element.

use std::collections::HashSet;
use std::rc::Rc;

use weft_ir::nested::{self, Atom, Body, Lambda, Operation, Start, Var};
use weft_ir::{FaultKind, Scalar, ScalarOp, ScalarType};

use super::scalar::{Control, Region, ScalarId};
use super::view::{Delayed, Length, Source, Value, View};
use super::{Flattener, Outcome, unsupported};

/// How many values a fold combines from left to right before it combines their results: the tree of
/// numerics.md.
const BLOCK: i64 = 64;

impl<'p> Flattener<'p> {
    /// One of two values, each computed only if it is chosen. With `guards` the values come from
    /// these regions.
    pub(super) fn branch(
        &mut self,
        condition: ScalarId,
        guards: Option<(Region, Region)>,
        then: impl FnOnce(&mut Self) -> Value<'p>,
        otherwise: impl FnOnce(&mut Self) -> Value<'p>,
    ) -> Value<'p> {
        match self.scalars.known_scalar(condition) {
            Some(Scalar::Bool(true)) => return then(self),
            Some(Scalar::Bool(false)) => return otherwise(self),
            _ => {}
        }
        let outer = self.region;
        let regions = match guards {
            None => (self.scalars.region(outer), self.scalars.region(outer)),
            Some((a, b)) => {
                (self.scalars.region_like(outer, a), self.scalars.region_like(outer, b))
            }
        };
        self.region = Some(regions.0);
        let then = then(self);
        self.region = Some(regions.1);
        let otherwise = otherwise(self);
        self.region = outer;
        self.join(condition, (regions.0, vec![then]), (regions.1, vec![otherwise])).remove(0)
    }

    /// The results of a conditional whose branches have been flattened.
    pub(super) fn join(
        &mut self,
        condition: ScalarId,
        then: (Region, Vec<Value<'p>>),
        otherwise: (Region, Vec<Value<'p>>),
    ) -> Vec<Value<'p>> {
        let mut scalars: (Vec<ScalarId>, Vec<ScalarId>) = (Vec::new(), Vec::new());
        // If the condition is an error, so is what would be the same either way.
        let may_fail = self.reads_fallible(condition);
        for pair in then.1.iter().zip(&otherwise.1) {
            if let (Value::Scalar(a), Value::Scalar(b)) = pair
                && (a != b || may_fail)
            {
                scalars.0.push(*a);
                scalars.1.push(*b);
            }
        }
        let mut chosen = Vec::new();
        if !scalars.0.is_empty() {
            let types: Vec<ScalarType> = scalars.0.iter().map(|&id| self.scalars.ty(id)).collect();
            let depth = self
                .scalars
                .depth_of(&scalars.0)
                .max(self.scalars.depth_of(&scalars.1))
                .max(self.scalars.depth(condition));
            let control = Control::If {
                condition,
                then: (then.0, scalars.0),
                otherwise: (otherwise.0, scalars.1),
            };
            let (home, span) = (self.region, self.span);
            chosen = self.scalars.control(control, &types, depth, home, span);
        }
        let mut chosen = chosen.into_iter();
        then.1
            .into_iter()
            .zip(otherwise.1)
            .map(|pair| match pair {
                (Value::Scalar(a), Value::Scalar(b)) if a == b && !may_fail => Value::Scalar(a),
                (Value::Scalar(_), Value::Scalar(_)) => {
                    Value::Scalar(chosen.next().expect("one per pair"))
                }
                (Value::Array(a), Value::Array(b)) => {
                    let alike = self.alike((then.0, &a), (otherwise.0, &b));
                    let (length, [a, b]) = match alike {
                        Some((size, views)) => (Some(size), views),
                        None => (None, [a, b]),
                    };
                    let ty = a.ty;
                    let source = Source::Choice(condition, (then.0, a), (otherwise.0, b), length);
                    Value::Array(self.view(ty, source))
                }
                _ => panic!("flatten: branches of different ranks"),
            })
            .collect()
    }

    /// `if` inside an element: both bodies as code of it.
    pub(super) fn local_if(
        &mut self,
        condition: ScalarId,
        then: &'p Body,
        otherwise: &'p Body,
    ) -> Outcome<Vec<Value<'p>>> {
        let known = self.scalars.nodes.len();
        let outer = self.region;
        let regions = (self.scalars.region(outer), self.scalars.region(outer));
        self.region = Some(regions.0);
        let then = self.body(then);
        self.region = Some(regions.1);
        let otherwise = self.body(otherwise);
        self.region = outer;
        let chosen = self.join(condition, (regions.0, then?), (regions.1, otherwise?));
        let scalars: Vec<ScalarId> = chosen
            .iter()
            .filter_map(|value| match value {
                Value::Scalar(id) if id.0 as usize >= known => Some(*id),
                Value::Scalar(_) | Value::Array(_) => None,
            })
            .collect();
        self.count_idle_turns(&scalars);
        Ok(chosen)
    }

    /// A loop of an element: its state are scalars.
    pub(super) fn repeat(
        &mut self,
        initial: &[ScalarId],
        condition: impl FnOnce(&mut Self, &[ScalarId]) -> Outcome<ScalarId>,
        body: impl FnOnce(&mut Self, &[ScalarId]) -> Outcome<Vec<ScalarId>>,
    ) -> Outcome<Vec<ScalarId>> {
        let outer = self.region;
        let region = self.scalars.region(outer);
        let types: Vec<ScalarType> = initial.iter().map(|&id| self.scalars.ty(id)).collect();
        let state: Vec<ScalarId> = types.iter().map(|&ty| self.scalars.param(ty, region)).collect();
        self.region = Some(region);
        let condition = condition(self, &state);
        let next = condition.and_then(|condition| Ok((condition, body(self, &state)?)));
        self.region = outer;
        let (condition, next) = next?;
        let depth = self
            .scalars
            .depth_of(initial)
            .max(self.scalars.depth(condition))
            .max(self.scalars.depth_of(&next));
        let control = Control::While {
            state,
            initial: initial.to_vec(),
            condition: (region, condition),
            body: (region, next),
        };
        let (home, span) = (outer, self.span);
        Ok(self.scalars.control(control, &types, depth, home, span))
    }

    /// A map that is evaluated where its elements are needed.
    pub(super) fn local_map(
        &mut self,
        lambda: &'p Lambda,
        arrays: Vec<Rc<View<'p>>>,
    ) -> Outcome<Vec<Value<'p>>> {
        let lengths: Vec<Length> = arrays.iter().map(|array| self.length(array)).collect();
        let mut equal = None;
        for &length in &lengths[1..] {
            if length != lengths[0] {
                let (a, b) = (self.length_scalar(lengths[0]), self.length_scalar(length));
                let same = self.op(ScalarOp::Eq, &[a, b]);
                equal = Some(match equal {
                    None => same,
                    Some(others) => self.op(ScalarOp::And, &[others, same]),
                });
            }
        }
        let captured = lambda
            .free_variables()
            .into_iter()
            .filter_map(|var| Some((var, self.bound.get(&var)?.clone())))
            .collect();
        let delayed = Rc::new(Delayed { lambda, arrays, captured });
        let types: Vec<nested::Type> =
            lambda.body.results.iter().map(|atom| self.atom_type(atom).array()).collect();
        Ok(types
            .into_iter()
            .enumerate()
            .map(|(number, ty)| {
                let view = self.view(ty, Source::Delayed(Rc::clone(&delayed), number));
                Value::Array(match equal {
                    None => view,
                    Some(equal) => {
                        self.view(ty, Source::Checked(view, equal, FaultKind::LengthMismatch))
                    }
                })
            })
            .collect())
    }

    /// A fold as a loop of the element, in the tree of numerics.md.
    pub(super) fn local_fold(
        &mut self,
        operator: &'p Lambda,
        start: &'p Start<Vec<Atom>>,
        arrays: &[Rc<View<'p>>],
    ) -> Outcome<Vec<Value<'p>>> {
        if arrays.iter().any(|array| array.ty.rank != 1) {
            return unsupported(
                "a fold of arrays inside a condition or loop of an element",
                self.span,
            );
        }
        let length = self.length(&arrays[0]);
        let mut length = self.length_scalar(length);
        for array in arrays {
            // Of an array without elements nothing else is read.
            length = self.checked_as(length, array);
        }
        let zero = self.scalars.integer(0);
        let some = self.op(ScalarOp::Gt, &[length, zero]);
        let exact = operator.body.results.iter().all(|atom| {
            let element = self.atom_type(atom).element;
            !element.is_float() || is_selection(operator)
        });
        let fold = |flattener: &mut Self, length: ScalarId| {
            if exact {
                flattener.fold_blocks(operator, arrays, 0, zero, length)
            } else {
                let most = BLOCK.pow(4);
                let limit = flattener.scalars.integer(most);
                let few = flattener.op(ScalarOp::Le, &[length, limit]);
                let (home, span) = (flattener.region, flattener.span);
                let length =
                    flattener.scalars.checked(length, few, FaultKind::BadLength, home, span);
                flattener.fold_blocks(operator, arrays, 3, zero, length)
            }
        };
        let results = match start {
            Start::None => {
                let (home, span) = (self.region, self.span);
                let length = self.scalars.checked(length, some, FaultKind::EmptyArray, home, span);
                fold(self, length)?
            }
            Start::IfEmpty(atoms) | Start::Combined(atoms) => {
                let starts: Vec<ScalarId> =
                    atoms.iter().map(|atom| self.scalar_atom(atom)).collect();
                let outer = self.region;
                let regions = (self.scalars.region(outer), self.scalars.region(outer));
                self.region = Some(regions.0);
                let folded = fold(self, length).and_then(|folded| match start {
                    Start::Combined(_) => self.apply_operator(operator, &starts, &folded),
                    Start::None | Start::IfEmpty(_) => Ok(folded),
                });
                self.region = outer;
                let then = folded?.into_iter().map(Value::Scalar).collect();
                let otherwise = starts.into_iter().map(Value::Scalar).collect();
                return Ok(self.join(some, (regions.0, then), (regions.1, otherwise)));
            }
        };
        Ok(results.into_iter().map(Value::Scalar).collect())
    }

    /// The fold of the elements `from .. to`, at least one: of blocks of 64^level elements,
    /// each of them folded at the level below.
    fn fold_blocks(
        &mut self,
        operator: &'p Lambda,
        arrays: &[Rc<View<'p>>],
        level: u32,
        from: ScalarId,
        to: ScalarId,
    ) -> Outcome<Vec<ScalarId>> {
        let step = BLOCK.pow(level);
        let types: Vec<ScalarType> =
            operator.body.results.iter().map(|atom| self.atom_type(atom).element).collect();
        let mut initial = vec![from];
        initial.extend(types.iter().map(|&ty| self.scalars.constant(Scalar::zero(ty))));
        let span = self.span;
        let results = self.repeat(
            &initial,
            |flattener, state| Ok(flattener.op(ScalarOp::Lt, &[state[0], to])),
            |flattener, state| {
                let step = flattener.scalars.integer(step);
                let next = flattener.op(ScalarOp::Add, &[state[0], step]);
                let block = if level == 0 {
                    let elements: Vec<Value<'p>> = arrays
                        .iter()
                        .map(|array| flattener.element_unchecked(array, state[0]))
                        .collect();
                    scalars_of(elements)
                } else {
                    let end = flattener.op(ScalarOp::Min, &[next, to]);
                    flattener.fold_blocks(operator, arrays, level - 1, state[0], end)?
                };
                let first = flattener.op(ScalarOp::Eq, &[state[0], from]);
                let outer = flattener.region;
                let regions = (flattener.scalars.region(outer), flattener.scalars.region(outer));
                flattener.region = Some(regions.1);
                let combined = flattener.apply_operator(operator, &state[1..], &block);
                flattener.region = outer;
                let combined = combined?.into_iter().map(Value::Scalar).collect();
                let block = block.into_iter().map(Value::Scalar).collect();
                let joined = flattener.join(first, (regions.0, block), (regions.1, combined));
                let mut state = vec![next];
                state.extend(scalars_of(joined));
                Ok(state)
            },
        );
        self.span = span;
        Ok(results?[1..].to_vec())
    }

    /// An operator applied to scalars.
    pub(super) fn apply_operator(
        &mut self,
        operator: &'p Lambda,
        left: &[ScalarId],
        right: &[ScalarId],
    ) -> Outcome<Vec<ScalarId>> {
        for (&(var, _), &id) in operator.params.iter().zip(left.iter().chain(right)) {
            self.bind(var, Value::Scalar(id));
        }
        let results = self.body(&operator.body)?;
        Ok(scalars_of(results))
    }
}

/// Scalars that are known to be such.
pub(super) fn scalars_of(values: Vec<Value<'_>>) -> Vec<ScalarId> {
    values
        .into_iter()
        .map(|value| match value {
            Value::Scalar(id) => id,
            Value::Array(_) => panic!("flatten: an array where a scalar is needed"),
        })
        .collect()
}

/// Whether an operator only chooses one of its operands, so that any bracketing gives the same bits.
fn is_selection(operator: &Lambda) -> bool {
    operator.body.statements.iter().all(|statement| {
        matches!(statement.operation, Operation::Scalar(ScalarOp::Min | ScalarOp::Max, _))
    })
}

/// Whether a body has nothing but scalar code: no collective operation, no array state.
pub(super) fn is_scalar_code(body: &Body) -> bool {
    body.statements.iter().all(|statement| {
        let scalars = statement.results.iter().all(|(_, ty)| ty.rank == 0);
        match &statement.operation {
            Operation::Scalar(..) | Operation::Random(..) => true,
            Operation::Length(_) | Operation::Extent(..) | Operation::Index(..) => true,
            Operation::Assert { .. } => scalars,
            Operation::If { then, otherwise, .. } => {
                scalars && is_scalar_code(then) && is_scalar_code(otherwise)
            }
            Operation::While { condition, body, .. } => {
                scalars && is_scalar_code(condition) && is_scalar_code(body)
            }
            Operation::For { body, .. } => scalars && is_scalar_code(body),
            Operation::Call(..)
            | Operation::Update { .. }
            | Operation::Literal(_)
            | Operation::Constant(_)
            | Operation::Iota(_)
            | Operation::Replicate(..)
            | Operation::Map(..)
            | Operation::Fold { .. }
            | Operation::Scan { .. }
            | Operation::Pack { .. }
            | Operation::Scatter { .. }
            | Operation::SortOrder { .. }
            | Operation::Transpose(_)
            | Operation::Reshape { .. }
            | Operation::Flatten(_)
            | Operation::Segments(..)
            | Operation::Concat(..) => false,
        }
    })
}

/// Whether elements that a body yields need what it folds, or what a loop of it comes to: each of them would do that
/// again, if it was to do by itself what the body does.
pub(super) fn folds_for_elements(body: &Body) -> bool {
    let mut folded = HashSet::new();
    let (mut used, mut needed) = (Vec::new(), HashSet::new());
    for statement in &body.statements {
        let free = statement.operation.free_variables();
        let is_scalar = statement.results.iter().all(|(_, ty)| ty.rank == 0);
        let folds = match statement.operation {
            Operation::Fold { .. } | Operation::For { .. } | Operation::While { .. } => true,
            _ => free.iter().any(|var| folded.contains(var)),
        };
        if folds && is_scalar {
            folded.extend(statement.results.iter().map(|(var, _)| *var));
        }
        used.push((statement, free, folds && !is_scalar));
    }
    let is_array = |var: &Var| {
        body.statements
            .iter()
            .any(|it| it.results.iter().any(|(own, ty)| own == var && ty.rank > 0))
    };
    needed.extend(body.results.iter().filter_map(|atom| atom.var()).filter(is_array));
    // From what is yielded back, through arrays: what is folded of them is one number.
    used.into_iter().rev().any(|(statement, free, folds)| {
        let is_needed = statement.results.iter().any(|(var, _)| needed.contains(var));
        if is_needed {
            needed.extend(free.into_iter().filter(is_array));
        }
        is_needed && folds
    })
}

/// Whether an element can do by itself what a body does: maps and folds of scalars are its loops.
pub(super) fn is_local(body: &Body) -> bool {
    body.statements.iter().all(|statement| {
        let scalars = statement.results.iter().all(|(_, ty)| ty.rank == 0);
        match &statement.operation {
            Operation::Scalar(..)
            | Operation::Random(..)
            | Operation::Assert { .. }
            | Operation::Call(..)
            | Operation::Length(_)
            | Operation::Index(..)
            | Operation::Literal(_)
            | Operation::Constant(_)
            | Operation::Iota(_)
            | Operation::Replicate(..)
            | Operation::Concat(..) => true,
            Operation::Map(lambda, _) => is_local(&lambda.body),
            Operation::Fold { operator, .. } => scalars && is_local(&operator.body),
            Operation::If { then, otherwise, .. } => is_local(then) && is_local(otherwise),
            Operation::While { condition, body, .. } => {
                scalars && is_local(condition) && is_local(body)
            }
            Operation::For { body, .. } => scalars && is_local(body),
            Operation::Extent(..)
            | Operation::Update { .. }
            | Operation::Scan { .. }
            | Operation::Pack { .. }
            | Operation::Scatter { .. }
            | Operation::SortOrder { .. }
            | Operation::Transpose(_)
            | Operation::Reshape { .. }
            | Operation::Flatten(_)
            | Operation::Segments(..) => false,
        }
    })
}
