//! Code of which it is known whether it reads outside of arrays.

use std::collections::BTreeSet;
use std::io::Write as _;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use weft_emulator::Error;
use weft_ir::flat::Dimension;
use weft_ir::plan::{self, Step};
use weft_ir::{Array, Column, Value};

use super::stays_inside;
use crate::run::{Emulated, run_emulated};

/// Whether a kernel over `a0` points stays inside, with arrays `a1`, `a2` of so many and `a4` of `a3`.
fn is_inside(code: &str) -> bool {
    let body: String = code.lines().map(|line| format!("  {}\n", line.trim())).collect();
    let inputs = "input a1: [a0]i64\ninput a2: [a0]f32\ninput a4: [a3]f32\ninput a7: [5]f32\n";
    let steps =
        format!("launch \"map\" [a0] (r0)\n{body}  yield r9\n  store r9 to a9: [a0]f32\nend\n");
    of_first(&format!("{inputs}{steps}output a9: [a0]f32\n"))
}

/// Whether the first kernel of a plan stays inside.
fn of_first(text: &str) -> bool {
    let program = plan::parse(text).expect("a plan");
    plan::check(&program).expect("a plan");
    let mut given = BTreeSet::new();
    for axis in program.inputs.iter().flat_map(|leaf| &leaf.axes) {
        if let Dimension::Ragged { offsets, .. } = axis {
            given.insert(*offsets);
        }
    }
    let kernel = program.body.steps.iter().find_map(|step| match step {
        Step::Launch(kernel) => Some(kernel),
        _ => None,
    });
    stays_inside(kernel.expect("a kernel"), &program.types, &given)
}

#[test]
fn own_points_are_inside_and_others_are_not() {
    assert!(is_inside("r9: f32 = read a2 r0"));
    assert!(!is_inside("r9: f32 = read a4 r0"), "of another extent");
    assert!(!is_inside("r1: i64 = add r0 1i64\nr9: f32 = read a2 r1"));
    assert!(!is_inside("r1: i64 = sub r0 1i64\nr9: f32 = read a2 r1"));
    assert!(!is_inside("r1: i64 = read a1 r0\nr9: f32 = read a2 r1"), "what is in a buffer");
    assert!(is_inside("r9: f32 = read a7 4i64"));
    assert!(!is_inside("r9: f32 = read a7 5i64"));
    assert!(!is_inside("r9: f32 = read a7 -1i64"));
    assert!(is_inside("r9: f32 = read a2 0i64"), "there is a point");
    assert!(!is_inside("r9: f32 = read a2 1i64"));
    assert!(!is_inside("r9: f32 = read a4 0i64"));
}

#[test]
fn what_is_brought_inside_is() {
    let left = "r1: i64 = add r0 -1i64\nr2: i64 = max r1 0i64\nr9: f32 = read a2 r2";
    assert!(is_inside(left));
    let right = "r1: i64 = add r0 1i64\nr2: i64 = read a0\nr3: i64 = sub r2 1i64\nr4: i64 = min r1 r3\n\
                 r9: f32 = read a2 r4";
    assert!(is_inside(right));
    assert!(!is_inside(&right.replace("sub r2 1i64", "sub r2 0i64")));
    assert!(!is_inside(&right.replace("min", "max")));
    assert!(!is_inside(&left.replace("max", "min")));
    assert!(!is_inside(&left.replace("add r0 -1i64", "add r0 1i64")));
    let select = "r1: bool = lt r0 5i64\nr2: i64 = select r1 r0 0i64\nr9: f32 = read a2 r2";
    assert!(is_inside(select));
    assert!(!is_inside(&select.replace("r0 0i64", "r0 7i64")));
}

#[test]
fn what_is_checked_before_is_inside() {
    let checked = "r1: i64 = read a1 r0\nr2: bool = ge r1 0i64\nr3: i64 = read a3\nr4: bool = lt r1 r3\n\
                   r5: bool = and r2 r4\ncheck r5 index\nr9: f32 = read a4 r1";
    assert!(is_inside(checked));
    for (part, other) in [
        ("ge r1 0i64", "ge r1 -1i64"),
        ("lt r1 r3", "le r1 r3"),
        ("lt r1 r3", "lt r3 r1"),
        ("and r2 r4", "or r2 r4"),
        ("read a3", "read a0"),
        ("check r5", "check r2"),
        ("check r5", "check r4"),
    ] {
        assert!(!is_inside(&checked.replace(part, other)), "{other}");
    }
    let turned = checked.replace("ge r1 0i64", "le 0i64 r1").replace("lt r1 r3", "gt r3 r1");
    assert!(is_inside(&turned));
    let late = "r1: i64 = read a1 r0\nr2: bool = ge r1 0i64\nr3: i64 = read a3\nr4: bool = lt r1 r3\n\
                r5: bool = and r2 r4\nr9: f32 = read a4 r1\ncheck r5 index";
    assert!(!is_inside(late));
}

