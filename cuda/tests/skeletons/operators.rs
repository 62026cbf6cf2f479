//! Associative operators as text of a plan and as functions, and the tree in which they combine.

use weft_ir::{Column, Scalar, ScalarType};

use crate::{column, noise};

/// A tuple of components.
pub(crate) type Tuple = Vec<Scalar>;

/// An operator on tuples.
pub(crate) struct Operator {
    pub(crate) types: &'static [ScalarType],
    /// What stands behind `by`: the left registers are r10, r11, …, the right ones r20, r21, …
    body: &'static str,
    pub(crate) apply: fn(&Tuple, &Tuple) -> Tuple,
    /// A start value.
    pub(crate) start: fn() -> Tuple,
    element: fn(u64) -> Tuple,
}

/// Sums that depend on the bracketing, compositions that depend on the order, and tuples that are
/// too wide to be staged at once.
pub(crate) const OPERATORS: [Operator; 5] = [
    Operator {
        types: &[ScalarType::F64],
        body: "r30: f64 = add r10 r20\nyield r30",
        apply: |a, b| match (a[0], b[0]) {
            (Scalar::F64(a), Scalar::F64(b)) => vec![Scalar::F64(a + b)],
            other => panic!("{other:?}"),
        },
        start: || vec![Scalar::F64(0.1)],
        element: |bits| vec![Scalar::F64((bits % 1009) as f64 / 7.0 - 50.0)],
    },
    // x -> a x + b, composed.
    Operator {
        types: &[ScalarType::I32, ScalarType::I32],
        body: "r30: i32 = mul r10 r20\nr31: i32 = mul r11 r20\nr32: i32 = add r31 r21\n\
               yield r30 r32",
        apply: |a, b| match (a[0], a[1], b[0], b[1]) {
            (Scalar::I32(a0), Scalar::I32(a1), Scalar::I32(b0), Scalar::I32(b1)) => vec![
                Scalar::I32(a0.wrapping_mul(b0)),
                Scalar::I32(a1.wrapping_mul(b0).wrapping_add(b1)),
            ],
            other => panic!("{other:?}"),
        },
        start: || vec![Scalar::I32(3), Scalar::I32(7)],
        element: |bits| vec![Scalar::I32(bits as i32 | 1), Scalar::I32((bits >> 32) as i32)],
    },
    // Sums that begin anew where the flag is set.
    Operator {
        types: &[ScalarType::Bool, ScalarType::F32],
        body: "r30: bool = or r10 r20\nr31: f32 = add r11 r21\nr32: f32 = select r20 r21 r31\n\
               yield r30 r32",
        apply: |a, b| match (a[0], a[1], b[0], b[1]) {
            (Scalar::Bool(f), Scalar::F32(x), Scalar::Bool(g), Scalar::F32(y)) => {
                vec![Scalar::Bool(f | g), Scalar::F32(if g { y } else { x + y })]
            }
            other => panic!("{other:?}"),
        },
        start: || vec![Scalar::Bool(false), Scalar::F32(0.3)],
        element: |bits| vec![Scalar::Bool(bits % 50 == 0), Scalar::F32((bits % 1009) as f32 / 7.0)],
    },
    Operator {
        types: &[ScalarType::U8],
        body: "r30: u8 = min r10 r20\nyield r30",
        apply: |a, b| match (a[0], b[0]) {
            (Scalar::U8(a), Scalar::U8(b)) => vec![Scalar::U8(a.min(b))],
            other => panic!("{other:?}"),
        },
        start: || vec![Scalar::U8(250)],
        element: |bits| vec![Scalar::U8((bits % 251) as u8)],
    },
    // Products of 2 x 2 matrices.
    Operator {
        types: &[ScalarType::I64; 4],
        body: "r30: i64 = mul r10 r20\nr31: i64 = mul r11 r22\nr32: i64 = add r30 r31\n\
               r33: i64 = mul r10 r21\nr34: i64 = mul r11 r23\nr35: i64 = add r33 r34\n\
               r36: i64 = mul r12 r20\nr37: i64 = mul r13 r22\nr38: i64 = add r36 r37\n\
               r39: i64 = mul r12 r21\nr40: i64 = mul r13 r23\nr41: i64 = add r39 r40\n\
               yield r32 r35 r38 r41",
        apply: |a, b| {
            let number = |scalar: Scalar| match scalar {
                Scalar::I64(value) => value,
                other => panic!("{other:?}"),
            };
            let (a, b): (Vec<i64>, Vec<i64>) =
                (a.iter().copied().map(number).collect(), b.iter().copied().map(number).collect());
            let entry = |row: usize, column: usize| {
                let first = a[2 * row].wrapping_mul(b[column]);
                Scalar::I64(first.wrapping_add(a[2 * row + 1].wrapping_mul(b[2 + column])))
            };
            vec![entry(0, 0), entry(0, 1), entry(1, 0), entry(1, 1)]
        },
        start: || [1, 2, 3, 5].map(Scalar::I64).to_vec(),
        element: |bits| {
            let part = |at: u32| Scalar::I64((bits >> (8 * at)) as i64 & 255);
            vec![part(0), part(1), part(2), part(3)]
        },
    },
];

