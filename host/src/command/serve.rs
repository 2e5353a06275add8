//! `serve`: a host that goes on.

use std::process::ExitCode;
use std::sync::Arc;

use anyhow::Result;
use dsh_env::home::Home;
use dsh_env::installation::{Configuration, ServerSettings, TelemetrySettings};
use dsh_env::operations::Operations;
use dsh_env::sandbox::Allocation;
use dsh_env::server::{Activation, Notifier, Server, ServerOptions, standard_streams};
use dsh_env::telemetry::{HttpEndpoint, Metrics, Traces, TracesOptions, contributors_by_state};
use dsh_env::{Host, ServingHost, Watcher};
use tokio::signal::unix::{Signal, SignalKind, signal};

use super::arguments::ServeArguments;
use super::{composition, output};

/// Serves until it is told to stop.
pub(crate) fn run(arguments: &ServeArguments) -> Result<ExitCode> {
    // Before any thread is there.
    let listeners = Activation::from_environment().take()?;
    let options = composition::options(&arguments.host)?.locked(arguments.locked).allocation(Allocation::OnDemand);
    let host = Arc::new(Host::open(&options)?);
    for warning in host.warnings() {
        output::note(&format!("warning: {warning}"));
    }
    let configuration = host.configuration();
    let settings = configuration.server;
    let serving = Arc::new(ServingHost::new(Arc::clone(&host)));
    let traces = traces(&configuration.telemetry)?;
    if let Some(traces) = &traces {
        host.registry().observe(Arc::clone(traces) as _);
    }
    let metrics = metrics(&serving, traces.clone());
    serving.set_metrics(move || metrics.text());
    let watcher = Watcher::start(Arc::clone(&host), settings.watch, settings.poll_every)?;

    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build()?;
    let ended = runtime.block_on(async {
        let notifier = Notifier::to(std::env::var_os("NOTIFY_SOCKET"));
        let options = server_options(&host, &settings, notifier.clone());
        let operations: Arc<dyn Operations> = Arc::clone(&serving) as _;
        let (server, written) = if arguments.stdio {
            let (input, output, written) = standard_streams()?;
            (Server::stdio(options, Arc::clone(&operations), input, output), Some(written))
        } else {
            (Server::from_listeners(options, Arc::clone(&operations), listeners)?, None)
        };
        let stopper = server.stopper();
        let mut signals = Signals::new()?;
        let for_signals = Arc::clone(&host);
        tokio::spawn(async move {
            loop {
                if signals.is_to_stop().await {
                    stopper.stop();
                } else {
                    notifier.reloading();
                    for_signals.refresh();
                    notifier.ready();
                }
            }
        });
        let endpoint = match configuration.telemetry.prometheus {
            Some(address) => {
                let endpoint = HttpEndpoint::bind(address, operations).await?;
                tracing::info!(address = %endpoint.local_addr(), "metrics are served");
                Some(tokio::spawn(endpoint.run(std::future::pending())))
            }
            None => None,
        };
        let ended = server.run().await;
        if let Some(endpoint) = endpoint {
            endpoint.abort();
        }
        if let Some(written) = written {
            written.wait().await;
        }
        anyhow::Ok(ended?)
    });
    drop(watcher);
    if let Some(traces) = traces {
        traces.shutdown(settings.grace);
    }
    // What waits for standard input would keep it for ever.
    runtime.shutdown_background();
    ended.map(|()| ExitCode::SUCCESS)
}

/// What is logged by the configuration; what is wrong with that is said by whoever reads it next.
pub(crate) fn log_filter(arguments: &ServeArguments) -> Option<String> {
    let home = Home::resolve(arguments.host.place.home.as_deref()).ok()?;
    Configuration::read(&home).ok()?.telemetry.log
}

fn server_options(host: &Host, settings: &ServerSettings, notifier: Notifier) -> ServerOptions {
    let mut options = ServerOptions::new(host.state_dir());
    options.connections = settings.connections;
    options.requests = settings.requests;
    options.grace = settings.grace;
    options.notifier = notifier;
    options
}

fn traces(settings: &TelemetrySettings) -> Result<Option<Arc<Traces>>> {
    let Some(url) = &settings.traces else { return Ok(None) };
    let options = TracesOptions::new(url)?.service_name(settings.service_name.clone());
    Ok(Some(Traces::start(options)?))
}

fn metrics(serving: &Arc<ServingHost>, traces: Option<Arc<Traces>>) -> Metrics {
    let of_states = Arc::downgrade(serving);
    let states = move || of_states.upgrade().map(|host| contributors_by_state(&host.statuses())).unwrap_or_default();
    let metrics = Metrics::new(serving.activity()).with(states);
    match traces {
        Some(traces) => metrics.with(move || traces.samples()),
        None => metrics,
    }
}

/// The signals that a server hears.
struct Signals {
    interrupt: Signal,
    terminate: Signal,
    hang_up: Signal,
}

impl Signals {
    fn new() -> Result<Self> {
        Ok(Self {
            interrupt: signal(SignalKind::interrupt())?,
            terminate: signal(SignalKind::terminate())?,
            hang_up: signal(SignalKind::hangup())?,
        })
    }

    /// Waits for a signal; whether it is one to stop.
    async fn is_to_stop(&mut self) -> bool {
        tokio::select! {
            _ = self.interrupt.recv() => true,
            _ = self.terminate.recv() => true,
            _ = self.hang_up.recv() => false,
        }
    }
}
