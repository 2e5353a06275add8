use std::time::Duration;

use serde_json::{Value, json};

use super::support::{PATIENCE, Server, VALUE, answer_with, call, result_with};
use crate::contract::Execution;
use crate::environment::{ChildEnvironment, Managed, TerminalSettings};
use crate::error::{Code, Stage};
use crate::protocol::MAX_LINE_BYTES;

#[test]
fn a_collection_is_asked_for_and_comes_back_sorted() {
    let server = Server::answering([result_with(|result| result["unset"] = json!(["DSH_Z", "DSH_A"]))]);
    let result = server.client().collect(&call(), Duration::from_millis(250)).unwrap();
    let env: Vec<_> = result.env.0.iter().map(|(key, value)| (key.as_str(), value.as_str())).collect();
    assert_eq!(env, [("DSH_HOME", "/h"), ("DSH_SHELL", "1"), ("DSH_TOKEN", VALUE)]);
    assert_eq!(result.unset, ["DSH_A", "DSH_Z"]);
    assert_eq!((result.sensitive, result.degraded), (vec!["DSH_TOKEN".to_owned()], vec!["DSH_REGION".to_owned()]));
    assert_eq!((result.call.as_str(), result.contributors[0].name.as_str()), ("call-1", "region"));

    let [question] = &server.questions()[..] else { panic!("it asked more than once") };
    assert_eq!((&question["jsonrpc"], &question["method"]), (&json!("2.0"), &json!("overlay.collect")));
    assert_eq!(question["params"]["deadline_ms"], json!(250));
    let sent: Execution = serde_json::from_value(question["params"]["execution"].clone()).unwrap();
    assert_eq!(sent, call());
}

#[test]
fn one_connection_serves_many_collections() {
    let server = Server::answering((0..50).map(|_| result_with(|_| {})));
    let mut client = server.client();
    for _ in 0..50 {
        client.collect(&call(), PATIENCE).unwrap();
    }
    let ids: Vec<_> = server.questions().iter().map(|question| question["id"].as_u64().unwrap()).collect();
    assert_eq!(ids, (1..=50).collect::<Vec<_>>());
}

#[test]
fn no_more_time_is_asked_for_than_a_collection_may_take() {
    let server = Server::answering([result_with(|_| {})]);
    server.client().collect(&call(), Duration::MAX).unwrap();
    assert_eq!(server.questions()[0]["params"]["deadline_ms"], json!(5000));
}

#[test]
fn an_execution_without_an_id_gets_the_servers() {
    let nameless = Execution { call_id: String::new(), ..call() };
    for (given, is_taken) in [("0199-fresh", true), ("", false), ("a\nb", false), (&"x".repeat(1000), false)] {
        let server = Server::answering([result_with(|result| result["call"] = json!(given))]);
        assert_eq!(server.client().collect(&nameless, PATIENCE).is_ok(), is_taken, "{given}");
    }
}

#[test]
fn what_the_server_says_went_wrong_is_said_here() {
    let data = json!({
        "stage": "resolve", "code": "trap", "contributor": "region", "key": "DSH_REGION", "message": "it crashed: mend it",
    });
    let error = json!({"code": -32000, "message": "it crashed: mend it", "data": data});
    for id in [json!(1), Value::Null] {
        let answer = json!({"jsonrpc": "2.0", "id": id, "error": error});
        let error = Server::saying(format!("{answer}\n")).collect().unwrap_err();
        assert_eq!((error.stage(), error.code()), (Stage::Resolve, Code::Trap));
        assert_eq!((error.contributor(), error.key()), (Some("region"), Some("DSH_REGION")));
        assert_eq!(error.message(), "it crashed: mend it");
    }
}

#[test]
fn after_an_error_of_the_server_the_connection_serves_on() {
    let server = Server::start(|mut stream| {
        let mut reader = std::io::BufReader::new(stream.try_clone().unwrap());
        for answer in [json!({"error": {"code": -32000, "message": "no"}}), json!({"result": result_with(|_| {})})] {
            let mut answer = answer;
            let question = super::support::read(&mut reader).unwrap();
            answer["jsonrpc"] = json!("2.0");
            answer["id"] = question["id"].clone();
            std::io::Write::write_all(&mut stream, format!("{answer}\n").as_bytes()).unwrap();
        }
        Vec::new()
    });
    let mut client = server.client();
    client.collect(&call(), PATIENCE).unwrap_err();
    client.collect(&call(), PATIENCE).unwrap();
}

