//! Asking a host for overlays, and operating it, over sockets or over standard input and output.
//!
//! A [`Server`] has two sockets in the folder `run` of a host's state: whoever starts commands uses the one, the
//! operator the other, which answers everything. Who may connect is decided by the permissions of sockets and folder
//! alone. What is said is in [`protocol`](crate::protocol); `docs/server.md` tells it to those who write a client.
//!
//! Everything a client can make grow has a [`Limit`]; an answer that one is the reason of names it. One client is
//! never the reason that another waits, but where they share the processor and the host's own places for collections
//! and calls, which they get in the order in which they ask.
//!
//! A server hears no signals: a [`Stopper`] ends it, with patience at first.

mod activation;
mod answers;
mod connection;
mod counts;
mod door;
mod folder;
mod gauge;
mod limit;
mod lines;
mod lock;
mod long_lines;
mod methods;
mod notifier;
mod options;
mod request;
mod role;
mod socket;
mod standard_streams;
mod stopper;

use std::fmt;
use std::os::unix::net::UnixListener;
use std::sync::Arc;

use tokio::io::{AsyncRead, AsyncWrite};
use tokio::task::JoinSet;
use tokio::time::sleep;

pub use activation::{Activation, Listeners};
pub use counts::{Counter, ServerCounts};
pub use limit::Limit;
pub use notifier::Notifier;
pub use options::ServerOptions;
pub use role::Role;
pub use standard_streams::{Written, standard_streams};
pub use stopper::Stopper;

use crate::error::Result;
use crate::operations::Operations;
use connection::Connection;
use door::Door;
use folder::RunFolder;
use lock::Lock;
use long_lines::LongLines;
use methods::Methods;
use socket::OwnSocket;
use stopper::Phase;

/// A server that is ready to [run](Self::run). Its sockets take connections already.
#[derive(Debug)]
pub struct Server {
    shared: Arc<Shared>,
    source: Source,
}

/// What all connections share.
struct Shared {
    options: ServerOptions,
    methods: Methods,
    stopper: Stopper,
    counter: Counter,
    long_lines: LongLines,
}

/// Where clients come from.
enum Source {
    Sockets(Sockets),
    Streams(Box<dyn AsyncRead + Send + Unpin>, Box<dyn AsyncWrite + Send + Unpin>),
}

/// In the order in which they are dropped: the names go before the lock does.
struct Sockets {
    collect: UnixListener,
    admin: UnixListener,
    names: Vec<OwnSocket>,
    lock: Lock,
}

impl Server {
    /// A server on the two sockets of a host's state.
    ///
    /// # Errors
    /// `server-unavailable` where another server has the state, by its process id; `unsafe-permissions` where other
    /// users could come between.
    pub fn bind(options: ServerOptions, operations: Arc<dyn Operations>) -> Result<Self> {
        Self::from_listeners(options, operations, Listeners::default())
    }

    /// As [`bind`](Self::bind), with sockets that listen already in place of its own. Whoever made them decided who
    /// may connect, and removes them.
    ///
    /// # Errors
    /// As [`bind`](Self::bind); `invalid-configuration` for what is no such socket.
    pub fn from_listeners(
        options: ServerOptions,
        operations: Arc<dyn Operations>,
        mut given: Listeners,
    ) -> Result<Self> {
        let folder = Arc::new(RunFolder::open(&options.state_dir)?);
        let lock = Lock::take(&folder)?;
        let mut names = Vec::new();
        let mut listener = |role| match given.of(role)? {
            Some(listener) => Ok(listener),
            None => OwnSocket::bind(&folder, role).map(|(name, listener)| {
                names.push(name);
                listener
            }),
        };
        let (collect, admin) = (listener(Role::Collect)?, listener(Role::Admin)?);
        let source = Source::Sockets(Sockets { collect, admin, names, lock });
        Ok(Self { shared: Shared::new(options, operations), source })
    }

    /// A server for one client, who may ask for everything; the end of its input stops the server. Nothing is made in
    /// the state, and nobody is kept from serving it too.
    #[must_use]
    pub fn stdio(
        options: ServerOptions,
        operations: Arc<dyn Operations>,
        input: impl AsyncRead + Send + Unpin + 'static,
        output: impl AsyncWrite + Send + Unpin + 'static,
    ) -> Self {
        let source = Source::Streams(Box::new(input), Box::new(output));
        Self { shared: Shared::new(options, operations), source }
    }

