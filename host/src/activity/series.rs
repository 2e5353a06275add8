//! The counters of the collections as a whole, or of one contributor.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use super::snapshot::{CollectionActivity, ContributorActivity, Recent};
use super::window::Window;
use crate::contract::ContributorName;
use crate::error::Code;

/// Upper bounds of the histograms, in microseconds: from what a native contributor takes to the longest that any
/// collection may.
const BOUNDS: [u64; 18] = [
    10, 25, 50, 100, 250, 500, 1_000, 2_500, 5_000, 10_000, 25_000, 50_000, 100_000, 250_000, 500_000, 1_000_000,
    2_500_000, 5_000_000,
];

/// How one collection or one call went.
#[derive(Clone, Copy)]
pub(super) enum Outcome {
    Ok,
    Degraded,
    Failed(Code),
}

#[derive(Default)]
pub(super) struct Series(Mutex<Counters>);

#[derive(Default)]
struct Counters {
    ok: u64,
    degraded: u64,
    /// Few: hardly a contributor knows more than two ways to fail.
    failed: Vec<(Code, u64)>,
    sum: Duration,
    buckets: [u64; BOUNDS.len()],
    above: u64,
    window: Window,
    /// The build that answered last.
    digest: Option<Arc<str>>,
    /// When it was last counted, since the beginning.
    last: Duration,
}

/// What was counted since the beginning; one collection or call after the other, it only ever grows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Counts {
    /// How many went how: `ok`, for collections `degraded`, and the codes of failures. What never happened is not
    /// in it.
    pub outcomes: BTreeMap<&'static str, u64>,
    /// How long they took.
    pub times: Times,
}

/// How long calls took, as a histogram.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Times {
    /// All of them together.
    pub sum: Duration,
    /// Upper bounds, inclusive and rising, each with how many calls took at most this long and longer than the
    /// bound before.
    pub buckets: Vec<(Duration, u64)>,
    /// How many took longer than the last bound.
    pub above: u64,
}

impl Times {
    /// How many calls there were.
    #[must_use]
    pub fn count(&self) -> u64 {
        self.buckets.iter().map(|(_, count)| count).sum::<u64>() + self.above
    }
}

impl Series {
    pub(super) fn count(&self, outcome: Outcome, took: Duration, now: Duration, digest: Option<&Arc<str>>) {
        let mut counters = self.counters();
        match outcome {
            Outcome::Ok => counters.ok += 1,
            Outcome::Degraded => counters.degraded += 1,
            Outcome::Failed(code) => match counters.failed.iter_mut().find(|(known, _)| *known == code) {
                Some((_, count)) => *count += 1,
                None => counters.failed.push((code, 1)),
            },
        }
        counters.sum += took;
        let bucket = BOUNDS.partition_point(|bound| Duration::from_micros(*bound) < took);
        match counters.buckets.get_mut(bucket) {
            Some(count) => *count += 1,
            None => counters.above += 1,
        }
        counters.window.count(took, now);
        if counters.digest.as_deref() != digest.map(AsRef::as_ref) {
            counters.digest = digest.cloned();
        }
        counters.last = counters.last.max(now);
    }

    /// As if it had been counted then.
    pub(super) fn seen(&self, now: Duration) {
        let mut counters = self.counters();
        counters.last = counters.last.max(now);
    }

    /// When it was last counted, since the beginning.
    pub(super) fn last(&self) -> Duration {
        self.counters().last
    }

    pub(super) fn counts(&self) -> Counts {
        let counters = self.counters();
        let well = [("ok", counters.ok), ("degraded", counters.degraded)];
        let failed = counters.failed.iter().map(|(code, count)| (code.as_str(), *count));
        let buckets = BOUNDS.iter().zip(counters.buckets).map(|(bound, count)| (Duration::from_micros(*bound), count));
        Counts {
            outcomes: well.into_iter().filter(|(_, count)| *count > 0).chain(failed).collect(),
            times: Times { sum: counters.sum, buckets: buckets.collect(), above: counters.above },
        }
    }

    pub(super) fn of_collections(&self, now: Duration) -> CollectionActivity {
        let counters = self.counters();
        CollectionActivity {
            ok: counters.ok,
            degraded: counters.degraded,
            failed: counters.failures(),
            recent: counters.recent(now),
        }
    }

    pub(super) fn of_contributor(&self, name: &ContributorName, now: Duration) -> ContributorActivity {
        let counters = self.counters();
        ContributorActivity {
            name: name.as_str().to_owned(),
            digest: counters.digest.as_deref().map(str::to_owned),
            ok: counters.ok,
            failed: counters.failures(),
            recent: counters.recent(now),
        }
    }

    fn counters(&self) -> MutexGuard<'_, Counters> {
        // Whoever panicked with it has at worst left out a count.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Counters {
    fn failures(&self) -> BTreeMap<String, u64> {
        self.failed.iter().map(|(code, count)| (code.as_str().to_owned(), *count)).collect()
    }

    fn recent(&self, now: Duration) -> Recent {
        let [p50_us, p99_us] = self.window.quantiles([0.5, 0.99], now);
        Recent { per_second: self.window.per_second(now), p50_us, p99_us }
    }
}
