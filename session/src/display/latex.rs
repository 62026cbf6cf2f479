//! Scalars, tuples of them, and small vectors and matrices of numbers as LaTeX, for notebooks.

use weft_ir::{Array, Scalar, Type, Value};

use super::Digits;
use super::scalar::shown_scalar;

/// The most rows and columns of a matrix that are set.
const MOST: usize = 10;

/// The value in LaTeX's inline mathematics, with the dollars: a scalar, a tuple or record of
/// scalars, a vector (as a row) or a regular matrix of numbers of at most 10 by 10. `None` for
/// others, and for text.
pub fn latex(value: &Value, ty: &Type, digits: Digits) -> Option<String> {
    let body = match (value, ty) {
        (Value::Scalar(scalar), _) => number(*scalar, digits)?,
        (Value::Tuple(values), Type::Tuple(_)) => {
            let parts: Vec<String> =
                values.iter().map(|value| component(value, digits)).collect::<Option<_>>()?;
            if parts.is_empty() || parts.len() > MOST {
                return None;
            }
            format!("\\left({}\\right)", parts.join(",\\; "))
        }
        (Value::Array(array), Type::Array(element)) => match &**element {
            Type::Scalar(_) => matrix(&[row(array, digits)?]),
            Type::Array(_) => {
                array.elements.extent().ok()?;
                if array.is_empty() || array.len() > MOST {
                    return None;
                }
                let rows = (0..array.len()).map(|index| match array.elements.get(index) {
                    Value::Array(array) => row(&array, digits),
                    Value::Scalar(_) | Value::Tuple(_) => None,
                });
                matrix(&rows.collect::<Option<Vec<_>>>()?)
            }
            Type::Tuple(_) | Type::Record(_) => return None,
        },
        _ => return None,
    };
    Some(format!("${body}$"))
}

fn component(value: &Value, digits: Digits) -> Option<String> {
    match value {
        Value::Scalar(scalar) => number(*scalar, digits),
        Value::Tuple(_) | Value::Array(_) => None,
    }
}

fn row(array: &Array, digits: Digits) -> Option<Vec<String>> {
    if array.is_empty() || array.len() > MOST {
        return None;
    }
    (0..array.len()).map(|index| component(&array.elements.get(index), digits)).collect()
}

fn matrix(rows: &[Vec<String>]) -> String {
    let rows: Vec<String> = rows.iter().map(|row| row.join(" & ")).collect();
    format!("\\begin{{bmatrix}} {} \\end{{bmatrix}}", rows.join(" \\\\ "))
}

/// A number or a truth value; `None` for a character.
fn number(scalar: Scalar, digits: Digits) -> Option<String> {
    let text = match scalar {
        Scalar::Char(_) => return None,
        Scalar::Bool(value) => return Some(format!("\\mathrm{{{value}}}")),
        other => shown_scalar(other, digits),
    };
    Some(match text.split_once('e') {
        _ if text == "nan" => "\\mathrm{nan}".to_owned(),
        _ if text == "inf" => "\\infty".to_owned(),
        _ if text == "-inf" => "-\\infty".to_owned(),
        Some((mantissa, exponent)) => format!("{mantissa} \\times 10^{{{exponent}}}"),
        None => text,
    })
}
