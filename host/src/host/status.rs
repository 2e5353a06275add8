//! What became of each installed contributor, as operators see it.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

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
    pub error: Option<crate::Error>,
    /// What else an operator should know: a build that was rolled back, how a trial goes.
    pub notes: Vec<String>,
}