#[test]
fn what_may_wrap_is_not_inside() {
    let text = "r1: i64 = read a1 r0
                r2: bool = ge r1 0i64
                check r2 index
                r3: i64 = add r1 5i64
                r4: i64 = read a0
                r5: i64 = sub r4 1i64
                r6: i64 = min r3 r5
                r9: f32 = read a2 r6";
    assert!(!is_inside(text));
    assert!(is_inside(&text.replace("add r1 5i64", "add r1 0i64")));
    let below =
        text.replace("ge r1 0i64", "ge r1 0i64\nr7: bool = lt r1 99i64\nr8: bool = and r2 r7");
    assert!(is_inside(&below.replace("check r2", "check r8")));
    assert!(is_inside(&text.replace("add r1 5i64", "add r0 5i64")));
}

#[test]
fn rows_may_have_no_points() {
    let of = |at: &str| {
        of_first(&format!(
            "input a2: [a0][a1]f32\nlaunch \"sum\" [a0][a1] (r0 r1)\n  r2: f32 = read a2 r0 r1\n  yield r2\n  \
             reduce r2 as (r3: f32) to a9: [a0]f32\n  by (r4: f32) (r5: f32)\n    r6: f32 = add r4 r5\n    \
             yield r6\n  from (r7)\n    r8: f32 = read a2 {at}\n    yield r8\nend\noutput a9: [a0]f32\n"
        ))
    };
    assert!(!of("r7 0i64"));
    assert!(!of("0i64 r7"));
}

#[test]
fn branches_know_what_brought_to_them() {
    let guarded = "r1: i64 = read a1 r0
                   r2: bool = ge r1 0i64
                   r3: i64 = read a3
                   r4: bool = lt r1 r3
                   r5: bool = and r2 r4
                   r9: f32 = if r5
                     r6: f32 = read a4 r1
                     yield r6
                   else
                     yield 0.0f32";
    assert!(is_inside(guarded));
    let behind = guarded.replace("r9: f32 = if", "r8: f32 = if");
    assert!(!is_inside(&format!("{behind}\nr9: f32 = read a4 r1")), "no longer");
    let other = guarded.replace("yield r6", "yield 1.0f32").replace("r6: f32 = read a4 r1\n", "");
    assert!(is_inside(&other));
    let wrong = other.replace("yield 0.0f32", "r7: f32 = read a4 r1\nyield r7");
    assert!(!is_inside(&wrong), "not in the other one");
}

#[test]
fn of_loops_and_operators_nothing_is_known() {
    let looped = |checked: &str| {
        format!(
            "r9: f32, r10: i64 = while (r1: f32 = 0.0f32, r2: i64 = 0i64)
               r3: bool = lt r2 9i64
               yield r3
             do
               r4: i64 = read a3
               r11: bool = ge r2 0i64
               r5: bool = lt r2 r4
               r12: bool = and r11 r5
               {checked}
               r6: f32 = read a4 r2
               r7: f32 = add r1 r6
               r8: i64 = add r2 1i64
               yield r7 r8"
        )
    };
    assert!(is_inside(&looped("check r12 index")));
    assert!(!is_inside(&looped("r13: bool = not r12")));
    assert!(!is_inside(&looped("check r5 index")));
}

/// Numbers that look like chance.
struct Chance(u64);

impl Chance {
    fn below(&mut self, most: usize) -> usize {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % most
    }

    fn of<'a>(&mut self, all: &[&'a str]) -> &'a str {
        all[self.below(all.len())]
    }
}

/// A kernel that reads an element at an index, or asks first whether it is there.
fn by_chance(chance: &mut Chance) -> String {
    let mut code = "r1: i64 = read a1 r0\nr2: i64 = read a0\nr3: i64 = read a3\n".to_owned();
    let mut known: Vec<String> = (0..4).map(|at| format!("r{at}")).collect();
    for at in 10..10 + 2 + chance.below(5) {
        let numbers = ["-2i64", "-1i64", "0i64", "1i64", "2i64", "4i64", "2147483647i64"];
        let op = chance.of(&["add", "sub", "min", "max", "select r8"]);
        if op.starts_with("select") {
            code.push_str(&format!("r{}: bool = lt r1 r0\n", at + 50));
        }
        let op = op.replace("r8", &format!("r{}", at + 50));
        let first = known[chance.below(known.len())].clone();
        let second = match chance.below(2) {
            0 => known[chance.below(known.len())].clone(),
            _ => chance.of(&numbers).to_owned(),
        };
        code.push_str(&format!("r{at}: i64 = {op} {first} {second}\n"));
        known.push(format!("r{at}"));
    }
    let index = known[chance.below(known.len())].clone();
    let array = chance.of(&["a2", "a4", "a7"]);
    let least = chance.of(&["ge INDEX -1i64", "ge INDEX 0i64", "le 0i64 INDEX", "gt INDEX 1i64"]);
    let most =
        chance.of(&["lt INDEX r2", "lt INDEX r3", "gt r3 INDEX", "le INDEX r3", "lt INDEX 5i64"]);
    let both = chance.of(&["and r70 r71", "and r71 r70", "or r70 r71", "and r70 r70"]);
    code.push_str(&format!(
        "r70: bool = {least}\nr71: bool = {most}\nr72: bool = {both}\nr9: f32 = if r72\n  r73: f32 = read {array} \
         INDEX\n  yield r73\nelse\n  yield 0.0f32"
    ));
    code.replace("INDEX", &index)
}

