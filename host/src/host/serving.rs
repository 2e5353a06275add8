//! A host that goes on, as its operator sees it: with what it remembers of calls, counts, and finds out.

use std::fmt;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use super::Host;
use crate::activity::Activity;
use crate::calls::{CallLog, CallLogOptions};
use crate::contract::Key;
use crate::error::{Code, Error, Result};
use crate::facts::{FactsBoard, Scheduler};
use crate::operations::{ContributorStatus, Health, Operations, State};
use crate::registry::Registry;
use crate::text::shown_within;

/// What the metrics of a host are, as text.
type MetricsText = Box<dyn Fn() -> String + Send + Sync>;

/// A host that goes on. Its commands for facts are ended with it.
pub struct ServingHost {
    host: Arc<Host>,
    calls: Arc<CallLog>,
    activity: Arc<Activity>,
    board: FactsBoard,
    scheduler: Arc<Scheduler>,
    metrics: OnceLock<MetricsText>,
}

impl ServingHost {
    /// Begins to remember, to count, and to find out the facts that are configured, now and whenever the configuration
    /// is read again.
    #[must_use]
    pub fn new(host: Arc<Host>) -> Self {
        let (calls, activity) = (CallLog::new(CallLogOptions::new()), Activity::new());
        let registry = host.registry();
        registry.observe(Arc::clone(&calls) as _);
        registry.observe(Arc::clone(&activity) as _);
        let board = FactsBoard::new(registry);
        let scheduler = Arc::new(Scheduler::new(&board, host.home()));
        scheduler.set(host.configuration().facts.clone());
        let of_changes = Arc::downgrade(&scheduler);
        host.installer.on_configured(move |configuration| {
            if let Some(scheduler) = of_changes.upgrade() {
                scheduler.set(configuration.facts.clone());
            }
        });
        Self { host, calls, activity, board, scheduler, metrics: OnceLock::new() }
    }

    /// The host.
    #[must_use]
    pub fn host(&self) -> &Arc<Host> {
        &self.host
    }

    /// What is counted.
    #[must_use]
    pub fn activity(&self) -> &Arc<Activity> {
        &self.activity
    }

    /// Answers `host.metrics` with what `text` says; only the first to ask is heard.
    pub fn set_metrics(&self, text: impl Fn() -> String + Send + Sync + 'static) {
        let _ = self.metrics.set(Box::new(text));
    }

    /// A status with what the registry knows of how it fares.
    fn with_health(&self, status: Result<ContributorStatus>) -> Result<ContributorStatus> {
        let status = status?;
        let name = status.name.clone();
        Ok(self.statuses().into_iter().find(|status| status.name == name).unwrap_or(status))
    }
}

impl Operations for ServingHost {
    fn registry(&self) -> &Registry {
        self.host.registry()
    }

    fn statuses(&self) -> Vec<ContributorStatus> {
        let health = self.host.registry().health();
        let mut statuses = self.host.statuses();
        for status in &mut statuses {
            let failing = health.iter().find(|health| health.name.as_str() == status.name && health.is_failing());
            let Some(failing) = failing.filter(|_| status.digest.is_some()) else { continue };
            let times = failing.failures_in_a_row;
            let pause = if failing.backed_off { ", and is left alone for a while" } else { "" };
            status.notes.push(format!("the live build failed {times} times in a row{pause}"));
            if status.state == State::Live {
                status.state = State::Failing;
                status.error.clone_from(&failing.last_error);
            }
        }
        statuses
    }

    fn approve(&self, name: &str, digest: &str) -> Result<ContributorStatus> {
        self.with_health(self.host.approve(name, digest))
    }

    fn rollback(&self, name: &str, to: Option<&str>) -> Result<ContributorStatus> {
        self.with_health(self.host.roll_back(name, to))
    }

    fn reload(&self, name: &str) -> Result<ContributorStatus> {
        self.with_health(self.host.reload(name))
    }

    fn forget(&self, name: &str) -> Result<ContributorStatus> {
        self.with_health(self.host.forget(name))
    }

    fn put_fact(&self, name: &str, value: String, time_to_live: Duration) -> Result<()> {
        self.board.put(name, value, time_to_live)
    }

    fn health(&self) -> Health {
        let required = self.host.registry().missing().into_iter().filter(|missing| missing.required);
        let missing: Vec<_> = required.map(|missing| missing.error).collect();
        let ready = missing.is_empty();
        let unwell =
            self.statuses().into_iter().filter(|status| matches!(status.state, State::Refused | State::Failing));
        let unwell = unwell.map(|status| status.name).collect();
        let problems = self.host.problems().into_iter().chain(self.scheduler.problems()).chain(missing).collect();
        Health { ready, problems, unwell }
    }

    fn metrics(&self) -> Option<String> {
        self.metrics.get().map(|text| text())
    }

    fn explain(&self, call: &str, key: &Key) -> Option<serde_json::Value> {
        serde_json::to_value(self.calls.explain(call, key)?).ok()
    }

    fn activity(&self) -> serde_json::Value {
        serde_json::to_value(self.activity.snapshot()).unwrap_or_default()
    }

    fn log(&self, name: &str) -> Result<String> {
        let contributors = self.host.contributors();
        let hosted = contributors.iter().find(|hosted| hosted.name().as_str() == name).ok_or_else(|| {
            let message =
                format!("no contributor named {} is live: dsh-env status says which are", shown_within(name, 256));
            Error::host(Code::ContributorNotFound, message)
        })?;
        Ok(hosted.log().lines().join("\n"))
    }
}

impl fmt::Debug for ServingHost {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ServingHost").field("host", &self.host).finish_non_exhaustive()
    }
}
