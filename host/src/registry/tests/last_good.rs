//! Going on with what a contributor said last.

use std::time::Duration;

use super::support::{Hands, Mood, call, call_of, registry_by_clock, said, shared, terms};
use crate::contract::{Declaration, Execution};
use crate::error::Code;
use crate::registry::{KeyTerms, OnFailure, Registration, Registry, Shape, Terms};

const LONGEST: Duration = Duration::from_secs(600);
const KEYS: [&str; 2] = ["DSH_A", "DSH_B"];

fn last_good() -> Terms {
    terms(OnFailure::LastGood(LONGEST), &[])
}

/// A registry with one contributor under these terms.
fn with(terms: Terms) -> (Registry, Registration, Mood, Hands) {
    let (registry, hands) = registry_by_clock();
    let mood = Mood::default();
    let registration = registry.register_under(shared(mood.contributor(&KEYS)), terms).unwrap();
    (registry, registration, mood, hands)
}

fn told(registry: &Registry, execution: &Execution) -> Vec<String> {
    said(&registry.collect(execution).unwrap())
}

#[test]
fn the_last_good_values_stand_in_and_are_told_apart() {
    let (registry, _registration, mood, hands) = with(last_good());
    mood.says(&[("DSH_A", "1"), ("DSH_B", "2")]);
    assert_eq!(told(&registry, &call()), ["DSH_A=1", "DSH_B=2"]);
    mood.fails();
    hands.advance(Duration::from_millis(1500));
    let overlay = registry.collect(&call()).unwrap();
    assert_eq!(said(&overlay), ["DSH_A=1", "DSH_B=2", "DSH_DEGRADED=DSH_A DSH_B"]);
    assert_eq!(overlay.get("DSH_A").unwrap().owner(), "a");
    let report = &overlay.reports()[0];
    assert_eq!((report.policy, report.error.as_ref().unwrap().code()), ("last-good", Code::GuestError));
    for affected in &report.affected {
        assert_eq!((affected.policy, affected.stands_in), ("last-good", true));
        assert_eq!(affected.age, Some(Duration::from_millis(1500)));
    }
    assert_eq!(serde_json::to_value(&report.affected[0]).unwrap()["age_ms"], 1500);
}

#[test]
fn what_is_too_old_is_absent_and_told() {
    let (registry, _registration, mood, hands) = with(last_good());
    mood.says(&[("DSH_A", "1")]);
    told(&registry, &call());
    mood.fails();
    hands.advance(LONGEST);
    assert_eq!(told(&registry, &call()), ["DSH_A=1", "DSH_DEGRADED=DSH_A DSH_B"]);
    hands.advance(Duration::from_millis(1));
    let overlay = registry.collect(&call()).unwrap();
    assert_eq!(said(&overlay), ["DSH_DEGRADED=DSH_A DSH_B"]);
    let affected = &overlay.reports()[0].affected[0];
    assert_eq!((affected.policy, affected.stands_in, affected.age), ("last-good", false, None));
}

#[test]
fn without_a_good_answer_there_is_nothing_to_stand_in() {
    let (registry, _registration, _mood, _hands) = with(last_good());
    assert_eq!(told(&registry, &call()), ["DSH_DEGRADED=DSH_A DSH_B"]);
}

#[test]
fn what_a_good_answer_leaves_out_is_absent_and_never_older() {
    let (registry, _registration, mood, _hands) = with(last_good());
    mood.says(&[("DSH_A", "1"), ("DSH_B", "2")]);
    told(&registry, &call());
    mood.says(&[("DSH_B", "3")]);
    assert_eq!(told(&registry, &call()), ["DSH_B=3"]);
    mood.fails();
    assert_eq!(told(&registry, &call()), ["DSH_B=3", "DSH_DEGRADED=DSH_A DSH_B"]);
    mood.says(&[]);
    assert!(told(&registry, &call()).is_empty());
    mood.fails();
    assert_eq!(told(&registry, &call()), ["DSH_DEGRADED=DSH_A DSH_B"]);
}

