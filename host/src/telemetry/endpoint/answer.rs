//! What is answered to which request.

use bytes::Bytes;
use http_body_util::Full;
use hyper::header::{ALLOW, CACHE_CONTROL, CONTENT_TYPE, HeaderName, HeaderValue, X_CONTENT_TYPE_OPTIONS};
use hyper::{Method, Response, StatusCode};
use serde::Serialize;

use crate::operations::Operations;
use crate::telemetry::METRICS_CONTENT_TYPE;

pub(super) type Reply = Response<Full<Bytes>>;

const JSON: &str = "application/json";
const TEXT: &str = "text/plain; charset=utf-8";

#[derive(Serialize)]
struct Alive {
    status: &'static str,
    version: &'static str,
}

/// What the host is asked.
pub(super) type Question = fn(&dyn Operations) -> Reply;

/// Where a request goes.
pub(super) enum Route {
    /// Nowhere: this is the answer.
    Answered(Reply),
    /// To the host.
    Asks(Question),
}

pub(super) fn route(method: &Method, path: &str) -> Route {
    let question: Option<Question> = match path {
        "/healthz" => None,
        "/metrics" => Some(metrics),
        "/readyz" => Some(readiness),
        _ => return Route::Answered(text(StatusCode::NOT_FOUND, "there are /metrics, /healthz and /readyz\n")),
    };
    if !matches!(*method, Method::GET | Method::HEAD) {
        let reply = text(StatusCode::METHOD_NOT_ALLOWED, "only GET and HEAD are answered\n");
        return Route::Answered(with(reply, ALLOW, "GET, HEAD"));
    }
    question.map_or_else(|| Route::Answered(liveness()), Route::Asks)
}

fn liveness() -> Reply {
    json(StatusCode::OK, &Alive { status: "ok", version: env!("CARGO_PKG_VERSION") })
}

fn metrics(operations: &dyn Operations) -> Reply {
    match operations.metrics() {
        Some(metrics) => reply(StatusCode::OK, METRICS_CONTENT_TYPE, metrics),
        None => text(StatusCode::NOT_FOUND, "no metrics are kept\n"),
    }
}

fn readiness(operations: &dyn Operations) -> Reply {
    let health = operations.health();
    json(if health.ready { StatusCode::OK } else { StatusCode::SERVICE_UNAVAILABLE }, &health)
}

/// The host did not say in time.
pub(super) fn late() -> Reply {
    text(StatusCode::SERVICE_UNAVAILABLE, "the host did not answer in time\n")
}

/// The host panicked when it was asked.
pub(super) fn broken() -> Reply {
    text(StatusCode::INTERNAL_SERVER_ERROR, "the host could not say\n")
}

fn json(status: StatusCode, body: &impl Serialize) -> Reply {
    match serde_json::to_string(body) {
        Ok(body) => reply(status, JSON, body + "\n"),
        Err(_) => broken(),
    }
}

fn text(status: StatusCode, body: &'static str) -> Reply {
    reply(status, TEXT, body)
}

fn reply(status: StatusCode, media_type: &'static str, body: impl Into<Bytes>) -> Reply {
    let mut reply = Response::new(Full::new(body.into()));
    *reply.status_mut() = status;
    let reply = with(reply, CONTENT_TYPE, media_type);
    let reply = with(reply, CACHE_CONTROL, "no-store");
    with(reply, X_CONTENT_TYPE_OPTIONS, "nosniff")
}

fn with(mut reply: Reply, name: HeaderName, value: &'static str) -> Reply {
    reply.headers_mut().insert(name, HeaderValue::from_static(value));
    reply
}
