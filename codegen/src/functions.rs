//! The transcendental functions that some text calls.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

use weft_ir::math::transcendental as functions;
use weft_ir::{ScalarOp, ScalarType};

use crate::recorder::{Part, Recorded, Traced, record_binary, record_unary};

/// Which functions are called, to be defined before the text that calls them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Functions {
    called: BTreeSet<(ScalarOp, ScalarType, Part)>,
}

impl Functions {
    /// None are.
    pub fn new() -> Functions {
        Functions::default()
    }

    /// The name of the function of an operator on `f32` or `f64`, which is called from now on.
    pub fn name(&mut self, op: ScalarOp, ty: ScalarType) -> String {
        self.called.insert((op, ty, Part::Whole));
        name(op, ty, Part::Whole)
    }

    /// The names of a function without a slow path, and of one that tells whether its operand takes
    /// it; nothing if the operator has none. Both are called from now on.
    pub(crate) fn usual_and_rare(
        &mut self,
        op: ScalarOp,
        ty: ScalarType,
    ) -> Option<(String, String)> {
        if !ty.is_float() || !matches!(op, ScalarOp::Sin | ScalarOp::Cos | ScalarOp::Tan) {
            return None;
        }
        self.called.extend([(op, ty, Part::Usual), (op, ty, Part::Rare)]);
        Some((name(op, ty, Part::Usual), name(op, ty, Part::Rare)))
    }

    /// Those that another text calls are called too.
    pub fn merge(&mut self, others: &Functions) {
        self.called.extend(&others.called);
    }

    /// Their definitions, in an order that does not depend on the order of the calls.
    ///
    /// # Panics
    /// If an operator is not a transcendental function, or a type not a float.
    pub fn definitions(&self) -> String {
        let mut tables = BTreeMap::new();
        let mut text = String::new();
        for &(op, ty, part) in &self.called {
            let Recorded { body, tables: more } = match ty {
                ScalarType::F32 => recorded::<false>(op, part),
                ScalarType::F64 => recorded::<true>(op, part),
                other => panic!("{op:?} is no function on {other}"),
            };
            tables.extend(more);
            let parameters = match op {
                ScalarOp::Pow | ScalarOp::Atan2 | ScalarOp::Hypot => format!("{ty} x, {ty} y"),
                _ => format!("{ty} x"),
            };
            let name = name(op, ty, part);
            let result = if part == Part::Rare { "bool" } else { ty.name() };
            let written = write!(text, "FUNCTION {result} {name}({parameters}) {{\n{body}}}\n\n");
            written.expect("a string takes all");
        }
        tables.into_values().collect::<String>() + &text
    }
}

fn name(op: ScalarOp, ty: ScalarType, part: Part) -> String {
    let part = match part {
        Part::Whole => "",
        Part::Usual => "usual_",
        Part::Rare => "is_rare_",
    };
    format!("{part}{}_{ty}", format!("{op:?}").to_lowercase())
}

fn recorded<const DOUBLE: bool>(op: ScalarOp, part: Part) -> Recorded {
    let unary: fn(Traced<DOUBLE>) -> Traced<DOUBLE> = match op {
        ScalarOp::Pow => return record_binary(functions::pow::<Traced<DOUBLE>>),
        ScalarOp::Atan2 => return record_binary(functions::atan2::<Traced<DOUBLE>>),
        ScalarOp::Hypot => return record_binary(functions::hypot::<Traced<DOUBLE>>),
        ScalarOp::Rsqrt => functions::rsqrt,
        ScalarOp::Cbrt => functions::cbrt,
        ScalarOp::Exp => functions::exp,
        ScalarOp::Exp2 => functions::exp2,
        ScalarOp::Expm1 => functions::expm1,
        ScalarOp::Log => functions::log,
        ScalarOp::Log2 => functions::log2,
        ScalarOp::Log10 => functions::log10,
        ScalarOp::Log1p => functions::log1p,
        ScalarOp::Sin => functions::sin,
        ScalarOp::Cos => functions::cos,
        ScalarOp::Tan => functions::tan,
        ScalarOp::Asin => functions::asin,
        ScalarOp::Acos => functions::acos,
        ScalarOp::Atan => functions::atan,
        ScalarOp::Sinh => functions::sinh,
        ScalarOp::Cosh => functions::cosh,
        ScalarOp::Tanh => functions::tanh,
        ScalarOp::Asinh => functions::asinh,
        ScalarOp::Acosh => functions::acosh,
        ScalarOp::Atanh => functions::atanh,
        ScalarOp::Erf => functions::erf,
        other => panic!("{other:?} is no transcendental function"),
    };
    record_unary(unary, part)
}
