//! The table of builtins: for each its name, type, documentation, cost and a runnable example.
//! `:doc`, `:search`, completion, the manual and the tests read it; the checker takes the types
//! from it.

mod conversions;
mod elementary;
mod elements;
mod make;
mod neighbourhood;
mod operators;
mod order;
mod reduce;
mod reindex;
mod scalar;
pub(crate) mod signature;

use std::collections::HashMap;
use std::sync::LazyLock;

use weft_ir::ScalarOp;

/// What a builtin does; the reference interpreter has the definition of each.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[allow(missing_docs, reason = "each is named as the language names it; see its entry")]
pub enum Builtin {
    /// A scalar operator. `&&` and `||` of plain bools (depth 0) do not evaluate their second
    /// operand where the first decides; `==`, `<`, `min` … compare tuples component by component.
    Op(ScalarOp),
    // Make.
    Iota,
    Range,
    Linspace,
    Replicate,
    Generate,
    Fill,
    Random,
    RandomInt,
    Identity,
    // Look.
    Length,
    Shape,
    Size,
    Null,
    Indices,
    Lengths,
    First,
    Last,
    // Re-index.
    Reshape,
    Flatten,
    Transpose,
    Reverse,
    Rotate,
    Take,
    Drop,
    Init,
    Tail,
    Backpermute,
    Gather,
    /// `concat`, `++`.
    Concat,
    Interleave,
    Zip,
    Zip3,
    Unzip,
    Unzip3,
    /// `a[i, j]` with that many indices: `[]…a -> i64 -> … -> a`.
    Index(u8),
    /// `(a with [i, j] = v)`: `[]…a -> i64 -> … -> a -> []…a`.
    Update(u8),
    // Nest.
    Segments,
    Chunks,
    Windows,
    WindowsBy,
    GroupBy,
    Split,
    // Element-wise.
    Map,
    ZipWith,
    ZipWith3,
    ZipWith4,
    MapWithIndex,
    // Reduce.
    Fold,
    Fold1,
    FoldSeg,
    Sum,
    Product,
    Minimum,
    Maximum,
    Mean,
    All,
    Any,
    Count,
    Argmin,
    Argmax,
    Dot,
    // Scan. `ScanlPrime` is `scanl'`.
    Scanl,
    Scanl1,
    ScanlPrime,
    Prescanl,
    Postscanl,
    Scanr,
    Scanr1,
    ScanrPrime,
    Prescanr,
    Postscanr,
    // Send.
    Scatter,
    ScatterWith,
    Permute,
    Histogram,
    Pack,
    // Select.
    Filter,
    Partition,
    Unique,
    IndexWhere,
    // Order.
    Sort,
    SortDesc,
    SortBy,
    Argsort,
    SearchSorted,
    Merge,
    // Neighbourhood, and the boundaries.
    Stencil,
    Stencil2,
    Convolve,
    Clamp,
    Mirror,
    Wrap,
    Constant,
    Outside,
    // Linear algebra.
    Matmul,
    Outer,
    // Repeat.
    Iterate,
    // Check.
    Assert,
    Error,
    /// Rows of a matrix given by coordinates.
    Csr,
}

/// One name of the table.
#[derive(Clone, Copy, Debug)]
pub struct Entry {
    /// The name as the language writes it; operators as in `(+)`.
    pub name: &'static str,
    /// What it does. Two names may do the same.
    pub builtin: Builtin,
    /// Its type: see [`signature`].
    pub signature: &'static str,
    /// The parameters' names, for the documentation, space separated.
    pub parameters: &'static str,
    /// What it yields, its errors, its corner cases.
    pub doc: &'static str,
    /// Work and depth.
    pub complexity: &'static str,
    /// A runnable example …
    pub example: &'static str,
    /// … and its value, in source syntax.
    pub result: &'static str,
    /// The subject, as language.md groups them.
    pub subject: &'static str,
}

/// Every builtin, by subject.
pub fn all() -> impl Iterator<Item = &'static Entry> {
    [
        make::ENTRIES,
        reindex::ENTRIES,
        elements::ENTRIES,
        reduce::ENTRIES,
        order::ENTRIES,
        neighbourhood::ENTRIES,
        operators::ENTRIES,
        scalar::ENTRIES,
        elementary::ENTRIES,
        conversions::ENTRIES,
    ]
    .into_iter()
    .flatten()
}

/// The builtin of that name.
pub fn lookup(name: &str) -> Option<&'static Entry> {
    static BY_NAME: LazyLock<HashMap<&'static str, &'static Entry>> =
        LazyLock::new(|| all().map(|entry| (entry.name, entry)).collect());
    BY_NAME.get(name).copied()
}
