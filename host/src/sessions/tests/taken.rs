//! What a log takes: events in order that can be read again, up to an end, under any id.

use super::support::{Kind, Place, append, event, events, for_every_store, header, id, keep};
use crate::error::Code;
use crate::sessions::Project;
use crate::sessions::limits::Limits;

for_every_store! {
    an_event_that_could_not_be_read_again_is_refused_and_the_log_goes_on,
    an_event_is_appended_in_its_turn,
    a_log_has_an_end,
    what_expands_beyond_the_limits_is_an_error,
    what_takes_too_much_memory_is_an_error_before_it_does,
    any_text_is_an_id,
}

fn an_event_that_could_not_be_read_again_is_refused_and_the_log_goes_on(kind: Kind) {
    let place = Place::new();
    let store = kind.store_with(&place.root(), Limits { line: 10_000, line_values: 2000, ..Limits::default() });
    let mut log = store.create(&header("s1", None)).unwrap();
    let with = |name: &str, value| {
        let mut event = event(0);
        event.fields.insert(name.to_owned(), value);
        event
    };
    let deep = (0..200).fold(serde_json::Value::Null, |inner, _| serde_json::json!([inner]));
    for (bad, word) in [
        (with("seq", 1.into()), "called seq"),
        (with("type", 1.into()), "called type"),
        (with("at", 1.into()), "called at"),
        (with("deep", deep), "nested too deeply"),
        (with("long", "x".repeat(10_000).into()), "10000"),
        (with("wide", vec![0; 2000].into()), "JSON values is more than the 2000"),
    ] {
        let error = log.append(&bad).unwrap_err();
        assert_eq!(error.code(), Code::SessionStorage);
        assert!(error.message().contains(word), "{error}");
    }
    append(log.as_mut(), &events(2));
    log.flush().unwrap();
    assert_eq!(store.load(&id("s1"), Project::Any).unwrap().events, events(2));
}

fn an_event_is_appended_in_its_turn(kind: Kind) {
    let place = Place::new();
    let store = kind.store(&place.root());
    let mut log = store.create(&header("s1", None)).unwrap();
    for (seq, right) in [(1, false), (0, true), (0, false), (2, false), (1, true)] {
        assert_eq!(log.append(&event(seq)).is_ok(), right, "{seq}");
    }
    log.flush().unwrap();
    drop(log);
    let mut log = store.resume(&id("s1"), Project::Any).unwrap().log;
    assert_eq!(log.append(&event(1)).unwrap_err().code(), Code::Internal);
    log.append(&event(2)).unwrap();
}

fn a_log_has_an_end(kind: Kind) {
    for limits in [
        Limits { line: 1000, log: 2000, ..Limits::default() },
        Limits { line_values: 100, log_values: 200, ..Limits::default() },
    ] {
        a_log_ends_within(kind, limits);
    }
}

fn a_log_ends_within(kind: Kind, limits: Limits) {
    let place = Place::new();
    let store = kind.store_with(&place.root(), limits);
    let mut log = store.create(&header("s1", None)).unwrap();
    let full = (0..).find(|seq| log.append(&event(*seq)).is_err()).unwrap();
    log.flush().unwrap();
    drop(log);
    let mut resumed = store.resume(&id("s1"), Project::Any).unwrap();
    assert_eq!(resumed.events, events(full));
    let error = resumed.log.append(&event(full)).unwrap_err();
    assert_eq!(error.code(), Code::SessionStorage);
    assert!(error.message().contains("go on in a new session"), "{error}");
}

fn what_expands_beyond_the_limits_is_an_error(kind: Kind) {
    let place = Place::new();
    let mut large = event(0);
    large.fields.insert("large".to_owned(), "x".repeat(3_000_000).into());
    let mut log = kind.store(&place.root()).create(&header("s1", None)).unwrap();
    log.append(&large).unwrap();
    log.flush().unwrap();
    drop(log);
    for (limits, word) in [
        (
            Limits { line: 1 << 20, ..Limits::default() },
            if kind.has_files() { "line 2 is longer" } else { "is longer than" },
        ),
        (Limits { log: 1 << 20, ..Limits::default() }, "expands"),
    ] {
        assert_too_large(kind, &place, limits, word);
    }
    assert_eq!(kind.store(&place.root()).load(&id("s1"), Project::Any).unwrap().events, [large]);
}

/// That a store of these limits takes the session `s1` for too large, and still lists it by its header.
fn assert_too_large(kind: Kind, place: &Place, limits: Limits, word: &str) {
    let store = kind.store_with(&place.root(), limits);
    for error in [store.load(&id("s1"), Project::Any).unwrap_err(), store.resume(&id("s1"), Project::Any).unwrap_err()]
    {
        assert_eq!(error.code(), Code::SessionDamaged);
        assert!(error.message().contains(word), "{error}");
    }
    assert!(store.list().unwrap()[0].header.is_ok());
}

/// Two bytes of a log can be a value that takes many more.
fn what_takes_too_much_memory_is_an_error_before_it_does(kind: Kind) {
    let place = Place::new();
    let mut wide = event(0);
    wide.fields.insert("wide".to_owned(), vec![0; 5000].into());
    let mut log = kind.store(&place.root()).create(&header("s1", None)).unwrap();
    log.append(&wide).unwrap();
    log.flush().unwrap();
    drop(log);
    for (limits, word) in [
        (Limits { line_values: 5000, ..Limits::default() }, "line 2 is of more than 5000 values"),
        (Limits { log_values: 5000, ..Limits::default() }, "the log has more than 5000 values"),
    ] {
        assert_too_large(kind, &place, limits, word);
    }
    assert_eq!(kind.store(&place.root()).load(&id("s1"), Project::Any).unwrap().events, [wide]);
}

fn any_text_is_an_id(kind: Kind) {
    let place = Place::new();
    let store = kind.store(&place.root());
    let texts = ["a/b", "../../etc", ".", "..", "nul\0x", "🦀", "漢字", "-lead", "a b\n", &"x".repeat(255)];
    for text in texts {
        keep(store.as_ref(), &header(text, Some("/srv")), 1);
        assert_eq!(store.load(&id(text), Project::Any).unwrap().header.session.id, id(text));
        store.resume(&id(text), Project::Of(Some("/srv"))).unwrap();
    }
    assert_eq!(store.list().unwrap().iter().filter(|listed| listed.header.is_ok()).count(), texts.len());

    let long = "x".repeat(10_000);
    let created = store.create(&header(&long, None));
    if kind.has_files() {
        let error = created.err().unwrap();
        assert_eq!(error.code(), Code::SessionStorage);
        assert!(error.message().contains("choose a shorter id"), "{error}");
        assert!(error.message().len() < 4096);
    } else {
        let mut log = created.unwrap();
        log.flush().unwrap();
        assert_eq!(store.load(&id(&long), Project::Any).unwrap().header.session.id, id(&long));
    }
}
