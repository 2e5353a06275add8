//! A harness that embeds the library with the contributors that are installed in its home, and one more.
//!
//! `cargo run --features wasm --example embed_wasm -- guest-examples/rust/deployment-region/deployment-region.wasm`

use std::process::{Command, ExitCode};

use dsh_env::contract::{Execution, SessionHeader, SessionId};
use dsh_env::environment::ChildEnvironment;
use dsh_env::sandbox::{Allocation, Isolation};
use dsh_env::{Host, HostOptions};

fn main() -> Result<ExitCode, Box<dyn std::error::Error>> {
    // Components that import something are called in processes of this very program, and compiled there too.
    // First thing, since a worker gives up what it has.
    #[cfg(target_os = "linux")]
    if std::env::args_os().nth(1).is_some_and(|argument| argument == dsh_env::sandbox::WORKER_ARGUMENT) {
        return Ok(dsh_env::sandbox::serve_worker());
    }
    // Once, when the harness starts.
    let options = HostOptions::new().contributors(std::env::args_os().skip(1));
    let host = Host::open(&options.allocation(Allocation::Pooled).isolation(Isolation::of_this_program()))?;
    for warning in host.warnings() {
        eprintln!("{warning}");
    }
    // Once for every shell call, with whoever makes it.
    let execution = Execution::new("bash").owned_by(SessionHeader::new(SessionId::new("s1")?));
    let overlay = host.registry().collect(&execution)?;
    let environment = ChildEnvironment::builder(std::env::vars_os()).with_overlay(&overlay);
    let child = ["-c", "echo $DSH_SESSION_ID runs in $DSH_DEPLOYMENT_REGION"];
    Command::new("sh").args(child).env_clear().envs(environment.iter()).status()?;
    Ok(ExitCode::SUCCESS)
}
