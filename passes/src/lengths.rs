//! Lengths of slices that are the same for all elements of a map.
//!
//! Note [Lengths of slices]. The slice of `{ sum xs[i:i + w] : i in is }` has a length of its own for each element, as far
//! as its bounds tell: rows of different lengths, of which each has to be found. But what its bounds are apart does not
//! depend on the element. Bounds are polynomials of what is around them, on which integers that wrap compute as any ring
//! does; so where nothing of the element is left of the difference, the length is taken from around the map, and all
//! slices are rows of one array. What is left behind is the check that the bounds are within the array: what the body
//! makes of the slice is an error where they are not.
//!
//! ```
//! use weft_ir::nested::parse;
//! use weft_passes::lengths::of_all_elements;
//!
//! let before = parse("\
//! params x0: []f64, x1: []i64, x2: i64
//! x6: i64 = length x0
//! x3: []f64 = map x1
//!   \\x4: i64
//!     x5: i64 = add x4 x2
//!     x7: bool = le x5 x6
//!     x8: i64 = sub x5 x4
//!     x9: i64 = assert index x7 values x8
//!     x10: i64 = max x9 0i64
//!     x11: []i64 = iota x10
//!     x12: []f64 = map x11
//!       \\x13: i64
//!         x14: i64 = add x4 x13
//!         x15: f64 = index x0 x14
//!         yield x15
//!     x16: f64 = fold from 0.0f64 over x12
//!       \\x17: f64, x18: f64
//!         x19: f64 = add x17 x18
//!         yield x19
//!     yield x16
//! yield x3
//! ").unwrap();
//! let (after, changed) = of_all_elements(before);
//! assert!(changed);
//! let after = after.to_string();
//! assert!(after.contains("\
//!     x20: i64 = max x2 0i64
//!     x21: i64 = min x20 x6
//!     x11: []i64 = iota x21
//! "), "{after}");
//! assert!(after.contains("\
//!     x22: f64 = assert index x7 values x16
//!     yield x22
//! "), "{after}");
//! ```
//!
//! Others that want the length as it was keep it. What drops dead code, and hoists the length, is to follow.

use std::collections::{BTreeMap, HashMap, HashSet};

use weft_ir::nested::{Atom, Body, Operation, Program, Statement, Type, Var};
use weft_ir::{FaultKind, Scalar, ScalarOp};

use crate::code::{Code, I64, integer, uses};

/// A bound has no more terms than this, and no more is made of a length.
const MOST_TERMS: usize = 6;

/// A constant length that is greater than this is left to its check, which says more than that there is no memory for it.
const GREATEST: i64 = 1 << 16;

/// For one length no more is looked at.
const MOST_STEPS: u32 = 100;

/// The program with lengths of slices from around maps, and whether there are such.
pub fn of_all_elements(mut program: Program) -> (Program, bool) {
    let variables = program.variables;
    let mut finder = Finder { bound: HashMap::new(), maps: 0, variables, changed: false };
    finder.body(&mut program.body);
    program.variables = finder.variables;
    (program, finder.changed)
}

/// What is known of a variable.
struct Known {
    /// How many maps are around it.
    maps: usize,
    means: Meaning,
}

/// What a variable is, if it may be part of a length.
#[derive(Clone, Copy)]
enum Meaning {
    Sum(Atom, Atom),
    Difference(Atom, Atom),
    Product(Atom, Atom),
    Checked(Atom, FaultKind, Atom),
    AtLeastZero(Atom),
    /// Both hold.
    Both(Atom, Atom),
    /// The first is not greater than the second.
    AtMost(Atom, Atom),
    Other,
}

struct Finder {
    bound: HashMap<Var, Known>,
    /// How many maps are around the statement at hand.
    maps: usize,
    variables: u32,
    changed: bool,
}

/// An integer as a sum of products of variables; the empty product is the constant.
type Polynomial = BTreeMap<Vec<Var>, i64>;

impl Finder {
    fn bind(&mut self, var: Var, means: Meaning) {
        self.bound.insert(var, Known { maps: self.maps, means });
    }

