//! Where sessions are kept, and their logs.
//!
//! A [`Persistence`] service owns the logs of sessions and says where one is. Which service is current is
//! held by [`ActivePersistence`] and may change while the host runs. Nothing here knows of shells or
//! variables: what a command may know of a location is decided elsewhere.
//!
//! With the feature `sessions` a service is a `SessionStore` too, which reads and writes logs: a
//! [`LogHeader`], then one [`Event`] after another. `Session` is a session from its first event to its last.

mod event;
#[cfg(feature = "sessions")]
mod failure;
#[cfg(feature = "sessions")]
mod files;
mod header;
mod json;
mod jsonl;
mod layout;
#[cfg(feature = "sessions")]
mod lifecycle;
#[cfg(feature = "sessions")]
mod limits;
#[cfg(feature = "sessions")]
mod lock;
#[cfg(feature = "sessions")]
mod pending;
mod persistence;
mod root;
#[cfg(feature = "sessions")]
mod scan;
mod sqlite;
#[cfg(feature = "sessions")]
mod store;

pub use event::Event;
pub use header::{LOG_VERSION, LogHeader};
pub use jsonl::{Compression, JsonlPersistence};
#[cfg(feature = "sessions")]
pub use lifecycle::{NewSession, SUBAGENT, Session};
#[cfg(feature = "sessions")]
pub use limits::{MAX_LINE_BYTES, MAX_LOG_BYTES};
pub use persistence::{ActivePersistence, Backend, Location, LocationKind, Persistence};
pub use root::SessionsRoot;
pub use sqlite::SqlitePersistence;
#[cfg(feature = "sessions")]
pub use store::{ListedSession, Loaded, Project, Resumed, SessionLog, SessionStore};

#[cfg(test)]
pub(in crate::sessions) mod tests;
