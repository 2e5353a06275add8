//! Contributors that come, change and go while a host runs.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test that cannot go on fails"
)]

mod support;

#[path = "hot_loading/approval.rs"]
mod approval;
#[path = "hot_loading/bad_company.rs"]
mod bad_company;
#[path = "hot_loading/configured.rs"]
mod configured;
#[path = "hot_loading/crash.rs"]
mod crash;
#[path = "hot_loading/folder.rs"]
mod folder;
#[path = "hot_loading/replaced.rs"]
mod replaced;

use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use dsh_env::contract::Execution;
use dsh_env::installation::Watch;
use dsh_env::operations::{ContributorStatus, State};
use dsh_env::sandbox::{Allocation, Isolation, WorkerProgram};
use dsh_env::{Host, HostOptions, Watcher};
use support::command::Place;
use support::guest::Guest;

/// How long a change may take to show before a test gives up; a busy machine takes a while.
const PATIENCE: Duration = Duration::from_secs(60);

/// A host that watches its home.
struct Running {
    host: Arc<Host>,
    _watcher: Watcher,
}

impl Running {
    fn of(place: &Place) -> Self {
        Self::watching(place, Watch::Auto)
    }

    fn watching(place: &Place, watch: Watch) -> Self {
        std::fs::create_dir_all(place.home().join("contributors")).unwrap();
        let workers = Isolation::Workers(WorkerProgram::dsh_env(env!("CARGO_BIN_EXE_dsh-env")));
        let options = HostOptions::new().home(place.home()).allocation(Allocation::Pooled).isolation(workers);
        let host = Arc::new(Host::open(&options).unwrap());
        let watcher = Watcher::start(Arc::clone(&host), watch, Duration::from_secs(1)).unwrap();
        Self { host, _watcher: watcher }
    }

    /// The value of a key now.
    fn value(&self, key: &str) -> Option<String> {
        let overlay = self.host.registry().collect(&Execution::new("bash")).unwrap();
        overlay.get(key).map(|entry| entry.value.expose().to_owned())
    }

    fn status(&self, name: &str) -> Option<ContributorStatus> {
        self.host.statuses().into_iter().find(|status| status.name == name)
    }

    /// Waits until something holds.
    fn until(&self, what: &str, holds: impl Fn(&Self) -> bool) {
        let began = Instant::now();
        while !holds(self) {
            assert!(began.elapsed() < PATIENCE, "{what}: {:#?} {:?}", self.host.statuses(), self.host.problems());
            std::thread::sleep(Duration::from_millis(5));
        }
    }

    fn until_value(&self, key: &str, value: Option<&str>) {
        self.until(&format!("{key} is {value:?}"), |running| running.value(key).as_deref() == value);
    }

    fn until_state(&self, name: &str, state: State) -> ContributorStatus {
        self.until(&format!("{name} is {}", state.as_str()), |running| {
            running.status(name).is_some_and(|status| status.state == state)
        });
        self.status(name).unwrap()
    }
}

/// A build of `ticket` that says one thing.
fn ticket(value: &str) -> Vec<u8> {
    Guest::saying("ticket", &[("DSH_TICKET", value)]).component()
}

fn digest(bytes: &[u8]) -> String {
    dsh_env::installation::digest_of(bytes)
}

/// The file of an installed component.
fn installed(place: &Place, name: &str) -> PathBuf {
    place.home().join(format!("contributors/{name}.wasm"))
}
