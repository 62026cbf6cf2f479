//! Standard output and standard error: colours, width, and what happens when nobody listens.

use std::env;
use std::io::{self, IsTerminal, Write};

use terminal_size::{Height, Width, terminal_size_of};
use weft_session::display::graphics;
use weft_session::{Cancel, Event, Progress, Report, Shown, Sink};

use crate::graphics::Environment;
use crate::pager;

/// The width where there is no terminal that knows better.
const DEFAULT_WIDTH: usize = 80;

/// How many bytes are written before anybody asks again whether the rest is wanted.
const PIECE: usize = 1 << 16;

/// Where the front end writes.
#[derive(Debug)]
pub(crate) struct Output {
    colour: bool,
    error_colour: bool,
    closed: bool,
    /// Why that is, unless its reader has gone away.
    lost: Option<io::Error>,
    /// Whether standard output is a terminal on which a line can be written over.
    controls: bool,
    /// Whether standard error is one, and standard output is not.
    error_controls: bool,
    /// Whether such a line stands there.
    has_status: bool,
    environment: Environment,
    /// Whether an interrupt has cut something off.
    cut: bool,
}

impl Output {
    /// Standard output and standard error as they are.
    pub(crate) fn new() -> Output {
        let environment = Environment::of_process();
        let refused = env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty())
            || environment.term == "dumb";
        Output {
            colour: !refused && io::stdout().is_terminal(),
            error_colour: !refused && io::stderr().is_terminal(),
            closed: false,
            lost: None,
            controls: io::stdout().is_terminal() && environment.term != "dumb",
            error_controls: io::stderr().is_terminal()
                && !io::stdout().is_terminal()
                && environment.term != "dumb",
            has_status: false,
            environment,
            cut: false,
        }
    }

    /// A line on standard output.
    pub(crate) fn line(&mut self, text: &str) {
        self.clear_status();
        let mut stdout = io::stdout().lock();
        let written = stdout.write_all(text.as_bytes()).and_then(|()| stdout.write_all(b"\n"));
        self.note(written);
    }

    /// As [`Output::line`], for what may be long and shows what a cell has found: it ends where the cell is
    /// interrupted, and says so.
    fn result_line(&mut self, text: &str, cancel: &Cancel) {
        self.clear_status();
        let mut stdout = io::stdout().lock();
        let written = write_until(&mut stdout, text.as_bytes(), PIECE, &|| cancel.is_cancelled());
        let written = written.and_then(|is_whole| {
            stdout.write_all(b"\n")?;
            Ok(is_whole)
        });
        drop(stdout);
        let is_whole = written.as_ref().is_ok_and(|is_whole| *is_whole);
        let is_cut = written.is_ok() && !is_whole;
        self.note(written.map(drop));
        if is_cut {
            self.cut = true;
            // A colour may have been left on.
            let end = if self.colour { "\x1b[0m" } else { "" };
            self.line(&format!("{end}… interrupted: the rest is not written"));
        }
    }

    /// Whether an interrupt has cut something off since this was asked last.
    pub(crate) fn take_cut(&mut self) -> bool {
        std::mem::take(&mut self.cut)
    }

    /// A remark on standard output, dim where there are colours.
    pub(crate) fn dim_line(&mut self, text: &str) {
        if self.colour {
            self.line(&format!("\x1b[2m{text}\x1b[0m"));
        } else {
            self.line(text);
        }
    }

    /// A line on standard error, after everything on standard output.
    pub(crate) fn error_line(&mut self, text: &str) {
        self.clear_status();
        self.flush();
        // If standard error is gone there is nobody left to tell.
        let _ = writeln!(io::stderr(), "{text}");
    }

    /// A report on standard error.
    pub(crate) fn report(&mut self, report: &Report) {
        let text = report.render(self.error_colour, self.width());
        self.error_line(text.trim_end());
    }

    /// A value on standard output.
    fn shown(&mut self, shown: &Shown, cancel: &Cancel) {
        // How far the run has come is no longer of interest, and writing may take a while too.
        self.clear_status();
        self.flush();
        let Some(text) = shown.text(self.width(), self.colour, cancel) else {
            self.cut = true;
            return self.line("… interrupted: it is not written");
        };
        if shown.whole {
            self.page(&text, cancel);
        } else if let Some(picture) = self.picture(shown) {
            // The type stands on the first line, before the numbers that the picture replaces.
            self.line(text.lines().next().unwrap_or_default());
            // Half of an escape sequence would swallow what comes after it.
            self.line(&picture);
        } else {
            self.result_line(&text, cancel);
        }
    }

    /// The value as graphics, if it is a picture and the terminal shows some.
    fn picture(&self, shown: &Shown) -> Option<String> {
        if !self.colour {
            return None;
        }
        let kind = self.environment.graphics(shown.limits.graphics)?;
        // Of a screen that does not say how high it is, pictures take what they may.
        let height =
            terminal_size_of(io::stdout()).map_or(usize::MAX, |(_, Height(rows))| rows.into());
        Some(graphics(&shown.picture()?, kind, (self.width(), height)))
    }

    /// A text on standard output; where a person reads it and it is longer than the screen, a page
    /// at a time.
    fn page(&mut self, text: &str, cancel: &Cancel) {
        let height = terminal_size_of(io::stdout()).map_or(0, |(_, Height(rows))| rows.into());
        let columns = self.width();
        // Long lines go on in further rows. Of a text of very many the first are enough to know.
        let rows = text.lines().map(|line| line.chars().count().div_ceil(columns).max(1));
        let is_long = self.controls && height > 2 && rows.take(height).sum::<usize>() > height - 2;
        if is_long {
            self.clear_status();
            self.flush();
            if pager::page(&format!("{text}\n")) {
                return;
            }
        }
        self.result_line(text, cancel);
    }

    /// How far something has come, on a line that the next one replaces.
    pub(crate) fn progress(&mut self, progress: &Progress) {
        if !self.controls && !self.error_controls {
            return;
        }
        let text = progress_line(progress, self.width());
        let colour = if self.controls { self.colour } else { self.error_colour };
        let text = if colour { format!("\x1b[2m{text}\x1b[0m") } else { text };
        let written = self.control(&format!("\r{text}\x1b[K"));
        self.has_status = true;
        self.note(written);
        self.flush();
    }

    /// Writes to the terminal on which a line can be written over.
    fn control(&self, text: &str) -> io::Result<()> {
        match self.controls {
            true => io::stdout().write_all(text.as_bytes()),
            // If standard error is gone there is nobody left to tell.
            false => io::stderr().write_all(text.as_bytes()).or(Ok(())),
        }
    }

    /// Takes the line of [`Output::progress`] away.
    pub(crate) fn clear_status(&mut self) {
        if std::mem::replace(&mut self.has_status, false) {
            let written = self.control("\r\x1b[K");
            self.note(written);
        }
    }

    /// Writes out what is buffered.
    pub(crate) fn flush(&mut self) {
        let flushed = io::stdout().flush();
        self.note(flushed);
    }

    /// Says so if something could not be written, though its reader has not gone away. Yields whether all
    /// is well.
    pub(crate) fn finish(&mut self) -> bool {
        self.flush();
        match self.lost.take() {
            Some(error) => {
                self.error_line(&format!("weft: cannot write to standard output: {error}"));
                false
            }
            None => true,
        }
    }

    /// Whether the reader of standard output has gone away.
    pub(crate) fn is_closed(&self) -> bool {
        self.closed
    }

    /// Whether escape sequences may be used on standard output.
    pub(crate) fn colour(&self) -> bool {
        self.colour
    }

    fn width(&self) -> usize {
        let columns = env::var("COLUMNS").ok().and_then(|columns| columns.parse().ok());
        columns
            .or_else(|| terminal_size_of(io::stdout()).map(|(Width(width), _)| usize::from(width)))
            .filter(|width| *width > 0)
            .unwrap_or(DEFAULT_WIDTH)
    }

    /// A reader that goes away early (`weft … | head`) is no error, but there is nothing left to
    /// do either.
    fn note(&mut self, written: io::Result<()>) {
        let Err(error) = written else { return };
        if !self.closed && error.kind() != io::ErrorKind::BrokenPipe {
            self.lost = Some(error);
        }
        self.closed = true;
    }
}

