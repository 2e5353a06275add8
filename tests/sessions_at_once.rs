//! Many sessions in one host, each with a child and a fork, all running commands at once: everybody sees its own
//! id and path, and nothing is left of any. In a binary of its own, since it counts what its process has.
#![cfg(target_os = "linux")]
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test that cannot go on fails"
)]

use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use dsh_env::agent::{Agent, AgentParts, Script, ScriptedModel};
use dsh_env::contract::SessionId;
use dsh_env::environment::{OrdinaryEnv, Shell};
use dsh_env::executor::{Executor, ExecutorOptions, Keeper, KeeperProgram};
use dsh_env::home::Home;
use dsh_env::hooks::{Hooks, HooksOptions};
use dsh_env::registry::{Registration, Registry};
use dsh_env::session_persistence::SessionPersistence;
use dsh_env::sessions::{ActivePersistence, Backend, Compression, NewSession, Session, SessionStore, SessionsRoot};
use dsh_env::tools::{Caller, ToolCall, Tools};
use serde_json::{Value, json};

const SESSIONS: usize = 200;

struct Place {
    folder: tempfile::TempDir,
    store: Arc<dyn SessionStore>,
    tools: Tools,
    hooks: Hooks,
    _registration: Registration,
}

impl Place {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let home = Home::resolve(Some(folder.path().join("home").as_os_str())).unwrap();
        let root = SessionsRoot::new(&folder.path().join("sessions")).unwrap();
        let store = Backend::Jsonl.store(root, Compression::None).unwrap();
        let active = ActivePersistence::new(Arc::clone(&store) as _);
        let registry = Registry::new(&home);
        let registration = registry.register(SessionPersistence::new(active.clone())).unwrap();
        let keeper = Keeper::Program(KeeperProgram::dsh_env(env!("CARGO_BIN_EXE_dsh-env")));
        let spill_folder = folder.path().join("output");
        let executor = Executor::new(ExecutorOptions { spill_folder, keeper }).unwrap();
        let hooks = Hooks::new(HooksOptions::default(), active, Arc::new(executor.clone()));
        let tools = Tools::new(registry, executor, vec![Shell::Bash], OrdinaryEnv::new());
        Self { folder, store, tools, hooks, _registration: registration }
    }

    fn agent(&self, id: &str, answers: Value) -> Agent {
        let id = Some(SessionId::new(id).unwrap());
        let session = Session::create(Arc::clone(&self.store), NewSession { id, ..NewSession::default() }).unwrap();
        Agent::new(AgentParts {
            session,
            model: script(answers),
            tools: self.tools.clone(),
            hooks: self.hooks.clone(),
            workdir: self.folder.path().to_path_buf(),
            resumed: false,
        })
    }

    /// What a command of an agent is to print.
    fn facts_of(&self, agent: &Agent) -> String {
        let id = agent.session().header().session.id.as_str();
        format!("{id} {}", self.folder().join(id).join("session.jsonl").display())
    }

    fn folder(&self) -> PathBuf {
        self.folder.path().join("sessions/_no-cwd")
    }

    /// That an agent sees its own session in two commands at once and in one in the background.
    async fn look(&self, agent: &mut Agent) {
        agent.turn("look").await.unwrap();
        let expected = self.facts_of(agent);
        let results = agent.session().events().iter().filter(|event| event.kind == "tool/result");
        let seen: Vec<_> = results.map(|event| event.fields["output"].as_str().unwrap().to_owned()).collect();
        assert_eq!(seen.iter().filter(|output| **output == expected).count(), 2, "{seen:?}");
        let told = self.output_of_the_job(agent.caller()).await;
        assert!(told.starts_with(&expected), "{told}");
    }

    async fn output_of_the_job(&self, caller: Caller) -> String {
        let read = ToolCall { name: "job_output".to_owned(), arguments: json!({ "job": "bash-1" }) };
        let mut told = String::new();
        loop {
            let result = self.tools.call(&caller, &read, std::future::pending()).await;
            assert!(!result.is_error, "{}", result.output);
            told += result.output.strip_suffix("[it runs]").unwrap_or(&result.output);
            if result.ended.is_some() {
                return told;
            }
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    }
}

