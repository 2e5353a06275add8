use std::fs;
use std::path::Path;

use rusqlite::Connection;

use crate::error::Code;
use crate::sessions::tests::support::{Kind, Place, event, events, header, id, keep};
use crate::sessions::{Project, SessionStore, SessionsRoot, SqlitePersistence};

fn store(place: &Place) -> SqlitePersistence {
    SqlitePersistence::new(SessionsRoot::new(&place.root()).unwrap())
}

fn kept(place: &Place) -> SqlitePersistence {
    let store = store(place);
    keep(&store, &header("s1", Some("/srv")), 3);
    store
}

/// Changes the database behind the store's back.
fn meddle(store: &SqlitePersistence, sql: &str) {
    Connection::open(store.database()).unwrap().execute_batch(sql).unwrap();
}

/// What every way to a session answers.
fn codes(store: &SqlitePersistence) -> [Code; 4] {
    [
        store.load(&id("s1"), Project::Any).unwrap_err().code(),
        store.resume(&id("s1"), Project::Any).unwrap_err().code(),
        store.list().unwrap_err().code(),
        store.create(&header("s2", None)).err().unwrap().code(),
    ]
}

#[test]
fn the_database_is_private_and_has_a_write_ahead_log() {
    let place = Place::new();
    let store = kept(&place);
    let mode: String =
        Connection::open(store.database()).unwrap().query_row("PRAGMA journal_mode", [], |row| row.get(0)).unwrap();
    assert_eq!(mode, "wal");
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o7777;
        assert_eq!((mode(&store.database()), mode(&place.root())), (0o600, 0o700));
    }
}

#[test]
fn a_database_of_a_later_version_asks_for_an_upgrade() {
    let place = Place::new();
    let store = kept(&place);
    meddle(&store, "PRAGMA user_version = 2");
    assert_eq!(codes(&store), [Code::SessionVersion; 4]);
    let error = store.list().unwrap_err();
    for part in ["version 2", "version 1", "upgrade dsh-env", "not damaged"] {
        assert!(error.message().contains(part), "{error}");
    }
}

#[test]
fn what_is_no_database_of_sessions_is_damage_and_is_left_alone() {
    let place = Place::new();
    fs::create_dir(place.root()).unwrap();
    let store = store(&place);
    fs::write(store.database(), "no database at all, but long enough to be one".repeat(100)).unwrap();
    let before = fs::read(store.database()).unwrap();
    assert_eq!(codes(&store), [Code::SessionDamaged; 4]);
    assert_eq!(fs::read(store.database()).unwrap(), before);
    fs::remove_file(store.database()).unwrap();

    meddle(&store, "CREATE TABLE theirs (x)");
    assert_eq!(codes(&store), [Code::SessionDamaged; 4]);
    assert!(store.list().unwrap_err().message().contains("another program"));
    fs::remove_file(store.database()).unwrap();

    fs::create_dir(store.database()).unwrap();
    assert_eq!(codes(&store), [Code::SessionDamaged; 4]);
    fs::remove_dir(store.database()).unwrap();

    #[cfg(unix)]
    {
        rustix::fs::mkfifoat(rustix::fs::CWD, store.database(), rustix::fs::Mode::RWXU).unwrap();
        assert_eq!(codes(&store), [Code::SessionDamaged; 4]);
    }
}

/// Only what the file says of itself is right: its numbers.
#[test]
fn a_database_with_other_tables_is_damage_and_none_of_its_queries_is_run() {
    let endless = "(WITH RECURSIVE e (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM e) SELECT n FROM e)";
    for prepared in [
        format!(
            "PRAGMA foreign_keys = OFF; DROP TABLE sessions; CREATE VIEW sessions AS
                SELECT n AS number, '' AS project, 's1' AS id, '' AS header FROM {endless} WHERE n < 0"
        ),
        format!(
            "DROP TABLE events; CREATE VIEW events AS SELECT 1 AS session, n AS seq, '' AS line FROM {endless} WHERE n < 0"
        ),
        "CREATE TRIGGER trigger_of_theirs AFTER INSERT ON events BEGIN DELETE FROM sessions; END".to_owned(),
        "DROP TABLE events; CREATE TABLE events (session, seq, line)".to_owned(),
        "ALTER TABLE events ADD COLUMN more TEXT".to_owned(),
        "CREATE INDEX theirs ON sessions (header)".to_owned(),
        "DROP TABLE events".to_owned(),
    ] {
        let place = Place::new();
        let store = kept(&place);
        meddle(&store, &prepared);
        assert_eq!(codes(&store), [Code::SessionDamaged; 4], "{prepared}");
        assert!(store.list().unwrap_err().message().contains("other tables"), "{prepared}");
    }
}

