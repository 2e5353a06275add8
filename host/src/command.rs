//! The command line: words, colours, exit statuses. It calls the library as any embedder would.
//!
//! One file a command. What several share: [`arguments`] has every flag, from which help, manual page
//! and completions come; [`composition`] makes a host and an execution of them; [`output`] writes to
//! people and programs; [`failure`] turns errors into sentences and exit statuses.

mod arguments;
mod bench;
mod cache;
mod check;
mod composition;
mod documents;
mod env;
mod exec;
mod failure;
mod format;
mod granted;
mod home;
mod inspect;
mod json;
mod list;
mod operate;
mod output;
mod progress;
mod run;
mod serve;
mod server;
mod session;
mod top;
mod torture;
mod why;

use std::process::ExitCode;

use clap::Parser as _;

use arguments::{Arguments, Command, LogFormat};
use dsh_env::sandbox::GUARDED_THREAD;
use output::Output;
use tracing_subscriber::EnvFilter;

/// Runs the command that the process was started with.
pub(crate) fn run() -> ExitCode {
    keep_strangers_panics_quiet();
    let arguments = match Arguments::try_parse() {
        Ok(arguments) => arguments,
        Err(error) => return failure::report_command_line(&error),
    };
    start_logging(&arguments.command);
    keep_out_of_core_dumps(&arguments.command);
    let output = Output::new(arguments.json);
    match dispatch(&arguments, &output) {
        Ok(status) => status,
        Err(error) if matches!(arguments.command, Command::Exec(_)) => failure::report_of_exec(&error, &output),
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
        Command::Add(command) => operate::add(command, output),
        Command::Remove(command) => operate::remove(command, output),
        Command::Status(command) => operate::status(command, output),
        Command::Approve(command) => operate::approve(command, output),
        Command::Forget(command) => operate::forget(command, output),
        Command::Rollback(command) => operate::rollback(command, output),
        Command::Reload(command) => operate::reload(command, output),
        Command::Logs(command) => operate::logs(command, output),
        Command::Serve(command) => serve::run(command),
        Command::Top(command) => top::run(command, output),
        Command::Session(command) => session::run(command, output),
        Command::Run(command) => run::run(command, output),
        Command::Bench(command) => bench::run(command, output),
        Command::Torture(command) => torture::run(command, output),
        Command::Cache(command) => cache::run(command, output),
        Command::Completions(command) => documents::completions(command),
        Command::Man => documents::man(),
    }
}

/// A panic while a stranger's component is parsed or compiled becomes an error with a code; what the
/// default hook would print beside it helps nobody.
fn keep_strangers_panics_quiet() {
    let default = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |panic| {
        if std::thread::current().name() != Some(GUARDED_THREAD) {
            default(panic);
        }
    }));
}

/// Sensitive values pass through this process's memory, which a core dump or a debugger of the same user
/// would show. `bench` only gives up core dumps, since its pool looks at its own page map, as a process that
/// cannot be dumped may not; the others change nothing that `exec` would hand on to the command.
fn keep_out_of_core_dumps(command: &Command) {
    #[cfg(target_os = "linux")]
    {
        use rustix::process::{DumpableBehavior, Resource, Rlimit, set_dumpable_behavior, setrlimit};
        let done = match command {
            Command::Bench(_) => setrlimit(Resource::Core, Rlimit { current: Some(0), maximum: Some(0) }),
            _ => set_dumpable_behavior(DumpableBehavior::NotDumpable),
        };
        if let Err(error) = done {
            tracing::debug!(%error, "core dumps of this process cannot be turned off");
        }
    }
    let _ = command;
}

/// Logs to standard error what `RUST_LOG` asks for; unless it is set, a server logs what operators want to know and
/// the others nothing.
fn start_logging(command: &Command) {
    let asked = std::env::var_os("RUST_LOG").is_some();
    let serve = if let Command::Serve(serve) = command { Some(serve) } else { None };
    if !asked && serve.is_none() {
        return;
    }
    let filter = match serve {
        Some(serve) if !asked => EnvFilter::new(serve::log_filter(serve).as_deref().unwrap_or("info")),
        _ => EnvFilter::from_default_env(),
    };
    let subscriber = tracing_subscriber::fmt().with_env_filter(filter).with_writer(std::io::stderr);
    // Fails only where one was set before, which nothing here does.
    let _ = match serve.map(|serve| serve.log) {
        Some(LogFormat::Json) => tracing::subscriber::set_global_default(subscriber.json().finish()),
        _ => tracing::subscriber::set_global_default(subscriber.finish()),
    };
}
