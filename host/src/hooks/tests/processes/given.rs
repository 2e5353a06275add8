//! What reaches a hook.

use std::collections::HashMap;

use super::*;
use crate::contract::{Execution, PREFIX};
use crate::home::{Home, Surroundings};
use crate::registry::Registry;
use crate::session_persistence::SessionPersistence;

fn environment_of(place: &Place, name: &str) -> HashMap<String, String> {
    let text = place.read(&format!("{name}.env"));
    text.lines().filter_map(|line| line.split_once('=')).map(|(k, v)| (k.to_owned(), v.to_owned())).collect()
}

#[tokio::test]
async fn a_hook_reads_its_payload_and_nothing_else() {
    let place = Place::new();
    let sets = vec![
        set(Dialect::ClaudeCode, EventName::PreToolUse, &["record claude"]),
        set(Dialect::Codex, EventName::PreToolUse, &["record codex"]),
    ];
    let outcome = place.fire(sets, &before("bash")).await;
    assert_eq!(problems(&outcome), [""; 0]);
    let located = jsonl(&place.sessions(), Compression::Zstd);
    let transcripts = Transcripts::locate(&located, &place.context(), &before("bash"));
    for (dialect, name) in [(Dialect::ClaudeCode, "claude"), (Dialect::Codex, "codex")] {
        let expected = payload(dialect, &place.context(), &before("bash"), &transcripts);
        assert_eq!(place.read(&format!("{name}.stdin")).into_bytes(), expected);
        let cwd = place.context().cwd.canonicalize().unwrap();
        assert_eq!(place.read(&format!("{name}.cwd")).trim_end(), cwd.to_str().unwrap());
    }
}

#[tokio::test]
async fn hooks_and_commands_have_the_same_path_and_telling_it_makes_nothing() {
    let place = Place::new();
    let persistence = jsonl(&place.sessions(), Compression::Zstd);
    let registry = Registry::new(&Home::resolve_in(Some("/h".as_ref()), &Surroundings::default()).unwrap());
    let _registration = registry.register(SessionPersistence::new(persistence)).unwrap();
    let overlay = registry.collect(&Execution::new("bash").owned_by(context().session)).unwrap();
    let of_a_command = overlay.get("DSH_SESSION_JSONL").unwrap().value.expose().to_owned();

    let sets = vec![
        set(Dialect::ClaudeCode, EventName::Stop, &["record claude"]),
        set(Dialect::Codex, EventName::Stop, &["record codex"]),
    ];
    let mut before = place.listing();
    place.fire(sets, &stop()).await;
    for name in ["claude", "codex"] {
        let payload: Value = serde_json::from_str(&place.read(&format!("{name}.stdin"))).unwrap();
        assert_eq!(payload["transcript_path"], of_a_command);
        for kind in ["stdin", "env", "cwd"] {
            before.push(place.out(&format!("{name}.{kind}")));
        }
    }
    before.sort();
    let after: Vec<_> = place.listing().into_iter().filter(|path| !is_spill(&place, path)).collect();
    before.retain(|path| !is_spill(&place, path));
    assert_eq!(after, before, "only what the hooks themselves left is new");
}

/// Whether it is below the executor's own folder.
fn is_spill(place: &Place, path: &Path) -> bool {
    path.starts_with(place.folder.path().join("spill"))
}

#[tokio::test]
async fn no_managed_variable_and_no_credential_reaches_a_hook() {
    let place = Place::new();
    let stale = ["DSH_SESSION_JSONL", "DSH_HOME", "dsh_session_id", "Dsh_Old", "A_TOKEN", "BASH_ENV"];
    let mut inherited = place.inherited();
    inherited.extend(stale.map(|name| (name.into(), "/stale".into())));
    inherited.push(("ORDINARY".into(), "kept".into()));
    let sets = vec![
        set(Dialect::ClaudeCode, EventName::SessionStart, &["record claude"]),
        set(Dialect::Codex, EventName::SessionStart, &["record codex"]),
    ];
    let options = HooksOptions { sets, inherited: Some(inherited), ..HooksOptions::default() };
    let outcome = place.hooks_with(options).fire(&place.context(), &start()).await;
    assert_eq!(problems(&outcome), [""; 0]);
    for name in ["claude", "codex"] {
        let environment = environment_of(&place, name);
        let managed = |known: &&String| known.to_uppercase().starts_with(PREFIX);
        assert_eq!(environment.keys().find(managed), None);
        for name in stale {
            assert_eq!(environment.get(name), None, "{name}");
        }
        assert_eq!(environment.get("ORDINARY").map(String::as_str), Some("kept"));
        assert_eq!(environment.get("TERM").map(String::as_str), Some("dumb"));
    }
    let project = |name| environment_of(&place, name).get("CLAUDE_PROJECT_DIR").cloned();
    assert_eq!(project("claude").as_deref(), place.context().cwd.to_str());
    assert_eq!(project("codex"), None);
}

#[tokio::test]
async fn a_hook_need_not_read_what_it_is_given() {
    let place = Place::new();
    let long = HookEvent::UserPromptSubmit { prompt: "x".repeat(4 * 1024 * 1024) };
    let outcome = place.fire(vec![set(Dialect::Codex, EventName::UserPromptSubmit, &["deny too long"])], &long).await;
    assert_eq!(outcome.reason.as_deref(), Some("too long"));
    assert_eq!(problems(&outcome), [""; 0]);
}

#[tokio::test]
async fn a_hook_reads_all_of_a_long_payload() {
    let place = Place::new();
    let long = HookEvent::UserPromptSubmit { prompt: "ä".repeat(1024 * 1024) };
    let outcome = place.fire(vec![set(Dialect::Codex, EventName::UserPromptSubmit, &["record long"])], &long).await;
    assert_eq!(problems(&outcome), [""; 0]);
    let payload: Value = serde_json::from_str(&place.read("long.stdin")).unwrap();
    assert_eq!(payload["prompt"].as_str().unwrap().chars().count(), 1024 * 1024);
}
