//! E0320: a definition that is mapped over an argument, as a parameter whose rank nothing says was taken for
//! one element.
//!
//! In `def accuracy p y = f64 (count (p == y)) / f64 (length y)` the length makes `y` an array, and then `p` may be one
//! element for all of `y` or an array like it. It is one element (`check/rank.rs` of `lang`, Note [Implicit map]), so an array
//! for `p` is mapped over: an accuracy for each of its elements.

use weft_ir::Name;
use weft_lang::typed::{
    Arg, Expr, ExprKind, Function, FunctionRef, Guess, LocalId, Pattern, Program,
};
use weft_lang::types::Type;
use weft_lang::{Config, Diagnostic, Global, annotated};

use super::is_name;
use crate::prelude;
use crate::sources::Sources;
use crate::state::State;

/// What there is to say about an application.
pub(super) fn remark(
    program: &Program,
    state: &State,
    sources: &Sources,
    function: &Expr,
    args: &[Arg],
) -> Option<Diagnostic> {
    let (definition, given) = applied(program, state, function)?;
    if definition.span.source == prelude::SOURCE {
        return None;
    }
    let chosen = definition.guesses.iter().filter(|guess| guess.rank == 0 || guess.elements);
    let chosen: Vec<(&Guess, &Arg)> = chosen
        .filter_map(|guess| Some((guess, args.get(guess.parameter.checked_sub(given)?)?)))
        .filter(|(_, arg)| arg.mapped)
        .collect();
    let Some(&(guess, arg)) = chosen.first() else {
        return side_by_side(definition, given, args, sources);
    };
    let (callee, name) = (&definition.name, &guess.name);
    let config = Config { float: state.modes.float };
    let is_right = |wholes: &[(&Guess, Type)]| {
        let mut types = vec![None; given + args.len()];
        wholes.iter().for_each(|(guess, ty)| types[guess.parameter] = Some(ty.clone()));
        annotated(definition, &types, &state.environment, &config).is_some()
    };
    // Several that were taken for one element are named at once.
    let of_one = |of: &&(&Guess, &Arg)| of.0.of.is_none() && !of.0.elements;
    let wholes: Vec<_> = chosen.iter().filter(of_one).collect();
    let types: Vec<_> = wholes.iter().map(|of| (of.0, of.1.expr.ty.clone())).collect();
    if wholes.len() > 1 && is_right(&types) {
        let mapped: Vec<MappedOver<'_>> = wholes.iter().map(|of| (&*of.0.name, 0, of.1)).collect();
        let names: Vec<String> = mapped.iter().map(|(name, ..)| format!("`{name}`")).collect();
        let note = format!(
            "nothing in the definition of `{callee}` says what {} are",
            names.join(" and ")
        );
        return Some(over_rows(callee, &mapped, note));
    }
    // With the whole array the definition may be wrong, and with a part of it right.
    if guess.of.is_none() && !guess.elements && !is_right(&[(guess, arg.expr.ty.clone())]) {
        let rows = |axes| Type::arrays(axes, arg.expr.ty.peel().1.clone());
        let ranks = (1..arg.expr.ty.peel().0).rev().map(rows);
        if let Some(part) = ranks.into_iter().find(|ty| is_right(&[(guess, ty.clone())])) {
            return Some(of_part(callee, name, arg, &part));
        }
        // Nobody can mean all of it.
        if is_right(&[(guess, arg.expr.ty.peel().1.clone())]) {
            return None;
        }
    }
    if guess.elements {
        let note = format!(
            "nothing in the definition of `{callee}` says that the elements of `{name}` are arrays"
        );
        return Some(over_rows(callee, &[(name, guess.rank, arg)], note));
    }
    // Another name for the definition, or one that only passes its arguments on.
    let written = sources.slice(function.span);
    let is_other = is_name(written) && written != &**callee;
    Some(match &guess.of {
        None if is_other => about(written, None, arg, callee, name),
        None => about(callee, Some(name), arg, callee, name),
        Some((other, parameter)) => {
            about(if is_other { written } else { callee }, Some(name), arg, other, parameter)
        }
    })
}

/// A parameter that is mapped over: its name, how many axes it has, and the argument.
pub(super) type MappedOver<'a> = (&'a str, usize, &'a Arg);

