//! What earlier builds kept, byte for byte in `tests/fixtures/sessions`, is read by this one and written alike.

use std::fs;
use std::path::Path;

use serde_json::Value;

use super::support::{Kind, Place, event, for_every_store, id};
use crate::sessions::{Event, LogHeader, Project};

for_every_store! {
    what_an_earlier_build_kept_goes_on,
}

/// One session in every form. Its text holds what a careless reader would send to a terminal.
const PLAIN: &[u8] = include_bytes!("../../../../tests/fixtures/sessions/kept.jsonl");
const ZSTD: &[u8] = include_bytes!("../../../../tests/fixtures/sessions/kept.jsonl.zstd");
#[cfg(feature = "sqlite")]
const SQLITE: &[u8] = include_bytes!("../../../../tests/fixtures/sessions/kept.sqlite3");

fn what_an_earlier_build_kept_goes_on(kind: Kind) {
    let place = Place::new();
    let (name, content) = match kind {
        Kind::Plain => ("--srv-app--/s1/session.jsonl", PLAIN),
        Kind::Zstd => ("--srv-app--/s1/session.jsonl.zstd", ZSTD),
        #[cfg(feature = "sqlite")]
        Kind::Sqlite => ("sessions.sqlite3", SQLITE),
    };
    let path = place.root().join(name);
    fs::create_dir_all(path.parent().unwrap_or(Path::new("/"))).unwrap();
    fs::write(&path, content).unwrap();

    let mut lines =
        PLAIN.split_inclusive(|byte| *byte == b'\n').map(|line| serde_json::from_slice::<Value>(line).unwrap());
    let header = LogHeader::from_json(lines.next().unwrap()).unwrap();
    let events: Vec<_> = lines.map(|line| Event::from_json(line).unwrap()).collect();
    let store = kind.store(&place.root());
    assert_eq!(store.list().unwrap()[0].header.as_ref().unwrap(), &header);
    let mut resumed = store.resume(&id("s1"), Project::Of(Some("/srv/app"))).unwrap();
    assert_eq!((&resumed.header, &resumed.events, resumed.repaired), (&header, &events, 0));
    resumed.log.append(&event(events.len())).unwrap();
    resumed.log.flush().unwrap();
    assert_eq!(store.load(&id("s1"), Project::Any).unwrap().events.len(), events.len() + 1);
}

#[test]
fn a_log_that_is_written_again_has_the_same_bytes() {
    let place = Place::new();
    let mut lines =
        PLAIN.split_inclusive(|byte| *byte == b'\n').map(|line| serde_json::from_slice::<Value>(line).unwrap());
    let store = Kind::Plain.store(&place.root());
    let mut log = store.create(&LogHeader::from_json(lines.next().unwrap()).unwrap()).unwrap();
    for line in lines {
        log.append(&Event::from_json(line).unwrap()).unwrap();
    }
    log.flush().unwrap();
    assert_eq!(fs::read(place.root().join("--srv-app--/s1/session.jsonl")).unwrap(), PLAIN);
}