    fn body(&mut self, body: &mut Body) {
        // Checks on what is made of slices here.
        let mut checks: Vec<(HashSet<Var>, Atom, FaultKind)> = Vec::new();
        let mut statements = Vec::with_capacity(body.statements.len());
        for mut statement in std::mem::take(&mut body.statements) {
            self.inside(&mut statement.operation);
            for (var, _) in &statement.results {
                self.bind(*var, Meaning::Other);
            }
            if let [(var, _)] = statement.results[..] {
                self.bind(var, meaning(&statement.operation));
            }
            for (of_slice, ..) in &mut checks {
                if uses(&statement, of_slice) {
                    of_slice.extend(statement.results.iter().map(|(var, _)| *var));
                }
            }
            if let Operation::Iota(length) = &mut statement.operation
                && let Some((condition, kind, all)) = self.length(*length)
            {
                let mut code = Code::new(&mut self.variables, statement.span);
                *length = all.in_code(&mut code);
                statements.append(&mut code.statements);
                checks.push((HashSet::from([statement.results[0].0]), condition, kind));
                self.changed = true;
            }
            statements.push(statement);
        }
        let types: HashMap<Var, (Type, weft_ir::Span)> = (statements.iter())
            .flat_map(|it: &Statement| it.results.iter().map(|(var, ty)| (*var, (*ty, it.span))))
            .collect();
        for result in &mut body.results {
            let Atom::Var(var) = *result else { continue };
            let Some(&(ty, span)) = types.get(&var) else { continue };
            for &(_, condition, kind) in checks.iter().filter(|(of, ..)| of.contains(&var)) {
                let mut code = Code::new(&mut self.variables, span);
                let values = vec![*result];
                *result = code.one(Operation::Assert { condition, kind, values }, ty);
                statements.append(&mut code.statements);
            }
        }
        body.statements = statements;
    }

    /// Goes through the bodies of an operation.
    fn inside(&mut self, operation: &mut Operation) {
        let is_map = matches!(operation, Operation::Map(..));
        self.maps += usize::from(is_map);
        operation.for_each_bound(&mut |var, _| {
            self.bound.insert(*var, Known { maps: self.maps, means: Meaning::Other });
        });
        if matches!(
            operation,
            Operation::Map(..)
                | Operation::If { .. }
                | Operation::While { .. }
                | Operation::For { .. }
        ) {
            operation.for_each_body_mut(&mut |inner| self.body(inner));
        }
        self.maps -= usize::from(is_map);
    }

    fn known(&self, atom: Atom) -> Option<&Known> {
        match atom {
            Atom::Var(var) => self.bound.get(&var),
            Atom::Scalar(_) => None,
        }
    }

    /// The length of a slice of each element, with its check, as one from around the map.
    fn length(&self, length: Atom) -> Option<(Atom, FaultKind, Length)> {
        let mut known = self.known(length)?;
        if let Meaning::AtLeastZero(of) = known.means {
            known = self.known(of)?;
        }
        let Meaning::Checked(condition, kind, apart) = known.means else { return None };
        if self.maps == 0 || known.maps < self.maps {
            return None;
        }
        let terms = self.polynomial(apart, &mut 0)?;
        if !terms.keys().flatten().all(|var| self.is_around(Atom::Var(*var))) {
            return None;
        }
        let is_constant = terms.keys().all(Vec::is_empty);
        let constant = terms.values().copied().next().unwrap_or(0);
        let most = match (is_constant, self.known(apart).map(|known| known.means)) {
            (true, _) if constant <= GREATEST => None,
            (false, Some(Meaning::Difference(stop, _))) => {
                Some(self.at_most(condition, stop, &mut 0)?)
            }
            _ => return None,
        };
        Some((condition, kind, Length { terms, most }))
    }

    fn is_around(&self, atom: Atom) -> bool {
        self.known(atom).is_none_or(|known| known.maps < self.maps)
    }

    /// What a number is not greater than if a condition holds, from around the map.
    fn at_most(&self, condition: Atom, number: Atom, steps: &mut u32) -> Option<Atom> {
        *steps += 1;
        if *steps > MOST_STEPS {
            return None;
        }
        match self.known(condition)?.means {
            Meaning::AtMost(least, most) if least == number && self.is_around(most) => Some(most),
            Meaning::Both(one, other) => {
                self.at_most(one, number, steps).or_else(|| self.at_most(other, number, steps))
            }
            _ => None,
        }
    }

