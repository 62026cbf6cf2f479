//! How much work a kernel is: whether it is worth waking threads for, and in how large pieces they share it.

use weft_ir::ScalarOp;
use weft_ir::code::{Code, Operation};
use weft_ir::math::{self, Work};
use weft_ir::plan::Sink;

use crate::lanes::GROUP;
use crate::launch::chunk::CHUNK;
use crate::launch::{Launch, PARALLEL};

/// The weight of a point that [`PARALLEL`] takes for granted: a few reads and operators.
const USUAL: usize = 8;

/// How often a loop goes round, for all that is known.
const ROUNDS: usize = 16;

/// How many pieces a thread gets, about.
const PIECES: usize = 8;

/// The least points of a piece, of the usual weight: it takes longer than handing it out does.
const LEAST: usize = 2048;

/// The most points of a piece of rows: claiming a chunk takes as long as adding some thousand elements.
const LARGEST: usize = 4 * CHUNK;

impl Launch<'_> {
    /// Whether the points are enough, or dear enough, for several threads.
    pub(super) fn is_parallel(&self) -> bool {
        let points = self.shape.points();
        points >= PARALLEL
            || points.saturating_mul(weight(&self.bound.kernel.body.code)) >= PARALLEL * USUAL
    }

    /// Whether chunks neither wait for each other nor have to be handed out in order.
    pub(super) fn is_separate(&self) -> bool {
        let separate = |sink: &Sink| {
            matches!(sink, Sink::Store { .. } | Sink::Interleave { .. } | Sink::Reduce { .. })
        };
        self.kernel.sinks.iter().all(separate)
    }

    /// The most points of a chunk: fewer than usual where the points are few. Where the cuts are part
    /// of a result, or chunks wait for each other, there are no such chunks. More than usual where native
    /// functions fold rows, which keep nothing of a chunk.
    pub(super) fn most_points(&self, folds_rows: bool) -> usize {
        let threads = self.workers.threads();
        let most = if folds_rows { LARGEST } else { CHUNK };
        if threads == 1 || !self.is_separate() {
            return most;
        }
        let weight = weight(&self.bound.kernel.body.code).max(USUAL);
        let least = (LEAST * USUAL / weight).clamp(GROUP, LEAST);
        let share = self.shape.points() / (threads * PIECES);
        share.next_multiple_of(GROUP).clamp(least, most)
    }
}

/// About what one point costs, in simple operators.
fn weight(code: &Code) -> usize {
    let of = |operation: &Operation| match operation {
        Operation::Scalar(op, _) => weight_of(*op),
        Operation::Random(..) => 8,
        Operation::Read(..) | Operation::Check(..) => 1,
        Operation::If { then, otherwise, .. } => weight(then).saturating_add(weight(otherwise)),
        Operation::While { condition, body, .. } => {
            weight(condition).saturating_add(weight(body)).saturating_mul(ROUNDS)
        }
    };
    let all = code.instructions.iter().map(|instruction| of(&instruction.operation));
    all.fold(0, usize::saturating_add)
}

fn weight_of(op: ScalarOp) -> usize {
    match math::work(op) {
        Work::Simple => 1,
        Work::Quotient => 4,
        Work::Division => 8,
        Work::Function | Work::Periodic => 16,
        Work::Several => 32,
    }
}
