//! What a contributor says in its own words, and who sees it.

use super::support::{Scripted, call, registry, shared};
use crate::contract::{Declaration, Failure};
use crate::error::{Code, Error};
use crate::registry::Terms;

/// The error of a contributor that fails like this, open or with something to hide.
fn told(sensitive: bool, show_guest_text: bool, failure: Failure) -> Error {
    let declaration = Declaration::new("a").variable("DSH_OPEN", "Open.");
    let declaration = if sensitive { declaration.sensitive_variable("DSH_TOKEN", "A secret.") } else { declaration };
    let registry = registry();
    let contributor = shared(Scripted::new(declaration, move |_, _| Err(failure.clone())));
    let terms = Terms { show_guest_text, ..Terms::default() };
    let _a = registry.register_under(contributor, terms).unwrap();
    registry.collect(&call()).unwrap_err()
}

#[test]
fn it_is_shown_after_the_hosts() {
    let error = told(false, false, Failure::guest("no such ticket"));
    assert_eq!(error.code(), Code::GuestError);
    insta::assert_snapshot!(error, @"a: it could not resolve: no such ticket (guest-error)");
}

#[test]
fn what_steers_a_terminal_is_escaped() {
    let error = told(false, false, Failure::guest("\u{1b}]0;title\u{7}\r\nsecond \u{202e}line\0"));
    insta::assert_snapshot!(error, @r"a: it could not resolve: \u{1b}]0;title\u{7}\u{d}\u{a}second \u{202e}line\u{0} (guest-error)");
}

#[test]
fn it_is_cut_to_one_kib_as_it_is_shown() {
    for text in ["x".repeat(1_000_000), "\u{1b}".repeat(1_000_000), "漢".repeat(1_000_000)] {
        let error = told(false, false, Failure::guest(text));
        let (_, shown) = error.message().split_once(": ").unwrap();
        assert!(shown.len() <= 1024 && shown.ends_with('…'), "{}", shown.len());
    }
}

#[test]
fn it_is_withheld_where_a_secret_might_be_in_it() {
    let error = told(true, false, Failure::guest("bad token hunter2"));
    insta::assert_snapshot!(error, @"a: it could not resolve: [withheld: a handles sensitive values] (guest-error)");
    let error = told(true, false, Failure::new(Code::Trap, "it ran into a trap").with_guest_text("hunter2"));
    insta::assert_snapshot!(error, @"a: it ran into a trap: [withheld: a handles sensitive values] (trap)");
}

#[test]
fn the_operator_can_have_it_all_the_same() {
    let error = told(true, true, Failure::guest("bad token\n"));
    assert!(error.message().ends_with(": bad token\\u{a}"), "{error}");
}

#[test]
fn a_key_that_was_made_up_is_withheld_as_well() {
    let declaration = Declaration::new("a").sensitive_variable("DSH_TOKEN", "A secret.");
    let registry = registry();
    let _a = registry
        .register(Scripted::new(declaration, |_, _| Ok(vec![crate::contract::Binding::new("hunter2", "hunter2")])))
        .unwrap();
    let error = registry.collect(&call()).unwrap_err();
    assert_eq!(error.code(), Code::UndeclaredKey);
    assert!(!format!("{error} {error:?}").contains("hunter2"));
    assert!(!serde_json::to_string(&error).unwrap().contains("hunter2"));
}

#[test]
fn a_failure_does_not_show_it_on_the_way() {
    let failure = Failure::guest("bad token hunter2");
    assert_eq!(format!("{failure:?}"), r#"Failure { code: GuestError, message: "it could not resolve", .. }"#);
}
