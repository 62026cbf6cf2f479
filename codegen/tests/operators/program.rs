//! Compiles a C program that applies operators to many operands, and compares what it yields.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use weft_codegen::{Dialect, Expression, Functions, operator};
use weft_ir::{Scalar, ScalarOp, ScalarType, math};

/// An operator on operands of these types.
#[derive(Clone, Debug)]
pub(crate) struct Case {
    pub(crate) op: ScalarOp,
    pub(crate) operands: Vec<ScalarType>,
    pub(crate) result: ScalarType,
}

/// Applies each operator to all combinations of edge values and to at least `count` random operands.
pub(crate) fn check(cases: &[Case], flags: &[&str], count: usize) {
    check_with(operator, cases, flags, count);
}

/// The expression of an operator.
pub(crate) type Operator = fn(ScalarOp, &[String], &[ScalarType], &mut Functions) -> Expression;

/// The same with expressions of another kind.
pub(crate) fn check_with(operator: Operator, cases: &[Case], flags: &[&str], count: usize) {
    let folder = Folder::new();
    let inputs: Vec<Vec<Vec<Scalar>>> = cases.iter().map(|case| operands(case, count)).collect();
    let mut bytes = Vec::new();
    for rows in &inputs {
        bytes.extend((rows.len() as u64).to_le_bytes());
        for row in rows {
            row.iter().for_each(|scalar| append(&mut bytes, *scalar));
        }
    }
    let path = |name: &str| folder.0.join(name);
    std::fs::write(path("input"), bytes).expect("the folder is writable");
    std::fs::write(path("program.c"), source(operator, cases)).expect("the folder is writable");
    let compiled = Command::new("cc")
        .args(["-std=gnu11", "-march=native", "-fno-math-errno"])
        .args(flags)
        .args(["-fno-trapping-math", "-ffp-contract=off", "-Wall", "-Wextra", "-Werror"])
        .args(["-Wno-float-equal", "-o"])
        .args([path("program"), path("program.c")])
        .arg("-lm")
        .output()
        .expect("a C compiler");
    assert!(compiled.status.success(), "{}", String::from_utf8_lossy(&compiled.stderr));
    let ran = Command::new(path("program")).arg(path("input")).output().expect("it runs");
    assert!(ran.status.success(), "{ran:?}");
    let mut output = &ran.stdout[..];
    for (case, rows) in cases.iter().zip(&inputs) {
        for row in rows {
            let found = take(&mut output, case.result);
            let failed = take(&mut output, ScalarType::U8) == Scalar::U8(1);
            match math::eval(case.op, row) {
                Ok(expected) => assert!(
                    !failed && found.same_bits(expected),
                    "{:?} {row:?}: {found:?}, not {expected:?}",
                    case.op
                ),
                Err(trap) => assert!(failed, "{:?} {row:?} does not fail: {trap:?}", case.op),
            }
        }
    }
    assert!(output.is_empty());
}

