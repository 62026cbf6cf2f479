//! Folds of what a filter keeps become folds of everything, where no bracketing of the operator
//! changes the result: what is not kept counts as the neutral element, and nothing is stored.
//!
//! ```text
//! x5 = pack x4 over x0          x6 = map x4 x0
//! x9 = fold add over x5           \f, y -> select f y 0
//!                               x9 = fold add over x6
//! ```
//!
//! A map in between goes on where the flag holds, and nowhere else: there its values are as before,
//! errors included. A fold that is an error of nothing also asks whether something was kept. It is
//! done only where nothing else uses what the filter keeps. Float sums and products stay: their tree
//! is over the elements that are kept (numerics.md).

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

use weft_ir::nested::{Atom, Body, Lambda, Operation, Program, Start, Statement, Type, Var};
use weft_ir::{FaultKind, Scalar, ScalarOp, ScalarType};

use crate::code::{BOOL, Code, I64, integer};

/// The program with folds of everything in place of folds of filters.
pub(super) fn filtered(program: &Program) -> Cow<'_, Program> {
    if !has_filter(&program.body) {
        return Cow::Borrowed(program);
    }
    let mut program = program.clone();
    let mut uses = vec![0; program.variables as usize];
    count(&program.body, &mut uses);
    let mut rewriter = Rewriter { uses, variables: program.variables };
    rewriter.body(&mut program.body);
    program.variables = rewriter.variables;
    Cow::Owned(program)
}

fn has_filter(body: &Body) -> bool {
    body.statements.iter().any(|statement| {
        let mut inside = matches!(statement.operation, Operation::Pack { .. });
        statement.operation.for_each_body(&mut |body| inside |= has_filter(body));
        inside
    })
}

/// Adds how often each variable is used.
fn count(body: &Body, uses: &mut [u32]) {
    let mut note = |atom: &Atom| {
        if let Atom::Var(var) = atom {
            uses[var.0 as usize] += 1;
        }
    };
    body.results.iter().for_each(&mut note);
    for statement in &body.statements {
        statement.operation.for_each_atom(&mut note);
    }
    for statement in &body.statements {
        statement.operation.for_each_body(&mut |inner| count(inner, uses));
    }
}

struct Rewriter {
    uses: Vec<u32>,
    variables: u32,
}

/// For an array of what was kept: the array of everything, and the flags of what was kept.
#[derive(Clone, Copy)]
struct Masked {
    flags: Atom,
    values: Atom,
}

impl Rewriter {
    fn body(&mut self, body: &mut Body) {
        for statement in &mut body.statements {
            statement.operation.for_each_body_mut(&mut |inner| self.body(inner));
        }
        let chosen = self.chosen(&body.statements);
        if chosen.is_empty() {
            return;
        }
        let mut masked: BTreeMap<Var, Masked> = BTreeMap::new();
        for (place, statement) in std::mem::take(&mut body.statements).into_iter().enumerate() {
            if chosen.contains(&place) {
                body.statements.extend(self.masked(statement, &mut masked));
            } else {
                body.statements.push(statement);
            }
        }
    }

    /// The filters that can go, with the maps, folds and lengths that use them, by their places.
    fn chosen(&self, statements: &[Statement]) -> BTreeSet<usize> {
        // Backwards: how many uses of a variable could do without the filter, and whether a fold is
        // among what they lead to.
        let mut good: BTreeMap<Var, (u32, bool)> = BTreeMap::new();
        let mut possible: BTreeSet<usize> = BTreeSet::new();
        for (place, statement) in statements.iter().enumerate().rev() {
            let all_good = statement.results.iter().all(|(var, _)| {
                let known = good.get(var).map_or(0, |(uses, _)| *uses);
                self.uses.get(var.0 as usize) == Some(&known)
            });
            let folded =
                statement.results.iter().any(|(var, _)| good.get(var).is_some_and(|g| g.1));
            let (users, folds): (&[Atom], bool) = match &statement.operation {
                Operation::Fold { operator, start, arrays }
                    if neutral(operator, start).is_some() =>
                {
                    (arrays, true)
                }
                Operation::Length(array) => (std::slice::from_ref(array), false),
                Operation::Map(lambda, arrays)
                    if all_good && folded && distinct(arrays) && is_code_of_one(lambda) =>
                {
                    (arrays, true)
                }
                Operation::Pack { .. } if all_good && folded && is_flat(statement) => (&[], true),
                _ => continue,
            };
            possible.insert(place);
            for atom in users {
                if let Atom::Var(var) = atom {
                    let entry = good.entry(*var).or_default();
                    *entry = (entry.0 + 1, entry.1 | folds);
                }
            }
        }
        // Forwards: what does not come from one filter stays; so does what yields something to
        // what stays.
        let mut lost: BTreeSet<Var> = BTreeSet::new();
        loop {
            let mut flags: BTreeMap<Var, Atom> = BTreeMap::new();
            let mut kept: BTreeSet<usize> = BTreeSet::new();
            for place in &possible {
                let statement = &statements[*place];
                let filter = match &statement.operation {
                    Operation::Pack { flags, .. } => Some(*flags),
                    operation => one_filter(operation, &flags),
                };
                let needed = statement.results.iter().any(|(var, _)| lost.contains(var));
                if let (Some(filter), false) = (filter, needed) {
                    kept.insert(*place);
                    flags.extend(statement.results.iter().map(|(var, _)| (*var, filter)));
                } else {
                    statement.operation.for_each_atom(&mut |atom| {
                        if let Atom::Var(var) = atom {
                            lost.insert(*var);
                        }
                    });
                }
            }
            if kept.len() == possible.len() {
                return kept;
            }
            possible = kept;
        }
    }

