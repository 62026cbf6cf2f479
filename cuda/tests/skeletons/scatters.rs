//! Scatters: the last wins, atomic operations, and any operator in order.

use weft_ir::{FaultKind, Scalar, ScalarType, Stop, Value};

use crate::operators::{OPERATORS, Operator, Tuple, tree};
use crate::{Compiled, array, column, emulated, i64s, lengths, noise, schedule_of};

#[test]
fn of_equal_targets_the_last_wins() {
    let Some(emulated) = emulated() else { return };
    let compiled = Compiled::new(
        "input a1: [a0]i64
input a3: [a2]i64
launch \"scatter\" [a2] (r0)
  r1: i64 = read a3 r0
  r2: i64 = read a0
  r3: i64 = mod r1 r2
  r4: i64 = bit_and r1 7i64
  r5: bool = eq r4 0i64
  r6: i64 = select r5 -1i64 r3
  yield r6 r0
  scatter r0 at r6 into a1 to a4: [a0]i64
end
output a4: [a0]i64
output a1: [a0]i64
",
    );
    for length in lengths() {
        let size = length / 3 + 1;
        let old: Vec<i64> = (0..size as i64).map(|at| -at).collect();
        let xs: Vec<i64> = noise(length).map(|bits| bits as i64).collect();
        let mut expected = old.clone();
        for (at, x) in xs.iter().enumerate().filter(|(_, x)| *x & 7 != 0) {
            expected[x.rem_euclid(size as i64) as usize] = at as i64;
        }
        let inputs = [i64s(old.iter().copied()), i64s(xs)];
        compiled.yields(emulated, &inputs, schedule_of(length), &[i64s(expected), i64s(old)]);
    }
}

#[test]
fn a_target_out_of_range_is_a_fault() {
    let Some(emulated) = emulated() else { return };
    let compiled = Compiled::new(
        "input a1: [a0][3]i64
input a3: [a2]i64
launch \"scatter\" [a2] (r0)
  r1: i64 = read a3 r0
  yield r1
  scatter r0 at 1i64 r1 into a1 to a4: [a0][3]i64
end
output a4: [a0][3]i64
",
    );
    let old = || crate::dense(2, 3, column(ScalarType::I64, (0..6).map(Scalar::I64)));
    let found = compiled.try_run(emulated, &[old(), i64s([0, 3, 1])], 0);
    match found {
        Err(Stop::Fault(fault)) => assert_eq!(fault.kind, FaultKind::IndexOutOfRange),
        other => panic!("{other:?}"),
    }
    let expected = [0, 1, 2, 0, 2, 1].map(Scalar::I64);
    let expected = crate::dense(2, 3, column(ScalarType::I64, expected));
    compiled.yields(emulated, &[old(), i64s([0, 2, 1])], 0, &[expected]);
}

/// A scatter of i64 by an operator of the machine, in place.
fn combining(operator: &str) -> Compiled {
    Compiled::new(&format!(
        "input a1: [a0]i64
input a3: [a2]i64
launch \"scatter\" [a2] (r0)
  r1: i64 = read a3 r0
  r2: i64 = read a0
  r3: i64 = mod r1 r2
  yield r3 r1
  scatter r1 at r3 into a1 to a4: [a0]i64
  by (r6: i64) (r7: i64)
    r8: i64 = {operator} r6 r7
    yield r8
end
free a1
output a4: [a0]i64
"
    ))
}

#[test]
fn operators_of_the_machine() {
    let Some(emulated) = emulated() else { return };
    type Apply = fn(i64, i64) -> i64;
    let operators: [(&str, Apply); 6] = [
        ("add", |a, b| a.wrapping_add(b)),
        ("min", |a, b| a.min(b)),
        ("max", |a, b| a.max(b)),
        ("bit_and", |a, b| a & b),
        ("bit_or", |a, b| a | b),
        ("bit_xor", |a, b| a ^ b),
    ];
    for (name, apply) in operators {
        let compiled = combining(name);
        // Few targets meet in shared memory, many do not.
        for (length, size) in [(0, 3), (1, 1), (100, 1), (1000, 7), (5000, 1024), (5000, 1025)] {
            let old: Vec<i64> = noise(size).map(|bits| bits as i64 >> 3).collect();
            let xs: Vec<i64> = noise(length).map(|bits| bits as i64).collect();
            let mut expected = old.clone();
            for x in &xs {
                let target = &mut expected[x.rem_euclid(size as i64) as usize];
                *target = apply(*target, *x);
            }
            let inputs = [i64s(old), i64s(xs)];
            compiled.yields(emulated, &inputs, schedule_of(length + size), &[i64s(expected)]);
        }
    }
}

