//! Files whose elements are read as they are needed: the same values as those that are loaded.

use std::cell::Cell;
use std::fs::{self, File, OpenOptions};
use std::io::{Cursor, Seek, SeekFrom, Write};
use std::path::Path;
use std::sync::Arc;

use hound::{SampleFormat, WavSpec, WavWriter};
use weft_ir::{Array, Column, Scalar, ScalarType, Type, Value};
use weft_session::io::{
    IoErrorKind, Limits, Loaded, load, load_lines, load_wav, save, stream_lines, stream_npy,
    stream_wav,
};

use crate::{LIMIT, check, file, fixture, outcome};

/// Where the elements of a file are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Place {
    File,
    Memory,
}

/// Where all elements of a column are.
fn place(loaded: &Loaded) -> Place {
    match loaded.value.mapped_bytes() {
        0 => Place::Memory,
        bytes => {
            assert_eq!(bytes, loaded.value.bytes());
            Place::File
        }
    }
}

/// An array file is the same whether it is loaded or not, and its elements are there.
#[track_caller]
fn check_npy(path: &Path, expected: Place) {
    let loaded = load(path, None, &Limits::bytes(LIMIT)).expect("a file that can be loaded");
    let streamed = stream_npy(path, &Limits::bytes(LIMIT)).expect("a file that can be loaded");
    assert_eq!(streamed.ty, loaded.ty, "{}", path.display());
    assert!(streamed.value.same_bits(&loaded.value), "{}", path.display());
    assert_eq!(place(&streamed), expected, "{}", path.display());
}

#[test]
fn arrays_of_every_type() {
    let columns = [
        (Column::I8(vec![-128, 0, 127].into()), Place::File),
        (Column::I16(vec![-300, 0, 300].into()), Place::File),
        (Column::I32(vec![i32::MIN, 0, 7].into()), Place::File),
        (Column::I64(vec![i64::MIN, 0, 7].into()), Place::File),
        (Column::U8(vec![0, 1, 255].into()), Place::File),
        (Column::U16(vec![0, 1, 65535].into()), Place::File),
        (Column::U32(vec![0, 1, u32::MAX].into()), Place::File),
        (Column::U64(vec![0, 1, u64::MAX].into()), Place::File),
        (Column::F32(vec![-0.0, f32::NAN, f32::INFINITY].into()), Place::File),
        (Column::F64(vec![-0.0, f64::NAN, 1e-310].into()), Place::File),
        (Column::Char(b"a\n\xff".to_vec().into()), Place::File),
        // What stands in the file may become no bool.
        (Column::Bool(vec![true, false, true].into()), Place::Memory),
    ];
    for (column, expected) in columns {
        let scalar = column.scalar_type().expect("these are columns of scalars");
        let (ty, value) =
            (Type::array(Type::Scalar(scalar)), Value::Array(Arc::new(Array::new(column))));
        let (_folder, path) = file("x.npy", b"");
        save(&value, &ty, &path, &|| false).expect("an array can be saved");
        check_npy(&path, expected);
    }
}

/// A `.npy` file of these elements, which begin at a multiple of 64 and `misplaced` bytes.
fn npy(descr: &str, fortran: &str, shape: &str, misplaced: usize, elements: &[u8]) -> Vec<u8> {
    let dictionary =
        format!("{{'descr': '{descr}', 'fortran_order': {fortran}, 'shape': ({shape}), }}");
    let padding = (64 - (10 + dictionary.len() + 1) % 64) % 64 + misplaced;
    let header = format!("{dictionary}{}\n", " ".repeat(padding));
    let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
    bytes.extend((header.len() as u16).to_le_bytes());
    bytes.extend(header.bytes());
    bytes.extend(elements);
    bytes
}

