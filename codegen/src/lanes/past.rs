//! Functions that compute their results in strips (Note [Past the caches]).

use super::Builder;
use super::print::Text;
use super::segment::Node;

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
    /// A function with results of these types; `rare` says whether there are slow paths that are
    /// rarely taken.
    pub(super) fn in_strips(
        &mut self,
        types: &[&'static str],
        parameters: &[String],
        nodes: &[Node],
        rare: bool,
    ) {
        self.grouped = true;
        let list = |of: &dyn Fn(usize, &str) -> String| {
            let each: Vec<String> = types.iter().enumerate().map(|(at, ty)| of(at, ty)).collect();
            each.join(", ")
        };
        let names = list(&|at, _| format!("result_{at}"));
        self.whole = format!("KERNEL_whole(block, first, count, {names})");
        let mut part = |name: &str, attributes: &str, usual: bool| {
            self.usual = usual;
            self.line(0, &format!("static __attribute__(({attributes})) u32 KERNEL_{name}("));
            self.line(2, "const struct block *restrict const block, const i64 first,");
            let results = list(&|at, ty| format!("{ty} *restrict const result_{at}"));
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
        self.line(0, "u32 KERNEL(const struct block *restrict const block) {");
        self.line(1, "const i64 count = block->count;");
        self.line(1, "i64 first = 0;");
        for (at, ty) in types.iter().enumerate() {
            self.line(1, &format!("{ty} *const result_{at} = block->results[{at}];"));
        }
        self.line(1, "if (block->past) {");
        for (at, ty) in types.iter().enumerate() {
            self.line(2, &format!("{ty} strip_{at}[{STRIP}] __attribute__((aligned(64)));"));
        }
        self.line(2, &format!("for (; first + {STRIP} <= count; first += {STRIP}) {{"));
        let strips = list(&|at, _| format!("strip_{at}"));
        let call = format!("KERNEL_part(block, first, {STRIP}, {strips})");
        self.line(3, &format!("const u32 failed = {call};"));
        self.line(3, "if (failed) return failed;");
        for at in 0..types.len() {
            let to = format!("result_{at} + first, strip_{at}, sizeof strip_{at}");
            self.line(3, &format!("write_past({to});"));
        }
        self.line(2, "}");
        self.line(2, "past_is_written();");
        self.line(1, "}");
        let rest = list(&|at, _| format!("result_{at} + first"));
        let call = format!("KERNEL_part(block, first, count - first, {rest})");
        self.line(1, &format!("return first < count ? {call} : 0;"));
        self.line(0, "}");
    }
}
