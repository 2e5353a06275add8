//! Keeping a shell's start-up files away, so that a command begins with the managed values it was given.
//!
//! A shell may run files before the command it was asked to run, and a line in one of them, left there
//! for people, can set anything. A strict shell is three things together:
//!
//! - the environment, by [`Builder::strict_shell`](super::Builder::strict_shell): `BASH_ENV`, `ENV`,
//!   `ZDOTDIR`, `SHELLOPTS`, `BASHOPTS` and `PS4` are dropped, even if the request sets them, and `SHLVL`
//!   is at least 1;
//! - the arguments, by [`arguments`] or [`script_arguments`]: `bash --noprofile --norc`, `zsh -f`,
//!   `fish --no-config` and so on;
//! - **standard input, which is the caller's part**: it must be `/dev/null`, never a socket. bash takes
//!   itself for the far end of a remote shell when it reads from one, and then reads `~/.bashrc`; `SHLVL`
//!   stops it from that too, since it only does so at the first level.
//!
//! What remains:
//!
//! - functions that were exported from bash (`BASH_FUNC_name%%`) stay, and may shadow a built-in or a
//!   program of the same name;
//! - zsh reads `/etc/zshenv` even with `-f`; nothing turns that off;
//! - a shell that is started by a program in between, not by the host, gets the environment but not the
//!   arguments: `make` may start a zsh that reads `~/.zshenv`;
//! - `sh -l` and other login shells that a command asks for read their profiles, as it asked for;
//! - shells other than those named here get no arguments.
//!
//! None of this stands against the command itself, which can set any variable in its own shell: it is
//! about what happens before the command runs.

use std::ffi::{OsStr, OsString};
use std::path::Path;

/// What makes bash, sh or zsh run or show something before, or beside, the command itself.
///
/// `BASH_ENV` and `ENV` name files that are run, `ZDOTDIR` the folder of zsh's. `SHELLOPTS` and
/// `BASHOPTS` turn options on, of which `xtrace` expands `PS4` before each command: that may assign.
const DROPPED: [&str; 6] = ["BASH_ENV", "ENV", "ZDOTDIR", "SHELLOPTS", "BASHOPTS", "PS4"];

/// How deep in shells a shell is, as shells count it.
const LEVEL: &str = "SHLVL";

/// Above this a level is set to 1 too. From 1000 on bash itself starts over, at the very level at which
/// it may take itself for a remote shell; this leaves a hundred shells one within the other before that.
const MAX_LEVEL: u32 = 900;

pub(super) fn is_dropped(name: &OsStr) -> bool {
    DROPPED.iter().any(|dropped| name == *dropped)
}

/// Sets the level to 1 unless it is a number from 1 on.
pub(super) fn raise_level(variables: &mut Vec<(OsString, OsString)>) {
    match variables.iter_mut().find(|(name, _)| name == LEVEL) {
        None => variables.push((LEVEL.into(), "1".into())),
        Some((_, level)) => {
            let number: Option<u32> = level.to_str().and_then(|text| text.parse().ok());
            if !number.is_some_and(|number| (1..=MAX_LEVEL).contains(&number)) {
                *level = "1".into();
            }
        }
    }
}

/// How one shell is told not to read its start-up files, and how to run a script.
struct Shell {
    /// The names of the program, without `.exe`.
    names: &'static [&'static str],
    /// First among the arguments: bash takes these only there.
    without_startup: &'static [&'static str],
    /// Before the text of a script.
    script: &'static str,
    /// Whether the text of a script that begins with `-` would be read as options.
    reads_script_as_options: bool,
}

