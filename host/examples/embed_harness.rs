//! A harness that embeds the sessions, the tools and the loop, without WebAssembly or a network: a scripted model
//! asks its shell who it is.
//!
//! `cargo run --features harness --example embed_harness`

use std::process::ExitCode;
use std::sync::Arc;

use dsh_env::agent::{Agent, AgentParts, Script, ScriptedModel};
use dsh_env::environment::{OrdinaryEnv, Shell};
use dsh_env::executor::{Executor, ExecutorOptions, Keeper, KeeperProgram};
use dsh_env::home::Home;
use dsh_env::hooks::{Hooks, HooksOptions};
use dsh_env::registry::Registry;
use dsh_env::session_persistence::SessionPersistence;
use dsh_env::sessions::{ActivePersistence, Backend, Compression, NewSession, Session, SessionsRoot};
use dsh_env::tools::Tools;

const SCRIPT: &str = r#"[
  {"tool_calls": [{"name": "bash", "arguments": {"command": "echo I am $DSH_SESSION_ID", "description": "looks"}}]},
  {"text": "Now I know who I am."}
]"#;

fn main() -> Result<ExitCode, Box<dyn std::error::Error>> {
    // Commands end with this process, also when it is killed: they are started by a second process of this program.
    #[cfg(target_os = "linux")]
    if std::env::args_os().nth(1).is_some_and(|argument| argument == dsh_env::executor::KEEPER_ARGUMENT) {
        return Ok(dsh_env::executor::serve_keeper());
    }
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(converse())?;
    Ok(ExitCode::SUCCESS)
}

async fn converse() -> Result<(), Box<dyn std::error::Error>> {
    // Once, when the harness starts.
    let folder = std::env::temp_dir().join(format!("embed-harness-{}", std::process::id()));
    let home = Home::resolve(Some(folder.as_os_str()))?;
    let store = Backend::Jsonl.store(SessionsRoot::new(&folder.join("sessions"))?, Compression::None)?;
    let persistence = ActivePersistence::new(Arc::clone(&store) as _);
    let registry = Registry::new(&home);
    let _built_in = registry.register(SessionPersistence::new(persistence.clone()))?;
    let keeper =
        if cfg!(target_os = "linux") { Keeper::Program(KeeperProgram::this_program()) } else { Keeper::InHost };
    let executor = Executor::new(ExecutorOptions { spill_folder: folder.join("output"), keeper })?;
    let hooks = Hooks::new(HooksOptions::default(), persistence, Arc::new(executor.clone()));
    let tools = Tools::new(registry, executor.clone(), vec![Shell::Bash], OrdinaryEnv::new());

    // Once for every session.
    let mut agent = Agent::new(AgentParts {
        session: Session::create(store, NewSession::default())?,
        model: Box::new(ScriptedModel::new(Script::parse(SCRIPT)?)),
        tools,
        hooks,
        workdir: std::env::current_dir()?,
        resumed: false,
    })
    .observed_by(|event| println!("{} {}", event.kind, serde_json::Value::Object(event.fields.clone())));
    agent.turn("Who are you?").await?;
    println!("kept in {:?}", agent.session().location().map(|location| &location.path));
    agent.end("done").await;
    executor.shut_down().await;
    std::fs::remove_dir_all(folder)?;
    Ok(())
}
