//! What a guest sees without grants, and with them.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use dsh_env::contract::{Contributor as _, Execution};
use dsh_env::facts::FactsBoard;
use dsh_env::home::Home;
use dsh_env::registry::Registry;
use dsh_env::sandbox::{Extensions, Grants, Settings};
use serde_json::{Value, json};

use super::{Probe, execution};

#[test]
fn a_guest_without_grants_sees_nothing_of_its_host() {
    let probe = Probe::new(Grants::default());
    assert_eq!(probe.try_one("variables"), Ok(json!([])));
    assert_eq!(probe.try_one("arguments"), Ok(json!([])));
    assert_eq!(probe.try_one("preopens"), Ok(json!([])));
    assert_eq!(probe.try_one("config-all"), Ok(json!([])));
    assert!(probe.try_one("read /etc/passwd").is_err());
    assert!(probe.try_one("list /").is_err());
    assert!(probe.try_one("list .").is_err());
    assert_eq!(probe.try_one("stdin"), Err("closed".to_owned()));
}

#[test]
fn without_the_grant_of_the_clock_it_is_always_the_epoch() {
    let probe = Probe::new(Grants::default());
    for clock in ["wall-clock", "monotonic"] {
        assert_eq!(probe.try_one(clock), probe.try_one(clock), "{clock}");
    }
    let now = Probe::new(Grants { clock: true, ..Grants::default() }).try_one("wall-clock").unwrap();
    let epoch = probe.try_one("wall-clock").unwrap();
    assert_ne!(now, epoch);
    assert!(epoch.to_string().contains('0'), "{epoch}");
}

#[test]
fn without_the_grant_of_randomness_every_call_gets_the_same_numbers() {
    let probe = Probe::new(Grants::default());
    let real = Probe::new(Grants { random: true, ..Grants::default() });
    for source in ["random 32", "insecure-random", "hashmap-order"] {
        assert_eq!(probe.try_one(source), probe.try_one(source), "{source}");
    }
    assert_ne!(real.try_one("random 32"), real.try_one("random 32"));
    assert_ne!(real.try_one("random 32"), probe.try_one("random 32"));
}

#[test]
fn a_granted_variable_is_the_only_one_that_is_seen_and_read_at_the_time_of_the_call() {
    let env = BTreeSet::from(["PATH".to_owned(), "NOT_SET_ANYWHERE".to_owned()]);
    let probe = Probe::new(Grants { env, ..Grants::default() });
    let seen = probe.try_one("variables").unwrap().to_string();
    assert!(seen.contains("PATH") && seen.contains(&std::env::var("PATH").unwrap()), "{seen}");
    assert!(!seen.contains("NOT_SET_ANYWHERE") && !seen.contains("HOME"), "{seen}");
}

#[test]
fn granted_settings_are_read_and_no_others() {
    let settings = Settings(BTreeMap::from([("remote".to_owned(), "origin".to_owned())]));
    let probe = Probe::new(Grants { config: Some(settings), ..Grants::default() });
    assert_eq!(probe.try_one("config remote"), Ok(json!("origin")));
    assert_eq!(probe.try_one("config other"), Ok(Value::Null));
    assert_eq!(Probe::new(Grants::default()).try_one("config remote"), Ok(Value::Null));
}

/// What a collection makes the probe say of one operation.
fn told(registry: &Registry, operation: &str) -> Value {
    let extensions = vec![("probe".to_owned(), operation.to_owned())];
    let overlay = registry.collect(&Execution { extensions, ..execution() }).unwrap();
    let json = overlay.get("DSH_PROBE").unwrap().value.expose().to_owned();
    serde_json::from_str::<Vec<Value>>(&json).unwrap().remove(0)["ok"].clone()
}

