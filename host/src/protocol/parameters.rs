//! What goes into each method; those that are not here take nothing.

use serde::{Deserialize, Serialize};

use crate::contract::Execution;

/// Of `overlay.collect`.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct CollectParameters {
    /// What the overlay is for. What it leaves out is absent or empty, but for its call id: then it gets a fresh one.
    pub execution: Execution,
    /// How long it may take, in milliseconds; more than [`MAX_DEADLINE`](super::MAX_DEADLINE) counts as that.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub deadline_ms: Option<u64>,
}

/// Of `contributors.reload`, `contributors.forget` and `contributors.log`.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct NameParameters {
    /// The contributor's name.
    pub name: String,
}

/// Of `contributors.approve`.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct ApproveParameters {
    /// The contributor's name.
    pub name: String,
    /// The build's digest.
    pub digest: String,
}

/// Of `contributors.rollback`.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct RollbackParameters {
    /// The contributor's name.
    pub name: String,
    /// The digest of the build that comes back; else the previous one does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub to: Option<String>,
}

/// Of `facts.put`.
#[derive(Clone, Serialize, Deserialize)]
pub struct FactParameters {
    /// The fact's name.
    pub name: String,
    /// Its value.
    pub value: String,
    /// For how long it holds, in milliseconds.
    pub ttl_ms: u64,
}

/// Without the value: it may be a secret.
impl std::fmt::Debug for FactParameters {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("FactParameters").field("name", &self.name).field("ttl_ms", &self.ttl_ms).finish_non_exhaustive()
    }
}

/// Of `overlay.explain`.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct ExplainParameters {
    /// The execution's call id.
    pub call: String,
    /// The key.
    pub key: String,
}
