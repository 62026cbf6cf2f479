//! Where the results of a kernel's body go.

use std::ops::Range;

use weft_ir::Stop;
use weft_ir::code::{Instruction, Operand, Operation};
use weft_ir::flat::{Dimension, ScanForm, Size, Var};
use weft_ir::leaves::Stored;
use weft_ir::plan::Sink;

use crate::execute::Source;
use crate::fold::Primitive;
use crate::lanes::{LaneType, Storage};
use crate::launch::Launch;
use crate::launch::chunk::Chunk;
use crate::prepare::over_rows;
use crate::traverse::Mode;

/// Outputs of so many bytes are written past the caches.
const LARGE: usize = 1 << 25;

/// An array that chunks write.
#[derive(Debug)]
pub(crate) struct Output {
    /// The variable, unless it is a key of a sort.
    pub(crate) var: Option<Var>,
    ty: LaneType,
    /// The extents.
    pub(crate) extents: Vec<usize>,
    /// Whether it has one element more per row.
    full: bool,
    /// How many elements there are for each point.
    elements: usize,
}

impl Output {
    /// How many elements a chunk writes.
    pub(crate) fn part(&self, chunk: &Chunk) -> usize {
        let more = if self.full { chunk.finished_rows() } else { 0 };
        chunk.positions.len() * self.elements + more
    }
}

/// Where a result of the body goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Target {
    /// Straight to an output.
    Output(usize),
    /// Straight to an output, as an element of a row ([`Layout::rows`]).
    Row,
    /// To a buffer of the chunk.
    Stage(usize),
}

/// Outputs and buffers.
#[derive(Debug, Default)]
pub(crate) struct Layout {
    /// The arrays that chunks write.
    pub(crate) outputs: Vec<Output>,
    /// Per result of the body.
    pub(crate) targets: Vec<Target>,
    /// The types of the buffers.
    pub(crate) stages: Vec<LaneType>,
    /// Of each buffer the array whose elements it would hold just as they stand, so that it is not
    /// needed.
    pub(crate) known: Vec<Option<usize>>,
    /// Of each buffer of values to send the one value that it would hold, so that it is not needed.
    pub(crate) constant: Vec<Option<Storage>>,
    /// Of each buffer the operator that folds its values, if that is a common one.
    pub(crate) folds: Vec<Option<Primitive>>,
    /// Whether no code needs to run for all results to be known.
    pub(crate) only_known: bool,
    /// Whether the outputs are too large for any cache.
    pub(crate) streams: bool,
    /// The buffers of each sink.
    pub(crate) staged: Vec<Range<usize>>,
    /// The results that are the elements of one row each, and the output that this goes to.
    pub(crate) rows: Vec<(Range<usize>, usize)>,
    /// The buffers that only the epilogue needs.
    pub(crate) more: Range<usize>,
    /// Of each scan the outputs that are wanted.
    pub(crate) scans: Vec<Vec<Option<usize>>>,
    /// The outputs of an epilogue over the points.
    pub(crate) epilogue: Vec<usize>,
    /// The outputs that hold the keys of the sort.
    pub(crate) keys: Vec<usize>,
}

