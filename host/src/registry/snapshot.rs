//! What a registry holds at one moment, immutable.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::AtomicUsize;

use super::health::Health;
use super::last_good::LastGood;
use super::terms::{OnFailure, Terms};
use crate::contract::{Claims, Contributor, ContributorName, Declared, Key};
use crate::error::Error;

/// Tells the registrations of one registry apart, also those that had the same name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct EntryId(u64);

impl EntryId {
    pub(super) const FIRST: Self = Self(0);

    /// This id; the next one takes its place.
    pub(super) fn take(&mut self) -> Self {
        let id = *self;
        self.0 += 1;
        id
    }
}

/// One registered contributor.
pub(super) struct Entry {
    pub(super) id: EntryId,
    pub(super) declared: Declared,
    pub(super) contributor: Arc<dyn Contributor>,
    pub(super) terms: Terms,
    /// How many calls of it are waiting.
    pub(super) waiting: Arc<AtomicUsize>,
    /// How it fared lately.
    pub(super) health: Health,
    /// What it said last, where the operator wants to go on with that.
    pub(super) last_good: Option<LastGood>,
}

impl Entry {
    pub(super) fn new(id: EntryId, declared: Declared, contributor: Arc<dyn Contributor>, terms: Terms) -> Self {
        let variables = declared.variables();
        let covered = |policy: &OnFailure| *policy != OnFailure::Fail;
        let health = Health::new(match variables {
            [] => covered(&terms.on_failure),
            _ => variables.iter().all(|variable| covered(terms.on_failure(&variable.key))),
        });
        let last_good = LastGood::wanted(&declared, &terms);
        Self { id, declared, contributor, terms, waiting: Arc::default(), health, last_good }
    }
}

/// An installed contributor that is not registered, and why.
#[derive(Clone, Debug)]
pub struct Missing {
    /// What it is called: its name where that is known, else its file's.
    pub label: String,
    /// The keys that it would own, as far as anybody knows.
    pub keys: Vec<Key>,
    /// The file that it would have come from, if it is known.
    pub file: Option<PathBuf>,
    /// Whether no overlay may be made without it.
    pub required: bool,
    /// Why it is missing.
    pub error: Error,
}

/// The entries in byte order of their names, and who owns what.
#[derive(Default)]
pub(super) struct Snapshot {
    entries: Vec<Arc<Entry>>,
    owners: HashMap<Key, ContributorName>,
    missing: Arc<[Missing]>,
}

impl Snapshot {
    pub(super) fn entries(&self) -> impl ExactSizeIterator<Item = &Arc<Entry>> {
        self.entries.iter()
    }

    pub(super) fn missing(&self) -> &[Missing] {
        &self.missing
    }

    pub(super) fn find(&self, id: EntryId) -> Option<&Arc<Entry>> {
        self.entries.iter().find(|entry| entry.id == id)
    }

    /// This snapshot and one more entry, whose claims were checked against it.
    pub(super) fn with(&self, entry: Entry) -> Self {
        let mut entries = self.entries.clone();
        entries.push(Arc::new(entry));
        Self::of(entries, self.missing.clone())
    }

    /// This snapshot without an entry.
    pub(super) fn without(&self, id: EntryId) -> Self {
        let entries = self.entries.iter().filter(|entry| entry.id != id).cloned().collect();
        Self::of(entries, self.missing.clone())
    }

    pub(super) fn with_missing(&self, missing: Vec<Missing>) -> Self {
        Self::of(self.entries.clone(), missing.into())
    }

    fn of(mut entries: Vec<Arc<Entry>>, missing: Arc<[Missing]>) -> Self {
        entries.sort_by(|a, b| a.declared.name().cmp(b.declared.name()));
        let owners = entries
            .iter()
            .flat_map(|entry| {
                let name = entry.declared.name();
                entry.declared.variables().iter().map(move |variable| (variable.key.clone(), name.clone()))
            })
            .collect();
        Self { entries, owners, missing }
    }
}

impl Claims for Snapshot {
    fn has_name(&self, name: &ContributorName) -> bool {
        self.entries.binary_search_by(|entry| entry.declared.name().cmp(name)).is_ok()
    }

    fn owner(&self, key: &Key) -> Option<ContributorName> {
        self.owners.get(key).cloned()
    }
}
