//! Launches the pieces of a kernel.

mod reduce;
mod sort;

pub(crate) use reduce::large_tiles;

use std::collections::BTreeMap;

use weft_ir::flat::{Dimension, Var};
use weft_ir::plan::{Kernel, Sink};
use weft_ir::{Exhausted, Scalar, ScalarType, Stop};

use crate::fields::{Argument, Divisor, Field, structure};
use crate::policy::BLOCKS_OF_MAPS;
use crate::run::{Buffer, Datum, Machine, name, stop};
use crate::shape::{Row, Shape, TILE, tree_nodes};
use crate::target::{Access, Broken};
use crate::text::{Entry, KernelCode, Length, Piece, Skeleton};

/// Points along both dimensions of a tile that is transposed, as in `transpose.cu`.
const EDGE: u64 = 32;

impl Machine<'_> {
    /// The space of a kernel.
    pub(crate) fn shape(&mut self, kernel: &Kernel) -> Result<Shape, Stop> {
        let (mut points, mut rows, mut row, mut widest) = (1_u64, 1, Row::Dense(1), 1);
        for dimension in &kernel.space {
            rows = points;
            (points, row) = match dimension {
                Dimension::Dense(size) => {
                    let extent = self.size(*size, kernel.span)?;
                    let wanted = u64::MAX;
                    let limit = self.config.memory_limit;
                    let beyond = Exhausted::Memory { wanted, limit, span: kernel.span };
                    let all = rows.checked_mul(extent).filter(|all| i64::try_from(*all).is_ok());
                    (all.ok_or(beyond)?, Row::Dense(extent))
                }
                Dimension::Ragged { offsets, total } => {
                    let total = self.size(*total, kernel.span)?;
                    (total, Row::Ragged(self.buffer(*offsets).address))
                }
            };
            widest = points.max(widest);
        }
        Ok(Shape { points, rows, row, widest })
    }

    /// The buffers that a kernel reads of those that there are.
    pub(crate) fn read_by(&self, code: &KernelCode) -> Vec<u64> {
        let fields = code.pieces.iter().flat_map(|piece| &piece.fields);
        let buffer = |field: &Field| {
            let (Field::Array(var) | Field::Computed(var)) = *field else { return None };
            match self.find(var)? {
                Datum::Array { buffer, .. } | Datum::Computed { buffer, .. } => {
                    Some(buffer.address)
                }
                Datum::Scalar(_) => None,
            }
        };
        fields.filter_map(buffer).collect()
    }

    fn buffer(&self, var: Var) -> &Buffer {
        match self.get(var) {
            Datum::Array { buffer, .. } | Datum::Computed { buffer, .. } => buffer,
            Datum::Scalar(_) => panic!("a{} is no array", var.0),
        }
    }
}

/// A kernel that is about to run.
pub(crate) struct Launch<'m, 'a> {
    machine: &'m mut Machine<'a>,
    code: &'m KernelCode,
    shape: Shape,
    /// Whether there are numbers of points, or of targets, that 32 bits do not hold.
    is_wide: bool,
    outputs: BTreeMap<Var, Buffer>,
    temporaries: Vec<Buffer>,
    /// How many points the filter kept.
    kept: u64,
}

impl<'m, 'a> Launch<'m, 'a> {
    pub(crate) fn new(
        machine: &'m mut Machine<'a>,
        code: &'m KernelCode,
        shape: Shape,
    ) -> Launch<'m, 'a> {
        let (outputs, temporaries) = (BTreeMap::new(), Vec::new());
        Launch { machine, code, shape, is_wide: false, outputs, temporaries, kept: 0 }
    }

