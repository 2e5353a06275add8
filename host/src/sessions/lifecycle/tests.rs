use serde_json::json;

use super::*;
use crate::error::Code;
use crate::sessions::tests::support::{Kind, Place, for_every_store, header, id};

for_every_store! {
    an_id_is_known_before_anything_is_kept,
    a_session_that_goes_on_is_the_same_session,
    a_fork_begins_with_what_was_kept_and_is_kept_at_once,
    a_fork_of_nothing_is_not_kept_before_there_is_something,
    a_fork_of_a_session_that_is_read_leaves_its_writer_alone,
    a_subagent_is_one_delegation_deeper_and_not_kept_yet,
    a_checkpoint_that_failed_can_be_tried_again,
}

fn fields(text: &str) -> Map<String, Value> {
    json!({ "text": text }).as_object().unwrap().clone()
}

fn new(text: &str) -> NewSession {
    NewSession { id: Some(id(text)), cwd: Some("/srv".to_owned()), agent_preset: Some("default".to_owned()) }
}

fn an_id_is_known_before_anything_is_kept(kind: Kind) {
    let place = Place::new();
    let store = kind.store(&place.root());
    let mut session = Session::create(store.clone(), NewSession::default()).unwrap();
    let uuid = uuid::Uuid::parse_str(session.header().session.id.as_str()).unwrap();
    assert_eq!(uuid.get_version_num(), 7);
    assert_eq!(session.header().session.delegation_depth, Some(0));
    assert_eq!(session.location().cloned(), store.locate(&session.header().session));
    let event = session.append("user/message", fields("hello")).unwrap().clone();
    assert_eq!((event.seq, event.kind.as_str()), (0, "user/message"));
    assert_eq!((session.events(), session.kept()), (&[event][..], 0));
    assert!(!place.root().exists());
    session.checkpoint().unwrap();
    assert_eq!(session.kept(), 1);
    assert_eq!(store.list().unwrap().len(), 1);
}

fn a_session_that_goes_on_is_the_same_session(kind: Kind) {
    let place = Place::new();
    let store = kind.store(&place.root());
    let mut session = Session::create(store.clone(), new("s1")).unwrap();
    session.append("a", fields("1")).unwrap();
    session.checkpoint().unwrap();
    let (header, location) = (session.header().clone(), session.location().cloned());
    assert_eq!(
        Session::resume(store.clone(), &id("s1"), Project::Any).unwrap_err().code(),
        Code::SessionInUse,
        "it is open here"
    );
    drop(session);
    let mut session = Session::resume(store.clone(), &id("s1"), Project::Any).unwrap();
    assert_eq!((session.header(), session.location().cloned(), session.kept()), (&header, location, 1));
    assert_eq!(session.append("b", fields("2")).unwrap().seq, 1);
    session.checkpoint().unwrap();
    assert_eq!(Session::create(store, new("s1")).unwrap_err().code(), Code::SessionExists);
}

fn a_fork_begins_with_what_was_kept_and_is_kept_at_once(kind: Kind) {
    let place = Place::new();
    let store = kind.store(&place.root());
    let mut parent = Session::create(store.clone(), new("s1")).unwrap();
    parent.append("a", fields("1")).unwrap();
    parent.append("b", fields("2")).unwrap();
    parent.checkpoint().unwrap();
    parent.append("open-turn", fields("3")).unwrap();
    let mut fork = parent.fork(None).unwrap();
    let header = fork.header().clone();
    assert_ne!(header.session.id, parent.header().session.id);
    assert_eq!(header.session.parent_session.as_deref(), Some("s1"));
    assert_eq!((header.seed_length, header.session.delegation_depth), (Some(2), Some(0)));
    assert_eq!((header.session.cwd.as_deref(), header.agent_preset.as_deref()), (Some("/srv"), Some("default")));
    assert_eq!(fork.events(), &parent.events()[..2]);
    let loaded = store.load(&header.session.id, Project::Any).unwrap();
    assert_eq!((&loaded.header, loaded.events.as_slice()), (&header, fork.events()));

    // Each goes its own way from there.
    assert_eq!(fork.append("c", fields("4")).unwrap().seq, 2);
    fork.checkpoint().unwrap();
    parent.checkpoint().unwrap();
    assert_eq!(store.load(&id("s1"), Project::Any).unwrap().events, parent.events());
    assert_eq!(store.load(&header.session.id, Project::Any).unwrap().events, fork.events());
    assert_eq!(parent.fork(Some(id("s1"))).unwrap_err().code(), Code::SessionExists);
}

