//! What the lock remembers, and how its file is kept.

mod changing;
mod reading;

use std::fs;
use std::path::Path;

use proptest::prelude::*;
use tempfile::TempDir;

use super::*;
use crate::error::{Code, Error};
use crate::home::{Home, Surroundings};

/// A home with nothing in it.
struct Place {
    folder: TempDir,
    file: LockFile,
}

impl Place {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let file = lock_file(folder.path());
        Self { folder, file }
    }

    fn write(&self, text: impl AsRef<[u8]>) {
        fs::write(self.file.path(), text).unwrap();
    }

    /// What is in the home.
    fn names(&self) -> Vec<String> {
        let entries = fs::read_dir(self.folder.path()).unwrap();
        let mut names: Vec<_> = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }

    /// What is wrong with what is there.
    fn fault(&self) -> Error {
        let error = self.file.read().unwrap_err();
        assert_eq!(self.file.edit(|_| Ok(())).unwrap_err(), error);
        error
    }
}

fn lock_file(home: &Path) -> LockFile {
    LockFile::of(&Home::resolve_in(Some(home.as_os_str()), &Surroundings::default()).unwrap())
}

fn name(text: &str) -> ContributorName {
    ContributorName::new(text).unwrap()
}

/// The digest of a number.
fn digest(number: u64) -> String {
    format!("{number:064x}")
}

/// A build that declares some keys.
fn build(number: u64, keys: &[&str]) -> LockedBuild {
    let variable =
        |key: &&str| Variable { key: (*key).to_owned(), description: "A fact.".to_owned(), sensitive: false };
    LockedBuild {
        digest: digest(number),
        accepted: number,
        imports: Vec::new(),
        grants: String::new(),
        variables: keys.iter().map(variable).collect(),
    }
}

/// A lock with one contributor, which had the builds 1 to `latest`.
fn with_builds(latest: u64) -> Lock {
    let mut lock = Lock::default();
    for number in 1..=latest {
        lock.accept(&name("a"), "a.wasm", build(number, &["DSH_A"]));
    }
    lock
}

/// The numbers of the builds of one contributor: those that are held, the live one, and those before it.
fn builds(lock: &Lock) -> (Vec<u64>, u64, Vec<u64>) {
    let number = |build: &LockedBuild| u64::from_str_radix(&build.digest, 16).unwrap();
    let entry = lock.entry("a").unwrap();
    (entry.held.iter().map(number).collect(), number(&entry.live), entry.previous().map(number).collect())
}

#[test]
fn the_last_five_builds_that_were_live_are_remembered() {
    assert_eq!(builds(&with_builds(1)), (vec![], 1, vec![]));
    assert_eq!(builds(&with_builds(3)), (vec![], 3, vec![2, 1]));
    let lock = with_builds(8);
    assert_eq!(builds(&lock), (vec![], 8, vec![7, 6, 5, 4, 3]));
    assert_eq!(lock.digests(), (3..=8).map(digest).collect());
    assert!(lock.entry("a").unwrap().build(&digest(2)).is_none());
}

#[test]
fn a_build_that_is_accepted_again_is_remembered_once() {
    let mut lock = with_builds(3);
    lock.accept(&name("a"), "a.wasm", build(1, &["DSH_A"]));
    assert_eq!(builds(&lock), (vec![], 1, vec![3, 2]));
    lock.accept(&name("a"), "a.wasm", build(1, &["DSH_B"]));
    assert_eq!(builds(&lock), (vec![], 1, vec![3, 2]));
    assert_eq!(lock.owner("DSH_B"), Some(&name("a")));
}

