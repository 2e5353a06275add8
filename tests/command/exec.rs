use super::*;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;

fn exec<'a>(place: &Place, before: &[&'a OsStr], command: &[&'a OsStr]) -> std::process::Command {
    let arguments = ["exec".as_ref()]
        .into_iter()
        .chain(before.iter().copied())
        .chain(["--".as_ref()])
        .chain(command.iter().copied());
    place.command(arguments)
}

fn os(text: &str) -> &OsStr {
    text.as_ref()
}

#[test]
fn a_command_of_a_session_gets_what_the_host_and_its_contributors_say_and_nothing_stale() {
    let place = Place::new();
    let region = example("deployment-region");
    let flags =
        [os("--session-id"), os("s1"), os("--session-cwd"), os("/srv/app"), os("--contributor"), region.as_os_str()];
    let mut command = exec(&place, &flags, &[os("sh"), os("-c"), os("env")]);
    command.envs([
        ("DSH_STALE", "1"),
        ("dsh_stale", "1"),
        ("Dsh_X", "1"),
        ("DSH_SESSION_ID", "old"),
        ("KEPT_TOKEN", "t"),
    ]);
    let run = Run(command.output().unwrap()).expect(0);
    let home = place.home().display().to_string();
    assert_eq!(printed(&run, "DSH_HOME"), Some(home.clone()));
    assert_eq!(printed(&run, "DSH_SHELL").as_deref(), Some("1"));
    assert_eq!(printed(&run, "DSH_SESSION_ID").as_deref(), Some("s1"));
    assert_eq!(printed(&run, "DSH_DEPLOYMENT_REGION").as_deref(), Some("cn-north"));
    let log = format!("{home}/sessions/--srv-app--/s1/session.jsonl.zstd");
    assert_eq!(printed(&run, "DSH_SESSION_JSONL"), Some(log));
    let managed = run.stdout().lines().filter(|line| line.to_lowercase().starts_with("dsh_")).count();
    assert_eq!(managed, 5, "{}", run.stdout());
    assert_eq!(printed(&run, "KEPT_TOKEN").as_deref(), Some("t"), "a person runs it");
    assert_eq!(run.stderr(), "");
}

#[test]
fn a_command_that_no_agent_owns_is_told_so_by_absence() {
    let place = Place::new();
    let region = example("deployment-region");
    let flags = [os("--contributor"), region.as_os_str()];
    let run = Run(exec(&place, &flags, &[os("sh"), os("-c"), os("env")]).output().unwrap()).expect(0);
    for key in ["DSH_SESSION_ID", "DSH_DEPLOYMENT_REGION", "DSH_SESSION_JSONL", "DSH_DEGRADED"] {
        assert_eq!(printed(&run, key), None, "{key}");
    }
}

#[test]
fn bytes_that_are_not_utf_8_and_exported_functions_arrive_untouched() {
    let place = Place::new();
    let odd = OsStr::from_bytes(b"a\xff\xfe b\n\t'\"");
    let script = os("printf '%s\\0' \"$1\"; /usr/bin/env -0");
    let mut command = exec(&place, &[], &[os("bash"), os("-c"), script, os("bash"), odd]);
    command.env(OsStr::from_bytes(b"ODD\xff"), odd).env("BASH_FUNC_hello%%", "() {  echo hello;\n}").env("PLAIN", odd);
    command.env(OsStr::from_bytes(b"DSH_\xff"), "1");
    let output = command.output().unwrap().stdout;
    let entries: Vec<&[u8]> = output.split(|byte| *byte == 0).collect();
    assert_eq!(entries[0], odd.as_bytes());
    let has = |entry: &[u8]| entries.contains(&entry);
    assert!(has(&[b"ODD\xff=", odd.as_bytes()].concat()) && has(&[b"PLAIN=", odd.as_bytes()].concat()));
    assert!(entries.iter().any(|entry| entry.starts_with(b"BASH_FUNC_hello%%=() {")));
    assert!(!entries.iter().any(|entry| entry.starts_with(b"DSH_\xff")));
}

