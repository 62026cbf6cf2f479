//! How many errors of an item are reported: a generated text may have any number of them, and whoever reads them
//! wants the first.

use std::mem;

use weft_ir::Span;

use crate::check::Checker;
use crate::diagnostic::Diagnostic;
use crate::syntax::MAX_DEPTH;

/// The most errors of an item that are reported one by one.
pub(super) const MOST_ERRORS: usize = 100;

impl Checker<'_> {
    /// Adds a report, unless there are very many.
    pub(in crate::check) fn report(&mut self, diagnostic: Diagnostic) {
        self.errors += 1;
        if self.errors <= MOST_ERRORS {
            self.diagnostics.push(diagnostic);
        }
    }

    /// The bindings of an item stand in each other's scope, deeper than the passes go.
    pub(in crate::check) fn too_many_bindings(&mut self, item: Span) {
        let remark = format!("with them its tree is deeper than {MAX_DEPTH} levels");
        let message = "this item has too many bindings in `let`s";
        // All of the item would be many lines.
        let start = item.start as usize;
        let span = Span::new(item.source, start, start);
        let help = "bind some of them in items of their own, or load the data from a file";
        self.report(Diagnostic::error("E0116", message, span, remark).help(help));
    }

    /// Tells of the errors that are not reported one by one, in the reports from position `first` on.
    pub(in crate::check) fn count_unreported(&mut self, first: usize) {
        let reports = &mut self.diagnostics[first..];
        for (name, (span, uses)) in mem::take(&mut self.unknown) {
            let reported = reports.iter_mut().find(|found| found.span() == span);
            if let (Some(found), 2..) = (reported, uses) {
                let places = if uses == 2 { "place" } else { "places" };
                found.notes.push(format!("`{name}` stands in {} more {places}", uses - 1));
            }
        }
        if self.errors > MOST_ERRORS
            && let Some(last) = reports.iter_mut().max_by_key(|found| found.span().start)
        {
            let note = match self.errors - MOST_ERRORS {
                1 => "there is 1 more error here".to_owned(),
                more => format!("there are {more} more errors here"),
            };
            last.notes.push(note);
        }
    }
}
