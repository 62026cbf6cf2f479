//! Pictures.

use weft_session::io::{Limits, load_image};

use crate::{LIMIT, fixture, outcome};

fn check_fixture(name: &str, expected: &str) {
    let loaded = load_image(&fixture(name), &Limits::bytes(LIMIT));
    assert_eq!(outcome(loaded), expected, "{name}");
}

fn check(contents: impl AsRef<[u8]>, expected: &str) {
    crate::check(load_image, "picture", contents, expected);
}

const COLOURS: &str = "[][](u8, u8, u8) [[(255, 0, 0), (0, 255, 0)], [(0, 0, 255), (1, 2, 3)]]";

#[test]
fn png() {
    check_fixture("grey.png", "[][]u8 [[0, 64, 128], [192, 255, 7]]");
    check_fixture("bits.png", "[][]u8 [[0, 0, 255], [255, 255, 0]]");
    check_fixture("grey16.png", "[][]u16 [[0, 1], [65535, 256]]");
    check_fixture("colour.png", COLOURS);
    check_fixture("palette.png", COLOURS);
}

#[test]
fn alpha_is_left_out() {
    check_fixture("alpha.png", COLOURS);
}

#[test]
fn jpeg() {
    let row: Vec<String> = (0..16).map(|x| (16 * x).to_string()).collect();
    let rows = vec![format!("[{}]", row.join(", ")); 8].join(", ");
    check_fixture("grey.jpg", &format!("[][]u8 [{rows}]"));
    let rows = vec![format!("[{}]", vec!["(200, 100, 50)"; 16].join(", ")); 8].join(", ");
    check_fixture("colour.jpg", &format!("[][](u8, u8, u8) [{rows}]"));
}

#[test]
fn portable_maps() {
    check("P2\n# a comment\n2 2 # another\n255\n0 1\n2 255\n", "[][]u8 [[0, 1], [2, 255]]");
    check(b"P5 2 2 255\n\x00\x01\x02\xff", "[][]u8 [[0, 1], [2, 255]]");
    check("P3 1 1 255 7 8 9", "[][](u8, u8, u8) [[(7, 8, 9)]]");
    check(b"P6 1 1 255\n\x07\x08\x09", "[][](u8, u8, u8) [[(7, 8, 9)]]");
    check(b"P5 2 1 65535\n\x01\x02\xff\xff", "[][]u16 [[258, 65535]]");
}

#[test]
fn the_maximum_becomes_white() {
    check("P2 3 1 15 0 7 15", "[][]u8 [[0, 119, 255]]");
    check("P2 3 1 1023 0 512 1023", "[][]u16 [[0, 32800, 65535]]");
}

#[test]
fn damage() {
    check("GIF89a", "E0402 picture, byte 0: is no picture in PNG, JPEG, PGM or PPM format");
    check(
        b"P5 2 2 255\n\x00\x01",
        "E0402 picture, byte 13: the file is cut off: it has 2 x 2 pixels",
    );
    check("P2 2 2 9 1 2 3 10", "E0402 picture, byte 16: a sample is above 9");
    check(b"P5 1 1 9\n\x0a", "E0402 picture, byte 9: a sample is 10 and the maximum is 9");
    check("P5 0 1 1", "E0402 picture, byte 8: the width, the height or the maximal value is 0");
    check("P2 x", "E0402 picture, byte 3: the width was expected");
}
