//! What only a keeper can do, and what happens to keepers.

use std::future::pending;
use std::path::Path;

use rustix::process::{Pid, Signal, kill_process};

use super::support::{
    Fixture, LONG, bash, has_role, in_role, is_running, keeper_program, pid_in, state_of, until, until_gone,
};
use crate::error::Code;
use crate::executor::{
    End, Executor, ExecutorOptions, JobState, KEEPER_ARGUMENT, Keeper, KeeperProgram, Owner, serve_keeper,
};

#[test]
fn this_program_can_be_a_keeper() {
    if has_role("keeper") {
        std::process::exit(i32::from(serve_keeper() != std::process::ExitCode::SUCCESS));
    }
    // Otherwise what the others name is this.
    assert!(keeper_program().arguments.iter().any(|argument| argument == "--exact"));
    let this = KeeperProgram::this_program();
    assert_eq!((this.program.as_path(), this.arguments), (Path::new("/proc/self/exe"), vec![KEEPER_ARGUMENT.into()]));
}

#[tokio::test]
async fn a_killed_host_takes_everything_with_it() {
    if has_role("host") {
        return be_a_host().await;
    }
    let folder = tempfile::tempdir().unwrap();
    let mut host = in_role("host", "executor::tests::keeper::a_killed_host_takes_everything_with_it", folder.path());
    let mut host = host.stdout(std::process::Stdio::null()).spawn().unwrap();
    let mut pids = Vec::new();
    for name in ["job", "setsid", "double", "foreground", "ignoring"] {
        pids.push(pid_in(&folder.path().join(name)).await);
    }
    let keeper = parent_of(pids[0]);
    assert!(pids.iter().all(|&pid| is_running(pid)) && is_running(keeper));
    host.kill().unwrap();
    host.wait().unwrap();
    for pid in pids {
        until_gone(pid).await;
    }
    until_gone(keeper).await;
}

#[tokio::test]
async fn a_command_dies_with_its_keeper_also_when_nobody_is_left_to_end_it() {
    if has_role("host") {
        return be_a_host().await;
    }
    let folder = tempfile::tempdir().unwrap();
    let test = "executor::tests::keeper::a_command_dies_with_its_keeper_also_when_nobody_is_left_to_end_it";
    let mut host = in_role("host", test, folder.path()).stdout(std::process::Stdio::null()).spawn().unwrap();
    let mut pids = Vec::new();
    for name in ["job", "foreground", "setsid", "double", "ignoring"] {
        pids.push(pid_in(&folder.path().join(name)).await);
    }
    let keeper = parent_of(pids[0]);
    let send = |pid: i32, signal| kill_process(Pid::from_raw(pid).unwrap(), signal).unwrap();
    // It can do nothing about its host's end, nor its host about the keeper's, nor continue it.
    let host_pid = host.id().cast_signed();
    send(host_pid, Signal::STOP);
    until("the host is stopped", || state_of(host_pid) == Some('T')).await;
    send(keeper, Signal::STOP);
    host.kill().unwrap();
    host.wait().unwrap();
    assert!(pids.iter().all(|&pid| is_running(pid)));
    send(keeper, Signal::KILL);
    for pid in &pids[..2] {
        until_gone(*pid).await;
    }
    // This is as far as it goes: what a command started goes on.
    for pid in &pids[2..] {
        assert!(is_running(*pid));
        send(*pid, Signal::KILL);
        until_gone(*pid).await;
    }
}

/// Starts something of every kind in the current directory and waits to be killed.
async fn be_a_host() {
    let folder = std::env::current_dir().unwrap();
    let options = ExecutorOptions { spill_folder: folder.join("spills"), keeper: Keeper::Program(keeper_program()) };
    let executor = Executor::new(options).unwrap();
    let in_folder = |script: &str| {
        let mut command = bash(script);
        command.workdir.clone_from(&folder);
        command
    };
    for script in [
        "echo $$ > job; sleep 600",
        "setsid bash -c 'echo $$ > setsid; exec sleep 600'; sleep 600",
        "(setsid bash -c 'echo $$ > double; exec sleep 600' &)",
        "trap '' TERM; (echo $BASHPID > ignoring; exec sleep 600); :",
    ] {
        executor.start(&Owner::new("o"), "bash", in_folder(script)).await.unwrap();
    }
    executor.run(in_folder("echo $$ > foreground; sleep 600"), LONG, pending()).await.unwrap();
}

fn parent_of(pid: i32) -> i32 {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap();
    let (_, rest) = stat.rsplit_once(") ").unwrap();
    rest.split(' ').nth(1).unwrap().parse().unwrap()
}

