//! Sorts: digit after digit, from the last key to the first.

use weft_ir::plan::Sink;
use weft_ir::{ScalarType, Stop};

use super::{Launch, word};
use crate::fields::Divisor;
use crate::run::{Buffer, stop};
use crate::shape::{Row, TREE};
use crate::text::Piece;

/// Bits of a digit, and how many digits there are.
const DIGIT: u32 = 8;
const DIGITS: usize = 1 << DIGIT;

/// Bytes of what tiles publish that are cleared for several passes at once.
const MOST_AT_ONCE: u64 = 32 << 20;

/// Elements of a thread, as in `sort.cu`.
const SORT_ITEMS: u64 = 8;

/// Keys, the numbers of the points that go with them (their order as it is, if there are none), and the
/// type of both.
#[derive(Clone)]
struct Sorted {
    keys: Buffer,
    order: Option<Buffer>,
    ty: ScalarType,
    /// Whether the order is where it was wanted, and only there.
    is_placed: bool,
}

impl Launch<'_, '_> {
    /// Sorts by so many bits of the keys; keys that are not wanted afterwards are garbage then. At an address, if there is
    /// one, the order is put as the language has it; it is nowhere else then, unless it is as it was.
    fn sort_by(
        &mut self,
        sorted: Sorted,
        bits: u32,
        wants_keys: bool,
        into: Option<u64>,
    ) -> Result<Sorted, Stop> {
        let points = self.shape.points;
        let ty = sorted.ty;
        let positions = bits.div_ceil(DIGIT);
        let counts = self.zeros(u64::from(positions) << DIGIT, 8, "counts")?;
        let parameters = [
            word(sorted.keys.address),
            word(points),
            positions.to_le_bytes().to_vec(),
            word(counts.address),
        ];
        let blocks = self.blocks_for(points);
        self.launch_common(&entry("sort_histogram", ty), blocks, &parameters)?;
        let passes = self.passes(&counts, positions)?;
        let tiles = points.div_ceil(self.threads() * SORT_ITEMS);
        // What tiles publish, and behind it the ticket; of all passes, if that is little.
        let words = (tiles << DIGIT) + 1;
        let is_little = words * 8 * passes.len() as u64 <= MOST_AT_ONCE;
        let at_once = if is_little { passes.len().max(1) } else { 1 };
        let status = self.machine.memory.scratch(words * at_once as u64, 8, "status")?;
        let mut from = sorted;
        // The buffers of what was sorted before are written again.
        let mut unused: Vec<Buffer> = Vec::new();
        for (number, position) in passes.iter().enumerate() {
            if number % at_once == 0 {
                self.machine.memory.clear(&status)?;
            }
            let status = status.address + (number % at_once) as u64 * words * 8;
            let last = number + 1 == passes.len();
            let keys = match last && !wants_keys {
                true => None,
                false => Some(self.buffer_of(ty, &mut unused)?),
            };
            let into = into.filter(|_| last);
            let order = match into {
                Some(_) => None,
                None => Some(self.buffer_of(ty, &mut unused)?),
            };
            let address = |buffer: Option<&Buffer>| word(buffer.map_or(0, |buffer| buffer.address));
            let starts = counts.address + (u64::from(*position) << DIGIT) * 8;
            let parameters = [
                word(from.keys.address),
                address(from.order.as_ref()),
                word(points),
                (position * DIGIT).to_le_bytes().to_vec(),
                word(starts),
                word(status),
                word(status + (tiles << DIGIT) * 8),
                address(keys.as_ref()),
                match (into, ty) {
                    (Some(into), ScalarType::U64) => word(into),
                    _ => address(order.as_ref()),
                },
                word(into.filter(|_| ty != ScalarType::U64).unwrap_or_default()),
            ];
            self.launch_common(&entry("sort_pass", ty), tiles, &parameters)?;
            if let Some(keys) = keys {
                unused.push(std::mem::replace(&mut from.keys, keys));
            }
            from.is_placed = order.is_none();
            unused.extend(std::mem::replace(&mut from.order, order));
        }
        Ok(from)
    }

    /// The positions of the digits by which keys differ; their counts become how many keys have lesser
    /// digits.
    fn passes(&mut self, counts: &Buffer, positions: u32) -> Result<Vec<u32>, Stop> {
        let points = self.shape.points;
        self.machine.stop_if_failed()?;
        let bytes = self.machine.memory.read(counts, counts.bytes)?;
        let mut passes = Vec::new();
        let mut starts = Vec::with_capacity(bytes.len());
        for (position, digits) in (0..positions).zip(bytes.chunks_exact(DIGITS * 8)) {
            let (mut sum, mut differ) = (0, true);
            for count in digits.chunks_exact(8) {
                let count = count.first_chunk().map_or(0, |bytes| u64::from_le_bytes(*bytes));
                starts.extend(u64::to_le_bytes(sum));
                sum += count;
                differ &= count != points;
            }
            if differ {
                passes.push(position);
            }
        }
        self.machine.memory.target.write(counts.address, &starts).map_err(stop)?;
        Ok(passes)
    }

    fn buffer_of(&mut self, ty: ScalarType, unused: &mut Vec<Buffer>) -> Result<Buffer, Stop> {
        match unused.pop() {
            Some(buffer) => Ok(buffer),
            None => self.machine.memory.scratch(self.shape.points, ty.bytes(), "sorted"),
        }
    }

