//! `:save`: values and definitions to files.

use std::path::Path;

use weft_ir::{Looks, Span, Type};
use weft_lang::Diagnostic;
use weft_lang::typed::Program;

use super::{Runner, Stop};
use crate::files::{self, forbidden};
use crate::io::{self, Brightness, IoError, IoErrorKind};
use crate::sink::Event;

impl Runner<'_> {
    pub(super) fn save(
        &mut self,
        program: &Program,
        ty: &Type,
        path: &Path,
        span: Span,
    ) -> Result<(), Stop> {
        self.check_io(span)?;
        let value = self.run(program, span)?;
        self.cancel.set_activity(format!("writing {}", path.display()));
        // What a device has lost may have to be computed again.
        if !value.bring(Looks::AtAll, self.cancel.flag()) {
            return Err(Stop::Interrupted);
        }
        let stop = || self.cancel.is_cancelled();
        let saved = io::save(&value, ty, path, &stop);
        let is_saved = saved.is_ok();
        self.saved(saved, path, span)?;
        if let Some(brightness) = io::brightness(&value, path).filter(|_| is_saved) {
            let remark = out_of_range(&brightness, self.sources.slice(span), path, span);
            self.sink.event(Event::Report(self.sources.report(vec![remark])));
        }
        Ok(())
    }

    pub(super) fn save_source(&mut self, text: &str, path: &Path, span: Span) -> Result<(), Stop> {
        self.check_io(span)?;
        let saved = io::save_source(text, path, &|| self.cancel.is_cancelled());
        self.saved(saved, path, span)
    }

    fn saved(&mut self, result: Result<u64, IoError>, path: &Path, span: Span) -> Result<(), Stop> {
        match result {
            Ok(bytes) => {
                let text = format!("saved {} ({bytes} bytes)", path.display());
                self.sink.event(Event::Note(text));
                Ok(())
            }
            Err(error) if error.kind == IoErrorKind::Interrupted => Err(Stop::Interrupted),
            Err(error) => Err(Stop::Failed(Box::new(files::diagnostic(&error, span)))),
        }
    }

    fn check_io(&self, span: Span) -> Result<(), Stop> {
        if self.io { Ok(()) } else { Err(Stop::Failed(Box::new(forbidden(span)))) }
    }
}

/// E0408: a picture of floats, of which many are beyond what a picture shows.
fn out_of_range(brightness: &Brightness, argument: &str, path: &Path, span: Span) -> Diagnostic {
    let Brightness { least, greatest, clipped, is_grey } = brightness;
    let percent = 100.0 * clipped;
    let message = format!(
        "a picture shows 0.0 to 1.0, and its values go from {least:?} to {greatest:?}: {percent:.0} % of them are saved as black or white"
    );
    let remark = Diagnostic::error("E0408", message, span, "saved here").warning();
    let written = argument.strip_suffix('"').and_then(|rest| rest.rsplit_once('"'));
    let (true, Some((value, _))) = (*is_grey, written) else {
        return remark
            .help("scale the values to 0.0 to 1.0, or make them `u8`, of which 255 is white");
    };
    let value = value.trim();
    let is_one = value.chars().all(|letter| letter.is_alphanumeric() || "_'.".contains(letter));
    let value = if is_one { value.to_owned() } else { format!("({value})") };
    let file = path.display();
    remark.help(match (*least, *greatest) {
        (least, greatest) if least >= 0.0 && greatest <= 255.0 => {
            format!("if 255 is white, `:save {value} / 255.0 \"{file}\"`")
        }
        (least, greatest) if least < 0.0 => {
            format!(
                "`:save ({value} + {:?}) / {:?} \"{file}\"` goes from black to white",
                -least,
                greatest - least
            )
        }
        (least, greatest) => {
            format!(
                "`:save ({value} - {least:?}) / {:?} \"{file}\"` goes from black to white",
                greatest - least
            )
        }
    })
}
