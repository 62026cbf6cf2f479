//! Tables.

use weft_session::io::{Limits, load_csv};

use crate::{LIMIT, fixture, outcome};

fn check(contents: impl AsRef<[u8]>, expected: &str) {
    crate::check(load_csv, "t.csv", contents, expected);
}

#[test]
fn types_follow_from_the_cells() {
    check(
        "n,x,b,s\n1,1.5,true,one\n-2,2,FALSE,two\n",
        "{n: []i64, x: []f64, b: []bool, s: [][]char} {n = [1, -2], x = [1.5, 2.0], b = [true, \
         false], s = [\"one\", \"two\"]}",
    );
    check(
        "n\n9223372036854775807\n9223372036854775808\n",
        "{n: []f64} {n = [9.223372036854776e18, 9.223372036854776e18]}",
    );
    check("n,x\n", "{n: []f64, x: []f64} {n = [], x = []}");
}

#[test]
fn missing_values() {
    check(
        "n,x,b,s,none\n1,NA,true,NA,\n,2.5,nan,\"NA\",.\n3,null,false,.,NA\n",
        "{n: []f64, x: []f64, b: []f64, s: [][]char, none: []f64} {n = [1.0, NaN, 3.0], x = [NaN, \
         2.5, NaN], b = [1.0, NaN, 0.0], s = [\"\", \"NA\", \"\"], none = [NaN, NaN, NaN]}",
    );
}

#[test]
fn a_column_that_turns_to_text_keeps_its_first_cells() {
    check(
        "a,b,c\n01,true,2.50\n,x,y\n3,z,\n",
        "{a: []f64, b: [][]char, c: [][]char} {a = [1.0, NaN, 3.0], b = [\"true\", \"x\", \"z\"], \
         c = [\"2.50\", \"y\", \"\"]}",
    );
}

#[test]
fn names_are_identifiers() {
    check(
        "sepal length (cm),in,x,x,,2013\n1,2,3,4,5,6\n",
        "{sepal_length_cm: []i64, in_: []i64, x: []i64, x_2: []i64, c4: []i64, c2013: []i64} \
         {sepal_length_cm = [1], in_ = [2], x = [3], x_2 = [4], c4 = [5], c2013 = [6]}",
    );
}

#[test]
fn without_a_header() {
    check("1,NA\n2,0.5\n", "{c0: []i64, c1: []f64} {c0 = [1, 2], c1 = [NaN, 0.5]}");
    // A title does not stand again in its column.
    check(
        "ann,bob\nbob,eve\nann,eve\n",
        "{c0: [][]char, c1: [][]char} {c0 = [\"ann\", \"bob\", \"ann\"], c1 = [\"bob\", \"eve\", \
         \"eve\"]}",
    );
    check("name\nann\nbob\n", "{name: [][]char} {name = [\"ann\", \"bob\"]}");
}

#[test]
fn quotes() {
    check(
        "a,\"b, or c\"\n\"x \"\"y\"\"\",\"two\nlines\"\n 5\" ,\"1\"\n",
        "{a: [][]char, b_or_c: [][]char} {a = [\"x \\\"y\\\"\", \" 5\\\" \"], b_or_c = \
         [\"two\\nlines\", \"1\"]}",
    );
    check(
        "a\n\"x\"y\n",
        "E0402 t.csv, line 2: a closing quote is followed by `y` | a quote inside a quoted field is written twice",
    );
    check(
        "a,b\n1,2\n\"x,3\n4,5\n",
        "E0402 t.csv, line 3: a quote that opens in this row is never closed",
    );
}

#[test]
fn separators_and_line_ends() {
    let expected = "{a: []i64, b: []f64} {a = [1, 3], b = [2.5, 4.0]}";
    check("a;b\r\n1;2.5\r\n3;4\r\n", expected);
    check("a\tb\n1\t2.5\n\n3\t4", expected);
    check("\u{feff}a,b\n1, 2.5\n3 ,4\n", expected);
    crate::check(
        load_csv,
        "t.tsv",
        "a\tb,c\n1\t2\n",
        "{a: []i64, b_c: []i64} {a = [1], b_c = [2]}",
    );
    check("a,b\n1,\n", "{a: []i64, b: []f64} {a = [1], b = [NaN]}");
    check("a,b\n1,", "{a: []i64, b: []f64} {a = [1], b = [NaN]}");
}

#[test]
fn comments_stand_before_the_header() {
    check(
        "# From\tTo\n# 2 edges\n\n30\t1412\n30\t3352\n",
        "{c0: []i64, c1: []i64} {c0 = [30, 30], c1 = [1412, 3352]}",
    );
    check("a\n#1\n", "{a: [][]char} {a = [\"#1\"]}");
}

#[test]
fn rows_have_as_many_fields_as_the_first() {
    check(
        "# c\na,b\n1,2\n\"x\ny\",2,3\n",
        "E0402 t.csv, line 4: this row has 3 fields and the first line has 2",
    );
    check("a,b\n1\n", "E0402 t.csv, line 2: this row has 1 field and the first line has 2");
    check("", "E0402 t.csv: the file has no header and no rows");
}

#[test]
fn encodings() {
    check("a\n\u{e4}\n", "{a: [][]char} {a = [\"\u{e4}\"]}");
    check(b"a\xff,b\n1,2\n", "E0402 t.csv, line 1: the header is not UTF-8 text (at its byte 1)");
    check(
        b"\xff\xfea\0",
        "E0403 t.csv: the text is UTF-16, and only UTF-8 can be read | convert it to UTF-8 first",
    );
}

#[test]
fn compressed() {
    for name in ["table.csv.gz", "table.csv.xz"] {
        let loaded = load_csv(&fixture(name), &Limits::bytes(LIMIT));
        let expected = "{a: []i64, b: [][]char} {a = [1, 2], b = [\"x\", \"yy\"]}";
        assert_eq!(outcome(loaded), expected, "{name}");
    }
}
