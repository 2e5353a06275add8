//! The spans of one collection. There is nothing in them that a variable has as its value: not the session's id either,
//! by which nobody needs to look for a trace that has the id of the call.

use std::time::{Duration, SystemTime};

use opentelemetry::trace::{SpanContext, SpanId, SpanKind, Status, TraceFlags, TraceState};
use opentelemetry::{InstrumentationScope, KeyValue};
use opentelemetry_sdk::trace::{IdGenerator, SpanData, SpanEvents, SpanLinks};

use crate::contract::Key;
use crate::error::Code;
use crate::registry::{Collected, Report};
use crate::text::shown_within;

/// The span of a collection.
const COLLECT: &str = "overlay.collect";

/// The span of one contributor's part in it.
const RESOLVE: &str = "contributor.resolve";

/// The longest text of an attribute: ids and names are shorter, and the record of an execution takes 32 KiB.
const MAX_TEXT_BYTES: usize = 256;

/// One span for the collection, and one below it for each contributor that was asked.
pub(super) fn of(
    collection: &Collected<'_>,
    parent: Option<&SpanContext>,
    ids: &impl IdGenerator,
    scope: &InstrumentationScope,
) -> Vec<SpanData> {
    let trace = parent.map_or_else(|| ids.new_trace_id(), SpanContext::trace_id);
    let root = ids.new_span_id();
    let span = |id: SpanId, name: &'static str, from: Duration, took: Duration| SpanData {
        span_context: SpanContext::new(trace, id, TraceFlags::SAMPLED, false, TraceState::NONE),
        parent_span_id: root,
        parent_span_is_remote: false,
        span_kind: SpanKind::Internal,
        name: name.into(),
        start_time: after(collection.began, from),
        end_time: after(collection.began, from + took),
        attributes: Vec::new(),
        dropped_attributes_count: 0,
        events: SpanEvents::default(),
        links: SpanLinks::default(),
        status: Status::Unset,
        instrumentation_scope: scope.clone(),
    };
    let (attributes, status) = of_collection(collection);
    let whole = SpanData {
        parent_span_id: parent.map_or(SpanId::INVALID, SpanContext::span_id),
        parent_span_is_remote: parent.is_some(),
        attributes,
        status,
        ..span(root, COLLECT, Duration::ZERO, collection.took)
    };
    let parts = collection.reports.iter().map(|report| {
        let (attributes, status) = of_contributor(report);
        SpanData { attributes, status, ..span(ids.new_span_id(), RESOLVE, report.began, report.took) }
    });
    std::iter::once(whole).chain(parts).collect()
}

fn of_collection(collection: &Collected<'_>) -> (Vec<KeyValue>, Status) {
    let execution = collection.execution;
    let mut attributes = vec![
        text("dsh_env.call_id", &execution.call_id),
        text("dsh_env.root_call_id", &execution.root_call_id),
        text("dsh_env.tool", &execution.tool),
    ];
    match collection.outcome {
        Ok(overlay) => {
            let degraded = i64::try_from(overlay.degraded().len()).unwrap_or(i64::MAX);
            let amiss = overlay.get(Key::of_host("DEGRADED").as_str()).is_some();
            attributes.push(KeyValue::new("dsh_env.outcome", if amiss { "degraded" } else { "ok" }));
            attributes.push(KeyValue::new("dsh_env.degraded", degraded));
            (attributes, Status::Unset)
        }
        Err(error) => {
            attributes.push(KeyValue::new("dsh_env.outcome", "failed"));
            let status = failure(error.code(), &mut attributes);
            (attributes, status)
        }
    }
}

fn of_contributor(report: &Report) -> (Vec<KeyValue>, Status) {
    let mut attributes = vec![
        KeyValue::new("dsh_env.contributor", report.name.to_string()),
        KeyValue::new("dsh_env.policy", report.policy),
    ];
    attributes.extend(report.digest.as_ref().map(|digest| text("dsh_env.digest", digest)));
    let error = report.error.as_ref().or_else(|| report.affected.first().map(|affected| &affected.error));
    attributes.push(KeyValue::new("dsh_env.outcome", if error.is_some() { "failed" } else { "ok" }));
    let status = error.map_or(Status::Unset, |error| failure(error.code(), &mut attributes));
    (attributes, status)
}

/// The code alone: messages may have a contributor's own words in them.
fn failure(code: Code, attributes: &mut Vec<KeyValue>) -> Status {
    attributes.push(KeyValue::new("error.type", code.as_str()));
    Status::error(code.as_str())
}

fn text(name: &'static str, value: &str) -> KeyValue {
    KeyValue::new(name, shown_within(value, MAX_TEXT_BYTES))
}

fn after(began: SystemTime, time: Duration) -> SystemTime {
    began.checked_add(time).unwrap_or(began)
}
