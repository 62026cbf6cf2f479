//! The editor of a capable terminal: keys in, pictures out, until a cell is whole.

use std::io;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use weft_files::Host;
use weft_session::{Hints, Snapshot};

use super::keys::{Decoder, Key};
use super::menu::{Choice, Menu};
use super::pasted::pasted;
use super::recall::Recall;
use super::screen::{Picture, Screen};
use super::search::{self, Search};
use super::terminal::{Before, Silence, Terminal};
use super::text::{Text, Word};
use super::{Hushed, Input, LineEditor, colours, continuation, further_indent};

/// How long the rest of a key's bytes may take: on their way through a network that is more than a moment.
const REST_OF_KEY: Duration = Duration::from_millis(500);
/// The same behind ESC, which may be a key of its own: whoever presses that waits so long.
const AFTER_ESCAPE: Duration = Duration::from_millis(120);
/// When a hint that was not ready is asked for again.
const LATER: Duration = Duration::from_millis(60);

/// The most characters of a type that is shown behind the cursor.
const LONGEST_HINT: usize = 60;

/// Edits cells of several lines, with colours, completion, hints and history.
#[derive(Debug)]
pub(super) struct Prompter {
    text: Text,
    recall: Recall,
    snapshot: Option<Snapshot>,
    hints: Option<Hints>,
    colour: bool,
    keys: Decoder,
    aid: Aid,
    /// What the terminal was like before somebody typed.
    before: Before,
    /// Whether Ctrl-C was typed right behind the last cell.
    interrupts_cell: bool,
}

/// What helps at the moment.
#[derive(Debug)]
enum Aid {
    None,
    Completion(Completion),
    Search(Search),
}

/// A list of what could stand before the cursor.
#[derive(Debug)]
struct Completion {
    /// The byte where that begins.
    start: usize,
    /// What was typed.
    typed: String,
    menu: Menu,
}

/// What a key leads to.
#[derive(Debug, PartialEq, Eq)]
enum Next {
    /// Another picture.
    Go,
    /// The same with a sound.
    Beep,
    Clear,
    Suspend,
    Done(Input),
}

impl Prompter {
    /// An editor with the history of a file.
    pub(super) fn new(history: Option<PathBuf>, colour: bool) -> Prompter {
        let before = Before::default();
        before.restore_on_signals();
        Prompter {
            before,
            interrupts_cell: false,
            text: Text::default(),
            recall: Recall::open(Arc::new(Host), history),
            snapshot: None,
            hints: None,
            colour,
            keys: Decoder::default(),
            aid: Aid::None,
        }
    }

    fn edit(&mut self, prompt: &str) -> io::Result<Input> {
        let mut terminal = Terminal::enter(&self.before)?;
        let mut screen = Screen::new(self.colour);
        let further = continuation(prompt);
        self.text.clear();
        self.recall.rest();
        self.aid = Aid::None;
        loop {
            // What has been typed ahead needs no picture.
            let key = match self.keys.next(false) {
                Some(key) => key,
                None => {
                    let hint = self.hint();
                    terminal.write(&self.picture(
                        &mut screen,
                        prompt,
                        &further,
                        &hint,
                        &terminal,
                    ))?;
                    match self.wait(&mut terminal, hint.is_empty())? {
                        Waited::Key(key) => key,
                        Waited::Nothing => {
                            let again = self.hint();
                            if !again.is_empty() {
                                let picture =
                                    self.picture(&mut screen, prompt, &further, &again, &terminal);
                                terminal.write(&picture)?;
                            }
                            match self.wait(&mut terminal, false)? {
                                Waited::Key(key) => key,
                                Waited::Nothing | Waited::Gone => return Ok(Input::End),
                            }
                        }
                        Waited::Gone => return Ok(Input::End),
                    }
                }
            };
            match self.press(key) {
                Next::Go => {}
                Next::Beep => terminal.write("\x07")?,
                Next::Clear => terminal.write(screen.clear())?,
                Next::Suspend => {
                    terminal.write(&self.last_picture(&mut screen, prompt, &further, &terminal))?;
                    terminal = terminal.suspend()?;
                }
                Next::Done(input) => {
                    terminal.write(&self.last_picture(&mut screen, prompt, &further, &terminal))?;
                    // While the terminal is raw, Ctrl-C is a byte like any other.
                    while let Some(bytes) = terminal.read(Some(Duration::ZERO))?
                        && !bytes.is_empty()
                    {
                        self.keys.feed(&bytes);
                    }
                    self.interrupts_cell = matches!(input, Input::Cell(_)) && self.keys.interrupt();
                    return Ok(input);
                }
            }
        }
    }

