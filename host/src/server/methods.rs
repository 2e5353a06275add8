//! What each method does.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::time::{Duration, Instant};

use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};
use tokio::sync::{AcquireError, OwnedSemaphorePermit, Semaphore};
use tokio::time::timeout;

use super::answers::Outcome;
use super::limit::Limit;
use super::request::{Refusal, Request};
use crate::contract::{CONTRACT_VERSION, Execution, Key};
use crate::error::{Code, Error, Result};
use crate::operations::Operations;
use crate::protocol::{
    ApproveParameters, CollectParameters, CollectResult, CollectedContributor, Env, ExplainParameters, FactParameters,
    HelloResult, LogResult, MAX_CHANGES, MAX_DEADLINE, MAX_OPERATIONS, Method, MetricsResult, NameParameters,
    RollbackParameters, RpcCode,
};
use crate::registry::{CollectOptions, Overlay, Registry};
use crate::text::shown_within;

/// The most bytes of what is said of parameters.
const MAX_WORDS_BYTES: usize = 512;

/// The host, and how much of it may be used at once.
#[derive(Clone)]
pub(super) struct Methods {
    operations: Arc<dyn Operations>,
    collections: Arc<Semaphore>,
    most_collections: usize,
    calls: Arc<Semaphore>,
    changes: Arc<Semaphore>,
}

impl Methods {
    pub(super) fn new(operations: Arc<dyn Operations>, collections: usize) -> Self {
        Self {
            operations,
            collections: Arc::new(Semaphore::new(collections)),
            most_collections: collections,
            calls: Arc::new(Semaphore::new(MAX_OPERATIONS)),
            changes: Arc::new(Semaphore::new(MAX_CHANGES)),
        }
    }

    /// The result of a request as JSON.
    pub(super) async fn answer(&self, request: Request) -> Outcome {
        let Request { method, parameters, .. } = request;
        match method {
            Method::Hello => json(&hello()),
            Method::List => json(&self.operations.registry().list()),
            Method::Collect => json(&self.collect(read(method, parameters)?).await?),
            Method::Status => json(&self.ask(|host| Ok(host.statuses())).await?),
            Method::Health => json(&self.ask(|host| Ok(host.health())).await?),
            Method::Activity => json(&self.ask(|host| Ok(host.activity())).await?),
            Method::Metrics => json(&self.ask(|host| Ok(MetricsResult { prometheus: host.metrics() })).await?),
            Method::Log => {
                let NameParameters { name } = read(method, parameters)?;
                json(&self.ask(move |host| Ok(LogResult { text: host.log(&name)? })).await?)
            }
            Method::Explain => {
                let ExplainParameters { call, key } = read(method, parameters)?;
                let key =
                    Key::new(&key).map_err(|error| Refusal { code: RpcCode::WrongParameters, error, limit: None })?;
                json(&self.ask(move |host| Ok(host.explain(&call, &key))).await?)
            }
            Method::Approve => {
                let ApproveParameters { name, digest } = read(method, parameters)?;
                json(&self.change(move |host| host.approve(&name, &digest)).await?)
            }
            Method::Rollback => {
                let RollbackParameters { name, to } = read(method, parameters)?;
                json(&self.change(move |host| host.rollback(&name, to.as_deref())).await?)
            }
            Method::Reload => {
                let NameParameters { name } = read(method, parameters)?;
                json(&self.change(move |host| host.reload(&name)).await?)
            }
            Method::Forget => {
                let NameParameters { name } = read(method, parameters)?;
                json(&self.change(move |host| host.forget(&name)).await?)
            }
            Method::PutFact => {
                let FactParameters { name, value, ttl_ms } = read(method, parameters)?;
                let time_to_live = Duration::from_millis(ttl_ms);
                json(&self.change(move |host| host.put_fact(&name, value, time_to_live)).await?)
            }
            // Whoever answers it also ends the server, once the answer is on its way.
            Method::Shutdown => json(&()),
        }
    }

    async fn collect(&self, parameters: CollectParameters) -> Result<CollectResult, Refusal> {
        let CollectParameters { execution, deadline_ms } = parameters;
        let execution = identified(execution);
        let time = deadline_ms.map_or(MAX_DEADLINE, Duration::from_millis).min(MAX_DEADLINE);
        let until = Instant::now() + time;
        // In the order in which they came: nobody is passed by.
        let place = timeout(time, Arc::clone(&self.collections).acquire_owned()).await;
        let place = place.map_err(|_| Refusal::over(Limit::Collections, self.most_collections))?;
        let _place = place.map_err(|error| closed(&error))?;
        let registry = self.operations.registry();
        let options = CollectOptions::new().within(until.saturating_duration_since(Instant::now()));
        let call = execution.call_id.clone();
        let overlay = registry.collect_async(execution, options).await?;
        Ok(collected(registry, &overlay, call))
    }

