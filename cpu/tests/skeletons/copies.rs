//! Kernels that only move elements: parts, reversals, transpositions, arrays behind one another, and what has
//! no place among them.

use weft_ir::{Column, FaultKind, Stop, Value};

use crate::{array, noise, try_run, values};

/// An array of these extents.
fn shaped(extents: &[usize], elements: Column) -> Value {
    let mut column = elements;
    for at in (1..extents.len()).rev() {
        let len = extents[..at].iter().product();
        column = Column::Dense { len, extent: extents[at], inner: Box::new(column) };
    }
    array(column)
}

/// A type of elements, and an array of it that has these bits.
type OfBits<'a> = (&'a str, &'a dyn Fn(&[u64]) -> Column);

/// All indices of a space, in order.
fn points(extents: &[usize]) -> Vec<Vec<usize>> {
    let mut points = vec![Vec::new()];
    for &extent in extents {
        let more = |point: Vec<usize>| (0..extent).map(move |at| [&point[..], &[at]].concat());
        points = points.into_iter().flat_map(more).collect();
    }
    points
}

/// Runs the text of a plan on an array of rank 3, as elements of one, two, four and eight bytes; `place` says which
/// of its elements each of the result is.
fn check(
    text: &str,
    [from, to]: [[usize; 3]; 2],
    place: impl Fn(usize, usize, usize) -> [usize; 3],
) {
    let bits: Vec<u64> = noise(from.iter().product()).collect();
    let moved: Vec<u64> = (points(&to).iter())
        .map(|point| {
            let [a, b, c] = place(point[0], point[1], point[2]);
            bits[(a * from[1] + b) * from[2] + c]
        })
        .collect();
    let columns: [OfBits<'_>; 4] = [
        ("u8", &|bits| Column::U8(bits.iter().map(|&at| at as u8).collect::<Vec<u8>>().into())),
        ("i16", &|bits| Column::I16(bits.iter().map(|&at| at as i16).collect::<Vec<i16>>().into())),
        ("f32", &|bits| {
            let of = |&at: &u64| f32::from_bits(at as u32);
            Column::F32(bits.iter().map(of).collect::<Vec<f32>>().into())
        }),
        ("f64", &|bits| {
            Column::F64(bits.iter().map(|&at| f64::from_bits(at)).collect::<Vec<f64>>().into())
        }),
    ];
    for (ty, column) in columns {
        let text = text.replace("TYPE", ty);
        let found = values(&text, &[shaped(&from, column(&bits))]);
        let expected = shaped(&to, column(&moved));
        assert!(found[0].same_bits(&expected), "{ty}: {from:?} to {to:?}\n{text}");
    }
}

/// A kernel over a space whose elements are those of the input at three indices.
fn moving([x, y, z]: [usize; 3], code: &str) -> String {
    format!(
        "input a3: [a0][a1][a2]TYPE
launch \"map\" [{x}][{y}][{z}] (r0 r1 r2)
{code}  yield r9
  store r9 to a4: [{x}][{y}][{z}]TYPE
end
output a4: [{x}][{y}][{z}]TYPE
"
    )
}

const SPACES: [[usize; 3]; 12] = [
    [1, 1, 1023],
    [1, 1, 1024],
    [1025, 1, 1],
    [600, 1, 2],
    [2, 600, 3],
    [300, 2, 4],
    [40, 15, 17],
    [33, 16, 31],
    [17, 33, 16],
    [7, 191, 3],
    [2, 193, 192],
    [70, 80, 90],
];

#[test]
fn parts() {
    for to in SPACES {
        let from = to.map(|extent| extent + 3);
        let code = "  r3: i64 = add r0 3i64
  r4: i64 = read a1
  r5: i64 = add r1 1i64
  r6: bool = lt r5 r4
  check r6 index
  r9: TYPE = read a3 r3 r5 r2
";
        check(&moving(to, code), [from, to], |a, b, c| [a + 3, b + 1, c]);
        let code = "  r9: TYPE = read a3 r0 r1 r2\n";
        check(&moving(to, code), [[to[0] + 1, to[1], to[2]], to], |a, b, c| [a, b, c]);
    }
}

