//! An event, told to every hook that it is for, all at once.

use std::collections::HashSet;
use std::ffi::OsString;
use std::fmt;
use std::sync::Arc;
use std::time::{Duration, Instant};

use tokio::task::JoinSet;

use super::answer::{Answer, Reading};
use super::environment::environment;
use super::merge::merge;
use super::set::Hook;
use super::{
    Dialect, HookCommand, HookContext, HookEnd, HookEvent, HookOutcome, HookReport, HookRun, HookRunner, HookSet,
    Transcripts, payload,
};
use crate::environment::{OrdinaryEnv, strict_shell};
use crate::error::{Code, Error, Result};
use crate::sessions::ActivePersistence;
use crate::text::{shown, shown_within};

/// The most bytes of a command in a report.
const MAX_COMMAND: usize = 256;

/// Which hooks there are, and how their answers are read.
#[derive(Clone)]
pub struct HooksOptions {
    /// The hooks, in the order of configuration.
    pub sets: Vec<HookSet>,
    /// Whether a hook that blocks without a reason does block, with a general reason. `false` is what the real
    /// Codex does: nothing is blocked, and it is reported.
    pub block_without_reason: bool,
    /// What hooks inherit, before managed names, credentials and what steers a shell are removed; `None` is
    /// this process's own environment at the time of an event.
    pub inherited: Option<Vec<(OsString, OsString)>>,
    /// What the harness sets for every hook, as for every command.
    pub ordinary: OrdinaryEnv,
}

impl Default for HooksOptions {
    fn default() -> Self {
        Self { sets: Vec::new(), block_without_reason: true, inherited: None, ordinary: OrdinaryEnv::new() }
    }
}

/// A user's hooks. Cheap to clone; every clone is the same.
///
/// Without sets nothing is ever run.
#[derive(Clone)]
pub struct Hooks {
    shared: Arc<Shared>,
}

struct Shared {
    options: HooksOptions,
    persistence: ActivePersistence,
    runner: Arc<dyn HookRunner>,
}

impl Hooks {
    /// Hooks that are told where transcripts are by whatever service is current when an event happens.
    #[must_use]
    pub fn new(options: HooksOptions, persistence: ActivePersistence, runner: Arc<dyn HookRunner>) -> Self {
        Self { shared: Arc::new(Shared { options, persistence, runner }) }
    }

    /// Whether there is no hook at all.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.shared.options.sets.iter().all(HookSet::is_empty)
    }

    /// Tells every hook that an event is for, at once, waits for all, and merges what they say.
    ///
    /// A hook that fails blocks nothing and is in the reports. Dropping the future ends the hooks that run.
    /// It has to be polled on a tokio runtime.
    pub async fn fire(&self, context: &HookContext, event: &HookEvent) -> HookOutcome {
        let selected = self.select(event);
        if selected.is_empty() {
            return HookOutcome::default();
        }
        let runs = self.run(context, event, &selected).await;
        let mut verdicts = Vec::with_capacity(selected.len());
        let mut reports = Vec::with_capacity(selected.len());
        for ((dialect, hook), (run, took)) in selected.into_iter().zip(runs) {
            let reading = Reading {
                dialect,
                event: event.name(),
                block_without_reason: self.shared.options.block_without_reason,
            };
            let (end, answer) = match run {
                Ok(run) => (run.end, reading.read(&run)),
                Err(error) => (HookEnd::NotStarted, Answer { problems: vec![error.to_string()], ..Answer::default() }),
            };
            reports.push(HookReport {
                dialect,
                event: event.name(),
                command: shown_within(&hook.command, MAX_COMMAND),
                end,
                took,
                decision: answer.verdict.decision,
                problems: answer.problems,
            });
            verdicts.push(answer.verdict);
        }
        HookOutcome { reports, ..merge(verdicts) }
    }

    /// The hooks that an event is for, in the order of configuration.
    fn select<'a>(&'a self, event: &'a HookEvent) -> Vec<(Dialect, &'a Hook)> {
        let mut seen = HashSet::new();
        let sets = self.shared.options.sets.iter();
        sets.flat_map(|set| set.matching(event).map(|hook| (set.dialect, hook)))
            .filter(|(dialect, hook)| !dialect.runs_equal_commands_once() || seen.insert(hook.command.as_str()))
            .collect()
    }

    /// Runs hooks at once; what each did and how long it took, in their order.
    async fn run(
        &self,
        context: &HookContext,
        event: &HookEvent,
        selected: &[(Dialect, &Hook)],
    ) -> Vec<(Result<HookRun>, Duration)> {
        let transcripts = Transcripts::locate(&self.shared.persistence, context, event);
        let mut tasks = JoinSet::new();
        for (index, (dialect, hook)) in selected.iter().enumerate() {
            let command = self.command(*dialect, hook, context, payload(*dialect, context, event, &transcripts));
            let runner = self.shared.runner.clone();
            tasks.spawn(async move {
                let begun = Instant::now();
                let run = match command {
                    Ok(command) => runner.run(command).await,
                    Err(error) => Err(error),
                };
                (index, run, begun.elapsed())
            });
        }
        let mut done = Vec::with_capacity(selected.len());
        while let Some(task) = tasks.join_next().await {
            done.extend(task.ok());
        }
        // A task that panicked has no place in `done`.
        (0..selected.len())
            .map(|index| {
                let found = done.iter().position(|(at, ..)| *at == index).map(|position| done.swap_remove(position));
                let lost = || Error::host(Code::Internal, "the task that ran the hook failed");
                found.map_or_else(|| (Err(lost()), Duration::ZERO), |(_, run, took)| (run, took))
            })
            .collect()
    }

    fn command(&self, dialect: Dialect, hook: &Hook, context: &HookContext, payload: Vec<u8>) -> Result<HookCommand> {
        let program = OsString::from(dialect.shell());
        let inherited = match &self.shared.options.inherited {
            Some(inherited) => inherited.clone(),
            None => std::env::vars_os().collect(),
        };
        Ok(HookCommand {
            arguments: strict_shell::script_arguments(&program, hook.command.as_ref()),
            program,
            workdir: context.cwd.clone(),
            environment: environment(dialect, inherited, self.shared.options.ordinary.clone(), &context.cwd)?,
            payload,
            limit: hook.limit,
        })
    }
}

/// Without what hooks inherit, which may be confidential.
impl fmt::Debug for Hooks {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let commands = |set: &HookSet| set.hooks.iter().map(|hook| shown(&hook.command)).collect::<Vec<_>>();
        f.debug_list()
            .entries(self.shared.options.sets.iter().map(|set| (set.dialect.as_str(), commands(set))))
            .finish()
    }
}
