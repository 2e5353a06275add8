//! Attempts to get out of a workspace, and to see by way of it what was not granted. None may come to anything but
//! an error.

use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use dsh_env::Code;
use dsh_env::contract::Execution;
use dsh_env::sandbox::{Grants, Limits, Workspace, WorkspaceKind};
use rustix::fs::{CWD, FileType, Mode, mknodat};
use serde_json::json;
use tempfile::TempDir;

use super::{Probe, shared};

/// What must not be seen.
const SECRET: &str = "kept from every guest";

/// A workspace beside a secret, with everything in it that leads out.
struct Place {
    top: TempDir,
}

impl Place {
    fn new() -> Self {
        let top = tempfile::tempdir().unwrap();
        let place = Self { top };
        let [workspace, outside] = [place.workspace(), place.outside()];
        for folder in [&workspace, &outside, &workspace.join("folder"), &outside.join("nested")] {
            std::fs::create_dir(folder).unwrap();
        }
        std::fs::write(outside.join("secret"), SECRET).unwrap();
        std::fs::write(outside.join("nested/secret"), SECRET).unwrap();
        std::fs::write(workspace.join("file"), "inside").unwrap();
        std::fs::write(workspace.join("folder/file"), "deeper").unwrap();
        let link = |target: &Path, name: &str| symlink(target, workspace.join(name)).unwrap();
        link(Path::new("file"), "to-file");
        link(Path::new("folder"), "to-folder");
        link(Path::new("to-file"), "chain");
        link(&workspace.join("file"), "absolute-inside");
        link(&outside, "absolute");
        link(&outside.join("secret"), "absolute-file");
        link(Path::new("../outside"), "relative");
        link(Path::new("../outside/secret"), "relative-file");
        link(Path::new("relative-file"), "chain-out");
        link(Path::new("folder/../../outside/secret"), "roundabout");
        link(Path::new("loop-b"), "loop-a");
        link(Path::new("loop-a"), "loop-b");
        link(Path::new(".."), "up");
        link(Path::new("/"), "root");
        link(Path::new("/proc/self/environ"), "environ");
        link(Path::new("/proc/self/root"), "proc-root");
        link(Path::new("/proc/self/cwd"), "proc-cwd");
        link(Path::new("/proc/self/fd/0"), "proc-fd");
        link(Path::new("/dev/zero"), "zero");
        link(Path::new("/dev/stdin"), "stdin");
        link(Path::new("/dev/tty"), "tty");
        link(Path::new("/etc/passwd"), "passwd");
        mknodat(CWD, workspace.join("fifo"), FileType::Fifo, Mode::RWXU, 0).unwrap();
        drop(std::os::unix::net::UnixListener::bind(workspace.join("socket")).unwrap());
        std::fs::File::create(workspace.join("sparse")).unwrap().set_len(10 << 30).unwrap();
        place
    }

    fn workspace(&self) -> PathBuf {
        self.top.path().join("workspace")
    }

    fn outside(&self) -> PathBuf {
        self.top.path().join("outside")
    }

    fn probe(&self) -> Probe {
        let workspace = Workspace { kind: WorkspaceKind::Workdir, within: None };
        Probe::of(shared(), Grants { workspace: Some(workspace), ..Grants::default() }, Limits::RESOLVE)
    }

    fn execution(&self) -> Execution {
        Execution::new("bash").in_workdir(self.workspace().to_str().unwrap())
    }
}

#[test]
fn what_is_in_the_workspace_is_read_also_by_links_that_stay_inside() {
    let place = Place::new();
    let (probe, execution) = (place.probe(), place.execution());
    let read = |path: &str| probe.try_in(&execution, &format!("read /workspace/{path}"));
    for (path, text) in [
        ("file", "inside"),
        ("to-file", "inside"),
        ("chain", "inside"),
        ("to-folder/file", "deeper"),
        ("folder/../file", "inside"),
    ] {
        assert_eq!(read(path), Ok(json!(text)), "{path}");
    }
    let listed = probe.try_in(&execution, "list /workspace").unwrap().to_string();
    assert!(listed.contains("folder") && listed.contains("fifo"), "{listed}");
}

/// Ways out, as operations. More than forty.
fn attempts(place: &Place) -> Vec<String> {
    let outside = place.outside();
    let outside = outside.to_str().unwrap();
    let read = [
        "absolute/secret",
        "absolute-file",
        "absolute-inside",
        "relative/secret",
        "relative-file",
        "chain-out",
        "roundabout",
        "loop-a",
        "up/outside/secret",
        "root/etc/passwd",
        "environ",
        "proc-root/etc/passwd",
        "proc-cwd/etc/passwd",
        "proc-fd",
        "zero",
        "stdin",
        "tty",
        "passwd",
        "fifo",
        "socket",
        "../outside/secret",
        "../../etc/passwd",
        "folder/../../outside/secret",
        "folder/../../../etc/passwd",
        "./.././outside/secret",
        "//etc/passwd/",
        "file/../../outside/secret",
        "relative/nested/../secret",
        "absolute/nested/secret",
        "up/../etc/passwd",
    ];
    let list = ["absolute", "relative", "up", "root", "proc-root", "proc-cwd", "..", "../outside", "folder/../.."];
    let mut attempts: Vec<String> = Vec::new();
    attempts.extend(read.iter().map(|path| format!("read /workspace/{path}")));
    attempts.extend(list.iter().map(|path| format!("list /workspace/{path}")));
    attempts.extend([
        format!("read {outside}/secret"),
        format!("list {outside}"),
        format!("read /workspace{outside}/secret"),
    ]);
    attempts.extend(
        [
            "read /etc/passwd",
            "read /proc/self/environ",
            "read /proc/1/environ",
            "list /proc",
            "list /",
            "read /gitdir/HEAD",
            "list /gitcommon",
            "read /dev/zero",
            "read /sys/kernel/version",
            "stat /workspace/../outside",
            "stat /workspace/relative-file",
            "stat /workspace/up/outside",
            "write /workspace/new x",
            "write /workspace/file x",
            "append /workspace/file x",
            "create /workspace/new",
            "truncate /workspace/file",
            "touch /workspace/file",
            "mkdir /workspace/new",
            "remove /workspace/file",
            "link /workspace/file /workspace/new",
            "symlink /etc/passwd /workspace/new",
            "rename /workspace/file /workspace/new",
            "write /workspace/relative-file x",
            "link /workspace/relative-file /workspace/new",
        ]
        .map(str::to_owned),
    );
    attempts
}

