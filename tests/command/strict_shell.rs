//! Start-up files that would displace the overlay, with and without `--strict-shell`.

use super::*;

const EVIL: &str = "export DSH_SESSION_ID=evil\n";

/// A user whose every start-up file forges the session.
fn forging_place() -> Place {
    let place = Place::new();
    for name in [".bashrc", ".bash_profile", ".profile", ".zshenv", ".zshrc", "zdot/.zshenv", "bash_env"] {
        place.write(&format!("user/{name}"), EVIL);
    }
    place.write("user/.config/fish/config.fish", "set -gx DSH_SESSION_ID evil\n");
    place
}

fn session_seen_by(place: &Place, flags: &[&str], shell: &[&str]) -> String {
    let arguments = ["exec", "--session-id", "s1"].iter().chain(flags).chain(&["--"]).chain(shell);
    let mut command = place.command(arguments);
    let user = place.user_home();
    command.env("BASH_ENV", user.join("bash_env")).env("ENV", user.join("bash_env")).env("ZDOTDIR", user.join("zdot"));
    command.env("XDG_CONFIG_HOME", user.join(".config")).env_remove("SHLVL");
    // A socket as standard input makes bash believe that it serves a remote shell.
    let (ours, theirs) = std::os::unix::net::UnixStream::pair().unwrap();
    command.stdin(std::os::fd::OwnedFd::from(theirs));
    let output = command.output().unwrap();
    drop(ours);
    Run(output).expect(0).stdout().trim().to_owned()
}

#[test]
fn a_strict_shell_keeps_every_start_up_file_away() {
    let place = forging_place();
    let print = "echo $DSH_SESSION_ID";
    for shell in ["bash", "sh", "zsh", "fish"] {
        if !support::command::is_installed(shell) {
            continue;
        }
        assert_eq!(session_seen_by(&place, &["--strict-shell"], &[shell, "-c", print]), "s1", "{shell}");
    }
    assert_eq!(session_seen_by(&place, &["--strict-shell"], &["bash", "-l", "-c", print]), "s1");
    assert_eq!(session_seen_by(&place, &["--strict-shell"], &["bash", "-i", "-c", print]), "s1");
}

#[test]
fn without_it_they_would_have_displaced_the_session() {
    let place = forging_place();
    let print = "echo $DSH_SESSION_ID";
    for shell in ["bash", "zsh", "fish"] {
        if !support::command::is_installed(shell) {
            continue;
        }
        assert_eq!(session_seen_by(&place, &[], &[shell, "-c", print]), "evil", "{shell}");
    }
}

#[test]
fn a_traced_shell_cannot_be_made_to_assign_by_its_prompt() {
    let place = Place::new();
    let mut command = place.command([
        "exec",
        "--session-id",
        "s1",
        "--strict-shell",
        "--",
        "bash",
        "-c",
        "true; echo $DSH_SESSION_ID",
    ]);
    command.envs([
        ("SHELLOPTS", "xtrace"),
        ("PS4", "$(DSH_SESSION_ID=evil)${DSH_SESSION_ID:=evil}"),
        ("BASHOPTS", "extdebug"),
    ]);
    let run = Run(command.output().unwrap()).expect(0);
    assert_eq!((run.stdout().trim(), run.stderr().as_str()), ("s1", ""));
}

#[test]
fn a_strict_shell_reads_nothing_from_standard_input() {
    let place = Place::new();
    let mut command = place.command(["exec", "--strict-shell", "--", "cat"]);
    command.stdin(std::process::Stdio::piped()).stdout(std::process::Stdio::piped());
    let child = command.spawn().unwrap();
    assert_eq!(Run(child.wait_with_output().unwrap()).expect(0).stdout(), "");
}
