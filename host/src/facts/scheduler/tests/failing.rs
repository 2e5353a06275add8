//! Runs that find nothing out.

use super::*;

/// The problem of a command that is run once.
fn problem(settings: FactSettings) -> Error {
    let place = Place::new();
    let scheduler = place.scheduler();
    scheduler.set(named([("x", settings)]));
    let problem = until_problem(&scheduler);
    assert_eq!(place.fact("x"), None);
    problem
}

fn message(settings: FactSettings) -> String {
    let problem = problem(settings);
    assert_eq!(problem.code(), Code::ExecutionFailed);
    problem.message().to_owned()
}

#[test]
fn a_command_that_fails_is_told_with_the_first_line_of_its_complaint() {
    assert_eq!(
        message(once("echo wrong; printf '\\n\\033[1mno \\377cluster\\033[0m\\nsee the manual\\n' >&2; exit 3")),
        "the command of [facts.x] failed with exit status 3, and said \"\\u{1b}[1mno \u{fffd}cluster\\u{1b}[0m\": see what is wrong by running it in the host's home"
    );
    assert_eq!(
        message(once("kill -9 $$")),
        "the command of [facts.x] was ended by signal 9: see what is wrong by running it in the host's home"
    );
}

#[test]
fn a_long_complaint_holds_nothing_up_and_is_cut_short() {
    let message = message(once("yes complaint | tr -d '\\n' | head -c 300000 >&2; exit 1"));
    assert!(message.len() < 1024, "{}", message.len());
    assert!(message.contains("and said \"complaintcomplaint"), "{message}");
}

#[test]
fn output_that_no_fact_can_be_is_none() {
    assert_eq!(
        message(once("printf 'a\\377'")),
        "the command of [facts.x] printed something that is not UTF-8: let it print text"
    );
    assert_eq!(
        message(once("printf 'a\\000b'")),
        "the command of [facts.x] printed a NUL character, which no environment variable can hold: let it print text"
    );
}

#[test]
fn more_output_than_there_may_be_is_no_fact_rather_than_part_of_one() {
    let place = Place::new();
    let scheduler = place.scheduler();
    let of = |size, script: &str| FactSettings { size, ..once(script) };
    scheduler.set(named([
        ("fits", of(5, "echo kind")),
        ("largest", of(usize::MAX, "head -c 32768 /dev/zero | tr '\\0' x")),
        ("longer", of(4, "echo kind")),
    ]));
    place.until_fact("fits", Some("kind"));
    place.until_fact("largest", Some(&"x".repeat(32 * 1024)));
    assert_eq!(
        until_problem(&scheduler).message(),
        "the command of [facts.longer] printed more than 4 bytes: let it print less, or allow more by size, 32768 bytes at most"
    );
    assert_eq!(place.fact("longer"), None);
    // Even if it never ends, and whatever it was allowed.
    assert!(message(once("yes")).contains("printed more than 4096 bytes"));
    assert!(message(of(usize::MAX, "yes")).contains("printed more than 32768 bytes"));
}

#[test]
fn what_cannot_be_started_says_what_is_not_there() {
    let of = |command: &[&str]| FactSettings::new(command.iter().copied().map(str::to_owned).collect(), NEVER);
    assert_eq!(
        message(of(&["no-such-program", "x"])),
        "the command of [facts.x] names the program \"no-such-program\", which is not there: install it, or name it in full"
    );
    assert_eq!(message(of(&[])), "the command of [facts.x] names no program: name one");
    assert!(message(of(&["/"])).contains("could not start \"/\""));
    assert!(message(of(&["a\0b"])).contains("could not start"));
}

#[test]
fn a_home_that_is_gone_is_not_taken_for_a_missing_program() {
    let place = Place::new();
    let scheduler = place.scheduler();
    fs::remove_dir(place.path()).unwrap();
    scheduler.set(named([("x", once("true"))]));
    assert!(until_problem(&scheduler).message().contains("cannot run in the host's home, "));
}

#[test]
fn a_name_that_no_fact_can_have_is_a_problem_and_its_command_is_not_run() {
    let place = Place::new();
    let scheduler = place.scheduler();
    scheduler.set(named([("No Name", once("touch ran"))]));
    assert!(until_problem(&scheduler).message().contains("is no fact's name"));
    scheduler.set(named([("a-name", once("echo x"))]));
    place.until_fact("a-name", Some("x"));
    assert_eq!(scheduler.problems(), []);
    assert!(!place.path().join("ran").exists());
}

#[test]
fn a_run_that_fails_changes_nothing_until_the_fact_ends_and_one_that_runs_well_ends_the_problem() {
    let place = Place::new();
    let scheduler = place.scheduler();
    let script = "test -e broken && exit 1; echo kind";
    scheduler.set(named([("cluster", every(OFTEN, script))]));
    place.until_fact("cluster", Some("kind"));
    scheduler.set(named([("cluster", FactSettings { time_to_live: NEVER, ..every(OFTEN, script) })]));
    place.until_fact("cluster", Some("kind"));
    fs::write(place.path().join("broken"), "").unwrap();
    assert_eq!(until_problem(&scheduler).code(), Code::ExecutionFailed);
    assert_eq!(place.fact("cluster").as_deref(), Some("kind"));
    scheduler.set(named([("cluster", FactSettings { time_to_live: OFTEN, ..every(OFTEN, script) })]));
    place.until_fact("cluster", None);
    assert_eq!(until_problem(&scheduler).code(), Code::ExecutionFailed);
    fs::remove_file(place.path().join("broken")).unwrap();
    until("the problem ends", || scheduler.problems().is_empty());
}

#[test]
fn problems_are_in_the_order_of_their_names() {
    let place = Place::new();
    let scheduler = place.scheduler();
    scheduler.set(named([("b", once("exit 2")), ("c", once("true")), ("a", once("exit 1"))]));
    until("both are told", || scheduler.problems().len() == 2);
    let messages: Vec<_> = scheduler.problems().iter().map(|problem| problem.message().to_owned()).collect();
    assert!(messages[0].contains("[facts.a]") && messages[1].contains("[facts.b]"), "{messages:?}");
}
