//! Helps and notes in lines that fit a terminal.

use unicode_width::UnicodeWidthStr;

/// No line is made shorter than this.
const NARROWEST: usize = 30;

/// The text with line breaks between words, so that no line takes more than `width` columns where its words
/// allow that. A program in backquotes is one word, if it fits on a line; lines that are indented are programs,
/// and stay as they are.
pub(super) fn wrapped(text: &str, width: usize) -> String {
    let width = width.max(NARROWEST);
    let mut out = String::new();
    for (index, line) in text.split('\n').enumerate() {
        if index > 0 {
            out.push('\n');
        }
        if line.starts_with(' ') || line.width() <= width {
            out.push_str(line);
            continue;
        }
        let mut column = 0;
        for word in words(line, width) {
            let needed = word.width();
            if column > 0 {
                let fits = column + 1 + needed <= width;
                out.push(if fits { ' ' } else { '\n' });
                column = if fits { column + 1 } else { 0 };
            }
            out.push_str(word);
            column += needed;
        }
    }
    out
}

/// The words of a line, none of which can be broken.
fn words(line: &str, width: usize) -> Vec<&str> {
    let mut is_code = false;
    let ends_word = |c: char| {
        is_code ^= c == '`';
        c == ' ' && !is_code
    };
    let words = line.split(ends_word);
    words
        .flat_map(|word| match word.width() > width {
            true => word.split(' ').collect(),
            false => vec![word],
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::wrapped;

    #[test]
    fn lines_break_between_words() {
        let text = "write `a + b` where both have one shape,\n  x = 1 -- a program stays as it is, however long\nok";
        let expect = "write `a + b` where both have\none shape,\n  x = 1 -- a program stays as it is, however long\nok";
        assert_eq!(wrapped(text, 30), expect);
        assert_eq!(wrapped(&"x".repeat(50), 30), "x".repeat(50));
        assert_eq!(wrapped("short", 30), "short");
        let code = "a text is sorted by `codes texts` alone";
        assert_eq!(wrapped(code, 30), "a text is sorted by\n`codes texts` alone");
    }
}
