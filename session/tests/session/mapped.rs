//! Values that lie in a file, which is read as they are looked at.

use std::fs::{self, OpenOptions};
use std::path::{Path, PathBuf};

use tempfile::TempDir;
use weft_session::io::{Limits, stream_npy};

use crate::transcript::Transcript;

/// A file of so many bytes, which counts up from 0 for a hundred of them.
fn bytes(length: u64) -> (TempDir, PathBuf) {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("x.npy");
    let header = format!("{{'descr': '|u1', 'fortran_order': False, 'shape': ({length},), }}\n");
    let mut contents = b"\x93NUMPY\x01\x00".to_vec();
    contents.extend((header.len() as u16).to_le_bytes());
    contents.extend(header.bytes());
    let begin = contents.len() as u64;
    contents.extend(0..length.min(100) as u8);
    fs::write(&path, contents).expect("a file");
    let file = OpenOptions::new().write(true).open(&path).expect("a file");
    file.set_len(begin + length).expect("a file with holes");
    (folder, path)
}

/// A session in which `xs` is the array of a file.
fn session(path: &Path) -> Transcript {
    let mut session = Transcript::new();
    let loaded = stream_npy(path, &Limits::bytes(1000)).expect("an array");
    session.session.bind("xs", loaded.value, loaded.ty);
    session
}

#[test]
fn values_larger_than_memory_are_used_in_part() {
    // The limit of these sessions is 1 GiB.
    let (_folder, path) = bytes(8 << 30);
    for engine in ["auto", "cpu", "interp"] {
        let mut session = session(&path);
        session.check(&format!(":backend {engine}"), "");
        session.check("length xs", "8589934592");
        session.check("xs[97:101]", "[4]u8 [97, 98, 99, 0]");
        session.check("sum (i64 xs[:1000])", "4950");
        session.check("ys = xs[1_000_000_000:1_000_010_000]", "ys : [10000]u8");
        session.check("maximum ys", "0");
    }
}

#[test]
fn copies_of_what_is_in_files_are_held_against_the_limit() {
    let (_folder, path) = bytes(8 << 30);
    for engine in ["auto", "cpu", "interp", "nested", "flat"] {
        let mut session = session(&path);
        session.check(&format!(":backend {engine}"), "");
        for cell in [
            "(xs with [0] = 9)[0]",
            "(loop a = xs for i < 5 do (a with [i] = a[i] + 1))[0]",
            "(scatter xs [0] [9])[0]",
            "(sort xs)[3]",
        ] {
            session.check(cell, "E0701");
        }
        let part = "maximum (reshape (2, 4_294_967_296) xs)[0][5:10]";
        session.check(part, "9");
    }
}

#[test]
fn values_in_files_take_no_memory() {
    let (_folder, path) = bytes(8 << 30);
    let mut session = session(&path);
    session.check(":vars", "xs : [8589934592]u8  (8589MB, in a file)");
    let mem = session.eval(":mem");
    let lines: Vec<&str> = mem.lines().collect();
    assert_eq!(lines[0], "      0B  host  xs  [8589934592]u8  (8589MB in a file)");
    assert!(lines[1].starts_with("      0B  in all; a run may take 1G"), "{mem}");
    // What takes no memory may be kept.
    session.check("xs = 1", "xs : i64");
    session.check("it = 2", "it : i64");
    let mem = session.eval(":mem");
    assert!(!mem.contains("kept for :undo"), "{mem}");
    session.check(":undo", "as after In[3]");
    session.check(":goto 2", "as at the start");
    session.check("xs[99]", "99");
}

#[test]
fn sequences_in_files_are_told_of() {
    let (_folder, path) = bytes(8 << 30);
    let mut session = session(&path);
    // The file has no other name any more.
    session.check("s = stream xs\nxs = 1", "s : seq u8\nxs : i64\n(`s` still uses the old `xs`)");
    session.check("t = map (+ 1) s", "t : seq u8");
    let file = "(8589MB, in a file)";
    session.check(":vars", &format!("s  : seq u8  {file}\nt  : seq u8  {file}\nxs : i64"));
    let mem = session.eval(":mem");
    let lines: Vec<&str> = mem.lines().collect();
    assert!(lines.contains(&"      0B  host  s, t  seq u8  (8589MB in a file)"), "{mem}");
}

#[test]
fn results_that_lie_in_a_file_are_kept() {
    let (_folder, path) = bytes(1 << 20);
    let mut session = session(&path);
    session.check(":set outputs 1k", "");
    session.eval("xs");
    session.eval("1 + 1");
    session.check("_2[99]", "99");
}

#[test]
fn nobody_writes_to_a_file() {
    let (_folder, path) = bytes(100);
    let before = fs::read(&path).expect("a file");
    for engine in ["auto", "cpu", "interp"] {
        let mut session = session(&path);
        session.check(&format!(":backend {engine}"), "");
        session.check("ys = (xs with [0] = 9)\nys[:3]", "ys : [100]u8\n[3]u8 [9, 1, 2]");
        session.check("(scatter xs [1] [u8 7])[:3]", "[3]u8 [0, 7, 2]");
        session.check(
            "(loop a = xs for i < 50 do (a with [i] = a[i] + 1))[48:52]",
            "[4]u8 [49, 50, 50, 51]",
        );
        session.check("(sort (-(i64 xs)))[0]", "-99");
        session.check("xs[:3]", "[3]u8 [0, 1, 2]");
    }
    assert!(fs::read(&path).expect("a file") == before);
}

#[test]
fn files_that_were_written_to_are_an_error_and_not_the_end() {
    let (_folder, path) = bytes(1 << 20);
    let mut session = session(&path);
    session.check("def f i = xs[i]\nf 5", "f : i64 -> u8\n5");
    let file = OpenOptions::new().write(true).open(&path).expect("a file");
    file.set_len(100).expect("a shorter file");
    session.check("sum (i64 xs)", "E0401");
    let report = session.last_report();
    assert!(report.contains("had 1048650 bytes when it was opened, and has 100 now"), "{report}");
    session.check("f 5", "E0401");
    session.check("1 + 1\nf 5\n2", "2\nE0401");
    session.check("ys = xs[1:]\nzs = ys[2:]\nsum (i64 zs)", "E0401");
    session.check(":bench xs[5]", "E0401");
    session.check(":save xs[5:] \"never.npy\"", "E0401");
    // What looks at nothing works, and so does the rest.
    session.check(":type xs", "xs : []u8");
    session.check("1 + 1", "2");
}
