//! Runs that take too long, and what they leave behind.

use super::*;

/// Allows little time.
fn within(timeout: Duration, script: &str) -> FactSettings {
    FactSettings { timeout, ..once(script) }
}

const SHORT: Duration = Duration::from_millis(300);

#[test]
fn a_command_that_takes_too_long_is_killed_with_all_that_it_started() {
    let place = Place::new();
    let scheduler = place.scheduler();
    // Neither of them minds a gentler signal.
    let script = "trap '' TERM INT HUP; echo $$ > child; sh -c 'sleep 1000 & echo $! > grandchild; wait'; sleep 1000";
    let limits = [SHORT, LONG / 2];
    // On a machine that is busy it may not have got so far.
    for limit in limits {
        scheduler.set(named([("x", within(limit, script))]));
        let problem = until_problem(&scheduler);
        assert_eq!(problem.code(), Code::Timeout);
        if place.path().join("grandchild").exists() {
            break;
        }
    }
    let (child, grandchild) = (place.pid("child"), place.pid("grandchild"));
    until("the child is waited for", || is_gone(child));
    until("the grandchild is killed", || !is_running(grandchild));
    assert_eq!(place.fact("x"), None);
}

#[test]
fn the_problem_says_how_long_it_was_and_what_the_command_said() {
    let place = Place::new();
    let scheduler = place.scheduler();
    scheduler.set(named([("x", within(Duration::from_secs(2), "echo connecting >&2; echo half; sleep 1000"))]));
    assert_eq!(
        until_problem(&scheduler).message(),
        "the command of [facts.x] took longer than 2000 ms and was killed, and said \"connecting\": make it faster, or give it a longer timeout"
    );
}

#[test]
fn output_that_something_holds_on_to_is_not_taken_for_whole() {
    let place = Place::new();
    let scheduler = place.scheduler();
    scheduler.set(named([("x", within(Duration::from_secs(2), "sleep 1000 & echo $! > left; echo half"))]));
    let problem = until_problem(&scheduler);
    assert_eq!(problem.code(), Code::Timeout);
    assert!(problem.message().contains("something that it started held on to its output"), "{}", problem.message());
    let left = place.pid("left");
    until("what was left is killed", || !is_running(left));
}

#[test]
fn what_was_started_may_print_until_it_closes_the_output() {
    let place = Place::new();
    let scheduler = place.scheduler();
    scheduler.set(named([("x", once("(sleep 0.1; echo late) & echo early"))]));
    place.until_fact("x", Some("early\nlate"));
}

#[test]
fn what_a_command_leaves_behind_in_its_group_goes_with_it() {
    let place = Place::new();
    let scheduler = place.scheduler();
    scheduler.set(named([("x", once("sleep 1000 > /dev/null 2>&1 & echo $!"))]));
    until("it is found out", || place.fact("x").is_some());
    let left: i32 = place.fact("x").unwrap().parse().unwrap();
    until("what was left is killed", || !is_running(left));
}

#[test]
fn something_that_holds_on_to_the_complaints_alone_holds_nothing_up() {
    let place = Place::new();
    let scheduler = place.scheduler();
    scheduler.set(named([("x", once("sleep 1000 > /dev/null & echo kind"))]));
    place.until_fact("x", Some("kind"));
}

#[test]
fn a_command_that_closes_its_output_is_waited_for() {
    let place = Place::new();
    let scheduler = place.scheduler();
    scheduler.set(named([("x", once("echo kind; exec >&- 2>&-; sleep 0.1; exit 4"))]));
    assert!(until_problem(&scheduler).message().contains("exit status 4"));
    assert_eq!(place.fact("x"), None);
}

#[test]
fn when_the_scheduler_is_dropped_all_that_ran_is_gone_and_its_facts_are_withdrawn() {
    let place = Place::new();
    let scheduler = place.scheduler();
    scheduler.set(named([
        ("a", once("trap '' TERM; echo $$ > a; sleep 1000")),
        ("b", once("echo $$ > b; exec sleep 1000")),
        ("c", once("echo kind")),
    ]));
    let (a, b) = (place.pid("a"), place.pid("b"));
    place.until_fact("c", Some("kind"));
    drop(scheduler);
    assert!(is_gone(a) && is_gone(b));
    assert!(place.facts().is_empty());
    place.board.put("c", "pushed", NEVER).unwrap();
}

/// Whether this process is there for the test alone. If not, one that is does the test.
fn alone(test: &str) -> bool {
    const ROLE: &str = "FACTS_TEST_ALONE";
    if std::env::var_os(ROLE).is_some() {
        return true;
    }
    let name = format!("facts::scheduler::tests::ending::{test}");
    let program = std::env::current_exe().unwrap();
    let output = std::process::Command::new(program).args(["--exact", &name]).env(ROLE, "1").output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stdout));
    assert!(String::from_utf8_lossy(&output.stdout).contains("1 passed"));
    false
}

#[test]
fn runs_of_every_kind_leave_no_descriptor_and_no_child() {
    if !alone("runs_of_every_kind_leave_no_descriptor_and_no_child") {
        return;
    }
    let place = Place::new();
    let descriptors = || fs::read_dir("/proc/self/fd").unwrap().count();
    let before = descriptors();
    for _ in 0..3 {
        let scheduler = place.scheduler();
        scheduler.set(named([
            ("well", every(OFTEN, "echo x >> well; echo x")),
            ("badly", every(OFTEN, "exit 1")),
            ("late", FactSettings { timeout: OFTEN, ..every(OFTEN, "sleep 1000") }),
            ("long", every(OFTEN, "yes")),
            ("never", FactSettings::new(vec!["no-such-program".to_owned()], OFTEN)),
            ("stopped", once("sleep 1000")),
        ]));
        let already = place.lines("well");
        until("there were some runs", || place.lines("well") >= already + 5 && scheduler.problems().len() == 4);
    }
    assert_eq!(descriptors(), before);
    let children = fs::read_to_string("/proc/thread-self/children");
    assert_eq!(children.unwrap_or_default(), "");
    let waited = rustix::process::wait(rustix::process::WaitOptions::NOHANG);
    assert_eq!(waited.unwrap_err(), rustix::io::Errno::CHILD);
}
