//! What the operator accepted: `dsh-env.lock` in the home.
//!
//! For each contributor its file, which build is live, and the builds before it, each as it was when it was
//! accepted: its declaration, its imports, its grants. A name and its keys belong to their entry until it is
//! forgotten, whether or not the file is there.
//!
//! The file is written whole, to another name, and renamed, so that whoever reads it, and whoever starts after a
//! crash, finds the old one or the new one. Writers take turns by a lock on the home's folder.

mod file;

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsStr;
use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::contract::{ContributorName, Declaration, Key, Variable};
pub use file::LockFile;

/// The version of the file's format.
const VERSION: i64 = 1;

/// How many builds are remembered of those that were live before, and of those that were left for them.
const MAX_PREVIOUS: usize = 5;

/// All that was accepted.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Lock {
    version: i64,
    /// By name.
    #[serde(default)]
    contributors: BTreeMap<ContributorName, LockEntry>,
}

impl Default for Lock {
    fn default() -> Self {
        Self { version: VERSION, contributors: BTreeMap::new() }
    }
}

/// What was accepted of one contributor.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LockEntry {
    /// The name of its file in the folder of contributors.
    pub file: String,
    /// The build that answers.
    pub live: LockedBuild,
    /// Builds that were left for one before them, the latest first. They do not come back by themselves.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    held: Vec<LockedBuild>,
    /// Builds that were live before the live one, the latest first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    previous: Vec<LockedBuild>,
}

/// One build as it was when it was accepted.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LockedBuild {
    /// The SHA-256 of the file, as 64 lower-case hexadecimal digits.
    pub digest: String,
    /// When it was accepted, in seconds since 1970.
    pub accepted: u64,
    /// What it imports.
    #[serde(default)]
    pub imports: Vec<String>,
    /// What it was granted, in words.
    #[serde(default)]
    pub grants: String,
    /// What it declares.
    #[serde(default)]
    pub variables: Vec<Variable>,
}

impl Lock {
    /// What was accepted under a name.
    #[must_use]
    pub fn entry(&self, name: &str) -> Option<&LockEntry> {
        self.contributors.get(name)
    }

    /// The name that a file was accepted for.
    #[must_use]
    pub fn name_of(&self, file: &str) -> Option<&ContributorName> {
        self.entries().find(|(_, entry)| entry.file == file).map(|(name, _)| name)
    }

    /// Every entry, by name.
    pub fn entries(&self) -> impl Iterator<Item = (&ContributorName, &LockEntry)> {
        self.contributors.iter()
    }

    /// Who owns a key: whose live build declares it, else who has another build that does. What a build gives up stays
    /// with its contributor, which may be rolled back to have it.
    #[must_use]
    pub fn owner(&self, key: &str) -> Option<&ContributorName> {
        let live = self.entries().find(|(_, entry)| entry.live.declares(key));
        let remembered = || self.entries().find(|(_, entry)| entry.builds().any(|build| build.declares(key)));
        live.or_else(remembered).map(|(name, _)| name)
    }

    /// Every digest that is remembered.
    #[must_use]
    pub fn digests(&self) -> BTreeSet<String> {
        self.contributors.values().flat_map(LockEntry::builds).map(|build| build.digest.clone()).collect()
    }

    /// What a build of this digest declared when it was accepted, and under which name.
    #[must_use]
    pub fn declaration(&self, digest: &str) -> Option<Declaration> {
        let mut known = self.entries().flat_map(|(name, entry)| entry.builds().map(move |build| (name, build)));
        known.find(|(_, build)| build.digest == digest).map(|(name, build)| build.declaration(name))
    }

    /// Makes a build the live one of its name, which from now on belongs to this file. A file has one name.
    pub fn accept(&mut self, name: &ContributorName, file: &str, build: LockedBuild) {
        self.contributors.retain(|other, entry| other == name || entry.file != file);
        let file = file.to_owned();
        if let Some(entry) = self.contributors.get_mut(name) {
            entry.file = file;
            entry.accept(build);
        } else {
            let entry = LockEntry { file, live: build, held: Vec::new(), previous: Vec::new() };
            self.contributors.insert(name.clone(), entry);
        }
    }

