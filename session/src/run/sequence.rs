//! Sequences that are shown, and those whose chunks are too large.

use std::sync::Arc;
use std::time::{Duration, Instant};

use weft_ir::{Exhausted, Failure, Scalar, Span, Type, Value};
use weft_lang::ShownSequence;
use weft_lang::typed::{ExprKind, GlobalId, Program};

use super::{Runner, Stop};
use crate::prelude;
use crate::sink::{Event, Shown};

/// How many items a chunk has at most where there is no room for more, one after the other.
const FEWER: [i64; 3] = [256, 16, 1];

/// Items are shown after about this time.
const SOON: Duration = Duration::from_millis(100);

/// The bytes for which there was no room, if that was it.
pub(super) fn wanted(failure: &Failure) -> Option<u64> {
    match failure {
        Failure::Exhausted(Exhausted::Memory { wanted, .. }) => Some(*wanted),
        Failure::Exhausted(
            Exhausted::Recursion { .. } | Exhausted::Stack { .. } | Exhausted::Interrupted,
        )
        | Failure::Trap(_) => None,
    }
}

/// A run that took no longer may be tried again, whatever it wanted.
pub(super) const SHORT: Duration = Duration::from_secs(2);

/// A program with fewer items in a chunk, if it has sequences, and chunks with more than one item.
pub(super) fn with_smaller_chunks(program: &Program) -> Option<Program> {
    let most = prelude::most_items();
    let index = program.instances.iter().position(|instance| Some(instance.global) == most)?;
    let ExprKind::Scalar(Scalar::I64(items)) = program.instances[index].body.kind else {
        return None;
    };
    let fewer = FEWER.into_iter().find(|fewer| *fewer < items)?;
    let mut smaller = program.clone();
    let body = Arc::make_mut(&mut smaller.instances[index].body);
    body.kind = ExprKind::Scalar(Scalar::I64(fewer));
    Some(smaller)
}

impl Runner<'_> {
    /// Tells of a sequence, or shows its items one after the other.
    pub(super) fn sequence(
        &mut self,
        sequence: &ShownSequence,
        ty: &str,
        span: Span,
    ) -> Result<(), Stop> {
        let length = integer(&self.run(&sequence.length, span)?);
        if !sequence.all {
            let filtered = self.run(&sequence.filtered, span)?;
            let items = if length == 1 { "item" } else { "items" };
            let most = match filtered {
                Value::Scalar(Scalar::Bool(true)) => "at most ",
                _ => "",
            };
            let text = format!(
                "a sequence of {most}{length} {items} : {ty}\n\
                 (`foldSeq`, `elements`, `tabulate` and `collect` consume it; `streamOut` shows its items)"
            );
            self.sink.event(Event::Text(text));
            return Ok(());
        }
        let (mut low, mut size, mut most) = (0, 1, i64::MAX);
        let cancel = self.cancel;
        let piece = cancel.meter().begin(length.max(0) as u64);
        // The chunk before this one.
        let mut before: Option<(i64, Duration)> = None;
        while low < length {
            self.check_cancelled()?;
            self.check_files(&sequence.part, span)?;
            let high = low + size.min(length - low);
            let begun = Instant::now();
            let given = |global: GlobalId| match sequence.bounds {
                [at, _] if at == global => Some(Value::Scalar(Scalar::I64(low))),
                [_, at] if at == global => Some(Value::Scalar(Scalar::I64(high))),
                _ => None,
            };
            let items = match self.run_once(&sequence.part, &given) {
                Err(failure) if wanted(&failure).is_some() && high - low > 1 => {
                    most = (high - low) / 2;
                    size = most;
                    continue;
                }
                // One item may be made of many.
                Err(failure) if wanted(&failure).is_some() => {
                    self.run_with(&sequence.part, span, &given)?
                }
                result => result.map_err(|failure| self.stop(failure, &sequence.part))?,
            };
            let Value::Array(items) = items else { panic!("the items of a sequence are an array") };
            let (count, taken) = (high - low, begun.elapsed());
            for index in 0..items.len() {
                self.check_cancelled()?;
                self.show_item(items.elements.get(index), &sequence.item);
            }
            low = high;
            if let Some(piece) = &piece {
                piece.set(low as u64);
            }
            // What the sequence is made of is computed for every chunk: more items may cost hardly more.
            let is_cheap = before.is_none_or(|(fewer, time)| count > fewer && taken < time * 3 / 2);
            size = match taken < SOON / 2 || is_cheap {
                true => count.saturating_mul(2),
                false => before.map_or(count, |(fewer, _)| fewer.min(count)),
            };
            size = size.clamp(1, most);
            before = Some((count, taken));
        }
        Ok(())
    }

    /// Shows an item, which is no result of the cell.
    fn show_item(&mut self, value: Value, ty: &Type) {
        let (number, limits) = (self.number, self.state.modes.limits.clone());
        let (ty, is_last, whole) = (ty.clone(), false, false);
        self.sink.event(Event::Shown(Shown { number, value, ty, limits, is_last, whole }));
    }
}

fn integer(value: &Value) -> i64 {
    match value {
        Value::Scalar(Scalar::I64(value)) => *value,
        other => panic!("a length is {other:?}"),
    }
}
