use std::fs;
use std::io::Write as _;
use std::path::PathBuf;

use super::*;

fn folder() -> tempfile::TempDir {
    tempfile::tempdir().unwrap()
}

fn file(folder: &tempfile::TempDir, content: &[u8]) -> PathBuf {
    let path = folder.path().join("file");
    fs::write(&path, content).unwrap();
    path
}

#[test]
fn a_file_is_read_whole_up_to_the_limit() {
    let folder = folder();
    for (content, limit) in [(&b""[..], 0), (b"", 10), (b"0123456789", 10), (b"0123456789", usize::MAX)] {
        let read = read_regular(&file(&folder, content), limit).unwrap();
        assert_eq!(read.bytes, content);
        assert_eq!(read.metadata.len(), content.len() as u64);
    }
}

#[test]
fn a_file_that_is_too_large_is_refused_unread() {
    struct Unread;
    impl Read for Unread {
        fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
            panic!("it was read");
        }
    }
    let folder = folder();
    let path = file(&folder, b"0123456789");
    assert!(matches!(read_opened(Unread, || fs::metadata(&path), 9), Err(ReadFault::TooLarge(9))));
    // Also one that says it is larger than memory.
    fs::OpenOptions::new().write(true).open(&path).unwrap().set_len(1 << 40).unwrap();
    assert!(matches!(read_regular(&path, 1 << 20), Err(ReadFault::TooLarge(_))));
}

/// Does something to the file at the first read.
struct Meanwhile<F: FnMut()> {
    file: File,
    act: Option<F>,
}

impl<F: FnMut()> Read for Meanwhile<F> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if let Some(mut act) = self.act.take() {
            act();
        }
        self.file.read(buffer)
    }
}

fn read_while(path: &Path, limit: usize, act: impl FnMut()) -> Result<Vec<u8>, ReadFault> {
    let file = File::open(path).unwrap();
    let looked = file.try_clone().unwrap();
    read_opened(Meanwhile { file, act: Some(act) }, || looked.metadata(), limit).map(|read| read.bytes)
}

#[test]
fn a_file_that_grows_while_it_is_read_is_refused() {
    let folder = folder();
    let path = file(&folder, b"01234");
    let grow = |more: &'static [u8]| {
        let path = path.clone();
        move || fs::OpenOptions::new().append(true).open(&path).unwrap().write_all(more).unwrap()
    };
    assert!(matches!(read_while(&path, 100, grow(b"56")), Err(ReadFault::Changed)));
    assert!(matches!(read_while(&path, 100, grow(&[b'x'; 200])), Err(ReadFault::TooLarge(100))));
}

#[test]
fn a_file_that_is_written_to_while_it_is_read_is_refused() {
    let folder = folder();
    let path = file(&folder, b"01234");
    let rewrite = |content: &'static [u8]| {
        let path = path.clone();
        move || {
            let mut file = fs::OpenOptions::new().write(true).truncate(true).open(&path).unwrap();
            file.write_all(content).unwrap();
            // The clock of a file system may be too coarse to see two writes as close as these.
            file.set_modified(std::time::SystemTime::now() + std::time::Duration::from_secs(1)).unwrap();
        }
    };
    assert!(matches!(read_while(&path, 100, rewrite(b"abcde")), Err(ReadFault::Changed)));
    assert!(matches!(read_while(&path, 100, rewrite(b"ab")), Err(ReadFault::Changed)));
}

#[test]
fn a_file_that_is_replaced_while_it_is_read_is_read_as_it_was() {
    let folder = folder();
    let path = file(&folder, b"old");
    let next = folder.path().join("next");
    fs::write(&next, b"new and longer").unwrap();
    assert_eq!(read_while(&path, 100, || fs::rename(&next, &path).unwrap()).unwrap(), b"old");
    let removed = read_while(&path, 100, || fs::remove_file(&path).unwrap());
    assert_eq!(removed.unwrap(), b"new and longer");
}

