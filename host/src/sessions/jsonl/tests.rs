use std::fs;
use std::path::{Path, PathBuf};

use crate::sessions::tests::support::{Kind, Place, append, event, events, header, id, keep};
use crate::sessions::{Project, SessionStore};

mod damaged;
mod files;
mod torn;

const KINDS: [Kind; 2] = [Kind::Plain, Kind::Zstd];

/// A session of three flushes. Answers with its file, and how long that was after each.
fn three_flushes(kind: Kind, place: &Place) -> (PathBuf, [usize; 3]) {
    let store = kind.store(&place.root());
    let mut log = store.create(&header("s1", Some("/srv"))).unwrap();
    let path = log.location().unwrap().path.clone();
    let lengths = [0, 1, 2].map(|flush| {
        append(log.as_mut(), &events(3 * (flush + 1))[3 * flush..]);
        log.flush().unwrap();
        fs::read(&path).unwrap().len()
    });
    (path, lengths)
}

fn load(kind: Kind, place: &Place) -> crate::Result<crate::sessions::Loaded> {
    kind.store(&place.root()).load(&id("s1"), Project::Any)
}

fn resume(kind: Kind, place: &Place) -> crate::Result<crate::sessions::Resumed> {
    kind.store(&place.root()).resume(&id("s1"), Project::Any)
}

/// A log of these bytes, where the session's is.
fn place_log(kind: Kind, place: &Place, content: &[u8]) -> PathBuf {
    let path = kind.store(&place.root()).locate(&header("s1", Some("/srv")).session).unwrap().path;
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(&path, content).unwrap();
    path
}

fn names(folder: &Path) -> Vec<String> {
    let mut names: Vec<_> =
        fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

#[test]
fn a_plain_log_is_the_lines_that_the_specification_shows() {
    let place = Place::new();
    let store = Kind::Plain.store(&place.root());
    keep(store.as_ref(), &header("s1", Some("/srv")), 1);
    let path = place.root().join("--srv--/s1/session.jsonl");
    assert_eq!(
        fs::read_to_string(path).unwrap(),
        concat!(
            r#"{"type":"session","version":0,"id":"s1","createdAt":1700000000000,"cwd":"/srv","delegationDepth":0}"#,
            "\n",
            r#"{"seq":0,"type":"user/message","at":1700000000000,"nested":{"number":0},"text":"line 0: ü\n漢"}"#,
            "\n",
        )
    );
}

#[test]
fn a_compressed_log_is_the_same_lines_to_any_reader_of_its_format() {
    let place = Place::new();
    let (path, _) = three_flushes(Kind::Zstd, &place);
    let plain = Place::new();
    let (plain, _) = three_flushes(Kind::Plain, &plain);
    assert_eq!(zstd::decode_all(fs::File::open(path).unwrap()).unwrap(), fs::read(plain).unwrap());
}

#[test]
fn every_session_of_the_original_is_kept_where_the_original_keeps_it() {
    let rows: Vec<serde_json::Value> =
        serde_json::from_str(include_str!("../../../../tests/fixtures/oracle/session-paths.json")).unwrap();
    for row in rows {
        let place = Place::new();
        let kind = if row["compression"] == "zstd" { Kind::Zstd } else { Kind::Plain };
        let header = header(row["id"].as_str().unwrap(), row["cwd"].as_str());
        let below = Path::new(row["path"].as_str().unwrap()).strip_prefix("/r/sessions").unwrap();
        let store = kind.store(&place.root());
        let created = store.create(&header);
        // The original names some that no file system takes.
        if below.components().any(|component| component.as_os_str().len() > 255) {
            assert_eq!(created.err().unwrap().code(), crate::Code::SessionStorage, "{row}");
            continue;
        }
        let mut log = created.unwrap();
        log.append(&event(0)).unwrap();
        log.flush().unwrap();
        drop(log);
        assert!(place.root().join(below).is_file(), "{row}");
        let resumed = store.resume(&header.session.id, Project::Of(header.session.cwd.as_deref())).unwrap();
        assert_eq!(resumed.header, header);
    }
}

#[test]
fn a_session_stays_where_it_is_when_the_setting_for_compression_changes() {
    for (before, after) in [(Kind::Plain, Kind::Zstd), (Kind::Zstd, Kind::Plain)] {
        let place = Place::new();
        let (path, _) = three_flushes(before, &place);
        let store = after.store(&place.root());
        let located = |store: &dyn SessionStore| store.locate(&header("s1", Some("/srv")).session).unwrap().path;
        assert_ne!(located(store.as_ref()), path, "only a look at the disk could tell");
        let mut resumed = store.resume(&id("s1"), Project::Any).unwrap();
        assert_eq!(resumed.log.location().unwrap().path, path);
        assert_eq!(located(store.as_ref()), path, "a command of the open session is told where it is");
        resumed.log.append(&event(9)).unwrap();
        resumed.log.flush().unwrap();
        drop(resumed);
        assert_ne!(located(store.as_ref()), path);
        assert_eq!(load(after, &place).unwrap().events, events(10));
        assert_eq!(names(path.parent().unwrap()).len(), 1);
        let taken = store.create(&header("s1", Some("/srv"))).err().unwrap();
        assert_eq!(taken.code(), crate::Code::SessionExists);
    }
}

#[test]
fn a_session_is_located_where_it_is_also_when_it_goes_from_one_writer_to_the_next() {
    let place = Place::new();
    let (path, _) = three_flushes(Kind::Plain, &place);
    let store = Kind::Zstd.store(&place.root());
    std::thread::scope(|scope| {
        for _ in 0..3 {
            scope.spawn(|| {
                let mut turns = 0;
                while turns < 100 {
                    let Ok(_writer) = store.resume(&id("s1"), Project::Any) else {
                        std::thread::yield_now();
                        continue;
                    };
                    // Long enough for the one before to be done with everything.
                    for _ in 0..20 {
                        std::thread::yield_now();
                        assert_eq!(store.locate(&header("s1", Some("/srv")).session).unwrap().path, path);
                    }
                    turns += 1;
                }
            });
        }
    });
}