    /// Runs all pieces; `freed` are the variables that are not used any more after it.
    pub(crate) fn run(mut self, freed: &[Var]) -> Result<(), Stop> {
        let code = self.code;
        let mut widest = self.shape.widest;
        for piece in &code.pieces {
            if let Skeleton::Runs { sink, .. } = piece.skeleton {
                widest = widest.max(self.targets_of(sink)?);
            }
        }
        self.is_wide = widest > self.machine.config.policy.narrow_points;
        self.allocate(freed)?;
        for piece in &code.pieces {
            match &piece.skeleton {
                Skeleton::Map { transposed } => {
                    if !transposed || !self.map_transposed(piece)? {
                        self.map(piece, self.shape.points)?;
                    }
                }
                Skeleton::MapKept => self.map(piece, self.kept)?,
                Skeleton::Reduce { components, sharing, has_groups } => {
                    if !self.shared(piece, *sharing)? {
                        self.reduce(piece, components, *has_groups)?;
                    }
                }
                Skeleton::Scan { components, has_groups } => {
                    self.scan(piece, components, *has_groups)?;
                }
                Skeleton::Filter { positions, items } => self.filter(piece, *positions, *items)?,
                Skeleton::Scatter(sink) => self.scatter(piece, *sink)?,
                Skeleton::Update(sink) => self.update(piece, *sink)?,
                Skeleton::Targets { keys, order } => self.targets(piece, *keys, *order)?,
                Skeleton::Runs { sink, keys, components } => {
                    self.runs(piece, *sink, *keys, components)?;
                }
                Skeleton::Loop { entry, replaced, same } => {
                    self.finish_loop(piece, entry, replaced, same)?;
                }
                Skeleton::Sort { keys, alone: None } => self.sort(piece, keys)?,
                Skeleton::Sort { keys, alone: Some(alone) } => {
                    self.sort_alone(piece, keys, alone)?
                }
            }
        }
        self.bind()
    }

    /// Buffers for all that the kernel yields, but for what depends on how many points are kept.
    fn allocate(&mut self, freed: &[Var]) -> Result<(), Stop> {
        let kernel = &self.code.kernel;
        let points = self.shape.points;
        let mut filters = false;
        for sink in &kernel.sinks {
            match sink {
                Sink::Store { array, .. } | Sink::Interleave { array, .. } => {
                    self.output(*array, None)?
                }
                Sink::Sort { order, .. } => {
                    self.output(self.sorted_alone().unwrap_or(*order), None)?
                }
                Sink::Reduce { arrays, .. } | Sink::Scan { arrays, .. } => {
                    arrays.iter().flatten().try_for_each(|array| self.output(*array, None))?;
                }
                Sink::Filter { counts, kept, .. } => {
                    filters = true;
                    if let [offsets, _] = counts[..] {
                        self.output(offsets, None)?;
                    }
                    kept.iter().try_for_each(|(_, array)| self.output(*array, Some(points)))?;
                }
                Sink::Scatter { destinations, arrays, .. } => {
                    for (at, (before, after)) in destinations.iter().zip(arrays).enumerate() {
                        let alone = freed.contains(before)
                            && !destinations[at + 1..].contains(before)
                            && !self.reads(*before);
                        self.destination(*before, *after, alone)?;
                    }
                }
            }
        }
        if let Some(epilogue) = kernel.epilogue.as_ref().filter(|_| !filters) {
            epilogue.stores.iter().try_for_each(|(_, array)| self.output(*array, None))?;
        }
        for (number, (ty, length)) in
            self.code.temporaries.iter().zip(&self.code.lengths).enumerate()
        {
            let count = match length {
                Length::Points | Length::Numbers => points,
                Length::Positions => points + 1,
                Length::One => 1,
            };
            let bytes = match length {
                Length::Numbers => self.number().bytes(),
                Length::Points | Length::Positions | Length::One => ty.bytes(),
            };
            let name = format!("t{number}");
            let buffer = self.machine.memory.allocate(count, bytes, &name, kernel.span)?;
            self.temporaries.push(buffer);
        }
        Ok(())
    }

    /// What a sort yields in place of an order.
    fn sorted_alone(&self) -> Option<Var> {
        self.code.pieces.iter().find_map(|piece| match &piece.skeleton {
            Skeleton::Sort { alone, .. } => alone.as_ref().map(|alone| alone.sorted),
            _ => None,
        })
    }

