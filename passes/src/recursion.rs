//! Recursive functions as loops over levels.
//!
//! Note [Level by level]. All calls that a call makes can be evaluated side by side if none needs the
//! result of another. So a call becomes two loops. The first goes down: it holds the arguments of all
//! calls of a level as arrays, and computes from them the arguments of the next level, until a level
//! has no calls. The second goes up again, from the deepest level to the first, and computes the
//! results of a level from its arguments and from the results of the calls that it made.
//!
//! ```text
//! f a = if small a then base a else join a { f s : s in split a }
//!
//! down:  next = flatten { if small a then [] else split a : a in level }
//! up:    results = { if small a then base a else join a kids
//!                  : a in level ; kids in segments (how many each has made) results }
//! ```
//!
//! Both are the body of the function over the arguments of a level: in the first ([`calls`]) the calls
//! are what it yields, in the second ([`results`]) their results are given. What comes before the
//! calls is computed twice. Between the two the arguments lie in a stack ([`stack`]).
//!
//! Source: Blelloch, "NESL: A nested data-parallel language" (CMU-CS-95-170), section on recursion;
//! Blelloch and Sabot, "Compiling collection-oriented languages onto massively parallel computers"
//! (Journal of Parallel and Distributed Computing 8, 1990).
//!
//! [`calls`]: Level::calls
//! [`results`]: Level::results

mod apart;
mod frames;
mod level;
mod linear;
mod shape;
mod stack;

use std::collections::{HashMap, HashSet};

use weft_ir::nested::{Atom, Body, Function, Lambda, Operation, Program, Statement, Type, Var};
use weft_ir::{Column, ColumnBuilder, FaultKind, ScalarOp, Span};

use crate::Unsupported;
use crate::code::{BOOL, Code, I64, atoms, integer};
use crate::share::without_steady_parts;
use apart::apart;
use frames::Frames;
use level::Level;
pub(crate) use linear::Recursions;
use shape::{calls_of_operation, is_small, level_of, recursion_of};
use stack::Stack;

/// More calls than this are left to the interpreter, which has one of them in memory at a time.
const MOST_CALLS: i64 = 1 << 26;

/// And more calls than this where a call is a few scalar operations. The interpreter needs no more time for
/// them than memory does for their arguments, which then no cache holds any more.
const MOST_SMALL_CALLS: i64 = 1 << 18;

/// So are calls with more elements in one of their arguments.
const MOST_ELEMENTS: i64 = 1 << 29;

/// How functions that call themselves become loops.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Calls {
    /// How many calls may be within each other. A compiled program in which there are more meets a fault; the
    /// interpreter says where it is.
    pub deepest: u64,
    /// Whether calls may be made one after the other (Note [Frames on a stack]): where a turn of a loop that does
    /// little takes no time. The interpreter makes calls faster than a back end launches kernels.
    pub stack: bool,
}

/// The program without recursive functions. `linear` are those that only add to the result of a call.
///
/// # Errors
/// A recursion that goes neither level by level nor one call after the other.
pub(crate) fn without_calls(
    mut program: Program,
    linear: &Recursions,
    calls: Calls,
) -> Result<Program, Unsupported> {
    if program.functions.is_empty() {
        return Ok(program);
    }
    for function in &program.functions {
        if let Some(span) = shape::call_in_any_case(&function.body) {
            return Err(unsupported(&function.name, "whatever its arguments are", span));
        }
    }
    linear::accumulate(&mut program, linear, calls.deepest);
    let mut functions = std::mem::take(&mut program.functions);
    functions.iter_mut().for_each(|function| without_steady_parts(&mut function.body));
    let mut expander = Expander { functions: &functions, variables: program.variables, calls };
    expander.body(&mut program.body)?;
    program.variables = expander.variables;
    Ok(program)
}

struct Expander<'f> {
    functions: &'f [Function],
    variables: u32,
    calls: Calls,
}

impl Expander<'_> {
    fn body(&mut self, body: &mut Body) -> Result<(), Unsupported> {
        let mut statements = Vec::new();
        for mut statement in std::mem::take(&mut body.statements) {
            if !calls_of_operation(&statement.operation) {
                statements.push(statement);
                continue;
            }
            match &mut statement.operation {
                Operation::Call(..) | Operation::Map(..) => match self.expanded(&statement) {
                    Ok(mut loops) => statements.append(&mut loops),
                    Err(because) => {
                        let parts = apart(&statement, &mut self.variables).ok_or(because)?;
                        let mut inner = Body { statements: parts.into(), results: Vec::new() };
                        self.body(&mut inner)?;
                        statements.append(&mut inner.statements);
                    }
                },
                Operation::If { then: first, otherwise: second, .. }
                | Operation::While { condition: first, body: second, .. } => {
                    self.body(first)?;
                    self.body(second)?;
                    statements.push(statement);
                }
                Operation::For { body, .. } => {
                    self.body(body)?;
                    statements.push(statement);
                }
                _ => return Err(shape::inside(self.functions, &statement)),
            }
        }
        body.statements = statements;
        Ok(())
    }

    /// The loops in place of a statement with calls.
    fn expanded(&mut self, statement: &Statement) -> Result<Vec<Statement>, Unsupported> {
        let recursion = recursion_of(self.functions, statement)?;
        let mut code = Code::new(&mut self.variables, statement.span);
        let Operation::Call(_, arguments) = &statement.operation else {
            level_of(recursion, statement)?.expand(&mut code, statement, self.calls.deepest);
            return Ok(code.statements);
        };
        let (function, kept) = (recursion.function, recursion.kept.clone());
        let fixed = recursion.fixed.iter().copied().collect();
        let level = level_of(recursion, statement);
        // Levels pay where a call has enough to do.
        if self.calls.stack && (level.is_err() || is_small(function)) {
            let frames = Frames::of(function, kept, fixed, statement.span);
            let deepest = self.calls.deepest;
            let expanded = frames.and_then(|frames| {
                frames.expand(&mut code, arguments, &statement.results, deepest)
            });
            if expanded.is_ok() {
                return Ok(code.statements);
            }
            code.statements.clear();
        }
        level?.expand(&mut code, statement, self.calls.deepest);
        Ok(code.statements)
    }
}

