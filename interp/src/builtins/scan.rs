//! Scans.
//!
//! Note [The tree of a scan]. The inclusive scan without a start value works in blocks of 64: each
//! block is scanned from left to right; the last values of the blocks are scanned by the same rule;
//! and every value of a block but the first is combined with the scanned last value of the block
//! before it, which stands on the left. Then a start value z is combined with each of the n values
//! once, on the left. A scan from the right is the mirror image: it scans the reversed array with
//! the operator's arguments exchanged, and reverses the result.

use super::Call;
use super::reduce::BLOCK;
use crate::apply::Callee;
use crate::collect::Collector;
use crate::extents::Known;
use crate::machine::{Machine, Outcome, Unwind};
use crate::value::Val;

/// Which values a scan yields. With a start value, they are those of the n + 1 values z, z op x0, ….
#[derive(Clone, Copy, Debug, PartialEq)]
enum Form {
    /// All n + 1.
    All,
    /// The n of the scan without a start value.
    WithoutStart,
    /// All but the last, and the last apart.
    Apart,
    /// All but the last.
    Exclusive,
    /// All but the first.
    Inclusive,
}

/// A scan.
#[derive(Clone, Copy, Debug)]
pub(super) struct Scan {
    form: Form,
    from_right: bool,
}

pub(super) const SCANL: Scan = Scan { form: Form::All, from_right: false };
pub(super) const SCANL1: Scan = Scan { form: Form::WithoutStart, from_right: false };
pub(super) const SCANL_PRIME: Scan = Scan { form: Form::Apart, from_right: false };
pub(super) const PRESCANL: Scan = Scan { form: Form::Exclusive, from_right: false };
pub(super) const POSTSCANL: Scan = Scan { form: Form::Inclusive, from_right: false };
pub(super) const SCANR: Scan = Scan { form: Form::All, from_right: true };
pub(super) const SCANR1: Scan = Scan { form: Form::WithoutStart, from_right: true };
pub(super) const SCANR_PRIME: Scan = Scan { form: Form::Apart, from_right: true };
pub(super) const PRESCANR: Scan = Scan { form: Form::Exclusive, from_right: true };
pub(super) const POSTSCANR: Scan = Scan { form: Form::Inclusive, from_right: true };

impl Machine<'_> {
    /// `scanl op z xs` and the nine others.
    pub(super) fn scan(&mut self, mut call: Call<'_>, scan: Scan) -> Outcome<Val> {
        let function = call.value(0);
        let start = (scan.form != Form::WithoutStart).then(|| call.value(1));
        let elements = call.array(if start.is_some() { 2 } else { 1 })?;
        let ty = match scan.form {
            Form::Apart => call.component_element(0),
            _ => call.element(),
        };
        self.admit(elements.len() as u128 * size_of::<Val>() as u128, call.span)?;
        let mut vals: Vec<Val> = elements.iter().collect();
        if scan.from_right {
            vals.reverse();
        }
        let (mut vals, known) = self.with_callee(&function, 2, call.span, |machine, callee| {
            if let (Some(start), true) = (&start, vals.is_empty()) {
                let args = vec![Known::of(start), Known::element_of(&elements)];
                let combined = machine.known_of_call(callee, args)?;
                return Ok((vals, combined));
            }
            machine.scan_blocks(callee, scan.from_right, &mut vals)?;
            if let Some(start) = &start {
                for val in &mut vals {
                    let scanned = std::mem::replace(val, Val::NOTHING);
                    *val = machine.combine(callee, scan.from_right, start.clone(), scanned)?;
                }
            }
            Ok((vals, Known::element_of(&elements)))
        })?;
        if let Some(start) = start
            && scan.form != Form::Inclusive
        {
            vals.insert(0, start);
        }
        let last = match scan.form {
            Form::Apart | Form::Exclusive => vals.pop(),
            Form::All | Form::WithoutStart | Form::Inclusive => None,
        };
        if scan.from_right {
            vals.reverse();
        }
        let mut collector = Collector::new(ty, call.span);
        for val in vals {
            self.collect(&mut collector, val)?;
        }
        let scanned = self.finish(collector);
        let scanned = self.with_extents(scanned, ty, |_| Ok(known))?.into_val();
        Ok(match (scan.form, last) {
            (Form::Apart, Some(total)) => Val::tuple(vec![scanned, total]),
            _ => scanned,
        })
    }

    /// The inclusive scan, in place (Note [The tree of a scan]).
    fn scan_blocks(
        &mut self,
        callee: &Callee,
        exchange: bool,
        vals: &mut [Val],
    ) -> Result<(), Unwind> {
        for block in vals.chunks_mut(BLOCK) {
            for index in 1..block.len() {
                let (before, val) = (block[index - 1].clone(), block[index].clone());
                block[index] = self.combine(callee, exchange, before, val)?;
            }
        }
        if vals.len() <= BLOCK {
            return Ok(());
        }
        let mut carries: Vec<Val> =
            vals.chunks(BLOCK).filter_map(|block| block.last().cloned()).collect();
        self.scan_blocks(callee, exchange, &mut carries)?;
        for (block, carry) in vals.chunks_mut(BLOCK).skip(1).zip(carries) {
            for val in block {
                let scanned = std::mem::replace(val, Val::NOTHING);
                *val = self.combine(callee, exchange, carry.clone(), scanned)?;
            }
        }
        Ok(())
    }

    fn combine(&mut self, callee: &Callee, exchange: bool, a: Val, b: Val) -> Result<Val, Unwind> {
        self.apply(callee, if exchange { [b, a] } else { [a, b] })
    }
}