#[test]
fn arrays_of_every_shape_and_order() {
    let elements: Vec<u8> = (0..48).collect();
    let check = |descr, fortran, shape, misplaced, elements: &[u8], expected| {
        let (_folder, path) = file("x.npy", &npy(descr, fortran, shape, misplaced, elements));
        check_npy(&path, expected);
    };
    check("<i2", "False", "24,", 0, &elements, Place::File);
    check("<i2", "False", "2, 3, 4", 0, &elements, Place::File);
    check("<f4", "False", "1, 12", 0, &elements, Place::File);
    check("=u8", "False", "2, 3", 0, &elements, Place::File);
    check("|S1", "False", "48,", 0, &elements, Place::File);
    // In Fortran order nothing is elsewhere if there is but one axis.
    check("<f4", "True", "12,", 0, &elements, Place::File);
    check("<f4", "True", "1, 12", 0, &elements, Place::File);
    check("<f4", "True", "3, 4", 0, &elements, Place::Memory);
    check(">i4", "False", "12,", 0, &elements, Place::Memory);
    check("<f2", "False", "24,", 0, &elements, Place::Memory);
    // Bytes lie anywhere, numbers do not.
    check("<i4", "False", "12,", 2, &elements, Place::Memory);
    check("<i2", "False", "24,", 2, &elements, Place::File);
    check("|u1", "False", "48,", 1, &elements, Place::File);
    check("<f8", "False", "0,", 0, &[], Place::Memory);
    check("<f8", "False", "0, 3", 0, &[], Place::Memory);
    check("<f8", "False", "3, 0", 0, &[], Place::Memory);
}

#[test]
fn arrays_of_other_makers() {
    for name in ["half.npy", "bools.npy", "big_endian_i2.npy", "fortran_f4.npy", "empty.npy"] {
        check_npy(&fixture(name), Place::Memory);
    }
    for name in ["bytes_s1.npy", "version2.npy", "version3.npy"] {
        check_npy(&fixture(name), Place::File);
    }
    for name in ["plain.npy.gz", "plain.npy.xz"] {
        check_npy(&fixture(name), Place::Memory);
    }
}

#[test]
fn what_is_wrong_with_an_array_is_said() {
    let header = |shape| npy("<f8", "False", shape, 0, &[]);
    check(
        stream_npy,
        "x.npy",
        header("100,"),
        "E0402 x.npy, byte 128: the file is cut off: the array needs 800 bytes from byte 128 on, and the file has \
         128",
    );
    check(
        stream_npy,
        "x.npy",
        header("99999999999999999999999999, 99999999999999999999999999"),
        "E0402 x.npy, byte 128: the file is cut off: the array needs more than 2^64 bytes from byte 128 on, and the \
         file has 128",
    );
    check(
        stream_npy,
        "x.npy",
        header("1000000000000, 0"),
        "E0404 x.npy: the array needs 8000000000000 bytes, and the limit is 1073741824",
    );
    check(
        stream_npy,
        "x.npy",
        npy("<f8", "False", "1,", 0, &[0; 9]),
        "E0402 x.npy, byte 136: the data goes on after the last element",
    );
    check(
        stream_npy,
        "x.npy",
        npy("|b1", "False", "2,", 0, &[1, 2]),
        "E0402 x.npy, byte 129: a bool is 0 or 1, not 2",
    );
    check(stream_npy, "x.npy", "", "E0402 x.npy, byte 0: the file is cut off");
    check(stream_npy, "x.npy", b"\x93NUMPY\x01", "E0402 x.npy, byte 7: the file is cut off");
    check(
        stream_npy,
        "x.npy",
        npy("<f8", "False", "", 0, &[0; 8]),
        "E0403 x.npy: the array has no axes, so there are no rows | `load` reads the scalar that it is",
    );
    check(
        stream_npy,
        "x.npz",
        "",
        "E0403 x.npz: `streamNpy` reads .npy files only | `load` reads a member of it, and `stream` goes over its \
         rows",
    );
    let folder = fixture("");
    assert_eq!(
        outcome(stream_npy(&folder.join("halff.npy"), &Limits::bytes(LIMIT))),
        "E0401 halff.npy: cannot be opened (no such file) | did you mean `half.npy`?"
    );
}

