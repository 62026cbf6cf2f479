//! Tables.

use std::cell::RefCell;

use weft_session::io::{Doubt, Limits, load_csv};

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
    check("nan\n1.0\n", "{c0: []f64} {c0 = [NaN, 1.0]}");
    check("NaN,nan\n1,0.5\n", "{c0: []f64, c1: []f64} {c0 = [NaN, 1.0], c1 = [NaN, 0.5]}");
    check("NA\n1.0\n", "{NA: []f64} {NA = [1.0]}");
    // A title does not stand again in its column.
    check(
        "ann,bob\nbob,eve\nann,eve\n",
        "{c0: [][]char, c1: [][]char} {c0 = [\"ann\", \"bob\", \"ann\"], c1 = [\"bob\", \"eve\", \
         \"eve\"]}",
    );
    check("name\nann\nbob\n", "{name: [][]char} {name = [\"ann\", \"bob\"]}");
    // A number over each column of numbers, and a text that stands again.
    check(
        "5.1,setosa\n4.9,setosa\n",
        "{c0: []f64, c1: [][]char} {c0 = [5.1, 4.9], c1 = [\"setosa\", \"setosa\"]}",
    );
    check(
        "x,setosa\n4.9,setosa\n",
        "{x: []f64, setosa: [][]char} {x = [4.9], setosa = [\"setosa\"]}",
    );
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
fn bars_separate_where_nothing_else_does() {
    let expected = "{a: []i64, b: []f64} {a = [1, 3], b = [2.5, 4.0]}";
    check("a|b\n1|2.5\n3|4\n", expected);
    check("a|b\n1|x, y\n", "{a: []i64, b: [][]char} {a = [1], b = [\"x, y\"]}");
    check("a,b\nx|y,1\n", "{a: [][]char, b: []i64} {a = [\"x|y\"], b = [1]}");
    check("a|b\n1|2|3\n", "{a_b: [][]char} {a_b = [\"1|2|3\"]}");
}

#[test]
fn spaces_separate_numbers() {
    let expected = "{a: []i64, b: []f64} {a = [1, 3], b = [2.5, 4.0]}";
    check("a b\n1 2.5\n3 4\n", expected);
    check("  a    b\n  1  2.5  \n   \n 30   4", &expected.replace("3]", "30]"));
    check("a b \r\n1 2.5\r\n3 4 \r\n", expected);
    check("1 NA\n2 0.5\n", "{c0: []i64, c1: []f64} {c0 = [1, 2], c1 = [NaN, 0.5]}");
    check(
        "a b c\n1 \"x y\" 2\n3 z 4\n",
        "{a: []i64, b: [][]char, c: []i64} {a = [1, 3], b = [\"x y\", \"z\"], c = [2, 4]}",
    );
    // Texts that have spaces in them are one column.
    check("name\nAnn Lee\n", "{name: [][]char} {name = [\"Ann Lee\"]}");
    check(
        "item name\nitem 1\nitem 2\n",
        "{item_name: [][]char} {item_name = [\"item 1\", \"item 2\"]}",
    );
    check("when\n2012-01-01 10:00\n", "{when: [][]char} {when = [\"2012-01-01 10:00\"]}");
    check("one two\n", "{one_two: []f64} {one_two = []}");
}

/// What is doubted about a table of these contents: message and help.
fn check_doubts(contents: impl AsRef<[u8]>, expected: &[(&str, &str)]) {
    let contents = contents.as_ref();
    let (_folder, path) = crate::file("t.csv", contents);
    let doubts = RefCell::new(Vec::new());
    let doubt = |doubt: Doubt| doubts.borrow_mut().push((doubt.message, doubt.help));
    load_csv(&path, &Limits { doubt: &doubt, ..Limits::bytes(LIMIT) }).expect("a table");
    let doubts = doubts.into_inner();
    let doubts: Vec<_> = doubts.iter().map(|(message, help)| (&**message, &**help)).collect();
    assert_eq!(doubts, expected, "{}", String::from_utf8_lossy(contents));
}

