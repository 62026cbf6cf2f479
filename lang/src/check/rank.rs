//! Implicit map: over how many axes each application is mapped.
//!
//! Note [Implicit map]. An application `f e1 … en` of a function of type `p1 -> … -> pn -> r` to arguments of types
//! `t1 … tn` is a *site*. Where `ti` has more axes than `pi`, the application is mapped over the
//! extra ones: there is one depth `d` for the site, and each argument has either `d` extra axes
//! (it is *mapped*) or none (it is *shared*); the result is `r` under `d` axes.
//!
//! Ranks are compared where they are *closed*: a scalar, tuple or record under some axes, or a
//! variable with a class, which has rank 0. A parameter whose rank is open (an unconstrained
//! variable, `a` or `[]a`) takes its argument as it is. An argument whose rank is open keeps the
//! site waiting.
//!
//! A site is settled as soon as the known ranks force it: an argument with extra axes gives `d`, so
//! does a result whose rank is closed, and with `d = 0` all arguments are as they are. What still
//! waits when the definition is complete is settled by the *least ranks* that fit: every open
//! variable has rank 0 unless a parameter or a result needs more ([`settle`]). Where the
//! result needs axes that no argument supplies, all open arguments take them. Sites that say what a record is of which
//! fields are read go first: the ranks of its fields are then known, and are not guessed.

use weft_ir::Span;

use super::unify::{Clash, Table};
use crate::typed::GlobalId;
use crate::types::Type;

/// An application whose depth is inferred.
#[derive(Clone, Debug)]
pub(super) struct Site {
    /// How messages call the function.
    pub(super) function: String,
    /// Where the function stands.
    pub(super) function_span: Span,
    /// The definition that is applied, if it is one.
    pub(super) definition: Option<GlobalId>,
    /// The whole application.
    pub(super) span: Span,
    /// The parameter types that the arguments meet.
    pub(super) params: Vec<Type>,
    /// The arguments.
    pub(super) args: Vec<SiteArg>,
    /// The function's type after these parameters.
    pub(super) returns: Type,
    /// The type of the application.
    pub(super) result: Type,
    /// Whether it must not be mapped: a partial application.
    pub(super) exact: bool,
    /// The depth, once known.
    pub(super) depth: Option<usize>,
    /// Whether depth and all arguments are settled.
    pub(super) settled: bool,
}

/// An argument of a site.
#[derive(Clone, Debug)]
pub(super) struct SiteArg {
    /// Its type.
    pub(super) ty: Type,
    /// Where it stands.
    pub(super) span: Span,
    /// Whether it is mapped, once known.
    pub(super) mapped: Option<bool>,
}

/// Why a site cannot be settled.
#[derive(Clone, Debug)]
pub(super) enum SiteError {
    /// Argument `.0` has another type than its parameter.
    Argument(usize, Clash),
    /// Argument `.0` has too few axes.
    TooFewAxes(usize),
    /// Two arguments have different numbers of extra axes.
    UnequalAxes(usize, usize),
    /// The application yields another type than its use needs.
    Result(Clash),
    /// A partial application got an argument with extra axes.
    PartialMapped(usize),
}

/// What is known of an argument's extra axes.
enum Extra {
    /// This many.
    Known(usize),
    /// At least this many.
    AtLeast(usize),
    /// The parameter takes the argument as it is.
    AsItIs,
    /// Not even whether the parameter is open: a stencil's array before its window is known.
    Unknown,
}

