//! A contributor that keeps failing is left alone for a while.

use std::sync::{Arc, Mutex, mpsc};
use std::time::Duration;

use super::support::{
    Hands, Mood, Scripted, call, collect, declaration, registry, registry_by_clock, said, shared, terms,
};
use crate::contract::{Binding, Failure};
use crate::error::Code;
use crate::registry::{CollectOptions, OnFailure, Registration, Registry, Terms};

fn with(terms: Terms) -> (Registry, Registration, Mood, Hands) {
    let (registry, hands) = registry_by_clock();
    let mood = Mood::default();
    let registration = registry.register_under(shared(mood.contributor(&["DSH_A"])), terms).unwrap();
    (registry, registration, mood, hands)
}

fn omit() -> Terms {
    terms(OnFailure::Omit, &[])
}

/// Collects so many times.
fn times(registry: &Registry, times: usize) {
    for _ in 0..times {
        assert_eq!(said(&collect(registry)), ["DSH_DEGRADED=DSH_A"]);
    }
}

/// Failures in a row, whether it is backed off, and the code of the last error.
fn health(registry: &Registry) -> (u32, bool, Option<Code>) {
    let [health] = registry.health().try_into().unwrap();
    assert_eq!(health.name.as_str(), "a");
    (health.failures_in_a_row, health.backed_off, health.last_error.map(|error| error.code()))
}

#[test]
fn after_five_failures_in_a_row_it_is_not_asked_for_a_second() {
    let (registry, _registration, mood, hands) = with(omit());
    assert_eq!(health(&registry), (0, false, None));
    times(&registry, 4);
    assert_eq!((mood.asked(), health(&registry)), (4, (4, false, Some(Code::GuestError))));
    times(&registry, 10);
    assert_eq!((mood.asked(), health(&registry)), (1, (5, true, Some(Code::GuestError))));
    hands.advance(Duration::from_millis(999));
    times(&registry, 1);
    assert_eq!(mood.asked(), 0);
    hands.advance(Duration::from_millis(1));
    times(&registry, 2);
    assert_eq!((mood.asked(), health(&registry).0), (1, 6));
}

#[test]
fn its_policies_take_effect_at_once_with_the_last_error() {
    let (registry, _registration, _mood, _hands) = with(omit());
    times(&registry, 5);
    let overlay = collect(&registry);
    let report = &overlay.reports()[0];
    let error = report.error.as_ref().unwrap();
    insta::assert_snapshot!(error, @"a: it is not asked again for a while, because it failed 5 times in a row: it could not resolve: no such ticket (guest-error)");
    assert_eq!((&report.affected[0].error, report.affected[0].policy), (error, "omit"));
    // What is kept is the error itself, whatever was made of it.
    let health = registry.health();
    assert_eq!(health[0].last_error.as_ref().unwrap().message(), "it could not resolve: no such ticket");
}

#[test]
fn every_further_failure_doubles_the_pause_up_to_five_minutes() {
    let (registry, _registration, mood, hands) = with(omit());
    times(&registry, 5);
    let mut failures = 5;
    for seconds in [1, 2, 4, 8, 16, 32, 64, 128, 256, 300, 300] {
        mood.asked();
        hands.advance(Duration::from_secs(seconds) - Duration::from_millis(1));
        times(&registry, 1);
        assert_eq!(mood.asked(), 0, "{seconds}");
        hands.advance(Duration::from_millis(1));
        times(&registry, 2);
        failures += 1;
        assert_eq!((mood.asked(), health(&registry).0), (1, failures), "{seconds}");
    }
}

#[test]
fn the_first_success_ends_it() {
    let (registry, _registration, mood, hands) = with(omit());
    times(&registry, 5);
    mood.says(&[("DSH_A", "1")]);
    times(&registry, 1);
    hands.advance(Duration::from_secs(1));
    assert_eq!(said(&collect(&registry)), ["DSH_A=1"]);
    assert_eq!(health(&registry), (0, false, None));
    // And it has all its chances again.
    mood.fails();
    mood.asked();
    times(&registry, 6);
    assert_eq!(mood.asked(), 5);
}

