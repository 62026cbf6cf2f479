//! Kernels that put something behind arrays of the state, or leave a part of one (Note [Arrays that move] in `updates`).

use weft_ir::code::{Code, Operand};
use weft_ir::flat::{Dimension, Size, Var};
use weft_ir::plan::{Kernel, Sink};

use super::super::super::Function;
use super::super::updates::Replaced;
use crate::appending::{Appended, ArrayPart, appended, part_of_array};

impl Function<'_> {
    /// What a kernel puts behind arrays where they are.
    pub(super) fn appended(&self, kernel: &Kernel) -> Option<Appended> {
        let mut results = kernel.results();
        let moves = results.all(|result| self.updates.parts.contains_key(&result));
        if moves { appended(kernel, self.types) } else { None }
    }

    /// What a kernel yields that stays where it is, with where that begins.
    pub(super) fn parts(&mut self, kernel: &Kernel) -> Option<Vec<(Var, String)>> {
        let mut parts = Vec::new();
        for sink in &kernel.sinks {
            let Sink::Store { array, .. } = sink else { continue };
            if !self.updates.parts.contains_key(array) {
                continue;
            }
            let part = part_of_array(kernel, sink, self.types)?;
            let sizes = self.space_sizes(kernel)?;
            let (length, row) = sizes.split_first()?;
            let begin = self.begin(part, length, row)?;
            let name = format!("a{}", self.environment.fresh());
            let ty = self.type_name(*array);
            self.line(&format!("const {ty} *const {name} = {begin};"));
            parts.push((*array, name));
        }
        Some(parts)
    }

    fn space_sizes(&mut self, kernel: &Kernel) -> Option<Vec<String>> {
        let size = |dimension: &Dimension| match *dimension {
            Dimension::Dense(size) => self.size(size),
            Dimension::Ragged { .. } => None,
        };
        kernel.space.iter().map(size).collect()
    }

    /// Where a part of an array begins that has this length and such rows, as an expression.
    fn begin(&mut self, part: ArrayPart, length: &str, row: &[String]) -> Option<String> {
        let (sizes, first) = (self.sizes(part.array)?, self.size(part.first)?);
        let (whole, own_row) = sizes.split_first()?;
        if part.first != Size::Constant(0) {
            self.line(&format!("if ({first} < 0 || {first} > {whole}) LEAVE;"));
        }
        self.line(&format!("if ({length} > {whole} - {first}) LEAVE;"));
        for (own, other) in own_row.iter().zip(row).filter(|(own, other)| own != other) {
            self.line(&format!("if ({own} != {other}) LEAVE;"));
        }
        let from = self.value(part.array)?;
        let steps = std::iter::once(&first).chain(row).map(String::as_str);
        Some(format!("{from} + {}", steps.collect::<Vec<_>>().join(" * ")))
    }

    /// Puts what a kernel yields behind arrays.
    pub(super) fn append(&mut self, kernel: &Kernel, appended: &Appended) -> Option<()> {
        let sizes = self.space_sizes(kernel)?;
        let (whole, row) = sizes.split_first()?;
        let length = self.size(appended.length)?;
        let [behind, of_row] =
            ["more", "row"].map(|name| format!("{name}{}", self.environment.fresh()));
        self.line(&format!("const i64 {behind} = {whole} - {length};"));
        self.line(&format!("if ({length} < 0 || {behind} < 0) LEAVE;"));
        let points = self.points(&appended.kernel, Some(&behind))?;
        let count = points.points().to_owned();
        let product = if row.is_empty() { "1".to_owned() } else { row.join(" * ") };
        self.line(&format!("const i64 {of_row} = {product};"));
        let (mut moved, mut computed) = (Vec::new(), Vec::new());
        for (part, result) in appended.parts.iter().zip(kernel.results()) {
            let begin = self.begin(*part, &length, row)?;
            let number = *self.updates.parts.get(&result)?;
            let (ty, name) = (self.type_name(result), format!("a{}", self.environment.fresh()));
            self.line(&format!("{ty} *const {name} = ({ty} *)({begin});"));
            self.line(&format!(
                "if ({of_row} && (({ty} *)all->ends[{number}] - {name}) / {of_row} < {whole}) NEED_ROOM;"
            ));
            moved.push((number, ty, name));
            computed.push(self.room(result, &count));
        }
        let names: Vec<String> = moved.iter().map(|(.., name)| name.clone()).collect();
        let undo = self.undo(moved, &count)?;
        // What is computed may read what it replaces.
        self.open_rows(&points, &mut None, &[])?;
        self.open_dimension(&points, points.extents.len() - 1)?;
        let results: Vec<Operand> = kernel.sinks.iter().flat_map(Sink::operands).copied().collect();
        let code = Code { results, ..appended.kernel.body.clone() };
        let bound = points.bound(&appended.kernel);
        let (values, _) = self.bound_code(&code, &bound)?;
        let at = points.at_point();
        for (to, (value, _)) in computed.iter().zip(values) {
            self.line(&format!("{to}[{at}] = {value};"));
        }
        (0..kernel.space.len()).for_each(|_| self.close());
        self.close();
        self.line(&format!("for (i64 at = 0; at < {count}; at++) {{"));
        self.indent += 1;
        self.line(&format!("const i64 place = {length} * {of_row} + at;"));
        undo.keep().iter().for_each(|line| self.line(line));
        for (to, value) in names.iter().zip(&computed) {
            self.line(&format!("{to}[place] = {value}[at];"));
        }
        self.close();
        self.bind_named(kernel.results().zip(names).collect())
    }

    /// Puts an array where a part of the state was, whose place it takes; where it is then.
    pub(in crate::sequential::small) fn put_there(
        &mut self,
        array: Var,
        Replaced { part, before, .. }: Replaced,
    ) -> Option<String> {
        let (ty, from) = (self.type_name(array), self.value(array)?);
        let (begin, count) = (self.value(before)?, self.count(array)?);
        let name = format!("a{}", self.environment.fresh());
        self.line(&format!("{ty} *const {name} = ({ty} *){begin};"));
        self.line(&format!("if (({ty} *)all->ends[{part}] - {name} < {count}) NEED_ROOM;"));
        let undo = self.undo(vec![(part, ty, name.clone())], &count)?;
        self.line(&format!("for (i64 place = 0; place < {count}; place++) {{"));
        self.indent += 1;
        undo.keep().iter().for_each(|line| self.line(line));
        self.line(&format!("{name}[place] = {from}[place];"));
        self.close();
        Some(name)
    }
}