    /// The next key. If a hint is missing, nothing for a moment is an answer too.
    fn wait(&mut self, terminal: &mut Terminal, is_hint_missing: bool) -> io::Result<Waited> {
        let mut patience = match is_hint_missing && !self.text.as_str().is_empty() {
            true => Some(LATER),
            false => None,
        };
        loop {
            if let Some(key) = self.keys.next(false) {
                return Ok(Waited::Key(key));
            }
            let own = match self.keys.is_waiting() {
                true if self.keys.is_at_escape() => Some(AFTER_ESCAPE),
                true => Some(REST_OF_KEY),
                false => patience,
            };
            match terminal.read(own)? {
                Some(bytes) if bytes.is_empty() => return Ok(Waited::Gone),
                Some(bytes) => self.keys.feed(&bytes),
                None if self.keys.is_waiting() => {
                    if let Some(key) = self.keys.next(true) {
                        return Ok(Waited::Key(key));
                    }
                    // The middle of something pasted; more will come.
                    match terminal.read(None)? {
                        Some(bytes) if !bytes.is_empty() => self.keys.feed(&bytes),
                        Some(_) | None => return Ok(Waited::Gone),
                    }
                }
                None => {
                    patience = None;
                    if is_hint_missing {
                        return Ok(Waited::Nothing);
                    }
                }
            }
        }
    }

    fn picture(
        &self,
        screen: &mut Screen,
        prompt: &str,
        further: &str,
        hint: &str,
        terminal: &Terminal,
    ) -> String {
        let size = terminal.size();
        let (text, cursor) = (self.text.as_str(), self.text.cursor());
        match &self.aid {
            Aid::Search(search) => {
                let below = match search.menu.choices.is_empty() {
                    true => vec![screen.styled("  no match", "2")],
                    false => search.menu.lines(screen, size),
                };
                let query = &search.query;
                let picture = Picture {
                    prompt: search::PROMPT,
                    continuation: further,
                    text: query,
                    cursor: query.len(),
                    below: &below,
                    ..Picture::default()
                };
                screen.draw(&picture, size)
            }
            Aid::Completion(completion) => {
                let below = completion.menu.lines(screen, size);
                let styles = self.styles();
                let picture = Picture {
                    prompt,
                    continuation: further,
                    text,
                    cursor,
                    styles: &styles,
                    hint: "",
                    below: &below,
                };
                screen.draw(&picture, size)
            }
            Aid::None => {
                let styles = self.styles();
                let picture = Picture {
                    prompt,
                    continuation: further,
                    text,
                    cursor,
                    styles: &styles,
                    hint,
                    below: &[],
                };
                screen.draw(&picture, size)
            }
        }
    }

    fn last_picture(
        &self,
        screen: &mut Screen,
        prompt: &str,
        further: &str,
        terminal: &Terminal,
    ) -> String {
        let text = self.text.as_str();
        // No bracket is marked any more.
        let styles = if self.colour { colours::styles(text, usize::MAX) } else { Vec::new() };
        let picture = Picture {
            prompt,
            continuation: further,
            text,
            cursor: text.len(),
            styles: &styles,
            ..Picture::default()
        };
        screen.finish(&picture, terminal.size())
    }

    fn styles(&self) -> Vec<super::screen::Style> {
        match self.colour {
            true => colours::styles(self.text.as_str(), self.text.cursor()),
            false => Vec::new(),
        }
    }

    /// The type of what has been typed, for behind it. Where nothing can be dim, it would look like
    /// something typed.
    fn hint(&self) -> String {
        let at_end = self.text.cursor() == self.text.as_str().len();
        if !self.colour || !at_end || !matches!(self.aid, Aid::None) {
            return String::new();
        }
        let found = self.hints.as_ref().and_then(|hints| hints.hint(self.text.as_str()));
        let Some(ty) = found else { return String::new() };
        let mut hint = format!("  : {ty}");
        if let Some((end, _)) = hint.char_indices().nth(LONGEST_HINT) {
            hint.truncate(end);
            hint.push('…');
        }
        hint
    }

    fn press(&mut self, key: Key) -> Next {
        match std::mem::replace(&mut self.aid, Aid::None) {
            Aid::None => self.press_in_text(key),
            Aid::Completion(completion) => self.press_in_completion(completion, key),
            Aid::Search(search) => self.press_in_search(search, key),
        }
    }

