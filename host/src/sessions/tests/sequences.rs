//! Any sequence of what a session lives through keeps what was flushed.

use std::io::Write as _;

use proptest::prelude::*;

use super::support::{Kind, Place, event, events, header, id};
use crate::sessions::{Project, SessionLog, SessionStore};

#[derive(Clone, Debug)]
enum Step {
    Append(usize),
    Flush,
    /// The writer is gone, with what it had not flushed, and another goes on.
    Reopen,
    /// The same, and the end of the file has a part of what was being written.
    Tear(usize),
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        4 => (1_usize..4).prop_map(Step::Append),
        3 => Just(Step::Flush),
        1 => Just(Step::Reopen),
        1 => (0_usize..200).prop_map(Step::Tear),
    ]
}

/// A session with its log, or without one before the first flush.
struct Subject<'a> {
    kind: Kind,
    store: &'a dyn SessionStore,
    log: Box<dyn SessionLog>,
    appended: usize,
    kept: Option<usize>,
}

impl Subject<'_> {
    fn take(&mut self, step: &Step) {
        match step {
            Step::Append(count) => {
                for _ in 0..*count {
                    self.log.append(&event(self.appended)).unwrap();
                    self.appended += 1;
                }
            }
            Step::Flush => {
                self.log.flush().unwrap();
                self.kept = Some(self.appended);
            }
            Step::Reopen => self.reopen(0),
            Step::Tear(bytes) => self.reopen(*bytes),
        }
    }

    fn reopen(&mut self, torn: usize) {
        let Some(kept) = self.kept else {
            self.log = self.store.create(&header("s1", None)).unwrap();
            self.appended = 0;
            return;
        };
        let path = self.log.location().map(|location| location.path.clone());
        let nothing: Box<dyn SessionLog> = self.store.create(&header("another", None)).unwrap();
        drop(std::mem::replace(&mut self.log, nothing));
        let mut torn_bytes = 0;
        if let Some(path) = path {
            let next = next_flush(self.kind, kept);
            // A part, never the whole: that would have been kept.
            torn_bytes = torn.min(next.len() - 1);
            fs_append(&path, &next[..torn_bytes]);
        }
        let loaded = self.store.load(&id("s1"), Project::Any).unwrap();
        assert_eq!((loaded.events, loaded.torn), (events(kept), torn_bytes as u64));
        let resumed = self.store.resume(&id("s1"), Project::Any).unwrap();
        assert_eq!((resumed.events, resumed.repaired), (events(kept), torn_bytes as u64));
        self.log = resumed.log;
        self.appended = kept;
    }
}

fn fs_append(path: &std::path::Path, bytes: &[u8]) {
    std::fs::OpenOptions::new().append(true).open(path).unwrap().write_all(bytes).unwrap();
}

/// What a flush of the next event adds to the file.
fn next_flush(kind: Kind, seq: usize) -> Vec<u8> {
    let place = Place::new();
    let mut log = kind.store(&place.root()).create(&header("s1", None)).unwrap();
    let length = |log: &dyn SessionLog| std::fs::read(&log.location().unwrap().path).unwrap();
    for event in events(seq) {
        log.append(&event).unwrap();
    }
    log.flush().unwrap();
    let before = length(log.as_ref()).len();
    log.append(&event(seq)).unwrap();
    log.flush().unwrap();
    length(log.as_ref()).split_off(before)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn what_was_flushed_stays_whatever_comes_next(steps in proptest::collection::vec(step(), 1..25)) {
        for kind in Kind::ALL {
            let place = Place::new();
            let store = kind.store(&place.root());
            let log = store.create(&header("s1", None)).unwrap();
            let mut subject = Subject { kind: *kind, store: store.as_ref(), log, appended: 0, kept: None };
            for step in &steps {
                subject.take(step);
                match (subject.kept, store.load(&id("s1"), Project::Any)) {
                    (None, loaded) => prop_assert!(loaded.is_err()),
                    (Some(kept), loaded) => prop_assert_eq!(loaded.unwrap().events, events(kept)),
                }
            }
        }
    }
}
