//! Plots: values of the prelude's type `figure`, and arrays of them, as SVG and as characters.
//!
//! ```text
//! Value ─figure→ [Figure] ─lay_out→ Layout ─→ svg | terminal
//! ```

mod colour;
mod figure;
mod heat;
mod layout;
mod scale;
mod svg;
mod terminal;
mod thin;

use std::sync::LazyLock;

use weft_ir::{Type, Value};

pub(crate) use colour::indexed;
pub(crate) use figure::is_figure;
pub(crate) use svg::escaped;

/// What the prelude calls the type of plots.
pub(crate) const TYPE: &str = "figure";

/// Whether values of the type are plots, or arrays of them.
pub(crate) fn is_plot(ty: &Type) -> bool {
    match ty {
        Type::Array(element) => is_figure(element),
        other => is_figure(other),
    }
}

/// A type as text, with the name of the type of plots in place of its many fields.
pub(crate) fn shortened(ty: String) -> String {
    static FIELDS: LazyLock<String> = LazyLock::new(|| figure::ty().to_string());
    if ty.contains("{mark: ") { ty.replace(&*FIELDS, TYPE) } else { ty }
}

/// The value as an SVG document, if it is a plot.
pub(crate) fn svg(value: &Value, ty: &Type) -> Option<String> {
    figure::figures(value, ty).map(|figures| svg::svg(&figures))
}

/// The value as lines of at most `width` characters, if it is a plot.
pub(crate) fn text(value: &Value, ty: &Type, width: usize, colour: bool) -> Option<String> {
    figure::figures(value, ty).map(|figures| terminal::text(&figures, width, colour))
}

/// Why a plot shows nothing, or cannot be drawn at all.
pub(crate) fn nothing_to_see(value: &Value, ty: &Type) -> Option<String> {
    match figure::figures(value, ty) {
        Some(figures) => figures
            .iter()
            .all(figure::Figure::is_blank)
            .then(|| "a plot with nothing in it: none of its numbers can be drawn".to_owned()),
        None if is_plot(ty) => figure::flaw(value),
        None => None,
    }
}

#[cfg(test)]
mod tests;