/// Elements are allowed that no memory would hold, and only those are read that somebody looks at.
#[test]
fn arrays_larger_than_memory() {
    let rows = 1_usize << 30;
    let (_folder, path) =
        file("x.npy", &npy("<f8", "False", &format!("{rows}, 4"), 0, &1.5_f64.to_le_bytes()));
    let begin = fs::metadata(&path).expect("a file").len() - 8;
    let mut file = OpenOptions::new().write(true).open(&path).expect("a file");
    file.set_len(begin + 32 * rows as u64).expect("a file with holes");
    file.seek(SeekFrom::End(-8)).expect("a file");
    file.write_all(&2.5_f64.to_le_bytes()).expect("a file");
    drop(file);
    let before = resident();
    let streamed = stream_npy(&path, &Limits::bytes(10_000)).expect("it is not read");
    assert_eq!((streamed.value.bytes(), streamed.value.memory_bytes()), (32 << 30, 0));
    let Value::Array(array) = &streamed.value else { panic!("an array") };
    assert_eq!(array.extents(), [Some(rows), Some(4)]);
    let at = |row: usize, column| array.elements.row(row).and_then(|row| row.scalar(column));
    assert_eq!(at(0, 0), Some(Scalar::F64(1.5)));
    assert_eq!(at(rows / 2, 1), Some(Scalar::F64(0.0)));
    assert_eq!(at(rows - 1, 3), Some(Scalar::F64(2.5)));
    assert!(resident() < before + (256 << 20), "{} bytes are in memory", resident());
    let problem = load(&path, None, &Limits::bytes(10_000)).expect_err("it is larger");
    assert_eq!(problem.kind, IoErrorKind::TooLarge);
}

/// The bytes of files that are in the memory of this process, where the system says so.
fn resident() -> u64 {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("RssFile:"));
    let kilobytes = line.and_then(|line| line.trim().strip_suffix("kB")?.trim().parse().ok());
    kilobytes.map_or(0, |kilobytes: u64| 1024 * kilobytes)
}

#[test]
fn values_outlive_the_names_of_their_files() {
    let (folder, path) = file("x.npy", &npy("|u1", "False", "3,", 0, &[1, 2, 3]));
    let kept = stream_npy(&path, &Limits::bytes(LIMIT)).expect("an array");
    // What `:save` does: another file gets the name.
    let other = Value::Array(Arc::new(Array::new(Column::U8(vec![9].into()))));
    save(&other, &kept.ty, &path, &|| false).expect("an array can be saved");
    assert_eq!(outcome(Ok(kept.clone())), "[]u8 [1, 2, 3]");
    assert_eq!(outcome(stream_npy(&path, &Limits::bytes(LIMIT))), "[]u8 [9]");
    fs::remove_file(&path).expect("a file");
    drop(folder);
    assert_eq!((outcome(Ok(kept.clone())), kept.value.changed()), ("[]u8 [1, 2, 3]".into(), None));
}

#[test]
fn files_that_were_written_to_are_told_of() {
    let (_folder, path) = file("x.npy", &npy("|u1", "False", "3,", 0, &[1, 2, 3]));
    let streamed = stream_npy(&path, &Limits::bytes(LIMIT)).expect("an array");
    assert_eq!(streamed.value.changed(), None);
    let file = OpenOptions::new().write(true).open(&path).expect("a file");
    let modified = file.metadata().and_then(|metadata| metadata.modified()).expect("a time");
    file.set_modified(modified + std::time::Duration::from_secs(1)).expect("another time");
    let message = |end: &str| Some(format!("{}: {end}", path.display()));
    assert_eq!(streamed.value.changed(), message("has been written to since it was opened"));
    file.set_len(5).expect("a shorter file");
    assert_eq!(
        streamed.value.changed(),
        message("had 131 bytes when it was opened, and has 5 now")
    );
}

