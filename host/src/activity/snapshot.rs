//! What a host is doing at one moment, as it is shown and sent.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// What a host did since it began, and how it goes at the moment.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ActivitySnapshot {
    /// For how long it has been counted, in seconds.
    pub seconds: f64,
    /// The collections as a whole.
    pub collections: CollectionActivity,
    /// Each contributor, sorted by name; one that took no part for an hour is left out.
    pub contributors: Vec<ContributorActivity>,
    /// Calls of contributors that were too many to be counted one by one.
    pub uncounted: u64,
}

/// What became of the collections.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CollectionActivity {
    /// How many had nothing amiss.
    pub ok: u64,
    /// How many made an overlay in which something is amiss.
    pub degraded: u64,
    /// How many made none, by the code of the failure.
    pub failed: BTreeMap<String, u64>,
    /// How they go at the moment.
    pub recent: Recent,
}

/// What became of the calls of one contributor.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ContributorActivity {
    /// Its name.
    pub name: String,
    /// The build that answered last, where it has a digest.
    pub digest: Option<String>,
    /// How many calls had an answer that was taken whole.
    pub ok: u64,
    /// How many did not, by the code of the first failure, whatever the policy made of it.
    pub failed: BTreeMap<String, u64>,
    /// How they go at the moment.
    pub recent: Recent,
}

/// How often something happened of late, and how long it took.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Recent {
    /// How often a second, over the last ten seconds.
    pub per_second: f64,
    /// The time in microseconds that half of the calls of the last minute stayed below, to within a tenth or so;
    /// none where there was no call.
    pub p50_us: Option<f64>,
    /// The same for 99 of 100.
    pub p99_us: Option<f64>,
}
