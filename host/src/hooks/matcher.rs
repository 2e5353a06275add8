//! Which of the events of one name a group of hooks is for.
//!
//! Missing, empty and `*` mean all. A matcher of nothing but the characters that names and lists of names
//! have is compared exactly, case included. Anything else is a regular expression that is searched for:
//! without anchors it matches anywhere, in both products.
//!
//! The expressions are those of `regex-lite`: no look-around, no back-references, and `\d`, `\s`, `\w` are
//! ASCII, which all names of tools are.

use regex_lite::Regex;

use super::Dialect;

/// What a group's matcher was understood as.
#[derive(Clone, Debug)]
pub(super) enum Matcher {
    /// Everything.
    All,
    /// One of these names.
    Names(Vec<String>),
    /// Whatever this is found in.
    Pattern(Regex),
}

impl Matcher {
    /// Understands a matcher.
    ///
    /// # Errors
    /// What is wrong with the regular expression, for people.
    pub(super) fn new(dialect: Dialect, text: Option<&str>) -> Result<Self, String> {
        match text {
            None | Some("" | "*") => Ok(Self::All),
            Some(text) if text.chars().all(|character| is_plain(dialect, character)) => Ok(Self::Names(names(text))),
            Some(text) => Regex::new(text).map(Self::Pattern).map_err(|error| error.to_string()),
        }
    }

    /// Whether it matches; an event without anything to match matches every matcher.
    pub(super) fn matches(&self, matched: Option<&str>) -> bool {
        let Some(matched) = matched else { return true };
        match self {
            Self::All => true,
            Self::Names(names) => names.iter().any(|name| name == matched),
            Self::Pattern(pattern) => pattern.is_match(matched),
        }
    }
}

/// Whether the character is one of a name or of a list of names.
fn is_plain(dialect: Dialect, character: char) -> bool {
    let everywhere = character.is_ascii_alphanumeric() || matches!(character, '_' | '|');
    everywhere || (dialect == Dialect::ClaudeCode && matches!(character, '-' | ' ' | ','))
}

fn names(list: &str) -> Vec<String> {
    list.split(['|', ',']).map(|name| name.trim().to_owned()).collect()
}
