//! Where everything of a frame of figures goes. One layout serves pictures and terminals: it only
//! knows how large a character is and what the finest step is that can be seen.

use super::figure::{Figure, Mark};
use super::heat::{self, Cells};
use super::scale::{Scale, Tick};
use super::thin::{self, Dots};

/// What a frame is drawn on.
#[derive(Clone, Debug)]
pub(crate) struct Canvas {
    /// Its extent, in units of its own.
    pub(crate) width: f64,
    /// The same.
    pub(crate) height: f64,
    /// The extent of a character.
    pub(crate) glyph: (f64, f64),
    /// The finest steps that can be seen.
    pub(crate) step: (f64, f64),
    /// Between numbers and the axis that they belong to.
    pub(crate) gap: f64,
    /// How high a unit is where it is 1 wide.
    pub(crate) unit_height: f64,
    /// Whether places are whole characters, and no text can be turned.
    pub(crate) is_text: bool,
}

/// A box, in units of the canvas; `top` is the smaller number.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Area {
    pub(crate) left: f64,
    pub(crate) top: f64,
    pub(crate) right: f64,
    pub(crate) bottom: f64,
}

/// A frame, ready to be drawn. Places are in units of the canvas.
#[derive(Debug)]
pub(crate) struct Layout {
    pub(crate) title: String,
    /// Where the title, the label of the vertical axis in a text, and the first line of the legend
    /// begin.
    pub(crate) head: Head,
    /// What the data are drawn in.
    pub(crate) area: Area,
    pub(crate) x: Axis,
    pub(crate) y: Axis,
    pub(crate) series: Vec<Series>,
    pub(crate) legend: Vec<Vec<LegendEntry>>,
    pub(crate) cells: Option<Cells>,
}

/// The tops of what stands above the area.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Head {
    pub(crate) title: f64,
    pub(crate) legend: f64,
    pub(crate) y_label: f64,
}

/// An axis: places of ticks in units of the canvas.
#[derive(Debug)]
pub(crate) struct Axis {
    pub(crate) ticks: Vec<Tick>,
    pub(crate) label: String,
}

/// What one figure draws.
#[derive(Debug)]
pub(crate) struct Series {
    /// Which colour.
    pub(crate) style: usize,
    pub(crate) shape: Shape,
}

/// Places in units of the canvas.
#[derive(Debug)]
pub(crate) enum Shape {
    Lines(Vec<Vec<(f64, f64)>>),
    Dots(Dots),
    Bars(Vec<Area>),
}

/// A line of the legend.
#[derive(Debug)]
pub(crate) struct LegendEntry {
    pub(crate) style: usize,
    pub(crate) mark: Mark,
    pub(crate) label: String,
    /// Where it begins.
    pub(crate) left: f64,
}

impl Canvas {
    /// Pixels.
    pub(crate) fn picture() -> Canvas {
        Canvas {
            width: 640.0,
            height: 400.0,
            // Digits of wide fonts.
            glyph: (7.7, 15.0),
            step: (0.5, 0.5),
            gap: 8.0,
            unit_height: 1.0,
            is_text: false,
        }
    }

    /// The characters of a terminal; one is twice as high as wide, and shows 2 by 4 dots.
    pub(crate) fn terminal(width: usize) -> Canvas {
        let width = width.clamp(24, 100);
        Canvas {
            width: width as f64,
            height: (width as f64 / 4.0).round().clamp(10.0, 22.0),
            glyph: (1.0, 1.0),
            step: (0.5, 0.25),
            gap: 1.0,
            unit_height: 2.0,
            is_text: true,
        }
    }

    fn text_width(&self, text: &str) -> f64 {
        unicode_width::UnicodeWidthStr::width(text) as f64 * self.glyph.0
    }

    /// The greatest width among the numbers of an axis.
    fn ticks_width(&self, ticks: &[Tick]) -> f64 {
        ticks.iter().map(|tick| self.text_width(&tick.label)).fold(0.0, f64::max)
    }
}

impl Area {
    pub(crate) fn width(&self) -> f64 {
        self.right - self.left
    }

    pub(crate) fn height(&self) -> f64 {
        self.bottom - self.top
    }

    /// The place of a point of the unit square, whose origin is at the bottom left.
    fn at(&self, x: f64, y: f64) -> (f64, f64) {
        (self.left + x * self.width(), self.bottom - y * self.height())
    }
}

