//! What a server is told when it is made.

use std::path::PathBuf;
use std::time::Duration;

use super::Notifier;
use crate::protocol::{
    GRACE, MAX_COLLECTIONS, MAX_CONNECTIONS, MAX_HALF_MESSAGE_TIME, MAX_LINE_BYTES, MAX_LONG_LINES_BYTES, MAX_REQUESTS,
    MAX_SILENT_READER_TIME, MAX_WAITING_ANSWER_BYTES,
};

/// Where a server is, and what bounds its clients.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct ServerOptions {
    /// The host's state, in whose folder `run` the sockets are.
    pub state_dir: PathBuf,
    /// The most connections of one socket.
    pub connections: usize,
    /// The most requests of one connection whose answers it has not taken yet.
    pub requests: usize,
    /// The most bytes of a line, without its end.
    pub line_bytes: usize,
    /// The most bytes of all long lines together, those that are not complete and those that are not answered.
    pub long_lines_bytes: usize,
    /// The most bytes of answers that wait for the reader of one connection.
    pub waiting_answer_bytes: usize,
    /// The most collections that run at once, over all connections.
    pub collections: usize,
    /// How long a client may take nothing of the answers that wait for it.
    pub silent_reader: Duration,
    /// How long a line may take from its first byte to its end.
    pub half_message: Duration,
    /// How long what is under way may go on when the server stops.
    pub grace: Duration,
    /// Who is told that the server began and ends.
    pub notifier: Notifier,
}

impl ServerOptions {
    /// The defaults, for a host with this state.
    #[must_use]
    pub fn new(state_dir: impl Into<PathBuf>) -> Self {
        Self {
            state_dir: state_dir.into(),
            connections: MAX_CONNECTIONS,
            requests: MAX_REQUESTS,
            line_bytes: MAX_LINE_BYTES,
            long_lines_bytes: MAX_LONG_LINES_BYTES,
            waiting_answer_bytes: MAX_WAITING_ANSWER_BYTES,
            collections: MAX_COLLECTIONS,
            silent_reader: MAX_SILENT_READER_TIME,
            half_message: MAX_HALF_MESSAGE_TIME,
            grace: GRACE,
            notifier: Notifier::default(),
        }
    }
}