#[test]
fn granted_facts_are_read_beside_the_settings_and_no_others() {
    let home = tempfile::tempdir().unwrap();
    let registry = Registry::new(&Home::resolve(Some(home.path().as_os_str())).unwrap());
    let board = FactsBoard::new(&registry);
    let hour = Duration::from_secs(60 * 60);
    let settings = Settings(BTreeMap::from([("remote".to_owned(), "origin".to_owned())]));
    let facts = ["cluster", "gone", "unknown"].map(str::to_owned).into();
    let grants = Grants { config: Some(settings), facts, ..Grants::default() };
    let _registration = registry.register(Probe::new(grants).contributor).unwrap();

    assert_eq!(told(&registry, "config-all"), json!([["remote", "origin"]]));
    board.put("cluster", "kind", hour).unwrap();
    board.put("on-call", "somebody", hour).unwrap();
    board.put("gone", "x", Duration::from_millis(1)).unwrap();
    std::thread::sleep(Duration::from_millis(2));
    assert_eq!(told(&registry, "config facts.cluster"), json!("kind"));
    assert_eq!(told(&registry, "config facts.on-call"), Value::Null);
    assert_eq!(told(&registry, "config facts.gone"), Value::Null);
    assert_eq!(told(&registry, "config facts.unknown"), Value::Null);
    assert_eq!(told(&registry, "config cluster"), Value::Null);
    let all: BTreeSet<[String; 2]> = serde_json::from_value(told(&registry, "config-all")).unwrap();
    assert_eq!(json!(all), json!([["facts.cluster", "kind"], ["remote", "origin"]]));
    board.put("cluster", "prod", hour).unwrap();
    assert_eq!(told(&registry, "config facts.cluster"), json!("prod"));
}

#[test]
fn a_setting_is_never_taken_for_a_fact() {
    let home = tempfile::tempdir().unwrap();
    let registry = Registry::new(&Home::resolve(Some(home.path().as_os_str())).unwrap());
    let faked = ["facts.cluster", "facts.other", "facts."].map(|name| (name.to_owned(), "faked".to_owned()));
    let facts = BTreeSet::from(["cluster".to_owned()]);
    let grants = Grants { config: Some(Settings(faked.into())), facts, ..Grants::default() };
    let _registration = registry.register(Probe::new(grants).contributor).unwrap();
    assert_eq!(told(&registry, "config-all"), json!([]));
    FactsBoard::new(&registry).put("cluster", "kind", Duration::from_secs(60 * 60)).unwrap();
    assert_eq!(told(&registry, "config-all"), json!([["facts.cluster", "kind"]]));
}

#[test]
fn extensions_are_seen_by_their_names_or_all() {
    let execution = Execution {
        extensions: vec![("com.acme.ticket".into(), "A-1".into()), ("com.acme.secret".into(), "x".into())],
        ..execution()
    };
    let names = BTreeSet::from(["com.acme.ticket".to_owned()]);
    let named = Probe::new(Grants { extensions: Extensions::Named(names), ..Grants::default() });
    let seen = named.try_in(&execution, "extensions").unwrap().to_string();
    assert!(seen.contains("com.acme.ticket") && !seen.contains("com.acme.secret"), "{seen}");
    let all = Probe::new(Grants { extensions: Extensions::All, ..Grants::default() });
    assert!(all.try_in(&execution, "extensions").unwrap().to_string().contains("com.acme.secret"));
}

#[test]
fn the_network_is_always_denied() {
    let probe = Probe::new(Grants { clock: true, random: true, ..Grants::default() });
    for attempt in ["tcp 127.0.0.1 80", "tcp 10.0.0.1 443", "udp", "dns localhost", "dns example.com"] {
        let refused = probe.try_one(attempt).unwrap_err();
        assert!(refused.contains("access-denied"), "{attempt}: {refused}");
    }
}

#[test]
fn what_a_guest_prints_is_in_its_log_line_by_line_escaped_and_cut() {
    let probe = Probe::new(Grants::default());
    probe.tell("stdout one\u{1b}[31m").unwrap();
    probe.tell("stderr two").unwrap();
    assert_eq!(probe.log().lines(), ["one\\u{1b}[31m", "two"]);
    probe.tell("flood 10000000").unwrap();
    let bytes: usize = probe.log().lines().iter().map(String::len).sum();
    assert!(bytes <= 64 * 1024, "{bytes}");
}

#[test]
fn a_guest_that_exits_or_aborts_has_trapped() {
    let probe = Probe::new(Grants::default());
    for end in ["exit 0", "exit 3", "abort"] {
        assert_eq!(probe.tell(end).unwrap_err().code(), dsh_env::Code::Trap, "{end}");
    }
    assert_eq!(probe.try_one("variables"), Ok(json!([])));
}

#[test]
fn a_declaration_is_made_without_any_grant() {
    let probe = Probe::new(Grants { clock: true, ..Grants::default() });
    assert_eq!(probe.contributor.declare().name, "probe");
}
