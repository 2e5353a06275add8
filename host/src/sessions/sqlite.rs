//! One database for all sessions.

use std::path::PathBuf;

use super::persistence::{Location, Persistence};
use super::root::SessionsRoot;
use crate::contract::SessionHeader;

#[cfg(feature = "sqlite")]
mod database;
#[cfg(feature = "sqlite")]
mod log;
#[cfg(feature = "sqlite")]
mod schema;
#[cfg(feature = "sqlite")]
mod store;
#[cfg(feature = "sqlite")]
mod writer;

/// The database's name below the root.
const FILE_NAME: &str = "sessions.sqlite3";

/// Keeps sessions in `<root>/sessions.sqlite3`: none has a file of its own, so none is located.
#[derive(Clone, Debug)]
pub struct SqlitePersistence {
    root: SessionsRoot,
    #[cfg(feature = "sqlite")]
    limits: super::limits::Limits,
}

impl SqlitePersistence {
    /// Keeps sessions below `root`.
    #[must_use]
    pub fn new(root: SessionsRoot) -> Self {
        Self {
            root,
            #[cfg(feature = "sqlite")]
            limits: super::limits::Limits::default(),
        }
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

#[cfg(test)]
#[cfg(feature = "sqlite")]
mod tests;
