//! Contributors that do as a test says.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use crate::contract::{Binding, Contributor, Deadline, Declaration, Execution, Failure, Key, SessionHeader, SessionId};
use crate::home::{Home, Surroundings};
use crate::registry::clock::Clock;
use crate::registry::{KeyTerms, OnFailure, Overlay, Registry, Terms};

type Resolve = dyn Fn(&Execution, &Deadline) -> Result<Vec<Binding>, Failure> + Send + Sync;

/// A contributor made of a declaration and a closure.
pub(super) struct Scripted {
    declaration: Declaration,
    resolve: Box<Resolve>,
    waits: bool,
}

impl Scripted {
    /// Declares and answers as it is told, where it is asked.
    pub(super) fn new(
        declaration: Declaration,
        resolve: impl Fn(&Execution, &Deadline) -> Result<Vec<Binding>, Failure> + Send + Sync + 'static,
    ) -> Self {
        Self { declaration, resolve: Box::new(resolve), waits: false }
    }

    /// Declares these keys.
    pub(super) fn of(
        name: &str,
        keys: &[&str],
        resolve: impl Fn(&Execution, &Deadline) -> Result<Vec<Binding>, Failure> + Send + Sync + 'static,
    ) -> Self {
        Self::new(declaration(name, keys), resolve)
    }

    /// Declares the keys of these bindings and always answers with them.
    pub(super) fn saying(name: &str, bindings: &[(&str, &str)]) -> Self {
        let keys: Vec<&str> = bindings.iter().map(|(key, _)| *key).collect();
        Self::answering(name, &keys, bindings)
    }

    /// Declares these keys and always answers with these bindings.
    pub(super) fn answering(name: &str, keys: &[&str], bindings: &[(&str, &str)]) -> Self {
        let bindings: Vec<Binding> = bindings.iter().map(|(key, value)| Binding::new(*key, *value)).collect();
        Self::of(name, keys, move |_, _| Ok(bindings.clone()))
    }

    /// The same, asked on a thread of its own.
    pub(super) fn waiting(self) -> Self {
        Self { waits: true, ..self }
    }
}

impl Contributor for Scripted {
    fn declare(&self) -> Declaration {
        self.declaration.clone()
    }

    fn resolve(&self, execution: &Execution, deadline: &Deadline) -> Result<Vec<Binding>, Failure> {
        (self.resolve)(execution, deadline)
    }

    fn may_wait(&self) -> bool {
        self.waits
    }
}

pub(super) fn declaration(name: &str, keys: &[&str]) -> Declaration {
    keys.iter().fold(Declaration::new(name), |declaration, key| declaration.variable(*key, "A fact."))
}

pub(super) fn shared(contributor: Scripted) -> Arc<dyn Contributor> {
    Arc::new(contributor)
}

pub(super) fn registry() -> Registry {
    Registry::new(&Home::resolve_in(Some("/h".as_ref()), &Surroundings::default()).unwrap())
}

/// The hands of a registry's clock, which a test moves.
#[derive(Clone)]
pub(super) struct Hands(Arc<Mutex<Instant>>);

impl Hands {
    pub(super) fn advance(&self, by: Duration) {
        *self.0.lock().unwrap() += by;
    }
}

/// A registry whose policies go by a clock that stands until it is moved.
pub(super) fn registry_by_clock() -> (Registry, Hands) {
    let hands = Hands(Arc::new(Mutex::new(Instant::now())));
    let home = Home::resolve_in(Some("/h".as_ref()), &Surroundings::default()).unwrap();
    let clock = hands.clone();
    (Registry::by(Clock::of(move || *clock.0.lock().unwrap()), &home), hands)
}

/// One policy for a contributor, and others for single keys.
pub(super) fn terms(on_failure: OnFailure, keys: &[(&str, OnFailure)]) -> Terms {
    let keys = keys.iter().map(|(key, on_failure)| {
        (Key::new(key).unwrap(), KeyTerms { shape: None, on_failure: Some(on_failure.clone()) })
    });
    Terms { on_failure, keys: keys.collect(), ..Terms::default() }
}

/// What a contributor does the next time it is asked, which a test changes, and how often it was asked.
#[derive(Clone, Default)]
pub(super) struct Mood {
    answer: Arc<Mutex<Option<Vec<Binding>>>>,
    asked: Arc<AtomicUsize>,
}

impl Mood {
    /// It fails from now on.
    pub(super) fn fails(&self) {
        *self.answer.lock().unwrap() = None;
    }

    /// It answers with these from now on.
    pub(super) fn says(&self, bindings: &[(&str, &str)]) {
        let bindings = bindings.iter().map(|(key, value)| Binding::new(*key, *value)).collect();
        *self.answer.lock().unwrap() = Some(bindings);
    }

    /// How often it was asked since the last look.
    pub(super) fn asked(&self) -> usize {
        self.asked.swap(0, Ordering::Relaxed)
    }

    /// A contributor of this mood that declares these keys.
    pub(super) fn contributor(&self, keys: &[&str]) -> Scripted {
        self.declaring(declaration("a", keys))
    }

    pub(super) fn declaring(&self, declaration: Declaration) -> Scripted {
        let mood = self.clone();
        Scripted::new(declaration, move |_, _| {
            mood.asked.fetch_add(1, Ordering::Relaxed);
            mood.answer.lock().unwrap().clone().ok_or_else(|| Failure::guest("no such ticket"))
        })
    }
}

/// A call that no agent owns.
pub(super) fn call() -> Execution {
    Execution::new("bash")
}

/// A call of the agent of a session.
pub(super) fn call_of(session: &str) -> Execution {
    call().owned_by(SessionHeader::new(SessionId::new(session).unwrap()))
}

pub(super) fn collect(registry: &Registry) -> Overlay {
    registry.collect(&call()).unwrap()
}

/// `KEY=value` for each variable that is not the host's own home or shell.
pub(super) fn said(overlay: &Overlay) -> Vec<String> {
    overlay
        .iter()
        .filter(|entry| !matches!(entry.key.as_str(), "DSH_HOME" | "DSH_SHELL"))
        .map(|entry| format!("{}={}", entry.key, entry.value.expose()))
        .collect()
}

pub(super) fn value(overlay: &Overlay, key: &str) -> Option<String> {
    overlay.get(key).map(|entry| entry.value.expose().to_owned())
}
