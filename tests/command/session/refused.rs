//! Sessions that are not there, not whole, not alone, or not of this version.

use super::*;

fn code(place: &Place, arguments: &[&str], flags: &[&str], status: i32) -> String {
    let run = session(place, &[arguments, &["--json"]].concat(), flags).expect(status);
    run.json()["error"]["code"].as_str().unwrap().to_owned()
}

#[test]
fn a_session_that_is_not_there_is_not_found() {
    for form in FORMS {
        let (place, flags) = kept(form);
        for command in ["resume", "fork", "show"] {
            assert_eq!(code(&place, &[command, "s2"], &flags, 1), "session-not-found");
            assert_eq!(code(&place, &[command, "s1", "--no-cwd"], &flags, 1), "session-not-found");
            assert_eq!(code(&place, &[command, "s1", "--cwd", "/elsewhere"], &flags, 1), "session-not-found");
            session(&place, &[command], &flags).expect(2);
            session(&place, &[command, ""], &flags).expect(2);
        }
    }
}

#[test]
fn an_id_that_begins_with_a_hyphen_or_leads_elsewhere_is_an_id() {
    let (place, flags) = kept("kept.jsonl");
    let lines = fixture_lines();
    for (id, folder) in [("-lead", "-lead"), ("../../etc", "..~002F..~002Fetc")] {
        let log = lines.replace("\"s1\"", &format!("\"{id}\""));
        place.write(&format!("home/sessions/--srv-app--/{folder}/session.jsonl"), &log);
        assert_eq!(session(&place, &["show", "--json", id], &flags).expect(0).stdout(), log);
    }
}

#[test]
fn a_damaged_session_and_one_of_another_version_are_told_apart() {
    let (place, flags) = kept("kept.jsonl");
    let lines = fixture_lines();
    for (content, expected, word) in [
        (lines.replacen("\"seq\":1", "\"seq\":7", 1), "session-damaged", "line 3"),
        (lines.replacen("\"version\":0", "\"version\":1", 1), "session-version", "upgrade dsh-env"),
    ] {
        let path = place.write("home/sessions/--srv-app--/s1/session.jsonl", &content);
        for command in ["resume", "fork", "show"] {
            assert_eq!(code(&place, &[command, "s1"], &flags, 1), expected);
            let message = session(&place, &[command, "s1"], &flags).expect(1).stderr();
            assert!(message.contains(word), "{message}");
        }
        assert_eq!(std::fs::read_to_string(path).unwrap(), content);
    }
}

#[test]
fn a_session_that_is_open_can_be_shown_and_forked_but_not_resumed() {
    use dsh_env::sessions::{Compression, JsonlPersistence, Project, SessionStore as _, SessionsRoot};

    let (place, flags) = kept("kept.jsonl.zstd");
    let root = SessionsRoot::new(&place.home().join("sessions")).unwrap();
    let store = JsonlPersistence::new(root, Compression::Zstd);
    let open = store.resume(&dsh_env::contract::SessionId::new("s1").unwrap(), Project::Any).unwrap();
    assert_eq!(code(&place, &["resume", "s1"], &flags, 1), "session-in-use");
    session(&place, &["show", "s1"], &flags).expect(0);
    session(&place, &["fork", "s1"], &flags).expect(0);
    drop(open);
    session(&place, &["resume", "s1"], &flags).expect(0);
}

#[test]
fn a_root_that_is_a_file_is_an_error_that_says_so() {
    let place = Place::new();
    let file = place.write("a file", "");
    let flags = ["--root", file.to_str().unwrap()];
    for arguments in [&["new"][..], &["list"]] {
        for backend in ["jsonl", "sqlite"] {
            let run = session(&place, arguments, &[&flags[..], &["--backend", backend]].concat()).expect(1);
            assert!(run.stderr().contains("a file is where a folder has to be"), "{}", run.stderr());
        }
    }
}
