//! What the operator wants instead of a failed collection.

use super::support::{Scripted, call, declaration, registry, said, shared, terms};
use crate::contract::{Cancellation, Failure, Key};
use crate::error::{Code, Error, Result};
use crate::registry::{CollectOptions, OnFailure, Overlay, Terms};

fn stand_in(text: &str) -> OnFailure {
    OnFailure::Value(text.to_owned())
}

/// Collects from `contributor`, which declares `DSH_A` and `DSH_B`, and one that is well.
fn under(terms: Terms, contributor: Scripted) -> Result<Overlay> {
    let registry = registry();
    let _well = registry.register(Scripted::saying("well", &[("DSH_WELL", "1")])).unwrap();
    let _a = registry.register_under(shared(contributor), terms).unwrap();
    registry.collect(&call())
}

fn failing() -> Scripted {
    Scripted::of("a", &["DSH_B", "DSH_A"], |_, _| Err(Failure::guest("no such ticket")))
}

/// One of its two values is not acceptable.
fn half_wrong() -> Scripted {
    Scripted::saying("a", &[("DSH_A", "1"), ("DSH_B", "\0")])
}

#[test]
fn without_a_policy_one_failure_fails_the_collection() {
    for contributor in [failing(), half_wrong()] {
        let error = under(Terms::default(), contributor).unwrap_err();
        assert!(matches!(error.code(), Code::GuestError | Code::InvalidValue));
    }
}

#[test]
fn omit_leaves_the_keys_out_and_says_so() {
    let overlay = under(terms(OnFailure::Omit, &[]), failing()).unwrap();
    assert_eq!(said(&overlay), ["DSH_DEGRADED=DSH_A DSH_B", "DSH_WELL=1"]);
    assert_eq!(overlay.degraded().iter().map(Key::as_str).collect::<Vec<_>>(), ["DSH_A", "DSH_B"]);
    assert_eq!(overlay.get("DSH_DEGRADED").unwrap().owner(), "host");
}

#[test]
fn a_value_stands_in_and_is_told_apart() {
    let keys = [("DSH_A", stand_in("unknown")), ("DSH_B", stand_in(""))];
    let overlay = under(terms(OnFailure::Fail, &keys), failing()).unwrap();
    assert_eq!(said(&overlay), ["DSH_A=unknown", "DSH_B=", "DSH_DEGRADED=DSH_A DSH_B", "DSH_WELL=1"]);
    assert_eq!(overlay.get("DSH_A").unwrap().owner(), "a");
}

#[test]
fn one_affected_key_that_must_not_fail_fails_the_collection() {
    for (contributor, key) in [(OnFailure::Fail, OnFailure::Omit), (OnFailure::Omit, OnFailure::Fail)] {
        let error = under(terms(contributor, &[("DSH_A", key)]), failing()).unwrap_err();
        assert_eq!((error.code(), error.contributor()), (Code::GuestError, Some("a")));
    }
}

#[test]
fn a_refused_value_affects_its_own_key_alone() {
    let overlay = under(terms(OnFailure::Fail, &[("DSH_B", OnFailure::Omit)]), half_wrong()).unwrap();
    assert_eq!(said(&overlay), ["DSH_A=1", "DSH_DEGRADED=DSH_B", "DSH_WELL=1"]);
    let overlay = under(terms(OnFailure::Omit, &[("DSH_B", stand_in("x"))]), half_wrong()).unwrap();
    assert_eq!(said(&overlay), ["DSH_A=1", "DSH_B=x", "DSH_DEGRADED=DSH_B", "DSH_WELL=1"]);
    let error = under(terms(OnFailure::Fail, &[("DSH_A", OnFailure::Omit)]), half_wrong()).unwrap_err();
    assert_eq!(error.key(), Some("DSH_B"));
}

#[test]
fn an_answer_that_says_more_than_was_declared_is_believed_in_nothing() {
    let contributor = Scripted::answering("a", &["DSH_A"], &[("DSH_A", "1"), ("DSH_C", "2")]);
    let overlay = under(terms(OnFailure::Omit, &[]), contributor).unwrap();
    assert_eq!(said(&overlay), ["DSH_DEGRADED=DSH_A", "DSH_WELL=1"]);
}

#[test]
fn a_contributor_without_keys_can_fail_too() {
    let contributor = || Scripted::new(declaration("a", &[]), |_, _| Err(Failure::guest("no")));
    assert_eq!(under(Terms::default(), contributor()).unwrap_err().code(), Code::GuestError);
    let overlay = under(terms(OnFailure::Omit, &[]), contributor()).unwrap();
    assert_eq!(said(&overlay), ["DSH_WELL=1"]);
    assert_eq!(overlay.reports()[0].error.as_ref().map(Error::code), Some(Code::GuestError));
}

