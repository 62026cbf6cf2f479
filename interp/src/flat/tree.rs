//! The trees of folds and scans (the notes of these names in [`crate::builtins`]), on values of any
//! type.

use weft_ir::Stop;

use crate::builtins::reduce::BLOCK;

/// A fold in progress.
pub(super) struct Tree<T> {
    /// For each level the combination of the current block, and how many values are in it.
    levels: Vec<Option<(T, usize)>>,
}

impl<T> Tree<T> {
    /// No elements yet.
    pub(super) fn new() -> Tree<T> {
        Tree { levels: Vec::new() }
    }

    /// Adds an element.
    pub(super) fn push(
        &mut self,
        mut value: T,
        combine: &mut impl FnMut(&T, &T) -> Result<T, Stop>,
    ) -> Result<(), Stop> {
        for level in &mut self.levels {
            let (combined, count) = match level.take() {
                None => (value, 1),
                Some((block, count)) => (combine(&block, &value)?, count + 1),
            };
            if count < BLOCK {
                *level = Some((combined, count));
                return Ok(());
            }
            value = combined;
        }
        self.levels.push(Some((value, 1)));
        Ok(())
    }

    /// The value of the whole; nothing if there are no elements.
    pub(super) fn finish(
        self,
        combine: &mut impl FnMut(&T, &T) -> Result<T, Stop>,
    ) -> Result<Option<T>, Stop> {
        let mut carry = None;
        for (block, _) in self.levels.into_iter().flatten() {
            carry = Some(match carry {
                Some(carry) => combine(&block, &carry)?,
                None => block,
            });
        }
        Ok(carry)
    }
}

/// The inclusive scan without a start value, from the left, in place.
pub(super) fn scan<T: Clone>(
    values: &mut [T],
    combine: &mut impl FnMut(&T, &T) -> Result<T, Stop>,
) -> Result<(), Stop> {
    for block in values.chunks_mut(BLOCK) {
        for index in 1..block.len() {
            block[index] = combine(&block[index - 1], &block[index])?;
        }
    }
    if values.len() <= BLOCK {
        return Ok(());
    }
    let mut carries: Vec<T> =
        values.chunks(BLOCK).filter_map(|block| block.last().cloned()).collect();
    scan(&mut carries, combine)?;
    for (block, carry) in values.chunks_mut(BLOCK).skip(1).zip(carries) {
        for value in block {
            *value = combine(&carry, value)?;
        }
    }
    Ok(())
}
