//! How a contributor fared lately, and when it is asked again.
//!
//! One that keeps failing as a whole, and whose failures the operator's policies cover, is left alone for a while:
//! what it cannot answer it would only take longer to refuse. After five failures in a row it is not asked for a
//! second; then one collection tries it, and each further failure doubles the pause, up to five minutes. Its first
//! answer ends that. While it is not asked, its policies take effect at once. One whose failures fail the collection
//! is asked every time.
//!
//! A contributor that is well costs a collection two loads of an atomic number: no lock and no memory.

use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use serde::Serialize;

use super::Registry;
use crate::contract::ContributorName;
use crate::error::Error;

/// After how many failures in a row a contributor is not asked for a while.
const PATIENCE: u32 = 5;

/// For how long at first.
const FIRST_PAUSE: Duration = Duration::from_secs(1);

/// For how long at most.
const LONGEST_PAUSE: Duration = Duration::from_secs(5 * 60);

/// How one contributor of a registry fared lately. One that was put in another's place begins anew.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ContributorHealth {
    /// The contributor.
    pub name: ContributorName,
    /// How many times in a row it had no answer at all, up to the newest time that it was asked. An answer of which
    /// single values were refused is one; what a caller cancelled or had no time for counts neither way.
    pub failures_in_a_row: u32,
    /// Whether it is not asked at every collection, because it kept failing and the operator's policies cover that.
    pub backed_off: bool,
    /// Why it failed the newest time; none where it then answered.
    pub last_error: Option<Error>,
}

impl ContributorHealth {
    /// Whether it keeps failing: as often in a row as it takes to be left alone where policies cover that.
    #[must_use]
    pub fn is_failing(&self) -> bool {
        self.backed_off || self.failures_in_a_row >= PATIENCE
    }
}

impl Registry {
    /// How each contributor fared lately, in byte order of their names. None is asked.
    #[must_use]
    pub fn health(&self) -> Vec<ContributorHealth> {
        let snapshot = self.shared.snapshot.load();
        snapshot.entries().map(|entry| entry.health.tell(entry.declared.name())).collect()
    }
}

/// The record of one registered contributor.
pub(super) struct Health {
    /// Whether every failure as a whole is covered by a policy.
    covered: bool,
    /// The failures of the record, for those who need no more than that there are none. Written under the lock.
    failures: AtomicU32,
    record: Mutex<Record>,
}

#[derive(Default)]
struct Record {
    failures: u32,
    last_error: Option<Error>,
    pause: Option<Pause>,
    /// How many trials there were, to tell them apart.
    trials: u64,
}

/// A time in which a contributor is not asked, and after which one collection tries it.
struct Pause {
    length: Duration,
    until: Instant,
    /// The collection that tries it.
    trial: Option<u64>,
}

/// Whether a collection may ask a contributor.
pub(super) enum Leave<'h> {
    /// It may, and says what came of it.
    Ask(Asking<'h>),
    /// It may not, so that this failure is its answer.
    Paused(Error),
}

/// One call of a contributor, whose outcome is to be told. Not telling counts neither way.
pub(super) struct Asking<'h> {
    health: &'h Health,
    trial: Option<u64>,
}

impl Health {
    /// The record of one that was not asked yet.
    pub(super) fn new(covered: bool) -> Self {
        Self { covered, failures: AtomicU32::new(0), record: Mutex::default() }
    }

    /// Whether to ask it now.
    pub(super) fn leave(&self, now: impl FnOnce() -> Instant) -> Leave<'_> {
        if !self.covered || self.failures.load(Ordering::Acquire) < PATIENCE {
            return Leave::Ask(Asking { health: self, trial: None });
        }
        let mut record = self.lock();
        let Record { failures, last_error: Some(error), pause: Some(pause), trials } = &mut *record else {
            return Leave::Ask(Asking { health: self, trial: None });
        };
        if pause.trial.is_some() || now() < pause.until {
            return Leave::Paused(unasked(error, *failures));
        }
        *trials += 1;
        pause.trial = Some(*trials);
        Leave::Ask(Asking { health: self, trial: pause.trial })
    }

    fn tell(&self, name: &ContributorName) -> ContributorHealth {
        let record = self.lock();
        ContributorHealth {
            name: name.clone(),
            failures_in_a_row: record.failures,
            backed_off: record.pause.is_some(),
            last_error: record.last_error.clone(),
        }
    }

    fn lock(&self) -> MutexGuard<'_, Record> {
        // Nothing that could panic runs under it.
        self.record.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The answer of a contributor that is not asked because it failed so many times.
fn unasked(last: &Error, times: u32) -> Error {
    let why = last.message();
    let message = format!("it is not asked again for a while, because it failed {times} times in a row: {why}");
    let error = Error::resolve(last.code(), message);
    match last.key() {
        Some(key) => error.about_text(key),
        None => error,
    }
}

impl Asking<'_> {
    /// It answered.
    pub(super) fn succeeded(&self) {
        if self.health.failures.load(Ordering::Acquire) == 0 {
            return;
        }
        let mut record = self.health.lock();
        *record = Record { trials: record.trials, ..Record::default() };
        self.health.failures.store(0, Ordering::Release);
    }

    /// It had no answer.
    pub(super) fn failed(&self, error: &Error, now: impl FnOnce() -> Instant) {
        let mut record = self.health.lock();
        record.failures = record.failures.saturating_add(1);
        record.last_error = Some(error.clone());
        let length = match &record.pause {
            // What was asked before the pause does not make it longer.
            Some(pause) if pause.trial != self.trial || self.trial.is_none() => None,
            Some(pause) => Some(pause.length.saturating_mul(2).min(LONGEST_PAUSE)),
            None => (self.health.covered && record.failures >= PATIENCE).then_some(FIRST_PAUSE),
        };
        if let Some(length) = length {
            record.pause = Some(Pause { length, until: now() + length, trial: None });
        }
        self.health.failures.store(record.failures, Ordering::Release);
    }
}

impl Drop for Asking<'_> {
    /// A trial of which nothing was told leaves it to the next collection.
    fn drop(&mut self) {
        if self.trial.is_none() {
            return;
        }
        if let Some(pause) = self.health.lock().pause.as_mut().filter(|pause| pause.trial == self.trial) {
            pause.trial = None;
        }
    }
}
