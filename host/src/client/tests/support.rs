use std::fs::{self, DirBuilder};
use std::io::{BufRead as _, BufReader, Write as _};
use std::os::unix::fs::DirBuilderExt as _;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use serde_json::{Value, json};
use tempfile::TempDir;

use crate::client::Client;
use crate::contract::Execution;
use crate::error::Error;
use crate::protocol::CollectResult;

/// Longer than anything takes, and short of for ever.
pub(super) const PATIENCE: Duration = Duration::from_secs(30);

/// The value of a variable, which no message may have.
pub(super) const VALUE: &str = "the-value-of-a-variable";

/// A folder as a server makes it.
pub(super) fn folder() -> (TempDir, PathBuf) {
    let home = tempfile::tempdir().unwrap();
    let run = home.path().join("run");
    DirBuilder::new().mode(0o700).create(&run).unwrap();
    (home, run)
}

/// A server of one connection.
pub(super) struct Server {
    socket: PathBuf,
    thread: Option<JoinHandle<Vec<Value>>>,
    _home: TempDir,
}

impl Server {
    /// Does what it is told with its first connection.
    pub(super) fn start(serve: impl FnOnce(UnixStream) -> Vec<Value> + Send + 'static) -> Self {
        let (home, run) = folder();
        Self::start_in(home, &run.join("collect.sock"), serve)
    }

    pub(super) fn start_in(
        home: TempDir,
        socket: &Path,
        serve: impl FnOnce(UnixStream) -> Vec<Value> + Send + 'static,
    ) -> Self {
        let listener = UnixListener::bind(socket).unwrap();
        let thread = thread::spawn(move || serve(listener.accept().unwrap().0));
        Self { socket: socket.to_owned(), thread: Some(thread), _home: home }
    }

    /// Reads one question and says this.
    pub(super) fn saying(answer: impl Into<Vec<u8>>) -> Self {
        let answer = answer.into();
        Self::start(move |mut stream| {
            let question = read(&mut BufReader::new(stream.try_clone().unwrap()));
            // The client may have seen enough.
            let _ = stream.write_all(&answer);
            question.into_iter().collect()
        })
    }

    /// Answers each question with one of these results, with its id.
    pub(super) fn answering(results: impl IntoIterator<Item = Value>) -> Self {
        let results: Vec<_> = results.into_iter().collect();
        Self::start(move |mut stream| {
            let mut reader = BufReader::new(stream.try_clone().unwrap());
            let mut questions = Vec::new();
            for result in results {
                let question = read(&mut reader).unwrap();
                let answer = json!({"jsonrpc": "2.0", "id": question["id"], "result": result});
                stream.write_all(format!("{answer}\n").as_bytes()).unwrap();
                questions.push(question);
            }
            questions
        })
    }

    pub(super) fn client(&self) -> Client {
        self.patient(PATIENCE)
    }

    pub(super) fn patient(&self, patience: Duration) -> Client {
        Client::connect(&self.socket, patience).unwrap().unwrap()
    }

    pub(super) fn collect(&self) -> Result<CollectResult, Error> {
        self.client().collect(&call(), PATIENCE)
    }

    /// What was asked.
    pub(super) fn questions(mut self) -> Vec<Value> {
        self.thread.take().unwrap().join().unwrap()
    }

    /// Whether a message says where the server is, what to do, and no value.
    pub(super) fn assert_told(&self, error: &Error) {
        let message = error.message();
        assert!(message.contains(&*self.socket.to_string_lossy()), "{message}");
        assert!(message.contains("start it again, or end it"), "{message}");
        assert!(!message.contains(VALUE) && !message.chars().any(char::is_control), "{message}");
    }
}

pub(super) fn read(reader: &mut BufReader<UnixStream>) -> Option<Value> {
    let mut line = String::new();
    reader.read_line(&mut line).ok()?;
    line.ends_with('\n').then(|| serde_json::from_str(&line).unwrap())
}

/// A call whose id is known.
pub(super) fn call() -> Execution {
    Execution { call_id: "call-1".to_owned(), root_call_id: "call-1".to_owned(), ..Execution::new("bash") }
}

/// What a server says of [`call`], with something else in it.
pub(super) fn result_with(change: impl FnOnce(&mut Value)) -> Value {
    let mut result = json!({
        "env": {"DSH_SHELL": "1", "DSH_HOME": "/h", "DSH_TOKEN": VALUE},
        "unset": ["DSH_SESSION_ID"],
        "sensitive": ["DSH_TOKEN"],
        "degraded": ["DSH_REGION"],
        "call": "call-1",
        "contributors": [{"name": "region", "digest": "abc", "micros": 12, "policy": "omit"}],
    });
    change(&mut result);
    result
}

/// The same as an answer to the first question.
pub(super) fn answer_with(change: impl FnOnce(&mut Value)) -> Vec<u8> {
    let answer = json!({"jsonrpc": "2.0", "id": 1, "result": result_with(change)});
    format!("{answer}\n").into_bytes()
}

pub(super) fn set_mode(path: &Path, mode: u32) {
    use std::os::unix::fs::PermissionsExt as _;
    fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
}