impl Operator {
    /// `by (r10: …) (r20: …)` with the body, and `from` with these indices and the start
    /// value, if asked for.
    pub(crate) fn text(&self, start: Option<&str>) -> String {
        let side = |first: usize| -> String {
            let registers = self.types.iter().enumerate();
            let all: Vec<String> =
                registers.map(|(at, ty)| format!("r{}: {ty}", first + at)).collect();
            all.join(", ")
        };
        let mut text = format!("  by ({}) ({})\n", side(10), side(20));
        for line in self.body.lines() {
            text.push_str(&format!("    {line}\n"));
        }
        if let Some(indices) = start {
            let values = (self.start)().into_iter().map(|scalar| match scalar {
                Scalar::F64(value) => format!("{value:?}f64"),
                Scalar::F32(value) => format!("{value:?}f32"),
                Scalar::I32(value) => format!("{value}i32"),
                Scalar::I64(value) => format!("{value}i64"),
                Scalar::U8(value) => format!("{value}u8"),
                Scalar::Bool(value) => value.to_string(),
                other => panic!("{other:?}"),
            });
            let values: Vec<String> = values.collect();
            text.push_str(&format!("  from ({indices})\n    yield {}\n", values.join(" ")));
        }
        text
    }

    /// Elements.
    pub(crate) fn elements(&self, length: usize) -> Vec<Tuple> {
        noise(length).map(self.element).collect()
    }

    /// A column per component.
    pub(crate) fn columns(&self, elements: &[Tuple]) -> Vec<Column> {
        let components = self.types.iter().enumerate();
        components.map(|(at, ty)| column(*ty, elements.iter().map(|element| element[at]))).collect()
    }

    /// For each component what a format makes of its number and type, one after the other.
    pub(crate) fn each(&self, format: impl Fn(usize, ScalarType) -> String) -> String {
        self.types.iter().enumerate().map(|(at, ty)| format(at, *ty)).collect()
    }

    /// As [`Operator::each`], separated.
    pub(crate) fn list(&self, by: &str, format: impl Fn(usize, ScalarType) -> String) -> String {
        let all: Vec<String> =
            self.types.iter().enumerate().map(|(at, ty)| format(at, *ty)).collect();
        all.join(by)
    }
}

/// The fold of the interpreter: blocks of 64 from left to right, then blocks of their results.
pub(crate) fn tree(values: &[Tuple], operator: &dyn Fn(&Tuple, &Tuple) -> Tuple) -> Option<Tuple> {
    let mut level = values.to_vec();
    while level.len() > 1 {
        level = level
            .chunks(64)
            .map(|block| block[1..].iter().fold(block[0].clone(), |a, b| operator(&a, b)))
            .collect();
    }
    level.pop()
}

/// The scan of the interpreter.
pub(crate) fn tree_scan(values: &mut [Tuple], operator: &dyn Fn(&Tuple, &Tuple) -> Tuple) {
    for block in values.chunks_mut(64) {
        for at in 1..block.len() {
            block[at] = operator(&block[at - 1], &block[at]);
        }
    }
    if values.len() <= 64 {
        return;
    }
    let mut carries: Vec<Tuple> =
        values.chunks(64).map(|block| block[block.len() - 1].clone()).collect();
    tree_scan(&mut carries, operator);
    for (block, carry) in values.chunks_mut(64).skip(1).zip(carries) {
        for value in block {
            *value = operator(&carry, value);
        }
    }
}
