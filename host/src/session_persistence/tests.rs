use std::path::{Path, PathBuf};
use std::sync::{Arc, Barrier};

use super::*;
use crate::contract::{SessionHeader, SessionId};
use crate::error::Code;
use crate::home::{Home, Surroundings};
use crate::registry::Registry;
use crate::sessions::{Compression, JsonlPersistence, Persistence, SessionsRoot, SqlitePersistence};

const JSONL: &str = "DSH_SESSION_JSONL";

fn registry() -> Registry {
    Registry::new(&Home::resolve_in(Some("/h".as_ref()), &Surroundings::default()).unwrap())
}

fn jsonl(root: &str) -> Arc<dyn Persistence> {
    Arc::new(JsonlPersistence::new(SessionsRoot::new(Path::new(root)).unwrap(), Compression::None))
}

fn owned() -> Execution {
    Execution::new("bash").owned_by(SessionHeader::new(SessionId::new("s1").unwrap()).with_cwd("/srv"))
}

fn located(registry: &Registry, execution: &Execution) -> Option<String> {
    registry.collect(execution).unwrap().get(JSONL).map(|entry| entry.value.expose().to_owned())
}

/// Answers with one path, whatever the session.
struct Fixed(PathBuf);

impl Persistence for Fixed {
    fn locate(&self, _: &SessionHeader) -> Option<Location> {
        Some(Location { kind: LocationKind::Jsonl, path: self.0.clone() })
    }
}

#[test]
fn a_command_of_an_agent_learns_where_its_session_is() {
    let registry = registry();
    let _registration = registry.register(SessionPersistence::new(ActivePersistence::new(jsonl("/r")))).unwrap();
    assert_eq!(located(&registry, &owned()).as_deref(), Some("/r/--srv--/s1/session.jsonl"));
    assert_eq!(located(&registry, &Execution::new("bash")), None, "no agent owns this one");
}

#[test]
fn each_collection_asks_the_service_that_is_current_then() {
    let registry = registry();
    let active = ActivePersistence::new(jsonl("/one"));
    let _registration = registry.register(SessionPersistence::new(active.clone())).unwrap();
    assert!(located(&registry, &owned()).unwrap().starts_with("/one/"));
    active.replace(Some(jsonl("/two")));
    assert!(located(&registry, &owned()).unwrap().starts_with("/two/"));
    active.replace(Some(Arc::new(SqlitePersistence::new(SessionsRoot::new(Path::new("/r")).unwrap()))));
    assert_eq!(located(&registry, &owned()), None);
    active.replace(None);
    assert_eq!(located(&registry, &owned()), None);
}

#[test]
fn a_collection_under_way_stays_with_the_service_it_asked() {
    struct Slow(Arc<Barrier>);
    impl Persistence for Slow {
        fn locate(&self, _: &SessionHeader) -> Option<Location> {
            self.0.wait();
            self.0.wait();
            Some(Location { kind: LocationKind::Jsonl, path: "/slow".into() })
        }
    }
    let registry = registry();
    let barrier = Arc::new(Barrier::new(2));
    let active = ActivePersistence::new(Arc::new(Slow(barrier.clone())));
    let _registration = registry.register(SessionPersistence::new(active.clone())).unwrap();
    let asking = std::thread::spawn({
        let registry = registry.clone();
        move || located(&registry, &owned())
    });
    barrier.wait();
    active.replace(Some(jsonl("/next")));
    assert!(located(&registry, &owned()).unwrap().starts_with("/next/"));
    barrier.wait();
    assert_eq!(asking.join().unwrap().as_deref(), Some("/slow"));
}

#[test]
fn a_contributor_that_asks_twice_in_one_collection_stays_with_the_service_it_took() {
    /// Asks, has the service replaced, and asks again: what it took, and what is current then.
    struct Twice(ActivePersistence);
    impl Contributor for Twice {
        fn declare(&self) -> Declaration {
            ["FIRST", "SECOND", "CURRENT"].iter().fold(Declaration::new("twice"), |declaration, name| {
                declaration.variable(format!("{PREFIX}{name}"), "Where the log is.")
            })
        }
        fn resolve(&self, execution: &Execution, _: &Deadline) -> Result<Vec<Binding>, Failure> {
            let header = execution.session().unwrap();
            let path = |service: &dyn Persistence| service.locate(header).unwrap().path.to_str().unwrap().to_owned();
            let taken = self.0.current().unwrap();
            let first = path(taken.as_ref());
            self.0.replace(Some(jsonl("/next")));
            Ok(vec![
                Binding::new(format!("{PREFIX}FIRST"), first),
                Binding::new(format!("{PREFIX}SECOND"), path(taken.as_ref())),
                Binding::new(format!("{PREFIX}CURRENT"), path(self.0.current().unwrap().as_ref())),
            ])
        }
    }
    let registry = registry();
    let active = ActivePersistence::new(jsonl("/now"));
    let _built_in = registry.register(SessionPersistence::new(active.clone())).unwrap();
    // After the built-in one in the order of names: that has answered when the service is replaced.
    let _twice = registry.register(Twice(active)).unwrap();
    let overlay = registry.collect(&owned()).unwrap();
    let value = |name: &str| overlay.get(&format!("{PREFIX}{name}")).unwrap().value.expose().to_owned();
    assert_eq!(value("FIRST"), "/now/--srv--/s1/session.jsonl");
    assert_eq!(value("SECOND"), value("FIRST"));
    assert_eq!(value(KEY), value("FIRST"));
    assert_eq!(value("CURRENT"), "/next/--srv--/s1/session.jsonl");
    assert_eq!(located(&registry, &owned()), Some(value("CURRENT")), "the next collection asks the next service");
}

#[cfg(unix)]
#[test]
fn a_path_that_is_not_utf8_is_left_out_rather_than_changed() {
    use std::os::unix::ffi::OsStringExt as _;

    let registry = registry();
    let path = PathBuf::from(std::ffi::OsString::from_vec(b"/r/\xff/session.jsonl".to_vec()));
    let _registration =
        registry.register(SessionPersistence::new(ActivePersistence::new(Arc::new(Fixed(path))))).unwrap();
    assert_eq!(located(&registry, &owned()), None);
}

#[test]
fn it_is_an_ordinary_contributor_and_conflicts_like_one() {
    let registry = registry();
    let new = || SessionPersistence::new(ActivePersistence::default());
    let registration = registry.register(new()).unwrap();
    assert_eq!(registry.register(new()).unwrap_err().code(), Code::DuplicateName);
    let listed = registry.list();
    let variable = listed.iter().find(|variable| variable.key == JSONL).unwrap();
    assert_eq!((variable.contributor.as_str(), variable.sensitive), (NAME, false));
    registration.release();
    assert!(registry.register(new()).is_ok());
}

#[test]
fn the_description_promises_no_more_than_a_location() {
    for word in ["hint", "may not exist yet", "compressed", "Absent when"] {
        assert!(DESCRIPTION.contains(word), "{word}");
    }
}
