use proptest::prelude::*;

use super::*;
use crate::hooks::answer::{Answer, Reading};
use crate::hooks::merge::Verdict;

const SPECIFIC: &str = "hookSpecificOutput";

fn reading(dialect: Dialect, event: EventName) -> Reading {
    Reading { dialect, event, block_without_reason: true }
}

fn run(end: HookEnd, stdout: &str, stderr: &str) -> HookRun {
    HookRun { end, stdout: Some(stdout.into()), stderr: stderr.into() }
}

fn exited(status: i32, stdout: &str, stderr: &str) -> HookRun {
    run(HookEnd::Exited(status), stdout, stderr)
}

/// What is read from an exit with 0 and this on standard output, in both dialects, which must agree.
fn answered(event: EventName, stdout: &Value) -> Answer {
    let run = exited(0, &format!(" {stdout}\n"), "noise");
    let [one, other] = [Dialect::ClaudeCode, Dialect::Codex].map(|dialect| reading(dialect, event).read(&run));
    assert_eq!((&one.verdict, &one.problems), (&other.verdict, &other.problems));
    one
}

/// What one hook says about a call by `hookSpecificOutput`.
fn about_a_call(specific: Value) -> Answer {
    answered(EventName::PreToolUse, &json!({ SPECIFIC: specific }))
}

fn denied(reason: &str) -> Verdict {
    Verdict { decision: Decision::Deny, reason: Some(reason.to_owned()), ..Verdict::default() }
}