#[test]
fn what_a_build_takes_the_place_of_by_choice_is_held() {
    let mut lock = with_builds(4);
    let mut choose = |number| lock.entry_mut("a").unwrap().choose(&digest(number)).then(|| builds(&lock));
    assert_eq!(choose(3), Some((vec![4], 3, vec![2, 1])));
    assert_eq!(choose(1), Some((vec![3, 2, 4], 1, vec![])));
    assert_eq!(choose(1), Some((vec![3, 2, 4], 1, vec![])));
    assert_eq!(choose(4), Some((vec![3, 2], 4, vec![1])));
    assert_eq!(choose(9), None);
    let entry = lock.entry("a").unwrap();
    assert!(entry.is_held(&digest(3)) && !entry.is_held(&digest(4)) && !entry.is_held(&digest(1)));
}

#[test]
fn a_new_build_after_one_was_brought_back_does_not_make_what_was_left_the_one_before_it() {
    let mut lock = with_builds(2);
    assert!(lock.entry_mut("a").unwrap().choose(&digest(1)));
    lock.accept(&name("a"), "a.wasm", build(3, &["DSH_A"]));
    assert_eq!(builds(&lock), (vec![2], 3, vec![1]));
    assert!(lock.entry_mut("a").unwrap().choose(&digest(1)));
    assert_eq!(builds(&lock), (vec![3, 2], 1, vec![]));
    // Approved, it is like any other.
    lock.accept(&name("a"), "a.wasm", build(2, &["DSH_A"]));
    assert_eq!(builds(&lock), (vec![3], 2, vec![1]));
}

#[test]
fn no_more_builds_are_held_than_were_live_before() {
    let mut lock = with_builds(6);
    for number in 7..30 {
        assert!(lock.entry_mut("a").unwrap().choose(&digest(1)));
        assert_eq!(builds(&lock).0[0], number - 1);
        lock.accept(&name("a"), "a.wasm", build(number, &["DSH_A"]));
        let (held, live, previous) = builds(&lock);
        assert!(held.len() <= 5 && previous.len() <= 5 && live == number);
    }
}

#[test]
fn a_name_and_its_keys_belong_to_their_entry_until_it_is_forgotten() {
    let mut lock = Lock::default();
    lock.accept(&name("a"), "a.wasm", build(1, &["DSH_A", "DSH_B"]));
    lock.accept(&name("b"), "b.wasm", build(2, &["DSH_C"]));
    assert_eq!(lock.owner("DSH_B"), Some(&name("a")));
    assert_eq!(lock.owner("DSH_D"), None);
    assert_eq!((lock.name_of("a.wasm"), lock.name_of("c.wasm")), (Some(&name("a")), None));
    // Also what the live build gave up.
    lock.accept(&name("a"), "a.wasm", build(3, &["DSH_A"]));
    assert_eq!(lock.owner("DSH_B"), Some(&name("a")));
    // But what is live goes before what was.
    lock.accept(&name("b"), "b.wasm", build(4, &["DSH_B"]));
    assert_eq!(lock.owner("DSH_B"), Some(&name("b")));
    assert!(lock.forget("b").is_some());
    assert_eq!(lock.owner("DSH_B"), Some(&name("a")));
    assert!(lock.forget("a").is_some());
    assert_eq!((lock.owner("DSH_A"), lock.name_of("a.wasm"), lock.entry("a")), (None, None, None));
    assert!(lock.forget("a").is_none());
    assert_eq!(lock, Lock::default());
}

#[test]
fn a_file_has_one_name_and_a_name_the_file_it_was_accepted_for_last() {
    let mut lock = Lock::default();
    lock.accept(&name("a"), "a.wasm", build(1, &["DSH_A"]));
    lock.accept(&name("b"), "a.wasm", build(2, &["DSH_A"]));
    assert!(lock.entry("a").is_none());
    assert_eq!(lock.name_of("a.wasm"), Some(&name("b")));
    lock.accept(&name("b"), "b.wasm", build(3, &["DSH_A"]));
    assert_eq!((lock.name_of("a.wasm"), lock.name_of("b.wasm")), (None, Some(&name("b"))));
    assert_eq!(lock.entry("b").unwrap().previous().count(), 1);
}

