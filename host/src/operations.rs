//! What an operator sees of a host and does to it. A server offers it to its clients.
//!
//! A host with installed contributors has all of it; one that an embedder made of its own contributors has what
//! makes sense for it, and says of the rest that it does not.

use std::path::PathBuf;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::contract::Key;
use crate::error::{Error, Result};
use crate::registry::Registry;

/// What a server asks of the host behind it. Methods may wait for a compilation; none is called on a thread that
/// others need.
pub trait Operations: Send + Sync + 'static {
    /// The registry that collections are made from.
    fn registry(&self) -> &Registry;

    /// What became of each contributor, by name.
    fn statuses(&self) -> Vec<ContributorStatus>;

    /// Makes a build live that waits.
    ///
    /// # Errors
    /// `contributor-not-found` where no such build waits; whatever is wrong with it.
    fn approve(&self, name: &str, digest: &str) -> Result<ContributorStatus>;

    /// Brings a build back: the one of a digest, else the previous one. The one that it takes the place of does not
    /// come back by itself.
    ///
    /// # Errors
    /// `contributor-not-found` where there is none; whatever is wrong with it.
    fn rollback(&self, name: &str, to: Option<&str>) -> Result<ContributorStatus>;

    /// Reads a contributor's file again, whether or not it seems to have changed.
    ///
    /// # Errors
    /// `contributor-not-found`. What is wrong with the file is in the status.
    fn reload(&self, name: &str) -> Result<ContributorStatus>;

    /// Frees a name and its keys. A file that is still there is then a new one.
    ///
    /// # Errors
    /// `contributor-not-found`.
    fn forget(&self, name: &str) -> Result<ContributorStatus>;

    /// Sets a fact for a time.
    ///
    /// # Errors
    /// `invalid-request` for a name or a value that no fact can have.
    fn put_fact(&self, name: &str, value: String, time_to_live: Duration) -> Result<()>;

    /// Whether the host itself is well, and who of its contributors is not.
    fn health(&self) -> Health;

    /// Counts and times as text in the format of Prometheus; nothing where none are kept.
    fn metrics(&self) -> Option<String>;

    /// What is remembered of a key in a recent execution, as JSON; nothing where the call is not remembered.
    fn explain(&self, call: &str, key: &Key) -> Option<serde_json::Value>;

    /// What `top` shows, as JSON: counts and times of late for the host and each contributor.
    fn activity(&self) -> serde_json::Value;

    /// What a contributor printed lately.
    ///
    /// # Errors
    /// `contributor-not-found`.
    fn log(&self, name: &str) -> Result<String>;
}

/// Whether a host is well. A contributor that is broken does not make its host unwell.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Health {
    /// Whether it can make overlays at all: false where a contributor that is required is missing.
    pub ready: bool,
    /// What is wrong with the host itself: a configuration that could not be read, a folder that vanished.
    pub problems: Vec<Error>,
    /// The names of contributors whose newest build does not answer, or that fail.
    pub unwell: Vec<String>,
}

/// What became of the newest build of a contributor.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum State {
    /// It answers executions.
    Live,
    /// It waits for approval.
    Pending,
    /// It could not be loaded, or may not take what it claims.
    Refused,
    /// The operator turned the contributor off.
    Disabled,
    /// It answers executions, and fails again and again.
    Failing,
}

impl State {
    /// The word for it.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Live => "live",
            Self::Pending => "pending",
            Self::Refused => "refused",
            Self::Disabled => "disabled",
            Self::Failing => "failing",
        }
    }
}

/// One installed contributor, or one that the lock remembers.
#[derive(Clone, Debug, Serialize)]
pub struct ContributorStatus {
    /// Its name; its file's where nobody knows what it calls itself.
    pub name: String,
    /// The file in the folder of contributors; none where it was removed.
    pub file: Option<PathBuf>,
    /// What became of the newest build.
    pub state: State,
    /// The build that answers executions, whatever became of a newer one.
    pub digest: Option<String>,
    /// The build that is in the file, where that is another one.
    pub candidate: Option<String>,
    /// Builds that can be brought back, the latest first.
    pub previous: Vec<String>,
    /// Why the newest build does not answer, or how it fails.
    pub error: Option<Error>,
    /// What else an operator should know: a build that was rolled back, how a trial goes.
    pub notes: Vec<String>,
}
