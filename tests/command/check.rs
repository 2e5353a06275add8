use super::*;
use serde_json::Value;
use std::time::{Duration, Instant};

/// Every hostile component, with the stage, one of the codes, and the values that are right.
#[test]
fn every_component_of_the_hostile_pack_gets_its_code() {
    let pack = support::fixtures().join("hostile");
    let expected: Vec<Value> = serde_json::from_slice(&std::fs::read(pack.join("expected.json")).unwrap()).unwrap();
    assert_eq!(expected.len(), 36);
    let place = Place::new();
    for case in expected {
        let file = pack.join(case["file"].as_str().unwrap());
        let started = Instant::now();
        let run = place.run(["check".as_ref(), "--json".as_ref(), file.as_os_str()]);
        assert!(started.elapsed() < Duration::from_secs(20), "{case} took {:?}", started.elapsed());
        assert!(!run.stdout().trim_end().chars().any(char::is_control), "{case}: {}", run.stdout());
        let report = run.json();
        assert_eq!(report["ok"], case["ok"], "{report}");
        if case["ok"] == true {
            assert_eq!(run.status(), 0);
            assert_eq!(report["env"], case["env"], "{report}");
            assert_eq!(report["error"], Value::Null);
        } else {
            assert_eq!(run.status(), 1);
            assert_eq!(report["error"]["stage"], case["stage"], "{report}");
            let codes = case["code"].as_array().unwrap();
            assert!(codes.contains(&report["error"]["code"]), "{report} is none of {codes:?}");
        }
    }
}

#[test]
fn many_files_get_a_line_each_and_one_failure_is_enough() {
    let place = Place::new();
    let good = place.write("good.wasm", Guest::good().component());
    let bad = place.write("bad.wasm", "");
    let run = place.run(["check".as_ref(), "--json".as_ref(), good.as_os_str(), bad.as_os_str(), good.as_os_str()]);
    let lines: Vec<Value> = run.stdout().lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(lines.iter().map(|line| line["ok"].as_bool().unwrap()).collect::<Vec<_>>(), [true, false, true]);
    assert_eq!(run.status(), 1);
    assert_eq!(lines[0]["name"], "probe");
    assert_eq!(lines[0]["variables"][0]["key"], "DSH_PROBE");
    assert_eq!(lines[0]["env"]["DSH_PROBE"], "1");
}

#[test]
fn people_get_a_table_and_a_sentence() {
    let place = Place::new();
    let good = place.write("good.wasm", Guest::good().component());
    let run = place.run(["check".as_ref(), good.as_os_str()]).expect(0);
    assert!(run.stdout().contains("contributor probe") && run.stdout().contains("A fact."), "{}", run.stdout());
    let bad = place.write("bad.wasm", Guest::good().with("resolve", "(unreachable)").component());
    let run = place.run(["check".as_ref(), bad.as_os_str()]).expect(1);
    assert!(run.stdout().contains("resolve stage: probe: it crashed"), "{}", run.stdout());
}

#[test]
fn a_guests_own_words_are_escaped_and_withheld_where_it_handles_sensitive_values() {
    let place = Place::new();
    let talking = Guest::good().with("resolve", "(i32.const 1472)");
    let file = place.write("talking.wasm", talking.component());
    let report = place.run(["check".as_ref(), "--json".as_ref(), file.as_os_str()]).json();
    assert_eq!(report["error"]["message"], "it could not resolve: \\u{1b}[31mred\\u{a}\\u{7}\\u{9b}");
    let file = place.write("secret.wasm", talking.with("sensitive", "\\01").component());
    let report = place.run(["check".as_ref(), "--json".as_ref(), file.as_os_str()]).json();
    assert_eq!(report["error"]["message"], "it could not resolve: [withheld: probe handles sensitive values]");
}

#[test]
fn a_sensitive_value_is_not_shown() {
    let place = Place::new();
    let file = place.write("secret.wasm", Guest::good().with("sensitive", "\\01").component());
    let run = place.run(["check".as_ref(), "--json".as_ref(), file.as_os_str()]).expect(0);
    assert_eq!(run.json()["env"]["DSH_PROBE"], "[withheld: probe handles sensitive values]");
}

#[test]
fn the_flags_of_an_execution_change_the_sample() {
    let place = Place::new();
    let file = example("ticket");
    let run = place.run([
        "check".as_ref(),
        "--json".as_ref(),
        "--workdir".as_ref(),
        "/srv/ABC-123".as_ref(),
        file.as_os_str(),
    ]);
    assert_eq!(run.expect(0).json()["env"]["DSH_TICKET"], "ABC-123");
}

#[test]
fn what_every_home_has_already_is_a_conflict() {
    let place = Place::new();
    let key = Guest::good().with("extra", r#"(data (i32.const 2048) "DSH_SESSION_JSONLsession-persistence")"#).with(
        "declare",
        "(i32.store (i32.const 1152) (i32.const 2048)) (i32.store (i32.const 1156) (i32.const 17)) (i32.const 1024)",
    );
    let name = key.clone().with(
        "declare",
        "(i32.store (i32.const 1024) (i32.const 2065)) (i32.store (i32.const 1028) (i32.const 19)) (i32.const 1024)",
    );
    for (guest, code) in [(key, "key-conflict"), (name, "duplicate-name")] {
        let file = place.write("taking.wasm", guest.component());
        let report = place.run(["check".as_ref(), "--json".as_ref(), file.as_os_str()]).expect(1).json();
        assert_eq!(report["error"]["code"], code, "{report}");
    }
}

#[test]
fn a_host_that_lacks_address_space_blames_no_contributor() {
    let place = Place::new();
    let file = place.install("good", Guest::good().component());
    let within = |megabytes: u32, command: &str| {
        let script = format!("ulimit -v {}; exec {} {command}", megabytes * 1024, env!("CARGO_BIN_EXE_dsh-env"));
        let mut shell = std::process::Command::new("bash");
        Run(shell.args(["-c", &script]).env("DSH_HOME", place.home()).output().unwrap())
    };
    let report = within(2000, &format!("check --json {}", file.display())).expect(1).json();
    assert_eq!((&report["error"]["stage"], &report["error"]["code"]), (&"host".into(), &"internal".into()), "{report}");
    within(2000, "exec -- true").expect(125);
}

#[test]
fn checking_leaves_nothing_behind() {
    let place = Place::new();
    place.run(["check".as_ref(), example("ticket").as_os_str()]).expect(0);
    assert!(!place.home().exists() && place.user_home().read_dir().unwrap().next().is_none());
}
