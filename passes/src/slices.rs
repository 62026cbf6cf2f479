//! Reads slices where they meet, in place of storing them.
//!
//! The rows of `{ dot (take n x) (drop k x) : k in ks }` are slices of different lengths, as far as can be seen; only
//! that they are equal lets them meet. So that is checked first, and then there is one row of indices, at which
//! all slices are read. Otherwise each but the first would be an array of its own, of all rows.
//!
//! ```
//! use weft_ir::nested::parse;
//! use weft_passes::slices::read_slices;
//!
//! let before = parse("\
//! params x0: []f64, x1: []i64
//! x2: []f64 = map x1
//!   \\x3: i64
//!     x4: i64 = sub 9i64 x3
//!     x5: []i64 = iota x3
//!     x6: []f64 = map x5
//!       \\x7: i64
//!         x8: f64 = index x0 x7
//!         yield x8
//!     x9: []i64 = iota x4
//!     x10: []f64 = map x9
//!       \\x11: i64
//!         x12: i64 = add x11 x3
//!         x13: f64 = index x0 x12
//!         yield x13
//!     x14: []f64 = map x6 x10
//!       \\x15: f64, x16: f64
//!         x17: f64 = mul x15 x16
//!         yield x17
//!     x18: f64 = fold from 0.0f64 over x14
//!       \\x19: f64, x20: f64
//!         x21: f64 = add x19 x20
//!         yield x21
//!     yield x18
//! yield x2
//! ").unwrap();
//! let (after, changed) = read_slices(before);
//! assert!(changed);
//! let lambda = after.to_string().split_once("x14: ").unwrap().1.to_owned();
//! assert!(lambda.starts_with("\
//! []f64 = map x24
//!       \\x25: i64
//!         x26: f64 = index x0 x25
//!         x27: i64 = add x25 x3
//!         x28: f64 = index x0 x27
//!         x29: f64 = mul x26 x28
//!         yield x29
//! "), "{after}");
//! assert!(after.to_string().contains("\
//!     x22: bool = eq x3 x4
//!     x23: i64 = assert lockstep x22 values x3
//!     x24: []i64 = iota x23
//! "), "{after}");
//! ```
//!
//! And of a slice of each row of which elements are read, as the first of `drop i xs`, these are computed where they are
//! read, if that costs little, and the index is checked against the slice's length. Otherwise the slices of all rows would be
//! in memory, for a few elements of each.
//!
//! ```
//! # use weft_ir::nested::parse;
//! # use weft_passes::slices::read_slices;
//! let before = parse("\
//! params x0: []f64, x1: []i64
//! x2: []f64 = map x1
//!   \\x3: i64
//!     x4: []i64 = iota x3
//!     x5: []f64 = map x4
//!       \\x6: i64
//!         x7: i64 = add x6 2i64
//!         x8: f64 = index x0 x7
//!         yield x8
//!     x9: f64 = index x5 1i64
//!     yield x9
//! yield x2
//! ").unwrap();
//! let after = read_slices(before).0.to_string();
//! assert!(after.contains("\
//!     x10: i64 = add 1i64 2i64
//!     x11: f64 = index x0 x10
//!     x12: bool = ge 1i64 0i64
//!     x13: bool = lt 1i64 x3
//!     x14: bool = and x12 x13
//!     x9: f64 = assert index x14 values x11
//! "), "{after}");
//! ```
//!
//! Rows of one length are left to fusion, which knows what a kernel reads of them; but for elements that are read once for each row.
//!
//! The slices stay for others that want them; what drops dead code is to follow.

use std::collections::{HashMap, HashSet};

use weft_ir::nested::{Atom, Body, Lambda, Operation, Program, Statement, Type, Var};
use weft_ir::{FaultKind, Scalar, ScalarOp};

use crate::code::{BOOL, Code, I64};
use crate::operator_cost::operator_cost;

/// An element of a slice costs no more beside a load: its index is computed, and checked.
const MOST_COST: u32 = 8;

/// The program with slices read where several of them meet, and whether there are such.
pub fn read_slices(mut program: Program) -> (Program, bool) {
    let mut reader = Reader {
        lengths: HashMap::new(),
        slices: HashMap::new(),
        varying: HashSet::new(),
        bodies: 0,
        variables: program.variables,
        changed: false,
    };
    reader.body(&mut program.body, false);
    program.variables = reader.variables;
    (program, reader.changed)
}

struct Reader {
    /// Of arrays that are 0, 1, … their lengths.
    lengths: HashMap<Var, Atom>,
    /// The slices that there is one of for each element of a map.
    slices: HashMap<Var, Slice>,
    /// What is bound inside of maps.
    varying: HashSet<Var>,
    /// How many bodies have been gone through.
    bodies: usize,
    variables: u32,
    changed: bool,
}

/// What yields an element of a slice at an index.
#[derive(Clone)]
struct Slice {
    length: Atom,
    element: Lambda,
    /// Which of its results.
    result: usize,
    /// The number of the body that binds it.
    of_body: usize,
}

