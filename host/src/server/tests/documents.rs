//! What `docs` says of the protocol is what is sent.

mod schema;

use std::fs;
use std::path::Path;

use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use super::support::Running;
use crate::protocol::{
    ApproveParameters, CollectParameters, CollectResult, ErrorObject, ExplainParameters, FactParameters, HelloResult,
    LogResult, Method, MetricsResult, NameParameters, RollbackParameters, RpcCode,
};
use crate::server::request::read;
use crate::server::{Limit, Role, ServerOptions};
use schema::Schema;

fn document(name: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs").join(name);
    fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// Each request with its answer.
fn examples() -> Vec<(Value, Value)> {
    let text = document("protocol-examples.jsonl");
    let messages: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    messages.chunks(2).map(|pair| (pair[0].clone(), pair[1].clone())).collect()
}

/// The examples that go well, with their methods.
fn good_examples() -> Vec<(Method, Value, Value)> {
    let good = examples().into_iter().filter(|(_, answer)| answer.get("result").is_some());
    good.map(|(request, answer)| {
        let method = Method::named(request["method"].as_str().unwrap()).unwrap();
        (method, request, answer)
    })
    .collect()
}

/// Whether JSON is of a type, and nothing of it is lost.
fn is_a<T: DeserializeOwned + Serialize>(value: &Value) {
    let read: T = serde_json::from_value(value.clone()).unwrap_or_else(|error| panic!("{value}: {error}"));
    let again = serde_json::to_value(read).unwrap();
    let is_there = |(name, member): (&String, &Value)| again.get(name) == Some(member) || name == "execution";
    assert!(value.as_object().unwrap().iter().all(is_there), "{value} is not {again}");
}

#[test]
fn there_is_an_example_of_each_method_in_order() {
    let methods: Vec<_> = good_examples().into_iter().map(|(method, ..)| method).collect();
    assert_eq!(methods, Method::ALL);
    for (_, request, answer) in good_examples() {
        assert_eq!(request["id"], answer["id"]);
    }
}

#[test]
fn examples_are_what_the_types_say() {
    for (method, request, answer) in good_examples() {
        assert_eq!(read(request.to_string().as_bytes(), Role::Admin).unwrap().method, method);
        let (parameters, result) = (&request["params"], &answer["result"]);
        match method {
            Method::Hello => is_a::<HelloResult>(result),
            Method::Collect => {
                is_a::<CollectParameters>(parameters);
                is_a::<CollectResult>(result);
            }
            Method::Approve => is_a::<ApproveParameters>(parameters),
            Method::Rollback => is_a::<RollbackParameters>(parameters),
            Method::Reload | Method::Forget => is_a::<NameParameters>(parameters),
            Method::Log => {
                is_a::<NameParameters>(parameters);
                is_a::<LogResult>(result);
            }
            Method::PutFact => is_a::<FactParameters>(parameters),
            Method::Explain => is_a::<ExplainParameters>(parameters),
            Method::Metrics => is_a::<MetricsResult>(result),
            Method::List | Method::Status | Method::Health | Method::Activity | Method::Shutdown => {}
        }
    }
}

#[test]
fn examples_are_what_the_schema_says() {
    let schema = Schema::new(&document("protocol.schema.json"));
    for (method, request, answer) in good_examples() {
        schema.check("request", &request);
        schema.check("answer", &answer);
        schema.check(&format!("{}.result", method.as_str()), &answer["result"]);
    }
    for (_, answer) in examples() {
        schema.check("answer", &answer);
    }
}

#[tokio::test]
async fn a_server_says_what_the_schema_says() {
    let schema = Schema::new(&document("protocol.schema.json"));
    let server = Running::start();
    let mut client = server.admin().await;
    for (method, mut request, _) in good_examples() {
        if request["params"]["name"] == "git-workspace" {
            request["params"]["name"] = "echo".into();
        }
        let answer = client.say(&request.to_string()).await;
        schema.check("answer", &answer);
        schema.check(&format!("{}.result", method.as_str()), &answer["result"]);
    }
    server.ended().await;
}

#[tokio::test]
async fn a_server_answers_as_the_examples_of_errors_do() {
    let server = Running::start();
    let mut client = server.admin().await;
    let errors: Vec<_> = examples().into_iter().filter(|(_, answer)| answer.get("error").is_some()).collect();
    for (request, answer) in &errors {
        assert_eq!(client.say(&request.to_string()).await, *answer);
        let error: ErrorObject = serde_json::from_value(answer["error"].clone()).unwrap();
        assert_eq!(error.into_error().code().as_str(), answer["error"]["data"]["code"]);
    }
    assert!(errors.len() > 4);
    server.stop().await;
}

#[test]
fn the_schema_refuses_what_the_server_refuses() {
    let schema = Schema::new(&document("protocol.schema.json"));
    for request in [
        json!({"jsonrpc": "1.0", "id": 1, "method": "host.hello"}),
        json!({"jsonrpc": "2.0", "id": 1.5, "method": "host.hello"}),
        json!({"jsonrpc": "2.0", "id": 1, "method": "host.helo"}),
        json!({"jsonrpc": "2.0", "id": 1, "method": "overlay.collect"}),
        json!({"jsonrpc": "2.0", "id": 1, "method": "overlay.collect", "params": {"execution": {"agnet": {}}}}),
        json!({"jsonrpc": "2.0", "id": 1, "method": "overlay.collect", "params": {"execution": {"workdir": "srv"}}}),
        json!({"jsonrpc": "2.0", "id": 1, "method": "facts.put", "params": {"name": "a", "value": "b", "ttl_ms": -1}}),
        json!([]),
    ] {
        assert!(schema.find("request", &request).is_err(), "{request}");
    }
}

#[test]
fn the_page_names_every_method_limit_and_number() {
    let page = document("server.md");
    for method in Method::ALL {
        assert!(page.contains(&format!("| `{}` |", method.as_str())), "{method:?}");
    }
    for limit in Limit::ALL {
        assert!(page.contains(&format!("| `{limit}` |")), "{limit}");
    }
    for code in [RpcCode::NotJson, RpcCode::NotARequest, RpcCode::NoSuchMethod, RpcCode::WrongParameters, RpcCode::Host]
    {
        assert!(page.contains(&format!("| {} |", code.number())), "{code:?}");
    }
}

#[test]
fn the_page_tells_the_limits_as_they_are() {
    let page = document("server.md");
    let options = ServerOptions::new("/s");
    for (limit, value) in [
        (Limit::Connections, options.connections as u128),
        (Limit::LineBytes, options.line_bytes as u128),
        (Limit::LongLinesBytes, options.long_lines_bytes as u128),
        (Limit::Values, crate::protocol::MAX_VALUES as u128),
        (Limit::IdBytes, crate::protocol::MAX_ID_BYTES as u128),
        (Limit::WaitingAnswerBytes, options.waiting_answer_bytes as u128),
        (Limit::SilentReader, options.silent_reader.as_millis()),
        (Limit::HalfMessage, options.half_message.as_millis()),
        (Limit::Collections, options.collections as u128),
    ] {
        assert!(page.contains(&format!("| `{limit}` | {value} ")), "{limit} of {value}");
    }
    for told in [
        format!("at most {} requests", options.requests),
        format!("for {} seconds at most (`grace`)", options.grace.as_secs()),
        format!("{} run at once, and {} of those", crate::protocol::MAX_OPERATIONS, crate::protocol::MAX_CHANGES),
        format!("lines of over {} KiB", crate::protocol::LONG_LINE_BYTES / 1024),
    ] {
        assert!(page.contains(&told), "{told}");
    }
}

#[test]
fn units_hand_sockets_over_by_the_names_that_a_server_knows() {
    for role in Role::ALL {
        let unit = document(&format!("systemd/dsh-env-{}.socket", role.as_str()));
        assert!(unit.contains(&format!("FileDescriptorName={}\n", role.as_str())));
        assert!(unit.contains(&format!("/{}\n", role.socket())), "{unit}");
    }
    assert!(document("systemd/dsh-env-admin.socket").contains("SocketMode=0600\n"));
}

#[tokio::test]
async fn the_client_on_the_page_works() {
    let page = document("server.md");
    let (_, rest) = page.split_once("```python\n").unwrap();
    let (program, _) = rest.split_once("```").unwrap();
    let server = Running::start();
    std::fs::create_dir(server.folder.path().join(".dsh")).unwrap();
    std::os::unix::fs::symlink(&server.state, server.folder.path().join(".dsh/state")).unwrap();
    let mut command = tokio::process::Command::new("python3");
    command.args(["-c", program]).env("HOME", server.folder.path()).env("DSH_STALE", "stale");
    // Not every machine has it.
    if let Ok(output) = command.output().await {
        let (said, errors) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
        assert!(said.contains("DSH_ECHO_TOKEN=hunter2\n") && !said.contains("STALE"), "{said}{errors}");
    }
    server.stop().await;
}
