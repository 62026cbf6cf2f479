//! Expressions that are scalars.

use super::Writer;
use super::types::Type;

/// Functions of a float.
const FLOATS: [&str; 33] = [
    "sqrt",
    "abs",
    "floor",
    "sin",
    "exp",
    "signum",
    "ceil",
    "round",
    "trunc",
    "rsqrt",
    "cbrt",
    "exp2",
    "expm1",
    "log",
    "log2",
    "log10",
    "log1p",
    "cos",
    "tan",
    "asin",
    "acos",
    "atan",
    "sinh",
    "cosh",
    "tanh",
    "asinh",
    "acosh",
    "atanh",
    "erf",
    "hypot 1.5",
    "pow 2.0",
    "atan2 0.5",
    "fma 2.0 0.5",
];

/// Functions of an integer.
const INTS: [&str; 7] =
    ["abs", "signum", "popcount", "clz", "ctz", "complement", "bitcastI64 <| f64"];

impl Writer<'_> {
    fn ints(&mut self) -> String {
        self.expression(&Type::Int.array())
    }

    /// An `i64`.
    pub(super) fn int(&mut self) -> String {
        const FOLDS: [&str; 11] = [
            "sum",
            "length",
            "maximum",
            "minimum",
            "product",
            "argmax",
            "argmin",
            "first",
            "last",
            "fold1 min",
            "fold max 0",
        ];
        let (int, ints) = (Type::Int, Type::Int.array());
        match self.choices.below(20) {
            0..=2 => {
                let operator = self.choices.of(&["+", "-", "*", ".&.", ".|.", ".^."]);
                format!("({} {operator} {})", self.expression(&int), self.expression(&int))
            }
            3 => {
                let operator = self.choices.of(&["//", "%"]);
                let right = match self.choices.below(3) {
                    0 => "2".to_owned(),
                    1 => "3".to_owned(),
                    _ => self.expression(&int),
                };
                format!("({} {operator} {right})", self.expression(&int))
            }
            4 => {
                let function = self.choices.of(&["min", "max", "gcd", "quot", "rem"]);
                let right = match function {
                    "quot" | "rem" => "3".to_owned(),
                    _ => self.expression(&int),
                };
                format!("({function} {} {right})", self.expression(&int))
            }
            5..=7 => format!("({} {})", self.choices.of(&FOLDS), self.ints()),
            8 => {
                let ty = [ints.array(), Type::Float.array()][self.choices.below(2)].clone();
                let array = self.expression(&ty);
                format!("({} {array})", if ty == ints.array() { "size" } else { "length" })
            }
            9 => {
                let start = self.expression(&int);
                format!(
                    "(fold {} {start} {})",
                    self.choices.of(&["(+)", "max", "(*)"]),
                    self.ints()
                )
            }
            10 => format!("(count {})", self.expression(&Type::Bool.array())),
            11 => {
                let (name, array) = (self.fresh("z"), self.ints());
                format!("(let {name} = {array} in dot {name} (reverse {name}))")
            }
            12 => {
                let name = self.fresh("x");
                let holds = self.element(&[(&name, &int)], |it| it.expression(&Type::Bool));
                format!("(indexWhere (\\{name} -> {holds}) {})", self.ints())
            }
            13 => format!("(searchSorted (sort {}) {})", self.ints(), self.expression(&int)),
            14 => {
                let ty = [Type::Float, Type::Bool][self.choices.below(2)].clone();
                format!("(i64 {})", self.expression(&ty))
            }
            15 => {
                // An associative operator that does not commute: affine maps.
                let name = self.fresh("p");
                let pairs = self.expression(&Type::pair(&int, &int).array());
                format!(
                    "(fold (\\{name} q{name} -> ({name}.0 * q{name}.0, {name}.1 * q{name}.0 + \
                     q{name}.1)) (1, 0) {pairs}).1"
                )
            }
            16 => {
                let function = self.choices.of(&INTS);
                format!("({function} {})", self.expression(&int))
            }
            17 => {
                // Other widths: what does not fit wraps around.
                let width = self.choices.of(&["i8", "u8", "i16", "u16", "i32", "u32", "u64"]);
                let operator = self.choices.of(&["+", "*", "-"]);
                format!(
                    "(i64 ({width} {} {operator} {width} {}))",
                    self.expression(&int),
                    self.expression(&int)
                )
            }
            18 => self.measure(),
            _ => {
                let name = self.fresh("w");
                let start = self.expression(&int);
                format!(
                    "(loop {name} = {start} while {name} < 20 && {name} > -9 do abs {name} * 2 + 1)"
                )
            }
        }
    }

    /// What needs only the length of a row that may be an error.
    fn measure(&mut self) -> String {
        let (name, rows) = (self.fresh("z"), self.expression(&Type::Int.array().array()));
        let at = self.choices.of(&["0", "1", "length {name} // 2", "length {name} - 1"]);
        let row = format!("{name}[{}]", at.replace("{name}", name.as_str()));
        let row = match self.choices.below(5) {
            0 => row,
            1 => format!("iterate 1 (\\s -> s) {row}"),
            2 => format!("loop s = {row} for i < 2 do reverse s"),
            3 => format!("if {} then {row} else [1, 2]", self.expression(&Type::Bool)),
            _ => format!("loop s = {row} while s[1] > 0 do s + -3"),
        };
        let length = self.choices.of(&[
            "length r{name}",
            "sum { 1 : x in r{name} }",
            "(shape [r{name}, r{name}]).1",
            "length (transpose [r{name}, reverse r{name}])",
        ]);
        let length = length.replace("{name}", &name);
        format!("(let {name} = {rows}; r{name} = {row} in {length})")
    }

    /// An `f64`: mostly what sums are exact of.
    pub(super) fn float(&mut self) -> String {
        let (float, floats) = (Type::Float, Type::Float.array());
        match self.choices.below(9) {
            7 => {
                let operator = self.choices.of(&["+", "-", "*", "/"]);
                let (left, right) = (self.expression(&float), self.expression(&float));
                format!("(f64 (f32 {left} {operator} f32 {right}))")
            }
            8 => {
                let fold = self.choices.of(&["sum", "maximum", "minimum", "mean", "product"]);
                format!("(f64 ({fold} (f32 {})))", self.expression(&floats))
            }
            0 | 1 => {
                let operator = self.choices.of(&["+", "-", "*", "/"]);
                format!("({} {operator} {})", self.expression(&float), self.expression(&float))
            }
            2 => {
                let fold = self.choices.of(&["sum", "maximum", "minimum", "mean", "first"]);
                format!("({fold} {})", self.expression(&floats))
            }
            3 => format!("(f64 {})", self.expression(&Type::Int)),
            4 => {
                format!("({} {})", self.choices.of(&FLOATS), self.expression(&float))
            }
            5 => {
                let function = self.choices.of(&["min", "max", "clip (-1.0)"]);
                format!("({function} {} {})", self.expression(&float), self.expression(&float))
            }
            _ => {
                let operator = self.choices.of(&["min", "max", "(+)"]);
                let start = self.expression(&float);
                format!("(fold {operator} {start} {})", self.expression(&floats))
            }
        }
    }

    /// A `bool`.
    pub(super) fn bool(&mut self) -> String {
        let (int, float) = (Type::Int, Type::Float);
        match self.choices.below(7) {
            0 | 1 => {
                let operator = self.choices.of(&["<", ">", "==", "!=", "<=", ">="]);
                format!("({} {operator} {})", self.expression(&int), self.expression(&int))
            }
            2 => {
                let operator = self.choices.of(&["<", ">", "=="]);
                format!("({} {operator} {})", self.expression(&float), self.expression(&float))
            }
            3 => {
                let operator = self.choices.of(&["&&", "||"]);
                let (left, right) = (self.expression(&Type::Bool), self.expression(&Type::Bool));
                format!("({left} {operator} {right})")
            }
            4 => {
                let fold = self.choices.of(&["any", "all"]);
                format!("({fold} {})", self.expression(&Type::Bool.array()))
            }
            5 => {
                let ty = [int.array(), int.array().array()][self.choices.below(2)].clone();
                format!("(null {})", self.expression(&ty))
            }
            _ => format!("(not {})", self.expression(&Type::Bool)),
        }
    }
}
