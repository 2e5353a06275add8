//! Names and keys that somebody is to have.

use std::collections::BTreeMap;

use crate::contract::{Claims, ContributorName, Declared, Key};

/// Names and keys, and whose they are.
#[derive(Default)]
pub(super) struct Claimed {
    names: Vec<ContributorName>,
    keys: BTreeMap<Key, ContributorName>,
}

impl Claimed {
    pub(super) fn add(&mut self, declared: &Declared) {
        self.names.push(declared.name().clone());
        let keys = declared.variables().iter().map(|variable| (variable.key.clone(), declared.name().clone()));
        self.keys.extend(keys);
    }
}

impl Claims for Claimed {
    fn has_name(&self, name: &ContributorName) -> bool {
        self.names.contains(name)
    }

    fn owner(&self, key: &Key) -> Option<ContributorName> {
        self.keys.get(key).cloned()
    }
}
