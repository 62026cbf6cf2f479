//! The text of a function.
//!
//! Note [Several turns]. Where lanes step through a short loop together, most of the time would go into
//! the state, which is kept in memory from turn to turn, and into the question whether some lane goes
//! on. So lanes take some turns each before that is asked again. Those that are done keep their state, so
//! that turns too many change nothing; they cost something, so that this is not done where elements are
//! read.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

use super::fold::reads_along_steps;
use super::segment::{Line, Node, Segment};
use super::{Builder, GROUP, INTERRUPTED, LaneFunction};
use crate::dialect::type_name;

/// How many turns lanes take before it is asked whether one goes on.
const TURNS: usize = 4;

/// The most lines of a turn of which lanes take several.
const LONG: usize = 40;

/// How many turns of a loop there are from one look at the cancel flag to the next.
const POLLED: usize = 32;

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
    let counting = std::mem::take(&mut plan.counting);
    let calls = !builder.functions.is_empty();
    let mut text = Text { grouped, stepped, calls, usual: false, lanes, counting, out };
    let parameters = parameters(&builder);
    if grouped {
        text.line(0, "FUNCTION u32 KERNEL_group(const struct block *restrict const block,");
        text.line(0, "                          const i64 first, const i64 count) {");
        parameters.iter().for_each(|line| text.line(1, line));
        text.line(1, "u32 steps = 0;");
        for (name, ty) in plan.lanes() {
            text.line(1, &format!("{ty} {name}_lanes[{GROUP}] __attribute__((aligned(64)));"));
        }
        text.steps(&nodes);
        text.line(1, "return 0;");
        text.line(0, "}");
        text.out.push_str(GROUPS);
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
        text.line(1, if rare { "return rare ? KERNEL_whole(block) : 0;" } else { "return 0;" });
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
  for (; first + 32 <= block->count; first += 32) {
    const u32 failed = KERNEL_group(block, first, 32);
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
struct Text {
    /// Whether lanes come in groups.
    grouped: bool,
    /// Whether it runs for one step after the other.
    stepped: bool,
    /// Whether it calls transcendental functions.
    calls: bool,
    /// Whether slow paths are left out (Note [Rare paths]).
    usual: bool,
    /// The values that lie in arrays.
    lanes: BTreeMap<String, &'static str>,
    /// As in [`Plan`].
    counting: BTreeMap<String, String>,
    out: String,
}

impl Text {
    fn line(&mut self, indent: usize, line: &str) {
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

    fn nodes(&mut self, indent: usize, nodes: &[Node]) {
        for node in nodes {
            match node {
                Node::Scalar(statement) => self.line(indent, statement),
                Node::Segment(segment) => self.segment(indent, segment),
                Node::Loop(body) => {
                    let several = self.several_turns(body);
                    self.line(indent, "for (;;) {");
                    let polled = if several { POLLED / TURNS } else { POLLED } - 1;
                    let poll = format!("if ((++steps & {polled}) == 0 && *block->cancel)");
                    self.line(indent + 1, &format!("{poll} return {INTERRUPTED}U;"));
                    for node in body {
                        match node {
                            Node::Segment(segment) if several => self.turns(indent + 1, segment),
                            node => self.nodes(indent + 1, std::slice::from_ref(node)),
                        }
                    }
                    self.line(indent, "}");
                }
            }
        }
    }

    /// Whether the lanes of a loop take several turns before it asks whether one goes on
    /// (Note [Several turns]).
    fn several_turns(&self, body: &[Node]) -> bool {
        let mut segments = body.iter().filter_map(|node| match node {
            Node::Segment(segment) => Some(segment),
            Node::Scalar(_) | Node::Loop(_) => None,
        });
        let (Some(segment), None) = (segments.next(), segments.next()) else { return false };
        let straight = !body.iter().any(|node| matches!(node, Node::Loop(_)));
        let stays = |line: &Line| match &line.defines {
            Some((name, _)) => !self.lanes.contains_key(name),
            None => true,
        };
        let reads = |line: &Line| line.text.contains('[') || line.text.contains("at");
        straight
            && !self.calls
            && segment.any.len() == 1
            && !segment.fails
            && segment.lines.len() <= LONG
            && segment.lines.iter().all(|line| stays(line) && !reads(line))
    }

    /// Several turns of a loop whose body is one segment, lane by lane.
    fn turns(&mut self, indent: usize, segment: &Segment) {
        let flag = &segment.any[0];
        self.line(indent, &format!("u32 {flag} = 0;"));
        self.line(indent, &format!("#pragma omp simd reduction(|:{flag})"));
        self.line(indent, "for (i64 lane = 0; lane < count; lane++) {");
        let state: BTreeSet<&String> = segment.assigns.iter().map(|(array, _)| array).collect();
        let own: BTreeSet<&String> =
            segment.lines.iter().filter_map(|line| Some(&line.defines.as_ref()?.0)).collect();
        let used: BTreeSet<&String> = all_lines(segment).flat_map(|line| &line.uses).collect();
        if used.iter().any(|name| self.counting.contains_key(*name)) {
            self.line(indent + 1, "const i64 at = first + lane;");
        }
        for name in used.union(&state).filter(|name| !own.contains(*name)) {
            let text = match self.counting.get(*name) {
                Some(counted) => format!("const i64 {name} = {counted};"),
                None => {
                    let keyword = if state.contains(name) { "" } else { "const " };
                    format!("{keyword}{} {name} = {name}_lanes[lane];", self.lanes[*name])
                }
            };
            self.line(indent + 1, &text);
        }
        self.line(indent + 1, "u32 goes_on = 0;");
        self.line(indent + 1, &format!("#pragma GCC unroll {TURNS}"));
        self.line(indent + 1, &format!("for (i32 turn = 0; turn < {TURNS}; turn++) {{"));
        for line in &segment.lines {
            let text = match &line.defines {
                Some((name, ty)) => format!("const {ty} {name} = {};", line.text),
                None => line.text.replace(&format!("{flag} |="), "goes_on ="),
            };
            self.line(indent + 2, &text);
        }
        // All at once: the next state may be the state in another order.
        for (name, line) in &segment.assigns {
            let ty = self.lanes[name];
            self.line(indent + 2, &format!("const {ty} next_{name} = {};", line.text));
        }
        for (name, _) in &segment.assigns {
            self.line(indent + 2, &format!("{name} = next_{name};"));
        }
        self.line(indent + 1, "}");
        self.line(indent + 1, &format!("{flag} |= goes_on;"));
        for (name, _) in &segment.assigns {
            self.line(indent + 1, &format!("{name}_lanes[lane] = {name};"));
        }
        self.line(indent, "}");
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
                self.line(indent + 1, "const i64 at = first + lane;");
            }
        } else {
            self.line(indent, "for (i64 at = 0; at < count; at++) {");
        }
        self.body(indent + 1, segment, &failed);
        self.line(indent, "}");
        if segment.fails {
            // What was left out may be what a check has failed for.
            let result = if self.usual {
                format!("rare ? KERNEL_whole(block) : {failed}")
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
                self.line(indent, &format!("const {ty} {name} = {name}_lanes[lane];"));
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
