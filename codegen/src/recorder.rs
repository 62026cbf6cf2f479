//! The text of a transcendental function, recorded from its definition.
//!
//! The definitions of [`weft_ir::math::transcendental`] are generic over [`Real`]. Here they run on
//! numbers that are names: an operation appends a line and yields the name of its result. The
//! traits have methods without `self` ([`Real::constant`]), so that the lines are kept per thread
//! while a function is recorded; nothing is left when it is done.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::ops::{Add, BitAnd, BitOr, BitXor, Div, Mul, Neg, Not, Sub};

use weft_ir::Scalar;
use weft_ir::math::transcendental::real::{Real, Word};

use crate::literal::literal;

/// A recorded function.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Recorded {
    /// Its statements, indented, the last of which returns.
    pub(crate) body: String,
    /// The tables that it looks up, by name.
    pub(crate) tables: BTreeMap<String, String>,
}

/// What is recorded of a function with a slow path that is rarely taken ([`Real::branch`]).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Part {
    /// All of it.
    #[default]
    Whole,
    /// Without the slow path.
    Usual,
    /// Whether the slow path is taken: a bool.
    Rare,
}

/// Records a function of one operand, called `x`.
pub(crate) fn record_unary<const DOUBLE: bool>(
    function: fn(Traced<DOUBLE>) -> Traced<DOUBLE>,
    part: Part,
) -> Recorded {
    record(part, || function(Traced(parameter("x"))).0)
}

/// Records a function of two operands, called `x` and `y`.
pub(crate) fn record_binary<const DOUBLE: bool>(
    function: fn(Traced<DOUBLE>, Traced<DOUBLE>) -> Traced<DOUBLE>,
) -> Recorded {
    record(Part::Whole, || {
        let x = parameter("x");
        function(Traced(x), Traced(parameter("y"))).0
    })
}

fn record(part: Part, function: impl FnOnce() -> u32) -> Recorded {
    TAPE.with_borrow_mut(|tape| *tape = Tape { part, ..Tape::default() });
    let result = function();
    let tape = TAPE.with_borrow_mut(std::mem::take);
    let result = if part == Part::Rare { tape.rare.unwrap_or(result) } else { result };
    let mut needed = vec![false; tape.names.len()];
    needed[result as usize] = true;
    let mut lines = Vec::new();
    write(&tape, &tape.lines, &mut needed, 1, &mut lines);
    lines.reverse();
    lines.push(format!("  return {};", tape.names[result as usize]));
    Recorded { body: lines.join("\n") + "\n", tables: tape.tables }
}

/// Writes the lines that are needed, from the last to the first.
fn write(tape: &Tape, lines: &[Line], needed: &mut [bool], indent: usize, out: &mut Vec<String>) {
    let margin = "  ".repeat(indent);
    for line in lines.iter().rev() {
        match line {
            Line::Define { name, ty, text, operands } => {
                if needed[*name as usize] {
                    operands.iter().for_each(|&operand| needed[operand as usize] = true);
                    out.push(format!(
                        "{margin}const {ty} {} = {text};",
                        tape.names[*name as usize]
                    ));
                }
            }
            Line::Branch { mask, results, sides } => {
                if results.iter().all(|(name, _)| !needed[*name as usize]) {
                    continue;
                }
                needed[*mask as usize] = true;
                out.push(format!("{margin}}}"));
                for (at, (side, values)) in sides.iter().enumerate().rev() {
                    for ((name, _), value) in results.iter().zip(values) {
                        needed[*value as usize] = true;
                        let (name, value) =
                            (&tape.names[*name as usize], &tape.names[*value as usize]);
                        out.push(format!("{margin}  {name} = {value};"));
                    }
                    write(tape, side, needed, indent + 1, out);
                    out.push(match at {
                        0 => format!("{margin}if ({}) {{", tape.names[*mask as usize]),
                        _ => format!("{margin}}} else {{"),
                    });
                }
                for (name, ty) in results {
                    out.push(format!("{margin}{ty} {};", tape.names[*name as usize]));
                }
            }
        }
    }
}

