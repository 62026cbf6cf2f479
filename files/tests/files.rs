//! What is left of files when any one call fails.

use std::fs;
use std::io;
use std::path::Path;
use std::sync::Arc;

use weft_files::{Access, FileSystem, Host, Lines, MappedFile, replace, with_every_fault};

fn folder() -> tempfile::TempDir {
    tempfile::tempdir().expect("a folder")
}

fn names(folder: &Path) -> Vec<String> {
    let entries = Host.list(folder).expect("a folder");
    let name = |path: &Path| path.file_name().expect("a name").to_string_lossy().into_owned();
    let mut names: Vec<String> = entries.iter().map(|entry| name(&entry.path)).collect();
    names.sort();
    names
}

#[test]
fn a_file_is_replaced_or_stays() {
    let mut runs = 0;
    with_every_fault(|files| {
        let folder = folder();
        let path = folder.path().join("file");
        fs::write(&path, "before").expect("a file");
        let written = replace(files, &path, Access::Usual, "part", |output| {
            output.write_all(b"afterwards")?;
            output.sync()
        });
        let expected = if written.is_ok() { "afterwards" } else { "before" };
        assert_eq!(written.is_err(), files.has_failed());
        assert_eq!(fs::read_to_string(&path).expect("the file"), expected);
        // What is left over cannot be removed where all calls fail.
        assert!(names(folder.path()).len() <= 2);
        runs += 1;
    });
    // Create, write, sync and rename fail; then nothing does.
    assert_eq!(runs, 2 * 5);
}

#[test]
fn one_failure_leaves_no_other_file() {
    let folder = folder();
    let path = folder.path().join("file");
    let written: io::Result<()> = replace(&Host, &path, Access::Private, "part", |output| {
        output.write_all(b"half")?;
        Err(io::ErrorKind::StorageFull.into())
    });
    assert_eq!(written.expect_err("full").kind(), io::ErrorKind::StorageFull);
    assert_eq!(names(folder.path()), [""; 0]);
}

#[test]
fn lines_that_were_added_stay() {
    with_every_fault(|files| {
        let folder = folder();
        let path = folder.path().join("lines");
        let mut kept = vec!["old"];
        fs::write(&path, "old\n").expect("a file");
        if let Ok((mut lines, _)) = Lines::open(files.shared(), &path, "") {
            for line in ["first", "second", "third"] {
                if lines.add(&format!("{line}\n")).is_ok() {
                    kept.push(line);
                }
            }
        }
        // Another process, where nothing fails.
        let (mut lines, _) = Lines::open(Arc::new(Host), &path, "").expect("a file");
        lines.add("last\n").expect("room");
        kept.push("last");
        let text = fs::read_to_string(&path).expect("the file");
        let found: Vec<&str> = text.lines().filter(|line| kept.contains(line)).collect();
        assert_eq!(found, kept, "{text:?}");
    });
}

#[test]
fn half_a_line_of_another_process_ends_there() {
    let folder = folder();
    let path = folder.path().join("lines");
    let (mut lines, _) = Lines::open(Arc::new(Host), &path, "").expect("a file");
    lines.add("first\n").expect("room");
    let mut other = Host.append(&path, Access::Private).expect("the file");
    other.write_all(b"half").expect("room");
    lines.add("second\n").expect("room");
    lines.add("third\n").expect("room");
    let text = fs::read_to_string(&path).expect("the file");
    assert_eq!(text, "first\nhalf\nsecond\nthird\n");
}

#[cfg(unix)]
#[test]
fn what_is_private_is_closed_to_others() {
    use std::os::unix::fs::PermissionsExt;

    let folder = folder();
    let (inner, path) = (folder.path().join("a/b"), folder.path().join("a/b/file"));
    Host.make_folder(&inner, Access::Private).expect("a folder");
    drop(Host.append(&path, Access::Private).expect("a file"));
    let mode = |path: &Path| fs::metadata(path).expect("it is there").permissions().mode() & 0o777;
    assert_eq!((mode(&inner), mode(&path)), (0o700, 0o600));
}

fn mapped(path: &Path) -> io::Result<MappedFile> {
    MappedFile::new(fs::File::open(path)?, path)
}

#[test]
fn a_mapped_file_stays_when_another_one_gets_its_name() {
    let folder = folder();
    let path = folder.path().join("file");
    fs::write(&path, "before").expect("a file");
    let file = mapped(&path).expect("a file that can be mapped");
    replace(&Host, &path, Access::Usual, "part", |output| output.write_all(b"afterwards"))
        .expect("a file that can be replaced");
    assert_eq!((file.bytes(), file.changed()), (&b"before"[..], None));
    assert_eq!(mapped(&path).expect("another file").bytes(), b"afterwards");
    fs::remove_file(&path).expect("a file");
    assert_eq!((file.bytes(), file.changed(), file.path()), (&b"before"[..], None, &*path));
}

#[test]
fn a_mapped_file_says_that_it_has_changed() {
    let folder = folder();
    let path = folder.path().join("file");
    fs::write(&path, "before").expect("a file");
    let file = mapped(&path).expect("a file that can be mapped");
    let writer = fs::OpenOptions::new().write(true).open(&path).expect("a file");
    let modified = writer.metadata().and_then(|metadata| metadata.modified()).expect("a time");
    writer.set_modified(modified + std::time::Duration::from_secs(1)).expect("another time");
    let text = |end: &str| Some(format!("{}: {end}", path.display()));
    assert_eq!(file.changed(), text("has been written to since it was opened"));
    writer.set_len(3).expect("a shorter file");
    assert_eq!(file.changed(), text("had 6 bytes when it was opened, and has 3 now"));
}

#[test]
fn what_has_no_bytes_is_not_mapped() {
    let folder = folder();
    let path = folder.path().join("file");
    fs::write(&path, "").expect("a file");
    assert!(mapped(&path).is_err());
    assert!(mapped(folder.path()).is_err());
}
