//! Characters and operators that mean something in other languages, or nothing anywhere.

use super::Lexer;
use crate::diagnostic::Diagnostic;
use crate::syntax::kind::Kind;

/// What to write instead of a piece of another language.
struct Foreign {
    /// How it is written there.
    written: &'static str,
    /// The token that goes on in its place, so that only this is reported.
    instead: Kind,
    /// The advice.
    help: &'static str,
}

/// Longer spellings stand before their prefixes.
const FOREIGN: [Foreign; 46] = [
    Foreign { written: "===", instead: Kind::Equal, help: "equality is `==`" },
    Foreign { written: "!==", instead: Kind::NotEqual, help: "inequality is `!=`" },
    Foreign { written: "<>", instead: Kind::NotEqual, help: "inequality is `!=`" },
    Foreign { written: "/=", instead: Kind::NotEqual, help: "inequality is `!=`" },
    Foreign { written: "//=", instead: Kind::Equals, help: NO_ASSIGNMENT },
    Foreign { written: "**=", instead: Kind::Equals, help: NO_ASSIGNMENT },
    Foreign { written: "%=", instead: Kind::Equals, help: NO_ASSIGNMENT },
    Foreign { written: "&=", instead: Kind::Equals, help: NO_ASSIGNMENT },
    Foreign { written: "|=", instead: Kind::Equals, help: NO_ASSIGNMENT },
    Foreign { written: "^=", instead: Kind::Equals, help: NO_ASSIGNMENT },
    Foreign {
        written: "=>",
        instead: Kind::Arrow,
        help: "a function is `\\x -> e`; greater or equal is `>=`",
    },
    Foreign {
        written: "<-",
        instead: Kind::Equals,
        help: "a value is bound by `x = e`; less than a negative number is `x < -e`",
    },
    Foreign {
        written: "..=",
        instead: Kind::Range,
        help: "a range ends before its end: from 1 to 5 is `1..6`",
    },
    Foreign { written: ":=", instead: Kind::Equals, help: "a value is bound by `x = e`" },
    Foreign { written: "+=", instead: Kind::Equals, help: NO_ASSIGNMENT },
    Foreign { written: "-=", instead: Kind::Equals, help: NO_ASSIGNMENT },
    Foreign { written: "*=", instead: Kind::Equals, help: NO_ASSIGNMENT },
    Foreign {
        written: "/*",
        instead: Kind::Invalid,
        help: "a comment is `-- …` to the end of the line, or `{- … -}`",
    },
    Foreign { written: "!!", instead: Kind::Invalid, help: "an element is `xs[i]`" },
    Foreign { written: "&", instead: Kind::And, help: "`and` is `&&`, on bits `.&.`" },
    Foreign { written: "^", instead: Kind::Power, help: "power is `**`, exclusive or `.^.`" },
    Foreign { written: "~", instead: Kind::PrefixNot, help: "`not` is `!`, on bits `complement`" },
    Foreign {
        written: "#",
        instead: Kind::Invalid,
        help: "a comment begins with `--`; an element is `xs[i]`",
    },
    Foreign { written: "@", instead: Kind::Invalid, help: "the matrix product is `matmul a b`" },
    Foreign {
        written: "$",
        instead: Kind::PipeLeft,
        help: "a field is `r.x`; `f <| x` applies f to all of x",
    },
    Foreign {
        written: "?",
        instead: Kind::Invalid,
        help: "a choice is `if c then a else b`; documentation is `:doc name`",
    },
    Foreign {
        written: "`",
        instead: Kind::Invalid,
        help: "a function stands before its arguments",
    },
    Foreign { written: "≤", instead: Kind::LessEqual, help: "write `<=`" },
    Foreign { written: "≥", instead: Kind::GreaterEqual, help: "write `>=`" },
    Foreign { written: "≠", instead: Kind::NotEqual, help: "write `!=`" },
    Foreign { written: "×", instead: Kind::Times, help: "write `*`" },
    Foreign { written: "·", instead: Kind::Times, help: "write `*`, or `dot xs ys`" },
    Foreign { written: "÷", instead: Kind::Divide, help: "write `/`, or `//` for integers" },
    Foreign { written: "−", instead: Kind::Minus, help: "write the minus of the keyboard, `-`" },
    Foreign { written: "–", instead: Kind::Minus, help: "write the minus of the keyboard, `-`" },
    Foreign { written: "→", instead: Kind::Arrow, help: "write `->`" },
    Foreign { written: "∧", instead: Kind::And, help: "write `&&`" },
    Foreign { written: "∨", instead: Kind::Or, help: "write `||`" },
    Foreign { written: "¬", instead: Kind::PrefixNot, help: "write `!`" },
    Foreign {
        written: "...",
        instead: Kind::Range,
        help: "two dots: the fields of a record are `..r`, a range is `a..b`; all of an axis is `:`, as in `m[:, 0]`",
    },
    Foreign { written: "…", instead: Kind::Range, help: "a range is `a..b`, without b" },
    Foreign { written: "∞", instead: Kind::Invalid, help: "write `inf`" },
    Foreign { written: "“", instead: Kind::Invalid, help: "a text has straight quotes, `\"`" },
    Foreign { written: "”", instead: Kind::Invalid, help: "a text has straight quotes, `\"`" },
    Foreign { written: "‘", instead: Kind::Invalid, help: "a char has straight quotes, `'`" },
    Foreign { written: "’", instead: Kind::Invalid, help: "a char has straight quotes, `'`" },
];

