use std::time::Duration;

use serde_json::json;

use super::support::{Running, by_tool, error_of, eventually};
use crate::protocol::collect_socket;

#[tokio::test]
async fn what_is_under_way_is_finished_and_nothing_new_is_begun() {
    let server = Running::start();
    let (mut one, mut other) = (server.collect().await, server.collect().await);
    let slow = one.send("overlay.collect", by_tool("slow")).await;
    server.host.collections.wait_for(1).await;
    assert!(other.is_served().await);
    let socket = collect_socket(&server.state);
    server.stopper.stop();
    eventually(|| !socket.exists()).await;
    for client in [&mut one, &mut other] {
        let (number, code, message) = client.fail("host.hello", json!({})).await;
        assert_eq!((number, code.as_str()), (-32000, "server-unavailable"));
        assert!(message.contains("stopping"), "{message}");
    }
    server.host.collections.open();
    let answer = one.answer().await;
    assert_eq!((&answer["id"], answer["result"]["env"].is_object()), (&json!(slow), true));
    assert_eq!((one.line().await, other.line().await), (None, None));
    server.ended().await;
}

#[tokio::test]
async fn nobody_else_serves_the_state_until_all_is_finished() {
    let server = Running::start();
    let mut client = server.collect().await;
    client.send("overlay.collect", by_tool("slow")).await;
    server.host.collections.wait_for(1).await;
    server.stopper.stop();
    let second =
        crate::server::Server::bind(crate::server::ServerOptions::new(&server.state), super::support::FakeHost::new());
    assert!(second.is_err());
    server.host.collections.open();
    assert!(client.answer().await["result"].is_object());
    server.ended().await;
}

#[tokio::test]
async fn a_second_stop_ends_at_once_and_says_so() {
    let server = Running::with(|options| options.grace = Duration::from_secs(1000));
    let mut client = server.collect().await;
    let slow = client.send("overlay.collect", by_tool("slow")).await;
    server.host.collections.wait_for(1).await;
    server.stopper.stop();
    server.stopper.stop();
    let answer = client.answer().await;
    assert_eq!((&answer["id"], error_of(&answer).1.as_str()), (&json!(slow), "server-unavailable"));
    assert_eq!(client.line().await, None);
    server.ended().await;
}

#[tokio::test]
async fn the_grace_time_ends_what_takes_longer() {
    let server = Running::with(|options| options.grace = Duration::from_millis(100));
    let mut client = server.admin().await;
    client.send("contributors.reload", json!({"name": "slow"})).await;
    server.host.reloads.wait_for(1).await;
    server.stopper.stop();
    assert_eq!(error_of(&client.answer().await).1, "server-unavailable");
    let host = server.host.clone();
    server.ended().await;
    host.reloads.open();
}

#[tokio::test]
async fn a_client_can_end_the_server_and_is_answered() {
    let server = Running::start();
    let mut idle = server.collect().await;
    let mut client = server.admin().await;
    assert!(client.ask("host.shutdown", json!({})).await.is_null());
    assert_eq!((client.line().await, idle.line().await), (None, None));
    server.ended().await;
}

#[tokio::test]
async fn a_server_that_was_stopped_before_it_ran_does_not_run() {
    let folder = tempfile::tempdir().unwrap();
    let options = crate::server::ServerOptions::new(folder.path());
    let server = crate::server::Server::bind(options, super::support::FakeHost::new()).unwrap();
    server.stopper().stop();
    tokio::time::timeout(super::support::LONG, server.run()).await.unwrap().unwrap();
}

#[tokio::test]
async fn a_client_that_takes_nothing_does_not_keep_the_server_from_ending() {
    let server = Running::with(|options| options.grace = Duration::from_millis(100));
    let mut silent = server.collect().await;
    for _ in 0..64 {
        silent.send("overlay.collect", by_tool("large")).await;
    }
    eventually(|| server.counter.read().requests == 64).await;
    server.stopper.stop();
    server.ended().await;
    drop(silent);
}
