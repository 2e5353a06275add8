//! Finding facts out by commands, each of them every so often.
//!
//! A command has a thread of its own, which starts it, waits for it, and waits until it is time again: no command
//! runs twice at once, and none holds up another. What a run prints is the fact until its time is up or the next run
//! prints something else. A run that fails changes nothing: the fact then ends when its time is up.
//!
//! A command leads a process group, and none of the group outlives the run, however that ended.

mod fault;
mod run;

use std::collections::BTreeMap;
use std::io::{self, PipeReader, PipeWriter};
use std::ops::ControlFlow;
use std::path::PathBuf;
use std::sync::mpsc::{self, RecvTimeoutError};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use super::board::{FactsBoard, LEAST_TIME_TO_LIVE, MOST_TIME_TO_LIVE, Owner};
use super::{FactSettings, MAX_VALUE_BYTES, check_name};
use crate::error::Error;
use crate::home::Home;
use fault::Fault;
use run::{Running, is_stopped};

/// Whoever asks more often than this does nothing else.
const LEAST_EVERY: Duration = Duration::from_millis(10);

/// The shortest that a run may be allowed to take, and the longest.
const TIMEOUTS: [Duration; 2] = [Duration::from_millis(1), Duration::from_secs(60 * 60)];

/// How long a thread has to end whose command was killed. One that waits for a device does not go by then, and is left
/// behind.
const LOST_TIME: Duration = Duration::from_secs(2);

/// Runs commands that find facts out, from when they are set until this is dropped. A board has one.
///
/// Dropped, it kills what runs, and what it found out is withdrawn.
pub struct Scheduler {
    board: FactsBoard,
    home: PathBuf,
    facts: Mutex<BTreeMap<String, Found>>,
}

/// One fact and who finds it out.
struct Found {
    settings: FactSettings,
    problem: Arc<Problem>,
    /// Nobody, where the settings are of no use or there was no thread.
    worker: Option<Worker>,
}

/// What was wrong with the last run, if anything was.
type Problem = Mutex<Option<Error>>;

impl Scheduler {
    /// One without commands; those it is given find out facts for `board`, in the folder `home`.
    #[must_use]
    pub fn new(board: &FactsBoard, home: &Home) -> Self {
        Self { board: board.clone(), home: home.path().to_owned(), facts: Mutex::default() }
    }

    /// Runs these commands from now on, by the names of their facts, and no others.
    ///
    /// One that goes on unchanged is not disturbed. Of one that changed the run under way is killed, and what it found
    /// out holds on. The facts of those that are gone are absent when this returns. Settings out of bounds are
    /// brought within them; what cannot be run is among the [`problems`](Self::problems).
    pub fn set(&self, facts: BTreeMap<String, FactSettings>) {
        let mut known = self.lock();
        let facts: BTreeMap<_, _> = facts.into_iter().map(|(name, settings)| (name, bounded(settings))).collect();
        let goes_on =
            |name: &String, found: &mut Found| found.worker.is_some() && facts.get(name) == Some(&found.settings);
        let (names, ended): (Vec<_>, Vec<_>) = known.extract_if(.., |name, found| !goes_on(name, found)).unzip();
        // Before the new ones are begun: no command runs twice at once.
        end(ended.into_iter().filter_map(|found| found.worker));
        for name in names.iter().filter(|name| !facts.contains_key(*name)) {
            self.board.take_back(name);
        }
        for (name, settings) in facts {
            known.entry(name).or_insert_with_key(|name| self.begin(name, settings));
        }
    }

    /// What is wrong with the last run of each command that failed, in the order of their names.
    #[must_use]
    pub fn problems(&self) -> Vec<Error> {
        self.lock().values().filter_map(|found| lock(&found.problem).clone()).collect()
    }

    fn begin(&self, name: &str, settings: FactSettings) -> Found {
        let problem = Arc::<Problem>::default();
        let worker = check_name(name).and_then(|()| {
            let work = Work {
                owner: self.board.give(name, settings.time_to_live),
                board: self.board.clone(),
                home: self.home.clone(),
                name: name.to_owned(),
                settings: settings.clone(),
                problem: Arc::clone(&problem),
            };
            Worker::start(work).map_err(|error| Fault::NoThread(error).of(name, &settings, None))
        });
        let worker = worker.map_err(|error| *lock(&problem) = Some(error)).ok();
        Found { settings, problem, worker }
    }

