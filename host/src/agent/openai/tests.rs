//! Against a server of this very process, over a real socket.

#[path = "../../../../tests/support/endpoint.rs"]
mod endpoint;

use std::time::Duration;

use serde_json::json;

use super::*;
use crate::agent::conversation::{Message, RecordedCall};
use crate::agent::model::RequestHeader;
use crate::tools::ToolDescription;
use endpoint::{Reply, Server};

const DONE: &str = r#"{"choices":[{"message":{"role":"assistant","content":"done"},"finish_reason":"stop"}]}"#;

fn request() -> Request {
    let tool = ToolDescription {
        name: "bash".to_owned(),
        description: "Runs a command.".to_owned(),
        parameters: json!({"type": "object"}),
    };
    let call = RecordedCall { id: "c1".to_owned(), name: "bash".to_owned(), arguments: json!({"command": "pwd"}) };
    Request {
        header: RequestHeader { model: "some-model".to_owned(), tools: vec![tool] },
        messages: vec![
            Message::User("Where are you?".to_owned()),
            Message::Assistant { text: None, calls: vec![call] },
            Message::Tool { call_id: "c1".to_owned(), output: "/srv".to_owned() },
        ],
    }
}

async fn ask(options: OpenAiOptions) -> Result<Answer> {
    let mut model = OpenAi::new(options).unwrap();
    let request = request();
    let answer = model.answer(&request);
    tokio::time::timeout(Duration::from_secs(60), answer).await.unwrap()
}

fn options(server: &Server) -> OpenAiOptions {
    OpenAiOptions::new(&format!("{}/v1", server.url()), "some-model").unwrap()
}

#[tokio::test]
async fn a_request_carries_the_model_its_tools_and_the_conversation() {
    let server = Server::answering([Reply::ok(DONE)]);
    let answer = ask(options(&server).key("s3cret").unwrap()).await.unwrap();
    assert_eq!(answer, Answer { text: Some("done".to_owned()), tool_calls: Vec::new() });
    let [request] = server.requests().try_into().unwrap();
    assert_eq!(request.line, "POST /v1/chat/completions HTTP/1.1");
    assert_eq!(request.header("authorization"), Some("Bearer s3cret"));
    insta::assert_json_snapshot!("request", request.body);
}

#[tokio::test]
async fn tool_calls_are_read_with_arguments_as_text_as_json_and_as_nonsense() {
    let body = json!({"choices": [{"message": {"content": null, "tool_calls": [
        {"id": "a", "type": "function", "function": {"name": "bash", "arguments": "{\"command\":\"pwd\"}"}},
        {"id": "b", "type": "function", "function": {"name": "bash", "arguments": {"command": "ls"}}},
        {"id": "c", "type": "function", "function": {"name": "bash", "arguments": "{\"command\":"}},
        {"id": "d", "type": "function", "function": {"name": "job_output", "arguments": ""}},
    ]}}]});
    let server = Server::answering([Reply::ok(&body.to_string())]);
    let answer = ask(options(&server)).await.unwrap();
    let arguments: Vec<_> = answer.tool_calls.iter().map(|call| call.arguments.clone()).collect();
    assert_eq!(arguments, [json!({"command": "pwd"}), json!({"command": "ls"}), json!("{\"command\":"), json!({})]);
    assert_eq!(answer.text, None);
}

#[tokio::test]
async fn a_busy_endpoint_is_asked_again_and_a_wrong_key_is_not() {
    let server = Server::answering([
        Reply::status(429, "{}").with("Retry-After", "0"),
        Reply::status(503, "later").with("Retry-After", "0"),
        Reply::ok(DONE),
    ]);
    assert!(ask(options(&server)).await.is_ok());
    assert_eq!(server.requests().len(), 3);

    let server = Server::answering([Reply::status(401, r#"{"error":{"message":"no such key"}}"#)]);
    let error = ask(options(&server)).await.unwrap_err();
    assert_eq!(error.code(), Code::ModelFailed);
    assert!(error.message().contains("no such key") && error.message().contains("give the key"), "{error}");
    assert_eq!(server.requests().len(), 1);
}

#[tokio::test]
async fn an_endpoint_that_repeats_the_key_does_not_get_it_into_a_message() {
    let at_the_cut = format!("{}s3cret", "x".repeat(508));
    for body in [r#"{"error":{"message":"bad key Bearer s3cret"}}"#, "s3cret s3cret", &at_the_cut] {
        let server = Server::answering([Reply::status(401, body)]);
        let error = ask(options(&server).key(" s3cret\n").unwrap()).await.unwrap_err();
        assert!(!error.message().contains("s3c"), "{error}");
    }
}

#[tokio::test]
async fn a_redirect_is_not_followed_so_that_the_key_goes_nowhere_else() {
    let other = Server::answering([Reply::ok(DONE)]);
    let server = Server::answering([Reply::status(307, "").with("Location", &other.url())]);
    let error = ask(options(&server).key("s3cret").unwrap()).await.unwrap_err();
    assert!(error.message().contains("307"), "{error}");
    assert!(other.requests().is_empty());
}

#[tokio::test]
async fn what_is_no_answer_is_an_error_that_repeats_little_of_it_and_steers_no_terminal() {
    let flood = "x".repeat(100_000);
    for body in ["", "not json", "\u{1b}[2J", r#"{"choices":[]}"#, r#"{"choices":"no"}"#, &flood] {
        let server = Server::answering([Reply::ok(body)]);
        let error = ask(options(&server)).await.unwrap_err();
        assert_eq!(error.code(), Code::ModelFailed);
        assert!(error.message().len() < 1024 && !error.message().contains('\u{1b}'), "{error}");
    }
    let cut = r#"{"choices":[{"message":{"tool_calls":[{"function":{"name":"bash","arguments":"{}"}}]},"finish_reason":"length"}]}"#;
    let server = Server::answering([Reply::ok(cut)]);
    assert!(ask(options(&server)).await.unwrap_err().message().contains("cut off"));
}

#[tokio::test]
async fn an_answer_without_end_is_not_kept_without_end() {
    let server = Server::answering([Reply::endless()]);
    let error = ask(options(&server)).await.unwrap_err();
    assert!(error.message().contains("longer than"), "{error}");
}

#[tokio::test]
async fn an_endpoint_that_is_not_there_is_named_without_what_may_be_secret() {
    let port = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let options = OpenAiOptions::new(&format!("http://me:pa55@127.0.0.1:{port}/v1?token=t0k3n"), "m").unwrap();
    let error = ask(options.key("s3cret").unwrap()).await.unwrap_err();
    assert!(error.message().contains("cannot be reached") && error.message().contains("127.0.0.1"), "{error}");
    for secret in ["me:", "me@", "pa55", "t0k3n", "s3cret"] {
        assert!(!error.message().contains(secret), "{error}");
    }
}

#[test]
fn addresses_are_bases_or_chats_and_nothing_else() {
    let chats = |url: &str| OpenAiOptions::new(url, "m").map(|options| options.url.to_string());
    for url in ["http://h/v1", "http://h/v1/", "http://h/v1/chat/completions"] {
        assert_eq!(chats(url).unwrap(), "http://h/v1/chat/completions");
    }
    for url in ["", "h/v1", "file:///etc/passwd", "ftp://me:pa55@h/"] {
        let error = chats(url).unwrap_err();
        assert_eq!(error.code(), Code::InvalidConfiguration, "{url}");
        assert!(!error.message().contains("pa55"), "{error}");
    }
    assert_eq!(
        OpenAiOptions::new("http://h", "m").unwrap().key("a\nb").err().unwrap().code(),
        Code::InvalidConfiguration
    );
}
