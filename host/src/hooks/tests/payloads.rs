use super::*;

/// The payload as text, with the end of every line visible.
fn shown(dialect: Dialect, event: &HookEvent, transcripts: &Transcripts) -> String {
    String::from_utf8(payload(dialect, &context(), event, transcripts)).unwrap().replace('\n', "⏎\n")
}

fn both() -> Transcripts {
    Transcripts { session: Some("/r/s1.jsonl".to_owned()), subagent: Some("/r/s2.jsonl".to_owned()) }
}

/// The payloads of every event, one a line.
fn all(dialect: Dialect, transcripts: &Transcripts) -> String {
    let payloads: Vec<_> = every_event().iter().map(|event| shown(dialect, event, transcripts)).collect();
    payloads.join(if dialect == Dialect::Codex { "\n" } else { "" })
}

#[test]
fn claude_code_gets_one_object_and_a_newline() {
    insta::assert_snapshot!(all(Dialect::ClaudeCode, &both()));
}

#[test]
fn codex_gets_one_object_without_a_newline() {
    insta::assert_snapshot!(all(Dialect::Codex, &both()));
}

#[test]
fn without_a_transcript_there_is_an_empty_text_or_null() {
    let none = Transcripts::default();
    let payloads = [Dialect::ClaudeCode, Dialect::Codex]
        .map(|dialect| [prompt(), subagent_stop()].map(|event| shown(dialect, &event, &none)).join("\n"));
    insta::assert_snapshot!(payloads.join("\n"));
}

#[test]
fn a_turn_is_named_only_within_one() {
    let none = Transcripts::default();
    for event in every_event() {
        let value: Value = serde_json::from_slice(&payload(Dialect::Codex, &context(), &event, &none)).unwrap();
        let is_within = !matches!(event.name(), EventName::SessionStart | EventName::SessionEnd);
        assert_eq!(value.get("turn_id").is_some(), is_within, "{}", event.name());
        let outside = HookContext { turn_id: None, ..context() };
        let value: Value = serde_json::from_slice(&payload(Dialect::Codex, &outside, &event, &none)).unwrap();
        assert_eq!(value.get("turn_id"), None, "{}", event.name());
    }
}

#[test]
fn what_a_model_said_is_one_line_and_comes_out_as_it_went_in() {
    let said = "a\nb\r\u{2028}\u{1b}\"\\ü🦀\0";
    let event = HookEvent::PreToolUse {
        tool_name: "bash".to_owned(),
        tool_input: json!({"command": said, "env": {"A": [1, null, 1e300]}}),
        tool_use_id: said.to_owned(),
    };
    for dialect in Dialect::ALL {
        let bytes = payload(*dialect, &context(), &event, &Transcripts::default());
        let newlines = bytes.iter().filter(|byte| **byte == b'\n').count();
        assert_eq!(newlines, usize::from(*dialect == Dialect::ClaudeCode));
        let value: Value = serde_json::from_slice(&bytes).unwrap();
        assert_eq!(value["tool_input"]["command"], said);
        assert_eq!(value["tool_input"]["env"], json!({"A": [1, null, 1e300]}));
        assert_eq!(value["tool_use_id"], said);
    }
}

#[test]
fn a_tool_has_the_name_that_hooks_know_it_by() {
    for (tool, claude_code, codex) in [
        ("bash", "Bash", "Bash"),
        ("pwsh", "PowerShell", "Bash"),
        ("mcp__db__query", "mcp__db__query", "mcp__db__query"),
    ] {
        for (dialect, name) in [(Dialect::ClaudeCode, claude_code), (Dialect::Codex, codex)] {
            assert_eq!(dialect.tool_name(tool), name);
            let bytes = payload(dialect, &context(), &before(tool), &Transcripts::default());
            assert_eq!(serde_json::from_slice::<Value>(&bytes).unwrap()["tool_name"], name);
        }
    }
}
