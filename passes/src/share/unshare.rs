//! The program as the term tree that it would be without sharing: every use of a variable has its own
//! copy of the operation that yields it, next to where the original stood.
//!
//! It is for measuring what sharing buys: a term in which each line uses the one before twice doubles
//! with every line (McDonell, Chakravarty, Keller and Lippmeier, "Optimising purely functional GPU
//! programs", ICFP 2013, section 3).
//!
//! ```
//! use weft_ir::nested::parse;
//! use weft_passes::share::unshare;
//!
//! let shared = parse("\
//! params x0: f64
//! x1: f64 = exp x0
//! x2: f64 = mul x1 x1
//! yield x2
//! ").unwrap();
//! assert_eq!(unshare(&shared, 10).unwrap().to_string(), "\
//! params x0: f64
//! x3: f64 = exp x0
//! x4: f64 = exp x0
//! x5: f64 = mul x3 x4
//! yield x5
//! ");
//! ```

use std::fmt;

use weft_ir::nested::{Atom, Body, Program, Statement, Var};

/// The term tree has more statements than were allowed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TooLarge {
    /// How many were allowed.
    pub limit: usize,
}

impl fmt::Display for TooLarge {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "without sharing the program has more than {} statements", self.limit)
    }
}

impl std::error::Error for TooLarge {}

/// The program without sharing. Parameters and the variables of lambdas and loops are no operations
/// and are not copied.
///
/// # Errors
/// It would have more than `limit` statements.
pub fn unshare(program: &Program, limit: usize) -> Result<Program, TooLarge> {
    let mut copier = Copier {
        definitions: vec![None; program.variables as usize],
        names: vec![None; program.variables as usize],
        open: Vec::new(),
        variables: program.variables,
        left: limit,
    };
    let mut functions = Vec::new();
    for function in &program.functions {
        let mut copy = function.clone();
        copy.body = copier.body(&function.body).ok_or(TooLarge { limit })?;
        functions.push(copy);
    }
    let body = copier.body(&program.body).ok_or(TooLarge { limit })?;
    Ok(Program { params: program.params.clone(), functions, body, variables: copier.variables })
}

struct Copier<'p> {
    /// For each variable the statement that binds it, if one does.
    definitions: Vec<Option<Definition<'p>>>,
    /// For each variable that an operation binds for its bodies, its name in the current copy.
    names: Vec<Option<Var>>,
    /// The statements of the bodies that are being written, outermost first.
    open: Vec<Vec<Statement>>,
    variables: u32,
    /// How many statements may still be written.
    left: usize,
}

#[derive(Clone, Copy)]
struct Definition<'p> {
    statement: &'p Statement,
    /// Which of its results the variable is.
    result: usize,
    /// The number of bodies around it.
    level: usize,
}

impl<'p> Copier<'p> {
    /// A copy of a body; nothing past the limit.
    fn body(&mut self, body: &'p Body) -> Option<Body> {
        let level = self.open.len();
        self.open.push(Vec::new());
        for statement in &body.statements {
            for (result, (var, _)) in statement.results.iter().enumerate() {
                self.definitions[var.0 as usize] = Some(Definition { statement, result, level });
            }
        }
        let results = self.copy_all(&body.results)?;
        let statements = self.open.pop().expect("pushed above");
        Some(Body { statements, results })
    }

    fn copy_all(&mut self, atoms: &[Atom]) -> Option<Vec<Atom>> {
        atoms.iter().map(|atom| self.copy(*atom)).collect()
    }

    /// A copy of what yields the atom, in the body where that stands; nothing past the limit.
    fn copy(&mut self, atom: Atom) -> Option<Atom> {
        let Atom::Var(var) = atom else { return Some(atom) };
        let Some(definition) = self.definitions[var.0 as usize] else {
            return Some(Atom::Var(self.names[var.0 as usize].unwrap_or(var)));
        };
        self.left = self.left.checked_sub(1)?;
        // The bodies further in go on later.
        let inner = self.open.split_off(definition.level + 1);
        let statement = self.copy_statement(definition.statement)?;
        let copy = statement.results[definition.result].0;
        self.open.last_mut().expect("its body is open").push(statement);
        self.open.extend(inner);
        Some(Atom::Var(copy))
    }

    fn copy_statement(&mut self, statement: &'p Statement) -> Option<Statement> {
        let mut operands = Vec::new();
        statement.operation.for_each_atom(&mut |atom| operands.push(*atom));
        let mut operands = self.copy_all(&operands)?.into_iter();
        statement.operation.for_each_bound(&mut |var, _| {
            self.names[var.0 as usize] = Some(Var(self.variables));
            self.variables += 1;
        });
        let mut bodies = Vec::new();
        statement.operation.for_each_body(&mut |body| bodies.push(body));
        let bodies: Option<Vec<Body>> = bodies.into_iter().map(|body| self.body(body)).collect();
        let mut bodies = bodies?.into_iter();

        let mut copy = statement.clone();
        let every = "as many as the original has";
        copy.operation.for_each_atom_mut(&mut |atom| *atom = operands.next().expect(every));
        copy.operation.for_each_body_mut(&mut |body| *body = bodies.next().expect(every));
        copy.operation.for_each_bound_mut(&mut |var, _| {
            *var = self.names[var.0 as usize].expect("named above");
        });
        for (var, _) in &mut copy.results {
            *var = Var(self.variables);
            self.variables += 1;
        }
        Some(copy)
    }
}
