//! What the end-to-end tests share: small components made to order, a home of their own, the command.
#![allow(unreachable_pub, reason = "a module of several test binaries")]
#![allow(dead_code, reason = "every test binary uses its own part of this")]
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test that cannot go on fails"
)]

pub mod command;
pub mod endpoint;
pub mod guest;
pub mod large;
pub mod processes;
pub mod shells;

use std::path::{Path, PathBuf};

/// The folder of fixtures.
pub fn fixtures() -> PathBuf {
    project().join("tests/fixtures")
}

/// The project's top folder.
pub fn project() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap().to_path_buf()
}