fn script(answers: Value) -> Box<ScriptedModel> {
    Box::new(ScriptedModel::new(Script::parse(&answers.to_string()).unwrap()))
}

/// A turn that prints the facts twice at once and once in the background, and leaves a process behind.
fn answers() -> Value {
    let call = |command: &str, background: bool| {
        let arguments = json!({ "command": command, "description": "looks", "run_in_background": background });
        json!({ "name": "bash", "arguments": arguments })
    };
    let print = "echo \"$DSH_SESSION_ID $DSH_SESSION_JSONL\"";
    let leave = format!("{print}; (setsid sleep 1000 >/dev/null 2>&1 &)");
    json!([{ "tool_calls": [call(print, false), call(print, true), call(&leave, false)] }, { "text": "done" }])
}

fn descriptors() -> usize {
    std::fs::read_dir("/proc/self/fd").unwrap().count()
}

/// The processes below this one, zombies included.
fn descendants() -> usize {
    let parents: Vec<(u32, u32)> = std::fs::read_dir("/proc")
        .unwrap()
        .filter_map(|entry| {
            let entry = entry.ok()?;
            let process = entry.file_name().to_str()?.parse().ok()?;
            let stat = std::fs::read_to_string(entry.path().join("stat")).ok()?;
            Some((process, stat.rsplit_once(')')?.1.split_whitespace().nth(1)?.parse().ok()?))
        })
        .collect();
    let mut family = vec![std::process::id()];
    let mut at = 0;
    while let Some(parent) = family.get(at).copied() {
        family.extend(parents.iter().filter(|(_, of)| *of == parent).map(|(process, _)| process));
        at += 1;
    }
    family.len() - 1
}

async fn until(what: &str, mut is_so: impl FnMut() -> bool) {
    let deadline = Instant::now() + Duration::from_secs(60);
    while !is_so() {
        assert!(Instant::now() < deadline, "{what}: {} descriptors, {} processes", descriptors(), descendants());
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn two_hundred_sessions_and_their_children_each_see_their_own_and_leave_nothing() {
    let place = Arc::new(Place::new());
    // What is opened once and for all is open before anything is counted.
    place.look(&mut place.agent("first", answers())).await;
    let before = descriptors();

    let mut all = tokio::task::JoinSet::new();
    for at in 0..SESSIONS {
        let place = Arc::clone(&place);
        all.spawn(async move {
            let id = format!("s{at}");
            let mut parent = place.agent(&id, answers());
            let mut child = parent.spawn(script(answers()), Some("helper".to_owned())).unwrap();
            let header = &child.session().header().session;
            assert_eq!(header.parent_session.as_deref(), Some(id.as_str()));
            assert_eq!((header.origin.as_deref(), header.delegation_depth), (Some("subagent"), Some(1)));
            tokio::join!(place.look(&mut parent), place.look(&mut child));
            let fork = parent.fork(script(answers())).unwrap();
            assert_ne!(place.facts_of(&fork), place.facts_of(&parent));
            assert_eq!(fork.session().header().seed_length, Some(parent.session().events().len() as u64));
            for mut agent in [parent, child, fork] {
                agent.end("done").await;
            }
        });
    }
    while let Some(one) = all.join_next().await {
        one.unwrap();
    }
    assert_eq!(std::fs::read_dir(place.folder()).unwrap().count(), 1 + 3 * SESSIONS);
    // Those that look after what has ended may have a moment to go.
    until("descriptors are left", || descriptors() <= before + 2).await;
    place.tools.executor().shut_down().await;
    until("processes are left", || descendants() == 0).await;
}
