//! What a server and its clients say to each other: JSON-RPC 2.0, one object a line.
//!
//! Both sides use these types, so they cannot disagree on them. `docs/server.md` tells the protocol to those who
//! write a client of their own, with an example of each message and a JSON Schema beside it.
//!
//! Parameters stay extensible: a server ignores those that it does not know. A result may get more fields.

mod address;
mod error;
mod limits;
mod method;
mod parameters;
mod results;

use std::path::{Path, PathBuf};

pub(crate) use address::Address;
pub use error::{ErrorData, ErrorObject, RpcCode};
pub use limits::{
    GRACE, LONG_LINE_BYTES, MAX_CHANGES, MAX_COLLECTIONS, MAX_CONNECTIONS, MAX_DEADLINE, MAX_HALF_MESSAGE_TIME,
    MAX_ID_BYTES, MAX_LINE_BYTES, MAX_LONG_LINES_BYTES, MAX_OPERATIONS, MAX_REPLY_BYTES, MAX_REQUESTS,
    MAX_SILENT_READER_TIME, MAX_VALUES, MAX_WAITING_ANSWER_BYTES,
};
pub use method::Method;
pub use parameters::{
    ApproveParameters, CollectParameters, ExplainParameters, FactParameters, NameParameters, RollbackParameters,
};
pub use results::{CollectResult, CollectedContributor, Env, HelloResult, LogResult, MetricsResult};

/// The version of JSON-RPC, as every message has it.
pub const JSONRPC: &str = "2.0";

/// The folder of the state in which the sockets are.
pub(crate) const RUN_FOLDER: &str = "run";

/// The socket for whoever starts commands.
pub(crate) const COLLECT_SOCKET: &str = "collect.sock";

/// The socket for whoever operates the host.
pub(crate) const ADMIN_SOCKET: &str = "admin.sock";

/// Where the socket is on which a host with this state answers whoever starts commands.
#[must_use]
pub fn collect_socket(state_dir: &Path) -> PathBuf {
    state_dir.join(RUN_FOLDER).join(COLLECT_SOCKET)
}

/// Where the socket is on which a host with this state answers its operator.
#[must_use]
pub fn admin_socket(state_dir: &Path) -> PathBuf {
    state_dir.join(RUN_FOLDER).join(ADMIN_SOCKET)
}

#[cfg(test)]
mod tests;