#[test]
fn what_is_counted_is_counted_in_vectors_of_any_length() {
    let Some(emulated) = emulated() else { return };
    for (ty, scalar) in [
        (ScalarType::I64, Scalar::I64 as fn(i64) -> Scalar),
        (ScalarType::U64, |count| Scalar::U64(count as u64)),
    ] {
        let compiled = Compiled::new(&format!(
            "input a2: [a0]{ty}
input a3: [a1]u8
launch \"histogram\" [a1] (r0)
  r1: u8 = read a3 r0
  r2: i64 = cast_i64 r1
  r3: i64 = sub r2 1i64
  yield r3
  scatter 1{ty} at r3 into a2 to a4: [a0]{ty}
  by (r4: {ty}) (r5: {ty})
    r6: {ty} = add r4 r5
    yield r6
end
output a4: [a0]{ty}
"
        ));
        // A turn of all threads takes 6144 points. The second size is too large for shared memory.
        let lengths =
            [0, 1, 7, 8, 9, 15, 16, 17, 511, 512, 513, 3071, 3080, 6143, 6144, 6153, 9000];
        for (length, size) in lengths.iter().map(|length| (*length, 256)).chain([(7000, 1025)]) {
            let old: Vec<i64> = noise(size).map(|bits| (bits >> 8) as i64).collect();
            let targets: Vec<u8> = noise(length).map(|bits| (bits >> 40) as u8).collect();
            let mut expected = old.clone();
            for target in targets.iter().filter(|target| **target > 0) {
                expected[usize::from(*target) - 1] += 1;
            }
            let counts = |values: Vec<i64>| array(column(ty, values.into_iter().map(scalar)));
            let targets = array(column(ScalarType::U8, targets.into_iter().map(Scalar::U8)));
            let inputs = [counts(old), targets];
            compiled.yields(emulated, &inputs, schedule_of(length), &[counts(expected)]);
        }
    }
}

/// A scatter of tuples by an operator that takes its points in their order.
fn in_order(operator: &Operator) -> Compiled {
    let olds = operator.each(|at, ty| format!("input a{}: [a0]{ty}\n", at + 1));
    let values = operator.each(|at, ty| format!("input a{}: [a6]{ty}\n", at + 7));
    let reads = operator.each(|at, ty| format!("  r{}: {ty} = read a{} r0\n", at + 1, at + 7));
    let sent = operator.list(" ", |at, _| format!("r{}", at + 1));
    let into = operator.list(" ", |at, _| format!("a{}", at + 1));
    let to = operator.list(", ", |at, ty| format!("a{}: [a0]{ty}", at + 20));
    let outputs = operator.each(|at, ty| format!("output a{}: [a0]{ty}\n", at + 20));
    let by = operator.text(None);
    Compiled::new(&format!(
        "{olds}{values}input a11: [a6]i64\nlaunch \"scatter\" [a6] (r0)\n{reads}  r5: i64 = read \
         a11 r0\n  yield {sent} r5\n  scatter {sent} at r5 into {into} to {to}\n{by}end\n{outputs}"
    ))
}

/// What such a scatter does with points that go to these targets.
fn sends(compiled: &Compiled, operator: &Operator, size: usize, targets: &[i64]) {
    let Some(emulated) = emulated() else { return };
    let old = operator.elements(size);
    let elements = operator.elements(targets.len());
    let mut all = vec![Vec::new(); size];
    for (element, target) in elements.iter().zip(targets).filter(|(_, target)| **target >= 0) {
        all[*target as usize].push(element.clone());
    }
    let expected = all.iter().zip(&old).map(|(all, old)| match tree(all, &operator.apply) {
        Some(value) => (operator.apply)(old, &value),
        None => old.clone(),
    });
    let expected: Vec<Tuple> = expected.collect();
    let columns = operator.columns(&old).into_iter().chain(operator.columns(&elements));
    let inputs: Vec<Value> = columns.map(array).chain([i64s(targets.iter().copied())]).collect();
    let expected: Vec<Value> = operator.columns(&expected).into_iter().map(array).collect();
    compiled.yields(emulated, &inputs, schedule_of(targets.len()), &expected);
}

#[test]
fn any_operator_combines_in_order() {
    for operator in &OPERATORS {
        let compiled = in_order(operator);
        for (length, size) in
            [(0, 2), (1, 1), (130, 1), (700, 5), (300, 1000), (300, 1001), (5000, 2)]
        {
            let targets = noise(length).map(|bits| (bits >> 9) as i64 % (size as i64 + 1) - 1);
            sends(&compiled, operator, size, &targets.collect::<Vec<_>>());
        }
    }
}

/// Targets of so many points each, and of some that are dropped, in an order without order.
pub(crate) fn shuffled(lengths: &[usize], dropped: usize) -> Vec<i64> {
    let each = lengths.iter().enumerate();
    let targets = each.flat_map(|(target, length)| std::iter::repeat_n(target as i64, *length));
    let mut targets: Vec<i64> = targets.chain(std::iter::repeat_n(-1, dropped)).collect();
    for (at, bits) in noise(targets.len()).enumerate() {
        targets.swap(at, bits as usize % (at + 1));
    }
    targets
}

#[test]
fn runs_of_equal_targets_fold_in_the_tree_however_long_they_are() {
    for operator in &OPERATORS {
        let compiled = in_order(operator);
        let shapes: [(&[usize], usize); 9] = [
            (&[63, 64, 65, 0, 1, 66, 127, 128, 129, 2], 0),
            (&[0, 0, 191, 192, 193, 1, 255, 256, 257], 64),
            (&[1; 300], 200),
            (&[64; 12], 1),
            (&[65; 20], 0),
            (&[0, 0, 0], 500),
            (&[4095, 4096, 4097, 3], 0),
            (&[8191, 8192, 1, 8193], 4200),
            (&[300, 12289, 0, 5000, 64], 3),
        ];
        for (lengths, dropped) in shapes {
            sends(&compiled, operator, lengths.len(), &shuffled(lengths, dropped));
        }
    }
}

#[test]
fn a_run_of_more_than_64_tiles() {
    let operator = &OPERATORS[0];
    let targets = shuffled(&[1, 66 * 4096 + 100, 5], 1);
    sends(&in_order(operator), operator, 3, &targets);
}
