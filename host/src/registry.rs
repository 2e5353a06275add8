//! The managed environment: who may say what, and what they say for one execution.
//!
//! A [`Registry`] holds contributors. [`Registry::register`] checks a declaration against everything
//! that is owned already and answers with a guard; [`Registry::collect`] asks every contributor of one
//! snapshot and answers with an [`Overlay`], checked, sorted and immutable. Readers take no lock: a
//! collection goes on with the snapshot it began with, whatever is registered, replaced or released
//! meanwhile.
//!
//! Nothing here knows of WebAssembly, files or processes: a sandboxed contributor implements the same
//! [`Contributor`] trait as a native one.

mod answer;
mod clock;
mod collect;
mod facts;
mod health;
mod last_good;
mod observer;
mod overlay;
mod registration;
mod scope;
mod snapshot;
mod terms;
mod waiting;

use std::sync::atomic::AtomicUsize;
use std::sync::{Arc, Mutex, PoisonError};

use arc_swap::ArcSwap;
use serde::{Deserialize, Serialize};

pub use collect::CollectOptions;
pub(crate) use collect::MAX_OVERLAY_BYTES;
pub use health::ContributorHealth;
pub use observer::{Collected, Observer};
pub use overlay::{Affected, Overlay, OverlayEntry, Report, Value};
pub use registration::Registration;
pub use scope::Scope;
pub use snapshot::Missing;
pub use terms::{InvalidShape, KeyTerms, OnFailure, Shape, Terms, ValueLimits};

use crate::contract::{Contributor, Facts, HOST, Key};
use crate::error::Result;
use crate::home::Home;
use snapshot::{Entry, EntryId, Snapshot};

/// The contributors of one host and the facts the host itself adds; cheap to clone, and every clone is
/// the same registry.
#[derive(Clone)]
pub struct Registry {
    shared: Arc<Shared>,
}

struct Shared {
    facts: facts::HostFacts,
    snapshot: ArcSwap<Snapshot>,
    /// What contributors may be granted to know of the world outside of any call.
    outside: ArcSwap<Facts>,
    observers: ArcSwap<Vec<Arc<dyn Observer>>>,
    /// How many asynchronous collections are under way.
    async_collections: Arc<AtomicUsize>,
    clock: clock::Clock,
    /// Held by whoever makes the next snapshot, never by readers. The number is the next entry's id.
    writer: Mutex<EntryId>,
}

/// One variable that may be in an overlay.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ListedVariable {
    /// The key.
    pub key: String,
    /// What it means.
    pub description: String,
    /// Who owns it: a contributor's name, or `host`.
    pub contributor: String,
    /// Whether its value is kept out of logs, diagnostics and recordings.
    pub sensitive: bool,
}

impl Registry {
    /// A registry without contributors, whose overlays say that the host's home is `home`.
    #[must_use]
    pub fn new(home: &Home) -> Self {
        Self::by(clock::Clock::default(), home)
    }

    /// A registry whose policies go by this clock.
    fn by(clock: clock::Clock, home: &Home) -> Self {
        Self {
            shared: Arc::new(Shared {
                facts: facts::HostFacts::new(home),
                snapshot: ArcSwap::from_pointee(Snapshot::default()),
                outside: ArcSwap::default(),
                observers: ArcSwap::default(),
                async_collections: Arc::default(),
                clock,
                writer: Mutex::new(EntryId::FIRST),
            }),
        }
    }

    /// Registers a contributor until the guard is dropped.
    ///
    /// # Errors
    /// What [`Declaration::check`](crate::contract::Declaration::check) finds; nothing has changed then.
    pub fn register(&self, contributor: impl Contributor + 'static) -> Result<Registration> {
        self.register_under(Arc::new(contributor), Terms::default())
    }

    /// Registers a contributor under the operator's terms.
    ///
    /// # Errors
    /// As [`register`](Self::register).
    pub fn register_under(&self, contributor: Arc<dyn Contributor>, terms: Terms) -> Result<Registration> {
        // Asked before the lock is taken: a contributor's own code must not hold up others.
        let declaration = contributor.declare();
        let (id, declared) = self.shared.change(|next_id, snapshot| {
            let declared = declaration.check(snapshot)?;
            let id = next_id.take();
            // A clone, so that one which is refused is dropped after the lock.
            let entry = Entry::new(id, declared.clone(), Arc::clone(&contributor), terms);
            Ok((snapshot.with(entry), (id, declared)))
        })?;
        tracing::debug!(contributor = declared.name().as_str(), "registered");
        Ok(Registration::new(&self.shared, id, declared))
    }

