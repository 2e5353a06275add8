//! Who is asked, in which order, and of which moment.

use std::sync::mpsc;
use std::sync::{Arc, Mutex};

use super::support::{Scripted, call, call_of, collect, registry, said, shared, value};
use crate::contract::{Binding, Execution};
use crate::error::Code;
use crate::registry::Terms;

#[test]
fn every_overlay_has_the_home_and_the_mark_of_a_managed_shell() {
    let overlay = collect(&registry());
    let all: Vec<_> = overlay.iter().map(|entry| (entry.key.as_str(), entry.value.expose(), entry.owner())).collect();
    assert_eq!(all, [("DSH_HOME", "/h", "host"), ("DSH_SHELL", "1", "host")]);
    assert!(!overlay.is_empty());
}

#[test]
fn the_session_is_told_where_an_agent_owns_the_call() {
    let registry = registry();
    assert_eq!(value(&registry.collect(&call()).unwrap(), "DSH_SESSION_ID"), None);
    for id in ["s1", " ", "a/b\n漢", "DSH_HOME"] {
        assert_eq!(value(&registry.collect(&call_of(id)).unwrap(), "DSH_SESSION_ID").as_deref(), Some(id));
    }
}

#[test]
fn a_session_that_no_variable_can_hold_is_an_error_and_not_another_session() {
    let error = registry().collect(&call_of("a\0b")).unwrap_err();
    assert_eq!((error.code(), error.key()), (Code::InvalidExecution, Some("DSH_SESSION_ID")));
}

#[test]
fn an_execution_that_is_not_valid_reaches_nobody() {
    let registry = registry();
    let _a = registry.register(Scripted::of("a", &[], |_, _| panic!("it was asked"))).unwrap();
    let relative = Execution { workdir: Some("relative".into()), ..call() };
    assert_eq!(registry.collect(&relative).unwrap_err().code(), Code::InvalidExecution);
}

#[test]
fn contributors_are_asked_in_byte_order_of_their_names_whoever_came_first() {
    let registry = registry();
    let asked = Arc::new(Mutex::new(Vec::new()));
    let registrations: Vec<_> = ["b", "a.b", "a", "0", "a-b", "a_"]
        .into_iter()
        .map(|name| {
            let asked = Arc::clone(&asked);
            let noting = Scripted::of(name, &[], move |_, _| {
                asked.lock().unwrap().push(name);
                Ok(Vec::new())
            });
            registry.register(if name < "a" { noting.waiting() } else { noting }).unwrap()
        })
        .collect();
    let overlay = collect(&registry);
    assert_eq!(*asked.lock().unwrap(), ["0", "a", "a-b", "a.b", "a_", "b"]);
    let reported: Vec<_> = overlay.reports().iter().map(|report| report.name.as_str()).collect();
    assert_eq!(reported, *asked.lock().unwrap());
    assert_eq!(registrations.len(), 6);
}

#[test]
fn every_contributor_sees_the_execution_as_it_was_given() {
    let registry = registry();
    let execution = Execution { extensions: vec![("com.acme.ticket".into(), "T-1".into())], ..call_of("s") };
    let (here, elsewhere) = (execution.clone(), execution.clone());
    let _here = registry
        .register(Scripted::of("here", &["DSH_HERE"], move |seen, _| {
            Ok(vec![Binding::new("DSH_HERE", (*seen == here).to_string())])
        }))
        .unwrap();
    let _elsewhere = registry
        .register(
            Scripted::of("elsewhere", &["DSH_ELSEWHERE"], move |seen, _| {
                Ok(vec![Binding::new("DSH_ELSEWHERE", (*seen == elsewhere).to_string())])
            })
            .waiting(),
        )
        .unwrap();
    let overlay = registry.collect(&execution).unwrap();
    assert_eq!(said(&overlay), ["DSH_ELSEWHERE=true", "DSH_HERE=true", "DSH_SESSION_ID=s"]);
}