    /// What ends it.
    #[must_use]
    pub fn stopper(&self) -> Stopper {
        self.shared.stopper.clone()
    }

    /// How it is doing, also while it runs.
    #[must_use]
    pub fn counter(&self) -> Counter {
        self.shared.counter.clone()
    }

    /// Serves until it is stopped, by a [`Stopper`] or by `host.shutdown`, and everything under way is answered.
    /// Needs a runtime with input, output and time.
    ///
    /// # Errors
    /// `internal` where the runtime takes no sockets.
    pub async fn run(self) -> Result<()> {
        let Self { shared, source } = self;
        let mut connections = JoinSet::new();
        let _lock = match source {
            Source::Sockets(sockets) => Some(shared.accept(sockets, &mut connections).await?),
            Source::Streams(input, output) => {
                shared.serve_one(input, output, &mut connections).await;
                None
            }
        };
        shared.drain(connections).await;
        Ok(())
    }
}

impl Shared {
    fn new(options: ServerOptions, operations: Arc<dyn Operations>) -> Arc<Self> {
        Arc::new(Self {
            methods: Methods::new(operations, options.collections.max(1)),
            long_lines: LongLines::new(options.long_lines_bytes),
            stopper: Stopper::new(),
            counter: Counter::default(),
            options,
        })
    }

    /// Takes clients until the server stops. Then clients find no server, rather than one that does not answer; the
    /// lock is kept until the last is answered.
    async fn accept(self: &Arc<Self>, sockets: Sockets, connections: &mut JoinSet<()>) -> Result<Lock> {
        let Sockets { collect, admin, names, lock } = sockets;
        let most = self.options.connections;
        let (collect, admin) = (Door::new(Role::Collect, collect, most)?, Door::new(Role::Admin, admin, most)?);
        tracing::info!(state = %self.options.state_dir.display(), "serving");
        self.options.notifier.ready();
        loop {
            tokio::select! {
                () = self.stopper.reached(Phase::Draining) => break,
                client = collect.next(self) => collect.serve(client, self, connections),
                client = admin.next(self) => admin.serve(client, self, connections),
                Some(_) = connections.join_next() => {}
            }
        }
        drop(names);
        Ok(lock)
    }

    /// Serves one client, until it or the server stops.
    async fn serve_one(
        self: &Arc<Self>,
        input: Box<dyn AsyncRead + Send + Unpin>,
        output: Box<dyn AsyncWrite + Send + Unpin>,
        connections: &mut JoinSet<()>,
    ) {
        let connection = self.connection(Role::Admin, true);
        let inside = self.counter.connections.enter();
        connections.spawn(async move {
            let _inside = inside;
            connection.serve(input, output).await;
        });
        self.options.notifier.ready();
        self.stopper.reached(Phase::Draining).await;
    }

    fn connection(self: &Arc<Self>, role: Role, is_only_one: bool) -> Connection {
        Connection { shared: Arc::clone(self), number: self.counter.accepted(), role, is_only_one }
    }

    /// Waits until everything is answered, the grace time is over or nobody has patience any more; then ends.
    async fn drain(&self, mut connections: JoinSet<()>) {
        self.options.notifier.stopping();
        tracing::info!(in_flight = self.counter.in_flight.now(), "stopping");
        tokio::select! {
            () = self.counter.in_flight.empty() => {}
            () = self.stopper.reached(Phase::Ending) => {}
            () = sleep(self.options.grace) => {
                tracing::warn!(in_flight = self.counter.in_flight.now(), "ends what is still under way");
            }
        }
        self.stopper.advance(Phase::Ending);
        while connections.join_next().await.is_some() {}
        tracing::info!("stopped");
    }
}

impl fmt::Debug for Shared {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Shared").field("options", &self.options).finish_non_exhaustive()
    }
}

impl fmt::Debug for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Sockets(_) => "Sockets",
            Self::Streams(..) => "Streams",
        })
    }
}

#[cfg(test)]
mod tests;
