//! Orders of keys, beside the standard library's.

use super::order_of;
use crate::lanes::{Elements, Lane as _, Storage};
use crate::workers::Workers;

fn noise(at: usize) -> u64 {
    (at as u64)
        .wrapping_mul(0x9e37_79b9_7f4a_7c15)
        .rotate_left(23)
        .wrapping_mul(0xd6e8_feb8_6659_fd93)
}

/// The position of a key among all of them, as the standard library sees it: `sum` of a sort by columns.
type Rank<'a> = &'a dyn Fn(usize) -> Vec<i128>;

/// Whether keys come into the order of their ranks, both ways, and what a single one becomes.
fn check(keys: &[Storage], length: usize, rank: Rank<'_>) {
    let elements: Vec<Elements<'_>> = keys.iter().map(Storage::elements).collect();
    for (threads, descending) in [(1, false), (3, false), (3, true)] {
        let workers = Workers::new(threads);
        let mut expected: Vec<usize> = (0..length).collect();
        expected.sort_by_key(|&at| {
            let rank = rank(at).into_iter();
            rank.map(|rank| if descending { -rank } else { rank }).collect::<Vec<_>>()
        });
        let order =
            order_of(&elements, length, descending, &workers, &|| Ok(())).expect("an order");
        let found: Vec<usize> =
            i64::storage(&order.positions).iter().map(|&at| at as usize).collect();
        assert!(found == expected, "{length} keys, {threads} threads, descending: {descending}");
        if let ([key], [of]) = (keys, &elements[..]) {
            let room = Storage::zeros(key.ty(), length);
            let sorted = order.of_key(*of, room, &workers).expect("nothing stops it");
            assert!(sorted == key.gather(&expected), "{length} keys in their order");
        }
    }
}

const LENGTHS: [usize; 5] = [0, 1, 100, 5000, 70_000];

/// One key of integers.
fn check_integers(of: impl Fn(usize) -> i64) {
    for length in LENGTHS {
        let keys: Vec<i64> = (0..length).map(&of).collect();
        check(&[Storage::I64(keys.clone())], length, &|at| vec![i128::from(keys[at])]);
    }
}

#[test]
fn codes_that_are_counted() {
    check_integers(|_| -7);
    check_integers(|at| i64::MAX - (noise(at) % 2) as i64);
    check_integers(|at| (noise(at) % 1000) as i64 - 500);
    check_integers(|at| (noise(at) % (1 << 14)) as i64);
    check_integers(|at| at as i64 / 100);
    check_integers(|at| if at == 4000 { 1 } else { 0 });
}

#[test]
fn codes_that_are_sorted() {
    check_integers(|at| (noise(at) % ((1 << 14) + 1)) as i64);
    check_integers(|at| (noise(at) % (1 << 32)) as i64 + i64::MIN);
    check_integers(|at| (noise(at) >> 10 << 20) as i64);
    check_integers(|at| noise(at) as i64);
    check_integers(|at| if at == 50 { i64::MIN } else { (noise(at) % 10) as i64 });
}

#[test]
fn other_types() {
    for length in LENGTHS {
        let (bytes, flags): (Vec<i8>, Vec<bool>) =
            (0..length).map(|at| (noise(at) as i8, noise(at) % 5 < 2)).unzip();
        check(&[Storage::I8(bytes.clone())], length, &|at| vec![i128::from(bytes[at])]);
        check(&[Storage::Bool(flags.clone())], length, &|at| vec![i128::from(flags[at])]);
        let large: Vec<u64> = (0..length).map(|at| u64::MAX - noise(at) % 300).collect();
        check(&[Storage::U64(large.clone())], length, &|at| vec![i128::from(large[at])]);
        let floats: Vec<f64> = (0..length).map(|at| (noise(at) % 1000) as f64 / 2.0).collect();
        check(&[Storage::F64(floats.clone())], length, &|at| vec![(floats[at] * 2.0) as i128]);
        let floats: Vec<f32> = (0..length).map(|at| -((noise(at) % 1000) as f32)).collect();
        check(&[Storage::F32(floats.clone())], length, &|at| vec![floats[at] as i128]);
    }
}

#[test]
fn several_keys() {
    for length in LENGTHS {
        for (first, second) in [(3, 5), (200, 300), (1 << 15, 1 << 16), (1 << 20, 1 << 40)] {
            let of = |range: u64, shift: usize| -> Vec<i64> {
                (0..length).map(|at| (noise(at + shift) % range) as i64 - 100).collect()
            };
            let (a, b) = (of(first, 0), of(second, 1_000_000));
            let keys = [Storage::I64(a.clone()), Storage::I64(b.clone())];
            check(&keys, length, &|at| vec![i128::from(a[at]), i128::from(b[at])]);
        }
        check(&[], length, &|_| Vec::new());
    }
}
