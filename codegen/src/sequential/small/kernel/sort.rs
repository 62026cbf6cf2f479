//! Sorts: keys become unsigned integers in the total order, and positions are merged by them.

use weft_ir::ScalarType;
use weft_ir::flat::Var;
use weft_ir::plan::{Kernel, Sink};

use super::super::super::Function;
use super::{Extent, Points, Typed};

/// A sort at work.
pub(super) struct Sort {
    /// What it yields, and where that is.
    pub(super) result: (Var, String),
    /// The keys as bits, by their place in storage, component by component.
    keys: Vec<String>,
    /// Room to merge a row in.
    spare: String,
    descending: bool,
}

impl Function<'_> {
    /// The sort of a kernel, if it has one, with memory for its order and for its keys.
    pub(super) fn sort(&mut self, kernel: &Kernel, points: &Points) -> Option<Sort> {
        let (keys, descending, result) = kernel.sinks.iter().find_map(|sink| match sink {
            Sink::Sort { keys, descending, order } => Some((keys.len(), *descending, *order)),
            _ => None,
        })?;
        let count = points.points();
        let order = self.room(result, count);
        let mut own = |ty: &str, name: &str| {
            let name = format!("{name}{}", self.environment.fresh());
            self.line(&format!("TAKE({ty}, {name}, {count});"));
            name
        };
        let keys = (0..keys).map(|_| own("u64", "keys")).collect();
        let spare = own("i64", "spare");
        Some(Sort { result: (result, order), keys, spare, descending })
    }

    /// Notes the key of a point.
    pub(super) fn sort_point(&mut self, sort: &Sort, key: &[Typed], at: &str) {
        let flip = if sort.descending { "~" } else { "" };
        for (keys, (value, ty)) in sort.keys.iter().zip(key) {
            self.line(&format!("{keys}[{at}] = {flip}{};", ordered(*ty, value)));
        }
    }

    /// Sorts a row all of whose points have been met.
    pub(super) fn end_sort(&mut self, sort: &Sort, points: &Points) -> Option<()> {
        let row = points.at_row();
        // An order tells places in rows, but of ragged rows places in storage.
        let (from, count, base) = match points.extents.last()? {
            Extent::Dense(extent) => (format!("({row}) * {extent}"), extent.clone(), "0"),
            Extent::Ragged(offsets) => {
                let offsets = self.environment.elements(*offsets)?;
                let count = format!("{offsets}[{row} + 1] - from");
                (format!("{offsets}[{row}]"), count, "from")
            }
        };
        self.open("{");
        self.line(&format!("const i64 from = {from}, count = {count};"));
        self.line("if (count > MOST_OF_SORT) LEAVE;");
        let keys: Vec<String> = sort.keys.iter().map(|keys| format!("{keys} + from")).collect();
        self.line(&format!("const u64 *const keys[] = {{{}}};", keys.join(", ")));
        let (components, order, spare) = (keys.len(), &sort.result.1, &sort.spare);
        self.line(&format!(
            "sort_row(keys, {components}, count, {base}, {order} + from, {spare});"
        ));
        self.close();
        Some(())
    }
}

/// A key as bits that are in its order.
fn ordered(ty: ScalarType, value: &str) -> String {
    match ty {
        ScalarType::F32 | ScalarType::F64 => format!("ordered_{}({value})", ty.name()),
        ScalarType::I8 | ScalarType::I16 | ScalarType::I32 | ScalarType::I64 => {
            format!("((u64)({value}) ^ 1ULL << 63)")
        }
        ScalarType::U8
        | ScalarType::U16
        | ScalarType::U32
        | ScalarType::U64
        | ScalarType::Char
        | ScalarType::Bool => format!("(u64)({value})"),
    }
}
