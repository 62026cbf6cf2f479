//! Files that lie, are cut off or want all memory: an error each, soon, and never a panic.

use std::cell::Cell;
use std::io::Write;
use std::path::Path;

use flate2::Compression;
use flate2::write::GzEncoder;
use weft_ir::Value;
use weft_session::io::{
    IoError, Limits, Loaded, load, load_bytes, load_csv, load_image, load_lines, load_mtx,
    load_text, load_wav, stream_npy, stream_wav,
};

use crate::{Load, failure, file, fixture, outcome};

fn load_array(path: &Path, limits: &Limits) -> Result<Loaded, IoError> {
    load(path, None, limits)
}

/// Every loader with a name that it accepts.
const LOADERS: [(Load, &str); 8] = [
    (load_array, "x.npy"),
    (load_array, "x.npz"),
    (load_csv, "x.csv"),
    (load_mtx, "x.mtx"),
    (load_image, "x.png"),
    (load_wav, "x.wav"),
    (load_text, "x.txt"),
    (load_lines, "x.txt"),
];

/// Loads a file within 1 MB.
fn check(load: Load, name: &str, contents: impl AsRef<[u8]>, expected: &str) {
    let (_folder, path) = file(name, contents.as_ref());
    assert_eq!(outcome(load(&path, &Limits::bytes(1_000_000))), expected);
}

fn npy(header: &str) -> Vec<u8> {
    let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
    bytes.extend((header.len() as u16).to_le_bytes());
    bytes.extend(header.bytes());
    bytes
}

fn gzip(contents: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
    encoder.write_all(contents).expect("memory");
    encoder.finish().expect("memory")
}

#[test]
fn arrays_that_promise_too_much() {
    let check = |shape: &str, expected: &str| {
        let header = format!("{{'descr': '<f8', 'fortran_order': False, 'shape': ({shape}), }}");
        check(load_array, "x.npy", npy(&header), expected);
    };
    check(
        "1000000000000,",
        "E0404 x.npy: the array needs 8000000000000 bytes, and the limit is 1000000",
    );
    check(
        "99999999999999999999999999, 99999999999999999999999999",
        "E0404 x.npy: the array needs more than 2^64 bytes, and the \
         limit is 1000000",
    );
    check(
        "1000000000000, 0",
        "E0404 x.npy: the array needs 8000000000000 bytes, and the limit is 1000000",
    );
    check(
        "-1,",
        "E0402 x.npy, byte 61: the header is damaged: an extent of 0 or more was expected",
    );
    check(
        "100,",
        "E0402 x.npy, byte 69: the file is cut off: the array needs 800 bytes from byte 69 on, and \
         the file has 69",
    );
    check(&"1, ".repeat(65), "E0404 x.npy: the array has 65 axes, and the limit is 64");
}

#[test]
fn damaged_array_headers() {
    let check = |header: &str, expected: &str| check(load_array, "x.npy", npy(header), expected);
    check("{", "E0402 x.npy, byte 11: the header is damaged: a quoted text was expected");
    check(
        "{'a': 1}",
        "E0402 x.npy, byte 16: the header is damaged: a text, a tuple, True or False was expected",
    );
    check("{'descr': '<f8'}", "E0402 x.npy, byte 10: the header has no entry `fortran_order`");
    check("{'x': True}", "E0402 x.npy, byte 10: the header has an unexpected entry `x`");
}

#[test]
fn damaged_arrays() {
    check(
        load_array,
        "x.npy",
        b"\x93NUMPY\x07\0\0\0",
        "E0403 x.npy: version 7 of the .npy format is not supported",
    );
    check(
        load_array,
        "x.npy",
        b"\x93NUMPY\x02\0\xff\xff\xff\xff",
        "E0404 x.npy: the header has 4294967295 bytes, and the limit is 65536",
    );
    check(load_array, "x.npy", "", "E0402 x.npy, byte 0: the file is cut off");
    let mut longer = std::fs::read(fixture("scalar.npy")).expect("a fixture");
    longer.push(0);
    check(
        load_array,
        "x.npy",
        &longer,
        "E0402 x.npy, byte 136: the data goes on after the last element",
    );
    let mut bools = std::fs::read(fixture("bools.npy")).expect("a fixture");
    bools[129] = 7;
    check(load_array, "x.npy", &bools, "E0402 x.npy, byte 129: a bool is 0 or 1, not 7");
}

#[test]
fn bombs_stop_at_the_limit() {
    let bomb = gzip(&vec![0; 100_000_000]);
    assert!(bomb.len() < 200_000);
    let message = "the contents are larger than the limit of 1000000 bytes";
    check(load_bytes, "x.gz", &bomb, &format!("E0404 x.gz: {message}"));
    check(load_csv, "x.csv.gz", &bomb, &format!("E0404 x.csv.gz: {message}"));

    let mut archive = zip::ZipWriter::new(std::io::Cursor::new(Vec::new()));
    let options = zip::write::SimpleFileOptions::default();
    archive.start_file("x.npy", options).expect("memory");
    let header = "{'descr': '|u1', 'fortran_order': False, 'shape': (900000,), }";
    archive.write_all(&npy(header)).expect("memory");
    archive.write_all(&vec![0; 10_000_000]).expect("memory");
    let archive = archive.finish().expect("memory").into_inner();
    check(
        load_array,
        "x.npz",
        archive,
        "E0402 x.npz, byte 900072: the data goes on after the last element",
    );
}

