//! A registry whose contributors do as they are told, and what is never to be seen of it.

use std::sync::Arc;

use crate::activity::Activity;
use crate::contract::{Binding, Contributor, Deadline, Declaration, Execution, Failure, SessionHeader, SessionId};
use crate::error::Code;
use crate::home::{Home, Surroundings};
use crate::registry::{OnFailure, Overlay, Registration, Registry, Terms};

/// The value of every variable of a contributor's.
pub(super) const VALUE: &str = "the-value-of-a-variable";

/// What a contributor says of its failure.
pub(super) const WORDS: &str = "the-words-of-a-contributor";

/// The id of the session, which is the value of a variable of the host's.
pub(super) const SESSION: &str = "the-id-of-a-session";

/// The home, which is the value of another.
pub(super) const HOME: &str = "/the-home-of-the-host";

/// The digest of every build.
pub(super) const DIGEST: &str = "d1ge57";

/// A contributor of one key that does as it is told.
pub(super) struct Told {
    name: String,
    answer: Result<(), Code>,
}

impl Told {
    pub(super) fn answering(name: impl Into<String>) -> Arc<dyn Contributor> {
        Arc::new(Self { name: name.into(), answer: Ok(()) })
    }

    pub(super) fn failing(name: impl Into<String>, code: Code) -> Arc<dyn Contributor> {
        Arc::new(Self { name: name.into(), answer: Err(code) })
    }

    fn key(&self) -> String {
        format!("DSH_{}", self.name.to_ascii_uppercase().replace('-', "_"))
    }
}

impl Contributor for Told {
    fn declare(&self) -> Declaration {
        Declaration::new(self.name.clone()).variable(self.key(), "A fact.")
    }

    fn resolve(&self, _: &Execution, _: &Deadline) -> Result<Vec<Binding>, Failure> {
        match self.answer {
            Ok(()) => Ok(vec![Binding::new(self.key(), VALUE)]),
            Err(code) => Err(Failure::new(code, WORDS)),
        }
    }

    fn may_wait(&self) -> bool {
        false
    }

    fn digest(&self) -> Option<&str> {
        Some(DIGEST)
    }
}

/// A registry that is watched, and its contributors.
pub(super) struct Watched {
    pub(super) registry: Registry,
    pub(super) activity: Arc<Activity>,
    contributors: Vec<Registration>,
}

impl Watched {
    pub(super) fn new() -> Self {
        let home = Home::resolve_in(Some(HOME.as_ref()), &Surroundings::default()).unwrap();
        let registry = Registry::new(&home);
        let activity = Activity::new();
        registry.observe(activity.clone());
        Self { registry, activity, contributors: Vec::new() }
    }

    pub(super) fn with(self, contributor: Arc<dyn Contributor>) -> Self {
        self.under(contributor, OnFailure::Fail)
    }

    pub(super) fn under(mut self, contributor: Arc<dyn Contributor>, on_failure: OnFailure) -> Self {
        let terms = Terms { on_failure, ..Terms::default() };
        self.contributors.push(self.registry.register_under(contributor, terms).unwrap());
        self
    }

    pub(super) fn collect(&self) -> crate::Result<Overlay> {
        self.registry.collect(&execution())
    }
}

/// A call of the session.
pub(super) fn execution() -> Execution {
    Execution::new("bash").owned_by(SessionHeader::new(SessionId::new(SESSION).unwrap()))
}

/// Nobody who watches is told what is in variables, or what contributors say.
pub(super) fn assert_discreet(told: &[u8]) {
    for secret in [VALUE, WORDS, SESSION, HOME] {
        assert!(!told.windows(secret.len()).any(|window| window == secret.as_bytes()), "{secret}");
    }
}
