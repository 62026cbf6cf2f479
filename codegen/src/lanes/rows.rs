//! Folds along rows: a function yields what whole rows come to.
//!
//! Note [Folds along rows]. The tree of a fold is that of the interpreter: blocks of 64 elements from left
//! to right, then blocks of what these come to. A row of at most 64 elements is one chain; a function of
//! its own goes from one such row to the next, with nothing that takes registers or branches from it. Where
//! elements have to come one by one, as they stand anywhere, up to four blocks of a longer row run side by
//! side, so that one does not wait for its own last sum. Of other rows
//! 1024 values at a time go to a buffer in the fastest cache, whose sixteen blocks are then folded
//! side by side; sums of floats exchange their rows and columns in registers (`prelude/folds.h`). What the
//! blocks come to climbs the tree one after the other. Where any bracketing gives the same bits the
//! blocks do not matter. Reading in the order of memory is what counts: blocks side by side that are
//! read from memory itself take up to three times as long. Where the elements of an array are summed as they
//! are, it is asked for in order, some blocks ahead, and blocks are read side by side where they stand, which saves
//! the buffer. Short rows of simple values are eight lanes of a vector, where so many follow (`Note [Rows side by side]` in
//! `sequential/small/kernel/lanes.rs`). The inputs of the function are the start values of its results, if they meet these at once.

mod long;
mod text;

use text::Text;
use weft_ir::code::{Code, Instruction, Operand, Operation, Operator};
use weft_ir::math::{Work, can_fail, work};
use weft_ir::{Scalar, ScalarOp, ScalarType};

use super::print::{drop_unused, parameters};
use super::segment::Scope;
use super::{Builder, LaneFunction, Lanes, Value};
use crate::dialect::type_name;

/// Whether a function can fold rows of what some code yields: it has no loops, and no functions with
/// slow paths.
pub fn can_fold_rows(code: &Code) -> bool {
    code.walk().all(|instruction| match &instruction.operation {
        Operation::While { .. } => false,
        Operation::Scalar(op, _) => !matches!(op, ScalarOp::Sin | ScalarOp::Cos | ScalarOp::Tan),
        Operation::If { .. }
        | Operation::Random(..)
        | Operation::Read(..)
        | Operation::Check(..) => true,
    })
}

/// How many rows are lanes.
pub const SIDE_BY_SIDE: usize = 8;

/// The most instructions at a point of rows that are lanes: they are written out for each.
const MOST_INSTRUCTIONS: usize = 16;

/// Whether code is a few instructions that can be done in vectors, and fails nowhere: rows of that can be lanes
/// (Note [Rows side by side]).
pub(crate) fn is_simple(code: &Code) -> bool {
    let simple = |instruction: &Instruction| match &instruction.operation {
        Operation::Scalar(op, _) => {
            work(*op) <= Work::Quotient && !can_fail(*op, instruction.results[0].1)
        }
        Operation::Read(..) => true,
        Operation::Random(..) | Operation::Check(..) => false,
        Operation::If { .. } | Operation::While { .. } => false,
    };
    code.instructions.len() <= MOST_INSTRUCTIONS && code.instructions.iter().all(simple)
}

/// How many sums an index is looked for in.
const MOST_TERMS: u32 = 4;

/// Elements that are combined by an operator of their own.
pub(super) struct Tree {
    /// The numbers of the results, and their types.
    pub(super) components: Vec<(usize, ScalarType)>,
    pub(super) kind: Kind,
}

pub(super) enum Kind {
    /// The sum of floats.
    Sum,
    /// The sum of products that are rounded once ([`Operator::is_sum_of_products`]).
    Products,
    /// Any bracketing gives the same bits; with an element that changes no other.
    Exact(Scalar),
    /// Anything else.
    Any,
}