    /// What stands for a statement that was chosen.
    fn masked(
        &mut self,
        statement: Statement,
        masked: &mut BTreeMap<Var, Masked>,
    ) -> Vec<Statement> {
        let Statement { results, operation, span } = statement;
        let of = |atom: &Atom, masked: &BTreeMap<Var, Masked>| match atom {
            Atom::Var(var) => masked[var],
            Atom::Scalar(_) => panic!("flatten: a filter yields arrays"),
        };
        let mut code = Code::new(&mut self.variables, span);
        match operation {
            Operation::Pack { flags, arrays } => {
                for ((var, _), values) in results.iter().zip(arrays) {
                    masked.insert(*var, Masked { flags, values });
                }
            }
            Operation::Map(lambda, arrays) => {
                let sources: Vec<Masked> = arrays.iter().map(|array| of(array, masked)).collect();
                let flags = sources[0].flags;
                for (var, _) in &results {
                    masked.insert(*var, Masked { flags, values: Atom::Var(*var) });
                }
                let lambda = where_kept(&mut code, lambda, &results);
                let mut arrays = vec![flags];
                arrays.extend(sources.iter().map(|source| source.values));
                code.push(results, Operation::Map(lambda, arrays));
            }
            Operation::Length(array) => {
                let flags = of(&array, masked).flags;
                let kept = kept(&mut code, flags, (integer(1), integer(0)), I64);
                let fold = fold(&mut code, ScalarOp::Add, I64, integer(0), kept);
                code.push(results, fold);
            }
            Operation::Fold { operator, start, arrays } => {
                let Masked { flags, values } = of(&arrays[0], masked);
                let (op, nothing) = neutral(&operator, &start).expect("chosen for it");
                let ty = results[0].1;
                let select = code.map(vec![flags, values], &[BOOL, ty], &[ty], |code, atoms| {
                    let operands = [atoms[0], atoms[1], nothing];
                    vec![code.scalar(ScalarOp::Select, &operands, ty)]
                })[0];
                match start {
                    Start::Combined(_) | Start::IfEmpty(_) => {
                        let arrays = vec![select];
                        code.push(results, Operation::Fold { operator, start, arrays });
                    }
                    Start::None => {
                        let all = fold(&mut code, op, ty, nothing, select);
                        let all = code.one(all, ty);
                        let no = Atom::Scalar(Scalar::Bool(false));
                        let any = fold(&mut code, ScalarOp::Or, BOOL, no, flags);
                        let condition = code.one(any, BOOL);
                        let (kind, values) = (FaultKind::EmptyArray, vec![all]);
                        code.push(results, Operation::Assert { condition, kind, values });
                    }
                }
            }
            operation => code.push(results, operation),
        }
        code.statements
    }
}

/// One value where the flag holds, and another where not.
fn kept(code: &mut Code<'_>, flags: Atom, (yes, no): (Atom, Atom), ty: Type) -> Atom {
    code.map(vec![flags], &[BOOL], &[ty], |code, flag| {
        vec![code.scalar(ScalarOp::Select, &[flag[0], yes, no], ty)]
    })[0]
}

/// A fold by a plain operator that yields its neutral element for nothing.
fn fold(code: &mut Code<'_>, op: ScalarOp, ty: Type, nothing: Atom, array: Atom) -> Operation {
    let params = code.fresh(&[ty, ty]);
    let operands: Vec<Atom> = params.iter().map(|(var, _)| Atom::Var(*var)).collect();
    let body = code.inner(|code| vec![code.scalar(op, &operands, ty)]);
    let operator = Lambda { params, body };
    Operation::Fold { operator, start: Start::IfEmpty(vec![nothing]), arrays: vec![array] }
}

