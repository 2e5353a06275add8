//! A contributor of a host that came from a file.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::build::Build;
use crate::contract::ContributorName;
use crate::registry::{Registration, Terms};
use crate::sandbox::{ContributorLog, Grants, Limits};

/// A contributor of a host that came from a file, as it was when it was looked at.
#[derive(Debug)]
pub struct HostedContributor {
    pub(super) name: ContributorName,
    pub(super) file: PathBuf,
    pub(super) build: Arc<Build>,
    pub(super) grants: Grants,
}

impl HostedContributor {
    /// Its name.
    #[must_use]
    pub fn name(&self) -> &ContributorName {
        &self.name
    }

    /// The file that it was read from, which may have another build now.
    #[must_use]
    pub fn file(&self) -> &Path {
        &self.file
    }

    /// The SHA-256 of the build, as 64 lower-case hexadecimal digits.
    #[must_use]
    pub fn digest(&self) -> &str {
        self.build.digest()
    }

    /// The names of what it imports.
    #[must_use]
    pub fn imports(&self) -> &[String] {
        self.build.imports()
    }

    /// What it is granted.
    #[must_use]
    pub fn grants(&self) -> &Grants {
        &self.grants
    }

    /// What it printed lately.
    #[must_use]
    pub fn log(&self) -> &ContributorLog {
        &self.build.log
    }
}

/// One that is in the registry.
pub(super) struct LiveContributor {
    pub(super) hosted: Arc<HostedContributor>,
    pub(super) registration: Registration,
    pub(super) limits: Limits,
    pub(super) terms: Terms,
}
