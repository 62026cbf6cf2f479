//! The text of a function that folds rows.

use std::fmt::Write;

use crate::lanes::INTERRUPTED;
use crate::lanes::segment::Node;
use crate::literal::literal;

use super::{Kind, Tree};

/// Text in progress.
#[derive(Default)]
pub(super) struct Text {
    pub(super) trees: Vec<Tree>,
    /// The types of the results.
    pub(super) types: Vec<&'static str>,
    /// Whether vector instructions do not pay.
    pub(super) one_by_one: bool,
    /// The addresses, up to the last index, of what is read one element behind the other.
    pub(super) wanted: Vec<String>,
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

    /// The loop over the rows.
    pub(super) fn all_rows(&mut self, nodes: &[Node], first_index: &str) {
        let fails = nodes.iter().any(|node| match node {
            Node::Segment(segment) => segment.fails,
            Node::Scalar(_) | Node::Loop(_) => false,
        });
        let types = self.types.clone();
        for (at, ty) in types.iter().enumerate() {
            self.line(1, &format!("{ty} *restrict const result_{at} = block->results[{at}];"));
            self.line(1, &format!("{ty} buffer_{at}[1024] __attribute__((aligned(64)));"));
            self.line(1, &format!("{ty} lanes_{at}[16] __attribute__((aligned(64)));"));
        }
        self.line(1, "const i64 *const offsets = block->offsets;");
        self.line(1, "for (i64 number = 0; number < block->count; number++) {");
        self.line(
            2,
            &format!("if ((number & 255) == 255 && *block->cancel) return {INTERRUPTED}U;"),
        );
        self.line(
            2,
            "const i64 start = offsets ? offsets[number] : block->position + number * block->steps;",
        );
        self.line(2, "const i64 limit = offsets ? offsets[number + 1] : start + block->steps;");
        self.line(2, "const i64 length = (limit < block->end ? limit : block->end) - start;");
        self.line(2, "if (length <= 0) {");
        (0..types.len()).for_each(|at| self.line(3, &format!("result_{at}[number] = 0;")));
        self.line(3, "continue;");
        self.line(2, "}");
        self.line(2, "const i64 row = block->row + (block->advance ? number : 0);");
        self.line(2, &format!("const i64 first_index = {first_index};"));
        self.scalars(2, nodes);
        self.line(2, "u32 failed = 0;");
        self.line(2, "if (length <= 64) {");
        self.chain(nodes);
        self.line(3, "continue;");
        self.line(2, "}");
        if self.one_by_one {
            self.line(2, "if (length <= 4096) {");
            self.chains(nodes);
            self.line(3, "continue;");
            self.line(2, "}");
        }
        self.blocks(nodes, fails);
        self.line(1, "}");
        self.line(1, "return 0;");
    }

    /// The statements of one element, whose values get names.
    fn values(&mut self, indent: usize, nodes: &[Node]) {
        let types = self.types.clone();
        for (at, ty) in types.iter().enumerate() {
            self.line(indent, &format!("{ty} value_{at};"));
        }
        self.lines(indent, nodes);
    }