impl Reader {
    fn body(&mut self, body: &mut Body, in_map: bool) {
        self.bodies += 1;
        let of_body = self.bodies;
        for mut statement in std::mem::take(&mut body.statements) {
            let inside = in_map || matches!(statement.operation, Operation::Map(..));
            match &statement.operation {
                Operation::Map(lambda, _) => self.vary(&lambda.params),
                Operation::While { state, .. } if in_map => self.vary(state),
                Operation::For { index, state, .. } if in_map => {
                    self.varying.insert(*index);
                    self.vary(state);
                }
                _ => {}
            }
            statement.operation.for_each_body_mut(&mut |body| self.body(body, inside));
            if let Operation::Iota(length) = statement.operation {
                self.lengths.insert(statement.results[0].0, length);
            }
            if in_map {
                self.vary(&statement.results);
                self.join(&mut statement, of_body, &mut body.statements);
                self.read(&mut statement, of_body, &mut body.statements);
            }
            if let Operation::Map(lambda, arrays) = &statement.operation
                && in_map
                && let [Atom::Var(array)] = arrays[..]
                && let Some(&length) = self.lengths.get(&array)
                && is_cheap(&lambda.body)
            {
                for (result, (var, _)) in statement.results.iter().enumerate() {
                    let slice = Slice { length, element: lambda.clone(), result, of_body };
                    self.slices.insert(*var, slice);
                }
            }
            body.statements.push(statement);
        }
    }

    fn vary(&mut self, vars: &[(Var, Type)]) {
        self.varying.extend(vars.iter().map(|(var, _)| *var));
    }

    /// Computes the element of a slice where it is read.
    fn read(&mut self, statement: &mut Statement, of_body: usize, before: &mut Vec<Statement>) {
        let Operation::Index(Atom::Var(array), indices) = &statement.operation else { return };
        let Some(slice) = self.slices.get(array) else { return };
        let is_varying = |atom: Atom| match atom {
            Atom::Var(var) => self.varying.contains(&var),
            Atom::Scalar(_) => false,
        };
        // Of rows of one length others may know more.
        if slice.of_body != of_body && !is_varying(slice.length) {
            return;
        }
        let (&[at], [(_, Type { rank: 0, .. })]) = (&indices[..], &statement.results[..]) else {
            return;
        };
        let mut code = Code::new(&mut self.variables, statement.span);
        let element = code.apply(&slice.element, &[at])[slice.result];
        let zero = Atom::Scalar(Scalar::I64(0));
        let is_from_start = code.scalar(ScalarOp::Ge, &[at, zero], BOOL);
        let is_to_end = code.scalar(ScalarOp::Lt, &[at, slice.length], BOOL);
        let condition = code.scalar(ScalarOp::And, &[is_from_start, is_to_end], BOOL);
        before.append(&mut code.statements);
        // The element may not depend on its index.
        let (kind, values) = (FaultKind::IndexOutOfRange, vec![element]);
        statement.operation = Operation::Assert { condition, kind, values };
        self.changed = true;
    }

    /// Makes a map over slices of different lengths one over their indices, after their lengths have been compared.
    fn join(&mut self, statement: &mut Statement, of_body: usize, before: &mut Vec<Statement>) {
        let Operation::Map(lambda, arrays) = &statement.operation else { return };
        let slice = |array: &Atom| match array {
            Atom::Var(var) => {
                self.slices.get(var).filter(|slice| slice.of_body == of_body).cloned()
            }
            Atom::Scalar(_) => None,
        };
        let Some(met) = arrays.iter().map(slice).collect::<Option<Vec<Slice>>>() else { return };
        let Some(first) = met.first().map(|slice| slice.length) else { return };
        if met.iter().all(|slice| slice.length == first) {
            return;
        }
        let mut code = Code::new(&mut self.variables, statement.span);
        let mut length = first;
        for slice in &met {
            if slice.length == first {
                continue;
            }
            let condition = code.scalar(ScalarOp::Eq, &[length, slice.length], BOOL);
            let (kind, values) = (FaultKind::LengthMismatch, vec![length]);
            length = code.one(Operation::Assert { condition, kind, values }, I64);
        }
        let places = code.one(Operation::Iota(length), I64.array());
        let params = code.fresh(&[I64]);
        let at = [Atom::Var(params[0].0)];
        let body = code.inner(|code| {
            let elements: Vec<Atom> =
                met.iter().map(|slice| code.apply(&slice.element, &at)[slice.result]).collect();
            code.apply(lambda, &elements)
        });
        before.append(&mut code.statements);
        if let Atom::Var(places) = places {
            self.lengths.insert(places, length);
        }
        statement.operation = Operation::Map(Lambda { params, body }, vec![places]);
        self.changed = true;
    }
}

/// Whether code reads a scalar at an index that costs little, and does little besides.
fn is_cheap(body: &Body) -> bool {
    let mut sum = 0_u32;
    for statement in &body.statements {
        if statement.results.iter().any(|(_, ty)| ty.rank > 0) {
            return false;
        }
        sum = sum.saturating_add(match &statement.operation {
            Operation::Scalar(op, _) => operator_cost(*op),
            Operation::Index(..) => 1,
            Operation::Assert { .. } | Operation::Length(_) => 0,
            _ => return false,
        });
    }
    sum <= MOST_COST
}
