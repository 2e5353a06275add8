//! Where a host lives: one absolute path, chosen by one rule.
//!
//! The home chooses which code runs and what it is granted, so whoever can write to it can do as much
//! as the host. [`permissions`] checks that nobody else can.

pub mod permissions;
mod rule;

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

use serde::Serialize;

use crate::contract::PREFIX;
use crate::error::{Code, Error, Result};
use crate::text;

pub use rule::{expand_tilde, normalise};

/// The folder below the user's home where a host lives unless told otherwise.
const DEFAULT_FOLDER: &str = ".dsh";

/// The home of a host: absolute, normalised lexically, valid UTF-8.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Home {
    path: String,
    rule: HomeRule,
}

/// Which rule chose a home.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum HomeRule {
    /// The caller named it.
    Configured,
    /// The host's own environment named it.
    Ambient,
    /// Nobody did.
    Default,
}

/// What a home is resolved from. [`Surroundings::of_process`] reads the real ones.
#[derive(Clone, Debug, Default)]
pub struct Surroundings {
    /// The ambient `DSH_HOME`.
    pub ambient: Option<OsString>,
    /// The user's home.
    pub user_home: Option<PathBuf>,
    /// The current directory, absolute.
    pub current_dir: Option<PathBuf>,
}

impl Surroundings {
    /// Those of this process. Nothing on disk is touched.
    #[must_use]
    pub fn of_process() -> Self {
        Self {
            ambient: std::env::var_os(format!("{PREFIX}HOME")),
            user_home: dirs::home_dir(),
            current_dir: std::env::current_dir().ok(),
        }
    }
}

impl Home {
    /// The home of this process: `configured` if given, else the ambient `DSH_HOME` unless it is blank,
    /// else `~/.dsh`.
    ///
    /// # Errors
    /// As [`resolve_in`](Self::resolve_in).
    pub fn resolve(configured: Option<&OsStr>) -> Result<Self> {
        Self::resolve_in(configured, &Surroundings::of_process())
    }

    /// The home in given surroundings. `~`, `~/x` and `~\x` mean the user's home; then the path is made
    /// absolute and normalised lexically: no link is followed, and nothing need exist.
    ///
    /// # Errors
    /// `invalid-configuration` for a blank configured home, for one that is not UTF-8 or has a NUL byte,
    /// and where the user's home or the current directory is needed and not known.
    pub fn resolve_in(configured: Option<&OsStr>, surroundings: &Surroundings) -> Result<Self> {
        let (text, rule) = choose(configured, surroundings.ambient.as_deref())?;
        let user_home = surroundings.user_home.as_deref();
        let expanded = expand_tilde(&text, user_home)
            .ok_or_else(|| invalid("the user's home is not known: set HOME, or name the home in full"))?;
        let absolute = normalise(&expanded, surroundings.current_dir.as_deref())
            .ok_or_else(|| invalid("the current directory is not known: name the home by an absolute path"))?;
        let path = absolute.into_os_string().into_string().map_err(|_| {
            invalid("the home is not valid UTF-8, which a variable for every shell needs: name another")
        })?;
        if path.contains('\0') {
            return Err(invalid("the home has a NUL byte, which no path can have: name another"));
        }
        Ok(Self { path, rule })
    }

    /// The home as a path.
    #[must_use]
    pub fn path(&self) -> &Path {
        Path::new(&self.path)
    }

    /// The home as text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.path
    }

    /// Which rule chose it.
    #[must_use]
    pub fn rule(&self) -> HomeRule {
        self.rule
    }

    /// The one home that two parts of a composition were both given.
    ///
    /// # Errors
    /// `contradictory-homes`, naming both parts, when they differ.
    pub fn agreed(one: (&str, Self), other: (&str, Self)) -> Result<Self> {
        if one.1.path == other.1.path {
            return Ok(one.1);
        }
        Err(Error::host(
            Code::ContradictoryHomes,
            format!(
                "{} has its home at {} and {} at {}: give both the same",
                one.0,
                text::shown(&one.1.path),
                other.0,
                text::shown(&other.1.path)
            ),
        ))
    }
}

fn choose(configured: Option<&OsStr>, ambient: Option<&OsStr>) -> Result<(String, HomeRule)> {
    let utf8 = |text: &OsStr, whose: &str| {
        text.to_str()
            .map(str::to_owned)
            .ok_or_else(|| invalid(format!("the {whose} home is not valid UTF-8: name another")))
    };
    if let Some(configured) = configured {
        let text = utf8(configured, "configured")?;
        if text::is_blank(&text) {
            return Err(invalid("the configured home is blank: name a folder, or leave the setting out"));
        }
        return Ok((text, HomeRule::Configured));
    }
    if let Some(ambient) = ambient {
        let text = utf8(ambient, "inherited")?;
        if !text::is_blank(&text) {
            return Ok((text, HomeRule::Ambient));
        }
    }
    Ok((format!("~/{DEFAULT_FOLDER}"), HomeRule::Default))
}

fn invalid(message: impl Into<String>) -> Error {
    Error::host(Code::InvalidConfiguration, message)
}

#[cfg(test)]
mod tests;
