//! What bounds a conversation. An answer that a limit is the reason of names it.

use std::time::Duration;

/// The most bytes of a line, without its end, unless told otherwise.
///
/// An execution has a few hundred bytes. The largest that is valid, with 8 texts and 128 extensions of a name and a
/// value, each of 32 KiB, has over 8 MiB: one that is larger than this can be collected without a server only.
pub const MAX_LINE_BYTES: usize = 4 * 1024 * 1024;

/// A longer line takes part in [`MAX_LONG_LINES_BYTES`]. Lines as they are in practice do not.
pub const LONG_LINE_BYTES: usize = 8 * 1024;

/// The most bytes of all long lines together that a server holds, those that are not complete and those that are not
/// answered. Without it, every connection could make a server hold the longest line there is.
pub const MAX_LONG_LINES_BYTES: usize = 64 * 1024 * 1024;

/// The most values in one line: objects, arrays, texts, numbers and so on. The largest valid execution has some 400.
/// What few bytes of JSON become in memory can be a hundred times as large, so bytes alone do not bound it.
pub const MAX_VALUES: usize = 8192;

/// The most bytes of a request's id, if it is a text. It is kept until the answer is written.
pub const MAX_ID_BYTES: usize = 256;

/// The most connections of one socket, unless told otherwise. Each socket has its own, so that no crowd on the one
/// keeps the operator from the other.
pub const MAX_CONNECTIONS: usize = 256;

/// The most requests of one connection whose answers it has not taken yet, unless told otherwise. A server reads no
/// further line until one of them is out of the way.
pub const MAX_REQUESTS: usize = 64;

/// The most bytes of answers that wait for the reader of one connection.
pub const MAX_WAITING_ANSWER_BYTES: usize = 8 * 1024 * 1024;

/// The longest that a collection may take, and the default.
pub const MAX_DEADLINE: Duration = Duration::from_secs(5);

/// How long a client may take nothing of the answers that wait for it.
pub const MAX_SILENT_READER_TIME: Duration = Duration::from_secs(30);

/// How long a line may take from its first byte to its end.
pub const MAX_HALF_MESSAGE_TIME: Duration = Duration::from_secs(60);

/// The most collections that run at once, over all connections; further ones wait as long as they may take. More than
/// [`MAX_REQUESTS`], so that no connection has all of them, and fewer than a registry makes at once.
pub const MAX_COLLECTIONS: usize = 128;

/// The most methods of the operator that run at once, over all connections; further ones wait.
pub const MAX_OPERATIONS: usize = 8;

/// The most of these that change something, and may take as long as a compilation: fewer, so that one can always ask
/// how the host is.
pub const MAX_CHANGES: usize = 4;

/// How long what is under way may go on when a server stops, unless told otherwise.
pub const GRACE: Duration = Duration::from_secs(10);

/// The most bytes of an answer that a client takes.
pub const MAX_REPLY_BYTES: usize = 16 * 1024 * 1024;
