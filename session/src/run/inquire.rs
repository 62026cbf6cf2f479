//! Questions about how a program is compiled and run.

use weft_ir::Type;
use weft_lang::typed::Program;

use super::{Runner, Stop};
use crate::engine::Job;
use crate::inquiry::{self, Context, Inquiry};
use crate::sink::Event;

impl Runner<'_> {
    /// Answers a question about a program, and tells the answer.
    pub(super) fn inquire(
        &mut self,
        inquiry: Inquiry,
        program: &Program,
        ty: &Type,
    ) -> Result<(), Stop> {
        self.check_files(program, program.entry.span)?;
        let values = |global| self.state.value(global);
        let job = Job {
            program,
            values: &values,
            modes: &self.state.modes,
            cancel: self.cancel.flag(),
            meter: self.cancel.meter(),
            stack: self.stack,
        };
        let context = Context {
            engine: self.engine,
            state: &self.state,
            sources: self.sources,
            cancel: self.cancel,
        };
        let answer = inquiry::answer(inquiry, program, ty, &context, &job, self.sink)?;
        self.sink.event(Event::Text(answer.text));
        answer.svg.into_iter().for_each(|svg| self.sink.event(Event::Drawing(svg)));
        answer.bug.map_or(Ok(()), |problem| Err(Stop::Bug(problem)))
    }
}
