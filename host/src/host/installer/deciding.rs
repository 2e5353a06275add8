//! What is to be live, by what was read, what was accepted, and what the operator wants. Nothing is changed here.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::claimed::Claimed;
use super::trial::{Outcome, Trial, Trials};
use super::{Found, Installed};
use crate::contract::{Claims as _, ContributorName, Declaration, Declared, Key, NoClaims};
use crate::error::{Code, Error, Result};
use crate::host::build::Build;
use crate::installation::{Candidate, Configuration, Lock, LockedBuild, ShadowSettings, TrustSettings, Verdict};
use crate::operations::State;
use crate::text::shown;

/// What becomes of one file.
pub(super) struct Decision {
    pub(super) file: PathBuf,
    /// What it is called: its name where that is known, else its file's.
    pub(super) label: String,
    pub(super) name: Option<ContributorName>,
    pub(super) state: State,
    /// The build that is to answer.
    pub(super) live: Option<Answering>,
    /// The build in the file, where it is another one.
    pub(super) candidate: Option<String>,
    pub(super) error: Option<Error>,
    pub(super) notes: Vec<String>,
    /// The keys that its newest build would own.
    pub(super) keys: Vec<Key>,
    /// The build in the file, where the lock is to be told that it is accepted.
    pub(super) accepted: Option<Arc<Build>>,
    /// The build in the file, where it is tried beside the live one, or was and did not take its place.
    pub(super) tried: Option<Tried>,
}

/// A build that is tried.
pub(super) struct Tried {
    pub(super) build: Arc<Build>,
    /// The digest of the one that answers.
    pub(super) live: String,
    pub(super) settings: ShadowSettings,
}

/// A build that is to answer: from the file, or an approved one, which the store has.
#[derive(Clone)]
pub(super) enum Answering {
    Build(Arc<Build>),
    Stored(LockedBuild),
}

/// What decisions are made by.
pub(super) struct Circumstances<'c> {
    pub(super) lock: &'c Lock,
    pub(super) configuration: &'c Configuration,
    pub(super) trust: TrustSettings,
    pub(super) locked: bool,
    pub(super) built_in: &'c [Declared],
    pub(super) trials: &'c Trials,
}

