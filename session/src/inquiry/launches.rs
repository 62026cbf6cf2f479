//! The kernels of a plan, each with what the plan around it says of it.

use std::collections::BTreeMap;

use weft_ir::flat::Var;
use weft_ir::plan::{Block, Kernel, Program, Sink, Step};

/// A kernel where it stands.
pub(super) struct Launch<'p> {
    pub(super) kernel: &'p Kernel,
    /// The loop around it, if there is one: the outermost, counted from 0.
    pub(super) turn_of: Option<usize>,
    /// The branch of an `if` that it is in, the innermost.
    pub(super) branch: Option<&'static str>,
    /// Arrays into which it scatters and that are needed as they were, so that they are copied first.
    pub(super) copied: Vec<Var>,
}

impl Launch<'_> {
    /// Whether a scatter of the kernel starts from that array.
    pub(super) fn starts_from(&self, var: Var) -> bool {
        self.kernel.sinks.iter().any(|sink| sink.destinations().contains(&var))
    }
}

/// The kernels of a plan in order.
pub(super) fn launches(plan: &Program) -> Vec<Launch<'_>> {
    let mut walk = Walk { found: Vec::new(), loops: 0 };
    walk.block(&plan.body, (None, None));
    walk.found
}

/// How many loops there are in a plan that launch kernels or are on their way, those inside of others not
/// counted.
pub(super) fn outer_loops(plan: &Program) -> usize {
    let mut walk = Walk { found: Vec::new(), loops: 0 };
    walk.block(&plan.body, (None, None));
    walk.loops
}

/// The loop and the branch around a step, as in [`Launch`].
type Place = (Option<usize>, Option<&'static str>);

struct Walk<'p> {
    found: Vec<Launch<'p>>,
    loops: usize,
}

impl<'p> Walk<'p> {
    fn block(&mut self, block: &'p Block, place_of: Place) {
        let (turn_of, branch) = place_of;
        for (place, step) in block.steps.iter().enumerate() {
            match step {
                Step::Launch(kernel) => {
                    // What is freed at once may be overwritten.
                    let freed: &[Var] = match block.steps.get(place + 1) {
                        Some(Step::Free(vars)) => vars,
                        _ => &[],
                    };
                    let onto = kernel.sinks.iter().flat_map(Sink::destinations);
                    let copied = onto.filter(|var| !freed.contains(var)).copied().collect();
                    self.found.push(Launch { kernel, turn_of, branch, copied });
                }
                Step::If { then, otherwise, .. } => {
                    self.block(then, (turn_of, Some("then")));
                    self.block(otherwise, (turn_of, Some("else")));
                }
                Step::While { condition, body, .. } => {
                    let own = turn_of.unwrap_or(self.loops);
                    self.loops += usize::from(turn_of.is_none());
                    self.block(condition, (Some(own), None));
                    self.block(body, (Some(own), None));
                }
                Step::Host { .. }
                | Step::Reshape { .. }
                | Step::Constant { .. }
                | Step::Check { .. }
                | Step::Free(_) => {}
            }
        }
    }
}

/// What no kernel writes, and what it is; inputs have names.
pub(super) fn others(
    block: &Block,
    inputs: &BTreeMap<Var, String>,
    found: &mut BTreeMap<Var, String>,
) {
    for step in &block.steps {
        match step {
            Step::While { results, state, condition, body, .. } => {
                found.extend(results.iter().map(|var| (*var, "what a loop yields".to_owned())));
                found.extend(state.iter().map(|var| (*var, "of the turn before".to_owned())));
                others(condition, inputs, found);
                others(body, inputs, found);
            }
            Step::If { results, then, otherwise, .. } => {
                found.extend(results.iter().map(|var| (*var, "what an `if` yields".to_owned())));
                others(then, inputs, found);
                others(otherwise, inputs, found);
            }
            Step::Constant { result, .. } => {
                found.insert(*result, "a constant".to_owned());
            }
            Step::Reshape { result, array } => {
                let name = inputs.get(array).cloned().unwrap_or_else(|| array.to_string());
                found.insert(*result, format!("{name} with other extents"));
            }
            Step::Host { .. } | Step::Launch(_) | Step::Check { .. } | Step::Free(_) => {}
        }
    }
}
