//! Which sensitive values commands were given, for as long as what they print may still be told.

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::withheld::{OfJob, Withheld};
use crate::executor::{JobId, JobStatus, Owner};
use crate::registry::Overlay;

/// The most values that are remembered of one owner: those of its last calls, since a value may be another in
/// every call and a file that one command wrote may be read by a later one.
const MAX_RECENT: usize = 256;

/// The sensitive values of all owners.
#[derive(Default)]
pub(super) struct Secrets {
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    /// Values and what is shown instead, the latest last.
    recent: HashMap<Owner, VecDeque<(String, String)>>,
    jobs: HashMap<(Owner, JobId), Arc<OfJob>>,
}

impl Secrets {
    /// What the output of a call with this overlay must not show.
    pub(super) fn of_call(&self, owner: &Owner, overlay: &Overlay) -> Withheld {
        let mut state = self.state();
        for entry in overlay.iter().filter(|entry| entry.value.is_sensitive()) {
            let recent = state.recent.entry(owner.clone()).or_default();
            let value = entry.value.expose();
            recent.retain(|(known, _)| known != value);
            recent.push_back((value.to_owned(), format!("[withheld: {}]", entry.key)));
            if recent.len() > MAX_RECENT {
                recent.pop_front();
            }
        }
        Withheld::new(state.recent.get(owner).into_iter().flatten().cloned())
    }

    /// Keeps what the output of a job must not show, and forgets that of jobs which are not there any more.
    pub(super) fn keep(&self, owner: Owner, job: JobId, withheld: Withheld, jobs: &[JobStatus]) {
        let mut state = self.state();
        state.retain(&owner, jobs);
        state.jobs.insert((owner, job), Arc::new(OfJob::new(withheld)));
    }

    /// What the output of a job must not show; nothing where that is not known, and then nothing of the job may
    /// be shown.
    pub(super) fn of_job(&self, owner: &Owner, job: &JobId) -> Option<Arc<OfJob>> {
        self.state().jobs.get(&(owner.clone(), job.clone())).cloned()
    }

    /// Forgets what is kept of an owner, but for jobs that were started meanwhile.
    pub(super) fn forget(&self, owner: &Owner, jobs: &[JobStatus]) {
        let mut state = self.state();
        state.retain(owner, jobs);
        if jobs.is_empty() {
            state.recent.remove(owner);
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn retain(&mut self, owner: &Owner, jobs: &[JobStatus]) {
        self.jobs.retain(|(of, known), _| of != owner || jobs.iter().any(|status| status.job == *known));
    }
}
