//! The text of a function that folds rows.

use std::fmt::Write;

use crate::lanes::INTERRUPTED;
use crate::lanes::segment::Node;
use crate::literal::literal;

use super::{Kind, SIDE_BY_SIDE, Tree};

/// Text in progress.
#[derive(Default)]
pub(super) struct Text {
    pub(super) trees: Vec<Tree>,
    /// The types of the results.
    pub(super) types: Vec<&'static str>,
    /// Whether the rows have offsets.
    pub(super) ragged: bool,
    /// How many dimensions number the rows.
    pub(super) outer: usize,
    /// Whether rows can be lanes.
    pub(super) side_by_side: bool,
    /// Whether vector instructions do not pay.
    pub(super) one_by_one: bool,
    /// The addresses, up to the last index, of what is read one element behind the other.
    pub(super) wanted: Vec<String>,
    /// Where the rows of an array stand that are summed as they are.
    pub(super) summed: Option<String>,
    pub(super) out: String,
}

impl Text {
    pub(super) fn line(&mut self, indent: usize, line: &str) {
        let margin = "  ".repeat(indent);
        writeln!(self.out, "{margin}{line}").expect("a string takes all");
    }

    /// The statements that use no lanes.
    pub(super) fn scalars(&mut self, indent: usize, nodes: &[Node]) {
        for node in nodes {
            if let Node::Scalar(statement) = node {
                self.line(indent, statement);
            }
        }
    }

    /// The statements of one element.
    pub(super) fn lines(&mut self, indent: usize, nodes: &[Node]) {
        for node in nodes {
            let Node::Segment(segment) = node else { continue };
            for line in &segment.lines {
                match &line.defines {
                    Some((name, ty)) => {
                        self.line(indent, &format!("const {ty} {name} = {};", line.text));
                    }
                    None => self.line(indent, &line.text),
                }
            }
        }
    }

    /// What the next tree is at any time, and the functions by which it grows.
    pub(super) fn climb(&mut self, tree: &Tree) {
        if matches!(tree.kind, Kind::Exact(_)) {
            return;
        }
        let number = self.trees.len();
        let count = tree.components.len();
        let types: Vec<&str> =
            tree.components.iter().map(|&(_, ty)| crate::dialect::type_name(ty)).collect();
        let each =
            |of: &dyn Fn(usize) -> String| (0..count).map(of).collect::<Vec<String>>().join(", ");
        let all = |of: &dyn Fn(usize) -> String| (0..count).map(of).collect::<Vec<String>>();
        let tree = format!("struct KERNEL_tree_{number}");
        let combine = |left: &str, right: &str| {
            let left = each(&|at| left.replace('#', &at.to_string()));
            let right = each(&|at| right.replace('#', &at.to_string()));
            format!("KERNEL_combine_{number}({left}, {right});")
        };
        self.line(0, &format!("{tree} {{"));
        self.line(1, "i64 counts[8];");
        all(&|at| format!("{} level_{at}[8];", types[at])).iter().for_each(|of| self.line(1, of));
        self.line(0, "};");

        let lanes = each(&|at| format!("const {} *const lanes_{at}", types[at]));
        self.line(0, &format!("FUNCTION void KERNEL_climb_{number}({tree} *const tree,"));
        self.line(2, &format!("const i64 count, {lanes}) {{"));
        all(&|at| format!("{} value_{at} = lanes_{at}[0];", types[at]))
            .iter()
            .for_each(|of| self.line(1, of));
        self.line(1, "if (tree->counts[0] & 63) {");
        all(&|at| format!("value_{at} = tree->level_{at}[0];"))
            .iter()
            .for_each(|of| self.line(2, of));
        self.line(2, &combine("&value_#", "lanes_#[0]"));
        self.line(1, "}");
        self.line(1, "for (i64 lane = 1; lane < count; lane++) {");
        self.line(2, &combine("&value_#", "lanes_#[lane]"));
        self.line(1, "}");
        let keep = all(&|at| format!("tree->level_{at}[level] = value_{at};"));
        self.line(1, "i64 level = 0;");
        keep.iter().for_each(|of| self.line(1, of));
        self.line(1, "tree->counts[0] += count;");
        self.line(1, "while ((tree->counts[level] & 63) == 0) {");
        self.line(2, "level++;");
        self.line(2, "if (tree->counts[level]++ & 63) {");
        let value = all(&|at| format!("const {} more_{at} = value_{at};", types[at]));
        value.iter().for_each(|of| self.line(3, of));
        all(&|at| format!("value_{at} = tree->level_{at}[level];"))
            .iter()
            .for_each(|of| self.line(3, of));
        self.line(3, &combine("&value_#", "more_#"));
        self.line(2, "}");
        keep.iter().for_each(|of| self.line(2, of));
        self.line(1, "}");
        self.line(0, "}");

        let results = each(&|at| format!("{} *const result_{at}", types[at]));
        self.line(0, &format!("FUNCTION void KERNEL_finish_{number}(const {tree} *const tree,"));
        self.line(2, &format!("{results}) {{"));
        self.line(1, "bool some = false;");
        self.line(1, "for (i64 level = 0; level < 8; level++) {");
        self.line(2, "if ((tree->counts[level] & 63) == 0) continue;");
        all(&|at| format!("{} value_{at} = tree->level_{at}[level];", types[at]))
            .iter()
            .for_each(|of| self.line(2, of));
        self.line(2, &format!("if (some) {}", combine("&value_#", "*result_#")));
        all(&|at| format!("*result_{at} = value_{at};")).iter().for_each(|of| self.line(2, of));
        self.line(2, "some = true;");
        self.line(1, "}");
        self.line(0, "}");
    }

