//! What one execution may know: checked, sorted, immutable.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use serde::Serialize;

use crate::contract::{ContributorName, Declared, HOST, Key};
use crate::error::Error;

/// The managed variables of one execution, sorted by key in byte order; cheap to clone.
///
/// Neither `Debug` nor anything else here but [`Value::expose`] shows a value, since it may be sensitive.
#[derive(Clone, Debug)]
pub struct Overlay {
    inner: Arc<Inner>,
}

#[derive(Debug)]
struct Inner {
    entries: Box<[OverlayEntry]>,
    degraded: Box<[Key]>,
    reports: Box<[Report]>,
}

/// One variable of an overlay.
#[derive(Clone, Debug)]
pub struct OverlayEntry {
    /// The key.
    pub key: Key,
    /// The value.
    pub value: Value,
    /// The contributor that gave it; none where the host did.
    pub contributor: Option<ContributorName>,
}

impl OverlayEntry {
    /// Who gave the value: the contributor's name, or `host`.
    #[must_use]
    pub fn owner(&self) -> &str {
        self.contributor.as_ref().map_or(HOST, ContributorName::as_str)
    }
}

/// A value that an environment can hold.
#[derive(Clone, PartialEq, Eq)]
pub struct Value {
    text: Arc<str>,
    sensitive: bool,
}

impl Value {
    pub(crate) fn new(text: impl Into<Arc<str>>, sensitive: bool) -> Self {
        Self { text: text.into(), sensitive }
    }

    /// The value, for the environment of the command. It must not be logged if it is
    /// [sensitive](Self::is_sensitive).
    #[must_use]
    pub fn expose(&self) -> &str {
        &self.text
    }

    /// Whether the value is to be kept out of logs, diagnostics and recordings.
    #[must_use]
    pub fn is_sensitive(&self) -> bool {
        self.sensitive
    }
}

impl fmt::Debug for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "[{} bytes]", self.text.len())
    }
}

/// How one contributor took part in an overlay.
#[derive(Clone, Debug, Serialize)]
pub struct Report {
    /// The contributor.
    pub name: ContributorName,
    /// What it may say, so that a watcher can tell a key that it left out from one that is nobody's.
    #[serde(skip)]
    pub declared: Declared,
    /// The build that answered, where it has a digest.
    pub digest: Option<Arc<str>>,
    /// How long after the collection began it was asked.
    #[serde(skip)]
    pub began: Duration,
    /// How long it took to answer.
    #[serde(rename = "micros", serialize_with = "as_micros")]
    pub took: Duration,
    /// The operator's policy for it as a whole: `fail`, `omit`, …
    pub policy: &'static str,
    /// Its keys for which a policy other than `fail` took effect.
    pub affected: Vec<Affected>,
    /// Why it had no answer at all, where a policy covers that; it may have no keys to be affected.
    pub error: Option<Error>,
}

/// A key that is absent, or stands in for the real value, because its contributor failed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Affected {
    /// The key.
    pub key: Key,
    /// The policy that took effect: `omit`, `value` or `last-good`.
    pub policy: &'static str,
    /// Whether another value stands in; otherwise the key is absent.
    pub stands_in: bool,
    /// How old the value is that stands in, where it is the last good one; in JSON `age_ms`, in milliseconds.
    #[serde(rename = "age_ms", serialize_with = "as_millis", skip_serializing_if = "Option::is_none")]
    pub age: Option<Duration>,
    /// The failure that made it take effect.
    pub error: Error,
}

fn as_micros<S: serde::Serializer>(duration: &Duration, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_u64(u64::try_from(duration.as_micros()).unwrap_or(u64::MAX))
}

fn as_millis<S: serde::Serializer>(age: &Option<Duration>, serializer: S) -> Result<S::Ok, S::Error> {
    age.map(|age| u64::try_from(age.as_millis()).unwrap_or(u64::MAX)).serialize(serializer)
}

impl Overlay {
    /// An overlay of entries that were checked, in any order.
    pub(super) fn new(mut entries: Vec<OverlayEntry>, degraded: Vec<Key>, reports: Vec<Report>) -> Self {
        entries.sort_by(|a, b| a.key.cmp(&b.key));
        Self { inner: Arc::new(Inner { entries: entries.into(), degraded: degraded.into(), reports: reports.into() }) }
    }

    /// The variables, sorted by key in byte order.
    pub fn iter(&self) -> std::slice::Iter<'_, OverlayEntry> {
        self.inner.entries.iter()
    }

    /// How many variables there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.inner.entries.len()
    }

    /// Whether there is none; a registry's overlays always have the host's own.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.inner.entries.is_empty()
    }

    /// The variable of a key.
    #[must_use]
    pub fn get(&self, key: &str) -> Option<&OverlayEntry> {
        let entries = &self.inner.entries;
        entries.binary_search_by(|entry| entry.key.as_str().cmp(key)).ok().and_then(|at| entries.get(at))
    }

    /// The keys for which a policy other than `fail` took effect, or whose contributor is missing.
    #[must_use]
    pub fn degraded(&self) -> &[Key] {
        &self.inner.degraded
    }

    /// How each contributor took part, in the order in which they were asked.
    #[must_use]
    pub fn reports(&self) -> &[Report] {
        &self.inner.reports
    }
}

impl<'a> IntoIterator for &'a Overlay {
    type Item = &'a OverlayEntry;
    type IntoIter = std::slice::Iter<'a, OverlayEntry>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}
