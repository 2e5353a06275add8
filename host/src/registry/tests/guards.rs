//! A registration is a guard.

use std::sync::{Arc, Mutex};

use super::support::{Scripted, collect, registry, said};
use crate::contract::{Binding, Contributor, Deadline, Declaration, Execution, Failure};
use crate::error::Code;
use crate::registry::Registration;

#[test]
fn dropping_it_frees_the_name_and_the_keys() {
    let registry = registry();
    let registration = registry.register(Scripted::saying("a", &[("DSH_A", "1")])).unwrap();
    assert_eq!(said(&collect(&registry)), ["DSH_A=1"]);
    drop(registration);
    assert!(said(&collect(&registry)).is_empty());
    assert!(registry.list().iter().all(|variable| variable.contributor == "host"));
    let _same_name = registry.register(Scripted::saying("a", &[])).unwrap();
    let _same_key = registry.register(Scripted::saying("b", &[("DSH_A", "2")])).unwrap();
    assert_eq!(said(&collect(&registry)), ["DSH_A=2"]);
}

#[test]
fn releasing_twice_harms_nobody_who_came_after() {
    let registry = registry();
    let first = registry.register(Scripted::saying("a", &[("DSH_A", "1")])).unwrap();
    first.release();
    let _second = registry.register(Scripted::saying("a", &[("DSH_A", "2")])).unwrap();
    first.release();
    drop(first);
    assert_eq!(said(&collect(&registry)), ["DSH_A=2"]);
}

#[test]
fn it_outlives_the_registry_without_harm() {
    let registration = registry().register(Scripted::saying("a", &[("DSH_A", "1")])).unwrap();
    registration.release();
    assert_eq!(registration.name().as_str(), "a");
    assert_eq!(registration.replace(Scripted::saying("a", &[])).unwrap_err().code(), Code::ScopeClosed);
}

#[test]
fn it_says_what_was_declared() {
    let registry = registry();
    let registration = registry.register(Scripted::saying("a", &[("DSH_A", "secret")])).unwrap();
    assert_eq!(registration.declared().variables()[0].key.as_str(), "DSH_A");
    assert_eq!(format!("{registration:?}"), "Registration(a)");
}

#[test]
fn a_clone_of_a_registry_is_the_same_registry() {
    let registry = registry();
    let _registration = registry.clone().register(Scripted::saying("a", &[("DSH_A", "1")])).unwrap();
    assert_eq!(said(&collect(&registry)), ["DSH_A=1"]);
}

/// A contributor that holds another's registration, and so releases it when it is dropped itself.
struct Owner {
    name: &'static str,
    owned: Mutex<Option<Registration>>,
}

impl Contributor for Owner {
    fn declare(&self) -> Declaration {
        Declaration::new(self.name)
    }

    fn resolve(&self, _: &Execution, _: &Deadline) -> Result<Vec<Binding>, Failure> {
        Ok(Vec::new())
    }
}

impl Drop for Owner {
    fn drop(&mut self) {
        drop(self.owned.lock().unwrap().take());
    }
}

#[test]
fn a_contributor_may_release_another_from_its_destructor() {
    let registry = registry();
    let owner = |name: &'static str, key: &'static str| {
        let owned = registry.register(Scripted::saying(&key.to_lowercase(), &[(key, "1")])).unwrap();
        Owner { name, owned: Mutex::new(Some(owned)) }
    };
    // Released, replaced, and refused: each ends the contributor in another place.
    let first = registry.register(owner("first", "DSH_FIRST")).unwrap();
    let second = registry.register(owner("second", "DSH_SECOND")).unwrap();
    assert_eq!(registry.register(owner("second", "DSH_THIRD")).unwrap_err().code(), Code::DuplicateName);
    assert_eq!(second.replace(owner("first", "DSH_FOURTH")).unwrap_err().code(), Code::DuplicateName);
    assert_eq!(said(&collect(&registry)), ["DSH_FIRST=1", "DSH_SECOND=1"]);
    second.replace(Scripted::saying("second", &[])).unwrap();
    assert_eq!(said(&collect(&registry)), ["DSH_FIRST=1"]);
    drop(first);
    assert!(said(&collect(&registry)).is_empty());
}

#[test]
fn a_contributor_may_register_another_while_it_declares() {
    struct Nesting(crate::registry::Registry, Arc<Mutex<Vec<Registration>>>);
    impl Contributor for Nesting {
        fn declare(&self) -> Declaration {
            let inner = self.0.register(Scripted::saying("inner", &[("DSH_INNER", "1")])).unwrap();
            self.1.lock().unwrap().push(inner);
            Declaration::new("outer")
        }

        fn resolve(&self, _: &Execution, _: &Deadline) -> Result<Vec<Binding>, Failure> {
            Ok(Vec::new())
        }
    }
    let registry = registry();
    let kept = Arc::default();
    let _outer = registry.register(Nesting(registry.clone(), Arc::clone(&kept))).unwrap();
    assert_eq!(said(&collect(&registry)), ["DSH_INNER=1"]);
}
