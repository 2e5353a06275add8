//! A socket that clients come to, and how many of them may be there at once.

use std::io::{self, Write as _};
use std::os::unix::net::UnixListener as StdListener;
use std::sync::Arc;
use std::time::Duration;

use tokio::net::{UnixListener, UnixStream};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::task::JoinSet;
use tokio::time::sleep;

use super::Shared;
use super::answers::line;
use super::limit::Limit;
use super::request::Refusal;
use super::role::Role;
use crate::error::{Code, Error, Result};

/// How long nobody is accepted after it failed: there are no descriptors left, most likely.
const PAUSE: Duration = Duration::from_millis(100);

/// A socket with its places.
#[derive(Debug)]
pub(super) struct Door {
    role: Role,
    listener: UnixListener,
    places: Arc<Semaphore>,
}

impl Door {
    /// A door for so many clients at once.
    ///
    /// # Errors
    /// `internal` where the runtime takes no sockets.
    pub(super) fn new(role: Role, listener: StdListener, most: usize) -> Result<Self> {
        let listener = UnixListener::from_std(listener).map_err(|error| {
            Error::host(Code::Internal, format!("the runtime does not take the {} socket ({error})", role.as_str()))
        })?;
        Ok(Self { role, listener, places: Arc::new(Semaphore::new(most)) })
    }

    /// Waits for a client for whom there is a place. Others are told that there is none. Nothing is lost when the
    /// future is dropped.
    pub(super) async fn next(&self, shared: &Shared) -> (UnixStream, OwnedSemaphorePermit) {
        loop {
            match self.listener.accept().await {
                Ok((stream, _)) => match Arc::clone(&self.places).try_acquire_owned() {
                    Ok(place) => return (stream, place),
                    Err(_) => self.refuse(stream, shared),
                },
                Err(error) => {
                    tracing::warn!(socket = self.role.as_str(), %error, "nobody can be accepted");
                    sleep(PAUSE).await;
                }
            }
        }
    }

    /// Serves a client, in a task of its own.
    pub(super) fn serve(
        &self,
        (stream, place): (UnixStream, OwnedSemaphorePermit),
        shared: &Arc<Shared>,
        connections: &mut JoinSet<()>,
    ) {
        let connection = shared.connection(self.role, false);
        let inside = shared.counter.connections.enter();
        let peer = stream.peer_cred().ok();
        let (process, user) = (peer.and_then(|peer| peer.pid()), peer.map(|peer| peer.uid()));
        tracing::debug!(connection = connection.number, socket = self.role.as_str(), process, user, "connected");
        connections.spawn(async move {
            let _counted = (inside, place);
            let (input, output) = stream.into_split();
            let number = connection.number;
            connection.serve(input, output).await;
            tracing::debug!(connection = number, "disconnected");
        });
    }

    fn refuse(&self, stream: UnixStream, shared: &Shared) {
        let limit = Limit::Connections;
        tracing::warn!(socket = self.role.as_str(), limit = limit.as_str(), "refused a connection");
        shared.counter.refused(limit);
        shared.counter.failed();
        let refusal = Refusal::over(limit, shared.options.connections);
        // What is written first has room in every socket, so that nobody waits.
        let told = stream.into_std().and_then(|mut stream: std::os::unix::net::UnixStream| {
            stream.write_all(&line(None, Err(refusal)))?;
            io::Result::Ok(())
        });
        if let Err(error) = told {
            tracing::debug!(%error, "who was refused could not be told");
        }
    }
}