#[test]
fn exit_2_blocks_with_standard_error_as_the_reason() {
    for dialect in Dialect::ALL {
        for event in EventName::ALL {
            let answer = reading(*dialect, *event).read(&exited(2, r#"{"continue": false}"#, " no\u{1b}\r\nreally \n"));
            if event.can_be_blocked() {
                assert_eq!(answer.verdict, denied("no\\u{1b}\nreally"), "{event}");
                assert_eq!(answer.problems, [""; 0]);
            } else {
                assert_eq!(answer.verdict, Verdict::default(), "{event}");
                assert_eq!(answer.problems.len(), 1);
            }
        }
    }
}

#[test]
fn blocking_without_a_reason_depends_on_the_setting() {
    let blocks = [
        (EventName::Stop, exited(2, "", " \n")),
        (EventName::Stop, exited(0, r#"{"decision": "block", "reason": " "}"#, "")),
        (EventName::UserPromptSubmit, exited(0, r#"{"decision": "block"}"#, "")),
        (EventName::PreToolUse, exited(0, r#"{"hookSpecificOutput": {"permissionDecision": "deny"}}"#, "")),
    ];
    for (event, run) in blocks {
        let seeds = reading(Dialect::Codex, event).read(&run);
        assert_eq!(seeds.verdict.decision, Decision::Deny, "{run:?}");
        assert!(seeds.verdict.reason.is_some_and(|reason| !reason.is_empty()));
        let codexs = Reading { block_without_reason: false, ..reading(Dialect::Codex, event) }.read(&run);
        assert_eq!(codexs.verdict, Verdict::default(), "{run:?}");
        assert_eq!(codexs.problems.len(), 1);
    }
}

#[test]
fn every_other_end_blocks_nothing_and_is_reported() {
    for end in [
        HookEnd::Exited(1),
        HookEnd::Exited(127),
        HookEnd::Exited(-1),
        HookEnd::Signalled(9),
        HookEnd::TimedOut,
        HookEnd::Cancelled,
        HookEnd::NotStarted,
    ] {
        for event in EventName::ALL {
            let answer = reading(Dialect::ClaudeCode, *event).read(&run(end, r#"{"decision": "block"}"#, "why\u{1b}"));
            assert_eq!(answer.verdict, Verdict::default(), "{end:?}");
            assert_eq!(answer.problems.len(), 1, "{end:?}");
            assert!(!answer.problems[0].contains('\u{1b}'));
        }
    }
}

#[test]
fn plain_text_is_context_where_the_event_takes_it() {
    for event in EventName::ALL {
        for dialect in Dialect::ALL {
            for (stdout, context) in [
                (" two\nlines \n", Some("two\nlines")),
                ("", None),
                ("\n", None),
                ("42", Some("42")),
                ("null", Some("null")),
            ] {
                let answer = reading(*dialect, *event).read(&exited(0, stdout, ""));
                let expected = context.filter(|_| event.takes_plain_text()).map(str::to_owned);
                let verdict = Verdict { additional_context: expected, ..Verdict::default() };
                assert_eq!(answer.verdict, verdict, "{event} {stdout:?}");
                assert_eq!(answer.problems, [""; 0]);
            }
        }
    }
}

#[test]
fn text_that_looks_like_json_is_text_to_claude_code_and_a_mistake_to_codex() {
    for stdout in ["{\"decision\": \"block\"", "[1]", "{} {}", "{a}"] {
        let run = exited(0, stdout, "");
        let claude_code = reading(Dialect::ClaudeCode, EventName::SessionStart).read(&run);
        assert_eq!(claude_code.verdict.additional_context.as_deref(), Some(stdout));
        let codex = reading(Dialect::Codex, EventName::SessionStart).read(&run);
        assert_eq!((codex.verdict, codex.problems.len()), (Verdict::default(), 1));
    }
}

#[test]
fn output_that_was_not_kept_counts_for_nothing() {
    let run = HookRun { end: HookEnd::Exited(0), stdout: None, stderr: Vec::new() };
    let answer = reading(Dialect::ClaudeCode, EventName::SessionStart).read(&run);
    assert_eq!((answer.verdict, answer.problems.len()), (Verdict::default(), 1));
}

#[test]
fn a_call_is_allowed_asked_about_or_denied() {
    for (word, decision) in [("allow", Decision::Allow), ("ask", Decision::Ask), ("deny", Decision::Deny)] {
        let answer = about_a_call(
            json!({"hookEventName": "PreToolUse", "permissionDecision": word, "permissionDecisionReason": " r\u{1b} "}),
        );
        let expected = Verdict { decision, reason: Some("r\\u{1b}".into()), ..Verdict::default() };
        assert_eq!(answer.verdict, expected);
        assert_eq!(answer.problems, [""; 0]);
    }
    let answer = answered(EventName::PreToolUse, &json!({"decision": "approve", "reason": "fine"}));
    assert_eq!((answer.verdict.decision, answer.verdict.reason.as_deref()), (Decision::Allow, Some("fine")));
    let answer = answered(EventName::PreToolUse, &json!({"decision": "block", "reason": "no"}));
    assert_eq!(answer.verdict, denied("no"));
}

#[test]
fn the_newer_way_to_decide_goes_before_the_older() {
    let both = json!({"decision": "block", "reason": "no", SPECIFIC: {"permissionDecision": "allow"}});
    assert_eq!(answered(EventName::PreToolUse, &both).verdict.decision, Decision::Allow);
    let unknown = json!({"decision": "block", "reason": "no", SPECIFIC: {"permissionDecision": "defer"}});
    let answer = answered(EventName::PreToolUse, &unknown);
    assert_eq!((answer.verdict, answer.problems.len()), (denied("no"), 1));
}

#[test]
fn other_events_are_blocked_by_decision_and_by_nothing_else() {
    for event in [EventName::UserPromptSubmit, EventName::PostToolUse, EventName::Stop, EventName::SubagentStop] {
        let answer = answered(event, &json!({"decision": "block", "reason": "not yet"}));
        assert_eq!((answer.verdict, answer.problems.len()), (denied("not yet"), 0), "{event}");
        let answer = answered(event, &json!({ SPECIFIC: {"permissionDecision": "deny"} }));
        assert_eq!((answer.verdict, answer.problems.len()), (Verdict::default(), 1), "{event}");
        let answer = answered(event, &json!({"decision": "approve"}));
        assert_eq!((answer.verdict, answer.problems.len()), (Verdict::default(), 0), "{event}");
    }
    for event in [EventName::SessionStart, EventName::SessionEnd] {
        let answer = answered(event, &json!({"decision": "block", "reason": "no"}));
        assert_eq!((answer.verdict, answer.problems.len()), (Verdict::default(), 1), "{event}");
    }
}

#[test]
fn new_arguments_come_only_from_a_hook_that_allows_the_call() {
    let input = json!({"command": "ls"});
    let answer = about_a_call(json!({"permissionDecision": "allow", "updatedInput": input}));
    assert_eq!((answer.verdict.updated_input, answer.problems.len()), (Some(input.clone()), 0));
    for specific in [
        json!({"permissionDecision": "ask", "updatedInput": input}),
        json!({"permissionDecision": "deny", "permissionDecisionReason": "no", "updatedInput": input}),
        json!({"updatedInput": input}),
        json!({"permissionDecision": "allow", "updatedInput": "ls"}),
        json!({"permissionDecision": "allow", "updatedInput": [input]}),
    ] {
        let answer = about_a_call(specific.clone());
        assert_eq!((answer.verdict.updated_input, answer.problems.len()), (None, 1), "{specific}");
    }
}

#[test]
fn what_is_common_to_all_events_is_read_for_all() {
    for event in EventName::ALL {
        let answer = answered(
            *event,
            &json!({
                "continue": false, "stopReason": " enough ", "systemMessage": "careful\u{1b}", "suppressOutput": true,
                SPECIFIC: {"hookEventName": event, "additionalContext": " verbatim\u{1b} "},
            }),
        );
        let expected = Verdict {
            stop: Some("enough".into()),
            system_message: Some("careful\\u{1b}".into()),
            additional_context: Some("verbatim\u{1b}".into()),
            ..Verdict::default()
        };
        assert_eq!((answer.verdict, answer.problems.len()), (expected, 0), "{event}");
    }
    assert!(answered(EventName::Stop, &json!({"continue": false})).verdict.stop.is_some());
    assert_eq!(answered(EventName::Stop, &json!({"continue": true, "stopReason": "x"})).verdict.stop, None);
}

#[test]
fn what_is_not_known_is_ignored_and_wrong_types_are_reported() {
    let answer = answered(EventName::PreToolUse, &json!({"more": 1, SPECIFIC: {"evenMore": {}}, "reason": "alone"}));
    assert_eq!((answer.verdict, answer.problems.len()), (Verdict::default(), 0));
    let nulls = json!({"continue": null, "decision": null, "systemMessage": null, SPECIFIC: null});
    let answer = answered(EventName::PreToolUse, &nulls);
    assert_eq!((answer.verdict, answer.problems.len()), (Verdict::default(), 0));
    let wrong = json!({"continue": "no", "stopReason": 1, "systemMessage": [], "decision": true, SPECIFIC: "x"});
    let answer = answered(EventName::PreToolUse, &wrong);
    assert_eq!((answer.verdict, answer.problems.len()), (Verdict::default(), 5));
    for decision in ["deny", "allow", "Block", ""] {
        let answer = answered(EventName::PreToolUse, &json!({"decision": decision, "reason": "no"}));
        assert_eq!((answer.verdict, answer.problems.len()), (Verdict::default(), 1), "{decision}");
    }
}

#[test]
fn what_is_said_about_another_event_does_not_count() {
    let answer =
        about_a_call(json!({"hookEventName": "PostToolUse", "permissionDecision": "deny", "additionalContext": "x"}));
    assert_eq!((answer.verdict, answer.problems.len()), (Verdict::default(), 1));
}

proptest! {
    #[test]
    fn whatever_a_hook_writes_only_a_denial_with_a_reason_blocks(
        stdout in "(\\{\"(decision|reason|continue|hookSpecificOutput)\": ?(\"block\"|false|\\{\\}|1)\\}|[^a]{0,20})",
        stderr in any::<String>(),
        status in 0..4,
    ) {
        for dialect in Dialect::ALL {
            for event in EventName::ALL {
                let verdict = reading(*dialect, *event).read(&exited(status, &stdout, &stderr)).verdict;
                if verdict.decision == Decision::Deny {
                    prop_assert!(event.can_be_blocked() && verdict.reason.is_some_and(|reason| !reason.is_empty()));
                } else {
                    prop_assert!(status != 2 || !event.can_be_blocked());
                }
            }
        }
    }
}
