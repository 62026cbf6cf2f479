//! The space of a kernel with its extents known.

/// A space as skeletons see it: rows along the last dimension.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Shape {
    /// The number of points.
    pub(crate) points: u64,
    /// The number of rows.
    pub(crate) rows: u64,
    /// How long they are.
    pub(crate) row: Row,
    /// The most points that the first of the dimensions have, whatever their number.
    pub(crate) widest: u64,
}

/// The length of rows.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Row {
    /// All the same.
    Dense(u64),
    /// By offsets at this address.
    Ragged(u64),
}

impl Shape {
    /// The bytes of the skeletons' `Rows`.
    pub(crate) fn rows_argument(&self) -> Vec<u8> {
        let (length, offsets) = match self.row {
            Row::Dense(length) => (length, 0),
            Row::Ragged(offsets) => (0, offsets),
        };
        [self.rows, length, offsets].iter().flat_map(|field| field.to_le_bytes()).collect()
    }

    /// The length of a row, or the average of all.
    pub(crate) fn length(&self) -> u64 {
        match self.row {
            Row::Dense(length) => length,
            Row::Ragged(_) => self.points.div_ceil(self.rows.max(1)),
        }
    }
}

/// Elements of a node of the first level of the tree.
pub(crate) const TREE: u64 = 64;

/// Elements of a node of the second level of the tree.
pub(crate) const TILE: u64 = TREE * TREE;

/// How many nodes there are above so many, and they themselves: 64 become one, until one is left.
pub(crate) fn tree_nodes(mut count: u64) -> u64 {
    let mut all = count;
    while count > 1 {
        count = count.div_ceil(64);
        all += count;
    }
    all
}
