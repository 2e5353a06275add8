//! One host, composed: its home and configuration, the registry, where sessions are, and the contributors
//! that are installed or named.
//!
//! An installed contributor that cannot be loaded does not take the others down: it is missing, which
//! every overlay says in `DSH_DEGRADED`, and fails collections only where the operator requires it. A
//! contributor that the caller names by its file has to load.

mod loading;

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::contract::ContributorName;
use crate::error::Result;
use crate::home::{Home, Surroundings, permissions};
use crate::installation::{self, Configuration, SessionsSettings};
use crate::registry::{Registration, Registry};
use crate::sandbox::{Allocation, CacheFolder, ContributorLog, Grants, Isolation, Sandbox, SandboxOptions};
use crate::session_persistence::SessionPersistence;
#[cfg(feature = "sessions")]
use crate::sessions::SessionStore;
use crate::sessions::{ActivePersistence, Backend, Compression, SessionsRoot};
use loading::Loading;

/// The folder of the home where state is kept unless told otherwise.
const STATE_FOLDER: &str = "state";

/// The folder of the state where compiled code is kept.
const COMPILED_FOLDER: &str = "compiled";

/// How a host is composed.
#[derive(Clone, Debug, Default)]
pub struct HostOptions {
    home: Option<OsString>,
    state_dir: Option<PathBuf>,
    contributors: Vec<PathBuf>,
    allocation: Allocation,
    isolation: Isolation,
    grants: Grants,
    sessions_root: Option<String>,
    backend: Option<Backend>,
    compression: Option<Compression>,
}

impl HostOptions {
    /// The home of this process, its installed contributors, memory on demand, and nowhere to call components
    /// that import something.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// The home, instead of the ambient or the default one.
    #[must_use]
    pub fn home(self, home: impl AsRef<OsStr>) -> Self {
        Self { home: Some(home.as_ref().to_owned()), ..self }
    }

    /// Where state is kept, instead of `state` in the home.
    #[must_use]
    pub fn state_dir(self, folder: impl Into<PathBuf>) -> Self {
        Self { state_dir: Some(folder.into()), ..self }
    }

    /// Further contributors by their files. They are not installed, so no section of the configuration
    /// applies to them.
    #[must_use]
    pub fn contributors<P: AsRef<Path>>(mut self, files: impl IntoIterator<Item = P>) -> Self {
        self.contributors.extend(files.into_iter().map(|file| file.as_ref().to_owned()));
        self
    }

    /// What the contributors that are named by their files are granted; nothing otherwise. What the installed
    /// ones are granted is configured.
    #[must_use]
    pub fn grants(self, grants: Grants) -> Self {
        Self { grants, ..self }
    }

    /// The folder of all sessions, instead of the configured one; `~` means the user's home.
    #[must_use]
    pub fn sessions_root(self, root: impl Into<String>) -> Self {
        Self { sessions_root: Some(root.into()), ..self }
    }

    /// What keeps the sessions, instead of what is configured.
    #[must_use]
    pub fn sessions_backend(self, backend: Backend) -> Self {
        Self { backend: Some(backend), ..self }
    }

    /// How the logs of sessions are compressed, instead of as configured.
    #[must_use]
    pub fn sessions_compression(self, compression: Compression) -> Self {
        Self { compression: Some(compression), ..self }
    }

    /// Where components are called that import something.
    #[must_use]
    pub fn isolation(self, isolation: Isolation) -> Self {
        Self { isolation, ..self }
    }

    /// Where the memory of calls comes from: [`Allocation::Pooled`] for a host that goes on.
    #[must_use]
    pub fn allocation(self, allocation: Allocation) -> Self {
        Self { allocation, ..self }
    }
}

/// A composed host. Its contributors are released with it.
#[derive(Debug)]
pub struct Host {
    home: Home,
    state_dir: PathBuf,
    configuration: Configuration,
    registry: Registry,
    persistence: ActivePersistence,
    contributors: Vec<HostedContributor>,
    warnings: Vec<String>,
    _built_in: Option<Registration>,
}

/// A contributor of a host that came from a file.
#[derive(Debug)]
pub struct HostedContributor {
    registration: Registration,
    file: PathBuf,
    digest: String,
    imports: Arc<[String]>,
    grants: Grants,
    log: ContributorLog,
}

impl HostedContributor {
    /// Its name.
    #[must_use]
    pub fn name(&self) -> ContributorName {
        self.registration.name()
    }

    /// The file it was read from.
    #[must_use]
    pub fn file(&self) -> &Path {
        &self.file
    }

    /// The SHA-256 of the file, as 64 lower-case hexadecimal digits.
    #[must_use]
    pub fn digest(&self) -> &str {
        &self.digest
    }

    /// The names of what it imports.
    #[must_use]
    pub fn imports(&self) -> &[String] {
        &self.imports
    }

    /// What it is granted.
    #[must_use]
    pub fn grants(&self) -> &Grants {
        &self.grants
    }

    /// What it printed lately.
    #[must_use]
    pub fn log(&self) -> &ContributorLog {
        &self.log
    }
}

