//! Stencils and convolutions.

use crate::source::{check, check_code};

#[test]
fn boundaries() {
    check("stencil clamp (\\w -> w[-2] * 10 + w[2]) [1, 2, 3]", "[13, 13, 13]");
    check("stencil mirror (\\w -> w[-2] * 10 + w[2]) [1, 2, 3]", "[33, 22, 11]");
    check("stencil wrap (\\w -> w[-2] * 10 + w[2]) [1, 2, 3]", "[23, 31, 12]");
    check("stencil (constant 9) (\\w -> w[-2] * 10 + w[2]) [1, 2, 3]", "[93, 99, 19]");
    check("stencil (outside (\\i -> i)) (\\w -> w[-2] * 10 + w[2]) [1, 2, 3]", "[-17, -7, 14]");
    check("stencil mirror (\\w -> w[-5] + w[5]) [7]", "[14]");
    check("stencil mirror (\\w -> w[-7] * 10 + w[7]) [1, 2, 3]", "[22, 31, 22]");
    check("stencil wrap (\\w -> w[7]) [1, 2, 3]", "[2, 3, 1]");
    check("stencil clamp (\\w -> w[7]) [1, 2, 3]", "[3, 3, 3]");
    check("stencil clamp (\\w -> w[1]) (iota 0)", "[]");
}

#[test]
fn ranks() {
    check(
        "stencil clamp (\\w -> w[-1, 0] + 10 * w[0, 1]) [[1, 2], [3, 4]]",
        "[[21, 22], [41, 42]]",
    );
    check("stencil (constant 0) (\\w -> w[1, 1]) [[1, 2], [3, 4]]", "[[4, 0], [0, 0]]");
    check(
        "stencil (outside (\\(i, j) -> 10 * i + j)) (\\w -> w[-1, -1]) [[1, 2], [3, 4]]",
        "[[-11, -10], [-1, 1]]",
    );
    check(
        "stencil wrap (\\w -> w[1, 0, 0] + w[0, 0, 1]) [[[1, 2]], [[3, 4]]]",
        "[[[5, 5]], [[5, 5]]]",
    );
    check("stencil clamp (\\w -> let (a, b) = w[0] in a + b) [(1, 2), (3, 4)]", "[3, 7]");
    check_code("stencil clamp (\\w -> w[0, 0]) [[1, 2], [3]]", "E0609");
}

#[test]
fn two_windows() {
    check("stencil2 clamp (\\a b -> a[1] - b[-1]) [1, 2, 3] [10, 20, 30]", "[-8, -7, -17]");
    check("stencil2 wrap (\\a b -> a[0, 1] + b[1, 0]) [[1, 2]] [[3, 4]]", "[[5, 5]]");
    check_code("stencil2 clamp (\\a b -> a[0] + b[0]) [1] [1, 2]", "E0602");
}

#[test]
fn convolutions() {
    check("convolve (constant 0) [1, 2, 3] [1, 0, 0, 0]", "[2, 1, 0, 0]");
    check("convolve (constant 0) [1, 10] [1, 2, 3]", "[10, 21, 32]");
    check("convolve clamp [1, 1, 1] [1, 2, 3]", "[4, 6, 8]");
    check("convolve clamp [[0, 1, 0]] [[1, 2], [3, 4]]", "[[1, 2], [3, 4]]");
    check("convolve clamp [[0], [0], [1]] [[1, 2], [3, 4]]", "[[3, 4], [3, 4]]");
    check("convolve clamp (take 0 [1]) [1, 2]", "[0, 0]");
    check_code("convolve clamp [[1, 2], [3]] [[1]]", "E0609");
}
