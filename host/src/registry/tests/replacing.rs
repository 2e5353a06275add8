//! One contributor in another's place, in one step.

use super::support::{Scripted, collect, declaration, registry, said, shared};
use crate::error::Code;
use crate::registry::{OnFailure, Terms};

#[test]
fn it_is_checked_as_if_the_old_one_were_gone() {
    let registry = registry();
    let registration = registry.register(Scripted::saying("a", &[("DSH_A", "1")])).unwrap();
    let _other = registry.register(Scripted::saying("b", &[("DSH_B", "1")])).unwrap();
    registration.replace(Scripted::saying("a", &[("DSH_A", "2"), ("DSH_C", "2")])).unwrap();
    assert_eq!(said(&collect(&registry)), ["DSH_A=2", "DSH_B=1", "DSH_C=2"]);
    assert_eq!(registration.declared().variables().len(), 2);
    // Also with another name, which then has its place in the order.
    registration.replace(Scripted::saying("z", &[("DSH_A", "3")])).unwrap();
    assert_eq!(registration.name().as_str(), "z");
    assert_eq!(format!("{registry:?}"), "[b, z]");
    assert_eq!(said(&collect(&registry)), ["DSH_A=3", "DSH_B=1"]);
}

#[test]
fn one_that_is_refused_leaves_the_old_one() {
    let registry = registry();
    let registration = registry.register(Scripted::saying("a", &[("DSH_A", "1")])).unwrap();
    let _other = registry.register(Scripted::saying("b", &[("DSH_B", "1")])).unwrap();
    let refused = |name: &str, keys: &[&str]| {
        let next = Scripted::new(declaration(name, keys), |_, _| Ok(Vec::new()));
        registration.replace(next).unwrap_err().code()
    };
    assert_eq!(refused("b", &[]), Code::DuplicateName);
    assert_eq!(refused("a", &["DSH_B"]), Code::KeyConflict);
    assert_eq!(refused("a", &["DSH_HOME"]), Code::ReservedKey);
    assert_eq!(said(&collect(&registry)), ["DSH_A=1", "DSH_B=1"]);
    assert_eq!(registration.declared().variables().len(), 1);
}

#[test]
fn what_was_released_cannot_be_replaced() {
    let registry = registry();
    let registration = registry.register(Scripted::saying("a", &[("DSH_A", "1")])).unwrap();
    registration.release();
    let error = registration.replace(Scripted::saying("a", &[("DSH_A", "2")])).unwrap_err();
    assert_eq!(error.code(), Code::ScopeClosed);
    assert!(said(&collect(&registry)).is_empty());
}

#[test]
fn the_terms_of_the_operator_stay() {
    let registry = registry();
    let terms = Terms { on_failure: OnFailure::Omit, ..Terms::default() };
    let registration = registry.register_under(shared(Scripted::saying("a", &[("DSH_A", "1")])), terms).unwrap();
    registration.replace(Scripted::saying("a", &[("DSH_A", "nul \0")])).unwrap();
    assert_eq!(said(&collect(&registry)), ["DSH_DEGRADED=DSH_A"]);
}

#[test]
fn of_many_replacements_at_once_registration_and_registry_have_the_same_last_one() {
    let registry = registry();
    for _ in 0..50 {
        let registration = registry.register(Scripted::saying("a", &[])).unwrap();
        std::thread::scope(|threads| {
            for number in 0..4 {
                let registration = &registration;
                threads.spawn(move || {
                    let key = format!("DSH_K{number}");
                    registration.replace(Scripted::saying("a", &[(&key, "1")])).unwrap();
                });
            }
        });
        let declared = registration.declared();
        assert_eq!(said(&collect(&registry)), [format!("{}=1", declared.variables()[0].key)]);
    }
}
