//! The text of what folds a row of several blocks.

use weft_ir::Scalar;

use crate::dialect::type_name;
use crate::lanes::segment::Node;
use crate::literal::literal;

use super::text::{Text, combine, firsts, listed};
use super::{Kind, Tree};

impl Text {
    /// A row of blocks that make up one block of the second level of the tree at most: up to four blocks
    /// side by side, of which the last may end early. So short rows have what comes next loaded before, since
    /// the machine does not see that they are read in order.
    pub(super) fn chains(&mut self, nodes: &[Node]) {
        for stream in self.wanted.clone() {
            let lines = format!("(length * (i64)sizeof(*({stream}0)) + 63) >> 6");
            let soon = format!("LINES_SOON({stream}first_index + 256, {lines});");
            self.line(2, &format!("if (length < 512) {soon}"));
        }
        self.line(2, "for (i64 base = 0; base < length; base += 256) {");
        self.line(3, "const i64 size = length - base < 256 ? length - base : 256;");
        self.line(3, "const i64 blocks = (size + 63) >> 6, tail = size - 64 * (blocks - 1);");
        let trees = std::mem::take(&mut self.trees);
        for lane in 0..4 {
            for (at, first) in firsts(&trees) {
                let ty = self.types[at];
                self.line(3, &format!("{ty} total_{at}_{lane} = {first};"));
            }
        }
        self.line(3, "const i64 base_index = first_index + base;");
        self.line(3, "i64 index = base_index;");
        let bounds = [
            (4, "blocks == 4 ? tail : 0"),
            (3, "blocks == 4 ? 64 : blocks == 3 ? tail : 0"),
            (2, "blocks > 2 ? 64 : blocks == 2 ? tail : 0"),
            (1, "blocks > 1 ? 64 : tail"),
        ];
        for (abreast, bound) in bounds {
            self.line(3, &format!("const i64 end_{abreast} = base_index + ({bound});"));
            self.line(3, &format!("for (; index < end_{abreast}; index++) {{"));
            self.stay_scalar(4, "index", nodes);
            for lane in 0..abreast {
                self.line(4, "{");
                self.line(5, &format!("const i64 at = index - first_index + {};", 64 * lane));
                self.values(5, nodes);
                for (number, tree) in trees.iter().enumerate() {
                    let total = format!("&total_#_{lane}");
                    let any = Tree { components: tree.components.clone(), kind: Kind::Any };
                    let tree = if matches!(tree.kind, Kind::Products) { &any } else { tree };
                    self.grow(5, number, tree, "index == base_index", [&total, "value_#"]);
                }
                self.line(4, "}");
            }
            self.line(3, "}");
        }
        for lane in 0..4 {
            for (number, tree) in trees.iter().enumerate() {
                let combined = combine(number, tree, "&total_#", &format!("total_#_{lane}"));
                if lane > 0 {
                    self.line(3, &format!("if (blocks > {lane}) {combined}"));
                    continue;
                }
                let numbers = tree.components.iter().map(|&(at, _)| at);
                let copies: String =
                    numbers.map(|at| format!("total_{at} = total_{at}_0; ")).collect();
                self.line(3, &format!("if (base == 0) {{ {copies}}} else {combined}"));
            }
        }
        self.line(2, "}");
        self.trees = trees;
        self.line(2, "if (failed) return failed;");
    }

