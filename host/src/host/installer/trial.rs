//! Trying a new build beside the one that answers: it is asked what real executions were asked, after they were
//! answered and on a thread of its own, and what it says is compared. Nothing that it does can touch a collection.

mod comparison;

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::{Duration, Instant};

use arc_swap::ArcSwap;

use super::deciding::{Decision, Tried};
use super::{Installed, Installer};
use crate::contract::{Contributor, ContributorName, Deadline, Execution, Facts};
use crate::error::{Code, Error, Result};
use crate::installation::{Configuration, OnDifference, ShadowSettings};
use crate::registry::{Collected, Observer};
use comparison::{Answer, Comparison};

/// How many executions may wait to be asked again. Further ones are not: a trial need not see every call.
const WAITING: usize = 16;

/// How long a build on trial may take for an answer: as long as a whole collection may.
const ANSWER_TIME: Duration = Duration::from_secs(5);

/// A new build that is tried.
pub(super) struct Trial {
    settings: ShadowSettings,
    shared: Arc<Shared>,
}

/// What came of a trial.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Outcome {
    /// It goes on; in words for people.
    Running(String),
    /// The build takes the place of the other; what was found, if anything was.
    Promoted(Option<String>),
    /// It answered otherwise, and waits for the operator.
    Waits(String),
    /// It answered otherwise, and is refused.
    Refused(String),
}

/// What the collections, the trial's thread and the installer share.
struct Shared {
    name: ContributorName,
    /// The build that answers.
    live: String,
    /// The build that is tried.
    candidate: Arc<dyn Contributor>,
    began: Instant,
    samples: SyncSender<Sample>,
    over: AtomicBool,
    found: Mutex<Comparison>,
}

/// One execution and its answer.
struct Sample {
    execution: Execution,
    facts: Facts,
    answer: Answer,
}

impl Trial {
    /// Begins to try a build. When the trial is over, `installer` settles.
    ///
    /// # Errors
    /// `internal` where no thread can be started.
    pub(super) fn begin(
        name: &ContributorName,
        live: &str,
        candidate: Arc<dyn Contributor>,
        settings: ShadowSettings,
        installer: Weak<Installer>,
    ) -> Result<Self> {
        let (samples, told) = sync_channel(WAITING);
        let shared = Arc::new(Shared {
            name: name.clone(),
            live: live.to_owned(),
            candidate,
            began: Instant::now(),
            samples,
            over: AtomicBool::new(false),
            found: Mutex::default(),
        });
        let of_thread = Arc::clone(&shared);
        let run = move || {
            of_thread.run(&settings, &told);
            drop((of_thread, told));
            if let Some(installer) = installer.upgrade() {
                installer.settle_again();
            }
        };
        let thread = std::thread::Builder::new().name("dsh-env-trial".to_owned()).spawn(run);
        thread.map_err(|error| {
            Error::host(Code::Internal, format!("no thread could be started to try a new build ({error})"))
        })?;
        Ok(Self { settings, shared })
    }

    /// What came of it so far.
    pub(super) fn outcome(&self) -> Outcome {
        let found = self.shared.found();
        let calls = found.calls();
        if !self.shared.over.load(Ordering::Acquire) {
            let ShadowSettings { calls: wanted, time, .. } = self.settings;
            let seconds = time.saturating_sub(self.shared.began.elapsed()).as_secs();
            return Outcome::Running(format!(
                "the build in its file is tried beside the live one: {calls} of {wanted} calls, {seconds} s are left, {}",
                found.in_words().unwrap_or_else(|| "no difference so far".to_owned())
            ));
        }
        match (found.in_words(), self.settings.on_difference) {
            (None, _) => Outcome::Promoted(None),
            (Some(found), OnDifference::Promote) => Outcome::Promoted(Some(found)),
            (Some(found), OnDifference::Wait) => Outcome::Waits(found),
            (Some(found), OnDifference::Refuse) => Outcome::Refused(found),
        }
    }

