//! Writes out folds and rows of few elements for each element of a map, in the order of the fold.
//!
//! `{ sum { w[i] * x[j + i] : i in iota 3 } : j in js }` would fold rows of three; now it is a map. That matters
//! most where such folds nest, as in sums over windows, since each of them but the innermost reads
//! what the one within has stored. Rows that have few elements whatever runs ([`extents`]), such as points in space, are
//! scalars then, and an array of such rows as many arrays (`Note [Parts]` in `wanted.rs`).
//!
//! ```
//! use weft_ir::nested::parse;
//! use weft_passes::share::{Config, share};
//! use weft_passes::unroll::unroll;
//!
//! let before = parse("\
//! params x0: []f64, x1: []f64
//! x2: []i64 = iota 2i64
//! x3: []f64 = map x0
//!   \\x4: f64
//!     x5: []f64 = map x2
//!       \\x6: i64
//!         x7: f64 = index x1 x6
//!         x8: f64 = mul x4 x7
//!         yield x8
//!     x9: f64 = fold from 0.0f64 over x5
//!       \\x10: f64, x11: f64
//!         x12: f64 = add x10 x11
//!         yield x12
//!     yield x9
//! yield x3
//! ").unwrap();
//! let unrolled = unroll(&before, &[]).expect("there is such a fold");
//! let after = share(unrolled.program, &Config { hoist: true, sink: true });
//! assert_eq!(unrolled.folds.len(), 1);
//! assert_eq!(after.to_string(), "\
//! params x0: []f64, x1: []f64
//! x13: f64 = index x1 0i64
//! x15: f64 = index x1 1i64
//! x3: []f64 = map x0
//!   \\x4: f64
//!     x14: f64 = mul x4 x13
//!     x16: f64 = mul x4 x15
//!     x17: f64 = add x14 x16
//!     x18: f64 = add 0.0f64 x17
//!     yield x18
//! yield x3
//! ");
//! ```
//!
//! A fold is one block of the tree of numerics.md if it has at most 64 elements: from left to right, and then the
//! start value on the left. What cannot be seen to have so many elements stays. A map whose array something else
//! wants whole stays as well if its elements are dear: they would be computed twice.

use std::collections::HashMap;

use weft_ir::leaves::Axis;
use weft_ir::nested::{Atom, Operation, Program, Statement, Var};
use weft_ir::{Column, Span};

mod cost;
mod extents;
mod sound;
mod wanted;
mod write;

use extents::Known;
use sound::Sound;
use wanted::Wanted;
use write::Writer;

/// Folds and maps of more elements stay, and longer rows.
pub const MOST_ELEMENTS: usize = 8;

/// Arrays with fewer rows take no time, so that programs are not made for the length of these.
pub const FEW_ROWS: usize = 64;

/// What is written out for one fold may cost as much as so many loads. It is 5 by 5 products of what is read in two
/// places, about.
const MOST_COST: u32 = 256;

/// What is done with each of few columns may have so many statements, all together.
const MOST_STATEMENTS: usize = 64;

/// In more loops in each other, nothing is looked for.
const MOST_LOOPS: usize = 4;

/// An element that costs no more than so many loads may be computed for its scalar and for the array.
const CHEAP: u32 = 8;

/// A fold, or rows, that have been written out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WrittenOut {
    /// The expression.
    pub span: Span,
    /// How many elements it has, or each row.
    pub elements: usize,
}

/// A program with folds and rows of few elements written out.
#[derive(Clone, Debug, PartialEq)]
pub struct Unrolled {
    /// The program. Constants and common terms are those of each element: what shares and folds these, and drops what is
    /// not needed, is to follow.
    pub program: Program,
    /// The folds.
    pub folds: Vec<WrittenOut>,
    /// What yields or carries rows, and does so by their parts now.
    pub rows: Vec<WrittenOut>,
}

/// Writes out what has few elements; nothing if there is no such thing.
pub fn unroll(program: &Program, layouts: &[Vec<Axis>]) -> Option<Unrolled> {
    let known = Known::of(program, layouts);
    let sound = Sound::of(program, &known);
    let wanted = Wanted::of(program, &known, &sound);
    let mut writer = Writer {
        known: &known,
        sound: &sound,
        wanted: &wanted,
        parts: HashMap::new(),
        columns: HashMap::new(),
        made: HashMap::new(),
        names: HashMap::new(),
        variables: program.variables,
        folds: Vec::new(),
        rows: Vec::new(),
        has_changed: false,
    };
    let mut program = program.clone();
    writer.body(&mut program.body, false);
    program.variables = writer.variables;
    let Writer { folds, rows, .. } = writer;
    writer.has_changed.then_some(Unrolled { program, folds, rows })
}

/// What an array is made of.
enum Made {
    Iota,
    Literal(Vec<Atom>),
    Replicate(Atom),
    Constant(Column),
}

impl Made {
    fn note(statement: &Statement, made: &mut HashMap<Var, Made>) {
        let new = match &statement.operation {
            Operation::Iota(_) => Made::Iota,
            Operation::Literal(atoms) => Made::Literal(atoms.clone()),
            Operation::Replicate(_, value) => Made::Replicate(*value),
            Operation::Constant(column) => Made::Constant(column.clone()),
            _ => return,
        };
        made.insert(statement.results[0].0, new);
    }
}

#[cfg(test)]
mod tests;
