//! What is checked before anything changes, and what the list says of it.

use super::support::{Scripted, collect, declaration, registry, said};
use crate::contract::Declaration;
use crate::error::{Code, Error, Stage};
use crate::registry::Registry;

/// The error of registering a declaration, after which the registry is as it was.
fn refusal(registry: &Registry, declaration: Declaration) -> Error {
    let before = registry.list();
    let error = registry.register(Scripted::new(declaration, |_, _| Ok(Vec::new()))).unwrap_err();
    assert_eq!(registry.list(), before);
    error
}

#[test]
fn a_name_that_is_taken_is_told_before_anything_about_the_variables() {
    let registry = registry();
    let _first = registry.register(Scripted::saying("a", &[("DSH_A", "1")])).unwrap();
    let error = refusal(&registry, declaration("a", &["bad"]));
    assert_eq!((error.code(), error.stage(), error.contributor()), (Code::DuplicateName, Stage::Load, Some("a")));
    assert_eq!(refusal(&registry, declaration("A", &["bad"])).code(), Code::InvalidName);
    assert_eq!(refusal(&registry, declaration("host", &[])).code(), Code::InvalidName);
}

#[test]
fn a_key_that_is_taken_names_key_owner_and_challenger() {
    let registry = registry();
    let _owner = registry.register(Scripted::saying("owner", &[("DSH_A", "1")])).unwrap();
    let error = refusal(&registry, declaration("challenger", &["DSH_B", "DSH_A"]));
    assert_eq!(
        (error.code(), error.contributor(), error.key()),
        (Code::KeyConflict, Some("challenger"), Some("DSH_A"))
    );
    insta::assert_snapshot!(error, @"challenger: DSH_A belongs to owner, so challenger cannot declare it: remove one of the two, or let challenger use another key (key-conflict)");
}

#[test]
fn the_rules_of_a_key_come_in_their_order_and_keys_in_that_of_the_declaration() {
    let registry = registry();
    let _owner = registry.register(Scripted::saying("owner", &[("DSH_TAKEN", "1")])).unwrap();
    let of = |declaration: Declaration| {
        let error = refusal(&registry, declaration);
        (error.code(), error.key().unwrap().to_owned())
    };
    let new = || Declaration::new("new");
    // Each key breaks one rule, and the first of them is told although later ones are broken as well.
    assert_eq!(of(new().variable("DSH_x", "")), (Code::InvalidKey, "DSH_x".into()));
    assert_eq!(of(new().variable("DSH_HOST_X", "")), (Code::ReservedKey, "DSH_HOST_X".into()));
    assert_eq!(of(new().variable("DSH_TAKEN", " ")), (Code::MissingDescription, "DSH_TAKEN".into()));
    assert_eq!(of(new().variable("DSH_TAKEN", "a\nb")), (Code::InvalidDescription, "DSH_TAKEN".into()));
    assert_eq!(of(declaration("new", &["DSH_B", "DSH_B", "DSH_TAKEN"])), (Code::DuplicateKey, "DSH_B".into()));
    assert_eq!(of(declaration("new", &["DSH_TAKEN", "DSH_B", "DSH_B"])), (Code::KeyConflict, "DSH_TAKEN".into()));
}

#[test]
fn at_most_128_variables_are_taken() {
    let registry = registry();
    let keys: Vec<String> = (0..129).map(|number| format!("DSH_K{number}")).collect();
    let keys: Vec<&str> = keys.iter().map(String::as_str).collect();
    assert_eq!(refusal(&registry, declaration("a", &keys)).code(), Code::TooManyVariables);
    let all: Vec<(&str, &str)> = keys[..128].iter().map(|key| (*key, "v")).collect();
    let _registration = registry.register(Scripted::saying("a", &all)).unwrap();
    assert_eq!(said(&collect(&registry)).len(), 128);
}

#[test]
fn nobody_gets_a_key_of_the_hosts() {
    for key in ["DSH_HOME", "DSH_SHELL", "DSH_SESSION_ID", "DSH_DEGRADED", "DSH_CALL_ID", "DSH_HOST_NEXT"] {
        assert_eq!(refusal(&registry(), declaration("a", &[key])).code(), Code::ReservedKey, "{key}");
    }
}

#[test]
fn a_contributor_without_variables_is_registered_and_asked() {
    let registry = registry();
    let _registration = registry.register(Scripted::saying("quiet", &[])).unwrap();
    let overlay = collect(&registry);
    assert_eq!(overlay.reports().len(), 1);
    assert_eq!(overlay.len(), 2);
}

#[test]
fn the_list_has_the_hosts_own_and_is_sorted_in_byte_order() {
    let registry = registry();
    let secret = Declaration::new("z").sensitive_variable("DSH_A_", "Kept out of logs.").variable("DSH_A0", "Open.");
    let _z = registry.register(Scripted::new(secret, |_, _| panic!("the list asks nobody"))).unwrap();
    let _b = registry.register(Scripted::of("b", &["DSH_Z", "DSH_A"], |_, _| panic!("nor this one"))).unwrap();
    let listed: Vec<String> = registry
        .list()
        .into_iter()
        .map(|variable| {
            assert!(!variable.description.is_empty());
            format!("{} {} {}", variable.key, variable.contributor, variable.sensitive)
        })
        .collect();
    insta::assert_debug_snapshot!(listed, @r#"
    [
        "DSH_A b false",
        "DSH_A0 z false",
        "DSH_A_ z true",
        "DSH_DEGRADED host false",
        "DSH_HOME host false",
        "DSH_SESSION_ID host false",
        "DSH_SHELL host false",
        "DSH_Z b false",
    ]
    "#);
}

#[test]
fn what_the_host_says_of_its_own_keys_promises_no_more_than_is_true() {
    insta::assert_json_snapshot!(registry().list(), @r#"
    [
      {
        "key": "DSH_DEGRADED",
        "description": "Keys, separated by spaces, that are absent or stand in for the real value because their contributor failed or is missing; the word unknown stands for keys that nobody knows. Absent when all is well.",
        "contributor": "host",
        "sensitive": false
      },
      {
        "key": "DSH_HOME",
        "description": "Absolute path of the home of the host that started this command: its configuration, contributors and sessions. A hint of where, not of whether anything is there.",
        "contributor": "host",
        "sensitive": false
      },
      {
        "key": "DSH_SESSION_ID",
        "description": "Id of the session whose agent owns this command; absent when no agent does. It names the session and is no credential.",
        "contributor": "host",
        "sensitive": false
      },
      {
        "key": "DSH_SHELL",
        "description": "Always 1: this command was started in a managed environment, whose variables were rebuilt for it.",
        "contributor": "host",
        "sensitive": false
      }
    ]
    "#);
}

#[test]
fn a_registry_shows_its_contributors_and_nothing_of_theirs() {
    let registry = registry();
    let _b = registry.register(Scripted::saying("b", &[("DSH_B", "secret")])).unwrap();
    let _a = registry.register(Scripted::saying("a", &[])).unwrap();
    assert_eq!(format!("{registry:?}"), "[a, b]");
}
