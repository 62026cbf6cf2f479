//! Maps: indices of all kinds of spaces, control flow, functions, checks, and host control around
//! kernels.

use weft_ir::{Fault, FaultKind, Scalar, Stop, Value, math};

use crate::{Compiled, column, dense, emulated, f64s, i64s, ragged};

#[test]
fn indices_of_three_dimensions() {
    let Some(emulated) = emulated() else { return };
    let compiled = Compiled::new(
        "input a1: [a0]i64
launch \"map\" [a0][5][3] (r0 r1 r2)
  r3: i64 = read a1 r0
  r4: i64 = mul r3 100i64
  r5: i64 = mul r1 10i64
  r6: i64 = add r4 r5
  r7: i64 = add r6 r2
  yield r7
  store r7 to a2: [a0][5][3]i64
end
output a2: [a0][5][3]i64
",
    );
    for length in [0, 1, 7, 200] {
        let all = (0..length)
            .flat_map(|x| (0..5).flat_map(move |y| (0..3).map(move |z| x * 100 + y * 10 + z)));
        let inner = column(weft_ir::ScalarType::I64, all.map(Scalar::I64));
        let middle =
            weft_ir::Column::Dense { len: length as usize * 5, extent: 3, inner: Box::new(inner) };
        let expected = dense(length as usize, 5, middle);
        compiled.yields(emulated, &[i64s(0..length)], length as u64 % 3, &[expected]);
    }
}

#[test]
fn a_ragged_dimension_gives_row_and_position() {
    let Some(emulated) = emulated() else { return };
    let compiled = Compiled::new(
        "input a4: [a0][~a1 a2]i64 where a1: [a3]i64
launch \"map\" [a0][~a1 a2] (r0 r1)
  r2: i64 = read a4 r1
  r3: i64 = mul r0 1000i64
  r4: i64 = add r2 r3
  yield r4
  store r4 to a5: [a2]i64
end
output a5: [a0][~a1 a2]i64
",
    );
    let lengths = [0, 3, 0, 0, 100, 1, 0];
    let elements = |f: &dyn Fn(i64, i64) -> i64| {
        let rows = lengths.iter().zip(0..).flat_map(|(length, row)| vec![row; *length]);
        let all: Vec<Scalar> = rows.zip(0..).map(|(row, at)| Scalar::I64(f(row, at))).collect();
        ragged(&lengths, column(weft_ir::ScalarType::I64, all))
    };
    let expected = elements(&|row, at| at * 3 + row * 1000);
    for schedule in 0..3 {
        let input = elements(&|_, at| at * 3);
        compiled.yields(emulated, &[input], schedule, std::slice::from_ref(&expected));
    }
}

#[test]
fn loops_of_known_turns() {
    let Some(emulated) = emulated() else { return };
    let compiled = Compiled::new(
        "input a1: [a0]i64
input a3: [a2]i64
launch \"map\" [a0] (r0)
  r1: i64 = read a1 r0
  r2: i64 = read a2
  r3: i64, r4: i64 = while (r5: i64 = 0i64, r6: i64 = r1)
    r7: bool = lt r5 6i64
    yield r7
  do
    r8: bool = lt r5 3i64
    r9: i64 = if r8
      r10: i64 = mul r6 2i64
      yield r10
    else
      r11: i64 = sub r6 r5
      yield r11
    r12: bool = lt r5 r2
    check r12 index
    r13: i64 = read a3 r5
    r14: i64 = add r9 r13
    r15: i64 = add r5 1i64
    yield r15 r14
  yield r3 r4
  store r4 to a4: [a0]i64
  store r3 to a5: [a0]i64
end
output a4: [a0]i64
output a5: [a0]i64
",
    );
    let table = [3, 1, 4, 1, 5, 9];
    let one = |number: i64| {
        (0..6).zip(table).fold(number, |value, (turn, more)| {
            more + if turn < 3 { value * 2 } else { value - turn }
        })
    };
    for length in [0, 1, 200] {
        let expected = [i64s((0..length).map(one)), i64s((0..length).map(|_| 6))];
        let inputs = [i64s(0..length), i64s(table)];
        compiled.yields(emulated, &inputs, length as u64 % 3, &expected);
    }
    let short = compiled.try_run(emulated, &[i64s([1]), i64s(table.into_iter().take(5))], 0);
    assert!(
        matches!(short, Err(Stop::Fault(Fault { kind: FaultKind::IndexOutOfRange, .. }))),
        "{short:?}"
    );
}

