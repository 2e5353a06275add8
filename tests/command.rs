//! The real command, as people and programs run it: real components, real shells, real files.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test that cannot go on fails"
)]

mod support;

#[path = "command/bad_files.rs"]
mod bad_files;
#[path = "command/cache.rs"]
mod cache;
#[path = "command/check.rs"]
mod check;
#[path = "command/configured.rs"]
mod configured;
#[path = "command/documents.rs"]
mod documents;
#[path = "command/env.rs"]
mod env;
#[path = "command/exec.rs"]
mod exec;
#[path = "command/git_workspace.rs"]
mod git_workspace;
#[path = "command/granted.rs"]
mod granted;
#[path = "command/home.rs"]
mod home;
#[path = "command/inspect.rs"]
mod inspect;
#[path = "command/installed.rs"]
mod installed;
#[path = "command/session.rs"]
mod session;
#[path = "command/strict_shell.rs"]
mod strict_shell;
#[path = "command/why.rs"]
mod why;

use std::path::PathBuf;

use support::command::{Place, Run};
use support::guest::Guest;

/// An example contributor that is checked in.
fn example(name: &str) -> PathBuf {
    support::project().join(format!("guest-examples/rust/{name}/{name}.wasm"))
}

/// What `sh -c env` printed, by name; a value that has lines keeps the first.
fn printed(run: &Run, name: &str) -> Option<String> {
    let prefix = format!("{name}=");
    run.stdout().lines().find_map(|line| line.strip_prefix(&prefix).map(str::to_owned))
}
