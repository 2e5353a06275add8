//! What the configuration changes.

use super::*;

fn probe(place: &Place, guest: &Guest, configuration: &str) -> Run {
    place.install("probe", guest.component());
    place.configure(configuration);
    place.run(["env", "--json", "--session-id", "s1"])
}

fn trapping() -> Guest {
    Guest::good().with("resolve", "(unreachable)")
}

#[test]
fn a_failure_fails_the_overlay_unless_the_operator_says_otherwise() {
    let place = Place::new();
    assert_eq!(probe(&place, &trapping(), "").expect(1).json()["error"]["code"], "trap");
    let omitted = probe(&place, &trapping(), "[contributors.probe]\non-failure = \"omit\"\n").expect(0).json();
    assert_eq!((omitted.get("DSH_PROBE"), &omitted["DSH_DEGRADED"]), (None, &"DSH_PROBE".into()));
    let replaced =
        probe(&place, &trapping(), "[contributors.probe.keys.DSH_PROBE]\non-failure = { value = \"none\" }\n")
            .expect(0)
            .json();
    assert_eq!((&replaced["DSH_PROBE"], &replaced["DSH_DEGRADED"]), (&"none".into(), &"DSH_PROBE".into()));
}

#[test]
fn a_keys_own_policy_goes_before_its_contributors() {
    let place = Place::new();
    let configuration =
        "[contributors.probe]\non-failure = \"omit\"\n[contributors.probe.keys.DSH_PROBE]\non-failure = \"fail\"\n";
    assert_eq!(probe(&place, &trapping(), configuration).expect(1).json()["error"]["code"], "trap");
}

#[test]
fn a_value_of_another_shape_is_refused() {
    let place = Place::new();
    let shape = |pattern: &str| format!("[contributors.probe.keys.DSH_PROBE]\nmatch = '{pattern}'\n");
    probe(&place, &Guest::good(), &shape("^[0-9]$")).expect(0);
    let error = probe(&place, &Guest::good(), &shape("^[a-z]+$")).expect(1).json()["error"].clone();
    assert_eq!((&error["code"], &error["key"]), (&"value-refused".into(), &"DSH_PROBE".into()));
    assert!(!error["message"].as_str().unwrap().contains("\"1\""), "the value is not shown: {error}");
}

#[test]
fn limits_of_the_operator_hold() {
    let place = Place::new();
    let growing = Guest::good().with("resolve", "(drop (memory.grow (i32.const 40))) (unreachable)");
    assert_eq!(probe(&place, &growing, "").expect(1).json()["error"]["code"], "trap");
    let small = "[contributors.probe]\nlimits = { memory = \"1MiB\" }\n";
    assert_eq!(probe(&place, &growing, small).expect(1).json()["error"]["code"], "memory-limit");
    let for_all = "[limits]\nmemory = \"1MiB\"\n";
    assert_eq!(probe(&place, &growing, for_all).expect(1).json()["error"]["code"], "memory-limit");
    let large = "[limits]\nmemory = \"1MiB\"\n[contributors.probe]\nlimits = { memory = \"200MiB\" }\n";
    let growing = Guest::good().with("resolve", "(drop (memory.grow (i32.const 2000))) (unreachable)");
    assert_eq!(probe(&place, &growing, large).expect(1).json()["error"]["code"], "trap");
    let no_values = "[contributors.probe]\nlimits = { value = \"1B\" }\n";
    probe(&place, &Guest::good(), no_values).expect(0);
}

#[test]
fn a_disabled_contributor_is_neither_there_nor_missing() {
    let place = Place::new();
    let overlay = probe(&place, &trapping(), "[contributors.probe]\nenabled = false\n").expect(0).json();
    assert_eq!((overlay.get("DSH_PROBE"), overlay.get("DSH_DEGRADED")), (None, None));
}

#[test]
fn nothing_is_collected_without_a_required_contributor() {
    let place = Place::new();
    place.configure("[contributors.probe]\nrequired = true\n");
    let error = place.run(["env", "--json"]).expect(1).json()["error"].clone();
    assert!(error["message"].as_str().unwrap().contains("probe"), "{error}");
    place.run(["exec", "--", "true"]).expect(125);
    place.run(["list"]).expect(0);
    place.install("probe", "");
    place.run(["env"]).expect(1);
    place.install("probe", Guest::good().component());
    place.run(["env"]).expect(0);
}

#[test]
fn a_section_for_nobody_is_a_warning_that_names_the_nearest() {
    let place = Place::new();
    let run = probe(&place, &Guest::good(), "\n[contributors.prob]\non-failure = \"omit\"\n").expect(0);
    assert!(
        run.stderr().contains("dsh-env.toml:2") && run.stderr().contains("did you mean probe?"),
        "{}",
        run.stderr()
    );
    let run = probe(&place, &Guest::good(), "[contributors.probe.keys.DSH_PROBES]\non-failure = \"omit\"\n").expect(0);
    assert!(run.stderr().contains("declares no DSH_PROBES; did you mean DSH_PROBE?"), "{}", run.stderr());
}

#[test]
fn that_no_sensitive_value_is_kept_is_said_to_whoever_wants_it_kept() {
    let place = Place::new();
    let sensitive = Guest::good().with("sensitive", "\\01");
    for policy in [
        "[contributors.probe]\non-failure = { last-good = \"10m\" }\n",
        "[contributors.probe.keys.DSH_PROBE]\non-failure = { last-good = \"10m\" }\n",
    ] {
        let run = probe(&place, &sensitive, policy).expect(0);
        assert!(run.stderr().contains("dsh-env.toml:1: probe calls DSH_PROBE sensitive"), "{}", run.stderr());
        let run = probe(&Place::new(), &Guest::good(), policy).expect(0);
        assert!(!run.stderr().contains("sensitive"), "{}", run.stderr());
    }
    let omitted = "[contributors.probe]\non-failure.last-good = \"10m\"\nkeys.DSH_PROBE.on-failure = \"omit\"\n";
    let run = probe(&place, &sensitive, omitted).expect(0);
    assert!(!run.stderr().contains("calls DSH_PROBE sensitive"), "{}", run.stderr());
}

