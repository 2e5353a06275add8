#[cfg(unix)]
#[path = "../../../tests/support/shells.rs"]
mod installed;
mod managed;
mod merge;
#[cfg(unix)]
mod real_shells;
#[cfg(unix)]
mod too_large;

use super::*;
use crate::contract::{Binding, Contributor, Deadline, Declaration, Execution, Failure, SessionHeader, SessionId};
use crate::home::{Home, Surroundings};
use crate::registry::{Overlay, Registry};

/// The session whose id overlays of these tests have.
const SESSION: &str = "the-right-session";

/// A contributor with fixed values.
struct Fixed(Vec<(String, String)>);

impl Contributor for Fixed {
    fn declare(&self) -> Declaration {
        self.0
            .iter()
            .fold(Declaration::new("fixed"), |declaration, (key, _)| declaration.variable(key, "A fixed value."))
    }

    fn resolve(&self, _: &Execution, _: &Deadline) -> Result<Vec<Binding>, Failure> {
        Ok(self.0.iter().map(|(key, value)| Binding::new(key, value)).collect())
    }

    fn may_wait(&self) -> bool {
        false
    }
}

/// What a registry says: its own facts about [`SESSION`], and `values`.
fn overlay(values: &[(&str, &str)]) -> Overlay {
    let home = Home::resolve_in(Some("/the/right/home".as_ref()), &Surroundings::default()).unwrap();
    let registry = Registry::new(&home);
    let values = values.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect();
    let _registration = registry.register(Fixed(values)).unwrap();
    let session = SessionHeader::new(SessionId::new(SESSION).unwrap());
    registry.collect(&Execution::new("bash").owned_by(session)).unwrap()
}

fn pairs(list: &[(&str, &str)]) -> Vec<(OsString, OsString)> {
    list.iter().map(|(name, value)| (name.into(), value.into())).collect()
}

/// A builder that does step 1's removal of managed names and nothing else until it is told to.
fn bare(inherited: &[(&str, &str)]) -> Builder {
    ChildEnvironment::builder(pairs(inherited))
        .scrub_credentials(false)
        .terminal(TerminalSettings::Inherited)
        .strict_shell(false)
}

/// An ordinary env that sets what has a value and unsets what has none.
fn ordinary(changes: &[(&str, Option<&str>)]) -> OrdinaryEnv {
    let mut ordinary = OrdinaryEnv::new();
    for (name, value) in changes {
        match value {
            Some(value) => ordinary.set(name, value).unwrap(),
            None => ordinary.unset(name).unwrap(),
        }
    }
    ordinary
}