    /// The functions: of a long row, of short ones up to the next long one, and of all. In the loop over short
    /// rows every instruction counts, and it has all registers.
    pub(super) fn all_rows(&mut self, parameters: &[String], nodes: &[Node], first_index: &str) {
        let fails = nodes.iter().any(|node| match node {
            Node::Segment(segment) => segment.fails,
            Node::Scalar(_) | Node::Loop(_) => false,
        });
        self.line(0, "static __attribute__((noinline)) u32 KERNEL_long_row(");
        self.line(2, "const struct block *restrict const block, const i64 number,");
        self.line(2, "const i64 start, const i64 length) {");
        parameters.iter().for_each(|line| self.line(1, line));
        self.results();
        for (at, ty) in self.types.clone().into_iter().enumerate() {
            self.line(1, &format!("{ty} total_{at} = 0;"));
        }
        self.indices("const i64", "block->row + number * block->advance");
        self.line(1, &format!("const i64 first_index = {first_index};"));
        self.scalars(1, nodes);
        self.line(1, "u32 failed = 0;");
        if self.one_by_one {
            self.line(1, "if (length <= 4096) {");
            self.chains(nodes);
            self.line(1, "} else {");
            self.blocks(nodes, fails);
            self.line(1, "}");
        } else {
            self.line(1, "{");
            self.blocks(nodes, fails);
            self.line(1, "}");
        }
        self.store(1, false);
        self.line(1, "return 0;");
        self.line(0, "}");

        self.line(0, "static __attribute__((noinline)) u32 KERNEL_short_rows(");
        self.line(
            2,
            "const struct block *restrict const block, i64 *const first, const i64 end) {",
        );
        parameters.iter().for_each(|line| self.line(1, line));
        self.results();
        self.ends();
        self.line(1, "i64 number = *first;");
        self.line(1, "const i64 advance = block->advance;");
        self.indices("i64", "block->row + number * advance");
        if self.ragged {
            self.line(1, "i64 limit = offsets[number];");
        }
        self.line(1, "for (; number < end; number++) {");
        if self.ragged {
            self.line(2, "const i64 start = limit;");
            self.line(2, "limit = offsets[number + 1];");
            self.line(2, "const i64 length = limit - start;");
        } else {
            self.length(2);
        }
        self.line(2, "if (length > 64) break;");
        self.line(2, &format!("const i64 first_index = {first_index};"));
        if self.side_by_side {
            self.rows_side_by_side(nodes);
        }
        self.scalars(2, nodes);
        self.line(2, "u32 failed = 0;");
        self.chain(nodes);
        self.next_row();
        self.line(1, "}");
        self.line(1, "*first = number;");
        self.line(1, "return 0;");
        self.line(0, "}");

        self.line(0, "u32 KERNEL(const struct block *restrict const block) {");
        self.ends();
        self.line(1, "for (i64 number = 0; number < block->count;) {");
        self.line(2, "const i64 rest = block->count - number;");
        self.line(2, "const i64 end = number + (rest < 256 ? rest : 256);");
        self.line(2, "while (number < end) {");
        // Before each long row: many of them take seconds.
        self.line(3, &format!("if (*block->cancel) return {INTERRUPTED}U;"));
        self.length(3);
        self.line(3, "const u32 failed = length > 64");
        self.line(4, "? KERNEL_long_row(block, number++, start, length)");
        self.line(4, ": KERNEL_short_rows(block, &number, end);");
        self.line(3, "if (failed) return failed;");
        self.line(2, "}");
        self.line(1, "}");
        self.line(1, "return 0;");
        self.line(0, "}");
    }

