//! The answers of several hooks as one.

use serde_json::Value;

use super::{Decision, HookOutcome};

/// What one hook said.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Verdict {
    pub(super) decision: Decision,
    pub(super) reason: Option<String>,
    pub(super) updated_input: Option<Value>,
    pub(super) additional_context: Option<String>,
    pub(super) system_message: Option<String>,
    pub(super) stop: Option<String>,
}

/// Merges verdicts that are in the order of configuration. Reports are the caller's.
pub(super) fn merge(verdicts: Vec<Verdict>) -> HookOutcome {
    let decision = verdicts.iter().map(|verdict| verdict.decision).max().unwrap_or_default();
    let reasons = verdicts
        .iter()
        .filter(|verdict| verdict.decision == decision && decision != Decision::None)
        .filter_map(|verdict| verdict.reason.as_deref());
    let mut outcome = HookOutcome {
        decision,
        reason: joined(reasons),
        stop: joined(verdicts.iter().filter_map(|verdict| verdict.stop.as_deref())),
        ..HookOutcome::default()
    };
    for verdict in verdicts {
        if verdict.decision == Decision::Allow && verdict.updated_input.is_some() {
            outcome.updated_input = verdict.updated_input;
        }
        outcome.additional_context.extend(verdict.additional_context);
        outcome.system_messages.extend(verdict.system_message);
    }
    if outcome.is_denied() {
        outcome.updated_input = None;
    }
    outcome
}

fn joined<'a>(texts: impl Iterator<Item = &'a str>) -> Option<String> {
    let texts: Vec<_> = texts.collect();
    (!texts.is_empty()).then(|| texts.join("\n"))
}
