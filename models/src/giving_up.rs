//! Whoever waits for an answer, and whoever answers or gives up.

use std::time::{Duration, Instant};

use loom::model::Builder;
use loom::thread;

use crate::cancellation::Cancellation;
use crate::sync::{Arc, Mutex};

/// Later than any of this takes; the checker's own clock stands still.
fn far_away() -> Instant {
    Instant::now() + Duration::from_secs(3600)
}

#[test]
fn whoever_waits_sees_the_answer_whenever_it_comes() {
    loom::model(|| {
        let cancellation = Cancellation::new();
        let answer = Arc::new(Mutex::new(None));
        let (to, theirs) = (Arc::clone(&answer), cancellation.clone());
        let answering = thread::spawn(move || {
            *to.lock().unwrap() = Some(1);
            theirs.wake();
        });
        assert_eq!(cancellation.wait_for(far_away(), || answer.lock().unwrap().take()), Some(1));
        answering.join().unwrap();
    });
}

#[test]
fn whoever_waits_sees_that_the_caller_gave_up_whenever_that_is() {
    loom::model(|| {
        let cancellation = Cancellation::new();
        let theirs = cancellation.clone();
        let giving_up = thread::spawn(move || theirs.cancel());
        assert_eq!(cancellation.wait_for(far_away(), || None::<()>), None);
        assert!(cancellation.is_cancelled());
        giving_up.join().unwrap();
    });
}

#[test]
fn giving_up_ends_what_waits_for_a_part_of_it_and_not_the_other_way_round() {
    loom::model(|| {
        let whole = Cancellation::new();
        let (part, sibling) = (whole.child(), whole.child());
        let theirs = part.clone();
        let waiting = thread::spawn(move || theirs.wait_for(far_away(), || None::<()>));
        sibling.cancel();
        assert!(!part.is_cancelled() && !whole.is_cancelled());
        whole.cancel();
        assert_eq!(waiting.join().unwrap(), None);
        assert!(part.is_cancelled());
    });
}

#[test]
fn an_answer_and_giving_up_at_once_end_the_wait_with_either() {
    // Three threads and two locks: all orders with up to three preemptions are tried in a second, all in minutes.
    let mut model = Builder::new();
    model.preemption_bound = Some(3);
    model.check(|| {
        let cancellation = Cancellation::new();
        let answer = Arc::new(Mutex::new(None));
        let (to, theirs) = (Arc::clone(&answer), cancellation.clone());
        let answering = thread::spawn(move || {
            *to.lock().unwrap() = Some(1);
            theirs.wake();
        });
        let theirs = cancellation.clone();
        let giving_up = thread::spawn(move || theirs.cancel());
        let said = cancellation.wait_for(far_away(), || answer.lock().unwrap().take());
        assert!(said == Some(1) || cancellation.is_cancelled());
        answering.join().unwrap();
        giving_up.join().unwrap();
    });
}
