//! Positions that were to count from the end, as in `a[-1]` and `m[:, :-1]`.

use weft_ir::Span;

use crate::sources::Sources;

/// What to write for an index, or a slice with a bound, that is a number below 0. The place is that of the slice, or of
/// all that is indexed.
pub(super) fn from_the_end(sources: &Sources, place: Span) -> Option<String> {
    let (line, start) = sources.line_of(place);
    let text = sources.slice(place);
    if text.ends_with(']') {
        let open = opening(text, text.len() - 1)?;
        let (array, inside) = (&text[..open], &text[open + 1..text.len() - 1]);
        let axes: Vec<&str> = inside.split(',').collect();
        let axis = axes.iter().position(|index| below_zero(index).is_some())?;
        let count = below_zero(axes[axis])?;
        if !is_name(array) || inside.contains(['[', '(', '{']) {
            return None;
        }
        let written: Vec<String> = axes
            .iter()
            .enumerate()
            .map(|(axis, index)| counted(index.trim(), array, axis))
            .collect();
        let written = format!("{array}[{}]", written.join(", "));
        return Some(match (count, axes.len()) {
            (1, 1) => format!(
                "positions do not count from the end: the last element is `last {array}`, all but the last are \
                 `init {array}`"
            ),
            _ => format!("positions do not count from the end: write `{written}`"),
        });
    }
    if !text.contains(':') || text.contains(['[', '(', '{']) {
        return None;
    }
    let open = opening(line, start)?;
    let axis = line[open..start].matches(',').count();
    let before = &line[..open];
    let first = before
        .rfind(|letter: char| !(letter.is_alphanumeric() || "_'.".contains(letter)))
        .map_or(0, |place| place + before[place..].chars().next().map_or(1, char::len_utf8));
    let array = before.get(first..).filter(|array| is_name(array)).unwrap_or("xs");
    let parts: Vec<String> = text
        .split(':')
        .enumerate()
        // A step below 0 goes backwards.
        .map(|(place, part)| match place {
            0 | 1 => counted(part.trim(), array, axis),
            _ => part.trim().to_owned(),
        })
        .collect();
    let written = parts.join(":");
    if written == text {
        return None;
    }
    let bounds: Vec<&str> = text.split(':').map(str::trim).collect();
    let last = |count: u64| match count {
        1 => "the last".to_owned(),
        _ => format!("the last {count}"),
    };
    let is = |count: u64| if count == 1 { "is" } else { "are" };
    let what = match bounds[..] {
        [start, ""] if let Some(count) = below_zero(start) => {
            format!("{} {}", last(count), is(count))
        }
        ["", stop] if let Some(count) = below_zero(stop) => {
            format!("all but {} are", last(count))
        }
        [start, stop]
            if below_zero(start).is_none()
                && let Some(count) = below_zero(stop) =>
        {
            format!("those but {} are", last(count))
        }
        _ => "write".to_owned(),
    };
    // Only this axis: what the others are may be long.
    let before = ":, ".repeat(axis);
    Some(format!("positions do not count from the end: {what} `{array}[{before}{written}]`"))
}

/// A bound with `-k` counted from the start.
fn counted(bound: &str, array: &str, axis: usize) -> String {
    match (below_zero(bound), axis) {
        (Some(count), 0) => format!("length {array} - {count}"),
        (Some(count), _) => format!("(shape {array}).{axis} - {count}"),
        (None, _) => bound.to_owned(),
    }
}

/// k of `-k`.
fn below_zero(text: &str) -> Option<u64> {
    text.trim().strip_prefix('-')?.trim().parse().ok()
}

/// Whether a text is a name, or one with fields.
fn is_name(text: &str) -> bool {
    let is_letter = |letter: char| letter.is_alphanumeric() || "_'.".contains(letter);
    text.starts_with(|letter: char| letter.is_alphabetic() || letter == '_')
        && text.chars().all(is_letter)
}

/// The bracket that is open before `end`.
fn opening(text: &str, end: usize) -> Option<usize> {
    let mut closed = 0_usize;
    for (place, letter) in text.get(..end)?.char_indices().rev() {
        match letter {
            ']' | ')' | '}' => closed += 1,
            '[' if closed == 0 => return Some(place),
            '(' | '{' if closed == 0 => return None,
            '[' | '(' | '{' => closed -= 1,
            _ => {}
        }
    }
    None
}
