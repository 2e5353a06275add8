use std::path::PathBuf;

use super::*;
use crate::contract::Execution;
use crate::home::{Home, Surroundings};
use crate::registry::Registry;
use crate::session_persistence::SessionPersistence;
use crate::sessions::{Location, LocationKind, Persistence, SqlitePersistence};

/// Answers with one path, whatever the session.
struct Fixed(PathBuf);

impl Persistence for Fixed {
    fn locate(&self, _: &SessionHeader) -> Option<Location> {
        Some(Location { kind: LocationKind::Jsonl, path: self.0.clone() })
    }
}

/// What a command of this session has in its environment.
fn told_to_a_command(persistence: &ActivePersistence) -> Option<String> {
    let registry = Registry::new(&Home::resolve_in(Some("/h".as_ref()), &Surroundings::default()).unwrap());
    let _registration = registry.register(SessionPersistence::new(persistence.clone())).unwrap();
    let overlay = registry.collect(&Execution::new("bash").owned_by(context().session)).unwrap();
    overlay.get("DSH_SESSION_JSONL").map(|entry| entry.value.expose().to_owned())
}

/// What a hook of this dialect reads.
fn told_to_a_hook(dialect: Dialect, persistence: &ActivePersistence) -> Value {
    let transcripts = Transcripts::locate(persistence, &context(), &prompt());
    let bytes = payload(dialect, &context(), &prompt(), &transcripts);
    serde_json::from_slice::<Value>(&bytes).unwrap()["transcript_path"].clone()
}

#[test]
fn hooks_are_told_what_commands_are_told() {
    let root = Path::new("/r");
    let not_utf8 = {
        #[cfg(unix)]
        {
            use std::os::unix::ffi::OsStringExt as _;
            PathBuf::from(std::ffi::OsString::from_vec(b"/r/\xff".to_vec()))
        }
        #[cfg(not(unix))]
        PathBuf::from("/r/x")
    };
    for (persistence, expected) in [
        (jsonl(root, Compression::None), Some("/r/--srv--/s1/session.jsonl")),
        (jsonl(root, Compression::Zstd), Some("/r/--srv--/s1/session.jsonl.zstd")),
        (
            ActivePersistence::new(Arc::new(SqlitePersistence::new(crate::sessions::SessionsRoot::new(root).unwrap()))),
            None,
        ),
        (ActivePersistence::default(), None),
        (ActivePersistence::new(Arc::new(Fixed(not_utf8))), cfg!(not(unix)).then_some("/r/x")),
    ] {
        assert_eq!(told_to_a_command(&persistence).as_deref(), expected);
        assert_eq!(told_to_a_hook(Dialect::ClaudeCode, &persistence), json!(expected.unwrap_or_default()));
        assert_eq!(told_to_a_hook(Dialect::Codex, &persistence), json!(expected));
    }
}

#[test]
fn each_event_asks_the_service_that_is_current_then() {
    let persistence = jsonl(Path::new("/one"), Compression::None);
    assert_eq!(told_to_a_hook(Dialect::Codex, &persistence), json!("/one/--srv--/s1/session.jsonl"));
    persistence.replace(jsonl(Path::new("/two"), Compression::None).current());
    assert_eq!(told_to_a_hook(Dialect::Codex, &persistence), json!("/two/--srv--/s1/session.jsonl"));
    persistence.replace(None);
    assert_eq!(told_to_a_hook(Dialect::Codex, &persistence), Value::Null);
}

#[test]
fn an_agent_that_ends_has_a_transcript_of_its_own() {
    let persistence = jsonl(Path::new("/r"), Compression::None);
    let transcripts = Transcripts::locate(&persistence, &context(), &subagent_stop());
    assert_eq!(transcripts.session.as_deref(), Some("/r/--srv--/s1/session.jsonl"));
    assert_eq!(transcripts.subagent.as_deref(), Some("/r/--srv--/s2/session.jsonl"));
    assert_eq!(Transcripts::locate(&persistence, &context(), &stop()).subagent, None);
}

#[test]
fn looking_up_makes_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let persistence = jsonl(&folder.path().join("sessions"), Compression::Zstd);
    for event in every_event() {
        assert!(Transcripts::locate(&persistence, &context(), &event).session.is_some());
    }
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
}
