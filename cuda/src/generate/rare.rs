//! Functions that are hardly ever launched: they are compiled when they are.
//!
//! Which function of a kernel is launched, the extents say, which are not known when its text is written. But
//! most often the text says enough: a fold of a whole array has one row, and few arrays have more elements
//! than 32 bits can number.

use weft_ir::ScalarType;
use weft_ir::flat::{Dimension, Size};
use weft_ir::plan::Kernel;

use crate::launch::large_tiles;
use crate::policy::Policy;
use crate::text::{KernelCode, Sharing, Skeleton};

/// Whether an entry of a piece is hardly ever launched.
pub(super) fn is_rare(kernel: &Kernel, skeleton: &Skeleton, entry: &str, policy: &Policy) -> bool {
    // What counts as short there, if the text says how long rows are.
    let short = match skeleton {
        Skeleton::Reduce { components, has_groups: true, .. }
        | Skeleton::Scan { components, has_groups: true } => policy.staged(components),
        _ => policy.short_row,
    };
    let (for_short, for_long) = (
        ["reduce_rows", "reduce_groups", "scan_rows", "scan_groups"]
            .iter()
            .any(|name| entry.starts_with(name)),
        entry.starts_with("reduce_tiles") || entry.starts_with("scan_tiles"),
    );
    match skeleton {
        // Whole tiles are transposed, and shared.
        Skeleton::Map { transposed: true } => entry == "map",
        // What goes to a device is large, unless the text says that one side of the grid is not.
        Skeleton::Reduce { sharing: Some(Sharing::Grid { large: true }), .. } => {
            let known = |back: usize| match kernel.space[kernel.space.len() - back] {
                Dimension::Dense(Size::Constant(extent)) => u64::try_from(extent).ok(),
                Dimension::Dense(Size::Var(_)) | Dimension::Ragged { .. } => None,
            };
            let many = 1 << 20;
            let (down, across) = (known(3).unwrap_or(many), known(2).unwrap_or(many));
            entry
                != if large_tiles(policy, 1, down, across) {
                    "reduce_large_grid"
                } else {
                    "reduce_grid"
                }
        }
        Skeleton::Reduce { sharing: Some(_), .. } => for_short || for_long,
        // Rows without elements.
        Skeleton::Scan { has_groups: true, .. } if entry.starts_with("scan_rows") => true,
        Skeleton::Reduce { sharing: None, .. } | Skeleton::Scan { .. } => match kernel.space.last()
        {
            Some(Dimension::Dense(_)) if kernel.space.len() == 1 => for_short,
            Some(Dimension::Dense(Size::Constant(length))) => {
                let is_short = u64::try_from(*length).is_ok_and(|length| length <= short);
                if is_short { for_long } else { for_short }
            }
            Some(Dimension::Dense(Size::Var(_)) | Dimension::Ragged { .. }) | None => false,
        },
        Skeleton::Map { transposed: false }
        | Skeleton::MapKept
        | Skeleton::Filter { .. }
        | Skeleton::Scatter(_)
        | Skeleton::Update(_)
        | Skeleton::Targets { .. }
        | Skeleton::Runs { .. }
        | Skeleton::Loop { .. }
        | Skeleton::Sort { .. } => false,
    }
}

/// Which steps the sorts of a program take.
#[derive(Default)]
pub(super) struct Steps {
    pub(super) passes: bool,
    /// Of keys alone.
    pub(super) alone: bool,
    pub(super) gathers: bool,
    pub(super) rows: bool,
    pub(super) orders: bool,
}

/// The steps with keys of 32 bits, and of 64 bits.
pub(super) fn sorts(codes: &[KernelCode]) -> [Steps; 2] {
    let mut used = [Steps::default(), Steps::default()];
    for code in codes {
        for piece in &code.pieces {
            match &piece.skeleton {
                Skeleton::Sort { keys, alone } => {
                    let wide = code.temporaries[keys[0].0] == ScalarType::U64;
                    let steps = &mut used[usize::from(wide)];
                    steps.alone |= alone.is_some();
                    steps.passes |= alone.is_none();
                    steps.orders |= alone.is_none();
                    steps.gathers |= keys.len() > 1;
                    steps.rows |= code.kernel.space.len() > 1;
                }
                Skeleton::Targets { .. } => used[0].passes = true,
                Skeleton::Map { .. }
                | Skeleton::MapKept
                | Skeleton::Reduce { .. }
                | Skeleton::Scan { .. }
                | Skeleton::Filter { .. }
                | Skeleton::Scatter(_)
                | Skeleton::Update(_)
                | Skeleton::Runs { .. }
                | Skeleton::Loop { .. } => {}
            }
        }
    }
    used
}