const NO_ASSIGNMENT: &str = "values do not change; bind a new name, or use `loop`";

/// Longer values are not repeated.
const LONGEST_VALUE: usize = 24;

impl Lexer<'_> {
    /// Reports what stands here as no part of the language, and goes on behind it.
    pub(super) fn foreign(&mut self) {
        let rest = self.rest();
        if self.has_reported_enough() {
            self.lexemes.more += 1;
            let end = self.at + rest.chars().next().map_or(1, char::len_utf8);
            return self.push(Kind::Invalid, end);
        }
        if let Some(entry) = FOREIGN.iter().find(|entry| rest.starts_with(entry.written)) {
            let end = self.at + entry.written.len();
            let diagnostic = Diagnostic::error(
                "E0110",
                format!("`{}` is not part of the language", entry.written),
                self.span(self.at, end),
                "not known here",
            )
            .help(self.assigned(entry.written, end).unwrap_or_else(|| entry.help.to_owned()));
            self.report(diagnostic);
            if entry.written == "/*" || entry.written == "#" {
                let line = self.rest().find('\n').unwrap_or(self.rest().len());
                self.at += line;
                return;
            }
            let is_assigned = entry.written == "/=" && self.assigned(entry.written, end).is_some();
            return self.push(if is_assigned { Kind::Equals } else { entry.instead }, end);
        }
        let character = rest.chars().next().unwrap_or(' ');
        let end = self.at + character.len_utf8();
        let span = self.span(self.at, end);
        let (message, is_blank) = match character {
            _ if character.is_whitespace() => ("a blank that is not a plain space".into(), true),
            '\u{200b}'..='\u{200f}'
            | '\u{202a}'..='\u{202e}'
            | '\u{2066}'..='\u{2069}'
            | '\u{feff}' => {
                (format!("an invisible character, U+{:04X}", u32::from(character)), true)
            }
            _ if character.is_control() => {
                (format!("a control character, U+{:04X}", u32::from(character)), true)
            }
            _ => (format!("the character `{character}` is not part of the language"), false),
        };
        self.report(Diagnostic::error("E0110", message, span, "not known here"));
        if is_blank {
            self.at = end;
        } else {
            self.push(Kind::Invalid, end);
        }
    }

    /// Whether there is nothing but a name in front of this on the line, and nothing in front of that.
    pub(super) fn is_behind_first_name(&self) -> bool {
        let line = self.text[..self.at].rsplit('\n').next().unwrap_or_default();
        let name = line.trim_end_matches(' ');
        name.starts_with(|c: char| c.is_alphabetic() || c == '_')
            && name.chars().all(|c| c.is_alphanumeric() || matches!(c, '_' | '\''))
    }

    /// What to write for `x += e`, which was to change `x`; `end` is where the operator ends.
    fn assigned(&self, written: &str, end: usize) -> Option<String> {
        let symbol = match written {
            "+=" | "-=" | "*=" | "/=" | "//=" | "**=" | "%=" => written.strip_suffix('=')?,
            "&=" => ".&.",
            "|=" => ".|.",
            "^=" => ".^.",
            _ => return None,
        };
        let (last, place) = (self.lexemes.kinds.last()?, self.lexemes.places.last()?);
        let name = &self.text[place.range()];
        let line = self.text[end..].lines().next().unwrap_or_default();
        let value = line.split("--").next().unwrap_or_default().trim();
        let value = unclosed(value.trim_end_matches(';').trim_end());
        // `{p with x += 1}`.
        let line_before = self.text[..place.range().start].lines().last().unwrap_or_default();
        if let Some((record, "")) = line_before.trim_end().rsplit_once(" with") {
            let record = record.rsplit(['{', '(']).next().unwrap_or("r").trim();
            return Some(format!(
                "values do not change: `{{{record} with {name} = {record}.{name} {symbol} {value}}}` is another one"
            ));
        }
        if *last != Kind::Name {
            return None;
        }
        // `x /= y` is a comparison, unless a line begins so.
        let before = self.text[..place.range().start].lines().last().unwrap_or_default();
        let begins_line =
            before.trim().is_empty() || self.text[..place.range().start].ends_with('\n');
        if written == "/=" && !begins_line {
            return None;
        }
        let symbol = if symbol == "+" && value.starts_with(['"', '[']) { "++" } else { symbol };
        let is_short = !value.is_empty() && value.chars().count() <= LONGEST_VALUE;
        let value = match (is_short, value.contains(' ') && symbol != "++") {
            (false, _) => "…".to_owned(),
            (true, false) => value.to_owned(),
            (true, true) => format!("({value})"),
        };
        let other = if written == "/=" { "inequality is `!=`; " } else { "" };
        Some(format!(
            "{other}values do not change; `{name} = {name} {symbol} {value}` binds `{name}` anew, and in steps goes \
             `loop {name} = … for i < n do {name} {symbol} {value}`"
        ))
    }
}

/// A text without the brackets at its end that nothing in it opens.
fn unclosed(mut text: &str) -> &str {
    for (open, close) in [('(', ')'), ('[', ']'), ('{', '}')] {
        while text.ends_with(close) && text.matches(close).count() > text.matches(open).count() {
            text = text[..text.len() - close.len_utf8()].trim_end();
        }
    }
    text
}
