//! What a contributor says it may return, and the one place where that is checked.

use std::collections::HashSet;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::{ContributorName, Key, MAX_VARIABLES};
use crate::error::{Code, Error, Result};
use crate::text;

/// The most bytes a description may have.
const MAX_DESCRIPTION_BYTES: usize = 1024;

/// One variable as a contributor declares it, unchecked.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Variable {
    /// The key, such as `DSH_TICKET`.
    pub key: String,
    /// What the variable means, for people and models: one paragraph.
    pub description: String,
    /// The value must not appear in logs, diagnostics or recordings.
    #[serde(default)]
    pub sensitive: bool,
}

/// Everything a contributor may ever return, as it says it, unchecked.
///
/// The contract's `metadata` is for hosts and tools after 1.0; this host has no use for any and so
/// does not keep it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Declaration {
    /// The contributor's name.
    pub name: String,
    /// The variables, in the contributor's order.
    pub variables: Vec<Variable>,
}

impl Declaration {
    /// A declaration without variables yet.
    pub fn new(name: impl Into<String>) -> Self {
        Self { name: name.into(), variables: Vec::new() }
    }

    /// Adds a variable.
    #[must_use]
    pub fn variable(mut self, key: impl Into<String>, description: impl Into<String>) -> Self {
        self.variables.push(Variable { key: key.into(), description: description.into(), sensitive: false });
        self
    }

    /// Adds a variable whose values must not appear in logs, diagnostics or recordings.
    #[must_use]
    pub fn sensitive_variable(mut self, key: impl Into<String>, description: impl Into<String>) -> Self {
        self.variables.push(Variable { key: key.into(), description: description.into(), sensitive: true });
        self
    }

    /// Checks the declaration against the rules and against what others own.
    ///
    /// The order is part of the interface: the name, whether it is taken, how many variables, then
    /// for each in turn its key, whether that is reserved, its description, whether it was declared
    /// before, and whether another owns it.
    ///
    /// # Errors
    /// The first rule that is broken, with the contributor and the key where there is one.
    pub fn check(&self, claims: &impl Claims) -> Result<Declared> {
        let name = ContributorName::new(&self.name)?;
        if claims.has_name(&name) {
            return Err(Error::load(
                Code::DuplicateName,
                format!(
                    "a contributor named {name} is registered already: remove one of the two, or give one another name"
                ),
            )
            .by(&name));
        }
        self.check_variables(&name, claims).map_err(|error| error.by(&name))
    }

    fn check_variables(&self, name: &ContributorName, claims: &impl Claims) -> Result<Declared> {
        if self.variables.len() > MAX_VARIABLES {
            return Err(Error::load(
                Code::TooManyVariables,
                format!(
                    "it declares {} variables; a contributor may declare {MAX_VARIABLES}: split it in two",
                    self.variables.len()
                ),
            ));
        }
        let mut seen = HashSet::new();
        let mut variables = Vec::with_capacity(self.variables.len());
        for variable in &self.variables {
            let key = Key::new(&variable.key)?;
            if key.is_reserved() {
                return Err(Error::load(Code::ReservedKey, format!("{key} belongs to the host: declare another key"))
                    .about(&key));
            }
            check_description(&variable.description).map_err(|error| error.about(&key))?;
            if !seen.insert(key.clone()) {
                return Err(Error::load(Code::DuplicateKey, format!("it declares {key} twice: declare each key once"))
                    .about(&key));
            }
            if let Some(owner) = claims.owner(&key) {
                return Err(Error::load(
                    Code::KeyConflict,
                    format!("{key} belongs to {owner}, so {name} cannot declare it: remove one of the two, or let {name} use another key"),
                )
                .about(&key));
            }
            variables.push(DeclaredVariable {
                key,
                description: variable.description.as_str().into(),
                sensitive: variable.sensitive,
            });
        }
        Ok(Declared { name: name.clone(), variables: variables.into() })
    }
}

pub(crate) fn check_description(description: &str) -> Result<()> {
    if text::is_blank(description) {
        return Err(Error::load(
            Code::MissingDescription,
            "its description is blank: say in a sentence what the variable means and when it is absent",
        ));
    }
    if description.len() > MAX_DESCRIPTION_BYTES {
        return Err(Error::load(
            Code::InvalidDescription,
            format!("its description has {} bytes: shorten it to {MAX_DESCRIPTION_BYTES}", description.len()),
        ));
    }
    if description.chars().any(char::is_control) {
        return Err(Error::load(
            Code::InvalidDescription,
            "its description has control characters: make it one paragraph of plain text",
        ));
    }
    Ok(())
}

