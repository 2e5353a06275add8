//! What a service that also writes sessions promises: [`SessionStore`], and [`SessionLog`] for one of them.
//!
//! Nothing of a session is kept before its log is flushed for the first time; then the log appears whole,
//! and after each further flush it holds everything that was appended before. A flush that failed has
//! changed nothing, can be tried again, and never keeps an event twice. Whoever writes a log is alone in
//! that, among all processes, until the log is dropped or the process ends.
//!
//! Everything here may wait for a disk: call it where that holds nothing up.

use std::fmt;

use super::failure::damaged;
use super::{Event, Location, LogHeader, Persistence};
use crate::contract::{SessionHeader, SessionId};
use crate::error::{Code, Error, Result};

/// Keeps the logs of sessions, and reads and writes them.
pub trait SessionStore: Persistence {
    /// Begins a new session's log. Nothing is kept of it before it is flushed.
    ///
    /// A header without a time gets the current one, and one without a delegation depth gets 0.
    ///
    /// # Errors
    /// `session-exists` where there is a session of that id in its project, `session-storage` where there
    /// cannot be one, such as below a file or by a name that is too long.
    fn create(&self, header: &LogHeader) -> Result<Box<dyn SessionLog>>;

    /// Goes on with a session that was flushed before, in the place where it is. The torn end of a log whose
    /// writer was killed is removed.
    ///
    /// # Errors
    /// `session-not-found` for none and for more than one, `session-in-use` while another log of it is
    /// open, here or in another process, `session-version`, `session-damaged` (nothing is changed then) and
    /// `session-storage`.
    fn resume(&self, id: &SessionId, project: Project<'_>) -> Result<Resumed>;

    /// Reads a session. Nothing is changed, locked or repaired.
    ///
    /// # Errors
    /// Those of [`resume`](Self::resume) but `session-in-use`.
    fn load(&self, id: &SessionId, project: Project<'_>) -> Result<Loaded>;

    /// Every session, the newest first; those that cannot be read come last, with the reason. Only headers
    /// are read.
    ///
    /// # Errors
    /// `session-storage` where the sessions cannot be looked through at all.
    fn list(&self) -> Result<Vec<ListedSession>>;
}

/// The log of one session, open for writing.
pub trait SessionLog: Send {
    /// Takes an event into memory; [`flush`](Self::flush) keeps it.
    ///
    /// # Errors
    /// `session-storage` for an event that the log cannot take: too long, or too much for the log as a
    /// whole, or with a field that is called as one that every event has. `internal` where the event is not
    /// the next one. The log is as it was before.
    fn append(&mut self, event: &Event) -> Result<()>;

    /// Makes everything that was appended durable. The first time, the log as a whole appears.
    ///
    /// # Errors
    /// `session-exists` where a session of that id appeared meanwhile, else `session-storage`. Nothing that
    /// was appended is forgotten: the flush can be tried again.
    fn flush(&mut self) -> Result<()>;

    /// Where this log is, also when the service would now choose another place; `None` where a session has
    /// no file of its own.
    fn location(&self) -> Option<&Location>;
}

/// Where to look for a session of which the id is known.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Project<'a> {
    /// Everywhere.
    #[default]
    Any,
    /// Among the sessions that were started for this directory, verbatim, or for none.
    Of(Option<&'a str>),
}

/// A session that goes on.
pub struct Resumed {
    /// Its header.
    pub header: LogHeader,
    /// Its events so far.
    pub events: Vec<Event>,
    /// Its log, to append what follows.
    pub log: Box<dyn SessionLog>,
    /// How many bytes of a torn end were removed.
    pub repaired: u64,
}

impl fmt::Debug for Resumed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Resumed")
            .field("header", &self.header)
            .field("events", &self.events.len())
            .field("repaired", &self.repaired)
            .finish_non_exhaustive()
    }
}

/// A session that was read.
#[derive(Clone, Debug, PartialEq)]
pub struct Loaded {
    /// Its header.
    pub header: LogHeader,
    /// Its events.
    pub events: Vec<Event>,
    /// Where its log is; `None` where a session has no file of its own.
    pub location: Option<Location>,
    /// How many bytes of a torn end were ignored, which the next [`resume`](SessionStore::resume) will
    /// remove. Also seen while another process is writing.
    pub torn: u64,
}

/// A session in a list.
#[derive(Clone, Debug, PartialEq)]
pub struct ListedSession {
    /// Its header, or why it cannot be read.
    pub header: Result<LogHeader>,
    /// Where its log is; `None` where a session has no file of its own.
    pub location: Option<Location>,
    /// How many bytes its log takes.
    pub bytes: u64,
}

/// A log has to be of the session that was asked for, and in its place: elsewhere it would not be located.
pub(super) fn check_identity(session: &SessionHeader, id: &SessionId, in_its_place: bool) -> Result<()> {
    if session.id != *id {
        return Err(damaged("the header is that of another session: the log was moved here; move it back"));
    }
    if !in_its_place {
        return Err(damaged(
            "the header says that the session was started for another directory: the log was moved here; move it back",
        ));
    }
    Ok(())
}

/// There is no such session.
pub(super) fn not_found() -> Error {
    Error::host(
        Code::SessionNotFound,
        "there is no session of that id: see the list of sessions, and which root is looked in",
    )
}

/// The same id in several projects.
pub(super) fn several_found() -> Error {
    Error::host(
        Code::SessionAmbiguous,
        "there are several sessions of that id: name the directory that the one was started for",
    )
}

/// The newest first; what cannot be read last.
pub(super) fn newest_first(sessions: &mut [ListedSession]) {
    // Ids made here grow with time, which decides within a millisecond.
    let key = |listed: &ListedSession| {
        listed.header.as_ref().ok().map(|header| (header.session.created_at, header.session.id.clone()))
    };
    sessions.sort_by_cached_key(|listed| std::cmp::Reverse(key(listed)));
}
