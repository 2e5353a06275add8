//! A harness that embeds the library with a contributor of its own, without WebAssembly.
//!
//! `cargo run --example embed`

use std::process::Command;

use dsh_env::contract::{Binding, Contributor, Deadline, Declaration, Execution, Failure, SessionHeader, SessionId};
use dsh_env::environment::ChildEnvironment;
use dsh_env::home::Home;
use dsh_env::registry::Registry;

struct Branch;

impl Contributor for Branch {
    fn declare(&self) -> Declaration {
        Declaration::new("branch").variable("DSH_BRANCH", "The branch that the agent was asked to work on.")
    }

    fn resolve(&self, _: &Execution, _: &Deadline) -> Result<Vec<Binding>, Failure> {
        Ok(vec![Binding::new("DSH_BRANCH", "main")])
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let registry = Registry::new(&Home::resolve(None)?);
    let _branch = registry.register(Branch)?;
    // Once for every shell call, with whoever makes it.
    let execution = Execution::new("bash").owned_by(SessionHeader::new(SessionId::new("s1")?));
    let environment = ChildEnvironment::builder(std::env::vars_os()).with_overlay(&registry.collect(&execution)?);
    let child = ["-c", "echo $DSH_SESSION_ID works on $DSH_BRANCH"];
    Command::new("sh").args(child).env_clear().envs(environment.iter()).status()?;
    Ok(())
}
