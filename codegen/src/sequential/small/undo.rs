//! What updates have replaced, until the turn ends (Note [Updates of small loops] in `updates`).

use super::super::Function;

/// What an update of one kernel has replaced in a turn.
#[derive(Clone, Debug)]
pub(in crate::sequential) struct Undo {
    number: usize,
    /// The parts of the state, with the types of their elements, and what they are called while they are written to.
    parts: Vec<(usize, &'static str, String)>,
}

impl Undo {
    /// How many elements it has replaced, where they were, and what they were in each part.
    fn count(&self) -> String {
        format!("kept{}", self.number)
    }

    fn places(&self) -> String {
        format!("places{}", self.number)
    }

    fn values(&self, part: usize) -> String {
        format!("old{}_{part}", self.number)
    }

    /// What is declared before the loop.
    pub(in crate::sequential) fn declarations(&self) -> String {
        let mut text = format!("  u64 {} = 0;\n  i64 *{} = 0;\n", self.count(), self.places());
        for (part, ty, _) in &self.parts {
            text += &format!("  {ty} *{} = 0;\n", self.values(*part));
        }
        text
    }

    /// The statements that keep what is at `place`.
    pub(super) fn keep(&self) -> Vec<String> {
        let count = self.count();
        let value = |(part, _, name): &(usize, &str, String)| {
            format!("{}[{count}] = {name}[place];", self.values(*part))
        };
        let mut lines: Vec<String> = self.parts.iter().map(value).collect();
        lines.push(format!("{}[{count}++] = place;", self.places()));
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
        let undo = Undo { number: self.environment.fresh(), parts };
        let takes = |(part, ty, _): &(usize, &'static str, String)| (*ty, undo.values(*part));
        let mut memory: Vec<(&str, String)> = undo.parts.iter().map(takes).collect();
        memory.push(("i64", undo.places()));
        for (ty, name) in memory {
            self.line(&format!("TAKE({ty}, {name}_now, {points});"));
            self.line(&format!("{name} = {name}_now;"));
        }
        self.updated.extend(undo.parts.iter().map(|(part, ..)| *part));
        self.undo.push(undo.clone());
        Some(undo)
    }

    /// What was replaced stays so: the turn has ended.
    pub(super) fn forget_replaced(&mut self) {
        let counts: Vec<String> = self.undo.iter().map(Undo::count).collect();
        counts.into_iter().for_each(|count| self.line(&format!("{count} = 0;")));
    }

    /// Puts back what was replaced in a turn that the host does again, in a state of these names.
    pub(super) fn put_back(&mut self, state: &[String]) {
        for undo in self.undo.clone().into_iter().rev() {
            let (count, places) = (undo.count(), undo.places());
            self.line(&format!("for (; {count}; {count}--) {{"));
            for (part, ty, _) in &undo.parts {
                let (name, values) = (&state[*part], undo.values(*part));
                self.line(&format!(
                    "  (({ty} *){name})[{places}[{count} - 1]] = {values}[{count} - 1];"
                ));
            }
            self.line("}");
        }
    }
}
