//! The list below a cell from which one thing can be taken.

use super::screen::{Screen, cut, width};

/// Rows that a list takes.
const MOST_ROWS: usize = 8;
/// Columns of names, where something stands beside them.
const WIDEST_NAME: usize = 32;

/// Something to take.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Choice {
    /// What it is.
    pub(super) text: String,
    /// What stands dim beside it; may be empty.
    pub(super) detail: String,
}

/// A list with a place in it.
#[derive(Clone, Debug)]
pub(super) struct Menu {
    pub(super) choices: Vec<Choice>,
    /// The one that is marked.
    pub(super) selected: Option<usize>,
}

impl Menu {
    /// A list in which nothing is marked yet.
    pub(super) fn new(choices: Vec<Choice>) -> Menu {
        Menu { choices, selected: None }
    }

    /// The one that is marked.
    pub(super) fn chosen(&self) -> Option<&Choice> {
        self.choices.get(self.selected?)
    }

    /// Marks the next one, at last the first again.
    pub(super) fn next(&mut self) {
        let count = self.choices.len().max(1);
        self.selected = Some(self.selected.map_or(0, |at| (at + 1) % count));
    }

    /// Marks the one before, at last the last again.
    pub(super) fn previous(&mut self) {
        let count = self.choices.len().max(1);
        self.selected = Some(self.selected.map_or(count - 1, |at| (at + count - 1) % count));
    }

    /// The rows, for a screen of that size.
    pub(super) fn lines(&self, screen: &Screen, (columns, rows): (usize, usize)) -> Vec<String> {
        let most = MOST_ROWS.min(rows / 2).max(1);
        let at = self.selected.unwrap_or(0);
        let first = (at + 1).saturating_sub(most);
        let shown = &self.choices[first..(first + most).min(self.choices.len())];
        let names = shown.iter().map(|choice| width(&choice.text)).max().unwrap_or(0);
        let has_details = shown.iter().any(|choice| !choice.detail.is_empty());
        let names = names.min(if has_details { WIDEST_NAME } else { columns.saturating_sub(4) });
        let mut lines: Vec<String> = shown
            .iter()
            .enumerate()
            .map(|(index, choice)| {
                let is_marked = self.selected == Some(first + index);
                let name = cut(&choice.text, names);
                let name = format!("{name}{:1$}", "", names.saturating_sub(width(&name)));
                let detail = cut(&choice.detail, columns.saturating_sub(names + 7));
                match (is_marked, screen.colour()) {
                    (true, true) => format!("  {}  {detail}", screen.styled(&name, "7")),
                    (true, false) => format!("> {name}  {detail}"),
                    (false, _) => format!("  {name}  {}", screen.styled(&detail, "2")),
                }
            })
            .collect();
        let hidden = self.choices.len() - shown.len();
        if hidden > 0 {
            lines.push(screen.styled(&format!("  … {hidden} more"), "2"));
        }
        lines
    }
}

#[cfg(test)]
mod tests {
    use super::{Choice, Menu, Screen};

    fn menu(count: usize) -> Menu {
        let choice = |n| Choice { text: format!("name{n}"), detail: "i64 -> i64".to_owned() };
        Menu::new((0..count).map(choice).collect())
    }

    #[test]
    fn the_marked_choice_is_always_seen() {
        let screen = Screen::new(false);
        let mut menu = menu(20);
        assert_eq!(menu.lines(&screen, (40, 24)).len(), 9);
        for turn in 0..40 {
            menu.next();
            let lines = menu.lines(&screen, (40, 24));
            let mark = format!("> name{} ", turn % 20);
            assert!(lines.iter().any(|line| line.starts_with(&mark)), "{lines:?}");
        }
        menu.previous();
        assert_eq!(menu.chosen().map(|choice| &*choice.text), Some("name18"));
    }

    #[test]
    fn rows_stay_within_the_width() {
        let choice = Choice { text: "a".repeat(90), detail: "b".repeat(90) };
        for colour in [false, true] {
            let lines = Menu::new(vec![choice.clone()]).lines(&Screen::new(colour), (40, 24));
            let plain = lines[0].replace("\x1b[2m", "").replace("\x1b[0m", "");
            assert!(super::width(&plain) < 40, "{plain}");
        }
        assert_eq!(menu(2).lines(&Screen::new(false), (40, 24))[0], "  name0  i64 -> i64");
    }
}
