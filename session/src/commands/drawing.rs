//! `:plot`, `:image` and `:show`: other ways to look at a value.

use weft_ir::Type;
use weft_lang::{CheckedItem, CheckedKind, Diagnostic, render};

use super::Call;
use crate::display;
use crate::plan::{Planner, Step};
use crate::plot;
use crate::prelude;

/// `:plot e`: a plot as it is, anything else as `plot (e)`.
pub(super) fn plot(planner: &mut Planner<'_>, call: &Call) -> Result<(), Box<Diagnostic>> {
    call.needed("`:plot` takes an expression")?;
    drawn(planner, call, "plot", plot::is_plot);
    Ok(())
}

/// `:image e`: a picture as it is, anything else as `image (e)`.
pub(super) fn image(planner: &mut Planner<'_>, call: &Call) -> Result<(), Box<Diagnostic>> {
    call.needed("`:image` takes an expression")?;
    drawn(planner, call, "image", display::is_image);
    Ok(())
}

/// `:show e`: as a bare expression, but with much more of it.
pub(super) fn show(planner: &mut Planner<'_>, call: &Call) -> Result<(), Box<Diagnostic>> {
    call.needed("`:show` takes an expression")?;
    if let Some(expression) = planner.expression(call.argument_span) {
        planner.adopt(&expression.item, expression.environment);
        planner.steps.push(Step::Whole(expression.item));
    }
    Ok(())
}

/// Shows an expression, with the function applied to it unless its type needs none.
fn drawn(planner: &mut Planner<'_>, call: &Call, function: &str, is_drawn: fn(&Type) -> bool) {
    let Some(expression) = planner.expression(call.argument_span) else { return };
    if type_of(&expression.item).is_some_and(is_drawn) {
        planner.adopt(&expression.item, expression.environment);
        planner.steps.push(Step::Item { item: expression.item, shown: true });
        return;
    }
    let source = render::Sources::name(&*planner.sources, call.argument_span.source).to_owned();
    if prelude::entry(&planner.state.environment, function).is_some() {
        let text = format!("{function} ({})", call.argument);
        return planner.text(&source, &text, &call.directory);
    }
    // The user calls something else so, which may be in the argument.
    let own = format!("builtin{}{}", function[..1].to_uppercase(), &function[1..]);
    prelude::bring_back_as(&own, function, &mut planner.state.environment);
    planner.text(&source, &format!("{own} ({})", call.argument), &call.directory);
    planner.state.environment.unbind(&own);
}

fn type_of(item: &CheckedItem) -> Option<&Type> {
    match &item.kind {
        CheckedKind::Show { ty, .. } | CheckedKind::Bind { ty, .. } => Some(ty),
        CheckedKind::ShowFunction { .. }
        | CheckedKind::Define { .. }
        | CheckedKind::Alias { .. } => None,
    }
}