#[test]
fn what_took_effect_is_reported_with_the_failure_behind_it() {
    let policy = |terms, contributor| {
        let overlay = under(terms, contributor).unwrap();
        let [a, well] = overlay.reports() else { panic!("two took part") };
        assert_eq!((a.name.as_str(), &well.affected, &well.error), ("a", &vec![], &None));
        let affected =
            a.affected.iter().map(|affected| (affected.key.to_string(), affected.policy, affected.error.code()));
        affected.collect::<Vec<_>>()
    };
    let key = str::to_owned;
    let both = [(key("DSH_B"), "omit", Code::GuestError), (key("DSH_A"), "omit", Code::GuestError)];
    assert_eq!(policy(terms(OnFailure::Omit, &[]), failing()), both);
    assert_eq!(policy(terms(OnFailure::Omit, &[]), half_wrong()), [(key("DSH_B"), "omit", Code::InvalidValue)]);
    let value = terms(OnFailure::Fail, &[("DSH_B", stand_in("x"))]);
    assert_eq!(policy(value, half_wrong()), [(key("DSH_B"), "value", Code::InvalidValue)]);
    let well = Scripted::saying("a", &[("DSH_A", "1")]);
    assert_eq!(policy(terms(OnFailure::Omit, &[]), well), []);
}

#[test]
fn what_makes_the_overlay_too_large_is_treated_as_its_policy_says() {
    let large = "x".repeat(30_000);
    let keys = ["DSH_A", "DSH_B", "DSH_C", "DSH_D", "DSH_E"];
    let bindings = keys.map(|key| (key, large.as_str()));
    let overlay = under(terms(OnFailure::Omit, &[]), Scripted::saying("a", &bindings)).unwrap();
    assert!(overlay.get("DSH_D").is_some() && overlay.get("DSH_WELL").is_some());
    assert_eq!(overlay.degraded().iter().map(Key::as_str).collect::<Vec<_>>(), ["DSH_E"]);
}

#[test]
fn who_fills_the_overlay_is_named_beside_who_makes_it_too_large() {
    let large = "x".repeat(32_000);
    let registry = registry();
    let keys = ["DSH_A", "DSH_B", "DSH_C", "DSH_D"];
    let _a = registry.register(Scripted::saying("a", &keys.map(|key| (key, large.as_str())))).unwrap();
    let _b = registry.register(Scripted::saying("b", &[("DSH_Z", &large)])).unwrap();
    let error = registry.collect(&call()).unwrap_err();
    assert_eq!((error.code(), error.contributor()), (Code::OverlayTooLarge, Some("b")));
    assert!(error.message().contains("of which a has 128028"), "{error}");
}

#[test]
fn a_report_is_json_without_values() {
    let registry = registry();
    let terms = terms(OnFailure::Fail, &[("DSH_A", stand_in("hunter2")), ("DSH_B", OnFailure::Omit)]);
    assert!(!format!("{terms:?}").contains("hunter2"));
    let _a = registry.register_under(shared(failing()), terms).unwrap();
    let overlay = registry.collect(&call()).unwrap();
    let mut reports = serde_json::to_value(overlay.reports()).unwrap();
    assert!(reports[0]["micros"].take().is_u64());
    insta::assert_json_snapshot!(reports, @r#"
    [
      {
        "affected": [
          {
            "error": {
              "code": "guest-error",
              "contributor": "a",
              "key": null,
              "message": "it could not resolve: no such ticket",
              "stage": "resolve"
            },
            "key": "DSH_B",
            "policy": "omit",
            "stands_in": false
          },
          {
            "error": {
              "code": "guest-error",
              "contributor": "a",
              "key": null,
              "message": "it could not resolve: no such ticket",
              "stage": "resolve"
            },
            "key": "DSH_A",
            "policy": "value",
            "stands_in": true
          }
        ],
        "digest": null,
        "error": {
          "code": "guest-error",
          "contributor": "a",
          "key": null,
          "message": "it could not resolve: no such ticket",
          "stage": "resolve"
        },
        "micros": null,
        "name": "a",
        "policy": "fail"
      }
    ]
    "#);
}

#[test]
fn no_policy_of_a_contributor_covers_what_is_the_callers_or_the_hosts() {
    let registry = registry();
    let _a = registry.register_under(shared(failing()), terms(OnFailure::Omit, &[])).unwrap();
    let cancellation = Cancellation::new();
    cancellation.cancel();
    let error = registry.collect_with(&call(), &CollectOptions::new().cancelled_by(&cancellation)).unwrap_err();
    assert_eq!(error.code(), Code::Cancelled);
    let error = registry.collect_with(&call(), &CollectOptions::new().within(std::time::Duration::ZERO)).unwrap_err();
    assert_eq!(error.code(), Code::OverlayTimeout);
}

#[test]
fn a_stand_in_that_no_environment_can_hold_is_the_operators_mistake() {
    let error = under(terms(OnFailure::Omit, &[("DSH_A", stand_in("a\0"))]), failing()).unwrap_err();
    assert_eq!(
        (error.code(), error.contributor(), error.key()),
        (Code::InvalidConfiguration, Some("a"), Some("DSH_A"))
    );
    let large = stand_in(&"x".repeat(128 * 1024));
    let error = under(terms(OnFailure::Omit, &[("DSH_A", large)]), failing()).unwrap_err();
    assert_eq!((error.code(), error.key()), (Code::OverlayTooLarge, Some("DSH_A")));
}
