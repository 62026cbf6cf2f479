//! Values that are plots: which they are, and what they hold.

use std::sync::{Arc, LazyLock};

use weft_ir::{Column, Name, Scalar, ScalarType, Type, Value};

/// How the points of a figure are drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mark {
    /// A line through the points.
    Line,
    /// A dot at each point.
    Points,
    /// Bars of the heights `y` between consecutive `x`, of which there is one more.
    Bars,
    /// The elements of `grid` as colours.
    Cells,
}

/// A plot, as the prelude's type `figure` has it.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Figure {
    pub(crate) mark: Mark,
    pub(crate) x: Vec<f64>,
    pub(crate) y: Vec<f64>,
    pub(crate) grid: Grid,
    pub(crate) label: String,
    pub(crate) title: String,
    pub(crate) x_label: String,
    pub(crate) y_label: String,
    pub(crate) log_x: bool,
    pub(crate) log_y: bool,
}

/// A matrix of numbers.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Grid {
    pub(crate) rows: usize,
    pub(crate) columns: usize,
    /// Row by row.
    pub(crate) values: Vec<f64>,
}

impl Figure {
    /// Whether there are numbers to draw, none of which is finite (or, on a logarithmic axis, positive).
    pub(crate) fn is_blank(&self) -> bool {
        let is_drawn = |number: &f64, log: bool| number.is_finite() && (!log || *number > 0.0);
        match self.mark {
            Mark::Cells => {
                !self.grid.values.is_empty() && !self.grid.values.iter().any(|x| x.is_finite())
            }
            Mark::Bars => !self.y.is_empty() && !self.y.iter().any(|y| is_drawn(y, self.log_y)),
            Mark::Line | Mark::Points => {
                let mut points = self.x.iter().zip(&self.y);
                !self.y.is_empty()
                    && !points.any(|(x, y)| is_drawn(x, self.log_x) && is_drawn(y, self.log_y))
            }
        }
    }
}

/// Why a value of the type of plots, or of arrays of them, cannot be drawn.
pub(crate) fn flaw(value: &Value) -> Option<String> {
    let fields = match value {
        Value::Tuple(fields) => fields,
        Value::Array(array) if array.len() > MOST => {
            return Some(format!(
                "one frame shows at most {MOST} plots, and these are {}",
                array.len()
            ));
        }
        Value::Array(array) => {
            return (0..array.len()).find_map(|index| flaw(&array.elements.get(index)));
        }
        Value::Scalar(_) => return None,
    };
    let (mark, grid) = (fields.first()?, fields.get(3)?);
    if let Value::Array(array) = grid
        && let Err((row, first, length)) = array.elements.extent()
    {
        return Some(format!(
            "this cannot be drawn: the rows of its grid have one length, but row {row} has {length} and row 0 has {first}"
        ));
    }
    let mark = text(mark)?;
    (!["line", "points", "bars", "cells"].contains(&&*mark)).then(|| {
        format!("this cannot be drawn: its mark is \"{mark}\", not \"line\", \"points\", \"bars\" or \"cells\"")
    })
}

/// The most figures that one frame shows.
const MOST: usize = 64;

/// The figures that a value is: one, or the elements of an array of them. `None` if the value is no
/// figure, if one has an unknown mark or a ragged grid, or if there are none or too many.
pub(crate) fn figures(value: &Value, ty: &Type) -> Option<Vec<Figure>> {
    match (value, ty) {
        (Value::Tuple(_), ty) if is_figure(ty) => Some(vec![figure(value)?]),
        (Value::Array(array), Type::Array(element)) if is_figure(element) => {
            let count = array.len();
            if count == 0 || count > MOST {
                return None;
            }
            (0..count).map(|index| figure(&array.elements.get(index))).collect()
        }
        _ => None,
    }
}

/// Whether it is the type `figure` of the prelude.
pub(crate) fn is_figure(ty: &Type) -> bool {
    static FIGURE: LazyLock<Type> = LazyLock::new(self::ty);
    matches!(ty, Type::Record(_)) && *ty == *FIGURE
}

/// The type `figure` of the prelude.
pub(crate) fn ty() -> Type {
    let text = || Type::array(Type::Scalar(ScalarType::Char));
    let numbers = || Type::array(Type::Scalar(ScalarType::F64));
    let truth = || Type::Scalar(ScalarType::Bool);
    let fields: Vec<(Name, Type)> = vec![
        ("mark".into(), text()),
        ("x".into(), numbers()),
        ("y".into(), numbers()),
        ("grid".into(), Type::array(numbers())),
        ("label".into(), text()),
        ("title".into(), text()),
        ("xLabel".into(), text()),
        ("yLabel".into(), text()),
        ("logX".into(), truth()),
        ("logY".into(), truth()),
    ];
    Type::Record(Arc::from(fields))
}

fn figure(value: &Value) -> Option<Figure> {
    let Value::Tuple(fields) = value else { return None };
    let [mark, x, y, grid, label, title, x_label, y_label, log_x, log_y] = &fields[..] else {
        return None;
    };
    let mark = match &*text(mark)? {
        "line" => Mark::Line,
        "points" => Mark::Points,
        "bars" => Mark::Bars,
        "cells" => Mark::Cells,
        _ => return None,
    };
    Some(Figure {
        mark,
        x: numbers(x)?,
        y: numbers(y)?,
        grid: matrix(grid)?,
        label: text(label)?,
        title: text(title)?,
        x_label: text(x_label)?,
        y_label: text(y_label)?,
        log_x: truth(log_x)?,
        log_y: truth(log_y)?,
    })
}

fn text(value: &Value) -> Option<String> {
    /// Longer texts are cut: they label something small.
    const LONGEST: usize = 200;
    let Value::Array(array) = value else { return None };
    let Column::Char(bytes) = &array.elements else { return None };
    let text = String::from_utf8_lossy(bytes.as_slice());
    // Nothing in a label may steer a terminal or break a line.
    Some(text.chars().map(|c| if c.is_control() { ' ' } else { c }).take(LONGEST).collect())
}

fn numbers(value: &Value) -> Option<Vec<f64>> {
    let Value::Array(array) = value else { return None };
    match &array.elements {
        Column::F64(data) => Some(data.as_slice().to_vec()),
        _ => None,
    }
}

fn matrix(value: &Value) -> Option<Grid> {
    let Value::Array(array) = value else { return None };
    if array.is_empty() {
        return Some(Grid::default());
    }
    let columns = array.elements.extent().ok()?;
    match array.elements.flatten() {
        Column::F64(data) => {
            Some(Grid { rows: array.len(), columns, values: data.as_slice().to_vec() })
        }
        _ => None,
    }
}

fn truth(value: &Value) -> Option<bool> {
    match value {
        Value::Scalar(Scalar::Bool(truth)) => Some(*truth),
        _ => None,
    }
}
