use std::time::Duration;

use serde_json::{Value, json};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _, DuplexStream, duplex};
use tokio::task::JoinHandle;
use tokio::time::timeout;

use super::support::{FakeHost, LONG};
use crate::error::Result;
use crate::server::{Server, ServerOptions};
use std::sync::Arc;

/// A server of one client; its input, its output, what it serves and itself.
fn start() -> (DuplexStream, DuplexStream, Arc<FakeHost>, JoinHandle<Result<()>>) {
    let (input, from_client) = duplex(1000);
    let (to_client, output) = duplex(1000);
    let host = FakeHost::new();
    let server = Server::stdio(ServerOptions::new("/nowhere"), host.clone(), from_client, to_client);
    (input, output, host, tokio::spawn(server.run()))
}

fn answers(text: &str) -> Vec<Value> {
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

async fn rest(mut output: DuplexStream) -> Vec<Value> {
    let mut text = String::new();
    timeout(LONG, output.read_to_string(&mut text)).await.expect("it should have ended").unwrap();
    answers(&text)
}

#[tokio::test]
async fn one_client_has_both_roles_and_its_end_is_the_servers() {
    let (mut input, output, host, server) = start();
    input.write_all(b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"host.health\"}\n").await.unwrap();
    let collect =
        json!({"jsonrpc": "2.0", "id": 2, "method": "overlay.collect", "params": {"execution": {"tool": "slow"}}});
    input.write_all(format!("{collect}\ngarbage\n").as_bytes()).await.unwrap();
    host.collections.wait_for(1).await;
    drop(input);
    tokio::time::sleep(Duration::from_millis(50)).await;
    assert!(!server.is_finished());
    host.collections.open();
    let mut answers = rest(output).await;
    answers.sort_by_key(|answer| answer["id"].as_u64());
    assert!(answers[0]["error"].is_object() && answers[0]["id"].is_null());
    assert_eq!((&answers[1]["result"]["ready"], answers[2]["result"]["env"].is_object()), (&json!(true), true));
    timeout(LONG, server).await.unwrap().unwrap().unwrap();
}

#[tokio::test]
async fn an_end_at_once_is_an_end() {
    let (input, output, _, server) = start();
    drop(input);
    assert!(rest(output).await.is_empty());
    timeout(LONG, server).await.unwrap().unwrap().unwrap();
}

#[tokio::test]
async fn a_client_that_reads_no_more_is_an_end_too() {
    let (mut input, output, _, server) = start();
    drop(output);
    input.write_all(b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"host.hello\"}\n").await.unwrap();
    timeout(LONG, server).await.unwrap().unwrap().unwrap();
}

#[tokio::test]
async fn a_shutdown_ends_it_though_the_client_is_still_there() {
    let (mut input, output, _, server) = start();
    input.write_all(b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"host.shutdown\"}\n").await.unwrap();
    let answers = rest(output).await;
    assert_eq!(answers, [json!({"jsonrpc": "2.0", "id": 1, "result": null})]);
    timeout(LONG, server).await.unwrap().unwrap().unwrap();
}