    /// Whether any piece reads an array.
    fn reads(&self, var: Var) -> bool {
        self.code.pieces.iter().any(|piece| piece.fields.contains(&Field::Array(var)))
    }

    fn output(&mut self, var: Var, count: Option<u64>) -> Result<(), Stop> {
        let count = match count {
            Some(count) => count,
            None => self.machine.extents(var)?.iter().map(|extent| *extent as u64).product(),
        };
        let element = self.machine.types[var.0 as usize].element.bytes();
        let span = self.code.kernel.span;
        let buffer = self.machine.memory.allocate(count, element, &name(var), span)?;
        self.outputs.insert(var, buffer);
        Ok(())
    }

    /// The buffer of a scatter's result, which begins as its destination (Note [In place]).
    fn destination(&mut self, before: Var, after: Var, alone: bool) -> Result<(), Stop> {
        let datum = match alone {
            true => self.machine.take(before),
            false => self.machine.get(before).clone(),
        };
        let Datum::Array { buffer, extents } = datum else { panic!("a scalar is no destination") };
        let result = if alone && std::sync::Arc::strong_count(&buffer) == 1 {
            buffer.clone()
        } else {
            let element = self.machine.types[after.0 as usize].element.bytes();
            let span = self.code.kernel.span;
            self.machine.memory.copy(&buffer, element, &name(after), span)?
        };
        if alone {
            // The step behind frees it.
            self.machine.set(before, Datum::Array { buffer, extents });
        }
        self.outputs.insert(after, result);
        Ok(())
    }

    /// Makes the results known.
    fn bind(self) -> Result<(), Stop> {
        for (var, buffer) in self.outputs {
            let ty = &self.machine.types[var.0 as usize];
            let datum = if ty.extents.is_empty() {
                Datum::Computed { buffer, value: None }
            } else {
                Datum::Array { extents: self.machine.extents(var)?, buffer }
            };
            self.machine.set(var, datum);
        }
        Ok(())
    }

    // ---- arguments ----------------------------------------------------------------------------

    fn arguments(&mut self, piece: &Piece) -> Result<Vec<u8>, Stop> {
        let arguments: Result<Vec<Argument>, Stop> =
            piece.fields.iter().map(|field| self.argument(*field)).collect();
        Ok(structure(&arguments?))
    }

    fn argument(&mut self, field: Field) -> Result<Argument, Stop> {
        Ok(match field {
            Field::Failure => Argument::Pointer(self.machine.failure.address),
            Field::Array(var) => Argument::Pointer(match self.outputs.get(&var) {
                Some(buffer) => buffer.address,
                None => self.machine.buffer(var).address,
            }),
            Field::Output(var) => Argument::Pointer(self.outputs[&var].address),
            Field::Scalar(var) => Argument::Scalar(self.machine.scalar(var)?),
            Field::Computed(var) => Argument::Pointer(self.machine.buffer(var).address),
            Field::Divisor(var) => match self.machine.scalar(var)? {
                Scalar::I64(by) => Argument::Divisor(Divisor::new(by as u64)),
                other => panic!("{other:?} is no extent"),
            },
            Field::Temporary(number) | Field::Numbers(number) => {
                Argument::Pointer(self.temporaries[number].address)
            }
        })
    }

    /// The `__global__` function of a piece, for numbers of 32 bits where they suffice.
    fn entry(&self, piece: &Piece, name: &str) -> String {
        let suffix = if piece.wide && self.is_wide { "_wide" } else { "" };
        format!("k{}_{name}{suffix}", self.code.number)
    }

    /// The type of numbers of points, and of targets.
    fn number(&self) -> ScalarType {
        if self.is_wide { ScalarType::U64 } else { ScalarType::U32 }
    }

    /// Launches a function of a piece.
    fn launch(
        &mut self,
        piece: &Piece,
        name: &str,
        blocks: u64,
        parameters: &[Vec<u8>],
    ) -> Result<(), Stop> {
        let (entry, reads) = (self.entry(piece, name), self.only_read(piece));
        self.launch_entry(&entry, blocks, parameters, &reads)
    }