#[test]
fn another_session_or_directory_has_values_of_its_own() {
    let (registry, _registration, mood, _hands) = with(last_good());
    let in_directory = |call: Execution, workdir: &str| Execution { workdir: Some(workdir.to_owned()), ..call };
    let calls = [
        call(),
        call_of("s"),
        call_of("t"),
        in_directory(call(), "/w"),
        in_directory(call_of("s"), "/w"),
        in_directory(call_of("s"), "/x"),
    ];
    for (number, call) in calls.iter().enumerate().skip(1) {
        mood.says(&[("DSH_A", &number.to_string())]);
        registry.collect(call).unwrap();
    }
    mood.fails();
    for (number, call) in calls.iter().enumerate() {
        let overlay = registry.collect(call).unwrap();
        let expected = (number > 0).then(|| number.to_string());
        assert_eq!(overlay.get("DSH_A").map(|entry| entry.value.expose().to_owned()), expected, "{call:?}");
    }
}

#[test]
fn one_refused_value_has_its_own_last_good_one() {
    let shape = KeyTerms { shape: Some(Shape::new("^[0-9]$").unwrap()), on_failure: None };
    let keys = KEYS.map(|key| (crate::contract::Key::new(key).unwrap(), shape.clone()));
    let (registry, _registration, mood, hands) = with(Terms { keys: keys.into(), ..last_good() });
    mood.says(&[("DSH_A", "1"), ("DSH_B", "2")]);
    told(&registry, &call());
    hands.advance(Duration::from_secs(60));
    for _ in 0..2 {
        mood.says(&[("DSH_A", "wrong"), ("DSH_B", "3")]);
        let overlay = registry.collect(&call()).unwrap();
        assert_eq!(said(&overlay), ["DSH_A=1", "DSH_B=3", "DSH_DEGRADED=DSH_A"]);
        assert_eq!(overlay.reports()[0].affected[0].age, Some(Duration::from_secs(60)));
    }
    // Each is as old as it is, whatever came with it.
    mood.fails();
    hands.advance(LONGEST - Duration::from_secs(30));
    assert_eq!(told(&registry, &call()), ["DSH_B=3", "DSH_DEGRADED=DSH_A DSH_B"]);
}

#[test]
fn a_sensitive_value_is_never_kept() {
    let (registry, _hands) = registry_by_clock();
    let mood = Mood::default();
    let declaration = Declaration::new("a").variable("DSH_A", "A fact.").sensitive_variable("DSH_B", "A secret.");
    let _registration = registry.register_under(shared(mood.declaring(declaration)), last_good()).unwrap();
    mood.says(&[("DSH_A", "1"), ("DSH_B", "hunter2")]);
    told(&registry, &call());
    mood.fails();
    let overlay = registry.collect(&call()).unwrap();
    assert_eq!(said(&overlay), ["DSH_A=1", "DSH_DEGRADED=DSH_A DSH_B"]);
    let affected = &overlay.reports()[0].affected[1];
    assert_eq!((affected.key.as_str(), affected.policy, affected.stands_in), ("DSH_B", "last-good", false));
}

#[test]
fn a_replacement_begins_without_what_another_said() {
    let (registry, registration, mood, _hands) = with(last_good());
    mood.says(&[("DSH_A", "1")]);
    told(&registry, &call());
    mood.fails();
    registration.replace(mood.contributor(&KEYS)).unwrap();
    assert_eq!(told(&registry, &call()), ["DSH_DEGRADED=DSH_A DSH_B"]);
    // Also where it is the same one under other terms.
    let same = shared(mood.contributor(&KEYS));
    registration.replace_under(same.clone(), last_good()).unwrap();
    mood.says(&[("DSH_A", "2")]);
    told(&registry, &call());
    mood.fails();
    registration.replace_under(same, last_good()).unwrap();
    assert_eq!(told(&registry, &call()), ["DSH_DEGRADED=DSH_A DSH_B"]);
}

