//! The installed contributors of a host: what is in the folder, what of it is live, and how that changes.
//!
//! Everything is made anew from what is there: [`Installer::refresh`] reads the files that changed, and
//! `settle` decides, from all that was read, what is to be live, and puts that into the registry one
//! contributor at a time, each in one step. So it does not matter which event was missed, or what changed first.
//! Collections go on meanwhile with what they began with.

mod adding;
mod applying;
mod claimed;
mod deciding;
mod operating;
mod refreshing;
mod settling;
mod trial;

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError, Weak};
use std::time::SystemTime;

use arc_swap::ArcSwap;

use super::build::{Build, Read};
use super::hosted::{HostedContributor, LiveContributor};
use crate::contract::{ContributorName, Declared};
use crate::error::{Code, Error, Result};
use crate::home::Home;
use crate::installation::{
    CONTRIBUTORS_FOLDER, Configuration, Fingerprint, KnownFiles, Lock, LockFile, Store, fingerprint, installed,
};
use crate::operations::ContributorStatus;
use crate::registry::Registry;
use crate::sandbox::{Limits, Sandbox};
use trial::{TrialObserver, Trials};

/// Starts the engine that a configuration asks for.
pub(super) type MakeSandbox = Box<dyn Fn(&Configuration) -> Result<Sandbox> + Send + Sync>;

/// Is told of a configuration.
type Told = Box<dyn Fn(&Configuration) + Send + Sync>;

/// What an installer works with.
pub(super) struct Parts {
    pub(super) home: Home,
    pub(super) state_dir: PathBuf,
    pub(super) registry: Registry,
    pub(super) configuration: Configuration,
    /// The host's own contributors that are registered.
    pub(super) built_in: Vec<Declared>,
    /// The names of the host's own contributors, also of those that are disabled.
    pub(super) own_names: Vec<String>,
    /// Whether nothing goes live that is not in the lock.
    pub(super) locked: bool,
    pub(super) sandbox: MakeSandbox,
}

/// The installed contributors of a host.
pub(super) struct Installer {
    parts: Parts,
    store: Store,
    pub(super) lock_file: LockFile,
    configuration: ArcSwap<Configuration>,
    sandbox: OnceLock<(Sandbox, Limits)>,
    installed: Mutex<Installed>,
    view: ArcSwap<View>,
    /// Is told of every configuration that is read while the host goes on.
    configured: OnceLock<Told>,
    /// Watches collections for the builds that are tried, once one is.
    trials: OnceLock<Arc<TrialObserver>>,
    /// Itself, for the threads that let it settle when a trial is over.
    this: Weak<Self>,
}

/// What was read, and what is live.
#[derive(Default)]
struct Installed {
    files: BTreeMap<PathBuf, InstalledFile>,
    live: BTreeMap<ContributorName, LiveContributor>,
    /// Builds that are live or in a file, by digest: none is loaded twice.
    builds: BTreeMap<String, Arc<Build>>,
    /// Those that stay although the build that was approved cannot be had.
    clings: BTreeSet<ContributorName>,
    /// The builds that are tried, or were and are still in their files.
    trials: Trials,
    known: KnownFiles,
    /// What is wrong with the configuration, the folder or the lock.
    problems: Vec<Error>,
    /// What the configuration and the lock looked like when they were last read, and when that was.
    looked: Option<([Option<Fingerprint>; 2], SystemTime)>,
}

/// A file in the folder.
#[derive(Default)]
struct InstalledFile {
    /// What it looked like when it was last read, and when that was.
    seen: Option<(Fingerprint, SystemTime)>,
    found: Found,
    /// Whether it is being read right now.
    busy: bool,
    /// Whether it changed since that began.
    again: bool,
}

/// What is in a file.
#[derive(Clone, Default)]
enum Found {
    /// Nobody knows yet.
    #[default]
    Unread,
    Build(Arc<Build>),
    /// With the digest, if it could be read at all.
    Refused(Option<String>, Error),
}

/// What everybody may look at, without waiting for whoever changes it.
#[derive(Clone, Default)]
pub(super) struct View {
    pub(super) statuses: Vec<ContributorStatus>,
    pub(super) hosted: Vec<Arc<HostedContributor>>,
    pub(super) warnings: Vec<String>,
    pub(super) problems: Vec<Error>,
}

impl Installer {
    pub(super) fn new(parts: Parts) -> Arc<Self> {
        Arc::new_cyclic(|this| Self {
            store: Store::new(&parts.state_dir),
            lock_file: LockFile::of(&parts.home),
            configuration: ArcSwap::from_pointee(parts.configuration.clone()),
            sandbox: OnceLock::new(),
            installed: Mutex::new(Installed { known: KnownFiles::of(&parts.state_dir), ..Installed::default() }),
            view: ArcSwap::default(),
            configured: OnceLock::new(),
            trials: OnceLock::new(),
            this: Weak::clone(this),
            parts,
        })
    }

