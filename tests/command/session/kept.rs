//! `session list`, `show`, `resume` and `fork`, on a session that is kept.

use super::*;

#[test]
fn a_session_is_listed_for_people_and_for_programs() {
    for form in FORMS {
        let (place, flags) = kept(form);
        let text = session(&place, &["list"], &flags).expect(0).stdout();
        let lines: Vec<_> = text.lines().collect();
        assert!(lines[0].contains("ID") && lines[0].contains("PARENT"), "{text}");
        for word in ["s1", "2023-11-14", "22:13:20Z", "/srv/app", "s0"] {
            assert!(lines[1..].concat().contains(word), "{form}: {text}");
        }
        let listed = session(&place, &["list", "--json"], &flags).expect(0).json();
        assert_eq!(listed.as_array().unwrap().len(), 1);
        assert_eq!((&listed[0]["id"], &listed[0]["error"]), (&"s1".into(), &Value::Null));
        assert_eq!(listed[0]["header"]["agentPreset"], "explorer");
        assert!(listed[0]["bytes"].as_u64().unwrap() > 100);
    }
}

#[test]
fn nothing_is_listed_where_nothing_is_kept() {
    let place = Place::new();
    for backend in ["jsonl", "sqlite"] {
        assert_eq!(
            session(&place, &["list", "--json"], &["--backend", backend]).expect(0).json(),
            serde_json::json!([])
        );
    }
    assert!(!place.home().exists());
}

#[test]
fn a_session_that_cannot_be_read_is_listed_beside_the_others() {
    let (place, flags) = kept("kept.jsonl");
    place.write("home/sessions/--srv-app--/s2/session.jsonl", "\u{1b}[31m garbage");
    let run = session(&place, &["list"], &flags).expect(0);
    assert!(run.stdout().contains("s1") && !run.stdout().contains("s2"), "{}", run.stdout());
    assert!(run.stderr().contains("s2/session.jsonl") && run.stderr().contains("session-damaged"), "{}", run.stderr());
    let listed = session(&place, &["list", "--json"], &flags).expect(0).json();
    assert_eq!((&listed[1]["id"], &listed[1]["error"]["code"]), (&Value::Null, &"session-damaged".into()));
}

#[test]
fn a_program_is_shown_the_lines_of_the_log_as_they_are() {
    for form in FORMS {
        let (place, flags) = kept(form);
        assert_eq!(session(&place, &["show", "s1", "--json"], &flags).expect(0).stdout(), fixture_lines(), "{form}");
    }
}

#[test]
fn people_are_shown_one_line_an_event_that_cannot_steer_their_terminal() {
    for form in FORMS {
        let (place, flags) = kept(form);
        let text = session(&place, &["show", "s1"], &flags).expect(0).stdout();
        assert!(text.chars().all(|character| character == '\n' || !dsh_env::text::steers(character)), "{text}");
        for word in ["cwd       /srv/app", "parent    s0", "preset    explorer", "depth     2", "events    4"] {
            assert!(text.contains(word), "{form}: {text}");
        }
        let events: Vec<_> = text.lines().rev().take(4).collect();
        assert!(
            events[3].starts_with("     0  2023-11-14 22:13:20Z  user/message  {\"text\":\"Which branch"),
            "{text}"
        );
        assert!(events[0].contains("from/the-future"), "{text}");
    }
}

#[test]
fn a_long_event_is_cut_for_people_only() {
    let (place, flags) = kept("kept.jsonl");
    let long = serde_json::json!({ "seq": 4, "type": "tool/result", "at": 1, "output": "x".repeat(100_000) });
    place.write("home/sessions/--srv-app--/s1/session.jsonl", format!("{}{long}\n", fixture_lines()));
    let text = session(&place, &["show", "s1"], &flags).expect(0).stdout();
    assert!(text.lines().all(|line| line.len() < 300) && text.contains('…'), "{text}");
    assert!(session(&place, &["show", "s1", "--json"], &flags).expect(0).stdout().len() > 100_000);
}

