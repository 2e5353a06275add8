//! The shell formats, read back by the shells themselves.

use super::installed::is_installed;
use super::*;
use std::collections::BTreeMap;
use std::io::Write;
use std::process::{Command, Stdio};

/// Starts of one shell for each property. Each start reads some 16 values.
const STARTS: u32 = 32;

/// What the shell inherits beside `PATH`: stale names in several cases, a name that the overlay has too,
/// and one of those that fish takes for a list.
const STALE: [(&str, &str); 5] =
    [("DSH_OLD", "old"), ("dsh_stale", "old"), ("Dsh_X", "old"), ("DSH_V0", "old"), ("DSH_V1_PATH", "old:older")];

/// What is removed: more than there is, since a file may be sourced where a variable is not set any more,
/// be it the first or the last.
fn stale() -> InheritedManaged {
    InheritedManaged::among(STALE.iter().map(|(name, _)| *name).chain(["DSH_ABSENT", "dsh_unset"]))
}

/// How a shell is started, and how it reads a file and then prints its environment.
struct Shell {
    program: &'static str,
    options: &'static [&'static str],
    script: &'static str,
    locale: Option<&'static str>,
}

const SOURCE: &str = r#"set -eu; . "$1"; exec env -0"#;
const EVAL: &str = r#"set -eu; eval "$(cat "$1")"; exec env -0"#;
const FISH_SOURCE: &str = "cat $argv[2] | source; or exit; exec env -0";
const FISH_EVAL: &str = "eval (cat $argv[2]); or exit; exec env -0";

/// The managed variables that a child of the shell has after it read `text`, which prints nothing and
/// succeeds.
fn read_back(shell: &Shell, text: &str) -> BTreeMap<String, String> {
    let mut file = tempfile::NamedTempFile::new().unwrap();
    file.write_all(text.as_bytes()).unwrap();
    let output = Command::new(shell.program)
        .args(shell.options)
        .args(["-c", shell.script, "name"])
        .arg(file.path())
        .env_clear()
        .env("PATH", std::env::var_os("PATH").unwrap())
        .envs(STALE)
        .envs(shell.locale.map(|locale| ("LC_ALL", locale)))
        .stdin(Stdio::null())
        .output()
        .unwrap_or_else(|error| panic!("{} is needed for the tests: {error}", shell.program));
    let complaint = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() && complaint.is_empty(), "{}: {complaint}\n{text}", shell.program);
    let environment = String::from_utf8(output.stdout).unwrap();
    environment
        .split_terminator('\0')
        .map(|entry| entry.split_once('=').unwrap())
        .filter(|(name, _)| dsh_env::contract::is_managed_name(name.as_bytes()))
        .map(|(name, value)| (name.to_owned(), value.to_owned()))
        .collect()
}

fn check(format: Format, shells: &[Shell], variables: &[(Key, String)]) {
    if !shells.iter().all(|shell| is_installed(shell.program)) {
        return;
    }
    let text = rendered(format, variables, &stale());
    let expected: BTreeMap<_, _> = variables.iter().map(|(key, value)| (key.to_string(), value.clone())).collect();
    for shell in shells {
        assert_eq!(read_back(shell, &text), expected, "{} {:?}", shell.program, shell.options);
    }
}

