//! Counter-based random numbers: number `index` of the stream `seed`, the same on every back end.
//!
//! The generator is Philox4x32-10 (Salmon, Moraes, Dror and Shaw, "Parallel random numbers: as easy
//! as 1, 2, 3", SC 2011). The key is the seed and the counter is the index, low word first; the
//! upper two counter words are 0. Each index has its own block of four words, low word first: the first two are for
//! numbers in [0, 1), the last two for integers, so that both of one seed have nothing to do with each other.

/// A number in [0, 1): the high 53 of 64 random bits, times 2^-53.
pub fn uniform_f64(seed: i64, index: u64) -> f64 {
    (bits(seed, index) >> 11) as f64 * (1.0 / (1u64 << 53) as f64)
}

/// A number in [0, 1): the high 24 of 32 random bits, times 2^-24.
pub fn uniform_f32(seed: i64, index: u64) -> f32 {
    (block(seed, index)[0] >> 8) as f32 * (1.0 / (1u32 << 24) as f32)
}

/// A number in `low..high`: the high half of the 128-bit product of 64 random bits and the size of
/// the range. No number is likelier than another by more than a share of size / 2^64.
///
/// # Panics
///
/// When the range is empty, which the caller reports to the user.
pub fn int_below(seed: i64, index: u64, low: i64, high: i64) -> i64 {
    assert!(low < high, "the range {low}..{high} is empty");
    let size = high.wrapping_sub(low) as u64;
    let offset = (u128::from(upper_bits(seed, index)) * u128::from(size)) >> 64;
    low.wrapping_add(offset as i64)
}

/// 64 random bits: the first two words of the block.
pub fn bits(seed: i64, index: u64) -> u64 {
    let [low, high, _, _] = block(seed, index);
    u64::from(high) << 32 | u64::from(low)
}

/// 64 random bits: the last two words of the block.
fn upper_bits(seed: i64, index: u64) -> u64 {
    let [_, _, low, high] = block(seed, index);
    u64::from(high) << 32 | u64::from(low)
}

/// The four words of one index.
fn block(seed: i64, index: u64) -> [u32; 4] {
    let key = seed as u64;
    philox([index as u32, (index >> 32) as u32, 0, 0], [key as u32, (key >> 32) as u32])
}

/// Philox4x32 with ten rounds.
fn philox(mut counter: [u32; 4], mut key: [u32; 2]) -> [u32; 4] {
    for _ in 0..10 {
        let first = u64::from(counter[0]) * 0xd251_1f53;
        let second = u64::from(counter[2]) * 0xcd9e_8d57;
        counter = [
            (second >> 32) as u32 ^ counter[1] ^ key[0],
            second as u32,
            (first >> 32) as u32 ^ counter[3] ^ key[1],
            first as u32,
        ];
        key = [key[0].wrapping_add(0x9e37_79b9), key[1].wrapping_add(0xbb67_ae85)];
    }
    counter
}

#[cfg(test)]
mod tests {
    use super::{bits, int_below, philox, uniform_f32, uniform_f64};

    /// The known answers of the authors' Random123 library (`kat_vectors`).
    #[test]
    fn philox_known_answers() {
        assert_eq!(philox([0; 4], [0; 2]), [0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8]);
        let ones = u32::MAX;
        assert_eq!(philox([ones; 4], [ones; 2]), [0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd]);
        assert_eq!(
            philox([0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344], [0xa4093822, 0x299f31d0]),
            [0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1]
        );
    }

    #[test]
    fn the_seed_is_the_key_and_the_index_the_counter() {
        assert_eq!(bits(0, 0), 0xe169_c58d_6627_e8d5);
        let high = philox([0, 1, 0, 0], [5, 0]);
        assert_eq!(bits(5, 1 << 32), u64::from(high[1]) << 32 | u64::from(high[0]));
        let negative = philox([3, 0, 0, 0], [u32::MAX; 2]);
        assert_eq!(bits(-1, 3) as u32, negative[0]);
    }

    #[test]
    fn uniform_numbers_take_the_high_bits() {
        assert_eq!(uniform_f64(0, 0), (0xe169_c58d_6627_e8d5u64 >> 11) as f64 / 2f64.powi(53));
        assert_eq!(uniform_f32(0, 0), (0x6627_e8d5u32 >> 8) as f32 / 2f32.powi(24));
        let count = 20_000;
        let mean = (0..count).map(|i| uniform_f64(7, i)).sum::<f64>() / count as f64;
        assert!((mean - 0.5).abs() < 0.01, "{mean}");
        assert!((0..count).all(|i| (0.0..1.0).contains(&uniform_f32(7, i))));
    }

    #[test]
    fn integers_cover_their_range_evenly() {
        let mut seen = [0; 6];
        for i in 0..6_000 {
            seen[usize::try_from(int_below(1, i, -3, 3) + 3).expect("at least the bound")] += 1;
        }
        assert!(seen.iter().all(|count| (850..1150).contains(count)), "{seen:?}");
        assert_eq!(int_below(1, 2, 4, 5), 4);
        assert_eq!(int_below(0, 0, i64::MIN, i64::MAX), {
            let size = u128::from(u64::MAX);
            ((0x9b00_dbd8_bc57_ac4cu128 * size) >> 64) as i64 ^ i64::MIN
        });
    }

    #[test]
    fn integers_and_numbers_of_one_seed_have_nothing_in_common() {
        let both =
            |i: u64| (uniform_f64(1, i) - 0.5, (int_below(1, i, 0, 1000) as f64 - 499.5) / 1000.0);
        let covariance: f64 = (0..10_000).map(both).map(|(x, y)| x * y).sum::<f64>() / 10_000.0;
        // That of one with itself is 1/12.
        assert!(covariance.abs() < 0.003, "{covariance}");
    }
}
