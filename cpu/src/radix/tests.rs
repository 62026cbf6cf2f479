//! All ways of sorting, beside the standard library's.

use std::fmt::Debug;
use std::io::Write as _;
use std::sync::atomic::{AtomicUsize, Ordering};

use super::{First, Item, Key, Long, Sorting, Upper, Whole, sort_elements, sort_with};
use crate::execute::Halt;
use crate::workers::Workers;

fn noise(at: usize) -> u64 {
    (at as u64)
        .wrapping_mul(0x9e37_79b9_7f4a_7c15)
        .rotate_left(23)
        .wrapping_mul(0xd6e8_feb8_6659_fd93)
}

/// By digits, and with vectors where there are any.
fn check<K: Key>(of: impl Fn(usize) -> K::Item + Sync) {
    for threads in [1, 3] {
        let workers = Workers::new(threads);
        for length in [0, 1, 2, 100, 1000, 5000, 70_000, 300_000] {
            let mut expected: Vec<K::Item> = (0..length).map(&of).collect();
            expected.sort_by_key(|item| K::of(*item));
            let mut ways = vec![None];
            ways.extend(K::Item::vectors().map(Some));
            for (way, vectors) in ways.into_iter().enumerate() {
                let mut sorted = vec![K::Item::default(); length];
                let sorting = Sorting { of: &of, convert: |item: K::Item| item };
                sort_with::<K, _>(vectors, &sorting, &mut sorted, &workers, &|| Ok(()))
                    .expect("nothing stops it");
                assert!(sorted == expected, "{length} items, {threads} threads, way {way}");
            }
        }
    }
}

#[test]
fn keys_alone() {
    check::<Whole<u32>>(|at| noise(at) as u32);
    check::<Whole<u64>>(noise);
    check::<Whole<u32>>(|at| (at % 3) as u32);
    check::<Whole<u64>>(|_| 7_u64);
    check::<Whole<u64>>(|at| at as u64);
    check::<Whole<u64>>(|at| u64::MAX - at as u64);
}

#[test]
fn keys_that_many_items_share() {
    check::<Whole<u32>>(|_| 0);
    check::<Whole<u32>>(|_| u32::MAX);
    check::<Whole<u64>>(|at| if noise(at).is_multiple_of(10) { noise(at + 1) } else { 0 });
    check::<Whole<u64>>(|at| if noise(at).is_multiple_of(10) { noise(at + 1) } else { u64::MAX });
    check::<Whole<u32>>(
        |at| if noise(at).is_multiple_of(3) { noise(at + 1) as u32 } else { 1 << 31 },
    );
    check::<Whole<u32>>(|at| (1 << 20) + (noise(at) % 3) as u32);
    check::<Whole<u32>>(|at| (noise(at) % 300) as u32);
}

#[test]
fn keys_that_share_most_bits() {
    // One key far from all others, and keys that differ in few bits far apart.
    check::<Whole<u64>>(|at| if at == 500 { u64::MAX } else { noise(at) >> 40 });
    check::<Whole<u64>>(|at| noise(at) & 0x8000_0000_0000_0001);
    check::<Whole<u64>>(|at| noise(at) & 0xff00_0000_00ff_0000);
    // The exponents of floats between zero and one: half of all are the same.
    let float = |at: usize| ((noise(at) >> 11) as f64 / (1_u64 << 53) as f64).to_bits();
    check::<Whole<u64>>(float);
}

#[test]
fn runs_are_merged() {
    let ascending = |length: usize, most: u64| {
        let mut run: Vec<u64> = (0..length).map(|at| noise(at + length) % most).collect();
        run.sort_unstable();
        run
    };
    let lengths = [0, 1, 2, 255, 256, 257, 1000, 20_000, 70_000];
    for (left, right) in lengths.iter().flat_map(|left| lengths.map(|right| (*left, right))) {
        for most in [u64::MAX, 1000, 3, 1] {
            let elements = [ascending(left, most), ascending(right, most)].concat();
            let middle = super::merge::runs(&elements, |element| element);
            let falls = left > 0 && right > 0 && elements[left - 1] > elements[left];
            assert_eq!(middle, Some(if falls { left } else { elements.len() }));
            check_elements(&elements);
            // In no order any more.
            if elements.len() > 600 && most > 3 {
                let mut elements = elements;
                elements.swap(10, 300);
                elements.swap(400, 500);
                assert_eq!(super::merge::runs(&elements, |element| element), None);
                check_elements(&elements);
            }
        }
    }
}

/// Sorts elements by themselves.
fn check_elements(elements: &[u64]) {
    let mut expected = elements.to_vec();
    expected.sort_unstable();
    for threads in [1, 3] {
        let (workers, mut sorted) = (Workers::new(threads), vec![0; elements.len()]);
        let same = |element: u64| element;
        sort_elements::<Whole<u64>, _, _>(elements, same, same, &mut sorted, &workers, &|| Ok(()))
            .expect("nothing stops it");
        assert!(sorted == expected, "{} elements, {threads} threads", elements.len());
    }
}

