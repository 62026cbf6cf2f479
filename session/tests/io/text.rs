//! Text, lines and bytes.

use weft_session::io::{load_bytes, load_lines, load_text};

use crate::check;

#[test]
fn text_is_kept_as_it_is() {
    check(load_text, "a.txt", "a\r\n\u{e4}\n", "[]char \"a\\r\\n\u{e4}\\n\"");
    check(load_text, "a.txt", "\u{feff}a", "[]char \"a\"");
}

#[test]
fn lines_have_no_ends() {
    check(load_lines, "a.txt", "a\r\n\nbcd\n", "[][]char [\"a\", \"\", \"bcd\"]");
    check(load_lines, "a.txt", "a\nb", "[][]char [\"a\", \"b\"]");
    check(load_lines, "a.txt", "", "[][]char []");
    check(load_lines, "a.txt", "\n", "[][]char [\"\"]");
}

#[test]
fn bytes_are_bytes() {
    check(load_bytes, "a", b"\xef\xbb\xbf\x00\xff", "[]u8 [239, 187, 191, 0, 255]");
}
