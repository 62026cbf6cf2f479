//! Matrix Market files (Boisvert, Pozo, Remington: The Matrix Market Exchange Formats, NISTIR
//! 5935): sparse and dense matrices as lists of entries.

mod banner;
mod scanner;
mod write;

use weft_ir::{Buf, Column, ScalarType, Type};

use super::error::{Place, Problem};
use super::{Limits, Loaded, fields, text};
use banner::{Banner, Field, Symmetry};
use scanner::Scanner;

pub(super) use write::write;

/// How many entries are read between two questions whether to stop.
const STEP: u64 = 1 << 16;

/// Reads a matrix as `{rows, cols, rowIndex, colIndex, values}`: entries in file order, counted
/// from 0, each entry that a symmetry implies right after the one that implies it.
pub(super) fn read(bytes: &[u8], limits: &Limits) -> Result<Loaded, Problem> {
    let mut scanner = Scanner::new(bytes);
    let banner = Banner::read(&mut scanner)?;
    let sizes = Sizes::read(&mut scanner, &banner)?;
    let mut entries = Entries::new(&banner, &sizes, scanner.remaining(), limits)?;
    if banner.dense {
        read_dense(&mut scanner, &sizes, &mut entries, limits)?;
    } else {
        read_sparse(&mut scanner, &sizes, &mut entries, limits)?;
    }
    if scanner.next_line() {
        let message = format!("the matrix goes on after the {} entries promised", sizes.entries);
        return Err(Problem::malformed(Place::Line(scanner.line()), message));
    }
    Ok(entries.finish(&sizes))
}

/// The size line.
struct Sizes {
    rows: u64,
    cols: u64,
    /// How many entries the file lists.
    entries: u64,
}

impl Sizes {
    fn read(scanner: &mut Scanner, banner: &Banner) -> Result<Sizes, Problem> {
        if !scanner.next_line() {
            return Err(Problem::malformed(Place::Whole, "the file ends before the size line"));
        }
        let rows = scanner.count("the number of rows")?;
        let cols = scanner.count("the number of columns")?;
        let damaged = |message: &str| Problem::malformed(Place::Line(scanner.line()), message);
        if banner.symmetry != Symmetry::General && rows != cols {
            return Err(damaged("a symmetric matrix has as many rows as columns"));
        }
        let entries = if banner.dense {
            let triangle = |n: u64| n.checked_mul(n.saturating_add(1)).map(|twice| twice / 2);
            let entries = match banner.symmetry {
                Symmetry::General => rows.checked_mul(cols),
                Symmetry::Symmetric | Symmetry::Hermitian => triangle(rows),
                Symmetry::Skew => triangle(rows.saturating_sub(1)),
            };
            entries.ok_or_else(|| damaged("the matrix has more than 2^64 elements"))?
        } else {
            scanner.count("the number of entries")?
        };
        scanner.end_of_line()?;
        Ok(Sizes { rows, cols, entries })
    }
}

fn read_sparse(
    scanner: &mut Scanner,
    sizes: &Sizes,
    entries: &mut Entries,
    limits: &Limits,
) -> Result<(), Problem> {
    for number in 0..sizes.entries {
        next_entry(scanner, sizes, number, limits)?;
        let row = scanner.index("row", sizes.rows)?;
        let col = scanner.index("column", sizes.cols)?;
        entries.read_value(scanner, row, col)?;
    }
    Ok(())
}

/// The elements of a dense matrix, column by column; of a symmetric one, the lower triangle.
fn read_dense(
    scanner: &mut Scanner,
    sizes: &Sizes,
    entries: &mut Entries,
    limits: &Limits,
) -> Result<(), Problem> {
    let mut number = 0;
    // Without rows there is nothing in any of the columns, however many they are.
    let cols = if sizes.rows == 0 { 0 } else { sizes.cols };
    for col in 0..cols {
        let first = match entries.symmetry {
            Symmetry::General => 0,
            Symmetry::Symmetric | Symmetry::Hermitian => col,
            Symmetry::Skew => col + 1,
        };
        for row in first..sizes.rows {
            next_entry(scanner, sizes, number, limits)?;
            entries.read_value(scanner, row as i64, col as i64)?;
            number += 1;
        }
    }
    Ok(())
}

fn next_entry(
    scanner: &mut Scanner,
    sizes: &Sizes,
    number: u64,
    limits: &Limits,
) -> Result<(), Problem> {
    if number.is_multiple_of(STEP) && (limits.stop)() {
        return Err(Problem::interrupted());
    }
    if !scanner.next_line() {
        return Err(cut_off(sizes.entries, &format!("it has {number}")));
    }
    Ok(())
}