/// The lines of a text out of where they begin and end.
fn lines(streamed: &Loaded) -> Vec<Vec<u8>> {
    let Value::Tuple(parts) = &streamed.value else { panic!("a tuple") };
    let column = |index: usize| match &parts[index] {
        Value::Array(array) => array.elements.clone(),
        Value::Scalar(_) | Value::Tuple(_) => panic!("an array"),
    };
    let (Column::Char(text), Column::I64(starts), Column::I64(ends)) =
        (column(0), column(1), column(2))
    else {
        panic!("{}", streamed.ty)
    };
    let bounds = starts.as_slice().iter().zip(ends.as_slice());
    bounds.map(|(start, end)| text.as_slice()[*start as usize..*end as usize].to_vec()).collect()
}

#[test]
fn lines_are_those_that_are_loaded() {
    let long = format!("{}\r\n{}\n\nend", "x".repeat(1 << 20), "y".repeat((1 << 20) - 2));
    let texts = [
        "",
        "\n",
        "\r\n",
        "\u{feff}",
        "\u{feff}\n",
        "a",
        "a\n",
        "a\nb",
        "a\r\n\nbcd\n",
        "a\r",
        "\r\r\n\r",
        "\u{feff}\u{e4}\r\nb",
        &long,
        // The end of a line is cut between two blocks.
        &format!("{}\r\nb", "x".repeat((1 << 20) - 1)),
    ];
    for text in texts {
        let (_folder, path) = file("a.txt", text.as_bytes());
        let streamed = stream_lines(&path, &Limits::bytes(LIMIT)).expect("a text");
        assert_eq!(streamed.ty.to_string(), "([]char, []i64, []i64)");
        let loaded = load_lines(&path, &Limits::bytes(LIMIT)).expect("a text");
        let Value::Array(loaded) = &loaded.value else { panic!("an array") };
        let expected: Vec<Vec<u8>> = (0..loaded.len())
            .map(|line| match loaded.elements.row(line) {
                Some(Column::Char(chars)) => chars.as_slice().to_vec(),
                _ => panic!("lines are texts"),
            })
            .collect();
        let found = lines(&streamed);
        assert!(found == expected, "{} lines of {}", found.len(), expected.len());
        let in_file = text.strip_prefix('\u{feff}').unwrap_or(text).len();
        assert_eq!(streamed.value.mapped_bytes(), in_file);
    }
}

#[test]
fn lines_of_compressed_texts_are_in_memory() {
    let (_folder, path) = file("a.txt.gz", &gzip("\u{feff}a\r\nb".as_bytes()));
    let streamed = stream_lines(&path, &Limits::bytes(LIMIT)).expect("a text");
    assert_eq!(
        (lines(&streamed), streamed.value.mapped_bytes()),
        (vec![b"a".to_vec(), b"b".to_vec()], 0)
    );
    assert_eq!(
        outcome(stream_lines(&path, &Limits::bytes(35))),
        "E0404 a.txt.gz: the value needs 36 bytes, and the limit is 35"
    );
}

fn gzip(contents: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    encoder.write_all(contents).expect("memory");
    encoder.finish().expect("memory")
}

#[test]
fn lines_take_memory_for_their_bounds_alone() {
    let text = format!("{}\n{}\n", "x".repeat(4000), "y".repeat(4000));
    let (_folder, path) = file("a.txt", text.as_bytes());
    let streamed = stream_lines(&path, &Limits::bytes(32)).expect("two lines");
    assert_eq!((streamed.value.memory_bytes(), streamed.value.mapped_bytes()), (32, 8002));
    assert_eq!(
        outcome(stream_lines(&path, &Limits::bytes(31))),
        "E0404 a.txt: the value needs 32 bytes, and the limit is 31"
    );
    let message = "the text is UTF-16, and only UTF-8 can be read | convert it to UTF-8 first";
    check(stream_lines, "a.txt", b"\xff\xfea\0", &format!("E0403 a.txt: {message}"));
}