/// How an argument meets its parameter.
fn extra(table: &Table, param: &Type, arg: &Type) -> Result<Extra, ()> {
    let (param_rank, param_head) = table.peel(param);
    // A sequence is no array: nothing is mapped over arrays of them.
    if param_rank == 0 && matches!(param_head, Type::Seq(_)) {
        return Ok(Extra::AsItIs);
    }
    if let Type::Var(var) = &param_head {
        match table.state(*var) {
            Some(open) if open.deferred => return Ok(Extra::Unknown),
            Some(open) if open.class.is_none() => return Ok(Extra::AsItIs),
            _ => {}
        }
    }
    let (arg_rank, arg_head) = table.peel(arg);
    if table.is_rank_open(&arg_head) {
        return Ok(Extra::AtLeast(arg_rank.saturating_sub(param_rank)));
    }
    arg_rank.checked_sub(param_rank).map(Extra::Known).ok_or(())
}

/// Does what can be done for a site now. `Ok(true)` if anything was learnt.
pub(super) fn advance(table: &mut Table, site: &mut Site) -> Result<bool, SiteError> {
    if site.settled {
        return Ok(false);
    }
    let mut progress = false;
    progress |= take_open_params(table, site)?;
    let mut waiting = 0;
    for index in 0..site.args.len() {
        if site.args[index].mapped.is_some() {
            continue;
        }
        let (param, arg) = (site.params[index].clone(), site.args[index].ty.clone());
        match extra(table, &param, &arg).map_err(|()| SiteError::TooFewAxes(index))? {
            Extra::AsItIs => {
                table.unify(&param, &arg).map_err(|clash| SiteError::Argument(index, clash))?;
                site.args[index].mapped = Some(false);
                progress = true;
            }
            Extra::Known(0) => {
                table.unify(&param, &arg).map_err(|clash| SiteError::Argument(index, clash))?;
                site.args[index].mapped = Some(false);
                progress = true;
            }
            Extra::Known(axes) => {
                set_depth(site, index, axes)?;
                let element = table.strip(&arg, axes);
                table.unify(&param, &element).map_err(|clash| SiteError::Argument(index, clash))?;
                site.args[index].mapped = Some(true);
                progress = true;
            }
            Extra::AtLeast(axes) => {
                progress |= grow_to(table, &arg, table.peel(&param).0)
                    .map_err(|clash| SiteError::Argument(index, clash))?;
                match site.depth {
                    Some(depth) if axes > depth => {
                        return Err(SiteError::UnequalAxes(index, index));
                    }
                    Some(depth) if depth == 0 || axes > 0 => {
                        let whole = Type::arrays(depth, param.clone());
                        table
                            .unify(&whole, &arg)
                            .map_err(|clash| SiteError::Argument(index, clash))?;
                        site.args[index].mapped = Some(depth > 0);
                        progress = true;
                    }
                    _ => waiting += 1,
                }
            }
            Extra::Unknown => waiting += 1,
        }
    }
    if site.depth.is_none() && (site.exact || waiting == 0) {
        site.depth = Some(0);
        progress = true;
    }
    if site.depth.is_none()
        && let Some(depth) = depth_of_result(table, site)?
    {
        site.depth = Some(depth);
        progress = true;
    }
    if site.depth.is_some_and(|depth| depth > 0)
        && site.args.iter().all(|arg| arg.mapped == Some(false))
    {
        // The result was known to need axes before it turned out that no argument has any.
        table.unify(&site.returns, &site.result).map_err(SiteError::Result)?;
        site.depth = Some(0);
    }
    if let Some(depth) = site.depth {
        let result = Type::arrays(depth, site.returns.clone());
        table.unify(&result, &site.result).map_err(SiteError::Result)?;
        site.settled = site.args.iter().all(|arg| arg.mapped.is_some());
        progress |= site.settled;
    }
    Ok(progress)
}

/// A parameter that is a plain open variable takes its argument first, so that `fold (+) 0 m` knows
/// from `0` that it folds scalars before it meets `m`.
fn take_open_params(table: &mut Table, site: &mut Site) -> Result<bool, SiteError> {
    let mut progress = false;
    for index in 0..site.args.len() {
        let param = table.shallow(&site.params[index]);
        let Type::Var(var) = &param else { continue };
        let plain = table.state(*var).is_some_and(|open| open.class.is_none() && !open.deferred);
        if site.args[index].mapped.is_none() && plain {
            let arg = site.args[index].ty.clone();
            table.unify(&param, &arg).map_err(|clash| SiteError::Argument(index, clash))?;
            site.args[index].mapped = Some(false);
            progress = true;
        }
    }
    Ok(progress)
}

