//! Saving, and loading again what was saved.

use std::fs;
use std::path::Path;
use std::sync::Arc;

use weft_ir::{Array, Column, Scalar, ScalarType, Type, Value};
use weft_session::io::{
    Limits, Loaded, load, load_csv, load_image, load_lines, load_mtx, load_text, load_wav, save,
};

use crate::{LIMIT, failure, fixture, outcome, show};

fn array(column: Column, element: Type) -> Loaded {
    let value = Value::Array(Arc::new(Array::new(column)));
    Loaded { value, ty: Type::array(element) }
}

fn floats(values: &[f64]) -> Loaded {
    array(Column::F64(values.to_vec().into()), Type::Scalar(ScalarType::F64))
}

fn chars(text: &str) -> Loaded {
    array(Column::Char(text.as_bytes().to_vec().into()), Type::Scalar(ScalarType::Char))
}

fn lines(lines: &[&str]) -> Loaded {
    let lengths: Vec<usize> = lines.iter().map(|line| line.len()).collect();
    let text = Column::Char(lines.concat().into_bytes().into());
    array(Column::from_lengths(&lengths, text), Type::array(Type::Scalar(ScalarType::Char)))
}

/// Rows of numbers; ragged where the lengths differ.
fn rows(lengths: &[usize], values: &[f64]) -> Loaded {
    let inner = Column::F64(values.to_vec().into());
    array(Column::from_lengths(lengths, inner), Type::array(Type::Scalar(ScalarType::F64)))
}

fn record(fields: Vec<(&str, Loaded)>) -> Loaded {
    let types = fields.iter().map(|(name, field)| ((*name).into(), field.ty.clone())).collect();
    let values = fields.into_iter().map(|(_, field)| field.value).collect();
    Loaded { value: Value::Tuple(values), ty: Type::Record(types) }
}

fn tuples(parts: Vec<Loaded>) -> Loaded {
    let mut columns = Vec::new();
    let mut types = Vec::new();
    for part in parts {
        let (Value::Array(array), Type::Array(element)) = (part.value, part.ty) else {
            panic!("parts are arrays")
        };
        columns.push(array.elements.clone());
        types.push((*element).clone());
    }
    let len = columns[0].len();
    array(Column::Tuple { len, parts: columns }, Type::Tuple(types.into()))
}

fn integer(number: i64) -> Loaded {
    Loaded { value: Value::Scalar(Scalar::I64(number)), ty: Type::Scalar(ScalarType::I64) }
}

fn save_in(folder: &Path, name: &str, saved: &Loaded) -> String {
    match save(&saved.value, &saved.ty, &folder.join(name), &|| false) {
        Ok(bytes) => {
            let length = fs::metadata(folder.join(name)).expect("the saved file").len();
            assert_eq!(bytes, length);
            "saved".to_owned()
        }
        Err(error) => failure(&error),
    }
}

/// Saves a value and compares the text of the file.
fn check_text(name: &str, saved: &Loaded, expected: &str) {
    let folder = tempfile::tempdir().expect("a temporary folder");
    assert_eq!(save_in(folder.path(), name, saved), "saved");
    let bytes = fs::read(folder.path().join(name)).expect("the saved file");
    assert_eq!(String::from_utf8_lossy(&bytes), expected);
}

/// Saves a value and loads it again: the outcome is the same value.
fn check_round(name: &str, saved: &Loaded) {
    check_reload(name, saved, &show::loaded(saved));
}

fn check_reload(name: &str, saved: &Loaded, expected: &str) {
    let folder = tempfile::tempdir().expect("a temporary folder");
    assert_eq!(save_in(folder.path(), name, saved), "saved", "{name}");
    let (path, limits) = (folder.path().join(name), Limits::bytes(LIMIT));
    let format = name.split('.').nth(1).expect("an extension");
    let loaded = match format {
        "npy" => load(&path, None, &limits),
        "csv" | "tsv" => load_csv(&path, &limits),
        "mtx" => load_mtx(&path, &limits),
        "wav" => load_wav(&path, &limits),
        "txt" if matches!(&saved.ty, Type::Array(row) if row.rank() == 1) => {
            load_lines(&path, &limits)
        }
        "txt" => load_text(&path, &limits),
        _ => load_image(&path, &limits),
    };
    assert_eq!(outcome(loaded), expected, "{name}");
}

