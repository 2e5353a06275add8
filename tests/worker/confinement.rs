//! What a worker process has, and what it has given up.

use std::path::PathBuf;
use std::time::{Duration, Instant};

use dsh_env::sandbox::{Grants, Landlock, Limits};

use super::{Probe, sandbox};

/// The workers of this process that are in a call of at least a second, as their folders in procfs.
fn workers() -> Vec<PathBuf> {
    let tasks = std::fs::read_dir("/proc/self/task").unwrap().flatten();
    let children = tasks.filter_map(|task| std::fs::read_to_string(task.path().join("children")).ok());
    children
        .flat_map(|pids| pids.split_whitespace().map(|pid| PathBuf::from("/proc").join(pid)).collect::<Vec<_>>())
        .collect()
}

fn field(worker: &std::path::Path, name: &str) -> Option<String> {
    let status = std::fs::read_to_string(worker.join("status")).ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':').map(str::to_owned))?;
    Some(line.trim().to_owned())
}

#[test]
fn a_worker_has_given_up_what_it_does_not_need() {
    // What a careless host leaves open for its children.
    let careless = std::fs::File::open("/etc/passwd").unwrap();
    let leaked: Vec<_> = (0..8).map(|_| rustix::io::dup(&careless).unwrap()).collect();
    let sandbox = sandbox();
    let probe = Probe::of(&sandbox, Grants::default(), Limits { wall: Duration::from_secs(3), ..Limits::RESOLVE });
    std::thread::scope(|scope| {
        scope.spawn(|| probe.tell("sleep 60000").unwrap_err());
        let until = Instant::now() + Duration::from_secs(20);
        let confined = loop {
            // Those of other tests are confined too, once they are past their start.
            let found = workers().into_iter().find(|worker| field(worker, "Seccomp").as_deref() == Some("2"));
            if let Some(worker) = found {
                break worker;
            }
            assert!(Instant::now() < until, "no worker is confined");
            std::thread::sleep(Duration::from_millis(1));
        };
        assert_eq!(field(&confined, "NoNewPrivs").as_deref(), Some("1"));
        // What belongs to it is root's to see, since it cannot be dumped.
        if let (Ok(environment), Ok(descriptors)) =
            (std::fs::read(confined.join("environ")), std::fs::read_dir(confined.join("fd")))
        {
            assert_eq!(environment, b"", "a worker has variables");
            let leads_to = descriptors.flatten().filter_map(|entry| std::fs::read_link(entry.path()).ok());
            assert!(!leads_to.into_iter().any(|target| target == std::path::Path::new("/etc/passwd")));
            assert_eq!(std::fs::read_link(confined.join("cwd")).unwrap(), std::path::Path::new("/"));
        }
    });
    drop(leaked);
}

#[test]
fn this_kernel_confines_workers_and_they_say_so() {
    let confinement = sandbox().confinement().unwrap().unwrap();
    // Where these tests run; older kernels have less of it, and none is an error there.
    assert_ne!(confinement.landlock, Landlock::None);
    assert!(confinement.seccomp);
}

#[test]
fn a_program_that_is_no_worker_is_told_from_one() {
    use dsh_env::sandbox::{Isolation, Sandbox, SandboxOptions, WorkerProgram};
    for program in ["/bin/true", "/bin/cat", "/does/not/exist"] {
        let options = SandboxOptions::new().isolation(Isolation::Workers(WorkerProgram::dsh_env(program)));
        let error = Sandbox::new(&options).unwrap().load(super::support::guest::Guest::good().component()).unwrap_err();
        assert_eq!(error.code(), dsh_env::Code::Internal, "{error}");
        assert!(error.message().contains(program), "{error}");
    }
}

#[test]
fn without_workers_a_component_with_imports_is_refused_and_one_without_is_not() {
    use dsh_env::sandbox::{Isolation, Sandbox, SandboxOptions};
    let probe = std::fs::read(super::support::fixtures().join("guests/probe/probe.wasm")).unwrap();
    let sandbox = Sandbox::new(&SandboxOptions::new().isolation(Isolation::None)).unwrap();
    let error = sandbox.load(probe.as_slice()).unwrap_err();
    assert_eq!(error.code(), dsh_env::Code::ForbiddenImport);
    assert!(error.message().contains("worker program"), "{error}");
    assert!(sandbox.load(super::support::guest::Guest::good().component()).is_ok());
    // An embedder may accept that a thread waits.
    let in_process = Sandbox::new(&SandboxOptions::new().isolation(Isolation::InProcess)).unwrap();
    let probe = Probe::of(&in_process, Grants::default(), Limits::RESOLVE);
    assert_eq!(probe.try_one("arguments"), Ok(serde_json::json!([])));
}