    /// What an integer is, in variables from around the map, and those of it that are no sums or products.
    fn polynomial(&self, atom: Atom, steps: &mut u32) -> Option<Polynomial> {
        *steps += 1;
        if *steps > MOST_STEPS {
            return None;
        }
        let var = match atom {
            Atom::Scalar(Scalar::I64(value)) => return Some(simple(Vec::new(), value)),
            Atom::Scalar(_) => return None,
            Atom::Var(var) => var,
        };
        let means = match self.bound.get(&var) {
            Some(known) if known.maps == self.maps => known.means,
            Some(_) | None => Meaning::Other,
        };
        let terms = match means {
            Meaning::Sum(left, right) => {
                added(self.polynomial(left, steps)?, self.polynomial(right, steps)?, 1)
            }
            Meaning::Difference(left, right) => {
                added(self.polynomial(left, steps)?, self.polynomial(right, steps)?, -1)
            }
            Meaning::Product(left, right) => {
                let (left, right) = (self.polynomial(left, steps)?, self.polynomial(right, steps)?);
                let mut product = Polynomial::new();
                for (vars, factor) in &left {
                    for (others, other) in &right {
                        let mut vars = [&vars[..], others].concat();
                        vars.sort_unstable();
                        let term = simple(vars, factor.wrapping_mul(*other));
                        product = added(product, term, 1);
                    }
                }
                product
            }
            Meaning::Checked(..)
            | Meaning::AtLeastZero(_)
            | Meaning::Both(..)
            | Meaning::AtMost(..)
            | Meaning::Other => simple(vec![var], 1),
        };
        (terms.len() <= MOST_TERMS).then_some(terms)
    }
}

/// A length that is the same for all elements.
struct Length {
    terms: Polynomial,
    /// What no slice is longer than whose bounds are in range; nothing of constants. Where it would be longer, or less
    /// than nothing, its check says so, and not that there is no memory for it.
    most: Option<Atom>,
}

impl Length {
    fn in_code(&self, code: &mut Code<'_>) -> Atom {
        let mut sum = None;
        for (vars, &factor) in &self.terms {
            let mut vars = vars.iter().map(|var| Atom::Var(*var));
            let first = match (factor, vars.next()) {
                (_, None) => integer(factor),
                (1, Some(var)) => var,
                (_, Some(var)) => code.scalar(ScalarOp::Mul, &[var, integer(factor)], I64),
            };
            let term = vars.fold(first, |all, var| code.scalar(ScalarOp::Mul, &[all, var], I64));
            sum = Some(match sum {
                None => term,
                Some(sum) => code.scalar(ScalarOp::Add, &[sum, term], I64),
            });
        }
        match (sum.unwrap_or(integer(0)), self.most) {
            (Atom::Scalar(Scalar::I64(value)), _) => integer(value.max(0)),
            (sum, most) => {
                let length = code.scalar(ScalarOp::Max, &[sum, integer(0)], I64);
                match most {
                    Some(most) => code.scalar(ScalarOp::Min, &[length, most], I64),
                    None => length,
                }
            }
        }
    }
}

/// One term; none, if it is 0.
fn simple(vars: Vec<Var>, factor: i64) -> Polynomial {
    if factor == 0 { Polynomial::new() } else { Polynomial::from([(vars, factor)]) }
}

/// The sum of a polynomial and a multiple of another one.
fn added(mut left: Polynomial, right: Polynomial, times: i64) -> Polynomial {
    for (vars, factor) in right {
        let sum = left.remove(&vars).unwrap_or(0).wrapping_add(factor.wrapping_mul(times));
        left.extend(simple(vars, sum));
    }
    left
}

fn meaning(operation: &Operation) -> Meaning {
    match operation {
        Operation::Scalar(ScalarOp::Add, of) => Meaning::Sum(of[0], of[1]),
        Operation::Scalar(ScalarOp::Sub, of) => Meaning::Difference(of[0], of[1]),
        Operation::Scalar(ScalarOp::Mul, of) => Meaning::Product(of[0], of[1]),
        Operation::Scalar(ScalarOp::Max, of) if of[1] == integer(0) => Meaning::AtLeastZero(of[0]),
        Operation::Scalar(ScalarOp::Max, of) if of[0] == integer(0) => Meaning::AtLeastZero(of[1]),
        Operation::Scalar(ScalarOp::And, of) => Meaning::Both(of[0], of[1]),
        Operation::Scalar(ScalarOp::Le, of) => Meaning::AtMost(of[0], of[1]),
        Operation::Scalar(ScalarOp::Ge, of) => Meaning::AtMost(of[1], of[0]),
        Operation::Assert { condition, kind, values } if values.len() == 1 => {
            Meaning::Checked(*condition, *kind, values[0])
        }
        _ => Meaning::Other,
    }
}
