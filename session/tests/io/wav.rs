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
