//! The cache under faults.

use std::fs::{self, File};
use std::io;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, SystemTime};

use weft_files::with_every_fault;

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

/// Stores an object, and tidies up behind it.
fn stored(cache: &Cache, name: &str, object: &[u8]) -> PathBuf {
    let path = cache.store(&[key(name)], object).expect("room");
    cache.tidy(&path);
    path
}

#[test]
fn a_cache_is_tidied_up_when_much_has_been_stored() {
    let folder = folder();
    let cache = Cache { capacity: 6400, ..open(folder.path()) };
    let count = || files(folder.path(), "so").len();
    // The first one finds what others have left.
    for at in 0..300_u16 {
        open(folder.path())
            .store(&[key(&at.to_string())], &at.to_be_bytes().repeat(20))
            .expect("room");
    }
    stored(&cache, "a", &[1; 60]);
    let left = count();
    assert!(left < 170, "{left}");
    // Below a share of the capacity nobody looks.
    let old = folder.path().join("cache").join("1-1.partial");
    fs::write(&old, "half").expect("writable");
    let hours = SystemTime::now() - Duration::from_secs(10_000);
    File::options()
        .append(true)
        .open(&old)
        .and_then(|file| file.set_modified(hours))
        .expect("mine");
    stored(&cache, "b", &[2; 60]);
    assert!(old.exists());
    stored(&cache, "c", &[3; 60]);
    assert!(!old.exists());
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
fn whatever_fails_nothing_is_lost_but_time() {
    with_every_fault(|faults| {
        let folder = folder();
        open(folder.path()).store(&[key("old")], b"old object").expect("room");
        let whole = |cache: &Cache, name: &str, object: &[u8]| match cache.find(&key(name)) {
            Some(path) => {
                assert_eq!(fs::read(path).expect("it is there"), object, "{name}");
                true
            }
            None => false,
        };
        // So small that making room is tried too.
        let faulty = Cache { files: faults.shared(), capacity: 4, ..open(folder.path()) };
        let found = whole(&faulty, "old", b"old object");
        assert!(found || faults.has_failed());
        let stored = faulty.store(&[key("f"), key("g")], b"object");
        if let Err(error) = &stored {
            assert_eq!(error.kind(), io::ErrorKind::StorageFull);
        }
        // Another process, on a disk with room.
        let cache = open(folder.path());
        whole(&cache, "old", b"old object");
        for name in ["f", "g"] {
            assert!(whole(&cache, name, b"object") || stored.is_err(), "{name}");
        }
        cache.store(&[key("f"), key("g")], b"object").expect("room");
        assert!(whole(&cache, "f", b"object") && whole(&cache, "g", b"object"));
    });
}

#[test]
fn a_full_disk_leaves_nothing_behind() {
    let mut runs = 0;
    with_every_fault(|faults| {
        let folder = folder();
        let cache = Cache { files: faults.shared(), ..open(folder.path()) };
        let stored = cache.store(&[key("f")], b"object");
        // Making room is not what was asked for.
        assert!(stored.is_ok() || faults.has_failed());
        // Where all further calls fail too, what was begun cannot be removed.
        let is_alone = runs % 2 == 0;
        assert!(!is_alone || files(folder.path(), "partial").is_empty());
        runs += 1;
    });
    assert!(runs > 10, "{runs}");
}

/// Names the folder of the cache that this program as a child uses.
const SHARED: &str = "WEFT_TEST_CACHE";
/// How many processes there are at once, if `WEFT_PROCESSES` does not say.
const PROCESSES: usize = 16;

/// Not a test of its own: stores and finds objects in a cache that others use at the same time.
#[test]
fn process_as_child() {
    let Some(folder) = std::env::var_os(SHARED) else { return };
    let folder = PathBuf::from(folder);
    for round in 0..60_u64 {
        // Some are the same in all processes; together they take more than there is room for.
        let name = format!("object {}", (round * 7 + u64::from(std::process::id())) % 40);
        let object = name.repeat(20);
        let cache = Cache::open(&folder.join("cache"), "so", 4000).expect("a cache");
        match cache.find(&key(&name)) {
            // Who makes room may have taken it away again.
            Some(path) => match fs::read(path) {
                Ok(bytes) => assert_eq!(bytes, object.as_bytes(), "{name}"),
                Err(error) => assert_eq!(error.kind(), io::ErrorKind::NotFound),
            },
            None => drop(stored(&cache, &name, object.as_bytes())),
        }
    }
}

#[test]
fn many_processes_share_a_cache_that_is_too_small() {
    let folder = folder();
    let count = std::env::var("WEFT_PROCESSES").ok().and_then(|count| count.parse().ok());
    let children: Vec<_> = (0..count.unwrap_or(PROCESSES))
        .map(|_| {
            Command::new(std::env::current_exe().expect("this program"))
                .args(["--exact", "cache::tests::process_as_child"])
                .env(SHARED, folder.path())
                .stdout(Stdio::piped())
                .spawn()
                .expect("a process")
        })
        .collect();
    for child in children {
        let output = child.wait_with_output().expect("it ends");
        let said = String::from_utf8_lossy(&output.stdout);
        assert!(output.status.success() && said.contains("1 passed"), "{said}");
    }
    assert!(files(folder.path(), "partial").is_empty());
    // Nobody else stores anything now.
    let cache = Cache { capacity: 4000, ..open(folder.path()) };
    stored(&cache, "last", b"last object");
    let objects = files(folder.path(), "so");
    let length = |path: &PathBuf| fs::metadata(path).expect("it is there").len();
    assert!(objects.len() > 1 && objects.iter().map(length).sum::<u64>() <= 4000);
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
        let path = stored(&cache, name, &[at as u8; 30]);
        let age = Duration::from_secs(100 - at as u64);
        let file = File::options().append(true).open(path).expect("it is there");
        file.set_modified(now - age).expect("mine");
    }
    assert!(cache.find(&key("a")).is_some(), "used now");
    stored(&cache, "d", &[3; 30]);
    let left: Vec<bool> =
        ["a", "b", "c", "d"].into_iter().map(|name| cache.find(&key(name)).is_some()).collect();
    assert_eq!(left, [true, false, false, true]);
    assert_eq!(files(folder.path(), "entry").len(), 2);
    // What is greater than the cache is kept until something else comes.
    stored(&cache, "e", &[4; 300]);
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
    stored(&cache, "f", b"object");
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
                    stored.iter().for_each(|path| cache.tidy(path));
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
