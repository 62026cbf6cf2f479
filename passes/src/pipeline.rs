//! The whole pipeline on one screen.

use weft_ir::leaves::Axis;
use weft_ir::{Span, flat, nested, plan};

use crate::fuse::{FuseConfig, Report, fuse};
use crate::recursion::by_levels;
use crate::share::{self, share, unshare};
use crate::{Unsupported, flatten, place};

/// Without sharing a program may have this many operations; it grows exponentially.
pub const MOST_UNSHARED: usize = 200_000;

/// What sharing recovery does in the pipeline.
pub const SHARING: share::Config = share::Config { hoist: true, sink: true };

/// What the passes do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Config {
    /// Whether common terms are computed once.
    pub sharing: bool,
    /// Fusion.
    pub fuse: FuseConfig,
    /// Whether each pass's result is checked: a failure is a bug, and names the pass.
    pub check: bool,
}

/// A pass.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pass {
    /// nested → nested.
    Share,
    /// nested → flat.
    Flatten,
    /// flat → plan.
    Fuse,
    /// plan → plan.
    Place,
}

impl Pass {
    /// What `:time` calls it.
    pub fn name(self) -> &'static str {
        match self {
            Pass::Share => "share",
            Pass::Flatten => "flatten",
            Pass::Fuse => "fuse",
            Pass::Place => "place",
        }
    }
}

/// A program in every intermediate language.
#[derive(Clone, Debug)]
pub struct Compiled {
    /// After sharing recovery.
    pub shared: nested::Program,
    /// After flattening.
    pub flat: flat::Program,
    /// After fusion.
    pub fused: plan::Program,
    /// How that came about.
    pub report: Report,
    /// After placement: what a back end runs.
    pub plan: plan::Program,
}

/// Runs all passes. `after` hears of each when it is done, to take the time or to stop.
///
/// # Errors
/// What a pass cannot do.
///
/// # Panics
/// With [`Config::check`], if a pass yields a program that its language does not allow.
pub fn compile(
    program: nested::Program,
    layouts: &[Vec<Axis>],
    config: &Config,
    after: &mut dyn FnMut(Pass),
) -> Result<Compiled, Unsupported> {
    checked(config, "lower", &program, nested::check);
    let program = without_recursion(program, config.sharing)?;
    checked(config, "recursion", &program, nested::check);
    let shared = if config.sharing {
        share(program, &SHARING)
    } else {
        unshare(&program, MOST_UNSHARED).map_err(|too_large| Unsupported {
            reason: format!("without sharing it has more than {} operations", too_large.limit),
            span: Span::default(),
        })?
    };
    checked(config, "share", &shared, nested::check);
    after(Pass::Share);
    let flat = flatten(&shared, layouts)?;
    checked(config, "flatten", &flat, flat::check);
    after(Pass::Flatten);
    let fused = fuse(&flat, &config.fuse);
    checked(config, "fuse", &fused.program, plan::check);
    after(Pass::Fuse);
    let plan = place(fused.program.clone());
    checked(config, "place", &plan, plan::check);
    after(Pass::Place);
    Ok(Compiled { shared, flat, fused: fused.program, report: fused.report, plan })
}

/// The program with loops in place of recursion. Equal calls are shared before, for equal loops are
/// not seen to be equal.
///
/// # Errors
/// A recursion that goes otherwise than level by level.
pub fn without_recursion(
    program: nested::Program,
    sharing: bool,
) -> Result<nested::Program, Unsupported> {
    match sharing && !program.functions.is_empty() {
        true => by_levels(share(program, &SHARING)),
        false => by_levels(program),
    }
}

fn checked<P: std::fmt::Display>(
    config: &Config,
    pass: &str,
    program: &P,
    check: impl Fn(&P) -> Result<(), String>,
) {
    if config.check
        && let Err(problem) = check(program)
    {
        panic!("{pass} made a wrong program: {problem}\n{program}");
    }
}
