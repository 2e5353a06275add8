use serde_json::json;

use super::support::{DIGEST, Running, by_tool};

#[tokio::test]
async fn a_server_says_what_it_is() {
    let server = Running::start();
    let hello = server.collect().await.ask("host.hello", json!({})).await;
    assert_eq!((&hello["version"], &hello["contract"]), (&json!(env!("CARGO_PKG_VERSION")), &json!("1.0.0")));
    assert!(hello["features"].as_array().unwrap().contains(&json!("serve")));
    server.stop().await;
}

#[tokio::test]
async fn a_collection_says_all_there_is_to_say_of_an_execution() {
    let server = Running::start();
    let execution = json!({"call_id": "c1", "root_call_id": "c0", "tool": "bash", "agent": {"session": {"id": "s"}}});
    let mut result = server.collect().await.ask("overlay.collect", json!({"execution": execution})).await;
    let env = &result["env"];
    assert_eq!((&env["DSH_ECHO"], &env["DSH_ECHO_ROOT"]), (&json!("c1"), &json!("c0")));
    assert_eq!((&env["DSH_ECHO_TOKEN"], &env["DSH_DEGRADED"]), (&json!("hunter2"), &json!("DSH_LOST")));
    assert_eq!(env["DSH_HOME"], "/h");
    let unset = result["unset"].as_array().unwrap();
    assert!(unset.contains(&json!("DSH_LOST")) && unset.contains(&json!("DSH_ECHO_LARGE")), "{unset:?}");
    assert!(unset.is_sorted_by_key(|key| key.as_str()) && !unset.contains(&json!("DSH_ECHO")));
    assert_eq!(result["sensitive"], json!(["DSH_ECHO_TOKEN"]));
    assert_eq!((&result["degraded"], &result["call"]), (&json!(["DSH_LOST"]), &json!("c1")));
    for contributor in result["contributors"].as_array_mut().unwrap() {
        assert!(contributor["micros"].take().is_u64());
    }
    let contributors = json!([
        {"name": "degraded", "digest": null, "micros": null, "policy": "omit"},
        {"name": "echo", "digest": DIGEST, "micros": null, "policy": "fail"},
    ]);
    assert_eq!(result["contributors"], contributors);
    server.stop().await;
}

#[tokio::test]
async fn a_call_without_an_id_gets_one_of_its_own() {
    let server = Running::start();
    let mut client = server.collect().await;
    let mut calls = std::collections::BTreeSet::new();
    for _ in 0..3 {
        let result = client.ask("overlay.collect", by_tool("bash")).await;
        assert_eq!((&result["env"]["DSH_ECHO"], &result["env"]["DSH_ECHO_ROOT"]), (&result["call"], &result["call"]));
        assert!(calls.insert(result["call"].as_str().unwrap().to_owned()));
    }
    let result = client.ask("overlay.collect", json!({"execution": {"call_id": "mine"}})).await;
    assert_eq!(result["env"]["DSH_ECHO_ROOT"], "mine");
    server.stop().await;
}

#[tokio::test]
async fn a_collection_that_fails_is_an_error_with_all_that_is_known_of_it() {
    let server = Running::start();
    let mut client = server.collect().await;
    let answer = client.request("overlay.collect", by_tool("fail")).await;
    let error = &answer["error"];
    assert_eq!((&error["code"], &error["data"]["code"]), (&json!(-32000), &json!("guest-error")));
    assert_eq!((&error["data"]["stage"], &error["data"]["contributor"]), (&json!("resolve"), &json!("echo")));
    assert!(error["message"].as_str().unwrap().contains("guest-error") && error["data"]["key"].is_null());
    let (number, code, _) = client.fail("overlay.collect", json!({"execution": {"workdir": "relative"}})).await;
    assert_eq!((number, code.as_str()), (-32000, "invalid-execution"));
    server.stop().await;
}

#[tokio::test]
async fn a_collection_takes_no_longer_than_its_client_waits() {
    let server = Running::start();
    let mut client = server.collect().await;
    let (_, code, _) = client.fail("overlay.collect", json!({"execution": {"tool": "slow"}, "deadline_ms": 50})).await;
    assert_eq!(code, "overlay-timeout");
    // More than the most counts as the most.
    client.ask("overlay.collect", json!({"execution": {}, "deadline_ms": u64::MAX})).await;
    server.stop().await;
}

