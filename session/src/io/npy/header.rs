//! The header of a `.npy` file: a Python dictionary of `descr`, `fortran_order` and `shape`.

use weft_ir::ScalarType;

use super::super::error::{Place, Problem};
use super::super::source::Source;

const MAGIC: &[u8] = b"\x93NUMPY";

/// NumPy itself has at most 64 axes; a header of 64 KiB would list thousands.
const MAX_AXES: usize = 64;
const MAX_HEADER: usize = 1 << 16;

/// What a header says.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Header {
    pub(super) dtype: Dtype,
    /// Whether the bytes of every element are in the other order than this machine's.
    pub(super) swap: bool,
    pub(super) fortran: bool,
    pub(super) shape: Vec<u64>,
}

/// The element types that can be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Dtype {
    Scalar(ScalarType),
    /// `f2`, read as `f32`.
    Half,
}

impl Dtype {
    /// The bytes that an element takes once it is read.
    pub(super) fn value_bytes(self) -> usize {
        match self {
            Dtype::Scalar(scalar) => scalar.bytes(),
            Dtype::Half => 4,
        }
    }
}

impl Header {
    /// Reads magic, version and dictionary.
    pub(super) fn read(source: &mut Source) -> Result<Header, Problem> {
        let mut start = [0; 8];
        source.read_bytes(&mut start)?;
        if !start.starts_with(MAGIC) {
            let message = "is no .npy file: it does not begin with \\x93NUMPY";
            return Err(Problem::malformed(Place::Byte(0), message));
        }
        let length = match start[6] {
            1 => {
                let mut length = [0; 2];
                source.read_bytes(&mut length)?;
                usize::from(u16::from_le_bytes(length))
            }
            2 | 3 => {
                let mut length = [0; 4];
                source.read_bytes(&mut length)?;
                u32::from_le_bytes(length) as usize
            }
            version => {
                let message = format!("version {version} of the .npy format is not supported");
                return Err(Problem::unsupported(message));
            }
        };
        if length > MAX_HEADER {
            let message = format!("the header has {length} bytes, and the limit is {MAX_HEADER}");
            return Err(Problem::too_many(message));
        }
        let offset = source.position();
        let mut text = vec![0; length];
        source.read_bytes(&mut text)?;
        let entries = Parser { text: &text, position: 0, offset }.dictionary()?;
        Header::from_entries(entries, offset)
    }

    fn from_entries(entries: Vec<(String, Item)>, offset: u64) -> Result<Header, Problem> {
        let damaged = |message: String| Problem::malformed(Place::Byte(offset), message);
        let (mut descr, mut fortran, mut shape) = (None, None, None);
        for (key, item) in entries {
            match (key.as_str(), item) {
                ("descr", Item::Text(text)) => descr = Some(text),
                ("descr", Item::List) => {
                    let problem = Problem::unsupported("structured arrays cannot be read");
                    return Err(problem.hint("save each field as an array of its own"));
                }
                ("fortran_order", Item::Truth(truth)) => fortran = Some(truth),
                ("shape", Item::Shape(extents)) => shape = Some(extents),
                (key, _) => {
                    return Err(damaged(format!("the header has an unexpected entry `{key}`")));
                }
            }
        }
        let missing = |key| damaged(format!("the header has no entry `{key}`"));
        let (dtype, swap) = dtype(&descr.ok_or_else(|| missing("descr"))?)?;
        let fortran = fortran.ok_or_else(|| missing("fortran_order"))?;
        let shape = shape.ok_or_else(|| missing("shape"))?;
        if shape.len() > MAX_AXES {
            let message =
                format!("the array has {} axes, and the limit is {MAX_AXES}", shape.len());
            return Err(Problem::too_many(message));
        }
        Ok(Header { dtype, swap, fortran, shape })
    }
}

/// The magic, version 1 and the dictionary of an array in row-major order and native byte order,
/// padded so that the elements begin at a multiple of 64.
pub(super) fn write(scalar: ScalarType, shape: &[usize]) -> Vec<u8> {
    let native = if cfg!(target_endian = "little") { '<' } else { '>' };
    let descr = match scalar {
        ScalarType::I8 => "|i1".to_owned(),
        ScalarType::U8 => "|u1".to_owned(),
        ScalarType::Bool => "|b1".to_owned(),
        ScalarType::Char => "|S1".to_owned(),
        ScalarType::I16 | ScalarType::I32 | ScalarType::I64 => {
            format!("{native}i{}", scalar.bytes())
        }
        ScalarType::U16 | ScalarType::U32 | ScalarType::U64 => {
            format!("{native}u{}", scalar.bytes())
        }
        ScalarType::F32 | ScalarType::F64 => format!("{native}f{}", scalar.bytes()),
    };
    let extents: String = shape.iter().map(|extent| format!("{extent}, ")).collect();
    let extents =
        if shape.len() == 1 { extents.trim_end() } else { extents.trim_end_matches(", ") };
    let mut text =
        format!("{{'descr': '{descr}', 'fortran_order': False, 'shape': ({extents}), }}");
    let start = MAGIC.len() + 2 + 2;
    let padding = 63 - (start + text.len()) % 64;
    text.extend(std::iter::repeat_n(' ', padding));
    text.push('\n');
    let mut bytes = MAGIC.to_vec();
    bytes.extend([1, 0]);
    bytes.extend((text.len() as u16).to_le_bytes());
    bytes.extend(text.into_bytes());
    bytes
}

