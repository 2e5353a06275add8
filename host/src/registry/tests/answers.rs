//! What comes back is checked: the registry trusts none of it.

use super::support::{Scripted, call, collect, registry, said, shared, value};
use crate::contract::{Binding, Declaration, Key};
use crate::error::{Code, Error, Stage};
use crate::registry::{KeyTerms, Shape, Terms, ValueLimits};

/// The error of a contributor that declares `DSH_A` and `DSH_B` and answers with these bindings.
fn refusal(bindings: &[(&str, &str)]) -> Error {
    let registry = registry();
    let _a = registry.register(Scripted::answering("a", &["DSH_A", "DSH_B"], bindings)).unwrap();
    let error = registry.collect(&call()).unwrap_err();
    assert_eq!((error.stage(), error.contributor()), (Stage::Resolve, Some("a")));
    error
}

#[test]
fn a_key_that_was_not_declared_is_refused() {
    let error = refusal(&[("DSH_A", "1"), ("DSH_C", "2")]);
    assert_eq!((error.code(), error.key()), (Code::UndeclaredKey, Some("DSH_C")));
    for key in ["", "dsh_a", "DSH_A ", "DSH_A\0", "DSH_HOME", "PATH", "LD_PRELOAD"] {
        assert_eq!(refusal(&[(key, "1")]).code(), Code::UndeclaredKey, "{key:?}");
    }
}

#[test]
fn a_key_that_was_not_declared_is_shown_without_what_steers_a_terminal() {
    let error = refusal(&[("\u{1b}[31m\n", "1")]);
    insta::assert_snapshot!(error, @r"a: it returned a key that it did not declare, \u{1b}[31m\u{a}: declare every key that may be returned (undeclared-key)");
    assert_eq!(error.key(), Some("\\u{1b}[31m\\u{a}"));
    let long = refusal(&[(&"K".repeat(100_000), "1")]);
    assert!(long.message().len() < 1200 && long.key().unwrap().len() < 300);
}

#[test]
fn a_key_that_comes_twice_is_refused_also_with_one_value() {
    for second in ["1", "2", "nul \0"] {
        let error = refusal(&[("DSH_A", "1"), ("DSH_B", "1"), ("DSH_A", second)]);
        assert_eq!((error.code(), error.key()), (Code::RepeatedKey, Some("DSH_A")));
        assert!(!error.message().contains("nul"));
    }
    assert_eq!(refusal(&[("DSH_A", "nul \0"), ("DSH_A", "1")]).code(), Code::RepeatedKey);
}

#[test]
fn a_value_with_a_nul_is_refused_and_not_shown() {
    let error = refusal(&[("DSH_A", "fine"), ("DSH_B", "secret\0")]);
    assert_eq!((error.code(), error.key()), (Code::InvalidValue, Some("DSH_B")));
    assert!(error.message().contains("offset 6") && !error.message().contains("secret"), "{error}");
}

#[test]
fn a_value_has_at_most_32_kib() {
    let error = refusal(&[("DSH_A", &"ü".repeat(16 * 1024 + 1))]);
    assert_eq!((error.code(), error.key()), (Code::ValueTooLarge, Some("DSH_A")));
    let registry = registry();
    let _a = registry.register(Scripted::saying("a", &[("DSH_A", &"ü".repeat(16 * 1024))])).unwrap();
    assert_eq!(value(&collect(&registry), "DSH_A").unwrap().len(), 32 * 1024);
}

#[test]
fn an_answer_has_at_most_128_values_whatever_they_are() {
    let many: Vec<(&str, &str)> = vec![("DSH_NONE", "1"); 129];
    assert_eq!(refusal(&many).code(), Code::TooManyValues);
    assert_eq!(refusal(&many[..128]).code(), Code::UndeclaredKey);
}

#[test]
fn the_operator_can_ask_for_less() {
    let under = |values: ValueLimits| {
        let registry = registry();
        let contributor = shared(Scripted::saying("a", &[("DSH_A", "1234"), ("DSH_B", "")]));
        let _a = registry.register_under(contributor, Terms { values, ..Terms::default() }).unwrap();
        registry.collect(&call()).map(|overlay| said(&overlay))
    };
    assert_eq!(under(ValueLimits { count: 1, bytes: 4 }).unwrap_err().code(), Code::TooManyValues);
    assert_eq!(under(ValueLimits { count: 2, bytes: 3 }).unwrap_err().code(), Code::ValueTooLarge);
    assert_eq!(under(ValueLimits { count: 2, bytes: 4 }).unwrap(), ["DSH_A=1234", "DSH_B="]);
}

