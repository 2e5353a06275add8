//! The numbers that bound a command, each with its reason.

use std::time::Duration;

/// How long a foreground command may run unless its caller says otherwise.
///
/// What agents' shell tools commonly give a command: long enough for a build step, short enough to notice one
/// that hangs.
pub const DEFAULT_LIMIT: Duration = Duration::from_secs(120);

/// The longest that a foreground command may run. A larger limit is taken for this one; what needs longer
/// belongs into the background.
pub const MAX_LIMIT: Duration = Duration::from_secs(600);

/// How long a process group has between SIGTERM and SIGKILL: enough to remove a lock file, too short to wait for.
pub const TERM_GRACE: Duration = Duration::from_secs(3);

/// How long what still runs has between SIGTERM and SIGKILL when its host is gone and nobody waits any more.
pub const ORPHAN_GRACE: Duration = Duration::from_secs(1);

/// The bytes of each stream that are kept in memory: its last ones. A model is shown less.
pub const TAIL_BYTES: usize = 64_000;

/// The most bytes of each stream that go to a spill file: the first ones. What comes later is read, so that the
/// command goes on, and only its tail is kept.
pub const SPILL_BYTES: u64 = 64 * 1024 * 1024;

/// The most bytes of all spill files of an executor together. A file that would exceed it takes the place of the
/// oldest that nothing is written to any more, or is cut off where there is none: enough for the results that
/// somebody may still look at, and what a disk can do without.
pub const MAX_SPILLED_BYTES: u64 = 1024 * 1024 * 1024;

/// The most bytes of each stream that one [`read`](super::Executor::read) returns, which is as much as a tail.
pub const READ_BYTES: usize = TAIL_BYTES;

/// The most background jobs of one owner that run at the same time.
pub const MAX_ACTIVE_JOBS: usize = 10;

/// The most jobs of one owner that have ended and can still be read. The oldest are forgotten first.
pub const MAX_ENDED_JOBS: usize = 100;

/// How long a keeper has to answer, on a machine that is very busy, before it is taken for stopped.
#[cfg(target_os = "linux")]
pub(super) const ANSWER_TIME: Duration = Duration::from_secs(5);

/// How long a command that was killed has to go before its end counts as unknown: longer than it takes to find out
/// that its keeper does not answer, so that this is told instead.
pub(super) const LOST_TIME: Duration = Duration::from_secs(15);

/// The most foreground commands of an executor that run at the same time; those beyond wait for their turn.
///
/// Each has up to six descriptors of the host while it runs: three pipes, two spill files, its process. With those
/// that are being started that is most of the 1,024 that an ordinary process may have.
pub const MAX_RUNNING: usize = 128;

/// How long a stream must be quiet, once its command has exited, to be taken for finished although something
/// that the command left behind still holds it.
pub(super) const QUIET: Duration = Duration::from_millis(50);

/// The longest that a result waits for what a command left behind and what does not stop writing.
pub(super) const OUTPUT_GRACE: Duration = Duration::from_millis(500);

/// How many commands are being started at the same time. Each needs some ten descriptors while it is.
pub(super) const MAX_STARTING: usize = 16;
