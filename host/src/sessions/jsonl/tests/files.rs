//! What else may be where a log should be, and what becomes of files.

use super::*;
use crate::error::Code;

#[cfg(unix)]
#[test]
fn a_log_and_its_folders_are_private() {
    use std::os::unix::fs::PermissionsExt as _;

    let place = Place::new();
    let (path, _) = three_flushes(Kind::Zstd, &place);
    let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o7777;
    assert_eq!(mode(&path), 0o600);
    let folders: Vec<_> = path.ancestors().skip(1).take_while(|folder| folder.starts_with(place.root())).collect();
    assert_eq!(folders.len(), 3);
    for folder in folders {
        assert_eq!(mode(folder), 0o700, "{}", folder.display());
    }
}

#[cfg(unix)]
#[test]
fn what_is_not_a_regular_file_is_no_log_and_nothing_waits_for_it() {
    let pipe = |path: &Path| {
        rustix::fs::mkfifoat(rustix::fs::CWD, path, rustix::fs::Mode::RWXU).unwrap();
    };
    let link = |path: &Path| std::os::unix::fs::symlink(path.with_file_name("elsewhere"), path).unwrap();
    let socket = |path: &Path| drop(std::os::unix::net::UnixListener::bind(path).unwrap());
    let folder = |path: &Path| fs::create_dir(path).unwrap();
    let device = |path: &Path| std::os::unix::fs::symlink("/dev/zero", path).unwrap();
    for kind in KINDS {
        for make in [&pipe as &dyn Fn(&Path), &link, &socket, &folder, &device] {
            let place = Place::new();
            let (path, _) = three_flushes(kind, &place);
            fs::rename(&path, path.with_file_name("elsewhere")).unwrap();
            make(&path);
            for error in [
                load(kind, &place).unwrap_err(),
                resume(kind, &place).unwrap_err(),
                kind.store(&place.root()).list().unwrap()[0].header.clone().unwrap_err(),
            ] {
                assert_eq!(error.code(), Code::SessionDamaged);
                assert!(error.message().contains("not a regular file"), "{error}");
            }
            let taken = kind.store(&place.root()).create(&header("s1", Some("/srv"))).err().unwrap();
            assert_eq!(taken.code(), Code::SessionExists);
        }
    }
}

#[test]
fn a_session_with_two_logs_is_damaged() {
    let place = Place::new();
    let (path, _) = three_flushes(Kind::Plain, &place);
    fs::write(path.with_file_name("session.jsonl.zstd"), "").unwrap();
    for error in [
        load(Kind::Plain, &place).unwrap_err(),
        resume(Kind::Zstd, &place).unwrap_err(),
        Kind::Zstd.store(&place.root()).list().unwrap()[0].header.clone().unwrap_err(),
    ] {
        assert_eq!(error.code(), Code::SessionDamaged);
        assert!(error.message().contains("both session.jsonl and session.jsonl.zstd"), "{error}");
    }
}

#[test]
fn of_two_that_publish_one_id_compressed_and_not_one_wins() {
    for round in 0..20 {
        let place = Place::new();
        let root = place.root();
        let ready = std::sync::Barrier::new(2);
        let won = std::thread::scope(|scope| {
            let publishers = KINDS.map(|kind| {
                let (root, ready) = (&root, &ready);
                scope.spawn(move || {
                    let mut log = kind.store(root).create(&header("s1", None)).unwrap();
                    ready.wait();
                    log.flush().map_err(|error| assert_eq!(error.code(), Code::SessionExists)).is_ok()
                })
            });
            publishers.map(|publisher| publisher.join().unwrap()).into_iter().filter(|won| *won).count()
        });
        assert_eq!((won, names(&root.join("_no-cwd/s1")).len()), (1, 1), "round {round}");
        assert!(load(Kind::Plain, &place).is_ok());
    }
}

#[test]
fn a_log_in_the_place_of_another_is_damaged() {
    let place = Place::new();
    let store = Kind::Plain.store(&place.root());
    three_flushes(Kind::Plain, &place);
    for (from, to, name) in [("--srv--/s1", "--srv--/s2", "s2"), ("--srv--/s2", "--other--/s1", "s1")] {
        fs::create_dir_all(place.root().join(to)).unwrap();
        fs::rename(place.root().join(from), place.root().join(to)).unwrap();
        let error = store.resume(&id(name), Project::Any).unwrap_err();
        assert_eq!(error.code(), Code::SessionDamaged);
        assert!(error.message().contains("move it back"), "{error}");
        assert_eq!(store.list().unwrap()[0].header.clone().unwrap_err().code(), Code::SessionDamaged);
    }
}