#[test]
fn doubts_about_the_separator() {
    let spaces =
        "one column of text; spaces may separate more, though not equally many in each line";
    let help = "`{ parseFloat (words line) : line in drop 1 (loadLines \"PATH\") }` reads the numbers below \
                the first line";
    check_doubts("height age\n1 3.5 79\n2 1.5 54\n", &[(spaces, help)]);
    let bars = "one column of text; `|` may separate more, though not equally many in each line";
    let help = "`{ splitOn '|' line : line in loadLines \"PATH\" }` reads the cells of each line";
    check_doubts("# t\na|b\n1|2|3\n4|5|6\n", &[(bars, help)]);
    check_doubts("street\nMain Street 5\nBroadway 77\n", &[]);
    check_doubts("a b\n1 2\n3 4\n", &[]);
    check_doubts("date\n2012-01-01 10\n2012-01-02 11\n", &[]);
}

#[test]
fn doubts_about_lists() {
    let message = "one column of text, and its first line, `apple`, gave it its name";
    let help = "if that is no title, `loadLines \"PATH\"` has all lines";
    check_doubts("apple\nbanana\ncherry\n", &[(message, help)]);
    check_doubts("code\nA12\nB7\nC9\n", &[]);
    check_doubts("name\nAlice\nBob\nEve\n", &[]);
    check_doubts("a,b\nx,y\nz,u\n", &[]);
    check_doubts("word\nhello\n", &[]);
}

#[test]
fn doubts_about_codes() {
    let message = "the column `zip` is whole numbers: of `02139` only the number is kept";
    let help = "the texts are `{ (splitOn ',' line)[1] : line in drop 1 (loadLines \"PATH\") }`, where no cell is \
                in quotes";
    check_doubts("name,zip\na,10115\nb,02139\n", &[(message, help)]);
    let message = "the column `tel` is whole numbers: of `+4930123` only the number is kept";
    let help = "the texts are `{ (splitOn ';' line)[0] : line in drop 2 (loadLines \"PATH\") }`, where no cell is \
                in quotes";
    check_doubts("# telephones\ntel;n\n+4930123;1\n", &[(message, help)]);
    // Months, fractions and what is text anyway.
    check_doubts("month,x,code\n01,0.25,00a\n12,000.5,00b\n", &[]);
    check_doubts("n,m\n0,+1\n100,-20\n", &[]);
}

#[test]
fn doubts_about_the_first_line() {
    let message =
        "the first line gave the columns their names, `ann`, `c5_5`, `c1`, and it looks like a row";
    let help = "if it is one, write a line of titles above it into the file";
    check_doubts("ann,5.5,1\nbob,6.5,2\ncat,4.5,0\n", &[(message, help)]);
    // The first row of a column in order is beside the others; a date stands over dates.
    let beside = message.replace("`c5_5`, `c1`", "`c5`");
    check_doubts("ann,5\nbob,6\ncat,7\n", &[(&beside, help)]);
    let dates = "the first line gave the columns their names, `c2012_01_01`, `ann`, and it looks like a row";
    check_doubts("2012-01-01,ann\n2012-01-02,bob\n", &[(dates, help)]);
    check_doubts("when,who\n2012-01-02,bob\n", &[]);
    // Years and positions are titles.
    check_doubts("country,2012,2013\na,1,2\nb,9999,9999\n", &[]);
    check_doubts("name,2012\na,1\nb,2\n", &[]);
    check_doubts("name,x\na,1\nb,2\n", &[]);
}

#[test]
fn doubts_about_a_comment_above_the_table() {
    let message = "the line above the table is a comment: `id,b`";
    let help = "if it has the titles of the columns, it stands there without the `#`";
    check_doubts("#id,b\n1,2\n3,4\n", &[(message, help)]);
    check_doubts("# all of 2012\nid,b\n1,2\n3,4\n", &[]);
    check_doubts("# from\tto\n# of the graph\n1\t2\n3\t4\n", &[]);
}

#[test]
fn doubts_about_whole_numbers_that_are_rounded() {
    let message =
        "the column `id` is floats, of about 16 digits: numbers as 9007199254740992 are rounded";
    let help = "`parseInt 0` of its texts, from `loadLines`, keeps the digits of whole numbers below 2 ** 63";
    check_doubts("id,v\n9007199254740993,1\n,2\n", &[(message, help)]);
    check_doubts("id,v\n9007199254740993,1\n7,2\n", &[]);
    check_doubts("id,v\n1e300,1\n0.5,2\n", &[]);
}

