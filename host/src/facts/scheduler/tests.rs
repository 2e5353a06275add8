//! Real shells that find out facts, and fail in every way there is.

mod changing;
mod ending;
mod failing;

use std::fs;
use std::time::Duration;

use super::*;
use crate::error::Code;
use crate::facts::support::{LONG, Place, until};

/// Long after every test.
const NEVER: Duration = Duration::from_secs(24 * 60 * 60);

/// As often as it may be.
const OFTEN: Duration = Duration::from_millis(10);

/// A script that is run once, and whose fact holds for long.
fn once(script: &str) -> FactSettings {
    every(NEVER, script)
}

fn every(every: Duration, script: &str) -> FactSettings {
    let command = ["sh", "-c", script].map(str::to_owned).to_vec();
    FactSettings { timeout: LONG, ..FactSettings::new(command, every) }
}

fn named<const N: usize>(facts: [(&str, FactSettings); N]) -> BTreeMap<String, FactSettings> {
    facts.map(|(name, settings)| (name.to_owned(), settings)).into()
}

impl Place {
    fn scheduler(&self) -> Scheduler {
        Scheduler::new(&self.board, &self.home)
    }

    fn until_fact(&self, name: &str, value: Option<&str>) {
        until(&format!("{name} is {value:?}"), || self.fact(name).as_deref() == value);
    }

    /// The number that a command wrote to a file of the home, once it has.
    fn pid(&self, file: &str) -> i32 {
        let pid = || fs::read_to_string(self.path().join(file)).ok()?.strip_suffix('\n')?.parse().ok();
        until("a process writes its number", || pid().is_some());
        pid().unwrap()
    }

    /// How many lines there are in a file of the home.
    fn lines(&self, file: &str) -> usize {
        fs::read_to_string(self.path().join(file)).map_or(0, |text| text.lines().count())
    }
}

fn until_problem(scheduler: &Scheduler) -> Error {
    until("there is a problem", || !scheduler.problems().is_empty());
    let mut problems = scheduler.problems();
    assert_eq!(problems.len(), 1);
    problems.remove(0)
}

/// Whether a process runs: one that somebody else has not waited for yet does not.
fn is_running(pid: i32) -> bool {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    stat.rsplit_once(") ").is_some_and(|(_, state)| !state.starts_with(['Z', 'X']))
}

/// Whether it was waited for as well.
fn is_gone(pid: i32) -> bool {
    !std::path::Path::new(&format!("/proc/{pid}")).exists()
}

#[test]
fn what_a_command_prints_is_the_fact_but_for_one_newline_at_its_end() {
    let place = Place::new();
    let scheduler = place.scheduler();
    scheduler.set(named([
        ("none", once("printf kind")),
        ("one", once("echo kind")),
        ("two", once(r"printf 'kind\n\n'")),
        ("within", once(r"printf '\na\n b\n'")),
        ("nothing", once("true")),
        ("newline", once("echo")),
        ("text", once(r"printf 'k\303\244\r\n'")),
        ("complains", once("echo kind; echo careful >&2")),
    ]));
    place.until_fact("none", Some("kind"));
    place.until_fact("one", Some("kind"));
    place.until_fact("two", Some("kind\n"));
    place.until_fact("within", Some("\na\n b"));
    place.until_fact("nothing", Some(""));
    place.until_fact("newline", Some(""));
    place.until_fact("text", Some("kä\r"));
    place.until_fact("complains", Some("kind"));
    assert_eq!(scheduler.problems(), []);
}

#[test]
fn a_command_runs_in_the_home_with_the_hosts_environment_and_nothing_to_read() {
    let place = Place::new();
    let scheduler = place.scheduler();
    scheduler.set(named([
        ("folder", once("pwd -P")),
        ("path", once(r#"printf %s "$PATH""#)),
        ("input", once("cat")),
        ("group", once("test $(ps -o pgid= -p $$) -eq $$ && echo leads")),
    ]));
    place.until_fact("folder", place.path().canonicalize().unwrap().to_str());
    place.until_fact("path", std::env::var("PATH").ok().as_deref());
    place.until_fact("input", Some(""));
    place.until_fact("group", Some("leads"));
}

#[test]
fn no_managed_variable_that_the_host_was_started_with_reaches_a_command() {
    let inherited = ["DSH_SESSION_ID", "dsh_home", "Dsh_X", "CI", "DSHX"].map(|name| (name.into(), "x".into()));
    let names: Vec<_> = run::environment(inherited.into_iter()).map(|(name, _)| name).collect();
    assert_eq!(names, ["CI", "DSHX"]);
}

#[test]
fn a_command_runs_again_and_again_and_never_twice_at_once() {
    let place = Place::new();
    let scheduler = place.scheduler();
    let script = "mkdir busy || echo twice >> twice; echo run >> runs; sleep 0.03; rmdir busy; wc -l < runs";
    scheduler.set(named([("runs", every(OFTEN, script))]));
    until("it has run five times", || place.lines("runs") >= 5);
    assert_eq!(place.lines("twice"), 0);
    assert_eq!(scheduler.problems(), []);
}

#[test]
fn a_slow_command_does_not_hold_up_another() {
    let place = Place::new();
    let scheduler = place.scheduler();
    scheduler
        .set(named([("slow", once("echo $$ > slow; exec sleep 1000")), ("quick", every(OFTEN, "echo x >> runs"))]));
    let slow = place.pid("slow");
    until("the other goes on", || place.lines("runs") >= 3);
    assert!(is_running(slow));
    assert_eq!(place.fact("slow"), None);
}

#[test]
fn a_fact_of_a_command_ends_when_its_time_is_up_though_nothing_runs() {
    let place = Place::new();
    let scheduler = place.scheduler();
    scheduler.set(named([(
        "cluster",
        FactSettings { time_to_live: Duration::from_millis(1), ..once("echo kind; echo >> runs") },
    )]));
    until("it has run", || place.lines("runs") == 1);
    until("it ends", || place.fact("cluster").is_none());
    std::thread::sleep(OFTEN);
    assert_eq!(place.fact("cluster"), None);
}