    /// A row of several blocks.
    pub(super) fn blocks(&mut self, nodes: &[Node], fails: bool) {
        let summed = self.summed.take();
        for (at, ty) in self.types.clone().into_iter().enumerate() {
            if summed.is_none() {
                self.line(2, &format!("{ty} buffer_{at}[1024] __attribute__((aligned(64)));"));
            }
            self.line(2, &format!("{ty} lanes_{at}[16] __attribute__((aligned(64)));"));
        }
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
                let none = format!("tree_{number}.counts[level] = 0;");
                self.line(2, "if (length > 4096)");
                self.line(3, &format!("for (i64 level = 0; level < 8; level++) {none}"));
            }
        }
        self.line(2, "for (i64 base = 0; base < length; base += 1024) {");
        self.line(3, "const i64 size = length - base < 1024 ? length - base : 1024;");
        if summed.is_none() {
            self.fill_buffers(nodes, fails);
        }
        // A sum has what is wanted loaded meanwhile, if it is one stream: more at a time would be in each
        // other's way.
        let is_sum = |tree: &Tree| matches!(tree.kind, Kind::Sum);
        // What is summed where it stands is asked for eight kilobytes before.
        let ahead = match summed {
            Some(_) if self.types[..] == ["f32"] => 2048,
            _ => 1024,
        };
        let mut wanted: Vec<String> =
            self.wanted.iter().map(|at| format!("{at}first_index + base + {ahead}")).collect();
        let by_sum = wanted.len() == 1 && trees.iter().any(is_sum);
        let mut meanwhile = if by_sum { wanted.pop() } else { None };
        for address in wanted {
            self.line(3, &format!("WANTED_SOON({address});"));
        }
        self.line(3, "const i64 blocks = (size + 63) >> 6;");
        for (number, tree) in trees.iter().enumerate() {
            match tree.kind {
                Kind::Sum => self.sum(number, tree, summed.as_deref(), meanwhile.take()),
                Kind::Exact(_) => self.any_order(number, tree),
                Kind::Products | Kind::Any => self.any_operator(number, tree),
            }
        }
        self.line(2, "}");
        for (number, tree) in trees.iter().enumerate() {
            let at = tree.components[0].0;
            if let Kind::Exact(_) = tree.kind {
                let combine = combine(number, tree, "&lanes_#[0]", "lanes_#[lane]");
                self.line(2, &format!("for (i64 lane = 1; lane < 16; lane++) {combine}"));
                self.line(2, &format!("total_{at} = lanes_{at}[0];"));
            } else {
                let totals = listed(tree, "&total_#");
                let finish = format!("KERNEL_finish_{number}(&tree_{number}, {totals});");
                self.line(2, &format!("if (length > 4096) {finish}"));
            }
        }
        self.trees = trees;
    }

    /// The values of up to sixteen blocks.
    fn fill_buffers(&mut self, nodes: &[Node], fails: bool) {
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
    }

    /// The sums of the blocks of the buffer, or of an array, which have elements from an address on loaded.
    fn sum(&mut self, number: usize, tree: &Tree, summed: Option<&str>, wanted: Option<String>) {
        let (at, ty) = tree.components[0];
        let wanted = wanted.map_or("0".to_owned(), |at| format!("(const {ty} *)({at})"));
        if let Some(address) = summed {
            let of = format!("{address}first_index + base");
            self.line(3, &format!("add_array_{ty}(lanes_{at}, {of}, size, {wanted});"));
            return self.climbs(number, tree, &format!("lanes_{at}"));
        }
        let fill = format!("buffer_{at}[element] = -0.0;");
        self.line(3, &format!("for (i64 element = size; element < 64 * blocks; element++) {fill}"));
        self.line(3, &format!("add_blocks_{ty}(lanes_{at}, buffer_{at}, blocks, {wanted});"));
        self.climbs(number, tree, &format!("lanes_{at}"));
    }

    fn any_order(&mut self, number: usize, tree: &Tree) {
        if let Kind::Exact(neutral @ (Scalar::F32(_) | Scalar::F64(_))) = &tree.kind {
            return self.extreme(number, tree, *neutral);
        }
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

    /// The greatest or the least float of the buffer, beyond which there is the neutral one.
    fn extreme(&mut self, number: usize, tree: &Tree, neutral: Scalar) {
        let (at, ty) = (tree.components[0].0, type_name(neutral.ty()));
        let is_least = matches!(neutral, Scalar::F32(value) if value > 0.0)
            || matches!(neutral, Scalar::F64(value) if value > 0.0);
        let name = if is_least { "least" } else { "greatest" };
        let fill = format!("buffer_{at}[element] = {};", literal(neutral));
        self.line(3, &format!("const i64 whole_{at} = (size + 31) & ~31LL;"));
        self.line(3, &format!("for (i64 element = size; element < whole_{at}; element++) {fill}"));
        let best = format!("{name}_{ty}(buffer_{at}, whole_{at})");
        self.line(3, &combine(number, tree, "&lanes_#[0]", &best));
    }

    fn any_operator(&mut self, number: usize, tree: &Tree) {
        let numbers: Vec<usize> = tree.components.iter().map(|&(at, _)| at).collect();
        let types = self.types.clone();
        let block =
            |text: &mut Text, lane: &str, end: &str, neutral: Option<&[(usize, String)]>| {
                for (component, &at) in numbers.iter().enumerate() {
                    let first = match neutral {
                        Some(firsts) => firsts[component].1.clone(),
                        None => format!("buffer_{at}[64 * {lane}]"),
                    };
                    text.line(4, &format!("{} total_{at} = {first};", types[at]));
                }
                let combine = combine(number, tree, "&total_#", "buffer_#[element]");
                let begin = format!("64 * {lane} + {}", u8::from(neutral.is_none()));
                text.line(
                    4,
                    &format!("for (i64 element = {begin}; element < {end}; element++) {combine}"),
                );
                for &at in &numbers {
                    text.line(4, &format!("lanes_{at}[{lane}] = total_{at};"));
                }
            };
        // From what changes no other, the compiler sees which component stays as it is.
        let neutral =
            matches!(tree.kind, Kind::Products).then(|| firsts(std::slice::from_ref(tree)));
        self.line(3, "#pragma omp simd");
        self.line(3, "for (i64 lane = 0; lane < (size >> 6); lane++) {");
        block(self, "lane", "64 * lane + 64", neutral.as_deref());
        self.line(3, "}");
        self.line(3, "if ((size >> 6) < blocks) {");
        self.line(4, "const i64 last = blocks - 1;");
        block(self, "last", "size", None);
        self.line(3, "}");
        let lanes = listed(tree, "lanes_#");
        self.climbs(number, tree, &lanes);
    }

    /// What the blocks at hand have come to meets what came before. The blocks of a row that make up one block
    /// of the second level at most need no tree.
    fn climbs(&mut self, number: usize, tree: &Tree, lanes: &str) {
        let first: String =
            tree.components.iter().map(|(at, _)| format!("total_{at} = lanes_{at}[0]; ")).collect();
        let next = |lane: &str| combine(number, tree, "&total_#", &format!("lanes_#[{lane}]"));
        self.line(3, "if (length <= 4096) {");
        self.line(4, &format!("if (base == 0) {{ {first}}} else {}", next("0")));
        self.line(4, &format!("for (i64 lane = 1; lane < blocks; lane++) {}", next("lane")));
        self.line(3, "} else {");
        self.line(4, &format!("KERNEL_climb_{number}(&tree_{number}, blocks, {lanes});"));
        self.line(3, "}");
    }
}
