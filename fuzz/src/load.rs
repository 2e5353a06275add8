//! Any bytes as a component: loaded, asked what it declares, registered, and asked once for its values.

use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use dsh_env::registry::Terms;
use dsh_env::sandbox::{Isolation, Limits, LoadedComponent, Sandbox, SandboxOptions, SandboxedContributor};
use dsh_env::{Error, Stage};

use super::checks;

/// Less than what holds by default, so that many inputs are tried in a second.
const LIMITS: Limits = Limits {
    cpu: Duration::from_millis(20),
    wall: Duration::from_millis(500),
    memory: 4 * 1024 * 1024,
    table_elements: 1_000,
    instances: 16,
    output: 256 * 1024,
    log: 4 * 1024,
};

/// How much later than agreed an answer may come on a machine that is busy, in a build that is slow.
const PATIENCE: Duration = Duration::from_secs(8);

/// Compiling, which the host bounds, and as much again.
const LOAD_TIME: Duration = Duration::from_secs(28);

/// It ends with an answer or an error of the stage that it is in, and in time.
pub fn run(bytes: &[u8]) {
    let component = match within(LOAD_TIME, || sandbox().load(bytes)) {
        Ok(component) => component,
        Err(error) => return refused(&error, Stage::Load),
    };
    if may_wait(&component) {
        return;
    }
    let contributor = match within(Limits::DECLARE.wall + PATIENCE, || component.contributor()) {
        Ok(contributor) => contributor,
        Err(error) => return refused(&error, Stage::Load),
    };
    if let Err(error) = resolve(contributor.with_limits(LIMITS)) {
        checks::error(&error);
    }
}

fn resolve(contributor: SandboxedContributor) -> Result<(), Error> {
    let registry = checks::registry();
    let log = contributor.log();
    let registration = registry.register_under(Arc::new(contributor), Terms::default()).inspect_err(|error| {
        assert_eq!(error.stage(), Stage::Load, "{error}");
    })?;
    let declared = registration.declared();
    let collected = within(LIMITS.wall + PATIENCE, || registry.collect(&checks::execution()));
    assert!(log.lines().iter().all(|line| line.len() <= 1024 && !line.chars().any(checks::steers)), "{log:?}");
    let overlay = collected.inspect_err(|error| assert_eq!(error.stage(), Stage::Resolve, "{error}"))?;
    checks::overlay(&overlay);
    for entry in overlay.iter().filter(|entry| entry.contributor.is_some()) {
        assert!(declared.find(entry.key.as_str()).is_some(), "{} was not declared", entry.key);
    }
    Ok(())
}

fn refused(error: &Error, stage: Stage) {
    checks::error(error);
    assert_eq!(error.stage(), stage, "{error}");
}

/// Whether it can wait in this process for as long as it likes, which whoever has no workers accepts: by what it
/// imports to wait with. Files and sockets are there too, and there are none.
fn may_wait(component: &LoadedComponent) -> bool {
    component.imports().iter().any(|import| import.starts_with("wasi:io/poll"))
}

fn within<T>(time: Duration, work: impl FnOnce() -> T) -> T {
    let started = Instant::now();
    let done = work();
    assert!(started.elapsed() <= time, "it took {:?}", started.elapsed());
    done
}

fn sandbox() -> &'static Sandbox {
    static SANDBOX: OnceLock<Sandbox> = OnceLock::new();
    SANDBOX.get_or_init(|| Sandbox::new(&SandboxOptions::new().isolation(Isolation::InProcess)).unwrap())
}
