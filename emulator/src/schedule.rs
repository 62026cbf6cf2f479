//! In which order threads run.

/// The order of the blocks of a grid, and of the threads of a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// By number; a thread runs until it waits.
    Ascending,
    /// By number, the greatest first.
    Descending,
    /// By chance.
    Random,
}

/// What fixes the order in which threads run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Schedule {
    /// Of blocks and threads.
    pub order: Order,
    /// How many blocks run at once.
    pub resident: u32,
    /// How often an access lets other threads run first, in 1/65536.
    pub preempt: u32,
    /// What chance is drawn from.
    pub seed: u64,
    /// How often in a row threads may wait in vain before the launch is given up.
    pub patience: u64,
}

impl Schedule {
    /// A schedule by number: 0 runs one block after the other in ascending order, 1 in descending
    /// order; all others run four blocks at once in random order.
    pub fn numbered(number: u64) -> Schedule {
        let (order, resident, preempt) = match number {
            0 => (Order::Ascending, 1, 0),
            1 => (Order::Descending, 1, 0),
            _ => (Order::Random, 4, 400),
        };
        Schedule { order, resident, preempt, seed: number, patience: 200_000 }
    }
}
