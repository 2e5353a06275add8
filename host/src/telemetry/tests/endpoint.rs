use std::io::{Read as _, Write as _};
use std::net::{Ipv4Addr, Shutdown, SocketAddr, TcpStream};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex};
use std::thread;
use std::time::Duration;

use serde_json::{Value, json};
use tokio::sync::oneshot;

use super::metrics::Scraped;
use super::support::{Told, WORDS, Watched, assert_discreet};
use crate::contract::Key;
use crate::error::{Code, Error, Result};
use crate::operations::{ContributorStatus, Health, Operations};
use crate::registry::{OnFailure, Registry};
use crate::telemetry::{HttpEndpoint, METRICS_CONTENT_TYPE, Metrics};

/// Longer than anything takes, and short of for ever.
const PATIENCE: Duration = Duration::from_secs(30);

/// A host that answers as it is told.
struct Answering {
    watched: Watched,
    metrics: Metrics,
    health: Mutex<Health>,
    /// While it is set, whoever asks waits.
    hangs: Mutex<bool>,
    goes_on: Condvar,
    asked: AtomicUsize,
    panics: AtomicBool,
}

impl Answering {
    fn new(watched: Watched, health: Health) -> Arc<Self> {
        Arc::new(Self {
            metrics: Metrics::new(&watched.activity),
            watched,
            health: Mutex::new(health),
            hangs: Mutex::default(),
            goes_on: Condvar::new(),
            asked: AtomicUsize::new(0),
            panics: AtomicBool::new(false),
        })
    }

    fn well() -> Arc<Self> {
        Self::new(Watched::new(), Health { ready: true, ..Health::default() })
    }

    fn hang(&self, hangs: bool) {
        *self.hangs.lock().unwrap() = hangs;
        self.goes_on.notify_all();
    }
}

impl Operations for Answering {
    fn registry(&self) -> &Registry {
        &self.watched.registry
    }

    fn health(&self) -> Health {
        self.asked.fetch_add(1, Ordering::SeqCst);
        assert!(!self.panics.load(Ordering::SeqCst), "it was told to");
        drop(self.goes_on.wait_while(self.hangs.lock().unwrap(), |hangs| *hangs).unwrap());
        self.health.lock().unwrap().clone()
    }

    fn metrics(&self) -> Option<String> {
        Some(self.metrics.text())
    }

    fn statuses(&self) -> Vec<ContributorStatus> {
        unreachable!("an endpoint never asks it")
    }

    fn approve(&self, _: &str, _: &str) -> Result<ContributorStatus> {
        unreachable!("an endpoint never changes anything")
    }

    fn rollback(&self, _: &str, _: Option<&str>) -> Result<ContributorStatus> {
        unreachable!("an endpoint never changes anything")
    }

    fn reload(&self, _: &str) -> Result<ContributorStatus> {
        unreachable!("an endpoint never changes anything")
    }

    fn forget(&self, _: &str) -> Result<ContributorStatus> {
        unreachable!("an endpoint never changes anything")
    }

    fn put_fact(&self, _: &str, _: String, _: Duration) -> Result<()> {
        unreachable!("an endpoint never changes anything")
    }

    fn explain(&self, _: &str, _: &Key) -> Option<Value> {
        unreachable!("an endpoint never asks it")
    }

    fn activity(&self) -> Value {
        unreachable!("an endpoint never asks it")
    }

    fn log(&self, _: &str) -> Result<String> {
        unreachable!("an endpoint never asks it")
    }
}

/// An endpoint that runs on a thread of its own until it is dropped.
struct Running {
    address: SocketAddr,
    stop: Option<oneshot::Sender<()>>,
    thread: Option<thread::JoinHandle<()>>,
}

impl Running {
    fn start(host: Arc<Answering>) -> Self {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let any = SocketAddr::from((Ipv4Addr::LOCALHOST, 0));
        let endpoint = runtime.block_on(HttpEndpoint::bind(any, host)).unwrap();
        let address = endpoint.local_addr();
        let (stop, stopped) = oneshot::channel::<()>();
        let thread = thread::spawn(move || {
            runtime.block_on(endpoint.run(async { drop(stopped.await) }));
            runtime.shutdown_background();
        });
        Self { address, stop: Some(stop), thread: Some(thread) }
    }

    fn connect(&self) -> TcpStream {
        let stream = TcpStream::connect(self.address).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        stream
    }

    /// What comes back for these bytes.
    fn answer_to(&self, bytes: &[u8]) -> String {
        let mut stream = self.connect();
        stream.write_all(bytes).unwrap();
        rest_of(&mut stream)
    }

    fn ask(&self, method: &str, path: &str) -> Reply {
        Reply::read(&self.answer_to(format!("{method} {path} HTTP/1.1\r\nHost: h\r\n\r\n").as_bytes()))
    }

    fn get(&self, path: &str) -> Reply {
        self.ask("GET", path)
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        drop(self.stop.take());
        let _ = self.thread.take().unwrap().join();
    }
}

