//! Ctrl-R: looking for an earlier cell.

use super::menu::{Choice, Menu};
use super::recall::Recall;

/// Cells that are found.
const MOST: usize = 100;

/// What stands before the words that are looked for.
pub(super) const PROMPT: &str = "search: ";

/// A search that is going on.
#[derive(Debug)]
pub(super) struct Search {
    pub(super) query: String,
    pub(super) menu: Menu,
}

impl Search {
    /// Begins with all cells.
    pub(super) fn new(recall: &Recall) -> Search {
        let mut search = Search { query: String::new(), menu: Menu::new(Vec::new()) };
        search.look(recall);
        search
    }

    /// Looks for another text.
    pub(super) fn look(&mut self, recall: &Recall) {
        let found = recall.search(&self.query, MOST);
        let choice = |cell: &str| Choice { text: cell.to_owned(), detail: String::new() };
        self.menu = Menu::new(found.into_iter().map(choice).collect());
        self.menu.selected = (!self.menu.choices.is_empty()).then_some(0);
    }

    /// The cell that is marked.
    pub(super) fn found(&self) -> Option<&str> {
        self.menu.chosen().map(|choice| &*choice.text)
    }
}
