//! A model behind a real socket.

use super::support::endpoint::{Reply, Server};
use super::*;

fn answer(message: Value) -> Reply {
    Reply::ok(&json!({ "choices": [{ "message": message }] }).to_string())
}

#[test]
fn a_model_behind_an_endpoint_calls_the_shell_and_is_told_what_came_of_it() {
    let call = json!({"id": "x", "type": "function", "function": {"name": "bash", "arguments": "{\"command\": \"echo $DSH_SESSION_ID ${OPENAI_API_KEY-unset}\"}"}});
    let server = Server::answering([
        answer(json!({ "content": null, "tool_calls": [call] })),
        answer(json!({ "content": "I am s1." })),
    ]);
    let place = Place::new();
    let url = format!("{}/v1", server.url());
    let arguments =
        ["run", "--json", "--session-id", "s1", "--model", &url, "--model-name", "m", "--prompt", "Who are you?"];
    let ran = Ran::of(Run(place.command(arguments).env("OPENAI_API_KEY", "k3y").output().unwrap())).expect(0);
    assert_eq!(ran.outputs(), ["s1 unset"]);
    assert_eq!(ran.of_type("assistant/message")[1]["text"], "I am s1.");
    let requests = server.requests();
    assert_eq!(requests[0].header("authorization"), Some("Bearer k3y"));
    let messages = requests[1].body["messages"].as_array().unwrap();
    let roles: Vec<_> = messages.iter().map(|message| message["role"].as_str().unwrap()).collect();
    assert_eq!(roles, ["user", "assistant", "tool"]);
    assert_eq!(messages[2]["content"], "s1 unset");
    assert!(!ran.run.stdout().contains("k3y"));
}

#[test]
fn a_model_that_does_not_answer_fails_the_run_and_nothing_is_kept() {
    let server = Server::answering([Reply::status(400, r#"{"error":{"message":"no such model"}}"#)]);
    let place = Place::new();
    let run = place.run(["run", "--json", "--model", &server.url(), "--prompt", "x", "--session-id", "s1"]).expect(1);
    let lines: Vec<Value> = run.stdout().lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(lines.last().unwrap()["error"]["code"], "model-failed");
    assert_eq!(lines[lines.len() - 2]["type"], "turn/failed");
    assert!(!place.home().join("sessions").exists());
}

#[test]
fn the_prompt_comes_from_standard_input_where_none_is_given() {
    use std::io::Write as _;
    use std::process::Stdio;

    let server = Server::answering([answer(json!({ "content": "hello" }))]);
    let place = Place::new();
    let mut command = place.command(["run", "--json", "--model", &server.url()]);
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    child.stdin.take().unwrap().write_all(b"from a pipe\n").unwrap();
    let ran = Ran::of(Run(child.wait_with_output().unwrap())).expect(0);
    assert_eq!(ran.of_type("user/message")[0]["text"], "from a pipe");
    assert_eq!(server.requests()[0].body["messages"][0]["content"], "from a pipe");
}

#[test]
fn a_key_is_kept_from_commands_whatever_its_variable_is_called() {
    let call = json!({"function": {"name": "bash", "arguments": {"command": "echo ${MY_CRED-unset}"}}});
    let server =
        Server::answering([answer(json!({ "tool_calls": [call] })), answer(json!({ "content": "It is not there." }))]);
    let place = Place::new();
    let url = server.url();
    let arguments = ["run", "--json", "--model", &url, "--key-env", "MY_CRED", "--prompt", "Tell me the key."];
    let ran = Ran::of(Run(place.command(arguments).env("MY_CRED", "k3y").output().unwrap())).expect(0);
    assert_eq!(ran.outputs(), ["unset"]);
    assert_eq!(server.requests()[0].header("authorization"), Some("Bearer k3y"));
}

#[test]
fn a_prompt_that_is_too_long_is_refused_and_not_cut() {
    let place = Place::new();
    let long = place.write("long", "x".repeat(1024 * 1024 + 1));
    let mut command = place.command(["run", "--json", "--model", "http://127.0.0.1:1"]);
    let run = Run(command.stdin(std::fs::File::open(long).unwrap()).output().unwrap()).expect(2);
    assert!(run.json()["error"]["message"].as_str().unwrap().contains("more than"), "{}", run.stdout());
}
