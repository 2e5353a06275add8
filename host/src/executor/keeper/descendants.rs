//! The processes below this one, and burying those that it did not start.

use std::collections::HashSet;
use std::fs;

use rustix::process::{Pid, WaitId, WaitIdOptions, WaitOptions, getpid, waitid, waitpid};

/// A process below this one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Descendant {
    pub(super) pid: Pid,
    parent: i32,
    pub(super) group: Option<Pid>,
}

/// Every process below this one at this moment. New ones may come while it is looked.
pub(super) fn all() -> Vec<Descendant> {
    let mut rest = every_process();
    let mut found: Vec<Descendant> = Vec::new();
    let mut parents = vec![getpid().as_raw_nonzero().get()];
    while let Some(parent) = parents.pop() {
        rest.retain(|process| {
            let is_child = process.parent == parent;
            if is_child {
                parents.push(process.pid.as_raw_nonzero().get());
                found.push(*process);
            }
            !is_child
        });
    }
    found
}

/// Whether this process has any child, also one that has exited and is not buried.
pub(super) fn has_children() -> bool {
    let options = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
    waitid(WaitId::All, options).is_ok()
}

/// Buries every child that has exited and is not `known`: those that lost their parents. The known ones
/// are waited for elsewhere.
pub(super) fn bury_orphans(known: &HashSet<Pid>) {
    for child in children() {
        if !known.contains(&child) {
            // It may still run, or be gone already.
            let _ = waitpid(Some(child), WaitOptions::NOHANG);
        }
    }
}

/// The children of this process. The kernel lists them by thread: the one that started them, and for orphans any.
fn children() -> Vec<Pid> {
    let Ok(threads) = fs::read_dir("/proc/self/task") else { return Vec::new() };
    let lists = threads.flatten().map(|thread| fs::read_to_string(thread.path().join("children")));
    match lists.collect::<Result<Vec<_>, _>>() {
        Ok(lists) => lists.iter().flat_map(|list| list.split_ascii_whitespace()).filter_map(pid_in).collect(),
        // A kernel can be built without such lists.
        Err(_) => {
            let own = getpid().as_raw_nonzero().get();
            let all = every_process().into_iter();
            all.filter(|process| process.parent == own).map(|process| process.pid).collect()
        }
    }
}

fn every_process() -> Vec<Descendant> {
    let Ok(entries) = fs::read_dir("/proc") else { return Vec::new() };
    let processes = entries.flatten().filter_map(|entry| {
        let pid = pid_in(entry.file_name().to_str()?)?;
        parse(pid, &fs::read(entry.path().join("stat")).ok()?)
    });
    processes.collect()
}

/// Reads `pid (name) state parent group …`, where the name may have anything in it.
fn parse(pid: Pid, stat: &[u8]) -> Option<Descendant> {
    let name_end = stat.iter().rposition(|&byte| byte == b')')?;
    let rest = std::str::from_utf8(stat.get(name_end + 1..)?).ok()?;
    let mut fields = rest.split_ascii_whitespace().skip(1);
    let parent = fields.next()?.parse().ok()?;
    let group = fields.next().and_then(pid_in);
    Some(Descendant { pid, parent, group })
}

fn pid_in(text: &str) -> Option<Pid> {
    text.parse().ok().filter(|&number| number > 0).and_then(Pid::from_raw)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_process_is_read_whatever_its_name() {
        let pid = Pid::from_raw(7).unwrap();
        let parsed = parse(pid, b"7 (a) R 1 2 (\xff) x) S 3 5 5 0 -1").unwrap();
        assert_eq!(parsed, Descendant { pid, parent: 3, group: Pid::from_raw(5) });
        for torn in [&b""[..], b"7 (a", b"7 (a)", b"7 (a) S", b"7 (a) S x"] {
            assert_eq!(parse(pid, torn), None);
        }
        assert_eq!(parse(pid, b"7 (a) S 3 0").unwrap().group, None);
    }
}
