use std::sync::Arc;
use std::time::Duration;

use super::metrics::Scraped;
use super::receiver::{Answer, Receiver};
use super::support::{Told, Watched};
use crate::error::Code;
use crate::registry::OnFailure;
use crate::telemetry::{Metrics, Traces, TracesOptions, contributors_by_state};

const DOCUMENT: &str = include_str!("../../../../docs/telemetry.md");

fn assert_documented(word: &str) {
    assert!(DOCUMENT.contains(&format!("`{word}`")), "docs/telemetry.md does not have `{word}`");
}

#[test]
fn everything_that_is_told_is_in_the_document() {
    let receiver = Receiver::start(Answer::Status(200));
    let watched = Watched::new().under(Told::failing("broken", Code::Trap), OnFailure::Omit);
    let traces = Traces::start(TracesOptions::new(&receiver.url()).unwrap()).unwrap();
    watched.registry.observe(traces.clone());
    watched.collect().unwrap();
    let watched = watched.with(Told::failing("worse", Code::Trap));
    watched.collect().unwrap_err();
    traces.shutdown(Duration::from_secs(20));

    let samples = Arc::clone(&traces);
    let text =
        Metrics::new(&watched.activity).with(|| contributors_by_state(&[])).with(move || samples.samples()).text();
    let scraped = Scraped::read(&text);
    for (name, kind) in &scraped.families {
        assert_documented(name);
        let line = DOCUMENT.lines().find(|line| line.starts_with(&format!("| `{name}`")));
        assert!(line.is_some_and(|line| line.contains(kind)), "{name} is a {kind}");
    }
    for (label, _) in scraped.series.iter().flat_map(|(_, labels, _)| labels) {
        assert_documented(label);
    }
    for span in receiver.spans() {
        assert_documented(&span.name);
        span.attributes.keys().for_each(|attribute| assert_documented(attribute));
    }
}

#[test]
fn every_metric_in_the_document_is_told() {
    let receiver = Receiver::start(Answer::Status(200));
    let traces = Traces::start(TracesOptions::new(&receiver.url()).unwrap()).unwrap();
    let text = Metrics::new(&Watched::new().activity)
        .with(|| contributors_by_state(&[]))
        .with(move || traces.samples())
        .text();
    let scraped = Scraped::read(&text);
    let documented = DOCUMENT.lines().filter_map(|line| line.strip_prefix("| `dsh_env_")?.split_once('`'));
    let documented: Vec<_> = documented.map(|(name, _)| format!("dsh_env_{name}")).collect();
    assert!(documented.len() >= 9, "{documented:?}");
    for name in documented {
        assert!(scraped.families.contains_key(&name), "nobody tells {name}");
    }
}

#[test]
fn every_endpoint_is_in_the_document() {
    ["/metrics", "/healthz", "/readyz"].into_iter().for_each(assert_documented);
}
