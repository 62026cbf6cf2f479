//! From the bytes that a terminal sends to keys.

/// A key, perhaps with others held down.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Key {
    Char(char),
    /// Control and a lower case letter, or `_`.
    Ctrl(char),
    Alt(char),
    Enter,
    /// Enter with Alt or Shift.
    OtherEnter,
    Tab,
    BackTab,
    Backspace,
    AltBackspace,
    Delete,
    Escape,
    Up,
    Down,
    Left,
    Right,
    WordLeft,
    WordRight,
    Home,
    End,
    /// A text from elsewhere.
    Paste(String),
    Unknown,
}

/// Ends a pasted text.
const PASTE_END: &[u8] = b"\x1b[201~";

/// Bytes that have not become keys yet.
#[derive(Debug, Default)]
pub(super) struct Decoder {
    bytes: Vec<u8>,
    /// Bytes of an unfinished paste in which its end is not.
    searched: usize,
}

impl Decoder {
    /// Adds what was read.
    pub(super) fn feed(&mut self, bytes: &[u8]) {
        self.bytes.extend_from_slice(bytes);
    }

    /// Whether all that waits is ESC, which is a key too.
    pub(super) fn is_at_escape(&self) -> bool {
        *self.bytes == [0x1b]
    }

    /// Whether bytes wait for others.
    pub(super) fn is_waiting(&self) -> bool {
        !self.bytes.is_empty()
    }

    /// Whether a blank is the next to become a key.
    pub(super) fn comes_blank(&self) -> bool {
        matches!(self.bytes.first(), Some(b' ' | b'\t'))
    }

    /// Whether Ctrl-C is among what has not become keys yet. It goes, and so does what was typed before it, as
    /// the system does it.
    pub(super) fn interrupt(&mut self) -> bool {
        const CTRL_C: u8 = 3;
        let found = self.bytes.iter().rposition(|byte| *byte == CTRL_C);
        if let Some(at) = found {
            self.bytes.drain(..=at);
            self.searched = 0;
        }
        found.is_some()
    }

    /// The next key. `None` if there is none yet; where nothing follows (`at_rest`), the beginning
    /// of a sequence is a key of its own.
    pub(super) fn next(&mut self, at_rest: bool) -> Option<Key> {
        let (key, length) = match *self.bytes.first()? {
            0x1b => self.escape(at_rest)?,
            // What is pasted into terminals that do not mark it may have the line ends of other systems.
            b'\r' if self.bytes.get(1) == Some(&b'\n') => (Key::Enter, 2),
            b'\r' | b'\n' => (Key::Enter, 1),
            b'\t' => (Key::Tab, 1),
            0x7f | 0x08 => (Key::Backspace, 1),
            byte @ 1..=26 => (Key::Ctrl(char::from(byte - 1 + b'a')), 1),
            0x1f => (Key::Ctrl('_'), 1),
            0..0x20 => (Key::Unknown, 1),
            _ => match self.character(0, at_rest)? {
                (Some(c), length) => (Key::Char(c), length),
                (None, length) => (Key::Unknown, length),
            },
        };
        self.bytes.drain(..length);
        Some(key)
    }

    /// A key that begins with ESC, and its bytes.
    fn escape(&mut self, at_rest: bool) -> Option<(Key, usize)> {
        let Some(second) = self.bytes.get(1) else {
            return at_rest.then_some((Key::Escape, 1));
        };
        match second {
            b'[' => self.sequence(at_rest),
            b'O' => match self.bytes.get(2) {
                Some(letter) => Some((letter_key(*letter, ""), 3)),
                None => at_rest.then_some((Key::Alt('O'), 2)),
            },
            0x1b => Some((Key::Escape, 1)),
            b'\r' | b'\n' => Some((Key::OtherEnter, 2)),
            0x7f | 0x08 => Some((Key::AltBackspace, 2)),
            _ => match self.character(1, at_rest)? {
                (Some(c), length) => Some((Key::Alt(c), 1 + length)),
                (None, length) => Some((Key::Unknown, 1 + length)),
            },
        }
    }

    /// `ESC [ parameters letter`.
    fn sequence(&mut self, at_rest: bool) -> Option<(Key, usize)> {
        let rest = &self.bytes[2..];
        let Some(end) = rest.iter().position(|byte| (0x40..0x7f).contains(byte)) else {
            return at_rest.then_some((Key::Unknown, self.bytes.len()));
        };
        let length = 2 + end + 1;
        let parameters = String::from_utf8_lossy(&rest[..end]).into_owned();
        let key = match (rest[end], &*parameters) {
            (b'~', "200") => return self.paste(length),
            (b'~', "1" | "7") => Key::Home,
            (b'~', "4" | "8") => Key::End,
            (b'~', "3") => Key::Delete,
            (b'~', "27;2;13" | "27;3;13") | (b'u', "13;2" | "13;3") => Key::OtherEnter,
            (b'Z', _) => Key::BackTab,
            (letter, parameters) => letter_key(letter, parameters),
        };
        Some((key, length))
    }

