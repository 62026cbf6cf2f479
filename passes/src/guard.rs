//! Keeps what a map needs for its elements from being computed where it has none.
//!
//! Note [Guarded maps]. What does not depend on the elements of a map is computed before it ([`mod@crate::share`]),
//! also if there are none; and perhaps it has no value then. In `{ { x - sum (tail r) : x in r } : r in rows }` the
//! tails of all rows are one array, and a row without elements has no tail, which nobody needs. Nearly always
//! there are elements, and a condition around each map would keep what comes before it from fusing with what is
//! in it. So that is done to a program that has met a fault, and it runs again. What is in the branch of a condition
//! does not leave it, and what is needed nowhere else sinks into it.
//!
//! A condition is put around a map or a loop in which something that failed, or what depends on that, is the same for
//! all elements or turns. What is not was computed for an element: its fault is no matter of a map without elements, as
//! that of the index in `{ xs[i] : i in is }`, and the program is as before.
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

use std::collections::{BTreeMap, BTreeSet};

use weft_ir::nested::{Atom, Body, Lambda, Operation, Program, Statement, Type, Var};
use weft_ir::{Column, Scalar, ScalarOp, ScalarType, Span};

/// The program with conditions around the maps and loops that need what these places compute and have no part in it:
/// they do so only if they have something to do (Note [Guarded maps]). It is the same program if there are none.
pub fn guard(program: &Program, places: &[Span]) -> Program {
    let mut program = program.clone();
    let (dependent, levels, repeated) = Default::default();
    let variables = program.variables;
    let mut guarding = Guarding { places, dependent, levels, repeated, level: 0, variables };
    for function in &mut program.functions {
        guarding.body(&mut function.body);
    }
    guarding.body(&mut program.body);
    program.variables = guarding.variables;
    program
}

/// How many bodies of maps, loops and operators are around a place in the program. The level of a variable is that of
/// the outermost place where it could be computed.
type Level = usize;

struct Guarding<'a> {
    places: &'a [Span],
    /// What is computed at these places, and what depends on it.
    dependent: BTreeSet<Var>,
    /// The levels of the variables so far; that of parameters of the program and its functions is 0.
    levels: BTreeMap<Var, Level>,
    /// The levels of the elements that arrays repeat.
    repeated: BTreeMap<Var, Level>,
    /// The level of the body at hand.
    level: Level,
    variables: u32,
}

/// What a statement or a body is made of.
#[derive(Default)]
struct Uses {
    /// The levels of the variables.
    levels: BTreeSet<Level>,
    /// The lowest level of what is computed at the places, or depends on it.
    dependent: Option<Level>,
}

impl Uses {
    fn add(&mut self, other: Uses) {
        self.levels.extend(other.levels);
        self.depends(other.dependent);
    }

    fn depends(&mut self, level: Option<Level>) {
        self.dependent = self.dependent.into_iter().chain(level).min();
    }
}

impl Guarding<'_> {
    /// Guards what is in a body.
    fn body(&mut self, body: &mut Body) -> Uses {
        let mut uses = Uses::default();
        for mut statement in std::mem::take(&mut body.statements) {
            let of_bodies = self.bodies(&mut statement.operation);
            let is_shared = of_bodies.dependent.is_some_and(|level| level <= self.level);
            let mut of_statement = of_bodies;
            statement.operation.for_each_atom(&mut |atom| self.atom(atom, &mut of_statement));
            // What the bodies bind is no part of what the whole is made of.
            of_statement.levels.split_off(&(self.level + 1));
            let level = of_statement.levels.last().copied().unwrap_or(0);
            if self.places.contains(&statement.span) || of_statement.dependent.is_some() {
                of_statement.depends(Some(level));
                self.dependent.extend(statement.results.iter().map(|(var, _)| *var));
            }
            self.levels.extend(statement.results.iter().map(|(var, _)| (*var, level)));
            if let (Operation::Replicate(_, element), [(array, _)]) =
                (&statement.operation, &statement.results[..])
            {
                let of_element = self.level_of(element);
                self.repeated.insert(*array, of_element);
            }
            uses.add(of_statement);
            match is_shared {
                true => self.statement(statement, &mut body.statements),
                false => body.statements.push(statement),
            }
        }
        body.results.iter().for_each(|atom| self.atom(atom, &mut uses));
        uses
    }

    /// Guards what is in the bodies of an operation.
    fn bodies(&mut self, operation: &mut Operation) -> Uses {
        let (outside, mut binds) = (self.level, false);
        operation.for_each_bound(&mut |var, _| {
            self.levels.insert(*var, outside + 1);
            binds = true;
        });
        self.bind_shared(operation);
        self.level += usize::from(binds);
        let mut uses = Uses::default();
        operation.for_each_body_mut(&mut |inner| uses.add(self.body(inner)));
        self.level = outside;
        uses
    }

    /// Notes which parameters are the same for all elements or turns.
    fn bind_shared(&mut self, operation: &Operation) {
        match operation {
            Operation::Map(Lambda { params, .. }, arrays) => {
                for (&(param, _), array) in params.iter().zip(arrays) {
                    if let Atom::Var(array) = array
                        && let Some(&level) = self.repeated.get(array)
                    {
                        self.levels.insert(param, level);
                    }
                }
            }
            Operation::While { state, initial, body, .. }
            | Operation::For { state, initial, body, .. } => {
                for ((&(var, _), first), next) in state.iter().zip(initial).zip(&body.results) {
                    if *next == Atom::Var(var) {
                        let level = self.level_of(first);
                        self.levels.insert(var, level);
                    }
                }
            }
            _ => {}
        }
    }

    fn atom(&self, atom: &Atom, uses: &mut Uses) {
        let Atom::Var(var) = atom else { return };
        let level = self.level_of(atom);
        uses.levels.insert(level);
        uses.depends(self.dependent.contains(var).then_some(level));
    }

    fn level_of(&self, atom: &Atom) -> Level {
        match atom {
            Atom::Var(var) => self.levels.get(var).copied().unwrap_or(0),
            Atom::Scalar(_) => 0,
        }
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

#[cfg(test)]
mod tests {
    use weft_ir::Span;
    use weft_ir::nested::parse;

    use super::guard;

    /// Whether anything is guarded if everything may have failed.
    fn is_guarded(text: &str) -> bool {
        let program = parse(text).expect("a program");
        guard(&program, &[Span::default()]) != program
    }

    #[test]
    fn what_depends_on_elements_needs_no_condition() {
        let of_elements = "params x0: []i64, x1: []i64
x2: []i64 = map x0
  \\x3: i64
    x4: i64 = index x1 x3
    yield x4
yield x2
";
        assert!(!is_guarded(of_elements));
        assert!(is_guarded(&of_elements.replace("x1 x3", "x1 9i64")));
    }

    #[test]
    fn the_inner_of_two_maps_needs_one_for_what_depends_on_the_outer() {
        let nested = guard(
            &parse(
                "params x0: []i64, x1: []i64
x2: []i64 = map x0
  \\x3: i64
    x4: []i64 = map x1
      \\x5: i64
        x6: i64 = index x1 x3
        yield x6
    x7: i64 = index x4 x3
    yield x7
yield x2
",
            )
            .expect("a program"),
            &[Span::default()],
        );
        assert_eq!(nested.to_string().matches("= if ").count(), 1, "{nested}");
    }
}
