//! Where the transcripts are that a payload names.

use super::{HookContext, HookEvent};
use crate::contract::SessionHeader;
use crate::sessions::{ActivePersistence, Location, LocationKind, Persistence};

/// The paths of transcripts in one payload, as far as there are any.
///
/// They follow the rules by which a command's own variable is made: from the service that is current, of kind
/// `jsonl`, valid UTF-8. What a command is not told, a hook is not told either.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Transcripts {
    /// Of the session that the event happens in.
    pub session: Option<String>,
    /// Of the agent that the event is about, if it is about another one.
    pub subagent: Option<String>,
}

impl Transcripts {
    /// Asks the service that is current, once for the event. Nothing on disk is looked at or made.
    #[must_use]
    pub fn locate(persistence: &ActivePersistence, context: &HookContext, event: &HookEvent) -> Self {
        let Some(persistence) = persistence.current() else { return Self::default() };
        let subagent = match event {
            HookEvent::SubagentStop { agent, .. } => path_of(&*persistence, agent),
            _ => None,
        };
        Self { session: path_of(&*persistence, &context.session), subagent }
    }
}

fn path_of(persistence: &dyn Persistence, header: &SessionHeader) -> Option<String> {
    let Location { kind: LocationKind::Jsonl, path } = persistence.locate(header)?;
    // As for a command: a path that had to be changed to become text would lead elsewhere.
    path.into_os_string().into_string().ok()
}
