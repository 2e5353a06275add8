//! `exec`: becomes a command in the managed environment.

use std::ffi::OsString;
use std::io;
use std::path::Path;
use std::process::{Command, ExitCode, Stdio};

use anyhow::{Result, anyhow};
use dsh_env::environment::{ChildEnvironment, OrdinaryEnv, TerminalSettings, explain_too_large, strict_shell};
use dsh_env::text::shown;
use dsh_env::{Code, Error};

use super::arguments::ExecArguments;
use super::{composition, failure, output, server};

/// The command was found and cannot be run; as in shells.
const CANNOT_RUN: u8 = 126;
/// The command was not found; as in shells.
const NOT_FOUND: u8 = 127;

/// Collects the overlay and replaces this process. Returns only when that failed, before anything ran.
pub(crate) fn run(arguments: &ExecArguments) -> Result<ExitCode> {
    let (program, given) = arguments.command.split_first().ok_or_else(|| failure::usage("no command is given"))?;
    let execution = composition::execution(&arguments.execution)?;
    let workdir = composition::workdir(&arguments.execution, &execution)?;
    // A host of this process is gone after it, with its workers: the command would not know what to do with the
    // children of another program.
    let managed = server::managed(&arguments.host, &arguments.server, &execution)?;
    let environment = ChildEnvironment::builder(std::env::vars_os())
        .scrub_credentials(arguments.scrub)
        .terminal(terminal(arguments.scrub, program))
        .strict_shell(arguments.strict_shell)
        .ordinary(told_where(workdir.as_deref())?)
        .with_managed(&managed);
    let given = if arguments.strict_shell { strict_shell::arguments(program, given) } else { given.to_vec() };

    let mut command = Command::new(program);
    command.args(&given).env_clear().envs(environment.iter());
    if arguments.strict_shell {
        command.stdin(Stdio::null());
    }
    if let Some(workdir) = &workdir {
        enter(workdir)?;
    }
    let error = replace_process(&mut command);
    if let Some(too_large) = explain_too_large(&error, &environment, &given) {
        return Err(too_large.into());
    }
    Ok(refused(program, &error))
}

fn terminal(scrub: bool, program: &OsString) -> TerminalSettings {
    match (scrub, strict_shell::is_powershell(program)) {
        (false, _) => TerminalSettings::Inherited,
        (true, true) => TerminalSettings::PlainForPwsh,
        (true, false) => TerminalSettings::Plain,
    }
}

/// Programs that are no shells believe `PWD`, so it moves with the command.
fn told_where(workdir: Option<&Path>) -> Result<OrdinaryEnv> {
    let mut env = OrdinaryEnv::new();
    if let Some(workdir) = workdir.filter(|_| std::env::var_os("PWD").is_some()) {
        env.set("PWD", workdir)?;
    }
    Ok(env)
}

/// Goes where the command is to run: what the execution says has to be true.
fn enter(workdir: &Path) -> Result<()> {
    std::env::set_current_dir(workdir).map_err(|error| {
        let name = shown(&workdir.display().to_string());
        anyhow!(Error::host(
            Code::InvalidExecution,
            format!("the working directory {name} cannot be entered ({error}): give one that exists")
        ))
    })
}

#[cfg(unix)]
fn replace_process(command: &mut Command) -> io::Error {
    std::os::unix::process::CommandExt::exec(command)
}

/// Where a process cannot be replaced, it waits for the command and ends with its status.
#[cfg(not(unix))]
fn replace_process(command: &mut Command) -> io::Error {
    match command.status() {
        Ok(status) => std::process::exit(status.code().unwrap_or(1)),
        Err(error) => error,
    }
}

/// Says why the command could not be run.
fn refused(program: &OsString, error: &io::Error) -> ExitCode {
    let name = shown(&program.to_string_lossy());
    if error.kind() == io::ErrorKind::NotFound {
        output::note(&format!("{name}: command not found, or its interpreter is"));
        return ExitCode::from(NOT_FOUND);
    }
    output::note(&format!("{name}: cannot be run: {error}"));
    ExitCode::from(CANNOT_RUN)
}
