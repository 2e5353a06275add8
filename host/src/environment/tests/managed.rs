use super::*;
use crate::contract::Key;
use crate::error::Code;
use proptest::prelude::*;

fn managed<'p>(variables: &[(&'p str, &'p str)], sensitive: &[&'p str]) -> crate::Result<Managed> {
    Managed::new(variables.iter().copied(), sensitive.iter().copied())
}

#[test]
fn what_another_process_says_makes_the_same_environment_as_the_overlay() {
    let overlay = overlay(&[("DSH_A", "a"), ("DSH_B", "b\n")]);
    let said: Vec<_> = overlay.iter().rev().map(|entry| (entry.key.as_str(), entry.value.expose())).collect();
    let inherited = [("PATH", "/bin"), ("DSH_A", "stale"), ("dsh_b", "stale"), ("DSH_OTHER", "stale")];
    let builder = bare(&inherited).ordinary(ordinary(&[("DSH_A", Some("displaced")), ("dsh_b", Some("displaced"))]));
    assert_eq!(builder.clone().with_managed(&managed(&said, &[]).unwrap()), builder.with_overlay(&overlay));
}

#[test]
fn nothing_that_is_no_overlay_is_managed() {
    let code = |variables: &[(&str, &str)], sensitive: &[&str]| managed(variables, sensitive).unwrap_err().code();
    for key in ["PATH", "dsh_a", "DSH_", "DSH_a", "DSH_A=", "", "DSH_1"] {
        assert_eq!(code(&[(key, "v")], &[]), Code::InvalidKey, "{key}");
    }
    assert_eq!(code(&[("DSH_A", "a\0")], &[]), Code::InvalidValue);
    assert_eq!(code(&[("DSH_A", "1"), ("DSH_B", "1"), ("DSH_A", "1")], &[]), Code::RepeatedKey);
    assert_eq!(code(&[("DSH_A", "1")], &["DSH_B"]), Code::UndeclaredKey);
    let large = "x".repeat(128 * 1024);
    assert_eq!(code(&[("DSH_A", &large)], &[]), Code::OverlayTooLarge);
}

#[test]
fn a_value_is_sensitive_where_it_is_said_to_be_and_never_shown() {
    let managed = managed(&[("DSH_B", "hidden"), ("DSH_A", "plain")], &["DSH_B"]).unwrap();
    let sensitive: Vec<_> = managed.iter().map(|(key, value)| (key.as_str(), value.is_sensitive())).collect();
    assert_eq!(sensitive, [("DSH_A", false), ("DSH_B", true)]);
    assert_eq!(managed.get("DSH_B").map(|value| value.expose()), Some("hidden"));
    assert!(managed.get("DSH_C").is_none());
    assert!(!format!("{managed:?}").contains("hidden"));
}

proptest! {
    #[test]
    fn what_is_managed_is_sorted_and_valid(
        variables in prop::collection::vec(("(DSH_)?[A-Ca-c_=\\x00]{0,2}", ".{0,3}"), 0..5),
    ) {
        let pairs: Vec<_> = variables.iter().map(|(key, value)| (key.as_str(), value.as_str())).collect();
        if let Ok(managed) = managed(&pairs, &[]) {
            let keys: Vec<_> = managed.iter().map(|(key, _)| key.as_str()).collect();
            prop_assert!(keys.is_sorted_by(|a, b| a < b) && keys.len() == pairs.len());
            prop_assert!(managed.iter().all(|(key, value)| Key::new(key.as_str()).is_ok() && !value.expose().contains('\0')));
        }
    }
}
