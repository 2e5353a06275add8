//! What a service that keeps sessions promises, and the one that is current.

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use arc_swap::ArcSwapOption;
use serde::Serialize;

#[cfg(feature = "sessions")]
use super::SessionStore;
use super::{Compression, JsonlPersistence, SessionsRoot, SqlitePersistence};
use crate::contract::SessionHeader;
#[cfg(feature = "sessions")]
use crate::error::Result;

/// Keeps the logs of sessions.
pub trait Persistence: Send + Sync {
    /// Where the log of a session is, or will be once there is one; `None` where a session has no file
    /// of its own.
    ///
    /// Computed from the header alone: nothing on disk is looked at, made or written, so the answer says
    /// nothing about whether the log exists or how fresh it is.
    fn locate(&self, header: &SessionHeader) -> Option<Location>;
}

/// Where the log of one session is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Location {
    /// How the log is written.
    pub kind: LocationKind,
    /// The log: absolute, whether or not it exists. In JSON what is not UTF-8 of it is replaced.
    #[serde(serialize_with = "as_text")]
    pub path: PathBuf,
}

fn as_text<S: serde::Serializer>(path: &Path, serializer: S) -> std::result::Result<S::Ok, S::Error> {
    serializer.collect_str(&path.display())
}

/// How a log is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum LocationKind {
    /// One JSON object a line, the header first; also when the file as a whole is compressed.
    Jsonl,
}

/// Which kind of service keeps the sessions.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Backend {
    /// A file for each session.
    #[default]
    Jsonl,
    /// One database for all.
    Sqlite,
}

impl Backend {
    /// Every backend.
    pub const ALL: &'static [Self] = &[Self::Jsonl, Self::Sqlite];

    /// The service of this kind. Nothing on disk is touched.
    #[must_use]
    pub fn service(self, root: SessionsRoot, compression: Compression) -> Arc<dyn Persistence> {
        match self {
            Self::Jsonl => Arc::new(JsonlPersistence::new(root, compression)),
            Self::Sqlite => Arc::new(SqlitePersistence::new(root)),
        }
    }

    /// The service of this kind, to read and write sessions too. Nothing on disk is touched.
    ///
    /// # Errors
    /// `invalid-configuration` for a database in a build that has none (the feature `sqlite`).
    #[cfg(feature = "sessions")]
    pub fn store(self, root: SessionsRoot, compression: Compression) -> Result<Arc<dyn SessionStore>> {
        match self {
            Self::Jsonl => Ok(Arc::new(JsonlPersistence::new(root, compression))),
            #[cfg(feature = "sqlite")]
            Self::Sqlite => Ok(Arc::new(SqlitePersistence::new(root))),
            #[cfg(not(feature = "sqlite"))]
            Self::Sqlite => Err(crate::error::Error::host(
                crate::error::Code::InvalidConfiguration,
                "this build has no database for sessions: choose the backend jsonl",
            )),
        }
    }

    /// The word for it in configuration and on the command line.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Jsonl => "jsonl",
            Self::Sqlite => "sqlite",
        }
    }
}

/// The service that keeps the sessions at the moment; cheap to clone, and every clone is the same slot.
///
/// Whoever asks takes the service that is current then and stays with it: replacing it changes the next
/// question and no answer that is under way. An embedder that has no sessions leaves the slot empty.
#[derive(Clone, Default)]
pub struct ActivePersistence {
    // The outer pointer is what is swapped; it has to be a thin one, which a pointer to a trait is not.
    current: Arc<ArcSwapOption<Arc<dyn Persistence>>>,
}

impl ActivePersistence {
    /// A slot that holds `persistence`.
    #[must_use]
    pub fn new(persistence: Arc<dyn Persistence>) -> Self {
        let slot = Self::default();
        slot.replace(Some(persistence));
        slot
    }

    /// The current service.
    #[must_use]
    pub fn current(&self) -> Option<Arc<dyn Persistence>> {
        self.current.load().as_deref().cloned()
    }

    /// Makes another service current, or none.
    pub fn replace(&self, persistence: Option<Arc<dyn Persistence>>) {
        self.current.store(persistence.map(Arc::new));
    }
}

impl fmt::Debug for ActivePersistence {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.current.load().is_some() { "ActivePersistence(..)" } else { "ActivePersistence(none)" })
    }
}
