//! Metrics and health over HTTP: `/metrics`, `/healthz` and `/readyz`, for GET and HEAD and nothing else. Nothing
//! that is asked here changes anything.
//!
//! A connection is for one request and for five seconds, whatever its client does, and there are at most 32; more
//! wait in the kernel's queue. There is no access control: whoever reaches the address reads it, so that it belongs
//! on the loopback interface or behind something that has one.

mod answer;

use std::convert::Infallible;
use std::future::Future;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::task::JoinSet;

use crate::error::{Code, Error, Result};
use crate::operations::Operations;
use answer::{Reply, Route};

/// How many connections are open at once: those who scrape are few.
const MAX_CONNECTIONS: usize = 32;

/// How many of them ask the host at once. One that hangs is asked no more often, and `/healthz` needs no host.
const MAX_ASKING: usize = 8;

/// How long a connection may take from the first byte to the last.
const CONNECTION_TIME: Duration = Duration::from_secs(5);

/// How long the host may take to answer: less than its connection has.
const ANSWER_TIME: Duration = Duration::from_secs(4);

/// The most bytes of a request's line and headers; hyper takes no less.
const MAX_REQUEST_BYTES: usize = 8 * 1024;

/// The most headers of a request.
const MAX_HEADERS: usize = 64;

/// How long to wait where a connection could not be accepted, such as for want of descriptors.
const PAUSE: Duration = Duration::from_millis(100);

/// Answers on one address.
pub struct HttpEndpoint {
    listener: TcpListener,
    address: SocketAddr,
    host: Host,
}

/// Who is asked.
#[derive(Clone)]
struct Host {
    operations: Arc<dyn Operations>,
    places: Arc<Semaphore>,
}

impl HttpEndpoint {
    /// Listens. Connections wait until it [runs](Self::run).
    ///
    /// # Errors
    /// `invalid-configuration` where nobody can listen on the address: it is in use, or not this machine's.
    pub async fn bind(address: SocketAddr, operations: Arc<dyn Operations>) -> Result<Self> {
        let refused = |error: std::io::Error| {
            let message = format!("nothing can listen on {address} for metrics ({error}): choose another address");
            Error::host(Code::InvalidConfiguration, message)
        };
        let listener = TcpListener::bind(address).await.map_err(refused)?;
        let address = listener.local_addr().map_err(refused)?;
        let host = Host { operations, places: Arc::new(Semaphore::new(MAX_ASKING)) };
        Ok(Self { listener, address, host })
    }

    /// Where it listens, with the port that it was given where it asked for any.
    #[must_use]
    pub fn local_addr(&self) -> SocketAddr {
        self.address
    }

    /// Answers until `stop` is ready, and then those who are connected, for five seconds at most.
    pub async fn run(self, stop: impl Future<Output = ()>) {
        let places = Arc::new(Semaphore::new(MAX_CONNECTIONS));
        let mut connections = JoinSet::new();
        let mut stop = std::pin::pin!(stop);
        loop {
            let next = async {
                let place = Arc::clone(&places).acquire_owned().await.ok()?;
                match self.listener.accept().await {
                    Ok((stream, _)) => Some((stream, place)),
                    Err(error) => {
                        tracing::debug!(%error, "a connection for metrics could not be accepted");
                        tokio::time::sleep(PAUSE).await;
                        None
                    }
                }
            };
            tokio::select! {
                () = &mut stop => break,
                Some(_ended) = connections.join_next(), if !connections.is_empty() => {}
                accepted = next => if let Some((stream, place)) = accepted {
                    connections.spawn(serve(stream, place, self.host.clone()));
                },
            }
        }
        drop(self.listener);
        while connections.join_next().await.is_some() {}
    }
}

impl std::fmt::Debug for HttpEndpoint {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("HttpEndpoint").field("address", &self.address).finish_non_exhaustive()
    }
}

async fn serve(stream: TcpStream, place: OwnedSemaphorePermit, host: Host) {
    let service = service_fn(|request| answer(request, host.clone()));
    let connection = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(CONNECTION_TIME)
        .keep_alive(false)
        .max_buf_size(MAX_REQUEST_BYTES)
        .max_headers(MAX_HEADERS)
        .serve_connection(TokioIo::new(stream), service);
    if let Ok(Err(error)) = tokio::time::timeout(CONNECTION_TIME, connection).await {
        tracing::debug!(%error, "a connection for metrics broke");
    }
    drop(place);
}

async fn answer(request: hyper::Request<Incoming>, host: Host) -> Result<Reply, Infallible> {
    Ok(match answer::route(request.method(), request.uri().path()) {
        Route::Answered(reply) => reply,
        Route::Asks(question) => {
            tokio::time::timeout(ANSWER_TIME, host.ask(question)).await.unwrap_or_else(|_| answer::late())
        }
    })
}

impl Host {
    /// Asks on a thread on which the host may wait. It is not asked again there until it has answered, even if nobody
    /// waits for that any more.
    async fn ask(self, question: answer::Question) -> Reply {
        let Ok(place) = self.places.acquire_owned().await else { return answer::broken() };
        let asked = tokio::task::spawn_blocking(move || {
            let reply = question(&*self.operations);
            drop(place);
            reply
        });
        asked.await.unwrap_or_else(|_| answer::broken())
    }
}
