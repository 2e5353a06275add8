//! `run`: the reference loop.

mod prompts;
mod transcript;

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

use anyhow::Result;
use dsh_env::agent::{Agent, Model, OpenAi, OpenAiOptions, Script, ScriptedModel, TurnEnd};
use dsh_env::contract::SessionId;
use dsh_env::environment::OrdinaryEnv;
use dsh_env::executor::{Keeper, KeeperProgram};
use dsh_env::text::shown;
use dsh_env::{Code, Error, Harness, HarnessOptions, SessionStart};
use tokio::signal::unix::{SignalKind, signal};

use super::arguments::RunArguments;
use super::composition;
use super::output::{self, Output};
use prompts::prompts;
use transcript::Transcript;

/// How long hooks that are told of the end of a session may take once a signal has come.
const END_TIME: Duration = Duration::from_secs(10);

/// How long the last output has to be read.
const READ_TIME: Duration = Duration::from_secs(1);

/// Exit statuses of a process that a signal ended are this and the signal's number.
const SIGNALLED: u8 = 128;

/// Runs the loop until the model is done, or somebody ends it.
pub(crate) fn run(arguments: &RunArguments, output: &Output) -> Result<ExitCode> {
    let model = model(arguments)?;
    let prompts = prompts(arguments, model.turns)?;
    let harness = compose(arguments)?;
    let start = SessionStart {
        id: arguments.session_id.as_deref().map(SessionId::new).transpose()?,
        cwd: arguments.session_cwd.clone(),
        agent_preset: None,
    };
    let transcript = Transcript::new(output)?;
    let workdir = workdir(arguments)?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(async {
        // A file that grows beyond `ulimit -f` is then an error of whoever writes it, as a full disk is.
        let _file_size = signal(SignalKind::from_raw(rustix::process::Signal::XFSZ.as_raw()))?;
        let watched = transcript.clone();
        let agent = harness.agent(start, model.model, workdir)?.observed_by(move |event| watched.show(event));
        let ended = converse(agent, prompts, &transcript).await;
        harness.shut_down().await;
        ended
    })
}

/// One turn after another, until there is nothing more to say or a signal comes.
async fn converse(mut agent: Agent, prompts: Vec<String>, transcript: &Transcript) -> Result<ExitCode> {
    let mut interrupt = signal(SignalKind::interrupt())?;
    let mut terminate = signal(SignalKind::terminate())?;
    let (said, signalled) = tokio::select! {
        // A signal that has come is heeded before whatever else has.
        biased;
        _ = interrupt.recv() => (Ok(ended_by(SignalKind::interrupt())), true),
        _ = terminate.recv() => (Ok(ended_by(SignalKind::terminate())), true),
        said = say(&mut agent, prompts, transcript) => (said.map(|()| ExitCode::SUCCESS), false),
    };
    // However it ended, hooks are told. Whoever has sent a signal does not wait for them for long, and need not
    // at all after another.
    let patience = if signalled { END_TIME } else { Duration::MAX };
    tokio::select! {
        _ = tokio::time::timeout(patience, agent.end("other")) => {}
        _ = interrupt.recv() => {}
        _ = terminate.recv() => {}
    }
    // What a signal cut short is worth a moment of whoever reads.
    let _ = tokio::time::timeout(READ_TIME, transcript.check()).await;
    said
}

async fn say(agent: &mut Agent, prompts: Vec<String>, transcript: &Transcript) -> Result<()> {
    for prompt in prompts {
        let end = agent.turn(&prompt).await;
        transcript.check().await?;
        let end = end?;
        if let TurnEnd::Stopped { reason } | TurnEnd::Blocked { reason } = &end {
            output::note(&format!("a hook ended the turn: {}", shown(reason)));
        }
        if matches!(end, TurnEnd::Stopped { .. }) {
            break;
        }
    }
    Ok(())
}

fn ended_by(signal: SignalKind) -> ExitCode {
    ExitCode::from(SIGNALLED.saturating_add(u8::try_from(signal.as_raw_value()).unwrap_or_default()))
}

/// What answers.
struct Answering {
    model: Box<dyn Model>,
    /// How many turns it has answers for, if that is known.
    turns: Option<usize>,
}

fn model(arguments: &RunArguments) -> Result<Answering> {
    let RunArguments { script, model, model_name, key_env, .. } = arguments;
    if let Some(source) = script {
        let script = Script::parse(&composition::read_script(source)?)?;
        let turns = Some(script.turns());
        return Ok(Answering { model: Box::new(ScriptedModel::new(script)), turns });
    }
    let mut options = OpenAiOptions::new(model.as_deref().unwrap_or_default(), model_name)?;
    match std::env::var(key_env) {
        Ok(key) if !key.trim().is_empty() => options = options.key(&key)?,
        Ok(_) | Err(std::env::VarError::NotPresent) => {}
        Err(std::env::VarError::NotUnicode(_)) => {
            let message = format!("the key in {} is not text: check it", shown(key_env));
            return Err(Error::host(Code::InvalidConfiguration, message).into());
        }
    }
    Ok(Answering { model: Box::new(OpenAi::new(options)?), turns: None })
}

fn compose(arguments: &RunArguments) -> Result<Harness> {
    let RunArguments { host, sessions_root, backend, compression, .. } = arguments;
    let host = composition::options(host)?;
    let host = composition::sessions(host, sessions_root.as_deref(), *backend, *compression);
    let mut ordinary = OrdinaryEnv::new();
    if arguments.model.is_some() {
        // Whatever it is called: it is for the endpoint, and not for commands and hooks.
        ordinary.unset(&arguments.key_env)?;
    }
    let keeper = Keeper::Program(KeeperProgram::this_program());
    let harness = Harness::compose(HarnessOptions::new(host).keeper(keeper).ordinary(ordinary))?;
    for warning in harness.warnings() {
        output::note(&format!("warning: {warning}"));
    }
    Ok(harness)
}

/// Where commands run: a session may be for a directory that is not here.
fn workdir(arguments: &RunArguments) -> Result<PathBuf> {
    if let Some(workdir) = &arguments.workdir {
        return composition::absolute(workdir);
    }
    let of_session = arguments.session_cwd.as_deref().map(Path::new);
    match of_session.filter(|cwd| cwd.is_absolute() && cwd.is_dir()) {
        Some(cwd) => Ok(cwd.to_owned()),
        None => composition::absolute(Path::new(".")),
    }
}
