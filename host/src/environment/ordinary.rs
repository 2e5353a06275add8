//! The request's ordinary env.

use std::ffi::{OsStr, OsString};
use std::fmt;

use super::inherited::has_nul;
use crate::contract::Key;
use crate::error::{Code, Error, Result};
use crate::text;

/// The variables that a caller sets and unsets for one child, in order; of a name that is mentioned
/// twice the last mention counts.
///
/// It may hold anything that an environment can: a credential-shaped name restores what was scrubbed,
/// and a managed name that the harness itself gives stays unless the overlay has the key. Managed values
/// do not travel here: they have the overlay, which no entry displaces. `Debug` shows names only.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct OrdinaryEnv {
    changes: Vec<(OsString, Option<OsString>)>,
}

impl OrdinaryEnv {
    /// One that changes nothing.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets a variable.
    ///
    /// # Errors
    /// `invalid-execution` for a name that is empty or has `=` or NUL in it, and for a value that has
    /// NUL in it. A child would read such a pair as another one: `A=B` set to `c` is `A` set to `B=c`.
    pub fn set(&mut self, name: impl Into<OsString>, value: impl Into<OsString>) -> Result<()> {
        let (name, value) = (checked(name.into())?, value.into());
        if has_nul(&value) {
            return Err(refused(&name, "has a value with a NUL in it, where a child would stop reading"));
        }
        self.changes.push((name, Some(value)));
        Ok(())
    }

    /// Removes a variable, whether it was inherited, is a terminal setting, or was set here before.
    ///
    /// # Errors
    /// `invalid-execution` for a name that is empty or has `=` or NUL in it.
    pub fn unset(&mut self, name: impl Into<OsString>) -> Result<()> {
        self.changes.push((checked(name.into())?, None));
        Ok(())
    }

    /// Every name that is mentioned, with its value if it is set, in the order of the mentions.
    pub(super) fn changes(&self) -> impl DoubleEndedIterator<Item = (&OsStr, Option<&OsStr>)> {
        self.changes.iter().map(|(name, value)| (name.as_os_str(), value.as_deref()))
    }
}

fn checked(name: OsString) -> Result<OsString> {
    let bytes = name.as_encoded_bytes();
    if bytes.is_empty() || bytes.contains(&b'=') || has_nul(&name) {
        return Err(refused(&name, "has a name that is empty or has `=` or NUL in it, which no environment can hold"));
    }
    Ok(name)
}

fn refused(name: &OsStr, fault: &str) -> Error {
    let shown = text::shown_within(&name.to_string_lossy(), Key::MAX_BYTES);
    Error::host(Code::InvalidExecution, format!("the variable \"{shown}\" of the request {fault}: correct its env"))
}

impl fmt::Debug for OrdinaryEnv {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let what = |value: Option<&OsStr>| if value.is_some() { "set" } else { "unset" };
        f.debug_map().entries(self.changes().map(|(name, value)| (name, what(value)))).finish()
    }
}