#[test]
fn lines_that_end_with_a_carriage_return() {
    check("a,b\r1,2\r3,4\r", "{a: []i64, b: []i64} {a = [1, 3], b = [2, 4]}");
}

#[test]
fn doubts_about_commas_in_numbers() {
    let message = "the column `b` is text: its numbers have a decimal comma";
    let help = "`parseFloat (replace \",\" \".\" t.b)` are the numbers, if `t` is the table";
    check_doubts("a;b\n1;2,5\n2;-0,375\n3;\n", &[(message, help)]);
    let message = "the column `b` is text: its numbers have commas between thousands";
    let help = "`parseFloat (replace \",\" \"\" t.b)` are the numbers, if `t` is the table";
    check_doubts("a,b\n1,\"2,500\"\n2,\"1,000,000\"\n", &[(message, help)]);
    check_doubts("a,b\n1,\"2,500\"\n2,\"1,a\"\n", &[]);
    check_doubts("a,b\n1,\"x\"\n2,\"y\"\n", &[]);
}

#[test]
fn doubts_about_marks_among_numbers() {
    let message = "the column `v` is text: of 3 cells 1 is no number (`-`)";
    let help = "`parseFloat t.v` are numbers, with nan there, if `t` is the table";
    check_doubts("v,w\n1,a\n-,b\n3,c\n", &[(message, help)]);
    let message = "the column `v` is text: of 4 cells 2 are no numbers (`low`)";
    check_doubts("v\nlow\n\n2.5\nhigh\n3\nNA\n", &[(message, help)]);
    // Names some of which are numbers.
    check_doubts("v\n1\nb2\nc3\n", &[]);
    check_doubts("v\n1\n2\n3\n4\n5\nb1\nb2\nb3\nb4\n", &[]);
    check_doubts("v\n2012-01-01\n2012-01-02\n", &[]);
}

#[test]
fn doubts_about_letters() {
    let message = "line 2 is not UTF-8: its letters may be those of Latin-1";
    let help = "`iconv -f ISO-8859-1 -t UTF-8 PATH > utf8.csv` makes a file of it that is";
    check_doubts(b"town,n\nM\xfcnchen,1\n", &[(message, help)]);
    check_doubts("town,n\nMünchen,1\n", &[]);
}

#[test]
fn other_formats() {
    let refused = |contents: &[u8], what: &str, hint: &str| {
        let expected =
            format!("E0403 t.csv: the file {what}, no table of separated values | {hint}");
        check(contents, &expected);
    };
    let python = |read: &str, first: &str| {
        format!("{first}; in Python: `pandas.{read}(…).to_csv(\"table.csv\", index=False)`")
    };
    let json = python("read_json", "make a table of it first");
    refused(b"{\"a\": [1, 2], \"b\": 5}\n", "is JSON", &json);
    refused(b"[\n {\"a\": 1},\n {\"a\": 2}]\n", "is JSON", &json);
    refused(b"{\"a\": 1}\n{\"a\": 2}\n", "is JSON", &json);
    check("{a},[b]\n1,2\n", "{a: []i64, b: []i64} {a = [1], b = [2]}");
    check("[a],b\n1,[2]\n", "{a: []i64, b: [][]char} {a = [1], b = [\"[2]\"]}");
    let excel = python("read_excel", "save it as CSV first");
    refused(b"PK\x03\x04\0\0", "is an archive or a spreadsheet (.xlsx)", &excel);
    refused(
        b"\n<!DOCTYPE html>\n<p>404",
        "is a web page",
        "`loadText` shows what it says: it may stand for a file that was not found",
    );
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
    check(
        b"a\xff,b\n1,2\n",
        "E0402 t.csv, line 1: the header is not UTF-8 text (at its byte 1) | a file in Latin-1 is converted by \
         `iconv -f ISO-8859-1 -t UTF-8 old.csv > new.csv`",
    );
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
