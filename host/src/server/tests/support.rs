//! A host that is nothing but a registry and a diary, a server for it, and a client.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Condvar, Mutex};
use std::time::Duration;

use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::net::UnixStream;
use tokio::net::unix::{OwnedReadHalf, OwnedWriteHalf};
use tokio::task::JoinHandle;
use tokio::time::timeout;

use crate::contract::{Binding, Contributor, Deadline, Declaration, Execution, Failure, Key};
use crate::error::{Code, Error, Result};
use crate::home::{Home, Surroundings};
use crate::operations::{ContributorStatus, Health, Operations, State};
use crate::protocol::{Address, admin_socket, collect_socket};
use crate::registry::{Registration, Registry, Terms};
use crate::server::{Counter, Server, ServerOptions, Stopper};

/// Longer than anything takes here that goes well.
pub(super) const LONG: Duration = Duration::from_secs(60);

/// A build that nothing but this is known of.
pub(super) const DIGEST: &str = "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef";

/// Holds up whoever comes, until it is opened.
#[derive(Clone, Default)]
pub(super) struct Gate(Arc<(Mutex<(bool, usize)>, Condvar)>);

impl Gate {
    pub(super) fn open(&self) {
        self.0.0.lock().unwrap().0 = true;
        self.0.1.notify_all();
    }

    /// How many have come so far.
    pub(super) fn came(&self) -> usize {
        self.0.0.lock().unwrap().1
    }

    /// Waits until so many have come.
    pub(super) async fn wait_for(&self, many: usize) {
        eventually(|| self.came() >= many).await;
    }

    /// Comes to the gate, and goes on when it is open or nobody wants it any more.
    fn pass(&self, is_wanted: impl Fn() -> bool) {
        let mut state = self.0.0.lock().unwrap();
        state.1 += 1;
        while !state.0 && is_wanted() {
            state = self.0.1.wait_timeout(state, Duration::from_millis(20)).unwrap().0;
        }
    }
}

