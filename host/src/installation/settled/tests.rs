//! Files that somebody writes, and files that nobody does.

use std::fs::{self, OpenOptions};
use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use super::*;

/// Waits until nobody writes: a process that another test starts has all descriptors of this one for a moment.
fn until_nobody_writes(file: &File) {
    let begun = Instant::now();
    while has_writer(file) != Some(false) {
        assert!(begun.elapsed() < Duration::from_secs(60), "somebody still writes");
        thread::yield_now();
    }
}

/// Whether the kernel tells here at all. Some give no leases, and some file systems have none.
fn can_tell(folder: &Path) -> bool {
    let path = folder.join("nobody-writes");
    fs::write(&path, "x").unwrap();
    let file = File::open(path).unwrap();
    if has_writer(&file).is_none() {
        eprintln!("no leases are given in {}: what they would have shown is left out", folder.display());
        return false;
    }
    until_nobody_writes(&file);
    true
}

#[test]
fn somebody_who_holds_a_file_open_for_writing_is_seen_until_they_close_it() {
    let folder = tempfile::tempdir().unwrap();
    if !can_tell(folder.path()) {
        return;
    }
    let path = folder.path().join("a.wasm");
    let mut writer = File::create(&path).unwrap();
    let reader = File::open(&path).unwrap();
    assert_eq!(has_writer(&reader), Some(true));
    writer.write_all(b"half").unwrap();
    assert_eq!(has_writer(&reader), Some(true));
    // A copy of the descriptor is as good.
    let copy = writer.try_clone().unwrap();
    drop(writer);
    assert_eq!(has_writer(&reader), Some(true));
    drop(copy);
    until_nobody_writes(&reader);
    until_nobody_writes(&reader);
    // Whoever only adds to it writes too, and whoever only reads does not.
    let another = File::open(&path).unwrap();
    until_nobody_writes(&reader);
    let appending = OpenOptions::new().append(true).open(&path).unwrap();
    assert_eq!((has_writer(&reader), has_writer(&another)), (Some(true), Some(true)));
    drop(appending);
    until_nobody_writes(&reader);
}

#[test]
fn another_process_that_writes_is_seen_until_it_ends() {
    let folder = tempfile::tempdir().unwrap();
    if !can_tell(folder.path()) {
        return;
    }
    let path = folder.path().join("a.wasm");
    let output = File::create(&path).unwrap();
    let mut child = Command::new("cat").stdin(Stdio::piped()).stdout(output).spawn().unwrap();
    let reader = File::open(&path).unwrap();
    assert_eq!(has_writer(&reader), Some(true));
    drop(child.stdin.take());
    child.wait().unwrap();
    until_nobody_writes(&reader);
}

#[test]
fn whoever_opens_the_file_for_writing_meanwhile_is_not_held_up_and_nobody_is_ended() {
    let folder = tempfile::tempdir().unwrap();
    if !can_tell(folder.path()) {
        return;
    }
    let path = folder.path().join("a.wasm");
    fs::write(&path, "x").unwrap();
    let reader = File::open(&path).unwrap();
    thread::scope(|scope| {
        let looking = scope.spawn(|| {
            let begun = Instant::now();
            while begun.elapsed() < Duration::from_millis(300) {
                assert!(has_writer(&reader).is_some());
            }
        });
        // The kernel would let them wait for as long as it lets a holder of a lease: 45 s by default.
        let begun = Instant::now();
        let mut times = 0;
        while !looking.is_finished() {
            drop(OpenOptions::new().write(true).open(&path).unwrap());
            times += 1;
        }
        assert!(times > 0 && begun.elapsed() < Duration::from_secs(40));
    });
    until_nobody_writes(&reader);
}

#[test]
fn a_file_that_was_replaced_is_told_by_what_was_opened() {
    let folder = tempfile::tempdir().unwrap();
    if !can_tell(folder.path()) {
        return;
    }
    let (path, new) = (folder.path().join("a.wasm"), folder.path().join(".new"));
    fs::write(&path, "x").unwrap();
    let old = File::open(&path).unwrap();
    let writer = File::create(&new).unwrap();
    fs::rename(&new, &path).unwrap();
    until_nobody_writes(&old);
    assert_eq!(has_writer(&File::open(&path).unwrap()), Some(true));
    drop(writer);
}

#[test]
fn where_it_cannot_be_told_nothing_is_said() {
    // No regular files, for which there are no leases.
    for path in ["/dev/null", "/dev/zero"] {
        assert_eq!(has_writer(&File::open(path).unwrap()), None, "{path}");
    }
    let (reader, writer) = std::io::pipe().unwrap();
    assert_eq!(has_writer(&File::from(std::os::fd::OwnedFd::from(reader))), None);
    drop(writer);
    // Opened for writing by whoever asks: the kernel gives no lease for reading then.
    let folder = tempfile::tempdir().unwrap();
    let own = File::create(folder.path().join("own")).unwrap();
    assert_ne!(has_writer(&own), Some(false));
}
