//! Compiled code that is kept: used when it is whole and ours, and a miss in every other case.

use super::*;
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

fn sandbox_with(cache: &Path) -> Sandbox {
    Sandbox::new(&SandboxOptions::new().cache(cache)).unwrap()
}

/// Whether loading takes the code from the cache; the component has to work in any case.
fn hits(cache: &Path) -> bool {
    let component = sandbox_with(cache).load(Guest::good().component()).unwrap();
    assert_eq!(resolve(&component.contributor().unwrap()).unwrap(), [Binding::new("DSH_PROBE", "1")]);
    component.from_cache()
}

fn entry(cache: &Path) -> PathBuf {
    let entries: Vec<_> = fs::read_dir(cache).unwrap().map(|entry| entry.unwrap().path()).collect();
    assert_eq!(entries.len(), 1, "{entries:?}");
    entries[0].clone()
}

#[test]
fn what_was_compiled_once_is_not_compiled_again() {
    let folder = tempfile::tempdir().unwrap();
    let cache = folder.path().join("not/there/yet");
    assert!(!hits(&cache));
    assert!(hits(&cache));
    assert_eq!(fs::metadata(&cache).unwrap().permissions().mode() & 0o777, 0o700);
    assert_eq!(fs::metadata(entry(&cache)).unwrap().permissions().mode() & 0o077, 0);
}

#[test]
fn an_entry_that_was_changed_anywhere_is_a_miss_and_is_replaced() {
    let folder = tempfile::tempdir().unwrap();
    assert!(!hits(folder.path()));
    let path = entry(folder.path());
    let whole = fs::read(&path).unwrap();
    let damages: [fn(&mut Vec<u8>); 6] = [
        |bytes| bytes.truncate(bytes.len() / 2),
        |bytes| bytes.truncate(10),
        Vec::clear,
        |bytes| bytes[100] ^= 1,
        |bytes| {
            let last = bytes.len() - 1;
            bytes[last] ^= 1;
        },
        |bytes| bytes.push(0),
    ];
    for damage in damages {
        let mut damaged = whole.clone();
        damage(&mut damaged);
        fs::write(&path, &damaged).unwrap();
        assert!(!hits(folder.path()), "it was run");
        assert!(hits(folder.path()), "it was not replaced");
    }
}

#[test]
fn an_entry_that_others_could_have_written_is_a_miss() {
    let folder = tempfile::tempdir().unwrap();
    assert!(!hits(folder.path()));
    fs::set_permissions(entry(folder.path()), fs::Permissions::from_mode(0o666)).unwrap();
    assert!(!hits(folder.path()));
    fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o777)).unwrap();
    assert!(!hits(folder.path()));
}

#[test]
fn an_entry_that_is_a_link_or_a_pipe_is_a_miss_and_holds_nobody_up() {
    let folder = tempfile::tempdir().unwrap();
    let cache = folder.path().join("cache");
    assert!(!hits(&cache));
    let path = entry(&cache);
    let elsewhere = folder.path().join("elsewhere");
    fs::rename(&path, &elsewhere).unwrap();
    std::os::unix::fs::symlink(&elsewhere, &path).unwrap();
    assert!(!hits(&cache));
    fs::remove_file(&path).unwrap();
    assert!(std::process::Command::new("mkfifo").arg(&path).status().unwrap().success());
    assert!(!hits(&cache));
}

#[test]
fn a_cache_that_cannot_be_written_is_no_failure() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("file");
    fs::write(&file, "").unwrap();
    assert!(!hits(&file.join("below")));
}

#[test]
fn the_same_code_serves_both_allocations_only_if_their_settings_agree() {
    let folder = tempfile::tempdir().unwrap();
    assert!(!hits(folder.path()));
    let pooled = Sandbox::new(&SandboxOptions::new().allocation(Allocation::Pooled).cache(folder.path())).unwrap();
    let component = pooled.load(Guest::good().component()).unwrap();
    assert_eq!(resolve(&component.contributor().unwrap()).unwrap().len(), 1);
}

#[test]
fn many_may_fill_one_cache_at_once() {
    let folder = tempfile::tempdir().unwrap();
    let cache = folder.path().to_owned();
    let threads: Vec<_> = (0..8)
        .map(|_| {
            let cache = cache.clone();
            std::thread::spawn(move || hits(&cache))
        })
        .collect();
    for thread in threads {
        thread.join().unwrap();
    }
    assert!(hits(&cache));
    entry(&cache);
}
