//! Sorts of values: an order that only brings its keys into it.

use std::cmp::Ordering;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use weft_cpu::{Config, KernelCache, Workers, prepare, run};
use weft_ir::math::{total_cmp_f32, total_cmp_f64};
use weft_ir::{Column, Value, plan};

use crate::{array, f64s, lengths, noise, ragged, values};

/// An array of a type brought into its order; `{computed}` is what is done with each element before.
fn whole(ty: &str, word: &str, computed: &str) -> String {
    let (sorted, sent) = (computed.replace('@', "r1"), computed.replace('@', "r2"));
    let key = if computed.is_empty() { ("r1", "r2") } else { ("r9", "r9") };
    format!(
        "input a1: [a0]{ty}
launch \"sort\" [a0] (r0)
  r1: {ty} = read a1 r0
{sorted}  yield {}
  sort{word} {} to a2: [a0]i64
end
launch \"map\" [a0] (r0)
  r1: i64 = read a2 r0
  r3: i64 = read a0
  r4: bool = lt r1 r3
  check r4 index
  r2: {ty} = read a1 r1
{sent}  yield {}
  store {} to a3: [a0]{ty}
end
free a2
output a3: [a0]{ty}
",
        key.0, key.0, key.1, key.1
    )
}

/// Rows of any lengths, each brought into its order.
fn rows(ty: &str, word: &str) -> String {
    format!(
        "input a4: [a0][~a1 a2]{ty} where a1: [a3]i64
launch \"sort\" [a0][~a1 a2] (r0 r1)
  r2: {ty} = read a4 r1
  yield r2
  sort{word} r2 to a5: [a2]i64
end
launch \"map\" [a0][~a1 a2] (r0 r1)
  r2: i64 = read a1 r0
  r3: i64 = read a5 r1
  r4: i64 = sub r3 r2
  r5: bool = ge r4 0i64
  check r5 index
  r6: {ty} = read a4 r3
  yield r6
  store r6 to a6: [a2]{ty}
end
free a5
output a6: [a0][~a1 a2]{ty}
"
    )
}

fn of_bits(bits: u64) -> f64 {
    match bits % 11 {
        0 => f64::NAN,
        1 => -f64::NAN,
        2 => -0.0,
        3 => 0.0,
        4 => f64::NEG_INFINITY,
        _ => (bits >> 20) as f64 % 301.0 - 150.0,
    }
}

/// Checks all lengths, and rows, of elements of a type that are made of bits.
macro_rules! check {
    ($name:ident, $variant:ident, $bits:ident => $element:expr, $cmp:expr) => {
        #[test]
        fn $name() {
            let cmp = $cmp;
            for (word, turn) in [("", false), (" descending", true)] {
                let cmp = |a: &_, b: &_| {
                    let order: Ordering = cmp(a, b);
                    if turn { order.reverse() } else { order }
                };
                let text = whole(stringify!($name), word, "");
                for length in lengths() {
                    let elements: Vec<_> = noise(length).map(|$bits| $element).collect();
                    let mut sorted = elements.clone();
                    sorted.sort_by(cmp);
                    let found = values(&text, &[array(Column::$variant(elements.into()))]);
                    let expected = array(Column::$variant(sorted.into()));
                    assert!(found[0].same_bits(&expected), "{length}{word}");
                }
                let text = rows(stringify!($name), word);
                for (count, most) in [(3000, 20), (300, 300), (40, 3000), (3, 50_000), (2, 300_000)]
                {
                    let mut lengths: Vec<usize> =
                        noise(count).map(|bits| bits as usize % (most + 1)).collect();
                    lengths.extend([0, 1, most, 2, 0]);
                    let elements: Vec<_> =
                        noise(lengths.iter().sum()).map(|$bits| $element).collect();
                    let mut sorted = elements.clone();
                    let mut rest = &mut sorted[..];
                    for length in &lengths {
                        let (row, others) = rest.split_at_mut(*length);
                        row.sort_by(cmp);
                        rest = others;
                    }
                    let elements = ragged(&lengths, Column::$variant(elements.into()));
                    let expected = ragged(&lengths, Column::$variant(sorted.into()));
                    let found = values(&text, &[elements]);
                    assert!(found[0].same_bits(&expected), "{count} {most}{word}");
                }
            }
        }
    };
}

