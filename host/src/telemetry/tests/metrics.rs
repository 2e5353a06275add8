use std::collections::{BTreeMap, BTreeSet};

use super::support::{Told, Watched, assert_discreet};
use crate::error::Code;
use crate::operations::{ContributorStatus, State};
use crate::registry::OnFailure;
use crate::telemetry::{Metrics, Sample, contributors_by_state};

/// Names and values, in their order.
type Labels = Vec<(String, String)>;

/// What a scraper reads.
#[derive(Debug, Default)]
pub(super) struct Scraped {
    /// The type of each family.
    pub(super) families: BTreeMap<String, String>,
    /// Name, labels in order and value of each line.
    pub(super) series: Vec<(String, Labels, f64)>,
}

impl Scraped {
    /// Reads every line by the rules of the format, and those that make a histogram or a counter one.
    pub(super) fn read(text: &str) -> Self {
        assert!(text.ends_with('\n'), "the last line has an end too");
        let mut scraped = Self::default();
        let mut family = None;
        for line in text.lines() {
            if let Some(help) = line.strip_prefix("# HELP ") {
                let (name, words) = help.split_once(' ').unwrap();
                assert!(!words.is_empty() && !scraped.families.contains_key(name), "{line}");
                family = Some(name.to_owned());
            } else if let Some(kind) = line.strip_prefix("# TYPE ") {
                let (name, kind) = kind.split_once(' ').unwrap();
                assert_eq!(family.as_deref(), Some(name), "{line}");
                assert!(matches!(kind, "counter" | "gauge" | "histogram"), "{line}");
                scraped.families.insert(name.to_owned(), kind.to_owned());
            } else {
                let (name, labels, value) = series(line);
                let family = family.as_deref().unwrap();
                let suffixes: &[&str] = match scraped.families[family].as_str() {
                    "histogram" => &["_bucket", "_sum", "_count"],
                    _ => &[""],
                };
                assert!(suffixes.iter().any(|suffix| name == format!("{family}{suffix}")), "{line}");
                scraped.series.push((name, labels, value));
            }
        }
        scraped.check();
        scraped
    }

    fn check(&self) {
        let identities: BTreeSet<_> = self.series.iter().map(|(name, labels, _)| (name, labels)).collect();
        assert_eq!(identities.len(), self.series.len(), "no series is there twice");
        for (name, kind) in &self.families {
            assert_eq!(kind == "counter", name.ends_with("_total"), "{name}");
        }
        for (name, kind) in self.families.iter().filter(|(_, kind)| *kind == "histogram") {
            let mut buckets = BTreeMap::<_, Vec<_>>::new();
            for (labels, value) in self.all(&format!("{name}_bucket")) {
                let (bound, others): (Vec<_>, Vec<_>) = labels.iter().partition(|(label, _)| label == "le");
                let bound: f64 = bound[0].1.parse().unwrap();
                buckets.entry(others).or_default().push((bound, value));
            }
            for (labels, buckets) in buckets {
                assert!(buckets.is_sorted_by(|a, b| a.0 < b.0 && a.1 <= b.1), "{kind} {name} {labels:?}");
                let last = buckets.last().unwrap();
                let labels: Vec<_> = labels.into_iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
                assert_eq!((last.0, Some(last.1)), (f64::INFINITY, self.get(&format!("{name}_count"), &labels)));
                assert!(self.get(&format!("{name}_sum"), &labels).unwrap() >= 0.0);
            }
        }
    }

    fn all(&self, name: &str) -> impl Iterator<Item = (&Labels, f64)> {
        self.series.iter().filter(move |(known, ..)| known == name).map(|(_, labels, value)| (labels, *value))
    }

    pub(super) fn get(&self, name: &str, labels: &[(&str, &str)]) -> Option<f64> {
        let is_meant = |known: &[(String, String)]| {
            known.len() == labels.len() && known.iter().zip(labels).all(|((a, b), (c, d))| a == c && b == d)
        };
        self.all(name).find(|(known, _)| is_meant(known)).map(|(_, value)| value)
    }
}

fn series(line: &str) -> (String, Labels, f64) {
    let end = line.find(['{', ' ']).unwrap();
    let (name, mut rest) = line.split_at(end);
    assert!(is_name(name), "{line}");
    let mut labels = Vec::new();
    if rest.starts_with('{') {
        rest = &rest[1..];
        while !rest.starts_with('}') {
            let (label, after) = rest.split_once("=\"").unwrap();
            assert!(is_name(label), "{line}");
            let mut value = String::new();
            let mut characters = after.char_indices();
            let end = loop {
                match characters.next().unwrap() {
                    (at, '"') => break at,
                    (_, '\\') => value.push(match characters.next().unwrap().1 {
                        'n' => '\n',
                        escaped @ ('\\' | '"') => escaped,
                        other => panic!("\\{other} in {line}"),
                    }),
                    (_, character) => value.push(character),
                }
            };
            labels.push((label.to_owned(), value));
            rest = &after[end + 1..];
            if let Some(next) = rest.strip_prefix(',') {
                rest = next;
            }
        }
        rest = &rest[1..];
    }
    let value = rest.strip_prefix(' ').unwrap().parse().unwrap();
    (name.to_owned(), labels, value)
}

fn is_name(text: &str) -> bool {
    !text.starts_with(|first: char| first.is_ascii_digit())
        && !text.is_empty()
        && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
}

