//! One database for all sessions.

use std::path::PathBuf;

use super::persistence::{Location, Persistence};
use super::root::SessionsRoot;
use crate::contract::SessionHeader;

/// The database's name below the root.
const FILE_NAME: &str = "sessions.sqlite3";

/// Keeps sessions in `<root>/sessions.sqlite3`: none has a file of its own, so none is located.
#[derive(Clone, Debug)]
pub struct SqlitePersistence {
    root: SessionsRoot,
}

impl SqlitePersistence {
    /// Keeps sessions below `root`.
    #[must_use]
    pub fn new(root: SessionsRoot) -> Self {
        Self { root }
    }

    /// The database that all sessions are in, whether or not it exists.
    #[must_use]
    pub fn database(&self) -> PathBuf {
        self.root.path().join(FILE_NAME)
    }
}

impl Persistence for SqlitePersistence {
    fn locate(&self, _: &SessionHeader) -> Option<Location> {
        None
    }
}

#[cfg(feature = "sqlite")]
impl super::SessionStore for SqlitePersistence {
    fn create(&self, _: &super::LogHeader) -> crate::Result<Box<dyn super::SessionLog>> {
        Err(crate::Error::host(crate::Code::Internal, "not yet"))
    }
    fn resume(&self, _: &crate::contract::SessionId, _: super::Project<'_>) -> crate::Result<super::Resumed> {
        Err(crate::Error::host(crate::Code::Internal, "not yet"))
    }
    fn load(&self, _: &crate::contract::SessionId, _: super::Project<'_>) -> crate::Result<super::Loaded> {
        Err(crate::Error::host(crate::Code::Internal, "not yet"))
    }
    fn list(&self) -> crate::Result<Vec<super::ListedSession>> {
        let mut sessions = Vec::new();
        super::store::newest_first(&mut sessions);
        Ok(sessions)
    }
}
