use std::collections::HashMap;
use std::path::{Component, Path, PathBuf};

use proptest::prelude::*;
use serde::Deserialize;

use super::*;
use crate::contract::{SessionHeader, SessionId};
use crate::error::Code;
use crate::home::{Home, Surroundings};

#[cfg(feature = "sessions")]
mod child;
#[cfg(feature = "sessions")]
mod contract;
#[cfg(all(unix, feature = "sessions"))]
mod full_disk;
#[cfg(feature = "sessions")]
mod hostile;
#[cfg(feature = "sessions")]
mod kept;
#[cfg(all(unix, feature = "sessions"))]
mod killed;
#[cfg(feature = "sessions")]
mod sequences;
#[cfg(feature = "sessions")]
pub(super) mod support;
#[cfg(feature = "sessions")]
mod taken;

#[derive(Deserialize)]
struct Row {
    id: String,
    cwd: Option<String>,
    compression: String,
    path: PathBuf,
}

/// What the original system answered.
fn oracle() -> Vec<Row> {
    serde_json::from_str(include_str!("../../../tests/fixtures/oracle/session-paths.json")).unwrap()
}

fn header(id: &str, cwd: Option<&str>) -> SessionHeader {
    SessionHeader { cwd: cwd.map(str::to_owned), ..SessionHeader::new(SessionId::new(id).unwrap()) }
}

fn jsonl(root: &str, compression: Compression) -> JsonlPersistence {
    JsonlPersistence::new(SessionsRoot::new(Path::new(root)).unwrap(), compression)
}

fn path_of(id: &str, cwd: Option<&str>) -> PathBuf {
    jsonl("/r/sessions", Compression::None).locate(&header(id, cwd)).unwrap().path
}

#[test]
fn a_session_is_where_the_original_system_keeps_it() {
    let rows = oracle();
    assert!(rows.len() > 50);
    for row in rows {
        let compression =
            Compression::ALL.iter().copied().find(|compression| compression.as_str() == row.compression).unwrap();
        let persistence = jsonl("/r/sessions", compression);
        let location = persistence.locate(&header(&row.id, row.cwd.as_deref())).unwrap();
        assert_eq!(location, Location { kind: LocationKind::Jsonl, path: row.path }, "{:?} {:?}", row.id, row.cwd);
    }
}

#[test]
fn a_directory_that_is_given_but_empty_is_a_root_and_not_a_missing_one() {
    assert_eq!(path_of("s", Some("")), Path::new("/r/sessions/--root--/s/session.jsonl"));
    assert_eq!(path_of("s", None), Path::new("/r/sessions/_no-cwd/s/session.jsonl"));
}

#[test]
fn no_directory_is_mistaken_for_a_missing_one() {
    assert_eq!(path_of("s", Some("_no-cwd")), Path::new("/r/sessions/--_no-cwd--/s/session.jsonl"));
}

#[test]
fn a_compressed_log_is_of_the_same_kind_with_another_name() {
    let location = jsonl("/r", Compression::Zstd).locate(&header("s", None)).unwrap();
    assert_eq!(
        serde_json::to_value(location).unwrap(),
        serde_json::json!({"kind": "jsonl", "path": "/r/_no-cwd/s/session.jsonl.zstd"})
    );
}

#[test]
fn a_database_has_no_file_for_a_session() {
    assert_eq!(
        SqlitePersistence::new(SessionsRoot::new(Path::new("/r")).unwrap()).locate(&header("s", Some("/srv"))),
        None
    );
}

#[test]
fn locating_touches_nothing_on_disk() {
    let dir = tempfile::tempdir().unwrap();
    let root = dir.path().join("sessions");
    let persistence = JsonlPersistence::new(SessionsRoot::new(&root).unwrap(), Compression::default());
    assert!(persistence.locate(&header("s", Some("/srv"))).unwrap().path.starts_with(&root));
    assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 0);
}

#[test]
fn the_slot_answers_with_whatever_is_current_and_an_answer_is_kept() {
    let slot = ActivePersistence::default();
    assert!(slot.current().is_none());
    let same = slot.clone();
    same.replace(Some(std::sync::Arc::new(jsonl("/one", Compression::None))));
    let first = slot.current().unwrap();
    same.replace(Some(std::sync::Arc::new(SqlitePersistence::new(SessionsRoot::new(Path::new("/r")).unwrap()))));
    assert!(first.locate(&header("s", None)).unwrap().path.starts_with("/one"));
    assert!(slot.current().unwrap().locate(&header("s", None)).is_none());
    same.replace(None);
    assert!(slot.current().is_none());
    assert_eq!(format!("{slot:?}"), "ActivePersistence(none)");
}

mod root {
    use super::*;

    fn surroundings() -> Surroundings {
        Surroundings { ambient: None, user_home: Some("/home/u".into()), current_dir: Some("/tmp".into()) }
    }

