//! What every store promises, asked of each.

use super::support::{Kind, Place, append, event, events, for_every_store, header, id, keep};
use crate::error::Code;
use crate::sessions::{Event, LogHeader, Project};

for_every_store! {
    nothing_is_kept_before_the_first_flush,
    what_was_flushed_is_loaded_and_listed,
    what_was_not_flushed_is_not_there,
    a_resumed_session_goes_on_where_it_was,
    a_flush_of_nothing_changes_nothing,
    a_session_is_never_overwritten,
    of_many_that_publish_one_id_at_once_one_wins,
    one_id_may_be_in_several_projects,
    a_session_that_is_not_there_is_not_found,
    a_session_has_one_writer_at_a_time,
    a_session_can_be_read_while_it_is_written,
    the_newest_session_is_listed_first,
    a_header_without_a_time_gets_one,
    a_session_of_another_project_is_not_mixed_up,
}

fn nothing_is_kept_before_the_first_flush(kind: Kind) {
    let place = Place::new();
    let store = kind.store(&place.root());
    let mut log = store.create(&header("s1", Some("/srv"))).unwrap();
    append(log.as_mut(), &events(3));
    assert!(!place.root().exists());
    assert_eq!(store.list().unwrap(), []);
    assert_eq!(store.load(&id("s1"), Project::Any).unwrap_err().code(), Code::SessionNotFound);
    drop(log);
    assert!(!place.root().exists());
}

fn what_was_flushed_is_loaded_and_listed(kind: Kind) {
    let place = Place::new();
    let store = kind.store(&place.root());
    let header =
        LogHeader { agent_preset: Some("default".to_owned()), seed_length: Some(1), ..header("s1", Some("/srv")) };
    let mut log = store.create(&header).unwrap();
    for event in events(5) {
        log.append(&event).unwrap();
        log.flush().unwrap();
    }
    for project in [Project::Any, Project::Of(Some("/srv"))] {
        let loaded = store.load(&id("s1"), project).unwrap();
        assert_eq!((&loaded.header, &loaded.events, loaded.torn), (&header, &events(5), 0));
        assert_eq!(loaded.location.as_ref(), log.location());
        assert_eq!(loaded.location, store.locate(&header.session));
    }
    let listed = store.list().unwrap();
    assert_eq!(listed.len(), 1);
    assert_eq!(listed[0].header.as_ref().unwrap(), &header);
    assert!(listed[0].bytes > 100);
}

fn what_was_not_flushed_is_not_there(kind: Kind) {
    let place = Place::new();
    let store = kind.store(&place.root());
    let mut log = store.create(&header("s1", None)).unwrap();
    append(log.as_mut(), &events(2));
    log.flush().unwrap();
    log.append(&event(2)).unwrap();
    assert_eq!(store.load(&id("s1"), Project::Any).unwrap().events, events(2));
    drop(log);
    assert_eq!(store.load(&id("s1"), Project::Any).unwrap().events, events(2));
}

fn a_resumed_session_goes_on_where_it_was(kind: Kind) {
    let place = Place::new();
    let store = kind.store(&place.root());
    let header = header("s1", Some("/srv"));
    keep(store.as_ref(), &header, 2);
    for count in 2..6 {
        let mut resumed = store.resume(&id("s1"), Project::Of(Some("/srv"))).unwrap();
        assert_eq!((&resumed.header, &resumed.events, resumed.repaired), (&header, &events(count), 0));
        assert_eq!(resumed.log.location().cloned(), store.locate(&header.session));
        resumed.log.append(&event(count)).unwrap();
        resumed.log.flush().unwrap();
    }
    assert_eq!(store.load(&id("s1"), Project::Any).unwrap().events, events(6));
}

fn a_flush_of_nothing_changes_nothing(kind: Kind) {
    let place = Place::new();
    let store = kind.store(&place.root());
    let mut log = store.create(&header("s1", None)).unwrap();
    log.flush().unwrap();
    let listed = store.list().unwrap();
    log.flush().unwrap();
    assert_eq!(store.list().unwrap(), listed);
    assert_eq!(store.load(&id("s1"), Project::Any).unwrap().events, []);
    append(log.as_mut(), &events(1));
    log.flush().unwrap();
    assert_eq!(store.load(&id("s1"), Project::Any).unwrap().events, events(1));
}

fn a_session_is_never_overwritten(kind: Kind) {
    let place = Place::new();
    let store = kind.store(&place.root());
    let mut late = store.create(&header("s1", Some("/srv"))).unwrap();
    append(late.as_mut(), &events(7));
    keep(store.as_ref(), &header("s1", Some("/srv")), 2);
    let early = store.create(&header("s1", Some("/srv"))).err().unwrap();
    for error in [early, late.flush().unwrap_err(), late.flush().unwrap_err()] {
        assert_eq!(error.code(), Code::SessionExists);
        assert!(error.message().contains("resume it, or choose another id"), "{error}");
    }
    drop(late);
    assert_eq!(store.load(&id("s1"), Project::Any).unwrap().events, events(2));
    assert_eq!(store.list().unwrap().len(), 1);
}

