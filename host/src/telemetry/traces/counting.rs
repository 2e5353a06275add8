//! What became of the spans. The SDK counts those that it drops and tells nobody.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::time::Duration;

use opentelemetry_sdk::Resource;
use opentelemetry_sdk::error::OTelSdkResult;
use opentelemetry_sdk::trace::{SpanData, SpanExporter};

use crate::text::shown;

/// What became of spans since the beginning.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TraceCounts {
    /// The endpoint took them.
    pub sent: u64,
    /// The endpoint was down, too slow, or refused them.
    pub failed: u64,
    /// There were too many waiting, or they came after the end.
    pub dropped: u64,
    /// They wait to be sent, or are being sent.
    pub waiting: u64,
}

#[derive(Debug, Default)]
pub(super) struct Ledger {
    sent: AtomicU64,
    failed: AtomicU64,
    dropped: AtomicU64,
    waiting: AtomicUsize,
    /// Whether the last batch failed, so that only the first of many is warned of.
    failing: AtomicBool,
}

impl Ledger {
    /// Whether `count` more may wait; if not, they are dropped.
    pub(super) fn admit(&self, count: usize, limit: usize) -> bool {
        let fits = |waiting: usize| waiting.checked_add(count).filter(|sum| *sum <= limit);
        let admitted = self.waiting.fetch_update(Ordering::Relaxed, Ordering::Relaxed, fits).is_ok();
        if !admitted && self.refuse(count) == 0 {
            tracing::warn!("too many spans wait for the endpoint for traces: some are dropped, and counted");
        }
        admitted
    }

    /// Counts some that are dropped, and says how many there were before.
    pub(super) fn refuse(&self, count: usize) -> u64 {
        self.dropped.fetch_add(count as u64, Ordering::Relaxed)
    }

    pub(super) fn counts(&self) -> TraceCounts {
        TraceCounts {
            sent: self.sent.load(Ordering::Relaxed),
            failed: self.failed.load(Ordering::Relaxed),
            dropped: self.dropped.load(Ordering::Relaxed),
            waiting: self.waiting.load(Ordering::Relaxed) as u64,
        }
    }

    fn ended(&self, count: usize, result: &OTelSdkResult) {
        self.waiting.fetch_sub(count, Ordering::Relaxed);
        match result {
            Ok(()) => {
                self.sent.fetch_add(count as u64, Ordering::Relaxed);
                self.failing.store(false, Ordering::Relaxed);
            }
            Err(error) => {
                self.failed.fetch_add(count as u64, Ordering::Relaxed);
                if !self.failing.swap(true, Ordering::Relaxed) {
                    tracing::warn!(error = shown(&error.to_string()), "traces cannot be sent; collections go on");
                }
            }
        }
    }
}

/// An exporter whose batches are counted.
#[derive(Debug)]
pub(super) struct Counting<E> {
    exporter: E,
    ledger: Arc<Ledger>,
}

impl<E> Counting<E> {
    pub(super) fn new(exporter: E, ledger: Arc<Ledger>) -> Self {
        Self { exporter, ledger }
    }
}

impl<E: SpanExporter> SpanExporter for Counting<E> {
    async fn export(&self, batch: Vec<SpanData>) -> OTelSdkResult {
        let count = batch.len();
        let result = self.exporter.export(batch).await;
        self.ledger.ended(count, &result);
        result
    }

    fn shutdown_with_timeout(&self, timeout: Duration) -> OTelSdkResult {
        self.exporter.shutdown_with_timeout(timeout)
    }

    fn shutdown(&self) -> OTelSdkResult {
        self.exporter.shutdown()
    }

    fn force_flush(&self) -> OTelSdkResult {
        self.exporter.force_flush()
    }

    fn set_resource(&mut self, resource: &Resource) {
        self.exporter.set_resource(resource);
    }
}