#[test]
fn failures_that_are_not_in_a_row_are_none_too_many() {
    let (registry, _registration, mood, _hands) = with(omit());
    for _ in 0..10 {
        mood.fails();
        times(&registry, 4);
        mood.says(&[]);
        collect(&registry);
    }
    assert_eq!((mood.asked(), health(&registry)), (50, (0, false, None)));
}

#[test]
fn under_fail_it_is_asked_every_time() {
    for terms in [Terms::default(), terms(OnFailure::Omit, &[("DSH_A", OnFailure::Fail)])] {
        let (registry, _registration, mood, _hands) = with(terms);
        for _ in 0..20 {
            assert_eq!(registry.collect(&call()).unwrap_err().message(), "it could not resolve: no such ticket");
        }
        assert_eq!((mood.asked(), health(&registry)), (20, (20, false, Some(Code::GuestError))));
    }
}

#[test]
fn one_without_keys_is_covered_by_the_policy_for_it_as_a_whole() {
    for (policy, expected) in [(OnFailure::Omit, 5), (OnFailure::Fail, 9)] {
        let (registry, _hands) = registry_by_clock();
        let mood = Mood::default();
        let _registration = registry.register_under(shared(mood.contributor(&[])), terms(policy.clone(), &[])).unwrap();
        for _ in 0..9 {
            assert_eq!(registry.collect(&call()).is_ok(), policy == OnFailure::Omit);
        }
        assert_eq!(mood.asked(), expected);
    }
}

#[test]
fn an_answer_with_a_refused_value_is_an_answer_and_one_that_says_too_much_is_none() {
    let (registry, _registration, mood, _hands) = with(omit());
    mood.says(&[("DSH_A", "\0")]);
    times(&registry, 10);
    assert_eq!((mood.asked(), health(&registry)), (10, (0, false, None)));
    mood.says(&[("DSH_A", "1"), ("DSH_NONE", "1")]);
    times(&registry, 10);
    assert_eq!((mood.asked(), health(&registry)), (5, (5, true, Some(Code::UndeclaredKey))));
    let overlay = collect(&registry);
    let error = overlay.reports()[0].error.as_ref().unwrap();
    assert_eq!((error.code(), error.key()), (Code::UndeclaredKey, Some("DSH_NONE")));
}

#[test]
fn a_replacement_begins_anew() {
    let (registry, registration, mood, _hands) = with(omit());
    times(&registry, 6);
    registration.replace(mood.contributor(&["DSH_A"])).unwrap();
    assert_eq!(health(&registry), (0, false, None));
    mood.asked();
    times(&registry, 6);
    assert_eq!(mood.asked(), 5);
}

#[test]
fn what_is_the_callers_or_the_hosts_own_counts_neither_way() {
    let (registry, hands) = registry_by_clock();
    let failing = Arc::new(Mutex::new(Code::GuestError));
    let code = Arc::clone(&failing);
    let contributor = Scripted::of("a", &["DSH_A"], move |_, _| Err(Failure::new(*code.lock().unwrap(), "it is so")));
    let _registration = registry.register_under(shared(contributor), omit()).unwrap();
    times(&registry, 4);
    for host in [Code::Cancelled, Code::OverlayTimeout, Code::Overloaded] {
        *failing.lock().unwrap() = host;
        assert_eq!(registry.collect(&call()).unwrap_err().code(), host);
        assert_eq!(health(&registry), (4, false, Some(Code::GuestError)));
    }
    *failing.lock().unwrap() = Code::Trap;
    times(&registry, 1);
    assert_eq!(health(&registry), (5, true, Some(Code::Trap)));
    // Nor is a trial one that ended this way, so that the next collection tries again.
    hands.advance(Duration::from_secs(1));
    *failing.lock().unwrap() = Code::Overloaded;
    assert_eq!(registry.collect(&call()).unwrap_err().code(), Code::Overloaded);
    *failing.lock().unwrap() = Code::Timeout;
    times(&registry, 1);
    assert_eq!(health(&registry), (6, true, Some(Code::Timeout)));
}