    /// Forgets a contributor, which frees its name and its keys.
    pub fn forget(&mut self, name: &str) -> Option<LockEntry> {
        self.contributors.remove(name)
    }

    /// The entry of a name, to choose another of its builds.
    pub fn entry_mut(&mut self, name: &str) -> Option<&mut LockEntry> {
        self.contributors.get_mut(name)
    }

    /// What is wrong with one that was read, if anything is.
    fn fault(&self) -> Option<String> {
        let mut files = BTreeSet::new();
        for (name, entry) in self.entries() {
            if let Some(build) = entry.builds().find(|build| !super::store::is_digest(&build.digest)) {
                return Some(format!("a build of {name} has no digest but \"{}\"", crate::text::shown(&build.digest)));
            }
            let mut keys = entry.builds().flat_map(|build| &build.variables).map(|variable| &variable.key);
            if let Some(key) = keys.find(|key| Key::new(key).is_err()) {
                return Some(format!("{name} has the key \"{}\", which is none", crate::text::shown(key)));
            }
            let is_name = Path::new(&entry.file).file_name() == Some(OsStr::new(&entry.file));
            if !is_name || !files.insert(&entry.file) {
                return Some(format!("the file of {name} is no name of a file, or that of another contributor"));
            }
        }
        None
    }
}

impl LockEntry {
    /// A build that was accepted.
    #[must_use]
    pub fn build(&self, digest: &str) -> Option<&LockedBuild> {
        self.builds().find(|build| build.digest == digest)
    }

    /// Whether a build was accepted and then left for one before it: it does not come back by itself.
    #[must_use]
    pub fn is_held(&self, digest: &str) -> bool {
        self.held.iter().any(|build| build.digest == digest)
    }

    /// The builds that were live before the live one, the latest first.
    pub fn previous(&self) -> impl Iterator<Item = &LockedBuild> {
        self.previous.iter()
    }

    /// Every build.
    fn builds(&self) -> impl Iterator<Item = &LockedBuild> {
        self.held.iter().chain([&self.live]).chain(&self.previous)
    }

    /// Makes a build live that is the latest now. What was left before stays so, unless it is this one.
    fn accept(&mut self, build: LockedBuild) {
        let before = std::mem::replace(&mut self.live, build);
        self.follow(before);
    }

    /// Makes another build of these the live one. One that was live before takes the place of those that were live
    /// after it, which are then held.
    ///
    /// Answers with false where there is none of this digest.
    pub fn choose(&mut self, digest: &str) -> bool {
        let of = |build: &LockedBuild| build.digest == digest;
        if let Some(at) = self.previous.iter().position(of) {
            let mut left: Vec<_> = self.previous.drain(..=at).collect();
            if let Some(chosen) = left.pop() {
                left.insert(0, std::mem::replace(&mut self.live, chosen));
            }
            left.append(&mut self.held);
            self.held = left;
            self.held.truncate(MAX_PREVIOUS);
        } else if let Some(at) = self.held.iter().position(of) {
            let chosen = self.held.remove(at);
            let before = std::mem::replace(&mut self.live, chosen);
            self.follow(before);
        } else {
            return of(&self.live);
        }
        true
    }

    /// Remembers the build that was live until now.
    fn follow(&mut self, before: LockedBuild) {
        self.previous.insert(0, before);
        self.previous.retain(|build| build.digest != self.live.digest);
        self.held.retain(|build| build.digest != self.live.digest);
        self.previous.truncate(MAX_PREVIOUS);
    }
}

impl LockedBuild {
    /// Whether it declares a key.
    pub(super) fn declares(&self, key: &str) -> bool {
        self.variables.iter().any(|variable| variable.key == key)
    }

    /// What it declares, under the name that it was accepted for.
    #[must_use]
    pub fn declaration(&self, name: &ContributorName) -> Declaration {
        Declaration { name: name.to_string(), variables: self.variables.clone() }
    }
}

#[cfg(test)]
mod tests;
