#![cfg(unix)]

use std::fs::{self, Permissions};
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::{Path, PathBuf};

use crate::error::{Code, Error};
use crate::home::permissions::check;

/// A folder of this user's that nobody else can write to.
struct Folder(tempfile::TempDir);

impl Folder {
    fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    /// A folder in this one with a mode of its own, whatever the umask.
    fn folder(&self, name: &str, mode: u32) -> PathBuf {
        let path = self.0.path().join(name);
        fs::create_dir(&path).unwrap();
        set_mode(&path, mode);
        path
    }

    /// A file in this folder with a mode of its own.
    fn file(&self, name: &str, mode: u32) -> PathBuf {
        let path = self.0.path().join(name);
        fs::write(&path, "").unwrap();
        set_mode(&path, mode);
        path
    }
}

fn set_mode(path: &Path, mode: u32) {
    fs::set_permissions(path, Permissions::from_mode(mode)).unwrap();
}

fn refusal(path: &Path) -> Error {
    let error = check(path).unwrap_err();
    assert_eq!(error.code(), Code::UnsafePermissions);
    error
}

#[test]
fn what_only_its_owner_can_write_to_is_safe() {
    let folder = Folder::new();
    for mode in [0o700, 0o755, 0o555, 0o2755] {
        check(&folder.folder(&format!("{mode:o}"), mode)).unwrap();
    }
    check(&folder.file("private", 0o600)).unwrap();
    check(&folder.file("read-only", 0o444)).unwrap();
}

#[test]
fn what_others_can_write_to_is_refused_with_the_command_that_mends_it() {
    let folder = Folder::new();
    for path in [
        folder.folder("everybody", 0o777),
        folder.folder("sticky", 0o1777),
        folder.folder("group", 0o770),
        folder.file("group-file", 0o660),
        folder.file("world-file", 0o602),
    ] {
        let error = refusal(&path);
        let mend = format!("chmod go-w {}", path.display());
        assert!(error.message().ends_with(&mend), "{error}");
        let status = std::process::Command::new("sh").args(["-c", &mend]).status().unwrap();
        assert!(status.success());
        check(&path).unwrap();
    }
}

#[test]
fn the_mode_is_told_so_that_a_reader_can_see_why() {
    let folder = Folder::new();
    let error = refusal(&folder.folder("x", 0o775));
    assert!(error.message().contains("(mode 0775)"), "{error}");
}

#[test]
fn the_command_mends_a_name_that_a_shell_would_take_apart() {
    let folder = Folder::new();
    let path = folder.folder("it's $(touch x) ; a name", 0o777);
    let error = refusal(&path);
    let (_, mend) = error.message().split_once("To mend it: ").unwrap();
    assert!(std::process::Command::new("sh").args(["-c", mend]).status().unwrap().success());
    check(&path).unwrap();
}

#[test]
fn a_link_is_as_safe_as_what_it_leads_to() {
    let folder = Folder::new();
    let link = |name: &str, to: &Path| {
        let link = folder.0.path().join(name);
        symlink(to, &link).unwrap();
        link
    };
    check(&link("to-safe", &folder.folder("safe", 0o755))).unwrap();
    refusal(&link("to-unsafe", &folder.folder("unsafe", 0o777)));
    check(&link("to-nothing", Path::new("nowhere"))).unwrap();
}

#[test]
fn what_does_not_exist_is_safe() {
    check(&Folder::new().0.path().join("missing")).unwrap();
}

#[test]
fn what_belongs_to_another_user_is_refused_with_the_command_that_mends_it() {
    if !rustix::process::geteuid().is_root() {
        return; // Nobody else can give a file away.
    }
    let folder = Folder::new();
    let path = folder.folder("foreign", 0o700);
    std::os::unix::fs::chown(&path, Some(4711), None).unwrap();
    let error = refusal(&path);
    assert!(error.message().contains("belongs to user 4711"), "{error}");
    let mend = format!("chown 0 {}", path.display());
    assert!(error.message().ends_with(&mend), "{error}");
    assert!(std::process::Command::new("sh").args(["-c", &mend]).status().unwrap().success());
    check(&path).unwrap();
}
