use super::*;
use crate::contract::is_managed_name;
use crate::error::Code;
use proptest::prelude::*;

fn names(environment: &ChildEnvironment) -> Vec<&str> {
    environment.iter().map(|(name, _)| name.to_str().unwrap()).collect()
}

#[test]
fn managed_names_are_not_inherited_in_any_case() {
    let environment =
        bare(&[("DSH_OLD", "1"), ("A", "a"), ("dsh_stale", "2"), ("Dsh_X", "3"), ("DSH_", "4"), ("XDSH_B", "b")])
            .without_overlay();
    assert_eq!(environment.into_iter().collect::<Vec<_>>(), pairs(&[("A", "a"), ("XDSH_B", "b")]));
}

#[test]
fn credentials_are_inherited_only_when_they_are_not_scrubbed() {
    let inherited = [("API_KEY", "k"), ("my_password", "p"), ("A", "a")];
    assert_eq!(names(&bare(&inherited).without_overlay()), ["API_KEY", "my_password", "A"]);
    assert_eq!(names(&bare(&inherited).scrub_credentials(true).without_overlay()), ["A"]);
}

#[test]
fn the_request_may_restore_a_credential() {
    let environment = bare(&[("API_KEY", "inherited")])
        .scrub_credentials(true)
        .ordinary(ordinary(&[("API_KEY", Some("given"))]))
        .without_overlay();
    assert_eq!(environment.get("API_KEY"), Some("given".as_ref()));
}

#[test]
fn of_a_name_that_is_inherited_twice_the_first_stays() {
    let environment = bare(&[("A", "1"), ("B", "b"), ("A", "2")]).without_overlay();
    assert_eq!(environment.into_iter().collect::<Vec<_>>(), pairs(&[("A", "1"), ("B", "b")]));
}

#[test]
fn every_copy_of_a_name_that_is_replaced_or_removed_goes() {
    let twice =
        [("A", "1"), ("DSH_X", "1"), ("B", "1"), ("TERM", "1"), ("A", "2"), ("DSH_X", "2"), ("B", "2"), ("TERM", "2")];
    let environment = bare(&twice)
        .terminal(TerminalSettings::Plain)
        .ordinary(ordinary(&[("A", Some("new")), ("B", None)]))
        .without_overlay();
    let expected = pairs(&[("NO_COLOR", "1"), ("PAGER", "cat"), ("GIT_PAGER", "cat"), ("TERM", "dumb"), ("A", "new")]);
    assert_eq!(environment.into_iter().collect::<Vec<_>>(), expected);
}

#[test]
fn terminal_settings_replace_what_was_inherited_and_the_request_replaces_them() {
    let inherited = [("TERM", "xterm"), ("PAGER", "less"), ("NO_COLOR", "")];
    let plain = bare(&inherited).terminal(TerminalSettings::Plain);
    let environment = plain.clone().without_overlay();
    assert_eq!(environment.get("TERM"), Some("dumb".as_ref()));
    assert_eq!(environment.get("PAGER"), Some("cat".as_ref()));
    assert_eq!(environment.get("NO_COLOR"), Some("1".as_ref()));

    let environment = plain.ordinary(ordinary(&[("PAGER", Some("more")), ("NO_COLOR", None)])).without_overlay();
    assert_eq!(environment.get("PAGER"), Some("more".as_ref()));
    assert_eq!(environment.get("NO_COLOR"), None);
}

#[test]
fn powershell_keeps_the_terminal_that_was_inherited() {
    let environment =
        bare(&[("TERM", "xterm"), ("PAGER", "less")]).terminal(TerminalSettings::PlainForPwsh).without_overlay();
    assert_eq!(environment.get("TERM"), Some("xterm".as_ref()));
    assert_eq!(environment.get("PAGER"), Some("cat".as_ref()));
}

