//! The pipeline: which passes run, in which order. Flattening begins with three of its own, without which it does not
//! understand a program: plain operators, unfolded loops, filters ([`flatten::flatten`]).

use weft_ir::leaves::Axis;
use weft_ir::{Span, flat, nested, plan};

use crate::ahead::fold_ahead;
use crate::early::read_early;
use crate::exits::with_exits;
use crate::fuse::{FuseConfig, Fused, Report, Solver, fuse};
use crate::invariant::{Split, split_invariant};
use crate::late::update_late;
use crate::lengths::of_all_elements;
pub use crate::recursion::Calls;
use crate::recursion::{Recursions, without_calls};
use crate::share::{self, share, unshare};
use crate::slices::read_slices;
use crate::unroll::{Unrolled, WrittenOut, unroll};
use crate::{Unsupported, flatten, place};

/// Without sharing a program may have this many operations; it grows exponentially.
pub const MOST_UNSHARED: usize = 200_000;

/// And compute this many arrays: each becomes several statements, and kernels that are compared with
/// others.
const MOST_UNSHARED_ARRAYS: usize = 2_000;

/// What sharing recovery does in the pipeline.
pub const SHARING: share::Config = share::Config { hoist: true, sink: true };

/// How the pipeline chooses what fuses. Of 326 parts of programs, a search of 2000 branches found better plans
/// than one of 100 or 300 for two, by a hundredth, and took a second for each of these; one of 50 missed two more, by
/// much. Hence a number between.
pub const SOLVER: Solver = Solver::Ilp { max_nodes: 24, max_branches: 150 };

/// What the passes do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Config {
    /// Whether common terms are computed once.
    pub sharing: bool,
    /// Whether inner maps are split, so that nothing is computed again in every turn of what is around them: that takes
    /// memory. Without sharing they are not.
    pub split: bool,
    /// Fusion.
    pub fuse: FuseConfig,
    /// Whether loops carry along what they are for one point: not where the back end has no use for it, as all arrays
    /// that it reads are stored.
    pub rows: bool,
    /// Functions that call themselves.
    pub calls: Calls,
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
    /// With slices read where they meet, small folds written out, inner maps split, and folds before conditions, if there
    /// are such.
    pub unrolled: Option<nested::Program>,
    /// What was written out and what has moved.
    pub changes: Changes,
    /// After flattening.
    pub flat: flat::Program,
    /// After fusion.
    pub fused: plan::Program,
    /// How that came about.
    pub report: Report,
    /// After placement: what a back end runs.
    pub plan: plan::Program,
}

impl Compiled {
    /// With slices read where they meet, small folds written out, inner maps split, and folds before conditions.
    pub fn unrolled(&self) -> &nested::Program {
        self.unrolled.as_ref().unwrap_or(&self.shared)
    }
}

/// What the passes between sharing and flattening have done.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Changes {
    /// The folds of few elements that are written out.
    pub written_out: Vec<WrittenOut>,
    /// What yields or carries rows of few elements, and does so by their parts.
    pub taken_apart: Vec<WrittenOut>,
    /// What is computed once for each element, in place of once for each element and turn of what is around.
    pub moved: Vec<Span>,
    /// What is computed again in every turn of what is around, since it stands in a condition.
    pub stays: Vec<Span>,
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
    let Flattened { shared, unrolled, changes, flat } = flattened(program, layouts, config, after)?;
    let fused = fuse(&flat, &config.fuse);
    checked(config, "fuse", &fused.program, plan::check);
    after(Pass::Fuse);
    let plan = place(fused.program.clone());
    checked(config, "place", &plan, plan::check);
    after(Pass::Place);
    let Fused { program: fused, report } = fused;
    Ok(Compiled { shared, unrolled, changes, flat, fused, report, plan })
}

/// What the passes before fusion make of a program.
#[derive(Clone, Debug, PartialEq)]
pub struct Flattened {
    /// As in [`Compiled`].
    pub shared: nested::Program,
    /// As in [`Compiled`].
    pub unrolled: Option<nested::Program>,
    /// As in [`Compiled`].
    pub changes: Changes,
    /// As in [`Compiled`].
    pub flat: flat::Program,
}

