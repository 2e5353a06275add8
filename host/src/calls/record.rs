//! What is kept of one execution.

use std::hash::{BuildHasher, RandomState};
use std::time::{Duration, SystemTime};

use super::explanation::{CallSummary, Explanation, KeyState, Participant};
use crate::contract::{ContributorName, HOST, Key};
use crate::error::Error;
use crate::registry::{Affected, Collected, Overlay, OverlayEntry, Report, Value};

/// One execution, without any value.
pub(super) struct Record {
    summary: CallSummary,
    contributors: Vec<Participant>,
    keys: Vec<KeyRecord>,
    bytes: usize,
}

struct KeyRecord {
    key: Key,
    /// None for the host's own keys and those of missing contributors.
    owner: Option<ContributorName>,
    state: KeyState,
    sensitive: bool,
    policy: Option<&'static str>,
    /// Boxed, since hardly any key has one.
    error: Option<Box<Error>>,
    /// Length and hash of a value that is not sensitive.
    value: Option<(usize, u64)>,
}

impl Record {
    pub(super) fn of(collection: &Collected<'_>, hashes: &RandomState) -> Self {
        let execution = collection.execution;
        let overlay = collection.outcome.ok();
        let summary = CallSummary {
            call_id: execution.call_id.clone(),
            root_call_id: execution.root_call_id.clone(),
            tool: execution.tool.clone(),
            session_id: execution.session().map(|session| session.id.as_str().to_owned()),
            began_ms: collection
                .began
                .duration_since(SystemTime::UNIX_EPOCH)
                .map_or(0, |since| u64::try_from(since.as_millis()).unwrap_or(u64::MAX)),
            micros: micros(collection.took),
            degraded: overlay.map(|overlay| overlay.degraded().to_vec()).unwrap_or_default(),
            error: collection.outcome.err().cloned(),
        };
        let contributors = collection.reports.iter().map(participant).collect();
        let keys = match overlay {
            Some(overlay) => keys(overlay, collection.reports, hashes),
            None => collection.reports.iter().flat_map(keys_without_overlay).collect(),
        };
        let mut record = Self { summary, contributors, keys, bytes: 0 };
        record.bytes = record.size();
        record
    }

    pub(super) fn is_of(&self, call: &str) -> bool {
        self.summary.call_id == call
    }

    pub(super) fn summary(&self) -> &CallSummary {
        &self.summary
    }

    /// About how much memory it takes.
    pub(super) fn bytes(&self) -> usize {
        self.bytes
    }

    pub(super) fn explain(&self, key: &Key) -> Explanation {
        let known = self.keys.iter().find(|known| known.key == *key);
        let failure = self.summary.error.as_ref();
        let state = match known {
            Some(known) => known.state,
            None if failure.is_some() => KeyState::NoOverlay,
            None => KeyState::Absent,
        };
        let about_it = failure.filter(|error| error.key() == Some(key.as_str()));
        let owner = match known {
            Some(KeyRecord { owner: None, state: KeyState::Missing, .. }) => None,
            Some(known) => Some(known.owner.as_ref().map_or(HOST, ContributorName::as_str)),
            None => about_it.and_then(Error::contributor),
        };
        let error = known.and_then(|known| known.error.as_deref()).or(failure);
        let value = known.and_then(|known| known.value);
        Explanation {
            call: self.summary.clone(),
            key: key.clone(),
            state,
            owner: owner.map(str::to_owned),
            sensitive: known.is_some_and(|known| known.sensitive),
            policy: known.and_then(|known| known.policy),
            error: error.cloned(),
            length: value.map(|(length, _)| length),
            hash: value.map(|(_, hash)| format!("{hash:016x}")),
            contributors: self.contributors.clone(),
        }
    }

