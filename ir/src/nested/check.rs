//! The check of nested programs: every variable is bound once and before its uses, every operation
//! gets operands of the types that it needs, and its results have the types that they are given.

mod operation;

use crate::nested::{Atom, Body, Function, Lambda, Program, Statement, Type, Var};

/// Checks a program. What it accepts, `run_nested` and the passes take without a panic.
///
/// # Errors
/// A sentence about the first statement that is wrong.
pub fn check(program: &Program) -> Result<(), String> {
    let mut checker = Checker {
        functions: &program.functions,
        variables: vec![Variable { ty: None, visible: false }; program.variables as usize],
    };
    for function in &program.functions {
        let mut scope = Vec::new();
        checker.bind_all(&function.params, &mut scope)?;
        let found = checker.body(&function.body)?;
        expect_types(&format!("function {}", function.name), &found, &function.results)?;
        checker.leave(scope);
    }
    let mut scope = Vec::new();
    checker.bind_all(&program.params, &mut scope)?;
    checker.body(&program.body)?;
    Ok(())
}

#[derive(Clone)]
struct Variable {
    /// Its type, once it is bound.
    ty: Option<Type>,
    /// Whether its scope is open.
    visible: bool,
}

struct Checker<'a> {
    functions: &'a [Function],
    variables: Vec<Variable>,
}

/// The variables that a scope has bound.
type Scope = Vec<Var>;

impl Checker<'_> {
    /// The types of the results.
    fn body(&mut self, body: &Body) -> Result<Vec<Type>, String> {
        let mut scope = Vec::new();
        for statement in &body.statements {
            self.statement(statement, &mut scope)?;
        }
        let results = body.results.iter().map(|atom| self.atom(atom)).collect();
        self.leave(scope);
        results
    }

    fn statement(&mut self, statement: &Statement, scope: &mut Scope) -> Result<(), String> {
        let Some((first, _)) = statement.results.first() else {
            return Err("a statement has no results".to_owned());
        };
        let found = self
            .operation(&statement.operation)
            .map_err(|message| in_statement(*first, &message))?;
        let declared: Vec<Type> = statement.results.iter().map(|(_, ty)| *ty).collect();
        expect_types(&format!("{first}"), &found, &declared)?;
        self.bind_all(&statement.results, scope)
    }

    /// The types of the lambda's results, its parameters having these types.
    fn lambda(&mut self, lambda: &Lambda, params: &[Type]) -> Result<Vec<Type>, String> {
        let declared: Vec<Type> = lambda.params.iter().map(|(_, ty)| *ty).collect();
        expect_types("the lambda's parameters", params, &declared)?;
        let mut scope = Vec::new();
        self.bind_all(&lambda.params, &mut scope)?;
        let results = self.body(&lambda.body);
        self.leave(scope);
        results
    }

    fn bind_all(&mut self, vars: &[(Var, Type)], scope: &mut Scope) -> Result<(), String> {
        for &(var, ty) in vars {
            let count = self.variables.len();
            let Some(variable) = self.variables.get_mut(var.0 as usize) else {
                return Err(format!("{var} is not below the number of variables, {count}"));
            };
            if variable.ty.is_some() {
                return Err(format!("{var} is bound twice"));
            }
            *variable = Variable { ty: Some(ty), visible: true };
            scope.push(var);
        }
        Ok(())
    }

    fn leave(&mut self, scope: Scope) {
        for var in scope {
            self.variables[var.0 as usize].visible = false;
        }
    }

    fn atom(&self, atom: &Atom) -> Result<Type, String> {
        match atom {
            Atom::Scalar(scalar) => Ok(Type::scalar(scalar.ty())),
            Atom::Var(var) => match self.variables.get(var.0 as usize) {
                Some(Variable { ty: Some(ty), visible: true }) => Ok(*ty),
                Some(Variable { ty: Some(_), .. }) => Err(format!("{var} is out of scope")),
                Some(Variable { ty: None, .. }) | None => Err(format!("{var} is not bound")),
            },
        }
    }
}

/// The message belongs to that statement; one of an inner statement stays as it is.
fn in_statement(var: Var, message: &str) -> String {
    let first = message.split(' ').next().unwrap_or_default();
    if first.starts_with('x') && first.ends_with(':') {
        message.to_owned()
    } else {
        format!("{var}: {message}")
    }
}

fn expect_types(place: &str, found: &[Type], declared: &[Type]) -> Result<(), String> {
    if found == declared {
        return Ok(());
    }
    Err(format!("{place}: {} where {} stands", list(found), list(declared)))
}

fn list(types: &[Type]) -> String {
    if types.is_empty() {
        return "nothing".to_owned();
    }
    types.iter().map(Type::to_string).collect::<Vec<_>>().join(" ")
}
