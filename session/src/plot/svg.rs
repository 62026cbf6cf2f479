//! A frame of figures as SVG, for notebooks: one file that needs nothing else. It brings its own
//! light ground, so that it reads on a page of any colour.

use std::fmt::Write as _;

use super::colour::{self, Rgb};
use super::figure::{Figure, Mark};
use super::heat::Cells;
use super::layout::{Area, Canvas, Layout, LegendEntry, Series, Shape, lay_out};
use crate::display::Picture;

const GROUND: &str = "#ffffff";
const GRID: &str = "#e8e8e8";
const AXIS: &str = "#8a8a8a";
const INK: &str = "#3c3c3c";
const TITLE: &str = "#1c1c1c";

/// The figures in one frame of 640 by 400 pixels. There is at least one.
pub(crate) fn svg(figures: &[Figure]) -> String {
    let canvas = Canvas::picture();
    let layout = lay_out(figures, &canvas);
    let mut out = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{w}\" height=\"{h}\" viewBox=\"0 0 {w} {h}\" \
         style=\"max-width: 100%; height: auto\" \
         font-family=\"system-ui, 'Helvetica Neue', Helvetica, Arial, 'DejaVu Sans', sans-serif\" \
         font-size=\"12\" fill=\"{INK}\">\n\
         {title}<rect width=\"{w}\" height=\"{h}\" rx=\"4\" fill=\"{GROUND}\"/>\n",
        w = canvas.width,
        h = canvas.height,
        title = spoken(&layout),
    );
    axes(&mut out, &layout);
    if let Some(cells) = &layout.cells {
        heat(&mut out, cells, &layout.area);
    }
    for series in &layout.series {
        draw(&mut out, series, layout.cells.is_some());
    }
    frame(&mut out, &layout);
    words(&mut out, &layout, &canvas);
    out.push_str("</svg>\n");
    out
}

/// What is said of the picture where it cannot be seen: its title, else what is drawn over what.
fn spoken(layout: &Layout) -> String {
    let said = match (&*layout.title, &*layout.y.label, &*layout.x.label) {
        ("", "", "") => "a plot".to_owned(),
        ("", y, "") => format!("a plot of {y}"),
        ("", "", x) => format!("a plot over {x}"),
        ("", y, x) => format!("a plot of {y} over {x}"),
        (title, _, _) => title.to_owned(),
    };
    format!("<title>{}</title>\n", escaped(&said))
}

/// The lines of the grid, and the numbers.
fn axes(out: &mut String, layout: &Layout) {
    let area = &layout.area;
    let with_grid = layout.cells.is_none();
    let vertical = layout.series.iter().any(|series| !matches!(series.shape, Shape::Bars(_)));
    let mut lines = String::new();
    for tick in &layout.y.ticks {
        let y = snap(tick.place);
        push(&mut lines, format_args!("M{} {y}H{}", number(area.left), number(area.right)));
    }
    if vertical {
        for tick in &layout.x.ticks {
            let x = snap(tick.place);
            push(&mut lines, format_args!("M{x} {}V{}", number(area.top), number(area.bottom)));
        }
    }
    if with_grid {
        push(out, format_args!("<path d=\"{lines}\" stroke=\"{GRID}\" fill=\"none\"/>\n"));
    }
    for tick in &layout.y.ticks {
        let (x, y) = (number(area.left - 8.0), number(tick.place + 4.0));
        push(
            out,
            format_args!("<text x=\"{x}\" y=\"{y}\" text-anchor=\"end\">{}</text>\n", tick.label),
        );
    }
    for tick in &layout.x.ticks {
        let (x, y) = (number(tick.place), number(area.bottom + 20.0));
        push(
            out,
            format_args!(
                "<text x=\"{x}\" y=\"{y}\" text-anchor=\"middle\">{}</text>\n",
                tick.label
            ),
        );
    }
}

/// The two axes with their ticks, over the data.
fn frame(out: &mut String, layout: &Layout) {
    let area = &layout.area;
    let (left, bottom) = (snap(area.left), snap(area.bottom));
    let mut path = format!("M{left} {}V{bottom}H{}", number(area.top), number(area.right));
    for tick in &layout.x.ticks {
        push(&mut path, format_args!("M{} {bottom}v4", snap(tick.place)));
    }
    for tick in &layout.y.ticks {
        push(&mut path, format_args!("M{left} {}h-4", snap(tick.place)));
    }
    push(out, format_args!("<path d=\"{path}\" stroke=\"{AXIS}\" fill=\"none\"/>\n"));
}

