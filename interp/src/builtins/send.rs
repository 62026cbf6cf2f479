//! Sending: elements go to places that other values name.

use std::rc::Rc;

use weft_ir::{Column, Span, TrapKind, Type};

use super::Call;
use super::look::rows_of;
use super::make::{integer, into_shape};
use super::reduce::Tree;
use crate::apply::Callee;
use crate::collect::Collector;
use crate::elements::Elements;
use crate::index::position;
use crate::machine::{Machine, Outcome, Stop};
use crate::value::{Val, under};

impl Machine<'_> {
    /// `scatter dest is xs`: of equal targets the last in order wins.
    pub(super) fn scatter(&mut self, mut call: Call<'_>) -> Outcome<Val> {
        let (dest, indices, elements) = (call.array(0)?, call.array(1)?, call.array(2)?);
        self.lockstep(&call, &indices, &elements)?;
        let targets = match self.targets(&indices, dest.len(), call.span) {
            Ok(targets) => targets,
            Err(stop) => return self.unsent(stop, dest, &call),
        };
        Ok(self.send(dest, targets, &elements, call.element(), call.span)?.into_val())
    }

    /// The elements of `dest`, of type `ty`, with others at their targets.
    fn send(
        &mut self,
        dest: Elements,
        targets: Vec<usize>,
        elements: &Elements,
        ty: &Type,
        span: Span,
    ) -> Outcome<Elements> {
        let bytes = [&dest, elements].map(|all| u128::from(all.clone().into_val().bytes()));
        self.admit(bytes[0] + bytes[1] + dest.len() as u128 * 8, span)?;
        // Where each element of the result comes from, in dest followed by the others.
        let mut sources: Vec<usize> = (0..dest.len()).collect();
        for (source, target) in targets.into_iter().enumerate() {
            sources[target] = dest.len() + source;
        }
        let length = dest.len();
        if targets_all_dest(&sources, length) {
            return Ok(dest);
        }
        let mut both = Collector::new(ty, span);
        both.extend(&dest);
        both.extend(elements);
        Ok(self.gather_elements(&both.finish(), &sources, ty)?)
    }

    /// Where the elements of a regular array are in all of them, one after the other.
    pub(super) fn places_of(&mut self, mut call: Call<'_>, axes: usize) -> Outcome<Val> {
        let array = call.array(0)?;
        let extents = self.extents(&call, &array, axes)?;
        let places = self.integers(extents.iter().product(), call.span)?;
        Ok(into_shape(places, &extents, call.result()))
    }

    /// An array of so many axes in which others stand at some places, which have `kept` axes: of equal places the last in
    /// order counts.
    pub(super) fn replace(&mut self, mut call: Call<'_>, axes: usize, kept: usize) -> Outcome<Val> {
        let (dest, mut places, mut values) = (call.array(0)?, call.array(1)?, call.array(2)?);
        let extents = self.extents(&call, &dest, axes)?;
        let dest = self.concatenate_all(dest, call.param(0), axes, call.span)?;
        self.lockstep(&call, &places, &values)?;
        for axis in 1..kept {
            for row in 0..places.len() {
                let rows = [rows_of(&places.get(row))?, rows_of(&values.get(row))?];
                self.lockstep(&call, &rows[0], &rows[1])?;
                self.step()?;
            }
            places = self.concatenate_rows(&places, under(call.param(1), axis + 1), call.span)?;
            values = self.concatenate_rows(&values, under(call.param(2), axis + 1), call.span)?;
        }
        let element = under(call.param(0), axes);
        let replaced = match self.targets(&places, dest.len(), call.span) {
            Ok(targets) => self.send(dest, targets, &values, element, call.span)?,
            // As in `unsent`.
            Err(Stop::Error(_)) if dest.len() == 0 => dest,
            Err(stop) => rows_of(&self.erroneous(stop, dest.len(), call.span)?)?,
        };
        Ok(into_shape(replaced, &extents, call.result()))
    }

    /// `scatterWith op dest is xs`: each old value is combined with the fold of the values that are
    /// sent to it, in their order.
    pub(super) fn scatter_with(&mut self, mut call: Call<'_>) -> Outcome<Val> {
        let function = call.value(0);
        let (dest, indices, elements) = (call.array(1)?, call.array(2)?, call.array(3)?);
        self.lockstep(&call, &indices, &elements)?;
        let targets = match self.targets(&indices, dest.len(), call.span) {
            Ok(targets) => targets,
            Err(stop) => return self.unsent(stop, dest, &call),
        };
        let targets: Vec<Option<usize>> = targets.into_iter().map(Some).collect();
        self.send_with(&call, &function, &dest, &targets, &elements)
    }

    /// `permute op dest f xs`: as `scatterWith`, with the targets f 0, f 1, …; -1 drops an element.
    pub(super) fn permute(&mut self, mut call: Call<'_>) -> Outcome<Val> {
        let (function, dest) = (call.value(0), call.array(1)?);
        let (target, elements) = (call.value(2), call.array(3)?);
        let length = elements.len();
        let targets = self.with_callee(&target, 1, call.span, |machine, callee| {
            let mut targets = Vec::with_capacity(length);
            for index in 0..length {
                targets.push(match machine.apply(callee, [Val::I64(index as i64)])? {
                    Val::I64(-1) => None,
                    target => Some(machine.target(&target, dest.len(), call.span)?),
                });
            }
            Ok(targets)
        });
        let targets = match targets {
            Ok(targets) => targets,
            Err(stop) => return self.unsent(stop, dest, &call),
        };
        self.send_with(&call, &function, &dest, &targets, &elements)
    }

    /// What becomes of an array when the targets are an error: so are its elements, if it has any.
    fn unsent(&mut self, error: Stop, dest: Elements, call: &Call<'_>) -> Outcome<Val> {
        match error {
            Stop::Error(_) if dest.len() == 0 => Ok(dest.into_val()),
            error => self.erroneous(error, dest.len(), call.span),
        }
    }

    /// Combines each old value with the fold of the elements sent to it.
    fn send_with(
        &mut self,
        call: &Call<'_>,
        function: &Val,
        dest: &Elements,
        targets: &[Option<usize>],
        elements: &Elements,
    ) -> Outcome<Val> {
        if dest.len() == 0 {
            return Ok(dest.clone().into_val());
        }
        let sources = self.stable_order(targets.len(), |a, b| targets[a].cmp(&targets[b]))?;
        // Those that are dropped come first.
        let sent = sources.into_iter().skip_while(|source| targets[*source].is_none());
        let mut sources = sent.peekable();
        self.with_callee(function, 2, call.span, |machine, callee: &Callee| {
            let mut collector = Collector::new(call.element(), call.span);
            for target in 0..dest.len() {
                let mut tree = Tree::default();
                while let Some(source) = sources.next_if(|at| targets[*at] == Some(target)) {
                    tree.push(machine, callee, elements.get(source))?;
                }
                let val = match tree.finish(machine, callee)? {
                    Some(sent) => machine.apply(callee, [dest.get(target), sent])?,
                    None => dest.get(target),
                };
                machine.collect(&mut collector, val)?;
            }
            Ok(machine.finish(collector).into_val())
        })
    }

    /// `histogram n bins`.
    pub(super) fn histogram(&mut self, mut call: Call<'_>) -> Outcome<Val> {
        let length = call.integer(0)?;
        let length = self.new_length(&call, length)?;
        let bins = call.array(1)?;
        self.admit(length as u128 * 8, call.span)?;
        let targets = match self.targets(&bins, length, call.span) {
            Ok(targets) => targets,
            Err(stop) => return self.elements_of(stop, length, &call),
        };
        let mut counts = vec![0_i64; length];
        for target in targets {
            counts[target] += 1;
        }
        Ok(Val::array(Column::I64(counts.into())))
    }

    /// `pack xs flags`: the elements whose flag is true.
    pub(super) fn pack(&mut self, mut call: Call<'_>) -> Outcome<Val> {
        let (elements, flags) = (call.array(0)?, call.array(1)?);
        self.lockstep(&call, &elements, &flags)?;
        Ok(self.select_by(&elements, &flags, true, call.element())?.into_val())
    }

    /// Integers as positions on an axis of `extent` elements; one that is an error or out of range
    /// is an error of every element, since what it would have replaced is unknown.
    pub(super) fn targets(
        &mut self,
        indices: &Elements,
        extent: usize,
        span: Span,
    ) -> Outcome<Vec<usize>> {
        self.admit(indices.len() as u128 * 8, span)?;
        let mut targets = Vec::with_capacity(indices.len());
        for index in indices.iter() {
            targets.push(self.target(&index, extent, span)?);
            self.step()?;
        }
        Ok(targets)
    }

    fn target(&self, index: &Val, extent: usize, span: Span) -> Outcome<usize> {
        match index {
            Val::I64(index) => position(*index, extent).map_err(|kind| self.fail(kind, span)),
            Val::Error(error) => Err(Stop::Error(Rc::clone(error))),
            other => {
                let index = integer(other.scalar().expect("an index is an integer"));
                match usize::try_from(index) {
                    Ok(position) if position < extent => Ok(position),
                    _ => {
                        // A u64 may be beyond every i64.
                        let index = i64::try_from(index).unwrap_or(i64::MAX);
                        let kind = TrapKind::IndexOutOfRange { index, extent: extent as i64 };
                        Err(self.fail(kind, span))
                    }
                }
            }
        }
    }
}

/// Whether nothing was sent.
fn targets_all_dest(sources: &[usize], length: usize) -> bool {
    sources.iter().all(|source| *source < length)
}
