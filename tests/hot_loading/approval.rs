//! What waits, what is approved, and what is brought back.

use super::*;
use dsh_env::Code;

/// A build of `ticket` that declares another key.
fn wider() -> Vec<u8> {
    Guest::saying("ticket", &[("DSH_TICKET", "wide"), ("DSH_TICKET_URL", "https://example.org")]).component()
}

#[test]
fn a_build_that_adds_a_key_waits_until_it_is_approved_and_can_be_rolled_back() {
    let place = Place::new();
    let running = Running::of(&place);
    place.install("ticket", ticket("one"));
    running.until_value("DSH_TICKET", Some("one"));
    place.install("ticket", wider());
    let waiting = running.until_state("ticket", State::Pending);
    assert_eq!(waiting.digest, Some(digest(&ticket("one"))));
    assert_eq!(waiting.candidate, Some(digest(&wider())));
    let error = waiting.error.unwrap();
    assert_eq!(error.code(), Code::ApprovalPending);
    for word in ["DSH_TICKET_URL", "approve ticket", &digest(&wider())] {
        assert!(error.message().contains(word), "{error}");
    }
    assert_eq!(running.value("DSH_TICKET").as_deref(), Some("one"));

    let approved = running.host.approve("ticket", &digest(&wider())).unwrap();
    assert_eq!((approved.state, approved.digest), (State::Live, Some(digest(&wider()))));
    assert_eq!(approved.previous, [digest(&ticket("one"))]);
    assert_eq!(running.value("DSH_TICKET").as_deref(), Some("wide"));
    assert_eq!(running.value("DSH_TICKET_URL").as_deref(), Some("https://example.org"));

    let back = running.host.roll_back("ticket", None).unwrap();
    assert_eq!((back.state, back.digest), (State::Live, Some(digest(&ticket("one")))));
    assert_eq!(running.value("DSH_TICKET").as_deref(), Some("one"));
    assert_eq!(running.value("DSH_TICKET_URL"), None);
    // What was left is still in the file, and does not come back by itself.
    running.host.refresh();
    let again = running.host.reload("ticket").unwrap();
    assert_eq!(again.digest, Some(digest(&ticket("one"))));
    assert!(again.notes.iter().any(|note| note.contains("rolled back")), "{again:?}");
    // But when it is asked for.
    running.host.approve("ticket", &digest(&wider())).unwrap();
    assert_eq!(running.value("DSH_TICKET").as_deref(), Some("wide"));
}

#[test]
fn the_last_five_builds_can_be_brought_back_and_no_more() {
    let place = Place::new();
    let running = Running::of(&place);
    let builds: Vec<_> = (0..8).map(|number| ticket(&number.to_string())).collect();
    for (number, build) in builds.iter().enumerate() {
        place.install("ticket", build);
        running.until_value("DSH_TICKET", Some(&number.to_string()));
    }
    let previous = running.status("ticket").unwrap().previous;
    let expected: Vec<_> = builds.iter().rev().skip(1).take(5).map(|build| digest(build)).collect();
    assert_eq!(previous, expected);
    running.host.roll_back("ticket", Some(&digest(&builds[2]))).unwrap();
    assert_eq!(running.value("DSH_TICKET").as_deref(), Some("2"));
    let error = running.host.roll_back("ticket", Some(&digest(&builds[0]))).unwrap_err();
    assert_eq!(error.code(), Code::ContributorNotFound);
    // A new build goes on from there, and what was left does not come before it.
    place.install("ticket", ticket("new"));
    running.until_value("DSH_TICKET", Some("new"));
    assert_eq!(running.status("ticket").unwrap().previous, [digest(&builds[2])]);
    place.install("ticket", &builds[7]);
    running.until("it is held", |running| {
        let notes = running.status("ticket").map(|status| status.notes).unwrap_or_default();
        notes.iter().any(|note| note.contains("rolled back"))
    });
    assert_eq!(running.value("DSH_TICKET").as_deref(), Some("new"));
    running.host.roll_back("ticket", None).unwrap();
    assert_eq!(running.value("DSH_TICKET").as_deref(), Some("2"));
}

#[test]
fn a_build_whose_key_somebody_else_was_given_meanwhile_is_not_brought_back() {
    let place = Place::new();
    let running = Running::of(&place);
    place.install("ticket", ticket("one"));
    running.until_value("DSH_TICKET", Some("one"));
    place.install("ticket", wider());
    running.until_state("ticket", State::Pending);
    running.host.approve("ticket", &digest(&wider())).unwrap();
    running.host.roll_back("ticket", None).unwrap();
    // The key that was given up is still the ticket's, until the operator says otherwise.
    let links = Guest::saying("links", &[("DSH_TICKET_URL", "https://example.net")]).component();
    place.install("links", &links);
    let waiting = running.until_state("links", State::Pending);
    assert!(waiting.error.unwrap().message().contains("DSH_TICKET_URL belongs to ticket"));
    running.host.approve("links", &digest(&links)).unwrap();
    assert_eq!(running.value("DSH_TICKET_URL").as_deref(), Some("https://example.net"));

    let error = running.host.approve("ticket", &digest(&wider())).unwrap_err();
    assert_eq!(error.code(), Code::KeyConflict);
    assert_eq!(running.value("DSH_TICKET").as_deref(), Some("one"));
    assert_eq!(running.value("DSH_TICKET_URL").as_deref(), Some("https://example.net"));
}

