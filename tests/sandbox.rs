//! The sandbox against components that do what they should not, one kind a test.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test that cannot go on fails"
)]

mod support;

#[path = "sandbox/cache.rs"]
mod cache;
#[path = "sandbox/files.rs"]
mod files;
#[path = "sandbox/isolation.rs"]
mod isolation;
#[path = "sandbox/limits.rs"]
mod limits;
#[path = "sandbox/output.rs"]
mod output;

use std::sync::OnceLock;
use std::time::Duration;

use dsh_env::contract::{Binding, Contributor as _, Deadline, Execution, Failure, SessionHeader, SessionId};
use dsh_env::sandbox::{Allocation, Sandbox, SandboxOptions, SandboxedContributor};
use dsh_env::{Code, Error};
use support::guest::Guest;

/// One sandbox of each allocation, for all tests: what one call does must not matter to another.
fn sandboxes() -> [&'static Sandbox; 2] {
    static SANDBOXES: OnceLock<[Sandbox; 2]> = OnceLock::new();
    let [on_demand, pooled] = SANDBOXES.get_or_init(|| {
        [Allocation::OnDemand, Allocation::Pooled]
            .map(|allocation| Sandbox::new(&SandboxOptions::new().allocation(allocation)).unwrap())
    });
    [on_demand, pooled]
}

fn load(sandbox: &Sandbox, component: &[u8]) -> Result<SandboxedContributor, Error> {
    sandbox.load(component)?.contributor()
}

fn execution() -> Execution {
    let header = SessionHeader::new(SessionId::new("s1").unwrap()).with_cwd("/srv");
    Execution::new("bash").owned_by(header).in_workdir("/srv/app")
}

fn resolve(contributor: &SandboxedContributor) -> Result<Vec<Binding>, Failure> {
    contributor.resolve(&execution(), &Deadline::after(Duration::from_secs(5)))
}

/// The code with which a component is refused at load, the same with both allocations.
fn load_code(component: &[u8]) -> Code {
    let [one, other] = sandboxes().map(|sandbox| load(sandbox, component).unwrap_err());
    assert_eq!(one.code(), other.code(), "{one} / {other}");
    one.code()
}

/// The code with which a guest fails to resolve, the same with both allocations.
fn resolve_code(guest: &Guest) -> Code {
    let component = guest.component();
    let [one, other] = sandboxes().map(|sandbox| resolve(&load(sandbox, &component).unwrap()).unwrap_err());
    assert_eq!(one.code(), other.code(), "{one:?} / {other:?}");
    one.code()
}
