//! Places where no session can be kept.

use std::fs;
use std::path::PathBuf;

use super::support::{Kind, Place, events, for_every_store, header, id, keep};
use crate::error::Code;
use crate::sessions::Project;

for_every_store! {
    a_root_that_is_a_file_is_an_error_that_says_so,
    a_root_below_a_file_is_an_error_that_says_so,
    a_root_that_nobody_may_write_to_is_an_error_that_says_so,
    a_session_that_cannot_be_kept_is_kept_when_it_can,
}

fn a_root_that_is_a_file_is_an_error_that_says_so(kind: Kind) {
    let place = Place::new();
    fs::write(place.root(), "a file").unwrap();
    let store = kind.store(&place.root());
    for error in [store.create(&header("s1", None)).err().unwrap(), store.list().unwrap_err()] {
        assert_eq!(error.code(), Code::SessionStorage);
        assert!(error.message().contains("a file is where a folder has to be"), "{error}");
    }
    assert!(store.load(&id("s1"), Project::Any).is_err());
    assert_eq!(fs::read(place.root()).unwrap(), b"a file");
}

fn a_root_below_a_file_is_an_error_that_says_so(kind: Kind) {
    let place = Place::new();
    fs::write(place.root(), "a file").unwrap();
    let error = kind.store(&place.root().join("below")).create(&header("s1", None)).err().unwrap();
    assert_eq!(error.code(), Code::SessionStorage);
    assert!(error.message().contains("choose another root"), "{error}");
}

fn a_root_that_nobody_may_write_to_is_an_error_that_says_so(kind: Kind) {
    let place = Place::new();
    fs::create_dir(place.root()).unwrap();
    let writable = fs::metadata(place.root()).unwrap().permissions();
    let mut read_only = writable.clone();
    read_only.set_readonly(true);
    fs::set_permissions(place.root(), read_only).unwrap();
    // Root writes there nevertheless, but not to the kernel's own folders.
    let mut roots = Vec::new();
    if cfg!(target_os = "linux") {
        roots.extend(["/sys", "/sys/sessions"].map(PathBuf::from));
    }
    if fs::File::create(place.root().join("probe")).is_err() {
        roots.push(place.root());
    }
    for root in roots {
        let kept = kind.store(&root).create(&header("s1", None)).and_then(|mut log| {
            log.append(&events(1)[0])?;
            log.flush()
        });
        let error = kept.unwrap_err();
        assert_eq!(error.code(), Code::SessionStorage, "{error}");
        assert!(error.message().contains("choose another root"), "{error}");
    }
    fs::set_permissions(place.root(), writable).unwrap();
}

/// Also one that is in the way for a while.
fn a_session_that_cannot_be_kept_is_kept_when_it_can(kind: Kind) {
    let place = Place::new();
    let store = kind.store(&place.root());
    let mut log = store.create(&header("s1", Some("/srv"))).unwrap();
    for event in events(2) {
        log.append(&event).unwrap();
    }
    fs::write(place.root(), "a file").unwrap();
    for _ in 0..2 {
        assert_eq!(log.flush().unwrap_err().code(), Code::SessionStorage);
    }
    fs::remove_file(place.root()).unwrap();
    log.flush().unwrap();
    assert_eq!(store.load(&id("s1"), Project::Any).unwrap().events, events(2));
    keep(store.as_ref(), &header("s2", Some("/srv")), 1);
    assert_eq!(store.list().unwrap().len(), 2);
}