/// What has been recorded.
#[derive(Default)]
struct Tape {
    /// How each value is written.
    names: Vec<String>,
    lines: Vec<Line>,
    /// The values by what defines them, so that nothing is computed twice.
    known: BTreeMap<String, u32>,
    tables: BTreeMap<String, String>,
    /// How many names have been made.
    count: usize,
    part: Part,
    /// Whether the slow path is taken.
    rare: Option<u32>,
}

enum Line {
    Define { name: u32, ty: &'static str, text: String, operands: Vec<u32> },
    Branch { mask: u32, results: Vec<(u32, &'static str)>, sides: [(Vec<Line>, Vec<u32>); 2] },
}

thread_local! {
    static TAPE: RefCell<Tape> = RefCell::default();
}

impl Tape {
    fn named(&mut self, name: String) -> u32 {
        self.names.push(name);
        self.names.len() as u32 - 1
    }

    fn fresh(&mut self) -> u32 {
        self.count += 1;
        let name = format!("t{}", self.count);
        self.named(name)
    }
}

fn parameter(name: &str) -> u32 {
    TAPE.with_borrow_mut(|tape| tape.named(name.to_owned()))
}

/// A constant, written where it is used.
fn constant(text: String) -> u32 {
    TAPE.with_borrow_mut(|tape| match tape.known.get(&text) {
        Some(&known) => known,
        None => {
            let value = tape.named(text.clone());
            tape.known.insert(text, value);
            value
        }
    })
}

/// A value of a type, computed by the text in which `$0`, `$1` … stand for the operands.
fn define(ty: &'static str, text: &str, operands: &[u32]) -> u32 {
    TAPE.with_borrow_mut(|tape| {
        let mut written = text.to_owned();
        for (at, &operand) in operands.iter().enumerate() {
            written = written.replace(&format!("${at}"), &tape.names[operand as usize]);
        }
        if let Some(&known) = tape.known.get(&written) {
            return known;
        }
        let name = tape.fresh();
        tape.known.insert(written.clone(), name);
        let operands = operands.to_vec();
        tape.lines.push(Line::Define { name, ty, text: written, operands });
        name
    })
}

/// The lines of a side of a branch, and its results.
fn side(body: impl FnOnce() -> Vec<u32>) -> (Vec<Line>, Vec<u32>) {
    let (outer, known) =
        TAPE.with_borrow_mut(|tape| (std::mem::take(&mut tape.lines), tape.known.clone()));
    let results = body();
    TAPE.with_borrow_mut(|tape| {
        // What a side has defined is not there behind it.
        tape.known = known;
        (std::mem::replace(&mut tape.lines, outer), results)
    })
}

/// A float that is a name.
#[derive(Clone, Copy)]
pub(crate) struct Traced<const DOUBLE: bool>(u32);

/// A word that is a name; unsigned.
#[derive(Clone, Copy)]
pub(crate) struct TracedWord<const DOUBLE: bool>(u32);

/// A mask that is a name.
#[derive(Clone, Copy)]
pub(crate) struct TracedMask(u32);

const fn float(double: bool) -> &'static str {
    if double { "f64" } else { "f32" }
}

const fn word(double: bool) -> &'static str {
    if double { "u64" } else { "u32" }
}

const fn signed(double: bool) -> &'static str {
    if double { "i64" } else { "i32" }
}

macro_rules! infix {
    ($($trait:ident $method:ident $type:ident $ty:ident $symbol:literal;)*) => {$(
        impl<const DOUBLE: bool> $trait for $type<DOUBLE> {
            type Output = Self;

            fn $method(self, other: Self) -> Self {
                $type(define($ty(DOUBLE), concat!("$0 ", $symbol, " $1"), &[self.0, other.0]))
            }
        }
    )*};
}
infix! {
    Add add Traced float "+";
    Sub sub Traced float "-";
    Mul mul Traced float "*";
    Div div Traced float "/";
    Add add TracedWord word "+";
    Sub sub TracedWord word "-";
    Mul mul TracedWord word "*";
    BitAnd bitand TracedWord word "&";
    BitOr bitor TracedWord word "|";
    BitXor bitxor TracedWord word "^";
}