#[test]
fn a_huge_environment_arrives_and_one_that_the_kernel_refuses_is_explained() {
    let place = Place::new();
    let mut command = exec(&place, &[], &[os("sh"), os("-c"), os("env | wc -c")]);
    for number in 0..10 {
        command.env(format!("BIG_{number}"), "x".repeat(100_000));
    }
    let run = Run(command.output().unwrap()).expect(0);
    assert!(run.stdout().trim().parse::<usize>().unwrap() > 1_000_000);
}

#[test]
fn an_overlay_that_makes_the_environment_too_large_names_the_largest_variables() {
    let place = Place::new();
    // As large as the kernel takes for this process, so that the overlay makes it too large for the next.
    let mut command = exec(&place, &[os("--session-id"), os("s1")], &[os("true")]);
    let mut total = 0;
    for number in 0.. {
        let value = "x".repeat(100_000);
        total += value.len();
        command.env(format!("BIG_{number}"), value);
        if total > 1_900_000 {
            break;
        }
    }
    for number in 0..4_000 {
        command.env(format!("SMALL_{number}"), "");
    }
    let Ok(output) = command.output() else { return };
    let run = Run(output);
    if run.status() == 125 {
        assert!(run.stderr().contains("environment-too-large") && run.stderr().contains("BIG_"), "{}", run.stderr());
    }
}

#[test]
fn the_statuses_are_those_of_shells() {
    let place = Place::new();
    let status = |command: &[&OsStr]| Run(exec(&place, &[], command).output().unwrap()).status();
    assert_eq!(status(&[os("sh"), os("-c"), os("exit 7")]), 7);
    assert_eq!(status(&[os("no-such-command-anywhere")]), 127);
    assert_eq!(status(&[place.path().as_os_str()]), 126);
    let plain = place.write("plain", "echo");
    assert_eq!(status(&[plain.as_os_str()]), 126);
}

#[test]
fn every_failure_of_its_own_is_125_and_says_why_on_standard_error_only() {
    let place = Place::new();
    let bad = place.write("bad.wasm", "");
    let spinning = place.write("spin.wasm", Guest::good().with("resolve", "(unreachable)").component());
    for flags in [
        vec![os("--contributor"), bad.as_os_str()],
        vec![os("--contributor"), spinning.as_os_str()],
        vec![os("--home"), os("  ")],
        vec![os("--session-cwd"), os("/x")],
        vec![os("--session-id"), os("")],
        vec![os("--no-such-flag")],
        vec![os("--workdir"), os("/no/such/folder")],
        vec![os("--execution"), os("/no/such/file")],
    ] {
        let run = Run(exec(&place, &flags, &[os("echo"), os("ran")]).output().unwrap()).expect(125);
        assert_eq!(run.stdout(), "", "{flags:?}");
        assert!(!run.stderr().is_empty(), "{flags:?}");
    }
    let run = Run(place.command(["exec"]).output().unwrap());
    assert_eq!(run.status(), 125);
    let run = place.run([
        "exec".as_ref(),
        "--json".as_ref(),
        "--contributor".as_ref(),
        bad.as_os_str(),
        "--".as_ref(),
        "true".as_ref(),
    ]);
    let error: serde_json::Value = serde_json::from_str(&run.expect(125).stderr()).unwrap();
    assert_eq!(error["error"]["code"], "not-a-component");
}

#[test]
fn scrub_removes_what_looks_like_a_credential_and_sets_a_plain_terminal() {
    let place = Place::new();
    let mut command = exec(&place, &[os("--scrub")], &[os("sh"), os("-c"), os("env")]);
    command.envs([
        ("MY_API_KEY", "1"),
        ("db_password", "1"),
        ("Secret", "1"),
        ("X_TOKEN_Y", "1"),
        ("PLAIN", "1"),
        ("TERM", "xterm"),
    ]);
    let run = Run(command.output().unwrap()).expect(0);
    for gone in ["MY_API_KEY", "db_password", "Secret", "X_TOKEN_Y"] {
        assert_eq!(printed(&run, gone), None, "{gone}");
    }
    for (name, value) in [("PLAIN", "1"), ("NO_COLOR", "1"), ("PAGER", "cat"), ("GIT_PAGER", "cat"), ("TERM", "dumb")] {
        assert_eq!(printed(&run, name).as_deref(), Some(value));
    }
}

