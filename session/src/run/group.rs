//! Runs the lines of a group as one program (Note [Joined lines] in `engine/joined.rs`), and one by one
//! where that cannot be. What is kept and told, and in which order, is the same.

use std::collections::BTreeMap;

use weft_ir::Value;
use weft_lang::lower::Member;
use weft_lang::{CheckedItem, CheckedKind};

use super::{Runner, Stop};
use crate::engine::{Job, Joined, LeftApart};
use crate::join::{Line, is_member, names, program};

/// The values of plain lines, by the position in their group.
type Plain = BTreeMap<usize, Value>;

impl Runner<'_> {
    /// Does the items of a group.
    pub(super) fn group(&mut self, lines: &[Line]) -> Result<(), Stop> {
        self.check_cancelled()?;
        let mut programs = lines.iter().filter_map(|line| program(&line.item));
        let are_whole =
            programs.all(|program| self.check_files(program, program.entry.span).is_ok());
        if !self.state.modes.joins_lines() || !are_whole {
            return self.singly(lines, 0, &Plain::new());
        }
        match self.plain(lines)? {
            Some(plain) => self.together(lines, 0, &plain),
            // The line that fails may not be the first that does.
            None => self.singly(lines, 0, &Plain::new()),
        }
    }

    /// Computes what the group takes as inputs; nothing if something in it has no value.
    fn plain(&mut self, lines: &[Line]) -> Result<Option<Plain>, Stop> {
        let mut values = Plain::new();
        for (index, line) in lines.iter().enumerate().filter(|(_, line)| line.is_plain) {
            let Some(program) = program(&line.item) else { continue };
            match self.run(program, line.item.span) {
                Ok(value) => {
                    self.keep(&line.item, &value);
                    values.insert(index, value);
                }
                Err(Stop::Failed(_)) => return Ok(None),
                Err(stop) => {
                    lines.iter().for_each(|line| self.remark_item(&line.item));
                    return Err(stop);
                }
            }
        }
        Ok(Some(values))
    }

    /// Does consecutive lines, of which the first has that position in the group, in as few programs as
    /// possible.
    fn together(&mut self, lines: &[Line], first: usize, plain: &Plain) -> Result<(), Stop> {
        let positions: Vec<usize> =
            (0..lines.len()).filter(|index| is_member(&lines[*index])).collect();
        if positions.len() < 2 {
            return self.singly(lines, first, plain);
        }
        let members = positions.iter().filter_map(|index| member(&lines[*index].item)).collect();
        match self.joined(lines, members) {
            Joined::Interrupted => {
                lines.iter().for_each(|line| self.remark_item(&line.item));
                Err(Stop::Interrupted)
            }
            Joined::Values(values) => {
                let mut values = values.into_iter();
                for (index, line) in lines.iter().enumerate() {
                    let value = match is_member(line) {
                        true => values.next(),
                        false => plain.get(&(first + index)).cloned(),
                    };
                    self.finish(&line.item, value, line.shown)?;
                }
                Ok(())
            }
            Joined::Apart { how: LeftApart::One(member), key: _ } => {
                let index = positions[member];
                let (before, after) = (&lines[..index], &lines[index + 1..]);
                self.together(before, first, plain)?;
                self.singly(&lines[index..=index], first + index, plain)?;
                self.together(after, first + index + 1, plain)
            }
            Joined::Apart { how: LeftApart::Groups(begins), key: _ } => {
                let mut start = 0;
                for end in begins.iter().map(|begin| positions[*begin]).chain([lines.len()]) {
                    self.together(&lines[start..end], first + start, plain)?;
                    start = end;
                }
                Ok(())
            }
            Joined::Apart { how: LeftApart::All, key } => {
                self.singly(lines, first, plain)?;
                if let Some(key) = key {
                    self.engine.keep_apart(key, LeftApart::All);
                }
                Ok(())
            }
        }
    }

    /// Does consecutive lines one by one.
    fn singly(&mut self, lines: &[Line], first: usize, plain: &Plain) -> Result<(), Stop> {
        for (index, line) in lines.iter().enumerate() {
            self.check_cancelled()?;
            match plain.get(&(first + index)) {
                Some(value) => self.finish(&line.item, Some(value.clone()), line.shown)?,
                None => self.item(&line.item, line.shown)?,
            }
        }
        Ok(())
    }

    fn joined(&mut self, lines: &[Line], members: Vec<Member<'_>>) -> Joined {
        let (first, last) = (lines[0].item.span, lines[lines.len() - 1].item.span);
        self.cancel.set_activity(format!("evaluating {}", self.sources.places(first, last)));
        let values = |global| self.state.value(global);
        let job = Job {
            program: members[0].program,
            values: &values,
            modes: &self.state.modes,
            cancel: self.cancel.flag(),
            meter: self.cancel.meter(),
            stack: self.stack,
        };
        let (joined, ran) = self.engine.run_joined(&job, &members);
        self.account(ran, "its lines ran one by one");
        joined
    }

    /// Keeps the value of an item that is told of later.
    fn keep(&mut self, item: &CheckedItem, value: &Value) {
        if let CheckedKind::Bind { names, .. } = &item.kind {
            for bound in names {
                let part = super::component(value, &bound.path);
                self.state.values.insert(bound.global, part);
            }
        }
    }
}

/// The item as a member of a sequence of programs.
fn member(item: &CheckedItem) -> Option<Member<'_>> {
    let names = match &item.kind {
        CheckedKind::Bind { names, .. } => {
            names.iter().map(|bound| (bound.global, bound.path.clone())).collect()
        }
        _ => names(item).into_iter().map(|global| (global, Vec::new())).collect(),
    };
    Some(Member { program: program(item)?, names })
}
