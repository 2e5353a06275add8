//! Deadlines, cancellation, panics, and the asynchronous form.

use std::sync::mpsc::{self, Receiver};
use std::time::{Duration, Instant};

use super::support::{Scripted, call, call_of, registry, said, shared};
use crate::contract::{Binding, Cancellation};
use crate::error::{Code, Stage};
use crate::registry::{CollectOptions, OnFailure, Registry, Terms};

/// Long enough that no machine is mistaken for one that waited in vain.
const FAR_TOO_LONG: Duration = Duration::from_secs(4);

/// A contributor that never answers, whatever the deadline says.
fn sleeper(name: &str) -> Scripted {
    Scripted::of(name, &["DSH_NEVER"], |_, _| {
        loop {
            std::thread::park();
        }
    })
    .waiting()
}

/// A contributor that waits as long as its answer is wanted, and then tells why it is not.
fn patient(name: &str) -> (Scripted, Receiver<()>, Receiver<Code>) {
    let (asked, is_asked) = mpsc::channel();
    let (given_up, why) = mpsc::channel();
    let contributor = Scripted::of(name, &["DSH_NEVER"], move |_, deadline| {
        let _ = asked.send(());
        loop {
            if let Err(failure) = deadline.check() {
                let _ = given_up.send(failure.code());
                return Err(failure);
            }
            std::thread::sleep(Duration::from_millis(1));
        }
    })
    .waiting();
    (contributor, is_asked, why)
}

fn within(milliseconds: u64) -> CollectOptions {
    CollectOptions::new().within(Duration::from_millis(milliseconds))
}

#[test]
fn a_deadline_ends_the_collection_though_the_contributor_sleeps_for_ever() {
    let registry = registry();
    let omit = Terms { on_failure: OnFailure::Omit, ..Terms::default() };
    let _a = registry.register_under(shared(sleeper("a")), omit).unwrap();
    let started = Instant::now();
    let error = registry.collect_with(&call(), &within(50)).unwrap_err();
    assert_eq!((error.code(), error.stage(), error.contributor()), (Code::OverlayTimeout, Stage::Host, Some("a")));
    assert!(started.elapsed() >= Duration::from_millis(50));
    assert!(started.elapsed() < FAR_TOO_LONG);
}

#[test]
fn a_deadline_is_for_the_whole_overlay_and_is_told_to_each_contributor() {
    let registry = registry();
    let (left, is_left) = mpsc::channel();
    let registrations: Vec<_> = ["a", "b", "c"]
        .into_iter()
        .map(|name| {
            let left = left.clone();
            let slow = Scripted::of(name, &[], move |_, deadline| {
                left.send(deadline.remaining()).unwrap();
                assert!(deadline.at() > Instant::now());
                std::thread::sleep(Duration::from_millis(30));
                Ok(Vec::new())
            });
            registry.register(slow).unwrap()
        })
        .collect();
    let error = registry.collect_with(&call(), &within(50)).unwrap_err();
    assert_eq!((error.code(), error.contributor()), (Code::OverlayTimeout, Some("c")));
    let left: Vec<Duration> = is_left.try_iter().collect();
    assert!(left.len() == 2 && left[0] > left[1] && left[0] <= Duration::from_millis(50), "{left:?}");
    assert_eq!(registrations.len(), 3);
}

#[test]
fn an_answer_that_comes_after_the_deadline_is_of_no_use_even_if_it_is_the_last() {
    let registry = registry();
    let late = Scripted::of("late", &["DSH_A"], |_, deadline| {
        std::thread::sleep(deadline.remaining() + Duration::from_millis(1));
        Ok(vec![Binding::new("DSH_A", "1")])
    });
    let _late = registry.register(late).unwrap();
    assert_eq!(registry.collect_with(&call(), &within(20)).unwrap_err().code(), Code::OverlayTimeout);
}

#[test]
fn nobody_can_ask_for_more_than_five_seconds() {
    let registry = registry();
    let _a = registry
        .register(Scripted::of("a", &[], |_, deadline| {
            assert!(deadline.remaining() <= Duration::from_secs(5));
            Ok(Vec::new())
        }))
        .unwrap();
    registry.collect_with(&call(), &CollectOptions::new().within(Duration::MAX)).unwrap();
}

#[test]
fn a_collection_is_cancelled_from_another_thread() {
    let registry = registry();
    let (contributor, is_asked, why) = patient("a");
    let _a = registry.register(contributor).unwrap();
    let cancellation = Cancellation::new();
    let canceller = std::thread::spawn({
        let cancellation = cancellation.clone();
        move || {
            is_asked.recv().unwrap();
            cancellation.cancel();
        }
    });
    let started = Instant::now();
    let error = registry.collect_with(&call(), &CollectOptions::new().cancelled_by(&cancellation)).unwrap_err();
    assert_eq!((error.code(), error.stage()), (Code::Cancelled, Stage::Host));
    assert!(started.elapsed() < FAR_TOO_LONG);
    assert_eq!(why.recv().unwrap(), Code::Cancelled);
    canceller.join().unwrap();
}

#[test]
fn one_cancellation_ends_all_its_collections_and_a_child_its_own() {
    let parent = Cancellation::new();
    let (one, other) = (parent.child(), parent.child());
    one.cancel();
    assert!(one.is_cancelled() && one.child().is_cancelled());
    assert!(!other.is_cancelled() && !parent.is_cancelled());
    parent.cancel();
    assert!(other.is_cancelled());
}

