//! Nesting: cutting arrays into rows.

use weft_ir::{Column, Span, TrapKind, Type};

use super::Call;
use crate::collect::Collector;
use crate::elements::Elements;
use crate::machine::{Machine, Outcome, Stop};
use crate::value::{Val, component_type, element_type, under};

impl Machine<'_> {
    /// `segments counts xs`: consecutive rows of the given lengths.
    pub(super) fn segments(&mut self, mut call: Call<'_>) -> Outcome<Val> {
        let counts = call.array(0)?;
        let elements = call.array(1)?;
        let lengths = self.segment_lengths(&call, &counts, elements.len())?;
        Ok(self.rows(&elements, &lengths, call.element(), call.span)?.into_val())
    }

    /// The lengths of segments: not negative, and together the length of the array.
    pub(super) fn segment_lengths(
        &self,
        call: &Call<'_>,
        counts: &Elements,
        length: usize,
    ) -> Outcome<Vec<usize>> {
        let mut lengths = Vec::with_capacity(counts.len());
        let mut total: i128 = 0;
        for count in counts.iter() {
            match count {
                Val::I64(count) => {
                    lengths.push(self.new_length(call, count)?);
                    total += i128::from(count);
                }
                Val::Error(error) => return Err(Stop::Error(error)),
                other => panic!("{other:?} is no length"),
            }
        }
        if total != length as i128 {
            let expected = i64::try_from(total).unwrap_or(i64::MAX);
            let (operation, found) = (call.name().to_owned(), length as i64);
            return Err(self.fail(TrapKind::BadShape { operation, expected, found }, call.span));
        }
        Ok(lengths)
    }

    /// Consecutive rows of these lengths, which cover the elements; `ty` is the type of a row.
    pub(super) fn rows(
        &mut self,
        elements: &Elements,
        lengths: &[usize],
        ty: &Type,
        span: Span,
    ) -> Outcome<Elements> {
        if let Elements::Packed(column) = elements {
            return Ok(Elements::packed(Column::from_lengths(lengths, (**column).clone())));
        }
        let mut collector = Collector::new(ty, span);
        let mut start = 0;
        for length in lengths {
            collector.push(elements.slice(start, *length, element_type(ty)).into_val());
            start += length;
            self.step()?;
        }
        Ok(collector.finish())
    }

    /// `chunks k xs`: rows of k elements; the last may be shorter.
    pub(super) fn chunks(&mut self, mut call: Call<'_>) -> Outcome<Val> {
        let k = self.positive(&mut call, 0, "the length of a chunk")?;
        let elements = call.array(1)?;
        let length = elements.len();
        if let (Elements::Packed(column), 0) = (&elements, length % k) {
            let inner = Box::new((**column).clone());
            return Ok(Val::array(Column::Dense { len: length / k, extent: k, inner }));
        }
        let mut lengths = vec![k; length / k];
        if length % k > 0 {
            lengths.push(length % k);
        }
        Ok(self.rows(&elements, &lengths, call.element(), call.span)?.into_val())
    }

    /// `windows k xs`: all runs of k neighbours.
    pub(super) fn windows(&mut self, mut call: Call<'_>) -> Outcome<Val> {
        let k = self.positive(&mut call, 0, "the length of a window")?;
        let elements = call.array(1)?;
        self.runs(&call, &elements, k, 1)
    }

    /// `windowsBy k step xs`: those that start at multiples of the step.
    pub(super) fn windows_by(&mut self, mut call: Call<'_>) -> Outcome<Val> {
        let k = self.positive(&mut call, 0, "the length of a window")?;
        let step = self.positive(&mut call, 1, "the step")?;
        let elements = call.array(2)?;
        self.runs(&call, &elements, k, step)
    }

    /// The runs of k elements at 0, `step`, 2 `step` ….
    fn runs(
        &mut self,
        call: &Call<'_>,
        elements: &Elements,
        k: usize,
        step: usize,
    ) -> Outcome<Val> {
        let count = if k > elements.len() { 0 } else { (elements.len() - k) / step + 1 };
        let row = call.element();
        self.admit_elements(count as u128 * k as u128, element_type(row), call.span)?;
        if let Elements::Packed(column) = elements {
            self.admit(count as u128 * k as u128 * 8, call.span)?;
            let starts = (0..count).map(|run| run * step);
            let positions: Vec<usize> = starts.flat_map(|start| start..start + k).collect();
            let inner = Box::new(self.gather_column(column, &positions)?);
            return Ok(Val::array(Column::Dense { len: count, extent: k, inner }));
        }
        let element = element_type(row).clone();
        self.tabulate(row.clone(), count, call.span, |_, run| {
            Ok(elements.slice(run * step, k, &element).into_val())
        })
    }

    /// An argument that must be at least 1.
    fn positive(&self, call: &mut Call<'_>, index: usize, what: &str) -> Outcome<usize> {
        let value = call.integer(index)?;
        if value < 1 {
            return Err(
                self.bad_argument(call, &format!("{what} is {value}, but must be positive"))
            );
        }
        Ok(usize::try_from(value).unwrap_or(usize::MAX))
    }

    /// `groupBy keys values`: each distinct key with its values.
    pub(super) fn group_by(&mut self, mut call: Call<'_>) -> Outcome<Val> {
        let keys = call.array(0)?;
        let values = call.array(1)?;
        self.lockstep(&call, &keys, &values)?;
        let order = self.ascending(&keys, call.span)?;
        let starts = self.group_starts(&keys, &order)?;
        let mut lengths: Vec<usize> = starts.windows(2).map(|pair| pair[1] - pair[0]).collect();
        lengths.extend(starts.last().map(|last| order.len() - last));
        let (key_type, row_type) =
            (component_type(call.element(), 0), component_type(call.element(), 1));
        let first: Vec<usize> = starts.iter().map(|start| order[*start]).collect();
        let keys = self.gather_elements(&keys, &first, key_type)?;
        let values = self.gather_elements(&values, &order, element_type(row_type))?;
        let rows = self.rows(&values, &lengths, row_type, call.span)?;
        if let (Elements::Packed(keys), Elements::Packed(rows)) = (&keys, &rows) {
            let (len, parts) = (keys.len(), vec![(**keys).clone(), (**rows).clone()]);
            return Ok(Val::array(Column::Tuple { len, parts }));
        }
        self.tabulate(call.element().clone(), keys.len(), call.span, |_, group| {
            Ok(Val::tuple(vec![keys.get(group), rows.get(group)]))
        })
    }

    /// `split flags xs`: the elements where the flag is false, and those where it is true.
    pub(super) fn split(&mut self, mut call: Call<'_>) -> Outcome<Val> {
        let flags = call.array(0)?;
        let elements = call.array(1)?;
        self.lockstep(&call, &flags, &elements)?;
        let ty = call.component_element(0);
        let no = self.select_by(&elements, &flags, false, ty)?.into_val();
        let yes = self.select_by(&elements, &flags, true, ty)?.into_val();
        Ok(Val::tuple(vec![no, yes]))
    }

    /// `csr m`: the entries of a sparse matrix row by row, in their order within a row.
    pub(super) fn csr(&mut self, mut call: Call<'_>) -> Outcome<Val> {
        let matrix = call.value(0);
        let part = |index: usize| super::look::rows_of(&matrix.component(index));
        let height = match matrix.component(0) {
            Val::I64(height) => self.new_length(&call, height)?,
            Val::Error(error) => return Err(Stop::Error(error)),
            other => panic!("{other:?} is no number of rows"),
        };
        let (row_index, col_index, values) = (part(2)?, part(3)?, part(4)?);
        self.lockstep(&call, &row_index, &col_index)?;
        self.lockstep(&call, &row_index, &values)?;
        self.admit(height as u128 * 8, call.span)?;
        let targets = self.targets(&row_index, height, call.span)?;
        let mut counts = vec![0_i64; height];
        for target in &targets {
            counts[*target] += 1;
        }
        let order = self.stable_order(targets.len(), |a, b| targets[a].cmp(&targets[b]))?;
        let value_type = under(component_type(call.result(), 2), 1);
        let i64_type = Type::Scalar(weft_ir::ScalarType::I64);
        Ok(Val::tuple(vec![
            Val::array(Column::I64(counts.into())),
            self.gather_elements(&col_index, &order, &i64_type)?.into_val(),
            self.gather_elements(&values, &order, value_type)?.into_val(),
        ]))
    }
}
