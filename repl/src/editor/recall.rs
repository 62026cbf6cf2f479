//! The cells typed so far, in this session and in earlier ones.

use std::fs::{self, OpenOptions};
use std::io::Write as _;
use std::path::PathBuf;

/// Cells that are kept.
const MOST: usize = 10_000;

/// The first line of a file of cells. A cell is a line, with `\n` and `\\` for newlines and
/// backslashes. (The format is rustyline's.)
const HEADING: &str = "#V2";

/// The cells typed so far.
#[derive(Debug, Default)]
pub(super) struct Recall {
    cells: Vec<String>,
    file: Option<PathBuf>,
    /// The cell that is shown, while somebody leafs through them.
    position: Option<usize>,
    /// The text from which that began.
    begun: String,
}

impl Recall {
    /// The cells of a file, to which further ones are added. A damaged or foreign file is left
    /// alone: this session then has no history on disk.
    pub(super) fn open(file: Option<PathBuf>) -> Recall {
        let Some(file) = file else { return Recall::default() };
        let Ok(bytes) = fs::read(&file) else {
            let file = (!file.exists()).then_some(file);
            return Recall { file, ..Recall::default() };
        };
        let text = String::from_utf8(bytes).unwrap_or_default();
        let Some(lines) = text.strip_prefix(HEADING).and_then(|rest| rest.strip_prefix('\n'))
        else {
            return Recall::default();
        };
        let mut cells: Vec<String> = lines.lines().map(unescaped).collect();
        let too_many = cells.len().saturating_sub(MOST);
        cells.drain(..too_many);
        let recall = Recall { cells, file: Some(file), ..Recall::default() };
        if too_many > MOST {
            recall.write_anew();
        }
        recall
    }

    /// Adds a cell, unless it is the last one again or begins with a space.
    pub(super) fn add(&mut self, cell: &str) {
        let is_new = self.cells.last().is_none_or(|last| last != cell);
        if cell.trim().is_empty() || cell.starts_with(' ') || !is_new {
            return;
        }
        self.cells.push(cell.to_owned());
        let Some(file) = &self.file else { return };
        if append(file, cell).is_err() {
            // A full disk or a lost permission must not disturb the session.
            self.file = None;
        }
    }

    /// Begins again at the end.
    pub(super) fn rest(&mut self) {
        self.position = None;
    }

    /// The cell before the one shown that begins as the text did.
    pub(super) fn older(&mut self, text: &str) -> Option<&str> {
        if self.position.is_none() {
            text.clone_into(&mut self.begun);
        }
        let from = self.position.unwrap_or(self.cells.len());
        let shown = self.position.map(|position| &self.cells[position]);
        let found = self.cells[..from]
            .iter()
            .rposition(|cell| cell.starts_with(&self.begun) && Some(cell) != shown)?;
        self.position = Some(found);
        Some(&self.cells[found])
    }

    /// The cell after the one shown; at last, the text from which this began.
    pub(super) fn newer(&mut self) -> Option<&str> {
        let from = self.position? + 1;
        let found = self.cells[from..].iter().position(|cell| cell.starts_with(&self.begun));
        self.position = found.map(|found| from + found);
        Some(match self.position {
            Some(position) => &self.cells[position],
            None => &self.begun,
        })
    }

    /// The cells in which a text occurs, the latest first, each once.
    pub(super) fn search(&self, query: &str, most: usize) -> Vec<&str> {
        let mut found: Vec<&str> = Vec::new();
        let matching = self.cells.iter().rev().filter(|cell| cell.contains(query));
        for cell in matching {
            if found.len() >= most {
                break;
            }
            if !found.contains(&&**cell) {
                found.push(cell);
            }
        }
        found
    }

    /// Replaces the file by one with the cells that are kept; if that fails, it stays as it is.
    fn write_anew(&self) {
        let Some(file) = &self.file else { return };
        let mut text = format!("{HEADING}\n");
        for cell in &self.cells {
            text.push_str(&escaped(cell));
            text.push('\n');
        }
        let beside = file.with_extension("new");
        let _ = fs::write(&beside, text).and_then(|()| fs::rename(&beside, file));
    }
}

/// Adds a cell with one write, so that sessions side by side do not mix theirs.
fn append(file: &PathBuf, cell: &str) -> std::io::Result<()> {
    let mut options = OpenOptions::new();
    options.append(true).create(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let mut file = options.open(file)?;
    let heading = if file.metadata()?.len() == 0 { format!("{HEADING}\n") } else { String::new() };
    file.write_all(format!("{heading}{}\n", escaped(cell)).as_bytes())
}

fn escaped(cell: &str) -> String {
    cell.replace('\\', "\\\\").replace('\n', "\\n")
}

fn unescaped(line: &str) -> String {
    let mut cell = String::new();
    let mut characters = line.chars();
    while let Some(c) = characters.next() {
        match c {
            '\\' => match characters.next() {
                Some('n') => cell.push('\n'),
                Some(c) => cell.push(c),
                None => {}
            },
            c => cell.push(c),
        }
    }
    cell
}

#[cfg(test)]
mod tests {
    use super::{Recall, escaped, unescaped};

    #[test]
    fn cells_of_several_lines_are_kept() {
        let folder = tempfile::tempdir().expect("a folder");
        let file = folder.path().join("history");
        let mut recall = Recall::open(Some(file.clone()));
        recall.add("def f x =\n  \"\\n\"");
        recall.add("f 1");
        recall.add("f 1");
        recall.add(" secret");
        let again = Recall::open(Some(file.clone()));
        assert_eq!(again.cells, ["def f x =\n  \"\\n\"", "f 1"]);
        assert_eq!(unescaped(&escaped("a\\nb\n")), "a\\nb\n");
        std::fs::write(&file, "something else").expect("a file");
        let mut foreign = Recall::open(Some(file.clone()));
        foreign.add("1");
        assert_eq!(std::fs::read_to_string(&file).expect("the file"), "something else");
    }

    #[test]
    fn leafing_keeps_what_was_typed() {
        let mut recall = Recall::default();
        ["sum a", "b", "sum c", "d"].into_iter().for_each(|cell| recall.add(cell));
        assert_eq!(recall.older("sum"), Some("sum c"));
        assert_eq!(recall.older("sum c"), Some("sum a"));
        assert_eq!(recall.older("sum a"), None);
        assert_eq!(recall.newer(), Some("sum c"));
        assert_eq!(recall.newer(), Some("sum"));
        assert_eq!(recall.newer(), None);
        assert_eq!(recall.older(""), Some("d"));
        recall.rest();
        assert_eq!(recall.search("sum", 9), ["sum c", "sum a"]);
    }
}
