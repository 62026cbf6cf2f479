//! How much shared memory the functions take whose need grows with the elements of a program.
//!
//! A tuple of many components can be so wide that a block of threads would need more than there is. The compiler would
//! say so, in its own words; so it is said before, by the same arithmetic as in `skeletons/*.cu`. `tests/gate.rs` holds
//! it against what the compiler finds.

use weft_ir::ScalarType;

use crate::policy::Policy;
use crate::shape::TREE;
use crate::text::Skeleton;

/// The most bytes of shared memory that a function may declare, on every architecture: the programming guide's table of
/// technical specifications.
pub const MOST_SHARED: usize = 48 << 10;

/// Levels above tiles, as in `reduce.cu`.
const LEVELS: usize = 4;

/// The bytes that a function of a piece declares at most, if elements of the program are what it declares; 0 of all
/// others, which are small.
pub(crate) fn declared(entry: &str, skeleton: &Skeleton, policy: &Policy) -> usize {
    let components = match skeleton {
        Skeleton::Reduce { components, .. }
        | Skeleton::Scan { components, .. }
        | Skeleton::Runs { components, .. } => components,
        Skeleton::Map { .. }
        | Skeleton::MapKept
        | Skeleton::Filter { .. }
        | Skeleton::Scatter(_)
        | Skeleton::Update(_)
        | Skeleton::Targets { .. }
        | Skeleton::Loop { .. }
        | Skeleton::Sort { .. } => return 0,
    };
    let tree = TREE as usize;
    let elements = |count: usize| bytes(components, count);
    let staged = policy.staged(components) as usize;
    let group = elements(staged / tree * (tree + 1));
    let tile = elements(slice(components) * (tree + 1)) + elements(tree);
    let scanned = tile + elements(2);
    let threads = policy.threads as usize;
    let looked = looked_at(components, threads) * tree;
    let looks = elements(looked) + elements(LEVELS + 3);
    // In the order of the skeletons; what has no elements in it is counted as if it were aligned as they are.
    match entry.trim_end_matches(|last: char| last.is_ascii_digit()) {
        "reduce_tiles" => tile + 16,
        "reduce_groups" => group,
        "reduce_path" => group,
        "reduce_longest" | "scatter_longest" => {
            let folded = if threads * bytes(components, 1) > 32768 { threads / 4 } else { threads };
            elements(folded) + elements(LEVELS) + 16
        }
        "scan_tiles" => scanned + looks + 16,
        "scan_groups" => group + elements(2 * staged / tree),
        "scan_blocks" => scanned + 2 * elements(LEVELS + 1) + 32,
        "scatter_runs" => group + staged / 32 * 4 + 16,
        _ => 0,
    }
}

/// Blocks of the tree that are staged at once, as in `reduce.cu`.
fn slice(components: &[ScalarType]) -> usize {
    let tree = TREE as usize;
    let element = bytes(components, 1);
    let mut blocks = tree;
    while blocks > 1 && blocks * tree * element > 16384 {
        blocks /= 2;
    }
    blocks
}

/// Levels that are looked at together, as in `scan.cu`.
fn looked_at(components: &[ScalarType], threads: usize) -> usize {
    let mut levels = (threads / 32).min(4);
    while levels > 1 && levels * TREE as usize * bytes(components, 1) > 8192 {
        levels /= 2;
    }
    levels
}

/// The bytes of so many elements with an array per component, or of one element: that is laid out likewise.
fn bytes(components: &[ScalarType], count: usize) -> usize {
    let mut end = 0_usize;
    for component in components {
        end = end.next_multiple_of(component.bytes()) + count * component.bytes();
    }
    let widest = components.iter().map(|component| component.bytes()).max().unwrap_or(1);
    end.next_multiple_of(widest)
}

#[cfg(test)]
mod tests {
    use super::{MOST_SHARED, declared};
    use crate::policy::Policy;
    use crate::text::Skeleton;
    use weft_ir::ScalarType;

    /// The most components of 8 bytes for which a function may be launched.
    fn most(entry: &str) -> usize {
        let fits = |count: usize| {
            let components = vec![ScalarType::F64; count];
            let skeleton = match entry.starts_with("scan") {
                true => Skeleton::Scan { components, has_groups: true },
                false => Skeleton::Reduce { components, sharing: None, has_groups: true },
            };
            declared(entry, &skeleton, &Policy::SM_90) <= MOST_SHARED
        };
        (1..1000).take_while(|count| fits(*count)).last().expect("one fits")
    }

    #[test]
    fn wide_tuples_do_not_fit() {
        assert_eq!(
            (most("scan_tiles0"), most("scan_blocks12"), most("scan_groups3")),
            (30, 43, 45)
        );
        assert_eq!(
            (most("reduce_tiles"), most("reduce_groups"), most("reduce_path")),
            (47, 47, 47)
        );
        assert_eq!(most("reduce_longest"), 90);
    }

    #[test]
    fn components_are_aligned() {
        let bytes = |components: &[ScalarType]| super::bytes(components, 1);
        assert_eq!(bytes(&[ScalarType::U8, ScalarType::F64]), 16);
        assert_eq!(bytes(&[ScalarType::F64, ScalarType::U8]), 16);
        assert_eq!(super::bytes(&[ScalarType::Bool, ScalarType::F32, ScalarType::F64], 3), 40);
    }
}
