//! `bench`: what a contributor adds to a shell call.
//!
//! Everything is measured in one run, since machines are noisy: what counts is the ratio. Fresh resolves
//! and shells alternate in batches, so that a slow moment hits both.

use std::process::{Command, ExitCode, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result};
use dsh_env::contract::{Contributor as _, Deadline};
use dsh_env::installation::read_component;
use dsh_env::sandbox::{Allocation, Isolation, Sandbox, SandboxOptions};
use serde::Serialize;

use super::arguments::BenchArguments;
use super::composition;
use super::output::{Output, table};
use super::progress::Progress;

/// Batches in which calls and shells alternate.
const BATCHES: u32 = 20;
/// Calls that are made before any is timed, to fill the pool.
const WARM_UP: u32 = 50;
/// How often a cached component is loaded.
const CACHED_LOADS: u32 = 20;

#[derive(Serialize)]
struct Report {
    /// Reading, checking and compiling, in milliseconds.
    compile_ms: f64,
    /// Loading from the cache: median, in microseconds.
    cached_load_us: f64,
    /// One `declare` in a fresh instance: median, in microseconds.
    declare_us: f64,
    /// One `resolve` in a fresh instance, in microseconds.
    resolve_us: Quantiles,
    /// One `bash -c true`, in microseconds.
    shell_us: Quantiles,
}

#[derive(Serialize)]
struct Quantiles {
    p50: f64,
    p99: f64,
}

/// Measures one file.
pub(crate) fn run(arguments: &BenchArguments, output: &Output) -> Result<ExitCode> {
    let progress = Progress::new("compiling");
    let execution = composition::sample_execution(&arguments.execution)?;
    let grants = composition::grants(&arguments.grants)?;
    let in_file = |error: dsh_env::Error| error.in_file(&arguments.file);
    let bytes = read_component(&arguments.file).map_err(in_file)?;
    let cache = tempfile::tempdir().context("no folder for the cache could be made")?;
    let options = SandboxOptions::new().allocation(Allocation::Pooled).isolation(Isolation::of_this_program());
    let sandbox = Sandbox::new(&options.cache(cache.path()))?;

    let (component, compile) = timed(|| sandbox.load(bytes.as_slice())).map_err(in_file)?;
    progress.now("loading from the cache");
    let cached_loads = repeat(CACHED_LOADS, || sandbox.load(bytes.as_slice()).map(drop))?;
    let declares = repeat(CACHED_LOADS, || component.contributor().map(drop))?;

    progress.now("resolving, and starting shells beside it");
    let contributor = component.contributor().map_err(in_file)?.with_grants(grants);
    let resolve = || -> dsh_env::Result<()> {
        let deadline = Deadline::after(Duration::from_secs(5));
        let answer = contributor.resolve(&execution, &deadline);
        answer.map(drop).map_err(|failure| dsh_env::Error::resolve(failure.code(), failure.message()))
    };
    repeat(WARM_UP, resolve)?;
    let (mut resolves, mut shells) = (Vec::new(), Vec::new());
    for batch in 0..BATCHES {
        resolves.extend(repeat(share(arguments.calls, batch), resolve)?);
        shells.extend(repeat(share(arguments.shells, batch), bare_shell)?);
    }
    drop(progress);
    let report = Report {
        compile_ms: compile.as_secs_f64() * 1e3,
        cached_load_us: quantiles(cached_loads).p50,
        declare_us: quantiles(declares).p50,
        resolve_us: quantiles(resolves),
        shell_us: quantiles(shells),
    };
    if output.is_json() {
        output.json(&report)?
    } else {
        output.text(&sentence(&report))?
    }
    Ok(ExitCode::SUCCESS)
}

/// How many of `total` belong into a batch, so that all batches together make it.
fn share(total: u32, batch: u32) -> u32 {
    total / BATCHES + u32::from(batch < total % BATCHES)
}

fn bare_shell() -> Result<()> {
    let status = Command::new("bash").args(["-c", "true"]).stdin(Stdio::null()).status();
    status.context("bash could not be started: install it, since a bare `bash -c true` is the measure")?;
    Ok(())
}

fn timed<T, E>(work: impl FnOnce() -> Result<T, E>) -> Result<(T, Duration), E> {
    let started = Instant::now();
    let done = work()?;
    Ok((done, started.elapsed()))
}

fn repeat<E>(times: u32, mut work: impl FnMut() -> Result<(), E>) -> Result<Vec<Duration>, E> {
    (0..times).map(|_| timed(&mut work).map(|((), took)| took)).collect()
}

fn quantiles(mut samples: Vec<Duration>) -> Quantiles {
    samples.sort_unstable();
    let at = |percent: usize| {
        let rank = (samples.len().saturating_sub(1) * percent).div_ceil(100);
        samples.get(rank).map_or(0.0, |sample| sample.as_secs_f64() * 1e6)
    };
    Quantiles { p50: at(50), p99: at(99) }
}

fn sentence(report: &Report) -> String {
    let micros = |value: f64| format!("{value:.1} us");
    let share = |value: f64| format!("{:.2} %", value / report.shell_us.p50 * 100.0);
    let row = |what: &str, p50: String, p99: String, share: String| vec![what.to_owned(), p50, p99, share];
    let none = String::new;
    table(
        &["", "MEDIAN", "P99", "OF A SHELL"],
        [
            row("compile", format!("{:.1} ms", report.compile_ms), none(), none()),
            row("load from the cache", micros(report.cached_load_us), none(), share(report.cached_load_us)),
            row("declare, fresh", micros(report.declare_us), none(), share(report.declare_us)),
            row(
                "resolve, fresh",
                micros(report.resolve_us.p50),
                micros(report.resolve_us.p99),
                share(report.resolve_us.p50),
            ),
            row("bash -c true", micros(report.shell_us.p50), micros(report.shell_us.p99), none()),
        ],
    )
}
