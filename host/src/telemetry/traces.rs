//! A trace of each collection, sent to an OpenTelemetry collector over OTLP (protobuf in HTTP).
//!
//! A collection hands its spans to a queue and goes on. Who sends them is a thread of the exporter's; whatever the
//! endpoint does, it costs no collection more than that. The queue holds 2,048 spans: a collection whose spans no
//! longer fit leaves none, and they are counted. A span says who was asked, when, for how long and with what
//! outcome, and never a value, nor anybody's own words.

mod client;
mod counting;
mod parent;
mod spans;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use opentelemetry::{InstrumentationScope, KeyValue};
use opentelemetry_otlp::{Protocol, SpanExporter, WithExportConfig, WithHttpConfig};
use opentelemetry_sdk::Resource;
use opentelemetry_sdk::trace::{BatchConfigBuilder, BatchSpanProcessor, RandomIdGenerator, SpanProcessor};
use reqwest::Url;
use tokio::runtime::Runtime;

use super::sample::Sample;
use crate::error::{Code, Error, Result};
use crate::registry::{Collected, Observer};
use crate::text::shown;
use client::Client;
use counting::{Counting, Ledger};

pub use counting::TraceCounts;

/// Spans that wait to be sent or are being sent; each takes some 1 to 2 KiB.
const MAX_WAITING: usize = 2048;

/// Spans in one request.
const MAX_BATCH: usize = 512;

/// How long one batch may take, all attempts together.
const EXPORT_TIME: Duration = Duration::from_secs(10);

/// How long spans wait for others to be sent with.
const DEFAULT_DELAY: Duration = Duration::from_secs(5);

/// Below the base of an endpoint, where its traces are.
const TRACES_PATH: &str = "v1/traces";

/// Where traces go, and by what name.
#[derive(Clone, Debug)]
pub struct TracesOptions {
    endpoint: Url,
    service_name: String,
    delay: Duration,
}

impl TracesOptions {
    /// Traces of a service called `dsh-env`. `endpoint` is the collector's base, such as `http://localhost:4318`, or
    /// the address of its traces itself.
    ///
    /// Headers come from where OpenTelemetry has them, the host's own `OTEL_EXPORTER_OTLP_HEADERS`.
    ///
    /// # Errors
    /// `invalid-configuration` for anything else than an `http` or `https` address, and for one that has a user or a
    /// password in it.
    pub fn new(endpoint: &str) -> Result<Self> {
        // It is not repeated: whoever mistypes one may have a password in it.
        let wrong = |why: &str| {
            let message = format!("the address for traces is none: {why}; give one such as http://localhost:4318");
            Error::host(Code::InvalidConfiguration, message)
        };
        let mut endpoint = Url::parse(endpoint).map_err(|error| wrong(&error.to_string()))?;
        if !matches!(endpoint.scheme(), "http" | "https") {
            return Err(wrong("only http and https are spoken"));
        }
        if !endpoint.username().is_empty() || endpoint.password().is_some() {
            return Err(wrong("credentials belong into OTEL_EXPORTER_OTLP_HEADERS"));
        }
        if !endpoint.path().ends_with(TRACES_PATH) {
            let base = endpoint.path().trim_end_matches('/').to_owned();
            endpoint.set_path(&format!("{base}/{TRACES_PATH}"));
        }
        Ok(Self { endpoint, service_name: "dsh-env".to_owned(), delay: DEFAULT_DELAY })
    }

    /// The service's name in the traces.
    #[must_use]
    pub fn service_name(self, name: impl Into<String>) -> Self {
        Self { service_name: name.into(), ..self }
    }

    /// How long spans wait for others to be sent with; 5 s by default.
    #[must_use]
    pub fn delay(self, delay: Duration) -> Self {
        Self { delay, ..self }
    }
}

/// Sends a trace of each collection. It is told by the registry that it
/// [observes](crate::registry::Registry::observe).
#[derive(Debug)]
pub struct Traces {
    processor: BatchSpanProcessor,
    ids: RandomIdGenerator,
    scope: InstrumentationScope,
    ledger: Arc<Ledger>,
    /// Whether it takes no more.
    ended: AtomicBool,
    /// Where requests are made; none once it is dropped.
    runtime: Option<Runtime>,
}

