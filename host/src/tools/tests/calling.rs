//! What a call starts: real shells, in the environment of that very call.

use std::sync::Arc;

use serde_json::json;

use super::support::Place;
use crate::environment::{OrdinaryEnv, Shell};

const PRINT: &str = "echo \"${DSH_SESSION_ID-none} ${DSH_SESSION_JSONL-none} $DSH_HOME $DSH_SHELL\"";

impl Place {
    /// What [`PRINT`] prints for an agent.
    fn expected(&self, id: &str) -> String {
        let log = self.folder.path().join(format!("sessions/_no-cwd/{id}/session.jsonl"));
        format!("{id} {} {} 1", log.display(), self.home.as_str())
    }
}

#[tokio::test]
async fn a_foreground_call_collects_once_for_the_agent_that_makes_it() {
    let place = Place::new();
    let result = place.bash(&place.agent("s1"), PRINT).await;
    assert_eq!(result.output, place.expected("s1"));
    let [execution] = place.executions().try_into().unwrap();
    assert_eq!((execution.tool.as_str(), execution.background), ("bash", false));
    assert_eq!(execution.workdir.as_deref(), place.folder.path().to_str());
    assert_eq!(execution.session().unwrap().id.as_str(), "s1");
    assert_eq!(execution.call_id, execution.root_call_id);
}

#[tokio::test]
async fn a_background_call_collects_once_when_it_is_made() {
    let place = Place::new();
    let result = place.background(&place.agent("s1"), PRINT).await;
    assert_eq!(result.job.as_deref(), Some("bash-1"));
    // In pieces, as it was read: each ends its line.
    let output = place.output_of(&place.agent("s1"), "bash-1").await.replace('\n', "");
    assert!(output.starts_with(&place.expected("s1")), "{output}");
    let [execution] = place.executions().try_into().unwrap();
    assert!(execution.background);
}

#[tokio::test]
async fn a_call_that_no_agent_makes_has_no_session() {
    let place = Place::new();
    let result = place.bash(&place.nobody(), PRINT).await;
    assert_eq!(result.output, format!("none none {} 1", place.home.as_str()));
    assert_eq!(place.executions()[0].agent, None);
}

#[tokio::test]
async fn without_a_service_that_keeps_sessions_the_path_is_absent() {
    let place = Place::new();
    place.persistence.replace(None);
    let result = place.bash(&place.agent("s1"), PRINT).await;
    assert_eq!(result.output, format!("s1 none {} 1", place.home.as_str()));
}

#[tokio::test]
async fn an_environment_that_a_model_sends_is_ignored_and_that_of_the_harness_is_not() {
    let mut ordinary = OrdinaryEnv::new();
    ordinary.set("DSH_HOME", "/elsewhere").unwrap();
    ordinary.set("MINE", "the harness's").unwrap();
    let place = Place::with(ordinary);
    let arguments = json!({
        "command": "echo $DSH_HOME $MINE $THEIRS",
        "description": "tries",
        "env": {"DSH_HOME": "/model", "MINE": "the model's", "THEIRS": "x"},
        "stdin": "x",
        "shell": "/bin/false",
    });
    let result = place.call(&place.nobody(), "bash", arguments).await;
    assert_eq!(result.output, format!("{} the harness's", place.home.as_str()));
}

#[tokio::test]
async fn standard_input_has_nothing_and_there_is_no_terminal() {
    let place = Place::new();
    let result = place.bash(&place.nobody(), "cat; echo $TERM $NO_COLOR; [ -t 0 ] || readlink /proc/self/fd/0").await;
    assert_eq!(result.output, "dumb 1\n/dev/null");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn parent_and_child_at_once_each_see_their_own() {
    let place = Arc::new(Place::new());
    let mut calls = tokio::task::JoinSet::new();
    for at in 0..40 {
        let place = Arc::clone(&place);
        calls.spawn(async move {
            let id = format!("{}-{at}", if at % 2 == 0 { "parent" } else { "child" });
            let agent = place.agent(&id);
            let result = place.bash(&agent, &format!("sleep 0.0{}; {PRINT}", at % 7)).await;
            assert_eq!(result.output, place.expected(&id));
        });
    }
    while let Some(call) = calls.join_next().await {
        call.unwrap();
    }
    assert_eq!(place.executions().len(), 40);
}

#[tokio::test]
async fn a_directory_is_the_sessions_or_below_it_or_anywhere() {
    let place = Place::new();
    std::fs::create_dir(place.folder.path().join("below")).unwrap();
    let pwd = async |workdir: serde_json::Value| {
        let arguments = json!({ "command": "pwd", "description": "looks", "workdir": workdir });
        place.call(&place.nobody(), "bash", arguments).await
    };
    let top = place.folder.path().to_str().unwrap();
    assert_eq!(pwd(json!(null)).await.output, top);
    assert_eq!(pwd(json!("below")).await.output, format!("{top}/below"));
    assert_eq!(pwd(json!("/")).await.output, "/");
    let missing = pwd(json!("missing")).await;
    assert!(missing.is_error && missing.output.contains("missing"), "{}", missing.output);
}

#[tokio::test]
async fn powershell_runs_where_it_is_installed_and_is_missed_by_name_where_not() {
    let place = Place::new();
    let arguments = json!({ "command": "Write-Output \"$env:DSH_SESSION_ID $env:DSH_SHELL\"", "description": "looks" });
    let result = place.call(&place.agent("s1"), "pwsh", arguments).await;
    if Shell::Pwsh.is_installed() {
        assert_eq!(result.output, "s1 1");
    } else {
        assert!(result.is_error && result.output.contains("pwsh"), "{}", result.output);
    }
}

#[tokio::test]
async fn a_job_of_another_session_is_as_good_as_none() {
    let place = Place::new();
    place.background(&place.agent("s1"), "sleep 100").await;
    let theirs = place.call(&place.agent("s2"), "job_output", json!({ "job": "bash-1" })).await;
    let none = place.call(&place.agent("s1"), "job_output", json!({ "job": "bash-2" })).await;
    assert!(theirs.is_error && none.is_error);
    assert_eq!(theirs.output.replace("bash-1", "bash-2"), none.output);
    assert!(place.call(&place.agent("s2"), "job_kill", json!({ "job": "bash-1" })).await.is_error);
    let killed = place.call(&place.agent("s1"), "job_kill", json!({ "job": "bash-1" })).await;
    assert!(killed.ended.is_some_and(|ended| ended.cancelled), "{}", killed.output);
}
