//! The cache under faults.

use std::fs::{self, File};
use std::io;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, SystemTime};

use crate::{Digest, text_hash};

use super::{Cache, make_private, same_owner};

fn folder() -> tempfile::TempDir {
    tempfile::tempdir().expect("a folder")
}

fn open(folder: &Path) -> Cache {
    Cache::open(&folder.join("cache"), "so", 1 << 20).expect("a cache")
}

fn key(text: &str) -> Digest {
    text_hash(&[text])
}

fn files(folder: &Path, extension: &str) -> Vec<PathBuf> {
    let files = fs::read_dir(folder.join("cache")).expect("a folder").flatten();
    let mut paths: Vec<PathBuf> = files
        .map(|file| file.path())
        .filter(|path| path.extension().is_some_and(|found| found == extension))
        .collect();
    paths.sort();
    paths
}

#[test]
fn what_is_stored_is_found_by_every_key() {
    let folder = folder();
    let stored = open(folder.path()).store(&[key("f"), key("g")], b"object").expect("room");
    let cache = open(folder.path());
    assert_eq!(cache.find(&key("f")), Some(stored.clone()));
    assert_eq!(cache.find(&key("g")), Some(stored.clone()));
    assert_eq!(cache.find(&key("h")), None);
    assert_eq!(fs::read(stored).expect("it is there"), b"object");
}

#[test]
fn damaged_objects_count_as_not_there_and_are_removed() {
    for damage in [&b"obj"[..], b"", b"objecT", b"object and more"] {
        let folder = folder();
        let cache = open(folder.path());
        let path = cache.store(&[key("f")], b"object").expect("room");
        fs::write(&path, damage).expect("writable");
        assert_eq!(cache.find(&key("f")), None, "{damage:?}");
        assert!(!path.exists());
        assert!(files(folder.path(), "entry").is_empty());
        let again = cache.store(&[key("f")], b"object").expect("room");
        assert_eq!(cache.find(&key("f")), Some(again));
    }
}

#[test]
fn damaged_entries_count_as_not_there() {
    let name = "0".repeat(64);
    let texts = [
        String::new(),
        "weft cache 1".to_owned(),
        "weft cache 1\n".to_owned(),
        format!("weft cache 1\n{name}"),
        format!("weft cache 2\n{name}\n"),
        format!("weft cache 1\n../../{}\n", &name[6..]),
        format!("weft cache 1\n{name}\nmore\n"),
        format!("weft cache 1\n{name}\n"),
    ];
    for text in texts {
        let folder = folder();
        let cache = open(folder.path());
        cache.store(&[key("f")], b"object").expect("room");
        fs::write(&files(folder.path(), "entry")[0], &text).expect("writable");
        assert_eq!(cache.find(&key("f")), None, "{text:?}");
    }
}

#[test]
fn a_missing_object_counts_as_not_there() {
    let folder = folder();
    let cache = open(folder.path());
    let path = cache.store(&[key("f")], b"object").expect("room");
    fs::remove_file(path).expect("it is there");
    assert_eq!(cache.find(&key("f")), None);
    assert!(files(folder.path(), "entry").is_empty());
}

#[test]
fn a_folder_that_is_open_to_others_is_refused() {
    for mode in [0o777, 0o750, 0o701] {
        let folder = folder();
        let path = folder.path().join("cache");
        fs::create_dir(&path).expect("a folder");
        fs::set_permissions(&path, fs::Permissions::from_mode(mode)).expect("mine");
        let refused = Cache::open(&path, "so", 1).expect_err("open to others");
        assert_eq!(refused.kind(), io::ErrorKind::PermissionDenied, "{mode:o}");
    }
    let folder = folder();
    open(folder.path());
    let mode = fs::metadata(folder.path().join("cache")).expect("made").permissions().mode();
    assert_eq!(mode & 0o777, 0o700);
}

#[test]
fn what_is_no_folder_is_refused() {
    let folder = folder();
    let file = folder.path().join("file");
    fs::write(&file, "text").expect("writable");
    assert!(Cache::open(&file, "so", 1).is_err());
    let (real, link) = (folder.path().join("real"), folder.path().join("link"));
    make_private(&real).expect("a folder");
    std::os::unix::fs::symlink(&real, &link).expect("a link");
    assert!(Cache::open(&link, "so", 1).is_err());
}

