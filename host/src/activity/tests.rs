use std::sync::atomic::AtomicU64;

use super::*;
use crate::contract::{Binding, Contributor, Deadline, Declaration, Execution, Failure};
use crate::error::{Code, Error};
use crate::home::{Home, Surroundings};
use crate::registry::{KeyTerms, Missing, OnFailure, Registry, Shape, Terms};

/// A contributor of one key that does as it is told.
struct Told {
    name: String,
    answer: Result<&'static str, Code>,
}

impl Told {
    fn shared(name: &str, answer: Result<&'static str, Code>) -> Arc<dyn Contributor> {
        Arc::new(Self { name: name.to_owned(), answer })
    }

    fn key(&self) -> String {
        format!("DSH_{}", self.name.to_ascii_uppercase())
    }
}

impl Contributor for Told {
    fn declare(&self) -> Declaration {
        Declaration::new(self.name.clone()).variable(self.key(), "A fact.")
    }

    fn resolve(&self, _: &Execution, _: &Deadline) -> Result<Vec<Binding>, Failure> {
        match self.answer {
            Ok(value) => Ok(vec![Binding::new(self.key(), value)]),
            Err(code) => Err(Failure::new(code, "it does as it is told")),
        }
    }

    fn may_wait(&self) -> bool {
        false
    }

    fn digest(&self) -> Option<&str> {
        Some("d1")
    }
}

/// A registry whose collections are counted as if they happened when a test says.
struct Watched {
    registry: Registry,
    activity: Arc<Activity>,
    clock: Arc<Clock>,
}

struct Clock {
    activity: Arc<Activity>,
    seconds: AtomicU64,
}

impl Observer for Clock {
    fn collected(&self, collection: &Collected<'_>) {
        self.activity.count(collection, Duration::from_secs(self.seconds.load(Ordering::SeqCst)));
    }
}

fn watched() -> Watched {
    let registry = Registry::new(&Home::resolve_in(Some("/h".as_ref()), &Surroundings::default()).unwrap());
    let activity = Activity::new();
    let clock = Arc::new(Clock { activity: Arc::clone(&activity), seconds: AtomicU64::new(0) });
    registry.observe(Arc::clone(&clock) as Arc<dyn Observer>);
    Watched { registry, activity, clock }
}

impl Watched {
    fn collect_at(&self, seconds: u64) {
        self.clock.seconds.store(seconds, Ordering::SeqCst);
        let _whatever_comes_of_it = self.registry.collect(&Execution::new("bash"));
    }

    fn names_at(&self, seconds: u64) -> Vec<String> {
        let snapshot = self.activity.snapshot_at(Duration::from_secs(seconds));
        snapshot.contributors.into_iter().map(|it| it.name).collect()
    }
}

fn terms(on_failure: OnFailure) -> Terms {
    Terms { on_failure, ..Terms::default() }
}

#[test]
fn collections_are_counted_by_what_came_of_them() {
    let watched = watched();
    watched.collect_at(0);
    let failing = || Told::shared("a", Err(Code::GuestError));
    let omitting = watched.registry.register_under(failing(), terms(OnFailure::Omit)).unwrap();
    watched.collect_at(0);
    drop(omitting);
    let _failing = watched.registry.register_under(failing(), terms(OnFailure::Fail)).unwrap();
    watched.collect_at(0);
    let all = watched.activity.snapshot().collections;
    assert_eq!((all.ok, all.degraded, all.failed), (1, 1, [("guest-error".to_owned(), 1)].into()));
    let (counts, _) = watched.activity.counts();
    assert_eq!(counts.outcomes, [("ok", 1), ("degraded", 1), ("guest-error", 1)].into());
    assert_eq!(counts.times.count(), 3);
}

#[test]
fn an_overlay_is_degraded_when_keys_are_missed_that_nobody_knows() {
    let watched = watched();
    let error = Error::load(Code::Malformed, "it is damaged");
    let missing = Missing { label: "x.wasm".to_owned(), keys: Vec::new(), file: None, required: false, error };
    watched.registry.set_missing(vec![missing]);
    watched.collect_at(0);
    assert_eq!(watched.activity.snapshot().collections.degraded, 1);
}

#[test]
fn contributors_are_counted_by_what_they_did_whatever_a_policy_made_of_it() {
    let watched = watched();
    let shape = KeyTerms { shape: Some(Shape::new("^never$").unwrap()), on_failure: None };
    let refusing = Terms { keys: [(Key::new("DSH_B").unwrap(), shape)].into(), ..terms(OnFailure::Omit) };
    let _guards = [
        watched.registry.register_under(Told::shared("a", Ok("x")), Terms::default()).unwrap(),
        watched.registry.register_under(Told::shared("b", Ok("x")), refusing).unwrap(),
        watched.registry.register_under(Told::shared("c", Err(Code::Timeout)), terms(OnFailure::Omit)).unwrap(),
        watched.registry.register_under(Told::shared("d", Err(Code::Trap)), Terms::default()).unwrap(),
        watched.registry.register_under(Told::shared("e", Ok("x")), Terms::default()).unwrap(),
    ];
    watched.collect_at(0);
    watched.collect_at(0);
    let seen: Vec<_> =
        watched.activity.snapshot().contributors.into_iter().map(|it| (it.name, it.ok, it.failed)).collect();
    let failed = |code: &str| [(code.to_owned(), 2)].into();
    assert_eq!(
        seen,
        [
            ("a".to_owned(), 2, [].into()),
            ("b".to_owned(), 0, failed("value-refused")),
            ("c".to_owned(), 0, failed("timeout")),
            ("d".to_owned(), 0, failed("trap")),
        ],
        "e comes after the one that failed the collection, and was not asked"
    );
}