    fn lock(&self) -> MutexGuard<'_, BTreeMap<String, Found>> {
        self.facts.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Scheduler {
    fn drop(&mut self) {
        self.set(BTreeMap::new());
    }
}

impl std::fmt::Debug for Scheduler {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_set().entries(self.lock().keys()).finish()
    }
}

fn lock(problem: &Problem) -> MutexGuard<'_, Option<Error>> {
    problem.lock().unwrap_or_else(PoisonError::into_inner)
}

fn bounded(settings: FactSettings) -> FactSettings {
    let [least_timeout, most_timeout] = TIMEOUTS;
    FactSettings {
        every: settings.every.clamp(LEAST_EVERY, MOST_TIME_TO_LIVE),
        timeout: settings.timeout.clamp(least_timeout, most_timeout),
        time_to_live: settings.time_to_live.clamp(LEAST_TIME_TO_LIVE, MOST_TIME_TO_LIVE),
        size: settings.size.min(MAX_VALUE_BYTES),
        command: settings.command,
    }
}

/// A thread that runs a command again and again.
struct Worker {
    /// Dropped, it tells the thread to end: what that waits for then has no writer.
    stop: PipeWriter,
    /// Is closed when the thread is about to end.
    ended: mpsc::Receiver<()>,
    thread: JoinHandle<()>,
}

impl Worker {
    fn start(work: Work) -> io::Result<Self> {
        let (stopped, stop) = io::pipe()?;
        let (ends, ended) = mpsc::channel();
        let thread = thread::Builder::new().name("dsh-env-fact".to_owned()).spawn(move || {
            work.go_on(&stopped);
            drop(ends);
        })?;
        Ok(Self { stop, ended, thread })
    }
}

/// Ends threads, and kills what they run; when this returns all are gone, but for those whose command does not go.
fn end(workers: impl Iterator<Item = Worker>) {
    let told = |Worker { stop, ended, thread }| {
        drop(stop);
        (ended, thread)
    };
    let told: Vec<_> = workers.map(told).collect();
    let deadline = Instant::now() + LOST_TIME;
    for (ended, thread) in told {
        let left = deadline.saturating_duration_since(Instant::now());
        // Nothing is ever sent.
        if ended.recv_timeout(left) == Err(RecvTimeoutError::Disconnected) {
            let _ = thread.join();
        }
    }
}

/// What a thread does.
struct Work {
    board: FactsBoard,
    owner: Owner,
    home: PathBuf,
    name: String,
    settings: FactSettings,
    problem: Arc<Problem>,
}

impl Work {
    /// Runs the command until somebody says that it is enough.
    fn go_on(&self, stopped: &PipeReader) {
        loop {
            let began = Instant::now();
            if self.run(stopped).is_break() || is_stopped(stopped, began + self.settings.every) {
                return;
            }
        }
    }

    /// Runs it once, and tells what came of it before the process is waited for: one that was killed may be long in
    /// going.
    fn run(&self, stopped: &PipeReader) -> ControlFlow<()> {
        let mut running = match Running::start(&self.settings, &self.home) {
            Ok(running) => running,
            Err(fault) => return self.failed(fault.of(&self.name, &self.settings, None)),
        };
        match running.output(&self.settings, stopped) {
            Ok(Some(value)) => {
                self.board.found(&self.name, self.owner, value.into(), self.settings.time_to_live);
                *lock(&self.problem) = None;
                ControlFlow::Continue(())
            }
            Ok(None) => ControlFlow::Break(()),
            Err(fault) => self.failed(fault.of(&self.name, &self.settings, running.complaint().as_deref())),
        }
    }

    fn failed(&self, error: Error) -> ControlFlow<()> {
        let before = lock(&self.problem).replace(error.clone());
        // Once, and not every so often.
        if before.as_ref() != Some(&error) {
            tracing::warn!(fact = self.name, %error, "a fact could not be found out");
        }
        ControlFlow::Continue(())
    }
}

#[cfg(test)]
mod tests;
