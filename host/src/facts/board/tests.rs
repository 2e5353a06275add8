//! What is pushed is seen whole, and not a moment too long.

use std::sync::Arc;
use std::thread;
use std::time::Duration;

use proptest::prelude::*;

use super::*;
use crate::contract::{Binding, Contributor, Deadline, Declaration, Execution, Failure};
use crate::facts::MAX_NAME_BYTES;
use crate::facts::support::{Place, until};

const HOUR: Duration = Duration::from_secs(60 * 60);

fn refusal(put: Result<()>) -> String {
    let error = put.unwrap_err();
    assert_eq!(error.code(), Code::InvalidRequest);
    error.message().to_owned()
}

#[test]
fn a_collection_that_begins_after_a_fact_was_put_sees_it() {
    let place = Place::new();
    assert!(place.facts().is_empty());
    place.board.put("cluster", "kind", HOUR).unwrap();
    assert_eq!(place.fact("cluster").as_deref(), Some("kind"));
    place.board.put("cluster", "prod", HOUR).unwrap();
    place.board.put("empty", "", HOUR).unwrap();
    assert_eq!(place.fact("cluster").as_deref(), Some("prod"));
    assert_eq!(place.fact("empty").as_deref(), Some(""));
}

#[test]
fn a_fact_that_has_ended_is_absent_though_nobody_does_anything_and_others_hold_on() {
    let place = Place::new();
    place.board.put("long", "1", HOUR).unwrap();
    place.board.put("short", "2", Duration::from_millis(1)).unwrap();
    thread::sleep(Duration::from_millis(2));
    for _ in 0..2 {
        assert_eq!(place.fact("short"), None);
        assert_eq!(place.fact("long").as_deref(), Some("1"));
    }
    place.board.put("short", "3", HOUR).unwrap();
    assert_eq!(place.fact("short").as_deref(), Some("3"));
}

#[test]
fn a_fact_holds_for_as_long_as_was_said_last() {
    let place = Place::new();
    place.board.put("cluster", "a", Duration::from_millis(1)).unwrap();
    place.board.put("cluster", "b", HOUR).unwrap();
    thread::sleep(Duration::from_millis(2));
    assert_eq!(place.fact("cluster").as_deref(), Some("b"));
    place.board.put("cluster", "c", Duration::from_millis(1)).unwrap();
    until("the fact ends", || place.fact("cluster").is_none());
}

/// Puts another value as soon as it is asked, and says which it was asked with.
struct Putting {
    name: &'static str,
    board: FactsBoard,
}

impl Contributor for Putting {
    fn declare(&self) -> Declaration {
        Declaration::new(self.name).variable(format!("DSH_{}", self.name.to_uppercase()), "What it saw.")
    }

    fn resolve(&self, _: &Execution, _: &Deadline) -> Result<Vec<Binding>, Failure> {
        Ok(Vec::new())
    }

    fn resolve_with(&self, _: &Execution, facts: &Facts, _: &Deadline) -> Result<Vec<Binding>, Failure> {
        let value = facts.get("cluster").unwrap_or("none");
        self.board.put("cluster", format!("{value}, {}", self.name), HOUR).unwrap();
        Ok(vec![Binding::new(format!("DSH_{}", self.name.to_uppercase()), value)])
    }
}

#[test]
fn all_contributors_of_one_collection_see_the_snapshot_that_it_began_with() {
    let place = Place::new();
    let _registrations =
        ["a", "b", "c"].map(|name| place.registry.register(Putting { name, board: place.board.clone() }).unwrap());
    for seen in ["none", "none, c", "none, c, c"] {
        let overlay = place.registry.collect(&Execution::new("bash")).unwrap();
        for key in ["DSH_A", "DSH_B", "DSH_C"] {
            assert_eq!(overlay.get(key).unwrap().value.expose(), seen);
        }
    }
}

#[test]
fn a_contributor_that_waits_sees_the_same_snapshot() {
    struct Waiting(Putting);

    impl Contributor for Waiting {
        fn declare(&self) -> Declaration {
            self.0.declare()
        }

        fn resolve(&self, execution: &Execution, deadline: &Deadline) -> Result<Vec<Binding>, Failure> {
            self.0.resolve(execution, deadline)
        }

        fn resolve_with(&self, execution: &Execution, facts: &Facts, at: &Deadline) -> Result<Vec<Binding>, Failure> {
            self.0.resolve_with(execution, facts, at)
        }

        fn may_wait(&self) -> bool {
            true
        }
    }

    let place = Place::new();
    let _registrations =
        ["a", "b"].map(|name| place.registry.register(Waiting(Putting { name, board: place.board.clone() })).unwrap());
    let overlay = place.registry.collect(&Execution::new("bash")).unwrap();
    assert_eq!(overlay.get("DSH_B").unwrap().value.expose(), "none");
}

#[test]
fn fifty_puts_from_each_of_eight_threads_lose_nothing_while_others_collect() {
    let place = Place::new();
    thread::scope(|scope| {
        for thread in 0..8 {
            let board = place.board.clone();
            scope.spawn(move || {
                for number in 0..50 {
                    board.put(&format!("fact-{thread}-{}", number % 5), number.to_string(), HOUR).unwrap();
                    board.put(&format!("short-{thread}"), "x", Duration::from_millis(1)).unwrap();
                }
            });
        }
        for _ in 0..2 {
            scope.spawn(|| {
                for _ in 0..100 {
                    place.registry.collect(&Execution::new("bash")).unwrap();
                }
            });
        }
    });
    thread::sleep(Duration::from_millis(2));
    let facts = place.facts();
    for thread in 0..8 {
        for last in 0..5 {
            let name = format!("fact-{thread}-{last}");
            assert_eq!(facts.get(&name), Some((45 + last).to_string().as_str()), "{name}");
        }
        assert_eq!(facts.get(&format!("short-{thread}")), None);
    }
}

