//! What an operator demands of one contributor, and what happens when it fails.

use std::collections::BTreeMap;
use std::fmt;
use std::time::Duration;

use crate::contract::Key;

/// What becomes of a key when its contributor failed, or its value was not acceptable.
#[derive(Clone, PartialEq, Eq, Default)]
pub enum OnFailure {
    /// No overlay is made, so no command runs.
    #[default]
    Fail,
    /// The key is absent, and `DSH_DEGRADED` names it.
    Omit,
    /// The key has this value, and `DSH_DEGRADED` names it.
    Value(String),
    /// The key has the last good value that the contributor gave for the same session and working directory, if that
    /// is no older than this, else it is absent; `DSH_DEGRADED` names it either way. Values are kept in memory only,
    /// never those of sensitive keys, and not beyond the registration or its replacement.
    LastGood(Duration),
}

impl OnFailure {
    /// The word for it in reports: `fail`, `omit`, `value` or `last-good`.
    #[must_use]
    pub fn as_str(&self) -> &'static str {
        match self {
            OnFailure::Fail => "fail",
            OnFailure::Omit => "omit",
            OnFailure::Value(_) => "value",
            OnFailure::LastGood(_) => "last-good",
        }
    }
}

/// Without the value, which stands in for one that may be sensitive.
impl fmt::Debug for OnFailure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// The shape that a value must have: a regular expression that is found in it, which can be anchored.
///
/// `\w`, `\d`, `\s` and `\b` mean ASCII, which is what most shapes are about; `.` and the characters of a
/// class are any. Compiling `^[\w./-]{1,255}$` takes 0.2 ms this way, where it would take 250 ms and 15 MiB
/// if every `\w` stood for all letters of Unicode: too much for a command that is started for each call.
#[derive(Clone, Debug)]
pub struct Shape(regex_lite::Regex);

/// Why a regular expression was not taken, in the words of the regular-expression library.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct InvalidShape(String);

impl PartialEq for Shape {
    fn eq(&self, other: &Self) -> bool {
        self.as_str() == other.as_str()
    }
}

impl Shape {
    /// Compiles a regular expression in the syntax of the `regex-lite` crate, in which matching takes time
    /// linear in the value.
    ///
    /// # Errors
    /// When the expression has an error or is too large.
    pub fn new(expression: &str) -> Result<Self, InvalidShape> {
        regex_lite::Regex::new(expression).map(Self).map_err(|error| InvalidShape(error.to_string()))
    }

    /// Whether a value has the shape.
    #[must_use]
    pub fn matches(&self, value: &str) -> bool {
        self.0.is_match(value)
    }

    /// The expression.
    #[must_use]
    pub fn as_str(&self) -> &str {
        self.0.as_str()
    }
}

/// Bounds on one answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ValueLimits {
    /// The most values in one answer.
    pub count: usize,
    /// The most bytes of one value.
    pub bytes: usize,
}

impl Default for ValueLimits {
    fn default() -> Self {
        // As many as may be declared; and a value that leaves room for others in an overlay of 128 KiB.
        Self { count: crate::contract::MAX_VARIABLES, bytes: 32 * 1024 }
    }
}

/// What an operator demands of one contributor.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Terms {
    /// For every key that has no terms of its own.
    pub on_failure: OnFailure,
    /// For single keys.
    pub keys: BTreeMap<Key, KeyTerms>,
    /// Bounds on its answers.
    pub values: ValueLimits,
    /// Show the contributor's own words in messages although it handles sensitive values.
    pub show_guest_text: bool,
}

/// What an operator demands of one key.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct KeyTerms {
    /// The shape that values must have.
    pub shape: Option<Shape>,
    /// Instead of the contributor's.
    pub on_failure: Option<OnFailure>,
}

impl Terms {
    /// What becomes of a key in a failure.
    #[must_use]
    pub fn on_failure(&self, key: &Key) -> &OnFailure {
        self.keys.get(key).and_then(|terms| terms.on_failure.as_ref()).unwrap_or(&self.on_failure)
    }

    /// The shape that a key's values must have.
    #[must_use]
    pub fn shape(&self, key: &Key) -> Option<&Shape> {
        self.keys.get(key).and_then(|terms| terms.shape.as_ref())
    }
}
