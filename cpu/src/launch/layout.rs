//! Where the results of a kernel's body go.

use std::ops::Range;

use weft_ir::Stop;
use weft_ir::flat::{Dimension, ScanForm, Var};
use weft_ir::plan::Sink;

use crate::lanes::{LaneType, Storage};
use crate::launch::Launch;
use crate::launch::chunk::Chunk;
use crate::prepare::{operands, over_rows};
use crate::traverse::Mode;

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
}

impl Output {
    /// How many elements a chunk writes.
    pub(crate) fn part(&self, chunk: &Chunk) -> usize {
        chunk.positions.len() + if self.full { chunk.finished_rows() } else { 0 }
    }
}

/// Where a result of the body goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Target {
    /// Straight to an output.
    Output(usize),
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
    /// The buffers of each sink.
    pub(crate) staged: Vec<Range<usize>>,
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
        for sink in &kernel.sinks {
            let own = &types[at..at + operands(sink).len()];
            at += own.len();
            let first = layout.stages.len();
            let mut scans = Vec::new();
            match sink {
                Sink::Store { array, .. } => {
                    let output = layout.output(Some(*array), own[0], storage.clone(), false);
                    layout.targets.push(Target::Output(output));
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
                    for (array, ty) in arrays.iter().zip(own) {
                        layout.stage(*ty);
                        scans.push(array.map(|array| {
                            let full = *form == ScanForm::Full;
                            layout.output(Some(array), *ty, extents.clone(), full)
                        }));
                    }
                }
                Sink::Reduce { .. } | Sink::Filter { .. } | Sink::Scatter { .. } => {
                    own.iter().for_each(|ty| layout.stage(*ty));
                }
            }
            layout.staged.push(first..layout.stages.len());
            layout.scans.push(scans);
        }
        let first = layout.stages.len();
        types[at..].iter().for_each(|ty| layout.stage(*ty));
        layout.more = first..layout.stages.len();
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
        layout
    }

    fn output(&mut self, var: Option<Var>, ty: LaneType, extents: Vec<usize>, full: bool) -> usize {
        self.outputs.push(Output { var, ty, extents, full });
        self.outputs.len() - 1
    }

    fn stage(&mut self, ty: LaneType) {
        self.targets.push(Target::Stage(self.stages.len()));
        self.stages.push(ty);
    }

    /// The outputs, zeros at first.
    pub(crate) fn allocate(
        &self,
        launch: &Launch<'_>,
        taken: &mut u64,
    ) -> Result<Vec<Storage>, Stop> {
        let length = |output: &Output| {
            launch.shape.points() + if output.full { launch.shape.rows() } else { 0 }
        };
        self.outputs
            .iter()
            .map(|output| launch.allocate(output.ty, length(output), taken))
            .collect()
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
