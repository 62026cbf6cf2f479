//! What updates have replaced, until the turn ends (Note [Updates of small loops] in `updates`).

use super::super::Function;

/// What an update of one kernel has replaced in a turn.
#[derive(Clone, Debug)]
pub(in crate::sequential) struct Undo {
    /// Nothing where it goes to the log.
    number: Option<usize>,
    /// The parts of the state, with the types of their elements, and what they are called while they are written to.
    parts: Vec<(usize, &'static str, String)>,
}

impl Undo {
    /// Of an array that is the function's own, where nothing is put back.
    pub(super) fn nothing() -> Undo {
        Undo { number: None, parts: Vec::new() }
    }

    /// How many elements it has replaced, where they are in each part, and what they were.
    fn count(&self) -> String {
        self.name("kept")
    }

    fn places(&self, part: usize) -> String {
        format!("{}_{part}", self.name("places"))
    }

    fn values(&self, part: usize) -> String {
        format!("{}_{part}", self.name("old"))
    }

    fn name(&self, of: &str) -> String {
        format!("{of}{}", self.number.unwrap_or_default())
    }

    /// What is declared before the loop.
    pub(in crate::sequential) fn declarations(&self) -> String {
        let mut text = format!("  u64 {} = 0;\n", self.count());
        for (part, ty, _) in &self.parts {
            text += &format!("  {ty} **{} = 0, *{} = 0;\n", self.places(*part), self.values(*part));
        }
        text
    }

    /// The statements that keep what is at `place`.
    pub(super) fn keep(&self) -> Vec<String> {
        if self.number.is_none() {
            let keep =
                |(_, ty, name): &(usize, &str, String)| format!("KEEP({ty}, {name} + place);");
            return self.parts.iter().map(keep).collect();
        }
        let count = self.count();
        let mut lines = Vec::new();
        for (part, _, name) in &self.parts {
            lines.push(format!("{}[{count}] = {name} + place;", self.places(*part)));
            lines.push(format!("{}[{count}] = {name}[place];", self.values(*part)));
        }
        lines.push(format!("{count}++;"));
        lines
    }
}

impl Function<'_> {
    /// Takes memory for what an update of so many points replaces, if it does.
    pub(super) fn undo(
        &mut self,
        parts: Vec<(usize, &'static str, String)>,
        points: &str,
    ) -> Option<Undo> {
        if parts.is_empty() {
            return None;
        }
        self.updated.extend(parts.iter().map(|(part, ..)| *part));
        if self.updates.inside {
            return Some(Undo { number: None, parts });
        }
        let undo = Undo { number: Some(self.environment.fresh()), parts };
        let mut memory: Vec<(String, String)> = Vec::new();
        for (part, ty, _) in &undo.parts {
            memory.push((format!("{ty} *"), undo.places(*part)));
            memory.push(((*ty).to_owned(), undo.values(*part)));
        }
        for (ty, name) in memory {
            self.line(&format!("TAKE({ty}, {name}_now, {points});"));
            self.line(&format!("{name} = {name}_now;"));
        }
        self.undo.push(undo.clone());
        Some(undo)
    }

    /// What was replaced stays so: the turn has ended.
    pub(super) fn forget_replaced(&mut self) {
        if self.updates.inside {
            self.line("log = log_begin;");
        }
        let counts: Vec<String> = self.undo.iter().map(Undo::count).collect();
        counts.into_iter().for_each(|count| self.line(&format!("{count} = 0;")));
    }

    /// Puts back what was replaced in a turn that the host does again.
    pub(super) fn put_back(&mut self) {
        if self.updates.inside {
            self.line("while (log > log_begin) {");
            self.line("  log--;");
            self.line("  __builtin_memcpy(log->place, &log->value, log->size);");
            self.line("}");
        }
        for undo in self.undo.clone().into_iter().rev() {
            let count = undo.count();
            self.line(&format!("for (; {count}; {count}--) {{"));
            for (part, ..) in &undo.parts {
                let (places, values) = (undo.places(*part), undo.values(*part));
                self.line(&format!("  *{places}[{count} - 1] = {values}[{count} - 1];"));
            }
            self.line("}");
        }
    }
}
