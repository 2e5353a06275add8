//! A session from its first event to its last, and those that come from it.
//!
//! The id is known before the first turn; the log appears with the first checkpoint, which whoever drives
//! the session makes when a turn has ended. What was appended since the last checkpoint is in memory only.

use std::fmt;
use std::sync::Arc;

use serde_json::{Map, Value};

use super::event::now;
use super::{Event, Loaded, Location, LogHeader, Project, Resumed, SessionLog, SessionStore};
use crate::contract::{SessionHeader, SessionId};
use crate::error::{Code, Error, Result};

/// What `origin` says of a session that an agent started.
pub const SUBAGENT: &str = "subagent";

/// What a new session is to be.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NewSession {
    /// Its id; a version 7 UUID unless given.
    pub id: Option<SessionId>,
    /// The directory that it is started for, verbatim.
    pub cwd: Option<String>,
    /// The name of the preset that its agent is made from.
    pub agent_preset: Option<String>,
}

/// A session that this process writes.
pub struct Session {
    store: Arc<dyn SessionStore>,
    header: LogHeader,
    events: Vec<Event>,
    /// How many of the events are kept.
    kept: usize,
    log: Box<dyn SessionLog>,
}

impl Session {
    /// Begins a session. Nothing is kept of it before its first [`checkpoint`](Self::checkpoint).
    ///
    /// # Errors
    /// Those of [`SessionStore::create`].
    pub fn create(store: Arc<dyn SessionStore>, new: NewSession) -> Result<Self> {
        let header = LogHeader {
            agent_preset: new.agent_preset,
            ..LogHeader::new(SessionHeader {
                created_at: Some(now()),
                cwd: new.cwd,
                delegation_depth: Some(0),
                ..SessionHeader::new(id_or_fresh(new.id)?)
            })
        };
        Self::begin(store, header)
    }

    /// Goes on with a session: same id, same place.
    ///
    /// # Errors
    /// Those of [`SessionStore::resume`].
    pub fn resume(store: Arc<dyn SessionStore>, id: &SessionId, project: Project<'_>) -> Result<Self> {
        let Resumed { header, events, log, repaired } = store.resume(id, project)?;
        if repaired > 0 {
            tracing::warn!(bytes = repaired, "the torn end of a session's log was removed");
        }
        Ok(Self { store, header, kept: events.len(), events, log })
    }

    /// A new session that begins with every event of this one that is kept. It is kept at once, or
    /// with its first [`checkpoint`](Self::checkpoint) where there are none.
    ///
    /// # Errors
    /// Those of [`SessionStore::create`] and [`SessionLog::flush`].
    pub fn fork(&self, id: Option<SessionId>) -> Result<Self> {
        let kept = self.events.get(..self.kept).unwrap_or_default();
        let mut fork = Self::fork_events(self.store.clone(), &self.header, kept, id)?;
        // Where nothing is kept of the parent it may never be, and the fork would name one that does not exist.
        if !fork.events.is_empty() {
            fork.checkpoint()?;
        }
        Ok(fork)
    }

    /// A new session that begins with every event of one that was read, which another process may be
    /// writing. It is kept at once.
    ///
    /// # Errors
    /// Those of [`SessionStore::create`] and [`SessionLog::flush`].
    pub fn fork_of(store: Arc<dyn SessionStore>, parent: &Loaded, id: Option<SessionId>) -> Result<Self> {
        let mut fork = Self::fork_events(store, &parent.header, &parent.events, id)?;
        fork.checkpoint()?;
        Ok(fork)
    }

    /// A new session of an agent that this session's agent starts. Nothing is kept of it before its first
    /// [`checkpoint`](Self::checkpoint).
    ///
    /// # Errors
    /// Those of [`SessionStore::create`].
    pub fn spawn(&self, agent_preset: Option<String>) -> Result<Self> {
        let parent = &self.header.session;
        let header = LogHeader {
            agent_preset,
            ..LogHeader::new(SessionHeader {
                origin: Some(SUBAGENT.to_owned()),
                delegation_depth: Some(parent.delegation_depth.unwrap_or_default().saturating_add(1)),
                ..child_of(parent, None)?
            })
        };
        Self::begin(self.store.clone(), header)
    }

    /// The session's header; its `session` is what executions carry.
    #[must_use]
    pub fn header(&self) -> &LogHeader {
        &self.header
    }

    /// Every event, in order, also those that are not kept yet.
    #[must_use]
    pub fn events(&self) -> &[Event] {
        &self.events
    }

    /// How many of the events are kept.
    #[must_use]
    pub fn kept(&self) -> usize {
        self.kept
    }

    /// Where the session's log is, or will be; `None` where it has no file of its own.
    #[must_use]
    pub fn location(&self) -> Option<&Location> {
        self.log.location()
    }

    /// Adds an event that happens now. It is in memory only until the next [`checkpoint`](Self::checkpoint).
    ///
    /// # Errors
    /// Those of [`SessionLog::append`]; the event is not added then.
    pub fn append(&mut self, kind: impl Into<String>, fields: Map<String, Value>) -> Result<&Event> {
        let seq = u64::try_from(self.events.len()).unwrap_or(u64::MAX);
        let event = Event { seq, kind: kind.into(), at: now(), fields };
        self.log.append(&event)?;
        self.events.push(event);
        self.events.last().ok_or_else(|| Error::host(Code::Internal, "an event that was added is missing"))
    }

    /// Keeps every event so far; to be called when a turn has ended.
    ///
    /// # Errors
    /// Those of [`SessionLog::flush`]; it can be tried again then.
    pub fn checkpoint(&mut self) -> Result<()> {
        self.log.flush()?;
        self.kept = self.events.len();
        Ok(())
    }

    fn begin(store: Arc<dyn SessionStore>, header: LogHeader) -> Result<Self> {
        let log = store.create(&header)?;
        Ok(Self { store, header, events: Vec::new(), kept: 0, log })
    }

    fn fork_events(
        store: Arc<dyn SessionStore>,
        parent: &LogHeader,
        events: &[Event],
        id: Option<SessionId>,
    ) -> Result<Self> {
        let header = LogHeader {
            session: SessionHeader {
                origin: parent.session.origin.clone(),
                delegation_depth: Some(parent.session.delegation_depth.unwrap_or_default()),
                ..child_of(&parent.session, id)?
            },
            seed_length: Some(u64::try_from(events.len()).unwrap_or(u64::MAX)),
            agent_preset: parent.agent_preset.clone(),
        };
        let mut fork = Self::begin(store, header)?;
        for event in events {
            fork.log.append(event)?;
        }
        fork.events = events.to_vec();
        Ok(fork)
    }
}

impl fmt::Debug for Session {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Events are what was said: not for logs.
        f.debug_struct("Session")
            .field("header", &self.header)
            .field("events", &self.events.len())
            .field("kept", &self.kept)
            .finish_non_exhaustive()
    }
}

/// The identity of a session that comes from `parent`, made now and for the same directory.
fn child_of(parent: &SessionHeader, id: Option<SessionId>) -> Result<SessionHeader> {
    Ok(SessionHeader {
        created_at: Some(now()),
        cwd: parent.cwd.clone(),
        parent_session: Some(parent.id.as_str().to_owned()),
        ..SessionHeader::new(id_or_fresh(id)?)
    })
}

fn id_or_fresh(id: Option<SessionId>) -> Result<SessionId> {
    id.map_or_else(|| SessionId::new(uuid::Uuid::now_v7().to_string()), Ok)
}

#[cfg(test)]
mod tests;
