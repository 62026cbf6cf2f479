//! `.npy` and `.npz`.

use weft_session::io::{Limits, load};

use crate::{LIMIT, fixture, outcome};

/// A fixture against what it holds.
fn check(name: &str, member: Option<&str>, expected: &str) {
    let loaded = load(&fixture(name), member, &Limits::bytes(LIMIT));
    assert_eq!(outcome(loaded), expected, "{name}");
}

#[test]
fn element_types() {
    check("half.npy", None, "[]f32 [1.0, -0.5, 65504.0, 5.9604645e-8, inf, NaN]");
    check("bools.npy", None, "[]bool [true, false, true]");
    check("bytes_s1.npy", None, "[]char \"ab\"");
    check("big_endian_i2.npy", None, "[][]i16 [[1, -2], [300, -32768]]");
}

#[test]
fn fortran_order_is_reordered() {
    let rows = "[[0.0, 1.0, 2.0, 3.0], [4.0, 5.0, 6.0, 7.0], [8.0, 9.0, 10.0, 11.0]], \
                [[12.0, 13.0, 14.0, 15.0], [16.0, 17.0, 18.0, 19.0], [20.0, 21.0, 22.0, 23.0]]";
    check("fortran_f4.npy", None, &format!("[][][]f32 [{rows}]"));
}

#[test]
fn no_axes_and_no_elements() {
    check("scalar.npy", None, "f64 2.5");
    check("empty.npy", None, "[][]u64 []");
    let empty =
        load(&fixture("empty.npy"), None, &Limits::bytes(LIMIT)).expect("it is well-formed");
    let weft_ir::Value::Array(array) = &empty.value else { panic!("an array") };
    assert_eq!(array.extents(), [Some(0), Some(3)]);
}

#[test]
fn versions_2_and_3() {
    check("version2.npy", None, "[]i64 [0, 1, 2]");
    check("version3.npy", None, "[]i64 [0, 1, 2]");
}

#[test]
fn compressed() {
    check("plain.npy.gz", None, "[]u16 [0, 1, 2, 3, 4]");
    check("plain.npy.xz", None, "[]u16 [0, 1, 2, 3, 4]");
}

#[test]
fn what_cannot_be_read_says_so() {
    let hint = "convert it with NumPy's `astype` to an integer, float32, float64 or bool type";
    check(
        "complex.npy",
        None,
        &format!(
            "E0403 complex.npy: the array holds complex numbers (`<c16`), which cannot be read | \
             {hint}"
        ),
    );
    check(
        "records.npy",
        None,
        "E0403 records.npy: structured arrays cannot be read | save each field as an array of its \
         own",
    );
    check(
        "half.npy",
        Some("x"),
        "E0403 half.npy: a .npy file holds one array and has no members | leave the member's name \
         out, or load a .npz file",
    );
}

#[test]
fn archives() {
    check("two.npz", Some("b"), "[][]f64 [[1.5, 2.5]]");
    check("two.npz", Some("a.npy"), "[]i64 [0, 1, 2]");
    let loaded = load(&fixture("one.npz"), None, &Limits::bytes(LIMIT)).expect("one member");
    assert_eq!(loaded.value.bytes(), 4000);
    check(
        "two.npz",
        None,
        "E0401 two.npz: the archive has 2 members, and none is named | its members are `a`, `b`",
    );
    check(
        "two.npz",
        Some("c"),
        "E0401 two.npz: the archive has no member `c` | its members are `a`, `b`",
    );
}

#[test]
fn other_formats_have_other_loaders() {
    check(
        "table.csv.gz",
        None,
        "E0403 table.csv.gz: `load` reads .npy and .npz files only | use `loadCsv` for .csv files",
    );
}

#[test]
fn a_missing_file_names_a_similar_one() {
    let expected = "E0401 halff.npy: cannot be opened (no such file) | did you mean `half.npy`?";
    check("halff.npy", None, expected);
    let expected =
        "E0401 plain.npy: cannot be opened (no such file) | did you mean `plain.npy.gz`?";
    check("plain.npy", None, expected);
}
