//! What happens when more waits than there are threads for. In a process of its own, since the bounds
//! are the process's.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test that cannot go on fails"
)]
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex};
use std::time::{Duration, Instant};

use dsh_env::Code;
use dsh_env::contract::{Binding, Contributor, Deadline, Declaration, Execution, Failure};
use dsh_env::home::{Home, Surroundings};
use dsh_env::registry::{CollectOptions, Registry};

/// The most calls that wait at once, and the most asynchronous collections, as the registry documents.
const MOST: usize = 240;

/// Holds up whoever comes until it is opened.
#[derive(Default)]
struct Gate {
    waiting: AtomicUsize,
    open: Mutex<bool>,
    opened: Condvar,
}

impl Gate {
    fn pass(&self) {
        self.waiting.fetch_add(1, Ordering::AcqRel);
        drop(self.opened.wait_while(self.open.lock().unwrap(), |open| !*open).unwrap());
        self.waiting.fetch_sub(1, Ordering::AcqRel);
    }

    fn open(&self) {
        *self.open.lock().unwrap() = true;
        self.opened.notify_all();
    }

    fn wait_until(&self, reached: impl Fn(usize) -> bool) {
        let started = Instant::now();
        while !reached(self.waiting.load(Ordering::Acquire)) {
            assert!(started.elapsed() < Duration::from_secs(60), "{} wait", self.waiting.load(Ordering::Acquire));
            std::thread::sleep(Duration::from_millis(1));
        }
    }
}

struct Gated {
    gate: Arc<Gate>,
    waits: bool,
}

impl Contributor for Gated {
    fn declare(&self) -> Declaration {
        Declaration::new("gated")
    }

    fn resolve(&self, _: &Execution, _: &Deadline) -> Result<Vec<Binding>, Failure> {
        self.gate.pass();
        Ok(Vec::new())
    }

    fn may_wait(&self) -> bool {
        self.waits
    }
}

fn registry() -> Registry {
    Registry::new(&Home::resolve_in(Some("/h".as_ref()), &Surroundings::default()).unwrap())
}

#[test]
fn more_calls_that_wait_than_there_are_places_are_refused_and_the_places_come_back() {
    let gate = Arc::new(Gate::default());
    let registry = registry();
    let _gated = registry.register(Gated { gate: Arc::clone(&gate), waits: true }).unwrap();
    let at_once = CollectOptions::new().within(Duration::from_millis(1));
    // Nobody waits for these any more, but their threads are still there. On a busy machine some run out
    // of time before they are asked, so there are more of them than places.
    let error = (0..100 * MOST)
        .map(|_| registry.collect_with(&Execution::new("bash"), &at_once).unwrap_err())
        .find(|error| error.code() != Code::OverlayTimeout)
        .unwrap();
    assert_eq!(error.code(), Code::Overloaded);
    assert!(error.message().contains("240") && error.message().contains("try again"), "{error}");
    // What does not wait needs no place.
    let other = self::registry();
    assert!(other.collect(&Execution::new("bash")).is_ok());
    gate.wait_until(|waiting| waiting == MOST);
    gate.open();
    gate.wait_until(|waiting| waiting == 0);
    assert!(registry.collect(&Execution::new("bash")).is_ok());
}

#[tokio::test]
async fn more_asynchronous_collections_than_there_are_places_are_refused_and_the_places_come_back() {
    let gate = Arc::new(Gate::default());
    let registry = registry();
    let _gated = registry.register(Gated { gate: Arc::clone(&gate), waits: false }).unwrap();
    let collect = || registry.collect_async(Execution::new("bash"), CollectOptions::new());
    let collecting: Vec<_> = (0..MOST).map(|_| tokio::spawn(collect())).collect();
    while gate.waiting.load(Ordering::Acquire) < MOST {
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
    let error = collect().await.unwrap_err();
    assert_eq!(error.code(), Code::Overloaded);
    gate.open();
    for collection in collecting {
        assert!(collection.await.unwrap().is_ok());
    }
    assert!(collect().await.is_ok());
}
