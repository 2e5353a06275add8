use std::sync::Arc;
use std::time::{Duration, Instant};

use super::protobuf::Span;
use super::receiver::{Answer, Receiver};
use super::support::{DIGEST, Told, Watched, assert_discreet, execution};
use crate::contract::Execution;
use crate::error::Code;
use crate::registry::OnFailure;
use crate::telemetry::{Metrics, TraceCounts, Traces, TracesOptions};

/// Longer than a batch takes.
const GRACE: Duration = Duration::from_secs(20);

/// Traces that wait for nothing but the end.
fn to(url: &str) -> Arc<Traces> {
    Traces::start(TracesOptions::new(url).unwrap().delay(Duration::from_secs(600))).unwrap()
}

fn traced(watched: &Watched, url: &str) -> Arc<Traces> {
    let traces = to(url);
    watched.registry.observe(traces.clone());
    traces
}

fn named<'s>(spans: &'s [Span], name: &str) -> Vec<&'s Span> {
    spans.iter().filter(|span| span.name == name).collect()
}

/// Waits, however long it takes within reason.
fn until(mut is_so: impl FnMut() -> bool) {
    let began = Instant::now();
    while !is_so() {
        assert!(began.elapsed() < Duration::from_secs(60), "it never comes to that");
        std::thread::sleep(Duration::from_millis(5));
    }
}

#[test]
fn a_collection_leaves_a_span_with_one_below_it_for_each_contributor() {
    let receiver = Receiver::start(Answer::Status(200));
    let watched =
        Watched::new().with(Told::answering("good")).under(Told::failing("broken", Code::Trap), OnFailure::Omit);
    let traces = traced(&watched, &receiver.url());
    let call = execution();
    watched.registry.collect(&call).unwrap();
    assert_eq!(traces.shutdown(GRACE), TraceCounts { sent: 3, ..TraceCounts::default() });

    let requests = receiver.requests();
    assert_eq!(requests.len(), 1);
    assert_eq!(requests[0].line, "POST /v1/traces HTTP/1.1");
    assert!(requests[0].headers.to_ascii_lowercase().contains("content-type: application/x-protobuf"));
    assert_discreet(&requests[0].body);
    assert_discreet(requests[0].headers.as_bytes());

    let spans = receiver.spans();
    let [whole] = named(&spans, "overlay.collect")[..] else { panic!("{spans:?}") };
    assert_eq!((whole.trace.len(), whole.id.len(), whole.parent.as_str()), (32, 16, ""));
    assert_eq!((whole.status, whole.status_message.as_str()), (0, ""));
    let expected = [
        ("dsh_env.call_id", call.call_id.as_str()),
        ("dsh_env.degraded", "1"),
        ("dsh_env.outcome", "degraded"),
        ("dsh_env.root_call_id", &call.root_call_id),
        ("dsh_env.tool", "bash"),
    ];
    assert_eq!(pairs(whole), expected);
    let expected = [("service.name", "dsh-env"), ("service.version", env!("CARGO_PKG_VERSION"))];
    assert!(expected.iter().all(|(name, value)| whole.resource.get(*name).is_some_and(|is| is == value)), "{whole:?}");

    let parts = named(&spans, "contributor.resolve");
    assert_eq!(parts.len(), 2);
    for part in &parts {
        assert_eq!((&part.trace, &part.parent), (&whole.trace, &whole.id));
        assert!(whole.start <= part.start && part.start <= part.end && part.end <= whole.end, "{part:?} of {whole:?}");
    }
    let [broken, good] = parts[..] else { panic!("{parts:?}") };
    let expected = [
        ("dsh_env.contributor", "broken"),
        ("dsh_env.digest", DIGEST),
        ("dsh_env.outcome", "failed"),
        ("dsh_env.policy", "omit"),
        ("error.type", "trap"),
    ];
    assert_eq!((pairs(broken), broken.status, broken.status_message.as_str()), (expected.to_vec(), 2, "trap"));
    let expected = [
        ("dsh_env.contributor", "good"),
        ("dsh_env.digest", DIGEST),
        ("dsh_env.outcome", "ok"),
        ("dsh_env.policy", "fail"),
    ];
    assert_eq!((pairs(good), good.status), (expected.to_vec(), 0));
    assert!(spans.iter().all(|span| span.further == 0), "there are no events with anybody's words");
}

