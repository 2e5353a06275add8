//! The environment of a hook: what a tool's command has, less the overlay, plus what the product documents.

use std::ffi::OsString;
use std::path::Path;

use super::Dialect;
use crate::environment::{ChildEnvironment, OrdinaryEnv};
use crate::error::Result;

/// Where Claude Code's hooks find what belongs to the project.
const CLAUDE_PROJECT_DIR: &str = "CLAUDE_PROJECT_DIR";

/// Credentials are removed and terminal settings plain, as for tools, and what the harness sets is set; no
/// managed variable is in it, whether inherited or of an overlay.
///
/// # Errors
/// `invalid-execution` for a directory with a NUL in it.
pub(super) fn environment(
    dialect: Dialect,
    inherited: impl IntoIterator<Item = (OsString, OsString)>,
    mut ordinary: OrdinaryEnv,
    cwd: &Path,
) -> Result<ChildEnvironment> {
    if dialect == Dialect::ClaudeCode {
        ordinary.set(CLAUDE_PROJECT_DIR, cwd)?;
    }
    Ok(ChildEnvironment::builder(inherited).ordinary(ordinary).without_overlay())
}
