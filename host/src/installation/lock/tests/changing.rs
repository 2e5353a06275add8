//! Changes, also by many at once.

use std::env;
use std::os::unix::fs::PermissionsExt as _;
use std::process::Command;
use std::thread;

use super::*;

/// Accepts a build of a name.
fn accept(file: &LockFile, text: &str, number: u64) {
    file.edit(|lock| {
        lock.accept(&name(text), &format!("{text}.wasm"), build(number, &[]));
        Ok(())
    })
    .unwrap();
}

#[test]
fn a_change_is_on_disk_and_answers() {
    let place = Place::new();
    accept(&place.file, "a", 1);
    let answer = place.file.edit(|lock| {
        lock.accept(&name("b"), "b.wasm", build(2, &["DSH_B"]));
        Ok(lock.entries().count())
    });
    assert_eq!(answer.unwrap(), 2);
    assert_eq!(lock_file(place.folder.path()).read().unwrap().owner("DSH_B"), Some(&name("b")));
    assert_eq!(place.names(), ["dsh-env.lock"]);
    let mode = fs::metadata(place.file.path()).unwrap().permissions().mode();
    assert_eq!(mode & 0o022, 0, "nobody else can write it");
}

#[test]
fn a_change_that_fails_changes_nothing() {
    let place = Place::new();
    accept(&place.file, "a", 1);
    let before = fs::read(place.file.path()).unwrap();
    let error = Error::host(Code::ContributorNotFound, "no");
    let failed = place.file.edit(|lock| {
        lock.forget("a");
        Err::<(), _>(error.clone())
    });
    assert_eq!(failed.unwrap_err(), error);
    assert_eq!(fs::read(place.file.path()).unwrap(), before);
    // And it is not locked any more, not even by one that panicked.
    let panicked = std::panic::catch_unwind(|| place.file.edit(|_| -> Result<(), Error> { panic!("on purpose") }));
    assert!(panicked.is_err());
    accept(&place.file, "b", 2);
}

#[test]
fn a_home_that_is_not_there_is_told() {
    let place = Place::new();
    let file = lock_file(&place.folder.path().join("gone"));
    assert_eq!(file.read().unwrap(), Lock::default());
    let error = file.edit(|_| Ok(())).unwrap_err();
    assert_eq!(error.code(), Code::InvalidConfiguration);
    assert!(error.message().contains("cannot be written, so nothing was changed"), "{error}");
}

#[test]
fn what_a_writer_left_that_was_killed_is_never_read_and_goes_with_the_next_change() {
    let place = Place::new();
    let left = place.folder.path().join(".dsh-env.lock-abc123");
    fs::write(&left, "version = 1\n[contributors.torn").unwrap();
    fs::write(place.folder.path().join("dsh-env.lock-mine"), "mine").unwrap();
    assert_eq!(place.file.read().unwrap(), Lock::default());
    place.file.edit(|_| Ok(())).unwrap();
    assert!(left.exists(), "nothing was written");
    accept(&place.file, "a", 1);
    assert_eq!(place.names(), ["dsh-env.lock", "dsh-env.lock-mine"]);
}

#[test]
fn changes_of_many_threads_lose_nothing_and_readers_see_whole_files() {
    let place = Place::new();
    thread::scope(|scope| {
        for writer in 0..8 {
            let place = &place;
            scope.spawn(move || {
                // Each has opened it by itself, as another process would.
                let file = lock_file(place.folder.path());
                for number in 0..10 {
                    accept(&file, &format!("c{writer}-{number}"), number);
                }
            });
        }
        scope.spawn(|| {
            let mut most = 0;
            while most < 80 {
                let now = place.file.read().unwrap().entries().count();
                assert!(now >= most, "what was accepted is not lost again");
                most = now;
            }
        });
    });
    assert_eq!(place.file.read().unwrap().entries().count(), 80);
    assert_eq!(place.names(), ["dsh-env.lock"]);
}

#[test]
fn changes_of_two_processes_lose_nothing() {
    const ROLE: &str = "LOCK_TEST_HOME";
    const TURNS: u64 = 40;
    let change = |home: &Path, of: &str| {
        let file = lock_file(home);
        for number in 1..=TURNS {
            accept(&file, &format!("{of}-{number}"), number);
        }
    };
    if let Some(home) = env::var_os(ROLE) {
        return change(Path::new(&home), "other");
    }
    let place = Place::new();
    let test = "installation::lock::tests::changing::changes_of_two_processes_lose_nothing";
    let mut other = Command::new(env::current_exe().unwrap());
    let mut other = other.args(["--exact", test]).env(ROLE, place.folder.path()).spawn().unwrap();
    change(place.folder.path(), "this");
    assert!(other.wait().unwrap().success());
    assert_eq!(place.file.read().unwrap().entries().count(), 2 * usize::try_from(TURNS).unwrap());
}

#[test]
fn whoever_is_killed_leaves_the_old_file_or_the_new_one() {
    const ROLE: &str = "LOCK_TEST_KILLED_HOME";
    if let Some(home) = env::var_os(ROLE) {
        let file = lock_file(Path::new(&home));
        for number in 1.. {
            accept(&file, &format!("c{}", number % 50), number);
        }
    }
    let place = Place::new();
    let test = "installation::lock::tests::changing::whoever_is_killed_leaves_the_old_file_or_the_new_one";
    for turn in 0..5 {
        let mut other = Command::new(env::current_exe().unwrap());
        let mut other = other.args(["--exact", test]).env(ROLE, place.folder.path()).spawn().unwrap();
        while place.file.read().unwrap().entries().count() < 5 * (turn + 1) {
            thread::yield_now();
        }
        other.kill().unwrap();
        other.wait().unwrap();
        accept(&place.file, "after", turn as u64);
        assert_eq!(place.names(), ["dsh-env.lock"]);
    }
}