/// The function of rows; the code has been written to the builder's scope.
pub(super) fn rows(mut builder: Builder<'_>) -> LaneFunction {
    let given = builder.given;
    let values: Vec<Value> = given.results.iter().map(|at| builder.value(at)).collect();
    for (at, value) in values.iter().enumerate() {
        builder.line(None, &format!("value_{at} = {};", value.text), &[value]);
    }
    builder.close_segment();
    let mut nodes = builder.scopes.pop().expect("the function is a scope").nodes;
    while drop_unused(&mut nodes) {}
    let mut text = Text::default();
    let mut first = 0;
    for operator in given.folds {
        for (tree, combine) in builder.trees(operator, first) {
            let name = format!("KERNEL_combine_{}", text.trees.len());
            text.out.push_str(&combine.replace("KERNEL_combine", &name));
            text.climb(&tree);
            text.trees.push(tree);
        }
        first += operator.left.len();
    }
    assert_eq!(first, values.len(), "all results are combined");
    text.types = values.iter().map(|value| type_name(value.ty)).collect();
    text.ragged = given.folds_ragged_rows();
    text.outer = given.indices.len() - 1;
    text.one_by_one = builder.one_by_one;
    text.side_by_side = given.folds_side_by_side();
    text.wanted = builder.streams(given.code);
    text.summed = builder.summed(&text);
    text.all_rows(&parameters(&builder), &nodes, &builder.first_index());
    LaneFunction { text: text.out, functions: builder.functions, sites: builder.sites }
}

impl Lanes<'_> {
    /// Whether it folds rows that have offsets, as the last dimension is ragged; these are then always given.
    pub fn folds_ragged_rows(&self) -> bool {
        self.rows && self.first_stored > 0 && self.first_stored + 1 == self.indices.len()
    }

    /// Whether it folds short rows as lanes of vectors (Note [Rows side by side]).
    pub fn folds_side_by_side(&self) -> bool {
        let simple =
            |operator: &Operator| is_simple(&operator.code) && !operator.is_sum_of_products();
        self.rows
            && self.indices.len() > 1
            && !self.folds_ragged_rows()
            && is_simple(self.code)
            && self.folds.iter().all(simple)
    }
}

