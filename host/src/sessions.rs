//! Where sessions are kept.
//!
//! A [`Persistence`] service owns the logs of sessions and says where one is. Which service is current is
//! held by [`ActivePersistence`] and may change while the host runs. Nothing here knows of shells or
//! variables: what a command may know of a location is decided elsewhere.

mod jsonl;
mod layout;
mod persistence;
mod root;
mod sqlite;

pub use jsonl::{Compression, JsonlPersistence};
pub use persistence::{ActivePersistence, Backend, Location, LocationKind, Persistence};
pub use root::SessionsRoot;
pub use sqlite::SqlitePersistence;

#[cfg(test)]
mod tests;