check!(i8, I8, bits => bits as i8, Ord::cmp);
check!(i16, I16, bits => bits as i16, Ord::cmp);
check!(i32, I32, bits => bits as i32, Ord::cmp);
check!(i64, I64, bits => bits as i64, Ord::cmp);
check!(u8, U8, bits => bits as u8, Ord::cmp);
check!(u16, U16, bits => (bits % 700) as u16, Ord::cmp);
check!(u32, U32, bits => bits as u32, Ord::cmp);
check!(u64, U64, bits => bits, Ord::cmp);
check!(bool, Bool, bits => bits & 1 == 1, Ord::cmp);
check!(f32, F32, bits => of_bits(bits) as f32, |a: &f32, b: &f32| total_cmp_f32(*a, *b));
check!(f64, F64, bits => of_bits(bits), |a: &f64, b: &f64| total_cmp_f64(*a, *b));

#[test]
fn rows_of_a_matrix() {
    let text = rows("f64", "")
        .replace("[a0][~a1 a2]", "[a0][a1]")
        .replace(" where a1: [a3]i64", "")
        .replace("a4 r1", "a4 r0 r1")
        .replace("  r2: i64 = read a1 r0\n", "")
        .replace("read a5 r1", "read a5 r0 r1")
        .replace("  r4: i64 = sub r3 r2\n  r5: bool = ge r4", "  r5: bool = ge r3")
        .replace("read a4 r3", "read a4 r0 r3")
        .replace("[a2]", "[a0][a1]");
    for (count, length) in [(1, 100), (1000, 9), (7, 1), (3, 0), (400, 300), (1, 70_000)] {
        let elements: Vec<f64> = noise(count * length).map(of_bits).collect();
        let mut sorted = elements.clone();
        for row in sorted.chunks_mut(length.max(1)) {
            row.sort_by(|a, b| total_cmp_f64(*a, *b));
        }
        let matrix = |elements: Vec<f64>| {
            let inner = Box::new(Column::F64(elements.into()));
            array(Column::Dense { len: count, extent: length, inner })
        };
        let found = values(&text, &[matrix(elements)]);
        assert!(found[0].same_bits(&matrix(sorted)), "{count} {length}");
    }
}

#[test]
fn keys_that_are_computed() {
    for (word, turn) in [("", false), (" descending", true)] {
        let text = whole("f64", word, "  r9: f64 = mul @ 3.0f64\n");
        for length in [0, 1, 5, 1000, 4096, 70_000] {
            let elements: Vec<f64> = noise(length).map(of_bits).collect();
            let mut sorted: Vec<f64> = elements.iter().map(|element| element * 3.0).collect();
            sorted.sort_by(|a, b| {
                let order = total_cmp_f64(*a, *b);
                if turn { order.reverse() } else { order }
            });
            let found = values(&text, &[f64s(elements)]);
            assert!(found[0].same_bits(&f64s(sorted)), "{length}{word}");
        }
    }
}

#[test]
fn no_order_is_made() {
    // What brings elements into an order takes no time of its own then.
    let sorts_values = |text: &str, inputs: &[Value]| {
        let program = plan::parse(text).unwrap_or_else(|error| panic!("{error}\n{text}"));
        let prepared = prepare(&program, &mut KernelCache::new());
        let config = Config { workers: &Workers::new(1), memory_limit: 1 << 32 };
        let mut times = Vec::new();
        let cancel = AtomicBool::new(false);
        run(&program, &prepared, inputs, &config, &cancel, &mut |launched| {
            times.push(launched.time);
        })
        .expect("it sorts");
        assert_eq!(times.len(), 2);
        times[1] == Duration::ZERO
    };
    let xs = || [f64s(noise(5000).map(of_bits).collect())];
    let doubled = "  r9: f64 = mul @ 2.0f64\n";
    assert!(sorts_values(&whole("f64", "", ""), &xs()));
    assert!(sorts_values(&whole("f64", "", doubled), &xs()));
    let other = whole("f64", "", doubled).replace("mul r2", "div r2");
    assert!(!sorts_values(&other, &xs()));
    let inner = Column::F64(noise(5000).map(of_bits).collect::<Vec<_>>().into());
    assert!(sorts_values(&rows("f64", ""), &[ragged(&[4000, 0, 1000], inner)]));
}
