//! Contributors in the home.

use super::*;
use std::os::unix::fs::PermissionsExt as _;

fn overlay(place: &Place) -> (serde_json::Value, String) {
    let run = place.run(["env", "--session-id", "s1"]).expect(0);
    (run.json(), run.stderr())
}

#[test]
fn an_installed_contributor_takes_part_and_is_listed() {
    let place = Place::new();
    place.install("region", std::fs::read(example("deployment-region")).unwrap());
    assert_eq!(overlay(&place).0["DSH_DEPLOYMENT_REGION"], "cn-north");
    let list = place.run(["list", "--json"]).expect(0).json();
    let keys: Vec<_> = list.as_array().unwrap().iter().map(|variable| variable["key"].as_str().unwrap()).collect();
    assert!(keys.is_sorted() && keys.contains(&"DSH_DEPLOYMENT_REGION") && keys.contains(&"DSH_HOME"), "{keys:?}");
    let people = place.run(["list"]).expect(0).stdout();
    assert!(people.contains("deployment-region") && people.lines().all(|line| line.chars().count() <= 100), "{people}");
}

#[test]
fn listing_resolves_nothing() {
    let place = Place::new();
    place.install("traps", Guest::good().with("resolve", "(unreachable)").component());
    place.run(["list"]).expect(0);
    place.run(["env"]).expect(1);
}

#[test]
fn one_that_cannot_be_loaded_is_missing_and_the_others_are_not() {
    let place = Place::new();
    place.install("region", std::fs::read(example("deployment-region")).unwrap());
    place.install("broken", "");
    let (overlay, warnings) = overlay(&place);
    assert_eq!(overlay["DSH_DEPLOYMENT_REGION"], "cn-north");
    assert_eq!(overlay["DSH_DEGRADED"], "unknown");
    assert!(warnings.contains("broken.wasm") && warnings.contains("not-a-component"), "{warnings}");
}

#[test]
fn one_whose_declaration_is_refused_has_its_keys_named() {
    let place = Place::new();
    place.install("a", Guest::good().component());
    // The same key under another name: the one whose file comes first has it.
    let other = Guest::good().with("declare", "(i32.store8 (i32.const 1280) (i32.const 113)) (i32.const 1024)");
    place.install("b", other.component());
    let (shared, warnings) = overlay(&place);
    assert_eq!(shared["DSH_PROBE"], "1");
    assert_eq!(shared.get("DSH_DEGRADED"), None, "the key is there");
    assert!(warnings.contains("key-conflict"), "{warnings}");
}

#[test]
fn two_files_that_declare_one_name_are_both_refused() {
    let place = Place::new();
    place.install("a", Guest::good().component());
    place.install("b", Guest::good().component());
    let (overlay, warnings) = overlay(&place);
    assert_eq!(overlay.get("DSH_PROBE"), None);
    assert_eq!(overlay["DSH_DEGRADED"], "DSH_PROBE");
    assert_eq!(warnings.matches("duplicate-name").count(), 2, "{warnings}");
}

#[test]
fn a_file_that_is_named_clashes_with_an_installed_one() {
    let place = Place::new();
    let installed = place.install("a", Guest::good().component());
    let run = place.run(["env".as_ref(), "--json".as_ref(), "--contributor".as_ref(), installed.as_os_str()]).expect(1);
    assert_eq!(run.json()["error"]["code"], "duplicate-name");
}

