//! What the kernels of a plan read of each other: arrays, scalars, and both through the host, which
//! computes with scalars and gives arrays other extents.

use std::collections::{BTreeMap, BTreeSet};

use weft_ir::code::Code;
use weft_ir::flat::Var;
use weft_ir::plan::{Block, Program, Step};

/// For each kernel in the order of the plan, the variables that it reads; those that the host makes
/// of others stand for these.
pub(super) fn reads(plan: &Program) -> Vec<BTreeSet<Var>> {
    let mut flow = Flow { made: BTreeMap::new(), kernels: Vec::new() };
    flow.block(&plan.body);
    flow.kernels
}

struct Flow {
    /// What the host makes of which variables.
    made: BTreeMap<Var, BTreeSet<Var>>,
    kernels: Vec<BTreeSet<Var>>,
}

impl Flow {
    fn block(&mut self, block: &Block) {
        for step in &block.steps {
            match step {
                Step::Host { results, code, .. } => {
                    let sources = self.sources(code);
                    for result in results {
                        self.made.insert(*result, sources.clone());
                    }
                }
                Step::Reshape { result, array } => {
                    let sources = self.source(*array);
                    self.made.insert(*result, sources);
                }
                Step::Launch(kernel) => {
                    let mut sources = self.sources(&kernel.body);
                    if let Some(epilogue) = &kernel.epilogue {
                        sources.append(&mut self.sources(&epilogue.code));
                    }
                    self.kernels.push(sources);
                }
                Step::If { then, otherwise, .. } => {
                    self.block(then);
                    self.block(otherwise);
                }
                Step::While { condition, body, .. } => {
                    self.block(condition);
                    self.block(body);
                }
                Step::Constant { .. } | Step::Check { .. } | Step::Free(_) => {}
            }
        }
    }

    fn source(&self, var: Var) -> BTreeSet<Var> {
        self.made.get(&var).cloned().unwrap_or_else(|| BTreeSet::from([var]))
    }

    fn sources(&self, code: &Code) -> BTreeSet<Var> {
        code.reads().flat_map(|var| self.source(var)).collect()
    }
}
