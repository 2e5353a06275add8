//! `torture`: what hostile components come to in a host that is configured like the operator's own.

mod pack;
mod trial;

use std::process::ExitCode;

use anyhow::{Context as _, Result};
use dsh_env::home::Home;
use dsh_env::installation::Configuration;
use dsh_env::sandbox::{Isolation, Sandbox, SandboxOptions};
use serde::Serialize;

use super::arguments::TortureArguments;
use super::composition;
use super::output::{BAD, GOOD, Output, styled, table};
use super::progress::Progress;
use trial::{Trial, Trials};

/// What came of it all.
#[derive(Serialize)]
struct Report {
    tried: usize,
    contained: usize,
    /// What holds worker processes beside the limits; nothing on a platform without them.
    confinement: Option<String>,
    trials: Vec<Trial>,
}

/// Tries everything, and looks after each whether the operator's own contributors still say what they said.
pub(crate) fn run(arguments: &TortureArguments, output: &Output) -> Result<ExitCode> {
    let progress = Progress::new("opening the host");
    let host = composition::host(&arguments.host)?;
    let configuration = Configuration::read(&Home::resolve(arguments.host.place.home.as_deref())?)?;
    let mut options = SandboxOptions::new().isolation(Isolation::of_this_program());
    for limits in configuration.all_limits() {
        options = options.ceiling(&limits);
    }
    let sandbox = Sandbox::new(&options)?;
    let trials = Trials::new(&sandbox, &configuration, &host).context("no folder for a workspace could be made")?;
    let mut done = Vec::new();
    for hostile in pack::PACK {
        progress.now(hostile.tries);
        done.push(trials.load(hostile));
    }
    for attempt in pack::ATTEMPTS {
        progress.now(attempt.tries);
        done.push(trials.attempt(attempt));
    }
    progress.now("looking at what is left behind");
    done.push(trials.own_contributors());
    done.push(trials.left_behind());
    drop(progress);
    let report = Report {
        tried: done.len(),
        contained: done.iter().filter(|trial| trial.contained).count(),
        confinement: confinement(&sandbox)?,
        trials: done,
    };
    let all = report.contained == report.tried;
    if output.is_json() {
        output.json(&report)?;
    } else {
        output.text(&sentence(&report))?;
    }
    Ok(if all { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// What holds the workers, in words.
fn confinement(sandbox: &Sandbox) -> Result<Option<String>> {
    #[cfg(target_os = "linux")]
    if let Some(confinement) = sandbox.confinement()? {
        let seccomp = if confinement.seccomp { "on" } else { "not in this kernel" };
        return Ok(Some(format!("Landlock {}, seccomp {seccomp}", confinement.landlock.as_str())));
    }
    let _ = sandbox;
    Ok(None)
}

fn sentence(report: &Report) -> String {
    let rows = report.trials.iter().map(|trial| {
        let contained = if trial.contained { "contained" } else { "NOT CONTAINED" };
        vec![trial.tries.to_owned(), contained.to_owned(), trial.how.clone(), format!("{:.1}", trial.ms)]
    });
    let table = table(&["TRIED", "", "HOW", "MS"], rows);
    let style = if report.contained == report.tried { GOOD } else { BAD };
    let sum = format!("{} of {} contained", report.contained, report.tried);
    let workers = report.confinement.as_ref().map_or_else(String::new, |held| format!("; worker processes: {held}"));
    format!("{table}\n{}{workers}", styled(style, &sum))
}
