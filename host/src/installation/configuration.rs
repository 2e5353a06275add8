//! What the operator wants: `dsh-env.toml` in the home.
//!
//! Every setting has a default, so the file may be missing. What is in it is read strictly: a setting that
//! does not exist, or that this version does not have, is an error with its line and never ignored. The
//! result is plain data.

mod grants;
mod harness;
mod policies;
mod reader;
mod server;
mod settings;
mod telemetry;
mod trust;
mod units;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use super::trust::TrustSettings;
use crate::contract::ContributorName;
use crate::error::{Code, Error, Result};
use crate::facts::FactSettings;
use crate::file::{ReadFault, read_regular};
use crate::home::{Home, permissions};
use crate::registry::{Terms, ValueLimits};
use crate::sandbox::{DEFAULT_CACHE_BYTES, Grants, Limits, Settings};
use crate::sessions::{Backend, Compression};
use crate::text::shown;
pub use grants::read_grants;
pub use harness::{HooksSettings, SkillsSettings, ToolsSettings};
use reader::Document;
pub use server::{ServerSettings, Watch};
pub use telemetry::TelemetrySettings;
pub use trust::{OnDifference, ShadowSettings};

/// The file in the home.
const FILE_NAME: &str = "dsh-env.toml";

/// The most bytes of a configuration: thousands of contributors, and still read in no time.
const MAX_BYTES: usize = 1024 * 1024;

/// What the operator wants of a host.
#[derive(Clone, Debug, Default)]
pub struct Configuration {
    /// The file it was read from, whether or not there is one.
    pub file: PathBuf,
    /// What a call of a contributor may use that has no limits of its own.
    pub limits: Limits,
    /// What an answer of a contributor may be that has no limits of its own.
    pub values: ValueLimits,
    /// Which builds go live by themselves.
    pub trust: TrustSettings,
    /// The sections of contributors, whether or not these are installed.
    pub contributors: BTreeMap<ContributorName, ContributorSettings>,
    /// How sessions are kept.
    pub sessions: SessionsSettings,
    /// How compiled code is kept.
    pub cache: CacheSettings,
    /// Which tools a model is offered.
    pub tools: ToolsSettings,
    /// Which hooks are run.
    pub hooks: HooksSettings,
    /// Where skills are.
    pub skills: SkillsSettings,
    /// The facts that a host which goes on finds out, by their names.
    pub facts: BTreeMap<String, FactSettings>,
    /// How a host which goes on does so.
    pub server: ServerSettings,
    /// What a host tells of itself.
    pub telemetry: TelemetrySettings,
}

/// What the operator wants of one contributor.
#[derive(Clone, Debug)]
pub struct ContributorSettings {
    /// Whether it takes part at all.
    pub enabled: bool,
    /// Whether no overlay may be made without it.
    pub required: bool,
    /// What a call of it may use.
    pub limits: Limits,
    /// What is demanded of its answers, and what happens when it fails.
    pub terms: Terms,
    /// What it sees beyond the execution.
    pub grants: Grants,
    /// Its settings, whether or not it is granted to read them.
    pub settings: Settings,
    /// How its new builds are tried before they go live; nothing where they are not.
    pub shadow: Option<ShadowSettings>,
    /// The line of the file, from 1, that its section begins in.
    pub line: usize,
}

/// How sessions are kept.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SessionsSettings {
    /// The folder for all of them as it was written: `~` is not expanded, and it may be relative.
    pub root: Option<String>,
    /// Which kind of service keeps them.
    pub backend: Backend,
    /// How their files are compressed.
    pub compression: Compression,
}

/// How compiled code is kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CacheSettings {
    /// The most bytes of it.
    pub size: u64,
}

impl Default for CacheSettings {
    fn default() -> Self {
        Self { size: DEFAULT_CACHE_BYTES }
    }
}

impl Configuration {
    /// Reads the configuration of a home; without a file it is the defaults.
    ///
    /// # Errors
    /// `unsafe-permissions` where others can write to the home or the file; `invalid-configuration` for
    /// whatever is wrong in the file, with its line, and for a file that cannot be read.
    pub fn read(home: &Home) -> Result<Self> {
        let file = home.path().join(FILE_NAME);
        permissions::check(home.path())?;
        let read = match read_regular(&file, MAX_BYTES) {
            Ok(read) => read,
            Err(ReadFault::NotFound) if file.symlink_metadata().is_err() => {
                return Ok(Self { file, ..Self::default() });
            }
            Err(fault) => return Err(unreadable(&file, &fault)),
        };
        #[cfg(unix)]
        permissions::check_metadata(&file, &read.metadata)?;
        let text = std::str::from_utf8(&read.bytes).map_err(|error| {
            let line = 1 + read.bytes.iter().take(error.valid_up_to()).filter(|byte| **byte == b'\n').count();
            invalid(format!("{}:{line}: this is not valid UTF-8: save the file as UTF-8", shown_path(&file)))
        })?;
        Self::parse(&file, text)
    }

    /// Reads a configuration from text; `file` is what messages call it.
    ///
    /// # Errors
    /// `invalid-configuration`, with file, line and column.
    pub fn parse(file: &Path, text: &str) -> Result<Self> {
        let read = Document::new(file, text).read(settings::configuration)?;
        Ok(Self { file: file.to_owned(), ..read })
    }

    /// What a call of a contributor may use, and what is demanded of its answers, whether or not it has a
    /// section.
    #[must_use]
    pub fn of_contributor(&self, name: &str) -> (Limits, Terms) {
        match self.contributors.get(name) {
            Some(settings) => (settings.limits, settings.terms.clone()),
            None => (self.limits, Terms { values: self.values, ..Terms::default() }),
        }
    }

    /// What a contributor is granted: nothing, unless its section says so.
    #[must_use]
    pub fn grants_of(&self, name: &str) -> Grants {
        self.contributors.get(name).map(|settings| settings.grants.clone()).unwrap_or_default()
    }

    /// Whether the operator turned a contributor off.
    #[must_use]
    pub fn is_disabled(&self, name: &ContributorName) -> bool {
        self.contributors.get(name).is_some_and(|settings| !settings.enabled)
    }

    /// The limits of every contributor there may be, with and without a section.
    pub fn all_limits(&self) -> impl Iterator<Item = Limits> {
        std::iter::once(self.limits).chain(self.contributors.values().map(|settings| settings.limits))
    }

    /// Where a contributor's section is, for people: the file and the line.
    #[must_use]
    pub fn place_of(&self, settings: &ContributorSettings) -> String {
        format!("{}:{}", shown_path(&self.file), settings.line)
    }
}

fn unreadable(file: &Path, fault: &ReadFault) -> Error {
    let remedy = match fault {
        ReadFault::NotFound | ReadFault::LinkLoop => "remove it, or put a file there",
        ReadFault::NotPermitted => "let this user read it and pass through the folders on the way",
        ReadFault::Directory | ReadFault::Special => "move it away",
        ReadFault::TooLarge(_) => "shorten it",
        ReadFault::NotText(_) => "save it as UTF-8",
        ReadFault::Changed | ReadFault::Other(_) => "try again",
    };
    let why = shown(&fault.to_string());
    invalid(format!("{}: the configuration cannot be used, because {why}: {remedy}", shown_path(file)))
}

fn shown_path(path: &Path) -> String {
    shown(&path.display().to_string())
}

fn invalid(message: impl Into<String>) -> Error {
    Error::host(Code::InvalidConfiguration, message)
}

#[cfg(test)]
mod tests;
