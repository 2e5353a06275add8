//! What all hooks of one event said together, and how each of them went.

use std::time::Duration;

use serde::Serialize;
use serde_json::Value;

use super::{Dialect, EventName};

/// What hooks decided, from the weakest to the strongest: of several the strongest counts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Decision {
    /// Nothing: what happens does not depend on hooks.
    #[default]
    None,
    /// The call may be made without asking anybody.
    Allow,
    /// A person is to be asked.
    Ask,
    /// It is blocked. What that means depends on the event: a prompt is not taken, a call is not made, a turn
    /// does not end but goes on with the reason, and a result that is there already is given to the model
    /// with the reason beside it.
    Deny,
}

/// What all hooks of one event said together.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct HookOutcome {
    /// The strongest decision of any hook.
    pub decision: Decision,
    /// Why: the reasons of all hooks that decided so, in the order of configuration, a line each or more.
    /// Always there for a denial. Control characters are escaped but for line ends and tabs.
    pub reason: Option<String>,
    /// The arguments that the tool is to run with instead: of the last hook, in the order of configuration,
    /// that allowed the call and gave some. Never there for a denial.
    pub updated_input: Option<Value>,
    /// What the model is to know, a text for each hook that said something, verbatim. None is longer than what
    /// an executor keeps of an output in memory.
    pub additional_context: Vec<String>,
    /// What the person is to see. Control characters are escaped but for line ends and tabs.
    pub system_messages: Vec<String>,
    /// Why the agent is to stop altogether, if a hook wants that, whatever was decided.
    pub stop: Option<String>,
    /// How each command went, in the order of configuration. Empty when nothing matched.
    pub reports: Vec<HookReport>,
}

impl HookOutcome {
    /// Whether the event is blocked.
    #[must_use]
    pub fn is_denied(&self) -> bool {
        self.decision == Decision::Deny
    }
}

/// How one command went.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct HookReport {
    /// Whose format it is configured in.
    pub dialect: Dialect,
    /// The event.
    pub event: EventName,
    /// The command, escaped and bounded.
    pub command: String,
    /// How it ended.
    pub end: HookEnd,
    /// From its start to its end.
    pub took: Duration,
    /// What it decided by itself.
    pub decision: Decision,
    /// What was wrong with it or with its answer, for people; empty if nothing was.
    pub problems: Vec<String>,
}

/// How a command ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum HookEnd {
    /// With this exit status.
    Exited(i32),
    /// By this signal.
    Signalled(i32),
    /// It was ended because it took too long.
    TimedOut,
    /// It was ended because its caller no longer wanted it.
    Cancelled,
    /// It never ran.
    NotStarted,
}
