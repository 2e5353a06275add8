//! Many threads at once.

use std::sync::atomic::{AtomicBool, Ordering};

use super::support::{Scripted, call, call_of, collect, registry, said, value};
use crate::contract::{Binding, Execution, SessionHeader, SessionId};

/// How many overlays each thread makes: enough to meet every step of the others many times over.
const ROUNDS: usize = 300;

#[test]
fn eight_threads_collect_while_registrations_come_and_go_and_every_overlay_is_a_legal_one() {
    // One contributor that changes both its values in one step, one that comes and goes with both, and
    // one that stays. Half of a step is never seen.
    const LEGAL: [&[&str]; 4] = [
        &["DSH_A=1", "DSH_B=1", "DSH_STAYS=1"],
        &["DSH_A=2", "DSH_B=2", "DSH_STAYS=1"],
        &["DSH_A=1", "DSH_B=1", "DSH_C=1", "DSH_D=1", "DSH_STAYS=1"],
        &["DSH_A=2", "DSH_B=2", "DSH_C=1", "DSH_D=1", "DSH_STAYS=1"],
    ];
    let pair = |value: &str| Scripted::saying("pair", &[("DSH_A", value), ("DSH_B", value)]);
    let registry = registry();
    let changing = registry.register(pair("1")).unwrap();
    let _stays = registry.register(Scripted::saying("stays", &[("DSH_STAYS", "1")])).unwrap();
    let over = AtomicBool::new(false);
    std::thread::scope(|threads| {
        let collecting: Vec<_> = (0..8)
            .map(|_| {
                threads.spawn(|| {
                    for _ in 0..ROUNDS {
                        let said = said(&collect(&registry));
                        assert!(LEGAL.iter().any(|legal| *legal == said), "{said:?}");
                        let listed = registry.list().len();
                        assert!([7, 9].contains(&listed), "{listed}");
                    }
                })
            })
            .collect();
        threads.spawn(|| {
            while !over.load(Ordering::Relaxed) {
                changing.replace(pair("2")).unwrap();
                changing.replace(pair("1")).unwrap();
            }
        });
        threads.spawn(|| {
            while !over.load(Ordering::Relaxed) {
                let scope = registry.scope();
                scope.register(Scripted::saying("guest", &[("DSH_C", "1"), ("DSH_D", "1")])).unwrap();
            }
        });
        let ended: Vec<_> = collecting.into_iter().map(std::thread::ScopedJoinHandle::join).collect();
        over.store(true, Ordering::Relaxed);
        assert!(ended.iter().all(Result::is_ok));
    });
}

#[test]
fn one_key_that_many_want_has_one_owner_at_a_time() {
    let registry = registry();
    std::thread::scope(|threads| {
        for number in 0..8 {
            let registry = &registry;
            threads.spawn(move || {
                for _ in 0..ROUNDS {
                    let name = format!("c{number}");
                    if let Ok(registration) = registry.register(Scripted::saying(&name, &[("DSH_ONE", &name)])) {
                        assert_eq!(said(&collect(registry)), [format!("DSH_ONE={name}")]);
                        drop(registration);
                    }
                }
            });
        }
    });
    assert!(said(&collect(&registry)).is_empty());
}

#[test]
fn parents_and_children_at_once_never_see_each_others_ids() {
    let registry = registry();
    let echo = |name: &str, key: &'static str| {
        Scripted::of(name, &[key], move |execution, _| {
            let session = execution.session().unwrap();
            let parent = session.parent_session.as_deref().unwrap_or("none");
            std::thread::yield_now();
            Ok(vec![Binding::new(key, format!("{} of {parent} in {}", session.id, execution.call_id))])
        })
    };
    let _here = registry.register(echo("here", "DSH_HERE")).unwrap();
    let _elsewhere = registry.register(echo("elsewhere", "DSH_ELSEWHERE").waiting()).unwrap();
    let check = |execution: &Execution| {
        let session = execution.session().unwrap();
        let parent = session.parent_session.as_deref().unwrap_or("none");
        let own = format!("{} of {parent} in {}", session.id, execution.call_id);
        let overlay = registry.collect(execution).unwrap();
        assert_eq!(value(&overlay, "DSH_SESSION_ID").as_deref(), Some(session.id.as_str()));
        assert_eq!(value(&overlay, "DSH_HERE").as_ref(), Some(&own));
        assert_eq!(value(&overlay, "DSH_ELSEWHERE").as_ref(), Some(&own));
    };
    std::thread::scope(|threads| {
        for number in 0..8 {
            let check = &check;
            threads.spawn(move || {
                let parent = call_of(&format!("parent-{number}"));
                let header = SessionHeader {
                    parent_session: Some(format!("parent-{number}")),
                    ..SessionHeader::new(SessionId::new(format!("child-{number}")).unwrap())
                };
                let child = Execution { root_call_id: parent.call_id.clone(), ..call().owned_by(header) };
                for _ in 0..ROUNDS / 4 {
                    std::thread::scope(|threads| {
                        threads.spawn(|| check(&child));
                        check(&parent);
                    });
                }
            });
        }
    });
}
