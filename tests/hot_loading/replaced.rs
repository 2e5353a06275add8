//! Replacing a contributor again and again, in every way of writing, while others collect.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use super::*;

/// How often a contributor is replaced, in all ways together.
const TIMES: usize = 1000;

/// How many collect meanwhile.
const CLIENTS: usize = 4;

/// The most that this process may have grown by in the end: what one engine keeps warm, and not a thousand builds.
const GROWTH: u64 = 96 * 1024 * 1024;

/// A way to replace a file.
type Way = fn(&Path, &[u8]);

fn by_rename(file: &Path, build: &[u8]) {
    let new = file.with_file_name(".new");
    fs::write(&new, build).unwrap();
    fs::rename(&new, file).unwrap();
}

fn by_truncating(file: &Path, build: &[u8]) {
    use std::io::Write as _;
    let mut file = fs::File::create(file).unwrap();
    for part in build.chunks(build.len() / 3 + 1) {
        file.write_all(part).unwrap();
    }
}

fn by_copying(file: &Path, build: &[u8]) {
    let from = file.parent().unwrap().with_file_name("from.wasm");
    fs::write(&from, build).unwrap();
    fs::copy(&from, file).unwrap();
}

fn by_switching_a_link(file: &Path, build: &[u8]) {
    let folder = file.parent().unwrap().with_file_name("builds");
    fs::create_dir_all(&folder).unwrap();
    let target = folder.join(digest(build));
    fs::write(&target, build).unwrap();
    let link = file.with_file_name(".link");
    symlink(&target, &link).unwrap();
    fs::rename(&link, file).unwrap();
}

/// A build whose two keys say the same number.
fn pair(number: usize) -> Vec<u8> {
    let number = number.to_string();
    Guest::saying("pair", &[("DSH_LEFT", &number), ("DSH_RIGHT", &number)]).component()
}

/// Resident memory and open descriptors of this process.
fn taken() -> (u64, usize) {
    let status = fs::read_to_string("/proc/self/status").unwrap();
    let resident = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap();
    let kilobytes: u64 = resident.trim().trim_end_matches(" kB").parse().unwrap();
    (kilobytes * 1024, fs::read_dir("/proc/self/fd").unwrap().count())
}

#[test]
fn a_contributor_that_is_replaced_a_thousand_times_is_wholly_old_or_wholly_new() {
    let place = Place::new();
    place.install("pair", pair(0));
    let running = Running::of(&place);
    let file = installed(&place, "pair");
    let (stop, collected) = (AtomicBool::new(false), AtomicUsize::new(0));
    let client = || {
        let registry = running.host.registry();
        let mut last = 0;
        while !stop.load(Ordering::Relaxed) {
            let overlay = registry.collect(&Execution::new("bash")).unwrap();
            let value = |key: &str| overlay.get(key).map(|entry| entry.value.expose().to_owned());
            let (left, right) = (value("DSH_LEFT").unwrap(), value("DSH_RIGHT").unwrap());
            assert_eq!(left, right, "an overlay of two builds");
            assert!(overlay.degraded().is_empty());
            let number: usize = left.parse().unwrap();
            assert!(number >= last, "{number} came after {last}");
            last = number;
            collected.fetch_add(1, Ordering::Relaxed);
        }
    };
    std::thread::scope(|scope| {
        let clients: Vec<_> = (0..CLIENTS).map(|_| scope.spawn(client)).collect();
        let ways: [Way; 4] = [by_rename, by_truncating, by_copying, by_switching_a_link];
        let mut warm = (0, 0);
        for number in 1..=TIMES {
            ways[number * ways.len() / (TIMES + 1)](&file, &pair(number));
            // Sometimes at once, sometimes when the one before has been seen.
            if number % 10 == 0 {
                running.until_value("DSH_LEFT", Some(&number.to_string()));
            }
            if number == TIMES / 5 {
                warm = taken();
            }
        }
        running.until_value("DSH_LEFT", Some(&TIMES.to_string()));
        let (memory, descriptors) = taken();
        stop.store(true, Ordering::Relaxed);
        for client in clients {
            client.join().unwrap();
        }
        assert!(memory < warm.0 + GROWTH, "{} bytes, and {memory} after all", warm.0);
        assert!(descriptors < warm.1 + 16, "{} descriptors, and {descriptors} after all", warm.1);
    });
    assert!(collected.into_inner() > TIMES);
    let stored = fs::read_dir(place.home().join("state/store")).unwrap().count();
    assert!(stored < 50, "{stored} builds are kept");
}
