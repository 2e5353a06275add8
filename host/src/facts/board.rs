//! The facts that a host knows at the moment: pushed by the operator, or found out by commands.
//!
//! Each has an end. A collection looks at the ends before it begins, so nobody has to be on time to withdraw what has
//! ended.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use super::{MAX_PUSHED, MAX_VALUE_BYTES, check_name};
use crate::contract::{Facts, Moment};
use crate::error::{Code, Error, Result};
use crate::registry::Registry;

/// The shortest that a fact may hold.
pub(super) const LEAST_TIME_TO_LIVE: Duration = Duration::from_millis(1);

/// The longest that a fact may hold: long enough for what is found out once a day and may be late.
pub(super) const MOST_TIME_TO_LIVE: Duration = Duration::from_secs(3 * 24 * 60 * 60);

/// What a host knows, for the collections of one registry. Cheap to clone, and every clone is the same board.
#[derive(Clone)]
pub struct FactsBoard {
    shared: Arc<Shared>,
}

struct Shared {
    registry: Registry,
    /// Held while the registry is told, so that it is told in order.
    known: Mutex<Known>,
}

#[derive(Default)]
struct Known {
    facts: BTreeMap<String, Fact>,
    /// The names that commands own.
    owners: BTreeMap<String, Owner>,
    next_owner: u64,
}

struct Fact {
    value: Arc<str>,
    end: Moment,
}

/// Tells those apart who owned a name one after the other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Owner(u64);

impl FactsBoard {
    /// A board without facts, which sets those of a registry from now on.
    #[must_use]
    pub fn new(registry: &Registry) -> Self {
        Self { shared: Arc::new(Shared { registry: registry.clone(), known: Mutex::default() }) }
    }

    /// Sets a fact until a time has passed, which goes on while the machine sleeps: 1 ms to 3 days. Collections that
    /// begin when this has returned see it.
    ///
    /// # Errors
    /// `invalid-request` for a name or a value that no fact can have, a time out of bounds, a name that a command owns,
    /// and where 256 pushed facts hold already.
    pub fn put(&self, name: &str, value: impl Into<Arc<str>>, time_to_live: Duration) -> Result<()> {
        let value = value.into();
        check_name(name)?;
        check_value(&value).map_err(|fault| refused(format!("the value of the fact {name} {fault}")))?;
        if !(LEAST_TIME_TO_LIVE..=MOST_TIME_TO_LIVE).contains(&time_to_live) {
            return Err(refused(format!(
                "the fact {name} cannot hold for {} ms: a fact holds for 1 ms to {} ms, three days",
                time_to_live.as_millis(),
                MOST_TIME_TO_LIVE.as_millis()
            )));
        }
        let mut known = self.lock();
        if known.owners.contains_key(name) {
            return Err(refused(format!(
                "the fact {name} is found out by the command of [facts.{name}] in the configuration: choose another name, or remove that section"
            )));
        }
        let now = Moment::now();
        known.forget_ended(now);
        if known.pushed() >= MAX_PUSHED && !known.facts.contains_key(name) {
            return Err(refused(format!(
                "{MAX_PUSHED} facts that were pushed still hold, and there may be no more: push fewer, or for a shorter time"
            )));
        }
        known.facts.insert(name.to_owned(), Fact { value, end: now.after(time_to_live) });
        self.tell(&known);
        Ok(())
    }

    fn tell(&self, known: &Known) {
        let facts = known.facts.iter().map(|(name, fact)| (name.clone(), Arc::clone(&fact.value), fact.end));
        self.shared.registry.set_facts(Facts::with_ends(facts));
    }

    fn lock(&self) -> MutexGuard<'_, Known> {
        // Nothing under it panics half-way.
        self.shared.known.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// For commands that find out facts.
#[cfg_attr(not(feature = "harness"), allow(dead_code, reason = "nobody runs any"))]
impl FactsBoard {
    /// Gives a name to a command. What was pushed under it is withdrawn; what the command before found out holds, but
    /// no longer than this command's would.
    pub(super) fn give(&self, name: &str, time_to_live: Duration) -> Owner {
        let mut known = self.lock();
        let owner = Owner(known.next_owner);
        known.next_owner += 1;
        if known.owners.insert(name.to_owned(), owner).is_none() {
            known.facts.remove(name);
        } else if let Some(fact) = known.facts.get_mut(name) {
            fact.end = fact.end.min(Moment::now().after(time_to_live));
        }
        self.tell(&known);
        owner
    }

    /// Takes a name from its command, and withdraws what it found out.
    pub(super) fn take_back(&self, name: &str) {
        let mut known = self.lock();
        if known.owners.remove(name).is_some() && known.facts.remove(name).is_some() {
            self.tell(&known);
        }
    }

    /// Sets what a command found out, unless the name is not its own any more.
    pub(super) fn found(&self, name: &str, owner: Owner, value: Arc<str>, time_to_live: Duration) {
        let mut known = self.lock();
        if known.owners.get(name) != Some(&owner) {
            return;
        }
        let now = Moment::now();
        known.forget_ended(now);
        known.facts.insert(name.to_owned(), Fact { value, end: now.after(time_to_live) });
        self.tell(&known);
    }
}

impl std::fmt::Debug for FactsBoard {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_set().entries(self.lock().facts.keys()).finish()
    }
}

impl Known {
    fn forget_ended(&mut self, now: Moment) {
        self.facts.retain(|_, fact| now < fact.end);
    }

    /// How many of the facts no command found out.
    fn pushed(&self) -> usize {
        self.facts.keys().filter(|name| !self.owners.contains_key(*name)).count()
    }
}

/// What is wrong with a value, if anything is: words that follow `the value`.
fn check_value(value: &str) -> Result<(), String> {
    if value.len() > MAX_VALUE_BYTES {
        return Err(format!("has {} bytes, and at most {MAX_VALUE_BYTES} are possible: shorten it", value.len()));
    }
    if value.contains('\0') {
        return Err("has a NUL character, which no environment variable can hold: leave it out".to_owned());
    }
    Ok(())
}

fn refused(message: String) -> Error {
    Error::host(Code::InvalidRequest, message)
}

#[cfg(test)]
mod tests;
