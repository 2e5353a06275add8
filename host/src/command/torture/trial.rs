//! One thing that is tried, and whether it was contained.

use std::collections::BTreeSet;
use std::io;
use std::time::{Duration, Instant};

use dsh_env::contract::{Contributor as _, Deadline, Execution};
use dsh_env::home::Home;
use dsh_env::installation::Configuration;
use dsh_env::registry::{Overlay, Registry, Terms};
use dsh_env::sandbox::{Extensions, Grants, Sandbox, SandboxedContributor, Workspace, WorkspaceKind};
use dsh_env::{Code, Error, Host, Stage};
use serde::Serialize;
use tempfile::TempDir;

use super::pack::{Attempt, Held, Hostile, PROBE, Right};

/// Longer than any limit of an operator's, so that it is the limits that end a call.
const PATIENCE: Duration = Duration::from_secs(30);

/// Codes by which a limit ends a call, whichever an operator's settings let it meet first.
const LIMITS: [Code; 5] = [Code::Timeout, Code::MemoryLimit, Code::StackLimit, Code::OutputLimit, Code::CompileLimit];

/// What was tried and what came of it.
#[derive(Serialize)]
pub(super) struct Trial {
    pub(super) tries: &'static str,
    pub(super) contained: bool,
    /// How it was contained, or what came of it instead.
    pub(super) how: String,
    /// Milliseconds that it took.
    pub(super) ms: f64,
}

/// Everything that trials need.
pub(super) struct Trials<'h> {
    sandbox: &'h Sandbox,
    configuration: &'h Configuration,
    host: &'h Host,
    place: TempDir,
    probe: Result<SandboxedContributor, Error>,
    /// What the operator's own contributors said before.
    before: Result<Overlay, Error>,
    processes_before: usize,
}

impl<'h> Trials<'h> {
    pub(super) fn new(sandbox: &'h Sandbox, configuration: &'h Configuration, host: &'h Host) -> io::Result<Self> {
        let place = workspace()?;
        let probe = probe(sandbox, configuration);
        let before = host.registry().collect(&Execution::new("torture"));
        Ok(Self { sandbox, configuration, host, place, probe, before, processes_before: children() })
    }

    /// Loads a component of the pack, registers it and asks it, twice.
    pub(super) fn load(&self, hostile: &Hostile) -> Trial {
        let started = Instant::now();
        let came = self.ask_hostile(hostile);
        let ms = started.elapsed().as_secs_f64() * 1e3;
        let (contained, how) = match (&hostile.right, came) {
            (Right::Value(right), Ok(value)) if value.as_deref() == *right => (true, "answered right".to_owned()),
            (Right::Value(_), Ok(value)) => (false, format!("answered {value:?}")),
            (Right::Value(_), Err(error)) => (false, error.to_string()),
            (Right::Codes(_), Ok(_)) => (false, "it was accepted".to_owned()),
            (Right::Codes(codes), Err(error)) => {
                let right = codes.contains(&error.code().as_str()) || LIMITS.contains(&error.code());
                (right && error.stage() != Stage::Host, describe(&error))
            }
        };
        Trial { tries: hostile.tries, contained, how, ms }
    }

    fn ask_hostile(&self, hostile: &Hostile) -> Result<Option<String>, Error> {
        let contributor = self.sandbox.load(hostile.component)?.contributor()?;
        let contributor = contributor.with_limits(self.configuration.limits);
        let registry = Registry::new(&Home::resolve(Some("/".as_ref()))?);
        let terms = Terms { values: self.configuration.values, ..Terms::default() };
        let registration = registry.register_under(std::sync::Arc::new(contributor), terms)?;
        let name = registration.name();
        let mut value = None;
        for _ in 0..2 {
            let overlay = registry.collect(&Execution::new("torture"))?;
            let own = overlay.iter().find(|entry| entry.contributor.as_ref() == Some(&name));
            value = own.map(|entry| entry.value.expose().to_owned());
        }
        Ok(value)
    }

    /// Tells the probe to do something.
    pub(super) fn attempt(&self, attempt: &Attempt) -> Trial {
        let started = Instant::now();
        let came = self.tell(attempt.operation);
        let ms = started.elapsed().as_secs_f64() * 1e3;
        let (contained, how) = match (&attempt.right, came) {
            (Held::Ended, Err(error)) => {
                (LIMITS.contains(&error.code()) || error.code() == Code::Trap, describe(&error))
            }
            (_, Err(error)) => (false, error.to_string()),
            (Held::Denied, Ok(Answer::Denied(why))) => (true, format!("denied: {why}")),
            (Held::Answered(right), Ok(Answer::Said(said))) => (said == *right, format!("told {said}")),
            (Held::Constant, Ok(Answer::Said(said))) => match self.tell(attempt.operation) {
                Ok(Answer::Said(again)) if again == said => (true, "the same every time".to_owned()),
                _ => (false, "another answer every time".to_owned()),
            },
            (_, Ok(Answer::Said(said))) => (false, format!("it was let: {said}")),
            (_, Ok(Answer::Denied(why))) => (false, format!("denied: {why}")),
        };
        Trial { tries: attempt.tries, contained, how, ms }
    }

