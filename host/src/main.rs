//! The `dsh-env` command.

mod command;

fn main() -> std::process::ExitCode {
    // Before anything is opened or started: a worker gives up what it has, once and for all.
    #[cfg(target_os = "linux")]
    if std::env::args_os().nth(1).is_some_and(|argument| argument == dsh_env::sandbox::WORKER_ARGUMENT) {
        return dsh_env::sandbox::serve_worker();
    }
    // Neither does a keeper need anything of a command line.
    #[cfg(target_os = "linux")]
    if std::env::args_os().nth(1).is_some_and(|argument| argument == dsh_env::executor::KEEPER_ARGUMENT) {
        return dsh_env::executor::serve_keeper();
    }
    command::run()
}