#[test]
fn a_contributor_cannot_take_the_key_of_the_built_in_one() {
    let place = Place::new();
    let taking = Guest::good().with(
        "declare",
        r#"(i32.store (i32.const 1152) (i32.const 2048)) (i32.store (i32.const 1156) (i32.const 17)) (i32.const 1024)"#,
    );
    let taking = taking.with("extra", r#"(data (i32.const 2048) "DSH_SESSION_JSONL")"#);
    let file = place.write("taking.wasm", taking.component());
    let run = place.run(["env".as_ref(), "--json".as_ref(), "--contributor".as_ref(), file.as_os_str()]).expect(1);
    let error = &run.json()["error"];
    assert_eq!(error["code"], "key-conflict");
    for word in ["DSH_SESSION_JSONL", "session-persistence", "probe"] {
        assert!(error["message"].as_str().unwrap().contains(word), "{error}");
    }
}

#[test]
fn what_is_no_contributor_file_is_left_alone() {
    let place = Place::new();
    place.install("region", std::fs::read(example("deployment-region")).unwrap());
    for name in ["notes.txt", ".hidden.wasm", "backup.wasm~", "wasm"] {
        place.write(&format!("home/contributors/{name}"), "no component");
    }
    let (overlay, warnings) = overlay(&place);
    assert_eq!((overlay.get("DSH_DEGRADED"), warnings.as_str()), (None, ""));
}

#[test]
fn compiled_code_is_kept_in_the_state_and_found_again() {
    let place = Place::new();
    place.install("region", std::fs::read(example("deployment-region")).unwrap());
    overlay(&place);
    let compiled = place.home().join("state/compiled");
    let entries = || std::fs::read_dir(&compiled).unwrap().map(|entry| entry.unwrap().path()).collect::<Vec<_>>();
    let before = entries();
    assert_eq!(before.len(), 1);
    let written = std::fs::metadata(&before[0]).unwrap().modified().unwrap();
    overlay(&place);
    assert_eq!(entries(), before);
    assert_eq!(std::fs::metadata(&before[0]).unwrap().modified().unwrap(), written);
    let elsewhere = place.path().join("elsewhere");
    place.run(["env".as_ref(), "--state-dir".as_ref(), elsewhere.as_os_str()]).expect(0);
    assert!(elsewhere.join("compiled").is_dir());
}

#[test]
fn a_home_that_others_can_write_to_is_refused_with_the_command_that_mends_it() {
    let place = Place::new();
    place.install("region", std::fs::read(example("deployment-region")).unwrap());
    place.configure("");
    std::fs::create_dir(place.home().join("state")).unwrap();
    for (name, mode) in [("", 0o777), ("", 0o775), ("contributors", 0o757), ("dsh-env.toml", 0o666), ("state", 0o722)] {
        let path = place.home().join(name);
        let before = std::fs::metadata(&path).unwrap().permissions();
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(mode)).unwrap();
        let error = place.run(["env", "--json"]).expect(2).json()["error"].clone();
        assert_eq!(error["code"], "unsafe-permissions", "{name}: {error}");
        assert!(error["message"].as_str().unwrap().contains("chmod go-w"), "{error}");
        place.run(["exec", "--", "true"]).expect(125);
        std::fs::set_permissions(&path, before).unwrap();
    }
    place.run(["env"]).expect(0);
}

#[test]
fn a_file_of_a_contributor_that_others_can_write_to_is_missing() {
    let place = Place::new();
    let file = place.install("region", std::fs::read(example("deployment-region")).unwrap());
    std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o666)).unwrap();
    let (overlay, warnings) = overlay(&place);
    assert_eq!(overlay.get("DSH_DEPLOYMENT_REGION"), None);
    assert!(warnings.contains("unsafe-permissions"), "{warnings}");
}

#[test]
fn special_files_among_the_installed_hold_nobody_up() {
    let place = Place::new();
    place.install("region", std::fs::read(example("deployment-region")).unwrap());
    let fifo = place.home().join("contributors/fifo.wasm");
    assert!(std::process::Command::new("mkfifo").arg(fifo).status().unwrap().success());
    std::fs::create_dir(place.home().join("contributors/folder.wasm")).unwrap();
    let (overlay, warnings) = overlay(&place);
    assert_eq!(overlay["DSH_DEPLOYMENT_REGION"], "cn-north");
    assert_eq!(warnings.matches("unreadable").count(), 2, "{warnings}");
}