#[test]
fn no_entry_of_the_request_displaces_a_managed_value() {
    let given = ordinary(&[
        ("DSH_HOME", Some("evil")),
        ("dsh_home", Some("evil")),
        ("DSH_SESSION_ID", None),
        ("DSH_A", Some("evil")),
    ]);
    let environment = bare(&[("DSH_A", "evil")]).ordinary(given).with_overlay(&overlay(&[("DSH_A", "right")]));
    let expected =
        pairs(&[("DSH_A", "right"), ("DSH_HOME", "/the/right/home"), ("DSH_SESSION_ID", SESSION), ("DSH_SHELL", "1")]);
    assert_eq!(environment.into_iter().collect::<Vec<_>>(), expected);
}

#[test]
fn a_managed_name_that_the_harness_gives_stays_where_the_overlay_has_none() {
    let given = ordinary(&[("DSH_HARNESS", Some("1")), ("dsh_other", Some("2"))]);
    let environment = bare(&[("DSH_HARNESS", "0")]).ordinary(given).with_overlay(&overlay(&[]));
    assert_eq!(environment.get("DSH_HARNESS"), Some("1".as_ref()));
    assert_eq!(environment.get("dsh_other"), Some("2".as_ref()));
}

#[test]
fn the_request_cannot_smuggle_a_managed_value_in_by_an_equals_sign_in_a_name() {
    let mut ordinary = OrdinaryEnv::new();
    for name in ["DSH_HOME=/evil", "", "=", "A\0", "=C:"] {
        assert_eq!(ordinary.set(name, "x").unwrap_err().code(), Code::InvalidExecution, "{name:?}");
        assert_eq!(ordinary.unset(name).unwrap_err().code(), Code::InvalidExecution, "{name:?}");
    }
    let error = ordinary.set("A", "the\0value").unwrap_err();
    assert_eq!(error.code(), Code::InvalidExecution);
    assert!(!error.message().contains("the\0value"));
    assert_eq!(ordinary, OrdinaryEnv::new());
}

#[test]
fn inherited_pairs_that_no_environment_can_hold_are_ignored() {
    let inherited = [("DSH_HOME=/evil", "x"), ("A=DSH_HOME", "x"), ("", "x"), ("N\0", "x"), ("V", "\0"), ("=C:", "d")];
    assert_eq!(names(&bare(&inherited).without_overlay()), ["=C:"]);
}

#[test]
fn a_strict_shell_has_none_of_the_variables_that_name_start_up_files_even_if_the_request_sets_them() {
    let dangerous = ["BASH_ENV", "ENV", "ZDOTDIR", "SHELLOPTS", "BASHOPTS", "PS4"];
    let inherited: Vec<_> = dangerous.iter().map(|name| (*name, "x")).collect();
    let set: Vec<_> = dangerous.iter().map(|name| (*name, Some("y"))).collect();
    let loose = bare(&inherited).ordinary(ordinary(&set));
    assert_eq!(names(&loose.clone().without_overlay()), dangerous);
    assert_eq!(names(&loose.strict_shell(true).without_overlay()), ["SHLVL"]);
}

#[test]
fn a_strict_shell_is_at_the_first_level_at_least_whatever_the_request_says() {
    let level = |inherited: &[(&str, &str)], change: Option<Option<&str>>| {
        let changes: Vec<_> = change.map(|value| ("SHLVL", value)).into_iter().collect();
        let environment = bare(inherited).strict_shell(true).ordinary(ordinary(&changes)).without_overlay();
        environment.get("SHLVL").unwrap().to_str().unwrap().to_owned()
    };
    assert_eq!(level(&[], None), "1");
    assert_eq!(level(&[("SHLVL", "0")], None), "1");
    assert_eq!(level(&[("SHLVL", "4")], None), "4");
    assert_eq!(level(&[("SHLVL", "4")], Some(None)), "1");
    assert_eq!(level(&[("SHLVL", "4")], Some(Some("none"))), "1");
}

#[test]
fn exported_functions_stay() {
    let environment = ChildEnvironment::builder(pairs(&[("BASH_FUNC_f%%", "() { :; }")])).with_overlay(&overlay(&[]));
    assert_eq!(environment.get("BASH_FUNC_f%%"), Some("() { :; }".as_ref()));
}

