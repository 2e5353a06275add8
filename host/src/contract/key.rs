//! The namespace: which names are managed, and which of them a contributor may own.

use std::fmt;
use std::sync::Arc;

use crate::error::{Code, Error, Result};
use crate::text;

/// What every managed name begins with. Nothing else spells it.
pub const PREFIX: &str = "DSH_";

/// Keys that belong to the host, without the prefix.
const RESERVED: [&str; 5] = ["HOME", "SHELL", "SESSION_ID", "DEGRADED", "CALL_ID"];

/// Begins every further key of the host, without the prefix.
const RESERVED_FAMILY: &str = "HOST_";

/// Whether an ambient variable of this name is removed before the overlay is merged.
///
/// Wider than [`Key`]: the prefix counts without regard to case and whatever follows it, so that
/// nothing that looks managed survives from outside.
#[must_use]
pub fn is_managed_name(name: &[u8]) -> bool {
    name.get(..PREFIX.len()).is_some_and(|start| start.eq_ignore_ascii_case(PREFIX.as_bytes()))
}

/// The name of a managed variable: [`PREFIX`], then `[A-Z][A-Z0-9_]*`, at most 128 bytes.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Key(Arc<str>);

impl Key {
    /// The most bytes a key may have, prefix included.
    pub const MAX_BYTES: usize = 128;

    /// Checks the grammar.
    ///
    /// # Errors
    /// `invalid-key`, with what is wrong about it.
    pub fn new(text: &str) -> Result<Self> {
        match Self::fault(text) {
            None => Ok(Self(text.into())),
            Some(fault) => Err(Error::load(
                Code::InvalidKey,
                format!(
                    "\"{}\" is no managed key: {fault}. A key is {PREFIX} followed by a capital letter and then capital letters, digits and underscores, at most {} bytes",
                    text::shown_within(text, 2 * Self::MAX_BYTES),
                    Self::MAX_BYTES
                ),
            )
            .about_text(text)),
        }
    }

    /// The host's own key of this name, without the prefix.
    pub(crate) fn of_host(name: &str) -> Self {
        debug_assert!(Self::fault(&format!("{PREFIX}{name}")).is_none());
        Self(format!("{PREFIX}{name}").into())
    }

    fn fault(text: &str) -> Option<&'static str> {
        let Some(rest) = text.strip_prefix(PREFIX) else {
            return Some("it does not begin with the prefix");
        };
        if text.len() > Self::MAX_BYTES {
            return Some("it is too long");
        }
        match rest.bytes().next() {
            None => return Some("nothing follows the prefix"),
            Some(first) if !first.is_ascii_uppercase() => {
                return Some("the prefix is not followed by a capital letter");
            }
            Some(_) => {}
        }
        let allowed = |b: u8| b.is_ascii_uppercase() || b.is_ascii_digit() || b == b'_';
        (!rest.bytes().all(allowed)).then_some("it has other characters")
    }

    /// Whether the key belongs to the host, so that no contributor may declare it.
    #[must_use]
    pub fn is_reserved(&self) -> bool {
        self.0.strip_prefix(PREFIX).is_some_and(|rest| RESERVED.contains(&rest) || rest.starts_with(RESERVED_FAMILY))
    }

    /// The key as text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl std::borrow::Borrow<str> for Key {
    fn borrow(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Debug for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl serde::Serialize for Key {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn keys_follow_the_grammar() {
        for good in ["DSH_A", "DSH_PROBE", "DSH_X9_", "DSH_A__B"] {
            assert!(Key::new(good).is_ok(), "{good}");
        }
        for bad in [
            "", "DSH_", "DSH__X", "DSH_1X", "dsh_x", "DSH_Ok", "DSH_A=B", "DSH_A ", "DSH_Ü", "XDSH_A", "DSH_A\0",
            "DSH_A\n",
        ] {
            assert_eq!(Key::new(bad).unwrap_err().code(), Code::InvalidKey, "{bad}");
        }
    }

    #[test]
    fn a_key_has_at_most_128_bytes() {
        assert!(Key::new(&format!("DSH_{}", "A".repeat(124))).is_ok());
        assert!(Key::new(&format!("DSH_{}", "A".repeat(125))).is_err());
    }

    #[test]
    fn the_hosts_keys_are_reserved() {
        for key in
            ["DSH_HOME", "DSH_SHELL", "DSH_SESSION_ID", "DSH_DEGRADED", "DSH_CALL_ID", "DSH_HOST_ANYTHING", "DSH_HOST_"]
        {
            assert!(Key::new(key).unwrap().is_reserved(), "{key}");
        }
        for key in ["DSH_SESSION_JSONL", "DSH_HOST", "DSH_HOMES", "DSH_SHELL_X", "DSH_HOSTED"] {
            assert!(!Key::new(key).unwrap().is_reserved(), "{key}");
        }
    }

    #[test]
    fn ambient_names_are_managed_in_any_case_and_whatever_follows() {
        for name in [&b"dsh_old"[..], b"Dsh_Old", b"DSH_", b"DSH_\xff", b"dSh_"] {
            assert!(is_managed_name(name), "{name:?}");
        }
        for name in [&b"DSH"[..], b"", b"XDSH_", b"DSH-X", b"DSHX"] {
            assert!(!is_managed_name(name), "{name:?}");
        }
    }

    proptest! {
        #[test]
        fn whatever_is_a_key_matches_the_regular_expression_of_the_rule(text in "(DSH_|dsh_|)[A-Z_0-9a-z=\\PC]{0,8}") {
            let rule = regex_lite::Regex::new(r"\ADSH_[A-Z][A-Z0-9_]*\z").unwrap();
            prop_assert_eq!(Key::new(&text).is_ok(), rule.is_match(&text));
        }

        #[test]
        fn every_key_is_a_managed_name(text in "DSH_[A-Z][A-Z0-9_]{0,100}") {
            prop_assert!(is_managed_name(Key::new(&text).unwrap().as_str().as_bytes()));
        }
    }
}