fn cut_off(promised: u64, found: &str) -> Problem {
    let message = format!("the size line promises {promised} entries, and {found}");
    Problem::malformed(Place::Whole, message)
}

/// The entries read so far.
struct Entries {
    symmetry: Symmetry,
    field: Field,
    row_index: Vec<i64>,
    col_index: Vec<i64>,
    values: Vec<f64>,
    /// The imaginary parts, if the field is complex.
    imaginary: Vec<f64>,
}

impl Entries {
    /// Room for all entries, if the file has enough bytes for them and the limit allows it.
    fn new(
        banner: &Banner,
        sizes: &Sizes,
        remaining: u64,
        limits: &Limits,
    ) -> Result<Entries, Problem> {
        let numbers = match banner.field {
            Field::Pattern => 0,
            Field::Real | Field::Integer => 1,
            Field::Complex => 2,
        };
        // A number takes a digit and a separator; the last line need not end.
        let per_entry = 2 * (numbers + if banner.dense { 0 } else { 2 });
        if u128::from(sizes.entries) * per_entry > u128::from(remaining) + 1 {
            let found = format!("there are only {remaining} bytes of them");
            return Err(cut_off(sizes.entries, &found));
        }
        let mirrored = if banner.symmetry == Symmetry::General { 1 } else { 2 };
        let bytes = u128::from(sizes.entries) * mirrored * (16 + 8 * numbers.max(1));
        text::fits(bytes, limits)?;
        let capacity = (u128::from(sizes.entries) * mirrored) as usize;
        let complex = if banner.field == Field::Complex { capacity } else { 0 };
        Ok(Entries {
            symmetry: banner.symmetry,
            field: banner.field,
            row_index: Vec::with_capacity(capacity),
            col_index: Vec::with_capacity(capacity),
            values: Vec::with_capacity(capacity),
            imaginary: Vec::with_capacity(complex),
        })
    }

    /// Reads the value of the entry at a position and the end of its line.
    fn read_value(&mut self, scanner: &mut Scanner, row: i64, col: i64) -> Result<(), Problem> {
        let (value, imaginary) = match self.field {
            Field::Pattern => (1.0, 0.0),
            Field::Real => (scanner.real()?, 0.0),
            Field::Integer => (scanner.integer()?, 0.0),
            Field::Complex => (scanner.real()?, scanner.real()?),
        };
        scanner.end_of_line()?;
        self.push(row, col, value, imaginary);
        match self.symmetry {
            Symmetry::General => {}
            Symmetry::Skew if row == col => {
                let message = "a skew-symmetric matrix has no entries on its diagonal";
                return Err(Problem::malformed(Place::Line(scanner.line()), message));
            }
            Symmetry::Symmetric | Symmetry::Hermitian if row == col => {}
            Symmetry::Symmetric => self.push(col, row, value, imaginary),
            Symmetry::Skew => self.push(col, row, -value, -imaginary),
            Symmetry::Hermitian => self.push(col, row, value, -imaginary),
        }
        Ok(())
    }

    fn push(&mut self, row: i64, col: i64, value: f64, imaginary: f64) {
        self.row_index.push(row);
        self.col_index.push(col);
        self.values.push(value);
        if self.field == Field::Complex {
            self.imaginary.push(imaginary);
        }
    }

    fn finish(self, sizes: &Sizes) -> Loaded {
        let real = Type::Scalar(ScalarType::F64);
        let integer = Type::Scalar(ScalarType::I64);
        let len = self.values.len();
        let values = Column::F64(Buf::new(self.values));
        let values = if self.field == Field::Complex {
            let parts = vec![values, Column::F64(Buf::new(self.imaginary))];
            let pair = Type::Tuple([real.clone(), real].into());
            fields::array(Column::Tuple { len, parts }, pair)
        } else {
            fields::array(values, real)
        };
        let rows = fields::integer(sizes.rows as i64);
        let cols = fields::integer(sizes.cols as i64);
        let row_index = fields::array(Column::I64(Buf::new(self.row_index)), integer.clone());
        let col_index = fields::array(Column::I64(Buf::new(self.col_index)), integer);
        fields::record(vec![
            ("rows".into(), rows),
            ("cols".into(), cols),
            ("rowIndex".into(), row_index),
            ("colIndex".into(), col_index),
            ("values".into(), values),
        ])
    }
}