#[test]
fn a_value_of_another_shape_than_the_operators_is_refused_and_not_shown() {
    let shaped = |value: &str| {
        let registry = registry();
        let shape = Some(Shape::new("^[a-z/.-]{1,10}$").unwrap());
        let terms = KeyTerms { shape, on_failure: None };
        let terms = Terms { keys: [(Key::new("DSH_A").unwrap(), terms)].into(), ..Terms::default() };
        let contributor = shared(Scripted::saying("a", &[("DSH_A", value), ("DSH_B", "Any Thing")]));
        let _a = registry.register_under(contributor, terms).unwrap();
        registry.collect(&call()).map(|overlay| said(&overlay))
    };
    assert_eq!(shaped("main").unwrap(), ["DSH_A=main", "DSH_B=Any Thing"]);
    for value in ["", "Main", "main\n", "a\nb", "$(reboot)", "elevenchars"] {
        let error = shaped(value).unwrap_err();
        assert_eq!((error.code(), error.key()), (Code::ValueRefused, Some("DSH_A")), "{value:?}");
        assert!(error.message().contains("^[a-z/.-]{1,10}$"), "{error}");
        assert!(value.is_empty() || !error.message().contains(value), "{error}");
    }
}

#[test]
fn a_shape_that_is_no_regular_expression_says_why() {
    assert_eq!(Shape::new("(").unwrap_err().to_string(), "found open group without closing ')'");
}

#[test]
fn a_shape_that_repeats_a_class_many_times_is_not_too_large() {
    let shape = Shape::new(r"^[\w./-]{1,255}$").unwrap();
    for value in ["main", "feature/x-1.0", &"x".repeat(255)] {
        assert!(shape.matches(value), "{value}");
    }
    for value in ["", "a b", "main\n", "ümlaut", "$(reboot)", &"x".repeat(256)] {
        assert!(!shape.matches(value), "{value}");
    }
    assert!(Shape::new("^.{1,2}$").unwrap().matches("漢字"), "a dot is a character and not a byte");
}

#[test]
fn values_are_kept_byte_for_byte() {
    let tricky = ["", " ", "\n", "'\"`$(id)\\", "\u{1b}[31m", "\u{202e}漢🦀", "a=b", "\r\n\t\u{7f}\u{feff}"];
    let keys: Vec<String> = (0..tricky.len()).map(|number| format!("DSH_K{number}")).collect();
    let bindings: Vec<(&str, &str)> = keys.iter().map(String::as_str).zip(tricky).collect();
    let registry = registry();
    let _a = registry.register(Scripted::saying("a", &bindings)).unwrap();
    let overlay = collect(&registry);
    for (key, text) in bindings {
        assert_eq!(value(&overlay, key).as_deref(), Some(text));
    }
}

#[test]
fn an_overlay_has_at_most_128_kib_whoever_fills_it() {
    let registry = registry();
    let full = "x".repeat(32 * 1024);
    let _a = registry.register(Scripted::saying("a", &[("DSH_A", &full), ("DSH_B", &full)])).unwrap();
    let b = registry.register(Scripted::saying("b", &[("DSH_C", &full), ("DSH_D", &full)])).unwrap();
    let error = registry.collect(&call()).unwrap_err();
    assert_eq!((error.code(), error.contributor(), error.key()), (Code::OverlayTooLarge, Some("b"), Some("DSH_D")));
    // Keys, values and two bytes each, the host's own home and shell included, fit to the byte.
    let own: usize = ["DSH_HOME", "/h", "DSH_SHELL", "1"].iter().map(|text| text.len()).sum::<usize>() + 2 * 2;
    let room = 128 * 1024 - own - 3 * (32 * 1024) - 4 * ("DSH_A".len() + 2);
    let with = |length: usize| {
        b.replace(Scripted::saying("b", &[("DSH_C", &full), ("DSH_D", &"x".repeat(length))])).unwrap();
        registry.collect(&call()).map(|overlay| overlay.len()).map_err(|error| error.code())
    };
    assert_eq!(with(room), Ok(6));
    assert_eq!(with(room + 1), Err(Code::OverlayTooLarge));
}

#[test]
fn a_binding_and_an_overlay_do_not_show_their_values() {
    let registry = registry();
    let declaration = Declaration::new("a").sensitive_variable("DSH_TOKEN", "A secret.").variable("DSH_OPEN", "Open.");
    let bindings = vec![Binding::new("DSH_TOKEN", "hunter2"), Binding::new("DSH_OPEN", "hunter3")];
    assert!(!format!("{bindings:?}").contains("hunter"));
    let _a = registry.register(Scripted::new(declaration, move |_, _| Ok(bindings.clone()))).unwrap();
    let overlay = collect(&registry);
    assert!(overlay.get("DSH_TOKEN").unwrap().value.is_sensitive());
    assert!(!overlay.get("DSH_OPEN").unwrap().value.is_sensitive());
    assert!(!format!("{overlay:?}").contains("hunter"));
    assert!(!serde_json::to_string(overlay.reports()).unwrap().contains("hunter"));
}
