//! The built-in contributor `session-persistence`: tells a command where its session's log is.
//!
//! The sessions' side knows locations and no variables; the registry knows variables and no sessions.
//! This is the translation, and to the registry it is a contributor like any other.

use crate::contract::{Binding, Contributor, Deadline, Declaration, Execution, Failure, PREFIX};
use crate::sessions::{ActivePersistence, Location, LocationKind};

/// The contributor's name.
pub const NAME: &str = "session-persistence";

/// The contributor's one key, without the prefix.
const KEY: &str = "SESSION_JSONL";

const DESCRIPTION: &str = "Absolute path of the JSONL log of the session whose agent owns this command. A hint of where, not of whether or how fresh: the log may not exist yet, may lag behind, and may be compressed (a name that ends in .zstd). Absent when no agent owns the command or its session has no such file.";

/// Asks the persistence service that is current at that moment, once for each execution.
#[derive(Clone, Debug)]
pub struct SessionPersistence {
    active: ActivePersistence,
}

impl SessionPersistence {
    /// Asks whatever service `active` holds when an execution is resolved.
    #[must_use]
    pub fn new(active: ActivePersistence) -> Self {
        Self { active }
    }
}

impl Contributor for SessionPersistence {
    fn declare(&self) -> Declaration {
        Declaration::new(NAME).variable(key(), DESCRIPTION)
    }

    fn resolve(&self, execution: &Execution, _: &Deadline) -> Result<Vec<Binding>, Failure> {
        let Some(header) = execution.session() else { return Ok(Vec::new()) };
        let location = self.active.current().and_then(|persistence| persistence.locate(header));
        // A path that is not UTF-8 would have to be changed to become a value, and then lead elsewhere.
        let path =
            location.and_then(|Location { kind: LocationKind::Jsonl, path }| path.into_os_string().into_string().ok());
        Ok(path.map(|path| Binding::new(key(), path)).into_iter().collect())
    }

    /// A location is computed, not looked up.
    fn may_wait(&self) -> bool {
        false
    }
}

fn key() -> String {
    format!("{PREFIX}{KEY}")
}

#[cfg(test)]
mod tests;