/// Runs the passes before fusion.
///
/// # Errors
/// What a pass cannot do.
///
/// # Panics
/// As [`compile`].
pub fn flattened(
    program: nested::Program,
    layouts: &[Vec<Axis>],
    config: &Config,
    after: &mut dyn FnMut(Pass),
) -> Result<Flattened, Unsupported> {
    checked(config, "lower", &program, nested::check);
    let program = without_recursion(program, config.sharing, config.calls)?;
    checked(config, "recursion", &program, nested::check);
    let shared = match config.sharing {
        true => share(program, &SHARING),
        false => without_sharing(&program)?,
    };
    checked(config, "share", &shared, nested::check);
    let (unrolled, changes) = if config.sharing {
        unrolled(&shared, layouts, config.split)
    } else {
        (None, Changes::default())
    };
    // After the last sharing, which would sink the folds again.
    let (ahead, goes_ahead) = fold_ahead(unrolled.as_ref().unwrap_or(&shared).clone());
    let (late, is_late) = update_late(ahead);
    let unrolled = match goes_ahead || is_late {
        true if config.sharing => Some(late),
        _ => unrolled,
    };
    let last = unrolled.as_ref().unwrap_or(&shared);
    checked(config, "unroll", last, nested::check);
    after(Pass::Share);
    let flat = read_early(flatten::flattened(last, layouts, config.rows)?);
    checked(config, "flatten", &flat, flat::check);
    after(Pass::Flatten);
    Ok(Flattened { shared, unrolled, changes, flat })
}

/// The program with slices read where they meet, with small folds written out and with inner maps split, if any of it
/// is there, and what that was.
fn unrolled(
    program: &nested::Program,
    layouts: &[Vec<Axis>],
    split: bool,
) -> (Option<nested::Program>, Changes) {
    let (program, is_uniform) = match of_all_elements(program.clone()) {
        (program, true) => (share(program, &SHARING), true),
        (program, false) => (program, false),
    };
    let (read, is_read) = read_slices(program.clone());
    let is_read = is_read || is_uniform;
    let (unrolled, mut changes) = match unroll(&read, layouts) {
        Some(Unrolled { program, folds, rows }) => {
            let changes = Changes { written_out: folds, taken_apart: rows, ..Changes::default() };
            (Some(program), changes)
        }
        None => (is_read.then_some(read), Changes::default()),
    };
    let unrolled = unrolled.map(|unrolled| share(unrolled, &SHARING));
    if !split {
        return (unrolled, changes);
    }
    let Split { program, moved, stays } =
        split_invariant(unrolled.as_ref().unwrap_or(&program).clone());
    let unrolled = if moved.is_empty() { unrolled } else { Some(share(program, &SHARING)) };
    (changes.moved, changes.stays) = (moved, stays);
    (unrolled, changes)
}

/// The program with loops in place of recursion, which end where they find that out. Equal calls are shared before, for
/// equal loops are not seen to be equal. Where calls nest deeper than they may, the program meets a fault.
///
/// # Errors
/// A recursion that goes neither level by level nor one call after the other.
pub fn without_recursion(
    program: nested::Program,
    sharing: bool,
    calls: Calls,
) -> Result<nested::Program, Unsupported> {
    let linear = Recursions::of(&program.functions);
    let program = match sharing && !program.functions.is_empty() {
        true => without_calls(share(program, &SHARING), &linear, calls),
        false => without_calls(program, &linear, calls),
    };
    program.map(with_exits)
}

/// The program as a tree, if that is not too large.
fn without_sharing(program: &nested::Program) -> Result<nested::Program, Unsupported> {
    let too_large = |limit: usize, what: &str| Unsupported {
        reason: format!("without sharing it has more than {limit} {what}"),
        span: Span::default(),
    };
    let tree = unshare(program, MOST_UNSHARED).map_err(|it| too_large(it.limit, "operations"))?;
    match arrays(&tree.body) > MOST_UNSHARED_ARRAYS {
        true => Err(too_large(MOST_UNSHARED_ARRAYS, "operations on arrays")),
        false => Ok(tree),
    }
}

/// How many statements yield arrays.
fn arrays(body: &nested::Body) -> usize {
    let mut count = 0;
    for statement in &body.statements {
        count += usize::from(statement.results.iter().any(|(_, ty)| ty.rank > 0));
        statement.operation.for_each_body(&mut |inner| count += arrays(inner));
    }
    count
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