#[test]
fn files_beyond_the_limit_are_not_opened() {
    let bytes = vec![b' '; 1_000_001];
    for (load, name) in LOADERS {
        if name == "x.npz" {
            // An archive may be large: the limit is on the member that is read.
            continue;
        }
        let expected =
            format!("E0404 {name}: the file has 1000001 bytes, and the limit is 1000000");
        check(load, name, &bytes, &expected);
    }
}

#[test]
fn tables_that_grow_beyond_the_limit() {
    // 250 001 cells of 8 bytes out of 500 000 bytes of text.
    let table = format!("a\n{}", "1\n".repeat(250_001));
    check(
        load_csv,
        "x.csv",
        table,
        "E0404 x.csv: the value needs 1000008 bytes, and the limit is 1000000",
    );
    let wide = ",".repeat(200_000);
    check(
        load_csv,
        "x.csv",
        wide,
        "E0404 x.csv: the first line has 200001 fields, and the limit is 100000",
    );
}

#[test]
fn matrices_that_promise_too_much() {
    let banner = "%%MatrixMarket matrix coordinate real general\n";
    check(
        load_mtx,
        "x.mtx",
        format!("{banner}10 10 1000000000000\n1 1 1\n"),
        "E0402 x.mtx: the size line promises 1000000000000 entries, and there are only 6 bytes of \
         them",
    );
    check(
        load_mtx,
        "x.mtx",
        "%%MatrixMarket matrix array real general\n9000000000000000000 9000000000000000000\n1\n",
        "E0402 x.mtx, line 2: the matrix has more than 2^64 elements",
    );
    let entries = "1 1 1\n".repeat(50_000);
    check(
        load_mtx,
        "x.mtx",
        format!("{banner}10 10 50000\n{entries}"),
        "E0404 x.mtx: the value needs 1200000 bytes, and the limit is 1000000",
    );
}

#[test]
fn pictures_that_promise_too_much() {
    check(
        load_image,
        "x.pgm",
        "P5 4000000000 4000000000 255\n",
        "E0404 x.pgm: the value needs 16000000000000000000 bytes, and the limit is 1000000",
    );
    let message = "the file is too short for its 499999 x 2 pixels";
    check(load_image, "x.png", png_of_size(499_999, 2), &format!("E0402 x.png: {message}"));
    let message = "the value needs 3600000000 bytes, and the limit is 1000000";
    check(load_image, "x.png", png_of_size(60_000, 60_000), &format!("E0404 x.png: {message}"));
}

/// A PNG file whose header alone is of another size.
fn png_of_size(width: u32, height: u32) -> Vec<u8> {
    let mut png = std::fs::read(fixture("grey.png")).expect("a fixture");
    // The header chunk: its name at byte 12, width, height, and the checksum of it all at byte 29.
    png[16..20].copy_from_slice(&width.to_be_bytes());
    png[20..24].copy_from_slice(&height.to_be_bytes());
    let mut sum = flate2::Crc::new();
    sum.update(&png[12..29]);
    png[29..33].copy_from_slice(&sum.sum().to_be_bytes());
    png
}

/// The kind that says how many bits of a sample count.
#[test]
fn sounds_of_impossible_widths() {
    for bits in [0_u16, 1, 33, 64, 65, 1000, u16::MAX] {
        let mut sound = b"RIFF\x44\0\0\0WAVEfmt \x28\0\0\0\xfe\xff\x01\0".to_vec();
        // The rate, the bytes a second and a sample, and the bits.
        sound.extend(b"\x40\x1f\0\0\x80\x3e\0\0\x02\0\x10\0\x16\0");
        sound.extend(bits.to_le_bytes());
        sound.extend(b"\0\0\0\0\x01\0\0\0\0\0\x10\0\x80\0\0\xaa\0\x38\x9b\x71");
        sound.extend(b"data\x04\0\0\0\0\x40\0\xc0");
        let (_folder, path) = file("x.wav", &sound);
        for load in [load_wav, stream_wav] {
            let result = load(&path, &Limits::bytes(1_000_000));
            assert_eq!(result.is_ok(), bits == 0, "{bits}: {}", outcome(result));
        }
    }
}

