//! Jobs: commands in the background, each belonging to somebody.

mod owned;
mod table;

use std::fmt;
use std::time::Duration;

pub(super) use table::Table;

use super::finished::End;
use super::output::Chunk;
use crate::error::Error;

/// Whose a job is, such as the id of a session. Who does not name the owner can neither see nor end its jobs.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Owner(String);

impl Owner {
    /// An owner of this name.
    pub fn new(name: impl Into<String>) -> Self {
        Self(name.into())
    }

    /// Its name.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// The name of a job among those of its owner: the tool and a number from 1 on, such as `bash-1`.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct JobId(String);

impl JobId {
    /// What somebody says is a job's name. Whether there is such a job is seen when it is used.
    pub fn new(name: impl Into<String>) -> Self {
        Self(name.into())
    }

    /// As text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for JobId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// How a job is doing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum JobState {
    /// It runs.
    Running,
    /// It has ended, and all of its output is there.
    Ended(End),
    /// It has ended, and how is not known: its keeper is gone, for instance.
    Lost(Error),
}

/// A job and how it is doing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JobStatus {
    /// Which job.
    pub job: JobId,
    /// How it is doing.
    pub state: JobState,
    /// How long it has run, or did.
    pub took: Duration,
}

/// That a job has ended, told once.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JobCompleted {
    /// Its status, which is not `Running`.
    pub status: JobStatus,
}

/// What a job wrote since it was last read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JobOutput {
    /// How it is doing. What it wrote before this moment is in the chunks, or pending.
    pub status: JobStatus,
    /// Standard output.
    pub stdout: Chunk,
    /// Standard error.
    pub stderr: Chunk,
}
