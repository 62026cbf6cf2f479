//! Formats that no loader reads, and how to get at what is in them.

use super::error::Problem;

/// What to do with a spreadsheet or another format of tables, told by its extension.
pub(super) fn advice(format: &str) -> Option<&'static str> {
    match format {
        "json" | "jsonl" | "ndjson" | "geojson" => Some(JSON),
        "xlsx" | "xls" | "ods" => Some(SPREADSHEET),
        "parquet" => Some(PARQUET),
        "feather" | "arrow" => Some(FEATHER),
        "h5" | "hdf5" => Some(HDF5),
        "pkl" | "pickle" | "pt" | "pth" => Some(PICKLE),
        _ => None,
    }
}

/// The answer to a table that is no text of separated values but one of those formats.
pub(super) fn recognised(bytes: &[u8]) -> Option<Problem> {
    const SIGNATURES: [(&[u8], &str, &str); 7] = [
        (b"PK\x03\x04", "is an archive or a spreadsheet (.xlsx)", SPREADSHEET),
        (b"\xd0\xcf\x11\xe0", "is a spreadsheet (.xls)", SPREADSHEET),
        (b"PAR1", "is a Parquet file", PARQUET),
        (b"ARROW1", "is an Arrow file", FEATHER),
        (b"\x89HDF", "is an HDF5 file", HDF5),
        (
            b"\x93NUMPY",
            "is an array (.npy)",
            "`load` reads .npy and .npz files, told by their extension",
        ),
        (
            b"\x1f\x8b",
            "is compressed with gzip",
            "files whose names end in `.gz` are decompressed: rename it",
        ),
    ];
    let refused = |what: &str, hint: &str| {
        Problem::unsupported(format!("the file {what}, no table of separated values")).hint(hint)
    };
    for (signature, what, hint) in SIGNATURES {
        if bytes.starts_with(signature) {
            return Some(refused(what, hint));
        }
    }
    let text = bytes.trim_ascii();
    if is_json(text) {
        return Some(refused("is JSON", JSON));
    }
    let begins =
        |tag: &[u8]| text.get(..tag.len()).is_some_and(|start| start.eq_ignore_ascii_case(tag));
    (begins(b"<!doctype html") || begins(b"<html")).then(|| {
        refused(
            "is a web page",
            "`loadText` shows what it says: it may stand for a file that was not found",
        )
    })
}

/// Whether a text without blanks around it is one value of JSON, or lines of such values.
fn is_json(text: &[u8]) -> bool {
    let Some((&bracket, rest)) = text.split_first() else { return false };
    let next = rest.trim_ascii_start().first().copied();
    match bracket {
        b'{' => next.is_some_and(|next| matches!(next, b'"' | b'}')) && text.ends_with(b"}"),
        b'[' => {
            let is_value =
                |next: u8| matches!(next, b'{' | b'[' | b']' | b'"' | b'-' | b'0'..=b'9');
            next.is_some_and(is_value) && text.ends_with(b"]")
        }
        _ => false,
    }
}

const JSON: &str =
    "make a table of it first; in Python: `pandas.read_json(…).to_csv(\"table.csv\", index=False)`";
const SPREADSHEET: &str =
    "save it as CSV first; in Python: `pandas.read_excel(…).to_csv(\"table.csv\", index=False)`";
const PARQUET: &str =
    "save it as CSV first; in Python: `pandas.read_parquet(…).to_csv(\"table.csv\", index=False)`";
const FEATHER: &str =
    "save it as CSV first; in Python: `pandas.read_feather(…).to_csv(\"table.csv\", index=False)`";
const HDF5: &str =
    "save its arrays as .npy first; in Python: `numpy.save(\"a.npy\", h5py.File(…)[\"name\"][:])`";
const PICKLE: &str = "save its arrays as .npy first; in Python: `numpy.save(\"a.npy\", …)`";
