//! What is kept, and for how long.

use std::fs::Permissions;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::thread;

use proptest::prelude::*;
use tempfile::TempDir;

use super::*;

/// A state with a store.
struct Place {
    state: TempDir,
    store: Store,
}

impl Place {
    fn new() -> Self {
        let state = tempfile::tempdir().unwrap();
        let store = Store::new(state.path());
        Self { state, store }
    }

    fn folder(&self) -> PathBuf {
        self.state.path().join("store")
    }

    fn path(&self, digest: &str) -> PathBuf {
        self.folder().join(format!("{digest}.wasm"))
    }

    fn put(&self, bytes: &[u8]) -> String {
        let digest = digest_of(bytes);
        self.store.put(&digest, bytes).unwrap();
        digest
    }

    /// Puts a build that was written so long ago.
    fn put_before(&self, bytes: &[u8], seconds: u64) -> String {
        let digest = self.put(bytes);
        age(&self.path(&digest), seconds);
        digest
    }

    fn names(&self) -> Vec<String> {
        let entries = fs::read_dir(self.folder()).unwrap();
        let mut names: Vec<_> = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }
}

/// Makes a file look as if it had been written so long ago.
fn age(path: &Path, seconds: u64) {
    let then = SystemTime::now() - Duration::from_secs(seconds);
    File::open(path).unwrap().set_modified(then).unwrap();
}

#[test]
fn digests_are_sha_256_in_lower_case() {
    let empty = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";
    assert_eq!(digest_of(b""), empty);
    assert!(is_digest(empty));
    for other in ["", &empty[1..], &format!("{empty}0"), &empty.to_uppercase(), &empty.replace('e', "g"), "../x"] {
        assert!(!is_digest(other), "{other}");
    }
}

#[test]
fn what_is_put_is_there_whole_and_for_this_user_alone() {
    let place = Place::new();
    assert!(!place.store.has(&digest_of(b"a build")));
    let digest = place.put(b"a build");
    assert!(place.store.has(&digest));
    assert_eq!(place.store.read(&digest).unwrap(), b"a build");
    assert_eq!(place.put(b"a build"), digest);
    assert_eq!(place.names(), [format!("{digest}.wasm")]);
    let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!((mode(&place.folder()), mode(&place.path(&digest))), (0o700, 0o600));
    assert_eq!(place.store.read(&place.put(b"")).unwrap(), b"");
}

#[test]
fn what_is_not_there_is_told() {
    let place = Place::new();
    let error = place.store.read(&digest_of(b"never")).unwrap_err();
    assert_eq!(error.code(), Code::Unreadable);
    assert!(error.message().contains(&digest_of(b"never")), "{error}");
}

#[test]
fn a_file_that_is_not_what_its_name_says_is_refused_until_the_build_is_put_again() {
    let place = Place::new();
    let digest = place.put(b"a build");
    for damaged in [&b"a guild"[..], b"a bu", b"", b"a build and more"] {
        fs::write(place.path(&digest), damaged).unwrap();
        let error = place.store.read(&digest).unwrap_err();
        assert_eq!(error.code(), Code::Unreadable);
        assert!(error.message().contains("install the contributor again"), "{error}");
        place.put(b"a build");
        assert_eq!(place.store.read(&digest).unwrap(), b"a build");
        assert_eq!(place.names().len(), 1);
    }
}

#[test]
fn a_name_that_is_no_digest_reads_nothing_else() {
    let place = Place::new();
    place.put(b"a build");
    fs::write(place.state.path().join("secret.wasm"), "secret").unwrap();
    assert_eq!(place.store.read("../secret").unwrap_err().code(), Code::Unreadable);
}

#[test]
fn a_store_or_a_build_that_others_may_write_is_not_used() {
    let place = Place::new();
    let digest = place.put(b"a build");
    fs::set_permissions(place.path(&digest), Permissions::from_mode(0o622)).unwrap();
    assert_eq!(place.store.read(&digest).unwrap_err().code(), Code::UnsafePermissions);
    // Nobody else could open the new one.
    place.put(b"a build");
    assert_eq!(place.store.read(&digest).unwrap(), b"a build");
    fs::set_permissions(place.folder(), Permissions::from_mode(0o777)).unwrap();
    assert_eq!(place.store.read(&digest).unwrap_err().code(), Code::UnsafePermissions);
    assert_eq!(place.store.put(&digest, b"a build").unwrap_err().code(), Code::UnsafePermissions);
    fs::set_permissions(place.folder(), Permissions::from_mode(0o700)).unwrap();
    assert_eq!(place.store.read(&digest).unwrap(), b"a build");
}

#[test]
fn a_store_that_cannot_be_made_says_what_to_do() {
    let place = Place::new();
    fs::write(place.folder(), "in the way").unwrap();
    let error = place.store.put(&digest_of(b"x"), b"x").unwrap_err();
    assert_eq!(error.code(), Code::Unreadable);
    assert!(error.message().ends_with("Let this user write there"), "{error}");
    place.store.sweep(&BTreeSet::new());
    assert_eq!(fs::read_to_string(place.folder()).unwrap(), "in the way");
}

