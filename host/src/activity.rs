//! What a host is doing: how many collections, how fast, and who of its contributors is slow or fails.
//!
//! [`Activity`] counts. It is the one place that does: what `top` shows ([`Activity::snapshot`]) and what is scraped
//! ([`Activity::counts`]) are views of the same counters, so that nothing is counted twice. Counting one collection
//! of ten contributors takes about a microsecond: a lock of its own for each contributor, held for some tens of
//! nanoseconds, and no allocation once a contributor is known.
//!
//! Memory is bounded: a contributor takes 4 KiB, at most 1,024 are counted one by one, and one that has taken no
//! part for an hour of the host's activity is forgotten.

mod series;
mod snapshot;
mod table;
mod window;

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use arc_swap::ArcSwap;

pub use series::{Counts, Times};
pub use snapshot::{ActivitySnapshot, CollectionActivity, ContributorActivity, Recent};
pub use table::{Row, Table, table};

use crate::contract::{ContributorName, Key};
use crate::registry::{Collected, Observer, Report};
use series::{Outcome, Series};

/// How many contributors are counted one by one: many times what a host has, and 4 MiB.
const MAX_CONTRIBUTORS: usize = 1024;

/// How long a contributor may have taken no part before it is forgotten: long enough for whoever looks at graphs to
/// see it end.
const REMEMBERED: Duration = Duration::from_secs(60 * 60);

type Contributors = HashMap<ContributorName, Arc<Series>>;

/// Counts of what a host does. It is told by the registry that it [observes](crate::registry::Registry::observe).
pub struct Activity {
    began: Instant,
    /// The host's variable that an overlay has where anything is amiss.
    degraded: Key,
    collections: Series,
    contributors: ArcSwap<Contributors>,
    /// Held by whoever adds one.
    adding: Mutex<()>,
    /// When the last collection ended, in seconds since the beginning.
    last: AtomicU64,
    /// Calls of contributors that were too many to be counted one by one.
    uncounted: AtomicU64,
}

impl Activity {
    /// Nothing has happened yet.
    #[must_use]
    pub fn new() -> Arc<Self> {
        Arc::new(Self {
            began: Instant::now(),
            degraded: Key::of_host("DEGRADED"),
            collections: Series::default(),
            contributors: ArcSwap::default(),
            adding: Mutex::default(),
            last: AtomicU64::new(0),
            uncounted: AtomicU64::new(0),
        })
    }

    /// What happened since the beginning, and how it goes at the moment. Contributors are sorted by name.
    #[must_use]
    pub fn snapshot(&self) -> ActivitySnapshot {
        self.snapshot_at(self.began.elapsed())
    }

    /// What happened since the beginning, for whoever keeps a history: of all collections, and of each contributor,
    /// sorted by name.
    #[must_use]
    pub fn counts(&self) -> (Counts, Vec<(ContributorName, Counts)>) {
        let contributors = self.sorted().into_iter().map(|(name, series)| (name, series.counts())).collect();
        (self.collections.counts(), contributors)
    }

    /// Calls of contributors that were too many to be counted one by one.
    #[must_use]
    pub fn uncounted(&self) -> u64 {
        self.uncounted.load(Ordering::Relaxed)
    }

    fn snapshot_at(&self, now: Duration) -> ActivitySnapshot {
        ActivitySnapshot {
            seconds: now.as_secs_f64(),
            collections: self.collections.of_collections(now),
            contributors: self.sorted().into_iter().map(|(name, series)| series.of_contributor(&name, now)).collect(),
            uncounted: self.uncounted(),
        }
    }

    fn sorted(&self) -> Vec<(ContributorName, Arc<Series>)> {
        let last = Duration::from_secs(self.last.load(Ordering::Relaxed));
        let contributors = self.contributors.load();
        let mut sorted: Vec<_> = contributors
            .iter()
            .filter(|(_, series)| !is_gone(series, last))
            .map(|(name, series)| (name.clone(), Arc::clone(series)))
            .collect();
        sorted.sort_by(|(a, _), (b, _)| a.cmp(b));
        sorted
    }

    fn count(&self, collection: &Collected<'_>, now: Duration) {
        let outcome = match collection.outcome {
            Ok(overlay) if overlay.get(self.degraded.as_str()).is_some() => Outcome::Degraded,
            Ok(_) => Outcome::Ok,
            Err(error) => Outcome::Failed(error.code()),
        };
        self.collections.count(outcome, collection.took, now, None);
        let contributors = self.contributors.load();
        for report in collection.reports {
            match contributors.get(&report.name) {
                Some(series) => count(series, report, now),
                None => match self.add(&report.name) {
                    Some(series) => count(&series, report, now),
                    None => drop(self.uncounted.fetch_add(1, Ordering::Relaxed)),
                },
            }
        }
        self.last.fetch_max(now.as_secs(), Ordering::Relaxed);
    }

    /// Begins to count a contributor, unless there are too many.
    fn add(&self, name: &ContributorName) -> Option<Arc<Series>> {
        let _adding = self.adding.lock().unwrap_or_else(PoisonError::into_inner);
        let known = self.contributors.load_full();
        if let Some(series) = known.get(name) {
            return Some(Arc::clone(series));
        }
        let last = Duration::from_secs(self.last.load(Ordering::Relaxed));
        if known.len() >= MAX_CONTRIBUTORS && !known.values().any(|series| is_gone(series, last)) {
            return None;
        }
        let mut next = Contributors::clone(&known);
        next.retain(|_, series| !is_gone(series, last));
        let series = Arc::<Series>::default();
        // So that nobody takes it for one that is gone before it is counted for the first time.
        series.seen(last);
        next.insert(name.clone(), Arc::clone(&series));
        self.contributors.store(Arc::new(next));
        Some(series)
    }
}

/// Whether the host went on without a contributor for long: one that nobody asked since the host is idle is not gone.
fn is_gone(series: &Series, last: Duration) -> bool {
    series.last() + REMEMBERED < last
}

fn count(series: &Series, report: &Report, now: Duration) {
    let failure = report.error.as_ref().or_else(|| report.affected.first().map(|affected| &affected.error));
    let outcome = failure.map_or(Outcome::Ok, |error| Outcome::Failed(error.code()));
    series.count(outcome, report.took, now, report.digest.as_ref());
}

impl Observer for Activity {
    fn collected(&self, collection: &Collected<'_>) {
        self.count(collection, self.began.elapsed());
    }
}

impl std::fmt::Debug for Activity {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Activity").field("contributors", &self.contributors.load().len()).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests;