    /// The buffers that a piece reads and does not write.
    fn only_read(&self, piece: &Piece) -> Vec<u64> {
        let address = |var: Var| match self.outputs.get(&var) {
            Some(buffer) => buffer.address,
            None => self.machine.buffer(var).address,
        };
        let (mut reads, mut writes) = (Vec::new(), Vec::new());
        for field in &piece.fields {
            match *field {
                Field::Array(var) | Field::Computed(var) => reads.push(address(var)),
                Field::Output(var) => writes.push(address(var)),
                Field::Temporary(number) | Field::Numbers(number) => {
                    writes.push(self.temporaries[number].address);
                }
                Field::Failure | Field::Scalar(_) | Field::Divisor(_) => {}
            }
        }
        if let Row::Ragged(offsets) = self.shape.row {
            reads.push(offsets);
        }
        reads.retain(|address| !writes.contains(address));
        reads
    }

    fn launch_entry(
        &mut self,
        entry: &str,
        blocks: u64,
        parameters: &[Vec<u8>],
        reads: &[u64],
    ) -> Result<(), Stop> {
        let threads = self.machine.config.policy.threads;
        let checks = !self.code.sites.is_empty();
        self.machine.unchecked |= checks;
        let too_wide = self.machine.too_wide.iter().find(|known| known.name == entry);
        let target = &mut self.machine.memory.target;
        if let Some(Entry { shared, .. }) = too_wide {
            let broken = Broken::Shared { wanted: *shared, span: self.code.kernel.span };
            return target.refuse(broken).map_err(stop);
        }
        let access = Access { reads, checks, relies: self.code.relies };
        target.launch(entry, blocks, threads, parameters, access).map_err(stop)
    }

    /// Launches a function that belongs to no kernel: it has to be told where the failures are.
    fn launch_common(
        &mut self,
        entry: &str,
        blocks: u64,
        parameters: &[Vec<u8>],
    ) -> Result<(), Stop> {
        let failure = word(self.machine.failure.address);
        let all: Vec<Vec<u8>> = [failure].into_iter().chain(parameters.iter().cloned()).collect();
        self.launch_entry(entry, blocks, &all, &[])
    }

    fn threads(&self) -> u64 {
        u64::from(self.machine.config.policy.threads)
    }

    /// Blocks of threads that go on with further elements.
    fn blocks_for(&self, elements: u64) -> u64 {
        elements.div_ceil(self.threads()).min(u64::from(self.machine.config.policy.blocks))
    }

    fn zeros(&mut self, count: u64, element: usize, name: &str) -> Result<Buffer, Stop> {
        let buffer = self.machine.memory.scratch(count, element, name)?;
        self.machine.memory.clear(&buffer)?;
        Ok(buffer)
    }

    // ---- skeletons ----------------------------------------------------------------------------

    fn map(&mut self, piece: &Piece, points: u64) -> Result<(), Stop> {
        if points == 0 {
            return Ok(());
        }
        let entry = match (&piece.skeleton, piece.name.ends_with("epilogue")) {
            (Skeleton::Targets { .. }, _) => "targets",
            (Skeleton::Sort { .. }, _) => "sort_keys",
            (_, true) => "epilogue",
            (_, false) => "map",
        };
        let parameters = [self.arguments(piece)?, word(points)];
        // More than run at once: those that are done early leave room for others.
        let most = BLOCKS_OF_MAPS * u64::from(self.machine.config.policy.blocks);
        let blocks = points.div_ceil(self.threads() * piece.width).min(most);
        self.launch(piece, entry, blocks, &parameters)
    }

    /// A map that reads columns; whether they are long enough to be worth it.
    fn map_transposed(&mut self, piece: &Piece) -> Result<bool, Stop> {
        let Row::Dense(across) = self.shape.row else { return Ok(false) };
        let down = self.extent(2)?;
        let least = self.machine.config.policy.least_grid;
        if down < least || across < least || self.shape.points == 0 {
            return Ok(false);
        }
        let batches = self.shape.rows / down;
        let tiles = down.div_ceil(EDGE) * across.div_ceil(EDGE);
        let parameters = [self.arguments(piece)?, word(down), word(across)];
        self.launch(piece, "map_transposed", batches * tiles, &parameters)?;
        Ok(true)
    }

