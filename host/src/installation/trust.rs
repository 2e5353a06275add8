//! Whether a build may go live by itself, or waits for the operator.

use super::lock::{Lock, LockedBuild};
use crate::contract::Declaration;

/// Which builds go live by themselves.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TrustSettings {
    /// What becomes of a contributor that was never accepted.
    pub new: TrustNew,
    /// What becomes of another build of one that was.
    pub update: TrustUpdate,
}

/// What becomes of a contributor that was never accepted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum TrustNew {
    /// It goes live: whoever can put a file there is trusted.
    #[default]
    Live,
    /// It waits for approval.
    Pending,
}

/// What becomes of another build of a contributor.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum TrustUpdate {
    /// It goes live if it declares and imports the same or less.
    #[default]
    SameDeclaration,
    /// It waits for approval.
    Pinned,
}

impl TrustNew {
    pub(super) const ALL: &[Self] = &[Self::Live, Self::Pending];

    /// The word for it in the configuration.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Live => "live",
            Self::Pending => "pending",
        }
    }
}

impl TrustUpdate {
    pub(super) const ALL: &[Self] = &[Self::SameDeclaration, Self::Pinned];

    /// The word for it in the configuration.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::SameDeclaration => "same-declaration",
            Self::Pinned => "pinned",
        }
    }
}

/// A build that is in a file.
#[derive(Clone, Copy, Debug)]
pub struct Candidate<'c> {
    /// The name of the file in the folder of contributors.
    pub file: &'c str,
    /// Its digest.
    pub digest: &'c str,
    /// What it declares.
    pub declaration: &'c Declaration,
    /// What it imports.
    pub imports: &'c [String],
}

/// What becomes of a build.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// It is the one that was accepted.
    Approved,
    /// It goes live, and the lock is to say so.
    Accepted,
    /// It was accepted and then rolled back: the one before it stays live.
    Held,
    /// It waits for approval, for these reasons.
    Waits(Vec<String>),
}

impl TrustSettings {
    /// What becomes of a build, given what was accepted.
    #[must_use]
    pub fn judge(&self, lock: &Lock, candidate: &Candidate<'_>) -> Verdict {
        let name = &candidate.declaration.name;
        let entry = lock.entry(name).filter(|entry| entry.file == candidate.file);
        if let Some(entry) = entry {
            if entry.live.digest == candidate.digest {
                return Verdict::Approved;
            }
            if entry.is_held(candidate.digest) {
                return Verdict::Held;
            }
        }
        let mut reasons = self.taken(lock, candidate);
        match entry {
            Some(_) if self.update == TrustUpdate::Pinned => {
                reasons.push("every new build waits (update = \"pinned\")".to_owned())
            }
            // One that was accepted before needs no new decision.
            Some(entry) if entry.build(candidate.digest).is_some() => {}
            Some(entry) => reasons.extend(widened(&entry.live, candidate)),
            None if self.new == TrustNew::Pending && reasons.is_empty() => {
                reasons.push("it is new, and new contributors wait (new = \"pending\")".to_owned());
            }
            None => {}
        }
        if reasons.is_empty() { Verdict::Accepted } else { Verdict::Waits(reasons) }
    }

    /// What it would take of other entries.
    fn taken(&self, lock: &Lock, candidate: &Candidate<'_>) -> Vec<String> {
        let name = &candidate.declaration.name;
        let mut reasons = Vec::new();
        if let Some(entry) = lock.entry(name).filter(|entry| entry.file != candidate.file) {
            reasons.push(format!("the name {} belongs to {}", shown(name), shown(&entry.file)));
        }
        if let Some(other) = lock.name_of(candidate.file).filter(|other| other.as_str() != name) {
            reasons.push(format!(
                "{} was accepted as {other}, and now calls itself {}",
                shown(candidate.file),
                shown(name)
            ));
        }
        let live = lock.entry(name).filter(|entry| entry.file == candidate.file).map(|entry| &entry.live);
        // What was approved although somebody else had it needs no second approval.
        let new = candidate.declaration.variables.iter();
        let new = new.filter(|variable| live.is_none_or(|live| !live.declares(&variable.key)));
        for variable in new {
            if let Some(owner) = lock.owner(&variable.key).filter(|owner| owner.as_str() != name) {
                reasons.push(format!("{} belongs to {owner}", shown(&variable.key)));
            }
        }
        reasons
    }
}

/// In what a build asks for more than the one that is live.
fn widened(live: &LockedBuild, candidate: &Candidate<'_>) -> Vec<String> {
    let mut reasons = Vec::new();
    for variable in &candidate.declaration.variables {
        let key = shown(&variable.key);
        match live.variables.iter().find(|known| known.key == variable.key) {
            None => reasons.push(format!("it declares {key}, which the live build does not")),
            Some(known) if known.sensitive && !variable.sensitive => {
                reasons.push(format!("it does not call {key} sensitive any more"));
            }
            Some(known) if known.description != variable.description => {
                reasons.push(format!("it describes {key} differently"));
            }
            Some(_) => {}
        }
    }
    for import in candidate.imports.iter().filter(|import| !live.imports.contains(import)) {
        reasons.push(format!("it imports {}, which the live build does not", shown(import)));
    }
    reasons
}

fn shown(text: &str) -> String {
    crate::text::shown_within(text, 256)
}

#[cfg(test)]
mod tests;
