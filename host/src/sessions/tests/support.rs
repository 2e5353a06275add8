//! The three stores that keep one promise, and what their tests need.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde_json::json;

use crate::contract::{SessionHeader, SessionId};
#[cfg(feature = "sqlite")]
use crate::sessions::SqlitePersistence;
use crate::sessions::limits::Limits;
use crate::sessions::{Compression, Event, JsonlPersistence, LogHeader, SessionLog, SessionStore, SessionsRoot};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::sessions) enum Kind {
    Plain,
    Zstd,
    #[cfg(feature = "sqlite")]
    Sqlite,
}

impl Kind {
    pub(in crate::sessions) const ALL: &'static [Self] = &[
        Self::Plain,
        Self::Zstd,
        #[cfg(feature = "sqlite")]
        Self::Sqlite,
    ];

    pub(in crate::sessions) fn name(self) -> String {
        format!("{self:?}")
    }

    pub(in crate::sessions) fn named(name: &str) -> Self {
        *Self::ALL.iter().find(|kind| kind.name() == name).unwrap()
    }

    /// Whether a session is a file.
    pub(in crate::sessions) fn has_files(self) -> bool {
        matches!(self, Self::Plain | Self::Zstd)
    }

    pub(in crate::sessions) fn store(self, root: &Path) -> Arc<dyn SessionStore> {
        self.store_with(root, Limits::default())
    }

    pub(in crate::sessions) fn store_with(self, root: &Path, limits: Limits) -> Arc<dyn SessionStore> {
        let root = SessionsRoot::new(root).unwrap();
        match self {
            Self::Plain => Arc::new(JsonlPersistence::new(root, Compression::None).with_limits(limits)),
            Self::Zstd => Arc::new(JsonlPersistence::new(root, Compression::Zstd).with_limits(limits)),
            #[cfg(feature = "sqlite")]
            Self::Sqlite => Arc::new(SqlitePersistence::new(root).with_limits(limits)),
        }
    }
}

/// Makes a test for each store of each function named.
macro_rules! for_every_store {
    ($($name:ident,)+) => {
        mod plain {
            $(#[test] fn $name() { super::$name(super::Kind::Plain) })+
        }
        mod zstd {
            $(#[test] fn $name() { super::$name(super::Kind::Zstd) })+
        }
        #[cfg(feature = "sqlite")]
        mod sqlite {
            $(#[test] fn $name() { super::$name(super::Kind::Sqlite) })+
        }
    };
}
pub(in crate::sessions) use for_every_store;

/// A root that does not exist yet, in a folder that is gone after the test.
pub(in crate::sessions) struct Place(tempfile::TempDir);

impl Place {
    pub(in crate::sessions) fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    pub(in crate::sessions) fn root(&self) -> PathBuf {
        self.0.path().join("sessions")
    }
}

pub(in crate::sessions) fn id(text: &str) -> SessionId {
    SessionId::new(text).unwrap()
}

pub(in crate::sessions) fn header(text: &str, cwd: Option<&str>) -> LogHeader {
    LogHeader::new(SessionHeader {
        created_at: Some(1_700_000_000_000),
        cwd: cwd.map(str::to_owned),
        delegation_depth: Some(0),
        ..SessionHeader::new(id(text))
    })
}

/// An event that differs from every other.
pub(in crate::sessions) fn event(seq: usize) -> Event {
    let fields = json!({ "text": format!("line {seq}: ü\n漢"), "nested": { "number": seq } });
    Event {
        seq: seq as u64,
        kind: "user/message".to_owned(),
        at: 1_700_000_000_000 + seq as u64,
        fields: fields.as_object().unwrap().clone(),
    }
}

pub(in crate::sessions) fn events(count: usize) -> Vec<Event> {
    (0..count).map(event).collect()
}

pub(in crate::sessions) fn append(log: &mut dyn SessionLog, events: &[Event]) {
    for event in events {
        log.append(event).unwrap();
    }
}

/// A new session with some events, flushed and closed.
pub(in crate::sessions) fn keep(store: &dyn SessionStore, header: &LogHeader, count: usize) {
    let mut log = store.create(header).unwrap();
    append(log.as_mut(), &events(count));
    log.flush().unwrap();
}

/// Numbers that look random and are the same in every run.
pub(in crate::sessions) struct Numbers(pub(in crate::sessions) u64);

impl Numbers {
    pub(in crate::sessions) fn below(&mut self, limit: u64) -> u64 {
        // xorshift64*
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        (self.0.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 33) % limit
    }

    /// Text that does not compress well.
    pub(in crate::sessions) fn text(&mut self, length: usize) -> String {
        (0..length).map(|_| char::from(b' ' + u8::try_from(self.below(95)).unwrap())).collect()
    }
}