    fn tell(&self, operation: &str) -> Result<Answer, Error> {
        let workdir = self.place.path().join("workspace").to_string_lossy().into_owned();
        let mut execution = Execution::new("torture").in_workdir(workdir);
        execution.extensions.push(("probe".to_owned(), operation.to_owned()));
        let probe = self.probe.as_ref().map_err(Clone::clone)?;
        let said = probe.resolve(&execution, &Deadline::after(PATIENCE));
        let said = said.map_err(|failure| Error::resolve(failure.code(), failure.message()))?;
        let json = said.first().map(|binding| binding.value.as_str()).unwrap_or_default();
        let answers: Vec<serde_json::Value> = serde_json::from_str(json)
            .map_err(|error| Error::resolve(Code::InvalidOutput, format!("the probe answered nonsense: {error}")))?;
        let answer = answers.first();
        Ok(match answer.and_then(|answer| answer.get("error")) {
            Some(why) => Answer::Denied(why.as_str().unwrap_or_default().to_owned()),
            None => {
                Answer::Said(answer.and_then(|answer| answer.get("ok")).map(ToString::to_string).unwrap_or_default())
            }
        })
    }

    /// Whether the operator's own contributors still say what they said.
    pub(super) fn own_contributors(&self) -> Trial {
        let started = Instant::now();
        let after = self.host.registry().collect(&Execution::new("torture"));
        let keys = |overlay: &Overlay| overlay.iter().map(|entry| entry.key.to_string()).collect::<Vec<_>>();
        let (contained, how) = match (&self.before, &after) {
            (Ok(before), Ok(after)) if keys(before) == keys(after) => {
                (true, format!("they answer as before, with {} keys", keys(after).len()))
            }
            (Ok(_), Ok(_)) => (false, "they answer with other keys than before".to_owned()),
            (Err(before), Err(after)) if before.code() == after.code() => (true, format!("as before: {after}")),
            (_, Err(after)) => (false, after.to_string()),
            (Err(_), Ok(_)) => (true, "they fail no more".to_owned()),
        };
        let ms = started.elapsed().as_secs_f64() * 1e3;
        Trial { tries: "Your own contributors, after all that", contained, how, ms }
    }

    /// Whether processes are left that nobody needs.
    pub(super) fn left_behind(&self) -> Trial {
        // A few workers stay warm.
        const WARM: usize = 16;
        let left = children().saturating_sub(self.processes_before);
        let how = format!("{left} worker processes, kept warm");
        Trial { tries: "What is left behind", contained: left <= WARM, how, ms: 0.0 }
    }
}

/// The probe, granted a workspace and to be told what to do.
fn probe(sandbox: &Sandbox, configuration: &Configuration) -> Result<SandboxedContributor, Error> {
    let grants = Grants {
        workspace: Some(Workspace { kind: WorkspaceKind::Workdir, within: None }),
        extensions: Extensions::Named(BTreeSet::from(["probe".to_owned()])),
        ..Grants::default()
    };
    let contributor = sandbox.load(PROBE)?.contributor()?;
    Ok(contributor.with_limits(configuration.limits).with_grants(grants))
}

enum Answer {
    Said(String),
    Denied(String),
}

fn describe(error: &Error) -> String {
    format!("{} ({})", error.code(), error.stage())
}

/// Processes that this one started and that have not ended.
fn children() -> usize {
    let tasks = std::fs::read_dir("/proc/self/task").into_iter().flatten().flatten();
    tasks
        .filter_map(|task| std::fs::read_to_string(task.path().join("children")).ok())
        .map(|pids| pids.split_whitespace().count())
        .sum()
}

/// A folder with a workspace in it, from which everything leads out.
fn workspace() -> io::Result<TempDir> {
    let place = tempfile::tempdir()?;
    let workspace = place.path().join("workspace");
    std::fs::create_dir(&workspace)?;
    std::fs::write(place.path().join("secret"), "kept from every guest")?;
    std::fs::write(workspace.join("file"), "inside")?;
    #[cfg(unix)]
    {
        use std::os::unix::fs::symlink;
        symlink("../secret", workspace.join("relative"))?;
        symlink(place.path().join("secret"), workspace.join("absolute"))?;
        symlink("/proc/self/environ", workspace.join("environ"))?;
        symlink("/dev/zero", workspace.join("device"))?;
    }
    #[cfg(target_os = "linux")]
    {
        use rustix::fs::{CWD, FileType, Mode, mknodat};
        mknodat(CWD, workspace.join("fifo"), FileType::Fifo, Mode::RUSR | Mode::WUSR, 0)?;
    }
    Ok(place)
}
