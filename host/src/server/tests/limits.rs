use std::time::Duration;

use serde_json::{Value, json};

use super::support::{Running, by_tool, error_of, eventually};
use crate::protocol::{MAX_LINE_BYTES, MAX_VALUES};
use crate::server::Limit;

fn refused(server: &Running, limit: Limit) -> u64 {
    server.counter.read().refused[&limit]
}

#[tokio::test]
async fn a_line_of_ten_megabytes_is_refused_and_the_next_is_answered() {
    let server = Running::start();
    let mut client = server.collect().await;
    let request = json!({"jsonrpc": "2.0", "id": 1, "method": "host.hello", "params": {"a": "x".repeat(10_000_000)}});
    let answer = client.say(&request.to_string()).await;
    let (number, code, message) = error_of(&answer);
    assert_eq!((number, code.as_str(), &answer["id"]), (-32600, "invalid-request", &Value::Null));
    assert!(message.contains("line-bytes of 4194304"), "{message}");
    assert!(client.is_served().await);
    assert_eq!(refused(&server, Limit::LineBytes), 1);
    server.stop().await;
}

#[tokio::test]
async fn a_line_may_be_as_long_as_the_limit_says() {
    let server = Running::start();
    let mut client = server.collect().await;
    let line = r#"{"jsonrpc":"2.0","id":1,"method":"host.hello"}"#;
    let full = format!("{line}{}", " ".repeat(MAX_LINE_BYTES - line.len()));
    assert_eq!(client.say(&full).await["id"], 1);
    assert_eq!(error_of(&client.say(&(full + " ")).await).0, -32600);
    assert!(client.is_served().await);
    server.stop().await;
}

#[tokio::test]
async fn long_lines_share_the_memory_that_there_is_for_them() {
    let server = Running::with(|options| options.long_lines_bytes = 300_000);
    let (mut one, mut other) = (server.collect().await, server.collect().await);
    let large = json!({"execution": {"tool": "slow"}, "ignored": "x".repeat(200_000)});
    let id = one.send("overlay.collect", large.clone()).await;
    server.host.collections.wait_for(1).await;
    other.send("overlay.collect", large.clone()).await;
    let (number, code, message) = error_of(&other.answer().await);
    assert_eq!((number, code.as_str()), (-32000, "overloaded"));
    assert!(message.contains("long-lines-bytes of 300000"), "{message}");
    assert!(other.is_served().await);
    server.host.collections.open();
    assert_eq!(one.answer().await["id"], id);
    // Now there is room again.
    other.ask("overlay.collect", large).await;
    server.stop().await;
}

#[tokio::test]
async fn a_line_has_no_more_values_than_agreed() {
    let server = Running::start();
    let mut client = server.collect().await;
    client.send("host.hello", json!({"a": vec![0; MAX_VALUES]})).await;
    let (number, _, message) = error_of(&client.answer().await);
    assert_eq!(number, -32600);
    assert!(message.contains("values of 8192"), "{message}");
    let texts = json!({"a": ",:[{\\\"".repeat(MAX_VALUES)});
    client.ask("host.hello", texts).await;
    server.stop().await;
}

#[tokio::test]
async fn a_connection_over_the_limit_is_told_so_and_closed() {
    let server = Running::with(|options| options.connections = 2);
    let (mut one, mut two) = (server.collect().await, server.collect().await);
    assert!(one.is_served().await && two.is_served().await);
    let mut three = server.collect().await;
    let answer = three.answer().await;
    let (number, code, message) = error_of(&answer);
    assert_eq!((number, code.as_str(), &answer["id"]), (-32000, "overloaded", &Value::Null));
    assert!(message.contains("connections of 2"), "{message}");
    assert_eq!(three.line().await, None);
    assert_eq!(refused(&server, Limit::Connections), 1);
    // The operator's socket has places of its own.
    assert!(server.admin().await.is_served().await);
    drop(one);
    eventually(|| server.counter.read().connections <= 1).await;
    assert!(server.collect().await.is_served().await);
    server.stop().await;
}

#[tokio::test]
async fn requests_over_the_limit_wait_to_be_read_and_all_are_answered() {
    let server = Running::with(|options| options.requests = 2);
    let mut client = server.collect().await;
    for _ in 0..2 {
        client.send("overlay.collect", by_tool("slow")).await;
    }
    for _ in 0..200 {
        client.send("host.hello", json!({})).await;
    }
    server.host.collections.wait_for(2).await;
    assert_eq!(server.counter.read().requests, 2);
    server.host.collections.open();
    let mut ids = Vec::new();
    for _ in 0..202 {
        ids.push(client.answer().await["id"].as_u64().unwrap());
    }
    ids.sort_unstable();
    assert!(ids.into_iter().eq(1..=202));
    server.stop().await;
}

