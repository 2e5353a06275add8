//! The environment of a child: what the host inherited, what the caller asks for and what is managed,
//! merged in one order, so that nothing displaces a managed value.
//!
//! Four steps, and the last wins:
//!
//! 1. what the host inherited, less every managed name in any case, less names that
//!    [look like credentials](is_credential_name);
//! 2. [`TerminalSettings`];
//! 3. the request's [`OrdinaryEnv`], which may restore what step 1 removed, and may unset;
//! 4. the [`Overlay`](crate::registry::Overlay), in a channel of its own type; or what a server said that collected it,
//!    once it is [`Managed`].
//!
//! A managed key that the overlay lacks is absent, unless the embedding harness itself put it into the
//! ordinary env. With a [strict shell](strict_shell) what could displace managed values *after* the
//! merge, by way of a shell's start-up files, is dropped too, between steps 3 and 4.
//!
//! All of this is a pure function over byte strings: the host's own environment is never changed, and
//! names and values that are not UTF-8 pass through as they are. An environment holds each name once:
//! all copies of a name that a step removes or replaces go, and of another name that was inherited
//! twice the first stays, which is the one that `getenv` finds.

mod inherited;
mod managed;
mod merge;
mod ordinary;
mod shell;
pub mod strict_shell;
mod terminal;
mod too_large;

use std::ffi::{OsStr, OsString};
use std::fmt;

pub use inherited::is_credential_name;
#[cfg(unix)]
pub use inherited::split_entry;
pub use managed::Managed;
pub use merge::Builder;
pub use ordinary::OrdinaryEnv;
pub use shell::Shell;
pub use terminal::TerminalSettings;
pub use too_large::explain_too_large;

/// The environment of one child: each name once, what was inherited first, in its order, and the
/// overlay last.
///
/// It is the whole environment, for `Command::env_clear().envs(…)`. `Debug` shows names only, since
/// values may be sensitive.
#[derive(Clone, PartialEq, Eq)]
pub struct ChildEnvironment {
    variables: Vec<(OsString, OsString)>,
}

impl ChildEnvironment {
    /// Begins with what the host inherited, such as [`std::env::vars_os`].
    ///
    /// Pairs that no environment can hold (an empty name, a NUL, a `=` in a name other than as its first
    /// byte) are ignored. The settings begin as a tool for a model needs them: credentials scrubbed,
    /// [plain](TerminalSettings::Plain) terminal settings, a strict shell, an empty ordinary env.
    pub fn builder(inherited: impl IntoIterator<Item = (OsString, OsString)>) -> Builder {
        Builder::new(inherited.into_iter().collect())
    }

    /// Every variable, in order.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = (&OsStr, &OsStr)> {
        self.variables.iter().map(|(name, value)| (name.as_os_str(), value.as_os_str()))
    }

    /// The value of a variable.
    #[must_use]
    pub fn get(&self, name: impl AsRef<OsStr>) -> Option<&OsStr> {
        self.iter().find(|(known, _)| *known == name.as_ref()).map(|(_, value)| value)
    }
}

impl IntoIterator for ChildEnvironment {
    type Item = (OsString, OsString);
    type IntoIter = std::vec::IntoIter<Self::Item>;

    fn into_iter(self) -> Self::IntoIter {
        self.variables.into_iter()
    }
}

impl fmt::Debug for ChildEnvironment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.iter().map(|(name, _)| name)).finish()
    }
}

#[cfg(test)]
mod tests;
