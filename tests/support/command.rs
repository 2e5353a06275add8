//! Running the real command in a place of its own.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use serde_json::Value;

/// A folder that is gone after the test, with a home for the host and one for the user, and the command
/// in an environment that has nothing else.
pub struct Place {
    folder: tempfile::TempDir,
}

impl Place {
    pub fn new() -> Self {
        let place = Self { folder: tempfile::tempdir().unwrap() };
        std::fs::create_dir(place.user_home()).unwrap();
        place
    }

    pub fn path(&self) -> &Path {
        self.folder.path()
    }

    pub fn user_home(&self) -> PathBuf {
        self.path().join("user")
    }

    /// The host's home; made when something is put there.
    pub fn home(&self) -> PathBuf {
        self.path().join("home")
    }

    /// Writes a file, with the folders that it needs, and answers with its path.
    pub fn write(&self, name: &str, content: impl AsRef<[u8]>) -> PathBuf {
        let path = self.path().join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, content).unwrap();
        path
    }

    /// Installs a component.
    pub fn install(&self, name: &str, component: impl AsRef<[u8]>) -> PathBuf {
        self.write(&format!("home/contributors/{name}.wasm"), component)
    }

    /// Writes the configuration.
    pub fn configure(&self, text: &str) {
        self.write("home/dsh-env.toml", text);
    }

    /// The command, not yet started.
    pub fn command<I: AsRef<OsStr>>(&self, arguments: impl IntoIterator<Item = I>) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_dsh-env"));
        command.args(arguments).env_clear().current_dir(self.path());
        command
            .env("PATH", std::env::var_os("PATH").unwrap())
            .env("HOME", self.user_home())
            .env("DSH_HOME", self.home());
        command
    }

    /// Runs the command.
    pub fn run<I: AsRef<OsStr>>(&self, arguments: impl IntoIterator<Item = I>) -> Run {
        Run(self.command(arguments).output().unwrap())
    }
}

/// What a command did.
pub struct Run(pub Output);

impl Run {
    pub fn status(&self) -> i32 {
        self.0.status.code().unwrap_or_else(|| panic!("it was killed: {:?}", self.0.status))
    }

    pub fn stdout(&self) -> String {
        String::from_utf8(self.0.stdout.clone()).unwrap()
    }

    pub fn stderr(&self) -> String {
        String::from_utf8(self.0.stderr.clone()).unwrap()
    }

    /// Itself, if the status is this one.
    pub fn expect(self, status: i32) -> Self {
        assert_eq!(self.status(), status, "stdout: {}\nstderr: {}", self.stdout(), self.stderr());
        self
    }

    /// Standard output as JSON.
    pub fn json(&self) -> Value {
        serde_json::from_str(&self.stdout()).unwrap_or_else(|error| panic!("{error}: {}", self.stdout()))
    }
}