fn check_refused(name: &str, saved: &Loaded, expected: &str) {
    let folder = tempfile::tempdir().expect("a temporary folder");
    assert_eq!(save_in(folder.path(), name, saved), expected);
    assert_eq!(fs::read_dir(folder.path()).expect("the folder").count(), 0, "a file was left");
}

#[test]
fn npy() {
    for name in ["x.npy", "x.npy.gz"] {
        check_round(name, &floats(&[1.5, -0.0, f64::NAN, 1e300]));
        check_round(name, &rows(&[2, 2], &[1.0, 2.0, 3.0, 4.0]));
        check_round(name, &chars("text"));
        check_round(name, &integer(-5));
    }
    for fixture_name in ["bools.npy", "big_endian_i2.npy", "fortran_f4.npy", "empty.npy"] {
        let loaded = load(&fixture(fixture_name), None, &Limits::bytes(LIMIT)).expect("a fixture");
        check_round("x.npy", &loaded);
    }
    check_refused(
        "x.npy",
        &rows(&[2, 1], &[1.0, 2.0, 3.0]),
        "E0406 x.npy: a .npy file holds a regular array, but row 1 has 1 element and row 0 has 2 \
         | save the elements (`flatten xs`) and their `lengths xs`",
    );
    check_refused(
        "x.npy",
        &record(vec![("a", floats(&[1.0]))]),
        "E0406 x.npy: a .npy file holds one array of scalars, not a value of type {a: []f64} | a \
         record of arrays can be saved as .npz",
    );
    check_refused(
        "x.npy",
        &tuples(vec![floats(&[1.0])]),
        "E0406 x.npy: a .npy file holds an array of scalars, not one of type [](f64) | an array of \
         tuples or records can be saved as .csv",
    );
}

/// The header as NumPy writes it: aligned to 64 bytes and closed by a line break.
#[test]
fn npy_headers_are_numpys() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    assert_eq!(save_in(folder.path(), "x.npy", &rows(&[2, 2], &[1.0, 2.0, 3.0, 4.0])), "saved");
    let bytes = fs::read(folder.path().join("x.npy")).expect("the saved file");
    let text = "{'descr': '<f8', 'fortran_order': False, 'shape': (2, 2), }";
    assert_eq!(&bytes[..10], b"\x93NUMPY\x01\x00\x76\x00");
    assert_eq!(std::str::from_utf8(&bytes[10..127]).expect("ASCII").trim_end(), text);
    assert_eq!(bytes[127], b'\n');
    assert_eq!(bytes.len(), 128 + 32);
}

/// Whatever bits the processor gave them.
#[test]
fn nans_are_saved_as_the_canonical_one() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let odd = f64::from_bits(0xfff8_0000_0000_0001);
    assert_eq!(save_in(folder.path(), "x.npy", &floats(&[odd, -0.0, -f64::NAN])), "saved");
    let bytes = fs::read(folder.path().join("x.npy")).expect("the saved file");
    let found: Vec<u64> = bytes[128..]
        .chunks_exact(8)
        .map(|eight| u64::from_le_bytes(eight.try_into().expect("eight")))
        .collect();
    assert_eq!(found, [0x7ff8_0000_0000_0000, 1 << 63, 0x7ff8_0000_0000_0000]);
}

#[test]
fn npz() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let saved = record(vec![("a", floats(&[1.5])), ("n", integer(7))]);
    assert_eq!(save_in(folder.path(), "x.npz", &saved), "saved");
    let path = folder.path().join("x.npz");
    let limits = Limits::bytes(LIMIT);
    assert_eq!(outcome(load(&path, Some("a"), &limits)), "[]f64 [1.5]");
    assert_eq!(outcome(load(&path, Some("n"), &limits)), "i64 7");
    check_refused(
        "x.npz",
        &floats(&[1.0]),
        "E0406 x.npz: a .npz file holds a record of arrays, not a value of type []f64 | save one \
         array as .npy",
    );
}

