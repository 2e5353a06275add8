use super::*;

#[test]
fn a_program_gets_the_overlay_as_json() {
    let place = Place::new();
    let run = place.run(["env", "--session-id", "s1"]).expect(0);
    let overlay = run.json();
    assert_eq!(overlay["DSH_SESSION_ID"], "s1");
    assert_eq!(overlay["DSH_SHELL"], "1");
    assert_eq!(overlay.as_object().unwrap().len(), 4);
}

/// The value of the hostile pack with everything in it that could trip a shell.
fn tricky(place: &Place) -> (PathBuf, String) {
    let file = support::fixtures().join("hostile/ok-tricky-value.wasm");
    let run = place.run(["check".as_ref(), "--json".as_ref(), file.as_os_str()]).expect(0);
    let value = run.json()["env"]["DSH_PROBE"].as_str().unwrap().to_owned();
    (file, value)
}

fn sourced(place: &Place, format: &str, shell: &str, script: &str) -> Run {
    let (file, _) = tricky(place);
    let mut command = place.command([
        "env".as_ref(),
        "--format".as_ref(),
        format.as_ref(),
        "--contributor".as_ref(),
        file.as_os_str(),
    ]);
    command.envs([("DSH_OLD", "1"), ("dsh_stale", "1"), ("Dsh_X", "1")]);
    let output = command.output().unwrap();
    assert!(output.status.success());
    let source = place.write("source", output.stdout);
    let mut shell = std::process::Command::new(shell);
    shell.env_clear().env("PATH", std::env::var_os("PATH").unwrap()).env("HOME", place.user_home());
    shell.envs([("DSH_OLD", "1"), ("dsh_stale", "1"), ("Dsh_X", "1")]);
    Run(shell.arg("-c").arg(script.replace("SOURCE", &source.display().to_string())).output().unwrap())
}

#[test]
fn the_bash_format_sourced_under_set_eu_gives_back_the_value_and_removes_the_stale() {
    let place = Place::new();
    let (_, value) = tricky(&place);
    for shell in ["bash", "sh"] {
        let run = sourced(&place, "bash", shell, "set -eu; . SOURCE; . SOURCE; printf '%s' \"$DSH_PROBE\"; echo; env");
        let run = run.expect(0);
        assert!(run.stdout().starts_with(&format!("{value}\n")), "{shell}: {}", run.stdout());
        assert_eq!(run.stderr(), "");
        for gone in ["DSH_OLD", "dsh_stale", "Dsh_X"] {
            assert_eq!(printed(&run, gone), None, "{shell}");
        }
    }
}

#[test]
fn the_fish_format_sourced_gives_back_the_value_and_removes_the_stale() {
    let place = Place::new();
    if !support::command::is_installed("fish") {
        return;
    }
    let (_, value) = tricky(&place);
    let run =
        sourced(&place, "fish", "fish", "source SOURCE; source SOURCE; printf '%s' $DSH_PROBE; echo; env").expect(0);
    assert!(run.stdout().starts_with(&format!("{value}\n")), "{}", run.stdout());
    assert_eq!(run.stderr(), "");
    for gone in ["DSH_OLD", "dsh_stale", "Dsh_X"] {
        assert_eq!(printed(&run, gone), None);
    }
}

#[test]
fn a_contributor_that_fails_fails_the_overlay_and_nothing_is_printed_as_data() {
    let place = Place::new();
    let file = support::fixtures().join("hostile/bad-resolve-traps.wasm");
    let run = place.run(["env".as_ref(), "--contributor".as_ref(), file.as_os_str()]).expect(1);
    assert_eq!(run.stdout(), "");
    assert!(run.stderr().contains("probe: it crashed"), "{}", run.stderr());
    let run = place.run(["env".as_ref(), "--json".as_ref(), "--contributor".as_ref(), file.as_os_str()]).expect(1);
    assert_eq!(run.json()["error"]["code"], "trap");
    assert_eq!(run.json()["error"]["stage"], "resolve");
    assert_eq!(run.json()["error"]["contributor"], "probe");
}

#[test]
fn a_reader_that_has_seen_enough_is_no_failure() {
    let place = Place::new();
    let command =
        format!("{} list | true; {} env | head -c 1", env!("CARGO_BIN_EXE_dsh-env"), env!("CARGO_BIN_EXE_dsh-env"));
    let mut shell = std::process::Command::new("bash");
    let output = shell.args(["-c", &command]).env("DSH_HOME", place.home()).output().unwrap();
    assert_eq!(Run(output).stderr(), "");
}

#[test]
fn two_calls_of_one_session_share_a_trace_and_have_their_own_parents() {
    let place = Place::new();
    let trace = example("trace-context");
    let parent = || {
        let arguments =
            ["env".as_ref(), "--session-id".as_ref(), "s1".as_ref(), "--contributor".as_ref(), trace.as_os_str()];
        place.run(arguments).expect(0).json()["DSH_TRACEPARENT"].as_str().unwrap().to_owned()
    };
    let (one, other) = (parent(), parent());
    assert_eq!(one[..36], other[..36]);
    assert_ne!(one, other);
    assert!(regex_lite::Regex::new("^00-[0-9a-f]{32}-[0-9a-f]{16}-01$").unwrap().is_match(&one), "{one}");
}