#[test]
fn the_working_directory_is_where_the_command_runs() {
    let place = Place::new();
    let folder = place.path().canonicalize().unwrap().join("XYZ-9");
    std::fs::create_dir(&folder).unwrap();
    let ticket = example("ticket");
    let flags = [os("--workdir"), folder.as_os_str(), os("--contributor"), ticket.as_os_str()];
    let run = Run(exec(&place, &flags, &[os("sh"), os("-c"), os("pwd; echo $DSH_TICKET")]).output().unwrap()).expect(0);
    assert_eq!(run.stdout(), format!("{}\nXYZ-9\n", folder.display()));
}

#[test]
fn an_execution_record_says_who_is_calling() {
    let place = Place::new();
    let record = place.write(
        "record.json",
        r#"{"call_id":"c1","root_call_id":"c0","tool":"bash","agent":{"session":{"id":"from-file","cwd":"/srv","delegation_depth":1}},"extensions":[["com.acme.ticket","A-1"]]}"#,
    );
    let flags = [os("--execution"), record.as_os_str()];
    let run = Run(exec(&place, &flags, &[os("sh"), os("-c"), os("env")]).output().unwrap()).expect(0);
    assert_eq!(printed(&run, "DSH_SESSION_ID").as_deref(), Some("from-file"));
    let flags = [os("--execution"), record.as_os_str(), os("--session-id"), os("from-flag")];
    let run = Run(exec(&place, &flags, &[os("sh"), os("-c"), os("env")]).output().unwrap()).expect(0);
    assert_eq!(printed(&run, "DSH_SESSION_ID").as_deref(), Some("from-flag"));
}

#[test]
fn a_parent_and_a_child_at_once_never_see_each_others_id() {
    let place = Place::new();
    let runs: Vec<_> = (0..24)
        .map(|number| {
            let id = format!("session-{number}");
            let mut command = exec(
                &place,
                &[os("--session-id"), os(&id)],
                &[os("sh"), os("-c"), os("echo $DSH_SESSION_ID $DSH_SESSION_JSONL")],
            );
            command.env("DSH_SESSION_ID", "parent");
            (id, command.stdout(std::process::Stdio::piped()).spawn().unwrap())
        })
        .collect();
    for (id, child) in runs {
        let run = Run(child.wait_with_output().unwrap());
        assert_eq!(run.stdout(), format!("{id} {}/sessions/_no-cwd/{id}/session.jsonl.zstd\n", place.home().display()));
    }
}

#[test]
fn a_nested_host_displaces_nothing_that_the_outer_one_says() {
    let place = Place::new();
    let binary = env!("CARGO_BIN_EXE_dsh-env");
    let inner =
        format!("DSH_SESSION_ID=forged {binary} exec --session-id inner -- sh -c 'echo $DSH_SESSION_ID $DSH_HOME'");
    let run =
        Run(exec(&place, &[os("--session-id"), os("outer")], &[os("sh"), os("-c"), os(&inner)]).output().unwrap());
    assert_eq!(run.expect(0).stdout(), format!("inner {}\n", place.home().display()));
}

#[test]
fn the_process_that_runs_the_command_is_the_one_that_was_started() {
    let place = Place::new();
    let child =
        exec(&place, &[], &[os("sh"), os("-c"), os("echo $$")]).stdout(std::process::Stdio::piped()).spawn().unwrap();
    let id = child.id();
    assert_eq!(Run(child.wait_with_output().unwrap()).stdout().trim(), id.to_string());
}