#[cfg(unix)]
#[test]
fn what_is_not_utf8_passes_through_byte_for_byte_unless_its_name_is_managed() {
    use std::os::unix::ffi::OsStringExt;

    let inherited: Vec<(OsString, OsString)> =
        [&b"N\xff=v\xfe"[..], b"DSH_\xff=x", b"dsh_\xff\xfe=x", b"ignored", b"V=\xc3\x28"]
            .iter()
            .filter_map(|entry| split_entry(entry))
            .collect();
    let environment = ChildEnvironment::builder(inherited)
        .terminal(TerminalSettings::Inherited)
        .strict_shell(false)
        .without_overlay();
    let bytes: Vec<_> = environment.into_iter().map(|(name, value)| (name.into_vec(), value.into_vec())).collect();
    assert_eq!(bytes, [(b"N\xff".to_vec(), b"v\xfe".to_vec()), (b"V".to_vec(), b"\xc3\x28".to_vec())]);
}

#[test]
fn a_builder_begins_with_the_settings_that_a_tool_needs() {
    let environment =
        ChildEnvironment::builder(pairs(&[("API_KEY", "k"), ("BASH_ENV", "x")])).with_overlay(&overlay(&[]));
    let expected = ["NO_COLOR", "PAGER", "GIT_PAGER", "TERM", "SHLVL", "DSH_HOME", "DSH_SESSION_ID", "DSH_SHELL"];
    assert_eq!(names(&environment), expected);
}

