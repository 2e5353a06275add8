use super::*;
use serde_json::Value;

#[test]
fn the_command_agrees_with_every_row_of_the_original() {
    let rows: Vec<Value> =
        serde_json::from_slice(&std::fs::read(support::fixtures().join("oracle/session-paths.json")).unwrap()).unwrap();
    assert!(rows.len() >= 50);
    let place = Place::new();
    for row in rows {
        let id = row["id"].as_str().unwrap();
        let mut arguments =
            vec!["session", "locate", "--root", "/r/sessions", "--compression", row["compression"].as_str().unwrap()];
        // No argument can have a NUL; a record can.
        let record =
            place.write("record.json", serde_json::json!({ "agent": { "session": { "id": id } } }).to_string());
        if id.contains('\0') {
            arguments.extend(["--execution", record.to_str().unwrap()]);
        } else {
            arguments.extend(["--id", id]);
        }
        if let Some(cwd) = row["cwd"].as_str() {
            arguments.extend(["--cwd", cwd]);
        }
        let located = place.run(arguments).expect(0).json();
        assert_eq!(located, serde_json::json!({ "kind": "jsonl", "path": row["path"] }), "{row}");
    }
}

#[test]
fn a_backend_without_files_locates_nothing() {
    let place = Place::new();
    assert_eq!(place.run(["session", "locate", "--id", "s1", "--backend", "sqlite"]).expect(0).json(), Value::Null);
}

#[test]
fn the_configuration_is_the_default() {
    let place = Place::new();
    place.configure("[sessions]\nroot = \"/elsewhere\"\ncompression = \"none\"\n");
    let located = place.run(["session", "locate", "--id", "s1"]).expect(0).json();
    assert_eq!(located["path"], "/elsewhere/_no-cwd/s1/session.jsonl");
    let overlay = place.run(["env", "--session-id", "s1"]).expect(0).json();
    assert_eq!(overlay["DSH_SESSION_JSONL"], "/elsewhere/_no-cwd/s1/session.jsonl");
    place.configure("[sessions]\nbackend = \"sqlite\"\n");
    assert_eq!(place.run(["env", "--session-id", "s1"]).expect(0).json().get("DSH_SESSION_JSONL"), None);
}

#[test]
fn a_session_that_cannot_be_is_an_error() {
    let place = Place::new();
    place.run(["session", "locate", "--id", ""]).expect(2);
    place.run(["session", "locate"]).expect(2);
    place.run(["session", "locate", "--id", "a", "--compression", "gzip"]).expect(2);
    place.run(["session", "locate", "--id", "a", "--root", " "]).expect(2);
}

#[path = "session/kept.rs"]
mod kept;
#[path = "session/new.rs"]
mod new;
#[path = "session/refused.rs"]
mod refused;

/// A place where the session `s1` of the fixtures is kept; answers with the flags that lead there.
fn kept(form: &str) -> (Place, Vec<&'static str>) {
    let place = Place::new();
    let fixture = std::fs::read(support::fixtures().join("sessions").join(form)).unwrap();
    let (name, flags) = match form {
        "kept.sqlite3" => ("home/sessions/sessions.sqlite3", vec!["--backend", "sqlite"]),
        "kept.jsonl" => ("home/sessions/--srv-app--/s1/session.jsonl", vec!["--compression", "none"]),
        _ => ("home/sessions/--srv-app--/s1/session.jsonl.zstd", vec![]),
    };
    place.write(name, fixture);
    (place, flags)
}

/// Every form that the session is kept in.
const FORMS: [&str; 3] = ["kept.jsonl", "kept.jsonl.zstd", "kept.sqlite3"];

/// Runs `session` with these arguments and flags.
fn session(place: &Place, arguments: &[&str], flags: &[&str]) -> Run {
    place.run(["session"].iter().chain(arguments).chain(flags))
}

fn fixture_lines() -> String {
    std::fs::read_to_string(support::fixtures().join("sessions/kept.jsonl")).unwrap()
}
