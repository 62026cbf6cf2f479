//! The first line of a Matrix Market file.

use super::super::error::{Place, Problem};
use super::scanner::Scanner;

/// What the values are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Field {
    Real,
    Integer,
    Complex,
    /// Positions only; every value is 1.
    Pattern,
}

/// Which entries the file leaves out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Symmetry {
    General,
    Symmetric,
    /// The mirrored entry is the negative.
    Skew,
    /// The mirrored entry is the conjugate.
    Hermitian,
}

/// The first line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Banner {
    /// `array` rather than `coordinate`.
    pub(super) dense: bool,
    pub(super) field: Field,
    pub(super) symmetry: Symmetry,
}

impl Banner {
    pub(super) fn read(scanner: &mut Scanner) -> Result<Banner, Problem> {
        let line = scanner.first_line();
        // Longer lines are no banner; they need not be shown either.
        let line = String::from_utf8_lossy(&line[..line.len().min(200)]).to_lowercase();
        let words: Vec<&str> = line.split_ascii_whitespace().collect();
        let place = Place::Line(1);
        let ["%%matrixmarket", object, format, field, symmetry] = words[..] else {
            let message = "is no Matrix Market file: the first line is not \
                           `%%MatrixMarket matrix FORMAT FIELD SYMMETRY`";
            return Err(Problem::malformed(place, message));
        };
        if object != "matrix" {
            let message = format!("the file holds a {object}, and only a matrix can be read");
            return Err(Problem::unsupported(message));
        }
        let unknown = |what: &str, word: &str| {
            Problem::malformed(place, format!("`{word}` is no {what} of a Matrix Market file"))
        };
        let dense = match format {
            "coordinate" => false,
            "array" => true,
            _ => return Err(unknown("format", format)),
        };
        let field = match field {
            "real" | "double" => Field::Real,
            "integer" => Field::Integer,
            "complex" => Field::Complex,
            "pattern" => Field::Pattern,
            _ => return Err(unknown("field", field)),
        };
        let symmetry = match symmetry {
            "general" => Symmetry::General,
            "symmetric" => Symmetry::Symmetric,
            "skew-symmetric" => Symmetry::Skew,
            "hermitian" => Symmetry::Hermitian,
            _ => return Err(unknown("symmetry", symmetry)),
        };
        if field == Field::Pattern && (dense || symmetry == Symmetry::Skew) {
            return Err(Problem::malformed(place, "a pattern can be neither dense nor skew"));
        }
        if symmetry == Symmetry::Hermitian && field != Field::Complex {
            return Err(Problem::malformed(place, "only a complex matrix can be hermitian"));
        }
        Ok(Banner { dense, field, symmetry })
    }
}