    /// The indices of a row, by its number.
    fn indices(&mut self, declare: &str, row: &str) {
        if self.outer > 0 {
            self.line(1, &format!("const i64 row = {row};"));
        }
        for at in 0..self.outer {
            let mut text = "row".to_owned();
            for dimension in (at + 1..self.outer).rev() {
                write!(text, " / block->extents[{dimension}]").expect("a string takes all");
            }
            if at > 0 {
                write!(text, " % block->extents[{at}]").expect("a string takes all");
            }
            self.line(1, &format!("{declare} index_{at} = {text};"));
        }
    }

    /// Goes on to the indices of the next row: divisions would take longer than a short row. Pieces of one row have the
    /// same ones.
    fn next_row(&mut self) {
        let Some(last) = self.outer.checked_sub(1) else { return };
        self.line(2, &format!("index_{last} += advance;"));
        for at in (1..self.outer).rev() {
            let margin = 2 + (last - at);
            self.line(margin, &format!("if (index_{at} == block->extents[{at}]) {{"));
            self.line(margin + 1, &format!("index_{at} = 0;"));
            self.line(margin + 1, &format!("index_{}++;", at - 1));
        }
        for at in 1..self.outer {
            self.line(2 + (last - at), "}");
        }
    }

    /// What says where rows end.
    fn ends(&mut self) {
        self.line(
            1,
            if self.ragged {
                "const i64 *restrict const offsets = block->offsets;"
            } else {
                "const i64 steps = block->steps, last = block->end;"
            },
        );
    }

    /// Where a row begins, and its length.
    fn length(&mut self, indent: usize) {
        if self.ragged {
            self.line(indent, "const i64 start = offsets[number];");
            self.line(indent, "const i64 length = offsets[number + 1] - start;");
        } else {
            self.line(indent, "const i64 start = block->position + number * steps;");
            self.line(
                indent,
                "const i64 length = (start + steps < last ? start + steps : last) - start;",
            );
        }
    }

    /// Where the results of rows go, and what they begin with: an element that changes no other, if there is
    /// one and they begin with nothing.
    fn results(&mut self) {
        self.line(1, "const bool begins = block->inputs != 0;");
        for (at, first) in firsts(&self.trees) {
            let ty = self.types[at];
            self.line(1, &format!("{ty} *restrict const result_{at} = block->results[{at}];"));
            let start = format!("begins ? *(const {ty} *)block->inputs[{at}] : {first}");
            self.line(1, &format!("const {ty} start_{at} = {start};"));
        }
    }

    /// Stores what a row has come to, from its totals, combined with the start values. A row without elements
    /// comes to its start value, or to anything if it has none.
    fn store(&mut self, indent: usize, may_be_empty: bool) {
        let trees = std::mem::take(&mut self.trees);
        for at in 0..self.types.len() {
            let ty = self.types[at];
            self.line(indent, &format!("{ty} begun_{at} = start_{at};"));
        }
        for (number, tree) in trees.iter().enumerate() {
            let some = if may_be_empty { "if (length > 0) " } else { "" };
            self.begin(indent, number, tree, some, "total_#");
        }
        for at in 0..self.types.len() {
            self.line(indent, &format!("result_{at}[number] = begun_{at};"));
        }
        self.trees = trees;
    }

