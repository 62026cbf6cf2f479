//! The cells typed so far, in this session and in earlier ones.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use weft_files::{FileSystem, Lines};

/// Cells that are kept.
const MOST: usize = 10_000;

/// The first line of a file of cells. A cell is a line, with `\n` and `\\` for newlines and
/// backslashes. (The format is rustyline's.)
const HEADING: &str = "#V2\n";

/// The cells typed so far.
#[derive(Debug, Default)]
pub(super) struct Recall {
    cells: Vec<String>,
    /// Where they are kept.
    file: Option<(PathBuf, Lines)>,
    /// Why they are not, if nobody has been told.
    problem: Option<String>,
    /// Whether somebody has been told.
    told: bool,
    /// The cell that is shown, while somebody leafs through them.
    position: Option<usize>,
    /// The text from which that began.
    begun: String,
}

impl Recall {
    /// The cells of a file, to which further ones are added. A foreign file is left alone: this session
    /// then has no history on disk.
    pub(super) fn open(files: Arc<dyn FileSystem>, file: Option<PathBuf>) -> Recall {
        let Some(path) = file else { return Recall::default() };
        let without = |problem: String| Recall { problem: Some(problem), ..Recall::default() };
        let (mut lines, bytes) = match Lines::open(files, &path, HEADING) {
            Ok(found) => found,
            Err(error) => return without(not_kept(&path, &error)),
        };
        let text = String::from_utf8(bytes).unwrap_or_else(|_| "not UTF-8".to_owned());
        let Some(kept) = text.strip_prefix(HEADING) else {
            // A process may have died while it wrote the heading.
            return match HEADING.starts_with(&text) {
                true => Recall { file: Some((path, lines)), ..Recall::default() },
                false => without(format!(
                    "{} is no history of weft, and stays as it is: what is typed is not kept",
                    path.display()
                )),
            };
        };
        let whole = kept.lines().filter(|line| !line.is_empty());
        let mut cells: Vec<String> = whole.map(unescaped).collect();
        let too_many = cells.len().saturating_sub(MOST);
        cells.drain(..too_many);
        if too_many > MOST {
            let text = cells.iter().map(|cell| line(cell)).collect::<String>();
            // If that fails, the file is merely long.
            drop(lines.replace(&text));
        }
        Recall { cells, file: Some((path, lines)), ..Recall::default() }
    }

    /// Adds a cell, unless it is the last one again or begins with a space. If the cells are not kept
    /// on disk, the first time, a sentence that says why.
    pub(super) fn add(&mut self, cell: &str) -> Option<String> {
        let is_new = self.cells.last().is_none_or(|last| last != cell);
        if cell.trim().is_empty() || cell.starts_with(' ') || !is_new {
            return None;
        }
        self.cells.push(cell.to_owned());
        if let Some((path, lines)) = &mut self.file
            && let Err(error) = lines.add(&line(cell))
        {
            // The disk may have room again for the next one.
            self.problem = Some(not_kept(path, &error));
        }
        let problem = self.problem.take().filter(|_| !self.told);
        self.told |= problem.is_some();
        problem
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
}

fn not_kept(path: &Path, error: &io::Error) -> String {
    format!("what is typed is not kept in {}: {error}", path.display())
}

/// A cell as a line of the file.
fn line(cell: &str) -> String {
    format!("{}\n", escaped(cell))
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
    use std::fs;
    use std::path::Path;
    use std::sync::Arc;

    use weft_files::{Host, with_every_fault};

    use super::{Recall, escaped, unescaped};

    fn open(file: &Path) -> Recall {
        Recall::open(Arc::new(Host), Some(file.to_owned()))
    }

    #[test]
    fn cells_of_several_lines_are_kept() {
        let folder = tempfile::tempdir().expect("a folder");
        let file = folder.path().join("history");
        let mut recall = open(&file);
        for cell in ["def f x =\n  \"\\n\"", "f 1", "f 1", " secret"] {
            assert_eq!(recall.add(cell), None);
        }
        assert_eq!(open(&file).cells, ["def f x =\n  \"\\n\"", "f 1"]);
        assert_eq!(unescaped(&escaped("a\\nb\n")), "a\\nb\n");
    }

    #[test]
    fn a_foreign_file_stays_as_it_is() {
        let folder = tempfile::tempdir().expect("a folder");
        let file = folder.path().join("history");
        for text in ["something else", "#V2 but not quite\n"] {
            fs::write(&file, text).expect("a file");
            let mut foreign = open(&file);
            assert!(foreign.add("1").expect("a remark").contains("no history of weft"));
            assert_eq!(foreign.add("2"), None, "it has been said");
            assert_eq!(fs::read_to_string(&file).expect("the file"), text);
        }
    }

    #[test]
    fn no_cell_is_lost_but_those_that_fail() {
        with_every_fault(|files| {
            let folder = tempfile::tempdir().expect("a folder");
            let file = folder.path().join("history");
            let mut recall = Recall::open(files.shared(), Some(file.clone()));
            let said: Vec<String> =
                ["first", "second", "third"].iter().filter_map(|cell| recall.add(cell)).collect();
            assert_eq!(said.len(), usize::from(files.has_failed()));
            assert!(said.iter().all(|said| said.contains("history") && said.contains("not kept")));
            // The session itself has them all.
            assert_eq!(recall.cells, ["first", "second", "third"]);
            // The one after it has those that were written, and is not disturbed by halves of others.
            let mut next = open(&file);
            assert_eq!(next.add("last"), None);
            let found = open(&file).cells;
            let whole =
                |cell: &&String| ["first", "second", "third", "last"].contains(&cell.as_str());
            assert_eq!(found.last().map(String::as_str), Some("last"), "{found:?}");
            let lost = 4 - found.iter().filter(whole).count();
            assert!(lost <= 1 || !said.is_empty(), "{found:?}");
            assert!(found.len() <= 5, "{found:?}");
        });
    }

    #[test]
    fn a_heading_that_was_cut_off_is_written_again() {
        let folder = tempfile::tempdir().expect("a folder");
        let file = folder.path().join("history");
        for cut in ["", "#", "#V", "#V2"] {
            fs::write(&file, cut).expect("a file");
            assert_eq!(open(&file).add("1"), None);
            assert_eq!(open(&file).cells, ["1"], "{cut:?}");
        }
    }

    #[test]
    fn leafing_keeps_what_was_typed() {
        let mut recall = Recall::default();
        for cell in ["sum a", "b", "sum c", "d"] {
            recall.add(cell);
        }
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