#[test]
fn an_overlay_is_sorted_by_key_and_knows_whose_each_value_is() {
    let registry = registry();
    let _b = registry.register(Scripted::saying("b", &[("DSH_Z", "1"), ("DSH_A_", "2")])).unwrap();
    let _a = registry.register(Scripted::saying("a", &[("DSH_A0", "3"), ("DSH_SHELLS", "4")])).unwrap();
    let overlay = collect(&registry);
    let keys: Vec<_> = overlay.into_iter().map(|entry| format!("{} {}", entry.key, entry.owner())).collect();
    assert_eq!(keys, ["DSH_A0 a", "DSH_A_ b", "DSH_HOME host", "DSH_SHELL host", "DSH_SHELLS a", "DSH_Z b"]);
    assert_eq!(overlay.get("DSH_Z").unwrap().contributor.as_ref().unwrap().as_str(), "b");
    assert!(overlay.get("DSH_NONE").is_none());
    assert!(overlay.degraded().is_empty());
}

#[test]
fn what_a_contributor_leaves_out_is_absent() {
    let registry = registry();
    let _a = registry.register(Scripted::answering("a", &["DSH_A", "DSH_B"], &[("DSH_B", "")])).unwrap();
    assert_eq!(said(&collect(&registry)), ["DSH_B="]);
}

/// A contributor that says when it is asked, and answers when it is told to.
fn held(name: &str, key: &'static str) -> (Scripted, mpsc::Receiver<()>, mpsc::Sender<()>) {
    let (asked, is_asked) = mpsc::channel();
    let (answer, may_answer) = mpsc::channel::<()>();
    let may_answer = Mutex::new(may_answer);
    let contributor = Scripted::of(name, &[key], move |_, _| {
        asked.send(()).unwrap();
        may_answer.lock().unwrap().recv().unwrap();
        Ok(vec![Binding::new(key, "old")])
    });
    (contributor, is_asked, answer)
}

#[test]
fn a_collection_goes_on_with_the_contributors_it_began_with() {
    let registry = registry();
    let (first, is_asked, answer) = held("first", "DSH_FIRST");
    let first = registry.register(first).unwrap();
    let second = registry.register(Scripted::saying("second", &[("DSH_SECOND", "old")])).unwrap();
    let third = registry.register(Scripted::saying("third", &[("DSH_THIRD", "old")])).unwrap();
    let collecting = std::thread::spawn({
        let registry = registry.clone();
        move || said(&collect(&registry))
    });
    is_asked.recv().unwrap();
    // While the first is being asked, nothing that happens to any of them changes that overlay.
    second.replace(Scripted::saying("second", &[("DSH_SECOND", "new"), ("DSH_MORE", "new")])).unwrap();
    drop(third);
    drop(first);
    let _fourth = registry.register(Scripted::saying("fourth", &[("DSH_FOURTH", "new")])).unwrap();
    let _again = registry.register(Scripted::saying("z", &[("DSH_THIRD", "new")])).unwrap();
    assert_eq!(said(&collect(&registry)), ["DSH_FOURTH=new", "DSH_MORE=new", "DSH_SECOND=new", "DSH_THIRD=new"]);
    answer.send(()).unwrap();
    assert_eq!(collecting.join().unwrap(), ["DSH_FIRST=old", "DSH_SECOND=old", "DSH_THIRD=old"]);
}

#[test]
fn a_contributor_that_is_held_up_holds_up_nobody_else() {
    let registry = registry();
    let (held, is_asked, answer) = held("held", "DSH_HELD");
    let registration = registry.register_under(shared(held.waiting()), Terms::default()).unwrap();
    let collecting = std::thread::spawn({
        let registry = registry.clone();
        move || said(&collect(&registry))
    });
    is_asked.recv().unwrap();
    drop(registration);
    let _other = registry.register(Scripted::saying("other", &[("DSH_OTHER", "1")])).unwrap();
    assert_eq!(said(&collect(&registry)), ["DSH_OTHER=1"]);
    assert_eq!(registry.list().len(), 5);
    answer.send(()).unwrap();
    assert_eq!(collecting.join().unwrap(), ["DSH_HELD=old"]);
}

#[test]
fn a_contributor_may_collect_for_another_call_of_its_own() {
    let registry = registry();
    let inner = registry.clone();
    let _a = registry
        .register(
            Scripted::of("a", &["DSH_CHILD"], move |execution, _| {
                // The child's call is without an agent, so that this ends.
                if execution.session().is_none() {
                    return Ok(Vec::new());
                }
                let overlay = inner.collect(&call()).unwrap();
                Ok(vec![Binding::new("DSH_CHILD", said(&overlay).join(","))])
            })
            .waiting(),
        )
        .unwrap();
    assert_eq!(said(&registry.collect(&call_of("s")).unwrap()), ["DSH_CHILD=", "DSH_SESSION_ID=s"]);
}