#[test]
fn csv_tables() {
    let table = record(vec![
        ("x", floats(&[1.0, f64::NAN, 1e300])),
        ("s", lines(&["a,b", "say \"x\"", ""])),
        ("t", lines(&["NA", "two\nlines", "ä"])),
    ]);
    check_text(
        "x.csv",
        &table,
        "x,s,t\n1.0,\"a,b\",\"NA\"\nnan,\"say \"\"x\"\"\",\"two\nlines\"\n1e300,,ä\n",
    );
    for name in ["x.csv", "x.tsv", "x.csv.gz"] {
        check_round(name, &table);
    }
    check_round("x.csv", &record(vec![("s", lines(&["", "a", ""]))]));
}

#[test]
fn csv_of_other_shapes() {
    check_text("x.csv", &rows(&[2, 2], &[1.0, 2.5, -3.0, 4.0]), "1.0,2.5\n-3.0,4.0\n");
    check_text("x.csv", &floats(&[1.0, 2.0]), "1.0\n2.0\n");
    check_text("x.csv", &lines(&["a", "b"]), "c0\na\nb\n");
    check_text("x.csv", &tuples(vec![floats(&[1.0]), lines(&["a"])]), "c0,c1\n1.0,a\n");
    check_refused(
        "x.csv",
        &rows(&[2, 1], &[1.0, 2.0, 3.0]),
        "E0406 x.csv: the rows of a table have one length, but row 1 has 1 element and row 0 has 2",
    );
    check_refused(
        "x.csv",
        &record(vec![("a", floats(&[1.0])), ("b", floats(&[]))]),
        "E0406 x.csv: the columns of a table have one length, but `a` has 1 element and `b` has 0",
    );
    check_refused(
        "x.csv",
        &record(vec![("rate", integer(1))]),
        "E0406 x.csv: a column of a table is an array of scalars or of texts, but field `rate` is \
         a value of type i64",
    );
}

#[test]
fn matrices() {
    let indices =
        |values: &[i64]| array(Column::I64(values.to_vec().into()), Type::Scalar(ScalarType::I64));
    let matrix = |rows, values| {
        record(vec![
            ("rows", integer(rows)),
            ("cols", integer(3)),
            ("rowIndex", indices(&[0, 1])),
            ("colIndex", indices(&[2, 0])),
            ("values", values),
        ])
    };
    let real = matrix(2, floats(&[0.1, -1e-300]));
    check_text(
        "x.mtx",
        &real,
        "%%MatrixMarket matrix coordinate real general\n2 3 2\n1 3 0.1\n2 1 -1e-300\n",
    );
    check_round("x.mtx", &real);
    check_round("x.mtx.gz", &real);
    check_round("x.mtx", &matrix(2, tuples(vec![floats(&[1.0, 2.0]), floats(&[3.0, 4.0])])));
    check_refused(
        "x.mtx",
        &matrix(1, floats(&[1.0, 2.0])),
        "E0406 x.mtx: the row index 1 is out of range for 1 rows",
    );
    check_refused(
        "x.mtx",
        &matrix(2, floats(&[1.0])),
        "E0406 x.mtx: rowIndex, colIndex and values have one length, but these have 2, 2 and 1",
    );
}

#[test]
fn pictures() {
    for (name, file) in [
        ("grey.png", "x.png"),
        ("grey.png", "x.pgm"),
        ("grey16.png", "x.png"),
        ("grey16.png", "x.pgm"),
        ("colour.png", "x.png"),
        ("colour.png", "x.ppm"),
    ] {
        let picture = load_image(&fixture(name), &Limits::bytes(LIMIT)).expect("a fixture");
        check_round(file, &picture);
    }
    check_reload(
        "x.png",
        &rows(&[4, 4], &[0.0, 1.0, 0.5, 0.25, -1.0, 2.0, f64::NAN, 0.1]),
        "[][]u8 [[0, 255, 128, 64], [0, 255, 0, 26]]",
    );
    check_refused(
        "x.png",
        &floats(&[1.0]),
        "E0406 x.png: a picture cannot show a value of type []f64 | a picture is a matrix of u8, \
         u16, bool, f32 or f64 (from 0 to 1), or of triples of them",
    );
    check_refused(
        "x.ppm",
        &rows(&[1], &[1.0]),
        "E0406 x.ppm: a .ppm file holds colours, not grey values | save it as .pgm or .png",
    );
}

