//! A frame of figures in characters: lines and dots in braille, 2 by 4 to a character, bars in
//! eighths of a block, cells in half blocks. Without colours, series of points and lines differ by
//! the character that draws them, and cells by their density.

use super::colour;
use super::figure::Figure;
use super::heat::Cells;
use super::layout::{Area, Canvas, Layout, Series, Shape, lay_out};

/// The marks of series where there are several and no colours.
const LETTERS: [char; 7] = ['*', '+', 'o', 'x', '#', '@', '%'];
/// Cells without colours, from little to much.
const DENSITIES: [char; 5] = [' ', '░', '▒', '▓', '█'];

/// The figures in one frame, on a terminal of `width` cells. There is at least one figure.
pub(crate) fn text(figures: &[Figure], width: usize, colour: bool) -> String {
    let canvas = Canvas::terminal(width);
    let layout = lay_out(figures, &canvas);
    let mut sheet = Sheet::new(&canvas, colour);
    if let Some(cells) = &layout.cells {
        sheet.cells(cells, &layout.area);
    }
    let letters = !colour && layout.series.len() > 1;
    for series in &layout.series {
        sheet.series(series, letters.then(|| LETTERS[series.style % LETTERS.len()]));
    }
    sheet.frame(&layout, letters);
    sheet.finish()
}

/// One character.
#[derive(Clone, Debug)]
struct Cell {
    shown: char,
    /// The parameters of the escape sequence that it needs; empty for none.
    style: String,
    /// The dots of a braille pattern that are set.
    dots: u8,
}

struct Sheet {
    columns: usize,
    cells: Vec<Cell>,
    colour: bool,
}

impl Sheet {
    fn new(canvas: &Canvas, colour: bool) -> Sheet {
        let (columns, rows) = (canvas.width as usize, canvas.height as usize);
        let blank = Cell { shown: ' ', style: String::new(), dots: 0 };
        Sheet { columns, cells: vec![blank; columns * rows], colour }
    }

    fn cell(&mut self, column: f64, row: f64) -> Option<&mut Cell> {
        let (column, row) = (column.floor(), row.floor());
        if column < 0.0 || row < 0.0 || column >= self.columns as f64 {
            return None;
        }
        self.cells.get_mut(row as usize * self.columns + column as usize)
    }

    fn put(&mut self, column: f64, row: f64, shown: char, style: &str) {
        let style = if self.colour { style.to_owned() } else { String::new() };
        if let Some(cell) = self.cell(column, row) {
            *cell = Cell { shown, style, dots: 0 };
        }
    }

    fn write(&mut self, column: f64, row: f64, text: &str, style: &str) {
        let mut column = column;
        for c in text.chars() {
            self.put(column, row, c, style);
            column += unicode_width::UnicodeWidthChar::width(c).unwrap_or(0) as f64;
        }
    }

    /// A dot of a braille pattern, or the letter of the series.
    fn dot(&mut self, (x, y): (f64, f64), letter: Option<char>, style: &str) {
        const BITS: [[u8; 4]; 2] = [[0x01, 0x02, 0x04, 0x40], [0x08, 0x10, 0x20, 0x80]];
        if let Some(letter) = letter {
            self.put(x, y, letter, style);
            return;
        }
        let style = if self.colour { style.to_owned() } else { String::new() };
        let bit = BITS[usize::from(x.fract() >= 0.5)][(y.fract() * 4.0) as usize & 3];
        if let Some(cell) = self.cell(x, y) {
            cell.dots |= bit;
            cell.style = style;
            cell.shown = char::from_u32(0x2800 + u32::from(cell.dots)).unwrap_or(' ');
        }
    }

    fn series(&mut self, series: &Series, letter: Option<char>) {
        let style = colour::terminal_series(series.style);
        match &series.shape {
            Shape::Dots(dots) => {
                dots.groups
                    .iter()
                    .flatten()
                    .for_each(|point| self.dot(inside(*point), letter, style));
            }
            Shape::Lines(pieces) => {
                for piece in pieces {
                    if let [point] = piece[..] {
                        self.dot(inside(point), letter, style);
                    }
                    for pair in piece.windows(2) {
                        self.line(inside(pair[0]), inside(pair[1]), letter, style);
                    }
                }
            }
            Shape::Bars(bars) => bars.iter().for_each(|bar| self.bar(bar, letter, style)),
        }
    }

    fn line(&mut self, from: (f64, f64), to: (f64, f64), letter: Option<char>, style: &str) {
        let (across, down) = (to.0 - from.0, to.1 - from.1);
        let steps = (across.abs() * 2.0).max(down.abs() * 4.0).ceil().max(1.0);
        for step in 0..=steps as usize {
            let part = step as f64 / steps;
            self.dot((from.0 + across * part, from.1 + down * part), letter, style);
        }
    }