impl Layout {
    /// Of a kernel.
    pub(crate) fn new(launch: &Launch<'_>) -> Layout {
        let kernel = launch.kernel;
        let body = &launch.bound.kernel.body;
        let types: Vec<LaneType> = body
            .variant(Mode::Flat, &launch.bound.kernel.types)
            .routine
            .results
            .iter()
            .map(|slot| slot.ty)
            .collect();
        let mut layout = Layout::default();
        let storage = launch.shape.storage();
        let mut at = 0;
        for (sink_number, sink) in kernel.sinks.iter().enumerate() {
            let own = &types[at..at + sink.operands().count()];
            let first_result = at;
            at += own.len();
            let first = layout.stages.len();
            let mut scans = Vec::new();
            match sink {
                Sink::Store { array, .. } => {
                    let output = layout.output(Some(*array), own[0], storage.clone(), false);
                    layout.targets.push(Target::Output(output));
                }
                Sink::Interleave { values, array } => {
                    let extents = launch.extents_of_rows(*array, &storage);
                    let output = layout.output(Some(*array), own[0], extents, false);
                    layout.outputs[output].elements = values.len();
                    layout.targets.extend(values.iter().map(|_| Target::Row));
                    layout.rows.push((first_result..at, output));
                }
                Sink::Sort { .. } => {
                    for ty in own {
                        let output = layout.output(None, *ty, storage.clone(), false);
                        layout.targets.push(Target::Output(output));
                        layout.keys.push(output);
                    }
                }
                Sink::Scan { arrays, form, full, .. } => {
                    let extents = match full {
                        Some(full) => full_extents(launch, full),
                        None => storage.clone(),
                    };
                    for ((array, ty), known) in arrays.iter().zip(own).zip(first_result..) {
                        layout.stage(*ty);
                        layout.known.push(launch.read_as_it_stands(known));
                        scans.push(array.map(|array| {
                            let full = *form == ScanForm::Full;
                            layout.output(Some(array), *ty, extents.clone(), full)
                        }));
                    }
                }
                Sink::Reduce { .. } => {
                    for (ty, known) in own.iter().zip(first_result..) {
                        layout.stage(*ty);
                        layout.known.push(launch.read_as_it_stands(known));
                    }
                    let fold = launch.bound.kernel.folds[sink_number].as_ref();
                    // The components of one element are folded together or not at all, block by block.
                    let known = layout.known[first..].iter().flatten().count();
                    let in_blocks = fold.is_none_or(|fold| fold.first_extreme.is_none());
                    if known != 0 && known != own.len() && in_blocks {
                        layout.known[first..].fill(None);
                    }
                    if let Some(primitives) = fold.and_then(|fold| fold.primitives.as_ref()) {
                        layout.folds.resize(first, None);
                        layout.folds.extend(primitives.iter().copied().map(Some));
                    }
                }
                Sink::Filter { .. } => {
                    for (ty, known) in own.iter().zip(first_result..) {
                        layout.stage(*ty);
                        // The flags are always evaluated.
                        let known =
                            launch.read_as_it_stands(known).filter(|_| known > first_result);
                        layout.known.push(known);
                    }
                }
                Sink::Scatter { target, .. } => {
                    own.iter().for_each(|ty| layout.stage(*ty));
                    layout.constant.resize(first + target.len(), None);
                    layout.constant.extend((target.len()..own.len()).map(|at| {
                        let private = launch.is_private(sink_number, at - target.len());
                        match body.results[first_result + at] {
                            Operand::Scalar(value) if private => {
                                Some(Storage::from_column(Stored::scalar(value).elements))
                            }
                            Operand::Scalar(_) | Operand::Register(_) => None,
                        }
                    }));
                }
            }
            layout.known.resize(layout.stages.len(), None);
            layout.staged.push(first..layout.stages.len());
            layout.scans.push(scans);
        }
        let first = layout.stages.len();
        types[at..].iter().for_each(|ty| layout.stage(*ty));
        layout.more = first..layout.stages.len();
        layout.known.resize(layout.stages.len(), None);
        let filters = kernel.sinks.iter().any(|sink| matches!(sink, Sink::Filter { .. }));
        if let Some(epilogue) = &kernel.epilogue
            && !filters
            && !over_rows(kernel, epilogue.indices.len())
        {
            for (_, array) in &epilogue.stores {
                let ty = LaneType::of(launch.element(*array));
                let output = layout.output(Some(*array), ty, storage.clone(), false);
                layout.epilogue.push(output);
            }
        }
        layout.folds.resize(layout.stages.len(), None);
        layout.constant.resize(layout.stages.len(), None);
        let is_known = |target: &Target| match target {
            Target::Output(_) | Target::Row => false,
            Target::Stage(stage) => layout.known[*stage].is_some(),
        };
        let reads = |at: &Instruction| matches!(at.operation, Operation::Read(..));
        layout.only_known = layout.targets.iter().all(is_known)
            && launch.bound.kernel.body.code.instructions.iter().all(reads);
        let bytes = |output: &Output| output.ty.scalar_type().bytes() * output.elements;
        let kept = |sink: &Sink| match sink {
            Sink::Filter { kept, .. } => kept.len() * size_of::<f32>(),
            _ => 0,
        };
        let kept: usize = kernel.sinks.iter().map(kept).sum();
        let bytes = layout.outputs.iter().map(bytes).sum::<usize>() + kept;
        layout.streams = bytes.saturating_mul(launch.shape.points()) >= LARGE;
        layout
    }

