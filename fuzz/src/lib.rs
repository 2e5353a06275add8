//! What each fuzz target does with an input, and what has to hold afterwards.
//!
//! Without the fuzzer in it: `tests/corpora.rs` includes this file and goes through every input that is kept in
//! `fuzz/corpus`, so that what was found once stays found.
#![allow(unreachable_pub, reason = "a module of a test as well as a library")]
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "what must not be ends the target"
)]

pub mod bindings;
pub mod cache;
mod checks;
pub mod configuration;
pub mod load;
