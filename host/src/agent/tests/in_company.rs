//! Many agents at once: each sees its own, and nothing is left of any.

use std::sync::Arc;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::support::{Place, bash, done, outputs, script};
use crate::agent::Agent;
use crate::tools::ToolCall;

const PRINT: &str = "echo \"$DSH_SESSION_ID $DSH_SESSION_JSONL\"";

/// An answer that prints the facts in the foreground, twice at once, and in the background.
fn everything() -> Value {
    let call = |background: bool| {
        let arguments = json!({ "command": PRINT, "description": "looks", "run_in_background": background });
        json!({ "name": "bash", "arguments": arguments })
    };
    json!({ "tool_calls": [call(false), call(true), call(false)] })
}

impl Place {
    fn facts_of(&self, agent: &Agent) -> String {
        let id = agent.session().header().session.id.as_str();
        format!("{id} {}", self.log_of(id).display())
    }

    /// That an agent saw its own session, in the foreground and the background.
    async fn check(&self, agent: &mut Agent) {
        agent.turn("look").await.unwrap();
        let expected = self.facts_of(agent);
        let seen = outputs(agent.session().events());
        assert_eq!(seen.iter().filter(|output| **output == expected).count(), 2, "{seen:?}");
        let read = ToolCall { name: "job_output".to_owned(), arguments: json!({ "job": "bash-1" }) };
        let mut told = String::new();
        loop {
            let result = self.tools.call(&agent.caller(), &read, std::future::pending()).await;
            told += &result.output;
            if result.ended.is_some() {
                break;
            }
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        let told = told.replace("[it runs]", "");
        assert!(told.starts_with(&expected), "{told}");
    }
}

fn descriptors() -> usize {
    std::fs::read_dir("/proc/self/fd").unwrap().count()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn two_hundred_sessions_and_their_children_at_once_each_see_their_own_and_leave_nothing() {
    let place = Arc::new(Place::new());
    // What is opened once and for all is open before anything is counted.
    let mut first = place.agent(place.session("first"), script(json!([bash("true"), done()])), false);
    first.turn("go").await.unwrap();
    drop(first);
    let before = descriptors();

    let mut all = tokio::task::JoinSet::new();
    for at in 0..200 {
        let place = Arc::clone(&place);
        all.spawn(async move {
            let answers = || script(json!([everything(), done()]));
            let mut parent = place.agent(place.session(&format!("s{at}")), answers(), false);
            let mut child = parent.spawn(Box::new(answers()), Some("helper".to_owned())).unwrap();
            let header = &child.session().header().session;
            assert_eq!(header.parent_session.as_deref(), Some(format!("s{at}").as_str()));
            assert_eq!((header.origin.as_deref(), header.delegation_depth), (Some("subagent"), Some(1)));
            tokio::join!(place.check(&mut parent), place.check(&mut child));
            let mut fork = parent.fork(Box::new(answers())).unwrap();
            assert_ne!(place.facts_of(&fork), place.facts_of(&parent));
            fork.turn("look").await.unwrap();
            let expected = place.facts_of(&fork);
            assert_eq!(outputs(fork.session().events()).iter().filter(|output| **output == expected).count(), 2);
            for agent in [&mut parent, &mut child, &mut fork] {
                agent.end("done").await;
            }
        });
    }
    while let Some(one) = all.join_next().await {
        one.unwrap();
    }
    // Tasks that look after what has ended may have a moment to go.
    let deadline = Instant::now() + Duration::from_secs(30);
    while descriptors() > before + 5 && Instant::now() < deadline {
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    assert!(descriptors() <= before + 5, "{before} descriptors became {}", descriptors());
    place.tools.executor().shut_down().await;
    assert_eq!(std::fs::read_dir(place.folder.path().join("sessions/_no-cwd")).unwrap().count(), 1 + 3 * 200);
}