impl Traces {
    /// Begins to take traces. Nothing is sent yet, and the endpoint need not be there.
    ///
    /// # Errors
    /// `internal` where no client or thread for it can be made, or the environment has a setting for OpenTelemetry
    /// that this host cannot follow, such as compression.
    pub fn start(options: TracesOptions) -> Result<Arc<Self>> {
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(1)
            .thread_name("dsh-env-traces")
            .enable_all()
            .build()
            .map_err(|error| failed(&error.to_string()))?;
        let client = Client::new(runtime.handle().clone(), EXPORT_TIME).map_err(|error| failed(&error.to_string()))?;
        let exporter = SpanExporter::builder()
            .with_http()
            .with_http_client(client)
            .with_protocol(Protocol::HttpBinary)
            .with_endpoint(options.endpoint.as_str())
            .with_timeout(EXPORT_TIME)
            .build()
            .map_err(|error| failed(&error.to_string()))?;
        let ledger = Arc::<Ledger>::default();
        let batches = BatchConfigBuilder::default()
            .with_max_queue_size(MAX_WAITING)
            .with_max_export_batch_size(MAX_BATCH)
            .with_scheduled_delay(options.delay)
            .build();
        let mut processor = BatchSpanProcessor::new(Counting::new(exporter, Arc::clone(&ledger)), batches);
        let version = env!("CARGO_PKG_VERSION");
        processor.set_resource(
            &Resource::builder()
                .with_service_name(options.service_name)
                .with_attribute(KeyValue::new("service.version", version))
                .build(),
        );
        let scope = InstrumentationScope::builder("dsh-env").with_version(version).build();
        let (ids, ended) = (RandomIdGenerator::default(), AtomicBool::new(false));
        Ok(Arc::new(Self { processor, ids, scope, ledger, ended, runtime: Some(runtime) }))
    }

    /// What became of the spans so far.
    #[must_use]
    pub fn counts(&self) -> TraceCounts {
        self.ledger.counts()
    }

    /// The same for [`Metrics`](super::Metrics): `dsh_env_spans_total{outcome}` and `dsh_env_spans_waiting`.
    #[must_use]
    pub fn samples(&self) -> Vec<Sample> {
        let TraceCounts { sent, failed, dropped, waiting } = self.counts();
        let ended = [("sent", sent), ("failed", failed), ("dropped", dropped)].map(|(outcome, count)| {
            Sample::counter("spans", "Spans, by what became of them", count as f64).label("outcome", outcome)
        });
        let waiting = Sample::gauge("spans_waiting", "Spans that wait to be sent or are being sent", waiting as f64);
        ended.into_iter().chain([waiting]).collect()
    }

    /// Sends what waits, for as long as `grace`, and takes no more. What is not sent by then is lost, and counted as
    /// waiting; what comes later, as dropped.
    ///
    /// Blocks: on a thread of an async runtime it must not be called. A second call does nothing.
    pub fn shutdown(&self, grace: Duration) -> TraceCounts {
        self.ended.store(true, Ordering::SeqCst);
        let _ = self.processor.shutdown_with_timeout(grace);
        let counts = self.counts();
        if counts.waiting > 0 {
            tracing::warn!(spans = counts.waiting, "the endpoint for traces did not take the last ones in time");
        }
        counts
    }
}

impl Observer for Traces {
    fn collected(&self, collection: &Collected<'_>) {
        let parent = parent::of(collection.execution);
        // Whoever began the trace decided that it is none that is kept.
        if parent.as_ref().is_some_and(|parent| !parent.is_sampled()) {
            return;
        }
        let count = 1 + collection.reports.len();
        if self.ended.load(Ordering::SeqCst) {
            self.ledger.refuse(count);
            return;
        }
        if !self.ledger.admit(count, MAX_WAITING) {
            return;
        }
        for span in spans::of(collection, parent.as_ref(), &self.ids, &self.scope) {
            self.processor.on_end(span);
        }
    }
}

impl Drop for Traces {
    fn drop(&mut self) {
        // Dropping it would wait, which a thread of an async runtime must not.
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_background();
        }
    }
}

fn failed(why: &str) -> Error {
    Error::host(Code::Internal, format!("no traces can be sent: {}", shown(why)))
}