#[test]
fn neither_the_environment_nor_the_request_shows_values_when_it_is_debugged() {
    let given = ordinary(&[("A", Some("secret")), ("B", None)]);
    assert_eq!(format!("{given:?}"), r#"{"A": "set", "B": "unset"}"#);
    let environment = bare(&[("C", "secret")]).ordinary(given).without_overlay();
    assert_eq!(format!("{environment:?}"), r#"["C", "A"]"#);
}

/// The rules as the specification tells them, one after the other on one list; slow and simple.
fn told(
    inherited: &[(OsString, OsString)],
    scrub: bool,
    terminal: TerminalSettings,
    changes: &[(OsString, Option<OsString>)],
    strict: bool,
    overlay: Option<&Overlay>,
) -> Vec<(OsString, OsString)> {
    let mut list: Vec<(OsString, OsString)> = Vec::new();
    for (name, value) in inherited {
        let upper = name.as_encoded_bytes().to_ascii_uppercase();
        let upper = String::from_utf8_lossy(&upper);
        let scrubbed = scrub && ["KEY", "PASSWORD", "SECRET", "TOKEN"].iter().any(|word| upper.contains(word));
        let known = list.iter().any(|(earlier, _)| earlier == name);
        if !upper.starts_with(crate::contract::PREFIX) && !scrubbed && !known {
            list.push((name.clone(), value.clone()));
        }
    }
    let put = |list: &mut Vec<(OsString, OsString)>, name: &OsStr, value: Option<&OsStr>| {
        list.retain(|(known, _)| known != name);
        list.extend(value.map(|value| (name.to_owned(), value.to_owned())));
    };
    if terminal != TerminalSettings::Inherited {
        for (name, value) in [("NO_COLOR", "1"), ("PAGER", "cat"), ("GIT_PAGER", "cat"), ("TERM", "dumb")] {
            if name != "TERM" || terminal == TerminalSettings::Plain {
                put(&mut list, name.as_ref(), Some(value.as_ref()));
            }
        }
    }
    for (name, value) in changes {
        put(&mut list, name, value.as_deref());
    }
    if strict {
        for name in ["BASH_ENV", "ENV", "ZDOTDIR", "SHELLOPTS", "BASHOPTS", "PS4"] {
            put(&mut list, name.as_ref(), None);
        }
        let level = list.iter().find(|(name, _)| name == "SHLVL").map(|(_, level)| level.to_string_lossy());
        let level: i64 = level.and_then(|level| level.parse().ok()).unwrap_or(0);
        if !(1..=900).contains(&level) {
            match list.iter_mut().find(|(name, _)| name == "SHLVL") {
                Some((_, level)) => *level = "1".into(),
                None => list.push(("SHLVL".into(), "1".into())),
            }
        }
    }
    for entry in overlay.into_iter().flatten() {
        list.retain(|(name, _)| !name.eq_ignore_ascii_case(entry.key.as_str()));
        list.push((entry.key.as_str().into(), entry.value.expose().into()));
    }
    list
}

/// No overlay, one with the host's own facts, and one with a value beside them.
const MANAGED: [Option<&[(&str, &str)]>; 3] = [None, Some(&[]), Some(&[("DSH_A", "right")])];

fn any_name() -> impl Strategy<Value = OsString> {
    prop_oneof![
        prop::sample::select(
            &[
                "A",
                "PATH",
                "DSH_A",
                "dsh_a",
                "Dsh_Old",
                "DSH_HOME",
                "DSH_",
                "API_KEY",
                "my_Token",
                "TERM",
                "PAGER",
                "NO_COLOR",
                "SHLVL",
                "BASH_ENV",
                "ENV",
                "PS4",
                "env",
                "BASH_FUNC_x%%",
                "é",
            ][..]
        )
        .prop_map(OsString::from),
        any_bytes(1),
    ]
}

fn any_bytes(least: usize) -> impl Strategy<Value = OsString> {
    let byte = any::<u8>().prop_filter("neither NUL nor =", |byte| !matches!(byte, 0 | b'='));
    prop::collection::vec(byte, least..6).prop_map(|bytes| {
        #[cfg(unix)]
        return std::os::unix::ffi::OsStringExt::from_vec(bytes);
        #[cfg(not(unix))]
        return String::from_utf8_lossy(&bytes).into_owned().into();
    })
}

fn any_value() -> impl Strategy<Value = OsString> {
    prop_oneof![
        prop::sample::select(&["", "0", "7", "+7", "-1", "900", "901", "x=y"][..]).prop_map(OsString::from),
        any_bytes(0)
    ]
}

proptest! {
    #[test]
    fn the_merge_does_what_the_specification_tells(
        inherited in prop::collection::vec((any_name(), any_value()), 0..24),
        scrub: bool,
        terminal in prop::sample::select(&[TerminalSettings::Inherited, TerminalSettings::Plain, TerminalSettings::PlainForPwsh][..]),
        changes in prop::collection::vec((any_name(), prop::option::of(any_value())), 0..8),
        strict: bool,
        managed in prop::sample::select(&MANAGED[..]),
    ) {
        let overlay = managed.map(overlay);
        let mut ordinary = OrdinaryEnv::new();
        for (name, value) in &changes {
            match value {
                Some(value) => ordinary.set(name, value).unwrap(),
                None => ordinary.unset(name).unwrap(),
            }
        }
        let builder = ChildEnvironment::builder(inherited.clone())
            .scrub_credentials(scrub)
            .terminal(terminal)
            .ordinary(ordinary)
            .strict_shell(strict);
        let environment = match &overlay {
            Some(overlay) => builder.with_overlay(overlay),
            None => builder.without_overlay(),
        };
        let merged: Vec<_> = environment.into_iter().collect();
        prop_assert_eq!(merged, told(&inherited, scrub, terminal, &changes, strict, overlay.as_ref()));
    }

    #[test]
    fn every_managed_variable_of_a_child_is_the_overlays_or_the_requests(
        inherited in prop::collection::vec((any_name(), any_value()), 0..24),
    ) {
        let overlay = overlay(&[("DSH_A", "right")]);
        let environment = ChildEnvironment::builder(inherited).with_overlay(&overlay);
        let managed: Vec<_> = environment.iter().filter(|(name, _)| is_managed_name(name.as_encoded_bytes())).collect();
        let expected: Vec<(&OsStr, &OsStr)> =
            overlay.iter().map(|entry| (entry.key.as_str().as_ref(), entry.value.expose().as_ref())).collect();
        prop_assert_eq!(managed, expected);
    }
}