/// What one figure draws.
fn draw(out: &mut String, series: &Series, over_cells: bool) {
    let colour = hex(if over_cells { [255; 3] } else { colour::series(series.style) });
    match &series.shape {
        Shape::Lines(pieces) => {
            let (mut path, mut alone) = (String::new(), String::new());
            for piece in pieces {
                // A single point has no length; the round cap makes it a dot.
                if let [(x, y)] = piece[..] {
                    push(&mut alone, format_args!("M{} {}h0", number(x), number(y)));
                    continue;
                }
                for (index, (x, y)) in piece.iter().enumerate() {
                    let step = if index == 0 { 'M' } else { 'L' };
                    push(&mut path, format_args!("{step}{} {}", number(*x), number(*y)));
                }
            }
            if !path.is_empty() || alone.is_empty() {
                push(
                    out,
                    format_args!(
                        "<path d=\"{path}\" fill=\"none\" stroke=\"{colour}\" stroke-width=\"1.8\" \
                         stroke-linejoin=\"round\" stroke-linecap=\"round\"{}/>\n",
                        dashes(series.style)
                    ),
                );
            }
            if !alone.is_empty() {
                push(
                    out,
                    format_args!(
                        "<path d=\"{alone}\" fill=\"none\" stroke=\"{colour}\" stroke-width=\"5\" \
                         stroke-linecap=\"round\"/>\n"
                    ),
                );
            }
        }
        Shape::Dots(dots) => {
            let count = dots.groups.iter().map(Vec::len).sum::<usize>();
            let (size, opacity) = match (dots.apart, count) {
                // A little more than from one to the next, so that round ones leave no gaps.
                (Some(apart), _) => (1.2 * apart, 1.0),
                (None, 0..200) => (6.0, 0.85),
                (None, 200..1000) => (4.5, 0.7),
                (None, _) => (3.0, 0.55),
            };
            for (at, group) in dots.groups.iter().enumerate().filter(|(_, group)| !group.is_empty())
            {
                let mut path = String::new();
                for (x, y) in group {
                    push(&mut path, format_args!("M{} {}h0", number(*x), number(*y)));
                }
                let opacity = opacity * (at + 1) as f64 / dots.groups.len() as f64;
                push(
                    out,
                    format_args!(
                        "<path d=\"{path}\" stroke=\"{colour}\" stroke-width=\"{}\" \
                         stroke-linecap=\"round\" stroke-opacity=\"{opacity}\"/>\n",
                        number(size)
                    ),
                );
            }
        }
        Shape::Bars(bars) => {
            let mut path = String::new();
            // A thin gap between bars, where they are wide enough for one.
            let gap = if bars.first().is_some_and(|bar| bar.width() > 4.0) { 0.5 } else { 0.0 };
            for bar in bars {
                push(
                    &mut path,
                    format_args!(
                        "M{} {}H{}V{}H{}z",
                        number(bar.left + gap),
                        number(bar.top),
                        number(bar.right - gap),
                        number(bar.bottom),
                        number(bar.left + gap),
                    ),
                );
            }
            push(
                out,
                format_args!("<path d=\"{path}\" fill=\"{colour}\" fill-opacity=\"0.8\"/>\n"),
            );
        }
    }
}

/// The matrix, and the bar that says what its colours mean.
fn heat(out: &mut String, cells: &Cells, area: &Area) {
    let pixels = (0..cells.rows)
        .flat_map(|row| (0..cells.columns).map(move |column| (row, column)))
        .flat_map(|(row, column)| cells.colour(row, column));
    let picture =
        Picture { width: cells.columns, height: cells.rows, colour: true, bytes: pixels.collect() };
    image(out, &picture, area);
    let bar = Area { left: area.right + 18.0, right: area.right + 32.0, ..*area };
    let steps = 128;
    let levels = (0..steps).rev().map(|step| f64::from(step) / f64::from(steps - 1));
    let picture = Picture {
        width: 1,
        height: 128,
        colour: true,
        bytes: levels.flat_map(colour::heat).collect(),
    };
    image(out, &picture, &bar);
    let mut path = String::new();
    for tick in &cells.ticks {
        let y = bar.bottom - tick.place * bar.height();
        push(&mut path, format_args!("M{} {}h4", number(bar.right), snap(y)));
        let (x, y) = (number(bar.right + 8.0), number(y + 4.0));
        push(out, format_args!("<text x=\"{x}\" y=\"{y}\">{}</text>\n", tick.label));
    }
    push(out, format_args!("<path d=\"{path}\" stroke=\"{AXIS}\"/>\n"));
}

fn image(out: &mut String, picture: &Picture, area: &Area) {
    // Not every program keeps pixels apart when it makes them larger.
    let factor = (512 / picture.width.max(picture.height)).max(1);
    let picture = picture.resized(picture.width * factor, picture.height * factor);
    let Some(png) = picture.png() else { return };
    push(
        out,
        format_args!(
            "<image x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" preserveAspectRatio=\"none\" \
             style=\"image-rendering:pixelated\" href=\"data:image/png;base64,{}\"/>\n",
            number(area.left),
            number(area.top),
            number(area.width()),
            number(area.height()),
            crate::display::base64(&png),
        ),
    );
}

