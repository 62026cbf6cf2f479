//! `:save`: the format follows from the name.

use std::path::Path;

use weft_ir::{Type, Value};

use super::error::Problem;
use super::source::{Compression, compression, format};
use super::target::write_file;
use super::{csv, image, mtx, npy, npz, text, wav};
use crate::plot;

/// Writes `value` to `path`; the number of bytes of the file.
pub(super) fn save(
    value: &Value,
    ty: &Type,
    path: &Path,
    stop: &dyn Fn() -> bool,
) -> Result<u64, Problem> {
    let format = format(path);
    let compressed = compression(path) != Compression::None;
    if compressed && matches!(format.as_str(), "npz" | "png" | "wav" | "pgm" | "ppm" | "svg") {
        let message = format!("a .{format} file is not saved compressed");
        return Err(Problem::unsupported(message).hint("leave the last extension out"));
    }
    if plot::is_plot(ty)
        && matches!(format.as_str(), "png" | "pgm" | "ppm" | "jpg" | "jpeg" | "pdf")
    {
        let file = path.with_extension("svg");
        return Err(Problem::does_not_fit("plots are saved as .svg")
            .hint(&format!("name the file \"{}\"", file.display())));
    }
    write_file(path, stop, |target| match format.as_str() {
        "npy" => npy::write(value, ty, target),
        "npz" => npz::write(value, ty, target),
        "csv" => csv::write(value, ty, b',', target),
        "tsv" => csv::write(value, ty, b'\t', target),
        "mtx" => mtx::write(value, ty, target),
        "png" | "pgm" | "ppm" => image::write(value, ty, &format, target),
        "svg" => match plot::svg(value, ty) {
            Some(svg) => target.write_bytes(svg.as_bytes()),
            None => Err(Problem::does_not_fit(match plot::nothing_to_see(value, ty) {
                Some(why) => why,
                None => format!("only plots are saved as .svg, not {ty}"),
            })),
        },
        "wav" => wav::write(value, ty, target),
        "txt" => text::write(value, ty, target),
        "" => Err(unknown_format("the name has no extension that says in which format to save")),
        other => Err(unknown_format(&format!("files cannot be saved as .{other}"))),
    })
}

fn unknown_format(message: &str) -> Problem {
    Problem::unsupported(message)
        .hint("the formats are npy, npz, csv, tsv, mtx, png, pgm, ppm, wav, txt, and svg for plots")
}