/// A program that reads the operands from a file.
fn source(operator: Operator, cases: &[Case]) -> String {
    let mut functions = Functions::new();
    let mut loops = String::new();
    let mut calls = String::new();
    for (number, case) in cases.iter().enumerate() {
        let type_name = |ty: ScalarType| Dialect::C.type_name(ty);
        let operands: Vec<String> =
            case.operands.iter().zip(["a", "b", "c"]).map(|(_, name)| name.to_owned()).collect();
        let expression = operator(case.op, &operands, &case.operands, &mut functions);
        let result = type_name(case.result);
        let (mut columns, mut loads, mut arguments) = (String::new(), String::new(), String::new());
        for (at, (ty, name)) in case.operands.iter().zip(["a", "b", "c"]).enumerate() {
            let ty = type_name(*ty);
            write!(columns, "const {ty} *restrict {name}s, ").expect("a string");
            write!(loads, "const {ty} {name} = {name}s[i]; ").expect("a string");
            write!(arguments, "columns[{at}], ").expect("a string");
        }
        let fails = expression.fails.map_or("0".to_owned(), |(condition, _)| condition);
        writeln!(
            loops,
            "static void case{number}({columns}u64 n, {result} *restrict results, u8 *restrict fails) {{\n  \
             for (u64 i = 0; i < n; i++) {{ {loads}results[i] = {}; fails[i] = {fails}; }}\n}}",
            expression.text
        )
        .expect("a string");
        let sizes: Vec<String> = case.operands.iter().map(|ty| ty.bytes().to_string()).collect();
        writeln!(
            calls,
            "  {{ const int sizes[] = {{{}}}; const u64 n = load(sizes, {}); void *results = malloc(8 * n + 8);\n    \
             u8 *fails = malloc(n + 1);\n    case{number}({arguments}n, results, fails);\n    \
             store(results, {}, fails, n); }}",
            sizes.join(", "),
            sizes.len(),
            case.result.bytes()
        )
        .expect("a string");
    }
    let includes = "#include <stdio.h>\n#include <stdlib.h>\n#include <string.h>\n";
    let prelude = Dialect::C.prelude();
    let definitions = functions.definitions();
    format!(
        "{includes}{prelude}{definitions}{loops}{FRAME}int main(int argc, char **argv) {{\n  input = fopen(argv[argc - 1], \"rb\");\n{calls}  return 0;\n}}\n"
    )
}

const FRAME: &str = r#"
static FILE *input;
static void *columns[3];

static u64 load(const int *sizes, int count) {
  u64 n;
  if (fread(&n, 8, 1, input) != 1) exit(1);
  for (int k = 0; k < count; k++) columns[k] = malloc(n * 8 + 8);
  for (u64 i = 0; i < n; i++)
    for (int k = 0; k < count; k++)
      if (fread((char *)columns[k] + i * sizes[k], sizes[k], 1, input) != 1) exit(1);
  return n;
}

static void store(const char *results, int size, const u8 *fails, u64 n) {
  for (u64 i = 0; i < n; i++) {
    fwrite(results + i * size, size, 1, stdout);
    fwrite(fails + i, 1, 1, stdout);
  }
}
"#;

/// Rows of operands.
fn operands(case: &Case, count: usize) -> Vec<Vec<Scalar>> {
    let columns: Vec<Vec<Scalar>> = case.operands.iter().map(|&ty| edges(ty)).collect();
    let mut rows = vec![Vec::new()];
    for column in &columns {
        rows = rows
            .iter()
            .flat_map(|row: &Vec<Scalar>| {
                column.iter().map(|&scalar| [&row[..], &[scalar]].concat())
            })
            .collect();
        // All triples of edges are too many.
        if rows.len() > 4000 {
            rows = rows.into_iter().step_by(7).collect();
        }
    }
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    rows.extend((0..count).map(|at| {
        case.operands.iter().map(|&ty| random_scalar(ty, &mut state, at)).collect::<Vec<Scalar>>()
    }));
    rows
}

fn next(state: &mut u64) -> u64 {
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    *state
}

/// Any bits, or floats of moderate size.
fn random_scalar(ty: ScalarType, state: &mut u64, at: usize) -> Scalar {
    let bits = next(state);
    let unit = (bits >> 11) as f64 / (1_u64 << 53) as f64;
    let moderate = (unit - 0.5) * [2.0, 20.0, 400.0, 3e6][at / 2 % 4];
    match (ty, at % 2) {
        (ScalarType::F32, 1) => Scalar::F32(moderate as f32),
        (ScalarType::F64, 1) => Scalar::F64(moderate),
        (_, 0) => of_bits(ty, bits),
        (_, _) => of_bits(ty, bits >> (bits & 63)),
    }
}

fn of_bits(ty: ScalarType, bits: u64) -> Scalar {
    match ty {
        ScalarType::I8 => Scalar::I8(bits as i8),
        ScalarType::I16 => Scalar::I16(bits as i16),
        ScalarType::I32 => Scalar::I32(bits as i32),
        ScalarType::I64 => Scalar::I64(bits as i64),
        ScalarType::U8 => Scalar::U8(bits as u8),
        ScalarType::U16 => Scalar::U16(bits as u16),
        ScalarType::U32 => Scalar::U32(bits as u32),
        ScalarType::U64 => Scalar::U64(bits),
        ScalarType::F32 => Scalar::F32(f32::from_bits(bits as u32)),
        ScalarType::F64 => Scalar::F64(f64::from_bits(bits)),
        ScalarType::Bool => Scalar::Bool(bits & 1 == 1),
        ScalarType::Char => Scalar::Char(bits as u8),
    }
}