/// That a definition is mapped over the rows of arrays, of which it takes one; there is such an array.
pub(super) fn over_rows(callee: &str, mapped: &[MappedOver<'_>], note: String) -> Diagnostic {
    let (name, axes, arg) = mapped[0];
    let ty = &arg.expr.ty;
    let taken = |arg: &Arg, axes: usize| Type::arrays(axes, arg.expr.ty.peel().1.clone());
    let annotated = |of: &dyn Fn(&MappedOver<'_>) -> String| {
        mapped.iter().map(of).collect::<Vec<_>>().join(" ")
    };
    let whole = annotated(&|(name, _, arg)| format!("({name} : {})", arg.expr.ty));
    let rows = annotated(&|(name, axes, arg)| format!("({name} : {})", taken(arg, *axes)));
    let taken = taken(arg, axes);
    let (over, one) = match axes {
        0 => ("", "element"),
        _ => (" the rows of", "row"),
    };
    let message =
        format!("`{callee}` is mapped over{over} this array: it takes `{name}` for {taken}");
    Diagnostic::error("E0320", message, arg.expr.span, format!("this is {ty}"))
        .warning()
        .note(note)
        .help(format!(
            "if the whole array is meant, write `{whole}` there; `{rows}` says that one {one} is"
        ))
}

/// That a definition is mapped over all axes of an array, though it could take a part of it, of this type.
fn of_part(callee: &str, name: &str, arg: &Arg, part: &Type) -> Diagnostic {
    let element = arg.expr.ty.peel().1;
    let mut remark = about(callee, Some(name), arg, callee, name);
    remark.help = vec![format!(
        "it could take a part of it: `({name} : {part})`; `({name} : {element})` says that one element is meant"
    )];
    remark
}

/// `addRow m v`, of `def addRow m v = { r + v : r in m }`: a definition of an array and one element like those in it,
/// which is mapped over a matrix and a vector: the first row goes with the first element.
fn side_by_side(
    definition: &Function,
    given: usize,
    args: &[Arg],
    sources: &Sources,
) -> Option<Diagnostic> {
    let ExprKind::Lambda { params, .. } = &definition.body.kind else { return None };
    let mut types = Vec::new();
    let mut rest = &definition.scheme.ty;
    while let Type::Function(param, result) = rest {
        types.push(&**param);
        rest = result;
    }
    let head = sources.slice(definition.span);
    let head = head.split_once('=').map_or(head, |(head, _)| head);
    let mapped = types.iter().zip(params).skip(given).zip(args).filter_map(|((ty, param), arg)| {
        let Pattern::Local { name, .. } = param else { return None };
        let (rank, head) = ty.peel();
        matches!(head, Type::Var(_)).then_some((rank, head, name, arg))
    });
    let mapped: Vec<_> = mapped.filter(|(.., arg)| arg.mapped).collect();
    let (_, element, single, arg) =
        mapped.iter().find(|(rank, _, name, _)| *rank == 0 && !is_annotated(head, name))?;
    let (_, _, array, rows) = mapped.iter().find(|(rank, of, ..)| *rank > 0 && of == element)?;
    let (callee, ty) = (&definition.name, &arg.expr.ty);
    let message = format!(
        "`{callee}` is mapped over both arrays side by side: each element of this one goes with one row of `{array}`"
    );
    let remark = Diagnostic::error("E0320", message, arg.expr.span, format!("this is {ty}"));
    Some(
        remark
            .warning()
            .note(format!("nothing in the definition of `{callee}` says that `{single}` is an array"))
            .help(format!(
                "if all of it goes with each row, write `({array} : {}) ({single} : {ty})` there; `({single} : {})` says \
                 that one element does",
                rows.expr.ty,
                ty.peel().1
            )),
    )
}

/// Whether a parameter has a type, in the head of a definition.
fn is_annotated(head: &str, name: &str) -> bool {
    head.split_once(&format!("({name}")).is_some_and(|(_, rest)| rest.trim_start().starts_with(':'))
}

/// The same about a local function, of which one parameter only goes on to such a one of a definition.
pub(super) fn local_remark(
    program: &Program,
    state: &State,
    sources: &Sources,
    (name, value): (&str, &Expr),
    args: &[Arg],
) -> Option<Diagnostic> {
    let ExprKind::Lambda { params, body } = &value.kind else { return None };
    let head = sources.slice(value.span);
    let head = head.split_once('=').map_or(head, |(head, _)| head);
    params.iter().zip(args).filter(|(_, arg)| arg.mapped).find_map(|(param, arg)| {
        let Pattern::Local { local, name: own, .. } = param else { return None };
        // An annotation says what it is.
        let is_annotated = is_annotated(head, own);
        let mut uses = Uses { program, state, local: *local, all: 0, passed: 0, of: None };
        uses.expr(body);
        let (callee, parameter) = uses.of.filter(|_| uses.all == uses.passed && !is_annotated)?;
        Some(about(name, Some(own), arg, &callee, &parameter))
    })
}

/// That `mapped` is mapped over an argument, which it takes as `own`, since nothing in the definition of `callee` says what
/// `parameter` is.
fn about(mapped: &str, own: Option<&str>, arg: &Arg, callee: &str, parameter: &str) -> Diagnostic {
    let ty = &arg.expr.ty;
    let element = ty.peel().1;
    let message = match own {
        Some(own) => {
            format!("`{mapped}` is mapped over this array: it takes `{own}` for one element")
        }
        None => format!(
            "`{mapped}` is mapped over this array: it goes to `{callee}`, which takes `{parameter}` for one element"
        ),
    };
    let remark =
        Diagnostic::error("E0320", message, arg.expr.span, format!("this is {ty}")).warning();
    match own {
        Some(own) if mapped != callee => remark.note(format!(
            "`{own}` goes to `{callee}`, and nothing in the definition of that says what `{parameter}` is"
        )),
        _ => remark
            .note(format!("nothing in the definition of `{callee}` says what `{parameter}` is")),
    }
    .help(match mapped == callee {
        true => format!(
            "if the whole array is meant, write `({parameter} : {ty})` there; `({parameter} : {element})` says that one \
             element is"
        ),
        false => format!(
            "if the whole array is meant, write `({parameter} : {ty})` in the definition of `{callee}`; \
             `({parameter} : {element})` says that one element is"
        ),
    })
}

/// Where a variable stands.
struct Uses<'p> {
    program: &'p Program,
    state: &'p State,
    local: LocalId,
    /// In how many places.
    all: usize,
    /// How many of them are arguments for parameters that were guessed to be one element.
    passed: usize,
    /// The definition of one of these, and its parameter.
    of: Option<(Name, Name)>,
}