/// A bar and what is going on, in fewer cells than a line of the terminal has: one that is full would go on in
/// the next line, where nothing takes it away.
fn progress_line(progress: &Progress, width: usize) -> String {
    const STEPS: usize = 24;
    /// The cells of ` 100 % `.
    const PERCENT: usize = 7;
    let room = width.saturating_sub(1);
    let steps = room.saturating_sub(PERCENT).min(STEPS);
    let done = (progress.fraction() * steps as f64) as usize;
    let bar = format!("{}{}", "━".repeat(done), "─".repeat(steps - done));
    let percent = (progress.fraction() * 100.0) as usize;
    let line = format!("{bar} {percent:>3} % {}", progress.activity);
    line.chars().take(room).collect()
}

/// Writes bytes until it is to stop. Yields whether all have been written.
fn write_until(
    output: &mut dyn Write,
    bytes: &[u8],
    piece: usize,
    stop: &dyn Fn() -> bool,
) -> io::Result<bool> {
    for (number, piece) in bytes.chunks(piece).enumerate() {
        // What is short is written even if the interrupt came when the cell was at its end.
        if number > 0 && stop() {
            return Ok(false);
        }
        output.write_all(piece)?;
    }
    Ok(true)
}

/// Shows what a session does to a person at a prompt.
pub(crate) struct Interactive<'a> {
    /// Where to.
    pub(crate) output: &'a mut Output,
    /// Whether it is to go on.
    pub(crate) cancel: Cancel,
}

