//! The whole path, as `dsh-env run` goes it: a model, real shells, real hooks, a session's log.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test that cannot go on fails"
)]

mod support;

#[path = "run/composed.rs"]
mod composed;
#[path = "run/endings.rs"]
mod endings;
#[path = "run/endpoints.rs"]
mod endpoints;
#[path = "run/first_turn.rs"]
mod first_turn;
#[path = "run/hooked.rs"]
mod hooked;
#[path = "run/jobs.rs"]
mod jobs;

use std::path::Path;

use serde_json::{Value, json};

use support::command::{Place, Run};

/// An answer of a model that calls `bash`.
fn bash(command: &str) -> Value {
    calls([json!({ "command": command, "description": "a test" })])
}

/// An answer of a model that calls `bash` more than once.
fn calls(arguments: impl IntoIterator<Item = Value>) -> Value {
    let calls: Vec<_> =
        arguments.into_iter().map(|arguments| json!({ "name": "bash", "arguments": arguments })).collect();
    json!({ "tool_calls": calls })
}

/// An answer of a model that is done with a turn.
fn done() -> Value {
    json!({ "text": "done" })
}

/// What ran, and what was printed of it.
struct Ran {
    run: Run,
    events: Vec<Value>,
}

impl Ran {
    /// The command with a script and `--json`, and further arguments.
    fn script(place: &Place, answers: impl IntoIterator<Item = Value>, arguments: &[&str]) -> Self {
        let script = place.write("script.json", Value::from_iter(answers).to_string());
        let all = ["run", "--json", "--script", script.to_str().unwrap()];
        Self::of(place.run(all.iter().chain(arguments)))
    }

    fn of(run: Run) -> Self {
        let events = run.stdout().lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        Self { run, events }
    }

    fn expect(self, status: i32) -> Self {
        let run = self.run.expect(status);
        Self { run, ..self }
    }

    fn of_type(&self, kind: &str) -> Vec<&Value> {
        self.events.iter().filter(|event| event["type"] == kind).collect()
    }

    /// What the model was told of its calls, in order.
    fn outputs(&self) -> Vec<&str> {
        self.of_type("tool/result").iter().map(|result| result["output"].as_str().unwrap()).collect()
    }
}

/// The lines of a log that is not compressed.
fn log(path: &Path) -> Vec<Value> {
    let text = std::fs::read_to_string(path).unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}
