//! The home's files that choose what runs: the configuration, and the folder of contributors.
//!
//! And the state's files that remember: the lock says what the operator accepted, the store has the builds that run.
//!
//! Nothing here runs or compiles anything. What is read is read safely: whoever could write to these files
//! could do as much as the host, and a path in them may lead to anything.

mod components;
mod configuration;
mod known;
mod lock;
mod nearest;
mod settled;
mod store;
mod trust;

pub use crate::facts::FactSettings;
pub use crate::file::{self, read_text};
pub use components::{CONTRIBUTORS_FOLDER, installed, read_component, read_installed, read_settled};
pub use configuration::{
    CacheSettings, Configuration, ContributorSettings, HooksSettings, OnDifference, ServerSettings, SessionsSettings,
    ShadowSettings, SkillsSettings, TelemetrySettings, ToolsSettings, Watch, read_grants,
};
pub use known::{Fingerprint, KnownFiles, fingerprint};
pub use lock::{Lock, LockEntry, LockFile, LockedBuild};
pub use nearest::nearest;
pub use settled::has_writer;
pub use store::{Store, digest_of, is_digest};
pub use trust::{Candidate, TrustNew, TrustSettings, TrustUpdate, Verdict};