impl Builder<'_> {
    /// The uniform index of a row along a dimension, and the first index along the last.
    pub(super) fn row_index(&self, at: usize) -> String {
        match at + 1 == self.given.indices.len() {
            true => "first_index".to_owned(),
            false => format!("index_{at}"),
        }
    }

    /// The index along the last dimension of the first element of a row.
    fn first_index(&self) -> String {
        let last = self.given.indices.len() - 1;
        if self.given.first_stored == last {
            // It is the position in the storage.
            return "start".to_owned();
        }
        format!("block->indices[{last}] + (block->advance ? 0 : number * block->steps)")
    }

    /// Whether code reads elements that do not stand one behind the other: vector instructions do not
    /// pay for these.
    pub(super) fn gathers(&self, code: &Code) -> bool {
        code.walk().any(|instruction| match &instruction.operation {
            Operation::Read(_, indices) => {
                let varies = |at: &Operand| self.value(at).varies;
                match indices.split_last() {
                    Some((last, outer)) => {
                        outer.iter().any(varies)
                            || varies(last) && !self.steps_along(code, last, MOST_TERMS)
                    }
                    None => false,
                }
            }
            Operation::Scalar(..)
            | Operation::Random(..)
            | Operation::Check(..)
            | Operation::If { .. }
            | Operation::While { .. } => false,
        })
    }

    /// The addresses, up to the last index, of what code reads one element behind the other.
    fn streams(&self, code: &Code) -> Vec<String> {
        let of = |instruction: &Instruction| {
            let Operation::Read(array, indices) = &instruction.operation else { return None };
            let (last, outer) = indices.split_last()?;
            if !self.is_last_index(last) || outer.iter().any(|at| self.value(at).varies) {
                return None;
            }
            let array = array.0;
            let term = |(dimension, index): (usize, &Operand)| {
                format!("{} * stride_{array}_{dimension} + ", self.value(index).text)
            };
            let terms: String = outer.iter().enumerate().map(term).collect();
            Some(format!("a{array} + {terms}"))
        };
        let mut streams: Vec<String> = code.instructions.iter().filter_map(of).collect();
        streams.sort();
        streams.dedup();
        streams
    }

    /// The address of the rows of an array if their sums are all that there is.
    fn summed(&self, text: &Text) -> Option<String> {
        let code = self.given.code;
        let ([instruction], [result]) = (&code.instructions[..], &code.results[..]) else {
            return None;
        };
        let ([stream], [tree]) = (&text.wanted[..], &text.trees[..]) else { return None };
        let read = *result == Operand::Register(instruction.results[0].0);
        let plain = read && matches!(tree.kind, Kind::Sum) && !text.one_by_one;
        plain.then(|| stream.clone())
    }

    /// Whether an index steps along the elements one by one: the last one, and that with the same for all of them
    /// added or taken away, which a part of an array has.
    fn steps_along(&self, code: &Code, index: &Operand, terms: u32) -> bool {
        if self.is_last_index(index) {
            return true;
        }
        let (Operand::Register(register), Some(terms)) = (index, terms.checked_sub(1)) else {
            return false;
        };
        let is_it = |instruction: &&Instruction| {
            instruction.results.first().is_some_and(|(result, _)| result == register)
        };
        match code.walk().find(is_it).map(|instruction| &instruction.operation) {
            Some(Operation::Scalar(op, operands)) => match (op, &operands[..]) {
                (ScalarOp::Add, [a, b]) => [(a, b), (b, a)]
                    .into_iter()
                    .any(|(a, b)| !self.value(b).varies && self.steps_along(code, a, terms)),
                (ScalarOp::Sub, [a, b]) => {
                    !self.value(b).varies && self.steps_along(code, a, terms)
                }
                _ => false,
            },
            _ => false,
        }
    }

    fn is_last_index(&self, operand: &Operand) -> bool {
        let last = self.given.indices.last();
        last.is_some_and(|&(register, _)| *operand == Operand::Register(register))
    }

    /// The trees of the results from a number on, each with the function of its operator.
    fn trees(&mut self, operator: &Operator, first: usize) -> Vec<(Tree, String)> {
        let types = || operator.left.iter().map(|&(_, ty)| ty);
        if operator.is_sum_of_products() {
            let tree = Tree { components: (first..).zip(types()).collect(), kind: Kind::Products };
            return vec![(tree, self.combine(operator))];
        }
        let singles: Option<Vec<_>> =
            (0..operator.left.len()).map(|at| single(operator, at)).collect();
        if let Some(singles) = singles {
            let of = |(at, (op, ty, kind)): (usize, (ScalarOp, ScalarType, Kind))| {
                let names = ["left", "right"].map(str::to_owned);
                let types = [ty, ty];
                let text = crate::operator::operator(op, &names, &types, &mut self.functions).text;
                let name = type_name(ty);
                let combine = format!(
                    "FUNCTION void KERNEL_combine({name} *restrict const left_0, const {name} right) {{\n  \
                     const {name} left = *left_0;\n  *left_0 = {text};\n}}\n"
                );
                (Tree { components: vec![(at, ty)], kind }, combine)
            };
            return (first..).zip(singles).map(of).collect();
        }
        let tree = Tree { components: (first..).zip(types()).collect(), kind: Kind::Any };
        vec![(tree, self.combine(operator))]
    }

    /// The function of an operator.
    fn combine(&mut self, operator: &Operator) -> String {
        self.scopes.push(Scope::default());
        let mut parameters = Vec::new();
        for (at, &(register, ty)) in operator.left.iter().enumerate() {
            parameters.push(format!("{} *restrict const left_{at}", type_name(ty)));
            let text = register.to_string();
            self.values.insert(register, Value { text, ty, varies: true });
        }
        for &(register, ty) in &operator.right {
            parameters.push(format!("const {} {register}", type_name(ty)));
            let text = register.to_string();
            self.values.insert(register, Value { text, ty, varies: true });
        }
        self.code(&operator.code);
        let results = operator.code.results.iter().map(|at| self.value(at));
        for (at, value) in results.collect::<Vec<Value>>().into_iter().enumerate() {
            self.line(None, &format!("*left_{at} = {};", value.text), &[&value]);
        }
        self.close_segment();
        let nodes = self.scopes.pop().expect("the scope pushed above").nodes;
        let mut text = Text::default();
        text.line(0, &format!("FUNCTION void KERNEL_combine({}) {{", parameters.join(", ")));
        for (at, &(register, ty)) in operator.left.iter().enumerate() {
            text.line(1, &format!("const {} {register} = *left_{at};", type_name(ty)));
        }
        text.scalars(1, &nodes);
        text.lines(1, &nodes);
        text.line(0, "}");
        text.out
    }
}

