//! What the host knows of the world outside of any call.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

/// Facts as they were at one moment, by their names: one immutable snapshot, which all contributors of one
/// execution see. Cheap to clone. `Debug` shows no value: it may be a secret.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Facts(Arc<BTreeMap<String, Arc<str>>>);

impl Facts {
    /// The value of a fact, if it is known.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&str> {
        self.0.get(name).map(AsRef::as_ref)
    }

    /// Whether nothing is known.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl<N: Into<String>, V: Into<Arc<str>>> FromIterator<(N, V)> for Facts {
    fn from_iter<I: IntoIterator<Item = (N, V)>>(facts: I) -> Self {
        Self(Arc::new(facts.into_iter().map(|(name, value)| (name.into(), value.into())).collect()))
    }
}

impl fmt::Debug for Facts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.0.keys()).finish()
    }
}