    /// The extent of a dimension, counted from the last one, which is 1; of one with ragged rows, 0.
    fn extent(&mut self, from_last: usize) -> Result<u64, Stop> {
        let kernel = &self.code.kernel;
        match kernel.space[kernel.space.len() - from_last] {
            Dimension::Dense(size) => self.machine.size(size, kernel.span),
            Dimension::Ragged { .. } => Ok(0),
        }
    }

    /// A buffer per component, and the addresses of all.
    fn components(
        &mut self,
        components: &[ScalarType],
        count: u64,
    ) -> Result<(Vec<Buffer>, Vec<u8>), Stop> {
        let mut buffers = Vec::new();
        for ty in components {
            buffers.push(self.machine.memory.scratch(count, ty.bytes(), "scratch")?);
        }
        let addresses = buffers.iter().flat_map(|buffer| buffer.address.to_le_bytes()).collect();
        Ok((buffers, addresses))
    }

    fn scan(
        &mut self,
        piece: &Piece,
        components: &[ScalarType],
        has_groups: bool,
    ) -> Result<(), Stop> {
        let Shape { rows, row, .. } = self.shape;
        let staged = self.machine.config.policy.staged(components);
        if rows == 0 {
            return Ok(());
        }
        let number = piece.name.rsplit("scan").next().unwrap_or_default();
        let mut parameters = vec![self.arguments(piece)?, self.shape.rows_argument()];
        match row {
            Row::Dense(length) if has_groups && length > 0 && length <= staged => {
                let group = self.group(length, components);
                parameters.extend([Divisor::new(length).bytes(), half(group)]);
                let blocks = rows.div_ceil(group);
                self.launch(piece, &format!("scan_groups{number}"), blocks, &parameters)
            }
            _ if self.short() => {
                let entry = format!("scan_rows{number}");
                self.launch(piece, &entry, self.blocks_for(rows), &parameters)
            }
            Row::Ragged(_) => {
                let blocks = rows.min(u64::from(self.machine.config.policy.blocks));
                self.launch(piece, &format!("scan_blocks{number}"), blocks, &parameters)
            }
            Row::Dense(length) => {
                let tiles = length.div_ceil(TILE);
                let per_row = tree_nodes(tiles);
                let (_values, mut published) = self.components(components, rows * per_row)?;
                let flags = self.zeros(rows * per_row, 4, "flags")?;
                let ticket = self.zeros(1, 4, "ticket")?;
                published.extend(flags.address.to_le_bytes());
                published.extend(per_row.to_le_bytes());
                parameters.extend([half(tiles), published, word(ticket.address)]);
                self.launch(piece, &format!("scan_tiles{number}"), rows * tiles, &parameters)
            }
        }
    }

    fn filter(&mut self, piece: &Piece, positions: Option<usize>, items: u64) -> Result<(), Stop> {
        let kernel = &self.code.kernel;
        let counts = kernel.sinks.iter().map(Sink::counts).find(|counts| !counts.is_empty());
        let counts = counts.expect("the piece of a filter");
        let points = self.shape.points;
        let positions = positions.map(|number| self.temporaries[number].clone());
        let tiles = points.div_ceil(self.threads() * items);
        if tiles > 0 {
            let status = self.zeros(tiles, 8, "status")?;
            let ticket = self.zeros(1, 4, "ticket")?;
            let total = self.machine.memory.scratch(1, 8, "total")?;
            let parameters = [
                self.arguments(piece)?,
                word(points),
                word(status.address),
                word(ticket.address),
                word(total.address),
                word(positions.as_ref().map_or(0, |buffer| buffer.address)),
            ];
            self.launch(piece, "filter", tiles, &parameters)?;
            self.machine.stop_if_failed()?;
            match self.machine.memory.element(&total, 0, ScalarType::I64)? {
                Scalar::I64(kept) => self.kept = kept as u64,
                other => panic!("{other:?} is no count"),
            }
        }
        if let (&[offsets, _], Some(positions)) = (counts, positions) {
            let offsets = self.outputs[&offsets].clone();
            if tiles == 0 {
                self.machine.memory.clear(&offsets)?;
            } else {
                let parameters = [
                    self.shape.rows_argument(),
                    word(points),
                    word(positions.address),
                    word(offsets.address),
                ];
                let blocks = self.blocks_for(self.shape.rows + 1);
                self.launch_common("offsets_of_kept", blocks, &parameters)?;
            }
        }
        if let Some(total) = counts.last() {
            self.machine.set(*total, Datum::Scalar(Scalar::I64(self.kept as i64)));
        }
        if let Some(epilogue) = &kernel.epilogue {
            epilogue.stores.iter().try_for_each(|(_, array)| self.output(*array, None))?;
        }
        Ok(())
    }