    /// Asks the host something, on a thread that may wait.
    async fn ask<T: Send + 'static>(
        &self,
        call: impl FnOnce(&dyn Operations) -> Result<T> + Send + 'static,
    ) -> Result<T> {
        self.call(None, call).await
    }

    /// Has the host do something that may take long.
    async fn change<T: Send + 'static>(
        &self,
        call: impl FnOnce(&dyn Operations) -> Result<T> + Send + 'static,
    ) -> Result<T> {
        let place = Arc::clone(&self.changes).acquire_owned().await.map_err(|error| closed(&error))?;
        self.call(Some(place), call).await
    }

    async fn call<T: Send + 'static>(
        &self,
        change: Option<OwnedSemaphorePermit>,
        call: impl FnOnce(&dyn Operations) -> Result<T> + Send + 'static,
    ) -> Result<T> {
        let place = Arc::clone(&self.calls).acquire_owned().await.map_err(|error| closed(&error))?;
        let operations = Arc::clone(&self.operations);
        blocking::unblock(move || {
            // Kept until it is done, even if nobody waits for it any more.
            let _places = (change, place);
            catch_unwind(AssertUnwindSafe(|| call(&*operations))).unwrap_or_else(|_| {
                Err(Error::host(
                    Code::Internal,
                    "the host panicked: this is a mistake in it, which its log tells more of",
                ))
            })
        })
        .await
    }
}

fn closed(_: &AcquireError) -> Error {
    Error::host(Code::Internal, "the server's threads are gone")
}

fn json(result: &(impl Serialize + ?Sized)) -> Outcome {
    serde_json::to_vec(result).map_err(|error| {
        Error::host(Code::Internal, format!("the result could not be written as JSON: {error}")).into()
    })
}

fn read<P: DeserializeOwned>(method: Method, parameters: Map<String, Value>) -> Result<P, Refusal> {
    serde_json::from_value(Value::Object(parameters)).map_err(|error| {
        let why = shown_within(&error.to_string(), MAX_WORDS_BYTES);
        Refusal::new(RpcCode::WrongParameters, format!("the parameters do not fit {}: {why}", method.as_str()))
    })
}

fn hello() -> HelloResult {
    let features = [
        (cfg!(feature = "wasm"), "wasm"),
        (cfg!(feature = "sessions"), "sessions"),
        (cfg!(feature = "sqlite"), "sqlite"),
        (cfg!(feature = "harness"), "harness"),
        (cfg!(feature = "openai"), "openai"),
        (cfg!(feature = "serve"), "serve"),
        (cfg!(feature = "telemetry"), "telemetry"),
        (cfg!(feature = "cli"), "cli"),
    ];
    HelloResult {
        version: env!("CARGO_PKG_VERSION").to_owned(),
        contract: CONTRACT_VERSION.to_owned(),
        features: features.into_iter().filter(|(is_on, _)| *is_on).map(|(_, name)| name.to_owned()).collect(),
    }
}

/// An execution with what identifies a call filled in where it was left out.
fn identified(mut execution: Execution) -> Execution {
    if execution.call_id.is_empty() {
        execution.call_id = Execution::new("").call_id;
    }
    if execution.root_call_id.is_empty() {
        execution.root_call_id.clone_from(&execution.call_id);
    }
    execution
}

fn collected(registry: &Registry, overlay: &Overlay, call: String) -> CollectResult {
    let name = |entry: &crate::registry::OverlayEntry| entry.key.to_string();
    CollectResult {
        env: Env(overlay.iter().map(|entry| (name(entry), entry.value.expose().to_owned())).collect()),
        unset: registry.list().into_iter().map(|listed| listed.key).filter(|key| overlay.get(key).is_none()).collect(),
        sensitive: overlay.iter().filter(|entry| entry.value.is_sensitive()).map(name).collect(),
        degraded: overlay.degraded().iter().map(ToString::to_string).collect(),
        call,
        contributors: overlay
            .reports()
            .iter()
            .map(|report| CollectedContributor {
                name: report.name.to_string(),
                digest: report.digest.as_deref().map(str::to_owned),
                micros: u64::try_from(report.took.as_micros()).unwrap_or(u64::MAX),
                policy: report.policy.to_owned(),
            })
            .collect(),
    }
}