    /// Keeps a loop from becoming vector instructions. One that a check may leave stays as it is anyway.
    fn stay_scalar(&mut self, indent: usize, variable: &str, nodes: &[Node]) {
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
            self.line(3, &format!("{ty} total_{at} = {first};"));
        }
        self.line(3, "for (i64 at = 0; at < length; at++) {");
        self.stay_scalar(4, "at", nodes);
        self.values(4, nodes);
        for (number, tree) in trees.iter().enumerate() {
            self.grow(4, number, tree, "at == 0", ["&total_#", "value_#"]);
        }
        self.line(3, "}");
        self.line(3, "if (failed) return failed;");
        for at in 0..self.types.len() {
            self.line(3, &format!("result_{at}[number] = total_{at};"));
        }
        self.trees = trees;
    }

    /// A row of blocks that make up one block of the second level of the tree at most: four blocks at a
    /// time, then those that are left.
    fn chains(&mut self, nodes: &[Node]) {
        for (at, ty) in self.types.clone().into_iter().enumerate() {
            self.line(3, &format!("{ty} whole_{at} = 0;"));
        }
        self.line(3, "i64 base = 0;");
        self.side_by_side(nodes, "base + 256 <= length", 4);
        self.side_by_side(nodes, "base < length", 1);
        for at in 0..self.types.len() {
            self.line(3, &format!("result_{at}[number] = whole_{at};"));
        }
    }

    /// The loop over so many blocks at a time: whole ones, or one that may end early.
    fn side_by_side(&mut self, nodes: &[Node], condition: &str, abreast: usize) {
        let trees = std::mem::take(&mut self.trees);
        self.line(3, &format!("for (; {condition}; base += {}) {{", 64 * abreast));
        for lane in 0..abreast {
            for (at, first) in firsts(&trees) {
                let ty = self.types[at];
                self.line(4, &format!("{ty} total_{at}_{lane} = {first};"));
            }
        }
        let size = if abreast == 1 { "length - base < 64 ? length - base : 64" } else { "64" };
        self.line(4, &format!("const i64 size = {size};"));
        self.line(4, "for (i64 element = 0; element < size; element++) {");
        self.stay_scalar(5, "element", nodes);
        for lane in 0..abreast {
            self.line(5, "{");
            self.line(6, &format!("const i64 at = base + {} + element;", 64 * lane));
            self.values(6, nodes);
            for (number, tree) in trees.iter().enumerate() {
                let total = format!("&total_#_{lane}");
                self.grow(6, number, tree, "element == 0", [&total, "value_#"]);
            }
            self.line(5, "}");
        }
        self.line(4, "}");
        for lane in 0..abreast {
            for (number, tree) in trees.iter().enumerate() {
                let first = if lane == 0 { "base == 0" } else { "false" };
                let combined = combine(number, tree, "&whole_#", &format!("total_#_{lane}"));
                let numbers = tree.components.iter().map(|&(at, _)| at);
                let copies: String =
                    numbers.map(|at| format!("whole_{at} = total_{at}_{lane}; ")).collect();
                self.line(4, &format!("if ({first}) {{ {copies}}} else {combined}"));
            }
        }
        self.line(3, "}");
        self.trees = trees;
    }

    /// Combines a value with the total, or makes it the total if it is the first.
    fn grow(
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

    /// A row of several blocks.
    fn blocks(&mut self, nodes: &[Node], fails: bool) {
        let trees = std::mem::take(&mut self.trees);
        for (number, tree) in trees.iter().enumerate() {
            if let Kind::Exact(neutral) = &tree.kind {
                let (at, neutral) = (tree.components[0].0, literal(*neutral));
                self.line(
                    2,
                    &format!("for (i64 lane = 0; lane < 16; lane++) lanes_{at}[lane] = {neutral};"),
                );
            } else {
                self.line(2, &format!("struct KERNEL_tree_{number} tree_{number};"));
                self.line(
                    2,
                    &format!(
                        "for (i64 level = 0; level < 8; level++) tree_{number}.counts[level] = 0;"
                    ),
                );
            }
        }
        self.line(2, "for (i64 base = 0; base < length; base += 1024) {");
        self.line(3, "const i64 size = length - base < 1024 ? length - base : 1024;");
        if !self.one_by_one {
            let reduction = if fails { " reduction(|:failed)" } else { "" };
            self.line(3, &format!("#pragma omp simd{reduction}"));
        }
        self.line(3, "for (i64 element = 0; element < size; element++) {");
        if self.one_by_one {
            self.line(4, "ONE_BY_ONE(element);");
        }
        self.line(4, "const i64 at = base + element;");
        self.values(4, nodes);
        for at in 0..self.types.len() {
            self.line(4, &format!("buffer_{at}[element] = value_{at};"));
        }
        self.line(3, "}");
        self.line(3, "if (failed) return failed;");
        // A sum has what is wanted loaded meanwhile, if it is one stream: more at a time would be in each
        // other's way.
        let is_sum = |tree: &Tree| matches!(tree.kind, Kind::Sum);
        let mut wanted: Vec<String> =
            self.wanted.iter().map(|at| format!("{at}first_index + base + 1024")).collect();
        let by_sum = wanted.len() == 1 && trees.iter().any(is_sum);
        let mut meanwhile = if by_sum { wanted.pop() } else { None };
        for address in wanted {
            self.line(3, &format!("WANTED_SOON({address});"));
        }
        self.line(3, "const i64 blocks = (size + 63) >> 6;");
        for (number, tree) in trees.iter().enumerate() {
            match tree.kind {
                Kind::Sum => self.sum(number, tree, meanwhile.take()),
                Kind::Exact(_) => self.any_order(number, tree),
                Kind::Any => self.any_operator(number, tree),
            }
        }
        self.line(2, "}");
        for (number, tree) in trees.iter().enumerate() {
            let at = tree.components[0].0;
            if let Kind::Exact(_) = tree.kind {
                let combine = combine(number, tree, "&lanes_#[0]", "lanes_#[lane]");
                self.line(2, &format!("for (i64 lane = 1; lane < 16; lane++) {combine}"));
                self.line(2, &format!("result_{at}[number] = lanes_{at}[0];"));
            } else {
                let results = listed(tree, "&result_#[number]");
                self.line(2, &format!("KERNEL_finish_{number}(&tree_{number}, {results});"));
            }
        }
        self.trees = trees;
    }

    /// The sums of the blocks of the buffer, which have elements from an address on loaded.
    fn sum(&mut self, number: usize, tree: &Tree, wanted: Option<String>) {
        let (at, ty) = tree.components[0];
        let wanted = wanted.map_or("0".to_owned(), |at| format!("(const {ty} *)({at})"));
        let fill = format!("buffer_{at}[element] = -0.0;");
        self.line(3, &format!("for (i64 element = size; element < 64 * blocks; element++) {fill}"));
        self.line(3, &format!("add_blocks_{ty}(lanes_{at}, buffer_{at}, blocks, {wanted});"));
        self.line(3, &format!("KERNEL_climb_{number}(&tree_{number}, blocks, lanes_{at});"));
    }

    fn any_order(&mut self, number: usize, tree: &Tree) {
        self.line(3, "for (i64 first = 0; first + 16 <= size; first += 16) {");
        self.line(4, "#pragma omp simd");
        let combined = combine(number, tree, "&lanes_#[lane]", "buffer_#[first + lane]");
        self.line(4, &format!("for (i64 lane = 0; lane < 16; lane++) {combined}"));
        self.line(3, "}");
        let combined = combine(number, tree, "&lanes_#[0]", "buffer_#[element]");
        self.line(
            3,
            &format!("for (i64 element = size & ~15LL; element < size; element++) {combined}"),
        );
    }

    fn any_operator(&mut self, number: usize, tree: &Tree) {
        let numbers: Vec<usize> = tree.components.iter().map(|&(at, _)| at).collect();
        let types = self.types.clone();
        let block = |text: &mut Text, lane: &str, end: &str| {
            for &at in &numbers {
                text.line(4, &format!("{} total_{at} = buffer_{at}[64 * {lane}];", types[at]));
            }
            let combine = combine(number, tree, "&total_#", "buffer_#[element]");
            text.line(
                4,
                &format!(
                    "for (i64 element = 64 * {lane} + 1; element < {end}; element++) {combine}"
                ),
            );
            for &at in &numbers {
                text.line(4, &format!("lanes_{at}[{lane}] = total_{at};"));
            }
        };
        self.line(3, "#pragma omp simd");
        self.line(3, "for (i64 lane = 0; lane < (size >> 6); lane++) {");
        block(self, "lane", "64 * lane + 64");
        self.line(3, "}");
        self.line(3, "if ((size >> 6) < blocks) {");
        self.line(4, "const i64 last = blocks - 1;");
        block(self, "last", "size");
        self.line(3, "}");
        let lanes = listed(tree, "lanes_#");
        self.line(3, &format!("KERNEL_climb_{number}(&tree_{number}, blocks, {lanes});"));
    }
}

/// What the total of each result begins with.
fn firsts(trees: &[Tree]) -> Vec<(usize, String)> {
    let mut firsts = Vec::new();
    for tree in trees {
        for &(at, _) in &tree.components {
            firsts.push((
                at,
                match &tree.kind {
                    Kind::Sum => "-0.0".to_owned(),
                    Kind::Exact(neutral) => literal(*neutral),
                    Kind::Any => "0".to_owned(),
                },
            ));
        }
    }
    firsts
}

/// An expression per component, in which `#` stands for its number.
fn listed(tree: &Tree, of: &str) -> String {
    let each = tree.components.iter().map(|(at, _)| of.replace('#', &at.to_string()));
    each.collect::<Vec<String>>().join(", ")
}

/// The statement that combines what is on the left, given by address, with what is on the right.
fn combine(number: usize, tree: &Tree, left: &str, right: &str) -> String {
    format!("KERNEL_combine_{number}({}, {});", listed(tree, left), listed(tree, right))
}