/// Everything until the end, or until the other side breaks the connection.
fn rest_of(stream: &mut TcpStream) -> String {
    let mut bytes = Vec::new();
    match stream.read_to_end(&mut bytes) {
        Err(error) if error.kind() != std::io::ErrorKind::ConnectionReset => panic!("{error}"),
        _ => String::from_utf8(bytes).unwrap(),
    }
}

#[derive(Debug)]
struct Reply {
    status: u16,
    headers: String,
    body: String,
}

impl Reply {
    fn read(text: &str) -> Self {
        let (head, body) = text.split_once("\r\n\r\n").unwrap_or_else(|| panic!("{text:?} is no reply"));
        let (line, headers) = head.split_once("\r\n").unwrap();
        let status = line.strip_prefix("HTTP/1.1 ").unwrap()[..3].parse().unwrap();
        Self { status, headers: headers.to_owned(), body: body.to_owned() }
    }

    fn header(&self, name: &str) -> Option<&str> {
        let is_meant = |line: &&str| line.split_once(": ").is_some_and(|(known, _)| known.eq_ignore_ascii_case(name));
        self.headers.lines().find(is_meant).map(|line| line.split_once(": ").unwrap().1)
    }

    fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap()
    }
}

#[test]
fn metrics_are_scraped_over_http() {
    let host = Answering::new(Watched::new().with(Told::answering("good")), Health::default());
    host.watched.collect().unwrap();
    let endpoint = Running::start(host);
    let reply = endpoint.get("/metrics");
    assert_eq!((reply.status, reply.header("content-type")), (200, Some(METRICS_CONTENT_TYPE)));
    assert_eq!(Scraped::read(&reply.body).get("dsh_env_collections_total", &[("outcome", "ok")]), Some(1.0));
    assert_discreet(reply.body.as_bytes());
    assert_eq!(endpoint.get("/metrics?name=value").status, 200);
}

#[test]
fn head_is_answered_with_the_headers_alone() {
    let endpoint = Running::start(Answering::well());
    for path in ["/metrics", "/healthz", "/readyz"] {
        let (whole, head) = (endpoint.get(path), endpoint.ask("HEAD", path));
        assert_eq!((head.status, head.body.as_str()), (200, ""), "{path}");
        assert_eq!(head.header("content-type"), whole.header("content-type"), "{path}");
        assert_eq!(head.header("content-length"), whole.header("content-length"), "{path}");
    }
    assert_eq!(endpoint.ask("HEAD", "/nothing").status, 404);
}

#[test]
fn other_methods_are_refused_and_change_nothing() {
    let endpoint = Running::start(Answering::well());
    for path in ["/metrics", "/healthz", "/readyz"] {
        for method in ["POST", "PUT", "DELETE", "PATCH", "OPTIONS", "TRACE", "BREW"] {
            let reply = endpoint.ask(method, path);
            assert_eq!((reply.status, reply.header("allow")), (405, Some("GET, HEAD")), "{method} {path}");
        }
    }
    let reply = endpoint.answer_to(b"POST /metrics HTTP/1.1\r\nHost: h\r\nContent-Length: 4\r\n\r\nbody");
    assert_eq!(Reply::read(&reply).status, 405);
}

#[test]
fn nothing_else_is_there() {
    let endpoint = Running::start(Answering::well());
    for path in
        ["/", "/metrics/", "//metrics", "/METRICS", "/metrics/../healthz", "/%6detrics", "/readyz/x", "/debug/pprof"]
    {
        let reply = endpoint.get(path);
        assert_eq!(reply.status, 404, "{path}");
        assert!(reply.body.contains("/metrics, /healthz and /readyz"), "{reply:?}");
    }
    assert_eq!(endpoint.ask("POST", "/nothing").status, 404);
}

#[test]
fn garbage_is_refused_and_harms_nobody() {
    let endpoint = Running::start(Answering::well());
    let long = format!("GET /{} HTTP/1.1\r\nHost: h\r\n\r\n", "x".repeat(100_000));
    let many = format!("GET /metrics HTTP/1.1\r\n{}\r\n", "A: b\r\n".repeat(1000));
    let garbage: [&[u8]; 7] = [
        b"\r\n\r\n\r\n",
        b"hello\r\n\r\n",
        b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\r\n\r\n",
        b"GET /metrics HTTP/9.9\r\n\r\n",
        b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
        long.as_bytes(),
        many.as_bytes(),
    ];
    for bytes in garbage {
        let mut stream = endpoint.connect();
        // It may be refused before all of it is written.
        let _ = stream.write_all(bytes);
        let _ = stream.shutdown(Shutdown::Write);
        let answer = rest_of(&mut stream);
        let refused = answer.is_empty() || answer.starts_with("HTTP/1.1 4") || answer.starts_with("HTTP/1.1 5");
        assert!(refused, "{answer}");
    }
    assert_eq!(endpoint.get("/healthz").status, 200);
}

