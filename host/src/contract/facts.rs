//! What the host knows of the world outside of any call.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use super::moment::Moment;

/// Facts as they were at one moment, by their names: one immutable snapshot, which all contributors of one
/// execution see. Cheap to clone. `Debug` shows no value: it may be a secret.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Facts(Arc<Known>);

#[derive(Default, PartialEq, Eq)]
struct Known {
    facts: BTreeMap<String, Fact>,
    /// When the first of them ends, if any does: before, nobody has to look at them one by one.
    first_end: Option<Moment>,
}

/// A value, and the moment from which nobody believes it any more.
#[derive(Clone, PartialEq, Eq)]
struct Fact {
    value: Arc<str>,
    end: Option<Moment>,
}

impl Facts {
    /// The value of a fact, if it is known.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&str> {
        self.0.facts.get(name).map(|fact| fact.value.as_ref())
    }

    /// Whether nothing is known.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.facts.is_empty()
    }

    /// Facts of which each has a moment from which it does not hold any more.
    pub(crate) fn with_ends(facts: impl IntoIterator<Item = (String, Arc<str>, Moment)>) -> Self {
        Self::of(facts.into_iter().map(|(name, value, end)| (name, Fact { value, end: Some(end) })))
    }

    /// Those that still hold, where some do not any more; nothing where all do.
    pub(crate) fn without_ended(&self) -> Option<Self> {
        let first_end = self.0.first_end?;
        let now = Moment::now();
        (first_end <= now).then(|| {
            let hold = self.0.facts.iter().filter(|(_, fact)| fact.end.is_none_or(|end| now < end));
            Self::of(hold.map(|(name, fact)| (name.clone(), fact.clone())))
        })
    }

    fn of(facts: impl Iterator<Item = (String, Fact)>) -> Self {
        let facts: BTreeMap<_, _> = facts.collect();
        let first_end = facts.values().filter_map(|fact| fact.end).min();
        Self(Arc::new(Known { facts, first_end }))
    }
}

/// Facts that hold until others are set.
impl<N: Into<String>, V: Into<Arc<str>>> FromIterator<(N, V)> for Facts {
    fn from_iter<I: IntoIterator<Item = (N, V)>>(facts: I) -> Self {
        Self::of(facts.into_iter().map(|(name, value)| (name.into(), Fact { value: value.into(), end: None })))
    }
}

impl fmt::Debug for Facts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.0.facts.keys()).finish()
    }
}
