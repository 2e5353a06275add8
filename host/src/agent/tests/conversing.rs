//! The conversation that events make.

use serde_json::{Value, json};

use crate::agent::conversation::messages;
use crate::agent::{Message, RecordedCall};
use crate::sessions::Event;

fn events(events: Value) -> Vec<Event> {
    let Value::Array(events) = events else { panic!("no array") };
    let event = |(seq, mut event): (usize, Value)| {
        event["seq"] = json!(seq);
        event["at"] = json!(0);
        Event::from_json(event).unwrap()
    };
    events.into_iter().enumerate().map(event).collect()
}

fn tool(call_id: &str, output: &str) -> Message {
    Message::Tool { call_id: call_id.to_owned(), output: output.to_owned() }
}

#[test]
fn results_are_told_in_the_order_of_their_calls_and_one_that_is_missing_is_made_up() {
    let call = |id: &str| json!({ "callId": id, "name": "bash", "arguments": {} });
    let recorded = events(json!([
        { "type": "turn/start", "turnId": "t" },
        { "type": "user/message", "text": "go" },
        { "type": "assistant/message", "toolCalls": [call("a"), call("b"), call("c")] },
        { "type": "tool/call", "callId": "a" },
        { "type": "tool/result", "callId": "c", "output": "third" },
        { "type": "tool/result", "callId": "a", "output": "first" },
        { "type": "tool/result", "callId": "unknown", "output": "x" },
        { "type": "job/completed", "job": "bash-1", "text": "ended" },
        { "type": "assistant/message", "text": "done" },
        { "type": "of/the/future", "text": "x" },
    ]));
    let call = |id: &str| RecordedCall { id: id.to_owned(), name: "bash".to_owned(), arguments: json!({}) };
    assert_eq!(
        messages(&recorded),
        [
            Message::User("go".to_owned()),
            Message::Assistant { text: None, calls: vec![call("a"), call("b"), call("c")] },
            tool("a", "first"),
            tool("b", "[interrupted: the result of this call is not known]"),
            tool("c", "third"),
            Message::User("ended".to_owned()),
            Message::Assistant { text: Some("done".to_owned()), calls: Vec::new() },
        ]
    );
}

#[test]
fn events_that_were_written_by_hand_and_make_no_sense_say_nothing() {
    let odd = events(json!([
        { "type": "user/message" },
        { "type": "user/message", "text": 1 },
        { "type": "assistant/message", "toolCalls": "x" },
        { "type": "assistant/message", "toolCalls": [1, {}, { "callId": "a" }] },
        { "type": "tool/result" },
    ]));
    let nothing = Message::Assistant { text: None, calls: Vec::new() };
    assert_eq!(messages(&odd), [nothing.clone(), nothing]);
}
