//! Hooks of both dialects in the loop: they see the transcript that the shell sees.

use super::*;

/// Hooks in one dialect that keep what they were told in a file.
fn recording(place: &Place, dialect: &str, event: &str) -> std::path::PathBuf {
    let kept = place.path().join(format!("{dialect}-{event}.json"));
    let hooks =
        json!({"hooks": {event: [{"hooks": [{"type": "command", "command": format!("cat > '{}'", kept.display())}]}]}});
    place.write(&format!("home/{dialect}.json"), hooks.to_string());
    kept
}

fn configure(place: &Place, more: &str) {
    place.configure(&format!("[hooks]\nclaude-code = [\"claude-code.json\"]\ncodex = [\"codex.json\"]\n{more}"));
}

fn told(file: &std::path::Path) -> Value {
    serde_json::from_slice(&std::fs::read(file).unwrap()).unwrap()
}

#[test]
fn both_dialects_see_the_path_that_the_shell_sees() {
    let place = Place::new();
    let files = ["claude-code", "codex"].map(|dialect| recording(&place, dialect, "PreToolUse"));
    configure(&place, "");
    let ran = Ran::script(&place, [bash("echo $DSH_SESSION_JSONL"), done()], &["--session-id", "s1"]).expect(0);
    for file in &files {
        let told = told(file);
        assert_eq!((&told["session_id"], &told["transcript_path"]), (&json!("s1"), &json!(ran.outputs()[0])));
    }
    let raw = files.map(|file| std::fs::read(file).unwrap());
    assert_eq!((raw[0].last(), raw[1].last()), (Some(&b'\n'), Some(&b'}')));
}

#[test]
fn without_a_transcript_one_dialect_says_nothing_and_the_other_null() {
    let place = Place::new();
    let files = ["claude-code", "codex"].map(|dialect| recording(&place, dialect, "UserPromptSubmit"));
    configure(&place, "[sessions]\nbackend = \"sqlite\"\n");
    Ran::script(&place, [done()], &[]).expect(0);
    let paths = files.map(|file| told(&file)["transcript_path"].clone());
    assert_eq!(paths, [json!(""), Value::Null]);
}

#[test]
fn a_hook_keeps_a_call_from_being_made_and_the_model_is_told_why() {
    let place = Place::new();
    let hooks = json!({"hooks": {"PreToolUse": [{"matcher": "Bash", "hooks": [{"type": "command", "command": "echo not on a Monday >&2; exit 2"}]}]}});
    place.write("home/claude-code.json", hooks.to_string());
    place.configure("[hooks]\nclaude-code = [\"claude-code.json\"]\n");
    let witness = place.path().join("witness");
    let ran = Ran::script(&place, [bash(&format!("touch {}", witness.display())), done()], &[]).expect(0);
    assert!(ran.outputs()[0].contains("not on a Monday"), "{:?}", ran.outputs());
    assert!(!witness.exists());
    assert_eq!(ran.of_type("hook/report").len(), 1);
}

#[test]
fn a_hook_that_blocks_without_a_reason_is_heeded_unless_the_setting_says_otherwise() {
    let place = Place::new();
    let hooks = json!({"hooks": {"PreToolUse": [{"hooks": [{"type": "command", "command": "exit 2"}]}]}});
    place.write("home/codex.json", hooks.to_string());
    let ran = |more: &str| {
        place.configure(&format!("[hooks]\ncodex = [\"codex.json\"]\n{more}"));
        let ran = Ran::script(&place, [bash("echo ran"), done()], &[]).expect(0);
        ran.outputs()[0] == "ran"
    };
    assert!(!ran(""));
    assert!(!ran("block-without-reason = true\n"));
    assert!(ran("block-without-reason = false\n"));
}

#[test]
fn a_prompt_that_a_hook_does_not_let_through_never_reaches_the_model() {
    let place = Place::new();
    let hooks = json!({"hooks": {"UserPromptSubmit": [{"hooks": [{"type": "command", "command": "echo '{\"decision\":\"block\",\"reason\":\"no\"}'"}]}]}});
    place.write("home/claude-code.json", hooks.to_string());
    place.configure("[hooks]\nclaude-code = [\"claude-code.json\"]\n");
    let ran = Ran::script(&place, [done()], &[]).expect(0);
    assert_eq!((ran.of_type("user/message").len(), ran.of_type("assistant/message").len()), (0, 0));
    assert_eq!(ran.of_type("turn/end")[0]["outcome"], "blocked");
    assert!(!place.home().join("sessions").exists(), "no turn has succeeded");
}

#[test]
fn a_file_of_hooks_that_is_missing_wrong_or_open_to_others_is_refused() {
    use std::os::unix::fs::PermissionsExt as _;

    let place = Place::new();
    place.configure("[hooks]\nclaude-code = [\"claude-code.json\"]\n");
    let script = place.write("script.json", "[]");
    let code = || {
        let run = place.run(["run", "--json", "--script", script.to_str().unwrap()]).expect(2);
        run.json()["error"]["code"].as_str().unwrap().to_owned()
    };
    assert_eq!(code(), "invalid-configuration");
    let file = place.write("home/claude-code.json", "{\"hooks\": 1}");
    assert_eq!(code(), "invalid-configuration");
    std::fs::write(&file, "{}").unwrap();
    std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o666)).unwrap();
    assert_eq!(code(), "unsafe-permissions");
    // Whoever can put another file in its place need not write to it.
    let file = place.write("open/claude-code.json", "{}");
    std::fs::set_permissions(file.parent().unwrap(), std::fs::Permissions::from_mode(0o777)).unwrap();
    place.configure(&format!("[hooks]\nclaude-code = [\"{}\"]\n", file.display()));
    assert_eq!(code(), "unsafe-permissions");
}

#[test]
fn what_a_hook_says_to_people_is_shown_to_them_and_recorded() {
    let place = Place::new();
    let said = json!({"systemMessage": "mind \u{1b}[31mthe gap"}).to_string();
    let hooks =
        json!({"hooks": {"PreToolUse": [{"hooks": [{"type": "command", "command": format!("echo '{said}'")}]}]}});
    place.write("home/claude-code.json", hooks.to_string());
    place.configure("[hooks]\nclaude-code = [\"claude-code.json\"]\n");
    let ran = Ran::script(&place, [bash("true"), done()], &[]).expect(0);
    assert!(ran.of_type("hook/report")[0]["messages"][0].as_str().unwrap().contains("the gap"));
    let script = place.path().join("script.json");
    let shown = place.run(["run", "--script", script.to_str().unwrap()]).expect(0).stdout();
    assert!(shown.contains("hook mind") && !shown.contains('\u{1b}'), "{shown}");
}

#[test]
fn what_hooks_tell_a_model_waits_for_a_prompt_that_gets_through() {
    let place = Place::new();
    let blocks_once =
        format!("[ -e '{0}' ] && exit 0; touch '{0}'; echo no >&2; exit 2", place.path().join("once").display());
    let hooks = json!({"hooks": {
        "SessionStart": [{"hooks": [{"type": "command", "command": "echo know this"}]}],
        "UserPromptSubmit": [{"hooks": [{"type": "command", "command": blocks_once}]}],
    }});
    place.write("home/claude-code.json", hooks.to_string());
    place.configure("[hooks]\nclaude-code = [\"claude-code.json\"]\n");
    let ran = Ran::script(&place, [done(), done()], &["--prompt", "one", "--prompt", "two"]).expect(0);
    let told: Vec<_> = ran.of_type("user/message").iter().map(|event| event["text"].as_str().unwrap()).collect();
    assert_eq!(told, ["two", "know this"]);
}