    fn bar(&mut self, bar: &Area, letter: Option<char>, style: &str) {
        const EIGHTHS: [char; 9] = [' ', '▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];
        let (first, last) = (bar.left.round(), bar.right.round().max(bar.left.round() + 1.0));
        for column in first as usize..last as usize {
            for row in bar.top.floor() as usize..bar.bottom.ceil() as usize {
                // The part of the character that the bar fills from below.
                let filled = (row as f64 + 1.0 - bar.top).clamp(0.0, 1.0);
                let eighths = (filled * 8.0).round() as usize;
                let shown = match letter {
                    Some(letter) if filled >= 0.5 => letter,
                    Some(_) => continue,
                    None if eighths == 0 => continue,
                    None => EIGHTHS[eighths],
                };
                self.put(column as f64, row as f64, shown, style);
            }
        }
    }

    fn cells(&mut self, cells: &Cells, area: &Area) {
        let (columns, rows) = (area.width() as usize, area.height() as usize);
        let (left, top) = (area.left, area.top);
        for row in 0..rows {
            for column in 0..columns {
                let source = column * cells.columns / columns;
                let upper = (2 * row * cells.rows / (2 * rows), source);
                let lower = ((2 * row + 1) * cells.rows / (2 * rows), source);
                let (x, y) = (left + column as f64, top + row as f64);
                if self.colour {
                    let [above, below] = [upper, lower]
                        .map(|(row, column)| colour::indexed(cells.colour(row, column)));
                    self.put(x, y, '▀', &format!("38;5;{above};48;5;{below}"));
                } else {
                    self.put(x, y, density(cells.level(upper.0, upper.1)), "");
                }
            }
        }
        let bar = area.right + 2.0;
        for row in 0..rows {
            let level = |half: f64| 1.0 - (row as f64 + half) / rows as f64;
            let y = top + row as f64;
            if self.colour {
                let [above, below] =
                    [0.25, 0.75].map(|half| colour::indexed(colour::heat(level(half))));
                let style = format!("38;5;{above};48;5;{below}");
                self.write(bar, y, "▀▀", &style);
            } else {
                let shown = density(Some(level(0.5)));
                self.write(bar, y, &format!("{shown}{shown}"), "");
            }
        }
        for tick in &cells.ticks {
            let row = inside((0.0, area.bottom - tick.place * area.height())).1;
            self.write(bar + 3.0, row.min(area.bottom - 1.0).max(top), &tick.label, "2");
        }
    }

    /// Axes, numbers, words and legend.
    fn frame(&mut self, layout: &Layout, letters: bool) {
        let area = &layout.area;
        let axis = area.left - 1.0;
        for row in area.top as usize..area.bottom as usize {
            self.put(axis, row as f64, '│', "2");
        }
        for column in axis as usize..area.right as usize {
            self.put(column as f64, area.bottom, '─', "2");
        }
        self.put(axis, area.bottom, '└', "2");
        for tick in &layout.y.ticks {
            let row = tick.place.min(area.bottom - 1.0).floor();
            let width = tick.label.chars().count() as f64;
            self.write(axis - width, row, &tick.label, "2");
            self.put(axis, row, '┤', "2");
        }
        for tick in &layout.x.ticks {
            let column = tick.place.floor();
            let width = tick.label.chars().count() as f64;
            let left = (column - (width / 2.0).floor()).min(self.columns as f64 - width);
            self.write(left.max(0.0), area.bottom + 1.0, &tick.label, "2");
            self.put(column, area.bottom, '┬', "2");
        }
        let middle = |text: &str| {
            let width = unicode_width::UnicodeWidthStr::width(text) as f64;
            (((area.left + area.right) - width) / 2.0).floor().max(0.0)
        };
        self.write(middle(&layout.title), layout.head.title, &layout.title, "1");
        self.write(0.0, layout.head.y_label, &layout.y.label, "");
        self.write(middle(&layout.x.label), area.bottom + 2.0, &layout.x.label, "");
        for (index, line) in layout.legend.iter().enumerate() {
            for entry in line {
                let style = colour::terminal_series(entry.style);
                let mark = if letters { LETTERS[entry.style % LETTERS.len()] } else { '━' };
                let row = layout.head.legend + index as f64;
                self.write(entry.left, row, &format!("{mark}{mark}"), style);
                self.write(entry.left + 3.0, row, &entry.label, "");
            }
        }
    }

    fn finish(&self) -> String {
        let mut lines: Vec<String> = Vec::new();
        for row in self.cells.chunks(self.columns) {
            let end = row.iter().rposition(|cell| cell.shown != ' ' || !cell.style.is_empty());
            let mut line = String::new();
            let mut style = "";
            for cell in &row[..end.map_or(0, |end| end + 1)] {
                if cell.style != style {
                    if !style.is_empty() {
                        line.push_str("\x1b[0m");
                    }
                    if !cell.style.is_empty() {
                        line.push_str(&format!("\x1b[{}m", cell.style));
                    }
                    style = &cell.style;
                }
                line.push(cell.shown);
            }
            if !style.is_empty() {
                line.push_str("\x1b[0m");
            }
            lines.push(line);
        }
        while lines.last().is_some_and(String::is_empty) {
            lines.pop();
        }
        lines.join("\n")
    }
}

fn density(level: Option<f64>) -> char {
    match level {
        Some(level) => DENSITIES[((level * DENSITIES.len() as f64) as usize).min(4)],
        None => '?',
    }
}

/// A place on an edge belongs to the character before it.
fn inside((x, y): (f64, f64)) -> (f64, f64) {
    (x, y - 1e-6)
}