#[test]
fn a_collection_that_cannot_be_true_is_refused() {
    let refused: [(&str, Value); 24] = [
        ("/env", json!({"PATH": VALUE})),
        ("/env", json!({"dsh_home": VALUE})),
        ("/env", json!({"DSH_": VALUE})),
        ("/env", json!({"DSH_A=B": VALUE})),
        ("/env", json!({"DSH_A\u{0}": VALUE})),
        ("/env", json!({"": VALUE})),
        ("/env", json!({format!("DSH_{}", "A".repeat(125)): VALUE})),
        ("/env", json!({"DSH_TOKEN": "nul\u{0}"})),
        ("/env", json!({"DSH_TOKEN": "x".repeat(128 * 1024)})),
        ("/env", json!({"DSH_OTHER": "sensitive, and without a value"})),
        ("/env", json!({"DSH_TOKEN": 7})),
        ("/env", json!({"DSH_TOKEN": null})),
        ("/env", json!([["DSH_TOKEN", VALUE]])),
        ("/unset", json!(["DSH_HOME"])),
        ("/unset", json!(["PATH"])),
        ("/unset", json!(["DSH_A", "DSH_A"])),
        ("/sensitive", json!(["DSH_TOKEN", "DSH_NONE"])),
        ("/degraded", json!(["\u{1b}[31m"])),
        ("/degraded", json!(["DSH_A", "DSH_B", "DSH_A"])),
        ("/call", json!("another")),
        ("/contributors/0/name", json!("No Name")),
        ("/contributors/0/digest", json!("a\u{1b}b")),
        ("/contributors/0/policy", json!("x".repeat(1000))),
        ("/contributors/0/micros", json!(-1)),
    ];
    for (pointer, value) in refused {
        let shown = format!("{pointer} {value:.80}");
        let server = Server::saying(answer_with(|result| *result.pointer_mut(pointer).unwrap() = value));
        let error = server.collect().unwrap_err();
        assert_eq!(error.code(), Code::ServerUnavailable, "{shown}");
        server.assert_told(&error);
    }
}

#[test]
fn a_key_that_is_there_twice_is_refused() {
    let answer = String::from_utf8(answer_with(|_| {})).unwrap();
    let twice = answer.replace(r#""DSH_SHELL":"1""#, r#""DSH_SHELL":"1","DSH_SHELL":"2""#);
    assert_ne!(twice, answer);
    let server = Server::saying(twice);
    let error = server.collect().unwrap_err();
    server.assert_told(&error);
    assert!(error.message().contains("DSH_SHELL is there twice"), "{error}");
}

#[test]
fn the_largest_overlay_is_taken_and_no_larger_one() {
    let with = |bytes: usize| {
        Server::saying(answer_with(|result| {
            result["env"] = json!({"DSH_A": "x".repeat(bytes - "DSH_A".len() - 2)});
            result["sensitive"] = json!([]);
        }))
    };
    assert!(with(128 * 1024).collect().is_ok());
    assert!(with(128 * 1024 + 1).collect().is_err());
}

#[test]
fn what_a_newer_server_adds_is_no_trouble() {
    let server = Server::saying(answer_with(|result| {
        result["further"] = json!({"a": [1, 2]});
        result["contributors"][0]["further"] = json!(1);
    }));
    server.collect().unwrap();
}

#[test]
fn an_execution_that_no_server_takes_is_not_sent() {
    let server = Server::answering([result_with(|_| {})]);
    let mut client = server.client();
    let huge = Execution { extensions: vec![("x".to_owned(), "x".repeat(MAX_LINE_BYTES))], ..call() };
    assert_eq!(client.collect(&huge, PATIENCE).unwrap_err().code(), Code::InvalidRequest);
    client.collect(&call(), PATIENCE).unwrap();
}

#[test]
fn an_environment_is_made_of_a_collection_as_of_an_overlay() {
    let result = Server::saying(answer_with(|_| {})).collect().unwrap();
    let pairs = result.env.0.iter().map(|(key, value)| (key.as_str(), value.as_str()));
    let managed = Managed::new(pairs, result.sensitive.iter().map(String::as_str)).unwrap();
    let inherited = [("DSH_STALE", "1"), ("DSH_HOME", "/wrong"), ("dsh_shell", "0"), ("PATH", "/bin")];
    let environment = ChildEnvironment::builder(inherited.map(|(name, value)| (name.into(), value.into())))
        .terminal(TerminalSettings::Inherited)
        .strict_shell(false)
        .with_managed(&managed);
    let expected = [("PATH", "/bin"), ("DSH_HOME", "/h"), ("DSH_SHELL", "1"), ("DSH_TOKEN", VALUE)];
    assert!(environment.iter().eq(expected.map(|(name, value)| (name.as_ref(), value.as_ref()))), "{environment:?}");
    let sensitive: Vec<_> =
        managed.iter().filter(|(_, value)| value.is_sensitive()).map(|(key, _)| key.as_str()).collect();
    assert_eq!(sensitive, ["DSH_TOKEN"]);
}
