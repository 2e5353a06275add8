//! Installing a component, which is also its approval, and removing one.

use std::fs::{self, File};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::Installer;
use super::deciding::file_name;
use super::settling::{locked_build, no_such, status_of};
use crate::contract::{ContributorName, NoClaims};
use crate::error::{Code, Error, Result};
use crate::home::permissions;
use crate::host::build::Build;
use crate::installation::{Store, digest_of, read_component};
use crate::operations::ContributorStatus;
use crate::text::shown;

/// How files begin that are not whole yet. They are hidden, so that nobody takes them for contributors.
const UNFINISHED: &str = ".new-";

impl Installer {
    /// Installs a component under the name that it declares, and accepts it.
    ///
    /// # Errors
    /// Whatever is wrong with it, or why it cannot have what it claims; `unsafe-permissions`;
    /// `invalid-configuration` where the folder cannot be written.
    pub(in crate::host) fn add(&self, file: &Path) -> Result<ContributorStatus> {
        let bytes = read_component(file)?;
        let build = Arc::new(Build::unlocked(self.sandbox()?, &digest_of(&bytes), &bytes)?);
        let name = build.declaration.check(&NoClaims)?.name().clone();
        let mut guard = self.installed();
        let here = &mut *guard;
        self.check_claims(here, &name, &build)?;
        let store: &Store = &self.store;
        store.put(build.digest(), &bytes)?;
        let configuration = self.configuration();
        let folder = self.folder();
        permissions::check(&folder)?;
        let path = self.lock_file.edit(|lock| {
            let known = lock.entry(name.as_str()).map(|entry| entry.file.clone());
            let path = folder.join(known.unwrap_or_else(|| format!("{name}.wasm")));
            if let Some(other) = lock.name_of(&file_name(&path)).filter(|other| **other != name) {
                return Err(belongs_to(&path, other));
            }
            // The file before the lock: whoever is killed between leaves a file that is judged like any other.
            write(&folder, &path, &bytes).map_err(|error| cannot("written", &path, &error))?;
            lock.accept(&name, &file_name(&path), locked_build(&build, &name, &configuration));
            Ok(path)
        })?;
        here.put_file(path, build);
        self.settle(here);
        status_of(&self.view(), name.as_str())
    }

    /// Removes a contributor's file. Its name and keys stay owned.
    ///
    /// # Errors
    /// `contributor-not-found`; `invalid-configuration` where the file cannot be removed.
    pub(in crate::host) fn remove(&self, name: &str) -> Result<ContributorStatus> {
        let mut guard = self.installed();
        let before = status_of(&self.view(), name)?;
        let path: PathBuf = before.file.clone().ok_or_else(|| no_such(name))?;
        fs::remove_file(&path).map_err(|error| cannot("removed", &path, &error))?;
        guard.files.remove(&path);
        self.settle(&mut guard);
        Ok(status_of(&self.view(), name).unwrap_or(ContributorStatus { file: None, digest: None, ..before }))
    }
}

/// Puts a file there whole; on disk when this returns.
fn write(folder: &Path, path: &Path, bytes: &[u8]) -> io::Result<()> {
    fs::create_dir_all(folder)?;
    let mut file = tempfile::Builder::new().prefix(UNFINISHED).tempfile_in(folder)?;
    file.write_all(bytes)?;
    file.as_file().sync_all()?;
    file.persist(path).map_err(|error| error.error)?;
    File::open(folder)?.sync_all()
}

fn belongs_to(path: &Path, other: &ContributorName) -> Error {
    let message = format!(
        "{} belongs to {other}: dsh-env forget {other} frees it, or give the component another name",
        shown(&path.display().to_string())
    );
    Error::load(Code::DuplicateName, message)
}

fn cannot(what: &str, path: &Path, error: &io::Error) -> Error {
    let (path, why) = (shown(&path.display().to_string()), shown(&error.to_string()));
    Error::host(
        Code::InvalidConfiguration,
        format!("{path} cannot be {what}: {why}. Let this user write in its folder"),
    )
}
