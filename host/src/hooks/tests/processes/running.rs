//! How hooks run, and what becomes of their answers.

use std::time::Duration;

use super::*;

/// Longer than anything here takes, however busy the machine is.
const LONG: Duration = Duration::from_secs(60);

#[tokio::test]
async fn all_hooks_of_an_event_run_at_once() {
    for dialect in Dialect::ALL {
        let place = Place::new();
        for name in ["there", "back"] {
            assert!(std::process::Command::new("mkfifo").arg(place.out(name)).status().unwrap().success());
        }
        let sets = vec![set(*dialect, EventName::SessionStart, &["meet first", "meet second"])];
        let outcome = place.fire(sets, &start()).await;
        assert_eq!(
            outcome.additional_context,
            ["first met one that called it first", "second met one that called it second"],
            "{dialect} {:?}",
            problems(&outcome)
        );
    }
}

#[tokio::test]
async fn hooks_of_both_dialects_run_at_once_and_answer_in_the_order_of_configuration() {
    let place = Place::new();
    for name in ["there", "back"] {
        assert!(std::process::Command::new("mkfifo").arg(place.out(name)).status().unwrap().success());
    }
    let sets = vec![
        set(Dialect::Codex, EventName::SessionStart, &["meet second"]),
        set(Dialect::ClaudeCode, EventName::SessionStart, &["answer last", "meet first"]),
    ];
    let outcome = place.fire(sets, &start()).await;
    assert_eq!(
        outcome.additional_context,
        ["second met one that called it second", "last", "first met one that called it first"]
    );
    let dialects: Vec<_> = outcome.reports.iter().map(|report| report.dialect).collect();
    assert_eq!(dialects, [Dialect::Codex, Dialect::ClaudeCode, Dialect::ClaudeCode]);
}

#[tokio::test]
async fn claude_code_runs_equal_commands_once_and_codex_as_often_as_they_are_there() {
    for (dialect, runs) in [(Dialect::ClaudeCode, 1), (Dialect::Codex, 3)] {
        let place = Place::new();
        let sets = vec![
            set(dialect, EventName::Stop, &["count", "count"]),
            set(dialect, EventName::Stop, &["count"]),
            set(dialect, EventName::SessionStart, &["count"]),
        ];
        let outcome = place.fire(sets, &stop()).await;
        assert_eq!(place.read("count").len(), runs, "{dialect}");
        assert_eq!(outcome.reports.len(), runs);
    }
}

#[tokio::test]
async fn a_denial_by_one_hook_is_stronger_than_what_others_say() {
    let place = Place::new();
    let allow = r#"answer '{"hookSpecificOutput":{"permissionDecision":"allow","updatedInput":{"command":"ls"}}}'"#;
    let ask = r#"answer '{"hookSpecificOutput":{"permissionDecision":"ask"}}'"#;
    let claude_code = set(Dialect::ClaudeCode, EventName::PreToolUse, &[allow, "deny not here"]);
    let codex = set(Dialect::Codex, EventName::PreToolUse, &[ask, "deny nor there"]);
    let outcome = place.fire(vec![claude_code, codex], &before("bash")).await;
    assert!(outcome.is_denied());
    assert_eq!(outcome.reason.as_deref(), Some("not here\nnor there"));
    assert_eq!(outcome.updated_input, None);
    let decisions: Vec<_> = outcome.reports.iter().map(|report| report.decision).collect();
    assert_eq!(decisions, [Decision::Allow, Decision::Deny, Decision::Ask, Decision::Deny]);

    let outcome = place.fire(vec![set(Dialect::ClaudeCode, EventName::PreToolUse, &[allow])], &before("bash")).await;
    assert_eq!(outcome.decision, Decision::Allow);
    assert_eq!(outcome.updated_input, Some(json!({"command": "ls"})));
}

#[tokio::test]
async fn a_hook_that_takes_too_long_is_ended_and_blocks_nothing() {
    let place = Place::new();
    let hang = json!([{"type": "command", "command": "exec sh \"$HOOK_SCRIPTS/hang.sh\"", "timeout": 0.5}]);
    let outcome = place.fire(vec![raw_set(Dialect::Codex, EventName::PreToolUse, &hang)], &before("bash")).await;
    assert_eq!(outcome.reports[0].end, HookEnd::TimedOut);
    assert_eq!(outcome.reports[0].problems.len(), 1);
    assert_eq!(outcome.decision, Decision::None);
}