/// Values where something changes.
fn edges(ty: ScalarType) -> Vec<Scalar> {
    let width = 8 * ty.bytes() as u32;
    if ty == ScalarType::Bool {
        return vec![Scalar::Bool(false), Scalar::Bool(true)];
    }
    if !ty.is_float() {
        let high = 1_u64 << (width - 1);
        let small = [0, 1, 2, 3, 5, 7, 8, 31, 32, 63, 64, 100];
        let near_high = [high.wrapping_sub(1), high, high.wrapping_add(1)];
        let negative = (1..6_u64).map(|value| 0_u64.wrapping_sub(value));
        let all = small.into_iter().chain(near_high).chain(negative);
        return all.map(|bits| of_bits(ty, bits)).collect();
    }
    let mut values = vec![0.0, 0.5, 1.0, 1.5, 2.0, 2.5, 3.0, 0.78, 1.57, 88.8, 709.8];
    values.extend([127.5, 128.0, 255.9, 32768.0, 65536.0, 2147483648.0, 4294967296.0, 65537.0]);
    values.extend([9.007199254740993e15, 9.223372036854775e18, 1.8446744073709552e19, 1e30]);
    values.extend([f64::from(f32::MIN_POSITIVE), f64::from(f32::MAX), f64::from(f32::EPSILON)]);
    values.extend([1e-40, 1e-45, 0.1, 0.3, f64::INFINITY, f64::NAN]);
    if ty == ScalarType::F64 {
        values.extend([f64::MIN_POSITIVE, f64::MAX, 5e-324, 1e-310, 1e300, f64::EPSILON]);
    }
    let signed = values.into_iter().flat_map(|value| [value, -value]);
    match ty {
        ScalarType::F32 => signed.map(|value| Scalar::F32(value as f32)).collect(),
        _ => signed.map(Scalar::F64).collect(),
    }
}

fn append(bytes: &mut Vec<u8>, scalar: Scalar) {
    match scalar {
        Scalar::I8(value) => bytes.extend(value.to_le_bytes()),
        Scalar::I16(value) => bytes.extend(value.to_le_bytes()),
        Scalar::I32(value) => bytes.extend(value.to_le_bytes()),
        Scalar::I64(value) => bytes.extend(value.to_le_bytes()),
        Scalar::U8(value) | Scalar::Char(value) => bytes.push(value),
        Scalar::U16(value) => bytes.extend(value.to_le_bytes()),
        Scalar::U32(value) => bytes.extend(value.to_le_bytes()),
        Scalar::U64(value) => bytes.extend(value.to_le_bytes()),
        Scalar::F32(value) => bytes.extend(value.to_le_bytes()),
        Scalar::F64(value) => bytes.extend(value.to_le_bytes()),
        Scalar::Bool(value) => bytes.push(u8::from(value)),
    }
}

fn take(bytes: &mut &[u8], ty: ScalarType) -> Scalar {
    let (front, rest) = bytes.split_at(ty.bytes());
    *bytes = rest;
    let mut wide = [0; 8];
    wide[..front.len()].copy_from_slice(front);
    of_bits(ty, u64::from_le_bytes(wide))
}

/// A folder that goes with the test.
struct Folder(PathBuf);

impl Folder {
    fn new() -> Folder {
        let thread = format!("{:?}", std::thread::current().id());
        let number: String = thread.chars().filter(char::is_ascii_digit).collect();
        let name = format!("operators-{}-{number}", std::process::id());
        let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
        std::fs::create_dir_all(&path).expect("the folder is writable");
        Folder(path)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        // What is left behind is only in the way.
        let _ = std::fs::remove_dir_all(&self.0);
    }
}