fn set_depth(site: &mut Site, index: usize, axes: usize) -> Result<(), SiteError> {
    if site.exact {
        return Err(SiteError::PartialMapped(index));
    }
    match site.depth {
        Some(depth) if depth != axes => {
            let other = site.args.iter().position(|arg| arg.mapped == Some(true)).unwrap_or(index);
            Err(SiteError::UnequalAxes(other, index))
        }
        _ => {
            site.depth = Some(axes);
            Ok(())
        }
    }
}

/// The depth, if the ranks of the function's result and of the application are both closed.
fn depth_of_result(table: &Table, site: &Site) -> Result<Option<usize>, SiteError> {
    let (own_rank, own_head) = table.peel(&site.returns);
    let (rank, head) = table.peel(&site.result);
    if table.is_rank_open(&own_head) || table.is_rank_open(&head) {
        return Ok(None);
    }
    match rank.checked_sub(own_rank) {
        Some(depth) => Ok(Some(depth)),
        None => Err(SiteError::Result(Clash::Different)),
    }
}

/// Gives a type with an open rank at least `rank` axes.
fn grow_to(table: &mut Table, ty: &Type, rank: usize) -> Result<bool, Clash> {
    let (have, head) = table.peel(ty);
    if have >= rank || !table.is_rank_open(&head) {
        return Ok(false);
    }
    let element = table.fresh();
    // The new variable belongs where the old one did.
    if let Type::Var(var) = &head
        && let Some(open) = table.state(*var)
    {
        table.lower_levels(&element, open.level);
    }
    table.unify(&head, &Type::arrays(rank - have, element))?;
    Ok(true)
}

/// No type needs more axes; the growth of ranks stops here for programs without a least solution.
const MAX_RANK: usize = 32;

/// Parameters of a definition, and those of them whose rank [`settle`] has chosen.
#[derive(Debug, Default)]
pub(super) struct Guesses {
    pub(super) parameters: Vec<Type>,
    pub(super) found: Vec<Chosen>,
}

/// A parameter whose rank was chosen: its number, the rank, and whether its elements stood beside others, as in
/// `d + r` for `r in w`, and not itself.
pub(super) type Chosen = (usize, usize, bool);

impl Guesses {
    /// A type gets a rank that nothing forces: it has no axes so far, or gets more than it has.
    fn note(&mut self, table: &Table, ty: &Type, rank: usize) {
        let (axes, head) = table.peel(ty);
        if !table.is_rank_open(&head) {
            return;
        }
        if axes == 0 || rank > axes {
            let is_own = |parameter: &Type| table.peel(parameter) == (axes, head.clone());
            self.found.extend(self.parameters.iter().position(is_own).map(|at| (at, rank, false)));
        }
        if axes == 0 && rank == 0 {
            let rank_of_elements = |parameter: &Type| {
                let (outer, element) = table.peel(parameter);
                (outer > 0 && element == head).then_some(outer)
            };
            let ranks = self.parameters.iter().map(rank_of_elements).enumerate();
            self.found.extend(ranks.filter_map(|(at, outer)| Some((at, outer?, true))));
        }
    }
}

