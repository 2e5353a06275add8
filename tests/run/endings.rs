//! However it ends, nothing of it is left.

use std::os::unix::process::CommandExt as _;
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

use rustix::process::Signal;

use super::support::processes;
use super::*;

/// Runs a script that starts sleepers in every way, and waits until they are there. Their arguments are of no
/// other process.
struct Sleepers {
    place: Place,
    child: Child,
    seconds: String,
}

impl Sleepers {
    fn start() -> Self {
        let place = Place::new();
        let seconds = processes::seconds(1000);
        let sleep = format!("sleep {seconds}");
        let marker = place.path().join("marker");
        let command = format!(
            "{sleep} & setsid {sleep} & (setsid sh -c '{sleep} & exec {sleep}' >/dev/null 2>&1 &) ; (trap '' TERM; {sleep}) & touch {}; {sleep}",
            marker.display()
        );
        let background = json!({ "command": command, "description": "sleeps", "run_in_background": true });
        let left = json!({ "command": format!("(setsid {sleep} >/dev/null 2>&1 &)"), "description": "leaves" });
        let script = json!([calls([background]), calls([left]), bash(&sleep), done()]);
        let script = place.write("script.json", script.to_string());
        let child = place
            .command(["run", "--json", "--session-id", "s1", "--script", script.to_str().unwrap()])
            .stdout(Stdio::null())
            .process_group(0)
            .spawn()
            .unwrap();
        let sleepers = Self { place, child, seconds };
        sleepers.until(|count| count >= 8, "they never started");
        sleepers
    }

    fn count(&self) -> usize {
        processes::with_argument(&self.seconds).len()
    }

    fn until(&self, enough: impl Fn(usize) -> bool, otherwise: &str) {
        let deadline = Instant::now() + Duration::from_secs(60);
        while !enough(self.count()) {
            assert!(Instant::now() < deadline, "{otherwise}: {} are there", self.count());
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    fn signal(&mut self, signal: Signal) -> std::process::ExitStatus {
        processes::send(&self.child, signal);
        self.child.wait().unwrap()
    }
}

impl Drop for Sleepers {
    fn drop(&mut self) {
        // Of a test that failed.
        let _ = self.child.kill();
        let _ = self.child.wait();
        processes::kill_those_with(&self.seconds);
    }
}

#[test]
fn a_host_that_is_killed_takes_everything_with_it() {
    let mut sleepers = Sleepers::start();
    sleepers.signal(Signal::KILL);
    sleepers.until(|count| count == 0, "they outlived their host");
    assert!(!sleepers.place.home().join("sessions").exists(), "nothing of an open turn was written");
}

#[test]
fn a_host_that_is_interrupted_or_terminated_ends_everything_first_and_says_by_what() {
    for (signal, status) in [(Signal::INT, 130), (Signal::TERM, 143)] {
        let mut sleepers = Sleepers::start();
        assert_eq!(sleepers.signal(signal).code(), Some(status));
        sleepers.until(|count| count == 0, "they outlived their host");
    }
}

#[test]
fn a_run_that_is_done_leaves_nothing_running() {
    let place = Place::new();
    let seconds = processes::seconds(2000);
    let command = format!("sleep {seconds} & (setsid sleep {seconds} >/dev/null 2>&1 &) ; echo started");
    let ran = Ran::script(&place, [bash(&command), done()], &[]).expect(0);
    assert_eq!(ran.outputs(), ["started"]);
    assert_eq!(processes::with_argument(&seconds), []);
}

#[test]
fn nobody_waits_for_a_hook_that_is_told_of_the_end_and_does_not_end() {
    let place = Place::new();
    let marker = place.path().join("marker");
    let seconds = processes::seconds(3000);
    let hang = format!("touch '{}'; exec sleep {seconds}", marker.display());
    let hooks = json!({"hooks": {"SessionEnd": [{"hooks": [{"type": "command", "command": hang}]}]}});
    place.write("home/claude-code.json", hooks.to_string());
    place.configure("[hooks]\nclaude-code = [\"claude-code.json\"]\n");
    let script = place.write("script.json", json!([done()]).to_string());
    let mut command = place.command(["run", "--json", "--script", script.to_str().unwrap()]);
    let mut child = command.stdout(Stdio::null()).spawn().unwrap();
    while !marker.exists() {
        assert_eq!(child.try_wait().unwrap(), None, "the hook was not told");
        std::thread::sleep(Duration::from_millis(10));
    }
    processes::send(&child, Signal::TERM);
    assert_eq!(child.wait().unwrap().code(), Some(0), "what it was there for is done");
    assert_eq!(processes::with_argument(&seconds), []);
}

#[test]
fn a_reader_that_does_not_read_keeps_no_signal_from_being_heeded() {
    let place = Place::new();
    let marker = place.path().join("marker");
    let answers: Vec<_> = (0..8).map(|_| bash("seq 1 9000")).collect();
    let last = [bash(&format!("touch '{}'; sleep 1000", marker.display())), done()];
    let script = place.write("script.json", Value::from_iter(answers.into_iter().chain(last)).to_string());
    let mut command = place.command(["run", "--json", "--script", script.to_str().unwrap()]);
    let mut child = command.stdout(Stdio::piped()).spawn().unwrap();
    let deadline = Instant::now() + Duration::from_secs(60);
    while !marker.exists() {
        assert!(Instant::now() < deadline, "it waits for its reader");
        std::thread::sleep(Duration::from_millis(10));
    }
    processes::send(&child, Signal::TERM);
    while child.try_wait().unwrap().is_none() && Instant::now() < deadline {
        std::thread::sleep(Duration::from_millis(10));
    }
    // Of no effect on one that has ended.
    child.kill().unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(143), "it waits for its reader");
}

#[test]
fn a_limit_of_file_sizes_is_no_end_of_the_host() {
    let place = Place::new();
    let script = place.write("script.json", json!([bash("yes | head -c 3000000"), done()]).to_string());
    let mut command = std::process::Command::new("bash");
    command.args([
        "-c",
        "ulimit -f 1024; exec \"$@\"",
        "bash",
        env!("CARGO_BIN_EXE_dsh-env"),
        "run",
        "--json",
        "--script",
    ]);
    let ran = Ran::of(Run(command.arg(script).arg("--home").arg(place.home()).output().unwrap())).expect(0);
    assert!(ran.outputs()[0].contains("its beginning is in"), "{:?}", ran.outputs()[0].lines().next());
}
