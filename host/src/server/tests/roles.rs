use serde_json::json;

use super::support::Running;
use crate::protocol::Method;

#[tokio::test]
async fn the_collect_socket_answers_no_method_of_the_operator() {
    let server = Running::start();
    let mut client = server.collect().await;
    for method in Method::ALL.iter().filter(|method| !method.is_for_everybody()) {
        let (number, code, message) = client.fail(method.as_str(), json!({"name": "echo", "digest": "d"})).await;
        assert_eq!((number, code.as_str()), (-32601, "invalid-request"));
        assert!(message.contains(method.as_str()) && message.contains("admin.sock"), "{message}");
    }
    assert!(server.host.diary.lock().unwrap().is_empty() && client.is_served().await);
    server.stop().await;
}

#[tokio::test]
async fn the_admin_socket_answers_what_the_collect_socket_answers() {
    let server = Running::start();
    let mut client = server.admin().await;
    for method in Method::ALL.iter().filter(|method| method.is_for_everybody()) {
        client.ask(method.as_str(), json!({"execution": {}})).await;
    }
    server.stop().await;
}

#[tokio::test]
async fn a_method_that_nobody_knows_is_answered_with_those_that_there_are() {
    let server = Running::start();
    let (number, _, message) = server.collect().await.fail("host.helo", json!({})).await;
    assert_eq!(number, -32601);
    assert!(message.contains("\"host.helo\"") && message.contains("host.hello, overlay.collect, contributors.list"));
    assert!(!message.contains("host.shutdown"), "{message}");
    let (_, _, message) = server.admin().await.fail("\u{1b}[31m", json!({})).await;
    assert!(message.contains("host.shutdown") && !message.contains('\u{1b}'));
    server.stop().await;
}
