//! One host, composed: its home and configuration, the registry, where sessions are, and the contributors
//! that are installed or named.
//!
//! An installed contributor that cannot be loaded does not take the others down: it is missing, which
//! every overlay says in `DSH_DEGRADED`, and fails collections only where the operator requires it. A
//! contributor that the caller names by its file has to load.

mod advice;
mod build;
mod hosted;
mod installer;
#[cfg(feature = "serve")]
mod serving;
#[cfg(feature = "serve")]
mod watching;

use std::collections::BTreeSet;
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::contract::Contributor;
use crate::error::{Code, Error, Result};
use crate::home::{Home, Surroundings, permissions};
use crate::installation::{Configuration, SessionsSettings, digest_of, read_component};
use crate::operations::ContributorStatus;
use crate::registry::{Registration, Registry, Terms};
use crate::sandbox::{Allocation, CacheFolder, Grants, Isolation, Sandbox, SandboxOptions};
use crate::session_persistence::SessionPersistence;
#[cfg(feature = "sessions")]
use crate::sessions::SessionStore;
use crate::sessions::{ActivePersistence, Backend, Compression, SessionsRoot};
use build::Build;
pub use hosted::HostedContributor;
use installer::{Installer, Parts};
#[cfg(feature = "serve")]
pub use serving::ServingHost;
#[cfg(feature = "serve")]
pub use watching::Watcher;

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
    locked: bool,
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

    /// Whether nothing may take part that is not in the lock: no new contributor, no other build, and none that is
    /// named by its file.
    #[must_use]
    pub fn locked(self, locked: bool) -> Self {
        Self { locked, ..self }
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
pub struct Host {
    home: Home,
    state_dir: PathBuf,
    installer: Arc<Installer>,
    persistence: ActivePersistence,
    named: Vec<(Registration, Arc<HostedContributor>)>,
    _built_in: Option<Registration>,
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
        let built_in = built_in(&registry, &configuration, SessionPersistence::new(persistence.clone()))?;
        let state_dir = state_dir(options, &home);
        let sandbox = {
            let (options, home) = (options.clone(), home.clone());
            Box::new(move |configuration: &Configuration| sandbox(&options, configuration, &home))
        };
        // Before anything is read of it, whether or not there is a component.
        permissions::check(&state_dir)?;
        let installer = Installer::new(Parts {
            home: home.clone(),
            state_dir: state_dir.clone(),
            registry,
            configuration,
            built_in: built_in.iter().map(Registration::declared).collect(),
            own_names: vec![crate::session_persistence::NAME.to_owned()],
            locked: options.locked,
            sandbox,
        });
        installer.open()?;
        let named = load_named(&installer, options)?;
        Ok(Self { home, state_dir, installer, persistence, named, _built_in: built_in })
    }

    /// Where a host of these options keeps its state. Nothing is read.
    ///
    /// # Errors
    /// As [`Home::resolve`].
    pub fn state_folder(options: &HostOptions) -> Result<PathBuf> {
        let home = Home::resolve(options.home.as_deref())?;
        Ok(state_dir(options, &home))
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
    pub fn configuration(&self) -> Arc<Configuration> {
        self.installer.configuration()
    }

    /// The registry, in which an embedder's own contributors are welcome too.
    #[must_use]
    pub fn registry(&self) -> &Registry {
        self.installer.registry()
    }

    /// The slot of the service that keeps the sessions.
    #[must_use]
    pub fn persistence(&self) -> &ActivePersistence {
        &self.persistence
    }

    /// The contributors that came from files, as they are now: the installed ones by name, then those that were
    /// named by their files.
    #[must_use]
    pub fn contributors(&self) -> Vec<Arc<HostedContributor>> {
        let named = self.named.iter().map(|(_, hosted)| Arc::clone(hosted));
        self.installer.view().hosted.iter().cloned().chain(named).collect()
    }

    /// What became of each installed contributor, by name.
    #[must_use]
    pub fn statuses(&self) -> Vec<ContributorStatus> {
        self.installer.view().statuses.clone()
    }

    /// Looks at the configuration and the folder again, and loads what changed in the background. Whatever fails
    /// leaves live what was.
    pub fn refresh(&self) {
        self.installer.refresh();
    }

    /// The folders in which something can change that [`refresh`](Self::refresh) looks at: the home, that of the
    /// contributors, and those that files in it lead to.
    #[must_use]
    pub fn watched_folders(&self) -> BTreeSet<PathBuf> {
        self.installer.watched_folders()
    }

    /// Installs a component under the name that it declares, and accepts it.
    ///
    /// # Errors
    /// Whatever is wrong with it, or why it cannot have what it claims; `unsafe-permissions`;
    /// `invalid-configuration` where the folder cannot be written.
    pub fn add(&self, file: &Path) -> Result<ContributorStatus> {
        self.installer.add(file).map_err(|error| error.in_file(file))
    }

    /// Removes a contributor's file. Its name and keys stay owned.
    ///
    /// # Errors
    /// `contributor-not-found`; `invalid-configuration` where the file cannot be removed.
    pub fn remove(&self, name: &str) -> Result<ContributorStatus> {
        self.installer.remove(name)
    }

    /// Makes a build live that waits, or that was accepted before.
    ///
    /// # Errors
    /// `contributor-not-found` where there is no such build; what is wrong with it, or why it cannot have what it
    /// claims.
    pub fn approve(&self, name: &str, digest: &str) -> Result<ContributorStatus> {
        self.installer.approve(name, digest)
    }

    /// Brings a build back: the one of a digest, else the one before the live one. What it takes the place of does
    /// not come back by itself.
    ///
    /// # Errors
    /// `contributor-not-found` where there is none; what is wrong with it.
    pub fn roll_back(&self, name: &str, to: Option<&str>) -> Result<ContributorStatus> {
        self.installer.roll_back(name, to)
    }

    /// Reads a contributor's file again, whether or not it seems to have changed.
    ///
    /// # Errors
    /// `contributor-not-found`. What is wrong with the file is in the status.
    pub fn reload(&self, name: &str) -> Result<ContributorStatus> {
        self.installer.reload(name)
    }

    /// Frees a name and its keys. A file that is still there is then a new one.
    ///
    /// # Errors
    /// `contributor-not-found`.
    pub fn forget(&self, name: &str) -> Result<ContributorStatus> {
        self.installer.forget(name)
    }

    /// What is wrong with the host itself since it was last refreshed: a configuration that cannot be read, a folder
    /// that is gone.
    #[must_use]
    pub fn problems(&self) -> Vec<Error> {
        self.installer.view().problems.clone()
    }

    /// What people should know although the host works: contributors that are missing, and sections of
    /// the configuration that apply to nothing.
    #[must_use]
    pub fn warnings(&self) -> Vec<String> {
        self.installer.view().warnings.clone()
    }
}

impl std::fmt::Debug for Host {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Host").field("home", &self.home).field("registry", self.registry()).finish_non_exhaustive()
    }
}