#[test]
fn steps_and_reversals() {
    for to in SPACES {
        let last = to.map(|extent| extent - 1);
        let reversed = |at: usize| {
            let index = |dimension: usize| match dimension == at {
                true => format!("r{}", dimension + 3),
                false => format!("r{dimension}"),
            };
            format!(
                "  r{}: i64 = sub {}i64 r{at}\n  r9: TYPE = read a3 {} {} {}\n",
                at + 3,
                last[at],
                index(0),
                index(1),
                index(2)
            )
        };
        check(&moving(to, &reversed(0)), [to, to], |a, b, c| [last[0] - a, b, c]);
        check(&moving(to, &reversed(1)), [to, to], |a, b, c| [a, last[1] - b, c]);
        check(&moving(to, &reversed(2)), [to, to], |a, b, c| [a, b, last[2] - c]);
        let code = "  r3: i64 = mul r0 2i64
  r4: i64 = mul r2 3i64
  r5: i64 = add r4 2i64
  r9: TYPE = read a3 r3 r1 r5
";
        let from = [to[0] * 2, to[1], to[2] * 3];
        check(&moving(to, code), [from, to], |a, b, c| [a * 2, b, c * 3 + 2]);
        let code = "  r9: TYPE = read a3 r0 0i64 r2\n";
        check(&moving(to, code), [[to[0], 1, to[2]], to], |a, _, c| [a, 0, c]);
        let code = "  r9: TYPE = read a3 r0 r1 0i64\n";
        check(&moving(to, code), [[to[0], to[1], 1], to], |a, b, _| [a, b, 0]);
    }
}

#[test]
fn transpositions() {
    for to in SPACES {
        let [x, y, z] = to;
        let read = |indices: &str| moving(to, &format!("  r9: TYPE = read a3 {indices}\n"));
        check(&read("r0 r2 r1"), [[x, z, y], to], |a, b, c| [a, c, b]);
        check(&read("r1 r0 r2"), [[y, x, z], to], |a, b, c| [b, a, c]);
        check(&read("r1 r2 r0"), [[y, z, x], to], |a, b, c| [b, c, a]);
        check(&read("r2 r0 r1"), [[z, x, y], to], |a, b, c| [c, a, b]);
        check(&read("r2 r1 r0"), [[z, y, x], to], |a, b, c| [c, b, a]);
    }
}

#[test]
fn rotations_and_clamped_neighbours() {
    for to in SPACES {
        let code = "  r3: i64 = read a1
  r4: i64 = add r1 1i64
  r5: i64 = mod r4 r3
  r6: i64 = sub r0 2i64
  r7: i64 = max r6 0i64
  r8: i64 = add r2 5i64
  r10: i64 = read a2
  r11: i64 = sub r10 1i64
  r12: i64 = min r8 r11
  r9: TYPE = read a3 r7 r5 r12
";
        check(&moving(to, code), [to, to], |a, b, c| {
            [a.saturating_sub(2), (b + 1) % to[1], (c + 5).min(to[2] - 1)]
        });
    }
}

#[test]
fn patterns_are_no_copies() {
    // Every second element twice, and the lower half of a matrix.
    let to = [3, 40, 64];
    let code = "  r3: i64 = floor_div r2 2i64
  r4: i64 = mul r3 2i64
  r5: bool = lt r1 r2
  r9: TYPE = if r5
    r6: TYPE = read a3 r0 r1 r4
    yield r6
  else
    r7: TYPE = read a3 r0 r1 r2
    yield r7
";
    check(&moving(to, code), [to, to], |a, b, c| [a, b, if b < c { c / 2 * 2 } else { c }]);
}

/// `xs ++ ys ++ [7]`, and the same with what is before it.
const BEHIND: &str = "input a1: [a0]f64
input a3: [a2]f64
a4: i64 = host
  r0: i64 = read a0
  r1: i64 = read a2
  r2: i64 = add r0 r1
  r3: i64 = add r2 1i64
  yield r3
launch \"map\" [a4] (r0)
  r1: i64 = read a0
  r2: bool = lt r0 r1
  r3: i64 = sub r0 r1
  r6: f64 = if r2
    r4: f64 = read a1 r0
    yield r4
  else
    r7: i64 = read a2
    r8: bool = eq r3 r7
    r9: f64 = if r8
      yield 7.0f64
    else
      r5: f64 = read a3 r3
      yield r5
    yield r9
  yield r6
  store r6 to a5: [a4]f64