/// Settles the given ones of some waiting sites by the least ranks: see the note above.
pub(super) fn settle(
    table: &mut Table,
    sites: &mut [Site],
    waiting: &[usize],
    chosen: &[usize],
    guesses: &mut Guesses,
) -> Result<(), (usize, SiteError)> {
    loop {
        grow_by_lower_bounds(table, sites, waiting)?;
        if !supply_needed_axes(table, sites, waiting, guesses)? {
            break;
        }
    }
    for &index in chosen {
        let site = &mut sites[index];
        if site.settled {
            continue;
        }
        advance(table, site).map_err(|error| (index, error))?;
        if site.settled {
            continue;
        }
        let depth = least_depth(table, site);
        site.depth = Some(depth);
        for position in 0..site.args.len() {
            if site.args[position].mapped.is_some() {
                continue;
            }
            let (param, arg) = (site.params[position].clone(), site.args[position].ty.clone());
            let mapped = match extra(table, &param, &arg) {
                Ok(Extra::AtLeast(axes) | Extra::Known(axes)) => axes > 0,
                Ok(Extra::AsItIs | Extra::Unknown) => false,
                Err(()) => return Err((index, SiteError::TooFewAxes(position))),
            };
            if !mapped && depth > 0 {
                guesses.note(table, &arg, 0);
            }
            let whole = Type::arrays(if mapped { depth } else { 0 }, param);
            table
                .unify(&whole, &arg)
                .map_err(|clash| (index, SiteError::Argument(position, clash)))?;
            site.args[position].mapped = Some(mapped);
        }
        advance(table, site).map_err(|error| (index, error))?;
    }
    Ok(())
}

/// The least depth that the known axes of a site allow.
fn least_depth(table: &Table, site: &Site) -> usize {
    if let Some(depth) = site.depth {
        return depth;
    }
    let mut depth = 0;
    for (param, arg) in site.params.iter().zip(&site.args) {
        if let Ok(Extra::AtLeast(axes) | Extra::Known(axes)) = extra(table, param, &arg.ty) {
            depth = depth.max(axes);
        }
    }
    let (own_rank, own_head) = table.peel(&site.returns);
    if !table.is_rank_open(&own_head) {
        depth = depth.max(table.peel(&site.result).0.saturating_sub(own_rank));
    }
    depth
}

/// Raises results to what their sites' depths need, until nothing changes.
fn grow_by_lower_bounds(
    table: &mut Table,
    sites: &[Site],
    chosen: &[usize],
) -> Result<(), (usize, SiteError)> {
    loop {
        let mut changed = false;
        for &index in chosen {
            let site = &sites[index];
            if site.settled {
                continue;
            }
            let rank = table.peel(&site.returns).0 + least_depth(table, site);
            if rank > MAX_RANK {
                return Err((index, SiteError::Result(Clash::Infinite)));
            }
            changed |= grow_to(table, &site.result.clone(), rank)
                .map_err(|clash| (index, SiteError::Result(clash)))?;
        }
        if !changed {
            return Ok(());
        }
    }
}

/// Where a site's result needs axes that no argument supplies, all open arguments take them.
fn supply_needed_axes(
    table: &mut Table,
    sites: &[Site],
    chosen: &[usize],
    guesses: &mut Guesses,
) -> Result<bool, (usize, SiteError)> {
    let mut changed = false;
    for &index in chosen {
        let site = &sites[index];
        let depth = least_depth(table, site);
        if site.settled || depth == 0 || depth > MAX_RANK {
            continue;
        }
        let supplied = site.params.iter().zip(&site.args).any(|(param, arg)| {
            arg.mapped == Some(true)
                || matches!(extra(table, param, &arg.ty),
                    Ok(Extra::AtLeast(axes) | Extra::Known(axes)) if axes == depth)
        });
        if supplied {
            continue;
        }
        let open = site.args.iter().filter(|arg| arg.mapped.is_none()).count();
        for (position, (param, arg)) in site.params.iter().zip(&site.args).enumerate() {
            if arg.mapped.is_none() {
                let rank = table.peel(param).0 + depth;
                if open > 1 {
                    guesses.note(table, &arg.ty, rank);
                }
                changed |= grow_to(table, &arg.ty, rank)
                    .map_err(|clash| (index, SiteError::Argument(position, clash)))?;
            }
        }
    }
    Ok(changed)
}