#[test]
fn finding_lines_shows_how_far_it_is_and_can_be_stopped() {
    let (_folder, path) = file("a.txt", &vec![b'\n'; (5 << 20) + 1]);
    let (asked, told) = (Cell::new(0), Cell::new((0, 0)));
    let mut limits = Limits::bytes(LIMIT);
    let progress = |done, total| told.set((done, total));
    let stop = || asked.replace(asked.get() + 1) == 3;
    (limits.stop, limits.progress) = (&stop, &progress);
    let problem = stream_lines(&path, &limits).expect_err("it was stopped");
    assert_eq!(problem.kind, IoErrorKind::Interrupted);
    assert_eq!(told.get(), (2 << 20, (5 << 20) + 1));
}

/// A sound is the same whether it is loaded or not; its samples are there, of that type.
#[track_caller]
fn check_wav(path: &Path, scalar: ScalarType, expected: Place) {
    let name = path.display();
    let loaded = load_wav(path, &Limits::bytes(LIMIT)).expect("a sound");
    let streamed = stream_wav(path, &Limits::bytes(LIMIT)).expect("a sound");
    let Value::Tuple(parts) = &streamed.value else { panic!("a tuple") };
    let [
        Value::Array(raw),
        Value::Scalar(Scalar::I64(channels)),
        Value::Scalar(Scalar::F64(bias)),
        Value::Scalar(Scalar::F64(scale)),
    ] = &parts[..]
    else {
        panic!("{name}: {}", streamed.ty)
    };
    assert_eq!(streamed.ty.to_string(), format!("([]{scalar}, i64, f64, f64)"), "{name}");
    let is_mapped = raw.elements.mapped_bytes() > 0;
    assert_eq!(is_mapped, expected == Place::File, "{name}");
    let sample = |index: usize| {
        let raw = match raw.elements.scalar(index) {
            Some(Scalar::U8(raw)) => f64::from(raw),
            Some(Scalar::I16(raw)) => f64::from(raw),
            Some(Scalar::I32(raw)) => f64::from(raw),
            Some(Scalar::F32(raw)) => f64::from(raw),
            other => panic!("{name}: {other:?}"),
        };
        ((raw - bias) * scale) as f32
    };
    let channels = *channels as usize;
    let frames = raw.len() / channels;
    let rows: Vec<f32> = (0..channels)
        .flat_map(|channel| (0..frames).map(move |frame| frame * channels + channel))
        .map(sample)
        .collect();
    let mut samples = Column::F32(rows.into());
    if channels > 1 {
        samples = Column::Dense { len: channels, extent: frames, inner: Box::new(samples) };
    }
    let Value::Tuple(fields) = &loaded.value else { panic!("a record") };
    let samples = Value::Array(Arc::new(Array::new(samples)));
    assert!(samples.same_bits(&fields[1]), "{name}");
}

#[test]
fn sounds_of_other_makers() {
    check_wav(&fixture("mono8.wav"), ScalarType::U8, Place::File);
    check_wav(&fixture("stereo16.wav"), ScalarType::I16, Place::File);
    check_wav(&fixture("mono24.wav"), ScalarType::F32, Place::Memory);
    check_wav(&fixture("float.wav"), ScalarType::F32, Place::File);
}

/// A sound of integers of so many bits, all that there are or the extreme ones and some between.
fn integers(bits: u16, channels: u16) -> Vec<u8> {
    let spec = WavSpec {
        channels,
        sample_rate: 8000,
        bits_per_sample: bits,
        sample_format: SampleFormat::Int,
    };
    let mut bytes = Cursor::new(Vec::new());
    let mut writer = WavWriter::new(&mut bytes, spec).expect("memory");
    let (least, step) = (-1_i64 << (bits - 1), (1_i64 << bits) / 768);
    for index in 0..768 {
        let sample = if index == 767 { -least - 1 } else { least + index * step.max(1) };
        writer.write_sample(sample.clamp(least, -least - 1) as i32).expect("memory");
    }
    writer.finalize().expect("memory");
    bytes.into_inner()
}