    fn press_in_text(&mut self, key: Key) -> Next {
        let is_leafing = matches!(key, Key::Up | Key::Down | Key::Ctrl('p' | 'n'));
        if !is_leafing {
            self.recall.rest();
        }
        match key {
            Key::Char(c) => self.text.insert(c.encode_utf8(&mut [0; 4])),
            Key::Paste(text) => self.text.insert(pasted(&text).trim_end_matches('\n')),
            Key::Enter => return self.enter(),
            Key::OtherEnter => {
                let indent = further_indent(self.text.as_str());
                let indent = indent.unwrap_or_else(|| self.text.indentation());
                self.further_line(indent);
            }
            Key::Tab => return self.complete(),
            Key::Backspace => self.text.delete_back(),
            Key::Delete => self.text.delete_forward(),
            Key::Left | Key::Ctrl('b') => self.text.left(),
            Key::Right | Key::Ctrl('f') => self.text.right(),
            Key::WordLeft | Key::Alt('b') => self.text.word_left(),
            Key::WordRight | Key::Alt('f') => self.text.word_right(),
            Key::Home | Key::Ctrl('a') => self.text.home(),
            Key::End | Key::Ctrl('e') => self.text.end(),
            Key::Alt('<') => self.text.first(),
            Key::Alt('>') => self.text.last(),
            Key::Up | Key::Ctrl('p') => return self.up(),
            Key::Down | Key::Ctrl('n') => return self.down(),
            Key::Ctrl('c') => return Next::Done(Input::Cleared),
            Key::Ctrl('d') if self.text.as_str().is_empty() => return Next::Done(Input::End),
            Key::Ctrl('d') => self.text.delete_forward(),
            Key::Ctrl('k') => self.text.cut_to_line_end(),
            Key::Ctrl('u') => self.text.cut_to_line_start(),
            Key::Ctrl('w') => self.text.cut_word_back(Word::Dense),
            Key::AltBackspace => self.text.cut_word_back(Word::Name),
            Key::Alt('d') => self.text.cut_word_forward(),
            Key::Ctrl('y') => self.text.paste_cut(),
            Key::Ctrl('t') => self.text.transpose(),
            Key::Ctrl('_') => self.text.undo(),
            Key::Ctrl('l') => return Next::Clear,
            Key::Ctrl('z') => return Next::Suspend,
            Key::Ctrl('r') => self.aid = Aid::Search(Search::new(&self.recall)),
            Key::BackTab | Key::Escape | Key::Unknown | Key::Ctrl(_) | Key::Alt(_) => {}
        }
        Next::Go
    }

    /// Enter: runs a cell that is whole, or wrong whatever may follow; else begins another line,
    /// indented as far as its text suggests.
    fn enter(&mut self) -> Next {
        match further_indent(self.text.as_str()) {
            Some(indent) => {
                self.further_line(indent);
                Next::Go
            }
            None => Next::Done(Input::Cell(self.text.as_str().to_owned())),
        }
    }

    /// Begins a line indented by so much. What a terminal hands over that does not mark pasted texts has its own blanks, which
    /// are there already.
    fn further_line(&mut self, indent: usize) {
        let indent = if self.keys.comes_blank() { 0 } else { indent };
        self.text.insert(&format!("\n{}", " ".repeat(indent)));
    }

    fn up(&mut self) -> Next {
        if self.text.up() {
            return Next::Go;
        }
        match self.recall.older(self.text.as_str()) {
            Some(cell) => {
                let cell = cell.to_owned();
                self.text.set(&cell);
                Next::Go
            }
            None => Next::Beep,
        }
    }

    fn down(&mut self) -> Next {
        if self.text.down() {
            return Next::Go;
        }
        match self.recall.newer() {
            Some(cell) => {
                let cell = cell.to_owned();
                self.text.set(&cell);
                Next::Go
            }
            None => Next::Beep,
        }
    }

    /// Tab: what the candidates share is filled in, and if they are several, they are listed.
    fn complete(&mut self) -> Next {
        let (text, cursor) = (self.text.as_str(), self.text.cursor());
        let line = &text[text[..cursor].rfind('\n').map_or(0, |newline| newline + 1)..cursor];
        if !text.is_empty() && line.trim().is_empty() {
            self.text.insert("  ");
            return Next::Go;
        }
        let Some((start, choices)) = self.candidates() else { return Next::Beep };
        let shared = shared_beginning(&choices);
        if shared.len() > cursor - start {
            self.text.replace_from(start, &shared);
        }
        if choices.len() > 1 {
            self.aid =
                Aid::Completion(Completion { start, typed: shared, menu: Menu::new(choices) });
        }
        Next::Go
    }

