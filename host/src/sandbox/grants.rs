//! What an operator lets one contributor see beyond the execution record.
//!
//! Nothing is granted by default, and there is no grant of the network. A grant opens what a component
//! imports; a component that imports what is not granted runs with the empty version of it.

pub(super) mod filesystems;
mod workspace;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use serde::Serialize;

use super::limits::Limits;
use super::world::Granted;
use crate::contract::{Execution, Facts, is_managed_name};

pub(super) use workspace::Shown;
pub use workspace::{Workspace, WorkspaceKind};

/// What one contributor is granted; nothing unless something is set.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Grants {
    /// Its settings, which it reads through `wasi:config/store`; nothing where it may not read them.
    pub config: Option<Settings>,
    /// Names of variables of the host's own environment, read at the time of the call.
    pub env: BTreeSet<String>,
    /// Names of facts of the host, which it reads beside its settings as `facts.NAME`.
    pub facts: BTreeSet<String>,
    /// Which extensions of the execution it sees.
    pub extensions: Extensions,
    /// A directory that it may read.
    pub workspace: Option<Workspace>,
    /// Whether it sees the real clocks; else it is the epoch for ever.
    pub clock: bool,
    /// Whether it gets real randomness; else the same numbers in every call.
    pub random: bool,
}

impl Grants {
    /// Whether nothing is granted.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// What one call sees by them: read from the host's environment and opened in its file system now.
    pub(super) fn view(&self, execution: &Execution, facts: &Facts, limits: &Limits) -> View {
        let variable = |name: &String| Some((name.clone(), std::env::var(name).ok()?));
        let granted = Granted {
            config: self.readable(facts),
            // None of the host's own, whatever an embedder granted: those are what the overlay is there for.
            env: self.env.iter().filter(|name| !is_managed_name(name.as_bytes())).filter_map(variable).collect(),
            clock: self.clock,
            random: self.random,
            log: limits.log,
        };
        let (shown, note) = match self.workspace.as_ref().map(|workspace| workspace.open(execution)) {
            None => (Vec::new(), None),
            Some(Ok(shown)) => (shown, None),
            Some(Err(why)) => (Vec::new(), Some(format!("the workspace is not shown: {why}"))),
        };
        View { granted, shown, note }
    }
}

/// Begins the names under which facts are read.
const FACTS: &str = "facts.";

impl Grants {
    /// What can be asked for by name: the settings, and the facts.
    fn readable(&self, facts: &Facts) -> BTreeMap<String, String> {
        let settings = self.config.iter().flat_map(|settings| &settings.0);
        // None that looks like a fact, whatever an embedder set.
        let settings = settings.filter(|(name, _)| !name.starts_with(FACTS));
        let settings = settings.map(|(name, value)| (name.clone(), value.clone()));
        let known = self.facts.iter().filter_map(|name| Some((format!("{FACTS}{name}"), facts.get(name)?.to_owned())));
        settings.chain(known).collect()
    }
}

/// What one call sees beyond the execution record.
pub(super) struct View {
    pub(super) granted: Granted,
    /// The directories that it may read.
    pub(super) shown: Vec<Shown>,
    /// What the operator should know, for the contributor's log.
    pub(super) note: Option<String>,
}

/// Settings of a contributor, by their names. Neither `Debug` nor JSON shows a value: it may be a secret.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Settings(pub BTreeMap<String, String>);

impl fmt::Debug for Settings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.0.keys()).finish()
    }
}

impl Serialize for Settings {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.0.keys())
    }
}

/// Which extensions of an execution a contributor sees.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Extensions {
    /// Those of these names.
    Named(BTreeSet<String>),
    /// All that there are.
    All,
}

impl Default for Extensions {
    fn default() -> Self {
        Self::Named(BTreeSet::new())
    }
}

impl Extensions {
    /// Whether an extension of this name is seen.
    #[must_use]
    pub fn includes(&self, name: &str) -> bool {
        match self {
            Self::Named(names) => names.contains(name),
            Self::All => true,
        }
    }
}

impl Serialize for Extensions {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Named(names) => serializer.collect_seq(names),
            Self::All => serializer.collect_seq(["*"]),
        }
    }
}
