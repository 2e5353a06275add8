//! What comes out of each method. Those that are not here answer with a type of the library, or with nothing.

use std::fmt;

use serde::de::{MapAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// Of `host.hello`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct HelloResult {
    /// The server's version.
    pub version: String,
    /// The version of the contract with contributors.
    pub contract: String,
    /// What the server was built with.
    pub features: Vec<String>,
}

/// Of `overlay.collect`.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct CollectResult {
    /// The variables.
    pub env: Env,
    /// Managed keys that this overlay lacks, sorted. A client removes them as it removes every managed name that it
    /// inherited.
    pub unset: Vec<String>,
    /// The keys in `env` whose values are kept out of logs, sorted.
    pub sensitive: Vec<String>,
    /// The keys for which a policy other than `fail` took effect, or whose contributor is missing, sorted.
    pub degraded: Vec<String>,
    /// The execution's call id.
    pub call: String,
    /// How each contributor took part, in the order in which they were asked.
    pub contributors: Vec<CollectedContributor>,
}

/// How one contributor took part in an overlay.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CollectedContributor {
    /// Its name.
    pub name: String,
    /// The build that answered; none for one that came with the host's own program.
    pub digest: Option<String>,
    /// How long it took, in microseconds.
    pub micros: u64,
    /// The operator's policy for it as a whole: `fail`, `omit` and so on.
    pub policy: String,
}

/// Of `host.metrics`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct MetricsResult {
    /// Text in the format of Prometheus; nothing where no counts are kept.
    pub prometheus: Option<String>,
}

/// Of `contributors.log`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LogResult {
    /// What the contributor printed lately.
    pub text: String,
}

/// Variables in the order of the message, as they are written there: nothing is checked, and a name may be there
/// twice. `Debug` shows names only.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Env(pub Vec<(String, String)>);

impl fmt::Debug for Env {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.0.iter().map(|(name, _)| name)).finish()
    }
}

impl Serialize for Env {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.iter().map(|(name, value)| (name, value)))
    }
}

impl<'de> Deserialize<'de> for Env {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Pairs;

        impl<'de> Visitor<'de> for Pairs {
            type Value = Env;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object of texts")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Env, A::Error> {
                let mut pairs = Vec::new();
                while let Some(pair) = map.next_entry()? {
                    pairs.push(pair);
                }
                Ok(Env(pairs))
            }
        }

        deserializer.deserialize_map(Pairs)
    }
}
