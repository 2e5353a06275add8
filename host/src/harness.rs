//! A whole harness, composed of one configuration: a host with its registry, what keeps the sessions, the
//! executor, the tools, the hooks and the skills.
//!
//! Each part comes from the home and its `dsh-env.toml`, unless an embedder brings its own. Two that bring
//! the same part, and two parts that were given different homes, are refused: which of them holds would be a
//! matter of chance.

mod options;
mod start;

use std::path::{Path, PathBuf};
use std::sync::Arc;

pub use options::HarnessOptions;
pub use start::SessionStart;

use crate::agent::{Agent, AgentParts, Model};
use crate::environment::{OrdinaryEnv, Shell};
use crate::error::{Code, Error, Result};
use crate::executor::{Executor, ExecutorOptions};
use crate::file::read_regular;
use crate::home::{Home, Surroundings, expand_tilde, normalise, permissions};
use crate::hooks::{Dialect, HookFile, HookSet, Hooks, HooksOptions};
use crate::host::{self, Host};
use crate::installation::HooksSettings;
use crate::sessions::SessionStore;
use crate::skills::Skills;
use crate::text::shown;
use crate::tools::Tools;

/// The folder of the state where long output of commands is kept.
const OUTPUT_FOLDER: &str = "output";

/// The most bytes of a file of hooks.
const MAX_HOOKS_BYTES: usize = 1024 * 1024;

/// A composed harness.
pub struct Harness {
    host: Host,
    store: Arc<dyn SessionStore>,
    tools: Tools,
    hooks: Hooks,
    skills: Skills,
    warnings: Vec<String>,
}

impl Harness {
    /// Composes a harness. Contributors are loaded; no session is read and nothing is started.
    ///
    /// # Errors
    /// Those of [`Host::open`]; `contradictory-homes` where skills were given another home than the host;
    /// `invalid-configuration` where two bring the same part, or a file of hooks is wrong.
    pub fn compose(options: HarnessOptions) -> Result<Self> {
        let store = options::only_one("sessions", options.stores)?;
        let executor = options::only_one("executor", options.executors)?;
        let host = Host::open(&options.host)?;
        let skills_home = skills_home(&host, options.skills_home.as_deref())?;
        let skills = Skills::at(skills_home);
        let store = match store {
            Some(store) => store,
            None => host::session_store(&options.host, &host.configuration(), host.home())?,
        };
        // One and the same: it knows where those logs are that were begun elsewhere than it would begin them.
        host.persistence().replace(Some(Arc::clone(&store) as _));
        let executor = match executor {
            Some(executor) => executor,
            None => {
                permissions::check(host.state_dir())?;
                let spill_folder = host.state_dir().join(OUTPUT_FOLDER);
                Executor::new(ExecutorOptions { spill_folder, keeper: options.keeper })?
            }
        };
        let shells = match &host.configuration().tools.shells {
            Some(shells) => shells.clone(),
            None => Shell::ALL.iter().copied().filter(|shell| shell.is_installed()).collect(),
        };
        let (hooks, warnings) = hooks(&host, &executor, options.ordinary.clone())?;
        let tools = Tools::new(host.registry().clone(), executor, shells, options.ordinary);
        Ok(Self { host, store, tools, hooks, skills, warnings })
    }

    /// The host: home, registry, contributors.
    #[must_use]
    pub fn host(&self) -> &Host {
        &self.host
    }

    /// What keeps the sessions.
    #[must_use]
    pub fn store(&self) -> &Arc<dyn SessionStore> {
        &self.store
    }

    /// The tools that models are shown.
    #[must_use]
    pub fn tools(&self) -> &Tools {
        &self.tools
    }

    /// The users' hooks.
    #[must_use]
    pub fn hooks(&self) -> &Hooks {
        &self.hooks
    }

    /// The skills in the home.
    #[must_use]
    pub fn skills(&self) -> &Skills {
        &self.skills
    }

