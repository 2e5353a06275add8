use super::*;
use serde_json::Value;

fn why(place: &Place, key: &str, flags: &[&str]) -> Value {
    place.run(["why", key, "--json"].iter().chain(flags)).expect(0).json()
}

#[test]
fn a_contributed_value_names_its_owner_file_digest_and_time() {
    let place = Place::new();
    let file = place.install("probe", Guest::good().component());
    let answer = why(&place, "DSH_PROBE", &[]);
    assert_eq!(answer["value"], "1");
    assert_eq!(answer["contributor"], "probe");
    assert_eq!(answer["file"], file.display().to_string());
    assert_eq!(answer["digest"].as_str().unwrap().len(), 64);
    assert!(answer["micros"].is_u64());
    assert_eq!(answer["policy"], "fail");
}

#[test]
fn a_displaced_value_is_shown_unless_it_looks_like_a_credential() {
    let place = Place::new();
    let mut command = place.command(["why", "DSH_SESSION_ID", "--json", "--session-id", "s1"]);
    let answer =
        Run(command.env("DSH_SESSION_ID", "old").env("dsh_session_id", "older").output().unwrap()).expect(0).json();
    let displaced = answer["displaced"].as_array().unwrap();
    assert_eq!(displaced.len(), 2);
    assert!(displaced.contains(&serde_json::json!({ "name": "DSH_SESSION_ID", "value": "old" })));
    let mut command = place.command(["why", "DSH_API_TOKEN", "--json"]);
    let answer = Run(command.env("DSH_API_TOKEN", "hunter2").output().unwrap()).expect(0);
    assert!(!answer.stdout().contains("hunter2"));
    let people = Run(place.command(["why", "DSH_HOME"]).output().unwrap()).expect(0).stdout();
    assert!(people.contains("DSH_HOME is") && people.contains("displaced"), "{people}");
}

#[test]
fn an_absent_key_says_why() {
    let place = Place::new();
    place.install("region", std::fs::read(example("deployment-region")).unwrap());
    let reason = |key: &str| why(&place, key, &[])["reason"].as_str().unwrap().to_owned();
    assert!(reason("DSH_DEPLOYMENT_REGION").contains("deployment-region had nothing to say"));
    assert!(reason("DSH_SESSION_ID").contains("no agent"));
    assert!(reason("DSH_DEPLOYMENT_REGIO").contains("did you mean DSH_DEPLOYMENT_REGION?"));
}

#[test]
fn a_policy_that_took_effect_is_told() {
    let place = Place::new();
    place.install("probe", Guest::good().with("resolve", "(unreachable)").component());
    place.configure("[contributors.probe]\non-failure = \"omit\"\n");
    let answer = why(&place, "DSH_PROBE", &[]);
    assert_eq!((&answer["present"], &answer["policy"]), (&false.into(), &"omit".into()));
    assert!(answer["reason"].as_str().unwrap().contains("it crashed"), "{answer}");
}

#[test]
fn a_sensitive_value_is_not_shown() {
    let place = Place::new();
    place.install("probe", Guest::good().with("sensitive", "\\01").component());
    let answer = why(&place, "DSH_PROBE", &[]);
    assert_eq!((&answer["present"], &answer["value"]), (&true.into(), &Value::Null));
    assert!(place.run(["why", "DSH_PROBE"]).expect(0).stdout().contains("not shown"));
}

#[test]
fn a_key_of_a_contributor_that_is_missing_says_so_and_shows_nothing_it_may_have_had() {
    let place = Place::new();
    place.install("a", Guest::good().component());
    place.install("b", Guest::good().component());
    let mut command = place.command(["why", "DSH_PROBE", "--json"]);
    let answer = Run(command.env("DSH_PROBE", "hunter2").output().unwrap()).expect(0);
    assert!(answer.json()["reason"].as_str().unwrap().contains("its contributor is missing"), "{}", answer.stdout());
    assert!(!answer.stdout().contains("hunter2"));
}