#[tokio::test]
async fn what_fails_blocks_nothing_and_is_reported() {
    let place = Place::new();
    let commands = json!([
        {"type": "command", "command": "echo oh; echo no >&2; exit 1"},
        {"type": "command", "command": "no-such-command-anywhere"},
        {"type": "command", "command": "kill -9 $$"},
        {"type": "command", "command": "sh \"$HOOK_SCRIPTS/flood.sh\""},
    ]);
    let outcome = place.fire(vec![raw_set(Dialect::ClaudeCode, EventName::SessionStart, &commands)], &start()).await;
    let ends: Vec<_> = outcome.reports.iter().map(|report| report.end).collect();
    assert_eq!(ends, [HookEnd::Exited(1), HookEnd::Exited(127), HookEnd::Signalled(9), HookEnd::Exited(0)]);
    assert!(outcome.reports.iter().all(|report| report.problems.len() == 1), "{:?}", outcome.reports);
    assert!(outcome.reports[0].problems[0].ends_with(": no"));
    assert_eq!(HookOutcome { reports: Vec::new(), ..outcome }, HookOutcome::default());
}

#[tokio::test]
async fn a_hook_that_cannot_be_started_is_reported() {
    let place = Place::new();
    let hooks = place.hooks(vec![set(Dialect::Codex, EventName::SessionStart, &["count"])]);
    let gone = HookContext { cwd: place.folder.path().join("gone"), ..place.context() };
    let outcome = hooks.fire(&gone, &start()).await;
    assert_eq!(outcome.reports[0].end, HookEnd::NotStarted);
    assert_eq!(outcome.reports[0].problems.len(), 1);
    assert_eq!(outcome.decision, Decision::None);
    assert!(!place.out("count").exists());
}

#[tokio::test]
async fn without_a_hook_for_it_an_event_runs_and_asks_nothing() {
    struct Asked;
    impl crate::sessions::Persistence for Asked {
        fn locate(&self, header: &SessionHeader) -> Option<crate::sessions::Location> {
            panic!("{header:?}")
        }
    }
    let place = Place::new();
    let persistence = ActivePersistence::new(Arc::new(Asked));
    let none = Hooks::new(HooksOptions::default(), persistence.clone(), Arc::new(place.executor.clone()));
    assert!(none.is_empty());
    let sets = vec![set(Dialect::ClaudeCode, EventName::Stop, &["count"])];
    let others =
        Hooks::new(HooksOptions { sets, ..HooksOptions::default() }, persistence, Arc::new(place.executor.clone()));
    for hooks in [none, others] {
        assert_eq!(hooks.fire(&place.context(), &start()).await, HookOutcome::default());
    }
    assert!(!place.out("count").exists());
}

#[tokio::test]
async fn nobody_waiting_any_more_ends_the_hooks() {
    let place = Place::new();
    let hooks = place.hooks(vec![set(Dialect::ClaudeCode, EventName::Stop, &["hang"])]);
    let firing = tokio::spawn({
        let context = place.context();
        async move { hooks.fire(&context, &stop()).await }
    });
    let pid = tokio::time::timeout(LONG, async {
        while !place.out("pid").exists() {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        place.read("pid").trim().parse().unwrap()
    });
    let pid = rustix::process::Pid::from_raw(pid.await.unwrap()).unwrap();
    assert!(rustix::process::test_kill_process(pid).is_ok());
    firing.abort();
    let ended = tokio::time::timeout(LONG, async {
        while rustix::process::test_kill_process(pid).is_ok() {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    });
    ended.await.unwrap();
}

#[tokio::test]
async fn events_are_told_to_the_hooks_of_their_tool_only() {
    let place = Place::new();
    let text = json!({"hooks": {"PreToolUse": [
        {"matcher": "Bash", "hooks": [{"type": "command", "command": "echo bash >> \"$HOOK_OUT/seen\""}]},
        {"matcher": "PowerShell", "hooks": [{"type": "command", "command": "echo pwsh >> \"$HOOK_OUT/seen\""}]},
    ]}});
    let set = HookFile::parse(Dialect::ClaudeCode, Path::new("/p"), &text.to_string()).unwrap();
    for tool in ["bash", "pwsh", "Bash", "other"] {
        place.fire(vec![set.clone()], &before(tool)).await;
    }
    assert_eq!(place.read("seen"), "bash\npwsh\nbash\n", "a tool that is really called `Bash` is one too");
}