#[test]
fn a_key_that_must_not_fail_fails_all_the_same() {
    let (registry, _registration, mood, _hands) =
        with(terms(OnFailure::LastGood(LONGEST), &[("DSH_B", OnFailure::Fail)]));
    mood.says(&[("DSH_A", "1"), ("DSH_B", "2")]);
    told(&registry, &call());
    mood.fails();
    assert_eq!(registry.collect(&call()).unwrap_err().code(), Code::GuestError);
}

#[test]
fn one_key_alone_may_go_on_with_its_last_good_value() {
    let (registry, _registration, mood, _hands) =
        with(terms(OnFailure::Omit, &[("DSH_B", OnFailure::LastGood(LONGEST))]));
    mood.says(&[("DSH_A", "1"), ("DSH_B", "2")]);
    told(&registry, &call());
    mood.fails();
    assert_eq!(told(&registry, &call()), ["DSH_B=2", "DSH_DEGRADED=DSH_A DSH_B"]);
}

#[test]
fn the_pair_that_was_written_longest_ago_gives_way() {
    let (registry, _registration, mood, _hands) = with(last_good());
    let session = |number: usize| call_of(&format!("s{number}"));
    mood.says(&[("DSH_A", "1")]);
    for number in 0..1024 {
        registry.collect(&session(number)).unwrap();
    }
    // The first is written again, so that the second is the oldest when one more comes.
    registry.collect(&session(0)).unwrap();
    registry.collect(&session(1024)).unwrap();
    mood.fails();
    let known = |number| registry.collect(&session(number)).unwrap().get("DSH_A").is_some();
    assert!(known(0) && !known(1) && known(2) && known(1023) && known(1024));
}

#[test]
fn eight_mebibytes_are_kept_and_no_more() {
    let (registry, _registration, mood, _hands) = with(last_good());
    let large = "x".repeat(32 * 1024);
    mood.says(&[("DSH_A", &large), ("DSH_B", &large)]);
    let session = |number: usize| call_of(&format!("s{number}"));
    for number in 0..128 {
        registry.collect(&session(number)).unwrap();
    }
    mood.fails();
    let known = (0..128).filter(|number| registry.collect(&session(*number)).unwrap().get("DSH_A").is_some());
    // What they are kept under counts too, which takes the room of one.
    assert_eq!(known.collect::<Vec<_>>(), (1..128).collect::<Vec<_>>());
}

#[test]
fn a_value_for_which_there_is_no_room_any_more_is_absent() {
    let (registry, _registration, mood, _hands) = with(last_good());
    let large = "x".repeat(32 * 1024);
    mood.says(&[("DSH_A", &large), ("DSH_B", &large)]);
    registry.collect(&call()).unwrap();
    mood.fails();
    // Its name is before that of the other, so that the other fills the overlay last.
    let bindings = ["DSH_0A", "DSH_0B", "DSH_0C"].map(|key| (key.replace('0', "X"), large.clone()));
    let bindings: Vec<(&str, &str)> = bindings.iter().map(|(key, value)| (key.as_str(), value.as_str())).collect();
    let _other = registry.register(super::support::Scripted::saying("0", &bindings)).unwrap();
    let overlay = registry.collect(&call()).unwrap();
    assert!(overlay.get("DSH_A").is_none() || overlay.get("DSH_B").is_none());
    assert_eq!(overlay.get("DSH_DEGRADED").unwrap().value.expose(), "DSH_A DSH_B");
}

#[test]
fn nothing_that_is_kept_is_shown() {
    let (registry, registration, mood, _hands) = with(last_good());
    mood.says(&[("DSH_A", "hunter2")]);
    told(&registry, &call());
    mood.fails();
    let overlay = registry.collect(&call()).unwrap();
    assert_eq!(overlay.get("DSH_A").unwrap().value.expose(), "hunter2");
    let shown = format!("{registry:?} {registration:?} {overlay:?} {:?}", last_good());
    assert!(!shown.contains("hunter2") && shown.contains("last-good"));
    assert!(!serde_json::to_string(overlay.reports()).unwrap().contains("hunter2"));
}
