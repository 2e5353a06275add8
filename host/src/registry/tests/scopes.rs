//! What comes together goes together.

use std::sync::{Arc, Mutex};

use super::support::{Scripted, collect, registry, said};
use crate::contract::{Binding, Contributor, Deadline, Declaration, Execution, Failure};
use crate::error::Code;

/// Notes its end.
struct Noting {
    name: &'static str,
    ended: Arc<Mutex<Vec<&'static str>>>,
}

impl Contributor for Noting {
    fn declare(&self) -> Declaration {
        Declaration::new(self.name)
    }

    fn resolve(&self, _: &Execution, _: &Deadline) -> Result<Vec<Binding>, Failure> {
        Ok(Vec::new())
    }
}

impl Drop for Noting {
    fn drop(&mut self) {
        self.ended.lock().unwrap().push(self.name);
    }
}

#[test]
fn closing_a_scope_releases_what_came_last_first() {
    let registry = registry();
    let ended = Arc::new(Mutex::new(Vec::new()));
    let scope = registry.scope();
    for name in ["first", "second", "third"] {
        scope.register(Noting { name, ended: Arc::clone(&ended) }).unwrap();
    }
    assert!(ended.lock().unwrap().is_empty());
    scope.close();
    assert_eq!(*ended.lock().unwrap(), ["third", "second", "first"]);
    scope.close();
}

#[test]
fn dropping_a_scope_closes_it() {
    let registry = registry();
    {
        let scope = registry.scope();
        let _handle = scope.register(Scripted::saying("a", &[("DSH_A", "1")])).unwrap();
        assert_eq!(said(&collect(&registry)), ["DSH_A=1"]);
    }
    assert!(said(&collect(&registry)).is_empty());
}

#[test]
fn a_closed_scope_takes_no_more() {
    let registry = registry();
    let scope = registry.scope();
    scope.close();
    let error = scope.register(Scripted::saying("a", &[("DSH_A", "1")])).unwrap_err();
    assert_eq!(error.code(), Code::ScopeClosed);
    assert!(registry.register(Scripted::saying("a", &[("DSH_A", "1")])).is_ok(), "nothing was left behind");
}

#[test]
fn a_scope_that_is_closed_while_a_contributor_declares_keeps_nothing_of_it() {
    struct Closing(Arc<crate::registry::Scope>);
    impl Contributor for Closing {
        fn declare(&self) -> Declaration {
            self.0.close();
            Declaration::new("a")
        }

        fn resolve(&self, _: &Execution, _: &Deadline) -> Result<Vec<Binding>, Failure> {
            Ok(Vec::new())
        }
    }
    let registry = registry();
    let scope = Arc::new(registry.scope());
    assert_eq!(scope.register(Closing(Arc::clone(&scope))).unwrap_err().code(), Code::ScopeClosed);
    assert!(collect(&registry).reports().is_empty());
}

#[test]
fn one_registration_of_a_scope_can_go_before_the_others() {
    let registry = registry();
    let scope = registry.scope();
    let a = scope.register(Scripted::saying("a", &[("DSH_A", "1")])).unwrap();
    let b = scope.register(Scripted::saying("b", &[("DSH_B", "1")])).unwrap();
    a.release();
    drop(b);
    assert_eq!(said(&collect(&registry)), ["DSH_B=1"], "dropping a handle releases nothing: the scope has it too");
    scope.close();
    a.release();
    assert!(said(&collect(&registry)).is_empty());
}

#[test]
fn scopes_of_one_registry_conflict_as_their_contributors_do_and_go_apart() {
    let registry = registry();
    let (one, other) = (registry.scope(), registry.scope());
    one.register(Scripted::saying("a", &[("DSH_A", "1")])).unwrap();
    other.register(Scripted::saying("b", &[("DSH_B", "1")])).unwrap();
    let error = other.register(Scripted::saying("c", &[("DSH_A", "2")])).unwrap_err();
    assert_eq!(error.code(), Code::KeyConflict);
    one.close();
    assert_eq!(said(&collect(&registry)), ["DSH_B=1"]);
}
