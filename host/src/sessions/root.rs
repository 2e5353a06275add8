//! The folder that all sessions are kept below.

use std::path::{Path, PathBuf};

use crate::error::{Code, Error, Result};
use crate::home::{Home, Surroundings, expand_tilde, normalise};
use crate::text;

/// The folder below a host's home where sessions are kept unless told otherwise.
const DEFAULT_FOLDER: &str = "sessions";

/// The folder that all sessions are kept below: absolute, normalised lexically. It need not exist.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SessionsRoot(PathBuf);

impl SessionsRoot {
    /// Takes an absolute path.
    ///
    /// # Errors
    /// `invalid-configuration` for a path that is relative, or that no file system can hold.
    pub fn new(path: &Path) -> Result<Self> {
        let normal = normalise(path, None).ok_or_else(|| {
            invalid(format!("the sessions root {} is not absolute: name it by an absolute path", shown(path)))
        })?;
        if normal.as_os_str().as_encoded_bytes().contains(&0) {
            return Err(invalid("the sessions root has a NUL byte, which no path can have: name another"));
        }
        Ok(Self(normal))
    }

    /// The configured root if there is one, else `sessions` in the home.
    ///
    /// `~`, `~/x` and `~\x` mean the user's home, and a relative path is below the current directory, as
    /// with the home itself.
    ///
    /// # Errors
    /// `invalid-configuration` for a blank root, and where the user's home or the current directory is
    /// needed and not known.
    pub fn resolve(configured: Option<&str>, home: &Home, surroundings: &Surroundings) -> Result<Self> {
        let Some(configured) = configured else {
            return Self::new(&home.path().join(DEFAULT_FOLDER));
        };
        if text::is_blank(configured) {
            return Err(invalid("the configured sessions root is blank: name a folder, or leave the setting out"));
        }
        let expanded = expand_tilde(configured, surroundings.user_home.as_deref())
            .ok_or_else(|| invalid("the user's home is not known: set HOME, or name the sessions root in full"))?;
        let absolute = normalise(&expanded, surroundings.current_dir.as_deref())
            .ok_or_else(|| invalid("the current directory is not known: name the sessions root by an absolute path"))?;
        Self::new(&absolute)
    }

    /// The folder as a path.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.0
    }
}

fn shown(path: &Path) -> String {
    text::shown(&path.display().to_string())
}

fn invalid(message: impl Into<String>) -> Error {
    Error::host(Code::InvalidConfiguration, message)
}
