//! Sorts: digit after digit, from the last key to the first.

use weft_ir::plan::Sink;
use weft_ir::{ScalarType, Stop};

use super::{Launch, word};
use crate::fields::Divisor;
use crate::run::{Buffer, stop};
use crate::shape::{Row, TREE};
use crate::text::{Alone, Flips, Piece};

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
    /// Whether what was wanted at a place is there, and only there.
    is_placed: bool,
}

/// What a sort is for.
#[derive(Clone, Copy)]
enum Wanted {
    /// The order.
    Order,
    /// The order and the keys.
    Both,
    /// The order at an address, as the language has it; it is nowhere else then, unless it is as it was.
    Placed(u64),
    /// The keys at an address, as elements (Note [Keys alone] in `generate::sort`), unless they are in order.
    Keys(u64, Flips),
}

impl Launch<'_, '_> {
    /// Sorts by so many bits of the keys; keys that are not wanted afterwards are garbage then.
    fn sort_by(&mut self, sorted: Sorted, bits: u32, wanted: Wanted) -> Result<Sorted, Stop> {
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
            // What has a place of its own in the last pass, or is not wanted, has no buffer.
            let has_keys = !last || matches!(wanted, Wanted::Both);
            let keys = if has_keys { Some(self.buffer_of(ty, &mut unused)?) } else { None };
            let has_order = match wanted {
                Wanted::Order | Wanted::Both => true,
                Wanted::Placed(_) => !last,
                Wanted::Keys(..) => false,
            };
            let order = if has_order { Some(self.buffer_of(ty, &mut unused)?) } else { None };
            let address = |buffer: &Option<Buffer>| buffer.as_ref().map_or(0, |own| own.address);
            let (mut keys_at, mut order_at, mut placed_at) = (address(&keys), address(&order), 0);
            let mut flips = Flips::default();
            match wanted {
                Wanted::Keys(place, own) if last => (keys_at, flips) = (place, own),
                Wanted::Placed(place) if last && ty == ScalarType::U64 => order_at = place,
                Wanted::Placed(place) if last => placed_at = place,
                Wanted::Order | Wanted::Both | Wanted::Placed(_) | Wanted::Keys(..) => {}
            }
            let starts = counts.address + (u64::from(*position) << DIGIT) * 8;
            let mut parameters = vec![
                word(from.keys.address),
                word(points),
                (position * DIGIT).to_le_bytes().to_vec(),
                word(starts),
                word(status),
                word(status + (tiles << DIGIT) * 8),
                word(keys_at),
            ];
            let pass = match wanted {
                Wanted::Keys(..) => {
                    parameters.push(flips_argument(flips, ty));
                    "sort_pass_alone"
                }
                Wanted::Order | Wanted::Both | Wanted::Placed(_) => {
                    let order = [address(&from.order), order_at, placed_at];
                    parameters.extend(order.map(word));
                    "sort_pass"
                }
            };
            self.launch_common(&entry(pass, ty), tiles, &parameters)?;
            from.is_placed = last && matches!(wanted, Wanted::Placed(_) | Wanted::Keys(..));
            if let Some(keys) = keys {
                unused.push(std::mem::replace(&mut from.keys, keys));
            }
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
        let wanted = match keys.len() == 1 && rows == 1 {
            true => Wanted::Placed(out),
            false => Wanted::Order,
        };
        for &(number, bits) in keys.iter().rev() {
            let own = self.temporaries[number].clone();
            let keys = match (&order, of_keys == ty) {
                (None, true) => own,
                (order, _) => self.gather(&own, of_keys, order.as_ref(), ty)?,
            };
            let sorted = Sorted { keys, order, ty, is_placed: false };
            let sorted = self.sort_by(sorted, bits, wanted)?;
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
            order = self.sort_by(sorted, bits_of(rows - 1), Wanted::Order)?.order;
        }
        let length = self.row_divisor().bytes();
        let parameters = [address(&order), word(points), length, word(out)];
        self.launch_common(&entry("sort_order", ty), self.blocks_for(points), &parameters)
    }

    /// Sorts keys themselves (Note [Keys alone] in `generate::sort`).
    pub(super) fn sort_alone(
        &mut self,
        piece: &Piece,
        keys: &[(usize, u32)],
        alone: &Alone,
    ) -> Result<(), Stop> {
        let points = self.shape.points;
        let [(number, bits)] = keys[..] else { panic!("keys of several parts have an order") };
        if points == 0 {
            return Ok(());
        }
        self.map(piece, points)?;
        let (keys, ty) = (self.temporaries[number].clone(), self.code.temporaries[number]);
        let out = self.outputs[&alone.sorted].address;
        let sorted = Sorted { keys, order: None, ty, is_placed: false };
        let sorted = self.sort_by(sorted, bits, Wanted::Keys(out, alone.flips))?;
        if sorted.is_placed {
            return Ok(());
        }
        let flips = flips_argument(alone.flips, ty);
        let parameters = [word(sorted.keys.address), word(points), word(out), flips];
        self.launch_common(&entry("sort_restore", ty), self.blocks_for(points), &parameters)
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
        let sorted = self.sort_by(from, bits_of(dropped), Wanted::Both)?;
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

/// `Flips` of `sort.cu`.
fn flips_argument(Flips { all, if_one, if_zero }: Flips, ty: ScalarType) -> Vec<u8> {
    let bits = |word: u64| word.to_le_bytes()[..ty.bytes()].to_vec();
    [all, if_one, if_zero].map(bits).concat()
}

/// A function for keys of 32 or 64 bits.
fn entry(name: &str, ty: ScalarType) -> String {
    format!("{name}{}", if ty == ScalarType::U64 { "_wide" } else { "" })
}

/// How many bits a number needs.
fn bits_of(number: u64) -> u32 {
    u64::BITS - number.leading_zeros()
}