impl Uses<'_> {
    fn expr(&mut self, expr: &Expr) {
        match &expr.kind {
            ExprKind::Local(local, _) if *local == self.local => self.all += 1,
            ExprKind::Apply { function, args, .. } => self.passed(function, args),
            _ => {}
        }
        expr.for_each_child(&mut |child| self.expr(child));
    }

    fn passed(&mut self, function: &Expr, args: &[Arg]) {
        let Some((definition, given)) = applied(self.program, self.state, function) else { return };
        for (position, Arg { expr, mapped }) in args.iter().enumerate() {
            let is_it = matches!(&expr.kind, ExprKind::Local(local, _) if *local == self.local);
            let is_guessed =
                |guess: &&Guess| guess.rank == 0 && guess.parameter == position + given;
            if let Some(guess) = definition.guesses.iter().find(is_guessed)
                && is_it
                && !mapped
            {
                self.passed += 1;
                let own = || (definition.name.clone(), guess.name.clone());
                self.of = Some(guess.of.clone().unwrap_or_else(own));
            }
        }
    }
}

/// The definition that is applied, and how many arguments it has been given before.
pub(super) fn applied<'s>(
    program: &Program,
    state: &'s State,
    function: &Expr,
) -> Option<(&'s Function, usize)> {
    /// Names for partial applications of partial applications.
    const MOST_NAMES: usize = 16;
    let (mut function, mut given) = (function, 0);
    for _ in 0..MOST_NAMES {
        match &function.kind {
            ExprKind::Apply { function: inner, args, .. } => {
                given += args.len();
                function = inner;
            }
            ExprKind::Function(FunctionRef::Instance(id)) => {
                let instance = program.instances.get(id.0 as usize)?;
                // `h = f x`
                if let ExprKind::Apply { .. } | ExprKind::Function(_) = &instance.body.kind {
                    function = &instance.body;
                    continue;
                }
                return match state.environment.global(instance.global)? {
                    Global::Function(definition) => Some((definition, given)),
                    Global::Value { .. } => None,
                };
            }
            _ => return None,
        }
    }
    None
}