    fn resolve(configured: Option<&str>) -> crate::Result<PathBuf> {
        let home = Home::resolve_in(Some("/h".as_ref()), &surroundings()).unwrap();
        SessionsRoot::resolve(configured, &home, &surroundings()).map(|root| root.path().to_path_buf())
    }

    #[test]
    fn it_is_in_the_home_unless_configured() {
        assert_eq!(resolve(None).unwrap(), Path::new("/h/sessions"));
    }

    #[test]
    fn it_follows_the_rules_of_the_home() {
        for (configured, root) in [
            ("~", "/home/u"),
            ("~/s", "/home/u/s"),
            ("~\\s", "/home/u/s"),
            ("~bob/s", "/tmp/~bob/s"),
            ("$HOME/s", "/tmp/$HOME/s"),
            ("rel/", "/tmp/rel"),
            ("/a/./b/../c//", "/a/c"),
            (" s", "/tmp/ s"),
        ] {
            assert_eq!(resolve(Some(configured)).unwrap(), Path::new(root), "{configured}");
        }
    }

    #[test]
    fn it_says_something() {
        for configured in ["", " ", "\u{3000}\t", "/a\0b"] {
            assert_eq!(resolve(Some(configured)).unwrap_err().code(), Code::InvalidConfiguration, "{configured:?}");
        }
    }

    #[test]
    fn what_it_is_resolved_from_must_be_known_where_it_is_needed() {
        let home = Home::resolve_in(Some("/h".as_ref()), &Surroundings::default()).unwrap();
        let resolve = |configured| SessionsRoot::resolve(Some(configured), &home, &Surroundings::default());
        assert!(resolve("~/s").unwrap_err().message().contains("set HOME"));
        assert!(resolve("s").unwrap_err().message().contains("current directory"));
        assert!(resolve("/s").is_ok());
    }

    #[test]
    fn a_relative_one_is_refused_by_whoever_has_no_base_for_it() {
        let error = SessionsRoot::new(Path::new("s")).unwrap_err();
        assert_eq!(error.code(), Code::InvalidConfiguration);
        assert!(error.message().contains("absolute"), "{error}");
    }
}

/// Text with a good share of what the rules treat in a way of their own.
fn text(length: std::ops::Range<usize>) -> impl Strategy<Value = String> {
    let character =
        prop_oneof![proptest::sample::select(vec!['/', '\\', ':', '-', '.', '~', '\0', 'a']), any::<char>()];
    proptest::collection::vec(character, length).prop_map(String::from_iter)
}

fn cwd() -> impl Strategy<Value = Option<String>> {
    proptest::option::of(prop_oneof![text(0..10), text(50..300)])
}

fn id() -> impl Strategy<Value = String> {
    prop_oneof![
        text(1..20),
        // Short ones over few characters meet each other often.
        "[.~02E/]{1,4}",
    ]
}

/// The components below the root: project, session, file.
fn parts(path: &Path) -> Vec<String> {
    path.strip_prefix("/r/sessions")
        .unwrap()
        .components()
        .map(|component| match component {
            Component::Normal(name) => name.to_str().unwrap().to_owned(),
            other => panic!("{other:?} in {}", path.display()),
        })
        .collect()
}

proptest! {
    #[test]
    fn every_session_is_below_the_root_in_plain_characters(id in id(), cwd in cwd()) {
        let parts = parts(&path_of(&id, cwd.as_deref()));
        prop_assert_eq!(parts.len(), 3);
        for part in &parts {
            prop_assert!(part.bytes().all(|b| b.is_ascii_alphanumeric() || b"._-~".contains(&b)), "{}", part);
            prop_assert!(!matches!(part.as_str(), "" | "." | ".."));
        }
        prop_assert!(parts[0].len() <= 255);
    }

    #[test]
    fn two_ids_never_share_a_path_within_a_project(
        ids in proptest::collection::hash_set(id(), 2..20),
        cwd in cwd(),
    ) {
        let mut taken = HashMap::new();
        for id in ids {
            if let Some(other) = taken.insert(path_of(&id, cwd.as_deref()), id.clone()) {
                return Err(TestCaseError::fail(format!("{id:?} and {other:?}")));
            }
        }
    }

    #[test]
    fn a_project_does_not_depend_on_the_id(one in id(), other in id(), cwd in cwd()) {
        let project = |id: &str| parts(&path_of(id, cwd.as_deref())).swap_remove(0);
        prop_assert_eq!(project(&one), project(&other));
    }

    #[test]
    fn any_configured_root_is_absolute_and_normal_or_an_error(configured in text(0..20)) {
        let surroundings = Surroundings { user_home: Some("/home/u".into()), current_dir: Some("/tmp".into()), ambient: None };
        let home = Home::resolve_in(Some("/h".as_ref()), &surroundings).unwrap();
        if let Ok(root) = SessionsRoot::resolve(Some(&configured), &home, &surroundings) {
            prop_assert!(root.path().is_absolute());
            prop_assert_eq!(SessionsRoot::new(root.path()).unwrap(), root);
        }
    }
}