#[test]
fn sounds() {
    for name in ["mono8.wav", "mono24.wav", "stereo16.wav", "float.wav"] {
        let sound = load_wav(&fixture(name), &Limits::bytes(LIMIT)).expect("a fixture");
        check_round("x.wav", &sound);
    }
    check_reload(
        "x.wav",
        &floats(&[0.5, -0.5]),
        "{rate: i64, samples: []f32} {rate = 44100, samples = [0.5, -0.5]}",
    );
    check_refused(
        "x.wav",
        &record(vec![("rate", integer(0)), ("samples", floats(&[0.0]))]),
        "E0406 x.wav: the rate of a sound is 1 to 2^32 - 1, not 0",
    );
}

#[test]
fn texts() {
    check_round("x.txt", &chars("a\r\nb"));
    check_round("x.txt.gz", &lines(&["a", "", "bcd"]));
    check_text("x.txt", &lines(&["a", "bc"]), "a\nbc\n");
    check_refused(
        "x.txt",
        &lines(&["a", "b\nc"]),
        "E0406 x.txt: line 1 contains a line break | flatten the lines to save them as one text",
    );
    check_refused(
        "x.txt",
        &lines(&["a\r", "b"]),
        "E0406 x.txt: line 0 contains a line break | flatten the lines to save them as one text",
    );
}

#[test]
fn unknown_formats() {
    let hint =
        "the formats are npy, npz, csv, tsv, mtx, png, pgm, ppm, wav, txt, and svg for plots";
    check_refused(
        "x.doc",
        &floats(&[1.0]),
        &format!("E0403 x.doc: files cannot be saved as .doc | {hint}"),
    );
    check_refused(
        "x.npy.xz",
        &floats(&[1.0]),
        "E0403 x.npy.xz: files cannot be saved compressed with xz | end the name in .gz instead",
    );
}

#[test]
fn a_save_that_fails_leaves_the_old_file() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = folder.path().join("x.txt");
    fs::write(&path, "old").expect("a temporary file");
    let refused = save_in(folder.path(), "x.txt", &lines(&["a", "b\nc"]));
    assert!(refused.starts_with("E0406"), "{refused}");
    let text = chars(&"x".repeat(5 << 20));
    let asked = std::cell::Cell::new(0);
    let stop = || {
        asked.set(asked.get() + 1);
        asked.get() > 2
    };
    let error = save(&text.value, &text.ty, &path, &stop).expect_err("it was stopped");
    assert_eq!(failure(&error), "E0703 x.txt: interrupted");
    assert_eq!(fs::read(&path).expect("the old file"), b"old");
    assert_eq!(fs::read_dir(folder.path()).expect("the folder").count(), 1, "a file was left");
    assert_eq!(save_in(folder.path(), "x.txt", &chars("new")), "saved");
    assert_eq!(fs::read(&path).expect("the new file"), b"new");
}

#[test]
fn what_cannot_be_written_to() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    fs::create_dir(folder.path().join("x.npy")).expect("a folder");
    let outcome = save_in(folder.path(), "x.npy", &floats(&[1.0]));
    assert_eq!(outcome, "E0405 x.npy: is a folder, not a file");
    let path = folder.path().join("no/x.npy");
    let value = floats(&[1.0]);
    let error = save(&value.value, &value.ty, &path, &|| false).expect_err("no such folder");
    assert_eq!(error.kind.code(), "E0405");
    assert!(error.message.ends_with("does not exist"), "{}", error.message);
}
