//! A file of JSON lines for each session.

use super::layout;
use super::persistence::{Location, LocationKind, Persistence};
use super::root::SessionsRoot;
use crate::contract::SessionHeader;

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
}

/// Keeps each session in `<root>/<project>/<id>/session.jsonl`, or `session.jsonl.zstd`.
#[derive(Clone, Debug)]
pub struct JsonlPersistence {
    root: SessionsRoot,
    compression: Compression,
}

impl JsonlPersistence {
    /// Keeps sessions below `root`.
    #[must_use]
    pub fn new(root: SessionsRoot, compression: Compression) -> Self {
        Self { root, compression }
    }
}

impl Persistence for JsonlPersistence {
    fn locate(&self, header: &SessionHeader) -> Option<Location> {
        let mut path = self.root.path().to_path_buf();
        path.push(layout::project(header.cwd.as_deref()));
        path.push(layout::session(header.id.as_str()));
        path.push(self.compression.file_name());
        Some(Location { kind: LocationKind::Jsonl, path })
    }
}

#[cfg(feature = "sessions")]
impl super::SessionStore for JsonlPersistence {
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