const SHELLS: [Shell; 6] = [
    Shell {
        names: &["bash", "rbash", "bash-static"],
        without_startup: &["--noprofile", "--norc"],
        script: "-c",
        reads_script_as_options: true,
    },
    Shell {
        names: &["zsh", "rzsh", "zsh5", "zsh-static"],
        without_startup: &["-f"],
        script: "-c",
        reads_script_as_options: true,
    },
    Shell { names: &["fish"], without_startup: &["--no-config"], script: "-c", reads_script_as_options: false },
    Shell {
        names: &["pwsh", "pwsh-preview", "powershell"],
        without_startup: &["-NoProfile"],
        script: "-Command",
        reads_script_as_options: false,
    },
    Shell {
        names: &["csh", "tcsh", "bsd-csh"],
        without_startup: &["-f"],
        script: "-c",
        reads_script_as_options: false,
    },
    Shell { names: &["nu"], without_startup: &["--no-config-file"], script: "-c", reads_script_as_options: false },
];

/// `sh`, `dash`, `ksh` and whatever else is not known: they read nothing before a script that the
/// environment above does not name.
const OTHER: Shell = Shell { names: &[], without_startup: &[], script: "-c", reads_script_as_options: true };

/// The arguments with which a program is to be started: `arguments`, and in front of them what keeps
/// start-up files away, if the program is a shell and they do not begin with that already.
///
/// The shell is known by the last part of `program`, with or without `.exe`; its path and whether it
/// exists do not matter. The caller chooses the child's argument 0, so that it never begins with `-`.
#[must_use]
pub fn arguments(program: &OsStr, arguments: &[OsString]) -> Vec<OsString> {
    let guard = shell_of(program).without_startup;
    let is_there = arguments.len() >= guard.len() && guard.iter().zip(arguments).all(|(option, given)| given == option);
    let added = if is_there { &[][..] } else { guard };
    added.iter().map(OsString::from).chain(arguments.iter().cloned()).collect()
}

/// The arguments with which a shell runs a script without reading its start-up files, such as
/// `--noprofile --norc -c SCRIPT` for bash, `-f -c SCRIPT` for zsh, `--no-config -c SCRIPT` for fish,
/// `-NoProfile -Command SCRIPT` for PowerShell and `-c SCRIPT` for `sh`.
#[must_use]
pub fn script_arguments(program: &OsStr, script: &OsStr) -> Vec<OsString> {
    let shell = shell_of(program);
    let mut list: Vec<OsString> = shell.without_startup.iter().map(OsString::from).collect();
    list.push(shell.script.into());
    let looks_like_options = matches!(script.as_encoded_bytes().first(), Some(b'-' | b'+'));
    if shell.reads_script_as_options && looks_like_options {
        list.push("--".into());
    }
    list.push(script.to_owned());
    list
}

/// Whether a program is PowerShell, which cannot work with [a terminal that can do
/// nothing](super::TerminalSettings::PlainForPwsh).
#[must_use]
pub fn is_powershell(program: &OsStr) -> bool {
    shell_of(program).names.contains(&"pwsh")
}

fn shell_of(program: &OsStr) -> &'static Shell {
    let name = Path::new(program).file_name().and_then(OsStr::to_str).unwrap_or_default();
    let known = |shell: &&Shell| shell.names.iter().any(|known| is_program(name, known));
    SHELLS.iter().find(known).unwrap_or(&OTHER)
}

