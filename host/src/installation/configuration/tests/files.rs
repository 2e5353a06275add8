//! A configuration is read from a file that might be anything.

use std::fs;
use std::path::PathBuf;

use super::*;
use crate::home::Surroundings;

struct Folder {
    _folder: tempfile::TempDir,
    home: Home,
    file: PathBuf,
}

impl Folder {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let home = Home::resolve_in(Some(folder.path().as_os_str()), &Surroundings::default()).unwrap();
        Self { file: home.path().join("dsh-env.toml"), home, _folder: folder }
    }

    fn with(text: impl AsRef<[u8]>) -> Self {
        let folder = Self::new();
        fs::write(&folder.file, text).unwrap();
        folder
    }

    fn read(&self) -> Result<Configuration> {
        Configuration::read(&self.home)
    }

    /// The error without the part of it that is different for every folder.
    fn told(&self) -> String {
        let error = self.read().unwrap_err();
        assert_eq!(error.code(), Code::InvalidConfiguration);
        error.message().replace(self.home.as_str(), "HOME")
    }
}

#[test]
fn a_file_that_is_absent_is_the_defaults() {
    let folder = Folder::new();
    let configuration = folder.read().unwrap();
    assert_eq!(configuration.limits, Limits::RESOLVE);
    assert_eq!(configuration.file, folder.file);
    let nowhere = Home::resolve_in(Some(folder.home.path().join("none").as_os_str()), &Surroundings::default());
    assert!(Configuration::read(&nowhere.unwrap()).is_ok());
}

#[test]
fn a_file_is_read_from_the_home() {
    let folder = Folder::with("[contributors.a]\nrequired = true\n");
    let configuration = folder.read().unwrap();
    assert!(configuration.contributors["a"].required);
    let place = configuration.place_of(&configuration.contributors["a"]);
    assert_eq!(place, format!("{}:1", folder.file.display()));
}

#[test]
fn a_mistake_is_told_with_the_whole_path() {
    insta::assert_snapshot!(Folder::with("[limits]\ncpux = 1\n").told(), @r#"HOME/dsh-env.toml:2:1: unknown setting "cpux" in [limits]: did you mean "cpu"?"#);
}

#[test]
fn a_file_that_is_no_text_is_told_with_its_line() {
    insta::assert_snapshot!(Folder::with(b"[limits]\n# caf\xe9\n").told(), @"HOME/dsh-env.toml:2: this is not valid UTF-8: save the file as UTF-8");
}

#[test]
fn a_file_is_at_most_a_mebibyte() {
    let folder = Folder::with("#".repeat(MAX_BYTES));
    assert!(folder.read().is_ok());
    fs::write(&folder.file, "#".repeat(MAX_BYTES + 1)).unwrap();
    insta::assert_snapshot!(folder.told(), @"HOME/dsh-env.toml: the configuration cannot be used, because it has more than 1048576 bytes: shorten it");
}

#[test]
fn a_home_that_is_a_file_is_an_error() {
    let folder = Folder::with("");
    let home = Home::resolve_in(Some(folder.file.as_os_str()), &Surroundings::default()).unwrap();
    assert_eq!(Configuration::read(&home).unwrap_err().code(), Code::InvalidConfiguration);
}

#[cfg(unix)]
mod unix {
    use std::os::unix::fs::{PermissionsExt as _, symlink};

    use super::*;

    #[test]
    fn what_is_no_regular_file_is_told_and_not_waited_for() {
        let folder = Folder::new();
        let mut told = Vec::new();
        fs::create_dir(&folder.file).unwrap();
        told.push(folder.told());
        fs::remove_dir(&folder.file).unwrap();
        assert!(std::process::Command::new("mkfifo").arg(&folder.file).status().unwrap().success());
        told.push(folder.told());
        for target in ["/dev/zero", "dsh-env.toml"] {
            fs::remove_file(&folder.file).unwrap();
            symlink(target, &folder.file).unwrap();
            told.push(folder.told());
        }
        insta::assert_snapshot!(told.join("\n"), @r"
        HOME/dsh-env.toml: the configuration cannot be used, because it is a directory and not a file: move it away
        HOME/dsh-env.toml: the configuration cannot be used, because it is a FIFO, a socket or a device and not a regular file: move it away
        HOME/dsh-env.toml: the configuration cannot be used, because it is a FIFO, a socket or a device and not a regular file: move it away
        HOME/dsh-env.toml: the configuration cannot be used, because it is a link that leads to itself: remove it, or put a file there
        ");
    }

    #[test]
    fn a_link_to_a_file_is_followed_and_one_to_nothing_is_a_mistake() {
        let folder = Folder::new();
        let target = folder.home.path().join("target.toml");
        symlink(&target, &folder.file).unwrap();
        assert_eq!(folder.read().unwrap_err().code(), Code::InvalidConfiguration);
        fs::write(&target, "[contributors.a]\n").unwrap();
        assert_eq!(folder.read().unwrap().contributors.len(), 1);
    }

    #[test]
    fn a_file_or_a_home_that_others_can_write_to_is_refused_unread() {
        let folder = Folder::with("this is not even TOML");
        fs::set_permissions(&folder.file, fs::Permissions::from_mode(0o664)).unwrap();
        let error = folder.read().unwrap_err();
        assert_eq!(error.code(), Code::UnsafePermissions);
        assert!(error.message().ends_with(&format!("chmod go-w {}", folder.file.display())), "{error}");
        fs::set_permissions(folder.home.path(), fs::Permissions::from_mode(0o777)).unwrap();
        let error = folder.read().unwrap_err();
        assert!(error.message().ends_with(&format!("chmod go-w {}", folder.home.as_str())), "{error}");
    }

    #[test]
    fn a_link_to_a_file_that_others_can_write_to_is_refused() {
        let folder = Folder::new();
        let target = folder.home.path().join("target.toml");
        fs::write(&target, "").unwrap();
        fs::set_permissions(&target, fs::Permissions::from_mode(0o666)).unwrap();
        symlink(&target, &folder.file).unwrap();
        assert_eq!(folder.read().unwrap_err().code(), Code::UnsafePermissions);
    }
}