fn pairs(span: &Span) -> Vec<(&str, &str)> {
    span.attributes.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect()
}

#[test]
fn a_collection_that_fails_says_so_by_its_code_alone() {
    let receiver = Receiver::start(Answer::Status(200));
    let watched = Watched::new().with(Told::failing("broken", Code::GuestError)).with(Told::answering("later"));
    let traces = traced(&watched, &receiver.url());
    watched.collect().unwrap_err();
    traces.shutdown(GRACE);
    let spans = receiver.spans();
    let whole = named(&spans, "overlay.collect")[0];
    assert_eq!((whole.status, whole.status_message.as_str()), (2, "guest-error"));
    assert_eq!(whole.attributes["dsh_env.outcome"], "failed");
    assert_eq!(whole.attributes["error.type"], "guest-error");
    assert_eq!(named(&spans, "contributor.resolve").len(), 1, "who was not asked has no span");
    receiver.requests().iter().for_each(|request| assert_discreet(&request.body));
}

#[test]
fn a_trace_goes_on_where_the_caller_began_one() {
    let receiver = Receiver::start(Answer::Status(200));
    let watched = Watched::new().with(Told::answering("good"));
    let traces = traced(&watched, &receiver.url());
    let with = |flags: &str| {
        let parent = format!("00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-{flags}");
        Execution { extensions: vec![("traceparent".to_owned(), parent)], ..Execution::new("bash") }
    };
    watched.registry.collect(&with("01")).unwrap();
    watched.registry.collect(&with("00")).unwrap();
    assert_eq!(traces.shutdown(GRACE).sent, 2, "the other is one that the caller does not keep");
    let spans = receiver.spans();
    let whole = named(&spans, "overlay.collect")[0];
    assert_eq!((whole.trace.as_str(), whole.parent.as_str()), ("0af7651916cd43dd8448eb211c80319c", "b7ad6b7169203331"));
}

#[test]
fn traces_of_different_collections_are_different() {
    let receiver = Receiver::start(Answer::Status(200));
    let watched = Watched::new();
    let traces = traced(&watched, &receiver.url());
    for _ in 0..50 {
        watched.collect().unwrap();
    }
    traces.shutdown(GRACE);
    let spans = receiver.spans();
    let traces: std::collections::BTreeSet<_> = spans.iter().map(|span| &span.trace).collect();
    assert_eq!((spans.len(), traces.len()), (50, 50));
}

#[test]
fn spans_are_sent_without_waiting_for_the_end() {
    let receiver = Receiver::start(Answer::Status(200));
    let watched = Watched::new();
    let options = TracesOptions::new(&receiver.url()).unwrap().delay(Duration::from_millis(10)).service_name("mine");
    let traces = Traces::start(options).unwrap();
    watched.registry.observe(traces.clone());
    watched.collect().unwrap();
    receiver.wait_for(1);
    assert_eq!(receiver.spans()[0].resource["service.name"], "mine");
    until(|| traces.counts() == TraceCounts { sent: 1, ..TraceCounts::default() });
}

#[test]
fn a_receiver_that_is_away_fails_no_collection_and_is_counted() {
    let watched = Watched::new().with(Told::answering("good"));
    // Nobody listens there any more.
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    drop(listener);
    let traces = traced(&watched, &url);
    watched.collect().unwrap();
    assert_eq!(traces.shutdown(GRACE), TraceCounts { failed: 2, ..TraceCounts::default() });
}

