//! Real shells with real start-up files, each of which sets the session to another one. Every test
//! shows first that its file would do so, so that it cannot pass because the file was never read.

use super::installed::is_installed;
use super::*;
use std::io::Read;
use std::os::unix::net::UnixStream;
use std::process::{Command, Stdio};

/// What a start-up file says in the shells whose syntax is that of `sh`.
const EVIL: &str = "export DSH_SESSION_ID=evil\n";

/// Prints the session in every shell.
const SCRIPT: &str = "echo $DSH_SESSION_ID";

/// A user's home with start-up files.
struct UserHome(tempfile::TempDir);

impl UserHome {
    fn with(files: &[(&str, &str)]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        for (name, text) in files {
            let path = folder.path().join(name);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        }
        Self(folder)
    }

    fn path(&self, name: &str) -> String {
        self.0.path().join(name).to_str().unwrap().to_owned()
    }

    /// A builder that inherited this home and `more`.
    fn builder(&self, more: &[(&str, &str)]) -> Builder {
        let home = self.path("");
        let path = std::env::var("PATH").unwrap();
        bare(&[&[("HOME", home.as_str()), ("PATH", path.as_str())], more].concat())
    }
}

/// What a child prints.
fn printed(program: &str, arguments: &[OsString], environment: &ChildEnvironment, input: Stdio) -> String {
    let mut child = Command::new(program)
        .args(arguments)
        .env_clear()
        .envs(environment.iter())
        .current_dir("/")
        .stdin(input)
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap_or_else(|error| panic!("{program} is needed for the tests: {error}"));
    let mut output = String::new();
    child.stdout.take().unwrap().read_to_string(&mut output).unwrap();
    child.wait().unwrap();
    output.trim_end().to_owned()
}

fn list(texts: &[&str]) -> Vec<OsString> {
    texts.iter().map(OsString::from).collect()
}

/// One end of a connection, as a child that is started by a network service has it.
fn socket() -> Stdio {
    let (one, other) = UnixStream::pair().unwrap();
    // Open for the life of the test process: an end of input would be something else.
    std::mem::forget(other);
    std::os::fd::OwnedFd::from(one).into()
}

fn shell_is_misled_unless_it_is_strict(program: &str, builder: &Builder, input: fn() -> Stdio) {
    let overlay = overlay(&[]);
    let loose = builder.clone().with_overlay(&overlay);
    assert_eq!(printed(program, &list(&["-c", SCRIPT]), &loose, input()), "evil", "the file was not read at all");

    let strict = builder.clone().strict_shell(true).with_overlay(&overlay);
    let arguments = strict_shell::script_arguments(program.as_ref(), SCRIPT.as_ref());
    assert_eq!(printed(program, &arguments, &strict, input()), SESSION);
    let arguments = strict_shell::arguments(program.as_ref(), &list(&["-c", SCRIPT]));
    assert_eq!(printed(program, &arguments, &strict, input()), SESSION);
}

#[test]
fn bash_does_not_run_the_file_that_bash_env_names() {
    let home = UserHome::with(&[("evil.sh", EVIL)]);
    let builder = home.builder(&[("BASH_ENV", &home.path("evil.sh"))]);
    shell_is_misled_unless_it_is_strict("bash", &builder, Stdio::null);
}

#[test]
fn the_request_cannot_have_bash_run_a_file_either() {
    let home = UserHome::with(&[("evil.sh", EVIL)]);
    let builder = home.builder(&[]).ordinary(ordinary(&[("BASH_ENV", Some(&home.path("evil.sh")))]));
    shell_is_misled_unless_it_is_strict("bash", &builder, Stdio::null);
}

#[test]
fn bash_does_not_read_bashrc_because_its_input_is_a_socket() {
    let home = UserHome::with(&[(".bashrc", EVIL)]);
    shell_is_misled_unless_it_is_strict("bash", &home.builder(&[]), socket);
}

#[test]
fn the_arguments_alone_keep_bashrc_away_too() {
    let home = UserHome::with(&[(".bashrc", EVIL)]);
    let loose = home.builder(&[]).with_overlay(&overlay(&[]));
    let arguments = strict_shell::script_arguments("bash".as_ref(), SCRIPT.as_ref());
    assert_eq!(printed("bash", &arguments, &loose, socket()), SESSION);
}

#[test]
fn a_bash_that_another_program_starts_does_not_read_bashrc_either() {
    let home = UserHome::with(&[(".bashrc", EVIL)]);
    let arguments = strict_shell::arguments("env".as_ref(), &list(&["bash", "-c", SCRIPT]));
    for level in [&[][..], &[("SHLVL", "0")], &[("SHLVL", "999")]] {
        let (builder, overlay) = (home.builder(level), overlay(&[]));
        let loose = builder.clone().with_overlay(&overlay);
        assert_eq!(printed("env", &arguments, &loose, socket()), "evil", "{level:?}");
        let strict = builder.strict_shell(true).with_overlay(&overlay);
        assert_eq!(printed("env", &arguments, &strict, socket()), SESSION, "{level:?}");
    }
}

