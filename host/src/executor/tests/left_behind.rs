//! What a command leaves running when its shell exits.

use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process};

use super::support::{Fixture, is_running, pid_in, until, until_gone};
use crate::executor::End;

/// In all the ways of leaving something behind that still holds the pipes.
const WAYS: [&str; 4] = [
    "sleep 600 & echo $! > FILE",
    "setsid sleep 600 & echo $! > FILE; sleep 0.2",
    "(setsid bash -c 'echo $$ > FILE; exec sleep 600' &) & wait",
    "setsid bash -c 'trap \"\" TERM; echo $$ > FILE; exec sleep 600' & until [ -s FILE ]; do sleep 0.05; done",
];

#[tokio::test]
async fn a_command_returns_when_its_shell_exits_whatever_holds_its_pipes() {
    for fixture in Fixture::both() {
        for (number, way) in WAYS.iter().enumerate() {
            let file = fixture.path(&number.to_string());
            let script = way.replace("FILE", file.to_str().unwrap()) + "; echo done; exit 3";
            let finished = fixture.run(&script).await.unwrap();
            assert_eq!((finished.end, finished.stdout.tail.as_slice()), (End::Exited(3), &b"done\n"[..]), "{way}");
            let pid = pid_in(&file).await;
            assert!(is_running(pid), "{way}");
            kill_process(Pid::from_raw(pid).unwrap(), Signal::KILL).unwrap();
            until_gone(pid).await;
        }
    }
}

#[tokio::test]
async fn a_keeper_ends_at_shut_down_what_was_left_behind() {
    let fixture = Fixture::with_keeper();
    let mut pids = Vec::new();
    for (number, way) in WAYS.iter().enumerate() {
        let file = fixture.path(&number.to_string());
        fixture.run(&way.replace("FILE", file.to_str().unwrap())).await.unwrap();
        pids.push(pid_in(&file).await);
    }
    assert!(pids.iter().all(|&pid| is_running(pid)));
    fixture.executor.shut_down().await;
    for pid in pids {
        assert!(!is_running(pid));
    }
}

#[tokio::test]
async fn a_keeper_ends_what_was_left_behind_when_the_executor_is_dropped() {
    let fixture = Fixture::with_keeper();
    let file = fixture.path("pid");
    fixture.run(&WAYS[2].replace("FILE", file.to_str().unwrap())).await.unwrap();
    let pid = pid_in(&file).await;
    assert!(is_running(pid));
    let Fixture { executor, folder: _folder } = fixture;
    drop(executor);
    until_gone(pid).await;
}

#[tokio::test]
async fn what_goes_on_writing_holds_nothing_up() {
    for fixture in Fixture::both() {
        let file = fixture.path("pid");
        let script = format!(
            "{{ echo more; echo $BASHPID > {0}; exec yes; }} & until [ -s {0} ]; do sleep 0.01; done; echo last; exit 8",
            file.display()
        );
        let finished = fixture.run(&script).await.unwrap();
        assert_eq!(finished.end, End::Exited(8));
        assert!(finished.stdout.total >= 10);
        let pid = pid_in(&file).await;
        // Nobody reads any more, which ends it.
        until("nobody reads", || !is_running(pid)).await;
    }
}

#[tokio::test]
async fn a_keeper_ends_what_forks_in_a_loop() {
    let fixture = Fixture::with_keeper();
    let file = fixture.path("pid");
    // In the group that is signalled, and out of it; both end by themselves when the folder is gone.
    let script = format!(
        "trap '' TERM; f() {{ echo $BASHPID > {0}.new && mv {0}.new {0} && sleep 0.01 && f & }}; f & \
         g() {{ sleep 0.02; setsid bash -c \"$(declare -f g); trap '' TERM; echo \\$\\$ > {0}.g && g\" & }}; g; \
         until [ -s {0}.g ]; do sleep 0.05; done",
        file.display()
    );
    fixture.run(&script).await.unwrap();
    pid_in(&file).await;
    fixture.executor.shut_down().await;
    let seen = || [&file, &fixture.path("pid.g")].map(|file| std::fs::read(file).unwrap());
    let before = seen();
    tokio::time::sleep(Duration::from_millis(500)).await;
    assert_eq!(seen(), before);
}
