//! The skills that are in a host's home: `<home>/skills/NAME/SKILL.md`.
//!
//! A skill is a folder with a text that says how something is done. Only its front matter is read here: what it
//! is called, and when to use it. Whoever uses it reads the text.
//!
//! ```text
//! ---
//! name: release
//! description: How a release is made. Use it when somebody asks for one.
//! ---
//! ```
//!
//! Of YAML as much is understood as skills use: plain and quoted values, values that go on in indented lines,
//! `>` and `|`, comments. Other keys are skipped, and all of it may be missing.
//!
//! A skill that cannot be used hides no other: it is a [problem](Found::problems) beside those that can. What
//! is read belongs to the home, so nobody else may be able to write to it. A link leads where it leads, and
//! what is read there is held to the same; FIFOs, devices and loops of links are problems and hang nothing.
//! Folders whose name begins with a dot, folders without `SKILL.md` and plain files are not skills.

mod file;
mod front_matter;

use std::collections::HashSet;
use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};

use crate::error::{Code, Error, Result};
use crate::home::{Home, permissions};
use crate::text::{shown, steers};
use front_matter::FrontMatter;

/// The folder in the home.
const FOLDER: &str = "skills";

/// What is read of a skill.
const FILE_NAME: &str = "SKILL.md";

/// The most entries of the folder. Every skill is offered to a model, which would read no more than this.
pub const MAX_ENTRIES: usize = 1024;

/// The most bytes of a skill's text.
pub const MAX_BYTES: usize = 1024 * 1024;

/// The most bytes of a name.
pub const MAX_NAME_BYTES: usize = 128;

/// The most bytes of a description.
pub const MAX_DESCRIPTION_BYTES: usize = 4096;

/// One skill.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Skill {
    /// What it is called: by its front matter, else by its folder. Nothing in it can steer a terminal.
    pub name: String,
    /// When to use it, if it says so. Nothing in it can steer a terminal but line ends and tabs.
    pub description: Option<String>,
    /// Its text: absolute, `<home>/skills/…/SKILL.md`.
    pub path: PathBuf,
}

/// What is in the folder of skills.
#[derive(Clone, Debug, Default)]
pub struct Found {
    /// The skills that can be used, by name in byte order.
    pub skills: Vec<Skill>,
    /// Why others cannot, by folder in byte order, with the file in front of each message.
    pub problems: Vec<Error>,
}

/// The skills of one home.
#[derive(Clone, Debug)]
pub struct Skills {
    home: Home,
}

impl Skills {
    /// Those in `home`. Nothing on disk is touched.
    ///
    /// A composition has one home: whoever puts skills and a shell environment together holds their homes
    /// against each other by [`Home::agreed`].
    #[must_use]
    pub fn at(home: Home) -> Self {
        Self { home }
    }

    /// The home that they are in.
    #[must_use]
    pub fn home(&self) -> &Home {
        &self.home
    }

    /// Looks at what is there now. Without the folder there is nothing.
    ///
    /// # Errors
    /// `unsafe-permissions` where others can write to the home or the folder; `unreadable` for a folder that
    /// cannot be listed; `invalid-configuration` for one with more than [`MAX_ENTRIES`] entries.
    pub fn find(&self) -> Result<Found> {
        let folder = self.home.path().join(FOLDER);
        permissions::check(self.home.path())?;
        permissions::check(&folder)?;
        let mut found = Found::default();
        let mut names = HashSet::new();
        for entry in list(&folder)? {
            match read(&folder.join(&entry), &entry) {
                Ok(Some(skill)) if names.insert(skill.name.clone()) => found.skills.push(skill),
                Ok(Some(skill)) => found.problems.push(
                    invalid(format!("there is another skill \"{}\": give one of them another name", skill.name))
                        .in_file(&skill.path),
                ),
                Ok(None) => {}
                Err(problem) => found.problems.push(problem),
            }
        }
        found.skills.sort_by(|one, other| one.name.cmp(&other.name));
        Ok(found)
    }
}

/// The skills in `home` that can be used, by name; why others cannot is logged as warnings.
///
/// # Errors
/// As [`Skills::find`].
pub fn discover(home: &Home) -> Result<Vec<Skill>> {
    let found = Skills::at(home.clone()).find()?;
    for problem in &found.problems {
        tracing::warn!(code = %problem.code(), "a skill is left out: {}", problem.message());
    }
    Ok(found.skills)
}

/// The names in the folder, in byte order.
fn list(folder: &Path) -> Result<Vec<OsString>> {
    let unreadable = |error: io::Error| {
        let why = shown(&error.to_string());
        Error::host(Code::Unreadable, format!("the folder cannot be listed ({why}): make it a folder of this user"))
            .in_file(folder)
    };
    let entries = match std::fs::read_dir(folder) {
        Ok(entries) => entries,
        // A link that leads nowhere is not a folder that is not there.
        Err(error) if error.kind() == io::ErrorKind::NotFound && folder.symlink_metadata().is_err() => {
            return Ok(Vec::new());
        }
        Err(error) => return Err(unreadable(error)),
    };
    let mut names = Vec::new();
    for entry in entries {
        if names.len() == MAX_ENTRIES {
            return Err(invalid(format!("there are more than {MAX_ENTRIES} entries: remove some")).in_file(folder));
        }
        names.push(entry.map_err(unreadable)?.file_name());
    }
    names.retain(|name| !name.as_encoded_bytes().starts_with(b"."));
    names.sort();
    Ok(names)
}

/// Reads one entry of the folder; nothing if it is no skill.
fn read(folder: &Path, entry: &OsString) -> Result<Option<Skill>> {
    let path = folder.join(FILE_NAME);
    let is_skill = path.symlink_metadata().is_ok() || folder.symlink_metadata().is_ok_and(|found| found.is_symlink());
    if !is_skill {
        return Ok(None);
    }
    permissions::check(folder)?;
    let text = file::read(&path)?;
    let front = FrontMatter::read(&text).map_err(|fault| invalid(fault).in_file(&path))?;
    let name = front.name.unwrap_or_else(|| entry.to_string_lossy().into_owned());
    let fault = if name.is_empty() || name.len() > MAX_NAME_BYTES || name.chars().any(steers) {
        Some(format!("its name is empty, longer than {MAX_NAME_BYTES} bytes or has control characters: correct it"))
    } else if front.description.as_deref().is_some_and(is_unfit) {
        Some(format!(
            "its description is longer than {MAX_DESCRIPTION_BYTES} bytes or has control characters: correct it"
        ))
    } else {
        None
    };
    match fault {
        Some(fault) => Err(invalid(fault).in_file(&path)),
        None => Ok(Some(Skill { name, description: front.description, path })),
    }
}

fn is_unfit(description: &str) -> bool {
    let is_steering = |character| steers(character) && !matches!(character, '\n' | '\t');
    description.len() > MAX_DESCRIPTION_BYTES || description.chars().any(is_steering)
}

fn invalid(message: impl Into<String>) -> Error {
    Error::host(Code::InvalidConfiguration, message)
}

#[cfg(test)]
mod tests;
