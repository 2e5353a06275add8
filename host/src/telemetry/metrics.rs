//! Counts and times as text in the format of Prometheus (0.0.4), which whatever scrapes understands.

use std::collections::HashSet;
use std::fmt;
use std::sync::Arc;

use prometheus_client::collector::Collector;
use prometheus_client::encoding::{DescriptorEncoder, MetricEncoder, NoLabelSet, prometheus_text};
use prometheus_client::metrics::MetricType;
use prometheus_client::registry::Registry;

use super::sample::{Sample, SampleKind};
use crate::activity::{Activity, Counts};

/// The media type of [`Metrics::text`].
pub const METRICS_CONTENT_TYPE: &str = prometheus_text::CONTENT_TYPE;

/// In front of every name.
const PREFIX: &str = "dsh_env";

const COLLECTIONS: Family = Family("collections", "Collections, by what came of them");
const COLLECTION_SECONDS: Family = Family("collection_seconds", "How long collections took");
const CALLS: Family = Family("contributor_calls", "Calls of a contributor, by what came of them");
const CALL_SECONDS: Family = Family("contributor_seconds", "How long calls of a contributor took");
const UNCOUNTED: Family =
    Family("contributor_calls_uncounted", "Calls of contributors that were too many to be counted one by one");
const BUILD: Family = Family("build", "The version of the host");

/// Name and help.
struct Family(&'static str, &'static str);

type Source = Box<dyn Fn() -> Vec<Sample> + Send + Sync>;

/// What is scraped: a view of an [`Activity`], and of whatever else the host knows of itself. It counts nothing.
pub struct Metrics {
    activity: Arc<Activity>,
    sources: Vec<Source>,
}

impl Metrics {
    /// The metrics of collections and contributors.
    #[must_use]
    pub fn new(activity: &Arc<Activity>) -> Self {
        Self { activity: Arc::clone(activity), sources: Vec::new() }
    }

    /// The same, and what `source` says at each scrape. It must not wait for anything.
    ///
    /// A sample whose name or a label is none in the format, or is taken, is left out.
    #[must_use]
    pub fn with(mut self, source: impl Fn() -> Vec<Sample> + Send + Sync + 'static) -> Self {
        self.sources.push(Box::new(source));
        self
    }

    /// What is true now, of the type [`METRICS_CONTENT_TYPE`].
    #[must_use]
    pub fn text(&self) -> String {
        let samples = self.sources.iter().flat_map(|source| source()).collect();
        let mut registry = Registry::with_prefix(PREFIX);
        registry.register_collector(Box::new(Collections(Arc::clone(&self.activity))));
        registry.register_collector(Box::new(Looked(samples)));
        let mut text = String::new();
        // Only writing fails, and into a string nothing does.
        let _ = prometheus_text::encode(&mut text, &registry);
        text
    }
}

impl fmt::Debug for Metrics {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Metrics").finish_non_exhaustive()
    }
}

#[derive(Debug)]
struct Collections(Arc<Activity>);

impl Collector for Collections {
    fn encode(&self, mut encoder: DescriptorEncoder<'_>) -> fmt::Result {
        let (all, contributors) = self.0.counts();
        outcomes(&mut family(&mut encoder, &COLLECTIONS, MetricType::Counter)?, &all, None)?;
        times(&mut family(&mut encoder, &COLLECTION_SECONDS, MetricType::Histogram)?, &all)?;

        let mut calls = family(&mut encoder, &CALLS, MetricType::Counter)?;
        for (name, counts) in &contributors {
            outcomes(&mut calls, counts, Some(name.as_str()))?;
        }
        let mut seconds = family(&mut encoder, &CALL_SECONDS, MetricType::Histogram)?;
        for (name, counts) in &contributors {
            let labels = [("contributor", name.as_str())];
            times(&mut seconds.encode_family(&labels)?, counts)?;
        }

        let uncounted = self.0.uncounted();
        family(&mut encoder, &UNCOUNTED, MetricType::Counter)?
            .encode_counter::<NoLabelSet, _, u64>(&uncounted, None)?;
        family(&mut encoder, &BUILD, MetricType::Info)?.encode_info(&[("version", env!("CARGO_PKG_VERSION"))])
    }
}

fn family<'e>(
    encoder: &'e mut DescriptorEncoder<'_>,
    Family(name, help): &'e Family,
    kind: MetricType,
) -> Result<MetricEncoder<'e>, fmt::Error> {
    encoder.encode_descriptor(name, help, None, kind)
}

/// A counter for each outcome; for `ok` also while there is none, so that rates begin at the first.
fn outcomes(encoder: &mut MetricEncoder<'_>, counts: &Counts, contributor: Option<&str>) -> fmt::Result {
    let mut outcomes = counts.outcomes.clone();
    outcomes.entry("ok").or_default();
    for (outcome, count) in outcomes {
        let mut labels: Vec<_> = contributor.map(|name| ("contributor", name)).into_iter().collect();
        labels.push(("outcome", outcome));
        encoder.encode_family(&labels)?.encode_counter::<NoLabelSet, _, u64>(&count, None)?;
    }
    Ok(())
}

fn times(encoder: &mut MetricEncoder<'_>, counts: &Counts) -> fmt::Result {
    let times = &counts.times;
    let mut buckets: Vec<_> = times.buckets.iter().map(|(bound, count)| (bound.as_secs_f64(), *count)).collect();
    buckets.push((f64::INFINITY, times.above));
    encoder.encode_histogram::<NoLabelSet>(times.sum.as_secs_f64(), times.count(), &buckets, None)
}

/// What the sources said.
#[derive(Debug)]
struct Looked(Vec<Sample>);

impl Collector for Looked {
    fn encode(&self, mut encoder: DescriptorEncoder<'_>) -> fmt::Result {
        let own = [COLLECTIONS, COLLECTION_SECONDS, CALLS, CALL_SECONDS, UNCOUNTED, BUILD].map(|Family(name, _)| name);
        let samples: Vec<_> = self.0.iter().filter(|sample| is_usable(sample) && !own.contains(&sample.name)).collect();
        let mut written = HashSet::new();
        for first in &samples {
            if !written.insert(first.name) {
                continue;
            }
            let kind = match first.kind {
                SampleKind::Gauge => MetricType::Gauge,
                SampleKind::Counter => MetricType::Counter,
            };
            let mut family = encoder.encode_descriptor(first.name, first.help, None, kind)?;
            let mut labels = HashSet::new();
            for sample in samples.iter().filter(|sample| sample.name == first.name) {
                if labels.insert(&sample.labels) {
                    write(&mut family.encode_family(&sample.labels)?, first.kind, sample.value)?;
                }
            }
        }
        Ok(())
    }
}

fn write(encoder: &mut MetricEncoder<'_>, kind: SampleKind, value: f64) -> fmt::Result {
    match kind {
        SampleKind::Gauge => encoder.encode_gauge(&value),
        SampleKind::Counter => encoder.encode_counter::<NoLabelSet, _, f64>(&value, None),
    }
}

fn is_usable(sample: &Sample) -> bool {
    let is_name = |text: &str| {
        text.bytes().next().is_some_and(|first| first.is_ascii_alphabetic() || first == b'_')
            && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
    };
    // Names that begin with two underscores belong to Prometheus itself.
    is_name(sample.name) && sample.labels.iter().all(|(name, _)| is_name(name) && !name.starts_with("__"))
}
