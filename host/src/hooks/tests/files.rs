use std::time::Duration;

use proptest::prelude::*;

use super::*;
use crate::error::{Code, Error};

const SETTINGS: &str = include_str!("../../../../tests/fixtures/hooks/settings.json");
const CODEX: &str = include_str!("../../../../tests/fixtures/hooks/hooks.json");

fn parse(dialect: Dialect, text: &str) -> crate::Result<HookSet> {
    HookFile::parse(dialect, Path::new("/p/hooks.json"), text)
}

/// The hooks of a set, a line each.
fn listed(set: &HookSet) -> Vec<(EventName, &str, Duration)> {
    set.hooks.iter().map(|hook| (hook.event, hook.command.as_str(), hook.limit)).collect()
}

/// The commands that an event is for.
fn commands<'a>(set: &'a HookSet, event: &'a HookEvent) -> Vec<&'a str> {
    set.matching(event).map(|hook| hook.command.as_str()).collect()
}

/// A file with one hook before tools, of which `group` is the group.
fn with_group(group: Value) -> String {
    json!({"hooks": {"PreToolUse": [group]}}).to_string()
}

fn with_hook(hook: Value) -> String {
    with_group(json!({"hooks": [hook]}))
}

#[test]
fn the_settings_of_claude_code_are_read_for_their_hooks() {
    let set = parse(Dialect::ClaudeCode, SETTINGS).unwrap();
    let mut listed = listed(&set);
    listed.sort_by_key(|(event, ..)| event.as_str());
    assert_eq!(
        listed,
        [
            (EventName::PreToolUse, "\"$CLAUDE_PROJECT_DIR\"/check", Duration::from_millis(500)),
            (EventName::PreToolUse, "./mcp", MAX_LIMIT),
            (EventName::SessionEnd, "./end", DEFAULT_LIMIT),
            (EventName::SessionStart, "./greet", DEFAULT_LIMIT),
            (EventName::Stop, "./stop", DEFAULT_LIMIT),
            (EventName::UserPromptSubmit, "./prompt", Duration::from_secs(5)),
        ]
    );
    assert_eq!(commands(&set, &before("bash")), ["\"$CLAUDE_PROJECT_DIR\"/check"]);
    assert_eq!(commands(&set, &before("mcp__db__query")), ["./mcp"]);
    assert_eq!(commands(&set, &after("bash")), [""; 0]);
    assert_eq!(commands(&set, &stop()), ["./stop"]);
    let mut warnings = set.warnings().to_vec();
    warnings.sort();
    insta::assert_snapshot!(warnings.join("\n"));
}

#[test]
fn the_hooks_of_codex_are_read_and_equal_ones_stay_two() {
    let set = parse(Dialect::Codex, CODEX).unwrap();
    assert_eq!(commands(&set, &before("bash")), ["./check"]);
    assert_eq!(commands(&set, &stop()), ["./stop", "./stop"]);
    assert_eq!(commands(&set, &end()), [""; 0]);
    let mut warnings = set.warnings().to_vec();
    warnings.sort();
    insta::assert_snapshot!(warnings.join("\n"));
}

#[test]
fn a_file_without_hooks_has_none() {
    for text in ["{}", r#"{"model": "x"}"#, r#"{"hooks": {}}"#, r#"{"hooks": {"Stop": []}}"#, "\u{feff}{}"] {
        for dialect in Dialect::ALL {
            let set = parse(*dialect, text).unwrap();
            assert!(set.is_empty() && set.warnings().is_empty(), "{text}");
        }
    }
}