    /// Keys of a type as another, in an order.
    fn gather(
        &mut self,
        keys: &Buffer,
        from: ScalarType,
        order: Option<&Buffer>,
        ty: ScalarType,
    ) -> Result<Buffer, Stop> {
        let points = self.shape.points;
        let out = self.machine.memory.scratch(points, ty.bytes(), "keys")?;
        let order = word(order.map_or(0, |buffer| buffer.address));
        let parameters = [word(keys.address), order, word(points), word(out.address)];
        let name = if from == ty { entry("sort_gather", ty) } else { "sort_widen".to_owned() };
        self.launch_common(&name, self.blocks_for(points), &parameters)?;
        Ok(out)
    }

    pub(super) fn sort(&mut self, piece: &Piece, keys: &[(usize, u32)]) -> Result<(), Stop> {
        let points = self.shape.points;
        if points == 0 {
            return Ok(());
        }
        self.map(piece, points)?;
        let of_keys = self.code.temporaries[keys[0].0];
        let ty = match points > self.machine.config.policy.narrow_points {
            true => ScalarType::U64,
            false => of_keys,
        };
        let Some(Sink::Sort { order: result, .. }) =
            self.code.kernel.sinks.iter().find(|sink| matches!(sink, Sink::Sort { .. }))
        else {
            return Ok(());
        };
        let out = self.outputs[result].address;
        let rows = self.shape.rows;
        let mut order = None;
        // The last pass of all puts the order where it is wanted, if positions in rows are positions.
        let into = (keys.len() == 1 && rows == 1).then_some(out);
        for &(number, bits) in keys.iter().rev() {
            let own = self.temporaries[number].clone();
            let keys = match (&order, of_keys == ty) {
                (None, true) => own,
                (order, _) => self.gather(&own, of_keys, order.as_ref(), ty)?,
            };
            let sorted = Sorted { keys, order, ty, is_placed: false };
            let sorted = self.sort_by(sorted, bits, false, into)?;
            if sorted.is_placed {
                return Ok(());
            }
            order = sorted.order;
        }
        let address = |order: &Option<Buffer>| word(order.as_ref().map_or(0, |at| at.address));
        if rows > 1 {
            let keys = self.machine.memory.scratch(points, ty.bytes(), "rows")?;
            let parameters = [
                self.shape.rows_argument(),
                self.row_divisor().bytes(),
                address(&order),
                word(points),
                word(keys.address),
            ];
            self.launch_common(&entry("sort_rows", ty), self.blocks_for(points), &parameters)?;
            let sorted = Sorted { keys, order, ty, is_placed: false };
            order = self.sort_by(sorted, bits_of(rows - 1), false, None)?.order;
        }
        let length = self.row_divisor().bytes();
        let parameters = [address(&order), word(points), length, word(out)];
        self.launch_common(&entry("sort_order", ty), self.blocks_for(points), &parameters)
    }

    /// By the length of rows; by 0, if they are ragged.
    fn row_divisor(&self) -> Divisor {
        Divisor::new(match self.shape.row {
            Row::Dense(length) => length,
            Row::Ragged(_) => 0,
        })
    }

    /// Prepares a scatter and sorts its points by target, in place of what was prepared.
    pub(super) fn targets(&mut self, piece: &Piece, keys: usize, order: usize) -> Result<(), Stop> {
        let points = self.shape.points;
        if points == 0 {
            return Ok(());
        }
        self.map(piece, points)?;
        let sinks = &self.code.kernel.sinks;
        let sink = sinks.iter().position(|sink| matches!(sink, Sink::Scatter { .. }));
        let dropped = self.targets_of(sink.unwrap_or_default())?;
        let ty = self.number();
        let before = self.temporaries[order].clone();
        let own = self.temporaries[keys].clone();
        let from = Sorted { keys: own, order: Some(before), ty, is_placed: false };
        let sorted = self.sort_by(from, bits_of(dropped), true, None)?;
        self.temporaries[keys] = sorted.keys;
        if let Some(sorted) = sorted.order {
            self.temporaries[order] = sorted;
        }
        Ok(())
    }

    /// Folds runs of equal targets, which are rows, by the sorted targets.
    pub(super) fn runs(
        &mut self,
        piece: &Piece,
        sink: usize,
        keys: usize,
        components: &[ScalarType],
    ) -> Result<(), Stop> {
        let points = self.shape.points;
        if points == 0 {
            return Ok(());
        }
        let targets = word(self.temporaries[keys].address);
        let runs = [targets, word(points), word(self.targets_of(sink)?)].concat();
        let span = self.machine.config.policy.span(components);
        let blocks = self.nodes(components, TREE)?;
        let parameters = [self.arguments(piece)?, runs.clone(), blocks.bytes()];
        self.launch(piece, "scatter_runs", points.div_ceil(span), &parameters)?;
        self.long_rows(piece, ["scatter_long", "scatter_longest"], &runs, blocks, components)
    }
}

/// A function for keys of 32 or 64 bits.
fn entry(name: &str, ty: ScalarType) -> String {
    format!("{name}{}", if ty == ScalarType::U64 { "_wide" } else { "" })
}

/// How many bits a number needs.
fn bits_of(number: u64) -> u32 {
    u64::BITS - number.leading_zeros()
}
