//! The JSON object that a hook may answer with.
//!
//! Every field is optional. A field that is not known is ignored, and one of another type than it should have
//! is ignored and reported.
//!
//! | field | means |
//! | --- | --- |
//! | `continue`: false, `stopReason` | the agent stops altogether |
//! | `systemMessage` | shown to the person |
//! | `decision`: `block`, `reason` | blocks, as exit 2 does |
//! | `decision`: `approve`, `reason` | allows a call; the old way to say so |
//! | `hookSpecificOutput` | the fields below; ignored and reported if its `hookEventName` is another event |
//! | … `permissionDecision`, `permissionDecisionReason` | `allow`, `ask` or `deny` a call; goes before `decision` |
//! | … `updatedInput` | other arguments for a call that this hook allows |
//! | … `additionalContext` | told to the model |

use serde_json::{Map, Value};

use super::{Answer, MAX_TEXT, Reading, readable};
use crate::hooks::{Decision, EventName};
use crate::text::shown_within;

/// The reason to stop of a hook that gave none.
const NO_STOP_REASON: &str = "a hook stopped the agent and did not say why";

/// The most bytes of a word that was not understood.
const MAX_WORD: usize = 64;

type Object = Map<String, Value>;

impl Reading {
    pub(super) fn object(self, object: &Object, answer: &mut Answer) {
        let stop_reason = text(object, "stopReason", answer);
        if flag(object, "continue", answer) == Some(false) {
            let reason = stop_reason.map(|reason| readable(reason, MAX_TEXT)).filter(|reason| !reason.is_empty());
            answer.verdict.stop = Some(reason.unwrap_or_else(|| NO_STOP_REASON.to_owned()));
        }
        let message = text(object, "systemMessage", answer).map(|message| readable(message, MAX_TEXT));
        answer.verdict.system_message = message.filter(|message| !message.is_empty());

        let specific = self.specific(object, answer);
        let is_decided = specific.is_some_and(|specific| self.permission(specific, answer));
        if !is_decided {
            self.legacy(object, answer);
        }
        if let Some(specific) = specific {
            self.updated_input(specific, answer);
            let context = text(specific, "additionalContext", answer).map(str::trim);
            answer.verdict.additional_context = context.filter(|text| !text.is_empty()).map(str::to_owned);
        }
    }

    /// The part that is about this event.
    fn specific<'a>(self, object: &'a Object, answer: &mut Answer) -> Option<&'a Object> {
        let specific = match object.get("hookSpecificOutput")? {
            Value::Null => return None,
            Value::Object(specific) => specific,
            _ => {
                answer.wrong_type("hookSpecificOutput", "an object");
                return None;
            }
        };
        match text(specific, "hookEventName", answer) {
            Some(name) if name != self.event.as_str() => {
                let name = shown_within(name, MAX_WORD);
                answer.problem(&format!("hookSpecificOutput is about {name} and not about {}", self.event));
                None
            }
            _ => Some(specific),
        }
    }

    /// Reads `permissionDecision`; whether there was one that counts.
    fn permission(self, specific: &Object, answer: &mut Answer) -> bool {
        let Some(word) = text(specific, "permissionDecision", answer) else { return false };
        if self.event != EventName::PreToolUse {
            answer.problem(&format!("permissionDecision means nothing for {}", self.event));
            return false;
        }
        let reason = text(specific, "permissionDecisionReason", answer).unwrap_or_default();
        match word {
            "deny" => self.block(reason, answer),
            "ask" => answer.decide(Decision::Ask, reason),
            "allow" => answer.decide(Decision::Allow, reason),
            _ => {
                answer.unknown("permissionDecision", word);
                return false;
            }
        }
        true
    }

    /// Reads `decision`.
    fn legacy(self, object: &Object, answer: &mut Answer) {
        let Some(word) = text(object, "decision", answer) else { return };
        let reason = text(object, "reason", answer).unwrap_or_default();
        match word {
            "block" => self.block(reason, answer),
            "approve" if self.event == EventName::PreToolUse => answer.decide(Decision::Allow, reason),
            // It says what happens anyway.
            "approve" => {}
            _ => answer.unknown("decision", word),
        }
    }

    fn updated_input(self, specific: &Object, answer: &mut Answer) {
        match specific.get("updatedInput") {
            None | Some(Value::Null) => {}
            Some(Value::Object(_)) if answer.verdict.decision != Decision::Allow => {
                answer.problem("updatedInput counts only with a permissionDecision that allows the call");
            }
            Some(input @ Value::Object(_)) => answer.verdict.updated_input = Some(input.clone()),
            Some(_) => answer.wrong_type("updatedInput", "an object"),
        }
    }
}

impl Answer {
    fn decide(&mut self, decision: Decision, reason: &str) {
        let reason = readable(reason, MAX_TEXT);
        self.verdict.decision = decision;
        self.verdict.reason = (!reason.is_empty()).then_some(reason);
    }

    fn wrong_type(&mut self, field: &str, wanted: &str) {
        self.problem(&format!("{field} is not {wanted} and was ignored"));
    }

    fn unknown(&mut self, field: &str, word: &str) {
        self.problem(&format!("{field} is \"{}\", which means nothing", shown_within(word, MAX_WORD)));
    }
}

fn text<'a>(object: &'a Object, field: &str, answer: &mut Answer) -> Option<&'a str> {
    match object.get(field)? {
        Value::String(text) => return Some(text),
        Value::Null => {}
        _ => answer.wrong_type(field, "a text"),
    }
    None
}

fn flag(object: &Object, field: &str, answer: &mut Answer) -> Option<bool> {
    match object.get(field)? {
        Value::Bool(flag) => return Some(*flag),
        Value::Null => {}
        _ => answer.wrong_type(field, "true or false"),
    }
    None
}
