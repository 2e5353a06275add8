//! A file of JSON lines for each session.

use std::path::PathBuf;

use super::layout;
#[cfg(feature = "sessions")]
use super::limits::Limits;
use super::persistence::{Location, LocationKind, Persistence};
use super::root::SessionsRoot;
use crate::contract::SessionHeader;

#[cfg(feature = "sessions")]
mod find;
#[cfg(feature = "sessions")]
mod frames;
#[cfg(feature = "sessions")]
mod log;
mod opened;
#[cfg(feature = "sessions")]
mod publish;
#[cfg(feature = "sessions")]
mod read;
#[cfg(feature = "sessions")]
mod store;

/// How the files are compressed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Compression {
    /// Not at all.
    None,
    /// With Zstandard: a log is text that repeats itself.
    #[default]
    Zstd,
}

impl Compression {
    /// Every way to compress.
    pub const ALL: &'static [Self] = &[Self::None, Self::Zstd];

    /// The word for it in configuration and on the command line.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Zstd => "zstd",
        }
    }

    fn file_name(self) -> &'static str {
        match self {
            Self::None => "session.jsonl",
            Self::Zstd => "session.jsonl.zstd",
        }
    }

    #[cfg(feature = "sessions")]
    fn other(self) -> Self {
        match self {
            Self::None => Self::Zstd,
            Self::Zstd => Self::None,
        }
    }
}

/// Keeps each session in `<root>/<project>/<id>/session.jsonl`, or `session.jsonl.zstd`.
///
/// A session that was begun under another setting for compression is found and goes on where it is, and is
/// located there while its log is open.
#[derive(Clone, Debug)]
pub struct JsonlPersistence {
    root: SessionsRoot,
    compression: Compression,
    opened: opened::OpenLogs,
    #[cfg(feature = "sessions")]
    limits: Limits,
}

impl JsonlPersistence {
    /// Keeps sessions below `root`.
    #[must_use]
    pub fn new(root: SessionsRoot, compression: Compression) -> Self {
        Self {
            root,
            compression,
            opened: opened::OpenLogs::default(),
            #[cfg(feature = "sessions")]
            limits: Limits::default(),
        }
    }

    /// The folder of one session.
    fn folder(&self, header: &SessionHeader) -> PathBuf {
        let mut path = self.root.path().to_path_buf();
        path.push(layout::project(header.cwd.as_deref()));
        path.push(layout::session(header.id.as_str()));
        path
    }
}

impl Persistence for JsonlPersistence {
    fn locate(&self, header: &SessionHeader) -> Option<Location> {
        let folder = self.folder(header);
        let compression = self.opened.get(&folder).unwrap_or(self.compression);
        Some(Location { kind: LocationKind::Jsonl, path: folder.join(compression.file_name()) })
    }
}

#[cfg(test)]
#[cfg(feature = "sessions")]
mod tests;
