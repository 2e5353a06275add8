//! In which session an agent speaks.

use std::sync::Arc;

use crate::contract::SessionId;
use crate::error::{Code, Result};
use crate::sessions::{NewSession, Project, Session, SessionStore};

/// Which session an agent begins or goes on with.
#[derive(Clone, Debug, Default)]
pub struct SessionStart {
    /// The session's id; a new one where none is named.
    pub id: Option<SessionId>,
    /// The directory that the session is for, verbatim.
    pub cwd: Option<String>,
    /// The preset of a new session's agent.
    pub agent_preset: Option<String>,
}

impl SessionStart {
    /// The session, and whether it was there before.
    pub(super) fn session(self, store: &Arc<dyn SessionStore>) -> Result<(Session, bool)> {
        let Self { id, cwd, agent_preset } = self;
        if let Some(id) = &id {
            // Without a directory: the session that is for none, else the only one of that id.
            let mut places = vec![Project::Of(cwd.as_deref())];
            if cwd.is_none() {
                places.push(Project::Any);
            }
            for project in places {
                match Session::resume(Arc::clone(store), id, project) {
                    Ok(session) => return Ok((session, true)),
                    Err(error) if error.code() == Code::SessionNotFound => {}
                    Err(error) => return Err(error),
                }
            }
        }
        Ok((Session::create(Arc::clone(store), NewSession { id, cwd, agent_preset })?, false))
    }
}
