//! Random text never panics, and the reports about it can be shown.

use weft_ir::SourceId;
use weft_lang::render::{Sources, render};
use weft_lang::syntax::{Completeness, completeness, parse, tokens};

use super::on_a_large_stack;

struct One<'a>(&'a str);

impl Sources for One<'_> {
    fn name(&self, _: SourceId) -> &str {
        "soup"
    }

    fn text(&self, _: SourceId) -> &str {
        self.0
    }
}

/// Splitmix64: a few lines, and the same numbers everywhere.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    fn below(&mut self, bound: usize) -> usize {
        (self.next() % bound as u64) as usize
    }
}

/// What must hold of every text.
fn check(text: &str) {
    let parsed = parse(SourceId(0), text);
    let mut last = 0;
    for found in &parsed.diagnostics {
        assert!(!found.labels.is_empty() && !found.message.is_empty(), "{text:?}");
        assert!(last <= found.span().start, "{text:?}");
        last = found.span().start;
        for label in &found.labels {
            assert!(text.get(label.span.range()).is_some(), "{text:?}: {found:?}");
        }
    }
    for item in &parsed.items {
        assert!(text.get(item.span.range()).is_some(), "{text:?}");
    }
    let shown = render(&parsed.diagnostics, &One(text), false, 80);
    assert_eq!(shown.is_empty(), parsed.diagnostics.is_empty());
    let mut end = 0;
    for (_, range) in tokens(text) {
        assert!(end <= range.start && text.get(range.clone()).is_some(), "{text:?}");
        end = range.end;
    }
    let is_complete = completeness(text) == Completeness::Complete;
    assert_eq!(is_complete, parsed.diagnostics.is_empty(), "{text:?}");
}

#[test]
fn bytes() {
    let mut random = Random(1);
    for _ in 0..1_500 {
        let length = random.below(40);
        let bytes: Vec<u8> = (0..length).map(|_| random.next() as u8).collect();
        check(&String::from_utf8_lossy(&bytes));
        let ascii: String = bytes.iter().map(|byte| char::from(byte % 128)).collect();
        check(&ascii);
    }
}

const PIECES: &[&str] = &[
    "x",
    "f",
    "xs",
    "é",
    "x'",
    "_",
    "1",
    "2.5",
    "3u8",
    "300u8",
    "'c'",
    "\"t\"",
    "\"",
    "'",
    "true",
    "nan",
    "def ",
    "type ",
    "import ",
    "let ",
    "in ",
    "if ",
    "then ",
    "else ",
    "loop ",
    "for ",
    "while ",
    "do ",
    "with ",
    "by ",
    "seq ",
    "window2 ",
    "(",
    ")",
    "[",
    "]",
    "{",
    "}",
    "\\",
    "->",
    "=",
    ":",
    "|",
    ",",
    ";",
    ".",
    "..",
    ".x",
    ".0",
    "+",
    "-",
    "*",
    "/",
    "//",
    "%",
    "**",
    "++",
    "<",
    "<=",
    "==",
    "!=",
    "!",
    "&&",
    "||",
    "|>",
    "<|",
    "<<",
    ".&.",
    "&",
    "^",
    "@",
    "#",
    "🎉",
    "--",
    "{-",
    "-}",
    " ",
    " ",
    " ",
    " ",
    "\n",
    "\n  ",
    "\n    ",
    "\t",
    "\r\n",
    ":time ",
    "in xs",
    "x = ",
    "(a, b)",
    "[1, 2]",
    "{ x : x in xs }",
    "{r with x = 1}",
    "e\u{301}",
];

#[test]
fn pieces() {
    on_a_large_stack(|| {
        let mut random = Random(2);
        for _ in 0..2_500 {
            let length = 1 + random.below(25);
            let text: String = (0..length).map(|_| PIECES[random.below(PIECES.len())]).collect();
            check(&text);
        }
    });
}

/// Right programs with one piece dropped, doubled or replaced: nearer to what people type.
#[test]
fn slips() {
    const PROGRAM: &str = "\
def qsort a = if length a < 2 then a else
  let p = a[length a // 2]
      r = { qsort v : v in [{x in a | x < p}, {x in a | x > p}] }
  in r[0] ++ {x in a | x == p} ++ r[1]
type point = {x: f32, y: []f32}
def f (x, y) {a, b = c} : [n]f32 -> i64 = (loop s = 0 for i < n do s + i * -1, (x : i64))
xs = [1, 2.5, 3u8] |> map (+ 1) |> (.x) -- done
";
    on_a_large_stack(|| {
        check(PROGRAM);
        let mut random = Random(3);
        let ends: Vec<usize> = PROGRAM.char_indices().map(|(at, _)| at).collect();
        for _ in 0..1_000 {
            let from = ends[random.below(ends.len())];
            let to = ends[random.below(ends.len())].clamp(from, from + 8);
            let piece = PIECES[random.below(PIECES.len())];
            let mut text = PROGRAM.to_string();
            match random.below(3) {
                0 => text.replace_range(from..to, ""),
                1 => text.replace_range(from..to, piece),
                _ => text.insert_str(from, piece),
            }
            check(&text);
            check(&text[..ends[random.below(ends.len() - 40)].min(text.len())]);
        }
    });
}
