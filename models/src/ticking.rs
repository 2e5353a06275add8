//! The thread that ticks, and the calls that need it.

use loom::thread::{self, JoinHandle, yield_now};

use crate::handshake::Handshake;
use crate::sync::Arc;

/// The ticking thread, once it has been idle for so long that it goes to sleep: until somebody needs it.
fn sleeper(handshake: &Arc<Handshake>) -> JoinHandle<()> {
    let handshake = Arc::clone(handshake);
    thread::spawn(move || handshake.sleep())
}

/// The ticking thread for its whole life, idle at every tick.
fn ticker(handshake: &Arc<Handshake>) -> JoinHandle<()> {
    let handshake = Arc::clone(handshake);
    thread::spawn(move || {
        while !handshake.is_stopped() {
            handshake.sleep();
            yield_now();
        }
    })
}

#[test]
fn no_call_begins_while_the_ticker_sleeps_for_ever() {
    loom::model(|| {
        let handshake = Arc::new(Handshake::default());
        let ticker = sleeper(&handshake);
        handshake.begin(ticker.thread());
        assert!(handshake.is_needed());
        // The call goes on for as long as the ticker sleeps.
        ticker.join().unwrap();
        handshake.end();
        assert!(!handshake.is_needed());
    });
}

#[test]
fn of_calls_that_begin_at_once_each_has_a_ticker_that_is_awake() {
    loom::model(|| {
        let handshake = Arc::new(Handshake::default());
        let ticker = sleeper(&handshake);
        let (theirs, thread) = (Arc::clone(&handshake), ticker.thread().clone());
        let other = thread::spawn(move || {
            theirs.begin(&thread);
            theirs.end();
        });
        handshake.begin(ticker.thread());
        ticker.join().unwrap();
        handshake.end();
        other.join().unwrap();
        assert!(!handshake.is_needed());
    });
}

#[test]
fn a_call_that_is_over_before_the_ticker_woke_does_not_keep_it_from_waking_for_the_next() {
    loom::model(|| {
        let handshake = Arc::new(Handshake::default());
        let ticker = sleeper(&handshake);
        handshake.begin(ticker.thread());
        handshake.end();
        handshake.begin(ticker.thread());
        ticker.join().unwrap();
    });
}

#[test]
fn a_ticker_that_was_asleep_once_can_sleep_and_wake_again() {
    loom::model(|| {
        let handshake = Arc::new(Handshake::default());
        let theirs = Arc::clone(&handshake);
        let ticker = thread::spawn(move || {
            theirs.sleep();
            theirs.sleep();
        });
        handshake.begin(ticker.thread());
        ticker.join().unwrap();
        assert!(handshake.is_needed() && !handshake.is_stopped());
    });
}

#[test]
fn stopping_always_ends_the_ticker() {
    loom::model(|| {
        let handshake = Arc::new(Handshake::default());
        let ticker = ticker(&handshake);
        handshake.stop(ticker.thread());
        ticker.join().unwrap();
    });
}

#[test]
fn stopping_ends_the_ticker_after_and_beside_calls_too() {
    loom::model(|| {
        let handshake = Arc::new(Handshake::default());
        let ticker = ticker(&handshake);
        let (theirs, thread) = (Arc::clone(&handshake), ticker.thread().clone());
        let other = thread::spawn(move || {
            theirs.begin(&thread);
            theirs.end();
        });
        handshake.stop(ticker.thread());
        ticker.join().unwrap();
        other.join().unwrap();
        assert!(!handshake.is_needed() && handshake.is_stopped());
    });
}
