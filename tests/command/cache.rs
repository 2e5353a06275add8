//! The compiled code of a home.

use super::*;
use serde_json::json;
use std::fs;

/// Installs contributors that differ in a byte of their names.
fn install(place: &Place, count: u8) {
    for number in 0..count {
        // The last letter of the name, and of the key.
        let change = format!(
            "(i32.store8 (i32.const 1284) (i32.const {})) (i32.store8 (i32.const 1304) (i32.const {}))",
            b'a' + number,
            b'A' + number
        );
        let guest = Guest::good()
            .with("declare", format!("{change} (i32.const 1024)"))
            .with("resolve", format!("{change} (i32.const 1408)"));
        place.install(&format!("probe-{number}"), guest.component());
    }
}

fn info(place: &Place) -> serde_json::Value {
    place.run(["cache", "info", "--json"]).expect(0).json()
}

#[test]
fn the_cache_says_how_much_it_keeps_and_where() {
    let place = Place::new();
    let folder = place.home().join("state/compiled");
    let empty = json!({
        "folder": folder, "entries": 0, "bytes": 0, "bound": 1 << 30, "oldest_use": null, "newest_use": null
    });
    assert_eq!(info(&place), empty);
    assert!(place.run(["cache", "info"]).expect(0).stdout().contains("0 components, 0 B of at most 1 GiB"));
    assert!(!place.home().exists(), "asking leaves nothing behind");
    install(&place, 3);
    place.configure("[cache]\nsize = \"64MiB\"\n");
    place.run(["env"]).expect(0);
    let info = info(&place);
    let bytes: u64 = fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().metadata().unwrap().len()).sum();
    assert_eq!((&info["entries"], &info["bytes"], &info["bound"]), (&json!(3), &json!(bytes), &json!(64 << 20)));
    let use_of = |name: &str| info[name].as_u64().unwrap();
    assert!(1_700_000_000_000 < use_of("oldest_use") && use_of("oldest_use") <= use_of("newest_use"));
    let people = place.run(["cache", "info"]).expect(0).stdout();
    assert!(
        people.contains("3 components") && people.contains("of at most 64 MiB") && people.contains("just now"),
        "{people}"
    );
}

#[test]
fn clearing_says_how_much_went_and_leaves_what_is_not_its_own() {
    let place = Place::new();
    assert_eq!(place.run(["cache", "clear", "--json"]).expect(0).json(), json!({ "entries": 0, "bytes": 0 }));
    install(&place, 2);
    place.run(["env"]).expect(0);
    let before = info(&place);
    let notes = place.write("home/state/compiled/notes.txt", "");
    place.write("home/state/compiled/.new-x.cwasm", "");
    let cleared = place.run(["cache", "clear", "--json"]).expect(0).json();
    assert_eq!(cleared, json!({ "entries": 2, "bytes": before["bytes"] }));
    let left: Vec<_> = fs::read_dir(notes.parent().unwrap()).unwrap().map(|entry| entry.unwrap().path()).collect();
    assert_eq!(left, [notes]);
    place.run(["env"]).expect(0);
    let people = place.run(["cache", "clear"]).expect(0).stdout();
    assert!(people.starts_with("removed 2 components, ") && people.contains("state/compiled"), "{people}");
}

#[test]
fn another_state_has_another_cache() {
    let place = Place::new();
    install(&place, 1);
    let elsewhere = place.path().join("elsewhere");
    place.run(["env".as_ref(), "--state-dir".as_ref(), elsewhere.as_os_str()]).expect(0);
    let there = place.run([
        "cache".as_ref(),
        "info".as_ref(),
        "--json".as_ref(),
        "--state-dir".as_ref(),
        elsewhere.as_os_str(),
    ]);
    assert_eq!((&there.expect(0).json()["entries"], &info(&place)["entries"]), (&json!(1), &json!(0)));
}

#[test]
fn a_cache_that_others_can_write_to_is_not_looked_at() {
    use std::os::unix::fs::PermissionsExt as _;
    let place = Place::new();
    install(&place, 1);
    place.run(["env"]).expect(0);
    let folder = place.home().join("state/compiled");
    fs::set_permissions(&folder, fs::Permissions::from_mode(0o777)).unwrap();
    for command in ["info", "clear"] {
        let error = place.run(["cache", command, "--json"]).expect(2).json()["error"].clone();
        assert_eq!(error["code"], "unsafe-permissions");
    }
    assert_eq!(fs::read_dir(folder).unwrap().count(), 1);
}

#[test]
fn two_processes_may_fill_one_cache_at_once() {
    let place = Place::new();
    install(&place, 6);
    let start = || place.command(["env", "--json"]).stdout(std::process::Stdio::piped()).spawn().unwrap();
    let running: Vec<_> = (0..4).map(|_| start()).collect();
    for process in running {
        let run = Run(process.wait_with_output().unwrap()).expect(0);
        assert!(
            (0..6).all(|number| run.json()[format!("DSH_PROB{}", char::from(b'A' + number))] == "1"),
            "{}",
            run.stdout()
        );
    }
    let kept = info(&place);
    assert_eq!(kept["entries"], 6);
    place.run(["env"]).expect(0);
    assert_eq!(info(&place), kept, "nothing was compiled again");
}
