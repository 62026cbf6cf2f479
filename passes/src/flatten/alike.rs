//! Branches that yield arrays of one length.
//!
//! Note [Rows of one length]. Where a condition of an element chooses between arrays, the rows that come of
//! it are ragged unless both arrays are known to have one length. They are if their lengths are the same
//! expression of what the host has, as in `if c then tail r else init r`, and if both are extents of inputs
//! that are equal: what chooses so is compiled for that ([`crate::named_extents`]). A length may be checked
//! in one of the branches. Then an element of that branch is read under the condition that its array is a
//! value, and where there are no elements the interpreter looks (Note [Rows that are not read]).
//!
//! ```text
//! { if c then r else 2 * s : … }    →    { { if c then r[j] else 2 * s[j] : j in iota (length r) } : … }
//! ```

use std::rc::Rc;

use weft_ir::flat::Size;
use weft_ir::{FaultKind, ScalarOp};

use super::Flattener;
use super::scalar::{Definition, Region, ScalarId};
use super::view::{Length, MOST_STEPS, Source, View};

/// What the length of an array is, if the array is a value.
#[derive(Clone, Copy, Debug)]
struct Extent {
    /// The host can compute it.
    value: ScalarId,
    /// As a size, if the host has it.
    size: Option<Size>,
    /// Whether the length may be an error where this is none.
    checked: bool,
}

impl<'p> Flattener<'p> {
    /// The length that the arrays of two branches have, if it is known to be one, and the arrays as they are
    /// to be read then.
    pub(super) fn alike(
        &mut self,
        then: (Region, &Rc<View<'p>>),
        otherwise: (Region, &Rc<View<'p>>),
    ) -> Option<(Size, [Rc<View<'p>>; 2])> {
        let mut extents = [then, otherwise].map(|(guard, view)| {
            self.in_region_like(guard, |flattener| flattener.extents(view, MOST_STEPS))
        });
        // The host may have stored what was found first when it came to what was found last.
        for extent in extents.iter_mut().flatten() {
            extent.value = self.of_host(extent.value, MOST_STEPS)?;
        }
        let pairs = extents[0].iter().flat_map(|a| extents[1].iter().map(move |b| (*a, *b)));
        let (a, b) = pairs.into_iter().find(|(a, b)| a.value == b.value)?;
        let size = match a.size.or(b.size) {
            Some(size) => size,
            None => {
                let (zero, span) = (self.scalars.integer(0), self.span);
                // What has a negative length is no value.
                let length = self.scalars.op(ScalarOp::Max, &[a.value, zero], None, span);
                self.host_size(length)
            }
        };
        let branches = [(then, a), (otherwise, b)];
        Some((
            size,
            branches.map(|((guard, view), extent)| match extent.checked {
                false => Rc::clone(view),
                true => self.in_region_like(guard, |flattener| flattener.as_value(view)),
            }),
        ))
    }

    /// Does something in a region with the guard of another.
    fn in_region_like<T>(&mut self, guard: Region, inside: impl FnOnce(&mut Self) -> T) -> T {
        let outer = self.region;
        self.region = Some(self.scalars.region_like(outer, guard));
        let result = inside(self);
        self.region = outer;
        result
    }

    /// The array, read only if it is a value.
    fn as_value(&mut self, view: &Rc<View<'p>>) -> Rc<View<'p>> {
        match self.existence(view) {
            None => Rc::clone(view),
            Some(condition) => {
                let kind = FaultKind::IndexOutOfRange;
                self.view(view.ty, Source::Checked(Rc::clone(view), condition, kind))
            }
        }
    }

    /// What is known of the length of an array: all of these are the same where it is a value.
    fn extents(&mut self, view: &View<'p>, steps: u32) -> Vec<Extent> {
        let Some(steps) = steps.checked_sub(1) else { return Vec::new() };
        match &view.source {
            Source::Checked(inner, ..) | Source::Gathered(inner, _) => self.extents(inner, steps),
            Source::Delayed(delayed, _) => {
                let arrays = delayed.arrays.iter();
                arrays.flat_map(|array| self.extents(array, steps)).collect()
            }
            // It is known, or it differs.
            Source::Choice(.., None) => Vec::new(),
            Source::Stored { .. }
            | Source::Iota(_)
            | Source::Replicate(..)
            | Source::Concat(..)
            | Source::Transposed(..)
            | Source::Column(..)
            | Source::Literal(_)
            | Source::Choice(.., Some(_)) => match self.length(view) {
                Length::Uniform(size) => {
                    let size = self.same_size(size);
                    let value = self.scalars.size(size);
                    vec![Extent { value, size: Some(size), checked: false }]
                }
                Length::Varying(id) => {
                    let checked = self.scalars.node(id).may_fail;
                    let value = self.of_host(id, MOST_STEPS);
                    value.map(|value| Extent { value, size: None, checked }).into_iter().collect()
                }
            },
        }
    }

    /// The same scalar without its checks, of what the host has and in no region.
    fn of_host(&mut self, id: ScalarId, steps: u32) -> Option<ScalarId> {
        let steps = steps.checked_sub(1)?;
        let node = self.scalars.node(id).clone();
        let value = match node.definition {
            Definition::Checked(value, ..) => self.of_host(value, steps)?,
            _ if node.depth > 0 => return None,
            Definition::Op(op, args) => {
                let args: Option<Vec<ScalarId>> =
                    args.into_iter().map(|arg| self.of_host(arg, steps)).collect();
                self.scalars.op(op, &args?, None, node.span)
            }
            Definition::Host(var) => {
                let size = self.same_size(Size::Var(var));
                self.scalars.size(size)
            }
            _ if node.home.is_none() => id,
            _ => return None,
        };
        let node = self.scalars.node(value);
        match node.stored {
            _ if node.may_fail => None,
            Some(var) => {
                let size = self.same_size(Size::Var(var));
                Some(self.scalars.size(size))
            }
            None => Some(value),
        }
    }
}