/// Lays figures out in one frame. There is at least one.
pub(crate) fn lay_out(figures: &[Figure], canvas: &Canvas) -> Layout {
    let words = |get: fn(&Figure) -> &String| {
        figures.iter().map(get).find(|text| !text.is_empty()).cloned().unwrap_or_default()
    };
    let title = words(|figure| &figure.title);
    let (x_label, y_label) = (words(|figure| &figure.x_label), words(|figure| &figure.y_label));
    let legend = legend(figures, canvas);
    let (x_scale, y_scale) = scales(figures);
    let grid = figures.iter().find(|figure| figure.mark == Mark::Cells);

    // From the top and the bottom inwards: heights do not depend on what stands beside the axes.
    let line = canvas.glyph.1;
    let pad = if canvas.is_text { 0.0 } else { 6.0 };
    let mut top = if canvas.is_text { 0.0 } else { 10.0 };
    let mut head = Head::default();
    if !title.is_empty() {
        head.title = top;
        top += if canvas.is_text { line } else { line + pad + 4.0 };
    }
    head.legend = top;
    top += legend.len() as f64 * (line + pad);
    if canvas.is_text && !y_label.is_empty() {
        head.y_label = top;
        top += line;
    }
    if !canvas.is_text {
        top += line / 2.0;
    }
    let below = if canvas.is_text { 1.0 } else { canvas.gap + 2.0 }
        + line
        + if x_label.is_empty() { 0.0 } else { line + pad };
    let bottom = canvas.height - below;

    // Then the numbers beside the vertical axis, and what is left for the horizontal one.
    let y_ticks = y_scale.ticks(((bottom - top) / (line * 3.0)).round().max(2.0) as usize);
    let mut left = canvas.ticks_width(&y_ticks) + canvas.gap;
    if canvas.is_text {
        left = left.max(2.0);
    } else {
        left += if y_label.is_empty() { 10.0 } else { line + 14.0 };
    }
    let range = grid.and_then(|figure| heat::range(&figure.grid));
    let bar_ticks = range.map(|(low, high)| {
        let scale = Scale::new(low, high, false, (0.0, 0.0));
        scale.ticks(((bottom - top) / (line * 3.0)).max(2.0) as usize)
    });
    let beside = match &bar_ticks {
        Some(ticks) => {
            canvas.ticks_width(ticks) + canvas.glyph.0 * if canvas.is_text { 5.0 } else { 8.0 }
        }
        None if canvas.is_text => 1.0,
        None => 20.0,
    };
    let mut area = Area { left, top, right: (canvas.width - beside).max(left + 8.0), bottom };
    if let Some(figure) = grid {
        area = with_square_cells(area, figure, canvas);
    }
    let x_ticks = fitting_ticks(&x_scale, area.width(), canvas);

    let cells = grid.zip(range).map(|(figure, range)| {
        let most =
            ((area.width() / canvas.step.0) as usize, (area.height() / canvas.step.1) as usize);
        // A character shows two cells, one above the other.
        let most = if canvas.is_text {
            (area.width() as usize, area.height() as usize * 2)
        } else {
            (most.0.max(1), most.1.max(1))
        };
        heat::cells(figure, range, most, bar_ticks.clone().unwrap_or_default())
    });
    let series = figures
        .iter()
        .filter(|figure| figure.mark != Mark::Cells)
        .enumerate()
        .map(|(style, figure)| Series {
            style,
            shape: shape(figure, &x_scale, &y_scale, &area, canvas),
        })
        .collect();
    Layout {
        title,
        head,
        area,
        x: Axis { ticks: placed(x_ticks, |place| area.at(place, 0.0).0), label: x_label },
        y: Axis { ticks: placed(y_ticks, |place| area.at(0.0, place).1), label: y_label },
        series,
        legend,
        cells,
    }
}

fn placed(ticks: Vec<Tick>, place: impl Fn(f64) -> f64) -> Vec<Tick> {
    ticks.into_iter().map(|tick| Tick { place: place(tick.place), ..tick }).collect()
}

/// As many numbers as fit side by side.
fn fitting_ticks(scale: &Scale, width: f64, canvas: &Canvas) -> Vec<Tick> {
    let mut most = ((width / (canvas.glyph.0 * 7.0)) as usize).clamp(2, 12);
    loop {
        let ticks = scale.ticks(most);
        let needed = (canvas.ticks_width(&ticks) + canvas.glyph.0 * 2.0) * ticks.len() as f64;
        if needed <= width || most <= 2 {
            return ticks;
        }
        most -= 1;
    }
}

/// The scales that hold all figures.
fn scales(figures: &[Figure]) -> (Scale, Scale) {
    if let Some(figure) = figures.iter().find(|figure| figure.mark == Mark::Cells) {
        return (
            heat::scale(&figure.x, figure.grid.columns, false),
            heat::scale(&figure.y, figure.grid.rows, true),
        );
    }
    let log_x = figures.iter().any(|figure| figure.log_x);
    let log_y = figures.iter().any(|figure| figure.log_y);
    let bars = figures.iter().any(|figure| figure.mark == Mark::Bars);
    let (x_low, x_high) = extremes(figures.iter().flat_map(|figure| &figure.x), log_x);
    let (y_low, y_high) = extremes(figures.iter().flat_map(|figure| &figure.y), log_y);
    let x = Scale::new(x_low, x_high, log_x, (0.02, 0.02));
    let y = match (bars, log_y) {
        (true, false) if y_low >= 0.0 => Scale::new(0.0, y_high.max(y_low), false, (0.0, 0.05)),
        (true, false) => Scale::new(y_low, y_high.max(0.0), false, (0.05, 0.05)),
        (true, true) => Scale::new(y_low / 2.0, y_high, true, (0.0, 0.05)),
        (false, _) => Scale::new(y_low, y_high, log_y, (0.05, 0.05)),
    };
    (x, y)
}

