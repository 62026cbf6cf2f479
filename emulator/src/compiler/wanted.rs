//! The text of some kernels out of a text that has more.
//!
//! A text has kernels for numbers of 32 and of 64 bits, for short rows and for long ones. Of those that nobody launches the
//! compiler would instantiate all that they use, which is most of its time.

use std::ops::Range;

/// How a `__global__` function begins.
const BEGIN: &str = "extern \"C\" __global__ void";

/// The text with blanks where other `__global__` functions stand than those with these names, so that lines keep their
/// numbers.
pub(super) fn wanted(text: &str, names: &[&str]) -> String {
    let mut kept = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(start) = rest.find(BEGIN) {
        let Some((name, function)) = function(rest, start) else { break };
        let (before, whole) = (&rest[..start], &rest[function.clone()]);
        kept.push_str(before);
        match names.contains(&name) {
            true => kept.push_str(whole),
            false => kept.extend(whole.chars().filter(|c| *c == '\n')),
        }
        rest = &rest[function.end..];
    }
    kept + rest
}

/// The name of the function that begins there, and where it stands.
fn function(text: &str, start: usize) -> Option<(&str, Range<usize>)> {
    let header = text[start + BEGIN.len()..].trim_start();
    let header = match header.strip_prefix("__launch_bounds__") {
        Some(bounds) => bounds[bounds.find(')')? + 1..].trim_start(),
        None => header,
    };
    let name = &header[..header.find('(')?];
    let opened = start + text[start..].find('{')?;
    let mut depth = 0;
    for (at, c) in text[opened..].char_indices() {
        match c {
            '{' => depth += 1,
            '}' => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return Some((name, start..opened + at + 1));
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::wanted;

    const TEXT: &str = "struct S { int x; };\n\
        extern \"C\" __global__ void __launch_bounds__(64, 2)\nfirst(S in, int n) {\n  if (n) { f(in); }\n}\n\
        extern \"C\" __global__ void second(int n) { g<S>(n); }\n\
        /* Behind. */\n";

    #[test]
    fn what_is_not_wanted_leaves_its_lines() {
        assert_eq!(wanted(TEXT, &["first", "second", "third"]), TEXT);
        assert_eq!(
            wanted(TEXT, &["second"]),
            "struct S { int x; };\n\n\n\n\n\
             extern \"C\" __global__ void second(int n) { g<S>(n); }\n/* Behind. */\n"
        );
        let none = wanted(TEXT, &[]);
        assert!(!none.contains("__global__") && none.contains("Behind"), "{none}");
        assert_eq!(none.lines().count(), TEXT.lines().count());
    }

    #[test]
    fn what_has_no_end_is_left_to_the_compiler() {
        let cut = "extern \"C\" __global__ void first(int n) {\n";
        assert_eq!(wanted(cut, &[]), cut);
    }
}