    /// The statements of one element, whose values get names.
    pub(super) fn values(&mut self, indent: usize, nodes: &[Node]) {
        let types = self.types.clone();
        for (at, ty) in types.iter().enumerate() {
            self.line(indent, &format!("{ty} value_{at};"));
        }
        self.lines(indent, nodes);
    }

    /// Keeps a loop from becoming vector instructions. One that a check may leave stays as it is anyway.
    pub(super) fn stay_scalar(&mut self, indent: usize, variable: &str, nodes: &[Node]) {
        let leaves = |node: &Node| match node {
            Node::Segment(segment) => segment.lines.iter().any(|line| line.leaves),
            Node::Scalar(_) | Node::Loop(_) => false,
        };
        if !nodes.iter().any(leaves) {
            self.line(indent, &format!("ONE_BY_ONE({variable});"));
        }
    }

    /// A row that is no longer than a block.
    fn chain(&mut self, nodes: &[Node]) {
        let trees = std::mem::take(&mut self.trees);
        for (at, first) in firsts(&trees) {
            let ty = self.types[at];
            self.line(2, &format!("{ty} total_{at} = {first};"));
        }
        let products: Vec<usize> = trees
            .iter()
            .filter(|tree| matches!(tree.kind, Kind::Products))
            .flat_map(|tree| tree.components.iter().map(|&(at, _)| at))
            .collect();
        for &at in &products {
            self.line(2, &format!("{} last_{at} = 0;", self.types[at]));
        }
        // A loop over the index itself has fewer instructions.
        self.line(2, "const i64 limit_index = first_index + length;");
        self.line(2, "for (i64 index = first_index; index < limit_index; index++) {");
        self.stay_scalar(3, "index", nodes);
        self.line(3, "const i64 at = index - first_index;");
        self.values(3, nodes);
        for (number, tree) in trees.iter().enumerate() {
            self.grow(3, number, tree, "at == 0", ["&total_#", "value_#"]);
        }
        for at in &products {
            self.line(3, &format!("last_{at} = value_{at};"));
        }
        self.line(2, "}");
        // The only one of a block is combined by its reader.
        for at in &products {
            self.line(2, &format!("if (length == 1) total_{at} = last_{at};"));
        }
        self.line(2, "if (failed) return failed;");
        self.trees = trees;
        self.store(2, true);
    }

    /// Rows of one length whose numbers differ in the last index alone, if so many follow, as lanes.
    fn rows_side_by_side(&mut self, nodes: &[Node]) {
        let trees = std::mem::take(&mut self.trees);
        let last = self.outer - 1;
        self.line(2, "// Lengths of whole rows: only the last may be cut.");
        self.line(
            2,
            &format!(
                "if (advance == 1 && length == steps && length > 0 && end - number >= {SIDE_BY_SIDE}"
            ),
        );
        self.line(4, &format!("&& block->extents[{last}] - index_{last} >= {SIDE_BY_SIDE}"));
        self.line(4, &format!("&& last - start >= {SIDE_BY_SIDE} * steps) {{"));
        let declare = |name: &str| {
            let of = |(at, ty): (usize, &&str)| format!("{ty} {name}_{at}[{SIDE_BY_SIDE}];");
            self.types.iter().enumerate().map(of).collect::<Vec<String>>().join(" ")
        };
        let (totals, values) = (declare("totals"), declare("values"));
        self.line(3, &totals);
        self.each_lane(3, |text| {
            for (at, first) in firsts(&trees) {
                text.line(4, &format!("totals_{at}[lane] = {first};"));
            }
        });
        self.line(3, "for (i64 at = 0; at < length; at++) {");
        self.line(4, &values);
        self.each_lane(4, |text| {
            text.line(5, &format!("const i64 row_of_lane = index_{last} + lane;"));
            text.line(5, "{");
            text.line(6, &format!("const i64 index_{last} = row_of_lane;"));
            text.scalars(6, nodes);
            text.values(6, nodes);
            for at in 0..text.types.len() {
                text.line(6, &format!("values_{at}[lane] = value_{at};"));
            }
            text.line(5, "}");
        });
        self.each_lane(4, |text| {
            for (number, tree) in trees.iter().enumerate() {
                let names = ["&totals_#[lane]", "values_#[lane]"];
                text.grow(5, number, tree, "at == 0", names);
            }
        });
        self.line(3, "}");
        self.each_lane(3, |text| {
            for (at, ty) in text.types.clone().iter().enumerate() {
                text.line(4, &format!("{ty} begun_{at} = start_{at};"));
            }
            for (number, tree) in trees.iter().enumerate() {
                text.begin(4, number, tree, "", "totals_#[lane]");
            }
            for at in 0..text.types.len() {
                text.line(4, &format!("result_{at}[number + lane] = begun_{at};"));
            }
        });
        // The loop goes on to one more.
        let more = SIDE_BY_SIDE - 1;
        self.line(3, &format!("number += {more};"));
        self.line(3, &format!("index_{last} += {more};"));
        self.next_row();
        self.line(3, "continue;");
        self.line(2, "}");
        self.trees = trees;
    }

