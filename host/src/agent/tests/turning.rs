//! What a turn keeps, and when.

use serde_json::json;

use super::support::{Asked, Place, bash, done, outputs, script};
use crate::agent::{Answer, TurnEnd};
use crate::error::{Code, Error};
use crate::sessions::{Project, Session};
use crate::tools::ToolCall;

#[tokio::test]
async fn during_an_open_turn_the_log_holds_what_was_kept_before_and_not_more() {
    let place = Place::new();
    let lines = format!("[ -e {log} ] && wc -l < {log} || echo none", log = place.log_of("s1").display());
    let answers = json!([bash(&lines), done(), bash(&lines), bash(&lines), done()]);
    let mut agent = place.agent(place.session("s1"), script(answers), false);
    agent.turn("one").await.unwrap();
    let kept = agent.session().events().len() + 1;
    agent.turn("two").await.unwrap();
    let kept = kept.to_string();
    assert_eq!(outputs(agent.session().events()), ["none", &kept, &kept]);
    let text = std::fs::read_to_string(place.log_of("s1")).unwrap();
    assert_eq!(text.lines().count(), agent.session().events().len() + 1);
}

#[tokio::test]
async fn a_turn_that_fails_keeps_nothing_until_one_succeeds() {
    let place = Place::new();
    let mut fails = true;
    let answer = move |_: &_| match std::mem::replace(&mut fails, false) {
        true => Err(Error::host(Code::ModelFailed, "no")),
        false => Ok(Answer { text: Some("yes".to_owned()), ..Answer::default() }),
    };
    let mut agent = place.agent(place.session("s1"), Asked { requests: Default::default(), answer }, false);
    assert_eq!(agent.turn("one").await.unwrap_err().code(), Code::ModelFailed);
    assert!(!place.folder.path().join("sessions").exists());
    assert_eq!(agent.turn("two").await.unwrap(), TurnEnd::Done { text: Some("yes".to_owned()) });
    let text = std::fs::read_to_string(place.log_of("s1")).unwrap();
    assert!(text.contains("\"turn/failed\"") && text.contains("\"turn/end\""));
}

#[tokio::test]
async fn a_model_that_goes_round_in_circles_is_stopped() {
    let place = Place::new();
    let requests = std::sync::Arc::default();
    let answer =
        |_: &_| Ok(Answer { text: None, tool_calls: vec![ToolCall { name: "none".into(), arguments: json!({}) }] });
    let mut agent =
        place.agent(place.session("s1"), Asked { requests: std::sync::Arc::clone(&requests), answer }, false);
    let error = agent.turn("go").await.unwrap_err();
    assert_eq!(error.code(), Code::ModelFailed);
    assert_eq!(requests.lock().unwrap().len(), 500);
}

#[tokio::test]
async fn an_answer_that_says_nothing_ends_a_turn() {
    let place = Place::new();
    let mut agent = place.agent(place.session("s1"), script(json!([])), false);
    assert_eq!(agent.turn("one").await.unwrap(), TurnEnd::Done { text: None });
}

#[tokio::test]
async fn a_session_that_is_resumed_goes_on_with_the_whole_conversation_under_its_id() {
    let place = Place::new();
    let print = || json!([bash("echo $DSH_SESSION_ID $DSH_SESSION_JSONL"), done()]);
    let mut agent = place.agent(place.session("s1"), script(print()), false);
    agent.turn("one").await.unwrap();
    let first = outputs(agent.session().events())[0].to_owned();
    let seen = agent.session().events().len();
    drop(agent);

    let id = crate::contract::SessionId::new("s1").unwrap();
    let session = Session::resume(std::sync::Arc::clone(&place.store), &id, Project::Any).unwrap();
    let requests = std::sync::Arc::default();
    let mut agent = place.agent(session, script(print()), true);
    agent.turn("two").await.unwrap();
    assert_eq!(outputs(agent.session().events()), [&first, &first]);
    assert_eq!(agent.session().events()[seen].seq, seen as u64);
    drop(agent);

    let session = Session::resume(std::sync::Arc::clone(&place.store), &id, Project::Any).unwrap();
    let answer = |_: &_| Ok(Answer::default());
    let mut agent = place.agent(session, Asked { requests: std::sync::Arc::clone(&requests), answer }, true);
    agent.turn("three").await.unwrap();
    assert_eq!(requests.lock().unwrap()[0].messages.len(), 9);
}
