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
mod sequences;
pub(crate) mod signature;

use std::collections::HashMap;
use std::sync::LazyLock;

use weft_ir::{ScalarOp, math};

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
    /// Where the elements of an array of that many axes are in all of them, one after the other: `[]…a -> []…i64`.
    Places(u8),
    /// An array of that many axes in which others stand at some [`Builtin::Places`], which are an array of as many axes
    /// as the second number says: `[]…a -> []…i64 -> []…a -> []…a`.
    Replace(u8, u8),
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
    // Sequences: what the prelude makes them of (Note [Sequences in chunks] in
    // `session/src/prelude/sequences.weft`).
    /// The sequence of so many items, whether a filter may have left some out, and the function from two
    /// positions to the array of the items between them.
    SeqMake,
    SeqLength,
    SeqFiltered,
    SeqPart,
    /// How much there is in an array, roughly: the number of its scalars.
    SeqWeight,
}

impl Builtin {
    /// How many arguments it takes.
    pub fn arity(self) -> usize {
        match self {
            Builtin::Op(op) => math::arity(op),
            Builtin::Index(axes) => usize::from(axes) + 1,
            Builtin::Update(axes) => usize::from(axes) + 2,
            Builtin::Places(_) => 1,
            Builtin::Replace(..) => 3,
            Builtin::Clamp | Builtin::Mirror | Builtin::Wrap => 0,
            Builtin::Iota
            | Builtin::Identity
            | Builtin::Length
            | Builtin::Shape
            | Builtin::Size
            | Builtin::Null
            | Builtin::Indices
            | Builtin::Lengths
            | Builtin::First
            | Builtin::Last
            | Builtin::Flatten
            | Builtin::Transpose
            | Builtin::Reverse
            | Builtin::Init
            | Builtin::Tail
            | Builtin::Unzip
            | Builtin::Unzip3
            | Builtin::Csr
            | Builtin::Sum
            | Builtin::Product
            | Builtin::Minimum
            | Builtin::Maximum
            | Builtin::Mean
            | Builtin::All
            | Builtin::Any
            | Builtin::Count
            | Builtin::Argmin
            | Builtin::Argmax
            | Builtin::Unique
            | Builtin::Sort
            | Builtin::SortDesc
            | Builtin::Argsort
            | Builtin::Constant
            | Builtin::Outside
            | Builtin::Error
            | Builtin::SeqLength
            | Builtin::SeqFiltered
            | Builtin::SeqWeight => 1,
            Builtin::Replicate
            | Builtin::Generate
            | Builtin::Fill
            | Builtin::Random
            | Builtin::Reshape
            | Builtin::Rotate
            | Builtin::Take
            | Builtin::Drop
            | Builtin::Gather
            | Builtin::Concat
            | Builtin::Interleave
            | Builtin::Zip
            | Builtin::Segments
            | Builtin::Chunks
            | Builtin::Windows
            | Builtin::GroupBy
            | Builtin::Split
            | Builtin::Map
            | Builtin::MapWithIndex
            | Builtin::Fold1
            | Builtin::Dot
            | Builtin::Scanl1
            | Builtin::Scanr1
            | Builtin::Histogram
            | Builtin::Pack
            | Builtin::Filter
            | Builtin::Partition
            | Builtin::IndexWhere
            | Builtin::SortBy
            | Builtin::SearchSorted
            | Builtin::Merge
            | Builtin::Matmul
            | Builtin::Assert => 2,
            Builtin::Range
            | Builtin::Linspace
            | Builtin::Backpermute
            | Builtin::Zip3
            | Builtin::WindowsBy
            | Builtin::ZipWith
            | Builtin::Fold
            | Builtin::Scanl
            | Builtin::ScanlPrime
            | Builtin::Prescanl
            | Builtin::Postscanl
            | Builtin::Scanr
            | Builtin::ScanrPrime
            | Builtin::Prescanr
            | Builtin::Postscanr
            | Builtin::Scatter
            | Builtin::Stencil
            | Builtin::Convolve
            | Builtin::Outer
            | Builtin::Iterate
            | Builtin::SeqMake
            | Builtin::SeqPart => 3,
            Builtin::RandomInt
            | Builtin::ZipWith3
            | Builtin::FoldSeg
            | Builtin::ScatterWith
            | Builtin::Permute
            | Builtin::Stencil2 => 4,
            Builtin::ZipWith4 => 5,
        }
    }
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

/// The builtin of a name that only the prelude may use.
pub(crate) fn internal(name: &str) -> Option<&'static Entry> {
    sequences::INTERNAL.iter().find(|entry| entry.name == name)
}
