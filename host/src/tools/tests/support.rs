//! Tools around a registry whose contributor keeps what it was asked.

use std::sync::{Arc, Mutex};

use serde_json::{Value, json};
use tempfile::TempDir;

use crate::contract::{Binding, Contributor, Deadline, Declaration, Execution, Failure, SessionHeader, SessionId};
use crate::environment::{OrdinaryEnv, Shell};
use crate::executor::{Executor, ExecutorOptions, Keeper};
use crate::home::Home;
use crate::registry::{Registration, Registry};
use crate::session_persistence::SessionPersistence;
use crate::sessions::{ActivePersistence, Backend, Compression, SessionsRoot};
use crate::tools::{Caller, ToolCall, ToolResult, Tools};

/// A value that no result may show.
pub(super) const SECRET: &str = "pa55word";

/// Keeps every execution, and gives a secret.
#[derive(Clone, Default)]
struct Recorder(Arc<Mutex<Vec<Execution>>>);

impl Contributor for Recorder {
    fn declare(&self) -> Declaration {
        Declaration::new("recorder").sensitive_variable("DSH_SECRET", "A secret.")
    }

    fn resolve(&self, execution: &Execution, _: &Deadline) -> Result<Vec<Binding>, Failure> {
        self.0.lock().unwrap().push(execution.clone());
        Ok(vec![Binding::new("DSH_SECRET", SECRET)])
    }
}

pub(super) struct Place {
    pub(super) tools: Tools,
    pub(super) folder: TempDir,
    pub(super) home: Home,
    pub(super) persistence: ActivePersistence,
    recorder: Recorder,
    _registrations: [Registration; 2],
}

impl Place {
    pub(super) fn new() -> Self {
        Self::with(OrdinaryEnv::new())
    }

    pub(super) fn with(ordinary: OrdinaryEnv) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let home = Home::resolve(Some(folder.path().join("home").as_os_str())).unwrap();
        let registry = Registry::new(&home);
        let recorder = Recorder::default();
        let root = SessionsRoot::new(&folder.path().join("sessions")).unwrap();
        let persistence = ActivePersistence::new(Backend::Jsonl.service(root, Compression::None));
        let registrations = [
            registry.register(recorder.clone()).unwrap(),
            registry.register(SessionPersistence::new(persistence.clone())).unwrap(),
        ];
        let spill_folder = folder.path().join("output");
        let executor = Executor::new(ExecutorOptions { spill_folder, keeper: Keeper::InHost }).unwrap();
        let tools = Tools::new(registry, executor, vec![Shell::Bash, Shell::Pwsh], ordinary);
        Self { tools, folder, home, persistence, recorder, _registrations: registrations }
    }

    /// The caller that an agent of a session is.
    pub(super) fn agent(&self, id: &str) -> Caller {
        let session = SessionHeader::new(SessionId::new(id).unwrap());
        Caller { session: Some(session), ..self.nobody() }
    }

    /// The caller that no agent is.
    pub(super) fn nobody(&self) -> Caller {
        Caller { session: None, workdir: self.folder.path().to_path_buf() }
    }

    pub(super) async fn call(&self, caller: &Caller, name: &str, arguments: Value) -> ToolResult {
        let call = ToolCall { name: name.to_owned(), arguments };
        self.tools.call(caller, &call, std::future::pending()).await
    }

    pub(super) async fn bash(&self, caller: &Caller, command: &str) -> ToolResult {
        self.call(caller, "bash", json!({ "command": command, "description": "a test" })).await
    }

    pub(super) async fn background(&self, caller: &Caller, command: &str) -> ToolResult {
        let arguments = json!({ "command": command, "description": "a test", "run_in_background": true });
        self.call(caller, "bash", arguments).await
    }

    /// Everything that a job prints until it has ended.
    pub(super) async fn output_of(&self, caller: &Caller, job: &str) -> String {
        let mut all = String::new();
        loop {
            let result = self.call(caller, "job_output", json!({ "job": job })).await;
            assert!(!result.is_error, "{}", result.output);
            all += result.output.strip_suffix("[it runs]").unwrap_or(&result.output);
            if result.ended.is_some() {
                return all;
            }
            tokio::time::sleep(std::time::Duration::from_millis(5)).await;
        }
    }

    /// What was collected for so far.
    pub(super) fn executions(&self) -> Vec<Execution> {
        self.recorder.0.lock().unwrap().clone()
    }
}