impl Sink for Interactive<'_> {
    fn event(&mut self, event: Event) {
        match event {
            Event::Shown(shown) => {
                self.output.shown(&shown, &self.cancel);
                if let Some(statistics) = shown.statistics(&self.cancel) {
                    self.output.dim_line(&statistics);
                }
            }
            Event::Bound { name, ty } => self.output.dim_line(&format!("{name} : {ty}")),
            Event::Defined { name, ty } if ty.is_empty() => {
                self.output.dim_line(&format!("type {name}"))
            }
            Event::Defined { name, ty } => self.output.dim_line(&format!("{name} : {ty}")),
            Event::Text(text) => self.output.page(&text, &self.cancel),
            Event::Note(text) | Event::Notice(text) => self.output.dim_line(&text),
            Event::Report(report) => self.output.report(&report),
            Event::Progress(Some(progress)) => self.output.progress(&progress),
            Event::Progress(None) => self.output.clear_status(),
            Event::Footer(footer) if footer.wanted => {
                let width = self.output.width();
                self.output.dim_line(&footer.lines(width));
            }
            Event::Drawing(_) | Event::Footer(_) => {}
        }
        self.output.flush();
    }
}

/// Shows what a program says: its values and its errors, nothing else.
pub(crate) struct Plain<'a> {
    /// Where to.
    pub(crate) output: &'a mut Output,
    /// Stops the program when nobody listens any more.
    pub(crate) cancel: Cancel,
}

impl Sink for Plain<'_> {
    fn event(&mut self, event: Event) {
        match event {
            Event::Shown(shown) => self.output.shown(&shown, &self.cancel),
            Event::Text(text) => self.output.result_line(&text, &self.cancel),
            Event::Report(report) => self.output.report(&report),
            Event::Notice(text) => self.output.error_line(&format!("weft: {text}")),
            Event::Bound { .. }
            | Event::Defined { .. }
            | Event::Drawing(_)
            | Event::Note(_)
            | Event::Progress(_)
            | Event::Footer(_) => {}
        }
        if self.output.is_closed() {
            self.cancel.cancel();
        }
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use super::{Progress, progress_line, write_until};

    #[test]
    fn progress_takes_one_line_of_any_terminal() {
        let progress = Progress { activity: "evaluating In[2]".to_owned(), done: 39, total: 100 };
        for width in 1..60 {
            let line = progress_line(&progress, width);
            assert!(line.chars().count() < width, "{width} {line}");
        }
        let line = progress_line(&progress, 80);
        assert_eq!(line, format!("{}{}  39 % evaluating In[2]", "━".repeat(9), "─".repeat(15)));
    }

    #[test]
    fn what_is_no_longer_wanted_is_not_written() {
        let asked = Cell::new(0);
        let stop = |at: usize| {
            let asked = &asked;
            move || {
                asked.set(asked.get() + 1);
                asked.get() == at
            }
        };
        let mut written = Vec::new();
        let is_whole = write_until(&mut written, &[7; 100], 10, &stop(3)).expect("a vector");
        assert_eq!((is_whole, written.len()), (false, 30));
        asked.set(0);
        written.clear();
        let is_whole = write_until(&mut written, &[7; 95], 10, &stop(10)).expect("a vector");
        assert_eq!((is_whole, written.len()), (true, 95));
    }
}