impl Host {
    /// Composes a host: resolves the home, checks who can write to it, reads the configuration, and loads
    /// the contributors. Components are compiled, or taken from the cache, and asked what they declare.
    ///
    /// # Errors
    /// `invalid-configuration`, `unsafe-permissions`, and whatever is wrong with a contributor that was
    /// named by its file.
    pub fn open(options: &HostOptions) -> Result<Self> {
        let home = Home::resolve(options.home.as_deref())?;
        permissions::check(home.path())?;
        let configuration = Configuration::read(&home)?;
        let registry = Registry::new(&home);
        let (backend, root, compression) = sessions(options, &configuration, &home)?;
        let persistence = ActivePersistence::new(backend.service(root, compression));
        let installed = installation::installed(&home)?;
        let mut loading = Loading::new(&registry, &configuration);
        let built_in = loading.take_built_in(SessionPersistence::new(persistence.clone()))?;
        // Without a component there is nothing to start an engine for.
        let sandbox = if installed.is_empty() && options.contributors.is_empty() {
            None
        } else {
            Some(sandbox(options, &configuration, &home)?)
        };
        if let Some(sandbox) = &sandbox {
            loading.load_installed(sandbox, installed)?;
        }
        loading.compare_with_configuration();
        if let Some(sandbox) = &sandbox {
            loading.load_named(sandbox, &options.contributors, &options.grants)?;
        }
        let (contributors, warnings) = loading.finish();
        let state_dir = state_dir(options, &home);
        Ok(Self { home, state_dir, configuration, registry, persistence, contributors, warnings, _built_in: built_in })
    }

    /// Where a host of these options keeps compiled code, and how much of it. No contributor is read.
    ///
    /// # Errors
    /// `invalid-configuration`, `unsafe-permissions`.
    pub fn compiled_code(options: &HostOptions) -> Result<CacheFolder> {
        let home = Home::resolve(options.home.as_deref())?;
        compiled_code(options, &Configuration::read(&home)?, &home)
    }

    /// What keeps the sessions of a host of these options, to read and write them. Nothing on disk is touched but
    /// the configuration.
    ///
    /// # Errors
    /// `invalid-configuration`, `unsafe-permissions`.
    #[cfg(feature = "sessions")]
    pub fn session_store(options: &HostOptions) -> Result<Arc<dyn SessionStore>> {
        let home = Home::resolve(options.home.as_deref())?;
        session_store(options, &Configuration::read(&home)?, &home)
    }

    /// The home.
    #[must_use]
    pub fn home(&self) -> &Home {
        &self.home
    }

    /// Where state is kept: `state` in the home unless it was named.
    #[must_use]
    pub fn state_dir(&self) -> &Path {
        &self.state_dir
    }

    /// What the operator wants.
    #[must_use]
    pub fn configuration(&self) -> &Configuration {
        &self.configuration
    }

    /// The registry, in which an embedder's own contributors are welcome too.
    #[must_use]
    pub fn registry(&self) -> &Registry {
        &self.registry
    }

    /// The slot of the service that keeps the sessions.
    #[must_use]
    pub fn persistence(&self) -> &ActivePersistence {
        &self.persistence
    }

    /// The contributors that came from files, in the order in which they were loaded.
    #[must_use]
    pub fn contributors(&self) -> &[HostedContributor] {
        &self.contributors
    }

    /// What people should know although the host works: contributors that are missing, and sections of
    /// the configuration that apply to nothing.
    #[must_use]
    pub fn warnings(&self) -> &[String] {
        &self.warnings
    }
}

/// What keeps the sessions, where, and how.
fn sessions(
    options: &HostOptions,
    configuration: &Configuration,
    home: &Home,
) -> Result<(Backend, SessionsRoot, Compression)> {
    let SessionsSettings { root, backend, compression } = &configuration.sessions;
    let root = options.sessions_root.as_deref().or(root.as_deref());
    let root = SessionsRoot::resolve(root, home, &Surroundings::of_process())?;
    Ok((options.backend.unwrap_or(*backend), root, options.compression.unwrap_or(*compression)))
}

/// As [`Host::session_store`], with a configuration that was read already.
#[cfg(feature = "sessions")]
pub(crate) fn session_store(
    options: &HostOptions,
    configuration: &Configuration,
    home: &Home,
) -> Result<Arc<dyn SessionStore>> {
    let (backend, root, compression) = sessions(options, configuration, home)?;
    backend.store(root, compression)
}

fn state_dir(options: &HostOptions, home: &Home) -> PathBuf {
    options.state_dir.clone().unwrap_or_else(|| home.path().join(STATE_FOLDER))
}

fn sandbox(options: &HostOptions, configuration: &Configuration, home: &Home) -> Result<Sandbox> {
    let cache = compiled_code(options, configuration, home)?;
    let mut sandbox = SandboxOptions::new()
        .allocation(options.allocation)
        .isolation(options.isolation.clone())
        .cache(cache.path())
        .cache_size(cache.bound());
    for limits in configuration.all_limits() {
        sandbox = sandbox.ceiling(&limits);
    }
    Sandbox::new(&sandbox)
}

fn compiled_code(options: &HostOptions, configuration: &Configuration, home: &Home) -> Result<CacheFolder> {
    let state = state_dir(options, home);
    let compiled = state.join(COMPILED_FOLDER);
    permissions::check(&state)?;
    permissions::check(&compiled)?;
    Ok(CacheFolder::new(compiled, configuration.cache.size))
}