#[test]
fn a_wrong_setting_is_an_error_with_its_line_and_the_nearest_name() {
    let place = Place::new();
    place.configure("[contributors.probe]\nenabled = true\nrequird = true\n");
    let run = place.run(["env", "--json"]).expect(2);
    let error = &run.json()["error"];
    assert_eq!(error["code"], "invalid-configuration");
    let message = error["message"].as_str().unwrap();
    for word in ["dsh-env.toml:3", "requird", "required"] {
        assert!(message.contains(word), "{message}");
    }
    place.run(["exec", "--", "true"]).expect(125);
    for text in [
        "[limits",
        "[limits]\ncpu = 5",
        "[limits]\nmemory = \"64\"",
        "[grants]\n",
        "[contributors.BAD]\n",
        "[contributors.a.keys.dsh_x]\n",
    ] {
        place.configure(text);
        assert_eq!(place.run(["list", "--json"]).expect(2).json()["error"]["code"], "invalid-configuration", "{text}");
    }
}

#[test]
fn the_configuration_does_not_apply_to_files_that_are_named() {
    let place = Place::new();
    place.configure("[contributors.probe]\non-failure = \"omit\"\n");
    let file = place.write("probe.wasm", trapping().component());
    place.run(["env".as_ref(), "--contributor".as_ref(), file.as_os_str()]).expect(1);
    // Nor is it what the operator requires to be installed.
    place.configure("[contributors.probe]\nrequired = true\n");
    let file = place.write("probe.wasm", Guest::good().component());
    place.run(["env".as_ref(), "--contributor".as_ref(), file.as_os_str()]).expect(1);
}

#[test]
fn the_built_in_contributor_has_a_section_like_any_other() {
    let place = Place::new();
    place.configure("[contributors.session-persistence]\nenabled = false\n");
    let run = place.run(["env", "--session-id", "s1"]).expect(0);
    assert_eq!((run.json().get("DSH_SESSION_JSONL"), run.stderr().as_str()), (None, ""));
    place.configure("[contributors.session-persistence]\nrequired = true\n");
    assert!(place.run(["env", "--session-id", "s1"]).expect(0).json()["DSH_SESSION_JSONL"].is_string());
    place.configure(
        "[contributors.session-persistence.keys.DSH_SESSION_JSONL]\nmatch = '^/srv/'\non-failure = 'omit'\n",
    );
    assert_eq!(place.run(["env", "--session-id", "s1"]).expect(0).json()["DSH_DEGRADED"], "DSH_SESSION_JSONL");
}

#[test]
fn a_link_that_leads_nowhere_is_not_taken_for_no_configuration() {
    let place = Place::new();
    std::fs::create_dir(place.home()).unwrap();
    for name in ["dsh-env.toml", "contributors"] {
        let link = place.home().join(name);
        std::os::unix::fs::symlink("/no/such/place", &link).unwrap();
        assert_eq!(place.run(["env", "--json"]).expect(2).json()["error"]["code"], "invalid-configuration", "{name}");
        std::fs::remove_file(link).unwrap();
    }
}

#[test]
fn an_installed_contributor_sees_what_its_section_grants() {
    let place = Place::new();
    place.install("probe", Guest::repeating_an_extension().component());
    let execution = place.write("execution.json", r#"{"extensions": [["com.acme.ticket", "ABC-1"]]}"#);
    let seen = |configuration: &str| {
        place.configure(configuration);
        let run = place.run(["env".as_ref(), "--json".as_ref(), "--execution".as_ref(), execution.as_os_str()]);
        run.expect(0).json().get("DSH_PROBE").cloned()
    };
    assert_eq!(seen(""), None);
    let section = "[contributors.probe]\ngrants = ";
    for granted in ["{ extensions = [\"com.acme.ticket\"] }", "{ extensions = \"*\" }"] {
        assert_eq!(seen(&format!("{section}{granted}\n")), Some("ABC-1".into()), "{granted}");
    }
    assert_eq!(seen(&format!("{section}{{ extensions = [\"com.acme\"] }}\n")), None);
    assert_eq!(seen("[contributors.other]\ngrants = { extensions = \"*\" }\n"), None);
}

#[test]
fn grants_and_settings_that_change_nothing_are_a_warning() {
    let place = Place::new();
    for (configuration, warning) in [
        ("\n[contributors.probe]\nsettings = { remote = \"x\" }\n", "dsh-env.toml:2: probe has settings"),
        ("[contributors.session-persistence]\ngrants = { clock = true }\n", "is the host's own"),
    ] {
        let run = probe(&place, &Guest::good(), configuration).expect(0);
        assert!(run.stderr().contains(warning), "{}", run.stderr());
    }
    let granted = "[contributors.probe]\ngrants = { config = true }\nsettings = { remote = \"x\" }\n";
    assert_eq!(probe(&place, &Guest::good(), granted).expect(0).stderr(), "");
}

#[test]
fn a_managed_variable_is_granted_to_nobody() {
    let place = Place::new();
    let run = probe(&place, &Guest::good(), "[contributors.probe]\ngrants = { env = [\"CI\", \"dsh_home\"] }\n");
    let error = run.expect(2).json()["error"].clone();
    assert_eq!(error["code"], "invalid-configuration");
    assert!(error["message"].as_str().unwrap().contains("dsh-env.toml:2:25"), "{error}");
}
