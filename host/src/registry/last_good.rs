//! The last good values of one registered contributor, for keys whose policy is to go on with them.
//!
//! They are kept in memory and nowhere else, apart for each session and working directory, and end with the
//! registration or its replacement: what another build, or one with other grants or settings, said is no stand-in.
//! Nothing that is sensitive is kept. A contributor that answers for ever more sessions and directories pushes out
//! what it said longest ago.

use std::collections::{BTreeMap, HashMap};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use super::answer::Answer;
use super::overlay::Value;
use super::snapshot::Entry;
use super::terms::{OnFailure, Terms};
use crate::contract::{Declared, DeclaredVariable, Execution, Key};

/// The most pairs of a session and a working directory that values are kept for. More than a harness has at work.
const MAX_SCENES: usize = 1024;

/// The most bytes of all that is kept: the values, and what they are kept under.
const MAX_BYTES: usize = 8 * 1024 * 1024;

/// What a contributor said last, where that was good.
pub(super) struct LastGood {
    kept: Mutex<Kept>,
}

/// Where an answer is good for: the session, if there is one, and the working directory, if it is known.
#[derive(Clone, PartialEq, Eq, Hash)]
struct Scene {
    session: Option<String>,
    workdir: Option<String>,
}

#[derive(Default)]
struct Kept {
    scenes: HashMap<Scene, Said>,
    /// The scenes by when they were written.
    order: BTreeMap<u64, Scene>,
    writes: u64,
    bytes: usize,
}

/// What was said in one scene.
struct Said {
    written: u64,
    bytes: usize,
    values: BTreeMap<Key, (Value, Instant)>,
}

impl LastGood {
    /// Room for the values of a contributor, if the operator wants any of them kept.
    pub(super) fn wanted(declared: &Declared, terms: &Terms) -> Option<Self> {
        let wanted = declared.variables().iter().any(|variable| is_kept(variable, terms));
        wanted.then(|| Self { kept: Mutex::default() })
    }

    /// Remembers an answer in the place of the one before. What it lacks is forgotten; of what was refused the value
    /// before stays.
    pub(super) fn remember(&self, execution: &Execution, entry: &Entry, answers: &[Answer], now: Instant) {
        let scene = Scene::of(execution);
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        let mut before = kept.remove(&scene);
        let mut values = BTreeMap::new();
        let answered = entry.declared.variables().iter().zip(answers);
        for (variable, answer) in answered.filter(|(variable, _)| is_kept(variable, &entry.terms)) {
            match answer {
                Answer::Absent => {}
                Answer::Value(value) => _ = values.insert(variable.key.clone(), (value.clone(), now)),
                Answer::Refused(_) => values.extend(before.remove_entry(&variable.key)),
            }
        }
        kept.insert(scene, values);
    }

    /// The last good value of a key, unless it is older than `longest`, and its age.
    pub(super) fn get(
        &self,
        execution: &Execution,
        key: &Key,
        longest: Duration,
        now: Instant,
    ) -> Option<(Value, Duration)> {
        let kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        let (value, said) = kept.scenes.get(&Scene::of(execution))?.values.get(key)?;
        let age = now.saturating_duration_since(*said);
        (age <= longest).then(|| (value.clone(), age))
    }
}

/// Whether the values of a variable are kept: never those of a sensitive one.
fn is_kept(variable: &DeclaredVariable, terms: &Terms) -> bool {
    !variable.sensitive && matches!(terms.on_failure(&variable.key), OnFailure::LastGood(_))
}

impl Kept {
    fn remove(&mut self, scene: &Scene) -> BTreeMap<Key, (Value, Instant)> {
        let Some(said) = self.scenes.remove(scene) else { return BTreeMap::new() };
        self.order.remove(&said.written);
        self.bytes -= said.bytes;
        said.values
    }

    fn insert(&mut self, scene: Scene, values: BTreeMap<Key, (Value, Instant)>) {
        let bytes = scene.bytes() + values.values().map(|(value, _)| value.expose().len()).sum::<usize>();
        // One that alone is too much must not push out all the others.
        if values.is_empty() || bytes > MAX_BYTES {
            return;
        }
        let written = self.writes;
        self.writes += 1;
        self.bytes += bytes;
        self.order.insert(written, scene.clone());
        self.scenes.insert(scene, Said { written, bytes, values });
        while self.scenes.len() > MAX_SCENES || self.bytes > MAX_BYTES {
            let Some(oldest) = self.order.first_key_value().map(|(_, scene)| scene.clone()) else { return };
            self.remove(&oldest);
        }
    }
}

impl Scene {
    fn of(execution: &Execution) -> Self {
        Self {
            session: execution.session().map(|session| session.id.as_str().to_owned()),
            workdir: execution.workdir.clone(),
        }
    }

    /// What it takes to keep something under it, twice: by itself and by its place in the order.
    fn bytes(&self) -> usize {
        let length = |text: &Option<String>| text.as_ref().map_or(0, String::len);
        2 * (length(&self.session) + length(&self.workdir))
    }
}