    fn output(&mut self, var: Option<Var>, ty: LaneType, extents: Vec<usize>, full: bool) -> usize {
        self.outputs.push(Output { var, ty, extents, full, elements: 1 });
        self.outputs.len() - 1
    }

    fn stage(&mut self, ty: LaneType) {
        self.targets.push(Target::Stage(self.stages.len()));
        self.stages.push(ty);
    }

    /// Whether a buffer is needed.
    pub(crate) fn is_staged(&self, stage: usize) -> bool {
        self.known[stage].is_none() && self.constant[stage].is_none()
    }

    /// The results of the body that are constants nobody stores.
    pub(crate) fn constants(&self) -> Vec<usize> {
        let is_constant = |at: &usize| match self.targets[*at] {
            Target::Output(_) | Target::Row => false,
            Target::Stage(stage) => self.constant[stage].is_some(),
        };
        (0..self.targets.len()).filter(is_constant).collect()
    }

    /// The outputs, which may hold anything at first.
    pub(crate) fn allocate(
        &self,
        launch: &Launch<'_>,
        taken: &mut u64,
    ) -> Result<Vec<Storage>, Stop> {
        let length = |output: &Output| {
            let more = if output.full { launch.shape.rows() } else { 0 };
            launch.shape.points().saturating_mul(output.elements).saturating_add(more)
        };
        self.outputs
            .iter()
            .map(|output| launch.allocate(output.ty, length(output), taken))
            .collect()
    }
}

impl Launch<'_> {
    /// The extents of an array of rows over a space with this storage.
    fn extents_of_rows(&self, array: Var, storage: &[usize]) -> Vec<usize> {
        let row = &self.types[array.0 as usize].extents[storage.len()..];
        let row = row.iter().map(|extent| match extent {
            Size::Constant(extent) => *extent as usize,
            Size::Var(_) => unreachable!("a row has a number of elements that is known"),
        });
        storage.iter().copied().chain(row).collect()
    }

    /// The array whose elements at the points are a result of the body.
    fn read_as_it_stands(&self, result: usize) -> Option<usize> {
        let body = &self.bound.kernel.body;
        let Operand::Register(result) = body.results[result] else { return None };
        let is_result = |at: &&Instruction| at.results.first().is_some_and(|at| at.0 == result);
        let read = body.code.instructions.iter().find(is_result)?;
        let Operation::Read(array, indices) = &read.operation else { return None };
        let first = body.ragged.iter().rposition(|&ragged| ragged).unwrap_or(0);
        let at_point = indices
            .iter()
            .eq(&body.indices[first..].iter().map(|&at| Operand::Register(at)).collect::<Vec<_>>());
        let array = array.0 as usize;
        let over_space = matches!(self.sources[array], Source::Array { over_space: true, .. });
        (at_point && over_space && !indices.is_empty()).then_some(array)
    }
}

/// The extents of a scan with one element more per row.
fn full_extents(launch: &Launch<'_>, full: &Dimension) -> Vec<usize> {
    match full {
        Dimension::Dense(_) => {
            let mut extents = launch.shape.storage();
            if let Some(last) = extents.last_mut() {
                *last += 1;
            }
            extents
        }
        Dimension::Ragged { .. } => vec![launch.shape.points() + launch.shape.rows()],
    }
}