/// What changes no other element, for each component of an operator on integers or bools that is the same in any bracketing.
pub(crate) fn neutral(operator: &Operator) -> Option<Vec<Scalar>> {
    let component = |at| match single(operator, at)? {
        (_, ty, Kind::Exact(neutral)) if !ty.is_float() => Some(neutral),
        _ => None,
    };
    (0..operator.left.len()).map(component).collect()
}

/// The common operator that makes a component of its own two operands alone, their type, and how it may be bracketed.
fn single(operator: &Operator, at: usize) -> Option<(ScalarOp, ScalarType, Kind)> {
    let code = &operator.code;
    let [left, right] = [operator.left[at], operator.right[at]];
    let instruction = code
        .instructions
        .iter()
        .find(|instruction| code.results[at] == Operand::Register(instruction.results[0].0))?;
    let Operation::Scalar(op, operands) = &instruction.operation else { return None };
    let [left_, right_] = [left, right].map(|(register, _)| Operand::Register(register));
    let own = *operands == [left_, right_] || *operands == [right_, left_];
    let kind = kind(*op, left.1)?;
    own.then_some((*op, left.1, kind))
}

/// How an operator may be bracketed, if it is a common one.
fn kind(op: ScalarOp, ty: ScalarType) -> Option<Kind> {
    if ty.is_float() && op == ScalarOp::Add {
        return Some(Kind::Sum);
    }
    let number = |value: i64| {
        weft_ir::math::eval(ScalarOp::Cast(ty), &[Scalar::I64(value)]).expect("casts do not fail")
    };
    let all = || weft_ir::math::eval(ScalarOp::Complement, &[number(0)]).expect("it does not fail");
    let is_bool = ty == ScalarType::Bool;
    let neutral = match op {
        ScalarOp::Add if ty.is_int() => number(0),
        ScalarOp::Mul if ty.is_int() => number(1),
        ScalarOp::BitOr | ScalarOp::BitXor if ty.is_int() || is_bool => number(0),
        ScalarOp::Or if is_bool => number(0),
        ScalarOp::And | ScalarOp::BitAnd if is_bool => number(1),
        ScalarOp::BitAnd if ty.is_int() => all(),
        ScalarOp::Min => greatest(ty)?,
        ScalarOp::Max => least(ty)?,
        _ => return None,
    };
    Some(Kind::Exact(neutral))
}

fn greatest(ty: ScalarType) -> Option<Scalar> {
    Some(match ty {
        ScalarType::I8 => Scalar::I8(i8::MAX),
        ScalarType::I16 => Scalar::I16(i16::MAX),
        ScalarType::I32 => Scalar::I32(i32::MAX),
        ScalarType::I64 => Scalar::I64(i64::MAX),
        ScalarType::U8 => Scalar::U8(u8::MAX),
        ScalarType::U16 => Scalar::U16(u16::MAX),
        ScalarType::U32 => Scalar::U32(u32::MAX),
        ScalarType::U64 => Scalar::U64(u64::MAX),
        ScalarType::F32 => Scalar::F32(f32::INFINITY),
        ScalarType::F64 => Scalar::F64(f64::INFINITY),
        ScalarType::Bool => Scalar::Bool(true),
        ScalarType::Char => return None,
    })
}

fn least(ty: ScalarType) -> Option<Scalar> {
    Some(match ty {
        ScalarType::I8 => Scalar::I8(i8::MIN),
        ScalarType::I16 => Scalar::I16(i16::MIN),
        ScalarType::I32 => Scalar::I32(i32::MIN),
        ScalarType::I64 => Scalar::I64(i64::MIN),
        ScalarType::U8 => Scalar::U8(0),
        ScalarType::U16 => Scalar::U16(0),
        ScalarType::U32 => Scalar::U32(0),
        ScalarType::U64 => Scalar::U64(0),
        ScalarType::F32 => Scalar::F32(f32::NEG_INFINITY),
        ScalarType::F64 => Scalar::F64(f64::NEG_INFINITY),
        ScalarType::Bool => Scalar::Bool(false),
        ScalarType::Char => return None,
    })
}
