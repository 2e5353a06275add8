//! One build of a contributor, from its bytes to what the registry asks.

use std::path::Path;
use std::time::SystemTime;

use crate::contract::{Contributor as _, Declaration};
use crate::error::Result;
use crate::installation::{Fingerprint, Lock, Store, digest_of, read_settled};
use crate::sandbox::{ContributorLog, Grants, Limits, LoadedComponent, Sandbox, SandboxedContributor};

/// A component that was loaded and said what it declares.
#[derive(Debug)]
pub(super) struct Build {
    component: LoadedComponent,
    pub(super) declaration: Declaration,
    /// What it prints, whatever it is granted.
    pub(super) log: ContributorLog,
}

/// What was read of a file.
pub(super) struct Read {
    pub(super) digest: String,
    pub(super) fingerprint: Fingerprint,
    pub(super) at: SystemTime,
    bytes: Vec<u8>,
}

impl Read {
    /// Reads a file that nobody is writing, and keeps the build in the store.
    ///
    /// # Errors
    /// As [`read_settled`].
    pub(super) fn file(file: &Path, store: &Store) -> Result<Self> {
        let at = SystemTime::now();
        let (bytes, metadata) = read_settled(file)?;
        let digest = digest_of(&bytes);
        // Where nothing can be kept, it runs from memory: it was read whole.
        if let Err(error) = store.put(&digest, &bytes) {
            tracing::warn!(file = %file.display(), %error, "a build was not kept");
        }
        Ok(Self { digest, fingerprint: Fingerprint::of(&metadata), at, bytes })
    }

    /// Loads what was read.
    ///
    /// # Errors
    /// As [`Sandbox::load`]; what stopped it when it was asked what it declares.
    pub(super) fn load(self, sandbox: &Sandbox, lock: &Lock) -> Result<Build> {
        let Self { digest, bytes, .. } = self;
        Build::load(sandbox, &digest, lock.declaration(&digest), || Ok(bytes))
    }
}

impl Build {
    /// Loads a build from the store.
    ///
    /// # Errors
    /// As [`Read::load`]; `unreadable` where it is not there any more.
    pub(super) fn stored(sandbox: &Sandbox, store: &Store, digest: &str, lock: &Lock) -> Result<Self> {
        Self::load(sandbox, digest, lock.declaration(digest), || store.read(digest))
    }

    /// Loads a build that the caller has, and asks it what it declares whether or not it was accepted.
    ///
    /// # Errors
    /// As [`Read::load`].
    pub(super) fn unlocked(sandbox: &Sandbox, digest: &str, bytes: &[u8]) -> Result<Self> {
        Self::load(sandbox, digest, None, || Ok(bytes.to_vec()))
    }

    /// A build declares once: what it said is known where it was accepted.
    fn load(
        sandbox: &Sandbox,
        digest: &str,
        declared: Option<Declaration>,
        bytes: impl FnOnce() -> Result<Vec<u8>>,
    ) -> Result<Self> {
        let component = sandbox.load_known(digest, bytes)?;
        let contributor = match declared {
            Some(declaration) => component.contributor_declaring(declaration),
            None => component.contributor()?,
        };
        Ok(Self { declaration: contributor.declare(), log: contributor.log(), component })
    }

    pub(super) fn digest(&self) -> &str {
        self.component.digest()
    }

    pub(super) fn imports(&self) -> &[String] {
        self.component.imports()
    }

    /// What the registry asks.
    pub(super) fn contributor(&self, limits: Limits, grants: Grants, show_guest_text: bool) -> SandboxedContributor {
        let contributor = self.component.contributor_declaring(self.declaration.clone());
        let contributor = contributor.with_log(self.log.clone()).with_limits(limits).with_grants(grants);
        if show_guest_text { contributor.show_guest_text() } else { contributor }
    }
}