/// Waits until it is so.
pub(super) async fn eventually(is_so: impl Fn() -> bool) {
    let waiting = async {
        while !is_so() {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    timeout(LONG, waiting).await.expect("it should be so by now");
}

/// Says what it was asked, and does what the name of the tool says.
struct Echo(Gate);

impl Contributor for Echo {
    fn declare(&self) -> Declaration {
        Declaration::new("echo")
            .variable("DSH_ECHO", "The call id.")
            .variable("DSH_ECHO_LARGE", "Much.")
            .variable("DSH_ECHO_ROOT", "The root call id.")
            .sensitive_variable("DSH_ECHO_TOKEN", "A secret.")
    }

    fn resolve(&self, execution: &Execution, deadline: &Deadline) -> Result<Vec<Binding>, Failure> {
        match execution.tool.as_str() {
            "slow" => self.0.pass(|| deadline.check().is_ok()),
            "fail" => return Err(Failure::guest("no such luck")),
            _ => {}
        }
        deadline.check()?;
        let mut said = vec![
            Binding::new("DSH_ECHO", execution.call_id.clone()),
            Binding::new("DSH_ECHO_ROOT", execution.root_call_id.clone()),
            Binding::new("DSH_ECHO_TOKEN", "hunter2"),
        ];
        if execution.tool == "large" {
            said.push(Binding::new("DSH_ECHO_LARGE", "x".repeat(30_000)));
        }
        Ok(said)
    }

    fn digest(&self) -> Option<&str> {
        Some(DIGEST)
    }
}

/// Fails, and an operator said that this is all right.
struct Degraded;

impl Contributor for Degraded {
    fn declare(&self) -> Declaration {
        Declaration::new("degraded").variable("DSH_LOST", "Never there.")
    }

    fn resolve(&self, _: &Execution, _: &Deadline) -> Result<Vec<Binding>, Failure> {
        Err(Failure::guest("never"))
    }

    fn may_wait(&self) -> bool {
        false
    }
}

/// A host for tests.
pub(super) struct FakeHost {
    registry: Registry,
    _registrations: Vec<Registration>,
    /// What it was told to do.
    pub(super) diary: Mutex<Vec<String>>,
    /// Holds up executions of the tool `slow`.
    pub(super) collections: Gate,
    /// Holds up reloads of `slow`.
    pub(super) reloads: Gate,
}

impl FakeHost {
    pub(super) fn new() -> Arc<Self> {
        let registry = Registry::new(&Home::resolve_in(Some("/h".as_ref()), &Surroundings::default()).unwrap());
        let collections = Gate::default();
        let echo = registry.register(Echo(collections.clone())).unwrap();
        let terms = Terms { on_failure: crate::registry::OnFailure::Omit, ..Terms::default() };
        let degraded = registry.register_under(Arc::new(Degraded), terms).unwrap();
        Arc::new(Self {
            registry,
            _registrations: vec![echo, degraded],
            diary: Mutex::default(),
            collections,
            reloads: Gate::default(),
        })
    }

    fn did(&self, what: String, name: &str) -> Result<ContributorStatus> {
        match name {
            "echo" => {}
            "panics" => panic!("as it is told"),
            _ => return Err(Error::host(Code::ContributorNotFound, "there is no such contributor")),
        }
        self.diary.lock().unwrap().push(what);
        Ok(status())
    }
}

fn status() -> ContributorStatus {
    ContributorStatus {
        name: "echo".to_owned(),
        file: Some("/h/contributors/echo.wasm".into()),
        state: State::Live,
        digest: Some(DIGEST.to_owned()),
        candidate: None,
        previous: Vec::new(),
        error: None,
        notes: Vec::new(),
    }
}

impl Operations for FakeHost {
    fn registry(&self) -> &Registry {
        &self.registry
    }

    fn statuses(&self) -> Vec<ContributorStatus> {
        vec![status()]
    }

    fn approve(&self, name: &str, digest: &str) -> Result<ContributorStatus> {
        self.did(format!("approve {name} {digest}"), name)
    }

    fn rollback(&self, name: &str, to: Option<&str>) -> Result<ContributorStatus> {
        self.did(format!("rollback {name} {to:?}"), name)
    }

    fn reload(&self, name: &str) -> Result<ContributorStatus> {
        if name == "slow" {
            self.reloads.pass(|| true);
        }
        self.did(format!("reload {name}"), name)
    }

    fn forget(&self, name: &str) -> Result<ContributorStatus> {
        self.did(format!("forget {name}"), name)
    }

    fn put_fact(&self, name: &str, value: String, time_to_live: Duration) -> Result<()> {
        self.diary.lock().unwrap().push(format!("put {name} {value} {time_to_live:?}"));
        Ok(())
    }

    fn health(&self) -> Health {
        Health { ready: true, problems: Vec::new(), unwell: vec!["degraded".to_owned()] }
    }

    fn metrics(&self) -> Option<String> {
        Some("dsh_env_up 1\n".to_owned())
    }

    fn explain(&self, call: &str, key: &Key) -> Option<Value> {
        (call == "known").then(|| json!({"call": call, "key": key.as_str()}))
    }

    fn activity(&self) -> Value {
        json!({"collections": 0})
    }

    fn log(&self, name: &str) -> Result<String> {
        self.did(format!("log {name}"), name).map(|_| "printed\n".to_owned())
    }
}

/// A server that runs.
pub(super) struct Running {
    /// The folder that its state is in.
    pub(super) folder: TempDir,
    pub(super) state: PathBuf,
    pub(super) host: Arc<FakeHost>,
    pub(super) stopper: Stopper,
    pub(super) counter: Counter,
    task: JoinHandle<Result<()>>,
}

impl Running {
    pub(super) fn start() -> Self {
        Self::with(|_| {})
    }

    /// With options that are changed.
    pub(super) fn with(change: impl FnOnce(&mut ServerOptions)) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let state = folder.path().join("state");
        let mut options = ServerOptions::new(&state);
        change(&mut options);
        let host = FakeHost::new();
        let server = Server::bind(options, host.clone()).unwrap();
        let (stopper, counter) = (server.stopper(), server.counter());
        Self { folder, state, host, stopper, counter, task: tokio::spawn(server.run()) }
    }

    pub(super) async fn collect(&self) -> Client {
        Client::connect(&collect_socket(&self.state)).await
    }

    pub(super) async fn admin(&self) -> Client {
        Client::connect(&admin_socket(&self.state)).await
    }

    /// Waits for the server to end by itself.
    pub(super) async fn ended(self) -> TempDir {
        timeout(LONG, self.task).await.expect("it should have ended").unwrap().unwrap();
        self.folder
    }

    /// Stops the server.
    pub(super) async fn stop(self) {
        self.stopper.stop();
        self.ended().await;
    }
}

/// A client, with patience.
pub(super) struct Client {
    lines: BufReader<OwnedReadHalf>,
    pub(super) output: OwnedWriteHalf,
    last: u64,
}

impl Client {
    pub(super) async fn connect(path: &Path) -> Self {
        let stream = UnixStream::connect(Address::of(path).unwrap().path()).await.unwrap();
        Self::of(stream)
    }

    pub(super) fn of(stream: UnixStream) -> Self {
        let (input, output) = stream.into_split();
        Self { lines: BufReader::new(input), output, last: 0 }
    }

    /// The id of the last request.
    pub(super) fn last(&self) -> u64 {
        self.last
    }

    /// Sends bytes as they are.
    pub(super) async fn send_bytes(&mut self, bytes: &[u8]) {
        timeout(LONG, self.output.write_all(bytes)).await.expect("somebody should read").unwrap();
    }

    /// Sends a line.
    pub(super) async fn send_line(&mut self, line: &str) {
        self.send_bytes(format!("{line}\n").as_bytes()).await;
    }

    /// Sends a request; the id of its answer.
    pub(super) async fn send(&mut self, method: &str, parameters: Value) -> u64 {
        self.last += 1;
        let request = json!({"jsonrpc": "2.0", "id": self.last, "method": method, "params": parameters});
        self.send_line(&request.to_string()).await;
        self.last
    }

    /// The next line, or nothing if there is none any more.
    pub(super) async fn line(&mut self) -> Option<String> {
        let mut line = String::new();
        let read = timeout(LONG, self.lines.read_line(&mut line)).await.expect("somebody should answer");
        (read.unwrap_or(0) > 0).then_some(line)
    }

    /// The next answer.
    pub(super) async fn answer(&mut self) -> Value {
        let line = self.line().await.expect("an answer rather than the end");
        let answer: Value = serde_json::from_str(&line).unwrap();
        assert_eq!(answer["jsonrpc"], "2.0");
        answer
    }

    /// The answer to a line.
    pub(super) async fn say(&mut self, line: &str) -> Value {
        self.send_line(line).await;
        self.answer().await
    }

    /// The answer to a request, which is the only one that is under way.
    pub(super) async fn request(&mut self, method: &str, parameters: Value) -> Value {
        let id = self.send(method, parameters).await;
        let answer = self.answer().await;
        assert_eq!(answer["id"], id);
        answer
    }

    /// The result of a request.
    pub(super) async fn ask(&mut self, method: &str, parameters: Value) -> Value {
        let answer = self.request(method, parameters).await;
        assert!(answer.get("error").is_none(), "{answer}");
        answer["result"].clone()
    }

    /// The number, the code and the message of the error that a request has for an answer.
    pub(super) async fn fail(&mut self, method: &str, parameters: Value) -> (i64, String, String) {
        error_of(&self.request(method, parameters).await)
    }

    /// Whether the server still answers.
    pub(super) async fn is_served(&mut self) -> bool {
        self.ask("host.hello", json!({})).await.is_object()
    }

    /// Says that nothing more is sent.
    pub(super) async fn finish(&mut self) {
        self.output.shutdown().await.unwrap();
    }
}

/// The number, the code and the message of an error.
pub(super) fn error_of(answer: &Value) -> (i64, String, String) {
    let error = &answer["error"];
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let number = error["code"].as_i64().unwrap_or_else(|| panic!("an error rather than {answer}"));
    (number, text(&error["data"]["code"]), text(&error["data"]["message"]))
}

/// The parameters of a collection for this tool.
pub(super) fn by_tool(tool: &str) -> Value {
    json!({"execution": {"tool": tool}})
}
