//! What the tests of facts share: a registry whose facts can be seen, and real processes.
#![cfg_attr(not(feature = "harness"), allow(dead_code, reason = "only commands need a folder"))]

use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use tempfile::TempDir;

use super::FactsBoard;
use crate::contract::{Execution, Facts};
use crate::home::{Home, Surroundings};
use crate::registry::{Collected, Observer, Registry};

/// Nothing that a test waits for takes longer.
pub(super) const LONG: Duration = Duration::from_secs(60);

/// A home with a registry and its board.
pub(super) struct Place {
    folder: TempDir,
    pub(super) home: Home,
    pub(super) registry: Registry,
    pub(super) board: FactsBoard,
    seen: Arc<Seen>,
}

/// What the last collection saw.
#[derive(Default)]
struct Seen(Mutex<Facts>);

impl Observer for Seen {
    fn collected(&self, collection: &Collected<'_>) {
        *self.0.lock().unwrap() = collection.facts.clone();
    }
}

impl Place {
    pub(super) fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let home = Home::resolve_in(Some(folder.path().as_os_str()), &Surroundings::default()).unwrap();
        let registry = Registry::new(&home);
        let (board, seen) = (FactsBoard::new(&registry), Arc::<Seen>::default());
        registry.observe(Arc::clone(&seen) as Arc<dyn Observer>);
        Self { folder, home, registry, board, seen }
    }

    pub(super) fn path(&self) -> &Path {
        self.folder.path()
    }

    /// What a collection sees that begins now.
    pub(super) fn facts(&self) -> Facts {
        self.registry.collect(&Execution::new("bash")).unwrap();
        self.seen.0.lock().unwrap().clone()
    }

    /// What it sees of one fact.
    pub(super) fn fact(&self, name: &str) -> Option<String> {
        self.facts().get(name).map(str::to_owned)
    }
}

/// Waits until something holds.
pub(super) fn until(what: &str, holds: impl Fn() -> bool) {
    let begun = Instant::now();
    while !holds() {
        assert!(begun.elapsed() < LONG, "not in time: {what}");
        std::thread::sleep(Duration::from_millis(5));
    }
}
