//! A component as a contributor.

use std::sync::Arc;

use super::grants::Grants;
use super::limits::Limits;
use super::log::ContributorLog;
use super::runner::{Outcome, Runner};
use crate::contract::{Binding, Contributor, Deadline, Declaration, Execution, Facts, Failure};
use crate::error::Result;

/// A component that was asked what it declares. Every [`resolve`](Contributor::resolve) runs in a fresh
/// instance.
pub struct SandboxedContributor {
    runner: Arc<Runner>,
    digest: String,
    imports: Arc<[String]>,
    limits: Limits,
    grants: Grants,
    log: ContributorLog,
    declaration: Declaration,
}

impl SandboxedContributor {
    /// Asks a component what it declares.
    pub(super) fn new(runner: Arc<Runner>, digest: String, imports: Arc<[String]>) -> Result<Self> {
        let Outcome { said, printed, .. } = runner.declare();
        let declaration = said.map_err(Failure::into_load_error)?;
        let contributor = Self::declaring(runner, digest, imports, declaration);
        contributor.log.append(&printed);
        Ok(contributor)
    }

    /// One that said before what it declares.
    pub(super) fn declaring(
        runner: Arc<Runner>,
        digest: String,
        imports: Arc<[String]>,
        declaration: Declaration,
    ) -> Self {
        let log = ContributorLog::of(&declaration);
        Self { runner, digest, imports, limits: Limits::RESOLVE, grants: Grants::default(), log, declaration }
    }

    /// The same under other limits.
    #[must_use]
    pub fn with_limits(self, limits: Limits) -> Self {
        Self { limits, ..self }
    }

    /// The same with grants, where it has none otherwise.
    #[must_use]
    pub fn with_grants(self, grants: Grants) -> Self {
        Self { grants, ..self }
    }

    /// The same with its own words shown although it handles sensitive values.
    #[must_use]
    pub fn show_guest_text(self) -> Self {
        self.log.show();
        self
    }

    /// The same with what it prints added to another log.
    #[must_use]
    pub fn with_log(self, log: ContributorLog) -> Self {
        Self { log, ..self }
    }

    /// The names of what it imports.
    #[must_use]
    pub fn imports(&self) -> Arc<[String]> {
        Arc::clone(&self.imports)
    }

    /// What it is granted.
    #[must_use]
    pub fn grants(&self) -> &Grants {
        &self.grants
    }

    /// What it printed lately.
    #[must_use]
    pub fn log(&self) -> ContributorLog {
        self.log.clone()
    }
}

impl Contributor for SandboxedContributor {
    fn declare(&self) -> Declaration {
        self.declaration.clone()
    }

    fn resolve(&self, execution: &Execution, deadline: &Deadline) -> Result<Vec<Binding>, Failure> {
        self.resolve_with(execution, &Facts::default(), deadline)
    }

    fn resolve_with(&self, execution: &Execution, facts: &Facts, deadline: &Deadline) -> Result<Vec<Binding>, Failure> {
        let Outcome { said, printed, note } =
            self.runner.resolve(execution, facts, &self.limits, &self.grants, deadline);
        if let Some(note) = note {
            self.log.note(&note);
        }
        self.log.append(&printed);
        said
    }

    fn digest(&self) -> Option<&str> {
        Some(&self.digest)
    }

    // The limits end a guest whatever it does, so that it needs no thread of its own; but a file system that does not
    // answer can hold up the opening of a workspace.
    fn may_wait(&self) -> bool {
        self.runner.may_wait() || self.grants.workspace.is_some()
    }
}

impl std::fmt::Debug for SandboxedContributor {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("SandboxedContributor").field("declaration", &self.declaration).finish_non_exhaustive()
    }
}