#[test]
fn loops_in_loops_look_whether_the_run_is_over() {
    // Two loops in each other, which go round so often.
    let nested = |outer: i64, inner: i64| {
        Compiled::new(&format!(
            "launch \"map\" [9] (r0)
  r1: i64, r2: i64 = while (r3: i64 = 0i64, r4: i64 = r0)
    r5: bool = lt r3 {outer}i64
    yield r5
  do
    r6: i64, r7: i64 = while (r8: i64 = 0i64, r9: i64 = r4)
      r10: bool = lt r8 {inner}i64
      yield r10
    do
      r11: i64 = mul r9 3i64
      r12: i64 = add r8 1i64
      yield r12 r11
    r13: i64 = add r3 1i64
    yield r13 r7
  yield r2
  store r2 to a1: [9]i64
end
output a1: [9]i64
"
        ))
    };
    for (outer, inner, looks) in [(60, 60, 0), (4000, 4000, 1), (4000, 5000, 2), (5000, 60, 1)] {
        let text = nested(outer, inner).text;
        let (_, own) = text.rsplit_once("struct K0_map").expect("a structure");
        assert_eq!(own.matches("is_over(in.failure)").count(), looks, "{outer} {inner}");
    }
    if let Some(emulated) = emulated() {
        let power =
            |times: u32| i64s((0..9).map(|at: i64| at.wrapping_mul(3_i64.wrapping_pow(times))));
        nested(60, 60).yields(emulated, &[], 0, &[power(3600)]);
    }
}

#[test]
fn branches_loops_functions_and_random_numbers() {
    let Some(emulated) = emulated() else { return };
    let compiled = Compiled::new(
        "input a1: [a0]f64
launch \"map\" [a0] (r0)
  r1: f64 = read a1 r0
  r2: bool = lt r1 0.0f64
  r3: f64 = if r2
    r4: f64 = neg r1
    r5: f64 = sqrt r4
    yield r5
  else
    r6: f64 = exp r1
    yield r6
  r7: i64, r8: f64 = while (r9: i64 = 0i64, r10: f64 = r3)
    r11: bool = lt r9 r0
    yield r11
  do
    r12: i64 = add r9 7i64
    r13: f64 = mul r10 0.5f64
    yield r12 r13
  r14: f64 = uniform_f64 42i64 r0
  r15: f64 = add r8 r14
  yield r15
  store r15 to a2: [a0]f64
end
output a2: [a0]f64
",
    );
    let xs: Vec<f64> = (0..200).map(|at| f64::from(at - 100) / 30.0).collect();
    let of = |(x, at): (&f64, i64)| {
        let start = if *x < 0.0 { (-x).sqrt() } else { math::transcendental::exp_f64(*x) };
        let halved = (0..at).step_by(7).fold(start, |value, _| value * 0.5);
        halved + math::random::uniform_f64(42, at as u64)
    };
    let expected: Vec<f64> = xs.iter().zip(0..).map(of).collect();
    compiled.yields(emulated, &[f64s(xs)], 2, &[f64s(expected)]);
}

