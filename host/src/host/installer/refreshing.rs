//! Following what changes while the host goes on.
//!
//! A file is read and loaded on a thread of its own, so that one which compiles for long holds up neither a
//! collection nor another file.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::SystemTime;

use super::settling::status_of;
use super::{Found, Installed, InstalledFile, Installer, found};
use crate::error::{Code, Error, Result};
use crate::host::build::Read;
use crate::installation::{Configuration, Fingerprint, fingerprint, installed};
use crate::operations::ContributorStatus;
use crate::text::shown;

/// The most links that are followed to see where a file leads; as many as Linux follows.
const MAX_LINKS: usize = 40;

/// What became of reading a file.
struct Loaded {
    seen: Option<(Fingerprint, SystemTime)>,
    found: Found,
}

impl Installer {
    /// Looks at the configuration and the folder again, and reads what changed, each file on a thread of its own.
    /// What is wrong is in the view.
    pub(in crate::host) fn refresh(self: &Arc<Self>) {
        for file in self.changed(None) {
            let (installer, of) = (Arc::clone(self), file.clone());
            let thread =
                std::thread::Builder::new().name("dsh-env-loading".to_owned()).spawn(move || installer.follow(&of));
            if let Err(error) = thread {
                tracing::warn!(%error, "no thread could be started to load a contributor");
                self.follow(&file);
            }
        }
    }

    /// Reads one file again, whether or not it seems to have changed, while the caller waits.
    ///
    /// # Errors
    /// `contributor-not-found`.
    pub(in crate::host) fn reload(&self, name: &str) -> Result<ContributorStatus> {
        let view = self.view();
        let file = view.statuses.iter().find(|status| status.name == name).and_then(|status| status.file.clone());
        for file in self.changed(file.as_deref()) {
            self.follow(&file);
        }
        status_of(&self.view(), name).or_else(|error| {
            // It may call itself something else now.
            let view = self.view();
            let same_file = |status: &&ContributorStatus| file.is_some() && status.file == file;
            view.statuses.iter().find(same_file).cloned().ok_or(error)
        })
    }

    /// Files that are to be read, marked as being read; `also` is one of them whatever it looks like.
    fn changed(&self, also: Option<&Path>) -> Vec<PathBuf> {
        let mut guard = self.installed();
        let here = &mut *guard;
        let (now, looks) = (SystemTime::now(), [&self.configuration().file, self.lock_file.path()].map(fingerprint));
        let tells = |looks: &Option<Fingerprint>, at| looks.is_none_or(|looks| looks.tells(at));
        let same = here.looked.is_some_and(|(seen, at)| seen == looks && looks.iter().all(|looks| tells(looks, at)));
        let mut settle = !same || !here.problems.is_empty();
        here.looked = Some((looks, now));
        here.problems.clear();
        let problem = self.read_configuration().err();
        here.problems.extend(problem);
        let files = match self.list() {
            Ok(files) => files,
            Err(error) => {
                here.problems.push(error);
                self.settle(here);
                return Vec::new();
            }
        };
        // One that is being read and gone is forgotten by whoever reads it.
        let before = here.files.len();
        here.files.retain(|path, _| files.contains(path));
        settle |= here.files.len() != before;
        let mut changed = Vec::new();
        for path in files {
            let looks = fingerprint(&path);
            let file = here.files.entry(path.clone()).or_default();
            let same = file.seen.is_some_and(|(seen, at)| Some(seen) == looks && seen.tells(at));
            if same && also != Some(path.as_path()) {
                continue;
            }
            if file.busy {
                file.again = true;
                continue;
            }
            file.busy = true;
            changed.push(path);
        }
        if settle {
            self.settle(here);
        }
        changed
    }

    /// Reads a file that is marked so, until it does not change meanwhile.
    fn follow(&self, file: &Path) {
        loop {
            let loaded = self.load(file);
            let mut guard = self.installed();
            let here = &mut *guard;
            let Some(entry) = here.files.get_mut(file) else { return };
            entry.seen = loaded.seen;
            entry.found = loaded.found;
            if !std::mem::take(&mut entry.again) {
                entry.busy = false;
                return self.settle(here);
            }
            self.settle(here);
        }
    }

    fn load(&self, file: &Path) -> Loaded {
        let looks = fingerprint(file);
        let lock = match self.lock_file.read() {
            Ok(lock) => lock,
            Err(error) => return Loaded { seen: None, found: Found::Refused(None, error) },
        };
        let read = match Read::file(file, &self.store) {
            Ok(read) => read,
            // Read again when somebody looks, even if it looks the same: whoever writes it may close it.
            Err(error) => {
                return Loaded {
                    seen: looks.map(|looks| (looks, SystemTime::UNIX_EPOCH)),
                    found: Found::Refused(None, error),
                };
            }
        };
        let (digest, seen) = (read.digest.clone(), Some((read.fingerprint, read.at)));
        {
            let mut here = self.installed();
            here.known.put(file, read.fingerprint, &digest, read.at);
            if let Some(same) = same_build(&here, file, &digest) {
                return Loaded { seen, found: same };
            }
        }
        let build = self.sandbox().and_then(|sandbox| read.load(sandbox, &lock));
        Loaded { seen, found: found(build, Some(digest)) }
    }

    /// The folders in which something can change that matters here.
    pub(in crate::host) fn watched_folders(&self) -> BTreeSet<PathBuf> {
        let folder = self.folder();
        let mut folders = BTreeSet::from([self.parts.home.path().to_owned(), folder.clone()]);
        let files = self.installed().files.keys().cloned().collect::<Vec<_>>();
        for path in files.iter().chain([&folder]) {
            // Where a link leads through others, each may be switched.
            let mut path = path.clone();
            for _ in 0..MAX_LINKS {
                let Ok(target) = std::fs::read_link(&path) else { break };
                let Some(parent) = path.parent() else { break };
                path = parent.join(target);
                folders.extend(path.parent().map(Path::to_owned));
            }
        }
        folders
    }

    /// The files in the folder.
    ///
    /// # Errors
    /// As [`installed`]; `invalid-configuration` where the folder is gone and something in it is live: a folder
    /// that vanished is no decision to withdraw everything.
    fn list(&self) -> Result<Vec<PathBuf>> {
        let files = installed(&self.parts.home)?;
        let folder = self.folder();
        if files.is_empty() && folder.symlink_metadata().is_err() && !self.view().hosted.is_empty() {
            let message = format!(
                "the folder {} is gone, and what was installed there goes on: put it back, or make an empty one to withdraw all",
                shown(&folder.display().to_string())
            );
            return Err(Error::host(Code::InvalidConfiguration, message));
        }
        Ok(files)
    }

    /// Takes over a configuration that changed; one that is wrong leaves the one before.
    fn read_configuration(&self) -> Result<()> {
        let configuration = Configuration::read(&self.parts.home)?;
        if let Some(told) = self.configured.get() {
            told(&configuration);
        }
        self.configuration.store(Arc::new(configuration));
        Ok(())
    }
}

/// What a file has, where that was loaded before. What was refused is refused again; but for a failure of the host's
/// own, which may be over.
fn same_build(here: &Installed, file: &Path, digest: &str) -> Option<Found> {
    if let Some(build) = here.builds.get(digest) {
        return Some(Found::Build(Arc::clone(build)));
    }
    let InstalledFile { found, .. } = here.files.get(file)?;
    match found {
        Found::Build(build) if build.digest() == digest => Some(found.clone()),
        Found::Refused(Some(of), error) if of == digest && error.code() != Code::Internal => Some(found.clone()),
        _ => None,
    }
}