impl Circumstances<'_> {
    /// One decision for each file, in byte order.
    pub(super) fn decide(&self, installed: &Installed) -> Vec<Decision> {
        let files = installed.files.iter();
        let mut decisions: Vec<_> = files.map(|(path, file)| self.of_file(path, &file.found)).collect();
        self.only_one_of_a_name(&mut decisions);
        self.only_one_of_a_key(&mut decisions);
        decisions
    }

    fn of_file(&self, path: &Path, found: &Found) -> Decision {
        let file = file_name(path);
        let approved = self.lock.name_of(&file).and_then(|name| Some((name, self.lock.entry(name.as_str())?)));
        // What was accepted of this file stays live, whatever is in it now.
        let mut decision = Decision {
            file: path.to_owned(),
            label: approved.map_or_else(|| shown(&file), |(name, _)| name.to_string()),
            name: approved.map(|(name, _)| name.clone()),
            state: State::Live,
            live: approved.map(|(_, entry)| Answering::Stored(entry.live.clone())),
            candidate: None,
            error: None,
            notes: Vec::new(),
            keys: Vec::new(),
            accepted: None,
            tried: None,
        };
        match found {
            Found::Unread => {
                if decision.live.is_none() {
                    decision.state = State::Pending;
                }
                decision.notes.push("its file is being read".to_owned());
            }
            Found::Refused(digest, error) => {
                decision.candidate.clone_from(digest);
                decision.refuse(error.clone());
            }
            Found::Build(build) => self.of_build(&file, build, &mut decision),
        }
        if decision.name.as_ref().is_some_and(|name| self.configuration.is_disabled(name)) {
            decision.disable();
        }
        decision
    }

    fn of_build(&self, file: &str, build: &Arc<Build>, decision: &mut Decision) {
        let declaration = &build.declaration;
        let candidate = Candidate { file, digest: build.digest(), declaration, imports: build.imports() };
        decision.keys = keys_of(declaration);
        let name = match declaration.check(&NoClaims) {
            Ok(declared) => declared.name().clone(),
            Err(error) => {
                decision.candidate = Some(build.digest().to_owned());
                if decision.name.is_none() {
                    decision.label = shown(&declaration.name);
                }
                return decision.refuse(error);
            }
        };
        let verdict = match self.trust.judge(self.lock, &candidate) {
            Verdict::Accepted if self.locked => Verdict::Waits(vec!["it is not in the lock (--locked)".to_owned()]),
            verdict => verdict,
        };
        match verdict {
            Verdict::Approved => decision.live = Some(Answering::Build(Arc::clone(build))),
            Verdict::Accepted if !self.is_tried(&name, build, decision) => {
                decision.accepted = Some(Arc::clone(build));
                decision.live = Some(Answering::Build(Arc::clone(build)));
                decision.label = name.to_string();
                decision.name = Some(name);
            }
            Verdict::Accepted => {}
            Verdict::Held => {
                decision.candidate = Some(build.digest().to_owned());
                let digest = build.digest();
                decision.notes.push(format!(
                    "the build in its file was rolled back; to have it after all: dsh-env approve {name} {digest}"
                ));
            }
            Verdict::Waits(reasons) => {
                decision.candidate = Some(build.digest().to_owned());
                if decision.name.is_none() {
                    decision.label = name.to_string();
                }
                decision.state = State::Pending;
                decision.error = Some(waits(&name, build.digest(), &reasons));
            }
        }
    }

    /// Whether a build has yet to be tried beside the live one, or was and does not take its place; then its decision
    /// says so.
    fn is_tried(&self, name: &ContributorName, build: &Arc<Build>, decision: &mut Decision) -> bool {
        let settings = self.configuration.contributors.get(name.as_str()).and_then(|settings| settings.shadow);
        let (Some(settings), Some(live)) = (settings, &decision.live) else { return false };
        let tried = Tried { build: Arc::clone(build), live: live.digest().to_owned(), settings };
        let trial = self.trials.get(build.digest()).filter(|trial| trial.is_of(&tried.live, &settings));
        let outcome =
            trial.map_or_else(|| Outcome::Running("the build in its file is to be tried".to_owned()), Trial::outcome);
        match outcome {
            Outcome::Promoted(found) => {
                decision.notes.extend(found.map(|found| format!("on trial it answered otherwise: {found}")));
                return false;
            }
            Outcome::Running(how) => {
                decision.state = State::Pending;
                decision.notes.push(how);
            }
            Outcome::Waits(found) => {
                decision.state = State::Pending;
                decision.error = Some(waits(name, build.digest(), &[format!("on trial {found}")]));
            }
            Outcome::Refused(found) => decision.refuse(waits(name, build.digest(), &[format!("on trial {found}")])),
        }
        decision.candidate = Some(build.digest().to_owned());
        decision.tried = Some(tried);
        true
    }

    /// Until the lock remembers which file a name was accepted for, nobody can tell which of two is meant.
    fn only_one_of_a_name(&self, decisions: &mut [Decision]) {
        let mut times = BTreeMap::new();
        for decision in decisions.iter().filter(|decision| decision.accepted.is_some()) {
            *times.entry(decision.name.clone()).or_insert(0_usize) += 1;
        }
        for decision in decisions.iter_mut().filter(|decision| decision.accepted.is_some()) {
            let Some(name) = &decision.name else { continue };
            if times.get(&decision.name).is_some_and(|times| *times > 1) && self.lock.entry(name.as_str()).is_none() {
                let message = format!("more than one installed file declares the name {name}: remove all but one");
                decision.reject(Error::load(Code::DuplicateName, message), None);
            }
        }
    }

    /// Refuses what takes a name or a key of the host's own, or of what is to be live before it: first what was
    /// approved, then the others in byte order of their files.
    fn only_one_of_a_key(&self, decisions: &mut [Decision]) {
        let mut claimed = Claimed::default();
        for declared in self.built_in {
            claimed.add(declared);
        }
        for decision in decisions.iter_mut().filter(|decision| decision.accepted.is_none()) {
            if let Err(error) = decision.claim(&mut claimed) {
                decision.live = None;
                decision.refuse(error);
            }
        }
        for decision in decisions.iter_mut().filter(|decision| decision.accepted.is_some()) {
            if let Err(error) = decision.claim(&mut claimed) {
                let approved = decision.name.as_ref().and_then(|name| self.lock.entry(name.as_str()));
                decision.reject(error, approved.map(|entry| entry.live.clone()));
                // One that was approved has what it had before: nobody else was given that.
                let _ = decision.claim(&mut claimed);
            }
        }
        // What waits for a key that somebody has cannot be approved either.
        for decision in decisions.iter_mut().filter(|decision| decision.state == State::Pending) {
            let owner = decision.keys.iter().find_map(|key| Some((key.clone(), claimed.owner(key)?)));
            if let Some((key, owner)) = owner.filter(|(_, owner)| Some(owner) != decision.name.as_ref()) {
                let message = format!(
                    "{key} belongs to {owner}, so {} cannot declare it: remove one of the two, or let it use another key",
                    decision.label
                );
                decision.refuse(Error::load(Code::KeyConflict, message).about(&key));
            }
        }
    }
}