#[test]
fn a_failing_check_is_a_fault() {
    let Some(emulated) = emulated() else { return };
    let compiled = Compiled::new(
        "input a1: [a0]i64
input a2: [a0]i64
launch \"map\" [a0] (r0)
  r1: i64 = read a1 r0
  r2: i64 = read a0
  r3: bool = lt r1 r2
  check r3 index
  r4: i64 = read a2 r1
  r5: i64 = floor_div 100i64 r4
  yield r5
  store r5 to a3: [a0]i64
end
output a3: [a0]i64
",
    );
    let run = |targets: &[i64], xs: &[i64]| {
        let inputs = [i64s(targets.iter().copied()), i64s(xs.iter().copied())];
        compiled.try_run(emulated, &inputs, 1)
    };
    let inputs = [i64s([2, 0, 1]), i64s([7, -3, 50])];
    compiled.yields(emulated, &inputs, 1, &[i64s([2, 14, -34])]);
    for (targets, xs, expected) in [
        ([0, 3, 1], [1, 2, 3], FaultKind::IndexOutOfRange),
        ([0, 1, 2], [1, 0, 3], FaultKind::DivisionByZero),
    ] {
        match run(&targets, &xs) {
            Err(Stop::Fault(Fault { kind, .. })) => assert_eq!(kind, expected),
            other => panic!("{other:?}"),
        }
    }
}

#[test]
fn host_control_and_memory() {
    let Some(emulated) = emulated() else { return };
    let compiled = Compiled::new(
        "input a1: [a0]i64
a2: [a0]i64, a3: i64 = while (a4: [a0]i64 = a1, a5: i64 = 0i64)
  a6: bool = host
    r0: i64 = read a5
    r1: bool = lt r0 5i64
    yield r1
  yield a6
do
  launch \"step\" [a0] (r2)
    r3: i64 = read a4 r2
    r4: i64 = mul r3 2i64
    yield r4
    store r4 to a7: [a0]i64
  end
  a8: i64 = host
    r5: i64 = read a5
    r6: i64 = read a7 0i64
    r7: i64 = add r5 1i64
    yield r7
  yield a7 a8
output a2: [a0]i64
output a3: i64
"
        .replace("a5: i64 = 0i64", "a5: i64 = a9")
        .replace("a2: [a0]i64, a3", "a9: i64 = host\n  yield 0i64\na2: [a0]i64, a3")
        .as_str(),
    );
    let expected = [i64s((0..100).map(|at| at * 32)), Value::Scalar(Scalar::I64(5))];
    compiled.yields(emulated, &[i64s(0..100)], 3, &expected);
}

#[test]
fn a_shorter_array_is_not_read_ahead_of_its_check() {
    let Some(emulated) = emulated() else { return };
    let compiled = Compiled::new(
        "input a1: [a0]i64
input a3: [a2]i64
launch \"map\" [a0] (r0)
  r1: i64 = read a2
  r2: bool = lt r0 r1
  check r2 index
  r3: i64 = read a3 r0
  r4: i64 = read a1 r0
  r5: i64 = add r3 r4
  yield r5
  store r5 to a4: [a0]i64
end
output a4: [a0]i64
",
    );
    compiled.yields(emulated, &[i64s(0..5), i64s(0..7)], 2, &[i64s((0..5).map(|x| 2 * x))]);
    match compiled.try_run(emulated, &[i64s(0..600), i64s(0..7)], 2) {
        Err(Stop::Fault(fault)) => assert_eq!(fault.kind, FaultKind::IndexOutOfRange),
        other => panic!("{other:?}"),
    }
}

#[test]
fn remarks_change_comments_only() {
    let text = include_str!("../../gate/plans/matmul.plan");
    let program = weft_ir::plan::parse(text).expect("a plan");
    let plain = weft_cuda::generate(&program, &weft_cuda::Policy::SM_90).text();
    let remark = |_| Some("xs * { ys \\\nand more".to_owned());
    let with = weft_cuda::generate_with_remarks(&program, &weft_cuda::Policy::SM_90, &remark);
    let with = with.text();
    let is_remark = |line: &&str| line.trim_start() == "// xs * { ys";
    assert!(with.lines().any(|line| is_remark(&line)), "{with}");
    let without: Vec<&str> = with.lines().filter(|line| !is_remark(line)).collect();
    assert_eq!(without, plain.lines().collect::<Vec<_>>());
}
