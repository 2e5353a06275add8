//! The jobs of one owner.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use tokio::sync::oneshot;

use super::{JobId, JobState, JobStatus};
use crate::error::Result;
use crate::executor::finished::Finished;
use crate::executor::limits::MAX_ENDED_JOBS;
use crate::executor::output::{Chunk, Stream};

/// The jobs of one owner.
#[derive(Debug, Default)]
pub(super) struct Jobs {
    /// How many jobs each tool has started.
    pub(super) numbers: HashMap<String, u64>,
    /// Jobs that are being started.
    pub(super) starting: usize,
    /// In the order of their starts.
    pub(super) jobs: Vec<Job>,
}

#[derive(Debug)]
pub(super) struct Job {
    pub(super) id: JobId,
    pub(super) state: JobState,
    began: Instant,
    took: Option<Duration>,
    pub(super) stop: Option<oneshot::Sender<()>>,
    pub(super) stdout: Reading,
    pub(super) stderr: Reading,
    /// Whether its end was told.
    pub(super) reported: bool,
}

/// A stream and how far it was read.
#[derive(Debug)]
pub(super) struct Reading {
    stream: Arc<Stream>,
    read: u64,
}

impl Jobs {
    pub(super) fn active(&self) -> usize {
        self.starting + self.jobs.iter().filter(|job| job.state == JobState::Running).count()
    }

    pub(super) fn forget_oldest(&mut self) {
        let ended = self.jobs.iter().filter(|job| job.state != JobState::Running).count();
        let mut surplus = ended.saturating_sub(MAX_ENDED_JOBS);
        self.jobs.retain(|job| {
            let goes = surplus > 0 && job.state != JobState::Running;
            if goes {
                surplus -= 1;
                job.forget();
            }
            !goes
        });
    }
}

impl Job {
    pub(super) fn new(id: JobId, stop: oneshot::Sender<()>, stdout: Arc<Stream>, stderr: Arc<Stream>) -> Self {
        Self {
            id,
            state: JobState::Running,
            began: Instant::now(),
            took: None,
            stop: Some(stop),
            stdout: Reading { stream: stdout, read: 0 },
            stderr: Reading { stream: stderr, read: 0 },
            reported: false,
        }
    }

    /// Notes how it ended.
    pub(super) fn end(&mut self, finished: Result<Finished>) {
        self.took = Some(finished.as_ref().map_or_else(|_| self.began.elapsed(), |finished| finished.took));
        self.state = match finished {
            Ok(finished) => JobState::Ended(finished.end),
            Err(error) => JobState::Lost(error),
        };
        self.stop = None;
    }

    pub(super) fn status(&self) -> JobStatus {
        let took = self.took.unwrap_or_else(|| self.began.elapsed());
        JobStatus { job: self.id.clone(), state: self.state.clone(), took }
    }

    /// Removes what nobody can ask for any more.
    pub(super) fn forget(&self) {
        self.stdout.stream.forget();
        self.stderr.stream.forget();
    }
}

impl Reading {
    /// What came since the last time.
    pub(super) fn next(&mut self) -> Chunk {
        let chunk = self.stream.after(self.read);
        self.read += chunk.skipped + chunk.bytes.len() as u64;
        chunk
    }
}

#[cfg(test)]
mod tests;
