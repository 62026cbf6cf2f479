//! Filters and scatters.

use weft_ir::code::Operator;
use weft_ir::flat::Var;
use weft_ir::plan::{Epilogue, Kernel, Sink};
use weft_ir::{FaultKind, Span};

use super::super::super::Function;
use super::super::Undo;
use super::{Bound, Points, Typed};

/// The one filter or scatter of a kernel at work.
pub(super) struct Sends<'k> {
    /// What it yields.
    pub(super) results: Vec<(Var, String)>,
    kind: Kind<'k>,
}

enum Kind<'k> {
    Filter {
        /// How many have been kept.
        kept: String,
        /// The arrays of what is kept.
        to: Vec<String>,
        /// Where the rows end, and the number of the row at hand.
        offsets: Option<(String, String)>,
    },
    Scatter {
        /// The arrays after.
        to: Vec<String>,
        /// Their extents.
        sizes: Vec<String>,
        span: Span,
        /// How values are put there.
        putting: Putting<'k>,
    },
}

enum Putting<'k> {
    /// They replace what was there, with what keeps that if it is the state.
    Replaced(Option<Undo>),
    /// The one value is combined with what was there, which is the state.
    Combined(&'k Operator, Undo),
    /// Values that meet combine.
    Meeting(Meeting<'k>),
}

/// What values that meet have come to, for each place, in two levels of the tree of the language.
struct Meeting<'k> {
    operator: &'k Operator,
    /// How many have met.
    met: String,
    inner: Vec<String>,
    outer: Vec<String>,
    /// The number of places.
    count: String,
}