    /// A scope whose contributors are released together.
    #[must_use]
    pub fn scope(&self) -> Scope {
        Scope::new(self.clone())
    }

    /// Sets which installed contributors are missing from this registry, and why.
    ///
    /// Overlays name their keys in `DSH_DEGRADED`; one that is required fails every collection.
    pub fn set_missing(&self, missing: Vec<Missing>) {
        let set = self.shared.change(|_, snapshot| Ok((snapshot.with_missing(missing), ())));
        debug_assert!(set.is_ok(), "the closure above does not fail");
    }

    /// Which installed contributors are missing, and why.
    #[must_use]
    pub fn missing(&self) -> Vec<Missing> {
        self.shared.snapshot.load().missing().to_vec()
    }

    /// Sets what contributors may be granted to know; a collection goes on with what it began with. Where there is
    /// a [`FactsBoard`](crate::facts::FactsBoard) of this registry, it alone calls this.
    pub fn set_facts(&self, facts: Facts) {
        self.shared.outside.store(Arc::new(facts));
    }

    /// Tells `observer` of every collection that ends from now on.
    pub fn observe(&self, observer: Arc<dyn Observer>) {
        self.shared
            .observers
            .rcu(|observers| observers.iter().cloned().chain([Arc::clone(&observer)]).collect::<Vec<_>>());
    }

    /// The policy that the operator chose for a key, or `fail` where none was; nothing where no
    /// contributor owns the key.
    #[must_use]
    pub fn policy(&self, key: &Key) -> Option<&'static str> {
        let snapshot = self.shared.snapshot.load();
        let entry = snapshot.entries().find(|entry| entry.declared.find(key.as_str()).is_some())?;
        Some(entry.terms.on_failure(key).as_str())
    }

    /// Every variable that may be in an overlay, the host's own included, sorted by key in byte order.
    /// No contributor is asked.
    #[must_use]
    pub fn list(&self) -> Vec<ListedVariable> {
        let snapshot = self.shared.snapshot.load();
        let own = self.shared.facts.declared().map(|(key, description)| ListedVariable {
            key: key.to_string(),
            description: description.to_owned(),
            contributor: HOST.to_owned(),
            sensitive: false,
        });
        let contributed = snapshot.entries().flat_map(|entry| {
            entry.declared.variables().iter().map(|variable| ListedVariable {
                key: variable.key.to_string(),
                description: variable.description.to_string(),
                contributor: entry.declared.name().to_string(),
                sensitive: variable.sensitive,
            })
        });
        let mut variables: Vec<_> = own.chain(contributed).collect();
        variables.sort_by(|a, b| a.key.cmp(&b.key));
        variables
    }
}

impl std::fmt::Debug for Registry {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let snapshot = self.shared.snapshot.load();
        f.debug_list().entries(snapshot.entries().map(|entry| entry.declared.name())).finish()
    }
}

impl Shared {
    /// What contributors may be granted to know now: nothing that has ended, whether or not anybody has said so.
    fn outside(&self) -> Arc<Facts> {
        let facts = self.outside.load_full();
        let Some(held) = facts.without_ended().map(Arc::new) else { return facts };
        // So that the next one finds nothing to do; unless others were set meanwhile.
        self.outside.compare_and_swap(&facts, Arc::clone(&held));
        held
    }

    /// Replaces the snapshot by the one that `next` makes of it, or leaves it as it is.
    ///
    /// Nothing of a contributor's may run in `next`, its destructor included: it may well come back here.
    fn change<T>(&self, next: impl FnOnce(&mut EntryId, &Snapshot) -> Result<(Snapshot, T)>) -> Result<T> {
        // A panic under this lock cannot leave a half-made snapshot: it is stored last, in one step.
        let mut next_id = self.writer.lock().unwrap_or_else(PoisonError::into_inner);
        let (snapshot, answer) = next(&mut next_id, &self.snapshot.load())?;
        let old = self.snapshot.swap(Arc::new(snapshot));
        drop(next_id);
        // It may hold the last of a contributor that was released.
        drop(old);
        Ok(answer)
    }
}

#[cfg(test)]
mod tests;
