//! When a file needs not be read again.

use std::fs::{File, OpenOptions, Permissions};
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::PermissionsExt as _;

use proptest::prelude::*;
use tempfile::TempDir;

use super::super::digest_of;
use super::*;

/// A state, and a file beside it that was written long ago.
struct Place {
    state: TempDir,
    file: PathBuf,
}

impl Place {
    fn new() -> Self {
        let state = tempfile::tempdir().unwrap();
        let file = state.path().join("a.wasm");
        fs::write(&file, "a build").unwrap();
        Self { state, file }
    }

    fn known(&self) -> KnownFiles {
        KnownFiles::of(self.state.path())
    }

    /// What is known, after somebody read the file a while after it was written.
    fn read(&self) -> KnownFiles {
        let mut known = self.known();
        known.put(&self.file, fingerprint(&self.file).unwrap(), &digest_of(b"a build"), later());
        known
    }

    fn digest(&self, known: &KnownFiles) -> Option<String> {
        known.get(&self.file, &fingerprint(&self.file)?).map(str::to_owned)
    }

    fn kept(&self) -> PathBuf {
        self.state.path().join("files.json")
    }
}

/// Long enough from now that clocks cannot hide a change.
fn later() -> SystemTime {
    SystemTime::now() + Duration::from_secs(3)
}

fn keep(known: &mut KnownFiles) {
    known.save(|_| true);
}

/// Something that looks like this.
fn looks(modified: Duration, changed: Duration) -> Fingerprint {
    let nanoseconds = |time: Duration| i128::try_from(time.as_nanos()).unwrap();
    Fingerprint { device: 1, inode: 2, size: 3, modified: nanoseconds(modified), changed: nanoseconds(changed) }
}

#[test]
fn a_file_is_known_as_long_as_it_looks_the_same() {
    let place = Place::new();
    let known = place.read();
    assert_eq!(place.digest(&known), Some(digest_of(b"a build")));
    assert_eq!(known.get(Path::new("/another"), &fingerprint(&place.file).unwrap()), None);
    assert_eq!(place.digest(&place.known()), None, "nothing was saved");
}

#[test]
fn a_file_that_looks_otherwise_is_not_known() {
    type Change = fn(&Path);
    let changes: [(&str, Change); 5] = [
        ("size", |file| fs::write(file, "a longer build").unwrap()),
        ("time of the content", |file| {
            OpenOptions::new().write(true).open(file).unwrap().set_modified(SystemTime::UNIX_EPOCH).unwrap();
        }),
        ("time of the status", |file| {
            // The time of the content is put back, as by whoever wants nobody to notice.
            let before = fs::metadata(file).unwrap().modified().unwrap();
            fs::write(file, "another").unwrap();
            File::open(file).unwrap().set_modified(before).unwrap();
        }),
        ("inode", |file| {
            let other = file.with_extension("new");
            fs::write(&other, "a build").unwrap();
            File::open(&other).unwrap().set_modified(fs::metadata(file).unwrap().modified().unwrap()).unwrap();
            fs::rename(other, file).unwrap();
        }),
        ("mode", |file| fs::set_permissions(file, Permissions::from_mode(0o600)).unwrap()),
    ];
    for (what, change) in changes {
        let place = Place::new();
        let known = place.read();
        // Clocks of file systems are coarse.
        std::thread::sleep(Duration::from_millis(20));
        change(&place.file);
        assert_eq!(place.digest(&known), None, "{what}");
    }
    let place = Place::new();
    let known = place.read();
    fs::remove_file(&place.file).unwrap();
    assert_eq!(fingerprint(&place.file), None);
    assert_eq!(place.digest(&known), None);
}

#[test]
fn a_link_looks_like_what_it_leads_to() {
    let place = Place::new();
    let link = place.state.path().join("link.wasm");
    std::os::unix::fs::symlink(&place.file, &link).unwrap();
    assert_eq!(fingerprint(&link), fingerprint(&place.file));
}

#[test]
fn a_file_that_changed_within_two_seconds_of_being_read_is_read_again() {
    let (second, read) = (Duration::from_secs(1), UNIX_EPOCH + Duration::from_secs(1000));
    let ago = |time: Duration| Duration::from_secs(1000).saturating_sub(time);
    let just = Duration::from_nanos(1);
    let long_ago = ago(500 * second);
    for (modified, changed, tells) in [
        (long_ago, long_ago, true),
        (ago(2 * second + just), long_ago, true),
        (long_ago, ago(2 * second + just), true),
        (ago(2 * second), long_ago, false),
        (long_ago, ago(2 * second), false),
        (ago(second), ago(second), false),
        (ago(Duration::ZERO), long_ago, false),
        // By a clock that is ahead.
        (Duration::from_secs(5000), long_ago, false),
        (long_ago, Duration::from_secs(5000), false),
    ] {
        let looks = looks(modified, changed);
        assert_eq!(looks.tells(read), tells, "{looks:?}");
        let mut known = KnownFiles::of(Path::new("/nowhere"));
        known.put(Path::new("/a"), looks, &digest_of(b"x"), read);
        assert_eq!(known.get(Path::new("/a"), &looks).is_some(), tells, "{looks:?}");
    }
    assert!(!looks(long_ago, long_ago).tells(UNIX_EPOCH - second));
}

