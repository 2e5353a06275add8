//! A disk that is full: a child that may write no larger files, and then may again.

use std::path::Path;
use std::process::Command;

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

use super::support::{Kind, Numbers, Place, event, for_every_store, header, id};
use crate::error::Code;
use crate::sessions::{Event, Project, SessionStore};

const TASK: &str = "TEST_SESSIONS_FULL_DISK";

for_every_store! {
    a_flush_that_does_not_fit_changes_nothing_and_can_be_tried_again,
}

fn a_flush_that_does_not_fit_changes_nothing_and_can_be_tried_again(kind: Kind) {
    let test = format!(
        "sessions::tests::full_disk::{}::a_flush_that_does_not_fit_changes_nothing_and_can_be_tried_again",
        kind.name().to_lowercase()
    );
    if let Some(root) = std::env::var_os(TASK) {
        write_on_a_full_disk(kind, Path::new(&root));
        return;
    }
    let place = Place::new();
    // The shell's part is to ignore the signal that comes with the refusal.
    let output = Command::new("sh")
        .args(["-c", "trap '' XFSZ; exec \"$@\"", "sh"])
        .arg(std::env::current_exe().unwrap())
        .args(["--exact", &test, "--nocapture"])
        .env(TASK, place.root())
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let loaded = kind.store(&place.root()).load(&id("s1"), Project::Any).unwrap();
    assert_eq!((loaded.events, loaded.torn), ((0..6).map(large).collect(), 0));
}

fn write_on_a_full_disk(kind: Kind, root: &Path) {
    let store = kind.store(root);
    let mut log = store.create(&header("s1", None)).unwrap();
    log.append(&large(0)).unwrap();
    // What does not fit at all, and what fits in part.
    for room in [0, 1000, 60_000] {
        limit(Some(room));
        assert_full(log.flush());
        assert_full(log.flush());
        limit(None);
        assert_eq!(store.list().unwrap(), [], "with room for {room}");
    }
    log.flush().unwrap();
    for (seq, room) in (1..).zip([0, 1, 1000, 50_000]) {
        let before = size(store.as_ref());
        log.append(&large(seq)).unwrap();
        limit(Some(if kind.has_files() { before + room } else { room }));
        for _ in 0..2 {
            assert_full(log.flush());
            limit(None);
            let loaded = store.load(&id("s1"), Project::Any).unwrap();
            assert_eq!((loaded.events.len(), loaded.torn), (seq, 0), "with room for {room}");
            assert_eq!(size(store.as_ref()), before);
            limit(Some(if kind.has_files() { before + room } else { room }));
        }
        limit(None);
        log.flush().unwrap();
    }
    // What is appended between an attempt and the next is in the next.
    log.append(&large(5)).unwrap();
    limit(Some(0));
    assert_full(log.flush());
    limit(None);
    log.flush().unwrap();
}

fn assert_full(flushed: crate::Result<()>) {
    let error = flushed.unwrap_err();
    assert_eq!(error.code(), Code::SessionStorage, "{error}");
}

/// Too much for every room above, also compressed.
fn large(seq: usize) -> Event {
    let mut event = event(seq);
    event.fields.insert("noise".to_owned(), Numbers(seq as u64 + 7).text(200_000).into());
    event
}

fn size(store: &dyn SessionStore) -> u64 {
    store.list().unwrap()[0].bytes
}

/// How large the files may be that this process writes; `None` as large as it may allow itself.
fn limit(bytes: Option<u64>) {
    let maximum = getrlimit(Resource::Fsize).maximum;
    setrlimit(Resource::Fsize, Rlimit { current: bytes.or(maximum), maximum }).unwrap();
}
