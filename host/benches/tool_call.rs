//! What a tool call costs beside the bare command that it runs: `cargo bench --all-features --bench tool_call`. The
//! overlay is that of a host without installed contributors; all three take turns in one run.
#![allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "a benchmark that cannot go on fails")]

use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use dsh_env::contract::{SessionHeader, SessionId};
use dsh_env::environment::{OrdinaryEnv, Shell};
use dsh_env::executor::{Executor, ExecutorOptions, Keeper, KeeperProgram};
use dsh_env::home::Home;
use dsh_env::registry::Registry;
use dsh_env::tools::{Caller, ToolCall, Tools};
use serde_json::json;

const ROUNDS: usize = 500;

fn main() {
    let folder = tempfile::tempdir().unwrap();
    let registry = Registry::new(&Home::resolve(Some(folder.path().as_os_str())).unwrap());
    let tools = |keeper: Keeper| {
        let executor = Executor::new(ExecutorOptions { spill_folder: folder.path().join("output"), keeper }).unwrap();
        Tools::new(registry.clone(), executor, vec![Shell::Bash], OrdinaryEnv::new())
    };
    let keeper = KeeperProgram::dsh_env(env!("CARGO_BIN_EXE_dsh-env"));
    let tools = [tools(Keeper::InHost), tools(Keeper::Program(keeper))];
    let session = SessionHeader::new(SessionId::new("s1").unwrap());
    let caller = Caller { session: Some(session), workdir: folder.path().to_path_buf() };
    let call = ToolCall { name: "bash".to_owned(), arguments: json!({ "command": "true", "description": "nothing" }) };

    let mut times: [Vec<Duration>; 3] = Default::default();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        for _ in 0..ROUNDS {
            let started = Instant::now();
            bare();
            times[0].push(started.elapsed());
            for (tools, times) in tools.iter().zip(&mut times[1..]) {
                let started = Instant::now();
                let result = tools.call(&caller, &call, std::future::pending()).await;
                times.push(started.elapsed());
                assert_eq!(result.output, "[no output]");
            }
        }
        for tools in &tools {
            tools.executor().shut_down().await;
        }
    });
    println!("{:<28} {:>10} {:>10}", "", "p50 µs", "p99 µs");
    for (name, times) in
        ["bare bash -c true", "tool call, in the host", "tool call, with a keeper"].iter().zip(&mut times)
    {
        times.sort();
        println!("{name:<28} {:>10.0} {:>10.0}", quantile(times, 50), quantile(times, 99));
    }
    let bare = quantile(&times[0], 50);
    for (name, times) in ["in the host", "with a keeper"].iter().zip(&times[1..]) {
        println!("{name} / bare, at the median: {:.2}", quantile(times, 50) / bare);
    }
}

/// The same command without anything around it.
fn bare() {
    let status = Command::new("bash")
        .args(["--noprofile", "--norc", "-c", "true"])
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status()
        .unwrap();
    assert!(status.success());
}

fn quantile(sorted: &[Duration], percent: usize) -> f64 {
    sorted[(sorted.len() * percent / 100).min(sorted.len() - 1)].as_secs_f64() * 1e6
}
