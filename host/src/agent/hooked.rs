//! What the loop tells users' hooks, and what it takes from them.

use super::turn::{Turn, TurnEnd};
use super::{Agent, record};
use crate::error::Result;
use crate::hooks::{HookContext, HookEvent, HookOutcome};
use crate::sessions::{LogHeader, SUBAGENT};

/// What hooks are told of permissions: nobody is there who could be asked.
const PERMISSION_MODE: &str = "default";

impl Agent {
    /// Tells the hooks what happens, and records what each did.
    pub(super) async fn fire(&mut self, turn: Option<&Turn>, event: HookEvent) -> HookOutcome {
        let context = HookContext {
            session: self.session.header().session.clone(),
            cwd: self.workdir.clone(),
            model: self.model.name().to_owned(),
            permission_mode: PERMISSION_MODE.to_owned(),
            turn_id: turn.map(|turn| turn.id.clone()),
        };
        let outcome = self.hooks.fire(&context, &event).await;
        if let Some(report) = record::hook_report(event.name().as_str(), &outcome) {
            // What a hook did is good to know and no reason to fail.
            let _ = self.record(record::HOOK_REPORT, report);
        }
        outcome
    }

    /// Takes what hooks add to the conversation, until there is one to add it to, and whether they stop it.
    pub(super) fn heed(&mut self, outcome: &HookOutcome) -> Option<TurnEnd> {
        self.context.extend(outcome.additional_context.iter().cloned());
        outcome.stop.clone().map(|reason| TurnEnd::Stopped { reason })
    }

    /// Tells the model what hooks want it to know.
    pub(super) fn tell_context(&mut self) -> Result<()> {
        std::mem::take(&mut self.context).into_iter().try_for_each(|text| self.tell(text))
    }

    /// What hooks are told of a model that is done; those of a subagent by another name.
    pub(super) fn ending(&self, stop_hook_active: bool, last_assistant_message: Option<String>) -> HookEvent {
        let LogHeader { session, agent_preset, .. } = self.session.header();
        if session.origin.as_deref() != Some(SUBAGENT) {
            return HookEvent::Stop { stop_hook_active, last_assistant_message };
        }
        HookEvent::SubagentStop {
            agent: session.clone(),
            agent_type: agent_preset.clone().unwrap_or_default(),
            stop_hook_active,
            last_assistant_message,
        }
    }
}