#[test]
fn no_way_leads_out_of_a_workspace_and_none_changes_it() {
    let place = Place::new();
    let (probe, execution) = (place.probe(), place.execution());
    let attempts = attempts(&place);
    assert!(attempts.len() >= 40);
    for attempt in attempts {
        let came = probe.try_in(&execution, &attempt);
        let error = came.expect_err(&attempt);
        assert!(!error.starts_with("call: "), "{attempt} ended the call: {error}");
    }
    assert_eq!(std::fs::read_to_string(place.workspace().join("file")).unwrap(), "inside");
    assert!(!place.workspace().join("new").exists());
}

#[test]
fn a_huge_file_is_read_in_parts_and_never_at_once() {
    let place = Place::new();
    let (probe, execution) = (place.probe(), place.execution());
    let came = probe.try_in(&execution, "read-len /workspace/sparse 10737418240 0");
    assert!(came.is_ok() || came.is_err_and(|error| !error.starts_with("call: ")));
    // All of it is more than a guest has memory, and more than it has time.
    match probe.tell_in(&execution, "read /workspace/sparse") {
        Ok(all) => assert_eq!(all.len(), 1),
        Err(failure) => assert!(matches!(failure.code(), Code::Timeout | Code::MemoryLimit), "{failure:?}"),
    }
    // More files at once than a worker may have open.
    let many = probe.tell_in(&execution, "open-many /workspace/file 5000");
    assert!(many.is_err() || many.unwrap()[0].get("error").is_some());
    assert_eq!(probe.try_in(&execution, "read /workspace/file"), Ok(json!("inside")));
}

#[test]
fn links_that_change_while_they_are_followed_never_lead_out() {
    let place = Place::new();
    let workspace = place.workspace();
    std::fs::create_dir(workspace.join("decoy")).unwrap();
    std::fs::write(workspace.join("decoy/secret"), "decoy").unwrap();
    let done = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let (switch, new) = (workspace.join("switch"), workspace.join("switch-new"));
            while !done.load(Ordering::SeqCst) {
                for target in ["decoy", "../outside"] {
                    symlink(target, &new).unwrap();
                    std::fs::rename(&new, &switch).unwrap();
                }
            }
        });
        let (probe, execution) = (place.probe(), place.execution());
        let operations = "read /workspace/switch/secret\n".repeat(100);
        let (mut decoys, mut refused) = (0, 0);
        for _ in 0..50 {
            for said in probe.tell_in(&execution, &operations).unwrap() {
                match said.get("ok") {
                    Some(text) => {
                        assert_eq!(text, &json!("decoy"));
                        decoys += 1;
                    }
                    None => refused += 1,
                }
            }
        }
        done.store(true, Ordering::SeqCst);
        assert!(decoys + refused == 5_000);
    });
}

#[test]
fn a_file_that_turns_into_a_fifo_ends_one_call_at_most() {
    let place = Place::new();
    let workspace = place.workspace();
    let done = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let (switch, new) = (workspace.join("turning"), workspace.join("turning-new"));
            while !done.load(Ordering::SeqCst) {
                std::fs::write(&new, "file").unwrap();
                std::fs::rename(&new, &switch).unwrap();
                mknodat(CWD, &new, FileType::Fifo, Mode::RWXU, 0).unwrap();
                std::fs::rename(&new, &switch).unwrap();
            }
        });
        let workspace = Workspace { kind: WorkspaceKind::Workdir, within: None };
        let limits = Limits { wall: Duration::from_millis(100), ..Limits::RESOLVE };
        let probe = Probe::of(shared(), Grants { workspace: Some(workspace), ..Grants::default() }, limits);
        let operations = "read /workspace/turning\n".repeat(20);
        for _ in 0..50 {
            match probe.tell_in(&place.execution(), &operations) {
                Ok(all) => assert!(all.iter().all(|said| said.get("ok").is_none_or(|text| text == "file"))),
                Err(failure) => assert_eq!(failure.code(), Code::Timeout, "{failure:?}"),
            }
        }
        done.store(true, Ordering::SeqCst);
    });
}

#[test]
fn a_workspace_that_was_replaced_is_another_one() {
    let place = Place::new();
    let (probe, execution) = (place.probe(), place.execution());
    assert_eq!(probe.try_in(&execution, "read /workspace/file"), Ok(json!("inside")));
    std::fs::rename(place.workspace(), place.top.path().join("old")).unwrap();
    std::fs::create_dir(place.workspace()).unwrap();
    std::fs::write(place.workspace().join("file"), "new").unwrap();
    assert_eq!(probe.try_in(&execution, "read /workspace/file"), Ok(json!("new")));
}

#[test]
fn nothing_of_the_host_can_be_guessed_from_the_environment() {
    let place = Place::new();
    let (probe, execution) = (place.probe(), place.execution());
    for operation in ["variables", "arguments", "config-all"] {
        assert_eq!(probe.try_in(&execution, operation), Ok(json!([])), "{operation}");
    }
}
