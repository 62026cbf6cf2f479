//! NumPy's archives: a zip file with one `.npy` member an array.

use std::io::{BufReader, Cursor, Read, Seek};
use std::path::Path;

use weft_ir::{Type, Value};
use zip::result::ZipError;
use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, ZipArchive, ZipWriter};

use super::error::{Place, Problem};
use super::source::{Compression, Source, compression, open_file};
use super::target::Target;
use super::{Limits, Loaded, fields, npy};

/// Reads the named member, or the only one.
pub(super) fn read(path: &Path, member: Option<&str>, limits: &Limits) -> Result<Loaded, Problem> {
    if compression(path) == Compression::None {
        return read_member(BufReader::new(open_file(path, limits)?), member, limits);
    }
    let bytes = Source::open(path, limits)?.read_all()?;
    read_member(Cursor::new(bytes), member, limits)
}

fn read_member(
    file: impl Read + Seek,
    wanted: Option<&str>,
    limits: &Limits,
) -> Result<Loaded, Problem> {
    let mut archive = ZipArchive::new(file).map_err(archive_problem)?;
    let members: Vec<String> = archive
        .file_names_raw()
        .map(|name| member_name(&String::from_utf8_lossy(name)).to_owned())
        .collect();
    let index = choose(&members, wanted)?;
    let mut member = archive.by_index(index).map_err(archive_problem)?;
    npy::read(&mut Source::new(&mut member, limits))
}

/// The position of the wanted member.
fn choose(members: &[String], wanted: Option<&str>) -> Result<usize, Problem> {
    let list = || {
        let shown: Vec<String> = members.iter().take(20).map(|name| format!("`{name}`")).collect();
        let more = if members.len() > 20 { ", …" } else { "" };
        format!("its members are {}{more}", shown.join(", "))
    };
    match wanted {
        _ if members.is_empty() => Err(Problem::unsupported("the archive has no members")),
        Some(wanted) => {
            let wanted = member_name(wanted);
            let index = members.iter().position(|name| name == wanted);
            index.ok_or_else(|| {
                Problem::open(format!("the archive has no member `{wanted}`")).hint(&list())
            })
        }
        None if members.len() == 1 => Ok(0),
        None => {
            let message = format!("the archive has {} members, and none is named", members.len());
            Err(Problem::open(message).hint(&list()))
        }
    }
}

/// The name that NumPy shows for a member: without `.npy`.
fn member_name(name: &str) -> &str {
    name.strip_suffix(".npy").unwrap_or(name)
}

fn archive_problem(error: ZipError) -> Problem {
    match error {
        ZipError::Io(error) => Problem::reading(error, 0),
        ZipError::UnsupportedArchive(what) => {
            Problem::unsupported(format!("the archive cannot be read ({what})"))
        }
        ZipError::CompressionMethodNotSupported(method) => Problem::unsupported(format!(
            "the member is compressed with method {method}, and only deflate can be read"
        ))
        .hint("`numpy.savez` and `numpy.savez_compressed` write archives that can be read"),
        error => Problem::malformed(Place::Whole, format!("is no .npz archive ({error})")),
    }
}

/// Writes a record of regular arrays and scalars, one member a field, uncompressed as
/// `numpy.savez` does.
pub(super) fn write(value: &Value, ty: &Type, target: &mut Target) -> Result<(), Problem> {
    let Some(fields) = fields::fields(value, ty) else {
        let message = format!("a .npz file holds a record of arrays, not a value of type {ty}");
        return Err(Problem::does_not_fit(message).hint("save one array as .npy"));
    };
    let mut archive = ZipWriter::new_stream(target);
    let options =
        SimpleFileOptions::default().compression_method(CompressionMethod::Stored).large_file(true);
    for (name, value, ty) in fields {
        archive.start_file(format!("{name}.npy"), options).map_err(write_problem)?;
        npy::write(value, ty, &mut archive)?;
    }
    archive.finish().map_err(write_problem)?;
    Ok(())
}

fn write_problem(error: ZipError) -> Problem {
    match error {
        ZipError::Io(error) => Problem::writing(error),
        error => Problem::cannot_write(format!("cannot be written ({error})")),
    }
}
