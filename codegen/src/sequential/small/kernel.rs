//! Kernels as loops over their points, inside of a function (Note [Small loops]).

mod along;
mod append;
mod fold;
mod inside;
mod lanes;
mod send;
mod sort;

use weft_ir::ScalarType;
use weft_ir::code::{Code, Operand, Register};
use weft_ir::flat::{Dimension, Var, first_stored};
use weft_ir::plan::{Kernel, Sink, epilogue_space};

use super::super::Function;
use crate::dialect::type_name;
use crate::scalar::Writer;
use along::along;
use fold::Fold;
use lanes::Lanes;

/// A register with its type, and what stands for it.
type Bound = (Register, ScalarType, String);

/// A value as an expression, with its type.
type Typed = (String, ScalarType);

/// A kernel that is being written.
#[derive(Clone)]
struct Points {
    /// The dimensions, with extents as expressions; of a ragged one where its rows begin.
    extents: Vec<Extent>,
    /// The indices of the point.
    indices: Vec<String>,
    /// From which dimension on the indices tell the place in storage.
    first_stored: usize,
    /// For each number of dimensions how many points the space of the outermost ones has.
    counts: Vec<String>,
    /// Whether the last dimension is gone through from its end.
    backwards: bool,
}

#[derive(Clone)]
enum Extent {
    Dense(String),
    Ragged(Var),
}

impl Points {
    /// Where a point of the first dimensions is in the storage of an array over them.
    fn position(&self, dimensions: usize) -> String {
        let first = if dimensions > self.first_stored {
            self.first_stored
        } else {
            let ragged = |extent: &Extent| matches!(extent, Extent::Ragged(_));
            self.extents[..dimensions].iter().rposition(ragged).unwrap_or(0)
        };
        let mut at = String::new();
        for (extent, index) in self.extents[first..dimensions].iter().zip(&self.indices[first..]) {
            at = match (extent, at.is_empty()) {
                (_, true) => index.clone(),
                (Extent::Dense(extent), false) => format!("({at}) * {extent} + {index}"),
                (Extent::Ragged(_), false) => unreachable!("storage begins with the last of them"),
            };
        }
        if at.is_empty() { "0".to_owned() } else { at }
    }

    /// Where a row begins in the storage of a full scan, but for the position where rows differ in length.
    fn full_row(&self) -> String {
        let row = self.at_row();
        match self.extents.last() {
            Some(Extent::Dense(extent)) => format!("({row}) * ({extent} + 1)"),
            Some(Extent::Ragged(_)) | None => row,
        }
    }

    fn at_point(&self) -> String {
        self.position(self.extents.len())
    }

    fn at_row(&self) -> String {
        self.position(self.extents.len() - 1)
    }

    /// The indices of a kernel at a point.
    fn bound(&self, kernel: &Kernel) -> Vec<Bound> {
        let indices = kernel.indices.iter().zip(&self.indices);
        indices.map(|(&register, name)| (register, ScalarType::I64, name.clone())).collect()
    }

    /// The extents of the last two dimensions, where these are dense.
    fn last_extents(&self) -> Option<(&str, &str)> {
        match &self.extents[..] {
            [.., Extent::Dense(rows), Extent::Dense(last)] => Some((rows, last)),
            _ => None,
        }
    }

    fn points(&self) -> &str {
        &self.counts[self.extents.len()]
    }

    fn rows(&self) -> &str {
        &self.counts[self.extents.len() - 1]
    }
}

/// Where a result of the points is stored.
struct Stored {
    /// The memory of the array.
    array: String,
    /// Which element of a point's row it is, and how many there are.
    of: usize,
    elements: usize,
}

impl Stored {
    fn place(&self, at: &str) -> String {
        let Stored { array, of, elements } = self;
        match elements {
            1 => format!("{array}[{at}]"),
            _ => format!("{array}[({at}) * {elements} + {of}]"),
        }
    }
}