#[tokio::test]
async fn a_keeper_is_out_of_its_hosts_group_and_session() {
    let fixture = Fixture::with_keeper();
    let finished = fixture.run("read -r _ _ _ keeper _ < /proc/$$/stat; cat /proc/$keeper/stat").await.unwrap();
    let text = String::from_utf8(finished.stdout.tail).unwrap();
    let keeper: i32 = text.split(' ').next().unwrap().parse().unwrap();
    let (_, rest) = text.rsplit_once(") ").unwrap();
    let fields: Vec<i32> = rest.split(' ').skip(1).take(3).map(|field| field.parse().unwrap()).collect();
    assert_eq!(fields, [std::process::id().cast_signed(), keeper, keeper]);
}

#[tokio::test]
async fn commands_of_a_killed_keeper_are_told_as_failed_and_the_next_gets_another() {
    let fixture = Fixture::with_keeper();
    let owner = Owner::new("o");
    let (file, child) = (fixture.path("pid"), fixture.path("child"));
    let script = format!("sleep 600 & echo $! > {}; echo $$ > {}; wait", child.display(), file.display());
    let kill_keeper = async {
        let pid = pid_in(&file).await;
        let job = fixture.executor.start(&owner, "bash", bash("sleep 600")).await.unwrap();
        kill_process(Pid::from_raw(parent_of(pid)).unwrap(), Signal::KILL).unwrap();
        job
    };
    let (finished, job) = tokio::join!(fixture.run(&script), kill_keeper);
    let error = finished.unwrap_err();
    assert_eq!(error.code(), Code::ExecutionFailed);
    assert!(error.message().contains("keeper"), "{error}");
    let completed = fixture.executor.next_completion(&owner).await;
    assert_eq!(completed.status.job, job);
    assert_eq!(completed.status.state, JobState::Lost(error));
    until_gone(pid_in(&file).await).await;
    until_gone(pid_in(&child).await).await;
    assert_eq!(fixture.run("exit 3").await.unwrap().end, End::Exited(3));
}

#[tokio::test]
async fn a_keeper_that_is_asked_to_end_ends_everything_first() {
    let fixture = Fixture::with_keeper();
    let file = fixture.path("pid");
    let script = format!("setsid bash -c 'echo $$ > {}; exec sleep 600' & echo $PPID; wait", file.display());
    let ask = async {
        let pid = pid_in(&file).await;
        let keeper = parent_of(parent_of(pid));
        kill_process(Pid::from_raw(keeper).unwrap(), Signal::TERM).unwrap();
        pid
    };
    let (finished, pid) = tokio::join!(fixture.run(&script), ask);
    assert_eq!(finished.unwrap_err().code(), Code::ExecutionFailed);
    assert!(!is_running(pid));
}

#[tokio::test]
async fn a_keeper_buries_what_falls_to_it() {
    let fixture = Fixture::with_keeper();
    // Orphans that exit, while commands run and exit that are waited for elsewhere.
    let script = "for n in 1 2 3 4 5; do (sleep 0.0$n &); done; ps -o pid= --ppid $PPID > /dev/null; echo $PPID";
    let mut keeper = 0;
    for _ in 0..5 {
        let finished = fixture.run(script).await.unwrap();
        keeper = String::from_utf8(finished.stdout.tail).unwrap().trim().parse().unwrap();
    }
    let children = || {
        let tasks = std::fs::read_dir(format!("/proc/{keeper}/task")).unwrap().flatten();
        tasks.map(|task| std::fs::read_to_string(task.path().join("children")).unwrap()).collect::<String>()
    };
    until("all are buried", || children().is_empty()).await;
}

#[tokio::test]
async fn a_program_that_is_no_keeper_is_told_with_what_to_do() {
    let program = |program: &str, arguments: &[&str]| KeeperProgram {
        program: program.into(),
        arguments: arguments.iter().map(Into::into).collect(),
    };
    for (program, why) in [
        (program("/no/such/program", &[]), "No such file"),
        (program("dsh-env", &["keeper"]), "no absolute path"),
        (program("/bin/sh", &["-c", "exit 3"]), "ended by itself (exit status: 3)"),
        (program("/bin/sh", &["-c", "exec cat"]), "said nothing for 10 s"),
    ] {
        let fixture = Fixture::with(Keeper::Program(program));
        let error = tokio::time::timeout(LONG, fixture.run("true")).await.unwrap().unwrap_err();
        assert_eq!(error.code(), Code::ExecutionFailed);
        assert!(error.message().contains(why), "{error}");
        assert!(error.message().contains("name a dsh-env command"), "{error}");
    }
}