#[tokio::test]
async fn what_may_be_in_an_overlay_is_listed() {
    let server = Running::start();
    let list = server.collect().await.ask("contributors.list", json!({})).await;
    let token = list.as_array().unwrap().iter().find(|listed| listed["key"] == "DSH_ECHO_TOKEN").unwrap();
    let expected =
        json!({"key": "DSH_ECHO_TOKEN", "description": "A secret.", "contributor": "echo", "sensitive": true});
    assert_eq!(*token, expected);
    server.stop().await;
}

#[tokio::test]
async fn an_operator_does_to_the_host_what_the_methods_say() {
    let server = Running::start();
    let mut client = server.admin().await;
    let status = client.ask("contributors.status", json!({})).await[0].clone();
    assert_eq!(
        (&status["name"], &status["state"], &status["digest"]),
        (&json!("echo"), &json!("live"), &json!(DIGEST))
    );
    for (method, parameters) in [
        ("contributors.approve", json!({"name": "echo", "digest": DIGEST})),
        ("contributors.rollback", json!({"name": "echo"})),
        ("contributors.rollback", json!({"name": "echo", "to": "abc"})),
        ("contributors.reload", json!({"name": "echo"})),
        ("contributors.forget", json!({"name": "echo"})),
    ] {
        assert_eq!(client.ask(method, parameters).await, status, "{method}");
    }
    let fact = json!({"name": "cluster", "value": "blue", "ttl_ms": 1500});
    assert!(client.ask("facts.put", fact).await.is_null());
    let diary = server.host.diary.lock().unwrap().join("\n");
    let expected = format!(
        "approve echo {DIGEST}\nrollback echo None\nrollback echo Some(\"abc\")\nreload echo\nforget echo\nput cluster blue 1.5s"
    );
    assert_eq!(diary, expected);
    server.stop().await;
}

#[tokio::test]
async fn an_operator_sees_how_the_host_is() {
    let server = Running::start();
    let mut client = server.admin().await;
    let health = json!({"ready": true, "problems": [], "unwell": ["degraded"]});
    assert_eq!(client.ask("host.health", json!({})).await, health);
    assert_eq!(client.ask("host.metrics", json!({})).await, json!({"prometheus": "dsh_env_up 1\n"}));
    assert_eq!(client.ask("host.activity", json!({})).await, json!({"collections": 0}));
    assert_eq!(client.ask("contributors.log", json!({"name": "echo"})).await, json!({"text": "printed\n"}));
    let known = json!({"call": "known", "key": "DSH_A"});
    assert_eq!(client.ask("overlay.explain", known.clone()).await, known);
    assert!(client.ask("overlay.explain", json!({"call": "other", "key": "DSH_A"})).await.is_null());
    let (number, code, _) = client.fail("overlay.explain", json!({"call": "known", "key": "PATH"})).await;
    assert_eq!((number, code.as_str()), (-32602, "invalid-key"));
    server.stop().await;
}

#[tokio::test]
async fn what_the_host_says_no_to_is_an_error() {
    let server = Running::start();
    let mut client = server.admin().await;
    let (number, code, message) = client.fail("contributors.reload", json!({"name": "nobody"})).await;
    assert_eq!((number, code.as_str()), (-32000, "contributor-not-found"));
    assert_eq!(message, "there is no such contributor");
    let (_, code, _) = client.fail("contributors.forget", json!({"name": "panics"})).await;
    assert_eq!(code, "internal");
    assert!(client.is_served().await);
    server.stop().await;
}

#[tokio::test]
async fn parameters_that_do_not_fit_are_told_of_and_unknown_ones_are_ignored() {
    let server = Running::start();
    let mut client = server.admin().await;
    for (method, parameters) in [
        ("overlay.collect", json!({})),
        ("overlay.collect", json!({"execution": {"agnet": {}}})),
        ("overlay.collect", json!({"execution": {}, "deadline_ms": -1})),
        ("contributors.approve", json!({"name": "echo"})),
        ("contributors.reload", json!({"name": 1})),
        ("facts.put", json!({"name": "a", "value": "b", "ttl_ms": "c"})),
        ("overlay.collect", json!([{}])),
        ("overlay.collect", json!("x")),
    ] {
        let (number, code, message) = client.fail(method, parameters.clone()).await;
        assert_eq!((number, code.as_str()), (-32602, "invalid-request"), "{method} {parameters}");
        assert!(message.contains(method), "{message}");
    }
    client.ask("overlay.collect", json!({"execution": {}, "later": 1})).await;
    client.ask("host.hello", json!({"later": 1})).await;
    assert_eq!(client.say(r#"{"jsonrpc":"2.0","id":"x","method":"host.hello"}"#).await["id"], "x");
    server.stop().await;
}