#[test]
fn a_folder_of_somebody_else_is_refused() {
    let folder = folder();
    let mine = fs::metadata(folder.path()).expect("a folder");
    let other = folder.path().join("other");
    fs::create_dir(&other).expect("a folder");
    // Who may not give a folder away is not the owner of the root folder.
    let other = match std::os::unix::fs::chown(&other, Some(12_345), None) {
        Ok(()) => fs::metadata(&other),
        Err(_) => fs::metadata("/"),
    };
    assert!(same_owner(&other.expect("a folder"), &mine).is_err());
    assert!(same_owner(&mine, &mine).is_ok());
}

#[test]
fn a_full_disk_leaves_nothing_behind() {
    let folder = folder();
    let cache = Cache {
        write: |file: &mut File, bytes: &[u8]| {
            io::Write::write_all(file, &bytes[..bytes.len() / 2])?;
            Err(io::ErrorKind::StorageFull.into())
        },
        ..open(folder.path())
    };
    let failed = cache.store(&[key("f")], b"object").expect_err("full");
    assert_eq!(failed.kind(), io::ErrorKind::StorageFull);
    assert_eq!(cache.find(&key("f")), None);
    assert_eq!(fs::read_dir(folder.path().join("cache")).expect("a folder").count(), 0);
}

#[test]
fn a_folder_that_vanishes_is_an_error_and_no_more() {
    let folder = folder();
    let cache = open(folder.path());
    fs::remove_dir(folder.path().join("cache")).expect("empty");
    assert!(cache.store(&[key("f")], b"object").is_err());
    assert_eq!(cache.find(&key("f")), None);
}

#[test]
fn the_least_recently_used_objects_go_first() {
    let folder = folder();
    let cache = Cache { capacity: 100, ..open(folder.path()) };
    let now = SystemTime::now();
    for (at, name) in ["a", "b", "c"].into_iter().enumerate() {
        let path = cache.store(&[key(name)], &[at as u8; 30]).expect("room");
        let age = Duration::from_secs(100 - at as u64);
        let file = File::options().append(true).open(path).expect("it is there");
        file.set_modified(now - age).expect("mine");
    }
    assert!(cache.find(&key("a")).is_some(), "used now");
    cache.store(&[key("d")], &[3; 30]).expect("room");
    let left: Vec<bool> =
        ["a", "b", "c", "d"].into_iter().map(|name| cache.find(&key(name)).is_some()).collect();
    assert_eq!(left, [true, false, false, true]);
    assert_eq!(files(folder.path(), "entry").len(), 2);
    // What is greater than the cache is kept until something else comes.
    cache.store(&[key("e")], &[4; 300]).expect("room");
    assert_eq!(files(folder.path(), "so").len(), 1);
    assert!(cache.find(&key("e")).is_some());
}

#[test]
fn files_of_dead_writers_are_removed() {
    let folder = folder();
    let cache = Cache { capacity: 0, ..open(folder.path()) };
    let old = folder.path().join("cache").join("1-1.partial");
    let young = folder.path().join("cache").join("1-2.partial");
    for path in [&old, &young] {
        fs::write(path, "half").expect("writable");
    }
    let hours = SystemTime::now() - Duration::from_secs(10_000);
    File::options()
        .append(true)
        .open(&old)
        .and_then(|file| file.set_modified(hours))
        .expect("mine");
    cache.store(&[key("f")], b"object").expect("room");
    assert!(!old.exists() && young.exists());
}

#[test]
fn many_writers_and_readers_at_once() {
    let folder = folder();
    let path = folder.path();
    thread::scope(|scope| {
        for writer in 0..8_u8 {
            scope.spawn(move || {
                // A cache of its own, as another process has.
                let cache = Cache { capacity: 4000, ..open(path) };
                for round in 0..40_u8 {
                    let name = format!("{}", round % 10);
                    let object = vec![round % 10; 200 + usize::from(writer % 2)];
                    let stored = cache.store(&[key(&name)], &object);
                    // Another may have removed it already, but nobody sees anything else.
                    assert!(stored.is_ok(), "{stored:?}");
                    if let Some(found) = cache.find(&key(&name))
                        && let Ok(bytes) = fs::read(found)
                    {
                        assert!(bytes.iter().all(|byte| *byte == round % 10));
                    }
                }
            });
        }
    });
    assert!(files(path, "partial").is_empty());
}
