//! Functions that compute their results in strips (Note [Past the caches]).

use super::print::Text;
use super::segment::Node;
use super::{Builder, Stored};

/// The lanes of a strip.
const STRIP: usize = 256;

impl Builder<'_> {
    /// Whether the results are computed in strips: they are stored lane by lane, and no lane waits for
    /// others.
    pub(super) fn is_in_strips(&self) -> bool {
        self.loops == 0 && self.given.folds.is_empty() && !self.given.shared.contains(&true)
    }
}

impl Text {
    /// A function with results in these places; `rare` says whether there are slow paths that are
    /// rarely taken, `rows` how many dimensions there are if lanes run on from row to row.
    pub(super) fn in_strips(
        &mut self,
        places: &[Stored],
        parameters: &[String],
        nodes: &[Node],
        rare: bool,
        rows: Option<usize>,
    ) {
        self.grouped = true;
        let list = |of: &dyn Fn(usize, &Stored) -> String| listed(places, of);
        let names = list(&|at, _| format!("result_{at}"));
        self.whole = format!("KERNEL_whole(block, first, count, {names})");
        let mut part = |name: &str, attributes: &str, usual: bool| {
            self.usual = usual;
            self.line(0, &format!("static __attribute__(({attributes})) u32 KERNEL_{name}("));
            self.line(2, "const struct block *restrict const block, const i64 first,");
            let results = list(&|at, of| format!("{} *restrict const result_{at}", of.ty));
            self.line(2, &format!("const i64 count, {results}) {{"));
            if usual {
                self.line(1, "u32 rare = 0;");
            }
            parameters.iter().for_each(|line| self.line(1, line));
            self.nodes(1, nodes);
            self.returns();
            self.line(0, "}");
        };
        if rare {
            part("whole", "cold, noinline", false);
        }
        part("part", "noinline", rare);
        if let Some(dimensions) = rows {
            self.further_rows(places, dimensions - 1);
        }
        self.line(0, "u32 KERNEL(const struct block *restrict const block) {");
        self.line(1, "const i64 count = block->count;");
        self.line(1, "i64 first = 0;");
        for (at, Stored { ty, .. }) in places.iter().enumerate() {
            self.line(1, &format!("{ty} *const result_{at} = block->results[{at}];"));
        }
        if let Some(dimensions) = rows {
            self.line(1, "struct block row;");
            self.line(1, "copy_words(&row, block, sizeof row);");
            self.line(1, &format!("i64 indices[{dimensions}];"));
            self.line(1, "copy_words(indices, block->indices, sizeof indices);");
            self.line(1, "row.indices = indices;");
        }
        let call = |count: &str, results: &str| match rows {
            None => format!("KERNEL_part(block, first, {count}, {results})"),
            Some(_) => format!("KERNEL_rows(&row, indices, {count}, {results})"),
        };
        self.line(1, "if (block->past) {");
        for (at, Stored { ty, width }) in places.iter().enumerate() {
            let elements = STRIP * width;
            self.line(2, &format!("{ty} strip_{at}[{elements}] __attribute__((aligned(64)));"));
        }
        self.line(2, &format!("for (; first + {STRIP} <= count; first += {STRIP}) {{"));
        let strips = list(&|at, _| format!("strip_{at}"));
        self.line(3, &format!("const u32 failed = {};", call(&STRIP.to_string(), &strips)));
        self.line(3, "if (failed) return failed;");
        for (at, of) in places.iter().enumerate() {
            let to = format!("{}, strip_{at}, sizeof strip_{at}", of.address(at, "first"));
            self.line(3, &format!("write_past({to});"));
        }
        self.line(2, "}");
        self.line(2, "past_is_written();");
        self.line(1, "}");
        let rest = list(&|at, of| of.address(at, "first"));
        let call = call("count - first", &rest);
        self.line(1, &format!("return first < count ? {call} : 0;"));
        self.line(0, "}");
    }

    /// A function for lanes that run on to further rows, with results in these places; `last` is the number of the
    /// index along a row.
    fn further_rows(&mut self, places: &[Stored], last: usize) {
        let list = |of: &dyn Fn(usize, &Stored) -> String| listed(places, of);
        self.line(0, "FUNCTION u32 KERNEL_rows(struct block *restrict const row,");
        let results = list(&|at, of| format!("{} *restrict const result_{at}", of.ty));
        self.line(2, &format!("i64 *restrict const indices, const i64 count, {results}) {{"));
        self.line(1, "for (i64 done = 0; done < count;) {");
        self.line(2, &format!("const i64 rest = row->extents[{last}] - indices[{last}];"));
        self.line(2, "const i64 lanes = rest < count - done ? rest : count - done;");
        self.line(2, "row->count = lanes;");
        let results = list(&|at, of| of.address(at, "done"));
        self.line(2, &format!("const u32 failed = KERNEL_part(row, 0, lanes, {results});"));
        self.line(2, "if (failed) return failed;");
        self.line(2, "done += lanes;");
        self.line(2, "row->position += lanes;");
        self.line(2, &format!("indices[{last}] += lanes;"));
        let ends = "at > 0 && indices[at] == row->extents[at]";
        self.line(2, &format!("for (i64 at = {last}; {ends}; at--) {{"));
        self.line(3, "indices[at] = 0;");
        self.line(3, "indices[at - 1]++;");
        self.line(2, "}");
        self.line(1, "}");
        self.line(1, "return 0;");
        self.line(0, "}");
    }
}

impl Stored {
    /// The address of what a lane has in the place of this number.
    fn address(&self, at: usize, lane: &str) -> String {
        match self.width {
            1 => format!("result_{at} + {lane}"),
            width => format!("result_{at} + {lane} * {width}"),
        }
    }
}

/// What is written for each place, by its number and what it is.
fn listed(places: &[Stored], of: &dyn Fn(usize, &Stored) -> String) -> String {
    let each: Vec<String> = places.iter().enumerate().map(|(at, place)| of(at, place)).collect();
    each.join(", ")
}
