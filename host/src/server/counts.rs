//! What a server did, as numbers.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use serde::Serialize;

use super::gauge::Gauge;
use super::limit::Limit;

/// How a server is doing. Totals are since it began.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct ServerCounts {
    /// Connections now.
    pub connections: u64,
    /// Connections that were accepted, in total.
    pub accepted: u64,
    /// Lines that were read, in total, whatever was in them.
    pub requests: u64,
    /// Requests that are under way now, or whose answers are not taken yet.
    pub in_flight: u64,
    /// Answers that are errors, in total.
    pub errors: u64,
    /// What was refused or closed, in total, by the limit that was the reason.
    pub refused: BTreeMap<Limit, u64>,
}

/// Where a server's counts are; every clone is the same.
#[derive(Clone, Debug, Default)]
pub struct Counter {
    pub(super) connections: Gauge,
    pub(super) in_flight: Gauge,
    totals: Arc<Totals>,
}

#[derive(Debug, Default)]
struct Totals {
    accepted: AtomicU64,
    requests: AtomicU64,
    errors: AtomicU64,
    refused: [AtomicU64; Limit::ALL.len()],
}

impl Counter {
    /// The counts as they are now.
    #[must_use]
    pub fn read(&self) -> ServerCounts {
        let load = |count: &AtomicU64| count.load(Ordering::Relaxed);
        let totals = &self.totals;
        ServerCounts {
            connections: self.connections.now(),
            accepted: load(&totals.accepted),
            requests: load(&totals.requests),
            in_flight: self.in_flight.now(),
            errors: load(&totals.errors),
            refused: Limit::ALL.iter().copied().zip(totals.refused.iter().map(load)).collect(),
        }
    }

    /// Counts a connection, and numbers it from 1.
    pub(super) fn accepted(&self) -> u64 {
        self.totals.accepted.fetch_add(1, Ordering::Relaxed) + 1
    }

    pub(super) fn requested(&self) {
        self.totals.requests.fetch_add(1, Ordering::Relaxed);
    }

    pub(super) fn failed(&self) {
        self.totals.errors.fetch_add(1, Ordering::Relaxed);
    }

    pub(super) fn refused(&self, limit: Limit) {
        let at = Limit::ALL.iter().position(|&known| known == limit);
        if let Some(count) = at.and_then(|at| self.totals.refused.get(at)) {
            count.fetch_add(1, Ordering::Relaxed);
        }
    }
}