impl<const DOUBLE: bool> Neg for Traced<DOUBLE> {
    type Output = Self;

    fn neg(self) -> Self {
        Traced(define(float(DOUBLE), "-$0", &[self.0]))
    }
}

impl<const DOUBLE: bool> Not for TracedWord<DOUBLE> {
    type Output = Self;

    fn not(self) -> Self {
        TracedWord(define(word(DOUBLE), "~$0", &[self.0]))
    }
}

impl BitAnd for TracedMask {
    type Output = Self;

    fn bitand(self, other: Self) -> Self {
        TracedMask(define("bool", "$0 & $1", &[self.0, other.0]))
    }
}

impl BitOr for TracedMask {
    type Output = Self;

    fn bitor(self, other: Self) -> Self {
        TracedMask(define("bool", "$0 | $1", &[self.0, other.0]))
    }
}

impl Not for TracedMask {
    type Output = Self;

    fn not(self) -> Self {
        TracedMask(define("bool", "!$0", &[self.0]))
    }
}

impl<const DOUBLE: bool> Real for Traced<DOUBLE> {
    type Word = TracedWord<DOUBLE>;
    type Mask = TracedMask;

    const PRECISION: u32 = if DOUBLE { f64::MANTISSA_DIGITS } else { f32::MANTISSA_DIGITS };
    const BIAS: i64 = if DOUBLE { f64::MAX_EXP as i64 - 1 } else { f32::MAX_EXP as i64 - 1 };

    fn pick<T>(single: T, double: T) -> T {
        if DOUBLE { double } else { single }
    }

    fn constant(value: f64) -> Self {
        let scalar = if DOUBLE { Scalar::F64(value) } else { Scalar::F32(value as f32) };
        Traced(constant(literal(scalar)))
    }

    fn fma(self, factor: Self, addend: Self) -> Self {
        let text = Self::pick("fma_f32($0, $1, $2)", "fma_f64($0, $1, $2)");
        Traced(define(float(DOUBLE), text, &[self.0, factor.0, addend.0]))
    }

    fn sqrt(self) -> Self {
        Traced(define(float(DOUBLE), Self::pick("sqrt_f32($0)", "sqrt_f64($0)"), &[self.0]))
    }

    fn trunc(self) -> Self {
        Traced(define(float(DOUBLE), Self::pick("trunc_f32($0)", "trunc_f64($0)"), &[self.0]))
    }

    fn less(self, other: Self) -> TracedMask {
        TracedMask(define("bool", "$0 < $1", &[self.0, other.0]))
    }

    fn equal(self, other: Self) -> TracedMask {
        TracedMask(define("bool", "$0 == $1", &[self.0, other.0]))
    }

    fn select(mask: TracedMask, then: Self, otherwise: Self) -> Self {
        Traced(define(float(DOUBLE), "$0 ? $1 : $2", &[mask.0, then.0, otherwise.0]))
    }

    fn branch(
        mask: TracedMask,
        then: impl FnOnce() -> (Self, Self, Self::Word),
        otherwise: impl FnOnce() -> (Self, Self, Self::Word),
    ) -> (Self, Self, Self::Word) {
        let usual = TAPE.with_borrow_mut(|tape| {
            tape.rare = Some(mask.0);
            tape.part != Part::Whole
        });
        if usual {
            return otherwise();
        }
        let then = side(|| {
            let (high, low, word) = then();
            vec![high.0, low.0, word.0]
        });
        let otherwise = side(|| {
            let (high, low, word) = otherwise();
            vec![high.0, low.0, word.0]
        });
        TAPE.with_borrow_mut(|tape| {
            let (high, low, last) = (tape.fresh(), tape.fresh(), tape.fresh());
            let results = vec![(high, float(DOUBLE)), (low, float(DOUBLE)), (last, word(DOUBLE))];
            tape.lines.push(Line::Branch { mask: mask.0, results, sides: [then, otherwise] });
            (Traced(high), Traced(low), TracedWord(last))
        })
    }