    /// What people should know although the harness works.
    pub fn warnings(&self) -> impl Iterator<Item = String> {
        self.host.warnings().into_iter().chain(self.warnings.iter().cloned())
    }

    /// An agent in a session that is begun or resumed, whose commands run in `workdir` unless they say where.
    ///
    /// # Errors
    /// Those of the session's log.
    pub fn agent(&self, start: SessionStart, model: Box<dyn Model>, workdir: impl Into<PathBuf>) -> Result<Agent> {
        let (session, resumed) = start.session(&self.store)?;
        Ok(Agent::new(AgentParts {
            session,
            model,
            tools: self.tools.clone(),
            hooks: self.hooks.clone(),
            workdir: workdir.into(),
            resumed,
        }))
    }

    /// Ends every command that runs.
    pub async fn shut_down(&self) {
        self.tools.executor().shut_down().await;
    }
}

/// The home that skills are found in: the host's, however many say so.
fn skills_home(host: &Host, named: Option<&std::ffi::OsStr>) -> Result<Home> {
    let configuration = host.configuration();
    let configured = configuration.skills.home.as_deref().map(std::ffi::OsStr::new);
    let mut agreed = host.home().clone();
    for (part, home) in [("the configuration of skills", configured), ("the skills of this composition", named)] {
        if let Some(home) = home {
            agreed = Home::agreed(("the shell environment", agreed), (part, Home::resolve(Some(home))?))?;
        }
    }
    Ok(agreed)
}

/// The hooks of the configured files, and what is amiss with them although they can be used.
fn hooks(host: &Host, executor: &Executor, ordinary: OrdinaryEnv) -> Result<(Hooks, Vec<String>)> {
    let HooksSettings { claude_code, codex, block_without_reason } = &host.configuration().hooks;
    let mut sets = Vec::new();
    for (dialect, files) in [(Dialect::ClaudeCode, claude_code), (Dialect::Codex, codex)] {
        for file in files {
            sets.push(hook_set(dialect, &placed(file, host.home())?)?);
        }
    }
    let warnings = sets.iter().flat_map(|set| set.warnings().iter().cloned()).collect();
    let options = HooksOptions { sets, block_without_reason: *block_without_reason, inherited: None, ordinary };
    Ok((Hooks::new(options, host.persistence().clone(), Arc::new(executor.clone())), warnings))
}

/// Hooks are commands, so whoever can write to their file, or put another in its place, chooses what runs.
fn hook_set(dialect: Dialect, file: &Path) -> Result<HookSet> {
    let unusable = |why: &str| {
        let message = format!(
            "{}: the hooks cannot be used, because {}: mend it, or remove the file from [hooks] {} in the configuration",
            shown(&file.display().to_string()),
            shown(why),
            dialect.as_str()
        );
        Error::host(Code::InvalidConfiguration, message)
    };
    if let Some(folder) = file.parent() {
        permissions::check(folder)?;
    }
    let read = read_regular(file, MAX_HOOKS_BYTES).map_err(|fault| unusable(&fault.to_string()))?;
    permissions::check_metadata(file, &read.metadata)?;
    let text = std::str::from_utf8(&read.bytes).map_err(|_| unusable("it is not UTF-8"))?;
    HookFile::parse(dialect, file, text)
}

/// A file as the configuration names it: `~` is the user's home, and what is relative is below the host's.
fn placed(file: &Path, home: &Home) -> Result<PathBuf> {
    let unknown = || {
        let message = "a file of hooks begins with ~, and the user's home is not known: set HOME, or name it in full";
        Error::host(Code::InvalidConfiguration, message)
    };
    let text = file.to_string_lossy();
    let expanded = expand_tilde(&text, Surroundings::of_process().user_home.as_deref()).ok_or_else(unknown)?;
    normalise(&expanded, Some(home.path())).ok_or_else(unknown)
}

#[cfg(test)]
mod tests;