#[test]
fn whoever_reads_while_many_put_finds_nothing_or_the_whole() {
    let place = Place::new();
    let builds: Vec<_> = (0..4_u8).map(|number| vec![number; 300_000]).collect();
    thread::scope(|scope| {
        for turn in 0..4 {
            let (place, builds) = (&place, &builds);
            scope.spawn(move || {
                for number in 0..40 {
                    let bytes = &builds[(turn + number) % 4];
                    let digest = digest_of(bytes);
                    // As if a file system had lost its end.
                    if turn == 0 && number % 8 == 0 {
                        let _ = fs::remove_file(place.path(&digest));
                    }
                    place.store.put(&digest, bytes).unwrap();
                }
            });
        }
        for bytes in &builds {
            let (place, digest) = (&place, digest_of(bytes));
            scope.spawn(move || {
                for _ in 0..100 {
                    if let Ok(there) = fs::read(place.path(&digest)) {
                        assert!(there == *bytes);
                    }
                }
            });
        }
    });
    let expected: BTreeSet<_> = builds.iter().map(|bytes| format!("{}.wasm", digest_of(bytes))).collect();
    assert_eq!(place.names().into_iter().collect::<BTreeSet<_>>(), expected);
}

#[test]
fn what_is_remembered_stays_and_the_rest_goes_after_two_minutes() {
    let place = Place::new();
    let remembered = place.put_before(b"remembered", 100_000);
    let old = place.put_before(b"old", 121);
    let recent = place.put_before(b"recent", 100);
    place.store.sweep(&[remembered.clone(), digest_of(b"never put")].into());
    assert!(place.store.has(&remembered) && place.store.has(&recent) && !place.store.has(&old));
    age(&place.path(&recent), 121);
    place.store.sweep(&[remembered.clone()].into());
    assert_eq!(place.names(), [format!("{remembered}.wasm")]);
}

#[test]
fn what_is_put_again_is_as_if_it_were_new() {
    let place = Place::new();
    let digest = place.put_before(b"a build", 100_000);
    place.put(b"a build");
    place.store.sweep(&BTreeSet::new());
    assert!(place.store.has(&digest));
}

#[test]
fn no_more_than_32_that_nobody_remembers_stay_and_the_latest_do() {
    let place = Place::new();
    let remembered = place.put_before(b"remembered", 90);
    let digests: Vec<_> = (0..40_u64).map(|number| place.put_before(&number.to_le_bytes(), 80 - number)).collect();
    place.store.sweep(&[remembered.clone()].into());
    let (gone, kept) = digests.split_at(8);
    assert!(gone.iter().all(|digest| !place.store.has(digest)));
    assert!(kept.iter().all(|digest| place.store.has(digest)));
    assert!(place.store.has(&remembered));
}

#[test]
fn one_from_the_future_stays_unless_there_are_too_many() {
    let place = Place::new();
    let digest = place.put(b"a build");
    let later = SystemTime::now() + Duration::from_secs(3600);
    File::open(place.path(&digest)).unwrap().set_modified(later).unwrap();
    place.store.sweep(&BTreeSet::new());
    assert!(place.store.has(&digest));
}

#[test]
fn what_writers_left_that_were_killed_goes_too() {
    let place = Place::new();
    place.put(b"a build");
    let (old, recent) = (place.folder().join(".new-old"), place.folder().join(".new-recent"));
    fs::write(&old, "half").unwrap();
    fs::write(&recent, "half").unwrap();
    age(&old, 121);
    place.store.sweep(&BTreeSet::new());
    assert!(!old.exists() && recent.exists());
}

#[test]
fn links_folders_and_what_others_put_there_are_left_alone() {
    let place = Place::new();
    place.put(b"a build");
    let folder = place.folder();
    let elsewhere = place.state.path().join("elsewhere");
    fs::write(&elsewhere, "mine").unwrap();
    age(&elsewhere, 100_000);
    let digest = "a".repeat(64);
    symlink(&elsewhere, place.path(&digest)).unwrap();
    symlink("nowhere", place.path(&"b".repeat(64))).unwrap();
    symlink(&elsewhere, folder.join(".new-link")).unwrap();
    fs::create_dir(place.path(&"c".repeat(64))).unwrap();
    for name in ["notes.txt", "x.wasm", &"d".repeat(64), &format!("{}.wasm", "D".repeat(64))] {
        fs::write(folder.join(name), "mine").unwrap();
        age(&folder.join(name), 100_000);
    }
    let before = place.names();
    place.store.sweep(&[digest_of(b"a build")].into());
    assert_eq!(place.names(), before);
    assert_eq!(fs::read_to_string(elsewhere).unwrap(), "mine");
}

#[test]
fn a_link_in_the_place_of_a_build_is_replaced_and_what_it_leads_to_is_not() {
    let place = Place::new();
    place.put(b"another");
    let elsewhere = place.state.path().join("elsewhere");
    let digest = digest_of(b"a build");
    for there in ["a build", "something else"] {
        fs::write(&elsewhere, there).unwrap();
        let _ = fs::remove_file(place.path(&digest));
        symlink(&elsewhere, place.path(&digest)).unwrap();
        place.put(b"a build");
        assert!(is_own_file(&place.path(&digest)));
        assert_eq!(fs::read_to_string(&elsewhere).unwrap(), there);
    }
}

#[test]
fn a_store_that_is_not_there_is_swept_without_a_word() {
    let place = Place::new();
    place.store.sweep(&BTreeSet::new());
    assert!(!place.folder().exists());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]

    #[test]
    fn whatever_is_put_is_read(builds in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..64), 1..6)) {
        let place = Place::new();
        let digests: Vec<_> = builds.iter().map(|bytes| place.put(bytes)).collect();
        place.store.sweep(&BTreeSet::new());
        for (digest, bytes) in digests.iter().zip(&builds) {
            prop_assert_eq!(&place.store.read(digest).unwrap(), bytes);
        }
    }
}
