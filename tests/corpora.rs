//! Every input that fuzzing kept, once more without a fuzzer: what was found stays found.
//!
//! `fuzz` has the fuzzer; see CONTRIBUTING for how to run it.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test that cannot go on fails"
)]

use std::path::Path;

#[path = "../fuzz/src/lib.rs"]
mod targets;

fn replay(target: &str, run: fn(&[u8])) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap().join("fuzz/corpus").join(target);
    let mut files: Vec<_> = std::fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    assert!(!files.is_empty(), "{} is empty", folder.display());
    for file in files {
        // The last one that is named is the one that failed.
        println!("{target}/{}", file.file_name().unwrap().display());
        run(&std::fs::read(&file).unwrap());
    }
}

#[test]
fn every_kept_component_is_answered_for_or_refused_in_time() {
    replay("load", targets::load::run);
}

#[test]
fn every_kept_answer_of_a_contributor_is_checked_before_it_is_in_an_overlay() {
    replay("bindings", targets::bindings::run);
}

#[test]
fn every_kept_configuration_is_read_or_refused_with_its_place() {
    replay("configuration", targets::configuration::run);
}

#[test]
fn every_kept_entry_of_the_cache_is_a_miss_or_right() {
    replay("cache", targets::cache::run);
}
