//! Stencils and their boundaries; linear algebra.

use super::{Builtin, Entry};

pub(super) const ENTRIES: &[Entry] = &[
    Entry {
        name: "stencil",
        builtin: Builtin::Stencil,
        signature: "Elem a => boundary s a -> (window s a -> b) -> array s a -> array s b",
        parameters: "boundary f xs",
        doc: "f of the window around each element, which f reads at constant offsets: `w[0]` is \
              the element itself, `w[-1, 0]` the one above it in a matrix. The boundary says what \
              lies outside: `clamp`, `mirror`, `wrap`, `constant x` or `outside`. Rank 1, 2 or 3.",
        complexity: "work O(n) calls of f, depth O(1)",
        example: "stencil clamp (\\w -> w[1] - w[-1]) [1, 2, 4, 8]",
        result: "[1, 3, 6, 4]",
        subject: "neighbourhood",
    },
    Entry {
        name: "stencil2",
        builtin: Builtin::Stencil2,
        signature: "(Elem a, Elem b) => boundary s a -> (window s a -> window s b -> c) -> array s a -> array s b -> array s c",
        parameters: "boundary f xs ys",
        doc: "f of the windows around each pair of elements at equal positions of two arrays of \
              one shape; both arrays have the same boundary. Different shapes are an error. Elements of \
              two types go with `clamp`, `mirror` and `wrap`.",
        complexity: "work O(n) calls of f, depth O(1)",
        example: "stencil2 clamp (\\v w -> v[1] - w[0]) [1, 2, 4] [10, 20, 30]",
        result: "[-8, -16, -26]",
        subject: "neighbourhood",
    },
    Entry {
        name: "convolve",
        builtin: Builtin::Convolve,
        signature: "Num a => boundary s a -> array s a -> array s a -> array s a",
        parameters: "boundary kernel xs",
        doc: "The sum of the neighbours weighted by the kernel, whose element k // 2 of k lies on \
              the element itself; the kernel is not flipped. An empty kernel gives zeros.",
        complexity: "work O(n k) for a kernel of k elements, depth O(log k)",
        example: "convolve (constant 0) [1, 2, 3] [0, 1, 0, 0]",
        result: "[3, 2, 1, 0]",
        subject: "neighbourhood",
    },
    Entry {
        name: "clamp",
        builtin: Builtin::Clamp,
        signature: "boundary s a",
        parameters: "",
        doc: "A boundary: outside lies the nearest element of the edge.",
        complexity: "work O(1), depth O(1)",
        example: "stencil clamp (\\w -> w[-1] + w[1]) [1, 2, 5]",
        result: "[3, 6, 7]",
        subject: "neighbourhood",
    },
    Entry {
        name: "mirror",
        builtin: Builtin::Mirror,
        signature: "boundary s a",
        parameters: "",
        doc: "A boundary: outside the elements repeat in reverse, without the edge itself: … 3 2 \
              [1 2 3] 2 1 ….",
        complexity: "work O(1), depth O(1)",
        example: "stencil mirror (\\w -> w[-1] + w[1]) [1, 2, 5]",
        result: "[4, 6, 4]",
        subject: "neighbourhood",
    },
    Entry {
        name: "wrap",
        builtin: Builtin::Wrap,
        signature: "boundary s a",
        parameters: "",
        doc: "A boundary: outside the array repeats, so that its ends meet.",
        complexity: "work O(1), depth O(1)",
        example: "stencil wrap (\\w -> w[-1] + w[1]) [1, 2, 5]",
        result: "[7, 6, 3]",
        subject: "neighbourhood",
    },
    Entry {
        name: "constant",
        builtin: Builtin::Constant,
        signature: "a -> boundary s a",
        parameters: "c",
        doc: "A boundary: outside every element is c.",
        complexity: "work O(1), depth O(1)",
        example: "stencil (constant 10) (\\w -> w[-1] + w[1]) [1, 2, 5]",
        result: "[12, 6, 12]",
        subject: "neighbourhood",
    },
    Entry {
        name: "outside",
        builtin: Builtin::Outside,
        signature: "(s -> a) -> boundary s a",
        parameters: "g",
        doc: "A boundary: outside the element at an index is g of that index, which may be \
              negative.",
        complexity: "work O(1), depth O(1)",
        example: "stencil (outside (\\i -> 100 * i)) (\\w -> w[-1] + w[1]) [1, 2, 5]",
        result: "[-98, 6, 302]",
        subject: "neighbourhood",
    },
    Entry {
        name: "matmul",
        builtin: Builtin::Matmul,
        signature: "Num a => [][]a -> [][]a -> [][]a",
        parameters: "a b",
        doc: "The matrix product: element [i, j] is the dot product of row i of a and column j of \
              b, in which each product of floats is added with a single rounding, as by fma. It is \
              an error if the rows of a are not as long as b, or if one of them is ragged.",
        complexity: "work O(n m k), depth O(log k)",
        example: "matmul [[1, 2], [3, 4]] [[5, 6], [7, 8]]",
        result: "[[19, 22], [43, 50]]",
        subject: "linear algebra",
    },
    Entry {
        name: "outer",
        builtin: Builtin::Outer,
        signature: "(a -> b -> c) -> []a -> []b -> [][]c",
        parameters: "f xs ys",
        doc: "f of each element of xs with each of ys: element [i, j] is f xs[i] ys[j].",
        complexity: "work O(n m) calls of f, depth O(1)",
        example: "outer (*) [1, 2, 3] [10, 20]",
        result: "[[10, 20], [20, 40], [30, 60]]",
        subject: "linear algebra",
    },
];
