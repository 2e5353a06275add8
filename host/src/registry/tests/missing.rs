//! Installed contributors that could not be loaded.

use super::support::{Scripted, call, call_of, collect, registry, said};
use crate::contract::Key;
use crate::error::{Code, Error, Stage};
use crate::registry::Missing;

fn missing(keys: &[&str]) -> Missing {
    Missing {
        file: None,
        label: "gone".into(),
        keys: keys.iter().map(|key| Key::new(key).unwrap()).collect(),
        required: false,
        error: Error::load(Code::Malformed, "the file is damaged: install it again"),
    }
}

#[test]
fn their_keys_are_named_as_degraded() {
    let registry = registry();
    registry.set_missing(vec![missing(&["DSH_Z", "DSH_B"]), missing(&["DSH_A", "DSH_B"])]);
    let overlay = collect(&registry);
    assert_eq!(said(&overlay), ["DSH_DEGRADED=DSH_A DSH_B DSH_Z"]);
    assert_eq!(overlay.degraded().len(), 3);
}

#[test]
fn keys_that_nobody_knows_are_named_as_unknown() {
    let registry = registry();
    registry.set_missing(vec![missing(&[]), missing(&[])]);
    assert_eq!(said(&collect(&registry)), ["DSH_DEGRADED=unknown"]);
    assert!(collect(&registry).degraded().is_empty());
    registry.set_missing(vec![missing(&["DSH_A"]), missing(&[])]);
    assert_eq!(said(&collect(&registry)), ["DSH_DEGRADED=DSH_A unknown"]);
}

#[test]
fn a_key_that_another_owns_by_now_is_not_amiss() {
    let registry = registry();
    registry.set_missing(vec![missing(&["DSH_A", "DSH_B"])]);
    let a = registry.register(Scripted::saying("a", &[("DSH_A", "1")])).unwrap();
    assert_eq!(said(&collect(&registry)), ["DSH_A=1", "DSH_DEGRADED=DSH_B"]);
    drop(a);
    assert_eq!(said(&collect(&registry)), ["DSH_DEGRADED=DSH_A DSH_B"]);
}

#[test]
fn without_one_that_is_required_there_is_no_overlay_and_nobody_is_asked() {
    let registry = registry();
    let _a = registry.register(Scripted::of("a", &[], |_, _| panic!("it was asked"))).unwrap();
    registry.set_missing(vec![missing(&["DSH_B"]), Missing { required: true, ..missing(&["DSH_A"]) }]);
    let error = registry.collect(&call_of("s")).unwrap_err();
    assert_eq!((error.code(), error.stage()), (Code::Malformed, Stage::Load));
    registry.set_missing(Vec::new());
    assert_eq!(registry.collect(&call()).unwrap_err().code(), Code::Trap, "now it was");
}

#[test]
fn they_stay_missing_whatever_else_is_registered() {
    let registry = registry();
    registry.set_missing(vec![missing(&["DSH_A"])]);
    let b = registry.register(Scripted::saying("b", &[("DSH_B", "1")])).unwrap();
    b.replace(Scripted::saying("b", &[("DSH_B", "2")])).unwrap();
    assert_eq!(said(&collect(&registry)), ["DSH_B=2", "DSH_DEGRADED=DSH_A"]);
    b.release();
    assert_eq!(said(&collect(&registry)), ["DSH_DEGRADED=DSH_A"]);
    registry.set_missing(Vec::new());
    assert!(said(&collect(&registry)).is_empty());
}