#[test]
fn equal_keys_stay_in_order() {
    check::<Upper>(|at| (noise(at) % 100) << 32 | at as u64);
    check::<First>(|at| Long(noise(at) >> 60 << 60, at as u64));
    check::<First>(|at| Long(noise(at) % 1000 * 0x0100_0000_0001, at as u64));
}

/// Arrays of a length with different distributions; the greatest bits of the numbers are the keys.
fn distributions(length: usize) -> [Vec<u64>; 9] {
    let of = |key: &dyn Fn(usize) -> u64| (0..length).map(key).collect();
    [
        of(&noise),
        of(&|at| (at as u64) << 40),
        of(&|at| ((length - at) as u64) << 40),
        of(&|at| (noise(at) % 2) << 63),
        of(&|at| (noise(at) % 17) << 33),
        of(&|_| 0),
        of(&|_| u64::MAX),
        of(&|at| if noise(at).is_multiple_of(8) { noise(at + 1) } else { 5 << 32 }),
        of(&|at| (at.min(length - at) as u64) << 40),
    ]
}

/// Says so past the capture of the test runner.
fn skipped() {
    writeln!(std::io::stdout(), "skipped: this machine has no AVX-512").expect("an output");
}

/// Sorts arrays of many lengths with vectors, into either array, and where digits decide early.
fn check_vectors<E: Item + Debug>(of: impl Fn(u64) -> E) {
    let Some(vectors) = E::vectors() else {
        skipped();
        return;
    };
    let around = [10, 11, 12, 13, 16].into_iter().flat_map(|bits| {
        let power = 1_usize << bits;
        [power - 17, power - 1, power, power + 1, power + 15]
    });
    for length in (0..=600).chain(around) {
        for (number, keys) in distributions(length).into_iter().enumerate() {
            let items: Vec<E> = keys.into_iter().map(&of).collect();
            let mut expected = items.clone();
            expected.sort_unstable();
            for (to_other, divisions) in
                [(false, 64), (true, 64), (false, 1), (true, 2), (false, 0)]
            {
                let (mut data, mut other) = (items.clone(), vec![E::default(); length]);
                vectors
                    .sort_to(&mut data, &mut other, to_other, divisions, &|| Ok(()))
                    .expect("nothing stops it");
                let sorted = if to_other { other } else { data };
                assert!(
                    sorted == expected,
                    "{length} items, distribution {number}, {to_other}, {divisions} divisions"
                );
            }
        }
    }
}

#[test]
fn vectors_of_words() {
    check_vectors::<u32>(|key| (key >> 32) as u32);
}

#[test]
fn vectors_of_doubles() {
    check_vectors::<u64>(|key| key);
}

/// A network that sorts all zeros and ones sorts everything (Knuth, The Art of Computer Programming 3,
/// 5.3.4, theorem Z).
#[test]
fn networks_sort_zeros_and_ones() {
    fn check<E: Item + From<u32>>(rows: usize, columns: usize) {
        let Some(vectors) = E::vectors() else {
            skipped();
            return;
        };
        let length = rows * columns;
        let mut other = vec![E::default(); length];
        for first in (0_u32..1 << rows).step_by(columns) {
            // Each column of the network gets other digits.
            let mut items: Vec<E> = (0..length)
                .map(|at| E::from((first + (at % columns) as u32) >> (at / columns) & 1))
                .collect();
            let ones = items.iter().filter(|&&item| item != E::default()).count();
            vectors.sort(&mut items, &mut other, &|| Ok(())).expect("nothing stops it");
            let (zeros, rest) = items.split_at(length - ones);
            let all = |items: &[E], digit| items.iter().all(|&item| item == E::from(digit));
            assert!(all(zeros, 0) && all(rest, 1), "{rows} rows of {columns} from {first}");
        }
    }
    check::<u32>(16, 1);
    check::<u32>(16, 4);
    check::<u32>(16, 8);
    check::<u32>(16, 16);
    check::<u64>(8, 1);
    check::<u64>(16, 2);
    check::<u64>(16, 4);
    check::<u64>(16, 8);
}

#[test]
fn a_sort_ends_when_the_run_shall() {
    let polls = AtomicUsize::new(0);
    let poll = || match polls.fetch_add(1, Ordering::Relaxed) {
        count if count < 3 => Ok(()),
        _ => Err(Halt::Interrupted),
    };
    let mut sorted = vec![0; 3_000_000];
    let sorting = Sorting { of: |at| noise(at) as u32, convert: |item: u32| item };
    let mut ways = vec![None];
    ways.extend(u32::vectors().map(Some));
    for vectors in ways {
        polls.store(0, Ordering::Relaxed);
        let workers = Workers::new(2);
        let done = sort_with::<Whole<u32>, _>(vectors, &sorting, &mut sorted, &workers, &poll);
        assert!(matches!(done, Err(Halt::Interrupted)));
    }
}
