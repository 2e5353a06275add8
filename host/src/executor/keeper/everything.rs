//! Ending everything below a keeper.

use std::collections::HashSet;
use std::time::Duration;

use rustix::process::{Pid, Signal, getpgrp, kill_process, kill_process_group};
use tokio::time::{Instant, sleep};

use super::descendants::{self, Descendant};
use crate::executor::limits::ORPHAN_GRACE;

/// How long processes are killed that do not go: those that wait for a device, and those of other users.
const KILL_TIME: Duration = Duration::from_secs(10);

/// How often it is looked whether all are gone.
const LOOK_AGAIN: Duration = Duration::from_millis(10);

/// How long there is between two rounds of killing. A process that goes on forking must not be faster.
const NEXT_ROUND: Duration = Duration::from_micros(500);

/// Ends every process below this one: SIGTERM, a grace, SIGKILL again and again until none is left or none that is
/// left can be ended. `known` tells who is buried elsewhere.
///
/// By groups first: a group is signalled as a whole, while none of its members can fork. What has left its group is
/// found by who its parent is; a parent that exits leaves its children to this process.
pub(super) async fn end(mut known: impl FnMut() -> HashSet<Pid>) {
    let until = Instant::now() + ORPHAN_GRACE;
    let all = descendants::all();
    signal(&all, Signal::TERM);
    // One that is stopped would not notice.
    signal(&all, Signal::CONT);
    while Instant::now() < until {
        descendants::bury_orphans(&known());
        if !descendants::has_children() {
            return;
        }
        sleep(LOOK_AGAIN).await;
    }
    let until = Instant::now() + KILL_TIME;
    while descendants::has_children() && Instant::now() < until {
        signal(&descendants::all(), Signal::KILL);
        descendants::bury_orphans(&known());
        sleep(NEXT_ROUND).await;
    }
}

fn signal(all: &[Descendant], signal: Signal) {
    let own = getpgrp();
    let mut groups: Vec<Pid> = all.iter().filter_map(|process| process.group).filter(|&group| group != own).collect();
    groups.sort_unstable_by_key(|group| group.as_raw_nonzero());
    groups.dedup();
    for group in groups {
        // It may be gone.
        let _ = kill_process_group(group, signal);
    }
    // A process can join its keeper's group, which must not be signalled as a whole.
    for process in all.iter().filter(|process| process.group.is_none_or(|group| group == own)) {
        let _ = kill_process(process.pid, signal);
    }
}
