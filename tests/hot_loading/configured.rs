//! What the configuration makes of new builds.

use super::*;
use dsh_env::Code;

/// A trial that is over after five calls.
fn on_trial(on_difference: &str) -> String {
    format!("[contributors.ticket.shadow]\ncalls = 5\ntime = \"1m\"\non-difference = \"{on_difference}\"\n")
}

/// A host whose `ticket` says `one`, under that configuration, with another build in the file that is being tried.
fn trying(place: &Place, configuration: &str, build: &[u8]) -> Running {
    place.configure(configuration);
    let running = Running::of(place);
    place.install("ticket", ticket("one"));
    running.until_value("DSH_TICKET", Some("one"));
    place.install("ticket", build);
    let waiting = running.until_state("ticket", State::Pending);
    assert_eq!(waiting.digest, Some(digest(&ticket("one"))));
    assert_eq!(waiting.candidate, Some(digest(build)));
    running
}

/// Another build that says the same.
fn same() -> Vec<u8> {
    Guest::saying("ticket", &[("DSH_TICKET", "one")]).with("imports", "(global i32 (i32.const 7))").component()
}

#[test]
fn a_build_that_answers_the_same_on_trial_takes_the_place_of_the_live_one() {
    let place = Place::new();
    let running = trying(&place, &on_trial("wait"), &same());
    running.until("the trial is over", |running| {
        running.value("DSH_TICKET");
        running.status("ticket").is_some_and(|status| status.state == State::Live)
    });
    let status = running.status("ticket").unwrap();
    assert_eq!(status.digest, Some(digest(&same())));
    assert_eq!(status.previous, [digest(&ticket("one"))]);
}

#[test]
fn a_build_that_answers_otherwise_on_trial_waits_and_no_value_is_told() {
    let place = Place::new();
    let running = trying(&place, &on_trial("wait"), &ticket("secret-two"));
    running.until("the trial is over", |running| {
        assert_eq!(running.value("DSH_TICKET").as_deref(), Some("one"));
        running.status("ticket").is_some_and(|status| status.error.is_some())
    });
    let status = running.status("ticket").unwrap();
    assert_eq!((status.state, status.digest), (State::Pending, Some(digest(&ticket("one")))));
    let error = status.error.unwrap();
    assert_eq!(error.code(), Code::ApprovalPending);
    for word in ["DSH_TICKET differed in 5 of 5 calls", "approve ticket"] {
        assert!(error.message().contains(word), "{error}");
    }
    assert!(!error.message().contains("secret-two"), "{error}");
    running.host.approve("ticket", &digest(&ticket("secret-two"))).unwrap();
    assert_eq!(running.value("DSH_TICKET").as_deref(), Some("secret-two"));
}

#[test]
fn what_answers_otherwise_on_trial_can_be_refused_or_go_live_all_the_same() {
    let place = Place::new();
    let running = trying(&place, &on_trial("refuse"), &ticket("two"));
    running.until("the trial is over", |running| {
        running.value("DSH_TICKET");
        running.status("ticket").is_some_and(|status| status.state == State::Refused)
    });
    assert_eq!(running.value("DSH_TICKET").as_deref(), Some("one"));

    let place = Place::new();
    let running = trying(&place, &on_trial("promote"), &ticket("two"));
    running.until_value("DSH_TICKET", Some("two"));
}

#[test]
fn what_waits_by_the_configuration_goes_live_when_that_is_changed() {
    let place = Place::new();
    place.configure("[trust]\nnew = \"pending\"\n");
    let running = Running::of(&place);
    place.install("ticket", ticket("one"));
    running.until_state("ticket", State::Pending);
    place.configure("");
    running.until_value("DSH_TICKET", Some("one"));
}
