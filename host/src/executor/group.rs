//! Looking after one process and the group that it leads: until it exits, or until it must.

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
pub(super) async fn tend(
    mut child: Box<dyn ChildWrapper>,
    mut end: oneshot::Receiver<Duration>,
) -> std::io::Result<Exit> {
    let grace = tokio::select! {
        biased;
        // The process alone: the wrapper would wait for the whole group, whoever holds on to it.
        status = child.inner_mut().wait() => return status.map(|status| Exit { status, ended_by: None }),
        grace = &mut end => grace.unwrap_or(TERM_GRACE),
    };
    let deadline = Instant::now() + grace;
    let pid = child.id().and_then(|id| i32::try_from(id).ok()).and_then(Pid::from_raw);
    send(child.as_ref(), Signal::TERM);
    // One that is stopped would not notice.
    send(child.as_ref(), Signal::CONT);
    if let Ok(status) = timeout_at(deadline, child.inner_mut().wait()).await {
        let status = status?;
        while pid.is_some_and(has_members) {
            if Instant::now() >= deadline {
                send(child.as_ref(), Signal::KILL);
                break;
            }
            sleep(LOOK_AGAIN).await;
        }
        return Ok(Exit { status, ended_by: Some(Signal::TERM.as_raw()) });
    }
    send(child.as_ref(), Signal::KILL);
    let status = child.inner_mut().wait().await?;
    Ok(Exit { status, ended_by: Some(Signal::KILL.as_raw()) })
}

/// Sends a signal to the group that a child leads. That it is gone already is as good.
fn send(child: &dyn ChildWrapper, signal: Signal) {
    if let Err(error) = child.signal(signal.as_raw()) {
        tracing::debug!(%error, ?signal, "a process group got no signal");
    }
}

fn has_members(group: Pid) -> bool {
    test_kill_process_group(group).is_ok()
}