#[test]
fn hooks_that_are_turned_off_are_not_there() {
    let text = SETTINGS.replacen('{', r#"{"disableAllHooks": true,"#, 1);
    let set = parse(Dialect::ClaudeCode, &text).unwrap();
    assert!(set.is_empty());
    assert_eq!(set.warnings().len(), 1);
}

#[test]
fn a_mistake_is_an_error_with_its_place() {
    let command = || json!({"type": "command", "command": "x"});
    let cases = [
        ("{\n\"hooks\": {,}}".to_owned(), "line 2 column 11"),
        ("[]".to_owned(), "not an object"),
        (r#"{"PreToolUse": []}"#.to_owned(), "PreToolUse: events belong into"),
        (r#"{"hooks": []}"#.to_owned(), "hooks: it is not an object"),
        (r#"{"hooks": {"PreToolUsee": []}}"#.to_owned(), "hooks.PreToolUsee: there is no such event"),
        (r#"{"hooks": {"pre_tool_use": []}}"#.to_owned(), "hooks.pre_tool_use: "),
        (r#"{"hooks": {"PreToolUse": {}}}"#.to_owned(), "hooks.PreToolUse: it is not a list"),
        (with_group(json!("x")), "hooks.PreToolUse[0]: "),
        (with_group(json!({"matcher": "Bash"})), "hooks.PreToolUse[0].hooks: it is missing"),
        (with_group(json!({"mather": "Bash", "hooks": []})), "hooks.PreToolUse[0].mather: "),
        (with_group(json!({"matcher": 1, "hooks": []})), "hooks.PreToolUse[0].matcher: it is not a text"),
        (with_group(json!({"matcher": "[", "hooks": []})), "hooks.PreToolUse[0].matcher: it is not a regular"),
        (with_group(json!({"hooks": [command(), {"command": "x"}]})), "hooks.PreToolUse[0].hooks[1].type: "),
        (with_hook(json!({"type": "comand", "command": "x"})), "hooks[0].type: there is no type \"comand\""),
        (with_hook(json!({"type": "command"})), "hooks[0].command: "),
        (with_hook(json!({"type": "command", "command": " "})), "hooks[0].command: "),
        (with_hook(json!({"type": "command", "command": ["x"]})), "hooks[0].command: "),
        (with_hook(json!({"type": "command", "command": "x\0"})), "NUL"),
        (with_hook(json!({"type": "command", "command": "x", "timout": 1})), "hooks[0].timout: "),
        (with_hook(json!({"type": "command", "command": "x", "timeout": "5"})), "hooks[0].timeout: "),
        (with_hook(json!({"type": "command", "command": "x", "timeout": 0})), "hooks[0].timeout: "),
        (with_hook(json!({"type": "command", "command": "x", "timeout": -1})), "hooks[0].timeout: "),
        (with_group(json!({"hooks": vec![command(); MAX_HOOKS + 1]})), "hooks[256]: "),
    ];
    for (text, words) in cases {
        for dialect in Dialect::ALL {
            let error: Error = parse(*dialect, &text).unwrap_err();
            assert_eq!(error.code(), Code::InvalidConfiguration);
            assert!(error.message().starts_with("/p/hooks.json: "), "{error}");
            assert!(error.message().contains(words), "{error}\nlacks {words}");
        }
    }
}

#[test]
fn what_a_product_has_and_nothing_here_uses_is_left_out_with_a_warning() {
    for hook in [
        json!({"type": "http", "url": "https://example.org"}),
        json!({"type": "agent", "prompt": "x"}),
        json!({"type": "command", "command": "x", "if": "Bash(rm *)"}),
        json!({"type": "command", "command": "x", "shell": "powershell"}),
        json!({"type": "command", "command": "x", "args": ["y"]}),
    ] {
        let set = parse(Dialect::ClaudeCode, &with_hook(hook.clone())).unwrap();
        assert!(set.is_empty(), "{hook}");
        assert_eq!(set.warnings().len(), 1, "{hook}");
        assert!(set.warnings()[0].starts_with("/p/hooks.json: hooks.PreToolUse[0].hooks[0]."), "{hook}");
    }
    let plain = json!({"type": "command", "command": "x", "shell": "bash", "once": false, "timeout": null});
    let set = parse(Dialect::ClaudeCode, &with_hook(plain)).unwrap();
    assert_eq!((set.len(), set.warnings().len()), (1, 0));
}

#[test]
fn nothing_in_a_message_steers_a_terminal() {
    let text = "{\"hooks\": {\"\\u001b[2J\\n\": []}}";
    let error = HookFile::parse(Dialect::Codex, Path::new("/p/\u{1b}"), text).unwrap_err();
    assert!(!error.message().chars().any(char::is_control), "{error}");
}

/// JSON with a good share of what the format has.
fn document() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        proptest::sample::select(vec!["command", "Bash", "[", "http", "x"]).prop_map(Value::from),
        proptest::sample::select(vec![json!(null), json!(true), json!(1e300), json!(0.1), json!(-1)]),
    ];
    let keys = vec!["hooks", "PreToolUse", "Stop", "Setup", "matcher", "type", "command", "timeout", "async", "shell"];
    leaf.prop_recursive(6, 40, 4, move |inner| {
        prop_oneof![
            proptest::collection::vec(inner.clone(), 0..3).prop_map(Value::from),
            proptest::collection::vec((proptest::sample::select(keys.clone()), inner), 0..4)
                .prop_map(|fields| fields.into_iter().map(|(key, value)| (key.to_owned(), value)).collect()),
        ]
    })
}

proptest! {
    #[test]
    fn any_document_is_hooks_or_an_error_with_its_place(hooks in document()) {
        let text = json!({ "hooks": hooks }).to_string();
        for dialect in Dialect::ALL {
            match parse(*dialect, &text) {
                Ok(set) => prop_assert!(set.hooks.iter().all(|hook| !hook.limit.is_zero() && hook.limit <= MAX_LIMIT)),
                Err(error) => prop_assert!(error.message().starts_with("/p/hooks.json: hooks"), "{}", error),
            }
        }
    }
}