    /// Whether it is of this build beside that one, under these settings.
    pub(super) fn is_of(&self, live: &str, settings: &ShadowSettings) -> bool {
        self.shared.live == live && self.settings == *settings
    }
}

impl Drop for Trial {
    fn drop(&mut self) {
        self.shared.over.store(true, Ordering::Release);
    }
}

impl Shared {
    fn run(&self, settings: &ShadowSettings, samples: &Receiver<Sample>) {
        while !self.over.load(Ordering::Acquire) {
            let left = settings.time.saturating_sub(self.began.elapsed());
            // Not for longer than a moment, so that a trial that was given up does not stay.
            match samples.recv_timeout(left.min(Duration::from_millis(200))) {
                Ok(sample) => {
                    let said =
                        self.candidate.resolve_with(&sample.execution, &sample.facts, &Deadline::after(ANSWER_TIME));
                    self.found().compare(&sample.answer, &said);
                }
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => return,
            }
            if self.found().calls() >= settings.calls || self.began.elapsed() >= settings.time {
                self.over.store(true, Ordering::Release);
            }
        }
    }

    fn found(&self) -> MutexGuard<'_, Comparison> {
        self.found.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Hands the trials what collections answered.
#[derive(Default)]
pub(super) struct TrialObserver {
    trials: ArcSwap<Vec<Arc<Shared>>>,
}

impl TrialObserver {
    /// Hands on to these from now on.
    pub(super) fn watch<'t>(&self, trials: impl Iterator<Item = &'t Trial>) {
        self.trials.store(Arc::new(trials.map(|trial| Arc::clone(&trial.shared)).collect()));
    }
}

impl Observer for TrialObserver {
    fn collected(&self, collection: &Collected<'_>) {
        let trials = self.trials.load();
        for trial in trials.iter().filter(|trial| !trial.over.load(Ordering::Acquire)) {
            let answer = collection.outcome.ok().and_then(|overlay| Answer::of(overlay, &trial.name, &trial.live));
            if let Some(answer) = answer {
                let (execution, facts) = (collection.execution.clone(), collection.facts.clone());
                // Where too many wait, this one is not compared.
                let _ = trial.samples.try_send(Sample { execution, facts, answer });
            }
        }
    }
}

/// The trials of a host, by the digest of what is tried.
pub(super) type Trials = BTreeMap<String, Trial>;

impl Installer {
    /// Begins to try what is to be tried, and gives up the other trials.
    pub(super) fn try_beside(
        &self,
        installed: &mut Installed,
        decisions: &mut [Decision],
        configuration: &Configuration,
    ) {
        let mut before = std::mem::take(&mut installed.trials);
        for decision in decisions {
            let (Some(name), Some(tried)) = (&decision.name, &decision.tried) else { continue };
            let digest = tried.build.digest();
            let same = before.remove(digest).filter(|trial| trial.is_of(&tried.live, &tried.settings));
            match same.map_or_else(|| self.begin_trial(name, tried, configuration), Ok) {
                Ok(trial) => drop(installed.trials.insert(digest.to_owned(), trial)),
                Err(error) => decision.notes.push(error.to_string()),
            }
        }
        if let Some(observer) = self.trials.get() {
            observer.watch(installed.trials.values());
        }
    }

    fn begin_trial(&self, name: &ContributorName, tried: &Tried, configuration: &Configuration) -> Result<Trial> {
        let (limits, terms) = configuration.of_contributor(name.as_str());
        let grants = configuration.grants_of(name.as_str());
        let candidate = tried.build.contributor(limits, grants, terms.show_guest_text);
        self.trials.get_or_init(|| {
            let observer = Arc::<TrialObserver>::default();
            self.registry().observe(Arc::clone(&observer) as _);
            observer
        });
        Trial::begin(name, &tried.live, Arc::new(candidate), tried.settings, Weak::clone(&self.this))
    }
}