#[test]
fn what_was_written_just_now_is_not_remembered() {
    let place = Place::new();
    let mut known = place.known();
    known.put(&place.file, fingerprint(&place.file).unwrap(), &digest_of(b"a build"), SystemTime::now());
    assert_eq!(place.digest(&known), None);
    keep(&mut known);
    assert!(!place.kept().exists());
}

#[test]
fn what_is_saved_is_known_to_the_next_process() {
    let place = Place::new();
    let mut known = place.read();
    keep(&mut known);
    let mut again = place.known();
    assert_eq!(place.digest(&again), Some(digest_of(b"a build")));
    let mode = fs::metadata(place.kept()).unwrap().permissions().mode();
    assert_eq!(mode & 0o077, 0);
    // Nothing is written where nothing is new.
    let before = Fingerprint::of(&fs::metadata(place.kept()).unwrap());
    again.put(&place.file, fingerprint(&place.file).unwrap(), &digest_of(b"a build"), later());
    keep(&mut again);
    assert_eq!(Fingerprint::of(&fs::metadata(place.kept()).unwrap()), before);
    // A new digest is.
    again.put(&place.file, fingerprint(&place.file).unwrap(), &digest_of(b"other"), later());
    keep(&mut again);
    assert_eq!(place.digest(&place.known()), Some(digest_of(b"other")));
}

#[test]
fn what_is_not_there_any_more_is_forgotten() {
    let place = Place::new();
    let mut known = place.read();
    known.put(Path::new("/gone.wasm"), looks(Duration::ZERO, Duration::ZERO), &digest_of(b"x"), later());
    known.save(|file| file == place.file);
    let again = place.known();
    assert_eq!(place.digest(&again), Some(digest_of(b"a build")));
    assert_eq!(again.get(Path::new("/gone.wasm"), &looks(Duration::ZERO, Duration::ZERO)), None);
    let mut again = again;
    again.save(|_| false);
    assert_eq!(place.digest(&place.known()), None);
}

#[test]
fn a_file_of_something_else_is_as_good_as_none() {
    let place = Place::new();
    let mut known = place.read();
    keep(&mut known);
    let good = fs::read_to_string(place.kept()).unwrap();
    let wrong = good.replace(&digest_of(b"a build"), "no digest");
    for text in ["", "{}", "[]", "[1]", "null", "[[\"/a\"]]", "\u{0}", &good[..good.len() - 1], &wrong] {
        fs::write(place.kept(), text).unwrap();
        let mut known = place.known();
        assert_eq!(place.digest(&known), None, "{text:?}");
        known.put(&place.file, fingerprint(&place.file).unwrap(), &digest_of(b"a build"), later());
        keep(&mut known);
        assert_eq!(place.digest(&place.known()), Some(digest_of(b"a build")));
    }
    fs::write(place.kept(), b"[\xff]").unwrap();
    assert_eq!(place.digest(&place.known()), None);
    File::create(place.kept()).unwrap().set_len(MAX_BYTES as u64 + 1).unwrap();
    assert_eq!(place.digest(&place.known()), None);
}

#[test]
fn what_others_may_have_written_is_not_believed() {
    let place = Place::new();
    let mut known = place.read();
    keep(&mut known);
    fs::set_permissions(place.kept(), Permissions::from_mode(0o666)).unwrap();
    assert_eq!(place.digest(&place.known()), None);
}

#[test]
fn a_state_that_cannot_be_written_keeps_nothing_and_fails_nothing() {
    let place = Place::new();
    let mut known = KnownFiles::of(&place.state.path().join("gone"));
    known.put(&place.file, fingerprint(&place.file).unwrap(), &digest_of(b"a build"), later());
    keep(&mut known);
    assert_eq!(place.digest(&known), Some(digest_of(b"a build")));
}

#[test]
fn a_name_that_is_no_text_does_not_keep_the_others_from_being_kept() {
    let place = Place::new();
    let mut known = place.read();
    let other = Path::new(std::ffi::OsStr::from_bytes(b"/\xff.wasm"));
    known.put(other, looks(Duration::ZERO, Duration::ZERO), &digest_of(b"x"), later());
    keep(&mut known);
    assert_eq!(place.digest(&place.known()), Some(digest_of(b"a build")));
}

proptest! {
    #[test]
    fn whatever_can_be_told_is_read_as_it_was_saved(
        files in prop::collection::btree_map("/\\PC{1,12}", (any::<[u64; 3]>(), any::<[i64; 2]>(), any::<u8>()), 0..5)
    ) {
        let state = tempfile::tempdir().unwrap();
        let mut known = KnownFiles::of(state.path());
        let far = UNIX_EPOCH + Duration::from_secs(u64::from(u32::MAX) * 8);
        let files: Vec<_> = files.into_iter().map(|(file, ([device, inode, size], [modified, changed], number))| {
            let looks = Fingerprint { device, inode, size, modified: modified.into(), changed: changed.into() };
            (PathBuf::from(file), looks, digest_of(&[number]))
        }).collect();
        for (file, looks, digest) in &files {
            known.put(file, *looks, digest, far);
        }
        keep(&mut known);
        let known = KnownFiles::of(state.path());
        for (file, looks, digest) in &files {
            prop_assert_eq!(known.get(file, looks), Some(digest.as_str()));
        }
    }
}
