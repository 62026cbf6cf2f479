//! Apply-to-each over several recursions.
//!
//! Note [One recursion at a time]. `{ fib x + leaves x : x in xs }` calls two functions that call themselves, and `{ fib (fib x) : x in
//! xs }` one with what it has yielded: neither goes level by level in one go. So the apply-to-each is taken apart behind the
//! first statement of its body that calls one. The first part yields what the second one needs of it, as arrays; the second one may
//! be taken apart again.

use std::collections::HashMap;

use weft_ir::nested::{Atom, Lambda, Operation, Statement, free_variables};

use super::shape::calls_of_operation;
use crate::code::{Code, renamed};

/// The two parts of a statement; nothing if it is no apply-to-each whose body has several statements with calls.
pub(super) fn apart(statement: &Statement, variables: &mut u32) -> Option<[Statement; 2]> {
    let Operation::Map(lambda, arrays) = &statement.operation else { return None };
    let statements = &lambda.body.statements;
    let calls = |statement: &Statement| calls_of_operation(&statement.operation);
    let first = statements.iter().position(calls)?;
    if !statements[first + 1..].iter().any(calls) {
        // An apply-to-each inside may be taken apart, and then this one.
        let parts = apart(&statements[first], variables)?;
        let mut body = lambda.body.clone();
        body.statements.splice(first..=first, parts);
        let lambda = Lambda { params: lambda.params.clone(), body };
        let operation = Operation::Map(lambda, arrays.clone());
        return apart(&Statement { operation, ..statement.clone() }, variables);
    }
    let (before, behind) = statements.split_at(first + 1);
    let mut rest = lambda.body.clone();
    rest.statements = behind.to_vec();
    let used = free_variables(&[&rest]);
    let bound = before.iter().flat_map(|it| it.results.iter().copied());
    let needed: Vec<_> = bound.filter(|(var, _)| used.contains(var)).collect();

    let mut code = Code::new(variables, statement.span);
    let elements: Vec<_> = lambda.params.iter().map(|(_, ty)| *ty).collect();
    let types: Vec<_> = needed.iter().map(|(_, ty)| *ty).collect();
    let yielded = code.map(arrays.clone(), &elements, &types, |code, inputs| {
        let params = lambda.params.iter().map(|(var, _)| *var);
        let mut names: HashMap<_, _> = params.zip(inputs.iter().copied()).collect();
        before.iter().for_each(|statement| code.copy(statement, &mut names));
        needed.iter().map(|(var, _)| renamed(Atom::Var(*var), &names)).collect()
    });
    let first = code.statements.pop()?;
    let lambda = Lambda { params: [&lambda.params[..], &needed].concat(), body: rest };
    let operation = Operation::Map(lambda, [&arrays[..], &yielded].concat());
    Some([first, Statement { results: statement.results.clone(), operation, span: statement.span }])
}
