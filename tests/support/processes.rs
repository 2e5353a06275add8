//! Processes that a test looks for by an argument that no other process has, and signals.
#![cfg(target_os = "linux")]

use std::process::Child;

use rustix::process::{Pid, Signal, kill_process};

/// A number of seconds for `sleep` that no other process sleeps for.
pub fn seconds(at_least: u32) -> String {
    let unique = uuid::Uuid::now_v7().as_u128() % 1_000_000_007;
    format!("{at_least}.{}{unique}", std::process::id())
}

/// The processes whose first argument is this one.
pub fn with_argument(argument: &str) -> Vec<Pid> {
    let processes = std::fs::read_dir("/proc").unwrap().filter_map(|entry| {
        let entry = entry.ok()?;
        let pid = Pid::from_raw(entry.file_name().to_str()?.parse().ok()?)?;
        let command = std::fs::read(entry.path().join("cmdline")).ok()?;
        let first = command.split(|byte| *byte == 0).nth(1)?;
        (first == argument.as_bytes()).then_some(pid)
    });
    processes.collect()
}

/// Kills them: of a test that failed.
pub fn kill_those_with(argument: &str) {
    for pid in with_argument(argument) {
        // It may have ended meanwhile.
        let _ = kill_process(pid, Signal::KILL);
    }
}

/// Sends a signal to a child that was not waited for yet.
pub fn send(child: &Child, signal: Signal) {
    let pid = Pid::from_raw(i32::try_from(child.id()).unwrap()).unwrap();
    kill_process(pid, signal).unwrap();
}
