//! Diagnostics as plain data: what is wrong with a program before it runs, where, and what helps.
//! Only [`crate::render`] turns them into text.

use weft_ir::Span;

/// How bad it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Severity {
    /// The cell does not run.
    Error,
    /// The cell runs.
    Warning,
}

/// One finding.
#[derive(Clone, Debug, PartialEq)]
pub struct Diagnostic {
    /// How bad it is.
    pub severity: Severity,
    /// The stable code, whose page `:explain` prints: E01xx syntax, E02xx names, E03xx types,
    /// E04xx files, E05xx commands and modes, E06xx traps, E07xx exhausted resources.
    pub code: &'static str,
    /// One sentence, lower case, without a full stop.
    pub message: String,
    /// The places involved; the first is the primary one.
    pub labels: Vec<Label>,
    /// What would help: "did you mean", a fix.
    pub help: Vec<String>,
    /// Further facts.
    pub notes: Vec<String>,
    /// Whether the error is only that the text ends too early: the REPL then asks for more.
    pub incomplete: bool,
}

/// A place with a remark.
#[derive(Clone, Debug, PartialEq)]
pub struct Label {
    /// Where.
    pub span: Span,
    /// What about it.
    pub message: String,
}

impl Diagnostic {
    /// An error at `span`, with a remark to stand at the caret.
    pub fn error(
        code: &'static str,
        message: impl Into<String>,
        span: Span,
        remark: impl Into<String>,
    ) -> Diagnostic {
        Diagnostic {
            severity: Severity::Error,
            code,
            message: message.into(),
            labels: vec![Label { span, message: remark.into() }],
            help: Vec::new(),
            notes: Vec::new(),
            incomplete: false,
        }
    }

    /// The same as a warning.
    #[must_use]
    pub fn warning(mut self) -> Diagnostic {
        self.severity = Severity::Warning;
        self
    }

    /// With a further place.
    #[must_use]
    pub fn label(mut self, span: Span, remark: impl Into<String>) -> Diagnostic {
        self.labels.push(Label { span, message: remark.into() });
        self
    }

    /// With a way out.
    #[must_use]
    pub fn help(mut self, help: impl Into<String>) -> Diagnostic {
        self.help.push(help.into());
        self
    }

    /// With a further fact.
    #[must_use]
    pub fn note(mut self, note: impl Into<String>) -> Diagnostic {
        self.notes.push(note.into());
        self
    }

    /// The primary place.
    pub fn span(&self) -> Span {
        self.labels.first().map(|label| label.span).unwrap_or_default()
    }
}
