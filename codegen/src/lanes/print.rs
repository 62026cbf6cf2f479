//! The text of a function.
//!
//! Note [State in registers]. The state of lanes is written as arrays, which a compiler keeps in registers
//! for as long as it sees that nobody else looks at memory: so the flag that ends a run is read in a loop
//! of its own around some turns, and what folds along columns have come to is copied to arrays of the
//! function.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

use super::fold::reads_along_steps;
use super::segment::{Line, Node, Segment};
use super::{Builder, GROUP, INTERRUPTED, LaneFunction};
use crate::dialect::type_name;

/// How many turns of a loop there are from one look at the cancel flag to the next.
const TURNS: usize = 32;

/// The call of the function with slow paths.
const WHOLE: &str = "KERNEL_whole(block)";

/// Prints what has been built.
pub(super) fn print(mut builder: Builder<'_>) -> LaneFunction {
    let mut nodes = builder.scopes.pop().expect("the function is a scope").nodes;
    while drop_unused(&mut nodes) {}
    let mut plan = Plan::default();
    plan.declare(&builder.declared);
    plan.see(&nodes);
    let rare = nodes.iter().any(|node| match node {
        Node::Segment(segment) => segment.lines.iter().any(|line| line.rare.is_some()),
        Node::Scalar(_) | Node::Loop(_) => false,
    });
    let stepped = !builder.given.folds.is_empty();
    let grouped = builder.loops > 0 || stepped && !rare && !reads_along_steps(builder.given);
    let (lanes, out) = (plan.lanes(), String::new());
    let narrow = builder.loops > 0 && lanes.values().all(|ty| !ty.ends_with("64"));
    let group = if narrow { 2 * GROUP } else { GROUP };
    let counting = std::mem::take(&mut plan.counting);
    let whole = WHOLE.to_owned();
    let few = builder.skips;
    let mut text = Text { grouped, stepped, few, usual: false, whole, lanes, counting, out };
    let mut parameters = parameters(&builder);
    let folded = std::mem::take(&mut builder.folded);
    if !grouped {
        parameters.extend(folded.iter().enumerate().map(|(at, ty)| result(at, ty)));
    }
    if grouped {
        text.line(0, "FUNCTION u32 KERNEL_group(const struct block *restrict const block,");
        if few {
            text.line(1, "const i64 first, const i64 count, const i64 *restrict const points,");
            text.line(1, "const bool *restrict const skip) {");
        } else {
            text.line(0, "                          const i64 first, const i64 count) {");
        }
        parameters.iter().for_each(|line| text.line(1, line));
        let results = folded.iter().enumerate().map(|(at, ty)| (format!("result_{at}"), *ty));
        let between = plan.lanes().into_iter().map(|(name, ty)| (name, in_lanes(ty)));
        for (name, ty) in between.chain(results) {
            text.line(1, &format!("{ty} {name}_lanes[{group}] __attribute__((aligned(64)));"));
        }
        keep_in_lanes(&mut nodes, folded.len());
        text.steps(&nodes);
        text.folded(&folded);
        text.line(1, "return 0;");
        text.line(0, "}");
        if few {
            text.out.push_str(&builder.looping());
        }
        let groups = if few { super::few::GROUPS } else { GROUPS };
        text.out.push_str(&groups.replace("GROUP", &group.to_string()));
    } else if !builder.stored.is_empty() {
        let rows = builder.given.runs_on().then_some(builder.given.indices.len());
        text.in_strips(&builder.stored, &parameters, &nodes, rare, rows);
    } else {
        if rare {
            text.line(0, "static __attribute__((cold, noinline)) u32 KERNEL_whole(");
            text.line(0, "    const struct block *restrict const block) {");
            text.function(&parameters, &nodes);
            text.line(1, "return 0;");
            text.line(0, "}");
        }
        text.usual = rare;
        text.line(0, "u32 KERNEL(const struct block *restrict const block) {");
        text.function(&parameters, &nodes);
        text.returns();
        text.line(0, "}");
    }
    LaneFunction { text: text.out, functions: builder.functions, sites: builder.sites }
}