#[tokio::test]
async fn an_answer_for_which_there_is_no_room_becomes_an_error() {
    let server = Running::with(|options| options.waiting_answer_bytes = 100_000);
    let mut client = server.collect().await;
    // More than sockets take by themselves, of a client that does not read.
    for _ in 0..64 {
        client.send("overlay.collect", by_tool("large")).await;
    }
    eventually(|| refused(&server, Limit::WaitingAnswerBytes) > 0).await;
    let mut errors = 0;
    for _ in 0..64 {
        let answer = client.answer().await;
        if answer.get("error").is_some() {
            let (number, code, message) = error_of(&answer);
            assert_eq!((number, code.as_str(), answer["id"].is_u64()), (-32000, "overloaded", true));
            assert!(message.contains("waiting-answer-bytes of 100000"), "{message}");
            errors += 1;
        }
    }
    assert_eq!(errors, refused(&server, Limit::WaitingAnswerBytes));
    assert!(client.is_served().await);
    server.stop().await;
}

#[tokio::test]
async fn who_takes_no_answers_is_closed_and_nobody_else_notices() {
    let server = Running::with(|options| options.silent_reader = Duration::from_millis(200));
    let (mut silent, mut other) = (server.collect().await, server.collect().await);
    for _ in 0..64 {
        silent.send("overlay.collect", by_tool("large")).await;
    }
    eventually(|| refused(&server, Limit::SilentReader) == 1).await;
    eventually(|| server.counter.read().connections == 1).await;
    assert!(other.is_served().await);
    server.stop().await;
}

#[tokio::test]
async fn half_a_message_is_waited_for_no_longer_than_agreed() {
    let server = Running::with(|options| options.half_message = Duration::from_millis(200));
    let (mut half, mut idle) = (server.collect().await, server.collect().await);
    assert!(idle.is_served().await);
    half.send_bytes(br#"{"jsonrpc":"2.0","#).await;
    let answer = half.answer().await;
    let (number, _, message) = error_of(&answer);
    assert_eq!((number, &answer["id"]), (-32600, &Value::Null));
    assert!(message.contains("half-message of 200"), "{message}");
    assert_eq!(half.line().await, None);
    // Who sent nothing may be idle as long as it wants.
    tokio::time::sleep(Duration::from_millis(400)).await;
    assert!(idle.is_served().await);
    server.stop().await;
}

#[tokio::test]
async fn a_line_that_never_ends_is_waited_for_no_longer_either() {
    let server = Running::with(|options| {
        options.half_message = Duration::from_millis(300);
        options.line_bytes = 1000;
    });
    let mut client = server.collect().await;
    let feeding = async {
        use tokio::io::AsyncWriteExt as _;
        while client.output.write_all(&[b'x'; 100]).await.is_ok() {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
    };
    tokio::time::timeout(super::support::LONG, feeding).await.expect("it should be closed by now");
    assert_eq!((refused(&server, Limit::LineBytes), refused(&server, Limit::HalfMessage)), (1, 1));
    server.stop().await;
}

#[tokio::test]
async fn a_collection_that_finds_no_place_in_time_says_so() {
    let server = Running::with(|options| options.collections = 1);
    let mut client = server.collect().await;
    let slow = client.send("overlay.collect", by_tool("slow")).await;
    server.host.collections.wait_for(1).await;
    client.send("overlay.collect", json!({"execution": {}, "deadline_ms": 50})).await;
    let (_, code, message) = error_of(&client.answer().await);
    assert_eq!(code, "overloaded");
    assert!(message.contains("collections of 1"), "{message}");
    // Who waits longer gets its turn.
    let waits = client.send("overlay.collect", by_tool("bash")).await;
    server.host.collections.open();
    let ids = [client.answer().await["id"].clone(), client.answer().await["id"].clone()];
    assert_eq!(ids, [json!(slow), json!(waits)]);
    server.stop().await;
}

#[tokio::test]
async fn changes_that_take_long_leave_places_for_questions() {
    let server = Running::start();
    let mut client = server.admin().await;
    for _ in 0..20 {
        client.send("contributors.reload", json!({"name": "slow"})).await;
    }
    server.host.reloads.wait_for(crate::protocol::MAX_CHANGES).await;
    let mut other = server.admin().await;
    assert!(other.ask("host.health", json!({})).await.is_object());
    assert!(other.ask("contributors.status", json!({})).await.is_array());
    assert_eq!(server.host.reloads.came(), crate::protocol::MAX_CHANGES);
    server.host.reloads.open();
    for _ in 0..20 {
        client.answer().await;
    }
    server.stop().await;
}