/// Which way the points of a row are gone through; nothing if sinks differ in that.
fn backwards(kernel: &Kernel) -> Option<bool> {
    let from_right = |sink: &Sink| matches!(sink, Sink::Scan { from_right: true, .. });
    let from_left = |sink: &Sink| match sink {
        Sink::Store { .. } | Sink::Interleave { .. } | Sink::Sort { .. } => false,
        Sink::Scan { from_right, .. } => !from_right,
        Sink::Reduce { .. } | Sink::Filter { .. } | Sink::Scatter { .. } => true,
    };
    let backwards = kernel.sinks.iter().any(from_right);
    (!backwards || !kernel.sinks.iter().any(from_left)).then_some(backwards)
}

impl Function<'_> {
    /// Computes what a kernel does.
    pub(super) fn kernel(&mut self, kernel: &Kernel) -> Option<()> {
        if kernel.space.is_empty() {
            return None;
        }
        if let Some(appended) = self.appended(kernel) {
            return self.append(kernel, &appended);
        }
        let parts = self.parts(kernel)?;
        if parts.len() == kernel.sinks.len() && kernel.epilogue.is_none() {
            return self.bind_named(parts);
        }
        let points = self.points(kernel, None)?;
        let (mut stores, mut stored) = (Vec::new(), Vec::new());
        for sink in &kernel.sinks {
            let (array, elements) = match sink {
                Sink::Store { array, .. } if parts.iter().any(|(part, _)| part == array) => {
                    continue;
                }
                Sink::Store { array, .. } => (*array, 1),
                Sink::Interleave { values, array } => (*array, values.len()),
                _ => continue,
            };
            let count = match elements {
                1 => points.points().to_owned(),
                _ => format!("({} * {elements})", points.points()),
            };
            let room = self.room(array, &count);
            let places = (0..elements).map(|of| Stored { array: room.clone(), of, elements });
            stored.extend(places);
            stores.push((array, room));
        }
        let epilogue_rows = kernel.epilogue.as_ref().zip(epilogue_space(kernel));
        let over_rows = epilogue_rows
            .as_ref()
            .is_some_and(|(epilogue, _)| epilogue.indices.len() + 1 == kernel.space.len())
            && kernel.sinks.iter().any(|sink| matches!(sink, Sink::Reduce { .. }));
        let mut later = Vec::new();
        for (_, array) in kernel.epilogue.iter().flat_map(|epilogue| &epilogue.stores) {
            let count = if over_rows { points.rows() } else { points.points() };
            later.push(self.room(*array, count));
        }
        let mut folds = self.folds(kernel, &points)?;
        let sends = self.sends(kernel, &points)?;
        let sort = self.sort(kernel, &points);
        let boxes = self.boxes(kernel, &points, stored.len())?;
        let along = along(kernel);
        let mut lanes = if along.is_some() { None } else { self.lanes(kernel) };
        self.open_rows(&points, &mut lanes, &folds)?;
        for fold in &mut folds {
            self.begin_fold(fold, &points)?;
        }
        boxes.iter().try_for_each(|inside| self.range(kernel, inside, &points))?;
        if !folds.is_empty() {
            self.line("i64 met = 0;");
        }
        if let Some(along) = &along {
            self.open_along(along, &folds, (kernel, &points))?;
        } else if let Some(lanes) = &lanes {
            self.open_lanes(lanes, &folds, (kernel, &points))?;
        }
        self.open_dimension(&points, points.extents.len() - 1)?;
        for inside in &boxes {
            self.inside(kernel, inside, &points, &stored)?;
        }
        let results: Vec<Operand> = kernel.sinks.iter().flat_map(Sink::operands).copied().collect();
        let bound = points.bound(kernel);
        let code = Code { results, ..kernel.body.clone() };
        let (values, known) = self.bound_code(&code, &bound)?;
        let mut values = values.into_iter();
        let at = points.at_point();
        let (mut next_stored, mut next_fold) = (stored.iter(), folds.iter());
        let mut scanned = known.clone();
        for sink in &kernel.sinks {
            let own: Vec<Typed> = values.by_ref().take(sink.operands().count()).collect();
            match sink {
                Sink::Store { array, .. } if parts.iter().any(|(part, _)| part == array) => {}
                Sink::Store { .. } | Sink::Interleave { .. } => {
                    for (value, _) in &own {
                        let place = next_stored.next()?.place(&at);
                        self.line(&format!("{place} = {value};"));
                    }
                }
                Sink::Reduce { .. } | Sink::Scan { .. } => {
                    let fold = next_fold.next()?;
                    scanned.extend(self.fold_point(fold, &own, &points)?);
                }
                Sink::Filter { .. } => {
                    let epilogue = kernel.epilogue.as_ref().map(|epilogue| (epilogue, &later[..]));
                    self.keep(sends.as_ref()?, &own, epilogue, &known, &points)?;
                }
                Sink::Scatter { .. } => self.send(sends.as_ref()?, &own)?,
                Sink::Sort { .. } => self.sort_point(sort.as_ref()?, &own, &at),
            }
        }
        let filters = kernel.sinks.iter().any(|sink| matches!(sink, Sink::Filter { .. }));
        if let Some(epilogue) = &kernel.epilogue
            && !over_rows
            && !filters
        {
            self.follow(epilogue, &points.indices, &scanned, &later, &at)?;
        }
        if !folds.is_empty() {
            self.line("met++;");
        }
        self.close();
        if lanes.is_some() || along.is_some() {
            self.close();
        }
        let mut totals = Vec::new();
        for fold in &folds {
            totals.extend(self.end_fold(fold, &points)?);
        }
        if let Some(epilogue) = kernel.epilogue.as_ref().filter(|_| over_rows) {
            self.follow(epilogue, &points.indices, &totals, &later, &points.at_row())?;
        }
        if let Some(sort) = &sort {
            self.end_sort(sort, &points)?;
        }
        self.end_row(sends.as_ref());
        (1..points.extents.len()).for_each(|_| self.close());
        self.close();
        self.end_sends(sends.as_ref())?;
        let mut results = parts;
        results.extend(stores);
        results.extend(sends.into_iter().flat_map(|sends| sends.results));
        results.extend(folds.iter().flat_map(Fold::results));
        results.extend(sort.map(|sort| sort.result));
        let after = kernel.epilogue.iter().flat_map(|epilogue| &epilogue.stores);
        results.extend(after.map(|(_, array)| *array).zip(later));
        self.bind_named(results)
    }

    /// Binds variables to names.
    fn bind_named(&mut self, named: Vec<(Var, String)>) -> Option<()> {
        let (vars, names): (Vec<Var>, Vec<String>) = named.into_iter().unzip();
        self.bind_all(&vars, names)
    }

    /// The space of a kernel, if there are few points; its first extent may be another one.
    fn points(&mut self, kernel: &Kernel, first: Option<&str>) -> Option<Points> {
        let backwards = backwards(kernel)?;
        let (mut extents, mut counts) = (Vec::new(), vec!["1".to_owned()]);
        for (at, dimension) in kernel.space.iter().enumerate() {
            let name = format!("n{}", self.environment.fresh());
            match *dimension {
                Dimension::Dense(size) => {
                    let extent = match first.filter(|_| at == 0) {
                        Some(first) => first.to_owned(),
                        None => self.size(size)?,
                    };
                    let outer = counts.last().expect("it begins with one");
                    let line = format!("i64 {name} = {outer};");
                    self.line(&line);
                    self.line(&format!("MORE_POINTS({name}, {extent});"));
                    extents.push(Extent::Dense(extent));
                }
                Dimension::Ragged { offsets, total } => {
                    let total = self.size(total)?;
                    self.line(&format!("i64 {name} = 1;"));
                    self.line(&format!("MORE_POINTS({name}, {total});"));
                    extents.push(Extent::Ragged(offsets));
                }
            }
            counts.push(name);
        }
        let indices = extents.iter().map(|_| format!("p{}", self.environment.fresh())).collect();
        let first_stored = first_stored(&kernel.space);
        Some(Points { extents, indices, first_stored, counts, backwards })
    }

    /// Memory for so many elements of an array; its name.
    fn room(&mut self, array: Var, count: &str) -> String {
        let name = format!("a{}", self.environment.fresh());
        self.line(&format!("TAKE({}, {name}, {count});", self.type_name(array)));
        name
    }

    /// Opens the loops over the rows, in a block of their own. Lanes are the innermost of them.
    fn open_rows(
        &mut self,
        points: &Points,
        lanes: &mut Option<Lanes>,
        folds: &[Fold<'_>],
    ) -> Option<()> {
        self.open("{");
        let rows = points.extents.len() - 1;
        for at in 0..rows {
            if let Some(lanes) = lanes.as_mut().filter(|_| at + 1 == rows) {
                self.begin_lanes(lanes, folds, points)?;
            }
            self.open_dimension(points, at)?;
        }
        Some(())
    }

    fn open_dimension(&mut self, points: &Points, at: usize) -> Option<()> {
        let index = &points.indices[at];
        let (begin, end) = match &points.extents[at] {
            Extent::Dense(extent) => ("0".to_owned(), extent.clone()),
            Extent::Ragged(offsets) => {
                let row = points.position(at);
                let offsets = self.environment.elements(*offsets)?;
                (format!("{offsets}[{row}]"), format!("{offsets}[{row} + 1]"))
            }
        };
        let last = at + 1 == points.extents.len();
        self.open(&match points.backwards && last {
            false => format!("for (i64 {index} = {begin}; {index} < {end}; {index}++) {{"),
            true => format!("for (i64 {index} = {end}; {index}-- > {begin};) {{"),
        });
        Some(())
    }

    fn open(&mut self, line: &str) {
        self.line(line);
        self.indent += 1;
    }

    fn close(&mut self) {
        self.indent -= 1;
        self.line("}");
    }

    /// The epilogue at a point.
    fn follow(
        &mut self,
        epilogue: &weft_ir::plan::Epilogue,
        indices: &[String],
        known: &[Bound],
        to: &[String],
        at: &str,
    ) -> Option<()> {
        let mut bound = known.to_vec();
        let indices = epilogue.indices.iter().zip(indices);
        bound.extend(indices.map(|(&index, name)| (index, ScalarType::I64, name.clone())));
        let results = epilogue.stores.iter().map(|(operand, _)| *operand).collect();
        let code = Code { results, ..epilogue.code.clone() };
        let (values, _) = self.bound_code(&code, &bound)?;
        for (to, (value, _)) in to.iter().zip(values) {
            self.line(&format!("{to}[{at}] = {value};"));
        }
        Some(())
    }

    /// The statements of code in which these registers are bound; its results with their types, and all
    /// registers that are bound after it.
    fn bound_code(&mut self, code: &Code, bound: &[Bound]) -> Option<(Vec<Typed>, Vec<Bound>)> {
        self.environment.refused = false;
        let mut writer = Writer::new(&mut self.environment, &mut self.functions, self.indent);
        for (register, ty, name) in bound {
            writer.bind(*register, *ty, name.clone());
        }
        let values = writer.code(code);
        let types: Vec<ScalarType> = code.results.iter().map(|at| writer.ty(at)).collect();
        let known = writer.registers();
        let text = writer.finish();
        self.text.push_str(&text);
        let values = values.into_iter().zip(types).collect();
        (!self.environment.refused).then_some((values, known))
    }

    /// Copies of values under names that nothing else has.
    fn named(&mut self, values: &[Typed]) -> Vec<String> {
        let mut names = Vec::new();
        for (value, ty) in values {
            let name = format!("v{}", self.environment.fresh());
            self.line(&format!("const {} {name} = {value};", type_name(*ty)));
            names.push(name);
        }
        names
    }
}
