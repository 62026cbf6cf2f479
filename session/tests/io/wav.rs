//! Sounds.

use weft_session::io::{Limits, load_wav};

use crate::{LIMIT, fixture, outcome};

fn check(name: &str, expected: &str) {
    let loaded = load_wav(&fixture(name), &Limits::bytes(LIMIT));
    assert_eq!(outcome(loaded), expected, "{name}");
}

#[test]
fn one_channel_is_a_vector() {
    check(
        "mono8.wav",
        "{rate: i64, samples: []f32} {rate = 8000, samples = [-1.0, -0.5, 0.0, 0.5, 0.9921875]}",
    );
    check(
        "mono24.wav",
        "{rate: i64, samples: []f32} {rate = 8000, samples = [-1.0, -1.1920929e-7, 0.0, 0.5]}",
    );
}

#[test]
fn floats_of_64_bits_are_not_supported() {
    let mut bytes = std::fs::read(fixture("float.wav")).expect("a fixture");
    let format = bytes.windows(4).position(|four| four == b"fmt ").expect("a format");
    // The bytes of a sample of all channels, the bits of a sample, and the bytes of a second.
    bytes[format + 20..format + 24].copy_from_slice(&[8, 0, 64, 0]);
    bytes[format + 16..format + 20].copy_from_slice(&64_000_u32.to_le_bytes());
    let folder = tempfile::tempdir().expect("a folder for temporary files");
    let path = folder.path().join("x.wav");
    std::fs::write(&path, bytes).expect("a file");
    let found = outcome(load_wav(&path, &Limits::bytes(LIMIT)));
    assert!(found.contains("x.wav: this kind of WAV file cannot be read"), "{found}");
}

#[test]
fn more_channels_are_rows() {
    check(
        "stereo16.wav",
        "{rate: i64, samples: [][]f32} {rate = 8000, samples = [[0.0, 0.5, 3.0517578e-5], [-1.0, \
         -0.5, 0.9999695]]}",
    );
}

#[test]
fn floats_are_kept() {
    check("float.wav", "{rate: i64, samples: []f32} {rate = 8000, samples = [0.25, -1.5, 3.0]}");
}
