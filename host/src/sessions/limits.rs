//! How long logs and their lines may be: what is read into memory has to end somewhere.

/// The most bytes of one line of a log, with its newline: 64 MiB, room for the largest output of a tool.
pub const MAX_LINE_BYTES: u64 = 64 * 1024 * 1024;

/// The most bytes of a log, not compressed: 1 GiB. A log that expands beyond is an attack or a mistake.
pub const MAX_LOG_BYTES: u64 = 1024 * 1024 * 1024;

/// The limits of one store; smaller ones in tests.
#[derive(Clone, Copy, Debug)]
pub(super) struct Limits {
    pub(super) line: u64,
    pub(super) log: u64,
}

impl Default for Limits {
    fn default() -> Self {
        Self { line: MAX_LINE_BYTES, log: MAX_LOG_BYTES }
    }
}