/// A contributor that fails until it is held, and then says when it is asked and answers when it is told to.
struct Held {
    hold: Arc<Mutex<bool>>,
    is_asked: mpsc::Receiver<()>,
    answer: mpsc::Sender<bool>,
}

fn held() -> (Scripted, Held) {
    let hold = Arc::new(Mutex::new(false));
    let (asked, is_asked) = mpsc::channel();
    let (answer, may_answer) = mpsc::channel::<bool>();
    let (held, may_answer) = (Arc::clone(&hold), Mutex::new(may_answer));
    let contributor = Scripted::of("a", &["DSH_A"], move |_, _| {
        let hold = *held.lock().unwrap();
        if hold {
            asked.send(()).unwrap();
            if may_answer.lock().unwrap().recv().unwrap() {
                return Ok(vec![Binding::new("DSH_A", "1")]);
            }
        }
        Err(Failure::guest("no"))
    });
    (contributor, Held { hold, is_asked, answer })
}

#[test]
fn when_the_pause_is_over_exactly_one_collection_tries_it() {
    let (registry, hands) = registry_by_clock();
    let (contributor, held) = held();
    let _registration = registry.register_under(shared(contributor), omit()).unwrap();
    times(&registry, 5);
    hands.advance(Duration::from_secs(1));
    *held.hold.lock().unwrap() = true;
    for (answer, failures) in [(false, 6), (true, 0)] {
        let trying = std::thread::spawn({
            let registry = registry.clone();
            move || said(&collect(&registry))
        });
        held.is_asked.recv().unwrap();
        // It would not return if it were asked.
        times(&registry, 3);
        hands.advance(Duration::from_secs(60));
        times(&registry, 3);
        held.answer.send(answer).unwrap();
        assert_eq!(trying.join().unwrap(), [if answer { "DSH_A=1" } else { "DSH_DEGRADED=DSH_A" }]);
        assert_eq!(health(&registry).0, failures);
        hands.advance(Duration::from_secs(2));
    }
}

#[test]
fn what_was_asked_before_the_pause_does_not_make_it_longer() {
    let (registry, hands) = registry_by_clock();
    let (contributor, held) = held();
    let _registration = registry.register_under(shared(contributor), omit()).unwrap();
    *held.hold.lock().unwrap() = true;
    let early = std::thread::spawn({
        let registry = registry.clone();
        move || said(&collect(&registry))
    });
    held.is_asked.recv().unwrap();
    *held.hold.lock().unwrap() = false;
    times(&registry, 5);
    held.answer.send(false).unwrap();
    early.join().unwrap();
    assert_eq!(health(&registry), (6, true, Some(Code::GuestError)));
    hands.advance(Duration::from_secs(1));
    times(&registry, 1);
    assert_eq!(health(&registry).0, 7);
}

#[test]
fn a_trial_that_panics_leaves_nobody_out() {
    let (registry, hands) = registry_by_clock();
    let contributor = Scripted::new(declaration("a", &["DSH_A"]), |_, _| panic!("a mistake"));
    let _registration = registry.register_under(shared(contributor), omit()).unwrap();
    times(&registry, 5);
    hands.advance(Duration::from_secs(1));
    times(&registry, 1);
    assert_eq!(health(&registry), (6, true, Some(Code::Trap)));
}

#[test]
fn the_health_of_all_is_told_by_name_and_is_json_without_values() {
    let registry = registry();
    let _b = registry.register(Scripted::saying("b", &[("DSH_B", "hunter2")])).unwrap();
    let _a = registry.register_under(shared(Scripted::of("a", &[], |_, _| Err(Failure::guest("no")))), omit()).unwrap();
    registry.collect_with(&call(), &CollectOptions::new()).unwrap();
    insta::assert_json_snapshot!(registry.health(), @r#"
    [
      {
        "name": "a",
        "failures_in_a_row": 1,
        "backed_off": false,
        "last_error": {
          "stage": "resolve",
          "code": "guest-error",
          "contributor": "a",
          "key": null,
          "message": "it could not resolve: no"
        }
      },
      {
        "name": "b",
        "failures_in_a_row": 0,
        "backed_off": false,
        "last_error": null
      }
    ]
    "#);
}