    /// What could stand before the cursor, and where it begins.
    fn candidates(&self) -> Option<(usize, Vec<Choice>)> {
        let found = self.snapshot.as_ref()?.complete(self.text.as_str(), self.text.cursor());
        let choice = |candidate: weft_session::Candidate| Choice {
            text: candidate.text,
            detail: candidate.detail,
        };
        let choices: Vec<Choice> = found.candidates.into_iter().map(choice).collect();
        (!choices.is_empty()).then_some((found.start, choices))
    }

    fn press_in_completion(&mut self, mut completion: Completion, key: Key) -> Next {
        match key {
            Key::Tab | Key::Down | Key::Ctrl('n') => completion.menu.next(),
            Key::BackTab | Key::Up | Key::Ctrl('p') => completion.menu.previous(),
            Key::Enter if completion.menu.selected.is_some() => return Next::Go,
            Key::Escape | Key::Ctrl('g') => {
                self.text.replace_from(completion.start, &completion.typed);
                return Next::Go;
            }
            Key::Char(_) | Key::Backspace => {
                let next = self.press_in_text(key);
                self.narrow(completion.start);
                return next;
            }
            key => return self.press_in_text(key),
        }
        if let Some(choice) = completion.menu.chosen() {
            let text = choice.text.clone();
            self.text.replace_from(completion.start, &text);
        }
        self.aid = Aid::Completion(completion);
        Next::Go
    }

    /// Lists what is left of the candidates after another character, while it is the same word.
    fn narrow(&mut self, start: usize) {
        let cursor = self.text.cursor();
        if cursor <= start {
            return;
        }
        if let Some((begins, choices)) = self.candidates()
            && begins == start
        {
            let typed = self.text.as_str()[start..cursor].to_owned();
            self.aid = Aid::Completion(Completion { start, typed, menu: Menu::new(choices) });
        }
    }

    fn press_in_search(&mut self, mut search: Search, key: Key) -> Next {
        match key {
            Key::Char(c) => search.query.push(c),
            Key::Paste(text) => search.query.push_str(text.lines().next().unwrap_or_default()),
            Key::Backspace => {
                search.query.pop();
            }
            Key::Ctrl('u') => search.query.clear(),
            Key::Ctrl('r') | Key::Down | Key::Ctrl('n') | Key::Tab => {
                search.menu.next();
                self.aid = Aid::Search(search);
                return Next::Go;
            }
            Key::Ctrl('s') | Key::Up | Key::Ctrl('p') | Key::BackTab => {
                search.menu.previous();
                self.aid = Aid::Search(search);
                return Next::Go;
            }
            Key::Ctrl('g' | 'c') | Key::Escape => return Next::Go,
            Key::Enter if search.found().is_none() => {
                self.aid = Aid::Search(search);
                return Next::Beep;
            }
            key => {
                // Enter runs what was found, any other key edits it.
                if let Some(cell) = search.found() {
                    let cell = cell.to_owned();
                    self.text.set(&cell);
                }
                return self.press_in_text(key);
            }
        }
        search.look(&self.recall);
        self.aid = Aid::Search(search);
        Next::Go
    }
}

/// What came after a picture.
enum Waited {
    Key(Key),
    Nothing,
    Gone,
}

impl LineEditor for Prompter {
    fn read(&mut self, prompt: &str) -> Input {
        match self.edit(prompt) {
            Ok(input) => input,
            Err(error) => Input::Failed(format!("cannot read from the terminal: {error}")),
        }
    }

    fn interrupts_cell(&self) -> bool {
        self.interrupts_cell
    }

    fn remember(&mut self, cell: &str) -> Option<String> {
        self.recall.add(cell)
    }

    fn hush(&self) -> Hushed {
        Hushed(Silence::begin(&self.before).ok())
    }

    fn look_at(&mut self, snapshot: Snapshot) {
        self.hints = Some(Hints::new(snapshot.clone()));
        self.snapshot = Some(snapshot);
    }
}

/// The beginning that all texts have.
fn shared_beginning(choices: &[Choice]) -> String {
    let Some((first, others)) = choices.split_first() else { return String::new() };
    let mut shared = &*first.text;
    for other in others {
        let same = shared.chars().zip(other.text.chars()).take_while(|(a, b)| a == b);
        let length = same.map(|(c, _)| c.len_utf8()).sum();
        shared = &shared[..length];
    }
    shared.to_owned()
}

#[cfg(test)]
mod tests;