/// Says so past the capture of the test runner.
fn skipped(why: &str) {
    writeln!(std::io::stdout(), "skipped: {why}").expect("an output");
}

#[test]
fn what_is_believed_holds_on_the_emulated_device() {
    let emulated = match Emulated::new() {
        Ok(emulated) => emulated,
        Err(Error::Unavailable(why)) => return skipped(&why),
        Err(error) => panic!("{error}"),
    };
    let mut chance = Chance(1);
    let inputs = "input a1: [a0]i64\ninput a2: [a0]f32\ninput a4: [a3]f32\ninput a7: [5]f32\n";
    let (mut tried, mut kernels, mut outputs) = (0, String::new(), String::new());
    for number in 20..80 {
        let code = std::iter::repeat_with(|| by_chance(&mut chance)).inspect(|_| tried += 1);
        let code = code.into_iter().find(|code| is_inside(code)).expect("one of many");
        let code: String = code.lines().map(|line| format!("  {line}\n")).collect();
        kernels.push_str(&format!(
            "launch \"map\" [a0] (r0)\n{code}  yield r9\n  store r9 to a{number}: [a0]f32\nend\n"
        ));
        outputs.push_str(&format!("output a{number}: [a0]f32\n"));
    }
    assert!(tried > 120, "{tried} tried");
    let program = plan::parse(&format!("{inputs}{kernels}{outputs}")).expect("a plan");
    plan::check(&program).expect("a plan");
    for (own, other) in [(1, 1), (9, 3), (4, 11), (6, 0)] {
        let garbage = [i64::MAX, -1, 0, 3, i64::MIN, 5, 1 << 31, 1, 8];
        let array = |column| Value::Array(Arc::new(Array::new(column)));
        let zeros = |count| array(Column::F32(vec![0.0; count].into()));
        let inputs = [
            array(Column::I64(garbage[..own].to_vec().into())),
            zeros(own),
            zeros(other),
            zeros(5),
        ];
        let never = AtomicBool::new(false);
        // If one reads beyond the end, the emulator panics.
        let ran = run_emulated(&emulated, &program, &inputs, 1 << 30, &never, &mut |_| {});
        assert_eq!(ran.map(|leaves| leaves.len()), Ok(60));
    }
}

#[test]
fn rows_are_as_long_as_the_offsets_say() {
    let ragged = |inputs: &str| {
        of_first(&format!(
            "{inputs}launch \"sum\" [a0][~a1 a2] (r0 r1)\n  r2: f64 = read a4 r1\n  yield r2\n  \
             reduce r2 as (r3: f64) to a9: [a0]f64\n  by (r4: f64) (r5: f64)\n    r6: f64 = add r4 r5\n    \
             yield r6\n  from (r7)\n    yield 0.0f64\nend\noutput a9: [a0]f64\n"
        ))
    };
    assert!(ragged("input a4: [a0][~a1 a2]f64 where a1: [a3]i64\n"));
    assert!(!ragged("input a0: i64\ninput a1: [a3]i64\ninput a4: [a2]f64\n"), "who knows");
}

#[test]
fn operators_have_registers_of_their_own() {
    let text = |index: &str| {
        format!(
            "input a1: [a0]i64\nlaunch \"reduce\" [a0] (r0)\n  r2: i64 = read a1 r0\n  yield r2\n  \
             reduce r2 as (r3: i64) to a5: i64\n  by ({index}: i64) (r8: i64)\n    \
             r6: i64 = read a1 {index}\n    r7: i64 = add r6 r8\n    yield r7\n  \
             if_empty ()\n    yield 0i64\nend\noutput a5: i64\n"
        )
    };
    assert!(!of_first(&text("r9")), "an operand");
    assert!(!of_first(&text("r0")), "an operand with the number of the point's index");
}
