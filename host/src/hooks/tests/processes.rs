//! Real hooks, started by the real executor.

mod given;
mod running;

use std::ffi::OsString;
use std::path::PathBuf;

use super::*;
use crate::executor::{Executor, ExecutorOptions, Keeper};

const SCRIPTS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../tests/fixtures/hooks/scripts");

/// A folder for what hooks leave behind, and one where a session works.
struct Place {
    folder: tempfile::TempDir,
    executor: Executor,
}

impl Place {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        for name in ["out", "work"] {
            std::fs::create_dir(folder.path().join(name)).unwrap();
        }
        let spill_folder = folder.path().join("spill");
        let executor = Executor::new(ExecutorOptions { spill_folder, keeper: Keeper::InHost }).unwrap();
        Self { folder, executor }
    }

    fn out(&self, name: &str) -> PathBuf {
        self.folder.path().join("out").join(name)
    }

    fn read(&self, name: &str) -> String {
        std::fs::read_to_string(self.out(name)).unwrap()
    }

    fn sessions(&self) -> PathBuf {
        self.folder.path().join("sessions")
    }

    fn context(&self) -> HookContext {
        HookContext { cwd: self.folder.path().join("work"), ..context() }
    }

    /// What hooks inherit: a way to programs, the scripts and where they leave things.
    fn inherited(&self) -> Vec<(OsString, OsString)> {
        vec![
            ("PATH".into(), std::env::var_os("PATH").unwrap()),
            ("HOOK_SCRIPTS".into(), SCRIPTS.into()),
            ("HOOK_OUT".into(), self.folder.path().join("out").into()),
        ]
    }

    fn hooks(&self, sets: Vec<HookSet>) -> Hooks {
        self.hooks_with(HooksOptions { sets, inherited: Some(self.inherited()), ..HooksOptions::default() })
    }

    fn hooks_with(&self, options: HooksOptions) -> Hooks {
        Hooks::new(options, jsonl(&self.sessions(), Compression::Zstd), Arc::new(self.executor.clone()))
    }

    async fn fire(&self, sets: Vec<HookSet>, event: &HookEvent) -> HookOutcome {
        self.hooks(sets).fire(&self.context(), event).await
    }

    /// Everything below the folder.
    fn listing(&self) -> Vec<PathBuf> {
        let mut found = Vec::new();
        let mut folders = vec![self.folder.path().to_path_buf()];
        while let Some(folder) = folders.pop() {
            for entry in std::fs::read_dir(folder).unwrap() {
                let path = entry.unwrap().path();
                folders.extend(path.is_dir().then(|| path.clone()));
                found.push(path);
            }
        }
        found.sort();
        found
    }
}

/// A set of commands for one event, each a script of the fixtures with its arguments.
fn set(dialect: Dialect, event: EventName, scripts: &[&str]) -> HookSet {
    let hooks: Vec<_> = scripts
        .iter()
        .map(|script| {
            let (name, arguments) = script.split_once(' ').unwrap_or((script, ""));
            json!({"type": "command", "command": format!("sh \"$HOOK_SCRIPTS\"/{name}.sh {arguments}"), "timeout": 120})
        })
        .collect();
    raw_set(dialect, event, &json!(hooks))
}

fn raw_set(dialect: Dialect, event: EventName, hooks: &Value) -> HookSet {
    let text = json!({"hooks": {event.as_str(): [{"hooks": hooks}]}}).to_string();
    HookFile::parse(dialect, Path::new("/p/hooks.json"), &text).unwrap()
}

fn problems(outcome: &HookOutcome) -> Vec<&str> {
    outcome.reports.iter().flat_map(|report| &report.problems).map(String::as_str).collect()
}
