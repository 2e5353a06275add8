//! What contributors are called.

use std::fmt;
use std::sync::Arc;

use crate::error::{Code, Error, Result};
use crate::text;

/// The owner of the host's own variables; no contributor may have this name.
pub const HOST: &str = "host";

/// A contributor's name: `[a-z0-9][a-z0-9._-]*`, at most 63 bytes, not [`HOST`].
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ContributorName(Arc<str>);

impl ContributorName {
    /// The most bytes a name may have.
    pub const MAX_BYTES: usize = 63;

    /// Checks the grammar.
    ///
    /// # Errors
    /// `invalid-name`.
    pub fn new(text: &str) -> Result<Self> {
        if text == HOST {
            return Err(Error::load(
                Code::InvalidName,
                format!("\"{HOST}\" is the host's own name: choose another for the contributor"),
            ));
        }
        let starts = |b: u8| b.is_ascii_lowercase() || b.is_ascii_digit();
        let good = text.len() <= Self::MAX_BYTES
            && text.bytes().next().is_some_and(starts)
            && text.bytes().all(|b| starts(b) || matches!(b, b'.' | b'_' | b'-'));
        if good {
            return Ok(Self(text.into()));
        }
        Err(Error::load(
            Code::InvalidName,
            format!(
                "\"{}\" is no contributor's name: a name begins with a lower-case letter or digit, goes on with those and . _ -, and has at most {} bytes",
                text::shown_within(text, 2 * Self::MAX_BYTES),
                Self::MAX_BYTES
            ),
        ))
    }

    /// What stands where the contributor's own words or values must not be shown.
    #[must_use]
    pub fn withheld(&self) -> String {
        format!("[withheld: {self} handles sensitive values]")
    }

    /// The name as text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl std::borrow::Borrow<str> for ContributorName {
    fn borrow(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for ContributorName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Debug for ContributorName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl serde::Serialize for ContributorName {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.0)
    }
}

impl<'de> serde::Deserialize<'de> for ContributorName {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = <std::borrow::Cow<'de, str>>::deserialize(deserializer)?;
        Self::new(&text).map_err(|error| serde::de::Error::custom(error.message()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_follow_the_grammar() {
        for good in ["a", "0", "git-workspace", "acme.region_2", "session-persistence", &"a".repeat(63)] {
            assert!(ContributorName::new(good).is_ok(), "{good}");
        }
        for bad in ["", " ", "host", "A", "-a", ".a", "_a", "a b", "a/b", "ü", "a\n", &"a".repeat(64)] {
            assert_eq!(ContributorName::new(bad).unwrap_err().code(), Code::InvalidName, "{bad:?}");
        }
    }
}