/// What is owned already where a declaration is to be accepted.
pub trait Claims {
    /// Whether the name is taken.
    fn has_name(&self, name: &ContributorName) -> bool;
    /// Who owns the key, if anybody does.
    fn owner(&self, key: &Key) -> Option<ContributorName>;
}

/// Nothing is owned: for checking a declaration on its own.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoClaims;

impl Claims for NoClaims {
    fn has_name(&self, _: &ContributorName) -> bool {
        false
    }

    fn owner(&self, _: &Key) -> Option<ContributorName> {
        None
    }
}

/// A declaration that was checked; cheap to clone.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Declared {
    name: ContributorName,
    variables: Arc<[DeclaredVariable]>,
}

/// A variable of a declaration that was checked.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct DeclaredVariable {
    /// The key.
    pub key: Key,
    /// What it means: one paragraph without control characters.
    pub description: Arc<str>,
    /// Whether values must not appear in logs, diagnostics or recordings.
    pub sensitive: bool,
}

impl Declared {
    /// The contributor's name.
    #[must_use]
    pub fn name(&self) -> &ContributorName {
        &self.name
    }

    /// The variables, in the order of the declaration.
    #[must_use]
    pub fn variables(&self) -> &[DeclaredVariable] {
        &self.variables
    }

    /// The position and the variable of a key, if it was declared.
    #[must_use]
    pub fn find(&self, key: &str) -> Option<(usize, &DeclaredVariable)> {
        self.variables.iter().enumerate().find(|(_, variable)| variable.key.as_str() == key)
    }

    /// Whether any variable is sensitive, so that the contributor's own text is withheld.
    #[must_use]
    pub fn handles_sensitive_values(&self) -> bool {
        self.variables.iter().any(|variable| variable.sensitive)
    }
}

/// A value for one declared key, as a contributor returns it, unchecked.
///
/// `Debug` shows the key alone: whether the value is sensitive is not known here.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Binding {
    /// The key.
    pub key: String,
    /// Any text without NUL.
    pub value: String,
}

impl Binding {
    /// A value for a key.
    pub fn new(key: impl Into<String>, value: impl Into<String>) -> Self {
        Self { key: key.into(), value: value.into() }
    }
}

impl std::fmt::Debug for Binding {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Binding").field("key", &self.key).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn code_of(declaration: &Declaration) -> Code {
        declaration.check(&NoClaims).unwrap_err().code()
    }

    #[test]
    fn a_declaration_without_variables_is_legal() {
        assert!(Declaration::new("quiet").check(&NoClaims).is_ok());
    }

    #[test]
    fn descriptions_say_something_in_one_paragraph() {
        let with = |description: &str| Declaration::new("a").variable("DSH_A", description);
        assert_eq!(code_of(&with("")), Code::MissingDescription);
        assert_eq!(code_of(&with(" \u{3000}\t ")), Code::MissingDescription);
        assert_eq!(code_of(&with("a\nb")), Code::InvalidDescription);
        assert_eq!(code_of(&with("a\u{9b}b")), Code::InvalidDescription);
        assert_eq!(code_of(&with(&"x".repeat(1025))), Code::InvalidDescription);
        assert!(with(&"x".repeat(1024)).check(&NoClaims).is_ok());
    }

    #[test]
    fn the_first_broken_rule_is_the_one_that_is_told() {
        let mut crowded = Declaration::new("a");
        for number in 0..129 {
            crowded = crowded.variable(format!("bad {number}"), "");
        }
        assert_eq!(code_of(&crowded), Code::TooManyVariables);
        assert_eq!(code_of(&Declaration::new("A").variable("bad", "")), Code::InvalidName);
        assert_eq!(code_of(&Declaration::new("a").variable("DSH_HOME", "")), Code::ReservedKey);
        assert_eq!(
            code_of(&Declaration::new("a").variable("DSH_A", "x").variable("DSH_A", "")),
            Code::MissingDescription
        );
        assert_eq!(code_of(&Declaration::new("a").variable("DSH_A", "x").variable("DSH_A", "x")), Code::DuplicateKey);
    }

    #[test]
    fn an_error_names_the_contributor_and_the_key() {
        let error = Declaration::new("a").variable("DSH_x", "x").check(&NoClaims).unwrap_err();
        assert_eq!((error.contributor(), error.key()), (Some("a"), Some("DSH_x")));
    }
}
