//! Keeps what a map needs for its elements from being computed where it has none.
//!
//! Note [Guarded maps]. What does not depend on the elements of a map is computed before it ([`mod@crate::share`]),
//! also if there are none; and perhaps it has no value then. In `{ { x - sum (tail r) : x in r } : r in rows }` the
//! tails of all rows are one array, and a row without elements has no tail, which nobody needs. Nearly always
//! there are elements, and a condition around each map would keep what comes before it from fusing with what is
//! in it. So that is done to a program that has met a fault, in those maps and loops that need what failed,
//! and it runs again. What is in the branch of a condition does not leave it, and what is needed nowhere else
//! sinks into it.
//!
//! ```
//! use weft_ir::Span;
//! use weft_ir::nested::parse;
//! use weft_passes::guard::guard;
//! use weft_passes::share::{Config, share};
//!
//! let before = parse("\
//! params x0: []i64, x1: []i64
//! x2: []i64 = map x0
//!   \\x3: i64
//!     x4: i64 = index x1 9i64
//!     x5: i64 = add x3 x4
//!     yield x5
//! yield x2
//! ").unwrap();
//! let after = share(guard(&before, &[Span::default()]), &Config { hoist: true, sink: true });
//! assert_eq!(after.to_string(), "\
//! params x0: []i64, x1: []i64
//! x6: i64 = length x0
//! x7: bool = gt x6 0i64
//! x2: []i64 = if x7
//!   x4: i64 = index x1 9i64
//!   x8: []i64 = map x0
//!     \\x3: i64
//!       x5: i64 = add x3 x4
//!       yield x5
//!   yield x8
//! else
//!   x9: []i64 = constant i64[]
//!   yield x9
//! yield x2
//! ");
//! ```
//!
//! The extents of rows that there are none of may come of what failed (`Note [Extents of nothing]` in the interpreter).
//! So maps that yield rows have no conditions.

use std::collections::BTreeSet;

use weft_ir::nested::{Atom, Body, Operation, Program, Statement, Type, Var};
use weft_ir::{Column, Scalar, ScalarOp, ScalarType, Span};

/// The program with conditions around the maps and loops that need what these places compute: they do so only if
/// they have something to do (Note [Guarded maps]). It is the same program if there are none.
pub fn guard(program: &Program, places: &[Span]) -> Program {
    let mut program = program.clone();
    let mut guarding =
        Guarding { places, dependent: BTreeSet::new(), variables: program.variables };
    for function in &mut program.functions {
        guarding.body(&mut function.body);
    }
    guarding.body(&mut program.body);
    program.variables = guarding.variables;
    program
}

struct Guarding<'a> {
    places: &'a [Span],
    /// What is computed at these places, and what depends on it.
    dependent: BTreeSet<Var>,
    variables: u32,
}

impl Guarding<'_> {
    /// Guards what is in a body. Whether that needs what the places compute.
    fn body(&mut self, body: &mut Body) -> bool {
        let mut needs = false;
        for mut statement in std::mem::take(&mut body.statements) {
            let mut of_operands = self.places.contains(&statement.span);
            statement.operation.for_each_atom(&mut |atom| of_operands |= self.depends(atom));
            let mut of_bodies = false;
            statement.operation.for_each_body_mut(&mut |inner| of_bodies |= self.body(inner));
            if of_operands || of_bodies {
                needs = true;
                self.dependent.extend(statement.results.iter().map(|(var, _)| *var));
            }
            if of_bodies {
                self.statement(statement, &mut body.statements);
            } else {
                body.statements.push(statement);
            }
        }
        needs
    }

    fn depends(&self, atom: &Atom) -> bool {
        matches!(atom, Atom::Var(var) if self.dependent.contains(var))
    }

    /// The statement under a condition, if there can be nothing to do for it.
    fn statement(&mut self, statement: Statement, to: &mut Vec<Statement>) {
        let span = statement.span;
        let results: Vec<Type> = statement.results.iter().map(|(_, ty)| *ty).collect();
        let (condition, nothing) = match &statement.operation {
            Operation::Map(_, arrays) if results.iter().all(|ty| ty.rank == 1) => {
                // They are of one length; if not, the map says so.
                let lengths: Vec<Atom> = (arrays.iter())
                    .map(|array| self.scalar(Operation::Length(*array), ScalarType::I64, span, to))
                    .collect();
                let longest = |first, second| {
                    let operands = vec![first, second];
                    let operation = Operation::Scalar(ScalarOp::Max, operands);
                    self.scalar(operation, ScalarType::I64, span, to)
                };
                let Some(length) = lengths.into_iter().reduce(longest) else {
                    return to.push(statement);
                };
                let nothing = results.iter().map(|ty| Nothing::Array(ty.element)).collect();
                (self.is_positive(length, span, to), nothing)
            }
            Operation::For { count, initial, .. } => {
                let initial: Vec<Nothing> = initial.iter().copied().map(Nothing::Atom).collect();
                (self.is_positive(*count, span, to), initial)
            }
            _ => return to.push(statement),
        };
        let inner: Vec<(Var, Type)> = results.iter().map(|ty| (self.fresh(), *ty)).collect();
        let yielded = inner.iter().map(|(var, _)| Atom::Var(*var)).collect();
        let Statement { results, operation, span } = statement;
        let then = Body {
            statements: vec![Statement { results: inner, operation, span }],
            results: yielded,
        };
        let otherwise = self.nothing(nothing, span);
        let operation = Operation::If { condition, then, otherwise };
        to.push(Statement { results, operation, span });
    }

    /// A body that yields what comes of nothing to do.
    fn nothing(&mut self, results: Vec<Nothing>, span: Span) -> Body {
        let mut body = Body { statements: Vec::new(), results: Vec::new() };
        for result in results {
            body.results.push(match result {
                Nothing::Atom(atom) => atom,
                Nothing::Array(element) => {
                    let column = Column::empty(&weft_ir::Type::Scalar(element));
                    let var = self.fresh();
                    let results = vec![(var, Type::scalar(element).array())];
                    let operation = Operation::Constant(column);
                    body.statements.push(Statement { results, operation, span });
                    Atom::Var(var)
                }
            });
        }
        body
    }

    fn is_positive(&mut self, number: Atom, span: Span, to: &mut Vec<Statement>) -> Atom {
        let operands = vec![number, Atom::Scalar(Scalar::I64(0))];
        self.scalar(Operation::Scalar(ScalarOp::Gt, operands), ScalarType::Bool, span, to)
    }

    /// A statement that yields a scalar.
    fn scalar(
        &mut self,
        operation: Operation,
        element: ScalarType,
        span: Span,
        to: &mut Vec<Statement>,
    ) -> Atom {
        let var = self.fresh();
        let results = vec![(var, Type::scalar(element))];
        to.push(Statement { results, operation, span });
        Atom::Var(var)
    }

    fn fresh(&mut self) -> Var {
        self.variables += 1;
        Var(self.variables - 1)
    }
}

/// What a map or a loop yields that has nothing to do.
enum Nothing {
    Atom(Atom),
    /// An array without elements.
    Array(ScalarType),
}
