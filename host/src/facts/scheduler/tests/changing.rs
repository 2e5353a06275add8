//! Settings that change while commands run.

use std::thread;

use super::*;

#[test]
fn a_command_that_goes_on_unchanged_is_not_disturbed() {
    let place = Place::new();
    let scheduler = place.scheduler();
    let same = || once("echo x >> runs; echo $$ > pid; exec sleep 1000");
    scheduler.set(named([("a", same())]));
    let pid = place.pid("pid");
    scheduler.set(named([("a", same()), ("b", once("echo b"))]));
    place.until_fact("b", Some("b"));
    scheduler.set(named([("a", same())]));
    assert!(is_running(pid));
    assert_eq!((place.lines("runs"), place.fact("b")), (1, None));
}

#[test]
fn what_a_command_found_out_holds_until_the_one_in_its_place_finds_out_something_else() {
    let place = Place::new();
    let scheduler = place.scheduler();
    scheduler.set(named([("cluster", once("echo kind"))]));
    place.until_fact("cluster", Some("kind"));
    scheduler.set(named([("cluster", once("echo $$ > pid; while test ! -e go; do sleep 0.01; done; echo prod"))]));
    assert_eq!(place.fact("cluster").as_deref(), Some("kind"));
    let pid = place.pid("pid");
    assert_eq!(place.fact("cluster").as_deref(), Some("kind"));
    // The run that is under way is that of settings which nobody wants any more.
    scheduler.set(named([("cluster", once("exit 1"))]));
    assert!(is_gone(pid));
    until_problem(&scheduler);
    assert_eq!(place.fact("cluster").as_deref(), Some("kind"));
    scheduler.set(named([("cluster", once("echo other"))]));
    place.until_fact("cluster", Some("other"));
    assert_eq!(scheduler.problems(), []);
}

#[test]
fn the_fact_of_a_command_that_is_gone_is_absent_at_once_and_its_run_is_killed() {
    let place = Place::new();
    let scheduler = place.scheduler();
    scheduler.set(named([("a", once("echo a")), ("b", once("echo $$ > pid; exec sleep 1000")), ("c", once("exit 1"))]));
    place.until_fact("a", Some("a"));
    let pid = place.pid("pid");
    until_problem(&scheduler);
    scheduler.set(BTreeMap::new());
    assert!(place.facts().is_empty());
    assert!(is_gone(pid));
    assert_eq!(scheduler.problems(), []);
}

#[test]
fn a_name_is_the_commands_while_there_is_one() {
    let place = Place::new();
    let scheduler = place.scheduler();
    place.board.put("cluster", "pushed", NEVER).unwrap();
    scheduler.set(named([("cluster", once("exit 1"))]));
    assert_eq!(place.fact("cluster"), None);
    let refused = place.board.put("cluster", "pushed", NEVER).unwrap_err();
    assert_eq!(refused.code(), Code::InvalidRequest);
    scheduler.set(BTreeMap::new());
    place.board.put("cluster", "pushed", NEVER).unwrap();
    assert_eq!(place.fact("cluster").as_deref(), Some("pushed"));
}

#[test]
fn a_command_that_could_not_run_runs_when_it_is_set_again() {
    let place = Place::new();
    let scheduler = place.scheduler();
    let settings = || named([("x", FactSettings::new(vec!["./program".to_owned()], OFTEN))]);
    scheduler.set(settings());
    until_problem(&scheduler);
    let program = place.path().join("program");
    fs::write(place.path().join("new"), "#!/bin/sh\necho found\n").unwrap();
    let executable = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    fs::set_permissions(place.path().join("new"), executable).unwrap();
    fs::rename(place.path().join("new"), program).unwrap();
    place.until_fact("x", Some("found"));
    assert_eq!(scheduler.problems(), []);
}

#[test]
fn settings_may_change_on_many_threads_at_once_and_the_last_ones_win() {
    let place = Place::new();
    let scheduler = place.scheduler();
    thread::scope(|scope| {
        for number in 0..8 {
            let (scheduler, place) = (&scheduler, &place);
            scope.spawn(move || {
                for turn in 0..5 {
                    let name = format!("fact-{}", (number + turn) % 3);
                    let script = format!("echo {number}; test {turn} -eq 2 && sleep 1000");
                    scheduler.set([(name, every(OFTEN, &script))].into());
                    let _ = (scheduler.problems(), place.facts());
                }
            });
        }
    });
    scheduler.set(named([("last", once("echo one"))]));
    place.until_fact("last", Some("one"));
    assert!((0..3).all(|number| place.fact(&format!("fact-{number}")).is_none()));
}

#[test]
fn settings_out_of_bounds_are_brought_within_them() {
    let place = Place::new();
    let scheduler = place.scheduler();
    let endless = FactSettings {
        command: once("echo x").command,
        every: Duration::MAX,
        timeout: Duration::MAX,
        time_to_live: Duration::MAX,
        size: usize::MAX,
    };
    let nothing = FactSettings {
        command: once("echo x >> runs").command,
        every: Duration::ZERO,
        timeout: Duration::MAX,
        time_to_live: Duration::ZERO,
        size: 0,
    };
    scheduler.set(named([("endless", endless), ("nothing", nothing)]));
    place.until_fact("endless", Some("x"));
    until("it runs again", || place.lines("runs") >= 2);
}
