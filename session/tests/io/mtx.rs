//! Matrix Market files.

use weft_session::io::{Limits, load_mtx};

use crate::{LIMIT, fixture, outcome};

/// A matrix against `rows x cols`, then its entries in order.
fn check(contents: &str, rows: i64, cols: i64, [row, col, values]: [&str; 3]) {
    let value_type = if values.starts_with("[(") { "(f64, f64)" } else { "f64" };
    let expected = format!(
        "{{rows: i64, cols: i64, rowIndex: []i64, colIndex: []i64, values: []{value_type}}} {{rows \
         = {rows}, cols = {cols}, rowIndex = {row}, colIndex = {col}, values = {values}}}"
    );
    crate::check(load_mtx, "m.mtx", contents, &expected);
}

fn check_error(contents: &str, expected: &str) {
    crate::check(load_mtx, "m.mtx", contents, expected);
}

#[test]
fn coordinates() {
    check(
        "%%MatrixMarket matrix coordinate real general\n% made by hand\n\n2 3 3\n1 3 -1.5e3\n \
         2\t1  .5\r\n1 1 2",
        2,
        3,
        ["[0, 1, 0]", "[2, 0, 0]", "[-1500.0, 0.5, 2.0]"],
    );
    check(
        "%%matrixmarket MATRIX coordinate integer general\n1 1 2\n1 1 7\n1 1 -12345678901234567\n",
        1,
        1,
        ["[0, 0]", "[0, 0]", "[7.0, -1.2345678901234568e16]"],
    );
    check(
        "%%MatrixMarket matrix coordinate pattern general\n2 2 2\n1 2\n2 2\n",
        2,
        2,
        ["[0, 1]", "[1, 1]", "[1.0, 1.0]"],
    );
    check(
        "%%MatrixMarket matrix coordinate complex general\n2 2 1\n1 2 1.5 -2\n",
        2,
        2,
        ["[0]", "[1]", "[(1.5, -2.0)]"],
    );
}

#[test]
fn mirrored_entries_follow_their_originals() {
    let path = fixture("symmetric.mtx");
    assert_eq!(
        outcome(load_mtx(&path, &Limits::bytes(LIMIT))),
        "{rows: i64, cols: i64, rowIndex: []i64, colIndex: []i64, values: []f64} {rows = 3, cols = \
         3, rowIndex = [0, 1, 0, 2, 1, 2], colIndex = [0, 0, 1, 1, 2, 2], values = [2.0, -1.0, \
         -1.0, -1.5, -1.5, 4.0]}"
    );
    check(
        "%%MatrixMarket matrix coordinate real skew-symmetric\n2 2 1\n2 1 3\n",
        2,
        2,
        ["[1, 0]", "[0, 1]", "[3.0, -3.0]"],
    );
    check(
        "%%MatrixMarket matrix coordinate complex hermitian\n2 2 2\n1 1 5 0\n2 1 1 2\n",
        2,
        2,
        ["[0, 1, 0]", "[0, 0, 1]", "[(5.0, 0.0), (1.0, 2.0), (1.0, -2.0)]"],
    );
}

#[test]
fn arrays_go_column_by_column() {
    check(
        "%%MatrixMarket matrix array real general\n2 2\n1\n2\n3\n4\n",
        2,
        2,
        ["[0, 1, 0, 1]", "[0, 0, 1, 1]", "[1.0, 2.0, 3.0, 4.0]"],
    );
    check(
        "%%MatrixMarket matrix array real symmetric\n2 2\n1\n2\n3\n",
        2,
        2,
        ["[0, 1, 0, 1]", "[0, 0, 1, 1]", "[1.0, 2.0, 2.0, 3.0]"],
    );
    check(
        "%%MatrixMarket matrix array integer skew-symmetric\n2 2\n7\n",
        2,
        2,
        ["[1, 0]", "[0, 1]", "[7.0, -7.0]"],
    );
}

#[test]
fn damage_is_found_in_its_line() {
    let banner = "%%MatrixMarket matrix coordinate real general\n";
    let damaged = |rest: &str, expected: &str| {
        check_error(&format!("{banner}{rest}"), &format!("E0402 m.mtx{expected}"));
    };
    damaged("2 2 1\n3 1 1.0\n", ", line 3: the row `3` is not in the matrix (1 to 2)");
    damaged("2 2 1\n1 0 1.0\n", ", line 3: the column `0` is not in the matrix (1 to 2)");
    damaged("2 2 1\n-1 1 1.0\n", ", line 3: the row `-1` is not in the matrix (1 to 2)");
    damaged("2 2 1\n1 1 one\n", ", line 3: a number was expected instead of `one`");
    damaged("2 2 1\n1 1\n\n\n\n", ", line 3: a number was expected instead of ``");
    damaged("2 2 1\n1 1 1.0 2.0\n", ", line 3: the line has more on it than the banner allows");
    damaged(
        "2 2 1\n1 1 1.0\n1 2 1.0\n",
        ", line 4: the matrix goes on after the 1 entries promised",
    );
    damaged("2 2 2\n1 1 1.00000000\n", ": the size line promises 2 entries, and it has 1");
    damaged("2 -2 1\n", ", line 2: the number of columns was expected");
    damaged("", ": the file ends before the size line");
}

#[test]
fn impossible_banners() {
    check_error(
        "1 1 1\n1 1 1\n",
        "E0402 m.mtx, line 1: is no Matrix Market file: the first line is not `%%MatrixMarket \
         matrix FORMAT FIELD SYMMETRY`",
    );
    check_error(
        "%%MatrixMarket vector array real general\n",
        "E0403 m.mtx: the file holds a vector, and only a matrix can be read",
    );
    check_error(
        "%%MatrixMarket matrix coordinate real hermitian\n1 1 0\n",
        "E0402 m.mtx, line 1: only a complex matrix can be hermitian",
    );
    check_error(
        "%%MatrixMarket matrix coordinate real symmetric\n2 3 0\n",
        "E0402 m.mtx, line 2: a symmetric matrix has as many rows as columns",
    );
    check_error(
        "%%MatrixMarket matrix coordinate real skew-symmetric\n2 2 1\n1 1 5\n",
        "E0402 m.mtx, line 3: a skew-symmetric matrix has no entries on its diagonal",
    );
}
