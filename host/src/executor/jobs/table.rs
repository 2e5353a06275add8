//! All jobs of all owners.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use tokio::sync::{Notify, oneshot};

use super::owned::{Job, Jobs};
use super::{JobCompleted, JobId, JobOutput, JobState, JobStatus, Owner};
use crate::error::{Code, Error, Result};
use crate::executor::command::failed;
use crate::executor::finished::Finished;
use crate::executor::launch::Running;
use crate::executor::limits::MAX_ACTIVE_JOBS;
use crate::text::shown_within;

/// The most bytes of what somebody takes for a job's name that a message repeats.
const SHOWN_ID_BYTES: usize = 64;

/// All jobs. Dropping it ends those that run.
#[derive(Debug, Default)]
pub(in crate::executor) struct Table {
    owners: Mutex<HashMap<Owner, Jobs>>,
    /// Woken whenever a job has ended, or was not started.
    ended: Notify,
}

/// A place among the jobs of an owner, for one that is being started.
pub(in crate::executor) struct Place {
    table: Arc<Table>,
    owner: Owner,
    /// Whether no job is there yet.
    free: bool,
}

impl Table {
    /// Makes place for a job.
    ///
    /// # Errors
    /// `too-many-jobs`.
    pub(in crate::executor) fn place(self: &Arc<Self>, owner: &Owner) -> Result<Place> {
        let mut owners = self.lock();
        let jobs = owners.entry(owner.clone()).or_default();
        if jobs.active() >= MAX_ACTIVE_JOBS {
            return Err(Error::host(
                Code::TooManyJobs,
                format!(
                    "{MAX_ACTIVE_JOBS} background jobs run already, which is the most: wait for one to end, or kill one"
                ),
            ));
        }
        jobs.starting += 1;
        Ok(Place { table: Arc::clone(self), owner: owner.clone(), free: true })
    }

    /// What came since the last read.
    pub(in crate::executor) fn read(&self, owner: &Owner, id: &JobId) -> Result<JobOutput> {
        // Read under the lock, so that two readers do not get the same bytes.
        let mut owners = self.lock();
        let job = find(&mut owners, owner, id)?;
        // The state first: what was written before an end is then in what is read, or pending.
        let status = job.status();
        Ok(JobOutput { status, stdout: job.stdout.next(), stderr: job.stderr.next() })
    }

    /// Ends a job and waits until it has. Its end counts as told.
    pub(in crate::executor) async fn kill(&self, owner: &Owner, id: &JobId) -> Result<JobStatus> {
        loop {
            let ended = self.ended.notified();
            tokio::pin!(ended);
            ended.as_mut().enable();
            {
                let mut owners = self.lock();
                let job = find(&mut owners, owner, id)?;
                job.stop = None;
                if job.state != JobState::Running {
                    job.reported = true;
                    return Ok(job.status());
                }
            }
            ended.await;
        }
    }

    pub(in crate::executor) fn statuses(&self, owner: &Owner) -> Vec<JobStatus> {
        self.lock().get(owner).map(|jobs| jobs.jobs.iter().map(Job::status).collect()).unwrap_or_default()
    }

    /// The ends that were not told yet, in the order of the jobs' starts; at most `most` of them.
    pub(in crate::executor) fn completions(&self, owner: &Owner, most: usize) -> Vec<JobCompleted> {
        let mut owners = self.lock();
        let Some(jobs) = owners.get_mut(owner) else { return Vec::new() };
        let untold = jobs.jobs.iter_mut().filter(|job| job.state != JobState::Running && !job.reported).take(most);
        untold
            .map(|job| {
                job.reported = true;
                JobCompleted { status: job.status() }
            })
            .collect()
    }

    /// Waits for an end that was not told yet.
    pub(in crate::executor) async fn next_completion(&self, owner: &Owner) -> JobCompleted {
        loop {
            let ended = self.ended.notified();
            tokio::pin!(ended);
            ended.as_mut().enable();
            if let Some(completed) = self.completions(owner, 1).pop() {
                return completed;
            }
            ended.await;
        }
    }

    /// Ends the jobs of an owner, waits until they have, and forgets them.
    pub(in crate::executor) async fn end_owner(&self, owner: &Owner) {
        loop {
            let ended = self.ended.notified();
            tokio::pin!(ended);
            ended.as_mut().enable();
            {
                let mut owners = self.lock();
                let Some(jobs) = owners.get_mut(owner) else { return };
                for job in &mut jobs.jobs {
                    job.stop = None;
                }
                if jobs.active() == 0 {
                    jobs.jobs.iter().for_each(Job::forget);
                    owners.remove(owner);
                    return;
                }
            }
            ended.await;
        }
    }

    /// Waits until every job has ended and it is known how.
    pub(in crate::executor) async fn all_ended(&self) {
        loop {
            let ended = self.ended.notified();
            tokio::pin!(ended);
            ended.as_mut().enable();
            if self.lock().values().all(|jobs| jobs.active() == 0) {
                return;
            }
            ended.await;
        }
    }

    /// Notes that a job has ended.
    fn end(&self, owner: &Owner, id: &JobId, finished: Result<Finished>) {
        if let Ok(job) = find(&mut self.lock(), owner, id) {
            job.end(finished);
        }
        if let Some(jobs) = self.lock().get_mut(owner) {
            jobs.forget_oldest();
        }
        self.ended.notify_waiters();
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<Owner, Jobs>> {
        self.owners.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Place {
    /// Puts a job there that has started.
    pub(in crate::executor) fn take(mut self, tool: &str, running: Running) -> JobId {
        let Running { stdout, stderr, stop, finished } = running;
        let id = {
            let mut owners = self.table.lock();
            let jobs = owners.entry(self.owner.clone()).or_default();
            jobs.starting = jobs.starting.saturating_sub(1);
            self.free = false;
            let number = jobs.numbers.entry(tool.to_owned()).or_default();
            *number += 1;
            let id = JobId(format!("{tool}-{number}"));
            jobs.jobs.push(Job::new(id.clone(), stop, stdout, stderr));
            id
        };
        let lost = failed("how the job ended is not known: its runtime is gone");
        let watch =
            Watch { table: Arc::downgrade(&self.table), owner: self.owner.clone(), job: id.clone(), told: Err(lost) };
        tokio::spawn(watch.until(finished));
        id
    }
}

/// Tells the table how a job ended, when that is known, or will never be.
struct Watch {
    table: Weak<Table>,
    owner: Owner,
    job: JobId,
    told: Result<Finished>,
}

impl Watch {
    async fn until(mut self, finished: oneshot::Receiver<Result<Finished>>) {
        if let Ok(told) = finished.await {
            self.told = told;
        }
        drop(self);
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        if let Some(table) = self.table.upgrade() {
            table.end(&self.owner, &self.job, self.told.clone());
        }
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        if self.free {
            if let Some(jobs) = self.table.lock().get_mut(&self.owner) {
                jobs.starting = jobs.starting.saturating_sub(1);
            }
            self.table.ended.notify_waiters();
        }
    }
}

/// The same words whether a job never was, is forgotten, or is somebody else's.
fn find<'a>(owners: &'a mut HashMap<Owner, Jobs>, owner: &Owner, id: &JobId) -> Result<&'a mut Job> {
    let job = owners.get_mut(owner).and_then(|jobs| jobs.jobs.iter_mut().find(|job| job.id == *id));
    job.ok_or_else(|| {
        let id = shown_within(id.as_str(), SHOWN_ID_BYTES);
        Error::host(Code::JobNotFound, format!("there is no job {id}: ask for the list of jobs"))
    })
}