#[test]
fn a_receiver_that_refuses_or_misbehaves_fails_no_collection_and_is_counted() {
    for answer in [Answer::Status(400), Answer::Status(500), Answer::Hangup, Answer::Endless, Answer::Elsewhere] {
        let receiver = Receiver::start(answer);
        let watched = Watched::new();
        let traces = traced(&watched, &receiver.url());
        watched.collect().unwrap();
        assert_eq!(traces.shutdown(GRACE), TraceCounts { failed: 1, ..TraceCounts::default() }, "{answer:?}");
        assert!(receiver.requests().iter().all(|request| request.line.starts_with("POST /v1/traces ")), "{answer:?}");
    }
}

#[test]
fn a_receiver_that_does_not_answer_holds_up_no_collection_and_what_is_dropped_is_counted() {
    let receiver = Receiver::start(Answer::Never);
    let watched = Watched::new().with(Told::answering("good"));
    let traces = traced(&watched, &receiver.url());
    // 2,048 spans may wait, two of each collection.
    for _ in 0..2000 {
        watched.collect().unwrap();
    }
    let TraceCounts { sent, failed, dropped, waiting } = traces.counts();
    assert_eq!((sent, failed, dropped, waiting), (0, 0, 4000 - 2048, 2048), "it still waits for the first answer");

    let samples = Arc::clone(&traces);
    let text = Metrics::new(&watched.activity).with(move || samples.samples()).text();
    let scraped = super::metrics::Scraped::read(&text);
    assert_eq!(scraped.get("dsh_env_spans_total", &[("outcome", "dropped")]), Some(1952.0));
    assert_eq!(scraped.get("dsh_env_spans_waiting", &[]), Some(2048.0));

    receiver.answer(Answer::Status(200));
    assert_eq!(traces.shutdown(GRACE), TraceCounts { sent: 2048, dropped: 1952, ..TraceCounts::default() });
    assert_eq!(receiver.spans().len(), 2048);
}

#[test]
fn the_end_waits_for_a_receiver_no_longer_than_it_is_told() {
    let receiver = Receiver::start(Answer::Never);
    let watched = Watched::new();
    let traces = traced(&watched, &receiver.url());
    watched.collect().unwrap();
    assert_eq!(traces.shutdown(Duration::from_millis(50)), TraceCounts { waiting: 1, ..TraceCounts::default() });
}

#[test]
fn what_comes_after_the_end_is_dropped_and_counted() {
    let receiver = Receiver::start(Answer::Status(200));
    let watched = Watched::new().with(Told::answering("good"));
    let traces = traced(&watched, &receiver.url());
    traces.shutdown(GRACE);
    watched.collect().unwrap();
    assert_eq!(traces.counts(), TraceCounts { dropped: 2, ..TraceCounts::default() });
    assert_eq!(traces.shutdown(GRACE).dropped, 2, "a second end changes nothing");
}

#[test]
fn traces_can_be_dropped_on_a_thread_of_a_runtime() {
    let receiver = Receiver::start(Answer::Status(200));
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    runtime.block_on(async { drop(to(&receiver.url())) });
}

#[test]
fn an_address_is_a_base_or_the_whole() {
    let receiver = Receiver::start(Answer::Status(200));
    let expected =
        [("", "/v1/traces"), ("/", "/v1/traces"), ("/v1/traces", "/v1/traces"), ("/otlp/", "/otlp/v1/traces")];
    for (number, (path, asked)) in expected.into_iter().enumerate() {
        let watched = Watched::new();
        let traces = traced(&watched, &format!("{}{path}", receiver.url()));
        watched.collect().unwrap();
        assert_eq!(traces.shutdown(GRACE).sent, 1);
        assert_eq!(receiver.requests()[number].line, format!("POST {asked} HTTP/1.1"));
    }
}

#[test]
fn an_address_that_is_none_is_refused_without_being_repeated() {
    for address in ["", "collector:4318", "ftp://h/secret", "http://", "http://u:secret@h", "unix:/secret", "//secret"]
    {
        let error = TracesOptions::new(address).unwrap_err();
        assert_eq!(error.code(), Code::InvalidConfiguration, "{address}");
        assert!(!error.message().contains("secret") && error.message().contains("such as"), "{error}");
    }
}
