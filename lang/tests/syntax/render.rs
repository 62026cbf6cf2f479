//! Reports as text: the caret stands under the place.

use weft_ir::{Exhausted, SourceId, Span, Trap, TrapKind};
use weft_lang::Diagnostic;
use weft_lang::render::{Sources, exhausted_diagnostic, render, trap_diagnostic};
use weft_lang::syntax::parse;

struct Cells(Vec<String>);

impl Sources for Cells {
    fn name(&self, source: SourceId) -> &str {
        ["In[1]", "In[2]", "lib.weft"][source.0 as usize]
    }

    fn text(&self, source: SourceId) -> &str {
        &self.0[source.0 as usize]
    }
}

/// The report about the cell, without the blank line at its end.
#[track_caller]
fn check(cell: &str, expect: &str) {
    let parsed = parse(SourceId(0), cell);
    let shown = render(&parsed.diagnostics, &Cells(vec![cell.into()]), false, 80);
    assert_eq!(shown.trim_end(), expect.trim_matches('\n'), "\n{shown}");
}

#[test]
fn a_report() {
    check(
        "x = 1 + * 2",
        "
[E0101] Error: unexpected `*`
   ╭─[ In[1]:1:9 ]
   │
 1 │ x = 1 + * 2
   │         ┬
   │         ╰── expected an expression
───╯",
    );
}

#[test]
fn two_places_and_help() {
    check(
        "let a = 1\n     b = 2\nin a",
        "
[E0124] Error: the bindings of a `let` are not aligned
   ╭─[ In[1]:2:6 ]
   │
 1 │ let a = 1
   │     ┬
   │     ╰── the first binding begins here
 2 │      b = 2
   │      ┬
   │      ╰── this line continues the binding before it
   │
   │ Help: begin every binding in the same column, or separate them by `;`
───╯",
    );
}

#[test]
fn behind_the_end() {
    check(
        "x = 1 +",
        "
[E0120] Error: the text ends too early
   ╭─[ In[1]:1:8 ]
   │
 1 │ x = 1 +
   │        ┬
   │        ╰── expected an expression
───╯",
    );
}

/// The caret's column, counted in terminal columns, and the text above it.
#[track_caller]
fn caret(cell: &str, before: &str) {
    let parsed = parse(SourceId(0), cell);
    let shown = render(&parsed.diagnostics, &Cells(vec![cell.into()]), false, 80);
    let lines: Vec<&str> = shown.lines().collect();
    let line = lines.iter().position(|line| line.contains('┬')).expect("a caret");
    let caret: String = lines[line].chars().take_while(|character| *character != '┬').collect();
    let source: String = lines[line - 1].chars().skip_while(|c| *c != '│').skip(2).collect();
    let margin = lines[line - 1].chars().count() - source.chars().count();
    assert_eq!(
        caret.chars().count() - margin,
        unicode_width::UnicodeWidthStr::width(before),
        "{shown}"
    );
    assert!(source.starts_with(before), "{shown}");
}

#[test]
fn carets_stand_right_after_any_text() {
    caret("\"é\" + * 3", "\"é\" + ");
    caret("\"e\u{301}\" + * 3", "\"e\u{301}\" + ");
    caret("\"日本\" + * 3", "\"日本\" + ");
    caret("\"🎉\" + * 3", "\"🎉\" + ");
    caret("größe + * 3", "größe + ");
    caret("x\t+ * 3", "x       + ");
    caret("x +\r\n  * 3\r\n", "  ");
    caret("x = 1\nλ = 2 + )", "λ = 2 + ");
}

#[test]
fn long_lines_are_cut() {
    let cell = "[".to_string() + &"x, ".repeat(1_000_000) + "* 2, " + &"y, ".repeat(300_000) + "y]";
    let parsed = parse(SourceId(0), &cell);
    let shown = render(&parsed.diagnostics, &Cells(vec![cell]), false, 80);
    assert!(shown.len() < 2_000, "{}", shown.len());
    assert!(shown.contains("x, * 2, y, ") && shown.contains('…'), "{shown}");
    assert!(shown.contains("─[ In[1]:1:3000002 ]"), "{shown}");
    assert!(shown.lines().all(|line| line.chars().count() <= 80), "{shown}");
}

