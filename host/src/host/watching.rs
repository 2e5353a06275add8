//! Noticing that something changed in the home.
//!
//! Events only say *that* something changed: what there is then is looked at anew. So one that is lost costs time and
//! nothing else: everything is looked at every few seconds too, which is also how it goes where a file system has no
//! events.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use notify::event::{AccessKind, AccessMode, ModifyKind, RenameMode};
use notify::{Event, EventKind, RecommendedWatcher, RecursiveMode, Watcher as _};

use super::Host;
use crate::error::{Code, Error, Result};
use crate::installation::Watch;

/// How long nothing may happen before what happened is looked at: writing a file in many parts is one change.
const QUIET: Duration = Duration::from_millis(20);

/// How long at most that is put off for a file that keeps changing.
const PATIENCE: Duration = Duration::from_millis(200);

/// Refreshes a host when something changes, until it is dropped.
#[derive(Debug)]
pub struct Watcher {
    signals: Sender<Signal>,
    thread: Option<JoinHandle<()>>,
}

/// What the watching thread is told.
enum Signal {
    /// Something happened; whether it was the end of it, such as a file that was closed.
    Changed {
        complete: bool,
    },
    Stop,
}

impl Watcher {
    /// Begins to watch; `every` is how often everything is looked at even though nothing was heard.
    ///
    /// # Errors
    /// `internal` where no thread can be started. Where there are no events, it goes on by looking.
    pub fn start(host: Arc<Host>, watch: Watch, every: Duration) -> Result<Self> {
        let (signals, told) = channel();
        let events = (watch == Watch::Auto).then(|| Events::new(signals.clone())).flatten();
        let name = "dsh-env-watching".to_owned();
        let run = move || {
            if watch != Watch::Off {
                run(&host, events, &told, every);
            }
        };
        let thread = std::thread::Builder::new().name(name).spawn(run).map_err(|error| {
            Error::host(Code::Internal, format!("no thread could be started to watch the home ({error})"))
        })?;
        Ok(Self { signals, thread: Some(thread) })
    }
}

impl Drop for Watcher {
    fn drop(&mut self) {
        // It is gone already where it does not watch.
        let _ = self.signals.send(Signal::Stop);
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

fn run(host: &Host, mut events: Option<Events>, told: &Receiver<Signal>, every: Duration) {
    loop {
        if let Some(events) = &mut events {
            events.follow(host);
        }
        host.refresh();
        match told.recv_timeout(every) {
            Ok(Signal::Changed { complete }) => {
                if !complete && settles(told).is_break() {
                    return;
                }
            }
            Err(RecvTimeoutError::Timeout) => {}
            Ok(Signal::Stop) | Err(RecvTimeoutError::Disconnected) => return,
        }
    }
}

/// Waits until nothing happened for a while, or for as long as is right.
fn settles(told: &Receiver<Signal>) -> std::ops::ControlFlow<()> {
    let until = Instant::now() + PATIENCE;
    while Instant::now() < until {
        match told.recv_timeout(QUIET) {
            Ok(Signal::Changed { complete: false }) => {}
            Ok(Signal::Changed { complete: true }) | Err(RecvTimeoutError::Timeout) => break,
            Ok(Signal::Stop) | Err(RecvTimeoutError::Disconnected) => return std::ops::ControlFlow::Break(()),
        }
    }
    std::ops::ControlFlow::Continue(())
}

/// The system's events.
struct Events {
    watcher: RecommendedWatcher,
    /// The folders that are watched, and which one each path led to.
    watched: BTreeMap<PathBuf, Option<u64>>,
}

impl Events {
    /// Nothing where the system has none to give.
    fn new(signals: Sender<Signal>) -> Option<Self> {
        let tell = move |event: notify::Result<Event>| {
            let Some(complete) = event.as_ref().map_or(Some(true), is_change) else { return };
            // Nobody listens any more at the end.
            let _ = signals.send(Signal::Changed { complete });
        };
        match notify::recommended_watcher(tell) {
            Ok(watcher) => Some(Self { watcher, watched: BTreeMap::new() }),
            Err(error) => {
                tracing::warn!(%error, "there are no events of the file system: the home is looked at now and then");
                None
            }
        }
    }

    /// Watches the folders that there are now. One that was replaced is another one under the same path.
    fn follow(&mut self, host: &Host) {
        let wanted: BTreeMap<_, _> =
            host.watched_folders().into_iter().map(|folder| (folder.clone(), identity(&folder))).collect();
        for (folder, seen) in &self.watched {
            if seen.is_some() && wanted.get(folder) != Some(seen) {
                // The system may have ended it with the folder.
                let _ = self.watcher.unwatch(folder);
            }
        }
        for (folder, identity) in &wanted {
            let is_new = identity.is_some() && self.watched.get(folder) != Some(identity);
            if is_new && let Err(error) = self.watcher.watch(folder, RecursiveMode::NonRecursive) {
                tracing::warn!(folder = %folder.display(), %error, "a folder cannot be watched, and is looked at now and then");
            }
        }
        self.watched = wanted;
    }
}

/// Tells a folder from another one of the same path.
fn identity(folder: &Path) -> Option<u64> {
    let metadata = std::fs::metadata(folder).ok()?;
    #[cfg(unix)]
    return Some(std::os::unix::fs::MetadataExt::ino(&metadata));
    #[cfg(not(unix))]
    return metadata.is_dir().then_some(0);
}

/// Whether an event is a change, and if so whether it is complete. Looking at a file is none.
fn is_change(event: &Event) -> Option<bool> {
    match event.kind {
        EventKind::Access(AccessKind::Close(AccessMode::Write))
        | EventKind::Modify(ModifyKind::Name(RenameMode::To | RenameMode::Both))
        | EventKind::Remove(_) => Some(true),
        EventKind::Access(_) => None,
        _ => Some(event.need_rescan()),
    }
}
