//! Makes a failing program smaller.

/// The smallest string of choices that is found, starting with one that `fails`, in so many attempts:
/// parts are left out, and bytes made smaller, as long as it still fails.
pub fn shrink(bytes: &[u8], attempts: usize, mut fails: impl FnMut(&[u8]) -> bool) -> Vec<u8> {
    let mut best = bytes.to_vec();
    let mut left = attempts;
    let mut part = best.len().next_power_of_two() / 2;
    while part > 0 && left > 0 {
        let before = best.clone();
        let mut at = 0;
        while at < best.len() && left > 0 {
            let end = best.len().min(at + part);
            let mut without = best.clone();
            without.drain(at..end);
            let mut zeros = best.clone();
            zeros[at..end].fill(0);
            let mut halves = best.clone();
            halves[at..end].iter_mut().for_each(|byte| *byte /= 2);
            let smaller = [without, zeros, halves].into_iter().find(|candidate| {
                let is_new = *candidate != best && left > 0;
                left -= usize::from(is_new);
                is_new && fails(candidate)
            });
            match smaller {
                Some(smaller) => best = smaller,
                None => at += part,
            }
        }
        if best == before || part > 1 {
            part /= 2;
        }
    }
    best
}

#[cfg(test)]
mod tests {
    use super::shrink;

    #[test]
    fn what_does_not_matter_goes() {
        let bytes: Vec<u8> = (0..200).collect();
        let small =
            shrink(&bytes, 10_000, |bytes| bytes.iter().filter(|byte| **byte >= 40).count() > 1);
        assert!(small.len() == 2 && small.iter().all(|byte| (40..80).contains(byte)), "{small:?}");
    }
}
