//! Commands in the background.

use super::*;

fn background(command: &str) -> Value {
    calls([json!({ "command": command, "description": "a test", "run_in_background": true })])
}

fn of_job(tool: &str, job: &str) -> Value {
    json!({ "tool_calls": [{ "name": tool, "arguments": { "job": job } }] })
}

#[test]
fn a_background_command_has_an_overlay_of_its_own_and_its_end_is_told_once() {
    let place = Place::new();
    let marker = place.path().join("marker");
    let script = [
        background(&format!("echo $DSH_SESSION_ID; touch {}", marker.display())),
        bash(&format!("until [ -e {} ]; do sleep 0.01; done; sleep 0.5", marker.display())),
        of_job("job_output", "bash-1"),
        bash("true"),
        done(),
    ];
    let ran = Ran::script(&place, script, &["--session-id", "s1"]).expect(0);
    assert!(ran.outputs()[0].contains("bash-1"), "{:?}", ran.outputs());
    assert!(ran.outputs()[2].starts_with("s1\n"), "{:?}", ran.outputs());
    assert_eq!(ran.of_type("job/completed").len(), 1);
    assert!(ran.of_type("job/completed")[0]["text"].as_str().unwrap().contains("bash-1"));
}

#[test]
fn a_job_is_killed_with_all_that_it_started() {
    let place = Place::new();
    let pid = place.path().join("pid");
    let script = [
        background(&format!("sleep 1000 & echo $! > {pid}.new; mv {pid}.new {pid}; wait", pid = pid.display())),
        bash(&format!("until [ -e {} ]; do sleep 0.01; done", pid.display())),
        of_job("job_kill", "bash-1"),
        bash(&format!("kill -0 $(cat {}) 2>/dev/null && echo alive || echo gone", pid.display())),
        done(),
    ];
    let ran = Ran::script(&place, script, &[]).expect(0);
    assert_eq!(ran.outputs()[3], "gone", "{:?}", ran.outputs());
}

#[test]
fn a_job_that_is_not_there_is_an_error_that_says_so() {
    let ran = Ran::script(&Place::new(), [of_job("job_output", "bash-7"), of_job("job_kill", "x"), done()], &[]);
    let ran = ran.expect(0);
    for result in ran.of_type("tool/result") {
        assert_eq!(result["isError"], true);
        assert!(result["output"].as_str().unwrap().contains("job-not-found"), "{result}");
    }
}
