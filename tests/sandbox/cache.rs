//! Compiled code that is kept: used when it is whole and ours, and a miss in every other case.

use super::*;
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

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

/// Components that differ in a byte, and so have entries of about the same size.
fn variant(number: u8) -> Vec<u8> {
    Guest::good().with("extra", format!("(data (i32.const 2048) \"\\{number:02x}\")")).component()
}

/// A sandbox whose cache has room for `count` variants and a half.
fn sandbox_for(cache: &Path, count: u64) -> Sandbox {
    let folder = tempfile::tempdir().unwrap();
    sandbox_with(folder.path()).load(variant(0)).unwrap();
    let one = fs::metadata(entry(folder.path())).unwrap().len();
    Sandbox::new(&SandboxOptions::new().cache(cache).cache_size(one * count + one / 2)).unwrap()
}

fn entries(cache: &Path) -> Vec<PathBuf> {
    let mut entries: Vec<_> = fs::read_dir(cache).unwrap().map(|entry| entry.unwrap().path()).collect();
    entries.sort();
    entries
}

/// Says of an entry that it was used last some minutes ago.
fn used(entry: &Path, minutes: u64) {
    let then = SystemTime::now() - Duration::from_secs(minutes * 60);
    fs::File::open(entry).unwrap().set_modified(then).unwrap();
}

fn age(entry: &Path) -> Duration {
    fs::metadata(entry).unwrap().modified().unwrap().elapsed().unwrap_or_default()
}

#[test]
fn of_more_than_may_be_kept_what_was_not_used_for_longest_goes() {
    let folder = tempfile::tempdir().unwrap();
    let cache = folder.path();
    let sandbox = sandbox_for(cache, 3);
    let mut files = Vec::new();
    for number in 0..3 {
        let before = fs::read_dir(cache).map(|_| entries(cache)).unwrap_or_default();
        assert!(!sandbox.load(variant(number)).unwrap().from_cache());
        files.push(entries(cache).into_iter().find(|entry| !before.contains(entry)).unwrap());
    }
    for (file, hours) in files.iter().zip([3, 4, 2]) {
        used(file, hours * 60);
    }
    // The one that was used longest ago is used now.
    assert!(sandbox.load(variant(1)).unwrap().from_cache());
    assert!(age(&files[1]) < Duration::from_secs(60));
    assert!(!sandbox.load(variant(3)).unwrap().from_cache());
    assert_eq!(files.iter().map(|file| file.exists()).collect::<Vec<_>>(), [false, true, true]);
    for (number, kept) in [(1, true), (2, true), (3, true), (0, false)] {
        assert_eq!(sandbox.load(variant(number)).unwrap().from_cache(), kept, "{number}");
    }
    assert_eq!(entries(cache).len(), 3);
}

#[test]
fn a_use_is_written_down_once_an_hour() {
    let folder = tempfile::tempdir().unwrap();
    assert!(!hits(folder.path()));
    let entry = entry(folder.path());
    used(&entry, 50);
    assert!(hits(folder.path()));
    assert!(age(&entry) > Duration::from_secs(40 * 60));
    used(&entry, 70);
    assert!(hits(folder.path()));
    assert!(age(&entry) < Duration::from_secs(60));
    // By a clock that was wrong.
    fs::File::open(&entry).unwrap().set_modified(SystemTime::now() + Duration::from_secs(86_400)).unwrap();
    assert!(hits(folder.path()));
    assert!(fs::metadata(&entry).unwrap().modified().unwrap() <= SystemTime::now());
}

#[test]
fn what_is_larger_than_all_that_may_be_kept_is_not_kept() {
    let folder = tempfile::tempdir().unwrap();
    let sandbox = Sandbox::new(&SandboxOptions::new().cache(folder.path()).cache_size(100)).unwrap();
    for _ in 0..2 {
        assert!(!sandbox.load(variant(0)).unwrap().from_cache());
    }
    assert!(entries(folder.path()).is_empty());
}

#[test]
fn what_nobody_can_use_goes_when_something_is_published() {
    let folder = tempfile::tempdir().unwrap();
    let cache = folder.path();
    let named = |name: &str| cache.join(format!("{}-{name}.cwasm", "0".repeat(64)));
    let [writable, link, pipe, other_version] = ["writable", "link", "pipe", "other"].map(named);
    for file in [&writable, &other_version] {
        fs::write(file, "").unwrap();
    }
    fs::set_permissions(&writable, fs::Permissions::from_mode(0o666)).unwrap();
    let elsewhere = folder.path().join("elsewhere");
    fs::write(&elsewhere, "kept").unwrap();
    std::os::unix::fs::symlink(&elsewhere, &link).unwrap();
    assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    let [stale, fresh] = [".new-stale.cwasm", ".new-fresh.cwasm"].map(|name| cache.join(name));
    for (file, minutes) in [(&stale, 61), (&fresh, 59)] {
        fs::write(file, "").unwrap();
        used(file, minutes);
    }
    let notes = cache.join("notes.txt");
    fs::write(&notes, "").unwrap();
    let mut expected = vec![elsewhere.clone(), fresh, notes, other_version];
    if rustix::process::geteuid().is_root() {
        let theirs = named("theirs");
        fs::write(&theirs, "").unwrap();
        std::os::unix::fs::chown(&theirs, Some(65_534), None).unwrap();
    }
    assert!(!sandbox_with(cache).load(variant(0)).unwrap().from_cache());
    let published = entries(cache).into_iter().find(|entry| fs::metadata(entry).unwrap().len() > 100).unwrap();
    expected.push(published);
    expected.sort();
    assert_eq!(entries(cache), expected);
    assert_eq!(fs::read_to_string(elsewhere).unwrap(), "kept");
}

#[test]
fn an_entry_that_goes_while_others_use_the_cache_is_compiled_again() {
    let folder = tempfile::tempdir().unwrap();
    let cache = folder.path();
    let threads: Vec<_> = (0..4)
        .map(|_| {
            // Room for one of three: everybody removes what the others need.
            let sandbox = sandbox_for(cache, 1);
            std::thread::spawn(move || {
                for round in 0..15 {
                    let component = sandbox.load(variant(round % 3)).unwrap();
                    assert_eq!(resolve(&component.contributor().unwrap()).unwrap().len(), 1);
                }
            })
        })
        .collect();
    for thread in threads {
        thread.join().unwrap();
    }
    // None where two removed each other's.
    assert!(entries(cache).len() <= 1);
}