impl Decision {
    /// The newest build does not answer, for this reason; whatever was live stays so.
    fn refuse(&mut self, error: Error) {
        self.state = State::Refused;
        self.error = Some(error);
    }

    /// The build in the file was to go live and does not: what was approved stays, if anything was.
    fn reject(&mut self, error: Error, approved: Option<LockedBuild>) {
        self.candidate = self.accepted.take().map(|build| build.digest().to_owned());
        self.live = approved.map(Answering::Stored);
        self.refuse(error);
    }

    fn disable(&mut self) {
        self.state = State::Disabled;
        self.live = None;
        self.accepted = None;
        self.tried = None;
        self.error = None;
    }

    /// Claims the name and the keys of what is to be live.
    fn claim(&self, claimed: &mut Claimed) -> Result<()> {
        let (Some(name), Some(live)) = (&self.name, &self.live) else { return Ok(()) };
        let declared = live.declaration(name).check(claimed)?;
        claimed.add(&declared);
        Ok(())
    }
}

impl Answering {
    pub(super) fn digest(&self) -> &str {
        match self {
            Self::Build(build) => build.digest(),
            Self::Stored(build) => &build.digest,
        }
    }

    fn declaration(&self, name: &ContributorName) -> Declaration {
        match self {
            Self::Build(build) => build.declaration.clone(),
            Self::Stored(build) => build.declaration(name),
        }
    }
}

/// The error of a build that waits.
fn waits(name: &ContributorName, digest: &str, reasons: &[String]) -> Error {
    let shown: Vec<_> = reasons.iter().take(8).map(String::as_str).collect();
    let more = reasons.len().saturating_sub(shown.len());
    let more = if more == 0 { String::new() } else { format!(", and {more} reasons more") };
    let message = format!("it waits, because {}{more}. To let it: dsh-env approve {name} {digest}", shown.join("; "));
    Error::load(Code::ApprovalPending, message)
}

/// The keys of a declaration that could be in an overlay.
fn keys_of(declaration: &Declaration) -> Vec<Key> {
    let keys = declaration.variables.iter().filter_map(|variable| Key::new(&variable.key).ok());
    keys.filter(|key| !key.is_reserved()).collect()
}

/// The name of a file as the lock has it.
pub(super) fn file_name(path: &Path) -> String {
    path.file_name().unwrap_or(path.as_os_str()).to_string_lossy().into_owned()
}