    /// Reads everything and settles, on this thread, as a host does that begins.
    ///
    /// # Errors
    /// `unsafe-permissions`, `invalid-configuration` where the folder or the lock cannot be read; `internal` where
    /// the host itself has too little of something, which is no contributor's fault.
    pub(super) fn open(&self) -> Result<()> {
        let files = installed(&self.parts.home)?;
        let lock = self.lock_file.read()?;
        let mut installed = self.installed();
        for file in files {
            let found = self.read(&mut installed, &file, &lock);
            if let Found::Refused(_, error) = &found.1
                && error.code() == Code::Internal
            {
                return Err(error.clone().in_file(&file));
            }
            let (seen, found) = found;
            installed.files.insert(file, InstalledFile { seen, found, ..InstalledFile::default() });
        }
        self.settle(&mut installed);
        Ok(())
    }

    /// The engine, which is started when a component is there.
    ///
    /// # Errors
    /// As [`Sandbox::new`].
    pub(super) fn sandbox(&self) -> Result<&Sandbox> {
        if let Some((sandbox, _)) = self.sandbox.get() {
            return Ok(sandbox);
        }
        let configuration = self.configuration.load();
        let sandbox = (self.parts.sandbox)(&configuration)?;
        let ceiling = ceiling(&configuration);
        // Of two at once, one is dropped.
        Ok(&self.sandbox.get_or_init(|| (sandbox, ceiling)).0)
    }

    pub(super) fn configuration(&self) -> Arc<Configuration> {
        self.configuration.load_full()
    }

    /// Tells `told` of every configuration that is read from now on; the first one to ask is told.
    #[cfg(feature = "serve")]
    pub(super) fn on_configured(&self, told: impl Fn(&Configuration) + Send + Sync + 'static) {
        let _ = self.configured.set(Box::new(told));
    }

    pub(super) fn view(&self) -> Arc<View> {
        self.view.load_full()
    }

    pub(super) fn folder(&self) -> PathBuf {
        self.parts.home.path().join(CONTRIBUTORS_FOLDER)
    }

    pub(super) fn registry(&self) -> &Registry {
        &self.parts.registry
    }

    /// Reads one file while the caller waits. A file that looks as it did when its digest was last taken is not read.
    fn read(&self, installed: &mut Installed, file: &Path, lock: &Lock) -> (Option<(Fingerprint, SystemTime)>, Found) {
        let now = SystemTime::now();
        let looks = fingerprint(file);
        let known = looks.and_then(|looks| Some((looks, installed.known.get(file, &looks)?.to_owned())));
        if let Some((looks, digest)) = known
            && self.store.has(&digest)
        {
            let build = self.sandbox().and_then(|sandbox| Build::stored(sandbox, &self.store, &digest, lock));
            return (Some((looks, now)), found(build, Some(digest)));
        }
        match Read::file(file, &self.store) {
            Ok(read) => {
                let (looks, at, digest) = (read.fingerprint, read.at, read.digest.clone());
                installed.known.put(file, looks, &digest, at);
                let build = self.sandbox().and_then(|sandbox| read.load(sandbox, lock));
                (Some((looks, at)), found(build, Some(digest)))
            }
            Err(error) => (looks.map(|looks| (looks, now)), Found::Refused(None, error)),
        }
    }

    fn installed(&self) -> MutexGuard<'_, Installed> {
        // What is half done is done by whoever settles next: everything is decided anew.
        self.installed.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Installed {
    /// Notes what is in a file that was just written.
    fn put_file(&mut self, path: PathBuf, build: Arc<Build>) {
        let seen = fingerprint(&path).map(|looks| (looks, SystemTime::now()));
        let file = self.files.entry(path).or_default();
        (file.seen, file.found) = (seen, Found::Build(build));
    }
}

fn found(build: Result<Build>, digest: Option<String>) -> Found {
    match build {
        Ok(build) => Found::Build(Arc::new(build)),
        Err(error) => Found::Refused(digest, error),
    }
}

/// The most that any contributor may use, which an engine is made for.
fn ceiling(configuration: &Configuration) -> Limits {
    configuration.all_limits().fold(Limits::RESOLVE, |most, limits| Limits {
        memory: most.memory.max(limits.memory),
        table_elements: most.table_elements.max(limits.table_elements),
        ..most
    })
}