#[test]
fn an_interactive_sh_does_not_run_the_file_that_env_names() {
    let home = UserHome::with(&[("evil.sh", EVIL)]);
    let builder = home.builder(&[("ENV", &home.path("evil.sh"))]);
    let arguments = strict_shell::arguments("sh".as_ref(), &list(&["-i", "-c", SCRIPT]));
    let overlay = overlay(&[]);
    let loose = builder.clone().with_overlay(&overlay);
    assert_eq!(printed("sh", &arguments, &loose, Stdio::null()), "evil");
    let strict = builder.strict_shell(true).with_overlay(&overlay);
    assert_eq!(printed("sh", &arguments, &strict, Stdio::null()), SESSION);
}

#[test]
fn zsh_reads_zshenv_neither_from_zdotdir_nor_from_the_home() {
    if !is_installed("zsh") {
        return;
    }
    let home = UserHome::with(&[("dots/.zshenv", EVIL)]);
    shell_is_misled_unless_it_is_strict("zsh", &home.builder(&[("ZDOTDIR", &home.path("dots"))]), Stdio::null);
    let home = UserHome::with(&[(".zshenv", EVIL)]);
    shell_is_misled_unless_it_is_strict("zsh", &home.builder(&[]), Stdio::null);
}

#[test]
fn fish_reads_neither_its_configuration_nor_its_universal_variables() {
    if !is_installed("fish") {
        return;
    }
    let set = "set -gx DSH_SESSION_ID evil\n";
    for file in ["fish/config.fish", "fish/conf.d/evil.fish"] {
        let home = UserHome::with(&[(file, set)]);
        shell_is_misled_unless_it_is_strict("fish", &home.builder(&[("XDG_CONFIG_HOME", &home.path(""))]), Stdio::null);
    }

    // A universal variable does not displace an inherited one, but adds managed names of its own.
    let universal = "# VERSION: 3.0\nSETUVAR --export DSH_UNIVERSAL:evil\n";
    let home = UserHome::with(&[("fish/fish_variables", universal)]);
    let builder = home.builder(&[("XDG_CONFIG_HOME", &home.path(""))]);
    let script = "echo $DSH_UNIVERSAL";
    let loose = builder.clone().with_overlay(&overlay(&[]));
    assert_eq!(printed("fish", &list(&["-c", script]), &loose, Stdio::null()), "evil");
    let strict = builder.strict_shell(true).with_overlay(&overlay(&[]));
    let arguments = strict_shell::script_arguments("fish".as_ref(), script.as_ref());
    assert_eq!(printed("fish", &arguments, &strict, Stdio::null()), "");
}

#[test]
fn a_script_that_begins_with_a_dash_is_run_by_every_shell_that_would_take_it_for_options() {
    let home = UserHome::with(&[]);
    let environment = home.builder(&[]).strict_shell(true).with_overlay(&overlay(&[]));
    for program in ["bash", "sh", "zsh", "fish"] {
        if !is_installed(program) {
            continue;
        }
        let script = format!("-no-such-program 2>/dev/null; {SCRIPT}");
        let arguments = strict_shell::script_arguments(program.as_ref(), script.as_ref());
        assert_eq!(printed(program, &arguments, &environment, Stdio::null()), SESSION, "{program}");
    }
}

#[test]
fn an_exported_function_still_shadows_a_built_in_as_documented() {
    let shadow = ("BASH_FUNC_echo%%", "() { builtin echo evil; }");
    let home = UserHome::with(&[]);
    let environment = home.builder(&[shadow]).strict_shell(true).with_overlay(&overlay(&[]));
    let arguments = strict_shell::script_arguments("bash".as_ref(), SCRIPT.as_ref());
    assert_eq!(printed("bash", &arguments, &environment, Stdio::null()), "evil");
}

#[test]
fn a_child_sees_exactly_the_environment_that_was_made() {
    let values = [("DSH_EMPTY", ""), ("DSH_LINES", "a\nb\n")];
    let environment = bare(&[("A", "a"), ("DSH_OLD", "x")]).with_overlay(&overlay(&values));
    let printed = printed("/usr/bin/env", &list(&["-0"]), &environment, Stdio::null());
    let mut seen: Vec<_> = printed.split_terminator('\0').collect();
    seen.sort_unstable();
    let session = format!("DSH_SESSION_ID={SESSION}");
    let expected =
        ["A=a", "DSH_EMPTY=", "DSH_HOME=/the/right/home", "DSH_LINES=a\nb\n", session.as_str(), "DSH_SHELL=1"];
    assert_eq!(seen, expected);
}
