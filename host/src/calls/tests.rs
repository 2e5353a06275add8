use std::sync::Arc;

use super::*;
use crate::contract::{Binding, Contributor, Deadline, Declaration, Execution, Failure, SessionHeader, SessionId};
use crate::error::{Code, Error};
use crate::home::{Home, Surroundings};
use crate::registry::{Missing, OnFailure, Registry, Terms};

/// A contributor that declares `DSH_ONE`, `DSH_TWO` and the sensitive `DSH_TOKEN`, and answers as it is told.
struct Told(Result<Vec<Binding>, &'static str>);

impl Contributor for Told {
    fn declare(&self) -> Declaration {
        Declaration::new("told")
            .variable("DSH_ONE", "A fact.")
            .variable("DSH_TWO", "A fact.")
            .sensitive_variable("DSH_TOKEN", "A secret.")
    }

    fn resolve(&self, _: &Execution, _: &Deadline) -> Result<Vec<Binding>, Failure> {
        self.0.clone().map_err(|words| Failure::new(Code::GuestError, words))
    }

    fn may_wait(&self) -> bool {
        false
    }
}

fn saying(bindings: &[(&str, &str)]) -> Arc<dyn Contributor> {
    Arc::new(Told(Ok(bindings.iter().map(|(key, value)| Binding::new(*key, *value)).collect())))
}

fn failing() -> Arc<dyn Contributor> {
    Arc::new(Told(Err("it is down")))
}

fn registry(options: CallLogOptions) -> (Registry, Arc<CallLog>) {
    let registry = Registry::new(&Home::resolve_in(Some("/h".as_ref()), &Surroundings::default()).unwrap());
    let log = CallLog::new(options);
    registry.observe(Arc::clone(&log) as Arc<dyn Observer>);
    (registry, log)
}

fn call(id: &str) -> Execution {
    Execution { call_id: id.to_owned(), root_call_id: "root".to_owned(), ..Execution::new("bash") }
}

fn key(text: &str) -> Key {
    Key::new(text).unwrap()
}

#[test]
fn a_value_is_remembered_as_its_length_and_a_hash_that_only_equal_values_share() {
    let (registry, log) = registry(CallLogOptions::new());
    for (id, value) in [("a", "first"), ("b", "first"), ("c", "other")] {
        let _registered = registry.register_under(saying(&[("DSH_ONE", value)]), Terms::default()).unwrap();
        registry.collect(&call(id)).unwrap();
    }
    let [a, b, c] = ["a", "b", "c"].map(|id| log.explain(id, &key("DSH_ONE")).unwrap());
    assert_eq!((a.state, a.length, a.owner.as_deref()), (KeyState::Present, Some(5), Some("told")));
    assert_eq!(a.hash.as_ref().map(String::len), Some(16));
    assert_eq!(a.hash, b.hash);
    assert_ne!(a.hash, c.hash);
}

#[test]
fn equal_values_of_two_keys_and_of_two_processes_have_different_hashes() {
    let ask = || {
        let (registry, log) = registry(CallLogOptions::new());
        let both = saying(&[("DSH_ONE", "same"), ("DSH_TWO", "same")]);
        let _registered = registry.register_under(both, Terms::default()).unwrap();
        registry.collect(&call("a")).unwrap();
        ["DSH_ONE", "DSH_TWO"].map(|name| log.explain("a", &key(name)).unwrap().hash.unwrap())
    };
    // Another log has another key, as another process has.
    let ([one, two], [again, _]) = (ask(), ask());
    assert_ne!(one, two);
    assert_ne!(one, again);
}

#[test]
fn a_sensitive_value_leaves_neither_length_nor_hash_and_no_value_is_kept() {
    let (registry, log) = registry(CallLogOptions::new());
    let said = saying(&[("DSH_ONE", "open-words"), ("DSH_TOKEN", "hidden-words")]);
    let _registered = registry.register_under(said, Terms::default()).unwrap();
    registry.collect(&call("a")).unwrap();
    let token = log.explain("a", &key("DSH_TOKEN")).unwrap();
    assert_eq!((token.state, token.sensitive, token.length, token.hash.clone()), (KeyState::Present, true, None, None));
    let one = log.explain("a", &key("DSH_ONE")).unwrap();
    let shown = format!("{log:?} {token:?} {one:?} {}", serde_json::to_string(&[&token, &one]).unwrap());
    assert!(!shown.contains("words"), "{shown}");
}

#[test]
fn a_key_that_its_owner_left_out_is_told_from_one_that_is_nobodys() {
    let (registry, log) = registry(CallLogOptions::new());
    let _registered = registry.register_under(saying(&[]), Terms::default()).unwrap();
    registry.collect(&call("a")).unwrap();
    let owners = ["DSH_TWO", "DSH_ELSE", "DSH_HOME"].map(|name| {
        let explained = log.explain("a", &key(name)).unwrap();
        (explained.state, explained.owner)
    });
    assert_eq!(
        owners,
        [
            (KeyState::Absent, Some("told".to_owned())),
            (KeyState::Absent, None),
            (KeyState::Present, Some("host".to_owned())),
        ]
    );
}

#[test]
fn policies_that_took_effect_are_remembered_with_the_failure() {
    for (on_failure, state, length) in [
        (OnFailure::Omit, KeyState::Omitted, None),
        (OnFailure::Value("unknown".to_owned()), KeyState::StoodIn, Some(7)),
    ] {
        let (registry, log) = registry(CallLogOptions::new());
        let policy = on_failure.as_str();
        let _registered = registry.register_under(failing(), Terms { on_failure, ..Terms::default() }).unwrap();
        registry.collect(&call("a")).unwrap();
        let one = log.explain("a", &key("DSH_ONE")).unwrap();
        assert_eq!((one.state, one.policy, one.length), (state, Some(policy), length));
        assert_eq!(one.error.map(|error| error.code()), Some(Code::GuestError));
        assert_eq!(one.call.degraded.len(), 3);
        let [told] = one.contributors.try_into().unwrap();
        assert_eq!((told.name.as_str(), told.policy, told.error.is_some()), ("told", policy, true));
        assert_eq!(log.explain("a", &key("DSH_TOKEN")).unwrap().length, None, "what stands in for a secret is one");
    }
}

#[test]
fn a_failed_collection_is_remembered_with_its_error_for_every_key() {
    let (registry, log) = registry(CallLogOptions::new());
    let _registered = registry.register_under(failing(), Terms::default()).unwrap();
    registry.collect(&call("a")).unwrap_err();
    for (name, owner) in [("DSH_ONE", Some("told")), ("DSH_ELSE", None)] {
        let explained = log.explain("a", &key(name)).unwrap();
        assert_eq!((explained.state, explained.owner.as_deref()), (KeyState::NoOverlay, owner));
        assert_eq!(explained.error.map(|error| error.code()), Some(Code::GuestError));
        assert_eq!(explained.call.error.map(|error| error.code()), Some(Code::GuestError));
    }
}

#[test]
fn a_key_of_a_missing_contributor_is_missing() {
    let (registry, log) = registry(CallLogOptions::new());
    let error = Error::load(Code::Malformed, "it is damaged");
    let keys = vec![key("DSH_LOST")];
    registry.set_missing(vec![Missing { label: "lost".to_owned(), keys, file: None, required: false, error }]);
    registry.collect(&call("a")).unwrap();
    let lost = log.explain("a", &key("DSH_LOST")).unwrap();
    assert_eq!((lost.state, lost.owner), (KeyState::Missing, None));
}

#[test]
fn summaries_come_newest_first_and_say_whose_call_it_was() {
    let (registry, log) = registry(CallLogOptions::new());
    let session = SessionHeader::new(SessionId::new("s").unwrap());
    registry.collect(&call("a")).unwrap();
    registry.collect(&call("b").owned_by(session)).unwrap();
    let recent = log.recent(10);
    let ids: Vec<_> = recent.iter().map(|it| (it.call_id.as_str(), it.session_id.as_deref())).collect();
    assert_eq!(ids, [("b", Some("s")), ("a", None)]);
    assert_eq!(recent[0].root_call_id, "root");
    assert!(recent[0].began_ms > 1_600_000_000_000);
    assert_eq!(log.recent(1).len(), 1);
}

#[test]
fn of_two_calls_with_one_id_the_newest_answers() {
    let (registry, log) = registry(CallLogOptions::new());
    registry.collect(&call("a")).unwrap();
    let _registered = registry.register_under(saying(&[("DSH_ONE", "x")]), Terms::default()).unwrap();
    registry.collect(&call("a")).unwrap();
    assert_eq!(log.explain("a", &key("DSH_ONE")).unwrap().state, KeyState::Present);
}

#[test]
fn the_oldest_go_when_there_are_too_many() {
    let (registry, log) = registry(CallLogOptions::new().executions(2));
    for id in ["a", "b", "c"] {
        registry.collect(&call(id)).unwrap();
    }
    assert!(log.explain("a", &key("DSH_HOME")).is_none());
    assert!(log.explain("b", &key("DSH_HOME")).is_some());
}

#[test]
fn the_oldest_go_when_they_take_too_much_and_one_that_is_too_large_pushes_none_out() {
    let (registry, log) = registry(CallLogOptions::new().bytes(20_000));
    registry.collect(&call("small")).unwrap();
    registry.collect(&call(&"x".repeat(30_000))).unwrap();
    assert_eq!(log.recent(9).len(), 1);
    for letter in ["a", "b", "c"] {
        registry.collect(&call(&letter.repeat(9_000))).unwrap();
    }
    assert!(log.explain("small", &key("DSH_HOME")).is_none());
    assert!(log.kept().bytes <= 20_000);
    assert!(log.explain(&"b".repeat(9_000), &key("DSH_HOME")).is_some());
}

#[test]
fn the_count_of_bytes_does_not_drift() {
    let (registry, log) = registry(CallLogOptions::new().executions(3));
    for id in 0..50 {
        registry.collect(&call(&"x".repeat(id))).unwrap();
    }
    let kept = log.kept();
    assert_eq!(kept.bytes, kept.records.iter().map(|record| record.bytes()).sum::<usize>());
}