#[test]
fn what_a_build_declared_is_known_by_its_digest() {
    let mut lock = with_builds(2);
    lock.accept(&name("a"), "a.wasm", build(3, &["DSH_B"]));
    let known = |number| lock.declaration(&digest(number)).map(|declaration| (declaration.name, declaration.variables));
    assert_eq!(known(1), Some(("a".to_owned(), build(1, &["DSH_A"]).variables)));
    assert_eq!(known(3), Some(("a".to_owned(), build(3, &["DSH_B"]).variables)));
    assert_eq!(known(4), None);
}

/// Anything that a lock may have.
fn locks() -> impl Strategy<Value = Lock> {
    let text = || prop_oneof!["\\PC{0,12}", any::<String>()];
    let variable = ("DSH_[A-Z][A-Z0-9_]{0,6}", text(), any::<bool>())
        .prop_map(|(key, description, sensitive)| Variable { key, description, sensitive });
    let build = (
        any::<u64>(),
        0..=i64::MAX as u64,
        prop::collection::vec(text(), 0..3),
        text(),
        prop::collection::vec(variable, 0..3),
    );
    let build = build.prop_map(|(number, accepted, imports, grants, variables)| LockedBuild {
        digest: digest(number),
        accepted,
        imports,
        grants,
        variables,
    });
    let builds = || prop::collection::vec(build.clone(), 0..3);
    let file = prop_oneof!["[a-z]{1,4}\\.wasm", "[^/\u{0}]{1,8}\\.wasm"];
    let entry = (file, build.clone(), builds(), builds()).prop_map(|(file, live, held, previous)| LockEntry {
        file,
        live,
        held,
        previous,
    });
    let names = "[a-z0-9][a-z0-9._-]{0,8}".prop_filter("the host's own", |name| ContributorName::new(name).is_ok());
    prop::collection::btree_map(names.prop_map(|text| name(&text)), entry, 0..4).prop_map(|mut contributors| {
        let mut files = BTreeSet::new();
        contributors.retain(|_, entry: &mut LockEntry| files.insert(entry.file.clone()));
        Lock { contributors, ..Lock::default() }
    })
}

proptest! {
    #[test]
    fn what_is_written_is_what_is_read(lock in locks()) {
        let place = Place::new();
        place.file.edit(|before| { *before = lock.clone(); Ok(()) }).unwrap();
        prop_assert_eq!(&place.file.read().unwrap(), &lock);
        // And nothing is written where nothing changes.
        let looks = fs::metadata(place.file.path()).ok().map(|metadata| metadata.modified().unwrap());
        place.file.edit(|_| Ok(())).unwrap();
        prop_assert_eq!(fs::metadata(place.file.path()).ok().map(|metadata| metadata.modified().unwrap()), looks);
    }

    #[test]
    fn whatever_is_done_the_live_build_is_remembered_once_and_nothing_is_without_bound(
        steps in prop::collection::vec((any::<bool>(), 1..12_u64), 1..40)
    ) {
        let mut lock = with_builds(1);
        for (accepts, number) in steps {
            let before = builds(&lock);
            if accepts {
                lock.accept(&name("a"), "a.wasm", build(number, &["DSH_A"]));
            } else if !lock.entry_mut("a").unwrap().choose(&digest(number)) {
                prop_assert_eq!(builds(&lock), before);
                continue;
            }
            let (held, live, previous) = builds(&lock);
            prop_assert_eq!(live, number);
            prop_assert!(held.len() <= 5 && previous.len() <= 5);
            let all: Vec<_> = held.iter().chain([&live]).chain(&previous).collect();
            prop_assert_eq!(all.iter().collect::<BTreeSet<_>>().len(), all.len(), "{:?}", all);
            // Whatever answered until now can be brought back.
            prop_assert!(all.contains(&&before.1));
        }
    }
}