/// Whether `name` is the program `known`. Where there is `.exe` there are no cases.
fn is_program(name: &str, known: &str) -> bool {
    const SUFFIX: &str = ".exe";
    let split = name.len().checked_sub(SUFFIX.len()).and_then(|at| name.split_at_checked(at));
    match split {
        Some((stem, suffix)) if suffix.eq_ignore_ascii_case(SUFFIX) => stem.eq_ignore_ascii_case(known),
        _ => name == known,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn list(texts: &[&str]) -> Vec<OsString> {
        texts.iter().map(OsString::from).collect()
    }

    fn started(program: &str, given: &[&str]) -> Vec<OsString> {
        arguments(program.as_ref(), &list(given))
    }

    #[test]
    fn every_known_shell_is_told_to_leave_its_start_up_files_alone() {
        let cases: [(&str, &[&str]); 14] = [
            ("bash", &["--noprofile", "--norc"]),
            ("/bin/rbash", &["--noprofile", "--norc"]),
            ("/usr/bin/bash", &["--noprofile", "--norc"]),
            ("bash.exe", &["--noprofile", "--norc"]),
            ("Bash.EXE", &["--noprofile", "--norc"]),
            ("/usr/bin/zsh", &["-f"]),
            ("fish", &["--no-config"]),
            ("pwsh", &["-NoProfile"]),
            ("powershell.exe", &["-NoProfile"]),
            ("PowerShell.exe", &["-NoProfile"]),
            ("csh", &["-f"]),
            ("tcsh", &["-f"]),
            ("./nu", &["--no-config-file"]),
            ("nu.exe", &["--no-config-file"]),
        ];
        for (program, guard) in cases {
            assert_eq!(started(program, &["script", "x y"]), list(&[guard, &["script", "x y"]].concat()), "{program}");
        }
    }

    #[test]
    fn another_program_is_started_as_it_is() {
        for program in ["sh", "dash", "ksh", "env", "bashful", "notbash", "Bash", ".exe", "", "/", "bash.exe.bak"] {
            assert_eq!(started(program, &["a"]), list(&["a"]), "{program}");
        }
    }

    #[test]
    fn what_is_there_already_is_not_added_again() {
        assert_eq!(started("bash", &["--noprofile", "--norc", "-c", "x"]), list(&["--noprofile", "--norc", "-c", "x"]));
        assert_eq!(started("bash", &["--noprofile"]), list(&["--noprofile", "--norc", "--noprofile"]));
        assert_eq!(started("zsh", &["-c", "-f"]), list(&["-f", "-c", "-f"]));
        assert_eq!(started("zsh", &[]), list(&["-f"]));
    }

    #[test]
    fn a_script_is_handed_to_each_shell_in_its_own_way() {
        let cases: [(&str, &[&str]); 8] = [
            ("/bin/bash", &["--noprofile", "--norc", "-c"]),
            ("zsh", &["-f", "-c"]),
            ("fish", &["--no-config", "-c"]),
            ("pwsh", &["-NoProfile", "-Command"]),
            ("sh", &["-c"]),
            ("dash", &["-c"]),
            ("tcsh", &["-f", "-c"]),
            ("nu", &["--no-config-file", "-c"]),
        ];
        for (program, before) in cases {
            let script = "echo \"$X\"; true";
            let expected = list(&[before, &[script]].concat());
            assert_eq!(script_arguments(program.as_ref(), script.as_ref()), expected, "{program}");
        }
    }

    #[test]
    fn a_script_that_begins_like_an_option_is_not_taken_for_one() {
        assert_eq!(
            script_arguments("bash".as_ref(), "-x".as_ref()),
            list(&["--noprofile", "--norc", "-c", "--", "-x"])
        );
        assert_eq!(script_arguments("fish".as_ref(), "-x".as_ref()), list(&["--no-config", "-c", "-x"]));
    }

    #[test]
    fn the_level_is_at_least_one_and_below_where_bash_starts_over() {
        let raised = |level: Option<&str>| {
            let mut variables: Vec<_> = level.map(|level| (LEVEL.into(), level.into())).into_iter().collect();
            raise_level(&mut variables);
            variables
        };
        let one = vec![(OsString::from(LEVEL), OsString::from("1"))];
        for level in
            [None, Some(""), Some("0"), Some("-3"), Some("x"), Some("1"), Some(" 1"), Some("999"), Some("99999999999")]
        {
            assert_eq!(raised(level), one, "{level:?}");
        }
        for level in ["2", "900"] {
            assert_eq!(raised(Some(level)), [(LEVEL.into(), level.into())], "{level}");
        }
    }

    proptest! {
        #[test]
        fn adding_the_arguments_twice_is_adding_them_once(
            program in "(bash|zsh|fish|pwsh|nu|csh|sh|cat)(\\.exe)?",
            given in prop::collection::vec("(--noprofile|--norc|-f|-c|--no-config|-NoProfile|x)", 0..4),
        ) {
            let given: Vec<OsString> = given.into_iter().map(OsString::from).collect();
            let once = arguments(program.as_ref(), &given);
            prop_assert_eq!(arguments(program.as_ref(), &once), once.clone());
            prop_assert!(once.ends_with(&given));
        }
    }
}