    fn bits(self) -> TracedWord<DOUBLE> {
        let text = Self::pick("raw_bits_f32($0)", "raw_bits_f64($0)");
        TracedWord(define(word(DOUBLE), text, &[self.0]))
    }

    fn from_bits(bits: TracedWord<DOUBLE>) -> Self {
        Traced(define(float(DOUBLE), Self::pick("number_f32($0)", "number_f64($0)"), &[bits.0]))
    }

    fn from_word(word: TracedWord<DOUBLE>) -> Self {
        // The definitions convert words below 2^51 only.
        Traced(define(float(DOUBLE), Self::pick("(f32)(i32)$0", "small_to_f64($0)"), &[word.0]))
    }
}

impl<const DOUBLE: bool> Word for TracedWord<DOUBLE> {
    type Mask = TracedMask;

    const BITS: u32 = if DOUBLE { 64 } else { 32 };

    fn constant(value: i64) -> Self {
        let scalar = if DOUBLE { Scalar::U64(value as u64) } else { Scalar::U32(value as u32) };
        TracedWord(constant(literal(scalar)))
    }

    fn shift_left(self, count: u32) -> Self {
        TracedWord(define(word(DOUBLE), &format!("$0 << {count}"), &[self.0]))
    }

    fn shift_right(self, count: u32) -> Self {
        let text = format!("({})(({})$0 >> {count})", word(DOUBLE), signed(DOUBLE));
        TracedWord(define(word(DOUBLE), &text, &[self.0]))
    }

    fn shift_right_unsigned(self, count: u32) -> Self {
        TracedWord(define(word(DOUBLE), &format!("$0 >> {count}"), &[self.0]))
    }

    fn shift_left_by(self, count: Self) -> Self {
        TracedWord(define(word(DOUBLE), "$0 << $1", &[self.0, count.0]))
    }

    fn shift_right_unsigned_by(self, count: Self) -> Self {
        TracedWord(define(word(DOUBLE), "$0 >> $1", &[self.0, count.0]))
    }

    fn multiply_high(self, other: Self) -> Self {
        let text = format!("multiply_high_{}($0, $1)", word(DOUBLE));
        TracedWord(define(word(DOUBLE), &text, &[self.0, other.0]))
    }

    fn less_unsigned(self, other: Self) -> TracedMask {
        TracedMask(define("bool", "$0 < $1", &[self.0, other.0]))
    }

    fn equal(self, other: Self) -> TracedMask {
        TracedMask(define("bool", "$0 == $1", &[self.0, other.0]))
    }

    fn select(mask: TracedMask, then: Self, otherwise: Self) -> Self {
        TracedWord(define(word(DOUBLE), "$0 ? $1 : $2", &[mask.0, then.0, otherwise.0]))
    }

    fn look_up(table: &'static [u64], index: Self) -> Self {
        let entries: Vec<String> = table
            .iter()
            .map(|&entry| {
                literal(if DOUBLE { Scalar::U64(entry) } else { Scalar::U32(entry as u32) })
            })
            .collect();
        // Tables are told apart by their length and second entry: no two have both in common.
        let name = format!("table_{}_{:x}", table.len(), table.get(1).copied().unwrap_or(0));
        let definition = format!(
            "CONSTANT_TABLE {} {name}[{}] = {{{}}};\n",
            word(DOUBLE),
            table.len(),
            entries.join(", ")
        );
        TAPE.with_borrow_mut(|tape| tape.tables.insert(name.clone(), definition));
        TracedWord(define(word(DOUBLE), &format!("{name}[$0]"), &[index.0]))
    }
}
