//! The line editor behind a small trait, so that it can be replaced: rustyline has neither a
//! continuation prompt nor a completion menu.

use std::borrow::Cow;
use std::path::PathBuf;

use rustyline::completion::{Completer, Pair};
use rustyline::error::ReadlineError;
use rustyline::highlight::{CmdKind, Highlighter};
use rustyline::hint::{Hint, Hinter};
use rustyline::history::{FileHistory, History as _};
use rustyline::validate::{ValidationContext, ValidationResult, Validator};
use rustyline::{
    Cmd, CompletionType, ConditionalEventHandler, Config, Context, Editor, Event, EventContext,
    EventHandler, Helper, KeyCode, KeyEvent, Modifiers, RepeatCount,
};
use weft_session::{Completeness, Hints, Snapshot, TokenClass, completeness, tokens};

/// What a person does at the prompt.
pub(crate) enum Input {
    /// Enters a cell.
    Cell(String),
    /// Throws the line away with Ctrl-C.
    Cleared,
    /// Leaves with Ctrl-D.
    End,
    /// The terminal fails.
    Failed(String),
}

/// Reads cells from a person.
pub(crate) trait LineEditor {
    /// Reads a cell, of as many lines as it takes.
    fn read(&mut self, prompt: &str) -> Input;
    /// Adds a cell to the history, on disk too.
    fn remember(&mut self, cell: &str);
    /// What names and types completion offers from now on.
    fn look_at(&mut self, snapshot: Snapshot);
}

/// Cells that the history keeps.
const HISTORY_LENGTH: usize = 10_000;

/// The editor of this terminal. The error says what the terminal lacks.
pub(crate) fn open_editor(
    history: Option<PathBuf>,
    colour: bool,
) -> Result<Box<dyn LineEditor>, String> {
    let config = Config::builder()
        .max_history_size(HISTORY_LENGTH)
        .and_then(|builder| builder.history_ignore_dups(true))
        .map_err(|error| error.to_string())?
        .history_ignore_space(true)
        .completion_type(CompletionType::List)
        .bracketed_paste(true)
        .auto_add_history(false)
        .build();
    let mut editor = Editor::<CellHelper, FileHistory>::with_config(config)
        .map_err(|error| error.to_string())?;
    editor.set_helper(Some(CellHelper { snapshot: None, hints: None, colour }));
    let enter = KeyEvent(KeyCode::Enter, Modifiers::NONE);
    editor.bind_sequence(enter, EventHandler::Conditional(Box::new(OnEnter)));
    let alt_enter = KeyEvent(KeyCode::Enter, Modifiers::ALT);
    editor.bind_sequence(alt_enter, EventHandler::Simple(Cmd::Newline));
    let mut history_file = None;
    if let Some(file) = history {
        // A damaged or foreign file is left alone: this session then has no history on disk.
        let usable = !file.exists() || editor.load_history(&file).is_ok();
        history_file = usable.then_some(file);
    }
    Ok(Box::new(Rustyline { editor, history_file, colour }))
}

struct Rustyline {
    editor: Editor<CellHelper, FileHistory>,
    history_file: Option<PathBuf>,
    colour: bool,
}

impl LineEditor for Rustyline {
    fn read(&mut self, prompt: &str) -> Input {
        let styled = match self.colour {
            true => format!("\x1b[1m{prompt}\x1b[0m"),
            false => prompt.to_owned(),
        };
        match self.editor.readline(&(prompt, &*styled)) {
            Ok(cell) => Input::Cell(cell),
            Err(ReadlineError::Interrupted) => Input::Cleared,
            Err(ReadlineError::Eof) => Input::End,
            Err(error) => Input::Failed(format!("cannot read from the terminal: {error}")),
        }
    }

    fn remember(&mut self, cell: &str) {
        if cell.trim().is_empty() {
            return;
        }
        let added = self.editor.history_mut().add(cell).unwrap_or(false);
        if let (true, Some(file)) = (added, &self.history_file)
            && self.editor.append_history(file).is_err()
        {
            // A full disk or a lost permission must not disturb the session.
            self.history_file = None;
        }
    }

    fn look_at(&mut self, snapshot: Snapshot) {
        if let Some(helper) = self.editor.helper_mut() {
            helper.hints = Some(Hints::new(snapshot.clone()));
            helper.snapshot = Some(snapshot);
        }
    }
}

/// What the editor asks while a cell is typed.
struct CellHelper {
    snapshot: Option<Snapshot>,
    hints: Option<Hints>,
    colour: bool,
}

impl Helper for CellHelper {}

/// The most characters of a type that is shown behind the cursor.
const LONGEST_HINT: usize = 60;

/// The type of what has been typed. It is only looked at: no key takes it over.
struct TypeHint(String);

impl Hint for TypeHint {
    fn display(&self) -> &str {
        &self.0
    }

    fn completion(&self) -> Option<&str> {
        None
    }
}

impl Hinter for CellHelper {
    type Hint = TypeHint;