fn of_many_that_publish_one_id_at_once_one_wins(kind: Kind) {
    let place = Place::new();
    let root = place.root();
    let results: Vec<_> = std::thread::scope(|scope| {
        let publishers: Vec<_> = (1..=8)
            .map(|count| {
                let root = &root;
                scope.spawn(move || {
                    // As in as many processes: each with a service of its own.
                    let mut log = kind.store(root).create(&header("s1", None))?;
                    append(log.as_mut(), &events(count));
                    log.flush().map(|()| count)
                })
            })
            .collect();
        publishers.into_iter().map(|publisher| publisher.join().unwrap()).collect()
    });
    let won: Vec<usize> = results.iter().filter_map(|result| result.as_ref().ok().copied()).collect();
    assert_eq!(won.len(), 1, "{results:?}");
    assert!(
        results.iter().flat_map(|result| result.as_ref().err()).all(|error| error.code() == Code::SessionExists),
        "{results:?}"
    );
    assert_eq!(kind.store(&root).load(&id("s1"), Project::Any).unwrap().events, events(won[0]));
}

fn one_id_may_be_in_several_projects(kind: Kind) {
    let place = Place::new();
    let store = kind.store(&place.root());
    for (cwd, count) in [(None, 1), (Some("/a"), 2), (Some("/b"), 3)] {
        keep(store.as_ref(), &header("s1", cwd), count);
    }
    for (cwd, count) in [(None, 1), (Some("/a"), 2), (Some("/b"), 3)] {
        assert_eq!(store.load(&id("s1"), Project::Of(cwd)).unwrap().events.len(), count);
    }
    let error = store.resume(&id("s1"), Project::Any).unwrap_err();
    assert_eq!(error.code(), Code::SessionAmbiguous);
    assert!(error.message().contains("several sessions"), "{error}");
}

fn a_session_that_is_not_there_is_not_found(kind: Kind) {
    let place = Place::new();
    let store = kind.store(&place.root());
    let absent = |text: &str, project| {
        let codes =
            [store.load(&id(text), project).unwrap_err().code(), store.resume(&id(text), project).unwrap_err().code()];
        assert_eq!(codes, [Code::SessionNotFound; 2], "{text} {project:?}");
    };
    absent("s1", Project::Any);
    assert!(!place.root().exists(), "looking made something");
    keep(store.as_ref(), &header("s1", Some("/srv")), 1);
    absent("s2", Project::Any);
    absent("s1", Project::Of(None));
    absent("s1", Project::Of(Some("/elsewhere")));
    absent(&"long".repeat(2500), Project::Any);
}

fn a_session_has_one_writer_at_a_time(kind: Kind) {
    let place = Place::new();
    let store = kind.store(&place.root());
    let mut log = store.create(&header("s1", None)).unwrap();
    append(log.as_mut(), &events(1));
    log.flush().unwrap();
    let in_use = || {
        let error = kind.store(&place.root()).resume(&id("s1"), Project::Any).unwrap_err();
        assert_eq!(error.code(), Code::SessionInUse);
        assert!(error.message().contains("end that one first, or fork"), "{error}");
    };
    in_use();
    drop(log);
    let resumed = store.resume(&id("s1"), Project::Any).unwrap();
    in_use();
    drop(resumed);
    store.resume(&id("s1"), Project::Any).unwrap();
}

fn a_session_can_be_read_while_it_is_written(kind: Kind) {
    const COUNT: usize = 60;
    let place = Place::new();
    let root = place.root();
    keep(kind.store(&root).as_ref(), &header("s1", None), 1);
    std::thread::scope(|scope| {
        let writer = scope.spawn(|| {
            let mut log = kind.store(&root).resume(&id("s1"), Project::Any).unwrap().log;
            for seq in 1..COUNT {
                log.append(&event(seq)).unwrap();
                log.flush().unwrap();
            }
        });
        let mut seen = 0;
        while !writer.is_finished() {
            let read = kind.store(&root).load(&id("s1"), Project::Any).unwrap().events;
            assert!(read.len() >= seen, "{} after {seen}", read.len());
            seen = read.len();
            assert_eq!(read, events(seen));
        }
    });
    assert_eq!(kind.store(&root).load(&id("s1"), Project::Any).unwrap().events, events(COUNT));
}

fn the_newest_session_is_listed_first(kind: Kind) {
    let place = Place::new();
    let store = kind.store(&place.root());
    for (name, created, cwd) in [("b", 20, None), ("c", 30, Some("/x")), ("a", 10, Some("/y")), ("d", 30, None)] {
        let mut header = header(name, cwd);
        header.session.created_at = Some(created);
        keep(store.as_ref(), &header, 1);
    }
    let listed = store.list().unwrap();
    let ids: Vec<_> = listed.iter().map(|listed| listed.header.as_ref().unwrap().session.id.as_str()).collect();
    assert_eq!(ids, ["d", "c", "b", "a"]);
}

fn a_header_without_a_time_gets_one(kind: Kind) {
    let place = Place::new();
    let store = kind.store(&place.root());
    let mut header = header("s1", None);
    (header.session.created_at, header.session.delegation_depth) = (None, None);
    keep(store.as_ref(), &header, 1);
    let session = store.load(&id("s1"), Project::Any).unwrap().header.session;
    assert!(session.created_at.unwrap() > 1_700_000_000_000);
    assert_eq!(session.delegation_depth, Some(0));
}

/// Different directories may share a folder; what the header says stays what it says.
fn a_session_of_another_project_is_not_mixed_up(kind: Kind) {
    let place = Place::new();
    let store = kind.store(&place.root());
    keep(store.as_ref(), &header("s1", Some("/a/b")), 2);
    let loaded = store.load(&id("s1"), Project::Of(Some("/a:b"))).unwrap();
    assert_eq!(loaded.header.session.cwd.as_deref(), Some("/a/b"));
    assert_eq!(store.create(&header("s1", Some("/a:b"))).err().unwrap().code(), Code::SessionExists);
    let other: Vec<Event> = store.resume(&id("s1"), Project::Of(Some("/a\\b"))).unwrap().events;
    assert_eq!(other, events(2));
}
