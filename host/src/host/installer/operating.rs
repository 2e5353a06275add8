//! What an operator decides: which build is live, and whose a name is.

use std::path::Path;
use std::sync::Arc;

use super::claimed::Claimed;
use super::deciding::file_name;
use super::settling::{locked_build, no_such, status_of};
use super::{Found, Installed, Installer};
use crate::contract::ContributorName;
use crate::error::{Code, Error, Result};
use crate::host::build::Build;
use crate::operations::ContributorStatus;
use crate::text::shown_within;

impl Installer {
    /// Makes a build live that waits, or that was accepted before.
    ///
    /// # Errors
    /// `contributor-not-found` where there is no such build; what is wrong with it, or why it cannot have what it
    /// claims.
    pub(in crate::host) fn approve(&self, name: &str, digest: &str) -> Result<ContributorStatus> {
        let mut guard = self.installed();
        let here = &mut *guard;
        let view = self.view();
        let waiting =
            view.statuses.iter().find(|status| status.name == name || status.candidate.as_deref() == Some(digest));
        let file =
            waiting.filter(|status| status.candidate.as_deref() == Some(digest)).and_then(|status| status.file.clone());
        let Some(file) = file else { return self.choose(here, name, digest) };
        let lock = self.lock_file.read()?;
        let build = match here.files.get(&file).map(|file| &file.found) {
            Some(Found::Build(build)) if build.digest() == digest => Arc::clone(build),
            _ => Arc::new(Build::stored(self.sandbox()?, &self.store, digest, &lock)?),
        };
        if build.declaration.name != name {
            return Err(no_such_build(name, digest));
        }
        self.accept(here, &file, &build)
    }

    /// Makes another of the accepted builds live.
    fn choose(&self, here: &mut Installed, name: &str, digest: &str) -> Result<ContributorStatus> {
        let lock = self.lock_file.read()?;
        let entry = lock.entry(name).ok_or_else(|| no_such(name))?;
        if entry.build(digest).is_none() {
            return Err(no_such_build(name, digest));
        }
        // Before anything is changed: what cannot be loaded does not take the place of what can.
        let build = Arc::new(Build::stored(self.sandbox()?, &self.store, digest, &lock)?);
        self.check_claims(here, &ContributorName::new(name)?, &build)?;
        here.builds.insert(digest.to_owned(), build);
        self.lock_file.edit(|lock| {
            let entry = lock.entry_mut(name).ok_or_else(|| no_such(name))?;
            if entry.choose(digest) { Ok(()) } else { Err(no_such_build(name, digest)) }
        })?;
        self.settle(here);
        status_of(&self.view(), name)
    }

    /// Brings a build back: the one of a digest, else the one before the live one.
    ///
    /// # Errors
    /// `contributor-not-found` where there is none; what is wrong with it.
    pub(in crate::host) fn roll_back(&self, name: &str, to: Option<&str>) -> Result<ContributorStatus> {
        let mut guard = self.installed();
        let lock = self.lock_file.read()?;
        let entry = lock.entry(name).ok_or_else(|| no_such(name))?;
        let previous = entry.previous().next().map(|build| build.digest.clone());
        let digest = to.map(str::to_owned).or(previous).ok_or_else(|| {
            let message = format!("there is no build of {name} before the live one");
            Error::host(Code::ContributorNotFound, message)
        })?;
        self.choose(&mut guard, name, &digest)
    }

    /// Frees a name and its keys.
    ///
    /// # Errors
    /// `contributor-not-found`.
    pub(in crate::host) fn forget(&self, name: &str) -> Result<ContributorStatus> {
        let mut guard = self.installed();
        let before = status_of(&self.view(), name);
        self.lock_file.edit(|lock| lock.forget(name).ok_or_else(|| no_such(name)))?;
        self.settle(&mut guard);
        status_of(&self.view(), name).or_else(|_| {
            let mut status = before?;
            (status.digest, status.notes) = (None, vec!["it is forgotten".to_owned()]);
            status.previous.clear();
            Ok(status)
        })
    }

    fn accept(&self, here: &mut Installed, file: &Path, build: &Arc<Build>) -> Result<ContributorStatus> {
        let name = ContributorName::new(&build.declaration.name)?;
        self.check_claims(here, &name, build)?;
        let configuration = self.configuration();
        let locked = locked_build(build, &name, &configuration);
        let of_file = file_name(file);
        self.lock_file.edit(|lock| {
            lock.accept(&name, &of_file, locked);
            Ok(())
        })?;
        self.settle(here);
        status_of(&self.view(), name.as_str())
    }

    /// Whether a build can have what it claims beside what is live under other names.
    pub(super) fn check_claims(&self, here: &Installed, name: &ContributorName, build: &Build) -> Result<()> {
        let mut claimed = Claimed::default();
        for declared in &self.parts.built_in {
            claimed.add(declared);
        }
        for (other, live) in &here.live {
            if other != name {
                claimed.add(&live.registration.declared());
            }
        }
        build.declaration.check(&claimed).map(|_| ())
    }
}

fn no_such_build(name: &str, digest: &str) -> Error {
    let message = format!(
        "no build {} of {} waits or was accepted: dsh-env status says which there are",
        shown_within(digest, 64),
        shown_within(name, 256)
    );
    Error::host(Code::ContributorNotFound, message)
}