#[test]
fn names_values_and_times_are_checked_and_nothing_changes_where_they_are_wrong() {
    let place = Place::new();
    place.board.put("a", "before", HOUR).unwrap();
    let long = "x".repeat(MAX_NAME_BYTES + 1);
    for name in ["", "A", "-a", "a b", "a/b", "ä", "a\0", "facts:x", &long] {
        assert!(refusal(place.board.put(name, "x", HOUR)).contains("is no fact's name"), "{name:?}");
    }
    for name in ["a", "0", "a.b_c-d", &"x".repeat(MAX_NAME_BYTES)] {
        place.board.put(name, "before", HOUR).unwrap();
    }
    assert_eq!(
        refusal(place.board.put("a", "x".repeat(MAX_VALUE_BYTES + 1), HOUR)),
        "the value of the fact a has 32769 bytes, and at most 32768 are possible: shorten it"
    );
    assert_eq!(
        refusal(place.board.put("a", "hunter2\0", HOUR)),
        "the value of the fact a has a NUL character, which no environment variable can hold: leave it out"
    );
    let day = 24 * HOUR;
    for time in [Duration::ZERO, Duration::from_nanos(999_999), 3 * day + Duration::from_millis(1), Duration::MAX] {
        assert!(refusal(place.board.put("a", "x", time)).contains("three days"), "{time:?}");
    }
    assert_eq!(place.fact("a").as_deref(), Some("before"));
    place.board.put("a", "x".repeat(MAX_VALUE_BYTES), 3 * day).unwrap();
    place.board.put("a", "line\nline\u{7}", Duration::from_millis(1)).unwrap();
}

#[test]
fn no_more_facts_hold_at_once_than_there_may_be() {
    let place = Place::new();
    place.board.put("ends", "x", Duration::from_millis(1)).unwrap();
    thread::sleep(Duration::from_millis(2));
    for number in 0..MAX_PUSHED {
        place.board.put(&format!("fact-{number}"), "x", HOUR).unwrap();
    }
    assert!(refusal(place.board.put("one-more", "x", HOUR)).contains("push fewer"));
    place.board.put("fact-7", "another value", HOUR).unwrap();
    // A command's are not counted.
    let owner = place.board.give("of-a-command", HOUR);
    place.board.found("of-a-command", owner, Arc::from("x"), HOUR);
    assert_eq!(place.fact("of-a-command").as_deref(), Some("x"));
    place.board.put("fact-7", "x", Duration::from_millis(1)).unwrap();
    thread::sleep(Duration::from_millis(2));
    place.board.put("one-more", "x", HOUR).unwrap();
    assert!(refusal(place.board.put("and-another", "x", HOUR)).contains("push fewer"));
}

#[test]
fn a_name_that_a_command_owns_is_not_pushed() {
    let place = Place::new();
    place.board.put("cluster", "pushed", HOUR).unwrap();
    let owner = place.board.give("cluster", HOUR);
    assert_eq!(place.fact("cluster"), None);
    assert_eq!(
        refusal(place.board.put("cluster", "pushed", HOUR)),
        "the fact cluster is found out by the command of [facts.cluster] in the configuration: choose another name, or remove that section"
    );
    place.board.found("cluster", owner, Arc::from("found"), HOUR);
    assert_eq!(place.fact("cluster").as_deref(), Some("found"));
    place.board.take_back("cluster");
    assert_eq!(place.fact("cluster"), None);
    place.board.put("cluster", "pushed", HOUR).unwrap();
    assert_eq!(place.fact("cluster").as_deref(), Some("pushed"));
}

#[test]
fn a_command_that_lost_its_name_sets_nothing_any_more() {
    let place = Place::new();
    let first = place.board.give("cluster", HOUR);
    place.board.found("cluster", first, Arc::from("first"), HOUR);
    let second = place.board.give("cluster", HOUR);
    place.board.found("cluster", first, Arc::from("too late"), HOUR);
    assert_eq!(place.fact("cluster").as_deref(), Some("first"));
    place.board.take_back("cluster");
    place.board.found("cluster", second, Arc::from("too late"), HOUR);
    assert_eq!(place.fact("cluster"), None);
}

#[test]
fn what_a_command_before_found_out_holds_no_longer_than_what_this_one_finds_out_would() {
    let place = Place::new();
    let first = place.board.give("cluster", HOUR);
    place.board.found("cluster", first, Arc::from("first"), HOUR);
    place.board.give("cluster", Duration::from_millis(1));
    thread::sleep(Duration::from_millis(2));
    assert_eq!(place.fact("cluster"), None);
}

#[test]
fn nothing_that_is_printed_of_a_board_has_a_value() {
    let place = Place::new();
    place.board.put("cluster", "hunter2", HOUR).unwrap();
    assert_eq!(format!("{:?} {:?}", place.board, place.facts()), r#"{"cluster"} {"cluster"}"#);
}

proptest! {
    #[test]
    fn what_was_put_last_is_what_is_seen(puts in prop::collection::vec(("[a-c]", "\\PC{0,8}"), 0..20)) {
        let place = Place::new();
        let mut expected = std::collections::BTreeMap::new();
        for (name, value) in puts {
            place.board.put(&name, value.as_str(), HOUR).unwrap();
            expected.insert(name, value);
        }
        let facts = place.facts();
        for name in ["a", "b", "c"] {
            prop_assert_eq!(facts.get(name), expected.get(name).map(String::as_str));
        }
    }
}