    /// A pasted text that begins at a byte. It may come in many parts.
    fn paste(&mut self, start: usize) -> Option<(Key, usize)> {
        let from = self.searched.max(start);
        let found = self.bytes[from..].windows(PASTE_END.len()).position(|part| part == PASTE_END);
        let Some(end) = found else {
            self.searched = from.max(self.bytes.len().saturating_sub(PASTE_END.len()));
            return None;
        };
        self.searched = 0;
        let end = from + end;
        let text = String::from_utf8_lossy(&self.bytes[start..end]);
        let text = text.replace("\r\n", "\n").replace('\r', "\n").replace('\t', "    ");
        Some((Key::Paste(text), end + PASTE_END.len()))
    }

    /// The character at a byte and its length; none if it is not UTF-8.
    fn character(&self, at: usize, at_rest: bool) -> Option<(Option<char>, usize)> {
        let bytes = &self.bytes[at..];
        let length = match bytes.first()? {
            0..0x80 => 1,
            0xc0..0xe0 => 2,
            0xe0..0xf0 => 3,
            0xf0..0xf8 => 4,
            _ => return Some((None, 1)),
        };
        if bytes.len() < length {
            return at_rest.then_some((None, bytes.len()));
        }
        let text = std::str::from_utf8(&bytes[..length]);
        Some(match text {
            Ok(text) => (text.chars().next(), length),
            Err(_) => (None, 1),
        })
    }
}

fn letter_key(letter: u8, parameters: &str) -> Key {
    let with_others = parameters.contains(';');
    match letter {
        b'A' => Key::Up,
        b'B' => Key::Down,
        b'C' if with_others => Key::WordRight,
        b'D' if with_others => Key::WordLeft,
        b'C' => Key::Right,
        b'D' => Key::Left,
        b'H' => Key::Home,
        b'F' => Key::End,
        _ => Key::Unknown,
    }
}

#[cfg(test)]
mod tests {
    use super::{Decoder, Key};

    fn keys(parts: &[&[u8]]) -> Vec<Key> {
        let mut decoder = Decoder::default();
        let mut keys = Vec::new();
        for part in parts {
            decoder.feed(part);
            while let Some(key) = decoder.next(false) {
                keys.push(key);
            }
        }
        while let Some(key) = decoder.next(true) {
            keys.push(key);
        }
        keys
    }

    #[test]
    fn bytes_are_keys() {
        use Key::{
            Alt, AltBackspace, Backspace, Char, Ctrl, Delete, Down, Enter, Escape, OtherEnter, Tab,
            Up, WordRight,
        };
        assert_eq!(keys(&["aé√".as_bytes()]), [Char('a'), Char('é'), Char('√')]);
        assert_eq!(keys(&[b"\x01\x1f\r\t\x7f"]), [Ctrl('a'), Ctrl('_'), Enter, Tab, Backspace]);
        assert_eq!(keys(&[b"\x1b[A\x1bOB\x1b[1;5C\x1b[3~"]), [Up, Down, WordRight, Delete]);
        assert_eq!(keys(&[b"\x1bb\x1b\x7f\x1b\r"]), [Alt('b'), AltBackspace, OtherEnter]);
        assert_eq!(keys(&[b"\x1b"]), [Escape]);
        assert_eq!(keys(&[b"a\r\nb\r\r\n"]), [Char('a'), Enter, Char('b'), Enter, Enter]);
    }

    #[test]
    fn sequences_may_come_in_parts() {
        assert_eq!(keys(&[b"\x1b", b"[", b"1;", b"5D"]), [Key::WordLeft]);
        assert_eq!(keys(&[b"\xe2", b"\x88", b"\x9a"]), [Key::Char('√')]);
        let paste = keys(&[b"\x1b[200~a\r\n\tb", b"c\x1b[20", b"1~d"]);
        assert_eq!(paste, [Key::Paste("a\n    bc".to_owned()), Key::Char('d')]);
    }

    #[test]
    fn an_interrupt_is_found_among_what_is_typed_ahead() {
        let mut decoder = Decoder::default();
        decoder.feed(b"1 + 1\r");
        assert!(!decoder.interrupt());
        decoder.feed(b"2\x03x\x033");
        assert!(decoder.interrupt());
        assert_eq!(decoder.next(true), Some(Key::Char('3')));
        assert_eq!(decoder.next(true), None);
    }

    #[test]
    fn what_is_no_key_is_passed_over() {
        assert_eq!(keys(&[b"\xff\x1b[99~x"]), [Key::Unknown, Key::Unknown, Key::Char('x')]);
        assert_eq!(keys(&[b"\x1b[12"]), [Key::Unknown]);
    }
}
