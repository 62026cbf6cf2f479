//! Which pictures the terminal can show, as far as its environment tells.

use weft_session::display::{Graphics, Pictures};

/// What the environment says of the terminal.
#[derive(Clone, Debug, Default)]
pub(crate) struct Environment {
    /// `TERM`.
    pub(crate) term: String,
    /// `TERM_PROGRAM`.
    pub(crate) program: String,
    /// `COLORTERM`.
    pub(crate) colours: String,
    /// Whether `KITTY_WINDOW_ID` is set.
    pub(crate) in_kitty: bool,
    /// Whether a multiplexer (`TMUX`, `STY`) stands between, which keeps graphics to itself.
    pub(crate) is_multiplexed: bool,
}

impl Environment {
    /// That of this process.
    pub(crate) fn of_process() -> Environment {
        let text = |name: &str| std::env::var(name).unwrap_or_default();
        let is_set = |name: &str| std::env::var_os(name).is_some_and(|value| !value.is_empty());
        Environment {
            term: text("TERM"),
            program: text("TERM_PROGRAM"),
            colours: text("COLORTERM"),
            in_kitty: is_set("KITTY_WINDOW_ID"),
            is_multiplexed: is_set("TMUX") || is_set("STY"),
        }
    }

    /// What a terminal with colours shows pictures with. A wish counts more than what is seen.
    pub(crate) fn graphics(&self, wish: Option<Pictures>) -> Option<Graphics> {
        let true_colour = matches!(&*self.colours, "truecolor" | "24bit");
        let blocks = Graphics::HalfBlocks { true_colour };
        match wish {
            Some(Pictures::Kitty) => return Some(Graphics::Kitty),
            Some(Pictures::Sixel) => return Some(Graphics::Sixel),
            Some(Pictures::Blocks) => return Some(blocks),
            Some(Pictures::Off) => return None,
            None => {}
        }
        let term_has = |names: &[&str]| names.iter().any(|name| self.term.contains(name));
        Some(match () {
            () if self.is_multiplexed => blocks,
            () if self.in_kitty || term_has(&["kitty", "ghostty"]) => Graphics::Kitty,
            () if matches!(&*self.program, "WezTerm" | "ghostty") => Graphics::Kitty,
            () if term_has(&["sixel", "mlterm", "foot", "contour"]) => Graphics::Sixel,
            () if self.program == "iTerm.app" => Graphics::Sixel,
            () => blocks,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::Environment;
    use weft_session::display::{Graphics, Pictures};

    #[test]
    fn terminals_are_told_by_their_environment() {
        let term = |term: &str| Environment { term: term.to_owned(), ..Environment::default() };
        let blocks = |true_colour| Some(Graphics::HalfBlocks { true_colour });
        assert_eq!(term("xterm-kitty").graphics(None), Some(Graphics::Kitty));
        assert_eq!(term("foot").graphics(None), Some(Graphics::Sixel));
        assert_eq!(term("xterm-256color").graphics(None), blocks(false));
        let program = Environment { program: "WezTerm".to_owned(), ..term("xterm-256color") };
        assert_eq!(program.graphics(None), Some(Graphics::Kitty));
        let rich = Environment { colours: "truecolor".to_owned(), ..term("xterm-256color") };
        assert_eq!(rich.graphics(None), blocks(true));
        let inside = Environment { is_multiplexed: true, in_kitty: true, ..term("tmux-256color") };
        assert_eq!(inside.graphics(None), blocks(false));
        assert_eq!(inside.graphics(Some(Pictures::Kitty)), Some(Graphics::Kitty));
        assert_eq!(inside.graphics(Some(Pictures::Off)), None);
    }
}