impl Function<'_> {
    /// The filter or scatter of a kernel, if it has one.
    pub(super) fn sends<'k>(
        &mut self,
        kernel: &'k Kernel,
        points: &Points,
    ) -> Option<Option<Sends<'k>>> {
        for sink in &kernel.sinks {
            match sink {
                Sink::Filter { counts, kept, .. } => {
                    return Some(Some(self.filter(counts, kept, points)));
                }
                Sink::Scatter { destinations, operator, arrays, .. } => {
                    let operator = operator.as_ref();
                    let scatter =
                        self.scatter(destinations, operator, arrays, kernel.span, points)?;
                    return Some(Some(scatter));
                }
                Sink::Store { .. }
                | Sink::Interleave { .. }
                | Sink::Reduce { .. }
                | Sink::Scan { .. }
                | Sink::Sort { .. } => {}
            }
        }
        Some(None)
    }

    fn filter<'k>(
        &mut self,
        counts: &[Var],
        arrays: &[(weft_ir::code::Operand, Var)],
        points: &Points,
    ) -> Sends<'k> {
        let kept = format!("v{}", self.environment.fresh());
        self.line(&format!("i64 {kept} = 0;"));
        let (offsets, total) = match counts {
            [offsets, total] => (Some(*offsets), *total),
            [total, ..] => (None, *total),
            [] => unreachable!("a filter yields a count"),
        };
        let mut results = vec![(total, kept.clone())];
        let offsets = offsets.map(|var| {
            let name = self.room(var, &format!("({} + 1)", points.rows()));
            let row = format!("v{}", self.environment.fresh());
            self.line(&format!("i64 {row} = 0;"));
            self.line(&format!("{name}[0] = 0;"));
            results.push((var, name.clone()));
            (name, row)
        });
        let to: Vec<String> =
            arrays.iter().map(|(_, array)| self.room(*array, points.points())).collect();
        results.extend(arrays.iter().map(|(_, array)| *array).zip(to.iter().cloned()));
        Sends { results, kind: Kind::Filter { kept, to, offsets } }
    }

    fn scatter<'k>(
        &mut self,
        destinations: &[Var],
        operator: Option<&'k Operator>,
        arrays: &[Var],
        span: Span,
        points: &Points,
    ) -> Option<Sends<'k>> {
        let first = *destinations.first()?;
        let sizes = self.sizes(first)?;
        let (mut to, mut replaced, mut count) = (Vec::new(), Vec::new(), None);
        let mut is_own = false;
        for (&destination, &array) in destinations.iter().zip(arrays) {
            let from = self.value(destination)?;
            let part = self.updates.parts.get(&array).copied();
            is_own |= self.own.contains(&array);
            if part.is_some() || self.own.contains(&array) {
                let (ty, name) = (self.type_name(array), format!("a{}", self.environment.fresh()));
                self.line(&format!("{ty} *const {name} = ({ty} *){from};"));
                replaced.extend(part.map(|part| (part, ty, name.clone())));
                to.push(name);
                continue;
            }
            let count = match &count {
                Some(count) => count,
                None => &*count.insert(self.count(first)?),
            };
            let name = self.room(array, count);
            self.line(&format!("for (i64 at = 0; at < {count}; at++) {name}[at] = {from}[at];"));
            to.push(name);
        }
        let undo = self.undo(replaced, points.points());
        let undo = undo.or_else(|| is_own.then(Undo::nothing));
        let results = arrays.iter().copied().zip(to.iter().cloned()).collect();
        let putting = match (operator, undo, count) {
            (None, undo, _) => Putting::Replaced(undo),
            (Some(operator), Some(undo), None) => Putting::Combined(operator, undo),
            (Some(operator), None, Some(count)) => {
                Putting::Meeting(self.meeting(operator, arrays, count))
            }
            (Some(_), ..) => return None,
        };
        Some(Sends { results, kind: Kind::Scatter { to, sizes, span, putting } })
    }

    /// Memory for values that meet.
    fn meeting<'k>(
        &mut self,
        operator: &'k Operator,
        arrays: &[Var],
        count: String,
    ) -> Meeting<'k> {
        let mut rooms = || arrays.iter().map(|&array| self.room(array, &count)).collect();
        let (inner, outer) = (rooms(), rooms());
        let met = format!("a{}", self.environment.fresh());
        self.line(&format!("TAKE(i64, {met}, {count});"));
        self.line(&format!("for (i64 at = 0; at < {count}; at++) {met}[at] = 0;"));
        Meeting { operator, met, inner, outer, count }
    }

    /// Keeps what a filter wants of a point, with the epilogue that follows.
    pub(super) fn keep(
        &mut self,
        sends: &Sends<'_>,
        values: &[Typed],
        epilogue: Option<(&Epilogue, &[String])>,
        known: &[Bound],
        points: &Points,
    ) -> Option<()> {
        let Kind::Filter { kept, to, .. } = &sends.kind else { return None };
        let (flag, values) = values.split_first()?;
        self.open(&format!("if ({}) {{", flag.0));
        for (to, (value, _)) in to.iter().zip(values) {
            self.line(&format!("{to}[{kept}] = {value};"));
        }
        if let Some((epilogue, later)) = epilogue {
            let mut indices = points.indices.clone();
            *indices.last_mut()? = kept.clone();
            self.follow(epilogue, &indices, known, later, kept)?;
        }
        self.line(&format!("{kept}++;"));
        self.close();
        Some(())
    }

    /// Ends a row of a filter.
    pub(super) fn end_row(&mut self, sends: Option<&Sends<'_>>) {
        if let Some(Sends {
            kind: Kind::Filter { kept, offsets: Some((offsets, row)), .. }, ..
        }) = sends
        {
            self.line(&format!("{offsets}[++{row}] = {kept};"));
        }
    }

    /// Sends the values of a point.
    pub(super) fn send(&mut self, sends: &Sends<'_>, values: &[Typed]) -> Option<()> {
        let Kind::Scatter { to, sizes, span, putting } = &sends.kind else { return None };
        let names = self.named(values);
        let (target, values) = names.split_at(sizes.len());
        let (mut at, mut inside) = (String::new(), String::new());
        for (index, size) in target.iter().zip(sizes) {
            at = if at.is_empty() { index.clone() } else { format!("({at}) * {size} + {index}") };
            let and = if inside.is_empty() { "" } else { " && " };
            inside += &format!("{and}(u64){index} < (u64){size}");
        }
        self.open(&format!("if ({inside}) {{"));
        self.line(&format!("const i64 place = {at};"));
        match putting {
            Putting::Replaced(undo) => {
                undo.iter().for_each(|undo| undo.keep().iter().for_each(|line| self.line(line)));
                for (to, value) in to.iter().zip(values) {
                    self.line(&format!("{to}[place] = {value};"));
                }
            }
            Putting::Combined(operator, undo) => {
                undo.keep().iter().for_each(|line| self.line(line));
                let to: Vec<String> = to.iter().map(|name| format!("{name}[place]")).collect();
                self.apply(operator, &to, values, &to)?;
            }
            Putting::Meeting(meeting) => self.meet(meeting, values)?,
        }
        self.indent -= 1;
        let outside = self.environment.fail(FaultKind::IndexOutOfRange, *span);
        self.open(&format!("}} else if ({} != -1) {{", target.first()?));
        self.line(&outside);
        self.close();
        Some(())
    }

    /// Combines a value with those that have come to its place.
    fn meet(&mut self, meeting: &Meeting<'_>, values: &[String]) -> Option<()> {
        let at = |names: &[String]| -> Vec<String> {
            names.iter().map(|name| format!("{name}[place]")).collect()
        };
        let (inner, outer, met) = (at(&meeting.inner), at(&meeting.outer), &meeting.met);
        self.open(&format!("if (!({met}[place] & 63)) {{"));
        self.line(&format!("if ({met}[place] == MOST_OF_SCAN) LEAVE;"));
        self.open(&format!("if ({met}[place] > 64) {{"));
        self.apply(meeting.operator, &outer, &inner, &outer)?;
        self.indent -= 1;
        self.open(&format!("}} else if ({met}[place]) {{"));
        self.assign_all(&outer, &inner);
        self.close();
        self.assign_all(&inner, values);
        self.indent -= 1;
        self.open("} else {");
        self.apply(meeting.operator, &inner, values, &inner)?;
        self.close();
        self.line(&format!("{met}[place]++;"));
        Some(())
    }

    /// Combines what has met with what was there before.
    pub(super) fn end_sends(&mut self, sends: Option<&Sends<'_>>) -> Option<()> {
        let Some(Sends { kind: Kind::Scatter { to, putting, .. }, .. }) = sends else {
            return Some(());
        };
        let Putting::Meeting(meeting) = putting else { return Some(()) };
        let at = |names: &[String]| -> Vec<String> {
            names.iter().map(|name| format!("{name}[place]")).collect()
        };
        let (to, inner, outer) = (at(to), at(&meeting.inner), at(&meeting.outer));
        self.open(&format!("for (i64 place = 0; place < {}; place++) {{", meeting.count));
        self.line(&format!("if (!{}[place]) continue;", meeting.met));
        self.open(&format!("if ({}[place] > 64) {{", meeting.met));
        self.apply(meeting.operator, &outer, &inner, &inner)?;
        self.close();
        self.apply(meeting.operator, &to, &inner, &to)?;
        self.close();
        Some(())
    }
}