    fn size(&self) -> usize {
        let CallSummary { call_id, root_call_id, tool, session_id, degraded, error, .. } = &self.summary;
        let texts = [call_id, root_call_id, tool].map(String::len).iter().sum::<usize>()
            + session_id.as_ref().map_or(0, String::len)
            + degraded.iter().map(|key| size_of::<Key>() + key.as_str().len()).sum::<usize>()
            + error.as_ref().map_or(0, size_of_error);
        let contributors = self.contributors.iter().map(|it| {
            size_of::<Participant>()
                + it.digest.as_ref().map_or(0, |digest| digest.len())
                + it.error.as_ref().map_or(0, size_of_error)
        });
        // Texts of keys are shared with the registry, unless that has changed meanwhile.
        let keys = self
            .keys
            .iter()
            .map(|it| size_of::<KeyRecord>() + it.key.as_str().len() + it.error.as_deref().map_or(0, size_of_error));
        size_of::<Self>() + texts + contributors.sum::<usize>() + keys.sum::<usize>()
    }
}

fn size_of_error(error: &Error) -> usize {
    let texts = [error.contributor(), error.key(), Some(error.message())];
    size_of::<Error>() + texts.into_iter().flatten().map(str::len).sum::<usize>()
}

fn micros(duration: Duration) -> u64 {
    u64::try_from(duration.as_micros()).unwrap_or(u64::MAX)
}

fn participant(report: &Report) -> Participant {
    Participant {
        name: report.name.clone(),
        digest: report.digest.clone(),
        micros: micros(report.took),
        policy: report.policy,
        error: report.error.clone(),
    }
}

/// What became of every key that anybody who was asked declares, of the host's own, and of those that are missed.
fn keys(overlay: &Overlay, reports: &[Report], hashes: &RandomState) -> Vec<KeyRecord> {
    let declared = reports.iter().map(|report| report.declared.variables().len()).sum::<usize>();
    let mut keys = Vec::with_capacity(declared + 4);
    for report in reports {
        for variable in report.declared.variables() {
            let affected = report.affected.iter().find(|affected| affected.key == variable.key);
            let entry = overlay.get(variable.key.as_str());
            keys.push(KeyRecord {
                owner: Some(report.name.clone()),
                state: state(entry, affected),
                sensitive: variable.sensitive,
                value: entry.and_then(|entry| trace(&entry.key, &entry.value, hashes)),
                ..affected_key(&variable.key, affected)
            });
        }
    }
    for entry in overlay.iter().filter(|entry| entry.contributor.is_none()) {
        let value = trace(&entry.key, &entry.value, hashes);
        let sensitive = entry.value.is_sensitive();
        keys.push(KeyRecord { state: KeyState::Present, sensitive, value, ..affected_key(&entry.key, None) });
    }
    for key in overlay.degraded() {
        if !keys.iter().any(|known| known.key == *key) {
            keys.push(KeyRecord { state: KeyState::Missing, ..affected_key(key, None) });
        }
    }
    keys
}

/// The keys of a contributor that was asked for nothing in the end.
fn keys_without_overlay(report: &Report) -> impl Iterator<Item = KeyRecord> {
    report.declared.variables().iter().map(|variable| {
        let affected = report.affected.iter().find(|affected| affected.key == variable.key);
        KeyRecord {
            owner: Some(report.name.clone()),
            sensitive: variable.sensitive,
            ..affected_key(&variable.key, affected)
        }
    })
}

/// A key of which only that is known which policy took effect for it.
fn affected_key(key: &Key, affected: Option<&Affected>) -> KeyRecord {
    KeyRecord {
        key: key.clone(),
        owner: None,
        state: KeyState::NoOverlay,
        sensitive: false,
        policy: affected.map(|affected| affected.policy),
        error: affected.map(|affected| Box::new(affected.error.clone())),
        value: None,
    }
}

fn state(entry: Option<&OverlayEntry>, affected: Option<&Affected>) -> KeyState {
    match (entry, affected) {
        (Some(_), None) => KeyState::Present,
        (Some(_), Some(_)) => KeyState::StoodIn,
        (None, Some(_)) => KeyState::Omitted,
        (None, None) => KeyState::Absent,
    }
}

/// Length and hash of a value that is not sensitive. The key is part of what is hashed: otherwise a known value of
/// one key would betray an equal one of another.
fn trace(key: &Key, value: &Value, hashes: &RandomState) -> Option<(usize, u64)> {
    (!value.is_sensitive()).then(|| (value.expose().len(), hashes.hash_one((key, value.expose()))))
}