    fn hint(&self, line: &str, position: usize, _context: &Context<'_>) -> Option<TypeHint> {
        // Where nothing can be dim, a hint would look like something typed.
        if !self.colour || position < line.len() {
            return None;
        }
        let ty = self.hints.as_ref()?.hint(line)?;
        let mut hint = format!("  : {ty}");
        if let Some((end, _)) = hint.char_indices().nth(LONGEST_HINT) {
            hint.truncate(end);
            hint.push('…');
        }
        Some(TypeHint(hint))
    }
}

/// Cells longer than this are not coloured while they are typed: every key draws them again.
const LONGEST_COLOURED: usize = 20_000;

impl Highlighter for CellHelper {
    fn highlight_hint<'h>(&self, hint: &'h str) -> Cow<'h, str> {
        Cow::Owned(format!("\x1b[2m{hint}\x1b[0m"))
    }

    fn highlight<'l>(&self, line: &'l str, _position: usize) -> Cow<'l, str> {
        if !self.colour || line.len() > LONGEST_COLOURED {
            return Cow::Borrowed(line);
        }
        Cow::Owned(coloured(line))
    }

    fn highlight_char(&self, line: &str, _position: usize, kind: CmdKind) -> bool {
        self.colour && line.len() <= LONGEST_COLOURED && kind != CmdKind::MoveCursor
    }
}

/// The text with its tokens in colours.
fn coloured(text: &str) -> String {
    let mut out = String::new();
    let mut end = 0;
    for (class, range) in tokens(text) {
        let style = match class {
            TokenClass::Keyword | TokenClass::Command => "35",
            TokenClass::Number => "36",
            TokenClass::String => "32",
            TokenClass::Type => "33",
            TokenClass::Comment => "2",
            TokenClass::Invalid => "31",
            TokenClass::Name
            | TokenClass::Field
            | TokenClass::Operator
            | TokenClass::Bracket
            | TokenClass::Punctuation => continue,
        };
        out.push_str(&text[end..range.start]);
        out.push_str(&format!("\x1b[{style}m{}\x1b[0m", &text[range.clone()]));
        end = range.end;
    }
    out.push_str(&text[end..]);
    out
}

impl Validator for CellHelper {
    fn validate(&self, context: &mut ValidationContext<'_>) -> rustyline::Result<ValidationResult> {
        Ok(match further_indent(context.input()) {
            Some(_) => ValidationResult::Incomplete,
            None => ValidationResult::Valid(None),
        })
    }
}

impl Completer for CellHelper {
    type Candidate = Pair;

    fn complete(
        &self,
        line: &str,
        position: usize,
        _context: &Context<'_>,
    ) -> rustyline::Result<(usize, Vec<Pair>)> {
        let Some(snapshot) = &self.snapshot else { return Ok((position, Vec::new())) };
        let found = snapshot.complete(line, position);
        let pairs = found
            .candidates
            .into_iter()
            .map(|candidate| Pair { display: candidate.text.clone(), replacement: candidate.text });
        Ok((found.start, pairs.collect()))
    }
}

/// Enter: runs a cell that is whole, or wrong whatever may follow; else begins another line,
/// indented as far as its text suggests.
struct OnEnter;

impl ConditionalEventHandler for OnEnter {
    fn handle(
        &self,
        _event: &Event,
        _count: RepeatCount,
        _positive: bool,
        context: &EventContext<'_>,
    ) -> Option<Cmd> {
        let indent = further_indent(context.line())?;
        Some(Cmd::Insert(1, format!("\n{}", " ".repeat(indent))))
    }
}

/// By how much a further line is indented, if the cell needs one. A blank last line ends every
/// cell: otherwise nobody could leave one that asks for more.
fn further_indent(cell: &str) -> Option<usize> {
    let ends_blank = cell.contains('\n') && cell.rsplit('\n').next().is_some_and(is_blank);
    match completeness(cell) {
        Completeness::Incomplete { indent } if !ends_blank => Some(indent),
        Completeness::Incomplete { .. } | Completeness::Complete | Completeness::Invalid => None,
    }
}

fn is_blank(line: &str) -> bool {
    line.trim().is_empty()
}

#[cfg(test)]
mod tests {
    use super::{coloured, further_indent};

    #[test]
    fn colours_change_nothing_but_the_colour() {
        assert_eq!(coloured("x + y"), "x + y");
        assert_eq!(coloured("let é = 1"), "\x1b[35mlet\x1b[0m é = \x1b[36m1\x1b[0m");
        assert_eq!(coloured("\"a\" -- b"), "\x1b[32m\"a\"\x1b[0m \x1b[2m-- b\x1b[0m");
    }

    #[test]
    fn cells_that_are_whole_or_hopeless_are_run() {
        assert_eq!(further_indent("1 + 1"), None);
        assert_eq!(further_indent("1 + )"), None);
        assert_eq!(further_indent(":type (1"), None);
        assert_eq!(further_indent("sum?"), None);
    }

    #[test]
    fn other_cells_go_on_indented() {
        assert!(further_indent("sum (iota 10").is_some_and(|indent| indent > 0));
        assert!(further_indent("def f x =").is_some_and(|indent| indent > 0));
        assert_eq!(further_indent("sum (iota 10\n  "), None);
    }
}
