//! The hooks of one file.

use std::time::Duration;

use super::matcher::Matcher;
use super::{Dialect, EventName, HookEvent};
use crate::executor;

/// How long a hook may take that does not say how long: what both products allow.
pub const DEFAULT_LIMIT: Duration = Duration::from_secs(600);

/// The longest that a hook may take, whatever its file says: as long as any command that is waited for.
pub const MAX_LIMIT: Duration = executor::MAX_LIMIT;

/// The most hooks of one file: all that match run at once.
pub const MAX_HOOKS: usize = 256;

/// The hooks of one file, in its order; see [`HookFile::parse`](super::HookFile::parse).
#[derive(Clone, Debug)]
pub struct HookSet {
    pub(super) dialect: Dialect,
    pub(super) hooks: Vec<Hook>,
    pub(super) warnings: Vec<String>,
}

impl HookSet {
    /// Whose format the file has.
    #[must_use]
    pub fn dialect(&self) -> Dialect {
        self.dialect
    }

    /// How many commands there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.hooks.len()
    }

    /// Whether there is none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.hooks.is_empty()
    }

    /// What of the file was left out because nothing here uses it, for people, with file and place.
    #[must_use]
    pub fn warnings(&self) -> &[String] {
        &self.warnings
    }

    /// The hooks that an event is for, in order.
    pub(super) fn matching<'a>(&'a self, event: &'a HookEvent) -> impl Iterator<Item = &'a Hook> {
        let matched = event.matched(self.dialect);
        self.hooks.iter().filter(move |hook| hook.event == event.name() && hook.matcher.matches(matched))
    }
}

/// One command.
#[derive(Clone, Debug)]
pub(super) struct Hook {
    pub(super) event: EventName,
    pub(super) matcher: Matcher,
    pub(super) command: String,
    pub(super) limit: Duration,
}