#[test]
fn many_lines_keep_their_numbers() {
    let cell = "x = 1\n".repeat(100_000) + "y = )";
    let parsed = parse(SourceId(0), &cell);
    let shown = render(&parsed.diagnostics, &Cells(vec![cell]), false, 80);
    assert!(shown.contains("In[1]:100001:5"), "{shown}");
}

#[test]
fn colour_only_if_wanted() {
    let cell = "x = )";
    let parsed = parse(SourceId(0), cell);
    let cells = Cells(vec![cell.into()]);
    assert!(render(&parsed.diagnostics, &cells, true, 80).contains('\x1b'));
    assert!(!render(&parsed.diagnostics, &cells, false, 80).contains('\x1b'));
}

#[test]
fn no_control_character_gets_through() {
    let cell = "x = \"\x1b[2J\u{202e}\" \x07 )";
    let parsed = parse(SourceId(0), cell);
    let shown = render(&parsed.diagnostics, &Cells(vec![cell.into()]), false, 80);
    assert!(shown.chars().all(|c| c == '\n' || !c.is_control()), "{shown:?}");
    assert!(!shown.contains('\u{202e}'), "{shown:?}");
}

#[test]
fn a_trap_shows_its_calls_in_all_their_cells() {
    let cells = Cells(vec!["def f xs i = xs[i]".into(), "y = 1\nf [1, 2, 3] 10".into()]);
    let kind = TrapKind::IndexOutOfRange { index: 10, extent: 3 };
    let mut trap = Trap::new(kind, Span::new(SourceId(0), 13, 18));
    trap.calls = vec![Span::new(SourceId(1), 6, 20), Span::new(SourceId(1), 6, 20)];
    let shown = render(&[trap_diagnostic(&trap)], &cells, false, 80);
    let expect = "\
[E0601] Error: index 10 is out of range for an axis of extent 3
   ╭─[ In[1]:1:14 ]
   │
 1 │ def f xs i = xs[i]
   │              ──┬──
   │                ╰──── fails here
   │
   ├─[ In[2]:2:1 ]
   │
 2 │ f [1, 2, 3] 10
   │ ───────┬──────
   │        ╰──────── called from here
───╯
";
    assert_eq!(shown.trim_end(), expect.trim_end(), "\n{shown}");
}

#[test]
fn a_run_given_up() {
    let cells = Cells(vec!["iota (10 ** 12)".into()]);
    let span = Span::new(SourceId(0), 0, 15);
    let memory = Exhausted::Memory { wanted: 8_000_000_000_000, limit: 1_000, span };
    let shown = render(&[exhausted_diagnostic(&memory)], &cells, false, 80);
    assert!(shown.starts_with("[E0701] Error: this needs 8000000000000 bytes"), "{shown}");
    let shown = render(&[exhausted_diagnostic(&Exhausted::Interrupted)], &cells, false, 80);
    assert_eq!(shown.trim_end(), "[E0703] Error: interrupted");
}

#[test]
fn spans_over_several_lines_and_beyond_the_text() {
    let cells = Cells(vec!["f (a\n  b\n  c) é".into()]);
    for (start, end) in [(0, 15), (2, 13), (4, 5), (14, 15), (3, 3), (15, 15), (90, 99)] {
        let span = Span::new(SourceId(0), start, end);
        let report = Diagnostic::error("E0300", "message", span, "remark");
        let shown = render(&[report.warning()], &cells, false, 80);
        assert!(
            shown.starts_with("[E0300] Warning: message\n") && shown.contains("remark"),
            "{shown}"
        );
    }
}