#[test]
fn cancelling_one_child_leaves_its_sibling_waiting() {
    let registry = registry();
    let (contributor, is_asked, _why) = patient("a");
    let _a = registry.register(contributor).unwrap();
    let parent = Cancellation::new();
    let collecting: Vec<_> = [parent.child(), parent.child()]
        .into_iter()
        .map(|child| {
            let (registry, options) = (registry.clone(), CollectOptions::new().cancelled_by(&child));
            (child, std::thread::spawn(move || registry.collect_with(&call(), &options).unwrap_err().code()))
        })
        .collect();
    for _ in &collecting {
        is_asked.recv().unwrap();
    }
    let [(first, one), (_, other)] = <[_; 2]>::try_from(collecting).unwrap();
    first.cancel();
    assert_eq!(one.join().unwrap(), Code::Cancelled);
    std::thread::sleep(Duration::from_millis(20));
    assert!(!other.is_finished());
    parent.cancel();
    assert_eq!(other.join().unwrap(), Code::Cancelled);
}

#[test]
fn a_contributor_that_panics_is_a_trap_wherever_it_is_asked() {
    for waits in [false, true] {
        let registry = registry();
        let panicking = Scripted::of("a", &["DSH_A"], |_, _| panic!("hunter2"));
        let a = registry.register(if waits { panicking.waiting() } else { panicking }).unwrap();
        let error = registry.collect(&call()).unwrap_err();
        assert_eq!((error.code(), error.stage(), error.contributor()), (Code::Trap, Stage::Resolve, Some("a")));
        assert!(!error.to_string().contains("hunter2"));
        a.replace(Scripted::saying("a", &[("DSH_A", "well")])).unwrap();
        assert_eq!(said(&registry.collect(&call()).unwrap()), ["DSH_A=well"]);
    }
}

fn quick() -> Registry {
    let registry = registry();
    for (name, key) in [("a", "DSH_A"), ("b", "DSH_B")] {
        let contributor = Scripted::of(name, &[key], move |execution, _| {
            Ok(vec![Binding::new(key, execution.session().map_or("", |session| session.id.as_str()))])
        });
        let contributor = if name == "a" { contributor.waiting() } else { contributor };
        // Kept for the rest of the test.
        std::mem::forget(registry.register(contributor).unwrap());
    }
    registry
}

#[tokio::test]
async fn the_asynchronous_form_works_on_a_current_thread_runtime() {
    let overlay = quick().collect_async(call_of("s"), CollectOptions::new()).await.unwrap();
    assert_eq!(said(&overlay), ["DSH_A=s", "DSH_B=s", "DSH_SESSION_ID=s"]);
}

#[tokio::test]
async fn the_blocking_form_works_inside_a_current_thread_runtime() {
    assert_eq!(said(&quick().collect(&call_of("s")).unwrap()), ["DSH_A=s", "DSH_B=s", "DSH_SESSION_ID=s"]);
}

#[test]
fn the_asynchronous_form_needs_no_runtime_at_all() {
    let mut future = std::pin::pin!(quick().collect_async(call_of("s"), CollectOptions::new()));
    let (woken, is_woken) = mpsc::channel();
    struct Wake(std::sync::Mutex<mpsc::Sender<()>>);
    impl std::task::Wake for Wake {
        fn wake(self: std::sync::Arc<Self>) {
            let _ = self.0.lock().unwrap().send(());
        }
    }
    let waker = std::sync::Arc::new(Wake(std::sync::Mutex::new(woken))).into();
    let mut context = std::task::Context::from_waker(&waker);
    loop {
        if let std::task::Poll::Ready(overlay) = future.as_mut().poll(&mut context) {
            assert_eq!(said(&overlay.unwrap()).len(), 3);
            return;
        }
        is_woken.recv_timeout(FAR_TOO_LONG).unwrap();
    }
}

#[tokio::test]
async fn the_asynchronous_form_lets_others_run_while_a_contributor_waits() {
    let registry = registry();
    let (contributor, is_asked, why) = patient("a");
    let _a = registry.register(contributor).unwrap();
    let cancellation = Cancellation::new();
    let collecting = tokio::spawn(registry.collect_async(call(), CollectOptions::new().cancelled_by(&cancellation)));
    let beside = tokio::spawn(async move {
        while is_asked.try_recv().is_err() {
            tokio::task::yield_now().await;
        }
        cancellation.cancel();
    });
    beside.await.unwrap();
    assert_eq!(collecting.await.unwrap().unwrap_err().code(), Code::Cancelled);
    assert_eq!(why.recv_timeout(FAR_TOO_LONG).unwrap(), Code::Cancelled);
}

#[tokio::test]
async fn the_asynchronous_form_keeps_its_deadline() {
    let registry = registry();
    let _a = registry.register(sleeper("a")).unwrap();
    let started = Instant::now();
    let error = registry.collect_async(call(), within(50)).await.unwrap_err();
    assert_eq!(error.code(), Code::OverlayTimeout);
    assert!(started.elapsed() < FAR_TOO_LONG);
}

#[tokio::test]
async fn dropping_the_future_cancels_its_collection_and_no_other() {
    let registry = registry();
    let (contributor, _is_asked, why) = patient("a");
    let _a = registry.register(contributor).unwrap();
    let cancellation = Cancellation::new();
    let collecting = registry.collect_async(call(), CollectOptions::new().cancelled_by(&cancellation));
    assert!(tokio::time::timeout(Duration::from_millis(50), collecting).await.is_err());
    assert_eq!(why.recv_timeout(FAR_TOO_LONG).unwrap(), Code::Cancelled);
    assert!(!cancellation.is_cancelled());
}

#[tokio::test]
async fn a_future_that_was_never_polled_asks_nobody() {
    let registry = registry();
    let _a = registry.register(Scripted::of("a", &[], |_, _| panic!("it was asked"))).unwrap();
    drop(registry.collect_async(call(), CollectOptions::new()));
    tokio::time::sleep(Duration::from_millis(10)).await;
}