/// Whole groups, with a constant number of lanes, and the rest.
const GROUPS: &str = "static __attribute__((cold, noinline)) u32 KERNEL_rest(
    const struct block *restrict const block, const i64 first, const i64 count) {
  return KERNEL_group(block, first, count);
}
u32 KERNEL(const struct block *restrict const block) {
  i64 first = 0;
  for (; first + GROUP <= block->count; first += GROUP) {
    const u32 failed = KERNEL_group(block, first, GROUP);
    if (failed) return failed;
  }
  return first < block->count ? KERNEL_rest(block, first, block->count - first) : 0;
}
";

/// The declarations of what the function is given.
pub(super) fn parameters(builder: &Builder<'_>) -> Vec<String> {
    let mut lines = Vec::new();
    if builder.reads_in_place {
        lines.push("const i64 position = block->position;".to_owned());
    }
    for (&array, &dimensions) in &builder.strides {
        let (ty, is_scalar) = builder.given.arrays[array];
        let element = type_name(ty);
        let elements = format!("(const {element} *)block->arrays[{array}]");
        lines.push(if is_scalar {
            format!("const {element} a{array} = *{elements};")
        } else {
            format!("const {element} *restrict const a{array} = {elements};")
        });
        for dimension in 0..dimensions.saturating_sub(1) {
            lines.push(format!(
                "const i64 stride_{array}_{dimension} = block->strides[{array}][{dimension}];"
            ));
        }
    }
    lines
}

/// The declaration of where a result goes.
pub(super) fn result(at: usize, ty: &str) -> String {
    format!("{ty} *restrict const result_{at} = block->results[{at}];")
}