/// Every prefix of every fixture, and every fixture with single bytes changed, ends in a value or
/// in an error: nothing else is asserted, for many a changed byte leaves a well-formed file.
#[test]
fn damaged_fixtures_never_panic() {
    let folder = fixture("");
    let mut names: Vec<_> = std::fs::read_dir(&folder)
        .expect("the fixtures")
        .map(|entry| entry.expect("a fixture").file_name().into_string().expect("UTF-8"))
        .collect();
    names.sort();
    let (mut values, mut errors) = (0, 0);
    for name in names {
        let loader: Load = match name.split_once('.').map(|(_, extension)| extension) {
            Some("npy" | "npy.gz" | "npy.xz" | "npz") => load_array,
            Some("csv.gz" | "csv.xz") => load_csv,
            Some("mtx") => load_mtx,
            Some("png" | "jpg") => load_image,
            Some("wav") => load_wav,
            _ => continue,
        };
        let whole = std::fs::read(folder.join(&name)).expect("a fixture");
        let (_folder, path) = file(&name, &whole);
        let mut attempt = |bytes: &[u8]| {
            // A new file each time: some file systems wait for the disk when an old one is cut.
            std::fs::remove_file(&path).expect("the last attempt");
            std::fs::write(&path, bytes).expect("a temporary file");
            let loaded = loader(&path, &Limits::bytes(1_000_000));
            let streamed = match name.ends_with("wav") {
                true => Some(stream_wav(&path, &Limits::bytes(1_000_000)).is_ok()),
                false => name.contains(".npy").then(|| is_streamed(&path, &loaded)),
            };
            assert!(streamed.is_none_or(|is_ok| is_ok == loaded.is_ok()), "{name}, {bytes:?}");
            match loaded {
                Ok(_) => values += 1,
                Err(error) => {
                    assert!(failure(&error).len() < 400, "{}", failure(&error));
                    errors += 1;
                }
            }
        };
        for length in (0..whole.len()).step_by(whole.len() / 100 + 1) {
            attempt(&whole[..length]);
        }
        let mut changed = whole.clone();
        for position in (0..whole.len()).step_by(whole.len() / 100 + 1) {
            for byte in [0, 1, 0x7f, 0xff] {
                changed[position] = byte;
                attempt(&changed);
            }
            changed[position] = whole[position];
        }
    }
    assert!(values > 100 && errors > 1000, "{values} values, {errors} errors");
}

#[test]
fn cut_off_compressed_files() {
    let bytes = std::fs::read(fixture("plain.npy.gz")).expect("a fixture");
    check(
        load_array,
        "x.npy.gz",
        &bytes[..bytes.len() - 1],
        "E0402 x.npy.gz, byte 138: the file is cut off",
    );
    let bytes = std::fs::read(fixture("plain.npy.xz")).expect("a fixture");
    check(
        load_array,
        "x.npy.xz",
        &bytes[..bytes.len() - 1],
        "E0402 x.npy.xz, byte 138: the file is cut off",
    );
    check(
        load_bytes,
        "x.gz",
        b"no gzip file at all",
        "E0402 x.gz: is not compressed with gzip, though its name says so | rename it",
    );
    check(
        load_bytes,
        "x.gz",
        b"a",
        "E0402 x.gz: is not compressed with gzip, though its name says so | rename it",
    );
}

/// A window of 1 GiB for a text of six characters.
#[test]
fn xz_windows_are_limited() {
    let bytes = std::fs::read(fixture("window.txt.xz")).expect("a fixture");
    let message = "the xz file needs more memory to decompress than is allowed";
    check(load_text, "x.txt.xz", bytes, &format!("E0404 x.txt.xz: {message}"));
}

#[test]
fn what_is_no_regular_file() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    for (load, name) in LOADERS {
        let path = folder.path().join(name);
        std::fs::create_dir_all(&path).expect("a folder");
        let expected = format!("E0401 {name}: is a folder, not a file");
        assert_eq!(outcome(load(&path, &Limits::bytes(1000))), expected);
    }
    let missing = folder.path().join("no/x.csv");
    let hint = format!("the folder `{}` does not exist", folder.path().join("no").display());
    let error = load_csv(&missing, &Limits::bytes(1000)).expect_err("there is no such folder");
    assert_eq!(error.hint, Some(hint));
}

#[test]
fn a_wish_to_stop_is_heard() {
    let (_folder, path) = file("x.txt", &vec![b'a'; 10 << 20]);
    let asked = Cell::new(0);
    let stop = || {
        asked.set(asked.get() + 1);
        asked.get() > 3
    };
    let limits = Limits { stop: &stop, ..Limits::bytes(1 << 30) };
    assert_eq!(outcome(load_text(&path, &limits)), "E0703 x.txt: interrupted");
    let limits = Limits { stop: &|| true, ..limits };
    for (load, name) in LOADERS {
        let (_folder, path) = file(name, b"a,b\n1,2\n");
        if name != "x.npz" {
            assert_eq!(outcome(load(&path, &limits)), format!("E0703 {name}: interrupted"));
        }
    }
}

/// Whether an array file can be read as it is needed; the array is the one that was loaded then. A scalar counts.
fn is_streamed(path: &Path, loaded: &Result<Loaded, IoError>) -> bool {
    match (stream_npy(path, &Limits::bytes(1_000_000)), loaded) {
        (Ok(streamed), Ok(loaded)) => {
            assert_eq!(streamed.ty, loaded.ty);
            assert!(streamed.value.same_bits(&loaded.value));
            true
        }
        (Err(error), Ok(Loaded { value: Value::Scalar(_), .. })) => {
            assert!(error.message.contains("no axes"), "{}", failure(&error));
            true
        }
        (streamed, _) => streamed.is_ok(),
    }
}
