//! The command line: words, colours, exit statuses. It calls the library as any embedder would.
//!
//! One file a command. What several share: [`arguments`] has every flag, from which help, manual page
//! and completions come; [`composition`] makes a host and an execution of them; [`output`] writes to
//! people and programs; [`failure`] turns errors into sentences and exit statuses.

mod arguments;
mod bench;
mod check;
mod composition;
mod documents;
mod env;
mod exec;
mod failure;
mod format;
mod home;
mod inspect;
mod json;
mod list;
mod output;
mod progress;
mod session;
mod why;

use std::process::ExitCode;

use clap::Parser as _;

use arguments::{Arguments, Command};
use failure::EXEC_FAILED;
use output::Output;

/// Runs the command that the process was started with.
pub(crate) fn run() -> ExitCode {
    // `exec` has a status of its own for its own failures, a wrong command line included.
    let is_exec = std::env::args_os().nth(1).is_some_and(|first| first == "exec");
    let arguments = match Arguments::try_parse() {
        Ok(arguments) => arguments,
        Err(error) => {
            let status = if !error.use_stderr() { ExitCode::SUCCESS } else { failure::usage_status(is_exec) };
            // Nothing is left to tell it to where standard error is closed.
            let _ = error.print();
            return status;
        }
    };
    start_logging();
    if !matches!(arguments.command, Command::Bench(_)) {
        keep_out_of_core_dumps();
    }
    let output = Output::new(arguments.json);
    match dispatch(&arguments, &output) {
        Ok(status) => status,
        Err(error) if is_exec => {
            failure::report_to_stderr(&error, output.is_json());
            ExitCode::from(EXEC_FAILED)
        }
        Err(error) => failure::report(&error, &output),
    }
}

fn dispatch(arguments: &Arguments, output: &Output) -> anyhow::Result<ExitCode> {
    match &arguments.command {
        Command::Exec(command) => exec::run(command),
        Command::Env(command) => env::run(command, output),
        Command::List(command) => list::run(command, output),
        Command::Why(command) => why::run(command, output),
        Command::Home(command) => home::run(command, output),
        Command::Check(command) => check::run(command, output),
        Command::Inspect(command) => inspect::run(command, output),
        Command::Session(command) => session::run(command, output),
        Command::Bench(command) => bench::run(command, output),
        Command::Completions(command) => documents::completions(command),
        Command::Man => documents::man(),
    }
}

/// Sensitive values pass through this process's memory, which a core dump or a debugger of the same user
/// would show. Undone by the kernel when `exec` becomes the command. Not for `bench`, which has none, and
/// whose pool needs to look at its own page map, as only a dumpable process can.
fn keep_out_of_core_dumps() {
    #[cfg(target_os = "linux")]
    if let Err(error) = rustix::process::set_dumpable_behavior(rustix::process::DumpableBehavior::NotDumpable) {
        tracing::debug!(%error, "core dumps of this process cannot be turned off");
    }
}

/// Logs to standard error what `RUST_LOG` asks for; nothing unless it is set.
fn start_logging() {
    if std::env::var_os("RUST_LOG").is_some() {
        let subscriber = tracing_subscriber::fmt()
            .with_env_filter(tracing_subscriber::EnvFilter::from_default_env())
            .with_writer(std::io::stderr)
            .finish();
        // Fails only where one was set before, which nothing here does.
        let _ = tracing::subscriber::set_global_default(subscriber);
    }
}