/// The least and the greatest number that has a place; 0 and 1, or 1 and 10, if there is none.
fn extremes<'a>(numbers: impl Iterator<Item = &'a f64>, log: bool) -> (f64, f64) {
    let numbers = numbers.copied().filter(|number| number.is_finite() && (!log || *number > 0.0));
    let start = (f64::INFINITY, f64::NEG_INFINITY);
    let (low, high) = numbers.fold(start, |(low, high), x| (low.min(x), high.max(x)));
    match (low <= high, log) {
        (true, _) => (low, high),
        (false, true) => (1.0, 10.0),
        (false, false) => (0.0, 1.0),
    }
}

/// The area made smaller, so that cells without coordinates are squares if that costs little.
fn with_square_cells(area: Area, figure: &Figure, canvas: &Canvas) -> Area {
    let (rows, columns) = (figure.grid.rows as f64, figure.grid.columns as f64);
    let has_coordinates = !figure.x.is_empty() || !figure.y.is_empty();
    if has_coordinates || rows == 0.0 || columns == 0.0 {
        return area;
    }
    let wanted = columns / rows;
    let found = area.width() / (area.height() * canvas.unit_height);
    if !(0.2..=5.0).contains(&(wanted / found)) {
        return area;
    }
    let whole = |extent: f64| if canvas.is_text { extent.round().max(1.0) } else { extent };
    if wanted < found {
        let width = whole(area.height() * canvas.unit_height * wanted);
        return Area { right: area.left + width, ..area };
    }
    let height = whole(area.width() / canvas.unit_height / wanted);
    Area { top: area.bottom - height, ..area }
}

fn shape(figure: &Figure, x: &Scale, y: &Scale, area: &Area, canvas: &Canvas) -> Shape {
    let point = |(a, b): (&f64, &f64)| Some(area.at(x.place(*a)?, y.place(*b)?));
    let points = || figure.x.iter().zip(&figure.y).map(point);
    match figure.mark {
        Mark::Line => Shape::Lines(thin::lines(points(), canvas.step)),
        Mark::Points => Shape::Dots(thin::dots(points().flatten(), canvas.step)),
        Mark::Cells => Shape::Lines(Vec::new()),
        Mark::Bars => {
            let base = y.place(0.0).map_or(area.bottom, |place| area.at(0.0, place).1);
            let base = base.clamp(area.top, area.bottom);
            let edges = figure.x.windows(2).zip(&figure.y);
            let bars = edges.filter_map(|(edges, height)| {
                let (left, end) = area.at(x.place(edges[0])?, y.place(*height)?);
                let (right, _) = area.at(x.place(edges[1])?, 0.0);
                Some(Area { left, right, top: end.min(base), bottom: end.max(base) })
            });
            Shape::Bars(bars.filter(|bar| bar.height() > 0.0).collect())
        }
    }
}

/// The lines of the legend: figures with a label, or all of several without one by their position.
fn legend(figures: &[Figure], canvas: &Canvas) -> Vec<Vec<LegendEntry>> {
    const MOST_UNLABELLED: usize = 10;
    let series: Vec<&Figure> = figures.iter().filter(|figure| figure.mark != Mark::Cells).collect();
    let is_labelled = series.iter().any(|figure| !figure.label.is_empty());
    if !is_labelled && !(2..=MOST_UNLABELLED).contains(&series.len()) {
        return Vec::new();
    }
    let first = if canvas.is_text { 1.0 } else { 16.0 };
    let mut lines: Vec<Vec<LegendEntry>> = Vec::new();
    let mut left = canvas.width;
    for (style, figure) in series.into_iter().enumerate() {
        let label = match (is_labelled, figure.label.is_empty()) {
            (true, true) => continue,
            (true, false) => figure.label.clone(),
            (false, _) => format!("[{style}]"),
        };
        let width = canvas.text_width(&label) + canvas.glyph.0 * 5.0;
        if left + width > canvas.width {
            lines.push(Vec::new());
            left = first;
        }
        if let Some(line) = lines.last_mut() {
            line.push(LegendEntry { style, mark: figure.mark, label, left });
        }
        left += width;
    }
    lines
}