    /// A loop to its end at each point: its state becomes the last one.
    fn finish_loop(
        &mut self,
        piece: &Piece,
        entry: &str,
        replaced: &[Var],
        same: &[(Var, usize)],
    ) -> Result<(), Stop> {
        // Nobody sees the state at hand any more.
        replaced.iter().try_for_each(|part| self.destination(*part, *part, true))?;
        let points = self.shape.points;
        let mut parameters = vec![self.arguments(piece)?];
        if entry == "rows" {
            parameters.push(word(points));
        }
        let warps = points.div_ceil(32).min(u64::from(self.machine.config.policy.blocks));
        self.launch(piece, entry, warps, &parameters)?;
        let last = |(part, temporary): &(Var, usize)| (*part, self.temporaries[*temporary].clone());
        let same: Vec<(Var, Buffer)> = same.iter().map(last).collect();
        self.outputs.extend(same);
        Ok(())
    }

    /// The number of targets of a scatter.
    fn targets_of(&mut self, sink: usize) -> Result<u64, Stop> {
        let Sink::Scatter { arrays, .. } = &self.code.kernel.sinks[sink] else { return Ok(0) };
        let extents = self.machine.extents(arrays[0])?;
        Ok(extents.iter().map(|extent| *extent as u64).product())
    }

    fn scatter(&mut self, piece: &Piece, sink: usize) -> Result<(), Stop> {
        let points = self.shape.points;
        if points == 0 {
            return Ok(());
        }
        let targets = self.targets_of(sink)?;
        let winners = self.zeros(targets, 8, "winners")?;
        let parameters = [self.arguments(piece)?, word(points), word(winners.address)];
        let blocks = self.blocks_for(points);
        self.launch(piece, "scatter_vote", blocks, &parameters)?;
        self.launch(piece, "scatter_write", blocks, &parameters)
    }

    fn update(&mut self, piece: &Piece, sink: usize) -> Result<(), Stop> {
        let (points, targets) = (self.shape.points, self.targets_of(sink)?);
        if points == 0 {
            return Ok(());
        }
        let Sink::Scatter { arrays, .. } = &self.code.kernel.sinks[sink] else { return Ok(()) };
        let blocks = self.blocks_for(points);
        let mut parameters = vec![self.arguments(piece)?, word(points)];
        if arrays.len() == 1 && targets <= self.machine.config.policy.bins {
            parameters.push((targets as u32).to_le_bytes().to_vec());
            // Each counts in 32 bits.
            let blocks = blocks.max(points.div_ceil(1 << 31));
            return self.launch(piece, "scatter_bins", blocks, &parameters);
        }
        self.launch(piece, "scatter_update", blocks, &parameters)
    }
}

/// The bytes of a parameter of eight.
fn word(value: u64) -> Vec<u8> {
    value.to_le_bytes().to_vec()
}

/// The bytes of a parameter of four: a number of blocks, of which a launch has less than 2^31.
fn half(value: u64) -> Vec<u8> {
    u32::try_from(value).unwrap_or(u32::MAX).to_le_bytes().to_vec()
}