#[test]
fn one_damaged_session_does_not_hide_the_others() {
    let place = Place::new();
    let store = Kind::Zstd.store(&place.root());
    keep(store.as_ref(), &header("good", None), 1);
    let path = place_log(Kind::Zstd, &place, b"garbage");
    fs::write(place.root().join("a file"), "").unwrap();
    fs::create_dir_all(place.root().join("--srv--/empty")).unwrap();
    let listed = store.list().unwrap();
    assert_eq!(listed.len(), 2);
    assert!(listed[0].header.is_ok());
    assert_eq!(listed[1].header.as_ref().unwrap_err().code(), Code::SessionDamaged);
    assert_eq!(listed[1].location.as_ref().unwrap().path, path);
}

#[test]
fn what_a_killed_publisher_left_is_no_session_and_goes_with_the_next() {
    let place = Place::new();
    let store = Kind::Plain.store(&place.root());
    let path = store.locate(&header("s1", None).session).unwrap().path;
    let folder = path.parent().unwrap();
    fs::create_dir_all(folder).unwrap();
    fs::write(folder.join(".session-AbC123.tmp"), "half a log").unwrap();
    assert_eq!(store.list().unwrap(), []);
    assert_eq!(store.load(&id("s1"), Project::Any).unwrap_err().code(), Code::SessionNotFound);
    keep(store.as_ref(), &header("s1", None), 1);
    assert_eq!(names(folder), ["session.jsonl"]);
}

#[test]
fn a_publication_that_failed_leaves_no_trace_in_the_project() {
    let place = Place::new();
    let store = Kind::Plain.store(&place.root());
    let mut log = store.create(&header("s1", Some("/srv"))).unwrap();
    fs::create_dir_all(place.root()).unwrap();
    fs::write(place.root().join("--srv--"), "a file").unwrap();
    assert_eq!(log.flush().unwrap_err().code(), Code::SessionStorage);
    fs::remove_file(place.root().join("--srv--")).unwrap();
    fs::create_dir(place.root().join("--srv--")).unwrap();
    assert_eq!(names(&place.root().join("--srv--")), [""; 0]);
    log.flush().unwrap();
    assert_eq!(names(&place.root().join("--srv--/s1")), ["session.jsonl"]);
}

#[cfg(unix)]
#[test]
fn nothing_is_acknowledged_for_a_log_that_was_removed_meanwhile() {
    let place = Place::new();
    let store = Kind::Plain.store(&place.root());
    let mut log = store.create(&header("s1", None)).unwrap();
    log.flush().unwrap();
    log.append(&event(0)).unwrap();
    fs::remove_file(&log.location().unwrap().path).unwrap();
    let error = log.flush().unwrap_err();
    assert_eq!(error.code(), Code::SessionStorage);
    assert!(error.message().contains("was removed"), "{error}");
}

#[test]
fn a_log_that_another_program_writes_too_is_not_written_over() {
    let place = Place::new();
    let store = Kind::Plain.store(&place.root());
    let mut log = store.create(&header("s1", None)).unwrap();
    log.flush().unwrap();
    let path = log.location().unwrap().path.clone();
    let content = [fs::read(&path).unwrap(), b"{\"seq\":0,\"type\":\"theirs\",\"at\":1}\n".to_vec()].concat();
    fs::write(&path, &content).unwrap();
    log.append(&event(0)).unwrap();
    assert_eq!(log.flush().unwrap_err().code(), Code::SessionInUse);
    assert_eq!(fs::read(&path).unwrap(), content);
}

#[cfg(unix)]
#[test]
fn a_log_that_was_moved_while_it_was_open_is_not_written_to_elsewhere() {
    for kind in KINDS {
        for put_back in [false, true] {
            let place = Place::new();
            let (path, _) = three_flushes(kind, &place);
            let mut resumed = resume(kind, &place).unwrap();
            let elsewhere = path.with_file_name("elsewhere");
            fs::rename(&path, &elsewhere).unwrap();
            if put_back {
                fs::copy(&elsewhere, &path).unwrap();
            }
            let moved = fs::read(&elsewhere).unwrap();
            resumed.log.append(&event(resumed.events.len())).unwrap();
            let error = resumed.log.flush().unwrap_err();
            assert_eq!(error.code(), Code::SessionStorage);
            assert!(error.message().contains("was moved"), "{error}");
            assert_eq!(fs::read(&elsewhere).unwrap(), moved);
            // Back in its place it goes on.
            fs::rename(&elsewhere, &path).unwrap();
            resumed.log.flush().unwrap();
        }
    }
}
