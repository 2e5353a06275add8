//! Asks a server that runs for the home, instead of composing a host for one command.
//!
//! It needs no runtime and starts no engine: one connection, one write, one read, which together take some tens of
//! microseconds. It believes nothing that comes back. Who answers is checked before anything is asked, how long and
//! how much an answer is has bounds, and a collection whose keys and values are not those that an environment may hold
//! is no collection.

mod answer;
mod checked;
mod connection;
mod folder;
mod question;

use std::io;
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::time::Duration;

use rustix::io::Errno;
use rustix::net::sockopt::{Timeout, set_socket_timeout};
use rustix::net::{AddressFamily, SocketAddrUnix, SocketFlags, SocketType, connect, socket_with};
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::contract::Execution;
use crate::error::{Code, Error, Result};
use crate::protocol::{Address, CollectResult, MAX_DEADLINE, Method};
use crate::registry::ListedVariable;
use crate::text::shown;
use connection::{Connection, Trouble};

/// The shortest time that a socket can wait for anything; none would be for ever.
const SHORTEST: Duration = Duration::from_millis(1);

/// How long an operator's method may take besides one's patience: a compilation, and others before it.
const OPERATION_TIME: Duration = Duration::from_secs(300);

/// What helps against a server that does not do what it should.
const RESTART: &str = "start it again, or end it: without one, commands collect for themselves";

/// A connection to a server.
///
/// After an answer that did not come, or was none, nothing more can be asked on it: the next answer could be one to
/// the question before.
#[derive(Debug)]
pub struct Client {
    connection: Connection,
    /// The socket, as messages name it.
    name: String,
    patience: Duration,
    is_lost: bool,
}

impl Client {
    /// Connects to the server whose socket is at `socket`, of any length. Nothing where none is: there is no such file,
    /// or nobody listens on it any more.
    ///
    /// `patience` is how long the server may take for everything but what it is asked: to take the connection, to read,
    /// to write.
    ///
    /// # Errors
    /// `server-unavailable` where the socket cannot be reached for another reason; where others may write to its
    /// folder; and where the one who answers is neither this user nor root nor the one whom the folder or the socket
    /// belongs to.
    pub fn connect(socket: &Path, patience: Duration) -> Result<Option<Self>> {
        let name = shown(&socket.display().to_string());
        let patience = patience.max(SHORTEST);
        let Some(stream) = open(socket, patience).map_err(|error| unreachable(&name, error))? else {
            return Ok(None);
        };
        folder::check(&stream, socket)
            .map_err(|why| unavailable(format!("the server on {name} is not trusted: {why}")))?;
        Ok(Some(Self { connection: Connection::new(stream), name, patience, is_lost: false }))
    }

    /// The overlay of an execution, which may take `deadline`, at most [`MAX_DEADLINE`]. What is answered is checked:
    /// keys follow the contract and are there once, values fit an environment, all of it has the size of an overlay, and
    /// what is `sensitive`, `unset` or `degraded` is so of valid keys. Everything in it is sorted.
    ///
    /// # Errors
    /// What the server says; `overlay-timeout` where it says nothing in time; `invalid-request` for an execution that is
    /// too large to be sent; `server-unavailable` where what comes back is no answer.
    pub fn collect(&mut self, execution: &Execution, deadline: Duration) -> Result<CollectResult> {
        let deadline = deadline.min(MAX_DEADLINE);
        let milliseconds = u64::try_from(deadline.as_millis()).ok();
        let parameters = Collect { execution, deadline_ms: milliseconds };
        let result = self.ask(Method::Collect, Some(&parameters), deadline, Code::OverlayTimeout)?;
        checked::collected(result, execution).map_err(|why| self.lost(&why))
    }

    /// Every variable that may be in an overlay. What is answered is checked, as with [`collect`](Self::collect).
    ///
    /// # Errors
    /// What the server says; `server-unavailable` where it says nothing in time, or what comes back is no answer.
    pub fn list(&mut self) -> Result<Vec<ListedVariable>> {
        let variables = self.ask(Method::List, None::<&()>, MAX_DEADLINE, Code::ServerUnavailable)?;
        checked::listed(variables).map_err(|why| self.lost(&why))
    }

    /// Calls a method, for operators. It may take five minutes: some compile. What is answered is as the server says,
    /// not checked.
    ///
    /// # Errors
    /// As [`list`](Self::list).
    pub fn call(&mut self, method: Method, parameters: Option<&impl Serialize>) -> Result<serde_json::Value> {
        self.ask(method, parameters, OPERATION_TIME, Code::ServerUnavailable)
    }

    fn ask<R: DeserializeOwned>(
        &mut self,
        method: Method,
        parameters: Option<&impl Serialize>,
        time: Duration,
        late: Code,
    ) -> Result<R> {
        if self.is_lost {
            return Err(unavailable(format!(
                "the connection to the server on {} is of no more use: connect again",
                self.name
            )));
        }
        let time = time.saturating_add(self.patience);
        match self.connection.exchange(method, parameters, time) {
            Ok(result) => Ok(result),
            Err(Trouble::Said(error)) => Err(error),
            Err(Trouble::Late) => {
                self.is_lost = true;
                let message = format!(
                    "the server on {} did not answer {} within {} ms: {RESTART}",
                    self.name,
                    method.as_str(),
                    time.as_millis()
                );
                Err(Error::host(late, message))
            }
            Err(Trouble::Lost(why)) => Err(self.lost(&why)),
        }
    }

    fn lost(&mut self, why: &str) -> Error {
        self.is_lost = true;
        unavailable(format!("the server on {} {why}: {RESTART}", self.name))
    }
}

/// [`CollectParameters`](crate::protocol::CollectParameters) without a copy of the execution.
#[derive(Serialize)]
struct Collect<'e> {
    execution: &'e Execution,
    #[serde(skip_serializing_if = "Option::is_none")]
    deadline_ms: Option<u64>,
}

/// Connects; nothing where no server is.
fn open(socket: &Path, patience: Duration) -> io::Result<Option<UnixStream>> {
    let address = match Address::of(socket) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        address => address?,
    };
    let stream = socket_with(AddressFamily::UNIX, SocketType::STREAM, SocketFlags::CLOEXEC, None)?;
    // Bounds also how long connecting may wait for a server that takes no connections.
    set_socket_timeout(&stream, Timeout::Send, Some(patience))?;
    let address = SocketAddrUnix::new(address.path())?;
    loop {
        match connect(&stream, &address) {
            Ok(()) => return Ok(Some(stream.into())),
            Err(Errno::NOENT | Errno::CONNREFUSED) => return Ok(None),
            Err(Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
    }
}

fn unreachable(name: &str, error: io::Error) -> Error {
    let what_to_do = match error.kind() {
        io::ErrorKind::WouldBlock => "it takes no further connections; wait, or start it again",
        io::ErrorKind::PermissionDenied => {
            "its socket is not for this user: let whoever runs it share it, or choose another --state-dir"
        }
        _ => "mend its folder, or choose another --state-dir",
    };
    unavailable(format!("the server on {name} cannot be reached ({error}): {what_to_do}"))
}

fn unavailable(message: String) -> Error {
    Error::host(Code::ServerUnavailable, message)
}

#[cfg(test)]
mod tests;