#[test]
fn a_snapshot_says_how_it_goes_at_the_moment() {
    let watched = watched();
    let _guard = watched.registry.register_under(Told::shared("a", Ok("x")), Terms::default()).unwrap();
    for second in 0..10 {
        watched.collect_at(second);
        watched.collect_at(second);
    }
    let snapshot = watched.activity.snapshot_at(Duration::from_secs(10));
    for recent in [snapshot.collections.recent, snapshot.contributors[0].recent] {
        assert_eq!(recent.per_second, 2.0);
        assert!(recent.p50_us.unwrap() <= recent.p99_us.unwrap());
    }
    assert_eq!(snapshot.contributors[0].digest.as_deref(), Some("d1"));
}

#[test]
fn a_contributor_that_takes_no_part_for_an_hour_is_forgotten_and_an_idle_hosts_are_not() {
    let watched = watched();
    let gone = watched.registry.register_under(Told::shared("a", Ok("x")), Terms::default()).unwrap();
    let _stays = watched.registry.register_under(Told::shared("b", Ok("x")), Terms::default()).unwrap();
    watched.collect_at(0);
    assert_eq!(watched.names_at(10_000), ["a", "b"], "nothing has happened since");
    drop(gone);
    watched.collect_at(3_000);
    assert_eq!(watched.names_at(3_600), ["a", "b"]);
    watched.collect_at(3_601);
    assert_eq!(watched.names_at(3_601), ["b"]);
    let _new = watched.registry.register_under(Told::shared("c", Ok("x")), Terms::default()).unwrap();
    watched.collect_at(3_602);
    assert_eq!(watched.activity.contributors.load().len(), 2, "its memory is free again");
}

#[test]
fn contributors_beyond_the_limit_are_counted_together() {
    let watched = watched();
    let _guards: Vec<_> = (0..MAX_CONTRIBUTORS + 3)
        .map(|number| {
            watched.registry.register_under(Told::shared(&format!("n{number}"), Ok("x")), Terms::default()).unwrap()
        })
        .collect();
    watched.collect_at(0);
    watched.collect_at(0);
    let snapshot = watched.activity.snapshot();
    assert_eq!((snapshot.contributors.len(), snapshot.uncounted), (MAX_CONTRIBUTORS, 6));
}

#[test]
fn many_threads_lose_no_count() {
    let watched = watched();
    let _guard = watched.registry.register_under(Told::shared("a", Ok("x")), Terms::default()).unwrap();
    std::thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| (0..200).for_each(|_| watched.collect_at(0)));
        }
    });
    let snapshot = watched.activity.snapshot();
    assert_eq!((snapshot.collections.ok, snapshot.contributors[0].ok), (1600, 1600));
}

#[test]
fn a_snapshot_survives_json_and_becomes_a_table() {
    let recent = |per_second| Recent { per_second, p50_us: Some(41.24), p99_us: Some(1_234.5) };
    let failed: std::collections::BTreeMap<_, _> = [("timeout".to_owned(), 1), ("trap".to_owned(), 2)].into();
    let contributor = |name: &str, per_second| ContributorActivity {
        name: name.to_owned(),
        digest: None,
        ok: 7,
        failed: failed.clone(),
        recent: recent(per_second),
    };
    let quiet = Recent::default();
    let snapshot = ActivitySnapshot {
        seconds: 61.5,
        collections: CollectionActivity { ok: 5, degraded: 1, failed: [].into(), recent: quiet },
        contributors: vec![contributor("idle\u{1b}[31m", 0.0), contributor("busy", 12.34)],
        uncounted: 0,
    };
    let sent = serde_json::to_string(&snapshot).unwrap();
    assert_eq!(serde_json::from_str::<ActivitySnapshot>(&sent).unwrap(), snapshot);

    let Table { collections, contributors } = table(&snapshot);
    let cells = |row: &Row| [&row.name, &row.per_second, &row.p50, &row.p99, &row.total, &row.failed].map(Clone::clone);
    assert_eq!(cells(&collections), ["collections", "0.0", "-", "-", "6", "1 (degraded 1)"]);
    assert_eq!(cells(&contributors[0]), ["busy", "12.3", "41.2 µs", "1.23 ms", "10", "3 (trap 2, timeout 1)"]);
    assert_eq!(contributors[1].name, "idle\\u{1b}[31m");
}
