//! `session new`.

use super::*;

#[test]
fn a_new_session_has_a_fresh_id_and_a_place_and_nothing_is_written() {
    let place = Place::new();
    let new =
        || place.run(["session", "new", "--cwd", "/srv/app", "--agent-preset", "explorer", "--json"]).expect(0).json();
    let (one, other) = (new(), new());
    let id = one["id"].as_str().unwrap();
    assert_eq!((id.len(), &id[14..15]), (36, "7"), "a version 7 UUID");
    assert!(other["id"].as_str().unwrap() > id, "later ones come later");
    assert_eq!(
        one["location"]["path"],
        *place.home().join(format!("sessions/--srv-app--/{id}/session.jsonl.zstd")).to_str().unwrap()
    );
    let header = &one["header"];
    assert_eq!(
        (&header["cwd"], &header["agentPreset"], &header["delegationDepth"]),
        (&"/srv/app".into(), &"explorer".into(), &0.into())
    );
    assert!(!place.home().exists());
}

#[test]
fn people_are_told_the_id_and_the_place() {
    let place = Place::new();
    let text = place.run(["session", "new", "--root", "/r", "--compression", "none"]).expect(0).stdout();
    let words: Vec<_> = text.split_whitespace().collect();
    assert_eq!((words[0], words[2]), ("id", "location"));
    assert_eq!(words[3], format!("/r/_no-cwd/{}/session.jsonl", words[1]));
    let text = place.run(["session", "new", "--backend", "sqlite"]).expect(0).stdout();
    assert!(text.contains("in the database"), "{text}");
}
