//! Looking after one process and the group that it leads: until it exits, or until it must.

use std::io;
use std::process::ExitStatus;
use std::time::Duration;

use process_wrap::tokio::ChildWrapper;
use rustix::process::{Pid, Signal, test_kill_process_group};
use tokio::sync::oneshot;
use tokio::time::{Instant, sleep, timeout_at};

use super::finished::Exit;
use super::limits::TERM_GRACE;

/// How often a group is looked at whose leader is gone.
const LOOK_AGAIN: Duration = Duration::from_millis(20);

/// Waits for a process. If `end` is sent a grace, or dropped, its group gets SIGTERM, has that long, and gets
/// SIGKILL, and this returns when the group is gone or killed.
///
/// The group's number is its leader's. A leader that exited is buried here and nowhere else, so until then the
/// number is nobody else's; afterwards it is not as long as the group has a member, which is looked at every time
/// before a signal is sent.
///
/// # Errors
/// When the process cannot be waited for, because somebody else did or children are ignored.
pub(super) fn tend(
    child: Box<dyn ChildWrapper>,
    end: oneshot::Receiver<Duration>,
) -> impl Future<Output = io::Result<Exit>> {
    // Not inside what may be dropped before it begins.
    tend_leader(Leader { child, exited: false }, end)
}

async fn tend_leader(mut leader: Leader, mut end: oneshot::Receiver<Duration>) -> io::Result<Exit> {
    let grace = tokio::select! {
        biased;
        status = leader.wait() => return status.map(|status| Exit { status, ended_by: None }),
        grace = &mut end => grace.unwrap_or(TERM_GRACE),
    };
    let deadline = Instant::now() + grace;
    let group = leader.child.id().and_then(|id| i32::try_from(id).ok()).and_then(Pid::from_raw);
    leader.signal_group(Signal::TERM);
    // One that is stopped would not notice.
    leader.signal_group(Signal::CONT);
    if let Ok(status) = timeout_at(deadline, leader.wait()).await {
        let status = status?;
        while group.is_some_and(has_members) {
            if Instant::now() >= deadline {
                leader.signal_group(Signal::KILL);
                break;
            }
            sleep(LOOK_AGAIN).await;
        }
        return Ok(Exit { status, ended_by: Some(Signal::TERM.as_raw()) });
    }
    leader.signal_group(Signal::KILL);
    let status = leader.wait().await?;
    Ok(Exit { status, ended_by: Some(Signal::KILL.as_raw()) })
}

/// The process that leads a group. If it is dropped before its exit, with its runtime, the group is killed.
struct Leader {
    child: Box<dyn ChildWrapper>,
    exited: bool,
}

impl Leader {
    /// Waits for the process alone: the wrapper would wait for the whole group, whoever holds on to it.
    async fn wait(&mut self) -> io::Result<ExitStatus> {
        let status = self.child.inner_mut().wait().await;
        self.exited = true;
        status
    }

    /// Sends a signal to the group. That it is gone already is as good.
    fn signal_group(&self, signal: Signal) {
        if let Err(error) = self.child.signal(signal.as_raw()) {
            tracing::debug!(%error, ?signal, "a process group got no signal");
        }
    }
}

impl Drop for Leader {
    fn drop(&mut self) {
        if !self.exited {
            self.signal_group(Signal::KILL);
        }
    }
}

fn has_members(group: Pid) -> bool {
    test_kill_process_group(group).is_ok()
}
