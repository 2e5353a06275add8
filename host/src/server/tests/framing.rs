use serde_json::{Value, json};

use super::support::{Running, by_tool, error_of};
use crate::protocol::MAX_ID_BYTES;

#[tokio::test]
async fn answers_come_as_they_are_ready_and_carry_the_id_of_their_request() {
    let server = Running::start();
    let mut client = server.collect().await;
    let slow = client.send("overlay.collect", by_tool("slow")).await;
    server.host.collections.wait_for(1).await;
    assert!(client.is_served().await);
    server.host.collections.open();
    assert_eq!(client.answer().await["id"], slow);
    server.stop().await;
}

#[tokio::test]
async fn an_id_is_a_text_or_a_whole_number_and_comes_back_as_it_was() {
    let server = Running::start();
    let mut client = server.collect().await;
    let long = "x".repeat(MAX_ID_BYTES);
    for id in [json!("a"), json!(""), json!(0), json!(-7), json!(u64::MAX), json!(i64::MIN), json!(long), json!("\n☃")]
    {
        let answer = client.say(&json!({"jsonrpc": "2.0", "id": id, "method": "host.hello"}).to_string()).await;
        assert_eq!((&answer["id"], answer["result"].is_object()), (&id, true));
    }
    for id in ["1.5", "1e3", "true", "[]", "{}", "18446744073709551616"] {
        let answer = client.say(&format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"host.hello"}}"#)).await;
        assert_eq!((&answer["id"], error_of(&answer).0), (&Value::Null, -32600), "{id}");
    }
    let answer = client.say(&json!({"jsonrpc": "2.0", "id": long + "x", "method": "host.hello"}).to_string()).await;
    let (number, _, message) = error_of(&answer);
    assert_eq!(number, -32600);
    assert!(message.contains("id-bytes of 256"), "{message}");
    server.stop().await;
}

#[tokio::test]
async fn nobody_answers_what_has_no_id_but_it_is_done() {
    let server = Running::start();
    let mut client = server.admin().await;
    client.send_line(r#"{"jsonrpc":"2.0","method":"contributors.forget","params":{"name":"echo"}}"#).await;
    client.send_line(r#"{"jsonrpc":"2.0","id":null,"method":"contributors.forget","params":{"name":"echo"}}"#).await;
    client.send_line(r#"{"jsonrpc":"2.0","method":"no.such"}"#).await;
    client.send_line(r#"{"jsonrpc":"2.0","method":"host.hello","params":[]}"#).await;
    assert!(client.is_served().await);
    super::support::eventually(|| server.host.diary.lock().unwrap().len() == 2).await;
    server.stop().await;
}

#[tokio::test]
async fn what_is_no_request_is_told_so_and_the_next_line_is_answered() {
    let server = Running::start();
    let mut client = server.collect().await;
    for (line, number) in [
        (r#"{"jsonrpc":"1.0","id":1,"method":"host.hello"}"#, -32600),
        (r#"{"id":1,"method":"host.hello"}"#, -32600),
        (r#"{"jsonrpc":2.0,"id":1,"method":"host.hello"}"#, -32600),
        (r#"{"jsonrpc":"2.0","id":1}"#, -32600),
        (r#"{"jsonrpc":"2.0","id":1,"method":7}"#, -32600),
        (r#"{"jsonrpc":"2.0","id":1,"result":7}"#, -32600),
        (r#"[{"jsonrpc":"2.0","id":1,"method":"host.hello"}]"#, -32600),
        ("[]", -32600),
        ("{}", -32600),
        ("7", -32600),
        ("null", -32600),
        (r#"{"jsonrpc":"2.0","id":1,"method":"host.hello""#, -32700),
        (r#"{"jsonrpc":"2.0","id":1,"method":"host.hello"} x"#, -32700),
        ("GET / HTTP/1.1\r", -32700),
        ("\u{feff}{}", -32700),
        ("{\"a\":\"\0\"}", -32700),
        (r#"{"a":"\ud800"}"#, -32700),
        ("\0", -32700),
    ] {
        let answer = client.say(line).await;
        let (found, code, _) = error_of(&answer);
        assert_eq!((found, code.as_str()), (number, "invalid-request"), "{line}");
        assert!(answer.get("id").is_some() && answer.get("result").is_none());
        assert!(client.is_served().await);
    }
    server.stop().await;
}

#[tokio::test]
async fn garbage_is_answered_and_the_connection_goes_on() {
    let server = Running::start();
    let mut client = server.collect().await;
    let nested = |depth: usize| {
        format!(
            "{{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"host.hello\",\"params\":{}{}}}",
            "{\"a\":".repeat(depth - 2) + "{}",
            "}".repeat(depth - 2)
        )
    };
    assert_eq!(client.say(&nested(127)).await["id"], 1);
    assert_eq!(error_of(&client.say(&nested(128)).await).0, -32700);
    let deep = "[".repeat(5000);
    let deep_in_place =
        format!("{{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"host.hello\",\"params\":{}", "{\"a\":".repeat(2000));
    for line in [b"\xff\xfe\x80".as_slice(), b"{\"a\":\"\xc3\x28\"}", deep.as_bytes(), deep_in_place.as_bytes()] {
        client.send_bytes(line).await;
        client.send_bytes(b"\n").await;
        assert_eq!(error_of(&client.answer().await).0, -32700);
        assert!(client.is_served().await);
    }
    server.stop().await;
}

#[tokio::test]
async fn blank_lines_and_line_ends_of_other_systems_are_taken() {
    let server = Running::start();
    let mut client = server.collect().await;
    client.send_bytes(b"\n\r\n  \n{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"host.hello\"}\r\n\n").await;
    assert_eq!(client.answer().await["id"], 1);
    assert!(client.is_served().await);
    server.stop().await;
}

#[tokio::test]
async fn who_sends_no_more_gets_the_answers_to_what_was_sent() {
    let server = Running::start();
    let mut client = server.collect().await;
    client.send("overlay.collect", by_tool("slow")).await;
    client.send_bytes(br#"{"jsonrpc":"2.0","id":2,"method":"host.hello"}"#).await;
    client.finish().await;
    assert_eq!(client.answer().await["id"], 2);
    server.host.collections.open();
    assert_eq!(client.answer().await["id"], 1);
    assert_eq!(client.line().await, None);
    server.stop().await;
}

#[tokio::test]
async fn a_message_in_pieces_is_one_message() {
    let server = Running::start();
    let mut client = server.collect().await;
    for byte in "{\"jsonrpc\":\"2.0\",\"id\":\"ü\",\"method\":\"host.hello\"}\n".bytes() {
        client.send_bytes(&[byte]).await;
        tokio::task::yield_now().await;
    }
    assert_eq!(client.answer().await["id"], "ü");
    server.stop().await;
}