/// Registers a contributor of the host's own under the operator's terms, unless it is disabled.
fn built_in(
    registry: &Registry,
    configuration: &Configuration,
    contributor: impl Contributor + 'static,
) -> Result<Option<Registration>> {
    let name = contributor.declare().name;
    if configuration.contributors.get(name.as_str()).is_some_and(|settings| !settings.enabled) {
        return Ok(None);
    }
    let (_, terms) = configuration.of_contributor(&name);
    registry.register_under(Arc::new(contributor), terms).map(Some)
}

/// Loads the contributors that the caller named by their files. They are in no lock.
fn load_named(installer: &Installer, options: &HostOptions) -> Result<Vec<(Registration, Arc<HostedContributor>)>> {
    let configuration = installer.configuration();
    let load = |file: &PathBuf| {
        if options.locked {
            let message = "it is not in the lock, and --locked refuses what is not: install it by dsh-env add";
            return Err(Error::load(Code::ApprovalPending, message));
        }
        let build = Arc::new({
            let bytes = read_component(file)?;
            Build::unlocked(installer.sandbox()?, &digest_of(&bytes), &bytes)?
        });
        let terms = Terms { values: configuration.values, ..Terms::default() };
        let grants = options.grants.clone();
        let contributor = build.contributor(configuration.limits, grants.clone(), false);
        let registration = installer.registry().register_under(Arc::new(contributor), terms)?;
        let hosted = HostedContributor { name: registration.name(), file: file.clone(), build, grants };
        Ok((registration, Arc::new(hosted)))
    };
    options.contributors.iter().map(|file| load(file).map_err(|error| error.in_file(file))).collect()
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