#[test]
fn what_was_rolled_back_stays_so_when_the_host_starts_again() {
    let place = Place::new();
    {
        let running = Running::of(&place);
        place.install("ticket", ticket("one"));
        running.until_value("DSH_TICKET", Some("one"));
        place.install("ticket", ticket("two"));
        running.until_value("DSH_TICKET", Some("two"));
        running.host.roll_back("ticket", None).unwrap();
    }
    assert_eq!(Running::of(&place).value("DSH_TICKET").as_deref(), Some("one"));
}

#[test]
fn every_way_to_ask_for_more_waits() {
    let base = [("DSH_A", "What it means.", true, Some("a")), ("DSH_B", "Another.", false, Some("b"))];
    let wider: [(&str, Guest); 4] = [
        (
            "does not call DSH_A sensitive",
            Guest::declaring("ticket", &[("DSH_A", "What it means.", false, Some("x")), base[1]]),
        ),
        (
            "describes DSH_B differently",
            Guest::declaring("ticket", &[base[0], ("DSH_B", "Something else.", false, None)]),
        ),
        ("declares DSH_C", Guest::declaring("ticket", &[base[0], base[1], ("DSH_C", "More.", false, None)])),
        ("calls itself other", Guest::declaring("other", &base)),
    ];
    let place = Place::new();
    let running = Running::of(&place);
    place.install("ticket", Guest::declaring("ticket", &base).component());
    running.until_value("DSH_B", Some("b"));
    let pending = |part: &str| {
        running.until(part, |running| {
            let errors = running.host.statuses().into_iter().filter(|status| status.state == State::Pending);
            errors.filter_map(|status| status.error).any(|error| error.message().contains(part))
        });
        assert_eq!(running.value("DSH_B").as_deref(), Some("b"), "{part}: the approved build stays");
    };
    for (part, guest) in &wider {
        place.install("ticket", guest.component());
        pending(part);
    }
    let imports =
        support::guest::importing(&Guest::declaring("ticket", &base).component(), &["wasi:clocks/wall-clock@0.2.0"]);
    place.install("ticket", imports);
    pending("imports wasi:clocks/wall-clock");
    // The same or less goes live.
    place.install("ticket", Guest::declaring("ticket", &[("DSH_B", "Another.", true, Some("less"))]).component());
    running.until_value("DSH_B", Some("less"));
}

#[test]
fn names_and_keys_stay_owned_until_they_are_forgotten() {
    let place = Place::new();
    let running = Running::of(&place);
    place.install("ticket", ticket("one"));
    running.until_value("DSH_TICKET", Some("one"));
    std::fs::remove_file(installed(&place, "ticket")).unwrap();
    running.until_value("DSH_TICKET", None);
    place.install("thief", Guest::saying("thief", &[("DSH_TICKET", "stolen")]).component());
    let waiting = running.until_state("thief", State::Pending);
    assert!(waiting.error.unwrap().message().contains("DSH_TICKET belongs to ticket"));
    place.install("impostor", ticket("impostor"));
    running.until("the impostor waits", |running| {
        let of = |status: &ContributorStatus| status.file == Some(installed(&place, "impostor"));
        running.host.statuses().iter().any(|status| of(status) && status.state == State::Pending)
    });
    assert_eq!(running.value("DSH_TICKET"), None);
    std::fs::remove_file(installed(&place, "impostor")).unwrap();
    running.until("the impostor is gone", |running| running.host.statuses().len() == 2);
    running.host.forget("ticket").unwrap();
    running.until_value("DSH_TICKET", Some("stolen"));
    assert_eq!(running.host.forget("ticket").unwrap_err().code(), Code::ContributorNotFound);
}

#[test]
fn one_key_of_two_live_contributors_is_a_conflict_and_no_question_of_approval() {
    let place = Place::new();
    let running = Running::of(&place);
    place.install("ticket", ticket("one"));
    running.until_value("DSH_TICKET", Some("one"));
    let second = Guest::saying("second", &[("DSH_TICKET", "two")]).component();
    place.install("second", &second);
    let refused = running.until_state("second", State::Refused);
    assert_eq!(refused.error.unwrap().code(), Code::KeyConflict);
    assert_eq!(running.host.approve("second", &digest(&second)).unwrap_err().code(), Code::KeyConflict);
    assert_eq!(running.value("DSH_TICKET").as_deref(), Some("one"));
}

#[test]
fn a_component_that_is_added_is_approved_by_that() {
    let place = Place::new();
    place.configure("[trust]\nnew = \"pending\"\nupdate = \"pinned\"\n");
    let running = Running::of(&place);
    place.install("ticket", ticket("one"));
    running.until_state("ticket", State::Pending);
    assert_eq!(running.value("DSH_TICKET"), None);
    let file = place.write("elsewhere.wasm", ticket("two"));
    let status = running.host.add(&file).unwrap();
    assert_eq!((status.state, status.digest), (State::Live, Some(digest(&ticket("two")))));
    assert_eq!(std::fs::read(installed(&place, "ticket")).unwrap(), ticket("two"));
    assert_eq!(running.value("DSH_TICKET").as_deref(), Some("two"));
    place.install("ticket", ticket("three"));
    running.until_state("ticket", State::Pending);
    assert_eq!(running.value("DSH_TICKET").as_deref(), Some("two"), "pinned");
    running.host.approve("ticket", &digest(&ticket("three"))).unwrap();
    assert_eq!(running.value("DSH_TICKET").as_deref(), Some("three"));
}