#[test]
fn a_client_that_says_nothing_is_left_and_keeps_nobody_out() {
    let endpoint = Running::start(Answering::well());
    let mut silent: Vec<_> = (0..31).map(|_| endpoint.connect()).collect();
    let mut half = endpoint.connect();
    half.write_all(b"GET /metr").unwrap();
    silent.push(half);
    // More than are open at once: these wait until the others are left.
    let answers: Vec<_> = thread::scope(|scope| {
        let asking: Vec<_> = (0..8).map(|_| scope.spawn(|| endpoint.get("/healthz").status)).collect();
        asking.into_iter().map(|thread| thread.join().unwrap()).collect()
    });
    assert_eq!(answers, [200; 8]);
    for mut stream in silent {
        let answer = rest_of(&mut stream);
        assert!(answer.is_empty() || answer.starts_with("HTTP/1.1 408"), "{answer}");
    }
}

#[test]
fn many_clients_at_once_are_all_answered() {
    let endpoint = Running::start(Answering::well());
    thread::scope(|scope| {
        for number in 0..100 {
            let endpoint = &endpoint;
            scope.spawn(move || {
                let path = ["/metrics", "/healthz", "/readyz"][number % 3];
                assert_eq!(endpoint.get(path).status, 200);
            });
        }
    });
}

#[test]
fn a_host_that_is_not_ready_says_why_and_is_alive() {
    let problem = Error::host(Code::InvalidConfiguration, "the configuration cannot be read: mend line 3");
    let health = Health { ready: false, problems: vec![problem], unwell: vec!["required-one".to_owned()] };
    let endpoint = Running::start(Answering::new(Watched::new(), health));
    let reply = endpoint.get("/readyz");
    assert_eq!((reply.status, reply.header("content-type")), (503, Some("application/json")));
    let said = reply.json();
    assert_eq!(said["ready"], json!(false));
    assert_eq!(said["problems"][0]["code"], json!("invalid-configuration"));
    assert!(said["problems"][0]["message"].as_str().unwrap().contains("mend line 3"));
    assert_eq!(said["unwell"], json!(["required-one"]));
    let reply = endpoint.get("/healthz");
    assert_eq!((reply.status, &reply.json()["status"]), (200, &json!("ok")));
}

#[test]
fn a_broken_contributor_is_named_and_makes_nothing_unwell() {
    let watched = Watched::new().under(Told::failing("broken", Code::Trap), OnFailure::Omit);
    watched.collect().unwrap();
    let health = Health { ready: true, unwell: vec!["broken".to_owned()], ..Health::default() };
    let endpoint = Running::start(Answering::new(watched, health));
    assert_eq!(endpoint.get("/healthz").status, 200);
    let reply = endpoint.get("/readyz");
    assert_eq!((reply.status, &reply.json()["unwell"]), (200, &json!(["broken"])));
    assert!(!reply.body.contains(WORDS));
}

#[test]
fn a_host_that_hangs_is_alive_and_not_ready_and_asked_no_more_than_a_few_times() {
    let host = Answering::well();
    let endpoint = Running::start(Arc::clone(&host));
    host.hang(true);
    let statuses: Vec<_> = thread::scope(|scope| {
        let asking: Vec<_> = (0..20).map(|_| scope.spawn(|| endpoint.get("/readyz").status)).collect();
        assert_eq!(endpoint.get("/healthz").status, 200);
        asking.into_iter().map(|thread| thread.join().unwrap()).collect()
    });
    assert_eq!(statuses, [503; 20]);
    assert_eq!(host.asked.load(Ordering::SeqCst), 8);
    assert_eq!(endpoint.get("/healthz").status, 200);
    host.hang(false);
    assert_eq!(endpoint.get("/readyz").status, 200);
}

#[test]
fn a_host_that_panics_when_it_is_asked_is_still_alive() {
    let host = Answering::well();
    let endpoint = Running::start(Arc::clone(&host));
    host.panics.store(true, Ordering::SeqCst);
    assert_eq!(endpoint.get("/readyz").status, 500);
    assert_eq!(endpoint.get("/healthz").status, 200);
    host.panics.store(false, Ordering::SeqCst);
    assert_eq!(endpoint.get("/readyz").status, 200);
}

#[test]
fn an_address_that_is_taken_is_refused() {
    let endpoint = Running::start(Answering::well());
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let error = runtime.block_on(HttpEndpoint::bind(endpoint.address, Answering::well())).unwrap_err();
    assert_eq!(error.code(), Code::InvalidConfiguration);
    assert!(error.message().contains(&endpoint.address.to_string()) && error.message().contains("choose another"));
}

#[test]
fn who_is_connected_when_it_ends_is_answered() {
    let mut endpoint = Running::start(Answering::well());
    let mut stream = endpoint.connect();
    stream.write_all(b"GET /healthz HTTP/1.1\r\n").unwrap();
    // Answered after the other, which is therefore accepted.
    assert_eq!(endpoint.get("/healthz").status, 200);
    drop(endpoint.stop.take());
    stream.write_all(b"Host: h\r\n\r\n").unwrap();
    assert_eq!(Reply::read(&rest_of(&mut stream)).status, 200);
    endpoint.thread.take().unwrap().join().unwrap();
    assert!(TcpStream::connect(endpoint.address).is_err());
    endpoint.thread = Some(thread::spawn(|| {}));
}