/// The lambda where the flag before its parameters holds; elsewhere some value.
fn where_kept(code: &mut Code<'_>, lambda: Lambda, results: &[(Var, Type)]) -> Lambda {
    let flag = code.fresh(&[BOOL])[0];
    let mut params = vec![flag];
    params.extend(lambda.params);
    if lambda.body.statements.is_empty() {
        return Lambda { params, body: lambda.body };
    }
    let types: Vec<Type> = results.iter().map(|(_, ty)| ty.element()).collect();
    let zeros = types.iter().map(|ty| Atom::Scalar(Scalar::zero(ty.element))).collect();
    let body = code.inner(|code| {
        let otherwise = Body { statements: Vec::new(), results: zeros };
        let condition = Atom::Var(flag.0);
        code.many(Operation::If { condition, then: lambda.body, otherwise }, &types)
    });
    Lambda { params, body }
}

/// The flags that all arrays of an operation were filtered by, if they were.
fn one_filter(operation: &Operation, flags: &BTreeMap<Var, Atom>) -> Option<Atom> {
    let arrays: &[Atom] = match operation {
        Operation::Map(_, arrays) | Operation::Fold { arrays, .. } => arrays,
        Operation::Length(array) => std::slice::from_ref(array),
        _ => return None,
    };
    let mut found = arrays.iter().map(|array| match array {
        Atom::Var(var) => flags.get(var).copied(),
        Atom::Scalar(_) => None,
    });
    let first = found.next()??;
    found.all(|other| other == Some(first)).then_some(first)
}

/// The operator and its neutral element, if it is plain and any bracketing of it gives the same, and
/// a fold of nothing is an error or what the neutral element makes of it.
fn neutral(operator: &Lambda, start: &Start<Vec<Atom>>) -> Option<(ScalarOp, Atom)> {
    let ([left, right], [statement]) = (&operator.params[..], &operator.body.statements[..]) else {
        return None;
    };
    let Operation::Scalar(op, operands) = &statement.operation else { return None };
    let (left, right) = (Atom::Var(left.0), Atom::Var(right.0));
    let plain = operands[..] == [left, right] || operands[..] == [right, left];
    if !plain || operator.body.results != [Atom::Var(statement.results[0].0)] {
        return None;
    }
    let nothing = Atom::Scalar(neutral_element(*op, operator.params[0].1.element)?);
    match start {
        Start::IfEmpty(values) if values[..] != [nothing] => None,
        Start::None | Start::Combined(_) | Start::IfEmpty(_) => Some((*op, nothing)),
    }
}

/// What an operator whose bracketing and order do not matter leaves unchanged.
fn neutral_element(op: ScalarOp, ty: ScalarType) -> Option<Scalar> {
    let number = |value: i64| cast(Scalar::I64(value), ty);
    let bits = ty.bytes() as u32 * 8;
    match op {
        ScalarOp::And if ty == ScalarType::Bool => Some(Scalar::Bool(true)),
        ScalarOp::Or if ty == ScalarType::Bool => Some(Scalar::Bool(false)),
        ScalarOp::Max if ty.is_float() => cast(Scalar::F64(f64::NEG_INFINITY), ty),
        ScalarOp::Min if ty.is_float() => cast(Scalar::F64(f64::INFINITY), ty),
        _ if !ty.is_int() => None,
        ScalarOp::Add | ScalarOp::BitOr | ScalarOp::BitXor => number(0),
        ScalarOp::Mul => number(1),
        ScalarOp::BitAnd => number(-1),
        ScalarOp::Max if ty.is_unsigned_int() => number(0),
        ScalarOp::Max => number(i64::MIN >> (64 - bits)),
        ScalarOp::Min if ty.is_unsigned_int() => number(-1),
        ScalarOp::Min => number(i64::MAX >> (64 - bits)),
        _ => None,
    }
}

fn cast(value: Scalar, ty: ScalarType) -> Option<Scalar> {
    weft_ir::math::eval(ScalarOp::Cast(ty), &[value]).ok()
}

/// Whether each array is there once: how often it is used tells how many users it has.
fn distinct(arrays: &[Atom]) -> bool {
    arrays.iter().enumerate().all(|(place, array)| !arrays[..place].contains(array))
}

/// Whether all that a statement yields are arrays of scalars.
fn is_flat(statement: &Statement) -> bool {
    statement.results.iter().all(|(_, ty)| ty.rank == 1)
}

/// Whether a lambda is scalar code of one element.
fn is_code_of_one(lambda: &Lambda) -> bool {
    lambda.params.iter().all(|(_, ty)| ty.rank == 0) && is_code(&lambda.body)
}

fn is_code(body: &Body) -> bool {
    body.statements.iter().all(|statement| {
        let inner = match &statement.operation {
            Operation::Scalar(..) | Operation::Random(..) | Operation::Index(..) => true,
            Operation::Length(_) | Operation::Assert { .. } => true,
            Operation::If { then, otherwise, .. } => is_code(then) && is_code(otherwise),
            _ => false,
        };
        inner && statement.results.iter().all(|(_, ty)| ty.rank == 0)
    })
}
