//! Colours of reports, for pages: a front end puts them on a background that the kernel does not know.

/// Shades of a palette for dark terminals that nobody can read on the pale red of an error in
/// JupyterLab, or on the dark one, and what stands for them: source text that is not the point is as all text, the
/// word before a hint is green as the front end has it, and the frame has one grey.
const PALE: [(&str, &str); 4] =
    [("0", ""), ("38;5;249", ""), ("38;5;115", "32"), ("38;5;240", "38;5;246")];

/// The same text with as few escapes as will do, as a report colours each character on its own, and
/// in colours that can be read everywhere.
pub(crate) fn settled(text: &str) -> String {
    let mut settled = String::with_capacity(text.len());
    // As the text so far ends, and as the next character should be; empty is the colour of all text.
    let (mut current, mut wanted) = ("", "");
    let mut rest = text;
    while let Some((before, after)) = rest.split_once("\x1b[") {
        say(before, &mut current, wanted, &mut settled);
        let Some((style, after)) = after.split_once('m') else {
            rest = "";
            break;
        };
        let other = PALE.iter().find(|(pale, _)| *pale == style);
        wanted = other.map_or(style, |(_, other)| other);
        rest = after;
    }
    say(rest, &mut current, wanted, &mut settled);
    if !current.is_empty() {
        settled.push_str("\x1b[0m");
    }
    settled
}

/// Adds text in a style.
fn say<'a>(text: &str, current: &mut &'a str, wanted: &'a str, settled: &mut String) {
    if text.is_empty() {
        return;
    }
    if *current != wanted {
        if !current.is_empty() {
            settled.push_str("\x1b[0m");
        }
        if !wanted.is_empty() {
            settled.push_str("\x1b[");
            settled.push_str(wanted);
            settled.push('m');
        }
        *current = wanted;
    }
    settled.push_str(text);
}

#[cfg(test)]
mod tests {
    use super::settled;

    #[track_caller]
    fn check(text: &str, expect: &str) {
        assert_eq!(settled(text), expect);
    }

    #[test]
    fn neighbours_of_one_colour_share_it() {
        check("\x1b[31ma\x1b[0m\x1b[31mb\x1b[0mc", "\x1b[31mab\x1b[0mc");
        check("a\x1b[36mb\x1b[0m\x1b[31mc\x1b[0m", "a\x1b[36mb\x1b[0m\x1b[31mc\x1b[0m");
        check("no colour", "no colour");
    }

    #[test]
    fn pale_colours_are_replaced() {
        check("\x1b[38;5;249mx\x1b[0m\x1b[38;5;246m1\x1b[0m", "x\x1b[38;5;246m1\x1b[0m");
        check("\x1b[38;5;115mHelp\x1b[0m", "\x1b[32mHelp\x1b[0m");
        check("\x1b[38;5;240m|\x1b[0m", "\x1b[38;5;246m|\x1b[0m");
    }

    #[test]
    fn what_is_cut_off_ends_the_text() {
        check("a\x1b[3", "a");
        check("\x1b[31m", "");
    }
}