#[test]
fn a_session_that_can_go_on_is_described() {
    for form in FORMS {
        let (place, flags) = kept(form);
        let resumed = session(&place, &["resume", "s1", "--cwd", "/srv/app", "--json"], &flags).expect(0).json();
        assert_eq!((&resumed["events"], &resumed["repaired"]), (&4.into(), &0.into()));
        assert_eq!(resumed["header"]["parentSession"], "s0");
        let located = session(&place, &["locate", "--id", "s1", "--cwd", "/srv/app"], &flags).expect(0).json();
        assert_eq!(resumed["location"], located);
        let text = session(&place, &["resume", "s1"], &flags).expect(0).stdout();
        assert!(text.contains("events    4") && !text.contains("repaired"), "{text}");
    }
}

#[test]
fn resuming_removes_a_torn_end_and_showing_does_not() {
    let (place, flags) = kept("kept.jsonl");
    let torn = format!("{}{{\"seq\":4,\"ty", fixture_lines());
    let path = place.write("home/sessions/--srv-app--/s1/session.jsonl", &torn);
    let shown = session(&place, &["show", "s1", "--json"], &flags).expect(0);
    assert_eq!(shown.stdout(), fixture_lines());
    assert!(shown.stderr().contains("12 bytes of a torn end"), "{}", shown.stderr());
    assert_eq!(std::fs::read_to_string(&path).unwrap(), torn);
    let text = session(&place, &["resume", "s1"], &flags).expect(0).stdout();
    assert!(text.contains("12 bytes of a torn end removed"), "{text}");
    assert_eq!(std::fs::read_to_string(&path).unwrap(), fixture_lines());
}

#[test]
fn a_fork_begins_as_its_parent_and_is_kept_at_once() {
    for form in FORMS {
        let (place, flags) = kept(form);
        let fork = session(&place, &["fork", "s1", "--json"], &flags).expect(0).json();
        let id = fork["id"].as_str().unwrap();
        assert_eq!((&fork["events"], &fork["header"]["seedLength"]), (&4.into(), &4.into()));
        assert_eq!((&fork["header"]["parentSession"], &fork["header"]["cwd"]), (&"s1".into(), &"/srv/app".into()));
        assert_eq!(fork["header"]["delegationDepth"], 2);
        let shown = session(&place, &["show", id, "--json"], &flags).expect(0).stdout();
        let events = |text: &str| text.split_once('\n').unwrap().1.to_owned();
        assert_eq!(events(&shown), events(&fixture_lines()));
        if let Some(path) = fork["location"]["path"].as_str() {
            assert!(std::path::Path::new(path).is_file());
        }
        let listed = session(&place, &["list", "--json"], &flags).expect(0).json();
        assert_eq!((&listed[0]["id"], &listed[1]["id"]), (&id.into(), &"s1".into()), "the newest first");
        let text = session(&place, &["fork", id], &flags).expect(0).stdout();
        assert!(text.contains("events    4"), "{text}");
    }
}

#[test]
fn a_folder_whose_name_is_not_text_hides_no_session_from_programs() {
    use std::os::unix::ffi::OsStrExt as _;

    let (place, flags) = kept(FORMS[0]);
    let odd = place.home().join("sessions").join(std::ffi::OsStr::from_bytes(b"--\xff--")).join("a");
    std::fs::create_dir_all(&odd).unwrap();
    std::fs::write(odd.join("session.jsonl"), "x\n").unwrap();
    let listed = session(&place, &["list", "--json"], &flags).expect(0).json();
    let ids: Vec<_> = listed.as_array().unwrap().iter().map(|listed| listed["id"].clone()).collect();
    assert_eq!(ids, [Value::from("s1"), Value::Null]);
    assert_eq!(listed[1]["error"]["code"], "session-damaged");
}
