//! What two builds of a contributor said, compared. No value is kept.

use std::collections::{BTreeMap, BTreeSet};

use crate::contract::{Binding, ContributorName, Failure};
use crate::registry::Overlay;
use crate::text::shown_within;

/// How many keys are named.
const MAX_NAMED: usize = 8;

/// The most bytes of a key that no contributor may have, as it is shown.
const MAX_KEY_BYTES: usize = 128;

/// What the live build said of one execution.
#[derive(Debug)]
pub(super) struct Answer(BTreeMap<String, String>);

impl Answer {
    /// What a contributor gave an overlay; nothing unless that build answered, and wholly.
    pub(super) fn of(overlay: &Overlay, name: &ContributorName, digest: &str) -> Option<Self> {
        let report = overlay.reports().iter().find(|report| report.name == *name)?;
        let whole = report.error.is_none() && report.affected.is_empty();
        if !whole || report.digest.as_deref() != Some(digest) {
            return None;
        }
        let own = overlay.iter().filter(|entry| entry.contributor.as_ref() == Some(name));
        Some(Self(own.map(|entry| (entry.key.to_string(), entry.value.expose().to_owned())).collect()))
    }
}

/// What was compared so far.
#[derive(Debug, Default)]
pub(super) struct Comparison {
    calls: usize,
    failed: usize,
    /// How one of them failed.
    failure: Option<&'static str>,
    /// How many calls had another value, by key.
    differing: BTreeMap<String, usize>,
}

impl Comparison {
    /// How many calls both answered.
    pub(super) fn calls(&self) -> usize {
        self.calls
    }

    /// Compares an answer with what the other build said of the same execution.
    pub(super) fn compare(&mut self, answer: &Answer, said: &Result<Vec<Binding>, Failure>) {
        self.calls += 1;
        let bindings = match said {
            Ok(bindings) => bindings,
            Err(failure) => {
                self.failed += 1;
                self.failure.get_or_insert(failure.code().as_str());
                return;
            }
        };
        let said: BTreeMap<_, _> = bindings.iter().map(|binding| (&binding.key, &binding.value)).collect();
        let keys: BTreeSet<_> = answer.0.keys().chain(said.keys().copied()).collect();
        for key in keys.into_iter().filter(|key| answer.0.get(*key) != said.get(key).copied()) {
            // What a build may say is bounded, and so are the keys of those that were not declared.
            if self.differing.len() <= MAX_NAMED || self.differing.contains_key(key) {
                *self.differing.entry(key.clone()).or_default() += 1;
            }
        }
    }

    /// What differed, for people; nothing where nothing did.
    pub(super) fn in_words(&self) -> Option<String> {
        let mut words = Vec::new();
        if self.failed > 0 {
            let code = self.failure.unwrap_or_default();
            words.push(format!("it failed {} of {} calls ({code})", self.failed, self.calls));
        }
        let named = self.differing.iter().take(MAX_NAMED);
        words.extend(named.map(|(key, times)| {
            let key = shown_within(key, MAX_KEY_BYTES);
            format!("{key} differed in {times} of {} calls", self.calls)
        }));
        if self.differing.len() > MAX_NAMED {
            words.push("further keys differed".to_owned());
        }
        (!words.is_empty()).then(|| words.join("; "))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answer(pairs: &[(&str, &str)]) -> Answer {
        Answer(pairs.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect())
    }

    fn said(pairs: &[(&str, &str)]) -> Result<Vec<Binding>, Failure> {
        Ok(pairs.iter().map(|(key, value)| Binding::new(*key, *value)).collect())
    }

    #[test]
    fn the_same_in_another_order_is_no_difference() {
        let mut comparison = Comparison::default();
        comparison.compare(&answer(&[("DSH_A", "1"), ("DSH_B", "2")]), &said(&[("DSH_B", "2"), ("DSH_A", "1")]));
        assert_eq!((comparison.calls(), comparison.in_words()), (1, None));
    }

    #[test]
    fn differences_are_counted_by_key_and_no_value_is_told() {
        let mut comparison = Comparison::default();
        comparison.compare(&answer(&[("DSH_A", "secret-1"), ("DSH_B", "2")]), &said(&[("DSH_A", "secret-2")]));
        comparison.compare(&answer(&[("DSH_A", "secret-1")]), &said(&[("DSH_A", "secret-1"), ("DSH_C", "new")]));
        let words = comparison.in_words().unwrap();
        assert_eq!(
            words,
            "DSH_A differed in 1 of 2 calls; DSH_B differed in 1 of 2 calls; DSH_C differed in 1 of 2 calls"
        );
        assert!(!format!("{comparison:?}").contains("secret"));
    }

    #[test]
    fn a_failure_is_a_difference() {
        let mut comparison = Comparison::default();
        comparison.compare(&answer(&[]), &Err(Failure::new(crate::error::Code::Trap, "unreachable")));
        assert_eq!(comparison.in_words().unwrap(), "it failed 1 of 1 calls (trap)");
    }

    #[test]
    fn a_build_that_makes_up_keys_takes_no_memory() {
        let mut comparison = Comparison::default();
        for call in 0..1000 {
            comparison.compare(&answer(&[]), &said(&[(&format!("DSH_{call}"), "x")]));
        }
        assert!(comparison.differing.len() <= MAX_NAMED + 1);
        assert!(comparison.in_words().unwrap().ends_with("further keys differed"));
    }
}