#[test]
fn sounds_of_every_kind() {
    let cases = [
        (8, 1, ScalarType::U8, Place::File),
        (8, 2, ScalarType::U8, Place::File),
        (16, 1, ScalarType::I16, Place::File),
        (16, 3, ScalarType::I16, Place::File),
        (24, 2, ScalarType::F32, Place::Memory),
        (32, 1, ScalarType::I32, Place::File),
        (32, 2, ScalarType::I32, Place::File),
    ];
    for (bits, channels, scalar, expected) in cases {
        let (_folder, path) = file("x.wav", &integers(bits, channels));
        check_wav(&path, scalar, expected);
    }
}

#[test]
fn sounds_that_lie_at_odd_addresses_or_are_compressed() {
    // A chunk that nobody knows, before the samples: they begin 10 bytes later.
    let with_chunk = |bits| {
        let mut bytes = integers(bits, 1);
        bytes.splice(12..12, b"note\x02\0\0\0ab".iter().copied());
        bytes
    };
    let (_folder, path) = file("x.wav", &with_chunk(16));
    check_wav(&path, ScalarType::I16, Place::File);
    let (_folder, path) = file("x.wav", &with_chunk(32));
    // The header of this one has 68 bytes.
    check_wav(&path, ScalarType::F32, Place::Memory);

    let (_folder, path) = file("x.wav.gz", &gzip(&integers(16, 2)));
    check_wav(&path, ScalarType::F32, Place::Memory);
}

#[test]
fn sounds_of_no_length_and_sounds_that_are_cut_off() {
    let bytes = integers(16, 2);
    let mut empty = bytes[..bytes.len() - 2 * 768].to_vec();
    let end = empty.len();
    empty[end - 4..].fill(0);
    let (_folder, path) = file("x.wav", &empty);
    check_wav(&path, ScalarType::F32, Place::Memory);
    for bits in [16, 24] {
        let bytes = integers(bits, 2);
        check(
            stream_wav,
            "x.wav",
            &bytes[..bytes.len() - 1],
            "E0402 x.wav: the WAV file is cut off",
        );
    }
    check(stream_wav, "x.wav", "RIFX", "E0402 x.wav: is no WAV file (no RIFF tag found)");
}

/// The samples of a sound that stays in its file take no memory.
#[test]
fn sounds_beyond_the_limit() {
    let (_folder, path) = file("x.wav", &integers(16, 2));
    let streamed = stream_wav(&path, &Limits::bytes(100)).expect("it is not read");
    assert_eq!(streamed.value.mapped_bytes(), 2 * 768);
    let (_folder, path) = file("x.wav", &integers(24, 2));
    assert_eq!(
        outcome(stream_wav(&path, &Limits::bytes(3000))),
        "E0404 x.wav: the value needs 3072 bytes, and the limit is 3000"
    );
}

#[test]
fn what_is_no_regular_file_is_not_opened() {
    let (folder, _path) = file("x", b"");
    for stream in [stream_npy, stream_lines, stream_wav] {
        let path = folder.path().join("x.npy");
        if !path.exists() {
            fs::create_dir(&path).expect("a folder");
        }
        assert_eq!(
            outcome(stream(&path, &Limits::bytes(LIMIT))),
            "E0401 x.npy: is a folder, not a file"
        );
    }
    // The system makes its contents when they are read, and says that there are none.
    if File::open("/proc/self/status").is_ok() {
        let streamed = stream_lines(Path::new("/proc/self/status"), &Limits::bytes(LIMIT));
        let streamed = streamed.expect("a text");
        assert!(lines(&streamed).len() > 5 && streamed.value.mapped_bytes() == 0);
    }
}
