//! Agents without a configuration: real shells, a real log, a script.

use std::path::PathBuf;
use std::sync::{Arc, Mutex};

use serde_json::{Value, json};
use tempfile::TempDir;

use crate::agent::{Agent, AgentParts, Answer, BoxFuture, Model, Request, Script, ScriptedModel};
use crate::environment::{OrdinaryEnv, Shell};
use crate::error::Result;
use crate::executor::{Executor, ExecutorOptions, Keeper};
use crate::home::Home;
use crate::hooks::{Hooks, HooksOptions};
use crate::registry::{Registration, Registry};
use crate::session_persistence::SessionPersistence;
use crate::sessions::{
    ActivePersistence, Backend, Compression, Event, NewSession, Session, SessionStore, SessionsRoot,
};
use crate::tools::Tools;

pub(super) struct Place {
    pub(super) folder: TempDir,
    pub(super) store: Arc<dyn SessionStore>,
    pub(super) tools: Tools,
    hooks: Hooks,
    _registration: Registration,
}

impl Place {
    pub(super) fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let home = Home::resolve(Some(folder.path().join("home").as_os_str())).unwrap();
        let root = SessionsRoot::new(&folder.path().join("sessions")).unwrap();
        let store = Backend::Jsonl.store(root, Compression::None).unwrap();
        let active = ActivePersistence::new(Arc::clone(&store) as _);
        let registry = Registry::new(&home);
        let registration = registry.register(SessionPersistence::new(active.clone())).unwrap();
        let spill_folder = folder.path().join("output");
        let executor = Executor::new(ExecutorOptions { spill_folder, keeper: Keeper::InHost }).unwrap();
        let hooks = Hooks::new(HooksOptions::default(), active, Arc::new(executor.clone()));
        let tools = Tools::new(registry, executor, vec![Shell::Bash], OrdinaryEnv::new());
        Self { folder, store, tools, hooks, _registration: registration }
    }

    pub(super) fn session(&self, id: &str) -> Session {
        let id = Some(crate::contract::SessionId::new(id).unwrap());
        Session::create(Arc::clone(&self.store), NewSession { id, ..NewSession::default() }).unwrap()
    }

    pub(super) fn agent(&self, session: Session, model: impl Model + 'static, resumed: bool) -> Agent {
        Agent::new(AgentParts {
            session,
            model: Box::new(model),
            tools: self.tools.clone(),
            hooks: self.hooks.clone(),
            workdir: self.folder.path().to_path_buf(),
            resumed,
        })
    }

    pub(super) fn log_of(&self, id: &str) -> PathBuf {
        self.folder.path().join(format!("sessions/_no-cwd/{id}/session.jsonl"))
    }
}

pub(super) fn script(answers: Value) -> ScriptedModel {
    ScriptedModel::new(Script::parse(&answers.to_string()).unwrap())
}

pub(super) fn bash(command: &str) -> Value {
    json!({ "tool_calls": [{ "name": "bash", "arguments": { "command": command, "description": "a test" } }] })
}

pub(super) fn done() -> Value {
    json!({ "text": "done" })
}

pub(super) fn outputs(events: &[Event]) -> Vec<&str> {
    let results = events.iter().filter(|event| event.kind == "tool/result");
    results.map(|event| event.fields["output"].as_str().unwrap()).collect()
}

/// Asks a function, and keeps what it was asked.
pub(super) struct Asked<F> {
    pub(super) requests: Arc<Mutex<Vec<Request>>>,
    pub(super) answer: F,
}

impl<F: FnMut(&Request) -> Result<Answer> + Send> Model for Asked<F> {
    fn name(&self) -> &'static str {
        "asked"
    }

    fn answer<'a>(&'a mut self, request: &'a Request) -> BoxFuture<'a, Result<Answer>> {
        self.requests.lock().unwrap().push(request.clone());
        let answer = (self.answer)(request);
        Box::pin(std::future::ready(answer))
    }
}
