//! Order: sorting, ranking, searching, merging.

use super::{Builtin, Entry};

pub(super) const ENTRIES: &[Entry] = &[
    Entry {
        name: "sort",
        builtin: Builtin::Sort,
        signature: "Ord a => []a -> []a",
        parameters: "xs",
        doc: "The elements ascending in the total order: -inf … -0.0, 0.0 … inf, NaN; tuples by \
              their first components, then the second …. It is stable; of a matrix it sorts each \
              row.",
        complexity: "work O(n log n), depth O(log^2 n)",
        example: "sort [3, 1, 2]",
        result: "[1, 2, 3]",
        subject: "order",
    },
    Entry {
        name: "sortDesc",
        builtin: Builtin::SortDesc,
        signature: "Ord a => []a -> []a",
        parameters: "xs",
        doc: "The elements descending in the total order, so NaN comes first. It is stable: equal \
              elements keep their order.",
        complexity: "work O(n log n), depth O(log^2 n)",
        example: "sortDesc [3, 1, 2]",
        result: "[3, 2, 1]",
        subject: "order",
    },
    Entry {
        name: "sortBy",
        builtin: Builtin::SortBy,
        signature: "Ord k => (a -> k) -> []a -> []a",
        parameters: "key xs",
        doc: "The elements in ascending order of their keys. It is stable: elements with equal \
              keys keep their order.",
        complexity: "work O(n log n), depth O(log^2 n)",
        example: "sortBy (\\x -> abs x) [-3, 2, 1, -2]",
        result: "[1, 2, -2, -3]",
        subject: "order",
    },
    Entry {
        name: "argsort",
        builtin: Builtin::Argsort,
        signature: "Ord a => []a -> []i64",
        parameters: "xs",
        doc: "The positions of the elements in sorted order: `gather xs (argsort xs)` is `sort \
              xs`. It is stable; NESL's `rank` is `argsort (argsort xs)`.",
        complexity: "work O(n log n), depth O(log^2 n)",
        example: "argsort [30, 10, 20]",
        result: "[1, 2, 0]",
        subject: "order",
    },
    Entry {
        name: "searchSorted",
        builtin: Builtin::SearchSorted,
        signature: "Ord a => []a -> a -> i64",
        parameters: "xs x",
        doc: "The first position i of the ascending xs with x <= xs[i], or the length if there is \
              none. The order is the total one, so NaN is past all numbers. Elements that \
              its binary search does not meet may be errors.",
        complexity: "work O(log n), depth O(log n)",
        example: "searchSorted [1, 3, 5] [0, 3, 4, 9]",
        result: "[0, 1, 2, 3]",
        subject: "order",
    },
    Entry {
        name: "merge",
        builtin: Builtin::Merge,
        signature: "Ord a => []a -> []a -> []a",
        parameters: "xs ys",
        doc: "The elements of two ascending arrays in ascending order. Of equal elements those of \
              xs come first.",
        complexity: "work O(n), depth O(log n)",
        example: "merge [1, 4, 5] [2, 4]",
        result: "[1, 2, 4, 4, 5]",
        subject: "order",
    },
];
