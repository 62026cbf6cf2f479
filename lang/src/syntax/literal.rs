//! Literals: how far they reach, what they mean, and what can be wrong with them.

pub(super) mod bulk;
pub(super) mod number;
pub(super) mod text;

/// What is wrong with a literal.
#[derive(Debug, PartialEq)]
pub(super) struct Problem {
    /// The code.
    pub(super) code: &'static str,
    /// The finding.
    pub(super) message: String,
    /// What to stand at the caret.
    pub(super) remark: String,
    /// What would help.
    pub(super) help: Option<String>,
}

impl Problem {
    /// A problem without advice.
    fn new(code: &'static str, message: impl Into<String>, remark: impl Into<String>) -> Problem {
        Problem { code, message: message.into(), remark: remark.into(), help: None }
    }

    /// The same with advice.
    fn help(mut self, help: impl Into<String>) -> Problem {
        self.help = Some(help.into());
        self
    }
}
