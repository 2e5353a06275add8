use std::io::{BufReader, Write as _};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use serde_json::{Value, json};

use super::support::{PATIENCE, Server, VALUE, answer_with, call, read};
use crate::contract::Execution;
use crate::error::Code;
use crate::protocol::{MAX_LINE_BYTES, MAX_REPLY_BYTES};

/// As short as makes no test long.
const SHORT: Duration = Duration::from_millis(50);

fn refused(answer: impl Into<Vec<u8>>, why: &str) {
    let server = Server::saying(answer);
    let error = server.collect().unwrap_err();
    assert_eq!(error.code(), Code::ServerUnavailable);
    server.assert_told(&error);
    assert!(error.message().contains(why), "{error} says nothing of {why:?}");
}

#[test]
fn an_end_instead_of_an_answer_is_an_error() {
    refused("", "ended the connection");
    let server = Server::start(|_| Vec::new());
    let error = server.collect().unwrap_err();
    assert_eq!(error.code(), Code::ServerUnavailable);
    server.assert_told(&error);
}

#[test]
fn an_end_in_the_middle_of_an_answer_is_an_error() {
    let answer = answer_with(|_| {});
    for length in [1, answer.len() / 2, answer.len() - 1] {
        refused(&answer[..length], "in the middle of its answer");
    }
}

#[test]
fn garbage_is_an_error() {
    for garbage in [&b"\n"[..], b"hello\n", b"\0\0\0\n", b"\xff\xfe\n", b"HTTP/1.1 400 Bad Request\r\n", b"{\"a\":\n"] {
        refused(garbage, "no JSON");
    }
    for shape in [&b"[]\n"[..], b"7\n", b"{}\n", b"{\"jsonrpc\":\"2.0\",\"id\":\"1\",\"result\":{}}\n"] {
        refused(shape, "not of the shape");
    }
    refused("[".repeat(100_000) + "\n", "not of the shape");
    let deep = format!(r#"{{"jsonrpc":"2.0","id":1,"further":{}"#, "[".repeat(100_000));
    refused(deep + "\n", "no JSON");
}

#[test]
fn an_answer_to_another_question_is_an_error() {
    for id in [json!(2), json!(0), Value::Null] {
        let mut answer: Value = serde_json::from_slice(&answer_with(|_| {})).unwrap();
        answer["id"] = id;
        refused(format!("{answer}\n"), "answered another question");
    }
}

#[test]
fn an_answer_that_is_none_of_the_protocols_is_an_error() {
    let with = |change: fn(&mut Value)| {
        let mut answer: Value = serde_json::from_slice(&answer_with(|_| {})).unwrap();
        change(&mut answer);
        format!("{answer}\n")
    };
    refused(with(|answer| answer["jsonrpc"] = json!("1.0")), "another version");
    refused(with(|answer| answer["error"] = json!({"code": 1, "message": "m"})), "a result and an error");
    refused(with(|answer| drop(answer.as_object_mut().unwrap().remove("result"))), "neither a result nor an error");
    refused(with(|answer| answer["result"] = json!(VALUE)), "not of the shape");
    refused(with(|answer| answer["result"] = Value::Null), "not of the shape");
    refused(answer_with(|_| {}).repeat(2), "more than it was asked");
}

#[test]
fn an_answer_that_does_not_end_is_not_kept() {
    let server = Server::start(|mut stream| {
        read(&mut BufReader::new(stream.try_clone().unwrap()));
        let chunk = vec![b'x'; 1 << 20];
        while stream.write_all(&chunk).is_ok() {}
        Vec::new()
    });
    let error = server.collect().unwrap_err();
    server.assert_told(&error);
    assert!(error.message().contains(&MAX_REPLY_BYTES.to_string()), "{error}");
}

/// A server that reads one question and then does nothing until it is dropped.
fn silent() -> (Server, mpsc::Sender<()>) {
    let (release, released) = mpsc::channel::<()>();
    let server = Server::start(move |stream| {
        read(&mut BufReader::new(stream.try_clone().unwrap()));
        let _ = released.recv();
        Vec::new()
    });
    (server, release)
}

#[test]
fn a_server_that_says_nothing_makes_a_collection_end_in_time() {
    let (server, _release) = silent();
    let mut client = server.patient(SHORT);
    let error = client.collect(&call(), SHORT).unwrap_err();
    assert_eq!(error.code(), Code::OverlayTimeout);
    server.assert_told(&error);
    // What comes late would be taken for the answer to the next question.
    let error = client.collect(&call(), SHORT).unwrap_err();
    assert_eq!(error.code(), Code::ServerUnavailable);
    assert!(error.message().contains("connect again"), "{error}");
}

#[test]
fn a_server_that_goes_on_saying_little_makes_a_collection_end_in_time() {
    let server = Server::start(|mut stream| {
        while stream.write_all(b" ").is_ok() {
            thread::sleep(Duration::from_millis(5));
        }
        Vec::new()
    });
    let error = server.patient(SHORT).collect(&call(), SHORT).unwrap_err();
    assert_eq!(error.code(), Code::OverlayTimeout);
}

#[test]
fn a_server_that_does_not_read_makes_a_collection_end_in_time() {
    let (release, released) = mpsc::channel::<()>();
    let server = Server::start(move |_stream| {
        let _ = released.recv();
        Vec::new()
    });
    let large = Execution { extensions: vec![("x".to_owned(), "x".repeat(MAX_LINE_BYTES - 1024))], ..call() };
    let error = server.patient(SHORT).collect(&large, SHORT).unwrap_err();
    assert_eq!(error.code(), Code::OverlayTimeout);
    drop(release);
}

#[test]
fn why_a_server_ends_a_connection_is_heard_though_it_did_not_read() {
    let server = Server::start(|mut stream| {
        let data = json!({"stage": "host", "code": "overloaded", "message": "too many connections: wait"});
        let answer = json!({"jsonrpc": "2.0", "id": null, "error": {"code": -32000, "message": "m", "data": data}});
        stream.write_all(format!("{answer}\n").as_bytes()).unwrap();
        Vec::new()
    });
    let mut client = server.client();
    // It is gone before it is asked.
    assert!(server.questions().is_empty());
    let error = client.collect(&call(), PATIENCE).unwrap_err();
    assert_eq!((error.code(), error.message()), (Code::Overloaded, "too many connections: wait"));
}

#[test]
fn an_answer_in_pieces_is_one() {
    let server = Server::start(|mut stream| {
        read(&mut BufReader::new(stream.try_clone().unwrap()));
        for byte in answer_with(|_| {}) {
            stream.write_all(&[byte]).unwrap();
        }
        Vec::new()
    });
    server.collect().unwrap();
}