impl Level<'_> {
    /// Both loops.
    fn expand(&self, code: &mut Code<'_>, statement: &Statement, deepest: u64) {
        let mut names = self.names();
        let first = self.calls_of(code, statement, &mut names, &mut HashSet::new());
        let first = self.lists(code, first);
        let stack = self.down(code, first, deepest);
        let results = self.up(code, &stack);
        code.span = statement.span;
        let mut names = self.names();
        self.finish(code, statement, &mut names, results, &statement.results);
    }

    /// The arguments of all levels.
    fn down(&self, code: &mut Code<'_>, first: Vec<Atom>, deepest: u64) -> Stack {
        let lists = self.list_types();
        let count = lists.len();
        let most_calls = if self.is_small { MOST_SMALL_CALLS } else { MOST_CALLS };
        let empty = Stack::empty(code, &self.kept_types());
        let types = [&lists[..], &empty.types()].concat();
        let state = code.fresh(&types);
        let values = atoms(&state);
        let (current, below) = (&values[..count], empty.with(&values[count..]));
        let condition = code.inner(|code| {
            let length = code.one(Operation::Length(current[0]), I64);
            vec![code.scalar(ScalarOp::Gt, &[length, integer(0)], BOOL)]
        });
        let body = code.inner(|code| {
            let below = below.push(code, current, &lists);
            let statement = self.over(current);
            let next = self.calls_of(code, &statement, &mut self.names(), &mut HashSet::new());
            let mut next = self.lists(code, next);
            let depth = code.one(Operation::Length(below.starts()), I64);
            let mut bounds = vec![(depth, i64::try_from(deepest).unwrap_or(i64::MAX))];
            for (number, array) in below.flat().iter().enumerate() {
                let length = code.one(Operation::Length(*array), I64);
                bounds.push((length, if number == 0 { most_calls } else { MOST_ELEMENTS }));
            }
            for (number, most) in bounds {
                let condition = code.scalar(ScalarOp::Le, &[number, integer(most)], BOOL);
                let kind = FaultKind::AssertionFailed;
                next = code.many(Operation::Assert { condition, kind, values: next }, &lists);
            }
            [next, below.atoms()].concat()
        });
        let initial = [first, empty.atoms()].concat();
        let last = code.many(Operation::While { state, initial, condition, body }, &types);
        empty.with(&last[count..])
    }

    /// The results of the first level.
    fn up(&self, code: &mut Code<'_>, stack: &Stack) -> Vec<Atom> {
        let lists: Vec<Type> = self.function.results.iter().map(|ty| ty.array()).collect();
        let levels = code.one(Operation::Length(stack.starts()), I64);
        let initial: Vec<Atom> = lists.iter().map(|ty| empty_array(code, *ty)).collect();
        let index = code.fresh(&[I64])[0].0;
        let state = code.fresh(&lists);
        let below = atoms(&state);
        let body = code.inner(|code| {
            let last = code.scalar(ScalarOp::Sub, &[levels, integer(1)], I64);
            let level = code.scalar(ScalarOp::Sub, &[last, Atom::Var(index)], I64);
            let arguments = stack.level(code, level);
            let results = code.fresh(&lists);
            self.finish(code, &self.over(&arguments), &mut self.names(), below, &results);
            atoms(&results)
        });
        code.many(Operation::For { index, count: levels, state, initial, body }, &lists)
    }

    /// The function over the arguments of a level.
    fn over(&self, arguments: &[Atom]) -> Statement {
        let params = self.kept.iter().map(|&number| self.function.params[number]).collect();
        let lambda = Lambda { params, body: self.function.body.clone() };
        let results = self.function.results.iter().map(|ty| (UNNAMED, ty.array())).collect();
        let operation = Operation::Map(lambda, arguments.to_vec());
        Statement { results, operation, span: self.span }
    }

    /// What the parameters that no call changes are called outside.
    fn names(&self) -> HashMap<Var, Atom> {
        self.fixed.iter().copied().collect()
    }
}

/// Of a statement whose results get their names where it is copied.
const UNNAMED: Var = Var(u32::MAX);

/// No elements, of a type of arrays.
fn empty_array(code: &mut Code<'_>, ty: Type) -> Atom {
    code.one(Operation::Constant(empty_column(ty.element())), ty)
}

fn empty_column(element: Type) -> Column {
    let scalar = weft_ir::Type::Scalar(element.element);
    ColumnBuilder::new(&(0..element.rank).fold(scalar, |ty, _| weft_ir::Type::array(ty))).finish()
}

/// A program that the pass leaves to the interpreter.
fn unsupported(name: &str, because: impl std::fmt::Display, span: Span) -> Unsupported {
    let reason = format!("`{name}` calls itself {because}");
    Unsupported { reason, span }
}