fn a_fork_of_a_session_that_is_read_leaves_its_writer_alone(kind: Kind) {
    let place = Place::new();
    let store = kind.store(&place.root());
    let mut parent = Session::create(store.clone(), new("s1")).unwrap();
    parent.append("a", fields("1")).unwrap();
    parent.checkpoint().unwrap();
    let loaded = store.load(&id("s1"), Project::Any).unwrap();
    let fork = Session::fork_of(store.clone(), &loaded, Some(id("s2"))).unwrap();
    assert_eq!((fork.events(), fork.header().seed_length), (parent.events(), Some(1)));
    parent.append("b", fields("2")).unwrap();
    parent.checkpoint().unwrap();
    assert_eq!(store.list().unwrap().len(), 2);
}

fn a_fork_of_nothing_is_not_kept_before_there_is_something(kind: Kind) {
    let place = Place::new();
    let store = kind.store(&place.root());
    let mut parent = Session::create(store.clone(), new("s1")).unwrap();
    parent.append("open-turn", fields("1")).unwrap();
    let mut fork = parent.fork(Some(id("s2"))).unwrap();
    assert_eq!((fork.events().len(), fork.kept(), fork.header().seed_length), (0, 0, Some(0)));
    assert!(!place.root().exists());
    assert_eq!(store.list().unwrap(), []);
    fork.append("a", fields("2")).unwrap();
    fork.checkpoint().unwrap();
    let loaded = store.load(&id("s2"), Project::Any).unwrap();
    assert_eq!((&loaded.header, loaded.events.as_slice()), (fork.header(), fork.events()));

    // One that was read is kept, though it has no events, and nobody else would keep its fork.
    store.create(&header("s3", None)).unwrap().flush().unwrap();
    let empty = store.load(&id("s3"), Project::Any).unwrap();
    drop(Session::fork_of(store.clone(), &empty, Some(id("s4"))).unwrap());
    assert_eq!(store.load(&id("s4"), Project::Any).unwrap().events, []);
}

fn a_subagent_is_one_delegation_deeper_and_not_kept_yet(kind: Kind) {
    let place = Place::new();
    let store = kind.store(&place.root());
    let parent = Session::create(store.clone(), new("s1")).unwrap();
    let mut child = parent.spawn(Some("explorer".to_owned())).unwrap();
    let header = child.header().clone();
    assert_eq!(header.session.parent_session.as_deref(), Some("s1"));
    assert_eq!((header.session.origin.as_deref(), header.session.delegation_depth), (Some("subagent"), Some(1)));
    assert_eq!((header.seed_length, header.agent_preset.as_deref()), (None, Some("explorer")));
    assert_eq!(header.session.cwd.as_deref(), Some("/srv"));
    let grandchild = child.spawn(None).unwrap();
    assert_eq!(grandchild.header().session.delegation_depth, Some(2));
    assert!(!place.root().exists());
    child.append("a", fields("1")).unwrap();
    child.checkpoint().unwrap();
    assert_eq!(store.list().unwrap().len(), 1);
    let fork = child.fork(None).unwrap();
    assert_eq!(fork.header().session.delegation_depth, Some(1));
}

fn a_checkpoint_that_failed_can_be_tried_again(kind: Kind) {
    let place = Place::new();
    let store = kind.store(&place.root());
    let mut session = Session::create(store.clone(), new("s1")).unwrap();
    session.append("a", fields("1")).unwrap();
    std::fs::write(place.root(), "a file").unwrap();
    assert_eq!(session.checkpoint().unwrap_err().code(), Code::SessionStorage);
    assert_eq!(session.kept(), 0);
    session.append("b", fields("2")).unwrap();
    assert!(session.append("c", json!({ "seq": 1 }).as_object().unwrap().clone()).is_err());
    std::fs::remove_file(place.root()).unwrap();
    session.checkpoint().unwrap();
    assert_eq!(session.kept(), 2);
    assert_eq!(store.load(&id("s1"), Project::Any).unwrap().events, session.events());
}

#[test]
fn what_was_said_is_not_in_debug_output() {
    let place = Place::new();
    let mut session = Session::create(Kind::Plain.store(&place.root()), new("s1")).unwrap();
    session.append("a", fields("secret")).unwrap();
    assert!(!format!("{session:?}").contains("secret"));
}