/// Title, labels of the axes and legend.
fn words(out: &mut String, layout: &Layout, canvas: &Canvas) {
    let area = &layout.area;
    let middle = (area.left + area.right) / 2.0;
    if !layout.title.is_empty() {
        let (size, title) = fitted(&layout.title, 15.0, canvas.width - 32.0);
        push(
            out,
            format_args!(
                "<text x=\"16\" y=\"{}\" font-size=\"{size}\" font-weight=\"600\" \
                 fill=\"{TITLE}\">{}</text>\n",
                number(layout.head.title + 16.0),
                escaped(&title)
            ),
        );
    }
    if !layout.x.label.is_empty() {
        let y = number(canvas.height - 12.0);
        let room = 2.0 * middle.min(canvas.width - middle) - 16.0;
        let (size, label) = fitted(&layout.x.label, 13.0, room);
        push(
            out,
            format_args!(
                "<text x=\"{}\" y=\"{y}\" text-anchor=\"middle\" font-size=\"{size}\">{}</text>\n",
                number(middle),
                escaped(&label)
            ),
        );
    }
    if !layout.y.label.is_empty() {
        let middle = (area.top + area.bottom) / 2.0;
        let room = 2.0 * middle.min(canvas.height - middle) - 8.0;
        let (size, label) = fitted(&layout.y.label, 13.0, room);
        push(
            out,
            format_args!(
                "<text transform=\"translate(18 {}) rotate(-90)\" text-anchor=\"middle\" \
                 font-size=\"{size}\">{}</text>\n",
                number(middle),
                escaped(&label)
            ),
        );
    }
    for (index, line) in layout.legend.iter().enumerate() {
        let y = layout.head.legend + index as f64 * (canvas.glyph.1 + 6.0) + 10.0;
        line.iter().for_each(|entry| legend_entry(out, entry, y, layout.cells.is_some()));
    }
}

/// A text with the size, of at most `size`, at which it has room; what has none at a size that can be read ends with `…`.
fn fitted(text: &str, size: f64, room: f64) -> (String, String) {
    /// The width of a letter and the least size, in the units of a font's size and of the picture.
    const LETTER: f64 = 0.62;
    const LEAST: f64 = 10.0;
    let width = |text: &str| unicode_width::UnicodeWidthStr::width(text) as f64 * LETTER;
    let fitting = (room / width(text)).min(size);
    if fitting >= LEAST {
        return (number(fitting), text.to_owned());
    }
    let mut cut = text.to_owned();
    while !cut.is_empty() && width(&cut) * LEAST > room - LETTER * LEAST {
        cut.pop();
    }
    (number(LEAST), format!("{}…", cut.trim_end()))
}

fn legend_entry(out: &mut String, entry: &LegendEntry, y: f64, over_cells: bool) {
    let colour = hex(if over_cells { [255; 3] } else { colour::series(entry.style) });
    let (left, middle) = (number(entry.left), number(y));
    match entry.mark {
        Mark::Line | Mark::Cells => push(
            out,
            format_args!(
                "<path d=\"M{left} {middle}h18\" stroke=\"{colour}\" stroke-width=\"2\" \
                 stroke-linecap=\"round\"{}/>\n",
                dashes(entry.style)
            ),
        ),
        Mark::Points => push(
            out,
            format_args!(
                "<circle cx=\"{}\" cy=\"{middle}\" r=\"3.5\" fill=\"{colour}\"/>\n",
                number(entry.left + 12.0)
            ),
        ),
        Mark::Bars => push(
            out,
            format_args!(
                "<rect x=\"{}\" y=\"{}\" width=\"10\" height=\"10\" fill=\"{colour}\" \
                 fill-opacity=\"0.8\"/>\n",
                number(entry.left + 7.0),
                number(y - 5.0)
            ),
        ),
    }
    let (x, y) = (number(entry.left + 24.0), number(y + 4.0));
    push(out, format_args!("<text x=\"{x}\" y=\"{y}\">{}</text>\n", escaped(&entry.label)));
}

/// Where the colours are used up, lines are dashed.
fn dashes(style: usize) -> &'static str {
    match colour::round(style) {
        0 => "",
        1 => " stroke-dasharray=\"6 4\"",
        _ => " stroke-dasharray=\"2 4\"",
    }
}

fn hex([red, green, blue]: Rgb) -> String {
    format!("#{red:02x}{green:02x}{blue:02x}")
}

/// A coordinate with a tenth of a pixel.
fn number(value: f64) -> String {
    let text = format!("{value:.1}");
    text.strip_suffix(".0").map(str::to_owned).unwrap_or(text)
}

/// The middle of a pixel, so that thin lines are sharp.
fn snap(value: f64) -> String {
    number(value.floor() + 0.5)
}

/// Text between tags.
pub(crate) fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

fn push(out: &mut String, text: std::fmt::Arguments<'_>) {
    out.write_fmt(text).expect("writing to a string");
}