#[cfg(unix)]
#[test]
fn a_root_is_reached_through_a_link_and_a_database_is_not() {
    let place = Place::new();
    let elsewhere = Place::new();
    fs::create_dir(elsewhere.root()).unwrap();
    std::os::unix::fs::symlink(elsewhere.root(), place.root()).unwrap();
    let linked = kept(&place);
    assert_eq!(linked.load(&id("s1"), Project::Any).unwrap().events, events(3));
    assert_eq!(store(&elsewhere).list().unwrap().len(), 1);

    let third = Place::new();
    fs::create_dir(third.root()).unwrap();
    let store = store(&third);
    std::os::unix::fs::symlink(linked.database(), store.database()).unwrap();
    assert_eq!(codes(&store), [Code::SessionDamaged; 4]);
}

/// A process that was killed while it made the database.
#[test]
fn a_database_that_is_empty_so_far_is_made() {
    let place = Place::new();
    fs::create_dir(place.root()).unwrap();
    let store = store(&place);
    fs::write(store.database(), "").unwrap();
    assert_eq!(store.list().unwrap(), []);
    assert_eq!(store.load(&id("s1"), Project::Any).unwrap_err().code(), Code::SessionNotFound);
    keep(&store, &header("s1", None), 2);
    assert_eq!(store.load(&id("s1"), Project::Any).unwrap().events, events(2));
}

#[test]
fn damage_is_reported_and_nothing_is_changed() {
    for (sql, message) in [
        ("UPDATE events SET line = 'not json' WHERE seq = 1", "line 3 is not JSON"),
        ("UPDATE events SET line = 'not json' WHERE seq = 2", "line 4 is not JSON"),
        ("DELETE FROM events WHERE seq = 1", "event 2 where event 1"),
        ("UPDATE sessions SET header = '{}'", "not the header"),
        ("UPDATE sessions SET header = replace(header, '\"s1\"', '\"s2\"')", "another session"),
        ("UPDATE sessions SET project = '--other--'", "another directory"),
    ] {
        let place = Place::new();
        let store = kept(&place);
        meddle(&store, sql);
        let error = store.load(&id("s1"), Project::Any).unwrap_err();
        assert_eq!(error.code(), Code::SessionDamaged);
        assert!(error.message().contains(message), "{error}");
        assert_eq!(store.resume(&id("s1"), Project::Any).unwrap_err(), error);
    }
}

#[test]
fn one_damaged_session_does_not_hide_the_others() {
    let place = Place::new();
    let store = kept(&place);
    keep(&store, &header("s2", None), 1);
    meddle(&store, "UPDATE sessions SET header = x'ff' || 'x' WHERE id = 's1'");
    let listed = store.list().unwrap();
    assert_eq!(listed[0].header.as_ref().unwrap().session.id, id("s2"));
    assert_eq!(listed[1].header.as_ref().unwrap_err().code(), Code::SessionDamaged);
}

#[test]
fn nothing_is_acknowledged_for_a_session_that_was_removed_or_changed_meanwhile() {
    for (sql, code) in [
        ("DELETE FROM events; DELETE FROM sessions", Code::SessionStorage),
        ("INSERT INTO events SELECT session, 3, line FROM events WHERE seq = 2", Code::SessionInUse),
    ] {
        let place = Place::new();
        let store = kept(&place);
        let mut log = store.resume(&id("s1"), Project::Any).unwrap().log;
        meddle(&store, sql);
        log.append(&event(3)).unwrap();
        assert_eq!(log.flush().unwrap_err().code(), code);
    }
    let place = Place::new();
    let store = kept(&place);
    let mut log = store.resume(&id("s1"), Project::Any).unwrap().log;
    fs::remove_dir_all(place.root()).unwrap();
    log.append(&event(3)).unwrap();
    assert_eq!(log.flush().unwrap_err().code(), Code::SessionStorage);
}

/// Whoever opens the database while another one makes it finds nothing, or all of it.
#[test]
fn a_database_that_is_being_made_is_never_taken_for_that_of_another_program() {
    for round in 0..20 {
        let place = Place::new();
        let root = place.root();
        std::thread::scope(|scope| {
            let maker = scope.spawn(|| keep(Kind::Sqlite.store(&root).as_ref(), &header("s1", None), 1));
            while !maker.is_finished() {
                let listed = store(&place).list();
                assert!(listed.is_ok(), "round {round}: {listed:?}");
            }
        });
        assert_eq!(store(&place).list().unwrap().len(), 1);
    }
}

#[test]
fn many_sessions_are_written_at_once() {
    let place = Place::new();
    let root = place.root();
    std::thread::scope(|scope| {
        for writer in 0..6 {
            let root = &root;
            scope.spawn(move || {
                let store = Kind::Sqlite.store(root);
                let mut log = store.create(&header(&format!("s{writer}"), None)).unwrap();
                for seq in 0..20 {
                    log.append(&event(seq)).unwrap();
                    log.flush().unwrap();
                }
            });
        }
    });
    let store = store(&place);
    assert_eq!(store.list().unwrap().len(), 6);
    for writer in 0..6 {
        assert_eq!(store.load(&id(&format!("s{writer}")), Project::Any).unwrap().events, events(20));
    }
    assert_eq!(fs::read_dir(root.join("sessions.sqlite3-writers")).unwrap().count(), 0, "locks of the living only");
}
