//! Where a cell's `load`s get their values from.

use std::cell::{OnceCell, RefCell};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use weft_ir::{Span, Type, Value};
use weft_lang::typed::GlobalId;
use weft_lang::{Diagnostic, Files, LoadRequest};

use crate::io::{self, Doubt, IoError, IoErrorKind, Limits};
use crate::sink::Cancel;

/// Reads the files that a cell loads, while it is checked.
pub(crate) struct Loader<'a> {
    /// Whether files may be touched at all.
    pub(crate) allowed: bool,
    /// Whether standard input may be read: programs may come from there.
    pub(crate) input: bool,
    /// Bytes that a file and its value may take.
    pub(crate) limit: u64,
    /// Gives up when asked to.
    pub(crate) cancel: &'a Cancel,
    /// Whether that happened.
    pub(crate) interrupted: bool,
    /// What files may mean otherwise than they were read.
    pub(crate) doubts: Vec<Diagnostic>,
    /// The values that there are before the cell runs.
    pub(crate) values: &'a BTreeMap<GlobalId, Value>,
    /// The files that the cell saves when it runs, and where that stands, as far as it has been planned.
    pub(crate) saved: Vec<(PathBuf, Span)>,
}

impl Files for Loader<'_> {
    fn value(&self, value: GlobalId) -> Option<Value> {
        self.values.get(&value).cloned()
    }

    fn load(&mut self, request: &LoadRequest<'_>) -> Result<(Type, Value), Diagnostic> {
        if !self.allowed {
            return Err(forbidden(request.span));
        }
        let path = Path::new(request.path);
        if !self.input && io::is_standard_input(path) {
            return Err(input_is_no_file(request));
        }
        if let Some((_, saved)) = self.saved.iter().find(|(saved, _)| is_same(saved, path)) {
            return Err(not_saved_yet(request, *saved));
        }
        self.cancel.set_activity(format!("reading {}", request.path));
        let stop = || self.cancel.is_cancelled();
        let meter = self.cancel.meter();
        let piece = OnceCell::new();
        let progress = |done, total| {
            if let Some(piece) = piece.get_or_init(|| meter.begin(total)) {
                piece.set(done);
            }
        };
        let (read_bytes, value_bytes) = (self.limit, self.limit);
        let doubts = RefCell::new(Vec::new());
        let doubt = |doubt| doubts.borrow_mut().push(doubt);
        let limits =
            Limits { read_bytes, value_bytes, stop: &stop, progress: &progress, doubt: &doubt };
        let loaded = match request.loader {
            "load" => io::load(path, request.member, &limits),
            "loadCsv" => io::load_csv(path, &limits),
            "loadMtx" => io::load_mtx(path, &limits),
            "loadImage" => io::load_image(path, &limits),
            "loadWav" => io::load_wav(path, &limits),
            "loadText" => io::load_text(path, &limits),
            "loadLines" => io::load_lines(path, &limits),
            "loadBytes" => io::load_bytes(path, &limits),
            "streamNpy" => io::stream_npy(path, &limits),
            "streamLines" => io::stream_lines(path, &limits),
            "streamWav" => io::stream_wav(path, &limits),
            other => panic!("the checker asked for a loader `{other}`"),
        };
        let remarks = doubts.into_inner().into_iter();
        self.doubts.extend(remarks.map(|doubt| remark(doubt, request)));
        match loaded {
            Ok(loaded) => Ok((loaded.ty, loaded.value)),
            Err(error) => {
                self.interrupted |= error.kind == IoErrorKind::Interrupted;
                Err(diagnostic(&error, request.span))
            }
        }
    }
}

/// Whether two paths lead to one file, which need not be there.
fn is_same(one: &Path, other: &Path) -> bool {
    match (one.canonicalize(), other.canonicalize()) {
        (Ok(one), Ok(other)) => one == other,
        (Err(_), Err(_)) => match (std::path::absolute(one), std::path::absolute(other)) {
            (Ok(one), Ok(other)) => one == other,
            _ => one == other,
        },
        _ => false,
    }
}

/// What is there now would be loaded, not what is saved.
fn not_saved_yet(request: &LoadRequest<'_>, saved: Span) -> Diagnostic {
    let message = format!("{}: it is loaded before the program runs, which saves it", request.path);
    Diagnostic::error("E0401", message, request.span, "loaded here")
        .label(saved, "saved here")
        .help("save it in one cell, or script, and load it in the next; a name for the value needs no file")
}

/// Standard input is where lines of the program come from, or what a notebook started the kernel with.
fn input_is_no_file(request: &LoadRequest<'_>) -> Diagnostic {
    let message = format!("{}: standard input is no file for a program here", request.path);
    Diagnostic::error("E0401", message, request.span, "loaded here").help(
        "a program in a file, or after -e, can load standard input: `weft program.weft < FILE`",
    )
}

/// A doubt about a file that was read, remarked at the request.
fn remark(doubt: Doubt, request: &LoadRequest<'_>) -> Diagnostic {
    let message = format!("{}: {}", request.path, doubt.message);
    let help = doubt.help.replace("PATH", request.path);
    Diagnostic::error("E0407", message, request.span, "loaded here").warning().help(help)
}

/// A failure to read or write a file, reported at the request.
pub(crate) fn diagnostic(error: &IoError, span: Span) -> Diagnostic {
    let remark = match error.kind {
        IoErrorKind::Write | IoErrorKind::DoesNotFit | IoErrorKind::Unsupported => "asked for here",
        IoErrorKind::Open
        | IoErrorKind::Malformed(_)
        | IoErrorKind::TooLarge
        | IoErrorKind::Interrupted => "loaded here",
    };
    let diagnostic = Diagnostic::error(error.kind.code(), error.to_string(), span, remark);
    match &error.hint {
        Some(hint) => diagnostic.help(hint),
        None => diagnostic,
    }
}

/// A file whose elements are read as they are needed is not what it was any more, as `what` says.
pub(crate) fn changed(what: String, span: Span) -> Diagnostic {
    Diagnostic::error("E0401", what, span, "this looks at its elements")
        .help("open it again, with the line that did")
}

/// The answer to any access under `--no-io`.
pub(crate) fn forbidden(span: Span) -> Diagnostic {
    Diagnostic::error("E0506", "files are switched off in this session", span, "this needs a file")
        .help("start `weft` without --no-io")
}