#[test]
fn what_is_not_there_is_told_apart_from_what_is_no_file() {
    let folder = folder();
    assert!(matches!(read_regular(&folder.path().join("none"), 10), Err(ReadFault::NotFound)));
    assert!(matches!(read_regular(folder.path(), 10), Err(ReadFault::Directory)));
    let below_a_file = file(&folder, b"").join("x");
    assert!(matches!(read_regular(&below_a_file, 10), Err(ReadFault::Other(_))));
    assert!(matches!(read_regular(Path::new("a\0b"), 10), Err(ReadFault::Other(_))));
}

#[cfg(unix)]
mod unix {
    use std::os::unix::fs::{PermissionsExt as _, symlink};

    use super::*;

    fn make_fifo(path: &Path) {
        assert!(std::process::Command::new("mkfifo").arg(path).status().unwrap().success());
    }

    #[test]
    fn nothing_that_could_keep_a_reader_waiting_is_read() {
        let folder = folder();
        let fifo = folder.path().join("fifo");
        make_fifo(&fifo);
        let socket = folder.path().join("socket");
        let _listener = std::os::unix::net::UnixListener::bind(&socket).unwrap();
        for path in [&fifo, &socket, Path::new("/dev/zero"), Path::new("/dev/null")] {
            assert!(matches!(read_regular(path, 10), Err(ReadFault::Special)), "{}", path.display());
        }
    }

    #[test]
    fn a_writer_of_a_fifo_is_not_waited_for_either() {
        let folder = folder();
        let fifo = folder.path().join("fifo");
        make_fifo(&fifo);
        let _both_ends = fs::OpenOptions::new().read(true).write(true).open(&fifo).unwrap();
        assert!(matches!(read_regular(&fifo, 10), Err(ReadFault::Special)));
    }

    #[test]
    fn links_are_followed_unless_they_lead_nowhere() {
        let folder = folder();
        let link = |name: &str, to: &Path| {
            let link = folder.path().join(name);
            symlink(to, &link).unwrap();
            link
        };
        let path = file(&folder, b"x");
        assert_eq!(read_regular(&link("to-file", &path), 10).unwrap().bytes, b"x");
        assert!(matches!(read_regular(&link("to-folder", folder.path()), 10), Err(ReadFault::Directory)));
        assert!(matches!(read_regular(&link("to-nothing", Path::new("none")), 10), Err(ReadFault::NotFound)));
        assert!(matches!(read_regular(&link("loop", Path::new("loop")), 10), Err(ReadFault::LinkLoop)));
    }

    #[test]
    fn a_file_that_this_user_may_not_read_is_told_as_such() {
        if rustix::process::geteuid().is_root() {
            return; // There is no such file.
        }
        let folder = folder();
        let path = file(&folder, b"x");
        fs::set_permissions(&path, fs::Permissions::from_mode(0o000)).unwrap();
        assert!(matches!(read_regular(&path, 10), Err(ReadFault::NotPermitted)));
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn a_pseudo_file_that_has_more_than_it_says_is_refused() {
        assert!(matches!(read_regular(Path::new("/proc/self/status"), 1 << 20), Err(ReadFault::Changed)));
        assert!(matches!(read_regular(Path::new("/proc/self/status"), 10), Err(ReadFault::TooLarge(10))));
    }
}

#[test]
fn each_fault_is_the_second_half_of_a_sentence() {
    let faults = [
        ReadFault::NotFound,
        ReadFault::NotPermitted,
        ReadFault::Directory,
        ReadFault::Special,
        ReadFault::LinkLoop,
        ReadFault::TooLarge(7),
        ReadFault::Changed,
        ReadFault::Other(io::Error::other("the disk is on fire")),
    ];
    let text: Vec<String> = faults.iter().map(|fault| format!("x: {fault}")).collect();
    insta::assert_snapshot!(text.join("\n"), @r"
    x: it does not exist
    x: this user is not permitted to read it
    x: it is a directory and not a file
    x: it is a FIFO, a socket or a device and not a regular file
    x: it is a link that leads to itself
    x: it has more than 7 bytes
    x: it was changed while it was being read
    x: it cannot be read: the disk is on fire
    ");
}