/// The element type of a `descr`, and whether its bytes must be swapped.
fn dtype(descr: &str) -> Result<(Dtype, bool), Problem> {
    let (order, code) = match descr.chars().next() {
        Some(order @ ('<' | '>' | '=' | '|')) => (order, &descr[1..]),
        _ => ('=', descr),
    };
    let dtype = match code {
        "i1" | "b" => Dtype::Scalar(ScalarType::I8),
        "i2" => Dtype::Scalar(ScalarType::I16),
        "i4" => Dtype::Scalar(ScalarType::I32),
        "i8" => Dtype::Scalar(ScalarType::I64),
        "u1" | "B" => Dtype::Scalar(ScalarType::U8),
        "u2" => Dtype::Scalar(ScalarType::U16),
        "u4" => Dtype::Scalar(ScalarType::U32),
        "u8" => Dtype::Scalar(ScalarType::U64),
        "f2" => Dtype::Half,
        "f4" => Dtype::Scalar(ScalarType::F32),
        "f8" => Dtype::Scalar(ScalarType::F64),
        "b1" | "?" => Dtype::Scalar(ScalarType::Bool),
        "S1" => Dtype::Scalar(ScalarType::Char),
        _ => return Err(unsupported_dtype(descr, code)),
    };
    let foreign = if cfg!(target_endian = "little") { '>' } else { '<' };
    Ok((dtype, order == foreign))
}

fn unsupported_dtype(descr: &str, code: &str) -> Problem {
    let what = match code.chars().next() {
        Some('c') => "complex numbers",
        Some('S' | 'a') => "texts of a fixed width",
        Some('U') => "Unicode texts",
        Some('O') => "Python objects",
        Some('M' | 'm') => "dates and times",
        Some('V') => "raw records",
        Some('f' | 'g') => "extended floats",
        _ => "an unknown element type",
    };
    let message = format!("the array holds {what} (`{descr}`), which cannot be read");
    Problem::unsupported(message)
        .hint("convert it with NumPy's `astype` to an integer, float32, float64 or bool type")
}

/// A value in the dictionary.
enum Item {
    Text(String),
    Truth(bool),
    Shape(Vec<u64>),
    /// A list, whose contents do not matter: only structured types have one.
    List,
}

/// A parser of the part of Python's literal syntax that NumPy writes.
struct Parser<'a> {
    text: &'a [u8],
    position: usize,
    /// Where the text begins in the file.
    offset: u64,
}

impl Parser<'_> {
    fn dictionary(&mut self) -> Result<Vec<(String, Item)>, Problem> {
        let mut entries = Vec::new();
        self.expect(b'{')?;
        while !self.take(b'}') {
            let key = self.string()?;
            self.expect(b':')?;
            let item = self.item()?;
            if matches!(item, Item::List) {
                // What follows a list is not worth parsing: it is refused anyhow.
                return Ok(vec![(key, item)]);
            }
            entries.push((key, item));
            if !self.take(b',') {
                self.expect(b'}')?;
                break;
            }
        }
        if self.peek().is_some() {
            return Err(self.unexpected("the end of the header"));
        }
        Ok(entries)
    }

    fn item(&mut self) -> Result<Item, Problem> {
        match self.peek() {
            Some(b'\'' | b'"') => self.string().map(Item::Text),
            Some(b'(') => self.shape().map(Item::Shape),
            Some(b'[') => Ok(Item::List),
            _ => {
                for (word, truth) in [("True", true), ("False", false)] {
                    if self.text[self.position..].starts_with(word.as_bytes()) {
                        self.position += word.len();
                        return Ok(Item::Truth(truth));
                    }
                }
                Err(self.unexpected("a text, a tuple, True or False"))
            }
        }
    }

    fn string(&mut self) -> Result<String, Problem> {
        let Some(quote @ (b'\'' | b'"')) = self.peek() else {
            return Err(self.unexpected("a quoted text"));
        };
        let start = self.position + 1;
        let length = self.text[start..].iter().position(|&byte| byte == quote);
        let Some(length) = length else { return Err(self.unexpected("a closing quote")) };
        self.position = start + length + 1;
        Ok(String::from_utf8_lossy(&self.text[start..start + length]).into_owned())
    }

    fn shape(&mut self) -> Result<Vec<u64>, Problem> {
        let mut extents = Vec::new();
        self.expect(b'(')?;
        while !self.take(b')') {
            extents.push(self.extent()?);
            if !self.take(b',') {
                self.expect(b')')?;
                break;
            }
        }
        Ok(extents)
    }

    fn extent(&mut self) -> Result<u64, Problem> {
        if self.peek() == Some(b'-') {
            return Err(self.unexpected("an extent of 0 or more"));
        }
        let digits = self.text[self.position..].iter().take_while(|byte| byte.is_ascii_digit());
        let end = self.position + digits.count();
        let number = std::str::from_utf8(&self.text[self.position..end]).unwrap_or_default();
        if number.is_empty() {
            return Err(self.unexpected("an extent"));
        }
        let extent = number.parse().unwrap_or(u64::MAX);
        self.position = end;
        // Python 2 wrote its long integers as `3L`.
        if self.peek() == Some(b'L') {
            self.position += 1;
        }
        Ok(extent)
    }

    /// The next byte that is no blank.
    fn peek(&mut self) -> Option<u8> {
        while self.text.get(self.position).is_some_and(u8::is_ascii_whitespace) {
            self.position += 1;
        }
        self.text.get(self.position).copied()
    }

    fn take(&mut self, byte: u8) -> bool {
        let found = self.peek() == Some(byte);
        self.position += usize::from(found);
        found
    }

    fn expect(&mut self, byte: u8) -> Result<(), Problem> {
        if self.take(byte) { Ok(()) } else { Err(self.unexpected(&format!("`{}`", byte as char))) }
    }

    fn unexpected(&self, wanted: &str) -> Problem {
        let place = Place::Byte(self.offset + self.position as u64);
        Problem::malformed(place, format!("the header is damaged: {wanted} was expected"))
    }
}