/// The type of the elements in which lanes are kept from one loop to the next. A compiler (GCC 12) finds no vectors for a loop
/// that reads truth values of a byte each beside elements of eight bytes that it gathers.
fn in_lanes(ty: &'static str) -> &'static str {
    if ty == "bool" { "u32" } else { ty }
}

/// Makes the results that are combined arrays of the function (Note [State in registers]).
fn keep_in_lanes(nodes: &mut [Node], results: usize) {
    for node in nodes {
        let Node::Segment(segment) = node else { continue };
        for line in &mut segment.lines {
            for at in 0..results {
                let (given, kept) =
                    (format!("result_{at}[at]"), format!("result_{at}_lanes[lane]"));
                line.text = line.text.replace(&given, &kept);
            }
        }
    }
}

/// Removes lines whose values nobody uses. Whether there were any.
pub(super) fn drop_unused(nodes: &mut Vec<Node>) -> bool {
    fn uses(nodes: &[Node], used: &mut BTreeSet<String>) {
        for node in nodes {
            match node {
                Node::Scalar(_) => {}
                Node::Loop(inner) => uses(inner, used),
                Node::Segment(segment) => {
                    let assigns = segment.assigns.iter().map(|(_, line)| line);
                    for line in segment.lines.iter().chain(assigns) {
                        used.extend(line.uses.iter().cloned());
                    }
                }
            }
        }
    }
    fn keep(nodes: &mut Vec<Node>, used: &BTreeSet<String>) -> bool {
        let mut dropped = false;
        nodes.retain_mut(|node| match node {
            Node::Scalar(_) => true,
            Node::Loop(inner) => {
                dropped |= keep(inner, used);
                true
            }
            Node::Segment(segment) => {
                let before = segment.lines.len();
                segment.lines.retain(|line| match &line.defines {
                    Some((name, _)) => used.contains(name),
                    None => true,
                });
                dropped |= segment.lines.len() < before;
                !segment.lines.is_empty() || !segment.assigns.is_empty()
            }
        });
        dropped
    }
    let mut used = BTreeSet::new();
    uses(nodes, &mut used);
    keep(nodes, &used)
}

/// Where values are defined and used.
#[derive(Default)]
struct Plan {
    /// The type of each value, and the segment that defines it; none for the state of a loop.
    defined: BTreeMap<String, (Option<usize>, &'static str)>,
    /// The segments that use each value.
    used: BTreeMap<String, BTreeSet<usize>>,
    /// The indices that count along the lanes, which every segment computes for itself: so the compiler
    /// sees that what is read there stands one element behind the other.
    counting: BTreeMap<String, String>,
}

impl Plan {
    fn declare(&mut self, arrays: &[(String, &'static str)]) {
        for (name, ty) in arrays {
            self.defined.insert(name.clone(), (None, ty));
        }
    }

    fn see(&mut self, nodes: &[Node]) {
        for node in nodes {
            match node {
                Node::Scalar(_) => {}
                Node::Loop(inner) => self.see(inner),
                Node::Segment(segment) => {
                    for Line { defines, text, uses, .. } in all_lines(segment) {
                        if let Some((name, ty)) = defines {
                            if *text == counted(name) {
                                self.counting.insert(name.clone(), text.clone());
                                continue;
                            }
                            self.defined.insert(name.clone(), (Some(segment.number), ty));
                        }
                        for name in uses {
                            self.used.entry(name.clone()).or_default().insert(segment.number);
                        }
                    }
                }
            }
        }
    }

    /// The values that lie in arrays: those that a segment uses which another defines.
    fn lanes(&self) -> BTreeMap<String, &'static str> {
        let crosses = |name: &String, by: Option<usize>| match (by, self.used.get(name)) {
            (None, _) => true,
            (Some(_), None) => false,
            (Some(by), Some(used)) => used.iter().any(|&segment| segment != by),
        };
        let values = self.defined.iter();
        values
            .filter(|(name, (by, _))| crosses(name, *by))
            .map(|(name, (_, ty))| (name.clone(), *ty))
            .collect()
    }
}

/// What an index is that counts along the lanes.
pub(super) fn counted(name: &str) -> String {
    format!("first_{name} + at")
}

fn all_lines(segment: &Segment) -> impl Iterator<Item = &Line> {
    segment.lines.iter().chain(segment.assigns.iter().map(|(_, line)| line))
}

/// Text in progress.
pub(super) struct Text {
    /// Whether lanes come in groups, or in strips.
    pub(super) grouped: bool,
    /// Whether it runs for one step after the other.
    stepped: bool,
    /// Whether the positions of lanes may be given (Note [Few lanes]).
    few: bool,
    /// Whether slow paths are left out (Note [Rare paths]).
    pub(super) usual: bool,
    /// The call of the function with these.
    pub(super) whole: String,
    /// The values that lie in arrays.
    lanes: BTreeMap<String, &'static str>,
    /// As in [`Plan`].
    counting: BTreeMap<String, String>,
    out: String,
}

impl Text {
    /// Nothing yet, of a group of lanes that has these nodes.
    pub(super) fn of_group(nodes: &[Node]) -> Text {
        let mut plan = Plan::default();
        plan.see(nodes);
        let (lanes, whole) = (plan.lanes(), String::new());
        let (counting, out) = (plan.counting, String::new());
        let (few, stepped, usual) = (false, false, false);
        Text { grouped: true, stepped, few, usual, whole, lanes, counting, out }
    }

    /// The text.
    pub(super) fn finish(self) -> String {
        self.out
    }

    pub(super) fn line(&mut self, indent: usize, line: &str) {
        let margin = "  ".repeat(indent);
        writeln!(self.out, "{margin}{line}").expect("a string takes all");
    }

    /// The body of a function over all lanes.
    fn function(&mut self, parameters: &[String], nodes: &[Node]) {
        self.line(1, "const i64 count = block->count;");
        if self.usual {
            self.line(1, "u32 rare = 0;");
        }
        parameters.iter().for_each(|line| self.line(1, line));
        self.steps(nodes);
    }

    /// The body, once or for each step (Note [Folds along columns]).
    fn steps(&mut self, nodes: &[Node]) {
        if !self.stepped {
            return self.nodes(1, nodes);
        }
        self.line(1, "const i64 last_step = block->steps;");
        self.line(1, "for (i64 step = 0; step < last_step; step++) {");
        self.nodes(2, nodes);
        self.line(1, "}");
    }

    /// Hands over the results that have been combined in arrays of the function.
    fn folded(&mut self, types: &[&'static str]) {
        if types.is_empty() {
            return;
        }
        types.iter().enumerate().for_each(|(at, ty)| self.line(1, &result(at, ty)));
        self.line(1, "#pragma omp simd");
        self.line(1, "for (i64 lane = 0; lane < count; lane++) {");
        for at in 0..types.len() {
            self.line(2, &format!("result_{at}[first + lane] = result_{at}_lanes[lane];"));
        }
        self.line(1, "}");
    }

    /// The end of a function.
    pub(super) fn returns(&mut self) {
        let result = if self.usual { format!("rare ? {} : 0", self.whole) } else { "0".to_owned() };
        self.line(1, &format!("return {result};"));
    }

    pub(super) fn nodes(&mut self, indent: usize, nodes: &[Node]) {
        for node in nodes {
            match node {
                Node::Scalar(statement) => self.line(indent, statement),
                Node::Segment(segment) => self.segment(indent, segment),
                Node::Loop(body) => {
                    self.line(indent, "for (bool ended = false; !ended;) {");
                    let poll = format!("if (*block->cancel) return {INTERRUPTED}U;");
                    self.line(indent + 1, &poll);
                    let turns = format!("for (i32 turn = 0; turn < {TURNS}; turn++) {{");
                    self.line(indent + 1, &turns);
                    self.nodes(indent + 2, body);
                    self.line(indent + 1, "}");
                    self.line(indent, "}");
                }
            }
        }
    }

    fn segment(&mut self, indent: usize, segment: &Segment) {
        let mut reductions = String::new();
        let failed = format!("failed_{}", segment.number);
        if segment.fails {
            self.line(indent, &format!("u32 {failed} = 0;"));
            write!(reductions, " reduction(|:{failed})").expect("a string takes all");
        }
        for flag in &segment.any {
            self.line(indent, &format!("u32 {flag} = 0;"));
            write!(reductions, " reduction(|:{flag})").expect("a string takes all");
        }
        if self.usual {
            reductions.push_str(" reduction(|:rare)");
        }
        self.line(indent, &format!("#pragma omp simd{reductions}"));
        if self.grouped {
            self.line(indent, "for (i64 lane = 0; lane < count; lane++) {");
            let counts =
                |line: &Line| line.uses.iter().any(|name| self.counting.contains_key(name));
            if all_lines(segment).any(|line| line.text.contains("at") || counts(line)) {
                let at = if self.few {
                    "points ? points[first + lane] : first + lane"
                } else {
                    "first + lane"
                };
                self.line(indent + 1, &format!("const i64 at = {at};"));
            }
        } else {
            self.line(indent, "for (i64 at = 0; at < count; at++) {");
        }
        self.body(indent + 1, segment, &failed);
        self.line(indent, "}");
        if segment.fails {
            // What was left out may be what a check has failed for.
            let result = if self.usual {
                format!("rare ? {} : {failed}", self.whole)
            } else {
                failed.clone()
            };
            self.line(indent, &format!("if ({failed}) return {result};"));
        }
    }

    fn body(&mut self, indent: usize, segment: &Segment, failed: &str) {
        let own: BTreeSet<&String> =
            segment.lines.iter().filter_map(|line| Some(&line.defines.as_ref()?.0)).collect();
        let used: BTreeSet<&String> = all_lines(segment).flat_map(|line| &line.uses).collect();
        for name in used {
            if let Some(counted) = self.counting.get(name).filter(|_| !own.contains(name)) {
                self.line(indent, &format!("const i64 {name} = {counted};"));
            } else if !own.contains(name) {
                let ty = self.lanes[name];
                let read = if in_lanes(ty) == ty { "" } else { " != 0" };
                self.line(indent, &format!("const {ty} {name} = {name}_lanes[lane]{read};"));
            }
        }
        for line in &segment.lines {
            match &line.defines {
                Some((name, ty)) => {
                    let mut value = &line.text;
                    if let (true, Some((usual, rare))) = (self.usual, &line.rare) {
                        self.line(indent, &format!("rare |= {rare} ? 1U : 0U;"));
                        value = usual;
                    }
                    self.line(indent, &format!("const {ty} {name} = {value};"));
                    if self.lanes.contains_key(name) {
                        self.line(indent, &format!("{name}_lanes[lane] = {name};"));
                    }
                }
                None => self.line(indent, &line.text.replace("failed |=", &format!("{failed} |="))),
            }
        }
        for (array, line) in &segment.assigns {
            self.line(indent, &format!("{array}_lanes[lane] = {};", line.text));
        }
    }
}