#[test]
fn metrics_say_what_became_of_collections_and_contributors() {
    let watched =
        Watched::new().with(Told::answering("good")).under(Told::failing("broken", Code::Trap), OnFailure::Omit);
    for _ in 0..3 {
        watched.collect().unwrap();
    }
    let text = Metrics::new(&watched.activity).text();
    let scraped = Scraped::read(&text);
    assert_eq!(scraped.get("dsh_env_collections_total", &[("outcome", "degraded")]), Some(3.0));
    assert_eq!(scraped.get("dsh_env_collections_total", &[("outcome", "ok")]), Some(0.0));
    assert_eq!(scraped.get("dsh_env_collection_seconds_count", &[]), Some(3.0));
    let calls = "dsh_env_contributor_calls_total";
    assert_eq!(scraped.get(calls, &[("contributor", "good"), ("outcome", "ok")]), Some(3.0));
    assert_eq!(scraped.get(calls, &[("contributor", "broken"), ("outcome", "trap")]), Some(3.0));
    assert_eq!(scraped.get("dsh_env_contributor_seconds_count", &[("contributor", "good")]), Some(3.0));
    assert_eq!(scraped.get("dsh_env_contributor_calls_uncounted_total", &[]), Some(0.0));
    assert_eq!(scraped.get("dsh_env_build_info", &[("version", env!("CARGO_PKG_VERSION"))]), Some(1.0));
    assert_discreet(text.as_bytes());
}

#[test]
fn failed_collections_are_told_by_their_code() {
    let watched = Watched::new().with(Told::failing("broken", Code::GuestError));
    watched.collect().unwrap_err();
    let text = Metrics::new(&watched.activity).text();
    let scraped = Scraped::read(&text);
    assert_eq!(scraped.get("dsh_env_collections_total", &[("outcome", "guest-error")]), Some(1.0));
    assert_discreet(text.as_bytes());
}

#[test]
fn metrics_of_a_host_that_did_nothing_can_be_read() {
    let scraped = Scraped::read(&Metrics::new(&Watched::new().activity).text());
    assert_eq!(scraped.get("dsh_env_collections_total", &[("outcome", "ok")]), Some(0.0));
    assert_eq!(scraped.get("dsh_env_collection_seconds_sum", &[]), Some(0.0));
}

#[test]
fn labels_are_few_however_many_contributors_and_calls_there_are() {
    const SERIES_OF_ONE: usize = 1 + 19 + 2;
    let watched = Watched::new();
    let limit = 1024;
    for group in 0..2 {
        let scope: Vec<_> = (0..700)
            .map(|number| {
                let told = Told::answering(format!("told-{group}-{number}"));
                watched.registry.register_under(told, crate::registry::Terms::default()).unwrap()
            })
            .collect();
        for _ in 0..3 {
            // As they come; call ids, sessions and folders are never in a label.
            watched.collect().unwrap();
        }
        drop(scope);
    }
    let scraped = Scraped::read(&Metrics::new(&watched.activity).text());
    let names: BTreeSet<_> =
        scraped.series.iter().flat_map(|(_, labels, _)| labels).map(|(label, _)| label.as_str()).collect();
    assert_eq!(names, BTreeSet::from(["contributor", "le", "outcome", "version"]));
    let of_contributors = scraped.series.iter().filter(|(name, ..)| name.starts_with("dsh_env_contributor_"));
    assert_eq!(of_contributors.count(), limit * SERIES_OF_ONE + 1);
    let uncounted = scraped.get("dsh_env_contributor_calls_uncounted_total", &[]);
    assert_eq!(uncounted, Some(3.0 * (1400.0 - 1024.0)));
}

#[test]
fn what_a_source_says_is_scraped_if_it_fits_the_format() {
    let metrics = Metrics::new(&Watched::new().activity)
        .with(|| {
            vec![
                Sample::gauge("connections", "Connections that are open", 2.0).label("socket", "collect"),
                Sample::gauge("connections", "Something else", 1.0).label("socket", "admin\"\\\n}"),
                Sample::gauge("connections", "The same again", 9.0).label("socket", "collect"),
                Sample::counter("requests", "Requests\nwith a break", 1.5),
                Sample::gauge("no name", "Something", 1.0),
                Sample::gauge("", "Something", 1.0),
                Sample::gauge("labelled", "Something", 1.0).label("__own", "x"),
                Sample::gauge("labelled", "Something", 1.0).label("no-label", "x"),
                Sample::counter("collections", "Not what the host counts", 77.0),
            ]
        })
        .with(|| vec![Sample::gauge("connections", "Another source", 8.0).label("socket", "collect")]);
    let scraped = Scraped::read(&metrics.text());
    let connections = "dsh_env_connections";
    assert_eq!(scraped.get(connections, &[("socket", "collect")]), Some(2.0));
    assert_eq!(scraped.get(connections, &[("socket", "admin\"\\\n}")]), Some(1.0));
    assert_eq!(scraped.all(connections).count(), 2);
    assert_eq!(scraped.get("dsh_env_requests_total", &[]), Some(1.5));
    assert!(!scraped.families.keys().any(|name| name.contains("labelled") || name.ends_with("env_")));
    assert_eq!(scraped.get("dsh_env_collections_total", &[]), None);
}

#[test]
fn contributors_are_counted_by_state_also_where_there_is_none() {
    let status = |state| ContributorStatus {
        name: "n".to_owned(),
        file: None,
        state,
        digest: None,
        candidate: None,
        previous: Vec::new(),
        error: None,
        notes: Vec::new(),
    };
    let statuses = [State::Live, State::Live, State::Failing].map(status);
    let metrics = Metrics::new(&Watched::new().activity).with(move || contributors_by_state(&statuses));
    let scraped = Scraped::read(&metrics.text());
    let counts = ["live", "pending", "refused", "disabled", "failing"]
        .map(|state| scraped.get("dsh_env_contributors", &[("state", state)]).unwrap());
    assert_eq!(counts, [2.0, 0.0, 0.0, 0.0, 1.0]);
}
