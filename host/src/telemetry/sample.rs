//! Values that are looked up when somebody scrapes.

use crate::operations::{ContributorStatus, State};

/// One value with its labels.
#[derive(Clone, Debug, PartialEq)]
pub struct Sample {
    /// Its name without the `dsh_env_` that all have in front, and for a counter without `_total`:
    /// `server_connections`.
    pub name: &'static str,
    /// A sentence without a full stop. Of samples of one name, the first one's counts.
    pub help: &'static str,
    /// Of samples of one name, the first one's counts.
    pub kind: SampleKind,
    /// Names and values. No two samples of one name may have the same.
    pub labels: Vec<(&'static str, String)>,
    /// The value.
    pub value: f64,
}

/// What a value does in time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SampleKind {
    /// It rises and falls.
    Gauge,
    /// It only rises, until the host is started again.
    Counter,
}

impl Sample {
    /// A value that rises and falls, without labels.
    #[must_use]
    pub fn gauge(name: &'static str, help: &'static str, value: f64) -> Self {
        Self { name, help, kind: SampleKind::Gauge, labels: Vec::new(), value }
    }

    /// A value that only rises, without labels.
    #[must_use]
    pub fn counter(name: &'static str, help: &'static str, value: f64) -> Self {
        Self { kind: SampleKind::Counter, ..Self::gauge(name, help, value) }
    }

    /// The same with one more label.
    #[must_use]
    pub fn label(mut self, name: &'static str, value: impl Into<String>) -> Self {
        self.labels.push((name, value.into()));
        self
    }
}

/// How many contributors are in each state, also in those that none is in: `dsh_env_contributors{state}`.
#[must_use]
pub fn contributors_by_state(statuses: &[ContributorStatus]) -> Vec<Sample> {
    [State::Live, State::Pending, State::Refused, State::Disabled, State::Failing]
        .into_iter()
        .map(|state| {
            let count = statuses.iter().filter(|status| status.state == state).count();
            Sample::gauge("contributors", "Installed contributors by what became of their newest build", count as f64)
                .label("state", state.as_str())
        })
        .collect()
}
