use std::time::Duration;

use serde_json::{Value, json};

use super::support::{Server, VALUE};
use crate::error::Code;
use crate::protocol::{Method, NameParameters};

fn variable(key: &str) -> Value {
    json!({"key": key, "description": "A fact.", "contributor": "region", "sensitive": false})
}

#[test]
fn variables_are_listed_sorted() {
    let mut home = variable("DSH_HOME");
    home["contributor"] = json!("host");
    let server = Server::answering([json!([variable("DSH_REGION"), home])]);
    let variables = server.client().list().unwrap();
    let keys: Vec<_> =
        variables.iter().map(|variable| (variable.key.as_str(), variable.contributor.as_str())).collect();
    assert_eq!(keys, [("DSH_HOME", "host"), ("DSH_REGION", "region")]);
    let questions = server.questions();
    assert_eq!(questions, [json!({"jsonrpc": "2.0", "id": 1, "method": "contributors.list"})]);
}

#[test]
fn a_list_that_cannot_be_true_is_refused() {
    let with = |name: &str, value: Value| {
        let mut variable = variable("DSH_A");
        variable[name] = value;
        json!([variable])
    };
    for list in [
        with("key", json!("PATH")),
        with("description", json!("\u{1b}[31m")),
        with("description", json!("x".repeat(10_000))),
        with("contributor", json!("A B")),
        with("sensitive", json!(VALUE)),
        json!([variable("DSH_A"), variable("DSH_A")]),
        json!({}),
    ] {
        let server = Server::answering([list.clone()]);
        let error = server.client().list().unwrap_err();
        assert_eq!(error.code(), Code::ServerUnavailable, "{list}");
        server.assert_told(&error);
    }
}

#[test]
fn an_operator_calls_a_method_and_gets_what_it_answers() {
    let server = Server::answering([json!({"name": "region", "state": "live"}), Value::Null]);
    let mut client = server.client();
    let parameters = NameParameters { name: "region".to_owned() };
    let status = client.call(Method::Reload, Some(&parameters)).unwrap();
    assert_eq!(status["state"], json!("live"));
    assert_eq!(client.call(Method::Shutdown, None::<&()>).unwrap(), Value::Null);
    let questions = server.questions();
    assert_eq!(
        (&questions[0]["method"], &questions[0]["params"]),
        (&json!("contributors.reload"), &json!({"name": "region"}))
    );
    assert_eq!((&questions[1]["method"], questions[1].get("params")), (&json!("host.shutdown"), None));
}

#[test]
fn a_server_that_does_not_list_in_time_is_unavailable() {
    let (release, released) = std::sync::mpsc::channel::<()>();
    let server = Server::start(move |stream| {
        let _ = released.recv();
        drop(stream);
        Vec::new()
    });
    let error = server.patient(Duration::from_millis(10)).list().unwrap_err();
    assert_eq!(error.code(), Code::ServerUnavailable);
    server.assert_told(&error);
    drop(release);
}
