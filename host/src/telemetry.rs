//! What a host tells those who watch many: metrics, traces, and whether it is well.
//!
//! Each is off unless somebody asks for it, and none can hold up or fail a collection. There is never a value of a
//! variable in them, and nothing that they offer over a network changes anything. `docs/telemetry.md` names every
//! metric, span and attribute.

mod endpoint;
mod metrics;
mod sample;
mod traces;

pub use endpoint::HttpEndpoint;
pub use metrics::{METRICS_CONTENT_TYPE, Metrics};
pub use sample::{Sample, SampleKind, contributors_by_state};
pub use traces::{TraceCounts, Traces, TracesOptions};

#[cfg(test)]
mod tests;