    fn each_lane(&mut self, indent: usize, write: impl FnOnce(&mut Text)) {
        self.line(indent, &format!("#pragma GCC unroll {SIDE_BY_SIDE}"));
        self.line(indent, &format!("for (i64 lane = 0; lane < {SIDE_BY_SIDE}; lane++) {{"));
        write(self);
        self.line(indent, "}");
    }

    /// Combines the start values of a row with what it has come to.
    fn begin(&mut self, indent: usize, number: usize, tree: &Tree, some: &str, total: &str) {
        let combined = combine(number, tree, "&begun_#", total);
        if !matches!(tree.kind, Kind::Products | Kind::Any) {
            // No branches: the machine had to foresee these too.
            self.line(indent, &combined);
            return;
        }
        let copy = |(at, _): &(usize, _)| {
            format!("begun_{at} = {}; ", total.replace('#', &at.to_string()))
        };
        let copies: String = tree.components.iter().map(copy).collect();
        self.line(indent, &format!("{some}{{ if (begins) {combined} else {{ {copies}}} }}"));
    }

    /// Combines a value with the total, or makes it the total if it is the first and the total is not what
    /// changes no other.
    pub(super) fn grow(
        &mut self,
        indent: usize,
        number: usize,
        tree: &Tree,
        is_first: &str,
        [total, value]: [&str; 2],
    ) {
        let combine = combine(number, tree, total, value);
        let name = total.trim_start_matches('&');
        if let Kind::Any = tree.kind {
            let copy = |&(at, _): &(usize, _)| {
                let at = at.to_string();
                format!("{} = {}; ", name.replace('#', &at), value.replace('#', &at))
            };
            let copies: String = tree.components.iter().map(copy).collect();
            self.line(indent, &format!("if ({is_first}) {{ {copies}}} else {combine}"));
        } else {
            self.line(indent, &combine);
        }
    }
}

/// What the total of each result begins with.
pub(super) fn firsts(trees: &[Tree]) -> Vec<(usize, String)> {
    let mut firsts = Vec::new();
    for tree in trees {
        for (component, &(at, _)) in tree.components.iter().enumerate() {
            firsts.push((
                at,
                match &tree.kind {
                    Kind::Products if component == 1 => "1".to_owned(),
                    Kind::Sum | Kind::Products => "-0.0".to_owned(),
                    Kind::Exact(neutral) => literal(*neutral),
                    Kind::Any => "0".to_owned(),
                },
            ));
        }
    }
    firsts
}

/// An expression per component, in which `#` stands for its number.
pub(super) fn listed(tree: &Tree, of: &str) -> String {
    let each = tree.components.iter().map(|(at, _)| of.replace('#', &at.to_string()));
    each.collect::<Vec<String>>().join(", ")
}

/// The statement that combines what is on the left, given by address, with what is on the right.
pub(super) fn combine(number: usize, tree: &Tree, left: &str, right: &str) -> String {
    format!("KERNEL_combine_{number}({}, {});", listed(tree, left), listed(tree, right))
}
