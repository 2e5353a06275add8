//! Writers that are killed: whatever they acknowledged is there, once.

use std::time::Duration;

use super::child::{Writer, written};
use super::support::{Kind, Numbers, Place, for_every_store, header, id, keep};
use crate::error::Code;
use crate::sessions::Project;

/// How often a writer is killed, for each store.
const KILLS: u64 = 100;

/// How many kills one session lives through: the next begins with a kill around its first flush.
const KILLS_OF_A_SESSION: u64 = 10;

for_every_store! {
    a_writer_that_is_killed_at_any_moment_loses_nothing_that_it_acknowledged,
    a_session_is_free_again_when_its_writer_is_killed,
    a_session_that_goes_on_syncs_what_its_killed_writer_may_not_have,
}

fn a_writer_that_is_killed_at_any_moment_loses_nothing_that_it_acknowledged(kind: Kind) {
    let place = Place::new();
    let store = kind.store(&place.root());
    let mut numbers = Numbers(0x5e55_1045 + kind as u64);
    let mut kept = 0;
    let mut found = 0;
    for round in 0..KILLS {
        let session = format!("s{}", round / KILLS_OF_A_SESSION);
        if round % KILLS_OF_A_SESSION == 0 {
            kept = 0;
        }
        let mut writer = Writer::start(kind, &place.root(), &session);
        // Some die while they start, most while they write.
        for _ in 0..numbers.below(6) {
            kept = kept.max(writer.next().map_or(0, |seq| seq + 1));
        }
        std::thread::sleep(Duration::from_micros(numbers.below(3000)));
        kept = kept.max(writer.kill().map_or(0, |seq| seq + 1));

        assert!(store.list().unwrap().iter().all(|listed| listed.header.is_ok()), "round {round}");
        let events = match store.load(&id(&session), Project::Any) {
            Ok(loaded) => loaded.events,
            Err(error) => {
                assert_eq!((error.code(), kept), (Code::SessionNotFound, 0), "round {round}: {error}");
                continue;
            }
        };
        assert!(events.len() >= kept, "round {round}: {} of {kept}", events.len());
        // As many as were written, each once and in order.
        assert_eq!(events, (0..events.len()).map(written).collect::<Vec<_>>(), "round {round}");
        let resumed = store.resume(&id(&session), Project::Any).unwrap();
        assert_eq!(resumed.events, events, "round {round}");
        kept = events.len();
        found += 1;
    }
    assert!(found > KILLS / 2, "most writers got as far as to write");
}

fn a_session_is_free_again_when_its_writer_is_killed(kind: Kind) {
    let place = Place::new();
    let store = kind.store(&place.root());
    // Once as the one that made it, once as one that resumed it.
    for _ in 0..2 {
        let mut writer = Writer::start(kind, &place.root(), "s1");
        let first = writer.next().unwrap();
        assert_eq!(store.resume(&id("s1"), Project::Any).unwrap_err().code(), Code::SessionInUse);
        let mut second = Writer::start(kind, &place.root(), "s1");
        assert_eq!(second.next(), None, "it finds the session in use and fails");
        writer.kill();
        assert!(store.resume(&id("s1"), Project::Any).unwrap().events.len() > first);
    }
}

/// That a folder is synced shows where it cannot be: as long as it is missing, the flush fails.
fn a_session_that_goes_on_syncs_what_its_killed_writer_may_not_have(kind: Kind) {
    let place = Place::new();
    let store = kind.store(&place.root());
    keep(store.as_ref(), &header("s1", Some("/srv")), 1);
    let mut log = store.resume(&id("s1"), Project::Any).unwrap().log;
    let away = place.root().with_file_name("away");
    std::fs::rename(place.root(), &away).unwrap();
    assert_eq!(log.flush().unwrap_err().code(), Code::SessionStorage);
    std::fs::rename(&away, place.root()).unwrap();
    log.flush().unwrap();
    std::fs::rename(place.root(), &away).unwrap();
    log.flush().unwrap();
}