fn posix(program: &'static str, options: &'static [&'static str]) -> [Shell; 2] {
    [SOURCE, EVAL].map(|script| Shell { program, options, script, locale: None })
}

fn fish() -> [Shell; 3] {
    let options = &["--no-config"][..];
    [(FISH_SOURCE, None), (FISH_SOURCE, Some("C.UTF-8")), (FISH_EVAL, Some("C.UTF-8"))].map(|(script, locale)| Shell {
        program: "fish",
        options,
        script,
        locale,
    })
}

#[test]
fn a_shell_is_left_with_nothing_managed_by_an_empty_overlay() {
    check(Format::Bash, &posix("bash", &[]), &[]);
    check(Format::Bash, &posix("sh", &[]), &[]);
    check(Format::Bash, &posix("zsh", &["-f"]), &[]);
    check(Format::Fish, &fish(), &[]);
}

#[test]
fn nothing_at_all_to_do_succeeds_too() {
    let nothing = rendered(Format::Bash, &[], &InheritedManaged::default());
    for shell in [posix("bash", &[]), posix("sh", &[]), posix("zsh", &["-f"])].as_flattened() {
        if !is_installed(shell.program) {
            continue;
        }
        assert_eq!(read_back(shell, &nothing).len(), STALE.len());
    }
}

#[test]
fn removing_a_variable_that_is_not_set_does_not_remove_a_function_of_that_name() {
    let text = rendered(Format::Bash, &[], &InheritedManaged::among(["DSH_ABSENT"]));
    let script = format!("DSH_ABSENT() {{ echo stays; }}\n{text}DSH_ABSENT");
    for program in ["bash", "sh", "zsh"] {
        if !is_installed(program) {
            continue;
        }
        let output = Command::new(program).args(["-c", &script]).output().unwrap();
        assert_eq!(String::from_utf8_lossy(&output.stdout), "stays\n", "{program}");
    }
}

#[test]
fn fish_itself_has_a_value_with_colons_in_one_piece_though_the_name_ends_in_path() {
    if !is_installed("fish") {
        return;
    }
    let text = rendered(Format::Fish, &[(key("DSH_V1_PATH"), "a:b:c".to_owned())], &InheritedManaged::default());
    let script = format!("{text} count $DSH_V1_PATH; echo $DSH_V1_PATH");
    let output = Command::new("fish").args(["--no-config", "-c", &script]).envs(STALE).output().unwrap();
    assert_eq!(String::from_utf8_lossy(&output.stdout), "1\na:b:c\n");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(STARTS))]

    #[test]
    fn bash_reads_every_value_back(variables in any_variables()) {
        check(Format::Bash, &posix("bash", &["--norc"]), &variables);
    }

    #[test]
    fn bash_in_posix_mode_reads_every_value_back(variables in any_variables()) {
        check(Format::Bash, &posix("bash", &["--posix"]), &variables);
    }

    #[test]
    fn sh_reads_every_value_back(variables in any_variables()) {
        check(Format::Bash, &posix("sh", &[]), &variables);
    }

    #[test]
    fn zsh_reads_every_value_back(variables in any_variables()) {
        check(Format::Bash, &posix("zsh", &["-f"]), &variables);
    }

    #[test]
    fn zsh_reads_every_value_back_with_doubled_quotes_turned_on(variables in any_variables()) {
        check(Format::Bash, &posix("zsh", &["-f", "-o", "rc_quotes"]), &variables);
    }

    #[test]
    fn fish_reads_every_value_back(variables in any_variables()) {
        check(Format::Fish, &fish(), &variables);
    }

    #[test]
    fn nu_reads_every_value_back(variables in any_variables()) {
        if !is_installed("nu") {
            return Ok(());
        }
        let text = rendered(Format::Nu, &variables, &stale());
        let mut file = tempfile::NamedTempFile::new().unwrap();
        file.write_all(text.as_bytes()).unwrap();
        // `source` takes a literal path only, so it is part of the script.
        let script = format!("source '{}'; ^env -0", file.path().display());
        let output = Command::new("nu").args(["--no-config-file", "-c", &script]).envs(STALE).output().unwrap();
        prop_assert!(output.stderr.is_empty(), "{}", String::from_utf8_lossy(&output.stderr));
        let environment = String::from_utf8(output.stdout).unwrap();
        let read: BTreeMap<_, _> = environment
            .split_terminator('\0')
            .filter_map(|entry| entry.split_once('='))
            .filter(|(name, _)| dsh_env::contract::is_managed_name(name.as_bytes()))
            .collect();
        let expected: BTreeMap<_, _> = variables.iter().map(|(key, value)| (key.as_str(), value.as_str())).collect();
        prop_assert_eq!(read, expected);
    }
}
