use serde_json::json;

use super::support::{Running, by_tool};

#[tokio::test(flavor = "multi_thread")]
async fn each_of_many_clients_gets_its_own_answers() {
    let server = Running::start();
    let mut clients = tokio::task::JoinSet::new();
    for number in 0..64 {
        let mut client = server.collect().await;
        clients.spawn(async move {
            for call in 0..20 {
                let call = format!("{number}-{call}");
                let result = client.ask("overlay.collect", json!({"execution": {"call_id": call}})).await;
                assert_eq!((&result["env"]["DSH_ECHO"], &result["call"]), (&json!(call), &json!(call)));
            }
            // And many at once.
            for _ in 0..20 {
                let call = format!("{number}-{}", client.last() + 1);
                client.send("overlay.collect", json!({"execution": {"call_id": call}})).await;
            }
            for _ in 0..20 {
                let answer = client.answer().await;
                assert_eq!(answer["result"]["env"]["DSH_ECHO"], format!("{number}-{}", answer["id"]));
            }
        });
    }
    while let Some(client) = clients.join_next().await {
        client.unwrap();
    }
    let counts = server.counter.read();
    assert_eq!((counts.accepted, counts.requests, counts.errors), (64, 64 * 40, 0));
    server.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_client_that_dies_takes_nothing_from_others() {
    let server = Running::start();
    let mut other = server.collect().await;
    let waits = other.send("overlay.collect", by_tool("slow")).await;
    server.host.collections.wait_for(1).await;
    for round in 0..20 {
        let mut dying = server.collect().await;
        dying.send("overlay.collect", by_tool("slow")).await;
        dying.send("overlay.collect", by_tool("large")).await;
        if round % 2 == 0 {
            dying.send_bytes(br#"{"jsonrpc":"2.0","id":7,"me"#).await;
        }
        drop(dying);
        assert!(other.is_served().await);
    }
    server.host.collections.open();
    assert_eq!(other.answer().await["id"], waits);
    super::support::eventually(|| server.counter.read().connections == 1).await;
    super::support::eventually(|| server.counter.read().in_flight == 0).await;
    server.stop().await;
}

#[tokio::test]
async fn slow_collections_of_one_client_hold_up_nobody() {
    let server = Running::start();
    let (mut slow, mut other) = (server.collect().await, server.collect().await);
    for _ in 0..64 {
        slow.send("overlay.collect", by_tool("slow")).await;
    }
    server.host.collections.wait_for(64).await;
    assert!(other.is_served().await);
    other.ask("overlay.collect", by_tool("bash")).await;
    other.ask("contributors.list", json!({})).await;
    server.host.collections.open();
    for _ in 0..64 {
        assert!(slow.answer().await["result"].is_object());
    }
    server.stop().await;
}