end
output a5: [a4]f64
";

#[test]
fn arrays_behind_one_another() {
    let lengths = [0, 1, 2, 15, 16, 17, 1022, 1023, 1024, 65_535, 65_536, 65_537, 200_000];
    for first in lengths {
        for second in lengths {
            let all: Vec<f64> = noise(first + second).map(f64::from_bits).collect();
            let of = |part: &[f64]| array(Column::F64(part.to_vec().into()));
            let found = values(BEHIND, &[of(&all[..first]), of(&all[first..])]);
            let expected = [&all[..], &[7.0]].concat();
            assert!(found[0].same_bits(&of(&expected)), "{first} {second}");
        }
    }
}

#[test]
fn large_copies_go_past_the_caches() {
    let (first, second) = (1_500_001, 3_000_000);
    let all: Vec<f64> = noise(first + second).map(f64::from_bits).collect();
    let of = |part: &[f64]| array(Column::F64(part.to_vec().into()));
    let found = values(BEHIND, &[of(&all[..first]), of(&all[first..])]);
    assert!(found[0].same_bits(&of(&[&all[..], &[7.0]].concat())));
}

#[test]
fn several_results_and_constants_around() {
    let text = "input a2: [a0][a1]i64
a3: i64, a4: i64 = host
  r0: i64 = read a0
  r1: i64 = read a1
  r2: i64 = add r0 2i64
  r3: i64 = add r1 3i64
  yield r2 r3
launch \"map\" [a3][a4] (r0 r1)
  r2: i64 = sub r0 1i64
  r3: i64 = sub r1 2i64
  r4: bool = ge r2 0i64
  r5: i64 = read a0
  r6: bool = lt r2 r5
  r7: bool = and r4 r6
  r8: bool = ge r3 0i64
  r9: i64 = read a1
  r10: bool = lt r3 r9
  r11: bool = and r8 r10
  r12: bool = and r7 r11
  r13: i64 = if r12
    r14: i64 = read a2 r2 r3
    yield r14
  else
    yield -5i64
  r15: i64 = select r4 r13 9i64
  yield r13
  store r13 to a5: [a3][a4]i64
  store r15 to a6: [a3][a4]i64
end
output a5: [a3][a4]i64
output a6: [a3][a4]i64
";
    for (rows, columns) in [(1, 1), (2, 3), (31, 33), (100, 16), (5, 3000), (3000, 5), (400, 300)] {
        let xs: Vec<i64> = noise(rows * columns).map(|bits| bits as i64).collect();
        let found = values(text, &[shaped(&[rows, columns], Column::I64(xs.clone().into()))]);
        let (mut first, mut second) = (Vec::new(), Vec::new());
        for row in 0..rows + 2 {
            for column in 0..columns + 3 {
                let inside = (1..=rows).contains(&row) && (2..columns + 2).contains(&column);
                let value = if inside { xs[(row - 1) * columns + column - 2] } else { -5 };
                first.push(value);
                second.push(if row > 0 { value } else { 9 });
            }
        }
        let shaped =
            |elements: Vec<i64>| shaped(&[rows + 2, columns + 3], Column::I64(elements.into()));
        assert!(found[0].same_bits(&shaped(first)), "{rows} {columns}");
        assert!(found[1].same_bits(&shaped(second)), "{rows} {columns}");
    }
}

#[test]
fn what_is_not_there_is_a_fault() {
    let text = "input a1: [a0]i64
launch \"map\" [a0] (r0)
  r1: i64 = add r0 1i64
  r2: i64 = read a0
  r3: bool = lt r1 r2
  check r3 index
  r4: i64 = read a1 r1
  yield r4
  store r4 to a2: [a0]i64
end
output a2: [a0]i64
";
    for length in [1000, 1024, 100_000] {
        let xs: Vec<i64> = noise(length).map(|bits| bits as i64).collect();
        match try_run(text, &[array(Column::I64(xs.into()))]) {
            Err(Stop::Fault(fault)) => assert_eq!(fault.kind, FaultKind::IndexOutOfRange),
            other => panic!("{other:?}"),
        }
    }
}
