use std::ffi::OsStr;

use super::*;
use crate::home::Surroundings;

fn home(folder: &tempfile::TempDir) -> Home {
    Home::resolve_in(Some(folder.path().as_os_str()), &Surroundings::default()).unwrap()
}

#[test]
fn the_installed_files_are_those_a_shell_would_list() {
    let folder = tempfile::tempdir().unwrap();
    let contributors = folder.path().join("contributors");
    assert!(installed(&home(&folder)).unwrap().is_empty(), "a folder that does not exist has none");
    fs::create_dir(&contributors).unwrap();
    assert!(installed(&home(&folder)).unwrap().is_empty());
    for name in ["b.wasm", "a.wasm", "ü b.wasm", ".hidden.wasm", ".wasm", "a.wasm.part", "a.wat", "wasm", "A.WASM"] {
        fs::write(contributors.join(name), "").unwrap();
    }
    fs::create_dir(contributors.join("folder.wasm")).unwrap();
    let files = installed(&home(&folder)).unwrap();
    let names: Vec<&OsStr> = files.iter().map(|file| file.file_name().unwrap()).collect();
    assert_eq!(names, ["a.wasm", "b.wasm", "folder.wasm", "ü b.wasm"]);
    assert!(files.iter().all(|file| file.is_absolute()));
}

#[test]
fn a_folder_that_is_none_is_an_error_and_not_an_empty_one() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("contributors"), "").unwrap();
    let error = installed(&home(&folder)).unwrap_err();
    assert_eq!(error.code(), Code::InvalidConfiguration);
}

#[test]
fn what_cannot_be_read_says_why_and_what_to_do() {
    let folder = tempfile::tempdir().unwrap();
    let told = |file: &Path| read_component(file).unwrap_err().to_string();
    let large = folder.path().join("large.wasm");
    fs::File::create(&large).unwrap().set_len(64 * 1024 * 1024 + 1).unwrap();
    let messages = [told(&folder.path().join("none.wasm")), told(folder.path()), told(&large)];
    insta::assert_snapshot!(messages.join("\n"), @r"
    it does not exist: name the file of a component (unreadable)
    it is a directory and not a file: name the file of a component (unreadable)
    it has more than 67108864 bytes: build it smaller, without debugging information for instance (too-large)
    ");
    fs::File::create(&large).unwrap().set_len(64 * 1024 * 1024).unwrap();
    assert_eq!(read_component(&large).unwrap().len(), 64 * 1024 * 1024);
}

#[cfg(unix)]
#[test]
fn what_others_can_write_to_is_read_only_where_the_caller_chose_it() {
    use std::os::unix::fs::PermissionsExt as _;

    let folder = tempfile::tempdir().unwrap();
    let contributors = folder.path().join("contributors");
    fs::create_dir(&contributors).unwrap();
    let file = contributors.join("a.wasm");
    fs::write(&file, "x").unwrap();
    assert_eq!(read_installed(&file).unwrap(), b"x");
    fs::set_permissions(&file, fs::Permissions::from_mode(0o666)).unwrap();
    assert_eq!(read_component(&file).unwrap(), b"x");
    assert_eq!(read_installed(&file).unwrap_err().code(), Code::UnsafePermissions);
    fs::set_permissions(&contributors, fs::Permissions::from_mode(0o777)).unwrap();
    assert_eq!(installed(&home(&folder)).unwrap_err().code(), Code::UnsafePermissions);
}
